//! Cutting a text into the pieces that the network knows: sentencepiece's normaliser and unigram segmentation.
//!
//! Invariants
//! - The pieces are those that the reference implementation gives for this vocabulary (see the tests).
//! - Work is linear in the length of the text: pieces have a greatest length.

use std::collections::HashMap;

use crate::{Error, Result};

const UNKNOWN: u32 = 0;
const BEGIN: u32 = 1;
const END: u32 = 2;
/// What a space becomes.
const SPACE: char = '\u{2581}';

/// The vocabulary, ready to be looked through.
pub(super) struct Tokenizer {
    /// The node behind a node and a character; 0 is the root.
    nodes: HashMap<(u32, char), u32>,
    /// The piece that ends at a node.
    pieces: Vec<Option<u32>>,
    scores: Vec<f32>,
    unknown_score: f32,
    normalizer: Normalizer,
}

impl Tokenizer {
    /// Reads the model file of sentencepiece, in the old layout that this model has.
    pub(super) fn new(model: &[u8]) -> Result<Self> {
        let mut vocabulary = Vec::new();
        let mut charsmap: &[u8] = &[];
        for (field, body) in fields(model)? {
            match field {
                1 => vocabulary.extend(piece(body)?),
                3 => {
                    let specification = fields(body)?;
                    let found = specification.into_iter().find(|(field, _)| *field == 2);
                    charsmap = found.map_or(charsmap, |(_, bytes)| bytes);
                }
                _ => {}
            }
        }
        let mut tokenizer = Self {
            nodes: HashMap::with_capacity(vocabulary.len() * 4),
            pieces: vec![None],
            scores: Vec::with_capacity(vocabulary.len()),
            unknown_score: 0.0,
            normalizer: Normalizer::new(charsmap)?,
        };
        for (id, (text, score)) in vocabulary.into_iter().enumerate() {
            tokenizer.insert(&text, id as u32);
            tokenizer.scores.push(score);
        }
        let lowest = tokenizer.scores.iter().copied().fold(0.0, f32::min);
        tokenizer.unknown_score = lowest - 10.0;
        Ok(tokenizer)
    }

    fn insert(&mut self, text: &str, id: u32) {
        let mut node = 0;
        for character in text.chars() {
            let next = self.pieces.len() as u32;
            node = *self.nodes.entry((node, character)).or_insert(next);
            if node == next {
                self.pieces.push(None);
            }
        }
        if node != 0 {
            self.pieces[node as usize] = Some(id);
        }
    }

    /// The pieces of a text, between those of its beginning and its end.
    pub(super) fn encode(&self, text: &str) -> Vec<u32> {
        let normal = self.normalizer.normalize(text);
        let mut pieces = vec![BEGIN];
        if normal.is_empty() {
            pieces.push(UNKNOWN);
        } else {
            pieces.extend(self.best(&normal));
        }
        pieces.push(END);
        pieces
    }

    /// The most likely way to cut a text, by the best way to each place in it.
    fn best(&self, text: &[char]) -> Vec<u32> {
        let mut scores = vec![f32::NEG_INFINITY; text.len() + 1];
        scores[0] = 0.0;
        let mut ways = vec![(0, UNKNOWN); text.len() + 1];
        for start in 0..text.len() {
            let base = scores[start];
            let mut reach = |end: usize, piece: u32, score: f32| {
                if score > scores[end] {
                    scores[end] = score;
                    ways[end] = (start, piece);
                }
            };
            let mut node = 0;
            let mut has_single = false;
            for (end, character) in (start + 1..).zip(&text[start..]) {
                let Some(next) = self.nodes.get(&(node, *character)) else {
                    break;
                };
                node = *next;
                if let Some(piece) = self.pieces[node as usize] {
                    reach(end, piece, base + self.scores[piece as usize]);
                    has_single |= end == start + 1;
                }
            }
            if !has_single {
                reach(start + 1, UNKNOWN, base + self.unknown_score);
            }
        }
        let mut pieces = Vec::new();
        let mut end = text.len();
        while end > 0 {
            let (start, piece) = ways[end];
            pieces.push(piece);
            end = start;
        }
        pieces.reverse();
        pieces
    }
}

/// A text in the form that the vocabulary was made of: by a table of replacements that is walked as a double array.
struct Normalizer {
    units: Vec<u32>,
    replacements: Vec<u8>,
}

impl Normalizer {
    fn new(charsmap: &[u8]) -> Result<Self> {
        let damaged = || Error::Weights("the table of the tokenizer is damaged".to_owned());
        let (size, rest) = charsmap.split_first_chunk::<4>().ok_or_else(damaged)?;
        let size = u32::from_le_bytes(*size) as usize;
        let (trie, replacements) = rest.split_at_checked(size).ok_or_else(damaged)?;
        let (units, _) = trie.as_chunks::<4>();
        Ok(Self {
            units: units.iter().map(|unit| u32::from_le_bytes(*unit)).collect(),
            replacements: replacements.to_vec(),
        })
    }

    fn normalize(&self, text: &str) -> Vec<char> {
        let mut out = vec![SPACE];
        // Spaces at the beginning go, and of several one stays.
        let mut is_after_space = true;
        let mut rest = text;
        while !rest.is_empty() {
            let (normal, length) = self.prefix(rest);
            rest = &rest[length..];
            let mut characters = normal.chars().peekable();
            if is_after_space {
                while characters.next_if_eq(&' ').is_some() {}
            }
            for character in characters {
                is_after_space = character == ' ';
                out.push(if is_after_space { SPACE } else { character });
            }
        }
        while out.last() == Some(&SPACE) {
            out.pop();
        }
        out
    }

    /// The normal form of the beginning of a text, and the bytes that it stands for; both hold whole characters.
    fn prefix<'a>(&'a self, text: &'a str) -> (&'a str, usize) {
        let found = self.longest(text.as_bytes());
        let replaced = found.and_then(|(length, value)| {
            let from = self.replacements.get(value..)?;
            let end = from.iter().position(|byte| *byte == 0)?;
            let is_whole = text.is_char_boundary(length);
            let normal = std::str::from_utf8(&from[..end]).ok()?;
            is_whole.then_some((normal, length))
        });
        replaced.unwrap_or_else(|| {
            let length = text.chars().next().map_or(1, char::len_utf8);
            (&text[..length], length)
        })
    }

    /// The longest key of the table that these bytes begin with: its length, and where its replacement stands.
    fn longest(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let mut found = None;
        let mut place = offset(*self.units.first()?);
        for (at, byte) in bytes.iter().enumerate() {
            place ^= usize::from(*byte);
            let unit = *self.units.get(place)?;
            if unit & 0x8000_00ff != u32::from(*byte) {
                break;
            }
            place ^= offset(unit);
            if unit & 0x100 != 0 {
                let value = self.units.get(place)? & 0x7fff_ffff;
                found = Some((at + 1, value as usize));
            }
        }
        found
    }
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}

/// The text and the score of a piece; none where it has no text.
fn piece(body: &[u8]) -> Result<Option<(String, f32)>> {
    let (mut text, mut score) = (None, 0.0);
    for (field, bytes) in fields(body)? {
        match (field, bytes) {
            (1, bytes) => text = Some(String::from_utf8_lossy(bytes).into_owned()),
            (2, [a, b, c, d]) => score = f32::from_le_bytes([*a, *b, *c, *d]),
            _ => {}
        }
    }
    Ok(text.map(|text| (text, score)))
}

/// The fields of a protocol buffer with their bytes; those of plain integers are left out.
fn fields(mut bytes: &[u8]) -> Result<Vec<(u32, &[u8])>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let length = match tag & 7 {
            0 => {
                varint(&mut bytes)?;
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes)? as usize,
            5 => 4,
            _ => return Err(cut_off()),
        };
        let (body, rest) = bytes.split_at_checked(length).ok_or_else(cut_off)?;
        found.push(((tag >> 3) as u32, body));
        bytes = rest;
    }
    Ok(found)
}

fn varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or_else(cut_off)?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(cut_off())
}

fn cut_off() -> Error {
    Error::Weights("the vocabulary of the tokenizer is damaged".to_owned())
}
