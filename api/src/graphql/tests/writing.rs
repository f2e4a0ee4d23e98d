//! Mutations: what they answer, and what is there after them.

use serde_json::{Value, json};

use super::*;

const CREATE: &str = "mutation($i: CreateWorkInput!) { createWork(input: $i) { work { id version ... on Storyboard { nodes { id } } } clientMutationId } }";

#[tokio::test]
async fn each_mutation_of_a_request_shows_the_work_as_it_left_it() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let query = "mutation($i: ID!) {
        one: editNodes(input: {workId: $i, baseVersion: 1, operations: [{put: {id: \"b\", fields: {}}}]}) { ...shown }
        two: renameWork(input: {workId: $i, title: \"second\"}) { work { title ...nodes } }
        three: editNodes(input: {workId: $i, baseVersion: 2, operations: [{remove: \"a\"}]}) { ...shown }
    }
    fragment shown on EditResult { ... on EditApplied { version work { title version ...nodes } } }
    fragment nodes on Work { ... on Storyboard { nodes { id } } }";
    let done = house
        .done_with(house.owner, query, json!({"i": work}))
        .await;
    let both = json!([{"id": "a"}, {"id": "b"}]);
    assert_eq!(
        done["one"],
        json!({"version": 2, "work": {"title": "film", "version": 2, "nodes": both}})
    );
    assert_eq!(
        done["two"],
        json!({"work": {"title": "second", "nodes": both}})
    );
    assert_eq!(
        done["three"],
        json!({"version": 3, "work": {"title": "second", "version": 3, "nodes": [{"id": "b"}]}})
    );
}

#[tokio::test]
async fn one_key_makes_one_work_and_refuses_another_input() {
    let house = House::open().await;
    let input = |title: &str, echo: &str| {
        json!({"i": {
            "workspaceId": house.workspace.id, "kind": "STORYBOARD", "title": title, "idempotencyKey": "k1", "clientMutationId": echo,
            "nodes": [{"id": "a", "fields": {}}, {"id": "b", "fields": {}, "after": ""}],
        }})
    };
    let first = house
        .done_with(house.owner, CREATE, input("film", "1"))
        .await;
    let again = house
        .done_with(house.owner, CREATE, input("film", "2"))
        .await;
    assert_eq!(first["createWork"]["work"], again["createWork"]["work"]);
    assert_eq!(again["createWork"]["clientMutationId"], json!("2"));
    assert_eq!(
        first["createWork"]["work"]["nodes"],
        json!([{"id": "b"}, {"id": "a"}])
    );
    let code = house
        .refused(house.owner, CREATE, input("other", "3"))
        .await;
    assert_eq!(code, "IDEMPOTENCY_KEY_REUSED");
}

#[tokio::test]
async fn a_key_belongs_to_its_mutation_and_replays_an_edit_whole() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let query = "mutation($i: EditNodesInput!) { editNodes(input: $i) { __typename ... on EditApplied { version nodeIds } } }";
    let input = json!({"i": {
        "workId": work, "baseVersion": 1, "idempotencyKey": "k1",
        "operations": [{"set": {"nodeId": "a", "fields": {"title": "Arrival"}}}],
    }});
    let first = house.done_with(house.owner, query, input.clone()).await;
    assert_eq!(
        first["editNodes"],
        json!({"__typename": "EditApplied", "version": 2, "nodeIds": ["a"]})
    );
    assert_eq!(house.done_with(house.owner, query, input).await, first);
}

#[tokio::test]
async fn a_conflict_shows_the_node_as_it_is_now_and_who_changed_it() {
    let house = House::open().await;
    let work = house.storyboard(&["a", "b"]).await;
    let editor = house
        .person("editor", Some(domain::people::Role::Editor))
        .await;
    house.retitle(&work, "a", "Arrival").await;
    let query = "mutation($i: EditNodesInput!) { editNodes(input: $i) { __typename
        ... on NodeConflict { baseVersion currentVersion conflicts { nodeId current { fields } changedBy { label } changedAtVersion } }
        ... on EditApplied { version concurrent { summary by { label } } } } }";
    let set = |node: &str| {
        let operation = json!({"set": {"nodeId": node, "fields": {"title": "Mine"}}});
        json!({"i": {"workId": work, "baseVersion": 1, "operations": [operation]}})
    };
    let refused = house.done_with(editor, query, set("a")).await;
    let conflict = json!({
        "nodeId": "a", "current": {"fields": {"title": "Arrival"}}, "changedBy": {"label": "Owner"}, "changedAtVersion": 2,
    });
    assert_eq!(
        refused["editNodes"],
        json!({"__typename": "NodeConflict", "baseVersion": 1, "currentVersion": 2, "conflicts": [conflict]})
    );
    let applied = house.done_with(editor, query, set("b")).await;
    assert_eq!(applied["editNodes"]["version"], json!(3));
    assert_eq!(
        applied["editNodes"]["concurrent"][0]["by"]["label"],
        json!("Owner")
    );
}

#[tokio::test]
async fn malformed_inputs_are_the_clients_to_mend() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let ids = json!({"w": house.workspace.id, "i": work});
    for mutation in [
        "mutation { renameWork(input: {workId: \"work_1\", title: \"x\"}) { work { id } } }",
        "mutation($w: ID!) { renameWork(input: {workId: $w, title: \"x\"}) { work { id } } }",
        "mutation($i: ID!) { renameWork(input: {workId: $i, title: \" \"}) { work { id } } }",
        "mutation($i: ID!) { editNodes(input: {workId: $i, baseVersion: -1, operations: [{remove: \"a\"}]}) { __typename } }",
        "mutation($i: ID!) { editNodes(input: {workId: $i, baseVersion: 1, operations: [{set: {nodeId: \"a\", fields: [1]}}]}) { __typename } }",
        "mutation($i: ID!) { editNodes(input: {workId: $i, baseVersion: 1, idempotencyKey: \"\", operations: [{remove: \"a\"}]}) { __typename } }",
        "mutation($w: ID!) { createWork(input: {workspaceId: $w, kind: ASSET, title: \"x\"}) { work { id } } }",
        "mutation($w: ID!) { createWork(input: {workspaceId: $w, kind: TEXT, title: \"x\", nodes: [{fields: {}}]}) { work { id } } }",
        "mutation($w: ID!) { createWork(input: {workspaceId: $w, kind: FLOW, title: \"x\", edges: [{source: \"a\", target: \"b\"}]}) { work { id } } }",
        "mutation($w: ID!) { createUpload(input: {workspaceId: $w, title: \"x\", mediaType: \"png\", byteSize: 1}) { uploadUrl } }",
    ] {
        let code = house.refused(house.owner, mutation, ids.clone()).await;
        assert_eq!(code, "BAD_USER_INPUT", "{mutation}");
    }
    let mutation = "mutation($w: ID!) { createUpload(input: {workspaceId: $w, title: \"x\", mediaType: \"image/png\", byteSize: 1001}) { uploadUrl } }";
    assert_eq!(
        house.refused(house.owner, mutation, ids).await,
        "PAYLOAD_TOO_LARGE"
    );
}

#[tokio::test]
async fn a_work_in_the_bin_is_found_by_its_id_and_stands_in_no_list() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let delete = "mutation($i: ID!) { deleteWork(input: {workId: $i}) { work { deletedAt } } }";
    let gone = house
        .done_with(house.owner, delete, json!({"i": work}))
        .await;
    assert_ne!(gone["deleteWork"]["work"]["deletedAt"], Value::Null);
    let query = "query($w: ID!, $i: ID!) { node(id: $i) { ... on Work { title deletedAt } } workspace(id: $w) { works { totalCount nodes { id } } } }";
    let ids = json!({"w": house.workspace.id, "i": work});
    let seen = house.done_with(house.owner, query, ids.clone()).await;
    assert_eq!(seen["node"]["title"], json!("film"));
    assert_eq!(
        seen["workspace"]["works"],
        json!({"totalCount": 0, "nodes": []})
    );
    let restore = "mutation($i: ID!) { restoreWork(input: {workId: $i}) { work { deletedAt } } }";
    house
        .done_with(house.owner, restore, json!({"i": work}))
        .await;
    let seen = house.done_with(house.owner, query, ids).await;
    assert_eq!(seen["workspace"]["works"]["totalCount"], json!(1));
}

#[tokio::test]
async fn an_earlier_version_is_shown_as_it_was_and_one_to_come_is_refused() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    house.retitle(&work, "a", "Arrival").await;
    let query = "query($i: ID!, $v: Int) { node(id: $i) { ... on Storyboard { nodes(atVersion: $v) { fields } } } }";
    for (version, title) in [
        (json!(1), "a"),
        (json!(2), "Arrival"),
        (Value::Null, "Arrival"),
    ] {
        let variables = json!({"i": work, "v": version});
        let seen = house.done_with(house.owner, query, variables).await;
        assert_eq!(seen["node"]["nodes"][0]["fields"]["title"], json!(title));
    }
    for version in [3, -1] {
        let variables = json!({"i": work, "v": version});
        let code = house.refused(house.owner, query, variables).await;
        assert_eq!(code, "BAD_USER_INPUT");
    }
}

#[tokio::test]
async fn pages_of_works_cover_the_list_once_and_refuse_cursors_of_another_filter() {
    let house = House::open().await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(house.storyboard(&[]).await);
    }
    made.reverse();
    let query = "query($w: ID!, $k: [WorkKind!], $a: Cursor) { workspace(id: $w) { works(kinds: $k, first: 2, after: $a) { totalCount nodes { id } pageInfo { hasNextPage endCursor } } } }";
    let (mut seen, mut after) = (Vec::new(), Value::Null);
    loop {
        let variables = json!({"w": house.workspace.id, "a": after});
        let page = house.done_with(house.owner, query, variables).await;
        let works = &page["workspace"]["works"];
        assert_eq!(works["totalCount"], json!(5));
        seen.extend(
            works["nodes"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|node| text(&node["id"])),
        );
        after = works["pageInfo"]["endCursor"].clone();
        if works["pageInfo"]["hasNextPage"] == json!(false) {
            break;
        }
    }
    assert_eq!(seen, made);
    let variables = json!({"w": house.workspace.id, "k": ["TEXT"], "a": after});
    let code = house.refused(house.owner, query, variables).await;
    assert_eq!(code, "CURSOR_INVALID");
    let variables = json!({"w": house.workspace.id, "k": []});
    let nothing = house.done_with(house.owner, query, variables).await;
    assert_eq!(nothing["workspace"]["works"]["totalCount"], json!(0));
}
