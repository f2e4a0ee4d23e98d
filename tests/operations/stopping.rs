//! Starting and stopping: quickly, in order, and told to everybody who is connected.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::editor::replica;
use crate::harness::subscription::{Heard, Subscription};
use crate::harness::{Editor, Installation, Protocol, on_both_databases, on_sqlite};

on_both_databases![a_server_that_is_asked_to_stop_tells_everybody_and_loses_nothing];
on_sqlite![
    an_idle_server_is_small_and_starts_quickly,
    a_server_that_stops_says_that_it_is_not_ready,
];

async fn a_server_that_is_asked_to_stop_tells_everybody_and_loses_nothing(
    installation: &Installation,
) {
    let (server, owner) = installation.open().await;
    let work = owner.create_text("").await;
    let sync = Editor::open(&work, Protocol::YWebsocket).await;
    let collab = Editor::open(&work, Protocol::Hocuspocus).await;
    let document = "subscription ($id: ID!) { workspaceEvents(workspaceId: $id) { kind } }";
    let mut subscription =
        Subscription::open(&owner.client, document, json!({"id": owner.workspace})).await;
    for editor in [&sync, &collab] {
        editor
            .edit(|txn, roots| replica::append(txn, roots, "word "))
            .await;
        assert!(editor.acknowledged().await);
    }
    let began = Instant::now();
    server.ask_to_stop();
    for editor in [&sync, &collab] {
        assert_eq!(editor.closed().await, Some(1012));
    }
    let end = loop {
        match subscription.next().await {
            Heard::Event(_) => {}
            other => break other,
        }
    };
    assert_eq!(
        end,
        Heard::Closed(Some(1012)),
        "a subscription is not completed by a stop"
    );
    let status = server.ended().await;
    assert!(status.success(), "{status}");
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    let server = installation.start().await;
    assert_eq!(
        work.by(&owner.at(&server).client).text().await,
        "word word "
    );
}

async fn an_idle_server_is_small_and_starts_quickly(installation: &Installation) {
    let (server, owner) = installation.open().await;
    owner.create_text("something").await;
    server.stop().await;
    let server = installation.start().await;
    // A debug build on a machine with other tests says little about time, so it is only told.
    eprintln!(
        "ready after {:?}, with {} KiB",
        server.ready_after,
        server.resident_bytes() >> 10
    );
    assert!(
        server.resident_bytes() < 150 << 20,
        "{} bytes",
        server.resident_bytes()
    );
}

async fn a_server_that_stops_says_that_it_is_not_ready(installation: &Installation) {
    let (server, owner) = installation.open().await;
    // A query that never ends keeps the server for a moment.
    let slow = tokio::spawn({
        let client = owner.client.clone();
        async move { client.try_ask("{ slow }", Value::Null).await.is_ok() }
    });
    server.ask_to_stop();
    let status = server.ended().await;
    assert!(status.success(), "{status}");
    assert!(
        reqwest::get(format!("{}/readyz", owner.client.address()))
            .await
            .is_err()
    );
    slow.await.expect("an end");
}
