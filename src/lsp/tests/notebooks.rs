//! Tests of notebooks, whose cells are documents.

use super::commands::with_options;
use super::*;
use crate::features::fixture::Editor;

const BOOKS: &str = r##"
//- /src/a.ipynb intent=INT-001 agent=claude-code closed
{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Prices"
   ]
  },
  {
   "cell_type": "code",
   "id": "load",
   "metadata": {},
   "outputs": [],
   "source": [
    "import csv\n",
    "rows = list(csv.reader(open('a.csv')))\n",
    "# Under INT-002\n",
    "print(len(rows))"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
//- /billing/b.ipynb closed
{
 "cells": [
  {
   "cell_type": "code",
   "metadata": {},
   "source": [
    "a = 1"
   ]
  },
  {
   "cell_type": "code",
   "metadata": {},
   "source": [
    "b = 1\n",
    "c = 2"
   ]
  }
 ],
 "nbformat": 4
}
"##;

const LOAD: &str =
    "import csv\nrows = list(csv.reader(open('a.csv')))\n# Under INT-002\nprint(len(rows))";

fn session(editor: &Editor) -> Session {
    let client = json!({
        "notebookDocument": { "synchronization": {} },
        "textDocument": {
            "codeLens": {},
            "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } },
        },
    });
    with_options(editor, client, json!({}))
}

fn cell(editor: &Editor, path: &str, number: usize) -> String {
    let notebook = editor.uri(path);
    format!("vscode-notebook-cell:{}#W{number}", notebook.path())
}

fn text_of_cell(uri: &str, text: &str) -> Value {
    json!({ "uri": uri, "languageId": "python", "version": 1, "text": text })
}

fn open(session: &mut Session, editor: &Editor, path: &str, texts: &[&str]) {
    let uris: Vec<String> = (0..texts.len()).map(|at| cell(editor, path, at)).collect();
    let cells: Vec<Value> = uris.iter().map(|uri| json!({ "kind": 2, "document": uri })).collect();
    let documents: Vec<Value> =
        uris.iter().zip(texts).map(|(uri, text)| text_of_cell(uri, text)).collect();
    let notebook = json!({ "uri": editor.uri(path), "notebookType": "jupyter-notebook",
                           "version": 1, "cells": cells });
    session.tell(
        "notebookDocument/didOpen",
        json!({ "notebookDocument": notebook, "cellTextDocuments": documents }),
    );
}

fn change(session: &mut Session, editor: &Editor, path: &str, cells: Value) {
    let notebook = json!({ "uri": editor.uri(path), "version": 2 });
    let params = json!({ "notebookDocument": notebook, "change": { "cells": cells } });
    session.tell("notebookDocument/didChange", params);
}

fn hover(session: &mut Session, uri: &str, line: u32) -> Option<String> {
    let position = json!({ "line": line, "character": 2 });
    let params = json!({ "textDocument": { "uri": uri }, "position": position });
    let id = session.ask("textDocument/hover", params);
    session.result(id)["contents"]["value"].as_str().map(str::to_owned)
}

fn why(session: &mut Session, uri: &str, line: u32) -> Value {
    let argument = json!({ "uri": uri, "position": { "line": line, "character": 0 } });
    let params = json!({ "command": "intent.why", "arguments": [argument] });
    let id = session.ask("workspace/executeCommand", params);
    session.result(id)
}

#[test]
fn a_cell_has_the_answers_about_its_part_of_the_file() {
    let editor = Editor::in_git(BOOKS);
    let mut session = session(&editor);
    open(&mut session, &editor, "/src/a.ipynb", &["# Prices", LOAD]);
    let code = cell(&editor, "/src/a.ipynb", 1);
    let said = hover(&mut session, &code, 0).unwrap();
    assert!(said.contains("INT-001 Sign in") && said.contains("claude-code"), "{said}");
    assert_eq!(hover(&mut session, &code, 1), None, "it comes on the first line");
    assert!(hover(&mut session, &code, 2).is_none_or(|said| said.contains("INT-002")));
    let answer = why(&mut session, &code, 3);
    assert!(answer["lines"][0].as_str().unwrap().contains("INT-001 Sign in"), "{answer}");
    assert!(answer["short"].as_str().unwrap().starts_with("INT-001 · claude-code"), "{answer}");
    let id = session.ask("textDocument/codeLens", json!({ "textDocument": { "uri": code } }));
    let text = cell(&editor, "/src/a.ipynb", 0);
    let other = session.ask("textDocument/codeLens", json!({ "textDocument": { "uri": text } }));
    let lenses = [session.result(id), session.result(other)].map(|it| it.as_array().unwrap().len());
    assert_eq!(lenses.iter().sum::<usize>(), 1, "neighbours share a lens: {lenses:?}");
    let links = json!({ "textDocument": { "uri": code } });
    let id = session.ask("textDocument/documentLink", links);
    let links = session.result(id);
    assert_eq!(links[0]["range"]["start"], json!({ "line": 2, "character": 8 }), "{links}");
    let inserted = json!([{ "range": { "start": { "line": 3, "character": 0 },
                                       "end": { "line": 3, "character": 0 } }, "text": "new()\n" }]);
    let edit = json!({ "document": { "uri": code, "version": 2 }, "changes": inserted });
    change(&mut session, &editor, "/src/a.ipynb", json!({ "textContent": [edit] }));
    assert_eq!(why(&mut session, &code, 3)["short"], "not committed yet");
    let after = why(&mut session, &code, 4);
    assert!(after["short"].as_str().unwrap().starts_with("INT-001 · claude-code"), "{after}");
    session.tell(
        "notebookDocument/didClose",
        json!({ "notebookDocument": { "uri": editor.uri("/src/a.ipynb") },
                "cellTextDocuments": [{ "uri": code }, { "uri": text }] }),
    );
    assert_eq!(hover(&mut session, &code, 0), None);
    session.close();
}

#[test]
fn an_id_is_renamed_in_the_cells() {
    let editor = Editor::in_git(BOOKS);
    let mut session = session(&editor);
    open(&mut session, &editor, "/src/a.ipynb", &["# Prices", LOAD]);
    let code = cell(&editor, "/src/a.ipynb", 1);
    let params = json!({ "textDocument": { "uri": code }, "newName": "INT-020",
                         "position": { "line": 2, "character": 9 } });
    let id = session.ask("textDocument/rename", params);
    let edits = session.result(id)["changes"].clone();
    let edited = json!([{ "range": { "start": { "line": 2, "character": 8 },
                                     "end": { "line": 2, "character": 15 } }, "newText": "INT-020" }]);
    assert_eq!(edits[&code], edited, "{edits}");
    assert_eq!(
        edits.get(editor.uri("/src/a.ipynb").as_str()),
        None,
        "the file is not edited beside"
    );
    session.close();
}

#[test]
fn the_actions_of_a_file_are_offered_in_its_cells() {
    let mut editor = Editor::in_git(BOOKS);
    overview::select::select(editor.workspace(), "INT-001", None).unwrap();
    editor.reload();
    let mut session = session(&editor);
    open(&mut session, &editor, "/billing/b.ipynb", &["a = 1", "b = 1\nc = 2"]);
    let second = cell(&editor, "/billing/b.ipynb", 1);
    let typed = json!([{ "text": "b = 1\nc = 3" }]);
    let edit = json!({ "document": { "uri": second, "version": 2 }, "changes": typed });
    change(&mut session, &editor, "/billing/b.ipynb", json!({ "textContent": [edit] }));
    let here =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
    let params = json!({ "textDocument": { "uri": second }, "range": here,
                         "context": { "diagnostics": [] } });
    let id = session.ask("textDocument/codeAction", params);
    let offered = session.result(id);
    let offered = offered.as_array().unwrap();
    let titles: Vec<&str> = offered.iter().filter_map(|it| it["title"].as_str()).collect();
    assert!(titles.iter().any(|title| title.starts_with("Add billing/b.ipynb")), "{titles:?}");
    assert!(!titles.iter().any(|title| title.starts_with("Put ")), "{titles:?}");
    session.close();
}

#[test]
fn an_error_is_shown_in_its_cell() {
    let mut editor = Editor::in_git(BOOKS);
    overview::select::select(editor.workspace(), "INT-001", None).unwrap();
    editor.reload();
    let mut session = session(&editor);
    open(&mut session, &editor, "/billing/b.ipynb", &["a = 1", "b = 1\nc = 2"]);
    let [first, second] = [0, 1].map(|at| cell(&editor, "/billing/b.ipynb", at));
    let typed = json!([{ "text": "b = 1\nc = 3" }]);
    let edit = json!({ "document": { "uri": second, "version": 2 }, "changes": typed });
    change(&mut session, &editor, "/billing/b.ipynb", json!({ "textContent": [edit] }));
    let found = session.wait("an error", |it| {
        let codes = it["params"]["diagnostics"].to_string();
        it["method"] == "textDocument/publishDiagnostics" && codes.contains("scope-violation")
    });
    assert_eq!(found["params"]["uri"], json!(second));
    assert_eq!(found["params"]["diagnostics"][0]["range"]["start"]["line"], 1, "{found}");
    // The two cells change places, and the changed one is as before.
    let cells = [&second, &first].map(|uri| json!({ "kind": 2, "document": uri }));
    let array = json!({ "start": 0, "deleteCount": 2, "cells": cells });
    let back = json!({ "document": { "uri": second, "version": 3 },
                       "changes": [{ "text": "b = 1\nc = 2" }] });
    let moved = json!({ "structure": { "array": array }, "textContent": [back] });
    change(&mut session, &editor, "/billing/b.ipynb", moved);
    let answer = why(&mut session, &second, 1);
    assert!(answer["short"].as_str().unwrap().starts_with("git says"), "{answer}");
    let new = format!("{first}-new");
    let array = json!({ "start": 2, "deleteCount": 0, "cells": [{ "kind": 2, "document": new }] });
    let opened = [text_of_cell(&new, "d = 4")];
    change(
        &mut session,
        &editor,
        "/billing/b.ipynb",
        json!({ "structure": { "array": array, "didOpen": opened } }),
    );
    assert_eq!(why(&mut session, &new, 0)["short"], "not committed yet");
    let array = json!({ "start": 0, "deleteCount": 1 });
    change(&mut session, &editor, "/billing/b.ipynb", json!({ "structure": { "array": array } }));
    assert_eq!(hover(&mut session, &second, 0), None, "it was deleted");
    session.close();
}
