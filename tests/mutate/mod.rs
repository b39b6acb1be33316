//! Mutations that know the right answer: they change code as people and tools do, and know for every block afterwards
//! which block it was before.
//!
//! Every byte remembers the innermost block in which it was ([`Traced`]), and a block is the one that the bytes of its
//! name belong to. No matching code is needed for that.

#![allow(dead_code, reason = "each test binary uses its own part")]

mod body;
pub mod chance;
pub mod corpus;
pub mod layout;
mod names;
mod places;
mod syntax;
mod traced;

use std::collections::{BTreeMap, BTreeSet};

use code::{Block, BlockKind, ContentHash, Document, Identity};

pub use chance::Chance;
pub use syntax::{Syntax, unnamed};
pub use traced::{Id, Origin, Traced};

/// A block before any mutation.
#[derive(Clone, Debug)]
pub struct Before {
    pub path: String,
    pub identity: Identity,
    pub content: ContentHash,
    pub tokens: u32,
    /// True if other blocks are inside this one.
    pub holds_others: bool,
}

/// Files, with the original block of each byte.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub files: BTreeMap<String, Traced>,
    pub before: Vec<Before>,
    /// The blocks that a mutation was about.
    pub touched: BTreeSet<Id>,
    names: usize,
}

impl World {
    pub fn new(files: &[(String, String)]) -> Self {
        let mut world = Self { names: 10 * files.len(), ..Self::default() };
        for (path, text) in files {
            let mut traced = Traced::new(text);
            // An outer block comes before its inner ones, so that the innermost one remains.
            let blocks = &Document::from_text(path, text).blocks().blocks;
            for (at, block) in blocks.iter().enumerate() {
                let id = Id::try_from(world.before.len()).expect("few blocks");
                traced.own(block.bytes.clone(), id);
                world.before.push(Before {
                    path: path.clone(),
                    identity: block.identity.clone(),
                    content: block.fingerprint.content.clone(),
                    tokens: block.fingerprint.token_count,
                    holds_others: blocks.iter().any(|other| other.container == Some(at)),
                });
            }
            world.files.insert(path.clone(), traced);
        }
        world
    }

    pub fn text(&self, path: &str) -> &str {
        self.files[path].text()
    }

    pub fn syntax(&self, path: &str) -> Option<Syntax> {
        Syntax::of(path, self.text(path))
    }

    /// Returns which original block a block really is.
    pub fn truth(&self, path: &str, block: &Block) -> Truth {
        let file = &self.files[path];
        if unnamed(block.identity.kind) {
            let of = |origin| match origin {
                Origin::Of(id) | Origin::CopyOf(id) => Some(id),
                Origin::New => None,
            };
            let any: BTreeSet<Id> = file.origins_of(block.bytes.clone()).filter_map(of).collect();
            return Truth::AnyOf(any);
        }
        match file.origin(block.name_bytes.start) {
            Origin::Of(id) => Truth::Is(id),
            Origin::CopyOf(id) if !self.stands(id) => Truth::CopyOf(id),
            Origin::CopyOf(_) | Origin::New => Truth::None,
        }
    }

    /// Returns true if a block is still in its original file.
    fn stands(&self, id: Id) -> bool {
        let path = &self.before[id as usize].path;
        let all = |file: &Traced| 0..file.text().len();
        self.files
            .get(path)
            .is_some_and(|file| file.origins_of(all(file)).any(|origin| origin == Origin::Of(id)))
    }

    /// Notes that a mutation works on a block, and so on all blocks inside it.
    fn touch(&mut self, path: &str, block: &Block) {
        for origin in self.files[path].origins_of(block.bytes.clone()) {
            if let Origin::Of(id) = origin {
                self.touched.insert(id);
            }
        }
    }

    fn file_mut(&mut self, path: &str) -> &mut Traced {
        self.files.get_mut(path).expect("a file of this world")
    }

    /// Returns a name that no file contains.
    fn new_name(&mut self, like: &str) -> String {
        const WORDS: [&str; 8] =
            ["gather", "settle", "outer", "renew", "sift", "weave", "carry", "probe"];
        self.names += 1;
        let word = WORDS[(self.names + like.len()) % WORDS.len()];
        match like.chars().next() {
            Some(first)
                if first.is_uppercase() && like.len() > 1 && like.to_uppercase() == like =>
            {
                format!("{}_{}", word.to_uppercase(), self.names)
            }
            Some(first) if first.is_uppercase() => {
                format!("{}{}{}", word[..1].to_uppercase(), &word[1..], self.names)
            }
            _ => format!("{word}_{}", self.names),
        }
    }

    /// Returns true if every file parses as well as in the other world.
    pub fn parses_like(&self, other: &World) -> bool {
        let error = |path: &str, text: &str| Document::from_text(path, text).blocks().has_error;
        self.files.iter().all(|(path, file)| {
            let same = other.files.get(path).is_some_and(|then| then.text() == file.text());
            same || !error(path, file.text())
        })
    }
}

/// The original block that a block really is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// This original block.
    Is(Id),
    /// Any of these. The text between definitions has no name, so its bytes decide.
    AnyOf(BTreeSet<Id>),
    /// A copy of a block that moved to another file or was deleted. It cannot be known which of the two is the copy.
    CopyOf(Id),
    /// No original block: it is new, or a copy.
    None,
}

/// The effect of a mutation on the behaviour of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behaviour {
    /// The behaviour is certainly the same.
    Kept,
    /// The behaviour is certainly different.
    Changed,
    /// The effect is not known.
    Unclear,
}

/// A random mutation of one file. It returns `None` if it finds nothing to change.
type Apply = fn(&mut World, &str, &mut Chance) -> Option<Behaviour>;

/// A kind of mutation.
pub struct Kind {
    pub name: &'static str,
    pub apply: Apply,
    /// The smallest share of the affected blocks that must be found again.
    pub floor: f64,
}

/// All kinds, in a fixed order.
pub const KINDS: &[Kind] = &[
    Kind { name: "rename", apply: names::rename, floor: 0.97 },
    Kind { name: "rename a shared name", apply: names::rename_shared, floor: 0.0 },
    Kind { name: "rename locals", apply: names::rename_local, floor: 0.97 },
    Kind { name: "swap names", apply: names::swap, floor: 0.0 },
    Kind { name: "indent otherwise", apply: layout::indent, floor: 0.97 },
    Kind { name: "wrap and join lines", apply: layout::wrap, floor: 0.97 },
    Kind { name: "blank lines", apply: layout::blank_lines, floor: 0.97 },
    Kind { name: "trailing commas", apply: layout::trailing_commas, floor: 0.97 },
    Kind { name: "quotes", apply: layout::quotes, floor: 0.97 },
    Kind { name: "braces on their own line", apply: layout::braces, floor: 0.97 },
    Kind { name: "rustfmt", apply: layout::rustfmt, floor: 0.97 },
    Kind { name: "comments", apply: layout::comments, floor: 0.97 },
    Kind { name: "move within the file", apply: places::reorder, floor: 0.97 },
    Kind { name: "shuffle the file", apply: places::shuffle, floor: 0.97 },
    Kind { name: "move to another container", apply: places::to_container, floor: 0.85 },
    Kind { name: "move to another file", apply: places::to_file, floor: 0.85 },
    Kind { name: "rename the file", apply: places::rename_file, floor: 0.85 },
    Kind { name: "delete", apply: places::delete, floor: 0.0 },
    Kind { name: "delete beside a sibling", apply: places::delete_twin, floor: 0.97 },
    Kind { name: "copy within the file", apply: places::copy, floor: 0.97 },
    Kind { name: "copy to another file", apply: places::copy_to_file, floor: 0.97 },
    Kind { name: "copy the file", apply: places::copy_file, floor: 0.97 },
    Kind { name: "operator", apply: body::operator, floor: 0.97 },
    Kind { name: "constant", apply: body::constant, floor: 0.97 },
    Kind { name: "removed guard", apply: body::remove_guard, floor: 0.95 },
    Kind { name: "removed statement", apply: body::remove_statement, floor: 0.95 },
    Kind { name: "new statement", apply: body::add_statement, floor: 0.95 },
    Kind { name: "statements in another order", apply: body::swap_statements, floor: 0.97 },
    Kind { name: "signature", apply: body::signature, floor: 0.95 },
    Kind { name: "another body", apply: body::rewrite, floor: 0.0 },
    Kind { name: "extract", apply: body::extract, floor: 0.90 },
    Kind { name: "inline", apply: body::inline, floor: 0.90 },
    Kind { name: "split", apply: body::split, floor: 0.0 },
    Kind { name: "merge", apply: body::merge, floor: 0.90 },
];

/// One mutation: its kind, and the seed of its random choices. If a step is left out, the others stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub kind: usize,
    pub seed: u64,
}

impl Step {
    /// Tries to apply the mutation to some file.
    pub fn apply(self, world: &mut World) -> Option<Behaviour> {
        let mut chance = Chance::new(self.seed);
        let paths: Vec<String> = world.files.keys().cloned().collect();
        for _ in 0..TRIES {
            let path = chance.pick(&paths)?;
            let mut after = world.clone();
            if let Some(behaviour) = (KINDS[self.kind].apply)(&mut after, path, &mut chance)
                && changed(world, &after)
                && after.parses_like(world)
            {
                *world = after;
                return Some(behaviour);
            }
        }
        None
    }

    pub fn name(self) -> &'static str {
        KINDS[self.kind].name
    }
}

/// The number of files that are tried before a mutation is given up.
const TRIES: usize = 6;

fn changed(before: &World, after: &World) -> bool {
    before.files.len() != after.files.len()
        || before
            .files
            .iter()
            .any(|(path, file)| after.files.get(path).is_none_or(|then| then.text() != file.text()))
}

fn is_type(kind: BlockKind) -> bool {
    use BlockKind::{Class, Enum, Impl, Interface, Module, Namespace, Struct, Trait, Union};
    matches!(kind, Class | Struct | Enum | Union | Trait | Interface | Impl | Module | Namespace)
}
