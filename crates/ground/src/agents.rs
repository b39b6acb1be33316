//! Detects whether an agent runs this process. It looks at the environment variables that agents
//! set in the shells that they start, and on Linux also at the parent processes.
//!
//! An agent that clears these variables and makes another process its parent is not detected;
//! `docs/approvals.md` says so.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Environment, text};

/// Variables that agents set in the shells that they start, and that people do not set. Settings of
/// an agent (`CODEX_HOME`) are not in the list, and neither are variables that editors set in a
/// person's own terminal (`CURSOR_TRACE_ID`, `CLAUDE_CODE_SSE_PORT`).
const MARKERS: &str = "
    AGENT AI_AGENT AIDER_SESSION AMP_CURRENT_THREAD_ID AMP_THREAD_ID ANTIGRAVITY_AGENT
    ANTIGRAVITY_CLI_ALIAS AUGMENT_AGENT CLAUDECODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT
    CLAUDE_CODE_EXECPATH CLAUDE_CODE_SESSION_ID CLINE_ACTIVE CODEX_CI CODEX_SANDBOX
    CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID COPILOT_AGENT_SESSION_ID COPILOT_CLI CRUSH
    CURSOR_AGENT DEVIN_PROJECT_DIR DEVIN_SESSION_ID GEMINI_CLI GOOSE_TERMINAL KIRO_AGENT
    KIRO_SESSION_ID OPENCODE OPENCODE_PID PI_CODING_AGENT QWEN_CODE TRAE_AI_SHELL_ID
";

/// The names of programs that are agents. Editors whose agent shares the person's terminal are not
/// in the list, since otherwise nobody could approve anything there.
const AGENTS: &str = "
    aider amp auggie claude cline codex copilot crush cursor-agent devin droid gemini goose iflow
    kilocode kiro-cli kiro-cli-chat opencode openhands pi qchat qwen
";

const PACKAGES: &str = "
    @anthropic-ai/claude-code @augmentcode/auggie @github/copilot @google/gemini-cli
    @mariozechner/pi-coding-agent @openai/codex @openhands @qwen-code/qwen-code @sourcegraph/amp
    @charmland/crush aider-chat cursor-agent/versions opencode-ai site-packages/aider
";

const INTERPRETERS: &str = "node nodejs bun deno python python3 ruby electron";

/// Returns the sign that an agent runs this process, directly or through other processes:
/// `CLAUDECODE is set`, `it was started by codex`. `None` if there is no sign.
pub fn agent_above(environment: &Environment) -> Option<String> {
    sign_of_agent(environment, ancestors().iter())
}

/// Like `agent_above`, but of the parent processes it checks only the nearest one that is no shell or
/// script. This is for a server that an editor starts: an agent farther up may only have started the
/// editor. The variables count
/// all the same, because an agent could start the server through another program and answer its
/// dialogs.
pub fn agent_of_parent(environment: &Environment) -> Option<String> {
    let is_between = |process: &&Ancestor| {
        let program = process.program();
        starts_others(&program) || is_version_of(&program, "python")
    };
    let above = ancestors();
    sign_of_agent(environment, above.iter().skip_while(is_between).take(1))
}

fn sign_of_agent<'a>(
    environment: &Environment,
    mut above: impl Iterator<Item = &'a Ancestor>,
) -> Option<String> {
    let is_set = |name: &str| environment.variable(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = marker(is_set) {
        return Some(format!("{name} is set"));
    }
    let started_by = above.find_map(|process| agent_in(&process.words))?;
    Some(format!("it was started by {started_by}"))
}

fn marker(is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    MARKERS.split_whitespace().find(|name| is_set(name))
}

fn agent_in(words: &[String]) -> Option<&'static str> {
    let program = base(words.first()?);
    if let Some(name) = AGENTS.split_whitespace().find(|name| *name == program) {
        return Some(name);
    }
    let package = |word: &String| {
        PACKAGES.split_whitespace().find(|name| word.replace('\\', "/").contains(name))
    };
    if !INTERPRETERS.split_whitespace().any(|name| is_version_of(&program, name)) {
        return package(words.first()?);
    }
    let script = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
    let name = base(script);
    package(script).or_else(|| AGENTS.split_whitespace().find(|agent| *agent == name))
}

/// Returns true if the program is a version of the interpreter: `python3.12` is a version of
/// `python3`.
fn is_version_of(program: &str, name: &str) -> bool {
    program
        .strip_prefix(name)
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// Returns the name of a program or script in lower case, without its folders, its file extension,
/// and the `-` that marks a login shell.
fn base(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).trim_start_matches('-');
    let ending = [".exe", ".cmd", ".js", ".mjs", ".cjs", ".py"];
    let plain = ending.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    plain.to_ascii_lowercase()
}

const SESSIONS: &str = "
    AMP_CURRENT_THREAD_ID AMP_THREAD_ID CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID
    COPILOT_AGENT_SESSION_ID DEVIN_SESSION_ID KIRO_SESSION_ID
";

pub(crate) fn sessions_in(environment: &Environment) -> Vec<String> {
    let value = |name: &str| environment.variable(name)?.to_str().map(str::to_owned);
    SESSIONS.split_whitespace().filter_map(value).collect()
}

/// A process of this machine. The time of its start tells it apart from a later one with the same
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    number: u32,
    started: u64,
}

struct Ancestor {
    id: ProcessId,
    words: Vec<String>,
}

impl Ancestor {
    fn program(&self) -> String {
        self.words.first().map(|word| base(word)).unwrap_or_default()
    }
}

const SHELLS: &str = "sh bash dash zsh fish ksh";

fn above_hook() -> Vec<Ancestor> {
    let is_shell = |process: &Ancestor| {
        text::is_listed(SHELLS, &process.program())
            && process.words.iter().skip(1).any(|word| word == "-c")
    };
    ancestors().into_iter().skip_while(is_shell).collect()
}

/// Returns the process of the host that runs this process as its hook. `None` on systems other than
/// Linux.
pub(crate) fn host_of_hook() -> Option<ProcessId> {
    let above = above_hook();
    let first = above.first()?;
    // A host may be several processes of one program, of which one runs hooks and another one the
    // commands.
    let same = above.iter().take_while(|process| process.program() == first.program());
    same.last().map(|top| top.id)
}

const EDITORS: &str = "
    .cursor-server .vscode-server .vscode-server-insiders .windsurf-server .vscodium-server
    .antigravity-server code-server openvscode-server extensionHost
";
const FIRST: &str = "catatonit docker-init dumb-init init runit s6-svscan systemd tini";

/// Returns true if a host seems to run this process as its hook. A script that calls the hook itself
/// is no host, and neither is another program that a command of a host has started. `hosts` returns
/// the processes that have run hooks here before. Always true on systems other than Linux.
pub fn is_hook_of_host(hosts: impl FnOnce() -> Vec<ProcessId>) -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    let above = above_hook();
    let Some(first) = above.first() else {
        // Whoever started the hook has ended, or is the first process of a container.
        let first = command_line(1).unwrap_or_default();
        return agent_in(&first).is_some()
            || first.first().is_some_and(|word| !starts_others(&base(word)));
    };
    let program = first.program();
    if agent_in(&first.words).is_some() {
        return true;
    }
    let is_interpreter = INTERPRETERS.split_whitespace().any(|name| is_version_of(&program, name));
    if is_interpreter || starts_others(&program) {
        let is_of_editor =
            |word: &String| EDITORS.split_whitespace().any(|name| word.contains(name));
        return is_interpreter && first.words.iter().take(4).any(is_of_editor);
    }
    let others = || above.iter().filter(|process| process.program() != program);
    let hosts = hosts();
    !others().any(|process| hosts.contains(&process.id))
}

fn starts_others(program: &str) -> bool {
    const SCRIPTS: &str = "awk busybox env nohup perl php setsid timeout xargs";
    [SHELLS, FIRST, SCRIPTS].iter().any(|names| text::is_listed(names, program))
}

/// Returns true if this process descends from another one. `None` if that one does not run any more,
/// or is not seen from here.
pub(crate) fn descends_from(process: ProcessId) -> Option<bool> {
    (started(process.number) == Some(process.started))
        .then(|| ancestors().iter().any(|above| above.id == process))
}

impl ProcessId {
    /// Returns true if the process still runs. False on systems other than Linux.
    pub(crate) fn runs(self) -> bool {
        started(self.number) == Some(self.started)
    }
}

/// Returns the processes that work in a folder, without this process and those above it. Empty on
/// systems other than Linux.
pub(crate) fn processes_in(folder: &Path) -> Vec<ProcessId> {
    let above: Vec<u32> = ancestors().iter().map(|process| process.id.number).collect();
    let own = std::process::id();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_other = |number: &u32| *number != own && !above.contains(number);
    let works_there = |number: &u32| {
        std::fs::read_link(format!("/proc/{number}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    let id = |number| Some(ProcessId { number, started: started(number)? });
    numbers.filter(is_other).filter(works_there).filter_map(id).collect()
}

/// Returns the parent processes, nearest first. Empty on systems other than Linux.
fn ancestors() -> Vec<Ancestor> {
    /// No real process is nested this deep. The limit ends the search if the data has a cycle.
    const MAX_DEPTH: usize = 64;
    let parent =
        |stat: &str| field_of(stat, PARENT).and_then(|parent| parent.try_into().ok()).unwrap_or(0);
    let mut found = Vec::new();
    let mut number: u32 = parent(&stat_of(std::process::id()));
    while number > 1 && found.len() < MAX_DEPTH {
        let Some(words) = command_line(number) else { break };
        let stat = stat_of(number);
        let started = field_of(&stat, START).unwrap_or(0);
        found.push(Ancestor { id: ProcessId { number, started }, words });
        number = parent(&stat);
    }
    found
}

fn command_line(process: u32) -> Option<Vec<String>> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let bytes = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    Some(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

/// The index of the number of the parent process, and that of the time of the start in clock ticks
/// since boot, among the fields after the name of the process.
const PARENT: usize = 1;
const START: usize = 19;

fn started(process: u32) -> Option<u64> {
    let stat = stat_of(process);
    // A zombie has ended, and only waits for its parent.
    let is_zombie = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'));
    field_of(&stat, START).filter(|_| !is_zombie)
}

/// Empty on systems other than Linux.
fn stat_of(process: u32) -> String {
    if !cfg!(target_os = "linux") {
        return String::new();
    }
    std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default()
}

/// Returns a number from the content of `/proc/…/stat`. The process name before it is in parentheses
/// and can contain any character.
fn field_of(stat: &str, field: usize) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(field)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn agents_are_known_by_their_command_line() {
        for (line, expected) in [
            ("claude", Some("claude")),
            ("/home/a/.local/bin/claude --resume", Some("claude")),
            ("/usr/bin/codex exec x", Some("codex")),
            (
                "node /usr/lib/node_modules/@google/gemini-cli/dist/index.js",
                Some("@google/gemini-cli"),
            ),
            ("node --no-warnings /usr/local/bin/gemini", Some("gemini")),
            ("/opt/bin/bun /x/opencode", Some("opencode")),
            ("/x/node_modules/opencode-ai/bin/.opencode", Some("opencode-ai")),
            ("/usr/bin/python3.12 /home/a/.local/bin/aider --yes", Some("aider")),
            ("C:\\Users\\a\\codex.exe", Some("codex")),
            ("-bash", None),
            ("zsh -c claude", None),
            ("/usr/share/code/code --type=zygote", None),
            ("/opt/Cursor/cursor", None),
            ("node server.js", None),
            ("vim claude", None),
            ("tail -f codex", None),
            ("python3 gemini_notes.py", None),
            ("pip install aider-chat", None),
        ] {
            assert_eq!(agent_in(&words_of(line)), expected, "{line}");
        }
        assert_eq!(agent_in(&[]), None);
    }

    #[test]
    fn every_marker_is_noticed() {
        for name in MARKERS.split_whitespace() {
            assert_eq!(marker(|asked| asked == name), Some(name));
        }
        let settings = ["CODEX_HOME", "CURSOR_TRACE_ID", "CLAUDE_CODE_SSE_PORT", "GEMINI_API_KEY"];
        assert_eq!(marker(|asked| settings.contains(&asked)), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn parents_are_read_whatever_the_name_is() {
        assert_eq!(field_of("7 (a) S 3 7 7", PARENT), Some(3));
        assert_eq!(field_of("7 (a) S 9 (x) R 4 7", PARENT), Some(4));
        assert_eq!(field_of("7 (a", PARENT), None);
        assert!(!ancestors().is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_descends_from_those_above_it_only() {
        let host = host_of_hook().expect("somebody started this test");
        assert_eq!(descends_from(host), Some(true));
        let mut other = std::process::Command::new("sleep").arg("60").spawn().expect("started");
        let number = other.id();
        let id = ProcessId { number, started: started(number).expect("it runs") };
        assert_eq!(descends_from(id), Some(false));
        assert_eq!(descends_from(ProcessId { started: id.started + 1, ..id }), None);
        other.kill().expect("ended");
        other.wait().expect("ended");
        assert_eq!(descends_from(id), None, "it has ended");
    }
}
