//! Random schedules: workers that crash, freeze, meet a failing store and wake up late, people who write, pause, resume and stop.
//! After each, what must always hold is looked at.
//!
//! `ATELIER_TEST_SEED` repeats one; `ATELIER_TEST_SCHEDULES` says how many are tried.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::error::Error;
use domain::ids::{MessageId, TaskId};
use domain::message::MessageState;
use domain::page::{End, PageRequest, Window};
use domain::task::{FoldProjections, PauseTask, ResumeTask, StopTask, TaskStatus};
use domain::time::Clock as _;
use domain::turn::{CallState, Epoch};
use runtime::engine::{Drive, Engine};
use serde_json::json;

use crate::world::{World, action, advance, decision, step_of};
use storage::faults::{Fault, is_crash};

/// A small generator (xorshift64*, Vigna 2016): the same seed, the same schedule, on every machine.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 33) % limit
    }
}

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A worker of the schedule: perhaps it holds a turn, perhaps it is frozen with one.
struct Hand {
    engine: Engine,
    drive: Option<Drive>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_happens_in_whatever_order_nothing_is_lost_and_nothing_done_twice() {
    let schedules = number("ATELIER_TEST_SCHEDULES", 150);
    let fresh = uuid::Uuid::new_v4().as_u128() as u64 | 1;
    let seed = number("ATELIER_TEST_SEED", fresh);
    eprintln!("ATELIER_TEST_SEED={seed}");
    let world = World::with_model(|request| {
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
    .await;
    for schedule in 0..schedules {
        let seed = seed.wrapping_add(schedule.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1;
        run_schedule(&world, seed).await;
    }
    world.close().await;
}

async fn run_schedule(world: &World, seed: u64) {
    let mut chance = Chance(seed);
    let task = world.task(&format!("schedule {seed}")).await;
    let mut hands: Vec<Hand> = (0..2).map(|_| new_hand(world)).collect();
    let mut messages = Vec::new();
    let mut epochs = BTreeMap::new();
    for _ in 0..40 {
        let fault = match chance.below(8) {
            0 => Some(Fault::CrashBefore),
            1 => Some(Fault::CrashAfter),
            2 => Some(Fault::LoseAnswer),
            3 => Some(Fault::Refuse),
            _ => None,
        };
        match chance.below(12) {
            0 => messages.push(world.write(task, "a word").await),
            1 => drop(world.run(PauseTask(world.action(task))).await),
            2 => drop(world.run(ResumeTask(world.action(task))).await),
            3 if chance.below(6) == 0 => stop_for_good(world, task).await,
            4 => world.clock.advance(Duration::from_secs(chance.below(40))),
            _ => {
                let hand = chance.below(2) as usize;
                world.store.set_chance(fault.map(once));
                act(world, &mut hands[hand], task).await;
                world.store.set_chance(None);
            }
        }
        look(world, task, &mut epochs, seed).await;
    }
    come_to_rest(world, task, &messages, seed).await;
}

/// The next command of a turn meets the fault.
fn once(fault: Fault) -> Box<dyn FnMut(&'static str) -> Option<Fault> + Send> {
    let mut fault = Some(fault);
    Box::new(move |_| fault.take())
}

fn new_hand(world: &World) -> Hand {
    Hand {
        engine: world.engine(),
        drive: None,
    }
}

/// A worker does one thing: goes on with its turn, or claims what is due. A crash makes it another worker.
async fn act(world: &World, hand: &mut Hand, task: TaskId) {
    let done = match &mut hand.drive {
        Some(drive) => advance(&hand.engine, drive).await.map(drop),
        None => match world.due(task).await {
            None => Ok(()),
            Some(due) => hand
                .engine
                .claim(due, false)
                .await
                .map(|drive| hand.drive = drive),
        },
    };
    match done {
        Ok(()) => {
            let is_over =
                matches!(&hand.drive, Some(drive) if drive.after == domain::turn::After::Ended);
            if is_over {
                hand.drive = None;
            }
        }
        Err(error) if is_crash(&error) => *hand = new_hand(world),
        // The claim's answer was lost: nobody knows of it, and its lease ends by itself.
        Err(Error::Unavailable(_)) => hand.drive = None,
        Err(error) => panic!("{error:?}"),
    }
}

async fn stop_for_good(world: &World, task: TaskId) {
    world
        .run(StopTask(world.action(task)))
        .await
        .expect("stops");
}

/// What holds at every moment.
async fn look(world: &World, task: TaskId, epochs: &mut BTreeMap<u32, Epoch>, seed: u64) {
    let window = Window {
        limit: 100,
        end: End::First,
        after: None,
        before: None,
    };
    let turns = world
        .store_reads()
        .list_turns(task, window)
        .await
        .expect("reads")
        .rows;
    for turn in &turns {
        let known = epochs.entry(turn.number).or_default();
        assert!(turn.epoch >= *known, "seed {seed}: an epoch went back");
        *known = turn.epoch;
    }
    let open = turns.iter().filter(|turn| !turn.state.is_over()).count();
    assert!(open <= 1, "seed {seed}: {open} turns are not over");
    let stored = world.stored(task).await;
    let active = turns
        .iter()
        .find(|turn| !turn.state.is_over())
        .map(|turn| turn.id);
    assert_eq!(stored.active_turn, active, "seed {seed}");
    if stored.status == TaskStatus::Stopped {
        assert_eq!(active, None, "seed {seed}: a stopped task has a turn");
    }
    for (call, count) in world.effects() {
        assert_eq!(count, 1, "seed {seed}: {call} had {count} effects");
    }
}

/// Everything is let go on without faults, and then looked at.
async fn come_to_rest(world: &World, task: TaskId, messages: &[MessageId], seed: u64) {
    let was_stopped = world.stored(task).await.status == TaskStatus::Stopped;
    if !was_stopped {
        drop(world.run(ResumeTask(world.action(task))).await);
    }
    let engine = world.engine();
    for _ in 0..4 {
        world.outlive_leases();
        world.settle(&engine, task).await;
    }
    let stored = world.stored(task).await;
    if was_stopped {
        assert_eq!(
            stored.status,
            TaskStatus::Stopped,
            "seed {seed}: stopped stays stopped"
        );
    } else {
        assert_eq!(
            stored.status,
            TaskStatus::Delivered,
            "seed {seed}: {:?}",
            stored.status_reason
        );
        for message in messages {
            let state = world.message(*message).await.state;
            let is_read = matches!(state, MessageState::Consumed | MessageState::Undeliverable);
            assert!(is_read, "seed {seed}: a message is {state:?}");
        }
    }
    assert_calls_are_over(world, task, was_stopped, seed).await;
    assert_projection_is_the_fold(world, task, seed).await;
}

async fn assert_calls_are_over(world: &World, task: TaskId, was_stopped: bool, seed: u64) {
    let window = Window {
        limit: 100,
        end: End::First,
        after: None,
        before: None,
    };
    let turns = world
        .store_reads()
        .list_turns(task, window)
        .await
        .expect("reads")
        .rows;
    for turn in turns {
        for call in world.calls(turn.id).await {
            let is_over = call.state.is_over() || was_stopped;
            assert!(is_over, "seed {seed}: {} is {:?}", call.id, call.state);
            let effects = world.effects().get(&call.id).copied().unwrap_or_default();
            if call.state == CallState::Done
                && call
                    .result
                    .as_ref()
                    .is_some_and(|result| result.get("repeats").is_none())
            {
                assert_eq!(effects, 1, "seed {seed}: {} is done", call.id);
            }
            if call.state == CallState::Refused {
                assert_eq!(effects, 0, "seed {seed}: {} was refused", call.id);
            }
        }
    }
}

async fn assert_projection_is_the_fold(world: &World, task: TaskId, seed: u64) {
    let before = world
        .store_reads()
        .list_projections(&[task])
        .await
        .expect("reads");
    let command = FoldProjections {
        workspace: world.workspace,
        task,
        at: world.clock.now(),
    };
    world.run(command).await.expect("folds");
    let after = world
        .store_reads()
        .list_projections(&[task])
        .await
        .expect("reads");
    assert_eq!(
        before, after,
        "seed {seed}: the projections are not the fold of the journal"
    );
    let all = PageRequest {
        first: 1_000,
        after: None,
    };
    let entries = world
        .store_reads()
        .list_journal(task, &[], all)
        .await
        .expect("reads")
        .rows;
    let sequences: Vec<_> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(
        sequences,
        (1..=entries.len() as u64).collect::<Vec<_>>(),
        "seed {seed}"
    );
}
