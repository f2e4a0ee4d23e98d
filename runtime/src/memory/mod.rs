//! Memory in the agent: extracting from what people wrote, in the background (M1, M3, M6, M7), and recalling for a task.
//!
//! Invariants
//! - Extraction reads messages of people, and beside them what was said around them and what is known, each marked as what it is.
//! - A model that is away, or a reply that never fits, costs a delay: the messages wait in the store, and are tried again.
//! - Recall ends in time, and a task goes on without it.
//!
//! Not here: what is taken into memory (`domain::memory`), finding (`search`).

mod extract;
mod recall;
mod request;

pub(crate) use extract::extract;
pub use extract::{ExtractionOptions, Extractor};
pub use recall::{Recall, Recalled, Said};
