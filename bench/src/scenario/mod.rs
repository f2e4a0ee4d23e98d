//! Scenarios: the same load for every server, and what is measured in each.
//!
//! Invariants
//! - A scenario starts a server on an empty data folder and stops it at the end.
//! - Whoever loses an edit, or leaves editors with different documents, has failed and gets no numbers.

mod load;
mod open;
mod reconnect;
mod trace;

use std::sync::Arc;

use anyhow::Result;
use clap::ValueEnum;

use crate::crowd::{Counts, Crowd};
use crate::editor::Editor;
use crate::peer::{Kind, Needs, Peer, Places, Server};
use crate::replica::Replica;
use crate::table::Values;

pub(crate) use trace::Trace;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scenario {
    /// 10 documents x 4 editors, 8 edits of each under way: as fast as it goes.
    Closed,
    /// 20 documents x 5 editors x 8 edits a second, with awareness: how long edits take.
    Rooms,
    /// 500 open documents of 200 edits: memory.
    Open,
    /// 200 editors of 10 documents come back at once, with nothing.
    Reconnect,
    /// 259,778 edits of one text by one editor; then opening it warm, and cold after a restart.
    Trace,
}

/// How much of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// For numbers.
    Full,
    /// For a look whether it works: a minute or two.
    Quick,
}

/// What a scenario is run with.
pub(crate) struct Run<'a> {
    /// The server.
    pub(crate) peer: Peer,
    /// Where things lie.
    pub(crate) places: &'a Places,
    /// The name of its data folder.
    pub(crate) name: String,
    /// How much.
    pub(crate) size: Size,
    /// The edits of the trace.
    pub(crate) trace: &'a Trace,
}

impl Scenario {
    /// What it asks of a server.
    pub(crate) fn needs(self) -> Needs {
        match self {
            Self::Closed | Self::Rooms => Needs::Relay,
            Self::Open | Self::Reconnect | Self::Trace => Needs::Memory,
        }
    }

    /// Runs it; what was measured.
    pub(crate) async fn run(self, run: &Run<'_>) -> Result<Values> {
        let server = Server::start(run.peer, run.places, &run.name).await?;
        match self {
            Self::Closed => load::closed(run, server).await,
            Self::Rooms => load::rooms(run, server).await,
            Self::Open => open::run(run, server).await,
            Self::Reconnect => reconnect::run(run, server).await,
            Self::Trace => trace::run(run, server).await,
        }
    }
}

/// The editors of many documents.
struct Gathering {
    counts: Arc<Counts>,
    /// By document.
    crowds: Vec<Vec<Editor>>,
}

impl Gathering {
    /// Opens documents with this many editors each; the first of each makes its shots, with edits in them.
    async fn open(server: &Server, documents: usize, editors: usize, edits: usize) -> Result<Self> {
        let counts = Arc::new(Counts::default());
        let mut crowds = Vec::with_capacity(documents);
        for document in 0..documents {
            let room = server
                .make(&format!("document-{document}"), Kind::Storyboard)
                .await?;
            let crowd = Crowd::new(editors, counts.clone());
            let mut members = Vec::with_capacity(editors);
            for author in 0..editors {
                let client = 1 + (document * editors + author) as u64;
                let mut replica = Replica::new(author, client * 7_919);
                let shots = (author == 0).then(|| replica.make_shots(edits));
                let editor = Editor::open(&room, author, replica, &crowd).await?;
                if let Some(shots) = shots {
                    editor.send(room.update(&shots)).await;
                    editor.synced().await?;
                }
                members.push(editor);
            }
            crowds.push(members);
        }
        let gathering = Self { counts, crowds };
        gathering.take_shots().await?;
        Ok(gathering)
    }

    /// The shots of the first editor, in every replica: a relay does not remember them.
    async fn take_shots(&self) -> Result<()> {
        for members in &self.crowds {
            let first = &members[0];
            let shots = crate::crowd::lock(&first.replica).difference(&[0])?;
            for member in &members[1..] {
                let mut replica = crate::crowd::lock(&member.replica);
                replica.keep(shots.clone().into());
                replica.integrate()?;
            }
        }
        for editor in self.editors() {
            editor.synced().await?;
        }
        Ok(())
    }

    fn editors(&self) -> impl Iterator<Item = &Editor> {
        self.crowds.iter().flatten()
    }
}
