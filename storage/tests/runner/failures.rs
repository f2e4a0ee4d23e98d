//! Statements, connections and commits that fail: what is answered is what is stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::ids::{UserId, WorkspaceId};
use domain::people::User;
use domain::store::{Scope, SharedStore, StoreExt as _};
use domain::{Error, Result};
use futures_util::future::join_all;
use sea_orm::{ConnectionTrait as _, Database};
use tokio::sync::{Barrier, Notify};

use crate::commands::{Act, START, act, emit, gapless_log, numbered, numbers, workspace};
use crate::on_both_databases;
use crate::place::Place;
use crate::proxy::Proxy;

on_both_databases! {
    a_command_that_overlooks_a_failed_statement_stores_nothing
    of_a_group_a_panicking_and_a_careless_command_undo_only_themselves
}

/// Emits a number, and overlooks that a statement after it fails.
fn careless(workspace: WorkspaceId, number: u64) -> Act {
    act(Scope::Workspace(workspace), move |tx| {
        Box::pin(async move {
            tx.emit(workspace, vec![numbered(number)]).await?;
            let user = User {
                id: UserId::new(),
                name: "Twice".to_owned(),
                email: None,
                created_in: None,
                created_at: START,
            };
            tx.insert_user(&user).await?;
            assert!(tx.insert_user(&user).await.is_err(), "the id is taken");
            Ok(())
        })
    })
}

fn panicking(workspace: WorkspaceId, number: u64) -> Act {
    act(Scope::Workspace(workspace), move |tx| {
        Box::pin(async move {
            tx.emit(workspace, vec![numbered(number)]).await?;
            panic!("a defect")
        })
    })
}

/// Runs commands of one workspace as one group: they wait behind a command that is let go when all of them do.
async fn as_one_group(
    store: &SharedStore,
    workspace: WorkspaceId,
    commands: Vec<Act>,
) -> Vec<Result<()>> {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let gate = {
        let (begun, go) = (begun.clone(), go.clone());
        act(Scope::Workspace(workspace), move |_| {
            let (begun, go) = (begun.clone(), go.clone());
            Box::pin(async move {
                begun.notify_one();
                go.notified().await;
                Ok(())
            })
        })
    };
    let group = async {
        begun.notified().await;
        let mut answers = Box::pin(join_all(
            commands.into_iter().map(|command| store.run(command)),
        ));
        // One look at each hands it to its lane.
        assert!(futures_util::poll!(&mut answers).is_pending());
        go.notify_one();
        answers.await
    };
    let (gate, answers) = tokio::join!(store.run(gate), group);
    gate.expect("the gate does nothing");
    answers
}

async fn a_command_that_overlooks_a_failed_statement_stores_nothing(place: Place) {
    let storage = place.open().await;
    let workspace = workspace(&storage.store).await;
    let answer = storage.store.run(careless(workspace, 1)).await;
    assert!(matches!(answer, Err(Error::Internal(_))), "{answer:?}");
    storage.store.run(emit(workspace, 2)).await.expect("runs");
    let log = gapless_log(&storage.store, workspace).await;
    assert_eq!(numbers(&log), [2]);
    storage.close().await;
}

async fn of_a_group_a_panicking_and_a_careless_command_undo_only_themselves(place: Place) {
    let storage = place.open().await;
    let workspace = workspace(&storage.store).await;
    let commands = (0..12).map(|number| match number % 4 {
        1 => careless(workspace, number),
        2 => panicking(workspace, number),
        _ => emit(workspace, number),
    });
    let answers = as_one_group(&storage.store, workspace, commands.collect()).await;
    for (number, answer) in answers.iter().enumerate() {
        match number % 4 {
            1 | 2 => assert!(
                matches!(answer, Err(Error::Internal(_))),
                "{number}: {answer:?}"
            ),
            _ => assert!(answer.is_ok(), "{number}: {answer:?}"),
        }
    }
    let log = gapless_log(&storage.store, workspace).await;
    assert_eq!(numbers(&log), [0, 3, 4, 7, 8, 11]);
    storage.close().await;
}

/// Runs a statement behind the server's back.
async fn execute(database_url: &str, sql: &str) {
    let connection = Database::connect(database_url).await.expect("connects");
    connection.execute_unprepared(sql).await.expect("runs");
    connection.close().await.expect("closes");
}

/// Looks at the other workspace, and writes to its own once both have looked: neither order of the two gives what both saw.
fn skewed(own: WorkspaceId, other: WorkspaceId, meet: &Arc<Barrier>, runs: &Arc<AtomicU32>) -> Act {
    let (meet, runs) = (meet.clone(), runs.clone());
    act(Scope::Workspace(own), move |tx| {
        let (meet, runs) = (meet.clone(), runs.clone());
        Box::pin(async move {
            let head = tx.event_head(other).await?;
            // Only the first run of each waits: a second run has nobody to meet.
            if runs.fetch_add(1, Ordering::SeqCst) < 2 {
                meet.wait().await;
            }
            tx.emit(own, vec![numbered(head.0)]).await
        })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_serialization_failure_is_run_again() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let name = place.database_url.rsplit('/').next().expect("a name");
    let strict = format!("alter database {name} set default_transaction_isolation = serializable");
    execute(&place.database_url, &strict).await;
    let (first, second) = tokio::join!(place.open(), place.open());
    let one = workspace(&first.store).await;
    let two = workspace(&first.store).await;
    let (meet, runs) = (Arc::new(Barrier::new(2)), Arc::new(AtomicU32::new(0)));
    let (left, right) = tokio::join!(
        first.store.run(skewed(one, two, &meet, &runs)),
        second.store.run(skewed(two, one, &meet, &runs)),
    );
    left.expect("is stored");
    right.expect("is stored");
    assert_eq!(runs.load(Ordering::SeqCst), 3, "one of the two ran again");
    let mut heads = Vec::new();
    for workspace in [one, two] {
        heads.extend(numbers(&gapless_log(&first.store, workspace).await));
    }
    heads.sort_unstable();
    assert_eq!(heads, [0, 1], "the second saw what the first had written");
    tokio::join!(first.close(), second.close());
}

/// Ends every connection that is inside a transaction, the asking one excepted.
const TERMINATE: &str = "select pg_terminate_backend(pid) from pg_stat_activity \
                         where datname = current_database() and state like 'idle in transaction%' and pid <> pg_backend_pid()";

/// Emits, sees that it is written, loses its connection in its first run, and emits again if `goes_on`.
fn unlucky(
    workspace: WorkspaceId,
    database_url: &str,
    runs: &Arc<AtomicU32>,
    goes_on: bool,
) -> Act {
    let (url, runs) = (database_url.to_owned(), runs.clone());
    act(Scope::Workspace(workspace), move |tx| {
        let (url, runs) = (url.clone(), runs.clone());
        Box::pin(async move {
            tx.emit(workspace, vec![numbered(1)]).await?;
            // What is only gathered would be written behind the loss, and then all of it be run again.
            tx.event_head(workspace).await?;
            if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                execute(&url, TERMINATE).await;
            }
            if goes_on {
                tx.emit(workspace, vec![numbered(2)]).await?;
            }
            Ok(())
        })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_whose_connection_is_lost_before_its_commit_is_run_again() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let storage = place.open().await;
    let store = &storage.store;
    let workspace = workspace(store).await;
    let url = &place.database_url;
    let alone = Arc::new(AtomicU32::new(0));
    let answer = store.run(unlucky(workspace, url, &alone, true)).await;
    answer.expect("is stored");
    let grouped = Arc::new(AtomicU32::new(0));
    let commands = vec![
        emit(workspace, 0),
        unlucky(workspace, url, &grouped, true),
        emit(workspace, 3),
    ];
    for answer in as_one_group(store, workspace, commands).await {
        answer.expect("is stored");
    }
    let runs = [&alone, &grouped].map(|runs| runs.load(Ordering::SeqCst));
    assert_eq!(runs, [2, 2]);
    let stored = numbers(&gapless_log(store, workspace).await);
    assert_eq!(stored, [0, 1, 1, 2, 2, 3]);
    storage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_on_a_lost_connection_is_unavailable_and_not_tried_again() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let storage = place.open().await;
    let store = &storage.store;
    let workspace = workspace(store).await;
    let runs = Arc::new(AtomicU32::new(0));
    let command = unlucky(workspace, &place.database_url, &runs, false);
    let answer = store.run(command).await;
    assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    // The lane goes on by itself, and what was not reported is not there.
    store.run(emit(workspace, 9)).await.expect("runs");
    assert_eq!(numbers(&gapless_log(store, workspace).await), [9]);
    storage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_unavailable_and_stored_once() {
    let Some(mut place) = Place::postgres().await else {
        return;
    };
    let proxy = Proxy::start(&place.database_url).await;
    let direct = std::mem::replace(&mut place.database_url, proxy.url());
    let storage = place.open().await;
    let store = &storage.store;
    let workspace = workspace(store).await;
    let runs = Arc::new(AtomicU32::new(0));
    let command = {
        let (runs, proxy) = (runs.clone(), proxy.clone());
        act(Scope::Workspace(workspace), move |tx| {
            let (runs, proxy) = (runs.clone(), proxy.clone());
            Box::pin(async move {
                runs.fetch_add(1, Ordering::SeqCst);
                proxy.lose_the_next_answer_to_a_commit();
                tx.emit(workspace, vec![numbered(1)]).await
            })
        })
    };
    let answer = store.run(command).await;
    assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    store.run(emit(workspace, 2)).await.expect("runs");
    assert_eq!(numbers(&gapless_log(store, workspace).await), [1, 2]);
    storage.close().await;
    place.database_url = direct;
}
