//! Steps, calls and large results.

use domain::ids::{TurnId, WorkId};
use domain::store::SharedStore;
use domain::turn::{
    Call, CallId, CallState, ContextUsage, Epoch, LargeResult, Risk, Seen, Step, StepState, Turn,
    equal_key,
};
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{Place, bootstrap, seconds, within};
use crate::task_seeds::{insert_turn, new_call, new_step, new_turn, stored_task};

on_both_databases!(
    a_step_comes_back_as_it_was_written_last,
    calls_come_back_as_they_were_written_last,
    steps_and_calls_of_several_turns_come_by_turn_and_number,
    an_equal_call_is_the_newest_that_is_done_or_of_unknown_outcome,
    a_large_result_is_stored_once,
);

async fn turn(store: &SharedStore, place: Place) -> Turn {
    let task = stored_task(store, place).await;
    let turn = new_turn(&task, 1);
    insert_turn(store, &turn).await;
    turn
}

async fn put(store: &SharedStore, step: &Step) {
    let put = within!(store, step.workspace, |tx, step| tx.put_step(&step).await);
    put.expect("writes");
}

async fn insert(store: &SharedStore, calls: &[Call]) {
    let (workspace, calls) = (calls[0].workspace, calls.to_vec());
    let inserted = within!(store, workspace, |tx, calls| tx.insert_calls(&calls).await);
    inserted.expect("inserts");
}

async fn a_step_comes_back_as_it_was_written_last(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let turn = turn(store, bootstrap(store).await).await;
    let open = new_step(&turn, 1);
    let decided = Step {
        state: StepState::Decided,
        epoch: Epoch(3),
        opened_at: seconds(1),
        decided_at: Some(seconds(2)),
        rationale: "why not".into(),
        seen: Seen {
            forgets: 3,
            journal_sequence: 4,
            notices: vec![(WorkId::new(), domain::document::Version(2))],
            is_nudged: true,
        },
        context: Some(ContextUsage {
            model: "scripted".into(),
            stable_prefix: 7,
            input_tokens: u64::from(u32::MAX) + 1,
            ..ContextUsage::default()
        }),
        ..open.clone()
    };
    for step in [open, decided] {
        put(store, &step).await;
        let found = store.reads().find_step(turn.id, 1).await.expect("reads");
        assert_eq!(found, Some(step));
    }
    let missing = store.reads().find_step(turn.id, 2).await.expect("reads");
    assert_eq!(missing, None);
    storage.close().await;
}

async fn calls_come_back_as_they_were_written_last(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let turn = turn(store, bootstrap(store).await).await;
    let step = new_step(&turn, 1);
    put(store, &step).await;
    let mut calls = vec![new_call(&step, 0), new_call(&step, 1)];
    calls[1].risk = Risk::Irreversible;
    calls[1].idempotent = false;
    calls[1].arguments = json!({"note": "before\u{0}after"});
    insert(store, &calls).await;
    let stored = async || store.reads().list_step_calls(turn.id, 1).await;
    assert_eq!(stored().await.expect("reads"), calls);
    calls[1].state = CallState::Failed;
    calls[1].attempts = 2;
    calls[1].epoch = Epoch(5);
    calls[1].result = Some(json!({"conflict": ["a"]}));
    calls[1].error = Some("another version".into());
    (calls[1].started_at, calls[1].ended_at) = (Some(seconds(3)), Some(seconds(4)));
    let call = calls[1].clone();
    let updated = within!(store, turn.workspace, |tx, call| tx
        .update_call(&call)
        .await);
    updated.expect("updates");
    assert_eq!(stored().await.expect("reads"), calls);
    storage.close().await;
}

async fn steps_and_calls_of_several_turns_come_by_turn_and_number(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let turns = [turn(store, place).await, turn(store, place).await];
    for turn in turns.iter().rev() {
        for number in [2, 1] {
            let step = new_step(turn, number);
            put(store, &step).await;
            insert(store, &[new_call(&step, 1), new_call(&step, 0)]).await;
        }
    }
    let ids: Vec<_> = turns.iter().map(|turn| turn.id).collect();
    let asked = [ids[1], TurnId::new(), ids[0]];
    let steps = store.reads().list_steps(&asked).await.expect("reads");
    let found: Vec<_> = steps.iter().map(|step| (step.turn, step.at.step)).collect();
    let expected = ids.iter().flat_map(|turn| [(*turn, 1), (*turn, 2)]);
    assert_eq!(found, expected.collect::<Vec<_>>());
    let calls = store.reads().list_calls(&asked).await.expect("reads");
    let found: Vec<_> = calls.iter().map(|call| call.id).collect();
    assert!(found.is_sorted(), "{found:?}");
    assert_eq!(found.len(), 8);
    storage.close().await;
}

async fn an_equal_call_is_the_newest_that_is_done_or_of_unknown_outcome(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let (turn, other) = (turn(store, place).await, turn(store, place).await);
    let states = [
        CallState::Done,
        CallState::OutcomeUnknown,
        CallState::Failed,
        CallState::Started,
    ];
    for turn in [&other, &turn] {
        for (number, state) in (1..).zip(states) {
            let step = new_step(turn, number);
            put(store, &step).await;
            let mut call = new_call(&step, 0);
            call.state = state;
            insert(store, &[call]).await;
        }
    }
    // The same arguments in another order.
    let key = equal_key(
        "create_work",
        &json!({"kind": "STORYBOARD", "title": "Opening"}),
    );
    let find = async |key| store.reads().find_equal_call(turn.task, key).await;
    let found = find(key).await.expect("reads").expect("is found");
    let expected = CallId {
        turn: turn.id,
        step: 2,
        index: 0,
    };
    assert_eq!(
        (found.id, found.state),
        (expected, CallState::OutcomeUnknown)
    );
    let another = equal_key("create_work", &json!({"kind": "FLOW", "title": "Opening"}));
    assert_eq!(find(another).await.expect("reads"), None);
    storage.close().await;
}

async fn a_large_result_is_stored_once(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let turn = turn(store, bootstrap(store).await).await;
    let step = new_step(&turn, 1);
    put(store, &step).await;
    let call = new_call(&step, 0);
    insert(store, std::slice::from_ref(&call)).await;
    let first = LargeResult {
        body: format!("\"{}\"", "x".repeat(100_000)),
    };
    let second = LargeResult { body: "2".into() };
    for result in [first.clone(), second] {
        let inserted = within!(store, turn.workspace, |tx, result| tx
            .insert_large_result(turn.workspace, &call.id, &result)
            .await);
        inserted.expect("inserts");
    }
    let found = store.reads().find_large_result(&call.id).await;
    assert_eq!(found.expect("reads"), Some(first));
    let missing = CallId {
        index: 1,
        ..call.id
    };
    let found = store.reads().find_large_result(&missing).await;
    assert_eq!(found.expect("reads"), None);
    storage.close().await;
}
