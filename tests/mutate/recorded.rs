//! A world on disk in which some blocks are recorded. The answers of `why` after a mutation are compared with the right
//! ones.

use std::collections::BTreeMap;
use std::ops::Range;

use code::{Block, Document};
use ledger::ClaimRef;
use provenance::Provenance;
use why::{Workspace, answers};

use super::corpus::Sample;
use super::{Chance, Id, Syntax, Traced, Truth, World, places, unnamed};
use crate::support::{Repo, relative};

/// Smaller blocks may be alike by chance, so they need not be found again.
const TELLING: u32 = 20;
const FIRST: &str = "INT-001";
const SECOND: &str = "INT-002";

/// A repository in which a world was recorded.
pub struct Recorded {
    repo: Repo,
    workspace: Workspace,
    pub world: World,
    /// The intent of each recorded block. Regions are not counted.
    pub known: BTreeMap<Id, &'static str>,
}

/// The history of a file: its text at the first commit, and at two records.
struct Growth {
    path: String,
    texts: [Option<String>; 3],
}

/// A wrong answer of `why` about a block.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub path: String,
    pub block: String,
    pub truth: String,
    pub said: String,
}

/// The answers for a whole world.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub wrong: Vec<Wrong>,
    /// The number of recorded blocks that the mutation was about and that still exist.
    pub wanted: usize,
    pub found: usize,
    /// The number of other recorded blocks.
    pub others: usize,
    pub others_found: usize,
    pub missed: Vec<String>,
}

impl Recorded {
    /// Records some blocks of some files, as if two agents had written them one after the other.
    pub fn new(samples: &[Sample], chance: &mut Chance) -> Self {
        let mut files: Vec<(String, String)> = Vec::new();
        for (at, sample) in samples.iter().enumerate() {
            let Some(text) = sample.text() else { continue };
            let name = sample.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let path = format!("src/part{at}/{name}");
            let text =
                if chance.once_in(2) { places::with_twins(&path, &text, chance) } else { text };
            files.push((path, text));
        }
        let world = World::new(&files);
        let mut known = BTreeMap::new();
        let growths: Vec<Growth> = files
            .iter()
            .map(|(path, text)| grown(&world, path, text, &mut known, chance))
            .collect();
        let repo = Repo::new();
        for (step, intent) in [(0, None), (1, Some(FIRST)), (2, Some(SECOND))] {
            let mut written = Vec::new();
            for growth in &growths {
                if let Some(text) = &growth.texts[step] {
                    repo.write(&growth.path, text);
                    written.push(growth.path.as_str());
                }
            }
            match intent {
                None => repo.commit("before"),
                Some(intent) => {
                    repo.record(intent, &written);
                }
            }
            if chance.once_in(2) {
                repo.commit("so far");
            }
        }
        let workspace = repo.open();
        Self { repo, workspace, world, known }
    }

    /// Returns the answers of `why` about a later state of this world. The files are restored afterwards.
    pub fn ask(&self, after: &World) -> Outcome {
        for (path, file) in &after.files {
            if self.world.files.get(path).is_none_or(|then| then.text() != file.text()) {
                self.repo.write(path, file.text());
            }
        }
        for path in self.world.files.keys().filter(|path| !after.files.contains_key(*path)) {
            self.repo.remove(path);
        }
        let outcome = self.judged(after);
        for path in after.files.keys().filter(|path| !self.world.files.contains_key(*path)) {
            self.repo.remove(path);
        }
        for (path, file) in &self.world.files {
            if after.files.get(path).is_none_or(|now| now.text() != file.text()) {
                self.repo.write(path, file.text());
            }
        }
        outcome
    }

    fn judged(&self, after: &World) -> Outcome {
        let workspace = self.workspace.reload();
        let mut outcome = Outcome::default();
        for (path, file) in self.to_judge(after) {
            let document = Document::from_text(path, file.text());
            let answer = answers::file(&workspace, &relative(path), &document);
            for (block, found) in answer.blocks.blocks.iter().zip(&answer.provenance) {
                self.judge(after, path, block, (&workspace, found), &mut outcome);
            }
        }
        outcome
    }

    /// Returns the files that changed, and one that did not.
    fn to_judge<'a>(&self, after: &'a World) -> Vec<(&'a String, &'a Traced)> {
        let same = |(path, file): &(&String, &Traced)| {
            self.world.files.get(*path).is_some_and(|then| then.text() == file.text())
        };
        let (same, mut others): (Vec<_>, Vec<_>) = after.files.iter().partition(same);
        let rest = if others.is_empty() { same.len() } else { 1 };
        others.extend(same.into_iter().take(rest));
        others
    }

    fn judge(
        &self,
        after: &World,
        path: &str,
        block: &Block,
        (workspace, found): (&Workspace, &Provenance),
        outcome: &mut Outcome,
    ) {
        let truth = after.truth(path, block);
        let named: Vec<ClaimRef> = found.claim.iter().chain(&found.candidates).copied().collect();
        let (claim, verdict) = (found.claim, found.verdict.as_str());
        let of = |at: &ClaimRef| self.blocks_of(workspace, *at);
        let holds = |ids: &[Id]| match &truth {
            Truth::Is(id) | Truth::CopyOf(id) => {
                ids.iter().any(|said| said == id || self.are_one(*said, *id))
            }
            // A region may also be identified by the definition that follows it.
            Truth::AnyOf(any) => ids.iter().any(|id| {
                any.contains(id)
                    || self.world.before[*id as usize].identity.path == block.identity.path
            }),
            Truth::None => false,
        };
        // A block with its recorded text, name and file is the recorded one, whatever happened in between. A region has
        // no name, so its text is enough.
        let to_the_letter = |at: &ClaimRef| {
            let claim = workspace.ledger.claim(*at);
            let name = claim.full_block().block.as_ref();
            let here = claim.file.relative_path.as_str() == path
                && name.is_some_and(|name| name.path == block.identity.path);
            claim.full_block().content_hash == block.fingerprint.content
                && (here || unnamed(block.identity.kind))
        };
        // The block was recorded when less of the file was written. For example, a group of constants is named after
        // its first constant, and the text of `let rec even` ended before the `and odd` that was added later.
        let while_it_grew = |at: &ClaimRef| {
            let claim = workspace.ledger.claim(*at);
            let leaf =
                claim.full_block().block.as_ref().and_then(|name| name.path.rsplit('.').next());
            of(at).is_empty()
                && claim.file.relative_path.as_str() == path
                && leaf == Some(&*block.name)
        };
        let fits = |at: &ClaimRef| {
            holds(&of(at))
                || to_the_letter(at)
                || while_it_grew(at)
                || found.claim.is_none() && self.are_twins(&truth, &of(at))
        };
        if !named.is_empty() && !named.iter().any(fits) {
            let recorded = |at: &ClaimRef| {
                let claim = workspace.ledger.claim(*at);
                let name = claim.full_block().block.as_ref().map(|name| &*name.path);
                format!("{} of {}", name.unwrap_or("text"), claim.file.relative_path)
            };
            let said: Vec<String> = named
                .iter()
                .map(|at| match of(at).as_slice() {
                    [] => format!("what nobody knows of: {}", recorded(at)),
                    ids => ids
                        .iter()
                        .map(|id| self.describe(&Truth::Is(*id)))
                        .collect::<Vec<String>>()
                        .join(" | "),
                })
                .collect();
            outcome.wrong.push(Wrong {
                path: path.to_owned(),
                block: format!(
                    "{} {} (line {})",
                    block.identity.kind.as_str(),
                    block.identity.path,
                    block.lines.start()
                ),
                truth: self.describe(&truth),
                said: format!("{verdict}: {}", said.join(" | ")),
            });
        }
        let Truth::Is(id) = truth else { return };
        let small = self.world.before[id as usize].tokens < TELLING;
        if unnamed(block.identity.kind) || small || !self.known.contains_key(&id) {
            return;
        }
        let found = claim.is_some_and(|at| of(&at).contains(&id));
        if after.touched.contains(&id) {
            outcome.wanted += 1;
            outcome.found += usize::from(found);
        } else {
            outcome.others += 1;
            outcome.others_found += usize::from(found);
        }
        if !found {
            outcome.missed.push(format!("{path}: {}", self.describe(&Truth::Is(id))));
        }
    }

    /// Returns the original blocks that a claim may be about. Blocks with the same name and text cannot be
    /// distinguished.
    fn blocks_of(&self, workspace: &Workspace, at: ClaimRef) -> Vec<Id> {
        let claim = workspace.ledger.claim(at);
        let path = claim.file.relative_path.as_str();
        let Some(name) = &claim.full_block().block else { return Vec::new() };
        let speaks = |id: &Id| {
            let before = &self.world.before[*id as usize];
            let identity = &before.identity;
            // A container had another text before its inner blocks were written.
            let same = before.holds_others || before.content == claim.full_block().content_hash;
            before.path == path
                && same
                && identity.kind.as_str() == name.kind
                && (unnamed(identity.kind)
                    || identity.path == name.path && identity.parameters == name.parameters)
        };
        (0..self.world.before.len() as Id).filter(speaks).collect()
    }

    /// Returns true if two blocks have the same text and intent, so that it does not matter which of them is meant.
    fn are_one(&self, one: Id, other: Id) -> bool {
        let [one_before, other_before] = [one, other].map(|id| &self.world.before[id as usize]);
        // A container is not identified by its text alone, so containers with the same name count as one.
        if one_before.holds_others && one_before.identity.path == other_before.identity.path {
            return one_before.path == other_before.path;
        }
        one_before.content == other_before.content
            && self.known.get(&one).is_some_and(|intent| self.known.get(&other) == Some(intent))
    }

    /// Returns true if a block has the same text as one of the others. Then both may be shown as candidates.
    fn are_twins(&self, truth: &Truth, ids: &[Id]) -> bool {
        let Truth::Is(id) = truth else { return false };
        let content = |id: &Id| &self.world.before[*id as usize].content;
        ids.iter().any(|other| content(other) == content(id))
    }

    fn describe(&self, truth: &Truth) -> String {
        let one = |id: &Id| {
            let before = &self.world.before[*id as usize];
            let known = self.known.get(id).unwrap_or(&"unrecorded");
            let identity = &before.identity;
            format!("{} {} of {} ({known})", identity.kind.as_str(), identity.path, before.path)
        };
        match truth {
            Truth::Is(id) => one(id),
            Truth::CopyOf(id) => format!("a copy of {}", one(id)),
            Truth::AnyOf(ids) => ids.iter().map(one).collect::<Vec<_>>().join(" | "),
            Truth::None => "nothing: it is new".to_owned(),
        }
    }
}

/// Returns the history of a file: all of it recorded at once, or block by block beside unrecorded code.
fn grown(
    world: &World,
    path: &str,
    text: &str,
    known: &mut BTreeMap<Id, &'static str>,
    chance: &mut Chance,
) -> Growth {
    let ids: BTreeMap<usize, Id> = world
        .before
        .iter()
        .enumerate()
        .filter(|(_, before)| before.path == path)
        .enumerate()
        .map(|(block, (id, _))| (block, Id::try_from(id).expect("few blocks")))
        .collect();
    let whole = Growth { path: path.to_owned(), texts: [None, Some(text.to_owned()), None] };
    let parts = if chance.once_in(3) { None } else { in_parts(path, text, chance) };
    let Some((first, second)) = parts else {
        known.extend(ids.values().map(|id| (*id, FIRST)));
        return whole;
    };
    let without = |items: &[&(usize, Range<usize>)]| {
        let mut left = text.to_owned();
        let mut ranges: Vec<Range<usize>> = items.iter().map(|(_, range)| range.clone()).collect();
        ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
        for range in ranges {
            left.replace_range(range, "");
        }
        left
    };
    let both: Vec<&(usize, Range<usize>)> = first.iter().chain(&second).collect();
    let texts = [without(&both), without(&second.iter().collect::<Vec<_>>()), text.to_owned()];
    let sound = |text: &String| !Document::from_text(path, text).blocks().has_error;
    if !texts.iter().all(sound) {
        known.extend(ids.values().map(|id| (*id, FIRST)));
        return whole;
    }
    known.extend(first.iter().map(|(at, _)| (ids[at], FIRST)));
    known.extend(second.iter().map(|(at, _)| (ids[at], SECOND)));
    Growth { path: path.to_owned(), texts: texts.map(Some) }
}

type Items = Vec<(usize, Range<usize>)>;

/// Returns the blocks that are written first and second; all others were there before. Only blocks with a unique name
/// and without inner blocks are used.
fn in_parts(path: &str, text: &str, chance: &mut Chance) -> Option<(Items, Items)> {
    let syntax = Syntax::of(path, text)?;
    if matches!(syntax.language, "json" | "yaml" | "markdown") {
        return None;
    }
    let blocks = &syntax.blocks.blocks;
    let leaf = |at: &usize| !blocks.iter().any(|other| other.container == Some(*at));
    let alone = |at: &usize| {
        let path = &blocks[*at].identity.path;
        blocks.iter().filter(|other| other.identity.path == *path).count() == 1
    };
    let (mut first, mut second) = (Items::new(), Items::new());
    let mut end = 0;
    for at in syntax.named().into_iter().filter(leaf).filter(alone) {
        let Some(item) = syntax.item(at).filter(|item| item.start >= end) else { continue };
        end = item.end;
        match chance.below(3) {
            0 => first.push((at, item)),
            1 => second.push((at, item)),
            _ => {}
        }
    }
    (!first.is_empty() && !second.is_empty()).then_some((first, second))
}
