//! Determines what kind of change a whole change is, from its base to its end, and compares that
//! with what agents claimed.

use std::collections::HashSet;
use std::sync::Arc;

use super::Workspace;
use code::{Block, Document};
use ground::{Code, Finding, RelativePath};
use ledger::{Basis, Claim, MutationClass, Record};
use provenance::Classification;
use provenance::classify::{self, Lookup};

/// The size in bytes above which the texts of a change are not classified.
const MOST_BYTES: usize = 16 * 1024 * 1024;

#[derive(Default)]
pub struct Texts {
    pub files: Vec<(RelativePath, Option<Document>, Option<Document>)>,
    pub unread: Vec<RelativePath>,
    bytes: usize,
}

impl Texts {
    pub fn too_large() -> Self {
        Self { bytes: usize::MAX, ..Self::default() }
    }

    /// Adds a file. If the change becomes too large to be classified, all texts are dropped.
    pub fn add_file(
        &mut self,
        path: RelativePath,
        before: Option<Document>,
        after: Option<Document>,
    ) {
        self.bytes += before.iter().chain(&after).map(Document::len_bytes).sum::<usize>();
        match self.bytes > MOST_BYTES {
            true => self.files.clear(),
            false => self.files.push((path, before, after)),
        }
    }
}

/// The size in bytes of unchanged files that are searched for a name at most.
const MOST_SEARCHED: usize = 64 * 1024 * 1024;
/// The number of files that may contain a name. If there are more, the name is taken to be in use,
/// and they are not read.
const MOST_FILES: usize = 400;

/// Returns the unchanged files that contain one of the words, each with its text, or `None` if
/// there is too much text to search.
pub fn holding(
    paths: Vec<RelativePath>,
    texts: &Texts,
    words: &[&str],
    read: impl Fn(&RelativePath) -> Option<String>,
) -> Option<Vec<(String, String)>> {
    let changed: HashSet<&RelativePath> =
        texts.files.iter().map(|(path, ..)| path).chain(&texts.unread).collect();
    let (mut found, mut size) = (Vec::new(), 0);
    for path in paths.iter().filter(|path| !changed.contains(path) && !path.is_orchestration()) {
        let Some(text) = read(path) else { continue };
        size += text.len();
        if words.iter().any(|word| text.contains(word)) {
            found.push((path.as_str().to_owned(), text));
        }
        if size > MOST_SEARCHED || found.len() > MOST_FILES {
            return None;
        }
    }
    Some(found)
}

/// Classifies a change. Returns `None` if it is too large.
pub fn classify(texts: &Texts, others: &Lookup<'_>) -> Option<Classification> {
    if texts.bytes > MOST_BYTES {
        return None;
    }
    let before =
        texts.files.iter().filter_map(|(path, old, _)| Some((path.as_str(), old.clone()?)));
    let after = texts.files.iter().filter_map(|(path, _, new)| Some((path.as_str(), new.clone()?)));
    let (before, after): (Vec<_>, Vec<_>) = (before.collect(), after.collect());
    let mut found = classify::change_among(&before, &after, others);
    for path in &texts.unread {
        found.reasons.push(format!("file {path}: no text, so nothing is known of it"));
        if found.basis != Basis::ParseError {
            (found.class, found.basis) = (Some(MutationClass::IntentEvolution), Basis::None);
        }
    }
    Some(found)
}

/// Returns a finding if the newest record of an edited block claims a refactoring but the whole change
/// shows another kind of change. `claims` are the records that brought the new lines of the block.
pub fn contradicted(
    ws: &Workspace,
    path: &RelativePath,
    (block, claims): (&Block, &[Arc<Claim>]),
    classes: &Classification,
) -> Option<Finding> {
    let claim = claims.iter().max_by_key(|claim| &claim.entry.record.timestamp)?;
    if !claims_refactoring(&claim.entry.record) {
        return None;
    }
    let change = classes.blocks.iter().find(|change| {
        change.class == Some(MutationClass::IntentEvolution)
            && change.after.as_ref().is_some_and(|(file, bytes)| {
                file == path.as_str()
                    && bytes.start <= block.bytes.start
                    && block.bytes.end <= bytes.end
                    && change.reason.contains(block.identity.path.as_str())
            })
    })?;
    let message = format!(
        "{} was claimed as AST_REFACTOR, and since the base it is INTENT_EVOLUTION ({}).",
        block.identity.path, change.reason
    );
    let help =
        "Review it as a change of behaviour; docs/classify.md says what counts as a refactoring.";
    let finding = Finding::new(Code::ClassContradicted, message, help).at_block(path, block);
    Some(Finding { intent: ws.intent_of(claim), ..finding })
}

/// Only the claim of whoever made the record counts, not what the record shows.
pub fn claims_refactoring(record: &Record) -> bool {
    let says =
        |claimed: &str| claimed.to_ascii_uppercase().replace(['-', ' '], "_").contains("REFACTOR");
    record.claimed_class.as_deref().is_some_and(says)
}
