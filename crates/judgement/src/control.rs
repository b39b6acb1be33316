//! Knows the control files: files that control the gate or the agents' own hooks. No agent may
//! write them, even if its scope owns them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ground::control_files::{CONTROL_NAMES, folded, folded_segments, has_control_name};
use ground::{Environment, RelativePath, Root};
use intents::Scope;
use shell::{OUR_NAMES, wild};

/// Settings of agents and editors that decide which hooks and servers run, with a line for each of them.
/// Each entry is the end of a path; one that ends in `/` stands for everything below it.
const SETTINGS: &str = "
    .agents/hooks.json
    .amp/plugins/ .amp/settings.json .config/amp/
    .claude.json .claude/settings.json .claude/settings.local.json .claude/hooks/
    .cline/hooks/ .clinerules/hooks/ Documents/Cline/Hooks/
    .codeium/windsurf/hooks.json .codeium/windsurf/mcp_config.json .codeium/hooks.json
        .windsurf/hooks.json
    .codex/config.toml .codex/hooks.json .codex/hooks/ .codex/rules/
    .config/devin/ .devin/
    .config/opencode/ .opencode/plugin/ .opencode/plugins/ .opencode/opencode.json
        .opencode/opencode.jsonc opencode.json opencode.jsonc
    .copilot/hooks/ .copilot/mcp-config.json
    .cursor/hooks.json .cursor/hooks/ .cursor/mcp.json .cursor/cli.json
    .factory/
    .gemini/config/hooks.json .gemini/settings.json .gemini/extensions/
    .github/copilot/ .github/hooks/
    .kiro/hooks/ .kiro/settings/
    .pi/agent/extensions/ .pi/extensions/ .pi/settings.json
    .roo/mcp.json
    .vscode/mcp.json .vscode/settings.json
    .zed/settings.json
";

/// Names of folders in which programs are usually found. They count even if the `PATH` does not
/// contain them now.
const PROGRAMS_IN: [&str; 4] = ["bin", ".bin", "sbin", "scripts"];

/// Returns true if a program at this path would be started in place of this program.
fn replaces_us(segments: &[String]) -> bool {
    let [.., folder, name] = segments else { return false };
    has_our_name(name) && PROGRAMS_IN.contains(&folder.as_str())
}

fn has_our_name(name: &str) -> bool {
    let ends = ["exe", "cmd", "bat", "ps1", "com"];
    let stem = ends.iter().find_map(|end| name.strip_suffix(end)?.strip_suffix('.'));
    OUR_NAMES.contains(&stem.unwrap_or(name))
}

pub(crate) fn programs_of_our_name() -> impl Iterator<Item = PathBuf> {
    let tools = ["", ".venv", "venv", "node_modules"].map(Path::new);
    let folders = tools.into_iter().flat_map(|tool| PROGRAMS_IN.map(|folder| tool.join(folder)));
    folders.flat_map(|folder| OUR_NAMES.map(|name| folder.join(name)))
}

/// Returns true if the `PATH` contains the folder of a file, which is given by its absolute path.
fn is_on_path(file: &Path, environment: &Environment) -> bool {
    let folder = file.parent();
    let search = environment.search().unwrap_or_default();
    let is_it = |searched: PathBuf| searched.is_absolute() && Some(searched.as_path()) == folder;
    std::env::split_paths(search).any(is_it)
}

pub(crate) fn is_control_in(root: &Root, path: &RelativePath) -> bool {
    let name = folded(path.file_name());
    let is_on_path = || is_on_path(&root.absolute(path), root.environment());
    is_control_path(path.as_str()) || (has_our_name(&name) && is_on_path())
}

/// Returns true if an absolute path outside of all workspaces controls the gate or an agent.
pub(crate) fn is_control_outside(path: &Path, environment: &Environment) -> bool {
    let shown = path.display().to_string();
    let has_our_name = folded_segments(&shown).last().is_some_and(|name| has_our_name(name));
    is_control_path(&shown) || (has_our_name && is_on_path(path, environment))
}

/// Returns true if a path, inside a workspace or absolute, controls the gate or an agent. It is not
/// known here whether the `PATH` contains its folder.
pub(crate) fn is_control_path(path: &str) -> bool {
    let segments = folded_segments(path);
    if replaces_us(&segments) || has_control_name(&segments) {
        return true;
    }
    folded_settings().iter().any(|(setting, is_folder)| match is_folder {
        true => segments.windows(setting.len()).any(|window| window == setting),
        false => segments.ends_with(setting),
    })
}

/// Returns the settings in lower case, each with whether it stands for everything below it. A fence
/// compares every file of a work tree with them.
fn folded_settings() -> &'static [(Vec<String>, bool)] {
    static FOLDED: OnceLock<Vec<(Vec<String>, bool)>> = OnceLock::new();
    let folded = |entry: &str| (folded_segments(entry), entry.ends_with('/'));
    FOLDED.get_or_init(|| SETTINGS.split_whitespace().map(folded).collect())
}

/// Returns true if a path with globs may name a file that controls the gate in any folder: `.orch*`.
/// As in a shell, only a pattern that begins with a dot matches a name that does.
pub(crate) fn may_name_control(path: &RelativePath) -> bool {
    let mut dotted =
        folded_segments(path.as_str()).into_iter().filter(|name| name.starts_with('.'));
    dotted.any(|pattern| CONTROL_NAMES.iter().any(|name| wild(&pattern, name)))
}

pub(crate) fn taken_in_by(scope: &Scope) -> Option<String> {
    let anywhere = CONTROL_NAMES.iter().map(|name| match *name {
        ".git" => ".git/config".to_owned(),
        name => name.to_owned(),
    });
    let settings = settings_outside_home().map(|entry| match entry.ends_with('/') {
        true => format!("{entry}x"),
        false => entry.to_owned(),
    });
    let mut all = anywhere.chain(settings);
    all.find(|path| RelativePath::new(path).is_ok_and(|path| scope.owns(&path)))
}

/// Returns the places of a home folder that a fence protects. For a single settings file this is
/// its whole folder.
pub(crate) fn settings_in_home() -> Vec<&'static str> {
    let place = |entry: &'static str| match entry.strip_suffix('/') {
        Some(folder) => folder,
        None => entry.rsplit_once('/').map_or(entry, |(folder, _)| folder),
    };
    let mut places: Vec<&str> = SETTINGS.split_whitespace().map(place).collect();
    places.sort_unstable();
    // After sorting, an outer folder comes before the folders in it.
    places.dedup_by(|later, first| Path::new(later).starts_with(Path::new(first)));
    places
}

/// Returns the names, relative to a folder, at which a file or folder would control the gate or an
/// agent that works in that folder.
pub(crate) fn settings_below() -> impl Iterator<Item = &'static str> {
    let anywhere = CONTROL_NAMES.iter().copied();
    anywhere.chain(settings_outside_home()).map(|entry| entry.trim_end_matches('/'))
}

fn settings_outside_home() -> impl Iterator<Item = &'static str> {
    SETTINGS.split_whitespace().filter(|entry| !entry.starts_with("Documents/"))
}

/// Returns true if a folder of this name may contain settings that control an agent.
pub(crate) fn may_hold(folder: &str) -> bool {
    let name = folded_segments(folder).pop();
    name.is_some_and(|name| folded_settings().iter().any(|(entry, _)| entry.contains(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_spelling_of_a_name_counts() {
        for path in [".GIT/config", "a/.Mcp.Json", ".vſcode/mcp.json", ".orcheſtration/x"] {
            assert!(is_control_path(path), "{path}");
        }
        assert!(!is_control_path("src/ſ.rs"));
    }

    #[test]
    fn a_program_of_our_name_counts_in_every_folder_of_the_path() {
        let search = std::env::var_os("PATH").unwrap_or_default();
        let is_real = |folder: &PathBuf| folder.canonicalize().is_ok_and(|real| real == *folder);
        let Some(folder) = std::env::split_paths(&search).find(is_real) else { return };
        let root = Root::find(&folder, &Environment::of_process()).expect("a root");
        let judged = |name: &str| {
            let file = folder.join(name);
            let inside = file.strip_prefix(root.path()).expect("below the root");
            let path = RelativePath::new(inside.to_str().expect("a text")).expect("a path");
            is_control_in(&root, &path)
        };
        assert!(judged("intent") && judged("Intent.exe"));
        assert!(!judged("intention"));
    }
}
