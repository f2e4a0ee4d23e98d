//! Calls that fail, get lost or meet somebody else's edit: each task comes to rest, and the person learns what happened.

use domain::task::{ChecklistState, Verdict};
use domain::turn::CallState;
use serde_json::{Value, json};

use super::Stage;

fn review() -> Verdict {
    Verdict::AskPerson(Some("review".to_owned()))
}

#[expect(clippy::unnecessary_wraps, reason = "what a fault gives")]
fn failed(error: &str) -> Option<(CallState, Value, String)> {
    Some((CallState::Failed, Value::Null, error.to_owned()))
}

/// Fails the first so many calls of a tool.
fn first(
    times: usize,
    tool: &'static str,
    state: CallState,
) -> impl FnMut(&str, &Value) -> Option<(CallState, Value, String)> {
    let mut left = times;
    move |called, _| {
        if called != tool || left == 0 {
            return None;
        }
        left -= 1;
        Some((state, Value::Null, "it did not work".to_owned()))
    }
}

#[test]
fn an_executor_that_fails_is_done_without() {
    for state in [
        CallState::Failed,
        CallState::OutcomeUnknown,
        CallState::Refused,
    ] {
        let mut stage = Stage::new("en", "A storyboard about a fox, 4 shots")
            .with_fault(first(100, "delegate", state));
        assert_eq!(stage.run_on(), review());
        assert_eq!(stage.board().nodes.len(), 4);
        let prompt = stage.board().field("shot-4", "prompt");
        assert!(
            prompt.as_str().is_some_and(|text| text.contains("a fox")),
            "{prompt}"
        );
    }
}

#[test]
fn a_part_that_was_refused_is_looked_for_and_put_in_once() {
    let mut stage = Stage::new("en", "A storyboard about a fox, 4 shots").with_fault(first(
        1,
        "edit_nodes",
        CallState::Failed,
    ));
    assert_eq!(stage.run_on(), review());
    let mut ids = stage.board().ids();
    ids.sort_unstable();
    assert_eq!(ids, ["shot-1", "shot-2", "shot-3", "shot-4"]);
}

#[test]
fn a_part_whose_call_got_lost_after_its_effect_is_not_put_in_twice() {
    let mut is_first = true;
    let mut stage = Stage::new("ru", "Раскадровка про лису, 3 кадра");
    for _ in 0..30 {
        stage.step();
        if is_first && stage.called.iter().any(|tool| tool == "edit_nodes") {
            is_first = false;
            // The worker died before it could store what came of the call.
            stage.forget("edit_nodes");
        }
    }
    assert_eq!(stage.board().nodes.len(), 3);
    assert!(
        stage
            .plan()
            .iter()
            .all(|(id, state)| *state == ChecklistState::Done || id == "finish")
    );
}

#[test]
fn parts_that_never_go_in_are_left_out_and_named() {
    let mut stage =
        Stage::new("en", "A storyboard about a fox, 2 shots").with_fault(|tool, arguments| {
            let is_second = arguments["operations"][0]["put"]["id"] == json!("shot-2");
            if tool == "edit_nodes" && is_second {
                failed("no room")
            } else {
                None
            }
        });
    assert_eq!(stage.run_on(), review());
    assert!(stage.heard().contains("I could not put in: Shot 2"));
    assert_eq!(stage.board().nodes.len(), 1);
}

#[test]
fn a_work_that_can_not_be_made_is_asked_about() {
    let fault = first(2, "create_work", CallState::Failed);
    let mut stage = Stage::new("en", "A storyboard about a fox, 2 shots").with_fault(fault);
    assert_eq!(stage.run_on(), Verdict::AskPerson(None));
    assert!(stage.situation.cards[0].prompt.contains("it did not work"));
    stage.click("again", None);
    assert_eq!(stage.run_on(), review());
    assert_eq!(stage.board().nodes.len(), 2);
    let fault = first(100, "create_work", CallState::Failed);
    let mut stage = Stage::new("en", "A storyboard about a fox, 2 shots").with_fault(fault);
    stage.run_on();
    stage.click("stop", None);
    assert_eq!(stage.run_on(), Verdict::Deliver);
    assert!(stage.plan().iter().all(|(_, state)| state.is_closed()));
}

#[test]
fn a_work_in_the_bin_is_not_written_to() {
    for (option, boards) in [("again", 2), ("stop", 1)] {
        let mut stage = Stage::new("en", "A storyboard about a fox, 3 shots");
        stage.step();
        stage.step();
        stage.situation.works[0].1.deleted_at = Some(stage.situation.task.created_at);
        assert_eq!(stage.run_on(), Verdict::AskPerson(None));
        assert!(stage.situation.cards[0].prompt.contains("lies in the bin"));
        stage.click(option, None);
        let end = stage.run_on();
        assert_eq!(stage.boards.len(), boards);
        assert_eq!(
            end,
            if option == "again" {
                review()
            } else {
                Verdict::Deliver
            }
        );
    }
}

#[test]
fn a_work_that_came_back_is_gone_on_with() {
    let mut stage = Stage::new("ru", "Раскадровка про лису, 3 кадра");
    stage.step();
    stage.step();
    stage.situation.works[0].1.deleted_at = Some(stage.situation.task.created_at);
    stage.run_on();
    stage.situation.works[0].1.deleted_at = None;
    stage.write("я вернул её, продолжай");
    assert_eq!(stage.run_on(), review());
    assert_eq!((stage.boards.len(), stage.board().nodes.len()), (1, 3));
}

#[test]
fn an_edit_that_met_somebody_elses_is_tried_once_more_and_then_told() {
    let conflict = || {
        Some((
            CallState::Failed,
            json!({"__typename": "NodeConflict"}),
            "somebody else changed shot-2".to_owned(),
        ))
    };
    for (conflicts, said) in [(1, "Changed:"), (2, "twice")] {
        let mut left = conflicts;
        let mut stage = Stage::new("en", "A storyboard about a fox, 3 shots").with_fault(
            move |tool, arguments| {
                let is_change =
                    tool == "edit_nodes" && arguments["operations"][0]["set"].is_object();
                if !is_change || left == 0 {
                    return None;
                }
                left -= 1;
                conflict()
            },
        );
        stage.run_on();
        stage.heard();
        stage.write("make shot 2 darker");
        assert_eq!(stage.run_on(), review());
        let heard = stage.heard();
        assert!(heard.contains(said), "{heard}");
    }
}

#[test]
fn a_question_that_can_not_be_asked_ends_the_task_in_order() {
    let mut stage = Stage::new("en", "Help me").with_fault(first(100, "ask", CallState::Failed));
    assert_eq!(stage.run_on(), Verdict::Deliver);
}

#[test]
fn a_reply_that_could_not_show_its_works_is_sent_without_them() {
    let mut stage =
        Stage::new("en", "A storyboard about a fox, 2 shots").with_fault(|tool, arguments| {
            if tool == "reply" && arguments["work_ids"].is_array() {
                failed("in the bin")
            } else {
                None
            }
        });
    let mut heard = String::new();
    for _ in 0..8 {
        stage.step();
        heard.push_str(&stage.heard());
    }
    assert!(heard.contains("The draft is there"), "{heard}");
}

#[test]
fn every_task_comes_to_rest_whatever_its_calls_come_to() {
    // Fixed, so that a failure is the same tomorrow.
    let mut seed = 0x5eed_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let goals = [
        "A storyboard about a fox, 4 shots",
        "Три плаката про чай",
        "写一篇关于蜜蜂的文章",
        "A workflow for covers",
        "Help me",
    ];
    let said = [
        "make shot 2 darker",
        "удали второй плакат",
        "增加一个章节",
        "blargh",
        "thanks",
        "add a node after node 1",
        "what now?",
    ];
    for round in 0..200_usize {
        let chance = random(100);
        let rolls: Vec<u64> = (0..400).map(|_| random(100)).collect();
        let mut at = 0;
        let mut stage = Stage::new(["en", "ru", "zh"][round % 3], goals[round % goals.len()])
            .with_fault(move |_, _| {
                at += 1;
                let roll = rolls[at % rolls.len()];
                (roll * 3 < chance).then(|| {
                    let states = [
                        CallState::Failed,
                        CallState::Refused,
                        CallState::OutcomeUnknown,
                    ];
                    (
                        states[roll as usize % 3],
                        Value::Null,
                        "by chance".to_owned(),
                    )
                })
            });
        for turn in 0..6 {
            stage.run_on();
            match stage.situation.cards.first() {
                Some(card) if turn % 2 == 0 => {
                    let option = card.options[turn % card.options.len()].id.clone();
                    stage.click(&option, None);
                }
                _ => stage.write(said[random(said.len() as u64) as usize]),
            }
        }
        stage.run_on();
    }
}
