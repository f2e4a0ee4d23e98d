//! A thing as a document of the index.

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::ids::{UserId, WorkspaceId};
use domain::search::SearchKind;
use domain::time::Timestamp;
use tantivy::TantivyDocument;
use tantivy::columnar::Column;
use tantivy::index::SegmentReader;
use uuid::Uuid;

use super::{AT, Fields, HIGH, KIND, LOW, PRINT, Stored, number_of, place_of};
use crate::source::Searchable;
use crate::words;

/// What is written of a thing.
pub(crate) struct Entry {
    pub(super) id: Uuid,
    pub(super) document: TantivyDocument,
}

impl Entry {
    /// The entry of a thing of this workspace.
    pub(crate) fn new(fields: &Fields, workspace: WorkspaceId, thing: &Searchable) -> Self {
        let kind = thing.subject.kind();
        let id = thing.subject.uuid();
        let mut document = TantivyDocument::default();
        document.add_bytes(fields.id, id.as_bytes());
        document.add_bytes(fields.place, &place_of(workspace, kind));
        let (high, low) = id.as_u64_pair();
        document.add_u64(fields.high, high);
        document.add_u64(fields.low, low);
        document.add_u64(fields.kind, number_of(kind));
        document.add_i64(fields.at, thing.at.micros());
        document.add_u64(fields.print, fingerprint(workspace, thing));
        document.add_text(fields.words_of(kind), scoped_words(workspace, thing));
        Self { id, document }
    }
}

/// The words of a thing under who may find it; those of its title twice, so that they weigh more.
fn scoped_words(workspace: WorkspaceId, thing: &Searchable) -> String {
    let scope = Scope::new(workspace, thing.owner);
    let title = words::indexed(&thing.title);
    let text = words::indexed(&thing.text);
    let mut scoped = String::with_capacity((title.len() * 2 + text.len()) * 32);
    for word in title.iter().chain(&title).chain(&text) {
        scoped.push_str(&scope.0);
        scoped.push_str(word);
        scoped.push(' ');
    }
    scoped
}

/// Who may find a word: stands before it in the dictionary. All scopes of a form have one length, so none is the beginning
/// of another's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope(String);

impl Scope {
    pub(super) fn new(workspace: WorkspaceId, owner: Option<UserId>) -> Self {
        let workspace = URL_SAFE_NO_PAD.encode(workspace.uuid().as_bytes());
        Self(match owner {
            None => format!("{workspace}-"),
            Some(owner) => format!(
                "{workspace}+{}",
                URL_SAFE_NO_PAD.encode(owner.uuid().as_bytes())
            ),
        })
    }

    pub(super) fn term(&self, word: &str) -> String {
        format!("{}{word}", self.0)
    }
}

/// A number that differs where what is indexed of a thing differs: for comparing the index with the store.
pub(crate) fn fingerprint(workspace: WorkspaceId, thing: &Searchable) -> u64 {
    let (place, owner) = (
        workspace.uuid(),
        thing.owner.map(UserId::uuid).unwrap_or_default(),
    );
    let parts: [&[u8]; 5] = [
        place.as_bytes(),
        owner.as_bytes(),
        thing.title.as_bytes(),
        &[0],
        thing.text.as_bytes(),
    ];
    let hash = digest::digest(&digest::SHA256, &parts.concat());
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_ref()[..8]);
    u64::from_be_bytes(first)
}

/// The columns of a segment that say what a document is.
pub(super) struct Columns {
    high: Column<u64>,
    low: Column<u64>,
    kind: Column<u64>,
    at: Column<i64>,
    print: Column<u64>,
}

impl Columns {
    pub(super) fn of(segment: &SegmentReader) -> tantivy::Result<Self> {
        let fast = segment.fast_fields();
        Ok(Self {
            high: fast.u64(HIGH)?,
            low: fast.u64(LOW)?,
            kind: fast.u64(KIND)?,
            at: fast.i64(AT)?,
            print: fast.u64(PRINT)?,
        })
    }

    /// What a document is; none where its columns hold nothing, which no writer of ours makes.
    pub(super) fn read(&self, document: u32) -> Option<Stored> {
        let (high, low) = (self.high.first(document)?, self.low.first(document)?);
        let kind = self.kind.first(document)? as usize;
        Some(Stored {
            kind: *SearchKind::ALL.get(kind)?,
            id: Uuid::from_u64_pair(high, low),
            at: Timestamp::from_micros(self.at.first(document)?),
            print: self.print.first(document)?,
        })
    }
}
