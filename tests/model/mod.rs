//! A book of which intent asked for which text, kept by the one who writes the
//! texts: the oracle of `git_model`. It never reads what the product wrote.
//!
//! Every version of every function is a text that stands nowhere else, so that
//! after whatever git does the text itself says who asked for it.

pub mod code;
pub mod tree;

use std::collections::{BTreeMap, BTreeSet};

use code::Function;

/// What is known of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The intents that may be named: who asked for it, or for what it was made of.
    pub may: BTreeSet<String>,
    /// The text was recorded as it stands in these files, and nobody else can have claimed it.
    pub recorded_in: BTreeSet<String>,
}

/// Every text that was ever written.
#[derive(Clone, Debug, Default)]
pub struct Book {
    texts: BTreeMap<String, Known>,
    /// Of what a text was made.
    from: BTreeMap<String, String>,
    by_name: BTreeMap<String, BTreeSet<String>>,
}

impl Book {
    /// A text that nobody recorded, made of another one (its name and text) or of nothing.
    pub fn wrote(&mut self, name: &str, text: &str, from: Option<(&str, &str)>) {
        if let Some((_, from)) = from {
            self.from.insert(text.to_owned(), from.to_owned());
        }
        let may = from.map(|(then, from)| self.of(then, from).may).unwrap_or_default();
        self.by_name.entry(name.to_owned()).or_default().extend(may.iter().cloned());
        self.texts.insert(text.to_owned(), Known { may, ..Known::default() });
    }

    /// A text that was recorded at once under an intent.
    pub fn recorded(&mut self, name: &str, text: &str, path: &str, intent: &str) {
        self.by_name.entry(name.to_owned()).or_default().insert(intent.to_owned());
        let known = Known {
            may: BTreeSet::from([intent.to_owned()]),
            recorded_in: BTreeSet::from([path.to_owned()]),
        };
        self.texts.insert(text.to_owned(), known);
    }

    /// A text stood changed in a file that somebody recorded as his: that he claims it is no lie.
    pub fn may_be_claimed(&mut self, name: &str, text: &str, intent: &str) {
        self.by_name.entry(name.to_owned()).or_default().insert(intent.to_owned());
        let mut known = self.of(name, text);
        known.may.insert(intent.to_owned());
        known.recorded_in.clear();
        self.texts.insert(text.to_owned(), known);
    }

    /// What may be said of a text. One that nobody wrote was made by a merge: of texts of its name, and of what says the
    /// same under another.
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

    /// Who asked for what was made of a text later.
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

    /// Whether the text was written as it stands.
    pub fn knows(&self, text: &str) -> bool {
        self.texts.contains_key(text)
    }
}
