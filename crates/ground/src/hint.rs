//! What mends an error, kept apart from the message that says what happened and where.
//!
//! The command line prints the hint on a line of its own. Where there is one text for both, as in
//! an answer to an agent, [`Hint::with_hint`] joins them.

use std::fmt::Display;

use code::Unread;

pub trait Hint: Display {
    /// Returns what mends the error, such as "convert it to UTF-8". `None` if the message is all
    /// that is known.
    fn hint(&self) -> Option<String>;

    fn with_hint(&self) -> String {
        let message = self.to_string();
        let Some(hint) = self.hint() else { return message };
        if !message.ends_with('.') {
            return format!("{message}; {hint}");
        }
        let (first, rest) = hint.split_at(hint.chars().next().map_or(0, char::len_utf8));
        format!("{message} {}{rest}", first.to_uppercase())
    }
}

impl Hint for Unread {
    fn hint(&self) -> Option<String> {
        matches!(self, Self::NotUtf8 { .. }).then(|| "convert it to UTF-8 to see its blocks".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_and_hint_are_joined_as_one_text() {
        let text = Unread::NotUtf8 { offset: 7 };
        assert!(text.to_string().ends_with("at offset 7)"), "{text}");
        assert_eq!(text.with_hint(), format!("{text}; convert it to UTF-8 to see its blocks"));
        assert_eq!(Unread::Binary.with_hint(), Unread::Binary.to_string());
    }
}
