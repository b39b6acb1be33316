//! What the hashes of an outline tell about a change, where the text before is not at hand.
//!
//! That is never a refactoring: where all tokens are what they were, a comment may still be another one, and there are
//! comments that act (`//go:build`, `// Output:`).

use crate::code::Block;
use crate::ledger::{Basis, MutationClass};

use super::super::outline::Against;
use super::Classification;

/// A block that changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChangedBlock<'a> {
    /// It stands in the file, other than before.
    Now(&'a Block, Against),
    /// It is gone; its kind and path.
    Gone(&'a str, &'a str),
}

/// Whether the versions compared both parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// Without a syntax error.
    Cleanly,
    /// At least one has an error, so nothing can be proven.
    WithErrors,
}

/// Classifies a change from what is known of its changed blocks.
pub(crate) fn provisional(changed: &[ChangedBlock<'_>], parsed: Parsed) -> Classification {
    let reasons = changed.iter().map(reason).collect();
    if changed.is_empty() {
        return Classification { class: None, basis: Basis::None, reasons, blocks: Vec::new() };
    }
    if parsed == Parsed::WithErrors {
        return Classification {
            class: None,
            basis: Basis::ParseError,
            reasons,
            blocks: Vec::new(),
        };
    }
    let class = Some(MutationClass::IntentEvolution);
    Classification { class, basis: Basis::None, reasons, blocks: Vec::new() }
}

fn reason(changed: &ChangedBlock<'_>) -> String {
    match changed {
        ChangedBlock::Gone(kind, path) => format!("{kind} {path}: removed"),
        ChangedBlock::Now(block, against) => {
            let what = match against {
                Against::New => "added",
                Against::Same => "same",
                Against::Reformatted => "same tokens",
                Against::Changed => "body",
            };
            format!("{} {}: {what}", block.identity.kind.as_str(), block.identity.path)
        }
    }
}
