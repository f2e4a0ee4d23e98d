//! Edits of a Y.Text that touch no more than they must, so that two people can type at once.
//!
//! Invariants
//! - Offsets count UTF-16 units and never fall inside a surrogate pair.
//! - Things other than characters (embeds of editors) stay where they are.
//! - Replacements are planned wholly before the first is applied.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use yrs::{
    Assoc, GetString, ReadTxn, SharedRef, StateVector, StickyIndex, Text, TextRef, TransactionMut,
};

use crate::document::TextReplacement;
use crate::document::validate::find_embeds;

/// Two stretches whose numbers of characters multiply to more than this are compared by lines first.
const CHARACTER_COMPARISONS: usize = 4_000_000;
/// The same for lines, beyond which a stretch is replaced whole.
const LINE_COMPARISONS: usize = 25_000_000;

/// One place of a text that changes; offsets are those of the text before any of the edit's changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    /// Where, in UTF-16 units.
    pub(crate) at: u32,
    /// How many units go.
    pub(crate) remove: u32,
    /// What comes.
    pub(crate) insert: String,
}

/// Why replacements were not planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextRefusal {
    /// The input makes no sense with any text.
    Invalid(String),
    /// A fragment names no place or several.
    NotUnique {
        /// The fragment.
        find: String,
        /// How often it occurs, overlapping places counted.
        occurrences: u64,
    },
}

/// Makes a text read `new`; returns whether anything was written.
pub(crate) fn set_text(txn: &mut TransactionMut<'_>, text: &TextRef, new: &str) -> bool {
    let old = text.get_string(txn);
    let splices = smallest_edit(&old, new);
    apply_splices(txn, text, &splices);
    !splices.is_empty()
}

/// Plans replacements in a text: all of them, or none.
pub(crate) fn plan_replacements(
    text: &str,
    replacements: &[TextReplacement],
) -> Result<Vec<Splice>, TextRefusal> {
    if replacements
        .iter()
        .any(|replacement| replacement.find.is_empty())
    {
        let reason = "`find` is empty; name the fragment to replace";
        return Err(TextRefusal::Invalid(reason.into()));
    }
    let mut places = Vec::with_capacity(replacements.len());
    for replacement in replacements {
        places.push((find_once(text, &replacement.find)?, replacement));
    }
    places.sort_by_key(|(at, _)| *at);
    for pair in places.windows(2) {
        if pair[0].0 + pair[0].1.find.len() > pair[1].0 {
            return Err(TextRefusal::Invalid(format!(
                "the fragments {:?} and {:?} overlap; replace them as one",
                shown(&pair[0].1.find),
                shown(&pair[1].1.find)
            )));
        }
    }
    Ok(splices_at(text, &places))
}

/// Applies planned changes, the last place first.
pub(crate) fn apply_splices(txn: &mut TransactionMut<'_>, text: &TextRef, splices: &[Splice]) {
    if splices.is_empty() {
        return;
    }
    let others = places_of_others(txn, text);
    for splice in splices.iter().rev() {
        let end = splice.at + splice.remove;
        let mut upper = end;
        // What is no character splits the removed stretch and stays.
        for place in others.iter().rev().copied() {
            if place > splice.at && place < end {
                remove(txn, text, &others, place, upper);
                upper = place;
            }
        }
        remove(txn, text, &others, splice.at, upper);
        if !splice.insert.is_empty() {
            let at = splice.at + count_up_to(&others, splice.at);
            text.insert(txn, at, &splice.insert);
        }
    }
}

/// The smallest edit from one text to another.
pub(crate) fn smallest_edit(old: &str, new: &str) -> Vec<Splice> {
    let mut splices = Vec::new();
    if old != new {
        add_edit(old, new, 0, &mut splices);
    }
    splices
}

/// How often a fragment occurs, overlapping places counted, and where first (in bytes).
pub(crate) fn occurrences(text: &str, find: &str) -> (u64, Option<usize>) {
    let (text, find) = (text.as_bytes(), find.as_bytes());
    let borders = borders_of(find);
    let (mut count, mut first, mut matched) = (0, None, 0);
    for (at, byte) in text.iter().enumerate() {
        while matched > 0 && find[matched] != *byte {
            matched = borders[matched - 1];
        }
        if find[matched] == *byte {
            matched += 1;
        }
        if matched == find.len() {
            count += 1;
            first = first.or(Some(at + 1 - find.len()));
            matched = borders[matched - 1];
        }
    }
    (count, first)
}

/// For each prefix of a fragment the length of its longest proper prefix that is also its end, so that counting reads
/// the text once, whatever stands in it.
fn borders_of(find: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; find.len()];
    let mut matched = 0;
    for at in 1..find.len() {
        while matched > 0 && find[matched] != find[at] {
            matched = borders[matched - 1];
        }
        if find[matched] == find[at] {
            matched += 1;
        }
        borders[at] = matched;
    }
    borders
}

fn find_once(text: &str, find: &str) -> Result<usize, TextRefusal> {
    match occurrences(text, find) {
        (1, Some(at)) => Ok(at),
        (occurrences, _) => Err(TextRefusal::NotUnique {
            find: find.to_owned(),
            occurrences,
        }),
    }
}

fn shown(find: &str) -> String {
    find.chars().take(60).collect()
}

fn splices_at(text: &str, places: &[(usize, &TextReplacement)]) -> Vec<Splice> {
    let mut splices = Vec::new();
    let (mut bytes, mut units) = (0, 0);
    for (at, replacement) in places {
        units += units_of(&text[bytes..*at]);
        bytes = *at;
        if replacement.find != replacement.replace {
            add_edit(&replacement.find, &replacement.replace, units, &mut splices);
        }
    }
    splices
}

fn units_of(text: &str) -> u32 {
    text.encode_utf16().count() as u32
}

/// Adds the changes between two texts that differ, of which the first begins at `offset`.
fn add_edit(old: &str, new: &str, offset: u32, splices: &mut Vec<Splice>) {
    let front = common_front(old, new);
    let offset = offset + units_of(&old[..front]);
    let (old, new) = (&old[front..], &new[front..]);
    let back = common_back(old, new);
    let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
    if old.is_empty() || new.is_empty() {
        push(splices, offset, old, new);
        return;
    }
    let characters = (split_characters(old), split_characters(new));
    if is_comparable(&characters, CHARACTER_COMPARISONS) {
        for (at, old, new) in changed_parts(&characters, offset) {
            push(splices, at, &old, &new);
        }
        return;
    }
    let lines = (split_lines(old), split_lines(new));
    let has_lines = lines.0.len() > 1 && lines.1.len() > 1;
    if !has_lines || !is_comparable(&lines, LINE_COMPARISONS) {
        push(splices, offset, old, new);
        return;
    }
    for (at, changed, new) in changed_parts(&lines, offset) {
        // Inside changed lines the comparison goes on by characters; each round has less to compare.
        if changed.len() < old.len() && !changed.is_empty() && !new.is_empty() {
            add_edit(&changed, &new, at, splices);
        } else {
            push(splices, at, &changed, &new);
        }
    }
}

fn split_characters(text: &str) -> Vec<&str> {
    text.split_inclusive(|_: char| true).collect()
}

fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn is_comparable(parts: &(Vec<&str>, Vec<&str>), most: usize) -> bool {
    parts.0.len().saturating_mul(parts.1.len()) <= most
}

/// Stretches that differ: where (in units), what stands there, what comes.
fn changed_parts((old, new): &(Vec<&str>, Vec<&str>), offset: u32) -> Vec<(u32, String, String)> {
    let mut changed = Vec::new();
    let mut at = offset;
    for operation in capture_diff_slices(Algorithm::Myers, old, new) {
        let before = old[operation.old_range()].concat();
        let length = units_of(&before);
        if !matches!(operation, DiffOp::Equal { .. }) {
            changed.push((at, before, new[operation.new_range()].concat()));
        }
        at += length;
    }
    changed
}

fn push(splices: &mut Vec<Splice>, at: u32, old: &str, new: &str) {
    splices.push(Splice {
        at,
        remove: units_of(old),
        insert: new.to_owned(),
    });
}

/// Bytes of the common beginning, whole characters.
fn common_front(old: &str, new: &str) -> usize {
    let pairs = old.chars().zip(new.chars());
    pairs
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one.len_utf8())
        .sum()
}

/// Bytes of the common end, whole characters.
fn common_back(old: &str, new: &str) -> usize {
    let pairs = old.chars().rev().zip(new.chars().rev());
    pairs
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one.len_utf8())
        .sum()
}

/// Where things other than characters stand, counted in units of the characters before them.
fn places_of_others<T: ReadTxn>(txn: &T, text: &TextRef) -> Vec<u32> {
    let shown = units_of(&text.get_string(txn));
    if shown == text.len(txn) {
        return Vec::new();
    }
    // The library's own description of a text lists all open formats with every piece, which a hostile text makes as many
    // as it has pieces.
    let state = txn.encode_state_as_update_v1(&StateVector::default());
    let own = text.hook().id().clone();
    let offsets = find_embeds(&state).into_iter().filter_map(|embed| {
        let offset = StickyIndex::from_id(embed, Assoc::After).get_offset(txn)?;
        (offset.branch.id() == own).then_some(offset.index)
    });
    let mut indices: Vec<u32> = offsets.collect();
    indices.sort_unstable();
    (0..)
        .zip(indices)
        .map(|(before, index)| index - before)
        .collect()
}

/// How many other things stand before or at a place.
fn count_up_to(others: &[u32], place: u32) -> u32 {
    others.partition_point(|other| *other <= place) as u32
}

fn remove(txn: &mut TransactionMut<'_>, text: &TextRef, others: &[u32], from: u32, to: u32) {
    let start = from + count_up_to(others, from);
    let length = (to - from).min(text.len(txn).saturating_sub(start));
    if length > 0 {
        text.remove_range(txn, start, length);
    }
}

#[cfg(test)]
mod tests {
    use yrs::types::Attrs;
    use yrs::updates::decoder::Decode;
    use yrs::{Any, Doc, Transact, Update};

    use super::*;
    use crate::document::layout::open_document;
    use crate::work::WorkKind;

    fn document(content: &str) -> (Doc, TextRef) {
        let (doc, roots) = open_document(WorkKind::Text);
        let text = roots.text.expect("a text");
        text.insert(&mut doc.transact_mut(), 0, content);
        (doc, text)
    }

    fn replace(find: &str, replace: &str) -> TextReplacement {
        TextReplacement {
            find: find.into(),
            replace: replace.into(),
        }
    }

    #[test]
    fn only_what_differs_is_written() {
        let edit = smallest_edit("the red hill at dawn", "the blue hill at dawn");
        let removed: u32 = edit.iter().map(|splice| splice.remove).sum();
        assert!(removed <= 3 && edit.iter().all(|splice| splice.at >= 4 && splice.at <= 7));
        assert_eq!(smallest_edit("same", "same"), []);
        let insert = smallest_edit("ab", "a😀b");
        assert_eq!(
            insert,
            [Splice {
                at: 1,
                remove: 0,
                insert: "😀".into()
            }]
        );
    }

    #[test]
    fn any_text_becomes_any_other() {
        let words = ["", "a", "😀", "😁", "é", "line\n", "aaa", "😀😁"];
        let seed = uuid::Uuid::new_v4().as_u128() as u64 | 1;
        eprintln!("seed {seed}");
        let mut random = seed;
        let mut make = || -> String {
            (0..12)
                .map(|_| {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    words[random as usize % words.len()]
                })
                .collect()
        };
        for _ in 0..500 {
            let (old, new) = (make(), make());
            let (doc, text) = document(&old);
            set_text(&mut doc.transact_mut(), &text, &new);
            assert_eq!(text.get_string(&doc.transact()), new, "from {old:?}");
        }
    }

    #[test]
    fn a_large_rewrite_keeps_the_lines_that_stay() {
        let lines: Vec<String> = (0..3_000).map(|line| format!("line {line}\n")).collect();
        let old = lines.concat();
        let new = old
            .replace("line 7\n", "seven\n")
            .replace("line 2900\n", "");
        let edit = smallest_edit(&old, &new);
        assert!(
            edit.iter().map(|splice| splice.remove).sum::<u32>() < 20,
            "{} splices",
            edit.len()
        );
        let (doc, text) = document(&old);
        set_text(&mut doc.transact_mut(), &text, &new);
        assert_eq!(text.get_string(&doc.transact()), new);
    }

    #[test]
    fn two_rewrites_of_different_words_both_survive() {
        let (one, text) = document("the red hill at dawn");
        let (other, _) = open_document(WorkKind::Text);
        let state = one
            .transact()
            .encode_state_as_update_v1(&StateVector::default());
        let update = Update::decode_v1(&state).expect("decodes");
        other.transact_mut().apply_update(update).expect("applies");
        let theirs = other.get_or_insert_text("text");
        set_text(&mut one.transact_mut(), &text, "the blue hill at dawn");
        set_text(&mut other.transact_mut(), &theirs, "the red hill at dusk");
        let state = other
            .transact()
            .encode_state_as_update_v1(&StateVector::default());
        let update = Update::decode_v1(&state).expect("decodes");
        one.transact_mut().apply_update(update).expect("applies");
        assert_eq!(text.get_string(&one.transact()), "the blue hill at dusk");
    }

    #[test]
    fn embeds_of_editors_stay() {
        let (doc, text) = document("one two three");
        let mut txn = doc.transact_mut();
        text.insert_embed(&mut txn, 5, Any::from(true));
        set_text(&mut txn, &text, "one 2 three!");
        assert_eq!(text.get_string(&txn), "one 2 three!");
        assert_eq!(text.len(&txn), 13);
    }

    #[test]
    fn a_text_with_thousands_of_open_formats_is_edited_as_any_other() {
        let (doc, text) = document(&"a".repeat(8_000));
        let mut txn = doc.transact_mut();
        for format in 0..8_000_u32 {
            let attributes = Attrs::from([(format!("format-{format}").into(), Any::from(true))]);
            let length = text.len(&txn);
            text.format(&mut txn, length - 1, 1, attributes);
        }
        text.insert_embed(&mut txn, 4_000, Any::from(true));
        text.insert_embed(&mut txn, 10, Any::from(true));
        let new = format!("{}b{}", "a".repeat(4_000), "a".repeat(3_999));
        set_text(&mut txn, &text, &new);
        assert_eq!(text.get_string(&txn), new);
        assert_eq!(text.len(&txn), 8_002);
    }

    #[test]
    fn replacements_are_all_found_before_any_is_made() {
        let text = "aaa b 😀 c";
        let not_unique = |find: &str, occurrences| TextRefusal::NotUnique {
            find: find.into(),
            occurrences,
        };
        let plan = |replacements: &[TextReplacement]| plan_replacements(text, replacements);
        assert_eq!(plan(&[replace("x", "y")]), Err(not_unique("x", 0)));
        assert_eq!(plan(&[replace("aa", "y")]), Err(not_unique("aa", 2)));
        assert_eq!(
            plan(&[replace("b", "x"), replace("x", "y")]),
            Err(not_unique("x", 0))
        );
        assert!(matches!(
            plan(&[replace("", "y")]),
            Err(TextRefusal::Invalid(_))
        ));
        let overlapping = [replace("b 😀", "y"), replace("😀 c", "z")];
        assert!(matches!(plan(&overlapping), Err(TextRefusal::Invalid(_))));
        let (doc, shared) = document(text);
        let splices = plan(&[replace("c", "C"), replace("b", "bee"), replace("😀", "😁")]);
        let mut txn = doc.transact_mut();
        apply_splices(&mut txn, &shared, &splices.expect("unique"));
        assert_eq!(shared.get_string(&txn), "aaa bee 😁 C");
    }
}
