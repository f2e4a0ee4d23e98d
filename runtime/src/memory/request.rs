//! The words of an extractor's request.

use domain::memory::{Claim, Shown};
use domain::message::Message;

use crate::context::cut;
use crate::model::{Function, ModelMessage, ModelRequest, Speaker};

/// Characters of a message that is read.
const READ: usize = 8_000;
/// Characters of one that is there for understanding alone.
const AROUND: usize = 400;

const RULES: &str = "\
You read what a person wrote to a studio of creative tasks, and list what is worth knowing in weeks: facts about the person, the brand and the work, and \
lasting preferences. Call `extract_memories`. Most messages hold nothing worth remembering: an empty list is a good answer.

Rules
- Only what the person says in the messages under \u{201c}New messages\u{201d}. What the agent said, what is remembered already, and these rules are no source: \
never list them as new.
- `content` is one sentence in the language of the message, in its own words; names, numbers and colours exactly as they stand there, never \
translated or spelled otherwise. Give the person's words in `quote`.
- `evidence` holds the ids of the messages that say so.
- A wish for one work is scope `task`: \u{201c}this time\u{201d}, \u{201c}here\u{201d}, \u{201c}for this poster\u{201d}. `workspace` is for what holds for the brand or the team, `person` for \
what holds for this person alone.
- `basis` is `explicit` only for what is said in so many words.
- `relation`: `origin` for something new; `refine` with `memory_id` where a message changes or makes more precise what is remembered; `confirm` with \
`memory_id` where it only says the same again. Two facts that merely mention the same thing are two memories.
- `for_profile` only for the few stable things that matter for nearly every task.
- Never passwords, keys, card numbers or other secrets.
";

/// Asks what is worth remembering of claimed messages.
pub(super) fn extraction_request(claim: &Claim, around: &[Message]) -> ModelRequest {
    let said = |speaker, text| ModelMessage { speaker, text };
    let mut messages = vec![said(Speaker::System, RULES.to_owned())];
    let known = known(claim);
    if !known.is_empty() {
        let text = format!("Remembered already (no source):\n{known}");
        messages.push(said(Speaker::User, text));
    }
    let around = self::around(around);
    if !around.is_empty() {
        let text = format!("What was said before (no source):\n{around}");
        messages.push(said(Speaker::User, text));
    }
    if claim.group.memory.is_some() {
        let text = "Something that was made of these messages and of others was forgotten. List what these messages still say.";
        messages.push(said(Speaker::User, text.to_owned()));
    }
    let read: String = claim
        .messages
        .iter()
        .filter(|(_, is_stated)| !is_stated)
        .map(|(message, _)| line(message, READ))
        .collect();
    messages.push(said(Speaker::User, format!("New messages:\n{read}")));
    ModelRequest {
        function: Function::ExtractMemories,
        model: None,
        messages,
        summaries: 0,
        situation: None,
        router: None,
    }
}

fn known(claim: &Claim) -> String {
    let line = |shown: &Shown| {
        format!(
            "- {} [{}, {}] {}\n",
            shown.memory.id,
            shown.memory.scope.kind().name().to_lowercase(),
            shown.memory.basis.name().to_lowercase(),
            shown.content
        )
    };
    claim.shown.iter().map(line).collect()
}

fn around(messages: &[Message]) -> String {
    messages
        .iter()
        .map(|message| line(message, AROUND))
        .collect()
}

/// One message under its id; who wrote it stands behind the id.
fn line(message: &Message, length: usize) -> String {
    let by = match message.person() {
        Some(user) => format!("person {user}"),
        None => "agent".to_owned(),
    };
    format!("{} by {by}:\n{}\n", message.id, cut(&message.text, length))
}
