//! Wake-ups of those who follow turns.

use std::time::Duration;

use domain::Error;
use domain::ids::{TaskId, TurnId, WorkspaceId};
use domain::store::{Scope, StoreExt as _};
use domain::turn::{Epoch, TurnWake};
use tokio::sync::broadcast::error::TryRecvError;
use tokio::time::timeout;

use crate::commands::{Act, act, workspace};
use crate::on_both_databases;
use crate::place::Place;

/// Longer than any wake-up takes.
const PATIENCE: Duration = Duration::from_secs(20);

on_both_databases! {
    who_follows_turns_is_woken_once_it_is_committed
}

fn wake(workspace: WorkspaceId) -> TurnWake {
    TurnWake {
        workspace,
        task: TaskId::new(),
        turn: TurnId::new(),
        epoch: Epoch(3),
    }
}

fn announce(wake: TurnWake) -> Act {
    act(Scope::Workspace(wake.workspace), move |tx| {
        Box::pin(async move { tx.announce_turn(wake).await })
    })
}

async fn who_follows_turns_is_woken_once_it_is_committed(place: Place) {
    let storage = place.open().await;
    let workspace = workspace(&storage.store).await;
    let mut turns = storage.store.follow_turns();
    let undone = wake(workspace);
    let failing = act(Scope::Workspace(workspace), move |tx| {
        Box::pin(async move {
            tx.announce_turn(undone).await?;
            Err(Error::Conflict("on purpose".to_owned()))
        })
    });
    let failed = storage.store.run(failing).await;
    assert!(failed.is_err(), "{failed:?}");
    assert_eq!(turns.try_recv(), Err(TryRecvError::Empty));
    let woken = wake(workspace);
    storage.store.run(announce(woken)).await.expect("runs");
    // It is there before the command has been answered.
    assert_eq!(turns.try_recv(), Ok(woken));
    storage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_follows_turns_in_another_process_is_woken() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let (first, second) = tokio::join!(place.open(), place.open());
    let workspace = workspace(&first.store).await;
    let mut turns = second.store.follow_turns();
    let woken = wake(workspace);
    // One that is told before the other listens is lost, so it is told until it comes.
    let received = timeout(PATIENCE, async {
        loop {
            first.store.run(announce(woken)).await.expect("runs");
            if let Ok(received) = timeout(Duration::from_millis(500), turns.recv()).await {
                return received.expect("a turn");
            }
        }
    });
    assert_eq!(received.await.expect("in time"), woken);
    tokio::join!(first.close(), second.close());
}
