//! What is taken back, and what is left alone.

use serde_json::json;

use super::*;

/// A node with this title, whose order is its place.
fn node(id: &str, order: &str, title: &str) -> Node {
    Node {
        id: id.to_owned(),
        kind: "shot".to_owned(),
        order: Some(order.to_owned()),
        fields: [("title".to_owned(), json!(title))].into_iter().collect(),
    }
}

fn content(nodes: &[Node], edges: &[Edge]) -> Content {
    Content {
        nodes: nodes.to_vec(),
        edges: edges.to_vec(),
        ..Content::default()
    }
}

fn edge(id: &str, source: &str, target: &str) -> Edge {
    Edge {
        id: id.to_owned(),
        source: source.to_owned(),
        target: target.to_owned(),
        ..Edge::default()
    }
}

#[test]
fn only_fields_that_still_have_the_changes_value_go_back() {
    let before = content(&[node("a", "1", "Dawn")], &[]);
    let mut changed = node("a", "1", "Noon");
    changed.fields.insert("duration".into(), json!(4));
    changed.fields.insert("lens".into(), json!("35mm"));
    let after = content(&[changed.clone()], &[]);
    let mut later = changed;
    later.fields.insert("duration".into(), json!(9));
    let now = content(&[later], &[]);
    let operations = undo_nodes(&before, &after, &now);
    let expected = json!({"title": "Dawn", "lens": null});
    assert_eq!(
        operations,
        [NodeOperation::Set {
            node: "a".into(),
            fields: expected.as_object().expect("an object").clone(),
        }]
    );
}

#[test]
fn a_node_that_went_comes_back_with_its_edges_and_one_that_came_goes() {
    let (a, b, c) = (
        node("a", "1", "A"),
        node("b", "2", "B"),
        node("c", "3", "C"),
    );
    let before = content(&[a.clone(), b.clone()], &[edge("ab", "a", "b")]);
    let after = content(&[a.clone(), c.clone()], &[edge("ac", "a", "c")]);
    let operations = undo_nodes(&before, &after, &after);
    assert_eq!(operations.len(), 4);
    assert_eq!(operations[0], NodeOperation::Disconnect("ac".into()));
    let NodeOperation::Put(put) = &operations[1] else {
        panic!("{operations:?}");
    };
    assert_eq!(put.id.as_deref(), Some("b"));
    assert_eq!(put.placement, Placement::After("a".into()));
    assert!(matches!(&operations[2], NodeOperation::Connect(edge) if edge.source == "a"));
    assert_eq!(operations[3], NodeOperation::Remove("c".into()));
}

#[test]
fn a_node_that_moved_goes_back_and_its_neighbours_stay() {
    let before = content(
        &[
            node("a", "1", "A"),
            node("b", "2", "B"),
            node("c", "3", "C"),
        ],
        &[],
    );
    let after = content(
        &[
            node("c", "0", "C"),
            node("a", "1", "A"),
            node("b", "2", "B"),
        ],
        &[],
    );
    let operations = undo_nodes(&before, &after, &after);
    assert_eq!(
        operations,
        [NodeOperation::Move {
            node: "c".into(),
            placement: Placement::After("b".into()),
        }]
    );
}

#[test]
fn what_others_undid_already_is_not_undone_again() {
    let (a, b) = (node("a", "1", "A"), node("b", "2", "B"));
    let before = content(std::slice::from_ref(&a), &[]);
    let after = content(&[a.clone(), b], &[]);
    assert_eq!(undo_nodes(&before, &after, &before), []);
    let gone = content(&[], &[]);
    assert_eq!(undo_nodes(&before, &gone, &before), []);
}

/// What the text reads when the replacements are carried out.
fn replaced(now: &str, replacements: &[TextReplacement]) -> String {
    let mut text = now.to_owned();
    for replacement in replacements {
        assert_eq!(now.matches(&replacement.find).count(), 1, "{replacement:?}");
        text = text.replace(&replacement.find, &replacement.replace);
    }
    text
}

#[test]
fn a_text_goes_back_around_what_others_wrote() {
    let before = "The keeper climbs the stairs. It is dark. The sea is loud.";
    let after = "The keeper runs up the stairs. It is dark. The sea is very loud.";
    for (now, expected) in [
        (after.to_owned(), before.to_owned()),
        (format!("Act one.\n{after}"), format!("Act one.\n{before}")),
        (format!("{after} End."), format!("{before} End.")),
    ] {
        let replacements = undo_text(before, after, &now).expect("still stands");
        assert_eq!(replaced(&now, &replacements), expected);
    }
}

#[test]
fn a_deletion_comes_back_where_it_was() {
    let before = "one two three, four five six, seven eight nine";
    let after = "one two three, seven eight nine";
    let replacements = undo_text(before, after, after).expect("still stands");
    assert_eq!(replaced(after, &replacements), before);
}

#[test]
fn a_sentence_is_found_though_others_wrote_right_beside_it() {
    let before = "Begin. End.";
    let after = "Begin. The lamp flickers twice. End.";
    let now = "Begin, slowly. The lamp flickers twice! End.";
    let replacements = undo_text(before, after, now);
    let replacements = replacements.expect_err("its last character was changed");
    assert_eq!(replacements.occurrences, 0);
    let now = "Begin, slowly. The lamp flickers twice. Finis.";
    let replacements = undo_text(before, after, now).expect("still stands");
    assert!(!replaced(now, &replacements).contains("flickers"));
}

#[test]
fn a_piece_that_says_little_is_not_taken_for_another_one() {
    let (before, after) = ("the cat sat down here", "the dog sat down here");
    let now = "nothing is as it was, but a dog";
    let moved = undo_text(before, after, now).expect_err("can not be found again");
    assert_eq!(moved.occurrences, 0);
}

#[test]
fn a_text_that_stands_twice_is_told_by_more_of_its_surroundings() {
    let line = "A long line that stands here more than once, word for word, until its end";
    let before = format!("{line} X.\n{line} Y.");
    let after = format!("{line} Z.\n{line} Y.");
    let replacements = undo_text(&before, &after, &after).expect("more of it names one place");
    assert_eq!(replaced(&after, &replacements), before);
    let now = format!("{after}\n{after}");
    let moved = undo_text(&before, &after, &now).expect_err("stands twice");
    assert!(moved.occurrences > 1);
}

#[test]
fn characters_of_any_width_are_cut_whole() {
    let before = "Маяк 🗼 горит, 灯塔还亮着, и всё.";
    let after = "Маяк 🗼🌊 погас, 灯塔已经熄灭了, и всё.";
    let replacements = undo_text(before, after, after).expect("still stands");
    assert_eq!(replaced(after, &replacements), before);
}
