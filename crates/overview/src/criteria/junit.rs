//! Reads from a JUnit XML file how many tests ran and how many of them failed.

use quick_xml::Reader;
use quick_xml::events::Event;

/// How deep elements may be nested. A deeper file is not taken as a report.
const MAX_DEPTH: usize = 64;
const NO_REPORT: &str =
    "it is no JUnit report: neither `testsuites` nor `testsuite` is at its root";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// How many test cases were run. Skipped ones do not count.
    pub tests: u32,
    /// How many test cases have a failure or an error, plus the failures of whole suites.
    pub failed: u32,
}

impl Results {
    pub fn has_passed(self) -> bool {
        self.tests > 0 && self.failed == 0
    }

    /// Reads a report. It counts the elements and ignores the totals in the attributes. `Err` says
    /// why the file is not a JUnit report.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let broken = |at: u64| format!("it is no well-formed XML (byte {at})");
        let text =
            std::str::from_utf8(bytes).map_err(|error| broken(error.valid_up_to() as u64))?;
        let mut reader = Reader::from_str(text);
        let mut found = Self::default();
        let mut open: Vec<String> = Vec::new();
        let mut case = TestCase::default();
        let mut is_report = false;
        loop {
            let at = reader.buffer_position();
            let (name, is_empty) = match reader.read_event().map_err(|_| broken(at))? {
                Event::Start(start) => (start.local_name().as_ref().to_owned(), false),
                Event::Empty(start) => (start.local_name().as_ref().to_owned(), true),
                // The reader has checked that the name is that of the open element.
                Event::End(_) => {
                    if open.pop().as_deref() == Some("testcase") {
                        std::mem::take(&mut case).add_to(&mut found);
                    }
                    continue;
                }
                Event::Eof if open.is_empty() && is_report => return Ok(found),
                Event::Eof if open.is_empty() => return Err(NO_REPORT.to_owned()),
                Event::Eof => return Err(broken(at)),
                _ => continue,
            };
            if open.is_empty() {
                if is_report || !matches!(name.as_str(), "testsuites" | "testsuite") {
                    return Err(NO_REPORT.to_owned());
                }
                is_report = true;
            }
            let in_case = open.iter().any(|outer| outer == "testcase");
            match name.as_str() {
                "testcase" if is_empty => TestCase::default().add_to(&mut found),
                "failure" | "error" if in_case => case.failed = true,
                "failure" | "error" => found.failed += 1,
                "skipped" if in_case => case.skipped = true,
                _ => {}
            }
            if !is_empty {
                open.push(name);
            }
            if open.len() > MAX_DEPTH {
                return Err(broken(at));
            }
        }
    }
}

#[derive(Default)]
struct TestCase {
    failed: bool,
    skipped: bool,
}

impl TestCase {
    fn add_to(self, results: &mut Results) {
        results.tests += u32::from(self.failed || !self.skipped);
        results.failed += u32::from(self.failed);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<(u32, u32)> {
        Results::read(text.as_bytes()).ok().map(|found| (found.tests, found.failed))
    }

    #[test]
    fn cases_are_counted_and_attributes_are_ignored() {
        let cases = [
            (r#"<testsuite tests="9" failures="0"><testcase name="a"/></testsuite>"#, Some((1, 0))),
            (
                r#"<?xml version="1.0"?><testsuites><testsuite><testcase><failure>x &lt; y</failure></testcase><testcase></testcase></testsuite></testsuites>"#,
                Some((2, 1)),
            ),
            ("<testsuite><testcase><skipped/></testcase></testsuite>", Some((0, 0))),
            ("<testsuite><error>setup</error></testsuite>", Some((0, 1))),
            (
                "<testsuite><testcase><system-out><![CDATA[<failure/>]]></system-out></testcase></testsuite>",
                Some((1, 0)),
            ),
            ("<testsuite><testcase></testsuite>", None),
            ("<testsuite><testcase>", None),
            ("<html/>", None),
            ("<testsuite/><testsuite/>", None),
            ("", None),
            ("not xml", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(read(text), wanted, "{text}");
        }
        assert!(!Results::default().has_passed(), "no test at all shows nothing");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(<|>|/|testsuite|testcase|failure|!--|[a-z&;\"'= ]){0,60}") {
            let _ = Results::read(text.as_bytes());
        }
    }
}
