//! Frames and moving frames.

use std::io::Cursor;

use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, DynamicImage, Frame, ImageFormat, Rgb, RgbImage};

use super::script::{Colour, Composition, Script};
use super::words;

/// Frames of a film.
const FRAMES: u32 = 12;
/// The largest width of a film.
const FILM_WIDTH: u32 = 480;

/// A PNG frame.
pub(super) fn frame(script: &Script) -> Result<Vec<u8>, String> {
    let mut canvas = Canvas::new(script, script.size, 0.0);
    canvas.paint();
    canvas.label();
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::from(canvas.image)
        .write_to(&mut bytes, ImageFormat::Png)
        .map_err(|error| error.to_string())?;
    Ok(bytes.into_inner())
}

/// An animated GIF: the frame, with what can move in motion.
pub(super) fn film(script: &Script) -> Result<Vec<u8>, String> {
    let (width, height) = script.size;
    let scale = f64::from(FILM_WIDTH) / f64::from(width.max(FILM_WIDTH));
    let size = (
        ((f64::from(width) * scale) as u32).max(64),
        ((f64::from(height) * scale) as u32).max(64),
    );
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new_with_speed(&mut bytes, 20);
    encoder
        .set_repeat(Repeat::Infinite)
        .map_err(|error| error.to_string())?;
    for number in 0..FRAMES {
        let mut canvas = Canvas::new(script, size, number as f32 / FRAMES as f32);
        canvas.paint();
        canvas.label();
        let frame = DynamicImage::from(canvas.image).into_rgba8();
        let delay = Delay::from_numer_denom_ms(120, 1);
        encoder
            .encode_frame(Frame::from_parts(frame, 0, 0, delay))
            .map_err(|error| error.to_string())?;
    }
    drop(encoder);
    Ok(bytes)
}

struct Canvas<'a> {
    script: &'a Script,
    image: RgbImage,
    width: f32,
    height: f32,
    /// Where in the film it is, from 0 to below 1.
    time: f32,
}

impl<'a> Canvas<'a> {
    fn new(script: &'a Script, (width, height): (u32, u32), time: f32) -> Self {
        Self {
            script,
            image: RgbImage::new(width, height),
            width: width as f32,
            height: height as f32,
            time,
        }
    }

    fn colour(&self, index: usize) -> Colour {
        self.script.palette[index]
    }

    fn paint(&mut self) {
        self.sky();
        self.light();
        match self.script.composition {
            Composition::Sea => self.sea(),
            Composition::Mountains => self.ridges(4),
            Composition::City => self.city(),
            Composition::Portrait => self.portrait(),
            Composition::Forest => self.forest(),
            Composition::Abstract => self.shapes(),
        }
    }

    fn sky(&mut self) {
        let (top, bottom) = (self.colour(1), self.colour(0));
        for (_, y, pixel) in self.image.enumerate_pixels_mut() {
            pixel.0 = mix(top, bottom, y as f32 / self.height);
        }
        if self.script.is_night {
            let mut numbers = self.script.numbers();
            for _ in 0..120 {
                let (x, y) = (
                    numbers.fraction() * self.width,
                    numbers.fraction() * self.height * 0.6,
                );
                self.disc((x, y), numbers.between(0.6, 1.8), [240, 240, 220]);
            }
        }
    }

    /// A sun, moon or lamp on the line of thirds; it wanders in a film.
    fn light(&mut self) {
        let mut numbers = self.script.numbers();
        let side = if numbers.fraction() < 0.5 { 0.33 } else { 0.67 };
        let x = self.width * (side + 0.06 * (self.time * std::f32::consts::TAU).sin());
        let y = self.height * numbers.between(0.2, 0.34);
        let accent = self.colour(4);
        self.disc((x, y), self.height * 0.13, mix(accent, self.colour(0), 0.6));
        self.disc((x, y), self.height * 0.09, accent);
    }

    fn sea(&mut self) {
        let horizon = self.height * 0.56;
        self.below(|_| horizon, 2);
        let time = self.time * std::f32::consts::TAU;
        for band in 0..5_u8 {
            let depth = f32::from(band) / 5.0;
            let (near, far) = (self.colour(3), self.colour(1));
            let base = horizon + (self.height - horizon) * depth;
            let swell = self.height * 0.008 * (1.0 + depth * 3.0);
            let length = 12.0 - depth * 8.0;
            let width = self.width;
            let wave =
                |x: f32| base + swell * (x / width * length * 6.0 + time + depth * 9.0).sin();
            let colour = mix(far, near, depth);
            for x in 0..self.image.width() {
                let y = wave(x as f32) as u32;
                for thick in 0..(2 + u32::from(band)) {
                    self.put(x, y + thick, colour);
                }
            }
        }
        // A tower on a rock, so that the eye has a place.
        let (x, foot) = (self.width * 0.28, self.height * 0.62);
        let (wide, tall) = (self.width * 0.022, self.height * 0.3);
        self.bar((x - wide, foot - tall), (x + wide, foot), self.colour(3));
        self.bar(
            (x - wide * 1.3, foot - tall),
            (x + wide * 1.3, foot - tall * 0.86),
            self.colour(4),
        );
        self.disc(
            (x, foot + self.height * 0.05),
            self.height * 0.07,
            self.colour(3),
        );
    }

    fn ridges(&mut self, count: u8) {
        let mut numbers = self.script.numbers();
        for ridge in 0..count {
            let depth = f32::from(ridge + 1) / f32::from(count);
            let base = self.height * (0.38 + 0.42 * depth);
            let (one, two) = (numbers.between(2.0, 5.0), numbers.between(6.0, 13.0));
            let shift = numbers.between(0.0, 7.0) + self.time * depth;
            let (width, height) = (self.width, self.height);
            let line = move |x: f32| {
                let place = x / width;
                base - height * 0.1 * (place * one + shift).sin().abs()
                    - height * 0.03 * (place * two + shift).sin()
            };
            let colour = mix(self.colour(1), self.colour(3), depth);
            self.below_in(line, colour);
        }
    }

    fn city(&mut self) {
        let mut numbers = self.script.numbers();
        let ground = self.height * 0.82;
        let mut x = 0.0;
        while x < self.width {
            let wide = self.width * numbers.between(0.05, 0.11);
            let top = ground - self.height * numbers.between(0.15, 0.5);
            let colour = mix(self.colour(2), self.colour(3), numbers.fraction());
            self.bar((x, top), (x + wide * 0.92, ground), colour);
            let step = self.height * 0.05;
            let mut y = top + step * 0.6;
            while y + step * 0.5 < ground {
                for window in 0..3_u8 {
                    let is_lit = (numbers.fraction() + self.time * 0.3).fract() < 0.4;
                    if is_lit {
                        let left = x + wide * (0.14 + 0.26 * f32::from(window));
                        self.bar(
                            (left, y),
                            (left + wide * 0.14, y + step * 0.45),
                            self.colour(4),
                        );
                    }
                }
                y += step;
            }
            x += wide;
        }
        self.below(move |_| ground, 3);
    }

    fn portrait(&mut self) {
        self.ridges(2);
        let sway = self.width * 0.01 * (self.time * std::f32::consts::TAU).sin();
        let (x, y) = (self.width * 0.5 + sway, self.height * 0.42);
        let head = self.height * 0.19;
        self.disc((x, self.height * 1.02), self.height * 0.42, self.colour(3));
        self.disc((x, y), head, mix(self.colour(0), self.colour(4), 0.3));
        self.disc((x, y - head * 0.72), head * 0.75, self.colour(3));
        for side in [-0.35, 0.35] {
            self.disc((x + head * side, y), head * 0.08, self.colour(3));
        }
    }

    fn forest(&mut self) {
        let mut numbers = self.script.numbers();
        self.ridges(1);
        for tree in 0..26_u8 {
            let depth = f32::from(tree) / 26.0;
            let x = numbers.fraction() * self.width;
            let foot = self.height * (0.62 + 0.36 * depth);
            let tall = self.height * (0.16 + 0.28 * depth);
            let colour = mix(self.colour(1), self.colour(3), depth);
            let sway = self.width * 0.004 * (self.time * std::f32::consts::TAU + x).sin();
            for layer in 0..3_u8 {
                let part = f32::from(layer) / 3.0;
                let top = foot - tall * (1.0 - part * 0.7);
                self.cone(
                    (x + sway * (1.0 - part), top),
                    tall * (0.12 + 0.09 * part),
                    tall * 0.42,
                    colour,
                );
            }
        }
    }

    fn shapes(&mut self) {
        let mut numbers = self.script.numbers();
        for shape in 0..9_usize {
            let turn = (self.time + numbers.fraction()) * std::f32::consts::TAU;
            let x = self.width * numbers.fraction() + self.width * 0.03 * turn.cos();
            let y = self.height * numbers.fraction() + self.height * 0.03 * turn.sin();
            let size = self.height * numbers.between(0.05, 0.22);
            let colour = self.colour(shape % 5);
            if shape % 2 == 0 {
                self.disc((x, y), size, colour);
            } else {
                self.bar(
                    (x - size, y - size * 0.6),
                    (x + size, y + size * 0.6),
                    colour,
                );
            }
        }
    }

    /// The title above, the first lines of the prompt below, and the palette.
    fn label(&mut self) {
        let (width, height) = self.image.dimensions();
        let scale = (width / 512).max(1);
        let (margin, line) = (8 * scale, 18 * scale);
        let count = if height < 200 { 1 } else { 3 };
        let lines = words::lines(&self.script.prompt, width - 2 * margin, scale, count);
        let panel = line * lines.len() as u32 + 2 * margin;
        self.darken(height.saturating_sub(panel), height);
        self.darken(0, line + margin);
        let ink = Rgb([245, 245, 240]);
        words::write(
            &mut self.image,
            &self.script.title,
            (margin, margin / 2, scale),
            ink,
        );
        let first = height.saturating_sub(panel) + margin;
        for (number, text) in (0..).zip(&lines) {
            words::write(
                &mut self.image,
                text,
                (margin, first + number * line, scale),
                ink,
            );
        }
        let side = line as f32 * 0.7;
        for index in 0..5_u8 {
            let left = self.width - side * (6.0 - f32::from(index));
            let top = margin as f32 * 0.7;
            self.bar(
                (left, top),
                (left + side * 0.9, top + side),
                self.colour(index.into()),
            );
        }
    }

    fn darken(&mut self, from: u32, to: u32) {
        for y in from..to.min(self.image.height()) {
            for x in 0..self.image.width() {
                let pixel = self.image.get_pixel_mut(x, y);
                pixel.0 = mix(pixel.0, [12, 14, 18], 0.72);
            }
        }
    }

    fn put(&mut self, x: u32, y: u32, colour: Colour) {
        if x < self.image.width() && y < self.image.height() {
            self.image.put_pixel(x, y, Rgb(colour));
        }
    }

    fn below(&mut self, line: impl Fn(f32) -> f32, colour: usize) {
        self.below_in(line, self.colour(colour));
    }

    fn below_in(&mut self, line: impl Fn(f32) -> f32, colour: Colour) {
        for x in 0..self.image.width() {
            let top = line(x as f32).max(0.0) as u32;
            for y in top..self.image.height() {
                self.image.put_pixel(x, y, Rgb(colour));
            }
        }
    }

    fn bar(&mut self, (left, top): (f32, f32), (right, bottom): (f32, f32), colour: Colour) {
        for y in top.max(0.0) as u32..bottom.max(0.0) as u32 {
            for x in left.max(0.0) as u32..right.max(0.0) as u32 {
                self.put(x, y, colour);
            }
        }
    }

    fn disc(&mut self, (x, y): (f32, f32), radius: f32, colour: Colour) {
        let bounds = |middle: f32| {
            (
                (middle - radius).max(0.0) as u32,
                (middle + radius + 1.0).max(0.0) as u32,
            )
        };
        let ((left, right), (top, bottom)) = (bounds(x), bounds(y));
        for row in top..bottom {
            for column in left..right {
                let (across, down) = (column as f32 - x, row as f32 - y);
                if across * across + down * down <= radius * radius {
                    self.put(column, row, colour);
                }
            }
        }
    }

    fn cone(&mut self, (x, top): (f32, f32), half: f32, tall: f32, colour: Colour) {
        for row in 0..tall.max(0.0) as u32 {
            let wide = half * row as f32 / tall;
            let y = top + row as f32;
            if y >= 0.0 {
                self.bar((x - wide, y), (x + wide, y + 1.0), colour);
            }
        }
    }
}

fn mix(one: Colour, other: Colour, part: f32) -> Colour {
    let part = part.clamp(0.0, 1.0);
    let channel = |index: usize| {
        let (one, other) = (f32::from(one[index]), f32::from(other[index]));
        (one + (other - one) * part) as u8
    };
    [channel(0), channel(1), channel(2)]
}
