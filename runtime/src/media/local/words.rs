//! Words in a frame, with the bitmap font GNU Unifont: Latin, Cyrillic, Chinese and the rest of the plane.

use image::{Rgb, RgbImage};

/// Height of a line of the font.
const HEIGHT: u32 = 16;

/// How wide a text is at a scale.
fn width(text: &str, scale: u32) -> u32 {
    text.chars().map(|letter| advance(letter) * scale).sum()
}

fn advance(letter: char) -> u32 {
    unifont::get_glyph(letter).map_or(8, |glyph| glyph.get_width() as u32)
}

/// Writes one line; what does not fit is cut off.
pub(super) fn write(
    frame: &mut RgbImage,
    text: &str,
    (left, top, scale): (u32, u32, u32),
    colour: Rgb<u8>,
) {
    let mut at = left;
    for letter in text.chars() {
        let step = advance(letter) * scale;
        if at + step > frame.width() {
            return;
        }
        if let Some(glyph) = unifont::get_glyph(letter) {
            for row in 0..HEIGHT {
                for column in 0..glyph.get_width() as u32 {
                    if glyph.get_pixel(column as usize, row as usize) {
                        dot(
                            frame,
                            (at + column * scale, top + row * scale, scale),
                            colour,
                        );
                    }
                }
            }
        }
        at += step;
    }
}

fn dot(frame: &mut RgbImage, (left, top, scale): (u32, u32, u32), colour: Rgb<u8>) {
    for y in top..top + scale {
        for x in left..left + scale {
            if x < frame.width() && y < frame.height() {
                frame.put_pixel(x, y, colour);
            }
        }
    }
}

/// The text in lines of at most this width, at most so many; the last one says that more follows.
pub(super) fn lines(text: &str, most: u32, scale: u32, count: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in pieces(text) {
        let line = lines.last_mut().expect("there is a line");
        let joined = format!("{line}{word}");
        if width(joined.trim_end(), scale) <= most {
            *line = joined;
        } else {
            if lines.len() == count {
                let line = lines.last_mut().expect("there is a line");
                while width(line, scale) + 16 * scale > most && line.pop().is_some() {}
                line.push('…');
                return lines;
            }
            lines.push(word.trim_start().to_owned());
        }
    }
    lines
}

/// Words with the space after them; each sign of Chinese is one.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut is_open = false;
    for letter in text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
    {
        let is_sign = letter >= '\u{2e80}';
        match pieces.last_mut() {
            Some(piece) if is_open && !is_sign => piece.push(letter),
            _ => pieces.push(letter.to_string()),
        }
        is_open = !is_sign && letter != ' ';
    }
    pieces
}
