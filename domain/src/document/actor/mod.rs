//! The actor of one open document: owns the live replica, and takes messages one after the other.
//!
//! Invariants
//! - What is applied to the replica and not yet stored is in `pending` or `in_flight`, and nobody has been told of it:
//!   every answer, acknowledgement and frame waits for the commit of all that was applied before it.
//! - At most one commit is under way; what comes meanwhile is applied, gathered and stored with the next one.
//! - A structured edit is alone: it starts when all else is stored, and nothing is taken in until it is settled.
//! - After any failure between validation and commit the replica is thrown away, and nothing is made of it: a snapshot
//!   holds exactly what the log holds up to its version.
//!
//! Not here: finding or opening actors (`service`), bytes of protocols (`api`).

mod application;
mod batch;
mod commit;
mod edits;
mod rest;
mod sync;
mod unplaced;

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::MissedTickBehavior;

use crate::actor::Actor;
use crate::document::attribution::Attribution;
use crate::document::lib0::MAX_SAFE_INTEGER;
use crate::document::outbox::Outbox;
use crate::document::presence::{PresenceMap, Source};
use crate::document::replica::Replica;
use crate::document::room::{Access, Inbound, Join, Outbound, Presence};
use crate::document::service::Shared;
use crate::document::threads::OwnThread;
use crate::document::{UpdateLimits, Version};
use crate::error::{Error, Result};
use crate::ids::ConnectionId;
use crate::time::Timestamp;
use crate::work::Work;

pub(crate) use edits::{Edit, EditRequest};

use batch::{Batch, Flight};
use rest::Resident;
use unplaced::Unplaced;

/// Messages taken at once.
const BURST: usize = 256;
/// How often a document with connections looks after expired presence and dropped connections.
const CARE_INTERVAL: Duration = Duration::from_secs(5);
/// How long a document works before others on its thread get a turn.
const TURN: Duration = Duration::from_millis(5);
/// Stored bytes from which on a document has a thread of its own, and of an update that it is taken in on one.
const LARGE_DOCUMENT: usize = 128 << 10;
const LARGE_UPDATE: usize = 64 << 10;

/// What an actor is asked. Every open document has room for some of them, so what is rare and large is boxed.
pub(crate) enum Message {
    /// Somebody joins.
    Join(Box<Join>, Arc<Outbox>, Arc<AtomicBool>, oneshot::Sender<()>),
    /// Somebody's editor sent a frame.
    Frame(ConnectionId, Inbound),
    /// Somebody leaves.
    Leave(ConnectionId),
    /// A structured edit, or a raw update through the API.
    Edit(Box<EditRequest>),
    /// Presence, and how to follow it.
    Presence(oneshot::Sender<watch::Receiver<Vec<Presence>>>),
    /// Somebody without a connection is at a node: who, the name that others see, which node.
    Show(Box<(Actor, String, Option<String>)>),
    /// Awareness from another process; none asks for ours.
    Signal(uuid::Uuid, Option<Bytes>),
    /// The log holds this version.
    CatchUp(Version),
    /// The server stops.
    Stop,
}

/// Whether an actor goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Open,
    /// Nobody needs the document; all is stored.
    Ended,
    /// The replica can not be trusted any more.
    Failed,
}

/// Where an actor lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    SharedThread,
    OwnThread,
}

/// A connection, as the actor sees it.
struct Peer {
    actor: Actor,
    label: String,
    may_write: Arc<AtomicBool>,
    outbox: Arc<Outbox>,
    unplaced: Unplaced,
}

/// The actor of one open document.
pub(crate) struct DocumentActor {
    shared: Arc<Shared>,
    work: Work,
    replica: Resident,
    attribution: Attribution,
    /// The stored version that everybody has been told of.
    version: Version,
    /// The highest version that is known to be in the log.
    log_head: Version,
    peers: HashMap<ConnectionId, Peer>,
    presence: PresenceMap,
    presence_watch: watch::Sender<Vec<Presence>>,
    pending: Batch,
    in_flight: Option<Flight>,
    edits: VecDeque<EditRequest>,
    growth: commit::Growth,
    unused_since: Option<Timestamp>,
    is_stopping: bool,
    /// Since care was last taken of it.
    was_used: bool,
    life: Life,
    home: Home,
    /// Messages that were received and not taken yet.
    received: VecDeque<Message>,
}

impl DocumentActor {
    /// Opens a document from the store.
    pub(crate) async fn open(shared: Arc<Shared>, work: Work) -> Result<Self> {
        let (stored, touches) = shared.load(work.id).await?;
        let growth = commit::Growth::of(&stored);
        let version = stored
            .changes
            .last()
            .map(|(version, _)| *version)
            .or(stored.snapshot.as_ref().map(|snapshot| snapshot.version));
        let version = version.unwrap_or_default();
        let kind = work.kind;
        let building = move || Replica::build(kind, UpdateLimits::default(), &stored);
        let replica = shared.threads.compute(building).await?;
        let replica = replica.map_err(|failure| Error::Internal(failure.into()))?;
        Ok(Self {
            shared,
            work,
            replica: Resident::new(replica),
            attribution: Attribution::new(touches),
            version,
            log_head: version,
            peers: HashMap::new(),
            presence: PresenceMap::default(),
            presence_watch: watch::channel(Vec::new()).0,
            pending: Batch::default(),
            in_flight: None,
            edits: VecDeque::new(),
            growth,
            unused_since: None,
            is_stopping: false,
            was_used: true,
            life: Life::Open,
            home: Home::SharedThread,
            received: VecDeque::new(),
        })
    }

    /// Runs until nobody needs the document any more, or it fails. Messages left in the mailbox are for a new actor.
    /// Returns itself where it has to go on on a thread of its own.
    pub(crate) async fn run(
        mut self,
        mailbox: &mut mpsc::Receiver<Message>,
    ) -> Option<(Self, OwnThread)> {
        self.ask_for_presence();
        let mut burst = Vec::with_capacity(16);
        let mut care = tokio::time::interval(CARE_INTERVAL.min(self.idle_time()));
        care.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while self.life == Life::Open {
            if let Some(thread) = self.way_out() {
                self.home = Home::OwnThread;
                return Some((self, thread));
            }
            let may_take =
                self.edits.is_empty() && !self.in_flight.as_ref().is_some_and(Flight::is_edit);
            let may_receive = may_take && self.received.is_empty();
            tokio::select! {
                biased;
                result = settled(&mut self.in_flight) => self.settle(result).await,
                _ = mailbox.recv_many(&mut burst, BURST), if may_receive => {
                    if burst.is_empty() {
                        break;
                    }
                    self.received.extend(burst.drain(..));
                    continue;
                }
                () = std::future::ready(()), if may_take && !may_receive => self.take_received().await,
                _ = care.tick() => self.care(mailbox),
            }
            self.advance().await;
        }
        self.end().await;
        None
    }

    /// A thread of its own, where this document needs one and one is left.
    fn way_out(&self) -> Option<OwnThread> {
        let is_large = |message: &Message| match message {
            Message::Frame(_, Inbound::Update(update) | Inbound::SyncStep2(update)) => {
                update.len() > LARGE_UPDATE
            }
            Message::Edit(request) => request.edit.bytes() > LARGE_UPDATE,
            _ => false,
        };
        let needs_one = self.home == Home::SharedThread
            && (self.growth.bytes() > LARGE_DOCUMENT
                || self.received.front().is_some_and(is_large));
        needs_one.then(|| self.shared.threads.own()).flatten()
    }

    /// Takes what was received, for as long as its turn lasts.
    async fn take_received(&mut self) {
        let began = Instant::now();
        while self.life == Life::Open && self.edits.is_empty() {
            let Some(message) = self.received.pop_front() else {
                return;
            };
            self.take(message).await;
            if began.elapsed() > TURN {
                return tokio::task::yield_now().await;
            }
        }
    }

    async fn take(&mut self, message: Message) {
        self.wake_for(&message).await;
        match message {
            Message::Join(join, outbox, may_write, reply) => {
                self.join(*join, outbox, may_write, reply);
            }
            Message::Frame(connection, frame) => self.frame(connection, frame).await,
            Message::Leave(connection) => self.leave(connection),
            Message::Edit(request) => self.take_edit(*request).await,
            Message::Presence(reply) => self.follow_presence(reply),
            Message::Show(shown) => {
                let (actor, label, node) = *shown;
                self.show(actor, label, node.as_deref());
            }
            Message::Signal(process, payload) => self.signal(process, payload),
            Message::CatchUp(version) => self.log_head = self.log_head.max(version),
            Message::Stop => {
                self.close_all(1012, "the server restarts");
                self.is_stopping = true;
            }
        }
    }

    /// Does what can be done now: catches up, runs the next edit, or stores what is pending.
    async fn advance(&mut self) {
        while self.life == Life::Open && self.in_flight.is_none() {
            if self.log_head > self.version {
                self.wake().await;
                self.catch_up(self.log_head).await;
            } else if !self.pending.is_empty() {
                self.store_pending();
            } else if let Some(request) = self.edits.pop_front() {
                self.run_edit(request).await;
            } else {
                if self.is_stopping {
                    self.life = Life::Ended;
                }
                return;
            }
        }
    }

    fn join(
        &mut self,
        join: Join,
        outbox: Arc<Outbox>,
        may_write: Arc<AtomicBool>,
        reply: oneshot::Sender<()>,
    ) {
        if let Some(everybody) = self.presence.everybody() {
            outbox.push(Outbound::Awareness(everybody));
        }
        let peer = Peer {
            actor: join.actor,
            label: join.label,
            may_write,
            outbox,
            unplaced: Unplaced::default(),
        };
        self.peers.insert(join.connection, peer);
        // Whoever no longer waits has dropped its connection, and is swept out.
        let _ = reply.send(());
    }

    fn leave(&mut self, connection: ConnectionId) {
        self.peers.remove(&connection);
        let gone = self.presence.leave(connection);
        self.tell_presence(gone);
    }

    /// What is followed is kept up to date only while somebody does.
    fn follow_presence(&self, reply: oneshot::Sender<watch::Receiver<Vec<Presence>>>) {
        self.presence_watch.send_replace(self.presence.list());
        drop(reply.send(self.presence_watch.subscribe()));
    }

    fn show(&mut self, actor: Actor, label: String, node: Option<&str>) {
        let speaker = self.shared.speaker(&actor);
        let source = Source::Connection {
            connection: ConnectionId::from_uuid(speaker),
            actor,
            label,
        };
        let client = speaker.as_u128() as u64 & MAX_SAFE_INTEGER;
        match self.presence.show(client, node, &source, self.shared.now()) {
            Ok(accepted) => self.tell_presence(accepted),
            // Presence is a courtesy: who edits is told by the change itself.
            Err(error) => tracing::debug!(document.id = %self.work.id, %error, "not shown"),
        }
    }

    fn signal(&mut self, process: uuid::Uuid, payload: Option<Bytes>) {
        let Some(payload) = payload else {
            if let Some(own) = self.presence.own() {
                self.shared.signal_presence(self.work.id, Some(own));
            }
            return;
        };
        match self.presence.apply(
            &payload,
            &Source::Process(process),
            self.shared.options.awareness_bytes,
            self.shared.now(),
        ) {
            Ok(accepted) => self.show_presence(accepted),
            Err(error) => {
                tracing::warn!(document.id = %self.work.id, %error, "another process sent awareness that can not be read");
            }
        }
    }

    fn ask_for_presence(&self) {
        self.shared.signal_presence(self.work.id, None);
    }

    /// Tells everybody, other processes included.
    fn tell_presence(&mut self, update: Option<Bytes>) {
        if let Some(update) = &update {
            self.shared
                .signal_presence(self.work.id, Some(update.clone()));
        }
        self.show_presence(update);
    }

    /// Tells everybody in this process.
    fn show_presence(&mut self, update: Option<Bytes>) {
        let Some(update) = update else { return };
        for peer in self.peers.values() {
            peer.outbox.push(Outbound::Awareness(update.clone()));
        }
        if self.presence_watch.receiver_count() > 0 || !self.presence_watch.borrow().is_empty() {
            self.presence_watch.send_replace(self.presence.list());
        }
    }

    fn idle_time(&self) -> Duration {
        Duration::from_millis(self.shared.options.idle_ms.max(1))
    }

    fn is_unused(&self) -> bool {
        self.peers.is_empty() && self.presence_watch.receiver_count() == 0
    }

    fn care(&mut self, mailbox: &mut mpsc::Receiver<Message>) {
        let dropped: Vec<_> = self
            .peers
            .iter()
            .filter(|(_, peer)| Arc::strong_count(&peer.outbox) == 1)
            .map(|(id, _)| *id)
            .collect();
        for connection in dropped {
            self.leave(connection);
        }
        let expired = self.presence.expire(self.shared.now());
        self.tell_presence(expired);
        if !self.is_unused() {
            self.unused_since = None;
            return self.rest_if_unused();
        }
        let now = self.shared.now();
        let is_idle = now.since(*self.unused_since.get_or_insert(now)) >= self.idle_time();
        if is_idle && self.in_flight.is_none() && self.pending.is_empty() && self.edits.is_empty() {
            mailbox.close();
            self.life = Life::Ended;
        }
    }

    fn close_all(&mut self, code: u16, reason: &str) {
        for (_, peer) in self.peers.drain() {
            peer.outbox.close(code, reason);
        }
    }

    /// Gives up this replica: everybody comes back to a new one, built from the log.
    fn fail(&mut self, failure: &dyn std::fmt::Display) {
        tracing::error!(document.id = %self.work.id, %failure, "a live document failed and is built anew from its log");
        self.shared.count_failure();
        self.close_all(1013, "the document is being reloaded; reconnect");
        self.pending.refuse(failure);
        self.life = Life::Failed;
    }

    fn access_of(&self, connection: ConnectionId) -> Option<Access> {
        let peer = self.peers.get(&connection)?;
        Some(if peer.may_write.load(Ordering::Relaxed) {
            Access::Write
        } else {
            Access::Read
        })
    }
}

/// The result of the commit that is under way; never, where none is.
async fn settled(flight: &mut Option<Flight>) -> Result<crate::work::Appended> {
    match flight {
        Some(flight) => Pin::new(&mut flight.commit).await,
        None => std::future::pending().await,
    }
}
