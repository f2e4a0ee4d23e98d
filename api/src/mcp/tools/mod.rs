//! The tools: each a document of the public contract, with how arguments become its variables and how its data is shown.
//!
//! Invariants
//! - Where the agent of the workspace has the same tool, name and arguments are the same; arguments may be more.
//! - Arguments that no tool takes are refused, not ignored: a misspelt `base_version` must not pass for none.
//! - A tool that can not be undone only asks; one that costs money does not exist: orders are made by tasks.
//!
//! Not here: the protocol (`server`).

mod edits;
mod schema;
mod talk;
mod tasks;
#[cfg(test)]
mod tests;
mod works;

use rmcp::model::{Tool as Described, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::outcome::Shown;
pub(super) use works::WORKSPACES;

/// A tool.
pub(super) struct Tool {
    /// Its name.
    pub(super) name: &'static str,
    /// Its name for people.
    title: &'static str,
    /// What it does, for a model.
    description: &'static str,
    /// What it can do to the world.
    effect: Effect,
    /// Where it takes place.
    pub(super) place: Place,
    /// JSON Schema of its arguments.
    parameters: fn() -> Value,
    /// What is run.
    pub(super) document: &'static str,
    /// What is asked with these arguments, or what is wrong with them.
    pub(super) read: fn(Value) -> Result<Asked, String>,
}

/// What a tool can do to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing.
    Reads,
    /// Changes what can be brought back.
    Writes,
    /// Asks a person whether something may be done that can not be undone.
    Asks,
}

/// Where a tool takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Its arguments say it.
    Named,
    /// In a workspace; where its person has one alone, it need not be named.
    Workspace,
}

/// What is asked.
pub(super) struct Asked {
    /// Variables of the document.
    pub(super) variables: Value,
    /// How the data is shown.
    pub(super) show: Box<dyn FnOnce(Value) -> Shown + Send>,
}

impl Asked {
    fn new(variables: Value, show: impl FnOnce(Value) -> Shown + Send + 'static) -> Self {
        Self {
            variables,
            show: Box::new(show),
        }
    }
}

impl Tool {
    /// It as the protocol describes it.
    pub(super) fn described(&self) -> Described {
        let Value::Object(mut parameters) = (self.parameters)() else {
            unreachable!("the schema of arguments is an object");
        };
        if self.place == Place::Workspace
            && let Some(Value::Object(properties)) = parameters.get_mut("properties")
        {
            let workspace = "The workspace; may be left out by who has one alone.";
            properties.insert("workspace_id".to_owned(), schema::text(workspace));
        }
        let is_reading = self.effect == Effect::Reads;
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(is_reading)
            .destructive(self.effect == Effect::Asks)
            .open_world(false);
        Described::new(self.name, self.description, parameters).with_annotations(annotations)
    }
}

/// All of them, in the order in which they are listed.
pub(super) fn all() -> impl Iterator<Item = &'static Tool> {
    let groups: [&'static [Tool]; 4] = [works::TOOLS, edits::TOOLS, tasks::TOOLS, talk::TOOLS];
    groups.into_iter().flatten()
}

/// Arguments in the type that a tool works with.
fn arguments<T: DeserializeOwned>(given: Value) -> Result<T, String> {
    serde_json::from_value(given).map_err(|error| error.to_string())
}

/// A word of a tool as the value of an enum: `text` is `TEXT`.
fn shouted(word: &str) -> String {
    word.to_uppercase()
}

/// The same for a list that may be left out.
fn all_shouted(words: Option<&[String]>) -> Option<Vec<String>> {
    words.map(|words| words.iter().map(|word| shouted(word)).collect())
}
