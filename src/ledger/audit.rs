//! Checks every file of a ledger for `intent verify`. Records are dropped after they were checked, so memory use does
//! not grow with the ledger.

use std::collections::{BTreeMap, HashSet};

use super::append::own_chains;
use super::evidence::{self, Digest, Said};
use super::read::{self, ErasedSection, EvidenceFile, LedgerFile, Lines};
use super::source::{Known, millis};
use super::{Ledger, Origin, journal};
use crate::workspace::parallel::in_parallel;
use crate::workspace::{Finding, RelativePath, Root};

/// The result of an audit.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// How many records there are.
    pub records: usize,
    /// How many files they are in.
    pub files: usize,
    /// Everything that is wrong in files and chains, file by file.
    pub findings: Vec<Finding>,
    /// The intents under which code was recorded, each with the place of the earliest record that names it.
    pub intents: BTreeMap<String, Origin>,
    /// The digests of all sections of evidence, computed from the bytes of the files.
    pub sections: HashSet<Digest>,
    /// The sections from which a line was erased.
    pub erased: Vec<ErasedSection>,
}

/// For each intent the earliest record that names it: its time in milliseconds since 1970, and its place.
type Named = BTreeMap<String, (Option<i64>, Origin)>;

/// Reads all files of a workspace's ledger on all processors. Of evidence only the findings and digests are kept.
pub fn audit(root: &Root) -> Audit {
    let is_own = own_chains(root);
    let files = read::files(root);
    let read = in_parallel(&files, |file| match evidence::digest_of_path(&file.path) {
        Some(_) => of_evidence(file),
        None => Part { known: Known::read(file, None).owned_by(&is_own), ..Part::default() },
    });
    let mut audit = Audit { files: files.len(), ..Audit::default() };
    let (mut named, mut counted) = (Named::new(), HashSet::new());
    let mut parts: BTreeMap<RelativePath, Known> = BTreeMap::new();
    for (file, part) in files.into_iter().zip(read) {
        // A section that is in several files (two branches compacted it) counts once, as it does in `Ledger`.
        let is_new = |(section, _): &&(Digest, usize)| !part.is_sound || !counted.contains(section);
        audit.records +=
            part.records.iter().filter(is_new).map(|(_, records)| records).sum::<usize>();
        let sections = part.records.iter().map(|(section, _)| *section);
        audit.sections.extend(sections.clone());
        counted.extend(sections.filter(|_| part.is_sound));
        audit.erased.extend(part.known.erased.iter().cloned());
        part.named.into_iter().for_each(|(intent, at)| add(&mut named, intent, at));
        parts.insert(file.path, part.known);
    }
    let rest = Ledger::of_known(parts, journal::sealed(root));
    for entry in rest.entries().iter() {
        let has_code = !entry.record.files.is_empty();
        if let Some(intent) = entry.record.intent_id.as_ref().filter(|_| has_code) {
            let at = (millis(&entry.record.timestamp), entry.origin.clone());
            add(&mut named, intent.clone(), at);
        }
    }
    audit.records += rest.len();
    audit.findings = rest.findings().to_vec();
    audit.intents = named.into_iter().map(|(intent, (_, origin))| (intent, origin)).collect();
    audit
}

/// What is kept of one file.
#[derive(Default)]
struct Part {
    known: Known,
    /// Whether the digest of its bytes is the one in its name.
    is_sound: bool,
    /// How many records each of its sections holds.
    records: Vec<(Digest, usize)>,
    named: Named,
}

fn add(named: &mut Named, intent: String, at: (Option<i64>, Origin)) {
    match named.get_mut(&intent) {
        Some(first) => {
            let place = |of: &Origin| (of.path.as_str().to_owned(), of.start);
            if at.0 < first.0 || at.0 == first.0 && place(&at.1) < place(&first.1) {
                *first = at;
            }
        }
        None => drop(named.insert(intent, at)),
    }
}

fn of_evidence(file: &LedgerFile) -> Part {
    let (path, mut part) = (&file.path, Part::default());
    let (Some(digest), Ok(bytes)) = (evidence::digest_of_path(path), file.bytes()) else {
        return Part { known: Known::read(file, None), ..part };
    };
    let found = EvidenceFile::read(path, digest, &bytes);
    part.is_sound = found.is_sound;
    let mut lines = Lines::of(&bytes);
    let mut erased = Vec::new();
    for section in &found.sections {
        let stones = section.lines.iter().filter(|(_, said)| matches!(said, Said::Erased(_)));
        part.records.push((section.digest, section.lines.len() - stones.count()));
        erased.extend(read::erased_of(path, &mut lines, section));
        let mut last: Option<(&str, &str)> = None;
        for (span, said) in &section.lines {
            let (intent, time) = match said {
                Said::Brought(line) => (
                    section.header.intents[line.intent as usize].id.as_str(),
                    line.time.as_deref().unwrap_or_default(),
                ),
                Said::Carried(record) if record.files.is_empty() => continue,
                Said::Carried(record) => match &record.intent_id {
                    Some(intent) => (intent.as_str(), record.timestamp.as_str()),
                    None => continue,
                },
                Said::Erased(_) => continue,
            };
            // Of lines in a row with the same intent and time only the first can be the earliest. Skipping the others
            // saves looking up their line numbers.
            if last.replace((intent, time)) == Some((intent, time)) {
                continue;
            }
            let at = (millis(time), lines.origin(path, span));
            add(&mut part.named, intent.to_owned(), at);
        }
    }
    let sections: Vec<_> = found.sections.iter().map(|section| section.digest).collect();
    part.known = Known {
        findings: found.findings.into(),
        sections: sections.into(),
        erased: erased.into(),
        digest: Some(found.digest),
        ..Known::default()
    };
    part
}
