//! The shared types that each kind of work has, and how their documents are opened.
//!
//! Invariants
//! - Every root of the kind is declared before anything is applied: an undeclared one would not be seen by observers.
//! - A new replica has a new client id: two writers with one id diverge silently.
//! - Offsets count UTF-16 units, as editors do.

use yrs::{ClientID, Doc, MapRef, OffsetKind, Options, TextRef};

use crate::document::lib0::MAX_SAFE_INTEGER;
use crate::work::WorkKind;

/// Fields that people type prose into: each is a Y.Text, so that two can type at once.
pub const PROSE_FIELDS: [&str; 6] = [
    "title",
    "description",
    "prompt",
    "dialogue",
    "notes",
    "caption",
];

/// Whether a field is prose.
pub fn is_prose(field: &str) -> bool {
    PROSE_FIELDS.contains(&field)
}

/// Fields of an asset that only the server writes: they describe the file.
pub(crate) const FILE_FIELDS: [&str; 3] = ["sha256", "mediaType", "byteSize"];

/// The shared types of an open document; those that its kind does not have are absent.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    /// Of structured works.
    pub(crate) nodes: Option<MapRef>,
    /// Of flows.
    pub(crate) edges: Option<MapRef>,
    /// Of text documents.
    pub(crate) text: Option<TextRef>,
    /// Of assets.
    pub(crate) asset: Option<MapRef>,
}

/// Opens an empty document of a kind.
pub(crate) fn open_document(kind: WorkKind) -> (Doc, Roots) {
    let doc = Doc::with_options(options());
    let map = |name, there: bool| there.then(|| doc.get_or_insert_map(name));
    let roots = Roots {
        nodes: map("nodes", kind.is_structured()),
        edges: map("edges", kind == WorkKind::Flow),
        text: (kind == WorkKind::Text).then(|| doc.get_or_insert_text("text")),
        asset: map("asset", kind == WorkKind::Asset),
    };
    (doc, roots)
}

/// Every option is set by hand: the library's constructors disagree about their defaults.
fn options() -> Options {
    Options {
        client_id: ClientID::new(uuid::Uuid::new_v4().as_u128() as u64 & MAX_SAFE_INTEGER),
        offset_kind: OffsetKind::Utf16,
        skip_gc: false,
        auto_load: false,
        should_load: true,
        // Formats belong to the editors; a change is stored with nothing but what its author did.
        cleanup_formatting: false,
        ..Options::default()
    }
}
