//! Finds paths in text that is not followed: code of another language, a patch, a document.

use super::argument::Arg;
use super::parse::unescape;
use super::places::{Location, located_path};
use super::simulation::Shell;
use super::table;

/// At most this many paths are kept in each list.
const MAX_MENTIONS: usize = 64;

impl Shell {
    /// Keeps the paths that occur in a text that is not followed, if the text contains a word that
    /// suggests writing.
    pub(super) fn mention(&mut self, text: &str) {
        if self.elsewhere || !may_write(text) {
            return;
        }
        for path in paths(text) {
            self.may_change(&Arg::with_known_text(path));
        }
    }

    /// Keeps a path that may be changed indirectly: through text that is not followed, or through a
    /// link.
    pub(super) fn may_change(&mut self, path: &Arg) {
        let path = self.here_in_work(path);
        keep(&mut self.out.paths_in_text, path);
    }

    pub(super) fn handed_to(&mut self, path: &Arg) {
        let path = self.here_in_work(path);
        keep(&mut self.out.paths_in_arguments, path);
    }

    pub(super) fn keep_applied_patch(&mut self, file: &Arg) {
        let path = self.here_in_work(file);
        keep(&mut self.out.patches, path);
    }

    /// Returns the path that a word names, or the beginning of it that is known. `None` on another
    /// machine, and for paths such as `/dev/null`.
    pub(super) fn here_in_work(&self, path: &Arg) -> Option<String> {
        let place = located_path(self, path);
        (!self.elsewhere && place.location != Location::Nothing).then_some(place.path)
    }
}

/// Adds a path to a list, unless the list has it or is full.
pub(super) fn keep(kept: &mut Vec<String>, paths: impl IntoIterator<Item = String>) {
    for path in paths {
        if kept.len() < MAX_MENTIONS && !kept.contains(&path) {
            kept.push(path);
        }
    }
}

/// Returns true if a text contains a word with which code writes files, moves them, runs programs
/// or hides what it does.
pub(super) fn may_write(text: &str) -> bool {
    let text = text.replace("=>", " ").replace("->", " ");
    table::first_word_in("codewrites", &text).is_some()
}

pub(super) fn paths(text: &str) -> Vec<&str> {
    let apart = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;|&=".contains(c);
    let words = text.split(apart).map(|word| word.trim_end_matches([':', '.', '\\']));
    words.filter(|word| is_path(word)).collect()
}

pub(super) fn is_path(word: &str) -> bool {
    let address = word.contains("://") || word.starts_with("//");
    let signs = word.contains(['*', '^', '%', '\\', '#', '?', '!', '+', '@']);
    if word.len() < 3 || word.len() > 300 || address || signs {
        return false;
    }
    let name = word.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').is_some_and(|(begin, end)| {
        (!begin.is_empty() || !end.is_empty()) && table::holds("fileendings", end)
    });
    let hidden = table::holds("hidden", word)
        || word.contains('/')
            && word.split('/').any(|part| part.len() > 2 && part.starts_with('.') && part != "..");
    let deep =
        word.trim_matches('/').contains('/') && word.chars().any(|c| c.is_ascii_alphabetic());
    ending || hidden || deep
}

pub(super) fn files_of_patch_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        let named = [
            "*** Add File: ",
            "*** Update File: ",
            "*** Delete File: ",
            "*** Move to: ",
            "rename to ",
            "rename from ",
        ];
        let own = named.iter().find_map(|begin| line.strip_prefix(begin));
        let unified = ["+++ ", "--- "].iter().find_map(|begin| line.strip_prefix(begin));
        let unified = unified.map(|path| path.split('\t').next().unwrap_or_default());
        let Some(written) = own.or(unified).map(str::trim) else { continue };
        // Git quotes a path that contains special characters: `"b/\303\251.rs"`.
        let quoted = written.strip_prefix('"').and_then(|path| path.strip_suffix('"'));
        let quoted = quoted.map(unescape);
        // In a unified diff, a tab ends a path that contains a space. Other text is no path.
        let spaced = own.is_some() || quoted.is_some() || line.contains('\t');
        if quoted.is_none() && (written.contains('"') || !spaced && written.contains(' ')) {
            continue;
        }
        let whole = quoted.as_deref().unwrap_or(written);
        let inside = whole.strip_prefix("a/").or_else(|| whole.strip_prefix("b/"));
        let path = inside.filter(|_| own.is_none()).unwrap_or(whole);
        if !path.is_empty() && path != "/dev/null" {
            found.push(path.to_owned());
        }
    }
    found
}

pub(super) fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch")
        || text.contains("+++ ") && text.contains("--- ")
        || text.contains("rename to ")
}
