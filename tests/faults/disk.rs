//! The disk is full for a while: clients are told so, nothing acknowledged is lost, and with room again all goes on.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::works::{RESULT, applied};
use crate::harness::{Client, Installation, Person, Server, on_sqlite};

on_sqlite![nothing_acknowledged_is_lost_when_the_disk_was_full];

/// The same command for a process that goes on when a file of it may not grow, as on a full disk.
fn that_survives_a_full_disk(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        shell.env(name, value.expect("nothing is taken away"));
    }
    shell.current_dir(command.get_current_dir().expect("a folder"));
    shell
}

async fn append(client: &Client, work: &str, line: &str) -> Result<i64, String> {
    let input =
        json!({"workId": work, "replacements": [{"find": "|", "replace": format!("{line}|")}]});
    let answer = client.mutate("editText", input, RESULT).await;
    match answer.body.get("errors") {
        Some(_) => Err(answer.code().to_owned()),
        None => Ok(applied(&answer.data()["editText"])),
    }
}

async fn nothing_acknowledged_is_lost_when_the_disk_was_full(installation: &Installation) {
    let command = that_survives_a_full_disk(&installation.command(&["serve"]));
    let log = installation.folder().join("full.log");
    let server = Server::start(command, log).await;
    let client = Client::new(server.address(), crate::harness::installation::OWNER_SECRET);
    let owner = Person::with_workspace(client, "Proof").await;
    let work = owner.create_text("|").await;
    let mut kept = Vec::new();
    for round in 0..3 {
        let line = format!("<before {round}>");
        append(&owner.client, &work.id, &line).await.expect("room");
        kept.push(line);
        // Less than a page: nothing can be written, wherever in its files the database is.
        server.limit_files(Some(1 << 10));
        let refused = append(&owner.client, &work.id, "<refused>").await;
        assert_eq!(refused, Err("UNAVAILABLE".to_owned()));
        server.limit_files(None);
        // A command of its own that is refused, so that a transaction is undone in order.
        let title = "t".repeat(501);
        let input = json!({"workspaceId": owner.workspace, "kind": "TEXT", "title": title});
        let answer = owner
            .client
            .mutate("createWork", input, "{ work { id } }")
            .await;
        assert_eq!(answer.code(), "BAD_USER_INPUT");
        let line = format!("<after {round}>");
        append(&owner.client, &work.id, &line).await.expect("room");
        kept.push(line);
    }
    server.kill();
    let server = installation.start().await;
    let content = work.by(&owner.at(&server).client).content().await;
    let expected = Value::from(format!("{}|", kept.concat()));
    assert_eq!(content["text"], expected);
}
