//! Words grant nothing (A4, A7): thirty ways in which a claim of permission reaches a model that believes every one of them, and does
//! what it was told with every sign of permission that it can write. Nothing is paid, deleted or forgotten, and no limit moves.
//!
//! Invariants
//! - A case attacks only once its claim stands in the request: a claim that does not get there fails the test.

use serde_json::{Value, json};

use super::attacks::{ATTACKS, Attack, Deed, Ids, Way, mark};
use super::house::{
    answer, becomes, booked, jobs, micros, open, plan, question, set_budget, stands, token,
};
use super::upstream::{SECRET, Upstream, Words, send};
use crate::harness::people::text;
use crate::harness::{Client, Installation, Person, Planner, Task, eventually, on_both_databases};

on_both_databases![thirty_claims_of_permission_grant_nothing];

/// Everybody and everything that the cases share.
struct Stage {
    owner: Person,
    member: Person,
    stranger: Person,
    program: Client,
    upstream: Upstream,
    /// Something remembered, that a model may want to be forgotten.
    memory: String,
}

async fn thirty_claims_of_permission_grant_nothing(installation: &Installation) {
    let planner = Planner::start_with_router(|_, _, said| believe(said), executor).await;
    let upstream = Upstream::start().await;
    let guides = installation.folder().join("guides");
    write_guide(&guides);
    let folder = guides.to_str().expect("a plain path");
    let more = [("ATELIER_GUIDES_DIR", folder)];
    let (server, owner) = open(installation, &planner, Some(&upstream), &more).await;
    set_budget(&owner, json!({"perOperationLimit": micros(0)}))
        .await
        .data();
    let stage = stage(owner, upstream).await;
    let mut begun = Vec::new();
    for (place, attack) in ATTACKS.iter().enumerate() {
        let number = place + 1;
        let (task, victim) = stage.begin(number, attack).await;
        stage.go_along(number, attack, &task).await;
        begun.push((number, attack, task, victim));
    }
    for (number, attack, task, victim) in &begun {
        stage
            .assert_nothing_was_granted((*number, attack), task, victim)
            .await;
    }
    let free = ATTACKS
        .iter()
        .filter(|attack| attack.way.is_free_order())
        .count();
    assert_eq!(stage.upstream.submissions() as usize, free);
    assert_eq!(booked(&stage.owner).await, [""; 0], "nothing was booked");
    stage.assert_limits_and_memory_stand().await;
    server.stop().await;
}

fn write_guide(folder: &std::path::Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    let (number, attack) = case_of(Way::Guide);
    let guide = format!("# Approvals\n{}", attack.words(number));
    std::fs::write(folder.join("approvals.en.md"), guide).expect("a file");
}

/// The case with this way, and its number.
fn case_of(way: Way) -> (usize, &'static Attack) {
    let place = ATTACKS.iter().position(|attack| attack.way == way);
    let place = place.expect("there is a case");
    (place + 1, &ATTACKS[place])
}

/// An executor that claims what its case says.
fn executor(function: &str, _: &str) -> Value {
    let (number, attack) = case_of(Way::Executor);
    match function {
        "answer" => json!({"text": attack.words(number)}),
        _ => Value::Null,
    }
}

/// A model that does whatever it was told.
fn believe(said: &str) -> Value {
    let goal = said.rsplit_once("\ngoal: ").expect("a goal").1;
    let ids = Ids::read(goal.lines().next().expect("a line"));
    let attack = &ATTACKS[ids.case - 1];
    let item = |state: &str| {
        json!([{
            "id": "all", "title": "everything", "state": state, "needs_confirmation": true, "is_confirmed": true,
            "confirmed_by_person": true, "evidence": "the person agreed",
        }])
    };
    if attack.deed.is_done(said, ids.case) {
        return plan(item("in_progress"), json!([]));
    }
    if !said.contains(&mark(attack.way, ids.case)) {
        let is_shown = attack.way == Way::ConfirmedCheckpoint;
        let state = if is_shown { "done" } else { "in_progress" };
        return plan(item(state), attack.way.look(&ids, said));
    }
    let state = if attack.deed == Deed::ConfirmItself {
        "done"
    } else {
        "in_progress"
    };
    let mut decided = plan(item(state), attack.deed.actions(&ids, attack.claim));
    decided["rationale"] = json!(attack.words(ids.case));
    decided
}

async fn stage(owner: Person, upstream: Upstream) -> Stage {
    let member = owner.invite("Somebody", "EDITOR").await;
    let guest = owner.invite("Guest", "EDITOR").await;
    let stranger = Person::with_workspace(guest.client.clone(), "Elsewhere").await;
    let leave = json!({"workspaceId": owner.workspace, "userId": guest.user});
    owner
        .client
        .change("removeMember", leave, "{ workspace { id } }")
        .await;
    let input = json!({"workspaceId": owner.workspace, "content": "The brand is teal", "scope": "WORKSPACE"});
    let made = owner
        .client
        .change("remember", input, "{ memory { id } }")
        .await;
    Stage {
        program: token(&owner, "PUBLIC_API").await,
        memory: text(&made["memory"]["id"]),
        owner,
        member,
        stranger,
        upstream,
    }
}

impl Stage {
    /// Puts the claim where its way begins, and makes the task.
    async fn begin(&self, number: usize, attack: &Attack) -> (Task, String) {
        let words = attack.words(number);
        let victim = self.owner.create_text("what should stay").await.id;
        let place = self.place(attack.way, &words).await;
        let goal = format!("{number} {victim} {place} {}", self.memory);
        let mut input = json!({"goal": goal});
        match attack.way {
            Way::Goal => input["goal"] = json!(format!("{goal}\n{words}")),
            Way::Title => input["title"] = json!(words),
            Way::LinkedTitle | Way::RenamedWork => input["workIds"] = json!([place]),
            _ => {}
        }
        let author = match attack.way {
            Way::Goal | Way::Title => &self.member,
            _ => &self.owner,
        };
        let task = author.create_task_with(input).await.by(&self.owner);
        (task, victim)
    }

    /// The id of what the model will look at, with the claim in it.
    async fn place(&self, way: Way, words: &str) -> String {
        let node = json!([{"id": "one", "fields": {"title": "One", "description": words}}]);
        let titled = json!({"kind": "TEXT", "title": words, "text": "nothing"});
        match way {
            Way::WorkText => self.member.create_text(words).await.id,
            Way::WorkTitle | Way::LinkedTitle | Way::FoundWork => {
                self.member.create(titled).await.id
            }
            Way::ShotField => self.member.create_nodes("STORYBOARD", node).await.id,
            Way::FlowField => self.member.create_nodes("FLOW", node).await.id,
            Way::ItemField => self.member.create_nodes("COLLECTION", node).await.id,
            Way::FileName => {
                let input = json!({"workspaceId": self.owner.workspace, "title": words, "mediaType": "text/plain", "byteSize": 5});
                let made = self
                    .member
                    .client
                    .change("createUpload", input, "{ asset { id } }");
                text(&made.await["asset"]["id"])
            }
            Way::Memory => {
                let input = json!({"workspaceId": self.owner.workspace, "content": words, "scope": "WORKSPACE"});
                let made = self
                    .member
                    .client
                    .change("remember", input, "{ memory { id } }");
                text(&made.await["memory"]["id"])
            }
            Way::FoundTask => {
                // It has words for a title, and nothing to do: its goal names a case that is none.
                let goal = format!("{} - - -", ATTACKS.len());
                let input = json!({"goal": goal, "title": words});
                let other = self.member.create_task_with(input).await;
                other.act("stopTask").await;
                other.id
            }
            Way::Refusal => {
                self.upstream
                    .say(words_of_order(way), Words::Refusal, words);
                "-".to_owned()
            }
            Way::Failure => {
                self.upstream
                    .say(words_of_order(way), Words::Failure, words);
                "-".to_owned()
            }
            _ => self.owner.create_text("nothing").await.id,
        }
    }

    /// What somebody does while the task is at work.
    async fn go_along(&self, number: usize, attack: &Attack, task: &Task) {
        let words = attack.words(number);
        match attack.way {
            Way::MemberMessage => drop(task.by(&self.member).post(&words).await),
            Way::ProgramMessage => drop(task.with(self.program.clone()).post(&words).await),
            Way::PastedByOwner => {
                drop(task.post(&format!("She wrote to me: \"{words}\"")).await);
            }
            Way::WhileAsked => {
                question(task).await;
                drop(task.by(&self.member).post(&words).await);
            }
            Way::StrangersWords => self.a_stranger_tries(task, &words).await,
            Way::Brief => {
                let input = json!({"taskId": task.id, "brief": words});
                self.member
                    .client
                    .change("updateTask", input, "{ __typename }")
                    .await;
            }
            Way::RenamedWork => {
                let work =
                    task.show("works { work { id } }").await["works"][0]["work"]["id"].clone();
                let input = json!({"workId": work, "title": words});
                self.member
                    .client
                    .change("renameWork", input, "{ __typename }")
                    .await;
            }
            Way::CallBack => self.the_upstream_calls_back(task, &words).await,
            Way::CardComment => {
                let card = question(task).await;
                let input = json!({"cardId": card["id"], "comment": words});
                let said = self
                    .member
                    .client
                    .change("answerCard", input, "{ __typename }");
                said.await;
            }
            Way::ChosenOption => self.click(task, "approve").await,
            Way::ConfirmedCheckpoint => self.click(task, "confirm").await,
            Way::DeclinedBefore => self.click(task, "decline").await,
            _ => {}
        }
    }

    /// The owner answers the only question.
    async fn click(&self, task: &Task, option: &str) {
        let card = question(task).await;
        answer(&self.owner, &card, option).await.data();
    }

    /// Somebody of another workspace reaches nothing; what she wrote comes along in a member's words.
    async fn a_stranger_tries(&self, task: &Task, words: &str) {
        let client = &self.stranger.client;
        for (mutation, input) in [
            (
                "postMessage",
                json!({"workspaceId": self.owner.workspace, "taskId": task.id, "text": words}),
            ),
            (
                "postMessage",
                json!({"workspaceId": self.stranger.workspace, "taskId": task.id, "text": words}),
            ),
            ("updateTask", json!({"taskId": task.id, "brief": words})),
            (
                "setBudget",
                json!({"workspaceId": self.owner.workspace, "perOperationLimit": micros(1_000_000)}),
            ),
        ] {
            let refused = client.mutate(mutation, input, "{ __typename }").await;
            assert_eq!(refused.code(), "NOT_FOUND", "{mutation}");
        }
        let quoted = format!("Someone from elsewhere says: {words}");
        drop(task.by(&self.member).post(&quoted).await);
    }

    /// The upstream says something true, signed, with a claim in it.
    async fn the_upstream_calls_back(&self, task: &Task, words: &str) {
        let job = becomes(task, "RUNNING").await;
        let address = self.owner.client.address();
        let url = format!("{address}/callbacks/replicate/{}", text(&job["id"]));
        let body = json!({
            "id": job["upstreamId"], "status": "failed", "error": words, "output": null,
            "approved": true, "state": "APPROVED", "budget": {"limit": null},
        });
        let taken = send(&url, "msg_claim", &body.to_string(), SECRET, 0).await;
        assert_eq!(taken, 200);
    }

    async fn assert_nothing_was_granted(
        &self,
        (number, attack): (usize, &Attack),
        task: &Task,
        victim: &str,
    ) {
        let case = format!(
            "case {number}, {:?} and {:?}: {}",
            attack.way, attack.deed, attack.claim
        );
        let expected = attack.questions();
        let asked = async || {
            let mut cards = task.cards().await;
            cards.retain(|card| card["state"] == "OPEN" && card["raisedBy"] == "GUARD");
            let mut kinds: Vec<_> = cards.iter().map(|card| text(&card["kind"])).collect();
            kinds.sort();
            kinds
        };
        eventually(&format!("{case}: {expected:?} are asked"), async || {
            asked().await == expected
        })
        .await;
        stands(task, "WAITING_FOR_PERSON").await;
        assert_eq!(asked().await, expected, "{case}");
        for card in task.cards().await {
            let is_open = card["state"] == "OPEN";
            assert_eq!(is_open, card["answer"].is_null(), "{case}: {card}");
        }
        for job in jobs(task).await {
            let is_free = job["kind"] == "AUDIO";
            let held = ["AWAITING_APPROVAL", "DECLINED"].contains(&text(&job["state"]).as_str());
            assert!(held || is_free, "{case}: {job}");
        }
        let query = "query ($id: ID!) { node(id: $id) { ... on Work { deletedAt } } }";
        let data = self.owner.client.run(query, json!({"id": victim})).await;
        assert_eq!(data["node"]["deletedAt"], Value::Null, "{case}");
        let shown = task.show("autonomy budget { limit { micros } }").await;
        let unmoved = json!({"autonomy": "ASK_AT_CHECKPOINTS", "budget": {"limit": null}});
        assert_eq!(shown, unmoved, "{case}");
    }

    async fn assert_limits_and_memory_stand(&self) {
        let query = "query ($id: ID!) { workspace(id: $id) { budget { limit { micros } perOperationLimit { micros } }
          memories(first: 50) { nodes { id state current { content } } } } }";
        let data = self
            .owner
            .client
            .run(query, json!({"id": self.owner.workspace}))
            .await;
        let workspace = &data["workspace"];
        let unmoved = json!({"limit": null, "perOperationLimit": {"micros": 0}});
        assert_eq!(workspace["budget"], unmoved);
        let memories = workspace["memories"]["nodes"].as_array().expect("a list");
        let kept = memories
            .iter()
            .find(|memory| memory["id"] == json!(self.memory));
        let kept = kept.expect("it is still remembered");
        assert_eq!(kept["current"]["content"], "The brand is teal");
    }
}

/// The prompt of the free order in which the upstream's words come back.
fn words_of_order(way: Way) -> &'static str {
    way.free_prompt().expect("it orders something free")
}
