//! Money and questions of cost: what a person has to say, what nothing can pass, and who may answer.

use serde_json::{Value, json};

use super::house::{
    answer, becomes, booked, jobs, ledger, micros, money, one_picture, open, painter, plan,
    question, set_budget, stands, the_job, token, turns,
};
use super::upstream::{Manner, PRICE, Upstream};
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Installation, Person, Planner, eventually, on_both_databases};

on_both_databases![
    a_cost_above_a_limit_is_asked_for_and_only_a_person_who_may_can_answer,
    a_declined_cost_is_no_order_and_the_task_goes_on,
    orders_that_come_at_once_do_not_pass_the_workspaces_limit,
    limits_are_an_owners_and_never_below_what_is_bound,
    each_paid_call_of_a_program_is_approved_by_a_person,
    a_stop_closes_questions_and_their_orders_and_open_ones_survive_everything_else,
    a_days_limit_and_a_plans_budget_are_asked_about_and_a_yes_is_enough,
    a_price_that_nobody_knows_is_asked_for_as_a_ceiling,
];

async fn a_cost_above_a_limit_is_asked_for_and_only_a_person_who_may_can_answer(
    installation: &Installation,
) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    upstream.answer(Manner::Made);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    set_budget(&owner, json!({"perOperationLimit": micros(10_000)}))
        .await
        .data();
    let task = owner.create_task("A fox").await;
    stands(&task, "WAITING_FOR_PERSON").await;
    let card = question(&task).await;
    assert_eq!(
        (&card["kind"], &card["raisedBy"]),
        (&json!("APPROVE_COST"), &json!("GUARD"))
    );
    assert_eq!(card["cost"]["micros"], PRICE);
    let options: Vec<_> = list(&card["options"])
        .iter()
        .map(|option| text(&option["id"]))
        .collect();
    assert_eq!(options, ["approve", "decline"]);
    assert_eq!(the_job(&task).await["state"], "AWAITING_APPROVAL");
    assert_eq!((upstream.submissions(), booked(&owner).await.len()), (0, 0));
    // Who may not, and what is no answer.
    let viewer = owner.invite("Viewer", "VIEWER").await;
    assert_eq!(answer(&viewer, &card, "approve").await.code(), "FORBIDDEN");
    let stranger = owner.invite("Stranger", "EDITOR").await;
    let elsewhere = Person::with_workspace(stranger.client.clone(), "Elsewhere").await;
    let remove = json!({"workspaceId": owner.workspace, "userId": stranger.user});
    owner
        .client
        .change("removeMember", remove, "{ workspace { id } }")
        .await;
    assert_eq!(
        answer(&elsewhere, &card, "approve").await.code(),
        "NOT_FOUND"
    );
    let program = Person {
        client: token(&owner, "PUBLIC_API").await,
        ..owner.clone()
    };
    assert_eq!(answer(&program, &card, "approve").await.code(), "FORBIDDEN");
    assert_eq!(
        answer(&owner, &card, "confirm").await.code(),
        "BAD_USER_INPUT"
    );
    let comment = json!({"cardId": card["id"], "comment": "yes, do it"});
    let words = owner
        .client
        .mutate("answerCard", comment, "{ __typename }")
        .await;
    assert_eq!(words.code(), "BAD_USER_INPUT", "words alone grant nothing");
    // A yes, and once only.
    let answered = answer(&owner, &card, "approve").await.data();
    assert_eq!(answered["answerCard"]["__typename"], "AnswerCardPayload");
    let again = answer(&owner, &card, "decline").await.data();
    assert_eq!(again["answerCard"]["__typename"], "CardNotOpen");
    stands(&task, "DELIVERED").await;
    becomes(&task, "SUCCEEDED").await;
    assert_eq!(
        (upstream.submissions(), money(&owner).await),
        (1, (PRICE, 0))
    );
    assert_eq!(
        turns(&task).await,
        2,
        "the approved order woke the task, and the answer did not"
    );
    server.stop().await;
}

async fn a_declined_cost_is_no_order_and_the_task_goes_on(installation: &Installation) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    set_budget(&owner, json!({"perOperationLimit": micros(0)}))
        .await
        .data();
    let task = owner.create_task("A fox").await;
    let card = question(&task).await;
    let input =
        json!({"cardId": card["id"], "optionId": "decline", "comment": "A drawing will do."});
    owner
        .client
        .mutate("answerCard", input, "{ __typename }")
        .await
        .data();
    stands(&task, "DELIVERED").await;
    assert_eq!(the_job(&task).await["state"], "DECLINED");
    assert_eq!((upstream.submissions(), ledger(&owner).await.len()), (0, 0));
    let said = task.journal(Some(&["INCOMING_MESSAGE"])).await;
    assert!(
        said.iter()
            .any(|entry| text(&entry["text"]).contains("A drawing will do."))
    );
    server.stop().await;
}

async fn orders_that_come_at_once_do_not_pass_the_workspaces_limit(installation: &Installation) {
    let planner = painter().await;
    let more = [
        ("ATELIER_LOCAL_PRICES", "300000"),
        ("ATELIER_LOCAL_DELAY", "2s"),
    ];
    let (server, owner) = open(installation, &planner, None, &more).await;
    set_budget(&owner, json!({"limit": micros(1_000_000)}))
        .await
        .data();
    let mut tasks = Vec::new();
    for number in 0..8 {
        tasks.push(owner.create_task(&format!("Picture {number}")).await);
    }
    let mut ordered = 0;
    for task in &tasks {
        stands(task, "DELIVERED").await;
        ordered += jobs(task).await.len();
        let (spent, reserved) = money(&owner).await;
        assert!(spent + reserved <= 1_000_000, "{spent} + {reserved}");
    }
    assert_eq!(ordered, 3, "the fourth does not fit");
    assert_eq!(money(&owner).await, (900_000, 0));
    let refused = tasks.iter().map(|task| task.journal(Some(&["RESULT"])));
    let mut words = 0;
    for journal in futures_util::future::join_all(refused).await {
        words += usize::from(
            journal
                .iter()
                .any(|entry| text(&entry["text"]).contains("setBudget")),
        );
    }
    assert_eq!(words, 5, "each refusal says what to do");
    server.stop().await;
}

async fn limits_are_an_owners_and_never_below_what_is_bound(installation: &Installation) {
    let planner = painter().await;
    let more = [
        ("ATELIER_LOCAL_PRICES", "300000"),
        ("ATELIER_LOCAL_DELAY", "1h"),
    ];
    let (server, owner) = open(installation, &planner, None, &more).await;
    for role in ["EDITOR", "VIEWER"] {
        let person = owner.invite(role, role).await;
        let refused = set_budget(&person, json!({"limit": micros(5)})).await;
        assert_eq!(refused.code(), "FORBIDDEN", "{role}");
    }
    for wrong in [
        json!({"limit": {"micros": -1}}),
        json!({"perOperationLimit": {"micros": -5, "currency": "USD"}}),
        json!({"dailyLimit": {"micros": "9223372036854775807"}}),
        json!({"limit": {"micros": 5, "currency": "EUR"}}),
    ] {
        assert_eq!(
            set_budget(&owner, wrong.clone()).await.code(),
            "BAD_USER_INPUT",
            "{wrong}"
        );
    }
    let task = owner.create_task("A fox").await;
    stands(&task, "WAITING_EXTERNAL").await;
    assert_eq!(money(&owner).await, (0, 300_000));
    let refused = set_budget(&owner, json!({"limit": micros(299_999)})).await;
    assert_eq!(refused.code(), "BAD_USER_INPUT");
    assert!(
        refused.message().contains("300000"),
        "{}",
        refused.message()
    );
    let exact = set_budget(&owner, json!({"limit": micros(300_000)}))
        .await
        .data();
    assert_eq!(exact["setBudget"]["budget"]["limit"]["micros"], 300_000);
    // Absent stays, null empties.
    let left = set_budget(&owner, json!({"dailyLimit": micros(7)}))
        .await
        .data();
    assert_eq!(left["setBudget"]["budget"]["limit"]["micros"], 300_000);
    let emptied = set_budget(&owner, json!({"limit": null, "dailyLimit": null}))
        .await
        .data();
    assert_eq!(emptied["setBudget"]["budget"]["limit"], Value::Null);
    assert_eq!(
        emptied["setBudget"]["budget"]["dailyLimit"]["micros"],
        20_000_000
    );
    server.stop().await;
}

async fn each_paid_call_of_a_program_is_approved_by_a_person(installation: &Installation) {
    let planner = Planner::start(|_, _, said| {
        let orders: Vec<_> = (1..=2)
            .map(|number| json!({"tool": "generate", "arguments": {"kind": "image", "prompt": format!("fox {number}"), "item_id": "all"}}))
            .collect();
        let is_ordered = said.contains("-> generate");
        let is_done = said.matches("for item all: succeeded").count() == 2;
        plan(
            json!([{"id": "all", "title": "both", "state": if is_done { "done" } else { "in_progress" }}]),
            if is_ordered { json!([]) } else { json!(orders) },
        )
    })
    .await;
    let (server, owner) = open(
        installation,
        &planner,
        None,
        &[("ATELIER_LOCAL_PRICES", "10")],
    )
    .await;
    let program = Person {
        client: token(&owner, "PUBLIC_API").await,
        ..owner.clone()
    };
    let task = program.create_task("Two foxes").await;
    stands(&task, "WAITING_FOR_PERSON").await;
    let cards = task.cards().await;
    assert_eq!(cards.len(), 2, "one for each call, however cheap");
    answer(&owner, &cards[0], "approve").await.data();
    assert_eq!(
        task.status().await,
        "WAITING_FOR_PERSON",
        "the other is still open"
    );
    answer(&owner, &cards[1], "approve").await.data();
    stands(&task, "DELIVERED").await;
    assert_eq!(money(&owner).await, (20, 0));
    // The same through the interface needs nobody's word.
    let own = owner.create_task("Two foxes").await;
    stands(&own, "DELIVERED").await;
    assert_eq!(own.cards().await.len(), 0);
    server.stop().await;
}

async fn a_stop_closes_questions_and_their_orders_and_open_ones_survive_everything_else(
    installation: &Installation,
) {
    let planner = painter().await;
    let more = [("ATELIER_LOCAL_PRICES", "2000000")];
    let (server, owner) = open(installation, &planner, None, &more).await;
    let (stopped, kept) = (
        owner.create_task("One").await,
        owner.create_task("Two").await,
    );
    let card = question(&stopped).await;
    question(&kept).await;
    stopped.act("stopTask").await;
    assert_eq!(the_job(&stopped).await["state"], "DECLINED");
    let late = answer(&owner, &card, "approve").await.data();
    assert_eq!(late["answerCard"]["__typename"], "CardNotOpen");
    assert_eq!(late["answerCard"]["card"]["state"], "WITHDRAWN");
    server.kill();
    let settings = super::house::settings(&planner, None, &more);
    let settings: Vec<_> = settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let server = installation.start_with(&settings).await;
    let (owner, kept) = (owner.at(&server), kept.at(&server));
    let card = question(&kept).await;
    answer(&owner, &card, "approve").await.data();
    stands(&kept, "DELIVERED").await;
    assert_eq!(money(&owner).await, (2_000_000, 0));
    server.stop().await;
}

async fn a_days_limit_and_a_plans_budget_are_asked_about_and_a_yes_is_enough(
    installation: &Installation,
) {
    let planner = painter().await;
    let (server, owner) = open(
        installation,
        &planner,
        None,
        &[("ATELIER_LOCAL_PRICES", "400000")],
    )
    .await;
    set_budget(&owner, json!({"dailyLimit": micros(1_000_000)}))
        .await
        .data();
    for name in ["one", "two"] {
        stands(&owner.create_task(name).await, "DELIVERED").await;
    }
    let third = owner.create_task("three").await;
    let card = question(&third).await;
    let why = text(&list(&card["options"])[0]["detail"]);
    assert!(why.contains("day"), "{why}");
    answer(&owner, &card, "approve").await.data();
    stands(&third, "DELIVERED").await;
    set_budget(&owner, json!({"dailyLimit": micros(100_000_000)}))
        .await
        .data();
    let input = json!({"goal": "four", "budget": micros(100_000)});
    let fourth = owner.create_task_with(input).await;
    let card = question(&fourth).await;
    let why = text(&list(&card["options"])[0]["detail"]);
    assert!(why.contains("planned"), "{why}");
    answer(&owner, &card, "approve").await.data();
    stands(&fourth, "DELIVERED").await;
    let budget = fourth
        .show("budget { limit { micros } spent { micros } }")
        .await;
    assert_eq!(
        budget["budget"],
        json!({"limit": {"micros": 400_000}, "spent": {"micros": 400_000}})
    );
    server.stop().await;
}

async fn a_price_that_nobody_knows_is_asked_for_as_a_ceiling(installation: &Installation) {
    let planner = Planner::start(|_, _, said| one_picture(said, &json!({"kind": "video"}))).await;
    let upstream = Upstream::start().await;
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    set_budget(&owner, json!({"perOperationLimit": micros(250_000)}))
        .await
        .data();
    let task = owner.create_task("A film").await;
    let card = question(&task).await;
    assert_eq!(card["cost"]["micros"], 250_000);
    let why = text(&list(&card["options"])[0]["detail"]);
    assert!(why.contains("at most"), "{why}");
    answer(&owner, &card, "approve").await.data();
    becomes(&task, "RUNNING").await;
    assert_eq!(money(&owner).await, (0, 250_000));
    // Where one operation may cost nothing there is no ceiling to ask for, and what nobody knows is not free.
    set_budget(&owner, json!({"perOperationLimit": micros(0)}))
        .await
        .data();
    let task = owner.create_task("Another film").await;
    eventually("it is refused with what to do", async || {
        let results = task.journal(Some(&["RESULT"])).await;
        results
            .iter()
            .any(|entry| text(&entry["text"]).contains("perOperationLimit"))
    })
    .await;
    assert_eq!((jobs(&task).await.len(), upstream.submissions()), (0, 1));
    server.stop().await;
}
