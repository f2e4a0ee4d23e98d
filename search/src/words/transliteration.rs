//! Russian typed in Latin letters.
//!
//! Not here: whether a word is meant so; the index decides that, by whether it knows the Latin form.

use frostem::{Algorithm, Stemmer};

/// Latin spellings, longer ones first.
const SPELLINGS: &[(&str, &str)] = &[
    ("shch", "щ"),
    ("sch", "щ"),
    ("yo", "е"),
    ("jo", "е"),
    ("zh", "ж"),
    ("kh", "х"),
    ("ts", "ц"),
    ("ch", "ч"),
    ("sh", "ш"),
    ("yu", "ю"),
    ("ju", "ю"),
    ("ya", "я"),
    ("ja", "я"),
    ("a", "а"),
    ("b", "б"),
    ("c", "ц"),
    ("d", "д"),
    ("e", "е"),
    ("f", "ф"),
    ("g", "г"),
    ("h", "х"),
    ("i", "и"),
    ("j", "й"),
    ("k", "к"),
    ("l", "л"),
    ("m", "м"),
    ("n", "н"),
    ("o", "о"),
    ("p", "п"),
    ("r", "р"),
    ("s", "с"),
    ("t", "т"),
    ("u", "у"),
    ("v", "в"),
    ("w", "в"),
    ("x", "кс"),
    ("y", "ы"),
    ("z", "з"),
    ("'", "ь"),
];

/// The stem of the Russian word that a Latin one spells; none where it holds anything but Latin letters, or is too short
/// to mean anything.
pub(super) fn in_cyrillic(word: &str) -> Option<String> {
    if word.len() < 4 {
        return None;
    }
    let mut rest = word;
    let mut spelt = String::new();
    while !rest.is_empty() {
        let (latin, cyrillic) = SPELLINGS
            .iter()
            .find(|(latin, _)| rest.starts_with(latin))?;
        let is_glide = *latin == "y" && spelt.ends_with(['а', 'е', 'и', 'о', 'у', 'ы']);
        spelt.push_str(if is_glide { "й" } else { cyrillic });
        rest = &rest[latin.len()..];
    }
    Some(Stemmer::new(Algorithm::Russian).stem(&spelt).into_owned())
}
