//! Waiting costs nothing: tasks that wait for their orders ask no model, and take neither time nor memory.
//!
//! `ATELIER_TEST_WAITING` says how many wait (100 by default; the promise is about 5,000 and a release build).

use std::time::{Duration, Instant};

use super::house::{open, painter};
use crate::harness::{Installation, Server, eventually, number, on_sqlite};

on_sqlite![waiting_tasks_cost_nothing];

/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(10);

async fn waiting_tasks_cost_nothing(installation: &Installation) {
    let count = number("ATELIER_TEST_WAITING").unwrap_or(100) as usize;
    let planner = painter().await;
    let more = [
        ("ATELIER_LOCAL_DELAY", "24h"),
        ("ATELIER_WATCHDOG_INTERVAL", "10s"),
        ("ATELIER_LEASE", "30s"),
    ];
    let (server, owner) = open(installation, &planner, None, &more).await;
    let first = owner.create_task("The first").await;
    super::house::stands(&first, "WAITING_EXTERNAL").await;
    let before = server.resident_bytes();
    for task in 1..count {
        owner.create_task(&format!("Task {task}")).await;
    }
    let waiting = "query ($id: ID!) { workspace(id: $id) { tasks(statuses: [WAITING_EXTERNAL], first: 1) { totalCount } } }";
    let began = Instant::now();
    loop {
        let data = owner
            .client
            .run(waiting, serde_json::json!({"id": owner.workspace}))
            .await;
        if data["workspace"]["tasks"]["totalCount"] == count {
            break;
        }
        let patience = Duration::from_secs(30 + count as u64 / 10);
        assert!(began.elapsed() < patience, "they do not all wait: {data}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    eventually("everything has settled", async || {
        let used = processor_time(&server);
        tokio::time::sleep(Duration::from_secs(1)).await;
        processor_time(&server).saturating_sub(used) < Duration::from_millis(50)
    })
    .await;
    let asked = planner.asked().len();
    let (used, resident) = (processor_time(&server), server.resident_bytes());
    tokio::time::sleep(WATCHED).await;
    let used = processor_time(&server).saturating_sub(used);
    let share = used.as_secs_f64() / WATCHED.as_secs_f64();
    let grown = resident.saturating_sub(before);
    eprintln!(
        "{count} wait: {:.2} % of a processor, {} MB more than with one",
        share * 100.0,
        grown >> 20
    );
    assert_eq!(planner.asked().len(), asked, "no model was asked");
    assert_eq!(asked, count, "each task was decided for once");
    assert!(share < 0.02, "{share}");
    assert!(grown < 100 << 20, "{grown} bytes");
    server.stop().await;
}

/// What the server has used of processors so far.
fn processor_time(server: &Server) -> Duration {
    let path = format!("/proc/{}/stat", server.process());
    let stat = std::fs::read_to_string(path).expect("the process runs");
    let (_, rest) = stat.rsplit_once(") ").expect("a name");
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = |place: usize| fields[place].parse::<u64>().expect("a number");
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}
