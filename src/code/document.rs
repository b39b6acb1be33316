//! A text with its syntax tree: immutable, cheap to clone, edited into a new one.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use ropey::Rope;

use super::alterations::Alterations;
use super::carry::{Carry, ParsedBlocks};
use super::incremental::{self, Base, ParsedText};
use super::language::{self, Language};
use super::{
    Block, BlockKind, Encoding, FileBlocks, LineRange, Position, generated, outline, paragraphs,
    position,
};

/// Files over this many bytes are left alone.
pub const MAX_BYTES: usize = 2 * 1024 * 1024;
/// A text with more blocks than this is one block: all that is asked of a file takes time for each of them.
pub(super) const MAX_BLOCKS: usize = 10_000;

/// Why a file has no blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Over [`MAX_BYTES`].
    #[error("the file has {bytes} bytes; files over 2 MiB are left alone")]
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// A NUL byte in the first 8 KiB.
    #[error("the file is binary; binary files are left alone")]
    Binary,
    /// Not UTF-8.
    #[error(
        "the file is not UTF-8 (first bad byte at offset {offset}); convert it to UTF-8 to see its blocks"
    )]
    NotUtf8 {
        /// Where the first bad byte stands, counted from 0.
        offset: usize,
    },
}

/// How far into a file a NUL byte is looked for.
const BINARY_PROBE: usize = 8 * 1024;

/// A text, its language, and (parsed at first need, once) its blocks.
#[derive(Clone)]
pub struct Document {
    inner: Arc<Inner>,
}

/// Whether a program wrote a text. Such a text is one block, whatever its language.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Generated {
    No,
    /// Its name or its text says so: `a.min.js`, or `@generated` at the top.
    AsItReads,
    /// `.gitattributes` says so.
    Declared,
}

#[derive(Clone)]
struct Inner {
    path: Arc<str>,
    rope: Rope,
    language: Option<&'static Language>,
    generated: Generated,
    unread: Option<Unread>,
    /// An earlier state that was parsed, and what was touched since.
    base: Option<Base>,
    /// An earlier outline, which the text keeps where it does not parse.
    earlier: Option<Earlier>,
    /// Brings a text to take the outline from, where there is no earlier one.
    origin: Option<Origin>,
    /// The edits that led here.
    edits: EditLog,
    parsed: OnceLock<Outlined>,
}

/// At most this many edits are remembered. Texts that are more edits apart have to be compared.
const MOST_EDITS: usize = 256;

/// The edits of one text since it was opened, or the last of them.
#[derive(Clone, Default)]
struct EditLog {
    /// Tells the states of one text from those of another.
    text: Arc<()>,
    count: usize,
    /// Which bytes were replaced, and by how many.
    last: Arc<Vec<(Range<usize>, usize)>>,
}

impl EditLog {
    fn and(&self, range: Range<usize>, length: usize) -> Self {
        let from = if self.last.len() < MOST_EDITS { 0 } else { MOST_EDITS / 2 };
        let last = self.last[from..].iter().cloned().chain([(range, length)]).collect();
        Self { text: Arc::clone(&self.text), count: self.count + 1, last: Arc::new(last) }
    }

    fn since(&self, earlier: &Self) -> Option<Alterations> {
        let count = self.count.checked_sub(earlier.count)?;
        let first = self.last.len().checked_sub(count)?;
        let edits = self.last[first..].iter();
        let compose = |all: Alterations, (range, length): &(Range<usize>, usize)| {
            all.and_edit(range, *length)
        };
        Arc::ptr_eq(&self.text, &earlier.text).then(|| edits.fold(Alterations::default(), compose))
    }
}

type Origin = Arc<dyn Fn() -> Option<Document> + Send + Sync>;

/// A parsed text with its outline.
#[derive(Clone)]
struct Outlined {
    parsed: ParsedText,
    /// What the parser found; where the text holds new damage, what was carried over from an earlier text.
    blocks: Arc<FileBlocks>,
    /// The syntax errors that are no damage: the outline was taken from a parse with them in it.
    known_errors: Arc<Vec<Range<usize>>>,
    /// The outline to go back to, should typing go on where it was and break the syntax. The text parses, but so that
    /// blocks which nobody touched are others now. For example, `.added` typed above `:root {` makes that rule
    /// `.added :root` until its own brace is typed.
    unsettled: Option<Earlier>,
}

impl Outlined {
    /// With the parser's blocks.
    fn as_parsed(parsed: ParsedText) -> Self {
        let (blocks, known_errors) = (parsed.blocks.clone(), parsed.errors.clone());
        Self { parsed, blocks, known_errors, unsettled: None }
    }
}

/// The outline of an earlier text, and how the present one differs from that text.
#[derive(Clone)]
struct Earlier {
    blocks: Arc<FileBlocks>,
    known_errors: Arc<Vec<Range<usize>>>,
    alterations: Alterations,
}

impl Earlier {
    fn new(outlined: &Outlined, alterations: Alterations) -> Self {
        let (blocks, known_errors) = (outlined.blocks.clone(), outlined.known_errors.clone());
        Self { blocks, known_errors, alterations }
    }

    /// For the text after an edit of this one.
    fn after(outlined: &Outlined, range: &Range<usize>, length: usize) -> Self {
        let unsettled = outlined.unsettled.as_ref();
        match unsettled.filter(|earlier| earlier.alterations.brought(range)) {
            Some(earlier) => earlier.and_edit(range, length),
            None => Self::new(outlined, Alterations::of_edit(range, length)),
        }
    }

    fn and_edit(&self, range: &Range<usize>, length: usize) -> Self {
        Self { alterations: self.alterations.and_edit(range, length), ..self.clone() }
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document")
            .field("path", &self.inner.path)
            .field("language", &self.inner.language.map(|language| language.id))
            .field("bytes", &self.len_bytes())
            .finish_non_exhaustive()
    }
}

impl Document {
    /// A document from a file's bytes. A byte order mark is dropped.
    pub fn from_bytes(path: &str, bytes: &[u8]) -> Result<Self, Unread> {
        if bytes.len() > MAX_BYTES {
            return Err(Unread::TooLarge { bytes: bytes.len() });
        }
        if bytes[..bytes.len().min(BINARY_PROBE)].contains(&0) {
            return Err(Unread::Binary);
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Unread::NotUtf8 { offset: error.valid_up_to() })?;
        Ok(Self::from_text(path, text.strip_prefix('\u{feff}').unwrap_or(text)))
    }

    /// A document from text in hand (an editor's buffer). Never fails: a text that is too large, or is no text, has no blocks and says so in [`Document::unread`].
    pub fn from_text(path: &str, text: &str) -> Self {
        Self::new(path.into(), Rope::from_str(text), None, None)
    }

    /// The same text, written by a program as `.gitattributes` says: it is one block.
    pub fn declared_generated(self) -> Self {
        self.but(|inner| Inner {
            language: None,
            generated: Generated::Declared,
            base: None,
            earlier: None,
            origin: None,
            parsed: OnceLock::new(),
            ..inner
        })
    }

    /// The same text, which takes its outline from another where it does not parse from the start: say, from the text
    /// at the last commit. That one is asked for only then.
    pub fn with_origin(self, origin: impl Fn() -> Option<Self> + Send + Sync + 'static) -> Self {
        self.originating(Some(Arc::new(origin)))
    }

    fn originating(self, origin: Option<Origin>) -> Self {
        self.but(|inner| Inner { origin, parsed: OnceLock::new(), ..inner })
    }

    fn but(&self, change: impl FnOnce(Inner) -> Inner) -> Self {
        Self { inner: Arc::new(change((*self.inner).clone())) }
    }

    fn new(path: Arc<str>, rope: Rope, base: Option<Base>, earlier: Option<Earlier>) -> Self {
        let bytes = rope.len_bytes();
        let unread = if bytes > MAX_BYTES {
            Some(Unread::TooLarge { bytes })
        } else {
            is_binary(&rope).then_some(Unread::Binary)
        };
        let language = language::of_file(&path, &first_line(&rope));
        let reads_so = || unread.is_none() && generated::is_generated(&path, &rope, language);
        let generated = if reads_so() { Generated::AsItReads } else { Generated::No };
        let language = language.filter(|_| generated == Generated::No);
        let parsed = OnceLock::new();
        let (origin, edits) = (None, EditLog::default());
        let inner =
            Inner { path, rope, language, generated, unread, base, earlier, origin, edits, parsed };
        Self { inner: Arc::new(inner) }
    }

    /// The document after a replacement of `range` (bytes). Costs no parse: the next [`Document::blocks`] re-parses what changed.
    /// `None` when the range is outside the text or splits a character.
    pub fn edited(&self, range: Range<usize>, text: &str) -> Option<Self> {
        let edits = self.inner.edits.and(range.clone(), text.len());
        Some(self.with_edit(range, text)?.but(|inner| Inner { edits, ..inner }))
    }

    /// How this text differs from an earlier state of it, by the edits that led from there to here. `None` where it was
    /// not edited from that one, or too often.
    pub fn since(&self, earlier: &Self) -> Option<Alterations> {
        self.inner.edits.since(&earlier.inner.edits)
    }

    fn with_edit(&self, range: Range<usize>, text: &str) -> Option<Self> {
        let characters = self.characters(&range)?;
        let mut rope = self.inner.rope.clone();
        rope.remove(characters.clone());
        rope.insert(characters.start, text);
        let base = self.base_of(&rope, &range, text);
        let earlier = self.earlier_of(&range, text.len());
        let next = Self::new(self.inner.path.clone(), rope, base, earlier);
        if self.inner.generated == Generated::Declared {
            return Some(next.declared_generated());
        }
        Some(if same_language(next.inner.language, self.inner.language) {
            match &self.inner.origin {
                Some(origin) if self.inner.parsed.get().is_none() => {
                    next.originating(Some(Arc::clone(origin)))
                }
                _ => next,
            }
        } else {
            Self::new(next.inner.path.clone(), next.inner.rope.clone(), None, None)
        })
    }

    /// The document with another text, as one edit: what both texts begin and end with stays as it is.
    pub fn replaced(&self, text: &str) -> Self {
        let before = self.text();
        let same = |(one, other): (char, char)| (one == other).then(|| one.len_utf8());
        let start: usize = before.chars().zip(text.chars()).map_while(same).sum();
        let (old, new) = (&before[start..], &text[start..]);
        let end: usize = old.chars().rev().zip(new.chars().rev()).map_while(same).sum();
        let edited = self.edited(start..before.len() - end, &new[..new.len() - end]);
        edited.unwrap_or_else(|| Self::from_text(&self.inner.path, text))
    }

    /// A new document of another text, parsed as a change of this one, which takes less time where the two differ little.
    /// Its blocks are those that the parser finds in it. `None` if it does not parse.
    pub fn reparsed(&self, text: &str) -> Option<Self> {
        let changed = self.replaced(text);
        let parsed = changed.outlined().parsed.clone();
        let parses = changed.unread().is_none() && !parsed.blocks.has_error;
        let parsed = OnceLock::from(Outlined::as_parsed(parsed));
        let (base, earlier, origin, edits) = (None, None, None, EditLog::default());
        let new = |inner| Inner { base, earlier, origin, edits, parsed, ..inner };
        parses.then(|| changed.but(new))
    }

    fn earlier_of(&self, range: &Range<usize>, length: usize) -> Option<Earlier> {
        match self.inner.parsed.get() {
            _ if self.inner.unread.is_some() => None,
            Some(outlined) => Some(Earlier::after(outlined, range, length)),
            None => self.inner.earlier.as_ref().map(|earlier| earlier.and_edit(range, length)),
        }
    }

    /// This text with the outline of an earlier one where it does not parse and the earlier one did: blocks outside the
    /// damage are what they were, and those that hold it are [`Block::broken`](super::Block::broken). Every edit does
    /// this by itself; this is for a text that was not edited step by step.
    pub fn carrying(&self, earlier: &Self) -> Self {
        if self.unread().is_some() || !self.parsed_blocks().has_error {
            return self.clone();
        }
        let Some(earlier) = self.difference(earlier) else { return self.clone() };
        let parsed = outlined(&self.inner.rope, self.outlined().parsed.clone(), Some(&earlier));
        self.but(|inner| Inner {
            earlier: Some(earlier),
            origin: None,
            parsed: OnceLock::from(parsed),
            ..inner
        })
    }

    /// Another text's outline and how this text differs from it; `None` where they are of different languages.
    fn difference(&self, earlier: &Self) -> Option<Earlier> {
        let same = same_language(self.inner.language, earlier.inner.language)
            && earlier.unread().is_none();
        let alterations = || Alterations::between(&earlier.text(), &self.text());
        same.then(|| Earlier::new(earlier.outlined(), alterations()))
    }

    fn base_of(&self, after: &Rope, range: &Range<usize>, text: &str) -> Option<Base> {
        let edit = incremental::input_edit(&self.inner.rope, after, range, text)?;
        match self.inner.parsed.get() {
            Some(outlined) => Base::new(&outlined.parsed, &edit),
            None => self.inner.base.as_ref().map(|base| base.edited(&edit)),
        }
    }

    /// A byte range in characters; `None` outside the text or inside a character.
    fn characters(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let rope = &self.inner.rope;
        if range.start > range.end || range.end > rope.len_bytes() {
            return None;
        }
        let characters = rope.byte_to_char(range.start)..rope.byte_to_char(range.end);
        let whole = rope.char_to_byte(characters.start) == range.start
            && rope.char_to_byte(characters.end) == range.end;
        whole.then_some(characters)
    }

    /// Why there are no blocks, when there are none for a reason.
    pub fn unread(&self) -> Option<&Unread> {
        self.inner.unread.as_ref()
    }

    /// Whether it has no syntax whose nodes could be compared: prose, or a language without a grammar.
    pub fn is_prose(&self) -> bool {
        self.inner.language.is_none_or(|language| language.syntax.words)
    }

    /// The language, `None` for a text that is cut into paragraphs, and for one that a program wrote.
    pub fn language(&self) -> Option<&'static Language> {
        self.inner.language
    }

    /// The blocks; parses at the first call. Where an edit broke the syntax, those that the text had before.
    pub fn blocks(&self) -> Arc<FileBlocks> {
        self.outlined().blocks.clone()
    }

    /// The blocks as the parser finds them in this text, whatever it was before.
    pub fn parsed_blocks(&self) -> Arc<FileBlocks> {
        self.outlined().parsed.blocks.clone()
    }

    fn outlined(&self) -> &Outlined {
        self.inner.parsed.get_or_init(|| {
            let Inner { rope, earlier, origin, .. } = &*self.inner;
            let parsed = self.parse();
            let origin = origin.as_ref().filter(|_| earlier.is_none() && parsed.blocks.has_error);
            let committed = origin.and_then(|origin| self.difference(&origin()?));
            outlined(rope, parsed, earlier.as_ref().or(committed.as_ref()))
        })
    }

    /// The syntax tree behind the blocks; `None` for a text that has none, or none in time.
    pub(super) fn tree(&self) -> Option<&tree_sitter::Tree> {
        self.outlined().parsed.tree()
    }

    /// The same text and blocks without the syntax tree, which is ten times as large, to be kept in mind.
    pub fn without_tree(&self) -> Self {
        let outlined = self.outlined().clone();
        let ParsedText { blocks, errors, .. } = outlined.parsed;
        let parsed = ParsedText::without_tree(blocks, errors);
        let (blocks, known_errors) = (outlined.blocks, outlined.known_errors);
        let parsed = Outlined { parsed, blocks, known_errors, unsettled: None };
        self.but(|inner| Inner {
            base: None,
            earlier: None,
            origin: None,
            parsed: OnceLock::from(parsed),
            ..inner
        })
    }

    /// The blocks of this text as bytes that [`Self::with_kept_blocks`] can read. `None` if the text has syntax errors:
    /// its blocks are then taken from an earlier version of the file.
    pub fn kept_blocks(&self) -> Option<Vec<u8>> {
        let blocks = self.blocks();
        (!blocks.has_error).then(|| postcard::to_stdvec(&blocks.blocks).ok()).flatten()
    }

    /// The same text with blocks that were kept of it, and without a syntax tree. `None` if they are of another text.
    pub fn with_kept_blocks(&self, kept: &[u8]) -> Option<Self> {
        if self.inner.unread.is_some() {
            return None;
        }
        let language = self.inner.language.map(|language| language.id);
        let blocks: Vec<Block> = postcard::from_bytes(kept).ok()?;
        let (length, lines) = (self.len_bytes(), self.line_count());
        let fits = |(at, block): (usize, &Block)| {
            let Block { lead, bytes, name_bytes, .. } = block;
            lead.start <= lead.end
                && lead.end <= bytes.start
                && bytes.start <= bytes.end
                && name_bytes.start <= name_bytes.end
                && bytes.end.max(name_bytes.end) <= length
                && block.whole_lines.end() <= lines
                && block.container.is_none_or(|outer| outer < at)
        };
        if !blocks.iter().enumerate().all(fits) {
            return None;
        }
        let blocks = FileBlocks { language, blocks, has_error: false };
        let parsed = ParsedText::without_tree(Arc::new(blocks), Arc::default());
        let parsed = OnceLock::from(Outlined::as_parsed(parsed));
        Some(self.but(|inner| Inner { base: None, earlier: None, origin: None, parsed, ..inner }))
    }

    fn parse(&self) -> ParsedText {
        let Inner { path, rope, language, generated, unread, base, .. } = &*self.inner;
        match language {
            _ if unread.is_some() => ParsedText::without_tree(Arc::default(), Arc::default()),
            _ if *generated != Generated::No => one_block(path, rope),
            Some(language) => incremental::parse(language, rope, base.as_ref())
                .unwrap_or_else(|| one_block(path, rope)),
            None => {
                let found = paragraphs::paragraphs(path, rope);
                let found =
                    found.map(|found| ParsedText::without_tree(Arc::new(found), Arc::default()));
                found.unwrap_or_else(|| one_block(path, rope))
            }
        }
    }

    /// Says that the text is one block although people wrote it, and why. `None` where it is not.
    pub fn cut_short(&self) -> Option<String> {
        let is_whole =
            |blocks: &[Block]| matches!(blocks, [one] if one.identity.kind == BlockKind::File);
        let is_cut = self.inner.generated == Generated::No && is_whole(&self.blocks().blocks);
        is_cut.then(|| {
            format!(
                "{} is looked at as one block, since it has over {MAX_BLOCKS} blocks, is nested too deeply, or takes too long to parse.",
                self.inner.path
            )
        })
    }

    /// The whole text.
    pub fn text(&self) -> String {
        self.inner.rope.to_string()
    }

    /// A slice of the text. `None` outside it or inside a character.
    pub fn slice(&self, range: Range<usize>) -> Option<String> {
        self.characters(&range).map(|characters| self.inner.rope.slice(characters).to_string())
    }

    /// Length in bytes.
    pub fn len_bytes(&self) -> usize {
        self.inner.rope.len_bytes()
    }

    /// How many lines an editor counts.
    pub fn line_count(&self) -> u32 {
        self.inner.rope.len_lines() as u32
    }

    /// The byte of an editor's position; beyond a line's end is its end (before the line break), beyond the last line is the text's end.
    pub fn byte_of(&self, position: Position, encoding: Encoding) -> usize {
        self.byte_of_strict(position, encoding).unwrap_or_else(|| self.len_bytes())
    }

    /// The byte of an editor's position, `None` when the line does not exist (column beyond the end is the end, as the protocol says).
    pub fn byte_of_strict(&self, position: Position, encoding: Encoding) -> Option<usize> {
        position::byte_of(&self.inner.rope, position, encoding)
    }

    /// The editor's position of a byte (clamped to the text, to a character's start).
    pub fn position_of(&self, byte: usize, encoding: Encoding) -> Position {
        position::position_of(&self.inner.rope, byte, encoding)
    }

    /// The lines that a byte range touches.
    pub fn lines_of(&self, range: Range<usize>) -> LineRange {
        position::lines_of(&self.inner.rope, range)
    }
}

/// A text whose inside nobody looks at.
fn one_block(path: &str, rope: &Rope) -> ParsedText {
    ParsedText::without_tree(Arc::new(generated::one_block(path, rope)), Arc::default())
}

/// A parsed text with the outline of an earlier one where that is the better one.
fn outlined(rope: &Rope, parsed: ParsedText, earlier: Option<&Earlier>) -> Outlined {
    let as_parsed = Outlined::as_parsed(parsed);
    // A text without blocks has no outline that a later one could keep.
    let Some(earlier) = earlier.filter(|earlier| !earlier.blocks.blocks.is_empty()) else {
        return as_parsed;
    };
    let (now, errors) = (&as_parsed.parsed.blocks, &as_parsed.parsed.errors);
    let carry = Carry {
        before: ParsedBlocks { blocks: &earlier.blocks, errors: &earlier.known_errors },
        now: ParsedBlocks { blocks: now, errors },
        alterations: &earlier.alterations,
        text: &rope.to_string(),
    };
    if carry.is_old_damage() {
        let unsettled = (!carry.keeps_the_untouched()).then(|| earlier.clone());
        return Outlined { unsettled, ..as_parsed };
    }
    let mut blocks = carry.run();
    outline::finish(rope, &mut blocks);
    let blocks = FileBlocks { language: now.language, blocks, has_error: true };
    let known_errors = Arc::new(carry.known_errors());
    Outlined { blocks: Arc::new(blocks), known_errors, ..as_parsed }
}

/// The same probe as for a file's bytes: a buffer of it is not code either.
fn is_binary(rope: &Rope) -> bool {
    rope.bytes().take(BINARY_PROBE).any(|byte| byte == 0)
}

/// The first line, as far as a `#!` needs it.
fn first_line(rope: &Rope) -> String {
    const LONGEST: usize = 256;
    rope.line(0).chars().take(LONGEST).collect()
}

fn same_language(a: Option<&Language>, b: Option<&Language>) -> bool {
    a.map(|language| language.id) == b.map(|language| language.id)
}
