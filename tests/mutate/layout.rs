//! What formatters do, with unusual settings.

use std::io::Write;
use std::ops::Range;
use std::process::{Command, Stdio};

use super::syntax::{Leaf, line_end, line_start};
use super::{Behaviour, Chance, Origin, Syntax, Traced, World};

/// Changes the width of the indentation, to tabs, or to nothing if the language allows that.
pub fn indent(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let settings: &[&str] = match syntax.language {
        "rust" | "c" | "cpp" | "java" | "javascript" | "typescript" | "tsx" | "go" | "json" => {
            &["", " ", "  ", "        ", "\t", "\t\t"]
        }
        "python" => &["  ", "   ", "\t", "        "],
        _ => return None,
    };
    let unit = if syntax.text.contains("\n\t") { "\t" } else { smallest_indent(&syntax.text)? };
    let new = *chance.pick(settings)?;
    let literals = syntax.literals();
    let mut edits = Vec::new();
    let mut start = 0;
    for line in syntax.text.split_inclusive('\n') {
        let white = line.len() - line.trim_start_matches([' ', '\t']).len();
        let inside = literals.iter().any(|literal| literal.start < start && start < literal.end);
        if white > 0 && !inside && !line.trim().is_empty() {
            let depth = line[..white].matches(unit).count();
            let odd = &line[..white][depth * unit.len()..];
            edits.push((start..start + white, format!("{}{odd}", new.repeat(depth))));
        }
        start += line.len();
    }
    touch_functions(world, path, &syntax);
    world.file_mut(path).replace_all(edits);
    Some(Behaviour::Kept)
}

fn smallest_indent(text: &str) -> Option<&str> {
    let widths = text.lines().filter(|line| line.starts_with(' ') && !line.trim().is_empty());
    widths
        .map(|line| &line[..line.len() - line.trim_start_matches(' ').len()])
        .filter(|white| white.len() > 1)
        .min_by_key(|white| white.len())
}

/// Breaks lists over several lines, and joins lists that are broken.
pub fn wrap(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    if matches!(syntax.language, "markdown" | "yaml" | "toml" | "bash") {
        return None;
    }
    let literals = syntax.literals();
    let inside = |at: usize| literals.iter().any(|it| it.start <= at && at < it.end);
    let leaves = syntax.leaves();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for pair in leaves.windows(2) {
        let gap = pair[0].bytes.end..pair[1].bytes.start;
        let comment = pair.iter().any(|leaf| leaf.kind.contains("comment"));
        if comment || inside(pair[0].bytes.start) || inside(pair[1].bytes.start) {
            continue;
        }
        let text = &syntax.text[gap.clone()];
        if !text.trim().is_empty() || !in_brackets(&pair[0]) || !chance.once_in(3) {
            continue;
        }
        let word = syntax.word(&pair[0]);
        if text.contains('\n') && (word == "," || word == "(") {
            edits.push((gap, if word == "," { " ".into() } else { String::new() }));
        } else if word == "," {
            edits.push((gap, "\n            ".into()));
        }
    }
    if edits.is_empty() {
        return None;
    }
    touch_edited(world, path, &syntax, &edits);
    world.file_mut(path).replace_all(edits);
    Some(Behaviour::Kept)
}

fn in_brackets(leaf: &Leaf) -> bool {
    ["argument", "parameter", "array", "tuple", "list"]
        .iter()
        .any(|part| leaf.parent.contains(part))
        && leaf.parent != "parameter_declaration"
}

/// Adds blank lines between statements, and removes some between blocks.
pub fn blank_lines(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for at in syntax.functions() {
        for statement in syntax.statements(at) {
            if chance.once_in(4) {
                edits.push((statement.start..statement.start, "\n".into()));
            }
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    edits.dedup_by_key(|(range, _)| range.start);
    if edits.is_empty() {
        return None;
    }
    touch_edited(world, path, &syntax, &edits);
    world.file_mut(path).replace_all(edits);
    Some(Behaviour::Kept)
}

/// Adds or removes commas before closing brackets, if they have no meaning there.
pub fn trailing_commas(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let lists: &[&str] = match syntax.language {
        "rust" => &["arguments", "parameters", "array_expression", "field_initializer_list"],
        "python" => &["argument_list", "parameters", "list", "dictionary"],
        "javascript" | "typescript" | "tsx" => {
            &["arguments", "formal_parameters", "array", "object"]
        }
        _ => return None,
    };
    let leaves = syntax.leaves();
    let mut edits = Vec::new();
    for pair in leaves.windows(2) {
        let closes = matches!(syntax.word(&pair[1]), ")" | "]" | "}");
        let comment = pair[0].kind.contains("comment");
        if !closes || comment || !lists.contains(&pair[1].parent) || !chance.once_in(2) {
            continue;
        }
        let word = syntax.word(&pair[0]);
        if word == "," && pair[0].parent == pair[1].parent {
            edits.push((pair[0].bytes.clone(), String::new()));
        } else if !matches!(word, "(" | "[" | "{") && !spreads(&syntax, &pair[0]) {
            edits.push((pair[0].bytes.end..pair[0].bytes.end, ",".into()));
        }
    }
    if edits.is_empty() {
        return None;
    }
    touch_edited(world, path, &syntax, &edits);
    world.file_mut(path).replace_all(edits);
    Some(Behaviour::Unclear)
}

/// A comma after `...rest`, `*args` or a generator is an error or changes the meaning.
fn spreads(syntax: &Syntax, leaf: &Leaf) -> bool {
    let line = &syntax.text[line_start(&syntax.text, leaf.bytes.start)..leaf.bytes.end];
    line.contains("...") || line.contains('*') || line.contains(" for ")
}

/// Writes `'a'` for `"a"`, and the other way round.
pub fn quotes(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    if !matches!(syntax.language, "python" | "javascript" | "typescript" | "tsx") {
        return None;
    }
    let to = if chance.once_in(2) { "\"" } else { "'" };
    let from = if to == "'" { "\"" } else { "'" };
    let mut edits = Vec::new();
    for range in syntax.literals() {
        let text = &syntax.text[range.clone()];
        let plain = text.len() >= 2
            && text.starts_with(from)
            && text.ends_with(from)
            && !text[1..text.len() - 1].contains(['"', '\'', '\\', '\n']);
        if plain {
            edits.push((range.start..range.start + 1, to.to_owned()));
            edits.push((range.end - 1..range.end, to.to_owned()));
        }
    }
    if edits.is_empty() {
        return None;
    }
    touch_edited(world, path, &syntax, &edits);
    world.file_mut(path).replace_all(edits);
    Some(Behaviour::Kept)
}

/// Moves opening braces to lines of their own, or back.
pub fn braces(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    if !matches!(syntax.language, "rust" | "c" | "cpp" | "java") {
        return None;
    }
    let literals = syntax.literals();
    let inside = |at: usize| literals.iter().any(|it| it.start <= at && at < it.end);
    let bodies = ["block", "compound_statement", "declaration_list", "class_body"];
    let mut edits = Vec::new();
    for pair in syntax.leaves().windows(2) {
        let opens = syntax.word(&pair[1]) == "{" && bodies.contains(&pair[1].parent);
        let gap = pair[0].bytes.end..pair[1].bytes.start;
        let comment = pair[0].kind.contains("comment");
        if opens && !comment && !inside(pair[1].bytes.start) && chance.once_in(2) {
            let own = syntax.text[gap.clone()].contains('\n');
            edits.push((gap, if own { " ".to_owned() } else { "\n".to_owned() }));
        }
    }
    if edits.is_empty() {
        return None;
    }
    touch_edited(world, path, &syntax, &edits);
    world.file_mut(path).replace_all(edits);
    Some(Behaviour::Kept)
}

/// Adds or removes comments inside functions.
pub fn comments(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path)?;
    let mark = match syntax.language {
        "python" | "bash" => "# ",
        "markdown" | "json" | "yaml" | "toml" => return None,
        "c" => "/* ",
        _ => "// ",
    };
    let end = if mark == "/* " { " */" } else { "" };
    let block = *chance.pick(&syntax.functions())?;
    let statements = syntax.statements(block);
    let statement = chance.pick(&statements)?.clone();
    let indent = super::syntax::indent(&syntax.text, statement.start).to_owned();
    world.touch(path, syntax.block(block));
    let comment = format!("{indent}{mark}as it was agreed in step {}{end}\n", chance.below(90));
    world.file_mut(path).replace(statement.start..statement.start, &comment);
    Some(Behaviour::Kept)
}

/// Returns true if rustfmt is installed.
pub fn rustfmt_is_there() -> bool {
    Command::new("rustfmt").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs rustfmt with unusual settings.
pub fn rustfmt(world: &mut World, path: &str, chance: &mut Chance) -> Option<Behaviour> {
    let syntax = world.syntax(path).filter(|syntax| syntax.language == "rust")?;
    let settings = format!(
        "max_width={},tab_spaces={},hard_tabs={},reorder_imports=false,reorder_modules=false,\
         use_small_heuristics={},fn_params_layout={},force_explicit_abi=false,match_block_trailing_comma={}",
        [50, 70, 100, 160][chance.below(4)],
        [2, 3, 4, 8][chance.below(4)],
        chance.once_in(3),
        ["Off", "Max", "Default"][chance.below(3)],
        ["Tall", "Vertical", "Compressed"][chance.below(3)],
        chance.once_in(2),
    );
    let formatted = formatted(&syntax.text, &settings)?;
    let laid_out = world.files[path].laid_out(&formatted)?;
    touch_functions(world, path, &syntax);
    *world.file_mut(path) = laid_out;
    Some(Behaviour::Kept)
}

fn formatted(text: &str, settings: &str) -> Option<String> {
    let mut formatter = Command::new("rustfmt")
        .args(["--edition", "2021", "--config", settings])
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = formatter.stdin.take()?;
    let given = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(given.as_bytes()));
    let output = formatter.wait_with_output().ok()?;
    writer.join().ok()?.ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok())?
}

fn touch_functions(world: &mut World, path: &str, syntax: &Syntax) {
    for at in syntax.functions() {
        world.touch(path, syntax.block(at));
    }
}

fn touch_edited(world: &mut World, path: &str, syntax: &Syntax, edits: &[(Range<usize>, String)]) {
    for at in syntax.named() {
        let block = syntax.block(at);
        if edits.iter().any(|(edit, _)| block.bytes.contains(&edit.start)) {
            world.touch(path, block);
        }
    }
}

/// Returns lines indented for another place.
pub fn shifted(piece: &Traced, from: &str, to: &str) -> Traced {
    let mut shifted = piece.clone();
    let mut at = 0;
    while at < shifted.text().len() {
        if shifted.text()[at..].starts_with(from) {
            let origin = shifted.origin(at + from.len());
            shifted.cut(at..at + from.len());
            let blank = shifted.text()[at..line_end(shifted.text(), at)].trim().is_empty();
            if !blank {
                shifted.insert_as(at, to, if to.is_empty() { Origin::New } else { origin });
            }
        }
        at = line_end(shifted.text(), at);
    }
    shifted
}
