//! A text each of whose bytes knows which block it once belonged to, so that
//! the truth about a change needs no matcher.

use std::ops::Range;

/// A block before everything: an index into [`super::World::before`].
pub type Id = u32;

/// Where a byte comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It stood in no block, or was written by a mutation.
    New,
    /// The innermost block that it stood in.
    Of(Id),
    /// It is a copy of a byte of that block, which kept its own.
    CopyOf(Id),
}

/// A text with the origin of every byte.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    text: String,
    origins: Vec<Origin>,
}

impl Traced {
    /// A text that comes from nowhere.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), origins: vec![Origin::New; text.len()] }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn origin(&self, at: usize) -> Origin {
        self.origins.get(at).copied().unwrap_or(Origin::New)
    }

    /// Says of a stretch whose it is.
    pub fn own(&mut self, range: Range<usize>, id: Id) {
        self.origins[range].fill(Origin::Of(id));
    }

    /// The origins of a stretch's visible bytes.
    pub fn origins_of(&self, range: Range<usize>) -> impl Iterator<Item = Origin> + '_ {
        let bytes = self.text.as_bytes();
        range.filter(|at| !bytes[*at].is_ascii_whitespace()).map(|at| self.origins[at])
    }

    /// Puts a text in the place of a stretch, of which it stays the same thing; into an empty one it is new.
    pub fn replace(&mut self, range: Range<usize>, text: &str) {
        let origin = if range.is_empty() { Origin::New } else { self.origin(range.start) };
        self.text.replace_range(range.clone(), text);
        self.origins.splice(range, std::iter::repeat_n(origin, text.len()));
    }

    /// Several replacements at once; the ranges do not overlap.
    pub fn replace_all(&mut self, mut edits: Vec<(Range<usize>, String)>) {
        edits.sort_by_key(|(range, _)| std::cmp::Reverse((range.start, range.end)));
        for (range, text) in edits {
            self.replace(range, &text);
        }
    }

    /// Puts a text somewhere as part of the block that stands there.
    pub fn insert_as(&mut self, at: usize, text: &str, origin: Origin) {
        self.text.insert_str(at, text);
        self.origins.splice(at..at, std::iter::repeat_n(origin, text.len()));
    }

    pub fn slice(&self, range: Range<usize>) -> Self {
        Self { text: self.text[range.clone()].to_owned(), origins: self.origins[range].to_vec() }
    }

    pub fn cut(&mut self, range: Range<usize>) -> Self {
        let piece = self.slice(range.clone());
        self.text.replace_range(range.clone(), "");
        self.origins.drain(range);
        piece
    }

    /// A copy that knows that it is one.
    pub fn copy(&self, range: Range<usize>) -> Self {
        let mut piece = self.slice(range);
        for origin in &mut piece.origins {
            if let Origin::Of(id) = *origin {
                *origin = Origin::CopyOf(id);
            }
        }
        piece
    }

    pub fn paste(&mut self, at: usize, piece: Self) {
        self.text.insert_str(at, &piece.text);
        self.origins.splice(at..at, piece.origins);
    }

    /// The same words in another layout, as a formatter gives it; `None` when it changed a word.
    pub fn laid_out(&self, text: &str) -> Option<Self> {
        let (old, new) = (words(&self.text), words(text));
        if old.len() != new.len() {
            return None;
        }
        let mut laid_out = Self::new(text);
        let mut done = 0;
        let mut last = Origin::New;
        for (from, to) in old.into_iter().zip(new) {
            if self.text[from.clone()] != text[to.clone()] {
                return None;
            }
            laid_out.origins[done..to.start].fill(last);
            laid_out.origins[to.clone()].copy_from_slice(&self.origins[from.clone()]);
            last = self.origins[from.end - 1];
            done = to.end;
        }
        laid_out.origins[done..].fill(last);
        Some(laid_out)
    }
}

/// Runs of letters, digits and underscores.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric() || *c == '_') {
        match found.last_mut() {
            Some(last) if last.end == at => last.end = at + c.len_utf8(),
            _ => found.push(at..at + c.len_utf8()),
        }
    }
    found
}
