//! Which lines say something. Nobody can be told by a line that says nothing: it is in every file.

/// Returns true if a line says something: it is not blank, not only punctuation, and not a keyword
/// that stands alone in its language, such as `} else {` in Rust or `end` in Ruby. `language` is a
/// [`Language::id`](super::Language::id).
pub fn says_something(line: &[u8], language: Option<&str>) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let mut words = line.split(|byte| !is_letter(byte)).filter(|word| !word.is_empty());
    match (words.next(), words.next()) {
        (None, _) => false,
        (Some(only), None) => !language.is_some_and(|language| stands_alone(only, language)),
        _ => true,
    }
}

/// Returns true if two texts differ, and only in blank lines.
pub fn differ_in_blank_lines(text: &str, other: &str) -> bool {
    fn lines_with_text(text: &str) -> impl Iterator<Item = &str> {
        text.split('\n').filter(|line| !line.trim().is_empty())
    }
    text != other && lines_with_text(text).eq(lines_with_text(other))
}

fn stands_alone(word: &[u8], language: &str) -> bool {
    LONE_KEYWORDS.iter().any(|(languages, keywords)| {
        languages.split(' ').any(|one| one == language)
            && keywords.split(' ').any(|keyword| keyword.as_bytes() == word)
    })
}

/// Keywords that often have a line to themselves, by language.
const LONE_KEYWORDS: &[(&str, &str)] = &[
    ("rust", "else loop unsafe async"),
    ("python", "else try finally pass"),
    ("go", "else default select defer"),
    ("javascript typescript tsx", "else try finally do default"),
    ("c cpp", "else do try default public private protected"),
    ("java kotlin csharp scala dart swift", "else do try finally default"),
    ("ruby", "end else begin ensure do then private protected"),
    ("lua", "end else do repeat then"),
    ("bash", "fi done else then do esac"),
    ("php", "else try finally do default endif endforeach endwhile"),
    ("elixir", "end else do rescue after"),
    ("julia", "end else begin try finally"),
    ("sql", "begin end else then"),
    ("haskell ocaml", "where do let in else then begin end"),
    ("zig", "else"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_brackets_and_lone_keywords_say_nothing() {
        let says = |line: &str, language| says_something(line.as_bytes(), language);
        for line in ["", "  \t", "});", "} else {", "// ---"] {
            assert!(!says(line, Some("rust")), "{line:?}");
        }
        assert!(says("    return", Some("rust")) && says("é", Some("rust")));
        assert!(!says("  end", Some("ruby")) && says("  end", Some("rust")));
        assert!(says("else", None));
    }

    #[test]
    fn only_lines_without_text_are_blank() {
        let is_blank = |other| differ_in_blank_lines("a\n  b\n", other);
        assert!(is_blank("\na\n \t\n  b\n") && is_blank("a\n  b\n\n") && is_blank("a\n  b"));
        for other in ["a\n  b\n", "a\nb\n", "a\r\n  b\n", "a\n", "a\n  b\nc\n", "\u{feff}a\n  b\n"]
        {
            assert!(!is_blank(other), "{other:?}");
        }
    }

    #[test]
    fn every_language_of_the_list_exists() {
        for language in LONE_KEYWORDS.iter().flat_map(|(languages, _)| languages.split(' ')) {
            assert!(crate::language::by_id(language).is_some(), "{language}");
        }
    }
}
