//! Which media type an answer gets: the best-ranked one of the request's `Accept` that is served here.
//!
//! Invariants
//! - A type's quality is that of the most specific range that names it; of equals the earlier range wins.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

/// The media types that are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    /// `application/json`: the type of old clients.
    Legacy,
    /// `application/graphql-response+json`.
    Modern,
    /// `text/event-stream`.
    Events,
}

impl Media {
    /// In order of preference where the client has none.
    const ALL: [Self; 3] = [Self::Legacy, Self::Modern, Self::Events];

    const fn essence(self) -> (&'static str, &'static str) {
        match self {
            Self::Legacy => ("application", "json"),
            Self::Modern => ("application", "graphql-response+json"),
            Self::Events => ("text", "event-stream"),
        }
    }

    /// The value of `Content-Type`.
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Legacy => "application/json; charset=utf-8",
            Self::Modern => "application/graphql-response+json; charset=utf-8",
            Self::Events => "text/event-stream; charset=utf-8",
        }
    }
}

struct Range {
    kind: String,
    subkind: String,
    /// Thousandths.
    quality: u16,
}

/// The best type for the request; `None` where it accepts none of ours.
pub(super) fn negotiate(headers: &HeaderMap) -> Option<Media> {
    let values: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let ranges: Vec<Range> = values
        .iter()
        .flat_map(|value| value.split(','))
        .filter_map(range)
        .collect();
    if ranges.is_empty() {
        return Some(Media::Legacy);
    }
    let mut best: Option<(Media, u16, usize)> = None;
    for media in Media::ALL {
        let Some((quality, place)) = rank(media, &ranges) else {
            continue;
        };
        let is_better = best.is_none_or(|(_, other, before)| {
            quality > other || (quality == other && place < before)
        });
        if quality > 0 && is_better {
            best = Some((media, quality, place));
        }
    }
    best.map(|(media, ..)| media)
}

fn range(text: &str) -> Option<Range> {
    let mut parts = text.split(';');
    let (kind, subkind) = parts.next()?.trim().split_once('/')?;
    let quality = parts.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("q")
            .then(|| value.trim().parse::<f32>().unwrap_or(0.0))
    });
    Some(Range {
        kind: kind.to_ascii_lowercase(),
        subkind: subkind.to_ascii_lowercase(),
        quality: (quality.unwrap_or(1.0).clamp(0.0, 1.0) * 1000.0) as u16,
    })
}

/// Quality and place of the most specific range that covers the type.
fn rank(media: Media, ranges: &[Range]) -> Option<(u16, usize)> {
    let (kind, subkind) = media.essence();
    let covering = ranges.iter().enumerate().filter_map(|(place, range)| {
        let specificity = match (range.kind.as_str(), range.subkind.as_str()) {
            (left, right) if left == kind && right == subkind => 2,
            (left, "*") if left == kind => 1,
            ("*", "*") => 0,
            _ => return None,
        };
        Some((specificity, place, range.quality))
    });
    covering
        .max_by_key(|(specificity, place, _)| (*specificity, usize::MAX - place))
        .map(|(_, place, quality)| (quality, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &str) -> Option<Media> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().expect("a header value"));
        negotiate(&headers)
    }

    #[test]
    fn the_best_ranked_type_wins() {
        for (accept, media) in [
            (
                "application/graphql-response+json, application/json;q=0.9",
                Some(Media::Modern),
            ),
            (
                "application/graphql-response+json;q=0.1, application/json",
                Some(Media::Legacy),
            ),
            (
                "application/json, application/graphql-response+json",
                Some(Media::Legacy),
            ),
            ("text/event-stream", Some(Media::Events)),
            ("text/event-stream, */*", Some(Media::Events)),
            ("*/*", Some(Media::Legacy)),
            ("application/*;q=0.2", Some(Media::Legacy)),
            ("application/json;q=0, */*", Some(Media::Modern)),
            (
                "Application/JSON ; charset=utf-8 ; Q=0.5",
                Some(Media::Legacy),
            ),
            ("text/html, application/xhtml+xml", None),
            ("application/json;q=0", None),
        ] {
            assert_eq!(chosen(accept), media, "{accept}");
        }
        assert_eq!(negotiate(&HeaderMap::new()), Some(Media::Legacy));
    }
}
