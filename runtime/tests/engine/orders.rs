//! Random schedules of an order through the commands that move it on, on a real store: workers that die or do not hear that they
//! wrote, call backs that come twice, late, in the wrong order or not at all, people who approve, decline, cancel and stop. After each
//! event state, money and whether the task woke are held against the rules; at the end all of it.
//!
//! `ATELIER_TEST_ORDERS` says how many (200 by default; the promise is about 10,000); `ATELIER_TEST_SEED` repeats them.

mod rules;

use std::time::{Duration, Instant};

use domain::card::{APPROVE, AnswerCard, DECLINE};
use domain::error::Error;
use domain::ids::{CardId, JobId, TaskId};
use domain::job::{
    Act, CancelJob, ClaimJob, Job, JobState, JobTiming, News, OrderJob, Ordered, Price, TakeNews,
    Taken, UpstreamFile, order_id,
};
use domain::media::MediaKind;
use domain::money::SetBudget;
use domain::task::{StopTask, TaskStatus};
use domain::time::Clock as _;
use domain::turn::{CallId, Spare, StepRef};
use serde_json::json;

use crate::schedules::{Chance, number, once};
use crate::world::{World, decision, finish, step_of};
use rules::Seen;
use storage::faults::{Fault, is_crash};

/// Schedules of a run unless told otherwise.
const SCHEDULES: u64 = 200;
/// Worlds that are tried side by side, each with a database of its own.
const WORLDS: u64 = 4;
/// What happens in one schedule.
const EVENTS: u32 = 50;
/// Schedules of one world: what is stored by then is not the point.
const WORLD: u64 = 250;
const TIMING: JobTiming = JobTiming {
    poll: Duration::from_secs(15),
    sending: Duration::from_secs(35),
    submission: Duration::from_mins(1),
};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_order_is_sent_once_paid_as_the_rules_say_and_wakes_its_task_once_or_not_at_all() {
    let schedules = number("ATELIER_TEST_ORDERS", SCHEDULES);
    let fresh = uuid::Uuid::new_v4().as_u128() as u64 | 1;
    let seed = number("ATELIER_TEST_SEED", fresh);
    eprintln!("ATELIER_TEST_SEED={seed} ATELIER_TEST_ORDERS={schedules}");
    let began = Instant::now();
    let worlds = (0..WORLDS.min(schedules)).map(|place| {
        tokio::spawn(async move {
            let mine: Vec<u64> = (place..schedules).step_by(WORLDS as usize).collect();
            for part in mine.chunks(WORLD as usize) {
                let world = new_world().await;
                for schedule in part {
                    let seed = seed.wrapping_add(schedule.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1;
                    Schedule::new(&world, seed).await.run().await;
                    drop(world.model.take_requests());
                }
                world.close().await;
            }
        })
    });
    // All are started before the first is waited for.
    let worlds: Vec<_> = worlds.collect();
    for world in worlds {
        world.await.expect("every schedule of a world holds");
    }
    eprintln!("{schedules} schedules in {:?}", began.elapsed());
}

/// The plan is open until the task was woken.
async fn new_world() -> World {
    let world = World::with_model(|request| decision(step_of(&request).0 > 1, &json!([]))).await;
    let command = SetBudget {
        caller: world.caller,
        workspace: world.workspace,
        limit: None,
        per_operation: None,
        daily: Some(Some(1 << 52)),
        at: world.clock.now(),
    };
    world.run(command).await.expect("sets the day's limit");
    world
}

/// What the upstream has.
#[derive(Default)]
struct Upstream {
    orders: u32,
    /// How it ended, where it has.
    ended: Option<JobState>,
    /// Call backs on their way, each with the id of its notice.
    calls: Vec<(String, News)>,
}

struct Schedule<'a> {
    world: &'a World,
    chance: Chance,
    task: TaskId,
    job: JobId,
    card: CardId,
    upstream: Upstream,
    /// Acts that workers are at.
    workers: Vec<Act>,
    seen: Seen,
}

impl<'a> Schedule<'a> {
    /// An order is stored, and its task waits: for it, or for a person to approve it.
    async fn new(world: &'a World, seed: u64) -> Self {
        let mut chance = Chance(seed);
        let task = world.task(&format!("orders {seed}")).await;
        let engine = world.engine();
        let mut drive = world.claim(&engine, task).await;
        let call = CallId {
            turn: drive.fence.turn,
            step: 1,
            index: 0,
        };
        // Above one unit a person is asked.
        let price = [40_000, 2_000_000][chance.place(2)];
        let (seen, card) = (Seen::begin(world, seed, price).await, CardId::new());
        let command = OrderJob {
            fence: drive.fence,
            step: StepRef { turn: 1, step: 1 },
            job: new_job(world, task, call),
            price: Price::Known(price),
            card,
        };
        let ordered = world.run(command).await.expect("is stored");
        assert!(matches!(ordered, Ordered::Stored(_)));
        finish(&engine, &mut drive).await.expect("the task waits");
        Self {
            world,
            chance,
            task,
            job: order_id(call),
            card,
            upstream: Upstream::default(),
            workers: Vec::new(),
            seen,
        }
    }

    async fn run(mut self) {
        self.seen.look(self.world, (self.task, self.job)).await;
        for _ in 0..EVENTS {
            self.event().await;
            self.look().await;
        }
        self.come_to_rest().await;
        self.seen.judge(self.world, (self.task, self.job)).await;
    }

    async fn look(&mut self) {
        let (world, seed) = (self.world, self.seen.seed);
        assert!(self.upstream.orders <= 1, "seed {seed}: ordered twice");
        self.seen.look(world, (self.task, self.job)).await;
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.chance.below(100) < percent
    }

    async fn event(&mut self) {
        match self.chance.below(16) {
            0 => self.answer(APPROVE).await,
            1 if self.percent(10) => self.answer(DECLINE).await,
            2 if self.percent(15) => self.cancel().await,
            3 if self.percent(10) => self.stop().await,
            4 | 5 => {
                let seconds = 1 + self.chance.below(40);
                self.world.clock.advance(Duration::from_secs(seconds));
            }
            6 | 7 => self.claim().await,
            8 | 9 => self.finish_some_work().await,
            10 => self.go_on_upstream(),
            11 | 12 => self.call_back().await,
            13 => self.world.settle(&self.world.engine(), self.task).await,
            _ if !self.workers.is_empty() => {
                // It is gone, with whatever it was about to say.
                let place = self.chance.place(self.workers.len());
                self.workers.swap_remove(place);
            }
            _ => {}
        }
    }

    async fn answer(&mut self, option: &str) {
        let world = self.world;
        let cards = world.store_reads().list_cards_by_id(&[self.card]).await;
        if cards.expect("reads").is_empty() {
            return;
        }
        let command = AnswerCard {
            caller: world.caller,
            workspace: world.workspace,
            card: self.card,
            option: Some(option.to_owned()),
            comment: None,
            idempotency: None,
            spare: Spare::new(),
            at: world.clock.now(),
        };
        world.run(command).await.expect("is answered, or not open");
    }

    /// A person wants it to be given up; a refusal changes nothing.
    async fn cancel(&mut self) {
        let command = CancelJob {
            caller: self.world.caller,
            workspace: self.world.workspace,
            job: self.job,
            can_cancel: true,
            spare: Spare::new(),
            at: self.world.clock.now(),
        };
        match self.world.run(command).await {
            Ok(()) | Err(Error::Conflict(_)) => {}
            Err(error) => panic!("seed {}: {error:?}", self.seen.seed),
        }
    }

    async fn stop(&mut self) {
        let stopped = self.world.run(StopTask(self.world.action(self.task))).await;
        stopped.expect("stops");
    }

    async fn claim(&mut self) {
        let command = ClaimJob {
            workspace: self.world.workspace,
            job: self.job,
            timing: TIMING,
            at: self.world.clock.now(),
        };
        // A claim that nobody heard of is an act that nobody is at.
        let claimed = self.with_fault(command).await.flatten();
        if let Some((_, act)) = claimed {
            if act == Act::Send && self.percent(80) {
                self.upstream.orders += 1;
            }
            self.workers.push(act);
        }
    }

    async fn finish_some_work(&mut self) {
        if self.workers.is_empty() {
            return;
        }
        let place = self.chance.place(self.workers.len());
        let news = match self.workers.swap_remove(place) {
            Act::Send => self.answer_to_sending(),
            Act::Recover => News::Lost("its sender is gone".to_owned()),
            Act::Cancel if self.upstream.ended.is_none() => {
                self.upstream.ended = Some(JobState::Cancelled);
                News::Cancelled(Some(id()))
            }
            Act::Look | Act::Cancel => self.answer_to_question(),
            Act::Settle => News::Settled,
            Act::Fetch if self.percent(10) => News::NotFetched("cut off".to_owned()),
            Act::Fetch if self.percent(4) => News::Unfetchable("no picture".to_owned()),
            Act::Fetch => News::Stored,
        };
        self.take(news, None).await;
    }

    fn answer_to_sending(&mut self) -> News {
        if self.upstream.orders == 0 {
            return match self.chance.below(3) {
                0 => News::NotSent("429".to_owned()),
                1 => News::Refused("422".to_owned()),
                _ => News::Lost("in time".to_owned()),
            };
        }
        if self.percent(70) {
            News::Accepted(id())
        } else {
            News::Lost("the connection broke off".to_owned())
        }
    }

    fn answer_to_question(&mut self) -> News {
        let ended = self.upstream.ended;
        match ended.filter(|_| self.upstream.orders > 0) {
            Some(ended) if self.percent(80) => said(ended),
            _ => News::Looked,
        }
    }

    fn go_on_upstream(&mut self) {
        if self.upstream.orders == 0 || self.upstream.ended.is_some() {
            return;
        }
        let progress = News::Progress(Some(id()), self.chance.below(1_000) as u32);
        self.tell(progress);
        if self.percent(50) {
            let is_good = self.percent(75);
            let ended = if is_good {
                JobState::Succeeded
            } else {
                JobState::Failed
            };
            self.upstream.ended = Some(ended);
            if self.percent(80) {
                self.tell(said(ended));
            }
        }
    }

    fn tell(&mut self, news: News) {
        let notice = format!("msg-{}", self.chance.below(u64::from(u32::MAX)));
        self.upstream.calls.push((notice, news));
    }

    /// Any call back that is on its way arrives, and perhaps not for the last time.
    async fn call_back(&mut self) {
        if self.upstream.calls.is_empty() {
            return;
        }
        let place = self.chance.place(self.upstream.calls.len());
        let (notice, news) = self.upstream.calls[place].clone();
        if self.percent(60) {
            self.upstream.calls.swap_remove(place);
        }
        self.take(news, Some(notice)).await;
    }

    async fn take(&mut self, news: News, notice: Option<String>) {
        let command = TakeNews {
            workspace: self.world.workspace,
            job: self.job,
            news: vec![news],
            notice,
            timing: TIMING,
            spare: Spare::new(),
            at: self.world.clock.now(),
        };
        if let Some(taken) = self.with_fault(command).await {
            assert_ne!(taken, Taken::Foreign, "seed {}", self.seen.seed);
        }
    }

    /// Runs a command that may meet a fault; who does not hear of it writes again, unless it is dead.
    async fn with_fault<C>(&mut self, command: C) -> Option<C::Output>
    where
        C: domain::store::Command + Clone,
    {
        let fault = self.chance.fault();
        self.world.store.set_chance(fault.map(once));
        let ran = self.world.run(command.clone()).await;
        self.world.store.set_chance(None);
        match ran {
            Ok(output) => Some(output),
            Err(error) if is_crash(&error) => None,
            Err(Error::Unavailable(_)) => {
                assert!(matches!(fault, Some(Fault::LoseAnswer | Fault::Refuse)));
                Some(self.world.run(command).await.expect("the store is back"))
            }
            Err(error) => panic!("seed {}: {error:?}", self.seen.seed),
        }
    }

    async fn stored(&self) -> Job {
        let found = self.world.store_reads().list_jobs_by_id(&[self.job]).await;
        found.expect("reads").pop().expect("the order")
    }

    /// Everything that is on its way arrives, and all that is due is done by workers that live.
    async fn come_to_rest(&mut self) {
        let seed = self.seen.seed;
        self.answer(APPROVE).await;
        self.look().await;
        for _ in 0..2_000 {
            if self.upstream.orders > 0 && self.upstream.ended.is_none() {
                self.upstream.ended = Some(JobState::Succeeded);
            }
            while !self.workers.is_empty() {
                self.finish_some_work().await;
                self.look().await;
            }
            let Some(due) = self.stored().await.due_at else {
                let engine = self.world.engine();
                self.world.outlive_leases();
                self.world.settle(&engine, self.task).await;
                return self.look().await;
            };
            let now = self.world.clock.now();
            self.world.clock.advance(due.since(now));
            self.claim().await;
            self.look().await;
        }
        panic!("seed {seed}: it does not come to rest");
    }
}

fn id() -> String {
    "up-1".to_owned()
}

fn said(ended: JobState) -> News {
    match ended {
        JobState::Succeeded => {
            let url = "https://example.com/1.png".to_owned();
            News::Made(Some(id()), vec![UpstreamFile { url }])
        }
        JobState::Cancelled => News::Cancelled(Some(id())),
        _ => News::Failed(Some(id()), "it broke".to_owned()),
    }
}

fn new_job(world: &World, task: TaskId, call: CallId) -> Job {
    let now = world.clock.now();
    Job {
        id: order_id(call),
        workspace: world.workspace,
        task,
        call,
        // An upstream's id belongs to one order of a provider.
        provider: format!("fake-{task}"),
        kind: MediaKind::Image,
        prompt: "a fox".to_owned(),
        references: Vec::new(),
        parameters: json!({}),
        item: None,
        place: None,
        state: JobState::AwaitingApproval,
        progress: 0,
        upstream: None,
        price: 0,
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
    }
}

/// Whether a task's turns can still be woken by its order.
fn waits(status: TaskStatus) -> bool {
    matches!(
        status,
        TaskStatus::WaitingExternal | TaskStatus::WaitingForPerson
    )
}
