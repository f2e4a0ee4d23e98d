//! `read_guide`: how things are done well, read on demand (K1).
//!
//! Invariants
//! - A guide fits into what a later request shows of a result.

use async_trait::async_trait;
use domain::Result;
use domain::task::Task;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::cut;
use crate::tools::arguments::{object, read, text};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

/// Guides by name.
pub(in crate::tools) const GUIDES: [(&str, &str); 4] = [
    ("flows", include_str!("../../../guides/flows.md")),
    (
        "poster_series",
        include_str!("../../../guides/poster_series.md"),
    ),
    (
        "remembering",
        include_str!("../../../guides/remembering.md"),
    ),
    (
        "storyboarding",
        include_str!("../../../guides/storyboarding.md"),
    ),
];

pub(super) struct ReadGuide(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    name: String,
}

impl Default for ReadGuide {
    fn default() -> Self {
        Self(ToolSpec::core(
            "read_guide",
            "Reads how something is done well: storyboarding, poster_series, flows, remembering.",
            object(&["name"], json!({"name": text("The guide.")})),
        ))
    }
}

#[async_trait]
impl Tool for ReadGuide {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn objection(&self, _task: &Task, arguments: &Value) -> Option<String> {
        let arguments: Arguments = read(arguments).ok()?;
        let names = GUIDES.map(|(name, _)| name);
        (!names.contains(&arguments.name.as_str())).then(|| {
            format!(
                "there is no guide `{}`; there are: {}",
                cut(&arguments.name, 60),
                names.join(", ")
            )
        })
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let guide = GUIDES.iter().find(|(name, _)| *name == arguments.name);
        Ok(match guide {
            Some((_, guide)) => Ran::done(json!({"guide": guide})),
            None => Ran::failed("there is no such guide any more", None),
        })
    }
}
