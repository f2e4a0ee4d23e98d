//! The types of the schema, over the types of the domain.
//!
//! Invariants
//! - A type holds a row that its caller may see; fields read more through the loaders of the execution.

mod events;
mod pages;
mod people;
mod works;

pub(crate) use events::{WorkChange, WorkspaceEvent};
pub(crate) use pages::PageInfo;
pub(crate) use people::{
    ActorObject, ApiTokenObject, MemberObject, RoleName, TokenKindName, UserObject, Viewer,
    WorkspaceObject,
};
pub(crate) use works::{
    Asset, PresenceObject, RevisionObject, StructuredWork, WorkKindName, WorkNode, WorkObject,
    presence_objects,
};

use async_graphql::{ID, Interface};

/// Anything with a global id. Ids are opaque to clients: a type prefix and a UUIDv7, such as `work_0198f3c2…`.
#[derive(Interface, Clone)]
#[graphql(field(name = "id", ty = "ID", desc = "Its global id."))]
pub(crate) enum Node {
    /// A person.
    User(UserObject),
    /// A token.
    ApiToken(ApiTokenObject),
    /// A workspace.
    Workspace(WorkspaceObject),
    /// A storyboard.
    Storyboard(works::Storyboard),
    /// A flow.
    Flow(works::Flow),
    /// A collection.
    Collection(works::Collection),
    /// A text document.
    TextDocument(works::TextDocument),
    /// An asset.
    Asset(Asset),
}

impl From<WorkObject> for Node {
    fn from(work: WorkObject) -> Self {
        match work {
            WorkObject::Storyboard(work) => Self::Storyboard(work),
            WorkObject::Flow(work) => Self::Flow(work),
            WorkObject::Collection(work) => Self::Collection(work),
            WorkObject::TextDocument(work) => Self::TextDocument(work),
            WorkObject::Asset(work) => Self::Asset(work),
        }
    }
}
