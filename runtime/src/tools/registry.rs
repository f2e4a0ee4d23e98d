//! The tools of an installation, by name; and from what a model asked for to a call that can be stored.
//!
//! Invariants
//! - What is told of tools comes in one order, core first, then by domain and name: it stands in the stable prefix.
//! - A call that can not be run is planned all the same, with the reason: it is stored as refused, and the model reads why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::task::Task;
use domain::turn::{PlannedCall, Risk};
use serde_json::Value;

use super::core::{self, LoadTools};
use super::{Tool, ToolSpec, generation, memory, works};
use crate::context::cut;
use crate::model::schema;

/// The domain whose tools are always shown.
const CORE: &str = "core";
/// Characters of a name that no tool has, as it is stored.
const NAME: usize = 100;

/// Tools, by name.
#[derive(Clone)]
pub struct Tools {
    /// Whether it is of another domain than core, its domain, its name.
    by_place: BTreeMap<(bool, &'static str, &'static str), Arc<dyn Tool>>,
}

impl Tools {
    /// These tools, and `load_tools` for the domains they are of; of two with one name and domain the later one.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let place = |tool: Arc<dyn Tool>| {
            let spec = tool.spec();
            ((spec.domain != CORE, spec.domain, spec.name), tool)
        };
        let mut by_place: BTreeMap<_, _> = tools.into_iter().map(place).collect();
        let mut loadable: BTreeMap<&'static str, Vec<&'static str>> = BTreeMap::new();
        for (_, domain, name) in by_place.keys().filter(|(is_loadable, ..)| *is_loadable) {
            loadable.entry(domain).or_default().push(name);
        }
        let (key, tool) = place(Arc::new(LoadTools::new(loadable)));
        by_place.insert(key, tool);
        Self { by_place }
    }

    /// The tool with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        let mut tools = self.by_place.values();
        let found = tools.find(|tool| tool.spec().name == name);
        found.map(|tool| &**tool)
    }

    /// What all tools are, core first.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.by_place.values().map(|tool| tool.spec())
    }

    /// What the tools of a domain are.
    pub fn specs_of(&self, domain: &str) -> impl Iterator<Item = &ToolSpec> {
        self.specs().filter(move |spec| spec.domain == domain)
    }

    /// The domains, core first.
    #[must_use]
    pub fn domains(&self) -> Vec<&'static str> {
        let places: BTreeSet<_> = self
            .by_place
            .keys()
            .map(|(is_loadable, domain, _)| (*is_loadable, *domain))
            .collect();
        places.into_iter().map(|(_, domain)| domain).collect()
    }

    /// The call that a model asked for, with the reason where it can not be run.
    #[must_use]
    pub fn plan(&self, task: &Task, action_tool: &str, arguments: &Value) -> PlannedCall {
        let mut arguments = arguments.clone();
        let Some(tool) = self.get(action_tool) else {
            let known: Vec<_> = self.specs().map(|spec| spec.name).collect();
            let name = cut(action_tool, NAME);
            return PlannedCall {
                refusal: Some(format!(
                    "there is no tool `{name}`; there are: {}",
                    known.join(", ")
                )),
                tool: name,
                risk: Risk::Read,
                idempotent: true,
                arguments,
            };
        };
        let spec = tool.spec();
        schema::tidy(&spec.parameters, &mut arguments);
        let refusal = match schema::check(spec.name, &spec.parameters, &arguments) {
            Ok(()) => tool.objection(task, &arguments),
            Err(problems) => Some(problems),
        };
        PlannedCall {
            tool: spec.name.to_owned(),
            risk: spec.risk,
            idempotent: spec.idempotent,
            arguments,
            refusal,
        }
    }
}

impl Default for Tools {
    /// What Atelier brings.
    fn default() -> Self {
        let tools = core::tools().into_iter().chain(works::tools());
        Self::new(tools.chain(generation::tools()).chain(memory::tools()))
    }
}
