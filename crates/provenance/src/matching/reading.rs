//! Finds the state in its history that a block reads as, the record that made this state, and how
//! the block compares with that record.
//!
//! A block that was aligned with its newest recorded state may read as an older one, because a
//! change was undone. So its states are searched, newest first, for one with the same text, then
//! the same tokens, then the same shape. From the state found, the search for the record goes back
//! to the first state that a record made. If there is none, the block is as it was before its first
//! record, and no record applies to it.

use super::align::{Fit, Paired};
use super::rules::{MARGIN, MIN_RENAMED_TOKENS};
use super::{CurrentFile, goes_by_another_name};
use crate::file_history::{StateId, Trail};
use crate::names::{is_called, leaf};
use crate::outline::Row;
use crate::{Content, Placement, Provenance, Rejection, Tier};
use code::{Block, Document, fingerprint, lines};
use ledger::{BlockRecord, ClaimRef, Ledger, sorted};

/// The minimum number of sketch lanes in which a block must equal the text that a record replaced
/// and differ from the recorded text.
const MIN_LANES: usize = 3;
/// The block must equal the replaced text in at least this many times more lanes than the recorded
/// text. Some lanes agree by chance: a lane is one byte, so two unrelated lanes are equal in 1 of
/// 256 cases.
const MANY_TIMES: usize = 16;

/// The result of comparing a block with one version of its file.
#[derive(Clone, Debug)]
pub(super) struct BlockReading {
    /// The recorded state that the block is in now, which may be an older one. `None` if it is not
    /// known, for example because several records fit.
    state: Option<StateId>,
    /// How the block compares with that state.
    content: Content,
    /// The record that made the state or an earlier one.
    pub(super) claim: Option<ClaimRef>,
    /// The newest record of the block, if the block reads as it did before that record.
    stood_before: Option<ClaimRef>,
    tier: Tier,
    pub(super) place: Placement,
    /// All records that fit, if there are several.
    pub(super) candidates: Vec<ClaimRef>,
}

impl BlockReading {
    /// Reads a block as what it was aligned with in an earlier version, whose blocks have the
    /// states `ids`. Returns `None` if the block is new.
    pub(super) fn of_aligned_block(
        file: &CurrentFile<'_>,
        (trail, ids): (&Trail, &[StateId]),
        fit: &Fit,
        (row, block): (&Row, &Block),
    ) -> Option<Self> {
        let paired = match fit {
            Fit::New => return None,
            Fit::Is(paired) => paired,
            Fit::Ambiguous(all) => {
                let claims = all.iter().filter_map(|then| trail.claim(ids[*then]));
                return Some(Self::ambiguous(sorted(claims)));
            }
        };
        let newest = ids[paired.then];
        let (state, content) = state_of(trail, newest, row, block.fingerprint.token_count);
        let claim = author(trail, state, row);
        let mut reading = Self {
            state: Some(state),
            content,
            claim,
            stood_before: trail.claim(newest).filter(|_| claim.is_none()),
            tier: paired.rule.tier,
            place: Placement::Same,
            candidates: Vec::new(),
        };
        reading.look_further_back(file, trail, (row, block));
        Some(reading)
    }

    /// Goes back to earlier records if a change was undone and the block edited since. Such a block
    /// is more like the text that its record replaced than like the recorded text, so it is older
    /// than the record.
    fn look_further_back(
        &mut self,
        file: &CurrentFile<'_>,
        trail: &Trail,
        (row, block): (&Row, &Block),
    ) {
        let ledger = file.ledger;
        while let Some(claim) = self.claim.filter(|_| self.content == Content::Modified) {
            let range = ledger.claim(claim).full_block();
            let lanes = || {
                let made = range.pairs.as_ref()?.lanes()?;
                let before = file.surroundings.pairs_before(claim, range.replaces.as_ref()?)?;
                Some(block.fingerprint.pairs.lanes()?.equal_lanes(&before, &made))
            };
            let is_made_of_before = lanes()
                .is_some_and(|[before, made]| before >= MIN_LANES && made * MANY_TIMES <= before);
            let is_undone = || {
                ledger.is_taken_back(ledger.claim(claim).entry)
                    && !has_line_of(range, file.document, block)
            };
            if !is_made_of_before && !is_undone() {
                return;
            }
            self.stood_before = Some(claim);
            let before = trail.made_by(claim).and_then(|id| trail.state(id).before);
            self.claim = before.and_then(|before| author(trail, before, row));
        }
    }

    /// Creates the reading of a block that several records fit.
    fn ambiguous(candidates: Vec<ClaimRef>) -> Self {
        Self {
            state: None,
            content: Content::Modified,
            claim: None,
            stood_before: None,
            tier: Tier::Text,
            place: Placement::Same,
            candidates,
        }
    }

    /// Returns true if the block reads as its state except for layout and names.
    pub(super) fn is_equal(&self) -> bool {
        self.content != Content::Modified
    }

    pub(super) fn is_renamed(&self, ledger: &Ledger, block: &Block) -> bool {
        self.claim.is_some_and(|at| goes_by_another_name(ledger, at, block))
    }
}

/// Returns true if a block contains a line that a record added, or if this is not known.
fn has_line_of(range: &BlockRecord, document: &Document, block: &Block) -> bool {
    let lines = range.lines.as_ref().and_then(|lines| lines.hashes());
    let Some(recorded) = lines else { return true };
    let all = || Some(vec![true; recorded.len()]);
    let brought = match &range.brought {
        Some(places) => places.selected_among(recorded.len()),
        None => range.replaces.is_none().then(all).flatten(),
    };
    let own = lines::own_lines(document, block);
    let now = lines::matched_own_lines(&recorded, &own);
    brought.is_none_or(|brought| now.into_iter().flatten().any(|line| brought[line]))
}

/// Returns the newest state that reads as the block, by the strictest equality that any state
/// meets. If there is none, returns the newest state with the block's name, or else the newest one.
fn state_of(trail: &Trail, newest: StateId, row: &Row, tokens: u32) -> (StateId, Content) {
    let find =
        |same: &dyn Fn(&Row) -> bool| trail.chain(newest).find(|id| same(&trail.state(*id).row));
    if let Some(id) = find(&|then| then.text == row.text) {
        return (id, Content::Exact);
    }
    if let Some(id) = find(&|then| then.tokens == row.tokens).filter(|_| tokens > 0) {
        return (id, Content::Reformatted);
    }
    let is_sizeable = tokens >= MIN_RENAMED_TOKENS;
    if let Some(id) = find(&|then| then.shape == row.shape).filter(|_| is_sizeable) {
        return (id, Content::Renamed);
    }
    // The block has a name that it had in an earlier state, so the renaming was undone.
    let is_named = |then: &Row| then.identity == row.identity;
    let named = find(&is_named).filter(|_| !row.is_unnamed());
    (named.unwrap_or(newest), Content::Modified)
}

/// Returns the record that made a state. A record that only formatted the block is skipped if that
/// layout is gone.
fn author(trail: &Trail, state: StateId, row: &Row) -> Option<ClaimRef> {
    for id in trail.chain(state) {
        let made = trail.state(id);
        let Some(by) = made.by else { continue };
        let is_layout =
            |before: &Row| before.tokens == made.row.tokens && before.text != made.row.text;
        let only_formatted = made.row.text != row.text
            && made.before.is_some_and(|before| is_layout(&trail.state(before).row));
        if !only_formatted {
            return Some(by);
        }
    }
    None
}

/// Combines the readings of a block against several versions. Returns `None` if the block is new in
/// all of them.
pub(super) fn provenance(
    ledger: &Ledger,
    trail: &Trail,
    block: &Block,
    readings: Vec<BlockReading>,
) -> Option<Provenance> {
    let best = readings.iter().map(|reading| rank(ledger, block, reading)).min()?;
    let mut readings: Vec<BlockReading> =
        readings.into_iter().filter(|one| rank(ledger, block, one) == best).collect();
    // If one version continues from the record of another, it is the newer one and takes
    // precedence.
    let older = |one: &BlockReading| {
        readings.iter().any(|other| {
            other.claim != one.claim
                && other.state.is_some_and(|state| {
                    let mut earlier = trail.chain(state).filter_map(|id| trail.state(id).by);
                    earlier.any(|by| Some(by) == one.claim)
                })
        })
    };
    let is_older: Vec<bool> = readings.iter().map(older).collect();
    if is_older.contains(&false) {
        let mut is_older = is_older.into_iter();
        readings.retain(|_| is_older.next() == Some(false));
    }
    readings.sort_by_key(|reading| std::cmp::Reverse(reading.claim));
    let first = readings.first()?.clone();
    if !first.candidates.is_empty() {
        return Some(Provenance::ambiguous(first.candidates));
    }
    let Some(claim) = first.claim else {
        return Some(match first.stood_before {
            Some(claim) => Provenance::refused(claim, Rejection::StoodBefore),
            None => Provenance::unrecorded(),
        });
    };
    let mut found = against_record(ledger, claim, block, first.tier, first.place);
    if found.content == Some(Content::Exact) && first.tier == Tier::Name {
        found.tier = Some(Tier::Text);
    }
    let rivals: Vec<ClaimRef> = readings
        .iter()
        .filter_map(|other| other.claim)
        // Records of the same block on other branches are no rivals, because the block's lines show
        // which record wrote which of them.
        .filter(|other| !trail.last_on_other_branches(claim).contains(other))
        .filter(|other| *other != claim && fits_as_well(ledger, block, &found, *other))
        .collect();
    if !rivals.is_empty() && found.content == Some(Content::Modified) {
        return Some(Provenance::ambiguous(sorted(rivals.into_iter().chain([claim]))));
    }
    Some(found)
}

/// Returns a key that sorts better readings first: first the more similar text, then the one that
/// has a record.
fn rank(ledger: &Ledger, block: &Block, reading: &BlockReading) -> (bool, Content, bool) {
    let exact = reading
        .claim
        .is_some_and(|at| ledger.claim(at).full_block().content_hash == block.fingerprint.content);
    let content = if exact { Content::Exact } else { reading.content };
    (!reading.candidates.is_empty(), content, reading.claim.is_none())
}

fn fits_as_well(ledger: &Ledger, block: &Block, found: &Provenance, other: ClaimRef) -> bool {
    let other = share_kept(ledger.claim(other).full_block(), block).unwrap_or_default();
    found.kept.unwrap_or_default() - other < MARGIN
}

/// Compares a block with its record, which was found in the way that `tier` says.
pub(super) fn against_record(
    ledger: &Ledger,
    at: ClaimRef,
    block: &Block,
    tier: Tier,
    place: Placement,
) -> Provenance {
    let range = ledger.claim(at).full_block();
    let content = content_of(range, block);
    let is_modified = content == Content::Modified;
    Provenance {
        kept: share_kept(range, block).filter(|_| is_modified),
        only_inside: is_modified && has_recorded_own_text(range, block),
        ..Provenance::found(at, tier, content, place)
    }
}

/// Returns true if a container's own text and lead are as recorded, so that only the blocks inside
/// it differ.
pub fn has_recorded_own_text(range: &BlockRecord, block: &Block) -> bool {
    let print = &block.fingerprint;
    let (then, now) = (range.own_text_hash.as_ref(), print.own_text.as_ref());
    let (then, now) = (then.unwrap_or(&range.content_hash), now.unwrap_or(&print.content));
    then == now && range.lead_hash == print.lead
}

/// Returns how the text of a block compares with a record.
fn content_of(range: &BlockRecord, block: &Block) -> Content {
    let print = &block.fingerprint;
    match () {
        () if range.lead_hash != print.lead => Content::Modified,
        () if range.content_hash == print.content => Content::Exact,
        () if print.token_count == 0 => Content::Modified,
        () if range.token_hash.as_ref() == Some(&print.tokens) => Content::Reformatted,
        () if range.shape_hash.as_ref() == Some(&print.shape)
            && print.token_count >= MIN_RENAMED_TOKENS =>
        {
            Content::Renamed
        }
        () => Content::Modified,
    }
}

/// Returns the share of a record's text that a block contains. `None` if the record has no sketch
/// or token count.
pub(super) fn share_kept(range: &BlockRecord, block: &Block) -> Option<f32> {
    let print = &block.fingerprint;
    fingerprint::share_kept(range.sketch.as_ref()?, range.tokens?, &print.sketch, print.token_count)
}

/// Returns whether a block is in the container that its record names, or in the one that this
/// container became.
pub(super) fn place_of(
    ledger: &Ledger,
    reading: &BlockReading,
    block: &Block,
    paired: &Paired,
) -> Placement {
    let Some(claim) = reading.claim else { return Placement::Same };
    let name = ledger.claim(claim).full_block().block.as_ref();
    let container = |path: &str, leaf: &str| path.strip_suffix(leaf).unwrap_or(path).to_owned();
    let then = name.map(|name| match is_called(name, block) {
        true => container(&name.path, &block.name),
        false => container(&name.path, leaf(name)),
    });
    let now = container(&block.identity.path, &block.name);
    let is_same = block.identity.kind.is_unnamed()
        || then.is_none_or(|then| then == now)
        || paired.likeness.is_some_and(|likeness| likeness.container == 1.0);
    if is_same { Placement::Same } else { Placement::Moved }
}

/// Checks that the rules are ordered by strength, as [`Tier`] is.
#[cfg(test)]
#[test]
fn a_text_is_stronger_than_a_name_alone() {
    use super::rules::RULES;
    let first = |tier: Tier| RULES.iter().position(|rule| rule.tier == tier).expect("a rule");
    assert!(first(Tier::Text) < first(Tier::Tokens));
    assert!(first(Tier::Tokens) < first(Tier::Name));
    assert!(first(Tier::Name) < first(Tier::Likeness));
}
