//! Media types: what may be promised, whether bytes keep the promise, and how they may be shown.
//!
//! Invariants
//! - A type whose bytes have a known beginning must begin so; a text type must be UTF-8 to its end.
//! - What can not be checked comes as `application/octet-stream`, which promises nothing and is never shown.
//! - SVG is XML text that may hold scripts: it is only ever downloaded.

/// Bytes of a file's beginning that are looked at.
pub(super) const HEAD_BYTES: usize = 8 << 10;
/// The type that promises nothing.
const UNKNOWN: &str = "application/octet-stream";
const SVG: &str = "image/svg+xml";

/// Types of text beside `text/*`.
const TEXTS: &[&str] = &[
    "application/json",
    "application/ld+json",
    "application/yaml",
    "application/x-subrip",
    "application/xml",
    SVG,
];

/// Names of one type: the first is how the beginning of bytes is called here.
const ALIASES: &[(&str, &[&str])] = &[
    ("image/jpeg", &["image/jpg", "image/pjpeg"]),
    ("image/vnd.microsoft.icon", &["image/x-icon"]),
    ("image/heif", &["image/heic"]),
    ("audio/mpeg", &["audio/mp3"]),
    (
        "audio/x-wav",
        &["audio/wav", "audio/wave", "audio/vnd.wave"],
    ),
    ("audio/x-flac", &["audio/flac"]),
    ("audio/m4a", &["audio/mp4", "audio/x-m4a"]),
    ("audio/aac", &["audio/x-aac"]),
    ("audio/ogg", &["audio/opus", "audio/vorbis"]),
    ("audio/opus", &["audio/ogg"]),
    ("video/mp4", &["video/x-m4v", "audio/mp4"]),
    ("video/x-msvideo", &["video/avi"]),
    ("video/webm", &["audio/webm"]),
    (
        "video/x-matroska",
        &["video/webm", "audio/webm", "audio/x-matroska"],
    ),
    ("application/font-woff", &["font/woff", "font/woff2"]),
    (
        "application/font-sfnt",
        &["font/ttf", "font/otf", "font/sfnt"],
    ),
    ("application/gzip", &["application/x-gzip"]),
];

/// Whether small pictures are made of files of this type.
pub fn has_preview(media_type: &str) -> bool {
    matches!(
        media_type,
        "image/png" | "image/jpeg" | "image/webp" | "image/gif"
    )
}

/// Whether a browser may show the file in its own window: nothing that can hold a script or a form.
pub(super) fn is_shown(media_type: &str) -> bool {
    has_preview(media_type)
        || media_type == "image/avif"
        || media_type == "text/plain"
        || media_type.starts_with("audio/")
        || media_type.starts_with("video/")
}

/// Whether files of this type are text.
pub(super) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
        || TEXTS.contains(&media_type)
}

/// Checks the beginning of a file against its promised type; the text says what is wrong.
pub(super) fn check_head(media_type: &str, head: &[u8]) -> Result<(), String> {
    if media_type == UNKNOWN {
        return Ok(());
    }
    if is_text(media_type) {
        return check_text_head(media_type, head);
    }
    let found = infer::get(head).map(|kind| kind.mime_type());
    match found {
        Some(found) if is_same(found, media_type) => Ok(()),
        Some(found) => Err(format!(
            "`{media_type}` was promised, and the bytes are `{found}`"
        )),
        None if is_checkable(media_type) => Err(format!(
            "`{media_type}` was promised, and the bytes are not of it"
        )),
        None => Err(format!(
            "`{media_type}` can not be checked here; register the upload as `{UNKNOWN}`"
        )),
    }
}

fn is_same(found: &str, promised: &str) -> bool {
    let is_alias =
        |(name, aliases): &(&str, &[&str])| *name == found && aliases.contains(&promised);
    found == promised || ALIASES.iter().any(is_alias)
}

fn is_checkable(media_type: &str) -> bool {
    infer::is_mime_supported(media_type)
        || ALIASES
            .iter()
            .any(|(_, aliases)| aliases.contains(&media_type))
}

fn check_text_head(media_type: &str, head: &[u8]) -> Result<(), String> {
    let misfit = || format!("`{media_type}` was promised, and the bytes are no such text");
    if head.contains(&0) {
        return Err(misfit());
    }
    if media_type == SVG && first_element(head) != Some("svg") {
        return Err(misfit());
    }
    Ok(())
}

/// The name of the first element of an XML text, without its prefix.
fn first_element(head: &[u8]) -> Option<&str> {
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    let mut text = valid.trim_start_matches('\u{feff}').trim_start();
    loop {
        let rest = text.strip_prefix('<')?;
        text = if rest.starts_with("!--") {
            rest.split_once("-->")?.1
        } else if rest.starts_with('?') {
            rest.split_once("?>")?.1
        } else if rest.starts_with('!') {
            after_doctype(rest)?
        } else {
            let end = rest.find(|letter: char| letter.is_whitespace() || "/>".contains(letter))?;
            let name = &rest[..end];
            return Some(name.split_once(':').map_or(name, |(_, local)| local));
        }
        .trim_start();
    }
}

/// What follows a document type, whose declarations stand in brackets.
fn after_doctype(text: &str) -> Option<&str> {
    let end = text.find(['>', '['])?;
    if text[end..].starts_with('>') {
        return Some(&text[end + 1..]);
    }
    let (_, rest) = text.split_once(']')?;
    rest.split_once('>').map(|(_, rest)| rest)
}

/// Checks that chunks are together UTF-8 without NUL.
#[derive(Debug, Default)]
pub(super) struct TextCheck {
    /// The beginning of a letter whose end did not come yet.
    unfinished: Vec<u8>,
}

impl TextCheck {
    /// Takes the next chunk; false where it is no text.
    pub(super) fn push(&mut self, chunk: &[u8]) -> bool {
        if chunk.contains(&0) {
            return false;
        }
        let mut chunk = chunk;
        while !self.unfinished.is_empty() {
            let Some((byte, rest)) = chunk.split_first() else {
                return true;
            };
            self.unfinished.push(*byte);
            chunk = rest;
            match std::str::from_utf8(&self.unfinished) {
                Ok(_) => self.unfinished.clear(),
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(chunk) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                self.unfinished = chunk[error.valid_up_to()..].to_vec();
                true
            }
        }
    }

    /// Whether the text ended with a whole letter.
    pub(super) fn is_whole(&self) -> bool {
        self.unfinished.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    #[test]
    fn a_lying_type_is_refused_with_what_the_bytes_are() {
        assert_eq!(check_head("image/png", PNG), Ok(()));
        let error = check_head("image/jpeg", PNG).expect_err("a lie");
        assert!(error.contains("`image/png`"), "{error}");
        assert!(check_head("image/png", b"<html><script>").is_err());
        assert!(check_head("text/plain", PNG).is_err());
        assert!(check_head("video/mp4", b"just text").is_err());
    }

    #[test]
    fn what_can_not_be_checked_is_taken_only_as_unknown_bytes() {
        let error = check_head("model/gltf-binary", b"glTF....").expect_err("unknown");
        assert!(error.contains("application/octet-stream"), "{error}");
        assert_eq!(check_head("application/octet-stream", b"glTF...."), Ok(()));
    }

    #[test]
    fn an_svg_is_xml_whose_first_element_is_svg() {
        for good in [
            "<svg xmlns='x'/>",
            "\u{feff}<?xml version='1.0'?>\n<!-- a > b -->\n<!DOCTYPE svg [<!ENTITY a 'b'>]>\n<s:svg>",
        ] {
            assert_eq!(check_head(SVG, good.as_bytes()), Ok(()), "{good}");
        }
        for bad in [
            "<html><svg/></html>",
            "svg",
            "",
            "<!--",
            "<!DOCTYPE html><html>",
        ] {
            assert!(check_head(SVG, bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn letters_may_be_cut_by_chunks_and_must_be_whole_at_the_end() {
        let text = "стол 桌子 🙂".as_bytes();
        for size in 1..5 {
            let mut check = TextCheck::default();
            assert!(text.chunks(size).all(|chunk| check.push(chunk)), "{size}");
            assert!(check.is_whole());
        }
        let mut cut = TextCheck::default();
        assert!(cut.push(&text[..text.len() - 1]));
        assert!(!cut.is_whole());
        assert!(!TextCheck::default().push(b"\xff\xfe"));
        let mut broken = TextCheck::default();
        assert!(broken.push(b"\xd1") && !broken.push(b"a"));
    }

    #[test]
    fn nothing_that_may_run_is_shown() {
        for shown in [
            "image/png",
            "image/avif",
            "text/plain",
            "audio/mpeg",
            "video/mp4",
        ] {
            assert!(is_shown(shown), "{shown}");
        }
        for hidden in [
            "text/html",
            SVG,
            "application/pdf",
            "application/xml",
            "text/css",
        ] {
            assert!(!is_shown(hidden), "{hidden}");
        }
    }
}
