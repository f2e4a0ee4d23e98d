//! Tasks carried out with the domain's own commands, over real rows.

use domain::Error;
use domain::event::{EventKind, Sequence};
use domain::ids::TaskId;
use domain::journal::JournalKind;
use domain::page::{End, PageRequest, Window};
use domain::store::{SharedStore, StoreExt};
use domain::task::{ChecklistState, RebuildProjections, TaskStatus};
use domain::turn::{
    After, CallOutcome, CallState, Epoch, PlannedCall, Risk, StepState, Turn, TurnState,
};
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{START, bootstrap, seconds};
use crate::task_seeds::{
    Worker, action, claim_of, create_task, decision, item, opened, planned, post, read_message,
    read_task,
};

on_both_databases!(
    a_task_goes_from_its_creation_over_a_call_to_its_delivery,
    of_several_workers_that_claim_at_once_one_gets_the_turn,
    a_turn_of_a_lost_worker_goes_on_and_the_lost_worker_is_refused,
    a_decision_is_stored_once,
    a_call_that_was_made_is_not_made_again_in_the_same_turn,
    what_a_person_writes_meanwhile_is_read_in_the_next_step,
);

async fn turns(store: &SharedStore, task: TaskId) -> Vec<Turn> {
    let window = Window {
        limit: 100,
        end: End::First,
        after: None,
        before: None,
    };
    let page = store.reads().list_turns(task, window).await;
    page.expect("reads").rows
}

async fn journal_kinds(store: &SharedStore, task: TaskId) -> Vec<JournalKind> {
    let page = PageRequest::try_new(Some(100), None).expect("a page");
    let page = store.reads().list_journal(task, &[], page).await;
    let entries = page.expect("reads").rows;
    for (place, entry) in (1..).zip(&entries) {
        assert_eq!(entry.sequence, place, "the journal has no gap");
    }
    entries.iter().map(|entry| entry.kind).collect()
}

fn done() -> CallOutcome {
    CallOutcome::Done(json!({"workId": "work_1"}))
}

async fn a_task_goes_from_its_creation_over_a_call_to_its_delivery(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let claimable = store.reads().list_claimable(seconds(1), 9).await;
    assert_eq!(claimable.expect("reads").len(), 1);

    let (worker, after) = Worker::claim(store, task).await;
    assert_eq!(opened(after).step.at.step, 1);
    assert_eq!(read_task(store, task).await.status, TaskStatus::Running);
    let plan = vec![item("draw", ChecklistState::Done)];
    let after = worker.decide(1, decision(plan, vec![planned("create_work")]));
    let After::Calls { step, calls } = after.await.expect("decides") else {
        panic!("a call waits");
    };
    assert_eq!(step.state, StepState::Decided);
    assert_eq!(calls[0].state, CallState::Pending);
    let started = worker.start(1, &[0]).await.expect("starts");
    assert_eq!(
        (started[0].state, started[0].attempts),
        (CallState::Started, 1)
    );
    let after = worker.finish(1, 0, done()).await.expect("finishes");
    assert_eq!(after, Some(After::Ended));

    let delivered = read_task(store, task).await;
    assert_eq!(delivered.status, TaskStatus::Delivered);
    assert_eq!(delivered.active_turn, None);
    assert_eq!(
        (delivered.usage.steps, delivered.usage.input_tokens),
        (1, 100)
    );
    assert_eq!(delivered.updated_at, seconds(4));
    let turn = turns(store, task).await.remove(0);
    let end = (
        turn.state,
        turn.settled_steps,
        turn.has_progress,
        turn.lease,
    );
    assert_eq!(end, (TurnState::Completed, 1, true, None));
    let calls = store.reads().list_calls(&[turn.id]).await.expect("reads");
    assert_eq!(calls[0].result, Some(json!({"workId": "work_1"})));
    let kinds = journal_kinds(store, task).await;
    let expected = [
        JournalKind::SystemEvent,
        JournalKind::Plan,
        JournalKind::Result,
        JournalKind::StatusChange,
    ];
    assert_eq!(kinds, expected);
    events_tell_each_entry(store, task, kinds.len()).await;
    projections_fold_to_the_same(store, place, task).await;
    storage.close().await;
}

async fn events_tell_each_entry(store: &SharedStore, task: TaskId, entries: usize) {
    let workspace = read_task(store, task).await.workspace;
    let events = store
        .reads()
        .list_task_events(workspace, task, Sequence(0), 100);
    let events = events.await.expect("reads");
    let count = |kind| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!(count(EventKind::JournalAppended), entries);
    assert_eq!(count(EventKind::TaskCreated), 1);
    assert_eq!(count(EventKind::StepDecided), 1);
    assert_eq!(count(EventKind::CallStateChanged), 2);
    assert_eq!(count(EventKind::TaskStatusChanged), 2);
}

async fn projections_fold_to_the_same(
    store: &SharedStore,
    place: crate::seeds::Place,
    task: TaskId,
) {
    let read = async || {
        store
            .reads()
            .list_projections(&[task])
            .await
            .expect("reads")
    };
    let before = read().await;
    assert_eq!(before[0].1.checklist[0].id, "draw");
    store
        .run(RebuildProjections(action(place, task, seconds(9))))
        .await
        .expect("rebuilds");
    assert_eq!(read().await, before);
}

async fn of_several_workers_that_claim_at_once_one_gets_the_turn(database: TestDatabase) {
    let first = database.open().await;
    let second = if database.is_postgres() {
        Some(database.open().await)
    } else {
        None
    };
    let place = bootstrap(&first.store).await;
    let task = create_task(&first.store, place, &[]).await;
    let mut claims = Vec::new();
    for number in 0..8 {
        let storage = second.as_ref().filter(|_| number % 2 == 1);
        let store = storage.unwrap_or(&first).store.clone();
        let mut claim = claim_of(&store, task).await;
        claim.lease = std::time::Duration::from_mins(1);
        claims.push(tokio::spawn(async move { store.run(claim).await }));
    }
    let mut claimed = Vec::new();
    for claim in claims {
        claimed.extend(claim.await.expect("runs").expect("answers"));
    }
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].fence.epoch, Epoch(1));
    assert_eq!(turns(&first.store, task).await[0].epoch, Epoch(1));
    if let Some(second) = second {
        second.close().await;
    }
    first.close().await;
}

/// Two calls, of which the second can not be made twice.
fn two_calls() -> Vec<PlannedCall> {
    let careful = PlannedCall {
        risk: Risk::Irreversible,
        idempotent: false,
        ..planned("publish")
    };
    vec![planned("create_work"), careful]
}

async fn a_turn_of_a_lost_worker_goes_on_and_the_lost_worker_is_refused(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let (lost, _) = Worker::claim(store, task).await;
    let decided = lost.decide(1, decision(Vec::new(), two_calls())).await;
    decided.expect("decides");
    lost.start(1, &[0, 1]).await.expect("starts");

    let (worker, after) = Worker::claim(store, task).await;
    assert_eq!(worker.fence.epoch, lost.fence.epoch.next());
    let After::Calls { calls, .. } = after else {
        panic!("calls go on");
    };
    let states: Vec<_> = calls.iter().map(|call| call.state).collect();
    assert_eq!(states, [CallState::Started, CallState::OutcomeUnknown]);
    let refused = lost.finish(1, 0, done()).await;
    assert!(matches!(refused, Err(Error::Fenced { .. })), "{refused:?}");
    let refused = lost.start(1, &[0]).await;
    assert!(matches!(refused, Err(Error::Fenced { .. })), "{refused:?}");

    let started = worker.start(1, &[0]).await.expect("starts again");
    assert_eq!((started[0].attempts, started[0].epoch), (2, Epoch(2)));
    // The model must look at what is unknown before the task is delivered.
    let after = worker.finish(1, 0, done()).await.expect("finishes");
    let next = opened(after.expect("another step"));
    assert_eq!(next.step.at.step, 2);
    let end = worker.decide(2, decision(Vec::new(), Vec::new())).await;
    assert_eq!(end.expect("decides"), After::Ended);
    assert_eq!(read_task(store, task).await.status, TaskStatus::Delivered);
    storage.close().await;
}

async fn a_decision_is_stored_once(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let (worker, _) = Worker::claim(store, task).await;
    let calls = vec![planned("create_work")];
    let decided = worker.decide(1, decision(Vec::new(), calls.clone())).await;
    decided.expect("decides");
    let before = journal_kinds(store, task).await;
    let again = worker.decide(1, decision(Vec::new(), calls)).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    assert_eq!(journal_kinds(store, task).await, before);
    let turn = worker.fence.turn;
    let calls = store.reads().list_calls(&[turn]).await.expect("reads");
    assert_eq!(calls.len(), 1);
    storage.close().await;
}

async fn a_call_that_was_made_is_not_made_again_in_the_same_turn(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let (worker, _) = Worker::claim(store, task).await;
    let plan = || vec![item("draw", ChecklistState::Todo)];
    let call = || vec![planned("create_work")];
    let made = worker.decide(1, decision(plan(), call())).await;
    made.expect("decides");
    worker.start(1, &[0]).await.expect("starts");
    worker.finish(1, 0, done()).await.expect("finishes");

    // The same wish again: the step is settled at once, with the first result.
    post(store, place, task, seconds(4)).await;
    let repeated = worker.decide(2, decision(plan(), call())).await;
    assert_eq!(opened(repeated.expect("decides")).messages.len(), 1);
    let calls = store.reads().list_step_calls(worker.fence.turn, 2).await;
    let repeated = calls.expect("reads").remove(0);
    assert_eq!((repeated.state, repeated.attempts), (CallState::Done, 0));
    let result = repeated.result.expect("the first result");
    assert_eq!(result["result"], json!({"workId": "work_1"}));

    // Once a step has read what a person wrote since, it may be meant anew.
    let read = worker.decide(3, decision(plan(), call())).await;
    assert!(matches!(read, Ok(After::Calls { .. })), "{read:?}");
    storage.close().await;
}

async fn what_a_person_writes_meanwhile_is_read_in_the_next_step(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let first = post(store, place, task, START).await;
    let (worker, after) = Worker::claim(store, task).await;
    let step = opened(after);
    let taken: Vec<_> = step.messages.iter().map(|message| message.id).collect();
    assert_eq!(taken, [first]);
    let second = post(store, place, task, seconds(2)).await;
    let after = worker.decide(1, decision(Vec::new(), Vec::new())).await;
    let next = opened(after.expect("decides"));
    let taken: Vec<_> = next.messages.iter().map(|message| message.id).collect();
    assert_eq!(taken, [second]);
    let found = read_message(store, first).await;
    assert_eq!(found.taken_by, Some(step.step.at));
    assert_eq!(found.state, domain::message::MessageState::Consumed);
    let end = worker.decide(2, decision(Vec::new(), Vec::new())).await;
    assert_eq!(end.expect("decides"), After::Ended);
    storage.close().await;
}
