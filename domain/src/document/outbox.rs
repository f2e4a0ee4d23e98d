//! Frames that wait for one connection.
//!
//! Invariants
//! - Frames leave in the order they came, and after `Closed` none follows.
//! - An outbox never holds more than its limits, one frame of any size excepted; whoever fills it past them is closed
//!   with 1013 and comes back for one fresh difference. Nothing is skipped silently.

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
    bytes: usize,
    is_closed: bool,
}

impl Outbox {
    /// Adds a frame; false when the connection could not keep up and was closed instead.
    pub(crate) fn push(&self, frame: Outbound) -> bool {
        let mut state = self.state();
        if state.is_closed {
            return false;
        }
        let size = size_of(&frame);
        let is_over = state.frames.len() >= FRAME_LIMIT || state.bytes + size > BYTE_LIMIT;
        let is_full = is_over && !state.frames.is_empty();
        if is_full {
            state.close(
                1013,
                "the connection can not keep up; reconnect to catch up",
            );
        } else {
            state.is_closed = matches!(frame, Outbound::Closed(..));
            state.bytes += size;
            state.frames.push_back(frame);
        }
        drop(state);
        self.filled.notify_one();
        !is_full
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
    /// Drops what waits: whoever reconnects gets it as part of one difference.
    fn close(&mut self, code: u16, reason: &str) {
        self.frames.clear();
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

    #[test]
    fn a_connection_that_can_not_keep_up_is_closed_and_not_skipped() {
        let outbox = Outbox::default();
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
