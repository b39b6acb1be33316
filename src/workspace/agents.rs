//! Whether an agent runs this process, as far as can be seen from inside: by the variables that agents set in the shells
//! that they start, and on Linux by the processes above.
//!
//! An agent that clears its variables and lets itself be adopted by another process is not seen; `docs/approvals.md`
//! says so.

/// Variables that agents set in the shells they start, and that people do not: settings of an agent (`CODEX_HOME`) and
/// what editors set in a person's own terminal (`CURSOR_TRACE_ID`, `CLAUDE_CODE_SSE_PORT`) are not among them.
const MARKERS: [&str; 33] = [
    "AGENT",
    "AI_AGENT",
    "AIDER_SESSION",
    "AMP_CURRENT_THREAD_ID",
    "AMP_THREAD_ID",
    "ANTIGRAVITY_AGENT",
    "ANTIGRAVITY_CLI_ALIAS",
    "AUGMENT_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_SESSION_ID",
    "CLINE_ACTIVE",
    "CODEX_CI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_CLI",
    "CRUSH",
    "CURSOR_AGENT",
    "DEVIN_PROJECT_DIR",
    "DEVIN_SESSION_ID",
    "GEMINI_CLI",
    "GOOSE_TERMINAL",
    "KIRO_AGENT",
    "KIRO_SESSION_ID",
    "OPENCODE",
    "OPENCODE_PID",
    "PI_CODING_AGENT",
    "QWEN_CODE",
    "TRAE_AI_SHELL_ID",
];

/// Programs that are agents. Editors in which an agent shares the person's terminal are not: nobody could approve there.
const AGENTS: [&str; 22] = [
    "aider",
    "amp",
    "auggie",
    "claude",
    "cline",
    "codex",
    "copilot",
    "crush",
    "cursor-agent",
    "devin",
    "droid",
    "gemini",
    "goose",
    "iflow",
    "kilocode",
    "kiro-cli",
    "kiro-cli-chat",
    "opencode",
    "openhands",
    "pi",
    "qchat",
    "qwen",
];

/// What agents are installed as, where an interpreter runs them.
const PACKAGES: [&str; 14] = [
    "@anthropic-ai/claude-code",
    "@augmentcode/auggie",
    "@github/copilot",
    "@google/gemini-cli",
    "@mariozechner/pi-coding-agent",
    "@openai/codex",
    "@openhands",
    "@qwen-code/qwen-code",
    "@sourcegraph/amp",
    "@charmland/crush",
    "aider-chat",
    "cursor-agent/versions",
    "opencode-ai",
    "site-packages/aider",
];

/// Programs that run what their first argument names.
const INTERPRETERS: [&str; 8] =
    ["node", "nodejs", "bun", "deno", "python", "python3", "ruby", "electron"];

/// What says that an agent runs this process, somewhere above it: `CLAUDECODE is set`, `it was started by codex`.
pub(crate) fn above() -> Option<String> {
    noticed(usize::MAX)
}

/// The same of whoever started this process directly: editors are started from all kinds of shells.
pub(crate) fn beside() -> Option<String> {
    noticed(1)
}

fn noticed(generations: usize) -> Option<String> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = marker(is_set) {
        return Some(format!("{name} is set"));
    }
    let started_by = ancestors(generations).iter().find_map(|words| agent_in(words))?;
    Some(format!("it was started by {started_by}"))
}

fn marker(is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    MARKERS.into_iter().find(|name| is_set(name))
}

/// The agent that a command line starts.
fn agent_in(words: &[String]) -> Option<&'static str> {
    let program = base(words.first()?);
    if let Some(name) = AGENTS.into_iter().find(|name| *name == program) {
        return Some(name);
    }
    let package =
        |word: &String| PACKAGES.into_iter().find(|name| word.replace('\\', "/").contains(name));
    if !INTERPRETERS.iter().any(|name| is_version_of(&program, name)) {
        return package(words.first()?);
    }
    let script = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
    let name = base(script);
    package(script).or_else(|| AGENTS.into_iter().find(|agent| *agent == name))
}

/// `python3.12` of `python3`.
fn is_version_of(program: &str, name: &str) -> bool {
    program
        .strip_prefix(name)
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// The name of a program or script: without folders and ending, and without what a login shell puts before it.
fn base(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).trim_start_matches('-');
    let ending = [".exe", ".cmd", ".js", ".mjs", ".cjs", ".py"];
    let plain = ending.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    plain.to_ascii_lowercase()
}

/// The command lines of the processes above this one, the nearest first. Known on Linux alone.
#[cfg(target_os = "linux")]
fn ancestors(generations: usize) -> Vec<Vec<String>> {
    /// Nobody nests so deep; a loop in what is read ends.
    const MAX_DEPTH: usize = 64;
    let mut found = Vec::new();
    let mut process = std::os::unix::process::parent_id();
    while process > 1 && found.len() < generations.min(MAX_DEPTH) {
        let Ok(bytes) = std::fs::read(format!("/proc/{process}/cmdline")) else { break };
        let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        found.push(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect());
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        process = parent_in(&stat).unwrap_or(0);
    }
    found
}

#[cfg(not(target_os = "linux"))]
fn ancestors(_: usize) -> Vec<Vec<String>> {
    Vec::new()
}

/// The parent in a line of `/proc/…/stat`. The name before it stands in brackets and may hold anything.
#[cfg(target_os = "linux")]
fn parent_in(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
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
            assert_eq!(agent_in(&words(line)), expected, "{line}");
        }
        assert_eq!(agent_in(&[]), None);
    }

    #[test]
    fn every_marker_is_noticed() {
        for name in MARKERS {
            assert_eq!(marker(|asked| asked == name), Some(name));
        }
        let settings = ["CODEX_HOME", "CURSOR_TRACE_ID", "CLAUDE_CODE_SSE_PORT", "GEMINI_API_KEY"];
        assert_eq!(marker(|asked| settings.contains(&asked)), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn parents_are_read_whatever_the_name_is() {
        assert_eq!(parent_in("7 (a) S 3 7 7"), Some(3));
        assert_eq!(parent_in("7 (a) S 9 (x) R 4 7"), Some(4));
        assert_eq!(parent_in("7 (a"), None);
        assert_eq!(ancestors(1).len(), 1, "somebody started this test");
        assert!(!ancestors(usize::MAX).is_empty());
    }
}
