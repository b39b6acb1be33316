//! Checks every file of a ledger for `intent evidence verify`. Records are dropped after they are checked,
//! so memory use does not grow with the ledger.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Ledger;
use super::all_records::add_losses;
use super::append::own_chains;
use super::digest::Digest;
use super::evidence::{self, SectionLine};
use super::ledger_file::{ErasedSection, ParsedLedgerFile};
use super::{journal, read};
use ground::parallel::in_parallel;
use ground::{Finding, RelativePath, Root};

#[derive(Clone, Debug, Default)]
pub struct Audit {
    pub records: usize,
    pub files: usize,
    pub findings: Vec<Finding>,
    pub intents: BTreeSet<String>,
    /// The digests of all sections of evidence, computed from the bytes of the files.
    pub sections: HashSet<Digest>,
    pub erased: Vec<ErasedSection>,
}

/// Reads all files of a workspace's ledger on all processors, and those that a sparse checkout leaves
/// out. For evidence, only the findings and digests are kept, and no records are made from its lines.
pub fn audit(root: &Root, left_out: Vec<(RelativePath, Vec<u8>)>) -> Audit {
    let is_own = own_chains(root);
    let files = read::files(root);
    let read = in_parallel(&files, |file| {
        let named = evidence::digest_of_path(&file.path);
        match named.and_then(|named| Some((named, file.bytes().ok()?))) {
            Some((named, bytes)) => AuditedFile::of_evidence(&file.path, named, &bytes),
            None => AuditedFile::of_records(ParsedLedgerFile::read(file).owned_by(&is_own)),
        }
    });
    let read_left_out =
        in_parallel(&left_out, |(path, bytes)| match evidence::digest_of_path(path) {
            Some(named) => AuditedFile::of_evidence(path, named, bytes),
            None => AuditedFile::of_records(read::bytes(path, bytes)),
        });
    let paths = files.into_iter().map(|file| file.path);
    let paths = paths.chain(left_out.into_iter().map(|(path, _)| path));
    let mut audit = Audit::default();
    let mut parts: BTreeMap<RelativePath, ParsedLedgerFile> = BTreeMap::new();
    let mut counted: HashSet<Digest> = HashSet::new();
    for (path, part) in paths.zip(read.into_iter().chain(read_left_out)) {
        audit.files += 1;
        // A section that is in several files (because two branches compacted it) counts once, as it
        // does in `Ledger`.
        let is_new = |section: &Digest| !part.is_sound || !counted.contains(section);
        let new = part.records.iter().filter(|(section, _)| is_new(section));
        audit.records += new.map(|(_, records)| records).sum::<usize>();
        counted.extend(part.rest.sections.iter().filter(|_| part.is_sound));
        audit.sections.extend(&part.rest.sections);
        audit.erased.extend(part.rest.erased.iter().cloned());
        audit.intents.extend(part.intents);
        parts.insert(path, part.rest);
    }
    add_losses(&mut parts, journal::lost_records(root));
    let rest = Ledger::of_known(parts);
    for entry in rest.entries() {
        let has_code = !entry.record.files.is_empty();
        audit.intents.extend(entry.record.intent_id.clone().filter(|_| has_code));
    }
    audit.records += rest.entries().len();
    audit.findings = rest.findings().to_vec();
    audit
}

#[derive(Default)]
struct AuditedFile {
    rest: ParsedLedgerFile,
    /// Whether the digest of the file's bytes is equal to the one in its name.
    is_sound: bool,
    records: Vec<(Digest, usize)>,
    intents: BTreeSet<String>,
}

impl AuditedFile {
    fn of_records(rest: ParsedLedgerFile) -> Self {
        Self { rest, ..Self::default() }
    }

    fn of_evidence(path: &RelativePath, named: Digest, bytes: &[u8]) -> Self {
        let (rest, sections) = read::evidence_file(path, named, bytes);
        let is_sound = rest.digest == Some(named);
        let mut audited = Self { rest, is_sound, ..Self::default() };
        for section in sections {
            let mut records = 0;
            for (_, said) in &section.lines {
                let intent = match said {
                    SectionLine::Erased(_) => continue,
                    SectionLine::Changed(line) => {
                        Some(&section.header.intents[line.intent as usize].id)
                    }
                    SectionLine::Carried(record) => {
                        record.intent_id.as_ref().filter(|_| !record.files.is_empty())
                    }
                };
                records += 1;
                if let Some(intent) = intent.filter(|intent| !audited.intents.contains(*intent)) {
                    audited.intents.insert(intent.clone());
                }
            }
            audited.records.push((section.digest, records));
        }
        audited
    }
}
