//! What bytes are, by their beginning: what a provider says of them counts for nothing.

use domain::media::MediaKind;

/// Bytes of a beginning that are looked at.
pub(super) const HEAD: usize = 16;

/// The media type of a file that begins so, where it is one that generators make.
pub(super) fn media_type(head: &[u8]) -> Option<&'static str> {
    let has = |at: usize, mark: &[u8]| head.get(at..at + mark.len()) == Some(mark);
    if has(0, b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if has(0, b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if has(0, b"GIF87a") || has(0, b"GIF89a") {
        Some("image/gif")
    } else if has(0, b"RIFF") && has(8, b"WEBP") {
        Some("image/webp")
    } else if has(0, b"RIFF") && has(8, b"WAVE") {
        Some("audio/wav")
    } else if has(4, b"ftypavif") {
        Some("image/avif")
    } else if has(4, b"ftypM4A") {
        Some("audio/mp4")
    } else if has(4, b"ftyp") {
        Some("video/mp4")
    } else if has(0, b"\x1a\x45\xdf\xa3") {
        Some("video/webm")
    } else if has(0, b"ID3") || has(0, b"\xff\xfb") || has(0, b"\xff\xf3") {
        Some("audio/mpeg")
    } else if has(0, b"OggS") {
        Some("audio/ogg")
    } else if has(0, b"fLaC") {
        Some("audio/flac")
    } else if has(0, b"glTF") {
        Some("model/gltf-binary")
    } else {
        None
    }
}

/// Whether files of this type are what was ordered. Moving pictures can be a GIF or WebP.
pub(super) fn fits(kind: MediaKind, media_type: &str) -> bool {
    match kind {
        MediaKind::Image => media_type.starts_with("image/"),
        MediaKind::Video => {
            media_type.starts_with("video/") || matches!(media_type, "image/gif" | "image/webp")
        }
        MediaKind::Audio => media_type.starts_with("audio/") || media_type == "video/mp4",
        MediaKind::Model3d => media_type == "model/gltf-binary",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_no_picture_whatever_it_is_called() {
        assert_eq!(media_type(b"<!doctype html><h1>no</h1>"), None);
        assert_eq!(media_type(b""), None);
        assert_eq!(media_type(b"\x89PNG\r\n\x1a\n...."), Some("image/png"));
        assert!(!fits(MediaKind::Image, "video/mp4"));
        assert!(fits(MediaKind::Video, "image/gif"));
    }
}
