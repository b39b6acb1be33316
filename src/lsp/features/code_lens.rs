//! `textDocument/codeLens`: a line above each recorded definition, and above each intent of the
//! registry that is selected or can be selected.
//!
//! The places come from the blocks of the present text, so the lenses do not jump while somebody
//! types.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

use super::mention::ShownRegistry;
use super::{block_line, commands};
use crate::refusal::{RequestRefusal, RequestResult};
use crate::snapshot::Snapshot;
use crate::workspace_view;
use code::Identity;
use intents::Intent;
use overview::criteria;
use why::Workspace;

/// The block or intent that a lens describes. The client keeps it until the lens is shown.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "lowercase")]
enum LensSubject {
    Block { uri: lsp::Url, block: Identity },
    Intent { uri: lsp::Url, id: String },
}

/// Returns the options that are announced. The text of a lens is computed by `codeLens/resolve`, when
/// the client shows the lens.
pub(crate) fn options() -> lsp::CodeLensOptions {
    lsp::CodeLensOptions { resolve_provider: Some(true) }
}

pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::CodeLensParams,
) -> RequestResult<Option<Vec<lsp::CodeLens>>> {
    if !snapshot.settings.shows_lenses() {
        return Ok(None);
    }
    Ok(lenses(snapshot, &params.text_document.uri))
}

fn lenses(snapshot: &Snapshot, uri: &lsp::Url) -> Option<Vec<lsp::CodeLens>> {
    let file = workspace_view::shown_file(snapshot, uri)?;
    let workspace = file.view.workspace;
    if !workspace.root.governed() && !snapshot.settings.also_labelled.unrecorded {
        return None;
    }
    if file.is_registry() {
        let shown = ShownRegistry::in_view(file.view);
        let on_disk = workspace.registry_on_disk().file(&file.path).map(AsRef::as_ref);
        let now = shown.registry.file(&file.path)?;
        let intents = snapshot.analyses.intents_of(uri, now, on_disk);
        let lens = |(id, start): (String, usize)| {
            let intent = workspace.registry.get(&id);
            let is_selected = || workspace.selected(None).as_deref() == Some(&id);
            let is_shown = intent.is_some_and(Intent::in_progress) || is_selected();
            let subject = LensSubject::Intent { uri: uri.clone(), id };
            is_shown.then(|| lens(file.range(start..start), &subject))
        };
        return Some(intents.into_iter().filter_map(lens).collect());
    }
    // Lenses and hints say the same, so a user who turned hints on gets no lenses.
    if snapshot.settings.inlay_hints == Some(true) {
        return None;
    }
    let analysis = file.analyse();
    let lens = |at: usize| {
        let block = &analysis.file.blocks.blocks[at];
        let start = block.bytes.start;
        let subject = LensSubject::Block { uri: uri.clone(), block: block.identity.clone() };
        let lens = lens(file.range(start..start), &subject);
        file.shows(&block.bytes).then_some(lens)
    };
    let shown = block_line::labelled_blocks(&analysis, snapshot.settings.also_labelled);
    Some(shown.into_iter().filter_map(lens).collect())
}

fn lens(range: lsp::Range, subject: &LensSubject) -> lsp::CodeLens {
    // This cannot fail: the subject consists of strings and a number.
    let data = serde_json::to_value(subject).ok();
    lsp::CodeLens { range, command: None, data }
}

/// Adds the text to a lens. Returns an error if its block is gone, so that the client requests all
/// lenses again.
pub(crate) fn resolve(
    snapshot: &Snapshot,
    mut lens: lsp::CodeLens,
) -> RequestResult<lsp::CodeLens> {
    let data = lens.data.clone().unwrap_or_default();
    let subject: LensSubject = serde_json::from_value(data).map_err(|error| {
        RequestRefusal::Senseless(format!("this lens was not made by this server: {error}"))
    })?;
    let command = match &subject {
        LensSubject::Block { uri, block } => of_block(snapshot, uri, block),
        LensSubject::Intent { uri, id } => {
            snapshot.workspace_of(uri).and_then(|workspace| of_intent(workspace, uri, id))
        }
    };
    lens.command = Some(command.ok_or(RequestRefusal::ContentModified)?);
    Ok(lens)
}

fn of_block(snapshot: &Snapshot, uri: &lsp::Url, identity: &Identity) -> Option<lsp::Command> {
    let file = workspace_view::shown_file(snapshot, uri)?;
    let analysis = file.analyse();
    let mut blocks = analysis.file.blocks.blocks.iter();
    let index = blocks.position(|block| block.identity == *identity)?;
    let answer = block_line::answer(file.view.workspace, &analysis, index)?;
    let title = block_line::full(&answer);
    Some(match snapshot.client.show_document {
        true => {
            let line = file.line_of(analysis.file.blocks.blocks[index].bytes.start);
            command(title, commands::SHOW, json!({ "uri": file.open.uri, "line": line }))
        }
        false => inactive_command(title),
    })
}

fn inactive_command(title: String) -> lsp::Command {
    lsp::Command { title, ..Default::default() }
}

fn command(title: String, name: &str, argument: Value) -> lsp::Command {
    let (command, arguments) = (name.to_owned(), Some(vec![argument]));
    lsp::Command { title, command, arguments }
}

/// Returns the command of an intent, with what it still lacks. `None` if the intent is neither
/// selected nor can be selected.
fn of_intent(workspace: &Workspace, uri: &lsp::Url, id: &str) -> Option<lsp::Command> {
    let intent = workspace.registry.get(id);
    let lacks = intent.and_then(|intent| lacks(workspace, intent));
    let title =
        |word: &str| [word].into_iter().chain(lacks.as_deref()).collect::<Vec<_>>().join(" · ");
    if workspace.selected(None).as_deref() == Some(id) {
        return Some(inactive_command(title("selected")));
    }
    intent.filter(|intent| intent.in_progress())?;
    Some(command(title("Select"), commands::SELECT, json!({ "uri": uri, "id": id })))
}

fn lacks(workspace: &Workspace, intent: &Intent) -> Option<String> {
    let (lacks, all) = (criteria::not_shown(workspace, intent), intent.acceptance_criteria.len());
    let criteria = if all == 1 { "criterion" } else { "criteria" };
    (lacks > 0).then(|| format!("{lacks} of {all} {criteria} not shown"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixture::Editor;

    /// The document as an editor shows it, with each lens on a line of its own above its line.
    fn picture(editor: &Editor, path: &str) -> String {
        let snapshot = editor.snapshot();
        let uri = editor.uri(path);
        let lenses: Vec<lsp::CodeLens> = lenses(&snapshot, &uri)
            .unwrap_or_default()
            .into_iter()
            .map(|lens| resolve(&snapshot, lens).unwrap())
            .collect();
        let text = snapshot.document(&uri).unwrap().document.text();
        let mut out = String::new();
        for (line, words) in text.lines().enumerate() {
            for lens in lenses.iter().filter(|lens| lens.range.start.line as usize == line) {
                let indent = " ".repeat(lens.range.start.character as usize);
                out.push_str(&format!("{indent}| {}\n", lens.command.as_ref().unwrap().title));
            }
            out.push_str(&format!("{words}\n"));
        }
        out
    }

    const CODE: &str = "
//- /src/auth.rs intent=INT-001 agent=claude-code
use std::fmt;

struct Session;

impl Session {
    fn verify(&self, token: &str) -> bool {
        let trimmed = token.trim();
        let long = trimmed.len() > 8;
        let known = trimmed.starts_with(\"a\");
        long && known && !trimmed.is_empty()
    }
}
";

    #[test]
    fn recorded_definitions_have_a_line_above() {
        let mut editor = Editor::new(CODE);
        insta::assert_snapshot!(picture(&editor, "/src/auth.rs"));
        editor.replace("/src/auth.rs", "use std::fmt;\n", "use std::fmt;\n\nfn unrecorded() {}\n");
        editor.replace("/src/auth.rs", "len() > 8", "len() > 9");
        insta::assert_snapshot!("while_somebody_types", picture(&editor, "/src/auth.rs"));
    }

    #[test]
    fn one_line_about_provenance_at_a_time() {
        let mut editor = Editor::new(CODE);
        let ask = |editor: &Editor| {
            let params = json!({ "textDocument": { "uri": editor.uri("/src/auth.rs") } });
            let params = serde_json::from_value(params).unwrap();
            handle(&editor.snapshot(), params).unwrap().unwrap_or_default().len()
        };
        assert_eq!(ask(&editor), 1);
        editor.settings.inlay_hints = Some(true);
        assert_eq!(ask(&editor), 0, "hints were asked for");
        editor.settings.inlay_hints = None;
        editor.settings.code_lens = Some(false);
        assert_eq!(ask(&editor), 0, "lenses are switched off");
    }

    fn lens_lines(editor: &Editor, path: &str) -> Vec<u32> {
        let found = lenses(&editor.snapshot(), &editor.uri(path)).unwrap();
        found.iter().map(|lens| lens.range.start.line).collect()
    }

    #[test]
    fn neighbours_that_would_say_the_same_share_a_line() {
        let mut editor = Editor::in_git(
            "
//- /src/a.rs intent=INT-001 agent=claude-code
const LIMIT: u8 = 1;

fn one() {}

fn two() {}

fn three() {}
",
        );
        let path = "/src/a.rs";
        assert_eq!(lens_lines(&editor, path), [2], "constants have no line");
        editor.settings.also_labelled.constants = true;
        assert_eq!(lens_lines(&editor, path), [0]);
        editor.settings.also_labelled.constants = false;
        editor.replace(path, "fn two() {}", "fn two() { 2 }");
        assert_eq!(lens_lines(&editor, path), [2], "nothing jumps while somebody types");
        editor.record(path, "INT-001", "codex");
        assert_eq!(lens_lines(&editor, path), [2, 4, 6], "another agent brought the second");
        editor.replace(path, "fn two() { 2 }", "fn two() { 3 }");
        editor.save(path);
        editor.commit();
        assert_eq!(lens_lines(&editor, path), [2, 6], "a block of git has no line, and ends a run");
    }

    #[test]
    fn the_first_line_of_an_impl_ends_no_run() {
        let mut editor = Editor::in_git(
            "
//- /src/a.rs
impl A {
    fn zero() -> u8 { 0 }
}
",
        );
        let path = "/src/a.rs";
        let brought = "fn one() -> u8 { 1 }\n\nimpl A {\n    fn two() -> u8 { 2 }\n}\n";
        editor.replace(path, "impl A {\n    fn zero() -> u8 { 0 }\n}\n", brought);
        editor.record(path, "INT-001", "codex");
        assert_eq!(lens_lines(&editor, path), [0], "git brought the line of the impl");
        let mut editor = Editor::in_git(
            "
//- /src/a.rs intent=INT-001 agent=codex
impl A {
    fn zero() -> u8 { 0 }
}
",
        );
        assert_eq!(lens_lines(&editor, path), [0], "the first block would say the same");
        editor.replace(path, "zero() -> u8 { 0 }", "zero() -> u8 { 1 }");
        editor.record(path, "INT-001", "claude-code");
        assert_eq!(lens_lines(&editor, path), [1], "the first block says something else");
    }

    #[test]
    fn code_without_a_record_has_lines_if_they_are_wanted() {
        let mut editor = Editor::in_git(
            "
//- /src/a.rs
fn one() {}

fn two() {}
//- /src/b.rs intent=INT-001 agent=codex
fn three() {}
",
        );
        let path = "/src/a.rs";
        editor.replace(path, "fn two() {}", "fn two() { 2 }");
        editor.save(path);
        editor.commit();
        editor.replace(path, "fn two() { 2 }", "fn two() { 2 }\n\nfn typed() {}");
        assert_eq!(lens_lines(&editor, path), [] as [u32; 0], "by default there is none");
        editor.settings.also_labelled.unrecorded = true;
        let picture = picture(&editor, path);
        assert!(picture.starts_with("| git says: "), "{picture}");
        assert_eq!(lens_lines(&editor, path), [0, 2], "two commits, and a block that is typed");
        assert_eq!(lens_lines(&editor, "/src/b.rs"), [0]);
    }

    #[test]
    #[ignore = "slow"]
    fn no_line_appears_above_the_block_in_which_somebody_types() {
        let files = [
            (
                "rs",
                "struct A;\n\nimpl A {\n    fn one(&self) {\n        let a = 1;\n    }\n\n    fn two(&self) {\n        let b = 1;\n    }\n}\n",
            ),
            (
                "py",
                "class A:\n    def one(self):\n        a = 1\n\n    def two(self):\n        b = 1\n",
            ),
            (
                "ts",
                "class A {\n  one() {\n    let a = 1;\n  }\n\n  two() {\n    let b = 1;\n  }\n}\n",
            ),
            (
                "java",
                "class A {\n  void one() {\n    int a = 1;\n  }\n\n  void two() {\n    int b = 1;\n  }\n}\n",
            ),
            ("go", "package a\n\nfunc one() {\n\ta := 1\n}\n\nfunc two() {\n\tb := 1\n}\n"),
        ];
        for (extension, text) in files {
            let path = format!("/src/a.{extension}");
            let mut editor =
                Editor::in_git(&format!("//- {path} intent=INT-001 agent=codex\n{text}"));
            let before = lens_lines(&editor, &path);
            assert_eq!(before.len(), 1, "{extension}");
            for typed in ["b = 12", "b = 12 + 3", "b = 12 + (", "b = 12\n        \n        b"] {
                let known = editor.text(&path);
                let from = known[known.find("b ").unwrap()..].lines().next().unwrap();
                let from = from.trim_end_matches(';').to_owned();
                editor.replace(&path, &from, typed);
                assert_eq!(lens_lines(&editor, &path), before, "{extension}: {typed}");
            }
        }
    }

    #[test]
    fn a_click_shows_something_or_there_is_nothing_to_click() {
        let mut editor = Editor::new(CODE);
        let uri = editor.uri("/src/auth.rs");
        let first = |editor: &Editor| {
            let snapshot = editor.snapshot();
            let lens = lenses(&snapshot, &uri).unwrap().swap_remove(0);
            resolve(&snapshot, lens).unwrap().command.unwrap()
        };
        let shows = first(&editor);
        assert_eq!(shows.command, "intent.show");
        assert_eq!(shows.arguments, Some(vec![json!({ "uri": uri, "line": 3 })]));
        editor.client.show_document = false;
        assert_eq!(first(&editor), inactive_command(shows.title));
    }

    #[test]
    fn an_intent_in_progress_can_be_selected() {
        let mut editor = Editor::new(&format!(
            "//- /.orchestration/active_intents.yaml\n{}{}",
            super::super::fixture::REGISTRY,
            CODE
        ));
        let registry = "/.orchestration/active_intents.yaml";
        insta::assert_snapshot!(picture(&editor, registry));
        let blocked = editor.text(registry).replace("IN_PROGRESS", "BLOCKED");
        editor.write(registry, &blocked);
        assert!(!picture(&editor, registry).contains('|'), "none can be selected");
    }

    #[test]
    fn the_lens_of_an_intent_says_what_it_lacks() {
        let registry = "/.orchestration/active_intents.yaml";
        let lacking = super::super::fixture::REGISTRY.replacen(
            "    status: IN_PROGRESS\n",
            "    status: IN_PROGRESS\n    acceptance_criteria: [\"run: make test\", \"It is fast\"]\n",
            1,
        );
        let editor = Editor::in_git(&format!("//- {registry}\n{lacking}{CODE}"));
        let shown = picture(&editor, registry);
        assert!(shown.contains("| Select · 2 of 2 criteria not shown\n"), "{shown}");
        let ran = criteria::Ran {
            criterion: Some("run: make test".to_owned()),
            command: "make test".to_owned(),
            exit: Some(0),
            milliseconds: 1,
            source: ledger::TestSource::Run,
            report: None,
        };
        let workspace = editor.workspace();
        let tree = criteria::TreeState::from_git(workspace).unwrap();
        criteria::record(workspace, workspace.intent("INT-001").unwrap(), &ran, &tree).unwrap();
        let mut editor = editor;
        editor.reload();
        let shown = picture(&editor, registry);
        assert!(shown.contains("| Select · 1 of 2 criteria not shown\n"), "{shown}");
    }

    /// A registry with two intents in progress.
    fn in_progress() -> String {
        super::super::fixture::REGISTRY.replace("COMPLETED", "IN_PROGRESS")
    }

    #[test]
    fn the_lenses_of_the_registry_stay_while_somebody_types_in_it() {
        let registry = "/.orchestration/active_intents.yaml";
        let mut editor = Editor::new(&format!("//- {registry}\n{}{CODE}", in_progress()));
        let lines = |editor: &Editor| {
            let found = lenses(&editor.snapshot(), &editor.uri(registry)).unwrap_or_default();
            found.iter().map(|lens| lens.range.start.line).collect::<Vec<_>>()
        };
        let before = lines(&editor);
        assert_eq!(before.len(), 2);
        editor.replace(
            registry,
            "    status: IN_PROGRESS\n",
            "    status: IN_PROGRESS\n    con: [\n",
        );
        assert_eq!(
            lines(&editor),
            [before[0], before[1] + 1],
            "it does not parse, and nothing blinks"
        );
        editor.replace(registry, "con: [", "constraints: [x]");
        assert_eq!(lines(&editor), [before[0], before[1] + 1]);
        editor.replace(registry, "constraints: [x]", "constraints: [x");
        assert_eq!(lines(&editor), [before[0], before[1] + 1]);
        editor.replace(registry, "active_intents:", "# mine\nactive_intents:");
        assert_eq!(lines(&editor)[1], before[1] + 2, "after the edits, in its place");
    }

    #[test]
    fn the_lenses_of_the_registry_stay_while_somebody_adds_to_its_end() {
        let registry = "/.orchestration/active_intents.yaml";
        for added in [
            "  - id: INT-009\n    name: x\n    owned_scope: [",
            "  - {",
            "  - id: INT-009\n    owned_scope: [\"src/**\"",
            "  - id: \"",
            "x",
        ] {
            let text = format!("//- {registry}\n{}{CODE}", in_progress());
            let mut editor = Editor::new(&text);
            let count = |editor: &Editor| {
                lenses(&editor.snapshot(), &editor.uri(registry)).unwrap_or_default().len()
            };
            let whole = editor.text(registry);
            let last = whole.lines().last().unwrap().to_owned();
            editor.replace(registry, &last, &format!("{last}\n{added}"));
            assert!(count(&editor) >= 2, "{added:?}, and nobody asked before: {}", count(&editor));
        }
    }

    #[test]
    fn a_lens_of_a_block_that_is_gone_asks_for_new_ones() {
        let mut editor = Editor::new(CODE);
        let uri = editor.uri("/src/auth.rs");
        let before = lenses(&editor.snapshot(), &uri).unwrap();
        editor.replace("/src/auth.rs", "struct Session", "struct Visitor");
        let last = before.last().unwrap().clone();
        assert_eq!(resolve(&editor.snapshot(), last), Err(RequestRefusal::ContentModified));
    }
}
