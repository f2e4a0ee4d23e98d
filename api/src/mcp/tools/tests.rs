//! How data of documents is shown, and that descriptions keep their form.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Effect, all};
use crate::mcp::outcome::Shown;

/// What a tool shows for these arguments and this data.
fn shown(tool: &str, arguments: Value, data: Value) -> Shown {
    let tool = all().find(|known| known.name == tool).expect("a tool");
    let asked = (tool.read)(arguments).expect("they fit");
    (asked.show)(data)
}

fn done(tool: &str, arguments: Value, data: Value) -> Value {
    match shown(tool, arguments, data) {
        Shown::Done(value) => value,
        refused @ Shown::Refused { .. } => panic!("{refused:?}"),
    }
}

#[test]
fn every_tool_has_its_own_name_and_a_schema_that_takes_nothing_else() {
    let names: BTreeSet<_> = all().map(|tool| tool.name).collect();
    assert_eq!(names.len(), all().count());
    for tool in all() {
        let described = tool.described();
        let schema = Value::Object(described.input_schema.as_ref().clone());
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
        let properties = schema["properties"].as_object().expect("an object");
        for required in schema["required"].as_array().expect("a list") {
            let name = required.as_str().expect("a name");
            assert!(properties.contains_key(name), "{}: {name}", tool.name);
        }
        let hints = described.annotations.expect("hints");
        assert_eq!(
            hints.read_only_hint,
            Some(tool.document.starts_with("query")),
            "{}",
            tool.name
        );
        assert_eq!(hints.destructive_hint, Some(tool.effect == Effect::Asks));
    }
}

#[test]
fn a_misspelt_argument_is_refused_with_its_name() {
    let edit = all()
        .find(|tool| tool.name == "edit_nodes")
        .expect("a tool");
    let given = json!({"work_id": "w", "baseVersion": 3, "operations": []});
    let Err(problem) = (edit.read)(given) else {
        panic!("it passed");
    };
    assert!(problem.contains("baseVersion"), "{problem}");
}

#[test]
fn a_long_text_is_read_part_by_part() {
    let text = "# Один\nдва\n# Three\n";
    let data =
        || json!({"node": {"id": "w", "kind": "TEXT", "title": "t", "version": 4, "text": text}});
    let (mut read, mut offset) = (String::new(), 0);
    loop {
        let arguments = json!({"work_id": "w", "offset": offset, "limit": 5});
        let part = done("read_work", arguments, data());
        read.push_str(part["text"].as_str().expect("a text"));
        assert_eq!(part["at_version"], 4);
        let Some(next) = part["next_offset"].as_u64() else {
            break;
        };
        offset = next;
    }
    assert_eq!(read, text);
    let outline = done(
        "read_work",
        json!({"work_id": "w", "outline": true}),
        data(),
    );
    assert_eq!(outline["headings"], json!(["# Один", "# Three"]));
    assert!(outline.get("text").is_none());
}

#[test]
fn an_outline_names_nodes_and_a_part_says_where_it_goes_on() {
    let node = |id: &str| json!({"id": id, "type": "shot", "fields": {"title": id, "prompt": "long"}, "changedAtVersion": 1});
    let edges = json!([{"id": "e", "source": "a", "target": "b"}, {"id": "f", "source": "c", "target": "c"}]);
    let data = json!({"node": {"id": "w", "version": 2, "nodes": [node("a"), node("b"), node("c")], "edges": edges}});
    let arguments = json!({"work_id": "w", "outline": true, "limit": 2, "at_version": 1});
    let part = done("read_work", arguments, data);
    assert_eq!(
        part["nodes"][1],
        json!({"id": "b", "type": "shot", "title": "b", "changedAtVersion": 1})
    );
    assert_eq!(part["edges"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (
            &part["at_version"],
            &part["next_offset"],
            &part["node_count"]
        ),
        (&json!(1), &json!(2), &json!(3))
    );
}

#[test]
fn open_cards_are_shown_however_old_they_are() {
    let mut cards = vec![json!({"id": "open", "state": "OPEN"})];
    cards.extend((0..30).map(|number| json!({"id": number, "state": "ANSWERED"})));
    let data = json!({"node": {"status": "QUEUED", "cards": cards, "jobs": []}});
    let task = done("read_task", json!({"task_id": "t"}), data);
    let cards = task["cards"].as_array().expect("a list");
    assert_eq!((cards.len(), &cards[0]["id"]), (11, &json!("open")));
    assert_eq!(cards[10]["id"], 29);
}

#[test]
fn what_is_not_there_is_said_in_words() {
    let Shown::Refused { message, result } =
        shown("read_work", json!({"work_id": "w"}), json!({"node": null}))
    else {
        panic!("it was shown");
    };
    assert!(message.contains("work w was not found"), "{message}");
    assert_eq!(result["code"], "NOT_FOUND");
}
