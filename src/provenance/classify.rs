//! What kind of change a set of changed blocks is.
//!
//! `AST_REFACTOR` is said only by a listed rule that holds in the language;
//! everything else is `INTENT_EVOLUTION`; where a version does not parse,
//! nothing is said. The rules, so far:
//!
//! - `format`: every changed block has the tokens it had; white space, comments
//!   and what formatters add or take differ. Regions are left out, because a
//!   comment between definitions can be a directive (`//go:build`, `#!`).

use crate::code::{Block, BlockKind};
use crate::ledger::{Basis, MutationClass};

use super::outline::Against;

/// The class of a change, how it was found, and what was found per block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classification {
    /// `None` when undetermined, or when nothing changed (a file claimed as it stands).
    pub class: Option<MutationClass>,
    /// Which kind of proof.
    pub basis: Basis,
    /// One entry a block: `function Foo.bar: formatting`.
    pub reasons: Vec<String>,
}

/// A block that changed.
#[derive(Clone, Copy, Debug)]
pub enum ChangedBlock<'a> {
    /// It stands in the file, other than before.
    Now(&'a Block, Against),
    /// It is gone; its kind and path.
    Gone(&'a str, &'a str),
}

/// Whether the versions compared both parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// Without a syntax error.
    Cleanly,
    /// At least one has an error, so nothing can be proven.
    WithErrors,
}

/// Classifies a change from its changed blocks.
pub fn change(changed: &[ChangedBlock<'_>], parsed: Parsed) -> Classification {
    let reasons = changed.iter().map(reason).collect();
    if changed.is_empty() {
        return Classification { class: None, basis: Basis::None, reasons };
    }
    if parsed == Parsed::WithErrors {
        return Classification { class: None, basis: Basis::ParseError, reasons };
    }
    let format_only = changed.iter().all(is_formatting);
    let (class, basis) = if format_only {
        (MutationClass::AstRefactor, Basis::Rule)
    } else {
        (MutationClass::IntentEvolution, Basis::None)
    };
    Classification { class: Some(class), basis, reasons }
}

fn is_formatting(changed: &ChangedBlock<'_>) -> bool {
    matches!(changed, ChangedBlock::Now(block, Against::Reformatted) if block.identity.kind != BlockKind::Region)
}

fn reason(changed: &ChangedBlock<'_>) -> String {
    match changed {
        ChangedBlock::Gone(kind, path) => format!("{kind} {path}: removed"),
        ChangedBlock::Now(block, against) => {
            let what = match against {
                Against::New => "added",
                Against::Same => "same",
                Against::Reformatted => "formatting",
                Against::Changed => "body",
            };
            format!("{} {}: {what}", block.identity.kind.as_str(), block.identity.path)
        }
    }
}
