//! The journal is the truth: projections can be dropped and come back, and nothing lived only in them.

use domain::page::PageRequest;
use domain::task::{RebuildProjections, TaskStatus};
use serde_json::json;

use crate::world::{World, action, advance, decision, finish, step_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rebuilt_projections_are_the_same_and_the_next_request_too() {
    let world = World::with_model(|request| {
        let (turn, step) = step_of(&request);
        let mut decided = decision(
            step == 4,
            &json!([action("note", &format!("{turn}.{step}"))]),
        );
        decided["summary"] = json!(format!("after step {step}"));
        decided["short_line"] = json!(format!("step {step}"));
        decided
    })
    .await;
    let engine = world.engine();
    let mut tasks = Vec::new();
    for number in 0..200 {
        let task = world.task(&format!("goal {number}")).await;
        let mut drive = world.claim(&engine, task).await;
        for _ in 0..(number % 6) {
            advance(&engine, &mut drive).await.expect("moves on");
        }
        tasks.push((task, drive));
    }
    let ids: Vec<_> = tasks.iter().map(|(task, _)| *task).collect();
    let reads = world.store_reads();
    let mut before = reads.list_projections(&ids).await.expect("reads");
    before.sort_by_key(|(task, _)| *task);
    assert!(!before.is_empty());
    for task in &ids {
        world
            .run(domain::task::DropProjections(world.action(*task)))
            .await
            .expect("drops");
    }
    assert!(
        reads
            .list_projections(&ids)
            .await
            .expect("reads")
            .is_empty()
    );
    for task in &ids {
        world
            .run(RebuildProjections(world.action(*task)))
            .await
            .expect("rebuilds");
    }
    let mut after = reads.list_projections(&ids).await.expect("reads");
    after.sort_by_key(|(task, _)| *task);
    assert_eq!(before, after);
    for (task, mut drive) in tasks {
        finish(&engine, &mut drive).await.expect("moves on");
        assert_eq!(world.stored(task).await.status, TaskStatus::Delivered);
    }
    world.close().await;
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
