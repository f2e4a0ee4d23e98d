//! Changes, snapshots, touched nodes and revisions.

use bytes::Bytes;
use domain::actor::Actor;
use domain::document::Version;
use domain::ids::{UserId, WorkId};
use domain::page::PageRequest;
use domain::store::{SharedStore, StoreExt};
use domain::work::{Revision, SaveSnapshot, Snapshot};

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{self, Place, append, bootstrap, change, seconds};

on_both_databases!(
    a_run_of_one_actor_is_one_revision_until_a_pause_over_a_minute,
    a_batch_of_several_actors_makes_a_revision_for_each_turn,
    a_document_is_built_from_the_nearest_snapshot_and_the_changes_after_it,
    documents_come_in_the_order_in_which_they_were_asked_for,
    thousands_of_changes_at_once_are_all_stored,
    the_last_touch_of_a_node_is_known_at_each_version_and_by_each_actor,
    what_was_committed_is_there_after_opening_again,
);

async fn newest_first(store: &SharedStore, work: WorkId) -> Vec<Revision> {
    let page = PageRequest::try_new(Some(100), None).expect("a page");
    let revisions = store.reads().list_revisions(work, page).await;
    revisions.expect("reads").rows
}

fn spans(revisions: &[Revision]) -> Vec<(u64, u64)> {
    revisions
        .iter()
        .map(|revision| (revision.from_version.0, revision.to_version.0))
        .collect()
}

async fn a_run_of_one_actor_is_one_revision_until_a_pause_over_a_minute(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = seeds::work(store, place).await;
    let actor = place.caller.actor();
    for (at, node) in [(0, "a"), (60, "b"), (121, "c")] {
        let one = vec![change(&actor, seconds(at), node)];
        append(store, place, work, one).await;
    }
    let revisions = newest_first(store, work).await;
    assert_eq!(spans(&revisions), [(3, 3), (1, 2)]);
    assert_eq!(revisions[1].at, seconds(60));
    let touched: Vec<_> = revisions[1].touched.nodes.keys().collect();
    assert_eq!(touched, ["nodes/a", "nodes/b"]);
    let after = store.reads().list_revisions_after(work, Version(1)).await;
    assert_eq!(spans(&after.expect("reads")), [(1, 2), (3, 3)]);
    storage.close().await;
}

async fn a_batch_of_several_actors_makes_a_revision_for_each_turn(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = seeds::work(store, place).await;
    let (ada, bob) = (place.caller.actor(), Actor::Person(UserId::new()));
    append(store, place, work, vec![change(&ada, seconds(0), "a")]).await;
    let batch = [(1, &ada), (2, &bob), (3, &bob), (4, &ada)];
    let batch = batch.map(|(at, actor)| change(actor, seconds(at), "a"));
    let first = append(store, place, work, batch.to_vec()).await;
    assert_eq!(first, Version(2));
    let revisions = newest_first(store, work).await;
    assert_eq!(spans(&revisions), [(5, 5), (3, 4), (1, 2)]);
    assert_eq!(revisions[1].actor, bob);
    let found = store.reads().list_works_by_id(&[work]).await;
    let found = found.expect("reads").remove(0);
    let last = (found.version, found.updated_at, found.updated_by);
    assert_eq!(last, (Version(5), seconds(4), ada));
    let newest = store.reads().list_newest_revisions(&[work], 2).await;
    assert_eq!(spans(&newest.expect("reads")), [(5, 5), (3, 4)]);
    storage.close().await;
}

async fn ten_changes(store: &SharedStore, place: Place) -> WorkId {
    let work = seeds::work(store, place).await;
    let actor = place.caller.actor();
    let changes = (1..=10).map(|version| change(&actor, seconds(version), "a"));
    append(store, place, work, changes.collect()).await;
    work
}

async fn save(store: &SharedStore, place: Place, work: WorkId, version: u64) {
    let snapshot = Snapshot {
        work,
        version: Version(version),
        state: Bytes::from(format!("state {version}")),
    };
    let workspace = place.workspace;
    let command = SaveSnapshot {
        workspace,
        snapshot,
    };
    store.run(command).await.expect("saves");
}

async fn a_document_is_built_from_the_nearest_snapshot_and_the_changes_after_it(
    database: TestDatabase,
) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = ten_changes(store, place).await;
    for version in [4, 8] {
        save(store, place, work, version).await;
    }
    let parts = async |at: Option<u64>| {
        let documents = store.reads().load_documents(&[work], at.map(Version)).await;
        let document = documents.expect("reads").remove(0);
        let snapshot = document.snapshot.map(|snapshot| snapshot.version.0);
        let changes: Vec<u64> = document
            .changes
            .iter()
            .map(|(version, _)| version.0)
            .collect();
        (snapshot, changes)
    };
    assert_eq!(parts(None).await, (Some(8), vec![9, 10]));
    assert_eq!(parts(Some(7)).await, (Some(4), vec![5, 6, 7]));
    assert_eq!(parts(Some(4)).await, (Some(4), vec![]));
    assert_eq!(parts(Some(2)).await, (None, vec![1, 2]));
    assert_eq!(parts(Some(u64::MAX)).await, (Some(8), vec![9, 10]));
    storage.close().await;
}

async fn documents_come_in_the_order_in_which_they_were_asked_for(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let first = ten_changes(store, place).await;
    let second = ten_changes(store, place).await;
    save(store, place, second, 10).await;
    let unknown = WorkId::new();
    let asked = [second, unknown, first];
    let documents = store.reads().load_documents(&asked, None).await;
    let documents = documents.expect("reads");
    let works: Vec<WorkId> = documents.iter().map(|document| document.work).collect();
    assert_eq!(works, asked);
    let lengths: Vec<_> = documents
        .iter()
        .map(|document| (document.snapshot.is_some(), document.changes.len()))
        .collect();
    assert_eq!(lengths, [(true, 0), (false, 0), (false, 10)]);
    let (version, bytes) = &documents[2].changes[9];
    assert_eq!(*version, Version(10));
    assert_eq!(*bytes, change(&Actor::System, seconds(10), "a").update);
    storage.close().await;
}

async fn thousands_of_changes_at_once_are_all_stored(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = seeds::work(store, place).await;
    let actor = place.caller.actor();
    // More values than one statement takes.
    let changes: Vec<_> = (0..6_000)
        .map(|number| change(&actor, seconds(number / 100), &format!("n{}", number % 7)))
        .collect();
    append(store, place, work, changes.clone()).await;
    let stored = store.reads().list_changes(work, Version(0), 10_000).await;
    let stored = stored.expect("reads");
    assert_eq!(stored.len(), changes.len());
    for (number, (stored, change)) in (1..).zip(stored.iter().zip(&changes)) {
        assert_eq!(stored.version, Version(number));
        assert_eq!(
            (&stored.actor, stored.at, &stored.update, &stored.touched),
            (&change.actor, change.at, &change.update, &change.touched)
        );
    }
    storage.close().await;
}

async fn the_last_touch_of_a_node_is_known_at_each_version_and_by_each_actor(
    database: TestDatabase,
) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = seeds::work(store, place).await;
    let (ada, bob) = (place.caller.actor(), Actor::Person(UserId::new()));
    let changes = [(&ada, "a"), (&bob, "a"), (&ada, "b"), (&ada, "a")];
    let changes = changes.map(|(actor, node)| change(actor, seconds(0), node));
    append(store, place, work, changes.to_vec()).await;
    let touches = async |at: Option<u64>| {
        let rows = store
            .reads()
            .list_node_versions(&[work], at.map(Version))
            .await;
        let rows = rows.expect("reads").into_iter();
        let mut touches: Vec<_> = rows
            .map(|touch| (touch.node, touch.version.0, touch.actor))
            .collect();
        touches.sort_by_key(|touch| touch.0.clone());
        touches
    };
    let a = "nodes/a".to_owned();
    assert_eq!(touches(Some(2)).await, [(a.clone(), 2, bob.clone())]);
    let now = [(a.clone(), 4, ada.clone()), ("nodes/b".into(), 3, ada)];
    assert_eq!(touches(None).await, now);
    let by_actor = store.reads().list_node_actors(work, Version(4)).await;
    let by_actor = by_actor.expect("reads");
    let bobs: Vec<_> = by_actor
        .iter()
        .filter(|touch| touch.actor == bob)
        .map(|touch| (&touch.node, touch.version.0))
        .collect();
    assert_eq!(bobs, [(&a, 2)]);
    assert_eq!(by_actor.len(), 3);
    let before = store.reads().list_node_actors(work, Version(1)).await;
    assert_eq!(before.expect("reads").len(), 1);
    storage.close().await;
}

async fn what_was_committed_is_there_after_opening_again(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let work = ten_changes(&storage.store, place).await;
    storage.close().await;
    drop(storage);
    let storage = database.open().await;
    let documents = storage.store.reads().load_documents(&[work], None).await;
    assert_eq!(documents.expect("reads")[0].changes.len(), 10);
    let head = storage.store.reads().event_head(place.workspace).await;
    assert_eq!(head.expect("reads").0, 12);
    storage.close().await;
}
