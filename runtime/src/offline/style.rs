//! Looks: how people name them, and what they mean for colour, light and words of a prompt.

use super::lexicon::Phrase;

/// A look.
#[derive(Debug)]
pub(super) struct Style {
    /// How people name it, in three languages.
    pub(super) names: &'static [&'static str],
    /// Its colours.
    pub(super) palette: [&'static str; 5],
}

/// A look in one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct StyleWords {
    /// Its name.
    pub(super) name: &'static str,
    /// What it means for a picture.
    pub(super) look: &'static str,
}

/// A look of `Words::styles`.
pub(super) const fn look(name: &'static str, look: &'static str) -> StyleWords {
    StyleWords { name, look }
}

/// The looks, in the order of `Words::styles`.
pub(super) const STYLES: [Style; 12] = [
    Style {
        names: &["noir", "нуар*", "黑色电影"],
        palette: ["#0b0b0d", "#2a2a2e", "#6b6b70", "#c9c5bb", "#8c1c13"],
    },
    Style {
        names: &["watercolor*", "watercolour*", "акварел*", "水彩"],
        palette: ["#f4efe6", "#a9c6d9", "#6f9bb0", "#e3b8a0", "#7b6d8d"],
    },
    Style {
        names: &["minimal*", "минимал*", "极简", "简约"],
        palette: ["#ffffff", "#f2f0eb", "#111111", "#8f8f8f", "#e4572e"],
    },
    Style {
        names: &["retro", "vintage", "ретро*", "винтаж*", "复古"],
        palette: ["#f2e3c6", "#d98e4a", "#b4472b", "#4f6d5a", "#2f2a25"],
    },
    Style {
        names: &[
            "cyberpunk",
            "neon",
            "киберпанк*",
            "неон*",
            "赛博朋克",
            "霓虹",
        ],
        palette: ["#0a0618", "#3b0f70", "#ff2a6d", "#05d9e8", "#d1f7ff"],
    },
    Style {
        names: &["anime", "manga", "аниме*", "манг*", "动漫", "日漫"],
        palette: ["#fdf6f0", "#ffb4a2", "#6d9dc5", "#355070", "#f9c74f"],
    },
    Style {
        names: &["cinematic", "кинематограф*", "киношн*", "电影感"],
        palette: ["#0f1a20", "#28424f", "#c08552", "#f0d9b5", "#5e3023"],
    },
    Style {
        names: &["pastel*", "пастел*", "粉彩", "柔和"],
        palette: ["#fbf8f3", "#f6d6d6", "#cfe3e2", "#d9d2e9", "#a3a09b"],
    },
    Style {
        names: &[
            "black and white",
            "monochrome",
            "чб",
            "черно бел*",
            "монохром*",
            "黑白",
        ],
        palette: ["#ffffff", "#cfcfcf", "#8a8a8a", "#3a3a3a", "#000000"],
    },
    Style {
        names: &[
            "constructivis*",
            "bauhaus",
            "конструктивиз*",
            "конструктивист*",
            "баухаус*",
            "авангард*",
            "构成主义",
            "包豪斯",
        ],
        palette: ["#efe6d5", "#c1272d", "#111111", "#d9a441", "#3a5a78"],
    },
    Style {
        names: &["collage*", "коллаж*", "拼贴"],
        palette: ["#f0ead6", "#e07a5f", "#3d405b", "#81b29a", "#f2cc8f"],
    },
    Style {
        names: &["ink", "тушь*", "тушью", "гравюр*", "水墨", "版画"],
        palette: ["#f7f3e8", "#d8d2c2", "#7d7a72", "#2b2b2b", "#9e2a2b"],
    },
];

/// The looks that a phrase names, as places in the table.
pub(super) fn named_in(phrase: &Phrase<'_>) -> Vec<usize> {
    let is_named = |(_, style): &(usize, &Style)| phrase.has(style.names);
    let found = STYLES.iter().enumerate().filter(is_named);
    found.map(|(index, _)| index).collect()
}

/// A palette for a subject that comes without a look: always the same for the same words.
pub(super) fn palette_for(text: &str) -> [&'static str; 5] {
    let sum: usize = text.bytes().map(usize::from).sum();
    STYLES[sum % STYLES.len()].palette
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_found_by_their_names() {
        for (text, index) in [
            ("a film noir", 0),
            ("в стиле нуар", 0),
            ("акварелью", 1),
            ("чёрно-белый плакат", 8),
            ("赛博朋克风格的海报", 4),
        ] {
            assert_eq!(named_in(&Phrase::of(text)), [index], "{text}");
        }
        assert!(named_in(&Phrase::of("a plain thing")).is_empty());
    }
}
