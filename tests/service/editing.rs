//! A person at an editor, without the wire: a replica and a connection to a live document.

use bytes::Bytes;
use domain::document::{Connection, Content, Inbound, Node, Outbound};
use domain::ids::WorkId;
use serde_json::Value;
use yrs::TransactionMut;

use crate::replica::{Replica, Roots};
use crate::studio::{Process, Studio, receive, soon};

/// The content of a structured work with these nodes.
pub(crate) fn nodes_of(nodes: Value) -> Content {
    let mut nodes = nodes;
    for (number, node) in nodes.as_array_mut().expect("a list").iter_mut().enumerate() {
        let node = node.as_object_mut().expect("a node");
        node.entry("type").or_insert("node".into());
        node.entry("order").or_insert(format!("B{number}").into());
    }
    let nodes: Vec<Node> = serde_json::from_value(nodes).expect("nodes");
    Content {
        nodes,
        ..Content::default()
    }
}

/// The owner at an editor.
pub(crate) struct LiveEditor {
    pub(crate) work: WorkId,
    replica: Replica,
    connection: Connection,
}

impl LiveEditor {
    /// Opens a work, and has what the server has.
    pub(crate) async fn open(studio: &Studio, process: &Process, work: WorkId) -> Self {
        let connection = studio.join(process, work).await;
        let replica = Replica::new();
        connection
            .send(Inbound::SyncStep1(replica.state_vector().into()))
            .await;
        let editor = Self {
            work,
            replica,
            connection,
        };
        editor
            .take_until("the difference", |frame| {
                matches!(frame, Outbound::SyncStep2(_))
            })
            .await;
        editor
    }

    /// Changes the document, and returns when that is stored.
    pub(crate) async fn edit(&self, edit: impl FnOnce(&mut TransactionMut<'_>, &Roots)) {
        let update = Bytes::from(self.replica.change(edit));
        self.connection.send(Inbound::Update(update)).await;
        self.take_until("the acknowledgement", |frame| {
            matches!(frame, Outbound::Acknowledged(true))
        })
        .await;
    }

    /// Takes what comes until the replica fits.
    pub(crate) async fn sees(&self, what: &str, fits: impl Fn(&Replica) -> bool) {
        soon(what, async {
            while !fits(&self.replica) {
                let frame = self.connection.next().await;
                self.take(&frame.expect("the connection stands"));
            }
        })
        .await;
    }

    async fn take_until(&self, what: &str, fits: impl Fn(&Outbound) -> bool) {
        receive(&self.connection, what, |frame| {
            self.take(frame);
            fits(frame)
        })
        .await;
    }

    fn take(&self, frame: &Outbound) {
        if let Outbound::SyncStep2(update) | Outbound::Update(update) = frame {
            self.replica.apply(update);
        }
    }
}
