//! Who touched each node and edge last, and who did before.
//!
//! Invariants
//! - For every actor the newest touch by somebody else is known exactly: either the last touch is by somebody else, or it
//!   is the newest before that actor's.
//! - Removed nodes are remembered: a removal is a touch.
//!
//! Not here: whether a touch is a conflict (`node_edit`).

use std::collections::HashMap;

use crate::actor::Actor;
use crate::document::{Touched, Version};
use crate::work::NodeVersion;

/// A touch of a node or edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touch {
    /// The version that touched it.
    pub(crate) version: Version,
    /// Who.
    pub(crate) actor: Actor,
}

#[derive(Debug, Clone)]
struct Touches {
    last: Touch,
    /// The newest by somebody other than the one who touched it last.
    by_other: Option<Touch>,
}

/// The touches of a work, by path (`nodes/{id}`, `edges/{id}`).
#[derive(Debug, Clone, Default)]
pub(crate) struct Attribution {
    by_path: HashMap<String, Touches>,
}

impl Attribution {
    /// Takes stored touches in any order; a node of these is a path.
    pub(crate) fn new(mut touches: Vec<NodeVersion>) -> Self {
        touches.sort_by_key(|touch| touch.version);
        let mut attribution = Self::default();
        for touch in touches {
            attribution.touch(touch.node, &touch.actor, touch.version);
        }
        attribution
    }

    /// Takes a stored change; versions rise.
    pub(crate) fn record(&mut self, touched: &Touched, actor: &Actor, version: Version) {
        for path in touched.nodes.keys() {
            self.touch(path.clone(), actor, version);
        }
    }

    /// The last touch of a path.
    pub(crate) fn last(&self, path: &str) -> Option<&Touch> {
        self.by_path.get(path).map(|touches| &touches.last)
    }

    /// The newest touch of a path by somebody other than this actor.
    pub(crate) fn last_by_other_than(&self, actor: &Actor, path: &str) -> Option<&Touch> {
        let touches = self.by_path.get(path)?;
        if touches.last.actor.is_other_than(actor) {
            Some(&touches.last)
        } else {
            touches.by_other.as_ref()
        }
    }

    fn touch(&mut self, path: String, actor: &Actor, version: Version) {
        let touch = Touch {
            version,
            actor: actor.clone(),
        };
        if let Some(touches) = self.by_path.get_mut(&path) {
            let earlier = std::mem::replace(&mut touches.last, touch);
            if earlier.actor.is_other_than(actor) {
                touches.by_other = Some(earlier);
            }
        } else {
            let touches = Touches {
                last: touch,
                by_other: None,
            };
            self.by_path.insert(path, touches);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{TaskId, UserId, WorkId};

    #[test]
    fn the_newest_touch_by_somebody_else_is_known_for_everybody() {
        let people: Vec<Actor> = (0..3).map(|_| Actor::Person(UserId::new())).collect();
        let seed = uuid::Uuid::new_v4().as_u128() as u64 | 1;
        eprintln!("seed {seed}");
        let (mut random, mut history) = (seed, Vec::new());
        let work = WorkId::new();
        for version in 1..60 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            history.push(NodeVersion {
                work,
                node: "nodes/a".into(),
                version: Version(version),
                actor: people[random as usize % 3].clone(),
            });
            let mut shuffled = history.clone();
            shuffled.reverse();
            let attribution = Attribution::new(shuffled);
            for person in &people {
                let expected = history.iter().rev().find(|touch| touch.actor != *person);
                let found = attribution.last_by_other_than(person, "nodes/a");
                assert_eq!(
                    found.map(|touch| touch.version),
                    expected.map(|touch| touch.version)
                );
            }
        }
    }

    #[test]
    fn steps_of_one_task_are_no_others_to_each_other() {
        let task = TaskId::new();
        let step = |step| Actor::Agent {
            task,
            turn: 1,
            step,
        };
        let mut attribution = Attribution::default();
        attribution.touch("nodes/a".into(), &step(1), Version(1));
        attribution.touch("nodes/a".into(), &step(2), Version(2));
        assert_eq!(attribution.last_by_other_than(&step(3), "nodes/a"), None);
        let last = attribution.last("nodes/a").expect("was touched");
        assert_eq!(last.actor, step(2));
    }
}
