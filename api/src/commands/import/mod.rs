//! `atelier import`: brings a workspace in from an archive.
//!
//! Invariants
//! - Nobody sees the workspace before all of it is there; an import that broke off goes on when it is run again.
//! - People are found again by their e-mail addresses; others are made, without tokens.
//! - Changes pass the checks that changes from a socket pass, and files are what their hashes say.

mod change_run;
mod memories;
mod people;
mod tasks;

use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use api::assets;
use api::config::Settings;
use api::tokens;
use bytes::Bytes;
use domain::archive::{
    FinishImport, ImportEvents, ImportFiles, ImportWork, SettleWork, StartImport, check_change,
};
use domain::document::{DocumentOptions, DocumentService, Version};
use domain::event::{NewEvent, Sequence};
use domain::ids::{TokenId, UserId, WorkId, WorkspaceId};
use domain::people::{ApiToken, Member, Role, TokenKind, Workspace};
use domain::secret::Secret;
use domain::store::StoreExt as _;
use domain::work::{AssetFile, SaveSnapshot, Snapshot, Work};

use super::archive::reader::ArchiveReader;
use super::archive::rows::{ChangeRow, EventRow, MemberRow, QuarantineRow, WorkRow};
use super::archive::{self, CHANGES, EVENTS, FILES, MEMBERS, QUARANTINE, WORKS};
use super::installation::Installation;
use super::serve::sign_in_link;
use change_run::ChangeRun;
use people::People;

/// Rows that are stored at once.
const ROWS: usize = 500;
/// Works with so many changes get a snapshot, so that they open fast.
const SNAPSHOT_CHANGES: u64 = 200;
/// Bytes of a file that are read at once.
const CHUNK: usize = 256 << 10;

/// What an import brought.
pub(super) struct Imported {
    pub(super) workspace: WorkspaceId,
    pub(super) works: usize,
    /// The secret of the owner's token, where one was made.
    pub(super) secret: Option<Secret>,
}

/// Brings the workspace in, and says what came.
pub(crate) async fn run(settings: &Settings, file: &Path, owner: &str) -> Result<()> {
    let installation = Installation::open(settings).await?;
    let imported = Box::pin(import(&installation, file, owner)).await;
    installation.close().await;
    let imported = imported?;
    println!("{}, {} works, is here", imported.workspace, imported.works);
    if let Some(secret) = imported.secret {
        let public = settings.public_url_at(settings.listen);
        println!(
            "The owner is new here; this link is shown once:\n{}",
            sign_in_link(&public, &secret)
        );
    }
    Ok(())
}

/// Brings the workspace in.
pub(super) async fn import(
    installation: &Installation,
    file: &Path,
    owner: &str,
) -> Result<Imported> {
    let mut reader = ArchiveReader::open(file)?;
    let workspace: Workspace = reader.head()?.workspace.into();
    let people = People::find(installation, &mut reader, workspace.id, owner).await?;
    let start = StartImport {
        workspace: workspace.clone(),
        users: people.new.clone(),
    };
    installation.store.run(start).await?;
    let mut importer = Importer {
        installation,
        reader,
        workspace: workspace.id,
        people,
    };
    let works = importer.works().await?;
    importer.changes(&works).await?;
    importer.files().await?;
    importer.events().await?;
    importer.settle(&works).await?;
    importer.main_threads().await?;
    // Workers take turns up as soon as they are there: by now everything is that they need.
    importer.tasks().await?;
    importer.memories().await?;
    let secret = importer.finish().await?;
    Ok(Imported {
        workspace: workspace.id,
        works: works.len(),
        secret,
    })
}

/// A work of the archive, and how far it has come here.
struct Arrived {
    work: Work,
    version: Version,
}

struct Importer<'a> {
    installation: &'a Installation,
    reader: ArchiveReader,
    workspace: WorkspaceId,
    people: People,
}

impl Importer<'_> {
    async fn works(&mut self) -> Result<HashMap<WorkId, Arrived>> {
        let rows: Vec<WorkRow> = self.reader.lines(WORKS)?.collect::<Result<_>>()?;
        let mut works = HashMap::new();
        for row in rows {
            let updated_by = self.people.actor(&row.updated_by);
            let work = row.into_work(self.workspace, updated_by);
            let command = ImportWork { work: work.clone() };
            let version = self.installation.store.run(command).await?;
            works.insert(work.id, Arrived { work, version });
        }
        Ok(works)
    }

    async fn changes(&mut self, works: &HashMap<WorkId, Arrived>) -> Result<()> {
        let mut run = ChangeRun::default();
        let mut reached: HashMap<WorkId, Version> = HashMap::new();
        for row in self.reader.lines::<ChangeRow>(CHANGES)? {
            let row = row?;
            let arrived = works
                .get(&row.work)
                .with_context(|| format!("a change belongs to no work: {}", row.work))?;
            if row.version <= arrived.version {
                continue;
            }
            check_change(arrived.work.kind, &row.update)
                .with_context(|| format!("version {} of {}", row.version, row.work))?;
            let before = reached.entry(row.work).or_insert(arrived.version);
            ensure!(
                row.version.0 == before.0 + 1,
                "{} lacks the change after version {before}",
                row.work
            );
            *before = row.version;
            if !run.takes(&row) {
                run.store(self.installation, self.workspace).await?;
            }
            let actor = self.people.actor(&row.actor);
            run.push(row, actor);
        }
        run.store(self.installation, self.workspace).await?;
        for (id, arrived) in works {
            let version = reached.get(id).copied().unwrap_or(arrived.version);
            let expected = arrived.work.version;
            ensure!(
                version == expected,
                "{id} should have {expected} versions and has {version}"
            );
        }
        Ok(())
    }

    async fn files(&mut self) -> Result<()> {
        let files: Vec<AssetFile> = self.reader.lines(FILES)?.collect::<Result<_>>()?;
        for file in &files {
            self.blob(file)
                .await
                .with_context(|| format!("file {}", file.sha256))?;
        }
        for files in files.chunks(ROWS) {
            let command = ImportFiles {
                workspace: self.workspace,
                files: files.to_vec(),
            };
            self.installation.store.run(command).await?;
        }
        Ok(())
    }

    async fn blob(&mut self, file: &AssetFile) -> Result<()> {
        let entry = archive::blob(&file.sha256);
        let mut bytes = self.reader.bytes(&entry, file.byte_size + 1)?;
        let blobs = &*self.installation.blobs;
        let mut keeper = assets::Keeper::begin(blobs, self.workspace).await?;
        let mut buffer = vec![0; CHUNK];
        loop {
            let length = bytes.read(&mut buffer)?;
            if length == 0 {
                break;
            }
            keeper
                .write(Bytes::copy_from_slice(&buffer[..length]))
                .await?;
        }
        ensure!(
            keeper.finish(file).await?,
            "its bytes are not those that its hash says"
        );
        Ok(())
    }

    async fn events(&mut self) -> Result<()> {
        let mut after = Sequence(0);
        let mut events: Vec<NewEvent> = Vec::new();
        for row in self.reader.lines::<EventRow>(EVENTS)? {
            let mut row = row?;
            let expected = after.0 + events.len() as u64 + 1;
            ensure!(row.sequence.0 == expected, "event {expected} is missing");
            row.data = self.people.data(row.data);
            let (actor, subject) = (
                self.people.actor(&row.actor),
                self.people.subject(row.subject),
            );
            events.push(row.into_new(actor, subject));
            if events.len() == ROWS {
                let full = std::mem::take(&mut events);
                after = Self::emit(self.installation, self.workspace, after, full).await?;
            }
        }
        Self::emit(self.installation, self.workspace, after, events).await?;
        Ok(())
    }

    async fn emit(
        installation: &Installation,
        workspace: WorkspaceId,
        after: Sequence,
        events: Vec<NewEvent>,
    ) -> Result<Sequence> {
        let next = Sequence(after.0 + events.len() as u64);
        let command = ImportEvents {
            workspace,
            after,
            events,
        };
        installation.store.run(command).await?;
        Ok(next)
    }

    /// Writes what changes alone do not say, and snapshots of long logs.
    async fn settle(&self, works: &HashMap<WorkId, Arrived>) -> Result<()> {
        let store = &self.installation.store;
        let options = DocumentOptions::default();
        let documents =
            DocumentService::start(options, store.clone(), self.installation.clock.clone());
        for Arrived { work, .. } in works.values() {
            store.run(SettleWork { work: work.clone() }).await?;
            if work.version.0 >= SNAPSHOT_CHANGES {
                let snapshot = Snapshot {
                    work: work.id,
                    version: work.version,
                    state: documents.state(work.id, None).await?,
                };
                let workspace = self.workspace;
                let command = SaveSnapshot {
                    workspace,
                    snapshot,
                };
                store.run(command).await?;
            }
        }
        documents.stop().await;
        Ok(())
    }

    /// Gives the workspace its members; the secret of the owner's token, where the owner has none yet.
    async fn finish(&mut self) -> Result<Option<Secret>> {
        let rows: Vec<MemberRow> = self.reader.lines(MEMBERS)?.collect::<Result<_>>()?;
        let rows = rows
            .into_iter()
            .map(|row| self.member(row.user, row.role, row.joined_at));
        let mut members: Vec<Member> = rows
            .filter(|member| member.user != self.people.owner)
            .collect();
        let now = self.installation.clock.now();
        members.push(Member {
            workspace: self.workspace,
            user: self.people.owner,
            role: Role::Owner,
            joined_at: now,
        });
        let mut quarantined = Vec::new();
        for row in self.reader.lines::<QuarantineRow>(QUARANTINE)? {
            let row = row?;
            let actor = self.people.actor(&row.actor);
            quarantined.push(row.into_update(self.workspace, actor));
        }
        let has_token = self
            .installation
            .store
            .reads()
            .has_token(self.people.owner)
            .await?;
        let secret = (!has_token).then(|| Secret::new(tokens::new_secret()));
        let token = secret.as_ref().map(|secret| ApiToken {
            id: TokenId::new(),
            user: self.people.owner,
            label: "First token".to_owned(),
            kind: TokenKind::Personal,
            secret_hash: tokens::hash(secret.expose()),
            created_at: now,
            last_used_at: None,
            expires_at: None,
        });
        let command = FinishImport {
            workspace: self.workspace,
            members,
            quarantined,
            token,
        };
        self.installation.store.run(command).await?;
        Ok(secret)
    }

    fn member(&self, user: UserId, role: Role, joined_at: domain::time::Timestamp) -> Member {
        Member {
            workspace: self.workspace,
            user: self.people.user(user),
            role,
            joined_at,
        }
    }
}
