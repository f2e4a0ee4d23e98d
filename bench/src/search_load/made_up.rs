//! Made-up tasks in three languages, questions about them, and vectors that are near where words are shared.
//!
//! Invariants
//! - Task number n is the same in every run: its text comes from its number alone.
//! - Words are used as in life: a few all the time, most of them hardly ever.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Result;
use domain::ids::{TaskId, WorkspaceId};
use uuid::Uuid;

use crate::random::Random;

/// Dimensions of a vector.
const WIDTH: usize = 512;
/// Words of each language.
const VOCABULARY: u64 = 20_000;

/// All tasks, by their numbers.
pub(super) struct Made {
    pub(super) tasks: u64,
    /// The number of the first task of each workspace.
    pub(super) starts: Vec<u64>,
}

/// A task as text.
pub(super) struct Text {
    pub(super) workspace: WorkspaceId,
    pub(super) task: TaskId,
    pub(super) title: String,
    pub(super) goal: String,
    pub(super) line: String,
    /// A question that this task answers best.
    pub(super) asked: String,
}

impl Made {
    pub(super) fn new(tasks: u64, workspaces: u64) -> Self {
        let weight = |number: u64| 1.0 / (number as f64 + 1.0);
        let all: f64 = (0..workspaces).map(weight).sum();
        let mut starts = Vec::new();
        let mut next = 0.0;
        for number in 0..workspaces {
            starts.push((next * tasks as f64) as u64);
            next += weight(number) / all;
        }
        Self { tasks, starts }
    }

    /// The workspace of a task: its place among all.
    pub(super) fn place(&self, task: u64) -> usize {
        self.starts.partition_point(|start| *start <= task) - 1
    }

    pub(super) fn text(&self, number: u64) -> Text {
        let mut random = Random::new(number + 1);
        let language = random.below(3);
        let mut words = |count: u64| -> Vec<String> {
            (0..count).map(|_| word(language, &mut random)).collect()
        };
        let (title, goal, line) = (words(4), words(14), words(6));
        let asked: Vec<&String> = title[..2]
            .iter()
            .chain(&goal[..3])
            .chain(&line[..1])
            .collect();
        let join = |words: &[String]| match language {
            2 => words.concat(),
            _ => words.join(" "),
        };
        let asked: Vec<String> = asked.into_iter().cloned().collect();
        Text {
            workspace: workspace_id(self.place(number)),
            task: task_id(number),
            title: join(&title),
            goal: join(&goal),
            line: join(&line),
            asked: join(&asked),
        }
    }

    /// Questions about tasks that chance has chosen, so that large workspaces are asked more often.
    pub(super) fn questions(&self, count: usize) -> Vec<Text> {
        let mut random = Random::new(7);
        (0..count)
            .map(|_| self.text(random.below(self.tasks)))
            .collect()
    }

    /// Tables for other programs: `tasks.tsv` and `questions.tsv`.
    pub(super) fn write_tables(&self, folder: &Path, questions: usize) -> Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut tasks = BufWriter::new(std::fs::File::create(folder.join("tasks.tsv"))?);
        for number in 0..self.tasks {
            let text = self.text(number);
            writeln!(
                tasks,
                "{number}\t{}\t{} {} {}",
                self.place(number),
                text.title,
                text.goal,
                text.line
            )?;
        }
        tasks.flush()?;
        let mut random = Random::new(7);
        let mut asked = BufWriter::new(std::fs::File::create(folder.join("questions.tsv"))?);
        for _ in 0..questions {
            let number = random.below(self.tasks);
            writeln!(
                asked,
                "{number}\t{}\t{}",
                self.place(number),
                self.text(number).asked
            )?;
        }
        asked.flush()?;
        Ok(())
    }
}

pub(super) fn workspace_id(place: usize) -> WorkspaceId {
    WorkspaceId::from_uuid(Uuid::from_u128(
        0x0001_0000_0000_7000_8000_0000_0000_0000 + place as u128,
    ))
}

pub(super) fn task_id(number: u64) -> TaskId {
    TaskId::from_uuid(Uuid::from_u128(
        0x0002_0000_0000_7000_8000_0000_0000_0000 + u128::from(number),
    ))
}

/// A word of a language: the n-th is used about 1/n as often as the first.
fn word(language: u64, random: &mut Random) -> String {
    let rank = (VOCABULARY as f64).powf(random.unit()) as u64;
    let mut shape = Random::new(rank * 3 + language + 11);
    let syllables = 2 + shape.below(2);
    let mut word = String::new();
    for _ in 0..syllables {
        match language {
            0 => {
                word.push(pick("бвгдзклмнпрст", &mut shape));
                word.push(pick("аеиоуы", &mut shape));
            }
            1 => {
                word.push(pick("bdfgklmnprstv", &mut shape));
                word.push(pick("aeiou", &mut shape));
            }
            _ => {
                let character = char::from_u32(0x4e00 + shape.below(3_000) as u32);
                word.push(character.unwrap_or('一'));
            }
        }
    }
    let ending = match language {
        0 => ["а", "ы", "ой", "ами"][random.below(4) as usize],
        1 => ["", "s", "ed", "ing"][random.below(4) as usize],
        _ => "",
    };
    word + ending
}

fn pick(letters: &str, random: &mut Random) -> char {
    let count = letters.chars().count() as u64;
    let letter = letters.chars().nth(random.below(count) as usize);
    letter.unwrap_or('a')
}

/// A vector that is near that of a text with the same beginnings of words.
pub(super) fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; WIDTH];
    let characters: Vec<char> = text.chars().collect();
    for pair in characters.windows(3) {
        let hash = pair.iter().fold(0_u64, |hash, character| {
            hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*character as u32)
        });
        let mut random = Random::new(hash);
        for _ in 0..8 {
            let place = random.below(WIDTH as u64) as usize;
            vector[place] += if random.below(2) == 0 { 1.0 } else { -1.0 };
        }
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
    for x in &mut vector {
        *x /= length;
    }
    vector
}
