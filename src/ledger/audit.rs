//! Checks every file of a ledger for `intent verify`. Records are dropped after they are checked,
//! so memory use does not grow with the ledger.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::append::own_chains;
use super::evidence::{self, Digest, SectionLine};
use super::files::ReadFile;
use super::read::{self, ErasedSection, EvidenceFile, LedgerFile};
use super::{Ledger, journal};
use crate::workspace::parallel::in_parallel;
use crate::workspace::{Finding, RelativePath, Root};

/// The result of an audit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Audit {
    /// How many records there are.
    pub records: usize,
    /// How many files they are in.
    pub files: usize,
    /// Everything that is wrong in files and chains, file by file.
    pub findings: Vec<Finding>,
    /// The intents under which code was recorded.
    pub intents: BTreeSet<String>,
    /// The digests of all sections of evidence, computed from the bytes of the files.
    pub sections: HashSet<Digest>,
    /// The sections from which a line was erased.
    pub erased: Vec<ErasedSection>,
}

/// Reads all files of a workspace's ledger on all processors. For evidence, only the findings and
/// digests are kept.
pub(crate) fn audit(root: &Root) -> Audit {
    let is_own = own_chains(root);
    let files = read::files(root);
    let read = in_parallel(&files, |file| match evidence::digest_of_path(&file.path) {
        Some(_) => of_evidence(file),
        None => AuditedFile {
            known: ReadFile::read(file, None).owned_by(&is_own),
            ..AuditedFile::default()
        },
    });
    let mut audit = Audit { files: files.len(), ..Audit::default() };
    let mut counted = HashSet::new();
    let mut parts: BTreeMap<RelativePath, ReadFile> = BTreeMap::new();
    for (file, part) in files.into_iter().zip(read) {
        // A section that is in several files (because two branches compacted it) counts once, as it
        // does in `Ledger`.
        let is_new = |(section, _): &&(Digest, usize)| !part.is_sound || !counted.contains(section);
        audit.records +=
            part.records.iter().filter(is_new).map(|(_, records)| records).sum::<usize>();
        let sections = part.records.iter().map(|(section, _)| *section);
        audit.sections.extend(sections.clone());
        counted.extend(sections.filter(|_| part.is_sound));
        audit.erased.extend(part.known.erased.iter().cloned());
        audit.intents.extend(part.named);
        parts.insert(file.path, part.known);
    }
    let rest = Ledger::of_known(parts, journal::sealed(root));
    for entry in rest.entries() {
        let has_code = !entry.record.files.is_empty();
        audit.intents.extend(entry.record.intent_id.clone().filter(|_| has_code));
    }
    audit.records += rest.len();
    audit.findings = rest.findings().to_vec();
    audit
}

/// The data that is kept about one file.
#[derive(Default)]
struct AuditedFile {
    known: ReadFile,
    /// Whether the digest of the file's bytes is equal to the one in its name.
    is_sound: bool,
    /// For each section, its digest and how many records it has.
    records: Vec<(Digest, usize)>,
    named: BTreeSet<String>,
}

fn of_evidence(file: &LedgerFile) -> AuditedFile {
    let (path, mut part) = (&file.path, AuditedFile::default());
    let (Some(digest), Ok(bytes)) = (evidence::digest_of_path(path), file.bytes()) else {
        return AuditedFile { known: ReadFile::read(file, None), ..part };
    };
    let EvidenceFile { is_sound, sections, parsed } = EvidenceFile::read(path, digest, &bytes);
    for section in &sections {
        let stones =
            section.lines.iter().filter(|(_, said)| matches!(said, SectionLine::Erased(_)));
        part.records.push((section.digest, section.lines.len() - stones.count()));
        for (_, said) in &section.lines {
            let intent = match said {
                SectionLine::Changed(line) => {
                    Some(&section.header.intents[line.intent as usize].id)
                }
                SectionLine::Carried(record) if record.files.is_empty() => None,
                SectionLine::Carried(record) => record.intent_id.as_ref(),
                SectionLine::Erased(_) => None,
            };
            if let Some(intent) = intent.filter(|intent| !part.named.contains(*intent)) {
                part.named.insert(intent.clone());
            }
        }
    }
    part.is_sound = is_sound;
    part.known = ReadFile::with(parsed, None);
    part
}
