//! Stored state in the words of a request.

use domain::actor::Actor;
use domain::journal::{JournalEntry, JournalKind};
use domain::task::{ChecklistItem, Projections};
use serde_json::{Value, json};

use super::Situation;
use super::tokens::cut;

/// Characters of one part of a recent entry.
const PART: usize = 1_600;
/// Characters of the arguments of one planned action.
const ARGUMENTS: usize = 400;

/// An entry of the journal, on lines of its own.
pub(crate) fn entry(entry: &JournalEntry) -> String {
    let step = entry
        .step
        .map(|step| format!(" turn {} step {}", step.turn, step.step))
        .unwrap_or_default();
    let head = format!(
        "#{} {}{step} by {}",
        entry.sequence,
        entry.kind.name(),
        who(&entry.actor)
    );
    let body = match entry.kind {
        JournalKind::Plan => plan(entry),
        JournalKind::Result => result(entry),
        JournalKind::IncomingMessage => incoming(entry),
        JournalKind::Question => with_data(entry, &["card", "options"]),
        JournalKind::Prompt | JournalKind::Answer => with_data(entry, &["executor", "line"]),
        JournalKind::StatusChange | JournalKind::SystemEvent => cut(&entry.text, PART),
    };
    format!("{head}\n{body}\n")
}

fn plan(entry: &JournalEntry) -> String {
    let mut text = cut(&entry.text, PART);
    for action in entry.data["actions"].as_array().into_iter().flatten() {
        let arguments = cut(&action["arguments"].to_string(), ARGUMENTS);
        text.push_str(&format!(
            "\n-> {} {arguments}",
            action["tool"].as_str().unwrap_or_default()
        ));
    }
    text
}

fn result(entry: &JournalEntry) -> String {
    let call = entry.data["call"].as_str().unwrap_or_default();
    let result = &entry.data["result"];
    if result.is_null() {
        return format!("{} [{call}]", cut(&entry.text, PART));
    }
    let shown = result.to_string();
    let mut text = format!("{} [{call}]\n{}", entry.text, cut(&shown, PART));
    if shown.chars().nth(PART).is_some() {
        text.push_str(" (cut; read_result gives the rest)");
    }
    text
}

fn incoming(entry: &JournalEntry) -> String {
    let mut text = String::new();
    if let Some(question) = entry.data["question"].as_str() {
        text.push_str(&format!("answer to: {}\n", cut(question, ARGUMENTS)));
    }
    text.push_str(&cut(&entry.text, 4 * PART));
    let attached = &entry.data["attachments"];
    if attached.as_array().is_some_and(|works| !works.is_empty()) {
        text.push_str(&format!("\nattached: {attached}"));
    }
    text
}

fn with_data(entry: &JournalEntry, keys: &[&str]) -> String {
    let data: serde_json::Map<String, Value> = keys
        .iter()
        .map(|key| ((*key).to_owned(), entry.data[*key].clone()))
        .collect();
    format!(
        "{}\n{}",
        cut(&Value::Object(data).to_string(), PART),
        cut(&entry.text, PART)
    )
}

fn who(actor: &Actor) -> String {
    match actor {
        Actor::Person(user) => format!("person {user}"),
        Actor::Program { user, .. } => format!("program of person {user}"),
        Actor::Agent { .. } => "you".to_owned(),
        Actor::System => "runtime".to_owned(),
        Actor::Provider(name) => format!("provider {name}"),
    }
}

/// The dynamic tail: what holds now, in stored words (C5).
pub(crate) fn tail(situation: &Situation, loaded_tools: &str) -> String {
    let mut text = String::new();
    section(&mut text, "Task", &head(situation));
    section(&mut text, "Brief", &situation.task.brief);
    section(&mut text, "Summary", &situation.projections.summary);
    section(&mut text, "Checklist", &checklist(&situation.projections));
    section(&mut text, "Budget", &budget(situation));
    section(&mut text, "Open questions to people", &cards(situation));
    section(
        &mut text,
        "Generations under way; the task wakes when they are done",
        &jobs(situation),
    );
    section(&mut text, "Works of this task", &works(situation));
    section(
        &mut text,
        "Changed by others since you looked; read before going on",
        &notices(situation),
    );
    section(&mut text, "Lines", &lines(situation));
    section(&mut text, "Further tools", loaded_tools);
    section(&mut text, "New messages", &messages(situation));
    if situation.step.seen.is_nudged {
        section(
            &mut text,
            "Notice",
            "Nothing has come of the last turns. Make, change or deliver something in this turn, ask the person what is missing, or close \
             what can not be done; otherwise the task is held.",
        );
    }
    let at = situation.step.at;
    text.push_str(&format!(
        "# Now\nTurn {}, step {}. Call `decide`.\n",
        at.turn, at.step
    ));
    text
}

fn section(text: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        text.push_str(&format!("# {title}\n{}\n", body.trim_end()));
    }
}

fn head(situation: &Situation) -> String {
    let task = &situation.task;
    format!(
        "id: {}\ntitle: {}\nlanguage: {}\nkind: {}\nautonomy: {}\ngoal: {}",
        task.id,
        task.title,
        task.language,
        task.kind.name(),
        task.autonomy.name(),
        task.goal
    )
}

fn checklist(projections: &Projections) -> String {
    let line = |item: &ChecklistItem| {
        let item = json!({
            "id": item.id, "title": item.title, "state": item.state.name().to_lowercase(),
            "needs_confirmation": item.needs_confirmation, "confirmed_by_person": item.is_confirmed,
            "depends_on": item.depends_on, "outputs": item.outputs, "evidence": item.evidence,
        });
        format!("{item}\n")
    };
    projections.checklist.iter().map(line).collect()
}

fn budget(situation: &Situation) -> String {
    let spent = situation.task.usage.spent_micros;
    match situation.task.budget_micros {
        Some(limit) => format!("spent {spent} of {limit} micros"),
        None if spent > 0 => format!("spent {spent} micros"),
        None => String::new(),
    }
}

fn cards(situation: &Situation) -> String {
    let line = |card: &domain::card::Card| {
        format!(
            "{} {}: {}\n",
            card.id,
            card.kind.name(),
            cut(&card.prompt, ARGUMENTS)
        )
    };
    situation.cards.iter().map(line).collect()
}

fn jobs(situation: &Situation) -> String {
    let line = |job: &domain::job::Job| {
        let item = match &job.item {
            Some(item) => format!(" for item {item}"),
            None => String::new(),
        };
        format!(
            "{} {} by {}{item}: {}, {} micros: {}\n",
            job.id,
            job.kind.tool_name(),
            job.provider,
            job.state.name(),
            job.price,
            cut(&job.prompt, 120)
        )
    };
    situation.jobs.iter().map(line).collect()
}

fn works(situation: &Situation) -> String {
    let line = |(linked, work): &(domain::task::LinkedWork, domain::work::Work)| {
        let gone = match work.deleted_at {
            Some(_) => ", lies in the bin",
            None => "",
        };
        format!(
            "{} {} \u{201c}{}\u{201d}: version {}, you saw {}{gone}\n",
            work.id,
            work.kind.name(),
            cut(&work.title, 120),
            work.version,
            linked.seen_version
        )
    };
    situation.works.iter().map(line).collect()
}

fn notices(situation: &Situation) -> String {
    let line = |notice: &domain::task::ChangeNotice| {
        let by: Vec<_> = notice.changed_by.iter().map(who).collect();
        format!(
            "{} version {} -> {}: {} (by {})\n",
            notice.work,
            notice.from_version,
            notice.to_version,
            cut(&notice.touched.summary(), ARGUMENTS),
            by.join(", ")
        )
    };
    situation.notices.iter().map(line).collect()
}

fn lines(situation: &Situation) -> String {
    let line = |line: &domain::line::Line| {
        format!(
            "{} {}: {}\n",
            line.id,
            line.executor,
            cut(&line.purpose, 200)
        )
    };
    situation.lines.iter().map(line).collect()
}

fn messages(situation: &Situation) -> String {
    let line = |message: &domain::message::Message| {
        let works = match message.attachments.as_slice() {
            [] => String::new(),
            works => format!(" [attached: {}]", json!(works)),
        };
        format!(
            "{} by {}{works}:\n{}\n",
            message.id,
            who(&message.author),
            message.text
        )
    };
    situation.messages.iter().map(line).collect()
}
