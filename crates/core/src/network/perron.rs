//! The Perron weights of a sequence of mixing matrices.

use super::mixing_sequence::MixingSequence;
use crate::Mixing;

/// The Perron weights over a cycle: fixed points of the product of its matrices.
pub(super) struct PerronWeights {
    /// α: how much each agent's point counts.
    pub(super) pull: Vec<f64>,
    /// β: how much mass rests with each agent.
    pub(super) push: Vec<f64>,
    /// Whether power iteration has converged within its budget of work.
    pub(super) converged: bool,
}

impl PerronWeights {
    /// Entries of A, and as many of B, that are visited at most for a report.
    pub(super) const WORK: f64 = 2e8;
    /// An entry that has to be drawn takes as long as this many visits.
    const DRAW: f64 = 4.0;

    /// By power iteration over cycles of this many entries, which were looked at before: α
    /// backwards through A, β forwards through B. At least one cycle is passed.
    pub(super) fn new(mixings: &MixingSequence<'_>, entries: f64, work: f64) -> Self {
        let (agents, rounds) = (mixings.agents(), mixings.order().rounds());
        let cost = if mixings.are_kept() { entries } else { Self::DRAW * entries };
        let uniform = vec![1.0 / agents as f64; agents];
        let mut weights = Self { pull: uniform.clone(), push: uniform, converged: false };
        // Rounding adds about this much in a cycle.
        let tolerance = (rounds as f64 * f64::EPSILON).max(1e-14);
        for _ in 0..((work / cost) as usize).max(1) {
            let before = (weights.pull.clone(), weights.push.clone());
            weights.pass_cycle(mixings);
            if distance(&weights.pull, &before.0) + distance(&weights.push, &before.1) < tolerance {
                weights.converged = true;
                break;
            }
        }
        weights
    }

    fn pass_cycle(&mut self, mixings: &MixingSequence<'_>) {
        let (order, mut buffer) = (mixings.order(), vec![0.0; mixings.agents()]);
        for round in (0..order.rounds()).rev() {
            mixings.visit(order.graph_of(round), |mixing| pull_back(mixing, &self.pull, &mut buffer));
            std::mem::swap(&mut self.pull, &mut buffer);
        }
        for round in 0..order.rounds() {
            mixings.visit(order.graph_of(round), |mixing| push_on(mixing, &self.push, &mut buffer));
            std::mem::swap(&mut self.push, &mut buffer);
        }
    }
}

/// The row vector α A.
fn pull_back(mixing: &Mixing, alpha: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (target, &weight) in alpha.iter().enumerate() {
        let row = mixing.row(target);
        row.sources.iter().zip(row.pull).for_each(|(&source, a)| out[source as usize] += weight * a);
    }
}

/// The column vector B β.
fn push_on(mixing: &Mixing, beta: &[f64], out: &mut [f64]) {
    for (target, out) in out.iter_mut().enumerate() {
        let row = mixing.row(target);
        *out = row.sources.iter().zip(row.push).map(|(&source, b)| b * beta[source as usize]).sum();
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Phases, Ring};
    use crate::weights::{Alternating, Uniform};

    #[test]
    fn weights_are_the_same_whether_matrices_are_kept_or_not() {
        let topology = Phases::new(7, 0.3, 4).with_rounds(2);
        let found = [0, 10, 1000].map(|room| {
            let mixings = MixingSequence::new(&topology, &Uniform, 6, room);
            let perron = PerronWeights::new(&mixings, 100.0, 1e6);
            assert_eq!(mixings.are_kept(), room == 1000);
            (perron.pull, perron.push, perron.converged)
        });
        assert!(found[0] == found[1] && found[1] == found[2] && found[2].2, "{found:?}");
    }

    #[test]
    fn weights_that_need_more_work_are_not_said_to_be_known() {
        let (ring, weights) = (Ring::new(30), Alternating::new(0.1, 0.5));
        let mixings = MixingSequence::new(&ring, &weights, 1, 100);
        let converged = |work| PerronWeights::new(&mixings, 60.0, work).converged;
        assert!(!converged(0.0) && !converged(1e3) && converged(1e7));
    }
}
