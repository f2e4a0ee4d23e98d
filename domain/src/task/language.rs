//! The language that somebody writes in, told from the script, and for Russian in Latin letters from its commonest words.
//!
//! Invariants
//! - The same text gives the same language, everywhere and at every time.
//!
//! Not here: telling languages of one script apart; whoever needs that names the language.

use crate::error::{Error, Result};

/// The longest language tag that is taken.
const TAG_LIMIT: usize = 35;

/// The language of a text as a BCP 47 tag: Russian for Cyrillic, Chinese for Han, English for everything else.
///
/// People mix Latin names into other scripts and hardly ever the other way round, so a letter of another script weighs more;
/// a Han character is a word.
pub fn detect_language(text: &str) -> &'static str {
    let (mut latin, mut cyrillic, mut han) = (0_usize, 0_usize, 0_usize);
    for letter in text.chars() {
        match letter {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => latin += 1,
            '\u{400}'..='\u{52f}' => cyrillic += 2,
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3134f}' => {
                han += 4;
            }
            _ => {}
        }
    }
    if cyrillic == 0 && han == 0 && is_russian_in_latin(text) {
        return "ru";
    }
    if han > latin && han > cyrillic {
        "zh"
    } else if cyrillic > latin {
        "ru"
    } else {
        "en"
    }
}

/// Words of nearly every Russian sentence as people type them in Latin letters; none is a word of another language that people write here.
const RUSSIAN_IN_LATIN: &[&str] = &[
    "chto",
    "shto",
    "chtoby",
    "eto",
    "etot",
    "eta",
    "kak",
    "skolko",
    "gde",
    "kogda",
    "pochemu",
    "zachem",
    "nas",
    "nam",
    "vas",
    "vam",
    "menya",
    "mne",
    "tebya",
    "ego",
    "ona",
    "oni",
    "dlya",
    "tolko",
    "ochen",
    "uzhe",
    "eshche",
    "esche",
    "eshe",
    "seichas",
    "sejchas",
    "seychas",
    "teper",
    "potom",
    "zavtra",
    "segodnya",
    "nado",
    "nuzhno",
    "nuzhen",
    "nuzhna",
    "mozhno",
    "pozhaluista",
    "pozhaluysta",
    "spasibo",
    "privet",
    "davai",
    "davay",
    "pust",
    "esli",
    "ili",
    "tozhe",
    "budet",
    "byl",
    "bylo",
    "sdelai",
    "sdelay",
    "dobav",
    "uberi",
    "pomenyai",
    "pomenyay",
    "narisui",
    "narisuy",
    "napishi",
    "pokazhi",
    "odnu",
    "odin",
    "odna",
    "vse",
    "vsyo",
    "bolshe",
    "menshe",
    "luchshe",
    "khochu",
    "hochu",
];

/// Whether Russian is typed in Latin letters: at least two such words, and one in six.
fn is_russian_in_latin(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = lower
        .split(|letter: char| !letter.is_alphabetic())
        .filter(|word| !word.is_empty());
    let (mut known, mut all) = (0_usize, 0_usize);
    for word in words {
        all += 1;
        known += usize::from(RUSSIAN_IN_LATIN.contains(&word));
    }
    known > 1 && known * 6 >= all
}

/// Refuses what can not be a BCP 47 tag, such as `ru` or `zh-Hant`.
pub(crate) fn check_language(tag: &str) -> Result<()> {
    let is_part = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let starts_well = tag.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if tag.len() <= TAG_LIMIT && starts_well && tag.split('-').all(is_part) {
        return Ok(());
    }
    Err(Error::Invalid(
        "a language is named by a BCP 47 tag, such as ru, en or zh-Hant".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_told_by_its_script() {
        for (text, language) in [
            ("Make three posters", "en"),
            ("Serie de affiches d\u{2019}été", "en"),
            ("Сделай серию постеров", "ru"),
            ("Постер для Nike Air Max", "ru"),
            ("为电影制作三张海报", "zh"),
            ("做一个 storyboard", "zh"),
            ("Compare Москва with the other cities", "en"),
            ("skolko u nas seichas poz u ezha? i dobav eshche odnu", "ru"),
            ("Compare the poses, I need one more", "en"),
            ("42!", "en"),
            ("", "en"),
        ] {
            assert_eq!(detect_language(text), language, "{text}");
        }
    }

    #[test]
    fn only_tags_are_languages() {
        for tag in ["ru", "en-GB", "zh-Hant-TW"] {
            assert!(check_language(tag).is_ok(), "{tag}");
        }
        for wrong in [
            "",
            "-",
            "en_GB",
            "русский",
            "en-",
            "1",
            "abcdefghi",
            &"a-".repeat(20),
        ] {
            assert!(check_language(wrong).is_err(), "{wrong}");
        }
    }
}
