//! The process is killed at every write point of extraction and of forgetting: one outcome each, no twin, and nothing that was forgotten
//! comes back.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use domain::memory::WRITE_POINTS;
use serde_json::json;

use crate::harness::model::decision;
use crate::harness::{Installation, Planner, eventually, on_both_databases};

on_both_databases![memory_outlives_the_death_of_its_process_at_every_write_point];

const DELAY: &str = "ATELIER_EXTRACTION_DELAY";
const FAULT: &str = "ATELIER_TEST_FAULT_AT";
/// Messages are read at once, and again soon after somebody who had claimed them died.
const SOON: [(&str, &str); 2] = [(DELAY, "50ms"), ("ATELIER_EXTRACTION_LEASE", "1s")];
/// Messages that hold this word are answered with no list at first.
const MISFIT: &str = "crookedly";

/// A model that takes what stands behind `Our brand is` for a fact, and says in a task what it knows of brands.
async fn planner() -> Planner {
    let misfits = Arc::new(Mutex::new(0));
    let extract = move |request: &str| {
        let (before, said) = request.rsplit_once("Our brand is ").expect("a brand");
        let word = said.split_whitespace().next().unwrap_or_default();
        let mut misfits = misfits.lock().expect("a lock");
        // Both the answer and the mended one do not fit, so that the attempt fails.
        if said.contains(MISFIT) && *misfits < 2 {
            *misfits += 1;
            return json!({"prose": "none"});
        }
        *misfits = 0;
        let (_, id) = before.rsplit_once("message_").expect("an id");
        json!({"candidates": [{"content": format!("Our brand is {word}"), "kind": "fact", "scope": "workspace", "basis": "explicit",
            "evidence": [format!("message_{}", &id[..32])], "relation": "origin"}]})
    };
    let decide = |_: u32, _: u32, request: &str| {
        let words: Vec<&str> = request
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| word.starts_with("canary"))
            .collect();
        let mut decided = decision(true, &json!([]));
        decided["short_line"] = json!(format!("drawn in {}", words.join(" ")));
        decided
    };
    Planner::start_with_extractor(decide, extract).await
}

async fn memory_outlives_the_death_of_its_process_at_every_write_point(
    installation: &Installation,
) {
    let planner = planner().await;
    for (number, point) in WRITE_POINTS.into_iter().enumerate() {
        for place in ["before", "after"] {
            let fault = format!("{point} 1 {place}");
            let word = format!("canary{number}{place}");
            match point {
                "extraction.claim" | "extraction.store" => {
                    extracts(installation, &planner, (&fault, &word)).await;
                }
                "extraction.fail" => {
                    let said = format!("{word} {MISFIT}");
                    extracts(installation, &planner, (&fault, &said)).await;
                }
                "memory.forget" => forgets(installation, &planner, (&fault, &word)).await,
                other => panic!("{other} is a write point without a case"),
            }
        }
    }
}

/// A message waits; whoever reads it dies at the fault; it is read once more, and says one thing.
async fn extracts(installation: &Installation, planner: &Planner, (fault, said): (&str, &str)) {
    let word = said.split(' ').next().expect("a word");
    let mut settings = planner.settings().to_vec();
    settings.push((DELAY, "1h"));
    let (server, owner) = installation.open_with(&settings).await;
    let task = owner.create_task(fault).await;
    let said = task.post(&format!("Our brand is {said}")).await;
    let is_read = "query ($id: ID!) { node(id: $id) { ... on Message { state } } }";
    eventually("the message is read", async || {
        let data = owner.client.run(is_read, json!({"id": said["id"]})).await;
        data["node"]["state"] == "CONSUMED"
    })
    .await;
    eventually("the task rests", async || {
        task.status().await == "DELIVERED"
    })
    .await;
    server.stop().await;
    die_at(installation, planner, fault).await;
    let mut settings = planner.settings().to_vec();
    settings.extend(SOON);
    let server = installation.start_with(&settings).await;
    let owner = owner.at(&server);
    let content = format!("Our brand is {word}");
    eventually(&format!("{fault}: it is remembered"), async || {
        owner.contents().await == [content.clone()]
    })
    .await;
    let memories = owner.facts().await;
    assert_eq!(memories.len(), 1, "{fault}: {memories:?}");
    let versions = memories[0]["versions"].as_array().expect("versions");
    let evidence = memories[0]["current"]["evidence"].as_array();
    assert_eq!(versions.len(), 1, "{fault}: {versions:?}");
    assert_eq!(evidence.map(Vec::len), Some(1), "{fault}");
    assert_eq!(
        memories[0]["current"]["evidence"][0]["message"]["id"], said["id"],
        "{fault}"
    );
    server.stop().await;
}

/// Lets a worker run until it is killed at this place.
async fn die_at(installation: &Installation, planner: &Planner, fault: &str) {
    let mut dying = installation.command(&["worker"]);
    let mut dying = dying
        .envs(planner.settings())
        .envs(SOON)
        .env(FAULT, fault)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut status = None;
    eventually(&format!("{fault}: the process dies"), async || {
        status = dying.try_wait().expect("its state can be read");
        status.is_some()
    })
    .await;
    let is_killed = !status.expect("it has ended").success();
    assert!(is_killed, "{fault}: it was killed");
}

/// The server dies while somebody forgets; it was all done, or nothing of it, and it can be done again.
async fn forgets(installation: &Installation, planner: &Planner, (fault, word): (&str, &str)) {
    let mut settings = planner.settings().to_vec();
    settings.extend(SOON);
    let (server, owner) = installation.open_with(&settings).await;
    let memory = owner
        .remember(json!({"content": format!("Our brand is {word}"), "scope": "WORKSPACE"}))
        .await;
    let task = owner.create_task(fault).await;
    eventually("the task rests", async || {
        task.status().await == "DELIVERED"
    })
    .await;
    let shown = task.show("shortLine { text }").await.to_string();
    assert!(shown.contains(word), "the task has used it: {shown}");
    server.stop().await;
    let mut dying = settings.clone();
    dying.push((FAULT, fault));
    let server = installation.start_with(&dying).await;
    let input = json!({"memoryId": memory["id"]});
    let client = owner.at(&server).client;
    let answer = client
        .try_mutate("forget", input.clone(), "{ __typename }")
        .await;
    assert!(answer.is_err(), "{fault}: the server was killed");
    drop(server);
    let server = installation.start_with(&settings).await;
    let (task, owner) = (task.at(&server), owner.at(&server));
    let is_done = fault.ends_with("after");
    assert_eq!(owner.contents().await.is_empty(), is_done, "{fault}");
    let shown = task.show("shortLine { text }").await.to_string();
    assert_eq!(shown.contains(word), !is_done, "{fault}: {shown}");
    // Again, as somebody does who has seen no answer.
    let again = owner.client.mutate("forget", input, "{ __typename }").await;
    assert!(
        again.body.get("errors").is_none(),
        "{fault}: {}",
        again.body
    );
    assert!(owner.contents().await.is_empty(), "{fault}");
    let shown = task.show("shortLine { text } title").await.to_string();
    assert!(!shown.contains(word), "{fault}: {shown}");
    server.stop().await;
    let checked = installation.run(&["doctor"]);
    assert!(checked.status.success(), "{fault}: {checked:?}");
}
