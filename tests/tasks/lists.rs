//! Lists of tasks, and lists of a task that can be read from both ends.

use serde_json::{Value, json};

use crate::harness::people::text;
use crate::harness::tasks::{each, list};
use crate::harness::{Installation, Person, Task, on_both_databases};

on_both_databases![
    a_list_shows_tasks_by_kind_and_status,
    pages_of_tasks_hold_each_once,
    a_thread_is_read_from_both_ends,
    a_journal_is_paged_by_kind,
    lists_of_many_tasks_are_their_own,
];

const TASKS: &str = "query ($id: ID!, $kinds: [TaskKind!], $statuses: [TaskStatus!], $first: Int, $after: Cursor) { workspace(id: $id) {
  tasks(kinds: $kinds, statuses: $statuses, first: $first, after: $after) { totalCount nodes { title }
    pageInfo { hasNextPage hasPreviousPage endCursor } } } }";

async fn tasks(owner: &Person, variables: Value) -> Value {
    let mut all = json!({"id": owner.workspace});
    for (name, value) in variables.as_object().expect("variables") {
        all[name] = value.clone();
    }
    owner.client.run(TASKS, all).await["workspace"]["tasks"].clone()
}

async fn a_list_shows_tasks_by_kind_and_status(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    owner.create_task("one").await;
    owner.create_task("two").await.act("pauseTask").await;
    owner.create_task("three").await.act("stopTask").await;
    let light = json!({"goal": "light", "kind": "LIGHTWEIGHT"});
    owner.create_task_with(light).await;
    for (filter, expected) in [
        (json!({}), json!(["three", "two", "one"])),
        (json!({"kinds": ["LIGHTWEIGHT"]}), json!(["light"])),
        (
            json!({"kinds": ["PERSISTENT", "LIGHTWEIGHT"]}),
            json!(["light", "three", "two", "one"]),
        ),
        (
            json!({"statuses": ["PAUSED", "STOPPED"]}),
            json!(["three", "two"]),
        ),
        (
            json!({"kinds": ["LIGHTWEIGHT"], "statuses": ["PAUSED"]}),
            json!([]),
        ),
        (json!({"kinds": []}), json!([])),
        (json!({"statuses": []}), json!([])),
    ] {
        let page = tasks(&owner, filter.clone()).await;
        assert_eq!(
            json!(each(&list(&page["nodes"]), "title")),
            expected,
            "{filter}"
        );
        let count = expected.as_array().map(Vec::len);
        assert_eq!(page["totalCount"], json!(count), "{filter}");
    }
}

async fn pages_of_tasks_hold_each_once(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    for number in 0..7 {
        owner.create_task(&format!("{number}")).await;
    }
    let (mut seen, mut after) = (Vec::new(), Value::Null);
    loop {
        let page = tasks(&owner, json!({"first": 3, "after": after})).await;
        seen.extend(each(&list(&page["nodes"]), "title"));
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(seen, ["6", "5", "4", "3", "2", "1", "0"]);
    let foreign = json!({"id": owner.workspace, "after": after, "statuses": ["PAUSED"]});
    let answer = owner.client.ask(TASKS, foreign).await;
    assert_eq!(answer.code(), "CURSOR_INVALID");
}

const THREAD: &str = "query ($id: ID!, $first: Int, $after: Cursor, $last: Int, $before: Cursor) { node(id: $id) { ... on Task {
  thread(first: $first, after: $after, last: $last, before: $before) { edges { cursor node { text } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }";

/// The words of a page of a thread, and where it stands.
async fn thread(task: &Task, mut variables: Value) -> (Vec<String>, Value) {
    variables["id"] = json!(task.id);
    let data = task.client.run(THREAD, variables).await;
    let page = &data["node"]["thread"];
    let nodes: Vec<_> = list(&page["edges"])
        .iter()
        .map(|edge| text(&edge["node"]["text"]))
        .collect();
    (nodes, page["pageInfo"].clone())
}

async fn a_thread_is_read_from_both_ends(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    for number in 1..=5 {
        task.post(&format!("{number}")).await;
    }
    let (words, start) = thread(&task, json!({"first": 2})).await;
    assert_eq!(words, ["1", "2"]);
    assert_eq!(
        (&start["hasNextPage"], &start["hasPreviousPage"]),
        (&json!(true), &json!(false))
    );
    let (words, end) = thread(&task, json!({"last": 2})).await;
    assert_eq!(words, ["4", "5"]);
    assert_eq!(
        (&end["hasNextPage"], &end["hasPreviousPage"]),
        (&json!(false), &json!(true))
    );
    let (words, page) = thread(&task, json!({"last": 2, "before": end["startCursor"]})).await;
    assert_eq!(words, ["2", "3"]);
    assert_eq!(
        (&page["hasNextPage"], &page["hasPreviousPage"]),
        (&json!(true), &json!(true))
    );
    let between = json!({"after": start["startCursor"], "before": end["endCursor"]});
    assert_eq!(thread(&task, between).await.0, ["2", "3", "4"]);
    let all = thread(&task, json!({"last": 5})).await;
    assert_eq!(all.1["hasPreviousPage"], false);
    for wrong in [
        json!({"first": 1, "last": 1}),
        json!({"last": 0}),
        json!({"last": 101}),
    ] {
        let mut variables = wrong.clone();
        variables["id"] = json!(task.id);
        let answer = task.client.ask(THREAD, variables).await;
        assert!(
            ["BAD_USER_INPUT", "QUERY_TOO_COMPLEX"].contains(&answer.code()),
            "{wrong}: {}",
            answer.body
        );
    }
    let other = owner.create_task("other").await;
    let foreign = json!({"id": other.id, "after": start["startCursor"]});
    let answer = owner.client.ask(THREAD, foreign).await;
    assert_eq!(answer.code(), "CURSOR_INVALID");
}

async fn a_journal_is_paged_by_kind(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    task.post("one").await;
    task.act("pauseTask").await;
    task.post("two").await;
    let query = "query ($id: ID!, $after: Cursor) { node(id: $id) { ... on Task {
      journal(first: 1, after: $after, kinds: [INCOMING_MESSAGE]) { nodes { sequence text } pageInfo { hasNextPage endCursor } } } } }";
    let (mut seen, mut after) = (Vec::new(), Value::Null);
    loop {
        let data = task
            .client
            .run(query, json!({"id": task.id, "after": after}))
            .await;
        let page = &data["node"]["journal"];
        seen.extend(list(&page["nodes"]));
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(each(&seen, "text"), ["one", "two"]);
    let whole = task.journal(None).await;
    let kinds = [
        "SYSTEM_EVENT",
        "INCOMING_MESSAGE",
        "STATUS_CHANGE",
        "INCOMING_MESSAGE",
    ];
    assert_eq!(each(&whole, "kind"), kinds);
    let sequences: Vec<_> = whole
        .iter()
        .map(|entry| entry["sequence"].clone())
        .collect();
    assert_eq!(sequences, [1, 2, 3, 4]);
    assert!(task.journal(Some(&[])).await.is_empty());
    // What people wrote is news that no decision has seen.
    assert_eq!(
        task.show("summary { stale }").await["summary"]["stale"],
        true
    );
}

async fn lists_of_many_tasks_are_their_own(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    for name in ["a", "b", "c"] {
        let task = owner.create_task(name).await;
        for number in 1..=3 {
            task.post(&format!("{name}{number}")).await;
        }
        if name == "b" {
            task.act("stopTask").await;
            task.act("resumeTask").await;
        }
    }
    let query = "query ($id: ID!) { workspace(id: $id) { tasks { nodes { title
      start: thread(first: 1) { nodes { text } pageInfo { hasNextPage } } end: thread(last: 2) { nodes { text } }
      journal(first: 2) { nodes { text } } turns(last: 1) { nodes { number } pageInfo { hasPreviousPage } } } } } }";
    let data = owner
        .client
        .run(query, json!({"id": owner.workspace}))
        .await;
    for task in list(&data["workspace"]["tasks"]["nodes"]) {
        let name = text(&task["title"]);
        let words = |numbers: &[u32]| {
            json!(
                numbers
                    .iter()
                    .map(|number| json!({"text": format!("{name}{number}")}))
                    .collect::<Vec<_>>()
            )
        };
        assert_eq!(task["start"]["nodes"], words(&[1]));
        assert_eq!(task["start"]["pageInfo"]["hasNextPage"], true);
        assert_eq!(task["end"]["nodes"], words(&[2, 3]));
        let journal = json!([{"text": name}, {"text": format!("{name}1")}]);
        assert_eq!(task["journal"]["nodes"], journal);
        let (number, has_previous) = if name == "b" { (2, true) } else { (1, false) };
        assert_eq!(task["turns"]["nodes"], json!([{"number": number}]));
        assert_eq!(task["turns"]["pageInfo"]["hasPreviousPage"], has_previous);
    }
}
