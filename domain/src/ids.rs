//! Typed identifiers: a type prefix and a UUIDv7, such as `work_0198f3c2a1b47c3d8e9f001122334455`.
//!
//! Invariants
//! - The text form is what clients see and what they hand back; it parses to the same id.
//! - An id of one noun never parses as an id of another.
//!
//! Not here: ids that clients choose (nodes and edges inside a work are plain strings).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The text was not an identifier of the expected noun.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id of a {noun}; ids look like `{prefix}_` and 32 hexadecimal digits")]
pub struct IdError {
    /// What was given, cut to 64 characters.
    pub text: String,
    /// The noun that was expected.
    pub noun: &'static str,
    /// The prefix that was expected.
    pub prefix: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal, $noun:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Uuid);

        impl $name {
            /// The prefix of the text form.
            pub const PREFIX: &'static str = $prefix;

            /// Makes a new id; ids made later sort later.
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

            /// The id that a stored UUID stands for.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID as it is stored.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!($prefix, "_{}"), self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, formatter)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                text.strip_prefix(concat!($prefix, "_"))
                    .filter(|rest| rest.len() == 32)
                    .and_then(|rest| Uuid::try_parse(rest).ok())
                    .map(Self)
                    .ok_or_else(|| IdError {
                        text: text.chars().take(64).collect(),
                        noun: $noun,
                        prefix: $prefix,
                    })
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    )*};
}

ids! {
    /// A person.
    UserId, "user", "user";
    /// A workspace.
    WorkspaceId, "workspace", "workspace";
    /// An API token; its secret is another thing.
    TokenId, "token", "token";
    /// A work of any kind.
    WorkId, "work", "work";
    /// A task.
    TaskId, "task", "task";
    /// A message of a person or of the agent.
    MessageId, "message", "message";
    /// A memory.
    MemoryId, "memory", "memory";
    /// One turn of a task.
    TurnId, "turn", "turn";
    /// An order at a media provider.
    JobId, "job", "job";
    /// An entry of a workspace's ledger.
    LedgerEntryId, "entry", "entry";
    /// A question to a person.
    CardId, "card", "card";
    /// A persistent working context of an executor.
    LineId, "line", "line";
    /// One registered upload of an asset's bytes.
    UploadId, "upload", "upload";
    /// One live connection of an editor to a document.
    ConnectionId, "connection", "connection";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_its_text_form() {
        let id = WorkId::new();
        assert_eq!(id.to_string().parse::<WorkId>(), Ok(id));
    }

    #[test]
    fn an_id_of_another_noun_is_refused_with_the_form_that_was_expected() {
        let error = UserId::new()
            .to_string()
            .parse::<WorkId>()
            .expect_err("another noun");
        assert!(error.to_string().contains("`work_`"));
    }
}
