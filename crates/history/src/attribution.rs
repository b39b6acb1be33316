//! Which record brought the lines of a text that no commit explains, from the texts that were kept
//! after each recorded change.
//!
//! The newest text is looked at first, or the newest one that is exactly the text, if there is one:
//! what was recorded after it is not in the text. A line that it has belongs to the record that
//! brought it there, or to an older record if it was there before. A line that it lacks is looked for
//! in older texts, since somebody may have gone back to one of them.
//!
//! A line alone does not show that a change is still there: after a person has thrown a function away
//! and written another one, the line `def login(user):` may be the same. So the recorded lines of a
//! block count only if at least half of them are there, apart from that first line. Imports and
//! comments count only if a definition of the same record does, if it had one: a person throws away a function that needed
//! `import os`, and writes another one that needs it, too.
//!
//! For the same reason a line is not there if it stands in another definition now: after an agent's
//! `if err != nil {` in `load` was thrown away, a person may write the same line in `save`.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::sync::Arc;

use code::saying_lines::says_something;
use code::{Block, BlockKind, FileBlocks};

use crate::line_map::lines_in;
use crate::moves::parsed;
use crate::run_places::lines_of_runs;
use crate::text::{LineText, language_of};
use ledger::LineRuns;

/// The text of a file after a recorded change, and the lines that the change brought to it.
#[derive(Clone, Debug, Default)]
pub struct RecordedText {
    /// Empty if the text was too large to be kept, or is gone.
    pub text: Arc<LineText>,
    /// The lines in ascending order, counted from 0.
    pub brought: Vec<usize>,
    /// The runs of lines of a text that was not kept or is gone. Each is looked for as a whole.
    pub unkept: Vec<LineRuns>,
    /// The paths of the blocks that the change wrote or deleted: `AuthMiddleware.verify`.
    pub blocks: HashSet<String>,
}

/// Returns for each line of a text the index of the record that brought it.
///
/// `records` are those about the file, newest first. Only lines for which `is_asked` has true are
/// looked for. If the text is the staged part of a file, a line that is only `on_disk` is not gone.
pub fn attribute(
    path: &str,
    (text, on_disk): (&LineText, Option<&LineText>),
    is_asked: &[bool],
    records: &[RecordedText],
) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = vec![None; text.len()];
    let mut is_open = is_asked.to_vec();
    let first = records.iter().position(|record| *record.text == *text).unwrap_or(0);
    for (at, record) in records.iter().enumerate().skip(first) {
        if !is_open.contains(&true) {
            break;
        }
        for runs in &record.unkept {
            let open: Vec<usize> = (0..text.len()).filter(|line| is_open[*line]).collect();
            let lines = lines_of_runs(runs, text, &open);
            lines.into_iter().for_each(|line| (found[line], is_open[line]) = (Some(at), false));
        }
        let mut there = lines_in(&record.text, text);
        leave_out_lines_elsewhere(path, (&record.text, text), &is_open, &mut there);
        leave_out_lines_taken_back(path, (record, text), &records[first..at], &is_open, &mut there);
        if !there.iter().enumerate().any(|(line, place)| place.is_some() && is_open[line]) {
            continue;
        }
        // A line that was wrapped since stands on several lines now.
        let mut stands: Vec<Vec<usize>> = vec![Vec::new(); record.text.len()];
        for (line, place) in there.iter().enumerate() {
            if let Some(place) = place {
                stands[*place].push(line);
            }
        }
        let mut owners = owners(path, records, at);
        for (owner, places) in owners.iter_mut().zip(&stands) {
            // A commit has brought the line, so it does not show what is left of a change.
            if !places.is_empty() && !places.iter().any(|line| is_asked[*line]) {
                *owner = None;
            }
        }
        let mut is_there: Vec<bool> = stands.iter().map(|places| !places.is_empty()).collect();
        let disk = on_disk.map(|disk| lines_in(&record.text, disk)).into_iter().flatten();
        disk.flatten().for_each(|line| is_there[line] = true);
        for line in lines_of_standing_changes(path, &record.text, &owners, &is_there) {
            for line_now in &stands[line] {
                if is_open[*line_now] {
                    found[*line_now] = owners[line];
                    is_open[*line_now] = false;
                }
            }
        }
    }
    // Blank lines alone do not show that a change is still there.
    let says = |text: &LineText, line: usize| says_something(text.line(line), language_of(path));
    let mut is_left = vec![false; records.len()];
    for (line, at) in found.iter().enumerate() {
        at.iter().for_each(|at| is_left[*at] |= says(text, line));
    }
    for owner in &mut found {
        let is_thrown_away = |at: &usize| {
            let RecordedText { text, brought, .. } = &records[*at];
            !is_left[*at] && brought.iter().any(|line| says(text, *line))
        };
        *owner = owner.filter(|at| !is_thrown_away(at));
    }
    found
}

/// Leaves out the open lines that are in another definition than before, which is not inside of their own
/// one, does not have its whole body, and is not their own one under another name: that has at least half
/// of its body. `there` has the earlier line of each line. The texts are parsed only if such a line, or
/// one of the earlier lines directly above it, follows another line than before.
fn leave_out_lines_elsewhere(
    path: &str,
    (before, now): (&LineText, &LineText),
    is_open: &[bool],
    there: &mut [Option<usize>],
) {
    let mut follows_another = false;
    let may_be_elsewhere = |line: usize| {
        follows_another = match (there[line], line.checked_sub(1)) {
            (Some(place), Some(last)) if place > 0 => {
                follows_another || there[last] != Some(place - 1)
            }
            _ => false,
        };
        is_open[line] && follows_another
    };
    if !(0..now.len()).any(may_be_elsewhere) {
        return;
    }
    let ((_old, old), (_new, new)) = (parsed(path, before), parsed(path, now));
    fn names(blocks: &FileBlocks) -> HashSet<&str> {
        blocks.blocks.iter().map(|block| &*block.identity.path).collect()
    }
    let (is_definition_then, is_definition_now) = (names(&old), names(&new));
    let mut goes_to: Vec<Option<&str>> = vec![None; before.len()];
    for (line, place) in there.iter().enumerate() {
        if let Some(place) = place {
            goes_to[*place] = definitions_at(&new, line).next().map(|it| &*it.identity.path);
        }
    }
    let mut bodies: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
    for (line, place) in goes_to.iter().enumerate() {
        let own = definitions_at(&old, line).next();
        let is_body = |block: &&Block| line >= block.lines.start() as usize;
        if let Some(own) = own.filter(is_body)
            && says_something(before.line(line), language_of(path))
        {
            bodies.entry(&own.identity.path).or_default().push(*place);
        }
    }
    for (line, place) in there.iter_mut().enumerate().filter(|(line, _)| is_open[*line]) {
        let own = place.and_then(|place| definitions_at(&old, place).next());
        let own = own.map(|own| &*own.identity.path);
        let mut around = definitions_at(&new, line).map(|block| &*block.identity.path).peekable();
        let (Some(own), Some(innermost)) = (own, around.peek().copied()) else { continue };
        let body = bodies.get(own).map(Vec::as_slice).unwrap_or_default();
        let moved = body.iter().filter(|to| **to == Some(innermost)).count();
        let is_whole = moved > 0 && moved == body.len();
        let is_renamed = !is_definition_now.contains(own)
            && !is_definition_then.contains(innermost)
            && 2 * moved >= body.len();
        if !is_whole && !is_renamed && !around.any(|path| path == own) {
            *place = None;
        }
    }
}

/// Leaves out the open lines of a definition that a `newer` record has written or deleted since, and
/// whose text after that lacks them. They count only if they are all there, in a definition of that
/// name, because then somebody has gone back to the older text. `there` has the line of the record's
/// text for each line.
fn leave_out_lines_taken_back(
    path: &str,
    (record, now): (&RecordedText, &LineText),
    newer: &[RecordedText],
    is_open: &[bool],
    there: &mut [Option<usize>],
) {
    let is_asked = there.iter().zip(is_open).any(|(place, open)| *open && place.is_some());
    if !is_asked || newer.iter().all(|newer| newer.blocks.is_empty()) {
        return;
    }
    let (_text, blocks) = parsed(path, &record.text);
    let own = |line: usize| definitions_at(&blocks, line).next().map(|it| &*it.identity.path);
    let mut taken_back: HashSet<usize> = HashSet::new();
    for newer in newer {
        let mut is_left = vec![false; record.text.len()];
        lines_in(&record.text, &newer.text)
            .into_iter()
            .flatten()
            .for_each(|line| is_left[line] = true);
        let gone = (0..is_left.len()).filter(|line| !is_left[*line]);
        taken_back
            .extend(gone.filter(|line| own(*line).is_some_and(|path| newer.blocks.contains(path))));
    }
    if taken_back.is_empty() {
        return;
    }
    let (_now, blocks_now) = parsed(path, now);
    let is_in_its_own = |(line, place): (usize, usize)| {
        let own = own(place)?;
        definitions_at(&blocks_now, line).any(|it| it.identity.path == own).then_some(place)
    };
    let places = there.iter().enumerate().filter_map(|(line, place)| Some((line, (*place)?)));
    let stands: HashSet<usize> = places.filter_map(is_in_its_own).collect();
    let says = |line: &&usize| says_something(record.text.line(**line), language_of(path));
    let missing = taken_back.iter().filter(says).filter(|line| !stands.contains(line));
    let incomplete: HashSet<&str> = missing.filter_map(|line| own(*line)).collect();
    for (place, _) in there.iter_mut().zip(is_open).filter(|(_, open)| **open) {
        let is_taken_back = |line: &usize| {
            taken_back.contains(line) && own(*line).is_some_and(|path| incomplete.contains(path))
        };
        *place = place.filter(|line| !is_taken_back(line));
    }
}

/// Returns the definitions around a line, counted from 0, the innermost first.
fn definitions_at(blocks: &FileBlocks, line: usize) -> impl Iterator<Item = &Block> {
    let at = |at: usize| (at, &blocks.blocks[at]);
    let innermost = blocks.at_line(u32::try_from(line + 1).unwrap_or(u32::MAX)).map(at);
    let around = iter::successors(innermost, move |(_, block)| block.container.map(at));
    around.map(|(_, block)| block).filter(|block| is_definition(block.identity.kind))
}

fn is_definition(kind: BlockKind) -> bool {
    !matches!(kind, BlockKind::Region | BlockKind::Paragraph | BlockKind::File)
}

/// Returns the lines of a text with an owner that belong to changes which were not thrown away.
fn lines_of_standing_changes(
    path: &str,
    text: &LineText,
    owners: &[Option<usize>],
    is_there: &[bool],
) -> Vec<usize> {
    let owned = || (0..owners.len()).filter(|line| owners[*line].is_some());
    let saying = || owned().filter(|line| says_something(text.line(*line), language_of(path)));
    if saying().all(|line| is_there[line]) {
        return owned().collect();
    }
    let (_document, blocks) = parsed(path, text);
    let numbered = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
    let block_of: Vec<Option<usize>> = (0..owners.len())
        .map(|line| owners[line].and_then(|_| blocks.at_line(numbered(line))))
        .collect();
    let is_definition = |block: usize| is_definition(blocks.blocks[block].identity.kind);
    // How many more recorded lines that say something are still there than are gone.
    let mut balances: HashMap<Option<usize>, isize> = HashMap::new();
    // Whoever writes another definition of that name writes its first line, too, below the same comment.
    // So these lines do not show that the rest is still there.
    let is_head = |line: &usize| {
        block_of[*line].is_some_and(|block| {
            is_definition(block) && *line < blocks.blocks[block].lines.start() as usize
        })
    };
    for line in saying().filter(|line| !is_there[*line] || !is_head(line)) {
        *balances.entry(block_of[line]).or_default() += if is_there[line] { 1 } else { -1 };
    }
    let is_half_left = |line: usize| balances.get(&block_of[line]).is_none_or(|left| *left >= 0);
    // For each record with a definition, whether one of them is still there.
    let mut has_definition: HashMap<Option<usize>, bool> = HashMap::new();
    // A comment above a definition is no part of it here, since it may stand above other code now.
    let is_in_definition = |line: &usize| {
        block_of[*line].is_some_and(|block| {
            is_definition(block) && *line + 1 >= blocks.blocks[block].lines.start() as usize
        })
    };
    for line in saying().filter(is_in_definition) {
        *has_definition.entry(owners[line]).or_default() |= is_half_left(line);
    }
    let is_thrown_away = |line: usize| has_definition.get(&owners[line]) == Some(&false);
    owned().filter(|line| is_half_left(*line) && !is_thrown_away(*line)).collect()
}

/// Returns for each line of the text of a record the index of the record that brought it.
///
/// The texts before the record say which of the lines that it did not bring were recorded as well. If
/// the text has further new lines, somebody else changed the file in between and may have thrown an
/// older change away, so only what still stands of the older text counts.
fn owners(path: &str, records: &[RecordedText], at: usize) -> Vec<Option<usize>> {
    let RecordedText { text, brought, .. } = &records[at];
    let is_its = |record: &RecordedText, line: &usize| record.brought.binary_search(line).is_ok();
    let mut owners = vec![None; text.len()];
    brought.iter().filter(|line| **line < text.len()).for_each(|line| owners[*line] = Some(at));
    let mut place: Vec<Option<usize>> =
        (0..text.len()).map(|line| owners[line].is_none().then_some(line)).collect();
    let mut newer = &records[at];
    for (older_at, older) in records.iter().enumerate().skip(at + 1) {
        if place.iter().all(Option::is_none) {
            break;
        }
        if older.text.is_empty() && !older.unkept.is_empty() {
            continue;
        }
        let mut there = lines_in(&older.text, &newer.text);
        let is_foreign = |line: usize| {
            there[line].is_none()
                && !is_its(newer, &line)
                && says_something(newer.text.line(line), language_of(path))
        };
        if (0..newer.text.len()).any(is_foreign) {
            let mut is_asked = vec![false; newer.text.len()];
            place.iter().flatten().for_each(|line| is_asked[*line] = true);
            leave_out_lines_elsewhere(path, (&older.text, &newer.text), &is_asked, &mut there);
            let earlier = self::owners(path, records, older_at);
            let mut is_there = vec![false; older.text.len()];
            there.iter().flatten().for_each(|line| is_there[*line] = true);
            let standing = lines_of_standing_changes(path, &older.text, &earlier, &is_there);
            for (line, place) in place.into_iter().enumerate() {
                let place = place.and_then(|at| there[at]);
                let place = place.filter(|place| standing.binary_search(place).is_ok());
                owners[line] = owners[line].or(place.and_then(|place| earlier[place]));
            }
            return owners;
        }
        for (line, place) in place.iter_mut().enumerate() {
            *place = place.and_then(|at| there[at]);
            if place.is_some_and(|at| is_its(older, &at)) {
                (owners[line], *place) = (Some(older_at), None);
            }
        }
        newer = older;
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text whose lines are divided by spaces, or by `|` if there is one.
    fn text(lines: &str) -> LineText {
        let divider = if lines.contains('|') { '|' } else { ' ' };
        let lines = lines.split(divider).map(|line| format!("{line}\n"));
        LineText::new(lines.collect::<String>().into())
    }

    /// Makes a record of a text in which the brought lines are marked with a `+`.
    fn record(lines: &str) -> RecordedText {
        let marked = text(lines);
        let is_brought = |line: &usize| marked.line(*line).starts_with(b"+");
        let brought = (0..marked.len()).filter(is_brought).collect();
        let text = Arc::new(text(&lines.replace('+', "")));
        RecordedText { text, brought, unkept: Vec::new(), blocks: HashSet::new() }
    }

    /// Asks about all lines that the commit `base` lacks. Answers with a digit for each line.
    fn told_of(path: &str, base: &str, now: &str, records: &[&str]) -> String {
        let records: Vec<RecordedText> = records.iter().map(|one| record(one)).collect();
        let now = text(now);
        let asked: Vec<bool> = lines_in(&text(base), &now).iter().map(Option::is_none).collect();
        let found = attribute(path, (&now, None), &asked, &records).into_iter();
        found.map(|owner| owner.map_or("-".to_owned(), |at| at.to_string())).collect()
    }

    fn told(base: &str, now: &str, records: &[&str]) -> String {
        told_of("a.txt", base, now, records)
    }

    #[test]
    fn a_line_belongs_to_the_record_that_brought_it() {
        assert_eq!(told("a b", "a x y b", &["a +x +y b"]), "-00-");
        // The second record changed one of these lines.
        assert_eq!(told("a b", "a x z b", &["a x +z b", "a +x +y b"]), "-10-");
        // Nobody recorded `n`.
        assert_eq!(told("a b", "a x y n b", &["a +x +y b"]), "-00--");
    }

    #[test]
    fn a_line_that_was_there_before_its_record_is_nobodys() {
        assert_eq!(told("a", "a n x", &["a n +x"]), "--0");
        assert_eq!(told("a", "a n x", &["a +n x"]), "-0-");
    }

    #[test]
    fn the_rest_of_a_change_that_was_thrown_away_is_nobodys() {
        let login = "def login(user):|    if not user:|        return None|    return check(user)";
        let added = |text: &str| format!("+{}", text.replace('|', "|+"));
        let (alone, head) = (added(login), "x = 1|");
        // A person writes another function of the same name, and with some of the same lines.
        for (now, expected) in [
            ("def login(user):|    return mine(user)", "--"),
            (
                "def login(user):|    if not user:|        raise Unknown|    return mine(user)",
                "----",
            ),
            // Most of it is there, so it may have been edited as well.
            ("def login(user):|    if not user:|        return None|    return mine(user)", "000-"),
            (login, "0000"),
        ] {
            assert_eq!(told_of("a.py", "", now, &[&alone]), expected, "{now}");
            // What the function needed is needed by the other one as well.
            for needed in ["import os", "import os|import sys", "# A licence.|# Of the project."] {
                let count = needed.split('|').count();
                let others = format!("{}|x = 1|{alone}", added(needed));
                let now = format!("{needed}|{head}{now}");
                let rest = expected.chars().next().expect("a line").to_string().repeat(count);
                let expected = format!("{rest}-{expected}");
                assert_eq!(told_of("a.py", head, &now, &[&others]), expected, "{now}");
            }
        }
        // Two records made the function.
        let both = [
            &*alone.replace("|+", "|").replace("(user)", "(user, mode)"),
            &alone.replace("+def login(user)", "def login(user)"),
        ];
        assert_eq!(
            told_of("a.py", "", "def login(user, mode):|    return mine(user)", &both),
            "--"
        );
        // What a later record took away was not thrown away.
        let rejected = "a +def +one +two +three +four b";
        assert_eq!(told("a b", "a def new b", &["a def +new b", rejected]), "-10-");
    }

    #[test]
    fn the_rest_of_an_edited_change_keeps_its_record() {
        let brought = "a +def +one +two +three +four b";
        assert_eq!(told("a b", "a def one mine three four b", &[brought]), "-00-00-");
        assert_eq!(told("a b", "a def one three four b", &[brought]), "-0000-");
        assert_eq!(told("a b", "a def mine b", &[brought]), "----");
        // Two records brought the lines, and the line of one of them was edited.
        let both = ["a def one +zwei three four b", brought];
        assert_eq!(told("a b", "a def one mine three four b", &both), "-11-11-");
        assert_eq!(told("a b", "a def one zwei three vier b", &both), "-1101--");
        // Of two functions one is still there, so that the record was not thrown away.
        let two = "+import os|x = 1|+def f():|+    return os|+def g():|+    return g";
        let now = "import os|x = 1|def f():|    return os|def g():|    return mine";
        assert_eq!(told_of("a.py", "x = 1|", now, &[two]), "0-00--");
        // Only the lines that no commit has say what is left of a change.
        let parts = "a +def +one +two +x +y +z b";
        assert_eq!(told("a def one two b", "a def one two x mine b", &[parts]), "-------");
        assert_eq!(told("a def one two b", "a def one two x y z b", &[parts]), "----000-");
    }

    #[test]
    fn a_line_of_another_definition_is_nobodys_while_its_own_is_there() {
        let check = "    if not user:|        return None";
        let added = "+    if not user:|+        return None";
        let recorded = format!("def load(user):|{added}|    return 1");
        let load = "def load(user):|    return 1";
        for (base, now, expected) in [
            // A person puts `load` back, and writes the same lines in another function.
            (load, format!("{load}|def save(user):|{check}|    return 2"), "------"),
            (load, format!("def save(user):|{check}|    return 2|{load}"), "------"),
            (load, format!("class A:|    x = 1|def load(user):|{check}|    return 1"), "---00-"),
            // The function is gone on under another name, or it holds the other one.
            (load, format!("def save(user):|{check}|    return 1"), "-00-"),
            (load, format!("def load(user):|  def f():|{check}|  return 1"), "--00-"),
            // The functions have changed their names.
            (
                "def save(user):|    return 2|def load(user):|    return 1",
                format!("def load(user):|    return 2|def save(user):|{check}|    return 1"),
                "---00-",
            ),
        ] {
            assert_eq!(told_of("a.py", base, &now, &[&recorded]), expected, "{now}");
        }
    }

    #[test]
    fn an_equal_line_below_a_line_of_the_base_is_in_another_definition_too() {
        let load = ["fn load() {", "    open();", "    read();", "    close();", "}"].join("|");
        let recorded =
            load.replace("    open", "+    lock();|    open").replace("|}", "|+    free();|}");
        let now = "fn load() {|    map();|}|fn save() {|    open();|    write();|    close();|    free();|}";
        assert_eq!(told_of("a.rs", &load, now, &[&recorded]), "---------");
    }

    #[test]
    fn a_later_record_does_not_keep_what_was_thrown_away_before_it() {
        let load = "fn load() {|    open();|    read();|}";
        let rejected = "fn load() {|+    take();|+    fail();|+    retry();|+    log();|}";
        let save = "fn save() {|    open();|    log();|    write();|}";
        let edited = load.replace("    read", "    read_all");
        // A person restores `load`, and writes the same line in another function or in the same one.
        for by_hand in
            [format!("{edited}|{save}"), edited.replace("    open", "    log();|    open")]
        {
            let later = by_hand.replace("    read_all", "+    read_all");
            let found = told_of("a.rs", load, &by_hand, &[&later, rejected]);
            let lines =
                by_hand.split('|').map(|line| if line.contains("read_all") { '0' } else { '-' });
            assert_eq!(found, lines.collect::<String>(), "{by_hand}");
        }
    }

    #[test]
    fn what_a_later_record_took_back_is_nobodys_unless_it_is_all_there() {
        let added = "def helper():|    one()|    two()|    three()";
        let added_record = record(&format!("x = 1|+{}", added.replace('|', "|+")));
        let taken_back = |path: &str| RecordedText {
            blocks: HashSet::from([path.to_owned()]),
            ..record("x = 1")
        };
        for (now, by, expected) in [
            ("def greet():|    one()|    two()|    mine()", "helper", "-----"),
            ("def helper():|    one()|    two()|    mine()", "helper", "-----"),
            ("def greet():|    one()|    two()|    three()", "helper", "-----"),
            // Somebody has gone back to the older text, and changed another function.
            (added, "helper", "-1111"),
            ("def helper():|    one()|    two()|    three()|y = 2", "helper", "-1111-"),
            // The later record says nothing of the function: the older change was stashed.
            ("def helper():|    one()|    two()|    mine()", "other", "-111-"),
        ] {
            let now = text(&format!("x = 1|{now}"));
            let asked: Vec<bool> = (0..now.len()).map(|line| line > 0).collect();
            let records = [taken_back(by), added_record.clone()];
            let found = attribute("a.py", (&now, None), &asked, &records).into_iter();
            let told = found.map(|owner| owner.map_or("-".to_owned(), |at| at.to_string()));
            assert_eq!(told.collect::<String>(), expected, "{now:?}");
        }
    }

    #[test]
    fn what_is_on_disk_is_not_gone_from_what_is_staged() {
        let records = [record("a +def +one +more b +def2 +two c")];
        let (staged, disk) = (text("a b def2 two c"), text("a def one more b def2 two c"));
        let asked = [false, false, true, true, false];
        let part = |disk| attribute("a.txt", (&staged, disk), &asked, &records);
        assert_eq!(part(None), [None; 5]);
        assert_eq!(part(Some(&disk)), [None, None, Some(0), Some(0), None]);
    }

    #[test]
    fn what_was_recorded_after_a_text_is_not_in_it() {
        // The lines `k` and `e` of both parts are equal, and the later part stands first.
        let records = ["h +k +x +e k z e t", "h k +z e t", "h +k +y +e t"];
        assert_eq!(told("h t", "h k z e t", &records), "-212-");
    }

    #[test]
    fn a_text_that_was_too_large_to_be_kept_is_known_by_its_runs() {
        let now = text("a n x y b z");
        let brought = text("a x y b z");
        let unkept = |lines: &[usize]| RecordedText {
            text: Arc::default(),
            brought: Vec::new(),
            unkept: vec![LineRuns::of_chosen(&brought, |at| lines.contains(&at))],
            blocks: HashSet::new(),
        };
        let told = |records: &[RecordedText]| {
            let found =
                attribute("a.txt", (&now, None), &[false, true, true, true, false, true], records);
            let digit = |owner: Option<usize>| owner.map_or("-".to_owned(), |at| at.to_string());
            found.into_iter().map(digit).collect::<String>()
        };
        assert_eq!(told(&[unkept(&[1, 2])]), "--00--");
        assert_eq!(told(&[unkept(&[4]), unkept(&[1, 2])]), "--11-0");
        // A run that is not whole claims nothing, and neither does a line that is not asked about.
        assert_eq!(told(&[unkept(&[2, 3])]), "------");
        // An older text that was kept goes on to answer.
        assert_eq!(told(&[unkept(&[4]), record("a +x +y b z")]), "--11-0");
        assert_eq!(told(&[record("a x y b +z"), unkept(&[1, 2])]), "--11-0");
    }

    #[test]
    fn going_back_to_an_older_text_brings_back_its_records() {
        let records = ["a +p +q b", "a +x +y b"];
        assert_eq!(told("a b", "a x y b", &records), "-11-");
    }
}
