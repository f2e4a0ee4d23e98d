//! What became of an edit, as a model reads it: the outcomes of the API, with the API's names.

use domain::document::{Applied, ConflictingNode, EditOutcome, NodeState};
use domain::ids::WorkId;
use domain::turn::Effect;
use domain::work::Revision;
use serde_json::{Value, json};

use crate::tools::Ran;

/// Changes of others that are named; older ones are to be read.
const NAMED: usize = 5;

/// The outcome of a call that edited a work.
pub(super) fn ran(work: WorkId, outcome: EditOutcome) -> Ran {
    match outcome {
        EditOutcome::Applied(applied) => {
            let version = applied.version;
            Ran::done(applied_in_words(&applied)).with(Effect::Wrote(work, version))
        }
        EditOutcome::VersionConflict {
            base,
            current,
            changes,
        } => Ran::failed(
            format!(
                "the work moved on: your edit is based on version {base}, and it is at version {current}; read it again, then edit"
            ),
            Some(json!({
                "__typename": "VersionConflict",
                "baseVersion": base,
                "changes": revisions(&changes),
                "currentVersion": current,
            })),
        ),
        EditOutcome::NodeConflict {
            base,
            current,
            conflicts,
        } => {
            let ids: Vec<_> = conflicts
                .iter()
                .map(|conflict| conflict.id.as_str())
                .collect();
            Ran::failed(
                format!(
                    "somebody else changed {} since version {base}; look at what is there now, and base your edit on version {current}",
                    ids.join(", ")
                ),
                Some(json!({
                    "__typename": "NodeConflict",
                    "baseVersion": base,
                    "conflicts": conflicts.iter().map(conflicting).collect::<Vec<_>>(),
                    "currentVersion": current,
                })),
            )
        }
        EditOutcome::TextNotUnique {
            find,
            occurrences,
            current,
        } => Ran::failed(
            format!(
                "the fragment stands at {occurrences} places in version {current}, and must stand at exactly one; nothing was replaced"
            ),
            Some(json!({
                "__typename": "TextNotUnique",
                "currentVersion": current,
                "find": find,
                "occurrences": occurrences,
            })),
        ),
    }
}

fn applied_in_words(applied: &Applied) -> Value {
    let mut result = json!({"nodeIds": applied.node_ids, "version": applied.version});
    if !applied.concurrent.is_empty() {
        result["concurrent"] = revisions(&applied.concurrent);
    }
    result
}

/// The newest runs of changes.
fn revisions(revisions: &[Revision]) -> Value {
    let newest = revisions.iter().rev().take(NAMED);
    newest.map(revision).collect()
}

fn revision(revision: &Revision) -> Value {
    json!({
        "by": revision.actor,
        "fromVersion": revision.from_version,
        "nodeIds": revision.touched.node_ids(),
        "summary": revision.touched.summary(),
        "toVersion": revision.to_version,
    })
}

fn conflicting(conflict: &ConflictingNode) -> Value {
    json!({
        "changedAtVersion": conflict.changed_at,
        "changedBy": conflict.changed_by,
        "current": conflict.current.as_ref().map(node),
        "nodeId": conflict.id,
    })
}

fn node(state: &NodeState) -> Value {
    json!({
        "changedAtVersion": state.changed_at,
        "changedBy": state.changed_by,
        "fields": state.node.fields,
        "id": state.node.id,
        "type": state.node.kind,
    })
}
