//! The core tools: what every task has at hand at every step.

mod ask;
mod delegate;
mod load_tools;
mod read_guide;
mod read_journal;
mod read_result;
mod read_work;
mod reply;
mod search;

use std::sync::Arc;

use super::Tool;

pub use delegate::prompt_of;
pub(super) use load_tools::LoadTools;

/// All but `load_tools`, which the registry adds.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ask::Ask::default()),
        Arc::new(delegate::Delegate::default()),
        Arc::new(read_guide::ReadGuide::default()),
        Arc::new(read_journal::ReadJournal::default()),
        Arc::new(read_result::ReadResult::default()),
        Arc::new(read_work::ReadWork::default()),
        Arc::new(reply::Reply::default()),
        Arc::new(search::Search::default()),
    ]
}
