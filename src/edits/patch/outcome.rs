//! What a whole patch leaves behind, file by file.

use std::collections::HashMap;

use super::FilePatch;
use super::hunk;

/// What the files are after a patch ran, to its end or to its first failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchOutcome {
    /// Every file that was written (its text) or removed (`None`), once each, in
    /// the order in which they were first touched.
    pub files: Vec<(String, Option<String>)>,
    /// Why the tool stopped. What it did before that stays done.
    pub failure: Option<String>,
}

/// Runs a patch over texts: `before` gives the text of a path, `None` where there
/// is no file.
///
/// Files are applied in the patch's order, each on what those before it left, and
/// the first that fails ends the run. This is the most that can happen: a host may
/// try the whole patch first and then do nothing, and a file system may refuse (a
/// folder in the way). Paths that are spelled differently are different files
/// here: resolve them first.
pub fn outcome(patch: &[FilePatch], before: impl Fn(&str) -> Option<String>) -> PatchOutcome {
    let mut run = Run { before, out: PatchOutcome::default(), places: HashMap::new() };
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

struct Run<F> {
    before: F,
    out: PatchOutcome,
    /// Where in `out` a path is.
    places: HashMap<String, usize>,
}

impl<F: Fn(&str) -> Option<String>> Run<F> {
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
