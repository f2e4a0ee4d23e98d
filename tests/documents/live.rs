//! Live editing: both protocols on one document, prose that several type at once, viewers, presence, raw updates.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use yrs::{Any, Map as _, Out, Text as _};

use crate::harness::editor::{replica, wire};
use crate::harness::subscription::Subscription;
use crate::harness::works::{RESULT, applied};
use crate::harness::{Editor, Installation, Protocol, eventually, on_both_databases, on_sqlite};

on_both_databases![
    editors_of_both_protocols_and_graphql_see_each_other,
    a_viewer_receives_and_can_not_write,
    a_raw_update_through_graphql_reaches_editors,
    a_change_is_stored_before_it_is_acknowledged,
];
on_sqlite![
    prose_is_text_that_two_people_type_at_once,
    a_set_of_prose_is_the_smallest_edit,
    fields_are_shown_as_they_are,
    presence_tells_who_is_where,
    several_works_share_a_hocuspocus_socket,
];

async fn editors_of_both_protocols_and_graphql_see_each_other(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("").await;
    let one = Editor::open(&work, Protocol::YWebsocket).await;
    let other = Editor::open(&work, Protocol::Hocuspocus).await;
    one.edit(|txn, roots| replica::append(txn, roots, "from sync, "))
        .await;
    other
        .sees("the first words", |replica| replica.text() == "from sync, ")
        .await;
    other
        .edit(|txn, roots| replica::append(txn, roots, "from collab, "))
        .await;
    one.sees("the second words", |replica| {
        replica.text() == "from sync, from collab, "
    })
    .await;
    applied(
        &work
            .edit_text(&[("from collab, ", "from collab, from GraphQL")])
            .await,
    );
    for editor in [&one, &other] {
        editor
            .sees("all words", |replica| {
                replica.text() == "from sync, from collab, from GraphQL"
            })
            .await;
    }
    assert_eq!(work.text().await, "from sync, from collab, from GraphQL");
}

async fn a_viewer_receives_and_can_not_write(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let viewer = owner.invite("Vera", "VIEWER").await;
    let work = owner.create_text("read me").await;
    let writer = Editor::open(&work, Protocol::YWebsocket).await;
    for protocol in Protocol::ALL {
        let reader = Editor::open(&work.by(&viewer.client), protocol).await;
        let before = work.text().await;
        assert_eq!(reader.read(replica::Replica::text), before);
        reader
            .edit(|txn, roots| replica::append(txn, roots, " HACKED"))
            .await;
        if protocol == Protocol::Hocuspocus {
            let seen = reader.see("the refusal", |seen| seen.rejected > 0).await;
            assert_eq!(seen.scope.as_deref(), Some("readonly"));
        } else {
            reader.ask_what_is_lacking().await;
            reader.synced().await;
        }
        writer
            .edit(|txn, roots| replica::append(txn, roots, "!"))
            .await;
        assert!(writer.acknowledged().await);
        let expected = format!("{before}!");
        assert_eq!(work.text().await, expected);
        reader
            .sees("what others write", |replica| replica.text().contains('!'))
            .await;
        assert_eq!(writer.read(replica::Replica::text), expected);
    }
    let answer = work.by(&viewer.client).ask_edit(0, json!([])).await;
    assert!(["FORBIDDEN", "BAD_USER_INPUT"].contains(&answer.code()));
    let input = json!({"workId": work.id, "replacements": [{"find": "read", "replace": "x"}]});
    assert_eq!(
        viewer.client.mutate("editText", input, RESULT).await.code(),
        "FORBIDDEN"
    );
}

async fn a_raw_update_through_graphql_reaches_editors(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("base").await;
    let editor = Editor::open(&work, Protocol::YWebsocket).await;
    let offline = Editor::open(&work, Protocol::Hocuspocus).await;
    let update = offline.edit_silently(|txn, roots| replica::append(txn, roots, " and raw"));
    drop(offline);
    let input = json!({"workId": work.id, "update": STANDARD.encode(&update)});
    let result = owner
        .client
        .change("applyUpdate", input.clone(), RESULT)
        .await;
    assert_eq!(applied(&result), 2);
    editor
        .sees("the raw change", |replica| replica.text() == "base and raw")
        .await;
    // Merged like a sync message: the same bytes again change nothing.
    let again = owner.client.change("applyUpdate", input, RESULT).await;
    assert_eq!(applied(&again), 2);
    for wrong in ["", "!", "AA", "AAEC"] {
        let input = json!({"workId": work.id, "update": wrong});
        let answer = owner.client.mutate("applyUpdate", input, RESULT).await;
        assert_eq!(answer.code(), "BAD_USER_INPUT", "{wrong}");
    }
    assert_eq!(work.text().await, "base and raw");
}

async fn a_change_is_stored_before_it_is_acknowledged(installation: &Installation) {
    let (mut server, owner) = installation.open().await;
    let work = owner.create_text("").await;
    let mut expected = String::new();
    for protocol in Protocol::ALL {
        let editor = Editor::open(&work.by(&owner.at(&server).client), protocol).await;
        editor
            .edit(|txn, roots| replica::append(txn, roots, "x"))
            .await;
        assert!(editor.acknowledged().await);
        server.kill();
        server = installation.start().await;
        expected.push('x');
        assert_eq!(
            work.by(&owner.at(&server).client).text().await,
            expected,
            "{protocol:?}"
        );
    }
}

async fn prose_is_text_that_two_people_type_at_once(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let fields = json!({"title": "t", "description": "middle", "prompt": "p", "dialogue": "d", "notes": "n", "caption": "c", "lens": "wide"});
    let work = owner
        .create_nodes(
            "STORYBOARD",
            json!([{"id": "a", "type": "shot", "fields": fields}]),
        )
        .await;
    let one = Editor::open(&work, Protocol::YWebsocket).await;
    let other = Editor::open(&work, Protocol::Hocuspocus).await;
    one.edit(|txn, roots| {
        let node = replica::node(txn, roots, "a");
        for field in [
            "title",
            "description",
            "prompt",
            "dialogue",
            "notes",
            "caption",
        ] {
            assert!(
                matches!(node.get(txn, field), Some(Out::YText(_))),
                "{field} is a Y.Text"
            );
        }
        assert_eq!(node.get(txn, "lens"), Some(Out::Any(Any::from("wide"))));
        replica::prose(txn, roots, "a", "description").insert(txn, 0, "front ");
    })
    .await;
    other
        .edit(|txn, roots| {
            let description = replica::prose(txn, roots, "a", "description");
            let end = description.len(txn);
            description.insert(txn, end, " back");
        })
        .await;
    for editor in [&one, &other] {
        editor
            .sees("both ends", |replica| {
                replica
                    .node("a")
                    .is_some_and(|node| node["description"] == "front middle back")
            })
            .await;
    }
    assert_eq!(
        work.node("a").await["fields"]["description"],
        "front middle back"
    );
}

async fn a_set_of_prose_is_the_smallest_edit(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let fields = json!({"description": "A dog runs over the hill."});
    let work = owner
        .create_nodes("STORYBOARD", json!([{"id": "a", "fields": fields}]))
        .await;
    let editor = Editor::open(&work, Protocol::YWebsocket).await;
    let typed = editor.edit_silently(|txn, roots| {
        replica::prose(txn, roots, "a", "description").insert(txn, 24, " at dawn");
    });
    work.edit(
        json!([{"set": {"nodeId": "a", "fields": {"description": "A cat runs over the hill."}}}]),
    )
    .await;
    editor.send_update(&typed).await;
    assert!(editor.acknowledged().await);
    assert_eq!(
        work.node("a").await["fields"]["description"],
        "A cat runs over the hill at dawn."
    );
}

async fn fields_are_shown_as_they_are(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let fields = json!({"number": 1.5, "whole": 7, "yes": true, "list": [1, {"deep": [null, "x"]}], "text": "😀"});
    let work = owner
        .create_nodes("COLLECTION", json!([{"id": "a", "fields": fields.clone()}]))
        .await;
    let node = work.node("a").await;
    assert_eq!((&node["fields"], &node["type"]), (&fields, &json!("")));
    work.edit(json!([{"set": {"nodeId": "a", "fields": {"whole": null, "list": [], "new": {}}}}]))
        .await;
    assert_eq!(
        work.node("a").await["fields"],
        json!({"number": 1.5, "yes": true, "list": [], "text": "😀", "new": {}})
    );
    // What an editor stores is shown too: null, a node without type and order, which sorts last.
    let editor = Editor::open(&work, Protocol::Hocuspocus).await;
    editor
        .edit(|txn, roots| {
            let fields = yrs::MapPrelim::from([("empty", Any::Null)]);
            roots.nodes.insert(txn, "0", fields);
        })
        .await;
    assert!(editor.acknowledged().await);
    assert_eq!(work.node_ids().await, ["a", "0"]);
    let node = work.node("0").await;
    assert_eq!(
        (&node["fields"], &node["type"]),
        (&json!({"empty": null}), &json!(""))
    );
}

async fn presence_tells_who_is_where(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = owner
        .create_nodes("STORYBOARD", json!([{"id": "a", "fields": {}}]))
        .await;
    let document =
        "subscription ($id: ID!) { presence(workId: $id) { label nodeId actor { user { id } } } }";
    let mut subscription =
        Subscription::open(&owner.client, document, json!({"id": work.id})).await;
    let one = Editor::open(&work, Protocol::YWebsocket).await;
    let other = Editor::open(&work.by(&person.client), Protocol::Hocuspocus).await;
    let pretended = json!({"nodeId": "a", "user": {"name": "Somebody else", "id": owner.user, "color": "#f00"}});
    other.tell(1, &pretended).await;
    let client = other.client_id();
    let seen = one
        .see("who is there", |seen| seen.awareness.contains_key(&client))
        .await;
    let user = &seen.awareness[&client].1["user"];
    assert_eq!(
        (&user["name"], &user["id"], &user["color"]),
        (&json!("Ana"), &json!(person.user), &json!("#f00"))
    );
    other
        .see("its own state", |seen| seen.awareness.contains_key(&client))
        .await;
    loop {
        let event = subscription.event().await;
        let presence = event["presence"].as_array().expect("a list");
        if presence.iter().any(|one| {
            one["label"] == "Ana"
                && one["nodeId"] == "a"
                && one["actor"]["user"]["id"] == person.user.as_str()
        }) {
            break;
        }
    }
    drop(other);
    one.see("who has left", |seen| {
        seen.awareness[&client].1 == Value::Null
    })
    .await;
    let query = "query ($id: ID!) { node(id: $id) { ... on Work { presence { label } } } }";
    eventually("the presence is over", async || {
        let data = owner.client.run(query, json!({"id": work.id})).await;
        let presence = data["node"]["presence"].as_array().expect("a list").clone();
        presence.iter().all(|one| one["label"] != "Ana")
    })
    .await;
}

async fn several_works_share_a_hocuspocus_socket(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let works = [
        owner.create_text("first").await,
        owner.create_text("second").await,
    ];
    let url = Protocol::Hocuspocus.url(&owner.client, "");
    let mut socket = crate::harness::socket::connect(&url, &[])
        .await
        .expect("opens");
    let mut addresses = vec![
        works[0].id.clone(),
        format!("{}\0session", works[1].id),
        "work_nonsense".to_owned(),
    ];
    for address in &addresses {
        let frames = [
            wire::token(address, owner.client.secret()),
            wire::addressed(address, &wire::sync(wire::STEP_1, &[0])),
        ];
        for frame in frames {
            socket
                .send(Message::Binary(frame.into()))
                .await
                .expect("sends");
        }
    }
    let mut texts = Vec::new();
    let reading = async {
        while !addresses.is_empty() || texts.len() < 2 {
            let Some(Ok(Message::Binary(frame))) = socket.next().await else {
                panic!("the socket has ended");
            };
            if frame.len() < 2 {
                continue;
            }
            let mut reader = wire::Reader(&frame);
            let address = reader.text();
            let (kind, step) = (reader.number() as u8, reader.number() as u8);
            if kind == wire::AUTH {
                assert_eq!(
                    step == 1,
                    address == "work_nonsense",
                    "one document is refused, the socket stays"
                );
                addresses.retain(|waiting| *waiting != address);
            } else if (kind, step) == (wire::SYNC, wire::STEP_2) {
                let replica = replica::Replica::new();
                replica.apply(reader.bytes());
                texts.push(replica.text());
            }
        }
    };
    tokio::time::timeout(crate::harness::SOON, reading)
        .await
        .expect("both documents come");
    texts.sort();
    assert_eq!(texts, ["first", "second"]);
}
