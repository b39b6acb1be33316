//! The book in which the model keeps which intent asked for which text. `git_model` compares the answers of `why` with
//! it. The model writes the texts itself and never reads what the product wrote.
//!
//! Every version of every function is a text that occurs nowhere else. So after any git command the text itself shows
//! who asked for it.

pub mod code;
pub mod tree;

use std::collections::{BTreeMap, BTreeSet};

use code::Function;

/// What the model knows about a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The intents that may be named: those that asked for the text, or for an earlier version of it.
    pub may: BTreeSet<String>,
    /// The files in which the text was recorded unchanged, if no other intent can have claimed it.
    pub recorded_in: BTreeSet<String>,
}

/// Every text that was ever written.
#[derive(Clone, Debug, Default)]
pub struct Book {
    texts: BTreeMap<String, Known>,
    /// The earlier version of each text.
    from: BTreeMap<String, String>,
    by_name: BTreeMap<String, BTreeSet<String>>,
}

impl Book {
    /// Adds an unrecorded text. `from` is the name and text of its earlier version, if it has one.
    pub fn wrote(&mut self, name: &str, text: &str, from: Option<(&str, &str)>) {
        if let Some((_, from)) = from {
            self.from.insert(text.to_owned(), from.to_owned());
        }
        let may = from.map(|(then, from)| self.of(then, from).may).unwrap_or_default();
        self.by_name.entry(name.to_owned()).or_default().extend(may.iter().cloned());
        self.texts.insert(text.to_owned(), Known { may, ..Known::default() });
    }

    /// Adds a text that was recorded under an intent at once.
    pub fn recorded(&mut self, name: &str, text: &str, path: &str, intent: &str) {
        self.by_name.entry(name.to_owned()).or_default().insert(intent.to_owned());
        let known = Known {
            may: BTreeSet::from([intent.to_owned()]),
            recorded_in: BTreeSet::from([path.to_owned()]),
        };
        self.texts.insert(text.to_owned(), known);
    }

    /// Notes that somebody recorded a file in which this text was changed. The record may claim it, so it is right to
    /// name that intent.
    pub fn may_be_claimed(&mut self, name: &str, text: &str, intent: &str) {
        self.by_name.entry(name.to_owned()).or_default().insert(intent.to_owned());
        let mut known = self.of(name, text);
        known.may.insert(intent.to_owned());
        known.recorded_in.clear();
        self.texts.insert(text.to_owned(), known);
    }

    /// Returns what is known about a text. A text that nobody wrote was made by a merge, from texts with the same name
    /// or the same statements.
    pub fn of(&self, name: &str, text: &str) -> Known {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let mut may = self.by_name.get(name).cloned().unwrap_or_default();
        if let Some(merged) = Function::parse(text) {
            let says_the_same = |known: &&String| {
                Function::parse(known).is_some_and(|known| known.statements == merged.statements)
            };
            let same = self.texts.keys().filter(says_the_same);
            may.extend(same.flat_map(|known| self.texts[known].may.iter().cloned()));
        }
        Known { may, ..Known::default() }
    }

    /// Returns the intents that asked for later versions of a text.
    pub fn later(&self, text: &str) -> BTreeSet<String> {
        let mut later = BTreeSet::new();
        for (made, from) in &self.from {
            if from == text && made != text {
                later.extend(self.texts[made].may.iter().cloned());
                later.extend(self.later(made));
            }
        }
        later
    }

    /// Returns true if exactly this text was written.
    pub fn knows(&self, text: &str) -> bool {
        self.texts.contains_key(text)
    }
}
