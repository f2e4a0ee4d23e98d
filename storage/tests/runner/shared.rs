//! Two processes on one PostgreSQL, played by two stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use domain::ids::{UserId, WorkspaceId};
use domain::people::User;
use domain::store::{Scope, Signal, StoreExt as _};
use domain::time::Timestamp;
use futures_util::future::join_all;
use tokio::sync::Barrier;
use tokio::time::timeout;

use crate::commands::{Act, act, emit, gapless_log, numbered, numbers, workspace};
use crate::place::Place;

/// Longer than any wake-up takes, the slow poll included.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_write_one_log_without_gaps() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let (first, second) = tokio::join!(place.open(), place.open());
    let workspaces = [workspace(&first.store).await, workspace(&first.store).await];
    let runs = (0..400_u64).map(|number| {
        let store = if number % 2 == 0 {
            &first.store
        } else {
            &second.store
        };
        store.run(emit(workspaces[(number / 2 % 2) as usize], number))
    });
    for answer in join_all(runs).await {
        answer.expect("is stored");
    }
    for (half, workspace) in (0..).zip(workspaces) {
        let stored = numbers(&gapless_log(&second.store, workspace).await);
        let expected: Vec<u64> = (0..400).filter(|number| number / 2 % 2 == half).collect();
        assert_eq!(stored, expected);
    }
    tokio::join!(first.close(), second.close());
}

/// Both find no user before either has made one, unless they wait for each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_that_start_at_once_make_one_first_owner() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let (first, second) = tokio::join!(place.open(), place.open());
    let met = Arc::new(AtomicU32::new(0));
    let claim = || {
        let met = met.clone();
        act(Scope::Installation, move |tx| {
            let met = met.clone();
            Box::pin(async move {
                if tx.is_empty_installation().await? {
                    met.fetch_add(1, Ordering::SeqCst);
                    // Long enough that the other one would look as well.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    tx.insert_user(&user()).await?;
                }
                Ok(())
            })
        })
    };
    let answers = tokio::join!(first.store.run(claim()), second.store.run(claim()));
    assert!(answers.0.is_ok() && answers.1.is_ok(), "{answers:?}");
    assert_eq!(met.load(Ordering::SeqCst), 1);
    tokio::join!(first.close(), second.close());
}

fn user() -> User {
    User {
        id: UserId::new(),
        name: "Owner".to_owned(),
        email: None,
        created_in: None,
        created_at: Timestamp::from_micros(0),
    }
}

/// What a command does about a statement that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Care {
    PassesOn,
    Overlooks,
}

/// Emits to its own workspace and, once the other command holds its own too, to the other's.
fn crossing(
    own: WorkspaceId,
    other: WorkspaceId,
    (meet, runs): (&Arc<Barrier>, &Arc<AtomicU32>),
    care: Care,
) -> Act {
    let (meet, runs) = (meet.clone(), runs.clone());
    act(Scope::Workspace(own), move |tx| {
        let (meet, runs) = (meet.clone(), runs.clone());
        Box::pin(async move {
            tx.emit(own, vec![numbered(1)]).await?;
            // Only the first run of each waits: a second run has nobody to meet.
            if runs.fetch_add(1, Ordering::SeqCst) < 2 {
                meet.wait().await;
            }
            let answer = tx.emit(other, vec![numbered(2)]).await;
            if care == Care::Overlooks {
                return Ok(());
            }
            answer
        })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_of_two_processes_is_run_again() {
    Box::pin(cross(Care::PassesOn)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_that_a_command_overlooks_is_run_again() {
    Box::pin(cross(Care::Overlooks)).await;
}

async fn cross(care: Care) {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let (first, second) = tokio::join!(place.open(), place.open());
    let one = workspace(&first.store).await;
    let two = workspace(&first.store).await;
    let (meet, runs) = (Arc::new(Barrier::new(2)), Arc::new(AtomicU32::new(0)));
    let (left, right) = tokio::join!(
        first.store.run(crossing(one, two, (&meet, &runs), care)),
        second.store.run(crossing(two, one, (&meet, &runs), care)),
    );
    left.expect("is stored");
    right.expect("is stored");
    assert!(runs.load(Ordering::SeqCst) > 2, "no deadlock was met");
    for workspace in [one, two] {
        let stored = numbers(&gapless_log(&first.store, workspace).await);
        assert_eq!(stored, [1, 2]);
    }
    tokio::join!(first.close(), second.close());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_wakes_followers_in_the_other_process() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let (first, second) = tokio::join!(place.open(), place.open());
    let workspace = workspace(&first.store).await;
    let mut follower = second.store.follow(workspace);
    let mut access = second.store.follow_access();
    let seen = *access.borrow_and_update();
    first.store.run(emit(workspace, 1)).await.expect("runs");
    let announce = act(Scope::Workspace(workspace), |tx| {
        Box::pin(async move { tx.announce_access_change().await })
    });
    first.store.run(announce).await.expect("runs");
    timeout(PATIENCE, follower.wait_for(|head| head.0 == 1))
        .await
        .expect("in time")
        .expect("the head comes");
    timeout(PATIENCE, access.wait_for(|count| *count > seen))
        .await
        .expect("in time")
        .expect("the news comes");
    tokio::join!(first.close(), second.close());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_signal_reaches_the_other_process_whole() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let (first, second) = tokio::join!(place.open(), place.open());
    let mut signals = second.store.follow_signals();
    let signal = Signal {
        process: uuid::Uuid::new_v4(),
        topic: "presence:work".to_owned(),
        payload: Bytes::from(vec![9; 30_000]),
    };
    // Best effort: one sent before the other listens is lost, so it is sent until it comes.
    let received = timeout(PATIENCE, async {
        loop {
            first.store.signal(signal.clone()).await.expect("is taken");
            if let Ok(received) = timeout(Duration::from_millis(500), signals.recv()).await {
                return received.expect("a signal");
            }
        }
    });
    assert_eq!(received.await.expect("in time"), signal);
    tokio::join!(first.close(), second.close());
}
