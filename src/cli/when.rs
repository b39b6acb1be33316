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

/// Reads a time that somebody wrote: `2026-02-18`, a whole timestamp, or a number of days before `now`
/// such as `30d`.
pub fn parse_start(now: Timestamp, text: &str) -> Option<Timestamp> {
    if let Some(days) = text.strip_suffix('d') {
        let hours = days.parse::<u32>().ok()?.checked_mul(24)?;
        return now.checked_sub(jiff::SignedDuration::from_hours(hours.into())).ok();
    }
    text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok()
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

    #[test]
    fn a_start_is_a_day_or_a_number_of_days() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        for (written, read) in [
            ("30d", Some("2026-01-30T12:00:00Z")),
            ("0d", Some("2026-03-01T12:00:00Z")),
            ("2026-02-18", Some("2026-02-18T00:00:00Z")),
            ("2026-02-18T10:00:00+02:00", Some("2026-02-18T08:00:00Z")),
            ("yesterday", None),
            ("-3d", None),
            ("99999999d", None),
        ] {
            let read = read.map(|read| read.parse().expect("a time"));
            assert_eq!(parse_start(now, written), read, "{written}");
        }
    }
}
