//! News from other processes on PostgreSQL.
//!
//! Invariants
//! - After a lost connection everybody is woken, because news may have been lost with it.
//! - Heads of followed logs are also read every two seconds: a hint that never comes costs that much.

use std::sync::Arc;
use std::time::Duration;

use domain::store::{EventReads, Signal};
use sea_orm::sqlx::postgres::PgListener;
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use tokio::sync::mpsc;

use crate::session::Session;
use crate::wake::{CHANNEL, Wakes, parts_of};

/// How often heads are read without being told.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How long to wait before connecting again.
const PAUSE: Duration = Duration::from_millis(500);

/// Takes notifications for as long as the store lives.
pub(super) async fn listen(connection: DatabaseConnection, wakes: Arc<Wakes>) {
    loop {
        if let Err(error) = listen_once(&connection, &wakes).await {
            tracing::warn!(%error, "notifications can not be heard; trying again");
        }
        wakes.wake_all();
        tokio::time::sleep(PAUSE).await;
    }
}

async fn listen_once(
    connection: &DatabaseConnection,
    wakes: &Wakes,
) -> Result<(), sea_orm::sqlx::Error> {
    let mut listener = PgListener::connect_with(connection.get_postgres_connection_pool()).await?;
    listener.listen(CHANNEL).await?;
    wakes.wake_all();
    loop {
        match listener.try_recv().await? {
            Some(notification) => wakes.take(notification.payload()),
            // The connection was lost and made anew: what was told meanwhile is gone.
            None => wakes.wake_all(),
        }
    }
}

/// Reads the heads of followed logs.
pub(super) async fn poll(session: Session<DatabaseConnection>, wakes: Arc<Wakes>) {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        match session.list_event_heads(&wakes.followed()).await {
            Ok(heads) => heads
                .into_iter()
                .for_each(|(workspace, head)| wakes.reached(workspace, head)),
            Err(error) => {
                tracing::warn!(%error, "heads of event logs can not be read; trying again");
            }
        }
    }
}

/// Sends signals to the other processes, all that wait with one statement.
pub(super) async fn tell(connection: DatabaseConnection, mut queue: mpsc::Receiver<Signal>) {
    let mut waiting = Vec::new();
    while queue.recv_many(&mut waiting, 64).await > 0 {
        let notices = waiting.drain(..).flat_map(|signal| parts_of(&signal));
        let texts: Vec<_> = notices
            .filter_map(|notice| serde_json::to_string(&notice).ok())
            .collect();
        let calls: Vec<_> = (0..texts.len())
            .map(|number| format!("pg_notify('{CHANNEL}', ${})", number + 1))
            .collect();
        let values = texts.into_iter().map(sea_orm::Value::from);
        let sql = format!("select {}", calls.join(", "));
        let statement =
            Statement::from_sql_and_values(connection.get_database_backend(), sql, values);
        if let Err(error) = connection.query_all_raw(statement).await {
            tracing::debug!(%error, "signals were not sent");
        }
    }
}
