//! Structured edits on the live replica: alone, checked before anything is written, stored with the version they were
//! built on.

use bytes::Bytes;
use serde_json::json;
use tokio::sync::oneshot;

use crate::actor::Actor;
use crate::document::edit::{
    Applied, ConflictingNode, EditNodes, EditOutcome, EditText, Editor, NodeOperation, ReplaceText,
    RestoreVersion,
};
use crate::document::node_edit::{Clash, Refusal, Standpoint, apply_plan, plan_edit};
use crate::document::read::{read_content, read_node};
use crate::document::replica::Failure;
use crate::document::restore::become_content;
use crate::document::text_edit::{TextRefusal, apply_splices, plan_replacements, set_text};
use crate::document::touched::{NODES, id_of};
use crate::document::{NodeState, Touched, Version, replica};
use crate::error::{Error, Result};
use crate::work::{AppendChanges, FinishedUpload, PendingChange, WorkKind};

use super::DocumentActor;
use super::batch::Output;

/// An edit through the API or by the agent.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    /// Operations on nodes.
    Nodes(EditNodes),
    /// Replacements in a text.
    Text(EditText),
    /// A whole text.
    Replace(ReplaceText),
    /// An earlier version.
    Restore(RestoreVersion),
    /// A raw update.
    Update(Editor, Bytes),
    /// A file that has come.
    Upload(Editor, FinishedUpload),
}

/// An edit and who waits for it.
pub(crate) struct EditRequest {
    pub(crate) edit: Edit,
    pub(crate) reply: oneshot::Sender<Result<EditOutcome>>,
}

/// An edit whose commit is under way.
pub(crate) struct RunningEdit {
    pub(crate) request: EditRequest,
    pub(crate) applied: Applied,
}

/// What was written, or why nothing was.
enum Written {
    Change {
        node_ids: Vec<String>,
        change: Option<(Bytes, Touched)>,
    },
    Refused(EditOutcome),
    Invalid(String),
}

impl Edit {
    /// Who edits.
    pub(crate) fn editor(&self) -> &Editor {
        match self {
            Self::Nodes(edit) => &edit.editor,
            Self::Text(edit) => &edit.editor,
            Self::Replace(edit) => &edit.editor,
            Self::Restore(edit) => &edit.editor,
            Self::Update(editor, _) | Self::Upload(editor, _) => editor,
        }
    }

    fn base(&self) -> Option<Version> {
        match self {
            Self::Nodes(edit) => Some(edit.base),
            Self::Replace(edit) => Some(edit.base),
            Self::Restore(edit) => Some(edit.base),
            Self::Text(_) | Self::Update(..) | Self::Upload(..) => None,
        }
    }

    /// The size of a raw update; other edits are small.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Update(_, update) => update.len(),
            _ => 0,
        }
    }

    /// The editor's own words for the history.
    fn note(&self) -> Option<String> {
        match self {
            Self::Nodes(edit) => edit.summary.clone(),
            Self::Text(edit) => edit.summary.clone(),
            Self::Replace(edit) => edit.summary.clone(),
            Self::Restore(edit) => Some(format!("restored version {}", edit.version)),
            Self::Update(..) | Self::Upload(..) => None,
        }
    }

    /// Whether it holds only on the very version it names.
    fn is_whole(&self) -> bool {
        matches!(self, Self::Replace(_) | Self::Restore(_))
    }
}

impl EditRequest {
    /// Answers; whoever no longer waits needs no answer.
    pub(crate) fn answer(self, outcome: Result<EditOutcome>) {
        drop(self.reply.send(outcome));
    }
}

impl RunningEdit {
    /// Answers with the version that the store gave.
    pub(crate) fn answer(self, version: Version) {
        self.request.answer(Ok(EditOutcome::Applied(Applied {
            version,
            ..self.applied
        })));
    }
}

impl DocumentActor {
    /// Takes an edit in: raw updates at once, like a frame; structured edits wait until they are alone.
    pub(super) async fn take_edit(&mut self, request: EditRequest) {
        match request.edit {
            Edit::Update(editor, update) => {
                self.raw_update(&editor.actor, &update, request.reply).await;
            }
            edit => self.edits.push_back(EditRequest {
                edit,
                reply: request.reply,
            }),
        }
    }

    async fn raw_update(
        &mut self,
        actor: &Actor,
        update: &Bytes,
        reply: oneshot::Sender<Result<EditOutcome>>,
    ) {
        let refuse = |reply: oneshot::Sender<_>, error| drop(reply.send(Err(error)));
        if let Err(reason) = self.check_growth(update.len()) {
            return refuse(reply, Error::TooLarge(reason));
        }
        match self.apply(update, false).await {
            Ok(replica::Applied::Changed(update, recorded)) => {
                let index =
                    self.pending
                        .add(None, actor, self.shared.now(), update, recorded.touched);
                self.pending.add_output(Output::Update(reply, Some(index)));
                self.remove_hanging_edges(recorded.has_hanging_edges);
            }
            Ok(replica::Applied::Nothing) => self.after_commit(Output::Update(reply, None)),
            Ok(replica::Applied::Missing) => {
                let text = "the update builds on changes that the server does not have; send one that starts from the server's state";
                refuse(reply, Error::Invalid(text.to_owned()));
            }
            Err(Failure::TooLarge(reason)) => refuse(reply, Error::TooLarge(reason)),
            Err(failure) => {
                self.shared
                    .quarantine(&self.work, actor.clone(), update, &failure.to_string());
                refuse(
                    reply,
                    Error::Invalid(format!("the update was refused: {failure}")),
                );
                self.recover(&failure).await;
            }
        }
    }

    /// Runs an edit: nothing else is pending or under way.
    pub(super) async fn run_edit(&mut self, request: EditRequest) {
        match self.first_answer(&request.edit).await {
            Ok(Some(outcome)) => request.answer(Ok(outcome)),
            Ok(None) => match self.write(&request.edit).await {
                Ok(written) => self.finish_edit(request, written).await,
                Err(error) => {
                    request.answer(Err(error));
                    self.fail(&"an edit failed half way");
                }
            },
            Err(error) => request.answer(Err(error)),
        }
    }

    /// What the edit gets without being done: the first result of its key, or that the work moved on.
    async fn first_answer(&self, edit: &Edit) -> Result<Option<EditOutcome>> {
        if let Some(key) = &edit.editor().idempotency
            && let Some(first) =
                crate::idempotency::first_result(self.shared.store.reads(), key).await?
        {
            let applied =
                serde_json::from_value(first).map_err(|error| Error::Internal(error.into()))?;
            return Ok(Some(EditOutcome::Applied(applied)));
        }
        let Some(base) = edit.base() else {
            return Ok(None);
        };
        if base > self.version {
            return Err(Error::Invalid(format!(
                "`baseVersion` is {base}, and the work is at version {}",
                self.version
            )));
        }
        if edit.is_whole() && base != self.version {
            let changes = self
                .shared
                .store
                .reads()
                .list_revisions_after(self.work.id, base)
                .await?;
            return Ok(Some(EditOutcome::VersionConflict {
                base,
                current: self.version,
                changes,
            }));
        }
        Ok(None)
    }

    async fn finish_edit(&mut self, request: EditRequest, written: Written) {
        let (node_ids, change) = match written {
            Written::Change { node_ids, change } => (node_ids, change),
            Written::Refused(outcome) => return request.answer(Ok(outcome)),
            Written::Invalid(text) => return request.answer(Err(Error::Invalid(text))),
        };
        let concurrent = match self.concurrent(&request.edit).await {
            Ok(concurrent) => concurrent,
            Err(error) => {
                request.answer(Err(error));
                return self.fail(&"the history could not be read");
            }
        };
        let is_upload = matches!(request.edit, Edit::Upload(..));
        if change.is_none() && !is_upload {
            return request.answer(Ok(EditOutcome::Applied(Applied {
                version: self.version,
                node_ids,
                concurrent,
            })));
        }
        let version = Version(self.version.0 + u64::from(change.is_some()));
        let applied = Applied {
            version,
            node_ids,
            concurrent,
        };
        let editor = request.edit.editor();
        let changes: Vec<_> = change
            .into_iter()
            .map(|(update, touched)| PendingChange {
                actor: editor.actor.clone(),
                at: self.shared.now(),
                update,
                touched: Touched {
                    note: request.edit.note(),
                    ..touched
                },
            })
            .collect();
        let command = AppendChanges {
            expected: Some(self.version),
            idempotency: editor.idempotency.clone().map(|key| (key, json!(applied))),
            fence: editor.fence,
            upload: if let Edit::Upload(_, upload) = &request.edit {
                Some(upload.clone())
            } else {
                None
            },
            ..self.append(changes.clone())
        };
        self.start(command, changes, Vec::new());
        match &mut self.in_flight {
            Some(flight) => flight.edit = Some(RunningEdit { request, applied }),
            None => request.answer(Err(Error::Unavailable(
                "the document is being reloaded".into(),
            ))),
        }
    }

    /// What others changed since the base of the edit.
    async fn concurrent(&self, edit: &Edit) -> Result<Vec<crate::work::Revision>> {
        let Some(base) = edit.base().filter(|base| *base < self.version) else {
            return Ok(Vec::new());
        };
        let revisions = self
            .shared
            .store
            .reads()
            .list_revisions_after(self.work.id, base)
            .await?;
        let actor = &edit.editor().actor;
        Ok(revisions
            .into_iter()
            .filter(|revision| revision.actor.is_other_than(actor))
            .collect())
    }

    async fn write(&mut self, edit: &Edit) -> Result<Written> {
        match edit {
            Edit::Nodes(edit) if self.work.kind.is_structured() => self.write_nodes(edit),
            Edit::Text(edit) if self.work.kind == WorkKind::Text => self.write_replacements(edit),
            Edit::Replace(edit) if self.work.kind == WorkKind::Text => self.write_text(edit),
            Edit::Restore(edit) => self.write_version(edit).await,
            Edit::Upload(_, upload) if self.work.kind == WorkKind::Asset => self.write_file(upload),
            Edit::Nodes(_) => Ok(self.wrong_kind("has no nodes; edit its text")),
            Edit::Text(_) | Edit::Replace(_) => {
                Ok(self.wrong_kind("has no text of its own; edit its nodes"))
            }
            Edit::Upload(..) | Edit::Update(..) => Ok(self.wrong_kind("can not take this")),
        }
    }

    fn wrong_kind(&self, text: &str) -> Written {
        Written::Invalid(format!(
            "work {} is a {} and {text}",
            self.work.id,
            self.work.kind.name().to_lowercase()
        ))
    }

    fn write_nodes(&mut self, edit: &EditNodes) -> Result<Written> {
        let standpoint = Standpoint {
            actor: &edit.editor.actor,
            base: edit.base,
        };
        let attribution = &self.attribution;
        let replica = self.replica.get_mut().map_err(internal)?;
        let written = replica.change(|txn, roots| {
            let plan = plan_edit(txn, roots, attribution, standpoint, &edit.operations)?;
            apply_plan(txn, roots, &plan);
            Ok::<_, Refusal>(())
        });
        match written.map_err(internal)? {
            Ok(((), change)) => Ok(Written::Change {
                node_ids: touched_ids(&edit.operations),
                change,
            }),
            Err(Refusal::Invalid(text)) => Ok(Written::Invalid(text)),
            Err(Refusal::Conflict(clashes)) => {
                let conflicts = clashes
                    .into_iter()
                    .map(|clash| self.conflict(clash))
                    .collect::<Result<_>>()?;
                Ok(Written::Refused(EditOutcome::NodeConflict {
                    base: edit.base,
                    current: self.version,
                    conflicts,
                }))
            }
        }
    }

    fn conflict(&self, clash: Clash) -> Result<ConflictingNode> {
        let id = id_of(&clash.path).to_owned();
        let node = if clash.path.starts_with(NODES) {
            self.replica
                .get()
                .and_then(|replica| replica.read(|txn, roots| read_node(txn, roots, &id)))
                .map_err(internal)?
        } else {
            None
        };
        let last = self.attribution.last(&clash.path).unwrap_or(&clash.touch);
        let current = node.map(|node| NodeState {
            node,
            changed_at: last.version,
            changed_by: last.actor.clone(),
        });
        Ok(ConflictingNode {
            id,
            current,
            changed_by: clash.touch.actor,
            changed_at: clash.touch.version,
        })
    }

    fn write_replacements(&mut self, edit: &EditText) -> Result<Written> {
        let replica = self.replica.get_mut().map_err(internal)?;
        let written = replica.change(|txn, roots| {
            let Some(text) = &roots.text else {
                return Ok(());
            };
            let present = yrs::GetString::get_string(text, txn);
            let splices = plan_replacements(&present, &edit.replacements)?;
            apply_splices(txn, text, &splices);
            Ok::<_, TextRefusal>(())
        });
        Ok(match written.map_err(internal)? {
            Ok(((), change)) => Written::Change {
                node_ids: Vec::new(),
                change,
            },
            Err(TextRefusal::Invalid(text)) => Written::Invalid(text),
            Err(TextRefusal::NotUnique { find, occurrences }) => {
                Written::Refused(EditOutcome::TextNotUnique {
                    find,
                    occurrences,
                    current: self.version,
                })
            }
        })
    }

    fn write_text(&mut self, edit: &ReplaceText) -> Result<Written> {
        self.write_infallible(|txn, roots| {
            if let Some(text) = &roots.text {
                set_text(txn, text, &edit.text);
            }
        })
    }

    async fn write_version(&mut self, edit: &RestoreVersion) -> Result<Written> {
        if edit.version > self.version {
            let text = format!(
                "there is no version {} yet; the work is at version {}",
                edit.version, self.version
            );
            return Ok(Written::Invalid(text));
        }
        let target = self.shared.content_at(&self.work, edit.version).await?;
        // A file's bytes come back by its hash: they are never thrown away while the workspace owns them.
        self.write_infallible(|txn, roots| become_content(txn, roots, &target))
    }

    fn write_file(&mut self, upload: &FinishedUpload) -> Result<Written> {
        let file = &upload.file;
        self.write_infallible(|txn, roots| {
            let mut target = read_content(txn, roots);
            target.asset.insert("sha256".to_owned(), json!(file.sha256));
            target
                .asset
                .insert("mediaType".to_owned(), json!(file.media_type));
            target
                .asset
                .insert("byteSize".to_owned(), json!(file.byte_size));
            become_content(txn, roots, &target);
        })
    }

    fn write_infallible(
        &mut self,
        write: impl FnOnce(&mut yrs::TransactionMut<'_>, &crate::document::layout::Roots),
    ) -> Result<Written> {
        let replica = self.replica.get_mut().map_err(internal)?;
        let written = replica.change(|txn, roots| {
            write(txn, roots);
            Ok::<_, std::convert::Infallible>(())
        });
        let ((), change) = match written.map_err(internal)? {
            Ok(written) => written,
            Err(never) => match never {},
        };
        let node_ids = change
            .iter()
            .flat_map(|(_, touched)| touched.node_ids())
            .map(str::to_owned)
            .collect();
        Ok(Written::Change { node_ids, change })
    }
}

fn internal(failure: Failure) -> Error {
    Error::Internal(failure.into())
}

/// Ids that the operations name, each once, in their order.
fn touched_ids(operations: &[NodeOperation]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for operation in operations {
        let id = match operation {
            NodeOperation::Put(node) => node.id.as_ref(),
            NodeOperation::Connect(edge) => edge.id.as_ref(),
            NodeOperation::Set { node, .. } | NodeOperation::Move { node, .. } => Some(node),
            NodeOperation::Remove(id) | NodeOperation::Disconnect(id) => Some(id),
        };
        if let Some(id) = id.filter(|id| !ids.contains(id)) {
            ids.push(id.clone());
        }
    }
    ids
}
