//! Statistics over the runs of a group.

/// Mean and standard deviation of the sample; none of no values. The deviation of one value is
/// zero.
pub(crate) fn moments(values: &[f64]) -> (Option<f64>, Option<f64>) {
    if values.is_empty() {
        return (None, None);
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (Some(mean), Some((squares / (values.len() - 1).max(1) as f64).sqrt()))
}

/// The median of sorted values: the middle one, or the mean of the two in the middle.
pub(crate) fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (*sorted.get(sorted.len().saturating_sub(1) / 2)?, sorted[sorted.len() / 2]);
    // Equal values are returned as they are: the midpoint of two infinities would be NaN.
    Some(if low == high { low } else { f64::midpoint(low, high) })
}

/// The quantile of sorted values, at least one; between two values it is interpolated linearly.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    let between = place.fract();
    match (low, high) {
        _ if low == high || between == 0.0 => low,
        // Interpolation with an infinite value would give NaN.
        _ if high.is_infinite() => high,
        _ if low.is_infinite() => low,
        _ => low + between * (high - low),
    }
}

/// How many runs diverged and how many are unfinished, in words; empty if none is either.
pub(crate) fn failures(diverged: usize, unfinished: usize, of: usize) -> String {
    let said = [(diverged, "diverged"), (unfinished, "unfinished")];
    let said = said.into_iter().filter(|(count, _)| *count > 0);
    said.map(|(count, what)| format!("{count} of {of} {what}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_said_with_how_many_there_could_be() {
        assert_eq!(failures(0, 0, 10), "");
        assert_eq!(failures(7, 0, 10), "7 of 10 diverged");
        assert_eq!(failures(0, 2, 10), "2 of 10 unfinished");
        assert_eq!(failures(7, 2, 10), "7 of 10 diverged, 2 of 10 unfinished");
    }
}
