//! The network: an average of word vectors and of what stands beside them, and two layers that turn it into a meaning.
//!
//! The shapes and steps are those of the published model: vectors of pieces in 512 dimensions, three branches that look at 2, 3
//! and 5 neighbours with a residual each, a norm over all, a sum over the text, and a head with two shortcuts.
//!
//! Invariants
//! - Work grows with the number of pieces, which is cut to [`PIECES`].

use pulp::Arch;

use super::npy::Arrays;
use super::weights::Weights;
use crate::Result;

/// Dimensions of a vector.
const WIDTH: usize = 512;
/// Dimensions of a branch.
const BRANCH: usize = 256;
/// Dimensions between the layers of the head.
const HEAD: usize = 320;
/// Neighbours that each branch looks at, and how many of them stand before.
const BRANCHES: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];
/// All that is known of a piece in its place.
const FEATURES: usize = WIDTH + BRANCHES.len() * BRANCH;
/// The table of pieces is kept in this many parts, each with a scale of its own.
const PARTS: usize = 17;
const PART_ROWS: usize = 7_530;
/// Pieces of one text.
const PIECES: usize = 512;
/// Rows that go through a matrix together.
const ROWS: usize = 4;
/// Columns of a matrix that are looked at together.
const COLUMNS: usize = 16;

/// All weights, ready to be used.
pub(super) struct Network {
    arch: Arch,
    table: Vec<Vec<u8>>,
    scale: Vec<f32>,
    low: Vec<f32>,
    branches: Vec<Branch>,
    /// Over the three branches together.
    branch_norm: Norm,
    norm: Norm,
    project: Matrix,
    project_bias: Vec<f32>,
    d0: Matrix,
    d1: Matrix,
    p1: Matrix,
    d2: Matrix,
    d3: Matrix,
    p3: Matrix,
    epsilon: f32,
}

struct Branch {
    neighbours: usize,
    before: usize,
    project: Matrix,
    bias: Vec<f32>,
    first: (Matrix, Vec<f32>),
    second: (Matrix, Vec<f32>),
}

struct Norm {
    gain: Vec<f32>,
    shift: Vec<f32>,
}

struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
}

/// Reads weights by their names.
struct Reading(Arrays);

impl Reading {
    fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<Matrix> {
        Ok(Matrix {
            rows,
            columns,
            values: self.0.floats(name, rows * columns)?,
        })
    }

    fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>> {
        self.0.floats(name, length)
    }

    fn branch(&mut self, n: usize, before: usize) -> Result<Branch> {
        let first = self.matrix(&format!("w1_{n}"), n * BRANCH, BRANCH)?;
        let second = self.matrix(&format!("w2_{n}"), n * BRANCH, BRANCH)?;
        Ok(Branch {
            neighbours: n,
            before,
            project: self.matrix(&format!("proj{n}"), WIDTH, BRANCH)?,
            bias: self.vector(&format!("proj_b{n}"), BRANCH)?,
            first: (first, self.vector(&format!("b1_{n}"), BRANCH)?),
            second: (second, self.vector(&format!("b2_{n}"), BRANCH)?),
        })
    }

    /// The norm over the three branches together.
    fn branch_norm(&mut self) -> Result<Norm> {
        let (mut gain, mut shift) = (Vec::new(), Vec::new());
        for (n, _) in BRANCHES {
            gain.extend(self.vector(&format!("ln_g{n}"), BRANCH)?);
            shift.extend(self.vector(&format!("ln_b{n}"), BRANCH)?);
        }
        Ok(Norm { gain, shift })
    }
}

impl Network {
    pub(super) fn new(weights: Weights) -> Result<Self> {
        let mut reading = Reading(weights.arrays);
        let mut branches = Vec::new();
        for (n, before) in BRANCHES {
            branches.push(reading.branch(n, before)?);
        }
        let mut table = Vec::new();
        for part in 1..=PARTS {
            table.push(reading.0.bytes(&format!("q{part}"), PART_ROWS * WIDTH)?);
        }
        Ok(Self {
            arch: Arch::new(),
            table,
            scale: reading.vector("scale", PARTS)?,
            low: reading.vector("lo", PARTS)?,
            branches,
            branch_norm: reading.branch_norm()?,
            norm: Norm {
                gain: reading.vector("ln_g", FEATURES)?,
                shift: reading.vector("ln_b", FEATURES)?,
            },
            project: reading.matrix("cnn_W", FEATURES, WIDTH)?,
            project_bias: reading.vector("cnn_b", WIDTH)?,
            d0: reading.matrix("d0", WIDTH, HEAD)?,
            d1: reading.matrix("d1", HEAD, HEAD)?,
            p1: reading.matrix("p1", WIDTH, HEAD)?,
            d2: reading.matrix("d2", HEAD, WIDTH)?,
            d3: reading.matrix("d3", WIDTH, WIDTH)?,
            p3: reading.matrix("p3", HEAD, WIDTH)?,
            epsilon: reading.0.double("eps")? as f32,
        })
    }

    /// The meaning of a text of these pieces, with length 1.
    pub(super) fn forward(&self, pieces: &[u32]) -> Vec<f32> {
        let pieces = &pieces[..pieces.len().min(PIECES)];
        let words: Vec<f32> = pieces.iter().flat_map(|piece| self.piece(*piece)).collect();
        let mut features = vec![0.0; pieces.len() * FEATURES];
        put_column(&mut features, FEATURES, 0, &words);
        let seen = self.see(&words);
        for (place, branch) in self.branches.iter().enumerate() {
            let own = column(&seen, place);
            let seen = self.branch(branch, own, pieces.len());
            put_column(&mut features, FEATURES, WIDTH + place * BRANCH, &seen);
        }
        self.norm.apply(&mut features, self.epsilon);
        let mut sum = vec![0.0; FEATURES];
        for row in features.chunks_exact(FEATURES) {
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        let count = pieces.len().max(1) as f32;
        let mut mean = self.times(&sum, &self.project);
        for (mean, bias) in mean.iter_mut().zip(&self.project_bias) {
            *mean = (*mean + count * bias) / count.sqrt();
        }
        self.head(&mean)
    }

    fn piece(&self, piece: u32) -> impl Iterator<Item = f32> + '_ {
        let (part, row) = (piece as usize % PARTS, piece as usize / PARTS % PART_ROWS);
        let (scale, low) = (self.scale[part], self.low[part]);
        let row = &self.table[part][row * WIDTH..(row + 1) * WIDTH];
        row.iter().map(move |byte| f32::from(*byte) * scale + low)
    }

    /// What each branch sees of the words, side by side.
    fn see(&self, words: &[f32]) -> Vec<f32> {
        let width = self.branches.len() * BRANCH;
        let mut seen = vec![0.0; words.len() / WIDTH * width];
        for (place, branch) in self.branches.iter().enumerate() {
            let mut own = self.times(words, &branch.project);
            add_to_rows(&mut own, &branch.bias);
            put_column(&mut seen, width, place * BRANCH, &own);
        }
        self.branch_norm.apply(&mut seen, self.epsilon);
        seen
    }

    fn branch(&self, branch: &Branch, own: Vec<f32>, count: usize) -> Vec<f32> {
        let mut own = own;
        for (matrix, bias) in [&branch.first, &branch.second] {
            let beside = neighbours(&own, count, branch);
            let mut seen = self.times(&beside, matrix);
            add_to_rows(&mut seen, bias);
            for (own, seen) in own.iter_mut().zip(seen) {
                *own += seen.max(0.0);
            }
        }
        own
    }

    fn head(&self, mean: &[f32]) -> Vec<f32> {
        let y0 = positive(self.times(mean, &self.d0));
        let mut y1 = self.times(mean, &self.p1);
        add_to_rows(&mut y1, &self.times(&y0, &self.d1));
        let y1 = positive(y1);
        let y2 = positive(self.times(&y1, &self.d2));
        let mut meaning = self.times(&y1, &self.p3);
        add_to_rows(&mut meaning, &self.times(&y2, &self.d3));
        for x in &mut meaning {
            *x = x.tanh();
        }
        super::super::to_unit(&mut meaning);
        meaning
    }

    /// Rows times a matrix.
    fn times(&self, rows: &[f32], matrix: &Matrix) -> Vec<f32> {
        let mut products = vec![0.0; rows.len() / matrix.rows * matrix.columns];
        self.arch.dispatch(|| multiply(rows, matrix, &mut products));
        products
    }
}

impl Norm {
    /// Gives each row mean 0 and spread 1, and then the gain and shift that were learnt.
    fn apply(&self, rows: &mut [f32], epsilon: f32) {
        let width = self.gain.len();
        for row in rows.chunks_exact_mut(width) {
            let mean = row.iter().sum::<f32>() / width as f32;
            for x in row.iter_mut() {
                *x -= mean;
            }
            let spread = row.iter().map(|x| x * x).sum::<f32>() / width as f32;
            let by = 1.0 / (spread + epsilon).sqrt();
            for ((x, gain), shift) in row.iter_mut().zip(&self.gain).zip(&self.shift) {
                *x = *x * by * gain + shift;
            }
        }
    }
}

/// The part of each row that belongs to a branch.
fn column(rows: &[f32], place: usize) -> Vec<f32> {
    let parts = rows.chunks_exact(BRANCH).skip(place);
    parts.step_by(BRANCHES.len()).flatten().copied().collect()
}

/// Puts rows into wider ones, from this place of each on.
fn put_column(wide: &mut [f32], width: usize, start: usize, rows: &[f32]) {
    let narrow = rows.len() / (wide.len() / width).max(1);
    if narrow == 0 {
        return;
    }
    for (wide, row) in wide.chunks_exact_mut(width).zip(rows.chunks_exact(narrow)) {
        wide[start..start + narrow].copy_from_slice(row);
    }
}

/// Each piece with those beside it; nothing stands before the first and after the last.
fn neighbours(own: &[f32], count: usize, branch: &Branch) -> Vec<f32> {
    let mut beside = vec![0.0; count * branch.neighbours * BRANCH];
    for place in 0..count {
        for offset in 0..branch.neighbours {
            let Some(other) = (place + offset).checked_sub(branch.before) else {
                continue;
            };
            if other < count {
                let to = (place * branch.neighbours + offset) * BRANCH;
                let from = other * BRANCH;
                beside[to..to + BRANCH].copy_from_slice(&own[from..from + BRANCH]);
            }
        }
    }
    beside
}

fn add_to_rows(rows: &mut [f32], more: &[f32]) {
    for row in rows.chunks_exact_mut(more.len()) {
        row.iter_mut().zip(more).for_each(|(x, more)| *x += more);
    }
}

fn positive(mut values: Vec<f32>) -> Vec<f32> {
    for x in &mut values {
        *x = x.max(0.0);
    }
    values
}

/// Some rows at a time, so that each part of the matrix is read once for all of them; sums stay in registers.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of the machine at hand"
)]
fn multiply(rows: &[f32], matrix: &Matrix, products: &mut [f32]) {
    let (depth, width) = (matrix.rows, matrix.columns);
    let groups = rows.chunks(depth * ROWS);
    for (rows, products) in groups.zip(products.chunks_mut(width * ROWS)) {
        let count = rows.len() / depth;
        for start in (0..width).step_by(COLUMNS) {
            let mut sums = [[0.0_f32; COLUMNS]; ROWS];
            for (step, weights) in matrix.values.chunks_exact(width).enumerate() {
                let Some(weights) = weights[start..].first_chunk::<COLUMNS>() else {
                    continue;
                };
                for (row, sums) in sums.iter_mut().enumerate().take(count) {
                    let x = rows[row * depth + step];
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum += x * weight;
                    }
                }
            }
            for (row, sums) in sums.iter().enumerate().take(count) {
                let at = row * width + start;
                products[at..at + COLUMNS].copy_from_slice(sums);
            }
        }
    }
}
