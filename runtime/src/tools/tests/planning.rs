//! From what a model asks for to a call: what is known, what fits, what is told about it.

use domain::turn::{CallState, Risk};
use serde_json::json;

use super::{House, on_both_databases};
use crate::model::schema;
use crate::tools::{ToolSpec, Tools};

/// Name, domain, risk, whether it may run again, required arguments: as the contract has them.
const CONTRACT: [(&str, &str, Risk, bool, &[&str]); 19] = [
    ("ask", "core", Risk::Read, true, &["prompt", "kind"]),
    ("delegate", "core", Risk::Read, false, &["prompt"]),
    ("load_tools", "core", Risk::Read, true, &["domain"]),
    ("read_guide", "core", Risk::Read, true, &["name"]),
    ("read_journal", "core", Risk::Read, true, &[]),
    ("read_result", "core", Risk::Read, true, &["call_id"]),
    ("read_work", "core", Risk::Read, true, &["work_id"]),
    ("reply", "core", Risk::Read, true, &["text"]),
    ("search", "core", Risk::Read, true, &["query"]),
    (
        "generate",
        "generation",
        Risk::Paid,
        true,
        &["kind", "prompt"],
    ),
    ("job_status", "generation", Risk::Read, true, &["job_id"]),
    (
        "propose_forget",
        "memory",
        Risk::Irreversible,
        true,
        &["memory_id"],
    ),
    ("recall", "memory", Risk::Read, true, &["query"]),
    (
        "create_work",
        "works",
        Risk::Write,
        true,
        &["kind", "title"],
    ),
    (
        "delete_work",
        "works",
        Risk::Irreversible,
        true,
        &["work_id"],
    ),
    (
        "edit_nodes",
        "works",
        Risk::Write,
        true,
        &["work_id", "base_version", "operations"],
    ),
    (
        "edit_text",
        "works",
        Risk::Write,
        true,
        &["work_id", "replacements"],
    ),
    (
        "replace_text",
        "works",
        Risk::Write,
        true,
        &["work_id", "base_version", "text"],
    ),
    (
        "undo_own_edit",
        "works",
        Risk::Write,
        true,
        &["work_id", "version"],
    ),
];

#[test]
fn the_tools_are_those_of_the_contract_in_one_order() {
    let tools = Tools::default();
    let shown = |spec: &ToolSpec| (spec.name, spec.domain, spec.risk, spec.idempotent);
    let specs: Vec<_> = tools.specs().map(shown).collect();
    let contract =
        CONTRACT.map(|(name, domain, risk, idempotent, _)| (name, domain, risk, idempotent));
    assert_eq!(specs, contract);
    for (spec, (name, .., required)) in tools.specs().zip(CONTRACT) {
        assert_eq!(spec.parameters["required"], json!(required), "{name}");
        assert!(tools.get(name).is_some());
    }
    assert_eq!(tools.domains(), ["core", "generation", "memory", "works"]);
    assert_eq!(tools.specs_of("works").count(), 6);
}

#[test]
fn schemas_say_only_what_is_checked() {
    for spec in Tools::default().specs() {
        let found = schema::unchecked(&spec.parameters);
        assert_eq!(found, Vec::<String>::new(), "{}", spec.name);
        assert!(spec.description.ends_with('.'), "{}", spec.name);
    }
}

async fn an_unknown_tool_is_refused_with_the_names_of_those_there_are(mut house: House) {
    let calls = house
        .act_all(&[("paint", json!({})), ("reply", json!({"text": "Hello."}))])
        .await;
    assert_eq!(calls[0].state, CallState::Refused);
    let error = calls[0].error.clone().expect("a reason");
    assert!(error.contains("`paint`") && error.contains("create_work, delete_work"));
    // The others of the same decision run.
    assert_eq!(calls[1].state, CallState::Done);
    let long = house.act(&"x".repeat(100_000), json!({})).await;
    assert!(long.tool.len() < 200);
}

async fn arguments_off_the_schema_are_refused_with_all_that_is_wrong(mut house: House) {
    let error = house
        .refused("ask", json!({"kind": "question", "options": [{"id": 1}]}))
        .await;
    for said in [
        "`prompt` is missing",
        "`kind` must be one of",
        "`options[0].label` is missing",
        "`options[0].id` must be a text",
    ] {
        assert!(error.contains(said), "{error}");
    }
    let error = house.refused("read_work", json!("work")).await;
    assert!(error.contains("must be an object"), "{error}");
    let error = house
        .refused("read_journal", json!({"after": -1, "limit": 1.5}))
        .await;
    assert!(
        error.contains("at least 0") && error.contains("whole number"),
        "{error}"
    );
}

async fn nulls_and_numbers_written_otherwise_are_taken(mut house: House) {
    let work = house.board(&["a"]).await;
    let arguments = json!({"work_id": work, "node_ids": null, "at_version": 1.0});
    let call = house.act("read_work", arguments).await;
    assert_eq!(call.state, CallState::Done, "{:?}", call.error);
    assert_eq!(call.arguments, json!({"work_id": work, "at_version": 1}));
}

async fn objections_are_told_before_anything_begins(mut house: House) {
    for (tool, arguments, said) in [
        ("reply", json!({"text": " "}), "is empty"),
        (
            "reply",
            json!({"text": "a".repeat(20_001)}),
            "20001 characters",
        ),
        ("search", json!({"query": ""}), "is empty"),
        (
            "load_tools",
            json!({"domain": "magic"}),
            "there are: generation, memory, works",
        ),
        ("load_tools", json!({"domain": "core"}), "always shown"),
        (
            "create_work",
            json!({"kind": "text", "title": " "}),
            "is empty",
        ),
        (
            "edit_nodes",
            json!({"work_id": "work", "base_version": 1, "operations": [{"put": {}, "remove": "a"}]}),
            "`operations[0]` must have exactly one",
        ),
        (
            "edit_text",
            json!({"work_id": "work", "replacements": [{"find": "", "replace": "a"}]}),
            "`replacements[0].find` is empty",
        ),
        (
            "delegate",
            json!({"prompt": "A prompt that is long enough."}),
            "`line_id`",
        ),
    ] {
        let error = house.refused(tool, arguments).await;
        assert!(error.contains(said), "{tool}: {error}");
    }
}

async fn loaded_tools_are_noted_and_guides_can_be_read(mut house: House) {
    let loaded = house.done("load_tools", json!({"domain": "works"})).await;
    assert_eq!(loaded["tools"].as_array().map(Vec::len), Some(6));
    assert_eq!(house.task().await.course.tool_domains, ["works"]);
    let unknown = house.act("read_guide", json!({"name": "love"})).await;
    let error = unknown.error.expect("there is none");
    assert!(error.contains("storyboarding"), "{error}");
    for name in crate::media::Guides::default().names() {
        let guide = house.done("read_guide", json!({"name": name})).await;
        let characters = guide.to_string().chars().count();
        assert!(
            characters <= crate::tools::arguments::SHOWN,
            "{name}: {characters}"
        );
    }
}

on_both_databases!(
    an_unknown_tool_is_refused_with_the_names_of_those_there_are,
    arguments_off_the_schema_are_refused_with_all_that_is_wrong,
    nulls_and_numbers_written_otherwise_are_taken,
    objections_are_told_before_anything_begins,
    loaded_tools_are_noted_and_guides_can_be_read,
);
