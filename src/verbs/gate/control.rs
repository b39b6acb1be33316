//! Files that steer the gate, or the agents' own hooks: no agent writes them, whatever the scope says.

use std::path::{Path, PathBuf};

use super::{Denial, DenialCode};
use crate::intent::Scope;
use crate::shell::OUR_NAMES;
use crate::workspace::RelativePath;

/// Names that steer the gate wherever they stand.
const ANYWHERE: &[&str] =
    &[".intentignore", ".rooignore", ".gitattributes", ".mcp.json", ".git", ".orchestration"];

/// Settings of agents and editors that decide which hooks and servers run, as the end of a path. A trailing `/` means
/// everything below.
const SETTINGS: &[&str] = &[
    ".agents/hooks.json",
    ".amp/plugins/",
    ".amp/settings.json",
    ".claude.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/",
    ".cline/hooks/",
    ".clinerules/hooks/",
    ".codeium/windsurf/hooks.json",
    ".codeium/windsurf/mcp_config.json",
    ".codeium/hooks.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".codex/hooks/",
    ".codex/rules/",
    ".config/amp/",
    ".config/devin/",
    ".config/opencode/",
    ".copilot/hooks/",
    ".copilot/mcp-config.json",
    ".cursor/hooks.json",
    ".cursor/hooks/",
    ".cursor/mcp.json",
    ".cursor/cli.json",
    ".devin/",
    ".factory/",
    ".gemini/config/hooks.json",
    ".gemini/settings.json",
    ".gemini/extensions/",
    ".github/copilot/",
    ".github/hooks/",
    ".kiro/hooks/",
    ".kiro/settings/",
    ".opencode/plugin/",
    ".opencode/plugins/",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    ".pi/agent/extensions/",
    ".pi/extensions/",
    ".pi/settings.json",
    ".vscode/mcp.json",
    ".vscode/settings.json",
    ".windsurf/hooks.json",
    ".zed/settings.json",
    "Documents/Cline/Hooks/",
    "opencode.json",
    "opencode.jsonc",
];

/// Whether a path inside a workspace steers this gate, rather than an agent: what `check` never judges as code.
pub(crate) fn is_control_file(path: &RelativePath) -> bool {
    segments(path.as_str()).iter().any(|segment| ANYWHERE.contains(&segment.as_str()))
}

/// Folders in which programs are looked for, whatever the `PATH` is now.
const PROGRAMS_IN: [&str; 4] = ["bin", ".bin", "sbin", "scripts"];

/// Whether a program at this path would be started in place of this one.
fn replaces_us(path: &str, segments: &[String]) -> bool {
    let [.., folder, name] = segments else { return false };
    let stem = ["exe", "cmd", "bat", "ps1", "com"];
    let stem = stem.iter().find_map(|end| name.strip_suffix(end)?.strip_suffix('.'));
    OUR_NAMES.contains(&stem.unwrap_or(name))
        && (PROGRAMS_IN.contains(&folder.as_str()) || is_on_path(path))
}

/// Where a workspace may hold a program that would be started in place of this one.
pub(in crate::verbs) fn programs_of_our_name() -> impl Iterator<Item = PathBuf> {
    let tools = ["", ".venv", "venv", "node_modules"].map(Path::new);
    let folders = tools.into_iter().flat_map(|tool| PROGRAMS_IN.map(|folder| tool.join(folder)));
    folders.flat_map(|folder| OUR_NAMES.map(|name| folder.join(name)))
}

/// Whether programs are looked for in the folder of a file.
fn is_on_path(path: &str) -> bool {
    let folder = Path::new(path).parent();
    let search = std::env::var_os("PATH").unwrap_or_default();
    let is_it = |searched: PathBuf| searched.is_absolute() && Some(searched.as_path()) == folder;
    std::env::split_paths(&search).any(is_it)
}

/// Whether a path, inside a workspace or absolute, steers the gate or an agent.
pub(in crate::verbs) fn steers(path: &str) -> bool {
    let segments = segments(path);
    if replaces_us(path, &segments) {
        return true;
    }
    if segments.iter().any(|segment| ANYWHERE.contains(&segment.as_str())) {
        return true;
    }
    SETTINGS.iter().any(|entry| match entry.strip_suffix('/') {
        Some(folder) => {
            let folder: Vec<String> = self::segments(folder);
            segments.windows(folder.len()).any(|window| window == folder)
        }
        None => segments.ends_with(&self::segments(entry)),
    })
}

/// A file that steers the gate or an agent, and that a scope takes in.
pub(in crate::verbs) fn taken_in_by(scope: &Scope) -> Option<String> {
    let anywhere = ANYWHERE.iter().map(|name| match *name {
        ".git" => ".git/config".to_owned(),
        name => name.to_owned(),
    });
    // What stands in a home folder alone is in nobody's scope.
    let settings = SETTINGS.iter().filter(|entry| !entry.starts_with("Documents/"));
    let settings = settings.map(|entry| match entry.strip_suffix('/') {
        Some(folder) => format!("{folder}/x"),
        None => (*entry).to_owned(),
    });
    let mut all = anywhere.chain(settings);
    all.find(|path| RelativePath::new(path).is_ok_and(|path| scope.owns(&path)))
}

/// What a fence keeps of a home folder: whole folders, where a setting stands in one that is an agent's own.
pub(in crate::verbs) fn settings_in_home() -> Vec<&'static str> {
    let place = |entry: &'static str| match entry.strip_suffix('/') {
        Some(folder) => folder,
        None => entry.rsplit_once('/').map_or(entry, |(folder, _)| folder),
    };
    let mut places: Vec<&str> = SETTINGS.iter().map(|entry| place(entry)).collect();
    places.sort_unstable();
    // An outer folder stands before what is in it.
    places.dedup_by(|later, first| Path::new(later).starts_with(Path::new(first)));
    places
}

/// The places at which a file or folder would steer the gate or an agent that works in the folder above.
pub(in crate::verbs) fn settings_below() -> impl Iterator<Item = &'static str> {
    let settings = SETTINGS.iter().filter(|entry| !entry.starts_with("Documents/"));
    ANYWHERE.iter().chain(settings).map(|entry| entry.trim_end_matches('/'))
}

/// Whether a folder of this name may hold settings that steer an agent.
pub(in crate::verbs) fn may_hold(folder: &str) -> bool {
    let name = segments(folder).pop();
    SETTINGS.iter().any(|entry| {
        let entry = segments(entry);
        entry.iter().any(|segment| Some(segment) == name.as_ref())
    })
}

/// Case does not count: where it does not count for the file system, another spelling is the same file.
fn segments(path: &str) -> Vec<String> {
    path.split(['/', '\\']).filter(|segment| !segment.is_empty()).map(str::to_lowercase).collect()
}

/// The denial for such a path.
pub(super) fn denial(path: &str) -> Denial {
    Denial {
        code: DenialCode::ProtectedPath,
        message: format!(
            "{path} steers the gate itself and is changed by people only, with the `intent` command or in an editor. Leave it as it is."
        ),
        path: Some(path.to_owned()),
        intent: None,
        rule: Some("control file".to_owned()),
    }
}
