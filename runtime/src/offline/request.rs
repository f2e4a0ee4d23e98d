//! What a person asks to be changed in a work, as far as rules understand it.
//!
//! Invariants
//! - The same words are always the same request; a request that is stored as words is understood again when it is carried out.
//! - What is not understood is no request: nothing is guessed.
//!
//! Not here: what a request does to a work (`editing`).

use super::aim::{Aim, Target, aim_from, aim_of, bare_number};
use super::kind::Kind;
use super::lexicon::{Phrase, Span, quoted};
use super::numbers::number_at;
use super::request_words::{
    ABOUT, ADD, AFTER, BEFORE, BEGINNING, CHANGE, CONNECT, END, FILLERS, FROM, HERE, INSIDE, INTO,
    LONGER, MAKE, MOVE, PRAISE, REMOVE, RENAME, REPLACE, SHORTER, SHOULD, TOO, TRAILING, VERBS,
    is_negated, opposite,
};
use super::wish::SECONDS;

/// A change of a work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    /// Say something else of a part.
    Describe { target: Target, text: String },
    /// Say something more.
    Note { target: Target, text: String },
    /// Leave something out.
    Without { target: Target, text: String },
    /// Call a part something else.
    Rename { target: Target, title: String },
    /// Call the whole work something else.
    RenameWork,
    /// Make a shot longer or shorter.
    Last { target: Target, lasting: Lasting },
    /// Add parts.
    Add {
        about: Option<String>,
        title: Option<String>,
        count: u32,
        place: Place,
    },
    /// Take parts away.
    Remove { target: Target },
    /// Put a part elsewhere.
    Move { target: Target, place: Place },
    /// Put words in the place of others.
    Replace { find: String, replace: String },
    /// Connect two nodes.
    Connect { from: Target, to: Target },
}

/// How long a shot lasts afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasting {
    Seconds(u32),
    /// All parts together.
    Together(u32),
    Shorter,
    Longer,
}

/// Where a part goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    First,
    End,
    After(Target),
    Before(Target),
    /// So that it has this number.
    At(u32),
}

impl Request {
    /// Where requests of one message stand in the order of their carrying out: people count the parts as they are when they write, so
    /// what leaves the numbers alone comes first, and then what changes them, from the last part to the first.
    pub(super) fn turn(&self) -> u32 {
        let last = |target: &Target| match target {
            Target::Numbers(numbers) => numbers.iter().max().copied().unwrap_or_default(),
            _ => 1_000,
        };
        let shifts_from = match self {
            Self::Remove { target } => last(target),
            Self::Add { place, .. } | Self::Move { place, .. } => match place {
                Place::First => 0,
                Place::End => 2_000,
                Place::After(target) | Place::Before(target) => last(target),
                Place::At(number) => *number,
            },
            _ => return 0,
        };
        10_000 - shifts_from.min(9_000)
    }
}

/// A request in the reading.
struct Clause<'a> {
    phrase: Phrase<'a>,
    aim: Option<Aim>,
    quotes: Vec<(usize, &'a str)>,
    kind: Kind,
}

/// Reads one request about a work of this kind; `titles` are those of its parts, where they are known.
pub(super) fn read(text: &str, kind: Kind, titles: &[String]) -> Option<Request> {
    let phrase = Phrase::of(text);
    let clause = Clause {
        aim: aim_of(&phrase, titles),
        quotes: quoted(text),
        phrase,
        kind,
    };
    if is_negated(&clause.phrase) {
        return None;
    }
    clause
        .replace()
        .or_else(|| clause.connect())
        .or_else(|| clause.rename())
        .or_else(|| clause.remove())
        .or_else(|| clause.add())
        .or_else(|| clause.relocate())
        .or_else(|| clause.last())
        .or_else(|| clause.describe())
        .or_else(|| clause.note())
}

impl Clause<'_> {
    fn target(&self) -> Option<Target> {
        self.aim.as_ref().map(|aim| aim.target.clone())
    }

    /// The text between two words, without what only leads to it.
    fn text(&self, from: usize, to: usize) -> Option<String> {
        let (mut from, mut to) = (from, to.min(self.phrase.len()));
        while from < to && self.phrase.at(from, FILLERS).is_some() {
            from += 1;
        }
        while to > from && self.phrase.at(to - 1, TRAILING).is_some() {
            to -= 1;
        }
        let text = self.phrase.slice(from, to).trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn replace(&self) -> Option<Request> {
        self.phrase
            .find(REPLACE)
            .or_else(|| self.phrase.find(CHANGE))?;
        match self.quotes.as_slice() {
            [(_, find), (_, replace)] if self.phrase.find(RENAME).is_none() => {
                Some(Request::Replace {
                    find: (*find).to_owned(),
                    replace: (*replace).to_owned(),
                })
            }
            _ => None,
        }
    }

    fn connect(&self) -> Option<Request> {
        let verb = self
            .phrase
            .find(CONNECT)
            .filter(|_| self.kind == Kind::Flow)?;
        let first = aim_from(&self.phrase, verb.to)?;
        let (from, to) = match (&first.target, aim_from(&self.phrase, first.span.to)) {
            (Target::Numbers(numbers), None) if numbers.len() == 2 => (
                Target::Numbers(vec![numbers[0]]),
                Target::Numbers(vec![numbers[1]]),
            ),
            (_, Some(second)) => (first.target, second.target),
            _ => return None,
        };
        Some(Request::Connect { from, to })
    }

    fn rename(&self) -> Option<Request> {
        let verb = self.phrase.find(RENAME)?;
        let Some(aim) = &self.aim else {
            return self
                .phrase
                .has(self.kind.names())
                .then_some(Request::RenameWork);
        };
        let within = |at: usize| {
            let word = self.phrase.word_at(at);
            (aim.span.from..aim.span.to).contains(&word)
        };
        let named = self
            .quotes
            .iter()
            .rfind(|(at, _)| !within(*at))
            .map(|(_, text)| (*text).to_owned());
        let title = named.or_else(|| {
            let from = aim.span.to.max(verb.to);
            let marker = self
                .phrase
                .find_from(from, INTO)
                .or_else(|| self.phrase.find_from(from, SHOULD));
            self.text(marker.map_or(from, |marker| marker.to), self.phrase.len())
        })?;
        Some(Request::Rename {
            target: aim.target.clone(),
            title,
        })
    }

    fn remove(&self) -> Option<Request> {
        let verb = self.phrase.find(REMOVE)?;
        let Some(aim) = &self.aim else {
            let (_, find) = self.quotes.first().filter(|_| self.kind == Kind::Text)?;
            return Some(Request::Replace {
                find: (*find).to_owned(),
                replace: String::new(),
            });
        };
        let target = aim.target.clone();
        match self.part_of_aim(verb, aim) {
            Some(text) => Some(Request::Without { target, text }),
            // Nothing is taken away on a guess: where other words say something too, it is not this rule's.
            None if self.says_only(verb, aim) => Some(Request::Remove { target }),
            None => None,
        }
    }

    /// Whether nothing but the verb and the target is said.
    fn says_only(&self, verb: Span, aim: &Aim) -> bool {
        let is_known = |at: usize| {
            (verb.from..verb.to).contains(&at)
                || (aim.span.from..aim.span.to).contains(&at)
                || self.phrase.at(at, FILLERS).is_some()
                || self.phrase.at(at, TRAILING).is_some()
        };
        (0..self.phrase.len()).all(is_known)
    }

    /// What is named inside of the target: "the rain from shot 2", "из второго кадра дождь", "第二个镜头里的雨".
    fn part_of_aim(&self, verb: Span, aim: &Aim) -> Option<String> {
        let phrase = &self.phrase;
        if let Some(inside) = phrase.at(aim.span.to, INSIDE) {
            let to = if verb.from > aim.span.to {
                verb.from
            } else {
                phrase.len()
            };
            return self.text(inside.to, to);
        }
        let lead = aim.span.from.checked_sub(1).filter(|at| *at >= verb.to)?;
        let lead = match phrase.word(lead) {
            "the" if lead > verb.to => lead - 1,
            _ => lead,
        };
        phrase.at(lead, FROM)?;
        if lead > verb.to {
            self.text(verb.to, lead)
        } else {
            self.text(aim.span.to, phrase.len())
        }
    }

    fn add(&self) -> Option<Request> {
        let verb = self.phrase.find(ADD)?;
        let unit = self.phrase.find_from(verb.to, super::aim::UNITS);
        let is_aimed = |unit: &Span| {
            self.aim
                .as_ref()
                .is_some_and(|aim| (aim.span.from..aim.span.to).contains(&unit.from))
        };
        if let Some(unit) = unit.filter(|unit| unit.from <= verb.to + 8 && !is_aimed(unit)) {
            return Some(Request::Add {
                count: self.count_before(verb, unit),
                about: self.about(verb, unit),
                title: self.quotes.first().map(|(_, text)| (*text).to_owned()),
                place: self.place(0).unwrap_or(Place::End),
            });
        }
        let aim = self.aim.as_ref()?;
        let text = if aim.span.from > verb.to {
            let lead = (verb.to..aim.span.from)
                .rev()
                .find(|at| self.phrase.at(*at, HERE).is_some());
            match lead {
                Some(lead) if lead > verb.to => self.text(verb.to, lead)?,
                _ => self.text(aim.span.to, self.phrase.len())?,
            }
        } else {
            self.text(verb.to, self.phrase.len())?
        };
        Some(Request::Note {
            target: aim.target.clone(),
            text,
        })
    }

    fn count_before(&self, verb: Span, unit: Span) -> u32 {
        let found = (verb.from..unit.from).find_map(|at| number_at(&self.phrase, at));
        found.map_or(1, |number| number.value.clamp(1, super::wish::MOST))
    }

    /// What the new part is about.
    fn about(&self, verb: Span, unit: Span) -> Option<String> {
        let phrase = &self.phrase;
        if phrase.is_chinese() {
            let start = (verb.to..unit.from)
                .find(|at| phrase.at(*at, ABOUT).is_some())
                .map(|at| at + 2);
            let start = start.or_else(|| {
                (verb.to..unit.from)
                    .find(|at| ["个", "张", "幅"].contains(&phrase.word(*at)))
                    .map(|at| at + 1)
            });
            let end = (verb.to..unit.from)
                .rev()
                .find(|at| phrase.word(*at) == "的")?;
            return self.text(start?, end);
        }
        let lead = phrase
            .find_from(unit.to, ABOUT)
            .filter(|lead| lead.from <= unit.to + 3)?;
        let ends = [AFTER, BEFORE, BEGINNING, END]
            .into_iter()
            .filter_map(|list| phrase.find_from(lead.to, list));
        let end = ends.map(|span| span.from).min().unwrap_or(phrase.len());
        self.text(lead.to, end)
    }

    fn relocate(&self) -> Option<Request> {
        self.phrase.find(MOVE)?;
        let aim = self.aim.as_ref()?;
        let place = self.place(aim.span.to)?;
        Some(Request::Move {
            target: aim.target.clone(),
            place,
        })
    }

    /// Where something goes, from a word on.
    fn place(&self, from: usize) -> Option<Place> {
        let phrase = &self.phrase;
        let beside = |span: Span| {
            let is_behind = |aim: &Aim| (span.to..=span.to + 3).contains(&aim.span.from);
            let behind = aim_from(phrase, span.to).or_else(|| self.aim.clone());
            let behind = behind.filter(is_behind).map(|aim| aim.target);
            // 在第二个镜头后面: Chinese puts the word behind.
            let ahead = || {
                let aim = aim_from(phrase, from)?;
                (aim.span.to == span.from || aim.span.to + 1 == span.from).then_some(aim.target)
            };
            let bare = || bare_number(phrase, span.to).map(|number| Target::Numbers(vec![number]));
            if phrase.is_chinese() {
                ahead().or(behind)
            } else {
                behind.or_else(bare)
            }
        };
        if let Some(target) = phrase.find_from(from, AFTER).and_then(beside) {
            return Some(Place::After(target));
        }
        if let Some(target) = phrase.find_from(from, BEFORE).and_then(beside) {
            return Some(Place::Before(target));
        }
        if phrase.find_from(from, BEGINNING).is_some() {
            return Some(Place::First);
        }
        if phrase.find_from(from, END).is_some() {
            return Some(Place::End);
        }
        let found = (from..phrase.len()).find_map(|at| number_at(phrase, at));
        found
            .filter(|_| from > 0)
            .map(|number| Place::At(number.value))
    }

    fn last(&self) -> Option<Request> {
        if self.kind != Kind::Storyboard {
            return None;
        }
        let phrase = &self.phrase;
        let is_whole = phrase.has(MAKE) || phrase.has(super::kind::Kind::Storyboard.names());
        let target = self.target().or_else(|| is_whole.then_some(Target::All))?;
        let is_outside = |at: usize| {
            !self
                .aim
                .as_ref()
                .is_some_and(|aim| (aim.span.from..aim.span.to).contains(&at))
        };
        let seconds = (0..phrase.len())
            .filter(|at| is_outside(*at))
            .find_map(|at| {
                let number = number_at(phrase, at)?;
                phrase.at(at + number.len, SECONDS)?;
                Some(number.value)
            });
        let lasting = match seconds {
            Some(seconds) if (1..=3_600).contains(&seconds) && self.aim.is_none() => {
                Lasting::Together(seconds)
            }
            Some(seconds) if (1..=3_600).contains(&seconds) => Lasting::Seconds(seconds),
            None if phrase.has(SHORTER) => Lasting::Shorter,
            None if phrase.has(LONGER) => Lasting::Longer,
            Some(_) | None => return None,
        };
        Some(Request::Last { target, lasting })
    }

    fn describe(&self) -> Option<Request> {
        let aim = self.aim.as_ref()?;
        let phrase = &self.phrase;
        let should = phrase.find(SHOULD).map(|span| {
            if span.to > aim.span.from {
                span.to.max(aim.span.to)
            } else {
                phrase
                    .find_from(aim.span.to, &["будет", "будут", "be", "show"])
                    .map_or(aim.span.to, |be| be.to)
            }
        });
        let changed = || {
            let verb = phrase.find(CHANGE).or_else(|| phrase.find(REPLACE))?;
            let marker = phrase.find_from(verb.from.max(aim.span.to), INTO)?;
            Some(marker.to)
        };
        let from = should.or_else(changed)?;
        Some(Request::Describe {
            target: aim.target.clone(),
            text: self.text(from, phrase.len())?,
        })
    }

    /// Everything that is said of a part, where no other rule says what to do with it.
    fn note(&self) -> Option<Request> {
        let phrase = &self.phrase;
        let is_verbal = VERBS.iter().any(|list| phrase.has(list));
        if (phrase.has(PRAISE) && !is_verbal) || phrase.has(REMOVE) {
            return None;
        }
        if let Some(too) = phrase.find(TOO) {
            let text = opposite(phrase, too.to)?;
            let target = self.target().unwrap_or(Target::All);
            return Some(Request::Note { target, text });
        }
        if let Some(aim) = &self.aim {
            let before = self.text(0, aim.span.from);
            let behind = self.text(aim.span.to, phrase.len());
            let text: Vec<String> = [before, behind].into_iter().flatten().collect();
            return (!text.is_empty()).then(|| Request::Note {
                target: aim.target.clone(),
                text: text.join(" "),
            });
        }
        // "Make the storyboard darker" is about all of it, "make a storyboard about a fox" is another wish.
        let verb = phrase.find(MAKE)?;
        if phrase.has(ABOUT)
            || phrase.has(ADD)
            || (0..phrase.len()).any(|at| number_at(phrase, at).is_some())
        {
            return None;
        }
        let whole = phrase.find_from(verb.to, self.kind.names());
        let others = Kind::ALL.into_iter().filter(|kind| *kind != self.kind);
        if others.into_iter().any(|kind| phrase.has(kind.names()))
            || (whole.is_some() && phrase.word(verb.to) == "a")
        {
            return None;
        }
        let text = self.text(whole.map_or(verb.to, |whole| whole.to), phrase.len())?;
        Some(Request::Note {
            target: Target::All,
            text,
        })
    }
}
