//! `job_status`: where an order of the task stands.

use async_trait::async_trait;
use domain::error::{Error, Result};
use domain::ids::JobId;
use serde::Deserialize;
use serde_json::json;

use super::shown;
use crate::tools::arguments::{object, read, text};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct JobStatus(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    job_id: String,
}

impl Default for JobStatus {
    fn default() -> Self {
        Self(ToolSpec {
            domain: "generation",
            ..ToolSpec::core(
                "job_status",
                "Shows where an order stands. Do not poll: the task wakes when an order is done.",
                object(
                    &["job_id"],
                    json!({"job_id": text("The order, as generate returned it.")}),
                ),
            )
        })
    }
}

#[async_trait]
impl Tool for JobStatus {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let id: JobId = arguments.job_id.parse()?;
        let reads = invocation.services.store.reads();
        let found = reads.list_jobs_by_id(&[id]).await?.pop();
        let job = found
            .filter(|job| job.workspace == invocation.task.workspace)
            .ok_or_else(|| Error::not_found("job", id))?;
        Ok(Ran::done(shown(&job)))
    }
}
