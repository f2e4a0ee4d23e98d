//! How often the right place is found, measured on cases in three languages, with the bars that must be reached.

use std::collections::BTreeMap;

use domain::message::{Message, RoutingOutcome, RoutingStage};
use storage::test_support::TestDatabase;

use crate::cases::{Case, Set, all};
use crate::house::House;

/// What was counted.
#[derive(Debug, Default)]
struct Figures {
    /// Right and all outcomes, by kind of case.
    outcomes: BTreeMap<&'static str, (usize, usize)>,
    /// Cases whose tasks stood among the first five, and all of those that name some.
    candidates: (usize, usize),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_right_place_is_found_as_often_as_it_must_be() {
    let Some(house) = House::new(TestDatabase::sqlite_in_memory()).await else {
        return;
    };
    let mut figures = Figures::default();
    let owner = house.caller.user;
    let cases: Vec<(Case, Set)> = all()
        .into_iter()
        .map(|case| {
            let set = case.set(owner);
            (case, set)
        })
        .collect();
    for (_, set) in &cases {
        house.fill(set.workspace, set.contents.clone()).await;
    }
    for (case, set) in &cases {
        house
            .until_known(set.workspace, set.contents.tasks.len())
            .await;
        let message = house.route(set.workspace, case.text(), set.address).await;
        figures.count(case, set, &message);
    }
    eprintln!("{figures:#?}");
    let right = |kind| figures.outcomes[kind];
    for kind in ["rules", "ambiguous"] {
        let (right, all) = right(kind);
        assert_eq!(right, all, "{kind}");
    }
    let (right, all) = right("model");
    assert!(right * 100 >= all * 80, "outcomes: {right} of {all}");
    let (shown, all) = figures.candidates;
    assert!(shown * 100 >= all * 95, "candidates: {shown} of {all}");
    house.leave().await;
}

impl Figures {
    fn count(&mut self, case: &Case, set: &Set, message: &Message) {
        let is_right = is_right(case, set, message);
        if !is_right {
            tell(case, set, message);
        }
        let kind = match (case.expected.stage, case.expected.outcome.as_str()) {
            (1, _) => "rules",
            (3, _) if case.expected.candidates_must_contain.is_empty() => "rules",
            (_, "clarify") => "ambiguous",
            _ => "model",
        };
        let kinds = match kind {
            // What is ambiguous is the model's to decide as well.
            "ambiguous" => vec!["ambiguous", "model"],
            kind => vec![kind],
        };
        for kind in kinds {
            let (right, all) = self.outcomes.entry(kind).or_default();
            *right += usize::from(is_right);
            *all += 1;
        }
        let must = &case.expected.candidates_must_contain;
        if !must.is_empty() {
            self.candidates.1 += 1;
            let routing = message.routing.as_ref().expect("it was routed");
            let first = &routing.candidates[..routing.candidates.len().min(5)];
            let is_shown = |key: &String| first.iter().any(|one| one.task == set.tasks[key]);
            if must.iter().all(is_shown) {
                self.candidates.0 += 1;
            } else {
                eprintln!("{}: {must:?} are not among the first five", case.id);
            }
        }
    }
}

fn is_right(case: &Case, set: &Set, message: &Message) -> bool {
    let routing = message.routing.as_ref().expect("it was routed");
    let outcome = named(routing.outcome);
    let expected = &case.expected;
    let is_acceptable =
        outcome == expected.outcome || expected.acceptable.iter().any(|other| other == outcome);
    let is_by_rule = routing.stage == RoutingStage::Deterministic;
    let task = expected.task.as_ref().map(|key| set.tasks[key]);
    let names_task = matches!(outcome, "existing_task" | "rejected");
    is_acceptable
        && (expected.stage != 1 || is_by_rule)
        && (!names_task || task.is_none() || message.task == task)
}

fn named(outcome: RoutingOutcome) -> &'static str {
    match outcome {
        RoutingOutcome::AnsweredByMain => "answer",
        RoutingOutcome::LightweightTask => "lightweight_task",
        RoutingOutcome::ExistingTask => "existing_task",
        RoutingOutcome::NewTask => "new_task",
        RoutingOutcome::NeedsClarification => "clarify",
        RoutingOutcome::Rejected => "rejected",
    }
}

fn tell(case: &Case, set: &Set, message: &Message) {
    let key = |task| {
        let mut found = set.tasks.iter().filter(|(_, id)| Some(**id) == task);
        found.next().map_or("?", |(key, _)| key.as_str())
    };
    let routing = message.routing.as_ref().expect("it was routed");
    eprintln!(
        "{}: {:?} {:?} expected, and {} {} came of it ({:?}): {}\n    {}",
        case.id,
        case.expected.outcome,
        case.expected.task,
        named(routing.outcome),
        key(message.task),
        routing.rationale,
        case.text(),
        case.note,
    );
}
