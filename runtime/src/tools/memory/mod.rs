//! The tools of the domain `memory`: looking for what is remembered, and asking whether something may be forgotten.
//!
//! Invariants
//! - What is remembered is read for the person whose task it is, and for this task: nothing else comes along.
//! - A model forgets nothing: a person's answer does.

mod propose_forget;
mod recall;

use std::sync::Arc;

use super::Tool;

/// All of them.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(propose_forget::ProposeForget::default()),
        Arc::new(recall::Recall::default()),
    ]
}
