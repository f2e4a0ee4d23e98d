//! From a goal to a work: what is understood, made, shown and handed over.

use domain::task::{Autonomy, ChecklistState, Verdict};
use domain::work::WorkKind;
use serde_json::json;

use super::Stage;
use super::board::Board;

const LOOK: Verdict = Verdict::AskPerson(None);

fn review() -> Verdict {
    Verdict::AskPerson(Some("review".to_owned()))
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[test]
fn every_kind_of_work_is_made_and_handed_over_in_every_language() {
    for (language, goal, kind, title, parts) in [
        (
            "en",
            "A storyboard about a lighthouse keeper, 5 shots, noir",
            WorkKind::Storyboard,
            "Storyboard about a lighthouse keeper",
            5,
        ),
        (
            "ru",
            "Сделай раскадровку про смотрителя маяка, пять кадров",
            WorkKind::Storyboard,
            "Раскадровка про смотрителя маяка",
            5,
        ),
        (
            "zh",
            "做一个关于灯塔守护人的分镜，三个镜头",
            WorkKind::Storyboard,
            "灯塔守护人·分镜",
            3,
        ),
        (
            "en",
            "A series of posters for a jazz night, four posters",
            WorkKind::Collection,
            "Posters for a jazz night",
            4,
        ),
        (
            "ru",
            "Три плаката для фестиваля «Белые ночи»",
            WorkKind::Collection,
            "Плакаты для фестиваля «Белые ночи»",
            3,
        ),
        (
            "zh",
            "为咖啡店设计三张海报",
            WorkKind::Collection,
            "咖啡店·系列海报",
            3,
        ),
        (
            "en",
            "A workflow for book covers with references",
            WorkKind::Flow,
            "Flow for book covers",
            4,
        ),
        (
            "ru",
            "Собери схему для обложек: промпт, картинка, апскейл",
            WorkKind::Flow,
            "Схема для обложек",
            4,
        ),
        ("zh", "做一个海报生成流程", WorkKind::Flow, "流程", 4),
        (
            "en",
            "Write an article about bees, 3 sections",
            WorkKind::Text,
            "Text about bees",
            3,
        ),
        (
            "ru",
            "Напиши сценарий про пчёл",
            WorkKind::Text,
            "Текст про пчёл",
            6,
        ),
        ("zh", "写一篇关于蜜蜂的文章", WorkKind::Text, "蜜蜂·文本", 4),
    ] {
        let mut stage = Stage::new(language, goal);
        assert_eq!(stage.run_on(), review(), "{goal}");
        let heard = stage.heard();
        assert!(heard.contains("ATELIER_MODEL_PROVIDER"), "{heard}");
        assert!(heard.contains(title), "{heard}");
        let board = stage.board();
        assert_eq!((board.kind, board.title.as_str()), (kind, title));
        match kind {
            WorkKind::Text => {
                assert_eq!(board.text.matches("\n## ").count(), parts, "{}", board.text);
                for unwritten in ["To be written", "Будет написано", "待写"] {
                    assert!(!board.text.contains(unwritten), "{}", board.text);
                }
            }
            _ => assert_eq!(board.nodes.len(), parts, "{goal}"),
        }
        assert_eq!(stage.boards.len(), 1);
        stage.click("confirm", None);
        assert_eq!(stage.run_on(), Verdict::Deliver);
        assert!(stage.heard().contains(title));
        assert!(
            stage
                .plan()
                .iter()
                .all(|(_, state)| *state == ChecklistState::Done)
        );
    }
}

#[test]
fn shots_have_all_that_a_storyboard_shows_and_prompts_of_the_prompt_engineer() {
    let mut stage = Stage::new("en", "A storyboard about a fox, 4 shots, 30 seconds, noir");
    stage.run_on();
    let board = stage.board();
    assert_eq!(board.ids(), ["shot-1", "shot-2", "shot-3", "shot-4"]);
    assert_eq!(board.field("shot-1", "duration"), json!(8));
    assert_eq!(board.field("shot-1", "title"), json!("The place"));
    assert!(
        board
            .field("shot-1", "description")
            .as_str()
            .is_some_and(|text| text.starts_with("Wide shot"))
    );
    let prompt = board.field("shot-2", "prompt");
    assert!(
        prompt
            .as_str()
            .is_some_and(|text| text.contains("a fox") && text.contains("noir")),
        "{prompt}"
    );
    assert_eq!(
        stage
            .called
            .iter()
            .filter(|tool| *tool == "delegate")
            .count(),
        4
    );
    assert_eq!(stage.situation.lines.len(), 1);
}

#[test]
fn a_work_fills_while_people_watch_a_part_at_each_step() {
    let mut stage = Stage::new("en", "A storyboard about a fox, 5 shots");
    let mut sizes = Vec::new();
    for _ in 0..7 {
        stage.step();
        sizes.push(stage.boards.first().map_or(0, |board| board.nodes.len()));
    }
    assert_eq!(sizes, [0, 1, 2, 3, 4, 5, 5]);
}

#[test]
fn posters_have_palette_format_and_notes() {
    let mut stage = Stage::new("ru", "Серия плакатов про чай, акварель");
    stage.run_on();
    let board = stage.board();
    assert_eq!(board.nodes.len(), 4);
    assert_eq!(board.field("poster-1", "palette")[0], json!("#f4efe6"));
    assert_eq!(board.field("poster-1", "format"), json!("A2, вертикальный"));
    assert!(board.field("poster-2", "notes").is_string());
}

#[test]
fn what_is_not_understood_is_asked_and_answered_by_card_or_in_words() {
    for (by_card, kind) in [(true, WorkKind::Flow), (false, WorkKind::Storyboard)] {
        let mut stage = Stage::new("ru", "Помоги мне с проектом");
        assert_eq!(stage.run_on(), LOOK);
        assert!(stage.heard().contains("офлайн-планировщик"));
        let card = &stage.situation.cards[0];
        assert_eq!(card.options.len(), 4);
        if by_card {
            stage.click("flow", None);
        } else {
            stage.write("сделай раскадровку про лису, 3 кадра");
        }
        assert_eq!(stage.run_on(), review());
        assert_eq!(stage.board().kind, kind);
        if !by_card {
            assert_eq!(stage.board().title, "Раскадровка про лису");
            assert_eq!(stage.board().nodes.len(), 3);
        }
    }
}

#[test]
fn an_answer_that_still_says_nothing_is_told_so_and_asked_again() {
    let mut stage = Stage::new("en", "Help me");
    stage.run_on();
    stage.heard();
    stage.write("something nice with colours");
    assert_eq!(stage.run_on(), LOOK);
    assert!(
        stage
            .heard()
            .contains("did not understand “something nice with colours”")
    );
    assert_eq!(stage.situation.cards.len(), 1);
}

#[test]
fn run_until_done_passes_the_review() {
    let mut stage = Stage::new("zh", "做一个关于猫的分镜，两个镜头");
    stage.situation.task.autonomy = Autonomy::RunUntilDone;
    assert_eq!(stage.run_on(), Verdict::Deliver);
    assert_eq!(stage.board().nodes.len(), 2);
}

#[test]
fn more_parts_than_rules_make_are_cut_and_told() {
    let mut stage = Stage::new("en", "A storyboard about a war, 40 shots");
    stage.run_on();
    assert!(stage.heard().contains("at most 12 parts"));
    assert_eq!(stage.board().nodes.len(), 12);
}

#[test]
fn a_given_empty_work_is_filled_and_another_kind_is_made_beside_it() {
    let empty = || Board::new(&json!({"kind": "storyboard", "title": "Mine"}));
    let mut stage = Stage::new("en", "Fill this storyboard with 3 shots about a fox");
    stage.give(empty());
    assert_eq!(stage.run_on(), review());
    assert_eq!((stage.boards.len(), stage.board().nodes.len()), (1, 3));
    let mut stage = Stage::new("en", "Three posters about a fox");
    stage.give(empty());
    assert_eq!(stage.run_on(), review());
    assert_eq!(stage.boards.len(), 2);
}

#[test]
fn a_given_work_is_edited_and_nothing_else_is_made() {
    let mut board = Board::new(&json!({"kind": "storyboard", "title": "Mine"}));
    let put = |id: &str, title: &str| json!({"put": {"id": id, "fields": {"title": title, "description": "D."}}});
    board.edit(
        "edit_nodes",
        &json!({"base_version": 0, "operations": [put("a", "Dawn"), put("b", "Dusk")]}),
    );
    let mut stage = Stage::new(
        "en",
        "Add a shot about rain after Dawn, and make shot 2 darker",
    );
    stage.give(board);
    assert_eq!(stage.run_on(), review());
    let heard = stage.heard();
    assert!(heard.contains("“Mine”"), "{heard}");
    assert_eq!(stage.boards.len(), 1);
    assert_eq!(stage.board().nodes.len(), 3);
    stage.click("confirm", None);
    assert_eq!(stage.run_on(), Verdict::Deliver);
}

#[test]
fn a_task_with_another_ones_plan_asks_what_becomes_of_it() {
    for (option, delivered) in [("close", true), ("anew", false)] {
        let mut stage = Stage::new("en", "A storyboard about a fox, 2 shots");
        stage.situation.projections.checklist = vec![super::stage::item(
            "scene-a",
            "Find the fox's voice",
            ChecklistState::Todo,
        )];
        assert_eq!(stage.run_on(), LOOK);
        assert!(
            stage.situation.cards[0]
                .prompt
                .contains("Find the fox's voice")
        );
        stage.click(option, None);
        let expected = if delivered {
            Verdict::Deliver
        } else {
            review()
        };
        assert_eq!(stage.run_on(), expected);
    }
}
