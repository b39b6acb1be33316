//! The history of a block: every record that made it what it is, newest first,
//! with an unrecorded stretch shown as a gap.

use crate::code::ContentHash;
use crate::ledger::{ClaimRef, Ledger};

/// The longest lineage that is followed; nobody reads more, and a forged cycle ends.
pub const MAX_STEPS: usize = 200;

/// One step back in a block's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A record made the block what it was then.
    Recorded(ClaimRef),
    /// Between the record above and the one below, somebody changed the block and nobody recorded it.
    Gap {
        /// What the record above says the block was before.
        before: ContentHash,
    },
}

/// The history behind a claim, the claim itself first.
pub fn of(ledger: &Ledger, claim: ClaimRef) -> Vec<Step> {
    let mut steps = vec![Step::Recorded(claim)];
    let mut at = claim;
    while steps.len() < MAX_STEPS {
        let Some(before) = ledger.claim(at).range.replaces.clone() else { break };
        if let Some(earlier) = predecessor(ledger, at, &before) {
            steps.push(Step::Recorded(earlier));
            at = earlier;
            continue;
        }
        steps.push(Step::Gap { before });
        let Some(earlier) = same_block_before(ledger, at) else { break };
        steps.push(Step::Recorded(earlier));
        at = earlier;
    }
    steps
}

/// The newest earlier claim with exactly that content, on the same path first.
fn predecessor(ledger: &Ledger, at: ClaimRef, content: &ContentHash) -> Option<ClaimRef> {
    let path = &ledger.claim(at).file.relative_path;
    let same = ledger.by_content(content);
    let earlier = |here: bool| {
        same.iter().rev().copied().find(|other| {
            *other < at
                && !ledger.claim(*other).range.deleted
                && (ledger.claim(*other).file.relative_path == *path) == here
        })
    };
    earlier(true).or_else(|| earlier(false))
}

/// The newest earlier claim on the same path that names the same block.
fn same_block_before(ledger: &Ledger, at: ClaimRef) -> Option<ClaimRef> {
    let claim = ledger.claim(at);
    let name = claim.range.block.as_ref()?;
    let here = ledger.of_path(&claim.file.relative_path);
    here.iter()
        .rev()
        .copied()
        .find(|other| *other < at && ledger.claim(*other).range.block.as_ref() == Some(name))
}
