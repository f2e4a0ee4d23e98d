//! Answering a card: the answer, what it grants, and what goes on, in one transaction.
//!
//! Invariants
//! - Only a person's click grants anything (A7), and no program's for cost or for what can not be undone.

use async_trait::async_trait;
use serde_json::json;

use super::{APPROVE, CONFIRM, Card, CardAnswer, CardKind, CardState, close_alone};
use crate::error::{Error, Result};
use crate::idempotency::{IdempotencyKey, first_result};
use crate::ids::{CardId, MemoryId, TaskId, WorkspaceId};
use crate::job::{answer_cost, go_on_after_cost};
use crate::journal::JournalKind;
use crate::memory::{Forget, ForgetTarget};
use crate::people::{Caller, Role, TokenKind, check_text, require, role_in};
use crate::routing::place_by_answer;
use crate::store::{Command, Scope, Transaction};
use crate::task::{TaskChange, TaskStatus, confirm};
use crate::time::Timestamp;
use crate::turn::{CallId, Spare};
use crate::work::delete_by_person;

/// Answers an open card.
#[derive(Debug, Clone)]
pub struct AnswerCard {
    /// Who answers.
    pub caller: Caller,
    /// The card's workspace.
    pub workspace: WorkspaceId,
    /// The card.
    pub card: CardId,
    /// The option; none where the comment is the answer.
    pub option: Option<String>,
    /// What the person adds.
    pub comment: Option<String>,
    /// The key of the request.
    pub idempotency: Option<IdempotencyKey>,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

/// What became of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// It holds.
    Done,
    /// The card was answered or withdrawn before.
    NotOpen,
}

#[async_trait]
impl Command for AnswerCard {
    type Output = Answered;
    const NAME: &'static str = "card.answer";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Answered> {
        let mut card = self.checked_card(tx).await?;
        if let Some(key) = &self.idempotency {
            if first_result(tx, key).await?.is_some() {
                return Ok(Answered::Done);
            }
            tx.remember_idempotency(key, &json!(card.id)).await?;
        }
        if card.state != CardState::Open {
            return Ok(Answered::NotOpen);
        }
        card.state = CardState::Answered;
        card.answer = Some(CardAnswer {
            option: self.option.clone(),
            comment: self.comment.clone(),
            by: self.caller.user,
            at: self.at,
        });
        match (card.message, card.task) {
            (Some(_), _) => {
                place_by_answer(tx, &card, (&self.caller, self.spare, self.at)).await?;
            }
            (None, Some(task)) => self.answer_task(tx, &card, task).await?,
            (None, None) => self.answer_alone(tx, &card).await?,
        }
        Ok(Answered::Done)
    }
}

impl AnswerCard {
    async fn checked_card(&self, tx: &dyn Transaction) -> Result<Card> {
        require(tx, self.workspace, self.caller.user, Role::Editor).await?;
        let found = tx.list_cards_by_id(&[self.card]).await?.pop();
        let card = found
            .filter(|card| card.workspace == self.workspace)
            .ok_or_else(|| Error::not_found("card", self.card))?;
        let is_grant = matches!(
            card.kind,
            CardKind::ApproveCost | CardKind::ConfirmIrreversible
        );
        if is_grant && self.caller.kind == TokenKind::PublicApi {
            return Err(Error::Forbidden(
                "a program's token can not answer this card; a person does, in the interface"
                    .to_owned(),
            ));
        }
        if let Some(comment) = &self.comment {
            check_text("a comment", comment, 20_000)?;
        }
        match &self.option {
            Some(option) if !card.options.iter().any(|known| known.id == *option) => {
                let known: Vec<_> = card.options.iter().map(|known| known.id.as_str()).collect();
                Err(Error::Invalid(format!(
                    "card {} has no option `{option}`; it has: {}",
                    card.id,
                    known.join(", ")
                )))
            }
            None if self.comment.is_none() || is_grant => Err(Error::Invalid(
                "an answer needs an option or, where it is no confirmation, a comment".to_owned(),
            )),
            _ => Ok(card),
        }
    }

    /// A program asked, and no task waits: what the answer grants is done, and nothing goes on.
    async fn answer_alone(&self, tx: &dyn Transaction, card: &Card) -> Result<()> {
        close_alone(tx, card, (self.caller.actor(), self.at)).await?;
        let is_confirmed = self.option.as_deref() == Some(CONFIRM);
        if card.kind == CardKind::ConfirmIrreversible && is_confirmed {
            for work in &card.works {
                delete_by_person(tx, &self.caller, *work, self.at).await?;
            }
        }
        Ok(())
    }

    /// The answer goes into the task's journal, grants what it grants, and the task goes on.
    async fn answer_task(&self, tx: &dyn Transaction, card: &Card, task: TaskId) -> Result<()> {
        let is_confirmed = self.option.as_deref() == Some(CONFIRM);
        let mut question = card.prompt.as_str();
        if card.kind == CardKind::ConfirmIrreversible
            && is_confirmed
            && let Some(memory) = memory_of(tx, card).await?
        {
            self.forget(tx, card, memory).await?;
            // What it said is forgotten as well.
            question = "…";
        }
        let mut change = TaskChange::load(tx, task, self.caller.actor(), self.at).await?;
        change.close(card).await?;
        change.task.course.is_by_program |= self.caller.kind == TokenKind::PublicApi;
        let confirmed = match card.kind {
            CardKind::Checkpoint if is_confirmed => self.confirm_items(&change, card).await?,
            _ => Vec::new(),
        };
        change.note(
            JournalKind::IncomingMessage,
            self.in_words(card),
            json!({
                "card": card.id, "option": self.option, "comment": self.comment, "question": question,
                "confirmedItems": confirmed,
            }),
        );
        if card.kind == CardKind::ConfirmIrreversible && is_confirmed {
            for work in &card.works {
                delete_by_person(tx, &self.caller, *work, self.at).await?;
            }
        }
        if card.kind == CardKind::ApproveCost {
            let is_approved = self.option.as_deref() == Some(APPROVE);
            let role = role_in(tx, self.workspace, self.caller.user).await?;
            answer_cost(&mut change, card, (is_approved, role)).await?;
            go_on_after_cost(&mut change, is_approved, self.spare).await?;
            change.save().await?;
            return Ok(());
        }
        let waits = matches!(
            change.task.status,
            TaskStatus::WaitingForPerson | TaskStatus::Blocked | TaskStatus::WaitingExternal
        );
        if waits {
            change.queue_turn(self.spare.turn).await?;
        }
        change.save().await?;
        Ok(())
    }

    /// What a person confirms is forgotten at that person's word.
    async fn forget(&self, tx: &dyn Transaction, card: &Card, memory: MemoryId) -> Result<()> {
        let forget = Forget {
            caller: self.caller,
            workspace: self.workspace,
            target: ForgetTarget::Memory(memory),
            receipt: card.id.uuid(),
            at: self.at,
        };
        forget.run(tx).await.map(drop)
    }

    /// Confirms the item of the card, or, where the model asked, everything that is done and waits to be confirmed.
    async fn confirm_items(&self, change: &TaskChange<'_>, card: &Card) -> Result<Vec<String>> {
        let id = change.task.id;
        let found = change.tx.list_projections(&[id]).await?.pop();
        let Some((_, mut projections)) = found else {
            return Ok(Vec::new());
        };
        let items = projections
            .checklist
            .iter()
            .filter(|item| match &card.item {
                Some(asked) => item.id == *asked,
                None => item.is_open_checkpoint(),
            });
        let confirmed: Vec<_> = items.map(|item| item.id.clone()).collect();
        confirm(
            &mut projections.checklist,
            &json!({"confirmedItems": confirmed}),
        );
        change
            .tx
            .put_projections(change.task.workspace, id, &projections)
            .await?;
        Ok(confirmed)
    }

    fn in_words(&self, card: &Card) -> String {
        let label = card
            .options
            .iter()
            .find(|option| Some(&option.id) == self.option.as_ref())
            .map(|option| option.label.as_str());
        match (label, &self.comment) {
            (Some(label), Some(comment)) => format!("{label}: {comment}"),
            (Some(label), None) => label.to_owned(),
            (None, comment) => comment.clone().unwrap_or_default(),
        }
    }
}

/// The memory that a card asks to forget: the one of the call that waits for the answer.
async fn memory_of(tx: &dyn Transaction, card: &Card) -> Result<Option<MemoryId>> {
    let Some(id) = card.call.as_ref().and_then(|id| id.parse::<CallId>().ok()) else {
        return Ok(None);
    };
    let calls = tx.list_step_calls(id.turn, id.step).await?;
    let call = calls
        .iter()
        .find(|call| call.id == id && call.tool == "propose_forget");
    let named = call.and_then(|call| call.arguments["memory_id"].as_str());
    Ok(named.and_then(|named| named.parse().ok()))
}
