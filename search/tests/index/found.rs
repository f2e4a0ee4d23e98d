//! What is found by words.

use domain::search::SearchLeg;

use crate::house::{House, ids, on_both_databases, tasks_only};

on_both_databases!(
    what_was_just_written_is_found_at_once_by_any_form_of_its_words,
    a_task_is_found_by_the_works_that_it_refers_to,
    what_was_renamed_deleted_or_taken_back_is_found_no_more,
    only_what_was_asked_for_is_found,
    a_search_says_that_meanings_are_not_searched,
    questions_of_any_form_break_nothing,
);

async fn what_was_just_written_is_found_at_once_by_any_form_of_its_words(house: House) {
    let search = house.search();
    let russian = house
        .task("Плакаты для маяка", "Серия из шести плакатов")
        .await;
    let english = house.task("Lighthouse posters", "A series of six").await;
    let chinese = house.task("灯塔海报", "客户的海报颜色改成蓝色").await;
    for (text, expected) in [
        ("плакат маяку", russian.uuid()),
        ("plakaty mayaka", russian.uuid()),
        ("poster of a lighthouse", english.uuid()),
        ("海报颜色", chinese.uuid()),
        ("LIGHTHOUSE", english.uuid()),
    ] {
        assert_eq!(house.find(&search, text).await, [expected], "{text}");
    }
    let message = house.message(english, "Make the keeper's boat red").await;
    assert_eq!(house.find(&search, "boats").await, [message.uuid()]);
    assert!(house.find(&search, "elephant").await.is_empty());
    house.leave(search).await;
}

async fn a_task_is_found_by_the_works_that_it_refers_to(house: House) {
    let search = house.search();
    let work = house.work("Waldmeister storyboard").await;
    let linked = house
        .task_in(house.workspace, "Film", "A short film", &[work])
        .await;
    house.task("Song", "A short song").await;
    let find = async |text: &str| {
        let request = tasks_only(house.request(text).await);
        ids(&house.ask(&search, request).await)
    };
    assert_eq!(find("waldmeister").await, [linked.uuid()]);
    house.rename(work, "Brunnenkresse storyboard").await;
    assert!(find("waldmeister").await.is_empty());
    assert_eq!(find("brunnenkresse").await, [linked.uuid()]);
    house.leave(search).await;
}

async fn what_was_renamed_deleted_or_taken_back_is_found_no_more(house: House) {
    let search = house.search();
    let work = house.work("Zebrafish").await;
    assert_eq!(house.find(&search, "zebrafish").await, [work.uuid()]);
    house.rename(work, "Quagga").await;
    assert!(house.find(&search, "zebrafish").await.is_empty());
    assert_eq!(house.find(&search, "quagga").await, [work.uuid()]);
    house.delete(work).await;
    assert!(house.find(&search, "quagga").await.is_empty());
    let task = house.task("A task", "for a message").await;
    let message = house.message(task, "okapi").await;
    assert_eq!(house.find(&search, "okapi").await, [message.uuid()]);
    house.withdraw(message).await;
    assert!(house.find(&search, "okapi").await.is_empty());
    house.leave(search).await;
}

async fn only_what_was_asked_for_is_found(house: House) {
    let search = house.search();
    let first = house.task("Harbour", "first").await;
    let second = house.task("Harbour", "second").await;
    let work = house.work("Harbour").await;
    let request = house.request("harbour").await;
    assert_eq!(house.ask(&search, request.clone()).await.found.len(), 3);
    let tasks = house.ask(&search, tasks_only(request.clone())).await;
    assert!(!ids(&tasks).contains(&work.uuid()) && tasks.found.len() == 2);
    let mut among = request.clone();
    among.among = vec![second.uuid(), uuid::Uuid::nil()];
    assert_eq!(ids(&house.ask(&search, among).await), [second.uuid()]);
    let mut one = request;
    one.limit = 1;
    assert_eq!(house.ask(&search, one).await.found.len(), 1);
    // The share of what was asked for that stands in it.
    let request = tasks_only(house.request("first harbour xylophone").await);
    let answer = house.ask(&search, request).await;
    assert_eq!(answer.found[0].id, first.uuid());
    let shares: Vec<f64> = answer
        .found
        .iter()
        .filter_map(|found| found.keyword)
        .collect();
    assert!(shares[0] > shares[1] && shares[0] < 0.9, "{shares:?}");
    house.leave(search).await;
}

async fn a_search_says_that_meanings_are_not_searched(house: House) {
    let search = house.search();
    house.task("Harbour", "first").await;
    let answer = house.ask(&search, house.request("harbour").await).await;
    assert_eq!(answer.missing, [SearchLeg::Vector]);
    house.leave(search).await;
}

async fn questions_of_any_form_break_nothing(house: House) {
    let search = house.search();
    let task = house.task("Harbour (draft) AND \"quotes\"", "first").await;
    for text in [
        "",
        "   ",
        "\"",
        "(",
        "harbour AND",
        "title:harbour",
        "+harbour -draft",
        "*",
        "~~~",
        "\u{0}",
        "🎨",
        "\\",
    ] {
        house.find(&search, text).await;
    }
    let long = "harbour ".repeat(5_000);
    assert_eq!(house.find(&search, &long).await, [task.uuid()]);
    let many: Vec<String> = (0..3_000).map(|number| format!("w{number}")).collect();
    house
        .find(&search, &format!("harbour {}", many.join(" ")))
        .await;
    house.leave(search).await;
}
