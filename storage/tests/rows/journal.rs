//! Journals, lines and segments, and what may not be done to them.

use domain::Error;
use domain::actor::Actor;
use domain::ids::{LineId, TaskId};
use domain::journal::{JournalEntry, JournalKind};
use domain::line::{ContextSegment, Line, LineExchange};
use domain::page::PageRequest;
use domain::store::SharedStore;
use domain::task::Task;
use domain::turn::StepRef;
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{self, append, bootstrap, change, seconds, within};
use crate::task_seeds::stored_task;

on_both_databases!(
    a_journal_is_read_forward_and_from_its_end_by_kind,
    a_place_in_a_journal_is_given_once,
    lines_and_their_exchanges_come_in_the_order_they_were_made,
    the_newest_segments_come_oldest_first,
    what_is_only_appended_can_not_be_changed_or_deleted_by_hand,
);

fn entry(sequence: u64, kind: JournalKind) -> JournalEntry {
    JournalEntry {
        sequence,
        kind,
        at: seconds(sequence),
        actor: Actor::System,
        step: sequence
            .is_multiple_of(2)
            .then_some(StepRef { turn: 1, step: 2 }),
        text: format!("entry {sequence}"),
        data: json!({"number": sequence}),
    }
}

async fn write(store: &SharedStore, task: &Task, entries: &[JournalEntry]) -> domain::Result<()> {
    let (task, entries) = (task.clone(), entries.to_vec());
    within!(store, task.workspace, |tx, task, entries| tx
        .append_journal(task.workspace, task.id, &entries)
        .await)
}

/// Six entries: plans have even sequences, results odd ones.
async fn journal(store: &SharedStore, task: &Task) -> Vec<JournalEntry> {
    let kind = |sequence| match sequence % 2 {
        0 => JournalKind::Plan,
        _ => JournalKind::Result,
    };
    let entries: Vec<_> = (1..=6).map(|number| entry(number, kind(number))).collect();
    write(store, task, &entries[..4]).await.expect("writes");
    write(store, task, &entries[4..]).await.expect("writes");
    entries
}

async fn a_journal_is_read_forward_and_from_its_end_by_kind(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = stored_task(store, place).await;
    let entries = journal(store, &task).await;
    journal(store, &stored_task(store, place).await).await;
    let page = async |kinds: &[JournalKind], first, after| {
        let page = PageRequest::try_new(Some(first), after).expect("a page");
        let page = store.reads().list_journal(task.id, kinds, page).await;
        let page = page.expect("reads");
        (page.rows, page.has_next)
    };
    assert_eq!(page(&[], 100, None).await, (entries.clone(), false));
    let part = entries[2..4].to_vec();
    assert_eq!(page(&[], 2, Some(2)).await, (part, true));
    let plans = [JournalKind::Plan, JournalKind::Prompt];
    let first = (vec![entries[1].clone()], true);
    assert_eq!(page(&plans, 1, None).await, first);

    let newest = async |kinds: &[JournalKind], after, limit| {
        let newest = store
            .reads()
            .list_newest_journal(task.id, kinds, after, limit);
        newest.await.expect("reads")
    };
    assert_eq!(newest(&[], 0, 2).await, entries[4..]);
    assert_eq!(newest(&[], 5, 9).await, entries[5..]);
    assert_eq!(newest(&plans, 0, 1).await, entries[5..]);
    let both = [entries[3].clone(), entries[5].clone()];
    assert_eq!(newest(&plans, 2, 9).await, both);
    storage.close().await;
}

async fn a_place_in_a_journal_is_given_once(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let task = stored_task(store, bootstrap(store).await).await;
    let entries = journal(store, &task).await;
    let twice = [entry(7, JournalKind::Plan), entry(6, JournalKind::Answer)];
    let refused = write(store, &task, &twice).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    let stored = store.reads().list_newest_journal(task.id, &[], 0, 9).await;
    assert_eq!(stored.expect("reads"), entries);
    storage.close().await;
}

async fn line(store: &SharedStore, task: &Task, second: u64) -> Line {
    let line = Line {
        id: LineId::new(),
        workspace: task.workspace,
        task: task.id,
        executor: "painter".into(),
        purpose: "posters".into(),
        opened_at: seconds(second),
    };
    let inserted = within!(store, task.workspace, |tx, line| tx
        .insert_line(&line)
        .await);
    inserted.expect("inserts");
    line
}

async fn exchange(store: &SharedStore, line: &Line, number: u32) -> LineExchange {
    let exchange = LineExchange {
        line: line.id,
        number,
        prompt: "Draw it".into(),
        answer: format!("Drawn {number} times"),
        at: seconds(u64::from(number)),
        step: StepRef { turn: 1, step: 2 },
    };
    let workspace = line.workspace;
    let inserted = within!(store, workspace, |tx, exchange| tx
        .insert_exchange(workspace, &exchange)
        .await);
    inserted.expect("inserts");
    exchange
}

async fn lines_and_their_exchanges_come_in_the_order_they_were_made(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let task = stored_task(store, bootstrap(store).await).await;
    let late = line(store, &task, 2).await;
    let early = line(store, &task, 1).await;
    let again = Line {
        purpose: "another".into(),
        ..early.clone()
    };
    let inserted = within!(store, task.workspace, |tx, again| tx
        .insert_line(&again)
        .await);
    inserted.expect("stays");
    let found = store.reads().list_lines(&[task.id, TaskId::new()]).await;
    assert_eq!(found.expect("reads"), [early.clone(), late.clone()]);
    let found = store.reads().find_line(early.id).await.expect("reads");
    assert_eq!(found, Some(early.clone()));
    let found = store.reads().find_line(LineId::new()).await;
    assert_eq!(found.expect("reads"), None);
    let second = exchange(store, &late, 2).await;
    let first = exchange(store, &late, 1).await;
    let other = exchange(store, &early, 1).await;
    let asked = [early.id, late.id];
    let found = store.reads().list_exchanges(&asked).await.expect("reads");
    // By line: the late one was made first.
    assert_eq!(found, [first, second, other]);
    storage.close().await;
}

async fn the_newest_segments_come_oldest_first(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let task = stored_task(store, bootstrap(store).await).await;
    let segments = [1, 2, 3].map(|number| ContextSegment {
        number,
        from_sequence: u64::from(number) * 10,
        to_sequence: u64::from(number) * 10 + 9,
        summary: "they drew".into(),
        tokens: 12,
    });
    for segment in &segments {
        let inserted = within!(store, task.workspace, |tx, task, segment| tx
            .insert_segment(task.workspace, task.id, &segment)
            .await);
        inserted.expect("inserts");
    }
    let found = store.reads().list_segments(task.id, 2).await;
    assert_eq!(found.expect("reads"), segments[1..]);
    storage.close().await;
}

async fn what_is_only_appended_can_not_be_changed_or_deleted_by_hand(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = stored_task(store, place).await;
    let entries = journal(store, &task).await;
    let line = line(store, &task, 1).await;
    let exchange = exchange(store, &line, 1).await;
    let work = seeds::work(store, place).await;
    let one = vec![change(&place.caller.actor(), seconds(1), "a")];
    append(store, place, work, one).await;
    let mut attempts = Vec::new();
    for table in ["journal", "line_exchanges", "changes"] {
        attempts.push(format!("update {table} set at = 0"));
        attempts.push(format!("delete from {table}"));
        if database.is_postgres() {
            attempts.push(format!("truncate {table}"));
        }
    }
    for sql in attempts {
        let error = database.try_execute(&sql).await.expect_err("is refused");
        let text = error.to_string();
        assert!(text.contains("only ever appended"), "`{sql}`: {text}");
    }
    let stored = store.reads().list_newest_journal(task.id, &[], 0, 9).await;
    assert_eq!(stored.expect("reads"), entries);
    let stored = store.reads().list_exchanges(&[line.id]).await;
    assert_eq!(stored.expect("reads"), [exchange]);
    let stored = store
        .reads()
        .list_changes(work, domain::document::Version(0), 9);
    assert_eq!(stored.await.expect("reads").len(), 1);
    storage.close().await;
}
