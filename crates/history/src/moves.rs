//! Whole blocks that one commit took out of one place and put in another, in the same file or in
//! another file of the same language. Their lines go on to where the block was. Nothing smaller is
//! followed: short pieces of code are often alike without having the same origin.
//!
//! The two blocks must have the same tokens. So a block that was moved and reformatted is found,
//! and one that was moved and edited is not.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use code::{Block, Document, FileBlocks, TokenHash, saying_lines};
use ground::git::{BString, ChangedBlob, GitError, ObjectId, ObjectReader, TwoTrees};

use crate::line_map::{PassedRun, passed_runs};
use crate::text::{LineText, Loose, language_of};

/// If a commit changes more files of the language than this, no block of it counts as moved.
pub(crate) const MAX_FILES: usize = 32;
/// If these files have more bytes than this, no block of the commit counts as moved.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The smallest number of lines of a moved block that say something.
const MIN_LINES: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub path: BString,
    pub blob: ObjectId,
    pub lines: Vec<PassedRun>,
}

pub(crate) struct RemovedCode(Vec<RemovedFrom>);

struct RemovedFrom {
    path: BString,
    before: ObjectId,
    now: Option<ObjectId>,
    /// The sorted result of [`pairs_of_lines`].
    pairs: Vec<u64>,
}

struct CodeBefore {
    text: LineText,
    removed: Vec<bool>,
    blocks: ParsedBlocks,
}

/// The blocks of a text. The document must be kept as long as they are.
pub(crate) type ParsedBlocks = (Document, Arc<FileBlocks>);

impl RemovedFrom {
    /// Reads the file. Its blocks take much memory, so they are not kept.
    fn code(&self, reader: &mut ObjectReader<'_>) -> Result<CodeBefore, GitError> {
        let (text, after) = two_texts(reader, self.before, self.now)?;
        let (removed, blocks) = (removed_lines(&text, &after), parsed(&self.path, &text));
        Ok(CodeBefore { text, removed, blocks })
    }

    fn shares_one_of(&self, pairs: &HashSet<u64>) -> bool {
        pairs.iter().any(|pair| self.pairs.binary_search(pair).is_ok())
    }
}

impl RemovedCode {
    /// How much memory it takes; see [`ObjectReader::remembered`].
    fn weight(&self) -> usize {
        self.0.iter().map(|file| file.path.len() + 8 * file.pairs.len()).sum()
    }

    /// If contents are missing or too large, the result is empty, because nothing is known of a
    /// move.
    pub(crate) fn from_trees(
        reader: &mut ObjectReader<'_>,
        trees: TwoTrees,
        language: &'static str,
    ) -> Result<Arc<Self>, GitError> {
        reader.remembered(language, trees, Self::weight, |reader| {
            let changed = reader.changed_blobs(trees.0, trees.1)?;
            Self::from_changes(reader, &changed, language)
        })
    }

    pub(crate) fn from_changes(
        reader: &mut ObjectReader<'_>,
        changed: &[ChangedBlob],
        language: &'static str,
    ) -> Result<Self, GitError> {
        let read = if_known(Self::read(reader, changed, language))?;
        Ok(read.unwrap_or_else(|| Self(Vec::new())))
    }

    fn read(
        reader: &mut ObjectReader<'_>,
        changed: &[ChangedBlob],
        language: &'static str,
    ) -> Result<Self, GitError> {
        let of_language = changed
            .iter()
            .filter(|one| language_of(&one.path.to_string()) == Some(language))
            .filter_map(|one| Some((one, one.before?)));
        let partners: Vec<(&ChangedBlob, ObjectId)> = of_language.collect();
        let mut files = Vec::new();
        if partners.len() > MAX_FILES {
            return Ok(Self(files));
        }
        let mut left = MAX_BYTES;
        for (partner, before) in partners {
            let (text, after) = two_texts(reader, before, partner.now)?;
            left = left.saturating_sub(text.as_bytes().len() + after.as_bytes().len());
            if left == 0 {
                return Ok(Self(Vec::new()));
            }
            let removed = removed_lines(&text, &after);
            let said = |at: usize| saying_lines::says_something(text.line(at), Some(language));
            let mut pairs = Vec::from_iter(pairs_of_lines(&text, &removed, said));
            if !pairs.is_empty() {
                pairs.sort_unstable();
                let (path, now) = (partner.path.clone(), partner.now);
                files.push(RemovedFrom { path, before, now, pairs });
            }
        }
        Ok(Self(files))
    }
}

/// Finds the moved blocks among lines that a commit seems to have brought to a file.
///
/// `brought` has one item for each line of `now`. `removed` returns what the commit removed; it is
/// asked only if a block may have been moved.
pub(crate) fn moved_blocks(
    reader: &mut ObjectReader<'_>,
    path: &BString,
    now: &LineText,
    brought: &[bool],
    removed: impl FnOnce(&mut ObjectReader<'_>, &'static str) -> Result<Arc<RemovedCode>, GitError>,
) -> Result<Vec<Moved>, GitError> {
    let Some(language) = language_of(&path.to_string()) else { return Ok(Vec::new()) };
    let says = |line: usize| saying_lines::says_something(now.line(line), Some(language));
    let sought = pairs_of_lines(now, brought, says);
    if sought.is_empty() {
        return Ok(Vec::new());
    }
    let blocks: OnceCell<ParsedBlocks> = OnceCell::new();
    let mut free = brought.to_vec();
    let mut found = Vec::new();
    for partner in &removed(reader, language)?.0 {
        if !partner.shares_one_of(&sought) {
            continue;
        }
        let (_, blocks) = blocks.get_or_init(|| parsed(path, now));
        let may_be_moved = |block: &Block| {
            let mut chosen = vec![false; now.len()];
            lines_of(block, now).for_each(|at| chosen[at] = free[at]);
            partner.shares_one_of(&pairs_of_lines(now, &chosen, says))
        };
        if !blocks.blocks.iter().any(may_be_moved) {
            continue;
        }
        let Some(before) = if_known(partner.code(reader))? else { continue };
        let lines = pairs(&before, language, (now, blocks, &mut free), says);
        if !lines.is_empty() {
            found.push(Moved { path: partner.path.clone(), blob: partner.before, lines });
        }
    }
    Ok(found)
}

/// Pairs the removed blocks of a file with new blocks that have the same tokens, outer ones first.
/// Lines of a paired block are not free any more.
fn pairs(
    CodeBefore { text: before, removed, blocks: (_, old) }: &CodeBefore,
    language: &'static str,
    (now, blocks, free): (&LineText, &FileBlocks, &mut Vec<bool>),
    says: impl Fn(usize) -> bool,
) -> Vec<PassedRun> {
    let said_before = |at: usize| saying_lines::says_something(before.line(at), Some(language));
    let mut gone: HashMap<&TokenHash, Vec<&Block>> = HashMap::new();
    for block in old.blocks.iter().filter(|block| !block.identity.kind.is_unnamed()) {
        if is_chosen(lines_of(block, before), removed, said_before) {
            gone.entry(&block.fingerprint.tokens).or_default().push(block);
        }
    }
    let mut lines = Vec::new();
    for block in &blocks.blocks {
        let Some(partners) = gone.get_mut(&block.fingerprint.tokens) else { continue };
        let own = lines_of(block, now);
        let same_name = partners.iter().position(|old| old.identity.path == block.identity.path);
        if !is_chosen(own.clone(), free, &says) || partners.is_empty() {
            continue;
        }
        let was = lines_of(partners.remove(same_name.unwrap_or(0)), before);
        let passed = passed_runs(&before.part(was.clone()), &now.part(own.clone()));
        for run in passed {
            let places =
                run.now.zip(run.before..).map(|(at, there)| (at + own.start, there + was.start));
            let places = places.filter(|(at, _)| free[*at]);
            lines.extend(places.map(|(at, before)| PassedRun { now: at..at + 1, before }));
        }
        own.for_each(|at| free[at] = false);
    }
    lines.sort_by_key(|run| run.now.start);
    lines
}

/// Returns true if the lines of a block are chosen. Lines at its edges need not be, because another
/// block may have the same ones, and then a comparison of the two texts may take them for its own.
fn is_chosen(block: Range<usize>, chosen: &[bool], says: impl Fn(usize) -> bool) -> bool {
    let said: Vec<bool> = block.filter(|at| says(*at)).map(|at| chosen[at]).collect();
    let is_left_out = |chosen: &&bool| !**chosen;
    let edges = said.iter().take_while(is_left_out).count()
        + said.iter().rev().take_while(is_left_out).count();
    let count = said.iter().filter(|chosen| **chosen).count();
    said.len() >= MIN_LINES && 2 * count > said.len() && count + edges == said.len()
}

/// Returns `None` if a content is missing or too large, because then nothing is known of a move.
fn if_known<T>(read: Result<T, GitError>) -> Result<Option<T>, GitError> {
    match read {
        Err(GitError::Missing { .. } | GitError::TooLarge { .. }) => Ok(None),
        read => read.map(Some),
    }
}

/// Reads a file before and after a commit. A file that is gone has no lines.
fn two_texts(
    reader: &mut ObjectReader<'_>,
    before: ObjectId,
    now: Option<ObjectId>,
) -> Result<(LineText, LineText), GitError> {
    let after = now.map(|blob| reader.blob(blob)).transpose()?.unwrap_or_default();
    Ok((LineText::new(reader.blob(before)?), LineText::new(after)))
}

pub(crate) fn parsed(path: &BString, text: &LineText) -> ParsedBlocks {
    let text = String::from_utf8_lossy(text.lines(0..text.len()));
    let document = Document::from_text(&path.to_string(), &text);
    let blocks = document.blocks();
    (document, blocks)
}

fn lines_of(block: &Block, text: &LineText) -> Range<usize> {
    let (start, end) = (block.whole_lines.start() as usize, block.whole_lines.end() as usize);
    (start - 1).min(text.len())..end.min(text.len())
}

fn removed_lines(before: &LineText, after: &LineText) -> Vec<bool> {
    let mut removed = vec![true; before.len()];
    for run in passed_runs(before, after) {
        removed[run.before..].iter_mut().take(run.now.len()).for_each(|line| *line = false);
    }
    removed
}

fn runs_of(items: &[bool]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + items[at..].iter().position(|item| *item)?;
        at = items[start..].iter().position(|item| !item).map_or(items.len(), |end| start + end);
        Some(start..at)
    })
}

/// Returns a hash for each pair of chosen lines that say something and have no other such line
/// between them. A text that shares no such pair holds no moved block, and need not be parsed.
fn pairs_of_lines(text: &LineText, chosen: &[bool], says: impl Fn(usize) -> bool) -> HashSet<u64> {
    let mut pairs = HashSet::new();
    for run in runs_of(chosen) {
        let lines: Vec<u64> = run.filter(|at| says(*at)).map(|at| hash(text.line(at))).collect();
        pairs.extend(lines.windows(2).map(|pair| pair[0].rotate_left(1) ^ pair[1]));
    }
    pairs
}

fn hash(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    Loose(line).hash(&mut hasher);
    hasher.finish()
}
