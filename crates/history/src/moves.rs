//! Whole blocks that one commit took out of one place and put in another, in the same file or in
//! another file of the same language. Their lines go on to where the block was. Nothing smaller is
//! followed: short pieces of code are often alike without having the same origin.
//!
//! The two blocks must have the same tokens. So a block that was moved and reformatted is found,
//! and one that was moved and edited is not. If a commit removed or added several blocks with these
//! tokens, their names tell which of them went where. If the names do not, no move is claimed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use code::{Block, Document, FileBlocks, Identity, TokenHash, saying_lines};
use ground::git::{BString, ChangedBlob, GitError, ObjectId, ObjectReader, TwoTrees};

use crate::line_map::{PassedRun, new_lines, passed_runs};
use crate::renames::Renames;
use crate::text::{LineText, Loose, language_of};

/// If a commit changes more files of the language than this, no block of it counts as moved.
pub const MAX_FILES: usize = 32;
/// If these files have more bytes than this, no block of the commit counts as moved.
const MAX_BYTES: usize = 1024 * 1024;
/// The smallest number of lines of a moved block that say something.
const MIN_LINES: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub path: BString,
    pub blob: ObjectId,
    pub lines: Vec<PassedRun>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockMoves {
    pub moved: Vec<Moved>,
    /// The lines of new blocks that may have been moved. This clone lacks the contents that say it.
    pub unclear: Vec<Range<usize>>,
}

/// The files of one language from which a commit removed code.
#[derive(Default)]
pub(crate) struct RemovedCode {
    files: Vec<RemovedFrom>,
    /// What the commit changed in files of the language, and all files that it added or removed.
    changed: Vec<ChangedBlob>,
}

struct RemovedFrom {
    path: BString,
    before: ObjectId,
    now: Option<ObjectId>,
    pairs: LinePairs,
}

/// A hash for each pair of chosen lines that say something and have no other such line between
/// them. A text that shares no such pair holds no moved block, and need not be parsed.
struct LinePairs(Vec<u64>);

/// A file from which blocks were removed that may be elsewhere now.
struct PartnerFile<'a> {
    file: &'a RemovedFrom,
    text: LineText,
    /// Lines that were found elsewhere are not among them any more.
    removed: Vec<bool>,
    blocks: Vec<Block>,
}

/// The blocks of a text. The document must be kept as long as they are.
pub(crate) type ParsedBlocks = (Document, Arc<FileBlocks>);

impl RemovedCode {
    /// How much memory it takes; see [`ObjectReader::remembered`].
    fn weight(&self) -> usize {
        let files = self.files.iter().map(|file| file.path.len() + 8 * file.pairs.0.len());
        files.sum::<usize>() + 128 * self.changed.len()
    }

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

    /// If too much was changed, the result is empty, because nothing is known of a move.
    pub(crate) fn from_changes(
        reader: &mut ObjectReader<'_>,
        changed: &[ChangedBlob],
        language: &'static str,
    ) -> Result<Self, GitError> {
        let is_partner = |one: &&ChangedBlob| one.before.is_some() && has_language(one, language);
        match changed.iter().filter(is_partner).count() > MAX_FILES {
            true => Ok(Self::default()),
            false => Self::from_texts(reader, changed, language),
        }
    }

    /// Like [`Self::from_changes`], for any number of texts.
    pub(crate) fn from_texts(
        reader: &mut ObjectReader<'_>,
        changed: &[ChangedBlob],
        language: &'static str,
    ) -> Result<Self, GitError> {
        let of_language = changed.iter().filter(|one| has_language(one, language));
        let partners = of_language.filter_map(|one| Some((one, one.before?)));
        let (mut files, mut left) = (Vec::new(), MAX_BYTES);
        for (partner, before) in partners {
            let Some((text, after)) = two_texts(reader, partner, &mut left)? else {
                return Ok(Self::default());
            };
            let removed = removed_lines(&text, &after);
            let pairs = LinePairs::from_chosen(&text, &removed, language);
            if !pairs.0.is_empty() {
                let (path, now) = (partner.path.clone(), partner.now);
                files.push(RemovedFrom { path, before, now, pairs });
            }
        }
        if files.is_empty() {
            return Ok(Self::default());
        }
        let is_kept = |one: &&ChangedBlob| {
            has_language(one, language) || one.before.is_none() || one.now.is_none()
        };
        Ok(Self { files, changed: changed.iter().filter(is_kept).cloned().collect() })
    }

    /// Returns the blocks with some of these tokens that the commit added to other files than
    /// `path`. Only blocks are found whose lines share one of `pairs`. `None` if too much was added.
    fn added_elsewhere(
        &self,
        reader: &mut ObjectReader<'_>,
        path: &BString,
        (language, tokens, pairs): (&'static str, &HashSet<&TokenHash>, &LinePairs),
    ) -> Result<Option<Vec<(TokenHash, Identity)>>, GitError> {
        let (mut found, mut left) = (Vec::new(), MAX_BYTES);
        let others = self.changed.iter().filter(|one| one.path != *path && one.now.is_some());
        for other in others.filter(|one| has_language(one, language)) {
            let Some((before, text)) = two_texts(reader, other, &mut left)? else {
                return Ok(None);
            };
            let added = new_lines(&[&before], &text);
            if !LinePairs::from_chosen(&text, &added, language).shares_one_of(pairs) {
                continue;
            }
            let (_document, blocks) = parsed(&other.path.to_string(), &text);
            let blocks = chosen_blocks(&blocks, &text, &added, language);
            let blocks = blocks.filter(|block| tokens.contains(&block.fingerprint.tokens));
            found.extend(
                blocks.map(|block| (block.fingerprint.tokens.clone(), block.identity.clone())),
            );
        }
        Ok(Some(found))
    }

    /// Returns under which path a file goes on, and its content there. `None` if it is gone.
    fn file_now(
        &self,
        reader: &mut ObjectReader<'_>,
        file: &RemovedFrom,
    ) -> Result<Option<(BString, ObjectId)>, GitError> {
        if let Some(now) = file.now {
            return Ok(Some((file.path.clone(), now)));
        }
        let renames = Renames::from_changes(&self.changed);
        let new = self.changed.iter().filter(|one| one.before.is_none());
        for (path, now) in new.filter_map(|one| Some((&one.path, one.now?))) {
            let former = renames.former_file(reader, path.as_ref())?;
            if former.is_some_and(|(former, _)| former == file.path) {
                return Ok(Some((path.clone(), now)));
            }
        }
        Ok(None)
    }
}

impl<'a> PartnerFile<'a> {
    /// Reads the file. Most of its blocks take memory for nothing, so only those with some of these
    /// tokens are kept.
    fn read(
        reader: &mut ObjectReader<'_>,
        file: &'a RemovedFrom,
        language: &'static str,
        tokens: &HashSet<&TokenHash>,
    ) -> Result<Self, GitError> {
        let text = LineText::new(reader.blob(file.before)?);
        let after = file.now.map(|now| reader.blob(now)).transpose()?.unwrap_or_default();
        let removed = removed_lines(&text, &LineText::new(after));
        let (_document, blocks) = parsed(&file.path.to_string(), &text);
        let blocks = chosen_blocks(&blocks, &text, &removed, language);
        let blocks = blocks.filter(|block| tokens.contains(&block.fingerprint.tokens));
        let blocks = blocks.cloned().collect();
        Ok(Self { file, text, removed, blocks })
    }

    fn blocks_with<'b>(
        &'b self,
        tokens: &'b TokenHash,
        language: &'static str,
    ) -> impl Iterator<Item = &'b Block> {
        self.blocks.iter().filter(move |block| {
            block.fingerprint.tokens == *tokens
                && is_chosen(lines_of(block, &self.text), &self.removed, &self.text, language)
        })
    }

    /// Returns true if the block is not in the file any more. Lines at its edges may have stayed, but
    /// each of them must be in another block now: that one has the same line, so the comparison of
    /// the two texts took the one for the other. Another block has another name, or the tokens that
    /// another one had.
    fn has_lost(
        &self,
        reader: &mut ObjectReader<'_>,
        block: &Block,
        code: &RemovedCode,
        language: &'static str,
    ) -> Result<bool, GitError> {
        let says = |at: &usize| saying_lines::says_something(self.text.line(*at), Some(language));
        let lines = lines_of(block, &self.text);
        let is_whole = lines.clone().filter(says).all(|at| self.removed[at]);
        if is_whole && self.file.now.is_some() {
            return Ok(true);
        }
        let Some((path, now)) = code.file_now(reader, self.file)? else { return Ok(true) };
        let after = match reader.blob(now) {
            Err(GitError::TooLarge { .. }) => return Ok(false),
            read => LineText::new(read?),
        };
        let mut stayed: Vec<usize> = Vec::new();
        for run in passed_runs(&self.text, &after) {
            let places = run.now.zip(run.before..);
            let places = places.filter(|(_, before)| lines.contains(before) && says(before));
            stayed.extend(places.map(|(now, _)| now));
        }
        if stayed.is_empty() {
            return Ok(true);
        }
        let ((_old, old), (_new, new)) =
            (parsed(&self.file.path.to_string(), &self.text), parsed(&path.to_string(), &after));
        // The cells of a notebook may all have the same name.
        let was_another = |now: &Block| {
            let tokens = &now.fingerprint.tokens;
            *tokens != block.fingerprint.tokens
                && named_blocks(&old).any(|old| old.fingerprint.tokens == *tokens)
        };
        Ok(stayed.into_iter().all(|line| {
            let around = named_blocks(&new).filter(|one| lines_of(one, &after).contains(&line));
            let mut around = around.peekable();
            around.peek().is_some()
                && around
                    .all(|one| !is_named_alike(&one.identity, &block.identity) || was_another(one))
        }))
    }
}

/// Finds the moved blocks among lines that a commit seems to have brought to a file.
///
/// `brought` has one item for each line of `now`. `removed` returns what the commit removed; it is
/// asked only if a block may have been moved. `known` is a document that may have the text of `now`.
pub(crate) fn block_moves(
    reader: &mut ObjectReader<'_>,
    path: &BString,
    (now, known): (&LineText, Option<&Document>),
    brought: &[bool],
    removed: impl FnOnce(&mut ObjectReader<'_>, &'static str) -> Result<Arc<RemovedCode>, GitError>,
) -> Result<BlockMoves, GitError> {
    let Some(language) = language_of(&path.to_string()) else { return Ok(BlockMoves::default()) };
    if LinePairs::from_chosen(now, brought, language).0.is_empty() {
        return Ok(BlockMoves::default());
    }
    let found = removed(reader, language)
        .and_then(|code| moved_blocks(reader, path, (now, known), (brought, language), &code));
    match found {
        Ok(moved) => Ok(BlockMoves { moved, unclear: Vec::new() }),
        Err(GitError::Missing { .. }) => {
            let (_document, blocks) = parsed_unless_known(known, &path.to_string(), now);
            let blocks = chosen_blocks(&blocks, now, brought, language);
            let unclear = blocks.map(|block| lines_of(block, now)).collect();
            Ok(BlockMoves { moved: Vec::new(), unclear })
        }
        Err(error) => Err(error),
    }
}

/// Pairs new blocks with removed blocks that have the same tokens, larger ones first. The lines of a
/// pair are looked for no further.
fn moved_blocks(
    reader: &mut ObjectReader<'_>,
    path: &BString,
    (now, known): (&LineText, Option<&Document>),
    (brought, language): (&[bool], &'static str),
    code: &RemovedCode,
) -> Result<Vec<Moved>, GitError> {
    let sought = LinePairs::from_chosen(now, brought, language);
    let mut partners: Vec<&RemovedFrom> =
        code.files.iter().filter(|file| file.pairs.shares_one_of(&sought)).collect();
    if partners.is_empty() {
        return Ok(Vec::new());
    }
    let (_document, blocks) = parsed_unless_known(known, &path.to_string(), now);
    let mut new: Vec<&Block> = chosen_blocks(&blocks, now, brought, language).collect();
    let mut in_block = vec![false; now.len()];
    new.iter().flat_map(|block| lines_of(block, now)).for_each(|at| in_block[at] = brought[at]);
    let sought = LinePairs::from_chosen(now, &in_block, language);
    partners.retain(|file| file.pairs.shares_one_of(&sought));
    let tokens: HashSet<&TokenHash> = new.iter().map(|block| &block.fingerprint.tokens).collect();
    let mut former: Vec<PartnerFile<'_>> = Vec::new();
    for file in partners {
        let read = PartnerFile::read(reader, file, language, &tokens)?;
        former.extend(Some(read).filter(|read| !read.blocks.is_empty()));
    }
    if former.is_empty() {
        return Ok(Vec::new());
    }
    let asked = (language, &tokens, &sought);
    let Some(elsewhere) = code.added_elsewhere(reader, path, asked)? else {
        return Ok(Vec::new());
    };
    // All of a new file was added, also what it has from a file of another name.
    let is_new = code.changed.iter().any(|one| one.path == *path && one.before.is_none());
    let mut added = if is_new { vec![true; now.len()] } else { brought.to_vec() };
    let mut free = brought.to_vec();
    let mut found: BTreeMap<usize, Vec<PassedRun>> = BTreeMap::new();
    new.sort_by_key(|block| Reverse(lines_of(block, now).len()));
    for block in new {
        let (own, tokens) = (lines_of(block, now), &block.fingerprint.tokens);
        if !is_chosen(own.clone(), &free, now, language) {
            continue;
        }
        let here = chosen_blocks(&blocks, now, &added, language);
        let here = here.filter(|one| one.fingerprint.tokens == *tokens).map(|one| &one.identity);
        let others = elsewhere.iter().filter(|(other, _)| other == tokens);
        let mut twins: Vec<&Identity> = here.chain(others.map(|(_, identity)| identity)).collect();
        let mut origins: Vec<(usize, &Block)> = Vec::new();
        for (at, file) in former.iter().enumerate() {
            // The journal has several texts of a file, newest first.
            if !origins.iter().any(|(known, _)| former[*known].file.path == file.file.path) {
                origins.extend(file.blocks_with(tokens, language).map(|block| (at, block)));
            }
        }
        if origins.len() > 1 || twins.len() > 1 {
            origins.retain(|(_, old)| is_named_alike(&old.identity, &block.identity));
            twins.retain(|twin| is_named_alike(twin, &block.identity));
        }
        let (&[(at, old)], [_]) = (&origins[..], &twins[..]) else { continue };
        if !former[at].has_lost(reader, old, code, language)? {
            continue;
        }
        let was = lines_of(old, &former[at].text);
        for run in passed_runs(&former[at].text.part(was.clone()), &now.part(own.clone())) {
            let places =
                run.now.zip(run.before..).map(|(at, there)| (at + own.start, there + was.start));
            let places = places.filter(|(at, _)| free[*at]);
            let runs = places.map(|(at, before)| PassedRun { now: at..at + 1, before });
            found.entry(at).or_default().extend(runs);
        }
        former[at].removed[was].fill(false);
        free[own.clone()].fill(false);
        added[own].fill(false);
    }
    let moved = found.into_iter().map(|(at, mut lines)| {
        lines.sort_by_key(|run| run.now.start);
        let RemovedFrom { path, before, .. } = former[at].file;
        Moved { path: path.clone(), blob: *before, lines }
    });
    Ok(moved.collect())
}

fn is_named_alike(one: &Identity, other: &Identity) -> bool {
    (one.kind, &one.path) == (other.kind, &other.path)
}

fn has_language(changed: &ChangedBlob, language: &str) -> bool {
    language_of(&changed.path.to_string()) == Some(language)
}

/// Returns true if the lines of a block are chosen. Lines at its edges need not be, because another
/// block may have the same ones, and then a comparison of the two texts may take them for its own.
fn is_chosen(block: Range<usize>, chosen: &[bool], text: &LineText, language: &str) -> bool {
    let says = |at: &usize| saying_lines::says_something(text.line(*at), Some(language));
    let said: Vec<bool> = block.filter(says).map(|at| chosen[at]).collect();
    let is_left_out = |chosen: &&bool| !**chosen;
    let edges = said.iter().take_while(is_left_out).count()
        + said.iter().rev().take_while(is_left_out).count();
    let count = said.iter().filter(|chosen| **chosen).count();
    said.len() >= MIN_LINES && 2 * count > said.len() && count + edges == said.len()
}

fn named_blocks(blocks: &FileBlocks) -> impl Iterator<Item = &Block> {
    blocks.blocks.iter().filter(|block| !block.identity.kind.is_unnamed())
}

fn chosen_blocks<'a>(
    blocks: &'a FileBlocks,
    text: &'a LineText,
    chosen: &'a [bool],
    language: &'static str,
) -> impl Iterator<Item = &'a Block> {
    named_blocks(blocks)
        .filter(move |block| is_chosen(lines_of(block, text), chosen, text, language))
}

/// Reads a file before and after a commit. A file that is not there has no lines. `None` if it has
/// more bytes than `left`.
fn two_texts(
    reader: &mut ObjectReader<'_>,
    file: &ChangedBlob,
    left: &mut usize,
) -> Result<Option<(LineText, LineText)>, GitError> {
    let mut read = |blob: Option<ObjectId>| match blob.map(|blob| reader.blob(blob)).transpose() {
        Err(GitError::TooLarge { .. }) => Ok(None),
        read => read.map(|bytes| Some(bytes.unwrap_or_default())),
    };
    let (Some(before), Some(now)) = (read(file.before)?, read(file.now)?) else { return Ok(None) };
    *left = left.saturating_sub(before.len() + now.len());
    Ok((*left > 0).then(|| (LineText::new(before), LineText::new(now))))
}

pub(crate) fn parsed(path: &str, text: &LineText) -> ParsedBlocks {
    let text = String::from_utf8_lossy(text.lines(0..text.len()));
    let document = Document::from_text(path, &text);
    let blocks = document.blocks();
    (document, blocks)
}

/// Like [`parsed`], but takes the blocks of `known` if that document has this text.
fn parsed_unless_known(known: Option<&Document>, path: &str, text: &LineText) -> ParsedBlocks {
    let is_it = |known: &&Document| {
        known.language().is_some_and(|language| Some(language.id) == language_of(path))
            && known.text().as_bytes() == text.lines(0..text.len())
    };
    match known.filter(is_it) {
        Some(known) => (known.clone(), known.parsed_blocks()),
        None => parsed(path, text),
    }
}

fn lines_of(block: &Block, text: &LineText) -> Range<usize> {
    let (start, end) = (block.whole_lines.start() as usize, block.whole_lines.end() as usize);
    (start - 1).min(text.len())..end.min(text.len())
}

/// Returns for each line of a text whether the text after it lacks the line. The two are compared in
/// the order in which the walk compares them, so that a block that changed places with another one is
/// removed and added.
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

impl LinePairs {
    fn from_chosen(text: &LineText, chosen: &[bool], language: &str) -> Self {
        let says = |at: &usize| saying_lines::says_something(text.line(*at), Some(language));
        let mut pairs = Vec::new();
        for run in runs_of(chosen) {
            let lines: Vec<u64> = run.filter(says).map(|at| hash(text.line(at))).collect();
            pairs.extend(lines.windows(2).map(|pair| pair[0].rotate_left(1) ^ pair[1]));
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self(pairs)
    }

    fn shares_one_of(&self, others: &Self) -> bool {
        others.0.iter().any(|pair| self.0.binary_search(pair).is_ok())
    }
}

fn hash(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    Loose(line).hash(&mut hasher);
    hasher.finish()
}
