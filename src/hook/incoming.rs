//! A payload of a host, translated into the words of this project.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::effects::{self, Call};
use super::fields;
use super::host::{Family, Host};
use super::rewrite;
use evidence::event::{Asking, Effect, Event, Means};
use ground::Environment;
use ground::text::is_listed;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// A tool is about to run; it can be denied.
    Before,
    /// A tool has ended, with success or not.
    After,
    SessionStart,
    Prompt,
    /// The agent has stopped: no call of its session is running.
    Idle,
    SessionEnd,
    /// The host's settings have changed; the host can be told not to use them.
    Settings,
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Incoming {
    pub host: Host,
    /// The format of the answer. A host may use several.
    pub family: Family,
    pub moment: Moment,
    /// The host's name for the event, which some answers must contain.
    pub name: String,
    /// The event, or `None` if the payload could not be read.
    pub event: Option<Event>,
    /// True if the tool is known and only reads, whatever its input is.
    pub only_reads: bool,
    /// True if the host has cleared the session, so that the model has forgotten everything before.
    pub clears: bool,
    /// The input of the call, if the host lets a hook change the command in it.
    pub rewritable: Option<Value>,
}

const MOMENTS: &[(Moment, &str)] = &[
    (
        Moment::Before,
        "PreToolUse preToolUse BeforeTool beforeShellExecution beforeMCPExecution beforeReadFile
         pre_write_code pre_run_command pre_mcp_tool_use pre_read_code tool_call",
    ),
    (
        Moment::After,
        "PostToolUse postToolUse PostToolUseFailure postToolUseFailure AfterTool
         afterShellExecution afterMCPExecution post_write_code post_run_command post_mcp_tool_use
         post_read_code tool_result",
    ),
    (Moment::SessionStart, "SessionStart sessionStart TaskStart TaskResume agentSpawn AgentSpawn"),
    (
        Moment::Prompt,
        "UserPromptSubmit userPromptSubmit userPromptSubmitted UserPromptSubmitted BeforeAgent
         beforeSubmitPrompt pre_user_prompt",
    ),
    (Moment::Idle, "Stop stop agentStop AfterAgent TaskComplete TaskCancel"),
    (Moment::SessionEnd, "SessionEnd sessionEnd"),
    (Moment::Settings, "ConfigChange"),
];

pub(crate) fn moment(name: &str) -> Moment {
    let found = MOMENTS.iter().find(|(_, names)| is_listed(names, name));
    found.map_or(Moment::Other, |(moment, _)| *moment)
}

pub struct PayloadParts<'a> {
    pub moment: Moment,
    pub name: &'a str,
    pub call: Option<Call>,
    pub id: Option<&'a str>,
}

const SESSION: &str = "
    conversation_id conversationId session_id sessionId trajectory_id trajectoryId taskId threadId
";

impl Incoming {
    pub fn new(
        host: Host,
        family: Family,
        payload: &Value,
        parts: PayloadParts,
        environment: &Environment,
    ) -> Self {
        let PayloadParts { moment, name, call, id } = parts;
        let cwd = cwd(payload, environment);
        let call = call.map(|call| rewrite::unfenced(call, environment));
        let only_reads = call.as_ref().is_some_and(|call| effects::only_reads(&host, &call.tool));
        let concerns_a_tool = matches!(moment, Moment::Before | Moment::After);
        let effects = match &call {
            Some(call) => {
                with_shown_lines(effects::effects_of_call(&host, call, &cwd), payload, name)
            }
            None if concerns_a_tool => {
                vec![Effect::Unreadable { what: "it names no tool".to_owned() }]
            }
            None => Vec::new(),
        };
        let asking = how_to_ask(&host, payload);
        let rewritable = call.as_ref().filter(|_| moment == Moment::Before);
        let rewritable =
            rewritable.and_then(|call| rewrite::rewritable(&host, asking, call, &effects));
        let event = Event {
            host: host.name.to_owned(),
            session: fields::word(payload, SESSION).map(str::to_owned),
            subagent: fields::word(payload, "agent_id agentId").map(str::to_owned),
            call: id.map(str::to_owned),
            asking,
            means: Means::Commands,
            rewrites: rewritable.is_some(),
            from_host: true,
            environment: environment.clone(),
            cwd,
            input: call.as_ref().map(digest).unwrap_or_default(),
            tool: call.map(|call| call.tool).unwrap_or_default(),
            model: model(payload),
            claimed_class: None,
            prompt: (moment == Moment::Prompt).then(|| said_prompt(payload)).flatten(),
            failed: moment == Moment::After && has_failed(name, payload),
            effects,
        };
        let (name, clears) = (name.to_owned(), is_after_clear(moment, payload));
        Self { host, family, moment, name, event: Some(event), only_reads, clears, rewritable }
    }
}

fn said_prompt(payload: &Value) -> Option<String> {
    let inside = ["tool_info", "userPromptSubmit"].iter().filter_map(|name| payload.get(name));
    let names = "prompt user_prompt userPrompt";
    std::iter::once(payload).chain(inside).find_map(|of| fields::word(of, names)).map(str::to_owned)
}

/// Returns true if the payload says that the call has failed: by the name of the event, by an exit
/// code, or by a result type.
fn has_failed(name: &str, payload: &Value) -> bool {
    if name.ends_with("Failure") {
        return true;
    }
    let result =
        ["tool_response", "toolResult", "tool_output"].iter().find_map(|key| payload.get(key));
    let Some(result) = result else { return false };
    let code = ["exit_code", "exitCode", "exit"].iter().find_map(|key| result.get(key)?.as_i64());
    // Gemini CLI writes `Exit Code: 3` after the output, in the text for its model.
    let output = result.get("llmContent").and_then(Value::as_str).unwrap_or_default();
    let exit_line = output.lines().filter_map(|line| line.strip_prefix("Exit Code: ")).next_back();
    code.is_some_and(|code| code != 0)
        || exit_line.is_some_and(|code| code.trim() != "0")
        || result.get("resultType").and_then(Value::as_str) == Some("failure")
}

/// Returns true after `/clear`. Hosts report it as the source of a session's start, as the reason
/// for a session's end, or as both.
fn is_after_clear(moment: Moment, payload: &Value) -> bool {
    let said = match moment {
        Moment::SessionStart => fields::word(payload, "source"),
        Moment::Idle | Moment::SessionEnd => fields::word(payload, "reason"),
        _ => None,
    };
    said == Some("clear")
}

/// Corrects the reads of a call that has ended: the lines that the tool says it has shown replace
/// the requested lines, and a failed call has shown nothing.
fn with_shown_lines(mut effects: Vec<Effect>, payload: &Value, name: &str) -> Vec<Effect> {
    if name.ends_with("Failure") {
        effects.retain(|effect| !matches!(effect, Effect::Read { .. }));
    }
    if let ([Effect::Read { lines, .. }], Some(shown)) =
        (effects.as_mut_slice(), fields::lines_shown(payload))
    {
        *lines = Some(shown);
    }
    effects
}

/// Returns how a question can be put. In these modes Claude Code and similar hosts ask nobody, so
/// the question becomes a denial with a code.
fn how_to_ask(host: &Host, payload: &Value) -> Asking {
    let mode = fields::word(payload, "permission_mode permissionMode");
    match mode {
        Some("bypassPermissions" | "dontAsk") => Asking::ByCode,
        _ if host.asks => Asking::Native,
        _ => Asking::ByCode,
    }
}

/// Returns the folder for relative paths: the payload's folder, else its first workspace, else the
/// folder of this process.
fn cwd(payload: &Value, environment: &Environment) -> PathBuf {
    let named = fields::word(payload, "cwd").or_else(|| {
        let roots = "workspace_roots workspaceRoots workspacePaths";
        fields::first_field(payload, roots)?.get(0)?.as_str()
    });
    let named = named.and_then(fields::path).unwrap_or_default();
    let here = environment.folder().ok().unwrap_or(Path::new(""));
    std::path::absolute(here.join(&named)).unwrap_or(named)
}

fn model(payload: &Value) -> Option<String> {
    const NAMES: &str = "model model_name modelName";
    match fields::first_field(payload, NAMES)? {
        Value::String(name) => Some(name.clone()).filter(|name| !name.is_empty()),
        other => {
            let name = fields::word(other, "id slug modelId model")?;
            let provider = fields::word(other, "provider").filter(|_| !name.contains('/'));
            Some(provider.map_or(name.to_owned(), |provider| format!("{provider}/{name}")))
        }
    }
}

/// Returns a digest of the tool and its input, which identifies calls that have no id.
fn digest(call: &Call) -> String {
    let mut hash = Sha256::new();
    hash.update(call.tool.as_bytes());
    hash.update([0]);
    hash.update(call.input.to_string().as_bytes());
    code::hex(&hash.finalize())
}
