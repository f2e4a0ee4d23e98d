//! Beginning calls: stored as started before they run (D3).

use async_trait::async_trait;
use serde_json::json;

use super::{Call, CallState, Fence, TurnChange};
use crate::error::{Error, Result};
use crate::ids::TurnId;
use crate::journal::JournalKind;
use crate::store::{Command, Scope, Transaction};
use crate::time::Timestamp;

/// Marks calls of a decided step as started; several that run side by side share one commit.
#[derive(Debug, Clone)]
pub struct StartCalls {
    /// The turn's fence.
    pub fence: Fence,
    /// The step.
    pub step: u32,
    /// Which calls, by index.
    pub indices: Vec<u32>,
    /// Prompts of executors that are about to be asked, by the index of their call: whole, before they are sent (J5).
    pub prompts: Vec<ExecutorPrompt>,
    /// The present time.
    pub at: Timestamp,
}

/// A prompt as an executor will get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutorPrompt {
    /// The call.
    pub index: u32,
    /// Who is asked.
    pub executor: String,
    /// The line it is asked on.
    pub line: crate::ids::LineId,
    /// The whole prompt.
    pub text: String,
}

#[async_trait]
impl Command for StartCalls {
    /// The calls as they are stored now.
    type Output = Vec<Call>;
    const NAME: &'static str = "call.start";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    fn enters(&self) -> Option<TurnId> {
        Some(self.fence.turn)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<Vec<Call>> {
        let mut change = TurnChange::enter(tx, self.fence, self.step, self.at).await?;
        let calls = std::mem::take(&mut change.calls);
        let mut started = Vec::with_capacity(self.indices.len());
        for index in &self.indices {
            let is_it = |call: &&Call| call.id.step == self.step && call.id.index == *index;
            let found = calls.iter().find(is_it);
            let mut call = found
                .filter(|call| !call.state.is_over())
                .cloned()
                .ok_or_else(|| Error::Conflict(format!("call {index} is over")))?;
            self.note_prompt(&mut change, &call);
            call.state = CallState::Started;
            call.attempts += 1;
            call.epoch = self.fence.epoch;
            call.started_at = Some(self.at);
            tx.update_call(&call).await?;
            change.note_state(&call);
            started.push(call);
        }
        change.save().await?;
        Ok(started)
    }
}

impl StartCalls {
    /// A prompt is stored with the first attempt; a repeated one is the same.
    fn note_prompt(&self, change: &mut TurnChange<'_>, call: &Call) {
        let prompt = self
            .prompts
            .iter()
            .find(|prompt| prompt.index == call.id.index && call.attempts == 0);
        if let Some(prompt) = prompt {
            change.task.note(
                JournalKind::Prompt,
                prompt.text.clone(),
                json!({"call": call.id, "executor": prompt.executor, "line": prompt.line}),
            );
        }
    }
}
