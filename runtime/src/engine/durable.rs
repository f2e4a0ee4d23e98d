//! Storing what a turn did, when the store may fail after it wrote.

use std::time::Duration;

use domain::error::{Error, Result};
use domain::store::{Command, StoreExt as _};

use super::Engine;

/// The first pause before a command is given to the store again; it doubles up to a second.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How often it is given before the turn is left to the watchdog.
const ATTEMPTS: u32 = 60;

impl Engine {
    /// Runs a command until the store says what became of it. None where an earlier attempt was stored though its answer was lost:
    /// stored state then says how to go on.
    pub(super) async fn durably<C: Command + Clone>(
        &self,
        command: C,
    ) -> Result<Option<C::Output>> {
        let mut pause = FIRST_PAUSE;
        let mut is_repeated = false;
        for _ in 0..ATTEMPTS {
            match self.store().run(command.clone()).await {
                Ok(output) => return Ok(Some(output)),
                Err(Error::Unavailable(source)) => {
                    tracing::warn!(command = C::NAME, error = %source, "the store did not answer; trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    is_repeated = true;
                }
                Err(Error::Conflict(_)) if is_repeated => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Err(Error::Unavailable(
            format!("{} could not be stored", C::NAME).into(),
        ))
    }
}
