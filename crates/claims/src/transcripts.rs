//! The transcripts of Claude Code and Codex on this machine: which text an agent wrote into which
//! file, in which session and with which model. Only writes that were done count, as the agent's host
//! confirmed them; what a shell command wrote is not known.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use ground::{Environment, store};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The longest line of a transcript that is read, in bytes.
const MAX_LINE: u64 = 16 * 1024 * 1024;
/// The largest number of transcripts, and how deep their folders are.
const MAX_FILES: usize = 20_000;
const MAX_DEPTH: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TranscriptHost {
    ClaudeCode,
    Codex,
}

/// Lines that an agent wrote into a file, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenRun {
    /// The file, as an absolute path.
    pub file: String,
    pub lines: Vec<String>,
    pub agent: &'static str,
    pub session: String,
    pub model: Option<String>,
    /// When the lines were written, in seconds since 1970.
    pub time: i64,
    /// Where in the transcript the prompt is, in bytes.
    pub prompt_at: Option<u64>,
}

pub(crate) fn transcripts(environment: &Environment) -> Vec<(TranscriptHost, PathBuf)> {
    let home = environment.home().map(Path::to_path_buf);
    let named = |name: &str, folder: &str| {
        let named = environment.variable(name).map(PathBuf::from);
        named.or_else(|| Some(home.as_ref()?.join(folder)))
    };
    let claude = named("CLAUDE_CONFIG_DIR", ".claude").map(|folder| folder.join("projects"));
    let codex = named("CODEX_HOME", ".codex").map(|folder| folder.join("sessions"));
    let mut found = Vec::new();
    for (host, folder) in [(TranscriptHost::ClaudeCode, claude), (TranscriptHost::Codex, codex)] {
        let mut files = Vec::new();
        if let Some(folder) = folder {
            collect_files(&folder, MAX_DEPTH, &mut files);
        }
        files.sort();
        found.extend(files.into_iter().map(|file| (host, file)));
    }
    found
}

/// Collects the transcripts below a folder. Links are not followed.
fn collect_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in store::entries(folder) {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && depth > 0 {
            collect_files(&path, depth - 1, found);
        } else if kind.is_file()
            && path.extension().is_some_and(|ending| ending == "jsonl")
            && found.len() < MAX_FILES
        {
            found.push(path);
        }
    }
}

/// Returns what a transcript says was written. A line that cannot be read says nothing.
pub(crate) fn written_runs(host: TranscriptHost, transcript: &Path) -> Vec<WrittenRun> {
    let Ok(file) = store::open(transcript) else { return Vec::new() };
    runs_in(host, BufReader::new(file))
}

fn runs_in(host: TranscriptHost, mut reader: impl BufRead) -> Vec<WrittenRun> {
    let mut reading =
        Reading { host, session: None, model: None, prompt_at: None, runs: Vec::new() };
    let mut at: u64 = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return reading.runs,
            // A part of a longer line is no JSON object.
            Ok(read) => {
                if let Ok(object) = serde_json::from_slice(&line) {
                    reading.take_line(&object, at);
                }
                at += read as u64;
            }
        }
    }
}

/// Returns the first line of the prompt that begins at this byte of a transcript.
pub(crate) fn prompt_at(transcript: &Path, at: u64) -> Option<String> {
    use std::io::{Seek, SeekFrom};
    let mut file = store::open(transcript).ok()?;
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut line = Vec::new();
    BufReader::new(file).take(MAX_LINE).read_until(b'\n', &mut line).ok()?;
    let object: Map<String, Value> = serde_json::from_slice(&line).ok()?;
    prompt_in(&object)
}

fn prompt_in(object: &Map<String, Value>) -> Option<String> {
    let payload = object.get("payload");
    if payload.is_some_and(|payload| text(payload, "type") == Some("user_message")) {
        return Some(text(payload?, "message")?.to_owned());
    }
    let is_meta = object.get("isMeta").and_then(Value::as_bool).unwrap_or_default();
    if object.get("type")?.as_str()? != "user" || is_meta || object.contains_key("toolUseResult") {
        return None;
    }
    match object.get("message")?.get("content")? {
        Value::String(prompt) => Some(prompt.clone()),
        Value::Array(blocks) => {
            blocks.iter().find_map(|block| text(block, "text")).map(str::to_owned)
        }
        _ => None,
    }
}

fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

struct Reading {
    host: TranscriptHost,
    session: Option<String>,
    model: Option<String>,
    prompt_at: Option<u64>,
    runs: Vec<WrittenRun>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DoneEdit {
    file_path: String,
    #[serde(default)]
    structured_patch: Vec<PatchHunk>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    user_modified: bool,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct PatchHunk {
    lines: Vec<String>,
}

impl Reading {
    fn take_line(&mut self, object: &Map<String, Value>, at: u64) {
        if prompt_in(object).is_some() {
            self.prompt_at = Some(at);
        }
        match self.host {
            TranscriptHost::ClaudeCode => self.take_claude_line(object),
            TranscriptHost::Codex => self.take_codex_line(object),
        }
    }

    fn take_claude_line(&mut self, object: &Map<String, Value>) {
        if let Some(session) = object.get("sessionId").and_then(Value::as_str) {
            self.session = Some(session.to_owned());
        }
        let model = object.get("message").and_then(|message| text(message, "model"));
        self.model = model.map(str::to_owned).or(self.model.take());
        let done = object.get("toolUseResult").map(DoneEdit::deserialize);
        let Some(Ok(done)) = done.filter(|_| self.session.is_some()) else { return };
        // What a person changed in the proposal is not the agent's.
        if done.user_modified {
            return;
        }
        let is_new = done.kind.as_deref() == Some("create");
        let runs = match (is_new, &done.content) {
            (true, Some(content)) => vec![content.lines().map(str::to_owned).collect()],
            _ => {
                let lines = |hunk: &PatchHunk| added_runs(hunk.lines.iter().map(String::as_str));
                done.structured_patch.iter().flat_map(lines).collect()
            }
        };
        self.add_runs(object, &done.file_path, runs);
    }

    fn take_codex_line(&mut self, object: &Map<String, Value>) {
        let Some(payload) = object.get("payload") else { return };
        let kind = object.get("type").and_then(Value::as_str);
        match (kind, text(payload, "type")) {
            (Some("session_meta"), _) => self.session = text(payload, "id").map(str::to_owned),
            (Some("turn_context"), _) => self.model = text(payload, "model").map(str::to_owned),
            (_, Some("patch_apply_end")) => {
                let is_done = payload.get("success").and_then(Value::as_bool) == Some(true);
                let changes = payload.get("changes").and_then(Value::as_object);
                for (path, change) in changes.into_iter().flatten().filter(|_| is_done) {
                    let path = text(change, "move_path").unwrap_or(path);
                    let runs = match (text(change, "content"), text(change, "unified_diff")) {
                        (Some(content), _) if text(change, "type") == Some("add") => {
                            vec![content.lines().map(str::to_owned).collect()]
                        }
                        (_, Some(diff)) => added_runs(hunks_of(diff)),
                        _ => Vec::new(),
                    };
                    self.add_runs(object, path, runs);
                }
            }
            _ => {}
        }
    }

    fn add_runs(&mut self, object: &Map<String, Value>, file: &str, runs: Vec<Vec<String>>) {
        let time = object.get("timestamp").and_then(Value::as_str);
        let time = time.and_then(|time| time.parse::<jiff::Timestamp>().ok());
        let (Some(session), Some(time)) = (&self.session, time) else { return };
        let agent = match self.host {
            TranscriptHost::ClaudeCode => "claude-code",
            TranscriptHost::Codex => "codex",
        };
        let runs = runs.into_iter().filter(|lines| !lines.is_empty()).map(|lines| WrittenRun {
            file: file.replace('\\', "/"),
            lines,
            agent,
            session: session.clone(),
            model: self.model.clone(),
            time: time.as_second(),
            prompt_at: self.prompt_at,
        });
        self.runs.extend(runs);
    }
}

/// Returns the lines of a diff behind the names of its files.
fn hunks_of(diff: &str) -> impl Iterator<Item = &str> {
    diff.lines().skip_while(|line| !line.starts_with("@@"))
}

/// Returns the added lines of a diff, as runs of lines that follow each other.
fn added_runs<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Vec<String>> {
    let mut runs = vec![Vec::new()];
    for line in lines {
        match (line.strip_prefix('+'), runs.last_mut()) {
            (Some(added), Some(run)) => run.push(added.to_owned()),
            _ if line.starts_with('\\') => {}
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: &str = r#"{"type":"user","sessionId":"s1","timestamp":"2026-01-25T10:00:00Z","message":{"content":"Make it fast"}}
{"type":"user","sessionId":"s1","isMeta":true,"message":{"content":"not a prompt"}}
{"type":"assistant","sessionId":"s1","message":{"model":"opus","content":[]}}
{"type":"user","sessionId":"s1","timestamp":"2026-01-25T10:00:01Z","message":{"content":[]},"toolUseResult":{"filePath":"/r/a.rs","oldString":"x","newString":"y","structuredPatch":[{"oldStart":1,"lines":[" a","+b","+c","-d","+e","\\ No newline"]}],"userModified":false}}
{"type":"user","sessionId":"s1","timestamp":"2026-01-25T10:00:02Z","message":{"content":[]},"toolUseResult":{"filePath":"/r/a.rs","structuredPatch":[{"lines":["+changed by a person"]}],"userModified":true}}
{"type":"user","sessionId":"s1","timestamp":"2026-01-25T10:00:03Z","message":{"content":[]},"toolUseResult":{"type":"create","filePath":"C:\\r\\b.rs","content":"f\ng\n","structuredPatch":[]}}
{"type":"user","sessionId":"s1","timestamp":"2026-01-25T10:00:04Z","message":{"content":[]},"toolUseResult":"an error"}
"#;
    const CODEX: &str = r#"{"timestamp":"2026-01-25T10:00:00Z","type":"session_meta","payload":{"id":"s2","cwd":"/r"}}
{"timestamp":"2026-01-25T10:00:00Z","type":"turn_context","payload":{"model":"gpt-5"}}
{"timestamp":"2026-01-25T10:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"Do it"}}
{"timestamp":"2026-01-25T10:00:01Z","type":"event_msg","payload":{"type":"patch_apply_end","success":true,"changes":{"/r/a.rs":{"type":"update","unified_diff":"--- a\n+++ b\n@@ -1 +1,2 @@\n a\n+b\n","move_path":null},"/r/n.rs":{"type":"add","content":"c\n"},"/r/d.rs":{"type":"delete","content":"d\n"}}}}
{"timestamp":"2026-01-25T10:00:01Z","type":"event_msg","payload":{"type":"patch_apply_end","success":false,"changes":{"/r/x.rs":{"type":"add","content":"x\n"}}}}
"#;

    fn shown_runs(host: TranscriptHost, text: &str) -> Vec<String> {
        let runs = runs_in(host, text.as_bytes()).into_iter();
        let shown = runs.map(|run| {
            let model = run.model.unwrap_or_default();
            let prompt = run.prompt_at.and_then(|at| text[at as usize..].lines().next());
            let prompt = prompt.and_then(|line| prompt_in(&serde_json::from_str(line).ok()?));
            let prompt = prompt.unwrap_or_default();
            format!("{} {:?} {} {model}: {prompt}", run.file, run.lines, run.session)
        });
        shown.collect()
    }

    #[test]
    fn confirmed_edits_are_read_with_session_model_and_prompt() {
        let expected = [
            "/r/a.rs [\"b\", \"c\"] s1 opus: Make it fast",
            "/r/a.rs [\"e\"] s1 opus: Make it fast",
            "C:/r/b.rs [\"f\", \"g\"] s1 opus: Make it fast",
        ];
        assert_eq!(shown_runs(TranscriptHost::ClaudeCode, CLAUDE), expected);
        let expected = ["/r/a.rs [\"b\"] s2 gpt-5: Do it", "/r/n.rs [\"c\"] s2 gpt-5: Do it"];
        assert_eq!(shown_runs(TranscriptHost::Codex, CODEX), expected);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(at in 0..CLAUDE.len(), byte: u8) {
            let mut bytes = CLAUDE.as_bytes().to_vec();
            bytes[at] = byte;
            runs_in(TranscriptHost::ClaudeCode, bytes.as_slice());
            let mut bytes = CODEX.as_bytes().to_vec();
            bytes[at % CODEX.len()] = byte;
            runs_in(TranscriptHost::Codex, bytes.as_slice());
        }
    }
}
