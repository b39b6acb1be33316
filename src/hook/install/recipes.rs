//! The settings of each host as data: which files, and what must be in them.
//!
//! Some hosts stop a call if its hook cannot start. Settings are committed, and a team member
//! without this program must still be able to work. So an entry that starts the program by its name
//! does nothing where it is not installed, and says so at the start of a session. An entry with a
//! full path is for one machine, and stops the call.
//!
//! If several hosts read the same file, a command is a single string: Cursor, VS Code and Devin
//! load Claude Code's settings, VS Code loads Copilot's, and a host that does not know `args` would
//! start this program without its arguments.

use serde_json::{Value, json};

use super::json::JsonPart;
use crate::binary::PROGRAM;
use crate::host::Host;
use code::languages;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostProgram {
    /// `intent-lsp`, found on the `PATH`, so that committed settings work for everybody.
    Found,
    At(String),
}

impl HostProgram {
    /// Returns the program as the operating system starts it, without a shell.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Found => PROGRAM,
            Self::At(path) => path,
        }
    }

    /// Returns the program as a shell starts it. It is quoted only if necessary, because PowerShell
    /// treats a quoted program as a string.
    fn word(&self) -> String {
        let path = self.path().replace('\\', "/");
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:~".contains(c);
        if path.chars().all(plain) { path } else { format!("\"{path}\"") }
    }

    fn hook(&self, host: &Host) -> String {
        format!("{} hook {}", self.word(), host.name)
    }

    /// Returns the hook for a host that stops a call if its hook fails, for a shell as POSIX
    /// describes it.
    fn hook_if_installed(&self, host: &Host, otherwise: &str) -> String {
        let hook = self.hook(host);
        match self {
            Self::Found => format!("command -v {PROGRAM} >/dev/null || {otherwise}; exec {hook}"),
            Self::At(_) => hook,
        }
    }

    /// Returns true if a host has to stop a call if the program cannot be started.
    fn is_required(&self) -> bool {
        matches!(self, Self::At(_))
    }
}

pub(super) enum FileContent {
    /// Entries in a JSON file that others may write to as well.
    Json(Vec<JsonPart>),
    /// The entry of our server in codex's `config.toml`.
    Toml,
    /// A file that contains nothing but our content.
    Whole {
        text: String,
        /// True if the host runs the file, so it must be executable.
        starts: bool,
    },
}

/// A settings file of a host: its names, and the function that makes its content.
///
/// The names are separated by blanks. Of several names, the one that exists is used, else the
/// first. Without a name, the host has no such file at that level.
pub(super) struct SettingsFile {
    pub(super) content: MakeContent,
    pub(super) project: &'static str,
    pub(super) user: &'static str,
}

pub(super) type MakeContent = fn(&HostProgram, &Host) -> FileContent;

const fn file(content: MakeContent, project: &'static str, user: &'static str) -> SettingsFile {
    SettingsFile { content, project, user }
}

pub(super) struct Recipe {
    pub(super) host: &'static str,
    /// By what the host is recognised: its settings files in the project and folders for them (with
    /// a `/` at the end), text files that only this agent reads, and the names of its programs.
    /// Files that several hosts read, such as `AGENTS.md` and `.mcp.json`, are left out, because
    /// they do not say which host is used.
    pub(super) signs: [&'static str; 3],
    pub(super) files: &'static [SettingsFile],
    /// The environment variable that moves the folder with the settings for all projects, and the
    /// default, relative to the person's home folder.
    pub(super) home: (Option<&'static str>, &'static str),
    pub(super) next: &'static [&'static str],
}

/// The recipe of every host, in the order of [`HOSTS`](crate::host::HOSTS).
pub(super) const RECIPES: &[Recipe] = &[
    Recipe {
        host: "claude-code",
        signs: [".claude/", "CLAUDE.md", "claude"],
        files: &[
            file(claude, ".claude/settings.json", "settings.json"),
            file(servers, ".mcp.json", ""),
        ],
        home: (Some("CLAUDE_CONFIG_DIR"), ".claude"),
        next: &[
            "Start a new session; Claude Code asks once whether the project's MCP server may start",
            "For the MCP server in every project: `claude mcp add --scope user intent -- intent-lsp agent mcp`",
        ],
    },
    Recipe {
        host: "codex",
        signs: [".codex/", "", "codex"],
        files: &[
            file(codex, ".codex/hooks.json", "hooks.json"),
            file(codex_server, ".codex/config.toml", "config.toml"),
        ],
        home: (Some("CODEX_HOME"), ".codex"),
        next: &[
            "Trust the hooks: start codex in this folder and accept them in /hooks; until then, and after every change of them, it skips them silently",
            "codex reads settings of a project only where the project is trusted",
        ],
    },
    Recipe {
        host: "cursor",
        signs: [".cursor/", ".cursorrules", "cursor-agent cursor"],
        files: &[
            file(cursor, ".cursor/hooks.json", "hooks.json"),
            file(servers, ".cursor/mcp.json", "mcp.json"),
        ],
        home: (Some("CURSOR_CONFIG_DIR"), ".cursor"),
        next: &["Start Cursor again; Settings, Hooks lists what it loaded"],
    },
    Recipe {
        host: "copilot",
        signs: [".github/hooks/", ".github/copilot-instructions.md", "copilot"],
        files: &[
            file(copilot, ".github/hooks/intent.json", "hooks/intent.json"),
            file(copilot_servers, "", "mcp-config.json"),
        ],
        home: (Some("COPILOT_HOME"), ".copilot"),
        next: &[
            "The cloud agent reads .github/hooks/ from the default branch, and needs `intent-lsp` on its PATH: without it nothing is checked there",
            ".github/hooks/intent.json serves copilot and vscode alike",
        ],
    },
    Recipe {
        host: "vscode",
        signs: [".vscode/mcp.json", "", ""],
        files: &[
            file(copilot, ".github/hooks/intent.json", "hooks/intent.json"),
            file(vscode_servers, ".vscode/mcp.json", ""),
        ],
        home: (Some("COPILOT_HOME"), ".copilot"),
        next: &[
            "Hooks are a preview: they must be on in the settings (`chat.useHooks`), and an organization may switch them off",
            ".github/hooks/intent.json serves copilot and vscode alike",
        ],
    },
    Recipe {
        host: "gemini",
        signs: [".gemini/", "GEMINI.md", "gemini"],
        files: &[file(gemini, ".gemini/settings.json", "settings.json")],
        home: (Some("GEMINI_CLI_HOME"), ".gemini"),
        next: &[
            "Trust the folder (/permissions in gemini): elsewhere it runs no hook and no server",
        ],
    },
    Recipe {
        host: "antigravity",
        signs: [".agents/hooks.json", "", "antigravity"],
        files: &[file(antigravity, ".agents/hooks.json", "hooks.json")],
        home: (None, ".gemini/config"),
        next: &[
            "Add the MCP server `intent-lsp agent mcp` by hand: Manage MCP Servers in Antigravity",
        ],
    },
    Recipe {
        host: "windsurf",
        signs: [".windsurf/", ".windsurfrules", "windsurf"],
        files: &[
            file(windsurf, ".windsurf/hooks.json", "hooks.json"),
            file(servers, "", "mcp_config.json"),
        ],
        home: (None, ".codeium/windsurf"),
        next: &[
            "The MCP server is set for all projects only: `intent setup init --agent windsurf --user`",
        ],
    },
    Recipe {
        host: "cline",
        signs: [".clinerules/", "", "cline"],
        files: &[
            file(script_before, ".clinerules/hooks/PreToolUse", "Hooks/PreToolUse"),
            file(script_after, ".clinerules/hooks/PostToolUse", "Hooks/PostToolUse"),
            file(script_after, ".clinerules/hooks/UserPromptSubmit", "Hooks/UserPromptSubmit"),
            file(script_after, ".clinerules/hooks/TaskStart", "Hooks/TaskStart"),
            file(script_after, ".clinerules/hooks/TaskResume", "Hooks/TaskResume"),
        ],
        home: (None, "Documents/Cline"),
        next: &[
            "Switch hooks on in Cline's settings, and add the MCP server `intent-lsp agent mcp` there",
            "Cline's own command line may look in .cline/hooks/ instead: copy the files there",
        ],
    },
    Recipe {
        host: "kiro",
        signs: [".kiro/", "", "kiro kiro-cli"],
        files: &[
            file(kiro, ".kiro/hooks/intent.json", "hooks/intent.json"),
            file(servers, ".kiro/settings/mcp.json", "settings/mcp.json"),
        ],
        home: (Some("KIRO_HOME"), ".kiro"),
        next: &[
            "Versions before 3 of its command line keep hooks in agent files only, and load none of these",
        ],
    },
    Recipe {
        host: "droid",
        signs: [".factory/", "", "droid"],
        files: &[
            file(claude_like, ".factory/settings.json", "settings.json"),
            file(typed_servers, ".factory/mcp.json", "mcp.json"),
        ],
        home: (None, ".factory"),
        next: &[
            "Where a .factory/hooks.json exists, versions after 0.186 may read that file alone: keep no hooks there",
        ],
    },
    Recipe {
        host: "devin",
        signs: [".devin/", "", "devin"],
        files: &[
            file(devin, ".devin/hooks.v1.json", ""),
            file(servers, ".devin/config.json", ""),
            file(devin_user, "", "config.json"),
        ],
        home: (None, ".config/devin"),
        next: &["/hooks in a new session lists what it loaded"],
    },
    Recipe {
        host: "opencode",
        signs: [".opencode/ opencode.json opencode.jsonc", "", "opencode"],
        files: &[
            file(plugin, ".opencode/plugins/intent.js", "plugins/intent.js"),
            file(opencode, "opencode.json opencode.jsonc", "opencode.json opencode.jsonc"),
        ],
        home: (None, ".config/opencode"),
        next: &["Start opencode again: plugins are loaded at its start"],
    },
    Recipe {
        host: "amp",
        signs: [".amp/", "", "amp"],
        files: &[
            file(plugin, ".amp/plugins/intent.ts", "plugins/intent.ts"),
            file(amp_servers, ".amp/settings.json", "settings.json"),
        ],
        home: (None, ".config/amp"),
        next: &[
            "Start Amp with plugins on (`PLUGINS=all amp` where they are not yet on by themselves)",
        ],
    },
    Recipe {
        host: "pi",
        signs: [".pi/", "", "pi"],
        files: &[file(plugin, ".pi/extensions/intent.ts", "extensions/intent.ts")],
        home: (None, ".pi/agent"),
        next: &["Start pi again: extensions are loaded at its start; it knows no MCP"],
    },
    Recipe {
        host: "roo",
        signs: [".roo/ .roomodes", ".roorules", ""],
        files: &[file(servers, ".roo/mcp.json", "")],
        home: (None, ".roo"),
        next: &[
            "Roo Code calls no hook: tell the agent to write with our tools, and let `intent check` run in CI",
        ],
    },
];

pub(super) fn recipe_of_host(host: &Host) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.host == host.name)
}

/// How long a hook may take, in seconds. The gate answers within two; a record may wait for a lock.
const SECONDS: u32 = 10;
/// Plugins for the hosts that load a program instead of calling one.
const PLUGINS: &[(&str, &str)] = &[
    ("opencode", include_str!("../../../integrations/agents/opencode/intent.js")),
    ("amp", include_str!("../../../integrations/agents/amp/intent.ts")),
    ("pi", include_str!("../../../integrations/agents/pi/intent.ts")),
];
const PLUGIN_END: &str = include_str!("../../../integrations/agents/hook.js");
pub(super) const DECLARED: &str = "const PROGRAM = ";
const CLAUDE_WRITES: &str = "Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|Monitor|mcp__.*";
/// The tools of Cursor that change files. Commands and MCP servers have events of their own.
const CURSOR_WRITES: &str =
    "Write|StrReplace|Edit|MultiEdit|Delete|ApplyPatch|EditNotebook|NotebookEdit";

/// What Claude Code's agent and its user read at the start of a session without the program.
const NOT_INSTALLED: &str = "intent-lsp is not installed here, so nothing that agents write is checked or recorded (see .orchestration)";

fn claude(program: &HostProgram, host: &Host) -> FileContent {
    let entry =
        |command: String| json!({ "type": "command", "command": command, "timeout": SECONDS });
    let hook = entry(program.hook_if_installed(host, "exit 0"));
    let says = format!("{{ echo '{NOT_INSTALLED}'; exit 0; }}");
    let start = entry(program.hook_if_installed(host, &says));
    let strict = json!({ "onFailure": "block", "statusMessage": "intent gate" });
    let all = |matcher, extra| vec![group(matcher, with_fields(&hook, extra))];
    hooks(vec![
        ("PreToolUse", all(Some(CLAUDE_WRITES), strict)),
        ("PostToolUse", all(Some("*"), json!({}))),
        ("PostToolUseFailure", all(Some("*"), json!({}))),
        ("SessionStart", vec![group(None, start)]),
        ("UserPromptSubmit", all(None, json!({}))),
        ("ConfigChange", all(None, json!({ "onFailure": "block" }))),
    ])
}

fn codex(program: &HostProgram, host: &Host) -> FileContent {
    hooks(four_events(CLAUDE_EVENTS, "*", &command(program, host)))
}

fn codex_server(_: &HostProgram, _: &Host) -> FileContent {
    FileContent::Toml
}

fn cursor(program: &HostProgram, host: &Host) -> FileContent {
    let hook = json!({ "command": program.hook(host), "timeout": SECONDS });
    // How Cursor starts a command on Windows is not documented, so no shell is asked for the program.
    let strict = if program.is_required() { json!({ "failClosed": true }) } else { json!({}) };
    let events = [
        ("preToolUse", with_fields(&json!({ "matcher": CURSOR_WRITES }), strict.clone())),
        ("beforeShellExecution", strict.clone()),
        ("beforeMCPExecution", strict),
        ("postToolUse", json!({})),
        ("afterShellExecution", json!({})),
        ("afterMCPExecution", json!({})),
        ("afterFileEdit", json!({})),
        ("sessionStart", json!({})),
        ("beforeSubmitPrompt", json!({})),
    ];
    versioned_content(events.map(|(event, extra)| (event, vec![with_fields(&hook, extra)])).into())
}

/// VS Code reads the same file. It knows `bash` and `powershell`, and these names of events.
fn copilot(program: &HostProgram, _: &Host) -> FileContent {
    let command = format!("{} hook copilot", program.word());
    let (mut bash, mut powershell) = (command.clone(), command.clone());
    if !program.is_required() {
        bash = format!("command -v {PROGRAM} >/dev/null || exit 0; exec {command}");
        powershell =
            format!("if (Get-Command {PROGRAM} -ErrorAction SilentlyContinue) {{ {command} }}");
    }
    let hook =
        json!({ "type": "command", "bash": bash, "powershell": powershell, "timeoutSec": SECONDS });
    let events = ["preToolUse", "postToolUse", "sessionStart", "userPromptSubmitted"];
    versioned_content(events.map(|event| (event, vec![hook.clone()])).into())
}

/// Gemini's timeouts are in milliseconds.
fn gemini(program: &HostProgram, host: &Host) -> FileContent {
    let hook = json!({
        "type": "command", "command": program.hook(host), "name": "intent-gate", "timeout": SECONDS * 1000
    });
    let events = ["BeforeTool", "AfterTool", "SessionStart", "BeforeAgent"];
    let lists = four_events(events, "*", &hook);
    FileContent::Json(vec![
        JsonPart::Lists { within: &["hooks"], lists },
        plain_server(&["mcpServers"], program),
    ])
}

fn antigravity(program: &HostProgram, host: &Host) -> FileContent {
    let hook = command(program, host);
    let value = json!({
        "PreToolUse": [group(Some(".*"), hook.clone())],
        "PostToolUse": [group(Some(".*"), hook)],
    });
    FileContent::Json(vec![JsonPart::Member { within: &[], name: "intent-gate", value }])
}

fn windsurf(program: &HostProgram, host: &Host) -> FileContent {
    let hook = json!({ "command": program.hook(host), "show_output": true });
    let events = [
        "pre_write_code",
        "pre_run_command",
        "pre_mcp_tool_use",
        "post_write_code",
        "post_run_command",
        "post_mcp_tool_use",
        "pre_user_prompt",
    ];
    hooks(events.map(|event| (event, vec![hook.clone()])).into())
}

/// Cline continues if a hook fails without output, so the script itself prints the denial.
fn script_before(program: &HostProgram, host: &Host) -> FileContent {
    let missing = match program.is_required() {
        true => String::new(),
        false => format!("command -v {PROGRAM} >/dev/null || exec echo '{{\"cancel\":false}}'\n"),
    };
    let failed = r#"{"cancel":true,"errorMessage":"[HOOK_ERROR] The gate could not be asked, so nothing goes ahead. A person runs `intent doctor`; is `intent-lsp` on the PATH?"}"#;
    script_content(&format!("{missing}{} || printf '%s\\n' '{failed}'", program.hook(host)))
}

fn script_after(program: &HostProgram, host: &Host) -> FileContent {
    script_content(&format!("{} || :", program.hook(host)))
}

fn script_content(line: &str) -> FileContent {
    FileContent::Whole { text: format!("#!/bin/sh\n# {}\n{line}\n", super::MARK), starts: true }
}

fn plugin(program: &HostProgram, host: &Host) -> FileContent {
    let text = PLUGINS.iter().find(|(name, _)| *name == host.name).map_or("", |(_, text)| *text);
    let end = match program {
        HostProgram::Found => PLUGIN_END.to_owned(),
        HostProgram::At(path) => {
            let declared = |program: &str| format!("{DECLARED}{}", Value::from(program));
            PLUGIN_END.replacen(&declared(PROGRAM), &declared(path), 1)
        }
    };
    // The first line stays first, because a host may look for something there.
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let text = format!("{first}\n// {}\n{rest}{end}", super::MARK);
    FileContent::Whole { text, starts: false }
}

fn kiro(program: &HostProgram, host: &Host) -> FileContent {
    let hook = |name: &str, trigger: &str| {
        json!({
            "name": name,
            "trigger": trigger,
            "matcher": ".*",
            "action": { "type": "command", "command": program.hook(host) },
            "timeout": SECONDS,
            "enabled": true
        })
    };
    let list = vec![
        hook("intent gate", "PreToolUse"),
        hook("intent record", "PostToolUse"),
        hook("intent session", "SessionStart"),
        hook("intent prompt", "UserPromptSubmit"),
    ];
    FileContent::Json(vec![
        JsonPart::Base { name: "version", value: json!("v1") },
        JsonPart::Lists { within: &[], lists: vec![("hooks", list)] },
    ])
}

fn claude_events(program: &HostProgram, host: &Host) -> HookLists {
    four_events(CLAUDE_EVENTS, "", &command(program, host))
}

fn claude_like(program: &HostProgram, host: &Host) -> FileContent {
    hooks(claude_events(program, host))
}

fn devin(program: &HostProgram, host: &Host) -> FileContent {
    FileContent::Json(vec![JsonPart::Lists { within: &[], lists: claude_events(program, host) }])
}

fn devin_user(program: &HostProgram, host: &Host) -> FileContent {
    FileContent::Json(vec![
        JsonPart::Lists { within: &["hooks"], lists: claude_events(program, host) },
        plain_server(&["mcpServers"], program),
    ])
}

fn opencode(program: &HostProgram, _: &Host) -> FileContent {
    let extensions: Vec<String> = languages()
        .iter()
        .flat_map(|language| language.extensions)
        .map(|extension| format!(".{extension}"))
        .collect();
    let path = program.path();
    FileContent::Json(vec![
        JsonPart::Base { name: "$schema", value: json!("https://opencode.ai/config.json") },
        server(&["mcp"], json!({ "type": "local", "command": [path, "mcp"], "enabled": true })),
        JsonPart::Offer {
            within: &["lsp"],
            name: "intent",
            value: json!({ "command": [path, "lsp"], "extensions": extensions }),
        },
    ])
}

fn servers(program: &HostProgram, _: &Host) -> FileContent {
    FileContent::Json(vec![plain_server(&["mcpServers"], program)])
}

fn typed_servers(program: &HostProgram, _: &Host) -> FileContent {
    FileContent::Json(vec![typed_server(&["mcpServers"], program)])
}

fn copilot_servers(program: &HostProgram, _: &Host) -> FileContent {
    let value =
        json!({ "type": "local", "command": program.path(), "args": ["mcp"], "tools": ["*"] });
    FileContent::Json(vec![server(&["mcpServers"], value)])
}

fn vscode_servers(program: &HostProgram, _: &Host) -> FileContent {
    FileContent::Json(vec![typed_server(&["servers"], program)])
}

fn amp_servers(program: &HostProgram, _: &Host) -> FileContent {
    FileContent::Json(vec![plain_server(&["amp.mcpServers"], program)])
}

fn plain_server(within: &'static [&'static str], program: &HostProgram) -> JsonPart {
    server(within, json!({ "command": program.path(), "args": ["mcp"] }))
}

fn typed_server(within: &'static [&'static str], program: &HostProgram) -> JsonPart {
    server(within, json!({ "type": "stdio", "command": program.path(), "args": ["mcp"] }))
}

fn server(within: &'static [&'static str], value: Value) -> JsonPart {
    JsonPart::Member { within, name: "intent", value }
}

/// The hook that most hosts run: a command.
fn command(program: &HostProgram, host: &Host) -> Value {
    json!({ "type": "command", "command": program.hook(host), "timeout": SECONDS })
}

type HookLists = Vec<(&'static str, Vec<Value>)>;

/// Claude Code's names for the four events that most hosts have.
const CLAUDE_EVENTS: [&str; 4] = ["PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit"];

/// Returns the same hook for four events. The first two are about a tool, which has to match.
fn four_events(events: [&'static str; 4], tools: &str, hook: &Value) -> HookLists {
    let matchers = [Some(tools), Some(tools), None, None];
    let groups = matchers.map(|matcher| vec![group(matcher, hook.clone())]);
    events.into_iter().zip(groups).collect()
}

fn hooks(lists: HookLists) -> FileContent {
    FileContent::Json(vec![JsonPart::Lists { within: &["hooks"], lists }])
}

fn versioned_content(lists: HookLists) -> FileContent {
    FileContent::Json(vec![
        JsonPart::Base { name: "version", value: json!(1) },
        JsonPart::Lists { within: &["hooks"], lists },
    ])
}

fn group(matcher: Option<&str>, hook: Value) -> Value {
    match matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
        None => json!({ "hooks": [hook] }),
    }
}

fn with_fields(hook: &Value, extra: Value) -> Value {
    let mut hook = hook.clone();
    if let (Value::Object(hook), Value::Object(extra)) = (&mut hook, extra) {
        hook.extend(extra);
    }
    hook
}
