//! The kinds of work that the planner can make, and which of them a text asks for.

use domain::work::WorkKind;

use super::language::{KindWords, Words};
use super::lexicon::{Phrase, Span};

/// A kind of work that the planner can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Shots in order.
    Storyboard,
    /// A series of posters.
    Posters,
    /// Nodes and edges.
    Flow,
    /// A text with sections.
    Text,
}

impl Kind {
    /// Every kind, in the order of `Words::kinds`.
    pub(super) const ALL: [Self; 4] = [Self::Storyboard, Self::Posters, Self::Flow, Self::Text];

    /// The kind of a work that is there already.
    pub(super) fn of_work(kind: WorkKind) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.work_kind() == kind)
    }

    pub(super) const fn work_kind(self) -> WorkKind {
        match self {
            Self::Storyboard => WorkKind::Storyboard,
            Self::Posters => WorkKind::Collection,
            Self::Flow => WorkKind::Flow,
            Self::Text => WorkKind::Text,
        }
    }

    /// What `create_work` calls it.
    pub(super) const fn tool_name(self) -> &'static str {
        match self {
            Self::Storyboard => "storyboard",
            Self::Posters => "collection",
            Self::Flow => "flow",
            Self::Text => "text",
        }
    }

    /// What ids of its parts begin with, in plans and works.
    pub(super) const fn part(self) -> &'static str {
        match self {
            Self::Storyboard => "shot",
            Self::Posters => "poster",
            Self::Flow => "node",
            Self::Text => "section",
        }
    }

    /// The option of a card that stands for it.
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::Posters => "posters",
            other => other.tool_name(),
        }
    }

    pub(super) fn words(self, words: &'static Words) -> &'static KindWords {
        &words.kinds[self as usize]
    }

    /// What people call it.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Storyboard => STORYBOARD,
            Self::Posters => POSTERS,
            Self::Flow => FLOW,
            Self::Text => TEXT,
        }
    }
}

const STORYBOARD: &[&str] = &[
    "storyboard*",
    "story board",
    "animatic",
    "shots",
    "раскадров*",
    "сториборд*",
    "аниматик*",
    "кадр",
    "кадра",
    "кадров",
    "кадры",
    "分镜",
    "故事板",
    "镜头",
];
const POSTERS: &[&str] = &[
    "poster",
    "posters",
    "placard*",
    "плакат*",
    "постер*",
    "афиш*",
    "海报",
    "招贴",
];
const FLOW: &[&str] = &[
    "flow",
    "flows",
    "workflow*",
    "flowchart*",
    "graph",
    "pipeline*",
    "флоу",
    "воркфлоу",
    "схем*",
    "граф",
    "графа",
    "пайплайн*",
    "конвейер*",
    "процесс*",
    "流程",
    "工作流",
    "管线",
    "流水线",
];
const TEXT: &[&str] = &[
    "text",
    "texts",
    "script*",
    "screenplay*",
    "article*",
    "essay*",
    "document",
    "documents",
    "synopsis",
    "treatment",
    "letter",
    "post",
    "posts",
    "copy",
    "текст*",
    "сценар*",
    "стать*",
    "документ*",
    "эссе",
    "письмо",
    "пост",
    "поста",
    "посты",
    "постов",
    "синопсис*",
    "рассказ*",
    "тритмент*",
    "описани*",
    "文本",
    "文案",
    "文章",
    "剧本",
    "脚本",
    "文档",
    "稿子",
    "一封信",
];
/// Films are drawn as storyboards; these words also stand before the names of other kinds, as in "film poster".
const FILM: &[&str] = &[
    "film*",
    "movie*",
    "video*",
    "clip",
    "clips",
    "trailer*",
    "teaser*",
    "commercial",
    "cartoon*",
    "фильм*",
    "ролик*",
    "видео*",
    "клип*",
    "мульт*",
    "трейлер*",
    "тизер*",
    "короткометраж*",
    "кино",
    "短片",
    "影片",
    "视频",
    "电影",
    "动画",
    "广告片",
    "微电影",
];
/// A series of what is not said is one of posters.
const SERIES: &[&str] = &["series", "серия", "серию", "серии", "系列", "一套"];

/// The kind of work that a phrase asks for.
pub(super) fn asked_for(phrase: &Phrase<'_>) -> Option<Kind> {
    let mut named: Vec<(Span, Kind)> = Kind::ALL
        .into_iter()
        .flat_map(|kind| {
            phrase
                .find_all(kind.names())
                .into_iter()
                .map(move |span| (span, kind))
        })
        .collect();
    let films = phrase.find_all(FILM);
    named.extend(films.into_iter().map(|span| (span, Kind::Storyboard)));
    named.sort_by_key(|(span, _)| (span.from, std::cmp::Reverse(span.to)));
    let chosen = if phrase.is_chinese() {
        last_of_clause(phrase, &named)
    } else {
        first_head(&named)
    };
    chosen.or_else(|| phrase.has(SERIES).then_some(Kind::Posters))
}

/// The first that is named; where names follow each other without a break ("film poster series"), the last of them.
fn first_head(named: &[(Span, Kind)]) -> Option<Kind> {
    let (mut span, mut kind) = *named.first()?;
    for (next, other) in &named[1..] {
        if next.from == span.to {
            (span, kind) = (*next, *other);
        }
    }
    Some(kind)
}

/// Chinese puts the head last: the last that is named in the first clause that names any.
fn last_of_clause(phrase: &Phrase<'_>, named: &[(Span, Kind)]) -> Option<Kind> {
    let end = phrase.clause_end(named.first()?.0.from);
    let mut within = named.iter().filter(|(span, _)| span.from < end);
    within.next_back().map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_work_is_recognised_in_three_languages() {
        use Kind::{Flow, Posters, Storyboard, Text};
        for (text, kind) in [
            (
                "Make a storyboard about a lighthouse, 5 shots",
                Some(Storyboard),
            ),
            ("A short film about a fox", Some(Storyboard)),
            ("A film poster for our festival", Some(Posters)),
            ("A poster series for a film about bees", Some(Posters)),
            ("Write a script for a video", Some(Text)),
            ("A workflow that makes posters", Some(Flow)),
            ("Three posters with the text “Open”", Some(Posters)),
            ("Сделай раскадровку ролика про кота", Some(Storyboard)),
            ("Нужен сценарий для ролика", Some(Text)),
            ("Серия плакатов к фильму", Some(Posters)),
            ("Хочу серию постов", Some(Text)),
            ("Серия про лес", Some(Posters)),
            ("Собери схему: промпт, картинка, апскейл", Some(Flow)),
            ("帮我做一个关于灯塔的短片分镜", Some(Storyboard)),
            ("做三张电影海报", Some(Posters)),
            ("写一篇关于城市的文章", Some(Text)),
            ("海报生成流程", Some(Flow)),
            ("短片，讲一张海报的故事", Some(Storyboard)),
            ("Hello there", None),
            ("Привет!", None),
            ("你好", None),
        ] {
            assert_eq!(asked_for(&Phrase::of(text)), kind, "{text}");
        }
    }
}
