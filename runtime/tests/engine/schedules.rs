//! Random schedules: workers that crash, freeze, meet a failing store and wake up late; wake-ups that come twice, late, in another
//! order or never; people who write, take back, pause, resume and stop. After each, what must always hold is looked at.
//!
//! `ATELIER_TEST_SEED` repeats one; `ATELIER_TEST_SCHEDULES` says how many are tried.

mod always;

use std::time::Duration;

use domain::error::Error;
use domain::ids::{MessageId, TaskId};
use domain::message::{WithdrawMessage, Withdrawn};
use domain::task::{PauseTask, ResumeTask, StopTask, TaskStatus};
use domain::time::Clock as _;
use domain::turn::{After, Claimable, TurnWake};
use runtime::engine::{Drive, Engine};
use serde_json::json;
use tokio::sync::broadcast;

use crate::world::{World, action, advance, decision, step_of};
use always::Watched;
use storage::faults::{Fault, is_crash};

/// Schedules of a run unless told otherwise.
const SCHEDULES: u64 = 1_000;
/// Worlds that are tried side by side, each with a database of its own.
const WORLDS: u64 = 4;
/// What happens in one schedule.
const EVENTS: u32 = 40;

/// A small generator (xorshift64*, Vigna 2016): the same seed, the same schedule, on every machine.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 33) % limit
    }

    /// A place in a list that is not empty.
    pub(crate) fn place(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Mostly nothing.
    pub(crate) fn fault(&mut self) -> Option<Fault> {
        match self.below(8) {
            0 => Some(Fault::CrashBefore),
            1 => Some(Fault::CrashAfter),
            2 => Some(Fault::LoseAnswer),
            3 => Some(Fault::Refuse),
            _ => None,
        }
    }
}

pub(crate) fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_happens_in_whatever_order_nothing_is_lost_and_nothing_done_twice() {
    let schedules = number("ATELIER_TEST_SCHEDULES", SCHEDULES);
    let fresh = uuid::Uuid::new_v4().as_u128() as u64 | 1;
    let seed = number("ATELIER_TEST_SEED", fresh);
    eprintln!("ATELIER_TEST_SEED={seed} ATELIER_TEST_SCHEDULES={schedules}");
    let began = std::time::Instant::now();
    let worlds = (0..WORLDS.min(schedules)).map(|place| {
        tokio::spawn(async move {
            let world = new_world().await;
            for schedule in (place..schedules).step_by(WORLDS as usize) {
                let seed = seed.wrapping_add(schedule.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1;
                Schedule::new(&world, seed).await.run().await;
                // What was asked is of no interest here, and much.
                drop(world.model.take_requests());
            }
            world.close().await;
        })
    });
    // All are started before the first is waited for.
    let worlds: Vec<_> = worlds.collect();
    for world in worlds {
        world.await.expect("every schedule of a world holds");
    }
    eprintln!("{schedules} schedules in {:?}", began.elapsed());
}

async fn new_world() -> World {
    World::with_model(|request| {
        let (_, step) = step_of(&request);
        match step % 3 {
            1 => decision(
                false,
                &json!([
                    action("note", &step.to_string()),
                    action("press", &step.to_string())
                ]),
            ),
            2 => decision(step > 4, &json!([action("note", &step.to_string())])),
            _ => decision(true, &json!([])),
        }
    })
    .await
}

/// A worker of the schedule: perhaps it holds a turn, perhaps it is frozen with one.
struct Hand {
    engine: Engine,
    drive: Option<Drive>,
}

impl Hand {
    fn new(world: &World) -> Self {
        Self {
            engine: world.engine(),
            drive: None,
        }
    }

    /// It goes on with its turn, or claims what it finds due.
    async fn go_on(&mut self, world: &World, task: TaskId) -> Result<(), Error> {
        match &mut self.drive {
            Some(drive) => advance(&self.engine, drive).await.map(drop),
            None => match world.due(task).await {
                Some(due) => self.claim(due).await,
                None => Ok(()),
            },
        }
    }

    /// It takes a wake-up in: it lets a turn go that is another's by now, and claims what the wake-up names, however old that is.
    async fn hear(&mut self, wake: TurnWake) -> Result<(), Error> {
        match &self.drive {
            Some(drive) if drive.fence.turn == wake.turn => {
                if wake.epoch > drive.fence.epoch {
                    self.drive = None;
                }
                Ok(())
            }
            Some(_) => Ok(()),
            None => {
                let named = Claimable {
                    workspace: wake.workspace,
                    task: wake.task,
                    turn: wake.turn,
                    epoch: wake.epoch,
                };
                self.claim(named).await
            }
        }
    }

    async fn claim(&mut self, due: Claimable) -> Result<(), Error> {
        self.drive = self.engine.claim(due, false).await?;
        Ok(())
    }

    /// What an error means: the end of this life, or a claim of which nobody knows, whose lease ends by itself.
    fn outlive(&mut self, done: Result<(), Error>, world: &World, seed: u64) {
        match done {
            Ok(()) => {
                let is_over = |drive: &Drive| drive.after == After::Ended;
                if self.drive.as_ref().is_some_and(is_over) {
                    self.drive = None;
                }
            }
            Err(error) if is_crash(&error) => *self = Self::new(world),
            Err(Error::Unavailable(_)) => self.drive = None,
            Err(error) => panic!("seed {seed}: {error:?}"),
        }
    }
}

struct Schedule<'a> {
    world: &'a World,
    chance: Chance,
    seed: u64,
    task: TaskId,
    hands: [Hand; 2],
    news: broadcast::Receiver<TurnWake>,
    /// Wake-ups that are under way; those that are left at the end are lost.
    wakes: Vec<TurnWake>,
    /// What was written, and whether it was taken back.
    messages: Vec<(MessageId, bool)>,
    watched: Watched,
}

impl<'a> Schedule<'a> {
    async fn new(world: &'a World, seed: u64) -> Self {
        let news = domain::store::Store::follow_turns(&*world.store);
        let task = world.task(&format!("schedule {seed}")).await;
        Self {
            world,
            chance: Chance(seed),
            seed,
            task,
            hands: [Hand::new(world), Hand::new(world)],
            news,
            wakes: Vec::new(),
            messages: Vec::new(),
            watched: Watched::new(task, seed),
        }
    }

    async fn run(mut self) {
        for _ in 0..EVENTS {
            self.take_news();
            self.event().await;
            self.watched.look(self.world).await;
        }
        self.come_to_rest().await;
    }

    fn take_news(&mut self) {
        while let Ok(wake) = self.news.try_recv() {
            if wake.task == self.task {
                self.wakes.push(wake);
            }
        }
    }

    async fn event(&mut self) {
        let (world, task) = (self.world, self.task);
        match self.chance.below(18) {
            0 => {
                let message = world.write(task, "a word").await;
                self.messages.push((message, false));
            }
            1 => self.take_back().await,
            2 => drop(world.run(PauseTask(world.action(task))).await),
            3 => drop(world.run(ResumeTask(world.action(task))).await),
            4 if self.chance.below(6) == 0 => {
                let stopped = world.run(StopTask(world.action(task))).await;
                stopped.expect("stops");
            }
            5 => world
                .clock
                .advance(Duration::from_secs(self.chance.below(40))),
            6..=10 if !self.wakes.is_empty() => self.wake().await,
            _ => {
                let hand = self.chance.place(2);
                world.store.set_chance(self.chance.fault().map(once));
                let done = self.hands[hand].go_on(world, task).await;
                world.store.set_chance(None);
                self.hands[hand].outlive(done, world, self.seed);
            }
        }
    }

    /// Some wake-up arrives at some worker: any of those under way, so late and in any order; half of them will arrive once more.
    async fn wake(&mut self) {
        let place = self.chance.place(self.wakes.len());
        let wake = if self.chance.below(2) == 0 {
            self.wakes[place]
        } else {
            self.wakes.swap_remove(place)
        };
        let hand = self.chance.place(2);
        self.world.store.set_chance(self.chance.fault().map(once));
        let done = self.hands[hand].hear(wake).await;
        self.world.store.set_chance(None);
        self.hands[hand].outlive(done, self.world, self.seed);
    }

    async fn take_back(&mut self) {
        if self.messages.is_empty() {
            return;
        }
        let place = self.chance.place(self.messages.len());
        let (message, is_back) = &mut self.messages[place];
        let command = WithdrawMessage {
            caller: self.world.caller,
            workspace: self.world.workspace,
            message: *message,
            at: self.world.clock.now(),
        };
        let done = self.world.run(command).await.expect("no fault");
        *is_back = matches!(done, Withdrawn::Done(_));
    }

    /// Everything is let go on without faults, and then looked at.
    async fn come_to_rest(self) {
        let (world, task) = (self.world, self.task);
        let was_stopped = world.stored(task).await.status == TaskStatus::Stopped;
        if !was_stopped {
            drop(world.run(ResumeTask(world.action(task))).await);
        }
        let engine = world.engine();
        for _ in 0..4 {
            world.outlive_leases();
            world.settle(&engine, task).await;
        }
        self.watched.judge(world, was_stopped, &self.messages).await;
    }
}

/// The next command of a turn meets the fault.
pub(crate) fn once(fault: Fault) -> Box<dyn FnMut(&'static str) -> Option<Fault> + Send> {
    let mut fault = Some(fault);
    Box::new(move |_| fault.take())
}
