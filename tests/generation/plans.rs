//! Budgets of tasks: what an owner allows is the most, whoever sets or answers what.

use serde_json::{Value, json};

use super::house::{
    answer, becomes, micros, money, open, painter, question, set_budget, stands, the_job,
};
use crate::harness::{Answer, Installation, Person, Task, on_both_databases};

on_both_databases![
    an_editor_neither_raises_nor_lifts_what_an_owner_lets_a_task_spend,
    a_cost_beyond_an_owners_plan_is_approved_by_an_owner,
    a_tasks_budget_is_not_set_below_what_is_set_aside,
];

/// Sets what a task may spend.
async fn set(person: &Person, task: &Task, budget: &Value) -> Answer {
    let input = json!({"taskId": task.id, "budget": budget});
    let selection = "{ task { budget { limit { micros } } } }";
    person.client.mutate("updateTask", input, selection).await
}

async fn limit(task: &Task) -> Value {
    task.show("budget { limit { micros } }").await["budget"]["limit"].clone()
}

async fn an_editor_neither_raises_nor_lifts_what_an_owner_lets_a_task_spend(
    installation: &Installation,
) {
    let (server, owner) = installation.open_without_agent().await;
    let editor = owner.invite("Editor", "EDITOR").await;
    let input = json!({"goal": "A fox", "budget": micros(100)});
    let made = owner.create_task_with(input).await;
    let later = owner.create_task("Another fox").await;
    set(&owner, &later, &micros(100)).await.data();
    for task in [&made, &later] {
        for lifted in [json!(null), micros(101)] {
            let refused = set(&editor, task, &lifted).await;
            assert_eq!(refused.code(), "FORBIDDEN", "{lifted}");
            assert!(refused.message().contains("100 micros at most"));
        }
        assert_eq!(limit(task).await, json!({"micros": 100}));
        // Less is an editor's to say, and to take back; what else is changed with a refused budget stays as well.
        for allowed in [40, 100] {
            set(&editor, task, &micros(allowed)).await.data();
            assert_eq!(limit(task).await, json!({"micros": allowed}));
        }
        let both = json!({"taskId": task.id, "title": "Mine", "budget": null});
        let refused = editor.client.mutate("updateTask", both, "{ __typename }");
        assert_eq!(refused.await.code(), "FORBIDDEN");
        assert_ne!(task.show("title").await["title"], "Mine");
        set(&owner, task, &micros(500)).await.data();
        set(&editor, task, &micros(500)).await.data();
        set(&owner, task, &json!(null)).await.data();
        // Where no owner has said anything, the plan is the editors'.
        for free in [micros(7), micros(9_000), json!(null)] {
            set(&editor, task, &free).await.data();
        }
    }
    server.stop().await;
}

async fn a_cost_beyond_an_owners_plan_is_approved_by_an_owner(installation: &Installation) {
    let planner = painter().await;
    let more = [("ATELIER_LOCAL_PRICES", "400000")];
    let (server, owner) = open(installation, &planner, None, &more).await;
    let editor = owner.invite("Editor", "EDITOR").await;
    let input = json!({"goal": "A fox", "budget": micros(100_000)});
    let task = owner.create_task_with(input.clone()).await;
    let card = question(&task).await;
    let refused = answer(&editor, &card, "approve").await;
    assert_eq!(refused.code(), "FORBIDDEN");
    assert_eq!(question(&task).await["id"], card["id"], "it stays open");
    assert_eq!(the_job(&task).await["state"], "AWAITING_APPROVAL");
    assert_eq!(limit(&task).await, json!({"micros": 100_000}));
    answer(&owner, &card, "approve").await.data();
    stands(&task, "DELIVERED").await;
    assert_eq!(limit(&task).await, json!({"micros": 400_000}));
    // A plan of an editor is the editor's to pass; a limit of the workspace is asked about as ever.
    let own = editor.create_task_with(input).await;
    let card = question(&own).await;
    answer(&editor, &card, "approve").await.data();
    stands(&own, "DELIVERED").await;
    assert_eq!(money(&owner).await, (800_000, 0));
    server.stop().await;
}

async fn a_tasks_budget_is_not_set_below_what_is_set_aside(installation: &Installation) {
    let planner = painter().await;
    let more = [
        ("ATELIER_LOCAL_PRICES", "300000"),
        ("ATELIER_LOCAL_DELAY", "1h"),
    ];
    let (server, owner) = open(installation, &planner, None, &more).await;
    set_budget(&owner, json!({"perOperationLimit": micros(300_000)}))
        .await
        .data();
    let task = owner.create_task("A fox").await;
    stands(&task, "WAITING_EXTERNAL").await;
    becomes(&task, "RUNNING").await;
    let refused = set(&owner, &task, &micros(299_999)).await;
    assert_eq!(refused.code(), "BAD_USER_INPUT");
    assert!(
        refused.message().contains("300000"),
        "{}",
        refused.message()
    );
    assert_eq!(limit(&task).await, Value::Null);
    set(&owner, &task, &micros(300_000)).await.data();
    assert_eq!(limit(&task).await, json!({"micros": 300_000}));
    server.stop().await;
}
