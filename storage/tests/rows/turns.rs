//! Turns: fencing, and who may be claimed when.

use domain::ids::TaskId;
use domain::message::MessageState;
use domain::page::{End, Window};
use domain::store::SharedStore;
use domain::task::{Task, TaskStatus};
use domain::time::Timestamp;
use domain::turn::{Claimable, Epoch, Lease, Turn, TurnState, WorkerId};
use uuid::Uuid;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{Place, START, bootstrap, second_workspace, seconds, within};
use crate::task_seeds::{insert_task, insert_turn, new_message, new_task, new_turn, stored_task};

on_both_databases!(
    a_turn_is_written_only_over_the_epoch_that_holds,
    a_turn_that_is_over_is_not_written_any_more,
    the_longest_waiting_turn_of_each_workspace_comes_before_the_second_of_any,
    only_turns_that_are_due_can_be_claimed,
    a_turn_that_is_kept_and_does_not_move_is_found,
    tasks_with_an_unread_inbox_and_no_turn_are_found,
    turns_are_read_from_both_ends,
    leases_are_judged_by_the_clock_of_a_shared_database,
);

async fn read(store: &SharedStore, turn: &Turn) -> Turn {
    let found = store.reads().list_turns_by_id(&[turn.id]).await;
    found.expect("reads").remove(0)
}

async fn update(store: &SharedStore, turn: &Turn, presented: u32) -> bool {
    let updated = within!(store, turn.workspace, |tx, turn| tx
        .update_turn(&turn, Epoch(presented))
        .await);
    match updated {
        Ok(()) => true,
        Err(domain::Error::Fenced {
            turn: fenced,
            presented: named,
            ..
        }) => {
            assert_eq!((fenced, named), (turn.id, Epoch(presented)));
            false
        }
        Err(error) => panic!("{error:?}"),
    }
}

fn lease(until: Timestamp) -> Lease {
    Lease {
        owner: WorkerId(Uuid::new_v4()),
        expires_at: until,
    }
}

async fn a_turn_is_written_only_over_the_epoch_that_holds(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let task = stored_task(store, bootstrap(store).await).await;
    let queued = new_turn(&task, 1);
    insert_turn(store, &queued).await;
    assert_eq!(read(store, &queued).await, queued);
    let claimed = Turn {
        state: TurnState::Running,
        epoch: Epoch(1),
        lease: Some(lease(seconds(9))),
        not_before: Some(seconds(1)),
        started_at: Some(seconds(2)),
        settled_steps: 4,
        moved_at: seconds(3),
        idle_claims: 2,
        has_progress: true,
        ..queued.clone()
    };
    assert!(update(store, &claimed, 0).await, "the first claim");
    let late = |epoch| Turn {
        lease: Some(lease(seconds(99))),
        epoch: Epoch(epoch),
        ..claimed.clone()
    };
    let claim = late(1);
    assert!(!update(store, &claim, 0).await, "a claim of the old epoch");
    let write = late(0);
    assert!(!update(store, &write, 0).await, "a write of the old epoch");
    let ahead = late(2);
    assert!(!update(store, &ahead, 2).await, "an epoch that never was");
    assert_eq!(read(store, &queued).await, claimed);
    storage.close().await;
}

async fn a_turn_that_is_over_is_not_written_any_more(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let task = stored_task(store, bootstrap(store).await).await;
    let states = [
        TurnState::Completed,
        TurnState::Failed,
        TurnState::Cancelled,
    ];
    for (number, state) in (1..).zip(states) {
        let mut turn = new_turn(&task, number);
        insert_turn(store, &turn).await;
        (turn.state, turn.ended_at) = (state, Some(seconds(1)));
        assert!(update(store, &turn, 0).await, "the end");
        assert!(!update(store, &turn, 0).await, "after the end");
    }
    storage.close().await;
}

async fn claimable(store: &SharedStore, now: Timestamp, limit: u32) -> Vec<Claimable> {
    let found = store.reads().list_claimable(now, limit).await;
    found.expect("reads")
}

async fn the_longest_waiting_turn_of_each_workspace_comes_before_the_second_of_any(
    database: TestDatabase,
) {
    let storage = database.open().await;
    let store = &storage.store;
    let busy = bootstrap(store).await;
    let calm = second_workspace(store, busy).await;
    let mut waiting = Vec::new();
    for (place, second) in [(busy, 1), (busy, 2), (busy, 3), (calm, 8), (calm, 9)] {
        let task = stored_task(store, place).await;
        let turn = Turn {
            queued_at: seconds(second),
            ..new_turn(&task, 1)
        };
        insert_turn(store, &turn).await;
        waiting.push(turn);
    }
    let found = claimable(store, seconds(10), 9).await;
    let order: Vec<_> = [0, 3, 1, 4, 2]
        .map(|place: usize| Claimable {
            workspace: waiting[place].workspace,
            task: waiting[place].task,
            turn: waiting[place].id,
            epoch: Epoch(0),
        })
        .into();
    assert_eq!(found, order);
    assert_eq!(claimable(store, seconds(10), 2).await, order[..2]);
    storage.close().await;
}

/// A task in a status, with a turn that somebody changed.
async fn task_with_turn(
    store: &SharedStore,
    place: Place,
    status: TaskStatus,
    change: impl FnOnce(&mut Turn),
) -> TaskId {
    let task = Task {
        status,
        ..new_task(place)
    };
    insert_task(store, &task).await;
    let mut turn = new_turn(&task, 1);
    change(&mut turn);
    insert_turn(store, &turn).await;
    task.id
}

async fn only_turns_that_are_due_can_be_claimed(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = async |status, state, not_before: Option<u64>, until: Option<u64>| {
        task_with_turn(store, place, status, |turn| {
            turn.state = state;
            turn.not_before = not_before.map(seconds);
            turn.lease = until.map(|until| lease(seconds(until)));
        })
        .await
    };
    let due = [
        task(TaskStatus::Queued, TurnState::Queued, None, None).await,
        task(TaskStatus::Paused, TurnState::Queued, None, None).await,
        task(TaskStatus::Queued, TurnState::Suspended, Some(10), None).await,
        task(TaskStatus::Running, TurnState::Running, None, Some(10)).await,
        task(TaskStatus::Running, TurnState::Running, None, None).await,
    ];
    task(TaskStatus::Queued, TurnState::Suspended, Some(11), None).await;
    task(TaskStatus::Running, TurnState::Running, None, Some(11)).await;
    task(TaskStatus::Stopped, TurnState::Queued, None, None).await;
    task(TaskStatus::Archived, TurnState::Queued, None, None).await;
    task(TaskStatus::Queued, TurnState::Completed, None, None).await;
    let found = claimable(store, seconds(10), 20).await;
    let mut found: Vec<_> = found.iter().map(|turn| turn.task).collect();
    found.sort();
    assert_eq!(
        found, due,
        "those that are due, in the order they were made"
    );
    storage.close().await;
}

async fn a_turn_that_is_kept_and_does_not_move_is_found(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let running = async |moved, until| {
        task_with_turn(store, place, TaskStatus::Running, |turn| {
            turn.state = TurnState::Running;
            turn.moved_at = seconds(moved);
            turn.lease = Some(lease(seconds(until)));
        })
        .await
    };
    let unmoved = running(4, 100).await;
    running(5, 100).await;
    running(4, 50).await;
    let found = store.reads().list_unmoved(seconds(50), seconds(5), 9).await;
    let found: Vec<_> = found.expect("reads").iter().map(|turn| turn.task).collect();
    assert_eq!(found, [unmoved]);
    storage.close().await;
}

async fn tasks_with_an_unread_inbox_and_no_turn_are_found(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = async |status, has_turn: bool, state, written: u64| {
        let mut task = Task {
            status,
            ..new_task(place)
        };
        task.active_turn = has_turn.then(domain::ids::TurnId::new);
        insert_task(store, &task).await;
        for second in [written, written + 10] {
            let mut message = new_message(place, seconds(second));
            (message.task, message.state) = (Some(task.id), state);
            let inserted = within!(store, place.workspace, |tx, message| tx
                .insert_message(&message)
                .await);
            inserted.expect("inserts");
        }
        (place.workspace, task.id)
    };
    let later = task(TaskStatus::Delivered, false, MessageState::Delivered, 3).await;
    let sooner = task(
        TaskStatus::WaitingForPerson,
        false,
        MessageState::Delivered,
        2,
    )
    .await;
    task(TaskStatus::Delivered, true, MessageState::Delivered, 1).await;
    task(TaskStatus::Paused, false, MessageState::Delivered, 1).await;
    task(TaskStatus::Delivered, false, MessageState::Consumed, 1).await;
    let found = store.reads().list_unwoken(9).await.expect("reads");
    assert_eq!(found, [sooner, later]);
    let found = store.reads().list_unwoken(1).await.expect("reads");
    assert_eq!(found, [sooner]);
    storage.close().await;
}

async fn turns_are_read_from_both_ends(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = stored_task(store, place).await;
    let other = stored_task(store, place).await;
    for number in [3, 1, 5, 4, 2] {
        insert_turn(store, &new_turn(&task, number)).await;
    }
    insert_turn(store, &new_turn(&other, 1)).await;
    let read = async |end, limit, after, before| {
        let window = Window {
            limit,
            end,
            after,
            before,
        };
        let page = store.reads().list_turns(task.id, window).await;
        let page = page.expect("reads");
        let numbers: Vec<_> = page.rows.iter().map(|turn| turn.number).collect();
        (numbers, page.has_next)
    };
    assert_eq!(read(End::First, 2, None, None).await, (vec![1, 2], true));
    assert_eq!(read(End::First, 3, Some(2), None).await.0, [3, 4, 5]);
    assert_eq!(read(End::Last, 2, None, None).await, (vec![4, 5], true));
    assert_eq!(read(End::Last, 9, None, Some(4)).await.0, [1, 2, 3]);
    let middle = read(End::Last, 9, Some(1), Some(4)).await;
    assert_eq!(middle, (vec![2, 3], false));
    let twice = within!(store, place.workspace, |tx, task| tx
        .insert_turn(&new_turn(&task, 5))
        .await);
    assert!(
        matches!(twice, Err(domain::Error::Conflict(_))),
        "{twice:?}"
    );
    storage.close().await;
}

async fn leases_are_judged_by_the_clock_of_a_shared_database(database: TestDatabase) {
    let storage = database.open().await;
    let reads = storage.store.reads();
    let first = reads.lease_time(START).await.expect("reads");
    let second = reads.lease_time(START).await.expect("reads");
    if database.is_postgres() {
        assert!(START < first && first < second, "{first:?} {second:?}");
    } else {
        assert_eq!((first, second), (START, START));
    }
    storage.close().await;
}
