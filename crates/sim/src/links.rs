//! Links that lose, delay and double what is sent over them, round by round.

use fabnet_core::rng::{Purpose, Stream};

/// What links do to messages, and how often agents act.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lossy {
    /// The part of all messages that is lost.
    pub loss: f64,
    /// Messages take up to so many rounds longer.
    pub delay: u64,
    /// The part of all messages that arrives twice.
    pub duplicate: f64,
    /// The part of all rounds in which an agent acts; it sleeps in the others.
    pub activity: f64,
}

impl Default for Lossy {
    /// Perfect links.
    fn default() -> Self {
        Self { loss: 0.0, delay: 0, duplicate: 0.0, activity: 1.0 }
    }
}

/// What is on its way.
#[derive(Clone, Debug)]
pub(crate) struct Links<M> {
    lossy: Lossy,
    seed: u64,
    /// (round of arrival, order, to, message), as sent.
    flying: Vec<(u64, usize, M)>,
}

impl<M: Clone> Links<M> {
    pub(crate) fn new(lossy: Lossy, seed: u64) -> Self {
        Self { lossy, seed, flying: Vec::new() }
    }

    /// Sends what an agent says in a round.
    pub(crate) fn send(&mut self, round: u64, from: usize, messages: impl Iterator<Item = (usize, M)>) {
        let mut stream = Stream::new(self.seed, from, round, Purpose::Faults);
        for (to, message) in messages {
            if stream.open01() < self.lossy.loss {
                continue;
            }
            let copies = if stream.open01() < self.lossy.duplicate { 2 } else { 1 };
            for _ in 0..copies {
                let late = stream.below(self.lossy.delay as usize + 1) as u64;
                self.flying.push((round + late, to, message.clone()));
            }
        }
    }

    /// What arrives by the end of a round, in the order in which it was sent.
    pub(crate) fn arrivals(&mut self, round: u64) -> Vec<(usize, M)> {
        let arrived = self.flying.extract_if(.., |(at, _, _)| *at <= round);
        arrived.map(|(_, to, message)| (to, message)).collect()
    }

    /// Whether an agent acts in a round.
    pub(crate) fn acts(&self, agent: usize, round: u64) -> bool {
        self.lossy.activity >= 1.0
            || Stream::new(self.seed, agent, round, Purpose::Activity).open01() < self.lossy.activity
    }
}
