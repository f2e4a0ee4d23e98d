//! One task that goes on for very long: what a step takes early and late, without the model (J7).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, ensure};
use async_trait::async_trait;
use domain::task::{TaskLimits, TaskStatus};
use domain::turn::{Risk, Spare};
use runtime::engine::{EngineOptions, Progress};
use runtime::model::{Function, ModelClient, ModelError, ModelReply, ModelRequest, ModelUsage};
use runtime::tools::{Invocation, Ran, Tool, ToolSpec, Tools};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::core::{Place, create, engine, open};

/// Steps before each mark whose times are looked at.
const LOOKED_AT: usize = 40;
/// The early mark.
const EARLY: usize = 50;

/// Notes one thing in each step, until so many are noted.
struct Noting {
    last: u64,
    noted: AtomicU64,
}

#[async_trait]
impl ModelClient for Noting {
    fn provider(&self) -> &'static str {
        "noting"
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let arguments = if request.function == Function::SummarizeSegment {
            json!({"summary": "People asked for pictures; some were made, as told in works. ".repeat(8)})
        } else {
            let number = self.noted.fetch_add(1, Ordering::Relaxed) + 1;
            let state = if number >= self.last {
                "done"
            } else {
                "in_progress"
            };
            let what = format!("number {number} of a long row of things that are noted");
            json!({
                "rationale": format!("Step {number}: the next of many things is noted, as the plan says."),
                "summary": "under way", "short_line": "under way",
                "checklist": [{"id": "all", "title": "everything", "state": state}],
                "actions": [{"tool": "note", "arguments": {"what": what}}], "next": "continue",
            })
        };
        Ok(ModelReply {
            arguments,
            model: "noting".to_owned(),
            usage: ModelUsage::default(),
        })
    }
}

/// A tool that does nothing.
struct Note(ToolSpec);

#[async_trait]
impl Tool for Note {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, _: &Invocation<'_>) -> domain::Result<Ran> {
        Ok(Ran::done(json!({"noted": true})))
    }
}

fn tools() -> Arc<Tools> {
    let parameters =
        json!({"type": "object", "required": ["what"], "properties": {"what": {"type": "string"}}});
    let note: Arc<dyn Tool> = Arc::new(Note(ToolSpec {
        name: "note",
        domain: "core",
        risk: Risk::Write,
        idempotent: true,
        description: "notes something",
        parameters,
    }));
    Arc::new(Tools::new(vec![note]))
}

/// Drives one task to so many steps on the embedded database; a line about what they took.
pub(super) async fn run(data: &Path, steps: u64) -> Result<String> {
    let storage = open(None, data).await?;
    let place = Place::make(&storage.store).await?;
    let noted = AtomicU64::new(0);
    let model = Arc::new(Noting { last: steps, noted });
    // By default a person is asked after five thousand steps.
    let options = EngineOptions {
        limits: TaskLimits {
            turns: u32::MAX,
            ..TaskLimits::default()
        },
        ..EngineOptions::default()
    };
    let engine = engine(&storage, model, tools(), options);
    let task = place.task();
    let id = task.id;
    create(&engine, place, task, Spare::new()).await?;
    let mut times = Vec::new();
    let stop = CancellationToken::new();
    loop {
        let due = engine
            .store()
            .reads()
            .list_claimable(engine.now(), 1)
            .await?;
        let Some(turn) = due.first() else {
            break;
        };
        let Some(mut drive) = engine.claim(*turn, false).await? else {
            continue;
        };
        let mut began = Instant::now();
        let mut decided = 0;
        loop {
            let progress = engine.advance(&mut drive, &stop).await?;
            // A step is a decision and its call.
            decided += 1;
            if decided % 2 == 0 {
                times.push(began.elapsed().as_secs_f64() * 1e3);
                began = Instant::now();
            }
            if progress == Progress::Over {
                break;
            }
        }
    }
    let stored = engine.store().reads().list_tasks_by_id(&[id]).await?;
    let is_delivered = stored
        .iter()
        .all(|task| task.status == TaskStatus::Delivered);
    ensure!(
        is_delivered,
        "the long task stands still after {} steps",
        times.len()
    );
    storage.close().await;
    let (early, late) = (median(&times, EARLY), median(&times, times.len()));
    Ok(format!(
        "One task of {} steps with a call each, median of the {LOOKED_AT} steps up to the mark: {early:.3} ms at step {EARLY}, {late:.3} ms \
         at the last ({:+.1} %).",
        times.len(),
        (late / early - 1.0) * 100.0
    ))
}

fn median(times: &[f64], mark: usize) -> f64 {
    let mut times = times[mark.saturating_sub(LOOKED_AT)..mark.min(times.len())].to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
