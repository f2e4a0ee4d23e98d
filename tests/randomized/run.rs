//! A plan carried out, and the judgement at rest.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use yrs::{Any, Map as _, MapPrelim, Text as _};

use super::plan::{EDITORS, Operation};
use crate::harness::editor::replica::{self, Roots};
use crate::harness::works::{RESULT, applied};
use crate::harness::{Editor, Installation, Person, Protocol, Server, Work, eventually};

/// A running plan.
pub(super) struct Run<'a> {
    installation: &'a Installation,
    /// Empty only while one is started again.
    servers: Vec<Option<Server>>,
    owner: Person,
    flow: Work,
    text: Work,
    editors: Vec<Editor>,
}

impl<'a> Run<'a> {
    /// Starts servers, and opens all editors.
    pub(super) async fn start(installation: &'a Installation, count: usize) -> Self {
        let (first, owner) = installation.open().await;
        let mut servers = vec![Some(first)];
        while servers.len() < count {
            servers.push(Some(installation.start().await));
        }
        let flow = owner
            .create_nodes(
                "FLOW",
                json!([{"id": "n0", "fields": {"description": "first"}}]),
            )
            .await;
        let text = owner.create_text("first\n").await;
        let mut run = Self {
            installation,
            servers,
            owner,
            flow,
            text,
            editors: Vec::new(),
        };
        for number in 0..EDITORS {
            let person = run
                .owner
                .invite(&format!("Editor {number}"), "EDITOR")
                .await;
            let person = person.at(run.server(number % count));
            let work = if number % 2 == 0 {
                &run.flow
            } else {
                &run.text
            };
            let protocol = Protocol::ALL[number / 2 % 2];
            run.editors
                .push(Editor::open(&work.by(&person.client), protocol).await);
        }
        run
    }

    fn server(&self, number: usize) -> &Server {
        self.servers[number].as_ref().expect("it runs")
    }

    fn at(&self, work: &Work, server: usize) -> Work {
        work.by(&self.owner.at(self.server(server)).client)
    }

    /// Does one thing; nothing that goes wrong here may be a fault of the server.
    pub(super) async fn carry_out(&mut self, number: usize, operation: &Operation) {
        match operation {
            Operation::Leave { editor } => self.editors[*editor].disconnect().await,
            Operation::Return { editor, server } => self.come_back(*editor, *server).await,
            Operation::Kill { server } => {
                let dying = self.servers[*server].take().expect("it runs");
                dying.kill();
                self.servers[*server] = Some(self.installation.start().await);
            }
            Operation::Stop { server } => {
                let leaving = self.servers[*server].take().expect("it runs");
                leaving.stop().await;
                self.servers[*server] = Some(self.installation.start().await);
            }
            Operation::ProgramSet { .. }
            | Operation::ProgramRemove { .. }
            | Operation::ProgramMove { .. }
            | Operation::ProgramText { .. }
            | Operation::Restore { .. } => self.program(number, operation).await,
            _ => self.edit(operation).await,
        }
    }

    /// An editor comes back with a token of the owner, who may write as well.
    async fn come_back(&mut self, editor: usize, server: usize) {
        let client = self.owner.at(self.server(server)).client;
        let editor = &mut self.editors[editor];
        if !editor.is_connected() {
            let code = editor.closed().await;
            let is_restart = [None, Some(1012), Some(1013)].contains(&code);
            assert!(is_restart, "an editor was sent away with {code:?}");
        }
        assert!(editor.connect(&client).await, "the server can be reached");
        editor.synced().await;
    }

    /// What editors do, whether they are connected or not.
    async fn edit(&self, operation: &Operation) {
        match operation {
            Operation::Type { editor, at, text } => {
                self.editors[*editor]
                    .edit(|txn, roots| roots.text.insert(txn, place(txn, roots, *at), text))
                    .await;
            }
            Operation::Erase { editor, at, count } => {
                self.editors[*editor]
                    .edit(|txn, roots| {
                        let from = place(txn, roots, *at);
                        let count = (*count as u32).min(roots.text.len(txn) - from);
                        roots.text.remove_range(txn, from, count);
                    })
                    .await;
            }
            Operation::Set {
                editor,
                node,
                value,
            } => {
                self.editors[*editor]
                    .edit(|txn, roots| {
                        if roots.nodes.contains_key(txn, node) {
                            replica::set(txn, roots, node, "value", *value);
                        } else {
                            replica::put(txn, roots, node, "a5", "put");
                        }
                    })
                    .await;
            }
            Operation::Describe { editor, node, text } => self.describe(*editor, node, text).await,
            Operation::Remove { editor, node } => {
                self.editors[*editor]
                    .edit(|txn, roots| drop(roots.nodes.remove(txn, node)))
                    .await;
            }
            Operation::Connect {
                editor,
                edge,
                source,
                target,
            } => {
                let ends = [
                    ("source", Any::from(source.as_str())),
                    ("target", Any::from(target.as_str())),
                ];
                self.editors[*editor]
                    .edit(|txn, roots| {
                        let edge = edge.as_str();
                        roots.edges.insert(txn, edge, MapPrelim::from(ends));
                    })
                    .await;
            }
            other => unreachable!("{other:?} is done by no editor"),
        }
    }

    async fn describe(&self, editor: usize, node: &str, text: &str) {
        let editor = &self.editors[editor];
        let is_there = editor
            .read(|replica| replica.node(node))
            .is_some_and(|node| node.contains_key("description"));
        if is_there {
            editor
                .edit(|txn, roots| {
                    if let Some(yrs::Out::YText(prose)) =
                        replica::node(txn, roots, node).get(txn, "description")
                    {
                        prose.insert(txn, 0, text);
                    }
                })
                .await;
        }
    }

    /// What programs do: refusals are part of it, faults are not.
    async fn program(&self, number: usize, operation: &Operation) {
        let (field, input, server) = match operation {
            Operation::ProgramText { server, text } => {
                let base = self.at(&self.text, *server).version().await;
                let input = json!({"workId": self.text.id, "baseVersion": base, "text": text});
                ("replaceText", input, server)
            }
            Operation::Restore {
                server,
                is_text,
                back,
            } => {
                let work = if *is_text { &self.text } else { &self.flow };
                let base = self.at(work, *server).version().await;
                let version = (base - back).max(1);
                let input = json!({"workId": work.id, "version": version, "baseVersion": base});
                ("restoreVersion", input, server)
            }
            other => self.program_on_nodes(number, other).await,
        };
        let client = self.owner.at(self.server(*server)).client;
        let answer = client.mutate(field, input, RESULT).await;
        if answer.body.get("errors").is_some() {
            assert_eq!(answer.code(), "BAD_USER_INPUT", "{operation:?}");
        }
    }

    async fn program_on_nodes<'o>(
        &self,
        number: usize,
        operation: &'o Operation,
    ) -> (&'static str, Value, &'o usize) {
        let (server, behind, change) = match operation {
            Operation::ProgramSet {
                server,
                node,
                value,
                behind,
            } => {
                let is_there = !self.at(&self.flow, *server).node(node).await.is_null();
                let fields = json!({"value": value, "description": format!("program {number}")});
                let change = if is_there {
                    json!({"set": {"nodeId": node, "fields": fields}})
                } else {
                    json!({"put": {"id": node, "fields": fields}})
                };
                (server, *behind, change)
            }
            Operation::ProgramRemove { server, node } => (server, 0, json!({"remove": node})),
            Operation::ProgramMove {
                server,
                node,
                after,
            } => {
                let change = json!({"move": {"nodeId": node, "after": after}});
                (server, 0, change)
            }
            other => unreachable!("{other:?} is done by no program"),
        };
        let base = (self.at(&self.flow, *server).version().await - behind).max(0);
        let input = json!({"workId": self.flow.id, "baseVersion": base, "operations": [change]});
        ("editNodes", input, server)
    }

    /// Everybody comes back, and all that was edited is stored.
    pub(super) async fn come_to_rest(&mut self) {
        for editor in 0..EDITORS {
            self.come_back(editor, editor % self.servers.len()).await;
        }
        for editor in &self.editors {
            assert!(editor.acknowledged().await);
        }
    }

    /// All replicas, a fresh one, GraphQL at each process, and the replayed log say the same.
    pub(super) async fn assert_agreement(self) {
        for (parity, work) in [&self.flow, &self.text].into_iter().enumerate() {
            let replicas: Vec<&Editor> = self.editors.iter().skip(parity).step_by(2).collect();
            for server in 0..self.servers.len() {
                let there = self.at(work, server);
                self.wait_for_calm(&there, &replicas).await;
                let fresh = Editor::open(&there, Protocol::YWebsocket).await;
                assert_shown(&there.content().await, &fresh.content());
                let version = there.version().await;
                assert_eq!(there.content_at(Some(version)).await, there.content().await);
            }
            // Going on from here works: a program's change reaches everybody.
            if parity == 1 {
                let base = self.at(work, 0).version().await;
                applied(&self.at(work, 0).replace_text(base, "the end").await);
                for editor in &replicas {
                    editor
                        .sees("the last change", |replica| replica.text() == "the end")
                        .await;
                }
            }
        }
        for server in self.servers.into_iter().flatten() {
            assert!(!server.log().contains("panicked at"), "something broke off");
            server.stop().await;
        }
        let doctor = self.installation.run(&["doctor"]);
        let said = String::from_utf8_lossy(&doctor.stdout);
        assert!(doctor.status.success(), "{said}");
    }

    /// Waits until all replicas have what the server has: removals of hanging edges may still be on their way.
    async fn wait_for_calm(&self, work: &Work, replicas: &[&Editor]) {
        eventually("all replicas agree", async || {
            let fresh = Editor::open(work, Protocol::Hocuspocus).await;
            let expected = fresh.content();
            replicas.iter().all(|editor| editor.content() == expected)
        })
        .await;
    }
}

/// A place in the text, between whole characters as far as an editor cares.
fn place(txn: &yrs::TransactionMut<'_>, roots: &Roots, at: usize) -> u32 {
    at as u32 % (roots.text.len(txn) + 1)
}

/// Fails where GraphQL shows something else than the document holds.
#[track_caller]
fn assert_shown(shown: &Value, held: &Value) {
    if shown["__typename"] == "TextDocument" {
        assert_eq!(shown["text"], held["text"]);
        return;
    }
    let fields = |node: &Value| {
        let mut fields = node.as_object().expect("a map").clone();
        fields.remove("order");
        fields.remove("type");
        comparable(&json!(fields))
    };
    let held_nodes: BTreeMap<String, Value> = held["nodes"]
        .as_object()
        .expect("nodes")
        .iter()
        .map(|(id, node)| (id.clone(), fields(node)))
        .collect();
    let shown_nodes: BTreeMap<String, Value> = shown["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|node| {
            (
                node["id"].as_str().expect("an id").to_owned(),
                comparable(&node["fields"]),
            )
        })
        .collect();
    assert_eq!(shown_nodes, held_nodes);
    let held_edges = held["edges"].as_object().expect("edges");
    let shown_edges = shown["edges"].as_array().expect("edges");
    assert_eq!(
        shown_edges.len(),
        held_edges.len(),
        "hanging edges are gone at rest: {held}"
    );
    for edge in shown_edges {
        for end in ["source", "target"] {
            let id = edge[end].as_str().expect("an id");
            assert!(held_nodes.contains_key(id), "the edge {edge} hangs");
        }
    }
}

/// Numbers are what they are worth, however they were written.
fn comparable(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Object(entries) => entries
            .iter()
            .map(|(name, value)| (name.clone(), comparable(value)))
            .collect(),
        other => other.clone(),
    }
}
