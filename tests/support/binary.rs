//! Commands of the program, run as a user would run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::{Repo, inside};

/// The exit code and the output of a command.
pub struct Answer {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Answer {
    pub fn of(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let answer = Self {
            code: output.status.code().expect("it ends by itself"),
            out: text(&output.stdout),
            err: text(&output.stderr),
        };
        assert!(!answer.err.contains("panicked"), "{}", answer.err);
        assert!((0..=2).contains(&answer.code), "{}: {}", answer.code, answer.err);
        answer
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }
}

/// Returns a command that starts the real program.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_intent"));
    command.current_dir(folder).args(arguments).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

pub fn intent_in(folder: &Path, arguments: &[&str]) -> Answer {
    Answer::of(match inside::can_run(arguments) {
        true => {
            let colourless = ("NO_COLOR".into(), "1".into());
            inside::run(folder, arguments, std::env::vars_os().chain([colourless]))
        }
        false => command(folder, arguments).output().expect("the binary runs"),
    })
}

pub fn intent(repo: &Repo, arguments: &[&str]) -> Answer {
    intent_in(&repo.root(), arguments)
}

pub fn recorded(repo: &Repo, id: &str, path: &str) -> Answer {
    intent(repo, &["record", "--json", "--intent", id, path])
}

/// Returns `verdict intent name` for each block, one per line.
pub fn why(repo: &Repo, path: &str) -> String {
    let answer = intent(repo, &["why", "--json", path]).json();
    let blocks = answer["blocks"].as_array().expect("blocks").iter();
    blocks
        .map(|block| {
            let id = block["intent"]["id"].as_str().unwrap_or("-");
            let verdict = block["verdict"].as_str().expect("a verdict");
            format!("{verdict} {id} {}\n", block["name"].as_str().expect("a name"))
        })
        .collect()
}

/// Returns the codes of the findings of `verify`, and the number of records that it read.
pub fn verified(repo: &Repo) -> (Vec<String>, u64) {
    let answer = intent(repo, &["verify", "--json"]).json();
    let findings = answer["findings"].as_array().expect("findings").iter();
    let codes = findings.map(|finding| finding["code"].as_str().expect("a code").to_owned());
    (codes.collect(), answer["records"].as_u64().expect("a number"))
}

/// Returns every file of the work tree with its bytes; for a link, the path that it leads to.
pub fn picture(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let kind = path.symlink_metadata().expect("there").file_type();
            if path.ends_with(".git") {
                continue;
            } else if kind.is_symlink() {
                let leads = std::fs::read_link(&path).expect("a link");
                files.insert(path, leads.to_string_lossy().into_owned().into_bytes());
            } else if kind.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), std::fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

/// A function in which another number changes most of its lines.
pub fn function(name: &str, number: u32) -> String {
    format!(
        "fn {name}() {{\n    let {name}_sum = {number};\n    for at in {number}..{name}_sum {{\n        work(at, \"{name}\", {number});\n    }}\n}}\n\n"
    )
}
