//! What a snapshot may hold: exactly what the log holds up to its version.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use domain::document::{Content, Inbound, Outbound, Version};
use domain::work::WorkKind;
use serde_json::json;
use yrs::{Doc, Map as _, ReadTxn as _, Text as _, Transact as _};

use crate::place::{Place, on_both_databases};
use crate::studio::{Studio, receive, soon};

on_both_databases![
    a_snapshot_holds_what_another_process_stored_meanwhile,
    a_change_that_was_not_stored_is_in_no_snapshot,
    what_was_refused_after_it_was_applied_is_in_no_snapshot,
];

/// More than makes a snapshot due.
const MUCH: usize = 100 << 10;

/// Text at the beginning of a text document, by a new editor.
fn typed(text: &str) -> Bytes {
    let doc = Doc::new();
    let root = doc.get_or_insert_text("text");
    let mut txn = doc.transact_mut();
    root.insert(&mut txn, 0, text);
    Bytes::from(txn.encode_update_v1())
}

fn is_acknowledged(frame: &Outbound) -> bool {
    matches!(frame, Outbound::Acknowledged(true))
}

async fn a_snapshot_holds_what_another_process_stored_meanwhile(place: &Place) {
    let studio = Studio::open(place).await;
    let (here, there) = (studio.process(), studio.process());
    let work = studio.create_text(&here, "first").await;
    let (one, other) = (
        studio.join(&here, work).await,
        studio.join(&there, work).await,
    );
    here.store.hold();
    one.send(Inbound::Update(typed(&"x".repeat(MUCH)))).await;
    let mut arrived = here.store.arrived.subscribe();
    let under_way = arrived.wait_for(|count| *count == 1);
    soon("a commit is under way", under_way)
        .await
        .expect("it is");
    other.send(Inbound::Update(typed("between "))).await;
    receive(&other, "the acknowledgement", is_acknowledged).await;
    here.store.let_go();
    receive(&one, "the acknowledgement", is_acknowledged).await;
    // With the end of the service its snapshots are stored.
    here.documents.stop().await;
    there.documents.stop().await;

    let later = studio.process();
    let content = later.content(work).await;
    assert_eq!(content.version, Version(3));
    assert!(content.text.contains("between "), "a stored change is gone");
    assert!(content.text.contains("first"));
    later.documents.stop().await;
    studio.close().await;
}

async fn a_change_that_was_not_stored_is_in_no_snapshot(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process();
    let work = studio.create_text(&process, "first").await;
    let editor = studio.join(&process, work).await;
    process.store.losses.store(1, Ordering::SeqCst);
    editor.send(Inbound::Update(typed("lost "))).await;
    let closed = |frame: &Outbound| matches!(frame, Outbound::Closed(1013, _));
    receive(&editor, "the end of the connection", closed).await;
    process.documents.stop().await;

    let later = studio.process();
    let content = later.content(work).await;
    assert_eq!(
        (content.version, content.text.as_str()),
        (Version(1), "first")
    );
    later.documents.stop().await;
    studio.close().await;
}

async fn what_was_refused_after_it_was_applied_is_in_no_snapshot(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process();
    let content = Content {
        asset: json!({"caption": "a picture"})
            .as_object()
            .cloned()
            .expect("an object"),
        ..Content::default()
    };
    let seed = process.documents.seed(&content, WorkKind::Asset);
    let work = studio.create(WorkKind::Asset, seed.expect("a seed")).await;
    let editor = studio.join(&process, work).await;
    let doc = Doc::new();
    let root = doc.get_or_insert_map("asset");
    root.insert(&mut doc.transact_mut(), "sha256", "ab".repeat(32));
    let update = doc
        .transact()
        .encode_state_as_update_v1(&yrs::StateVector::default());
    editor.send(Inbound::Update(update.into())).await;
    let closed = |frame: &Outbound| matches!(frame, Outbound::Closed(4400, _));
    receive(&editor, "the refusal", closed).await;
    process.documents.stop().await;

    let later = studio.process();
    let content = later.content(work).await;
    assert_eq!(content.version, Version(1));
    assert_eq!(content.asset.get("sha256"), None, "the file is another one");
    later.documents.stop().await;
    studio.close().await;
}
