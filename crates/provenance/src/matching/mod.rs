//! Matches the blocks of two texts of one file.
//!
//! - `align`: finds the earlier block of each block.
//! - `item`, `text_pair`: what is known of the blocks and of the whole texts.
//! - `measure`, `likeness`, `rules`: candidate pairs, how alike they are, and which of them are
//!   accepted.

mod align;
mod item;
mod likeness;
mod measure;
mod rules;
mod text_pair;

use std::collections::HashMap;

use code::{Document, difference};

use align::Scene;
use item::ComparedBlock;
use text_pair::FileTexts;

/// For each block of `now`, returns the index of the block of `then` that it was. `None` if the
/// block is new, or if an earlier block may be this block or another one.
pub(crate) fn origins_in(then: &Document, now: &Document) -> Vec<Option<usize>> {
    let (old, new) = (then.blocks(), now.blocks());
    let texts = FileTexts::new(then.clone(), now.clone());
    let (old, new) = (ComparedBlock::of_blocks(&old), ComparedBlock::of_blocks(&new));
    Scene { then: &old, now: &new, texts: &texts }.origins()
}

/// Returns true if two texts have at least half of their lines in common, measured in bytes. `git
/// diff -M` uses the same limit to detect a renamed file.
pub fn has_same_lines(before: &str, now: &str) -> bool {
    let mut left: HashMap<&str, usize> = HashMap::new();
    difference::lines(before).for_each(|line| *left.entry(line).or_default() += 1);
    let mut common = 0;
    for line in difference::lines(now) {
        if let Some(count) = left.get_mut(line).filter(|count| **count > 0) {
            *count -= 1;
            common += line.len();
        }
    }
    common > 0 && common * 2 >= before.len().max(now.len())
}
