//! What the difference of two whole texts of a file tells of the definitions that went and of those that came.
//!
//! Where both texts can be read, more is known than rows of an outline keep: which lines of a definition stand where
//! now, and by what name its callers call it now.

use std::cell::OnceCell;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use crate::code::{Block, Document, LineRange, difference};

/// A block stands where another stood when at least this share of the lines of that one is left in it.
const MIN_LEFT: f64 = 1.0 / 3.0;
/// A definition is called instead of another when this share of the callers of either calls the other, too.
const MIN_CALLERS: f32 = 0.5;
/// Shorter names are words of the language, or letters.
const MIN_NAME: usize = 3;

/// A file as it was, and as it stands.
pub(crate) struct FileTexts {
    then: Side,
    now: Side,
    /// By line then, counted from 0: the same line now, counted from 1, and whether no other line of its text is in
    /// either file.
    left: OnceCell<Vec<Option<(u32, bool)>>>,
    /// How many of the lines before each line then say something.
    said: OnceCell<Vec<u32>>,
}

/// One of the two.
struct Side {
    document: Document,
    text: OnceCell<String>,
    mentions: OnceCell<HashMap<u64, HashSet<String>>>,
    names: OnceCell<HashSet<String>>,
}

impl FileTexts {
    /// Of two versions of a file.
    pub(crate) fn new(then: Document, now: Document) -> Self {
        let (left, said) = (OnceCell::new(), OnceCell::new());
        Self { then: Side::new(then), now: Side::new(now), left, said }
    }

    /// The file as it was.
    pub(super) fn then(&self) -> &Document {
        &self.then.document
    }

    /// Whether enough of the lines that stood in `then` are left in `now`, among them one that there is no other of.
    pub(super) fn stands_where(&self, then: LineRange, now: LineRange) -> bool {
        let inside = self.left(then).filter(|(line, _)| now.contains(*line));
        let (mut count, mut is_told) = (0, false);
        for (_, is_only) in inside {
            count += 1;
            is_told |= is_only;
        }
        let said = self.said.get_or_init(|| {
            let lines = self.then.text().lines();
            let says = lines.map(|line| u32::from(line.chars().any(char::is_alphanumeric)));
            let sums = says.scan(0, |sum, says| {
                *sum += says;
                Some(*sum)
            });
            std::iter::once(0).chain(sums).collect()
        });
        let before = |line: u32| said.get(line as usize).or(said.last()).copied().unwrap_or(0);
        let all = before(then.end()) - before(then.start() - 1);
        is_told && f64::from(count) >= MIN_LEFT * f64::from(all)
    }

    /// Whether the lines that stood in `then`, that there is no other of and that are left, are all in `now`.
    pub(super) fn went_to(&self, then: LineRange, now: LineRange) -> bool {
        let mut only = self.left(then).filter(|(_, is_only)| *is_only).peekable();
        only.peek().is_some() && only.all(|(line, _)| now.contains(line))
    }

    fn left(&self, then: LineRange) -> impl Iterator<Item = (u32, bool)> {
        let left = self.left.get_or_init(|| self.lines_left());
        let lines = then.start() as usize - 1..(then.end() as usize).min(left.len());
        left.get(lines).unwrap_or_default().iter().flatten().copied()
    }

    fn lines_left(&self) -> Vec<Option<(u32, bool)>> {
        let (then, now) = (self.then.text(), self.now.text());
        let lines = |text: &'_ str| text.lines().map(str::trim).map(str::to_owned).collect();
        let (then, now): (Vec<String>, Vec<String>) = (lines(then), lines(now));
        let (once_then, once_now) = (once(&then), once(&now));
        let is_only = |line: &str| once_then.contains(line) && once_now.contains(line);
        let mut left = vec![None; then.len()];
        for (old, new) in difference::common(&then, &now) {
            if then[old].chars().any(char::is_alphanumeric) {
                left[old] = Some((new as u32 + 1, is_only(&then[old])));
            }
        }
        left
    }

    /// Whether what called `then` calls `now`: a name that nothing mentions any more, and one that nothing mentioned.
    pub(super) fn is_called_instead(&self, then: &str, now: &str) -> bool {
        if then.len().min(now.len()) < MIN_NAME {
            return false;
        }
        let (Some(before), Some(after)) = (self.then.mentions(then), self.now.mentions(now)) else {
            return false;
        };
        if self.now.mentions(then).is_some() || self.then.mentions(now).is_some() {
            return false;
        }
        let (stood, stands) = (self.then.names(), self.now.names());
        let before: HashSet<&String> =
            before.iter().filter(|name| stands.contains(*name)).collect();
        let after: HashSet<&String> = after.iter().filter(|name| stood.contains(*name)).collect();
        let common = before.intersection(&after).count();
        common > 0 && common as f32 >= MIN_CALLERS * before.union(&after).count() as f32
    }
}

impl Side {
    fn new(document: Document) -> Self {
        let (text, mentions, names) = Default::default();
        Self { document, text, mentions, names }
    }

    fn text(&self) -> &str {
        self.text.get_or_init(|| self.document.text())
    }

    fn names(&self) -> &HashSet<String> {
        self.names.get_or_init(|| {
            let blocks = self.document.blocks();
            blocks.blocks.iter().map(|block| block.identity.path.clone()).collect()
        })
    }

    /// The named blocks that a name stands in, but not in a block inside them, without those that carry it; `None`
    /// where there is none.
    fn mentions(&self, name: &str) -> Option<&HashSet<String>> {
        let mentions = self.mentions.get_or_init(|| {
            let blocks = &self.document.blocks().blocks;
            let mut mentions: HashMap<u64, HashSet<String>> = HashMap::new();
            // Blocks start in order, and lie inside each other or apart.
            let (mut next, mut open): (usize, Vec<&Block>) = (0, Vec::new());
            for (at, word) in words(self.text()) {
                while next < blocks.len() && blocks[next].bytes.start <= at {
                    open.push(&blocks[next]);
                    next += 1;
                }
                while open.last().is_some_and(|last| last.bytes.end <= at) {
                    open.pop();
                }
                let Some(holder) = open.last() else { continue };
                if holder.name != word && !holder.identity.kind.is_unnamed() {
                    let holders = mentions.entry(hash(word)).or_default();
                    if !holders.contains(&holder.identity.path) {
                        holders.insert(holder.identity.path.clone());
                    }
                }
            }
            mentions
        });
        mentions.get(&hash(name))
    }
}

/// The lines that stand there only once.
fn once(lines: &[String]) -> HashSet<&str> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for line in lines {
        *counts.entry(line).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count == 1).map(|(line, _)| line).collect()
}

/// What may be names in a text, and the bytes at which they start.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut at = 0;
    let parts = text.split_inclusive(move |letter| !is_part(letter));
    let starting = parts.map(move |part| {
        let start = at;
        at += part.len();
        (start, part.trim_end_matches(|letter| !is_part(letter)))
    });
    starting.filter(|(_, word)| word.len() >= MIN_NAME)
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}
