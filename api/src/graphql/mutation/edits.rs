//! Mutations of documents: structured edits, texts, restoring a version, raw updates.

use async_graphql::{Context, ID, InputObject, Object, Result};
use domain::document::{
    self, EditNodes, EditOutcome, EditText, ReplaceText, RestoreVersion, UndoVersion,
};
use domain::ids::WorkId;

use super::input::{id, idempotency, summary};
use super::operations::NodeOperation;
use super::outcome::EditResult;
use crate::graphql::scalars::{Bytes, version};
use crate::graphql::scope::Scope;

/// Operations on a structured work: all or none. `baseVersion`: the version that the editor saw.
#[derive(InputObject)]
struct EditNodesInput {
    /// The work.
    work_id: ID,
    /// The version that the editor saw.
    base_version: i32,
    /// What to do, in order.
    operations: Vec<NodeOperation>,
    /// The editor's own words for the history.
    summary: Option<String>,
    /// The same key by the same person gives the first result again, and no second effect.
    idempotency_key: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// Replacements in a text. Each `find` must occur exactly once in the present text; all replacements or none.
#[derive(InputObject)]
struct EditTextInput {
    /// The work.
    work_id: ID,
    /// What to replace.
    replacements: Vec<TextReplacement>,
    /// The editor's own words for the history.
    summary: Option<String>,
    /// The same key by the same person gives the first result again, and no second effect.
    idempotency_key: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// One replacement.
#[derive(InputObject)]
struct TextReplacement {
    /// What stands there now; occurs exactly once.
    find: String,
    /// What stands there afterwards.
    replace: String,
}

/// A whole new text; refused if the work moved on since `baseVersion`.
#[derive(InputObject)]
struct ReplaceTextInput {
    /// The work.
    work_id: ID,
    /// The version that the editor saw.
    base_version: i32,
    /// The new text.
    text: String,
    /// The editor's own words for the history.
    summary: Option<String>,
    /// The same key by the same person gives the first result again, and no second effect.
    idempotency_key: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A version whose content comes back, as a new version. `baseVersion` is the present version that the person saw.
#[derive(InputObject)]
struct RestoreVersionInput {
    /// The work.
    work_id: ID,
    /// The version that comes back.
    version: i32,
    /// The present version that the person saw.
    base_version: i32,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A version that the caller made, to be taken back.
#[derive(InputObject)]
struct UndoVersionInput {
    /// The work.
    work_id: ID,
    /// The version that the caller's change made.
    version: i32,
    /// The same key by the same person gives the first result again, and no second effect.
    idempotency_key: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A raw Yjs update of a client that holds the document.
#[derive(InputObject)]
struct ApplyUpdateInput {
    /// The work.
    work_id: ID,
    /// The update, encoding v1.
    update: Bytes,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// Mutations of documents.
#[derive(Debug, Default)]
pub(crate) struct EditMutation;

#[Object]
impl EditMutation {
    /// Adds, changes, moves, removes, connects nodes: all operations or none.
    async fn edit_nodes(&self, ctx: &Context<'_>, input: EditNodesInput) -> Result<EditResult> {
        let scope = Scope::of(ctx)?;
        let key = input.idempotency_key.as_deref();
        let idempotency = idempotency(scope, "editNodes", key, &input)?;
        let operations = input.operations.iter().map(NodeOperation::to_domain);
        let edit = EditNodes {
            work: id(&input.work_id)?,
            editor: scope.editor(idempotency),
            base: version("baseVersion", input.base_version)?,
            operations: operations.collect::<Result<_, _>>()?,
            summary: summary(input.summary)?,
        };
        let work = edit.work;
        let node = edit
            .operations
            .iter()
            .find_map(document::NodeOperation::node);
        scope.show_program(work, node.map(str::to_owned)).await?;
        let outcome = scope.services.documents.edit_nodes(edit).await;
        finish(scope, work, outcome, input.client_mutation_id).await
    }

    /// Replaces pieces of a text: all replacements or none.
    async fn edit_text(&self, ctx: &Context<'_>, input: EditTextInput) -> Result<EditResult> {
        let scope = Scope::of(ctx)?;
        let key = input.idempotency_key.as_deref();
        let idempotency = idempotency(scope, "editText", key, &input)?;
        let replacement = |given: TextReplacement| document::TextReplacement {
            find: given.find,
            replace: given.replace,
        };
        let edit = EditText {
            work: id(&input.work_id)?,
            editor: scope.editor(idempotency),
            replacements: input.replacements.into_iter().map(replacement).collect(),
            summary: summary(input.summary)?,
        };
        let work = edit.work;
        scope.show_program(work, None).await?;
        let outcome = scope.services.documents.edit_text(edit).await;
        finish(scope, work, outcome, input.client_mutation_id).await
    }

    /// Replaces a whole text.
    async fn replace_text(&self, ctx: &Context<'_>, input: ReplaceTextInput) -> Result<EditResult> {
        let scope = Scope::of(ctx)?;
        let key = input.idempotency_key.as_deref();
        let idempotency = idempotency(scope, "replaceText", key, &input)?;
        let edit = ReplaceText {
            work: id(&input.work_id)?,
            editor: scope.editor(idempotency),
            base: version("baseVersion", input.base_version)?,
            text: input.text,
            summary: summary(input.summary)?,
        };
        let work = edit.work;
        scope.show_program(work, None).await?;
        let outcome = scope.services.documents.replace_text(edit).await;
        finish(scope, work, outcome, input.client_mutation_id).await
    }

    /// Makes the content of an earlier version the present one, as a new version.
    async fn restore_version(
        &self,
        ctx: &Context<'_>,
        input: RestoreVersionInput,
    ) -> Result<EditResult> {
        let scope = Scope::of(ctx)?;
        let edit = RestoreVersion {
            work: id(&input.work_id)?,
            editor: scope.editor(None),
            version: version("version", input.version)?,
            base: version("baseVersion", input.base_version)?,
        };
        let work = edit.work;
        scope.show_program(work, None).await?;
        let outcome = scope.services.documents.restore_version(edit).await;
        finish(scope, work, outcome, input.client_mutation_id).await
    }

    /// Takes back what one change of the caller's own did, and leaves what others did since; the same place changed again is a conflict.
    async fn undo_version(&self, ctx: &Context<'_>, input: UndoVersionInput) -> Result<EditResult> {
        let scope = Scope::of(ctx)?;
        let key = input.idempotency_key.as_deref();
        let idempotency = idempotency(scope, "undoVersion", key, &input)?;
        let work = scope.work(id(&input.work_id)?).await?.id;
        let undo = UndoVersion {
            work,
            editor: scope.editor(idempotency),
            version: version("version", input.version)?,
        };
        scope.show_program(work, None).await?;
        let outcome = scope.services.documents.undo_version(undo).await;
        finish(scope, work, outcome, input.client_mutation_id).await
    }

    /// A raw Yjs update (encoding v1) from a client that holds the document; merged like a sync message.
    async fn apply_update(&self, ctx: &Context<'_>, input: ApplyUpdateInput) -> Result<EditResult> {
        let scope = Scope::of(ctx)?;
        let work = id(&input.work_id)?;
        let documents = &scope.services.documents;
        let editor = scope.editor(None);
        let outcome = documents.apply_update(work, editor, input.update.0).await;
        finish(scope, work, outcome, input.client_mutation_id).await
    }
}

/// Shows what became of an edit, with the work as it is after it.
async fn finish(
    scope: &Scope,
    work: WorkId,
    outcome: domain::Result<EditOutcome>,
    client_mutation_id: Option<String>,
) -> Result<EditResult> {
    scope.renew();
    let outcome = outcome?;
    let work = scope.work(work).await?;
    Ok(EditResult::new(work, outcome, client_mutation_id))
}
