//! `intent trace`: prints the records of the ledger.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::shared;
use super::why::removed::show_below_records;
use crate::cli::print::{BAD, DIM, INTENT, PLAIN, Page, PrintedPiece, WARN};
use crate::cli::target::FileTarget;
use crate::cli::{CliError, Context, Exit, when};
use export::traced::{CarryingCommits, TracedRecord};
use ground::text::{counted, shell_path};
use ledger::{Entry, FileRecord, Record, RecordKind, TestRun, Trust, evidence};
use why::Workspace;
use why::answers;
use why::removed::removed;
use why::trace::{TraceRequest, trace};

/// Stream the records of the ledger, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json every record is one line that stands by itself: it says which intent, who, when
and in which commit. `intent schema trace` describes it.

Examples:
  intent trace INT-001
  intent trace --json src/auth/jwt.rs | jq .id")]
pub struct TraceArgs {
    /// Only records of this intent
    #[arg(long, value_name = "ID")]
    intent: Option<String>,

    /// Only records that touch this file, or those of the intent with this id
    path: Option<PathBuf>,
}

pub fn run(context: &Context, mut args: TraceArgs) -> Result<Exit, CliError> {
    let named = args.path.as_deref().map(|path| intent_named(context, path)).transpose()?;
    if let Some(id) = named.flatten() {
        (args.intent, args.path) = (Some(id), None);
    }
    let target =
        args.path.map(|path| FileTarget::parse(&context.cwd, path.as_os_str())).transpose()?;
    if let Some(target) = target.as_ref().filter(|target| target.lines.is_some()) {
        let named = shell_path(&target.named);
        return Err(CliError::usage(
            "the records of a whole file are shown, not those of a line",
            format!("`intent trace {named}`, or `intent why {named}:LINE` for one line"),
        ));
    }
    let file = target.map(|target| context.file(&target));
    let (workspace, path) = match file.transpose()? {
        Some((workspace, path)) => (workspace, Some(path)),
        None => (context.open_workspace()?, None),
    };
    let request = TraceRequest { intent: args.intent, path };
    let entries = trace(&workspace, &request)?;
    let json = context.printer.json_asked;
    let none = match (&request.intent, &request.path) {
        _ if !entries.is_empty() => None,
        (Some(id), _) => {
            Some(format!("no record is under {id}; `intent context {id}` shows what it asks for"))
        }
        (None, path) => path.as_ref().map(|path| format!("no record touches {path}")),
    };
    let removed = request.path.filter(|_| !json).map(|path| removed(&workspace, &path));
    let removed = removed.transpose()?.filter(|removed| !removed.commits.is_empty());
    let removed = removed.map(|removed| {
        let mut page = Page::default();
        show_below_records(&mut page, &removed, Timestamp::now());
        page
    });
    let carriers = match json {
        true => CarryingCommits::of_entries(&workspace, &entries)?,
        false => CarryingCommits::default(),
    };
    let records = entries.into_iter().map(|entry| match json {
        true => {
            let object = TracedRecord::new(&workspace, &entry, &carriers).to_object();
            PrintedPiece::Json(format!("{}\n", Value::Object(object)).into_bytes())
        }
        false => PrintedPiece::Page(line(&workspace, &entry)),
    });
    // With `--json` every line must be a record, so notes are left out.
    let notes = workspace.unread_evidence().or(none).into_iter().filter(|_| !json);
    let pages = removed.into_iter().chain(notes.map(page_of_note));
    context.printer.stream(records.chain(pages.map(PrintedPiece::Page)))
}

/// Returns the intent that an argument names, if no file has that name. It is an error if the argument
/// looks like an id and is none.
fn intent_named(context: &Context, argument: &Path) -> Result<Option<String>, CliError> {
    let Some(text) = argument.to_str() else { return Ok(None) };
    if context.cwd.join(argument).symlink_metadata().is_ok() {
        return Ok(None);
    }
    let workspace = context.open_workspace()?;
    let intent = workspace.registry.get(text).map(|intent| intent.id.value.clone());
    let is_like_an_id = text.rsplit_once('-').is_some_and(|(before, number)| {
        let is_word = before.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_word && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    match intent.or_else(|| workspace.intent_meant_by(text)) {
        None if is_like_an_id => {
            Ok(workspace.intent(text).map(|intent| Some(intent.id.value.clone()))?)
        }
        found => Ok(found),
    }
}

fn page_of_note(note: String) -> Page {
    let mut page = Page::default();
    shared::notes(&mut page, &[note]);
    page
}

fn line(workspace: &Workspace, entry: &Entry) -> Page {
    let record = &entry.record;
    let mut page = Page::default();
    page.styled(DIM, when::date(&record.timestamp)).pad_to(22);
    page.text(shared::json_word(&record.kind)).pad_to(33);
    let named = workspace.intent_named(entry);
    shared::intent(&mut page, named.as_deref());
    let former = record.intent_id.as_ref().filter(|id| is_former(id, named.as_deref()));
    page.optional(", then ", INTENT, former);
    page.optional(", then called ", PLAIN, called_then(workspace, record, named.as_deref()));
    page.pad_to(44).text(line_of_record(record)).optional("  ", DIM, author(record));
    match entry.trust {
        Trust::Own => &mut page,
        Trust::Claimed => page.literal("  ").styled(WARN, "claimed"),
        Trust::Contradicted => page.literal("  ").styled(BAD, "contradicted"),
    };
    page.literal("  ").styled(DIM, &record.id).end();
    page
}

/// Returns the name that the evidence gives the intent, if the registry has another name for that
/// intent now.
fn called_then<'a>(ws: &Workspace, record: &'a Record, named: Option<&str>) -> Option<&'a str> {
    let now = ws.registry.get(named?)?;
    evidence::cited_name(record).filter(|name| *name != now.name.value)
}

/// Returns true if the record names the intent by an id that it had earlier. If another intent has
/// that id now, `named` is a label that begins with the id, and the result is false.
fn is_former(id: &str, named: Option<&str>) -> bool {
    named.is_some_and(|named| named != id && !named.starts_with(&format!("{id} (")))
}

fn line_of_test(run: &TestRun) -> String {
    let criterion = run.criterion.as_deref().unwrap_or("a command that no criterion names");
    let outcome = if run.exit == Some(0) { "passed" } else { "failed" };
    format!("{criterion}: {outcome}")
}

fn line_of_record(record: &Record) -> String {
    let files: Vec<String> = record.files.iter().map(file).collect();
    let class = record.mutation_class.map(|class| shared::class_word(class).to_owned());
    let tested = record.test.as_ref().map(line_of_test);
    let parts = [tested, (!files.is_empty()).then(|| files.join(", ")), class, record.note.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn file(file: &FileRecord) -> String {
    let path = &file.relative_path;
    let lines: usize = file.conversations.iter().map(|one| one.lines.line_count()).sum();
    let (deleted, standing): (Vec<_>, Vec<_>) = file.ranges().partition(|range| range.deleted);
    let brought = match (lines, standing.len()) {
        (0, 0) => None,
        (0, blocks) => Some(counted(blocks, "block")),
        (_, 0) => Some(counted(lines, "line")),
        (_, blocks) => Some(format!("{} in {}", counted(lines, "line"), counted(blocks, "block"))),
    };
    let deleted = match deleted.len() {
        0 => None,
        blocks => Some(format!("{} deleted", counted(blocks, "block"))),
    };
    let parts: Vec<String> = brought.into_iter().chain(deleted).collect();
    if parts.is_empty() { path.to_string() } else { format!("{path} ({})", parts.join(", ")) }
}

/// Returns who wrote, with which agent and model, and in which session. A record without files,
/// such as a selection, has only the session.
fn author(record: &Record) -> Option<String> {
    let tool = record.tool.as_ref().map(|tool| tool.name.as_str());
    let conversation = record.files.first().and_then(|file| file.conversations.first());
    let who = conversation.map(|conversation| match record.kind {
        RecordKind::Ack => {
            format!("accepted by {}", answers::accepted_by(&conversation.contributor))
        }
        _ => answers::who_in_full(&conversation.contributor, tool),
    });
    let session = record.session.as_ref().map(|session| format!("in {session}"));
    let said: Vec<String> = who.into_iter().chain(session).collect();
    (!said.is_empty()).then(|| said.join(" "))
}
