//! Commands that share a transaction: each finds what those before it have changed, and is undone alone.

use std::sync::Arc;

use domain::Error;
use domain::store::{Scope, SharedStore, StoreExt as _};
use domain::task::{ChecklistState, PauseTask, TaskStatus};
use domain::turn::{After, TurnState};
use futures_util::future::{BoxFuture, FutureExt as _, join_all};
use tokio::sync::Notify;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{Does, Place, bootstrap, seconds, within};
use crate::task_seeds::{
    Worker, action, create_task, decision, insert_turn, item, new_turn, opened, read_task,
    stored_task,
};

on_both_databases!(
    a_decision_finds_the_pause_that_came_before_it_in_the_same_group,
    a_refused_row_of_one_command_leaves_the_others_of_its_group,
    many_decisions_of_one_group_are_all_stored,
);

/// Holds the lane of a workspace until everything that is to share a transaction waits for it.
async fn as_one_group<T>(
    store: &SharedStore,
    place: Place,
    waiting: Vec<BoxFuture<'_, T>>,
) -> Vec<T> {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let gate = {
        let (begun, go) = (begun.clone(), go.clone());
        Does::new(Scope::Workspace(place.workspace), move |_| {
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
        let mut answers = Box::pin(join_all(waiting));
        // One look at each hands it to its lane.
        assert!(futures_util::poll!(&mut answers).is_pending());
        go.notify_one();
        answers.await
    };
    let (gate, answers) = tokio::join!(store.run(gate), group);
    gate.expect("the gate does nothing");
    answers
}

fn open_plan() -> domain::turn::Decision {
    decision(vec![item("draw", ChecklistState::Todo)], Vec::new())
}

async fn a_decision_finds_the_pause_that_came_before_it_in_the_same_group(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let (task, other) = (
        create_task(store, place, &[]).await,
        create_task(store, place, &[]).await,
    );
    let (worker, _) = Worker::claim(store, task).await;
    let (beside, _) = Worker::claim(store, other).await;
    let pause = PauseTask(action(place, task, seconds(2)));
    let waiting: Vec<BoxFuture<'_, domain::Result<After>>> = vec![
        async {
            store.run(pause).await?;
            Ok(After::Ended)
        }
        .boxed(),
        worker.decide(1, open_plan()).boxed(),
        beside.decide(1, open_plan()).boxed(),
    ];
    let answers = as_one_group(store, place, waiting).await;
    let mut answers = answers.into_iter().map(|answer| answer.expect("is stored"));
    answers.next();
    assert_eq!(
        answers.next(),
        Some(After::Ended),
        "the paused turn ends at its boundary"
    );
    assert_eq!(opened(answers.next().expect("an answer")).step.at.step, 2);
    let paused = read_task(store, task).await;
    assert_eq!((paused.status, paused.usage.steps), (TaskStatus::Paused, 1));
    assert_eq!(read_task(store, other).await.status, TaskStatus::Running);
    storage.close().await;
}

async fn a_refused_row_of_one_command_leaves_the_others_of_its_group(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let known = stored_task(store, place).await;
    let turn = new_turn(&known, 1);
    insert_turn(store, &turn).await;
    let task = create_task(store, place, &[]).await;
    let (worker, _) = Worker::claim(store, task).await;
    let late = domain::turn::Turn {
        state: TurnState::Completed,
        ..turn.clone()
    };
    let waiting: Vec<BoxFuture<'_, domain::Result<()>>> = vec![
        async {
            let twice = new_turn(&known, 1);
            within!(store, place.workspace, |tx, twice| tx
                .insert_turn(&twice)
                .await)
        }
        .boxed(),
        async { worker.decide(1, open_plan()).await.map(drop) }.boxed(),
        async {
            within!(store, place.workspace, |tx, late| tx
                .update_turn(&late, domain::turn::Epoch(0))
                .await)
        }
        .boxed(),
        async {
            within!(store, place.workspace, |tx, late| tx
                .update_turn(&late, domain::turn::Epoch(0))
                .await)
        }
        .boxed(),
    ];
    let answers = as_one_group(store, place, waiting).await;
    assert!(matches!(answers[0], Err(Error::Conflict(_))), "{answers:?}");
    assert!(answers[1].is_ok() && answers[2].is_ok(), "{answers:?}");
    assert!(
        matches!(answers[3], Err(Error::Fenced { .. })),
        "{answers:?}"
    );
    assert_eq!(read_task(store, task).await.usage.steps, 1);
    let stored = store.reads().list_turns_by_id(&[turn.id]).await;
    assert_eq!(stored.expect("reads"), [late]);
    storage.close().await;
}

async fn many_decisions_of_one_group_are_all_stored(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let mut workers = Vec::new();
    for _ in 0..20 {
        let task = create_task(store, place, &[]).await;
        workers.push((task, Worker::claim(store, task).await.0));
    }
    for step in 1..=3 {
        let waiting = workers
            .iter()
            .map(|(_, worker)| worker.decide(step, open_plan()).boxed());
        for answer in as_one_group(store, place, waiting.collect()).await {
            let opened = opened(answer.expect("is stored"));
            assert_eq!(opened.step.at.step, step + 1);
            assert_eq!(opened.task, read_task(store, opened.step.task).await);
        }
    }
    for (task, _) in &workers {
        assert_eq!(read_task(store, *task).await.usage.steps, 3);
    }
    storage.close().await;
}
