//! Guides: how things are done well, in three languages, as Markdown (K1). An installation can replace them and add its own.
//!
//! Invariants
//! - What this installation can produce is no text that somebody keeps: it is made from what providers declare (K2).
//! - A guide that is missing in a language is given in English.

use std::path::Path;
use std::sync::Arc;

use domain::job::Price;
use domain::media::Guide;

use super::Providers;

/// The name of the guide that is made from what providers declare.
const CAPABILITIES: &str = "capabilities";
const LANGUAGES: [&str; 3] = ["en", "ru", "zh"];
/// The largest file of a guide.
const LARGEST: u64 = 64 << 10;

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        /// Name, language and text.
        const SHIPPED: &[(&str, &str, &str)] = &[$(
            ($name, "en", include_str!(concat!("../../guides/en/", $name, ".md"))),
            ($name, "ru", include_str!(concat!("../../guides/ru/", $name, ".md"))),
            ($name, "zh", include_str!(concat!("../../guides/zh/", $name, ".md"))),
        )*];
    };
}

shipped!(
    "character_consistency",
    "flows",
    "poster_series",
    "references",
    "remembering",
    "storyboarding",
);

/// Why the guides of an installation can not be used.
#[derive(Debug, thiserror::Error)]
pub enum GuidesError {
    /// The folder or a file can not be read.
    #[error("{0} can not be read")]
    Unreadable(String, #[source] std::io::Error),
    /// A file has another name or form than it must have.
    #[error("{0}: {1}")]
    Misnamed(String, String),
}

/// The guides of an installation.
#[derive(Debug, Clone)]
pub struct Guides(Arc<Vec<Guide>>);

impl Default for Guides {
    /// Those that Atelier brings.
    fn default() -> Self {
        let guide = |(name, language, text): &(&str, &str, &str)| guide(name, language, text);
        Self(Arc::new(SHIPPED.iter().map(guide).collect()))
    }
}

fn guide(name: &str, language: &str, text: &str) -> Guide {
    let heading = text.lines().find_map(|line| line.strip_prefix("# "));
    Guide {
        name: name.to_owned(),
        title: heading.unwrap_or(name).trim().to_owned(),
        language: language.to_owned(),
        markdown: text.to_owned(),
    }
}

impl Guides {
    /// These, with the files `NAME.LANGUAGE.md` of a folder in place of those with their names, and besides.
    pub fn with_folder(self, folder: &Path) -> Result<Self, GuidesError> {
        let mut all = Arc::unwrap_or_clone(self.0);
        let unreadable =
            |path: &Path, error| GuidesError::Unreadable(path.display().to_string(), error);
        let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
        for entry in entries {
            let path = entry.map_err(|error| unreadable(folder, error))?.path();
            let own = read(&path)?;
            let Some(own) = own else { continue };
            all.retain(|known| known.name != own.name || known.language != own.language);
            all.push(own);
        }
        all.sort_by(|one, other| (&one.name, &one.language).cmp(&(&other.name, &other.language)));
        Ok(Self(Arc::new(all)))
    }

    /// All guides, in all languages, by name and language.
    pub(super) fn list(&self, providers: &Providers) -> Vec<Guide> {
        let made = LANGUAGES.map(|language| capabilities(providers, language));
        let mut all: Vec<_> = made.into_iter().chain(self.0.iter().cloned()).collect();
        all.sort_by(|one, other| (&one.name, &one.language).cmp(&(&other.name, &other.language)));
        all
    }

    /// The names of all guides.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.0.iter().map(|guide| guide.name.as_str()).collect();
        names.push(CAPABILITIES);
        names.sort_unstable();
        names.dedup();
        names
    }

    /// A guide, in a language or in English.
    pub fn find(&self, providers: &Providers, name: &str, language: &str) -> Option<Guide> {
        let language = language.split('-').next().unwrap_or_default();
        if name == CAPABILITIES {
            return Some(capabilities(providers, language));
        }
        let named = |wanted: &str| {
            let mut guides = self.0.iter();
            guides.find(|guide| guide.name == name && guide.language == wanted)
        };
        named(language).or_else(|| named("en")).cloned()
    }
}

/// A guide of a folder; none for what is no Markdown file.
fn read(path: &Path) -> Result<Option<Guide>, GuidesError> {
    let unreadable = |error| GuidesError::Unreadable(path.display().to_string(), error);
    let misnamed = |why: &str| GuidesError::Misnamed(path.display().to_string(), why.to_owned());
    let file = path.file_name().and_then(|name| name.to_str());
    let Some(stem) = file.and_then(|name| name.strip_suffix(".md")) else {
        return Ok(None);
    };
    let Some((name, language)) = stem.rsplit_once('.') else {
        return Err(misnamed(
            "a guide's file is called NAME.LANGUAGE.md, such as storyboarding.en.md",
        ));
    };
    let is_plain = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    if !is_plain(name) || !is_plain(language) || name == CAPABILITIES {
        return Err(misnamed(
            "name and language have letters, digits, `_` and `-` only, and `capabilities` is made by the server",
        ));
    }
    if std::fs::metadata(path).map_err(unreadable)?.len() > LARGEST {
        return Err(misnamed("a guide has at most 64 KiB"));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    Ok(Some(guide(name, language, &text)))
}

/// What this installation can produce.
fn capabilities(providers: &Providers, language: &str) -> Guide {
    let (title, free, unknown, head) = match language {
        "ru" => (
            "Что здесь можно сделать",
            "бесплатно",
            "цена заранее неизвестна",
            "| вид | провайдер | модель | цена, миллионные USD |",
        ),
        "zh" => (
            "这里能制作什么",
            "免费",
            "价格事先未知",
            "| 类型 | 服务 | 模型 | 价格（百万分之一美元） |",
        ),
        _ => (
            "What can be made here",
            "free",
            "price not known before",
            "| kind | provider | model | price, millionths of USD |",
        ),
    };
    let mut text = format!("# {title}\n\n{head}\n| --- | --- | --- | --- |\n");
    for provider in providers.list() {
        for offer in provider.offers() {
            let price = match offer.price {
                Price::Known(0) => free.to_owned(),
                Price::Known(price) => price.to_string(),
                Price::Unknown => unknown.to_owned(),
            };
            let row = [offer.kind.tool_name(), provider.name(), &offer.name, &price];
            text.push_str(&format!("| {} |\n", row.join(" | ")));
        }
    }
    let language = if LANGUAGES.contains(&language) {
        language
    } else {
        "en"
    };
    guide(CAPABILITIES, language, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::local::Local;

    #[test]
    fn every_guide_comes_in_three_languages() {
        let providers = Providers::new(vec![Arc::new(Local::default())]);
        let all = Guides::default().list(&providers);
        for name in Guides::default().names() {
            for language in LANGUAGES {
                let found = all
                    .iter()
                    .find(|guide| guide.name == name && guide.language == language);
                let guide = found.unwrap_or_else(|| panic!("{name} in {language}"));
                assert!(
                    guide.title != guide.name,
                    "{name} in {language} has a heading"
                );
            }
        }
    }

    #[test]
    fn an_installation_replaces_and_adds_guides() {
        let folder = std::env::temp_dir().join(format!("guides-{}", uuid::Uuid::new_v4().simple()));
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("flows.en.md"), "# Our flows\nOurs.").expect("a file");
        std::fs::write(folder.join("house.ru.md"), "# Дом\nПравила.").expect("a file");
        std::fs::write(folder.join("notes.txt"), "no guide").expect("a file");
        let guides = Guides::default().with_folder(&folder).expect("reads");
        let none = Providers::default();
        let title = |name: &str, language: &str| {
            guides.find(&none, name, language).map(|guide| guide.title)
        };
        assert_eq!(title("flows", "en").as_deref(), Some("Our flows"));
        assert_eq!(title("flows", "ru").as_deref(), Some("Схемы"));
        assert_eq!(title("house", "ru-RU").as_deref(), Some("Дом"));
        assert_eq!(title("nothing", "en"), None);
        std::fs::write(folder.join("misnamed.md"), "# x").expect("a file");
        let refused = Guides::default()
            .with_folder(&folder)
            .expect_err("misnamed");
        assert!(
            refused.to_string().contains("NAME.LANGUAGE.md"),
            "{refused}"
        );
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
