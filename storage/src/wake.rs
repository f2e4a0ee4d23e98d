//! Wake-ups: watchers of event logs, of rights and of turns, and what processes tell each other over LISTEN/NOTIFY.
//!
//! Invariants
//! - A wake-up is a hint: whoever follows reads the log. A lost one costs a delay, never an event.
//! - Signals (presence) are best effort: too many or incomplete ones are dropped.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use domain::event::Sequence;
use domain::ids::WorkspaceId;
use domain::store::Signal;
use domain::turn::TurnWake;
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};
use uuid::Uuid;

/// The channel of LISTEN and NOTIFY.
pub(crate) const CHANNEL: &str = "atelier";
/// Bytes of a signal in one notification, whose limit is 8,000 bytes of text.
const PART_BYTES: usize = 5_000;
/// Signals that wait for their other parts.
const PARTIAL_SIGNALS: usize = 64;

/// What a notification says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Notice {
    /// The log of a workspace has reached a sequence.
    Events {
        /// Which one.
        workspace: WorkspaceId,
        /// Its head.
        sequence: u64,
    },
    /// Tokens or memberships changed.
    Access,
    /// A job may be due.
    Jobs,
    /// Something is to be done for a turn, or another epoch of it holds.
    Turn(TurnWake),
    /// A part of a signal.
    Signal(SignalPart),
}

/// A part of a signal, so that each fits into a notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SignalPart {
    signal: Uuid,
    process: Uuid,
    topic: String,
    number: usize,
    count: usize,
    payload: String,
}

/// Everybody in this process who waits for news.
#[derive(Debug)]
pub(crate) struct Wakes {
    workspaces: Mutex<HashMap<WorkspaceId, watch::Sender<Sequence>>>,
    logs: broadcast::Sender<(WorkspaceId, Sequence)>,
    access: watch::Sender<u64>,
    jobs: watch::Sender<u64>,
    turns: broadcast::Sender<TurnWake>,
    signals: broadcast::Sender<Signal>,
    partial: Mutex<HashMap<Uuid, Vec<Option<String>>>>,
    /// How often each wake-up arrives: once, but in tests of what holds where it does not.
    arrivals: u32,
}

impl Default for Wakes {
    fn default() -> Self {
        Self::arriving(1)
    }
}

impl Wakes {
    /// Wake-ups each of which arrives so often.
    pub(crate) fn arriving(arrivals: u32) -> Self {
        Self {
            arrivals,
            workspaces: Mutex::default(),
            // Whoever is slower than this looks for logs that grew by itself, as all do from time to time.
            logs: broadcast::channel(4_096).0,
            access: watch::channel(0).0,
            jobs: watch::channel(0).0,
            // Whoever is slower than this looks for turns by itself, as all do from time to time.
            turns: broadcast::channel(4_096).0,
            // Whoever is slower than this misses signals, and hears the next ones.
            signals: broadcast::channel(1_024).0,
            partial: Mutex::default(),
        }
    }

    /// Follows the head of a workspace's log.
    pub(crate) fn follow(&self, workspace: WorkspaceId) -> watch::Receiver<Sequence> {
        let mut workspaces = lock(&self.workspaces);
        if let Some(sender) = workspaces.get(&workspace) {
            return sender.subscribe();
        }
        workspaces.retain(|_, sender| sender.receiver_count() > 0);
        let (sender, receiver) = watch::channel(Sequence::default());
        workspaces.insert(workspace, sender);
        receiver
    }

    /// Hears of every log that grows.
    pub(crate) fn follow_logs(&self) -> broadcast::Receiver<(WorkspaceId, Sequence)> {
        self.logs.subscribe()
    }

    /// Workspaces that somebody follows.
    pub(crate) fn followed(&self) -> Vec<WorkspaceId> {
        lock(&self.workspaces)
            .iter()
            .filter(|(_, sender)| sender.receiver_count() > 0)
            .map(|(id, _)| *id)
            .collect()
    }

    /// The log of a workspace has reached a sequence.
    pub(crate) fn reached(&self, workspace: WorkspaceId, head: Sequence) {
        // Nobody may be listening.
        drop(self.logs.send((workspace, head)));
        if let Some(sender) = lock(&self.workspaces).get(&workspace) {
            sender.send_if_modified(|known| {
                let is_news = head > *known;
                *known = head.max(*known);
                is_news
            });
        }
    }

    /// Wakes everybody: news may have been lost.
    pub(crate) fn wake_all(&self) {
        for sender in lock(&self.workspaces).values() {
            sender.send_modify(|_| {});
        }
        self.access_changed();
        self.jobs_woken();
    }

    pub(crate) fn follow_access(&self) -> watch::Receiver<u64> {
        self.access.subscribe()
    }

    pub(crate) fn access_changed(&self) {
        self.access.send_modify(|count| *count += 1);
    }

    pub(crate) fn follow_jobs(&self) -> watch::Receiver<u64> {
        self.jobs.subscribe()
    }

    /// Somebody is to look after jobs.
    pub(crate) fn jobs_woken(&self) {
        self.jobs.send_modify(|count| *count += 1);
    }

    pub(crate) fn follow_turns(&self) -> broadcast::Receiver<TurnWake> {
        self.turns.subscribe()
    }

    /// Somebody is to look at a turn.
    pub(crate) fn turn_woken(&self, wake: TurnWake) {
        for _ in 0..self.arrivals {
            // Nobody may be listening.
            drop(self.turns.send(wake));
        }
    }

    pub(crate) fn follow_signals(&self) -> broadcast::Receiver<Signal> {
        self.signals.subscribe()
    }

    /// Takes what another process (or this one) has notified.
    pub(crate) fn take(&self, text: &str) {
        for _ in 0..self.arrivals {
            self.take_one(text);
        }
    }

    fn take_one(&self, text: &str) {
        match serde_json::from_str(text) {
            Ok(Notice::Events {
                workspace,
                sequence,
            }) => self.reached(workspace, Sequence(sequence)),
            Ok(Notice::Access) => self.access_changed(),
            Ok(Notice::Jobs) => self.jobs_woken(),
            Ok(Notice::Turn(wake)) => self.turn_woken(wake),
            Ok(Notice::Signal(part)) => self.take_part(part),
            Err(error) => tracing::warn!(%error, "a notification can not be read"),
        }
    }

    fn take_part(&self, part: SignalPart) {
        if part.number >= part.count || part.count > 4_096 {
            return;
        }
        let mut partial = lock(&self.partial);
        if partial.len() >= PARTIAL_SIGNALS && !partial.contains_key(&part.signal) {
            partial.clear();
        }
        let parts = partial
            .entry(part.signal)
            .or_insert_with(|| vec![None; part.count]);
        if let Some(place) = parts.get_mut(part.number) {
            *place = Some(part.payload);
        }
        let Some(whole) = parts.iter().cloned().collect::<Option<String>>() else {
            return;
        };
        partial.remove(&part.signal);
        drop(partial);
        match STANDARD.decode(whole) {
            // Nobody may be listening.
            Ok(payload) => drop(self.signals.send(Signal {
                process: part.process,
                topic: part.topic,
                payload: Bytes::from(payload),
            })),
            Err(error) => tracing::warn!(%error, "a signal can not be read"),
        }
    }
}

/// A signal as notifications.
pub(crate) fn parts_of(signal: &Signal) -> Vec<Notice> {
    let text = STANDARD.encode(&signal.payload);
    let pieces: Vec<&str> = if text.is_empty() {
        vec![""]
    } else {
        (0..text.len())
            .step_by(PART_BYTES)
            .map(|start| &text[start..text.len().min(start + PART_BYTES)])
            .collect()
    };
    let id = Uuid::new_v4();
    let part = |(number, payload): (usize, &&str)| {
        let (process, topic) = (signal.process, signal.topic.clone());
        Notice::Signal(SignalPart {
            signal: id,
            process,
            topic,
            number,
            count: pieces.len(),
            payload: (*payload).to_owned(),
        })
    };
    pieces.iter().enumerate().map(part).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_signal_larger_than_a_notification_arrives_whole() {
        let wakes = Wakes::default();
        let mut signals = wakes.follow_signals();
        let signal = Signal {
            process: Uuid::new_v4(),
            topic: "presence:x".into(),
            payload: Bytes::from(vec![7; 20_000]),
        };
        let parts = parts_of(&signal);
        assert!(parts.len() > 1);
        for part in parts.iter().rev() {
            let text = serde_json::to_string(part).expect("serializes");
            assert!(text.len() < 7_900, "{} bytes", text.len());
            wakes.take(&text);
        }
        assert_eq!(signals.recv().await.expect("arrives"), signal);
    }
}
