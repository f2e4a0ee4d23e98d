//! Two workspaces with equal texts never see each other, through no door: seeds of tasks, messages and questions are made by chance.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::open_with_router;
use crate::harness::people::text;
use crate::harness::tasks::{each, list};
use crate::harness::{Installation, Person, Random, Task, on_both_databases};

on_both_databases![equal_texts_of_two_workspaces_never_meet];

const WORDS: &[&str] = &[
    "whale",
    "лиса",
    "灯塔",
    "poster",
    "афиша",
    "海报",
    "blue",
    "синий",
    "film",
];

fn sentence(random: &mut Random) -> String {
    let words: Vec<&str> = (0..4).map(|_| *random.choose(WORDS)).collect();
    words.join(" ")
}

/// Ids of tasks that stand in a text.
fn named(text: &str) -> HashSet<String> {
    let ids = text
        .match_indices("task_")
        .filter_map(|(at, _)| text.get(at..at + 37));
    ids.map(str::to_owned).collect()
}

async fn equal_texts_of_two_workspaces_never_meet(installation: &Installation) {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = told.clone();
    let route = move |_: &str, request: &str| {
        heard.lock().expect("a lock").push(request.to_owned());
        json!({"outcome": "clarify", "rationale": "to see what is offered"})
    };
    let (_server, one, _planner) = open_with_router(installation, route).await;
    let other = Person::with_workspace(one.client.clone(), "Other").await;
    let mut random = Random::new();
    let mut tasks: [Vec<Task>; 2] = Default::default();
    for _ in 0..14 {
        let goal = sentence(&mut random);
        for (person, tasks) in [&one, &other].into_iter().zip(&mut tasks) {
            tasks.push(person.create_task(&goal).await);
        }
    }
    let ids = tasks.each_ref().map(|tasks| {
        let ids = tasks.iter().map(|task| task.id.clone());
        ids.collect::<HashSet<String>>()
    });
    for round in 0..6 {
        let words = sentence(&mut random);
        for (place, person) in [&one, &other].into_iter().enumerate() {
            let strangers = &ids[1 - place];
            let query = "query ($w: ID!, $t: String!) { routerCandidates(workspaceId: $w, text: $t) { task { id } }
              search(workspaceId: $w, query: $t) { edges { node { ... on Task { id } } } } }";
            let variables = json!({"w": person.workspace, "t": words});
            let found = person.client.run(query, variables).await;
            assert!(!list(&found["routerCandidates"]).is_empty());
            told.lock().expect("a lock").clear();
            let message = person.placed(&person.say(&words).await).await;
            let cards = person.open_cards().await;
            let of_message = cards
                .iter()
                .find(|card| card["message"]["id"] == message["id"]);
            let asked: Vec<String> = told.lock().expect("a lock").clone();
            let seen = [
                found.to_string(),
                message["routing"]["candidates"].to_string(),
                of_message.expect("a card").to_string(),
                asked.join("\n"),
            ];
            for text in seen {
                let met: Vec<_> = named(&text).intersection(strangers).cloned().collect();
                assert!(met.is_empty(), "round {round}, {words}: {met:?} in {text}");
            }
            let task = |place: usize| tasks[place].get(round).expect("a task");
            let (own, far) = (task(place), task(1 - place));
            refused(person, &message, own, far).await;
        }
    }
}

/// What names something of both is refused, and tells nothing.
async fn refused(person: &Person, message: &Value, own: &Task, far: &Task) {
    // Both workspaces are the same person's: what is refused is the crossing.
    let input = json!({"messageId": message["id"], "taskId": far.id});
    let moved = person
        .client
        .mutate("rerouteMessage", input, "{ message { id } }")
        .await;
    assert_eq!(moved.code(), "NOT_FOUND");
    let input = json!({"fromTaskId": own.id, "intoTaskId": far.id});
    let merged = person
        .client
        .mutate("mergeTasks", input, "{ task { id } }")
        .await;
    assert_eq!(merged.code(), "NOT_FOUND");
    let thread = person.main_thread().await;
    assert!(each(&thread, "id").contains(&text(&message["id"])));
}
