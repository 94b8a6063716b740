//! Randomness as a pure function of (seed, agent, round, purpose).
//!
//! Philox4x64-10 (Salmon, Moraes, Dror, Shaw: *Parallel random numbers: as easy as 1, 2, 3*, SC
//! 2011) is a block cipher on a counter. Its four counter words are just what we want to name a
//! number by: agent, round, purpose and index. There is no state to carry, to checkpoint or to
//! share between threads.

use crate::Scalar;

/// What a stream is for; two purposes never share a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Making a problem: what all agents share, and what each holds.
    Data,
    /// The noise of an oracle, and its mini-batches.
    Noise,
    /// The edges of a random graph.
    Edges,
    /// The starting vectors of power iterations.
    Probe,
    /// The starting points of agents.
    Start,
    /// The partition of data between agents.
    Partition,
    /// The choice of wrong labels.
    Labels,
    /// The peers that a peer contacts beside its neighbours.
    Contacts,
    /// The incarnations of a peer.
    Lives,
    /// The faults of a simulated network.
    Faults,
    /// The agents that act in a round.
    Activity,
    /// The keys with which simulated nodes seal what they say.
    Seals,
    /// Which part of a table that is too long for a message a peer passes on.
    Table,
    /// What a compressor leaves to chance; the number tells the vectors of a round apart.
    Compression(u32),
    /// For users and tests; the number keeps theirs apart.
    Other(u32),
}

impl Purpose {
    fn word(self) -> u64 {
        match self {
            Self::Data => 0,
            Self::Noise => 1,
            Self::Edges => 2,
            Self::Probe => 3,
            Self::Start => 4,
            Self::Partition => 5,
            Self::Labels => 6,
            Self::Contacts => 7,
            Self::Lives => 8,
            Self::Faults => 9,
            Self::Activity => 10,
            Self::Table => 11,
            Self::Seals => 12,
            Self::Compression(number) => (2 << 32) + u64::from(number),
            Self::Other(number) => (1 << 32) + u64::from(number),
        }
    }
}

/// The agent of a stream that belongs to all of them: a shared matrix, say.
pub const EVERYONE: usize = usize::MAX;

/// The stream of random numbers that (seed, agent, round, purpose) names.
#[derive(Clone, Debug)]
pub struct Stream {
    seed: u64,
    counter: [u64; 4],
    block: [u64; 4],
    used: usize,
}

impl Stream {
    /// The stream at its first number.
    pub fn new(seed: u64, agent: usize, round: u64, purpose: Purpose) -> Self {
        Self { seed, counter: [0, agent as u64, round, purpose.word()], block: [0; 4], used: 4 }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        if self.used == 4 {
            self.block = self.next_block();
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    #[inline(always)]
    fn next_block(&mut self) -> [u64; 4] {
        self.counter[0] += 1;
        philox(self.counter, [self.seed, 0])
    }

    /// Uniform in (0, 1): never 0, so that its logarithm is finite, and never 1.
    pub fn open01(&mut self) -> f64 {
        open01(self.bits())
    }

    /// How many trials fail before one succeeds, where each fails with probability exp(1/`rate`);
    /// at most `limit`, below 2³². Several at once: without a call in the loop, the compiler makes
    /// vectors of them.
    pub fn failures<const N: usize>(&mut self, rate: f64, limit: f64) -> [u32; N] {
        let mut bits = [0; N];
        for block in bits.chunks_mut(4) {
            block.copy_from_slice(&self.next_block()[..block.len()]);
        }
        let mut failures = [0; N];
        for (failures, &bits) in failures.iter_mut().zip(&bits) {
            *failures = ((ln(open01(bits)) * rate).min(limit).floor() + SHIFT).to_bits() as u32;
        }
        failures
    }

    /// A uniform number in (low, high).
    pub fn uniform<T: Scalar>(&mut self, low: f64, high: f64) -> T {
        T::of(low + (high - low) * self.open01())
    }

    /// Uniform in 0..n, by the upper bits of a wide product: its bias is below n/2⁶⁴.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// The numbers 0..n in random order (Fisher and Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }

    /// A pair of independent standard normal numbers (Box and Muller 1958).
    pub fn normal_pair(&mut self) -> (f64, f64) {
        let radius = (-2.0 * self.open01().ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.open01()).sin_cos();
        (radius * cos, radius * sin)
    }

    /// Fills a slice with independent normal numbers of this standard deviation.
    pub fn fill_normal<T: Scalar>(&mut self, deviation: f64, out: &mut [T]) {
        for pair in out.chunks_mut(2) {
            let (first, second) = self.normal_pair();
            pair[0] = T::of(deviation * first);
            if let Some(last) = pair.get_mut(1) {
                *last = T::of(deviation * second);
            }
        }
    }

    /// A vector of uniform numbers.
    pub fn uniforms<T: Scalar>(&mut self, len: usize, low: f64, high: f64) -> Vec<T> {
        (0..len).map(|_| self.uniform(low, high)).collect()
    }

    /// A vector of normal numbers.
    pub fn normals<T: Scalar>(&mut self, len: usize, deviation: f64) -> Vec<T> {
        let mut out = vec![T::zero(); len];
        self.fill_normal(deviation, &mut out);
        out
    }
}

#[inline(always)]
fn open01(bits: u64) -> f64 {
    // The upper 52 bits as the mantissa of a number in [1, 2), from which 1 less half a unit is
    // taken.
    f64::from_bits(bits >> 12 | 1.0f64.to_bits()) - (1.0 - f64::EPSILON / 2.0)
}

/// 2⁵²: a small integer added to it stands in the lowest bits, which converts either way without a
/// conversion.
const SHIFT: f64 = 4_503_599_627_370_496.0;

/// The natural logarithm of a number in (0, 1), to 1e-12:
/// `ln(2ᵉ m) = e ln 2 + 2 artanh((m − 1)/(m + 1))` with m between √½ and √2.
#[inline(always)]
fn ln(x: f64) -> f64 {
    const HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const SERIES: [f64; 7] = [1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0];
    const LIFT: u64 = 1100; // makes the exponent positive for the shift
    let above = x.to_bits().wrapping_sub(HALF);
    let e = f64::from_bits((above.wrapping_add(LIFT << 52) >> 52) | SHIFT.to_bits()) - (SHIFT + LIFT as f64);
    let m = f64::from_bits((above & ((1 << 52) - 1)).wrapping_add(HALF));
    let s = (m - 1.0) / (m + 1.0);
    let sum = SERIES.iter().fold(1.0 / 15.0, |sum: f64, term| term.plus(sum, s * s));
    (2.0 * s * sum).plus(e, std::f64::consts::LN_2)
}

/// Philox4x64 with ten rounds.
#[inline(always)]
fn philox(mut c: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
    const WEYL: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
    for _ in 0..10 {
        let (low0, high0) = wide_product(MULTIPLIERS[0], c[0]);
        let (low1, high1) = wide_product(MULTIPLIERS[1], c[2]);
        c = [high1 ^ c[1] ^ key[0], low1, high0 ^ c[3] ^ key[1], low0];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    c
}

fn wide_product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64, (product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published with the authors' library (Random123, `kat_vectors`).
    #[test]
    fn philox_gives_the_published_answers() {
        let zeros = philox([0; 4], [0; 2]);
        assert_eq!(zeros, [0x1655_4d9e_ca36_314c, 0xdb20_fe9d_672d_0fdc, 0xd7e7_72ce_e186_176b, 0x7e68_b68a_ec7b_a23b]);
        let ones = philox([u64::MAX; 4], [u64::MAX; 2]);
        assert_eq!(ones, [0x87b0_92c3_013f_e90b, 0x438c_3c67_be8d_0224, 0x9cc7_d7c6_9cd7_77b6, 0xa09c_aebf_594f_0ba0]);
    }

    #[test]
    fn every_word_of_the_name_matters() {
        let first = |seed, agent, round, purpose| Stream::new(seed, agent, round, purpose).bits();
        let base = first(1, 2, 3, Purpose::Noise);
        assert_eq!(base, first(1, 2, 3, Purpose::Noise));
        for other in [
            first(2, 2, 3, Purpose::Noise),
            first(1, 3, 3, Purpose::Noise),
            first(1, 2, 4, Purpose::Noise),
            first(1, 2, 3, Purpose::Edges),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn the_logarithm_is_that_of_the_library() {
        let mut stream = Stream::new(3, 0, 0, Purpose::Other(0));
        let corners = [0, u64::MAX, 1 << 63, u64::MAX >> 1, 0xB504_F333_F9DE_6484, 0x5A82_7999_FCEF_3242];
        for bits in corners.into_iter().chain((0..100_000).map(|shift| stream.bits() >> (shift % 50))) {
            let x = open01(bits);
            assert!(0.0 < x && x < 1.0);
            assert!((ln(x) - x.ln()).abs() <= 1e-12 * x.ln().abs(), "ln {x:e}: {} against {}", ln(x), x.ln());
        }
    }

    #[test]
    fn moments_are_those_of_the_distribution() {
        let mut stream = Stream::new(7, 0, 0, Purpose::Other(0));
        let normal: Vec<f64> = stream.normals(200_000, 2.0);
        let mean = normal.iter().sum::<f64>() / normal.len() as f64;
        let variance = normal.iter().map(|v| v * v).sum::<f64>() / normal.len() as f64;
        assert!(mean.abs() < 0.02 && (variance - 4.0).abs() < 0.06, "mean {mean}, variance {variance}");
        let mut counts = [0; 5];
        for _ in 0..50_000 {
            counts[stream.below(5)] += 1;
        }
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{counts:?}");
    }
}
