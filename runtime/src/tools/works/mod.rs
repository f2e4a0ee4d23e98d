//! The tools of the domain `works`: making, editing, taking back, and asking for deletion.
//!
//! Invariants
//! - Everything is written through the document service and the commands that people use, behind the fence of the turn, on the
//!   authority of the person whose task it is.
//! - The call's id is the idempotency key: an attempt that comes after the effect gets the result of the first.

mod create_work;
mod delete_work;
mod edit_nodes;
mod edit_text;
mod editing;
mod operations;
mod outcome;
mod replace_text;
mod undo_own_edit;

use std::sync::Arc;

use super::Tool;

/// All of them.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(create_work::CreateNewWork::default()),
        Arc::new(delete_work::AskToDelete::default()),
        Arc::new(edit_nodes::EditNodesOfWork::default()),
        Arc::new(edit_text::EditTextOfWork::default()),
        Arc::new(replace_text::ReplaceTextOfWork::default()),
        Arc::new(undo_own_edit::UndoOwnEdit::default()),
    ]
}
