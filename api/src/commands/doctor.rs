//! `atelier doctor`: looks at everything that can be looked at, and says what is wrong and how to mend it.
//!
//! Invariants
//! - It changes nothing but what opening the storage changes (migrations).
//! - It ends with 1 where anything is wrong, and says so in the last line.

use std::process::ExitCode;

use ::search::{BuiltinEmbedder, Differences};
use anyhow::Result;
use api::config::{EmbeddingsProvider, Settings};
use domain::Result as DomainResult;
use domain::blob::BlobKey;
use domain::document::{Version, audit_document};
use domain::ids::{WorkId, WorkspaceId};
use domain::work::Work;
use tokio::task::spawn_blocking;

use super::installation::Installation;
use super::search;
use super::services::{start_documents, trusted_documents};

/// Rows that are read at once.
const ROWS: u32 = 200;

/// What was found.
#[derive(Debug, Default)]
struct Findings {
    wrong: u32,
}

impl Findings {
    fn good(what: &str) {
        println!("ok     {what}");
    }

    fn note(what: &str) {
        println!("note   {what}");
    }

    fn wrong(&mut self, what: &str, mend: &str) {
        self.wrong += 1;
        println!("WRONG  {what}\n       {mend}");
    }
}

/// Checks everything.
pub(crate) async fn run(settings: &Settings) -> Result<ExitCode> {
    let mut findings = Findings::default();
    check_settings(settings, &mut findings);
    match Installation::open_beside(settings).await {
        Ok(installation) => {
            check_installation(&installation, &mut findings).await;
            check_search(settings, &installation, &mut findings).await;
            installation.close().await;
        }
        Err(error) => findings.wrong(
            &format!("{error:#}"),
            "Check --database-url, --blob-url and --data-dir, and stop other servers on the same embedded database.",
        ),
    }
    if findings.wrong > 0 {
        println!("{} things are wrong", findings.wrong);
        return Ok(ExitCode::FAILURE);
    }
    println!("everything is well");
    Ok(ExitCode::SUCCESS)
}

/// Compares the index with the database, and looks for what meanings are searched with.
async fn check_search(settings: &Settings, installation: &Installation, findings: &mut Findings) {
    let documents = start_documents(&settings.limits, installation);
    let data = &settings.storage.data_dir;
    let compared = ::search::compare(data, installation.store.clone(), documents.clone()).await;
    documents.stop().await;
    match compared {
        Ok(None) => Findings::note("there is no search index; the server makes one"),
        Ok(Some(found)) if found.differing.is_empty() => {
            let Differences { same, skipped, .. } = found;
            Findings::good(&format!(
                "search index: {same} things; {skipped} workspaces were left out, because the index is behind them"
            ));
        }
        Ok(Some(found)) => {
            for text in found.differing {
                findings.wrong(
                    &format!("the search index is not what is stored: {text}"),
                    "Run `atelier rebuild search`, and report this, with the version of the server.",
                );
            }
        }
        // It is derived: a server that was killed while it made one makes it anew.
        Err(error) => Findings::note(&format!(
            "the search index can not be read: {error}; the server makes it anew when it starts"
        )),
    }
    if settings.search.provider == EmbeddingsProvider::Builtin {
        let file = search::weights(&settings.search);
        if let Err(error) = spawn_blocking(move || BuiltinEmbedder::open(&file))
            .await
            .unwrap_or_else(|error| Err(::search::Error::Weights(error.to_string())))
        {
            Findings::note(&format!(
                "{error}; words alone are searched: `cargo xtask up` fetches the weights, or see docs/operations.md"
            ));
        }
    }
}

fn check_settings(settings: &Settings, findings: &mut Findings) {
    for warning in &settings.warnings {
        findings.wrong(warning, "Correct its name, or remove it.");
    }
    match trusted_documents(settings) {
        Ok(_) => Findings::good("configuration"),
        Err(error) => findings.wrong(
            &format!("{error:#}"),
            "Correct the file, or set trusted-documents to off.",
        ),
    }
    let is_open = !settings.listen.ip().is_loopback();
    let is_plain = settings
        .public_url
        .as_ref()
        .is_none_or(|url| url.scheme() == "http");
    if is_open && is_plain {
        Findings::note(
            "the server listens beyond this machine without https: put a proxy with TLS in front, and set --public-url",
        );
    }
}

async fn check_installation(installation: &Installation, findings: &mut Findings) {
    match installation.integrity().await {
        Ok(faults) if faults.is_empty() => Findings::good("database"),
        Ok(faults) => {
            for fault in faults {
                findings.wrong(
                    &format!("the database is damaged: {fault}"),
                    "Stop the server, keep a copy of the database, and bring back the last good backup.",
                );
            }
        }
        Err(error) => findings.wrong(
            &format!("the database does not answer: {error}"),
            "Check that it runs and can be reached.",
        ),
    }
    if let Err(error) = check_workspaces(installation, findings).await {
        findings.wrong(
            &format!("the check broke off: {error}"),
            "Look into the log for the cause, mend that, and check again.",
        );
    }
}

async fn check_workspaces(
    installation: &Installation,
    findings: &mut Findings,
) -> DomainResult<()> {
    let reads = installation.store.reads();
    let mut last = None;
    loop {
        let workspaces = reads.list_workspace_ids(last, ROWS).await?;
        for workspace in &workspaces {
            check_workspace(installation, *workspace, findings).await?;
        }
        last = workspaces.last().copied();
        if last.is_none() {
            return Ok(());
        }
    }
}

async fn check_workspace(
    installation: &Installation,
    workspace: WorkspaceId,
    findings: &mut Findings,
) -> DomainResult<()> {
    let before = findings.wrong;
    let reads = installation.store.reads();
    if reads.list_members(&[workspace]).await?.is_empty() {
        findings.wrong(
            &format!("{workspace} has no members: an import broke off"),
            "Run the same `atelier import` again; it goes on where it stopped.",
        );
    }
    let files = check_files(installation, workspace, findings).await?;
    let works = check_works(installation, workspace, findings).await?;
    for (work, count) in reads.count_quarantined(workspace).await? {
        Findings::note(&format!(
            "{count} refused updates of {work} lie in quarantine; they are in no document"
        ));
    }
    for memory in reads.list_memory_faults(workspace).await? {
        findings.wrong(
            &format!("{memory} says what was forgotten"),
            "Forget it once more, and report this, with the version of the server.",
        );
    }
    if findings.wrong == before {
        Findings::good(&format!("{workspace}: {works} works, {files} files"));
    }
    Ok(())
}

/// Looks for the blob of each file; how many files there are.
async fn check_files(
    installation: &Installation,
    workspace: WorkspaceId,
    findings: &mut Findings,
) -> DomainResult<u64> {
    let reads = installation.store.reads();
    let (mut count, mut last) = (0, None::<String>);
    loop {
        let files = reads.list_files(workspace, last.as_deref(), ROWS).await?;
        for file in &files {
            count += 1;
            let name = file.sha256.clone();
            let size = installation
                .blobs
                .size(&BlobKey { workspace, name })
                .await?;
            if size != Some(file.byte_size) {
                let found = size.map_or("is missing".to_owned(), |size| format!("has {size}"));
                findings.wrong(
                    &format!(
                        "file {} of {workspace} should have {} bytes and {found}",
                        file.sha256, file.byte_size
                    ),
                    "Bring the file back from a backup of the blobs, or upload it again as a new version.",
                );
            }
        }
        last = files.last().map(|file| file.sha256.clone());
        if last.is_none() {
            return Ok(count);
        }
    }
}

/// Replays the log of each work; how many works there are.
async fn check_works(
    installation: &Installation,
    workspace: WorkspaceId,
    findings: &mut Findings,
) -> DomainResult<u64> {
    let reads = installation.store.reads();
    let (mut count, mut last) = (0, None::<WorkId>);
    loop {
        let ids = reads.list_work_ids(workspace, last, ROWS).await?;
        for work in reads.list_works_by_id(&ids).await? {
            count += 1;
            if let Err(fault) = check_work(installation, &work).await? {
                findings.wrong(
                    &format!("{} of {workspace}: {fault}", work.id),
                    "Export what can still be read, and bring the database back from a backup; report this, with the version of the server.",
                );
            }
        }
        last = ids.last().copied();
        if last.is_none() {
            return Ok(count);
        }
    }
}

async fn check_work(installation: &Installation, work: &Work) -> DomainResult<Result<(), String>> {
    let reads = installation.store.reads();
    let (mut log, mut last) = (Vec::new(), Version(0));
    loop {
        let changes = reads.list_changes(work.id, last, ROWS).await?;
        let Some(newest) = changes.last() else {
            break;
        };
        last = newest.version;
        for change in changes {
            let expected = Version(log.len() as u64 + 1);
            if change.version != expected {
                return Ok(Err(format!("the log lacks version {expected}")));
            }
            log.push(change.update);
        }
    }
    if last != work.version {
        return Ok(Err(format!(
            "the log ends at version {last}, and the work is at {}",
            work.version
        )));
    }
    let Some(stored) = reads.load_documents(&[work.id], None).await?.pop() else {
        return Ok(Err("its document can not be loaded".to_owned()));
    };
    let kind = work.kind;
    let audit = spawn_blocking(move || audit_document(kind, log, stored)).await;
    Ok(match audit {
        Ok(Ok(())) => Ok(()),
        Ok(Err(damage)) => Err(damage.to_string()),
        Err(_) => Err("the replay broke off".to_owned()),
    })
}
