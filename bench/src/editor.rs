//! An editor: a replica, its socket, and the two tasks that read and write it.
//!
//! Invariants
//! - An editor is open when the server has answered its question for what it lacks.
//! - A socket that ends before the editor leaves is noted, and fails the load.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::crowd::{Crowd, lock};
use crate::replica::Replica;
use crate::wire::{Room, Said};

/// How long anything may take before the run is given up.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// Frames that wait for the socket; the editor waits when there are more.
const FRAMES: usize = 1_024;

/// A socket to a server.
pub(crate) type Socket = WebSocketStream<TcpStream>;
/// The half of it that is written.
pub(crate) type Sending = SplitSink<Socket, Message>;
/// The half of it that is read.
pub(crate) type Receiving = SplitStream<Socket>;

/// An open editor.
pub(crate) struct Editor {
    /// Where it is.
    pub(crate) room: Room,
    /// Its number among the editors of its document.
    pub(crate) author: usize,
    /// Its copy.
    pub(crate) replica: Arc<Mutex<Replica>>,
    /// Its document's editors.
    pub(crate) crowd: Arc<Crowd>,
    frames: mpsc::Sender<Vec<u8>>,
    replies: watch::Receiver<u64>,
    asked: AtomicU64,
    is_over: watch::Receiver<bool>,
    tasks: JoinSet<()>,
}

impl Editor {
    /// Opens a document.
    pub(crate) async fn open(
        room: &Room,
        author: usize,
        replica: Replica,
        crowd: &Arc<Crowd>,
    ) -> Result<Self> {
        let (sending, receiving) = connect(room).await?.split();
        let (frames, outgoing) = mpsc::channel(FRAMES);
        let (replies, seen) = watch::channel(0);
        let (over, is_over) = watch::channel(false);
        let editor = Self {
            room: room.clone(),
            author,
            replica: Arc::new(Mutex::new(replica)),
            crowd: crowd.clone(),
            frames,
            replies: seen,
            asked: AtomicU64::new(0),
            is_over,
            tasks: JoinSet::new(),
        };
        editor
            .start(sending, receiving, outgoing, (replies, over))
            .await
    }

    async fn start(
        mut self,
        sending: Sending,
        receiving: Receiving,
        outgoing: mpsc::Receiver<Vec<u8>>,
        (replies, over): (watch::Sender<u64>, watch::Sender<bool>),
    ) -> Result<Self> {
        self.tasks.spawn(write(sending, outgoing));
        let reader = Reader {
            room: self.room.clone(),
            author: self.author,
            replica: self.replica.clone(),
            crowd: self.crowd.clone(),
            frames: self.frames.clone(),
            replies,
        };
        self.tasks.spawn(async move {
            // A socket that ends is seen in `is_over`, whatever ended it.
            let _ = reader.run(receiving).await;
            over.send_replace(true);
        });
        self.synced().await?;
        Ok(self)
    }

    /// Sends a frame; one for a socket that has ended is lost, and the end is seen elsewhere.
    pub(crate) async fn send(&self, frame: Vec<u8>) {
        let _ = self.frames.send(frame).await;
    }

    /// Makes an edit and sends it.
    pub(crate) async fn edit(&self, at: u64) {
        let update = lock(&self.replica).edit(at);
        self.crowd.sends(self.author);
        self.send(self.room.update(&update)).await;
    }

    /// Asks for what it lacks, and waits for the answer: all that was sent before has been taken by then.
    pub(crate) async fn synced(&self) -> Result<()> {
        let known = lock(&self.replica).state_vector();
        self.send(self.room.step_1(&known)).await;
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let mut replies = self.replies.clone();
        let answered = timeout(PATIENCE, replies.wait_for(|replies| *replies >= asked)).await;
        answered
            .context("no answer to a sync step 1")?
            .context("the socket has ended")?;
        Ok(())
    }

    /// Whether its socket has ended.
    pub(crate) fn is_over(&self) -> bool {
        *self.is_over.borrow()
    }

    /// Goes without a word, as a lost network does.
    pub(crate) async fn vanish(mut self) {
        self.tasks.shutdown().await;
    }
}

struct Reader {
    room: Room,
    author: usize,
    replica: Arc<Mutex<Replica>>,
    crowd: Arc<Crowd>,
    frames: mpsc::Sender<Vec<u8>>,
    replies: watch::Sender<u64>,
}

impl Reader {
    async fn run(self, mut receiving: Receiving) -> Result<()> {
        let mut got = self.crowd.got();
        while let Some(frame) = next_frame(&mut receiving).await? {
            match self.room.read(&frame)? {
                Said::Update(update) => {
                    self.crowd.gets(self.author, &mut got, &update);
                    lock(&self.replica).keep(update);
                }
                Said::Step2(update) => {
                    self.crowd.gets(self.author, &mut got, &update);
                    lock(&self.replica).keep(update);
                    self.replies.send_modify(|replies| *replies += 1);
                }
                Said::Step1(known) => {
                    let lacking = lock(&self.replica).difference(&known)?;
                    self.frames.send(self.room.step_2(&lacking)).await?;
                }
                Said::Granted | Said::Other => {}
            }
        }
        Ok(())
    }
}

async fn write(mut sending: Sending, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    while let Some(frame) = outgoing.recv().await {
        let mut next = Some(frame);
        while let Some(frame) = next {
            if sending.feed(binary(frame)).await.is_err() {
                return;
            }
            next = outgoing.try_recv().ok();
        }
        if sending.flush().await.is_err() {
            return;
        }
    }
}

/// A binary message.
pub(crate) fn binary(frame: Vec<u8>) -> Message {
    Message::Binary(frame.into())
}

/// The next binary frame; none at the end.
pub(crate) async fn next_frame(
    receiving: &mut (
             impl StreamExt<Item = Result<Message, tokio_tungstenite::tungstenite::Error>> + Unpin
         ),
) -> Result<Option<Bytes>> {
    while let Some(message) = receiving.next().await {
        match message? {
            Message::Binary(frame) => return Ok(Some(frame)),
            Message::Close(_) => return Ok(None),
            _ => {}
        }
    }
    Ok(None)
}

/// Connects, and shows the token where the protocol has a message for it.
pub(crate) async fn connect(room: &Room) -> Result<Socket> {
    let address = room
        .url
        .split('/')
        .nth(2)
        .context("an address of a socket")?;
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let settings = WebSocketConfig::default()
        .max_message_size(None)
        .max_frame_size(None);
    let (mut socket, _) = client_async_with_config(&room.url, stream, Some(settings)).await?;
    let Some(authentication) = room.authentication() else {
        return Ok(socket);
    };
    socket.send(binary(authentication)).await?;
    while let Some(frame) = next_frame(&mut socket).await? {
        if room.read(&frame)? == Said::Granted {
            return Ok(socket);
        }
    }
    bail!("the socket ended before the token was accepted")
}

/// Opens a document anew and takes its whole state: at least this many bytes of it; how long that took.
pub(crate) async fn fetch(room: &Room, least: usize) -> Result<(Vec<Bytes>, Duration, Socket)> {
    let began = Instant::now();
    let mut socket = connect(room).await?;
    socket.send(binary(room.step_1(&[0]))).await?;
    let mut parts = Vec::new();
    let mut bytes = 0;
    let mut has_reply = false;
    let fetching = async {
        // A server may answer before it has loaded the document, and send the rest later.
        while !has_reply || bytes < least {
            let frame = next_frame(&mut socket)
                .await?
                .context("the socket has ended")?;
            match room.read(&frame)? {
                Said::Step2(update) => {
                    has_reply = true;
                    bytes += update.len();
                    parts.push(update);
                }
                Said::Update(update) => {
                    bytes += update.len();
                    parts.push(update);
                }
                Said::Step1(_) => socket.send(binary(room.step_2(&[0, 0]))).await?,
                Said::Granted | Said::Other => {}
            }
        }
        Ok::<_, anyhow::Error>(())
    };
    timeout(PATIENCE, fetching)
        .await
        .context("the state does not come")??;
    Ok((parts, began.elapsed(), socket))
}
