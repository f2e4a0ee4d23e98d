//! A program edits beside people: versions, conflicts, attribution, presence, and taking back what was its own.

use serde_json::{Value, json};

use crate::harness::editor::replica;
use crate::harness::mcp::Mcp;
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Editor, Installation, Person, Protocol, Server, Work, on_both_databases};

on_both_databases![
    an_edit_is_shown_as_the_programs_own_for_its_person,
    what_a_person_changed_meanwhile_is_a_conflict_that_says_how_to_go_on,
    its_own_person_is_somebody_else,
    texts_are_edited_by_their_fragments,
    only_its_own_edits_are_taken_back,
    the_same_request_twice_has_one_effect,
];

/// A storyboard of two shots at version 1, a person in an editor, and a program of its owner.
struct Board {
    server: Server,
    owner: Person,
    person: Person,
    work: Work,
    editor: Editor,
    mcp: Mcp,
}

impl Board {
    async fn set(installation: &Installation) -> Self {
        let (server, owner) = installation.open_without_agent().await;
        let person = owner.invite("Ana", "EDITOR").await;
        let shots = json!([
            {"id": "a", "type": "shot", "fields": {"title": "one", "duration": 1}},
            {"id": "b", "type": "shot", "fields": {"title": "two", "duration": 2}},
        ]);
        let work = owner.create_nodes("STORYBOARD", shots).await;
        let editor = Editor::open(&work.by(&person.client), Protocol::YWebsocket).await;
        let mcp = Mcp::of(&program(&owner, "Sketcher").await);
        Self {
            server,
            owner,
            person,
            work,
            editor,
            mcp,
        }
    }

    /// The person changes a shot in the editor, and it is stored.
    async fn person_sets(&self, id: &str, duration: i64) {
        self.editor
            .edit(|txn, roots| replica::set(txn, roots, id, "duration", duration))
            .await;
        assert!(self.editor.acknowledged().await);
    }

    /// An edit of one shot's title.
    fn edit(&self, base: &Value, id: &str, title: &str) -> Value {
        json!({"work_id": self.work.id, "base_version": base, "operations": [{"set": {"nodeId": id, "fields": {"title": title}}}]})
    }
}

/// Access of a program with a token of its own.
pub(super) async fn program(owner: &Person, label: &str) -> crate::harness::Client {
    let input = json!({"label": label, "kind": "PUBLIC_API"});
    let made = owner
        .client
        .change("createToken", input, "{ secret }")
        .await;
    crate::harness::Client::new(owner.client.address(), &text(&made["secret"]))
}

async fn an_edit_is_shown_as_the_programs_own_for_its_person(installation: &Installation) {
    let board = Board::set(installation).await;
    let read = board
        .mcp
        .call("read_work", json!({"work_id": board.work.id}))
        .await;
    assert_eq!(
        (&read["at_version"], &read["nodes"][0]["fields"]["title"]),
        (&json!(1), &json!("one"))
    );
    let edit = board.edit(&read["at_version"], "a", "Dawn");
    let edited = board.mcp.call("edit_nodes", edit).await;
    assert_eq!(
        (&edited["version"], &edited["nodeIds"]),
        (&json!(2), &json!(["a"]))
    );
    // The editor of the person has it, and its author is the program for the owner.
    let is_there = |replica: &replica::Replica| {
        replica
            .node("a")
            .is_some_and(|node| node["title"] == "Dawn")
    };
    board.editor.sees("the new title", is_there).await;
    let query = "query ($id: ID!) { node(id: $id) { ... on Work { updatedBy { kind program label user { id } }
      presence { label nodeId actor { program user { id } } } history(first: 1) { nodes { by { program } } } } } }";
    let shown = board
        .owner
        .client
        .run(query, json!({"id": board.work.id}))
        .await["node"]
        .clone();
    let by = &shown["updatedBy"];
    assert_eq!(
        (&by["kind"], &by["program"], &by["user"]["id"]),
        (
            &json!("PERSON"),
            &json!("Sketcher"),
            &json!(board.owner.user)
        )
    );
    assert!(text(&by["label"]).ends_with("(Sketcher)"), "{by}");
    assert_eq!(shown["history"]["nodes"][0]["by"]["program"], "Sketcher");
    let presence = list(&shown["presence"]);
    let seen = presence
        .iter()
        .find(|one| one["actor"]["program"] == "Sketcher");
    assert_eq!(seen.expect("it is seen")["nodeId"], "a", "{presence:?}");
    board.server.stop().await;
}

async fn what_a_person_changed_meanwhile_is_a_conflict_that_says_how_to_go_on(
    installation: &Installation,
) {
    let board = Board::set(installation).await;
    board.person_sets("a", 9).await;
    // Elsewhere is no conflict, and is reported.
    let elsewhere = board
        .mcp
        .call("edit_nodes", board.edit(&json!(1), "b", "Dusk"))
        .await;
    assert_eq!(list(&elsewhere["concurrent"])[0]["nodeIds"], json!(["a"]));
    let before = board.work.content().await;
    let edit = board.edit(&json!(1), "a", "Dawn");
    let conflict = board.mcp.refused("edit_nodes", edit).await;
    assert_eq!(conflict["__typename"], "NodeConflict");
    assert_eq!(
        (&conflict["baseVersion"], &conflict["currentVersion"]),
        (&json!(1), &json!(3))
    );
    let node = &list(&conflict["conflicts"])[0];
    assert_eq!(
        (&node["nodeId"], &node["current"]["fields"]["duration"]),
        (&json!("a"), &json!(9))
    );
    assert_eq!(node["changedBy"]["label"], "Ana");
    assert!(
        text(&conflict["message"]).contains("base_version 3"),
        "{conflict}"
    );
    assert_eq!(board.work.content().await, before, "nothing was changed");
    // And so it goes on.
    let edit = board.edit(&conflict["currentVersion"], "a", "Dawn");
    board.mcp.call("edit_nodes", edit).await;
    let fields = board.work.node("a").await["fields"].clone();
    assert_eq!(
        (&fields["title"], &fields["duration"]),
        (&json!("Dawn"), &json!(9))
    );
    board.server.stop().await;
}

async fn its_own_person_is_somebody_else(installation: &Installation) {
    let board = Board::set(installation).await;
    let title = |title: &str| json!([{"set": {"nodeId": "a", "fields": {"title": title}}}]);
    board.work.edit(title("the owner's")).await;
    let conflict = board
        .mcp
        .refused("edit_nodes", board.edit(&json!(1), "a", "Dawn"))
        .await;
    assert_eq!(conflict["__typename"], "NodeConflict");
    let edited = board
        .mcp
        .call("edit_nodes", board.edit(&json!(2), "a", "Dawn"))
        .await;
    let own = board
        .mcp
        .call("edit_nodes", board.edit(&json!(2), "a", "Daybreak"))
        .await;
    assert_eq!(
        (&edited["version"], &own["version"]),
        (&json!(3), &json!(4)),
        "its own edits are none"
    );
    // The other way about as well, and for another program of the same person.
    let result = board.work.edit_on(2, title("late")).await;
    assert_eq!(result["__typename"], "NodeConflict");
    let other = Mcp::of(&program(&board.owner, "Other").await);
    let conflict = other
        .refused("edit_nodes", board.edit(&json!(2), "a", "x"))
        .await;
    assert_eq!(conflict["conflicts"][0]["changedBy"]["program"], "Sketcher");
    // Whatever the token stands for elsewhere.
    let personal = Mcp::of(&board.person.client);
    let edited = personal
        .call("edit_nodes", board.edit(&json!(4), "b", "y"))
        .await;
    board.person_sets("b", 7).await;
    let conflict = personal
        .refused("edit_nodes", board.edit(&edited["version"], "b", "z"))
        .await;
    assert_eq!(conflict["__typename"], "NodeConflict", "{conflict}");
    board.server.stop().await;
}

async fn texts_are_edited_by_their_fragments(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let mcp = Mcp::of(&owner.client);
    let made = mcp
        .call("create_work", json!({"workspace_id": owner.workspace, "kind": "text", "title": "Script", "text": "A fox. A fox."}))
        .await;
    let id = &made["work_id"];
    let replace = |find: &str, by: &str| json!({"work_id": id, "replacements": [{"find": find, "replace": by}]});
    let twice = mcp.refused("edit_text", replace("A fox.", "An owl.")).await;
    assert_eq!(
        (&twice["__typename"], &twice["occurrences"]),
        (&json!("TextNotUnique"), &json!(2))
    );
    let edited = mcp.call("edit_text", replace("fox. A", "fox. An")).await;
    assert_eq!(edited["version"], 2);
    let stale = json!({"work_id": id, "base_version": 1, "text": "Nothing."});
    let moved = mcp.refused("replace_text", stale).await;
    assert_eq!(
        (&moved["__typename"], &moved["currentVersion"]),
        (&json!("VersionConflict"), &json!(2))
    );
    mcp.call(
        "replace_text",
        json!({"work_id": id, "base_version": 2, "text": "# New\nAll of it."}),
    )
    .await;
    let restored = json!({"work_id": id, "version": 1, "base_version": 3});
    assert_eq!(mcp.call("restore_version", restored).await["version"], 4);
    let read = mcp.call("read_work", json!({"work_id": id})).await;
    assert_eq!(read["text"], "A fox. A fox.");
    let then = mcp
        .call("read_work", json!({"work_id": id, "at_version": 3}))
        .await;
    assert_eq!(
        (&then["at_version"], &then["text"]),
        (&json!(3), &json!("# New\nAll of it."))
    );
    let beyond = mcp
        .refused("read_work", json!({"work_id": id, "at_version": 9}))
        .await;
    assert_eq!(beyond["code"], "BAD_USER_INPUT");
    let renamed = mcp
        .call("rename_work", json!({"work_id": id, "title": "Scenario"}))
        .await;
    assert_eq!(renamed["title"], "Scenario");
    server.stop().await;
}

async fn only_its_own_edits_are_taken_back(installation: &Installation) {
    let board = Board::set(installation).await;
    let edited = board
        .mcp
        .call("edit_nodes", board.edit(&json!(1), "a", "Dawn"))
        .await;
    board.person_sets("b", 5).await;
    let undo = |version: &Value| json!({"work_id": board.work.id, "version": version});
    let not_own = board.mcp.refused("undo_own_edit", undo(&json!(3))).await;
    assert_eq!(not_own["code"], "FORBIDDEN");
    board
        .mcp
        .call("undo_own_edit", undo(&edited["version"]))
        .await;
    let nodes = board.work.content().await["nodes"].clone();
    assert_eq!(
        (
            &nodes[0]["fields"]["title"],
            &nodes[1]["fields"]["duration"]
        ),
        (&json!("one"), &json!(5))
    );
    let edited = board
        .mcp
        .call("edit_nodes", board.edit(&json!(4), "a", "Dawn"))
        .await;
    board.person_sets("a", 8).await;
    let conflict = board
        .mcp
        .refused("undo_own_edit", undo(&edited["version"]))
        .await;
    assert_eq!(conflict["__typename"], "NodeConflict", "{conflict}");
    board.server.stop().await;
}

async fn the_same_request_twice_has_one_effect(installation: &Installation) {
    let board = Board::set(installation).await;
    let operations = json!([{"put": {"type": "shot"}}]);
    let edit = json!({"work_id": board.work.id, "base_version": 1, "operations": operations, "idempotency_key": "k"});
    let first = board.mcp.call("edit_nodes", edit.clone()).await;
    let again = board.mcp.call("edit_nodes", edit).await;
    assert_eq!(first["nodeIds"], again["nodeIds"]);
    assert_eq!(board.work.node_ids().await.len(), 3);
    board.server.stop().await;
}
