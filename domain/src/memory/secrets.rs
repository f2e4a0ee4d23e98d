//! Secrets among words: what must not be remembered, whatever it is good for.
//!
//! Invariants
//! - Rather one memory too few: what looks like a key is one.

/// How keys of providers begin.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "ghp_",
    "gho_",
    "github_pat_",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "glpat-",
    "-----BEGIN",
];
/// What stands before a secret that somebody tells.
const NAMES: &[&str] = &[
    "password",
    "passphrase",
    "api key",
    "secret key",
    "pin code",
    "пароль",
    "пин-код",
    "密码",
    "口令",
];
/// Characters of a token from which it is no word.
const TOKEN: usize = 32;

/// Whether a text holds something that looks like a secret.
pub(super) fn has_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    BEGINNINGS.iter().any(|beginning| text.contains(beginning))
        || NAMES.iter().any(|name| is_told(&lower, name))
        || has_card_number(text)
        || tokens(text).any(is_key)
}

/// Whether a value follows the name of a secret: "password: x", "пароль — x", "密码是x".
fn is_told(lower: &str, name: &str) -> bool {
    lower.match_indices(name).any(|(at, _)| {
        let rest = lower[at + name.len()..].trim_start();
        ["is ", "= ", "=", ":", "：", "—", "- ", "это ", "是"]
            .iter()
            .any(|mark| {
                rest.strip_prefix(mark)
                    .is_some_and(|value| !value.trim().is_empty())
            })
    })
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_+/=".contains(c)))
}

/// A long run of letters and digits that is no id of ours.
fn is_key(token: &str) -> bool {
    let is_id = token.split_once('_').is_some_and(|(noun, rest)| {
        noun.chars().all(|c| c.is_ascii_lowercase())
            && rest.len() == 32
            && rest.chars().all(|c| c.is_ascii_hexdigit())
    });
    token.len() >= TOKEN
        && !is_id
        && token.chars().any(|c| c.is_ascii_digit())
        && token.chars().any(|c| c.is_ascii_alphabetic())
}

/// Thirteen to nineteen digits whose check digit is right.
fn has_card_number(text: &str) -> bool {
    let mut digits: Vec<u32> = Vec::new();
    for character in text.chars().chain(['.']) {
        match character.to_digit(10) {
            Some(digit) => digits.push(digit),
            None if matches!(character, ' ' | '-') => {}
            None => {
                if (13..=19).contains(&digits.len()) && is_checked(&digits) {
                    return true;
                }
                digits.clear();
            }
        }
    }
    false
}

fn is_checked(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => *digit,
            (_, double) if double > 9 => double - 9,
            (_, double) => double,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_one_and_colours_and_ids_are_none() {
        for secret in [
            "The key is sk-live4242424242",
            "my password is hunter2",
            "Пароль: солнце",
            "密码是abc123",
            "card 4111 1111 1111 1111",
            "use ab12cd34ef56ab12cd34ef56ab12cd34ef56",
        ] {
            assert!(has_secret(secret), "{secret}");
        }
        for plain in [
            "Our brand is #0B3D91",
            "The password field stands at the top",
            "see work_0198f3c2a1b47c3d8e9f001122334455",
            "12345 posters in 2026",
        ] {
            assert!(!has_secret(plain), "{plain}");
        }
    }
}
