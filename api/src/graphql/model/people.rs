//! People, workspaces, tokens.

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};
use domain::Error;
use domain::actor::Actor;
use domain::ids::{UserId, WorkspaceId};
use domain::page::PageRequest;
use domain::people::{ApiToken, CreatedPosition, Member, Role, User, Workspace};
use domain::work::WorkKind;

use super::super::cursor::{Kind, List};
use super::super::scalars::{Cursor, DateTime};
use super::super::scope::scope;
use super::events::{WorkspaceEventConnection, event_connection};
use super::pages::connection;
use super::works::{WorkConnection, WorkKindName, WorkObject};

/// What a member may do: each role includes the ones after it.
#[derive(Enum, Clone, Copy, PartialEq, Eq, Debug)]
#[graphql(name = "Role", remote = "domain::people::Role")]
pub(crate) enum RoleName {
    /// Adds and removes members, and sets budgets.
    Owner,
    /// Changes works, and talks.
    Editor,
    /// Reads.
    Viewer,
}

/// What a token stands for. A PERSONAL token acts as the person in the interface; PUBLIC_API marks programs: each of their
/// paid calls is confirmed one by one.
#[derive(Enum, Clone, Copy, PartialEq, Eq, Debug)]
#[graphql(name = "TokenKind", remote = "domain::people::TokenKind")]
pub(crate) enum TokenKindName {
    /// Acts as the person.
    Personal,
    /// Marks a program.
    PublicApi,
}

/// Who acts.
#[derive(Enum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ActorKind {
    /// A person.
    Person,
    /// The agent, for a task.
    Agent,
    /// The server itself.
    System,
    /// A media provider.
    Provider,
}

/// Who did something.
#[derive(Clone)]
pub(crate) struct ActorObject(pub(crate) Actor);

#[Object(name = "Actor")]
impl ActorObject {
    /// What kind of actor it is.
    async fn kind(&self) -> ActorKind {
        match self.0 {
            Actor::Person(_) => ActorKind::Person,
            Actor::Agent { .. } => ActorKind::Agent,
            Actor::System => ActorKind::System,
            Actor::Provider(_) => ActorKind::Provider,
        }
    }

    /// The person, where it is one.
    async fn user(&self, ctx: &Context<'_>) -> Result<Option<UserObject>> {
        let Actor::Person(user) = &self.0 else {
            return Ok(None);
        };
        Ok(scope(ctx)?.users.load(*user).await?.map(UserObject))
    }

    /// What people call it.
    async fn label(&self, ctx: &Context<'_>) -> Result<String> {
        Ok(match &self.0 {
            Actor::Person(user) => {
                let user = scope(ctx)?.users.load(*user).await?;
                user.map_or_else(|| "somebody who has left".to_owned(), |user| user.name)
            }
            Actor::Agent { .. } => "agent".to_owned(),
            Actor::System => "Atelier".to_owned(),
            Actor::Provider(name) => name.clone(),
        })
    }
}

/// A person.
#[derive(Clone)]
pub(crate) struct UserObject(pub(crate) User);

#[Object(name = "User")]
impl UserObject {
    /// Its global id.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.to_string().into()
    }

    /// As shown to others.
    async fn name(&self) -> &str {
        &self.0.name
    }

    /// The e-mail address, where there is one.
    async fn email(&self) -> Option<&str> {
        self.0.email.as_deref()
    }

    /// When the user was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// A user in a workspace.
#[derive(SimpleObject, Clone)]
#[graphql(name = "Member")]
pub(crate) struct MemberObject {
    /// The user.
    pub(crate) user: UserObject,
    /// What the member may do.
    pub(crate) role: RoleName,
    /// Since when.
    pub(crate) joined_at: DateTime,
}

impl MemberObject {
    pub(crate) fn new(user: User, member: &Member) -> Self {
        Self {
            user: UserObject(user),
            role: member.role.into(),
            joined_at: DateTime(member.joined_at),
        }
    }
}

/// A token, without its secret.
#[derive(Clone)]
pub(crate) struct ApiTokenObject(pub(crate) ApiToken);

#[Object(name = "ApiToken")]
impl ApiTokenObject {
    /// Its global id.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.to_string().into()
    }

    /// What its owner calls it.
    async fn label(&self) -> &str {
        &self.0.label
    }

    /// What it stands for.
    async fn kind(&self) -> TokenKindName {
        self.0.kind.into()
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it was used last, to the minute.
    async fn last_used_at(&self) -> Option<DateTime> {
        self.0.last_used_at.map(DateTime)
    }

    /// From when on it is refused.
    async fn expires_at(&self) -> Option<DateTime> {
        self.0.expires_at.map(DateTime)
    }
}

/// Who asks.
pub(crate) struct Viewer(pub(crate) User);

#[Object]
impl Viewer {
    /// The person.
    async fn user(&self) -> UserObject {
        UserObject(self.0.clone())
    }

    /// The workspaces that the person is a member of, newest first.
    async fn workspaces(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<WorkspaceConnection> {
        let scope = scope(ctx)?;
        let list = List::of(Kind::Workspaces, self.0.id.uuid());
        let page: PageRequest<CreatedPosition> =
            scope.services.cursors.page(&list, first, after.as_ref())?;
        let reads = scope.services.store.reads();
        let found = reads.list_workspaces_of(self.0.id, page).await?;
        let total = reads.count_workspaces_of(self.0.id).await?;
        let seal = |row: &Workspace| {
            scope.services.cursors.seal(
                &list,
                &CreatedPosition {
                    at: row.created_at,
                    id: row.id.uuid(),
                },
            )
        };
        let rows = found
            .rows
            .into_iter()
            .map(|row| (seal(&row), WorkspaceObject(row)))
            .collect();
        Ok(WorkspaceConnection::new(
            rows,
            found.has_next,
            after.is_some(),
            total,
        ))
    }

    /// The person's own tokens, oldest first.
    async fn tokens(&self, ctx: &Context<'_>) -> Result<Vec<ApiTokenObject>> {
        let tokens = scope(ctx)?
            .services
            .store
            .reads()
            .list_tokens(self.0.id)
            .await?;
        Ok(tokens.into_iter().map(ApiTokenObject).collect())
    }
}

connection!(
    "workspaces",
    WorkspaceConnection,
    WorkspaceEdge,
    WorkspaceObject,
    total_count
);

/// A place where people and the agent work together; nothing crosses its border.
#[derive(Clone)]
pub(crate) struct WorkspaceObject(pub(crate) Workspace);

impl WorkspaceObject {
    /// The workspace, where the caller is a member.
    pub(crate) async fn find(ctx: &Context<'_>, id: WorkspaceId) -> Result<Option<Self>> {
        Ok(scope(ctx)?
            .workspaces
            .load(id)
            .await?
            .map(|(workspace, _)| Self(workspace)))
    }

    /// The role of the caller; `NotFound` for those who are no member any more.
    async fn role(&self, ctx: &Context<'_>) -> Result<Role> {
        let found = scope(ctx)?.workspaces.load(self.0.id).await?;
        Ok(found
            .map(|(_, role)| role)
            .ok_or_else(|| Error::not_found("workspace", self.0.id))?)
    }
}

#[Object(name = "Workspace")]
impl WorkspaceObject {
    /// Its global id.
    pub(crate) async fn id(&self) -> ID {
        self.0.id.to_string().into()
    }

    /// Its name.
    async fn name(&self) -> &str {
        &self.0.name
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// What the caller may do in it.
    async fn viewer_role(&self, ctx: &Context<'_>) -> Result<RoleName> {
        Ok(self.role(ctx).await?.into())
    }

    /// Its members, in the order they joined.
    async fn members(&self, ctx: &Context<'_>) -> Result<Vec<MemberObject>> {
        self.role(ctx).await?;
        let scope = scope(ctx)?;
        let members = scope.members.load(self.0.id).await?.unwrap_or_default();
        let users: Vec<UserId> = members.iter().map(|member| member.user).collect();
        let users = futures_util::future::try_join_all(
            users.into_iter().map(|user| scope.users.load(user)),
        )
        .await?;
        Ok(members
            .iter()
            .zip(users)
            .filter_map(|(member, user)| Some(MemberObject::new(user?, member)))
            .collect())
    }

    /// Its works, newest first, without those in the bin.
    async fn works(
        &self,
        ctx: &Context<'_>,
        kinds: Option<Vec<WorkKindName>>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<WorkConnection> {
        self.role(ctx).await?;
        let scope = scope(ctx)?;
        let mut kinds: Vec<WorkKind> = kinds
            .unwrap_or_default()
            .into_iter()
            .map(Into::into)
            .collect();
        kinds.sort();
        kinds.dedup();
        let filter: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
        let list = List::of(Kind::Works, self.0.id.uuid()).filtered(&filter.join(","));
        let page: PageRequest<CreatedPosition> =
            scope.services.cursors.page(&list, first, after.as_ref())?;
        let reads = scope.services.store.reads();
        let found = reads.list_works(self.0.id, &kinds, page).await?;
        let total = reads.count_works(self.0.id, &kinds).await?;
        let seal = |row: &domain::work::Work| {
            scope.services.cursors.seal(
                &list,
                &CreatedPosition {
                    at: row.created_at,
                    id: row.id.uuid(),
                },
            )
        };
        let rows = found
            .rows
            .into_iter()
            .map(|row| (seal(&row), WorkObject::from(row)))
            .collect();
        Ok(WorkConnection::new(
            rows,
            found.has_next,
            after.is_some(),
            total,
        ))
    }

    /// Cursor of the newest event: subscribe from here and miss nothing.
    async fn event_cursor(&self, ctx: &Context<'_>) -> Result<Cursor> {
        self.role(ctx).await?;
        let services = &scope(ctx)?.services;
        let head = services.store.reads().event_head(self.0.id).await?;
        Ok(services
            .cursors
            .seal(&List::of(Kind::Events, self.0.id.uuid()), &head))
    }

    /// The log that the subscriptions read, oldest first.
    async fn events(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<Cursor>,
    ) -> Result<WorkspaceEventConnection> {
        self.role(ctx).await?;
        event_connection(&scope(ctx)?.services, self.0.id, first, after.as_ref()).await
    }
}
