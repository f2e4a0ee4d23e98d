//! Counts tokens and open brackets of a text before it is parsed, because the parser recurses once per bracket.
//!
//! Invariants
//! - Reads each byte once, allocates nothing, recurses never.
//! - Knows strings and comments only so far that brackets inside them do not count; what is no GraphQL is left for the
//!   parser to complain about.

use super::Limits;
use crate::graphql::error::{Code, Refusal};

/// Refuses a text with more tokens or deeper nesting than is allowed.
pub(super) fn scan(text: &str, limits: &Limits) -> Result<(), Refusal> {
    let bytes = text.as_bytes();
    let (mut at, mut tokens, mut open) = (0, 0_usize, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        let end = token_end(bytes, at);
        if !is_ignored(byte) {
            tokens += 1;
        }
        match byte {
            b'{' | b'(' | b'[' => open += 1,
            b'}' | b')' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        if tokens > limits.tokens {
            return Err(too_complex(format!(
                "the document has more than {} tokens",
                limits.tokens
            )));
        }
        if open > limits.nesting {
            return Err(too_complex(format!(
                "the document nests brackets more than {} deep",
                limits.nesting
            )));
        }
        at = end;
    }
    Ok(())
}

fn too_complex(message: String) -> Refusal {
    Refusal::document(Code::QueryTooComplex, message)
}

const fn is_ignored(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b'\r' | b',' | b'#' | 0xEF | 0xBB | 0xBF
    )
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+')
}

/// Where the token that starts at `at` ends; always beyond `at`.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let length = match rest[0] {
        b'#' => rest
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(rest.len()),
        b'"' if rest.starts_with(b"\"\"\"") => block_string_length(rest),
        b'"' => string_length(rest),
        b'.' if rest.starts_with(b"...") => 3,
        byte if is_word(byte) => rest
            .iter()
            .position(|byte| !is_word(*byte))
            .unwrap_or(rest.len()),
        _ => 1,
    };
    at + length.max(1)
}

fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            // An ordinary string may not span lines; what follows is looked at again.
            b'\n' | b'\r' => return at,
            _ => at += 1,
        }
    }
    rest.len()
}

fn block_string_length(rest: &[u8]) -> usize {
    let mut at = 3;
    while at < rest.len() {
        if rest[at..].starts_with(b"\\\"\"\"") {
            at += 4;
        } else if rest[at..].starts_with(b"\"\"\"") {
            return at + 3;
        } else {
            at += 1;
        }
    }
    // Without an end the parser reads an empty string here, and goes on with whatever follows it.
    2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> Result<(), String> {
        scan(
            text,
            &Limits {
                tokens: 12,
                nesting: 3,
                ..Limits::default()
            },
        )
        .map_err(|refusal| refusal.message)
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_nest() {
        assert_eq!(verdict("{ a(s: \"{{{{\\\"{{{{\") } # {{{{{\n"), Ok(()));
        assert_eq!(verdict("{ a(s: \"\"\"{{{{ \\\"\"\" {{{{\"\"\") }"), Ok(()));
    }

    #[test]
    fn what_is_over_a_limit_is_refused_however_it_is_written() {
        for text in ["{{{{", "[[[[", "{ a(b: [[1]]) }", "\"\n{{{{"] {
            assert!(
                verdict(text).is_err_and(|message| message.contains("deep")),
                "{text}"
            );
        }
        assert!(verdict("{ a(b: [\"\"\" x\"[[[[").is_err_and(|message| message.contains("deep")));
        assert!(verdict(&"a ".repeat(13)).is_err_and(|message| message.contains("tokens")));
        assert!(verdict(&"!".repeat(13)).is_err_and(|message| message.contains("tokens")));
    }

    #[test]
    fn any_text_is_scanned_to_its_end() {
        for text in [
            "\"",
            "\"\\",
            "\"\"\"",
            "\"\"\"\\",
            "é\u{feff}…",
            "#",
            "..",
            "\\",
        ] {
            assert_eq!(verdict(text), Ok(()), "{text}");
        }
    }
}
