//! The memory's streaming speed, against which others are measured.

use rayon::prelude::*;

use crate::elapsed;

/// The triad `a = b + s·c`, the usual measure of memory bandwidth.
pub struct Triad {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Triad {
    /// A triad of vectors of this length.
    pub fn new(len: usize) -> Self {
        Self { a: vec![0.0; len], b: vec![1.0; len], c: vec![2.0; len] }
    }

    /// The bandwidth in GB/s, counting two reads and a write.
    pub fn rate(&mut self) -> f64 {
        const PIECE: usize = 1 << 14;
        let Self { a, b, c } = self;
        let time = elapsed(|| {
            a.par_chunks_mut(PIECE).zip(b.par_chunks(PIECE)).zip(c.par_chunks(PIECE)).for_each(|((a, b), c)| {
                for ((a, &b), &c) in a.iter_mut().zip(b).zip(c) {
                    *a = b + 0.5 * c;
                }
            });
        });
        (3 * a.len() * size_of::<f64>()) as f64 / time / 1e9
    }
}
