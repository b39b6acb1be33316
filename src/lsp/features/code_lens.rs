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
use code::{Block, Identity};
use why::Workspace;

/// The block or intent that a lens describes. The client keeps it until the lens is shown.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "lowercase")]
enum LensSubject {
    Block {
        uri: lsp::Url,
        kind: String,
        path: String,
        parameters: Option<String>,
        ordinal: u32,
    },
    /// An intent of the registry, identified by its id.
    Intent {
        uri: lsp::Url,
        id: String,
    },
}

impl LensSubject {
    fn from_block(uri: &lsp::Url, block: &Block) -> Self {
        let Identity { kind, path, parameters, ordinal } = block.identity.clone();
        let (uri, kind) = (uri.clone(), kind.as_str().to_owned());
        Self::Block { uri, kind, path, parameters, ordinal }
    }
}

/// Returns the options that are announced. The text of a lens is computed by `codeLens/resolve`, when
/// the client shows the lens.
pub fn options() -> lsp::CodeLensOptions {
    lsp::CodeLensOptions { resolve_provider: Some(true) }
}

/// Returns the lenses of a document, without their texts.
pub fn handle(
    snapshot: &Snapshot,
    params: lsp::CodeLensParams,
) -> RequestResult<Option<Vec<lsp::CodeLens>>> {
    if !snapshot.settings.code_lens {
        return Ok(None);
    }
    Ok(lenses(snapshot, &params.text_document.uri))
}

fn lenses(snapshot: &Snapshot, uri: &lsp::Url) -> Option<Vec<lsp::CodeLens>> {
    let file = workspace_view::governed(snapshot, uri)?;
    let workspace = file.view.workspace;
    if file.is_registry() {
        let shown = ShownRegistry::in_view(file.view);
        let on_disk = workspace.registry_on_disk().file(&file.path).map(AsRef::as_ref);
        let now = shown.registry.file(&file.path)?;
        let intents = snapshot.analyses.intents_of(uri, now, on_disk);
        let lens = |(id, start): (String, usize)| {
            of_intent(workspace, uri, &id)?;
            Some(lens(file.range(start..start), &LensSubject::Intent { uri: uri.clone(), id }))
        };
        return Some(intents.into_iter().filter_map(lens).collect());
    }
    // Lenses and hints say the same, so a user who turned hints on gets no lenses.
    if snapshot.settings.inlay_hints == Some(true) {
        return None;
    }
    let analysis = file.analyse();
    let blocks = analysis.file.blocks.blocks.iter().enumerate();
    let shown = blocks.filter(|(index, _)| block_line::is_shown(&analysis, *index));
    let lens = |(_, block): (usize, &Block)| {
        let start = block.bytes.start;
        lens(file.range(start..start), &LensSubject::from_block(uri, block))
    };
    Some(shown.map(lens).collect())
}

fn lens(range: lsp::Range, subject: &LensSubject) -> lsp::CodeLens {
    // This cannot fail: the subject consists of strings and a number.
    let data = serde_json::to_value(subject).ok();
    lsp::CodeLens { range, command: None, data }
}

/// Adds the text to a lens. Returns an error if its block is gone, so that the client requests all
/// lenses again.
pub fn resolve(snapshot: &Snapshot, mut lens: lsp::CodeLens) -> RequestResult<lsp::CodeLens> {
    let data = lens.data.clone().unwrap_or_default();
    let subject: LensSubject = serde_json::from_value(data).map_err(|error| {
        RequestRefusal::Senseless(format!("the lens is not one of ours: {error}"))
    })?;
    let command = match &subject {
        LensSubject::Block { uri, .. } => of_block(snapshot, uri, &subject, lens.range),
        LensSubject::Intent { uri, id } => {
            snapshot.workspace_of(uri).and_then(|workspace| of_intent(workspace, uri, id))
        }
    };
    lens.command = Some(command.ok_or(RequestRefusal::ContentModified)?);
    Ok(lens)
}

fn of_block(
    snapshot: &Snapshot,
    uri: &lsp::Url,
    subject: &LensSubject,
    range: lsp::Range,
) -> Option<lsp::Command> {
    let file = workspace_view::governed(snapshot, uri)?;
    let analysis = file.analyse();
    let mut blocks = analysis.file.blocks.blocks.iter();
    let index = blocks.position(|block| LensSubject::from_block(uri, block) == *subject)?;
    let answer = block_line::answer(file.view.workspace, &analysis, index)?;
    let title = block_line::full(&answer, &analysis.file.provenance[index]);
    Some(match snapshot.client.show_document {
        true => command(title, commands::SHOW, json!({ "uri": uri, "line": range.start.line + 1 })),
        false => inactive_command(title),
    })
}

/// A command without an action. Editors show it as plain text.
fn inactive_command(title: String) -> lsp::Command {
    lsp::Command { title, ..Default::default() }
}

fn command(title: String, name: &str, argument: Value) -> lsp::Command {
    let (command, arguments) = (name.to_owned(), Some(vec![argument]));
    lsp::Command { title, command, arguments }
}

/// Returns the command of an intent. `None` if the intent is neither selected nor can be selected.
fn of_intent(workspace: &Workspace, uri: &lsp::Url, id: &str) -> Option<lsp::Command> {
    if workspace.selected(None).as_deref() == Some(id) {
        return Some(inactive_command("selected".to_owned()));
    }
    workspace.registry.get(id).filter(|intent| intent.in_progress())?;
    Some(command("Select".to_owned(), commands::SELECT, json!({ "uri": uri, "id": id })))
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
        assert_eq!(ask(&editor), 2);
        editor.settings.inlay_hints = Some(true);
        assert_eq!(ask(&editor), 0, "hints were asked for");
        editor.settings.inlay_hints = None;
        editor.settings.code_lens = false;
        assert_eq!(ask(&editor), 0, "lenses are switched off");
    }

    #[test]
    fn a_method_has_a_line_of_its_own_where_it_says_something_else_than_its_class() {
        let mut editor = Editor::new(CODE);
        let lines = |editor: &Editor| {
            let found = lenses(&editor.snapshot(), &editor.uri("/src/auth.rs")).unwrap();
            found.iter().map(|lens| lens.range.start.line).collect::<Vec<_>>()
        };
        assert_eq!(lines(&editor), [2, 4]);
        editor.replace("/src/auth.rs", "impl Session", "impl  Session");
        assert_eq!(lines(&editor), [2, 4], "nothing jumps while the class is edited");
        editor.replace("/src/auth.rs", "impl  Session", "impl Session");
        editor.replace("/src/auth.rs", "len() > 8", "len() > 9");
        assert_eq!(lines(&editor), [2, 4, 5], "it differs");
        editor.record("/src/auth.rs", "INT-001", "codex");
        assert_eq!(lines(&editor), [2, 4], "most of its lines are of the record of its class");
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
        editor.replace("/src/auth.rs", "impl Session", "impl fmt::Debug for Session");
        let last = before.last().unwrap().clone();
        assert_eq!(resolve(&editor.snapshot(), last), Err(RequestRefusal::ContentModified));
    }
}
