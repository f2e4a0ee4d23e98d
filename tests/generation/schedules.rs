//! Random schedules of an order: workers that die, answers that are lost, call backs that come twice, late, in the wrong order or not
//! at all, people who approve, decline and cancel. After each thing that happens the rules must hold.
//!
//! `ATELIER_TEST_SCHEDULES` says how many (1,000 by default; the promise is about 10,000); `ATELIER_TEST_SEED` repeats them, and with
//! one schedule the one that failed, which names its seed.

use std::time::Duration;

use domain::ids::{TaskId, TurnId, WorkspaceId};
use domain::job::{Act, Job, JobState, JobTiming, Moved, News, UpstreamFile, order_id};
use domain::media::MediaKind;
use domain::money::LedgerKind;
use domain::time::Timestamp;
use domain::turn::CallId;
use serde_json::json;

use crate::harness::{Random, number};

const PRICE: u64 = 40_000;
const TIMING: JobTiming = JobTiming {
    poll: Duration::from_secs(15),
    sending: Duration::from_secs(35),
    submission: Duration::from_mins(1),
};

/// What the upstream has.
#[derive(Debug, Default)]
struct Upstream {
    orders: u32,
    /// How it ends: it is running, has made it, has failed, or was cancelled.
    ended: Option<JobState>,
    /// Call backs on their way.
    calls: Vec<News>,
}

/// A worker in the middle of something.
#[derive(Debug)]
struct Busy(Act);

/// One order and all around it.
struct Schedule {
    random: Random,
    now: Timestamp,
    job: Job,
    upstream: Upstream,
    workers: Vec<Busy>,
    ledger: Vec<(LedgerKind, u64)>,
    decided: u32,
    told: Vec<String>,
}

#[test]
fn rules_hold_in_every_schedule() {
    let count = number("ATELIER_TEST_SCHEDULES").unwrap_or(1_000);
    let fresh = u64::from(uuid::Uuid::new_v4().as_fields().0);
    let seed = number("ATELIER_TEST_SEED").unwrap_or(fresh);
    let began = std::time::Instant::now();
    let mut ends = std::collections::BTreeMap::new();
    for place in 0..count {
        // The first one is the seed itself: what fails is repeated alone.
        let mut schedule =
            Schedule::new(seed.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        schedule.run();
        *ends.entry(schedule.job.state.name()).or_insert(0_u32) += 1;
    }
    let took = began.elapsed();
    eprintln!("{count} schedules from seed {seed} in {took:?}: {ends:?}");
    if count >= 1_000 {
        for state in [
            "SUCCEEDED",
            "FAILED",
            "SUBMISSION_UNKNOWN",
            "CANCELLED",
            "DECLINED",
        ] {
            assert!(
                ends.contains_key(state),
                "no schedule ended {state}: {ends:?}"
            );
        }
    }
}

impl Schedule {
    fn new(seed: u64) -> Self {
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        let call = CallId {
            turn: TurnId::new(),
            step: 1,
            index: 0,
        };
        Self {
            random: Random::seeded(seed),
            now,
            job: Job {
                id: order_id(call),
                workspace: WorkspaceId::new(),
                task: TaskId::new(),
                call,
                provider: "fake".to_owned(),
                kind: MediaKind::Image,
                prompt: "a fox".to_owned(),
                references: Vec::new(),
                parameters: json!({}),
                item: None,
                place: None,
                state: JobState::AwaitingApproval,
                progress: 0,
                upstream: None,
                price: PRICE,
                reserved: 0,
                spent: 0,
                submitted_at: None,
                made: None,
                outputs: Vec::new(),
                error: None,
                attempts: 0,
                due_at: None,
                settled_at: None,
                is_cancel_asked: false,
                created_at: now,
                updated_at: now,
            },
            upstream: Upstream::default(),
            workers: Vec::new(),
            ledger: Vec::new(),
            decided: 0,
            told: vec![format!("seed {seed}")],
        }
    }

    fn run(&mut self) {
        let steps = 20 + self.random.below(60);
        for _ in 0..steps {
            self.happen();
        }
        self.come_to_rest();
        self.check_end();
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    /// One thing happens.
    fn happen(&mut self) {
        match self.random.below(12) {
            0 => self.take(&News::Approved),
            1 if self.chance(10) => self.take(&News::Declined(None)),
            2 if self.chance(15) => self.take(&News::CancelAsked),
            3 | 4 => self.pass(),
            5 | 6 => self.claim(),
            7 => self.finish_some_work(),
            8 => self.go_on_upstream(),
            9 | 10 => self.call_back(),
            _ => self.die(),
        }
    }

    fn pass(&mut self) {
        let seconds = 1 + self.random.below(40);
        self.now = self.now.plus(Duration::from_secs(seconds as u64));
    }

    fn claim(&mut self) {
        if let Some(act) = self.job.claim(TIMING, self.now) {
            self.told.push(format!("claimed: {act:?}"));
            // Sending reaches the upstream, or does not, before its answer is known.
            if act == Act::Send && self.chance(80) {
                self.upstream.orders += 1;
            }
            self.workers.push(Busy(act));
        }
    }

    /// A worker is gone, with whatever it was about to say.
    fn die(&mut self) {
        if !self.workers.is_empty() {
            let place = self.random.below(self.workers.len());
            let gone = self.workers.swap_remove(place);
            self.told.push(format!("died: {gone:?}"));
        }
    }

    fn finish_some_work(&mut self) {
        if self.workers.is_empty() {
            return;
        }
        let place = self.random.below(self.workers.len());
        let Busy(act) = self.workers.swap_remove(place);
        let news = match act {
            Act::Send => self.answer_to_sending(),
            Act::Recover => News::Lost("its sender is gone".to_owned()),
            Act::Cancel if self.upstream.ended.is_none() => {
                self.upstream.ended = Some(JobState::Cancelled);
                News::Cancelled(Some(id()))
            }
            Act::Look | Act::Cancel => self.answer_to_question(),
            Act::Settle => News::Settled,
            Act::Fetch if self.chance(10) => News::NotFetched("cut off".to_owned()),
            Act::Fetch if self.chance(5) => News::Unfetchable("a page".to_owned()),
            Act::Fetch => News::Stored,
        };
        self.take(&news);
    }

    fn answer_to_sending(&mut self) -> News {
        match self.random.below(10) {
            0 => News::Lost("no answer".to_owned()),
            // Whoever says that an order did not arrive knows it.
            1 if self.upstream.orders == 0 => News::NotSent("not reached".to_owned()),
            2 if self.upstream.orders == 0 => News::Refused("no".to_owned()),
            _ if self.upstream.orders == 0 => News::Lost("cut off".to_owned()),
            3 => self.answer_to_question_or_accepted(),
            _ => News::Accepted("up-1".to_owned()),
        }
    }

    fn answer_to_question_or_accepted(&mut self) -> News {
        match self.answer_to_question() {
            News::Looked => News::Accepted("up-1".to_owned()),
            news => news,
        }
    }

    fn answer_to_question(&mut self) -> News {
        if self.upstream.orders == 0 || self.chance(20) {
            return News::Looked;
        }
        match self.upstream.ended {
            None => News::Looked,
            Some(ended) => said(ended),
        }
    }

    fn go_on_upstream(&mut self) {
        if self.upstream.orders == 0 || self.upstream.ended.is_some() {
            return;
        }
        let progress = News::Progress(Some(id()), self.random.below(1_000) as u32);
        self.upstream.calls.push(progress);
        if self.chance(50) {
            let ended = if self.chance(75) {
                JobState::Succeeded
            } else {
                JobState::Failed
            };
            self.upstream.ended = Some(ended);
            if self.chance(80) {
                self.upstream.calls.push(said(ended));
            }
        }
    }

    /// A call back arrives: any of those on their way, and perhaps not for the last time.
    fn call_back(&mut self) {
        if self.upstream.calls.is_empty() {
            return;
        }
        let place = self.random.below(self.upstream.calls.len());
        let news = self.upstream.calls[place].clone();
        if self.chance(60) {
            self.upstream.calls.swap_remove(place);
        }
        self.take(&news);
    }

    fn take(&mut self, news: &News) {
        let before = self.job.clone();
        self.told.push(format!("{news:?}"));
        let moved = self.job.take(news, TIMING, self.now);
        self.ledger.extend(moved.entries.iter().copied());
        self.decided += u32::from(moved.is_decided);
        self.check(&before, &moved);
    }

    fn check(&self, before: &Job, moved: &Moved) {
        let (job, told) = (&self.job, &self.told);
        assert!(rank(job.state) >= rank(before.state), "backward: {told:#?}");
        if before.state.is_over() {
            assert_eq!(job.state, before.state, "it was over: {told:#?}");
            assert!(moved.entries.is_empty(), "booked after its end: {told:#?}");
        }
        assert!(self.upstream.orders <= 1, "ordered twice: {told:#?}");
        assert!(
            job.progress >= before.progress,
            "progress went back: {told:#?}"
        );
        if let Some(known) = &before.upstream {
            assert_eq!(job.upstream.as_ref(), Some(known), "another id: {told:#?}");
        }
        let (reserved, spent) = sums(&self.ledger);
        assert_eq!(
            (reserved, spent),
            (job.reserved as i64, job.spent as i64),
            "{told:#?}"
        );
        assert!(
            job.reserved + job.spent <= PRICE,
            "more than its price: {told:#?}"
        );
    }

    /// Everything that is on its way arrives, and all that is due is done by workers that live.
    fn come_to_rest(&mut self) {
        if self.job.state == JobState::AwaitingApproval {
            self.take(&News::Approved);
        }
        for _ in 0..2_000 {
            if self.upstream.orders > 0 && self.upstream.ended.is_none() {
                self.upstream.ended = Some(JobState::Succeeded);
            }
            while !self.workers.is_empty() {
                self.finish_some_work();
            }
            let Some(due) = self.job.due_at else { return };
            self.now = self.now.max(due);
            self.claim();
        }
        panic!("it does not come to rest: {:#?}", self.told);
    }

    fn check_end(&self) {
        let (job, told) = (&self.job, &self.told);
        let money = (job.reserved, job.spent);
        match job.state {
            JobState::Succeeded => assert_eq!(money, (0, PRICE), "{told:#?}"),
            JobState::SubmissionUnknown => {
                assert!(job.settled_at.is_some(), "never settled: {told:#?}");
                assert_eq!(money, (0, 0), "not refunded: {told:#?}");
            }
            state if state.is_over() => assert_eq!(money, (0, 0), "{told:#?}"),
            state => panic!("at rest as {state:?}: {told:#?}"),
        }
        let charges = self
            .ledger
            .iter()
            .filter(|(kind, _)| *kind == LedgerKind::Charge)
            .count();
        let refunds = self
            .ledger
            .iter()
            .filter(|(kind, _)| *kind == LedgerKind::Refund)
            .count();
        let paid = usize::from(job.state == JobState::Succeeded);
        assert_eq!(
            charges - refunds,
            paid,
            "charged as often as it brought something: {told:#?}"
        );
        // Once, or once more where it was given up as unknown before the upstream told the truth.
        assert!(
            (1..=2).contains(&self.decided),
            "told {} times: {told:#?}",
            self.decided
        );
    }
}

fn id() -> String {
    "up-1".to_owned()
}

fn said(ended: JobState) -> News {
    let file = UpstreamFile {
        url: "https://example.com/1.png".to_owned(),
    };
    match ended {
        JobState::Succeeded => News::Made(Some(id()), vec![file]),
        JobState::Cancelled => News::Cancelled(Some(id())),
        _ => News::Failed(Some(id()), "it broke".to_owned()),
    }
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

/// What the ledger says is set aside and spent.
fn sums(ledger: &[(LedgerKind, u64)]) -> (i64, i64) {
    ledger
        .iter()
        .fold((0, 0), |(reserved, spent), (kind, amount)| {
            let amount = *amount as i64;
            match kind {
                LedgerKind::Reserve => (reserved + amount, spent),
                LedgerKind::Charge => (reserved - amount, spent + amount),
                LedgerKind::Release => (reserved - amount, spent),
                LedgerKind::Refund => (reserved, spent - amount),
            }
        })
}
