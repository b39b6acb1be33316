//! What a file's change since a commit tells of the definitions that went and of those that came.
//!
//! Where a commit that has the recorded block can be read, more is known than the record keeps: which of its lines
//! stand where now, and by what name its callers call a definition now.

use std::cell::OnceCell;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use crate::code::{Document, FileBlocks, LineRange};
use crate::ledger::BlockRecord;
use crate::provenance::outline::{self, Short};

/// A block stands where another stood when at least this share of the lines of that one is left in it.
const MIN_LEFT: f32 = 1.0 / 3.0;
/// A definition is called instead of another when this share of the callers of either calls the other, too.
const MIN_CALLERS: f32 = 0.5;
/// Shorter names are words of the language, or letters.
const MIN_NAME: usize = 3;

/// A file at a commit, and as it stands.
pub(super) struct Since {
    then: Side,
    now: Side,
    /// Where the lines are that were left, by line then.
    left: OnceCell<HashMap<u32, Left>>,
}

/// A line that stands now as it did then, and that has a letter or a digit in it.
struct Left {
    now: u32,
    /// There was no other line of its text between the nearest that are left, nor is there now.
    is_only: bool,
}

/// How much of a block's lines stands in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// Not one line that there is no other of.
    Nothing,
    /// One, but not enough of them all.
    Little,
    /// So that what stands there may be that block.
    Enough,
}

impl Since {
    pub(super) fn new(then: Document, now: Document) -> Self {
        Self { then: Side::new(then), now: Side::new(now), left: OnceCell::new() }
    }

    /// The file at the commit.
    pub(super) fn then(&self) -> &Document {
        &self.then.document
    }

    /// Whether a block of this name was there.
    pub(super) fn stood(&self, name: &Short) -> bool {
        self.then.standing().contains_key(name)
    }

    /// Whether enough of the lines of what was recorded are left in `now`, among them one that there is no other
    /// of. Of a block that did not stand at the commit as it was recorded, nobody can say.
    pub(super) fn stands_where(&self, recorded: &BlockRecord, now: LineRange) -> bool {
        let then = self.recorded(recorded);
        then.is_some_and(|(blocks, at)| self.leaves(blocks.blocks[at].lines, now) == Leaves::Enough)
    }

    /// How much of what contained the recorded block is left in `now`.
    pub(super) fn leaves_of_container(&self, recorded: &BlockRecord, now: LineRange) -> Leaves {
        let then = self.recorded(recorded);
        let container =
            then.and_then(|(blocks, at)| Some(blocks.blocks[blocks.blocks[at].container?].lines));
        container.map_or(Leaves::Nothing, |then| self.leaves(then, now))
    }

    /// The blocks at the commit and which of them was recorded, if it stood there as it was recorded.
    fn recorded(&self, recorded: &BlockRecord) -> Option<(Arc<FileBlocks>, usize)> {
        let at = *self.then.standing().get(&outline::key_of_name(recorded.block.as_ref()?))?;
        let blocks = self.then.document.blocks();
        let is_recorded = blocks.blocks[at].fingerprint.content == recorded.content_hash;
        is_recorded.then_some((blocks, at))
    }

    fn leaves(&self, then: LineRange, now: LineRange) -> Leaves {
        let left = self.left.get_or_init(|| left(&self.then, &self.now));
        let lines = then.start()..=then.end();
        let inside = |line| left.get(&line).filter(|left| now.contains(left.now));
        let inside: Vec<&Left> = lines.clone().filter_map(inside).collect();
        if !inside.iter().any(|left| left.is_only) {
            return Leaves::Nothing;
        }
        let all = lines.filter(|line| self.then.says_something(*line)).count();
        match inside.len() as f32 >= MIN_LEFT * all as f32 {
            true => Leaves::Enough,
            false => Leaves::Little,
        }
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
        let stood = |caller: &&Short| self.then.standing().contains_key(*caller);
        let stands = |caller: &&Short| self.now.standing().contains_key(*caller);
        let before: HashSet<&Short> = before.iter().filter(stands).collect();
        let after: HashSet<&Short> = after.iter().filter(stood).collect();
        let common = before.intersection(&after).count();
        common > 0 && common as f32 >= MIN_CALLERS * before.union(&after).count() as f32
    }
}

/// One of the two states of a file.
struct Side {
    document: Document,
    text: OnceCell<String>,
    lines: OnceCell<Vec<String>>,
    standing: OnceCell<HashMap<Short, usize>>,
    mentions: OnceCell<HashMap<u64, HashSet<Short>>>,
}

impl Side {
    fn new(document: Document) -> Self {
        Self {
            document,
            text: OnceCell::new(),
            lines: OnceCell::new(),
            standing: OnceCell::new(),
            mentions: OnceCell::new(),
        }
    }

    fn text(&self) -> &str {
        self.text.get_or_init(|| self.document.text())
    }

    /// The blocks of the file, and where in the list of them they are.
    fn standing(&self) -> &HashMap<Short, usize> {
        self.standing.get_or_init(|| {
            let blocks = self.document.blocks();
            let keys = blocks.blocks.iter().map(|block| outline::key(&block.identity));
            keys.zip(0..).collect()
        })
    }

    /// The named blocks that a name stands in, but not in a block inside them, without those that carry it; `None`
    /// where there is none.
    fn mentions(&self, name: &str) -> Option<&HashSet<Short>> {
        let mentions = self.mentions.get_or_init(|| {
            let blocks = &self.document.blocks().blocks;
            let keys: Vec<Short> =
                blocks.iter().map(|block| outline::key(&block.identity)).collect();
            let mut mentions: HashMap<u64, HashSet<Short>> = HashMap::new();
            // Blocks start in order, and lie inside each other or apart.
            let (mut next, mut open) = (0, Vec::new());
            for (at, word) in words(self.text()) {
                while next < blocks.len() && blocks[next].bytes.start <= at {
                    open.push(next);
                    next += 1;
                }
                while open.last().is_some_and(|last| blocks[*last].bytes.end <= at) {
                    open.pop();
                }
                let Some(holder) = open.last().copied() else { continue };
                if blocks[holder].name != word && !blocks[holder].identity.kind.is_unnamed() {
                    mentions.entry(hash(word)).or_default().insert(keys[holder]);
                }
            }
            mentions
        });
        mentions.get(&hash(name))
    }

    /// Its lines, without white space around them.
    fn lines(&self) -> &[String] {
        self.lines.get_or_init(|| {
            let text = self.text().replace("\r\n", "\n").replace('\r', "\n");
            text.split('\n').map(|line| line.trim().to_owned()).collect()
        })
    }

    fn says_something(&self, line: u32) -> bool {
        let line = self.lines().get(line as usize - 1);
        line.is_some_and(|line| line.chars().any(char::is_alphanumeric))
    }
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

/// See [`Since::left`]: the lines that there is no other of, then and now, what is the same around them, and the same
/// again for what lies between (patience diff). A whole diff of two large files takes ten times as long as parsing
/// them, and tells no more of this.
fn left(then: &Side, now: &Side) -> HashMap<u32, Left> {
    let (before, after) = (then.lines(), now.lines());
    let mut left = HashMap::new();
    let mut gaps = vec![Gap { then: 0..before.len(), now: 0..after.len(), depth: 0 }];
    while let Some(gap) = gaps.pop() {
        let anchors = anchors(&before[gap.then.clone()], &after[gap.now.clone()]);
        let in_file = |(old, new): (usize, usize)| (old + gap.then.start, new + gap.now.start);
        let ends = (gap.then.end, gap.now.end);
        let mut from = (gap.then.start, gap.now.start);
        let between = |from: (usize, usize), until: (usize, usize)| {
            let gap = Gap { then: from.0..until.0, now: from.1..until.1, depth: gap.depth + 1 };
            (!gap.then.is_empty() && !gap.now.is_empty() && gap.depth < MAX_DEPTH).then_some(gap)
        };
        for (nth, anchor) in anchors.iter().enumerate() {
            let (old, new) = in_file(*anchor);
            let until = anchors.get(nth + 1).map_or(ends, |next| in_file(*next));
            let most = (old - from.0).min(new - from.1);
            let above = (1..=most).take_while(|step| before[old - step] == after[new - step]);
            let above = above.count();
            let most = (until.0 - old).min(until.1 - new);
            let below = (1..most).take_while(|step| before[old + step] == after[new + step]);
            let below = below.count();
            gaps.extend(between(from, (old - above, new - above)));
            for step in 0..=above + below {
                let (old, new) = (old - above + step, new - above + step);
                let line = |index: usize| (index + 1) as u32;
                left.insert(line(old), Left { now: line(new), is_only: step == above });
            }
            from = (old + below + 1, new + below + 1);
        }
        if !anchors.is_empty() {
            gaps.extend(between(from, ends));
        }
    }
    left.retain(|line, _| then.says_something(*line));
    left
}

/// Lines of both sides between two that are left.
struct Gap {
    then: Range<usize>,
    now: Range<usize>,
    depth: usize,
}

/// Gaps within gaps are looked into this often: each look costs what the files are long.
const MAX_DEPTH: usize = 8;

/// The lines that each side has only once, in the order that most of them have on both.
fn anchors(before: &[String], after: &[String]) -> Vec<(usize, usize)> {
    let only_now = only(after);
    let mut anchors: Vec<(usize, usize)> = only(before)
        .into_iter()
        .filter(|(text, _)| text.chars().any(char::is_alphanumeric))
        .filter_map(|(text, old)| Some((old, *only_now.get(text)?)))
        .collect();
    anchors.sort_unstable();
    longest_in_order(&anchors)
}

/// The most of some pairs, given by their first, that are in the order of their second, too: patience sorting.
fn longest_in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // By length, the last of the sequence that ends lowest; and of every pair the one before it.
    let (mut ends, mut before) = (Vec::<usize>::new(), vec![None; pairs.len()]);
    for (at, (_, second)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *second);
        before[at] = length.checked_sub(1).map(|shorter| ends[shorter]);
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let last = ends.last().copied();
    let mut longest: Vec<_> =
        std::iter::successors(last, |at| before[*at]).map(|at| pairs[at]).collect();
    longest.reverse();
    longest
}

/// The lines that there is no other of, and where they are.
fn only(lines: &[String]) -> HashMap<&str, usize> {
    let mut times: HashMap<&str, (usize, usize)> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let known = times.entry(line).or_insert((at, 0));
        known.1 += 1;
    }
    times
        .into_iter()
        .filter(|(_, (_, times))| *times == 1)
        .map(|(line, (at, _))| (line, at))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(then: &str, now: &str) -> Since {
        Since::new(Document::from_text("a.py", then), Document::from_text("a.py", now))
    }

    const THEN: &str = "def scan(a):\n    skip(a)\n    return a\n\ndef run(a):\n    return scan(a) + 1\n\ndef all(a):\n    return [scan(b) for b in a]\n";

    #[test]
    fn what_its_callers_call_now_is_called_instead() {
        let now = THEN.replace("scan", "read_all").replace("skip(a)", "a.next()");
        let change = since(THEN, &now);
        assert!(change.is_called_instead("scan", "read_all"));
        assert!(!change.is_called_instead("skip", "read_all"), "the callers of `skip` are gone");
        assert!(!change.is_called_instead("scan", "next"), "`next` is called by another");
        let half = THEN.replace("scan(a) +", "read_all(a) +");
        assert!(!since(THEN, &half).is_called_instead("scan", "read_all"), "one still calls it");
    }

    #[test]
    fn the_longest_sequence_in_order_is_kept() {
        let order = |seconds: &[usize]| {
            let pairs: Vec<_> = seconds.iter().copied().enumerate().collect();
            longest_in_order(&pairs).into_iter().map(|(_, second)| second).collect::<Vec<_>>()
        };
        assert_eq!(order(&[]), Vec::<usize>::new());
        assert_eq!(order(&[5, 0, 1, 7, 2, 3]), [0, 1, 2, 3]);
        assert_eq!(order(&[3, 2, 1]).len(), 1);
    }

    #[test]
    fn lines_that_are_left_say_where_a_block_stands() {
        let range = |start, end| LineRange::new(start, end).unwrap();
        let now =
            THEN.replace("def scan(a):", "import os\n\ndef other():").replace("    return a\n", "");
        let leaves =
            |now: &str, start, end| since(THEN, now).leaves(range(1, 3), range(start, end));
        assert_eq!(leaves(&now, 3, 4), Leaves::Enough, "`skip(a)` is left");
        assert_eq!(leaves(&now, 6, 7), Leaves::Nothing);
        let far = format!("{now}\ndef more(a):\n    skip(a)\n");
        assert_eq!(leaves(&far, 3, 4), Leaves::Enough, "the other is not before `run`");
        let twice = now.replace("def run", "def more(a):\n    skip(a)\n\ndef run");
        assert_eq!(leaves(&twice, 3, 4), Leaves::Nothing, "not the only one");
        let long = THEN.replace("    skip(a)\n", "    a.next()\n    a.last()\n    a.close()\n");
        let change = since(&long, &now.replace("skip(a)", "a.next()"));
        assert_eq!(change.leaves(range(1, 5), range(3, 4)), Leaves::Little, "one line of five");
    }
}
