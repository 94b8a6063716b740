//! Whether noise has stopped an agent's progress, which shows in how far it has come.

use std::ops::Range;

use crate::direction::{MOST_BLOCKS, Parts, PartsMut};
use crate::{Scalar, linalg};

/// How far an agent has come from where it began.
///
/// The squared distance of a point that moves steadily grows with the square of time, that of a
/// random walk with time, and that of a point that noise keeps about the solution no more. (Pesme,
/// Dieuleveut, Flammarion: *On convergence-diagnostic based step sizes for stochastic gradient
/// descent*, ICML 2020.)
pub(super) struct Progress<'k, T> {
    origin: PartsMut<'k, T>,
    /// The squared distance of each block when it was last looked at.
    distances: &'k mut [T],
    /// Windows since the beginning.
    windows: &'k mut T,
}

impl<'k, T: Scalar> Progress<'k, T> {
    /// An exponent below which noise has stopped the agents: a point that comes closer to the
    /// solution by a factor of e in each unit of time has this one after three.
    pub(super) const STOPPED: f64 = 0.6;

    /// The progress that is kept here, for points like this one.
    pub(super) fn new(like: Parts<'_, T>, keep: &'k mut [T]) -> Self {
        let (shared, rest) = keep.split_at_mut(like.shared.len());
        let (own, rest) = rest.split_at_mut(like.own.len());
        let (distances, windows) = rest.split_at_mut(MOST_BLOCKS);
        Self { origin: PartsMut { shared, own }, distances, windows: &mut windows[0] }
    }

    /// Begins at a point.
    pub(super) fn begin(&mut self, at: Parts<'_, T>) {
        self.origin.copy_from(at);
        *self.windows = T::zero();
    }

    /// At the beginning of a window: the exponent with which the squared distance has grown since
    /// half the time, of the block that grows fastest. It is looked at after 2, 4, 8, … windows.
    pub(super) fn growth(&mut self, now: Parts<'_, T>, blocks: &[Range<usize>]) -> Option<f64> {
        let windows = self.windows.f64() as u64;
        *self.windows += T::one();
        if !windows.is_power_of_two() {
            return None;
        }
        let mut growth = f64::NEG_INFINITY;
        for (block, range) in blocks.iter().take(MOST_BLOCKS).enumerate() {
            let mut distance = linalg::distance_squared(&now.shared[range.clone()], &self.origin.shared[range.clone()]);
            if block == 0 {
                distance += linalg::distance_squared(now.own, self.origin.own);
            }
            let before = std::mem::replace(&mut self.distances[block], distance);
            growth = growth.max((distance / before).f64().log2());
        }
        (windows > 1).then_some(growth)
    }
}

/// The number of scalars that are kept for points of this width.
pub(super) const fn kept(point: usize) -> usize {
    point + MOST_BLOCKS + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// The exponents that are found for a point with a first block of one shared and one private
    /// coordinate, and a second block of two.
    fn exponents(place: impl Fn(u64) -> [f64; 4]) -> Vec<f64> {
        let parts = |point: &[f64; 4]| (point[..3].to_vec(), point[3..].to_vec());
        let mut keep = vec![0.0; kept(4)];
        let mut found = Vec::new();
        for window in 0..=64 {
            let (shared, own) = parts(&place(window));
            let at = Parts { shared: &shared, own: &own };
            let mut progress = Progress::new(at, &mut keep);
            if window == 0 {
                progress.begin(at);
            }
            found.extend(progress.growth(at, &[0..1, 1..3]));
        }
        found
    }

    #[test]
    fn a_point_that_moves_steadily_has_the_exponent_two() {
        for moving in 0..4 {
            let found =
                exponents(|window| std::array::from_fn(|place| if place == moving { window as f64 } else { 1.0 }));
            assert_eq!(found.len(), 6, "after 2, 4, 8, 16, 32 and 64 windows");
            assert!(found.iter().all(|exponent| (exponent - 2.0).abs() < 1e-12), "{found:?}");
        }
    }

    #[test]
    fn a_point_that_noise_keeps_in_its_place_has_the_exponent_zero() {
        let around = |window: u64| {
            let noise: Vec<f64> = Stream::new(3, 0, window, Purpose::Noise).normals(4, 0.1);
            std::array::from_fn(|place| noise[place] + if window == 0 { 5.0 } else { 0.0 })
        };
        assert!(exponents(around).into_iter().all(|exponent| exponent.abs() < 0.2));
    }

    #[test]
    fn one_that_comes_closer_by_e_stops_after_three_times_as_long() {
        let found = exponents(|window| [1.0 - (-(window as f64) / 8.0).exp(); 4]);
        let stopped: Vec<bool> = found.iter().map(|exponent| *exponent < Progress::<f64>::STOPPED).collect();
        assert_eq!(stopped, [false, false, false, false, true, true], "{found:?}");
    }
}
