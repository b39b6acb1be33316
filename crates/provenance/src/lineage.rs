//! The history of a block: every record that made it what it is, newest first. An unrecorded change
//! appears as a gap.

use super::matching::Surroundings;
use code::ContentHash;
use ledger::{ClaimRef, Ledger};

/// The maximum number of steps in a lineage. Nobody reads more, and the limit ends a forged cycle.
pub const MAX_STEPS: usize = 200;

/// One step back in a block's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A record that wrote the block in this state.
    Recorded(ClaimRef),
    /// An unrecorded change between the record before this step and the record after it.
    Gap {
        /// The content hash of the block before the newer record, as that record states it.
        before: ContentHash,
    },
}

impl Step {
    /// Returns the record of this step. `None` for a gap.
    pub fn claim(&self) -> Option<ClaimRef> {
        match self {
            Self::Recorded(at) => Some(*at),
            Self::Gap { .. } => None,
        }
    }
}

/// Returns the history of a claim, newest first, beginning with the claim itself.
pub fn history_of_claim(
    ledger: &Ledger,
    surroundings: &dyn Surroundings,
    claim: ClaimRef,
) -> Vec<Step> {
    let mut steps = vec![Step::Recorded(claim)];
    let mut at = claim;
    while steps.len() < MAX_STEPS {
        let range = ledger.claim(at).full_block();
        let (earlier, has_gap) = predecessor(ledger, surroundings, at);
        if has_gap && let Some(before) = &range.replaces {
            steps.push(Step::Gap { before: before.clone() });
        }
        // After a rebase, a record may be older than the record that it continues from. This check
        // also ends a forged cycle.
        let is_known = |earlier: &ClaimRef| steps.contains(&Step::Recorded(*earlier));
        let Some(earlier) = earlier.filter(|earlier| !is_known(earlier)) else { break };
        steps.push(Step::Recorded(earlier));
        at = earlier;
    }
    steps
}

/// Returns the record that a record continues from, and whether there was an unrecorded change
/// between the two, or before this record if there is no earlier one.
fn predecessor(
    ledger: &Ledger,
    surroundings: &dyn Surroundings,
    at: ClaimRef,
) -> (Option<ClaimRef>, bool) {
    let claim = ledger.claim(at);
    let trail = surroundings.trail(&claim.file.relative_path);
    let state = trail.made_by(at);
    let before = state.and_then(|id| trail.state(id).before);
    let known = before.and_then(|before| {
        let earlier = trail.chain(before).find(|id| trail.state(*id).by.is_some())?;
        let stands = trail.state(before).row.text;
        let made = trail.state(earlier).by;
        let was_changed =
            made.is_some_and(|at| ledger.claim(at).recorded_block().recorded.is_some());
        Some((made, was_changed || trail.state(earlier).row.text != stands))
    });
    if let Some(known) = known {
        return known;
    }
    let Some(replaces) = &claim.full_block().replaces else { return (None, false) };
    // The block came from another file, or its history in this file is not known.
    let is_same_file =
        |other: ClaimRef| ledger.claim(other).file.relative_path == claim.file.relative_path;
    let same = ledger.by_content(replaces).into_iter().rev();
    let earlier = |other: &ClaimRef| {
        let range = ledger.claim(*other).full_block();
        *other < at && !range.deleted && !range.is_empty_claim()
    };
    let is_free = |other: &ClaimRef| !is_same_file(*other) || before.is_none();
    let found = same.filter(earlier).filter(is_free).max_by_key(|other| is_same_file(*other));
    (found, found.is_none())
}
