//! Many editors that come back at once, as after a lost network, with nothing in their replicas.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{Gathering, Run};
use crate::crowd::lock;
use crate::editor::fetch;
use crate::peer::Server;
use crate::replica::Replica;
use crate::table::{Key, Values, median};

const DOCUMENTS: usize = 10;
const EDITORS: usize = 20;
const EDITS: usize = 3_000;
const ROUNDS: usize = 3;
/// Between going and coming back.
const PAUSE: Duration = Duration::from_millis(300);

/// Lets them come back a few times.
pub(super) async fn run(_: &Run<'_>, server: Server) -> Result<Values> {
    let gathering = Gathering::open(&server, DOCUMENTS, EDITORS, EDITS).await?;
    let mut rooms = Vec::new();
    for members in gathering.crowds {
        let content = lock(&members[0].replica).content();
        let state = lock(&members[0].replica).difference(&[0])?;
        rooms.push((members[0].room.clone(), content, state.len()));
        for editor in members {
            editor.vanish().await;
        }
    }
    let mut walls = Vec::new();
    let mut sockets = Vec::new();
    for _ in 0..ROUNDS {
        sockets.clear();
        sleep(PAUSE).await;
        let mut coming = JoinSet::new();
        let began = Instant::now();
        for number in 0..DOCUMENTS * EDITORS {
            let (room, _, bytes) = rooms[number % DOCUMENTS].clone();
            coming.spawn(async move { (number, fetch(&room, bytes * 9 / 10).await) });
        }
        let came = coming.join_all().await;
        walls.push(began.elapsed().as_secs_f64());
        for (number, fetched) in came {
            let (parts, _, socket) = fetched?;
            sockets.push(socket);
            let mut replica = Replica::new(0, u64::MAX >> 12);
            for part in parts {
                replica.keep(part);
            }
            replica.integrate()?;
            ensure!(
                replica.content() == rooms[number % DOCUMENTS].1,
                "an editor came back to something else"
            );
        }
    }
    Ok(Values::from([(Key::ReconnectSeconds, median(&mut walls))]))
}
