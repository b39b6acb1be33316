//! Detects characters that make a command look like a different one: non-ASCII blanks, which a
//! shell treats as part of a word, and characters that are not displayed.

use std::rc::Rc;

use super::Class;
use super::finding;
use super::simulation::Shell;

/// Returns the first non-ASCII blank or invisible character of a text.
pub(super) fn invisible(text: &str) -> Option<char> {
    text.chars().find(|c| {
        !c.is_ascii() && c.is_whitespace()
            || matches!(c, '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    })
}

impl Shell {
    /// Judges a text that contains `hidden`, a non-ASCII blank or an invisible character.
    ///
    /// The text is walked a second time with non-ASCII blanks replaced by spaces and invisible
    /// characters removed. If that text is destructive, the finding counts. If the name of a
    /// program contains such a character, the text is unreadable.
    pub(super) fn note_disguise(&mut self, text: &str, hidden: char) {
        let plain: String = text
            .chars()
            .filter_map(|c| match invisible(c.encode_utf8(&mut [0; 4])) {
                Some(c) if c.is_whitespace() => Some(' '),
                Some(_) => None,
                None => Some(c),
            })
            .collect();
        let mut other = Shell::new(Rc::clone(&self.at));
        other.text(&plain);
        let worst = other.worst.filter(|finding| finding.class == Class::Destructive);
        let spelled = format!("U+{:04X}", u32::from(hidden));
        if let Some(worst) = worst {
            self.note(worst);
        }
        let hides = self.out.commands.iter().any(|command| {
            command.program.as_deref().is_some_and(|name| invisible(name).is_some())
        });
        if hides {
            self.note(finding::unreadable_rule("syntax.invisible", &spelled));
        }
    }
}
