//! What one may not see, by whatever way it is asked for.

use domain::people::{Role, TokenKind};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn to_a_stranger_a_workspace_and_what_is_in_it_are_not_there() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let stranger = house.person("stranger", None).await;
    let query = "query($w: ID!, $i: [ID!]!) { workspace(id: $w) { name } nodes(ids: $i) { id } }";
    let ids = json!([work, house.workspace.id, house.owner.token, stranger.user]);
    let variables = json!({"w": house.workspace.id, "i": ids});
    let seen = house.done_with(stranger, query, variables).await;
    assert_eq!(seen["workspace"], Value::Null);
    let nodes = json!([null, null, null, {"id": stranger.user}]);
    assert_eq!(seen["nodes"], nodes);
}

#[tokio::test]
async fn a_strangers_mutations_and_subscriptions_find_nothing() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let stranger = house.person("stranger", None).await;
    let ids = json!({"w": house.workspace.id, "i": work});
    for mutation in [
        "mutation($i: ID!) { renameWork(input: {workId: $i, title: \"mine\"}) { work { id } } }",
        "mutation($i: ID!) { deleteWork(input: {workId: $i}) { work { id } } }",
        "mutation($i: ID!) { editNodes(input: {workId: $i, baseVersion: 1, operations: [{remove: \"a\"}]}) { __typename } }",
        "mutation($i: ID!) { applyUpdate(input: {workId: $i, update: \"AAA=\"}) { __typename } }",
        "mutation($w: ID!) { createWork(input: {workspaceId: $w, kind: TEXT, title: \"mine\"}) { work { id } } }",
        "mutation($w: ID!) { createUpload(input: {workspaceId: $w, title: \"mine\", mediaType: \"image/png\", byteSize: 1}) { uploadUrl } }",
        "mutation($w: ID!) { addMember(input: {workspaceId: $w, email: \"me@atelier.example\", role: OWNER}) { member { role } } }",
    ] {
        let code = house.refused(stranger, mutation, ids.clone()).await;
        assert_eq!(code, "NOT_FOUND", "{mutation}");
    }
    for subscription in [
        "subscription($w: ID!) { workspaceEvents(workspaceId: $w) { cursor } }",
        "subscription($i: ID!) { workChanges(workId: $i) { version } }",
        "subscription($i: ID!) { presence(workId: $i) { label } }",
    ] {
        let mut stream = house.follow(stranger, subscription, ids.clone());
        let first = stream.next().await.expect("an answer").errors.remove(0);
        assert_eq!(code(first), "NOT_FOUND", "{subscription}");
        assert!(stream.next().await.is_none(), "{subscription}");
    }
}

#[tokio::test]
async fn a_cursor_of_another_workspace_is_refused() {
    let house = House::open().await;
    let stranger = house.person("stranger", None).await;
    let query = "{ viewer { workspaces { nodes { id eventCursor } } } }";
    let own = house.done(house.owner, query).await;
    let foreign = own["viewer"]["workspaces"]["nodes"]
        .as_array()
        .and_then(|nodes| {
            nodes
                .iter()
                .find(|node| node["id"] == json!(house.workspace.id))
        })
        .map(|node| node["eventCursor"].clone());
    let query = "query($a: Cursor) { viewer { workspaces { nodes { events(after: $a) { totalCount: __typename } } } } }";
    let code = house.refused(stranger, query, json!({"a": foreign})).await;
    assert_eq!(code, "CURSOR_INVALID");
}

#[tokio::test]
async fn a_viewer_reads_and_changes_nothing() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let viewer = house.person("viewer", Some(Role::Viewer)).await;
    let query = "query($i: ID!) { node(id: $i) { ... on Storyboard { title nodes { id changedBy { label } } } } }";
    let seen = house.done_with(viewer, query, json!({"i": work})).await;
    let shot = json!({"id": "a", "changedBy": {"label": "Owner"}});
    assert_eq!(seen["node"]["nodes"], json!([shot]));
    let mutation =
        "mutation($i: ID!) { renameWork(input: {workId: $i, title: \"mine\"}) { work { id } } }";
    let code = house.refused(viewer, mutation, json!({"i": work})).await;
    assert_eq!(code, "FORBIDDEN");
}

#[tokio::test]
async fn a_programs_token_makes_no_token_that_stands_for_a_person() {
    let house = House::open().await;
    let program = Caller {
        kind: TokenKind::PublicApi,
        ..house.owner
    };
    let mutation =
        "mutation($k: TokenKind!) { createToken(input: {label: \"next\", kind: $k}) { secret } }";
    let personal = json!({"k": "PERSONAL"});
    assert_eq!(
        house.refused(program, mutation, personal.clone()).await,
        "FORBIDDEN"
    );
    house
        .done_with(program, mutation, json!({"k": "PUBLIC_API"}))
        .await;
    let made = house.done_with(house.owner, mutation, personal).await;
    assert!(text(&made["createToken"]["secret"]).starts_with("atelier_"));
}
