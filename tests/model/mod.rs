//! The book in which the model keeps who wrote which line. `git_model` compares the answers of `why` with it. The model
//! writes the texts itself and never reads what the product wrote.
//!
//! Every statement and every name of a function occurs nowhere else, but for copies. So after any git command the text
//! itself shows who wrote it. Where the rules let a line have more than one answer, the book has all of them.

pub mod code;
pub mod tree;

use std::collections::{BTreeMap, BTreeSet};

use code::Piece;

/// The intent under which a line was brought. `None` if that is not recorded.
type Owner = Option<String>;

/// What `why` may say of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The intents that may be named: those that may have brought at least half of the lines that say something.
    pub may: BTreeSet<String>,
    /// The intent that must be named, since it brought most of these lines for certain.
    pub must: Option<String>,
}

/// What is known of a statement, or of the first line of a function.
#[derive(Clone, Debug, Default)]
struct Written {
    owners: BTreeSet<Owner>,
    /// The files in which it was recorded.
    recorded_in: BTreeSet<String>,
}

/// Everything that was ever written, and by whom.
#[derive(Clone, Debug, Default)]
pub struct Book {
    written: BTreeMap<String, Written>,
    /// What was written in the present step.
    new: BTreeSet<String>,
    /// What stands in more than one function.
    copied: BTreeSet<String>,
}

impl Book {
    pub fn begin_step(&mut self) {
        self.new.clear();
    }

    /// Adds a text that was written into a file and is not recorded yet. `committed` are the lines that the file has at
    /// `HEAD`.
    pub fn wrote(&mut self, text: &str, path: &str, committed: &BTreeSet<String>) {
        for piece in code::pieces(text) {
            let key = piece.key();
            let is_settled = piece.is_in(committed);
            let known = self.written.entry(key.clone()).or_default();
            if known.owners.is_empty() {
                self.new.insert(key);
            }
            // What was moved here since the commit, and is edited now, has no origin any more.
            if known.owners.is_empty() || !is_settled && !known.recorded_in.contains(path) {
                known.owners.insert(None);
            }
        }
    }

    /// Notes that a file with this function was recorded.
    pub fn recorded(&mut self, text: &str, path: &str, intent: &str, committed: &BTreeSet<String>) {
        let pieces = code::pieces(text);
        let is_copied = |piece: &Piece| self.copied.contains(&piece.key());
        for piece in pieces.iter().filter(|piece| is_copied(piece) || !piece.is_in(committed)) {
            let known = self.written.entry(piece.key()).or_default();
            if self.new.remove(&piece.key()) {
                known.owners = BTreeSet::from([Some(intent.to_owned())]);
                known.recorded_in.insert(path.to_owned());
                continue;
            }
            // Without committed lines nothing shows that the line stands where it was recorded.
            let is_in_place = known.recorded_in.contains(path)
                && !committed.is_empty()
                && !self.copied.contains(&piece.key());
            if !is_in_place {
                known.owners.insert(Some(intent.to_owned()));
            }
        }
    }

    /// Notes that a text is copied. Either of the two texts may be the new one.
    pub fn copied(&mut self, text: &str) {
        self.may_be_lost(text);
        self.copied.extend(code::pieces(text).iter().map(Piece::key));
    }

    /// Notes that the origin of this text may be lost.
    pub fn may_be_lost(&mut self, text: &str) {
        self.may_be_lost_of(text, &BTreeSet::new());
    }

    /// Notes that the origin of what a text has beyond these lines may be lost.
    pub fn may_be_lost_of(&mut self, text: &str, lines: &BTreeSet<String>) {
        for piece in code::pieces(text).iter().filter(|piece| !piece.is_in(lines)) {
            let known = self.written.entry(piece.key()).or_default();
            known.owners.insert(None);
            known.recorded_in.clear();
        }
    }

    /// Returns what `why` may say of a function.
    pub fn about(&self, text: &str) -> Known {
        let pieces = code::pieces(text);
        let total: usize = pieces.iter().map(|piece| piece.lines.len()).sum();
        let (mut possible, mut certain) = (BTreeMap::new(), BTreeMap::new());
        let mut of_anybody = 0;
        for piece in &pieces {
            let lines = piece.lines.len();
            // All functions end with this line, so a hunk may begin on either side of it.
            if Piece::is_last(piece) {
                of_anybody += lines;
                continue;
            }
            let owners = self.written.get(&piece.key()).map(|known| &known.owners);
            let owners: Vec<&Owner> = owners.into_iter().flatten().collect();
            for owner in owners.iter().filter_map(|owner| owner.as_ref()) {
                *possible.entry(owner.clone()).or_insert(0) += lines;
                if owners.len() == 1 {
                    *certain.entry(owner.clone()).or_insert(0) += lines;
                }
            }
        }
        let has_half = |lines: &usize| 2 * (lines + of_anybody) >= total;
        let may = possible.into_iter().filter(|(_, lines)| has_half(lines));
        let must = certain.into_iter().find(|(_, lines)| 2 * lines > total);
        Known { may: may.map(|(intent, _)| intent).collect(), must: must.map(|(intent, _)| intent) }
    }
}
