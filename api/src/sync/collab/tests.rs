//! A shared socket before anybody was let in: what waits, what is refused, what ends the socket. What follows a good
//! token is seen from outside (`tests/`).

use std::any::Any;

use async_trait::async_trait;
use domain::document::{DocumentOptions, DocumentService};
use domain::event::Sequence;
use domain::ids::WorkspaceId;
use domain::people::Caller;
use domain::store::{ErasedCommand, Reads, Signal, Store};
use domain::time::SystemClock;
use domain::turn::TurnWake;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::super::access::AccessWatch;
use super::super::limits::{PlaceLimits, Places};
use super::*;
use crate::auth::Authenticate;

/// A store that nobody may reach without a token.
struct Unreachable;

#[async_trait]
impl Store for Unreachable {
    async fn run_erased(
        &self,
        _command: Arc<dyn ErasedCommand>,
    ) -> domain::Result<Box<dyn Any + Send>> {
        unreachable!("nothing is stored for a stranger")
    }
    fn reads(&self) -> &dyn Reads {
        unreachable!("nothing is read for a stranger")
    }
    fn follow(&self, _workspace: WorkspaceId) -> watch::Receiver<Sequence> {
        watch::channel(Sequence(0)).1
    }
    fn follow_logs(&self) -> broadcast::Receiver<(WorkspaceId, Sequence)> {
        broadcast::channel(1).1
    }

    fn follow_jobs(&self) -> watch::Receiver<u64> {
        watch::channel(0).1
    }

    fn follow_access(&self) -> watch::Receiver<u64> {
        watch::channel(0).1
    }
    fn follow_turns(&self) -> broadcast::Receiver<TurnWake> {
        broadcast::channel(1).1
    }
    fn follow_signals(&self) -> broadcast::Receiver<Signal> {
        broadcast::channel(1).1
    }
    async fn signal(&self, _signal: Signal) -> domain::Result<()> {
        Ok(())
    }
}

/// Knows nobody.
struct Stranger;

#[async_trait]
impl Authenticate for Stranger {
    async fn authenticate(&self, _bearer: Option<&str>) -> domain::Result<Caller> {
        let reason = "the token is not known".to_owned();
        Err(domain::Error::Unauthenticated(reason))
    }
    async fn revoked(&self, _caller: Caller) {}
}

fn socket() -> (impl Incoming, impl Outgoing) {
    let store: domain::store::SharedStore = Arc::new(Unreachable);
    let clock: SharedClock = Arc::new(SystemClock);
    let stop = CancellationToken::new();
    let limits = PlaceLimits {
        per_person: 10,
        per_document: 10,
    };
    let options = DocumentOptions::default();
    let doorway = Doorway {
        documents: DocumentService::start(options, store.clone(), clock.clone()),
        store: store.clone(),
        authenticate: Arc::new(Stranger),
        watch: AccessWatch::start(store, clock.clone(), stop),
        places: Places::new(limits),
    };
    halves(CollabContext {
        doorway: Arc::new(doorway),
        clock,
        token: None,
        document_limit: 3,
    })
}

fn message(address: &str, rest: &[u8]) -> Bytes {
    let mut frame = vec![address.len() as u8];
    frame.extend(address.as_bytes());
    frame.extend(rest);
    frame.into()
}

fn token(address: &str) -> Bytes {
    message(address, b"\x02\x00\x03abc")
}

async fn answer(outgoing: &mut impl Outgoing) -> Vec<Bytes> {
    let mut frames = Vec::new();
    assert_eq!(outgoing.fill(&mut frames).await, None);
    frames
}

#[tokio::test]
async fn a_refused_token_is_answered_and_keeps_the_socket() {
    let (mut incoming, mut outgoing) = socket();
    for _ in 0..2 {
        incoming.receive(token("d")).await.expect("kept");
        let denied = hocuspocus::permission_denied("d", "the token is not known");
        assert_eq!(answer(&mut outgoing).await, [denied]);
        let later = message("d", &[3]);
        incoming.receive(later).await.expect("kept");
    }
}

#[tokio::test]
async fn what_comes_before_a_token_waits_within_bounds() {
    let (mut incoming, _outgoing) = socket();
    for _ in 0..WAITING_MESSAGES {
        incoming.receive(message("d", &[3])).await.expect("waits");
    }
    let close = incoming.receive(message("e", &[3])).await;
    assert_eq!(close.expect_err("too many").code, Close::TOKEN);
}

#[tokio::test]
async fn what_waited_is_forgotten_with_its_address() {
    let (mut incoming, _outgoing) = socket();
    for _ in 0..3 {
        for _ in 0..WAITING_MESSAGES {
            incoming.receive(message("d", &[3])).await.expect("waits");
        }
        incoming.receive(message("d", &[7])).await.expect("left");
    }
}

#[tokio::test]
async fn bytes_that_wait_are_bounded_over_all_addresses() {
    let (mut incoming, _outgoing) = socket();
    let mut update = b"\x01d\x00\x02".to_vec();
    domain::document::lib0::write_var_bytes(&mut update, &vec![0; WAITING_BYTES / 2]);
    incoming
        .receive(update.clone().into())
        .await
        .expect("waits");
    incoming
        .receive(update.clone().into())
        .await
        .expect("waits");
    update[1] = b'e';
    let close = incoming.receive(update.into()).await;
    assert_eq!(close.expect_err("too much").code, Close::TOKEN);
}

#[tokio::test]
async fn one_document_too_many_is_refused_alone() {
    let (mut incoming, mut outgoing) = socket();
    for address in ["a", "b", "c", "d"] {
        let early = message(address, &[3]);
        incoming.receive(early).await.expect("kept");
    }
    let denied = hocuspocus::permission_denied("d", "a socket holds at most 3 documents");
    assert_eq!(answer(&mut outgoing).await, [denied]);
}

#[tokio::test]
async fn malformed_frames_and_broadcasts_end_the_socket() {
    let frames = [
        (message("d", &[4]), Close::MALFORMED),
        (Bytes::new(), Close::MALFORMED),
        (message("d", b"\x06\x01x"), Close::PERMISSION),
    ];
    for (frame, code) in frames {
        let (mut incoming, _outgoing) = socket();
        let close = incoming.receive(frame).await;
        assert_eq!(close.expect_err("the end").code, code);
    }
}

#[tokio::test]
async fn a_text_for_the_server_and_a_pong_are_let_pass() {
    let (mut incoming, _outgoing) = socket();
    let stateless = message("d", b"\x05\x01x");
    incoming.receive(stateless).await.expect("passes");
    incoming
        .receive(Bytes::from_static(&[10]))
        .await
        .expect("passes");
}

#[tokio::test]
async fn clients_that_tell_their_version_are_kept_alive_by_pings_and_others_by_empty_awareness() {
    let (mut incoming, mut outgoing) = socket();
    incoming.receive(token("d")).await.expect("kept");
    answer(&mut outgoing).await;
    let silent = hocuspocus::keep_alive("");
    assert_eq!(outgoing.keep_alive(), Some(silent));
    let versioned = message("d", b"\x02\x00\x03abc\x054.8.0");
    incoming.receive(versioned).await.expect("kept");
    answer(&mut outgoing).await;
    assert_eq!(outgoing.keep_alive(), Some(hocuspocus::ping()));
}
