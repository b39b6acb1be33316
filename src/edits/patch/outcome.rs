//! Computes what a whole patch does, file by file.

use std::collections::HashMap;

use super::FilePatch;
use super::hunk;

/// The files after a patch has run, to its end or to its first failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchOutcome {
    /// Every file that was written (with its text) or removed (`None`), in the order in which the
    /// files were first touched. Each file occurs once.
    pub files: Vec<(String, Option<String>)>,
    /// The reason why the tool stopped. Changes made before that remain.
    pub failure: Option<String>,
}

/// Applies a patch to texts. `before` returns the text of a path, or `None` if there is no such
/// file.
///
/// The files are changed in the order of the patch, each on the result of those before it. The
/// first failure ends the run. The result is the most that can happen: a host may try the whole
/// patch first and then do nothing, and the file system may refuse (for example because a folder is
/// in the way). Paths that are spelled differently count as different files, so resolve them first.
pub fn outcome(patch: &[FilePatch], before: impl Fn(&str) -> Option<String>) -> PatchOutcome {
    let mut run = PatchRun { before, out: PatchOutcome::default(), places: HashMap::new() };
    if patch.is_empty() {
        run.out.failure = Some("the patch names no file".to_owned());
    }
    for file in patch {
        if let Err(failure) = run.file(file) {
            run.out.failure = Some(failure);
            break;
        }
    }
    run.out
}

struct PatchRun<F> {
    before: F,
    out: PatchOutcome,
    /// The index in `out.files` for each path.
    places: HashMap<String, usize>,
}

impl<F: Fn(&str) -> Option<String>> PatchRun<F> {
    fn file(&mut self, file: &FilePatch) -> Result<(), String> {
        match file {
            FilePatch::Add { path, text } => self.set(path, Some(text.clone())),
            FilePatch::Delete { path } => {
                self.get(path)?;
                self.set(path, None);
            }
            FilePatch::Update { path, to, hunks } => {
                let text = self.get(path)?;
                let text = hunk::apply(&text, hunks).map_err(|error| format!("{path}: {error}"))?;
                self.set(to.as_ref().unwrap_or(path), Some(text));
                if to.is_some() {
                    self.set(path, None);
                }
            }
        }
        Ok(())
    }

    fn get(&self, path: &str) -> Result<String, String> {
        let text = match self.places.get(path) {
            Some(&at) => self.out.files[at].1.clone(),
            None => (self.before)(path),
        };
        text.ok_or_else(|| format!("{path}: there is no such file"))
    }

    fn set(&mut self, path: &str, text: Option<String>) {
        if let Some(&at) = self.places.get(path) {
            self.out.files[at].1 = text;
            return;
        }
        self.places.insert(path.to_owned(), self.out.files.len());
        self.out.files.push((path.to_owned(), text));
    }
}
