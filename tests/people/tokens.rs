//! Tokens: who has none is nobody; who lost it is nobody from then on, on open sockets too.

use domain::time::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::harness::installation::OWNER_SECRET;
use crate::harness::people::text;
use crate::harness::subscription::{Heard, Subscription};
use crate::harness::{Client, Editor, Installation, Protocol, SOON, on_both_databases, on_sqlite};

on_both_databases![
    without_a_good_token_nothing_is_served,
    a_revoked_token_is_refused_on_open_sockets_too,
    an_expired_token_is_refused_on_open_sockets_too,
    the_first_owner_is_made_once,
];
on_sqlite![
    a_secret_is_nowhere_in_what_is_stored_or_logged,
    tokens_tell_when_they_were_used,
];

async fn without_a_good_token_nothing_is_served(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let work = owner.create_text("text").await;
    for secret in ["", "wrong", "proof-owner-0123456789abcdee"] {
        let client = Client::new(server.address(), secret);
        let answer = client.ask("{ viewer { user { id } } }", Value::Null).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code()),
            (401, "UNAUTHENTICATED")
        );
        let sync = Editor::knock(&work.by(&client), Protocol::YWebsocket).await;
        assert_eq!(sync.closed().await, Some(4401));
        let collab = Editor::knock(&work.by(&client), Protocol::Hocuspocus).await;
        collab
            .see("the refusal", |seen| seen.denied.is_some())
            .await;
        let metrics = client
            .http()
            .get(format!("{}/metrics", server.address()))
            .bearer_auth(secret)
            .send()
            .await;
        assert_eq!(metrics.expect("an answer").status(), 401);
    }
    for path in ["/healthz", "/readyz"] {
        let answer = reqwest::get(format!("{}{path}", server.address()))
            .await
            .expect("an answer");
        assert_eq!(answer.status(), 200);
    }
}

async fn a_revoked_token_is_refused_on_open_sockets_too(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = owner.create_text("text").await;
    let theirs = work.by(&person.client);
    let sync = Editor::open(&theirs, Protocol::YWebsocket).await;
    let collab = Editor::open(&theirs, Protocol::Hocuspocus).await;
    let document = "subscription ($id: ID!) { workspaceEvents(workspaceId: $id) { kind } }";
    let mut subscription =
        Subscription::open(&person.client, document, json!({"id": owner.workspace})).await;
    let revoked = person
        .client
        .change("revokeToken", json!({"id": person.token}), "{ revokedId }")
        .await;
    assert_eq!(revoked["revokedId"], person.token.as_str());
    assert_eq!(sync.closed().await, Some(4401));
    collab
        .see("it is told to go", |seen| {
            seen.denied.is_some() || seen.let_go.is_some()
        })
        .await;
    assert!(matches!(
        subscription.next().await,
        Heard::Errors(_) | Heard::Closed(_)
    ));
    assert_eq!(
        person
            .client
            .ask("{ viewer { user { id } } }", Value::Null)
            .await
            .code(),
        "UNAUTHENTICATED"
    );
    let again = Editor::knock(&theirs, Protocol::YWebsocket).await;
    assert_eq!(again.closed().await, Some(4401));
    // Others are not touched by it, and a token of somebody else can not be revoked.
    assert_eq!(work.text().await, "text");
    let other = owner.invite("Bo", "EDITOR").await;
    let answer = owner
        .client
        .mutate("revokeToken", json!({"id": other.token}), "{ revokedId }")
        .await;
    assert_eq!(answer.code(), "NOT_FOUND");
}

async fn an_expired_token_is_refused_on_open_sockets_too(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("text").await;
    let until = SystemClock.now().micros() + 4_000_000;
    let person = owner
        .invite_until("Ana", "EDITOR", Some(&rfc3339(until)))
        .await;
    let sync = Editor::open(&work.by(&person.client), Protocol::YWebsocket).await;
    let closed = tokio::time::timeout(SOON, sync.closed()).await;
    assert_eq!(closed.expect("it is closed"), Some(4401));
    assert!(
        SystemClock.now().micros() >= until,
        "not before it has expired"
    );
    assert_eq!(
        person
            .client
            .ask("{ viewer { user { id } } }", Value::Null)
            .await
            .code(),
        "UNAUTHENTICATED"
    );
    let past = json!({"label": "x", "kind": "PERSONAL", "expiresAt": "2020-01-01T00:00:00Z"});
    assert_eq!(
        owner
            .client
            .mutate("createToken", past, "{ secret }")
            .await
            .code(),
        "BAD_USER_INPUT"
    );
}

async fn the_first_owner_is_made_once(installation: &Installation) {
    let (server, owner) = installation.open().await;
    server.kill();
    let server = installation
        .start_with(&[("ATELIER_BOOTSTRAP_TOKEN", "another-secret-0123456789")])
        .await;
    let viewer = "{ viewer { user { id } workspaces { totalCount } } }";
    let late = Client::new(server.address(), "another-secret-0123456789");
    assert_eq!(
        late.ask(viewer, Value::Null).await.code(),
        "UNAUTHENTICATED"
    );
    let data = Client::new(server.address(), OWNER_SECRET)
        .run(viewer, Value::Null)
        .await;
    assert_eq!(
        data["viewer"],
        json!({"user": {"id": owner.user}, "workspaces": {"totalCount": 2}})
    );
}

async fn a_secret_is_nowhere_in_what_is_stored_or_logged(installation: &Installation) {
    let (server, owner) = installation.open_with(&[("ATELIER_LOG", "debug")]).await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = owner.create_text("confidential words").await;
    let editor = Editor::open(&work.by(&person.client), Protocol::YWebsocket).await;
    drop(editor);
    let log = server.log();
    for word in [
        person.client.secret(),
        OWNER_SECRET,
        "confidential words",
        "@example.com",
    ] {
        assert!(!log.contains(word), "the log holds {word}");
    }
    server.stop().await;
    for entry in std::fs::read_dir(installation.folder().join("data")).expect("a data folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let bytes = std::fs::read(&path).expect("is read");
            for secret in [person.client.secret(), OWNER_SECRET] {
                let is_there = bytes
                    .windows(secret.len())
                    .any(|window| window == secret.as_bytes());
                assert!(!is_there, "{} holds a secret", path.display());
            }
        }
    }
}

async fn tokens_tell_when_they_were_used(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let tokens = "{ viewer { tokens { id label kind lastUsedAt expiresAt } } }";
    let input = json!({"label": "build", "kind": "PUBLIC_API", "clientMutationId": "m"});
    let made = owner
        .client
        .change(
            "createToken",
            input,
            "{ secret clientMutationId token { id label kind lastUsedAt } }",
        )
        .await;
    assert_eq!(
        (
            &made["token"]["label"],
            &made["token"]["kind"],
            &made["clientMutationId"]
        ),
        (&json!("build"), &json!("PUBLIC_API"), &json!("m"))
    );
    assert_eq!(made["token"]["lastUsedAt"], Value::Null);
    let used = owner.client.at(owner.client.address());
    let client = Client::new(used.address(), &text(&made["secret"]));
    crate::harness::eventually("its use is told", async || {
        let data = client.run(tokens, Value::Null).await;
        let tokens = data["viewer"]["tokens"].as_array().expect("tokens").clone();
        tokens
            .iter()
            .any(|token| token["label"] == "build" && token["lastUsedAt"].is_string())
    })
    .await;
}

/// A time as the API takes it.
fn rfc3339(micros: i64) -> String {
    let time = chrono::DateTime::from_timestamp_micros(micros);
    time.expect("a time").to_rfc3339()
}
