//! Examines whether the agents that are wired in this project really call the gate: whether the
//! hooks are present, trusted, strict and switched on, and when the agent last called.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::binary;
use super::host::{HOSTS, Host};
use super::install::recognise::starts_us;
use super::install::{self, Folders, HostProgram, InstallLevel, SettingsState};
use ground::{Root, store};
use why::health::{Examined, Health};

/// The largest heartbeat, in bytes. A larger one was not written by us.
const MAX_HEARTBEAT: u64 = 64 * 1024;
/// Hosts that also load Claude Code's settings.
const LOAD_CLAUDE: &[&str] = &["cursor", "vscode", "copilot", "devin"];

#[derive(Deserialize)]
struct Heartbeat {
    at: String,
    version: String,
    event: String,
    decision: String,
}

pub fn examine(root: &Root, folders: &Folders, search: Option<&OsStr>) -> Vec<Examined> {
    let found: Vec<Examined> = HOSTS
        .iter()
        .filter_map(|host| {
            let mut wiring = Wiring::of_host(root, folders, host);
            wiring.search(root, search);
            wiring.answer()
        })
        .collect();
    if !found.is_empty() {
        return found;
    }
    let detail =
        "none is wired here, so none asks before it writes; `intent setup init --agent NAME`";
    vec![Examined { what: "agents".into(), state: Health::Unknown, detail: detail.into() }]
}

struct Wiring<'a> {
    host: &'a Host,
    files: Vec<install::ExaminedFile>,
    heartbeat: Option<Heartbeat>,
    /// Problems that a person must repair.
    wrong: Vec<String>,
    /// Facts that need no action.
    known: Vec<String>,
}

impl<'a> Wiring<'a> {
    fn of_host(root: &Root, folders: &Folders, host: &'a Host) -> Self {
        let levels = [InstallLevel::Project, InstallLevel::User];
        let files = levels.into_iter().flat_map(|level| install::examine(folders, host, level));
        let heartbeat = heartbeat(root, host);
        let mut wiring =
            Self { host, files: files.collect(), heartbeat, wrong: Vec::new(), known: Vec::new() };
        if wiring.is_wired() {
            wiring.check_files(folders);
            wiring.switched_off(folders);
            wiring.check_managed(folders);
            wiring.check_trust(folders);
            wiring.note_double_loading(folders);
        }
        wiring
    }

    fn is_wired(&self) -> bool {
        self.hooks().next().is_some()
    }

    /// Returns true if the host can call hooks. Another one is wired if it starts our MCP server.
    fn has_hooks(&self) -> bool {
        self.files.iter().any(|file| file.hooks)
    }

    fn hooks(&self) -> impl Iterator<Item = &install::ExaminedFile> {
        let has_hooks = self.has_hooks();
        let ours = move |file: &&install::ExaminedFile| {
            file.hooks == has_hooks
                && matches!(file.standing, SettingsState::Ours | SettingsState::Different)
        };
        self.files.iter().filter(ours)
    }

    fn check_files(&mut self, folders: &Folders) {
        for file in &self.files {
            let path = shown_path(folders, &file.path);
            match &file.standing {
                SettingsState::Absent | SettingsState::Ours => {}
                SettingsState::Different => self.wrong.push(format!(
                    "{path} is not what `{}` writes, so events or the strictest failure mode may be missing: run it again",
                    self.command_that_wires(file)
                )),
                SettingsState::Unreadable(why) => self.wrong.push(format!("{path}: {why}")),
            }
        }
        let mut hooks = self.hooks();
        let first = hooks.next().map(|file| shown_path(folders, &file.path).to_string());
        let more = match hooks.count() {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        let what = if self.has_hooks() { "hooks" } else { "the MCP server" };
        self.known.push(format!("{what} in {}{more}", first.unwrap_or_default()));
    }

    fn switched_off(&mut self, folders: &Folders) {
        for (path, pointer, off) in switches(folders, self.host) {
            let found = install::settings(&path);
            let value = found.as_ref().and_then(|settings| settings.pointer(pointer));
            if value.and_then(Value::as_bool) == Some(off) {
                let path = shown_path(folders, &path);
                let name = pointer.trim_start_matches('/').replace("~1", "/").replace('/', ".");
                self.wrong.push(format!("hooks are switched off: `{name}` is {off} in {path}"));
            }
        }
    }

    /// Reports if an organisation allows only its own hooks. Claude Code then runs no hook of a
    /// project or a person.
    fn check_managed(&mut self, folders: &Folders) {
        if self.host.name != "claude-code" {
            return;
        }
        let path = folders.managed.join("managed-settings.json");
        let Some(settings) = install::settings(&path) else { return };
        let only_managed = settings.get("allowManagedHooksOnly") == Some(&Value::Bool(true));
        if only_managed && !starts_us(&settings, &["hook"]) {
            self.wrong.push(format!(
                "`allowManagedHooksOnly` is true in {}, so Claude Code runs no hook of this project: an administrator adds ours there (docs/agents.md, managed settings)",
                path.display()
            ));
        }
    }

    /// Reports if codex does not trust the hooks. It skips a hook that a person has not trusted,
    /// without a message.
    fn check_trust(&mut self, folders: &Folders) {
        if self.host.name != "codex" {
            return;
        }
        let Some(home) = install::home_of(folders, self.host) else { return };
        let text = install::text_of(&home.join("config.toml")).unwrap_or_default();
        let keys = install::toml::trusted(&text);
        let places: Vec<String> =
            self.hooks().filter_map(|file| place_in_codex(&file.path)).collect();
        for place in places {
            if keys.iter().any(|(key, hash)| *key == place && hash.is_some()) {
                self.known
                    .push("trusted once; after a change of the file codex wants it again".into());
            } else {
                self.wrong.push("nobody trusts the hooks, or they are off there, so codex skips them silently: accept them in its /hooks".into());
            }
        }
    }

    fn note_double_loading(&mut self, folders: &Folders) {
        let claude = install::settings(&folders.project.join(".claude/settings.json"));
        let both = LOAD_CLAUDE.contains(&self.host.name)
            && claude.is_some_and(|settings| starts_us(&settings, &["hook"]));
        if both {
            self.known.push(
                "it loads .claude/settings.json too: a call asks twice, and is judged once".into(),
            );
        }
    }

    /// Returns the command that writes this settings file.
    fn command_that_wires(&self, file: &install::ExaminedFile) -> String {
        let user = if file.level == InstallLevel::User { " --user" } else { "" };
        format!("intent setup init --agent {}{user}", self.host.name)
    }

    fn search(&mut self, root: &Root, search: Option<&OsStr>) {
        let Some((file, program)) =
            self.hooks().find_map(|file| Some((file, file.program.as_ref()?)))
        else {
            return;
        };
        let found = match program {
            HostProgram::Found => binary::on_path(search),
            HostProgram::At(path) => Some(PathBuf::from(path)).filter(|path| path.is_file()),
        };
        let noted = found.as_deref().and_then(|found| binary::other_than_noted(root, found));
        let wrong = match (found, noted, program) {
            (Some(found), Some(noted), _) => format!(
                "the hooks start {}, and that is not the program that `intent setup init` noted ({}): if you have not upgraded it, find out what it is; `intent setup init` notes it anew",
                found.display(),
                noted
            ),
            (Some(_), None, _) => return,
            (None, _, HostProgram::Found) => format!(
                "the hooks start `intent-lsp`, which is not on the PATH here: put it there, or run `{} --absolute`",
                self.command_that_wires(file)
            ),
            (None, _, HostProgram::At(path)) => format!(
                "the hooks start {path}, which is not there: run `{}` again",
                self.command_that_wires(file)
            ),
        };
        self.wrong.push(wrong);
    }

    fn answer(mut self) -> Option<Examined> {
        let wired = self.is_wired();
        let called = self.heartbeat.is_some();
        if !wired && !called {
            return None;
        }
        if !wired {
            self.known.push("calls the hook, but its settings here do not contain it".into());
        }
        match &self.heartbeat {
            Some(last) => {
                let decision = last.decision.replace('_', " ");
                self.known.push(format!("last called {} ({}: {decision})", last.at, last.event));
                if last.version != env!("CARGO_PKG_VERSION") {
                    self.wrong.push(format!(
                        "its last call was answered by intent {}, and this is {}: is another one on its PATH?",
                        last.version,
                        env!("CARGO_PKG_VERSION")
                    ));
                }
            }
            None => self.known.push("has not called yet".into()),
        }
        self.known.push(self.host.evidence_level.in_words().into());
        if !self.host.cannot.is_empty() {
            self.known.push(format!("gaps that nothing closes: {}", self.host.cannot));
        }
        let state = match (self.wrong.is_empty(), wired && called) {
            (false, _) => Health::Bad,
            (true, true) => Health::Good,
            (true, false) => Health::Unknown,
        };
        self.wrong.append(&mut self.known);
        Some(Examined { what: self.host.name.to_owned(), state, detail: self.wrong.join("; ") })
    }
}

/// Returns a path for display: relative to the project, if it is in the project.
fn shown_path<'p>(folders: &Folders, path: &'p Path) -> std::path::Display<'p> {
    path.strip_prefix(&folders.project).unwrap_or(path).display()
}

/// Returns codex's key for our hook before a tool: the file, the event, and the index of the group
/// in the file.
fn place_in_codex(file: &Path) -> Option<String> {
    let settings = install::settings(file)?;
    let groups = settings.pointer("/hooks/PreToolUse")?.as_array()?;
    let at = groups.iter().position(|group| starts_us(group, &["hook"]))?;
    Some(format!("{}:pre_tool_use:{at}:0", file.canonicalize().ok()?.display()))
}

/// Returns the settings that switch off all hooks of a host: the file, the JSON pointer, and the
/// value that means off.
fn switches(folders: &Folders, host: &Host) -> Vec<(PathBuf, &'static str, bool)> {
    let at_home = install::home_of(folders, host).map(|home| home.join("settings.json"));
    // The same switch in these files of the project, and in the settings of the person.
    let everywhere = |files: &[&str], pointer: &'static str, off: bool| {
        let files = files.iter().map(|file| folders.project.join(file)).chain(at_home);
        files.map(|path| (path, pointer, off)).collect()
    };
    match host.name {
        "claude-code" => {
            let files = [".claude/settings.json", ".claude/settings.local.json"];
            everywhere(&files, "/disableAllHooks", true)
        }
        "copilot" => everywhere(&[".github/hooks/intent.json"], "/disableAllHooks", true),
        "vscode" => {
            let settings = folders.project.join(".vscode/settings.json");
            vec![
                (settings.clone(), "/chat.useHooks", false),
                (settings, "/chat.hookFilesLocations/.github~1hooks", false),
            ]
        }
        "gemini" => everywhere(&[".gemini/settings.json"], "/hooksConfig/enabled", false),
        _ => Vec::new(),
    }
}

fn heartbeat(root: &Root, host: &Host) -> Option<Heartbeat> {
    let folder = root.orchestration().join("local").join("heartbeat");
    store::read_json(&folder.join(format!("{}.json", host.name)), MAX_HEARTBEAT)
}

#[cfg(test)]
mod tests;
