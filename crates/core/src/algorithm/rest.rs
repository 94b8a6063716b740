//! The end of a run, in which agents come to agree.

/// Agents rest from a round on: they go on mixing, and move no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    from: u64,
}

impl Rest {
    /// The share of the rounds before it in which step sizes fall.
    const CALMING: f64 = 0.2;

    /// A rest that begins with this round.
    pub(super) fn from(round: u64) -> Self {
        Self { from: round }
    }

    /// Whether agents rest in this round.
    pub(super) fn includes(self, round: u64) -> bool {
        round >= self.from
    }

    /// What is left of step sizes in a round. They fall to zero before agents rest: otherwise these
    /// would rest where the last gradients have thrown them, far from each other.
    pub(super) fn factor(self, round: u64) -> f64 {
        let left = self.from.saturating_sub(round) as f64;
        (left / (Self::CALMING * self.from as f64).max(1.0)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_calm_down_before_they_rest() {
        let rest = Rest::from(100);
        let factors: Vec<f64> = (0..120).map(|round| rest.factor(round)).collect();
        assert!(factors[..=80].iter().all(|factor| *factor == 1.0));
        assert!(factors[80..=100].windows(2).all(|pair| pair[1] < pair[0]), "{factors:?}");
        assert!((factors[90] - 0.5).abs() < 1e-12);
        assert!(factors.iter().zip(0..).all(|(factor, round)| rest.includes(round) == (*factor == 0.0)));
        assert_eq!(Rest::from(0).factor(0), 0.0);
    }
}
