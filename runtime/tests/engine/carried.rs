//! What is kept from step to step is what is stored: each request is made of the same as one of a process that has just started.

use std::sync::{Arc, OnceLock};

use domain::ids::{TaskId, WorkId};
use domain::task::{CreateTask, UpdateTask};
use domain::time::Clock as _;
use domain::turn::{After, Fence, Spare};
use domain::work::RenameWork;
use runtime::context::Situation;
use runtime::engine::{Engine, Progress};
use runtime::model::{Function, ModelRequest, Scripted, ScriptedReply};
use serde_json::json;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::world::{World, action, advance, decision};

/// Compares at every request what the engine knows with what the store gives, and then lets a person act.
struct Witness {
    engine: OnceLock<Engine>,
    fence: Mutex<Option<Fence>>,
    compared: Mutex<u32>,
    person: mpsc::Sender<oneshot::Sender<()>>,
}

impl Witness {
    async fn answer(&self, request: ModelRequest) -> ScriptedReply {
        if request.function == Function::SummarizeSegment {
            return Ok(Scripted::reply(json!({"summary": "much was noted"})));
        }
        let known = request.situation.expect("a planner's request");
        let engine = self.engine.get().expect("an engine");
        let fence = self.fence.lock().await.expect("a claimed turn");
        let position = engine.position(fence).await.expect("reads");
        let After::Opened(opened) = position else {
            panic!("no step is open: {position:?}");
        };
        let stored = Situation::load(engine.store().reads(), &opened).await;
        assert_eq!(*known, stored.expect("reads"), "step {:?}", known.step.at);
        *self.compared.lock().await += 1;
        let (acted, done) = oneshot::channel();
        self.person.send(acted).await.expect("a person is there");
        done.await.expect("the person acts");
        let step = known.step.at.step;
        let actions = match step % 4 {
            0 => json!([]),
            1 => json!([
                action("note", &"a long text ".repeat(60)),
                action("press", &format!("b{}", known.task.usage.steps)),
            ]),
            2 => json!([action("note", "large"), action("press", "fail")]),
            _ => json!([action("unknown", "x")]),
        };
        let is_done = known.task.usage.steps >= 60 && step.is_multiple_of(4);
        Ok(Scripted::reply(decision(is_done, &actions)))
    }
}

/// What a person does while a step is being decided, one thing after the other.
async fn act(world: &World, task: TaskId, work: WorkId, number: u32) {
    match number % 5 {
        0 => drop(world.write(task, &format!("message {number}")).await),
        1 => {
            let rename = RenameWork {
                caller: world.caller,
                workspace: world.workspace,
                work,
                title: format!("title {number}"),
                at: world.clock.now(),
            };
            world.run(rename).await.expect("renames");
        }
        2 => {
            let update = UpdateTask {
                action: world.action(task),
                title: None,
                brief: Some(format!("brief {number}")),
                autonomy: None,
                budget_micros: None,
            };
            world.run(update).await.expect("updates");
        }
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_made_of_what_is_stored_whatever_was_known_before() {
    let (person, mut asked) = mpsc::channel::<oneshot::Sender<()>>(1);
    let witness = Arc::new(Witness {
        engine: OnceLock::new(),
        fence: Mutex::default(),
        compared: Mutex::default(),
        person,
    });
    let watching = witness.clone();
    let model = Scripted::answering(move |request| {
        let witness = watching.clone();
        async move { witness.answer(request).await }
    });
    let world = World::with(model).await;
    let engine = world.engine();
    assert!(witness.engine.set(world.engine()).is_ok());
    let work = world.work("first").await;
    let task = world.new_task("carry on");
    let command = CreateTask {
        caller: world.caller,
        works: vec![work],
        idempotency: None,
        spare: Spare::new(),
        task,
    };
    let task = world.run(command).await.expect("makes a task");
    let mut acts = 0;
    while let Some(due) = world.due(task).await {
        let claimed = engine.claim(due, false).await.expect("claims");
        let mut drive = claimed.expect("is due");
        *witness.fence.lock().await = Some(drive.fence);
        loop {
            let mut moved = Box::pin(advance(&engine, &mut drive));
            let progress = loop {
                tokio::select! {
                    progress = &mut moved => break progress,
                    Some(acted) = asked.recv() => {
                        acts += 1;
                        act(&world, task, work, acts).await;
                        acted.send(()).expect("the model waits");
                    }
                }
            };
            drop(moved);
            if progress.expect("moves on") == Progress::Over {
                break;
            }
        }
    }
    let compared = *witness.compared.lock().await;
    assert!(compared > 60, "{compared} requests");
    world.close().await;
}
