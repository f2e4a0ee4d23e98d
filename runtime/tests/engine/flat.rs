//! The cost of a step does not grow with the age of its task (J7).

use std::collections::BTreeSet;

use domain::page::{End, Window};
use domain::turn::ContextUsage;
use runtime::model::Function;
use serde_json::json;

use crate::world::{World, action, decision};

/// Steps of the long task; `ATELIER_TEST_STEPS` makes it longer or shorter.
fn steps() -> u32 {
    std::env::var("ATELIER_TEST_STEPS")
        .ok()
        .and_then(|steps| steps.parse().ok())
        .unwrap_or(600)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_step_costs_as_many_tokens_as_an_early_one_and_the_prefix_is_one() {
    let last = steps();
    let world = World::with_model(move |request| {
        if request.function == Function::SummarizeSegment {
            return json!({"summary": "People asked for pictures; some were made, as told in works. ".repeat(8)});
        }
        let situation = request.situation.as_ref().expect("a planner's request");
        let done = situation.task.usage.steps + 1;
        let mut decided = decision(
            done == u64::from(last),
            &json!([action("note", &format!("number {done} of a long row of things that are noted"))]),
        );
        decided["rationale"] = json!(format!("Step {done}: the next of many things is noted, as the plan says."));
        decided
    })
    .await;
    let task = world.task("a long task").await;
    world.settle(&world.engine(), task).await;
    assert_eq!(world.stored(task).await.usage.steps, u64::from(last));
    let usages = usages(&world, task).await;
    let hashes: BTreeSet<_> = usages
        .iter()
        .map(|usage| usage.stable_prefix_hash.as_str())
        .collect();
    assert_eq!(
        hashes.len(),
        1,
        "the stable prefix is the same bytes throughout"
    );
    let largest = |until: usize| {
        usages[until - 40..until]
            .iter()
            .map(|usage| usage.stable_prefix + usage.summaries + usage.recent + usage.dynamic_tail)
            .max()
            .expect("steps")
    };
    let (early, late) = (largest(50), largest(last as usize));
    eprintln!(
        "largest request of 40 steps: {early} tokens up to step 50, {late} up to step {last}"
    );
    assert!(
        f64::from(late) <= f64::from(early) * 1.1,
        "{early} tokens became {late}"
    );
    world.close().await;
}

async fn usages(world: &World, task: domain::ids::TaskId) -> Vec<ContextUsage> {
    let mut usages = Vec::new();
    let mut after = None;
    loop {
        let window = Window {
            limit: 100,
            end: End::First,
            after,
            before: None,
        };
        let page = world
            .store_reads()
            .list_turns(task, window)
            .await
            .expect("reads");
        for turn in &page.rows {
            let steps = world
                .store_reads()
                .list_steps(&[turn.id])
                .await
                .expect("reads");
            usages.extend(steps.into_iter().filter_map(|step| step.context));
            after = Some(turn.number);
        }
        if !page.has_next {
            return usages;
        }
    }
}
