//! What an order's words mean for a drawing: sizes, palette, composition, and a source of numbers that follows from them.

use domain::job::Job;
use uuid::Uuid;

/// A colour: red, green, blue.
pub(super) type Colour = [u8; 3];

/// Sides of frames.
const SIDES: std::ops::RangeInclusive<u64> = 64..=2_048;

/// What is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Composition {
    /// Water below a horizon.
    Sea,
    /// Ridges, one behind the other.
    Mountains,
    /// Blocks along a street.
    City,
    /// One large figure.
    Portrait,
    /// Trees side by side.
    Forest,
    /// Shapes without a place.
    Abstract,
}

/// Words that call for a composition, in English, Russian and Chinese.
const CALLS: [(Composition, &[&str]); 5] = [
    (
        Composition::Portrait,
        &[
            "portrait",
            "close-up",
            "close up",
            "face",
            "hero",
            "character",
            "портрет",
            "крупный план",
            "лицо",
            "геро",
            "персонаж",
            "肖像",
            "特写",
            "人物",
            "角色",
        ],
    ),
    (
        Composition::Sea,
        &[
            "sea",
            "ocean",
            "wave",
            "lake",
            "lighthouse",
            "ship",
            "beach",
            "море",
            "океан",
            "волн",
            "озер",
            "маяк",
            "корабл",
            "海",
            "湖",
            "灯塔",
            "船",
        ],
    ),
    (
        Composition::Mountains,
        &[
            "mountain",
            "hill",
            "desert",
            "dune",
            "valley",
            "гор",
            "холм",
            "пустын",
            "дюн",
            "долин",
            "山",
            "沙漠",
            "谷",
        ],
    ),
    (
        Composition::City,
        &[
            "city",
            "street",
            "house",
            "tower",
            "room",
            "kitchen",
            "город",
            "улиц",
            "дом",
            "башн",
            "комнат",
            "кухн",
            "城",
            "街",
            "房",
        ],
    ),
    (
        Composition::Forest,
        &[
            "forest",
            "tree",
            "garden",
            "park",
            "fox",
            "лес",
            "дерев",
            "сад",
            "парк",
            "лис",
            "林",
            "树",
            "园",
            "狐",
        ],
    ),
];

/// Words of colours, with hue, saturation and lightness.
const COLOURS: [(&[&str], [f32; 3]); 10] = [
    (&["red", "красн", "红"], [0.0, 0.7, 0.45]),
    (
        &["orange", "amber", "оранж", "янтар", "橙"],
        [28.0, 0.8, 0.55],
    ),
    (
        &["yellow", "gold", "жёлт", "желт", "золот", "黄", "金"],
        [48.0, 0.8, 0.55],
    ),
    (&["green", "зелён", "зелен", "绿"], [130.0, 0.45, 0.4]),
    (&["teal", "turquoise", "бирюз", "青"], [178.0, 0.55, 0.4]),
    (&["blue", "син", "голуб", "蓝"], [215.0, 0.6, 0.45]),
    (&["purple", "violet", "фиолет", "紫"], [275.0, 0.5, 0.45]),
    (&["pink", "розов", "粉"], [335.0, 0.6, 0.6]),
    (
        &["night", "dark", "ноч", "тёмн", "темн", "夜", "暗"],
        [225.0, 0.5, 0.2],
    ),
    (
        &["white", "snow", "бел", "снег", "白", "雪"],
        [205.0, 0.25, 0.8],
    ),
];

/// An order as a drawing.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// Its heading.
    pub(super) title: String,
    /// All its words.
    pub(super) prompt: String,
    /// Width and height of a frame.
    pub(super) size: (u32, u32),
    /// From the sky to the foreground, and one that stands out.
    pub(super) palette: [Colour; 5],
    /// What is seen.
    pub(super) composition: Composition,
    /// Whether it is dark.
    pub(super) is_night: bool,
    /// Seconds of sound.
    pub(super) seconds: f32,
    seed: u64,
}

impl Script {
    /// The drawing of an order.
    pub(super) fn of(job: &Job) -> Self {
        let lower = job.prompt.to_lowercase();
        let name = format!("{}\n{}", job.prompt, job.parameters);
        let seed = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).as_u128() as u64;
        let numbers = Numbers(seed);
        let side = |name: &str, default: u64| {
            let given = job.parameters[name].as_u64().unwrap_or(default);
            given.clamp(*SIDES.start(), *SIDES.end()) as u32
        };
        let is_night = COLOURS[8].0.iter().any(|word| lower.contains(word));
        Self {
            title: title(job),
            prompt: job.prompt.clone(),
            size: (side("width", 1_024), side("height", 576)),
            palette: palette(&lower, numbers, is_night),
            composition: composition(&lower),
            is_night,
            seconds: job.parameters["seconds"]
                .as_f64()
                .map_or(6.0, |seconds| seconds.clamp(1.0, 60.0) as f32),
            seed,
        }
    }

    /// Numbers that follow from the words.
    pub(super) fn numbers(&self) -> Numbers {
        Numbers(self.seed)
    }
}

fn title(job: &Job) -> String {
    if let Some(title) = job.parameters["title"].as_str() {
        return title.chars().take(60).collect();
    }
    let words = job.prompt.trim();
    let end = words
        .find(['.', '。', '\n', ',', ';', ':'])
        .unwrap_or(words.len());
    words[..end].chars().take(60).collect()
}

fn composition(lower: &str) -> Composition {
    let called = CALLS
        .iter()
        .find(|(_, words)| words.iter().any(|word| lower.contains(word)));
    called.map_or(Composition::Abstract, |(composition, _)| *composition)
}

fn palette(lower: &str, mut numbers: Numbers, is_night: bool) -> [Colour; 5] {
    let mut named = COLOURS
        .iter()
        .filter(|(words, _)| words.iter().any(|word| lower.contains(word)))
        .map(|(_, colour)| *colour);
    let any = [numbers.fraction() * 360.0, 0.5, 0.45];
    let main = named.next().unwrap_or(any);
    let accent = named
        .next()
        .unwrap_or([main[0] + 150.0 + numbers.fraction() * 60.0, 0.75, 0.55]);
    let shade = |[hue, saturation, _]: [f32; 3], turn: f32, light: f32| {
        let light = if is_night { light * 0.45 } else { light };
        colour(hue + turn, saturation, light)
    };
    [
        shade(main, 0.0, 0.82),
        shade(main, 12.0, 0.62),
        shade(main, -14.0, 0.42),
        shade(main, 6.0, 0.24),
        colour(accent[0], accent[1], accent[2].max(0.5)),
    ]
}

/// From hue, saturation and lightness.
fn colour(hue: f32, saturation: f32, light: f32) -> Colour {
    let chroma = (1.0 - (2.0 * light - 1.0).abs()) * saturation;
    let part = |shift: f32| {
        let place = (shift + hue / 30.0).rem_euclid(12.0);
        let value = light - chroma / 2.0 * (place - 3.0).min(9.0 - place).clamp(-1.0, 1.0);
        (value.clamp(0.0, 1.0) * 255.0) as u8
    };
    [part(0.0), part(8.0), part(4.0)]
}

/// A sequence of numbers without chance (SplitMix64).
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    pub(super) fn fraction(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// From one to below another.
    pub(super) fn between(&mut self, least: f32, most: f32) -> f32 {
        least + (most - least) * self.fraction()
    }
}
