//! Taking news of an order in: its state, its money, its journal, and whether its task wakes, in one transaction.

use async_trait::async_trait;
use serde_json::json;

use super::order::tell_state;
use super::{Job, JobTiming, News, wakes};
use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent, Subject};
use crate::ids::{JobId, WorkspaceId};
use crate::journal::JournalKind;
use crate::money::book;
use crate::store::{Command, Scope, Transaction};
use crate::task::{TaskChange, TaskStatus};
use crate::time::Timestamp;
use crate::turn::Spare;

/// Takes news of an order in.
#[derive(Debug, Clone)]
pub struct TakeNews {
    /// The job's workspace.
    pub workspace: WorkspaceId,
    /// The job.
    pub job: JobId,
    /// What happened, in order.
    pub news: Vec<News>,
    /// The notice that said so; one that was seen before says nothing.
    pub notice: Option<String>,
    /// How long orders are waited for.
    pub timing: JobTiming,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

/// What became of news.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one is made for a notice, and read at once"
)]
pub enum Taken {
    /// They were taken in; the order as it is now.
    Done(Job),
    /// The same notice was seen before.
    Repeated,
    /// They are about another order of the upstream.
    Foreign,
}

#[async_trait]
impl Command for TakeNews {
    type Output = Taken;
    const NAME: &'static str = "job.take";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Taken> {
        let mut job = stored(tx, self.workspace, self.job).await?;
        if self.is_foreign(tx, &job).await? {
            return Ok(Taken::Foreign);
        }
        if let Some(notice) = &self.notice
            && !tx
                .note_job_notice(self.workspace, self.job, notice, self.at)
                .await?
        {
            return Ok(Taken::Repeated);
        }
        let takes = (self.timing, self.spare, self.at);
        let actor = Actor::Provider(job.provider.clone());
        take_all(tx, &mut job, &self.news, (takes, actor)).await?;
        Ok(Taken::Done(job))
    }
}

impl TakeNews {
    /// Whether the news name another order than this one: an id at the upstream never changes, and belongs to one order.
    async fn is_foreign(&self, tx: &dyn Transaction, job: &Job) -> Result<bool> {
        let named = self.news.iter().find_map(|news| match news {
            News::Accepted(upstream) => Some(upstream),
            News::Progress(upstream, _)
            | News::Made(upstream, _)
            | News::Failed(upstream, _)
            | News::Cancelled(upstream) => upstream.as_ref(),
            _ => None,
        });
        Ok(match (named, &job.upstream) {
            (None, _) => false,
            (Some(named), Some(known)) => named != known,
            (Some(named), None) => {
                let owner = tx.find_job_by_upstream(&job.provider, named).await?;
                owner.is_some_and(|owner| owner != job.id)
            }
        })
    }
}

/// The job with this id in a workspace.
pub(super) async fn stored(tx: &dyn Transaction, workspace: WorkspaceId, id: JobId) -> Result<Job> {
    let found = tx.list_jobs_by_id(&[id]).await?.pop();
    found
        .filter(|job| job.workspace == workspace)
        .ok_or_else(|| Error::not_found("job", id))
}

/// Takes news in one after the other, and writes what they changed.
pub(super) async fn take_all(
    tx: &dyn Transaction,
    job: &mut Job,
    news: &[News],
    ((timing, spare, at), actor): ((JobTiming, Spare, Timestamp), Actor),
) -> Result<()> {
    let before = job.clone();
    let mut entries = Vec::new();
    let (mut has_new_state, mut is_decided) = (false, false);
    for news in news {
        let moved = job.take(news, timing, at);
        entries.extend(moved.entries);
        has_new_state |= moved.has_new_state;
        is_decided |= moved.is_decided;
    }
    if *job == before {
        return Ok(());
    }
    tx.update_job(job).await?;
    tx.announce_jobs().await?;
    if has_new_state || is_decided {
        let mut change = TaskChange::load(tx, job.task, actor, at).await?;
        book(&mut change, (&before, job), &entries).await?;
        tell_state(&mut change, job);
        if is_decided {
            note_end(&mut change, job);
            wake(&mut change, job, spare).await?;
        }
        change.save().await?;
    } else if job.progress != before.progress {
        let event = NewEvent {
            kind: EventKind::JobProgress,
            subject: Subject::Job(job.id),
            task: Some(job.task),
            actor,
            at,
            data: json!({"progress": f64::from(job.progress) / 1_000.0}),
        };
        tx.emit(job.workspace, vec![event]).await?;
    }
    Ok(())
}

/// The journal tells what came of an order.
pub(super) fn note_end(change: &mut TaskChange<'_>, job: &Job) {
    let about = match &job.item {
        Some(item) => format!("job {} for item {item}", job.id),
        None => format!("job {}", job.id),
    };
    let state = job.state.name().to_lowercase();
    let outputs: Vec<_> = job.outputs.iter().map(ToString::to_string).collect();
    let text = match (&job.error, outputs.as_slice()) {
        (Some(error), _) => format!("{about}: {state}: {error}"),
        (None, []) => format!("{about}: {state}"),
        (None, outputs) => format!("{about}: {state}: {}", outputs.join(", ")),
    };
    change.note(
        JournalKind::SystemEvent,
        text,
        json!({
            "job": job.id, "call": job.call, "state": job.state, "item": job.item, "outputs": job.outputs, "error": job.error,
            "place": job.place,
        }),
    );
}

/// Wakes the task where it waits for this order and its plan has a use for it (G2, D6).
async fn wake(change: &mut TaskChange<'_>, job: &Job, spare: Spare) -> Result<()> {
    if change.task.status != TaskStatus::WaitingExternal {
        return Ok(());
    }
    let id = change.task.id;
    let found = change.tx.list_projections(&[id]).await?.pop();
    let checklist = found.map(|(_, projections)| projections.checklist);
    if wakes(job, &checklist.unwrap_or_default()) {
        change.queue_turn(spare.turn).await?;
    }
    Ok(())
}
