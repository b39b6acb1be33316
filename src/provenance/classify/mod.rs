//! What kind of change a change is.
//!
//! `AST_REFACTOR` is said only by a listed rule that holds in the language
//! (`docs/classify.md` lists them); everything else is `INTENT_EVOLUTION`;
//! where a version that matters does not parse, nothing is said.
//!
//! Two doors: [`change`] compares whole files, before and after, and judges the
//! whole set and each block in it; [`provisional`] has only the hashes of an
//! outline and says what they tell.

use std::ops::Range;

use crate::code::{Document, Identity};
use crate::ledger::{Basis, MutationClass};

mod block;
mod boolean;
mod elsewhere;
mod entries;
mod helpers;
mod imports;
mod inline;
mod judge;
mod order;
mod pairs;
mod provisional;
mod public;
mod reach;
mod relocate;
mod same;
mod surroundings;
mod types;
mod units;

pub use block::{NamedBlock, block};
pub(crate) use provisional::{ChangedBlock, Parsed, provisional};

/// The class of a change, how it was found, and what was found per block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classification {
    /// `None` when undetermined, or when nothing changed (a file claimed as it stands).
    pub class: Option<MutationClass>,
    /// Which kind of proof.
    pub basis: Basis,
    /// One entry a block: `function Foo.bar: formatting`.
    pub reasons: Vec<String>,
    /// The same per block, with each block's own class; only [`change`] knows it.
    pub blocks: Vec<BlockChange>,
}

/// A file of a change set.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Relative to the workspace.
    pub path: &'a str,
    /// `None` where the file is absent.
    pub text: Option<&'a str>,
}

/// What became of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockChange {
    /// The block that stands there now, or that was removed; `None` of a file as a whole.
    pub identity: Option<Identity>,
    /// Its kind, path and what was found: `function Foo.bar: formatting`.
    pub reason: String,
    /// Whether the block still does what it did, wherever it is and whatever it is called now.
    /// `None` where a syntax error keeps that from being known.
    pub class: Option<MutationClass>,
    /// File and bytes before; `None` for an added block.
    pub before: Option<(String, Range<usize>)>,
    /// File and bytes after; `None` for a removed one.
    pub after: Option<(String, Range<usize>)>,
    /// Outside of the block, nobody can tell either: no public name changed, no old name is left.
    pub contained: bool,
}

/// Finds the files outside of a change that hold one of the words, as paths and texts; `None` where nobody can tell.
/// It is asked once for a change, and only if a name is at stake.
pub(crate) type Lookup<'a> = dyn Fn(&[&str]) -> Option<Vec<(String, String)>> + 'a;

/// Classifies a change set of whole files, and takes them for all that there are. A file that is the same on both
/// sides says only what names it uses; it may be left out where none was renamed.
pub fn change(before: &[SourceFile<'_>], after: &[SourceFile<'_>]) -> Classification {
    let read = |files: &[SourceFile<'_>]| -> Vec<(String, Document)> {
        let texts = files.iter().filter_map(|file| Some((file.path, file.text?)));
        texts.map(|(path, text)| (path.to_owned(), Document::from_text(path, text))).collect()
    };
    let (before, after) = (read(before), read(after));
    change_among(&borrowed(&before), &borrowed(&after), &|_| Some(Vec::new()))
}

fn borrowed(files: &[(String, Document)]) -> Vec<(&str, &Document)> {
    files.iter().map(|(path, document)| (path.as_str(), document)).collect()
}

/// The same for files that somebody has read already, by path, among other files, which may use the names of the
/// change. An absent file is left out.
pub(crate) fn change_among(
    before: &[(&str, &Document)],
    after: &[(&str, &Document)],
    others: &Lookup<'_>,
) -> Classification {
    let other = |path: &str| after.iter().find(|file| file.0 == path).map(|file| file.1);
    let data: Vec<entries::DataFile<'_>> = before
        .iter()
        .filter_map(|(path, before)| Some((*path, *before, other(path)?)))
        .filter(|(_, before, after)| entries::is_large_data(before, after))
        .map(|(path, before, after)| entries::DataFile {
            path,
            before: before.clone(),
            after: after.clone(),
        })
        .collect();
    let is_data = |path: &str| data.iter().any(|file| file.path == path);
    let texts = |files: &[(&str, &Document)]| -> Vec<Option<String>> {
        files.iter().map(|(path, one)| (!is_data(path)).then(|| one.text())).collect()
    };
    let (old, new) = (texts(before), texts(after));
    let found = judge::judge(&sources(before, &old), &sources(after, &new), others);
    entries::added(found, &data)
}

fn sources<'a>(files: &[(&'a str, &Document)], texts: &'a [Option<String>]) -> Vec<SourceFile<'a>> {
    let both = files.iter().zip(texts);
    both.map(|((path, _), text)| SourceFile { path, text: text.as_deref() }).collect()
}
