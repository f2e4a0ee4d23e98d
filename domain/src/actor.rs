//! Who did something: a person, a program that joined for one, the agent on behalf of a task, the system, or a provider.
//!
//! Invariants
//! - The text form is what tables and events hold; it parses back to the same actor.
//! - "Somebody else" is decided by [`Actor::key`]: every person is one, with all tokens; every task is one; and so is every program that
//!   joined as a collaborator, beside its own person too (ADR 0017).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::ids::{TaskId, TokenId, UserId};

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Actor {
    /// A person.
    Person(UserId),
    /// A program that joined as a collaborator, for a person.
    Program {
        /// On whose authority.
        user: UserId,
        /// The token that it showed.
        token: TokenId,
    },
    /// The agent, with the turn and step that decided it.
    Agent {
        /// The task it works for.
        task: TaskId,
        /// Number of the turn in the task.
        turn: u32,
        /// Number of the step in the turn.
        step: u32,
    },
    /// The server itself.
    System,
    /// A media provider, by name.
    Provider(String),
}

impl Actor {
    /// What two actions must share to be by the same actor: steps of one task are one.
    pub fn key(&self) -> String {
        match self {
            Self::Agent { task, .. } => format!("agent:{task}"),
            other => other.to_string(),
        }
    }

    /// The person who acted, or for whom a program did.
    pub const fn user(&self) -> Option<UserId> {
        match self {
            Self::Person(user) | Self::Program { user, .. } => Some(*user),
            Self::Agent { .. } | Self::System | Self::Provider(_) => None,
        }
    }

    /// Whether `other` is somebody else, as conflict rules see it.
    pub fn is_other_than(&self, other: &Self) -> bool {
        self.key() != other.key()
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person(user) => write!(formatter, "person:{user}"),
            Self::Program { user, token } => write!(formatter, "program:{user}:{token}"),
            Self::Agent { task, turn, step } => write!(formatter, "agent:{task}:{turn}:{step}"),
            Self::System => formatter.write_str("system"),
            Self::Provider(name) => write!(formatter, "provider:{name}"),
        }
    }
}

impl FromStr for Actor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).ok_or_else(|| Error::internal(format!("`{text}` is not an actor")))
    }
}

fn parse(text: &str) -> Option<Actor> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    match kind {
        "system" => Some(Actor::System),
        "person" => Some(Actor::Person(rest.parse().ok()?)),
        "program" => {
            let (user, token) = rest.split_once(':')?;
            Some(Actor::Program {
                user: user.parse().ok()?,
                token: token.parse().ok()?,
            })
        }
        "provider" => Some(Actor::Provider(rest.to_owned())),
        "agent" => {
            let mut parts = rest.split(':');
            let (task, turn, step) = (parts.next()?, parts.next()?, parts.next()?);
            Some(Actor::Agent {
                task: task.parse().ok()?,
                turn: turn.parse().ok()?,
                step: step.parse().ok()?,
            })
        }
        _ => None,
    }
}

impl TryFrom<String> for Actor {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> Self {
        actor.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_actor_survives_its_text_form() {
        let agent = Actor::Agent {
            task: TaskId::new(),
            turn: 3,
            step: 14,
        };
        for actor in [
            Actor::Person(UserId::new()),
            Actor::Program {
                user: UserId::new(),
                token: TokenId::new(),
            },
            agent,
            Actor::System,
            Actor::Provider("local".into()),
        ] {
            assert_eq!(actor.to_string().parse::<Actor>().expect("parses"), actor);
        }
    }

    #[test]
    fn steps_of_one_task_are_one_actor_and_two_people_are_not() {
        let task = TaskId::new();
        let (early, late) = (
            Actor::Agent {
                task,
                turn: 1,
                step: 1,
            },
            Actor::Agent {
                task,
                turn: 2,
                step: 9,
            },
        );
        assert!(!early.is_other_than(&late));
        assert!(Actor::Person(UserId::new()).is_other_than(&Actor::Person(UserId::new())));
    }

    #[test]
    fn a_program_is_somebody_else_than_its_person_and_another_program() {
        let (user, token) = (UserId::new(), TokenId::new());
        let program = Actor::Program { user, token };
        assert!(program.is_other_than(&Actor::Person(user)));
        assert!(!program.is_other_than(&Actor::Program { user, token }));
        let token = TokenId::new();
        assert!(program.is_other_than(&Actor::Program { user, token }));
    }
}
