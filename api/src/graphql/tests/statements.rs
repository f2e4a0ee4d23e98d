//! How many statements a query takes: as many for twelve tasks as for two.

use domain::turn::Risk;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::json;

use super::agent::{Agent, call};
use super::*;

const EVERYTHING: &str = "query($w: ID!) { workspace(id: $w) { openCards { task { id } message { id } } tasks(first: 12) { totalCount nodes {
  title workspace { name } summary { text stale } shortLine { text } checklist { title outputs { id } }
  inbox { text author { label } } read: inbox(states: [CONSUMED]) { consumedBy { step { rationale } } }
  thread(last: 1) { nodes { text author { label } attachments { title } } }
  journal(first: 2) { nodes { text actor { label } step { rationale } } }
  turns(last: 1) { nodes { state steps { rationale consumed { text } prompts { text } calls { tool step { number } } } } }
  lines { exchanges { prompt } } works { seenVersion work { title linkedTasks { title } } } changeNotices { summary } cards { prompt }
} } } }";

/// A task with a work, a step that has read a message, and a message that waits.
async fn make(house: &House, number: usize) {
    let work = house.storyboard(&["a"]).await;
    let query = "mutation($w: ID!, $i: [ID!], $g: String!) { createTask(input: {workspaceId: $w, goal: $g, workIds: $i}) { task { id } } }";
    let variables = json!({"w": house.workspace.id, "i": [work], "g": format!("goal {number}")});
    let made = house.done_with(house.owner, query, variables).await;
    let task = text(&made["createTask"]["task"]["id"]);
    house.post(&task, "first").await;
    let agent = Agent::claim(house, &task).await;
    agent
        .decide("Begin.", vec![call("read_work", Risk::Read)])
        .await;
    house.post(&task, "second").await;
}

#[tokio::test]
async fn a_list_of_tasks_takes_as_many_statements_for_many_as_for_few() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    // Of this thread alone, on which all of the test runs.
    let _guard = metrics::set_default_local_recorder(&recorder);
    let statements = || {
        let rendered = handle.render();
        let lines = rendered.lines();
        let counts = lines.filter(|line| line.starts_with("atelier_store_statements_total"));
        let counts = counts.filter_map(|line| line.rsplit_once(' '));
        counts
            .map(|(_, count)| count.parse::<u64>().expect("a number"))
            .sum::<u64>()
    };
    let house = House::open().await;
    let mut counts = Vec::new();
    for tasks in [2, 12] {
        let query = "query($w: ID!) { workspace(id: $w) { tasks(first: 1) { totalCount } } }";
        let variables = json!({"w": house.workspace.id});
        let made = house.done_with(house.owner, query, variables.clone()).await;
        let made = made["workspace"]["tasks"]["totalCount"].as_u64();
        for number in made.expect("a count") as usize..tasks {
            make(&house, number).await;
        }
        let before = statements();
        let answer = house.done_with(house.owner, EVERYTHING, variables).await;
        counts.push(statements() - before);
        let nodes = answer["workspace"]["tasks"]["nodes"].as_array();
        assert_eq!(nodes.map(Vec::len), Some(tasks));
        let last = &answer["workspace"]["tasks"]["nodes"][0];
        assert_eq!(last["inbox"][0]["text"], json!("second"));
        assert_eq!(
            last["read"][0]["consumedBy"]["step"]["rationale"],
            json!("Begin.")
        );
        assert_eq!(
            last["turns"]["nodes"][0]["steps"][0]["consumed"][0]["text"],
            json!("first")
        );
    }
    assert!(counts[0] > 10, "the statements are counted: {counts:?}");
    assert_eq!(counts[0], counts[1], "{counts:?}");
}
