//! Forgetting, from outside: no later request of a model, no list, no search and no archive holds what was forgotten.

use std::fs::File;
use std::io::Read as _;

use serde_json::{Value, json};

use crate::harness::model::decision;
use crate::harness::people::text;
use crate::harness::tasks::each;
use crate::harness::{Installation, Person, Planner, Task, eventually, on_both_databases};

on_both_databases![
    nothing_that_was_forgotten_is_told_to_a_model_again,
    a_person_confirms_what_the_agent_proposes_to_forget,
    a_forgotten_message_stays_in_its_thread_and_is_found_by_nobody,
];

/// What is forgotten.
const CANARY: &str = "zephyrblue77";

/// A task that says what it was told about the brand, in every way that it can, and then asks.
fn talkative(_: u32, step: u32, request: &str) -> Value {
    let knows = request.contains(CANARY);
    let words = if knows {
        format!("in {CANARY}")
    } else {
        "in no colour".to_owned()
    };
    let ask =
        json!([{"tool": "ask", "arguments": {"prompt": "Like this?", "kind": "clarification"}}]);
    let say = json!([
        {"tool": "reply", "arguments": {"text": format!("I draw it {words}")}},
        {"tool": "delegate", "arguments": {"executor": "writer", "purpose": "slogans", "prompt": format!("Write one slogan {words}, in English, at most five words.")}},
        {"tool": "recall", "arguments": {"query": format!("brand colour {words}")}},
    ]);
    let mut decided = decision(false, if step % 2 == 1 { &say } else { &ask });
    decided["summary"] = json!(format!("All of it {words}"));
    decided["short_line"] = json!(words);
    decided["rationale"] = json!(format!("because it is {words}"));
    decided
}

async fn nothing_that_was_forgotten_is_told_to_a_model_again(installation: &Installation) {
    let planner = Planner::start(talkative).await;
    let settings = planner.settings();
    let (server, owner) = installation.open_with(&settings).await;
    let memory = owner
        .remember(json!({"content": format!("Our brand is {CANARY}"), "scope": "WORKSPACE"}))
        .await;
    let task = owner.create_task("A poster of a whale").await;
    eventually("it asks", async || {
        task.status().await == "WAITING_FOR_PERSON"
    })
    .await;
    let first = planner.take_asked();
    let decides: Vec<_> = first
        .iter()
        .filter(|asked| asked.function == "decide")
        .collect();
    assert!(
        decides.iter().all(|asked| asked.system.contains(CANARY)),
        "the profile is in the prefix"
    );
    let prefixes: Vec<_> = decides.iter().map(|asked| &asked.system).collect();
    assert!(
        prefixes.windows(2).all(|two| two[0] == two[1]),
        "byte for byte the same"
    );
    let profile = owner.profile().await;
    let forgotten = owner
        .ask_to_forget(json!({"memoryId": memory["id"]}))
        .await
        .data();
    let forgotten = &forgotten["forget"];
    assert_eq!(forgotten["scrubbed"][0]["state"], "FORGOTTEN");
    assert_eq!(forgotten["scrubbed"][0]["current"], Value::Null);
    assert_eq!(forgotten["profileVersion"], profile.0 + 1);
    assert_eq!(owner.profile().await, (profile.0 + 1, String::new()));
    go_on(&planner, &task).await;
    let shown = task
        .show("summary { text } shortLine { text } checklist { title }")
        .await;
    assert!(!shown.to_string().contains(CANARY), "{shown}");
    server.stop().await;
    // Nor after a restart.
    let server = installation.start_with(&settings).await;
    let (task, owner) = (task.at(&server), owner.at(&server));
    planner.take_asked();
    task.post("And once more").await;
    eventually("it asks once more", async || {
        task.status().await == "WAITING_FOR_PERSON" && !planner.asked().is_empty()
    })
    .await;
    assert!(
        planner
            .asked()
            .iter()
            .all(|asked| !asked.text.contains(CANARY))
    );
    assert!(
        !owner
            .memories()
            .await
            .iter()
            .any(|one| one.to_string().contains(CANARY))
    );
    server.stop().await;
    archived(installation, &owner);
}

/// The task goes on twice, and no model is told.
async fn go_on(planner: &Planner, task: &Task) {
    for round in 0..2 {
        task.post(&format!("Go on, round {round}")).await;
        eventually("it asks again", async || {
            task.status().await == "WAITING_FOR_PERSON" && planner.asked().len() > 1
        })
        .await;
        for asked in planner.take_asked() {
            assert!(
                !asked.text.contains(CANARY),
                "{} was told: {}",
                asked.function,
                asked.text
            );
        }
        if round == 0 {
            // Projections that are made anew from the journal bring nothing back.
            task.act("rebuildProjections").await;
        }
    }
}

/// An archive holds the receipt alone, and nothing that is stored says what was forgotten.
fn archived(installation: &Installation, owner: &Person) {
    let archive = installation.folder().join("archive.zip");
    let path = archive.to_str().expect("a path");
    let exported = installation.run(&["export", &owner.workspace, path]);
    assert!(exported.status.success(), "{exported:?}");
    let mut zip = zip::ZipArchive::new(File::open(&archive).expect("the archive")).expect("a zip");
    let mut memories = String::new();
    let mut entry = zip.by_name("memories.jsonl").expect("memories");
    entry.read_to_string(&mut memories).expect("text");
    assert!(
        memories.contains("tombstone") && !memories.contains(CANARY),
        "{memories}"
    );
    let checked = installation.run(&["doctor"]);
    assert!(checked.status.success(), "{checked:?}");
}

async fn a_person_confirms_what_the_agent_proposes_to_forget(installation: &Installation) {
    let planner = Planner::start(|turn, step, text: &str| {
        let goal = text.rsplit_once("\ngoal: ").expect("a goal").1;
        let memory = goal.lines().next().expect("a line").to_owned();
        let propose = json!([{"tool": "propose_forget", "arguments": {"memory_id": memory}}]);
        let open = (turn, step) == (1, 1);
        decision(!open, &if open { propose } else { json!([]) })
    })
    .await;
    let (server, owner) = installation.open_with(&planner.settings()).await;
    let memory = owner
        .remember(json!({"content": format!("Our brand is {CANARY}")}))
        .await;
    let task = owner.create_task(&text(&memory["id"])).await;
    eventually("a card asks", async || !task.cards().await.is_empty()).await;
    assert_eq!(
        owner.contents().await.len(),
        1,
        "nothing is forgotten without a person"
    );
    let card = task.cards().await[0].clone();
    assert_eq!(card["kind"], "CONFIRM_IRREVERSIBLE");
    assert!(text(&card["prompt"]).contains(CANARY));
    let input = json!({"cardId": card["id"], "optionId": "confirm"});
    owner
        .client
        .change("answerCard", input, "{ __typename }")
        .await;
    assert!(owner.contents().await.is_empty());
    let card = task.cards().await[0].clone();
    assert!(!card.to_string().contains(CANARY), "{card}");
    server.stop().await;
}

async fn a_forgotten_message_stays_in_its_thread_and_is_found_by_nobody(
    installation: &Installation,
) {
    let (server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("A poster").await;
    let said = task.post(&format!("Make it {CANARY}")).await;
    let query = "query ($w: ID!, $q: String!) { search(workspaceId: $w, query: $q) { edges { node { __typename } } } }";
    let asked = json!({"w": owner.workspace, "q": CANARY});
    let found = owner.client.run(query, asked.clone()).await;
    assert_eq!(found["search"]["edges"][0]["node"]["__typename"], "Message");
    owner
        .ask_to_forget(json!({"messageId": said["id"]}))
        .await
        .data();
    let found = owner.client.run(query, asked).await;
    assert_eq!(found["search"]["edges"], json!([]));
    let thread = task.show("thread(first: 9) { nodes { text } }").await;
    let texts = each(
        thread["thread"]["nodes"].as_array().expect("a list"),
        "text",
    );
    assert_eq!(texts, [format!("Make it {CANARY}")]);
    let nobody = owner.ask_to_forget(json!({})).await;
    assert_eq!(nobody.code(), "BAD_USER_INPUT");
    server.stop().await;
}
