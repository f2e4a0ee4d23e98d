//! Frames that are no messages: closed with their code, both before and after somebody was let in.

use serde_json::json;

use super::{Bystander, assert_memory};
use crate::harness::editor::wire;
use crate::harness::socket::{close_code, close_code_after, connect};
use crate::harness::{Editor, Installation, Protocol, on_sqlite};

on_sqlite![
    frames_that_are_no_messages_are_closed_as_malformed,
    awareness_and_state_vectors_that_ask_for_much_are_refused,
    frames_that_are_too_large_are_closed_as_such,
    foreign_origins_open_no_socket,
    unknown_works_are_closed_as_such,
    what_is_sent_before_a_token_is_bounded,
];

/// A count of a hundred million in four bytes.
const HUNDRED_MILLION: [u8; 4] = [0x80, 0xc2, 0xd7, 0x2f];

async fn frames_that_are_no_messages_are_closed_as_malformed(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let work = owner.create_text("").await;
    let mut bystander = Bystander::at(&work).await;
    for frame in [
        vec![],
        vec![0],
        vec![0, 9],
        vec![0, 0, 200],
        vec![9, 1],
        vec![0xff; 40],
        vec![0, 2, 5, 1],
        vec![0, 0, 1, 0, 77],
    ] {
        let url = Protocol::YWebsocket.url(&owner.client, &work.id);
        // An empty frame says nothing, which is no message, and may be passed over.
        if frame.is_empty() {
            continue;
        }
        assert_eq!(
            close_code_after(&url, vec![frame.clone()]).await,
            4400,
            "{frame:?}"
        );
        let url = Protocol::Hocuspocus.url(&owner.client, &work.id);
        let hello = wire::token(&work.id, owner.client.secret());
        let addressed = wire::addressed(&work.id, &frame);
        assert_eq!(
            close_code_after(&url, vec![hello, addressed]).await,
            4400,
            "{frame:?}"
        );
        assert_eq!(close_code_after(&url, vec![vec![0xff; 30]]).await, 4400);
        bystander.goes_on("a malformed frame").await;
    }
    assert_memory(&server, "malformed frames");
}

async fn awareness_and_state_vectors_that_ask_for_much_are_refused(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let work = owner.create_text("").await;
    let mut bystander = Bystander::at(&work).await;
    let awareness = |update: &[u8]| {
        let mut message = vec![wire::AWARENESS];
        wire::put_bytes(&mut message, update);
        message
    };
    let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
    let attempts = [
        ("awareness of 100 million", awareness(&HUNDRED_MILLION)),
        (
            "awareness that is no JSON",
            wire::awareness(5, 1, "{no json"),
        ),
        (
            "awareness that is nested too deep",
            wire::awareness(5, 1, &deep),
        ),
        (
            "a state vector of 100 million",
            wire::sync(wire::STEP_1, &HUNDRED_MILLION),
        ),
        (
            "a state vector that is cut short",
            wire::sync(wire::STEP_1, &[3, 1]),
        ),
    ];
    for (name, message) in attempts {
        for protocol in Protocol::ALL {
            let editor = Editor::open(&work, protocol).await;
            editor.send_message(&message).await;
            assert_eq!(
                editor.closed().await,
                Some(4400),
                "{name} over {protocol:?}"
            );
        }
        bystander.goes_on(name).await;
        assert_memory(&server, name);
    }
    // A large state is too much, and a small one is shown to others.
    let editor = Editor::open(&work, Protocol::YWebsocket).await;
    let large = json!({"nodeId": "x".repeat(70_000)}).to_string();
    editor
        .send_message(&wire::awareness(editor.client_id(), 1, &large))
        .await;
    let code = editor.closed().await;
    assert!([Some(4400), Some(1009)].contains(&code), "{code:?}");
    bystander.goes_on("a large awareness").await;
}

async fn frames_that_are_too_large_are_closed_as_such(installation: &Installation) {
    let (server, owner) = installation
        .open_with(&[("ATELIER_MAX_FRAME", "64KiB")])
        .await;
    let work = owner.create_text("").await;
    let mut bystander = Bystander::at(&work).await;
    for protocol in Protocol::ALL {
        let editor = Editor::open(&work, protocol).await;
        editor
            .send_message(&wire::sync(wire::UPDATE, &vec![0; 100_000]))
            .await;
        assert_eq!(editor.closed().await, Some(1009), "{protocol:?}");
        bystander.goes_on("a large frame").await;
    }
    assert_memory(&server, "large frames");
}

async fn foreign_origins_open_no_socket(installation: &Installation) {
    let (server, owner) = installation
        .open_with(&[("ATELIER_ALLOWED_ORIGINS", "https://studio.example")])
        .await;
    let work = owner.create_text("").await;
    let own = server.address().to_owned();
    let graphql = format!("{}/graphql", server.socket_address());
    for (url, protocol) in [
        (Protocol::YWebsocket.url(&owner.client, &work.id), ""),
        (Protocol::Hocuspocus.url(&owner.client, &work.id), ""),
        (graphql, "graphql-transport-ws"),
    ] {
        let knock = async |origin: &str| {
            let mut headers = vec![("origin", origin)];
            if !protocol.is_empty() {
                headers.push(("sec-websocket-protocol", protocol));
            }
            connect(&url, &headers).await.is_ok()
        };
        assert!(!knock("https://evil.example").await, "{url}");
        assert!(!knock("null").await, "{url}");
        assert!(knock("https://studio.example").await, "{url}");
        assert!(knock(&own).await, "{url}");
    }
}

async fn unknown_works_are_closed_as_such(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let token = owner.client.secret();
    for name in [
        "work_0198f3c2a1b47c3d8e9f001122334455",
        "nonsense",
        "..%2f..%2fetc",
        "%ff",
        "a/b/c",
        &"x".repeat(3_000),
    ] {
        let url = format!("{}/sync/{name}?token={token}", server.socket_address());
        let mut socket = connect(&url, &[])
            .await
            .expect("the refusal comes after the upgrade");
        assert_eq!(close_code(&mut socket).await, Some(4404), "{name}");
    }
}

async fn what_is_sent_before_a_token_is_bounded(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let work = owner.create_text("").await;
    let url = Protocol::Hocuspocus.url(&owner.client, &work.id);
    let frame = wire::addressed(&work.id, &wire::sync(wire::UPDATE, &vec![0; 1 << 20]));
    let code = close_code_after(&url, vec![frame; 40]).await;
    assert_eq!(code, 4401);
    assert_memory(&server, "a flood before the token");
    assert_eq!(work.version().await, 0);
}
