//! Times as they are written in files (RFC 3339 in UTC with milliseconds) and for people.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::text::counted;

/// How far the clock of another machine may be ahead of ours, in seconds. A time that is later by
/// less than this counts as the present.
const CLOCK_DIFFERENCE: i64 = 5 * 60;

/// Formats a time: `2026-02-18T12:00:00.000Z`.
pub fn format(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

pub fn now() -> String {
    format(Timestamp::now())
}

/// Returns the current time without fractions of a second: `2026-02-18T12:00:00Z`.
pub fn now_in_seconds() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the current time in nanoseconds since 1970.
pub fn now_in_nanoseconds() -> u128 {
    u128::try_from(Timestamp::now().as_nanosecond()).unwrap_or_default()
}

/// Returns the current time in milliseconds since 1970.
pub fn now_in_milliseconds() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Returns the time that is `wait` later than now, as [`format()`] writes it. If no timestamp can
/// hold that time, it returns the current one.
pub(crate) fn from_now(wait: Duration) -> String {
    let now = Timestamp::now();
    format(now.checked_add(wait).unwrap_or(now))
}

/// Returns the time this many hours ago, as [`format()`] writes it. If no timestamp can hold that
/// time, it returns the current one.
pub fn hours_ago(hours: i64) -> String {
    let now = Timestamp::now();
    format(now.checked_sub(SignedDuration::from_hours(hours)).unwrap_or(now))
}

/// Formats an RFC 3339 time for people, to the minute: `2026-02-18 12:00 UTC`. `None` if the text
/// is no such time.
pub fn date(time: &str) -> Option<String> {
    let time: Timestamp = time.parse().ok()?;
    Some(time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// Returns how long ago an RFC 3339 time was, in one unit: `2 days ago`. `None` if the text is no
/// such time, or if the time lies more than five minutes in the future.
pub fn ago(time: &str) -> Option<String> {
    ago_at(Timestamp::now(), time)
}

pub fn ago_at(now: Timestamp, time: &str) -> Option<String> {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const NEGATIVE_LIMIT: i64 = -CLOCK_DIFFERENCE;
    let then: Timestamp = time.parse().ok()?;
    let seconds = now.as_second() - then.as_second();
    let (length, unit) = match seconds {
        ..NEGATIVE_LIMIT => return None,
        NEGATIVE_LIMIT..MINUTE => return Some("just now".to_owned()),
        MINUTE..HOUR => (MINUTE, "minute"),
        HOUR..DAY => (HOUR, "hour"),
        // Weeks, months and years are used from two of them on, so that none of these answers is
        // off by more than a third.
        _ if seconds < 14 * DAY => (DAY, "day"),
        _ if seconds < 60 * DAY => (7 * DAY, "week"),
        _ if seconds < 730 * DAY => (30 * DAY, "month"),
        _ => (365 * DAY, "year"),
    };
    let number = usize::try_from(seconds / length).unwrap_or_default();
    Some(format!("{} ago", counted(number, unit)))
}

/// Converts a time in RFC 3339 to milliseconds since 1970.
pub fn milliseconds(time: &str) -> Option<i64> {
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
