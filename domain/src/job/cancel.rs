//! Giving an order up at a person's word, where its provider can.

use async_trait::async_trait;

use super::approve::go_on_after_cost;
use super::take::{stored, take_all};
use super::{Job, JobState, JobTiming, News};
use crate::card::CardState;
use crate::error::{Error, Result};
use crate::ids::{JobId, WorkspaceId};
use crate::people::{Caller, Role, require};
use crate::store::{Command, Scope, Transaction};
use crate::task::TaskChange;
use crate::time::Timestamp;
use crate::turn::Spare;

/// Gives an order up.
#[derive(Debug, Clone)]
pub struct CancelJob {
    /// Who asks.
    pub caller: Caller,
    /// The job's workspace.
    pub workspace: WorkspaceId,
    /// The job.
    pub job: JobId,
    /// Whether its provider can be told to.
    pub can_cancel: bool,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for CancelJob {
    type Output = ();
    const NAME: &'static str = "job.cancel";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        require(tx, self.workspace, self.caller.user, Role::Editor).await?;
        let mut job = stored(tx, self.workspace, self.job).await?;
        self.check(&job)?;
        let was_open = job.state == JobState::AwaitingApproval;
        let takes = (JobTiming::default(), self.spare, self.at);
        let news = [News::CancelAsked];
        take_all(tx, &mut job, &news, (takes, self.caller.actor())).await?;
        if was_open {
            self.close_question(tx, &job).await?;
        }
        Ok(())
    }
}

impl CancelJob {
    fn check(&self, job: &Job) -> Result<()> {
        let conflict = |why: String| Err(Error::Conflict(format!("job {} {why}", job.id)));
        match job.state {
            JobState::Cancelled | JobState::AwaitingApproval => Ok(()),
            JobState::Submitting if job.submitted_at.is_none() => Ok(()),
            JobState::SubmissionUnknown => conflict(
                "may have been sent or not, so there is nothing to cancel; it is settled by itself"
                    .to_owned(),
            ),
            JobState::Running if job.made.is_some() => {
                conflict("is made already and is being fetched".to_owned())
            }
            JobState::Running | JobState::Submitting if self.can_cancel => Ok(()),
            JobState::Running | JobState::Submitting => conflict(format!(
                "can not be cancelled: {} takes no order back",
                job.provider
            )),
            state => conflict(format!("is over: it is {}", state.name().to_lowercase())),
        }
    }

    /// Nobody needs to approve it any more.
    async fn close_question(&self, tx: &dyn Transaction, job: &Job) -> Result<()> {
        let mut change = TaskChange::load(tx, job.task, self.caller.actor(), self.at).await?;
        for mut card in tx.list_cards(&[job.task], Some(true)).await? {
            if card.job == Some(job.id) {
                card.state = CardState::Withdrawn;
                change.close(&card).await?;
            }
        }
        go_on_after_cost(&mut change, false, self.spare).await?;
        change.save().await?;
        Ok(())
    }
}
