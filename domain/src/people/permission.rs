//! Who may do what in a workspace.

use crate::error::{Error, Result};
use crate::ids::{UserId, WorkspaceId};
use crate::people::{PeopleReads, Role};

/// The user's role; `NotFound` for those who are no member, so that they can not tell it from a workspace that is not there.
pub async fn role_in(
    reads: &(impl PeopleReads + ?Sized),
    workspace: WorkspaceId,
    user: UserId,
) -> Result<Role> {
    let members = reads.list_roles(user, &[workspace]).await?;
    members
        .first()
        .map(|member| member.role)
        .ok_or_else(|| Error::not_found("workspace", workspace))
}

/// Refuses a user whose role is below `least`.
pub async fn require(
    reads: &(impl PeopleReads + ?Sized),
    workspace: WorkspaceId,
    user: UserId,
    least: Role,
) -> Result<Role> {
    let role = role_in(reads, workspace, user).await?;
    if role >= least {
        return Ok(role);
    }
    let needed = least.name().to_lowercase();
    Err(Error::Forbidden(format!(
        "this needs the role {needed}; you are {}",
        role.name().to_lowercase()
    )))
}
