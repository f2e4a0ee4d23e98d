//! The language that somebody writes in, told from the script alone.
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
    if han > latin && han > cyrillic {
        "zh"
    } else if cyrillic > latin {
        "ru"
    } else {
        "en"
    }
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
