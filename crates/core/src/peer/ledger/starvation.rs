//! Starvation: what a peer does that receives no mass.

/// The number of consecutive rounds in which a peer received no mass although it should have.
///
/// A starved peer must stop giving: w → 0, and a push-sum step moves the point by η/w.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Starvation {
    rounds: u64,
}

impl Starvation {
    /// Rounds without mass after which a peer asks other members than its sources for a share.
    const ASK_AFTER: u64 = 8;

    /// A peer that has received no mass for this many rounds.
    pub(crate) fn of(rounds: u64) -> Self {
        Self { rounds }
    }

    /// The number of consecutive rounds without mass.
    pub(crate) fn rounds(self) -> u64 {
        self.rounds
    }

    /// Counts a round, in which the peer received mass or not.
    pub(crate) fn count(&mut self, fed: bool) {
        self.rounds = if fed { 0 } else { self.rounds + 1 };
    }

    /// Whether the peer may give a share in this round: a starved one only after 1, 8, 64, …
    /// rounds. It must not stop for ever, or a network in which everybody starves would never
    /// recover.
    pub(crate) fn may_give(self) -> bool {
        self.rounds == 0 || (self.rounds.is_power_of_two() && self.rounds.trailing_zeros().is_multiple_of(3))
    }

    /// Whether the peer asks other members for a share.
    pub(crate) fn asks(self) -> bool {
        self.rounds > Self::ASK_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_starved_peer_gives_after_powers_of_eight() {
        let mut starvation = Starvation::default();
        assert!(starvation.may_give());
        let gives: Vec<u64> = (1..600)
            .filter(|_| {
                starvation.count(false);
                starvation.may_give()
            })
            .collect();
        assert_eq!(gives, [1, 8, 64, 512]);
        starvation.count(true);
        assert!(starvation.may_give() && starvation == Starvation::default());
    }

    #[test]
    fn a_starved_peer_asks_after_eight_rounds() {
        let mut starvation = Starvation::default();
        let asks: Vec<u64> = (1..=10)
            .filter(|_| {
                starvation.count(false);
                starvation.asks()
            })
            .collect();
        assert_eq!(asks, [9, 10]);
    }
}
