//! Times as they are written in files: RFC 3339 in UTC with milliseconds.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Formats a time: `2026-02-18T12:00:00.000Z`.
pub(crate) fn format(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Returns the current time in the format of [`format`].
pub(crate) fn now() -> String {
    format(Timestamp::now())
}

/// Returns the current time without fractions of a second: `2026-02-18T12:00:00Z`.
pub(crate) fn now_in_seconds() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now_in_milliseconds() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Returns the time that is `wait` later than now, in the format of [`format`].
pub(crate) fn from_now(wait: Duration) -> String {
    let now = Timestamp::now();
    format(now.checked_add(wait).unwrap_or(now))
}

/// Returns the time this many hours ago, in the format of [`format`].
pub(crate) fn hours_ago(hours: i64) -> String {
    let now = Timestamp::now();
    format(now.checked_sub(SignedDuration::from_hours(hours)).unwrap_or(now))
}

/// Converts a time in RFC 3339 to milliseconds since 1970.
pub(crate) fn milliseconds(time: &str) -> Option<i64> {
    time.trim().parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_written_in_one_form() {
        let now = now();
        assert_eq!(now.len(), "2026-02-18T12:00:00.000Z".len(), "{now}");
        assert!(now.parse::<jiff::Timestamp>().is_ok(), "{now}");
        assert_eq!(&now[19..20], ".");
        assert!(now.ends_with('Z'));
    }
}
