//! Executors: who a planner can delegate to, each with a role, a model and rules of its own (J5, J6).

use std::collections::BTreeMap;

/// Who works on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executor {
    /// Its name, as `delegate` names it.
    pub name: String,
    /// What it is good for, for the planner.
    pub role: String,
    /// Its own rules: the first message of each of its requests.
    pub rules: String,
    /// Its model; none is the configured one.
    pub model: Option<String>,
}

/// The executors of an installation, by name.
#[derive(Debug, Clone)]
pub struct Executors(BTreeMap<String, Executor>);
