//! Lists of words and of places, each written as one text and split when the program is compiled.

#[macro_export]
macro_rules! words {
    ($text:literal) => {{
        use $crate::lists;
        const { &lists::split_words::<{ lists::count($text) }>($text) }
    }};
}

/// Pairs of the kind of a parent node and what is in it: `pair/key call` is `("pair", "key")` and
/// `("call", "")`.
#[macro_export]
macro_rules! places {
    ($text:literal) => {{
        use $crate::lists;
        const { &lists::split_places::<{ lists::count($text) }>($text) }
    }};
}

pub use {places, words};

pub const fn count(text: &str) -> usize {
    let (mut count, mut rest) = (0, text.trim_ascii());
    while !rest.is_empty() {
        (_, rest) = cut_word(rest);
        count += 1;
    }
    count
}

pub const fn split_words<const N: usize>(text: &str) -> [&str; N] {
    let (mut words, mut at, mut rest) = ([""; N], 0, text.trim_ascii());
    while at < N {
        (words[at], rest) = cut_word(rest);
        at += 1;
    }
    words
}

pub const fn split_places<const N: usize>(text: &str) -> [(&str, &str); N] {
    let (words, mut places, mut at) = (split_words::<N>(text), [("", ""); N], 0);
    while at < N {
        places[at] = cut_place(words[at]);
        at += 1;
    }
    places
}

const fn cut_word(text: &str) -> (&str, &str) {
    let mut end = 0;
    while end < text.len() && !text.as_bytes()[end].is_ascii_whitespace() {
        end += 1;
    }
    let (word, rest) = text.split_at(end);
    (word, rest.trim_ascii_start())
}

const fn cut_place(word: &str) -> (&str, &str) {
    let mut end = 0;
    while end < word.len() && word.as_bytes()[end] != b'/' {
        end += 1;
    }
    let (parent, rest) = word.split_at(end);
    (parent, if rest.is_empty() { rest } else { rest.split_at(1).1 })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_text_is_split_into_words_and_places() {
        assert_eq!(words!(" a  b\n    c "), &["a", "b", "c"]);
        let places: &[(&str, &str)] = places!("pair/key call or_pattern/| a//");
        assert_eq!(places, [("pair", "key"), ("call", ""), ("or_pattern", "|"), ("a", "/")]);
    }
}
