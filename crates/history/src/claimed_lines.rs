//! Which lines of a version of a file the records of its commit name.

use std::collections::HashSet;
use std::sync::Arc;

use code::saying_lines::says_something;
use ground::RelativePath;
use ledger::{Digest, Entry, EqualPlaces, HashedRun, LineRuns, Record, RecordKind};

use crate::run_places::{CountedRun, RunPlaces};
use crate::text::{LineText, language_of};

/// Returns for each line of a version of a file the entry that brought it, as an index of `entries`.
/// `brought` are the lines that the commit brought, in ascending order.
///
/// If two sections whose lines stand at their numbers name a line, the later entry counts. The lines
/// of another section are looked for among those that no other writer has by number. If two writers
/// find the same line so, it belongs to neither.
pub fn claimed_lines(
    entries: &[Arc<Entry>],
    path: &RelativePath,
    text: &LineText,
    brought: &[usize],
) -> Vec<Option<usize>> {
    let places = RunPlaces::new(path.as_str(), text);
    let mut sections: Vec<(Option<Digest>, Vec<CountedRun<'_>>)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.record.kind != RecordKind::Mutation {
            continue;
        }
        let runs = counted_runs(entry, path, at);
        let is_same = |other: &Option<Digest>| other.is_some() && *other == entry.section;
        match sections.iter_mut().find(|(other, _)| is_same(other)) {
            Some((_, all)) => all.extend(runs),
            None => sections.push((entry.section, runs.collect())),
        }
    }
    sections.iter_mut().for_each(|(_, runs)| runs.sort_by_key(|one| one.run.lines.start));
    let (standing, moved): (Vec<_>, Vec<_>) =
        sections.into_iter().partition(|(_, runs)| places.all_stand(runs, brought));
    let mut claimed: Vec<Option<usize>> = vec![None; text.len()];
    for (_, runs) in standing {
        for (line, entry) in places.lines_of_section(&runs, brought) {
            claimed[line] = claimed[line].max(Some(entry));
        }
    }
    let writer = |entry: usize| writer_of_entry(&entries[entry]);
    let mut found: Vec<Vec<usize>> = vec![Vec::new(); text.len()];
    for (_, runs) in moved {
        let writers: HashSet<_> = runs.iter().map(|one| writer(one.entry)).collect();
        let is_free =
            |line: &usize| claimed[*line].is_none_or(|owner| writers.contains(&writer(owner)));
        let free: Vec<usize> = brought.iter().copied().filter(is_free).collect();
        let lines = places.lines_of_section(&runs, &free);
        lines.into_iter().for_each(|(line, entry)| found[line].push(entry));
    }
    for (line, owners) in found.into_iter().enumerate() {
        let last = owners.iter().max().copied();
        let is_one = owners.iter().all(|owner| Some(writer(*owner)) == last.map(writer));
        claimed[line] = claimed[line].or(last.filter(|_| is_one));
    }
    claimed
}

/// Returns what two entries have in common that may both name a line: intent, session and tool.
pub fn writer_of_entry(entry: &Entry) -> (Option<&str>, Option<&str>, Option<&str>) {
    let Record { intent_id, session, tool, .. } = &entry.record;
    let tool = tool.as_ref().map(|tool| &*tool.name);
    (intent_id.as_deref(), session.as_deref(), tool)
}

/// Like [`claimed_lines`], if the numbers of all runs are right. `known` are lines that the commit
/// brought, perhaps not all. `None` if a run does not stand at its numbers, or another one of these
/// lines may be meant.
pub(crate) fn lines_by_number(
    entries: &[Arc<Entry>],
    path: &RelativePath,
    text: &LineText,
    known: &[usize],
) -> Option<Vec<Option<usize>>> {
    let mut claimed = vec![None; text.len()];
    let is_change = |entry: &&Arc<Entry>| entry.record.kind == RecordKind::Mutation;
    let mut runs: Vec<&HashedRun> = Vec::new();
    for (at, entry) in entries.iter().enumerate().filter(|(_, entry)| is_change(entry)) {
        for one in counted_runs(entry, path, at) {
            if !one.stands_in(text) {
                return None;
            }
            claimed[one.run.lines.clone()].fill(Some(at));
            runs.push(one.run);
        }
    }
    let unnamed: Vec<usize> = known.iter().copied().filter(|at| claimed[*at].is_none()).collect();
    let language = language_of(path.as_str());
    let says = |line: usize| says_something(text.line(line), language);
    runs.retain(|run| run.lines.clone().any(says));
    EqualPlaces::of_runs(runs, text, &unnamed).is_empty().then_some(claimed)
}

/// Returns the lines of a version of a file that an entry names. See [`claimed_lines`].
pub fn lines_of_entry(
    entry: &Entry,
    path: &RelativePath,
    text: &LineText,
    brought: &[usize],
) -> Vec<usize> {
    let runs: Vec<CountedRun<'_>> = counted_runs(entry, path, 0).collect();
    let lines = RunPlaces::new(path.as_str(), text).lines_of_section(&runs, brought);
    ledger::sorted(lines.into_iter().map(|(line, _)| line))
}

fn counted_runs<'a>(
    entry: &'a Entry,
    path: &'a RelativePath,
    at: usize,
) -> impl Iterator<Item = CountedRun<'a>> {
    let files = entry.record.files.iter().filter(move |file| file.relative_path == *path);
    files.flat_map(|file| &file.conversations).flat_map(move |one| {
        let runs = one.lines.runs().iter();
        runs.map(move |run| CountedRun { run, entry: at, blocks: &one.ranges })
    })
}

pub fn runs_about<'a>(
    entry: &'a Entry,
    path: &'a RelativePath,
) -> impl Iterator<Item = &'a LineRuns> {
    let files = entry.record.files.iter().filter(move |file| file.relative_path == *path);
    files.flat_map(|file| &file.conversations).map(|one| &one.lines)
}
