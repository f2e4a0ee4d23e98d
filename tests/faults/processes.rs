//! Several processes on one database behave as one server; one database that is no place for two says so.

use serde_json::json;

use crate::harness::editor::replica;
use crate::harness::works::applied;
use crate::harness::{Editor, Installation, Protocol, on_postgres, on_sqlite};

on_postgres![
    editors_at_two_processes_see_each_other,
    conflicts_are_judged_over_processes,
    presence_is_seen_over_processes,
];
on_sqlite![a_second_process_on_one_file_is_refused];

async fn editors_at_two_processes_see_each_other(installation: &Installation) {
    let (_first, owner) = installation.open().await;
    let second = installation.start().await;
    let there = owner.at(&second);
    let work = owner.create_text("").await;
    let here = Editor::open(&work, Protocol::YWebsocket).await;
    let elsewhere = Editor::open(&work.by(&there.client), Protocol::Hocuspocus).await;
    for number in 0..20 {
        let editor = if number % 2 == 0 { &here } else { &elsewhere };
        editor
            .edit(|txn, roots| replica::append(txn, roots, &format!("<{number}>")))
            .await;
    }
    for editor in [&here, &elsewhere] {
        assert!(editor.acknowledged().await);
        editor
            .sees("everything", |replica| {
                (0..20).all(|number| replica.text().contains(&format!("<{number}>")))
            })
            .await;
    }
    let texts = [
        here.read(replica::Replica::text),
        elsewhere.read(replica::Replica::text),
    ];
    assert_eq!(texts[0], texts[1]);
    assert_eq!(work.text().await, texts[0]);
    assert_eq!(work.by(&there.client).text().await, texts[0]);
}

async fn conflicts_are_judged_over_processes(installation: &Installation) {
    let (_first, owner) = installation.open().await;
    let second = installation.start().await;
    let person = owner.invite("Ana", "EDITOR").await.at(&second);
    let work = owner
        .create_nodes(
            "STORYBOARD",
            json!([{"id": "a", "fields": {}}, {"id": "b", "fields": {}}]),
        )
        .await;
    let theirs = work.by(&person.client);
    let set =
        |id: &str, value: i64| json!([{"set": {"nodeId": id, "fields": {"duration": value}}}]);
    // Both processes hold the document before they change it.
    assert_eq!((work.version().await, theirs.version().await), (1, 1));
    assert_eq!(applied(&theirs.edit_on(1, set("a", 1)).await), 2);
    let result = work.edit_on(1, set("a", 2)).await;
    assert_eq!(result["__typename"], "NodeConflict", "{result}");
    assert_eq!(applied(&work.edit_on(1, set("b", 2)).await), 3);
    assert_eq!(theirs.content().await, work.content().await);
}

async fn presence_is_seen_over_processes(installation: &Installation) {
    let (_first, owner) = installation.open().await;
    let second = installation.start().await;
    let work = owner.create_text("").await;
    let here = Editor::open(&work, Protocol::YWebsocket).await;
    let elsewhere = Editor::open(&work.by(&owner.at(&second).client), Protocol::YWebsocket).await;
    let client = elsewhere.client_id();
    elsewhere.tell(1, &json!({"nodeId": "x"})).await;
    here.see("somebody at the other process", |seen| {
        seen.awareness.contains_key(&client)
    })
    .await;
    drop(elsewhere);
    here.see("the end of it", |seen| seen.awareness[&client].1.is_null())
        .await;
}

async fn a_second_process_on_one_file_is_refused(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let second = installation.run(&["serve"]);
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(
        said.contains("PostgreSQL") || said.contains("postgres") || said.contains("another"),
        "{said}"
    );
    assert_eq!(
        owner
            .client
            .run("{ viewer { user { id } } }", json!(null))
            .await["viewer"]["user"]["id"],
        owner.user.as_str()
    );
    server.stop().await;
}
