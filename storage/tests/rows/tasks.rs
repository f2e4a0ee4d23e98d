//! Tasks, projections and linked works as they come back.

use domain::document::Version;
use domain::ids::{MessageId, TaskId, TurnId, WorkId};
use domain::page::PageRequest;
use domain::people::CreatedPosition;
use domain::store::SharedStore;
use domain::task::{
    Autonomy, ChecklistState, LinkedWork, Projections, Task, TaskFilter, TaskKind, TaskStatus,
    Usage,
};

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{Place, bootstrap, second_workspace, seconds, within};
use crate::task_seeds::{insert_task, item, new_task, read_task, stored_task};

on_both_databases!(
    a_task_comes_back_as_it_was_written,
    tasks_are_listed_newest_first_by_kind_and_status,
    projections_are_rewritten_whole_and_can_be_deleted,
    what_a_task_has_seen_of_a_work_only_moves_forward,
);

async fn a_task_comes_back_as_it_was_written(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let mut task = new_task(place);
    task.origin = Some(MessageId::new());
    insert_task(store, &task).await;
    assert_eq!(read_task(store, task.id).await, task);
    task.kind = TaskKind::Lightweight;
    task.status = TaskStatus::Blocked;
    task.status_reason = Some("no model is there".into());
    (task.title, task.brief, task.language) = ("New".into(), "Red".into(), "ru".into());
    task.autonomy = Autonomy::RunUntilDone;
    task.budget_micros = Some(5_000_000);
    task.updated_at = seconds(9);
    (task.journal_head, task.news_head) = (7, 5);
    task.active_turn = Some(TurnId::new());
    task.course.turns = 3;
    task.course.closed_items.push("a".into());
    task.usage = Usage {
        steps: 2,
        input_tokens: 10,
        cached_tokens: 4,
        output_tokens: 3,
        spent_micros: 1,
    };
    let updated = within!(store, place.workspace, |tx, task| tx
        .update_task(&task)
        .await);
    updated.expect("updates");
    assert_eq!(read_task(store, task.id).await, task);
    let asked = [TaskId::new(), task.id];
    let found = store.reads().list_tasks_by_id(&asked).await;
    assert_eq!(found.expect("reads").len(), 1);
    storage.close().await;
}

/// Five tasks, one a second; the second and the fourth are light, the last is stopped.
async fn five_tasks(store: &SharedStore, place: Place) -> Vec<Task> {
    let mut tasks = Vec::new();
    for number in 0..5 {
        let mut task = new_task(place);
        task.created_at = seconds(number);
        if number % 2 == 1 {
            task.kind = TaskKind::Lightweight;
        }
        if number == 4 {
            task.status = TaskStatus::Stopped;
        }
        insert_task(store, &task).await;
        tasks.push(task);
    }
    tasks
}

async fn tasks_are_listed_newest_first_by_kind_and_status(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let tasks = five_tasks(store, place).await;
    let other = second_workspace(store, place).await;
    stored_task(store, other).await;
    let list = async |filter: &TaskFilter, first, after: Option<&Task>| {
        let after = after.map(|task| CreatedPosition {
            at: task.created_at,
            id: task.id.uuid(),
        });
        let page = PageRequest::try_new(Some(first), after).expect("a page");
        let page = store.reads().list_tasks(place.workspace, filter, page);
        let page = page.await.expect("reads");
        let numbers: Vec<_> = page
            .rows
            .iter()
            .map(|row| tasks.iter().position(|task| task.id == row.id))
            .map(|number| number.expect("a task of this workspace"))
            .collect();
        (numbers, page.has_next)
    };
    let all = TaskFilter::default();
    assert_eq!(list(&all, 2, None).await, (vec![4, 3], true));
    assert_eq!(list(&all, 9, Some(&tasks[3])).await, (vec![2, 1, 0], false));
    let persistent = TaskFilter {
        kinds: vec![TaskKind::Persistent],
        statuses: vec![TaskStatus::Queued, TaskStatus::Running],
    };
    assert_eq!(list(&persistent, 9, None).await, (vec![2, 0], false));
    let count = store.reads().count_tasks(place.workspace, &persistent);
    assert_eq!(count.await.expect("counts"), 2);
    let count = store.reads().count_tasks(place.workspace, &all).await;
    assert_eq!(count.expect("counts"), 5);
    storage.close().await;
}

async fn projections_are_rewritten_whole_and_can_be_deleted(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = stored_task(store, place).await;
    let first = Projections {
        summary: "begun".into(),
        short_line: "drawing".into(),
        checklist: vec![item("a", ChecklistState::Todo)],
        rewritten_at: None,
        journal_sequence: 1,
    };
    let second = Projections {
        summary: "done".into(),
        checklist: vec![item("a", ChecklistState::Done)],
        rewritten_at: Some(seconds(3)),
        journal_sequence: 4,
        ..first.clone()
    };
    for written in [first, second] {
        let put = within!(store, task.workspace, |tx, task, written| tx
            .put_projections(task.workspace, task.id, &written)
            .await);
        put.expect("writes");
        let asked = [task.id, TaskId::new()];
        let found = store.reads().list_projections(&asked).await;
        assert_eq!(found.expect("reads"), [(task.id, written)]);
    }
    let deleted = within!(store, task.workspace, |tx, task| tx
        .delete_projections(task.workspace, task.id)
        .await);
    deleted.expect("deletes");
    let found = store.reads().list_projections(&[task.id]).await;
    assert_eq!(found.expect("reads"), []);
    storage.close().await;
}

async fn what_a_task_has_seen_of_a_work_only_moves_forward(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = stored_task(store, place).await;
    let link = |work, version| LinkedWork {
        workspace: task.workspace,
        task: task.id,
        work,
        seen_version: Version(version),
        last_read_at: None,
        last_written_at: None,
    };
    let put = async |linked: LinkedWork| {
        let put = within!(store, place.workspace, |tx, linked| tx
            .put_linked_work(&linked)
            .await);
        put.expect("links");
    };
    // The one that was linked first has the larger id.
    let (second, first) = (WorkId::new(), WorkId::new());
    put(link(first, 0)).await;
    put(link(second, 3)).await;
    put(LinkedWork {
        last_read_at: Some(seconds(5)),
        ..link(first, 7)
    })
    .await;
    put(LinkedWork {
        last_read_at: Some(seconds(2)),
        last_written_at: Some(seconds(4)),
        ..link(first, 6)
    })
    .await;
    let expected = LinkedWork {
        last_read_at: Some(seconds(5)),
        last_written_at: Some(seconds(4)),
        ..link(first, 7)
    };
    let found = store.reads().list_linked_works(&[task.id]).await;
    assert_eq!(found.expect("reads"), [expected.clone(), link(second, 3)]);
    let linked = async |place: Place| {
        let works = [first];
        let found = store.reads().list_linked_tasks(place.workspace, &works);
        found.await.expect("reads")
    };
    assert_eq!(linked(place).await, [expected]);
    assert_eq!(linked(second_workspace(store, place).await).await, []);
    storage.close().await;
}
