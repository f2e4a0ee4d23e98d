//! Frames that wait for one connection.
//!
//! Invariants
//! - Frames leave in the order they came, and after `Closed` none follows.
//! - An outbox never holds more than its limits, one frame of any size excepted; whoever fills it past them is closed
//!   with 1013 and comes back for one fresh difference. Nothing is skipped silently.
//! - No change comes before the first difference: it could build on what the editor lacks, and not every implementation of
//!   Yjs survives that. What was stored before the editor asked is in the difference; what came after follows it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::document::room::Outbound;

/// Frames that may wait.
const FRAME_LIMIT: usize = 4_096;
/// Bytes that may wait.
const BYTE_LIMIT: usize = 16 << 20;

/// The queue between a document and one connection.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    // A std mutex: held for a push or a pop, never over an await.
    state: Mutex<State>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Outbound>,
    /// Frames and held changes together.
    bytes: usize,
    progress: Progress,
    is_closed: bool,
}

/// How far an editor has come on its way to the document's state.
#[derive(Debug, Default)]
enum Progress {
    /// It did not ask yet: the difference will hold every change of before.
    #[default]
    Unasked,
    /// Its difference is made and waits for a commit; these changes follow it.
    Asked(Vec<Outbound>),
    /// It got its difference, and gets each change.
    Following,
}

impl Outbox {
    /// Notes that a difference was made for the editor: changes from now on follow it.
    pub(crate) fn asked(&self) {
        let mut state = self.state();
        if matches!(state.progress, Progress::Unasked) {
            state.progress = Progress::Asked(Vec::new());
        }
    }

    /// Adds a frame; false when the connection could not keep up and was closed instead.
    pub(crate) fn push(&self, frame: Outbound) -> bool {
        let mut state = self.state();
        if state.is_closed {
            return false;
        }
        let has_room = state.add(frame);
        drop(state);
        self.filled.notify_one();
        has_room
    }

    /// Ends the connection after what is queued.
    pub(crate) fn close(&self, code: u16, reason: &str) {
        self.push(Outbound::Closed(code, reason.chars().take(120).collect()));
    }

    /// The next frame, if one waits.
    pub(crate) fn pop(&self) -> Option<Outbound> {
        let mut state = self.state();
        let frame = state.frames.pop_front()?;
        state.bytes -= size_of(&frame);
        Some(frame)
    }

    /// The next frame; none once the end was taken.
    pub(crate) async fn next(&self) -> Option<Outbound> {
        loop {
            let filled = self.filled.notified();
            if let Some(frame) = self.pop() {
                return Some(frame);
            }
            if self.state().is_closed {
                return None;
            }
            filled.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, frame: Outbound) -> bool {
        let is_change = matches!(frame, Outbound::Update(_));
        if is_change && matches!(self.progress, Progress::Unasked) {
            return true;
        }
        let held = match &self.progress {
            Progress::Asked(held) => held.len(),
            Progress::Unasked | Progress::Following => 0,
        };
        let waiting = self.frames.len() + held;
        let size = size_of(&frame);
        if waiting > 0 && (waiting >= FRAME_LIMIT || self.bytes + size > BYTE_LIMIT) {
            self.close(
                1013,
                "the connection can not keep up; reconnect to catch up",
            );
            return false;
        }
        self.is_closed = matches!(frame, Outbound::Closed(..));
        self.bytes += size;
        match &mut self.progress {
            Progress::Asked(held) if is_change => held.push(frame),
            Progress::Asked(held) if matches!(frame, Outbound::SyncStep2(_)) => {
                self.frames.push_back(frame);
                self.frames.extend(std::mem::take(held));
                self.progress = Progress::Following;
            }
            _ => self.frames.push_back(frame),
        }
        true
    }

    /// Drops what waits: whoever reconnects gets it as part of one difference.
    fn close(&mut self, code: u16, reason: &str) {
        self.frames.clear();
        // Held changes go as well.
        self.progress = Progress::Following;
        self.bytes = 0;
        self.is_closed = true;
        self.frames
            .push_back(Outbound::Closed(code, reason.to_owned()));
    }
}

fn size_of(frame: &Outbound) -> usize {
    match frame {
        Outbound::SyncStep2(bytes)
        | Outbound::SyncStep1(bytes)
        | Outbound::Update(bytes)
        | Outbound::Awareness(bytes) => bytes.len(),
        Outbound::Acknowledged(_) | Outbound::AccessChanged(_) | Outbound::Closed(..) => 0,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// An outbox whose editor has got its difference.
    fn in_step() -> Outbox {
        let outbox = Outbox::default();
        outbox.asked();
        outbox.push(Outbound::SyncStep2(Bytes::new()));
        outbox.pop();
        outbox
    }

    fn change(byte: u8) -> Outbound {
        Outbound::Update(Bytes::from(vec![byte]))
    }

    #[test]
    fn no_change_comes_before_the_difference_and_those_after_it_was_made_follow_it() {
        let outbox = Outbox::default();
        let difference = Outbound::SyncStep2(Bytes::from_static(b"all"));
        outbox.push(change(1));
        outbox.asked();
        outbox.push(change(2));
        assert_eq!(outbox.pop(), None);
        outbox.push(difference.clone());
        outbox.push(change(3));
        for expected in [difference, change(2), change(3)] {
            assert_eq!(outbox.pop(), Some(expected));
        }
    }

    #[test]
    fn a_connection_that_can_not_keep_up_is_closed_and_not_skipped() {
        let outbox = in_step();
        let frame = Outbound::Update(Bytes::from(vec![0; BYTE_LIMIT / 2 + 1]));
        assert!(outbox.push(frame.clone()));
        assert!(!outbox.push(frame));
        assert!(matches!(outbox.pop(), Some(Outbound::Closed(1013, _))));
        assert_eq!(outbox.pop(), None);
    }

    #[test]
    fn a_frame_larger_than_the_limit_passes_when_nothing_waits() {
        let outbox = Outbox::default();
        assert!(outbox.push(Outbound::SyncStep2(Bytes::from(vec![0; BYTE_LIMIT * 2]))));
        assert!(matches!(outbox.pop(), Some(Outbound::SyncStep2(_))));
    }
}
