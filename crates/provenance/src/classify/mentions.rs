//! Finds out whether files outside a change mention a name.
//!
//! A renamed definition does the same as before only if no other code uses the old name, and no
//! other code already had the new one: another file of the package, a class that overrides a
//! method, or a text that is looked up at run time.

use std::collections::HashSet;
use std::sync::Arc;

use code::language_tables::framework_names::REFLECTIVE_LANGUAGES;
use code::language_tables::roles::Role;
use code::program::{NameKind, words_in};

use super::same::Resolved;
use super::units::File;
use code::Document;

use super::Lookup;

#[derive(Debug, Default)]
pub(super) struct Mentions {
    names: HashSet<Arc<str>>,
    texts: HashSet<Arc<str>>,
    unknown: bool,
}

impl Mentions {
    pub(super) fn from_files(files: &[File<'_>]) -> Self {
        let mut all = Self::default();
        files.iter().for_each(|file| all.add_file(file));
        all
    }

    /// Collects the names and texts of those files outside a change that contain one of the words.
    pub(super) fn outside_change(
        wanted: &[&str],
        same: &[(&str, &Document)],
        others: &Lookup<'_>,
    ) -> Self {
        let mut all = Self::default();
        if wanted.is_empty() {
            return all;
        }
        let holds = |text: &str| wanted.iter().any(|word| text.contains(word));
        let held = same.iter().filter(|(_, document)| holds(&document.text()));
        held.for_each(|(path, document)| all.read(path, document));
        match others(wanted) {
            Some(found) => found.iter().for_each(|(path, text)| {
                all.read(path, &Document::from_text(path, text));
            }),
            None => all.unknown = true,
        }
        all
    }

    fn read(&mut self, path: &str, document: &Document) {
        let file = File::from_document(path, document);
        let prose = [".md", ".txt", ".rst", ".adoc", ".log"].iter().any(|end| path.ends_with(end));
        match file.program {
            Some(_) => self.add_file(&file),
            None if prose => {}
            None => self.texts.extend(words_in(&file.text).map(Arc::from)),
        }
    }

    fn add_file(&mut self, file: &File<'_>) {
        let reflects = REFLECTIVE_LANGUAGES.contains(&file.language());
        for unit in &file.units {
            let resolved = Resolved::of_tree(&unit.tree, file.language());
            resolved.tree.visit(&mut |node| {
                let Some(text) = &node.text else { return };
                match node.name {
                    NameKind::Local(local) if resolved.names.may_rename(local) => {}
                    NameKind::Not => {
                        self.texts.insert(text.trim_matches(['"', '\'', '`']).into());
                        let is_word = !text.contains(char::is_whitespace);
                        // The whole body of a C macro is one text token.
                        if reflects || node.is_a(Role::PreprocArg) || is_word {
                            self.texts.extend(words_in(text).map(Arc::from));
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

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.unknown
            || self.names.contains(name)
            || self.texts.contains(name)
            || self.names.contains(&*any_case(name))
    }

    pub(super) fn says(&self, name: &str) -> bool {
        self.texts.contains(name)
    }
}

/// Returns the key under which a name is stored if the language ignores the case of function names.
fn any_case(name: &str) -> String {
    format!("\0{}", name.to_lowercase())
}
