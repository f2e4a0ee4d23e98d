//! Orders, what providers said about them, budgets and the ledger.

use domain::ids::{JobId, LedgerEntryId};
use domain::job::{Job, JobState};
use domain::media::MediaKind;
use domain::money::{LedgerEntry, LedgerKind, WorkspaceBudget};
use domain::page::PageRequest;
use domain::store::SharedStore;
use domain::task::Task;
use domain::turn::CallId;
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{bootstrap, seconds, within};
use crate::task_seeds::{new_turn, stored_task};

on_both_databases!(
    a_job_comes_back_as_it_was_written_and_its_call_has_one,
    due_jobs_come_in_the_order_in_which_they_wait,
    a_notice_is_seen_once,
    the_ledger_is_only_appended_to_and_its_day_adds_up,
);

fn new_job(task: &Task, second: u64) -> Job {
    let call = CallId {
        turn: new_turn(task, 1).id,
        step: 1,
        index: 0,
    };
    Job {
        id: JobId::new(),
        workspace: task.workspace,
        task: task.id,
        call,
        provider: "replicate".into(),
        kind: MediaKind::Image,
        prompt: "A fox".into(),
        references: Vec::new(),
        parameters: json!({"steps": 4}),
        item: Some("fox".into()),
        place: None,
        state: JobState::Submitting,
        progress: 0,
        upstream: None,
        price: 40_000,
        reserved: 40_000,
        spent: 0,
        submitted_at: None,
        made: None,
        outputs: Vec::new(),
        error: None,
        attempts: 0,
        due_at: Some(seconds(second)),
        settled_at: None,
        is_cancel_asked: false,
        created_at: seconds(second),
        updated_at: seconds(second),
    }
}

async fn insert(store: &SharedStore, job: &Job) -> domain::Result<()> {
    within!(store, job.workspace, |tx, job| tx.insert_job(&job).await)
}

async fn a_job_comes_back_as_it_was_written_and_its_call_has_one(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let task = stored_task(store, bootstrap(store).await).await;
    let mut job = new_job(&task, 1);
    insert(store, &job).await.expect("inserts");
    let twin = Job {
        id: JobId::new(),
        ..job.clone()
    };
    insert(store, &twin).await.expect_err("the call has a job");
    (job.state, job.upstream) = (JobState::Running, Some("p1".into()));
    within!(store, job.workspace, |tx, job| tx.update_job(&job).await).expect("updates");
    let reads = store.reads();
    assert_eq!(
        reads.list_jobs_by_id(&[job.id]).await.expect("reads"),
        [job.clone()]
    );
    assert_eq!(
        reads.list_jobs(&[task.id]).await.expect("reads"),
        [job.clone()]
    );
    let found = reads.find_job_by_upstream("replicate", "p1").await;
    assert_eq!(found.expect("reads"), Some(job.id));
    assert_eq!(
        reads
            .find_job_by_upstream("openai", "p1")
            .await
            .expect("reads"),
        None
    );
    let under_way = reads.list_jobs_under_way(task.workspace, task.id).await;
    assert_eq!(under_way.expect("reads").len(), 1);
    job.state = JobState::Succeeded;
    within!(store, job.workspace, |tx, job| tx.update_job(&job).await).expect("updates");
    let under_way = reads.list_jobs_under_way(task.workspace, task.id).await;
    assert_eq!(under_way.expect("reads").len(), 0);
    storage.close().await;
}

async fn due_jobs_come_in_the_order_in_which_they_wait(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let task = stored_task(store, bootstrap(store).await).await;
    let jobs = [3, 1, 2].map(|second| new_job(&task, second));
    let resting = Job {
        due_at: None,
        ..new_job(&task, 0)
    };
    for job in jobs.iter().chain([&resting]) {
        insert(store, job).await.expect("inserts");
    }
    let reads = store.reads();
    assert_eq!(reads.next_due_job().await.expect("reads"), Some(seconds(1)));
    let due = reads.list_due_jobs(seconds(2), 9).await.expect("reads");
    let ids: Vec<_> = due.iter().map(|(_, job)| *job).collect();
    assert_eq!(ids, [jobs[1].id, jobs[2].id]);
    storage.close().await;
}

async fn a_notice_is_seen_once(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let task = stored_task(store, bootstrap(store).await).await;
    let job = new_job(&task, 1);
    insert(store, &job).await.expect("inserts");
    for expected in [true, false] {
        let first = within!(store, job.workspace, |tx, job| tx
            .note_job_notice(job.workspace, job.id, "msg_1", seconds(2))
            .await);
        assert_eq!(first.expect("notes"), expected);
    }
    storage.close().await;
}

fn entry(job: &Job, sequence: u64, (kind, amount): (LedgerKind, u64)) -> LedgerEntry {
    LedgerEntry {
        id: LedgerEntryId::new(),
        workspace: job.workspace,
        sequence,
        kind,
        amount,
        job: job.id,
        task: job.task,
        at: seconds(sequence),
    }
}

async fn the_ledger_is_only_appended_to_and_its_day_adds_up(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let task = stored_task(store, bootstrap(store).await).await;
    let job = new_job(&task, 1);
    let reads = store.reads();
    assert_eq!(
        reads.budget(task.workspace).await.expect("reads"),
        WorkspaceBudget::default()
    );
    let entries: Vec<_> = (1..)
        .zip([
            (LedgerKind::Reserve, 50),
            (LedgerKind::Release, 50),
            (LedgerKind::Reserve, 40),
            (LedgerKind::Charge, 40),
        ])
        .map(|(sequence, booked)| entry(&job, sequence, booked))
        .collect();
    let budget = WorkspaceBudget {
        limit: Some(100),
        spent: 40,
        ledger_head: 4,
        ..WorkspaceBudget::default()
    };
    within!(store, job.workspace, |tx, entries, budget| {
        tx.append_ledger(&entries).await?;
        tx.put_budget(entries[0].workspace, &budget).await
    })
    .expect("books");
    assert_eq!(reads.budget(task.workspace).await.expect("reads"), budget);
    let page = PageRequest {
        first: 3,
        after: Some(1),
    };
    let page = reads
        .list_ledger(task.workspace, page)
        .await
        .expect("reads");
    assert_eq!(
        (page.rows.as_slice(), page.has_next),
        (&entries[1..], false)
    );
    for (since, bound) in [(0, 40), (2, 0), (3, 40), (4, 0)] {
        let found = reads.bound_since(task.workspace, seconds(since)).await;
        assert_eq!(found.expect("reads"), bound, "since {since}");
    }
    let mut attempts = vec!["update ledger set amount_micros = 1", "delete from ledger"];
    if database.is_postgres() {
        attempts.push("truncate ledger");
    }
    for sql in attempts {
        let error = database.try_execute(sql).await.expect_err("is refused");
        assert!(
            error.to_string().contains("only ever appended"),
            "{sql}: {error}"
        );
    }
    let nothing = [entry(&job, 5, (LedgerKind::Charge, 0))];
    within!(store, job.workspace, |tx, nothing| tx
        .append_ledger(&nothing)
        .await)
    .expect_err("an amount is above zero");
    storage.close().await;
}
