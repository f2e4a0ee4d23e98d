//! The journal is the truth: projections can be dropped and come back, and nothing lived only in them.

use std::sync::Arc;

use domain::card::{AnswerCard, CONFIRM};
use domain::ids::{CardId, TaskId, TurnId};
use domain::journal::JournalEntry;
use domain::page::{End, PageRequest, Window};
use domain::task::{
    DropProjections, FoldProjections, PauseTask, Projections, RebuildProjections, ResumeTask,
    TaskAction, TaskStatus,
};
use domain::time::Clock as _;
use domain::turn::{Call, Spare, Step};
use runtime::engine::Engine;
use runtime::model::{Function, ModelRequest, Scripted};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{World, action, advance, decision, step_of};

/// Tasks that are tried.
const TASKS: usize = 200;

/// The replies, as recorded as a function is: they follow from the request's own words, and repeat a digest of them, so that one byte
/// that differs shows in everything that comes after.
fn recorded() -> Arc<Scripted> {
    Scripted::answering(|request| async move { Ok(Scripted::reply(reply(&request))) })
}

fn reply(request: &ModelRequest) -> Value {
    let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, words(request).as_bytes());
    if request.function == Function::SummarizeSegment {
        return json!({"summary": format!("What came before: {digest}.")});
    }
    let situation = request.situation.as_ref().expect("a planner's request");
    let (turn, step) = step_of(request);
    let shape = shape_of(&situation.task.title);
    let steps = if shape == Shape::Old { 16 } else { 4 };
    let is_last = step == steps || (turn > 1 && step == 2);
    let mut decided = decision(
        is_last,
        &json!([
            action("note", &format!("{turn}.{step}: {digest}")),
            action("press", &digest.to_string())
        ]),
    );
    decided["rationale"] = json!(format!(
        "{digest}. {}",
        "It follows from the plan. ".repeat(20)
    ));
    decided["summary"] = json!(format!("after step {step} of turn {turn}: {digest}"));
    decided["short_line"] = json!(format!("step {step}: {digest}"));
    if shape == Shape::Confirmed {
        decided["checklist"][0]["needs_confirmation"] = json!(true);
        if turn > 1 {
            // What a person has confirmed stays done.
            decided["checklist"][0]["state"] = json!("done");
        }
    }
    let later = json!({"id": "later", "title": format!("later {digest}"), "state": if is_last { "done" } else { "todo" }});
    decided["checklist"]
        .as_array_mut()
        .expect("a list")
        .push(later);
    decided
}

/// Everything that a request says, byte by byte.
fn words(request: &ModelRequest) -> String {
    format!(
        "{:?} {:?} {:?} {:#?}",
        request.function, request.model, request.summaries, request.messages
    )
}

/// Where a task stands when the copies are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A turn of it has got so far, and its worker is gone.
    UnderWay(usize),
    /// It was delivered, and a person has written again.
    WrittenTo,
    /// It came to a checkpoint, and a person has confirmed it.
    Confirmed,
    /// It is held.
    Paused,
    /// Its history has grown so long that a part of it is summarised.
    Old,
}

fn shape_of(title: &str) -> Shape {
    let number: usize = title.trim_start_matches("goal ").parse().expect("a number");
    match number % 10 {
        so_far @ 0..=5 => Shape::UnderWay(so_far),
        6 => Shape::WrittenTo,
        7 => Shape::Confirmed,
        8 => Shape::Paused,
        _ => Shape::Old,
    }
}

/// Brings a task to where its shape says.
async fn prepare(world: &World, number: usize) -> TaskId {
    let engine = world.engine();
    let title = format!("goal {number}");
    let task = world.task(&title).await;
    world.write(task, &format!("a word about {number}")).await;
    match shape_of(&title) {
        Shape::UnderWay(so_far) => go_on(world, &engine, task, so_far).await,
        Shape::Old => go_on(world, &engine, task, 34).await,
        Shape::Paused => {
            go_on(world, &engine, task, 2).await;
            let paused = world.run(PauseTask(world.action(task))).await;
            paused.expect("pauses");
        }
        Shape::WrittenTo => {
            world.settle(&engine, task).await;
            world.write(task, "and now?").await;
        }
        Shape::Confirmed => {
            world.settle(&engine, task).await;
            confirm(world, task).await;
        }
    }
    task
}

async fn go_on(world: &World, engine: &Engine, task: TaskId, so_far: usize) {
    if so_far == 0 {
        return;
    }
    let mut drive = world.claim(engine, task).await;
    for _ in 1..so_far {
        advance(engine, &mut drive).await.expect("moves on");
    }
}

async fn confirm(world: &World, task: TaskId) {
    let cards = world.store_reads().list_cards(&[task], Some(true)).await;
    let card = cards.expect("reads").pop().expect("a checkpoint's card");
    let answer = AnswerCard {
        caller: world.caller,
        workspace: world.workspace,
        card: card.id,
        option: Some(CONFIRM.to_owned()),
        comment: Some("go on".to_owned()),
        idempotency: None,
        spare: Spare::new(),
        at: world.clock.now(),
    };
    world.run(answer).await.expect("answers");
    // The person has one more wish, so that the task does not only end.
    world.write(task, "and one thing more").await;
}

/// Deletes all projections and has them folded anew, as a person asks for it and as an operator does.
async fn rebuild(world: &World, tasks: &[TaskId]) {
    let reads = world.store_reads();
    let sorted = async || {
        let mut found = reads.list_projections(tasks).await.expect("reads");
        found.sort_by_key(|(task, _)| *task);
        found
    };
    let before = sorted().await;
    assert!(before.len() > TASKS / 2, "most tasks have some");
    for task in tasks {
        let dropped = world.run(DropProjections(world.action(*task))).await;
        dropped.expect("drops");
    }
    assert!(sorted().await.is_empty(), "all are gone");
    for (number, task) in tasks.iter().enumerate() {
        if number % 2 == 0 {
            let rebuilt = world.run(RebuildProjections(world.action(*task))).await;
            rebuilt.expect("rebuilds");
        } else {
            let at = world.clock.now();
            let workspace = world.workspace;
            let fold = FoldProjections {
                workspace,
                task: *task,
                at,
            };
            world.run(fold).await.expect("folds");
        }
    }
    assert_eq!(before, sorted().await);
}

/// What a task went on with.
#[derive(Debug, PartialEq)]
struct Continuation {
    requests: Vec<String>,
    steps: Vec<Step>,
    calls: Vec<Call>,
    journal: Vec<JournalEntry>,
    projections: Vec<(TaskId, Projections)>,
    status: TaskStatus,
}

/// New processes take the task up, and bring it to its end.
async fn continued(world: &World, task: TaskId) -> Continuation {
    drop(world.model.take_requests());
    if world.stored(task).await.status == TaskStatus::Paused {
        let action = TaskAction {
            spare: spare_of(task),
            ..world.action(task)
        };
        world.run(ResumeTask(action)).await.expect("resumes");
    }
    world.settle(&world.engine(), task).await;
    let reads = world.store_reads();
    let turns = reads
        .list_turns(task, all_turns())
        .await
        .expect("reads")
        .rows;
    let ids: Vec<_> = turns.iter().map(|turn| turn.id).collect();
    let all = PageRequest {
        first: 1_000,
        after: None,
    };
    Continuation {
        requests: world.model.take_requests().iter().map(words).collect(),
        steps: reads.list_steps(&ids).await.expect("reads"),
        calls: reads.list_calls(&ids).await.expect("reads"),
        journal: reads
            .list_journal(task, &[], all)
            .await
            .expect("reads")
            .rows,
        projections: reads.list_projections(&[task]).await.expect("reads"),
        status: world.stored(task).await.status,
    }
}

/// The same ids for what both copies make.
fn spare_of(task: TaskId) -> Spare {
    let id = |name: &str| Uuid::new_v5(&task.uuid(), name.as_bytes());
    Spare {
        turn: TurnId::from_uuid(id("turn")),
        card: CardId::from_uuid(id("card")),
        task: TaskId::from_uuid(id("task")),
    }
}

fn all_turns() -> Window<u32> {
    Window {
        limit: 100,
        end: End::First,
        after: None,
        before: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_all_projections_were_rebuilt_each_task_goes_on_as_an_untouched_copy_does() {
    let world = World::with(recorded()).await;
    let mut tasks = Vec::new();
    for number in 0..TASKS {
        tasks.push(prepare(&world, number).await);
    }
    world.outlive_leases();
    let place = world.leave().await;
    let untouched = World::back_at(place.copy(), recorded()).await;
    let rebuilt = World::back_at(place, recorded()).await;
    rebuild(&rebuilt, &tasks).await;
    let mut requests = 0;
    for (number, task) in tasks.iter().enumerate() {
        let expected = continued(&untouched, *task).await;
        let found = continued(&rebuilt, *task).await;
        let shape = shape_of(&format!("goal {number}"));
        for (place, (expected, found)) in expected.requests.iter().zip(&found.requests).enumerate()
        {
            assert_eq!(
                expected, found,
                "request {place} of task {number}, {shape:?}"
            );
        }
        assert_eq!(expected, found, "task {number}, {shape:?}");
        assert_eq!(
            found.status,
            TaskStatus::Delivered,
            "task {number}, {shape:?}"
        );
        requests += found.requests.len();
    }
    assert!(
        requests > TASKS,
        "{requests} requests are too few to show anything"
    );
    eprintln!(
        "{TASKS} tasks went on with {requests} requests, the same in both copies byte by byte"
    );
    untouched.close().await;
    rebuilt.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sequences_of_a_journal_have_no_gap_and_each_result_its_step() {
    let world = World::with_model(|request| {
        let step = step_of(&request).1;
        decision(step == 3, &json!([action("note", &step.to_string())]))
    })
    .await;
    let task = world.task("numbers").await;
    world.write(task, "hello").await;
    world.settle(&world.engine(), task).await;
    let all = PageRequest {
        first: 100,
        after: None,
    };
    let entries = world
        .store_reads()
        .list_journal(task, &[], all)
        .await
        .expect("reads")
        .rows;
    let sequences: Vec<_> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(sequences, (1..=entries.len() as u64).collect::<Vec<_>>());
    let results = entries
        .iter()
        .filter(|entry| entry.data["tool"] == json!("note"));
    let steps: Vec<_> = results
        .map(|entry| entry.step.expect("a step").step)
        .collect();
    assert_eq!(steps, [1, 2, 3]);
    world.close().await;
}
