//! The conflict table of W3, as the agent's tools meet it: an edit on version 3 while a person does something live.

use domain::actor::Actor;
use domain::document::{
    Applied, ConflictingNode, EditNodes, EditOutcome, NodeInput, NodeOperation, Placement, Version,
};
use domain::work::WorkKind;
use domain::{Error, Result};
use serde_json::{Value, json};
use yrs::Map as _;

use crate::editing::{LiveEditor, nodes_of};
use crate::place::{Place, on_both_databases};
use crate::replica;
use crate::studio::{Process, Studio, later_step, no_key, quick_to_rest};

on_both_databases![
    what_a_person_did_to_the_same_node_is_a_conflict_and_elsewhere_is_reported,
    the_same_holds_on_a_document_that_has_rested_in_between,
    every_other_task_is_somebody_else_and_a_later_step_of_the_same_is_not,
    what_the_agent_did_is_a_conflict_for_a_person,
    an_edge_that_somebody_else_took_away_is_a_conflict_without_content,
];

/// What the person does between version 3, which the agent saw, and the agent's edit.
#[derive(Debug, Clone, Copy)]
enum Live {
    Sets(&'static str),
    Removes(&'static str),
    Moves(&'static str),
    Types(&'static str),
    Adds(&'static str),
}

/// What becomes of the agent's edit.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    /// Applied as version 5; the person's change is reported.
    Applied,
    /// Refused, and this field of the node has this value now.
    Conflict(&'static str, &'static str, Shown),
    /// Refused, and the node is gone.
    Gone(&'static str),
    /// Wrong whatever anybody did.
    Invalid,
}

/// A value of a field.
#[derive(Debug, Clone, Copy)]
enum Shown {
    Number(i64),
    Text(&'static str),
}

impl Shown {
    fn value(self) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Text(text) => json!(text),
        }
    }
}

fn set(id: &str) -> NodeOperation {
    NodeOperation::Set {
        node: id.to_owned(),
        fields: json!({"duration": 9}).as_object().cloned().expect("fields"),
    }
}

fn move_first(id: &str) -> NodeOperation {
    NodeOperation::Move {
        node: id.to_owned(),
        placement: Placement::First,
    }
}

fn put(id: &str, placement: Placement) -> NodeOperation {
    NodeOperation::Put(NodeInput {
        id: Some(id.to_owned()),
        kind: Some("shot".to_owned()),
        fields: serde_json::Map::new(),
        placement,
    })
}

fn table() -> Vec<(Live, NodeOperation, Outcome)> {
    let remove = |id: &str| NodeOperation::Remove(id.to_owned());
    let behind = |id: &str| Placement::After(id.to_owned());
    let twenty = Outcome::Conflict("b", "duration", Shown::Number(20));
    vec![
        // The same node.
        (Live::Sets("b"), set("b"), twenty),
        (Live::Sets("b"), move_first("b"), twenty),
        (Live::Sets("b"), remove("b"), twenty),
        // Another node.
        (Live::Sets("a"), set("b"), Outcome::Applied),
        (Live::Sets("a"), move_first("b"), Outcome::Applied),
        (Live::Sets("a"), remove("b"), Outcome::Applied),
        (Live::Sets("a"), put("x", Placement::End), Outcome::Applied),
        // A place is a hint, and no touch.
        (Live::Sets("a"), put("x", behind("a")), Outcome::Applied),
        (Live::Removes("a"), put("x", behind("a")), Outcome::Applied),
        // Removed.
        (Live::Removes("b"), set("b"), Outcome::Gone("b")),
        (Live::Removes("b"), move_first("b"), Outcome::Gone("b")),
        (Live::Removes("b"), remove("b"), Outcome::Gone("b")),
        (Live::Removes("a"), set("b"), Outcome::Applied),
        // Moved.
        (
            Live::Moves("b"),
            set("b"),
            Outcome::Conflict("b", "duration", Shown::Number(2)),
        ),
        (Live::Moves("a"), set("b"), Outcome::Applied),
        // Typed into.
        (
            Live::Types("b"),
            set("b"),
            Outcome::Conflict("b", "description", Shown::Text("two, and more")),
        ),
        (Live::Types("a"), set("b"), Outcome::Applied),
        // An id that came into use, one that was, and nodes that never were.
        (
            Live::Adds("n"),
            put("n", Placement::End),
            Outcome::Conflict("n", "description", Shown::Text("theirs")),
        ),
        (Live::Sets("a"), put("b", Placement::End), Outcome::Invalid),
        (Live::Sets("a"), set("nobody"), Outcome::Invalid),
    ]
}

/// A storyboard at version 3 with the shots a and b, which both the person and the agent have seen.
async fn storyboard(studio: &Studio, process: &Process) -> LiveEditor {
    let content = json!([
        {"id": "a", "type": "shot", "order": "B", "fields": {"description": "one", "duration": 1}},
        {"id": "b", "type": "shot", "order": "C", "fields": {"description": "two", "duration": 2}},
    ]);
    let seed = process
        .documents
        .seed(&nodes_of(content), WorkKind::Storyboard);
    let work = studio
        .create(WorkKind::Storyboard, seed.expect("a seed"))
        .await;
    let editor = LiveEditor::open(studio, process, work).await;
    for lens in ["50mm", "35mm"] {
        editor
            .edit(|txn, roots| replica::set(txn, roots, "a", "lens", lens))
            .await;
    }
    editor
}

async fn live(editor: &LiveEditor, act: Live) {
    editor
        .edit(|txn, roots| match act {
            Live::Sets(id) => replica::set(txn, roots, id, "duration", 20),
            Live::Removes(id) => drop(roots.nodes.remove(txn, id)),
            Live::Moves(id) => replica::set(txn, roots, id, "order", "zz"),
            Live::Types(id) => {
                let text = replica::prose(txn, roots, id, "description");
                yrs::Text::insert(&text, txn, 3, ", and more");
            }
            Live::Adds(id) => replica::put(txn, roots, id, "zz", "theirs"),
        })
        .await;
}

async fn edit(
    process: &Process,
    editor: &LiveEditor,
    actor: &Actor,
    base: u64,
    operation: NodeOperation,
) -> Result<EditOutcome> {
    let edit = EditNodes {
        work: editor.work,
        editor: no_key(actor),
        base: Version(base),
        operations: vec![operation],
        summary: None,
    };
    process.documents.edit_nodes(edit).await
}

async fn what_a_person_did_to_the_same_node_is_a_conflict_and_elsewhere_is_reported(place: &Place) {
    assert_table(place, false).await;
}

async fn the_same_holds_on_a_document_that_has_rested_in_between(place: &Place) {
    assert_table(place, true).await;
}

async fn assert_table(place: &Place, rests: bool) {
    let studio = Studio::open(place).await;
    let process = if rests {
        studio.process_with(quick_to_rest())
    } else {
        studio.process()
    };
    let person = studio.caller.actor();
    for (act, operation, expected) in table() {
        let case = format!("{act:?}, then {operation:?}");
        let editor = storyboard(&studio, &process).await;
        live(&editor, act).await;
        if rests {
            process.rests().await;
        }
        let before = process.content(editor.work).await;
        assert_eq!(before.version, Version(4), "{case}");
        let outcome = edit(&process, &editor, &studio.agent().await, 3, operation).await;
        let after = process.content(editor.work).await;
        match (expected, outcome) {
            (Outcome::Applied, Ok(EditOutcome::Applied(applied))) => {
                assert_eq!(
                    (applied.version, after.version),
                    (Version(5), Version(5)),
                    "{case}"
                );
                assert_reported(&applied, &person, act, &case);
            }
            (Outcome::Invalid, Err(Error::Invalid(_))) => assert_eq!(before, after, "{case}"),
            (
                expected,
                Ok(EditOutcome::NodeConflict {
                    base,
                    current,
                    conflicts,
                }),
            ) => {
                assert_eq!((base, current), (Version(3), Version(4)), "{case}");
                let [conflict] = conflicts.as_slice() else {
                    panic!("{case}: {conflicts:?}");
                };
                assert_conflict(conflict, expected, &case);
                assert_eq!(
                    (&conflict.changed_by, conflict.changed_at),
                    (&person, Version(4)),
                    "{case}"
                );
                assert_eq!(before, after, "{case}");
            }
            (expected, outcome) => panic!("{case}: {expected:?} was expected, not {outcome:?}"),
        }
    }
    process.documents.stop().await;
    studio.close().await;
}

fn assert_reported(applied: &Applied, person: &Actor, act: Live, case: &str) {
    let (Live::Sets(id) | Live::Removes(id) | Live::Moves(id) | Live::Types(id) | Live::Adds(id)) =
        act;
    let [revision] = applied.concurrent.as_slice() else {
        panic!("{case}: {:?}", applied.concurrent);
    };
    assert_eq!(&revision.actor, person, "{case}");
    assert!(revision.touched.node_ids().contains(&id), "{case}");
}

fn assert_conflict(conflict: &ConflictingNode, expected: Outcome, case: &str) {
    match expected {
        Outcome::Gone(id) => {
            assert_eq!(
                (conflict.id.as_str(), &conflict.current),
                (id, &None),
                "{case}"
            );
        }
        Outcome::Conflict(id, field, value) => {
            assert_eq!(conflict.id, id, "{case}");
            let current = conflict.current.as_ref().expect("its present content");
            assert_eq!(
                current.node.fields.get(field),
                Some(&value.value()),
                "{case}"
            );
            assert_eq!(current.changed_at, Version(4), "{case}");
        }
        Outcome::Applied | Outcome::Invalid => panic!("{case}: {conflict:?}"),
    }
}

async fn every_other_task_is_somebody_else_and_a_later_step_of_the_same_is_not(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process();
    let editor = storyboard(&studio, &process).await;
    let (one, other) = (studio.agent().await, studio.agent().await);
    let first = edit(&process, &editor, &one, 3, set("b")).await;
    assert!(matches!(first, Ok(EditOutcome::Applied(_))), "{first:?}");
    let refused = edit(&process, &editor, &other, 3, set("b")).await;
    let Ok(EditOutcome::NodeConflict { conflicts, .. }) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(conflicts[0].changed_by, one);
    let own = edit(&process, &editor, &later_step(&one), 3, set("b")).await;
    // The same value once more changes nothing, and is no conflict with what the task did itself.
    let Ok(EditOutcome::Applied(applied)) = own else {
        panic!("{own:?}");
    };
    assert_eq!(applied.concurrent, Vec::new());
    // What it has read since is no conflict for the other task either.
    let again = edit(&process, &editor, &other, 4, move_first("b")).await;
    assert!(matches!(again, Ok(EditOutcome::Applied(_))), "{again:?}");
    process.documents.stop().await;
    studio.close().await;
}

async fn what_the_agent_did_is_a_conflict_for_a_person(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process();
    let editor = storyboard(&studio, &process).await;
    let (person, task) = (studio.caller.actor(), studio.agent().await);
    let done = edit(&process, &editor, &task, 3, set("b")).await;
    assert!(matches!(done, Ok(EditOutcome::Applied(_))), "{done:?}");
    let refused = edit(&process, &editor, &person, 3, move_first("b")).await;
    let Ok(EditOutcome::NodeConflict { conflicts, .. }) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        (&conflicts[0].changed_by, conflicts[0].changed_at),
        (&task, Version(4))
    );
    // The person sees the agent's change live, and typing into it is never refused.
    editor
        .sees("the agent's change", |replica| {
            replica
                .node("b")
                .is_some_and(|node| node["duration"] == json!(9.0) || node["duration"] == json!(9))
        })
        .await;
    live(&editor, Live::Types("b")).await;
    process.documents.stop().await;
    studio.close().await;
}

async fn an_edge_that_somebody_else_took_away_is_a_conflict_without_content(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process();
    let mut content = nodes_of(json!([{"id": "a", "fields": {}}, {"id": "b", "fields": {}}]));
    content.edges.push(domain::document::Edge {
        id: "e".to_owned(),
        source: "a".to_owned(),
        target: "b".to_owned(),
        ..domain::document::Edge::default()
    });
    let connect = |id: &str| {
        NodeOperation::Connect(domain::document::EdgeInput {
            id: Some(id.to_owned()),
            source: "a".to_owned(),
            target: "b".to_owned(),
            source_port: None,
            target_port: None,
        })
    };
    let disconnect = |id: &str| NodeOperation::Disconnect(id.to_owned());
    let remove = |id: &str| NodeOperation::Remove(id.to_owned());
    for (theirs, own, id) in [
        (disconnect("e"), disconnect("e"), "e"),
        (remove("b"), disconnect("e"), "e"),
        (remove("b"), connect("new"), "b"),
        (connect("new"), connect("new"), "new"),
        (remove("a"), set("a"), "a"),
    ] {
        let case = format!("{theirs:?}, then {own:?}");
        let seed = process.documents.seed(&content, WorkKind::Flow);
        let work = studio.create(WorkKind::Flow, seed.expect("a seed")).await;
        let editor = LiveEditor::open(&studio, &process, work).await;
        let person = studio.caller.actor();
        let done = edit(&process, &editor, &person, 1, theirs).await;
        assert!(
            matches!(done, Ok(EditOutcome::Applied(_))),
            "{case}: {done:?}"
        );
        let refused = edit(&process, &editor, &studio.agent().await, 1, own).await;
        let Ok(EditOutcome::NodeConflict { conflicts, .. }) = &refused else {
            panic!("{case}: {refused:?}");
        };
        let [conflict] = conflicts.as_slice() else {
            panic!("{case}: {conflicts:?}");
        };
        assert_eq!(
            (conflict.id.as_str(), &conflict.current),
            (id, &None),
            "{case}"
        );
        assert_eq!(
            (&conflict.changed_by, conflict.changed_at),
            (&person, Version(2)),
            "{case}"
        );
    }
    process.documents.stop().await;
    studio.close().await;
}
