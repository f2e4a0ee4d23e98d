//! What must always hold of a task, at every moment of a schedule and at its end.

use std::collections::BTreeMap;

use domain::ids::{MessageId, TaskId};
use domain::message::MessageState;
use domain::page::{End, PageRequest, Window};
use domain::task::{FoldProjections, TaskStatus};
use domain::time::Clock as _;
use domain::turn::{Call, CallState, Epoch, Turn};

use crate::world::World;

/// A task, and what was seen of it so far.
pub(super) struct Watched {
    task: TaskId,
    seed: u64,
    epochs: BTreeMap<u32, Epoch>,
}

impl Watched {
    pub(super) fn new(task: TaskId, seed: u64) -> Self {
        Self {
            task,
            seed,
            epochs: BTreeMap::new(),
        }
    }

    async fn turns(&self, world: &World) -> Vec<Turn> {
        let window = Window {
            limit: 100,
            end: End::First,
            after: None,
            before: None,
        };
        let turns = world.store_reads().list_turns(self.task, window).await;
        turns.expect("reads").rows
    }

    /// What holds at every moment.
    pub(super) async fn look(&mut self, world: &World) {
        let seed = self.seed;
        let turns = self.turns(world).await;
        for turn in &turns {
            let known = self.epochs.entry(turn.number).or_default();
            assert!(turn.epoch >= *known, "seed {seed}: an epoch went back");
            *known = turn.epoch;
            for (call, count) in world.effects_of(turn.id) {
                assert_eq!(count, 1, "seed {seed}: {call} had {count} effects");
            }
        }
        let mut open = turns.iter().filter(|turn| !turn.state.is_over());
        let active = open.next().map(|turn| turn.id);
        assert_eq!(open.count(), 0, "seed {seed}: two turns are not over");
        let stored = world.stored(self.task).await;
        assert_eq!(stored.active_turn, active, "seed {seed}");
        if stored.status == TaskStatus::Stopped {
            assert_eq!(active, None, "seed {seed}: a stopped task has a turn");
        }
    }

    /// What holds when nothing more happens.
    pub(super) async fn judge(
        &self,
        world: &World,
        was_stopped: bool,
        messages: &[(MessageId, bool)],
    ) {
        let seed = self.seed;
        let stored = world.stored(self.task).await;
        let expected = if was_stopped {
            TaskStatus::Stopped
        } else {
            TaskStatus::Delivered
        };
        let reason = stored.status_reason;
        assert_eq!(stored.status, expected, "seed {seed}: {reason:?}");
        for (message, is_back) in messages {
            let state = world.message(*message).await.state;
            let is_right = match state {
                MessageState::Withdrawn => *is_back,
                MessageState::Consumed | MessageState::Undeliverable => !is_back,
                _ => was_stopped && !is_back,
            };
            assert!(is_right, "seed {seed}: a message is {state:?}");
        }
        for turn in self.turns(world).await {
            for call in world.calls(turn.id).await {
                self.judge_call(world, &call, was_stopped);
            }
        }
        self.assert_projection_is_the_fold(world).await;
        self.assert_journal_is_whole(world).await;
    }

    fn judge_call(&self, world: &World, call: &Call, was_stopped: bool) {
        let seed = self.seed;
        let is_over = call.state.is_over() || was_stopped;
        assert!(is_over, "seed {seed}: {} is {:?}", call.id, call.state);
        let effects = world.effects_of(call.id.turn);
        let acted = effects.iter().any(|(acting, _)| *acting == call.id);
        let result = call.result.as_ref();
        let repeats = result.is_some_and(|result| result.get("repeats").is_some());
        match call.state {
            CallState::Done => assert_eq!(acted, !repeats, "seed {seed}: {} is done", call.id),
            CallState::Refused => assert!(!acted, "seed {seed}: {} was refused", call.id),
            _ => {}
        }
    }

    async fn assert_projection_is_the_fold(&self, world: &World) {
        let projections = async || {
            let found = world.store_reads().list_projections(&[self.task]).await;
            found.expect("reads")
        };
        let before = projections().await;
        let command = FoldProjections {
            workspace: world.workspace,
            task: self.task,
            at: world.clock.now(),
        };
        world.run(command).await.expect("folds");
        assert_eq!(
            before,
            projections().await,
            "seed {}: the projections are not the fold of the journal",
            self.seed
        );
    }

    async fn assert_journal_is_whole(&self, world: &World) {
        let all = PageRequest {
            first: 1_000,
            after: None,
        };
        let entries = world.store_reads().list_journal(self.task, &[], all).await;
        let entries = entries.expect("reads").rows;
        let sequences: Vec<_> = entries.iter().map(|entry| entry.sequence).collect();
        let whole: Vec<_> = (1..=entries.len() as u64).collect();
        assert_eq!(sequences, whole, "seed {}", self.seed);
    }
}
