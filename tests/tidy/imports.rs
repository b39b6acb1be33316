//! Which file imports which, within one crate, as the tidy tests count circles.
//!
//! A path such as `super::git::Target` leads to the file that defines the item: re-exports (`pub use`) are followed. A
//! module that names what is below it does not count, because it only lists its parts. Code for tests does not count.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, crate_paths};

/// The modules of a crate. A module is named by its path from the root: `["git", "index"]`.
type Module = Vec<String>;

/// The files of one crate, each with the files that it imports. Or its folders with the folders that they import.
pub(crate) struct Imports {
    of: BTreeMap<Module, BTreeSet<Module>>,
}

impl Imports {
    /// The imports of the sources of a crate, whose `lib.rs` is in `folder`.
    pub(crate) fn of_crate(folder: &str, sources: &[Source]) -> Self {
        let module = |path: &str| {
            module_of(path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/'))
        };
        let mut files: BTreeMap<Module, String> = BTreeMap::new();
        let mut tests = Vec::new();
        for source in sources {
            tests.extend(source.test_modules().iter().map(|path| module(path)));
            files.insert(module(&source.path), source.code_without_tests().to_owned());
        }
        files.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        let names = Names::of(&files);
        let of = files.iter().map(|(module, code)| (module.clone(), names.imports(module, code)));
        Self { of: of.collect() }
    }

    /// Returns which folder imports which, among those in the same folder. A folder counts as one with its head file
    /// (`x/` and `x.rs`); a file without a folder stands for itself.
    fn between_folders(&self) -> Self {
        let mut of: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, imported) in &self.of {
            for other in imported {
                let shared = module.iter().zip(other).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (module.get(..=shared), other.get(..=shared)) {
                    of.entry(from.to_vec()).or_default().insert(to.to_vec());
                }
            }
        }
        Self { of }
    }

    /// Returns the circles: the largest sets of files in which each imports every other, directly or through others.
    pub(crate) fn circles(&self) -> Vec<Vec<String>> {
        let reach: BTreeMap<&Module, BTreeSet<&Module>> =
            self.of.keys().map(|module| (module, self.reached_from(module))).collect();
        let mut found: Vec<Vec<String>> = Vec::new();
        let mut seen: BTreeSet<&Module> = BTreeSet::new();
        for module in self.of.keys() {
            let circle: Vec<&Module> = reach[module]
                .iter()
                .filter(|other| reach.get(*other).is_some_and(|reach| reach.contains(module)))
                .copied()
                .collect();
            if circle.len() > 1 && seen.insert(circle[0]) {
                found.push(circle.iter().map(|module| module.join("/")).collect());
            }
        }
        found.sort_by_key(Vec::len);
        found
    }

    /// Returns the circles of [`Self::between_folders`] with a folder among them. Those of files alone are in
    /// [`Self::circles`].
    pub(crate) fn circles_of_folders(&self) -> Vec<Vec<String>> {
        let is_folder = |name: &String| {
            let inside = format!("{name}/");
            self.of.keys().any(|module| module.join("/").starts_with(&inside))
        };
        let mut circles = self.between_folders().circles();
        circles.retain(|circle| circle.iter().any(is_folder));
        circles
    }

    fn reached_from(&self, module: &Module) -> BTreeSet<&Module> {
        let (mut reached, mut ahead) = (BTreeSet::new(), vec![module]);
        while let Some(next) = ahead.pop() {
            for imported in self.of.get(next).into_iter().flatten() {
                if reached.insert(imported) {
                    ahead.push(imported);
                }
            }
        }
        reached
    }
}

fn module_of(path: &str) -> Module {
    let path = path.trim_end_matches('/').trim_end_matches(".rs");
    let mut module: Module = path.split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    module
}

/// What the modules of a crate re-export.
struct Names<'a> {
    files: &'a BTreeMap<Module, String>,
    /// For each module, what it re-exports under which name, as a path from the root.
    exported: BTreeMap<&'a Module, BTreeMap<String, Module>>,
}

impl<'a> Names<'a> {
    fn of(files: &'a BTreeMap<Module, String>) -> Self {
        let mut exported = BTreeMap::new();
        for (module, code) in files {
            let uses = crate_paths(code).into_iter().filter(|path| path.is_export);
            let names = uses.filter_map(|path| {
                let whole = from_root(files, module, &path.words)?;
                Some((path.name, whole))
            });
            exported.insert(module, names.collect());
        }
        Self { files, exported }
    }

    fn imports(&self, module: &Module, code: &str) -> BTreeSet<Module> {
        let paths = crate_paths(code).into_iter();
        let files = paths
            .filter_map(|path| self.defining_file(from_root(self.files, module, &path.words)?));
        files.filter(|file| file != module && !file.starts_with(module)).collect()
    }

    /// Returns the module whose file defines what a path from the root names.
    fn defining_file(&self, mut path: Module) -> Option<Module> {
        // A chain of re-exports has few links; more would be a circle of them.
        for _ in 0..8 {
            let length = (0..=path.len()).rev().find(|at| self.files.contains_key(&path[..*at]))?;
            let (module, rest) = path.split_at(length);
            let known = self.exported.get(&module.to_vec());
            let next = rest.first().and_then(|name| Some((known?.get(name)?, &rest[1..])));
            match next {
                Some((whole, below)) => path = [whole, below].concat(),
                None => return Some(module.to_vec()),
            }
        }
        None
    }
}

/// Returns a path of a module as a path from the root of the crate. `None` if it leads to another crate.
fn from_root(
    files: &BTreeMap<Module, String>,
    module: &Module,
    words: &[String],
) -> Option<Module> {
    let mut base = module.clone();
    let mut rest = words;
    match rest.first()?.as_str() {
        "crate" => return Some(rest[1..].to_vec()),
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|word| word == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        first => {
            base.push(first.to_owned());
            if !files.contains_key(&base) {
                return None;
            }
            rest = &rest[1..];
        }
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

#[test]
fn imports_are_found_through_re_exports() {
    let files: BTreeMap<Module, String> = [
        ("lib.rs", "mod a; mod b; pub use a::Thing;"),
        ("a.rs", "use crate::b::Other; pub struct Thing;"),
        ("b.rs", "use super::Thing; pub struct Other;"),
    ]
    .map(|(path, code)| (module_of(path), code.to_owned()))
    .into();
    let names = Names::of(&files);
    let imports = |path| names.imports(&module_of(path), &files[&module_of(path)]);
    assert_eq!(imports("b.rs"), [module_of("a.rs")].into());
    assert_eq!(imports("a.rs"), [module_of("b.rs")].into());
    assert_eq!(imports("lib.rs"), BTreeSet::new());
    let of = files.keys().map(|module| (module.clone(), names.imports(module, &files[module])));
    let circles = Imports { of: of.collect() }.circles();
    assert_eq!(circles, [vec!["a".to_owned(), "b".to_owned()]]);
}

#[test]
fn a_folder_imports_what_its_files_import() {
    let sources = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod c; mod d;"),
        ("a/c.rs", "use crate::b; use super::d::E;"),
        ("a/d.rs", "pub struct E;"),
        ("b.rs", "use crate::a::d;"),
    ]
    .map(|(path, code)| Source::new(&format!("src/{path}"), code));
    let imports = Imports::of_crate("src", &sources);
    assert_eq!(imports.circles(), [[""; 0]; 0]);
    assert_eq!(imports.circles_of_folders(), [["a", "b"]]);
}
