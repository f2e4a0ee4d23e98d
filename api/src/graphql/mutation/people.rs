//! Mutations of workspaces, members and tokens.

use async_graphql::{Context, ID, InputObject, MaybeUndefined, Object, Result, SimpleObject};
use domain::ids::{TokenId, UserId, WorkspaceId};
use domain::people::{self, AddMember, CreateToken, CreateWorkspace, RemoveMember, RevokeToken};

use super::input::id;
use crate::graphql::loaders::WorkspaceRow;
use crate::graphql::model::people::{ApiToken, Member, Role, TokenKind};
use crate::graphql::model::workspace::Workspace;
use crate::graphql::scalars::DateTime;
use crate::graphql::scope::Scope;
use crate::tokens;

/// A workspace to make.
#[derive(InputObject)]
struct CreateWorkspaceInput {
    /// Its name.
    name: String,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A workspace that was made; the caller is its owner.
#[derive(SimpleObject)]
struct CreateWorkspacePayload {
    /// The workspace.
    workspace: Workspace,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// A member to add; somebody who is one already gets the role. Creates the user where the e-mail address is new.
#[derive(InputObject)]
struct AddMemberInput {
    /// The workspace.
    workspace_id: ID,
    /// The e-mail address of the person.
    email: String,
    /// The name, where the person is new; without it the first part of the address.
    name: Option<String>,
    /// What the member may do.
    role: Role,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A member that was added or changed.
#[derive(SimpleObject)]
struct AddMemberPayload {
    /// The member.
    member: Member,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// A member to remove; everybody may leave.
#[derive(InputObject)]
#[expect(
    clippy::struct_field_names,
    reason = "the names are those of the contract"
)]
struct RemoveMemberInput {
    /// The workspace.
    workspace_id: ID,
    /// Who goes.
    user_id: ID,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A workspace that a member has left.
#[derive(SimpleObject)]
struct RemoveMemberPayload {
    /// The workspace.
    workspace: Workspace,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// A token to make. `userId`: for another member's first token; owners only.
#[derive(InputObject)]
struct CreateTokenInput {
    /// What its owner calls it.
    label: String,
    /// What it stands for.
    kind: TokenKind,
    /// The member who gets it, where that is not the caller.
    user_id: Option<ID>,
    /// With `userId`: the workspace in which the caller is owner and the user was made.
    workspace_id: Option<ID>,
    /// From when on it is refused; without it never.
    expires_at: MaybeUndefined<DateTime>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A token that was made. `secret` is shown once and stored only as a hash.
#[derive(SimpleObject)]
struct CreateTokenPayload {
    /// The token.
    token: ApiToken,
    /// What goes into the `Authorization` header, after `Bearer `.
    secret: String,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// One of the caller's tokens to revoke.
#[derive(InputObject)]
struct RevokeTokenInput {
    /// The token.
    id: ID,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A token that is refused from now on.
#[derive(SimpleObject)]
struct RevokeTokenPayload {
    /// The token.
    revoked_id: ID,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Mutations of workspaces, members and tokens.
#[derive(Debug, Default)]
pub(crate) struct PeopleMutation;

#[Object]
impl PeopleMutation {
    /// Makes a workspace; the caller is its owner.
    async fn create_workspace(
        &self,
        ctx: &Context<'_>,
        input: CreateWorkspaceInput,
    ) -> Result<CreateWorkspacePayload> {
        let scope = Scope::of(ctx)?;
        let workspace = people::Workspace {
            id: WorkspaceId::new(),
            name: input.name,
            created_at: scope.now(),
        };
        let caller = scope.caller;
        let made = scope.run(CreateWorkspace { caller, workspace }).await?;
        Ok(CreateWorkspacePayload {
            workspace: Workspace(scope.workspace(made.id).await?),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Adds a member, or changes the role of one; owners only.
    async fn add_member(
        &self,
        ctx: &Context<'_>,
        input: AddMemberInput,
    ) -> Result<AddMemberPayload> {
        let scope = Scope::of(ctx)?;
        let command = AddMember {
            caller: scope.caller,
            workspace: id(&input.workspace_id)?,
            email: input.email,
            name: input.name,
            role: input.role.into(),
            new_user: UserId::new(),
            at: scope.now(),
        };
        Ok(AddMemberPayload {
            member: Member(scope.run(command).await?.member),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Removes a member, and cuts off their access and sockets. Owners remove anybody; everybody may leave.
    async fn remove_member(
        &self,
        ctx: &Context<'_>,
        input: RemoveMemberInput,
    ) -> Result<RemoveMemberPayload> {
        let scope = Scope::of(ctx)?;
        let command = RemoveMember {
            caller: scope.caller,
            workspace: id(&input.workspace_id)?,
            user: id(&input.user_id)?,
            at: scope.now(),
        };
        // Read before, because whoever leaves can not read it afterwards.
        let before = scope.workspace(command.workspace).await?;
        scope.run(command).await?;
        Ok(RemoveMemberPayload {
            workspace: Workspace(present(scope, before).await?),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Makes a token for the caller, or the first token of a member.
    async fn create_token(
        &self,
        ctx: &Context<'_>,
        input: CreateTokenInput,
    ) -> Result<CreateTokenPayload> {
        let scope = Scope::of(ctx)?;
        let secret = tokens::new_secret();
        let user = input.user_id.as_ref().map(id).transpose()?;
        let workspace = input.workspace_id.as_ref().map(id).transpose()?;
        let token = people::ApiToken {
            id: TokenId::new(),
            user: user.unwrap_or(scope.caller.user),
            label: input.label,
            kind: input.kind.into(),
            secret_hash: tokens::hash(&secret),
            created_at: scope.now(),
            last_used_at: None,
            expires_at: input.expires_at.take().map(|moment| moment.0),
        };
        let command = CreateToken {
            caller: scope.caller,
            workspace: workspace.filter(|_| token.user != scope.caller.user),
            token,
        };
        Ok(CreateTokenPayload {
            token: ApiToken(scope.run(command).await?),
            secret,
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Revokes one of the caller's tokens: it is refused from then on, and its sockets close.
    async fn revoke_token(
        &self,
        ctx: &Context<'_>,
        input: RevokeTokenInput,
    ) -> Result<RevokeTokenPayload> {
        let scope = Scope::of(ctx)?;
        let token: TokenId = id(&input.id)?;
        let caller = scope.caller;
        scope.run(RevokeToken { caller, token }).await?;
        Ok(RevokeTokenPayload {
            revoked_id: token.into(),
            client_mutation_id: input.client_mutation_id,
        })
    }
}

/// The workspace as it is now, for those who are still members; as it was, for whoever has just left.
async fn present(scope: &Scope, before: WorkspaceRow) -> Result<WorkspaceRow> {
    let found = scope.find_workspace(before.workspace.id).await?;
    Ok(found.unwrap_or(before))
}
