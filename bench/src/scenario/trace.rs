//! One long text, written by one editor edit by edit as fast as the server takes it; then opened warm, and cold.
//!
//! Invariants
//! - The generated trace is the same for every run: as many edits, insertions and deletions as the editing of a paper that
//!   others measure with (259,778 edits, of which 77,463 remove one character), typed in runs with jumps between them.
//! - The time ends when the server has answered a question that was asked behind the last edit.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::time::timeout;

use super::{Run, Size};
use crate::editor::{PATIENCE, Receiving, binary, connect, fetch, next_frame};
use crate::peer::{Kind, Needs, Server};
use crate::random::Random;
use crate::replica::TextReplica;
use crate::table::{Key, Values, median};
use crate::wire::{Room, Said};

const EDITS: usize = 259_778;
const REMOVALS: u64 = 77_463;
const QUICK_EDITS: usize = 20_000;
/// Edits that are typed at one place, on average.
const TYPED_IN_A_RUN: u64 = 40;
/// Frames that are sent with one flush.
const FLUSH: usize = 32;
/// How often a warm document is opened.
const OPENINGS: usize = 5;
/// The edits of a long text may take a while.
const LONG_PATIENCE: Duration = Duration::from_mins(3);

/// The edits, as updates, and the text that they make.
#[derive(Default)]
pub(crate) struct Trace {
    updates: Vec<Vec<u8>>,
    text: String,
    state_bytes: usize,
}

impl Trace {
    /// Generates it.
    pub(crate) fn generate(size: Size) -> Self {
        let edits = match size {
            Size::Full => EDITS,
            Size::Quick => QUICK_EDITS,
        };
        let replica = TextReplica::new(4_242);
        let mut random = Random::new(42);
        let (mut length, mut cursor) = (0_u32, 0_u32);
        let mut updates = Vec::with_capacity(edits);
        for _ in 0..edits {
            if random.below(TYPED_IN_A_RUN) == 0 {
                cursor = random.below(u64::from(length) + 1) as u32;
            }
            if random.below(EDITS as u64) < REMOVALS && cursor > 0 {
                cursor -= 1;
                length -= 1;
                updates.push(replica.edit(cursor, 1, ""));
            } else {
                let letter = char::from(b'a' + random.below(26) as u8);
                updates.push(replica.edit(cursor, 0, letter.encode_utf8(&mut [0; 4])));
                cursor += 1;
                length += 1;
            }
        }
        Self::new(updates, &replica)
    }

    /// Reads one from a file: `{"txns": [{"patches": [[place, removed, inserted], …]}, …]}`.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file: Value = serde_json::from_slice(&std::fs::read(path)?)?;
        let replica = TextReplica::new(4_242);
        let mut updates = Vec::new();
        for edit in file["txns"].as_array().context("no `txns`")? {
            for patch in edit["patches"].as_array().context("no `patches`")? {
                let number = |index: usize| patch[index].as_u64().context("no number");
                let inserted = patch[2].as_str().context("no text")?;
                updates.push(replica.edit(number(0)? as u32, number(1)? as u32, inserted));
            }
        }
        Ok(Self::new(updates, &replica))
    }

    fn new(updates: Vec<Vec<u8>>, replica: &TextReplica) -> Self {
        Self {
            updates,
            text: replica.content(),
            state_bytes: replica.state_bytes(),
        }
    }
}

/// Writes it, opens it warm, and cold where the server keeps it on disk.
pub(super) async fn run(run: &Run<'_>, server: Server) -> Result<Values> {
    let room = server.make("trace", Kind::Text).await?;
    let (sending, mut receiving) = connect(&room).await?.split();
    let sent = tokio::spawn(send(sending, room.clone(), run.trace.updates.clone()));
    let began = Instant::now();
    let processor = server.process.processor_seconds()?;
    // The first answer is to the question before the edits.
    let mut answers = 0;
    let answered = async {
        while answers < 2 {
            answer(&mut receiving, &room).await?;
            answers += 1;
        }
        Ok::<_, anyhow::Error>(began.elapsed().as_secs_f64())
    };
    let took = timeout(LONG_PATIENCE, answered)
        .await
        .context("the trace is not taken")??;
    let processor = server.process.processor_seconds()? - processor;
    let _sending = sent.await??;
    let mut openings = Vec::new();
    for _ in 0..OPENINGS {
        openings.push(open(run.trace, &room).await?);
    }
    let mut values = Values::from([
        (Key::TraceSeconds, took),
        (Key::TraceProcessorSeconds, processor),
        (Key::WarmMs, median(&mut openings)),
    ]);
    if run.peer.can(Needs::Disk) {
        // Time for those who store later; the others need none.
        tokio::time::sleep(Duration::from_secs(if run.size == Size::Full {
            12
        } else {
            4
        }))
        .await;
        let server = server.restart(run.places)?;
        let room = server.room(&room.address);
        values.add(Key::ColdMs, open(run.trace, &room).await?);
    }
    Ok(values)
}

async fn send(
    mut sending: crate::editor::Sending,
    room: Room,
    updates: Vec<Vec<u8>>,
) -> Result<crate::editor::Sending> {
    sending.send(binary(room.step_1(&[0]))).await?;
    for (number, update) in updates.iter().enumerate() {
        sending.feed(binary(room.update(update))).await?;
        if number % FLUSH == FLUSH - 1 {
            sending.flush().await?;
        }
    }
    sending.send(binary(room.step_1(&[0]))).await?;
    Ok(sending)
}

/// Reads until the next answer to a step 1.
async fn answer(receiving: &mut Receiving, room: &Room) -> Result<()> {
    loop {
        let frame: Bytes = next_frame(receiving)
            .await?
            .context("the socket has ended")?;
        if matches!(room.read(&frame)?, Said::Step2(_)) {
            return Ok(());
        }
    }
}

/// Opens the document anew; milliseconds until its state was there.
async fn open(trace: &Trace, room: &Room) -> Result<f64> {
    let least = trace.state_bytes / 2;
    let (parts, took, _socket) = timeout(PATIENCE, fetch(room, least)).await??;
    let replica = TextReplica::new(5);
    for part in parts {
        replica.integrate(&part)?;
    }
    ensure!(replica.content() == trace.text, "the text is another one");
    Ok(took.as_secs_f64() * 1e3)
}
