//! A threshold between two groups of numbers.

/// The value that divides numbers into two groups best (Otsu: *A threshold selection method from
/// gray-level histograms*, IEEE Trans. SMC 1979): between the groups the variance
/// `p(1 − p)(m₁ − m₀)²` is largest, where p is the share of one group and m₀, m₁ are the means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Threshold {
    /// Numbers below it belong to the lower group.
    pub(super) value: f64,
    /// The variance between the groups over the variance of all numbers, from 0 to 1.
    pub(super) separation: f64,
    /// The means of the lower and of the upper group.
    pub(super) means: [f64; 2],
}

impl Threshold {
    /// The separation of numbers that are spread evenly. Numbers that a threshold divides no better
    /// than these are not two groups.
    pub(super) const EVEN: f64 = 0.75;

    /// The best threshold of finite numbers; none if they are all equal.
    pub(super) fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
        let (mut below, mut best) = (0.0, None::<(f64, Self)>);
        for (place, pair) in numbers.windows(2).enumerate() {
            // Distances to the mean: sums of numbers that are nearly equal would cancel.
            below += pair[0] - mean;
            let share = (place + 1) as f64 / count;
            let [low, high] = [below / (place + 1) as f64, -below / (count - (place + 1) as f64)];
            let between = share * (1.0 - share) * (high - low).powi(2);
            if pair[0] < pair[1] && best.as_ref().is_none_or(|(most, _)| between > *most) {
                let value = f64::midpoint(pair[0], pair[1]);
                best =
                    Some((between, Self { value, separation: between / variance, means: [mean + low, mean + high] }));
            }
        }
        best.map(|(_, threshold)| threshold)
    }

    /// Whether the numbers form two groups: they are further apart than evenly spread ones.
    pub(super) fn separates(&self) -> bool {
        self.separation > Self::EVEN
    }
}

#[cfg(test)]
mod tests {
    use fabnet_core::rng::{Purpose, Stream};

    use super::*;

    fn stream(number: u64) -> Stream {
        Stream::new(number, 0, 0, Purpose::Other(1))
    }

    #[test]
    fn two_groups_are_divided_between_them() {
        let numbers = [0.1, 0.2, 0.1, 0.9, 0.8, 0.95, 0.9];
        let threshold = Threshold::of(numbers.to_vec()).unwrap();
        assert_eq!(threshold.value, 0.5);
        assert!(threshold.separates() && threshold.separation < 1.0, "{threshold:?}");
        assert!((threshold.means[0] - 0.4 / 3.0).abs() < 1e-12 && (threshold.means[1] - 3.55 / 4.0).abs() < 1e-12);
        // The same numbers on another scale are divided in the same way.
        let scaled = Threshold::of(numbers.iter().map(|number| 0.5 + 1e-9 * number).collect()).unwrap();
        assert!((scaled.separation - threshold.separation).abs() < 1e-6, "{scaled:?}");
    }

    #[test]
    fn one_group_does_not_separate() {
        let even: Vec<f64> = (0..1000).map(f64::from).collect();
        let threshold = Threshold::of(even).unwrap();
        assert!((threshold.separation - Threshold::EVEN).abs() < 1e-3, "{threshold:?}");
        for number in 0..20 {
            let normal: Vec<f64> = stream(number).normals(400, 1.0);
            assert!(!Threshold::of(normal).unwrap().separates());
        }
        assert_eq!(Threshold::of(vec![0.5; 9]), None);
        assert_eq!(Threshold::of(Vec::new()), None);
    }

    #[test]
    fn the_threshold_is_the_best_of_all() {
        for number in 0..20 {
            let mut stream = stream(number);
            let numbers: Vec<f64> = (0..60).map(|_| stream.uniform::<f64>(0.0, 1.0).powi(3)).collect();
            let found = Threshold::of(numbers.clone()).unwrap();
            let between = |value: f64| {
                let (low, high): (Vec<f64>, Vec<f64>) = numbers.iter().partition(|&&number| number < value);
                let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
                (low.len() * high.len()) as f64 * (mean(&low) - mean(&high)).powi(2)
            };
            let best = between(found.value);
            assert!(numbers.iter().all(|&value| between(value).is_nan() || between(value) <= best * (1.0 + 1e-9)));
        }
    }
}
