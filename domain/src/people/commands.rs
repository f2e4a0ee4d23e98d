//! The commands that change people: one struct each.

use async_trait::async_trait;
use serde_json::json;

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent, Subject};
use crate::ids::{TokenId, UserId, WorkspaceId};
use crate::people::{ApiToken, Caller, Member, Role, TokenKind, User, Workspace, permission};
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// Makes the first owner, workspace and token of an empty installation.
#[derive(Debug, Clone)]
pub struct Bootstrap {
    /// The owner.
    pub user: User,
    /// The first workspace.
    pub workspace: Workspace,
    /// The owner's token.
    pub token: ApiToken,
}

#[async_trait]
impl Command for Bootstrap {
    /// False where the installation was not empty; nothing is changed then.
    type Output = bool;
    const NAME: &'static str = "installation.bootstrap";

    fn scope(&self) -> Scope {
        Scope::Installation
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<bool> {
        if !tx.is_empty_installation().await? {
            return Ok(false);
        }
        tx.insert_user(&self.user).await?;
        insert_workspace_of(tx, &self.workspace, self.user.id).await?;
        tx.insert_token(&self.token).await?;
        Ok(true)
    }
}

/// Makes a workspace; the caller is its owner.
#[derive(Debug, Clone)]
pub struct CreateWorkspace {
    /// Who asks.
    pub caller: Caller,
    /// What is made.
    pub workspace: Workspace,
}

#[async_trait]
impl Command for CreateWorkspace {
    type Output = Workspace;
    const NAME: &'static str = "workspace.create";

    fn scope(&self) -> Scope {
        Scope::Installation
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Workspace> {
        check_text("a workspace's name", &self.workspace.name, 200)?;
        insert_workspace_of(tx, &self.workspace, self.caller.user).await?;
        Ok(self.workspace.clone())
    }
}

async fn insert_workspace_of(
    tx: &dyn Transaction,
    workspace: &Workspace,
    owner: UserId,
) -> Result<()> {
    let member = Member {
        workspace: workspace.id,
        user: owner,
        role: Role::Owner,
        joined_at: workspace.created_at,
    };
    tx.insert_workspace(workspace).await?;
    tx.upsert_member(&member).await?;
    tx.emit(
        workspace.id,
        vec![members_changed(Actor::Person(owner), &member, "added")],
    )
    .await
}

/// Adds a member, or changes the role of one; makes the user where the e-mail address is new.
#[derive(Debug, Clone)]
pub struct AddMember {
    /// Who asks; an owner.
    pub caller: Caller,
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The address, as it was given.
    pub email: String,
    /// The name for a new user; none takes the address's first part.
    pub name: Option<String>,
    /// The role.
    pub role: Role,
    /// The id for a new user.
    pub new_user: UserId,
    /// The present time.
    pub at: Timestamp,
}

/// The member that [`AddMember`] leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedMember {
    /// The user.
    pub user: User,
    /// The membership.
    pub member: Member,
}

#[async_trait]
impl Command for AddMember {
    type Output = AddedMember;
    const NAME: &'static str = "member.add";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<AddedMember> {
        permission::require(tx, self.workspace, self.caller.user, Role::Owner).await?;
        let email = normal_email(&self.email)?;
        let user = match tx.find_user_by_email(&email).await? {
            Some(user) => user,
            None => self.make_user(tx, email).await?,
        };
        let members = tx.list_members(&[self.workspace]).await?;
        let former = members.iter().find(|member| member.user == user.id);
        if former.is_some_and(|member| member.role == Role::Owner) && self.role != Role::Owner {
            keep_an_owner(&members, user.id)?;
        }
        let joined_at = former.map_or(self.at, |member| member.joined_at);
        let member = Member {
            workspace: self.workspace,
            user: user.id,
            role: self.role,
            joined_at,
        };
        tx.upsert_member(&member).await?;
        tx.announce_access_change().await?;
        let change = if former.is_some() { "changed" } else { "added" };
        tx.emit(
            self.workspace,
            vec![NewEvent {
                at: self.at,
                ..members_changed(self.caller.actor(), &member, change)
            }],
        )
        .await?;
        Ok(AddedMember { user, member })
    }
}

impl AddMember {
    async fn make_user(&self, tx: &dyn Transaction, email: String) -> Result<User> {
        let name = match &self.name {
            Some(name) => name.trim().to_owned(),
            None => email.split('@').next().unwrap_or(&email).to_owned(),
        };
        check_text("a user's name", &name, 200)?;
        let created_in = Some(self.workspace);
        let user = User {
            id: self.new_user,
            name,
            email: Some(email),
            created_in,
            created_at: self.at,
        };
        tx.insert_user(&user).await?;
        Ok(user)
    }
}

/// Removes a member: an owner removes anybody, everybody may leave; the last owner stays.
#[derive(Debug, Clone)]
pub struct RemoveMember {
    /// Who asks.
    pub caller: Caller,
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Who goes.
    pub user: UserId,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for RemoveMember {
    type Output = ();
    const NAME: &'static str = "member.remove";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        let least = if self.caller.user == self.user {
            Role::Viewer
        } else {
            Role::Owner
        };
        permission::require(tx, self.workspace, self.caller.user, least).await?;
        let members = tx.list_members(&[self.workspace]).await?;
        let Some(member) = members.iter().find(|member| member.user == self.user) else {
            return Err(Error::not_found("member", self.user));
        };
        if member.role == Role::Owner {
            keep_an_owner(&members, self.user)?;
        }
        tx.delete_member(self.workspace, self.user).await?;
        tx.announce_access_change().await?;
        tx.emit(
            self.workspace,
            vec![NewEvent {
                at: self.at,
                ..members_changed(self.caller.actor(), member, "removed")
            }],
        )
        .await
    }
}

/// Makes a token for the caller, or the first token of a member. Who comes with a program's token makes programs' tokens only.
#[derive(Debug, Clone)]
pub struct CreateToken {
    /// Who asks.
    pub caller: Caller,
    /// What is made.
    pub token: ApiToken,
    /// Where `token.user` is somebody else: the workspace in which the caller is owner and the user a member.
    pub workspace: Option<WorkspaceId>,
}

#[async_trait]
impl Command for CreateToken {
    type Output = ApiToken;
    const NAME: &'static str = "token.create";

    fn scope(&self) -> Scope {
        self.workspace.map_or(Scope::Installation, Scope::Workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<ApiToken> {
        check_text("a token's label", &self.token.label, 200)?;
        if self
            .token
            .expires_at
            .is_some_and(|expiry| expiry <= self.token.created_at)
        {
            return Err(Error::Invalid("`expiresAt` lies in the past".to_owned()));
        }
        if self.caller.kind == TokenKind::PublicApi && self.token.kind == TokenKind::Personal {
            return Err(Error::Forbidden(
                "a token of a program makes no token that stands for a person".to_owned(),
            ));
        }
        if self.token.user != self.caller.user {
            self.check_first_token(tx).await?;
        }
        tx.insert_token(&self.token).await?;
        Ok(self.token.clone())
    }
}

impl CreateToken {
    async fn check_first_token(&self, tx: &dyn Transaction) -> Result<()> {
        let workspace = self
            .workspace
            .ok_or_else(|| Error::Invalid("`workspaceId` is needed with `userId`".to_owned()))?;
        permission::require(tx, workspace, self.caller.user, Role::Owner).await?;
        if tx
            .list_roles(self.token.user, &[workspace])
            .await?
            .is_empty()
        {
            return Err(Error::not_found("user", self.token.user));
        }
        let users = tx.list_users(&[self.token.user]).await?;
        if users.first().and_then(|user| user.created_in) != Some(workspace) {
            return Err(Error::Forbidden(
                "this person was not made in this workspace, and makes tokens without you"
                    .to_owned(),
            ));
        }
        if tx.has_token(self.token.user).await? {
            return Err(Error::Forbidden(
                "this member has signed in before, and makes further tokens without you".to_owned(),
            ));
        }
        Ok(())
    }
}

/// Revokes one of the caller's tokens: it is refused from then on, and its sockets close.
#[derive(Debug, Clone)]
pub struct RevokeToken {
    /// Who asks.
    pub caller: Caller,
    /// Which token.
    pub token: TokenId,
}

#[async_trait]
impl Command for RevokeToken {
    type Output = ();
    const NAME: &'static str = "token.revoke";

    fn scope(&self) -> Scope {
        Scope::Installation
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        if !tx.delete_token(self.caller.user, self.token).await? {
            return Err(Error::not_found("token", self.token));
        }
        tx.announce_access_change().await
    }
}

/// Notes that a token was used.
#[derive(Debug, Clone)]
pub struct TouchToken {
    /// Which token.
    pub token: TokenId,
    /// When.
    pub at: Timestamp,
}

#[async_trait]
impl Command for TouchToken {
    type Output = ();
    const NAME: &'static str = "token.touch";

    fn scope(&self) -> Scope {
        Scope::Installation
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        tx.touch_token(self.token, self.at).await
    }
}

fn members_changed(actor: Actor, member: &Member, change: &str) -> NewEvent {
    NewEvent {
        kind: EventKind::MembersChanged,
        subject: Subject::Member(member.user),
        task: None,
        actor,
        at: member.joined_at,
        data: json!({"userId": member.user, "role": member.role, "change": change}),
    }
}

fn keep_an_owner(members: &[Member], leaving: UserId) -> Result<()> {
    if members
        .iter()
        .any(|member| member.role == Role::Owner && member.user != leaving)
    {
        return Ok(());
    }
    Err(Error::Conflict(
        "this is the last owner; make another member an owner first".to_owned(),
    ))
}

/// The form in which e-mail addresses are stored and looked for; refuses what is none.
pub fn normal_email(text: &str) -> Result<String> {
    let email = text.trim().to_lowercase();
    let parts = email
        .split_once('@')
        .filter(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    if parts.is_none() || email.len() > 254 || email.contains(char::is_whitespace) {
        return Err(Error::Invalid(format!("`{text}` is not an e-mail address")));
    }
    Ok(email)
}

/// Refuses a text that shows nothing, is longer than `limit` characters, or holds U+0000, which `PostgreSQL` can not store.
pub(crate) fn check_text(what: &str, text: &str, limit: usize) -> Result<()> {
    let length = text.chars().count();
    if text.contains('\0') {
        let reason = format!("{what} can not hold the character U+0000; leave it out");
        return Err(Error::Invalid(reason));
    }
    if text.chars().all(shows_nothing) {
        return Err(Error::Invalid(format!("{what} can not be empty")));
    }
    if length > limit {
        return Err(Error::Invalid(format!(
            "{what} can have {limit} characters, and has {length}"
        )));
    }
    Ok(())
}

/// Blanks, control characters, and the invisible ones between letters: zero-width spaces and joiners, direction marks,
/// the byte order mark (Unicode, general category Cf).
fn shows_nothing(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_something_and_can_be_stored() {
        assert!(check_text("a goal", "A red hill 🎨", 20).is_ok());
        for blank in ["", " \n", "\u{200b}\u{feff}", "\u{7}"] {
            let refused = check_text("a goal", blank, 20);
            assert!(matches!(refused, Err(Error::Invalid(reason)) if reason.contains("empty")));
        }
        let refused = check_text("a goal", "a\0b", 20);
        assert!(matches!(refused, Err(Error::Invalid(reason)) if reason.contains("U+0000")));
    }
}
