//! The history of a block: every record that made it what it is, newest first, with an unrecorded stretch shown as a gap.

use super::matching::Surroundings;
use crate::code::ContentHash;
use crate::ledger::{ClaimRef, Ledger};

/// The longest lineage that is followed; nobody reads more, and a forged cycle ends.
pub(crate) const MAX_STEPS: usize = 200;

/// One step back in a block's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A record made the block what it was then.
    Recorded(ClaimRef),
    /// Between the record above and the one below, somebody changed the block and nobody recorded it.
    Gap {
        /// What the record above says the block was before.
        before: ContentHash,
    },
}

/// The history behind a claim, the claim itself first.
pub(crate) fn of(ledger: &Ledger, surroundings: &dyn Surroundings, claim: ClaimRef) -> Vec<Step> {
    let mut steps = vec![Step::Recorded(claim)];
    let mut at = claim;
    while steps.len() < MAX_STEPS {
        let range = ledger.claim(at).range();
        let (earlier, has_gap) = before(ledger, surroundings, at);
        if has_gap && let Some(before) = &range.replaces {
            steps.push(Step::Gap { before: before.clone() });
        }
        // What was rebased may have been recorded before what it goes on from. A forged circle ends.
        let is_known = |earlier: &ClaimRef| steps.contains(&Step::Recorded(*earlier));
        let Some(earlier) = earlier.filter(|earlier| !is_known(earlier)) else { break };
        steps.push(Step::Recorded(earlier));
        at = earlier;
    }
    steps
}

/// The record that a record goes on from, and whether something was not recorded in between, or before it.
fn before(
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
        let was_changed = made.is_some_and(|at| ledger.claim(at).said().recorded.is_some());
        Some((made, was_changed || trail.state(earlier).row.text != stands))
    });
    if let Some(known) = known {
        return known;
    }
    let Some(replaces) = &claim.range().replaces else { return (None, false) };
    // It came from another file, or its own history is not known.
    let here = |other: ClaimRef| ledger.claim(other).file.relative_path == claim.file.relative_path;
    let same = ledger.by_content(replaces).into_iter().rev();
    let earlier = |other: &ClaimRef| {
        let range = ledger.claim(*other).range();
        *other < at && !range.deleted && !range.is_void()
    };
    let is_free = |other: &ClaimRef| !here(*other) || before.is_none();
    let found = same.filter(earlier).filter(is_free).max_by_key(|other| here(*other));
    (found, found.is_none())
}
