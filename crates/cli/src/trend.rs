//! Where a metric is going, in one sign.

/// Compares the newest value of a metric with one of a while ago.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trend {
    /// A value of a while ago, the newest one, and how many came between them.
    earlier: Option<f64>,
    latest: Option<f64>,
    between: usize,
}

impl Trend {
    /// The number of values after which the newest one is the one of a while ago.
    const WHILE: usize = 10;

    /// Adds the newest value, and describes it: the value, and whether it falls or rises.
    pub(crate) fn describe(&mut self, value: f64) -> String {
        if self.between == Self::WHILE || self.earlier.is_none() {
            (self.earlier, self.between) = (self.latest.or(Some(value)), 0);
        }
        (self.latest, self.between) = (Some(value), self.between + 1);
        let sign = match self.earlier.map(|earlier| value.total_cmp(&earlier)) {
            Some(std::cmp::Ordering::Less) => "↓",
            Some(std::cmp::Ordering::Greater) => "↑",
            _ => "→",
        };
        format!("{value:.2e} {sign}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_compared_with_one_of_a_while_ago() {
        let mut trend = Trend::default();
        assert_eq!(trend.describe(1.0), "1.00e0 →");
        assert_eq!(trend.describe(0.5), "5.00e-1 ↓");
        // One value that rises does not turn the trend.
        assert_eq!(trend.describe(0.75), "7.50e-1 ↓");
        let signs: Vec<String> = (0..30).map(|step| trend.describe(f64::from(step))).collect();
        assert!(signs.last().is_some_and(|last| last == "2.90e1 ↑"), "{signs:?}");
    }
}
