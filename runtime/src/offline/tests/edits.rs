//! Changes that people ask for: what they do to a work, and how it is told.

use domain::task::{ChecklistState, Verdict};
use serde_json::json;

use super::Stage;

/// A task whose draft waits for a look.
fn drafted(language: &str, goal: &str) -> Stage {
    let mut stage = Stage::new(language, goal);
    assert_eq!(
        stage.run_on(),
        Verdict::AskPerson(Some("review".to_owned()))
    );
    stage.heard();
    stage
}

fn asked(stage: &mut Stage, text: &str) -> String {
    stage.write(text);
    assert_eq!(
        stage.run_on(),
        Verdict::AskPerson(Some("review".to_owned())),
        "{text}"
    );
    stage.heard()
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[test]
fn shots_are_changed_as_asked_in_three_languages() {
    for (language, goal, request, field, part) in [
        (
            "en",
            "A storyboard about a fox, 3 shots",
            "Make shot 2 darker",
            "description",
            "Darker.",
        ),
        (
            "en",
            "A storyboard about a fox, 3 shots",
            "The second shot should show an empty street",
            "description",
            "An empty street.",
        ),
        (
            "en",
            "A storyboard about a fox, 3 shots",
            "Remove the rain from shot 2",
            "prompt",
            "without: rain",
        ),
        (
            "en",
            "A storyboard about a fox, 3 shots",
            "rename shot 2 to “Dawn”",
            "title",
            "Dawn",
        ),
        (
            "ru",
            "Раскадровка про лису, 3 кадра",
            "Сделай второй кадр темнее",
            "prompt",
            ", темнее",
        ),
        (
            "ru",
            "Раскадровка про лису, 3 кадра",
            "Пусть во втором кадре будет пустая улица",
            "description",
            "Пустая улица.",
        ),
        (
            "ru",
            "Раскадровка про лису, 3 кадра",
            "Добавь дождь во второй кадр",
            "description",
            "Дождь.",
        ),
        (
            "ru",
            "Раскадровка про лису, 3 кадра",
            "назови второй кадр «Рассвет»",
            "title",
            "Рассвет",
        ),
        (
            "zh",
            "做一个关于狐狸的分镜，三个镜头",
            "把第二个镜头调暗",
            "description",
            "调暗。",
        ),
        (
            "zh",
            "做一个关于狐狸的分镜，三个镜头",
            "把第二个镜头改成空荡的街道",
            "description",
            "空荡的街道。",
        ),
        (
            "zh",
            "做一个关于狐狸的分镜，三个镜头",
            "把第二个镜头改名为《黎明》",
            "title",
            "黎明",
        ),
        (
            "zh",
            "做一个关于狐狸的分镜，三个镜头",
            "去掉第二个镜头里的雨",
            "description",
            "去掉：雨。",
        ),
    ] {
        let mut stage = drafted(language, goal);
        let before = stage.board().nodes.clone();
        let heard = asked(&mut stage, request);
        let board = stage.board();
        let value = board.field("shot-2", field);
        assert!(
            value.as_str().is_some_and(|text| text.contains(part)),
            "{request}: {value}"
        );
        for other in [0, 2] {
            assert_eq!(board.nodes[other], before[other], "{request}");
        }
        assert!(!heard.is_empty() && !heard.contains('{'), "{heard}");
        assert_eq!(
            stage
                .plan()
                .iter()
                .find(|(id, _)| id == "change-1")
                .map(|(_, state)| *state),
            Some(ChecklistState::Done)
        );
    }
}

#[test]
fn shots_are_added_removed_and_moved_where_asked() {
    for (request, ids) in [
        (
            "Add a shot about rain after shot 1",
            vec!["shot-1", "shot-4", "shot-2", "shot-3"],
        ),
        (
            "add a shot about rain",
            vec!["shot-1", "shot-2", "shot-3", "shot-4"],
        ),
        (
            "добавь кадр про дождь после второго",
            vec!["shot-1", "shot-2", "shot-4", "shot-3"],
        ),
        (
            "добавь два кадра в начало",
            vec!["shot-4", "shot-5", "shot-1", "shot-2", "shot-3"],
        ),
        (
            "在第二个镜头后面增加一个关于雨的镜头",
            vec!["shot-1", "shot-2", "shot-4", "shot-3"],
        ),
        ("remove shot 2", vec!["shot-1", "shot-3"]),
        ("удали последний кадр", vec!["shot-1", "shot-2"]),
        ("删除镜头1", vec!["shot-2", "shot-3"]),
        ("Remove shots 1 and 3", vec!["shot-2"]),
        (
            "Move shot 3 to the beginning",
            vec!["shot-3", "shot-1", "shot-2"],
        ),
        (
            "перенеси первый кадр после третьего",
            vec!["shot-2", "shot-3", "shot-1"],
        ),
        ("把镜头3移到最前面", vec!["shot-3", "shot-1", "shot-2"]),
    ] {
        let mut stage = drafted("en", "A storyboard about a fox, 3 shots");
        asked(&mut stage, request);
        assert_eq!(stage.board().ids(), ids, "{request}");
    }
}

#[test]
fn a_new_shot_says_what_it_was_asked_to_be_about() {
    let mut stage = drafted("ru", "Раскадровка про лису, 2 кадра, нуар");
    asked(&mut stage, "добавь кадр про старый мост");
    let board = stage.board();
    assert_eq!(board.field("shot-3", "title"), json!("Старый мост"));
    assert!(
        board
            .field("shot-3", "prompt")
            .as_str()
            .is_some_and(|text| text.contains("высокий контраст"))
    );
}

#[test]
fn durations_are_set_shortened_and_shared_out() {
    for (request, seconds) in [
        ("Make shot 2 8 seconds", [5, 8, 5]),
        ("второй кадр 8 секунд", [5, 8, 5]),
        ("第二个镜头8秒", [5, 8, 5]),
        ("shot 1 is too long", [3, 5, 5]),
        ("make the last shot longer", [5, 5, 7]),
        ("make it 30 seconds", [10, 10, 10]),
    ] {
        let mut stage = drafted("en", "A storyboard about a fox, 3 shots");
        asked(&mut stage, request);
        for (index, seconds) in (1..).zip(seconds) {
            assert_eq!(
                stage.board().field(&format!("shot-{index}"), "duration"),
                json!(seconds),
                "{request}"
            );
        }
    }
}

#[test]
fn several_requests_of_one_message_count_the_parts_as_they_were() {
    let mut stage = drafted("en", "A storyboard about a fox, 5 shots");
    asked(
        &mut stage,
        "Remove shot 2, then make shot 4 darker and remove shot 5.",
    );
    let board = stage.board();
    assert_eq!(board.ids(), ["shot-1", "shot-3", "shot-4"]);
    assert!(
        board
            .field("shot-4", "prompt")
            .as_str()
            .is_some_and(|text| text.ends_with(", darker"))
    );
}

#[test]
fn everything_is_changed_where_everything_is_meant() {
    let mut stage = drafted("ru", "Серия плакатов про чай, 3 плаката");
    asked(&mut stage, "сделай всё темнее");
    for number in 1..=3 {
        let prompt = stage.board().field(&format!("poster-{number}"), "prompt");
        assert!(
            prompt
                .as_str()
                .is_some_and(|text| text.ends_with(", темнее")),
            "{prompt}"
        );
    }
}

#[test]
fn a_flow_is_rewired_when_nodes_come_and_go() {
    let mut stage = drafted("en", "A workflow for book covers");
    let edges = |stage: &mut Stage| {
        stage
            .board()
            .edges
            .iter()
            .map(|(from, to)| format!("{from}>{to}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        edges(&mut stage),
        ["node-1>node-2", "node-2>node-3", "node-3>node-4"]
    );
    asked(&mut stage, "add a node “Crop” after node 2");
    assert_eq!(stage.board().field("node-5", "title"), json!("Crop"));
    assert_eq!(
        edges(&mut stage),
        [
            "node-1>node-2",
            "node-3>node-4",
            "node-5>node-3",
            "node-2>node-5"
        ]
    );
    asked(&mut stage, "remove node 3");
    assert_eq!(
        stage.board().ids(),
        ["node-1", "node-2", "node-3", "node-4"]
    );
    asked(&mut stage, "connect node 1 and node 4");
    assert!(edges(&mut stage).contains(&"node-1>node-4".to_owned()));
}

#[test]
fn texts_are_edited_section_by_section() {
    let mut stage = drafted("en", "Write an article about bees, 3 sections");
    asked(&mut stage, "add a section about honey");
    assert!(stage.board().text.contains("\n## Honey\n"));
    asked(&mut stage, "rename section 1 to “Start”");
    assert!(stage.board().text.contains("\n## Start\n"));
    asked(&mut stage, "remove section 2");
    assert_eq!(stage.board().text.matches("\n## ").count(), 3);
    let heard = asked(&mut stage, "replace “Honey” with “Wax”");
    assert!(heard.contains("quote a longer piece"), "{heard}");
    asked(&mut stage, "replace “## Honey” with “## Wax”");
    assert!(stage.board().text.contains("\n## Wax\n"));
    let heard = asked(&mut stage, "replace “unicorn” with “bee”");
    assert!(heard.contains("does not stand in the text"), "{heard}");
}

#[test]
fn what_can_not_be_done_is_told_with_what_there_is() {
    let mut stage = drafted("en", "A storyboard about a fox, 3 shots");
    let before = stage.board().version;
    let heard = asked(&mut stage, "make shot 9 darker");
    assert!(heard.contains("Shot 3: Last image"), "{heard}");
    let heard = asked(&mut stage, "move shot 1 to the beginning");
    assert!(heard.contains("so already"), "{heard}");
    assert_eq!(stage.board().version, before);
    stage.write("rename the storyboard to “Fox”");
    stage.run_on();
    assert!(stage.heard().contains("can not rename a whole work"));
}

#[test]
fn nothing_is_removed_on_a_guess() {
    for request in [
        "do not remove shot 2",
        "не удаляй второй кадр",
        "不要删除镜头2",
        "why did you remove shot 2?",
        "remove shot 2 or maybe shot 3 if it is better",
        "make shot 1 darker remove nothing",
    ] {
        let mut stage = drafted("en", "A storyboard about a fox, 3 shots");
        stage.write(request);
        stage.run_on();
        assert_eq!(stage.board().ids().len(), 3, "{request}");
        assert!(!stage.heard().is_empty());
    }
}

#[test]
fn a_card_for_the_draft_is_asked_anew_after_a_change() {
    let mut stage = drafted("en", "A storyboard about a fox, 3 shots");
    stage.click("adjust", Some("make shot 2 darker"));
    assert_eq!(
        stage.run_on(),
        Verdict::AskPerson(Some("review".to_owned()))
    );
    assert_eq!(stage.situation.cards.len(), 1);
    stage.click("adjust", None);
    assert_eq!(stage.run_on(), Verdict::AskPerson(None));
    stage.click("add", None);
    assert_eq!(
        stage.run_on(),
        Verdict::AskPerson(Some("review".to_owned()))
    );
    assert_eq!(stage.board().nodes.len(), 4);
    stage.click("adjust", None);
    stage.run_on();
    stage.click("confirm", None);
    assert_eq!(stage.run_on(), Verdict::Deliver);
}

#[test]
fn a_delivered_task_takes_changes_and_is_delivered_again() {
    let mut stage = drafted("ru", "Раскадровка про лису, 2 кадра");
    stage.click("confirm", None);
    assert_eq!(stage.run_on(), Verdict::Deliver);
    stage.heard();
    stage.write("Сделай первый кадр светлее, пожалуйста");
    assert_eq!(stage.run_on(), Verdict::Deliver);
    assert!(stage.heard().contains("светлее"));
    for number in 0..12 {
        stage.write(&format!("назови первый кадр «Номер {number}»"));
        assert_eq!(stage.run_on(), Verdict::Deliver);
    }
    assert_eq!(stage.board().field("shot-1", "title"), json!("Номер 11"));
    assert!(stage.plan().len() < 14, "old changes leave the plan");
}

#[test]
fn requests_while_the_draft_fills_wait_for_it() {
    let mut stage = Stage::new("en", "A storyboard about a fox, 3 shots");
    stage.step();
    stage.write("make shot 3 darker");
    assert_eq!(
        stage.run_on(),
        Verdict::AskPerson(Some("review".to_owned()))
    );
    assert!(stage.heard().contains("as soon as the draft is there"));
    assert!(
        stage
            .board()
            .field("shot-3", "prompt")
            .as_str()
            .is_some_and(|text| text.ends_with(", darker"))
    );
}
