//! Which files `.gitattributes` says a program wrote: `linguist-generated`.
//!
//! Each folder from the workspace's root down to a file may have a `.gitattributes`. The one nearest to the file decides,
//! and within it the last line whose pattern matches the file. The format is that of git's manual page `gitattributes`;
//! patterns are those of `.gitignore`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{RelativePath, Root};

/// A larger file, in bytes, is not read: it is asked for every text.
const MAX_BYTES: u64 = 256 * 1024;

/// Reads the `.gitattributes` at a path. `None` if there is none.
type Read = Box<dyn Fn(&RelativePath) -> Option<String> + Send + Sync>;

/// The attributes of a workspace, read as paths are asked for.
pub(crate) struct Attributes {
    read: Read,
    /// By folder below the root ("" is the root); `None` where nothing is said.
    by_folder: Mutex<HashMap<String, Option<Arc<Gitignore>>>>,
}

impl Attributes {
    /// Those of the files below a root, as they stand when first asked.
    pub(crate) fn load(root: &Root) -> Self {
        let root = root.clone();
        Self::of(move |path| {
            let text = root.read_rules(path, MAX_BYTES).ok()??;
            Some(String::from_utf8_lossy(&text).into_owned())
        })
    }

    /// The attributes in files that `read` returns, for example those of a commit or of the index.
    pub(crate) fn of(
        read: impl Fn(&RelativePath) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { read: Box::new(read), by_folder: Mutex::default() }
    }

    /// Whether a file is declared to be written by a program.
    pub(crate) fn is_generated(&self, path: &RelativePath) -> bool {
        let path = path.as_str();
        let folders = path.rmatch_indices('/').map(|(at, _)| &path[..at]).chain([""]);
        let mut decided = folders.filter_map(|folder| {
            let rules = self.of_folder(folder)?;
            let below = path[folder.len()..].trim_start_matches('/');
            match rules.matched(below, false) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            }
        });
        decided.next().unwrap_or(false)
    }

    fn of_folder(&self, folder: &str) -> Option<Arc<Gitignore>> {
        let mut known = self.by_folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = known.get(folder) {
            return rules.clone();
        }
        let file = format!("{folder}/.gitattributes");
        let file = RelativePath::new(file.trim_start_matches('/')).ok();
        let rules = file.and_then(|file| compile(&(self.read)(&file)?));
        known.insert(folder.to_owned(), rules.clone());
        rules
    }
}

/// The lines that speak of the attribute, as the lines of an ignore file; `None` where there is none.
fn compile(text: &str) -> Option<Arc<Gitignore>> {
    let mut builder = GitignoreBuilder::new("");
    let mut speaks = false;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!'])) {
        let mut words = line.split_ascii_whitespace();
        let Some(pattern) = words.next() else { continue };
        let mut said = words.filter_map(|word| match word {
            "linguist-generated" | "linguist-generated=true" => Some(""),
            "-linguist-generated" | "!linguist-generated" | "linguist-generated=false" => Some("!"),
            _ => None,
        });
        if let Some(sign) = said.next_back() {
            speaks |= builder.add_line(None, &format!("{sign}{pattern}")).is_ok();
        }
    }
    let rules = speaks.then(|| builder.build().ok()).flatten()?;
    Some(Arc::new(rules))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_the_nearest_file_has_the_last_word() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
            std::fs::write(file, text).expect("a file");
        };
        write(
            ".gitattributes",
            "# generated\n*.pb.go linguist-generated\n/gen/** text linguist-generated=true\ngen/by_hand.rs -linguist-generated\n* text=auto\n",
        );
        write("api/.gitattributes", "*.pb.go linguist-generated=false\n");
        let root = folder.path().to_owned();
        let attributes =
            Attributes::of(move |path| std::fs::read_to_string(root.join(path.as_str())).ok());
        for (path, expected) in [
            ("a.pb.go", true),
            ("deep/down/a.pb.go", true),
            ("api/a.pb.go", false),
            ("gen/a.rs", true),
            ("gen/deep/a.rs", true),
            ("gen/by_hand.rs", false),
            ("src/gen/a.rs", false),
            ("src/a.rs", false),
        ] {
            let path = RelativePath::new(path).expect("a workspace path");
            assert_eq!(attributes.is_generated(&path), expected, "{path}");
        }
    }
}
