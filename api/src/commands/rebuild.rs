//! `atelier rebuild`: drops what is derived and makes it anew. Harmless beside a running server.

use anyhow::{Context as _, Result};
use api::config::Settings;
use domain::embedding::DropEmbeddings;
use domain::ids::{TaskId, WorkspaceId};
use domain::page::PageRequest;
use domain::people::CreatedPosition;
use domain::store::StoreExt as _;
use domain::task::{FoldProjections, Task, TaskFilter};

use super::installation::Installation;
use super::services;

/// Rows that are read at once.
const ROWS: u32 = 100;

/// Drops the index and the vectors. Where no process has the index open it is built here; else that process builds it.
/// Vectors are made by the next process that searches.
pub(crate) async fn search(settings: &Settings) -> Result<()> {
    let installation = Installation::open_beside(settings).await?;
    let documents = services::start_documents(&settings.limits, &installation);
    drop_embeddings(&installation).await?;
    let data = &settings.storage.data_dir;
    let built = search::rebuild(data, installation.store.clone(), documents.clone()).await?;
    documents.stop().await;
    installation.close().await;
    match built {
        Some(count) => println!("the index of words was built anew, of {count} things"),
        None => {
            println!("the index of words was dropped; the server that has it open builds it anew");
        }
    }
    Ok(())
}

async fn drop_embeddings(installation: &Installation) -> Result<()> {
    let mut last = None;
    loop {
        let reads = installation.store.reads();
        let workspaces = reads.list_workspace_ids(last, ROWS).await?;
        let Some(newest) = workspaces.last() else {
            return Ok(());
        };
        last = Some(*newest);
        for workspace in workspaces {
            installation.store.run(DropEmbeddings { workspace }).await?;
        }
    }
}

/// Folds the projections of one task, or of all, out of their journals.
pub(crate) async fn projections(settings: &Settings, task: Option<TaskId>) -> Result<()> {
    let installation = Installation::open_beside(settings).await?;
    let count = match task {
        Some(id) => {
            let found = installation.store.reads().list_tasks_by_id(&[id]).await?;
            let task = found
                .first()
                .with_context(|| format!("there is no task {id}"))?;
            fold(&installation, task).await?;
            1
        }
        None => fold_all(&installation).await?,
    };
    installation.close().await;
    println!("the projections of {count} tasks were folded anew");
    Ok(())
}

async fn fold_all(installation: &Installation) -> Result<u64> {
    let mut count = 0;
    let mut last: Option<WorkspaceId> = None;
    loop {
        let reads = installation.store.reads();
        let workspaces = reads.list_workspace_ids(last, ROWS).await?;
        let Some(newest) = workspaces.last() else {
            return Ok(count);
        };
        last = Some(*newest);
        for workspace in workspaces {
            count += fold_workspace(installation, workspace).await?;
        }
    }
}

async fn fold_workspace(installation: &Installation, workspace: WorkspaceId) -> Result<u64> {
    let mut count = 0;
    let mut after = None;
    loop {
        let request = PageRequest { first: ROWS, after };
        let filter = TaskFilter::default();
        let reads = installation.store.reads();
        let page = reads.list_tasks(workspace, &filter, request).await?;
        for task in &page.rows {
            fold(installation, task).await?;
            count += 1;
        }
        let Some(oldest) = page.rows.last().filter(|_| page.has_next) else {
            return Ok(count);
        };
        after = Some(CreatedPosition {
            at: oldest.created_at,
            id: oldest.id.uuid(),
        });
    }
}

async fn fold(installation: &Installation, task: &Task) -> Result<()> {
    let command = FoldProjections {
        workspace: task.workspace,
        task: task.id,
        at: installation.clock.now(),
    };
    let folded = installation.store.run(command).await;
    folded.with_context(|| format!("the projections of {} can not be folded", task.id))
}
