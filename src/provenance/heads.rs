//! The last words on the blocks of a path.

use std::collections::HashMap;

use super::names::{NameKey, key_of_name};
use crate::code::ContentHash;
use crate::ledger::{BlockName, Claim, ClaimRef, Ledger, Trust};
use crate::workspace::RelativePath;

/// The records of a path that are the last word on some block: later records replace earlier ones.
///
/// Where two chains replaced the same text differently (a merge), both stay.
pub fn heads(ledger: &Ledger, path: &RelativePath) -> Vec<ClaimRef> {
    fold(ledger, ledger.of_path(path)).standing
}

/// What the records of a path come to.
pub(super) struct Folded {
    /// The last words on blocks that stand, by all that is recorded.
    pub(super) standing: Vec<ClaimRef>,
    /// The last words on blocks before their deletion was recorded: what was moved to another file is among them.
    pub(super) deleted: Vec<ClaimRef>,
}

pub(super) fn fold(ledger: &Ledger, claims: &[ClaimRef]) -> Folded {
    let mut heads = Heads::default();
    for at in claims.iter().copied() {
        let new = ledger.claim(at);
        let Some(name) = &new.range.block else { continue };
        if new.entry.trust != Trust::Contradicted {
            heads.replace(ledger, at, name, &new);
        }
    }
    heads.into_folded(ledger)
}

/// The last words so far, by name and by text.
#[derive(Default)]
struct Heads<'a> {
    by_name: HashMap<(NameKey<'a>, u32), Vec<ClaimRef>>,
    by_content: HashMap<&'a ContentHash, Vec<ClaimRef>>,
    deleted: Vec<ClaimRef>,
}

impl<'a> Heads<'a> {
    fn replace(&mut self, ledger: &'a Ledger, at: ClaimRef, name: &'a BlockName, new: &Claim<'a>) {
        let key = (key_of_name(name), name.ordinal);
        let same = self.by_name.get(&key).cloned().unwrap_or_default();
        let mut replaced = false;
        for head in same {
            let old = ledger.claim(head);
            replaced |= new.range.replaces.as_ref() == Some(&old.range.content_hash);
            if supersedes(new, &old) {
                self.remove(ledger, head);
                if new.range.deleted {
                    self.deleted.push(head);
                }
            }
        }
        if let (false, Some(before)) = (replaced, &new.range.replaces) {
            // A rename or a move names what it replaces; under the old name the block is gone.
            let other = self.by_content.get(before).and_then(|same| same.first().copied());
            if let Some(head) = other {
                self.remove(ledger, head);
            }
        }
        if !new.range.deleted {
            self.by_name.entry(key).or_default().push(at);
            self.by_content.entry(&new.range.content_hash).or_default().push(at);
        }
    }

    fn remove(&mut self, ledger: &'a Ledger, head: ClaimRef) {
        let old = ledger.claim(head);
        if let Some(name) = &old.range.block
            && let Some(same) = self.by_name.get_mut(&(key_of_name(name), name.ordinal))
        {
            same.retain(|other| *other != head);
        }
        if let Some(same) = self.by_content.get_mut(&old.range.content_hash) {
            same.retain(|other| *other != head);
        }
    }

    fn into_folded(mut self, ledger: &Ledger) -> Folded {
        let mut deleted = std::mem::take(&mut self.deleted);
        // What came back under its name is not gone.
        deleted.retain(|at| {
            let name = ledger.claim(*at).range.block.as_ref();
            let key = name.map(|name| (key_of_name(name), name.ordinal));
            key.and_then(|key| self.by_name.get(&key)).is_none_or(Vec::is_empty)
        });
        let mut standing: Vec<ClaimRef> = self.by_name.into_values().flatten().collect();
        standing.sort();
        Folded { standing, deleted }
    }
}

/// Whether a later record of the same block replaces an earlier one. Two chains that replaced the same text differently do not replace each other.
fn supersedes(new: &Claim<'_>, old: &Claim<'_>) -> bool {
    if new.range.deleted {
        return new.range.replaces.as_ref() == Some(&old.range.content_hash)
            || new.range.content_hash == old.range.content_hash;
    }
    let fork = new.range.replaces.is_some()
        && new.range.replaces == old.range.replaces
        && new.range.content_hash != old.range.content_hash
        && new.entry.record.writer != old.entry.record.writer;
    !fork
}
