//! Main: crashes between a decision and its delivery, a model or a search that is away, and a request that stays as it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::ids::{MessageId, TaskId};
use domain::journal::JournalKind;
use domain::message::{MessageState, RoutingOutcome};
use domain::task::main_id;
use domain::turn::TurnState;
use runtime::context::tokens;
use runtime::model::{Function, ModelError, ModelRequest, Scripted};
use serde_json::{Value, json};
use storage::faults::{Fault, is_crash};

use crate::world::{World, decision, finish};

/// Routes to the first task that is shown; tasks end with their first step.
fn answer(request: &ModelRequest) -> Value {
    match request.function {
        Function::Route => route_to_first(request),
        _ => decision(true, &json!([])),
    }
}

fn route_to_first(request: &ModelRequest) -> Value {
    let situation = request.router.as_ref().expect("a router's request");
    match situation.shown.first() {
        Some(first) => {
            json!({"outcome": "existing_task", "task_id": first.id(), "rationale": "the only one"})
        }
        None => json!({"outcome": "answer", "answer": "Nothing is there.", "rationale": "no task"}),
    }
}

async fn world() -> World {
    World::with_model(|request| answer(&request)).await
}

impl World {
    fn main(&self) -> TaskId {
        main_id(self.workspace, self.caller.user)
    }

    /// How often a message came into a task, by its journal.
    async fn deliveries(&self, task: TaskId, message: MessageId) -> usize {
        let entries = self
            .store_reads()
            .list_newest_journal(task, &[JournalKind::IncomingMessage], 0, 100)
            .await
            .expect("reads");
        let id = json!(message);
        let is_it = |data: &Value| data["message"] == id;
        entries.iter().filter(|entry| is_it(&entry.data)).count()
    }

    /// Drives Main over any number of crashes until its inbox is empty; each life of the process is a new worker.
    async fn drive_main(&self) {
        for _ in 0..20 {
            let engine = self.engine();
            let Some(due) = self.due(self.main()).await else {
                return;
            };
            let ended = match engine.claim(due, false).await {
                Ok(Some(mut drive)) => finish(&engine, &mut drive).await,
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = ended {
                let is_expected =
                    is_crash(&error) || matches!(error, domain::Error::Unavailable(_));
                assert!(is_expected, "{error:?}");
                self.outlive_leases();
            }
        }
        panic!("Main never came to rest");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_between_decision_and_delivery_delivers_once() {
    for fault in [
        Fault::CrashBefore,
        Fault::CrashAfter,
        Fault::LoseAnswer,
        Fault::Refuse,
    ] {
        for point in ["turn.claim", "message.route"] {
            let world = world().await;
            let task = world.task("the only one").await;
            let (first, second) = (world.say("go on").await, world.say("and on").await);
            world.store.plan(point, 1, fault);
            world.drive_main().await;
            for message in [first, second] {
                let label = format!("{point}, {fault:?}");
                let stored = world.message(message).await;
                assert_eq!(stored.state, MessageState::Delivered, "{label}");
                assert_eq!(stored.task, Some(task), "{label}");
                assert_eq!(world.deliveries(task, message).await, 1, "{label}");
            }
            world.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_was_frozen_delivers_nothing_a_second_time() {
    let world = world().await;
    let task = world.task("the only one").await;
    let message = world.say("go on").await;
    let (first, second) = (world.engine(), world.engine());
    let mut frozen = world.claim(&first, world.main()).await;
    world.outlive_leases();
    let mut taken_over = world.claim(&second, world.main()).await;
    finish(&second, &mut taken_over).await.expect("moves on");
    finish(&first, &mut frozen)
        .await
        .expect("is refused without a fault");
    assert_eq!(world.deliveries(task, message).await, 1);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_model_is_away_a_message_waits_and_is_routed_when_it_is_back() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let model = Scripted::answering(move |request| {
        let count = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            if count < 10 {
                return Err(ModelError::Unavailable {
                    reason: "overloaded".to_owned(),
                    retry_after: None,
                });
            }
            Ok(Scripted::reply(answer(&request)))
        }
    });
    let world = World::with(model).await;
    let message = world.say("hello").await;
    let engine = world.engine();
    for _ in 0..10 {
        world.settle(&engine, world.main()).await;
        let stored = world.message(message).await;
        assert_eq!(stored.state, MessageState::Received, "it waits");
        assert_eq!(stored.taken_by, None);
        let main = world.stored(world.main()).await;
        let turn = world.turn(main.active_turn.expect("a turn")).await;
        assert_eq!(turn.state, TurnState::Suspended);
        // However long it is away, it is asked again within half a minute.
        world.clock.advance(Duration::from_secs(31));
    }
    world.settle(&engine, world.main()).await;
    assert_eq!(world.message(message).await.state, MessageState::Answered);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_search_is_away_a_message_waits_unless_every_task_is_in_sight() {
    let world = world().await;
    for number in 0..12 {
        world.task(&format!("task {number}")).await;
    }
    world.search.set_away(true);
    let message = world.say("in sight").await;
    world.drive_main().await;
    assert_eq!(world.message(message).await.state, MessageState::Delivered);
    world.task("one more").await;
    let message = world.say("out of sight").await;
    let engine = world.engine();
    world.settle(&engine, world.main()).await;
    assert_eq!(world.message(message).await.state, MessageState::Received);
    world.search.set_away(false);
    world.clock.advance(Duration::from_secs(31));
    world.drive_main().await;
    assert_eq!(world.message(message).await.state, MessageState::Delivered);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_taken_back_is_not_routed() {
    let world = world().await;
    let task = world.task("the only one").await;
    let message = world.say("go on").await;
    let engine = world.engine();
    // A step of Main has taken it, and thinks.
    let mut drive = world.claim(&engine, world.main()).await;
    assert_eq!(world.message(message).await.state, MessageState::Routing);
    let command = domain::message::WithdrawMessage {
        caller: world.caller,
        workspace: world.workspace,
        message,
        at: domain::time::Clock::now(&*world.clock),
    };
    world.run(command).await.expect("takes back");
    finish(&engine, &mut drive).await.expect("moves on");
    assert_eq!(world.message(message).await.state, MessageState::Withdrawn);
    assert_eq!(world.deliveries(task, message).await, 0);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_request_is_as_long_for_many_tasks_as_for_ten() {
    let mut sizes = Vec::new();
    for count in [10, 400] {
        let world = world().await;
        for number in 0..count {
            world
                .task(&format!(
                    "A series of posters about whales, number {:04}",
                    number + 1_000
                ))
                .await;
        }
        let message = world
            .say("make the whales of the second poster bluer")
            .await;
        world.drive_main().await;
        let routing = world.message(message).await.routing.expect("it was routed");
        assert_eq!(routing.outcome, RoutingOutcome::ExistingTask);
        let requests = world.model.requests();
        let request = requests
            .iter()
            .find(|request| request.function == Function::Route)
            .expect("it was asked");
        let size: u32 = request
            .messages
            .iter()
            .map(|message| tokens(&message.text))
            .sum();
        sizes.push(f64::from(size));
        world.close().await;
    }
    let [few, many] = sizes[..] else {
        panic!("two sizes");
    };
    assert!((many - few).abs() <= few * 0.05, "{few} and {many} tokens");
}
