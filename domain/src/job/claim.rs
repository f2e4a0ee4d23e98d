//! Who looks after an order next, and what there is to do: claimed by moving on the time at which it is due again.
//!
//! Invariants
//! - Of several that claim at once one gets the order, for as long as its act may take.
//! - That an order is about to be sent is stored before it is sent.

use async_trait::async_trait;

use super::take::stored;
use super::{Job, JobState, JobTiming, News};
use crate::error::Result;
use crate::ids::{JobId, WorkspaceId};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// What there is to do for an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Send it.
    Send,
    /// Find out what became of sending it: whoever sent it is lost.
    Recover,
    /// Ask the upstream about it.
    Look,
    /// Tell the upstream to give it up.
    Cancel,
    /// Fetch what was made.
    Fetch,
    /// Give it up as unknown.
    Settle,
}

/// Claims an order that is due.
#[derive(Debug, Clone)]
pub struct ClaimJob {
    /// The job's workspace.
    pub workspace: WorkspaceId,
    /// The job.
    pub job: JobId,
    /// How long orders are waited for.
    pub timing: JobTiming,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for ClaimJob {
    /// None where another was first, or nothing is to be done.
    type Output = Option<(Job, Act)>;
    const NAME: &'static str = "job.claim";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Option<(Job, Act)>> {
        let mut job = stored(tx, self.workspace, self.job).await?;
        if job.due_at.is_none_or(|due| due > self.at) {
            return Ok(None);
        }
        let act = job.claim(self.timing, self.at);
        tx.update_job(&job).await?;
        Ok(act.map(|act| (job, act)))
    }
}

impl Job {
    /// What there is to do for it now, if it is due; it is due again when whoever does it is taken for lost.
    pub fn claim(&mut self, timing: JobTiming, at: Timestamp) -> Option<Act> {
        self.due_at.filter(|due| *due <= at)?;
        let act = match self.state {
            JobState::Submitting if self.submitted_at.is_none() => Some(Act::Send),
            JobState::Submitting => Some(Act::Recover),
            JobState::SubmissionUnknown => Some(Act::Settle),
            JobState::Running if self.made.is_some() => Some(Act::Fetch),
            JobState::Running if self.is_cancel_asked => Some(Act::Cancel),
            JobState::Running => Some(Act::Look),
            _ => None,
        };
        match act {
            Some(Act::Send) => {
                self.take(&News::Begun, timing, at);
            }
            Some(_) => self.due_at = Some(at.plus(timing.sending)),
            None => self.due_at = None,
        }
        act
    }
}
