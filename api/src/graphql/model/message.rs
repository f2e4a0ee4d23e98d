//! Messages: what people write, and what the agent replies.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result};
use domain::ids::{TaskId, WorkspaceId};
use domain::message::{self, MessagePosition};
use domain::page::{Page, Window};

use super::actor::Actor;
use super::routing::Routing;
use super::step::StepRef;
use super::task::Task;
use super::work::Work;
use crate::graphql::connection::{Asked, connection};
use crate::graphql::cursor::{Kind, List};
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::DateTime;
use crate::graphql::scope::Scope;

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "message::MessageState")]
pub(crate) enum MessageState {
    /// Stored, and not looked at yet.
    Received,
    /// The router looks for its place.
    Routing,
    /// In a task's inbox, or taken by a step that has not decided yet.
    Delivered,
    /// A stored decision has read it.
    Consumed,
    /// Answered in the main thread.
    Answered,
    /// A person must say where it belongs.
    AwaitingChoice,
    /// Its target can not take it.
    Undeliverable,
    /// Taken back.
    Withdrawn,
    /// Another message stands in its place.
    Replaced,
}

/// What somebody wrote.
#[derive(Debug, Clone)]
pub(crate) struct Message(pub(crate) Arc<message::Message>);

impl From<message::Message> for Message {
    fn from(message: message::Message) -> Self {
        Self(Arc::new(message))
    }
}

/// What somebody wrote.
#[Object]
impl Message {
    /// The id of the message.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// Who wrote it.
    async fn author(&self) -> Actor {
        Actor(self.0.author.clone())
    }

    /// Whether a program wrote it for its author.
    async fn by_program(&self) -> bool {
        self.0.by_program
    }

    /// Its words.
    async fn text(&self) -> &str {
        &self.0.text
    }

    /// BCP 47 tag of the language it is written in.
    async fn language(&self) -> Option<&str> {
        self.0.language.as_deref()
    }

    /// When it was written.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// Where it stands.
    async fn state(&self) -> MessageState {
        self.0.state.into()
    }

    /// The task in whose thread it stands.
    async fn task(&self, ctx: &Context<'_>) -> Nullable<Task> {
        nullable(Task::find(ctx, self.0.task?).await)
    }

    /// Works that came with it.
    async fn attachments(&self, ctx: &Context<'_>) -> Result<Vec<Work>> {
        let works = Scope::of(ctx)?.works(&self.0.attachments).await?;
        Ok(works.into_iter().map(Work::from).collect())
    }

    /// How its place was found; null for what the agent wrote.
    async fn routing(&self) -> Option<Routing> {
        self.0.routing.clone().map(Routing)
    }

    /// The step that has read it; null until that step's decision is stored.
    async fn consumed_by(&self) -> Option<StepRef> {
        let is_read = self.0.state == message::MessageState::Consumed;
        let step = self.0.taken_by.filter(|_| is_read)?;
        Some(StepRef::new(self.0.task?, step))
    }

    /// The message in its place.
    async fn replaced_by(&self, ctx: &Context<'_>) -> Nullable<Message> {
        nullable(Self::find(ctx, self.0.replaced_by?).await)
    }
}

impl Message {
    /// A message, where the caller may see it.
    pub(super) async fn find(
        ctx: &Context<'_>,
        id: domain::ids::MessageId,
    ) -> Result<Option<Self>> {
        Ok(Scope::of(ctx)?.find_message(id).await?.map(Self))
    }
}

connection!(
    MessageConnection,
    MessageEdge,
    Message,
    [],
    "A page of messages.",
    "A message in a page.",
    {}
);

/// The caller's main thread in a workspace that the caller is a member of, oldest first.
pub(super) async fn page_of_main_thread(
    scope: &Scope,
    workspace: WorkspaceId,
    asked: &Asked,
) -> Result<MessageConnection> {
    let user = scope.caller.user;
    let list = List::of(Kind::MainThread, workspace.uuid()).filtered(&user.to_string());
    let window = scope.services.cursors.window(&list, asked)?;
    let reads = scope.reads();
    let found = reads.list_main_thread(workspace, user, window).await?;
    Ok(connected(scope, &list, &window, found))
}

/// The thread of a visible task, oldest first.
pub(super) async fn page_of_thread(
    scope: &Scope,
    task: TaskId,
    asked: &Asked,
) -> Result<MessageConnection> {
    let list = List::of(Kind::Thread, task.uuid());
    let window = scope.services.cursors.window(&list, asked)?;
    let found = scope.thread(task, window).await?;
    Ok(connected(scope, &list, &window, found))
}

fn connected(
    scope: &Scope,
    list: &List,
    window: &Window<MessagePosition>,
    page: Page<message::Message>,
) -> MessageConnection {
    let (has_next, has_previous) = window.surroundings(page.has_next);
    let edge = |message: message::Message| MessageEdge {
        cursor: scope.services.cursors.seal(list, &message.position()),
        node: message.into(),
    };
    MessageConnection {
        edges: page.rows.into_iter().map(edge).collect(),
        has_next,
        has_previous,
    }
}
