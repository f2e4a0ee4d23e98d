//! Taking updates into the replica: long ones in portions, with whoever shares the thread getting a turn in between.
//!
//! Invariants
//! - Before a long update all else is stored, so that giving it up costs nobody but its sender anything.
//! - A replica that is spoilt is built anew from the log; connections stay where nothing unstored is lost by that.

use bytes::Bytes;

use crate::document::UpdateLimits;
use crate::document::replica::{Application, Applied, Begun, Failure, Replica};
use crate::work::{Snapshot, StoredDocument};

use super::{DocumentActor, Life};

impl DocumentActor {
    /// Validates and applies bytes from outside.
    pub(super) async fn apply(
        &mut self,
        update: &Bytes,
        is_reply: bool,
    ) -> Result<Applied, Failure> {
        let mut application = match self.replica.get_mut()?.begin(update, is_reply)? {
            Begun::Over(applied) => return Ok(applied),
            Begun::Application(application) => application,
        };
        if application.is_long() && !self.is_settled() {
            self.settle_all().await;
            // The document may have gone on with what others stored.
            application = match self.replica.get_mut()?.begin(update, is_reply)? {
                Begun::Over(applied) => return Ok(applied),
                Begun::Application(application) => application,
            };
        }
        let applied = self.carry_out(*application).await?;
        if self.replica.get()?.is_strained() {
            self.check_strain().await?;
        }
        Ok(applied)
    }

    /// Opens the document once more, apart, and refuses what was applied last where that costs too much.
    async fn check_strain(&mut self) -> Result<(), Failure> {
        let stored = StoredDocument {
            work: self.work.id,
            snapshot: Some(Snapshot {
                work: self.work.id,
                version: self.version,
                state: self.replica.get()?.state()?,
            }),
            changes: Vec::new(),
        };
        let kind = self.work.kind;
        let building = move || Replica::build(kind, UpdateLimits::default(), &stored);
        let built = self.shared.threads.compute(building).await;
        self.replica.get_mut()?.measure(&built.map_err(spoilt)??);
        if self.replica.get()?.is_strained() {
            return Err(spoilt(
                "with the update, the document would take too long to open",
            ));
        }
        // The state is quick to open, and the log was not quick to write.
        self.growth.demand_snapshot();
        Ok(())
    }

    /// Applies bytes that are stored.
    pub(super) async fn apply_stored(&mut self, update: &Bytes) -> Result<Applied, Failure> {
        let application = self.replica.get()?.begin_stored(update);
        self.carry_out(application).await
    }

    async fn carry_out(&mut self, mut application: Application) -> Result<Applied, Failure> {
        loop {
            if let Some(applied) = application.advance(self.replica.get_mut()?)? {
                return Ok(applied);
            }
            tokio::task::yield_now().await;
        }
    }

    /// Goes on after an update that was refused with this failure.
    pub(super) async fn recover(&mut self, failure: &Failure) {
        let is_untouched = matches!(failure, Failure::Rejected(_) | Failure::TooLarge(_));
        if is_untouched || self.life != Life::Open {
            return;
        }
        if !self.is_settled() {
            return self.fail(failure);
        }
        tracing::warn!(document.id = %self.work.id, %failure, "a live document is built anew from its log");
        self.shared.count_failure();
        if let Err(error) = self.rebuild().await {
            self.fail(&error);
        }
    }

    /// Whether all that was applied is stored.
    fn is_settled(&self) -> bool {
        self.pending.is_empty() && self.in_flight.is_none()
    }

    /// Stores all that was applied, and waits for it.
    async fn settle_all(&mut self) {
        while self.life == Life::Open && !self.is_settled() {
            match &mut self.in_flight {
                Some(flight) => {
                    let result = flight.commit.as_mut().await;
                    self.settle(result).await;
                }
                None => self.store_pending(),
            }
        }
    }
}

fn spoilt(reason: impl std::fmt::Display) -> Failure {
    Failure::Spoilt(reason.to_string())
}
