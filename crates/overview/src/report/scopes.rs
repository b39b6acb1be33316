//! Relates the scopes of the registry to the files of the tree, and finds the intents that overlap.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::gather::Gathered;
use super::{FolderGap, Overlap, ReportedFile, ReportedIntent};
use crate::source::SourceBrief;
use ground::RelativePath;
use intents::{Intent, ScopeVerdict, Spanned, lint};
use why::Workspace;

/// The maximum number of pairs in the report.
const MAX_OVERLAPS: usize = 1_000;
/// If more intents than this have blocks in one file, each of them is paired with the first only,
/// because the number of pairs grows quadratically.
const MAX_PAIRED: usize = 16;

/// Returns the folders of the files that the report does not list.
pub(super) fn gaps(tree: &[RelativePath], reported: &[ReportedFile]) -> Vec<FolderGap> {
    let reported: BTreeSet<&RelativePath> = reported.iter().map(|file| &file.path).collect();
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for path in tree.iter().filter(|path| !path.is_orchestration() && !reported.contains(path)) {
        let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder).or_default() += 1;
    }
    let gap = |(folder, files): (&str, usize)| FolderGap { folder: folder.to_owned(), files };
    folders.into_iter().map(gap).collect()
}

/// Returns the intents of the registry, followed by those that only records name, among them those
/// that are kept in other formats.
pub(super) fn intents(
    ws: &Workspace,
    tree: &[RelativePath],
    gathered: &Gathered,
) -> Vec<ReportedIntent> {
    let known = ws.registry.intents().iter().enumerate();
    let mut all: Vec<ReportedIntent> = known
        .map(|(index, intent)| {
            let scope = ws.registry.scope_at(index);
            let owns = |path: &&RelativePath| {
                matches!(scope.verdict_of(path.as_str()), ScopeVerdict::Owned(_))
            };
            let tally = gathered.tallies.get(&intent.id.value);
            let worked = tally.into_iter().flat_map(|tally| &tally.files);
            ReportedIntent {
                owned_files: tree.iter().filter(owns).count(),
                worked_files: worked.filter(owns).count(),
                ..registered(ws, intent)
            }
        })
        .collect();
    let in_registry = ws.unread_registry().is_none().then_some(false);
    let others = gathered.tallies.keys().filter(|id| ws.registry.position(id).is_none());
    all.extend(others.map(|id| match ws.registry.get(id) {
        Some(intent) => registered(ws, intent),
        None => ReportedIntent { id: id.clone(), in_registry, ..Default::default() },
    }));
    for intent in &mut all {
        if let Some(tally) = gathered.tallies.get(&intent.id) {
            intent.recorded_files = tally.files.len();
            intent.recorded_blocks = tally.blocks.total();
            intent.blocks = tally.blocks;
        }
    }
    all
}

fn registered(ws: &Workspace, intent: &Intent) -> ReportedIntent {
    let values = |list: &[Spanned<String>]| list.iter().map(|entry| entry.value.clone()).collect();
    let name = Some(intent.name.value.clone());
    let imported = ws.registry.imported_intent(&intent.id.value);
    ReportedIntent {
        id: intent.id.value.clone(),
        name: name.filter(|name| !name.is_empty()),
        status: intent.status.as_ref().map(|status| status.value),
        in_registry: Some(true),
        selected: ws.selected(None).as_deref() == Some(&intent.id.value),
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        owned_scope: values(&intent.owned_scope),
        constraints: values(&intent.constraints),
        acceptance_criteria: values(&intent.acceptance_criteria),
        related_specs: values(&intent.related_specs),
        kept: imported.map(SourceBrief::new).unwrap_or_default().without_lists(),
        ..ReportedIntent::default()
    }
}

/// Returns pairs of intents that own the same files, by the rule of the registry's own lint, or
/// have blocks in the same files.
pub(super) fn overlaps(
    ws: &Workspace,
    tree: &[RelativePath],
    gathered: &Gathered,
    notes: &mut Vec<String>,
) -> Vec<Overlap> {
    let ids: Vec<&str> =
        ws.registry.intents().iter().map(|intent| intent.id.value.as_str()).collect();
    let places: HashMap<&str, usize> =
        ids.iter().enumerate().rev().map(|(at, id)| (*id, at)).collect();
    let mut sorted: Vec<&str> = tree.iter().map(RelativePath::as_str).collect();
    sorted.sort_unstable();
    let mut pairs: HashMap<(&str, &str), Overlap> = HashMap::new();
    let mut pair = |first, second, (owned, worked): (usize, usize), example: &str| {
        let met = pairs.entry((first, second)).or_insert_with(|| Overlap {
            first: first.to_owned(),
            second: second.to_owned(),
            owned: 0,
            worked: 0,
            example: example.to_owned(),
        });
        met.owned += owned;
        met.worked += worked;
    };
    for ((first, second), shared) in &lint::owned_by_two(&ws.registry, &sorted) {
        pair(ids[*first], ids[*second], (shared.files, 0), &shared.example);
    }
    for file in &gathered.files {
        let mut here: Vec<&str> =
            file.blocks.iter().filter_map(|block| block.intent.as_deref()).collect();
        here.sort_unstable_by_key(|id| (places.get(id).copied().unwrap_or(usize::MAX), *id));
        here.dedup();
        let firsts = if here.len() > MAX_PAIRED { 1 } else { here.len() };
        for (at, first) in here.iter().enumerate().take(firsts) {
            for second in &here[at + 1..] {
                pair(first, second, (0, 1), file.path.as_str());
            }
        }
    }
    let mut all: Vec<Overlap> = pairs.into_values().collect();
    all.sort_by_cached_key(|one| {
        (Reverse(one.owned + one.worked), one.first.clone(), one.second.clone())
    });
    if all.len() > MAX_OVERLAPS {
        notes.push(format!(
            "{} pairs of intents overlap; those {MAX_OVERLAPS} that share most are listed.",
            all.len()
        ));
        all.truncate(MAX_OVERLAPS);
    }
    all
}
