//! Flows by rules: which nodes a wish calls for, and how they are connected.

use serde_json::{Value, json};

use super::language::{Idea, Words};
use super::lexicon::Phrase;
use super::making::{Recipe, sentence};
use super::wish::Wish;

/// What calls for a node, in the order of `Words::nodes`; an empty list: every flow has it.
const CALLED_FOR_BY: [&[&str]; 8] = [
    &[],
    &["reference*", "moodboard*", "референс*", "мудборд*", "参考"],
    &[],
    &["upscale*", "апскейл*", "увеличени*", "放大", "超分"],
    &["video*", "animat*", "видео*", "анима*", "视频", "动画"],
    &[
        "audio",
        "sound",
        "music",
        "voice*",
        "звук*",
        "музык*",
        "озвуч*",
        "голос*",
        "声音",
        "音乐",
        "配音",
    ],
    &[
        "caption*",
        "headline*",
        "subtitle*",
        "подпис*",
        "заголов*",
        "слоган*",
        "标题",
        "文案",
        "字幕",
    ],
    &[],
];
/// The place of the node that makes a picture larger.
const UPSCALE: usize = 3;
const WIDTH: usize = 320;
const HEIGHT: usize = 140;

/// The nodes that a wish calls for. Where none is named, the picture is made larger.
pub(super) fn ideas(words: &'static Words, wish: &Wish) -> Vec<Idea> {
    let phrase = Phrase::of(&wish.said);
    let is_named =
        |place: &usize| !CALLED_FOR_BY[*place].is_empty() && phrase.has(CALLED_FOR_BY[*place]);
    let is_plain = !(0..CALLED_FOR_BY.len()).any(|place| is_named(&place));
    let is_wanted = |place: &usize| {
        CALLED_FOR_BY[*place].is_empty() || is_named(place) || (is_plain && *place == UPSCALE)
    };
    (0..CALLED_FOR_BY.len())
        .filter(is_wanted)
        .map(|place| words.nodes[place])
        .collect()
}

/// What kinds of nodes lead to a node of this type.
fn leads_to(kind: &str) -> &'static [&'static str] {
    match kind {
        "image" => &["prompt", "collection"],
        "upscale" => &["image"],
        "video" => &["upscale", "image"],
        "audio" | "text" => &["prompt"],
        "output" => &["video", "upscale", "image", "audio", "text"],
        _ => &[],
    }
}

/// Of several that show the same picture, only the last leads on.
const PICTURES: [&str; 3] = ["video", "upscale", "image"];

/// The operations that put a node in and connect it with those before it.
pub(super) fn operations(recipe: &Recipe<'_>, index: usize, prompt: &str) -> Vec<Value> {
    let idea = &recipe.ideas[index];
    let mut fields = json!({
        "title": idea.title,
        "description": sentence(idea.what, recipe.words),
        "position": {"x": index * WIDTH, "y": (index % 2) * HEIGHT},
        "data": {"label": idea.title},
    });
    if idea.frame == "prompt" {
        fields["prompt"] = json!(prompt);
    }
    let node = json!({"id": recipe.part_id(index), "type": idea.frame, "fields": fields});
    let mut operations = vec![json!({"put": node})];
    operations.extend(sources(recipe, index).into_iter().map(|source| {
        let id = format!("edge-{}-{}", source + 1, index + 1);
        json!({"connect": {"id": id, "source": recipe.part_id(source), "target": recipe.part_id(index)}})
    }));
    operations
}

/// The nodes before a node that lead to it.
fn sources(recipe: &Recipe<'_>, index: usize) -> Vec<usize> {
    let wanted = leads_to(recipe.ideas[index].frame);
    let mut has_picture = false;
    let mut found = Vec::new();
    for kind in wanted {
        let is_picture = PICTURES.contains(kind);
        let place = recipe.ideas[..index]
            .iter()
            .position(|idea| idea.frame == *kind);
        if let Some(place) = place.filter(|_| !(is_picture && has_picture)) {
            has_picture |= is_picture;
            found.push(place);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::super::language::Language;
    use super::*;

    fn edges(text: &str) -> Vec<String> {
        let wish = Wish::of([text]);
        let recipe = Recipe::of(Kind::Flow, Language::English, &wish, None);
        let all = (0..recipe.ideas.len()).flat_map(|index| operations(&recipe, index, "p"));
        let connected = all.filter(|operation| operation["connect"].is_object());
        let named = |id: &Value| {
            let number: usize = id.as_str().expect("text")[5..].parse().expect("number");
            recipe.ideas[number - 1].frame
        };
        connected
            .map(|operation| {
                let edge = &operation["connect"];
                format!("{}>{}", named(&edge["source"]), named(&edge["target"]))
            })
            .collect()
    }

    #[test]
    fn a_plain_flow_leads_from_the_prompt_to_a_larger_picture() {
        assert_eq!(
            edges("a flow for covers"),
            ["prompt>image", "image>upscale", "upscale>output"]
        );
    }

    #[test]
    fn a_flow_has_the_nodes_that_were_named() {
        assert_eq!(
            edges("flow: references, video with music"),
            [
                "prompt>image",
                "collection>image",
                "image>video",
                "prompt>audio",
                "video>output",
                "audio>output"
            ]
        );
    }
}
