//! Search: finds tasks, works, messages and memories by words and by meaning, in mixed Russian, English and Chinese.
//!
//! Invariants
//! - All of it is derived: the folder and the embeddings may be deleted at any time, and come back by themselves.
//! - A search always ends in time, and says which of its legs did not answer.
//! - Each process keeps an index of its own, and follows the event log of the store.
//!
//! Not here: who may see what was found last of all (`api` reads it from the store), deciding on it (`runtime`).

mod edited;
mod embed;
mod error;
mod excerpt;
mod fuse;
mod index;
mod keyword;
mod search;
mod source;
mod subjects;
mod vectors;
mod words;

pub use embed::{
    BuiltinEmbedder, Embedder, OpenAiEmbedder, OpenAiSettings, WEIGHTS_FILE, WEIGHTS_SHA256,
};
pub use error::{Error, Result};
#[cfg(feature = "test-support")]
pub use index::words_on_disk;
pub use keyword::{Differences, compare};
pub use search::{EmbedderChoice, Search, SearchOptions, rebuild};
pub use vectors::to_bytes as kept_vector;
