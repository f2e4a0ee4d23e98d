//! What stands on a stage: a task, its cards, the items of its plan.

use domain::card::{Card, CardKind, CardOption, CardOrigin, CardState};
use domain::ids::{CardId, TaskId, UserId, WorkspaceId};
use domain::task::{
    Autonomy, ChecklistItem, ChecklistState, Course, Task, TaskKind, TaskStatus, Usage,
};
use serde_json::{Value, json};

use super::stage::AT;

pub(super) fn read_item(item: &Value, former: &[ChecklistItem]) -> ChecklistItem {
    let id = item["id"].as_str().expect("an id").to_owned();
    let state = item["state"].as_str().expect("a state").to_uppercase();
    let state = ChecklistState::from_name(&state).expect("a state");
    let known = former.iter().find(|known| known.id == id);
    ChecklistItem {
        is_confirmed: state == ChecklistState::Done
            && known.is_some_and(|known| known.is_confirmed && known.state == ChecklistState::Done),
        title: item["title"].as_str().expect("a title").to_owned(),
        needs_confirmation: item["needs_confirmation"] == true,
        depends_on: serde_json::from_value(item["depends_on"].clone()).expect("ids"),
        outputs: serde_json::from_value(item["outputs"].clone()).expect("works"),
        evidence: item["evidence"].as_str().map(str::to_owned),
        needs: Vec::new(),
        stale_since: None,
        id,
        state,
    }
}

pub(super) fn card(task: &Task, arguments: &Value) -> Card {
    let options = arguments["options"]
        .as_array()
        .expect("options")
        .iter()
        .map(|option| {
            let text = |key: &str| option[key].as_str().expect("a text").to_owned();
            CardOption::plain(&text("id"), &text("label"))
        });
    Card {
        id: CardId::new(),
        workspace: task.workspace,
        kind: CardKind::from_name(&arguments["kind"].as_str().expect("a kind").to_uppercase())
            .expect("a kind"),
        task: Some(task.id),
        message: None,
        call: None,
        item: None,
        prompt: arguments["prompt"].as_str().expect("a question").to_owned(),
        options: options.collect(),
        recommended: None,
        works: Vec::new(),
        cost: None,
        job: None,
        raised_by: CardOrigin::Model,
        state: CardState::Open,
        answer: None,
        created_at: AT,
    }
}

pub(super) fn runtime_card(task: &Task, item: &str) -> Card {
    let options = json!([{"id": "confirm", "label": "yes"}, {"id": "adjust", "label": "no"}]);
    Card {
        item: Some(item.to_owned()),
        cost: None,
        job: None,
        raised_by: CardOrigin::Runtime,
        ..card(
            task,
            &json!({"kind": "checkpoint", "prompt": "Look", "options": options}),
        )
    }
}

pub(super) fn task(language: &str, goal: &str) -> Task {
    Task {
        id: TaskId::new(),
        workspace: WorkspaceId::new(),
        kind: TaskKind::Persistent,
        status: TaskStatus::Running,
        status_reason: None,
        title: goal.chars().take(60).collect(),
        goal: goal.to_owned(),
        brief: String::new(),
        language: language.to_owned(),
        created_by: UserId::new(),
        origin: None,
        main_of: None,
        autonomy: Autonomy::AskAtCheckpoints,
        budget_micros: None,
        created_at: AT,
        updated_at: AT,
        journal_head: 0,
        news_head: 0,
        active_turn: None,
        course: Course::default(),
        usage: Usage::default(),
    }
}
