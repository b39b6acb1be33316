//! A world on disk, some of whose blocks are recorded, and what `why` says of
//! it after a mutation, held against the truth.

use std::collections::BTreeMap;
use std::ops::Range;

use intent_lsp::facade::code::{Block, Document};
use intent_lsp::facade::ledger::ClaimRef;
use intent_lsp::facade::provenance::Provenance;
use intent_lsp::facade::verbs::{Workspace, why};

use super::corpus::Sample;
use super::{Chance, Id, Syntax, Traced, Truth, World, places, unnamed};
use crate::support::{Repo, relative};

/// Smaller blocks are alike by chance, so it is no fault not to find them elsewhere.
const TELLING: u32 = 20;
const FIRST: &str = "INT-001";
const SECOND: &str = "INT-002";

/// A repository in which a world was recorded.
pub struct Recorded {
    repo: Repo,
    workspace: Workspace,
    pub world: World,
    /// The intents of the blocks that a record speaks of, by construction; text between definitions is not counted.
    pub known: BTreeMap<Id, &'static str>,
}

/// How a file comes to be: its text at the first commit, and at two records.
struct Growth {
    path: String,
    texts: [Option<String>; 3],
}

/// What `why` said of a block that is not true.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub path: String,
    pub block: String,
    pub truth: String,
    pub said: String,
}

/// An answer for a whole world.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub wrong: Vec<Wrong>,
    /// Recorded blocks that the mutation was about and that still stand.
    pub wanted: usize,
    pub found: usize,
    /// Recorded blocks that the mutation was not about.
    pub others: usize,
    pub others_found: usize,
    pub missed: Vec<String>,
}

impl Recorded {
    /// Records some blocks of some files, as two agents would have written them one after the other.
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

    /// What `why` says of a later state of this world; the files are put back afterwards.
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
            let answer = why::file(&workspace, &relative(path), &document);
            for (block, found) in answer.blocks.blocks.iter().zip(&answer.provenance) {
                self.judge(after, path, block, (&workspace, found), &mut outcome);
            }
        }
        outcome
    }

    /// The files that are not what they were, and one that is.
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
            // What stands before a definition is known by that, too.
            Truth::AnyOf(any) => ids.iter().any(|id| {
                any.contains(id)
                    || self.world.before[*id as usize].identity.path == block.identity.path
            }),
            Truth::None => false,
        };
        // Under its name, in its file, to the letter: whatever way it went, it is what was recorded. And text between
        // definitions has no name but its text.
        let to_the_letter = |at: &ClaimRef| {
            let claim = workspace.ledger.claim(*at);
            let name = claim.full_block().block.as_ref();
            let here = claim.file.relative_path.as_str() == path
                && name.is_some_and(|name| name.path == block.identity.path);
            claim.full_block().content_hash == block.fingerprint.content
                && (here || unnamed(block.identity.kind))
        };
        // Recorded when less of the file was written: a group of one constant is called by that, and the text of `let rec
        // even` goes as far as the `and odd` that came later.
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

    /// The blocks in the beginning that a claim may speak of: twins that are equal in name and text cannot be told apart.
    fn blocks_of(&self, workspace: &Workspace, at: ClaimRef) -> Vec<Id> {
        let claim = workspace.ledger.claim(at);
        let path = claim.file.relative_path.as_str();
        let Some(name) = &claim.full_block().block else { return Vec::new() };
        let speaks = |id: &Id| {
            let before = &self.world.before[*id as usize];
            let identity = &before.identity;
            // What holds others was another text while those were written.
            let same = before.holds_others || before.content == claim.full_block().content_hash;
            before.path == path
                && same
                && identity.kind.as_str() == name.kind
                && (unnamed(identity.kind)
                    || identity.path == name.path && identity.parameters == name.parameters)
        };
        (0..self.world.before.len() as Id).filter(speaks).collect()
    }

    /// Blocks of one text that were recorded under one intent: nobody can tell them apart, and nobody need.
    fn are_one(&self, one: Id, other: Id) -> bool {
        let [one_before, other_before] = [one, other].map(|id| &self.world.before[id as usize]);
        // What holds others is not known by its text alone, so those of one name are one.
        if one_before.holds_others && one_before.identity.path == other_before.identity.path {
            return one_before.path == other_before.path;
        }
        one_before.content == other_before.content
            && self.known.get(&one).is_some_and(|intent| self.known.get(&other) == Some(intent))
    }

    /// Whether a block has the very text of one of others, so that no more can be said than that it may be that.
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

/// How a file comes to be: all at once under an intent, or block by block around what was there unrecorded.
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

/// Blocks to be written first and second; what is in neither was there before. Only blocks without others inside, of names that nothing else has.
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
