//! Mutations of what a function does, and of the order and place of its statements.

use std::collections::HashSet;
use std::ops::Range;

use super::layout::shifted;
use super::names::declares;
use super::syntax::{Leaf, indent, line_start};
use super::{Behaviour, Chance, Origin, Syntax, World};

/// Replaces an operator by another one.
pub fn operator(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    const OTHER: [(&str, &str); 14] = [
        ("+", "-"),
        ("-", "+"),
        ("*", "+"),
        ("<", "<="),
        ("<=", "<"),
        (">", ">="),
        (">=", ">"),
        ("==", "!="),
        ("!=", "=="),
        ("===", "!=="),
        ("&&", "||"),
        ("||", "&&"),
        ("and", "or"),
        ("or", "and"),
    ];
    let other = |syntax: &Syntax, leaf: &Leaf| {
        let binary = ["binary", "comparison", "boolean"].iter().any(|it| leaf.parent.contains(it));
        let word = syntax.word(leaf);
        let new = OTHER.iter().find(|(old, _)| *old == word)?.1;
        (binary && !leaf.named).then(|| new.to_owned())
    };
    one_token(world, path, chance, other)
}

/// Replaces a number, a text or a truth value.
pub fn constant(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let other = |syntax: &Syntax, leaf: &Leaf| {
        let word = syntax.word(leaf);
        match word {
            "true" => return Some("false".to_owned()),
            "false" => return Some("true".to_owned()),
            "True" => return Some("False".to_owned()),
            "False" => return Some("True".to_owned()),
            _ => {}
        }
        let number = word.chars().all(|c| c.is_ascii_digit());
        if number
            && (leaf.kind.contains("integer")
                || leaf.kind.contains("number")
                || leaf.kind.contains("int_literal"))
        {
            return Some(format!("{}", word.parse::<u64>().ok()?.checked_add(3)?));
        }
        let text = leaf.kind.contains("string_content") || leaf.kind.contains("string_fragment");
        (text && !word.contains('{')).then(|| format!("{word}x"))
    };
    one_token(world, path, chance, other)
}

fn one_token(
    world: &mut World,
    path: &str,
    chance: &mut Chance,
    other: impl Fn(&Syntax, &Leaf) -> Option<String>,
) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let block = syntax.block(*chance.pick(&syntax.functions())?);
    let edits: Vec<(Range<usize>, String)> = syntax
        .leaves_in(&block.bytes)
        .iter()
        .filter_map(|leaf| Some((leaf.bytes.clone(), other(&syntax, leaf)?)))
        .collect();
    let (range, text) = chance.pick(&edits)?.clone();
    world.touch(path, block);
    world.file_mut(path).replace(range, &text);
    Some(Behaviour::Changed)
}

/// Removes a check that returns early.
pub fn remove_guard(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let guards: Vec<(usize, Range<usize>)> = syntax
        .functions()
        .into_iter()
        .flat_map(|at| syntax.guards(at).into_iter().map(move |guard| (at, guard)))
        .collect();
    let (at, guard) = chance.pick(&guards)?.clone();
    world.touch(path, syntax.block(at));
    world.file_mut(path).cut(guard);
    Some(Behaviour::Changed)
}

/// Returns the functions with at least `least` statements on lines of their own.
fn with_statements(syntax: &Syntax, least: usize) -> Vec<(usize, Vec<Range<usize>>)> {
    let all = syntax.functions().into_iter().map(|at| (at, syntax.statements(at)));
    all.filter(|(_, statements)| statements.len() >= least).collect()
}

pub fn remove_statement(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let (at, statements) = chance.pick(&with_statements(&syntax, 2))?.clone();
    world.touch(path, syntax.block(at));
    world.file_mut(path).cut(chance.pick(&statements)?.clone());
    Some(Behaviour::Changed)
}

pub fn add_statement(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let (at, statements) = chance.pick(&with_statements(&syntax, 1))?.clone();
    let place = chance.pick(&statements)?.start;
    let name = world.new_name("call");
    let end = if matches!(syntax.language, "python" | "bash" | "go") { "" } else { ";" };
    let call = match syntax.language {
        "bash" => format!("{name} 41"),
        _ => format!("{name}(41){end}"),
    };
    let text = format!("{}{call}\n", indent(&syntax.text, place));
    world.touch(path, syntax.block(at));
    world.file_mut(path).replace(place..place, &text);
    Some(Behaviour::Changed)
}

pub fn swap_statements(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let (at, statements) = chance.pick(&with_statements(&syntax, 3))?.clone();
    let first = chance.below(statements.len() - 1);
    let (one, other) = (statements[first].clone(), statements[first + 1].clone());
    world.touch(path, syntax.block(at));
    let file = world.file_mut(path);
    let piece = file.cut(other);
    file.paste(one.start, piece);
    Some(Behaviour::Unclear)
}

/// Adds a parameter.
pub fn signature(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let at = *chance.pick(&syntax.functions())?;
    let list = syntax.parameters(at)?;
    let name = world.new_name("value");
    let parameter = match syntax.language {
        "rust" | "typescript" => {
            format!("{name}: {}", if syntax.language == "rust" { "u32" } else { "number" })
        }
        "go" => format!("{name} int"),
        "c" | "cpp" | "java" => format!("int {name}"),
        "python" | "javascript" => name,
        _ => return None,
    };
    let inside = syntax.text[list.start + 1..list.end - 1].trim_end();
    let end = list.start + 1 + inside.len();
    let text = match inside {
        "" | "void" if syntax.language == "c" => parameter,
        "" => parameter,
        _ if inside.ends_with(',') => format!(" {parameter}"),
        _ => format!(", {parameter}"),
    };
    let from = if inside == "void" { list.start + 1 } else { end };
    world.touch(path, syntax.block(at));
    world.file_mut(path).replace(from..end, &text);
    Some(Behaviour::Changed)
}

/// Gives a function the body of another one, and keeps its name.
pub fn rewrite(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let functions = with_statements(&syntax, 2);
    let (at, statements) = chance.pick(&functions)?.clone();
    let (other, theirs) = chance.pick(&functions)?.clone();
    let (one, two) = (span(&statements), span(&theirs));
    if at == other || one.start < two.end && two.start < one.end {
        return None;
    }
    let from = indent(&syntax.text, two.start).to_owned();
    let to = indent(&syntax.text, one.start).to_owned();
    let piece = shifted(&world.files[path].copy(two), &from, &to);
    world.touch(path, syntax.block(at));
    let file = world.file_mut(path);
    file.cut(one.clone());
    file.paste(one.start, piece);
    Some(Behaviour::Changed)
}

fn span(statements: &[Range<usize>]) -> Range<usize> {
    statements[0].start..statements[statements.len() - 1].end
}

/// Returns the first and the last line of a function in a language, or `None` if the mutators cannot write that
/// language.
fn frame(language: &str, name: &str) -> Option<(String, &'static str)> {
    Some(match language {
        "rust" => (format!("fn {name}() {{\n"), "}\n"),
        "python" => (format!("def {name}():\n"), ""),
        "javascript" | "typescript" => (format!("function {name}() {{\n"), "}\n"),
        "go" => (format!("func {name}() {{\n"), "}\n"),
        "c" | "cpp" => (format!("static void {name}(void)\n{{\n"), "}\n"),
        "bash" => (format!("{name}() {{\n"), "}\n"),
        _ => return None,
    })
}

fn one_level(language: &str, text: &str) -> &'static str {
    if language == "go" || text.contains("\n\t") { "\t" } else { "    " }
}

/// Moves some statements to a new function, and calls it in their place.
pub fn extract(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    take_out(world, path, chance, |count, chance| {
        let first = chance.below(count - 1);
        let most = (count - first - 1).max(1);
        first..first + 1 + chance.below(most)
    })
}

/// Moves the second half of a function to a new function.
pub fn split(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    take_out(world, path, chance, |count, _| count / 2..count)
}

fn take_out(
    world: &mut World,
    path: &str,
    chance: &mut Chance,
    which: impl Fn(usize, &mut Chance) -> Range<usize>,
) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let top = |(at, _): &(usize, Vec<Range<usize>>)| {
        syntax.block(*at).container.is_none() && syntax.item(*at).is_some()
    };
    let functions: Vec<_> = with_statements(&syntax, 3).into_iter().filter(top).collect();
    let (at, statements) = chance.pick(&functions)?.clone();
    let chosen = &statements[which(statements.len(), chance)];
    let taken = span(chosen);
    let item = syntax.item(at)?;
    let name = world.new_name(&syntax.block(at).name.to_lowercase());
    let (open, close) = frame(syntax.language, &name)?;
    let from = indent(&syntax.text, taken.start).to_owned();
    let to = one_level(syntax.language, &syntax.text);
    let end = if matches!(syntax.language, "python" | "bash" | "go") { "" } else { ";" };
    let call = match syntax.language {
        "bash" => format!("{from}{name}\n"),
        _ => format!("{from}{name}(){end}\n"),
    };
    // The new function does not get the local variables that it needs.
    let behaviour = match leaves_locals_behind(&syntax, at, &taken) {
        true => Behaviour::Changed,
        false => Behaviour::Unclear,
    };
    world.touch(path, syntax.block(at));
    let file = world.file_mut(path);
    if !file.text().ends_with('\n') {
        let end = file.text().len();
        file.insert_as(end, "\n", Origin::New);
    }
    let before = file.text().len();
    let mut helper = shifted(&file.cut(taken.clone()), &from, to);
    file.insert_as(taken.start, &call, Origin::New);
    helper.insert_as(0, &format!("\n{open}"), Origin::New);
    let last = helper.text().len();
    helper.insert_as(last, &format!("{close}\n"), Origin::New);
    let moved = |place: usize| place + call.len() - taken.len();
    let place = match chance.below(3) {
        0 => item.start,
        1 => moved(item.end.min(before)),
        _ => file.text().len(),
    };
    file.paste(place, helper);
    Some(behaviour)
}

/// Returns true if the statements use names that the rest of their function declares.
fn leaves_locals_behind(syntax: &Syntax, at: usize, taken: &Range<usize>) -> bool {
    let leaves = syntax.leaves_in(&syntax.block(at).bytes);
    let inside = |leaf: &&Leaf| taken.contains(&leaf.bytes.start);
    let name = |leaf: &Leaf| syntax.word(leaf).to_owned();
    let declared: HashSet<String> = leaves
        .iter()
        .filter(|leaf| !inside(leaf) && leaf.kind == "identifier" && declares(leaf.parent))
        .map(name)
        .collect();
    let own: HashSet<String> =
        leaves.iter().filter(inside).filter(|leaf| declares(leaf.parent)).map(name).collect();
    leaves.iter().filter(inside).any(|leaf| {
        let word = syntax.word(leaf);
        leaf.kind == "identifier" && declared.contains(word) && !own.contains(word)
    })
}

/// Deletes a function and puts its statements into another one.
pub fn inline(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let functions = with_statements(&syntax, 2);
    let (at, into) = chance.pick(&functions)?.clone();
    let place = chance.pick(&into)?.start;
    put_into(world, path, &syntax, (at, place), chance)
}

/// Deletes a function and appends its statements to another one.
pub fn merge(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let functions = with_statements(&syntax, 2);
    let (at, into) = chance.pick(&functions)?.clone();
    let place = into[into.len() - 1].end;
    put_into(world, path, &syntax, (at, place), chance)
}

fn put_into(
    world: &mut World,
    path: &str,
    syntax: &Syntax,
    (at, place): (usize, usize),
    chance: &mut Chance,
) -> Option<Behaviour> {
    let functions = with_statements(syntax, 1);
    let (gone, theirs) = chance.pick(&functions)?.clone();
    let item = syntax.item(gone)?;
    // The larger function keeps its name. If a small function took in a large one, the result could count as either.
    let length = |at: usize| syntax.block(at).bytes.len();
    if gone == at || item.contains(&place) || item.end == place || length(gone) > length(at) {
        return None;
    }
    let taken = span(&theirs);
    let from = indent(&syntax.text, taken.start).to_owned();
    let to = indent(&syntax.text, line_start(&syntax.text, place.saturating_sub(1))).to_owned();
    world.touch(path, syntax.block(at));
    let file = world.file_mut(path);
    let piece = shifted(&file.slice(taken), &from, &to);
    let place = if place >= item.end { place - item.len() } else { place };
    file.cut(item);
    file.paste(place, piece);
    Some(Behaviour::Changed)
}
