//! A load of tasks: each makes texts of its own, one a step, so that what was lost or done twice shows in the works.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::model::{Asked, decision, title_of};
use crate::harness::{Person, Planner, Server, Task, eventually};

/// Texts that each task makes, and steps that it takes for them; one more ends it.
pub(super) const STEPS: u32 = 8;

/// Tasks that work at once.
pub(super) struct Load {
    tasks: Vec<(String, Task)>,
}

/// A planner for such tasks.
pub(super) async fn planner() -> Planner {
    Planner::start(|_, step, text| decide(step, title_of(text))).await
}

fn decide(step: u32, task: &str) -> Value {
    if step > STEPS {
        return decision(true, &json!([]));
    }
    let title = text_title(task, step);
    let create = json!([{"tool": "create_work", "arguments": {"kind": "text", "title": title, "text": title}}]);
    decision(false, &create)
}

fn text_title(task: &str, step: u32) -> String {
    format!("{task}, text {step}")
}

impl Load {
    /// Lets so many tasks begin.
    pub(super) async fn begin(owner: &Person, count: usize) -> Self {
        let mut tasks = Vec::with_capacity(count);
        for number in 0..count {
            let title = format!("load {number}");
            let task = owner.create_task(&title).await;
            tasks.push((title, task));
        }
        Self { tasks }
    }

    /// The decisions that all of them take together, where none is asked for twice.
    pub(super) fn decisions(&self) -> usize {
        self.tasks.len() * (STEPS as usize + 1)
    }

    /// Waits until all are delivered.
    pub(super) async fn end(&self, server: &Server) {
        for (title, task) in &self.tasks {
            let task = task.at(server);
            eventually(
                &format!("\u{201c}{title}\u{201d} is delivered"),
                async || {
                    // The database may be away for a moment.
                    let shown = task.try_status().await;
                    shown.as_deref() == Some("DELIVERED")
                },
            )
            .await;
        }
    }

    /// Each call had one effect and one result, and no decision that was stored was asked for again; returns how often a worker took a
    /// turn over from another.
    pub(super) async fn assert_done_once(
        &self,
        owner: &Person,
        server: &Server,
        planner: &Planner,
    ) -> usize {
        let mut made: BTreeMap<String, usize> = BTreeMap::new();
        for title in owner.at(server).titles().await {
            *made.entry(title).or_default() += 1;
        }
        let asked = planner.asked();
        let mut taken_over = 0;
        for (title, task) in &self.tasks {
            for step in 1..=STEPS {
                let text = text_title(title, step);
                assert_eq!(
                    made.get(&text),
                    Some(&1),
                    "the effects of \u{201c}{text}\u{201d}"
                );
            }
            let task = task.at(server);
            let results = task.journal(Some(&["RESULT"])).await;
            assert_eq!(results.len(), STEPS as usize, "{title}: {results:?}");
            let takeovers = takeovers(&task).await;
            assert_asked_in_order(title, &asked, takeovers);
            taken_over += takeovers;
        }
        taken_over
    }
}

/// How often another worker took one of the task's turns.
async fn takeovers(task: &Task) -> usize {
    let shown = task.show("turns { nodes { number epoch } }").await;
    let turns = shown["turns"]["nodes"].as_array().expect("turns").clone();
    assert_eq!(turns.len(), 1, "all is done in one turn: {turns:?}");
    turns[0]["epoch"].as_u64().expect("an epoch") as usize - 1
}

/// A step is asked about before the next one, and again only by a worker that took over while nothing was stored yet.
fn assert_asked_in_order(title: &str, asked: &[Asked], takeovers: usize) {
    let of_task = asked.iter().filter(|asked| asked.title == title);
    let steps: Vec<_> = of_task.map(|asked| asked.step).collect();
    assert!(
        steps.is_sorted(),
        "{title}: a stored decision was asked for again: {steps:?}"
    );
    let twice = steps.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!(
        twice <= takeovers,
        "{title} was taken over {takeovers} times, and asked for a decision again {twice} times"
    );
    assert_eq!(
        steps.len() - twice,
        STEPS as usize + 1,
        "{title}: every step was asked about"
    );
}
