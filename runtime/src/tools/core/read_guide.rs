//! `read_guide`: how things are done well, read on demand, in the task's language (K1).
//!
//! Invariants
//! - A guide that is shipped fits into what a later request shows of a result.

use async_trait::async_trait;
use domain::Result;
use serde::Deserialize;
use serde_json::json;

use crate::context::cut;
use crate::tools::arguments::{object, read, text};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(super) struct ReadGuide(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    name: String,
}

impl Default for ReadGuide {
    fn default() -> Self {
        Self(ToolSpec::core(
            "read_guide",
            "Reads how something is done well: storyboarding, character_consistency, references, poster_series, flows, remembering; and \
             capabilities: what can be made here, by whom and at what price.",
            object(&["name"], json!({"name": text("The guide.")})),
        ))
    }
}

#[async_trait]
impl Tool for ReadGuide {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let media = &invocation.services.media;
        let language = &invocation.task.language;
        let found = media
            .guides
            .find(&media.providers, &arguments.name, language);
        Ok(match found {
            Some(guide) => Ran::done(json!({"guide": guide.markdown})),
            None => Ran::failed(
                format!(
                    "there is no guide `{}`; there are: {}",
                    cut(&arguments.name, 60),
                    media.guides.names().join(", ")
                ),
                None,
            ),
        })
    }
}
