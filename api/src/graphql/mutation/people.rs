//! Workspaces, members, tokens.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use domain::Error;
use domain::ids::{TokenId, UserId, WorkspaceId};
use domain::people::{
    AddMember, ApiToken, CreateToken, CreateWorkspace, RemoveMember, RevokeToken, Workspace,
};
use domain::store::StoreExt as _;

use super::super::model::{ApiTokenObject, MemberObject, RoleName, TokenKindName, WorkspaceObject};
use super::super::scalars::DateTime;
use super::super::scope::scope;
use super::parse;
use crate::tokens;

/// Input of createWorkspace.
#[derive(InputObject)]
struct CreateWorkspaceInput {
    /// Its name.
    name: String,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Result of createWorkspace.
#[derive(SimpleObject)]
struct CreateWorkspacePayload {
    /// The workspace.
    workspace: WorkspaceObject,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Input of addMember. Creates the user where the e-mail address is new.
#[derive(InputObject)]
struct AddMemberInput {
    /// The workspace.
    workspace_id: ID,
    /// The e-mail address.
    email: String,
    /// The name of a new user.
    name: Option<String>,
    /// What the member may do.
    role: RoleName,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Result of addMember.
#[derive(SimpleObject)]
struct AddMemberPayload {
    /// The member.
    member: MemberObject,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Input of removeMember.
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
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Result of removeMember.
#[derive(SimpleObject)]
struct RemoveMemberPayload {
    /// The workspace.
    workspace: WorkspaceObject,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Input of createToken.
#[derive(InputObject)]
struct CreateTokenInput {
    /// What its owner calls it.
    label: String,
    /// What it stands for.
    kind: TokenKindName,
    /// For another member's first token; owners only.
    user_id: Option<ID>,
    /// With `userId`: the workspace in which both are members.
    workspace_id: Option<ID>,
    /// From when on it is refused.
    expires_at: Option<DateTime>,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Result of createToken. `secret` is shown once and stored only as a hash.
#[derive(SimpleObject)]
struct CreateTokenPayload {
    /// The token.
    token: ApiTokenObject,
    /// Its secret.
    secret: String,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Input of revokeToken.
#[derive(InputObject)]
struct RevokeTokenInput {
    /// Which token.
    id: ID,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Result of revokeToken.
#[derive(SimpleObject)]
struct RevokeTokenPayload {
    /// The token that is refused from now on.
    revoked_id: ID,
    /// As it was given.
    client_mutation_id: Option<String>,
}

#[derive(Default)]
pub(super) struct PeopleMutation;

#[Object]
impl PeopleMutation {
    /// Makes a workspace; the caller is its owner.
    async fn create_workspace(
        &self,
        ctx: &Context<'_>,
        input: CreateWorkspaceInput,
    ) -> Result<CreateWorkspacePayload> {
        let scope = scope(ctx)?;
        let workspace = Workspace {
            id: WorkspaceId::new(),
            name: input.name,
            created_at: scope.services.clock.now(),
        };
        let workspace = scope
            .services
            .store
            .run(CreateWorkspace {
                caller: scope.caller,
                workspace,
            })
            .await?;
        Ok(CreateWorkspacePayload {
            workspace: WorkspaceObject(workspace),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Adds a member, or changes the role of one; owners only.
    async fn add_member(
        &self,
        ctx: &Context<'_>,
        input: AddMemberInput,
    ) -> Result<AddMemberPayload> {
        let scope = scope(ctx)?;
        let command = AddMember {
            caller: scope.caller,
            workspace: parse(&input.workspace_id)?,
            email: input.email,
            name: input.name,
            role: input.role.into(),
            new_user: UserId::new(),
            at: scope.services.clock.now(),
        };
        let added = scope.services.store.run(command).await?;
        Ok(AddMemberPayload {
            member: MemberObject::new(added.user, &added.member),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Removes a member: an owner anybody, everybody themselves; the last owner stays.
    async fn remove_member(
        &self,
        ctx: &Context<'_>,
        input: RemoveMemberInput,
    ) -> Result<RemoveMemberPayload> {
        let scope = scope(ctx)?;
        let workspace: WorkspaceId = parse(&input.workspace_id)?;
        let row = scope
            .services
            .store
            .reads()
            .list_workspaces(&[workspace])
            .await?
            .pop();
        let command = RemoveMember {
            caller: scope.caller,
            workspace,
            user: parse(&input.user_id)?,
            at: scope.services.clock.now(),
        };
        scope.services.store.run(command).await?;
        let row = row.ok_or_else(|| Error::not_found("workspace", workspace))?;
        Ok(RemoveMemberPayload {
            workspace: WorkspaceObject(row),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Makes a token; its secret is shown this once.
    async fn create_token(
        &self,
        ctx: &Context<'_>,
        input: CreateTokenInput,
    ) -> Result<CreateTokenPayload> {
        let scope = scope(ctx)?;
        let secret = tokens::new_secret();
        let user = input
            .user_id
            .as_ref()
            .map(parse::<UserId>)
            .transpose()?
            .unwrap_or(scope.caller.user);
        let token = ApiToken {
            id: TokenId::new(),
            user,
            label: input.label,
            kind: input.kind.into(),
            secret_hash: tokens::hash(&secret),
            created_at: scope.services.clock.now(),
            last_used_at: None,
            expires_at: input.expires_at.map(|expiry| expiry.0),
        };
        let workspace = input.workspace_id.as_ref().map(parse).transpose()?;
        let token = scope
            .services
            .store
            .run(CreateToken {
                caller: scope.caller,
                token,
                workspace,
            })
            .await?;
        Ok(CreateTokenPayload {
            token: ApiTokenObject(token),
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
        let scope = scope(ctx)?;
        let token: TokenId = parse(&input.id)?;
        scope
            .services
            .store
            .run(RevokeToken {
                caller: scope.caller,
                token,
            })
            .await?;
        Ok(RevokeTokenPayload {
            revoked_id: input.id,
            client_mutation_id: input.client_mutation_id,
        })
    }
}
