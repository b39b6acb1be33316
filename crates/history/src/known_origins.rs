//! Where the lines of files come from, as it was found before.
//!
//! The origins of a file at the commit that last changed it never change. So no key contains the
//! commit that is checked out, and a new commit makes no answer about another file useless. What
//! else decides is in every key: where a shallow clone ends, replaced objects, the commits that are
//! ignored, and the grammars of this program, which find blocks that moved.

use code::language;
use ground::answer_store::{AnswerKey, AnswerStore};
use ground::git::{BString, GitError, ObjectId, ObjectReader};
use serde::{Deserialize, Serialize};

use crate::origins::{FileVersion, LineOrigins, Origin, OriginRun};

/// If fewer commits than this left a file as it is, they are not skipped the next time.
const WORTH_SKIPPING: usize = 16;

pub struct KnownOrigins<'a> {
    store: &'a AnswerStore,
    /// Everything on which all answers depend.
    inputs: Vec<u8>,
}

/// Commits that all left a file as it is: the newest, and the one that changed it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnchangedSpan {
    pub newest: ObjectId,
    pub last_change: ObjectId,
}

#[derive(Serialize, Deserialize)]
struct KeptOrigins {
    versions: Vec<KeptVersion>,
    /// The number of lines, the index of the version that brought them, and the number of the first
    /// of these lines in that version.
    runs: Vec<(u32, u32, u32)>,
}

#[derive(Serialize, Deserialize)]
struct KeptVersion {
    commit: Vec<u8>,
    blob: Vec<u8>,
    /// `None` for the path that was asked about.
    path: Option<Vec<u8>>,
}

impl<'a> KnownOrigins<'a> {
    pub fn new(store: &'a AnswerStore, reader: &mut ObjectReader<'_>) -> Result<Self, GitError> {
        let mut inputs = reader.view_of_history()?;
        inputs.extend(env!("CARGO_PKG_VERSION").bytes());
        let grammars = language::with_grammar().flat_map(|language| [" ", language.id]);
        inputs.extend(grammars.flat_map(str::bytes));
        Ok(Self { store, inputs })
    }

    fn key(&self, kind: &str, parts: &[&[u8]]) -> AnswerKey {
        let mut all: Vec<&[u8]> = vec![kind.as_bytes(), &self.inputs];
        all.extend(parts);
        AnswerKey::from_parts(&all)
    }

    pub(crate) fn unchanged_span(&self, path: &BString) -> Option<UnchangedSpan> {
        let (newest, last) = self.store.recall::<(Vec<u8>, Vec<u8>)>(self.key("span", &[path]))?;
        Some(UnchangedSpan { newest: object_id(&newest)?, last_change: object_id(&last)? })
    }

    pub(crate) fn keep_span(&self, path: &BString, span: UnchangedSpan, commits: usize) {
        if commits >= WORTH_SKIPPING {
            let ids = (span.newest.as_slice(), span.last_change.as_slice());
            self.store.keep(self.key("span", &[path]), &ids);
        }
    }

    /// Returns the origins of all lines of a file at the commit that changed it last. Whether the
    /// versions have as many lines is not looked up, because most texts are not needed.
    pub(crate) fn origins(
        &self,
        version: &FileVersion,
        reader: &mut ObjectReader<'_>,
    ) -> Option<LineOrigins> {
        let kept: KeptOrigins = self.store.recall(self.key_of(version))?;
        let versions = kept.versions.into_iter().map(|one| {
            let (commit, blob) = (object_id(&one.commit)?, object_id(&one.blob)?);
            let path = one.path.map_or_else(|| version.path.clone(), BString::from);
            let time = reader.commit(commit).ok()?.time;
            Some(FileVersion { commit, path, blob, time })
        });
        let versions: Vec<FileVersion> = versions.collect::<Option<_>>()?;
        let mut runs = Vec::with_capacity(kept.runs.len());
        let mut at: usize = 0;
        for (count, origin, line_there) in kept.runs {
            let (count, origin, line_there) =
                (count as usize, origin as usize, line_there as usize);
            versions.get(origin)?;
            let lines = at..at.checked_add(count)?;
            at = lines.end;
            runs.push(OriginRun { lines, origin: Origin::Brought(origin), line_there });
        }
        Some(LineOrigins { versions, runs })
    }

    /// Keeps the origins of all lines of a file. They are not kept if history is missing, because it
    /// may be fetched later.
    pub(crate) fn keep_origins(&self, version: &FileVersion, found: &LineOrigins) {
        let small = |number: usize| u32::try_from(number).ok();
        let runs = found.runs.iter().map(|run| match run.origin {
            Origin::Brought(at) => {
                Some((small(run.lines.len())?, small(at)?, small(run.line_there)?))
            }
            Origin::Missing(_) => None,
        });
        let Some(runs) = runs.collect() else { return };
        let versions = found.versions.iter().map(|one| KeptVersion {
            commit: one.commit.as_slice().to_vec(),
            blob: one.blob.as_slice().to_vec(),
            path: (one.path != version.path).then(|| one.path.to_vec()),
        });
        let kept = KeptOrigins { versions: versions.collect(), runs };
        self.store.keep(self.key_of(version), &kept);
    }

    pub(crate) fn added_files(
        &self,
        folder: &BString,
        commit: ObjectId,
    ) -> Option<Vec<(BString, ObjectId)>> {
        let key = self.key("added", &[folder, commit.as_slice()]);
        let kept = self.store.recall::<Vec<(Vec<u8>, Vec<u8>)>>(key)?.into_iter();
        kept.map(|(path, blob)| Some((BString::from(path), object_id(&blob)?))).collect()
    }

    pub(crate) fn keep_added_files(
        &self,
        folder: &BString,
        commit: ObjectId,
        added: &[(BString, ObjectId)],
    ) {
        let key = self.key("added", &[folder, commit.as_slice()]);
        let kept: Vec<(&[u8], &[u8])> =
            added.iter().map(|(path, blob)| (path.as_slice(), blob.as_slice())).collect();
        self.store.keep(key, &kept);
    }

    fn key_of(&self, version: &FileVersion) -> AnswerKey {
        let (path, blob, commit) = (&version.path, &version.blob, &version.commit);
        self.key("origins", &[path, blob.as_slice(), commit.as_slice()])
    }
}

fn object_id(bytes: &[u8]) -> Option<ObjectId> {
    ObjectId::try_from(bytes).ok()
}
