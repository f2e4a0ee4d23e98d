//! A file as the rules see it: its text, and its code without comments and strings.
//!
//! Invariants
//! - `code` has the same lines as `text`: what is blanked leaves spaces, so line numbers agree.
//! - `production` ends where the unit tests of the file begin.

use super::Violation;

/// A file of the repository.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the root of the repository, with `/`.
    pub(crate) path: String,
    /// Everything in it.
    pub(crate) text: String,
    /// Rust only: without the content of comments, strings and characters.
    pub(crate) code: String,
}

impl Source {
    /// A file with this path and text.
    pub(crate) fn new(path: &str, text: String) -> Self {
        let code = if has_extension(path, &["rs"]) {
            code_of(&text)
        } else {
            String::new()
        };
        Self {
            path: path.to_owned(),
            text,
            code,
        }
    }

    /// The code before the file's unit tests; nothing where the file is nothing but tests or an example.
    pub(crate) fn production(&self) -> &str {
        let folders = ["/tests/", "/examples/"];
        let is_in = folders.iter().any(|folder| self.path.contains(folder));
        if self.path.ends_with("tests.rs") || is_in {
            return "";
        }
        let tests = self.code.find("#[cfg(test)]\nmod tests {");
        &self.code[..tests.unwrap_or(self.code.len())]
    }

    /// Whether the file's name ends so.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        has_extension(&self.path, extensions)
    }

    /// A violation at each line of `part` that holds `needle`.
    pub(crate) fn at_each(&self, part: &str, needle: &str, text: &str) -> Vec<Violation> {
        let lines = part.lines().enumerate();
        lines
            .filter(|(_, line)| line.contains(needle))
            .map(|(index, _)| self.violation(index + 1, text))
            .collect()
    }

    /// A violation at a line of this file.
    pub(crate) fn violation(&self, line: usize, text: impl Into<String>) -> Violation {
        Violation {
            path: self.path.clone(),
            line,
            text: text.into(),
        }
    }
}

fn has_extension(path: &str, extensions: &[&str]) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| extensions.contains(&extension))
}

/// Blanks what is no code. It need not know all of Rust, only where comments and literals end.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = literal_length(rest, code.chars().next_back());
        if length == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            let (blanked, after) = rest.split_at(length);
            code.extend(blanked.chars().map(|c| if c == '\n' { c } else { ' ' }));
            rest = after;
        }
    }
    code
}

/// How many bytes of a comment or literal start here; 0 where code does.
fn literal_length(rest: &str, before: Option<char>) -> usize {
    let until = |end: &str, from: usize| {
        rest[from..]
            .find(end)
            .map_or(rest.len(), |at| from + at + end.len())
    };
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return until("*/", 2);
    }
    let is_in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if !is_in_word && let Some(length) = raw_string_length(rest, until) {
        return length;
    }
    if rest.starts_with('"') {
        return quoted_length(rest, '"');
    }
    // A character, not a lifetime: `'x'` or `'\…'`.
    let mut after = rest.chars().skip(1);
    let (second, third) = (after.next(), after.next());
    if rest.starts_with('\'') && (second == Some('\\') || third == Some('\'')) {
        return quoted_length(rest, '\'');
    }
    0
}

/// The length of `r"…"` or `r#"…"#` (also with `b` before it), where one starts here.
fn raw_string_length(rest: &str, until: impl Fn(&str, usize) -> usize) -> Option<usize> {
    let tail = rest.strip_prefix('b').unwrap_or(rest).strip_prefix('r')?;
    let hashes = tail.len() - tail.trim_start_matches('#').len();
    tail[hashes..].starts_with('"').then(|| {
        let opening = rest.len() - tail.len() + hashes + 1;
        until(&format!("\"{}", "#".repeat(hashes)), opening)
    })
}

fn quoted_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        Source::new("a.rs", text.to_owned()).code
    }

    #[test]
    fn comments_strings_and_characters_are_blanked() {
        let text = "a(\"x\\\"//\", '\"', b'\\'') // c\n/* d */ e";
        assert_eq!(code(text).split_whitespace().collect::<String>(), "a(,,b)e");
    }

    #[test]
    fn raw_strings_end_at_their_own_mark() {
        assert_eq!(
            code("r#\"a\"b\"# + br\"c\" + car\"d\"").replace(' ', ""),
            "++car"
        );
    }

    #[test]
    fn lifetimes_are_code() {
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = "/* 1\n2 */\n\"3\n4\"\nlast";
        assert_eq!(code(text).lines().nth(4), Some("last"));
    }

    #[test]
    fn unit_tests_are_not_production_code() {
        let source = Source::new(
            "a.rs",
            "used();\n#[cfg(test)]\nmod tests { tested(); }".into(),
        );
        assert_eq!(source.production(), "used();\n");
        let source = Source::new("domain/src/document/tests.rs", "tested();".into());
        assert_eq!(source.production(), "");
    }
}
