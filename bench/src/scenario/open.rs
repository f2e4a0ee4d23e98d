//! Memory of many small documents that are open at once, with one editor each.

use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::time::sleep;

use super::{Gathering, Run, Size};
use crate::peer::Server;
use crate::table::{Key, Values};

/// Edits in each document, besides its shots.
const EDITS: usize = 200;
/// How long a server may tidy up before it is asked: people look at most of what they have open.
const SETTLE: Duration = Duration::from_secs(16);

/// Opens them and looks at what the server has grown by.
pub(super) async fn run(run: &Run<'_>, server: Server) -> Result<Values> {
    let documents = match run.size {
        Size::Full => 500,
        Size::Quick => 100,
    };
    sleep(SETTLE).await;
    let before = server.process.resident_kib()?;
    let gathering = Gathering::open(&server, documents, 1, EDITS).await?;
    sleep(SETTLE).await;
    let after = server.process.resident_kib()?;
    ensure!(
        gathering.editors().all(|editor| !editor.is_over()),
        "a socket has ended"
    );
    Ok(Values::from([
        (Key::KibPerWork, (after - before) / documents as f64),
        (Key::IdleMib, before / 1024.0),
    ]))
}
