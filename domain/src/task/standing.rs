//! Where a task stands after a step, decided from stored state alone (A2).
//!
//! Invariants
//! - The model's own `next` is a hint: it never ends a task, and never keeps one going.

use super::{Autonomy, ChecklistItem, TaskStatus};

/// Limits of tasks; a task over one is paused, and goes on when a person raises it or resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLimits {
    /// Steps of a turn; the next one is in a new turn.
    pub steps_per_turn: u32,
    /// Turns since a person last resumed the task.
    pub turns: u32,
    /// Tokens of requests and replies together.
    pub tokens: u64,
    /// Days since it was made.
    pub days: u32,
    /// Turns in a row without meaningful progress before a nudge; one more, and the task is blocked.
    pub idle_turns: u32,
    /// Claims in a row after which a turn did not move on, before it is held.
    pub idle_claims: u32,
    /// Times in a row that the model could not be asked, before the task is blocked.
    pub model_failures: u32,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            steps_per_turn: 25,
            turns: 200,
            tokens: 50_000_000,
            days: 90,
            idle_turns: 3,
            idle_claims: 5,
            model_failures: 8,
        }
    }
}

/// Stored state after a step, as far as it decides what happens next.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own that decides something else"
)]
pub struct Standing<'a> {
    /// The task's status.
    pub status: TaskStatus,
    /// How far the agent may go.
    pub autonomy: Autonomy,
    /// The plan.
    pub checklist: &'a [ChecklistItem],
    /// Ids of closed items that a person has seen.
    pub shown_items: &'a [String],
    /// Whether an unread message waits.
    pub has_unread: bool,
    /// Whether a card of the task is open.
    pub has_open_card: bool,
    /// Whether a person wrote in this turn, and the step looked something up that the model has not seen yet.
    pub is_looking: bool,
    /// Whether the model must see what came of the step's calls: one failed, was refused, or has an unknown outcome.
    pub has_trouble: bool,
    /// Whether orders are under way that will wake the task, and nothing is left to do meanwhile.
    pub waits_for_jobs: bool,
    /// Steps settled in this turn.
    pub steps: u32,
    /// Turns in a row without meaningful progress, this one included if it has made none.
    pub idle_turns: u32,
    /// Which limit is reached, in words.
    pub limit: Option<String>,
    /// Limits.
    pub limits: TaskLimits,
}

/// What happens next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The next step of this turn.
    NextStep,
    /// This turn is full: the next step is in a new one.
    NextTurn,
    /// The task waits for a person; a card for this item is raised first, where one is named.
    AskPerson(Option<String>),
    /// The task waits for its orders.
    AwaitJobs,
    /// A person holds the task.
    Hold,
    /// A limit holds the task.
    Limit(String),
    /// It has not come further for too long.
    NoProgress,
    /// Nothing is left to do.
    Deliver,
}

/// What happens next, from stored state.
pub fn verdict(standing: &Standing<'_>) -> Verdict {
    if standing.status == TaskStatus::Paused {
        return Verdict::Hold;
    }
    if let Some(limit) = &standing.limit {
        return Verdict::Limit(limit.clone());
    }
    if standing.has_unread {
        return go_on(standing);
    }
    // What a person asks for is done although a question is open; what was looked up for it is the way there.
    if standing.has_open_card && standing.is_looking {
        return go_on(standing);
    }
    if standing.has_open_card {
        return Verdict::AskPerson(None);
    }
    if let Some(item) = item_to_show(standing) {
        return Verdict::AskPerson(Some(item.id.clone()));
    }
    if standing.has_trouble {
        return go_on(standing);
    }
    if standing.checklist.iter().all(|item| item.state.is_closed()) {
        return Verdict::Deliver;
    }
    if standing.waits_for_jobs {
        return Verdict::AwaitJobs;
    }
    go_on(standing)
}

fn go_on(standing: &Standing<'_>) -> Verdict {
    let is_full = standing.steps >= standing.limits.steps_per_turn;
    match is_full {
        false => Verdict::NextStep,
        // What a person wrote deserves a look before the task is given up.
        true if standing.idle_turns > standing.limits.idle_turns && !standing.has_unread => {
            Verdict::NoProgress
        }
        true => Verdict::NextTurn,
    }
}

/// The item that a person must look at before the task goes on.
fn item_to_show<'a>(standing: &Standing<'a>) -> Option<&'a ChecklistItem> {
    let is_unseen = |item: &&ChecklistItem| {
        item.state == super::ChecklistState::Done
            && !item.is_confirmed
            && !standing.shown_items.contains(&item.id)
    };
    match standing.autonomy {
        Autonomy::RunUntilDone => None,
        Autonomy::AskAtCheckpoints => standing
            .checklist
            .iter()
            .find(|item| item.is_open_checkpoint()),
        Autonomy::AskEachStep => standing
            .checklist
            .iter()
            .find(|item| item.is_open_checkpoint() || is_unseen(item)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ChecklistState;
    use super::*;

    fn item(id: &str, state: ChecklistState, needs_confirmation: bool) -> ChecklistItem {
        ChecklistItem {
            id: id.to_owned(),
            title: id.to_owned(),
            state,
            needs_confirmation,
            is_confirmed: false,
            depends_on: Vec::new(),
            outputs: Vec::new(),
            evidence: None,
            needs: Vec::new(),
            stale_since: None,
        }
    }

    fn standing(checklist: &[ChecklistItem]) -> Standing<'_> {
        Standing {
            status: TaskStatus::Running,
            autonomy: Autonomy::AskAtCheckpoints,
            checklist,
            shown_items: &[],
            has_unread: false,
            has_open_card: false,
            is_looking: false,
            has_trouble: false,
            waits_for_jobs: false,
            steps: 1,
            idle_turns: 0,
            limit: None,
            limits: TaskLimits::default(),
        }
    }

    type Bend = fn(&mut Standing<'_>);

    /// Every branch of A2 in the order in which they decide: its name, what makes it true, and what happens then.
    fn branches() -> [(&'static str, Bend, Verdict); 10] {
        [
            (
                "paused",
                |state| state.status = TaskStatus::Paused,
                Verdict::Hold,
            ),
            (
                "over a limit",
                |state| state.limit = Some("200 turns".to_owned()),
                Verdict::Limit("200 turns".to_owned()),
            ),
            ("unread", |state| state.has_unread = true, Verdict::NextStep),
            (
                "looking up for a person",
                |state| (state.has_open_card, state.is_looking) = (true, true),
                Verdict::NextStep,
            ),
            (
                "asked",
                |state| state.has_open_card = true,
                Verdict::AskPerson(None),
            ),
            (
                "at a checkpoint",
                |state| {
                    state.checklist = plan(&[("look", ChecklistState::Done, true), OPEN]);
                },
                Verdict::AskPerson(Some("look".to_owned())),
            ),
            (
                "in trouble",
                |state| state.has_trouble = true,
                Verdict::NextStep,
            ),
            (
                "closed",
                |state| {
                    let skipped = ("b", ChecklistState::Skipped, true);
                    state.checklist = plan(&[("a", ChecklistState::Done, false), skipped]);
                },
                Verdict::Deliver,
            ),
            (
                "waiting",
                |state| state.waits_for_jobs = true,
                Verdict::AwaitJobs,
            ),
            (
                "open",
                |state| state.checklist = plan(&[OPEN]),
                Verdict::NextStep,
            ),
        ]
    }

    const OPEN: (&str, ChecklistState, bool) = ("todo", ChecklistState::Todo, false);

    /// A plan for as long as the tests run.
    fn plan(items: &[(&str, ChecklistState, bool)]) -> &'static [ChecklistItem] {
        let items = items
            .iter()
            .map(|(id, state, needs_confirmation)| item(id, *state, *needs_confirmation));
        items.collect::<Vec<_>>().leak()
    }

    #[test]
    fn every_branch_comes_before_those_after_it() {
        let branches = branches();
        for (at, (name, bend, expected)) in branches.iter().enumerate() {
            let mut state = standing(plan(&[OPEN]));
            // What stands after it in the table is true as well, as far as a plan can be two things.
            for (_, bend, _) in branches[at..].iter().rev() {
                bend(&mut state);
            }
            assert_eq!(verdict(&state), *expected, "{name} with all that follows");
            let mut alone = standing(plan(&[OPEN]));
            bend(&mut alone);
            assert_eq!(verdict(&alone), *expected, "{name} alone");
        }
    }

    #[test]
    fn a_full_turn_changes_only_whether_the_next_step_is_in_a_new_one_or_the_task_is_given_up() {
        for (name, bend, expected) in branches() {
            let mut full = standing(plan(&[OPEN]));
            bend(&mut full);
            full.steps = full.limits.steps_per_turn;
            for (idle_turns, given_up) in [(0, false), (3, false), (4, true)] {
                full.idle_turns = idle_turns;
                let expected = match &expected {
                    Verdict::NextStep if given_up && !full.has_unread => Verdict::NoProgress,
                    Verdict::NextStep => Verdict::NextTurn,
                    other => other.clone(),
                };
                assert_eq!(verdict(&full), expected, "{name}, {idle_turns} idle turns");
            }
        }
    }

    #[test]
    fn how_far_the_agent_may_go_decides_which_closed_items_are_asked_about() {
        let checkpoint = plan(&[("look", ChecklistState::Done, true), OPEN]);
        let plain = plan(&[("a", ChecklistState::Done, false), OPEN]);
        let ask = |id: &str| Verdict::AskPerson(Some(id.to_owned()));
        for (autonomy, at_checkpoint, at_plain) in [
            (Autonomy::RunUntilDone, Verdict::NextStep, Verdict::NextStep),
            (Autonomy::AskAtCheckpoints, ask("look"), Verdict::NextStep),
            (Autonomy::AskEachStep, ask("look"), ask("a")),
        ] {
            for (checklist, expected) in [(checkpoint, at_checkpoint), (plain, at_plain)] {
                let mut state = standing(checklist);
                state.autonomy = autonomy;
                assert_eq!(verdict(&state), expected, "{autonomy:?}");
            }
        }
    }

    #[test]
    fn orders_under_way_hold_up_no_checkpoint_and_no_delivery() {
        let checkpoint = [
            item("look", ChecklistState::Done, true),
            item("a", ChecklistState::Todo, false),
        ];
        let mut waiting = standing(&checkpoint);
        waiting.waits_for_jobs = true;
        assert_eq!(
            verdict(&waiting),
            Verdict::AskPerson(Some("look".to_owned())),
            "a checkpoint is asked about while orders are under way"
        );
        let closed = [
            item("a", ChecklistState::Done, false),
            item("b", ChecklistState::Skipped, false),
        ];
        let mut delivered = standing(&closed);
        delivered.waits_for_jobs = true;
        assert_eq!(
            verdict(&delivered),
            Verdict::Deliver,
            "a closed plan waits for nothing"
        );
        let stale = [item("a", ChecklistState::Stale, false)];
        assert_eq!(
            verdict(&standing(&stale)),
            Verdict::NextStep,
            "what is stale is open"
        );
    }

    #[test]
    fn an_empty_plan_is_closed_and_the_task_delivered() {
        assert_eq!(verdict(&standing(&[])), Verdict::Deliver);
    }

    #[test]
    fn an_open_item_means_another_step() {
        let plan = [item("a", ChecklistState::Todo, false)];
        assert_eq!(verdict(&standing(&plan)), Verdict::NextStep);
    }

    #[test]
    fn a_pause_holds_whatever_else_is_true() {
        let mut state = standing(&[]);
        (state.status, state.has_unread) = (TaskStatus::Paused, true);
        assert_eq!(verdict(&state), Verdict::Hold);
    }

    #[test]
    fn a_limit_comes_before_an_unread_message() {
        let mut state = standing(&[]);
        (state.limit, state.has_unread) = (Some("200 turns".to_owned()), true);
        assert_eq!(verdict(&state), Verdict::Limit("200 turns".to_owned()));
    }

    #[test]
    fn an_unread_message_is_read_before_anything_is_asked_or_delivered() {
        let mut state = standing(&[]);
        (state.has_unread, state.has_open_card) = (true, true);
        assert_eq!(verdict(&state), Verdict::NextStep);
    }

    #[test]
    fn an_open_card_waits_for_a_person() {
        let mut state = standing(&[]);
        state.has_open_card = true;
        assert_eq!(verdict(&state), Verdict::AskPerson(None));
    }

    #[test]
    fn what_was_looked_up_for_a_message_is_seen_although_a_card_is_open() {
        let mut state = standing(&[]);
        (state.has_open_card, state.is_looking) = (true, true);
        assert_eq!(verdict(&state), Verdict::NextStep);
        state.has_open_card = false;
        assert_eq!(
            verdict(&state),
            Verdict::Deliver,
            "it holds nothing else up"
        );
    }

    #[test]
    fn a_checkpoint_that_the_model_did_not_ask_about_is_asked_by_the_runtime() {
        let plan = [item("look", ChecklistState::Done, true)];
        assert_eq!(
            verdict(&standing(&plan)),
            Verdict::AskPerson(Some("look".to_owned()))
        );
    }

    #[test]
    fn run_until_done_passes_checkpoints() {
        let plan = [item("look", ChecklistState::Done, true)];
        let mut state = standing(&plan);
        state.autonomy = Autonomy::RunUntilDone;
        assert_eq!(verdict(&state), Verdict::Deliver);
    }

    #[test]
    fn ask_each_step_shows_every_closed_item_once() {
        let plan = [
            item("a", ChecklistState::Done, false),
            item("b", ChecklistState::Todo, false),
        ];
        let mut state = standing(&plan);
        state.autonomy = Autonomy::AskEachStep;
        assert_eq!(verdict(&state), Verdict::AskPerson(Some("a".to_owned())));
        let shown = ["a".to_owned()];
        state.shown_items = &shown;
        assert_eq!(verdict(&state), Verdict::NextStep);
    }

    #[test]
    fn trouble_is_shown_to_the_model_before_the_task_is_delivered() {
        let mut state = standing(&[]);
        state.has_trouble = true;
        assert_eq!(verdict(&state), Verdict::NextStep);
    }

    #[test]
    fn a_full_turn_is_followed_by_another_until_nothing_comes_of_it() {
        let plan = [item("a", ChecklistState::Todo, false)];
        let mut state = standing(&plan);
        (state.steps, state.idle_turns) = (25, 3);
        assert_eq!(verdict(&state), Verdict::NextTurn);
        state.idle_turns = 4;
        assert_eq!(verdict(&state), Verdict::NoProgress);
        state.has_unread = true;
        assert_eq!(verdict(&state), Verdict::NextTurn);
    }
}
