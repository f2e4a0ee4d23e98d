//! `load_tools`: tools of a domain stand in the next requests (C4).

use std::collections::BTreeMap;

use async_trait::async_trait;
use domain::Result;
use domain::task::Task;
use domain::turn::Effect;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::cut;
use crate::tools::arguments::{object, read, text};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

pub(in crate::tools) struct LoadTools {
    spec: ToolSpec,
    /// Names of tools, by domain.
    loadable: BTreeMap<&'static str, Vec<&'static str>>,
}

#[derive(Deserialize)]
struct Arguments {
    domain: String,
}

impl LoadTools {
    pub(in crate::tools) fn new(loadable: BTreeMap<&'static str, Vec<&'static str>>) -> Self {
        Self {
            spec: ToolSpec::core(
                "load_tools",
                "Shows the tools of a domain in the next requests. Tools run whether they are shown or not.",
                object(&["domain"], json!({"domain": text("The domain.")})),
            ),
            loadable,
        }
    }
}

#[async_trait]
impl Tool for LoadTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn objection(&self, _task: &Task, arguments: &Value) -> Option<String> {
        let arguments: Arguments = read(arguments).ok()?;
        if self.loadable.contains_key(arguments.domain.as_str()) {
            return None;
        }
        let domains: Vec<_> = self.loadable.keys().copied().collect();
        Some(match arguments.domain.as_str() {
            "core" => "the core tools are always shown".to_owned(),
            other => format!(
                "there is no domain `{}`; there are: {}",
                cut(other, 60),
                domains.join(", ")
            ),
        })
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let tools = self.loadable.get(arguments.domain.as_str());
        let result = json!({"domain": arguments.domain, "tools": tools});
        Ok(Ran::done(result).with(Effect::LoadTools(arguments.domain)))
    }
}
