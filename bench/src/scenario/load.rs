//! Editors that edit together: as fast as it goes, or at the pace of people.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{Gathering, Run, Size};
use crate::crowd::{ensure_equal, lock};
use crate::editor::{Editor, PATIENCE};
use crate::peer::Server;
use crate::random::Random;
use crate::stamp;
use crate::table::{Key, Values, quantile};

/// Edits of one editor that may be under way.
const WINDOW: u64 = 8;
/// Edits a second of one person, and awareness updates.
const EDITS_PER_SECOND: f64 = 8.0;
const AWARENESS_PER_SECOND: f64 = 1.0;

/// How editors edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// The next when the others have got those before.
    Closed,
    /// So many a second, whatever happens.
    People,
}

/// As fast as it goes.
pub(super) async fn closed(run: &Run<'_>, server: Server) -> Result<Values> {
    let gathering = Gathering::open(&server, 10, 4, 0).await?;
    let mut values = measure(run, &server, gathering, Pace::Closed).await?;
    values.keep(&[Key::DeliveriesPerSecond, Key::MicrosPerDelivery]);
    Ok(values)
}

/// At the pace of people.
pub(super) async fn rooms(run: &Run<'_>, server: Server) -> Result<Values> {
    let gathering = Gathering::open(&server, 20, 5, 0).await?;
    let mut values = measure(run, &server, gathering, Pace::People).await?;
    values.keep(&[Key::RoomsP50, Key::RoomsP99, Key::RoomsMicrosPerDelivery]);
    Ok(values)
}

async fn measure(
    run: &Run<'_>,
    server: &Server,
    gathering: Gathering,
    pace: Pace,
) -> Result<Values> {
    let (warm_up, duration) = match run.size {
        Size::Full => (3.0, 12.0),
        Size::Quick => (1.0, 4.0),
    };
    let from = stamp::now() + seconds(warm_up);
    let to = from + seconds(duration);
    let counts = gathering.counts.clone();
    counts.measure(from, to);
    let mut writers = JoinSet::new();
    let crowds: Vec<Vec<Arc<Editor>>> = gathering
        .crowds
        .into_iter()
        .map(|members| members.into_iter().map(Arc::new).collect())
        .collect();
    for editor in crowds.iter().flatten() {
        writers.spawn(write(editor.clone(), pace, to));
    }
    sleep(Duration::from_micros(from.saturating_sub(stamp::now()))).await;
    let before = (
        server.process.processor_seconds()?,
        counts.delivered.load(Ordering::Relaxed),
    );
    let began = Instant::now();
    sleep(Duration::from_micros(to.saturating_sub(stamp::now()))).await;
    let took = began.elapsed().as_secs_f64();
    let processor = server.process.processor_seconds()? - before.0;
    let delivered = (counts.delivered.load(Ordering::Relaxed) - before.1) as f64;
    writers.join_all().await;
    arrive(&crowds).await?;
    let latencies = counts.latencies_ms();
    Ok(Values::from([
        (Key::DeliveriesPerSecond, delivered / took),
        (Key::MicrosPerDelivery, processor * 1e6 / delivered),
        (Key::RoomsMicrosPerDelivery, processor * 1e6 / delivered),
        (Key::RoomsP50, quantile(&latencies, 0.50)),
        (Key::RoomsP99, quantile(&latencies, 0.99)),
    ]))
}

fn seconds(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}

async fn write(editor: Arc<Editor>, pace: Pace, until: u64) {
    match pace {
        Pace::Closed => {
            while stamp::now() < until && !editor.is_over() {
                editor.edit(stamp::now()).await;
                tokio::select! {
                    () = editor.crowd.has_room(editor.author, WINDOW) => {}
                    () = sleep(Duration::from_micros(until.saturating_sub(stamp::now()))) => {}
                }
            }
        }
        Pace::People => {
            tokio::join!(edit_at_pace(&editor, until), tell_at_pace(&editor, until));
        }
    }
}

async fn edit_at_pace(editor: &Editor, until: u64) {
    let mut beat = Beat::new(EDITS_PER_SECOND, editor, until);
    while beat.comes().await && !editor.is_over() {
        editor.edit(stamp::now()).await;
    }
}

async fn tell_at_pace(editor: &Editor, until: u64) {
    let mut beat = Beat::new(AWARENESS_PER_SECOND, editor, until);
    let mut clock = 1;
    while beat.comes().await && !editor.is_over() {
        tell(editor, clock).await;
        clock += 1;
    }
}

/// Moments that come so many times a second, and at others for each editor.
struct Beat {
    random: Random,
    period: f64,
    due: f64,
    until: u64,
}

impl Beat {
    fn new(per_second: f64, editor: &Editor, until: u64) -> Self {
        let mut random = Random::new(lock(&editor.replica).client() + per_second as u64);
        let period = 1e6 / per_second;
        Self {
            due: stamp::now() as f64 + random.unit() * period,
            random,
            period,
            until,
        }
    }

    /// Waits for the next; false when it is over.
    async fn comes(&mut self) -> bool {
        sleep(Duration::from_micros(
            (self.due as u64).saturating_sub(stamp::now()),
        ))
        .await;
        self.due += self.period * (0.5 + self.random.unit());
        stamp::now() < self.until
    }
}

/// Says where it is.
async fn tell(editor: &Editor, clock: u64) {
    let client = lock(&editor.replica).client();
    let state = format!(
        "{{\"user\":{{\"name\":\"editor {}\",\"color\":\"#30bced\"}},\"nodeId\":\"shot{}\"}}",
        editor.author,
        clock % 8
    );
    editor
        .send(editor.room.awareness(client, clock, &state))
        .await;
}

/// Waits until everybody has got everything, and compares what they show.
async fn arrive(crowds: &[Vec<Arc<Editor>>]) -> Result<()> {
    let began = Instant::now();
    for members in crowds {
        let crowd = &members[0].crowd;
        while crowd.missing() > 0 && began.elapsed() < PATIENCE {
            sleep(Duration::from_millis(20)).await;
        }
        ensure!(
            crowd.missing() == 0,
            "{} deliveries are missing",
            crowd.missing()
        );
        ensure!(
            members.iter().all(|editor| !editor.is_over()),
            "a socket has ended"
        );
        let replicas: Vec<_> = members
            .iter()
            .map(|editor| editor.replica.clone())
            .collect();
        ensure_equal(&replicas)?;
    }
    Ok(())
}
