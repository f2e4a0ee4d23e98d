//! The keyword index: one tantivy index of a process over all workspaces.
//!
//! Invariants
//! - Nothing is stored but ids, times and a fingerprint; words stand in the term dictionary alone, and go with its segments.
//! - Every word is indexed under who may find it: its workspace and, where it is private, its owner. A search names the
//!   words of its own workspace and person, so it can not meet those of others, nor be scored by how often they use a word.
//! - What was indexed up to which event stands in the payload of the same commit.
//!
//! Not here: what is read from the store when (`follow`), cutting texts into words (`words`).

mod documents;
mod folder;
mod query;
mod statistics;
mod writer;

use std::collections::HashMap;

use domain::event::Sequence;
use domain::ids::{WorkId, WorkspaceId};
use domain::search::SearchKind;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use uuid::Uuid;

pub(crate) use documents::{Entry, fingerprint};
#[cfg(feature = "test-support")]
pub use folder::words_on_disk;
pub(crate) use folder::{Folder, Opened, open_beside, remove_beside};
pub(crate) use query::{Hit, KeywordQuery, of_workspace};
pub(crate) use writer::Writer;

/// The layout of the index and the rules by which words are cut. An index of another number is built anew.
pub(crate) const FORMAT: u32 = 1;

/// How far a workspace is indexed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Position {
    /// All events up to here.
    pub(crate) sequence: Sequence,
    /// Works that have changed since, and are looked at later because they change all the time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) deferred: Vec<WorkId>,
}

/// How far each workspace is indexed; one that is missing has yet to be built.
pub(crate) type Positions = HashMap<WorkspaceId, Position>;

/// What a commit says about itself.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    format: u32,
    positions: Positions,
}

/// The fields of the schema.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub(crate) schema: Schema,
    /// The thing's id, by which it is replaced.
    id: Field,
    /// Workspace and kind, by which things are counted and a workspace is dropped.
    place: Field,
    high: Field,
    low: Field,
    kind: Field,
    at: Field,
    print: Field,
    /// The words, a field for each kind: lengths are compared within one.
    words: Vec<Field>,
}

const HIGH: &str = "high";
const LOW: &str = "low";
const KIND: &str = "kind";
const AT: &str = "at";
const PRINT: &str = "print";

impl Fields {
    pub(crate) fn new() -> Self {
        let mut builder = Schema::builder();
        let words = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer("whitespace")
                .set_index_option(IndexRecordOption::WithFreqs),
        );
        Self {
            id: builder.add_bytes_field("id", INDEXED),
            place: builder.add_bytes_field("place", INDEXED),
            high: builder.add_u64_field(HIGH, FAST),
            low: builder.add_u64_field(LOW, FAST),
            kind: builder.add_u64_field(KIND, FAST),
            at: builder.add_i64_field(AT, FAST),
            print: builder.add_u64_field(PRINT, FAST),
            words: SearchKind::ALL
                .iter()
                .map(|kind| {
                    let name = format!("words_{}", kind.name().to_lowercase());
                    builder.add_text_field(&name, words.clone())
                })
                .collect(),
            schema: builder.build(),
        }
    }

    fn words_of(&self, kind: SearchKind) -> Field {
        self.words[number_of(kind) as usize]
    }
}

/// The number of a kind in the index.
fn number_of(kind: SearchKind) -> u64 {
    let place = SearchKind::ALL.iter().position(|other| *other == kind);
    place.unwrap_or_default() as u64
}

/// The bytes by which a workspace's things of a kind are counted.
fn place_of(workspace: WorkspaceId, kind: SearchKind) -> Vec<u8> {
    let mut bytes = workspace.uuid().as_bytes().to_vec();
    bytes.push(number_of(kind) as u8);
    bytes
}

/// What the fast fields say about one thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stored {
    pub(crate) kind: SearchKind,
    pub(crate) id: Uuid,
    pub(crate) at: Timestamp,
    pub(crate) print: u64,
}
