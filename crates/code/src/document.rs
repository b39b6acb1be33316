//! A text with its syntax tree. It is immutable and cheap to clone; an edit returns a new document.

use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use ropey::Rope;

use super::block::MAX_BLOCKS;
use super::carry::{Carry, Earlier};
use super::incremental::{self, Base, ParsedText};
use super::language::{self, Language};
use super::text_difference::TextDifference;
use super::{
    Block, BlockKind, Encoding, FileBlocks, Position, generated, outline, paragraphs, position,
};

pub const MAX_BYTES: usize = 2 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    #[error("the file has {bytes} bytes; files over 2 MiB are not read")]
    TooLarge { bytes: usize },
    /// The file has a NUL byte in its first 8 KiB.
    #[error("the file is binary; binary files are not read")]
    Binary,
    #[error("the file is not UTF-8 (first bad byte at offset {offset})")]
    NotUtf8 {
        /// The offset of the first invalid byte, counted from 0.
        offset: usize,
    },
}

/// How many bytes from the start of a file are searched for a NUL byte.
const BINARY_PROBE: usize = 8 * 1024;

/// A text and its language. Its blocks are parsed once, when they are first needed.
#[derive(Clone)]
pub struct Document {
    inner: Arc<Inner>,
}

#[derive(Clone, Default)]
struct Inner {
    path: Arc<str>,
    rope: Rope,
    language: Option<&'static Language>,
    /// True if a program wrote the text, as its name or the text itself shows: `a.min.js`, or
    /// `@generated` at the top. A generated text is one block, whatever its language.
    is_generated: bool,
    /// Finds out whether the text is declared as generated, for example in `.gitattributes`.
    declared: Option<LazyDeclaration>,
    unread: Option<Unread>,
    base: Option<Base>,
    /// An earlier outline, which is kept if this text does not parse.
    earlier: Option<Earlier>,
    /// Returns a document to take the outline from, if there is no earlier outline.
    origin: Option<EarlierDocument>,
    edits: EditLog,
    parsed: OnceLock<Outlined>,
}

/// How many edits are remembered at most. To find the difference of two texts that are more edits
/// apart, the texts have to be compared.
const MOST_EDITS: usize = 256;

/// The edits of a text since it was opened, or the most recent of them.
#[derive(Clone, Default)]
struct EditLog {
    /// Shared by all states of one text, so that states of different texts can be told apart.
    text: Arc<()>,
    count: usize,
    /// The bytes that each edit replaced, and the length of the new text.
    last: Arc<Vec<(Range<usize>, usize)>>,
}

impl EditLog {
    fn with_edit(&self, range: Range<usize>, length: usize) -> Self {
        let from = if self.last.len() < MOST_EDITS { 0 } else { MOST_EDITS / 2 };
        let last = self.last[from..].iter().cloned().chain([(range, length)]).collect();
        Self { text: Arc::clone(&self.text), count: self.count + 1, last: Arc::new(last) }
    }

    fn edits_since(&self, earlier: &Self) -> Option<TextDifference> {
        let count = self.count.checked_sub(earlier.count)?;
        let first = self.last.len().checked_sub(count)?;
        let edits = self.last[first..].iter();
        let compose = |all: TextDifference, (range, length): &(Range<usize>, usize)| {
            all.and_edit(range, *length)
        };
        Arc::ptr_eq(&self.text, &earlier.text)
            .then(|| edits.fold(TextDifference::default(), compose))
    }
}

type LazyDeclaration = Arc<LazyLock<bool, Box<dyn FnOnce() -> bool + Send + Sync>>>;

type EarlierDocument = Arc<dyn Fn() -> Option<Document> + Send + Sync>;

#[derive(Clone)]
struct Outlined {
    parsed: ParsedText,
    /// The blocks that the parser found or, if an edit broke the syntax, blocks carried over from
    /// an earlier text.
    blocks: Arc<FileBlocks>,
    /// The syntax errors that were in the text already when the outline was taken. They are not
    /// treated as new damage.
    known_errors: Arc<Vec<Range<usize>>>,
    /// The outline to return to if the next edit goes on at the same place and breaks the syntax.
    /// It is set if the text parses, but blocks that nobody edited came out differently. For
    /// example, `.added` typed above `:root {` turns that rule into `.added :root` until its own
    /// brace is typed.
    unsettled: Option<Earlier>,
}

impl Outlined {
    fn as_parsed(parsed: ParsedText) -> Self {
        let (blocks, known_errors) = (parsed.blocks.clone(), parsed.errors.clone());
        Self { parsed, blocks, known_errors, unsettled: None }
    }

    fn as_earlier(&self, difference: TextDifference) -> Earlier {
        let (blocks, known_errors) = (self.blocks.clone(), self.known_errors.clone());
        Earlier { blocks, known_errors, difference }
    }

    /// Returns the earlier outline for the text after one more edit. An edit inside the text that
    /// made the outline unsettled keeps the outline from before.
    fn before_edit(&self, range: &Range<usize>, length: usize) -> Earlier {
        let unsettled = self.unsettled.as_ref();
        match unsettled.filter(|earlier| earlier.difference.overlaps_new_text(range)) {
            Some(earlier) => earlier.and_edit(range, length),
            None => self.as_earlier(TextDifference::of_edit(range, length)),
        }
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
    /// Makes a document from the bytes of a file. A byte order mark is dropped.
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

    /// Makes a document from a text, such as an editor's buffer. This never fails. A text that is
    /// too large or binary has no blocks, and [`Document::unread`] says why.
    pub fn from_text(path: &str, text: &str) -> Self {
        Self::from_rope(path.into(), Rope::from_str(text))
    }

    /// Marks the text as generated, as `.gitattributes` declares it, if `is_generated` returns true.
    /// The text becomes one block. `is_generated` is called when the blocks are first needed,
    /// because it reads the disk.
    pub fn declared_generated_if(
        self,
        is_generated: impl FnOnce() -> bool + Send + Sync + 'static,
    ) -> Self {
        let declared = Some(Arc::new(LazyLock::new(Box::new(is_generated) as _)));
        self.with_inner(|inner| Inner { declared, parsed: OnceLock::new(), ..inner })
    }

    pub fn is_declared_generated(&self) -> bool {
        self.inner.declared.as_ref().is_some_and(|declared| ***declared)
    }

    fn is_one_block(&self) -> bool {
        self.inner.is_generated || self.is_declared_generated()
    }

    /// Sets where to take the outline from if the text does not parse when it is opened, for
    /// example the text of the last commit. `origin` is called only in that case.
    pub fn with_origin(self, origin: impl Fn() -> Option<Self> + Send + Sync + 'static) -> Self {
        let origin: Option<EarlierDocument> = Some(Arc::new(origin));
        self.with_inner(|inner| Inner { origin, parsed: OnceLock::new(), ..inner })
    }

    fn with_inner(&self, change: impl FnOnce(Inner) -> Inner) -> Self {
        Self { inner: Arc::new(change((*self.inner).clone())) }
    }

    fn from_rope(path: Arc<str>, rope: Rope) -> Self {
        let bytes = rope.len_bytes();
        let is_binary = || rope.bytes().take(BINARY_PROBE).any(|byte| byte == 0);
        let unread = match bytes > MAX_BYTES {
            true => Some(Unread::TooLarge { bytes }),
            false => is_binary().then_some(Unread::Binary),
        };
        let language = language::of_file(&path, &first_line(&rope));
        let is_generated = unread.is_none() && generated::is_generated(&path, &rope, language);
        let inner = Inner {
            path,
            rope,
            language: language.filter(|_| !is_generated),
            is_generated,
            unread,
            ..Inner::default()
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the document with the bytes in `range` replaced. Nothing is parsed yet: the next
    /// call of [`Document::blocks`] parses what changed. Returns `None` if the range is outside the
    /// text or splits a character.
    pub fn edited(&self, range: Range<usize>, text: &str) -> Option<Self> {
        let characters = self.characters(&range)?;
        let old = &*self.inner;
        let mut rope = old.rope.clone();
        rope.remove(characters.clone());
        rope.insert(characters.start, text);
        let base = self.base_of(&range, text);
        let earlier = self.earlier_of(&range, text.len());
        let (edits, declared) = (old.edits.with_edit(range, text.len()), old.declared.clone());
        let origin = old.origin.clone().filter(|_| old.parsed.get().is_none());
        let next = Self::from_rope(old.path.clone(), rope);
        let is_same = same_language(next.inner.language, old.language);
        Some(next.with_inner(|inner| match is_same {
            true => Inner { base, earlier, origin, edits, declared, ..inner },
            false => Inner { edits, declared, ..inner },
        }))
    }

    /// Returns how this text differs from an earlier state of it, from the edits between the two.
    /// Returns `None` if this text was not made from the earlier one, or by too many edits.
    pub fn edits_since(&self, earlier: &Self) -> Option<TextDifference> {
        self.inner.edits.edits_since(&earlier.inner.edits)
    }

    /// Returns the document with another text, as one edit. The bytes that both texts have in
    /// common at the start and at the end are not touched.
    pub fn replaced(&self, text: &str) -> Self {
        let before = self.text();
        let same = |(one, other): (char, char)| (one == other).then(|| one.len_utf8());
        let start: usize = before.chars().zip(text.chars()).map_while(same).sum();
        let (old, new) = (&before[start..], &text[start..]);
        let end: usize = old.chars().rev().zip(new.chars().rev()).map_while(same).sum();
        let edited = self.edited(start..before.len() - end, &new[..new.len() - end]);
        edited.unwrap_or_else(|| Self::from_text(&self.inner.path, text))
    }

    /// Returns this document, of which only what differs from a similar text is parsed. The blocks are
    /// the same as without it.
    pub fn parsed_beside(self, similar: &Self) -> Self {
        let Inner { rope, language, .. } = &*similar.inner;
        if self.inner.parsed.get().is_some() || !same_language(self.inner.language, *language) {
            return self;
        }
        let (then, now) = (rope.to_string(), self.text());
        let difference = TextDifference::between_texts(&then, &now);
        let parsed = &similar.outlined().parsed;
        let base = Base::of_difference(parsed, (rope, &self.inner.rope), &difference);
        self.with_inner(|inner| Inner { base, ..inner })
    }

    fn earlier_of(&self, range: &Range<usize>, length: usize) -> Option<Earlier> {
        match self.inner.parsed.get() {
            _ if self.inner.unread.is_some() => None,
            Some(outlined) => Some(outlined.before_edit(range, length)),
            None => self.inner.earlier.as_ref().map(|earlier| earlier.and_edit(range, length)),
        }
    }

    /// Returns this text with the outline of an earlier text, if this text does not parse. Blocks
    /// outside the damaged bytes stay as they were in the earlier text, and those that hold damage
    /// are [`Block::broken`](super::Block::broken). Every edit does this by itself, so call it only
    /// for a text that was not edited step by step.
    pub fn carrying(&self, earlier: &Self) -> Self {
        if self.unread().is_some() || !self.parsed_blocks().has_error {
            return self.clone();
        }
        let Some(earlier) = self.difference(earlier) else { return self.clone() };
        let parsed = outlined(&self.inner.rope, self.outlined().parsed.clone(), Some(&earlier));
        self.with_inner(|inner| Inner {
            earlier: Some(earlier),
            origin: None,
            parsed: OnceLock::from(parsed),
            ..inner
        })
    }

    /// Returns the outline of another text and how this text differs from it. Returns `None` if
    /// their languages differ.
    fn difference(&self, earlier: &Self) -> Option<Earlier> {
        let same = same_language(self.language(), earlier.language()) && earlier.unread().is_none();
        let difference = || TextDifference::between_texts(&earlier.text(), &self.text());
        same.then(|| earlier.outlined().as_earlier(difference()))
    }

    fn base_of(&self, range: &Range<usize>, text: &str) -> Option<Base> {
        let edit = incremental::input_edit(&self.inner.rope, range, text)?;
        match self.inner.parsed.get() {
            Some(outlined) => Base::new(&outlined.parsed, &edit),
            None => self.inner.base.as_ref().map(|base| base.edited(&edit)),
        }
    }

    /// Converts a byte range to characters. Returns `None` if it is outside the text or splits a
    /// character.
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

    /// Returns why the text was not read, or `None` if it was.
    pub fn unread(&self) -> Option<&Unread> {
        self.inner.unread.as_ref()
    }

    /// Returns true if there is no syntax tree whose nodes could be compared: the text is prose, or
    /// its language has no grammar.
    pub(crate) fn is_prose(&self) -> bool {
        self.language().is_none_or(|language| language.syntax.words)
    }

    /// Returns the language. It is `None` for a text that is cut into paragraphs and for a
    /// generated text.
    pub fn language(&self) -> Option<&'static Language> {
        self.inner.language.filter(|_| !self.is_one_block())
    }

    /// Returns the blocks. The first call parses the text. If an edit broke the syntax, blocks of
    /// the text before that edit are kept.
    pub fn blocks(&self) -> Arc<FileBlocks> {
        self.outlined().blocks.clone()
    }

    pub fn parsed_blocks(&self) -> Arc<FileBlocks> {
        self.outlined().parsed.blocks.clone()
    }

    fn outlined(&self) -> &Outlined {
        self.inner.parsed.get_or_init(|| {
            let Inner { rope, earlier, origin, .. } = &*self.inner;
            let parsed = self.parse();
            if self.is_one_block() {
                return Outlined::as_parsed(parsed);
            }
            let origin = origin.as_ref().filter(|_| earlier.is_none() && parsed.blocks.has_error);
            let committed = origin.and_then(|origin| self.difference(&origin()?));
            outlined(rope, parsed, earlier.as_ref().or(committed.as_ref()))
        })
    }

    /// Returns the syntax tree. It is `None` if the language has no grammar, or if parsing took too
    /// long.
    pub(super) fn tree(&self) -> Option<&tree_sitter::Tree> {
        self.outlined().parsed.tree()
    }

    /// Returns how many syntax nodes are around a block. Only languages that nest code by indentation
    /// need this, because the text of a block tells nothing of it there. The result is 0 for others.
    pub fn depth_of(&self, block: &Block) -> usize {
        let is_asked = self.inner.language.is_some_and(Language::is_nested_by_indentation);
        let Some(tree) = self.tree().filter(|_| is_asked) else { return 0 };
        let Range { start, end } = block.bytes;
        let node = tree.root_node().descendant_for_byte_range(start, end);
        std::iter::successors(node, tree_sitter::Node::parent).count()
    }

    fn parse(&self) -> ParsedText {
        let Inner { path, rope, language, unread, base, .. } = &*self.inner;
        match language {
            _ if unread.is_some() => ParsedText::without_tree(Arc::default(), Arc::default()),
            _ if self.is_one_block() => one_block(path, rope),
            Some(language) => incremental::parse(language, rope, base.as_ref())
                .unwrap_or_else(|| one_block(path, rope)),
            None => paragraphs::paragraphs(path, rope).map_or_else(
                || one_block(path, rope),
                |found| ParsedText::without_tree(Arc::new(found), Arc::default()),
            ),
        }
    }

    /// Returns a message if the text is one block although it is not generated, with the possible
    /// reasons. Returns `None` otherwise.
    pub fn cut_short(&self) -> Option<String> {
        let is_whole =
            |blocks: &[Block]| matches!(blocks, [one] if one.identity.kind == BlockKind::File);
        let is_cut = !self.is_one_block() && is_whole(&self.blocks().blocks);
        is_cut.then(|| {
            if let Some(language) = self.inner.language.filter(|it| it.grammar.is_none()) {
                return format!(
                    "{} is treated as one block, because this build of the program has no grammar for {}; one with the feature `all-languages` has it.",
                    self.inner.path, language.id
                );
            }
            format!(
                "{} is treated as one block, because it has over {MAX_BLOCKS} blocks, is nested too deeply, or takes too long to parse.",
                self.inner.path
            )
        })
    }

    pub fn text(&self) -> String {
        self.inner.rope.to_string()
    }

    /// Returns a part of the text. Returns `None` if the range is outside the text or splits a
    /// character.
    pub fn slice(&self, range: Range<usize>) -> Option<String> {
        self.characters(&range).map(|characters| self.inner.rope.slice(characters).to_string())
    }

    pub fn len_bytes(&self) -> usize {
        self.inner.rope.len_bytes()
    }

    pub fn line_count(&self) -> u32 {
        self.inner.rope.len_lines() as u32
    }

    /// Returns the byte at an editor's position. A column beyond the end of the line means the end
    /// of the line, before the line break. A line beyond the last means the end of the text.
    pub fn byte_of(&self, position: Position, encoding: Encoding) -> usize {
        self.byte_of_strict(position, encoding).unwrap_or_else(|| self.len_bytes())
    }

    /// Like [`Self::byte_of`], but returns `None` if the line does not exist.
    pub fn byte_of_strict(&self, position: Position, encoding: Encoding) -> Option<usize> {
        position::byte_of(&self.inner.rope, position, encoding)
    }

    /// Returns the editor's position of a byte. A byte beyond the text or inside a character is
    /// moved back.
    pub fn position_of(&self, byte: usize, encoding: Encoding) -> Position {
        position::position_of(&self.inner.rope, byte, encoding)
    }
}

fn one_block(path: &str, rope: &Rope) -> ParsedText {
    ParsedText::without_tree(Arc::new(generated::one_block(path, rope)), Arc::default())
}

/// Returns the blocks of a parsed text. If an edit broke the syntax, keeps the blocks of the
/// earlier outline outside the damage.
fn outlined(rope: &Rope, parsed: ParsedText, earlier: Option<&Earlier>) -> Outlined {
    let as_parsed = Outlined::as_parsed(parsed);
    // An earlier text without blocks has no outline to keep.
    let Some(earlier) = earlier.filter(|earlier| !earlier.blocks.blocks.is_empty()) else {
        return as_parsed;
    };
    let now = &as_parsed.parsed;
    let carry = Carry { earlier, now, text: &rope.to_string() };
    if carry.is_old_damage() {
        let unsettled = (!carry.keeps_the_untouched()).then(|| earlier.clone());
        return Outlined { unsettled, ..as_parsed };
    }
    let mut blocks = carry.run();
    outline::finish(rope, &mut blocks);
    let blocks = FileBlocks { language: now.blocks.language, blocks, has_error: true };
    let known_errors = Arc::new(carry.known_errors());
    Outlined { blocks: Arc::new(blocks), known_errors, ..as_parsed }
}

fn first_line(rope: &Rope) -> String {
    const LONGEST: usize = 256;
    rope.line(0).chars().take(LONGEST).collect()
}

fn same_language(a: Option<&Language>, b: Option<&Language>) -> bool {
    a.map(|language| language.id) == b.map(|language| language.id)
}
