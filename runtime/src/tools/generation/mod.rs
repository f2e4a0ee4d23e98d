//! The tools of the domain `generation`: ordering media, and looking at an order.
//!
//! Invariants
//! - A call stores an order and comes back: it never waits for one, and never speaks to a provider.
//! - What a model says about permission is not read: price, limits and who asked decide (A6, A7).

mod generate;
mod job_status;

use std::sync::Arc;

use domain::job::Job;
use serde_json::{Value, json};

use super::Tool;

/// All of them.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(generate::Generate::default()),
        Arc::new(job_status::JobStatus::default()),
    ]
}

/// An order as a model reads it.
fn shown(job: &Job) -> Value {
    json!({
        "job_id": job.id,
        "state": job.state.name().to_lowercase(),
        "provider": job.provider,
        "kind": job.kind.tool_name(),
        "price_micros": job.price,
        "progress": f64::from(job.progress) / 1_000.0,
        "item_id": job.item,
        "outputs": job.outputs,
        "error": job.error,
    })
}
