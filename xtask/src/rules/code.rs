//! Rules about Rust code: who may read the clock and the environment, begin a transaction, or name another crate.

use super::Violation;
use super::source::Source;

/// Something that only some files may say.
struct Rule {
    /// What is looked for, in code without comments and strings.
    needles: &'static [&'static str],
    /// Where the rule holds: beginnings of paths.
    within: &'static [&'static str],
    /// Files and folders that may, each with the reason.
    except: &'static [(&'static str, &'static str)],
    /// What to do instead.
    instead: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        needles: &["SystemTime::now", "Utc::now", "Local::now"],
        within: &[
            "domain/",
            "storage/",
            "search/",
            "runtime/",
            "api/",
            "migrations/",
        ],
        except: &[(
            "domain/src/time.rs",
            "the clock that everything else is handed",
        )],
        instead: "take a Timestamp or a Clock: a command may run again, and tests move the clock",
    },
    Rule {
        needles: &["Instant::now"],
        within: &["domain/"],
        except: &[
            (
                "domain/src/time.rs",
                "the clock that everything else is handed",
            ),
            (
                "domain/src/document/",
                "how long replicas have been idle and changes have waited is no stored state",
            ),
        ],
        instead: "take a Timestamp or a Clock; where real time is meant, add the file here with the reason",
    },
    Rule {
        needles: &["env::var", "env::vars", "env::args", "set_var("],
        within: &[
            "domain/",
            "storage/",
            "search/",
            "runtime/",
            "api/",
            "migrations/",
        ],
        except: &[
            ("api/src/config", "configuration is read here, once"),
            ("api/src/main.rs", "the program's own arguments"),
            (
                "api/build.rs",
                "cargo tells a build script everything through the environment",
            ),
            (
                "storage/src/faults.rs",
                "a test tells a process where to fail",
            ),
            (
                "storage/src/test_support",
                "tests find their PostgreSQL there",
            ),
        ],
        instead: "take it from the configuration: a variable that is read elsewhere is in no table and no file",
    },
    Rule {
        needles: &[
            ".begin()",
            ".begin_with",
            ".commit()",
            ".transaction(",
            ".transaction_with",
        ],
        within: &["domain/", "storage/", "runtime/", "api/"],
        except: &[("storage/src/store", "the one runner of commands")],
        instead: "hand a command to the store: it alone begins, commits and retries",
    },
    Rule {
        needles: &["println!", "eprintln!", "print!(", "eprint!("],
        within: &[
            "domain/",
            "storage/",
            "search/",
            "runtime/",
            "api/",
            "migrations/",
        ],
        except: &[
            (
                "api/src/main.rs",
                "what the program says to the person who started it",
            ),
            (
                "api/src/command",
                "what the program says to the person who started it",
            ),
            ("api/build.rs", "that is how a build script speaks to cargo"),
        ],
        instead: "log it with tracing, or return it",
    },
    Rule {
        needles: &["sea_orm::", "sea_orm_migration::", "sqlx::"],
        within: &["domain/", "search/", "runtime/", "api/"],
        except: &[],
        instead: "only storage and migrations know the database; use a port of the domain",
    },
    Rule {
        needles: &["axum::", "async_graphql::", "tower_http::"],
        within: &["domain/", "storage/", "search/", "runtime/", "migrations/"],
        except: &[],
        instead: "only api serves HTTP and GraphQL",
    },
    Rule {
        needles: &["async_graphql::"],
        within: &["api/src/"],
        except: &[
            ("api/src/graphql", "the GraphQL part of the server"),
            (
                "api/src/test_support",
                "fields that the conformance checks ask for",
            ),
        ],
        instead: "GraphQL stays in api/src/graphql",
    },
    Rule {
        needles: &["tantivy::"],
        within: &["domain/", "storage/", "runtime/", "api/"],
        except: &[],
        instead: "only search knows its index; use the port of the domain",
    },
    Rule {
        needles: &["storage::"],
        within: &["api/src/"],
        except: &[
            ("api/src/main.rs", "it wires the parts together"),
            ("api/src/wiring", "the wiring of main.rs"),
            ("api/src/command", "the commands that main.rs dispatches to"),
        ],
        instead: "name the port of the domain; only the wiring knows who implements it",
    },
];

/// Checks one file.
pub(crate) fn check(source: &Source) -> Vec<Violation> {
    let rules = RULES.iter().filter(|rule| rule.holds_for(source));
    rules.flat_map(|rule| rule.check(source)).collect()
}

impl Rule {
    fn holds_for(&self, source: &Source) -> bool {
        let path = source.path.as_str();
        let is_within = self.within.iter().any(|folder| path.starts_with(folder));
        let is_excepted = self.except.iter().any(|(file, _)| path.starts_with(file));
        is_within && !is_excepted && source.has_extension(&["rs"])
    }

    fn check(&self, source: &Source) -> Vec<Violation> {
        let lines = source.production().lines().enumerate();
        let found = lines.filter_map(|(index, line)| {
            let needle = self.needles.iter().find(|needle| names(line, needle))?;
            let text = format!("`{}`: {}", needle.trim_end_matches('('), self.instead);
            Some(source.violation(index + 1, text))
        });
        found.collect()
    }
}

/// Whether a line holds the needle, not as the end of a longer name (`api_storage::`, `self::storage::`).
fn names(line: &str, needle: &str) -> bool {
    let is_boundary = |at: usize| {
        let before = line[..at].chars().next_back();
        let continues = |c: char| c.is_alphanumeric() || c == '_';
        let is_path = needle.ends_with("::") && line[..at].ends_with("::");
        needle.starts_with('.') || !(before.is_some_and(continues) || is_path)
    };
    line.match_indices(needle).any(|(at, _)| is_boundary(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(path: &str, text: &str) -> usize {
        check(&Source::new(path, text.to_owned())).len()
    }

    #[test]
    fn the_clock_is_read_in_one_place() {
        let text = "let now = SystemTime::now();";
        assert_eq!(violations("domain/src/people/token.rs", text), 1);
        assert_eq!(violations("domain/src/time.rs", text), 0);
        assert_eq!(violations("domain/src/a.rs", "// not SystemTime::now()"), 0);
        assert_eq!(
            violations("domain/src/a.rs", "f(std::time::Instant::now())"),
            1
        );
        assert_eq!(
            violations("api/src/a.rs", "f(std::time::Instant::now())"),
            0
        );
    }

    #[test]
    fn the_environment_is_read_by_the_configuration() {
        let text = "let level = std::env::var(\"LEVEL\");";
        assert_eq!(violations("api/src/assets.rs", text), 1);
        assert_eq!(violations("api/src/config/mod.rs", text), 0);
        assert_eq!(violations("tests/main.rs", text), 0);
    }

    #[test]
    fn only_the_store_begins_and_commits() {
        let text = "let tx = connection.begin().await?;\ntx.commit().await?;";
        assert_eq!(violations("storage/src/works.rs", text), 2);
        assert_eq!(violations("storage/src/store/runner.rs", text), 0);
    }

    #[test]
    fn only_the_program_prints() {
        assert_eq!(violations("domain/src/a.rs", "println!(\"\");"), 1);
        assert_eq!(violations("domain/src/a.rs", "eprintln!(\"\");"), 1);
        assert_eq!(violations("api/src/main.rs", "println!(\"\");"), 0);
        assert_eq!(
            violations("domain/src/a.rs", "#[cfg(test)]\nmod tests { println!(); }"),
            0
        );
    }

    #[test]
    fn crates_name_only_what_lies_below_them() {
        assert_eq!(violations("domain/src/a.rs", "use sea_orm::DbErr;"), 1);
        assert_eq!(violations("storage/src/a.rs", "use sea_orm::DbErr;"), 0);
        assert_eq!(violations("storage/src/a.rs", "use axum::Router;"), 1);
        assert_eq!(violations("runtime/src/a.rs", "use axum::Router;"), 1);
        assert_eq!(violations("api/src/sync/a.rs", "use async_graphql::ID;"), 1);
        assert_eq!(
            violations("api/src/graphql/a.rs", "use async_graphql::ID;"),
            0
        );
        assert_eq!(violations("api/src/a.rs", "use storage::Store;"), 1);
        assert_eq!(violations("api/src/main.rs", "use storage::Store;"), 0);
    }

    #[test]
    fn a_module_of_the_same_name_is_another_thing() {
        assert_eq!(violations("api/src/a.rs", "use domain::storage::Port;"), 0);
        assert_eq!(violations("api/src/a.rs", "use my_storage::Port;"), 0);
    }
}
