//! Judging a candidate by the messages that it rests on: who wrote them, whether they say so, in which language, how far it may reach.
//!
//! Invariants
//! - A candidate is judged by the messages alone: what was recalled, what the agent said and what the rules say is no evidence.
//!
//! Not here: what is stored already (`store_extraction`).

use std::collections::HashMap;

use super::candidate::{Candidate, Relation};
use super::extract::ExtractionGroup;
use super::secrets::has_secret;
use super::words::{normal, share_in, terms};
use super::{MemoryBasis, MemoryKind, MemoryScope, RejectionReason, ScopeKind};
use crate::ids::MessageId;
use crate::message::Message;
use crate::task::detect_language;

/// Share of a candidate's words that its messages must hold, where it was said.
const SAID: f64 = 0.5;
/// The same where it was inferred.
const CONCLUDED: f64 = 0.2;
/// Words of a wish for one work alone.
const FOR_NOW: &[&str] = &[
    "this time",
    "for now",
    "just once",
    "only once",
    "this one",
    "only here",
    "for today",
    "this poster",
    "this shot",
    "this video",
    "в этот раз",
    "на этот раз",
    "пока что",
    "только сейчас",
    "только здесь",
    "на сегодня",
    "для этого плаката",
    "в этом плакате",
    "в этом кадре",
    "这次",
    "这一次",
    "本次",
    "暂时",
    "这张",
    "这一张",
    "仅此",
];

/// Why a candidate is not taken.
pub(super) type Refusal = (RejectionReason, String);

/// What candidates of one extraction are judged by.
pub(super) struct Judge<'a> {
    pub(super) group: &'a ExtractionGroup,
    /// The messages that were read.
    pub(super) read: &'a [MessageId],
    /// Every message that a candidate names and that is there, forgotten ones among them.
    pub(super) messages: HashMap<MessageId, Message>,
    pub(super) forgotten: Vec<MessageId>,
}

/// A candidate that its messages speak for.
#[derive(Debug)]
pub(super) struct Sound {
    pub(super) scope: MemoryScope,
    /// Oldest first.
    pub(super) evidence: Vec<Message>,
}

impl Judge<'_> {
    /// What speaks for a candidate, or against it; `known` is what the memory says that it changes or supports.
    pub(super) fn judge(
        &self,
        candidate: &Candidate,
        known: Option<&str>,
    ) -> Result<Sound, Refusal> {
        let evidence = self.evidence(candidate)?;
        let scope = self.reach(candidate, &evidence)?;
        if candidate.relation != Relation::Confirm {
            check_secret(candidate)?;
            check_language(candidate, &evidence)?;
            check_said(candidate, &evidence, known)?;
        }
        Ok(Sound { scope, evidence })
    }

    fn evidence(&self, candidate: &Candidate) -> Result<Vec<Message>, Refusal> {
        let mut found: Vec<Message> = Vec::new();
        for named in &candidate.evidence {
            let message = named
                .parse::<MessageId>()
                .ok()
                .and_then(|id| self.messages.get(&id))
                .filter(|message| message.workspace == self.group.workspace);
            let Some(message) = message else {
                return Err(refused(
                    RejectionReason::NoEvidence,
                    "it names a message that is not there",
                ));
            };
            if message.person().is_none() {
                return Err(refused(
                    RejectionReason::NotAPerson,
                    "it rests on what no person wrote",
                ));
            }
            if self.forgotten.contains(&message.id) || message.state.is_taken_back() {
                return Err(refused(
                    RejectionReason::Forgotten,
                    "its message may not be used any more",
                ));
            }
            if message.person() != Some(self.group.user) {
                return Err(refused(
                    RejectionReason::NoEvidence,
                    "it names the message of somebody else",
                ));
            }
            if !found.iter().any(|known| known.id == message.id) {
                found.push(message.clone());
            }
        }
        if !found.iter().any(|message| self.read.contains(&message.id)) {
            return Err(refused(
                RejectionReason::NoEvidence,
                "it names none of the messages that were read",
            ));
        }
        found.sort_by_key(Message::position_key);
        Ok(found)
    }

    /// How far it reaches: no further than its messages let it.
    fn reach(&self, candidate: &Candidate, evidence: &[Message]) -> Result<MemoryScope, Refusal> {
        let scope = match candidate.scope {
            ScopeKind::Person => MemoryScope::Person(self.group.user),
            ScopeKind::Workspace => MemoryScope::Workspace,
            ScopeKind::Task => {
                let text = "it was said in no task, and can not be for one";
                let refused = || refused(RejectionReason::WrongScope, text);
                MemoryScope::Task(self.group.task.ok_or_else(refused)?)
            }
        };
        let is_lasting =
            candidate.scope != ScopeKind::Task && candidate.kind != MemoryKind::Episode;
        if is_lasting && candidate.relation != Relation::Confirm && is_for_now(candidate, evidence)
        {
            let text = "a wish for this one work is no lasting preference";
            return Err(refused(RejectionReason::WrongScope, text));
        }
        Ok(scope)
    }
}

pub(super) fn refused(reason: RejectionReason, text: &str) -> Refusal {
    (reason, text.to_owned())
}

fn check_secret(candidate: &Candidate) -> Result<(), Refusal> {
    if has_secret(&candidate.content) {
        return Err(refused(RejectionReason::Secret, "it looks like a secret"));
    }
    Ok(())
}

fn check_language(candidate: &Candidate, evidence: &[Message]) -> Result<(), Refusal> {
    let language = detect_language(&candidate.content);
    let is_same = |message: &Message| detect_language(&message.text) == language;
    if evidence.iter().any(is_same) {
        return Ok(());
    }
    let text = format!("it is in another language ({language}) than what was said");
    Err((RejectionReason::WrongLanguage, text))
}

/// The quoted words must stand there; names and numbers must, letter by letter; and of all other words enough.
fn check_said(
    candidate: &Candidate,
    evidence: &[Message],
    known: Option<&str>,
) -> Result<(), Refusal> {
    let texts: Vec<&str> = evidence
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    if let Some(quote) = &candidate.quote {
        let quote = normal(quote);
        if !texts.iter().any(|text| normal(text).contains(&quote)) {
            return Err(refused(
                RejectionReason::NotSaid,
                "the quoted words stand in none of its messages",
            ));
        }
    }
    let mut said = terms(&texts.join("\n"));
    if let Some(known) = known {
        said.extend(terms(known));
    }
    if let Some(name) = names(&candidate.content).find(|name| !terms(name).is_subset(&said)) {
        let text = format!("\u{201c}{name}\u{201d} stands in none of its messages");
        return Err((RejectionReason::NotSaid, text));
    }
    let least = match candidate.basis {
        MemoryBasis::Explicit => SAID,
        MemoryBasis::Inferred => CONCLUDED,
    };
    let is_said = match share_in(&candidate.content, &said) {
        Some(share) => share >= least,
        None => texts
            .iter()
            .any(|text| normal(text).contains(&normal(&candidate.content))),
    };
    if is_said {
        return Ok(());
    }
    Err(refused(
        RejectionReason::NotSaid,
        "its messages do not say so",
    ))
}

/// Words behind the first that are written large or hold a digit.
fn names(content: &str) -> impl Iterator<Item = &str> {
    let words = content.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let is_name = |word: &&str| {
        let large = word.chars().next().is_some_and(char::is_uppercase) && word.chars().count() > 2;
        large || word.chars().any(|c| c.is_ascii_digit())
    };
    let mut is_first = true;
    words.filter(|word| !word.is_empty()).filter(move |word| {
        let begins = std::mem::take(&mut is_first);
        let has_digit = word.chars().any(|c| c.is_ascii_digit());
        (has_digit || !begins) && is_name(word)
    })
}

/// Whether the sentence that says it most speaks of this one work.
fn is_for_now(candidate: &Candidate, evidence: &[Message]) -> bool {
    let own = terms(&candidate.content);
    let mut best = (0, candidate.quote.clone().unwrap_or_default());
    if best.1.is_empty() {
        let ends = |c: char| matches!(c, '.' | '!' | '?' | '\n' | '。' | '\u{ff01}' | '\u{ff1f}');
        for sentence in evidence.iter().flat_map(|message| message.text.split(ends)) {
            let shared = terms(sentence).intersection(&own).count();
            if shared > best.0 {
                best = (shared, sentence.to_owned());
            }
        }
    }
    let said = format!("{} {}", normal(&best.1), normal(&candidate.content));
    FOR_NOW.iter().any(|mark| said.contains(&normal(mark)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::actor::Actor;
    use crate::ids::{TaskId, UserId, WorkspaceId};
    use crate::message::MessageState;
    use crate::time::Timestamp;

    fn message(author: Actor, workspace: WorkspaceId, text: &str) -> Message {
        Message {
            id: MessageId::new(),
            workspace,
            main_of: None,
            task: None,
            author,
            text: text.to_owned(),
            language: None,
            created_at: Timestamp::from_micros(1),
            state: MessageState::Consumed,
            taken_by: None,
            replaced_by: None,
            reply_to: None,
            attachments: Vec::new(),
            routing: None,
            by_program: false,
        }
    }

    /// What becomes of a candidate of this scope about a message with this text.
    fn judged(said: &str, content: &str, more: &serde_json::Value) -> Result<(), RejectionReason> {
        let (user, workspace) = (UserId::new(), WorkspaceId::new());
        let message = message(Actor::Person(user), workspace, said);
        let group = ExtractionGroup {
            workspace,
            user,
            task: Some(TaskId::new()),
            memory: None,
        };
        let mut value = json!({"content": content, "kind": "fact", "scope": "person", "basis": "explicit",
            "evidence": [message.id], "relation": "origin"});
        for (name, member) in more.as_object().into_iter().flatten() {
            value[name] = member.clone();
        }
        let candidate = Candidate::read(&value).expect("it fits");
        let read = [message.id];
        let judge = Judge {
            group: &group,
            read: &read,
            messages: HashMap::from([(message.id, message)]),
            forgotten: Vec::new(),
        };
        judge
            .judge(&candidate, None)
            .map(drop)
            .map_err(|(reason, _)| reason)
    }

    #[test]
    fn what_was_said_is_taken_in_three_languages() {
        for (said, content) in [
            (
                "Please remember that our brand is teal.",
                "Our brand is teal",
            ),
            (
                "Я люблю крупные планы, всегда",
                "Пользователь любит крупные планы",
            ),
            ("我们的品牌是蓝色", "我们的品牌是蓝色"),
            (
                "Use #0B3D91 for Northwind, it is ours",
                "The colour of Northwind is #0B3D91",
            ),
        ] {
            assert_eq!(judged(said, content, &json!({})), Ok(()), "{content}");
        }
    }

    #[test]
    fn what_was_not_said_is_not_taken() {
        use RejectionReason as Why;
        for (said, content, more, expected) in [
            (
                "Make it bluer",
                "John Doe lives in Berlin",
                json!({}),
                Why::NotSaid,
            ),
            (
                "Our brand is teal",
                "Our brand is teal and belongs to Contoso",
                json!({}),
                Why::NotSaid,
            ),
            (
                "Our brand is teal",
                "Our brand is teal",
                json!({"quote": "the brand was green"}),
                Why::NotSaid,
            ),
            (
                "我们的品牌是蓝色",
                "The brand is blue",
                json!({}),
                Why::WrongLanguage,
            ),
            (
                "Меня зовут Ксения",
                "Ее зовут Ksenia",
                json!({}),
                Why::NotSaid,
            ),
            (
                "I like it dark this time",
                "Likes it dark",
                json!({"kind": "preference"}),
                Why::WrongScope,
            ),
            (
                "В этот раз хочу красный фон",
                "Хочет красный фон",
                json!({"kind": "preference"}),
                Why::WrongScope,
            ),
            (
                "my password is hunter2",
                "The password is hunter2",
                json!({}),
                Why::Secret,
            ),
            (
                "Our brand is teal",
                "Our brand is teal",
                json!({"evidence": []}),
                Why::NoEvidence,
            ),
            (
                "Our brand is teal",
                "Our brand is teal",
                json!({"evidence": [MessageId::new()]}),
                Why::NoEvidence,
            ),
        ] {
            assert_eq!(judged(said, content, &more), Err(expected), "{content}");
        }
        let here = json!({"kind": "preference", "scope": "task"});
        assert_eq!(
            judged("I like it dark this time", "Likes it dark", &here),
            Ok(())
        );
    }

    #[test]
    fn what_the_agent_wrote_is_no_evidence() {
        let workspace = WorkspaceId::new();
        let agent = Actor::Agent {
            task: TaskId::new(),
            turn: 1,
            step: 1,
        };
        let said = message(agent, workspace, "Your brand is teal.");
        let group = ExtractionGroup {
            workspace,
            user: UserId::new(),
            task: None,
            memory: None,
        };
        let value = json!({"content": "The brand is teal", "kind": "fact", "scope": "workspace", "basis": "explicit",
            "evidence": [said.id], "relation": "origin"});
        let candidate = Candidate::read(&value).expect("it fits");
        let read = [said.id];
        let judge = Judge {
            group: &group,
            read: &read,
            messages: HashMap::from([(said.id, said)]),
            forgotten: Vec::new(),
        };
        let (reason, _) = judge
            .judge(&candidate, None)
            .expect_err("no person said so");
        assert_eq!(reason, RejectionReason::NotAPerson);
    }
}
