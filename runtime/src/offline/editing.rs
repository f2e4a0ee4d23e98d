//! What a request does to a structured work as it was read: the operations of one edit, and how it is told.
//!
//! Invariants
//! - An edit names the version that was read as its base: what others did since is never overwritten.
//! - Only the fields that a request is about are written.
//!
//! Not here: texts (`editing_text`).

use domain::ids::WorkId;
use serde_json::{Map, Value, json};

use super::aim::Target;
use super::draft::one_line;
use super::editing_text;
use super::kind::Kind;
use super::language::{Language, Words, fill};
use super::making::{Recipe, named_part, sentence};
use super::request::{Lasting, Request};
use super::view::{View, ViewNode};
use super::wish::Wish;

/// Characters of what is told of one edit; the history takes no more.
const TOLD: usize = 400;
/// Seconds of a shot that has no duration.
const SECONDS: u32 = 5;

/// An edit that is ready to be made.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    NoSuchPart,
    NothingToChange,
    NotPossible,
    /// It is about the work itself.
    WholeWork,
}

/// A work that is to be edited, as it was read.
pub(super) struct Editing<'a> {
    pub(super) words: &'static Words,
    pub(super) language: Language,
    pub(super) kind: Kind,
    pub(super) work: WorkId,
    pub(super) wish: &'a Wish,
    pub(super) view: &'a View,
}

/// Operations, and what each does.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) operations: Vec<Value>,
    pub(super) told: Vec<String>,
}

impl Changes {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers make the value on the spot"
    )]
    fn set(&mut self, node: &ViewNode, fields: Map<String, Value>, told: String) {
        self.operations
            .push(json!({"set": {"nodeId": node.id, "fields": fields}}));
        self.told.push(told);
    }
}

impl Editing<'_> {
    /// The edit that a request asks for.
    pub(super) fn edit(&self, request: &Request) -> Result<Edit, Problem> {
        if *request == Request::RenameWork {
            return Err(Problem::WholeWork);
        }
        if self.kind == Kind::Text {
            return editing_text::edit(self, request);
        }
        let mut changes = Changes::default();
        match request {
            Request::Describe { target, text } => self.each(target, |at, node| {
                self.describe(&mut changes, at, node, text);
            })?,
            Request::Note { target, text } => {
                self.each(target, |at, node| self.note(&mut changes, at, node, text))?;
            }
            Request::Without { target, text } => self.each(target, |at, node| {
                self.without(&mut changes, at, node, text);
            })?,
            Request::Rename { target, title } => self.each(target, |at, node| {
                self.rename(&mut changes, at, node, title);
            })?,
            Request::Last { target, lasting } => self.last(&mut changes, target, *lasting)?,
            Request::Remove { target } => {
                self.each(target, |at, node| self.remove(&mut changes, at, node))?;
            }
            Request::Add { .. } => self.add(&mut changes, request)?,
            Request::Move { target, place } => self.relocate(&mut changes, target, place)?,
            Request::Replace { find, replace } => self.replace(&mut changes, find, replace)?,
            Request::Connect { from, to } => self.connect(&mut changes, from, to)?,
            Request::RenameWork => return Err(Problem::WholeWork),
        }
        if changes.operations.is_empty() {
            return Err(Problem::NothingToChange);
        }
        let summary = one_line(&changes.told.join("; "), TOLD);
        Ok(Edit {
            tool: "edit_nodes",
            arguments: json!({
                "work_id": self.work,
                "base_version": self.view.version,
                "operations": changes.operations,
                "summary": summary,
            }),
        })
    }

    /// The places of the parts that are meant.
    pub(super) fn places(target: &Target, titles: &[&str]) -> Result<Vec<usize>, Problem> {
        let count = titles.len();
        let places: Vec<usize> = match target {
            Target::All => (0..count).collect(),
            Target::Last => count.checked_sub(1).into_iter().collect(),
            Target::Numbers(numbers) => numbers
                .iter()
                .map(|number| (*number as usize).wrapping_sub(1))
                .collect(),
            Target::Titled(title) => (0..count).filter(|at| titles[*at] == title).collect(),
        };
        let is_there = !places.is_empty() && places.iter().all(|at| *at < count);
        is_there.then_some(places).ok_or(Problem::NoSuchPart)
    }

    fn nodes(&self, target: &Target) -> Result<Vec<usize>, Problem> {
        let titles: Vec<&str> = self
            .view
            .nodes
            .iter()
            .map(|node| node.prose("title"))
            .collect();
        Self::places(target, &titles)
    }

    pub(super) fn one(&self, target: &Target) -> Result<usize, Problem> {
        self.nodes(target)?
            .first()
            .copied()
            .ok_or(Problem::NoSuchPart)
    }

    fn each(
        &self,
        target: &Target,
        mut change: impl FnMut(usize, &ViewNode),
    ) -> Result<(), Problem> {
        for at in self.nodes(target)? {
            change(at, &self.view.nodes[at]);
        }
        Ok(())
    }

    /// What a part is called in what is told.
    pub(super) fn part(&self, at: usize, title: &str) -> String {
        named_part(self.kind, self.words, at + 1, title)
    }

    pub(super) fn told(&self, template: &str, at: usize, node: &ViewNode, text: &str) -> String {
        let part = self.part(at, node.prose("title"));
        fill(template, &[("part", &part), ("text", &one_line(text, 120))])
    }

    /// Whether a node has a prompt, or is of a kind that has.
    fn has_prompt(&self, node: &ViewNode) -> bool {
        self.kind != Kind::Flow || node.fields.contains_key("prompt")
    }

    fn describe(&self, changes: &mut Changes, at: usize, node: &ViewNode, text: &str) {
        let description = sentence(text, self.words);
        if node.prose("description") == description {
            return;
        }
        let mut fields = Map::from_iter([("description".to_owned(), json!(description))]);
        if self.has_prompt(node) {
            let look = Recipe::of(self.kind, self.language, self.wish, Some(1)).look();
            fields.insert(
                "prompt".to_owned(),
                json!(format!("{text}{}{look}", self.words.comma)),
            );
        }
        changes.set(
            node,
            fields,
            self.told(self.words.did_describe, at, node, text),
        );
    }

    fn note(&self, changes: &mut Changes, at: usize, node: &ViewNode, text: &str) {
        let more = sentence(text, self.words);
        self.append(
            changes,
            (at, node),
            (&more, text),
            self.words.did_note,
            text,
        );
    }

    fn without(&self, changes: &mut Changes, at: usize, node: &ViewNode, text: &str) {
        let more = fill(self.words.without, &[("text", text)]);
        let prompt = more.trim_end_matches(['.', '。']).to_lowercase();
        self.append(
            changes,
            (at, node),
            (&more, &prompt),
            self.words.did_without,
            text,
        );
    }

    /// Appends to description and prompt what does not stand there yet.
    fn append(
        &self,
        changes: &mut Changes,
        (at, node): (usize, &ViewNode),
        (more, prompt): (&str, &str),
        told: &str,
        text: &str,
    ) {
        let mut fields = Map::new();
        if let Some(joined) = joined(node.prose("description"), more, self.gap()) {
            fields.insert("description".to_owned(), json!(joined));
        }
        if self.has_prompt(node)
            && let Some(joined) = joined(node.prose("prompt"), prompt, self.words.comma)
        {
            fields.insert("prompt".to_owned(), json!(joined));
        }
        if !fields.is_empty() {
            changes.set(node, fields, self.told(told, at, node, text));
        }
    }

    /// What stands between two sentences.
    fn gap(&self) -> &'static str {
        match self.language {
            Language::Chinese => "",
            _ => " ",
        }
    }

    fn rename(&self, changes: &mut Changes, at: usize, node: &ViewNode, title: &str) {
        let title = one_line(title, 200);
        if node.prose("title") == title {
            return;
        }
        let mut fields = Map::from_iter([("title".to_owned(), json!(title))]);
        if let Some(Value::Object(data)) = node.fields.get("data") {
            let mut data = data.clone();
            data.insert("label".to_owned(), json!(title));
            fields.insert("data".to_owned(), Value::Object(data));
        }
        changes.set(
            node,
            fields,
            self.told(self.words.did_rename, at, node, &title),
        );
    }

    fn last(
        &self,
        changes: &mut Changes,
        target: &Target,
        lasting: Lasting,
    ) -> Result<(), Problem> {
        let places = self.nodes(target)?;
        let count = places.len() as u32;
        for (index, at) in (0..).zip(places) {
            let node = &self.view.nodes[at];
            let former = node.fields.get("duration").and_then(Value::as_f64);
            let now = former.map_or(SECONDS, |seconds| {
                seconds.round().clamp(1.0, 3_600.0) as u32
            });
            let seconds = match lasting {
                Lasting::Seconds(seconds) => seconds,
                Lasting::Together(all) => (all / count + u32::from(index < all % count)).max(1),
                Lasting::Shorter => (now * 2 / 3).max(1),
                Lasting::Longer => (now * 3 / 2).max(now + 1),
            };
            if former != Some(f64::from(seconds)) {
                let fields = Map::from_iter([("duration".to_owned(), json!(seconds))]);
                changes.set(
                    node,
                    fields,
                    self.told(self.words.did_duration, at, node, &seconds.to_string()),
                );
            }
        }
        Ok(())
    }

    fn replace(&self, changes: &mut Changes, find: &str, replace: &str) -> Result<(), Problem> {
        for node in &self.view.nodes {
            let is_prose = |(name, _): &(&String, &Value)| domain::document::is_prose(name);
            let found = node
                .fields
                .iter()
                .filter(is_prose)
                .filter_map(|(name, value)| {
                    let text = value.as_str().filter(|text| text.contains(find))?;
                    Some((name.clone(), json!(text.replace(find, replace))))
                });
            let fields: Map<String, Value> = found.collect();
            if !fields.is_empty() {
                changes
                    .operations
                    .push(json!({"set": {"nodeId": node.id, "fields": fields}}));
            }
        }
        if changes.operations.is_empty() {
            return Err(Problem::NoSuchPart);
        }
        let texts = [
            ("part", one_line(find, 80)),
            ("text", one_line(replace, 80)),
        ];
        let texts = texts.each_ref().map(|(name, text)| (*name, text.as_str()));
        changes.told.push(fill(self.words.did_replace, &texts));
        Ok(())
    }
}

/// The two texts behind each other; none where the second stands in the first already.
fn joined(text: &str, more: &str, gap: &str) -> Option<String> {
    let (text, more) = (text.trim_end(), more.trim());
    if text.to_lowercase().contains(&more.to_lowercase()) {
        return None;
    }
    Some(if text.is_empty() {
        more.to_owned()
    } else {
        format!("{text}{gap}{more}")
    })
}
