//! Pairs the units of the files before a change with those after it.
//!
//! The steps go from strict to loose. Units without a pair were added or removed. A wrong pair
//! never makes a change look harmless, because the two units are compared afterwards.
//!
//! This is why `matching` is not used here. There a wrong pair gives a wrong name, so an ambiguous
//! block gets no pair. Here the units are different (with their decorators, containers without
//! their members, and the file itself), and a missing pair would only turn a change into one
//! removed and one added definition.

use std::collections::HashMap;

use super::units::{File, Unit, all_units};

/// A unit: the index of its file, and its index in the file.
pub(super) type Id = (usize, usize);

#[derive(Debug, Default)]
pub(super) struct UnitPairs {
    pub after_of: HashMap<Id, Id>,
    pub before_of: HashMap<Id, Id>,
}

const WITHIN_A_FILE: f32 = 0.6;
const ACROSS_FILES: f32 = 0.75;
/// The minimum number of tokens of a unit that is paired by its text. Fewer say too little.
const SHORTEST: usize = 9;
/// If more units than this are left over on a side, they are not compared with each other.
const MOST: usize = 200;

struct UnitWords<'f> {
    id: Id,
    file: &'f File<'f>,
    unit: &'f Unit,
    words: Vec<String>,
    masked: String,
}

/// Returns what a unit is paired by. `None` if it has no such key.
type UnitKey<'a> = &'a dyn Fn(&UnitWords<'_>) -> Option<String>;

pub(super) fn pair(before: &[File<'_>], after: &[File<'_>]) -> UnitPairs {
    let mut pairs = UnitPairs::default();
    for (b, old) in before.iter().enumerate() {
        if let Some(a) = after.iter().position(|new| new.path == old.path) {
            same_identity((b, old), (a, &after[a]), &mut pairs);
        }
    }
    let (mut old, mut new) = (sides(before), sides(after));
    let is_long = |side: &UnitWords<'_>| side.words.len() >= SHORTEST;
    let kind_name_and_text = |side: &UnitWords<'_>| {
        let unit = side.unit;
        is_long(side).then(|| format!("{}\0{}\0{}", unit.kind(), unit.name, side.masked))
    };
    let kind_and_text = |side: &UnitWords<'_>| {
        is_long(side).then(|| format!("{}\0{}", side.unit.kind(), side.masked))
    };
    let file_and_path = |side: &UnitWords<'_>| {
        let identity = side.unit.identity.as_ref()?;
        Some(format!("{}\0{}\0{}", side.file.path, side.unit.kind(), identity.path))
    };
    let keys: [UnitKey<'_>; 3] = [&kind_name_and_text, &kind_and_text, &file_and_path];
    for key in keys {
        old.retain(|side| !pairs.after_of.contains_key(&side.id));
        new.retain(|side| !pairs.before_of.contains_key(&side.id));
        by_key([&old, &new], key, &mut pairs);
    }
    old.retain(|side| !pairs.after_of.contains_key(&side.id));
    new.retain(|side| !pairs.before_of.contains_key(&side.id));
    if old.len() <= MOST && new.len() <= MOST {
        similar(&old, &new, &mut pairs);
    }
    renamed_files(before, after, &mut pairs);
    pairs
}

impl UnitPairs {
    fn add_pair(&mut self, before: Id, after: Id) {
        self.after_of.insert(before, after);
        self.before_of.insert(after, before);
    }
}

fn same_identity(old: (usize, &File<'_>), new: (usize, &File<'_>), pairs: &mut UnitPairs) {
    let known: HashMap<_, usize> =
        new.1.units.iter().enumerate().map(|(at, unit)| (unit.identity.clone(), at)).collect();
    for (at, unit) in old.1.units.iter().enumerate() {
        if let Some(found) = known.get(&unit.identity)
            && !pairs.after_of.contains_key(&(old.0, at))
            && !pairs.before_of.contains_key(&(new.0, *found))
        {
            pairs.add_pair((old.0, at), (new.0, *found));
        }
    }
}

fn sides<'f>(files: &'f [File<'f>]) -> Vec<UnitWords<'f>> {
    let definitions = all_units(files).filter(|(id, ..)| id.1 != 0);
    let sides = definitions.map(|(id, file, unit)| {
        let words: Vec<String> = unit.tree.texts().into_iter().map(str::to_owned).collect();
        let mask = |word: &String| match *word == unit.name {
            true => "\u{1}".to_owned(),
            false => word.clone(),
        };
        let masked = words.iter().map(mask).collect::<Vec<_>>().join("\0");
        UnitWords { id, file, unit, words, masked }
    });
    sides.collect()
}

/// Pairs the units that have the same key, in order, if there are as many of them on both sides.
fn by_key(sides: [&[UnitWords<'_>]; 2], key: UnitKey<'_>, pairs: &mut UnitPairs) {
    let mut known: HashMap<String, [Vec<Id>; 2]> = HashMap::new();
    for (at, units) in sides.into_iter().enumerate() {
        for side in units {
            if let Some(key) = key(side) {
                known.entry(key).or_default()[at].push(side.id);
            }
        }
    }
    for [before, after] in known.into_values() {
        if before.len() == after.len() {
            before.into_iter().zip(after).for_each(|(b, a)| pairs.add_pair(b, a));
        }
    }
}

fn similar(old: &[UnitWords<'_>], new: &[UnitWords<'_>], pairs: &mut UnitPairs) {
    let mut scored = Vec::new();
    for b in old {
        for a in new {
            let (one, two) = (b.unit, a.unit);
            if one.kind() != two.kind() && !(one.is_function() && two.is_function()) {
                continue;
            }
            let same_file = b.file.path == a.file.path;
            let least = match (same_file, one.name == two.name) {
                (_, true) => 0.4,
                (true, false) => WITHIN_A_FILE,
                (false, false) => ACROSS_FILES,
            };
            let score = dice(&b.words, &a.words) + if one.name == two.name { 0.2 } else { 0.0 };
            if score >= least && a.words.len().min(b.words.len()) >= SHORTEST {
                scored.push((score, b.id, a.id));
            }
        }
    }
    scored.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    for (_, b, a) in scored {
        if !pairs.after_of.contains_key(&b) && !pairs.before_of.contains_key(&a) {
            pairs.add_pair(b, a);
        }
    }
}

/// Returns the share of token pairs that both have in common (Dice).
fn dice(old: &[String], new: &[String]) -> f32 {
    let mut counts: HashMap<(&str, &str), i32> = HashMap::new();
    for pair in old.windows(2) {
        *counts.entry((&pair[0], &pair[1])).or_default() += 1;
    }
    let mut shared = 0;
    for pair in new.windows(2) {
        if let Some(left) = counts.get_mut(&(&*pair[0], &*pair[1])).filter(|left| **left > 0) {
            *left -= 1;
            shared += 1;
        }
    }
    let both = (old.len() + new.len()).saturating_sub(2).max(1);
    2.0 * shared as f32 / both as f32
}

/// Pairs a removed file with the file that has the same text, or that contains at least half of its
/// units now.
fn renamed_files(before: &[File<'_>], after: &[File<'_>], pairs: &mut UnitPairs) {
    for (b, old) in before.iter().enumerate() {
        if old.units.is_empty() || pairs.after_of.contains_key(&(b, 0)) {
            continue;
        }
        let mut votes: HashMap<usize, usize> = HashMap::new();
        let paired = (1..old.units.len()).filter_map(|unit| pairs.after_of.get(&(b, unit)));
        paired.for_each(|(file, _)| *votes.entry(*file).or_default() += 1);
        let same_text = after.iter().position(|new| new.text == old.text);
        let most = votes.into_iter().max_by_key(|(file, count)| (*count, usize::MAX - file));
        let found =
            same_text.or(most.filter(|(_, n)| n * 2 >= old.units.len() - 1).map(|(f, _)| f));
        if let Some(file) = found.filter(|file| {
            !after[*file].units.is_empty() && !pairs.before_of.contains_key(&(*file, 0))
        }) {
            pairs.add_pair((b, 0), (file, 0));
            same_identity((b, old), (file, &after[file]), pairs);
        }
    }
}
