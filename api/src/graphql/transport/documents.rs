//! Trusted documents: texts that are known before the server starts, and run by their id.
//!
//! Invariants
//! - Loaded once at start from a manifest; clients never add any.
//! - An id that says it is a SHA-256 is the hash of its text, or the manifest is refused.

use std::collections::HashMap;
use std::path::Path;

use aws_lc_rs::digest::{SHA256, digest};
use serde::Deserialize;

use super::request::Source;
use crate::graphql::error::{Code, Refusal};

/// Which documents are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentMode {
    /// Texts only.
    Off,
    /// Texts, and trusted documents by id.
    On,
    /// Trusted documents only.
    Only,
}

/// Why a manifest was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file could not be read.
    #[error("the manifest of trusted documents could not be read")]
    Unreadable(#[source] std::io::Error),
    /// The file is none of the forms that are known.
    #[error(
        "the manifest of trusted documents is neither an object of id and text nor a list of operations"
    )]
    Misshapen(#[source] serde_json::Error),
    /// An id is not the hash of its text.
    #[error("the trusted document {0} does not have the SHA-256 that its id says")]
    WrongHash(String),
    /// A text is no GraphQL.
    #[error("the trusted document {0} does not parse")]
    Unparsable(String, #[source] async_graphql::parser::Error),
}

/// The trusted documents of this server.
#[derive(Debug)]
pub struct Documents {
    mode: DocumentMode,
    texts: HashMap<String, String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Manifest {
    /// As client tools write it: a list of operations, each with id and body.
    Operations {
        operations: Vec<Operation>,
    },
    Texts(HashMap<String, String>),
}

#[derive(Deserialize)]
struct Operation {
    id: String,
    body: String,
}

impl Documents {
    /// No trusted documents: every text is run.
    pub fn off() -> Self {
        Self {
            mode: DocumentMode::Off,
            texts: HashMap::new(),
        }
    }

    /// Reads a manifest file.
    pub fn load(mode: DocumentMode, path: &Path) -> Result<Self, ManifestError> {
        let text = std::fs::read_to_string(path).map_err(ManifestError::Unreadable)?;
        Self::from_manifest(mode, &text)
    }

    /// Reads the text of a manifest: `{"<id>": "<text>"}`, or `{"operations": [{"id", "body"}]}`.
    ///
    /// A bare SHA-256 in hexadecimal is found as `sha256:<hash>` too.
    pub fn from_manifest(mode: DocumentMode, manifest: &str) -> Result<Self, ManifestError> {
        let entries: Vec<(String, String)> =
            match serde_json::from_str(manifest).map_err(ManifestError::Misshapen)? {
                Manifest::Operations { operations } => operations
                    .into_iter()
                    .map(|operation| (operation.id, operation.body))
                    .collect(),
                Manifest::Texts(texts) => texts.into_iter().collect(),
            };
        let mut texts = HashMap::new();
        for (id, text) in entries {
            async_graphql::parser::parse_query(&text)
                .map_err(|error| ManifestError::Unparsable(id.clone(), error))?;
            let id = if is_sha256(&id) {
                format!("sha256:{id}")
            } else {
                id
            };
            if id
                .strip_prefix("sha256:")
                .is_some_and(|hash| hash != sha256(&text))
            {
                return Err(ManifestError::WrongHash(id));
            }
            texts.insert(id, text);
        }
        Ok(Self { mode, texts })
    }

    /// The text that is to be executed.
    pub(super) fn resolve(&self, source: Source) -> Result<String, Refusal> {
        match (source, self.mode) {
            (Source::Own(text), _) => Ok(text.to_owned()),
            (Source::Text(_), DocumentMode::Only) => Err(Refusal::document(
                Code::PersistedDocumentRequired,
                "this server runs trusted documents only; send `documentId`",
            )),
            (Source::Text(text), _) => Ok(text),
            (Source::Document(id), _) => self.texts.get(&id).cloned().ok_or_else(|| {
                let shown: String = id.chars().take(100).collect();
                Refusal::document(
                    Code::PersistedDocumentNotFound,
                    format!("no trusted document has the id `{shown}`"),
                )
            }),
        }
    }
}

fn is_sha256(id: &str) -> bool {
    id.len() == 64
        && id
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn sha256(text: &str) -> String {
    use std::fmt::Write as _;
    digest(&SHA256, text.as_bytes()).as_ref().iter().fold(
        String::with_capacity(64),
        |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("writing to a string does not fail");
            hex
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{ __typename }";

    fn loaded(mode: DocumentMode, id: &str) -> Result<Documents, ManifestError> {
        Documents::from_manifest(mode, &serde_json::json!({ id: TEXT }).to_string())
    }

    #[test]
    fn a_document_is_found_by_its_hash_or_its_own_id() {
        let hash = sha256(TEXT);
        for id in [hash.clone(), format!("sha256:{hash}")] {
            let documents = loaded(DocumentMode::On, &id).expect("loads");
            let found = documents
                .resolve(Source::Document(format!("sha256:{hash}")))
                .expect("known");
            assert_eq!(found, TEXT);
        }
        let list =
            r#"{"format": "x", "operations": [{"id": "x-app:1", "body": "{ a }", "name": "n"}]}"#;
        let documents = Documents::from_manifest(DocumentMode::On, list).expect("loads");
        assert_eq!(
            documents
                .resolve(Source::Document("x-app:1".into()))
                .expect("known"),
            "{ a }"
        );
    }

    #[test]
    fn a_manifest_that_lies_or_does_not_parse_is_refused() {
        assert!(matches!(
            loaded(DocumentMode::On, &"0".repeat(64)),
            Err(ManifestError::WrongHash(_))
        ));
        assert!(matches!(
            Documents::from_manifest(DocumentMode::On, r#"{"a": "{"}"#),
            Err(ManifestError::Unparsable(..))
        ));
        assert!(matches!(
            Documents::from_manifest(DocumentMode::On, "[]"),
            Err(ManifestError::Misshapen(_))
        ));
    }

    #[test]
    fn texts_are_refused_where_only_trusted_documents_run() {
        let documents = loaded(DocumentMode::Only, "a").expect("loads");
        let refused = documents
            .resolve(Source::Text(TEXT.into()))
            .expect_err("free text");
        assert_eq!(refused.code, Code::PersistedDocumentRequired);
        let unknown = documents
            .resolve(Source::Document("b".into()))
            .expect_err("unknown");
        assert_eq!(unknown.code, Code::PersistedDocumentNotFound);
    }
}
