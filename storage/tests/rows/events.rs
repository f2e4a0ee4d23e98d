//! Logs of events, and the keys of requests.

use std::collections::HashMap;
use std::time::Duration;

use domain::Error;
use domain::event::{EventKind, Sequence, Subject};
use domain::idempotency::{IDEMPOTENCY_TTL, IdempotencyKey};
use domain::ids::WorkId;
use domain::store::{Scope, SharedStore, StoreExt};
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{self, Does, Place, START, append, bootstrap, change, seconds, within};

on_both_databases!(
    events_of_concurrent_writers_have_no_gap_and_stand_in_the_order_of_versions,
    a_failed_command_leaves_no_event_and_uses_no_number,
    a_key_is_remembered_for_a_day_and_then_free_again,
    expired_keys_do_not_pile_up,
);

const WRITERS: usize = 8;
const APPENDS: u64 = 12;

async fn events_of_concurrent_writers_have_no_gap_and_stand_in_the_order_of_versions(
    database: TestDatabase,
) {
    let first = database.open().await;
    // SQLite belongs to one process; PostgreSQL is written by two.
    let second = if database.is_postgres() {
        Some(database.open().await)
    } else {
        None
    };
    let place = bootstrap(&first.store).await;
    let mut works = Vec::new();
    for _ in 0..3 {
        works.push(seeds::work(&first.store, place).await);
    }
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let storage = second
            .as_ref()
            .filter(|_| number % 2 == 1)
            .unwrap_or(&first);
        let (store, work) = (storage.store.clone(), works[number % works.len()]);
        writers.push(tokio::spawn(write(store, place, work)));
    }
    for writer in writers {
        writer.await.expect("writes");
    }
    let reads = second.as_ref().unwrap_or(&first).store.reads();
    let events = reads.list_events(place.workspace, Sequence(0), 1_000).await;
    let events = events.expect("reads");
    let sequences: Vec<u64> = events.iter().map(|event| event.sequence.0).collect();
    let count = 1 + works.len() as u64 + WRITERS as u64 * APPENDS;
    assert_eq!(sequences, (1..=count).collect::<Vec<_>>());
    let mut versions: HashMap<Subject, u64> = HashMap::new();
    for event in events
        .iter()
        .filter(|event| event.kind == EventKind::WorkChanged)
    {
        let version = versions.entry(event.subject).or_default();
        *version += 1;
        assert_eq!(event.data["version"], json!(*version), "{event:?}");
    }
    assert_eq!(versions.len(), works.len());
    for storage in second.iter().chain([&first]) {
        storage.close().await;
    }
}

async fn write(store: SharedStore, place: Place, work: WorkId) {
    for at in 0..APPENDS {
        let one = vec![change(&place.caller.actor(), seconds(at), "a")];
        append(&store, place, work, one).await;
    }
}

async fn a_failed_command_leaves_no_event_and_uses_no_number(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = seeds::work(store, place).await;
    let workspace = place.workspace;
    let failing = Does::<()>::new(Scope::Workspace(workspace), move |tx| {
        Box::pin(async move {
            let one = [change(&place.caller.actor(), START, "a")];
            tx.append_changes(work, workspace, &one).await?;
            let events = tx.list_events(workspace, Sequence(0), 1).await?;
            let event = domain::event::NewEvent {
                kind: EventKind::WorkChanged,
                subject: Subject::Work(work),
                task: None,
                actor: events[0].actor.clone(),
                at: START,
                data: json!({}),
            };
            tx.emit(workspace, vec![event]).await?;
            Err(Error::Conflict("on purpose".into()))
        })
    });
    // With others of the same workspace, so that some share a commit with it.
    let mut others = Vec::new();
    for _ in 0..10 {
        others.push(tokio::spawn(write(store.clone(), place, work)));
        let error = store.run(failing.clone()).await.expect_err("fails");
        assert!(matches!(error, Error::Conflict(_)), "{error:?}");
    }
    for other in others {
        other.await.expect("writes");
    }
    let head = store.reads().event_head(workspace).await.expect("reads");
    assert_eq!(head, Sequence(2 + 10 * APPENDS));
    let found = store.reads().list_works_by_id(&[work]).await;
    assert_eq!(found.expect("reads")[0].version.0, 10 * APPENDS);
    storage.close().await;
}

fn key(place: Place, name: &str, at: domain::time::Timestamp) -> IdempotencyKey {
    IdempotencyKey {
        actor: place.caller.actor(),
        mutation: "createWork",
        key: name.to_owned(),
        input_hash: [1; 32],
        at,
    }
}

async fn remember(
    store: &SharedStore,
    place: Place,
    key: &IdempotencyKey,
    result: &'static str,
) -> domain::Result<()> {
    within!(store, place.workspace, |tx, key| tx
        .remember_idempotency(&key, &json!(result))
        .await)
}

async fn a_key_is_remembered_for_a_day_and_then_free_again(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let used = key(place, "k", START);
    remember(store, place, &used, "first")
        .await
        .expect("remembers");
    let at_the_end = key(place, "k", START.plus(IDEMPOTENCY_TTL));
    let refused = remember(store, place, &at_the_end, "second").await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    let found = async || store.reads().find_idempotency(&used).await.expect("reads");
    assert_eq!(found().await.expect("is there").result, json!("first"));
    let later = key(
        place,
        "k",
        START.plus(IDEMPOTENCY_TTL + Duration::from_micros(1)),
    );
    remember(store, place, &later, "third")
        .await
        .expect("is free");
    let record = found().await.expect("is there");
    assert_eq!((record.result, record.at), (json!("third"), later.at));
    storage.close().await;
}

async fn expired_keys_do_not_pile_up(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let old = key(place, "old", START);
    remember(store, place, &old, "old")
        .await
        .expect("remembers");
    let fresh = key(place, "fresh", START.plus(IDEMPOTENCY_TTL * 2));
    remember(store, place, &fresh, "fresh")
        .await
        .expect("remembers");
    let reads = store.reads();
    assert_eq!(reads.find_idempotency(&old).await.expect("reads"), None);
    let found = reads.find_idempotency(&fresh).await.expect("reads");
    assert!(found.is_some());
    storage.close().await;
}
