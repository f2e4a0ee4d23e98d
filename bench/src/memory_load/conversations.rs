//! Conversations and questions about them, as docs/bench-memory.md describes the file.
//!
//! Invariants
//! - Ids of turns are unique in their conversation, and evidence names turns that are there: anything else is refused with its place.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// Seconds between two turns of a session.
const TURN_SECONDS: u64 = 60;

/// A conversation, and what is asked about it.
#[derive(Debug, Clone)]
pub(super) struct Conversation {
    /// Its id.
    pub(super) id: String,
    /// What was said, oldest first.
    pub(super) turns: Vec<Turn>,
    /// What is asked.
    pub(super) questions: Vec<Question>,
}

/// Something that was said.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// Its id, unique in the conversation.
    pub(super) id: String,
    /// The place of its session.
    pub(super) session: usize,
    /// Who said it.
    pub(super) speaker: String,
    /// When, in seconds since 1970.
    pub(super) at: u64,
    /// What.
    pub(super) text: String,
}

/// A question.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// In words.
    pub(super) text: String,
    /// The turns that answer it.
    pub(super) evidence: Vec<String>,
    /// What kind of question it is; figures are told for each.
    pub(super) category: String,
}

/// Reads a file of conversations.
pub(super) fn read(path: &Path) -> Result<Vec<Conversation>> {
    let place = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("{place} can not be read"))?;
    let file: Value = serde_json::from_str(&text).with_context(|| format!("{place} is no JSON"))?;
    let list = file["conversations"].as_array();
    let list = list.with_context(|| format!("{place} holds no list `conversations`"))?;
    let read = list.iter().enumerate().map(|(number, value)| {
        conversation(value).with_context(|| format!("conversation {} of {place}", number + 1))
    });
    read.collect()
}

fn text(value: &Value, member: &str) -> Result<String> {
    let text = value[member].as_str();
    Ok(text
        .with_context(|| format!("`{member}` is no text in {value}"))?
        .to_owned())
}

fn list<'a>(value: &'a Value, member: &str) -> Result<&'a Vec<Value>> {
    let list = value[member].as_array();
    list.with_context(|| format!("`{member}` is no list"))
}

fn conversation(value: &Value) -> Result<Conversation> {
    let (mut turns, mut ids) = (Vec::new(), HashSet::new());
    for (session, of_session) in list(value, "sessions")?.iter().enumerate() {
        let began = of_session["at"].as_u64();
        let began = began.context("`at` of a session is no number of seconds since 1970")?;
        for turn in list(of_session, "turns")? {
            let id = text(turn, "id")?;
            ensure!(ids.insert(id.clone()), "two turns are called {id}");
            turns.push(Turn {
                id,
                session,
                speaker: text(turn, "speaker")?,
                at: began + TURN_SECONDS * turns.len() as u64,
                text: text(turn, "text")?,
            });
        }
    }
    let mut questions = Vec::new();
    for question in list(value, "questions")? {
        let evidence = list(question, "evidence")?.iter();
        let evidence: Vec<String> = evidence
            .filter_map(|id| id.as_str().map(str::to_owned))
            .collect();
        let asked = text(question, "question")?;
        ensure!(!evidence.is_empty(), "no evidence is named for: {asked}");
        for id in &evidence {
            ensure!(
                ids.contains(id),
                "the evidence {id} is no turn, for: {asked}"
            );
        }
        questions.push(Question {
            text: asked,
            evidence,
            category: question["category"].as_str().unwrap_or("all").to_owned(),
        });
    }
    Ok(Conversation {
        id: text(value, "id")?,
        turns,
        questions,
    })
}

/// Writes them as they are read.
pub(super) fn write(path: &Path, conversations: &[Conversation]) -> Result<()> {
    let value = json!({"conversations": conversations.iter().map(shown).collect::<Vec<_>>()});
    std::fs::write(path, serde_json::to_vec_pretty(&value)?)?;
    Ok(())
}

fn shown(conversation: &Conversation) -> Value {
    let mut sessions: Vec<Value> = Vec::new();
    for turn in &conversation.turns {
        if turn.session >= sessions.len() {
            sessions
                .push(json!({"id": format!("s{}", turn.session + 1), "at": turn.at, "turns": []}));
        }
        let shown = json!({"id": turn.id, "speaker": turn.speaker, "text": turn.text});
        if let Some(turns) = sessions
            .last_mut()
            .and_then(|one| one["turns"].as_array_mut())
        {
            turns.push(shown);
        }
    }
    let questions = conversation.questions.iter().map(|question| {
        json!({"question": question.text, "evidence": question.evidence, "category": question.category})
    });
    json!({"id": conversation.id, "sessions": sessions, "questions": questions.collect::<Vec<_>>()})
}
