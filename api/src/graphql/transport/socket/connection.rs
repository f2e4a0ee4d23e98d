//! One socket: reads what the client says, and owns the operations it started.
//!
//! Invariants
//! - The socket reads on while the token is looked up and while operations run; operations never keep it from hearing
//!   `complete`.
//! - When it ends, for whatever reason, its operations are cancelled and joined.
//!
//! Not here: writing (`writer`), execution (`operation`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::ServerError;
use axum::extract::ws::{Message, WebSocket};
use futures_util::future::BoxFuture;
use futures_util::stream::SplitStream;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::super::endpoint::{ConnectionGuard, Endpoint, RequestId};
use super::super::request::Parameters;
use super::message::{ClientMessage, Closing, ServerMessage, parse};
use super::operation::{Operation, QUEUE};
use super::writer::{Command, Running, write};
use crate::auth::Caller;
use crate::graphql::error::{Code, Refusal};

/// Control frames that may wait; when it is full the client is not read, so it can only hold up itself.
const COMMANDS: usize = 32;
/// How long a closed socket is kept to hear the client's own close frame.
const LINGER: Duration = Duration::from_secs(1);

/// Serves a socket to its end.
pub(super) async fn serve(endpoint: Endpoint, socket: WebSocket) {
    let (sink, mut incoming) = socket.split();
    let (commands, queue) = mpsc::channel(COMMANDS);
    let gone = CancellationToken::new();
    let mut writer = tokio::spawn(write(sink, queue, gone.clone()));
    let mut connection = Connection {
        phase: Phase::Waiting(Instant::now() + endpoint.settings().init_wait),
        endpoint,
        commands,
        gone,
        operations: HashMap::new(),
        tasks: JoinSet::new(),
    };
    let closing = connection.listen(&mut incoming).await;
    connection.stop().await;
    if let Some(closing) = closing {
        // A full queue means that the client does not read, so it will not read this either.
        let _ = connection.commands.try_send(Command::Close(closing));
    }
    drop(connection);
    // What the client still sends is read, because closing over unread bytes resets the connection under the close frame.
    let unread = async { while let Some(Ok(_)) = incoming.next().await {} };
    if timeout(LINGER, futures_util::future::join(unread, &mut writer))
        .await
        .is_err()
    {
        writer.abort();
    }
}

enum Phase {
    /// Nothing is known of the client; it has until then to say who it is.
    Waiting(Instant),
    /// Its token is being looked up.
    Checking(BoxFuture<'static, Result<Caller, Refusal>>),
    /// It may run operations, until it is revoked.
    Ready {
        caller: Caller,
        revoked: BoxFuture<'static, ()>,
        _counted: ConnectionGuard,
    },
}

struct Connection {
    endpoint: Endpoint,
    phase: Phase,
    commands: mpsc::Sender<Command>,
    gone: CancellationToken,
    operations: HashMap<String, Arc<Running>>,
    tasks: JoinSet<()>,
}

/// What ends a phase.
enum Turn {
    InitTimeout,
    Checked(Result<Caller, Refusal>),
    Revoked,
}

impl Phase {
    async fn turn(&mut self) -> Turn {
        match self {
            Self::Waiting(deadline) => {
                sleep_until(*deadline).await;
                Turn::InitTimeout
            }
            Self::Checking(checked) => Turn::Checked(checked.await),
            Self::Ready { revoked, .. } => {
                revoked.await;
                Turn::Revoked
            }
        }
    }
}

impl Connection {
    /// Reads until the socket ends; the reason to close it with, if it is ours to close.
    async fn listen(&mut self, incoming: &mut SplitStream<WebSocket>) -> Option<Closing> {
        let (shutdown, gone) = (self.endpoint.shutdown().clone(), self.gone.clone());
        let period = self.endpoint.settings().ping_interval;
        let mut pings = interval(period);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pings.tick().await;
        let mut heard = Instant::now();
        loop {
            let step = tokio::select! {
                biased;
                () = shutdown.cancelled() => Err(Closing::Restart),
                () = gone.cancelled() => return None,
                turn = self.phase.turn() => self.turn(turn).await,
                frame = incoming.next() => match frame {
                    Some(Ok(Message::Close(_))) | None => return None,
                    Some(Ok(frame)) => {
                        heard = Instant::now();
                        self.hear(frame).await
                    }
                    Some(Err(error)) => return closing_of(&error),
                },
                _ = pings.tick() => {
                    if heard.elapsed() > period.mul_f32(2.5) {
                        return None;
                    }
                    self.tell(Command::Ping).await;
                    Ok(())
                }
            };
            if let Err(closing) = step {
                return Some(closing);
            }
        }
    }

    async fn turn(&mut self, turn: Turn) -> Result<(), Closing> {
        let caller = match turn {
            Turn::InitTimeout => return Err(Closing::InitTimeout),
            Turn::Revoked => return Err(Closing::Forbidden("The token is no longer good".into())),
            Turn::Checked(Ok(caller)) => caller,
            Turn::Checked(Err(refusal))
                if matches!(refusal.code, Code::Unauthenticated | Code::Forbidden) =>
            {
                return Err(Closing::Forbidden(refusal.message.into()));
            }
            Turn::Checked(Err(_)) => {
                return Err(Closing::TryLater("The token could not be checked"));
            }
        };
        let Some(counted) = self.endpoint.count_connection(caller.user) else {
            return Err(Closing::TryLater("Too many connections of this person"));
        };
        let revoked = self.endpoint.clone().revoked(caller).boxed();
        self.phase = Phase::Ready {
            caller,
            revoked,
            _counted: counted,
        };
        self.tell(Command::Send(ServerMessage::ConnectionAck.to_json()))
            .await;
        Ok(())
    }

    async fn hear(&mut self, frame: Message) -> Result<(), Closing> {
        match frame {
            Message::Text(text) if text.len() > self.endpoint.settings().max_message => {
                Err(Closing::TooLarge)
            }
            Message::Text(text) => self.obey(parse(&text)?).await,
            Message::Binary(_) => Err(Closing::Malformed("Messages are text".into())),
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
        }
    }

    async fn obey(&mut self, message: ClientMessage) -> Result<(), Closing> {
        match message {
            ClientMessage::Ping => {
                self.tell(Command::Send(ServerMessage::Pong.to_json()))
                    .await;
            }
            ClientMessage::Pong => {}
            ClientMessage::ConnectionInit(secret) => {
                let Phase::Waiting(_) = self.phase else {
                    return Err(Closing::InitTwice);
                };
                let endpoint = self.endpoint.clone();
                let check = async move {
                    endpoint
                        .authenticate(secret.as_deref(), &RequestId::generate())
                        .await
                };
                self.phase = Phase::Checking(check.boxed());
            }
            ClientMessage::Subscribe { id, parameters } => {
                let Phase::Ready { caller, .. } = self.phase else {
                    return Err(Closing::SubscribedTooEarly);
                };
                return self.subscribe(caller, id, *parameters).await;
            }
            ClientMessage::Complete { id } => {
                if let Some(operation) = self.operations.remove(&id) {
                    operation.cancelled.cancel();
                }
            }
        }
        Ok(())
    }

    async fn subscribe(
        &mut self,
        caller: Caller,
        id: String,
        parameters: Parameters,
    ) -> Result<(), Closing> {
        self.operations
            .retain(|_, operation| !operation.has_ended());
        while self.tasks.try_join_next().is_some() {}
        let open = self.operations.len();
        let running = match self.operations.entry(id.clone()) {
            Entry::Occupied(_) => return Err(Closing::IdInUse(id)),
            Entry::Vacant(_) if open >= self.endpoint.settings().operations_per_socket => {
                let error = too_many(open);
                self.tell(Command::Send(
                    ServerMessage::Error {
                        id: &id,
                        payload: &[error],
                    }
                    .to_json(),
                ))
                .await;
                return Ok(());
            }
            Entry::Vacant(place) => place.insert(Arc::default()).clone(),
        };
        let (queue, messages) = mpsc::channel(QUEUE);
        self.tell(Command::Attach(ReceiverStream::new(messages)))
            .await;
        let operation = Operation {
            endpoint: self.endpoint.clone(),
            caller,
            id,
            running,
            queue,
        };
        self.tasks.spawn(operation.run(parameters));
        Ok(())
    }

    /// Hands a command to the writer; gives up when the socket or the server ends meanwhile.
    async fn tell(&mut self, command: Command) {
        tokio::select! {
            biased;
            () = self.gone.cancelled() => {}
            // An error means that the writer has ended, which `gone` tells the reader.
            _ = self.commands.send(command) => {}
            () = self.endpoint.shutdown().cancelled() => {}
        }
    }

    async fn stop(&mut self) {
        for operation in self.operations.values() {
            operation.cancelled.cancel();
        }
        self.tasks.shutdown().await;
    }
}

fn too_many(limit: usize) -> ServerError {
    let message =
        format!("one socket runs at most {limit} operations at once; complete some first");
    Refusal::service(Code::TooManyOperations, message).to_error()
}

/// The reason to close a socket whose frames cannot be read any more; the library tells it in words only.
fn closing_of(error: &axum::Error) -> Option<Closing> {
    error
        .to_string()
        .contains("too long")
        .then_some(Closing::TooLarge)
}
