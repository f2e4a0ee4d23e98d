//! Every outcome of the router, and what a person sees of it.

use serde_json::{Value, json};
use uuid::Uuid;

use super::open_with_router;
use crate::harness::people::text;
use crate::harness::tasks::{each, list};
use crate::harness::{Installation, eventually, on_both_databases};

on_both_databases![
    a_question_is_answered_in_the_main_thread,
    a_message_finds_the_task_that_it_continues,
    a_goal_becomes_a_task_in_the_language_of_its_person,
    a_single_picture_is_a_light_task_until_it_is_refined,
    what_is_ambiguous_is_asked_and_the_answer_delivers_it,
    a_question_can_be_answered_with_a_new_task,
    an_archived_place_is_told_and_another_is_offered,
    a_goal_that_is_in_work_already_continues_it,
    a_reply_that_never_fits_becomes_a_question,
    the_id_of_a_task_among_the_words_is_an_address,
    main_is_nowhere_to_be_seen,
    without_a_language_model_the_main_thread_works,
];

/// The id of the first task in the request's index whose line holds these words.
fn id_of(request: &str, words: &str) -> String {
    let line = request
        .lines()
        .find(|line| line.starts_with("task_") && line.contains(words));
    let line = line.unwrap_or_else(|| panic!("{words} is not shown: {request}"));
    line.split(' ').next().expect("an id").to_owned()
}

async fn a_question_is_answered_in_the_main_thread(installation: &Installation) {
    let route = |_: &str, _: &str| json!({"outcome": "answer", "answer": "Три миллиметра.", "rationale": "a question of craft"});
    let (_server, owner, _planner) = open_with_router(installation, route).await;
    let editor = owner.invite("Ed", "EDITOR").await;
    let posted = owner.ask_post(json!({"text": "сколько вылеты?"})).await;
    let message = posted.data()["postMessage"]["message"].clone();
    assert_eq!(message["state"], "RECEIVED");
    assert_eq!(message["task"], Value::Null);
    let message = owner.placed(&text(&message["id"])).await;
    assert_eq!(message["state"], "ANSWERED");
    assert_eq!(message["routing"]["outcome"], "ANSWERED_BY_MAIN");
    assert_eq!(message["routing"]["stage"], "SEMANTIC");
    assert_eq!(message["routing"]["rationale"], "a question of craft");
    assert_eq!(message["task"], Value::Null);
    let thread = owner.main_thread().await;
    assert_eq!(
        each(&thread, "text"),
        ["сколько вылеты?", "Три миллиметра."]
    );
    assert_eq!(thread[1]["author"], json!({"kind": "AGENT", "task": null}));
    assert_eq!(thread[1]["language"], "ru");
    // It is the owner's own conversation.
    assert!(editor.main_thread().await.is_empty());
    for message in &thread {
        assert_eq!(editor.message(&text(&message["id"])).await, Value::Null);
    }
}

async fn a_message_finds_the_task_that_it_continues(installation: &Installation) {
    let route = |_: &str, request: &str| json!({"outcome": "existing_task", "task_id": id_of(request, "whales"), "rationale": "whales"});
    let (_server, owner, _planner) = open_with_router(installation, route).await;
    let whales = owner.create_task("Posters about whales").await;
    owner.create_task("Posters about seals").await;
    let id = owner.say("make the whales bluer").await;
    eventually("it is read", async || {
        owner.message(&id).await["state"] == "CONSUMED"
    })
    .await;
    let message = owner.message(&id).await;
    assert_eq!(message["task"]["id"], whales.id.as_str());
    assert_eq!(message["routing"]["outcome"], "EXISTING_TASK");
    let candidates = list(&message["routing"]["candidates"]);
    assert_eq!(candidates.len(), 2);
    assert_eq!(candidates[0]["task"]["id"], whales.id.as_str());
    assert!(candidates[0]["score"].as_f64() > candidates[1]["score"].as_f64());
    let reasons = list(&candidates[0]["reasons"]);
    assert!(reasons.contains(&json!("RECENTLY_ACTIVE")), "{reasons:?}");
    // It stands in the task's thread, and in the main thread.
    let thread = each(&owner.main_thread().await, "id");
    assert_eq!(thread, std::slice::from_ref(&id));
    let journal = whales.journal(Some(&["INCOMING_MESSAGE"])).await;
    assert_eq!(journal[0]["data"]["message"], id.as_str());
    assert!(!message["consumedBy"].is_null());
}

async fn a_goal_becomes_a_task_in_the_language_of_its_person(installation: &Installation) {
    let route = |_: &str, _: &str| json!({"outcome": "new_task", "title": "Lighthouse film", "goal": "A film about a lighthouse", "rationale": "a goal of its own"});
    let (_server, owner, _planner) = open_with_router(installation, route).await;
    let id = owner.say("хочу фильм про маяк, на месяц работы").await;
    let message = owner.placed(&id).await;
    assert_eq!(message["routing"]["outcome"], "NEW_TASK");
    let task = &message["task"];
    assert_eq!(
        (
            &task["title"],
            &task["goal"],
            &task["language"],
            &task["kind"]
        ),
        (
            &json!("Lighthouse film"),
            &json!("A film about a lighthouse"),
            &json!("ru"),
            &json!("PERSISTENT")
        )
    );
    assert_eq!(task["origin"]["id"], id.as_str());
    eventually("its first step reads the message", async || {
        owner.message(&id).await["state"] == "CONSUMED"
    })
    .await;
}

async fn a_single_picture_is_a_light_task_until_it_is_refined(installation: &Installation) {
    let route = |_: &str, request: &str| {
        if request.contains("Goose with glasses") {
            return json!({"outcome": "existing_task", "task_id": id_of(request, "Goose"), "rationale": "it refines the goose"});
        }
        json!({"outcome": "lightweight_task", "title": "Goose with glasses", "generation": {"kind": "image", "prompt": "a goose"}, "rationale": "one picture"})
    };
    let (_server, owner, _planner) = open_with_router(installation, route).await;
    let message = owner
        .placed(&owner.say("draw a goose with glasses").await)
        .await;
    assert_eq!(message["routing"]["outcome"], "LIGHTWEIGHT_TASK");
    assert_eq!(message["task"]["kind"], "LIGHTWEIGHT");
    assert_eq!(message["task"]["goal"], "draw a goose with glasses");
    let titles = async || {
        let query =
            "query ($id: ID!) { workspace(id: $id) { tasks { nodes { title } totalCount } } }";
        let data = owner
            .client
            .run(query, json!({"id": owner.workspace}))
            .await;
        data["workspace"]["tasks"].clone()
    };
    assert_eq!(titles().await, json!({"nodes": [], "totalCount": 0}));
    let refined = owner.placed(&owner.say("rounder glasses").await).await;
    assert_eq!(refined["task"]["id"], message["task"]["id"]);
    assert_eq!(refined["task"]["kind"], "PERSISTENT");
    assert_eq!(
        titles().await,
        json!({"nodes": [{"title": "Goose with glasses"}], "totalCount": 1})
    );
}

async fn what_is_ambiguous_is_asked_and_the_answer_delivers_it(installation: &Installation) {
    let route = |_: &str, request: &str| {
        let ids = [id_of(request, "autumn"), id_of(request, "winter")];
        json!({"outcome": "clarify", "question": "Which poster?", "candidate_task_ids": ids, "rationale": "both fit"})
    };
    let (_server, owner, _planner) = open_with_router(installation, route).await;
    let autumn = owner.create_task("Posters for autumn").await;
    let winter = owner.create_task("Posters for winter").await;
    let id = owner.say("the second poster was better before").await;
    let message = owner.placed(&id).await;
    assert_eq!(message["state"], "AWAITING_CHOICE");
    assert_eq!(message["routing"]["outcome"], "NEEDS_CLARIFICATION");
    let cards = owner.open_cards().await;
    assert_eq!(cards.len(), 1);
    let card = &cards[0];
    assert_eq!(
        (&card["prompt"], &card["raisedBy"], &card["message"]["id"]),
        (&json!("Which poster?"), &json!("ROUTER"), &json!(id))
    );
    let options = list(&card["options"]);
    assert_eq!(
        each(&options, "id"),
        [autumn.id.as_str(), &winter.id, "new_task"]
    );
    assert_eq!(options[0]["task"]["id"], autumn.id.as_str());
    owner.answer(card, &winter.id).await;
    eventually("it is read there", async || {
        owner.message(&id).await["state"] == "CONSUMED"
    })
    .await;
    let message = owner.message(&id).await;
    assert_eq!(message["task"]["id"], winter.id.as_str());
    assert_eq!(message["routing"]["outcome"], "EXISTING_TASK");
    assert!(owner.open_cards().await.is_empty());
    assert!(autumn.journal(Some(&["INCOMING_MESSAGE"])).await.is_empty());
}

async fn a_question_can_be_answered_with_a_new_task(installation: &Installation) {
    let route = |_: &str, _: &str| json!({"outcome": "clarify", "rationale": "nothing tells"});
    let (_server, owner, _planner) = open_with_router(installation, route).await;
    let id = owner.say("做一个更亮的").await;
    owner.placed(&id).await;
    let cards = owner.open_cards().await;
    assert_eq!(cards[0]["prompt"], "这条消息属于哪个任务？");
    owner.answer(&cards[0], "new_task").await;
    let message = owner.message(&id).await;
    assert_eq!(message["task"]["goal"], "做一个更亮的");
    assert_eq!(message["task"]["language"], "zh");
    assert_eq!(message["routing"]["outcome"], "NEW_TASK");
}

async fn an_archived_place_is_told_and_another_is_offered(installation: &Installation) {
    let route = |_: &str, request: &str| json!({"outcome": "existing_task", "task_id": id_of(request, "album"), "rationale": "the album"});
    let (_server, owner, _planner) = open_with_router(installation, route).await;
    let album = owner.create_task("The album of the theatre").await;
    let other = owner.create_task("Something else").await;
    album.act("archiveTask").await;
    let id = owner.say("page forty is too dark").await;
    let message = owner.placed(&id).await;
    assert_eq!(message["state"], "UNDELIVERABLE");
    assert_eq!(message["routing"]["outcome"], "REJECTED");
    let why = text(&message["routing"]["rationale"]);
    assert!(why.contains("archived"), "{why}");
    let cards = owner.open_cards().await;
    let offered = each(&list(&cards[0]["options"]), "id");
    assert_eq!(offered, ["resume", "pick_another"]);
    owner.answer(&cards[0], "pick_another").await;
    let cards = owner.open_cards().await;
    assert_eq!(
        each(&list(&cards[0]["options"]), "id"),
        [other.id.as_str(), "new_task"]
    );
    owner.answer(&cards[0], &other.id).await;
    assert_eq!(owner.message(&id).await["task"]["id"], other.id.as_str());
    assert_eq!(album.status().await, "ARCHIVED");
}

async fn a_goal_that_is_in_work_already_continues_it(installation: &Installation) {
    let route = |function: &str, request: &str| match function {
        "route" => {
            json!({"outcome": "new_task", "goal": "Storyboard about the lighthouse keeper and his whale", "rationale": "it looks new"})
        }
        _ => {
            json!({"decision": "continue_existing", "task_id": id_of(request, "lighthouse"), "rationale": "it is the same film"})
        }
    };
    let (_server, owner, planner) = open_with_router(installation, route).await;
    let film = owner
        .create_task("Storyboard about the lighthouse keeper and a whale")
        .await;
    eventually("a card holds it in work", async || {
        film.status().await == "WAITING_FOR_PERSON"
    })
    .await;
    eventually("the index holds it", async || {
        let query = "query ($w: ID!) { search(workspaceId: $w, query: \"lighthouse keeper\") { edges { score } } }";
        let data = owner.client.run(query, json!({"w": owner.workspace})).await;
        !list(&data["search"]["edges"]).is_empty()
    })
    .await;
    let id = owner
        .say("a storyboard about the lighthouse keeper and his whale")
        .await;
    let message = owner.placed(&id).await;
    assert_eq!(message["routing"]["outcome"], "EXISTING_TASK");
    assert_eq!(message["task"]["id"], film.id.as_str());
    let candidates = list(&message["routing"]["candidates"]);
    let reasons = list(&candidates[0]["reasons"]);
    assert!(
        reasons.contains(&json!("SIMILAR_IN_PROGRESS")),
        "{reasons:?}"
    );
    let asked: Vec<_> = planner
        .asked()
        .into_iter()
        .map(|asked| asked.function)
        .collect();
    assert!(asked.contains(&"confirm_new_task".to_owned()), "{asked:?}");
}

async fn a_reply_that_never_fits_becomes_a_question(installation: &Installation) {
    let route = |_: &str, _: &str| json!({"outcome": "existing_task", "task_id": "task_0198f3c2a1b47c3d8e9f001122334455", "rationale": "made up"});
    let (_server, owner, planner) = open_with_router(installation, route).await;
    let task = owner.create_task("Something real").await;
    let message = owner.placed(&owner.say("do it").await).await;
    assert_eq!(message["state"], "AWAITING_CHOICE");
    let why = text(&message["routing"]["rationale"]);
    assert!(why.contains("did not fit"), "{why}");
    let routed = planner
        .asked()
        .into_iter()
        .filter(|asked| asked.function == "route");
    assert_eq!(routed.count(), 2, "a misfit is answered once");
    let options = list(&owner.open_cards().await[0]["options"]);
    assert_eq!(each(&options, "id"), [task.id.as_str(), "new_task"]);
}

async fn the_id_of_a_task_among_the_words_is_an_address(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    let other = owner.create_task("other").await;
    let id = owner.say(&format!("go on with {}, please", task.id)).await;
    let message = owner.message(&id).await;
    assert_eq!(message["state"], "DELIVERED");
    assert_eq!(message["task"]["id"], task.id.as_str());
    assert_eq!(message["routing"]["stage"], "DETERMINISTIC");
    // Two are no address: somebody has to read what is wanted.
    let words = format!("like {} but as {}", task.id, other.id);
    let id = owner.say(&words).await;
    assert_eq!(owner.message(&id).await["state"], "RECEIVED");
    // What another workspace has is nothing here.
    let elsewhere = crate::harness::Person::with_workspace(owner.client.clone(), "Elsewhere").await;
    let id = elsewhere.say(&format!("go on with {}", task.id)).await;
    assert_eq!(elsewhere.message(&id).await["state"], "RECEIVED");
}

async fn main_is_nowhere_to_be_seen(installation: &Installation) {
    let route = |_: &str, _: &str| json!({"outcome": "answer", "answer": "Hello!", "rationale": "a greeting"});
    let (_server, owner, _planner) = open_with_router(installation, route).await;
    owner.placed(&owner.say("hello").await).await;
    let bytes = |id: &str| Uuid::parse_str(id.split_once('_').expect("an id").1).expect("a UUID");
    let main = Uuid::new_v5(&bytes(&owner.workspace), bytes(&owner.user).as_bytes());
    let main = format!("task_{}", main.simple());
    let query = "query ($id: ID!, $w: ID!) { node(id: $id) { id } workspace(id: $w) {
      tasks(kinds: [LIGHTWEIGHT, PERSISTENT]) { totalCount nodes { id } } events(first: 50) { nodes { kind data subject { __typename } } } }
      search(workspaceId: $w, query: \"main\") { edges { score } } routerCandidates(workspaceId: $w, text: \"main\") { score } }";
    let variables = json!({"id": main, "w": owner.workspace});
    let data = owner.client.run(query, variables).await;
    assert_eq!(data["node"], Value::Null);
    assert_eq!(
        data["workspace"]["tasks"],
        json!({"totalCount": 0, "nodes": []})
    );
    assert_eq!(data["search"]["edges"], json!([]));
    assert_eq!(data["routerCandidates"], json!([]));
    let events = list(&data["workspace"]["events"]["nodes"]);
    let kinds = each(&events, "kind");
    assert!(
        kinds
            .iter()
            .all(|kind| kind.starts_with("MESSAGE_") || kind == "MEMBERS_CHANGED"),
        "{kinds:?}"
    );
    assert!(!data.to_string().contains(&main), "{data}");
    for action in ["pauseTask", "stopTask", "archiveTask", "promoteTask"] {
        let refused = owner
            .client
            .mutate(action, json!({"taskId": main}), "{ task { id } }");
        assert_eq!(refused.await.code(), "NOT_FOUND", "{action}");
    }
    let addressed = owner
        .ask_post(json!({"taskId": main, "text": "hello"}))
        .await;
    assert_eq!(addressed.code(), "NOT_FOUND");
}

async fn without_a_language_model_the_main_thread_works(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    for talk in [
        "Привет!",
        "你能做什么？",
        "What can you do?",
        "Что ты умеешь делать?",
    ] {
        let talk = owner.placed(&owner.say(talk).await).await;
        assert_eq!(talk["state"], "ANSWERED", "{talk}");
    }
    let id = owner
        .say("Сделай раскадровку про смотрителя маяка, 5 кадров")
        .await;
    let made = owner.placed(&id).await;
    assert_eq!(made["routing"]["outcome"], "NEW_TASK");
    assert_eq!(made["task"]["language"], "ru");
}
