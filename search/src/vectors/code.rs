//! Vectors as they are kept: a byte for each dimension and one scale, a quarter of their size at a loss that no order notices.
//!
//! Invariants
//! - Products of kept vectors and a question differ from the exact cosine by less than 0.01 (see the tests).

use domain::Error;

/// Steps of a kept dimension.
const STEPS: f32 = 127.0;
/// Steps of a dimension of a question, which is kept finer: with them no sum of products leaves an i32.
const FINE_STEPS: f32 = 8_191.0;
/// Dimensions whose products are summed side by side.
const SIDE_BY_SIDE: usize = 32;

/// A vector as it is stored: one scale, and a byte for each dimension, little-endian.
pub fn to_bytes(vector: &[f32]) -> Vec<u8> {
    let scale = scale_of(vector, STEPS);
    let mut bytes = Vec::with_capacity(4 + vector.len());
    bytes.extend(scale.to_le_bytes());
    bytes.extend(vector.iter().map(|x| (x / scale).round() as i8 as u8));
    bytes
}

/// Scale and steps of a kept vector.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<(f32, impl Iterator<Item = i8> + '_), Error> {
    let (scale, steps) = bytes
        .split_first_chunk::<4>()
        .ok_or_else(|| Error::internal("a stored vector is cut off"))?;
    Ok((
        f32::from_le_bytes(*scale),
        steps.iter().map(|step| *step as i8),
    ))
}

/// A question, ready to be compared with kept vectors.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    scale: f32,
    steps: Vec<i16>,
}

impl Question {
    pub(crate) fn new(vector: &[f32]) -> Self {
        // Longer vectors get fewer steps, so that the sum stays what it may be.
        let steps = FINE_STEPS.min((i32::MAX as f32 / STEPS / vector.len().max(1) as f32).floor());
        let scale = scale_of(vector, steps);
        let steps = vector.iter().map(|x| (x / scale).round() as i16);
        Self {
            scale,
            steps: steps.collect(),
        }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.steps.len()
    }

    /// The cosine with a kept vector.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "only what is inlined is compiled for the vectors of the machine at hand"
    )]
    pub(crate) fn cosine(&self, scale: f32, steps: &[i8]) -> f32 {
        let mut sums = [0_i32; SIDE_BY_SIDE];
        let (own, own_rest) = self.steps.as_chunks::<SIDE_BY_SIDE>();
        let (kept, kept_rest) = steps.as_chunks::<SIDE_BY_SIDE>();
        for (own, kept) in own.iter().zip(kept) {
            for ((sum, own), kept) in sums.iter_mut().zip(own).zip(kept) {
                *sum += i32::from(*own) * i32::from(*kept);
            }
        }
        let rest = own_rest.iter().zip(kept_rest);
        let rest: i32 = rest
            .map(|(own, kept)| i32::from(*own) * i32::from(*kept))
            .sum();
        (sums.iter().sum::<i32>() + rest) as f32 * self.scale * scale
    }
}

fn scale_of(vector: &[f32], steps: f32) -> f32 {
    let most = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    if most > 0.0 { most / steps } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::to_unit;

    /// Numbers that look random, and are the same in every run.
    fn vector(seed: u64, length: usize) -> Vec<f32> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let mut vector: Vec<f32> = (0..length).map(|_| next()).collect();
        to_unit(&mut vector);
        vector
    }

    #[test]
    fn kept_vectors_give_the_cosine_that_the_exact_ones_give() {
        for (seed, length) in [(1, 512), (2, 384), (3, 7), (4, 8_192)] {
            let (one, other) = (vector(seed, length), vector(seed + 100, length));
            let blend: Vec<f32> = one.iter().zip(&other).map(|(a, b)| a + 0.5 * b).collect();
            for kept in [&one, &other, &blend] {
                let mut kept = kept.clone();
                to_unit(&mut kept);
                let exact: f32 = one.iter().zip(&kept).map(|(a, b)| a * b).sum();
                let bytes = to_bytes(&kept);
                let (scale, steps) = from_bytes(&bytes).expect("whole");
                let steps: Vec<i8> = steps.collect();
                let found = Question::new(&one).cosine(scale, &steps);
                assert!((found - exact).abs() < 0.01, "{found} for {exact}");
            }
        }
    }

    #[test]
    fn a_vector_without_direction_is_like_nothing() {
        let bytes = to_bytes(&[0.0; 512]);
        let (scale, steps) = from_bytes(&bytes).expect("whole");
        let steps: Vec<i8> = steps.collect();
        let found = Question::new(&vector(1, 512)).cosine(scale, &steps);
        assert!(found.abs() < f32::EPSILON);
    }
}
