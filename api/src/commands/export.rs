//! `atelier export`: writes a workspace into an archive.
//!
//! Invariants
//! - The archive has its name only once it is whole and on the disk.
//! - Of a workspace that is worked on, it holds each task as it was at one moment, and each work at the version that it had when the
//!   works were read; what was read later may know of more.
//!
//! The program does nothing else meanwhile, so files are written where it runs.

mod memories;
mod tasks;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use api::config::Settings;
use domain::actor::Actor;
use domain::blob::BlobKey;
use domain::document::Version;
use domain::event::{Sequence, Subject};
use domain::ids::{UserId, WorkId, WorkspaceId};
use domain::store::Reads;
use domain::work::{AssetFile, KEPT_QUARANTINED, Work};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::archive::rows::{
    ChangeRow, EventRow, FORM, Head, MemberRow, QuarantineRow, UserRow, WorkRow,
};
use super::archive::{self, CHANGES, EVENTS, FILES, HEAD, MEMBERS, QUARANTINE, USERS, WORKS};
use super::installation::Installation;

/// Rows that are read at once.
const ROWS: u32 = 500;

/// Writes the archive.
pub(crate) async fn run(settings: &Settings, workspace: WorkspaceId, file: &Path) -> Result<()> {
    ensure!(
        !file.exists(),
        "{} exists already; choose another name",
        file.display()
    );
    let installation = Installation::open_beside(settings).await?;
    let exported = Box::pin(export(&installation, workspace, file)).await;
    installation.close().await;
    let count = exported?;
    println!("{workspace}, {count} works, is in {}", file.display());
    Ok(())
}

/// Writes the archive beside its name, and gives it the name when it is whole.
pub(super) async fn export(
    installation: &Installation,
    workspace: WorkspaceId,
    file: &Path,
) -> Result<usize> {
    let unfinished = unfinished(file);
    let output = File::create_new(&unfinished)
        .with_context(|| format!("{} can not be made", unfinished.display()))?;
    let exporter = Exporter {
        installation,
        workspace,
        zip: ZipWriter::new(BufWriter::new(output)),
        people: BTreeSet::new(),
    };
    let written = Box::pin(exporter.write()).await;
    if written.is_err() {
        fs::remove_file(&unfinished)?;
    }
    let count = written?;
    fs::rename(&unfinished, file)?;
    Ok(count)
}

fn unfinished(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

struct Exporter<'a> {
    installation: &'a Installation,
    workspace: WorkspaceId,
    zip: ZipWriter<BufWriter<File>>,
    people: BTreeSet<UserId>,
}

impl Exporter<'_> {
    async fn write(mut self) -> Result<usize> {
        self.head().await?;
        self.members().await?;
        self.main_threads().await?;
        self.tasks().await?;
        self.memories().await?;
        let head = self.reads().event_head(self.workspace).await?;
        self.events(head).await?;
        let works = self.works().await?;
        self.changes(&works).await?;
        self.quarantine(&works).await?;
        let files = self.files().await?;
        self.blobs(&files).await?;
        self.users().await?;
        let output = self.zip.finish()?.into_inner()?;
        output.sync_all()?;
        Ok(works.len())
    }

    fn reads(&self) -> &dyn Reads {
        self.installation.store.reads()
    }

    fn begin(&mut self, entry: &str) -> Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .large_file(true);
        self.zip.start_file(entry, options)?;
        Ok(())
    }

    fn line(&mut self, row: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.zip, row)?;
        self.zip.write_all(b"\n")?;
        Ok(())
    }

    fn note(&mut self, actor: &Actor) {
        if let Some(user) = actor.user() {
            self.people.insert(user);
        }
    }

    async fn head(&mut self) -> Result<()> {
        let found = self.reads().list_workspaces(&[self.workspace]).await?;
        let workspace = found
            .into_iter()
            .next()
            .with_context(|| format!("there is no {}", self.workspace))?;
        let head = Head {
            atelier_archive: FORM,
            workspace: workspace.into(),
        };
        self.begin(HEAD)?;
        self.line(&head)
    }

    async fn members(&mut self) -> Result<()> {
        let members = self.reads().list_members(&[self.workspace]).await?;
        self.begin(MEMBERS)?;
        for member in members {
            self.people.insert(member.user);
            self.line(&MemberRow::from(member))?;
        }
        Ok(())
    }

    async fn events(&mut self, head: Sequence) -> Result<()> {
        self.begin(EVENTS)?;
        let mut last = Sequence(0);
        while last < head {
            let events = self.reads().list_events(self.workspace, last, ROWS).await?;
            let Some(newest) = events.last() else {
                break;
            };
            last = newest.sequence;
            for event in events.into_iter().filter(|event| event.sequence <= head) {
                self.note(&event.actor);
                if let Subject::Member(user) = event.subject {
                    self.people.insert(user);
                }
                self.line(&EventRow::from(event))?;
            }
        }
        Ok(())
    }

    async fn works(&mut self) -> Result<Vec<Work>> {
        let mut works = Vec::new();
        let mut last: Option<WorkId> = None;
        loop {
            let ids = self
                .reads()
                .list_work_ids(self.workspace, last, ROWS)
                .await?;
            last = ids.last().copied();
            if last.is_none() {
                break;
            }
            works.extend(self.reads().list_works_by_id(&ids).await?);
        }
        works.sort_by_key(|work| work.id);
        self.begin(WORKS)?;
        for work in &works {
            self.note(&work.updated_by);
            self.line(&WorkRow::from(work.clone()))?;
        }
        Ok(works)
    }

    async fn changes(&mut self, works: &[Work]) -> Result<()> {
        self.begin(CHANGES)?;
        for work in works {
            let mut last = Version(0);
            while last < work.version {
                let changes = self.reads().list_changes(work.id, last, ROWS).await?;
                let newest = changes.last().map(|change| change.version);
                last = newest
                    .with_context(|| format!("the log of {} ends at version {last}", work.id))?;
                for change in changes {
                    if change.version <= work.version {
                        self.note(&change.actor);
                        self.line(&ChangeRow::from(change))?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn quarantine(&mut self, works: &[Work]) -> Result<()> {
        self.begin(QUARANTINE)?;
        for work in works {
            let mut refused = self
                .reads()
                .list_quarantine(work.id, KEPT_QUARANTINED)
                .await?;
            refused.reverse();
            for update in refused {
                self.note(&update.actor);
                self.line(&QuarantineRow::from(update))?;
            }
        }
        Ok(())
    }

    async fn files(&mut self) -> Result<Vec<AssetFile>> {
        let mut files: Vec<AssetFile> = Vec::new();
        loop {
            let last = files.last().map(|file| file.sha256.as_str());
            let page = self.reads().list_files(self.workspace, last, ROWS).await?;
            if page.is_empty() {
                break;
            }
            files.extend(page);
        }
        self.begin(FILES)?;
        for file in &files {
            self.line(file)?;
        }
        Ok(files)
    }

    async fn blobs(&mut self, files: &[AssetFile]) -> Result<()> {
        // Most files are compressed in themselves.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        for file in files {
            let key = BlobKey {
                workspace: self.workspace,
                name: file.sha256.clone(),
            };
            let blobs = &self.installation.blobs;
            let bytes = blobs.read(&key, 0..file.byte_size).await;
            let mut bytes =
                bytes.with_context(|| format!("the bytes of file {} are missing", file.sha256))?;
            self.zip.start_file(archive::blob(&file.sha256), options)?;
            while let Some(chunk) = bytes.try_next().await? {
                self.zip.write_all(&chunk)?;
            }
        }
        Ok(())
    }

    async fn users(&mut self) -> Result<()> {
        let ids: Vec<UserId> = self.people.iter().copied().collect();
        self.begin(USERS)?;
        for ids in ids.chunks(ROWS as usize) {
            let mut users = self.reads().list_users(ids).await?;
            users.sort_by_key(|user| user.id);
            for user in users {
                self.line(&UserRow::from(user))?;
            }
        }
        Ok(())
    }
}
