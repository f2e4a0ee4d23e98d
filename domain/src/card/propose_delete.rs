//! A program asks whether a work may go to the bin: a card of the workspace for which no task waits. The answer moves it there (A6, A7).
//!
//! Invariants
//! - A work has one such card open at a time, whoever asks again; a workspace has no more open cards than can be shown.
//!
//! Not here: what the agent asks for a task (its tool), and the answer (`answer`).

use async_trait::async_trait;
use serde_json::json;

use super::{CONFIRM, Card, CardKind, CardOption, CardOrigin, CardState, CardWords, DECLINE};
use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent, Subject};
use crate::ids::{CardId, WorkId, WorkspaceId};
use crate::people::{Caller, Role, check_text, require};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;
use crate::work::{Work, visible_work};

/// Open cards of a workspace that are listed.
const LISTED: usize = 100;

/// Asks the members of a workspace whether a work may go to the bin.
#[derive(Debug, Clone)]
pub struct ProposeDeleteWork {
    /// Who asks.
    pub caller: Caller,
    /// The work's workspace.
    pub workspace: WorkspaceId,
    /// The work.
    pub work: WorkId,
    /// Why, for people.
    pub reason: Option<String>,
    /// BCP 47 tag of the language in which the card asks.
    pub language: String,
    /// The id of the card that is raised.
    pub card: CardId,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for ProposeDeleteWork {
    /// The card, or the one that asks this already.
    type Output = CardId;
    const NAME: &'static str = "card.propose_delete_work";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<CardId> {
        let (work, _) = visible_work(tx, self.work, self.caller.user).await?;
        require(tx, work.workspace, self.caller.user, Role::Editor).await?;
        if let Some(reason) = &self.reason {
            check_text("a reason", reason, 1_000)?;
        }
        if work.deleted_at.is_some() {
            return Err(Error::Conflict(format!(
                "work {} lies in the bin already",
                work.id
            )));
        }
        let open = tx.list_open_cards(work.workspace).await?;
        if let Some(card) = open.iter().find(|card| asks_alone(card, work.id)) {
            return Ok(card.id);
        }
        if open.len() >= LISTED {
            return Err(Error::Conflict(format!(
                "{LISTED} cards wait for people in this workspace already; ask once some are answered"
            )));
        }
        tx.insert_card(&self.card_about(&work)).await?;
        let opened = told(
            EventKind::CardOpened,
            self.card,
            (self.caller.actor(), self.at),
            json!({"kind": CardKind::ConfirmIrreversible}),
        );
        tx.emit(work.workspace, vec![opened]).await?;
        Ok(self.card)
    }
}

impl ProposeDeleteWork {
    fn card_about(&self, work: &Work) -> Card {
        let words = CardWords::of(&self.language);
        let question = format!("{}: \u{201c}{}\u{201d}?", words.delete, work.title);
        Card {
            id: self.card,
            workspace: work.workspace,
            kind: CardKind::ConfirmIrreversible,
            task: None,
            message: None,
            call: None,
            item: None,
            prompt: match &self.reason {
                Some(reason) => format!("{question}\n{reason}"),
                None => question,
            },
            options: vec![
                CardOption::plain(CONFIRM, words.permit),
                CardOption::plain(DECLINE, words.decline),
            ],
            recommended: None,
            works: vec![work.id],
            cost: None,
            job: None,
            raised_by: CardOrigin::Guard,
            state: CardState::Open,
            answer: None,
            created_at: self.at,
        }
    }
}

/// Whether a card asks about the work, and no task waits for the answer.
fn asks_alone(card: &Card, work: WorkId) -> bool {
    card.kind == CardKind::ConfirmIrreversible
        && card.task.is_none()
        && card.message.is_none()
        && card.works.contains(&work)
}

/// Closes a card for which nothing waits, and tells of it.
pub(crate) async fn close_alone(
    tx: &dyn Transaction,
    card: &Card,
    (actor, at): (Actor, Timestamp),
) -> Result<()> {
    tx.close_card(card).await?;
    let mut answered = told(
        EventKind::CardAnswered,
        card.id,
        (actor, at),
        json!({"state": card.state}),
    );
    answered.task = card.task;
    tx.emit(card.workspace, vec![answered]).await
}

/// Withdraws what programs ask about a work: nobody needs to say any more whether it may go to the bin.
pub(super) async fn withdraw_alone(
    tx: &dyn Transaction,
    work: &Work,
    (actor, at): (Actor, Timestamp),
) -> Result<()> {
    let open = tx.list_open_cards(work.workspace).await?;
    for mut card in open.into_iter().filter(|card| asks_alone(card, work.id)) {
        card.state = CardState::Withdrawn;
        close_alone(tx, &card, (actor.clone(), at)).await?;
    }
    Ok(())
}

fn told(
    kind: EventKind,
    card: CardId,
    (actor, at): (Actor, Timestamp),
    data: serde_json::Value,
) -> NewEvent {
    NewEvent {
        kind,
        subject: Subject::Card(card),
        task: None,
        actor,
        at,
        data,
    }
}
