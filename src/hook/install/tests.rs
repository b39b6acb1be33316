use ground::environment::RunningProgram;
use std::fs;
use std::path::Path;

use super::*;
use crate::host::{HOSTS, host_named};

/// An empty project and an empty home folder.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["p", "home"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("p")
    }

    fn folders(&self) -> Folders {
        Folders {
            project: self.project(),
            home: self.folder.path().join("home"),
            managed: self.folder.path().join("managed"),
            environment: Environment::new([], std::path::PathBuf::new(), RunningProgram::default()),
        }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap()
    }

    fn wire(
        &self,
        hosts: &[Host],
        level: InstallLevel,
        act: InstallAct,
    ) -> Result<InstallAnswer, InstallError> {
        install(&self.folders(), hosts, level, &HostProgram::Found, act)
    }

    fn put(&self, name: &str) -> InstallAnswer {
        self.wire(&[host_named(name).unwrap()], InstallLevel::Project, InstallAct::Put).unwrap()
    }
}

/// Returns every file below a folder with its text, in order. The names of folders end with a
/// slash.
fn tree(folder: &Path) -> Vec<(String, String)> {
    fn walk(base: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(base).unwrap().display().to_string();
            if path.is_dir() {
                found.push((format!("{name}/"), String::new()));
                walk(base, &path, found);
            } else {
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}

/// Returns the files as one text for a snapshot.
fn shown(tree: &[(String, String)]) -> String {
    let files = tree.iter().filter(|(name, _)| !name.ends_with('/'));
    files.map(|(name, text)| format!("=== {name}\n{text}")).collect()
}

#[test]
fn every_host_has_a_recipe_and_every_recipe_a_host() {
    let hosts: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
    let recipes: Vec<&str> = recipes::RECIPES.iter().map(|recipe| recipe.host).collect();
    assert_eq!(recipes, hosts);
}

#[test]
fn the_files_of_each_host_are_as_stored() {
    for host in HOSTS {
        for (level, suffix) in [(InstallLevel::Project, "project"), (InstallLevel::User, "user")] {
            // The content of a plugin is tested elsewhere, so the snapshot shows only its first
            // lines.
            let plugin = ["opencode", "amp", "pi"].contains(&host.name);
            let place = Project::new();
            place.wire(&[*host], level, InstallAct::Put).unwrap();
            let folder = if level == InstallLevel::Project { "p" } else { "home" };
            let mut files = tree(&place.folder.path().join(folder));
            for (name, text) in &mut files {
                if plugin && (name.ends_with(".js") || name.ends_with(".ts")) {
                    *text = text.lines().take(2).collect::<Vec<_>>().join("\n") + "\n…\n";
                }
            }
            insta::assert_snapshot!(format!("{}-{suffix}", host.name), shown(&files));
        }
    }
}

#[test]
fn installing_twice_is_once_and_removing_leaves_nothing() {
    for level in [InstallLevel::Project, InstallLevel::User] {
        let all = Project::new();
        all.wire(HOSTS, level, InstallAct::Put).unwrap();
        let once = tree(all.folder.path());
        let again = all.wire(HOSTS, level, InstallAct::Put).unwrap();
        assert_eq!(tree(all.folder.path()), once);
        let files = again.agents.iter().flat_map(|agent| &agent.files);
        assert!(files.clone().count() > 20);
        assert!(files.clone().all(|file| file.done == Done::Kept));
        all.wire(HOSTS, level, InstallAct::Take).unwrap();
        assert_eq!(tree(all.folder.path()), tree(Project::new().folder.path()));
    }
    for host in HOSTS {
        let place = Project::new();
        place.put(host.name);
        place.wire(&[*host], InstallLevel::Project, InstallAct::Take).unwrap();
        assert_eq!(tree(&place.project()), [], "{}", host.name);
    }
}

#[test]
fn removing_restores_files_of_others_byte_for_byte() {
    let place = Project::new();
    let files = [
        (
            ".claude/settings.json",
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"./lint.sh\"\n          }\n        ]\n      }\n    ]\n  }\n}\n",
        ),
        (".codex/config.toml", "# ours\nmodel = \"m\"\n\n[mcp_servers.docs]\ncommand = \"docs\"\n"),
        (
            "opencode.jsonc",
            "{\n  // models\n  \"model\": \"m\",\n  \"mcp\": {\n    \"docs\": { \"type\": \"local\", \"command\": [\"docs\"] }\n  }\n}\n",
        ),
        (
            ".kiro/settings/mcp.json",
            "{\n  \"mcpServers\": {\n    \"docs\": {\"command\": \"docs\"}\n  }\n}\n",
        ),
    ];
    for (name, text) in files {
        place.write(name, text);
    }
    place.wire(HOSTS, InstallLevel::Project, InstallAct::Put).unwrap();
    assert!(!place.project().join("opencode.json").exists(), "the one that exists is used");
    for (name, text) in files {
        assert_ne!(place.text(name), text, "{name}");
    }
    place.wire(HOSTS, InstallLevel::Project, InstallAct::Take).unwrap();
    for (name, text) in files {
        let back = place.text(name);
        if name == "opencode.jsonc" {
            // The `$schema` that we added stays, because it is useful to everybody.
            assert!(back.contains("// models") && back.contains("\"docs\""), "{back}");
        } else {
            assert_eq!(back, text, "{name}");
        }
    }
}

#[test]
fn if_one_file_is_not_understood_no_file_is_changed() {
    for (name, text) in [
        (".gemini/settings.json", "{ not json"),
        (".codex/config.toml", "[["),
        (".cursor/hooks.json", "{\"hooks\": []}"),
        (".mcp.json", "{\"mcpServers\": {\"intent\": {\"command\": \"theirs\"}}}"),
        (".clinerules/hooks/PreToolUse", "#!/bin/sh\n./theirs\n"),
    ] {
        let place = Project::new();
        place.write(name, text);
        let before = tree(&place.project());
        let refused = place.wire(HOSTS, InstallLevel::Project, InstallAct::Put).unwrap_err();
        assert!(matches!(refused, InstallError::Conflict { .. }), "{refused}");
        assert!(refused.to_string().contains(name), "{refused}");
        assert_eq!(tree(&place.project()), before, "{name}");
    }
}

#[test]
fn a_binary_or_too_large_file_is_refused() {
    let place = Project::new();
    place.write(".cursor/x", "");
    fs::write(place.project().join(".cursor/hooks.json"), [0xff, 0xfe, b'{']).unwrap();
    let cursor = [host_named("cursor").unwrap()];
    let refused = place.wire(&cursor, InstallLevel::Project, InstallAct::Put).unwrap_err();
    assert!(matches!(refused, InstallError::Conflict { why: Conflict::NoText, .. }));
    place.write(".cursor/hooks.json", &" ".repeat(5 * 1024 * 1024));
    let refused = place.wire(&cursor, InstallLevel::Project, InstallAct::Put).unwrap_err();
    assert!(matches!(refused, InstallError::Store(StoreError::TooLarge { .. })));
}

#[cfg(unix)]
#[test]
fn settings_are_not_written_through_a_link() {
    for (link, target) in [(".cursor", "elsewhere"), (".cursor/hooks.json", "elsewhere/x.json")] {
        let place = Project::new();
        let target = place.folder.path().join(target);
        fs::create_dir_all(place.folder.path().join("elsewhere")).unwrap();
        fs::write(place.folder.path().join("elsewhere/x.json"), "{}").unwrap();
        let link = place.project().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let refused = place
            .wire(&[host_named("cursor").unwrap()], InstallLevel::Project, InstallAct::Put)
            .unwrap_err();
        assert!(matches!(refused, InstallError::Link { .. }), "{refused}");
        assert_eq!(tree(&place.folder.path().join("elsewhere")).len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn a_script_denies_if_the_program_is_missing() {
    use std::os::unix::fs::PermissionsExt;
    let place = Project::new();
    let cline = [host_named("cline").unwrap()];
    let gone = HostProgram::At("/nowhere/intent".to_owned());
    // Whoever clones the project may not have the program; a full path is for one machine.
    for (program, is_denied) in [(HostProgram::Found, false), (gone, true)] {
        install(&place.folders(), &cline, InstallLevel::Project, &program, InstallAct::Put)
            .unwrap();
        let script = place.project().join(".clinerules/hooks/PreToolUse");
        assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o111, 0o111);
        let mut run = std::process::Command::new(&script);
        let done = run.env("PATH", "/bin:/usr/bin").output().unwrap();
        let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(said["cancel"], is_denied);
    }
}

/// Returns every command that the settings below a folder start in a shell.
#[cfg(unix)]
fn shell_commands(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value.as_str()) {
                    ("command" | "bash", Some(command)) if command.contains(" hook ") => {
                        found.push(command.to_owned());
                    }
                    _ => shell_commands(value, found),
                }
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|one| shell_commands(one, found)),
        _ => {}
    }
}

/// Hosts that stop a call if its hook fails. Committed settings must not stop the agents of people
/// who do not have the program.
#[cfg(unix)]
#[test]
fn without_the_program_a_hook_does_nothing_and_a_session_begins_with_a_word() {
    for (host, file) in
        [("claude-code", ".claude/settings.json"), ("copilot", ".github/hooks/intent.json")]
    {
        let place = Project::new();
        place.put(host);
        let mut commands = Vec::new();
        shell_commands(&json::data(&place.text(file)).unwrap(), &mut commands);
        assert!(commands.len() > 3, "{commands:?}");
        let mut said = 0;
        for command in commands {
            let mut run = std::process::Command::new("/bin/sh");
            let done = run.args(["-c", &command]).env("PATH", "/nowhere").output().unwrap();
            assert_eq!(done.status.code(), Some(0), "{command}");
            said += usize::from(!done.stdout.is_empty());
        }
        assert_eq!(said, usize::from(host == "claude-code"));
    }
    let place = Project::new();
    place.put("cursor");
    assert!(!place.text(".cursor/hooks.json").contains("failClosed"));
}

#[test]
fn a_path_is_quoted_only_if_necessary() {
    let place = Project::new();
    for (path, expected) in [
        ("/opt/bin/intent", "/opt/bin/intent hook codex"),
        ("/opt/my tools/intent", "\"/opt/my tools/intent\" hook codex"),
        ("C:\\Tools\\intent.exe", "C:/Tools/intent.exe hook codex"),
    ] {
        let program = HostProgram::At(path.to_owned());
        let codex = [host_named("codex").unwrap()];
        install(&place.folders(), &codex, InstallLevel::Project, &program, InstallAct::Put)
            .unwrap();
        let hooks = json::data(&place.text(".codex/hooks.json")).unwrap();
        assert_eq!(hooks["hooks"]["PreToolUse"][0]["hooks"][0]["command"], expected);
        assert_eq!(hooks["hooks"]["PreToolUse"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_file_that_two_hosts_read_is_written_once() {
    let place = Project::new();
    let answer = place.wire(HOSTS, InstallLevel::Project, InstallAct::Put).unwrap();
    let done = |agent: &str| {
        let agent = answer.agents.iter().find(|it| it.agent == agent).unwrap();
        agent.files.iter().find(|file| file.path.contains(".github")).unwrap().done
    };
    assert_eq!((done("copilot"), done("vscode")), (Done::Created, Done::Kept));
}
