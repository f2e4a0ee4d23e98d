//! Storing an order, before anything is sent: with its reservation, or with the card that asks for it.

use async_trait::async_trait;
use serde_json::json;
use uuid::Uuid;

use super::{Job, JobTiming, News};
use crate::actor::Actor;
use crate::card::{APPROVE, Card, CardKind, CardOption, CardOrigin, CardState, CardWords, DECLINE};
use crate::error::Result;
use crate::event::{EventKind, Subject};
use crate::ids::{CardId, JobId};
use crate::money::{Objection, book, objection};
use crate::store::{Command, Scope, Transaction};
use crate::task::TaskChange;
use crate::turn::{CallId, Fence, StepRef, check_fence};

/// What an order costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Price {
    /// So much, in micros.
    Known(u64),
    /// Nobody knows before: what one operation may cost is the ceiling that a person is asked for.
    Unknown,
}

/// Stores the order of a call; a repeated attempt meets the order of the first.
#[derive(Debug, Clone)]
pub struct OrderJob {
    /// The fence of the turn.
    pub fence: Fence,
    /// The step that decided it.
    pub step: StepRef,
    /// The order, before anybody has approved it; its price is not read.
    pub job: Job,
    /// What it costs.
    pub price: Price,
    /// The id of the card, where a person is asked.
    pub card: CardId,
}

/// What became of an order.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one is made for a call, and read at once"
)]
pub enum Ordered {
    /// It is stored, now or by an earlier attempt.
    Stored(Job),
    /// The workspace can not pay it: nothing is stored.
    Refused(String),
}

/// The id of the order of a call: the same at every attempt.
pub fn order_id(call: CallId) -> JobId {
    let name = format!("{call}/job");
    JobId::from_uuid(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()))
}

#[async_trait]
impl Command for OrderJob {
    type Output = Ordered;
    const NAME: &'static str = "job.order";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Ordered> {
        check_fence(tx, self.fence).await?;
        if let Some(first) = tx.list_jobs_by_id(&[self.job.id]).await?.pop() {
            return Ok(Ordered::Stored(first));
        }
        let actor = Actor::Agent {
            task: self.fence.task,
            turn: self.step.turn,
            step: self.step.step,
        };
        let at = self.job.created_at;
        let mut change = TaskChange::load(tx, self.fence.task, actor, at).await?;
        change.step = Some(self.step);
        let mut job = self.job.clone();
        let is_ceiling = self.price == Price::Unknown;
        job.price = match self.price {
            Price::Known(price) => price,
            Price::Unknown => tx.budget(job.workspace).await?.per_operation,
        };
        match objection(&change, job.price, is_ceiling).await? {
            Some(Objection::Beyond(why)) => return Ok(Ordered::Refused(why)),
            Some(Objection::Ask(why)) => self.ask(&mut change, &job, &why).await?,
            None => {
                let before = job.clone();
                let moved = job.take(&News::Approved, JobTiming::default(), at);
                book(&mut change, (&before, &job), &moved.entries).await?;
                tx.announce_jobs().await?;
            }
        }
        tx.insert_job(&job).await?;
        tell_state(&mut change, &job);
        change.save().await?;
        Ok(Ordered::Stored(job))
    }
}

impl OrderJob {
    /// A guard asks, because the model can not say yes for a person (A6, A7).
    async fn ask(&self, change: &mut TaskChange<'_>, job: &Job, why: &str) -> Result<()> {
        let words = CardWords::of(&change.task.language);
        let what: String = job.prompt.chars().take(300).collect();
        let card = Card {
            id: self.card,
            workspace: job.workspace,
            kind: CardKind::ApproveCost,
            task: Some(job.task),
            message: None,
            call: Some(job.call.to_string()),
            item: None,
            prompt: format!(
                "{} ({}, {}): {what}",
                words.cost,
                job.provider,
                job.kind.tool_name()
            ),
            options: vec![
                CardOption {
                    detail: Some(why.to_owned()),
                    ..CardOption::plain(APPROVE, words.approve)
                },
                CardOption::plain(DECLINE, words.refuse),
            ],
            recommended: None,
            works: job.references.clone(),
            cost: Some(job.price),
            job: Some(job.id),
            raised_by: CardOrigin::Guard,
            state: CardState::Open,
            answer: None,
            created_at: job.created_at,
        };
        change.raise(&card).await
    }
}

/// Tells those who follow where an order stands.
pub(super) fn tell_state(change: &mut TaskChange<'_>, job: &Job) {
    change.tell_of(
        EventKind::JobStateChanged,
        Subject::Job(job.id),
        json!({"state": job.state, "provider": job.provider, "error": job.error}),
    );
}
