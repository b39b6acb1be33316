//! Escapes a lesson for Markdown, and only where Markdown would give it another meaning. Agents read
//! the file as it is and copy from it, so `DEBUG=1` and `src/**` must stand there as they are meant.

/// The characters that stand in pairs around a text: `*emphasis*`, `~~deleted~~`, `$mathematics$`.
const PAIRED: [char; 4] = ['*', '_', '~', '$'];

pub(super) fn escaped(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let paired: Vec<char> = PAIRED.into_iter().filter(|mark| has_pair(&chars, *mark)).collect();
    let mut out = String::with_capacity(text.len() + 8);
    for (at, c) in chars.iter().enumerate() {
        if paired.contains(c) || begins_markup(&chars, at) {
            out.push('\\');
        }
        out.push(*c);
    }
    out
}

fn has_pair(chars: &[char], mark: char) -> bool {
    let mut is_open = false;
    for run in runs_of(chars, mark) {
        let before = run.start.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(run.end).copied();
        let is_in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_gap = |c: Option<char>| c.is_none_or(char::is_whitespace);
        // An underscore in a word is only a letter, and a price may follow mathematics.
        let opens = !(is_gap(after) || mark == '_' && is_in_word(before));
        let closes = !(is_gap(before) || matches!(mark, '_' | '$') && is_in_word(after));
        // A run of several marks may be a whole span with nothing in it, such as `$$`.
        if closes && is_open || (mark == '$' && run.len() > 1) {
            return true;
        }
        is_open |= opens;
    }
    // Three tildes at the start of a line begin a block of code.
    mark == '~' && chars.starts_with(&['~', '~', '~'])
}

fn runs_of(chars: &[char], mark: char) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in chars.iter().enumerate().filter(|(_, c)| **c == mark) {
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end = at + 1,
            None => runs.push(at..at + 1),
        }
    }
    runs
}

fn begins_markup(chars: &[char], at: usize) -> bool {
    let rest = &chars[at + 1..];
    let next = rest.first().copied();
    let before = at.checked_sub(1).map(|at| chars[at]);
    let is_first = at == 0;
    match chars[at] {
        '\\' => next.is_some_and(|next| next.is_ascii_punctuation()),
        // A tag, a comment, or an address. At the start it may be one that ends on another line.
        '<' => {
            let is_name =
                next.is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(next));
            let ends = rest.contains(&'>');
            is_name && (is_first || ends) || rest.contains(&'@') && ends
        }
        // A quotation.
        '>' => is_first,
        // An entity, such as `&lt;`.
        '&' => {
            let name = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '#').count();
            name > 0 && rest.get(name) == Some(&';')
        }
        // A link, a footnote, the definition of a link, or a box to tick.
        '[' => {
            let has = |pair: [char; 2]| rest.windows(2).any(|two| two == pair);
            let is_box = is_first && rest.get(1) == Some(&']');
            has([']', '(']) || has([']', '[']) || has([']', ':']) || next == Some('^') || is_box
        }
        // A heading.
        '#' => {
            let more = rest.iter().take_while(|c| **c == '#').count();
            is_first && rest.get(more).is_none_or(|c| c.is_whitespace())
        }
        // A list in the list: `1) first`.
        '.' | ')' => {
            let is_number = at > 0 && chars[..at].iter().all(char::is_ascii_digit);
            is_number && next.is_none_or(char::is_whitespace)
        }
        // Some hosts put the file `docs/x.md` in the place of `@docs/x.md`.
        '@' => before.is_none_or(|before| !before.is_alphanumeric()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::super::section::unescaped;
    use super::*;

    /// Returns what a reader of the item sees, or what it is apart from text.
    fn text_seen_in(item: &str) -> Result<String, String> {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_GFM;
        let text = format!("- {item}\n");
        let mut seen = String::new();
        for event in Parser::new_ext(&text, options) {
            match event {
                Event::Text(part) => seen.push_str(&part),
                Event::Start(Tag::List(None) | Tag::Item)
                | Event::End(TagEnd::List(false) | TagEnd::Item) => {}
                other => return Err(format!("{item:?} holds {other:?}")),
            }
        }
        Ok(seen)
    }

    #[test]
    fn what_markdown_shows_as_it_is_has_no_escapes() {
        for text in [
            "Set DEBUG=1, then run make -j4 && ./x --fast=yes | head",
            "src/** and lib/** belong to the API; see docs/*.md",
            "snake_case, a[0], Vec::<T>::new is a < b, &mut x, x != y, {a: 1}, #12, 50 % + 3",
            "$HOME/.cache is not ~/.cache; it costs $5 and $6",
            r"C:\Users\me, \d+ and user@host",
            "1.5 seconds; https://example.org/a_b?c=d#e",
        ] {
            let wanted = text.replace("::<T>", r"::\<T>");
            assert_eq!(escaped(text), wanted);
            assert_eq!(text_seen_in(&wanted).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_markdown_would_hide_is_escaped() {
        for (text, wanted) in [
            ("__init__ of *this*", r"\_\_init\_\_ of \*this\*"),
            ("**/*.rs", r"\*\*/\*.rs"),
            ("<b> &lt; [x]: y", r"\<b> \&lt; \[x]: y"),
            ("1) one", r"1\) one"),
            ("[x] done [^1]", r"\[x] done \[^1]"),
            ("#### x", r"\#### x"),
            ("see @docs/x.md", r"see \@docs/x.md"),
            ("$x$ and <1@w>", r"\$x\$ and \<1@w>"),
            (r"\* and \\", r"\\* and \\\"),
        ] {
            assert_eq!(escaped(text), wanted);
            assert_eq!(text_seen_in(wanted).as_deref(), Ok(text));
        }
    }

    proptest! {
        #[test]
        fn readers_and_agents_see_what_was_meant(
            raw in "[\\[\\]()!<>*_#=:@/.|~&$^;\\\\ a1wé-]{1,32}|[ -~]{1,30}|\\PC{1,20}"
        ) {
            let text = super::super::section::without_markup(&raw);
            prop_assume!(text.chars().any(char::is_alphanumeric));
            let escaped = escaped(&text);
            prop_assert_eq!(&unescaped(&escaped), &text);
            prop_assert_eq!(text_seen_in(&escaped), Ok(text));
        }
    }
}
