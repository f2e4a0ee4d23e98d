//! People: users, workspaces, members with roles, tokens.
//!
//! Invariants
//! - A token's secret is stored only as its SHA-256.
//! - A workspace always has an owner.
//! - What a caller is no member of is "not found" (`role_in`).
//!
//! Not here: making and hashing secrets, reading the `Authorization` header (`api`).

mod commands;
mod permission;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;
use crate::ids::{TokenId, UserId, WorkspaceId};
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

pub(crate) use commands::check_text;
pub use commands::{
    AddMember, AddedMember, Bootstrap, CreateToken, CreateWorkspace, RemoveMember, RevokeToken,
    TouchToken, normal_email,
};
pub use permission::{require, role_in};

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// As shown to others.
    pub name: String,
    /// Lower case; unique over the installation. None for somebody made without one.
    pub email: Option<String>,
    /// The workspace whose owner made the user by adding a member; none for the first owner.
    pub created_in: Option<WorkspaceId>,
    /// When the user was made.
    pub created_at: Timestamp,
}

/// A place where people and the agent work together; nothing crosses its border.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What a member may do: each role includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Changes works, and talks.
    Editor,
    /// Adds and removes members, and sets budgets.
    Owner,
}

impl Role {
    /// The name in tables and in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viewer => "VIEWER",
            Self::Editor => "EDITOR",
            Self::Owner => "OWNER",
        }
    }

    /// The role with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Viewer, Self::Editor, Self::Owner]
            .into_iter()
            .find(|role| role.name() == name)
    }
}

/// A user in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The user.
    pub user: UserId,
    /// What the member may do.
    pub role: Role,
    /// Since when.
    pub joined_at: Timestamp,
}

/// What a token stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TokenKind {
    /// Acts as the person in the interface.
    Personal,
    /// Marks programs: each of their paid calls is confirmed one by one.
    PublicApi,
}

impl TokenKind {
    /// The name in tables and in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Personal => "PERSONAL",
            Self::PublicApi => "PUBLIC_API",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Personal, Self::PublicApi]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Its id.
    pub id: TokenId,
    /// Whom it stands for.
    pub user: UserId,
    /// What its owner calls it.
    pub label: String,
    /// What it stands for.
    pub kind: TokenKind,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
}

/// Who asks: a person, by a token that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The person.
    pub user: UserId,
    /// The token that was shown.
    pub token: TokenId,
    /// What the token stands for.
    pub kind: TokenKind,
    /// Whether it is a program that joined as a collaborator: what it does is its own, for its person.
    pub acts_as_program: bool,
}

impl Caller {
    /// Somebody at the doors that people use.
    pub const fn new(user: UserId, token: TokenId, kind: TokenKind) -> Self {
        Self {
            user,
            token,
            kind,
            acts_as_program: false,
        }
    }

    /// The same, come as a collaborator: a program, whatever its token stands for elsewhere.
    #[must_use]
    pub const fn as_program(self) -> Self {
        Self {
            kind: TokenKind::PublicApi,
            acts_as_program: true,
            ..self
        }
    }

    /// The caller as the one who did something.
    pub const fn actor(&self) -> Actor {
        let (user, token) = (self.user, self.token);
        if self.acts_as_program {
            Actor::Program { user, token }
        } else {
            Actor::Person(user)
        }
    }
}

/// A position in a list of workspaces or works: newest first, by creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedPosition {
    /// When the row at the position was made.
    pub at: Timestamp,
    /// Its id's UUID, for rows of the same microsecond.
    pub id: uuid::Uuid,
}

/// Reading people. Lists by ids leave out what is not there and promise no order.
#[async_trait]
pub trait PeopleReads {
    /// Whether no user exists yet.
    async fn is_empty_installation(&self) -> Result<bool>;
    /// Users by id.
    async fn list_users(&self, ids: &[UserId]) -> Result<Vec<User>>;
    /// The user with this lower-case e-mail address.
    async fn find_user_by_email(&self, email: &str) -> Result<Option<User>>;
    /// Whether the user has any token, expired ones included.
    async fn has_token(&self, user: UserId) -> Result<bool>;
    /// Tokens whose hash starts with these eight bytes; the caller compares the rest in constant time.
    async fn list_tokens_by_hash_prefix(&self, prefix: [u8; 8]) -> Result<Vec<ApiToken>>;
    /// A user's tokens, oldest first.
    async fn list_tokens(&self, user: UserId) -> Result<Vec<ApiToken>>;
    /// Tokens by id; revoked ones are gone.
    async fn list_tokens_by_id(&self, ids: &[TokenId]) -> Result<Vec<ApiToken>>;
    /// Workspaces by id.
    async fn list_workspaces(&self, ids: &[WorkspaceId]) -> Result<Vec<Workspace>>;
    /// The workspaces that a user is a member of, newest first.
    async fn list_workspaces_of(
        &self,
        user: UserId,
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<Workspace>>;
    /// How many workspaces a user is a member of.
    async fn count_workspaces_of(&self, user: UserId) -> Result<u64>;
    /// The user's memberships in these workspaces.
    async fn list_roles(&self, user: UserId, workspaces: &[WorkspaceId]) -> Result<Vec<Member>>;
    /// All members of these workspaces, by workspace and then in the order they joined.
    async fn list_members(&self, workspaces: &[WorkspaceId]) -> Result<Vec<Member>>;
    /// Which of these users are members of a workspace that `user` is a member of as well.
    async fn list_acquainted(&self, user: UserId, others: &[UserId]) -> Result<Vec<UserId>>;
}

/// Writing people.
#[async_trait]
pub trait PeopleWrites {
    /// Inserts a user; `Conflict` where the e-mail address is taken.
    async fn insert_user(&self, user: &User) -> Result<()>;
    /// Inserts a workspace with an empty event log.
    async fn insert_workspace(&self, workspace: &Workspace) -> Result<()>;
    /// Inserts a member or changes the role of one.
    async fn upsert_member(&self, member: &Member) -> Result<()>;
    /// Removes a member; whether there was one.
    async fn delete_member(&self, workspace: WorkspaceId, user: UserId) -> Result<bool>;
    /// Inserts a token.
    async fn insert_token(&self, token: &ApiToken) -> Result<()>;
    /// Removes a token of a user; whether there was one.
    async fn delete_token(&self, user: UserId, token: TokenId) -> Result<bool>;
    /// Notes that a token was used.
    async fn touch_token(&self, token: TokenId, at: Timestamp) -> Result<()>;
}
