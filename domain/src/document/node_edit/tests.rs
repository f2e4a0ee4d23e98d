//! The conflict rules of structured edits, example by example.

use serde_json::json;
use yrs::{Doc, GetString, ReadTxn, Transact};

use super::*;
use crate::document::attribution::Attribution;
use crate::document::layout::{Roots, open_document};
use crate::document::read;
use crate::document::{EdgeInput, NodeInput, NodeOperation, Placement};
use crate::ids::{TaskId, UserId, WorkId};
use crate::work::{NodeVersion, WorkKind};
use yrs::{Map as _, Out, Text};

/// A flow at version 3: nodes a, b, c by a person, edge e from a to b.
struct Scene {
    doc: Doc,
    roots: Roots,
    touches: Vec<NodeVersion>,
    person: Actor,
    agent: Actor,
}

impl Scene {
    fn new() -> Self {
        let (doc, roots) = open_document(WorkKind::Flow);
        let mut scene = Self {
            doc,
            roots,
            touches: Vec::new(),
            person: Actor::Person(UserId::new()),
            agent: Actor::Agent {
                task: TaskId::new(),
                turn: 1,
                step: 1,
            },
        };
        let person = scene.person.clone();
        for (version, id) in ["a", "b", "c"].into_iter().enumerate() {
            let title = json!({"title": format!("Node {id}"), "duration": 4});
            scene
                .edit(&person, 0, &[put(id, title, Placement::End)])
                .expect("is new");
            scene.touch(&person, version as u64 + 1, &format!("nodes/{id}"));
        }
        scene
            .edit(&person, 3, &[connect("e", "a", "b")])
            .expect("both are there");
        scene.touch(&person, 3, "edges/e");
        scene
    }

    fn touch(&mut self, actor: &Actor, version: u64, path: &str) {
        self.touches.push(NodeVersion {
            work: WorkId::new(),
            node: path.into(),
            version: Version(version),
            actor: actor.clone(),
        });
    }

    /// Edits at a base without a touch of its own; `touch` adds that.
    fn edit(&self, actor: &Actor, base: u64, operations: &[NodeOperation]) -> Result<(), Refusal> {
        let standpoint = Standpoint {
            actor,
            base: Version(base),
        };
        let attribution = Attribution::new(self.touches.clone());
        let mut txn = self.doc.transact_mut();
        let plan = plan_edit(&txn, &self.roots, &attribution, standpoint, operations)?;
        apply_plan(&mut txn, &self.roots, &plan);
        Ok(())
    }

    fn as_agent(&self, operations: &[NodeOperation]) -> Result<(), Refusal> {
        self.edit(&self.agent, 3, operations)
    }

    fn ids(&self) -> Vec<String> {
        let nodes = read::read_nodes(&self.doc.transact(), &self.roots);
        nodes.into_iter().map(|node| node.id).collect()
    }

    fn edges(&self) -> Vec<String> {
        let edges = read::read_edges(&self.doc.transact(), &self.roots);
        edges.into_iter().map(|edge| edge.id).collect()
    }

    fn field(&self, id: &str, name: &str) -> Value {
        let node = read::read_node(&self.doc.transact(), &self.roots, id).expect("is there");
        node.fields.get(name).cloned().unwrap_or(Value::Null)
    }

    fn state(&self) -> Vec<u8> {
        let nothing = yrs::StateVector::default();
        self.doc.transact().encode_state_as_update_v1(&nothing)
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn put(id: &str, fields: Value, placement: Placement) -> NodeOperation {
    NodeOperation::Put(NodeInput {
        id: Some(id.into()),
        kind: Some("shot".into()),
        fields: object(fields),
        placement,
    })
}

fn set(id: &str, fields: Value) -> NodeOperation {
    NodeOperation::Set {
        node: id.into(),
        fields: object(fields),
    }
}

fn remove(id: &str) -> NodeOperation {
    NodeOperation::Remove(id.into())
}

fn move_to(id: &str, placement: Placement) -> NodeOperation {
    NodeOperation::Move {
        node: id.into(),
        placement,
    }
}

fn connect(id: &str, source: &str, target: &str) -> NodeOperation {
    NodeOperation::Connect(EdgeInput {
        id: Some(id.into()),
        source: source.into(),
        target: target.into(),
        source_port: None,
        target_port: None,
    })
}

fn after(id: &str) -> Placement {
    Placement::After(id.into())
}

fn clashing(result: Result<(), Refusal>) -> Vec<(String, u64)> {
    match result {
        Err(Refusal::Conflict(clashes)) => clashes
            .into_iter()
            .map(|clash| (clash.path, clash.touch.version.0))
            .collect(),
        other => panic!("no conflict: {other:?}"),
    }
}

fn reason(result: Result<(), Refusal>) -> String {
    match result {
        Err(Refusal::Invalid(reason)) => reason,
        other => panic!("not invalid: {other:?}"),
    }
}

fn at(path: &str, version: u64) -> (String, u64) {
    (path.into(), version)
}

#[test]
fn the_same_node_changed_by_a_person_since_is_a_conflict_and_another_is_not() {
    let mut scene = Scene::new();
    scene.touch(&scene.person.clone(), 4, "nodes/b");
    let edit = [
        set("a", json!({"duration": 9})),
        set("b", json!({"duration": 9})),
    ];
    let before = scene.state();
    assert_eq!(clashing(scene.as_agent(&edit)), [at("nodes/b", 4)]);
    assert_eq!(
        scene.state(),
        before,
        "nothing of a refused edit is written"
    );
    scene.as_agent(&edit[..1]).expect("b does not matter");
    assert_eq!(scene.field("a", "duration"), 9);
}

#[test]
fn ones_own_changes_since_the_base_are_no_conflict() {
    let mut scene = Scene::new();
    scene.touch(&scene.person.clone(), 4, "nodes/b");
    let edit = [set("b", json!({"duration": 9}))];
    scene
        .edit(&scene.person, 3, &edit)
        .expect("it was the person");
    scene.touch(&scene.agent.clone(), 5, "nodes/b");
    scene.touch(&scene.person.clone(), 6, "nodes/b");
    assert_eq!(
        clashing(scene.edit(&scene.person, 4, &edit)),
        [at("nodes/b", 5)]
    );
    scene.edit(&scene.person, 5, &edit).expect("5 was seen");
}

#[test]
fn a_node_moved_by_a_person_since_can_not_be_set_moved_or_removed() {
    let mut scene = Scene::new();
    scene
        .edit(&scene.person, 3, &[move_to("c", Placement::First)])
        .expect("moves");
    scene.touch(&scene.person.clone(), 4, "nodes/c");
    for edit in [
        set("c", json!({"x": 1})),
        move_to("c", after("a")),
        remove("c"),
    ] {
        assert_eq!(clashing(scene.as_agent(&[edit])), [at("nodes/c", 4)]);
    }
    assert_eq!(scene.ids(), ["c", "a", "b"]);
    scene
        .as_agent(&[put("d", json!({}), after("c"))])
        .expect("after is a hint");
    assert_eq!(scene.ids(), ["c", "d", "a", "b"]);
}

#[test]
fn a_node_removed_by_a_person_since_is_a_conflict_also_as_the_end_of_an_edge() {
    let mut scene = Scene::new();
    scene
        .edit(&scene.person, 3, &[remove("b")])
        .expect("removes");
    scene.touch(&scene.person.clone(), 4, "nodes/b");
    scene.touch(&scene.person.clone(), 4, "edges/e");
    assert_eq!(scene.edges(), [""; 0]);
    assert_eq!(
        clashing(scene.as_agent(&[set("b", json!({"x": 1}))])),
        [at("nodes/b", 4)]
    );
    assert_eq!(
        clashing(scene.as_agent(&[connect("f", "a", "b")])),
        [at("nodes/b", 4)]
    );
    let disconnect = NodeOperation::Disconnect("e".into());
    assert_eq!(clashing(scene.as_agent(&[disconnect])), [at("edges/e", 4)]);
    assert!(reason(scene.edit(&scene.agent, 4, &[remove("b")])).contains("no node `b`"));
    scene
        .as_agent(&[put("d", json!({}), after("b"))])
        .expect("gone means the end");
    assert_eq!(scene.ids(), ["a", "c", "d"]);
}

#[test]
fn connecting_does_not_touch_the_ends() {
    let mut scene = Scene::new();
    scene.touch(&scene.person.clone(), 4, "nodes/a");
    scene
        .as_agent(&[connect("f", "a", "c")])
        .expect("a is only an end");
    assert_eq!(scene.edges(), ["e", "f"]);
}

#[test]
fn removing_a_node_removes_its_edges() {
    let scene = Scene::new();
    scene
        .as_agent(&[connect("f", "c", "a"), remove("a")])
        .expect("removes");
    assert_eq!(scene.edges(), [""; 0]);
    let txn = scene.doc.transact();
    assert_eq!(scene.roots.edges.as_ref().expect("edges").len(&txn), 0);
}

#[test]
fn an_id_in_use_is_a_conflict_only_if_somebody_else_put_it_since() {
    let mut scene = Scene::new();
    let again = || put("a", json!({}), Placement::End);
    assert!(reason(scene.as_agent(&[again()])).contains("in use"));
    scene
        .edit(&scene.person, 3, &[put("new", json!({}), Placement::End)])
        .expect("puts");
    scene.touch(&scene.person.clone(), 4, "nodes/new");
    let edit = [put("new", json!({}), Placement::End)];
    assert_eq!(clashing(scene.as_agent(&edit)), [at("nodes/new", 4)]);
    let twice = [
        put("d", json!({}), Placement::End),
        put("d", json!({}), Placement::End),
    ];
    assert!(reason(scene.as_agent(&twice)).contains("in use"));
    assert_eq!(scene.ids(), ["a", "b", "c", "new"]);
}

#[test]
fn operations_build_on_earlier_ones_of_the_edit() {
    let scene = Scene::new();
    let edit = [
        put("d", json!({"title": "D"}), after("a")),
        set("d", json!({"duration": 2, "title": "Dawn"})),
        connect("f", "d", "c"),
        move_to("d", Placement::First),
        put("x", json!({}), after("d")),
        remove("b"),
    ];
    scene.as_agent(&edit).expect("all fit");
    assert_eq!(scene.ids(), ["d", "x", "a", "c"]);
    assert_eq!(scene.edges(), ["f"]);
    assert_eq!(scene.field("d", "title"), "Dawn");
    let dead = [remove("d"), set("d", json!({"x": 1}))];
    assert!(reason(scene.as_agent(&dead)).contains("no node `d`"));
    assert_eq!(scene.ids(), ["d", "x", "a", "c"]);
}

#[test]
fn prose_stays_one_text_and_takes_the_smallest_edit() {
    let scene = Scene::new();
    let text = || {
        let txn = scene.doc.transact();
        let node = read::find_node(&txn, &scene.roots, "a").expect("is there");
        match node.get(&txn, "title") {
            Some(Out::YText(text)) => text,
            other => panic!("{other:?} is no text"),
        }
    };
    let held = text();
    held.insert(&mut scene.doc.transact_mut(), 0, "My ");
    scene
        .as_agent(&[set("a", json!({"title": "My node a"}))])
        .expect("sets");
    assert_eq!(held.get_string(&scene.doc.transact()), "My node a");
    assert!(reason(scene.as_agent(&[set("a", json!({"title": 5}))])).contains("prose"));
    scene
        .as_agent(&[set("a", json!({"title": null, "duration": null}))])
        .expect("deletes");
    assert_eq!(scene.field("a", "title"), Value::Null);
}

#[test]
fn shared_maps_of_editors_are_kept_under_an_object() {
    let scene = Scene::new();
    let node = read::find_node(&scene.doc.transact(), &scene.roots, "a").expect("is there");
    let inner = yrs::MapPrelim::from([("x", 1), ("old", 2)]);
    let held = node.insert(&mut scene.doc.transact_mut(), "position", inner);
    let edit = set("a", json!({"position": {"x": 1, "y": {"deep": [1, 2.5]}}}));
    scene.as_agent(&[edit]).expect("sets");
    assert_eq!(
        scene.field("a", "position"),
        json!({"x": 1, "y": {"deep": [1, 2.5]}})
    );
    assert!(held.contains_key(&scene.doc.transact(), "y"));
}

#[test]
fn what_is_there_already_is_not_written_again() {
    let scene = Scene::new();
    let before = scene.state();
    let same = json!({"title": "Node a", "duration": 4.0, "absent": null});
    let edit = [
        set("a", same),
        move_to("b", after("a")),
        move_to("b", after("b")),
    ];
    scene.as_agent(&edit).expect("changes nothing");
    assert_eq!(scene.state(), before);
}

#[test]
fn input_that_fits_no_document_is_refused_with_a_hint() {
    let scene = Scene::new();
    for (fields, hint) in [
        (json!({"type": "x"}), "beside `fields`"),
        (json!({"order": "x"}), "use `move`"),
        (json!({"": 1}), "needs a name"),
        (json!({("n".repeat(201)): 1}), "at most 200"),
    ] {
        let shown = reason(scene.as_agent(&[set("a", fields)]));
        assert!(shown.contains(hint), "{shown}");
    }
    let deep = (0..40).fold(json!(1), |value, _| json!([value]));
    assert!(reason(scene.as_agent(&[set("a", json!({"x": deep}))])).contains("deeper"));
    assert!(reason(scene.as_agent(&[put("", json!({}), Placement::End)])).contains("an id"));
    let (doc, roots) = open_document(WorkKind::Storyboard);
    let standpoint = Standpoint {
        actor: &scene.agent,
        base: Version(0),
    };
    let attribution = Attribution::default();
    let edit = [connect("f", "a", "b")];
    let refused = plan_edit(&doc.transact(), &roots, &attribution, standpoint, &edit);
    assert!(reason(refused.map(drop)).contains("only flows"));
}

#[test]
fn odd_order_keys_of_editors_make_room() {
    let scene = Scene::new();
    {
        let mut txn = scene.doc.transact_mut();
        for id in ["a", "b", "c"] {
            let node = read::find_node(&txn, &scene.roots, id).expect("is there");
            node.insert(&mut txn, "order", "same");
        }
    }
    scene
        .as_agent(&[put("x", json!({}), after("a"))])
        .expect("makes room");
    assert_eq!(scene.ids(), ["a", "x", "b", "c"]);
    scene.as_agent(&[move_to("c", after("a"))]).expect("moves");
    assert_eq!(scene.ids(), ["a", "c", "x", "b"]);
}
