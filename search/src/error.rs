//! The errors of the crate: a variant per decision that its caller can make.

/// A result of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something of the index could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The index on the disk can not be used; it is made anew.
    #[error("the search index can not be used")]
    Index(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store did not answer; the same may succeed later.
    #[error("the store did not answer")]
    Store(#[source] domain::Error),
    /// No vector could be made; the same may succeed later.
    #[error("texts can not be turned into vectors: {0}")]
    Embedder(String),
    /// The weights of the built-in embedder are missing or are not the ones that belong to this version.
    #[error("the weights of the built-in embedder can not be used: {0}")]
    Weights(String),
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Self {
        Self::Index(error.into())
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Index(error.into())
    }
}

impl From<domain::Error> for Error {
    fn from(error: domain::Error) -> Self {
        Self::Store(error)
    }
}
