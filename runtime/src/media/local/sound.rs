//! A bed of tones: a chord that follows from the words, swelling slowly, as 16-bit mono WAV.

use super::script::Script;

const RATE: u32 = 22_050;
/// Steps of chords above their root, in half tones.
const CHORDS: [[f32; 4]; 4] = [
    [0.0, 7.0, 12.0, 16.0],
    [0.0, 7.0, 12.0, 15.0],
    [0.0, 5.0, 12.0, 17.0],
    [0.0, 7.0, 14.0, 16.0],
];

/// A WAV file.
pub(super) fn bed(script: &Script) -> Vec<u8> {
    let mut numbers = script.numbers();
    let chord = CHORDS[(numbers.fraction() * 4.0) as usize % 4];
    let lowest = if script.is_night { 98.0 } else { 130.8 };
    let root = lowest * 2.0_f32.powf(numbers.between(0.0, 7.0).floor() / 12.0);
    let count = (script.seconds * RATE as f32) as u32;
    let mut samples = Vec::with_capacity(count as usize * 2);
    for number in 0..count {
        let time = number as f32 / RATE as f32;
        let edge = (time / 0.5)
            .min((script.seconds - time) / 0.5)
            .clamp(0.0, 1.0);
        let mut sum = 0.0;
        for (voice, step) in (0_u8..).zip(chord) {
            let pitch = root * 2.0_f32.powf(step / 12.0);
            let swell = 0.6 + 0.4 * (time * (0.4 + 0.13 * f32::from(voice))).sin();
            sum += swell * (time * pitch * std::f32::consts::TAU).sin() / 5.0;
        }
        samples.extend_from_slice(&((sum * edge * 0.7 * 32_767.0) as i16).to_le_bytes());
    }
    wav(&samples)
}

fn wav(samples: &[u8]) -> Vec<u8> {
    let length = samples.len() as u32;
    let mut file = Vec::with_capacity(samples.len() + 44);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(length + 36).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16_u32.to_le_bytes());
    // PCM, one channel.
    file.extend_from_slice(&[1, 0, 1, 0]);
    file.extend_from_slice(&RATE.to_le_bytes());
    file.extend_from_slice(&(RATE * 2).to_le_bytes());
    file.extend_from_slice(&[2, 0, 16, 0]);
    file.extend_from_slice(b"data");
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(samples);
    file
}
