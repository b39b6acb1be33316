//! A working day of an honest agent, as data: what its owner would want for each call, compared with what the hook says
//! before and after it.
//!
//! A line of `tests/day/*.txt` has the wanted answer, a kind, and its arguments, with tabs between them; `⏎` stands for
//! the end of a line. `allow` wants no objection at all, `note` a violation that is told after the call. A person agrees
//! to what is asked. The kinds are:
//!
//! - `runs COMMAND`: a command that really runs, and `stays COMMAND`: likewise, in the background
//! - `would COMMAND`: a command that does not run, because it needs a program or a machine that is not there
//! - `read PATH FIRST LAST`, `edit PATH OLD NEW`, `multi PATH OLD NEW …`, `write PATH TEXT`, `cell PATH ID SOURCE`
//! - `beside COMMAND PATH OLD NEW`: while the command runs, another agent makes an edit that it may make
//! - `with COMMAND PATH OLD NEW`: while the command runs, a person saves an edit in an editor
//! - `person COMMAND`: a command of a person, in a terminal of their own
//!
//! `b.` before a kind stands for the other agent. Each list was written before it was run. What the first three showed was
//! mended; `held_out.txt` was written after that, and nothing was mended because of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use edits::notebook::{CellEdit, CellMode};
use edits::{After, Change};
use ground::Environment;
use ground::environment::RunningProgram;
use hook::answer::HookAnswer;
use hook::run::{Verbs, answered};
use judgement::{after, gate};
use serde_json::{Value, json};

use crate::support::{relative, sample_or_all, temporary_folder};
use why::Workspace;

const VERBS: Verbs = Verbs {
    before: gate::judge_before_call,
    after: after::tell_and_record,
    prompt: gate::prompt,
    idle: after::idle,
    rest: after::refresh_map,
    clear: gate::clear,
    end: gate::end,
    session_start: gate::session_start,
};

/// A clone of a small library, with the repository that it was cloned from, and a home folder.
struct Desk {
    folder: tempfile::TempDir,
    calls: usize,
}

/// What was said about a call.
#[derive(Debug, Default)]
struct Said {
    before: Option<(&'static str, String)>,
    after: Option<String>,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { folder: temporary_folder(), calls: 0 };
        for file in include_str!("day/library.txt").split("=== ").skip(1) {
            let (path, text) = file.split_once('\n').expect("a path");
            desk.put(path, text);
        }
        std::fs::create_dir_all(desk.home()).expect("a folder");
        desk.run("git init -q --bare -b main ../origin.git && git init -q -b main && git add -A && git commit -qm start");
        desk.run(
            "git remote add origin ../origin.git && git push -q origin main && git fetch -q origin",
        );
        desk
    }

    fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it exists")
    }

    fn clone(&self) -> PathBuf {
        self.top().join("clone")
    }

    fn home(&self) -> PathBuf {
        self.top().join("home")
    }

    fn put(&self, path: &str, text: &str) {
        let file = self.clone().join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::write(file, text).expect("a file");
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        let own = [
            ("HOME", self.home().into_os_string()),
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
            ("PYTHONDONTWRITEBYTECODE", "1".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_EDITOR", "true".into()),
        ];
        let names = ["AUTHOR_NAME", "COMMITTER_NAME", "AUTHOR_EMAIL", "COMMITTER_EMAIL"];
        let names = names.map(|name| (format!("GIT_{name}").into(), "day@example.invalid".into()));
        own.into_iter().map(|(name, value)| (name.into(), value)).chain(names).collect()
    }

    fn run(&self, command: &str) {
        let mut shell = Command::new("bash");
        shell.args(["-c", command]).current_dir(self.clone()).env_clear().envs(self.variables());
        shell.stdin(Stdio::null()).output().expect("bash runs");
    }

    /// Returns what the hook says at one moment of a call.
    fn ask(&self, moment: &str, agent: &str, call: &Call, id: usize) -> HookAnswer {
        let payload = json!({
            "hook_event_name": moment,
            "session_id": agent,
            "cwd": self.clone(),
            "tool_name": call.tool,
            "tool_input": call.input,
            "tool_response": {},
            "tool_use_id": format!("{agent}-{id}"),
        })
        .to_string();
        let environment =
            Environment::new(self.variables(), self.clone(), RunningProgram::new(None));
        loop {
            let input = std::io::Cursor::new(payload.clone().into_bytes());
            let (_, answer, _) = answered("claude-code", input, VERBS, &environment);
            // The machine may be busy, and the program is not optimised here.
            match &answer {
                HookAnswer::Deny(why) if why.contains("come to an answer in time") => {}
                _ => return answer,
            }
        }
    }

    /// Makes a call of an agent, and `meanwhile` what others do while it runs.
    fn call(&mut self, agent: &str, call: &Call, meanwhile: impl FnOnce(&mut Self)) -> Said {
        self.calls += 1;
        let id = self.calls;
        let before = match self.ask("PreToolUse", agent, call, id) {
            HookAnswer::Deny(why) => return Said { before: Some(("deny", why)), after: None },
            HookAnswer::Ask(why) => Some(("ask", why)),
            _ => None,
        };
        call.deed.make(self);
        meanwhile(self);
        let after = match self.ask("PostToolUse", agent, call, id) {
            HookAnswer::Violation(text) => Some(text),
            _ => None,
        };
        Said { before, after }
    }
}

/// What a call does when it is let through.
enum Deed {
    Nothing,
    Run(String),
    Write(String, String),
}

impl Deed {
    fn make(&self, desk: &Desk) {
        match self {
            Self::Nothing => {}
            Self::Run(command) => desk.run(command),
            Self::Write(path, text) => desk.put(path, text),
        }
    }
}

struct Call {
    tool: &'static str,
    input: Value,
    deed: Deed,
}

impl Call {
    /// Reads a call. `None` if an edit names a text that is not there.
    fn of_line(desk: &Desk, kind: &str, arguments: &[String]) -> Option<Self> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let absolute = |path: &str| desk.clone().join(path);
        let text = |path: &str| std::fs::read_to_string(absolute(path)).unwrap_or_default();
        let bash = |command: &str, background: bool| json!({ "command": command, "run_in_background": background });
        let (tool, input, deed) = match (kind, words.as_slice()) {
            ("runs" | "beside" | "with", [command, ..]) => {
                ("Bash", bash(command, false), Deed::Run((*command).to_owned()))
            }
            ("stays", [command]) => ("Bash", bash(command, true), Deed::Run((*command).to_owned())),
            ("would", [command]) => ("Bash", bash(command, false), Deed::Nothing),
            ("read", [path]) => ("Read", json!({ "file_path": absolute(path) }), Deed::Nothing),
            ("read", [path, first, last]) => {
                let number = |word: &str| word.parse::<u64>().expect("a number");
                let count = number(last) + 1 - number(first);
                let input =
                    json!({ "file_path": absolute(path), "offset": number(first), "limit": count });
                ("Read", input, Deed::Nothing)
            }
            ("edit", [path, old, new]) => {
                let (before, input) = (
                    text(path),
                    json!({ "file_path": absolute(path), "old_string": old, "new_string": new }),
                );
                let after = before.contains(old).then(|| before.replacen(old, new, 1))?;
                ("Edit", input, Deed::Write((*path).to_owned(), after))
            }
            ("multi", [path, pairs @ ..]) => {
                let mut after = text(path);
                let mut edits = Vec::new();
                for pair in pairs.chunks(2) {
                    after = after.contains(pair[0]).then(|| after.replacen(pair[0], pair[1], 1))?;
                    edits.push(json!({ "old_string": pair[0], "new_string": pair[1] }));
                }
                let input = json!({ "file_path": absolute(path), "edits": edits });
                ("MultiEdit", input, Deed::Write((*path).to_owned(), after))
            }
            ("write", [path, content]) => {
                let input = json!({ "file_path": absolute(path), "content": content });
                ("Write", input, Deed::Write((*path).to_owned(), (*content).to_owned()))
            }
            ("cell", [path, id, source]) => {
                let input =
                    json!({ "notebook_path": absolute(path), "cell_id": id, "new_source": source });
                let cell = CellEdit {
                    cell_id: Some(id.to_string()),
                    cell_number: None,
                    source: source.to_string(),
                    kind: None,
                    mode: CellMode::Replace,
                };
                let After::Text(after) = Change::Cell(cell).text_after(Some(&text(path))) else {
                    return None;
                };
                ("NotebookEdit", input, Deed::Write((*path).to_owned(), after))
            }
            _ => panic!("{kind} {words:?}"),
        };
        Some(Self { tool, input, deed })
    }
}

/// How the lines of a list were answered.
#[derive(Default)]
struct Result {
    calls: usize,
    unwanted: Vec<String>,
    /// Writes out of scope that nobody was told about.
    missed: Vec<String>,
}

/// Lives through a day, and prints what is unwanted.
fn lived(name: &str, list: &str) -> Result {
    let mut desk = Desk::new();
    let mut result = Result::default();
    for (at, line) in list.lines().enumerate().filter(|(_, line)| !line.starts_with("##")) {
        let mut cells = line.split('\t').map(|cell| cell.replace('⏎', "\n"));
        let (wanted, kind) = (cells.next().expect("an answer"), cells.next().expect("a kind"));
        let arguments: Vec<String> = cells.collect();
        let place = format!("{name}:{}: {}", at + 1, line.replace('\t', " "));
        if kind == "person" {
            desk.run(&arguments[0]);
            continue;
        }
        let (agent, kind) = kind.strip_prefix("b.").map_or(("a", &*kind), |kind| ("b", kind));
        let Some(call) = Call::of_line(&desk, kind, &arguments) else {
            result.unwanted.push(format!("{place}\n    the text is not there"));
            continue;
        };
        let said = match kind {
            "beside" => {
                let edit =
                    Call::of_line(&desk, "edit", &arguments[1..]).expect("the text is there");
                desk.call(agent, &call, |desk| {
                    let said = desk.call("b", &edit, |_| {});
                    assert!(said.before.is_none() && said.after.is_none(), "{place}: {said:?}");
                })
            }
            "with" => {
                let edit =
                    Call::of_line(&desk, "edit", &arguments[1..]).expect("the text is there");
                desk.call(agent, &call, |desk| {
                    edit.deed.make(desk);
                    saved_in_editor(&desk.clone(), &arguments[1]);
                })
            }
            _ => desk.call(agent, &call, |_| {}),
        };
        result.calls += 1;
        let found = match (&said.before, &said.after) {
            (Some((answer, _)), None) => answer,
            (None, Some(_)) => "note",
            (None, None) => "allow",
            (Some(_), Some(_)) => "ask and note",
        };
        if wanted == "-" || found == wanted {
            continue;
        }
        let why = said.before.map(|(_, why)| why).into_iter().chain(said.after);
        let why: Vec<String> = why.map(|why| why.replace('\n', " ")).collect();
        let shown = format!("{place}\n    {found}: {}", why.join(" / "));
        if found == "allow" && wanted != "ask" {
            result.missed.push(shown)
        } else {
            result.unwanted.push(shown)
        }
    }
    result
}

/// Does what the server does when a person saves a file in an editor.
fn saved_in_editor(clone: &Path, path: &str) {
    let ws = Workspace::open(clone, &Environment::of_process()).expect("a workspace");
    let text = std::fs::read_to_string(clone.join(path)).expect("a text");
    after::note_saved_file(&ws, &relative(path), &text);
}

/// A list has at most one call in a hundred that its owner would want answered otherwise.
fn is_calm(result: &Result) {
    assert!(result.calls > 140, "only {} calls", result.calls);
    assert!(result.missed.is_empty(), "missed:\n{}", result.missed.join("\n"));
    let unwanted = &result.unwanted;
    assert!(unwanted.len() * 100 <= result.calls, "unwanted:\n{}", unwanted.join("\n"));
}

#[test]
#[ignore = "slow"]
fn days_pass_without_false_trouble() {
    let tuning = ("tuning.txt", include_str!("day/tuning.txt"));
    let second = ("second.txt", include_str!("day/second.txt"));
    let third = ("third.txt", include_str!("day/third.txt"));
    for (name, list) in sample_or_all(&[tuning][..], &[tuning, second, third]) {
        is_calm(&lived(name, list));
    }
}

#[test]
#[ignore = "slow"]
fn a_day_that_nobody_had_seen_passes_without_false_trouble() {
    is_calm(&lived("held_out.txt", include_str!("day/held_out.txt")));
}
