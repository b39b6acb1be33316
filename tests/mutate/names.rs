//! Renames.

use std::ops::Range;

use super::syntax::Leaf;
use super::{Behaviour, Chance, Syntax, World};

/// Gives a block another name, wherever it is used.
pub fn rename(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    renamed(world, path, chance, |bearers| bearers == 1)
}

/// Gives several blocks of the same name another one, like a method and those that override it.
pub fn rename_shared(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    renamed(world, path, chance, |bearers| bearers > 1)
}

fn renamed(
    world: &mut World,
    path: &str,
    chance: &mut Chance,
    such: fn(usize) -> bool,
) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let mut nameable = nameable(&syntax);
    let bearers =
        |name: &str| syntax.named().into_iter().filter(|at| syntax.block(*at).name == name).count();
    nameable.retain(|at| such(bearers(&syntax.block(*at).name)));
    let block = syntax.block(*chance.pick(&nameable)?);
    let old = syntax.text[block.name_bytes.clone()].to_owned();
    let new = world.new_name(&old);
    for at in syntax.named().into_iter().filter(|at| syntax.block(*at).name == old) {
        world.touch(path, syntax.block(at));
    }
    let language = syntax.language;
    let paths: Vec<String> = world.files.keys().cloned().collect();
    for path in paths {
        let Some(syntax) = world.syntax(&path).filter(|syntax| syntax.language == language) else {
            continue;
        };
        let uses = uses(&syntax, &old);
        world.file_mut(&path).replace_all(with(uses, &new));
    }
    Some(Behaviour::Unclear)
}

/// In a block with fewer tokens, the name is more than half of what identifies it.
const TELLING: u32 = 40;

/// Exchanges the names of two functions in a file, and keeps their bodies.
pub fn swap(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let large = |at: &usize| syntax.block(*at).fingerprint.token_count >= TELLING;
    let functions: Vec<usize> = syntax.functions().into_iter().filter(large).collect();
    let one = *chance.pick(&functions)?;
    // If both functions do nearly the same, the result could be a change of both bodies as well.
    let unlike = |at: &usize| {
        let [one, other] = [one, *at].map(|at| syntax.block(at).fingerprint.sketch());
        one.similarity(other) < 0.12
    };
    let mut others = syntax.siblings(one);
    others.retain(|at| functions.contains(at) && unlike(at));
    let (one, other) = (syntax.block(one), syntax.block(*chance.pick(&others)?));
    let word = |range: &Range<usize>| syntax.text[range.clone()].to_owned();
    let (first, second) = (word(&one.name_bytes), word(&other.name_bytes));
    if first == second || one.name.contains(' ') || other.name.contains(' ') {
        return None;
    }
    world.touch(path, one);
    world.touch(path, other);
    let edits = vec![(one.name_bytes.clone(), second), (other.name_bytes.clone(), first)];
    world.file_mut(path).replace_all(edits);
    Some(Behaviour::Changed)
}

/// Renames the local names of a function.
pub fn rename_local(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let block = syntax.block(*chance.pick(&syntax.functions())?).clone();
    let leaves = syntax.leaves_in(&block.bytes);
    let locals: Vec<String> = leaves
        .iter()
        .filter(|leaf| leaf.kind == "identifier" && declares(leaf.parent))
        .map(|leaf| syntax.word(leaf).to_owned())
        .filter(|word| word.len() > 1 && *word != block.name && word != "self" && word != "cls")
        .collect();
    let old = chance.pick(&locals)?.clone();
    let new = world.new_name(&old);
    world.touch(path, &block);
    let uses = leaves
        .into_iter()
        .filter(|leaf| leaf.kind == "identifier" && syntax.word(leaf) == old)
        .map(|leaf| leaf.bytes)
        .collect();
    world.file_mut(path).replace_all(with(uses, &new));
    Some(Behaviour::Unclear)
}

/// Returns true if an identifier directly in such a node declares a name.
pub fn declares(parent: &str) -> bool {
    matches!(
        parent,
        "let_declaration"
            | "parameter"
            | "parameters"
            | "variable_declarator"
            | "formal_parameters"
            | "formal_parameter"
            | "parameter_declaration"
            | "init_declarator"
            | "required_parameter"
            | "assignment"
            | "for_expression"
            | "closure_parameters"
            | "tuple_pattern"
    )
}

/// Returns the blocks whose name is a single word.
fn nameable(syntax: &Syntax) -> Vec<usize> {
    let word = |at: &usize| {
        let name = &syntax.text[syntax.block(*at).name_bytes.clone()];
        name.len() > 2
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && name != "main"
            && name != "__init__"
            && name != "constructor"
    };
    if matches!(syntax.language, "markdown" | "json" | "yaml" | "toml") {
        return Vec::new();
    }
    let impls = |at: &usize| syntax.block(*at).identity.kind.as_str() != "impl";
    syntax.named().into_iter().filter(word).filter(impls).collect()
}

fn uses(syntax: &Syntax, name: &str) -> Vec<Range<usize>> {
    let is = |leaf: &Leaf| {
        (leaf.kind.ends_with("identifier") || matches!(leaf.kind, "word" | "variable_name"))
            && syntax.word(leaf) == name
    };
    syntax.leaves().into_iter().filter(is).map(|leaf| leaf.bytes).collect()
}

fn with(ranges: Vec<Range<usize>>, text: &str) -> Vec<(Range<usize>, String)> {
    ranges.into_iter().map(|range| (range, text.to_owned())).collect()
}
