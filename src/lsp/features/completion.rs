//! `textDocument/completion`: ids of intents in every file. The registry also gets keys, statuses,
//! owners, specifications, and the files and folders of the workspace as scope entries.

mod registry;

use tower_lsp::gen_lsp_types as lsp;

use crate::capabilities::Capabilities;
use crate::refusal::Answer;
use crate::snapshot::Snapshot;
use crate::workspace_view;
use ground::text;
use intents::Status;
use why::Workspace;

/// The largest number of items in a list. The client asks again as more is typed.
const MAX_ITEMS: usize = 200;

/// The longest word before the cursor that can become an id, in bytes.
const MAX_WORD: usize = 64;

/// The items that fit at a position, and the text that they replace.
struct Choices {
    /// An insertion replaces `start..cursor`, a replacement `start..end`.
    start: usize,
    cursor: usize,
    end: usize,
    items: Vec<Choice>,
}

/// One item of a completion list.
struct Choice {
    label: String,
    /// The text to insert, if it differs from the label.
    insert: Option<String>,
    /// True if `insert` contains a `$0` for the cursor.
    snippet: bool,
    kind: lsp::CompletionItemKind,
    detail: Option<String>,
    /// Items with a lower rank come first.
    rank: u8,
}

impl Choice {
    fn new(label: impl Into<String>, kind: lsp::CompletionItemKind) -> Self {
        Self { label: label.into(), insert: None, snippet: false, kind, detail: None, rank: 0 }
    }
}

/// Returns the items that fit at the cursor.
pub fn handle(
    snapshot: &Snapshot,
    params: lsp::CompletionParams,
) -> Answer<Option<lsp::CompletionResponse>> {
    let at = &params.text_document_position_params;
    let Some(place) = workspace_view::place(snapshot, at) else { return Ok(None) };
    let (file, workspace) = (&place.file, place.file.view.workspace);
    let choices = if file.is_registry() {
        let text = file.open.document.text();
        registry::choices(&place, &text).or_else(|| ids(workspace, &text, place.byte))
    } else {
        let cursor = file.range(place.byte..place.byte).start;
        let from = file.byte(lsp::Position { character: 0, ..cursor });
        let line = file.open.document.slice(from..place.byte).unwrap_or_default();
        let found = ids(workspace, &line, line.len());
        found.map(|it| Choices {
            start: it.start + from,
            cursor: place.byte,
            end: place.byte,
            ..it
        })
    };
    snapshot.check_cancelled()?;
    let list = choices.filter(|choices| !choices.items.is_empty()).map(|choices| {
        let insert = file.range(choices.start..choices.cursor);
        let replace = file.range(choices.start..choices.end);
        list(&snapshot.client, choices.items, insert, replace)
    });
    Ok(list.map(Into::into))
}

/// Returns the ids that begin with the word before the cursor. `None` if the word does not look
/// like the beginning of an id.
fn ids(workspace: &Workspace, text: &str, cursor: usize) -> Option<Choices> {
    let before = text.get(..cursor)?;
    let of_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let start = before.trim_end_matches(of_id).len();
    let word = &before[start..];
    let separated = word.contains('-') && !word.starts_with('-');
    let capitals = word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    if word.len() > MAX_WORD || !(separated || capitals) {
        return None;
    }
    let begins = |id: &str| {
        let head = id.get(..word.len());
        head.is_some_and(
            |head| if capitals { head == word } else { head.eq_ignore_ascii_case(word) },
        )
    };
    let intents = workspace.registry.intents().iter().filter(|it| begins(&it.id.value));
    let items = intents.map(|intent| {
        let status = intent.status.as_ref().map(|status| status.value);
        let name = text::visible(&intent.name.value, false);
        let detail = match status {
            Some(status) => format!("{name} · {}", status.as_str()),
            None => name,
        };
        let id = text::visible(&intent.id.value, false);
        Choice {
            detail: Some(detail),
            rank: u8::from(status != Some(Status::InProgress)),
            ..Choice::new(id, lsp::CompletionItemKind::Reference)
        }
    });
    Some(Choices { start, cursor, end: cursor, items: items.collect() })
}

/// Returns the list in a form that the client understands.
fn list(
    client: &Capabilities,
    mut choices: Vec<Choice>,
    insert: lsp::Range,
    replace: lsp::Range,
) -> lsp::CompletionList {
    let is_incomplete = choices.len() > MAX_ITEMS;
    choices.truncate(MAX_ITEMS);
    let mut list = lsp::CompletionList { is_incomplete, ..Default::default() };
    let replace = if client.completion_insert_replace { replace } else { insert };
    if client.completion_edit_range {
        let both = lsp::EditRangeWithInsertReplace { insert, replace };
        let edit_range = if insert == replace { insert.into() } else { both.into() };
        let defaults =
            lsp::CompletionItemDefaults { edit_range: Some(edit_range), ..Default::default() };
        list.item_defaults = Some(defaults);
    }
    list.items = choices.into_iter().map(|choice| item(client, choice, insert, replace)).collect();
    list
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
    let mut item = lsp::CompletionItem {
        kind: Some(choice.kind),
        detail: choice.detail,
        sort_text: Some(format!("{}{}", choice.rank, choice.label)),
        filter_text: (new_text != choice.label).then(|| choice.label.clone()),
        insert_text_format: snippet.then_some(lsp::InsertTextFormat::Snippet),
        ..Default::default()
    };
    if client.completion_edit_range {
        item.text_edit_text = (new_text != choice.label).then_some(new_text);
    } else if insert == replace {
        item.text_edit = Some(lsp::TextEdit { range: insert, new_text }.into());
    } else {
        item.text_edit = Some(lsp::InsertReplaceEdit { new_text, insert, replace }.into());
    }
    item.label = choice.label;
    item
}

/// Returns the options that are announced.
pub fn options() -> lsp::CompletionOptions {
    let characters = ["-", "/", "!", "\"", "'"].map(str::to_owned).to_vec();
    lsp::CompletionOptions { trigger_characters: Some(characters), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixture::Editor;

    fn complete(editor: &Editor) -> Option<lsp::CompletionList> {
        let params = lsp::CompletionParams {
            context: None,
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
            text_document_position_params: editor.at_cursor(),
        };
        match handle(&editor.snapshot(), params).unwrap()? {
            lsp::CompletionResponse::CompletionList(list) => Some(list),
            other => panic!("{other:?}"),
        }
    }

    fn labels(fixture: &str) -> Vec<String> {
        let list = complete(&Editor::new(fixture)).unwrap_or_default();
        let mut items = list.items;
        items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
        items.into_iter().map(|it| it.label).collect()
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
        let plain = complete(&editor).unwrap();
        let Some(lsp::CompletionItemTextEdit::TextEdit(edit)) = &plain.items[0].text_edit else {
            panic!("{plain:?}");
        };
        assert_eq!(columns(edit.range), (12, 14));
        editor.client.completion_insert_replace = true;
        let both = complete(&editor).unwrap();
        let Some(lsp::CompletionItemTextEdit::InsertReplaceEdit(edit)) = &both.items[0].text_edit
        else {
            panic!("{both:?}");
        };
        assert_eq!((columns(edit.insert), columns(edit.replace)), ((12, 14), (12, 19)));
        editor.client.completion_edit_range = true;
        let shared = complete(&editor).unwrap();
        assert!(shared.item_defaults.is_some() && shared.items[0].text_edit.is_none());
    }

    #[test]
    fn what_yaml_would_misread_is_quoted_and_snippets_are_for_those_who_can() {
        let scope = complete(&Editor::new(&registry("SCOPE", "!$0"))).unwrap();
        let folder = scope.items.iter().find(|it| it.label == "!src/**").unwrap();
        let Some(lsp::CompletionItemTextEdit::TextEdit(edit)) = &folder.text_edit else {
            panic!("{folder:?}");
        };
        assert_eq!(edit.new_text, "\"!src/**\"");
        let mut editor = Editor::new(&registry("KEY", "con$0"));
        let text = |editor: &Editor| match complete(editor).unwrap().items.remove(0).text_edit {
            Some(lsp::CompletionItemTextEdit::TextEdit(edit)) => edit.new_text,
            other => panic!("{other:?}"),
        };
        assert_eq!(text(&editor), "constraints: [\"$0\"]");
        editor.client.completion_snippets = false;
        assert_eq!(text(&editor), "constraints: [\"\"]");
    }
}
