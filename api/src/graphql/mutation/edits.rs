//! Edits of documents and what becomes of them.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject, Union};
use domain::document::{
    ConflictingNode as DomainConflict, EditNodes, EditOutcome, EditText, Editor, ReplaceText,
    RestoreVersion,
};
use domain::ids::WorkId;
use domain::work::Revision;
use domain::{Error, work::visible_work};

use super::super::model::{ActorObject, RevisionObject, WorkNode, WorkObject};
use super::super::scalars::{Bytes, int, version};
use super::super::scope::{Scope, scope};
use super::inputs::{NodeOperation, TextReplacementInput};
use super::{idempotency, parse};

/// Characters of a summary.
const SUMMARY: usize = 500;

/// Input of editNodes: all operations or none. `baseVersion`: the version that the editor saw.
#[derive(InputObject, Debug, Clone)]
struct EditNodesInput {
    /// The work.
    work_id: ID,
    /// The version that the editor saw.
    base_version: i32,
    /// What to do, in order.
    operations: Vec<NodeOperation>,
    /// The editor's own words for the history.
    summary: Option<String>,
    /// The same key gives the first result again.
    idempotency_key: Option<String>,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Input of editText: each `find` must occur exactly once in the present text; all replacements or none.
#[derive(InputObject, Debug, Clone)]
struct EditTextInput {
    /// The work.
    work_id: ID,
    /// What to replace.
    replacements: Vec<TextReplacementInput>,
    /// The editor's own words for the history.
    summary: Option<String>,
    /// The same key gives the first result again.
    idempotency_key: Option<String>,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Input of replaceText.
#[derive(InputObject, Debug, Clone)]
struct ReplaceTextInput {
    /// The work.
    work_id: ID,
    /// The version that the editor saw.
    base_version: i32,
    /// The new text.
    text: String,
    /// The editor's own words for the history.
    summary: Option<String>,
    /// The same key gives the first result again.
    idempotency_key: Option<String>,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Input of restoreVersion. `baseVersion` is the present version that the person saw.
#[derive(InputObject)]
struct RestoreVersionInput {
    /// The work.
    work_id: ID,
    /// Which version comes back.
    version: i32,
    /// The present version that the person saw.
    base_version: i32,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Input of applyUpdate.
#[derive(InputObject)]
struct ApplyUpdateInput {
    /// The work.
    work_id: ID,
    /// A Yjs update, encoding v1.
    update: Bytes,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// What became of an edit.
#[derive(Union)]
enum EditResult {
    /// Done, and stored.
    EditApplied(EditApplied),
    /// The work moved on.
    VersionConflict(VersionConflict),
    /// Nodes of the edit were changed by others.
    NodeConflict(NodeConflict),
    /// A fragment does not name one place.
    TextNotUnique(TextNotUnique),
}

/// The edit is stored. `concurrent`: what others changed elsewhere in the work since `baseVersion`.
#[derive(SimpleObject)]
struct EditApplied {
    /// The work.
    work: WorkObject,
    /// The version that the edit made.
    version: i32,
    /// Nodes that it touched, and edges that it connected or disconnected.
    node_ids: Vec<ID>,
    /// What others changed elsewhere.
    concurrent: Vec<RevisionObject>,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// The work moved on since `baseVersion`; read again, then edit.
#[derive(SimpleObject)]
struct VersionConflict {
    /// The work.
    work: WorkObject,
    /// The base of the edit.
    base_version: i32,
    /// The present version.
    current_version: i32,
    /// What happened since.
    changes: Vec<RevisionObject>,
}

/// Nodes of this edit that somebody changed or removed since `baseVersion`, as they are now (null: removed).
#[derive(SimpleObject)]
struct NodeConflict {
    /// The work.
    work: WorkObject,
    /// The base of the edit.
    base_version: i32,
    /// The present version.
    current_version: i32,
    /// Each such node.
    conflicts: Vec<ConflictingNode>,
}

/// A node on which the edit and somebody else met.
#[derive(SimpleObject)]
struct ConflictingNode {
    /// The node or edge.
    node_id: ID,
    /// As it is now; null where it was removed.
    current: Option<WorkNode>,
    /// Who changed it last.
    changed_by: ActorObject,
    /// At which version.
    changed_at_version: i32,
}

/// A fragment occurs never or several times.
#[derive(SimpleObject)]
struct TextNotUnique {
    /// The work.
    work: WorkObject,
    /// The fragment.
    find: String,
    /// How often it occurs, overlapping places counted.
    occurrences: i32,
    /// The present version.
    current_version: i32,
}

#[derive(Default)]
pub(super) struct EditMutation;

#[Object]
impl EditMutation {
    /// Changes nodes and edges of a structured work.
    async fn edit_nodes(&self, ctx: &Context<'_>, input: EditNodesInput) -> Result<EditResult> {
        let scope = scope(ctx)?;
        let hashed = EditNodesInput {
            client_mutation_id: None,
            idempotency_key: None,
            ..input.clone()
        };
        let work: WorkId = parse(&input.work_id)?;
        let edit = EditNodes {
            work,
            editor: editor(scope, "editNodes", input.idempotency_key, &hashed)?,
            base: version("baseVersion", input.base_version)?,
            operations: input
                .operations
                .into_iter()
                .map(TryInto::try_into)
                .collect::<domain::Result<_>>()?,
            summary: summary(input.summary)?,
        };
        let outcome = scope.services.documents.edit_nodes(edit).await?;
        convert(scope, work, outcome, input.client_mutation_id).await
    }

    /// Replaces fragments of a text.
    async fn edit_text(&self, ctx: &Context<'_>, input: EditTextInput) -> Result<EditResult> {
        let scope = scope(ctx)?;
        let hashed = EditTextInput {
            client_mutation_id: None,
            idempotency_key: None,
            ..input.clone()
        };
        let work: WorkId = parse(&input.work_id)?;
        let edit = EditText {
            work,
            editor: editor(scope, "editText", input.idempotency_key, &hashed)?,
            replacements: input.replacements.into_iter().map(Into::into).collect(),
            summary: summary(input.summary)?,
        };
        let outcome = scope.services.documents.edit_text(edit).await?;
        convert(scope, work, outcome, input.client_mutation_id).await
    }

    /// Replaces a whole text.
    async fn replace_text(&self, ctx: &Context<'_>, input: ReplaceTextInput) -> Result<EditResult> {
        let scope = scope(ctx)?;
        let hashed = ReplaceTextInput {
            client_mutation_id: None,
            idempotency_key: None,
            ..input.clone()
        };
        let work: WorkId = parse(&input.work_id)?;
        let edit = ReplaceText {
            work,
            editor: editor(scope, "replaceText", input.idempotency_key, &hashed)?,
            base: version("baseVersion", input.base_version)?,
            text: input.text,
            summary: summary(input.summary)?,
        };
        let outcome = scope.services.documents.replace_text(edit).await?;
        convert(scope, work, outcome, input.client_mutation_id).await
    }

    /// Makes an earlier version the present one, as a forward change.
    async fn restore_version(
        &self,
        ctx: &Context<'_>,
        input: RestoreVersionInput,
    ) -> Result<EditResult> {
        let scope = scope(ctx)?;
        let work: WorkId = parse(&input.work_id)?;
        let edit = RestoreVersion {
            work,
            editor: Editor {
                actor: scope.caller.actor(),
                idempotency: None,
            },
            version: version("version", input.version)?,
            base: version("baseVersion", input.base_version)?,
        };
        let outcome = scope.services.documents.restore_version(edit).await?;
        convert(scope, work, outcome, input.client_mutation_id).await
    }

    /// A raw Yjs update (encoding v1) from a client that holds the document; merged like a sync message.
    async fn apply_update(&self, ctx: &Context<'_>, input: ApplyUpdateInput) -> Result<EditResult> {
        let scope = scope(ctx)?;
        let work: WorkId = parse(&input.work_id)?;
        let editor = Editor {
            actor: scope.caller.actor(),
            idempotency: None,
        };
        let outcome = scope
            .services
            .documents
            .apply_update(work, editor, input.update.0)
            .await?;
        convert(scope, work, outcome, input.client_mutation_id).await
    }
}

fn editor(
    scope: &Scope,
    mutation: &'static str,
    key: Option<String>,
    input: &impl std::fmt::Debug,
) -> domain::Result<Editor> {
    let at = scope.services.clock.now();
    Ok(Editor {
        actor: scope.caller.actor(),
        idempotency: idempotency(scope.caller, mutation, key, input, at)?,
    })
}

fn summary(text: Option<String>) -> domain::Result<Option<String>> {
    match text {
        Some(text) if text.chars().count() > SUMMARY => Err(Error::Invalid(format!(
            "`summary` can have {SUMMARY} characters"
        ))),
        text => Ok(text.filter(|text| !text.trim().is_empty())),
    }
}

fn revisions(revisions: Vec<Revision>) -> Vec<RevisionObject> {
    revisions.into_iter().map(Into::into).collect()
}

impl From<DomainConflict> for ConflictingNode {
    fn from(conflict: DomainConflict) -> Self {
        Self {
            node_id: conflict.id.into(),
            current: conflict.current.as_ref().map(WorkNode::from),
            changed_by: ActorObject(conflict.changed_by),
            changed_at_version: int(conflict.changed_at.0),
        }
    }
}

async fn convert(
    scope: &Scope,
    work: WorkId,
    outcome: EditOutcome,
    client_mutation_id: Option<String>,
) -> Result<EditResult> {
    // Read after the edit, so that the work shows the version that the edit made.
    let (work, _) = visible_work(scope.services.store.reads(), work, scope.caller.user).await?;
    let work = WorkObject::from(work);
    Ok(match outcome {
        EditOutcome::Applied(applied) => EditResult::EditApplied(EditApplied {
            work,
            version: int(applied.version.0),
            node_ids: applied.node_ids.into_iter().map(ID::from).collect(),
            concurrent: revisions(applied.concurrent),
            client_mutation_id,
        }),
        EditOutcome::VersionConflict {
            base,
            current,
            changes,
        } => EditResult::VersionConflict(VersionConflict {
            work,
            base_version: int(base.0),
            current_version: int(current.0),
            changes: revisions(changes),
        }),
        EditOutcome::NodeConflict {
            base,
            current,
            conflicts,
        } => EditResult::NodeConflict(NodeConflict {
            work,
            base_version: int(base.0),
            current_version: int(current.0),
            conflicts: conflicts.into_iter().map(Into::into).collect(),
        }),
        EditOutcome::TextNotUnique {
            find,
            occurrences,
            current,
        } => EditResult::TextNotUnique(TextNotUnique {
            work,
            find,
            occurrences: int(occurrences),
            current_version: int(current.0),
        }),
    })
}
