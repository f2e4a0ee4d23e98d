//! Making and changing tasks.

use serde_json::{Value, json};

use crate::harness::people::text;
use crate::harness::{Installation, on_both_databases};

on_both_databases![
    a_task_is_made_from_its_goal_alone,
    a_task_is_made_as_it_was_asked_for,
    the_same_key_makes_one_task,
    what_can_not_be_a_task_is_refused,
    what_an_update_leaves_out_stays,
];

const TASK: &str = "id kind status statusReason title goal brief language autonomy origin { id } workspace { id }
  summary { text stale rewrittenAt journalSequence } shortLine { text stale } checklist { id } lines { id }
  budget { limit { micros currency } spent { micros } reserved { micros } }
  usage { steps inputTokens cachedTokens outputTokens spent { micros } }
  works { seenVersion lastReadAt lastWrittenAt work { id linkedTasks { id } } } changeNotices { summary }
  turns { nodes { number state epoch leaseOwner leaseExpiresAt startedAt endedAt steps { number } } }";

async fn a_task_is_made_from_its_goal_alone(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let goal = "Серия из трёх плакатов для весенней ярмарки на площади перед старым вокзалом города\nБез текста";
    let task = owner.create_task(goal).await;
    let made = task.show(TASK).await;
    assert_eq!(made["goal"], goal);
    assert_eq!(
        made["title"],
        "Серия из трёх плакатов для весенней ярмарки на площади перед старым вокзалом…"
    );
    assert_eq!(
        (&made["language"], &made["brief"]),
        (&json!("ru"), &json!(""))
    );
    assert_eq!(
        (&made["kind"], &made["autonomy"], &made["status"]),
        (
            &json!("PERSISTENT"),
            &json!("ASK_AT_CHECKPOINTS"),
            &json!("QUEUED")
        )
    );
    for nothing in ["statusReason", "origin"] {
        assert_eq!(made[nothing], Value::Null, "{nothing}");
    }
    for empty in ["checklist", "lines", "works", "changeNotices"] {
        assert_eq!(made[empty], json!([]), "{empty}");
    }
    // Nothing happened that a projection would have to tell of.
    let nothing = json!({"text": "", "stale": false, "rewrittenAt": null, "journalSequence": 0});
    assert_eq!(made["summary"], nothing);
    assert_eq!(
        made["budget"],
        json!({"limit": null, "spent": {"micros": 0}, "reserved": {"micros": 0}})
    );
    assert_eq!(made["usage"]["steps"], 0);
    let turn = json!({"number": 1, "state": "QUEUED", "epoch": 0, "leaseOwner": null, "leaseExpiresAt": null,
        "startedAt": null, "endedAt": null, "steps": []});
    assert_eq!(made["turns"]["nodes"], json!([turn]));
    let journal = task.journal(None).await;
    assert_eq!(
        (journal.len(), &journal[0]["kind"]),
        (1, &json!("SYSTEM_EVENT"))
    );
    assert_eq!(journal[0]["actor"]["kind"], "PERSON");
}

async fn a_task_is_made_as_it_was_asked_for(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let work = owner.create_text("facts").await;
    let task = owner
        .create_task_with(json!({
            "goal": "Write it", "title": "The text", "kind": "LIGHTWEIGHT", "language": "zh-Hant", "autonomy": "RUN_UNTIL_DONE",
            "budget": {"micros": "9007199254740993", "currency": "USD"}, "workIds": [work.id],
        }))
        .await;
    let made = task.show(TASK).await;
    assert_eq!(
        (
            &made["title"],
            &made["kind"],
            &made["language"],
            &made["autonomy"]
        ),
        (
            &json!("The text"),
            &json!("LIGHTWEIGHT"),
            &json!("zh-Hant"),
            &json!("RUN_UNTIL_DONE")
        )
    );
    // Beyond 2^53 a number would lose digits.
    assert_eq!(
        made["budget"]["limit"],
        json!({"micros": "9007199254740993", "currency": "USD"})
    );
    let linked = json!({"seenVersion": 0, "lastReadAt": null, "lastWrittenAt": null,
        "work": {"id": work.id, "linkedTasks": [{"id": task.id}]}});
    assert_eq!(made["works"], json!([linked]));
    assert_eq!(task.act("promoteTask").await, "QUEUED");
    assert_eq!(task.show("kind").await["kind"], "PERSISTENT");
}

async fn the_same_key_makes_one_task(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let input = json!({"goal": "Once", "idempotencyKey": "key"});
    let first = owner.create_task_with(input.clone()).await;
    assert_eq!(owner.create_task_with(input).await.id, first.id);
    let other = json!({"workspaceId": owner.workspace, "goal": "Twice", "idempotencyKey": "key"});
    let answer = owner
        .client
        .mutate("createTask", other, "{ task { id } }")
        .await;
    assert_eq!(answer.code(), "IDEMPOTENCY_KEY_REUSED");
}

async fn what_can_not_be_a_task_is_refused(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let elsewhere = crate::harness::Person::with_workspace(owner.client.clone(), "Elsewhere").await;
    let foreign = elsewhere.create_text("x").await;
    let money = |micros: Value, currency: &str| json!({"micros": micros, "currency": currency});
    for (wrong, code) in [
        (json!({"goal": " "}), "BAD_USER_INPUT"),
        (json!({"goal": "x".repeat(20_001)}), "BAD_USER_INPUT"),
        (json!({"goal": "x", "title": ""}), "BAD_USER_INPUT"),
        (
            json!({"goal": "x", "language": "по-русски"}),
            "BAD_USER_INPUT",
        ),
        (
            json!({"goal": "x", "budget": money(json!(-1), "USD")}),
            "BAD_USER_INPUT",
        ),
        (
            json!({"goal": "x", "budget": money(json!("1.5"), "USD")}),
            "BAD_USER_INPUT",
        ),
        (
            json!({"goal": "x", "budget": money(json!(1), "EUR")}),
            "BAD_USER_INPUT",
        ),
        (json!({"goal": "x", "kind": "HEAVY"}), "BAD_USER_INPUT"),
        (
            json!({"goal": "x", "workIds": ["work_1"]}),
            "BAD_USER_INPUT",
        ),
        (json!({"goal": "x", "workIds": [foreign.id]}), "NOT_FOUND"),
        (json!({"goal": "x", "idempotencyKey": ""}), "BAD_USER_INPUT"),
    ] {
        let mut input = wrong.clone();
        input["workspaceId"] = json!(owner.workspace);
        let answer = owner
            .client
            .mutate("createTask", input, "{ task { id } }")
            .await;
        assert_eq!(answer.code(), code, "{wrong}");
    }
    let query = "query ($id: ID!) { workspace(id: $id) { tasks { totalCount } } }";
    let data = owner
        .client
        .run(query, json!({"id": owner.workspace}))
        .await;
    assert_eq!(data["workspace"]["tasks"]["totalCount"], 0);
}

async fn what_an_update_leaves_out_stays(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("Goal").await;
    let selection = "{ task { title brief autonomy budget { limit { micros } } } }";
    let update = async |mut input: Value| {
        input["taskId"] = json!(task.id);
        owner.client.mutate("updateTask", input, selection).await
    };
    let budget = json!({"micros": 5_000_000, "currency": "USD"});
    let changed = update(json!({"title": "New", "brief": "Mind the gap", "budget": budget})).await;
    let expected = json!({"title": "New", "brief": "Mind the gap", "autonomy": "ASK_AT_CHECKPOINTS",
        "budget": {"limit": {"micros": 5_000_000}}});
    assert_eq!(changed.data()["updateTask"]["task"], expected);
    let emptied = update(json!({"brief": null, "budget": null, "autonomy": "ASK_EACH_STEP"})).await;
    let expected = json!({"title": "New", "brief": "", "autonomy": "ASK_EACH_STEP", "budget": {"limit": null}});
    assert_eq!(emptied.data()["updateTask"]["task"], expected);
    for wrong in [
        json!({"title": null}),
        json!({"autonomy": null}),
        json!({"title": "x".repeat(201)}),
        json!({"budget": {"micros": -5, "currency": "USD"}}),
    ] {
        let answer = update(wrong.clone()).await;
        assert_eq!(answer.code(), "BAD_USER_INPUT", "{wrong}");
    }
    let before = task.journal(None).await.len();
    update(json!({})).await.data();
    assert_eq!(
        task.journal(None).await.len(),
        before,
        "nothing was changed"
    );
    let entries = task.journal(Some(&["SYSTEM_EVENT"])).await;
    let last = text(&entries[entries.len() - 1]["text"]);
    assert!(last.contains("brief") && last.contains("budget"), "{last}");
}
