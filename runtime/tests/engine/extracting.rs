//! The process dies, or the store loses its answer, at every write point of extraction: what was said is remembered once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::error::Error;
use domain::memory::{MemoryKind, MemoryScope, WRITE_POINTS};
use runtime::memory::ExtractionOptions;
use runtime::model::{Function, Scripted};
use serde_json::json;
use storage::faults::{Fault, is_crash};
use tokio_util::sync::CancellationToken;

use crate::world::{World, decision};

const SAID: &str = "Our brand is teal";

/// A model that reads what is said; the first replies are no list, so that an attempt fails.
async fn world(misfits: usize) -> World {
    let asked = Arc::new(AtomicUsize::new(0));
    let model = Scripted::answering(move |request| {
        let count = match request.function {
            Function::ExtractMemories => asked.fetch_add(1, Ordering::SeqCst),
            _ => 0,
        };
        async move {
            if request.function != Function::ExtractMemories {
                return Ok(Scripted::reply(decision(true, &json!([]))));
            }
            if count < misfits {
                return Ok(Scripted::reply(json!({"prose": "none"})));
            }
            let text: String = request
                .messages
                .iter()
                .map(|one| one.text.as_str())
                .collect();
            let (before, _) = text.rsplit_once(SAID).expect("it is asked about it");
            let (_, id) = before.rsplit_once("message_").expect("an id");
            let evidence = format!("message_{}", &id[..32]);
            Ok(Scripted::reply(
                json!({"candidates": [{"content": SAID, "kind": "fact", "scope": "workspace",
                "basis": "explicit", "evidence": [evidence], "relation": "origin"}]}),
            ))
        }
    });
    World::with(model).await
}

async fn is_remembered_once(point: &'static str, fault: Fault) {
    let misfits = if point == "extraction.fail" { 2 } else { 0 };
    let world = world(misfits).await;
    let engine = world.engine();
    let task = world.task("a whale").await;
    world.write(task, SAID).await;
    world.settle(&engine, task).await;
    world.store.plan(point, 1, fault);
    let extractor = engine.extractor(ExtractionOptions {
        delay: Duration::ZERO,
        ..ExtractionOptions::default()
    });
    let label = format!("{point}, {fault:?}");
    for _ in 0..6 {
        // Whoever had claimed it is taken for dead.
        world.clock.advance(Duration::from_mins(10));
        if let Err(error) = extractor.read_due(&CancellationToken::new()).await {
            let is_expected = is_crash(&error) || matches!(error, Error::Unavailable(_));
            assert!(is_expected, "{label}: {error:?}");
        }
    }
    assert!(world.store.runs(point) > 0, "{label}: it was not met");
    let reads = world.store_reads();
    let scopes = [MemoryScope::Workspace];
    let found = reads
        .list_newest_memories(world.workspace, &scopes, 9)
        .await;
    let mut found = found.expect("reads");
    found.retain(|(memory, _)| memory.kind != MemoryKind::Episode);
    let contents: Vec<&str> = found.iter().map(|(_, content)| content.as_str()).collect();
    assert_eq!(contents, [SAID], "{label}");
    let id = found[0].0.id;
    assert_eq!(found[0].0.versions, 1, "{label}");
    let evidence = reads.list_evidence(&[id]).await.expect("reads");
    assert_eq!(evidence.len(), 1, "{label}: {evidence:?}");
    for command in world.store.seen() {
        let is_of_memory = command.starts_with("extraction.") || command.starts_with("memory.");
        assert!(
            !is_of_memory || WRITE_POINTS.contains(&command),
            "{command} is no named write point: give it a case"
        );
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_at_any_write_point_of_extraction_has_one_outcome() {
    // Forgetting is a person's: see the tests of kills.
    let points = WRITE_POINTS
        .into_iter()
        .filter(|point| *point != "memory.forget");
    for point in points {
        for fault in [
            Fault::CrashBefore,
            Fault::CrashAfter,
            Fault::LoseAnswer,
            Fault::Refuse,
        ] {
            is_remembered_once(point, fault).await;
        }
    }
}
