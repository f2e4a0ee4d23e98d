//! Storing what was applied, telling everybody afterwards, and catching up with other processes.

use bytes::Bytes;

use crate::document::Version;
use crate::document::edit::EditOutcome;
use crate::document::replica::{Applied, Failure, Replica};
use crate::document::room::Outbound;
use crate::error::{Error, Result};
use crate::work::{AppendChanges, Appended, Change, PendingChange, Snapshot, StoredDocument};

use super::batch::{self, Flight, Output, merge};
use super::{DocumentActor, Life};

/// Changes of the log that are read at once.
const CATCH_UP_PAGE: u32 = 500;
/// Changes after which a snapshot is due, whatever their size.
const SNAPSHOT_CHANGES: u64 = 1_000;
/// Bytes of changes below which no snapshot is due before that.
const SNAPSHOT_BYTES: usize = 64 << 10;

/// How a document has grown since its last snapshot.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Growth {
    snapshot_bytes: usize,
    log_bytes: usize,
    changes: u64,
    is_snapshot_demanded: bool,
}

impl Growth {
    pub(crate) fn of(stored: &StoredDocument) -> Self {
        Self {
            snapshot_bytes: stored
                .snapshot
                .as_ref()
                .map_or(0, |snapshot| snapshot.state.len()),
            log_bytes: stored.changes.iter().map(|(_, update)| update.len()).sum(),
            changes: stored.changes.len() as u64,
            is_snapshot_demanded: false,
        }
    }

    /// Lets the next commit be followed by a snapshot.
    pub(crate) fn demand_snapshot(&mut self) {
        self.is_snapshot_demanded = true;
    }

    /// What it holds now, roughly and at most.
    pub(crate) fn bytes(&self) -> usize {
        self.snapshot_bytes + self.log_bytes
    }

    /// Changes since the last snapshot.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    fn add(&mut self, changes: &[PendingChange]) {
        self.log_bytes += changes
            .iter()
            .map(|change| change.update.len())
            .sum::<usize>();
        self.changes += changes.len() as u64;
    }

    /// Reading the log then costs as much as reading the snapshot.
    fn is_snapshot_due(&self) -> bool {
        self.is_snapshot_demanded
            || self.changes >= SNAPSHOT_CHANGES
            || self.log_bytes > SNAPSHOT_BYTES.max(self.snapshot_bytes)
    }
}

impl DocumentActor {
    /// Lets an output out when everything that was applied so far is stored.
    pub(super) fn after_commit(&mut self, output: Output) {
        if !self.pending.is_empty() {
            self.pending.add_output(output);
        } else if let Some(flight) = &mut self.in_flight {
            flight.outputs.push(output);
        } else {
            output.release(self.version, self.version, &[]);
        }
    }

    /// Starts the commit of everything that is pending.
    pub(super) fn store_pending(&mut self) {
        match self.pending.take() {
            Ok((changes, outputs)) => {
                let command = self.append(changes.clone());
                self.start(command, changes, outputs);
            }
            Err(error) => self.fail(&error),
        }
    }

    pub(super) fn append(&self, changes: Vec<PendingChange>) -> AppendChanges {
        AppendChanges {
            workspace: self.work.workspace,
            work: self.work.id,
            changes,
            expected: None,
            idempotency: None,
            upload: None,
            fence: None,
        }
    }

    pub(super) fn start(
        &mut self,
        command: AppendChanges,
        changes: Vec<PendingChange>,
        outputs: Vec<Output>,
    ) {
        self.growth.add(&changes);
        let state = self.growth.is_snapshot_due().then(|| self.state());
        let state = match state.transpose() {
            Ok(state) => state,
            Err(failure) => {
                batch::refuse(outputs, &failure);
                return self.fail(&failure);
            }
        };
        let commit = Box::pin(self.shared.clone().append(command));
        self.in_flight = Some(Flight {
            commit,
            changes,
            outputs,
            edit: None,
            state,
        });
    }

    /// Takes the result of the commit that was under way.
    pub(super) async fn settle(&mut self, result: Result<Appended>) {
        let Some(flight) = self.in_flight.take() else {
            return;
        };
        match (result, flight.edit.is_some()) {
            (Ok(Appended::Stored(first)), _) => self.stored(first, flight).await,
            (result, true) => self.edit_not_stored(result, flight).await,
            (Ok(_), false) => self.not_stored(flight, &"the store answered something else"),
            (Err(error), false) => self.not_stored(flight, &error),
        }
    }

    fn not_stored(&mut self, flight: Flight, reason: &dyn std::fmt::Display) {
        batch::refuse(flight.outputs, reason);
        self.fail(reason);
    }

    /// Sends what was stored to everybody, then lets out what waited for it.
    async fn stored(&mut self, first: Version, flight: Flight) {
        let is_next = first.0 == self.version.0 + 1;
        if !is_next {
            self.catch_up(Version(first.0 - 1)).await;
        }
        if self.life == Life::Open && first.0 != self.version.0 + 1 {
            self.fail(&"the log ends before the changes that were stored");
        }
        if self.life != Life::Open {
            if let Some(edit) = flight.edit {
                edit.request.answer(Err(reloading()));
            }
            return batch::refuse(flight.outputs, &"the document is being reloaded");
        }
        let last = Version(first.0 + flight.changes.len() as u64 - 1);
        for (version, change) in (first.0..).zip(&flight.changes) {
            self.attribution
                .record(&change.touched, &change.actor, Version(version));
        }
        self.version = last;
        self.log_head = self.log_head.max(last);
        if let Err(error) = self.send_to_all(
            flight
                .changes
                .iter()
                .map(|change| change.update.clone())
                .collect(),
        ) {
            batch::refuse(flight.outputs, &error);
            return self.fail(&error);
        }
        if let Some(edit) = flight.edit {
            edit.answer(last);
        }
        for output in flight.outputs {
            output.release(first, last, &flight.changes);
        }
        if let Some(state) = flight.state {
            self.save_due_snapshot(is_next.then_some(state));
        }
    }

    /// Stores a snapshot of the version that was reached. None where others stored changes before this commit: the state
    /// that was taken for it lacks them. It is taken anew if nothing newer is applied yet, or else with a later commit.
    fn save_due_snapshot(&mut self, state: Option<Bytes>) {
        let state = match state {
            Some(state) => Ok(state),
            None if self.pending.is_empty() => self.state(),
            None => return,
        };
        match state {
            Ok(state) => self.save_snapshot(self.version, state),
            Err(failure) => self.fail(&failure),
        }
    }

    /// Everybody gets one frame, its sender too: that is how some editors learn that their change is stored.
    fn send_to_all(&self, updates: Vec<Bytes>) -> Result<()> {
        if self.peers.is_empty() || updates.is_empty() {
            return Ok(());
        }
        let update = merge(updates)?;
        for peer in self.peers.values() {
            peer.outbox.push(Outbound::Update(update.clone()));
        }
        Ok(())
    }

    fn state(&self) -> std::result::Result<Bytes, Failure> {
        self.replica.get().and_then(Replica::state)
    }

    pub(super) fn save_snapshot(&mut self, version: Version, state: Bytes) {
        self.growth = Growth {
            snapshot_bytes: state.len(),
            ..Growth::default()
        };
        self.shared.save_snapshot(
            &self.work,
            Snapshot {
                work: self.work.id,
                version,
                state,
            },
        );
    }

    /// Reads and applies what the log holds up to a version.
    pub(super) async fn catch_up(&mut self, to: Version) {
        while self.version < to && self.life == Life::Open {
            match self
                .shared
                .list_changes(self.work.id, self.version, CATCH_UP_PAGE)
                .await
            {
                Ok(changes) if changes.is_empty() => return self.log_head = self.version,
                Ok(mut changes) => {
                    changes.retain(|change| change.version <= to);
                    self.take_stored(changes).await;
                }
                Err(error) => return self.fail(&error),
            }
        }
    }

    async fn take_stored(&mut self, changes: Vec<Change>) {
        let mut has_hanging_edges = false;
        for change in &changes {
            if change.version.0 != self.version.0 + 1 {
                // What everybody has been told must never skip a change.
                let gap = format!("version {} follows {}", change.version, self.version);
                return self.fail(&gap);
            }
            match self.apply_stored(&change.update).await {
                Ok(Applied::Changed(_, recorded)) => {
                    has_hanging_edges |= recorded.has_hanging_edges;
                }
                Ok(Applied::Nothing | Applied::Missing) => {}
                Err(failure) => return self.fail(&failure),
            }
            self.attribution
                .record(&change.touched, &change.actor, change.version);
            self.version = change.version;
        }
        self.log_head = self.log_head.max(self.version);
        self.remove_hanging_edges(has_hanging_edges);
        if let Err(error) =
            self.send_to_all(changes.into_iter().map(|change| change.update).collect())
        {
            self.fail(&error);
        }
    }

    /// An edit was applied and not stored: the replica is built anew without it, and the edit answered or tried again.
    async fn edit_not_stored(&mut self, result: Result<Appended>, flight: Flight) {
        if let Err(error) = self.rebuild().await {
            self.fail(&error);
        }
        for output in flight.outputs {
            output.release(self.version, self.version, &[]);
        }
        let Some(edit) = flight.edit else { return };
        match result {
            Ok(Appended::Behind(_)) if self.life == Life::Open => {
                self.edits.push_front(edit.request);
            }
            Ok(Appended::Repeated(first)) => edit.request.answer(first_outcome(first)),
            Ok(_) => edit.request.answer(Err(reloading())),
            Err(error) => edit.request.answer(Err(error)),
        }
    }

    pub(super) async fn rebuild(&mut self) -> Result<()> {
        let fresh = Self::open(self.shared.clone(), self.work.clone()).await?;
        let former = self.version;
        self.replica = fresh.replica;
        self.attribution = fresh.attribution;
        self.growth = fresh.growth;
        // Others may have written meanwhile: those who are connected get it from the log.
        let missed = self
            .shared
            .list_changes(self.work.id, former, CATCH_UP_PAGE)
            .await?;
        self.version = fresh.version;
        self.log_head = self.log_head.max(fresh.version);
        let missed = missed
            .into_iter()
            .filter(|change| change.version <= fresh.version)
            .map(|change| change.update)
            .collect::<Vec<_>>();
        if fresh.version.0 - former.0 > u64::from(CATCH_UP_PAGE) {
            self.close_all(1013, "the document moved far ahead; reconnect to catch up");
        }
        self.send_to_all(missed)
    }

    /// Refuses an update that would make the document larger than is allowed.
    pub(super) fn check_growth(&mut self, bytes: usize) -> std::result::Result<(), String> {
        let limit = self.shared.options.document_bytes;
        if self.growth.bytes() + bytes <= limit {
            return Ok(());
        }
        // The estimate counts what has been deleted since; the state itself decides.
        let size = self.state().map_err(|failure| failure.to_string())?.len();
        if size + bytes <= limit {
            return Ok(());
        }
        Err(format!(
            "the document would grow over its limit of {} MiB",
            limit >> 20
        ))
    }

    /// The end: what is under way is finished, and a snapshot makes the next opening fast.
    pub(super) async fn end(mut self) {
        while let Some(flight) = &mut self.in_flight {
            let result = flight.commit.as_mut().await;
            self.settle(result).await;
            self.advance().await;
        }
        self.close_all(1012, "the document was closed; reconnect");
        if self.life != Life::Failed
            && self.growth.changes > 0
            && let Ok(state) = self.state()
        {
            self.save_snapshot(self.version, state);
        }
    }
}

fn reloading() -> Error {
    Error::Unavailable("the document is being reloaded".into())
}

fn first_outcome(first: serde_json::Value) -> Result<EditOutcome> {
    serde_json::from_value(first)
        .map(EditOutcome::Applied)
        .map_err(|error| Error::Internal(error.into()))
}
