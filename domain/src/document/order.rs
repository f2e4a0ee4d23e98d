//! Fractional order keys: base-62 texts (`0-9A-Za-z`), compared by bytes, with room between any two.
//!
//! Invariants
//! - A key made here never ends in `0`, so that there is always room in front of it.
//! - Keys made one after another at the end stay short: they count up in four digits.
//! - A key of another editor is never trusted to leave room: where there is none, the caller gets none and re-keys.

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Digits that the ends count in: room for millions of nodes on each side.
const COUNTED: usize = 4;

/// A key between two others; a missing one is the end of the list on its side. None where they leave no room.
pub(crate) fn between(before: Option<&str>, after: Option<&str>) -> Option<String> {
    let key = match (before, after) {
        (None, None) => Some("V".to_owned()),
        (Some(before), None) => digits(before).and_then(|digits| step(&digits, Step::Up)),
        (None, Some(after)) => digits(after).and_then(|digits| step(&digits, Step::Down)),
        (Some(_), Some(_)) => None,
    };
    let is_between = |key: &String| {
        before.is_none_or(|before| before < key.as_str())
            && after.is_none_or(|after| key.as_str() < after)
    };
    key.filter(is_between)
        .or_else(|| midpoint(before.unwrap_or(""), after))
        .filter(is_between)
}

/// So many rising keys between two others; none where they leave no room.
pub(crate) fn spread(
    before: Option<&str>,
    after: Option<&str>,
    count: usize,
) -> Option<Vec<String>> {
    let mut keys = Vec::with_capacity(count);
    match (before, after) {
        (_, None) => {
            for _ in 0..count {
                let last = keys.last().map(String::as_str).or(before);
                keys.push(between(last, None)?);
            }
        }
        (None, Some(_)) => {
            for _ in 0..count {
                let first = keys.last().map(String::as_str).or(after);
                keys.push(between(None, first)?);
            }
            keys.reverse();
        }
        (Some(before), Some(after)) => halve(before, after, count, &mut keys)?,
    }
    Some(keys)
}

/// Keys for a node that goes into a sorted list, and for the nodes around it that have to move over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The key of the node.
    pub(crate) key: String,
    /// Place in the list and new key of as few others as needed.
    pub(crate) others: Vec<(usize, String)>,
}

/// Places a node before the one at `index` of a list of sorted keys; a node without a key is one at its end.
pub(crate) fn place(orders: &[Option<&str>], index: usize) -> Placed {
    let mut start = index;
    // Nodes without a key sort last: all before the new one need one, or it would come in front of them.
    while start > 0 && orders[start - 1].is_none() {
        start -= 1;
    }
    let mut end = index;
    loop {
        let before = start.checked_sub(1).and_then(|place| orders[place]);
        let after = orders.get(end).copied().flatten();
        let has_room = before
            .zip(after)
            .is_none_or(|(before, after)| before < after);
        let keys = has_room
            .then(|| spread(before, after, end - start + 1))
            .flatten();
        if let Some(keys) = keys {
            return split(keys, start, index);
        }
        if end < orders.len() {
            end += 1;
        } else {
            // With nothing left on either side there is room for any number.
            start = start.saturating_sub(1 + (end - start) / 2);
        }
    }
}

fn split(mut keys: Vec<String>, start: usize, index: usize) -> Placed {
    let key = keys.remove(index - start);
    Placed {
        key,
        others: (start..).zip(keys).collect(),
    }
}

fn halve(before: &str, after: &str, count: usize, keys: &mut Vec<String>) -> Option<()> {
    if count == 0 {
        return Some(());
    }
    let middle = between(Some(before), Some(after))?;
    halve(before, &middle, count / 2, keys)?;
    keys.push(middle.clone());
    halve(&middle, after, count - 1 - count / 2, keys)
}

/// The values of a key's digits; none where it is not base-62.
fn digits(key: &str) -> Option<Vec<u8>> {
    key.bytes().map(digit).collect()
}

fn digit(byte: u8) -> Option<u8> {
    DIGITS.binary_search(&byte).ok().map(|place| place as u8)
}

fn text(digits: &[u8]) -> String {
    digits
        .iter()
        .map(|digit| char::from(DIGITS[usize::from(*digit)]))
        .collect()
}

#[derive(Clone, Copy)]
enum Step {
    Up,
    Down,
}

/// The next or last number in the counted digits; none where counting ends.
fn step(digits: &[u8], step: Step) -> Option<String> {
    let padded = digits.iter().copied().chain(std::iter::repeat(0));
    let number = padded
        .take(COUNTED)
        .fold(0_u32, |number, digit| number * 62 + u32::from(digit));
    let mut number = match step {
        Step::Up => number
            .checked_add(1)
            .filter(|next| *next < 62_u32.pow(COUNTED as u32))?,
        Step::Down => number.checked_sub(1).filter(|next| *next > 0)?,
    };
    let mut counted = [0_u8; COUNTED];
    for place in counted.iter_mut().rev() {
        *place = (number % 62) as u8;
        number /= 62;
    }
    let length = COUNTED
        - counted
            .iter()
            .rev()
            .take_while(|digit| **digit == 0)
            .count();
    Some(text(&counted[..length]))
}

/// The shortest key between two, as fractions.
fn midpoint(before: &str, after: Option<&str>) -> Option<String> {
    let before = digits(before)?;
    let mut after = after
        .map(digits)
        .map(|digits| digits.ok_or(()))
        .transpose()
        .ok()?;
    let mut key = Vec::new();
    loop {
        let place = key.len();
        let low = before.get(place).copied().unwrap_or(0);
        let high = match &after {
            Some(after) => *after.get(place)?,
            None => 62,
        };
        if high < low {
            return None;
        }
        let middle = u8::midpoint(low, high);
        if middle > low {
            key.push(middle);
            return Some(text(&key));
        }
        if high > low {
            // From here on everything is below the upper key.
            after = None;
        }
        key.push(low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_made_in_sequence_are_short_and_rise() {
        let keys = spread(None, None, 10_000).expect("has room");
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(keys.iter().all(|key| key.len() <= 4 && !key.ends_with('0')));
        let front = spread(None, Some(&keys[0]), 1_000).expect("has room");
        assert!(front.windows(2).all(|pair| pair[0] < pair[1]) && front[999] < keys[0]);
    }

    #[test]
    fn there_is_room_between_any_two_keys_made_here() {
        let seed = uuid::Uuid::new_v4().as_u128() as u64 | 1;
        eprintln!("seed {seed}");
        let mut random = seed;
        let mut keys: Vec<String> = Vec::new();
        for _ in 0..3_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let index = match random % 4 {
                0 => 0,
                1 => keys.len(),
                2 => keys.len() / 2,
                _ => (random >> 8) as usize % (keys.len() + 1),
            };
            let before = index.checked_sub(1).map(|place| keys[place].as_str());
            let after = keys.get(index).map(String::as_str);
            let key = between(before, after).expect("has room");
            assert!(!key.ends_with('0'));
            keys.insert(index, key);
            assert!(keys.is_sorted());
        }
        let longest = keys.iter().map(String::len).max();
        assert!(longest < Some(200), "{longest:?}");
    }

    #[test]
    fn many_keys_fit_into_one_gap_without_growing_long() {
        let keys = spread(Some("V"), Some("V1"), 250).expect("has room");
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(keys[0].as_str() > "V" && keys[249].as_str() < "V1");
        assert!(keys.iter().all(|key| key.len() <= 6), "{keys:?}");
    }

    #[test]
    fn keys_that_leave_no_room_are_told_apart() {
        for (before, after) in [("a", "a"), ("b", "a"), ("a", "a0"), ("~", "ä"), ("", "0")] {
            assert_eq!(between(Some(before), Some(after)), None, "{before} {after}");
        }
        assert_eq!(between(None, Some("")), None);
        assert_eq!(between(Some("zzzz"), None).as_deref(), Some("zzzzV"));
    }

    #[test]
    fn as_few_followers_as_needed_move_over() {
        let orders = [
            Some("a"),
            Some("b"),
            Some("b"),
            Some("b"),
            Some("d"),
            Some("e"),
        ];
        let placed = place(&orders, 2);
        assert!(placed.key.as_str() > "b");
        let moved: Vec<usize> = placed.others.iter().map(|(place, _)| *place).collect();
        assert_eq!(moved, [2, 3]);
        assert!(placed.others[0].1 > placed.key && placed.others[1].1.as_str() < "d");
        assert_eq!(place(&orders, 1).others, []);
    }

    #[test]
    fn nodes_without_a_key_get_one_when_something_comes_behind_them() {
        let orders = [Some("a"), None, None];
        let placed = place(&orders, 2);
        assert_eq!(placed.others.len(), 1);
        assert!(placed.others[0].1.as_str() > "a" && placed.others[0].1 < placed.key);
        assert_eq!(place(&orders, 1).others, []);
    }

    #[test]
    fn garbage_keys_are_replaced_where_nothing_fits_behind_them() {
        let placed = place(&[Some("~"), Some("ä")], 2);
        assert_eq!(placed.others.len(), 2);
        assert!(placed.others.iter().all(|(_, key)| *key < placed.key));
    }
}
