//! What the files outside of a change say of a name.
//!
//! A definition that got another name does what it did only if nobody else uses the old one, and nobody had the new
//! one: another file of the package, a class that overrides, a text that is looked up while the program runs.

use std::collections::HashSet;
use std::sync::Arc;

use crate::code::program::Name;
use crate::code::rows::called::REFLECTING;
use crate::code::rows::roles::Role;

use super::same::Resolved;
use super::units::File;
use super::{Lookup, SourceFile};

/// The names and texts of some files.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    names: HashSet<Arc<str>>,
    texts: HashSet<Arc<str>>,
    /// Nobody could tell what there is.
    unknown: bool,
}

impl Mentions {
    /// Every name of more than a local, and every text.
    pub(super) fn of(files: &[File<'_>]) -> Self {
        let mut all = Self::default();
        files.iter().for_each(|file| all.add(file));
        all
    }

    /// What files outside of a change say, those of them that hold one of the words.
    pub(super) fn elsewhere(wanted: &[&str], same: &[SourceFile<'_>], others: &Lookup<'_>) -> Self {
        let mut all = Self::default();
        if wanted.is_empty() {
            return all;
        }
        let holds = |text: &str| wanted.iter().any(|word| text.contains(word));
        for file in same {
            file.text
                .filter(|text| holds(text))
                .into_iter()
                .for_each(|text| all.read(file.path, text));
        }
        match others(wanted) {
            Some(found) => found.iter().for_each(|(path, text)| all.read(path, text)),
            None => all.unknown = true,
        }
        all
    }

    fn read(&mut self, path: &str, text: &str) {
        let file = File::of(path, text);
        let prose = [".md", ".txt", ".rst", ".adoc", ".log"].iter().any(|end| path.ends_with(end));
        match file.program {
            Some(_) => self.add(&file),
            None if prose => {}
            None => self.texts.extend(words(text)),
        }
    }

    fn add(&mut self, file: &File<'_>) {
        let reflects = REFLECTING.contains(&file.language());
        for unit in &file.units {
            let resolved = Resolved::of(&unit.tree, file.language());
            resolved.tree.visit(&mut |node| {
                let Some(text) = &node.text else { return };
                match node.name {
                    Name::Local(local) if resolved.names.may_rename(local) => {}
                    Name::Not => {
                        self.texts.insert(text.trim_matches(['"', '\'', '`']).into());
                        // What a macro of C holds is one text.
                        if reflects
                            || node.is_a(Role::PreprocArg)
                            || !text.contains(char::is_whitespace)
                        {
                            self.texts.extend(words(text));
                        }
                    }
                    _ => {
                        self.names.insert(text.clone());
                        if file.language() == "php" {
                            self.names.insert(any_case(text).into());
                        }
                    }
                }
            });
        }
    }

    /// Whether a name or a text is this.
    pub(super) fn has(&self, name: &str) -> bool {
        self.unknown
            || self.names.contains(name)
            || self.texts.contains(name)
            || self.names.contains(&*any_case(name))
    }

    /// Whether a text is this.
    pub(super) fn says(&self, name: &str) -> bool {
        self.texts.contains(name)
    }
}

/// A name in a language where functions are called in capitals as well.
fn any_case(name: &str) -> String {
    format!("\0{}", name.to_lowercase())
}

fn words(text: &str) -> impl Iterator<Item = Arc<str>> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(Arc::from)
}
