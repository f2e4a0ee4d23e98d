//! What a stop, a pause and a message do at each border of a step.

use domain::message::{MessageState, RoutingOutcome, WithdrawMessage, Withdrawn};
use domain::task::{PauseTask, ResumeTask, StopTask, TaskStatus};
use domain::time::Clock as _;
use domain::turn::{After, CallState, StepRef, TurnState};
use serde_json::json;

use crate::world::{World, action, advance, decision, finish, step_of};
use storage::faults::Fault;

/// One step with a call, then the end; the model repeats what it was told in new messages as its summary.
async fn world() -> World {
    World::with_model(|request| {
        let done = step_of(&request).1 > 1;
        let actions = if done {
            json!([])
        } else {
            json!([action("note", "a")])
        };
        let mut decided = decision(done, &actions);
        let situation = request.situation.as_ref().expect("a planner's request");
        let told: Vec<_> = situation
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect();
        decided["summary"] = json!(format!("told: {}", told.join(", ")));
        decided
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_while_the_turn_is_queued_cancels_it() {
    let world = world().await;
    let task = world.task("stop me").await;
    let due = world.due(task).await.expect("queued");
    world
        .run(StopTask(world.action(task)))
        .await
        .expect("stops");
    assert!(world.due(task).await.is_none());
    assert_eq!(world.turn(due.turn).await.state, TurnState::Cancelled);
    assert_eq!(world.stored(task).await.status, TaskStatus::Stopped);
    let claimed = world.engine().claim(due, false).await.expect("no fault");
    assert!(
        claimed.is_none(),
        "a wake-up that comes late claims nothing"
    );
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_during_the_models_thinking_refuses_its_decision() {
    let world = world().await;
    let task = world.task("stop me").await;
    let engine = world.engine();
    let mut drive = world.claim(&engine, task).await;
    world
        .run(StopTask(world.action(task)))
        .await
        .expect("stops");
    advance(&engine, &mut drive).await.expect("no fault");
    assert_eq!(drive.after, After::Ended);
    let stored = world.stored(task).await;
    assert_eq!(
        (stored.status, stored.usage.steps),
        (TaskStatus::Stopped, 0)
    );
    assert!(world.effects().is_empty());
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_before_a_call_begins_refuses_the_call() {
    let world = world().await;
    let task = world.task("stop me").await;
    let engine = world.engine();
    let mut drive = world.claim(&engine, task).await;
    advance(&engine, &mut drive).await.expect("decides");
    world
        .run(StopTask(world.action(task)))
        .await
        .expect("stops");
    finish(&engine, &mut drive).await.expect("no fault");
    let calls = world.calls(drive.fence.turn).await;
    assert_eq!(calls[0].state, CallState::Refused);
    assert!(world.effects().is_empty());
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_comes_after_the_stop_is_stored_and_wakes_nothing() {
    let world = world().await;
    let task = world.task("stop me").await;
    let engine = world.engine();
    let mut drive = world.claim(&engine, task).await;
    advance(&engine, &mut drive).await.expect("decides");
    let After::Calls { step, calls } = drive.after.clone() else {
        panic!("a call is to be made");
    };
    let start = domain::turn::StartCalls {
        fence: drive.fence,
        step: step.at.step,
        indices: vec![0],
        prompts: Vec::new(),
        at: world.clock.now(),
    };
    world.run(start).await.expect("begins");
    world
        .run(StopTask(world.action(task)))
        .await
        .expect("stops");
    let late = domain::turn::FinishCalls {
        fence: drive.fence,
        step: step.at.step,
        finished: vec![domain::turn::FinishedCall {
            index: 0,
            outcome: domain::turn::CallOutcome::Done(json!({"late": true})),
            large: None,
            effects: Vec::new(),
        }],
        limits: domain::task::TaskLimits::default(),
        spare: domain::turn::Spare::new(),
        at: world.clock.now(),
    };
    assert!(world.run(late).await.expect("is taken").is_none());
    let stored = world.calls(drive.fence.turn).await;
    assert_eq!(stored[0].id, calls[0].id);
    assert_eq!(stored[0].state, CallState::Done);
    assert_eq!(
        world.turn(drive.fence.turn).await.state,
        TurnState::Cancelled
    );
    assert_eq!(world.stored(task).await.status, TaskStatus::Stopped);
    assert!(world.due(task).await.is_none());
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_lets_the_step_under_way_end_and_no_other_begin() {
    let world = world().await;
    let task = world.task("hold me").await;
    let engine = world.engine();
    let mut drive = world.claim(&engine, task).await;
    world
        .run(PauseTask(world.action(task)))
        .await
        .expect("pauses");
    finish(&engine, &mut drive).await.expect("moves on");
    let held = world.stored(task).await;
    assert_eq!((held.status, held.usage.steps), (TaskStatus::Paused, 1));
    assert_eq!(world.effects().len(), 1, "what was decided is carried out");
    assert!(world.due(task).await.is_none());
    world
        .run(ResumeTask(world.action(task)))
        .await
        .expect("resumes");
    world.settle(&engine, task).await;
    assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_can_be_withdrawn_until_a_step_takes_it_and_not_afterwards() {
    let world = world().await;
    let task = world.task("read me").await;
    let early = world.write(task, "never mind").await;
    let withdraw = |message| WithdrawMessage {
        caller: world.caller,
        workspace: world.workspace,
        message,
        at: world.clock.now(),
    };
    let done = world.run(withdraw(early)).await.expect("withdraws");
    assert_eq!(done, Withdrawn::Done(early));
    let message = world.write(task, "please hurry").await;
    let engine = world.engine();
    let mut drive = world.claim(&engine, task).await;
    let taken = StepRef { turn: 1, step: 1 };
    let refused = world.run(withdraw(message)).await.expect("no fault");
    assert_eq!(refused, Withdrawn::AlreadyConsumed(taken));
    assert_eq!(world.message(message).await.state, MessageState::Delivered);
    finish(&engine, &mut drive).await.expect("moves on");
    let read = world.message(message).await;
    assert_eq!(
        (read.state, read.taken_by),
        (MessageState::Consumed, Some(taken))
    );
    let first = &world.model.requests()[0];
    let text: String = first
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    assert!(text.contains("please hurry") && !text.contains("never mind"));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abandoned_step_takes_its_messages_again_and_those_that_came_since() {
    let world = world().await;
    let task = world.task("read me").await;
    let first = world.write(task, "one").await;
    world.store.plan("step.decide", 1, Fault::CrashBefore);
    let engine = world.engine();
    let mut drive = world.claim(&engine, task).await;
    finish(&engine, &mut drive)
        .await
        .expect_err("the process dies");
    let second = world.write(task, "two").await;
    world.outlive_leases();
    let successor = world.engine();
    world.settle(&successor, task).await;
    for message in [first, second] {
        let read = world.message(message).await;
        assert_eq!(read.taken_by, Some(StepRef { turn: 1, step: 1 }));
        assert_eq!(read.state, MessageState::Consumed);
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_during_the_last_call_is_read_before_the_task_is_delivered() {
    let world = World::with_model(|request| {
        let situation = request.situation.as_ref().expect("a planner's request");
        let actions = if situation.messages.is_empty() {
            json!([action("note", "a")])
        } else {
            json!([])
        };
        decision(true, &actions)
    })
    .await;
    let task = world.task("wait for me").await;
    let engine = world.engine();
    let mut drive = world.claim(&engine, task).await;
    advance(&engine, &mut drive).await.expect("decides");
    let late = world.write(task, "one more thing").await;
    finish(&engine, &mut drive).await.expect("moves on");
    assert_eq!(world.message(late).await.state, MessageState::Consumed);
    assert_eq!(world.stored(task).await.usage.steps, 2);
    assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steady_messages_never_keep_a_stop_or_a_pause_from_taking_effect() {
    let world = world().await;
    let task = world.task("busy").await;
    let engine = world.engine();
    let mut drive = world.claim(&engine, task).await;
    for number in 0..20 {
        world.write(task, &format!("message {number}")).await;
        if number == 10 {
            world
                .run(PauseTask(world.action(task)))
                .await
                .expect("pauses");
        }
        advance(&engine, &mut drive).await.expect("moves on");
    }
    assert_eq!(world.stored(task).await.status, TaskStatus::Paused);
    assert_eq!(drive.after, After::Ended);
    world
        .run(StopTask(world.action(task)))
        .await
        .expect("stops");
    assert_eq!(world.stored(task).await.status, TaskStatus::Stopped);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_to_a_stopped_task_is_kept_and_a_card_offers_to_resume_it() {
    let world = world().await;
    let task = world.task("ended").await;
    world
        .run(StopTask(world.action(task)))
        .await
        .expect("stops");
    let message = world.write(task, "still there?").await;
    let stored = world.message(message).await;
    assert_eq!(stored.state, MessageState::Undeliverable);
    let routing = stored.routing.expect("says why");
    assert_eq!(routing.outcome, RoutingOutcome::Rejected);
    assert!(world.due(task).await.is_none(), "it wakes nothing");
    let cards = world.store_reads().list_cards(&[task], Some(true)).await;
    let card = cards.expect("reads").pop().expect("a card");
    let answer = domain::card::AnswerCard {
        caller: world.caller,
        workspace: world.workspace,
        card: card.id,
        option: Some(domain::card::RESUME.to_owned()),
        comment: None,
        idempotency: None,
        spare: domain::turn::Spare::new(),
        at: world.clock.now(),
    };
    let answered = world.run(answer.clone()).await.expect("answers");
    assert_eq!(answered, domain::card::Answered::Done);
    assert_eq!(world.message(message).await.state, MessageState::Delivered);
    let again = world.run(answer).await.expect("no fault");
    assert_eq!(again, domain::card::Answered::NotOpen);
    world.settle(&world.engine(), task).await;
    assert_eq!(world.message(message).await.state, MessageState::Consumed);
    assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_message_asks_for_is_done_although_a_question_is_open() {
    let world = World::with_model(|request| {
        let actions = match step_of(&request) {
            (2, 1) => json!([action("look", "a")]),
            (2, 2) => json!([action("note", "a")]),
            _ => json!([]),
        };
        let mut decided = decision(true, &actions);
        decided["checklist"][0]["needs_confirmation"] = json!(true);
        decided
    })
    .await;
    let task = world.task("show me").await;
    let engine = world.engine();
    world.settle(&engine, task).await;
    let asked = world.stored(task).await;
    assert_eq!(asked.status, TaskStatus::WaitingForPerson);
    let message = world.write(task, "one more, please").await;
    world.settle(&engine, task).await;
    assert_eq!(world.message(message).await.state, MessageState::Consumed);
    assert_eq!(
        world.effects().len(),
        2,
        "it looked, and did what it looked for"
    );
    let asked = world.stored(task).await;
    assert_eq!(asked.status, TaskStatus::WaitingForPerson);
    world.close().await;
}
