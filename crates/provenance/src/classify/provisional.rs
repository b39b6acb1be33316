//! Classifies a change from outline hashes alone, if the text before the change is not available.
//!
//! The result is never a refactoring. Even if all tokens are the same, a comment may have changed,
//! and some comments have an effect (`//go:build`, `// Output:`).

use code::Block;
use ledger::{Basis, MutationClass};

use super::super::outline::Against;
use super::Classification;

#[derive(Clone, Copy, Debug)]
pub enum ChangedBlock<'a> {
    /// The block exists and differs from before.
    Now(&'a Block, Against),
    /// The block was removed. Holds its kind and path.
    Gone(&'a str, &'a str),
}

/// Whether both compared versions parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// Both parse without a syntax error.
    Cleanly,
    /// At least one version has a syntax error, so nothing can be proven.
    WithErrors,
}

/// Classifies a change from the hashes of its changed blocks.
pub fn provisional(changed: &[ChangedBlock<'_>], parsed: Parsed) -> Classification {
    let reasons = changed.iter().map(reason).collect();
    let (class, basis) = match parsed {
        _ if changed.is_empty() => (None, Basis::None),
        Parsed::WithErrors => (None, Basis::ParseError),
        Parsed::Cleanly => (Some(MutationClass::IntentEvolution), Basis::None),
    };
    Classification { class, basis, reasons, blocks: Vec::new() }
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
