//! A work of the stage: what the tools of works do to it, in memory.

use domain::ids::WorkId;
use domain::turn::CallState;
use domain::work::WorkKind;
use serde_json::{Map, Value, json};

/// A work.
pub(super) struct Board {
    pub(super) id: WorkId,
    pub(super) kind: WorkKind,
    pub(super) title: String,
    pub(super) version: u64,
    pub(super) nodes: Vec<(String, Map<String, Value>)>,
    pub(super) edges: Vec<(String, String)>,
    pub(super) text: String,
}

impl Board {
    pub(super) fn new(arguments: &Value) -> Self {
        let kind = arguments["kind"].as_str().expect("a kind").to_uppercase();
        let text = arguments["text"].as_str().unwrap_or_default().to_owned();
        Self {
            id: WorkId::new(),
            kind: WorkKind::from_name(&kind).expect("a kind of work"),
            title: arguments["title"].as_str().expect("a title").to_owned(),
            version: u64::from(!text.is_empty()),
            nodes: Vec::new(),
            edges: Vec::new(),
            text,
        }
    }

    pub(super) fn ids(&self) -> Vec<&str> {
        self.nodes.iter().map(|(id, _)| id.as_str()).collect()
    }

    /// A field of a node.
    pub(super) fn field(&self, id: &str, field: &str) -> Value {
        let node = self.nodes.iter().find(|(known, _)| known == id);
        node.map_or(Value::Null, |(_, fields)| {
            fields.get(field).cloned().unwrap_or_default()
        })
    }

    pub(super) fn read(&self, arguments: &Value) -> Value {
        let only: Option<Vec<&str>> = arguments["node_ids"]
            .as_array()
            .map(|ids| ids.iter().filter_map(Value::as_str).collect());
        let is_wanted = |id: &str| only.as_ref().is_none_or(|only| only.contains(&id));
        let nodes = self.nodes.iter().filter(|(id, _)| is_wanted(id));
        let nodes: Vec<_> = nodes
            .map(|(id, fields)| json!({"id": id, "type": "any", "fields": fields}))
            .collect();
        let edge = |(from, to): &(String, String)| json!({"id": format!("{from}>{to}"), "source": from, "target": to});
        let edges: Vec<_> = self.edges.iter().map(edge).collect();
        json!({"version": self.version, "nodes": nodes, "edges": edges, "text": self.text})
    }

    /// Carries out an edit; the state of its call, its result and why it failed.
    pub(super) fn edit(&mut self, tool: &str, arguments: &Value) -> (CallState, Value, String) {
        let done = match tool {
            "edit_nodes" => self.operate(arguments),
            "edit_text" => self.replace(arguments),
            _ => {
                arguments["text"]
                    .as_str()
                    .expect("a text")
                    .clone_into(&mut self.text);
                Ok(())
            }
        };
        match done {
            Ok(()) => {
                self.version += 1;
                (
                    CallState::Done,
                    json!({"version": self.version, "nodeIds": []}),
                    String::new(),
                )
            }
            Err((result, error)) => (CallState::Failed, result, error),
        }
    }

    fn replace(&mut self, arguments: &Value) -> Result<(), (Value, String)> {
        for replacement in arguments["replacements"].as_array().expect("replacements") {
            let find = replacement["find"].as_str().expect("a text");
            let occurrences = self.text.matches(find).count();
            if occurrences != 1 {
                let result = json!({"__typename": "TextNotUnique", "find": find, "occurrences": occurrences});
                return Err((result, "not once".to_owned()));
            }
            self.text = self
                .text
                .replace(find, replacement["replace"].as_str().expect("a text"));
        }
        Ok(())
    }

    fn operate(&mut self, arguments: &Value) -> Result<(), (Value, String)> {
        assert!(arguments["base_version"].as_u64().expect("a base") <= self.version);
        for operation in arguments["operations"].as_array().expect("operations") {
            let (name, value) = operation
                .as_object()
                .expect("one")
                .iter()
                .next()
                .expect("one");
            let text = |key: &str| value[key].as_str().map(str::to_owned);
            let after = text("after");
            match name.as_str() {
                "put" => self.put(value, after)?,
                "set" => {
                    let at = self.place(&text("nodeId").expect("an id"))?;
                    let fields = value["fields"].as_object().expect("fields").clone();
                    self.nodes[at].1.extend(fields);
                }
                "move" => {
                    let at = self.place(&text("nodeId").expect("an id"))?;
                    let node = self.nodes.remove(at);
                    self.insert(node, after)?;
                }
                "remove" => {
                    let id = value.as_str().expect("an id");
                    let at = self.place(id)?;
                    self.nodes.remove(at);
                    self.edges.retain(|(from, to)| from != id && to != id);
                }
                "connect" => self.edges.push((
                    text("source").expect("an id"),
                    text("target").expect("an id"),
                )),
                "disconnect" => {
                    let id = value.as_str().expect("an id");
                    self.edges.retain(|(from, to)| format!("{from}>{to}") != id);
                }
                other => panic!("{other} is no operation"),
            }
        }
        Ok(())
    }

    fn put(&mut self, node: &Value, after: Option<String>) -> Result<(), (Value, String)> {
        let id = node["id"].as_str().expect("an id").to_owned();
        if self.ids().contains(&id.as_str()) {
            return Err((Value::Null, format!("there is a node {id}")));
        }
        let fields = node["fields"].as_object().expect("fields").clone();
        self.insert((id, fields), after)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers make the value on the spot"
    )]
    fn insert(
        &mut self,
        node: (String, Map<String, Value>),
        after: Option<String>,
    ) -> Result<(), (Value, String)> {
        let at = match after.as_deref() {
            None => self.nodes.len(),
            Some("") => 0,
            Some(id) => self.place(id)? + 1,
        };
        self.nodes.insert(at, node);
        Ok(())
    }

    fn place(&self, id: &str) -> Result<usize, (Value, String)> {
        let found = self.nodes.iter().position(|(known, _)| known == id);
        found.ok_or_else(|| {
            (
                json!({"__typename": "NodeConflict"}),
                format!("{id} is gone"),
            )
        })
    }
}
