//! What tests start from: an owner with a workspace, works, changes, and a command that does what a test says.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::Result;
use domain::actor::Actor;
use domain::document::{How, Touched, TouchedNode, Version};
use domain::ids::{TokenId, UserId, WorkId, WorkspaceId};
use domain::people::{ApiToken, Bootstrap, Caller, CreateWorkspace, TokenKind, User, Workspace};
use domain::store::{Command, Scope, SharedStore, StoreExt, Transaction};
use domain::time::Timestamp;
use domain::work::{AppendChanges, Appended, CreateWork, PendingChange, Work, WorkKind};

/// The time at which everything is made.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

/// A time after [`START`].
pub(crate) fn seconds(seconds: u64) -> Timestamp {
    START.plus(Duration::from_secs(seconds))
}

/// A workspace and its owner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) caller: Caller,
    pub(crate) workspace: WorkspaceId,
}

/// Fills an empty installation.
pub(crate) async fn bootstrap(store: &SharedStore) -> Place {
    let (user, workspace, token) = (UserId::new(), WorkspaceId::new(), TokenId::new());
    let made = store
        .run(Bootstrap {
            user: User {
                id: user,
                name: "Ada".into(),
                email: Some("ada@example.org".into()),
                created_in: None,
                created_at: START,
            },
            workspace: new_workspace(workspace),
            token: ApiToken {
                id: token,
                user,
                label: "first".into(),
                kind: TokenKind::Personal,
                secret_hash: [7; 32],
                created_at: START,
                last_used_at: None,
                expires_at: None,
            },
        })
        .await
        .expect("bootstraps");
    assert!(made, "the installation was empty");
    let kind = TokenKind::Personal;
    Place {
        caller: Caller::new(user, token, kind),
        workspace,
    }
}

/// Another workspace of the same owner.
pub(crate) async fn second_workspace(store: &SharedStore, place: Place) -> Place {
    let workspace = WorkspaceId::new();
    let command = CreateWorkspace {
        caller: place.caller,
        workspace: new_workspace(workspace),
    };
    store.run(command).await.expect("makes a workspace");
    Place { workspace, ..place }
}

fn new_workspace(id: WorkspaceId) -> Workspace {
    Workspace {
        id,
        name: "Studio".into(),
        created_at: START,
    }
}

/// A work that is not stored.
pub(crate) fn new_work(place: Place, created_at: Timestamp) -> Work {
    Work {
        id: WorkId::new(),
        workspace: place.workspace,
        kind: WorkKind::Storyboard,
        title: "Opening".into(),
        version: Version(0),
        created_at,
        updated_at: created_at,
        updated_by: place.caller.actor(),
        deleted_at: None,
        asset: None,
    }
}

/// Stores an empty work.
pub(crate) async fn work(store: &SharedStore, place: Place) -> WorkId {
    create(store, place, new_work(place, START)).await
}

pub(crate) async fn create(store: &SharedStore, place: Place, work: Work) -> WorkId {
    let command = CreateWork {
        user: place.caller.user,
        fence: None,
        work,
        content: None,
        idempotency: None,
    };
    store.run(command).await.expect("makes a work")
}

/// A change of one node; its bytes name its time.
pub(crate) fn change(actor: &Actor, at: Timestamp, node: &str) -> PendingChange {
    let mut touched = Touched::default();
    let changed = TouchedNode {
        label: node.to_owned(),
        how: How::Changed,
        fields: std::iter::once("title".to_owned()).collect(),
    };
    touched.nodes.insert(format!("nodes/{node}"), changed);
    PendingChange {
        actor: actor.clone(),
        at,
        update: Bytes::from(at.micros().to_be_bytes().to_vec()),
        touched,
    }
}

/// Appends changes as the document service does; gives the version of the first.
pub(crate) async fn append(
    store: &SharedStore,
    place: Place,
    work: WorkId,
    changes: Vec<PendingChange>,
) -> Version {
    let command = AppendChanges {
        workspace: place.workspace,
        work,
        changes,
        expected: None,
        idempotency: None,
        upload: None,
        fence: None,
    };
    match store.run(command).await.expect("appends") {
        Appended::Stored(first) => first,
        other => panic!("the changes were not stored: {other:?}"),
    }
}

type Running<'tx, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'tx>>;
type Body<T> = dyn for<'tx> Fn(&'tx dyn Transaction) -> Running<'tx, T> + Send + Sync;

/// A command that does what a test says.
pub(crate) struct Does<T> {
    scope: Scope,
    body: Arc<Body<T>>,
}

impl<T> Does<T> {
    pub(crate) fn new(
        scope: Scope,
        body: impl for<'tx> Fn(&'tx dyn Transaction) -> Running<'tx, T> + Send + Sync + 'static,
    ) -> Self {
        let body = Arc::new(body);
        Self { scope, body }
    }
}

impl<T> Clone for Does<T> {
    fn clone(&self) -> Self {
        let (scope, body) = (self.scope, self.body.clone());
        Self { scope, body }
    }
}

#[async_trait]
impl<T: Send + 'static> Command for Does<T> {
    type Output = T;
    const NAME: &'static str = "test.does";

    fn scope(&self) -> Scope {
        self.scope
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<T> {
        (self.body)(tx).await
    }
}

/// Does something with the transaction of one command in a workspace, and gives what came of it; values that it uses are
/// named, because a command may run again.
macro_rules! within {
    ($store:expr, $workspace:expr, |$tx:ident $(, $value:ident)*| $body:expr) => {{
        $(let $value = $value.clone();)*
        let command = crate::seeds::Does::new(domain::store::Scope::Workspace($workspace), move |$tx| {
            $(let $value = $value.clone();)*
            Box::pin(async move { $body })
        });
        domain::store::StoreExt::run(&**$store, command).await
    }};
}
pub(crate) use within;
