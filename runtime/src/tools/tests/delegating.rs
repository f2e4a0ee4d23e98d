//! Executors and their lines (J5, J6).

use domain::error::Error;
use domain::ids::LineId;
use domain::journal::{JournalEntry, JournalKind};
use domain::turn::CallState;
use serde_json::{Value, json};

use super::house::House;
use super::on_both_databases;
use crate::model::{Function, ModelError, ModelReply, ModelUsage, Scripted, Speaker};

const PROMPT: &str = "Write a caption of ten words for a poster of a lighthouse at dusk.";

#[expect(clippy::unnecessary_wraps, reason = "what a script takes")]
fn answer(text: &str) -> Result<ModelReply, ModelError> {
    Ok(Scripted::reply(json!({"text": text})))
}

fn misfit(said: &str) -> Result<ModelReply, ModelError> {
    Err(ModelError::Misfit {
        problem: "you answered with prose".to_owned(),
        said: said.to_owned(),
        usage: ModelUsage {
            input: 7,
            cached: 0,
            output: 1,
        },
    })
}

/// What an executor was asked with, without its rules.
fn asked(house: &House, request: usize) -> Vec<(Speaker, String)> {
    let requests = house.model.requests();
    let messages = requests[request].messages.iter().skip(1);
    messages
        .map(|message| (message.speaker, message.text.clone()))
        .collect()
}

async fn journal(house: &House, kind: JournalKind) -> Vec<JournalEntry> {
    let entries = house
        .reads()
        .list_newest_journal(house.task, &[kind], 0, 50)
        .await;
    entries.expect("entries")
}

async fn open(house: &mut House, executor: &str) -> LineId {
    let arguments = json!({"executor": executor, "purpose": "captions", "prompt": PROMPT});
    let result = house.done("delegate", arguments).await;
    let line = result["line_id"].as_str().expect("a line");
    line.parse().expect("an id")
}

async fn an_executor_sees_its_rules_and_the_prompt_and_nothing_else(mut house: House) {
    house.model.push(Ok(Scripted::reply(
        json!({"text": "A light for the late.", "data": {"words": 5}}),
    )));
    let arguments = json!({"executor": "writer", "purpose": "captions", "prompt": PROMPT});
    let result = house.done("delegate", arguments).await;
    assert_eq!(result["text"], "A light for the late.");
    assert_eq!(result["data"], json!({"words": 5}));
    assert_eq!(result["executor"], "writer");

    let request = &house.model.requests()[0];
    assert_eq!(request.function, Function::Answer);
    assert_eq!(request.messages.len(), 2);
    assert_eq!(request.messages[0].speaker, Speaker::System);
    assert!(request.messages[0].text.starts_with("You are a writer"));
    assert_eq!(asked(&house, 0), [(Speaker::User, PROMPT.to_owned())]);

    // The whole prompt and the answer stand in the journal.
    let prompts = journal(&house, JournalKind::Prompt).await;
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0].text, PROMPT);
    assert_eq!(prompts[0].data["line"], result["line_id"]);
    assert_eq!(prompts[0].data["executor"], "writer");
    let answers = journal(&house, JournalKind::Answer).await;
    assert!(answers[0].text.starts_with("A light for the late."));
    assert!(prompts[0].sequence < answers[0].sequence);
}

async fn to_continue_a_line_only_what_is_new_is_said(mut house: House) {
    house.model.push(answer("First caption."));
    let line = open(&mut house, "writer").await;
    house.model.push(answer("Second caption."));
    let arguments = json!({"line_id": line, "prompt": "Continue: shorter."});
    let result = house.done("delegate", arguments).await;
    assert_eq!(result["line_id"], json!(line));
    house.model.push(answer("Third caption."));
    let arguments =
        json!({"line_id": line, "executor": "writer", "prompt": "As before, in Russian."});
    house.done("delegate", arguments).await;
    let expected = [
        (Speaker::User, PROMPT),
        (Speaker::Assistant, "First caption."),
        (Speaker::User, "Continue: shorter."),
        (Speaker::Assistant, "Second caption."),
        (Speaker::User, "As before, in Russian."),
    ];
    let expected = expected.map(|(speaker, text)| (speaker, text.to_owned()));
    assert_eq!(asked(&house, 2), expected);
    let prompts = journal(&house, JournalKind::Prompt).await;
    assert_eq!(prompts[2].text, "As before, in Russian.");
    let exchanges = house.reads().list_exchanges(&[line]).await;
    let numbers: Vec<_> = exchanges
        .expect("exchanges")
        .iter()
        .map(|exchange| exchange.number)
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
}

async fn two_lines_of_one_executor_know_nothing_of_each_other(mut house: House) {
    house.model.push(answer("One."));
    let first = open(&mut house, "writer").await;
    house.model.push(answer("Two."));
    let prompt = format!("{PROMPT} It is for children.");
    let arguments = json!({"executor": "writer", "purpose": "captions", "prompt": prompt});
    let second = house.done("delegate", arguments).await;
    let second = second["line_id"].as_str().expect("a line");
    let second: LineId = second.parse().expect("an id");
    assert_ne!(first, second);
    assert_eq!(asked(&house, 1).len(), 1);
    let lines = house.reads().list_lines(&[house.task]).await;
    let lines = lines.expect("lines");
    let ids: Vec<_> = lines.iter().map(|line| line.id).collect();
    assert_eq!(ids, [first, second]);
    assert!(lines.iter().all(|line| line.purpose == "captions"));
}

async fn a_line_of_another_task_is_not_there(mut house: House) {
    house.model.push(answer("One."));
    let line = open(&mut house, "writer").await;
    house.begin_task("en").await;
    let arguments = json!({"line_id": line, "prompt": "Continue."});
    let (error, _) = house.failed("delegate", arguments).await;
    assert_eq!(error, format!("line {line} was not found"));
    assert_eq!(house.model.requests().len(), 1);
    assert_eq!(journal(&house, JournalKind::Prompt).await, []);
}

async fn an_executor_that_is_not_there_is_told_with_those_that_are(mut house: House) {
    let arguments = json!({"executor": "composer", "prompt": PROMPT});
    let (error, _) = house.failed("delegate", arguments).await;
    assert!(error.contains("`composer`") && error.contains("art_director, flow_builder"));
    house.model.push(answer("One."));
    let line = open(&mut house, "writer").await;
    let arguments = json!({"executor": "art_director", "line_id": line, "prompt": PROMPT});
    let (error, _) = house.failed("delegate", arguments).await;
    assert!(error.contains("is of writer"), "{error}");
}

async fn a_prompt_that_does_not_stand_on_its_own_goes_back_with_the_reason(mut house: House) {
    for prompt in [
        "Make the third poster in the same style, as discussed.",
        "Сделай третий постер в том же стиле, как договорились.",
        "如前所述，请写出第三张海报的画面描述，风格保持一致。",
        "Again!",
    ] {
        let arguments = json!({"executor": "writer", "prompt": prompt});
        let call = house.act("delegate", arguments).await;
        assert_eq!(call.state, CallState::Refused, "{prompt}");
    }
    assert_eq!(house.model.requests().len(), 0);
    assert_eq!(journal(&house, JournalKind::Prompt).await, []);
}

async fn ids_that_the_task_does_not_know_are_not_passed_on(mut house: House) {
    let other = house.other_workspace().await;
    let kind = domain::work::WorkKind::Text;
    let content = domain::document::Content::default();
    let foreign = house.made(house.owner, other, kind, content).await;
    let known = house.text("one").await;
    for id in [foreign.to_string(), domain::ids::LineId::new().to_string()] {
        let prompt = format!("Describe {known} and {id} in one sentence each, please.");
        let arguments = json!({"executor": "writer", "prompt": prompt});
        let (error, _) = house.failed("delegate", arguments).await;
        assert!(
            error.contains(&id) && !error.contains(&known.to_string()),
            "{error}"
        );
    }
    assert_eq!(house.model.requests().len(), 0);
    assert_eq!(journal(&house, JournalKind::Prompt).await, []);
    house.model.push(answer("Done."));
    let prompt = format!("Describe {known} of {} in one sentence.", house.task);
    let arguments = json!({"executor": "writer", "prompt": prompt});
    house.done("delegate", arguments).await;
}

async fn an_answer_that_does_not_fit_is_answered_once(mut house: House) {
    house.model.push(misfit("Here is your caption: …"));
    house.model.push(answer("A light for the late."));
    open(&mut house, "writer").await;
    let again = asked(&house, 1);
    assert_eq!(again[1].1, "Here is your caption: …");
    assert!(again[2].1.contains("you answered with prose"));
    // Both are paid for.
    let usage = house.task().await.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (107, 11));
    assert_eq!(usage.spent_micros, 107);

    house.model.push(Ok(Scripted::reply(json!({"words": 3}))));
    house.model.push(misfit("Still prose."));
    let arguments = json!({"executor": "writer", "prompt": PROMPT});
    let (error, result) = house.failed("delegate", arguments).await;
    assert!(error.contains("writer gave no answer that fits"), "{error}");
    assert_eq!(result, Value::Null);
    assert_eq!(house.task().await.usage.input_tokens, 214);
    let lines = house.reads().list_lines(&[house.task]).await;
    assert_eq!(lines.expect("lines").len(), 1, "no answer opens no line");
}

async fn a_model_that_refuses_fails_the_call_and_one_that_is_silent_is_a_fault(mut house: House) {
    let refused = ModelError::Refused("the request is too large".to_owned());
    house.model.push(Err(refused));
    let arguments = json!({"executor": "writer", "prompt": PROMPT});
    let (error, _) = house.failed("delegate", arguments.clone()).await;
    assert!(error.contains("too large"), "{error}");

    house.model.push(Err(ModelError::Unavailable {
        reason: "overloaded".to_owned(),
        retry_after: None,
    }));
    let (step, calls) = house.decide(&[("delegate", arguments)]).await;
    let started = house.start(&step, &calls[0]).await;
    let ran = house.run(&step, &started).await;
    assert!(matches!(ran, Err(Error::Unavailable(_))), "{ran:?}");
}

on_both_databases!(
    an_executor_sees_its_rules_and_the_prompt_and_nothing_else,
    to_continue_a_line_only_what_is_new_is_said,
    two_lines_of_one_executor_know_nothing_of_each_other,
    a_line_of_another_task_is_not_there,
    an_executor_that_is_not_there_is_told_with_those_that_are,
    a_prompt_that_does_not_stand_on_its_own_goes_back_with_the_reason,
    ids_that_the_task_does_not_know_are_not_passed_on,
    an_answer_that_does_not_fit_is_answered_once,
    a_model_that_refuses_fails_the_call_and_one_that_is_silent_is_a_fault,
);
