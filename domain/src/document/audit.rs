//! Audits: whether the log of a document, replayed from nothing, gives what its snapshot and the changes after it give.
//!
//! Invariants
//! - Both ways start with an empty replica and share nothing, so a damaged snapshot can not hide behind the log.
//!
//! Not here: reading the log (`work::WorkReads`), mending it.

use std::fmt::Display;

use bytes::Bytes;
use yrs::updates::decoder::Decode;
use yrs::{Doc, ReadTxn, StateVector, Transact, Update};

use crate::document::Content;
use crate::document::layout::{Roots, open_document};
use crate::document::read::read_content;
use crate::work::{StoredDocument, WorkKind};

/// Stack of the thread that replays: yrs recurses as deep as documents are.
const STACK_BYTES: usize = 64 << 20;

/// Why a document is not as it should be. The text is for those who look after the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// A change of the log, counted from 1, can not be applied.
    #[error("change {0} of the log can not be applied: {1}")]
    Change(usize, String),
    /// The snapshot, or a change after it, can not be applied.
    #[error("the snapshot and the changes after it can not be applied: {0}")]
    Snapshot(String),
    /// Both can be applied, and give different documents.
    #[error("the log gives another document than the snapshot and the changes after it: {0}")]
    Difference(&'static str),
    /// yrs failed.
    #[error("the replay broke off")]
    Broken,
}

/// Replays a whole log, oldest change first, and compares. Blocks: call it where that is allowed.
pub fn audit_document(
    kind: WorkKind,
    log: Vec<Bytes>,
    stored: StoredDocument,
) -> Result<(), Damage> {
    let replay = move || compare(kind, &log, &stored);
    let thread = std::thread::Builder::new()
        .name("audit".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(replay)
        .map_err(|_| Damage::Broken)?;
    thread.join().unwrap_or(Err(Damage::Broken))
}

fn compare(kind: WorkKind, log: &[Bytes], stored: &StoredDocument) -> Result<(), Damage> {
    let replayed = Replica::open(kind);
    for (index, change) in log.iter().enumerate() {
        let applied = replayed.apply(change);
        applied.map_err(|reason| Damage::Change(index + 1, reason))?;
    }
    let opened = Replica::open(kind);
    let snapshot = stored.snapshot.iter().map(|snapshot| &snapshot.state);
    let changes = stored.changes.iter().map(|(_, update)| update);
    for update in snapshot.chain(changes) {
        opened.apply(update).map_err(Damage::Snapshot)?;
    }
    if replayed.state_vector() != opened.state_vector() {
        return Err(Damage::Difference("one of them lacks changes"));
    }
    if replayed.content() != opened.content() {
        return Err(Damage::Difference("their contents differ"));
    }
    Ok(())
}

struct Replica {
    doc: Doc,
    roots: Roots,
}

impl Replica {
    fn open(kind: WorkKind) -> Self {
        let (doc, roots) = open_document(kind);
        Self { doc, roots }
    }

    fn apply(&self, update: &[u8]) -> Result<(), String> {
        let text = |error: &dyn Display| error.to_string();
        let update = Update::decode_v1(update).map_err(|error| text(&error))?;
        let mut transaction = self.doc.transact_mut();
        transaction
            .apply_update(update)
            .map_err(|error| text(&error))?;
        if transaction.has_missing_updates() {
            return Err("it builds on changes that are not there".to_owned());
        }
        Ok(())
    }

    fn state_vector(&self) -> StateVector {
        self.doc.transact().state_vector()
    }

    fn content(&self) -> Content {
        read_content(&self.doc.transact(), &self.roots)
    }
}

#[cfg(test)]
mod tests {
    use yrs::Text as _;

    use super::*;
    use crate::document::Version;
    use crate::ids::WorkId;
    use crate::work::Snapshot;

    /// Three changes of a text, each as its own update.
    fn log() -> Vec<Bytes> {
        let doc = Doc::new();
        let text = doc.get_or_insert_text("text");
        let words = ["one ", "two ", "three"];
        let change = |word: &str| {
            let before = doc.transact().state_vector();
            text.push(&mut doc.transact_mut(), word);
            Bytes::from(doc.transact().encode_diff_v1(&before))
        };
        words.into_iter().map(change).collect()
    }

    fn state(changes: &[Bytes]) -> Bytes {
        let replica = Replica::open(WorkKind::Text);
        for change in changes {
            replica.apply(change).expect("applies");
        }
        let transaction = replica.doc.transact();
        transaction
            .encode_state_as_update_v1(&StateVector::default())
            .into()
    }

    fn stored(state: Bytes, last: &Bytes) -> StoredDocument {
        let (work, version) = (WorkId::new(), Version(2));
        StoredDocument {
            work,
            snapshot: Some(Snapshot {
                work,
                version,
                state,
            }),
            changes: vec![(Version(3), last.clone())],
        }
    }

    #[test]
    fn a_sound_document_passes() {
        let log = log();
        let stored = stored(state(&log[..2]), &log[2]);
        assert_eq!(audit_document(WorkKind::Text, log, stored), Ok(()));
    }

    #[test]
    fn a_snapshot_that_lacks_a_change_is_found() {
        let log = log();
        let stored = stored(state(&log[..1]), &log[2]);
        let found = audit_document(WorkKind::Text, log, stored);
        assert!(matches!(found, Err(Damage::Snapshot(_))), "{found:?}");
    }

    #[test]
    fn a_log_that_lacks_or_garbles_a_change_is_found() {
        let whole = log();
        let stored = stored(state(&whole[..2]), &whole[2]);
        let missing = vec![whole[0].clone(), whole[2].clone()];
        let found = audit_document(WorkKind::Text, missing, stored.clone());
        assert!(matches!(found, Err(Damage::Change(2, _))), "{found:?}");
        let garbled = vec![whole[0].clone(), Bytes::from_static(b"\xff\xff")];
        let found = audit_document(WorkKind::Text, garbled, stored.clone());
        assert!(matches!(found, Err(Damage::Change(2, _))), "{found:?}");
        let short = audit_document(WorkKind::Text, whole[..2].to_vec(), stored);
        assert!(matches!(short, Err(Damage::Difference(_))), "{short:?}");
    }
}
