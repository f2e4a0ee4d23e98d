//! Something is forgotten while a model decides: what it decided with that in sight is not stored, and it is asked with what is left.

use std::sync::{Arc, OnceLock};

use domain::ids::{MemoryId, MessageId};
use domain::memory::{Forget, ForgetTarget, MemoryKind, MemoryScope, Remember};
use domain::store::{SharedStore, Store, StoreExt as _};
use domain::time::Clock as _;
use runtime::model::{Function, ModelRequest, Scripted};
use serde_json::json;

use crate::world::{World, action, decision};

/// What is forgotten.
const CANARY: &str = "zephyrblue77";

fn knows(request: &ModelRequest) -> bool {
    request
        .messages
        .iter()
        .any(|message| message.text.contains(CANARY))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_was_made_with_something_forgotten_in_sight_is_not_stored() {
    let forgets: Arc<OnceLock<(SharedStore, Forget)>> = Arc::default();
    let forgetting = forgets.clone();
    let model = Scripted::answering(move |request| {
        let forgetting = forgetting.clone();
        async move {
            let step = crate::world::step_of(&request).1;
            if step == 2 && knows(&request) {
                let (store, forget) = forgetting.get().expect("is set");
                store.run(forget.clone()).await.expect("forgets");
            }
            let words = if knows(&request) { CANARY } else { "nothing" };
            Ok(Scripted::reply(decision(
                step > 2,
                &json!([action("note", &format!("{words} {step}"))]),
            )))
        }
    });
    let world = World::with(model).await;
    let engine = world.engine();
    let remember = Remember {
        caller: world.caller,
        workspace: world.workspace,
        content: format!("Our brand is {CANARY}"),
        kind: MemoryKind::Fact,
        scope: MemoryScope::Workspace,
        memory: MemoryId::new(),
        message: MessageId::new(),
        at: world.clock.now(),
    };
    let memory = world.run(remember).await.expect("remembers");
    let task = world.task("a whale").await;
    world.clock.advance(std::time::Duration::from_secs(1));
    let forget = Forget {
        caller: world.caller,
        workspace: world.workspace,
        target: ForgetTarget::Memory(memory),
        receipt: uuid::Uuid::nil(),
        at: world.clock.now(),
    };
    let store: Arc<dyn Store> = world.store.clone();
    assert!(forgets.set((store, forget)).is_ok());
    world.settle(&engine, task).await;
    let asked = world.model.requests();
    let decides: Vec<bool> = asked
        .iter()
        .filter(|request| request.function == Function::Decide)
        .map(knows)
        .collect();
    // The first step, the second as it began, the second once more, and what follows.
    assert_eq!(decides, [true, true, false, false]);
    let turn = world
        .store_reads()
        .list_turns_of(&[task], 1, domain::page::End::First)
        .await;
    let turn = turn.expect("reads").remove(0);
    let calls = world.calls(turn.id).await;
    let done: Vec<String> = calls
        .iter()
        .map(|call| call.arguments.to_string())
        .collect();
    assert_eq!(done.len(), 3, "{done:?}");
    assert!(
        done.iter().all(|arguments| !arguments.contains(CANARY)),
        "{done:?}"
    );
    world.close().await;
}
