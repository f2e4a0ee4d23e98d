//! Made-up conversations of two people over some weeks, and questions about them in words of their own.
//!
//! Invariants
//! - The same seed makes the same conversations.
//! - Questions are of four kinds: what one turn says (`plain`), what is said in answer to a turn that names the thing (`beside`), what two
//!   sessions say together (`twice`), and what was said in another language (`language`).
//!
//! Not here: how people really talk. Figures over these say what has become better or worse, and nothing about other systems' figures.

use super::conversations::{Conversation, Question, Turn};
use crate::random::Random;

/// Sessions of a conversation.
const SESSIONS: usize = 20;
/// Facts of each session.
const FACTS: usize = 2;
/// Turns of small talk around each fact.
const TALK: u64 = 5;
/// Seconds between two sessions.
const DAYS: u64 = 2 * 86_400;

const THINGS: [&str; 24] = [
    "kayak",
    "cello",
    "telescope",
    "typewriter",
    "greenhouse",
    "loom",
    "motorbike",
    "sewing machine",
    "canoe",
    "accordion",
    "microscope",
    "beehive",
    "piano",
    "camera",
    "drone",
    "oven",
    "tent",
    "carpet",
    "lamp",
    "bicycle",
    "sofa",
    "record player",
    "printer",
    "easel",
];
const PLACES: [&str; 16] = [
    "the harbour market",
    "a shop in Lisbon",
    "my neighbour's garage",
    "an auction in Graz",
    "the old mill",
    "a flea market by the river",
    "the station hall",
    "a barn near Ghent",
    "my uncle's attic",
    "a fair in Turin",
    "the museum shop",
    "a closing workshop",
    "the island",
    "a catalogue",
    "the school sale",
    "a monastery",
];
const PEOPLE: [&str; 16] = [
    "Ingrid", "Tomas", "Yusuf", "Marta", "Pavel", "Noor", "Sergio", "Hanna", "Milo", "Irina",
    "Kenji", "Lucia", "Oskar", "Priya", "Bruno", "Zoe",
];
const HOBBIES: [&str; 16] = [
    "pottery",
    "fencing",
    "origami",
    "archery",
    "calligraphy",
    "climbing",
    "beekeeping",
    "juggling",
    "woodcarving",
    "diving",
    "chess",
    "tango",
    "falconry",
    "quilting",
    "sailing",
    "glassblowing",
];
const TALKS: [&str; 20] = [
    "How was your week?",
    "Same as ever, a lot of work.",
    "I slept badly again.",
    "The weather is dreadful here.",
    "That sounds lovely!",
    "Did you see the news yesterday?",
    "I had soup for lunch.",
    "We should call more often.",
    "My back hurts a bit.",
    "The train was late again.",
    "I am so glad to hear that.",
    "Tell me more when you have time.",
    "I have to cook in a minute.",
    "The kids are noisy today.",
    "Oh, that is funny.",
    "I watched an old film on Sunday.",
    "It rained all day.",
    "You always find a way.",
    "I need a holiday.",
    "Let us talk at the weekend.",
];

/// As many conversations, each of its own numbers.
pub(super) fn conversations(count: u64, seed: u64) -> Vec<Conversation> {
    (0..count)
        .map(|number| Making::new(seed * 1_000 + number).make(number))
        .collect()
}

struct Making {
    random: Random,
    speakers: [&'static str; 2],
    turns: Vec<Turn>,
    questions: Vec<Question>,
    session: usize,
    /// Things and hobbies that were not spoken of yet.
    things: Vec<&'static str>,
    hobbies: Vec<&'static str>,
    /// Hobbies that were taken up, with who did: they are spoken of once more.
    taken_up: Vec<(&'static str, usize, String)>,
}

impl Making {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed + 17);
        let first = random.below(PEOPLE.len() as u64) as usize;
        let speakers = [PEOPLE[first], PEOPLE[(first + 5) % PEOPLE.len()]];
        Self {
            random,
            speakers,
            turns: Vec::new(),
            questions: Vec::new(),
            session: 0,
            things: THINGS.to_vec(),
            hobbies: HOBBIES.to_vec(),
            taken_up: Vec::new(),
        }
    }

    fn make(mut self, number: u64) -> Conversation {
        for session in 0..SESSIONS {
            self.session = session;
            for _ in 0..FACTS {
                self.talk();
                match self.random.below(5) {
                    0 => self.plain(),
                    1 | 2 => self.beside(),
                    3 => self.twice(),
                    _ => self.language(),
                }
            }
            self.talk();
        }
        Conversation {
            id: format!("made-up-{number}"),
            turns: self.turns,
            questions: self.questions,
        }
    }

    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words[self.random.below(words.len() as u64) as usize]
    }

    fn say(&mut self, speaker: usize, text: String) -> String {
        let id = format!("s{}:{}", self.session + 1, self.turns.len() + 1);
        self.turns.push(Turn {
            id: id.clone(),
            session: self.session,
            speaker: self.speakers[speaker].to_owned(),
            at: 1_700_000_000 + DAYS * self.session as u64 + 60 * self.turns.len() as u64,
            text,
        });
        id
    }

    fn talk(&mut self) {
        for place in 0..1 + self.random.below(TALK) {
            let text = self.pick(&TALKS).to_owned();
            self.say((place % 2) as usize, text);
        }
    }

    fn ask(&mut self, category: &str, text: String, evidence: Vec<String>) {
        self.questions.push(Question {
            text,
            evidence,
            category: category.to_owned(),
        });
    }

    /// A thing that was not spoken of yet; small talk where all were.
    fn new_thing(&mut self) -> Option<&'static str> {
        if self.things.is_empty() {
            return None;
        }
        let place = self.random.below(self.things.len() as u64) as usize;
        Some(self.things.swap_remove(place))
    }

    fn plain(&mut self) {
        let Some(thing) = self.new_thing() else {
            return self.talk();
        };
        let (speaker, person) = (self.random.below(2) as usize, self.pick(&PEOPLE));
        let name = self.speakers[speaker];
        let said = self.say(
            speaker,
            format!("{person} broke my {thing} last night, I am furious."),
        );
        self.ask(
            "plain",
            format!("Who damaged the {thing} of {name}?"),
            vec![said],
        );
    }

    fn beside(&mut self) {
        let Some(thing) = self.new_thing() else {
            return self.talk();
        };
        let (speaker, place) = (self.random.below(2) as usize, self.pick(&PLACES));
        let name = self.speakers[speaker];
        self.say(speaker, format!("I have bought a {thing} at last."));
        self.say(1 - speaker, "No way, where was that?".to_owned());
        let said = self.say(speaker, format!("In {place}, it was the last one."));
        self.ask(
            "beside",
            format!("Where did {name} find the {thing}?"),
            vec![said],
        );
    }

    fn twice(&mut self) {
        let ready = self
            .taken_up
            .iter()
            .position(|(_, session, _)| *session < self.session);
        if let Some(place) = ready {
            let (hobby, _, first) = self.taken_up.swap_remove(place);
            let cost = 20 + self.random.below(90);
            let said = self.say(
                0,
                format!("The {hobby} lessons are {cost} euros a month by now."),
            );
            let name = self.speakers[0];
            let asked = format!("Since when does {name} learn {hobby}, and what does it cost?");
            return self.ask("twice", asked, vec![first, said]);
        }
        if let Some(hobby) = self.hobbies.pop() {
            let month = self.pick(&["March", "April", "May", "June"]);
            let said = self.say(
                0,
                format!("I took up {hobby} in {month}, it is so calming."),
            );
            self.taken_up.push((hobby, self.session, said));
        }
    }

    fn language(&mut self) {
        const TOLD: [(&str, &str); 8] = [
            (
                "Моя сестра переезжает в Казань осенью.",
                "Which city does the sister move to?",
            ),
            (
                "У нашей собаки аллергия на курицу.",
                "What is the dog allergic to?",
            ),
            (
                "Дедушка научил меня чинить часы.",
                "Who taught how to repair clocks?",
            ),
            (
                "В субботу мы сажали яблони за домом.",
                "Which trees were planted behind the house?",
            ),
            (
                "我女儿下个月开始学游泳。",
                "What does the daughter begin to learn next month?",
            ),
            ("我们打算在海边结婚。", "Where will the wedding be?"),
            ("爸爸昨天忘了带雨伞。", "What did father forget yesterday?"),
            ("我最喜欢的茶是茉莉花茶。", "What is the favourite tea?"),
        ];
        let (said, asked) = TOLD[self.random.below(TOLD.len() as u64) as usize];
        if self.questions.iter().any(|question| question.text == asked) {
            return self.talk();
        }
        let said = self.say(self.session % 2, said.to_owned());
        self.ask("language", asked.to_owned(), vec![said]);
    }
}
