//! The commands of the documents, pasted into repositories that know nothing of them.

use std::process::Command;

use super::lab::Lab;

/// The documents whose commands work in any repository. `tests/e2e` plays the story and the approvals.
const DOCUMENTS: [(&str, &str); 6] = [
    ("README.md", include_str!("../../README.md")),
    ("docs/agents.md", include_str!("../../docs/agents.md")),
    ("docs/ci.md", include_str!("../../docs/ci.md")),
    ("docs/day-one.md", include_str!("../../docs/day-one.md")),
    ("docs/git-hooks.md", include_str!("../../docs/git-hooks.md")),
    ("docs/shell.md", include_str!("../../docs/shell.md")),
];
/// Programs that a reader may not have, or that build this project.
const OTHER_PROGRAMS: [&str; 5] = ["cargo", "code", ".ci/", "pip", "pre-commit"];

/// Returns the commands of the console blocks of a document.
fn commands(document: &str) -> Vec<&str> {
    let mut is_console = false;
    let lines = document.lines().filter(|line| {
        if line.starts_with("```") {
            is_console = *line == "```console";
        }
        is_console && line.starts_with("$ ")
    });
    let typed = lines.filter_map(|line| line.strip_prefix("$ "));
    typed.filter(|line| !OTHER_PROGRAMS.iter().any(|other| line.starts_with(other))).collect()
}

/// A project of another kind than the examples of the documents.
fn projects() -> [Lab; 2] {
    let python = Lab::git();
    python.write("app/main.py", "def main():\n    print(1)\n");
    python.commit();
    let rust = Lab::git();
    rust.write("Cargo.toml", "[package]\nname = \"x\"\n");
    rust.write("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n");
    rust.commit();
    [python, rust]
}

#[cfg(unix)]
#[test]
fn every_command_of_the_documents_can_be_pasted() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_intent")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut bad = Vec::new();
    for (name, document) in DOCUMENTS {
        let commands = commands(document);
        assert!(!commands.is_empty(), "{name}");
        for lab in projects() {
            // `doctor` tells by its exit code that something is missing.
            let script: String = commands
                .iter()
                .map(|line| format!("{line}\ncode=$?\ncase $code:'{}' in 0:*|1:'intent doctor'*) ;; *) echo \"FAILED $code: \" '{}' ;; esac\n", line.replace('\'', ""), line.replace('\'', "")))
                .collect();
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).current_dir(&lab.root).env("PATH", &path);
            let home = lab.root.parent().expect("a folder").join("home");
            std::fs::create_dir_all(&home).expect("a folder");
            shell.env("HOME", &home).env("GIT_CONFIG_NOSYSTEM", "1");
            let output = shell.stdin(std::process::Stdio::null()).output().expect("a shell");
            let told = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            if told.contains("FAILED ") || told.contains("error:") {
                bad.push(format!("{name}\n{told}"));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
