//! `textDocument/completion`: ids of intents in every file, those that are being worked on first. The registry also gets keys, statuses,
//! owners, specifications, and the files and folders of the workspace as scope entries.

mod registry;

use tower_lsp::lsp_types as lsp;

use super::mention::MAX_ID_OF_SOURCE;
use crate::capabilities::Capabilities;
use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view;
use ground::policy::SourceFormat;
use ground::text;
use intents::Status;
use why::Workspace;

/// The largest number of items in a list. The client asks again as more is typed.
const MAX_ITEMS: usize = 200;

struct Choices {
    /// An insertion replaces `start..cursor`, a replacement `start..end`.
    start: usize,
    cursor: usize,
    end: usize,
    items: Vec<Choice>,
}

struct Choice {
    label: String,
    insert: Option<String>,
    /// True if `insert` contains a `$0` for the cursor.
    snippet: bool,
    kind: lsp::CompletionItemKind,
    detail: Option<String>,
    /// The text that the client compares with the typed word, if it differs from the label.
    filter: Option<String>,
    /// Items with a lower rank come first.
    rank: u8,
}

impl Choice {
    fn new(label: impl Into<String>, kind: lsp::CompletionItemKind) -> Self {
        Self {
            label: label.into(),
            insert: None,
            snippet: false,
            kind,
            detail: None,
            filter: None,
            rank: 0,
        }
    }
}

pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::CompletionParams,
) -> RequestResult<Option<lsp::CompletionResponse>> {
    let at = &params.text_document_position;
    let file = workspace_view::located(snapshot, &at.text_document.uri);
    let Some(place) = file.map(|file| file.position(at.position)) else { return Ok(None) };
    let (file, workspace) = (&place.file, place.file.view.workspace);
    let choices = if file.is_registry() {
        let text = file.open.document.text();
        registry::choices(&place, &text).or_else(|| ids(workspace, &text, place.byte))
    } else {
        let cursor = file.range(place.byte..place.byte).start;
        let (from, byte) = (file.byte(lsp::Position { character: 0, ..cursor }), place.byte);
        let line = file.open.document.slice(from..byte).unwrap_or_default();
        let found = ids(workspace, &line, line.len());
        found.map(|it| Choices { start: it.start + from, cursor: byte, end: byte, ..it })
    };
    snapshot.check_cancelled()?;
    Ok(choices.filter(|choices| !choices.items.is_empty()).map(|choices| {
        let insert = file.range(choices.start..choices.cursor);
        let replace = file.range(choices.start..choices.end);
        list(&snapshot.client, choices.items, insert, replace).into()
    }))
}

/// Returns the ids that begin with the word before the cursor. `None` if the word does not look
/// like the beginning of an id.
fn ids(workspace: &Workspace, text: &str, cursor: usize) -> Option<Choices> {
    let before = text.get(..cursor)?;
    let of_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut start = before.trim_end_matches(of_id).len();
    // `openspec:` belongs to the id.
    if let Some(prefix) = before[..start].strip_suffix(':') {
        let from = prefix.trim_end_matches(of_id).len();
        start = if SourceFormat::of_id(&before[from..]).is_some() { from } else { start };
    }
    let word = &before[start..];
    let separated = word.contains(['-', ':']) && !word.starts_with('-');
    let capitals = word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    if word.len() > MAX_ID_OF_SOURCE || !(separated || capitals) {
        return None;
    }
    let begins = |id: &str| {
        let head = id.get(..word.len());
        head.is_some_and(
            |head| if capitals { head == word } else { head.eq_ignore_ascii_case(word) },
        )
    };
    let registry = &workspace.registry;
    let current = registry.current_work();
    let is_current = |id: &str| current.iter().any(|imported| imported.intent.id.value == id);
    // Several intents of other formats may have one id, which then means none of them.
    let is_meant = |id: &str| !id.contains(':') || registry.get(id).is_some();
    let items = registry.all_intents().filter_map(|intent| {
        let id = intent.id.value.as_str();
        // Its name on disk may be typed too.
        let name_on_disk = SourceFormat::of_id(id).map(|(_, name)| name);
        let filter =
            if begins(id) { None } else { Some(name_on_disk.filter(|name| begins(name))?) };
        if !is_meant(id) {
            return None;
        }
        let status = intent.status.as_ref().map(|status| status.value);
        let name = text::visible(&intent.name.value, false);
        let detail = match status {
            Some(status) => format!("{name} · {}", status.as_str()),
            None => name,
        };
        let id = text::visible(id, false);
        Some(Choice {
            detail: Some(detail),
            filter: filter.map(str::to_owned),
            rank: match status {
                _ if is_current(&id) => 0,
                Some(Status::InProgress) => 1,
                Some(status) if status.is_closed() => 3,
                _ => 2,
            },
            ..Choice::new(id, lsp::CompletionItemKind::REFERENCE)
        })
    });
    Some(Choices { start, cursor, end: cursor, items: items.collect() })
}

fn list(
    client: &Capabilities,
    mut choices: Vec<Choice>,
    insert: lsp::Range,
    replace: lsp::Range,
) -> lsp::CompletionList {
    let is_incomplete = choices.len() > MAX_ITEMS;
    choices.truncate(MAX_ITEMS);
    let replace = if client.completion_insert_replace { replace } else { insert };
    let items = choices.into_iter().map(|choice| item(client, choice, insert, replace)).collect();
    lsp::CompletionList { is_incomplete, items }
}

fn item(
    client: &Capabilities,
    choice: Choice,
    insert: lsp::Range,
    replace: lsp::Range,
) -> lsp::CompletionItem {
    let snippet = choice.snippet && client.completion_snippets;
    let mut new_text = choice.insert.clone().unwrap_or_else(|| choice.label.clone());
    if choice.snippet && !snippet {
        new_text = new_text.replace("$0", "");
    }
    lsp::CompletionItem {
        kind: Some(choice.kind),
        detail: choice.detail,
        sort_text: Some(format!("{}{}", choice.rank, choice.label)),
        filter_text: choice
            .filter
            .or_else(|| (new_text != choice.label).then(|| choice.label.clone())),
        insert_text_format: snippet.then_some(lsp::InsertTextFormat::SNIPPET),
        text_edit: Some(if insert == replace {
            lsp::TextEdit { range: insert, new_text }.into()
        } else {
            lsp::InsertReplaceEdit { new_text, insert, replace }.into()
        }),
        label: choice.label,
        ..Default::default()
    }
}

pub(crate) fn options() -> lsp::CompletionOptions {
    let characters = ["-", "/", "!", "\"", "'"].map(str::to_owned).to_vec();
    lsp::CompletionOptions { trigger_characters: Some(characters), ..Default::default() }
}

#[cfg(test)]
pub(crate) fn items(answer: Option<lsp::CompletionResponse>) -> Vec<lsp::CompletionItem> {
    match answer {
        Some(lsp::CompletionResponse::List(list)) => list.items,
        Some(lsp::CompletionResponse::Array(items)) => items,
        None => Vec::new(),
    }
}

#[cfg(test)]
pub(crate) fn labels_in_order(answer: Option<lsp::CompletionResponse>) -> Vec<String> {
    let mut items = items(answer);
    items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
    items.into_iter().map(|item| item.label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixture::Editor;

    fn complete(editor: &Editor) -> Option<lsp::CompletionResponse> {
        let params = lsp::CompletionParams {
            context: None,
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
            text_document_position: editor.at_cursor(),
        };
        handle(&editor.snapshot(), params).unwrap()
    }

    fn labels(fixture: &str) -> Vec<String> {
        labels_in_order(complete(&Editor::new(fixture)))
    }

    #[test]
    fn ids_are_completed_where_one_begins() {
        assert_eq!(labels("//- /a.rs\n// see INT-$0\n"), ["INT-001", "INT-002"]);
        assert_eq!(labels("//- /a.rs\n// see int-002$0\n"), ["INT-002"]);
        assert_eq!(labels("//- /a.md\nIN$0\n"), ["INT-001", "INT-002"]);
        for quiet in ["in$0", "let x = a -$0", "x = -$0", "I$0", "print$0", "INT-9$0", "$0"] {
            assert_eq!(labels(&format!("//- /a.rs\n{quiet}\n")), [""; 0], "{quiet}");
        }
    }

    const REGISTRY: &str = "
//- /.orchestration/active_intents.yaml
active_intents:
  - id: INT-001
    name: Sign in
    status: STATUS
    owned_scope: [SCOPE]
    related_specs: [REQ-001]
    KEY
//- /src/auth/jwt.rs closed
fn a() {}
//- /README.md closed
Hello
";

    fn registry(from: &str, to: &str) -> String {
        REGISTRY
            .replace(from, to)
            .replace("STATUS", "DRAFT")
            .replace("SCOPE", "")
            .replace("KEY", "")
    }

    #[test]
    fn the_registry_knows_its_words() {
        let statuses = labels(&registry("STATUS", "I$0"));
        assert_eq!(statuses.len(), Status::ALL.len());
        assert_eq!(labels(&registry("SCOPE", "\"$0\"")), ["src/**", "src/", "README.md"]);
        assert_eq!(labels(&registry("SCOPE", "\"src/$0")), ["src/auth/**", "src/auth/"]);
        assert_eq!(labels(&registry("REQ-001", "REQ-001, $0")), ["REQ-001"]);
        assert_eq!(
            labels(&registry("KEY", "$0")),
            ["constraints", "acceptance_criteria", "owner", "formerly"]
        );
    }

    #[test]
    fn a_word_is_replaced_as_the_client_can_do_it() {
        let fixture = registry("STATUS", "IN$0_PROG");
        let mut editor = Editor::new(&fixture);
        let columns = |range: lsp::Range| (range.start.character, range.end.character);
        let plain = &items(complete(&editor))[0];
        let Some(lsp::CompletionTextEdit::Edit(edit)) = &plain.text_edit else {
            panic!("{plain:?}");
        };
        assert_eq!(columns(edit.range), (12, 14));
        editor.client.completion_insert_replace = true;
        let both = &items(complete(&editor))[0];
        let Some(lsp::CompletionTextEdit::InsertAndReplace(edit)) = &both.text_edit else {
            panic!("{both:?}");
        };
        assert_eq!((columns(edit.insert), columns(edit.replace)), ((12, 14), (12, 19)));
    }

    #[test]
    fn what_yaml_would_misread_is_quoted_and_snippets_are_for_those_who_can() {
        let scope = items(complete(&Editor::new(&registry("SCOPE", "!$0"))));
        let folder = scope.iter().find(|item| item.label == "!src/**").unwrap();
        let Some(lsp::CompletionTextEdit::Edit(edit)) = &folder.text_edit else {
            panic!("{folder:?}");
        };
        assert_eq!(edit.new_text, "\"!src/**\"");
        let mut editor = Editor::new(&registry("KEY", "con$0"));
        let text = |editor: &Editor| match items(complete(editor)).remove(0).text_edit {
            Some(lsp::CompletionTextEdit::Edit(edit)) => edit.new_text,
            other => panic!("{other:?}"),
        };
        assert_eq!(text(&editor), "constraints: [\"$0\"]");
        editor.client.completion_snippets = false;
        assert_eq!(text(&editor), "constraints: [\"\"]");
    }
}
