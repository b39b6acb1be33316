//! Recognises a program (lefthook, husky) or a shared folder that manages the git hooks of a
//! repository. We write nothing into its files, and say which lines a person has to add.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{HookState, calls, needed};
use ground::text;
use why::Workspace;

/// The program or team that manages the git hooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Manager {
    /// `husky`, `lefthook`, or the path of the folder that holds the hooks.
    pub name: String,
    /// What to do to make the hooks seal.
    pub advice: String,
    /// The lines that the advice refers to, ready to be pasted.
    pub lines: String,
}

/// Finds what manages the hooks. The framework pre-commit does not count as a manager, since its
/// hooks and ours call each other.
pub(super) fn find(ws: &Workspace, folder: &Path, is_shared: bool) -> Option<Manager> {
    let top = ws.root.work_tree()?;
    if let [.., file] = calls::lefthook_files(top).as_slice() {
        return Some(lefthook(ws, top, file));
    }
    is_shared.then(|| scripts(ws, top, folder))
}

fn lefthook(ws: &Workspace, top: &Path, file: &Path) -> Manager {
    let files = calls::lefthook_files(top);
    let seals = |name: &str| files.iter().any(|file| calls::seals(file, name));
    let mut lines: String = needed(ws).filter(|name| !seals(name)).map(block).collect();
    let file = file.strip_prefix(top).unwrap_or(file).display();
    let mut advice =
        format!("add this to {file}, to the keys that it has already, and run `lefthook install`:");
    if lines.is_empty() {
        advice = "this puts its hooks into this clone:".to_owned();
        lines = "lefthook install\n".to_owned();
    }
    Manager { name: "lefthook".to_owned(), advice, lines }
}

fn block(name: &str) -> String {
    let message = if name == super::MESSAGE { " \"{1}\"" } else { "" };
    let call = guarded_call(name, message);
    format!("{name}:\n  commands:\n    intent:\n      priority: 99\n      run: {call}\n")
}

fn guarded_call(name: &str, message: &str) -> String {
    format!("command -v intent >/dev/null && intent seal --hook {name}{message} || true")
}

fn scripts(ws: &Workspace, top: &Path, folder: &Path) -> Manager {
    let is_husky = folder.components().any(|part| part.as_os_str() == ".husky");
    let home = folder.parent().filter(|_| folder.ends_with(calls::HUSKY)).unwrap_or(folder);
    let missing: Vec<&str> =
        needed(ws).filter(|name| calls::state(top, folder, name) != HookState::Installed).collect();
    let file = |name: &str| shell_word(&home.join(name));
    let mut lines = String::new();
    if !home.is_dir() {
        lines.push_str(&format!("mkdir -p {}\n", shell_word(home)));
    }
    for name in missing.iter().filter(|name| !calls::seals(&home.join(name), name)) {
        // The last line of a script may lack its line end, so our line begins with one.
        let call = guarded_call(name, " \"$@\"");
        lines.push_str(&format!("printf '\\n{call}\\n' >> {}\n", file(name)));
    }
    if !missing.is_empty() {
        let files: Vec<String> = missing.iter().map(|name| file(name)).collect();
        lines.push_str(&format!("chmod +x {}\n", files.join(" ")));
    }
    Manager {
        name: if is_husky { "husky".to_owned() } else { folder.display().to_string() },
        advice: "its hooks are not ours to change. This adds a line to each, which must not stand behind an `exit` or `exec`:"
            .to_owned(),
        lines,
    }
}

fn shell_word(path: &Path) -> String {
    text::shell_word(&path.display().to_string())
}
