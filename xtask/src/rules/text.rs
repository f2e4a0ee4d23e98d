//! Rules about files as they are read: headers, length, names, words that do not belong.

use super::Violation;
use super::source::Source;

/// The most lines that a file of code may have.
const LONGEST: usize = 500;

/// Files that say nothing about what they hold.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc"];

/// Words that stand for work left undone.
const LEFT_OPEN: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!("),
    concat!("unimpl", "emented!("),
    concat!("#[ig", "nore"),
];

/// Places of somebody's machine; the second part says what is wrong with them.
const PLACES: &[&str] = &[
    concat!("/wo", "rk/main"),
    concat!("/wo", "rk/wt"),
    concat!("/wo", "rk/shared"),
    concat!("/wo", "rk/."),
    concat!("/fa", "rm/"),
    concat!("/tmp/", "brief"),
    concat!("/ho", "me/"),
];

/// Hosts that a lock file may name.
const REGISTRIES: &[&str] = &[
    "https://registry.npmjs.org/",
    "https://github.com/rust-lang/",
];

/// Checks one file.
pub(crate) fn check(source: &Source) -> Vec<Violation> {
    let is_lock = source.path.ends_with("Cargo.lock") || source.path.ends_with("package-lock.json");
    if is_lock {
        return registries(source);
    }
    let mut violations = places(source);
    if source.has_extension(&["rs", "ts", "tsx", "mjs", "css"]) {
        violations.extend(header(source));
        violations.extend(length(source));
        violations.extend(name(source));
        violations.extend(left_open(source));
    }
    violations
}

fn header(source: &Source) -> Option<Violation> {
    let first = source.text.lines().next().unwrap_or_default();
    let (opening, says) = if source.has_extension(&["rs"]) {
        ("//!", first.strip_prefix("//! "))
    } else {
        ("/**", first.strip_prefix("/** "))
    };
    // One letter is a placeholder, not a header.
    let is_header = first == "/**" || says.is_some_and(|says| says.trim().len() > 1);
    (!is_header).then(|| {
        let text = format!(
            "open with `{opening}`: what the file is for, its invariants, what is not here"
        );
        source.violation(1, text)
    })
}

fn length(source: &Source) -> Option<Violation> {
    let lines = source.text.lines().count();
    (lines > LONGEST).then(|| {
        let text = format!("{lines} lines are more than {LONGEST}; split the file by noun");
        source.violation(LONGEST + 1, text)
    })
}

fn name(source: &Source) -> Option<Violation> {
    let parts = source.path.split(['/', '.']);
    let says_nothing = |part: &str| EMPTY_NAMES.contains(&part) || part.starts_with("new_");
    let part = parts.into_iter().find(|part| says_nothing(part))?;
    Some(source.violation(
        1,
        format!("`{part}` does not say what is in the file; name it by its noun"),
    ))
}

fn left_open(source: &Source) -> Vec<Violation> {
    let found = LEFT_OPEN.iter().flat_map(|word| {
        let text = format!("`{word}`: finish it, or leave it out");
        // In quotes it is a name of the contract.
        let quoted = format!("\"{word}\"");
        let masked = source.text.replace(&quoted, &" ".repeat(quoted.len()));
        source.at_each(&masked, word, &text)
    });
    found.collect()
}

fn places(source: &Source) -> Vec<Violation> {
    let found = PLACES.iter().flat_map(|place| {
        let text = format!(
            "`{place}` is a place of one machine; the project's files speak of the project alone"
        );
        source.at_each(&source.text, place, &text)
    });
    found.collect()
}

fn registries(source: &Source) -> Vec<Violation> {
    let lines = source.text.lines().enumerate();
    lines
        .filter(|(_, line)| {
            line.contains("\"resolved\"") || line.trim_start().starts_with("source =")
        })
        .filter(|(_, line)| !REGISTRIES.iter().any(|registry| line.contains(registry)))
        .map(|(index, _)| {
            source.violation(index + 1, "locked to a registry that others may not reach")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(path: &str, text: &str) -> Vec<String> {
        let source = Source::new(path, text.to_owned());
        check(&source)
            .into_iter()
            .map(|violation| violation.text)
            .collect()
    }

    #[track_caller]
    fn breaks(path: &str, text: &str, part: &str) {
        let found = violations(path, text);
        assert!(found.len() == 1 && found[0].contains(part), "{found:?}");
    }

    #[test]
    fn a_well_kept_file_breaks_no_rule() {
        assert!(violations("domain/src/lease.rs", "//! Leases.\nfn f() {}\n").is_empty());
        assert!(violations("web/src/board.ts", "/** The board. */\n").is_empty());
        assert!(violations("web/src/board.ts", "/**\n * The board.\n */\n").is_empty());
    }

    #[test]
    fn a_file_without_a_header_is_found() {
        breaks("a.rs", "fn f() {}\n", "open with");
        breaks("a.rs", "//! x\n", "open with");
        breaks("a.tsx", "// The board.\n", "open with");
        breaks("a.rs", "", "open with");
    }

    #[test]
    fn a_file_of_501_lines_is_too_long() {
        let text = |lines: usize| format!("//! Long.\n{}", "a\n".repeat(lines - 1));
        assert!(violations("a.rs", &text(500)).is_empty());
        breaks("a.rs", &text(501), "501 lines");
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        breaks("api/src/utils.rs", "//! Things.\n", "utils");
        breaks("api/src/new_queue.rs", "//! A queue.\n", "new_queue");
        assert!(violations("api/src/commonplace.rs", "//! A word.\n").is_empty());
    }

    #[test]
    fn work_left_open_is_found() {
        for word in LEFT_OPEN {
            breaks("a.rs", &format!("//! Header.\n// {word}\n"), "finish it");
        }
    }

    #[test]
    fn places_of_one_machine_are_found_in_any_text() {
        for place in PLACES {
            breaks(
                "README.md",
                &format!("see {place}/design.md"),
                "one machine",
            );
        }
    }

    #[test]
    fn lock_files_name_public_registries_only() {
        let public = "\"resolved\": \"https://registry.npmjs.org/yjs/-/yjs-13.tgz\"";
        assert!(violations("web/package-lock.json", public).is_empty());
        breaks(
            "web/package-lock.json",
            "\"resolved\": \"http://10.0.0.1/yjs.tgz\"",
            "registry",
        );
        breaks(
            "Cargo.lock",
            "source = \"registry+http://10.0.0.1/index\"",
            "registry",
        );
    }
}
