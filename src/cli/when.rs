//! Formats timestamps as text for people.

use jiff::Timestamp;

use ground::clock;

/// Returns the distance from `now`, such as `2 days ago`. Returns `written` unchanged if it is not
/// a valid timestamp.
pub fn ago(now: Timestamp, written: &str) -> String {
    clock::ago_at(now, written).unwrap_or_else(|| match written.parse::<Timestamp>() {
        Ok(_) => "in the future, by this clock".to_owned(),
        Err(_) => written.to_owned(),
    })
}

/// Returns the time as `2026-02-18 12:00 UTC`. Returns `written` unchanged if it is not a valid
/// timestamp.
pub fn date(written: &str) -> String {
    clock::date(written).unwrap_or_else(|| written.to_owned())
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
