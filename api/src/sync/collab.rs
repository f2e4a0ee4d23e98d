//! The inbound half of a Hocuspocus socket: which documents it holds, by address, and what each is allowed.
//!
//! Invariants
//! - Nothing of an address is handed to a document before a token for that address was accepted; what comes earlier
//!   waits, bounded for the whole socket, and for no longer than the deadline whatever else arrives.
//! - A refused address keeps the socket and nothing else: a later token starts anew.
//! - A token that is about to expire is asked for again in time; one that has gone takes its documents away at once.
//!
//! Not here: bytes (`hocuspocus`), what goes out (`collab_out`), permissions (`doorway`).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use domain::document::{Access, Inbound};
use domain::time::SharedClock;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};

use super::close::Close;
use super::collab_out::{CollabOutgoing, Control};
use super::doorway::{Admitted, Doorway, Joined, access_of, judge};
use super::hocuspocus::{self, Frame, Message};
use super::metrics::refused;
use super::plain::ask_back;
use super::socket::{Incoming, Outgoing};

/// The name of the protocol in metrics.
pub(crate) const PROTOCOL: &str = "hocuspocus";

/// How long an address may wait for its token, and a socket for its first one.
const TOKEN_WAIT: Duration = Duration::from_secs(10);
/// How long a socket stays that was only refused.
const REFUSED_WAIT: Duration = Duration::from_mins(5);
/// How long before its expiry a token is asked for again.
const REFRESH_AHEAD: Duration = Duration::from_secs(30);
/// Bytes that may wait for tokens on one socket.
const WAITING_BYTES: usize = 5 << 20;
/// Messages that may wait for tokens on one socket.
const WAITING_MESSAGES: usize = 1_000;
/// Answers that may wait for the writing half; reading waits for it then.
const CONTROLS: usize = 16;

/// What a socket brings with it.
pub(crate) struct CollabContext {
    pub(crate) doorway: Arc<Doorway>,
    pub(crate) clock: SharedClock,
    /// The token of the socket's own request: counts where an address shows none.
    pub(crate) token: Option<String>,
    /// Documents that may be on the socket.
    pub(crate) document_limit: usize,
}

/// What comes from the editors of a socket.
pub(crate) struct CollabIncoming {
    context: CollabContext,
    documents: HashMap<Arc<str>, Held>,
    controls: mpsc::Sender<Control>,
    /// Orders that the writing half has not got yet: a few for each document at most.
    orders: VecDeque<Control>,
    changed: Arc<Notify>,
    next_slot: u64,
    waiting_bytes: usize,
    waiting_messages: usize,
    opened_at: Instant,
    /// When the socket ends unless somebody has been let in by then.
    end_at: Option<Instant>,
    /// When the next deadline of any kind is.
    review_at: Instant,
}

/// What is known of an address.
enum Held {
    /// No token came yet.
    Waiting { queue: Vec<Inbound>, until: Instant },
    /// A token was accepted.
    Joined(Box<Member>),
    /// Refused, or taken away.
    Denied,
}

/// When a client is asked for a fresh token: once for each token, before it expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refresh {
    /// It is not known whether the token expires.
    Unknown,
    /// To be asked then.
    At(Instant),
    /// It was asked; the same token again changes nothing.
    Asked,
}

struct Member {
    slot: u64,
    joined: Joined,
    /// Set by the writing half when the document has ended the connection.
    is_over: Arc<AtomicBool>,
    refresh: Refresh,
    is_resync_due: bool,
}

/// The two halves of a socket that was just opened.
pub(crate) fn halves(context: CollabContext) -> (impl Incoming, impl Outgoing) {
    let (controls, orders) = mpsc::channel(CONTROLS);
    let opened_at = Instant::now();
    let end_at = opened_at + TOKEN_WAIT;
    let incoming = CollabIncoming {
        context,
        documents: HashMap::new(),
        controls,
        orders: VecDeque::new(),
        changed: Arc::default(),
        next_slot: 0,
        waiting_bytes: 0,
        waiting_messages: 0,
        opened_at,
        end_at: Some(end_at),
        review_at: end_at,
    };
    (incoming, CollabOutgoing::new(orders))
}

impl Incoming for CollabIncoming {
    async fn receive(&mut self, frame: Bytes) -> Result<(), Close> {
        let Ok(frame) = hocuspocus::decode(&frame) else {
            refused(PROTOCOL, "malformed");
            return Err(Close::new(Close::MALFORMED, "no Hocuspocus message"));
        };
        let Frame::Addressed(address, message) = frame else {
            return Ok(());
        };
        let outcome = match message {
            Message::Document(inbound) => self.pass(address, inbound).await,
            Message::Token {
                token,
                tells_version,
            } => {
                if tells_version {
                    self.orders.push_back(Control::UsePing);
                }
                self.authorise(address, Some(token)).await
            }
            Message::Leave => {
                self.let_go(address);
                Ok(())
            }
            Message::Stateless => {
                refused(PROTOCOL, "stateless");
                Ok(())
            }
            Message::BroadcastStateless => {
                refused(PROTOCOL, "broadcast");
                let reason = "only servers may send broadcasts";
                Err(Close::new(Close::PERMISSION, reason))
            }
        };
        self.hand_over().await;
        outcome
    }

    async fn attend(&mut self) -> Close {
        loop {
            self.hand_over().await;
            self.resync().await;
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep_until(self.review_at) => {}
            }
            if let Err(close) = self.review() {
                return close;
            }
        }
    }
}

impl CollabIncoming {
    /// Hands a message to its document, or keeps it until a token comes.
    async fn pass(&mut self, address: &str, inbound: Inbound) -> Result<(), Close> {
        let has_room = self.has_room();
        match self.documents.get_mut(address) {
            Some(Held::Joined(member)) => member.joined.connection.send(inbound).await,
            Some(Held::Denied) => refused(PROTOCOL, "denied"),
            Some(Held::Waiting { .. }) => return self.keep(address, inbound),
            None if self.context.token.is_some() => {
                self.authorise(address, None).await?;
                if let Some(Held::Joined(member)) = self.documents.get_mut(address) {
                    member.joined.connection.send(inbound).await;
                }
            }
            None if has_room => {
                let until = Instant::now() + TOKEN_WAIT;
                let waiting = Held::Waiting {
                    queue: Vec::new(),
                    until,
                };
                self.documents.insert(address.into(), waiting);
                self.review_at = self.review_at.min(until);
                return self.keep(address, inbound);
            }
            None => self.refuse_one_more(address),
        }
        Ok(())
    }

    fn keep(&mut self, address: &str, inbound: Inbound) -> Result<(), Close> {
        self.waiting_bytes += size_of(&inbound);
        self.waiting_messages += 1;
        if self.waiting_bytes > WAITING_BYTES || self.waiting_messages > WAITING_MESSAGES {
            refused(PROTOCOL, "early");
            let reason = "too much was sent before a token";
            return Err(Close::new(Close::TOKEN, reason));
        }
        if let Some(Held::Waiting { queue, .. }) = self.documents.get_mut(address) {
            queue.push(inbound);
        }
        Ok(())
    }

    /// Takes what waited at an address off the books.
    fn take_queue(&mut self, address: &str) -> Vec<Inbound> {
        let Some(Held::Waiting { queue, .. }) = self.documents.get_mut(address) else {
            return Vec::new();
        };
        let queue = std::mem::take(queue);
        self.waiting_messages -= queue.len();
        self.waiting_bytes -= queue.iter().map(size_of).sum::<usize>();
        queue
    }

    fn has_room(&self) -> bool {
        self.documents.len() < self.context.document_limit
    }

    fn refuse_one_more(&mut self, address: &str) {
        let limit = self.context.document_limit;
        let reason = format!("a socket holds at most {limit} documents");
        self.say(hocuspocus::permission_denied(address, &reason));
    }

    /// Judges a token for an address, and joins, keeps or refuses it.
    async fn authorise(&mut self, address: &str, token: Option<String>) -> Result<(), Close> {
        if !self.documents.contains_key(address) && !self.has_room() {
            self.refuse_one_more(address);
            return Ok(());
        }
        let token = token
            .filter(|token| !token.is_empty())
            .or_else(|| self.context.token.clone());
        let name = hocuspocus::document_name(address);
        let doorway = self.context.doorway.clone();
        let outcome = match doorway.admit(token.as_deref(), name).await {
            Ok(admitted) if self.is_the_same_person(address, &admitted) => {
                self.renew(address, &admitted);
                Ok(())
            }
            Ok(admitted) => self.join(address, &admitted).await,
            Err(close) => Err(close),
        };
        match outcome {
            Err(close) if close.is_about_one_document() => {
                self.deny(address, &close);
                if let Some(end_at) = &mut self.end_at {
                    *end_at = self.opened_at + REFUSED_WAIT;
                }
            }
            Err(close) => return Err(close),
            Ok(()) => self.end_at = None,
        }
        self.plan_review();
        Ok(())
    }

    fn is_the_same_person(&self, address: &str, admitted: &Admitted) -> bool {
        match self.documents.get(address) {
            Some(Held::Joined(member)) => {
                let is_over = member.is_over.load(Ordering::Relaxed);
                !is_over && member.joined.caller.user == admitted.caller.user
            }
            _ => false,
        }
    }

    /// A live document got a fresh token.
    fn renew(&mut self, address: &str, admitted: &Admitted) {
        let changed = self.changed.clone();
        let Some(Held::Joined(member)) = self.documents.get_mut(address) else {
            return;
        };
        if member.joined.caller.token != admitted.caller.token {
            member.refresh = Refresh::Unknown;
        }
        member.joined.caller = admitted.caller;
        member.joined.rights = self.context.doorway.watch(admitted, changed);
        let access = access_of(admitted.role);
        member.joined.connection.set_access(access);
        self.say(hocuspocus::authenticated(address, access));
    }

    async fn join(&mut self, address: &str, admitted: &Admitted) -> Result<(), Close> {
        let queue = self.take_queue(address);
        self.detach(address);
        // Its place is free before the new one is taken.
        self.documents.remove(address);
        let changed = self.changed.clone();
        let joined = self.context.doorway.join(admitted, changed).await?;
        let (slot, is_over) = (self.next_slot, Arc::new(AtomicBool::new(false)));
        self.next_slot += 1;
        let address: Arc<str> = address.into();
        let access = access_of(admitted.role);
        self.say(hocuspocus::authenticated(&address, access));
        let connection = joined.connection.clone();
        self.orders.push_back(Control::Attach {
            slot,
            address: address.clone(),
            connection: connection.clone(),
            is_over: is_over.clone(),
        });
        let member = Member {
            slot,
            joined,
            is_over,
            refresh: Refresh::Unknown,
            is_resync_due: false,
        };
        self.documents
            .insert(address, Held::Joined(Box::new(member)));
        for inbound in queue {
            connection.send(inbound).await;
        }
        Ok(())
    }

    /// Refuses an address, or takes its document away.
    fn deny(&mut self, address: &str, close: &Close) {
        self.take_queue(address);
        self.detach(address);
        self.documents.insert(address.into(), Held::Denied);
        self.say(hocuspocus::permission_denied(address, &close.reason));
    }

    fn let_go(&mut self, address: &str) {
        self.take_queue(address);
        self.detach(address);
        self.documents.remove(address);
    }

    fn detach(&mut self, address: &str) {
        if let Some(Held::Joined(member)) = self.documents.get(address) {
            let slot = member.slot;
            self.orders.push_back(Control::Detach(slot));
        }
    }

    /// Looks at changed rights and passed deadlines.
    fn review(&mut self) -> Result<(), Close> {
        let now = Instant::now();
        if self.end_at.is_some_and(|end_at| end_at <= now) {
            return Err(Close::new(
                Close::TOKEN,
                "no token that opens a document came",
            ));
        }
        let addresses: Vec<_> = self.documents.keys().cloned().collect();
        for address in addresses {
            if let Err(close) = self.review_one(&address, now) {
                self.deny(&address, &close);
                if close.code == Close::UNKNOWN_WORK {
                    self.say(hocuspocus::close(&address, &close.reason));
                }
            } else if self.is_refresh_due(&address, now) {
                self.say(hocuspocus::token_request(&address));
            }
        }
        self.plan_review();
        Ok(())
    }

    fn review_one(&mut self, address: &str, now: Instant) -> Result<(), Close> {
        match self.documents.get_mut(address) {
            Some(Held::Waiting { until, .. }) if *until <= now => {
                refused(PROTOCOL, "early");
                Err(Close::new(Close::TOKEN, "no token came in time"))
            }
            Some(Held::Joined(member)) => {
                if let Some(standing) = member.joined.rights.take_change() {
                    let access = judge(standing)?;
                    member.joined.connection.set_access(access);
                    member.is_resync_due = access == Access::Write;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether the client is to be asked for a fresh token now; true once for each token.
    fn is_refresh_due(&mut self, address: &str, now: Instant) -> bool {
        let hour = self.context.clock.now();
        let Some(Held::Joined(member)) = self.documents.get_mut(address) else {
            return false;
        };
        if member.refresh == Refresh::Unknown
            && let Some(expires_at) = member.joined.rights.expires_at()
        {
            let left = expires_at.since(hour);
            // A token that lives shorter than the usual notice is asked for when half of that is over.
            let wait = left.saturating_sub(REFRESH_AHEAD).max(left / 2);
            member.refresh = Refresh::At(now + wait);
        }
        let is_due = matches!(member.refresh, Refresh::At(at) if at <= now);
        if is_due {
            member.refresh = Refresh::Asked;
        }
        is_due
    }

    /// Asks editors that may write again for what was refused meanwhile. Cancel-safe.
    async fn resync(&mut self) {
        for held in self.documents.values_mut() {
            if let Held::Joined(member) = held
                && member.is_resync_due
            {
                member.joined.connection.send(ask_back()).await;
                member.is_resync_due = false;
            }
        }
    }

    fn plan_review(&mut self) {
        let deadlines = self.documents.values().filter_map(|held| match held {
            Held::Waiting { until, .. } => Some(*until),
            Held::Joined(member) => match member.refresh {
                Refresh::At(at) => Some(at),
                Refresh::Unknown | Refresh::Asked => None,
            },
            Held::Denied => None,
        });
        let idle = Instant::now() + REFUSED_WAIT;
        self.review_at = deadlines.chain(self.end_at).fold(idle, Instant::min);
    }

    fn say(&mut self, frame: Bytes) {
        self.orders.push_back(Control::Frame(frame));
    }

    /// Hands the writing half its orders. Cancel-safe.
    async fn hand_over(&mut self) {
        while !self.orders.is_empty() {
            // Where the writing half has ended, the socket is ending as well.
            let Ok(place) = self.controls.reserve().await else {
                return;
            };
            if let Some(order) = self.orders.pop_front() {
                place.send(order);
            }
        }
    }
}

fn size_of(inbound: &Inbound) -> usize {
    match inbound {
        Inbound::SyncStep1(bytes)
        | Inbound::SyncStep2(bytes)
        | Inbound::Update(bytes)
        | Inbound::Awareness(bytes) => bytes.len(),
        Inbound::QueryAwareness => 0,
    }
}

#[cfg(test)]
mod tests;
