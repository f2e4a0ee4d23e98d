//! Small commands that tests are made of.

use async_trait::async_trait;
use domain::Result;
use domain::actor::Actor;
use domain::event::{Event, EventKind, NewEvent, Sequence, Subject};
use domain::ids::{UserId, WorkspaceId};
use domain::people::Workspace;
use domain::store::{Command, Scope, SharedStore, StoreExt as _, Transaction};
use domain::time::Timestamp;
use futures_util::future::BoxFuture;
use serde_json::json;

/// A moment; tests count from it.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

/// What a closure command runs.
type Run = dyn for<'tx> Fn(&'tx dyn Transaction) -> BoxFuture<'tx, Result<()>> + Send + Sync;

/// A command that is a closure.
pub(crate) struct Act {
    scope: Scope,
    run: Box<Run>,
}

/// A command from a closure.
pub(crate) fn act<F>(scope: Scope, run: F) -> Act
where
    F: for<'tx> Fn(&'tx dyn Transaction) -> BoxFuture<'tx, Result<()>> + Send + Sync + 'static,
{
    Act {
        scope,
        run: Box::new(run),
    }
}

#[async_trait]
impl Command for Act {
    type Output = ();
    const NAME: &'static str = "test.act";

    fn scope(&self) -> Scope {
        self.scope
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<()> {
        (self.run)(tx).await
    }
}

/// An event that carries a number.
pub(crate) fn numbered(number: u64) -> NewEvent {
    NewEvent {
        kind: EventKind::MembersChanged,
        subject: Subject::Member(UserId::from_uuid(uuid::Uuid::nil())),
        task: None,
        actor: Actor::System,
        at: START,
        data: json!({ "number": number }),
    }
}

/// A command that emits an event with a number.
pub(crate) fn emit(workspace: WorkspaceId, number: u64) -> Act {
    act(Scope::Workspace(workspace), move |tx| {
        Box::pin(async move { tx.emit(workspace, vec![numbered(number)]).await })
    })
}

/// Makes a workspace.
pub(crate) async fn workspace(store: &SharedStore) -> WorkspaceId {
    let id = WorkspaceId::new();
    let insert = act(Scope::Installation, move |tx| {
        Box::pin(async move {
            let workspace = Workspace {
                id,
                name: "A workspace".to_owned(),
                created_at: START,
            };
            tx.insert_workspace(&workspace).await
        })
    });
    store.run(insert).await.expect("the workspace is made");
    id
}

/// The whole log, after checking that its sequences start at 1 and have no gap.
pub(crate) async fn gapless_log(store: &SharedStore, workspace: WorkspaceId) -> Vec<Event> {
    let events = store
        .reads()
        .list_events(workspace, Sequence(0), 100_000)
        .await
        .expect("the log is read");
    for (place, event) in (1..).zip(&events) {
        assert_eq!(event.sequence, Sequence(place));
    }
    let head = store.reads().event_head(workspace).await;
    assert_eq!(head.expect("a head"), Sequence(events.len() as u64));
    events
}

/// The numbers of a log's events, sorted: commands that run at the same time may be stored in any order.
pub(crate) fn numbers(events: &[Event]) -> Vec<u64> {
    let mut numbers: Vec<u64> = events
        .iter()
        .map(|event| event.data["number"].as_u64().expect("a number"))
        .collect();
    numbers.sort_unstable();
    numbers
}
