use ground::Environment;
use ground::environment::RunningProgram;
use std::fs;

use super::*;
use crate::host;
use crate::install::{InstallAct, install};
use ground::Root;

/// A governed project, a home folder, and a folder of programs that contains `intent-lsp`.
struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["p/.orchestration", "home", "bin"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("bin/intent-lsp"), "").unwrap();
        Self { folder }
    }

    fn wired(hosts: &[&str]) -> Self {
        let lab = Self::new();
        for name in hosts {
            lab.wire(host::host_named(name).unwrap(), InstallLevel::Project, &HostProgram::Found);
        }
        lab
    }

    fn wire(&self, host: Host, level: InstallLevel, program: &HostProgram) {
        install(&self.folders(), &[host], level, program, InstallAct::Put).unwrap();
    }

    fn root(&self) -> Root {
        Root::find(&self.folder.path().join("p"), &ground::Environment::of_process()).unwrap()
    }

    fn folders(&self) -> Folders {
        Folders {
            project: self.root().path().to_owned(),
            home: self.folder.path().join("home"),
            managed: self.folder.path().join("managed"),
            environment: Environment::new([], std::path::PathBuf::new(), RunningProgram::default()),
        }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn beat(&self, host: &str, version: &str) {
        let text = format!(
            r#"{{"at":"2026-11-22T03:00:00.000Z","version":"{version}","event":"PreToolUse","moment":"before","decision":"no_opinion"}}"#
        );
        self.write(&format!("p/.orchestration/local/heartbeat/{host}.json"), &text);
    }

    fn examine(&self) -> Vec<Examined> {
        let bin = self.folder.path().join("bin");
        examine(&self.root(), &self.folders(), Some(bin.as_os_str()))
    }

    fn one(&self, host: &str) -> (Health, String) {
        let found = self.examine().into_iter().find(|check| check.what == host).unwrap();
        (found.state, found.detail)
    }

    fn bad(&self, host: &str, why: &str) {
        let (state, detail) = self.one(host);
        assert_eq!(state, Health::Bad, "{detail}");
        assert!(detail.contains(why), "{detail}");
    }
}

const NOW: &str = env!("CARGO_PKG_VERSION");

#[test]
fn every_state_of_an_installation_is_explained() {
    let lab = Lab::new();
    let mut page = String::new();
    let mut show = |title: &str, checks: Vec<Examined>| {
        page.push_str(&format!("--- {title}\n"));
        for check in checks {
            page.push_str(&format!("{:?} {}: {}\n", check.state, check.what, check.detail));
        }
    };
    show("nothing is wired", lab.examine());
    let lab = Lab::wired(&["claude-code", "cursor"]);
    show("wired", lab.examine());
    lab.beat("cursor", NOW);
    lab.beat("claude-code", "0.0.1");
    show("has called", lab.examine());
    let lab = Lab::new();
    lab.beat("gemini", NOW);
    show("calls and is not wired here", lab.examine());
    insta::assert_snapshot!(page.replace(env!("CARGO_PKG_VERSION"), "[version]"));
}

#[test]
#[ignore = "slow"]
fn a_fresh_installation_has_no_problem() {
    for host in HOSTS {
        for level in [InstallLevel::Project, InstallLevel::User] {
            // Roo Code keeps the servers of a person among the data of the editor.
            if (host.name, level) == ("roo", InstallLevel::User) {
                continue;
            }
            for absolute in [false, true] {
                let lab = Lab::new();
                lab.write("my tools/intent", "");
                let path = lab.folder.path().join("my tools/intent").display().to_string();
                let program = if absolute { HostProgram::At(path) } else { HostProgram::Found };
                lab.wire(*host, level, &program);
                let (state, detail) = lab.one(host.name);
                // A person trusts codex's hooks in codex itself, so a fresh installation is never
                // trusted.
                let is_well = state != Health::Bad || detail.starts_with("nobody trusts");
                assert!(is_well, "{}: {detail}", host.name);
                for wrong in ["is not what", "is not there", "not on the PATH"] {
                    assert!(!detail.contains(wrong), "{}: {detail}", host.name);
                }
            }
        }
    }
}

#[test]
fn a_removed_strict_setting_is_noticed() {
    let lab = Lab::wired(&["claude-code"]);
    lab.beat("claude-code", NOW);
    assert_eq!(lab.one("claude-code").0, Health::Good);
    let path = lab.root().path().join(".claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"onFailure\": \"block\"", "\"onFailure\": \"continue\"", 1))
        .unwrap();
    lab.bad("claude-code", "is not what `intent setup init --agent claude-code` writes");
}

#[test]
fn hooks_of_others_are_ignored() {
    let lab = Lab::new();
    lab.write("p/.claude/settings.json", r#"{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}"#);
    assert_eq!(lab.examine()[0].what, "agents");
    let claude = host::host_named("claude-code").unwrap();
    lab.wire(claude, InstallLevel::Project, &HostProgram::Found);
    lab.beat("claude-code", NOW);
    assert_eq!(lab.one("claude-code").0, Health::Good);
}

#[test]
fn settings_that_turn_hooks_off_are_named() {
    for (host, file, text, expected) in [
        (
            "claude-code",
            "p/.claude/settings.local.json",
            r#"{"disableAllHooks": true}"#,
            "`disableAllHooks` is true",
        ),
        (
            "claude-code",
            "home/.claude/settings.json",
            r#"{"disableAllHooks": true}"#,
            "`disableAllHooks` is true",
        ),
        (
            "claude-code",
            "managed/managed-settings.json",
            r#"{"allowManagedHooksOnly": true, "hooks": {}}"#,
            "`allowManagedHooksOnly` is true",
        ),
        (
            "vscode",
            "p/.vscode/settings.json",
            r#"{"chat.hookFilesLocations": {".github/hooks": false}}"#,
            ".github/hooks",
        ),
        (
            "gemini",
            "home/.gemini/settings.json",
            r#"{"hooksConfig": {"enabled": false}}"#,
            "hooksConfig.enabled",
        ),
    ] {
        let lab = Lab::wired(&[host]);
        lab.beat(host, NOW);
        lab.write(file, text);
        lab.bad(host, expected);
    }
}

#[test]
fn untrusted_hooks_of_codex_are_a_problem() {
    let lab = Lab::wired(&["codex"]);
    lab.beat("codex", NOW);
    lab.bad("codex", "nobody trusts the hooks");
    let file = lab.root().path().join(".codex/hooks.json");
    let trust = format!(
        "[hooks.state.\"{}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:ab\"\n",
        file.display()
    );
    lab.write("home/.codex/config.toml", &trust);
    assert_eq!(lab.one("codex").0, Health::Good, "{}", lab.one("codex").1);
}

/// Our MCP server may be wired or not: hooks that cannot start are a problem of their own.
#[test]
#[ignore = "slow"]
fn a_missing_program_is_named_for_every_host_with_the_command_that_helps() {
    let at = |path: &str| HostProgram::At(path.to_owned());
    let programs = [
        (HostProgram::Found, "not on the PATH here", " --absolute`"),
        (at("/nowhere/intent"), "/nowhere/intent, which is not there", "`"),
        (at("/no where/intent"), "/no where/intent, which is not there", "`"),
    ];
    let mut examined = 0;
    for (host, (program, expected, end)) in
        HOSTS.iter().flat_map(|host| programs.iter().map(move |program| (host, program)))
    {
        for (level, user) in [(InstallLevel::Project, ""), (InstallLevel::User, " --user")] {
            let lab = Lab::new();
            fs::remove_file(lab.folder.path().join("bin/intent-lsp")).unwrap();
            lab.wire(*host, level, program);
            let files = install::examine(&lab.folders(), host, level);
            let (hooks, servers): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.hooks);
            if hooks.is_empty() {
                continue;
            }
            for server in servers {
                fs::remove_file(server.path).unwrap();
            }
            lab.bad(host.name, expected);
            lab.bad(host.name, &format!("run `intent setup init --agent {}{user}{end}", host.name));
            examined += 1;
        }
    }
    assert!(examined > 80, "{examined}");
}

#[test]
fn a_hook_of_somebody_else_is_not_taken_for_our_program() {
    let lab = Lab::new();
    let theirs = r#"{"version": 1, "hooks": {"preToolUse": [{"command": "npx flow hook pre"}]}}"#;
    lab.write("p/.cursor/hooks.json", theirs);
    lab.wire(host::host_named("cursor").unwrap(), InstallLevel::Project, &HostProgram::Found);
    lab.beat("cursor", NOW);
    assert_eq!(lab.one("cursor").0, Health::Good, "{}", lab.one("cursor").1);
}

#[test]
fn settings_that_do_not_parse_any_more_are_named() {
    let lab = Lab::wired(&["codex", "claude-code"]);
    lab.write("p/.mcp.json", "{");
    lab.bad("claude-code", ".mcp.json: it does not parse");
}

#[test]
fn another_program_in_place_of_ours_is_noticed() {
    let lab = Lab::wired(&["claude-code"]);
    lab.beat("claude-code", NOW);
    let bin = lab.folder.path().join("bin");
    crate::binary::note(&lab.root(), Some(bin.as_os_str())).unwrap();
    assert_eq!(lab.one("claude-code").0, Health::Good);
    lab.write("bin/intent-lsp", "exit 0\n");
    lab.bad("claude-code", "is not the program that `intent setup init` noted");
    crate::binary::note(&lab.root(), Some(bin.as_os_str())).unwrap();
    assert_eq!(lab.one("claude-code").0, Health::Good);
}
