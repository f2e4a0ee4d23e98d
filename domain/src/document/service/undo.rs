//! Taking back a change of one's own: reads what it did, and edits what is there now.
//!
//! Invariants
//! - The edit is judged like any other of the same editor that was based on the version of the change: what others did to the
//!   same nodes since is a conflict.

use std::sync::Arc;

use crate::document::undo::{undo_nodes, undo_text};
use crate::document::{
    Applied, Content, EditNodes, EditOutcome, EditText, ReplaceText, UndoVersion, Version,
};
use crate::error::{Error, Result};
use crate::idempotency::first_result;
use crate::work::WorkKind;

use super::DocumentService;

impl DocumentService {
    /// See [`UndoVersion`].
    pub async fn undo_version(&self, undo: UndoVersion) -> Result<EditOutcome> {
        // The edit would ask for it as well, but is made from what is there now: by then it has been taken back.
        if let Some(key) = &undo.editor.idempotency
            && let Some(first) = first_result(self.shared.store.reads(), key).await?
        {
            let applied: Applied =
                serde_json::from_value(first).map_err(|error| Error::Internal(error.into()))?;
            return Ok(EditOutcome::Applied(applied));
        }
        let kind = self.check_own(&undo).await?;
        let former = Version(undo.version.0 - 1);
        let before = self.content(&undo, Some(former)).await?;
        let after = self.content(&undo, Some(undo.version)).await?;
        let now = self.content(&undo, None).await?;
        let summary = Some(format!("took version {} back", undo.version));
        if kind.is_structured() {
            let edit = EditNodes {
                work: undo.work,
                editor: undo.editor,
                base: undo.version,
                operations: undo_nodes(&before, &after, &now),
                summary,
            };
            return self.edit_nodes(edit).await;
        }
        if now.text == after.text {
            let edit = ReplaceText {
                work: undo.work,
                editor: undo.editor,
                base: now.version,
                text: before.text.clone(),
                summary,
            };
            return self.replace_text(edit).await;
        }
        match undo_text(&before.text, &after.text, &now.text) {
            Ok(replacements) => {
                let edit = EditText {
                    work: undo.work,
                    editor: undo.editor,
                    replacements,
                    summary,
                };
                self.edit_text(edit).await
            }
            Err(moved) => Ok(EditOutcome::TextNotUnique {
                find: moved.find,
                occurrences: moved.occurrences,
                current: now.version,
            }),
        }
    }

    /// The kind of the work, where the version is a change of the editor's own.
    async fn check_own(&self, undo: &UndoVersion) -> Result<WorkKind> {
        let version = undo.version;
        let work = self.works(&[undo.work]).await?.pop();
        let work = work.ok_or_else(|| Error::not_found("work", undo.work))?;
        if version.0 == 0 || version > work.version {
            return Err(Error::Invalid(format!(
                "work {} has versions 1 to {}, and none that is {version}",
                work.id, work.version
            )));
        }
        let former = Version(version.0 - 1);
        let changes = self.shared.list_changes(work.id, former, 1).await?;
        let change = changes
            .first()
            .filter(|change| change.version == version)
            .ok_or_else(|| Error::internal(format!("version {version} has no change")))?;
        if change.actor.is_other_than(&undo.editor.actor) {
            return Err(Error::Forbidden(format!(
                "version {version} is not your own change, and only that can be taken back"
            )));
        }
        match work.kind {
            WorkKind::Asset => Err(Error::Invalid(
                "a file is not taken back; a person restores the version before it".to_owned(),
            )),
            kind => Ok(kind),
        }
    }

    async fn content(&self, undo: &UndoVersion, at: Option<Version>) -> Result<Arc<Content>> {
        let content = self.contents(&[undo.work], at).await?.pop();
        content.ok_or_else(|| Error::not_found("work", undo.work))
    }
}
