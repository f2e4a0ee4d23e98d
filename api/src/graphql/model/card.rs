//! Cards: questions to a person, answered by a click.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result};
use domain::card;

use super::message::Message;
use super::money::Money;
use super::people::User;
use super::task::Task;
use super::work::Work;
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::DateTime;
use crate::graphql::scope::Scope;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "card::CardKind")]
pub(crate) enum CardKind {
    /// Whether what was done is right.
    Checkpoint,
    /// Which of these.
    Choice,
    /// What was meant.
    Clarification,
    /// Whether this may be paid.
    ApproveCost,
    /// Whether this may be done though it can not be undone.
    ConfirmIrreversible,
}

/// Who raised a card. RUNTIME: the model stopped at a checkpoint without asking, so the runtime asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "card::CardOrigin")]
pub(crate) enum CardOrigin {
    /// The model asked.
    Model,
    /// The runtime asked, because the model did not.
    Runtime,
    /// The router asked.
    Router,
    /// A guard asked before an effect.
    Guard,
}

/// Where a card stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "card::CardState")]
pub(crate) enum CardState {
    /// It waits for a person.
    Open,
    /// A person answered.
    Answered,
    /// It is no longer asked.
    Withdrawn,
}

/// A question to a person, answered by a click.
#[derive(Debug, Clone)]
pub(crate) struct Card(pub(crate) Arc<card::Card>);

impl From<card::Card> for Card {
    fn from(card: card::Card) -> Self {
        Self(Arc::new(card))
    }
}

/// A question to a person, answered by a click.
#[Object]
impl Card {
    /// The id of the card.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// What is asked.
    async fn kind(&self) -> CardKind {
        self.0.kind.into()
    }

    /// The task that asks.
    async fn task(&self, ctx: &Context<'_>) -> Nullable<Task> {
        nullable(Task::find(ctx, self.0.task?).await)
    }

    /// The message that it is about.
    async fn message(&self, ctx: &Context<'_>) -> Nullable<Message> {
        nullable(Message::find(ctx, self.0.message?).await)
    }

    /// The question.
    async fn prompt(&self) -> &str {
        &self.0.prompt
    }

    /// What can be answered.
    async fn options(&self) -> Vec<CardOption> {
        self.0.options.iter().cloned().map(CardOption).collect()
    }

    /// The id of the option that is recommended.
    async fn recommended(&self) -> Option<ID> {
        self.0.recommended.as_ref().map(ID::from)
    }

    /// Works that it shows.
    async fn works(&self, ctx: &Context<'_>) -> Result<Vec<Work>> {
        let works = Scope::of(ctx)?.works(&self.0.works).await?;
        Ok(works.into_iter().map(Work::from).collect())
    }

    /// What a yes would cost; null where it costs nothing.
    async fn cost(&self) -> Option<Money> {
        self.0.cost.map(Money::new)
    }

    /// Who raised it.
    async fn raised_by(&self) -> CardOrigin {
        self.0.raised_by.into()
    }

    /// Where it stands.
    async fn state(&self) -> CardState {
        self.0.state.into()
    }

    /// What a person answered.
    async fn answer(&self) -> Option<CardAnswer> {
        self.0.answer.clone().map(CardAnswer)
    }

    /// When it was raised.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// One possible answer.
#[derive(Debug, Clone)]
pub(crate) struct CardOption(card::CardOption);

/// One possible answer.
#[Object]
impl CardOption {
    /// The id of the option; unique on its card.
    async fn id(&self) -> ID {
        ID(self.0.id.clone())
    }

    /// What it says.
    async fn label(&self) -> &str {
        &self.0.label
    }

    /// What it means.
    async fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// The work that it stands for.
    async fn work(&self, ctx: &Context<'_>) -> Nullable<Work> {
        nullable(Work::find(ctx, self.0.work?).await)
    }

    /// The task that it stands for.
    async fn task(&self, ctx: &Context<'_>) -> Nullable<Task> {
        nullable(Task::find(ctx, self.0.task?).await)
    }
}

/// What a person answered to a card.
#[derive(Debug, Clone)]
pub(crate) struct CardAnswer(card::CardAnswer);

/// What a person answered to a card.
#[Object]
impl CardAnswer {
    /// The id of the option; null where the comment is the answer.
    async fn option(&self) -> Option<ID> {
        self.0.option.as_ref().map(ID::from)
    }

    /// What the person added.
    async fn comment(&self) -> Option<&str> {
        self.0.comment.as_deref()
    }

    /// Who.
    async fn by(&self, ctx: &Context<'_>) -> Result<User> {
        User::load(ctx, self.0.by).await
    }

    /// When.
    async fn at(&self) -> DateTime {
        DateTime(self.0.at)
    }
}
