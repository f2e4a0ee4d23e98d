//! Estimated tokens: what budgets of a request are kept by. Providers count in their own ways, and report it.

/// Hundredths of a token that a character costs: a Latin letter about a quarter, a Cyrillic one less than a half, a Chinese one
/// most of a token.
fn hundredths(character: char) -> u64 {
    match character {
        '\0'..='\u{7f}' => 27,
        '\u{80}'..='\u{2ff}' => 35,
        '\u{300}'..='\u{52f}' => 42,
        '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' => 80,
        _ => 70,
    }
}

/// Estimated tokens of a text.
pub fn tokens(text: &str) -> u32 {
    let sum: u64 = text.chars().map(hundredths).sum();
    u32::try_from(sum.div_ceil(100)).unwrap_or(u32::MAX)
}

/// The beginning of a text that has at most this many characters, with a mark where it was cut.
#[must_use]
pub fn cut(text: &str, characters: usize) -> String {
    let mut indices = text.char_indices();
    match indices.nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
