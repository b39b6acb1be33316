//! Classifies what a change did to a program.
//!
//! The class is `AST_REFACTOR` only if a listed rule proves it for the language (see
//! `docs/classify.md`). Every other change is `INTENT_EVOLUTION`. If a version that matters does
//! not parse, there is no class.
//!
//! [`change`] compares whole files before and after, and classifies the whole set and each block in
//! it.
//!
//! - `units`, `pairs`: divide files into definitions and pair the old ones with the new ones.
//! - `judge`: compares the pairs and combines the results.
//! - `same`, `boolean`, `order`, `statements`, `imports`: rules for equal trees, conditions, member
//!   order and imports.
//! - `helpers`, `inline`, `captured_names`, `types`, `call_targets`: prove the extraction or
//!   inlining of a function.
//! - `moved`: rules for a definition in another place.
//! - `spacing`: which white space has a meaning.
//! - `public`, `mentions`: which names code outside the change can use.
//! - `entries`: large data files.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use code::{Document, Identity};
use judge::ChangeSet;
use ledger::{Basis, MutationClass};

mod boolean;
mod call_targets;
mod captured_names;
mod entries;
mod helpers;
mod imports;
mod inline;
mod judge;
mod mentions;
mod moved;
mod order;
mod pairs;
mod public;
mod same;
mod spacing;
mod statements;
mod types;
mod units;

/// The class of a whole change. A record knows only the part of a change that one tool call made,
/// so its class is provisional; this one is final.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ClassAnswer")]
pub struct Classification {
    /// The class. `AST_REFACTOR` is given only by the listed rules; `None` if a version does not
    /// parse or nothing changed.
    pub class: Option<MutationClass>,
    /// How the class was determined.
    pub basis: Basis,
    /// One entry for each block: `function Foo.bar: formatting`.
    pub reasons: Vec<String>,
    #[serde(skip)]
    pub blocks: Vec<BlockChange>,
}

impl Classification {
    /// Returns a class that is not known, because the text before the change is not.
    pub fn undetermined() -> Self {
        Self { class: None, basis: Basis::None, reasons: Vec::new(), blocks: Vec::new() }
    }

    /// Combines the findings for all changed blocks. `error` is true if one of them does not parse.
    fn from_changes(blocks: Vec<BlockChange>, error: bool) -> Self {
        let is_proven = |block: &BlockChange| {
            block.contained && block.class == Some(MutationClass::AstRefactor)
        };
        let (class, basis) = match (blocks.is_empty(), error) {
            (true, _) => (None, Basis::None),
            (_, true) => (None, Basis::ParseError),
            _ if blocks.iter().all(is_proven) => (Some(MutationClass::AstRefactor), Basis::Rule),
            _ => (Some(MutationClass::IntentEvolution), Basis::None),
        };
        let reasons = blocks.iter().map(|block| block.reason.clone()).collect();
        Self { class, basis, reasons, blocks }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockChange {
    /// The block as it is now, or as it was if it was removed. `None` for a file as a whole.
    pub identity: Option<Identity>,
    /// Kind, path and findings, such as `function Foo.bar: formatting`.
    pub reason: String,
    /// Whether the block still does what it did, wherever it is and whatever its name is now.
    /// `None` if a syntax error makes that impossible to find out.
    pub class: Option<MutationClass>,
    /// The file and byte range after. `None` for a removed block.
    pub after: Option<(String, Range<usize>)>,
    /// True if code outside the block is not affected: no public name changed, and no use of an old
    /// name is left.
    pub contained: bool,
}

impl BlockChange {
    fn of_file(path: &str, finding: &str) -> Self {
        Self {
            identity: None,
            reason: format!("file {path}: {finding}"),
            class: Some(MutationClass::IntentEvolution),
            after: None,
            contained: false,
        }
    }
}

fn class_if(is_proven: bool) -> MutationClass {
    match is_proven {
        true => MutationClass::AstRefactor,
        false => MutationClass::IntentEvolution,
    }
}

/// Finds the files outside a change that contain one of the words, and returns their paths and
/// texts. Returns `None` if this cannot be found out. It is called at most once for a change, and
/// only if a name is affected.
pub type Lookup<'a> = dyn Fn(&[&str]) -> Option<Vec<(String, String)>> + 'a;

/// Classifies a change set of whole files, each with its path and text, on the assumption that there
/// are no other files. A file that is the same on both sides only shows which names it uses, so it
/// may be left out if no name changed. For example, if `a.py` renames `total` to `sum_of`, then
/// `b.py`, which calls `total`, has to be in both lists, or the call that now fails is not seen.
pub fn change(before: &[(&str, &str)], after: &[(&str, &str)]) -> Classification {
    fn read<'a>(files: &[(&'a str, &str)]) -> Vec<(&'a str, Document)> {
        files.iter().map(|(path, text)| (*path, Document::from_text(path, text))).collect()
    }
    change_among(&read(before), &read(after), &|_| Some(Vec::new()))
}

/// Classifies a change set of parsed files, each with its path. `others` finds other files that may
/// use the changed names. A file that does not exist is left out.
pub fn change_among(
    before: &[(&str, Document)],
    after: &[(&str, Document)],
    others: &Lookup<'_>,
) -> Classification {
    let text_after = |path: &str| after.iter().find(|file| file.0 == path).map(|file| &file.1);
    let data: Vec<entries::DataFile<'_>> = before
        .iter()
        .filter_map(|(path, before)| Some((*path, before, text_after(path)?)))
        .filter(|(_, before, after)| entries::is_large_data(before, after))
        .collect();
    let programs = [before, after].map(|files| -> Vec<(&str, &Document)> {
        let is_program = |file: &&(&str, Document)| data.iter().all(|one| one.0 != file.0);
        files.iter().filter(is_program).map(|(path, document)| (*path, document)).collect()
    });
    let [before, after] = &programs;
    entries::added(ChangeSet::from_files(before, after, others).judged(), &data)
}
