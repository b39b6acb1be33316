//! Tests of workspaces, diagnostics, progress and watching.

use std::path::{Path, PathBuf};

use super::*;
use crate::convert;
use crate::workspace_location::WorkspaceLocation;
use why::Workspace;

/// Returns the nearest folder above that contains `.orchestration`.
fn find(folder: &Path) -> Option<WorkspaceLocation> {
    let folder = folder.canonicalize().ok()?;
    let governed = |it: &&Path| it.join(".orchestration").is_dir();
    match folder.ancestors().find(governed) {
        Some(root) => {
            Some(WorkspaceLocation { root: root.to_owned(), has_answers: true, git_dir: None })
        }
        None => Some(WorkspaceLocation { root: folder, has_answers: false, git_dir: None }),
    }
}

fn open(root: &Path) -> Result<Workspace, String> {
    Workspace::open(root, &ground::Environment::of_process()).map_err(|error| error.to_string())
}

/// Opens the workspace after the test has called [`FolderUnderTest::let_open`].
fn open_when_let(root: &Path) -> Result<Workspace, String> {
    let started = Instant::now();
    while !root.join(LET_OPEN).exists() && started.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(5));
    }
    open(root)
}

/// The file in a workspace whose presence ends the wait of [`open_when_let`].
const LET_OPEN: &str = "let-open";

/// Returns one diagnostic that says how long the text is and whether its workspace is loaded.
fn diagnose(snapshot: &Snapshot, uri: &lsp::Url) -> Vec<lsp::Diagnostic> {
    let Some(open) = snapshot.document(uri) else { return Vec::new() };
    let known = snapshot.workspace_of(uri).is_some();
    let message = format!("{} bytes, known: {known}", open.document.len_bytes());
    vec![lsp::Diagnostic { message: message.to_owned(), ..Default::default() }]
}

fn governed() -> ServerParts {
    ServerParts { find, open, diagnose, ..parts() }
}

/// A folder with a workspace and one file, and the address of the file.
struct FolderUnderTest {
    _folder: tempfile::TempDir,
    root: PathBuf,
    file: String,
}

impl FolderUnderTest {
    fn let_open(&self) {
        std::fs::write(self.root.join(LET_OPEN), "").unwrap();
    }
}

fn folder() -> FolderUnderTest {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join(".orchestration")).unwrap();
    std::fs::write(root.join(".orchestration/active_intents.yaml"), "active_intents: []\n")
        .unwrap();
    let file = convert::uri_of(&root.join("a.rs")).unwrap().to_string();
    FolderUnderTest { _folder: folder, root, file }
}

fn published(session: &mut Session) -> (Value, Vec<String>) {
    let params = session.heard("textDocument/publishDiagnostics")["params"].clone();
    let messages = params["diagnostics"].as_array().unwrap().iter();
    let messages = messages.map(|it| it["message"].as_str().unwrap().to_owned()).collect();
    (params["version"].clone(), messages)
}

/// Waits until diagnostics say that the workspace is loaded.
fn until_known(session: &mut Session) {
    while !published(session).1[0].contains("known: true") {}
}

#[test]
#[ignore = "slow"]
fn diagnostics_are_pushed_with_their_version_after_a_pause() {
    let folder = folder();
    let mut session = Session::with(governed(), json!({}));
    session.open(&folder.file, "1234");
    until_known(&mut session);
    for version in 2..30 {
        session.change(&folder.file, version, insert("x"));
    }
    let (version, messages) = published(&mut session);
    assert_eq!((version, messages), (json!(29), vec!["32 bytes, known: true".to_owned()]));
    session.tell("textDocument/didClose", json!({ "textDocument": { "uri": folder.file } }));
    assert_eq!(published(&mut session), (Value::Null, Vec::new()));
    session.assert_silent();
    session.finish();
}

#[test]
fn diagnostics_of_a_document_out_of_step_are_cleared() {
    let mut session = Session::with(ServerParts { diagnose, ..parts() }, json!({}));
    session.open(A, "1234");
    assert_eq!(published(&mut session).1.len(), 1);
    session.change(A, 1, insert("x"));
    session.heard("window/logMessage");
    assert_eq!(published(&mut session), (Value::Null, Vec::new()));
    session.change(A, 3, json!([{ "text": "12" }]));
    assert_eq!(published(&mut session).1, ["2 bytes, known: false"]);
    session.finish();
}

fn pulling() -> Value {
    json!({ "textDocument": { "diagnostic": {} },
            "workspace": { "diagnostics": { "refreshSupport": true },
                           "codeLens": { "refreshSupport": true } } })
}

#[test]
fn a_client_that_pulls_is_only_asked_to_refresh() {
    let folder = folder();
    let mut session = Session::with(governed(), pulling());
    session.open(&folder.file, "1234");
    for method in ["workspace/diagnostic/refresh", "workspace/codeLens/refresh"] {
        let refresh = session.heard(method);
        session.answer(&refresh, Value::Null);
    }
    let document = json!({ "uri": folder.file });
    let id = session.ask("textDocument/diagnostic", json!({ "textDocument": document }));
    let first = session.result(id);
    assert_eq!((&first["kind"], first["items"].as_array().unwrap().len()), (&json!("full"), 1));
    let again = json!({ "textDocument": document, "previousResultId": first["resultId"] });
    let id = session.ask("textDocument/diagnostic", again.clone());
    let unchanged = session.result(id);
    assert_eq!(unchanged, json!({ "kind": "unchanged", "resultId": first["resultId"] }));
    session.change(&folder.file, 2, insert("x"));
    let id = session.ask("textDocument/diagnostic", again);
    assert_eq!(session.result(id)["kind"], "full");
    session.assert_silent();
    session.finish();
}

#[test]
fn folders_can_be_added_and_removed() {
    let folder = folder();
    let uri = convert::uri_of(&folder.root).unwrap();
    let item = json!({ "uri": uri, "name": "w" });
    let quiet = ServerParts { unopened: known_unopened, ..governed() };
    let mut session = Session::with(quiet, json!({}));
    let event = json!({ "event": { "added": [item], "removed": [] } });
    session.tell("workspace/didChangeWorkspaceFolders", event);
    assert_eq!(published(&mut session).1.len(), 1);
    let event = json!({ "event": { "added": [], "removed": [item] } });
    session.tell("workspace/didChangeWorkspaceFolders", event);
    assert_eq!(published(&mut session).1, [""; 0]);
    session.close();
}

fn known_unopened(snapshot: &Snapshot, root: &Path) -> Vec<(lsp::Url, Vec<lsp::Diagnostic>)> {
    snapshot.workspace_at(root).map_or_else(Vec::new, |_| unopened(snapshot, root))
}

/// Returns one diagnostic for every file in `.orchestration`.
fn unopened(_: &Snapshot, root: &Path) -> Vec<(lsp::Url, Vec<lsp::Diagnostic>)> {
    let diagnostic = lsp::Diagnostic { message: "unopened".to_owned(), ..Default::default() };
    let files = std::fs::read_dir(root.join(".orchestration")).unwrap();
    let uris = files.map(|file| convert::uri_of(&file.unwrap().path()).unwrap());
    uris.map(|uri| (uri, vec![diagnostic.clone()])).collect()
}

#[test]
fn a_broken_registry_is_shown_while_closed() {
    let folder = folder();
    let registry = folder.root.join(".orchestration/active_intents.yaml");
    let registry = convert::uri_of(&registry).unwrap().to_string();
    for client in [json!({}), pulling()] {
        let pulls = client != json!({});
        let quiet = ServerParts { diagnose: |_, _| Vec::new(), unopened, ..governed() };
        let mut session = Session::with(quiet, client);
        session.open(&folder.file, "text");
        assert_eq!(published(&mut session), (Value::Null, vec!["unopened".to_owned()]));
        session.open(&registry, "text");
        let version = if pulls { Value::Null } else { json!(1) };
        assert_eq!(published(&mut session), (version, Vec::new()));
        session.tell("textDocument/didClose", json!({ "textDocument": { "uri": registry } }));
        assert_eq!(published(&mut session).1, ["unopened"]);
        session.close();
    }
}

/// Returns a hover that says whether the workspace is loaded.
fn known_hover(
    snapshot: &Snapshot,
    params: lsp::HoverParams,
) -> Result<Option<lsp::Hover>, RequestRefusal> {
    let uri = params.text_document_position_params.text_document.uri;
    Ok(snapshot.workspace_of(&uri).map(|_| text_in_hover("known".to_owned())))
}

fn waiting() -> ServerParts {
    let table = dispatch::table()
        .on_lane::<lsp::request::HoverRequest>(Lane::LatencySensitive, known_hover);
    ServerParts { open: open_when_let, table, ..governed() }
}

#[test]
fn only_the_first_requests_wait_for_the_workspace() {
    let folder = folder();
    let mut session = Session::with(waiting(), json!({}));
    session.open(A, "elsewhere");
    assert_eq!(published(&mut session).1, ["9 bytes, known: false"]);
    session.open(&folder.file, "text");
    let early = session.hover(&folder.file);
    assert_eq!(session.text(A), None, "nothing governs it, so there is nothing to wait for");
    let symbols = session.ask("workspace/symbol", json!({ "query": "" }));
    let lenses = json!({ "textDocument": { "uri": folder.file } });
    let lenses = session.ask("textDocument/codeLens", lenses);
    folder.let_open();
    assert_eq!(session.result(early)["contents"]["value"], "known");
    assert!(session.result(symbols).is_array() && session.result(lenses).is_array());
    assert_eq!(published(&mut session).1, ["4 bytes, known: true"], "and nothing before");
    session.finish();
}

#[test]
fn a_waiting_request_can_be_cancelled_and_keeps_its_snapshot() {
    let folder = folder();
    let mut session = Session::with(ServerParts { open: open_when_let, ..governed() }, json!({}));
    session.open(&folder.file, "text");
    let cancelled = session.hover(&folder.file);
    session.tell("$/cancelRequest", json!({ "id": cancelled }));
    assert_eq!(session.code(cancelled), -32800);
    let overtaken = session.hover(&folder.file);
    session.change(&folder.file, 2, insert("x"));
    folder.let_open();
    assert_eq!(session.result(overtaken)["contents"]["value"], "text");
    until_known(&mut session);
    session.finish();
}

#[test]
fn a_request_that_waits_too_long_is_told_so() {
    let folder = folder();
    let parts = ServerParts { reading_limit: Duration::from_millis(50), ..waiting() };
    let mut session = Session::with(parts, json!({}));
    session.open(&folder.file, "text");
    assert!(session.text(&folder.file).unwrap().contains("reading "));
    let definition = session.ask("textDocument/definition", at(&folder.file));
    let reply = session.reply(definition);
    assert_eq!(reply["error"]["code"], -32802, "{reply}");
    assert_eq!(reply["error"]["data"]["retriggerRequest"], true);
    folder.let_open();
    until_known(&mut session);
    assert_eq!(session.text(&folder.file).as_deref(), Some("known"));
    session.finish();
}

#[test]
fn progress_is_sent_to_clients_that_can_show_it() {
    let folder = folder();
    let uri = convert::uri_of(&folder.root).unwrap();
    let params = json!({ "capabilities": { "window": { "workDoneProgress": true } },
        "workspaceFolders": [{ "uri": uri, "name": "w" }] });
    let mut session = Session::started(governed(), params);
    let create = session.heard("window/workDoneProgress/create");
    session.answer(&create, Value::Null);
    for kind in ["begin", "end"] {
        let progress = session.heard("$/progress");
        assert_eq!(progress["params"]["token"], create["params"]["token"]);
        assert_eq!(progress["params"]["value"]["kind"], kind);
    }
    session.assert_silent();
    session.finish();
}

#[test]
fn an_unreadable_workspace_is_reported() {
    let folder = folder();
    let refused = ServerParts { open: |_| Err("no".into()), ..governed() };
    let broken = ServerParts { open: |_| panic!("on purpose"), ..governed() };
    for parts in [refused, broken] {
        let mut session = Session::with(parts, json!({}));
        session.open(&folder.file, "text");
        let said = session.heard("window/logMessage");
        assert!(
            said["params"]["message"].as_str().unwrap().contains("could not be read"),
            "{said}"
        );
        assert_eq!(session.text(&folder.file).as_deref(), Some("text"));
        assert_eq!(published(&mut session).1, ["4 bytes, known: false"]);
        session.finish();
    }
}

#[test]
#[ignore = "slow"]
fn watchers_are_registered_and_a_change_is_shown() {
    let folder = folder();
    let mut client = pulling();
    client["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    let mut session = Session::with(governed(), client);
    let registration = session.heard("client/registerCapability");
    let options = &registration["params"]["registrations"][0]["registerOptions"];
    assert_eq!(options["watchers"][0]["globPattern"], "**/.orchestration/**");
    session.answer(&registration, Value::Null);
    // Workspaces loaded before the answer are loaded again. Here there must be none.
    std::thread::sleep(Duration::from_millis(100));
    session.open(&folder.file, "text");
    session.heard("workspace/diagnostic/refresh");
    session.heard("workspace/codeLens/refresh");
    let ledger = convert::uri_of(&folder.root.join(".orchestration/agent_trace.jsonl")).unwrap();
    let started = Instant::now();
    let changes = json!({ "changes": [{ "uri": ledger, "type": 2 }] });
    let told =
        json!({ "jsonrpc": "2.0", "method": "workspace/didChangeWatchedFiles", "params": changes });
    session.raw(&frame(&told).repeat(20));
    session.heard("workspace/diagnostic/refresh");
    assert!(started.elapsed() >= Duration::from_millis(50));
    session.heard("workspace/codeLens/refresh");
    session.assert_silent();
    session.finish();
}

#[test]
#[ignore = "slow"]
fn changes_in_one_workspace_load_no_other() {
    let (changed, other) = (folder(), folder());
    let mut session = Session::with(governed(), pulling());
    for folder in [&changed, &other] {
        session.open(&folder.file, "text");
        session.heard("workspace/diagnostic/refresh");
        session.heard("workspace/codeLens/refresh");
    }
    let changes = ["a.jsonl", "b.jsonl"].map(|name| {
        let path = changed.root.join(".orchestration").join(name);
        json!({ "uri": convert::uri_of(&path).unwrap(), "type": 2 })
    });
    session.tell("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    session.heard("workspace/diagnostic/refresh");
    session.heard("workspace/codeLens/refresh");
    session.assert_silent();
    session.finish();
}

#[test]
#[ignore = "slow"]
fn a_folder_that_is_removed_while_it_is_read_leaves_nothing() {
    let folder = folder();
    let item = json!({ "uri": convert::uri_of(&folder.root).unwrap(), "name": "w" });
    let parts = ServerParts { open: open_when_let, unopened: known_unopened, ..governed() };
    let mut session = Session::with(parts, json!({}));
    let event = json!({ "event": { "added": [item], "removed": [] } });
    session.tell("workspace/didChangeWorkspaceFolders", event);
    thread::sleep(Duration::from_millis(100));
    let event = json!({ "event": { "added": [], "removed": [item] } });
    session.tell("workspace/didChangeWorkspaceFolders", event);
    folder.let_open();
    thread::sleep(Duration::from_millis(500));
    assert!(!session.meanwhile("textDocument/publishDiagnostics"));
    session.close();
}

#[test]
fn a_finding_in_a_closed_file_of_code_is_shown_again() {
    let folder = folder();
    let of_code = |_: &Snapshot, root: &Path| {
        let message = "unopened".to_owned();
        let diagnostic = lsp::Diagnostic { message, ..Default::default() };
        vec![(convert::uri_of(&root.join("a.rs")).unwrap(), vec![diagnostic])]
    };
    let quiet = ServerParts { diagnose: |_, _| Vec::new(), unopened: of_code, ..governed() };
    let mut session = Session::with(quiet, json!({}));
    session.open(&folder.file, "text");
    assert_eq!(session.text(&folder.file).as_deref(), Some("text"), "the workspace is read");
    session.tell("textDocument/didClose", json!({ "textDocument": { "uri": folder.file } }));
    assert_eq!(published(&mut session).1, ["unopened"]);
    session.close();
}

#[test]
fn a_change_before_the_client_watches_is_noticed() {
    let folder = folder();
    let mut client = pulling();
    client["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    let mut session = Session::with(governed(), client);
    let registration = session.heard("client/registerCapability");
    session.open(&folder.file, "text");
    session.heard("workspace/diagnostic/refresh");
    session.heard("workspace/codeLens/refresh");
    session.answer(&registration, Value::Null);
    session.heard("workspace/diagnostic/refresh");
    session.heard("workspace/codeLens/refresh");
    session.finish();
}

#[test]
#[ignore = "slow"]
fn without_watchers_the_server_watches_for_new_workspaces() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().canonicalize().unwrap();
    let file = convert::uri_of(&root.join("a.rs")).unwrap().to_string();
    let mut session = Session::with(governed(), json!({}));
    session.open(&file, "text");
    assert_eq!(published(&mut session).1, ["4 bytes, known: false"]);
    // The watcher starts on another thread. It runs after the place was looked up.
    thread::sleep(Duration::from_millis(200));
    std::fs::create_dir(root.join(".orchestration")).unwrap();
    std::fs::write(root.join(".orchestration/active_intents.yaml"), "active_intents: []\n")
        .unwrap();
    until_known(&mut session);
    std::fs::remove_dir_all(root.join(".orchestration")).unwrap();
    while !published(&mut session).1[0].contains("known: false") {}
    session.close();
}

#[test]
fn the_server_watches_a_root_above_the_opened_folder() {
    let folder = folder();
    let sub = folder.root.join("sub");
    std::fs::create_dir(&sub).unwrap();
    let uri = convert::uri_of(&sub).unwrap();
    let mut client = pulling();
    client["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    let params =
        json!({ "capabilities": client, "workspaceFolders": [{ "uri": uri, "name": "sub" }] });
    let mut session = Session::started(governed(), params);
    session.heard("client/registerCapability");
    session.heard("workspace/diagnostic/refresh");
    session.heard("workspace/codeLens/refresh");
    std::fs::write(folder.root.join(".orchestration/agent_trace.jsonl"), "{}\n").unwrap();
    session.heard("workspace/diagnostic/refresh");
    session.heard("workspace/codeLens/refresh");
    session.close();
}

#[test]
fn saving_a_registry_in_the_editor_needs_no_watcher() {
    let folder = folder();
    let mut client = pulling();
    client["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    let mut session = Session::with(governed(), client);
    session.heard("client/registerCapability");
    session.open(&folder.file, "text");
    session.heard("workspace/diagnostic/refresh");
    session.heard("workspace/codeLens/refresh");
    let registry = folder.root.join(".orchestration/active_intents.yaml");
    let uri = convert::uri_of(&registry).unwrap();
    session.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    session.heard("workspace/diagnostic/refresh");
    session.heard("workspace/codeLens/refresh");
    session.finish();
}

#[test]
fn a_file_that_a_person_saves_is_known_as_theirs() {
    let folder = folder();
    let mut session = Session::with(governed(), json!({}));
    std::fs::write(folder.root.join("a.rs"), "1234").unwrap();
    session.open(&folder.file, "1234");
    until_known(&mut session);
    session.tell("textDocument/didSave", json!({ "textDocument": { "uri": folder.file } }));
    session.close();
    let workspace = open(&folder.root).unwrap();
    let path = ground::RelativePath::new("a.rs").unwrap();
    let wrote = || ground::session::seen::last_write(&workspace.root, &path);
    for _ in 0..100 {
        if wrote().is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(wrote().map(|last| last.actor).as_deref(), Some("an editor"));
}

#[test]
fn a_missing_git_hook_is_mentioned_once() {
    let folder = folder();
    let git = std::process::Command::new("git").arg("init").arg("-q").arg(&folder.root).status();
    assert!(git.unwrap().success());
    let mut session = Session::with(governed(), json!({}));
    session.open(&folder.file, "1234");
    let told = session.heard("window/showMessage")["params"]["message"].clone();
    assert!(told.as_str().unwrap().contains("`intent setup git-hooks --install`"), "{told}");
    until_known(&mut session);
    std::fs::write(folder.root.join(".orchestration/policy.yaml"), "{}\n").unwrap();
    let registry = folder.root.join(".orchestration/active_intents.yaml");
    let change = json!({ "uri": convert::uri_of(&registry).unwrap().to_string(), "type": 2 });
    session.tell("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    published(&mut session);
    assert!(!session.meanwhile("window/showMessage"));
    session.close();
}
