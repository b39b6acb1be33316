//! Starts `intent lsp` for Zed.
//!
//! The program is the one on the person's `PATH`. Nothing inside the worktree is run, and no program that its settings
//! name. Two things are read from settings: whether a person may be asked, and the levels of diagnostics.

use std::path::{Component, Path, PathBuf};

use zed_extension_api::serde_json::{json, Value};
use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, Command, Extension, LanguageServerId, Result, Worktree};

/// The name in Zed's settings: `lsp.intent`.
const NAME: &str = "intent";
const MISSING: &str = "there is no `intent` on your PATH: run `cargo install --path . --features all-languages` in a clone of intent-lsp";

struct Intent;

impl Extension for Intent {
    fn new() -> Self {
        Self
    }

    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let found = worktree.which(NAME).ok_or(MISSING)?;
        let program = outside(&found, &worktree.root_path())?;
        Ok(Command { command: program, args: vec!["lsp".to_owned()], env: worktree.shell_env() })
    }

    fn language_server_initialization_options(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        let settings = LspSettings::for_worktree(NAME, worktree)?;
        Ok(Some(options(settings.initialization_options)))
    }

    fn language_server_workspace_configuration(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        let settings = LspSettings::for_worktree(NAME, worktree)?;
        Ok(settings.settings.map(|settings| json!({ NAME: settings })))
    }
}

/// Returns the initialization options: that a person sits there, and what they set. Zed shows inlay hints; whether it
/// shows lenses is not known, so the hints are requested.
fn options(set: Option<Value>) -> Value {
    let mut options = json!({ "interactive": true, "codeLens": false, "inlayHints": true });
    if let (Some(options), Some(Value::Object(set))) = (options.as_object_mut(), set) {
        options.extend(set);
    }
    options
}

/// Returns `program` if it is an absolute path that does not lead into the worktree at `root`. The extension cannot
/// follow links, so it refuses only what it can see.
fn outside(program: &str, root: &str) -> Result<String> {
    let (path, root) = (plain(program), plain(root));
    if !is_absolute(program) || path.starts_with(root) {
        return Err(format!("{program} lies in the workspace, from where nothing is run; {MISSING}"));
    }
    Ok(program.to_owned())
}

/// Returns true if the path is absolute on the machine where Zed runs. The extension's own system is another one.
fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':')
}

/// Returns a path without `.` and `..`, and with one kind of separator.
fn plain(path: &str) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in Path::new(&path.replace('\\', "/")).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

zed::register_extension!(Intent);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_the_workspace_is_not_run() {
        assert!(outside("/home/ada/shop/bin/intent", "/home/ada/shop").is_err());
        assert!(outside("/usr/bin/../../home/ada/shop/intent", "/home/ada/shop").is_err());
        assert!(outside("C:\\shop\\bin\\intent.exe", "C:\\shop").is_err());
        assert!(outside("bin/intent", "/home/ada/shop").is_err());
        assert!(outside("intent", "/home/ada/shop").is_err());
        assert_eq!(outside("/home/ada/.cargo/bin/intent", "/home/ada/shop").as_deref(), Ok("/home/ada/.cargo/bin/intent"));
        assert!(outside("/home/ada/shopping/intent", "/home/ada/shop").is_ok());
    }

    #[test]
    fn what_a_person_sets_counts() {
        let set = json!({ "inlayHints": false, "levels": { "unrecorded-change": "hint" } });
        let options = options(Some(set));
        assert_eq!(options["inlayHints"], json!(false));
        assert_eq!(options["interactive"], json!(true));
        assert_eq!(options["levels"]["unrecorded-change"], json!("hint"));
    }
}
