//! A text with its syntax tree: immutable, cheap to clone, edited into a new one.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use ropey::Rope;

use super::incremental::{self, Base, Parsed};
use super::language::{self, Language};
use super::{Encoding, FileBlocks, LineRange, Position, generated, paragraphs, position};

/// Files over this many bytes are left alone.
pub const MAX_BYTES: usize = 2 * 1024 * 1024;

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

struct Inner {
    path: Arc<str>,
    rope: Rope,
    language: Option<&'static Language>,
    /// A program wrote it: it is one block.
    generated: bool,
    unread: Option<Unread>,
    /// An earlier state that was parsed, and what was touched since.
    base: Option<Base>,
    parsed: OnceLock<Parsed>,
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
        Self::new(path.into(), Rope::from_str(text), None)
    }

    fn new(path: Arc<str>, rope: Rope, base: Option<Base>) -> Self {
        let bytes = rope.len_bytes();
        let unread = if bytes > MAX_BYTES {
            Some(Unread::TooLarge { bytes })
        } else {
            is_binary(&rope).then_some(Unread::Binary)
        };
        let language = language::of_file(&path, &first_line(&rope));
        let generated = unread.is_none() && generated::is_generated(&path, &rope, language);
        let language = language.filter(|_| !generated);
        let parsed = OnceLock::new();
        Self { inner: Arc::new(Inner { path, rope, language, generated, unread, base, parsed }) }
    }

    /// The document after a replacement of `range` (bytes). Costs no parse: the next [`Document::blocks`] re-parses what changed.
    /// `None` when the range is outside the text or splits a character.
    pub fn edited(&self, range: Range<usize>, text: &str) -> Option<Self> {
        let characters = self.characters(&range)?;
        let mut rope = self.inner.rope.clone();
        rope.remove(characters.clone());
        rope.insert(characters.start, text);
        let base = self.base_of(&rope, &range, text);
        let next = Self::new(self.inner.path.clone(), rope, base);
        Some(if same_language(next.inner.language, self.inner.language) {
            next
        } else {
            Self::new(next.inner.path.clone(), next.inner.rope.clone(), None)
        })
    }

    fn base_of(&self, after: &Rope, range: &Range<usize>, text: &str) -> Option<Base> {
        let edit = incremental::input_edit(&self.inner.rope, after, range, text)?;
        match self.inner.parsed.get() {
            Some(parsed) => Base::new(parsed, &edit),
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

    /// The language, `None` for a text that is cut into paragraphs, and for one that a program wrote.
    pub fn language(&self) -> Option<&'static Language> {
        self.inner.language
    }

    /// The blocks; parses at the first call.
    pub fn blocks(&self) -> Arc<FileBlocks> {
        self.inner.parsed.get_or_init(|| self.parse()).blocks.clone()
    }

    /// The syntax tree behind the blocks; `None` for a text that has none, or none in time.
    pub(super) fn tree(&self) -> Option<&tree_sitter::Tree> {
        self.inner.parsed.get_or_init(|| self.parse()).tree()
    }

    /// The same text and blocks without the syntax tree, which is ten times as large, to be kept in mind.
    pub fn without_tree(&self) -> Self {
        let parsed = OnceLock::from(Parsed::without_tree(self.blocks()));
        let Inner { path, rope, language, generated, unread, .. } = &*self.inner;
        let (path, rope, unread) = (Arc::clone(path), rope.clone(), unread.clone());
        let (language, generated) = (*language, *generated);
        let inner = Inner { path, rope, language, generated, unread, base: None, parsed };
        Self { inner: Arc::new(inner) }
    }

    fn parse(&self) -> Parsed {
        let Inner { path, rope, language, generated, unread, base, .. } = &*self.inner;
        match language {
            _ if unread.is_some() => Parsed::without_tree(Arc::default()),
            _ if *generated => Parsed::without_tree(Arc::new(generated::one_block(path, rope))),
            Some(language) => incremental::parse(language, rope, base.as_ref()),
            None => Parsed::without_tree(Arc::new(paragraphs::paragraphs(path, rope))),
        }
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

/// The first line, as far as a `#!` needs it.
/// The same probe as for a file's bytes: a buffer of it is not code either.
fn is_binary(rope: &Rope) -> bool {
    rope.bytes().take(BINARY_PROBE).any(|byte| byte == 0)
}

fn first_line(rope: &Rope) -> String {
    const LONGEST: usize = 256;
    rope.line(0).chars().take(LONGEST).collect()
}

fn same_language(a: Option<&Language>, b: Option<&Language>) -> bool {
    a.map(|language| language.id) == b.map(|language| language.id)
}
