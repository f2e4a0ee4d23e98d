//! Change notices: merged while they are unread, and read in part.

use domain::actor::Actor;
use domain::document::Version;
use domain::ids::{TaskId, UserId, WorkId};
use domain::store::SharedStore;
use domain::task::ChangeNotice;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{self, Place, append, bootstrap, change, seconds, within};
use crate::task_seeds::create_task;

on_both_databases!(
    changes_of_others_are_merged_into_one_notice_for_each_work_and_task,
    of_a_notice_that_was_read_in_part_what_came_since_is_left,
);

async fn notices(store: &SharedStore, task: TaskId) -> Vec<ChangeNotice> {
    let found = store.reads().list_change_notices(&[task]).await;
    found.expect("reads")
}

async fn read(store: &SharedStore, place: Place, task: TaskId, seen: &[(WorkId, Version)]) {
    let seen = seen.to_vec();
    let read = within!(store, place.workspace, |tx, seen| tx
        .read_change_notices(place.workspace, task, &seen)
        .await);
    read.expect("reads notices");
}

fn agent(task: TaskId) -> Actor {
    let (turn, step) = (1, 1);
    Actor::Agent { task, turn, step }
}

async fn changed(store: &SharedStore, place: Place, work: WorkId, by: (&Actor, u64, &str)) {
    let (actor, second, node) = by;
    let one = vec![change(actor, seconds(second), node)];
    append(store, place, work, one).await;
}

async fn changes_of_others_are_merged_into_one_notice_for_each_work_and_task(
    database: TestDatabase,
) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let (first, second) = (
        seeds::work(store, place).await,
        seeds::work(store, place).await,
    );
    let writer = create_task(store, place, &[first]).await;
    let reader = create_task(store, place, &[first, second]).await;
    let (ada, bob) = (place.caller.actor(), Actor::Person(UserId::new()));
    changed(store, place, first, (&ada, 1, "a")).await;
    changed(store, place, second, (&bob, 2, "x")).await;
    changed(store, place, first, (&agent(writer), 3, "b")).await;
    changed(store, place, first, (&ada, 4, "c")).await;

    let found = notices(store, reader).await;
    assert_eq!(found.len(), 2);
    let merged = &found[0];
    let span = (merged.from_version, merged.to_version, merged.created_at);
    assert_eq!(span, (Version(0), Version(3), seconds(1)));
    assert_eq!(merged.changed_by, [ada.clone(), agent(writer)]);
    let touched: Vec<_> = merged.touched.nodes.keys().collect();
    assert_eq!(touched, ["nodes/a", "nodes/b", "nodes/c"]);
    assert_eq!((found[1].work, &found[1].changed_by), (second, &vec![bob]));

    // Who writes is not told of it.
    let found = notices(store, writer).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].changed_by, [ada]);
    storage.close().await;
}

async fn of_a_notice_that_was_read_in_part_what_came_since_is_left(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = seeds::work(store, place).await;
    let task = create_task(store, place, &[work]).await;
    let (ada, bob) = (place.caller.actor(), Actor::Person(UserId::new()));
    changed(store, place, work, (&ada, 1, "a")).await;
    let seen = [(work, notices(store, task).await[0].to_version)];
    changed(store, place, work, (&agent(task), 2, "own")).await;
    changed(store, place, work, (&bob, 3, "b")).await;
    read(store, place, task, &seen).await;

    let left = notices(store, task).await.remove(0);
    let span = (left.from_version, left.to_version, left.created_at);
    assert_eq!(span, (Version(1), Version(3), seconds(3)));
    assert_eq!(left.changed_by, [bob]);
    let touched: Vec<_> = left.touched.nodes.keys().collect();
    assert_eq!(touched, ["nodes/b"]);

    // What was read twice, or never told, ends nothing.
    let unknown = (WorkId::new(), Version(9));
    read(store, place, task, &[seen[0], unknown]).await;
    assert_eq!(notices(store, task).await, [left]);
    read(store, place, task, &[(work, Version(3))]).await;
    assert_eq!(notices(store, task).await, []);
    storage.close().await;
}
