//! The commands of the documents, pasted into repositories that know nothing of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::lab::Lab;

/// What is needed before a command can be pasted, and which commands cannot be pasted.
const CONDITIONS: &str = include_str!("documented.txt");

/// Returns the README and the documents below `docs/`, by their paths.
fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["docs", "docs/diagnostics"].into_iter().flat_map(|folder| {
        let files = std::fs::read_dir(root.join(folder)).expect("documents");
        files.map(move |file| format!("{folder}/{}", file.expect("a file").file_name().display()))
    });
    let paths = folders.filter(|path| path.ends_with(".md")).chain(["README.md".to_owned()]);
    let read = |path: String| {
        let text = std::fs::read_to_string(root.join(&path)).expect("text");
        (path, text)
    };
    paths.map(read).collect()
}

/// Returns the texts of the conditions of one kind for a document.
fn conditions(kind: &str, document: &str) -> impl Iterator<Item = &'static str> {
    CONDITIONS.lines().filter_map(move |line| {
        let (whose, text) = line.strip_prefix(kind)?.trim_start().split_once(": ")?;
        (whose == document || whose == "*").then_some(text)
    })
}

/// Returns the commands of the console blocks of a document.
fn commands(document: &str) -> Vec<String> {
    let mut is_console = false;
    let mut typed: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in document.lines().map(str::trim_start) {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if is_console && goes_on {
            let last = typed.last_mut().expect("a command");
            last.push('\n');
            last.push_str(line);
            goes_on = line.ends_with('\\');
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            typed.push(command.to_owned());
            goes_on = command.ends_with('\\');
        }
    }
    typed
}

/// A project of another kind than the examples of the documents.
fn projects() -> [Lab; 2] {
    let python = Lab::git();
    python.write("app/main.py", "def main():\n    print(1)\n");
    python.write("src/auth/middleware.ts", "// The file of the story.\n".repeat(10));
    python.commit();
    python.run_git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let rust = Lab::git();
    rust.write("Cargo.toml", "[package]\nname = \"x\"\n");
    rust.write("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n");
    rust.write("src/auth/middleware.ts", "export const one = 1;\n".repeat(10));
    rust.commit();
    rust.run_git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    [python, rust]
}

#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn every_command_of_the_documents_can_be_pasted() {
    let program = Path::new(env!("CARGO_BIN_EXE_intent")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut bad = Vec::new();
    let mut skipped = BTreeSet::new();
    for (name, document) in documents() {
        let mut is_pasted = |command: &String| {
            let mut rows = conditions("skip", &name).filter_map(|row| row.split_once(" | "));
            let row = rows.find(|(start, _)| command.starts_with(*start));
            skipped.extend(row.map(|(start, _)| start));
            row.is_none()
        };
        let commands = commands(&document);
        let commands: Vec<&String> = commands.iter().filter(|command| is_pasted(command)).collect();
        if commands.is_empty() {
            continue;
        }
        for lab in projects() {
            for given in conditions("given", &name) {
                assert!(lab.paste(given), "{name}: {given}");
            }
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
    let rows = CONDITIONS.lines().filter(|line| line.starts_with("skip ")).count();
    assert_eq!(skipped.len(), rows, "each row is about a command that is there: {skipped:?}");
}
