//! Making and editing works: once, by whom, on whose authority, behind the fence.

use std::time::Duration;

use domain::actor::Actor;
use domain::document::Version;
use domain::error::Error;
use domain::people::{AddMember, Role};
use domain::store::StoreExt as _;
use domain::turn::CallOutcome;
use domain::work::WorkKind;
use serde_json::{Value, json};

use super::house::House;
use super::on_both_databases;
use crate::tools::Ran;

fn result(ran: &Ran) -> &Value {
    match &ran.outcome {
        CallOutcome::Done(result) => result,
        other => panic!("is not done: {other:?}"),
    }
}

async fn a_board_is_made_once_with_ids_that_stay(mut house: House) {
    let nodes = json!([
        {"type": "shot", "fields": {"title": "Dawn"}},
        {"id": "last", "type": "shot", "fields": {"title": "Night"}},
        {"id": "first", "after": ""},
    ]);
    let arguments = json!({"kind": "storyboard", "title": "The keeper", "nodes": nodes});
    let (step, calls) = house.decide(&[("create_work", arguments)]).await;
    let started = house.start(&step, &calls[0]).await;
    let lost = house.run(&step, &started).await.expect("runs");
    // Its result was lost with its worker; another one runs it again.
    house.claim(true).await;
    let again = house.start(&step, &started).await;
    let ran = house.run(&step, &again).await.expect("runs");
    assert_eq!(result(&lost), result(&ran));
    house.finish(&step, &again, Ok(ran)).await;

    let count = house.reads().count_works(house.workspace, &[]).await;
    assert_eq!(count.expect("counts"), 1);
    let made = result(&lost);
    let work = made["work_id"]
        .as_str()
        .expect("an id")
        .parse()
        .expect("an id");
    let shots = house.shots(work).await;
    assert_eq!(made["nodeIds"], json!(shots));
    assert_eq!((shots[0].as_str(), shots[2].as_str()), ("first", "last"));
    assert_eq!(made["version"], 1);
    let expected = Actor::Agent {
        task: house.task,
        turn: 1,
        step: 1,
    };
    assert_eq!(house.authors(work).await, [expected]);
    let linked = house.reads().list_linked_works(&[house.task]).await;
    let linked = linked.expect("works").pop().expect("is linked");
    assert_eq!((linked.work, linked.seen_version), (work, Version(1)));
}

async fn an_empty_work_is_at_version_0_and_a_text_at_1(mut house: House) {
    let arguments = json!({"kind": "collection", "title": "Posters"});
    assert_eq!(house.done("create_work", arguments).await["version"], 0);
    let arguments = json!({"kind": "text", "title": "Treatment", "text": "# The keeper"});
    let made = house.done("create_work", arguments).await;
    assert_eq!(made["version"], 1);
    let work = made["work_id"]
        .as_str()
        .expect("an id")
        .parse()
        .expect("an id");
    assert_eq!(house.content(work).await.text, "# The keeper");
}

async fn content_that_does_not_fit_makes_nothing(mut house: House) {
    for (arguments, said) in [
        (
            json!({"kind": "text", "title": "T", "nodes": [{}]}),
            "no such content",
        ),
        (
            json!({"kind": "flow", "title": "F", "edges": [{"source": "a", "target": "b"}]}),
            "ends at no node",
        ),
        (
            json!({"kind": "storyboard", "title": "S", "nodes": [{"id": "a"}, {"id": "a"}]}),
            "the id `a`",
        ),
        (
            json!({"kind": "storyboard", "title": "S", "nodes": [{"fields": {"order": "a"}}]}),
            "`order` is not a field",
        ),
    ] {
        let (error, _) = house.failed("create_work", arguments).await;
        assert!(error.contains(said), "{error}");
    }
    let count = house.reads().count_works(house.workspace, &[]).await;
    assert_eq!(count.expect("counts"), 0);
}

async fn an_edit_makes_one_version_however_often_it_is_run(mut house: House) {
    let work = house.board(&["a", "b"]).await;
    let operations = json!([
        {"set": {"nodeId": "a", "fields": {"title": "Dawn", "duration": 4}}},
        {"put": {"type": "shot", "fields": {"title": "Sea"}, "after": "a"}},
        {"move": {"nodeId": "b", "after": ""}},
    ]);
    let arguments = json!({"work_id": work, "base_version": 1, "operations": operations, "summary": "The sea comes in"});
    let (step, calls) = house.decide(&[("edit_nodes", arguments)]).await;
    let started = house.start(&step, &calls[0]).await;
    let lost = house.run(&step, &started).await.expect("runs");
    house.claim(true).await;
    let again = house.start(&step, &started).await;
    let ran = house.run(&step, &again).await.expect("runs");
    assert_eq!(result(&lost), result(&ran));
    assert_eq!(result(&ran)["version"], 2);
    house.finish(&step, &again, Ok(ran)).await;
    let content = house.content(work).await;
    assert_eq!(content.version, Version(2));
    let titles: Vec<_> = content
        .nodes
        .iter()
        .map(|node| &node.fields["title"])
        .collect();
    assert_eq!(titles, [&json!("b"), &json!("Dawn"), &json!("Sea")]);
    let revisions = house.reads().list_revisions_after(work, Version(1)).await;
    let revisions = revisions.expect("revisions");
    assert_eq!(revisions[0].touched.summary(), "The sea comes in");
}

async fn texts_are_edited_and_replaced_once(mut house: House) {
    let work = house.text("The sea is calm. The lamp is lit.").await;
    let replacements = json!([
        {"find": "calm", "replace": "loud"},
        {"find": "lit", "replace": "dark"},
    ]);
    let edit = json!({"work_id": work, "replacements": replacements});
    let replace = json!({"work_id": work, "base_version": 2, "text": "All new."});
    for (tool, arguments, expected) in [
        ("edit_text", edit, "The sea is loud. The lamp is dark."),
        ("replace_text", replace, "All new."),
    ] {
        let (step, calls) = house.decide(&[(tool, arguments)]).await;
        let started = house.start(&step, &calls[0]).await;
        let lost = house.run(&step, &started).await.expect("runs");
        let ran = house.run(&step, &started).await.expect("runs");
        assert_eq!(result(&lost), result(&ran));
        house.finish(&step, &started, Ok(ran)).await;
        assert_eq!(house.content(work).await.text, expected);
    }
    assert_eq!(house.content(work).await.version, Version(3));
}

async fn another_input_under_one_call_is_noticed(mut house: House) {
    let work = house.text("one two").await;
    let edit =
        |find: &str| json!({"work_id": work, "replacements": [{"find": find, "replace": "three"}]});
    let (step, calls) = house.decide(&[("edit_text", edit("one"))]).await;
    let mut started = house.start(&step, &calls[0]).await;
    house.run(&step, &started).await.expect("runs");
    started.arguments = edit("two");
    let reused = house.run(&step, &started).await;
    assert!(
        matches!(reused, Err(Error::IdempotencyKeyReused)),
        "{reused:?}"
    );
}

async fn a_worker_that_lost_its_turn_writes_nothing(mut house: House) {
    let work = house.board(&["a"]).await;
    let edit = json!({"work_id": work, "base_version": 1, "operations": [{"remove": "a"}]});
    let make = json!({"kind": "text", "title": "Late"});
    let (step, calls) = house
        .decide(&[("edit_nodes", edit), ("create_work", make)])
        .await;
    let mut started = Vec::new();
    for call in &calls {
        started.push(house.start(&step, call).await);
    }
    let old = house.fence;
    house.claim(true).await;
    let current = std::mem::replace(&mut house.fence, old);
    for call in &started {
        let ran = house.run(&step, call).await;
        assert!(
            matches!(ran, Err(Error::Fenced { .. })),
            "{}: {ran:?}",
            call.tool
        );
    }
    assert_eq!(house.content(work).await.version, Version(1));
    let count = house.reads().count_works(house.workspace, &[]).await;
    assert_eq!(count.expect("counts"), 1);
    // The worker that has the turn does it.
    house.fence = current;
    for call in &started {
        house.run(&step, call).await.expect("runs");
    }
    assert_eq!(house.content(work).await.version, Version(2));
}

async fn what_nobody_remembers_is_not_done_a_second_time(mut house: House) {
    let work = house.text("one").await;
    let arguments =
        json!({"work_id": work, "replacements": [{"find": "one", "replace": "one one"}]});
    let (step, calls) = house.decide(&[("edit_text", arguments)]).await;
    let first = house.start(&step, &calls[0]).await;
    house.run(&step, &first).await.expect("runs");
    let second = house.start(&step, &first).await;
    assert_eq!(second.attempts, 2);
    let later = house.now().plus(Duration::from_hours(25));
    let ran = house.run_at(&step, &second, later).await.expect("runs");
    let CallOutcome::OutcomeUnknown(reason) = &ran.outcome else {
        panic!("{ran:?}");
    };
    assert!(reason.contains("read the work"), "{reason}");
    assert_eq!(house.content(work).await.text, "one one");
}

async fn the_agent_has_no_more_authority_than_whose_task_it_is(mut house: House) {
    let work = house.board(&["a"]).await;
    let member = house.member("ada", Role::Editor).await;
    house.task = house.new_task(member, house.workspace, "en").await;
    house.claim(true).await;
    let command = AddMember {
        caller: house.owner,
        workspace: house.workspace,
        email: "ada@atelier.example".to_owned(),
        name: None,
        role: Role::Viewer,
        new_user: domain::ids::UserId::new(),
        at: house.now(),
    };
    house
        .services
        .store
        .run(command)
        .await
        .expect("is a viewer");
    house.done("read_work", json!({"work_id": work})).await;
    let edit = json!({"work_id": work, "base_version": 1, "operations": [{"remove": "a"}]});
    let make = json!({"kind": "text", "title": "Mine"});
    for (tool, arguments) in [("edit_nodes", edit), ("create_work", make)] {
        let (error, _) = house.failed(tool, arguments).await;
        assert!(error.contains("needs the role editor"), "{tool}: {error}");
    }
    assert_eq!(house.content(work).await.version, Version(1));
}

async fn works_of_other_workspaces_can_not_be_touched(mut house: House) {
    let other = house.other_workspace().await;
    let content = domain::document::Content {
        text: "secret".to_owned(),
        ..Default::default()
    };
    let work = house
        .made(house.owner, other, WorkKind::Text, content)
        .await;
    let put = json!([{"put": {}}]);
    let replacement = json!([{"find": "secret", "replace": ""}]);
    for (tool, arguments) in [
        (
            "edit_nodes",
            json!({"work_id": work, "base_version": 1, "operations": put}),
        ),
        (
            "edit_text",
            json!({"work_id": work, "replacements": replacement}),
        ),
        (
            "replace_text",
            json!({"work_id": work, "base_version": 1, "text": ""}),
        ),
        ("undo_own_edit", json!({"work_id": work, "version": 1})),
        ("delete_work", json!({"work_id": work})),
    ] {
        let (error, _) = house.failed(tool, arguments).await;
        assert_eq!(error, format!("work {work} was not found"), "{tool}");
    }
    assert_eq!(house.content(work).await.text, "secret");
}

async fn a_tool_for_another_kind_of_work_says_which_it_is(mut house: House) {
    let (board, text) = (house.board(&["a"]).await, house.text("one").await);
    let replacement = json!([{"find": "a", "replace": "b"}]);
    for (tool, arguments, said) in [
        (
            "edit_text",
            json!({"work_id": board, "replacements": replacement}),
            "is a storyboard",
        ),
        (
            "edit_nodes",
            json!({"work_id": text, "base_version": 1, "operations": [{"put": {}}]}),
            "is a text",
        ),
        (
            "edit_nodes",
            json!({"work_id": board, "base_version": 9, "operations": [{"put": {}}]}),
            "`baseVersion` is 9",
        ),
        (
            "edit_nodes",
            json!({"work_id": board, "base_version": 1, "operations": [{"remove": "z"}]}),
            "there is no node `z`",
        ),
    ] {
        let (error, _) = house.failed(tool, arguments).await;
        assert!(error.contains(said), "{error}");
    }
}

on_both_databases!(
    a_board_is_made_once_with_ids_that_stay,
    an_empty_work_is_at_version_0_and_a_text_at_1,
    content_that_does_not_fit_makes_nothing,
    an_edit_makes_one_version_however_often_it_is_run,
    texts_are_edited_and_replaced_once,
    another_input_under_one_call_is_noticed,
    a_worker_that_lost_its_turn_writes_nothing,
    what_nobody_remembers_is_not_done_a_second_time,
    the_agent_has_no_more_authority_than_whose_task_it_is,
    works_of_other_workspaces_can_not_be_touched,
    a_tool_for_another_kind_of_work_says_which_it_is,
);
