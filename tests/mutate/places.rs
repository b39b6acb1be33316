//! Moves, copies and deletions.

use std::ops::Range;

use super::{Behaviour, Chance, Syntax, Traced, World, is_type};

/// Moves a block to another place among its siblings.
pub fn reorder(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let (at, item) = some_item(&syntax, chance)?;
    let others: Vec<Range<usize>> = syntax
        .siblings(at)
        .into_iter()
        .filter(|other| *other != at)
        .filter_map(|other| syntax.item(other))
        .filter(|other| other.end <= item.start || item.end <= other.start)
        .collect();
    let target = chance.pick(&others)?.clone();
    world.touch(path, syntax.block(at));
    let end = if chance.once_in(2) { target.start } else { target.end };
    let place = if end >= item.end { end - item.len() } else { end };
    let file = world.file_mut(path);
    let piece = file.cut(item);
    paste(file, place, piece);
    Some(order_matters(syntax.language))
}

fn order_matters(language: &str) -> Behaviour {
    // The order of items has no meaning in these languages, and members of structs and enums are not moved, because
    // they are no blocks.
    match language {
        "rust" | "go" | "java" => Behaviour::Kept,
        _ => Behaviour::Unclear,
    }
}

/// Reorders all top-level blocks that have lines of their own.
pub fn shuffle(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let tops: Vec<usize> =
        syntax.named().into_iter().filter(|at| syntax.block(*at).container.is_none()).collect();
    let mut items: Vec<(usize, Range<usize>)> =
        tops.into_iter().filter_map(|at| Some((at, syntax.item(at)?))).collect();
    items.dedup_by(|later, earlier| later.1.start < earlier.1.end);
    if items.len() < 3 {
        return None;
    }
    for (at, _) in &items {
        world.touch(path, syntax.block(*at));
    }
    let file = world.file_mut(path);
    let pieces = items.iter().map(|(_, item)| file.slice(item.clone())).collect();
    let pieces: Vec<Traced> = chance.shuffled(pieces);
    for ((_, item), piece) in items.into_iter().zip(pieces).rev() {
        file.cut(item.clone());
        file.paste(item.start, piece);
    }
    Some(order_matters(syntax.language))
}

/// Moves a member to another type, or a function into a new module.
pub fn to_container(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let functions = syntax.functions();
    let with_item = |at: &usize| Some((*at, syntax.item(*at)?));
    let items: Vec<(usize, Range<usize>)> = functions.iter().filter_map(with_item).collect();
    let (at, item) = chance.pick(&items)?.clone();
    let block = syntax.block(at);
    let Some(container) = block.container else {
        return into_module(world, path, &syntax, (at, item));
    };
    let kind = syntax.block(container).identity.kind;
    let outer = syntax.block(container).container;
    let fits = |other: &&(usize, Range<usize>)| {
        let Some(theirs) = syntax.block(other.0).container else { return false };
        theirs != container
            && is_type(kind)
            && syntax.block(theirs).identity.kind == kind
            && syntax.block(theirs).container == outer
    };
    let targets: Vec<&(usize, Range<usize>)> = items.iter().filter(fits).collect();
    let target = chance.pick(&targets)?.1.start;
    world.touch(path, block);
    let place = if target >= item.end { target - item.len() } else { target };
    let file = world.file_mut(path);
    let piece = file.cut(item);
    paste(file, place, piece);
    Some(Behaviour::Unclear)
}

fn into_module(
    world: &mut World,
    path: &str,
    syntax: &Syntax,
    (at, item): (usize, Range<usize>),
) -> Option<Behaviour> {
    let (open, close) = match syntax.language {
        "rust" => ("mod NAME {\n", "}\n"),
        "javascript" | "typescript" => return None,
        "cpp" => ("namespace NAME {\n", "}\n"),
        _ => return None,
    };
    world.touch(path, syntax.block(at));
    let open = open.replace("NAME", &world.new_name("module"));
    let file = world.file_mut(path);
    file.insert_as(item.end, close, super::Origin::New);
    file.insert_as(item.start, &open, super::Origin::New);
    Some(Behaviour::Unclear)
}

/// Moves a block to another file of its language.
pub fn to_file(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let (at, item) = some_top_item(&syntax, chance)?;
    let (other, place) = place_elsewhere(world, path, syntax.language, chance)?;
    world.touch(path, syntax.block(at));
    let piece = world.file_mut(path).cut(item);
    paste(world.file_mut(&other), place, piece);
    Some(Behaviour::Unclear)
}

/// Draws another file of the language, and a place between its blocks.
fn place_elsewhere(
    world: &World,
    path: &str,
    language: &str,
    chance: &mut Chance,
) -> Option<(String, usize)> {
    let same = |other: &&String| {
        *other != path && world.syntax(other).is_some_and(|syntax| syntax.language == language)
    };
    let others: Vec<String> = world.files.keys().filter(same).cloned().collect();
    let other = chance.pick(&others)?.clone();
    let place = match some_top_item(&world.syntax(&other)?, chance) {
        Some((_, item)) if chance.once_in(2) => item.start,
        _ => world.text(&other).len(),
    };
    Some((other, place))
}

pub fn rename_file(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let (folder, name) = path.rsplit_once('/')?;
    let new = match chance.once_in(2) {
        true => format!("{folder}/deeper/{name}"),
        false => format!("{folder}/{}_{name}", world.new_name("file")),
    };
    if let Some(syntax) = world.syntax(path) {
        for at in syntax.named() {
            world.touch(path, syntax.block(at));
        }
    }
    let file = world.files.remove(path)?;
    world.files.insert(new, file);
    Some(Behaviour::Kept)
}

pub fn delete(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let (_, item) = some_item(&syntax, chance)?;
    world.file_mut(path).cut(item);
    Some(Behaviour::Changed)
}

/// Deletes one of two similar blocks, and leaves the other unchanged.
pub fn delete_twin(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let alike = |one: usize, other: usize| {
        let (one, other) = (&syntax.block(one).fingerprint, &syntax.block(other).fingerprint);
        one.sketch().similarity(other.sketch()) > 0.5
    };
    let mut pairs: Vec<(usize, Range<usize>)> = Vec::new();
    for at in syntax.named() {
        let twins: Vec<usize> = syntax
            .siblings(at)
            .into_iter()
            .filter(|other| *other != at && alike(at, *other))
            .collect();
        if let (Some(twin), Some(item)) = (chance.pick(&twins), syntax.item(at)) {
            pairs.push((*twin, item));
        }
    }
    let (twin, item) = chance.pick(&pairs)?.clone();
    world.touch(path, syntax.block(twin));
    world.file_mut(path).cut(item);
    Some(Behaviour::Changed)
}

/// Adds a copy of a block under another name.
pub fn copy(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let (at, item) = some_item(&syntax, chance)?;
    let name = syntax.block(at).name_bytes.clone();
    let old = syntax.text[name.clone()].to_owned();
    if !item.contains(&name.start) || old.contains(char::is_whitespace) {
        return None;
    }
    world.touch(path, syntax.block(at));
    let new = world.new_name(&old);
    let file = world.file_mut(path);
    let mut piece = file.copy(item.clone());
    piece.replace(name.start - item.start..name.end - item.start, &new);
    let place = if chance.once_in(2) { item.start } else { item.end };
    paste(file, place, piece);
    Some(Behaviour::Changed)
}

/// Adds an unchanged copy of a block in another file.
pub fn copy_to_file(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let (at, item) = some_top_item(&syntax, chance)?;
    let (other, place) = place_elsewhere(world, path, syntax.language, chance)?;
    world.touch(path, syntax.block(at));
    let piece = world.files[path].copy(item);
    paste(world.file_mut(&other), place, piece);
    Some(Behaviour::Changed)
}

pub fn copy_file(world: &mut World, path: &str, _: &mut Chance) -> Option<Behaviour> {
    let (folder, name) = path.rsplit_once('/')?;
    let file = &world.files[path];
    let copy = file.copy(0..file.text().len());
    let new = format!("{folder}/{}_{name}", world.new_name("file"));
    if let Some(syntax) = world.syntax(path) {
        for at in syntax.named() {
            world.touch(path, syntax.block(at));
        }
    }
    world.files.insert(new, copy);
    Some(Behaviour::Changed)
}

/// Adds functions that are very similar to existing ones, so that similar siblings must be distinguished.
pub fn with_twins(path: &str, text: &str, chance: &mut Chance) -> String {
    let mut world = World::new(&[(path.to_owned(), text.to_owned())]);
    for _ in 0..2 {
        let mut after = world.clone();
        if copy(&mut after, path, chance).is_some() && after.parses_like(&World::default()) {
            let mut changed = after.clone();
            let change =
                if chance.once_in(2) { super::body::operator } else { super::body::constant };
            if change(&mut changed, path, chance).is_some()
                && changed.parses_like(&World::default())
            {
                after = changed;
            }
            world = after;
        }
    }
    world.text(path).to_owned()
}

fn paste(file: &mut Traced, place: usize, mut piece: Traced) {
    let text = piece.text();
    if !text.ends_with('\n') {
        let end = text.len();
        piece.insert_as(end, "\n", super::Origin::New);
    }
    if place == file.text().len() && !file.text().is_empty() {
        let gap = if file.text().ends_with('\n') { "\n" } else { "\n\n" };
        piece.insert_as(0, gap, super::Origin::New);
    } else {
        let end = piece.text().len();
        piece.insert_as(end, "\n", super::Origin::New);
    }
    file.paste(place, piece);
}

fn some_item(syntax: &Syntax, chance: &mut Chance) -> Option<(usize, Range<usize>)> {
    let items: Vec<(usize, Range<usize>)> =
        syntax.named().into_iter().filter_map(|at| Some((at, syntax.item(at)?))).collect();
    chance.pick(&items).cloned()
}

fn some_top_item(syntax: &Syntax, chance: &mut Chance) -> Option<(usize, Range<usize>)> {
    let tops = syntax.named().into_iter().filter(|at| syntax.block(*at).container.is_none());
    let items: Vec<(usize, Range<usize>)> =
        tops.filter_map(|at| Some((at, syntax.item(at)?))).collect();
    chance.pick(&items).cloned()
}
