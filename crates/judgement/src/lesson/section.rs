//! Reads and edits the marked section of a brain file. Works on texts only, not on files.

use super::escapes;
use code::LineRange;
use ground::text;
use why::lesson_error::{LESSONS_BEGIN, LESSONS_END};

/// The heading above the section. It is written before the mark [`LESSONS_BEGIN`], so that a Markdown
/// section above it ends as before.
const HEADING: &str = "## Lessons";
/// The length of the longest line, in characters, including its dash.
const MAX_LINE: usize = 280;
const DASH: &str = "- ";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// The whole text with the lesson added. `None` if the text had the lesson already.
    pub text: Option<String>,
    /// The line of the lesson, counted from 1.
    pub line: u32,
}

/// Turns a text into one line without markup. `None` if no words are left.
///
/// Backticks, and the marks of a list, heading or quotation at the start, are removed. A link
/// becomes its text. Other Markdown syntax is often code and has a meaning, so it stays, escaped where
/// Markdown would give it another one.
pub(super) fn line(raw: &str) -> Option<String> {
    let plain = without_markup(raw);
    if !plain.chars().any(char::is_alphanumeric) {
        return None;
    }
    let most = MAX_LINE - DASH.len();
    let escaped = |length| escapes::escaped(&text::shorten(&plain, length));
    // Escapes take room too, so the text is cut before it is escaped, to the longest length that
    // fits.
    (1..=most).rev().map(escaped).find(|line| line.chars().count() <= most)
}

/// Returns the text with the lesson at the end of its section. If there is no section, one is added
/// at the end of the text.
pub(super) fn place_lesson(before: &str, lesson: &str) -> Result<Placed, String> {
    match section(before)? {
        Some(section) => Ok(section.with_lesson(before, lesson)),
        None => Ok(with_new_section(before, lesson)),
    }
}

pub(super) fn lessons(text: &str) -> Vec<String> {
    let lessons =
        lines_between_marks(text).into_iter().map(|line| without_markup(&unescaped(line)));
    lessons.filter(|lesson| !lesson.is_empty()).collect()
}

fn lines_between_marks(text: &str) -> Vec<&str> {
    let Ok(Some(section)) = section(text) else { return Vec::new() };
    let lines = text.lines().take(section.end).skip(section.begin + 1);
    lines.map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

/// Returns true if the section still has all its earlier lines, in their order, and all new lines
/// are lessons.
pub(super) fn only_adds(before: &str, now: &str) -> bool {
    let before = lines_between_marks(before);
    let mut left = before.iter().peekable();
    let added = lines_between_marks(now)
        .into_iter()
        .filter(|line| left.next_if(|old| *old == line).is_none());
    let all_are_lessons = { added }.all(|line| line.starts_with(DASH));
    all_are_lessons && left.next().is_none()
}

struct LessonSection {
    /// The line of the mark, counted from 0.
    begin: usize,
    end: usize,
    /// The byte offset at which the line of the end mark begins.
    last: usize,
}

fn section(text: &str) -> Result<Option<LessonSection>, String> {
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        match line.trim_start_matches('\u{feff}').trim() {
            LESSONS_BEGIN => begins.push(at),
            LESSONS_END => ends.push((at, start)),
            _ => {}
        }
        start += line.len();
    }
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        ([begin], [(end, last)]) if begin < end => {
            Ok(Some(LessonSection { begin: *begin, end: *end, last: *last }))
        }
        ([_], [_]) => Err("its end mark comes before its begin mark".to_owned()),
        ([_], []) => Err("its end is missing".to_owned()),
        ([], [_]) => Err("its beginning is missing".to_owned()),
        _ => Err("its marks stand there more than once".to_owned()),
    }
}

/// Returns the first and the last line of the section, counted from 1, including the heading above
/// it.
pub(super) fn lines(text: &str) -> Option<LineRange> {
    let section = section(text).ok()??;
    let above: Vec<&str> = text.lines().take(section.begin).collect();
    let blank = above.iter().rev().take_while(|line| line.trim().is_empty()).count();
    let heading = above.len() - blank;
    let is_heading = heading > 0 && above[heading - 1].trim() == HEADING;
    let first = if is_heading { heading - 1 } else { section.begin };
    LineRange::new(number(first), number(section.end))
}

impl LessonSection {
    fn with_lesson(&self, before: &str, lesson: &str) -> Placed {
        let lines = before.lines().enumerate().take(self.end).skip(self.begin + 1);
        let wanted = folded_line(lesson);
        if let Some((at, _)) = lines.into_iter().find(|(_, line)| folded_line(line) == wanted) {
            return Placed { text: None, line: number(at) };
        }
        let (above, below) = before.split_at(self.last);
        let eol = if above.ends_with("\r\n") { "\r\n" } else { "\n" };
        let text = format!("{above}{DASH}{lesson}{eol}{below}");
        Placed { text: Some(text), line: number(self.end) }
    }
}

fn with_new_section(before: &str, lesson: &str) -> Placed {
    let eol = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match before.trim_start_matches('\u{feff}') {
        "" => String::new(),
        text if text.ends_with("\n\n") || text.ends_with("\n\r\n") => String::new(),
        text if text.ends_with('\n') => eol.to_owned(),
        _ => eol.repeat(2),
    };
    let above = format!("{before}{gap}{HEADING}{eol}{eol}{LESSONS_BEGIN}{eol}");
    let line = number(above.matches('\n').count());
    let text = format!("{above}{DASH}{lesson}{eol}{LESSONS_END}{eol}");
    Placed { text: Some(text), line }
}

fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

/// Returns a lesson in a form for comparison. Two lessons are the same if they differ only in case,
/// escapes, list marks, or punctuation at the end.
fn folded_line(line: &str) -> String {
    let plain = without_markup(&unescaped(line)).to_lowercase();
    plain.trim_end_matches(|c: char| matches!(c, '.' | '!' | '…' | ';') || c.is_whitespace()).into()
}

pub(super) fn unescaped(line: &str) -> String {
    let mut unescaped = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\' && chars.peek().is_some_and(char::is_ascii_punctuation);
        unescaped.extend(if escapes { chars.next() } else { Some(c) });
    }
    unescaped
}

/// Returns the text as one line without backticks, links, and marks at the start.
pub(super) fn without_markup(raw: &str) -> String {
    let mut plain = text::terminal(&raw.replace('`', ""));
    loop {
        // Repeat, because removing one link or mark may reveal another one: a link inside a link,
        // for example.
        let unlinked = text::terminal(&without_links(&plain));
        let next = without_marks(&unlinked).to_owned();
        if next == plain {
            return plain;
        }
        plain = next;
    }
}

fn without_marks(mut text: &str) -> &str {
    loop {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let numbered = text.get(digits..).filter(|_| digits > 0);
        let rest = ["- ", "* ", "+ ", "> ", "# ", "## ", "### "]
            .iter()
            .find_map(|mark| text.strip_prefix(mark))
            .or_else(|| numbered?.strip_prefix(". "));
        match rest {
            Some(rest) => text = rest.trim_start(),
            None => return text.trim(),
        }
    }
}

fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, label, after)) = next_link(rest) {
        out.push_str(before.strip_suffix('!').unwrap_or(before));
        out.push_str(label);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn next_link(text: &str) -> Option<(&str, &str, &str)> {
    let middle = text.find("](")?;
    let open = text[..middle].rfind('[')?;
    let close = middle + 2 + text[middle + 2..].find(')')?;
    Some((&text[..open], &text[open + 1..middle], &text[close + 1..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    fn placed(before: &str, lesson: &str) -> String {
        place_lesson(before, &line(lesson).unwrap()).unwrap().text.unwrap()
    }

    #[test]
    fn a_lesson_is_one_line_of_text() {
        let long = "word ".repeat(200);
        let cases = [
            ("Run the tests first.", "Run the tests first."),
            ("  two\r\n\r\nlines\there ", "two lines here"),
            ("- # `cargo test` before a commit", "cargo test before a commit"),
            ("1. see [the guide](https://evil.example) first", "see the guide first"),
            ("![x](https://evil.example/p.png) y", "x y"),
            ("<img src=x> Vec<u8>", r"\<img src=x> Vec\<u8>"),
            (LESSONS_BEGIN, r"\<!-- intent:lessons:begin -->"),
            ("a\u{202e}b", "aU+202Eb"),
            ("DEBUG=1 for src/**", "DEBUG=1 for src/**"),
        ];
        for (raw, wanted) in cases {
            assert_eq!(line(raw).as_deref(), Some(wanted), "{raw:?}");
        }
        for raw in ["", " \n", "---", "` `", "[](x)", "- "] {
            assert_eq!(line(raw), None, "{raw:?}");
        }
        let cut = line(&long).unwrap();
        assert!(cut.ends_with('…') && cut.chars().count() == MAX_LINE - DASH.len(), "{cut}");
    }

    #[test]
    fn the_first_lesson_makes_the_section() {
        let section = format!("## Lessons\n\n{LESSONS_BEGIN}\n- One\n{LESSONS_END}\n");
        for (before, gap) in
            [("", ""), ("# A\n", "\n"), ("# A\n\n", ""), ("# A", "\n\n"), ("\u{feff}", "")]
        {
            assert_eq!(placed(before, "One"), format!("{before}{gap}{section}"), "{before:?}");
        }
        let crlf = section.replace('\n', "\r\n");
        assert_eq!(placed("# A\r\ntext\r\n", "One"), format!("# A\r\ntext\r\n\r\n{crlf}"));
        assert_eq!(placed("# A\r\n\r\n", "One"), format!("# A\r\n\r\n{crlf}"));
    }

    #[test]
    fn the_next_lesson_is_added_at_the_end_of_the_section() {
        let before = format!("x\r\n  {LESSONS_BEGIN}\r\n- One\r\n{LESSONS_END}\r\nno end of line");
        let after = placed(&before, "Two");
        assert_eq!(after, before.replace("- One\r\n", "- One\r\n- Two\r\n"));
        assert_eq!(place_lesson(&after, "Three").unwrap().line, 5);
    }

    #[test]
    fn the_same_lesson_is_written_once() {
        let before = format!("{LESSONS_BEGIN}\n* Use `Vec<u8>` here.\n- a\\_b\n{LESSONS_END}\n");
        for same in ["use Vec<u8> here", "Use `Vec<u8>` here!", "- USE Vec<u8>  HERE", "A_b."] {
            let found = place_lesson(&before, &line(same).unwrap()).unwrap();
            assert_eq!(found.text, None, "{same:?}");
        }
        for other in ["Use Vec<u16> here", "Use Vec<u8>", "a b", "a_b?"] {
            assert!(
                place_lesson(&before, &line(other).unwrap()).unwrap().text.is_some(),
                "{other:?}"
            );
        }
        assert_eq!(lessons(&before), ["Use Vec<u8> here.", "a_b"]);
        // Lines outside the section are not compared.
        assert!(place_lesson("- One\n", "One").unwrap().text.is_some());
    }

    #[test]
    fn unpaired_marks_are_refused() {
        let texts = [
            format!("{LESSONS_BEGIN}\n"),
            format!("{LESSONS_END}\n"),
            format!("{LESSONS_END}\n{LESSONS_BEGIN}\n"),
            format!("{LESSONS_BEGIN}\n{LESSONS_BEGIN}\n{LESSONS_END}\n"),
            format!("{LESSONS_BEGIN}\n{LESSONS_END}\n{LESSONS_BEGIN}\n{LESSONS_END}\n"),
        ];
        for text in texts {
            assert!(place_lesson(&text, "One").is_err(), "{text:?}");
        }
        // A mark in the middle of a line is ordinary text.
        assert!(place_lesson(&format!("as in `{LESSONS_BEGIN}`\n"), "One").is_ok());
    }

    proptest! {
        #[test]
        #[ignore = "slow"]
        fn whatever_is_learned_is_text_in_one_short_line(
            raw in "[\\[\\]()!<>`*_#=:@/.|~&;\\\\ \\na1w-]{0,400}|.{0,40}|\\PC{0,300}"
        ) {
            let Some(lesson) = line(&raw) else { return Ok(()) };
            prop_assert!(lesson.chars().count() + DASH.len() <= MAX_LINE);
            let text = place_lesson("", &lesson).unwrap().text.unwrap();
            prop_assert_eq!(text.lines().count(), 5);
            // Double brackets are a test in a shell more often than a link in a wiki.
            let options = Options::all() - Options::ENABLE_WIKILINKS;
            for event in Parser::new_ext(&text, options) {
                let worse = matches!(
                    event,
                    Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_))
                        | Event::Code(_)
                        | Event::InlineHtml(_)
                );
                prop_assert!(!worse, "{:?} in {:?}", event, text);
            }
            // The section can be parsed again, and the lesson is not added twice.
            prop_assert_eq!(place_lesson(&text, &lesson).unwrap(), Placed { text: None, line: 4 });
        }

        #[test]
        fn the_rest_of_a_file_stays_byte_for_byte(
            above in "(\u{feff})?(.|\r\n|\n){0,40}", below in "(.|\r\n|\n){0,40}"
        ) {
            let before = format!("{above}\n{LESSONS_BEGIN}\n{LESSONS_END}\n{below}");
            let after = placed(&before, "One");
            prop_assert_eq!(after.replacen("- One\n", "", 1), before);
            prop_assert!(placed(&above, "One").starts_with(&above));
        }
    }
}
