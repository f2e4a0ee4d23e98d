//! The archive of a workspace: one zip with JSON lines and blobs.
//!
//! | entry | holds |
//! | --- | --- |
//! | `archive.json` | the form of the archive, and the workspace |
//! | `users.jsonl`, `members.jsonl` | people who did something, and who belongs to it |
//! | `works.jsonl`, `changes.jsonl` | works, and all their changes, by work and version |
//! | `events.jsonl` | the event log |
//! | `files.jsonl`, `blobs/{sha256}` | files of assets, and their bytes |
//! | `quarantine.jsonl` | updates that were refused |
//! | `tasks.jsonl` | tasks; after each one everything that is stored of it, a part a line |
//! | `messages.jsonl` | main threads: messages of no task, and cards about them |
//! | `memories.jsonl` | memories, a line each with versions and evidence; before them the receipts of what was forgotten |
//!
//! Invariants
//! - Tokens and secrets are in no archive.
//! - What can be made from the log is not in it: snapshots, revisions, who touched what last.

pub(crate) mod reader;
pub(crate) mod rows;

/// The entry with the form and the workspace.
pub(crate) const HEAD: &str = "archive.json";
/// People.
pub(crate) const USERS: &str = "users.jsonl";
/// Who belongs to the workspace.
pub(crate) const MEMBERS: &str = "members.jsonl";
/// Works.
pub(crate) const WORKS: &str = "works.jsonl";
/// Their changes.
pub(crate) const CHANGES: &str = "changes.jsonl";
/// The event log.
pub(crate) const EVENTS: &str = "events.jsonl";
/// Files of assets.
pub(crate) const FILES: &str = "files.jsonl";
/// Refused updates.
pub(crate) const QUARANTINE: &str = "quarantine.jsonl";

/// Tasks, each with its parts.
pub(crate) const TASKS: &str = "tasks.jsonl";
/// Main threads.
pub(crate) const MESSAGES: &str = "messages.jsonl";

/// Memories.
pub(crate) const MEMORIES: &str = "memories.jsonl";

/// The entry with a file's bytes.
pub(crate) fn blob(sha256: &str) -> String {
    format!("blobs/{sha256}")
}
