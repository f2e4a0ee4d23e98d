//! Documents as they were: any version is the nearest snapshot at or below it, and the changes up to it.
//!
//! Not here: live documents (`actor`).

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::actor::Actor;
use crate::document::replica::Replica;
use crate::document::threads::DocumentThreads;
use crate::document::touched::NODES;
use crate::document::validate::UpdateLimits;
use crate::document::{Content, NodeState, Version};
use crate::error::{Error, Result};
use crate::work::{NodeVersion, StoredDocument, Work, WorkKind};

/// The content of a stored document, built apart.
pub(crate) async fn content_of(
    threads: &DocumentThreads,
    work: &Work,
    stored: StoredDocument,
    at: Version,
) -> Result<Arc<Content>> {
    let kind = work.kind;
    threads
        .compute(move || build_content(kind, &stored, at))
        .await?
}

fn build_content(kind: WorkKind, stored: &StoredDocument, at: Version) -> Result<Arc<Content>> {
    let content = Replica::build(kind, UpdateLimits::default(), stored)
        .and_then(|replica| replica.content(at));
    content
        .map(Arc::new)
        .map_err(|failure| Error::Internal(failure.into()))
}

/// The state of a stored document as one update, built apart.
pub(crate) async fn state_of(
    threads: &DocumentThreads,
    work: &Work,
    stored: StoredDocument,
) -> Result<Bytes> {
    let kind = work.kind;
    let state = threads
        .compute(move || Replica::build(kind, UpdateLimits::default(), &stored)?.state())
        .await?;
    state.map_err(|failure| Error::Internal(failure.into()))
}

/// The version that a stored document was read at.
pub(crate) fn version_of(stored: &StoredDocument) -> Version {
    let last = stored.changes.last().map(|(version, _)| *version);
    last.or(stored.snapshot.as_ref().map(|snapshot| snapshot.version))
        .unwrap_or_default()
}

/// Refuses a version that a work has not reached.
pub(crate) fn check_version(work: &Work, at: Option<Version>) -> Result<Version> {
    match at {
        Some(at) if at > work.version => Err(Error::Invalid(format!(
            "work {} is at version {}; there is no version {at} yet",
            work.id, work.version
        ))),
        Some(at) => Ok(at),
        None => Ok(work.version),
    }
}

/// Joins nodes with what is known of their last changes.
pub(crate) fn node_states(content: &Content, versions: Vec<NodeVersion>) -> Vec<NodeState> {
    let known: HashMap<String, NodeVersion> = versions
        .into_iter()
        .map(|version| (version.node.clone(), version))
        .collect();
    let state = |node: &crate::document::Node| {
        let version = known.get(&format!("{NODES}{}", node.id));
        NodeState {
            node: node.clone(),
            changed_at: version.map_or(Version(0), |version| version.version),
            changed_by: version.map_or(Actor::System, |version| version.actor.clone()),
        }
    };
    content.nodes.iter().map(state).collect()
}
