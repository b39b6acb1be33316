//! Divides a file into the units that are compared: each definition with everything that belongs to
//! it (decorators, attributes, `export`), containers without their members, and the file without
//! its definitions.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use code::language_tables::roles::{Role, made};
use code::program::{Comment, Program, Tree};
use code::{BlockKind, Document, Identity};

use super::pairs::Id;
use super::public;
use super::statements::{OrderMeaning, is_import, meaning_of_statement};

pub(super) struct File<'a> {
    pub path: &'a str,
    pub text: String,
    pub program: Option<Program>,
    pub units: Vec<Unit>,
    comments: HashMap<usize, Comments>,
}

#[derive(Clone, Debug)]
pub(super) enum ContainerMember {
    Unit(usize),
    /// Other code, as the texts of its tokens, and what its position means.
    Other(String, OrderMeaning),
    /// The members up to the next `End` are in a statement, such as `#if` or `if`.
    Begin(OrderMeaning),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The identity of the block. `None` for the file itself.
    pub identity: Option<Identity>,
    pub name: String,
    /// The index of the unit that contains this one. At the top level this is the file's own unit.
    pub container: Option<usize>,
    pub bytes: Range<usize>,
    pub tree: Tree,
    pub members: Vec<ContainerMember>,
}

impl Unit {
    pub(super) fn block_kind(&self) -> Option<BlockKind> {
        self.identity.as_ref().map(|identity| identity.kind)
    }

    pub(super) fn kind(&self) -> &'static str {
        self.block_kind().map_or("file", BlockKind::as_str)
    }

    pub(super) fn is_function(&self) -> bool {
        matches!(self.block_kind(), Some(BlockKind::Function | BlockKind::Method))
    }
}

fn is_container(kind: BlockKind) -> bool {
    use BlockKind::{Class, Enum, Impl, Interface, Module, Namespace, Struct, Trait, Union};
    matches!(kind, Class | Struct | Enum | Union | Trait | Interface | Impl | Module | Namespace)
}

impl<'a> File<'a> {
    pub(super) fn from_document(path: &'a str, document: &Document) -> Self {
        let text = document.text();
        // What `.gitattributes` declares as generated is compared all the same.
        let program = match document.is_declared_generated() {
            true => Program::from_document(&Document::from_text(path, &text), &text),
            false => Program::from_document(document, &text),
        };
        let units = program.as_ref().map(units).unwrap_or_default();
        let comments = program.as_ref().map(|program| comments(&text, program, &units));
        Self { path, text, program, units, comments: comments.unwrap_or_default() }
    }

    pub(super) fn language(&self) -> &'static str {
        self.program.as_ref().map_or("", |program| program.language.id)
    }

    /// Returns the comments that belong to a unit but to no unit inside it: all texts, and the
    /// directives together with what follows them.
    pub(super) fn comments(&self, unit: usize) -> &Comments {
        static NONE: Comments = (Vec::new(), Vec::new());
        self.comments.get(&unit).unwrap_or(&NONE)
    }
}

/// Returns the folder of a path. Empty for a file at the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn all_units<'f, 'a>(
    files: &'f [File<'a>],
) -> impl Iterator<Item = (Id, &'f File<'a>, &'f Unit)> {
    files.iter().enumerate().flat_map(|(at, file)| {
        let units = file.units.iter().enumerate();
        units.map(move |(unit, one)| ((at, unit), file, one))
    })
}

/// The texts of all comments, and those of the directives among them.
type Comments = (Vec<String>, Vec<String>);

fn comments(text: &str, program: &Program, units: &[Unit]) -> HashMap<usize, Comments> {
    let mut found: HashMap<usize, Comments> = HashMap::new();
    // The units that contain the present comment, outermost first. Units are ordered by their start.
    let mut around: Vec<usize> = Vec::new();
    let mut next = 0;
    let visible = VisibleDocs::from_program(program);
    for comment in &program.comments {
        while units.get(next).is_some_and(|unit| unit.bytes.start <= comment.bytes.start) {
            around.retain(|at| units[*at].bytes.end >= units[next].bytes.end);
            around.push(next);
            next += 1;
        }
        around.retain(|at| *at == 0 || units[*at].bytes.end > comment.bytes.start);
        let inner = around.iter().rev().find(|at| comment.bytes.end <= units[**at].bytes.end);
        let Some(unit) = inner.copied() else { continue };
        let (all, directives) = found.entry(unit).or_default();
        let said = &text[comment.bytes.clone()];
        let before = units[next..].iter().find(|one| one.container == Some(unit));
        let acts =
            comment.directive || visible.has_comment(said, comment, [Some(&units[unit]), before]);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if acts {
            let place = match units[unit].is_function() {
                true => tokens_before(&units[unit].tree, comment.bytes.start).to_string(),
                false => {
                    // Some tools read a comment only in the first lines of a file, as Docker reads
                    // `# syntax=` in the first one.
                    let line = text[..comment.bytes.start].lines().take(3).count();
                    format!("{line} {}", before.map_or("", |one| &one.name))
                }
            };
            directives.push(format!("{said}\0{place}"));
        }
        all.push(said);
    }
    found
}

fn tokens_before(tree: &Tree, end: usize) -> usize {
    tree.tokens().iter().take_while(|token| token.bytes.start < end).count()
}

/// Rust doc comments that a macro receives as attributes, so that they affect the program. For
/// example, `clap` prints them as help.
struct VisibleDocs {
    macros: Vec<Range<usize>>,
    rust: bool,
}

impl VisibleDocs {
    fn from_program(program: &Program) -> Self {
        let rust = program.language.id == "rust";
        let macros = program.tree.nodes_with(|node| rust && node.is_a(Role::MacroInvocation));
        Self { macros: macros.into_iter().map(|node| node.bytes.clone()).collect(), rust }
    }

    fn has_comment(&self, said: &str, comment: &Comment, near: [Option<&Unit>; 2]) -> bool {
        let doc = ["///", "//!", "/**", "/*!"].iter().any(|opener| said.starts_with(opener));
        let at = comment.bytes.start;
        let derived = |unit: &Unit| {
            unit.identity.is_some() && !unit.is_function() && public::is_read_by_name(&unit.tree)
        };
        self.rust
            && doc
            && (self.macros.iter().any(|bytes| bytes.contains(&at))
                || near.into_iter().flatten().any(derived))
    }
}

struct UnitSplitter<'a> {
    program: &'a Program,
    units: Vec<Unit>,
    unit_blocks: HashSet<usize>,
}

fn units(program: &Program) -> Vec<Unit> {
    let blocks = &program.blocks.blocks;
    let mut unit_blocks = HashSet::new();
    for (at, block) in blocks.iter().enumerate() {
        let free = block.container.is_none_or(|outer| {
            unit_blocks.contains(&outer) && is_container(blocks[outer].identity.kind)
        });
        if free && block.identity.kind != BlockKind::Region {
            unit_blocks.insert(at);
        }
    }
    let mut splitter = UnitSplitter { program, units: Vec::new(), unit_blocks };
    let whole = program.tree.bytes.clone();
    splitter.units.push(Unit {
        identity: None,
        name: String::new(),
        container: None,
        bytes: 0..whole.end.max(program.comments.last().map_or(0, |last| last.bytes.end)),
        tree: program.tree.shallow(),
        members: Vec::new(),
    });
    let tops = splitter.inside(None);
    splitter.units[0].tree = splitter.without_blocks(&program.tree, &tops, 0);
    splitter.units
}

impl UnitSplitter<'_> {
    fn inside(&self, container: Option<usize>) -> Vec<usize> {
        let blocks = &self.program.blocks.blocks;
        (0..blocks.len())
            .filter(|at| self.unit_blocks.contains(at) && blocks[*at].container == container)
            .collect()
    }

    /// Returns the node without those items that each hold one of the blocks. The items become
    /// units.
    fn without_blocks(&mut self, node: &Tree, blocks: &[usize], owner: usize) -> Tree {
        let mut kept = Vec::new();
        let mut attached: Vec<&Tree> = Vec::new();
        let holds = |child: &Tree, block: &usize| {
            let bytes = &self.program.blocks.blocks[*block].bytes;
            child.bytes.start <= bytes.start && bytes.end <= child.bytes.end
        };
        let held: Vec<Vec<usize>> = node
            .children
            .iter()
            .map(|child| blocks.iter().filter(|block| holds(child, block)).copied().collect())
            .collect();
        for (child, held) in node.children.iter().zip(held) {
            match &held[..] {
                [] if child.is_a(Role::Attached) => {
                    attached.push(child);
                    continue;
                }
                [] => {
                    let mut child = child.clone();
                    let leads = attached.drain(..).cloned();
                    match is_import(&child) {
                        true => drop(child.children.splice(0..0, leads)),
                        false => kept.extend(leads),
                    }
                    // Ruby's `private` is a name only.
                    if child.text.is_none() || child.is_a(Role::Name) {
                        self.push_others(&child, owner);
                    }
                    kept.push(child);
                }
                [one] if is_item(child) => {
                    let unit = self.unit(child, &attached, *one, owner);
                    attached.clear();
                    self.units[owner].members.push(ContainerMember::Unit(unit));
                }
                _ => {
                    kept.extend(attached.drain(..).cloned());
                    let meaning = meaning_of_statement(child, self.program.language.id);
                    self.units[owner].members.push(ContainerMember::Begin(meaning));
                    kept.push(self.without_blocks(child, &held, owner));
                    self.units[owner].members.push(ContainerMember::End);
                }
            }
        }
        kept.extend(attached.into_iter().cloned());
        let mut tree = node.shallow();
        tree.children = kept;
        tree
    }

    /// Adds a statement to the members of its owner, or the single imports of a Go declaration.
    fn push_others(&mut self, statement: &Tree, owner: usize) {
        let mut parts = statement.nodes_with(|node| node.is_a(Role::ImportSpec));
        if parts.is_empty() {
            parts.push(statement);
        }
        let meaning = |part: &Tree| meaning_of_statement(part, self.program.language.id);
        let others =
            parts.into_iter().map(|p| ContainerMember::Other(p.joined_tokens(), meaning(p)));
        self.units[owner].members.extend(others);
    }

    fn unit(&mut self, item: &Tree, attached: &[&Tree], block: usize, owner: usize) -> usize {
        let found = &self.program.blocks.blocks[block];
        let start = attached.first().map_or(item.bytes.start, |first| first.bytes.start);
        let bytes = start..item.bytes.end;
        let at = self.units.len();
        self.units.push(Unit {
            identity: Some(found.identity.clone()),
            name: found.name.clone(),
            container: Some(owner),
            bytes: bytes.clone(),
            tree: item.shallow(),
            members: Vec::new(),
        });
        let inner = is_container(found.identity.kind).then(|| self.inside(Some(block)));
        let mut tree = match inner.filter(|inner| !inner.is_empty()) {
            Some(inner) => self.without_blocks(item, &inner, at),
            None => item.clone(),
        };
        if !attached.is_empty() {
            let mut children: Vec<Tree> = attached.iter().map(|one| (*one).clone()).collect();
            tree.field = None;
            children.push(tree);
            tree = Tree::node(made::WITH_ATTRIBUTES, None, bytes, children);
        }
        self.units[at].tree = tree;
        at
    }
}

fn is_item(node: &Tree) -> bool {
    !node.is_a(Role::List) && node.field != Some("body")
}
