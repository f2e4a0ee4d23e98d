//! One process: groups, failures, panics, stopping, readers beside writers.

use domain::Error;
use domain::store::{Scope, StoreExt as _};
use futures_util::future::join_all;
use sea_orm::{ConnectionTrait, Database, Statement};

use crate::commands::{act, emit, gapless_log, numbered, numbers, workspace};
use crate::on_both_databases;
use crate::place::Place;

on_both_databases! {
    what_is_committed_is_there_when_opened_again
    a_failing_command_undoes_only_itself
    a_panicking_command_undoes_only_itself
    a_command_on_a_missing_workspace_finds_nothing
    closing_answers_everybody_truly
    a_follower_is_woken_by_a_commit
}

async fn what_is_committed_is_there_when_opened_again(place: Place) {
    let storage = place.open().await;
    let workspace = workspace(&storage.store).await;
    storage.store.run(emit(workspace, 7)).await.expect("runs");
    storage.close().await;
    drop(storage);

    let again = place.open().await;
    again.ready().await.expect("ready");
    assert_eq!(numbers(&gapless_log(&again.store, workspace).await), [7]);
    again.close().await;
}

async fn a_failing_command_undoes_only_itself(place: Place) {
    let storage = place.open().await;
    let store = &storage.store;
    let workspace = workspace(store).await;
    let commands = (0..100).map(|number| {
        act(Scope::Workspace(workspace), move |tx| {
            Box::pin(async move {
                tx.emit(workspace, vec![numbered(number)]).await?;
                if number % 3 == 0 {
                    return Err(Error::Invalid("no multiple of three".to_owned()));
                }
                Ok(())
            })
        })
    });
    let answers = join_all(commands.map(|command| store.run(command))).await;
    for (number, answer) in answers.iter().enumerate() {
        let is_refused = matches!(answer, Err(Error::Invalid(_)));
        assert_eq!(is_refused, number % 3 == 0, "{number}: {answer:?}");
        assert!(is_refused || answer.is_ok(), "{number}: {answer:?}");
    }
    let expected: Vec<u64> = (0..100).filter(|number| number % 3 != 0).collect();
    assert_eq!(numbers(&gapless_log(store, workspace).await), expected);
    storage.close().await;
}

async fn a_panicking_command_undoes_only_itself(place: Place) {
    let storage = place.open().await;
    let store = &storage.store;
    let workspace = workspace(store).await;
    let commands = (0..20).map(|number| {
        act(Scope::Workspace(workspace), move |tx| {
            Box::pin(async move {
                tx.emit(workspace, vec![numbered(number)]).await?;
                assert_ne!(number, 5, "a defect");
                Ok(())
            })
        })
    });
    let answers = join_all(commands.map(|command| store.run(command))).await;
    for (number, answer) in answers.iter().enumerate() {
        match answer {
            Ok(()) => assert_ne!(number, 5),
            Err(Error::Internal(_)) => assert_eq!(number, 5),
            Err(error) => panic!("{number}: {error:?}"),
        }
    }
    let expected: Vec<u64> = (0..20).filter(|number| *number != 5).collect();
    assert_eq!(numbers(&gapless_log(store, workspace).await), expected);
    storage.close().await;
}

async fn a_command_on_a_missing_workspace_finds_nothing(place: Place) {
    let storage = place.open().await;
    let answer = storage
        .store
        .run(emit(domain::ids::WorkspaceId::new(), 1))
        .await;
    assert!(matches!(answer, Err(Error::NotFound(_))), "{answer:?}");
    storage.close().await;
}

async fn closing_answers_everybody_truly(place: Place) {
    let storage = place.open().await;
    let workspace = workspace(&storage.store).await;
    let store = &storage.store;
    let commands = join_all((0..300).map(|number| store.run(emit(workspace, number))));
    let (answers, ()) = tokio::join!(commands, storage.close());
    let stored: Vec<u64> = (0..)
        .zip(&answers)
        .filter(|(_, answer)| answer.is_ok())
        .map(|(number, _)| number)
        .collect();
    for answer in answers {
        assert!(
            matches!(answer, Ok(()) | Err(Error::Unavailable(_))),
            "{answer:?}"
        );
    }
    drop(storage);

    let again = place.open().await;
    assert_eq!(numbers(&gapless_log(&again.store, workspace).await), stored);
    again.close().await;
}

async fn a_follower_is_woken_by_a_commit(place: Place) {
    let storage = place.open().await;
    let workspace = workspace(&storage.store).await;
    let mut follower = storage.store.follow(workspace);
    storage.store.run(emit(workspace, 1)).await.expect("runs");
    follower
        .wait_for(|head| head.0 == 1)
        .await
        .expect("the head comes");
    storage.close().await;
}

#[tokio::test]
async fn a_second_process_on_one_sqlite_file_is_refused() {
    let place = Place::sqlite();
    let first = place.open().await;
    let second = place.try_open().await.err();
    assert!(
        matches!(&second, Some(Error::Conflict(text)) if text.contains("another process")),
        "{second:?}"
    );
    first.close().await;
    drop(first);
    place.open().await.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_is_never_locked_under_writers_and_readers() {
    let place = Place::sqlite();
    let storage = place.open().await;
    let store = &storage.store;
    let workspace = workspace(store).await;
    let outside = Database::connect(format!("{}?mode=ro", place.database_url))
        .await
        .expect("another program reads the file");
    let writer = |writer: u64| async move {
        for number in 0..25 {
            store
                .run(emit(workspace, writer * 100 + number))
                .await
                .expect("writes");
        }
    };
    let reader = || async move {
        for _ in 0..50 {
            gapless_prefix(store, workspace).await;
        }
    };
    let other = async {
        for _ in 0..100 {
            let count = Statement::from_string(
                sea_orm::DbBackend::Sqlite,
                "select count(*), max(sequence) from events",
            );
            outside.query_one_raw(count).await.expect("reads");
        }
    };
    tokio::join!(
        join_all((0..16).map(writer)),
        join_all((0..8).map(|_| reader())),
        other
    );
    assert_eq!(gapless_log(store, workspace).await.len(), 16 * 25);
    outside.close().await.expect("closes");
    storage.close().await;
}

/// What a reader sees while others write: no gap up to where it reads.
async fn gapless_prefix(store: &domain::store::SharedStore, workspace: domain::ids::WorkspaceId) {
    let events = store
        .reads()
        .list_events(workspace, domain::event::Sequence(0), 10_000)
        .await
        .expect("reads");
    for (place, event) in (1..).zip(&events) {
        assert_eq!(event.sequence.0, place);
    }
}
