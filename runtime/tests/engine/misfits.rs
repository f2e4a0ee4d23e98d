//! What a model can get wrong: each has a defined end in the journal, and the task can go on.

use std::time::Duration;

use domain::journal::JournalKind;
use domain::page::PageRequest;
use domain::task::{ResumeTask, TaskStatus};
use domain::turn::{CallState, TurnState};
use runtime::model::{ModelError, ModelUsage, Scripted};
use serde_json::{Value, json};

use crate::world::{World, action, decision, finish};
use storage::faults::Fault;

async fn answered_by(replies: Vec<Value>) -> World {
    World::with(Scripted::queue(
        replies.into_iter().map(|reply| Ok(Scripted::reply(reply))),
    ))
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_misfit_is_answered_once_and_the_mended_decision_counts() {
    let mut wrong = decision(true, &json!([]));
    wrong["short_line"] = json!("x".repeat(200));
    let world = answered_by(vec![wrong, decision(true, &json!([]))]).await;
    let task = world.task("misfit").await;
    world.settle(&world.engine(), task).await;
    assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    let requests = world.model.requests();
    let told = &requests[1].messages.last().expect("a message").text;
    assert!(
        told.contains("short_line") && told.contains("140"),
        "{told}"
    );
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_misfit_blocks_the_task_with_the_reason_and_a_resume_goes_on() {
    let many: Vec<_> = (0..1_000)
        .map(|number| action("note", &number.to_string()))
        .collect();
    let wrong = decision(true, &json!(many));
    let huge = json!({"rationale": "x".repeat(10 << 20)});
    let world = answered_by(vec![wrong, huge, decision(true, &json!([]))]).await;
    let task = world.task("misfit twice").await;
    let engine = world.engine();
    world.settle(&engine, task).await;
    let stored = world.stored(task).await;
    assert_eq!(stored.status, TaskStatus::Blocked);
    let reason = stored.status_reason.expect("says why");
    assert!(reason.contains("bytes"), "{reason}");
    assert!(reason.len() < 2_000);
    let told = world.model.requests()[1]
        .messages
        .last()
        .expect("a message")
        .text
        .clone();
    assert!(told.contains("1000"), "{told}");
    world
        .run(ResumeTask(world.action(task)))
        .await
        .expect("resumes");
    world.settle(&engine, task).await;
    assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_tool_and_wrong_arguments_are_refused_and_shown_to_the_model() {
    let wrong = json!([
        {"tool": "teleport", "arguments": {}},
        {"tool": "note", "arguments": {"what": 7}},
        action("note", "fail"),
    ]);
    let world = answered_by(vec![decision(true, &wrong), decision(true, &json!([]))]).await;
    let task = world.task("wrong calls").await;
    world.settle(&world.engine(), task).await;
    assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    let second = world.model.requests().remove(1);
    let shown: String = second
        .messages
        .into_iter()
        .map(|message| message.text)
        .collect();
    for part in ["teleport", "what", "this button does not move"] {
        assert!(shown.contains(part), "{part} is told");
    }
    let results = PageRequest {
        first: 100,
        after: None,
    };
    let results = world
        .store_reads()
        .list_journal(task, &[JournalKind::Result], results)
        .await;
    let states: Vec<_> = results
        .expect("reads")
        .rows
        .iter()
        .map(|entry| entry.data["state"].clone())
        .collect();
    assert_eq!(
        states,
        [json!("REFUSED"), json!("REFUSED"), json!("FAILED")]
    );
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_result_is_a_digest_in_the_context_and_whole_in_the_store() {
    let world = answered_by(vec![
        decision(false, &json!([action("note", "large")])),
        decision(true, &json!([])),
    ])
    .await;
    let task = world.task("large").await;
    let engine = world.engine();
    let due = world.due(task).await.expect("due");
    world.settle(&engine, task).await;
    let call = world.calls(due.turn).await.pop().expect("a call");
    let digest = call.result.expect("a digest");
    assert_eq!(digest["handle"], json!(call.id));
    let whole = world.store_reads().find_large_result(&call.id).await;
    assert!(whole.expect("reads").expect("is stored").body.len() > 100_000);
    let request = &world.model.requests()[1];
    let size: usize = request
        .messages
        .iter()
        .map(|message| message.text.len())
        .sum();
    assert!(size < 30_000, "{size} bytes");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_result_of_50_mb_as_much_is_stored_as_may_be_and_the_task_goes_on() {
    let world = answered_by(vec![
        decision(false, &json!([action("note", "huge")])),
        decision(true, &json!([])),
    ])
    .await;
    let task = world.task("huge").await;
    let due = world.due(task).await.expect("due");
    world.settle(&world.engine(), task).await;
    assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    let call = world.calls(due.turn).await.pop().expect("a call");
    assert_eq!(call.state, CallState::Done);
    let whole = world.store_reads().find_large_result(&call.id).await;
    let kept = whole.expect("reads").expect("is stored").body.len();
    assert!((1 << 20..=16 << 20).contains(&kept), "{kept} bytes");
    let all = PageRequest {
        first: 100,
        after: None,
    };
    let entries = world
        .store_reads()
        .list_journal(task, &[JournalKind::Result], all)
        .await;
    let entry = entries.expect("reads").rows.pop().expect("a result");
    assert_eq!(entry.data["result"]["handle"], json!(call.id));
    assert!(
        entry.data.to_string().len() < 10_000,
        "the journal has a digest"
    );
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_call_planned_again_is_not_made_twice() {
    let press = json!([action("press", "send it")]);
    let world = answered_by(vec![
        decision(false, &press),
        decision(false, &press),
        decision(true, &json!([])),
    ])
    .await;
    let task = world.task("twice").await;
    let due = world.due(task).await.expect("due");
    world.settle(&world.engine(), task).await;
    let calls = world.calls(due.turn).await;
    assert_eq!(calls[1].state, CallState::Done);
    assert_eq!(
        calls[1].result.as_ref().expect("a result")["repeats"],
        json!(calls[0].id)
    );
    assert_eq!(world.effects().len(), 1);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_equal_calls_of_one_decision_the_second_is_refused_and_the_model_is_told() {
    let twins = json!([
        action("press", "send it"),
        action("note", "a"),
        {"arguments": {"what": "send it"}, "tool": "press"},
        action("press", "send the other"),
        action("note", "a"),
    ]);
    let world = answered_by(vec![decision(true, &twins), decision(true, &json!([]))]).await;
    let task = world.task("twins").await;
    let due = world.due(task).await.expect("due");
    world.settle(&world.engine(), task).await;
    let calls = world.calls(due.turn).await;
    let states: Vec<_> = calls.iter().map(|call| call.state).collect();
    let (done, refused) = (CallState::Done, CallState::Refused);
    assert_eq!(states, [done, done, refused, done, refused]);
    assert_eq!(world.effects().len(), 3, "one effect for each wish");
    let error = calls[2].error.as_ref().expect("says why");
    assert!(error.contains(&calls[0].id.to_string()), "{error}");
    let shown = &world.model.requests()[1].messages;
    let is_told = shown
        .iter()
        .any(|message| message.text.contains("which is made once"));
    assert!(is_told, "the model reads it before the task is delivered");
    assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_equal_call_of_one_decision_is_not_made_where_the_outcome_of_the_first_is_unknown() {
    let twins = json!([action("press", "send it"), action("press", "send it")]);
    let world = answered_by(vec![decision(true, &twins), decision(true, &json!([]))]).await;
    let task = world.task("twins").await;
    let due = world.due(task).await.expect("due");
    world.store.plan("call.finish", 1, Fault::CrashBefore);
    let engine = world.engine();
    let mut drive = world.claim(&engine, task).await;
    finish(&engine, &mut drive)
        .await
        .expect_err("the process dies");
    world.outlive_leases();
    world.settle(&world.engine(), task).await;
    let calls = world.calls(due.turn).await;
    let states: Vec<_> = calls.iter().map(|call| call.state).collect();
    assert_eq!(states, [CallState::OutcomeUnknown, CallState::Refused]);
    assert_eq!(world.effects().values().sum::<u32>(), 1);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_plan_for_ever_is_nudged_and_then_blocked() {
    let world = World::with_model(|_| decision(false, &json!([]))).await;
    let task = world.task("going in circles").await;
    world.settle(&world.engine(), task).await;
    let stored = world.stored(task).await;
    assert_eq!(stored.status, TaskStatus::Blocked);
    assert_eq!(stored.course.turns, 4);
    let nudged = world.model.requests().into_iter().filter(|request| {
        let tail = &request.messages.last().expect("a tail").text;
        tail.contains("Nothing has come of the last turns")
    });
    assert_eq!(nudged.count(), 1, "one nudge");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_is_down_is_asked_again_later_and_a_message_makes_it_sooner() {
    let down = || ModelError::Unavailable {
        reason: "503".to_owned(),
        retry_after: Some(Duration::from_mins(5)),
    };
    let world = World::with(Scripted::queue([
        Err(down()),
        Err(down()),
        Ok(Scripted::reply(decision(true, &json!([])))),
    ]))
    .await;
    let task = world.task("later").await;
    let engine = world.engine();
    let due = world.due(task).await.expect("due");
    world.settle(&engine, task).await;
    assert_eq!(world.turn(due.turn).await.state, TurnState::Suspended);
    assert!(
        world
            .stored(task)
            .await
            .status_reason
            .expect("says why")
            .contains("503")
    );
    world.clock.advance(Duration::from_mins(4));
    assert!(
        world.due(task).await.is_none(),
        "the provider's wish is kept"
    );
    world.clock.advance(Duration::from_mins(2));
    world.settle(&engine, task).await;
    assert_eq!(world.turn(due.turn).await.state, TurnState::Suspended);
    world.write(task, "now, please").await;
    world.settle(&engine, task).await;
    assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prose_and_refusals_of_the_provider_have_their_words_in_the_status() {
    let prose = || ModelError::Misfit {
        problem: "the reply is prose, not a call".to_owned(),
        said: "Sure! I will…".to_owned(),
        usage: ModelUsage::default(),
    };
    let cases = [
        (vec![Err(prose()), Err(prose())], "prose"),
        (
            vec![Err(ModelError::Refused("unknown model".to_owned()))],
            "unknown model",
        ),
    ];
    for (replies, word) in cases {
        let world = World::with(Scripted::queue(replies)).await;
        let task = world.task("no decision").await;
        world.settle(&world.engine(), task).await;
        let stored = world.stored(task).await;
        assert_eq!(stored.status, TaskStatus::Blocked);
        let reason = stored.status_reason.expect("says why");
        assert!(reason.contains(word), "{reason}");
        world.close().await;
    }
}
