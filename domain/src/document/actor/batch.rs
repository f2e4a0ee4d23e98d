//! Changes that were applied and wait to be stored, with what follows their commit.
//!
//! Invariants
//! - Consecutive updates of one connection are one change. Others are not joined over what stands between them: editors
//!   may know each other's work by other ways than this document, and the log must hold what builds on what in order.
//! - Outputs leave in the order they were added, after the commit and after the batch was sent to everybody.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::actor::Actor;
use crate::document::edit::{Applied, EditOutcome};
use crate::document::outbox::Outbox;
use crate::document::room::Outbound;
use crate::document::{Touched, Version};
use crate::error::{Error, Result};
use crate::ids::ConnectionId;
use crate::time::Timestamp;
use crate::work::{Appended, PendingChange};

use super::edits::RunningEdit;

/// Updates that are joined into one change: joining takes longer than they are many.
const JOINED: usize = 256;

/// Changes that wait for a commit.
#[derive(Default)]
pub(crate) struct Batch {
    changes: Vec<BatchChange>,
    outputs: Vec<Output>,
}

struct BatchChange {
    /// Whose updates may be added to it.
    connection: Option<ConnectionId>,
    actor: Actor,
    at: Timestamp,
    updates: Vec<Bytes>,
    touched: Touched,
}

/// What waits for a commit.
pub(crate) enum Output {
    /// A frame for one connection.
    Frame(Arc<Outbox>, Outbound),
    /// The answer to a raw update through the API; the index of its change, where it made one.
    Update(oneshot::Sender<Result<EditOutcome>>, Option<usize>),
}

/// A commit that is under way.
pub(crate) struct Flight {
    pub(crate) commit: Pin<Box<dyn Future<Output = Result<Appended>> + Send>>,
    pub(crate) changes: Vec<PendingChange>,
    pub(crate) outputs: Vec<Output>,
    /// The structured edit that this commit is of.
    pub(crate) edit: Option<RunningEdit>,
    /// The state after these changes, where a snapshot is due.
    pub(crate) state: Option<Bytes>,
}

impl Flight {
    pub(crate) fn is_edit(&self) -> bool {
        self.edit.is_some()
    }
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn add_output(&mut self, output: Output) {
        self.outputs.push(output);
    }

    /// Adds an update; returns the index of its change in the batch.
    pub(crate) fn add(
        &mut self,
        connection: Option<ConnectionId>,
        actor: &Actor,
        at: Timestamp,
        update: Bytes,
        touched: Touched,
    ) -> usize {
        let index = self.changes.len();
        if let Some(last) = self.changes.last_mut()
            && connection.is_some()
            && last.connection == connection
            && last.updates.len() < JOINED
        {
            last.updates.push(update);
            last.touched.merge(touched);
            return index - 1;
        }
        self.changes.push(BatchChange {
            connection,
            actor: actor.clone(),
            at,
            updates: vec![update],
            touched,
        });
        index
    }

    /// Takes everything out, each change as one update.
    pub(crate) fn take(&mut self) -> Result<(Vec<PendingChange>, Vec<Output>)> {
        let changes = std::mem::take(&mut self.changes)
            .into_iter()
            .map(BatchChange::into_pending)
            .collect::<Result<_>>()?;
        Ok((changes, std::mem::take(&mut self.outputs)))
    }

    /// Drops everything, telling those who wait for an answer.
    pub(crate) fn refuse(&mut self, reason: &dyn std::fmt::Display) {
        self.changes.clear();
        refuse(std::mem::take(&mut self.outputs), reason);
    }
}

/// Tells those who wait for an answer that nothing was stored.
pub(crate) fn refuse(outputs: Vec<Output>, reason: &dyn std::fmt::Display) {
    for output in outputs {
        let error = || Error::Unavailable(reason.to_string().into());
        // Whoever no longer waits needs no answer.
        match output {
            Output::Frame(..) => {}
            Output::Update(reply, _) => drop(reply.send(Err(error()))),
        }
    }
}

impl BatchChange {
    fn into_pending(self) -> Result<PendingChange> {
        let update = merge(self.updates)?;
        Ok(PendingChange {
            actor: self.actor,
            at: self.at,
            update,
            touched: self.touched,
        })
    }
}

/// Several updates as one.
pub(crate) fn merge(mut updates: Vec<Bytes>) -> Result<Bytes> {
    if updates.len() == 1 {
        return updates
            .pop()
            .ok_or_else(|| Error::internal("no update to merge"));
    }
    let merged = yrs::merge_updates_v1(&updates).map_err(|error| Error::Internal(error.into()))?;
    Ok(Bytes::from(merged))
}

impl Output {
    /// Lets it out: everything that was applied before it is stored. `first` is the version of the batch's first change.
    pub(crate) fn release(self, first: Version, last: Version, changes: &[PendingChange]) {
        // Whoever no longer waits needs no answer.
        match self {
            Self::Frame(outbox, frame) => drop(outbox.push(frame)),
            Self::Update(reply, index) => {
                let node_ids = index
                    .and_then(|index| changes.get(index))
                    .map(|change| change.touched.node_ids());
                let node_ids = node_ids
                    .unwrap_or_default()
                    .into_iter()
                    .map(str::to_owned)
                    .collect();
                let version = index.map_or(last, |index| Version(first.0 + index as u64));
                drop(reply.send(Ok(EditOutcome::Applied(Applied {
                    version,
                    node_ids,
                    concurrent: Vec::new(),
                }))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use yrs::updates::decoder::Decode as _;
    use yrs::{
        Any, Doc, GetString as _, Map as _, Out, ReadTxn as _, Text as _, Transact as _, Update,
    };

    use super::*;

    /// A small random generator (xorshift), so that a seed says everything.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % limit as u64) as usize
        }
    }

    fn replica() -> Doc {
        let doc = Doc::new();
        doc.get_or_insert_map("nodes");
        doc.get_or_insert_text("text");
        doc
    }

    /// Applies an update of which every part must find its place.
    fn apply(doc: &Doc, update: &[u8]) {
        let mut txn = doc.transact_mut();
        let update = Update::decode_v1(update).expect("is an update");
        txn.apply_update(update).expect("applies");
        assert!(!txn.has_missing_updates(), "a part can not be placed");
    }

    fn content(doc: &Doc) -> (String, Vec<(String, String)>) {
        let nodes = doc.get_or_insert_map("nodes");
        let text = doc.get_or_insert_text("text");
        let txn = doc.transact();
        let mut entries: Vec<_> = nodes
            .iter(&txn)
            .map(|(key, value)| (key.to_owned(), value.to_string(&txn)))
            .collect();
        entries.sort();
        (text.get_string(&txn), entries)
    }

    /// One change of an editor; sometimes it sends more than that, which the others have already.
    fn edit(doc: &Doc, random: &mut Random, before: &yrs::StateVector) -> Vec<u8> {
        let nodes = doc.get_or_insert_map("nodes");
        let text = doc.get_or_insert_text("text");
        let mut txn = doc.transact_mut();
        for _ in 0..=random.below(3) {
            let key = format!("n{}", random.below(4));
            match random.below(5) {
                0 => drop(nodes.remove(&mut txn, &key)),
                1 => drop(nodes.insert(&mut txn, key, random.below(100) as i64)),
                2 if text.len(&txn) > 2 => {
                    let at = random.below(text.len(&txn) as usize - 2) as u32;
                    text.remove_range(&mut txn, at, 2);
                }
                3 => match nodes.get(&txn, &key) {
                    Some(Out::YMap(node)) => {
                        node.insert(&mut txn, "field", random.below(100) as i64);
                    }
                    _ => drop(nodes.insert(
                        &mut txn,
                        key,
                        yrs::MapPrelim::from([("field", Any::from(1))]),
                    )),
                },
                _ => {
                    let at = random.below(text.len(&txn) as usize + 1) as u32;
                    text.insert(&mut txn, at, ["a", "bc", "def"][random.below(3)]);
                }
            }
        }
        if random.below(4) == 0 {
            txn.encode_diff_v1(before)
        } else {
            txn.encode_update_v1()
        }
    }

    /// Updates in the order of a log, by editors of whom each knows some of the others' work.
    fn log(random: &mut Random) -> Vec<Bytes> {
        let editors: Vec<Doc> = (0..3).map(|_| replica()).collect();
        let mut known = [0; 3];
        let mut log: Vec<Bytes> = Vec::new();
        let mut earlier = vec![yrs::StateVector::default()];
        for _ in 0..40 {
            let editor = random.below(editors.len());
            // An editor catches up with what the log holds before it goes on: all of it, or some more of it.
            while known[editor] < log.len() && random.below(8) > 0 {
                apply(&editors[editor], &log[known[editor]]);
                known[editor] += 1;
            }
            let before = &earlier[random.below(earlier.len())];
            let update = edit(&editors[editor], random, before);
            log.push(Bytes::from(update));
            earlier.push(editors[editor].transact().state_vector());
        }
        log
    }

    #[test]
    fn updates_joined_in_order_are_the_same_as_one_after_the_other() {
        let seed = uuid::Uuid::new_v4().as_u128() as u64 | 1;
        eprintln!("seed {seed}");
        let mut random = Random(seed);
        for _ in 0..200 {
            let log = log(&mut random);
            let (single, joined) = (replica(), replica());
            for update in &log {
                apply(&single, update);
            }
            let mut rest = log.as_slice();
            while !rest.is_empty() {
                let (some, others) = rest.split_at(1 + random.below(rest.len().min(6)));
                apply(&joined, &merge(some.to_vec()).expect("they join"));
                rest = others;
            }
            assert_eq!(content(&single), content(&joined));
        }
    }
}
