//! The random source of a simulation.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};

use super::fault::{ByFault, Fault};
use super::queue::TICK;

/// Draws everything random of a simulation from one stream, and counts the faults that happen.
///
/// There is a single stream on purpose: a seed then names the whole course of a simulation, in
/// the order in which things happen.
#[derive(Debug)]
pub(super) struct FaultSampler {
    stream: Stream,
    rates: ByFault<f64>,
    counts: ByFault<u64>,
    calm: bool,
}

impl FaultSampler {
    /// A sampler in the chaotic phase of a simulation, with the rate of each fault.
    pub(super) fn new(seed: u64, rates: &ByFault<f64>) -> Self {
        // Round 0 of this stream draws the scenario itself.
        let stream = Stream::new(seed, EVERYONE, 1, Purpose::Faults);
        Self { stream, rates: *rates, counts: ByFault::default(), calm: false }
    }

    /// A uniform number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.stream.below(limit)
    }

    /// One of this many nodes.
    pub(super) fn node(&mut self, nodes: usize) -> u32 {
        self.stream.below(nodes) as u32
    }

    /// A time of fewer moments than `limit`.
    pub(super) fn moments(&mut self, limit: u64) -> u64 {
        self.stream.below(limit as usize) as u64
    }

    /// A delay between one moment and this many ticks.
    pub(super) fn delay(&mut self, ticks: u64) -> u64 {
        1 + self.moments(ticks * TICK)
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.stream.bits()
    }

    /// The rate of a fault in this simulation.
    pub(super) fn rate(&self, fault: Fault) -> f64 {
        self.rates[fault]
    }

    /// Whether a fault of a message or a write happens now: with its rate, scaled so that a rate of
    /// one means the probability `most`. If it does, it is counted.
    pub(super) fn happens(&mut self, fault: Fault, most: f64) -> bool {
        let probability = self.rates[fault] * most;
        let happens = probability > 0.0 && self.stream.open01() < probability;
        if happens {
            self.count(fault);
        }
        happens
    }

    /// The same for a fault that only happens before the calm.
    pub(super) fn happens_in_chaos(&mut self, fault: Fault, most: f64) -> bool {
        !self.calm && self.happens(fault, most)
    }

    /// Counts a fault that has happened.
    pub(super) fn count(&mut self, fault: Fault) {
        self.counts[fault] += 1;
    }

    /// The number of times that each fault has happened.
    pub(super) fn counts(&self) -> ByFault<u64> {
        self.counts
    }

    /// Ends the chaotic phase: from now on only unreliable links and disks are left.
    pub(super) fn calm_down(&mut self) {
        self.calm = true;
    }

    /// Whether the chaotic phase is over.
    pub(super) fn is_calm(&self) -> bool {
        self.calm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sampler with one fault at a rate.
    fn sampler(fault: Fault, rate: f64) -> FaultSampler {
        let mut rates = ByFault::default();
        rates[fault] = rate;
        FaultSampler::new(3, &rates)
    }

    #[test]
    fn a_fault_happens_with_its_scaled_rate_and_is_counted() {
        let mut sampler = sampler(Fault::Loss, 0.5);
        let happened = (0..10_000).filter(|_| sampler.happens(Fault::Loss, 0.4)).count();
        assert!((1800..2200).contains(&happened), "{happened} of 10,000 at a probability of 0.2");
        assert_eq!(sampler.counts()[Fault::Loss], happened as u64);
    }

    #[test]
    fn a_fault_without_a_rate_never_happens_and_draws_nothing() {
        let (mut one, mut other) = (sampler(Fault::Loss, 0.5), sampler(Fault::Loss, 0.5));
        assert!(!one.happens(Fault::Corrupt, 1.0));
        assert_eq!(one.bits(), other.bits(), "a fault that is left out must not shift later draws");
    }

    #[test]
    fn in_the_calm_only_faults_of_chaos_end() {
        let mut sampler = sampler(Fault::Delay, 1.0);
        assert!(sampler.happens_in_chaos(Fault::Delay, 1.0));
        sampler.calm_down();
        assert!(sampler.is_calm() && !sampler.happens_in_chaos(Fault::Delay, 1.0));
        assert!(sampler.happens(Fault::Delay, 1.0));
    }

    #[test]
    fn times_stay_within_their_limits() {
        let mut sampler = sampler(Fault::Loss, 0.0);
        for _ in 0..1000 {
            assert!((1..=2 * TICK).contains(&sampler.delay(2)));
            assert!(sampler.moments(5) < 5 && sampler.node(3) < 3);
        }
    }
}
