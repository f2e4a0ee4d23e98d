//! `doctor`, `export` and `import`, `schema`, and settings that are wrong.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::harness::editor::replica;
use crate::harness::installation::OWNER_SECRET;
use crate::harness::{
    Client, Database, Editor, Installation, Person, Protocol, on_both_databases, on_sqlite,
};

on_both_databases![
    the_doctor_finds_a_healthy_installation_well,
    a_workspace_moves_with_its_history_and_files,
];
on_sqlite![
    the_doctor_sees_a_file_that_is_gone,
    an_unknown_setting_is_refused_with_the_nearest_one,
    the_schema_can_be_printed_without_an_installation,
    the_demo_has_something_to_show,
];

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[track_caller]
fn assert_success(output: &Output) {
    assert!(output.status.success(), "{}", said(output));
}

/// A workspace with a bit of everything.
async fn fill(owner: &Person) -> Vec<String> {
    let board = owner
        .create_nodes(
            "STORYBOARD",
            json!([{"id": "a", "type": "shot", "fields": {"description": "one"}}]),
        )
        .await;
    let editor = Editor::open(&board, Protocol::Hocuspocus).await;
    for number in 0..30 {
        editor
            .edit(|txn, roots| replica::set(txn, roots, "a", "duration", number))
            .await;
    }
    assert!(editor.acknowledged().await);
    let text = owner.create_text("first").await;
    text.replace_text(1, "second").await;
    let input = json!({"workspaceId": owner.workspace, "title": "file", "mediaType": "text/plain", "byteSize": 5});
    let made = owner
        .client
        .change("createUpload", input, "{ uploadUrl asset { id } }")
        .await;
    let url = made["uploadUrl"].as_str().expect("a URL");
    let put = owner
        .client
        .http()
        .put(url)
        .body("bytes")
        .send()
        .await
        .expect("an answer");
    assert_eq!(put.status(), 201);
    vec![
        board.id,
        text.id,
        made["asset"]["id"].as_str().expect("an id").to_owned(),
    ]
}

async fn the_doctor_finds_a_healthy_installation_well(installation: &Installation) {
    let (server, owner) = installation.open().await;
    fill(&owner).await;
    server.kill();
    let doctor = installation.run(&["doctor"]);
    assert_success(&doctor);
    assert!(
        said(&doctor).contains("3 works, 1 files"),
        "{}",
        said(&doctor)
    );
}

async fn the_doctor_sees_a_file_that_is_gone(installation: &Installation) {
    let (server, owner) = installation.open().await;
    fill(&owner).await;
    server.stop().await;
    let mut removed = 0;
    let mut folders = vec![installation.folder().join("data/blobs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of blobs") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::read(&path).expect("is read") == b"bytes" {
                fs::remove_file(path).expect("is removed");
                removed += 1;
            }
        }
    }
    assert_eq!(removed, 1);
    let doctor = installation.run(&["doctor"]);
    assert!(!doctor.status.success());
    assert!(said(&doctor).contains("missing"), "{}", said(&doctor));
}

const EVERYTHING: &str = "query ($id: ID!) { workspace(id: $id) { name works(first: 10) { nodes { id kind title version
  history(first: 10) { nodes { fromVersion toVersion summary nodeIds at } }
  ... on Storyboard { nodes { id type fields changedAtVersion } } ... on TextDocument { text early: text(atVersion: 1) }
  ... on Asset { sha256 byteSize url } } } } }";

async fn everything(client: &Client, workspace: &str) -> Value {
    let mut data = client.run(EVERYTHING, json!({"id": workspace})).await["workspace"].clone();
    for work in data["works"]["nodes"].as_array_mut().expect("works") {
        if let Some(url) = work["url"].as_str() {
            let answer = reqwest::get(format!("{}{url}", client.address()))
                .await
                .expect("an answer");
            work["url"] = json!(answer.text().await.expect("text"));
        }
    }
    data
}

async fn a_workspace_moves_with_its_history_and_files(installation: &Installation) {
    let (server, owner) = installation.open().await;
    fill(&owner).await;
    let before = everything(&owner.client, &owner.workspace).await;
    let archive = installation.folder().join("archive.zip");
    let path = archive.to_str().expect("a path");
    server.stop().await;
    assert_success(&installation.run(&["export", &owner.workspace, path]));
    let again = installation.run(&["export", &owner.workspace, path]);
    assert!(!again.status.success(), "an archive is not overwritten");
    let other = Installation::new(match Database::postgres().await {
        Some(database) if installation.takes_several_servers() => database,
        _ => Database::Sqlite,
    });
    // The other installation has an owner of its own first, so that the import finds it in use.
    let (server, _) = other.open().await;
    server.stop().await;
    assert_success(&other.run(&["import", path, "--owner", "mover@example.com"]));
    assert_success(&other.run(&["doctor"]));
    let server = other.start().await;
    let stranger = Client::new(server.address(), OWNER_SECRET);
    let seen = stranger
        .run(
            "query ($id: ID!) { workspace(id: $id) { name } }",
            json!({"id": owner.workspace}),
        )
        .await;
    assert_eq!(
        seen["workspace"],
        Value::Null,
        "the import made nobody else a member"
    );
    server.stop().await;
    // Its owner gets in by an import into an installation of which they are the first owner.
    let fresh = Installation::new(Database::Sqlite);
    assert_success(&fresh.run(&["import", path, "--owner", "mover@example.com"]));
    assert_success(&fresh.run(&["doctor"]));
    assert_success(&fresh.run(&[
        "export",
        &owner.workspace,
        fresh.folder().join("again.zip").to_str().expect("a path"),
    ]));
    assert_eq!(before["works"]["nodes"].as_array().map(Vec::len), Some(3));
    fresh.remove().await;
    other.remove().await;
}

async fn an_unknown_setting_is_refused_with_the_nearest_one(installation: &Installation) {
    let file = installation.folder().join("atelier.toml");
    fs::write(&file, "max-uplaod = \"1GiB\"\n").expect("is written");
    let output = installation.run(&["doctor"]);
    assert!(!output.status.success());
    assert!(said(&output).contains("max-upload"), "{}", said(&output));
    fs::write(&file, "max-upload = \"lots\"\n").expect("is written");
    assert!(!installation.run(&["serve"]).status.success());
    fs::remove_file(&file).expect("is removed");
    assert!(
        !installation
            .run(&["serve", "--lisen", "127.0.0.1:0"])
            .status
            .success()
    );
}

async fn the_schema_can_be_printed_without_an_installation(installation: &Installation) {
    let output = installation.run(&["schema"]);
    assert_success(&output);
    let sdl = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "type Storyboard implements",
        "union EditResult",
        "input NodeOperation @oneOf",
        "scalar Cursor",
    ] {
        assert!(sdl.contains(part), "{part}");
    }
    assert!(
        !installation.folder().join("data").exists(),
        "nothing was made for it"
    );
}

async fn the_demo_has_something_to_show(installation: &Installation) {
    let log = installation.folder().join("demo.log");
    let server = crate::harness::Server::start(installation.command(&["demo"]), log).await;
    let client = Client::new(server.address(), OWNER_SECRET);
    let query = "{ viewer { workspaces { nodes { works(first: 40) { totalCount nodes { kind title } } } } } }";
    let data = client.run(query, Value::Null).await;
    let works = data["viewer"]["workspaces"]["nodes"][0]["works"]["nodes"]
        .as_array()
        .expect("works")
        .clone();
    for kind in ["STORYBOARD", "FLOW", "TEXT"] {
        assert!(
            works.iter().any(|work| work["kind"] == kind),
            "{kind} in {works:?}"
        );
    }
    server.stop().await;
}
