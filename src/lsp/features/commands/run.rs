//! The handlers of the commands: each reads its argument, calls the verb and returns the answer.
//!
//! A command loads the workspace again before it acts, so that it sees what another program or the
//! previous command has just written.

use judgement::judged_record;
use overview::status;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tower_lsp::lsp_types as lsp;

use super::arguments::{
    AcceptArguments, ContextArguments, GateArguments, LessonArguments, ListArguments, MapArguments,
    RecordArguments, SelectArguments, ShowArguments, TargetArguments, VerifyArguments,
    WhyArguments, WhyPosition, WidenArguments, WorkspaceArguments,
};
use super::read;
use crate::convert;
use crate::features::glance::{self, GlanceAnswer, KnownFile, Typing};
use crate::features::prose::Prose;
use crate::features::{code_actions, places};
use crate::refusal::{RequestRefusal, RequestResult, to_json};
use crate::snapshot::Snapshot;
use crate::workspace_view::{self, WorkspaceView};
use code::Document;
use evidence::record::{self, RecordExtent};
use evidence::verify;
use ground::{Environment, Hint, RelativePath, Root, approvals};
use intents::scope;
use judgement::{accept, gate, lesson, map, registry, selection};
use ledger::{Contributor, EntityType};
use overview::{context, select};
use why::{Provenance, ReadError, VerbError, Workspace, answers};

/// What a command did or asks for besides its answer.
#[derive(Debug, Default)]
pub struct Effects {
    /// Files that the command may have written. Their workspaces are loaded again.
    pub wrote: Vec<PathBuf>,
    pub show: Option<lsp::Location>,
    pub review: Option<PathBuf>,
    /// An edit of a registry file that the client has open, and what follows it.
    pub change: Option<(lsp::WorkspaceEdit, ThenWiden)>,
}

/// How a scope that was widened in the editor is widened on disk: the client saves the document, or
/// the server writes the file itself ([`widen_on_disk`]).
#[derive(Debug)]
pub(crate) enum ThenWiden {
    Save(lsp::Url),
    OnDisk { uri: lsp::Url, id: String },
}

impl Effects {
    /// Reports the ledger of a workspace as written. The file need not exist: its path only tells
    /// the server which workspace to load again.
    fn wrote_ledger(&mut self, workspace: &Workspace) {
        self.wrote.push(workspace.root.orchestration().join("agent_trace.jsonl"));
    }
}

type Argument = Map<String, Value>;
type Answered = RequestResult<Value>;

pub(super) fn list(snapshot: &Snapshot, argument: &Argument, _: &mut Effects) -> Answered {
    let (wanted, workspace): (ListArguments, _) = in_workspace(snapshot, argument)?;
    let workspace = workspace.with_stop(snapshot.cancel.flag());
    let listed = match wanted.count {
        true => {
            select::list_with_counts(&workspace.with_kept_answers()).map(|(intents, _)| intents)
        }
        false => select::list(&workspace),
    };
    to_json("intent.list", &listed.map_err(refusal)?)
}

pub(super) fn select(snapshot: &Snapshot, argument: &Argument, effects: &mut Effects) -> Answered {
    let (wanted, workspace): (SelectArguments, _) = in_workspace(snapshot, argument)?;
    if let Some(sign) = &snapshot.settings.started_by_agent {
        let (id, session) = (&wanted.id, wanted.session.as_deref());
        selection::refuse_unseen(&workspace, id, session, sign).map_err(refusal)?;
    }
    effects.wrote_ledger(&workspace);
    let done = select::select(&workspace, &wanted.id, wanted.session.as_deref());
    to_json("intent.select", &done.map_err(refusal)?)
}

pub(super) fn clear(snapshot: &Snapshot, argument: &Argument, effects: &mut Effects) -> Answered {
    let (WorkspaceArguments { .. }, workspace) = in_workspace(snapshot, argument)?;
    if let Some(sign) = &snapshot.settings.started_by_agent {
        let why = format!("{sign}, and the selection is the person's");
        return Err(RequestRefusal::Failed(why));
    }
    effects.wrote_ledger(&workspace);
    to_json("intent.clear", &select::clear(&workspace).map_err(refusal)?)
}

pub(super) fn status(snapshot: &Snapshot, argument: &Argument, _: &mut Effects) -> Answered {
    let (WorkspaceArguments { .. }, workspace) = in_workspace(snapshot, argument)?;
    to_json("intent.status", status::status(&workspace.with_kept_answers(), None))
}

pub(super) fn context(snapshot: &Snapshot, argument: &Argument, _: &mut Effects) -> Answered {
    let (wanted, workspace): (ContextArguments, _) = in_workspace(snapshot, argument)?;
    let id = match wanted.id.clone() {
        Some(id) => id,
        None => {
            workspace.governed().map_err(refusal)?;
            let selected = workspace.selected(wanted.session.as_deref());
            selected.ok_or_else(|| refusal(workspace.nothing_selected()))?
        }
    };
    let intent = workspace.intent(&id).map_err(refusal)?;
    let extent = context::ContextExtent::from_switches(wanted.minimal, wanted.full);
    to_json("intent.context", context::answer(&workspace, intent, extent))
}

pub(super) fn gate(snapshot: &Snapshot, argument: &Argument, _: &mut Effects) -> Answered {
    let wanted: GateArguments = read(argument)?;
    let workspace = workspace_of_paths(snapshot, argument, &wanted.paths)?;
    let paths = wanted.paths.iter().map(as_path).collect();
    let request = gate::GateRequest { paths, session: wanted.session, intent: wanted.intent };
    to_json("intent.gate", gate::judge(&workspace, &request))
}

pub(super) fn record(snapshot: &Snapshot, argument: &Argument, effects: &mut Effects) -> Answered {
    let wanted: RecordArguments = read(argument)?;
    let workspace = workspace_of_paths(snapshot, argument, &wanted.paths)?.with_records_of_now();
    let paths = wanted.paths.iter().map(|path| relative(&workspace, Path::new(&as_path(path))));
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    let is_named = wanted.agent.is_some() || wanted.model.is_some() || wanted.session.is_some();
    let is_person = snapshot.settings.interactive && !is_named;
    let by_default = is_person.then_some(EntityType::Human);
    let request = record::RecordRequest {
        paths,
        extent: if wanted.all { RecordExtent::WholeFile } else { RecordExtent::Changes },
        intent: wanted.intent,
        session: wanted.session,
        agent: wanted.agent,
        model: wanted.model,
        contributor: wanted.contributor.or(by_default),
        person: person_name(snapshot, &workspace),
        claimed_class: wanted.class,
        accepts_ungated: is_person,
        ..record::RecordRequest::default()
    };
    effects.wrote_ledger(&workspace);
    let answer = judged_record::record(&workspace, &request).map_err(refusal)?;
    map::follow(&workspace, &request.paths);
    to_json("intent.record", &answer)
}

pub(super) fn why(snapshot: &Snapshot, argument: &Argument, _: &mut Effects) -> Answered {
    let wanted: WhyArguments = read(argument)?;
    if let Some(at) = wanted.position {
        if wanted.line.is_some() {
            return Err(senseless("name a line or a position, not both"));
        }
        return to_json("intent.why", &glance(snapshot, argument, at)?);
    }
    let (workspace, path) = file_to_show(snapshot, TargetArguments::from_argument(argument))?;
    let which = match wanted.line {
        None => answers::Which::All,
        Some(0) => return Err(senseless("the field \"line\" counts from 1")),
        Some(line) => answers::Which::Line(line),
    };
    to_json("intent.why", &why_answer(snapshot, &workspace, &path, which)?)
}

/// Returns what a hover says of the block at a position, and whose the line is. For an open document,
/// the workspace is not loaded again, so that an editor can ask for each line on which the cursor
/// rests.
fn glance(
    snapshot: &Snapshot,
    argument: &Argument,
    at: WhyPosition,
) -> RequestResult<GlanceAnswer> {
    let target = TargetArguments::from_argument(argument);
    let at = lsp::Position { line: at.line, character: at.character };
    let uri = target.uri.and_then(|uri| uri.parse::<lsp::Url>().ok());
    let open = uri.as_ref().and_then(|uri| workspace_view::shown_file(snapshot, uri));
    if let Some(open) = open {
        let byte = open.byte(at);
        let analysis = open.analyse();
        let known = KnownFile::of_analysis(&open, &analysis);
        let index = analysis.block_at(byte).map(|(index, _)| index);
        return Ok(glance_of(known, open.line_of(byte), index));
    }
    let (workspace, path) = file_to_show(snapshot, target)?;
    let view = snapshot.view(&workspace);
    let document = document_with_line(view, &path, at.line + 1)?;
    let uri = view.address(&path).ok_or_else(|| senseless("the file has no address"))?;
    let found = answers::file(&workspace, &path, &document);
    let index = found.blocks.at_byte(convert::byte(&document, at, snapshot.encoding));
    let known = KnownFile { view, path: &path, uri: &uri, file: &found };
    Ok(glance_of(known, at.line.saturating_add(1), index))
}

/// Returns the text of a file, as the editor shows it if it is open. Returns an error if the text has no such line.
fn document_with_line(
    view: WorkspaceView<'_>,
    path: &RelativePath,
    line: u32,
) -> RequestResult<Document> {
    let document = match view.opened(path) {
        None => view.workspace.read(path).map_err(refusal)?,
        Some(open) => open.document.clone(),
    };
    answers::has_line(path, &document, line).map_err(refusal)?;
    Ok(document)
}

fn glance_of(known: KnownFile<'_>, line: u32, index: Option<usize>) -> GlanceAnswer {
    let plain = Prose::new(false);
    let glance = index.and_then(|at| glance::of_block(&plain, known, at, Typing::Elsewhere));
    let line = answers::line_answer(known.view.workspace, known.file, line);
    GlanceAnswer::from_glance(line.as_ref(), glance)
}

fn why_answer(
    snapshot: &Snapshot,
    workspace: &Workspace,
    path: &RelativePath,
    which: answers::Which,
) -> RequestResult<answers::WhyAnswer> {
    let answer = match snapshot.view(workspace).opened(path) {
        None => answers::on_disk(workspace, path, which),
        Some(open) => answers::answer_for_text(workspace, path, &open.document, which),
    };
    answer.map_err(refusal)
}

/// The answer of the command `intent.show`: the place that the client is asked to show.
#[derive(Serialize, JsonSchema)]
struct ShowAnswer {
    /// The address of the document.
    uri: String,
    /// The line, counted from 1.
    line: u32,
}

pub(super) fn show(snapshot: &Snapshot, argument: &Argument, effects: &mut Effects) -> Answered {
    let wanted: ShowArguments = read(argument)?;
    if !snapshot.client.show_document {
        let text = "this client cannot be asked to show a document; `intent.why` tells the same";
        return Err(RequestRefusal::Failed(text.into()));
    }
    let (workspace, path) = file_to_show(snapshot, TargetArguments::from_argument(argument))?;
    let path = workspace.root.resolve(&path).unwrap_or(path);
    let view = snapshot.view(&workspace);
    let document = document_with_line(view, &path, wanted.line)?;
    let found = answers::file(&workspace, &path, &document);
    let block = found.blocks.at_line(wanted.line);
    let source = block.and_then(|at| source(view, &found.provenance[at]));
    let source = source.ok_or_else(|| {
        RequestRefusal::Failed(format!("line {} of {path} has no record", wanted.line))
    })?;
    let shown =
        ShowAnswer { uri: source.uri.to_string(), line: source.range.start.line.saturating_add(1) };
    effects.show = Some(source);
    to_json("intent.show", &shown)
}

/// Returns where the reason for a block is written: its intent in the registry, else its record.
fn source(view: WorkspaceView<'_>, found: &Provenance) -> Option<lsp::Location> {
    let id = answers::intent_of(view.workspace, found);
    let defined = id.and_then(|id| places::definition(view, &id));
    let recorded = || {
        let origin = &found.claim.as_ref()?.entry.origin;
        let uri = view.address(&origin.path)?;
        let start = lsp::Position { line: origin.line.saturating_sub(1), character: 0 };
        Some(lsp::Location { uri, range: lsp::Range { start, end: start } })
    };
    defined.map(|(location, _)| location).or_else(recorded)
}

/// The answer of the command `intent.review`.
#[derive(Serialize, JsonSchema)]
struct ReviewAnswer {
    /// The number of questions that wait.
    waiting: usize,
}

pub(super) fn review(snapshot: &Snapshot, argument: &Argument, effects: &mut Effects) -> Answered {
    let (WorkspaceArguments { .. }, workspace) = in_workspace(snapshot, argument)?;
    let waiting = approvals::pending(&workspace.root).len();
    effects.review = Some(workspace.root.path().to_owned());
    to_json("intent.review", &ReviewAnswer { waiting })
}

pub(super) fn map(snapshot: &Snapshot, argument: &Argument, _: &mut Effects) -> Answered {
    let (wanted, workspace): (MapArguments, _) = in_workspace(snapshot, argument)?;
    let workspace = workspace.with_kept_answers();
    // What is written must be complete.
    let made = match wanted.write {
        true => map::write(&workspace),
        false => map::map(&workspace.with_stop(snapshot.cancel.flag())),
    };
    to_json("intent.map", &made.map_err(refusal)?)
}

pub(super) fn verify(snapshot: &Snapshot, argument: &Argument, _: &mut Effects) -> Answered {
    let (wanted, workspace): (VerifyArguments, _) = in_workspace(snapshot, argument)?;
    let verify = if wanted.blocks { verify::verify_blocks } else { verify::verify };
    let workspace = workspace.with_stop(snapshot.cancel.flag());
    to_json("intent.verify", verify(&workspace))
}

/// Writes a lesson. Whoever sends the command counts as an agent, because an agent can also be a
/// client of this server.
pub(super) fn lesson(snapshot: &Snapshot, argument: &Argument, effects: &mut Effects) -> Answered {
    let (wanted, workspace): (LessonArguments, _) = in_workspace(snapshot, argument)?;
    let request = lesson::LessonRequest {
        text: wanted.text,
        intent: wanted.intent,
        session: wanted.session,
        agent: wanted.agent,
        model: wanted.model,
        asker: lesson::Asker::Agent,
        contributor: Contributor::default(),
    };
    effects.wrote_ledger(&workspace);
    let written = lesson::record(&workspace, &request).map_err(refusal)?;
    effects.wrote.push(workspace.root.absolute(&written.path));
    to_json("intent.lesson", &written)
}

/// Adds an open file to a scope.
///
/// A registry file that is not open is written on disk. An open one is changed in the editor, which
/// keeps its unsaved text, and then saved. If the client cannot save on request, the file is also
/// changed on disk.
pub(super) fn widen(snapshot: &Snapshot, argument: &Argument, effects: &mut Effects) -> Answered {
    let wanted: WidenArguments = read(argument)?;
    let uri: lsp::Url = wanted.uri.parse().map_err(|_| {
        senseless(format!("the field \"uri\" is {:?}, which is no address", wanted.uri))
    })?;
    let (workspace, path) = link_target(snapshot, &wanted.uri)?;
    if !code_actions::can_widen(snapshot, &uri, &wanted.id) {
        return Err(RequestRefusal::Failed(format!(
            "cannot add {path} to {id}: the file is not open, git ignores it, {id} does not exist or already owns it, or \
             {id} is neither selected nor named by a finding in it; edit the owned_scope of {id} in {registry}",
            id = wanted.id,
            registry = workspace.registry.path(),
        )));
    }
    let registry_file =
        workspace.registry.intent_with_file(&wanted.id).map(|(file, _)| file.path().clone());
    let registry_file = registry_file.unwrap_or_else(|| workspace.registry.path().clone());
    let open = snapshot.view(&workspace).opened(&registry_file);
    effects.wrote.push(workspace.root.absolute(&registry_file));
    effects.wrote_ledger(&workspace);
    let Some(open) = open else {
        let done = registry::widen(&workspace, &wanted.id, &scope::entry_for(&path));
        return to_json("intent.widen", &done.map_err(refusal)?);
    };
    let edit = code_actions::edit_that_widens(snapshot, &uri, &wanted.id)
        .map_err(RequestRefusal::Failed)?;
    let then = match snapshot.settings.saves {
        true => ThenWiden::Save(open.uri.clone()),
        false => ThenWiden::OnDisk { uri, id: wanted.id.clone() },
    };
    effects.change = Some((edit, then));
    let status = workspace.registry.get(&wanted.id).and_then(|it| Some(it.status.as_ref()?.value));
    let (id, path) = (wanted.id, registry_file.to_string());
    to_json("intent.widen", &registry::RegistryAnswer { id, status, path, notes: Vec::new() })
}

pub(crate) fn widen_on_disk(snapshot: &Snapshot, uri: &lsp::Url, id: &str) -> RequestResult<()> {
    let (workspace, path) = link_target(snapshot, uri.as_str())?;
    registry::widen_beside_editor(&workspace, id, &scope::entry_for(&path)).map_err(refusal)?;
    Ok(())
}

/// Returns the text on disk of the file that an argument names. `None` if it cannot be read.
pub(crate) fn text_on_disk(
    snapshot: &Snapshot,
    argument: &Argument,
) -> RequestResult<Option<String>> {
    let (workspace, path) = file(snapshot, TargetArguments::from_argument(argument))?;
    Ok(workspace.read(&path).ok().map(|document| document.text()))
}

pub(super) fn accept(snapshot: &Snapshot, argument: &Argument, effects: &mut Effects) -> Answered {
    let wanted: AcceptArguments = read(argument)?;
    let (workspace, path) = file(snapshot, TargetArguments::from_argument(argument))?;
    effects.wrote_ledger(&workspace);
    let extent = accept::AcceptExtent::Line(wanted.line);
    let by = match snapshot.settings.interactive {
        true => Contributor::person(person_name(snapshot, &workspace)),
        false => Contributor::default(),
    };
    let answer = accept::accept(&workspace, &path, extent, &by).map_err(refusal)?;
    map::refresh(&workspace);
    to_json("intent.accept", &answer)
}

/// Returns the name that git has for the person at this client. `None` unless the client said that
/// a person sits at it.
fn person_name(snapshot: &Snapshot, workspace: &Workspace) -> Option<String> {
    workspace.person().filter(|_| snapshot.settings.interactive)
}

/// Returns the argument, and the workspace of the file or folder that it names, else the only
/// workspace.
fn in_workspace<T: DeserializeOwned>(
    snapshot: &Snapshot,
    argument: &Argument,
) -> RequestResult<(T, Workspace)> {
    Ok((read(argument)?, workspace_of_paths(snapshot, argument, &[])?))
}

/// Returns the workspace of the file or folder that the target names. If it names none, the first
/// absolute path decides. If there is none either, returns the only workspace.
fn workspace_of_paths(
    snapshot: &Snapshot,
    argument: &Argument,
    paths: &[String],
) -> RequestResult<Workspace> {
    let named = match absolute_target(TargetArguments::from_argument(argument))? {
        None => paths.iter().map(|path| PathBuf::from(as_path(path))).find(|it| it.is_absolute()),
        named => named,
    };
    named.map_or_else(|| only_workspace(snapshot), |path| open_workspace(snapshot, &path))
}

fn file(
    snapshot: &Snapshot,
    target: TargetArguments<'_>,
) -> RequestResult<(Workspace, RelativePath)> {
    if let Some(path) = absolute_target(target)? {
        let workspace = open_workspace(snapshot, &path)?;
        let relative = relative(&workspace, &path)?;
        return Ok((workspace, relative));
    }
    let missing = || senseless("name the file in the field \"uri\" or \"path\"");
    let path = target.path.ok_or_else(missing)?;
    let workspace = only_workspace(snapshot)?;
    let relative = relative(&workspace, Path::new(path))?;
    Ok((workspace, relative))
}

/// Like [`file`], for an answer that only shows something, and may rely on what was found out about
/// history before.
fn file_to_show(
    snapshot: &Snapshot,
    target: TargetArguments<'_>,
) -> RequestResult<(Workspace, RelativePath)> {
    file(snapshot, target).map(|(workspace, path)| (workspace.with_kept_answers(), path))
}

/// Returns the file at an address and its workspace. For a symbolic link, returns the file to which
/// it leads, because a link is judged by its target.
fn link_target(snapshot: &Snapshot, uri: &str) -> RequestResult<(Workspace, RelativePath)> {
    let (workspace, path) = file(snapshot, TargetArguments { uri: Some(uri), path: None })?;
    let path = workspace.root.resolve(&path).unwrap_or(path);
    Ok((workspace, path))
}

/// Returns the absolute path that a target names. `None` if it names nothing, or a path relative to
/// the only workspace.
fn absolute_target(target: TargetArguments<'_>) -> RequestResult<Option<PathBuf>> {
    if let Some(uri) = target.uri {
        let parsed = uri.parse::<lsp::Url>().ok();
        let path = parsed.and_then(|uri| convert::path_of(&uri));
        return path.map(Some).ok_or_else(|| {
            senseless(format!("the field \"uri\" is {uri:?}, which is no address of a local file"))
        });
    }
    Ok(target.path.map(as_path).map(PathBuf::from).filter(|path| path.is_absolute()))
}

/// Returns a path as given. The address of a local file is converted to its path.
fn as_path(path: impl AsRef<str>) -> String {
    let path = path.as_ref();
    let address = path.starts_with("file:").then(|| path.parse::<lsp::Url>().ok()).flatten();
    let address = address.and_then(|uri| convert::path_of(&uri));
    address.map_or_else(|| path.to_owned(), |path| path.display().to_string())
}

fn open_workspace(snapshot: &Snapshot, path: &Path) -> RequestResult<Workspace> {
    if let Some(known) = snapshot.workspace_of_path(path) {
        return Ok(known.reload());
    }
    // The workspace is not loaded yet, or it is in none of the window's folders.
    let opened = Workspace::open(path, &Environment::of_process()).map_err(refusal)?;
    if opened.root.governed() || is_in_window(snapshot, path) {
        return Ok(opened);
    }
    Err(senseless(format!(
        "{} is in no workspace with intents, and in no folder that is open here; open its folder first",
        path.display()
    )))
}

fn is_in_window(snapshot: &Snapshot, path: &Path) -> bool {
    let Some(path) = Root::resolved_path(path) else { return false };
    let mut folders = snapshot.folders.iter().filter_map(|folder| Root::resolved_path(folder));
    folders.any(|folder| path.starts_with(folder))
}

fn only_workspace(snapshot: &Snapshot) -> RequestResult<Workspace> {
    let known: Vec<&Workspace> = snapshot.workspaces().collect();
    if let [workspace] = known.as_slice() {
        return Ok(workspace.reload());
    }
    if let Some(folder) = snapshot.folders.first()
        && known.is_empty()
        && snapshot.folders.len() == 1
    {
        return open_workspace(snapshot, folder);
    }
    let roots: Vec<_> = known.iter().map(|it| it.root.path().display().to_string()).collect();
    let which = match roots.as_slice() {
        [] => "no workspace is open".to_owned(),
        _ => format!("several workspaces are open ({})", roots.join(", ")),
    };
    Err(senseless(format!(
        "{which}; name a file or folder of the one you mean in the field \"uri\" or \"path\""
    )))
}

fn relative(workspace: &Workspace, path: &Path) -> RequestResult<RelativePath> {
    workspace.path(workspace.root.path(), path).map_err(refusal)
}

/// Converts the error of a verb to a refusal: `Senseless` if the request names something that does
/// not exist, else `Failed`.
fn refusal(error: impl Into<VerbError>) -> RequestRefusal {
    let error = error.into();
    let text = error.with_hint();
    match error {
        VerbError::UnknownIntent { .. }
        | VerbError::Path(_)
        | VerbError::Read(ReadError::Missing { .. } | ReadError::NoLine { .. }) => senseless(text),
        _ => RequestRefusal::Failed(text),
    }
}

fn senseless(reason: impl ToString) -> RequestRefusal {
    RequestRefusal::Senseless(reason.to_string())
}
