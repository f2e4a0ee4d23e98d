//! An editor on one document, over either protocol: a peer of our own, that can also say what no good client says.
//!
//! Invariants
//! - The replica outlives its connection: a new connection goes on with what was edited before, as real clients do.
//! - [`Editor::acknowledged`] knows of durability only what the contract tells: a sync status, or the reply to a sync step 1
//!   that was sent after the change.

pub(crate) mod replica;
pub(crate) mod wire;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use yrs::TransactionMut;

use self::replica::{Replica, Roots};
use self::wire::Reader;
use super::socket::{Receiving, Sending, connect};
use super::{Client, SOON, Work};

/// Frames that wait for the socket; an editor that sends more waits itself.
const FRAMES: usize = 256;

/// How an editor speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// `/sync`.
    YWebsocket,
    /// `/collab`.
    Hocuspocus,
}

impl Protocol {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::YWebsocket, Self::Hocuspocus];

    /// The address of a work's document for this client.
    pub(crate) fn url(self, client: &Client, work: &str) -> String {
        let (server, secret) = (client.socket_address(), client.secret());
        match self {
            Self::YWebsocket => format!("{server}/sync/{work}?token={secret}"),
            Self::Hocuspocus => format!("{server}/collab"),
        }
    }

    /// A message of y-protocols as this protocol frames it.
    pub(crate) fn frame(self, work: &str, message: &[u8]) -> Vec<u8> {
        match self {
            Self::YWebsocket => message.to_vec(),
            Self::Hocuspocus => wire::addressed(work, message),
        }
    }
}

/// What an editor has seen on its present connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Replies to sync step 1.
    pub(crate) replies: u64,
    /// Sync step 1 that were sent.
    asked: u64,
    /// Sync step 1 of the server that were answered.
    answered: u64,
    /// Changes that were sent and wait for a sync status.
    owed: u64,
    /// Sync statuses that said "stored".
    pub(crate) accepted: u64,
    /// Sync statuses that said "refused".
    pub(crate) rejected: u64,
    /// `read-write` or `readonly`, where the protocol tells.
    pub(crate) scope: Option<String>,
    /// Why the document was refused, where the protocol tells.
    pub(crate) denied: Option<String>,
    /// Awareness states by client id: clock and state.
    pub(crate) awareness: BTreeMap<u64, (u64, Value)>,
    /// Why the server let the document go, where the protocol tells.
    pub(crate) let_go: Option<String>,
    /// Whether the socket has ended.
    pub(crate) is_closed: bool,
    /// With which close code, where it had one.
    pub(crate) close_code: Option<u16>,
}

struct Shared {
    replica: Mutex<Replica>,
    seen: watch::Sender<Seen>,
}

impl Shared {
    fn replica(&self) -> MutexGuard<'_, Replica> {
        self.replica
            .lock()
            .expect("no test breaks off while it holds a replica")
    }
}

/// An editor.
pub(crate) struct Editor {
    protocol: Protocol,
    work: String,
    shared: Arc<Shared>,
    frames: mpsc::Sender<Vec<u8>>,
    tasks: JoinSet<()>,
}

impl Editor {
    /// Opens a work and waits until its content is there.
    pub(crate) async fn open(work: &Work, protocol: Protocol) -> Self {
        let editor = Self::knock(work, protocol).await;
        editor.synced().await;
        editor
    }

    /// Opens a socket for a work, and does not wait for anything.
    pub(crate) async fn knock(work: &Work, protocol: Protocol) -> Self {
        let shared = Shared {
            replica: Mutex::new(Replica::new()),
            seen: watch::Sender::default(),
        };
        let mut editor = Self {
            protocol,
            work: work.id.clone(),
            shared: Arc::new(shared),
            frames: mpsc::channel(1).0,
            tasks: JoinSet::new(),
        };
        assert!(
            editor.connect(&work.client).await,
            "the server can be reached"
        );
        editor
    }

    /// Connects anew, with what was edited before; false where the server can not be reached.
    pub(crate) async fn connect(&mut self, client: &Client) -> bool {
        self.disconnect().await;
        let url = self.protocol.url(client, &self.work);
        let Ok(socket) = connect(&url, &[]).await else {
            return false;
        };
        self.shared.seen.send_replace(Seen::default());
        let (sending, receiving) = socket.split();
        let (frames, outgoing) = mpsc::channel(FRAMES);
        self.frames = frames.clone();
        self.tasks.spawn(write(sending, outgoing));
        let reader = ReaderTask {
            protocol: self.protocol,
            work: self.work.clone(),
            shared: self.shared.clone(),
            frames,
        };
        self.tasks.spawn(reader.run(receiving));
        if self.protocol == Protocol::Hocuspocus {
            self.send(wire::token(&self.work, client.secret())).await;
        }
        self.ask_what_is_lacking().await;
        true
    }

    /// Ends the connection as a lost network does, and keeps the replica.
    pub(crate) async fn disconnect(&mut self) {
        self.tasks.shutdown().await;
        self.shared.seen.send_modify(|seen| seen.is_closed = true);
    }

    /// Changes the document here, and sends the change.
    pub(crate) async fn edit(&self, edit: impl FnOnce(&mut TransactionMut<'_>, &Roots)) {
        let update = self.edit_silently(edit);
        self.send_update(&update).await;
    }

    /// Changes the document here alone, and returns the update.
    pub(crate) fn edit_silently(
        &self,
        edit: impl FnOnce(&mut TransactionMut<'_>, &Roots),
    ) -> Vec<u8> {
        self.shared.replica().change(edit)
    }

    /// Sends an update, whatever it is.
    pub(crate) async fn send_update(&self, update: &[u8]) {
        self.shared.seen.send_modify(|seen| seen.owed += 1);
        self.send_message(&wire::sync(wire::UPDATE, update)).await;
    }

    /// Sends a message of y-protocols.
    pub(crate) async fn send_message(&self, message: &[u8]) {
        self.send(self.protocol.frame(&self.work, message)).await;
    }

    /// Sends a frame as it is.
    pub(crate) async fn send(&self, frame: Vec<u8>) {
        // A socket that has ended takes nothing, as that of a real client; its end is seen elsewhere.
        drop(self.frames.send(frame).await);
    }

    /// Tells others where it is.
    pub(crate) async fn tell(&self, clock: u64, state: &Value) {
        self.send_message(&wire::awareness(
            self.client_id(),
            clock,
            &state.to_string(),
        ))
        .await;
    }

    /// The id of its replica.
    pub(crate) fn client_id(&self) -> u64 {
        self.shared.replica().doc.client_id().get()
    }

    /// Waits until both sides have told each other what they have.
    pub(crate) async fn synced(&self) {
        let is_synced = |seen: &Seen| seen.replies >= seen.asked && seen.answered > 0;
        self.see("the document is there", is_synced).await;
    }

    /// Waits until all that was sent is stored; false where the connection ended before.
    pub(crate) async fn acknowledged(&self) -> bool {
        if self.protocol == Protocol::YWebsocket {
            self.ask_what_is_lacking().await;
        }
        let is_stored = |seen: &Seen| match self.protocol {
            Protocol::YWebsocket => seen.replies >= seen.asked,
            Protocol::Hocuspocus => seen.accepted >= seen.owed,
        };
        let seen = self
            .watch("all is stored", |seen| is_stored(seen) || seen.is_closed)
            .await;
        is_stored(&seen)
    }

    /// Waits until the server has answered everything that was asked, or has ended the connection.
    pub(crate) async fn answered_or_closed(&self) -> Seen {
        let is_over = |seen: &Seen| seen.replies >= seen.asked || seen.is_closed;
        self.watch("an answer", is_over).await
    }

    /// Waits until what was seen fits; fails where the connection ends before.
    pub(crate) async fn see(&self, what: &str, is_seen: impl Fn(&Seen) -> bool) -> Seen {
        let seen = self
            .watch(what, |seen| is_seen(seen) || seen.is_closed)
            .await;
        assert!(
            is_seen(&seen),
            "the connection ended before: {what}; {seen:?}"
        );
        seen
    }

    /// Waits for the connection's end; its close code.
    pub(crate) async fn closed(&self) -> Option<u16> {
        self.closed_within(SOON).await
    }

    /// Waits for the connection's end for so long; its close code.
    pub(crate) async fn closed_within(&self, limit: Duration) -> Option<u16> {
        let seen = self
            .watch_within(limit, "the connection ends", |seen| seen.is_closed)
            .await;
        seen.close_code
    }

    /// Whether the connection stands.
    pub(crate) fn is_connected(&self) -> bool {
        !self.shared.seen.borrow().is_closed
    }

    /// Waits until the replica fits; fails where the connection ends before.
    pub(crate) async fn sees(&self, what: &str, is_right: impl Fn(&Replica) -> bool) {
        let mut seen = self.shared.seen.subscribe();
        let waiting = async {
            loop {
                let is_closed = seen.borrow_and_update().is_closed;
                if is_right(&self.shared.replica()) {
                    return true;
                }
                if is_closed || seen.changed().await.is_err() {
                    return false;
                }
            }
        };
        let came = timeout(SOON, waiting).await;
        assert_eq!(
            came,
            Ok(true),
            "{what} did not come about: {}",
            self.content()
        );
    }

    /// Reads the replica.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Replica) -> T) -> T {
        read(&self.shared.replica())
    }

    /// Everything in the replica.
    pub(crate) fn content(&self) -> Value {
        self.shared.replica().content()
    }

    /// Asks for what the replica lacks: sync step 1.
    pub(crate) async fn ask_what_is_lacking(&self) {
        let state_vector = self.shared.replica().state_vector();
        self.shared.seen.send_modify(|seen| seen.asked += 1);
        self.send_message(&wire::sync(wire::STEP_1, &state_vector))
            .await;
    }

    async fn watch(&self, what: &str, is_seen: impl Fn(&Seen) -> bool) -> Seen {
        self.watch_within(SOON, what, is_seen).await
    }

    async fn watch_within(
        &self,
        limit: Duration,
        what: &str,
        is_seen: impl Fn(&Seen) -> bool,
    ) -> Seen {
        let mut seen = self.shared.seen.subscribe();
        let came = timeout(limit, seen.wait_for(is_seen)).await;
        let Ok(came) = came else {
            panic!("{what} did not come about: {:?}", self.shared.seen.borrow());
        };
        came.expect("the editor is there").clone()
    }
}

async fn write(mut sending: Sending, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    while let Some(frame) = outgoing.recv().await {
        if sending.send(Message::Binary(frame.into())).await.is_err() {
            return;
        }
    }
}

/// Reads what the server sends.
struct ReaderTask {
    protocol: Protocol,
    work: String,
    shared: Arc<Shared>,
    frames: mpsc::Sender<Vec<u8>>,
}

impl ReaderTask {
    async fn run(self, mut receiving: Receiving) {
        let mut code = None;
        while let Some(Ok(message)) = receiving.next().await {
            match message {
                Message::Binary(frame) => self.frame(&frame).await,
                Message::Close(frame) => code = frame.map(|frame| frame.code.into()),
                _ => {}
            }
        }
        self.shared.seen.send_modify(|seen| {
            seen.is_closed = true;
            seen.close_code = code;
        });
    }

    async fn frame(&self, frame: &[u8]) {
        if self.protocol == Protocol::Hocuspocus && frame == [9] {
            drop(self.frames.send(vec![10]).await);
            return;
        }
        let mut reader = Reader(frame);
        if self.protocol == Protocol::Hocuspocus {
            assert_eq!(
                reader.text(),
                self.work,
                "an answer goes to the address that was given"
            );
        }
        while !reader.is_at_end() {
            let kind = reader.number() as u8;
            match kind {
                wire::SYNC => self.sync(&mut reader).await,
                wire::AWARENESS => self.awareness(reader.bytes()),
                wire::AUTH => self.auth(&mut reader),
                wire::SYNC_STATUS => self.status(reader.number()),
                wire::CLOSE => {
                    let reason = reader.text();
                    self.shared
                        .seen
                        .send_modify(|seen| seen.let_go = Some(reason));
                }
                other => panic!("a message of an unknown type came: {other}"),
            }
        }
    }

    async fn sync(&self, reader: &mut Reader<'_>) {
        let step = reader.number() as u8;
        let payload = reader.bytes();
        match step {
            wire::STEP_1 => {
                let difference = self.shared.replica().difference(payload);
                self.shared.seen.send_modify(|seen| {
                    seen.owed += 1;
                    seen.answered += 1;
                });
                let message = wire::sync(wire::STEP_2, &difference);
                drop(
                    self.frames
                        .send(self.protocol.frame(&self.work, &message))
                        .await,
                );
            }
            wire::STEP_2 => {
                self.shared.replica().apply(payload);
                self.shared.seen.send_modify(|seen| seen.replies += 1);
            }
            wire::UPDATE => {
                self.shared.replica().apply(payload);
                self.shared.seen.send_modify(|_| {});
            }
            other => panic!("a sync message of an unknown kind came: {other}"),
        }
    }

    fn awareness(&self, update: &[u8]) {
        let mut reader = Reader(update);
        let count = reader.number();
        self.shared.seen.send_modify(|seen| {
            for _ in 0..count {
                let (client, clock) = (reader.number(), reader.number());
                let state = serde_json::from_str(&reader.text()).expect("awareness is JSON");
                seen.awareness.insert(client, (clock, state));
            }
        });
    }

    fn auth(&self, reader: &mut Reader<'_>) {
        let kind = reader.number();
        if kind == 0 {
            return;
        }
        let text = reader.text();
        self.shared.seen.send_modify(|seen| match kind {
            1 => seen.denied = Some(text),
            _ => seen.scope = Some(text),
        });
    }

    fn status(&self, status: u64) {
        self.shared.seen.send_modify(|seen| match status {
            1 => seen.accepted += 1,
            _ => seen.rejected += 1,
        });
    }
}
