//! Extraction in the background: what people say in so many words, by rules and by a model, and what is not taken.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::harness::model::decision;
use crate::harness::people::text;
use crate::harness::{Installation, Planner, Worker, eventually, on_both_databases, on_postgres};

on_both_databases![
    the_offline_planner_remembers_what_it_is_asked_to_in_three_languages,
    one_bad_candidate_loses_no_other_and_says_why,
    a_reply_that_is_no_list_is_answered_and_then_tried_again,
    what_waits_is_extracted_after_a_kill,
];
on_postgres![two_workers_extract_the_same_messages_once];

/// A short quiet time.
const SOON: (&str, &str) = ("ATELIER_EXTRACTION_DELAY", "50ms");

async fn the_offline_planner_remembers_what_it_is_asked_to_in_three_languages(
    installation: &Installation,
) {
    let (server, owner) = installation.open_with(&[SOON]).await;
    let task = owner.create_task("Three posters about a lighthouse").await;
    let said = task
        .post("Please remember that our brand is teal. Thanks!")
        .await;
    eventually("the brand is remembered", async || {
        owner.contents().await == ["our brand is teal"]
    })
    .await;
    let memory = &owner.facts().await[0];
    assert_eq!(
        (&memory["scope"], &memory["basis"]),
        (&json!("WORKSPACE"), &json!("EXPLICIT"))
    );
    let evidence = &memory["current"]["evidence"][0];
    assert_eq!(evidence["message"]["id"], said["id"]);
    assert_eq!(evidence["quote"], "our brand is teal");
    task.post("Запомни: я люблю крупные планы").await;
    task.post("请记住我们的品牌是蓝色").await;
    eventually("all three are remembered", async || {
        owner.contents().await.len() == 3
    })
    .await;
    let mut contents = owner.contents().await;
    contents.sort();
    assert_eq!(
        contents,
        [
            "our brand is teal",
            "я люблю крупные планы",
            "我们的品牌是蓝色"
        ]
    );
    // What is said anew changes what was remembered.
    task.post("Remember that our brand is green now").await;
    eventually("the brand has changed", async || {
        owner
            .contents()
            .await
            .contains(&"our brand is green now".to_owned())
    })
    .await;
    assert_eq!(owner.contents().await.len(), 3);
    server.stop().await;
}

/// The id before the text of a message in a request.
fn id_of(request: &str, said: &str) -> String {
    let (before, _) = request.rsplit_once(said).expect("it stands there");
    let (_, id) = before
        .rsplit_once("message_")
        .expect("an id stands before it");
    format!("message_{}", &id[..32])
}

#[expect(
    clippy::too_many_lines,
    reason = "the candidates and what is said of each belong together"
)]
async fn one_bad_candidate_loses_no_other_and_says_why(installation: &Installation) {
    let decide = |turn: u32, _: u32, _: &str| {
        let reply =
            json!([{"tool": "reply", "arguments": {"text": "Your brand is magenta, I think."}}]);
        decision(true, &if turn == 1 { reply } else { json!([]) })
    };
    let extract = |request: &str| {
        if !request.contains("brand is cobalt") {
            return json!({"candidates": []});
        }
        let id = id_of(request, "Our brand is cobalt");
        let agent = id_of(request, "Your brand is magenta");
        let base = |content: &str| json!({"content": content, "kind": "fact", "scope": "workspace", "basis": "explicit", "evidence": [id], "relation": "origin"});
        let with = |content: &str, member: &str, value: Value| {
            let mut candidate = base(content);
            candidate[member] = value;
            candidate
        };
        json!({"candidates": [
            base("Our brand is cobalt"),
            "prose",
            with("Our brand is cobalt", "kind", json!("opinion")),
            with("Our brand is cobalt", "evidence", json!([])),
            with("Our brand is cobalt", "evidence", json!(["message_00000000000000000000000000000000"])),
            with("Your brand is magenta", "evidence", json!([agent])),
            base("John Doe lives in Berlin"),
            base("Наш бренд cobalt"),
            with("Our brand is cobalt", "relation", json!("refine")),
            base("The password is hunter2"),
            base("Our brand is cobalt"),
        ]})
    };
    let planner = Planner::start_with_extractor(decide, extract).await;
    let mut settings = planner.settings().to_vec();
    settings.push(SOON);
    let (server, owner) = installation.open_with(&settings).await;
    let task = owner.create_task("A poster").await;
    eventually("the first turn is over", async || {
        task.status().await == "DELIVERED"
    })
    .await;
    task.post("Our brand is cobalt, and my password is hunter2")
        .await;
    eventually("one is taken", async || {
        owner.contents().await == ["Our brand is cobalt"]
    })
    .await;
    let rejections = owner.rejections().await;
    let mut reasons: Vec<String> = rejections.iter().map(|one| text(&one["reason"])).collect();
    reasons.sort();
    let expected = [
        "CONFLICT",
        "DUPLICATE",
        "MALFORMED",
        "MALFORMED",
        "NOT_A_PERSON",
        "NOT_SAID",
        "NO_EVIDENCE",
        "NO_EVIDENCE",
        "SECRET",
        "WRONG_LANGUAGE",
    ];
    assert_eq!(reasons, expected);
    let secret = rejections.iter().find(|one| one["reason"] == "SECRET");
    assert_eq!(secret.expect("one")["content"], "", "a secret is not kept");
    assert!(
        rejections
            .iter()
            .all(|one| !text(&one["detail"]).is_empty())
    );
    server.stop().await;
}

async fn a_reply_that_is_no_list_is_answered_and_then_tried_again(installation: &Installation) {
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let extract = move |request: &str| {
        let mut count = count.lock().expect("a lock");
        *count += 1;
        if *count < 2 {
            return json!({"memories": "none"});
        }
        assert!(
            request.contains("This does not fit"),
            "it is told what is wrong"
        );
        let id = id_of(request, "We ship on Fridays");
        json!({"candidates": [{"content": "We ship on Fridays", "kind": "fact", "scope": "workspace", "basis": "explicit",
            "evidence": [id], "relation": "origin"}]})
    };
    let planner =
        Planner::start_with_extractor(|_, _, _| decision(true, &json!([])), extract).await;
    let mut settings = planner.settings().to_vec();
    settings.push(SOON);
    let (server, owner) = installation.open_with(&settings).await;
    let task = owner.create_task("A poster").await;
    task.post("We ship on Fridays").await;
    eventually("it is remembered", async || {
        owner.contents().await == ["We ship on Fridays"]
    })
    .await;
    assert_eq!(*asked.lock().expect("a lock"), 2);
    server.stop().await;
}

async fn what_waits_is_extracted_after_a_kill(installation: &Installation) {
    let long = ("ATELIER_EXTRACTION_DELAY", "1h");
    let (server, owner) = installation.open_with(&[long]).await;
    let task = owner.create_task("Three posters about a lighthouse").await;
    let said = task.post("Please remember that our brand is teal.").await;
    let is_read = "query ($id: ID!) { node(id: $id) { ... on Message { state } } }";
    eventually("the message is read", async || {
        let data = owner.client.run(is_read, json!({"id": said["id"]})).await;
        data["node"]["state"] == "CONSUMED"
    })
    .await;
    assert!(owner.contents().await.is_empty());
    server.kill();
    let server = installation.start_with(&[SOON]).await;
    let owner = owner.at(&server);
    eventually("it is remembered", async || {
        owner.contents().await == ["our brand is teal"]
    })
    .await;
    server.stop().await;
}

async fn two_workers_extract_the_same_messages_once(installation: &Installation) {
    let extract = |request: &str| {
        let id = id_of(request, "We ship on Fridays");
        json!({"candidates": [{"content": "We ship on Fridays", "kind": "fact", "scope": "workspace", "basis": "explicit",
            "evidence": [id], "relation": "origin"}]})
    };
    let planner =
        Planner::start_with_extractor(|_, _, _| decision(true, &json!([])), extract).await;
    let mut settings = planner.settings().to_vec();
    settings.push(SOON);
    let (server, owner) = installation.open_with(&settings).await;
    let one = Worker::start(installation, "one", &settings).await;
    let other = Worker::start(installation, "other", &settings).await;
    let task = owner.create_task("A poster").await;
    for _ in 0..5 {
        task.post("We ship on Fridays").await;
    }
    eventually("it is remembered", async || {
        owner.contents().await == ["We ship on Fridays"]
    })
    .await;
    assert_eq!(owner.contents().await.len(), 1);
    drop((one, other));
    server.stop().await;
}
