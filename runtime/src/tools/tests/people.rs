//! What people do beside the task: they make works, edit them, come and go.

use std::sync::Arc;

use domain::actor::Actor;
use domain::document::{
    Content, EditNodes, EditOutcome, EditText, Editor, Node, NodeOperation, TextReplacement,
    Version,
};
use domain::ids::{UserId, WorkId, WorkspaceId};
use domain::people::{AddMember, Caller, CreateWorkspace, Role, Workspace};
use domain::store::StoreExt as _;
use domain::work::{CreateWork, PendingChange, Work, WorkKind};
use serde_json::Value;

use super::house::{House, caller};

impl House {
    /// A storyboard of a person with these shots, whose titles are their ids.
    pub(super) async fn board(&self, shots: &[&str]) -> WorkId {
        let shot = |id: &&str| Node {
            id: (*id).to_owned(),
            kind: "shot".to_owned(),
            order: None,
            fields: [("title".to_owned(), Value::from(*id))]
                .into_iter()
                .collect(),
        };
        let content = Content {
            nodes: shots.iter().map(shot).collect(),
            ..Content::default()
        };
        self.made(self.owner, self.workspace, WorkKind::Storyboard, content)
            .await
    }

    /// A text of a person.
    pub(super) async fn text(&self, text: &str) -> WorkId {
        let content = Content {
            text: text.to_owned(),
            ..Content::default()
        };
        self.made(self.owner, self.workspace, WorkKind::Text, content)
            .await
    }

    pub(super) async fn made(
        &self,
        caller: Caller,
        workspace: WorkspaceId,
        kind: WorkKind,
        content: Content,
    ) -> WorkId {
        let at = self.now();
        let (update, touched) = self.services.documents.seed(&content, kind).expect("fits");
        let command = CreateWork {
            user: caller.user,
            fence: None,
            work: Work {
                id: WorkId::new(),
                workspace,
                kind,
                title: "Work of a person".to_owned(),
                version: Version(0),
                created_at: at,
                updated_at: at,
                updated_by: caller.actor(),
                deleted_at: None,
                asset: None,
            },
            content: Some(PendingChange {
                actor: caller.actor(),
                at,
                update,
                touched,
            }),
            idempotency: None,
        };
        self.services.store.run(command).await.expect("a work")
    }

    /// A workspace of the owner's own beside this one.
    pub(super) async fn other_workspace(&self) -> WorkspaceId {
        let id = WorkspaceId::new();
        let command = CreateWorkspace {
            caller: self.owner,
            workspace: Workspace {
                id,
                name: "other".to_owned(),
                created_at: self.now(),
            },
        };
        self.services.store.run(command).await.expect("a workspace");
        id
    }

    /// Makes the owner of a task a member with this role, beside another owner.
    pub(super) async fn member(&self, name: &str, role: Role) -> Caller {
        let new_user = UserId::new();
        let command = AddMember {
            caller: self.owner,
            workspace: self.workspace,
            email: format!("{name}@atelier.example"),
            name: Some(name.to_owned()),
            role,
            new_user,
            at: self.now(),
        };
        let added = self.services.store.run(command).await.expect("is added");
        caller(added.user.id)
    }

    /// A person edits nodes, on the present version.
    pub(super) async fn person_edits(&self, work: WorkId, operations: Vec<NodeOperation>) {
        let base = self.content(work).await.version;
        let edit = EditNodes {
            work,
            editor: self.person(),
            base,
            operations,
            summary: None,
        };
        let outcome = self.services.documents.edit_nodes(edit).await;
        assert!(
            matches!(outcome, Ok(EditOutcome::Applied(_))),
            "{outcome:?}"
        );
    }

    /// A person replaces a piece of a text.
    pub(super) async fn person_replaces(&self, work: WorkId, find: &str, replace: &str) {
        let edit = EditText {
            work,
            editor: self.person(),
            replacements: vec![TextReplacement {
                find: find.to_owned(),
                replace: replace.to_owned(),
            }],
            summary: None,
        };
        let outcome = self.services.documents.edit_text(edit).await;
        assert!(
            matches!(outcome, Ok(EditOutcome::Applied(_))),
            "{outcome:?}"
        );
    }

    fn person(&self) -> Editor {
        Editor {
            actor: self.owner.actor(),
            idempotency: None,
            fence: None,
        }
    }

    /// The stored content of a work.
    pub(super) async fn content(&self, work: WorkId) -> Arc<Content> {
        let contents = self.services.documents.contents(&[work], None).await;
        contents.expect("the work").pop().expect("one content")
    }

    /// Ids of the nodes of a work, in order.
    pub(super) async fn shots(&self, work: WorkId) -> Vec<String> {
        let content = self.content(work).await;
        content.nodes.iter().map(|node| node.id.clone()).collect()
    }

    /// Who made each version of a work.
    pub(super) async fn authors(&self, work: WorkId) -> Vec<Actor> {
        let changes = self.reads().list_changes(work, Version(0), 100).await;
        let changes = changes.expect("changes").into_iter();
        changes.map(|change| change.actor).collect()
    }
}

/// The operation that gives a node another title.
pub(super) fn retitle(node: &str, title: &str) -> NodeOperation {
    NodeOperation::Set {
        node: node.to_owned(),
        fields: [("title".to_owned(), Value::from(title))]
            .into_iter()
            .collect(),
    }
}
