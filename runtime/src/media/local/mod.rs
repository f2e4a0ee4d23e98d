//! The renderer that is built in: real files, drawn from the words of an order, without a network and without a model.
//!
//! Invariants
//! - The same order gives the same bytes, in every process.
//! - It says what it is: a drawing of palette, composition and words, no photograph of anything.

mod picture;
mod script;
mod solid;
mod sound;
mod words;

use std::time::Duration;

use async_trait::async_trait;
use domain::job::{Job, News, Price, UpstreamFile};
use domain::media::MediaKind;
use serde_json::json;

use script::Script;

use super::{Abilities, Material, MediaProvider, Offer, Sent, Source};

/// The provider's name.
pub const NAME: &str = "local";

/// What an order costs here, by kind, in micros; for trying budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LocalPrices {
    /// A picture.
    pub image: u64,
    /// Moving pictures.
    pub video: u64,
    /// Sound.
    pub audio: u64,
    /// A body.
    pub model_3d: u64,
}

impl LocalPrices {
    fn of(self, kind: MediaKind) -> u64 {
        match kind {
            MediaKind::Image => self.image,
            MediaKind::Video => self.video,
            MediaKind::Audio => self.audio,
            MediaKind::Model3d => self.model_3d,
        }
    }
}

/// The built-in renderer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Local {
    /// How long an order takes; for trying what waits.
    pub delay: Duration,
    /// What orders cost.
    pub prices: LocalPrices,
}

impl Local {
    fn done(job: &Job) -> News {
        let file = UpstreamFile { url: String::new() };
        News::Made(Some(upstream_id(job)), vec![file])
    }
}

fn draw(kind: MediaKind, script: &Script) -> Result<Vec<u8>, String> {
    match kind {
        MediaKind::Image => picture::frame(script),
        MediaKind::Video => picture::film(script),
        MediaKind::Audio => Ok(sound::bed(script)),
        MediaKind::Model3d => Ok(solid::body(script)),
    }
}

fn upstream_id(job: &Job) -> String {
    format!("local-{}", job.id)
}

#[async_trait]
impl MediaProvider for Local {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offers(&self) -> Vec<Offer> {
        let size = json!({"type": "object", "properties": {
            "width": {"type": "integer"}, "height": {"type": "integer"}, "title": {"type": "string"},
        }});
        let sound = json!({"type": "object", "properties": {"seconds": {"type": "number"}, "title": {"type": "string"}}});
        let offers = [
            (
                MediaKind::Image,
                "frame",
                "A drawn PNG frame: title, prompt, palette and composition.",
                &size,
            ),
            (
                MediaKind::Video,
                "animatic",
                "An animated preview of a shot: a moving frame as a GIF.",
                &size,
            ),
            (
                MediaKind::Audio,
                "tone bed",
                "A quiet bed of tones as a WAV file.",
                &sound,
            ),
            (
                MediaKind::Model3d,
                "block-out",
                "A small coloured body as a GLB file.",
                &sound,
            ),
        ];
        offers
            .into_iter()
            .map(|(kind, name, description, inputs)| Offer {
                name: name.to_owned(),
                kind,
                description: description.to_owned(),
                inputs: inputs.clone(),
                price: Price::Known(self.prices.of(kind)),
            })
            .collect()
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            is_idempotent: true,
            cancels: true,
            calls_back: false,
        }
    }

    async fn send(&self, job: &Job, _: &Material) -> Sent {
        Sent::News(if self.delay.is_zero() {
            Self::done(job)
        } else {
            News::Accepted(upstream_id(job))
        })
    }

    async fn look(&self, job: &Job) -> News {
        Self::done(job)
    }

    async fn cancel(&self, job: &Job) -> News {
        News::Cancelled(Some(upstream_id(job)))
    }

    async fn source(&self, job: &Job, _: &UpstreamFile) -> Result<Source, String> {
        let (kind, script) = (job.kind, Script::of(job));
        // Drawing takes a while, and threads that serve have other things to do.
        let drawn = tokio::task::spawn_blocking(move || draw(kind, &script)).await;
        let bytes = drawn.map_err(|_| "it could not be drawn".to_owned())?;
        Ok(Source::Bytes(bytes?))
    }

    fn first_look(&self) -> Option<Duration> {
        Some(self.delay)
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::super::tests::job;
    use super::*;

    fn bytes(kind: MediaKind, prompt: &str) -> Vec<u8> {
        let mut job = job(Timestamp::from_micros(0));
        (job.kind, job.prompt) = (kind, prompt.to_owned());
        draw(kind, &Script::of(&job)).expect("it is drawn")
    }

    #[test]
    fn a_frame_is_a_picture_that_follows_from_its_words() {
        let prompt = "A lighthouse at night over a dark blue sea. Ночь, маяк. 灯塔";
        let frame = bytes(MediaKind::Image, prompt);
        let picture = image::load_from_memory(&frame).expect("a PNG").to_rgb8();
        assert_eq!(picture.dimensions(), (1024, 576));
        let colours: std::collections::HashSet<_> = picture.pixels().map(|pixel| pixel.0).collect();
        assert!(colours.len() > 20, "{} colours", colours.len());
        assert_eq!(
            frame,
            bytes(MediaKind::Image, prompt),
            "the same order, the same bytes"
        );
        assert_ne!(frame, bytes(MediaKind::Image, "A red desert at noon"));
    }

    #[test]
    fn a_film_moves() {
        use image::AnimationDecoder as _;
        let film = bytes(MediaKind::Video, "Waves roll in");
        let decoder = image::codecs::gif::GifDecoder::new(std::io::Cursor::new(film));
        let frames = decoder.expect("a GIF").into_frames().collect_frames();
        let frames = frames.expect("frames");
        assert!(frames.len() >= 8, "{} frames", frames.len());
        assert_ne!(frames[0].buffer().as_raw(), frames[4].buffer().as_raw());
    }

    #[test]
    fn a_bed_of_tones_sounds_for_as_long_as_it_says() {
        let wav = bytes(MediaKind::Audio, "Calm wind");
        assert_eq!(&wav[..4], b"RIFF");
        let number =
            |at: usize| u32::from_le_bytes(wav[at..at + 4].try_into().expect("four bytes"));
        assert_eq!(number(4) as usize + 8, wav.len());
        assert_eq!(number(40) as usize + 44, wav.len());
        let samples = wav[44..]
            .chunks(2)
            .map(|two| i16::from_le_bytes([two[0], two[1]]));
        assert!(
            samples.into_iter().any(|sample| sample.abs() > 1_000),
            "it is heard"
        );
    }

    #[test]
    fn a_body_is_a_whole_glb() {
        let glb = bytes(MediaKind::Model3d, "A green box");
        assert_eq!(&glb[..4], b"glTF");
        let number =
            |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().expect("four bytes"));
        assert_eq!((number(4), number(8) as usize), (2, glb.len()));
        let length = number(12) as usize;
        let scene: serde_json::Value = serde_json::from_slice(&glb[20..20 + length]).expect("JSON");
        assert_eq!(scene["asset"]["version"], "2.0");
        let binary = scene["buffers"][0]["byteLength"]
            .as_u64()
            .expect("a length") as usize;
        assert_eq!(20 + length + 8 + binary, glb.len());
    }
}
