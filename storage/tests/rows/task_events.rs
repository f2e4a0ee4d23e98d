//! The part of a workspace's log that belongs to one task.

use domain::event::{EventKind, NewEvent, Sequence, Subject};
use domain::ids::{CardId, MessageId, TaskId};
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{START, bootstrap, within};

on_both_databases!(events_of_a_task_are_read_alone_and_name_what_they_are_about);

async fn events_of_a_task_are_read_alone_and_name_what_they_are_about(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let (task, other) = (TaskId::new(), TaskId::new());
    let message = Subject::Message(MessageId::new());
    let card = Subject::Card(CardId::new());
    let member = Subject::Member(place.caller.user);
    let told = [
        (EventKind::TaskCreated, Subject::Task(task), Some(task)),
        (EventKind::TaskCreated, Subject::Task(other), Some(other)),
        (EventKind::MessagePosted, message, Some(task)),
        (EventKind::MessagePosted, message, None),
        (EventKind::CardOpened, card, Some(task)),
        (EventKind::MembersChanged, member, None),
    ];
    let actor = place.caller.actor();
    let events = told.map(|(kind, subject, task)| NewEvent {
        kind,
        subject,
        task,
        actor: actor.clone(),
        at: START,
        data: json!({}),
    });
    let before = store.reads().event_head(place.workspace).await;
    let before = before.expect("reads");
    let events = events.to_vec();
    let emitted = within!(store, place.workspace, |tx, events| tx
        .emit(place.workspace, events)
        .await);
    emitted.expect("emits");
    let all = store.reads().list_events(place.workspace, before, 9).await;
    let all: Vec<_> = all
        .expect("reads")
        .iter()
        .map(|event| (event.kind, event.subject, event.task))
        .collect();
    assert_eq!(all, told);
    let of_task = async |after, limit| {
        let reads = store.reads();
        let events = reads.list_task_events(place.workspace, task, after, limit);
        let events = events.await.expect("reads");
        events
            .iter()
            .map(|event| (event.sequence.0 - before.0, event.kind))
            .collect::<Vec<_>>()
    };
    let expected = [
        (1, EventKind::TaskCreated),
        (3, EventKind::MessagePosted),
        (5, EventKind::CardOpened),
    ];
    assert_eq!(of_task(Sequence(0), 9).await, expected);
    let after = Sequence(before.0 + 1);
    assert_eq!(of_task(after, 1).await, expected[1..2]);
    storage.close().await;
}
