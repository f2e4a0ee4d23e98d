//! Which turns run in this process: room for more, and who must let go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ids::{TurnId, WorkspaceId};
use domain::turn::{Claimable, Epoch, TurnWake};
use tokio_util::sync::CancellationToken;

/// The turns that run.
pub(super) struct Running {
    most: usize,
    most_per_workspace: usize,
    turns: Arc<Mutex<HashMap<TurnId, Entry>>>,
}

struct Entry {
    workspace: WorkspaceId,
    epoch: Epoch,
    lost: CancellationToken,
}

/// The place of one running turn; it is free again when this is dropped.
pub(super) struct Place {
    turn: TurnId,
    lost: CancellationToken,
    turns: Arc<Mutex<HashMap<TurnId, Entry>>>,
}

impl Running {
    pub(super) fn new(most: usize, most_per_workspace: usize) -> Self {
        Self {
            most,
            most_per_workspace,
            turns: Arc::default(),
        }
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.turns).len()
    }

    pub(super) fn has_room(&self) -> bool {
        lock(&self.turns).len() < self.most
    }

    /// A place for a turn, where there is room for it and it does not run here already.
    pub(super) fn take(&self, turn: &Claimable) -> Option<Place> {
        let mut turns = lock(&self.turns);
        let of_workspace = turns
            .values()
            .filter(|entry| entry.workspace == turn.workspace)
            .count();
        if turns.len() >= self.most
            || of_workspace >= self.most_per_workspace
            || turns.contains_key(&turn.turn)
        {
            return None;
        }
        let lost = CancellationToken::new();
        let entry = Entry {
            workspace: turn.workspace,
            epoch: turn.epoch,
            lost: lost.clone(),
        };
        turns.insert(turn.turn, entry);
        Some(Place {
            turn: turn.turn,
            lost,
            turns: self.turns.clone(),
        })
    }

    /// Takes a wake-up in; true where it is about a turn that runs here. A newer epoch than ours means that the turn is lost.
    pub(super) fn heard(&self, wake: TurnWake) -> bool {
        let turns = lock(&self.turns);
        let Some(entry) = turns.get(&wake.turn) else {
            return false;
        };
        if wake.epoch > entry.epoch {
            entry.lost.cancel();
        }
        true
    }
}

impl Place {
    /// The turn was claimed under this epoch.
    pub(super) fn claimed(&self, epoch: Epoch) {
        if let Some(entry) = lock(&self.turns).get_mut(&self.turn) {
            entry.epoch = epoch;
        }
    }

    /// Cancelled when the turn is no longer ours.
    pub(super) fn lost(&self) -> CancellationToken {
        self.lost.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.turns).remove(&self.turn);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
