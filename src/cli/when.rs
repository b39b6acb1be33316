//! Formats timestamps as text for people.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Returns the distance from `now`, such as `2 days ago`. Returns `written` unchanged if it is not
/// a valid timestamp.
pub(crate) fn ago(now: Timestamp, written: &str) -> String {
    let Ok(then) = written.parse::<Timestamp>() else { return written.to_owned() };
    let seconds = now.as_second() - then.as_second();
    let (count, unit) = match seconds {
        ..-60 => return "in the future, by this clock".to_owned(),
        -60..MINUTE => return "just now".to_owned(),
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        _ if seconds < 14 * DAY => (seconds / DAY, "day"),
        _ if seconds < 60 * DAY => (seconds / (7 * DAY), "week"),
        _ if seconds < 730 * DAY => (seconds / (30 * DAY), "month"),
        _ => (seconds / (365 * DAY), "year"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

/// Returns the time as `2026-02-18 12:00 UTC`. Returns `written` unchanged if it is not a valid
/// timestamp.
pub(crate) fn date(written: &str) -> String {
    match written.parse::<Timestamp>() {
        Ok(then) => then.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => written.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_read_naturally() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        for (written, said) in [
            ("2026-03-01T12:00:30Z", "just now"),
            ("2026-03-01T11:59:30.123Z", "just now"),
            ("2026-03-01T11:59:00Z", "1 minute ago"),
            ("2026-03-01T10:00:00Z", "2 hours ago"),
            ("2026-02-28T12:00:00Z", "1 day ago"),
            ("2026-02-16T12:00:00Z", "13 days ago"),
            ("2026-02-15T12:00:00Z", "2 weeks ago"),
            ("2025-12-01T12:00:00Z", "3 months ago"),
            ("2020-03-01T12:00:00Z", "6 years ago"),
            ("2027-03-01T12:00:00Z", "in the future, by this clock"),
            ("yesterday", "yesterday"),
        ] {
            assert_eq!(ago(now, written), said, "{written}");
        }
    }

    #[test]
    fn dates_are_in_utc() {
        assert_eq!(date("2026-02-18T12:00:00.000+02:00"), "2026-02-18 10:00 UTC");
        assert_eq!(date("soon"), "soon");
    }
}
