//! Notes about the globs of a scope when they are written: do they match the intended files? A
//! scope that matches no file allows no change.

use std::collections::BTreeMap;
use std::path::Path;

use ground::{RelativePath, ignores};
use intents::Scope;
use why::Workspace;

const MAX_OFFERED: usize = 3;

/// Returns a sentence for each glob that matches no file, or that was probably meant relative to
/// the folder `cwd` instead of the workspace's root.
pub fn notes(ws: &Workspace, globs: &[String], cwd: &Path) -> Vec<String> {
    if globs.is_empty() {
        return Vec::new();
    }
    let files = ignores::walk(&ws.root);
    let here = ws.path(ws.root.path(), cwd).ok().map(|here| format!("{here}/"));
    let positive = globs.iter().filter(|glob| !glob.starts_with('!'));
    positive.filter_map(|glob| note(glob, &files, here.as_deref())).collect()
}

fn note(glob: &str, files: &[RelativePath], here: Option<&str>) -> Option<String> {
    let scope = Scope::new(&[glob]);
    if !scope.errors().is_empty() {
        // `intent evidence verify` reports a glob that cannot be read.
        return None;
    }
    let owns = |path: &str| RelativePath::new(path).is_ok_and(|path| scope.owns(&path));
    let from_here = here
        .filter(|here| files.iter().any(|file| file.as_str().strip_prefix(here).is_some_and(owns)));
    if files.iter().any(|file| scope.owns(file)) {
        let from_here =
            from_here.filter(|here| !glob.starts_with(here) && !glob.starts_with("**"))?;
        return Some(format!(
            "{glob} starts at the workspace's root, not in this folder; did you mean {from_here}{glob}?"
        ));
    }
    let folder = format!("{glob}/");
    if files.iter().any(|file| file.as_str().starts_with(&folder)) {
        return Some(format!(
            "{glob} is a folder, and owns nothing without a slash; did you mean {folder}?"
        ));
    }
    let offered = from_here.map_or_else(|| folders(files, owns), |here| vec![here.to_owned()]);
    let meant: Vec<String> = offered.iter().map(|folder| format!("{folder}{glob}")).collect();
    Some(match meant.as_slice() {
        [] => format!("{glob} matches no file; that is fine if its files are still to be written."),
        [only] => format!("{glob} matches no file; did you mean {only}?"),
        several => format!("{glob} matches no file; did you mean one of {}?", several.join(", ")),
    })
}

/// Returns the folders relative to which the glob would match a file, those with the most files
/// first.
fn folders(files: &[RelativePath], owns: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().map(RelativePath::as_str) {
        let ends = file.match_indices('/').map(|(at, _)| at + 1);
        for (folder, rest) in ends.map(|at| file.split_at(at)) {
            if owns(rest) {
                *found.entry(folder).or_default() += 1;
            }
        }
    }
    let mut folders: Vec<(&str, usize)> = found.into_iter().collect();
    folders.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    folders.into_iter().take(MAX_OFFERED).map(|(folder, _)| folder.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(glob: &str, here: Option<&str>) -> String {
        let files = [
            "backend/src/auth/a.rs",
            "backend/src/auth/b.rs",
            "backend/web/src/auth/c.rs",
            "docs/a.md",
            "src/main.rs",
        ];
        let files = files.map(|path| RelativePath::new(path).expect("a path"));
        note(glob, &files, here).unwrap_or_default()
    }

    #[test]
    fn a_glob_that_matches_nothing_suggests_the_right_folder() {
        assert_eq!(told("src/**", None), "");
        assert_eq!(told("backend/src/auth/", None), "");
        assert_eq!(told("**/*.rs", Some("backend/")), "");
        assert_eq!(
            told("auth/**", Some("backend/src/")),
            "auth/** matches no file; did you mean backend/src/auth/**?"
        );
        assert_eq!(
            told("src/auth/**", None),
            "src/auth/** matches no file; did you mean one of backend/src/auth/**, backend/web/src/auth/**?"
        );
        assert_eq!(
            told("src/**", Some("backend/")),
            "src/** starts at the workspace's root, not in this folder; did you mean backend/src/**?"
        );
        assert_eq!(
            told("backend/src", None),
            "backend/src is a folder, and owns nothing without a slash; did you mean backend/src/?"
        );
        assert_eq!(
            told("new/**", None),
            "new/** matches no file; that is fine if its files are still to be written."
        );
        assert_eq!(told("src/[z", None), "", "no glob at all is told elsewhere");
    }
}
