//! Updates that come before what they build on: an editor that comes back and types before it has brought its offline edits.

use bytes::Bytes;
use domain::document::{Connection, Inbound, Outbound, Version};
use yrs::updates::decoder::Decode as _;
use yrs::{Doc, GetString as _, ReadTxn as _, StateVector, Text as _, Transact as _};

use crate::place::{Place, on_both_databases};
use crate::studio::{Process, Studio, receive};

on_both_databases![
    what_came_too_early_is_acknowledged_when_it_is_stored_and_no_sooner,
    an_editor_that_can_not_bring_what_it_builds_on_is_told,
];

/// An editor that writes one text, letter by letter.
struct Typist(Doc);

impl Typist {
    fn new() -> Self {
        Self(Doc::new())
    }

    /// Appends, and gives the update.
    fn types(&self, text: &str) -> Bytes {
        let root = self.0.get_or_insert_text("text");
        let mut txn = self.0.transact_mut();
        let end = root.get_string(&txn).len() as u32;
        root.insert(&mut txn, end, text);
        txn.encode_update_v1().into()
    }

    /// What somebody with this state vector lacks.
    fn answers(&self, question: &Outbound) -> Inbound {
        let Outbound::SyncStep1(state_vector) = question else {
            panic!("{question:?} is no question");
        };
        let known = StateVector::decode_v1(state_vector).expect("a state vector");
        let difference = self.0.transact().encode_state_as_update_v1(&known);
        Inbound::SyncStep2(difference.into())
    }
}

fn is_question(frame: &Outbound) -> bool {
    matches!(frame, Outbound::SyncStep1(_))
}

/// The next frame but changes, which go to everybody.
async fn next(editor: &Connection) -> Outbound {
    let is_own = |frame: &Outbound| !matches!(frame, Outbound::Update(_));
    receive(editor, "a frame", is_own).await
}

async fn version(process: &Process, work: domain::ids::WorkId) -> Version {
    process.content(work).await.version
}

/// Found by killing the server: the answer to an earlier question acknowledged an update that was not stored.
async fn what_came_too_early_is_acknowledged_when_it_is_stored_and_no_sooner(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process();
    let work = studio.create_text(&process, "|").await;
    let editor = studio.join(&process, work).await;
    let first_question = receive(&editor, "a question", is_question).await;
    let typist = Typist::new();
    typist.types("offline ");
    let early_answer = typist.answers(&first_question);
    editor.send(Inbound::Update(typist.types("early "))).await;
    let second_question = receive(&editor, "a question", is_question).await;
    // It asks, as y-websocket's clients do to learn that all is stored.
    editor
        .send(Inbound::SyncStep1(Bytes::from_static(&[0])))
        .await;
    editor.send(early_answer).await;
    assert_eq!(next(&editor).await, Outbound::Acknowledged(true));
    assert_eq!(version(&process, work).await, Version(2));
    editor.send(typist.answers(&second_question)).await;
    assert_eq!(next(&editor).await, Outbound::Acknowledged(true));
    assert_eq!(next(&editor).await, Outbound::Acknowledged(true));
    assert!(matches!(next(&editor).await, Outbound::SyncStep2(_)));
    let text = process.content(work).await.text.clone();
    assert!(text.contains("offline early "), "{text}");
    process.documents.stop().await;
    studio.close().await;
}

async fn an_editor_that_can_not_bring_what_it_builds_on_is_told(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process();
    let work = studio.create_text(&process, "|").await;
    let editor = studio.join(&process, work).await;
    let typist = Typist::new();
    typist.types("never sent ");
    let update = typist.types("sent ");
    editor.send(Inbound::Update(update.clone())).await;
    for _ in 0..2 {
        receive(&editor, "a question", is_question).await;
        editor.send(Inbound::SyncStep2(update.clone())).await;
    }
    let closed = |frame: &Outbound| matches!(frame, Outbound::Closed(4400, _));
    receive(&editor, "the refusal", closed).await;
    assert_eq!(version(&process, work).await, Version(1));
    process.documents.stop().await;
    studio.close().await;
}
