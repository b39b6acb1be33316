//! A small language for tests of editor features. A fixture shows the files of a workspace as the
//! editor sees them.
//!
//! ```text
//! //- /src/auth.rs intent=INT-001 agent=claude-code     recorded whole under the intent, by the real verb
//! fn sign$0_in() { [[call:check]]() }                   the cursor, and a range with a label
//! //- /src/old.rs closed                                on disk only; other files are open in the editor
//! ```
//!
//! The files are written to a real workspace in a temporary folder. If the fixture contains no
//! registry, [`REGISTRY`] is added, but not to an untouched clone.

use judgement::judged_record;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use tower_lsp::lsp_types as lsp;

use crate::analysis::Analyses;
use crate::capabilities::Capabilities;
use crate::config::Settings;
use crate::convert;
use crate::open_document::{Documents, OpenDocument};
use crate::requests::Cancel;
use crate::snapshot::{Snapshot, Workspaces};
use code::{Document, Encoding};
use evidence::record;
use ground::RelativePath;
use why::Workspace;

pub const REGISTRY: &str = "\
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
    constraints: [\"No external auth providers\"]
  - id: INT-002
    name: Billing
    status: COMPLETED
    owned_scope: [\"billing/**\"]
";

const REGISTRY_PATH: &str = ".orchestration/active_intents.yaml";

/// An editor with a workspace open in it.
pub struct Editor {
    folder: tempfile::TempDir,
    /// A folder outside of the workspace.
    elsewhere: tempfile::TempDir,
    documents: Documents,
    /// The root that governs each folder, for folders whose path does not show it.
    places: HashMap<PathBuf, Option<PathBuf>>,
    analyses: Arc<Analyses>,
    workspace: Workspace,
    cursor: Option<(lsp::Url, lsp::Position)>,
    marks: Vec<FixtureMark>,
    pub client: Capabilities,
    pub settings: Settings,
    /// The unit in which the client counts columns.
    pub encoding: Encoding,
}

pub(crate) struct FixtureMark {
    pub label: String,
    pub uri: lsp::Url,
    pub range: lsp::Range,
}

struct FixtureFile {
    path: RelativePath,
    text: String,
    intent: Option<String>,
    agent: Option<String>,
    open: bool,
    cursor: Option<usize>,
    marks: Vec<(String, std::ops::Range<usize>)>,
}

impl Editor {
    /// Returns an editor with a workspace that is not in git.
    pub fn new(fixture: &str) -> Self {
        Self::build(with_registry(parse(fixture)), false)
    }

    /// Returns an editor with a repository in which `intent setup init` never ran.
    pub(crate) fn in_untouched_clone(fixture: &str) -> Self {
        Self::build(parse(fixture), true)
    }

    /// Returns an editor with a workspace in git. The files are committed first and then recorded.
    pub(crate) fn in_git(fixture: &str) -> Self {
        Self::build(with_registry(parse(fixture)), true)
    }

    fn build(files: Vec<FixtureFile>, with_git: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for file in &files {
            let path = folder.path().join(file.path.as_str());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
        if with_git {
            git(folder.path(), &["init", "-q", "-b", "main"]);
            // Git hooks are tested elsewhere.
            git(folder.path(), &["config", "intent.hooks", "false"]);
            // The person of this work tree is the one who commits.
            git(folder.path(), &["config", "user.email", "ada@example.invalid"]);
            git(folder.path(), &["add", "-A"]);
            git(folder.path(), &["commit", "-qm", "start"]);
        }
        for file in files.iter().filter(|file| file.intent.is_some()) {
            let request = record::RecordRequest {
                paths: vec![file.path.clone()],
                extent: record::RecordExtent::WholeFile,
                intent: file.intent.clone(),
                agent: file.agent.clone(),
                ..record::RecordRequest::default()
            };
            let answer = judged_record::record(
                &Workspace::open(folder.path(), &ground::Environment::of_process()).unwrap(),
                &request,
            );
            assert_eq!(answer.unwrap().skipped.len(), 0, "{} was not recorded", file.path);
        }
        let workspace = Workspace::open(folder.path(), &ground::Environment::of_process()).unwrap();
        let mut editor = Self {
            folder,
            elsewhere: tempfile::tempdir().unwrap(),
            documents: Documents::new(),
            places: HashMap::new(),
            analyses: Arc::default(),
            workspace,
            cursor: None,
            marks: Vec::new(),
            client: full_capabilities(),
            settings: Settings::default(),
            encoding: Encoding::Utf16,
        };
        for file in files {
            editor.take(file);
        }
        editor
    }

    fn take(&mut self, file: FixtureFile) {
        let uri = self.uri(file.path.as_str());
        let document = Document::from_text(file.path.as_str(), &file.text);
        let encoding = self.encoding;
        if let Some(cursor) = file.cursor {
            let at = convert::range(&document, cursor..cursor, encoding).start;
            self.cursor = Some((uri.clone(), at));
        }
        self.marks.extend(file.marks.into_iter().map(|(label, bytes)| FixtureMark {
            label,
            uri: uri.clone(),
            range: convert::range(&document, bytes, encoding),
        }));
        if file.open {
            self.put(uri, document, 1);
        }
    }

    fn put(&mut self, uri: lsp::Url, document: Document, version: i32) {
        let path = convert::path_of(&uri);
        let key = Arc::from(uri.as_str());
        let changed = std::time::Instant::now();
        let open = OpenDocument { uri, path, version, document, changed, in_sync: true };
        self.documents.insert(key, Arc::new(open));
    }

    pub fn uri(&self, path: &str) -> lsp::Url {
        convert::uri_of(&self.path(path)).unwrap()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path.trim_start_matches('/'))
    }

    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the snapshot that a request would get now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut workspaces = Workspaces { folders: self.places.clone(), ..Workspaces::default() };
        workspaces.loaded.insert(self.workspace.root.path().to_owned(), self.workspace.clone());
        Snapshot {
            settings: Arc::new(self.settings.clone()),
            client: Arc::new(self.client.clone()),
            encoding: self.encoding,
            documents: Arc::new(self.documents.clone()),
            cells: Arc::default(),
            workspaces: Arc::new(workspaces),
            folders: Arc::default(),
            analyses: Arc::clone(&self.analyses),
            cancel: Cancel::default(),
            diagnose: crate::features::diagnostics::diagnose,
            unopened: crate::features::diagnostics::unopened,
        }
    }

    /// Returns the cursor as the parameters of a request.
    pub(crate) fn at_cursor(&self) -> lsp::TextDocumentPositionParams {
        let (uri, position) = self.cursor.clone().expect("the fixture has a cursor");
        lsp::TextDocumentPositionParams {
            text_document: lsp::TextDocumentIdentifier { uri },
            position,
        }
    }

    /// Returns the parameters of a request at the cursor, with `extra` fields.
    pub fn ask<P: serde::de::DeserializeOwned>(&self, extra: serde_json::Value) -> P {
        let mut params = serde_json::to_value(self.at_cursor()).unwrap();
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        serde_json::from_value(params).unwrap()
    }

    pub fn mark(&self, label: &str) -> &FixtureMark {
        self.marks.iter().find(|mark| mark.label == label).expect("a mark with this label")
    }

    /// Replaces a piece of an open document, without saving it.
    pub fn replace(&mut self, path: &str, from: &str, to: &str) {
        let uri = self.uri(path);
        let open = Arc::clone(&self.documents[uri.as_str()]);
        let start = open.document.text().find(from).expect("the text to replace");
        let document = open.document.edited(start..start + from.len(), to).unwrap();
        self.put(uri, document, open.version + 1);
    }

    /// Saves a document and records its changes.
    pub fn record(&mut self, path: &str, intent: &str, agent: &str) {
        self.save(path);
        let request = record::RecordRequest {
            paths: vec![RelativePath::new(path.trim_start_matches('/')).unwrap()],
            intent: Some(intent.to_owned()),
            agent: Some(agent.to_owned()),
            ..record::RecordRequest::default()
        };
        let answer = judged_record::record(&self.workspace, &request).unwrap();
        assert_eq!(answer.recorded.len(), 1, "{:?}", answer.skipped);
        self.reload();
    }

    /// Returns the text of an open document.
    pub fn text(&self, path: &str) -> String {
        self.documents[self.uri(path).as_str()].document.text()
    }

    /// Saves a document and loads the workspace again.
    pub fn save(&mut self, path: &str) {
        std::fs::write(self.path(path), self.text(path)).unwrap();
        self.reload();
    }

    /// Commits all files and loads the workspace again.
    pub fn commit(&mut self) {
        git(self.folder.path(), &["add", "-A"]);
        git(self.folder.path(), &["commit", "-qm", "more"]);
        self.reload();
    }

    /// Opens a document with a text that need not be on disk.
    pub fn open(&mut self, path: &str, text: &str) {
        self.put(self.uri(path), Document::from_text(path.trim_start_matches('/'), text), 1);
    }

    /// Opens a document with a text, under any address.
    pub fn open_at(&mut self, uri: &lsp::Url, text: &str) {
        self.put(uri.clone(), Document::from_text(uri.path(), text), 1);
    }

    pub fn close(&mut self, path: &str) {
        self.documents.remove(self.uri(path).as_str()).expect("an open document");
    }

    /// Opens every open document again by its path through a link to the workspace. Returns the
    /// link.
    #[cfg(unix)]
    pub(crate) fn reopen_through_a_link(&mut self) -> PathBuf {
        let root = self.workspace.root.path().to_owned();
        let link = self.elsewhere.path().join("link");
        std::os::unix::fs::symlink(&root, &link).unwrap();
        for (_, open) in std::mem::take(&mut self.documents) {
            let path = link.join(open.path.as_ref().unwrap().strip_prefix(&root).unwrap());
            let folder = path.parent().unwrap().to_owned();
            self.places.insert(folder, Some(root.clone()));
            self.put(convert::uri_of(&path).unwrap(), open.document.clone(), 1);
        }
        link
    }

    /// Writes a file as another program would, and loads the workspace again.
    pub fn write(&mut self, path: &str, text: &str) {
        std::fs::write(self.path(path), text).unwrap();
        self.reload();
    }

    /// Loads the workspace again from disk.
    pub fn reload(&mut self) {
        self.workspace = self.workspace.reload();
    }

    /// Returns a place in a form for people: path, line and the text there.
    pub fn show(&self, uri: &lsp::Url, range: lsp::Range) -> String {
        let path = convert::path_of(uri).unwrap();
        let root = self.workspace.root.path();
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let open = self.documents.get(uri.as_str()).map(|open| open.document.clone());
        let document = open.unwrap_or_else(|| {
            Document::from_text(&name, &std::fs::read_to_string(&path).unwrap())
        });
        let bytes = convert::bytes_strict(&document, range, self.encoding).unwrap();
        let text = document.slice(bytes).unwrap();
        format!("{name}:{}: {}", range.start.line + 1, text.lines().next().unwrap_or_default())
    }

    /// Replaces what differs from run to run: paths, ids and times.
    pub(crate) fn steady(&self, text: &str) -> String {
        let root = self.uri("").to_string();
        let mut known = vec![(root.trim_end_matches('/').to_owned(), "file:///ws")];
        known.push((self.workspace.root.path().display().to_string(), "/ws"));
        for entry in self.workspace.journal.entries() {
            known.push((entry.record.id.clone(), "RECORD"));
            known.push((entry.origin.path.to_string(), "LEDGER"));
            known.push((entry.record.timestamp.clone(), "TIME"));
            known.extend(ground::clock::date(&entry.record.timestamp).map(|it| (it, "TIME")));
        }
        known.retain(|(from, _)| from.len() > 3);
        known.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

/// Returns the capabilities of a client that can do almost everything.
pub(crate) fn full_capabilities() -> Capabilities {
    Capabilities {
        hover_markdown: true,
        completion_snippets: true,
        definition_links: true,
        symbol_tree: true,
        prepare_rename: true,
        code_lens: true,
        inlay_hints: true,
        code_action_literals: true,
        code_action_resolve: true,
        code_action_disabled: true,
        code_action_preferred: true,
        code_action_data: true,
        document_changes: true,
        change_annotations: true,
        related_information: true,
        code_description: true,
        diagnostic_data: true,
        show_document: true,
        ..Capabilities::default()
    }
}

fn with_registry(mut files: Vec<FixtureFile>) -> Vec<FixtureFile> {
    if !files.iter().any(|file| file.path.as_str() == REGISTRY_PATH) {
        files.push(read_file(&format!("/{REGISTRY_PATH} closed\n{REGISTRY}")));
    }
    files
}

fn parse(fixture: &str) -> Vec<FixtureFile> {
    let fixture = fixture.strip_prefix('\n').unwrap_or(fixture);
    let body = fixture.strip_prefix("//- ").expect("a fixture begins with `//- /path`");
    body.split("\n//- ").map(|part| read_file(&format!("{part}\n"))).collect()
}

/// Parses a file: its header line, and the text that follows.
fn read_file(part: &str) -> FixtureFile {
    let (header, text) = part.split_once('\n').unwrap();
    let mut words = header.split_whitespace();
    let path = RelativePath::new(words.next().unwrap().trim_start_matches('/')).unwrap();
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text =
        if text.is_empty() || text.ends_with('\n') { text.into() } else { format!("{text}\n") };
    let mut file = FixtureFile {
        path,
        text: String::new(),
        intent: None,
        agent: None,
        open: true,
        cursor: None,
        marks: Vec::new(),
    };
    for word in words {
        match word.split_once('=') {
            Some(("intent", value)) => file.intent = Some(value.to_owned()),
            Some(("agent", value)) => file.agent = Some(value.to_owned()),
            None if word == "closed" => file.open = false,
            _ => panic!("{word:?} is no word of a fixture's header"),
        }
    }
    read_marks(&text, &mut file);
    file
}

fn read_marks(mut rest: &str, file: &mut FixtureFile) {
    let mut begun: Option<(String, usize)> = None;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("$0") {
            file.cursor = Some(file.text.len());
            rest = after;
        } else if let Some((label, after)) = label(rest) {
            begun = Some((label.to_owned(), file.text.len()));
            rest = after;
        } else if let (Some(after), Some((label, start))) =
            (rest.strip_prefix("]]"), begun.take_if(|_| rest.starts_with("]]")))
        {
            file.marks.push((label, start..file.text.len()));
            rest = after;
        } else {
            file.text.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
}

/// Parses the beginning of a marked range: `[[label:`.
fn label(text: &str) -> Option<(&str, &str)> {
    let (label, after) = text.strip_prefix("[[")?.split_once(':')?;
    (!label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase())).then_some((label, after))
}

/// Runs git without the settings of this machine.
pub(crate) fn git_runs(folder: &std::path::Path, arguments: &[&str]) -> std::process::Output {
    std::process::Command::new("git")
        .args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.invalid",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap()
}

pub fn git(folder: &std::path::Path, arguments: &[&str]) {
    let output = git_runs(folder, arguments);
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_fixture_is_parsed() {
    let editor = Editor::new(
        "
//- /src/a.rs intent=INT-001 agent=claude-code
fn [[name:sign]]_in() { ü$0 }
//- /src/b.rs closed
fn b() {}
",
    );
    let mark = editor.mark("name");
    assert_eq!(editor.show(&mark.uri, mark.range), "src/a.rs:1: sign");
    assert_eq!(editor.at_cursor().position, lsp::Position { line: 0, character: 16 });
    let snapshot = editor.snapshot();
    assert!(snapshot.document(&editor.uri("/src/a.rs")).is_some());
    assert!(snapshot.document(&editor.uri("/src/b.rs")).is_none());
    assert_eq!(editor.workspace().journal.of_intent("INT-001").count(), 1);
}

/// Returns the operations of an edit that is not plain.
pub fn operations(edit: lsp::WorkspaceEdit) -> Vec<lsp::DocumentChangeOperation> {
    match edit.document_changes {
        Some(lsp::DocumentChanges::Operations(operations)) => operations,
        other => panic!("{other:?}"),
    }
}
