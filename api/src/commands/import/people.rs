//! The people of an archive, and who they are in this installation.
//!
//! Invariants
//! - An e-mail address is one person; ids alone join only people without an address.

use std::collections::HashMap;

use anyhow::Result;
use domain::actor::Actor;
use domain::event::Subject;
use domain::ids::{UserId, WorkspaceId};
use domain::people::{User, normal_email};
use serde_json::Value;

use super::super::archive::USERS;
use super::super::archive::reader::ArchiveReader;
use super::super::archive::rows::UserRow;
use super::super::installation::Installation;

/// The people of the archive, and who they are here.
pub(super) struct People {
    here: HashMap<UserId, UserId>,
    /// People to be made.
    pub(super) new: Vec<User>,
    /// Who owns the workspace here.
    pub(super) owner: UserId,
}

impl People {
    /// Looks for everybody by e-mail address, and by id where there is none.
    pub(super) async fn find(
        installation: &Installation,
        reader: &mut ArchiveReader,
        workspace: WorkspaceId,
        owner: &str,
    ) -> Result<Self> {
        let reads = installation.store.reads();
        let rows: Vec<UserRow> = reader.lines(USERS)?.collect::<Result<_>>()?;
        let (mut here, mut new) = (HashMap::new(), Vec::new());
        for row in rows {
            let email = row.email.as_deref().map(normal_email).transpose()?;
            let found = match &email {
                Some(email) => reads.find_user_by_email(email).await?,
                None => reads.list_users(&[row.id]).await?.pop(),
            };
            if let Some(user) = found {
                here.insert(row.id, user.id);
                continue;
            }
            let is_taken = !reads.list_users(&[row.id]).await?.is_empty();
            let id = if is_taken { UserId::new() } else { row.id };
            here.insert(row.id, id);
            new.push(User {
                id,
                name: row.name,
                email,
                created_in: Some(workspace),
                created_at: row.created_at,
            });
        }
        let mut people = Self {
            here,
            new,
            owner: UserId::new(),
        };
        people.find_owner(installation, workspace, owner).await?;
        Ok(people)
    }

    async fn find_owner(
        &mut self,
        installation: &Installation,
        workspace: WorkspaceId,
        owner: &str,
    ) -> Result<()> {
        let email = normal_email(owner)?;
        let reads = installation.store.reads();
        if let Some(user) = reads.find_user_by_email(&email).await? {
            self.owner = user.id;
            return Ok(());
        }
        let is_owner = |user: &&User| user.email.as_ref() == Some(&email);
        if let Some(user) = self.new.iter().find(is_owner) {
            self.owner = user.id;
            return Ok(());
        }
        let name = email.split('@').next().unwrap_or(&email).to_owned();
        self.new.push(User {
            id: self.owner,
            name,
            email: Some(email),
            created_in: Some(workspace),
            created_at: installation.clock.now(),
        });
        Ok(())
    }

    /// Who that person is here.
    pub(super) fn user(&self, user: UserId) -> UserId {
        self.here.get(&user).copied().unwrap_or(user)
    }

    /// Who that actor is here.
    pub(super) fn actor(&self, actor: &Actor) -> Actor {
        match actor {
            Actor::Person(user) => Actor::Person(self.user(*user)),
            Actor::Program { user, token } => Actor::Program {
                user: self.user(*user),
                token: *token,
            },
            other => other.clone(),
        }
    }

    /// What the subject is here.
    pub(super) fn subject(&self, subject: Subject) -> Subject {
        match subject {
            Subject::Member(user) => Subject::Member(self.user(user)),
            other => other,
        }
    }

    /// Details of an event, or a row, with the people who they are here.
    pub(super) fn data(&self, data: Value) -> Value {
        match data {
            Value::String(text) => Value::String(self.name(text)),
            Value::Array(values) => values.into_iter().map(|value| self.data(value)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| (name, self.data(value)))
                .collect(),
            other => other,
        }
    }

    /// The id of a person, or a person as an actor, as they are here; any other text as it is.
    fn name(&self, text: String) -> String {
        if let Ok(user) = text.parse::<UserId>() {
            return self.user(user).to_string();
        }
        match text.parse::<Actor>() {
            Ok(actor @ (Actor::Person(_) | Actor::Program { .. })) => {
                self.actor(&actor).to_string()
            }
            _ => text,
        }
    }
}
