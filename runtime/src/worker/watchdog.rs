//! The watchdog: at intervals it looks through stored state for what was missed (D5). Recovery is this, continuously, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use domain::store::StoreExt as _;
use domain::task::WakeTask;
use domain::time::Timestamp;
use domain::turn::Spare;

use super::Shared;

/// What one look repairs at most; the next one goes on.
const AT_ONCE: u32 = 256;

pub(super) async fn watch(shared: Arc<Shared>) {
    if !shared.engine.store().is_shared()
        && let Err(error) = take_over_all(&shared).await
    {
        tracing::warn!(%error, "turns of the former process are taken over when their leases end");
    }
    loop {
        tokio::select! {
            () = shared.stop.cancelled() => return,
            () = tokio::time::sleep(pause(shared.options.watchdog)) => {}
        }
        if let Err(error) = look(&shared).await {
            tracing::warn!(%error, "the watchdog could not look; trying again");
        }
        shared.due.notify_one();
    }
}

/// Nobody else works on an embedded database: whoever has a lease is this process's predecessor, and gone.
async fn take_over_all(shared: &Arc<Shared>) -> domain::Result<()> {
    let engine = &shared.engine;
    let reads = engine.store().reads();
    let now = reads.lease_time(engine.now()).await?;
    let later = now.plus(engine.options().lease);
    take_over(shared, now, later).await
}

/// Takes over what has not moved since a time though its lease has not ended.
async fn take_over(shared: &Arc<Shared>, now: Timestamp, before: Timestamp) -> domain::Result<()> {
    let reads = shared.engine.store().reads();
    for turn in reads.list_unmoved(now, before, AT_ONCE).await? {
        if let Some(place) = shared.running.take(&turn) {
            tracing::warn!(turn.id = %turn.turn, "a turn stands still though its lease has not ended; it is taken over");
            shared
                .turns
                .spawn(shared.clone().claim_and_drive(turn, place, true));
        }
    }
    Ok(())
}

/// With up to a tenth by chance, so that many processes do not look at once.
fn pause(interval: Duration) -> Duration {
    let chance = uuid::Uuid::new_v4().as_u128() as u32 % 100;
    interval + interval * chance / 1_000
}

async fn look(shared: &Arc<Shared>) -> domain::Result<()> {
    let engine = &shared.engine;
    let reads = engine.store().reads();
    for (workspace, task) in reads.list_unwoken(AT_ONCE).await? {
        let command = WakeTask {
            workspace,
            task,
            spare: Spare::new(),
            at: engine.now(),
        };
        engine.store().run(command).await?;
        tracing::info!(task.id = %task, "an unread inbox was found, and its task woken");
    }
    let now = reads.lease_time(engine.now()).await?;
    let still = shared.options.stillness.as_micros() as i64;
    let before = Timestamp::from_micros(now.micros() - still);
    take_over(shared, now, before).await?;
    metrics::gauge!("atelier_turns_running").set(shared.running.count() as f64);
    Ok(())
}
