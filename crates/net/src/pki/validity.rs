//! The time for which a certificate is valid.

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

/// The time for which a certificate is valid. Both ends are times since 1970-01-01 UTC, in whole
/// seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first moment at which it is valid.
    pub from: Duration,
    /// The last moment at which it is valid.
    pub until: Duration,
}

impl Validity {
    /// The validity of a node's certificate, if nothing else is asked for: 90 days.
    pub const OF_NODES: Duration = Self::days(90);
    /// The validity of an authority's certificate, if nothing else is asked for: two years.
    pub const OF_AUTHORITIES: Duration = Self::days(730);
    /// A certificate is valid from this long before it is issued, because the clocks of two
    /// machines differ.
    const CLOCK_DIFFERENCE: Duration = Duration::from_secs(3600);

    /// The last second of the year 9999: certificates have no later dates.
    const LAST: Duration = Duration::from_secs(253_402_300_799);

    /// The length of some days.
    pub const fn days(days: u32) -> Duration {
        Duration::from_secs(86_400 * days as u64)
    }

    /// A validity that begins at this time and goes on for this long.
    pub(crate) fn starting(now: Duration, valid_for: Duration) -> Self {
        let whole = |time: Duration| Duration::from_secs(time.min(Self::LAST).as_secs());
        Self { from: whole(now.saturating_sub(Self::CLOCK_DIFFERENCE)), until: whole(now.saturating_add(valid_for)) }
    }

    /// Whether the time for which it is valid is still to come.
    pub fn is_to_come(&self, now: Duration) -> bool {
        now < self.from
    }

    /// Whether it has expired.
    pub fn is_over(&self, now: Duration) -> bool {
        now > self.until
    }

    /// The whole days that are left; negative after it has expired.
    pub fn days_left(&self, now: Duration) -> i64 {
        let seconds = self.until.as_secs().cast_signed().saturating_sub(now.as_secs().cast_signed());
        seconds.div_euclid(86_400)
    }
}

/// Writes both ends in UTC.
impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", moment(self.from), moment(self.until))
    }
}

/// Writes a time since 1970-01-01 as a date and a time of day in UTC.
pub(crate) fn moment(time: Duration) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + time.min(Validity::LAST)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_millis(1_700_000_000_900);

    #[test]
    fn a_validity_allows_for_clocks_that_differ_and_ends_after_whole_days() {
        let validity = Validity::starting(NOW, Validity::days(2));
        assert_eq!(validity.to_string(), "2023-11-14T21:13:20Z to 2023-11-16T22:13:20Z");
        let at = |seconds: u64| Duration::from_secs(1_700_000_000 + seconds);
        let states =
            [0, 172_800, 172_801].map(|seconds| (validity.is_to_come(at(seconds)), validity.is_over(at(seconds))));
        assert_eq!(states, [(false, false), (false, false), (false, true)]);
        assert!(
            validity.is_to_come(NOW.saturating_sub(Duration::from_secs(3602)))
                && !validity.is_to_come(NOW.saturating_sub(Duration::from_secs(3600)))
        );
    }

    #[test]
    fn days_left_are_whole_ones_and_negative_afterwards() {
        let validity = Validity::starting(NOW, Validity::days(2));
        let left = |seconds: u64| validity.days_left(Duration::from_secs(1_700_000_000 + seconds));
        assert_eq!([left(0), left(1), left(86_400), left(172_800), left(172_801)], [2, 1, 1, 0, -1]);
    }

    #[test]
    fn no_validity_goes_on_after_the_year_9999() {
        let validity = Validity::starting(NOW, Validity::days(u32::MAX));
        assert_eq!(validity.until, Duration::from_secs(253_402_300_799));
        assert_eq!(moment(Duration::MAX), "9999-12-31T23:59:59Z");
    }
}
