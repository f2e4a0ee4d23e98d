//! What edits of works have in common: who edits, under which key, and that the agent is seen where it edits (W4).

use std::time::Duration;

use domain::document::{EditOutcome, Editor};
use domain::error::Result;
use domain::idempotency::IDEMPOTENCY_TTL;
use domain::ids::WorkId;
use domain::time::Timestamp;
use domain::turn::{CallId, CallOutcome};

use super::outcome::ran;
use crate::tools::arguments::work;
use crate::tools::identity::idempotency;
use crate::tools::{Invocation, Ran};

/// The name that people see where the agent edits.
const LABEL: &str = "Agent";

/// One edit of a work that the task may see.
pub(super) struct Editing<'run> {
    invocation: &'run Invocation<'run>,
    /// The work.
    pub(super) work: WorkId,
    /// Who edits.
    pub(super) editor: Editor,
}

impl<'run> Editing<'run> {
    /// Begins: looks whether the work is there for the task.
    pub(super) async fn begin(
        invocation: &'run Invocation<'run>,
        work_id: &str,
        mutation: &'static str,
    ) -> Result<Self> {
        let work = work(invocation, work_id).await?;
        Ok(Self {
            invocation,
            work: work.id,
            editor: Editor {
                actor: invocation.actor(),
                idempotency: Some(idempotency(invocation, mutation)),
                fence: Some(invocation.fence),
            },
        })
    }

    /// Shows the agent at a node, or at the work.
    pub(super) async fn show(&self, node: Option<String>) {
        let documents = &self.invocation.services.documents;
        let actor = self.editor.actor.clone();
        let shown = documents.show_presence(self.work, actor, LABEL, node).await;
        if let Err(error) = shown {
            // Being seen is a courtesy; the edit says itself what is wrong.
            tracing::debug!(work.id = %self.work, %error, "the agent is not shown");
        }
    }

    /// What came of the edit.
    pub(super) fn finish(&self, outcome: EditOutcome) -> Ran {
        ran(self.work, outcome)
    }
}

/// The outcome of a call whose earlier attempt may have had its effect, where nobody remembers any more; none where its key
/// is still kept.
pub(super) fn forgotten(invocation: &Invocation<'_>) -> Option<Ran> {
    let call = invocation.call;
    let age = invocation.at.since(begun(call.id)?);
    (call.attempts > 1 && age >= IDEMPOTENCY_TTL).then(|| Ran {
        outcome: CallOutcome::OutcomeUnknown(format!(
            "it was begun more than {} hours ago, and may have had its effect then: read the work before you decide",
            IDEMPOTENCY_TTL.as_secs() / 3_600
        )),
        effects: Vec::new(),
    })
}

/// When the turn of a call was queued: no attempt of the call is older.
fn begun(call: CallId) -> Option<Timestamp> {
    let (seconds, nanos) = call.turn.uuid().get_timestamp()?.to_unix();
    let since = Duration::new(seconds, nanos);
    Some(Timestamp::from_micros(
        i64::try_from(since.as_micros()).ok()?,
    ))
}
