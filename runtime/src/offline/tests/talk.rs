//! What people say besides requests: it has an answer, and starts nothing.

use domain::task::Verdict;

use super::Stage;

fn drafted(language: &str, goal: &str) -> Stage {
    let mut stage = Stage::new(language, goal);
    assert_eq!(
        stage.run_on(),
        Verdict::AskPerson(Some("review".to_owned()))
    );
    stage.heard();
    stage
}

#[test]
fn words_do_not_confirm_a_draft() {
    for (language, goal, words) in [
        (
            "en",
            "A storyboard about a fox, 2 shots",
            "looks good, go ahead",
        ),
        ("ru", "Раскадровка про лису, 2 кадра", "Да, подходит!"),
        ("zh", "做一个关于狐狸的分镜，两个镜头", "可以，很好"),
    ] {
        let mut stage = drafted(language, goal);
        stage.write(words);
        assert_eq!(stage.run_on(), Verdict::AskPerson(None));
        let heard = stage.heard();
        let card = ["Confirm and continue", "Принять и продолжить", "确认并继续"];
        assert!(card.iter().any(|label| heard.contains(label)), "{heard}");
        assert!(
            !stage
                .situation
                .projections
                .checklist
                .iter()
                .any(|item| item.is_confirmed)
        );
    }
}

#[test]
fn questions_greetings_and_thanks_are_answered_and_change_nothing() {
    let mut stage = drafted("en", "A storyboard about a fox, 2 shots");
    let version = stage.board().version;
    for (words, answer) in [
        ("How does this work?", "I am the offline planner"),
        ("Hello", "I am the offline planner"),
        ("thank you", "press"),
        ("I like shot 2", "press"),
        ("Make three posters about the fox", "another work"),
        ("blargh", "did not understand “blargh”"),
    ] {
        stage.write(words);
        assert_eq!(stage.run_on(), Verdict::AskPerson(None), "{words}");
        let heard = stage.heard();
        assert!(heard.contains(answer), "{words}: {heard}");
        assert_eq!(stage.board().version, version, "{words}");
    }
}

#[test]
fn what_is_not_understood_after_the_end_is_asked() {
    let mut stage = drafted("en", "A storyboard about a fox, 2 shots");
    stage.click("confirm", None);
    stage.run_on();
    stage.write("blargh");
    assert_eq!(stage.run_on(), Verdict::AskPerson(None));
    stage.click("fine", None);
    assert_eq!(stage.run_on(), Verdict::Deliver);
}

#[test]
fn what_was_asked_for_stays_in_the_summary_and_the_summary_stays_small() {
    let mut stage = Stage::new("ru", "Помоги с проектом");
    stage.run_on();
    for number in 0..20 {
        stage.write(&format!(
            "что-нибудь красивое номер {number} {}",
            "и ещё слово ".repeat(200)
        ));
        stage.run_on();
    }
    let summary = &stage.situation.projections.summary;
    assert!(
        summary.contains("номер 19") && !summary.contains("номер 3 "),
        "{summary}"
    );
    assert!(summary.chars().count() < 2_000);
    stage.write("Сделай раскадровку про лису");
    stage.run_on();
    assert_eq!(stage.board().title, "Раскадровка про лису");
}
