//! Random choices that a seed repeats.
//!
//! Invariants
//! - The seed is printed when the generator is made, and `ATELIER_TEST_SEED` replaces it.

use super::number;

/// A small random generator (xorshift), so that a seed says everything.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator with a fresh seed, or with that of the environment.
    pub(crate) fn new() -> Self {
        let fresh = uuid::Uuid::new_v4().as_u128() as u64 | 1;
        let seed = number("ATELIER_TEST_SEED").unwrap_or(fresh).max(1);
        eprintln!("ATELIER_TEST_SEED={seed}");
        Self(seed)
    }

    /// A generator with this seed, whatever the environment says.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1))
    }

    /// A generator of its own for somebody else, which the same seed makes again.
    pub(crate) fn fork(&mut self) -> Self {
        Self((self.below(usize::MAX) as u64).max(1))
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// One of a few.
    pub(crate) fn choose<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Damages bytes in one place.
    pub(crate) fn damage(&mut self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            bytes.push(self.below(256) as u8);
            return;
        }
        let at = self.below(bytes.len());
        match self.below(6) {
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, self.below(256) as u8),
            2 => bytes.truncate(at),
            3 => bytes[at] ^= 1 << self.below(8),
            4 => {
                bytes[at] = *self.choose(&[
                    0, 1, 2, 7, 10, 0x20, 0x27, 0x28, 0x40, 0x7f, 0x80, 0x84, 0xff,
                ]);
            }
            _ => {
                let other = self.below(bytes.len());
                bytes.swap(at, other);
            }
        }
    }
}
