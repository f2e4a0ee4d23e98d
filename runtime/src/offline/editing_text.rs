//! What a request does to a text as it was read: pieces that are replaced where they stand once, or the whole where they do not.

use domain::ids::WorkId;
use serde_json::json;

use super::draft::one_line;
use super::editing::{Edit, Editing, Problem};
use super::executor;
use super::language::{Words, fill};
use super::making::{capital, named_part, sentence};
use super::request::{Place, Request};
use super::text::heading;

/// A section of a text: its heading and everything up to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section<'a> {
    /// Without the marks before it.
    pub(super) title: &'a str,
    /// The whole, heading included, without empty lines at its end.
    pub(super) block: &'a str,
}

/// The sections of a text.
pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let starts: Vec<usize> = text
        .match_indices("## ")
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text[..*at].ends_with('\n'))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let section = |(start, end): (&usize, usize)| {
        let block = text[*start..end].trim_end();
        let title = block
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches('#')
            .trim();
        Section { title, block }
    };
    starts.iter().zip(ends).map(section).collect()
}

/// The replacement of one piece of text by another.
pub(super) fn replacement(words: &Words, work: WorkId, find: &str, replace: &str) -> Edit {
    let texts = [
        ("part", one_line(find, 80)),
        ("text", one_line(replace, 80)),
    ];
    let texts = texts.each_ref().map(|(name, text)| (*name, text.as_str()));
    let summary = fill(words.did_replace, &texts);
    Edit {
        tool: "edit_text",
        arguments: json!({"work_id": work, "replacements": [{"find": find, "replace": replace}], "summary": summary}),
    }
}

/// The edit that a request about a text asks for.
pub(super) fn edit(editing: &Editing<'_>, request: &Request) -> Result<Edit, Problem> {
    let text = editing.view.text.as_str();
    let sections = sections(text);
    let titles: Vec<&str> = sections.iter().map(|section| section.title).collect();
    let words = editing.words;
    let place_of = |target| Editing::places(target, &titles).map(|places| places[0]);
    let told = |template: &str, at: usize, said: &str| {
        let part = named_part(editing.kind, words, at + 1, titles[at]);
        fill(template, &[("part", &part), ("text", &one_line(said, 120))])
    };
    match request {
        Request::Replace { find, replace } => Ok(replacement(words, editing.work, find, replace)),
        Request::Rename { target, title } => {
            let at = place_of(target)?;
            let block = sections[at].block;
            let body = block.split_once('\n').map_or("", |(_, body)| body);
            let new = format!("{}\n{body}", heading(title));
            Ok(put(
                editing,
                block,
                new.trim_end(),
                &told(words.did_rename, at, title),
            ))
        }
        Request::Remove { target } => {
            let at = place_of(target)?;
            let block = with_gap(text, sections[at].block);
            Ok(put(editing, block, "", &told(words.did_remove, at, "")))
        }
        Request::Describe { target, text: said } => {
            let at = place_of(target)?;
            let new = format!("{}\n\n{}", heading(titles[at]), sentence(said, words));
            Ok(put(
                editing,
                sections[at].block,
                &new,
                &told(words.did_describe, at, said),
            ))
        }
        Request::Note { target, text: said } => {
            let at = place_of(target)?;
            let block = sections[at].block;
            if block.to_lowercase().contains(&said.to_lowercase()) {
                return Err(Problem::NothingToChange);
            }
            let new = format!("{block}\n\n{}", sentence(said, words));
            Ok(put(
                editing,
                block,
                &new,
                &told(words.did_add_text, at, said),
            ))
        }
        Request::Add {
            about,
            title,
            place,
            ..
        } => add(
            editing,
            &sections,
            (about.as_deref(), title.as_deref()),
            place,
        ),
        _ => Err(Problem::NotPossible),
    }
}

/// A new section, outlined.
fn add(
    editing: &Editing<'_>,
    sections: &[Section<'_>],
    (about, title): (Option<&str>, Option<&str>),
    place: &Place,
) -> Result<Edit, Problem> {
    let words = editing.words;
    let name = title.or(about).map_or_else(
        || words.new_part.to_owned(),
        |text| capital(&one_line(text, 80)),
    );
    let body = executor::section(
        words,
        &sentence(about.unwrap_or(&name), words),
        about.unwrap_or(&name),
    );
    let new = format!("{}\n\n{body}", heading(&name));
    let told = fill(
        words.did_add,
        &[("part", &fill(words.quoted, &[("text", &name)]))],
    );
    let titles: Vec<&str> = sections.iter().map(|section| section.title).collect();
    let place_of = |target| Editing::places(target, &titles).map(|places| places[0]);
    let before = match place {
        Place::First => Some(0),
        Place::Before(target) => Some(place_of(target)?),
        Place::After(target) => Some(place_of(target)? + 1),
        Place::At(number) => Some((*number as usize).saturating_sub(1)),
        Place::End => None,
    };
    Ok(if let Some(next) = before.and_then(|at| sections.get(at)) {
        put(
            editing,
            next.block,
            &format!("{new}\n\n{}", next.block),
            &told,
        )
    } else {
        let last = sections
            .last()
            .map_or(editing.view.text.trim_end(), |section| section.block);
        put(
            editing,
            last,
            format!("{last}\n\n{new}").trim_start(),
            &told,
        )
    })
}

/// The block with the empty lines behind it.
fn with_gap<'a>(text: &'a str, block: &'a str) -> &'a str {
    let Some(start) = text.find(block) else {
        return block;
    };
    let rest = &text[start + block.len()..];
    let gap = rest.len() - rest.trim_start_matches('\n').len();
    &text[start..start + block.len() + gap]
}

/// Puts one piece in the place of another. Where the piece does not stand exactly once, the whole text is replaced.
fn put(editing: &Editing<'_>, find: &str, replace: &str, told: &str) -> Edit {
    let text = editing.view.text.as_str();
    if !find.is_empty() && text.matches(find).count() == 1 {
        return Edit {
            tool: "edit_text",
            arguments: json!({"work_id": editing.work, "replacements": [{"find": find, "replace": replace}], "summary": told}),
        };
    }
    let whole = if find.is_empty() {
        format!("{replace}\n")
    } else {
        text.replacen(find, replace, 1)
    };
    Edit {
        tool: "replace_text",
        arguments: json!({"work_id": editing.work, "base_version": editing.view.version, "text": whole, "summary": told}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart_by_its_headings() {
        let text = "# T\n\nx ## no\n\n## One\n\na\n\n## Two\nb\n";
        let found: Vec<(&str, &str)> = sections(text)
            .iter()
            .map(|section| (section.title, section.block))
            .collect();
        assert_eq!(found, [("One", "## One\n\na"), ("Two", "## Two\nb")]);
        assert!(sections("no headings").is_empty());
    }

    #[test]
    fn a_section_goes_with_the_gap_behind_it() {
        let text = "## One\n\na\n\n## Two\nb";
        assert_eq!(text.replace(with_gap(text, "## One\n\na"), ""), "## Two\nb");
    }
}
