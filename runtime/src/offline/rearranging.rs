//! What a request does to the order of a work: parts that come, go and move, and edges between them.
//!
//! Invariants
//! - A new part gets an id that no part of the work as it was read has.
//! - In a flow no node is left hanging by an edit: what led to it leads on.

use serde_json::{Value, json};

use super::aim::Target;
use super::draft::one_line;
use super::editing::{Changes, Editing, Problem};
use super::kind::Kind;
use super::language::fill;
use super::making::{Recipe, capital, sentence};
use super::request::{Place, Request};
use super::view::ViewNode;

/// Characters of a title that is made of what a part is about.
const TITLE: usize = 60;
/// Seconds of a shot that has no duration.
const SECONDS: u32 = 5;

impl Editing<'_> {
    /// Takes a node away; in a flow, what led to it leads on to what came after it.
    pub(super) fn remove(&self, changes: &mut Changes, at: usize, node: &ViewNode) {
        changes
            .told
            .push(self.told(self.words.did_remove, at, node, ""));
        changes.operations.push(json!({"remove": node.id}));
        let edges = &self.view.edges;
        let before = edges
            .iter()
            .filter(|(_, _, target)| *target == node.id)
            .map(|(_, source, _)| source);
        let after: Vec<&String> = edges
            .iter()
            .filter(|(_, source, _)| *source == node.id)
            .map(|(_, _, target)| target)
            .collect();
        for source in before.take(4) {
            for target in after.iter().take(4) {
                let is_there = edges
                    .iter()
                    .any(|(_, one, other)| one == source && other == *target);
                if !is_there && source != *target {
                    changes
                        .operations
                        .push(json!({"connect": {"source": source, "target": target}}));
                }
            }
        }
    }

    pub(super) fn add(&self, changes: &mut Changes, request: &Request) -> Result<(), Problem> {
        let Request::Add {
            about,
            title,
            count,
            place,
        } = request
        else {
            return Err(Problem::NotPossible);
        };
        let mut after = self.after(place)?;
        let mut numbers = self
            .view
            .nodes
            .iter()
            .filter_map(|node| node.id.rsplit_once('-')?.1.parse::<u32>().ok());
        let first = numbers
            .by_ref()
            .chain([self.view.nodes.len() as u32])
            .max()
            .unwrap_or(0)
            + 1;
        for number in first..first + count {
            let id = format!("{}-{number}", self.kind.part());
            let node = self.new_node(&id, title.as_deref(), about.as_deref(), number);
            let name = node["fields"]["title"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let mut put = node;
            if let Some(after) = &after {
                put["after"] = json!(after);
            }
            changes.operations.push(json!({"put": put}));
            changes.told.push(fill(
                self.words.did_add,
                &[("part", &fill(self.words.quoted, &[("text", &name)]))],
            ));
            if let (Kind::Flow, Place::After(_), Some(before)) = (self.kind, place, &after) {
                self.lead_through(changes, before, &id);
            }
            if after.is_some() {
                after = Some(id);
            }
        }
        Ok(())
    }

    /// What followed a node follows the new one instead.
    fn lead_through(&self, changes: &mut Changes, before: &str, id: &str) {
        for (edge, _, target) in self
            .view
            .edges
            .iter()
            .filter(|(_, source, _)| source == before)
        {
            changes.operations.push(json!({"disconnect": edge}));
            changes
                .operations
                .push(json!({"connect": {"source": id, "target": target}}));
        }
        changes
            .operations
            .push(json!({"connect": {"source": before, "target": id}}));
    }

    /// A node that a new part is put behind; none is the end, an empty one the beginning.
    fn after(&self, place: &Place) -> Result<Option<String>, Problem> {
        let nodes = &self.view.nodes;
        let id_before = |at: usize| {
            at.checked_sub(1)
                .map_or_else(String::new, |before| nodes[before].id.clone())
        };
        Ok(match place {
            Place::End => None,
            Place::First => Some(String::new()),
            Place::After(target) => Some(nodes[self.one(target)?].id.clone()),
            Place::Before(target) => Some(id_before(self.one(target)?)),
            Place::At(number) => match (*number as usize).checked_sub(1) {
                Some(at) if at < nodes.len() => Some(id_before(at)),
                Some(_) => None,
                None => return Err(Problem::NoSuchPart),
            },
        })
    }

    fn new_node(&self, id: &str, title: Option<&str>, about: Option<&str>, number: u32) -> Value {
        let words = self.words;
        let book = match self.kind {
            Kind::Storyboard => &words.shots,
            _ => &words.posters,
        };
        let idea = book[number as usize % book.len()];
        let own = about.is_none() && title.is_none() && self.kind != Kind::Flow;
        let title = title.or(about).map(|text| capital(&one_line(text, TITLE)));
        let title = title.unwrap_or_else(|| {
            if own {
                idea.title.to_owned()
            } else {
                words.new_part.to_owned()
            }
        });
        let what = about
            .unwrap_or(if own { idea.what } else { &title })
            .to_owned();
        let look = Recipe::of(self.kind, self.language, self.wish, Some(1)).look();
        let prompt = format!("{what}{}{look}", words.comma);
        let mut fields = json!({"title": title, "description": sentence(&what, words)});
        match self.kind {
            Kind::Storyboard => {
                fields["prompt"] = json!(prompt);
                fields["duration"] = json!(SECONDS);
            }
            Kind::Flow => {
                let place = self.view.nodes.len() as u32;
                fields["data"] = json!({"label": title});
                fields["position"] = json!({"x": place * 320, "y": 280});
            }
            _ => {
                fields["prompt"] = json!(prompt);
                fields["format"] = json!(words.poster_format);
            }
        }
        let kind = if self.kind == Kind::Flow {
            "step"
        } else {
            self.kind.part()
        };
        json!({"id": id, "type": kind, "fields": fields})
    }

    pub(super) fn relocate(
        &self,
        changes: &mut Changes,
        target: &Target,
        place: &Place,
    ) -> Result<(), Problem> {
        let at = self.one(target)?;
        let nodes = &self.view.nodes;
        let rest: Vec<usize> = (0..nodes.len()).filter(|other| *other != at).collect();
        let behind = |other: usize| {
            rest.iter()
                .position(|one| *one == other)
                .map(|place| place + 1)
        };
        let to = match place {
            Place::First => 0,
            Place::End => rest.len(),
            Place::After(other) => behind(self.one(other)?).ok_or(Problem::NothingToChange)?,
            Place::Before(other) => behind(self.one(other)?).ok_or(Problem::NothingToChange)? - 1,
            Place::At(number) => ((*number).max(1) as usize - 1).min(rest.len()),
        };
        if to == at {
            return Err(Problem::NothingToChange);
        }
        let after = to
            .checked_sub(1)
            .map_or_else(String::new, |before| nodes[rest[before]].id.clone());
        changes
            .operations
            .push(json!({"move": {"nodeId": nodes[at].id, "after": after}}));
        changes
            .told
            .push(self.told(self.words.did_move, at, &nodes[at], &(to + 1).to_string()));
        Ok(())
    }

    pub(super) fn connect(
        &self,
        changes: &mut Changes,
        from: &Target,
        to: &Target,
    ) -> Result<(), Problem> {
        let (from, to) = (self.one(from)?, self.one(to)?);
        let nodes = &self.view.nodes;
        let (source, target) = (&nodes[from].id, &nodes[to].id);
        if from == to
            || self
                .view
                .edges
                .iter()
                .any(|(_, one, other)| one == source && other == target)
        {
            return Err(Problem::NothingToChange);
        }
        changes
            .operations
            .push(json!({"connect": {"source": source, "target": target}}));
        let other = self.part(to, nodes[to].prose("title"));
        changes
            .told
            .push(self.told(self.words.did_connect, from, &nodes[from], &other));
        Ok(())
    }
}
