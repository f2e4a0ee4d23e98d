//! What a model can get wrong: each has a defined end in the journal, in words, and the task can go on.

use serde_json::{Value, json};

use crate::harness::model::{Reply, decision};
use crate::harness::works::applied;
use crate::harness::{Client, Installation, Person, Planner, Task, eventually, on_both_databases};

on_both_databases![
    a_reply_that_is_no_decision_blocks_the_task_with_the_reason_and_a_resume_goes_on,
    calls_that_can_not_be_made_have_their_results_and_the_task_goes_on,
    the_same_action_for_ever_comes_to_an_end_that_a_person_can_lift,
];

/// Replies to a planner's request that are no decision, and a word of what is said about each.
fn misfits() -> Vec<(&'static str, Reply, &'static str)> {
    let many: Vec<_> = (0..1_000)
        .map(|number| json!({"tool": "reply", "arguments": {"text": number.to_string()}}))
        .collect();
    let mut long = decision(true, &json!([]));
    long["summary"] = json!("x".repeat(10 << 20));
    let whole = decision(true, &json!([])).to_string();
    let broken_off = whole[..whole.len() / 2].to_owned();
    vec![
        (
            "prose",
            Reply::Prose("Sure! I will begin at once.".to_owned()),
            "prose",
        ),
        ("nothing", Reply::Prose(String::new()), "empty"),
        ("truncated JSON", Reply::Written(broken_off), "broke off"),
        (
            "another shape",
            Reply::Call(json!({"answer": "yes"})),
            "missing",
        ),
        ("10 MB", Reply::Call(long), "bytes"),
        (
            "1,000 actions",
            Reply::Call(decision(true, &json!(many))),
            "1000",
        ),
    ]
}

async fn stands(task: &Task, status: &str) {
    eventually(&format!("the task is {status}"), async || {
        task.status().await == status
    })
    .await;
}

async fn a_reply_that_is_no_decision_blocks_the_task_with_the_reason_and_a_resume_goes_on(
    installation: &Installation,
) {
    let cases = misfits();
    let titles: Vec<_> = cases
        .iter()
        .map(|(title, _, word)| (*title, *word))
        .collect();
    let planner = Planner::start(move |turn, _, text| {
        let case = cases
            .iter()
            .find(|(title, _, _)| text.contains(&format!("title: {title}\n")));
        let (_, reply, _) = case.expect("one of the cases");
        if turn == 1 {
            reply.clone()
        } else {
            decision(true, &json!([])).into()
        }
    })
    .await;
    let (server, owner) = installation.open_with(&planner.settings()).await;
    for (title, word) in titles {
        let task = owner.create_task(title).await;
        stands(&task, "BLOCKED").await;
        let reason = task.show("statusReason").await["statusReason"].clone();
        let reason = reason.as_str().expect("says why");
        assert!(
            reason.contains(word) && reason.len() < 3_000,
            "{title}: {reason}"
        );
        let entries = task.journal(Some(&["STATUS_CHANGE"])).await;
        let last = entries.last().expect("an entry");
        assert_eq!(last["data"]["to"], "BLOCKED", "{title}");
        assert_eq!(last["text"], reason, "{title}: the journal has the reason");
        assert_eq!(
            task.journal(Some(&["PLAN", "RESULT"])).await,
            Vec::<Value>::new()
        );
        task.act("resumeTask").await;
        stands(&task, "DELIVERED").await;
        assert_eq!(task.journal(Some(&["PLAN"])).await.len(), 1, "{title}");
    }
    assert!(!server.log().contains("panicked"), "nothing broke");
    server.stop().await;
}

/// Actions none of which can be made.
fn impossible(work: &str, elsewhere: &str) -> Value {
    json!([
        {"tool": "teleport", "arguments": {}},
        {"tool": "create_work", "arguments": {"kind": "poem", "title": "t"}},
        {"tool": "read_work", "arguments": {"work_id": elsewhere}},
        {"tool": "replace_text", "arguments": {"work_id": elsewhere, "base_version": 1, "text": "mine"}},
        {"tool": "replace_text", "arguments": {"work_id": work, "base_version": 1, "text": "stale"}},
        {"tool": "edit_text", "arguments": {"work_id": work, "replacements": [{"find": "not there", "replace": "x"}]}},
    ])
}

async fn another_workspace(owner: &Person) -> Person {
    let client: Client = owner.client.clone();
    Person::with_workspace(client, "Elsewhere").await
}

async fn calls_that_can_not_be_made_have_their_results_and_the_task_goes_on(
    installation: &Installation,
) {
    let planner = Planner::start(|_, step, text| {
        // The goal names the works.
        let goal = text.rsplit_once("\ngoal: ").expect("a goal").1;
        let mut ids = goal.lines().next().expect("a line").split(' ');
        let (work, elsewhere) = (ids.next().expect("a work"), ids.next().expect("another"));
        let actions = if step == 1 {
            impossible(work, elsewhere)
        } else {
            json!([])
        };
        decision(true, &actions)
    })
    .await;
    let (server, owner) = installation.open_with(&planner.settings()).await;
    let work = owner.create_text("the first words").await;
    assert_eq!(applied(&work.replace_text(1, "a person's words").await), 2);
    let foreign = another_workspace(&owner).await.create_text("secret").await;
    let task = owner
        .create_task(&format!("{} {}", work.id, foreign.id))
        .await;
    stands(&task, "DELIVERED").await;
    let results = task.journal(Some(&["RESULT"])).await;
    let states: Vec<_> = results
        .iter()
        .map(|entry| entry["data"]["state"].clone())
        .collect();
    assert_eq!(
        states,
        ["REFUSED", "REFUSED", "FAILED", "FAILED", "FAILED", "FAILED"],
        "{results:?}"
    );
    let words = [
        "teleport",
        "poem",
        "not found",
        "not found",
        "version",
        "not there",
    ];
    for (entry, word) in results.iter().zip(words) {
        let told = entry.to_string().to_lowercase();
        assert!(told.contains(word), "{word}: {entry}");
    }
    let conflict = &results[4]["data"]["result"];
    assert!(
        conflict.is_object(),
        "what is there now comes with a conflict: {conflict}"
    );
    assert_eq!(work.text().await, "a person's words");
    assert_eq!(foreign.text().await, "secret");
    assert_eq!(
        planner.asked_for(1, 2),
        1,
        "the model sees the results before the task is delivered"
    );
    server.stop().await;
}

async fn the_same_action_for_ever_comes_to_an_end_that_a_person_can_lift(
    installation: &Installation,
) {
    let planner = Planner::start(|_, _, text| {
        if text.contains("That is enough") {
            return decision(true, &json!([]));
        }
        let read = json!([{"tool": "search", "arguments": {"query": "posters"}}]);
        let make = json!([{"tool": "create_work", "arguments": {"kind": "text", "title": "again", "text": "again"}}]);
        let actions = if text.contains("title: look for ever\n") { read } else { make };
        decision(false, &actions)
    })
    .await;
    let mut settings = planner.settings().to_vec();
    settings.extend([
        ("ATELIER_STEPS_PER_TURN", "3"),
        ("ATELIER_TURNS_PER_TASK", "6"),
    ]);
    let (server, owner) = installation.open_with(&settings).await;
    for (title, status, word) in [
        ("look for ever", "BLOCKED", "nothing came of the last"),
        ("make for ever", "PAUSED", "limit of 6 turns"),
    ] {
        let task = owner.create_task(title).await;
        stands(&task, status).await;
        let shown = task.show("statusReason usage { steps }").await;
        let reason = shown["statusReason"].as_str().expect("says why");
        assert!(reason.contains(word), "{title}: {reason}");
        let steps = shown["usage"]["steps"].as_u64().expect("a number");
        assert!(steps <= 18, "{title}: {steps} steps");
        task.post("That is enough; end it.").await;
        task.ask_to("resumeTask").await;
        stands(&task, "DELIVERED").await;
    }
    // A call that is planned again within its turn is not made again.
    assert!(owner.count_titled("again").await <= 6);
    server.stop().await;
}
