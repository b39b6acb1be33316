//! Finds the agents that are used here: by their settings in the project, else by their programs on
//! this machine.

use std::ffi::OsStr;
use std::path::Path;

use super::recipes::recipe_of_host;
use super::{Folders, InstallLevel, SettingsState};
use crate::binary;
use crate::host::{HOSTS, Host};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// The project has settings for the agent, or a folder for them, so everybody uses it here.
    Settings(&'static str),
    /// The project has a text file for the agent, such as `CLAUDE.md`, but no settings.
    TextFile(&'static str),
    /// The agent is installed on this machine, which says nothing about the project.
    Program(&'static str),
}

/// Returns the agents that are found in the project or on this machine, in the order of the table.
/// Leaves out those without settings in the project that the person has wired for all projects.
pub fn agents(folders: &Folders, search: Option<&OsStr>) -> Vec<(Host, FoundBy)> {
    let found = |host: &Host| {
        let signs = recipe_of_host(host)?.signs;
        Some((*host, strongest_sign(signs, &folders.project, search)?))
    };
    let found = HOSTS.iter().filter_map(found);
    found
        .filter(|(host, by)| matches!(by, FoundBy::Settings(_)) || !is_wired(folders, host))
        .collect()
}

/// Returns true if the person has wired the agent for all of their projects.
pub fn is_wired(folders: &Folders, host: &Host) -> bool {
    let files = super::examine(folders, host, InstallLevel::User);
    files.iter().any(|file| matches!(file.standing, SettingsState::Ours | SettingsState::Different))
}

/// Returns the strongest sign that is there: settings, else a text file, else a program.
fn strongest_sign(
    signs: [&'static str; 3],
    project: &Path,
    search: Option<&OsStr>,
) -> Option<FoundBy> {
    let [settings, texts, programs] = signs.map(str::split_whitespace);
    let is_there = |name: &&str| match name.strip_suffix('/') {
        Some(folder) => project.join(folder).is_dir(),
        None => project.join(name).is_file(),
    };
    let settings = settings.filter(is_there).map(FoundBy::Settings);
    let texts = texts.filter(is_there).map(FoundBy::TextFile);
    let programs = programs.filter(|name| binary::is_installed(search, name));
    settings.chain(texts).chain(programs.map(FoundBy::Program)).next()
}

#[cfg(test)]
mod tests {
    use ground::Environment;
    use ground::environment::RunningProgram;

    use super::*;

    #[test]
    fn settings_count_before_texts_and_texts_before_programs() {
        let place = tempfile::tempdir().expect("a folder");
        let (project, bin) = (place.path().join("p"), place.path().join("bin"));
        let write = |path: &Path| {
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, "").expect("written");
        };
        for program in ["claude", "gemini", "codex"] {
            write(&bin.join(program));
        }
        for file in
            ["CLAUDE.md", "GEMINI.md", ".claude/settings.json", ".clinerules", "opencode.jsonc"]
        {
            write(&project.join(file));
        }
        let folders = Folders {
            project,
            home: place.path().join("home"),
            managed: place.path().join("managed"),
            environment: Environment::new([], std::path::PathBuf::new(), RunningProgram::default()),
        };
        let found = |search: Option<&OsStr>| -> Vec<(&str, FoundBy)> {
            agents(&folders, search).into_iter().map(|(host, by)| (host.name, by)).collect()
        };
        let expected = [
            ("claude-code", FoundBy::Settings(".claude/")),
            ("codex", FoundBy::Program("codex")),
            ("gemini", FoundBy::TextFile("GEMINI.md")),
            // In this test `.clinerules` is a file, so there is no folder for hooks and Cline is
            // not found.
            ("opencode", FoundBy::Settings("opencode.jsonc")),
        ];
        assert_eq!(found(Some(bin.as_os_str())), expected);
        assert_eq!(found(Some(OsStr::new("bin"))).len(), 3, "a relative folder installs nothing");
        assert_eq!(found(None).len(), 3);
        let gemini = crate::host::host_named("gemini").expect("a host");
        let (program, act) = (crate::install::HostProgram::Found, super::super::InstallAct::Put);
        super::super::install(&folders, &[gemini], InstallLevel::User, &program, act)
            .expect("wired at home");
        assert_eq!(found(None).len(), 2, "who is wired for all projects is not named");
    }
}
