//! The extractor: looks for messages that wait, asks the model, and stores what it found.
//!
//! Invariants
//! - Claimed for a time in the store, so that several processes do not read the same; what a process that died had claimed is read again.
//! - Nothing is held open while the model reads; where something changed meanwhile, the messages are read again.

use std::sync::Arc;
use std::time::Duration;

use domain::error::Result;
use domain::ids::{MemoryId, MessageId};
use domain::memory::{
    Candidate, CandidateError, Claim, ClaimExtraction, Extracted, ExtractionGroup, FailExtraction,
    MOST_ATTEMPTS, ScopeKind, StoreExtraction,
};
use domain::message::Message;
use domain::page::{End, Window};
use domain::store::StoreExt as _;
use domain::time::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::request::extraction_request;
use crate::model::{ModelError, ModelMessage, ModelRequest, Speaker};
use crate::tools::ToolServices;

/// Groups that are looked for at once.
const GROUPS: u32 = 16;
/// Messages around those that are read.
const AROUND: u32 = 8;
/// Characters of a misfitting reply that the model is shown again.
const SHOWN_REPLY: usize = 4_000;

/// How the extractor works.
#[derive(Debug, Clone, Copy)]
pub struct ExtractionOptions {
    /// Quiet time before messages are read.
    pub delay: Duration,
    /// How long a claim holds.
    pub lease: Duration,
    /// How long to wait before what failed is tried again; each attempt doubles it.
    pub pause: Duration,
}

impl Default for ExtractionOptions {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(5),
            lease: Duration::from_mins(6),
            pause: Duration::from_secs(10),
        }
    }
}

/// The extractor of a process.
pub struct Extractor {
    services: ToolServices,
    options: ExtractionOptions,
}

/// What the model found, or why it found nothing.
enum Found {
    Candidates(Vec<std::result::Result<Candidate, CandidateError>>),
    /// To be tried again; none where that would be the same again.
    Failed(Option<Duration>),
}

impl Extractor {
    /// An extractor over these services.
    #[must_use]
    pub fn new(services: ToolServices, options: ExtractionOptions) -> Self {
        Self { services, options }
    }

    /// How it works.
    #[must_use]
    pub fn options(&self) -> ExtractionOptions {
        self.options
    }

    fn now(&self) -> Timestamp {
        self.services.clock.now()
    }

    /// Reads everything that is due; how many groups it read.
    pub async fn read_due(&self, stop: &CancellationToken) -> Result<usize> {
        let reads = self.services.store.reads();
        // By the clock of the one who reads: quiet is a matter of seconds, and claims are compared with nothing else.
        let now = self.now();
        let quiet = Timestamp::from_micros(now.micros() - self.options.delay.as_micros() as i64);
        let due = reads.list_due_extractions(quiet, now, GROUPS).await?;
        let mut count = 0;
        for group in due {
            if stop.is_cancelled() {
                return Ok(count);
            }
            let read = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(count),
                read = self.read(group) => read?,
            };
            count += usize::from(read.is_some());
        }
        Ok(count)
    }

    /// Reads the messages of a group that wait; none where nobody waits any more.
    pub async fn read(&self, group: ExtractionGroup) -> Result<Option<Extracted>> {
        let claim = ClaimExtraction {
            group,
            lease: self.options.lease,
            at: self.now(),
        };
        let Some(claim) = self.services.store.run(claim).await? else {
            return Ok(None);
        };
        self.read_claimed(claim).await.map(Some)
    }

    /// Reads what was claimed.
    pub async fn read_claimed(&self, claim: Claim) -> Result<Extracted> {
        let read: Vec<MessageId> = claim
            .messages
            .iter()
            .map(|(message, _)| message.id)
            .collect();
        let found = match self.ask(&claim).await? {
            Found::Candidates(found) => found,
            Found::Failed(pause) => {
                let again_at = pause
                    .filter(|_| claim.attempts < MOST_ATTEMPTS)
                    .map(|pause| self.now().plus(pause));
                self.fail((claim.group, read), again_at).await?;
                return Ok(Extracted::Stale);
            }
        };
        let mut candidates = stated(&claim);
        candidates.extend(found);
        let command = StoreExtraction {
            group: claim.group,
            read: read.clone(),
            shown: claim
                .shown
                .iter()
                .map(|shown| (shown.memory.id, shown.memory.current))
                .collect(),
            forgets: claim.forgets,
            spare: candidates.iter().map(|_| MemoryId::new()).collect(),
            candidates,
            at: self.now(),
        };
        let extracted = self.services.store.run(command).await?;
        if extracted == Extracted::Stale {
            let again_at = (claim.attempts < MOST_ATTEMPTS).then(|| self.now());
            self.fail((claim.group, read), again_at).await?;
        }
        Ok(extracted)
    }

    async fn fail(
        &self,
        (group, messages): (ExtractionGroup, Vec<MessageId>),
        again_at: Option<Timestamp>,
    ) -> Result<()> {
        metrics::counter!("atelier_extractions_failed_total").increment(1);
        if again_at.is_none() {
            tracing::warn!(workspace.id = %group.workspace, "messages could not be extracted from; they are given up");
        }
        let command = FailExtraction {
            group,
            messages,
            again_at,
        };
        self.services.store.run(command).await
    }

    /// Asks the model; a reply that does not fit is answered once.
    async fn ask(&self, claim: &Claim) -> Result<Found> {
        if claim.messages.iter().all(|(_, is_stated)| *is_stated) {
            return Ok(Found::Candidates(Vec::new()));
        }
        let around = self.around(claim).await?;
        let request = extraction_request(claim, &around);
        let first = self.services.model.ask(&request).await;
        let (problem, said) = match read_reply(first) {
            Ok(found) => return Ok(Found::Candidates(found)),
            Err(Unread::Misfit(problem, said)) => (problem, said),
            Err(Unread::Away(retry_after)) => return Ok(self.failed(claim, retry_after)),
        };
        let again = answered(&request, &problem, &said);
        match read_reply(self.services.model.ask(&again).await) {
            Ok(found) => Ok(Found::Candidates(found)),
            Err(Unread::Misfit(..)) => Ok(self.failed(claim, None)),
            Err(Unread::Away(retry_after)) => Ok(self.failed(claim, retry_after)),
        }
    }

    fn failed(&self, claim: &Claim, retry_after: Option<Duration>) -> Found {
        let doubled = self.options.pause * 2_u32.pow(claim.attempts.min(MOST_ATTEMPTS) - 1);
        Found::Failed(Some(retry_after.unwrap_or(doubled)))
    }

    /// What stands before the messages in their thread, without what may not be used.
    async fn around(&self, claim: &Claim) -> Result<Vec<Message>> {
        let reads = self.services.store.reads();
        let group = claim.group;
        let window = Window {
            limit: AROUND,
            end: End::Last,
            after: None,
            before: claim
                .messages
                .first()
                .map(|(message, _)| message.position()),
        };
        let page = match group.task {
            Some(task) => reads.list_thread(task, window).await?,
            None => {
                reads
                    .list_main_thread(group.workspace, group.user, window)
                    .await?
            }
        };
        let ids: Vec<MessageId> = page.rows.iter().map(|message| message.id).collect();
        let forgotten = reads.list_forgotten(group.workspace, Some(&ids)).await?;
        let mut messages = page.rows;
        messages.retain(|message| {
            let is_forgotten = forgotten.iter().any(|one| one.message == message.id);
            let is_theirs = message.person().is_none_or(|user| user == group.user);
            is_theirs && !is_forgotten && !message.state.is_taken_back()
        });
        Ok(messages)
    }
}

/// Messages that are nothing but what is to be remembered need no model.
fn stated(claim: &Claim) -> Vec<std::result::Result<Candidate, CandidateError>> {
    let of = |message: &Message| {
        Candidate::read(&json!({
            "content": message.text, "kind": "fact", "basis": "explicit", "relation": "origin",
            "scope": scope_of(claim), "evidence": [message.id], "quote": message.text,
        }))
    };
    let messages = claim.messages.iter();
    messages
        .filter(|(_, is_stated)| *is_stated)
        .map(|(message, _)| of(message))
        .collect()
}

/// The scope of the memory that is derived anew.
fn scope_of(claim: &Claim) -> String {
    let kind = claim.scope_to_derive.unwrap_or(ScopeKind::Person);
    kind.name().to_lowercase()
}

/// Why a reply gave no candidates.
enum Unread {
    Misfit(String, String),
    Away(Option<Duration>),
}

/// The candidates of a reply: it fits as a whole where it holds a list; what is in the list is read one by one.
fn read_reply(
    reply: std::result::Result<crate::model::ModelReply, ModelError>,
) -> std::result::Result<Vec<std::result::Result<Candidate, CandidateError>>, Unread> {
    match reply {
        Ok(reply) => match reply.arguments["candidates"].as_array() {
            Some(candidates) => Ok(candidates.iter().map(Candidate::read).collect()),
            None => Err(Unread::Misfit(
                "`candidates` must be a list".to_owned(),
                said(&reply.arguments),
            )),
        },
        Err(ModelError::Misfit { problem, said, .. }) => Err(Unread::Misfit(problem, said)),
        Err(ModelError::Unavailable { retry_after, .. }) => Err(Unread::Away(retry_after)),
        Err(error @ ModelError::Refused(_)) => {
            tracing::warn!(%error, "memories could not be extracted");
            Err(Unread::Away(None))
        }
    }
}

fn said(arguments: &Value) -> String {
    crate::context::cut(&arguments.to_string(), SHOWN_REPLY)
}

/// The same request, with what was said and what is wrong with it.
fn answered(request: &ModelRequest, problem: &str, said: &str) -> ModelRequest {
    let mut again = request.clone();
    again.messages.push(ModelMessage {
        speaker: Speaker::Assistant,
        text: said.to_owned(),
    });
    again.messages.push(ModelMessage {
        speaker: Speaker::User,
        text: format!(
            "This does not fit, and nothing of it was stored:\n{problem}\nCall `{}` again, mended.",
            request.function.name()
        ),
    });
    again
}

/// Reads what is due, at short intervals, until it is told to stop.
pub(crate) async fn extract(extractor: Arc<Extractor>, stop: CancellationToken) {
    let interval =
        (extractor.options.delay / 4).clamp(Duration::from_millis(50), Duration::from_secs(5));
    while !stop.is_cancelled() {
        match extractor.read_due(&stop).await {
            Ok(count) if count == GROUPS as usize => continue,
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "messages can not be extracted from; trying again");
            }
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(interval) => {}
        }
    }
}
