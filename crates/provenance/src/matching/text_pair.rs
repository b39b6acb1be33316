//! Compares the whole texts of two versions of a file.
//!
//! They tell more than the blocks alone: where each line of a definition is now, and by which name
//! its callers call it now.

use std::cell::OnceCell;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use code::{Block, Document, LineRange, difference};

/// The minimum share of a block's lines that must still be inside another block for that block to
/// be in its place.
const MIN_LEFT: f64 = 1.0 / 3.0;
/// The minimum share of callers that two names must have in common for one to be called instead of
/// the other.
const MIN_CALLERS: f32 = 0.5;
/// The minimum length of a name. Shorter ones are keywords or single letters.
const MIN_NAME: usize = 3;

pub(super) struct FileTexts {
    then: Side,
    now: Side,
    /// For each earlier line, counted from 0: the number of the same line now, counted from 1, and
    /// whether its text occurs only once in each file. `None` if the line is gone.
    kept_lines: OnceCell<Vec<Option<(u32, bool)>>>,
    /// For each earlier line, how many lines before it contain a letter or a digit.
    text_lines: OnceCell<Vec<u32>>,
}

struct Side {
    document: Document,
    text: OnceCell<String>,
    mentions: OnceCell<HashMap<u64, HashSet<String>>>,
    names: OnceCell<HashSet<String>>,
}

impl FileTexts {
    pub(super) fn new(then: Document, now: Document) -> Self {
        let (kept_lines, text_lines) = (OnceCell::new(), OnceCell::new());
        Self { then: Side::new(then), now: Side::new(now), kept_lines, text_lines }
    }

    /// Returns true if enough of the earlier lines `then` are now in the range `now`, including at
    /// least one line that occurs only once.
    pub(super) fn is_now_in(&self, then: LineRange, now: LineRange) -> bool {
        let (mut count, mut has_unique) = (0, false);
        for (_, is_only) in self.kept_in(then).filter(|(line, _)| now.contains(*line)) {
            count += 1;
            has_unique |= is_only;
        }
        let text_lines = self.text_lines.get_or_init(|| {
            let lines = self.then.text().lines();
            let has_text = lines.map(|line| u32::from(line.chars().any(char::is_alphanumeric)));
            let sums = has_text.scan(0, |sum, has_text| {
                *sum += has_text;
                Some(*sum)
            });
            std::iter::once(0).chain(sums).collect()
        });
        let before =
            |line: u32| text_lines.get(line as usize).or(text_lines.last()).copied().unwrap_or(0);
        let all = before(then.end()) - before(then.start() - 1);
        has_unique && f64::from(count) >= MIN_LEFT * f64::from(all)
    }

    /// Returns true if all lines of `then` that still exist and occur only once are now in the
    /// range `now`, and there is at least one.
    pub(super) fn went_to(&self, then: LineRange, now: LineRange) -> bool {
        let mut only = self.kept_in(then).filter(|(_, is_only)| *is_only).peekable();
        only.peek().is_some() && only.all(|(line, _)| now.contains(line))
    }

    fn kept_in(&self, then: LineRange) -> impl Iterator<Item = (u32, bool)> {
        let kept_lines = self.kept_lines.get_or_init(|| self.find_kept_lines());
        let lines = then.start() as usize - 1..(then.end() as usize).min(kept_lines.len());
        kept_lines.get(lines).unwrap_or_default().iter().flatten().copied()
    }

    fn find_kept_lines(&self) -> Vec<Option<(u32, bool)>> {
        let (then, now) = (self.then.text(), self.now.text());
        let (then, now): (Vec<&str>, Vec<&str>) =
            (then.lines().map(str::trim).collect(), now.lines().map(str::trim).collect());
        let (once_then, once_now) = (lines_occurring_once(&then), lines_occurring_once(&now));
        let is_only = |line: &str| once_then.contains(line) && once_now.contains(line);
        let mut kept_lines = vec![None; then.len()];
        for (old, new) in difference::common(&then, &now) {
            if then[old].chars().any(char::is_alphanumeric) {
                kept_lines[old] = Some((new as u32 + 1, is_only(then[old])));
            }
        }
        kept_lines
    }

    /// Returns true if the callers of `then` now call `now` instead: the old name is no longer
    /// mentioned, and the new name was not mentioned before.
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
        let (old_names, new_names) = (self.then.names(), self.now.names());
        let before: HashSet<&String> =
            before.iter().filter(|name| new_names.contains(*name)).collect();
        let after: HashSet<&String> =
            after.iter().filter(|name| old_names.contains(*name)).collect();
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

    /// Returns the paths of the innermost named blocks that mention a name, without blocks of that
    /// name. `None` if there are none.
    fn mentions(&self, name: &str) -> Option<&HashSet<String>> {
        let mentions = self.mentions.get_or_init(|| {
            let blocks = &self.document.blocks().blocks;
            let mut mentions: HashMap<u64, HashSet<String>> = HashMap::new();
            // Blocks are ordered by their start, and are either nested or disjoint.
            let (mut next, mut open): (usize, Vec<&Block>) = (0, Vec::new());
            for (at, word) in words_in(self.text()) {
                while next < blocks.len() && blocks[next].bytes.start <= at {
                    open.push(&blocks[next]);
                    next += 1;
                }
                while open.last().is_some_and(|last| last.bytes.end <= at) {
                    open.pop();
                }
                let Some(holder) = open.last() else { continue };
                if holder.name != word && !holder.identity.kind.is_unnamed() {
                    let holders = mentions.entry(hash_of_word(word)).or_default();
                    if !holders.contains(&holder.identity.path) {
                        holders.insert(holder.identity.path.clone());
                    }
                }
            }
            mentions
        });
        mentions.get(&hash_of_word(name))
    }
}

fn lines_occurring_once<'t>(lines: &[&'t str]) -> HashSet<&'t str> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    lines.iter().for_each(|line| *counts.entry(line).or_default() += 1);
    counts.into_iter().filter(|(_, count)| *count == 1).map(|(line, _)| line).collect()
}

fn words_in(text: &str) -> impl Iterator<Item = (usize, &str)> {
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

fn hash_of_word(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}
