//! Whatever has an id that is unique over the whole server.

use async_graphql::{ID, Interface, Result};
use domain::ids::{
    CardId, JobId, MemoryId, MessageId, TaskId, TokenId, UserId, WorkId, WorkspaceId,
};

use super::card::Card;
use super::job::GenerationJob;
use super::memory::Memory;
use super::message::Message;
use super::people::{ApiToken, User};
use super::task::Task;
use super::works::{Asset, Collection, Flow, Storyboard, TextDocument};
use super::workspace::Workspace;
use crate::graphql::scope::Scope;

/// Whatever can be found by its id alone.
#[derive(Debug, Clone, Interface)]
#[graphql(field(
    name = "id",
    ty = "ID",
    desc = "Opaque: a type prefix and a UUIDv7, such as work_0198f3c2…"
))]
pub(crate) enum Node {
    /// A person.
    User(User),
    /// A token.
    ApiToken(ApiToken),
    /// A workspace.
    Workspace(Workspace),
    /// A storyboard.
    Storyboard(Storyboard),
    /// A flow.
    Flow(Flow),
    /// A collection.
    Collection(Collection),
    /// A text document.
    TextDocument(TextDocument),
    /// An asset.
    Asset(Asset),
    /// A message.
    Message(Message),
    /// A task.
    Task(Task),
    /// A card.
    Card(Card),
    /// An order.
    GenerationJob(GenerationJob),
    /// A memory.
    Memory(Memory),
}

impl Node {
    /// What has this id, where the caller may see it; a text that is no id is the id of nothing.
    pub(crate) async fn find(scope: &Scope, id: &str) -> Result<Option<Self>> {
        if let Ok(id) = id.parse::<WorkId>() {
            return Ok(scope.find_work(id).await?.map(Self::from));
        }
        if let Ok(id) = id.parse::<WorkspaceId>() {
            let found = scope.find_workspace(id).await?;
            return Ok(found.map(|row| Self::Workspace(Workspace(row))));
        }
        if let Ok(id) = id.parse::<TaskId>() {
            let found = scope.find_task(id).await?;
            return Ok(found.map(|task| Self::Task(Task(task))));
        }
        if let Ok(id) = id.parse::<MessageId>() {
            let found = scope.find_message(id).await?;
            return Ok(found.map(|message| Self::Message(Message(message))));
        }
        if let Ok(id) = id.parse::<CardId>() {
            let found = scope.find_card(id).await?;
            return Ok(found.map(|card| Self::Card(Card(card))));
        }
        if let Ok(id) = id.parse::<JobId>() {
            let found = scope.find_job(id).await?;
            return Ok(found.map(|job| Self::GenerationJob(GenerationJob(job))));
        }
        if let Ok(id) = id.parse::<MemoryId>() {
            let found = scope.find_memory(id).await?;
            return Ok(found.map(|memory| Self::Memory(Memory(memory))));
        }
        if let Ok(id) = id.parse::<UserId>() {
            let found = scope.find_acquainted(id).await?;
            return Ok(found.map(|user| Self::User(User(user))));
        }
        if let Ok(id) = id.parse::<TokenId>() {
            let tokens = scope.tokens().await?;
            let found = tokens.iter().find(|token| token.id == id).cloned();
            return Ok(found.map(|token| Self::ApiToken(ApiToken(token))));
        }
        Ok(None)
    }
}
