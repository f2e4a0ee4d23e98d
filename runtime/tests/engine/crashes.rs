//! The process dies, or the store loses its answer, at every write point of a turn: one effect each, and no decision twice.

use std::collections::BTreeSet;

use domain::error::Error;
use domain::ids::TaskId;
use domain::task::TaskStatus;
use domain::turn::{CallState, WRITE_POINTS};
use serde_json::json;

use crate::world::{World, action, advance, decision, finish, step_of};
use storage::faults::{Fault, is_crash};

/// Two steps with calls of both recovery classes, then the end.
async fn world() -> World {
    World::with_model(|request| match step_of(&request).1 {
        1 => decision(false, &json!([action("note", "a"), action("press", "b")])),
        2 => decision(false, &json!([action("note", "c")])),
        _ => decision(true, &json!([])),
    })
    .await
}

/// Drives a task over any number of crashes to its end; each life of the process is a new worker.
async fn drive_over_crashes(world: &World, task: TaskId) {
    for _ in 0..20 {
        let engine = world.engine();
        let Some(due) = world.due(task).await else {
            return;
        };
        let ended = match engine.claim(due, false).await {
            Ok(Some(mut drive)) => finish(&engine, &mut drive).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        match ended {
            Ok(()) => {}
            Err(error) => {
                let is_expected = is_crash(&error) || matches!(error, Error::Unavailable(_));
                assert!(is_expected, "{error:?}");
                world.outlive_leases();
            }
        }
    }
    panic!("the task never came to an end");
}

async fn one_effect_each(point: &'static str, run: u32, fault: Fault) -> bool {
    let world = world().await;
    let task = world.task("press buttons").await;
    let before = world.store.runs(point);
    world.store.plan(point, run, fault);
    drive_over_crashes(&world, task).await;
    let was_met = world.store.runs(point) >= before + run;
    let stored = world.stored(task).await;
    let label = format!("{point}, run {run}, {fault:?}");
    assert_eq!(stored.status, TaskStatus::Delivered, "{label}");
    for (call, count) in world.effects() {
        assert_eq!(count, 1, "{label}: {call} had {count} effects");
    }
    let asked = world.decisions_asked();
    let decided = stored.usage.steps as usize;
    // A decision that was not stored is asked for again, and only that one.
    let lost = usize::from(point == "step.decide" && fault == Fault::CrashBefore);
    let opened_again = usize::from(asked > decided + lost);
    assert_eq!(
        asked,
        decided + lost,
        "{label}: asked {asked}, decided {decided}, {opened_again} too many"
    );
    world.close().await;
    was_met
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_or_a_lost_answer_at_any_write_point_has_one_effect_each() {
    // Places of messages are stored by Main alone: see `routing`.
    let points = WRITE_POINTS
        .into_iter()
        .filter(|point| *point != "message.route");
    for point in points {
        for fault in [
            Fault::CrashBefore,
            Fault::CrashAfter,
            Fault::LoseAnswer,
            Fault::Refuse,
        ] {
            for run in 1..=3 {
                if !one_effect_each(point, run, fault).await {
                    break;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_that_a_turn_writes_with_is_a_named_write_point() {
    let world = world().await;
    let task = world.task("press buttons").await;
    let engine = world.engine();
    world.settle(&engine, task).await;
    let named: BTreeSet<_> = WRITE_POINTS.into_iter().collect();
    let by_people = ["installation.bootstrap", "people.bootstrap", "task.create"];
    for command in world.store.seen() {
        let is_known = named.contains(command) || by_people.contains(&command);
        assert!(
            is_known,
            "{command} is no named write point: give it a case"
        );
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_was_frozen_past_its_lease_is_refused_and_its_successor_finishes() {
    let world = world().await;
    let task = world.task("the showcase").await;
    let (first, second) = (world.engine(), world.engine());
    let mut frozen = world.claim(&first, task).await;
    advance(&first, &mut frozen).await.expect("decides");
    // Worker A freezes with its decision stored; its lease ends.
    world.outlive_leases();
    let mut taken_over = world.claim(&second, task).await;
    assert_eq!(taken_over.fence.epoch.0, 2);
    finish(&second, &mut taken_over).await.expect("moves on");
    // A wakes up, and commits what it holds.
    advance(&first, &mut frozen)
        .await
        .expect("is refused without a fault");
    let stored = world.stored(task).await;
    assert_eq!(stored.status, TaskStatus::Delivered);
    assert_eq!(
        world.decisions_asked(),
        3,
        "no decision was asked for twice"
    );
    assert!(world.effects().values().all(|count| *count == 1));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_may_have_had_its_effect_is_not_made_again_and_the_model_is_told() {
    let world = world().await;
    let task = world.task("press once").await;
    // The second start is that of the call that can not be repeated; its result is lost with the process.
    world.store.plan("call.finish", 2, Fault::CrashBefore);
    drive_over_crashes(&world, task).await;
    let turn = world.store_reads().list_turns(task, first_turns()).await;
    let turn = turn.expect("reads").rows.pop().expect("a turn");
    let calls = world.calls(turn.id).await;
    let states: Vec<_> = calls
        .iter()
        .map(|call| (call.tool.as_str(), call.state))
        .collect();
    assert_eq!(states[0], ("note", CallState::Done));
    assert_eq!(states[1], ("press", CallState::OutcomeUnknown));
    assert!(world.effects().values().all(|count| *count == 1));
    let told = world.model.requests().into_iter().any(|request| {
        let text: String = request
            .messages
            .into_iter()
            .map(|message| message.text)
            .collect();
        text.contains("check the state before you decide")
    });
    assert!(told, "the model reads that the outcome is unknown");
    world.close().await;
}

fn first_turns() -> domain::page::Window<u32> {
    domain::page::Window {
        limit: 1,
        end: domain::page::End::First,
        after: None,
        before: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_kills_every_worker_is_held_with_words_for_a_person() {
    let world = world().await;
    let task = world.task("poison").await;
    for _ in 0..8 {
        world.store.plan("step.decide", 1, Fault::CrashBefore);
        let engine = world.engine();
        let Some(due) = world.due(task).await else {
            break;
        };
        if let Some(mut drive) = engine.claim(due, false).await.expect("claims") {
            finish(&engine, &mut drive)
                .await
                .expect_err("the process dies");
        }
        world.outlive_leases();
    }
    let stored = world.stored(task).await;
    assert_eq!(stored.status, TaskStatus::Blocked);
    let reason = stored.status_reason.expect("says why");
    assert!(reason.contains("5 times at the same place"), "{reason}");
    world.close().await;
}
