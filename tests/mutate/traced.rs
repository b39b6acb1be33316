//! A text in which every byte knows its original block, so that no matching code is needed to find the right answer.

use std::ops::Range;

/// An original block: an index into [`super::World::before`].
pub type Id = u32;

/// The origin of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The byte was in no block, or a mutation wrote it.
    New,
    /// The innermost block in which the byte was.
    Of(Id),
    /// A copy of a byte of that block, which still has the original.
    CopyOf(Id),
}

/// A text with the origin of every byte.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    text: String,
    origins: Vec<Origin>,
}

impl Traced {
    /// A text without any original block.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), origins: vec![Origin::New; text.len()] }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn origin(&self, at: usize) -> Origin {
        self.origins.get(at).copied().unwrap_or(Origin::New)
    }

    /// Sets the block of a range.
    pub fn own(&mut self, range: Range<usize>, id: Id) {
        self.origins[range].fill(Origin::Of(id));
    }

    /// Returns the origins of the visible bytes in a range.
    pub fn origins_of(&self, range: Range<usize>) -> impl Iterator<Item = Origin> + '_ {
        let bytes = self.text.as_bytes();
        range.filter(|at| !bytes[*at].is_ascii_whitespace()).map(|at| self.origins[at])
    }

    /// Replaces a range by a text, which gets the same origin. A text for an empty range is new.
    pub fn replace(&mut self, range: Range<usize>, text: &str) {
        let origin = if range.is_empty() { Origin::New } else { self.origin(range.start) };
        self.text.replace_range(range.clone(), text);
        self.origins.splice(range, std::iter::repeat_n(origin, text.len()));
    }

    /// Replaces several ranges, which must not overlap.
    pub fn replace_all(&mut self, mut edits: Vec<(Range<usize>, String)>) {
        edits.sort_by_key(|(range, _)| std::cmp::Reverse((range.start, range.end)));
        for (range, text) in edits {
            self.replace(range, &text);
        }
    }

    /// Inserts a text as part of an existing block.
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

    /// Copies a range. The copy is marked as such.
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

    /// Returns the text in another layout, with the origins of its words, or `None` if a word changed.
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

/// Returns the runs of letters, digits and underscores.
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
