//! What must hold of an order, its money and its task: after each event, and at the end.

use domain::ids::{JobId, TaskId};
use domain::job::{Job, JobState};
use domain::money::{LedgerEntry, LedgerKind, WorkspaceBudget};
use domain::page::PageRequest;
use domain::task::{Task, TaskStatus};

use super::waits;
use crate::world::World;

/// What was seen of an order before, and of its workspace's money before it.
pub(super) struct Seen {
    pub(super) seed: u64,
    price: u64,
    budget: WorkspaceBudget,
    before: Option<(Job, Task)>,
    /// How often the task was woken.
    woken: u32,
    was_stopped: bool,
}

impl Seen {
    pub(super) async fn begin(world: &World, seed: u64, price: u64) -> Self {
        let budget = world.store_reads().budget(world.workspace).await;
        Self {
            seed,
            price,
            budget: budget.expect("reads"),
            before: None,
            woken: 0,
            was_stopped: false,
        }
    }

    /// What holds after each event.
    pub(super) async fn look(&mut self, world: &World, (task, job): (TaskId, JobId)) {
        let seed = self.seed;
        let found = world.store_reads().list_jobs_by_id(&[job]).await;
        let job = found.expect("reads").pop().expect("the order");
        let task = world.stored(task).await;
        self.assert_money_is_the_ledgers(world, &job).await;
        assert!(
            job.reserved + job.spent <= self.price,
            "seed {seed}: {job:?}"
        );
        if let Some((was, waited)) = self.before.take() {
            self.assert_forward(&was, &job);
            self.assert_woken((&was, &waited), (&job, &task));
        }
        self.was_stopped |= task.status == TaskStatus::Stopped;
        self.before = Some((job, task));
    }

    fn assert_forward(&self, was: &Job, job: &Job) {
        let seed = self.seed;
        assert!(rank(job.state) >= rank(was.state), "seed {seed}: backward");
        if was.state.is_over() {
            assert_eq!(job.state, was.state, "seed {seed}: it was over");
        }
        assert!(job.progress >= was.progress, "seed {seed}: progress");
        if was.upstream.is_some() {
            assert_eq!(job.upstream, was.upstream, "seed {seed}: another id");
        }
    }

    /// The end of an order wakes a task that waits, a second end of it, or one of a task that does not wait, wakes nothing.
    fn assert_woken(&mut self, (was, waited): (&Job, &Task), (job, task): (&Job, &Task)) {
        let seed = self.seed;
        let woken = queued(task) - queued(waited);
        let is_ended = !is_decided(was) && is_decided(job);
        let may_wake = waits(waited.status) && task.status != TaskStatus::Stopped;
        let expected = u32::from(is_ended && may_wake);
        assert_eq!(woken, expected, "seed {seed}: {was:?} {waited:?} {job:?}");
        self.woken += woken;
    }

    async fn assert_money_is_the_ledgers(&self, world: &World, job: &Job) {
        let seed = self.seed;
        let reads = world.store_reads();
        let budget = reads.budget(world.workspace).await.expect("reads");
        let entries = self.entries(world).await;
        let sums = entries.iter().fold((0_i64, 0_i64), |sums, entry| {
            let amount = i64::try_from(entry.amount).expect("no fortune");
            match entry.kind {
                LedgerKind::Reserve => (sums.0 + amount, sums.1),
                LedgerKind::Charge => (sums.0 - amount, sums.1 + amount),
                LedgerKind::Release => (sums.0 - amount, sums.1),
                LedgerKind::Refund => (sums.0, sums.1 - amount),
            }
        });
        let of_job = (job.reserved as i64, job.spent as i64);
        assert_eq!(sums, of_job, "seed {seed}: {entries:?}");
        let of_budget = (
            budget.reserved as i64 - self.budget.reserved as i64,
            budget.spent as i64 - self.budget.spent as i64,
        );
        assert_eq!(of_budget, of_job, "seed {seed}: the budget");
    }

    async fn entries(&self, world: &World) -> Vec<LedgerEntry> {
        let page = PageRequest {
            first: 100,
            after: Some(self.budget.ledger_head),
        };
        let page = world.store_reads().list_ledger(world.workspace, page).await;
        page.expect("reads").rows
    }

    /// What holds when nothing more happens.
    pub(super) async fn judge(&self, world: &World, (task, job): (TaskId, JobId)) {
        let seed = self.seed;
        let found = world.store_reads().list_jobs_by_id(&[job]).await;
        let job = found.expect("reads").pop().expect("the order");
        let task = world.stored(task).await;
        let paid = u64::from(job.state == JobState::Succeeded);
        assert_eq!(
            (job.reserved, job.spent),
            (0, paid * self.price),
            "seed {seed}"
        );
        assert!(is_decided(&job), "seed {seed}: at rest as {:?}", job.state);
        let entries = self.entries(world).await;
        let count = |kind: LedgerKind| entries.iter().filter(|entry| entry.kind == kind).count();
        let left = count(LedgerKind::Charge) - count(LedgerKind::Refund);
        assert_eq!(
            left as u64, paid,
            "seed {seed}: charged for what it brought"
        );
        if self.was_stopped {
            assert!(self.woken <= 1, "seed {seed}: woken {} times", self.woken);
            assert_eq!(task.status, TaskStatus::Stopped, "seed {seed}");
        } else {
            assert_eq!(self.woken, 1, "seed {seed}: woken once");
            assert_eq!(task.status, TaskStatus::Delivered, "seed {seed}");
        }
    }
}

/// Whether it is certain what became of it.
fn is_decided(job: &Job) -> bool {
    job.state.is_over() || job.settled_at.is_some()
}

/// How many turns a task has had or has before it.
fn queued(task: &Task) -> u32 {
    task.course.turns
}

fn rank(state: JobState) -> u8 {
    match state {
        JobState::AwaitingApproval => 0,
        JobState::Submitting => 1,
        JobState::SubmissionUnknown => 2,
        JobState::Running => 3,
        JobState::Succeeded | JobState::Failed | JobState::Cancelled | JobState::Declined => 4,
    }
}
