//! The way through the API: `createTask` over GraphQL, and the task's delivery heard on a subscription.
//!
//! Invariants
//! - Each client has a workspace and a socket of its own, and knows nothing but what the API tells.
//! - The server makes no vectors for searching by meaning, unless the environment names who should: no other system does.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::outcome::Outcome;
use super::{Database, Measured};
use crate::process::{Process, free_port, set_up_atelier};

/// The secret of the first owner's token.
const SECRET: &str = "bench-only-0123456789abcdef0123456789abcdef";

const EVENTS: &str = "subscription ($id: ID!) { workspaceEvents(workspaceId: $id) { kind data } }";
const CREATE: &str =
    "mutation ($input: CreateTaskInput!) { createTask(input: $input) { task { id } } }";
const WORKSPACE: &str =
    "mutation { createWorkspace(input: {name: \"Bench\"}) { workspace { id } } }";

/// Starts a server on this database, lets clients work for a time, and stops it.
pub(super) async fn run(
    programs: &Path,
    data: &Path,
    database: Option<&Database>,
    (clients, seconds): (usize, u64),
) -> Result<Measured> {
    let port = free_port()?;
    let mut command = Command::new(programs.join("atelier"));
    set_up_atelier(&mut command, port, &data.join("data"), SECRET);
    command
        .env("ATELIER_MODEL_PROVIDER", "instant")
        .env("ATELIER_LOG", "warn");
    if let Some(database) = database {
        command.env("ATELIER_DATABASE_URL", &database.url);
    }
    let server = Process::start(command, port, &data.join("log"))?;
    let mut working = Vec::new();
    for _ in 0..clients {
        working.push(Client::connect(port).await?);
    }
    let mut working = load(working, Duration::from_secs(1)).await?.0;
    let before = server.processor_seconds()?;
    let database_before = Database::seconds(database)?;
    let began = Instant::now();
    let times_us;
    (working, times_us) = load(working, Duration::from_secs(seconds)).await?;
    let outcome = Outcome {
        elapsed_s: began.elapsed().as_secs_f64(),
        processor_s: server.processor_seconds()? - before,
        memory_kib: server.peak_kib()?,
        times_us,
    };
    let database_s = Database::seconds(database)? - database_before;
    drop(working);
    server.stop()?;
    Ok(Measured {
        outcome,
        database_s,
    })
}

async fn load(clients: Vec<Client>, time: Duration) -> Result<(Vec<Client>, Vec<u64>)> {
    let until = Instant::now() + time;
    let running: Vec<_> = clients
        .into_iter()
        .map(|client| tokio::spawn(client.work(until)))
        .collect();
    let (mut clients, mut times) = (Vec::new(), Vec::new());
    for client in running {
        let (client, own) = client.await??;
        clients.push(client);
        times.extend(own);
    }
    Ok((clients, times))
}

struct Client {
    requests: reqwest::Client,
    url: String,
    workspace: String,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Client {
    async fn connect(port: u16) -> Result<Self> {
        let requests = reqwest::Client::new();
        let url = format!("http://127.0.0.1:{port}/graphql");
        let made = ask(&requests, &url, WORKSPACE, json!({})).await?;
        let id = made["createWorkspace"]["workspace"]["id"].as_str();
        let workspace = id.context("no workspace was made")?.to_owned();
        let mut request = format!("ws://127.0.0.1:{port}/graphql").into_client_request()?;
        let protocol = "graphql-transport-ws".parse()?;
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocol);
        let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
        let authorization = format!("Bearer {SECRET}");
        let init = json!({"type": "connection_init", "payload": {"authorization": authorization}});
        socket.send(Message::text(init.to_string())).await?;
        let acknowledged = next(&mut socket).await?;
        ensure!(acknowledged["type"] == "connection_ack", "{acknowledged}");
        let payload = json!({"query": EVENTS, "variables": {"id": workspace}});
        let subscribe = json!({"type": "subscribe", "id": "1", "payload": payload});
        socket.send(Message::text(subscribe.to_string())).await?;
        Ok(Self {
            requests,
            url,
            workspace,
            socket,
        })
    }

    /// One task after the other, each until it is delivered; how long each took, in microseconds.
    async fn work(mut self, until: Instant) -> Result<(Self, Vec<u64>)> {
        let mut times = Vec::new();
        while Instant::now() < until {
            let began = Instant::now();
            let input = json!({"workspaceId": self.workspace, "goal": "ten steps"});
            let made = ask(&self.requests, &self.url, CREATE, json!({"input": input})).await?;
            ensure!(made["createTask"]["task"]["id"].is_string(), "{made}");
            self.delivered().await?;
            times.push(began.elapsed().as_micros() as u64);
        }
        Ok((self, times))
    }

    /// Waits until a task of the workspace is delivered: it has one at a time.
    async fn delivered(&mut self) -> Result<()> {
        loop {
            let heard = next(&mut self.socket).await?;
            let event = &heard["payload"]["data"]["workspaceEvents"];
            ensure!(heard["type"] == "next" && event.is_object(), "{heard}");
            if event["kind"] == "TASK_STATUS_CHANGED" && event["data"]["to"] == "DELIVERED" {
                return Ok(());
            }
        }
    }
}

async fn next(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>) -> Result<Value> {
    loop {
        match socket.next().await.context("the socket has ended")?? {
            Message::Text(text) => {
                let heard: Value = serde_json::from_str(&text)?;
                if heard["type"] != "ping" {
                    return Ok(heard);
                }
            }
            Message::Close(frame) => bail!("the socket was closed: {frame:?}"),
            _ => {}
        }
    }
}

async fn ask(
    requests: &reqwest::Client,
    url: &str,
    document: &str,
    variables: Value,
) -> Result<Value> {
    let body = json!({"query": document, "variables": variables});
    let answer = requests.post(url).bearer_auth(SECRET).json(&body).send();
    let answer: Value = answer.await?.json().await?;
    ensure!(answer.get("errors").is_none(), "{answer}");
    Ok(answer["data"].clone())
}
