//! Functions that the model writes, changes, formats and reads again without a parser, because it knows their form.

use std::collections::BTreeSet;

use crate::mutate::chance::Chance;

/// A function in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// The numbers of each statement; the first chooses the function that it calls.
    pub statements: Vec<Vec<u64>>,
    pub layout: Layout,
}

/// The width of the indentation, and whether lists are broken over lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub indent: usize,
    pub broken: bool,
}

impl Layout {
    pub const USUAL: Self = Self { indent: 4, broken: false };

    pub fn by_chance(chance: &mut Chance) -> Self {
        Self { indent: [2, 3, 4, 8][chance.below(4)], broken: chance.once_in(2) }
    }
}

const VERBS: [&str; 12] = [
    "open", "load", "sort", "send", "join", "trim", "mark", "fold", "pack", "scan", "wait", "sign",
];

/// Numbers that were not drawn before, so that no two texts are equal by chance.
#[derive(Clone, Debug, Default)]
pub struct Fresh(u64);

impl Fresh {
    pub fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0 + 100
    }

    pub fn statement(&mut self, chance: &mut Chance) -> Vec<u64> {
        vec![chance.draw() % 12, chance.draw() % 12, self.next(), chance.draw() % 90]
    }

    pub fn function(&mut self, chance: &mut Chance) -> Function {
        let name = format!("{}_{}", VERBS[chance.below(12)], self.next());
        let many = 3 + chance.below(4);
        let statements = (0..many).map(|_| self.statement(chance)).collect();
        Function { name, statements, layout: Layout::USUAL }
    }

    /// Returns the function with some of its statements changed.
    pub fn changed(&mut self, old: &Function, chance: &mut Chance) -> Function {
        let mut new = old.clone();
        let at = chance.below(new.statements.len());
        match chance.below(4) {
            0 => new.statements.insert(at, self.statement(chance)),
            1 if new.statements.len() > 3 => {
                new.statements.remove(at);
                let last = new.statements.len() - 1;
                new.statements[last][2] = self.next();
            }
            2 => new.statements[at] = self.statement(chance),
            _ => new.statements[at][2] = self.next(),
        }
        new
    }
}

impl Function {
    /// The text from the first word to the last bracket.
    pub fn text(&self, path: &str) -> String {
        let python = path.ends_with(".py");
        let indent = " ".repeat(self.layout.indent);
        let break_ = if self.layout.broken { format!("\n{indent}{indent}") } else { String::new() };
        let mut text = match python {
            true => format!("def {}(store):\n", self.name),
            false => format!("fn {}(store: &mut Store) -> u64 {{\n", self.name),
        };
        for statement in &self.statements {
            let (verb, noun) = (VERBS[statement[0] as usize], VERBS[statement[1] as usize]);
            let (first, second) = (statement[2], statement[3]);
            let end = if python { "" } else { ";" };
            text += &format!(
                "{indent}store.{verb}({break_}{first}, {break_}\"{noun}\", {second}){end}\n"
            );
        }
        text += &match python {
            true => format!("{indent}return store.count()"),
            false => format!("{indent}store.count()\n}}"),
        };
        text
    }

    /// Reads a text that [`Function::text`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let name = name_of(text)?.to_owned();
        let second = text.lines().nth(1)?;
        let indent = second.len() - second.trim_start().len();
        let body = text.split_once('\n')?.1;
        let statements: Option<Vec<Vec<u64>>> = body
            .split("store.")
            .skip(1)
            .filter(|call| !call.starts_with("count"))
            .map(statement)
            .collect();
        let broken = body.contains("(\n");
        Some(Self { name, statements: statements?, layout: Layout { indent, broken } })
    }
}

fn statement(call: &str) -> Option<Vec<u64>> {
    let number = |word: &str| VERBS.iter().position(|verb| *verb == word).map(|at| at as u64);
    let (verb, rest) = call.split_once('(')?;
    let mut parts = rest.split_once(')')?.0.split(',').map(str::trim);
    let first = parts.next()?.parse().ok()?;
    let noun = number(parts.next()?.trim_matches('"'))?;
    Some(vec![number(verb)?, noun, first, parts.next()?.parse().ok()?])
}

fn name_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("fn ").or_else(|| text.strip_prefix("def "))?;
    rest.split('(').next()
}

/// The first line of a function, a statement, or its last line, without white space. A statement may be broken over
/// several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub lines: Vec<String>,
}

impl Piece {
    /// Returns the text, by which the model knows it.
    pub fn key(&self) -> String {
        self.lines.concat()
    }

    /// Returns true if all of its lines are among these.
    pub fn is_in(&self, lines: &BTreeSet<String>) -> bool {
        self.lines.iter().all(|line| lines.contains(line))
    }

    pub fn is_last(&self) -> bool {
        self.lines[0].contains("store.count(")
    }
}

fn squeezed(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// Returns the lines of a text without white space.
pub fn squeezed_lines(text: &str) -> BTreeSet<String> {
    text.lines().map(squeezed).collect()
}

/// Divides a function. Lines that say nothing are left out.
pub fn pieces(function: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for line in function.lines() {
        let begins = ["fn ", "def ", "store.", "return "];
        let begins = begins.iter().any(|begin| line.trim_start().starts_with(begin));
        match pieces.last_mut() {
            _ if !line.contains(|letter: char| letter.is_alphanumeric()) => {}
            Some(piece) if !begins => piece.lines.push(squeezed(line)),
            _ => pieces.push(Piece { lines: vec![squeezed(line)] }),
        }
    }
    pieces
}

/// Returns the functions of a file as names and texts, or `None` if the file contains conflict markers of git.
pub fn functions(text: &str) -> Option<Vec<(String, String)>> {
    if text.contains("<<<<<<<") || text.contains(">>>>>>>") {
        return None;
    }
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = name_of(line) {
            found.push((name.to_owned(), String::new()));
        }
        let (_, function) = found.last_mut()?;
        function.push_str(line);
        function.push('\n');
    }
    for (_, function) in &mut found {
        function.truncate(function.trim_end().len());
    }
    Some(found)
}

/// Returns a file with these functions.
pub fn file<'a>(functions: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = functions.into_iter().collect();
    texts.join("\n\n") + "\n"
}
