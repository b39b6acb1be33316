//! `textDocument/hover`: says which intent asked for the block under the cursor, and explains an id
//! or a field of the registry.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tower_lsp::lsp_types as lsp;

use super::glance::{self, KnownFile, Typing};
use super::prose::Prose;
use super::{fields, intent_text, mention};
use crate::analysis::{Analysis, RecentBlock};
use crate::config::HoverPlaces;
use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view::{self, DocumentPosition, GovernedFile, WorkspaceView};
use code::{Block, BlockKind, Encoding, Position};
use ground::Hint;
use ground::text::counted;
use why::answers;

/// How long after the last edit a person counts as typing. After that, a hover waits for an
/// analysis of the present text.
const TYPING: Duration = Duration::from_secs(2);

/// Returns the hover of a position. `None` if there is nothing to say.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::HoverParams,
) -> RequestResult<Option<lsp::Hover>> {
    Ok(hover(snapshot, &params.text_document_position_params))
}

/// Returns the hover that is shown while the workspace is still being read. `intents` is how many
/// its registry has, if that is known.
pub(crate) fn still_reading(intents: Option<usize>) -> lsp::Hover {
    let value = match intents {
        Some(count) => format!("reading {}…", counted(count, "intent")),
        None => "reading the intents…".to_owned(),
    };
    let contents = lsp::MarkupContent { kind: lsp::MarkupKind::PlainText, value };
    lsp::Hover { contents: lsp::HoverContents::Markup(contents), range: None }
}

fn hover(snapshot: &Snapshot, at: &lsp::TextDocumentPositionParams) -> Option<lsp::Hover> {
    let file = workspace_view::shown_file(snapshot, &at.text_document.uri)?;
    let place = file.position(at.position);
    let view = place.file.view;
    let (text, bytes) = if let Some(field) = fields::field_at(&place) {
        (fields::explain(view, &field, empty(view)), field.span)
    } else if let Some((id, bytes)) = mention::id_at(&place) {
        (intent_text::describe(view, &id, empty(view)), bytes)
    } else if let Some(at) = intent_text::requirement_at(&place) {
        (intent_text::describe_requirement(view, &at, empty(view)), at.bytes)
    } else if let Some(reason) = place.file.open.document.unread() {
        let mut text = empty(view);
        text.paragraph(&text.escaped(&format!("No provenance here: {}.", reason.with_hint())));
        (text, place.byte..place.byte)
    } else {
        of_block(&place).or_else(|| of_line(&place))?
    };
    let range = place.file.range(bytes);
    // Some editors drop a hover whose range does not contain the cursor.
    let holds = range.start <= at.position && at.position <= range.end;
    Some(lsp::Hover {
        contents: lsp::HoverContents::Markup(text.finish()),
        range: holds.then_some(range),
    })
}

fn empty(view: WorkspaceView<'_>) -> Prose {
    Prose::new(view.snapshot.client.hover_markdown)
}

/// Returns the text about the block at a position, and the bytes of the block's name. `None` unless
/// the position is at the name or the lead.
///
/// While somebody types, the text comes from the last analysis. A block with an edit in it is
/// described as being edited.
fn of_block(place: &DocumentPosition<'_>) -> Option<(Prose, Range<usize>)> {
    let open = place.file.open;
    if let Some(recent) = place.file.recent()
        && let Ok(found) = recent.block_at(&open.document, place.byte)
    {
        let RecentBlock { index, edited, name } = found?;
        let typing = if edited { Typing::InBlock } else { Typing::Elsewhere };
        if !edited || open.changed.elapsed() < TYPING {
            let block = &recent.analysis.file.blocks.blocks[index];
            let head = recent.since.now(&head(&recent.analysis, block));
            let head = head_of_cell(&place.file).unwrap_or(head);
            let is_at_head = (head.start..=head.end).contains(&place.byte);
            return Some((block_text(&place.file, &recent.analysis, index, typing)?, name))
                .filter(|_| is_at_head);
        }
    }
    let analysis = place.file.analyse();
    let (index, block) = analysis.block_at(place.byte)?;
    let head = head_of_cell(&place.file).unwrap_or_else(|| head(&analysis, block));
    let is_at_head = (head.start..=head.end).contains(&place.byte);
    let text = is_at_head.then(|| block_text(&place.file, &analysis, index, Typing::Elsewhere))?;
    Some((text?, block.name_bytes.clone()))
}

/// Returns the bytes of the first line of a cell, which has no name. `None` in another document.
fn head_of_cell(file: &GovernedFile<'_>) -> Option<Range<usize>> {
    let source = file.cell?.source();
    let line = source.text.find('\n').unwrap_or(source.text.len());
    Some(source.in_notebook(0)..source.in_notebook(line))
}

/// Returns the bytes of a block's lead, and of its node until the end of the line with the name. A
/// cell in the JSON of a notebook has no name, so all of it counts.
fn head(analysis: &Analysis, block: &Block) -> Range<usize> {
    if block.identity.kind == BlockKind::Cell {
        return block.whole_bytes();
    }
    let document = &analysis.file.document;
    let line = document.position_of(block.name_bytes.start, Encoding::Utf8).line;
    let next = document.byte_of(Position { line: line + 1, column: 0 }, Encoding::Utf8);
    let end = block.bytes.end.min(next.max(block.name_bytes.end));
    let text = document.slice(block.lead.start..end).unwrap_or_default();
    block.lead.start..block.lead.start + text.trim_end().len()
}

fn block_text(
    file: &GovernedFile<'_>,
    analysis: &Analysis,
    index: usize,
    typing: Typing,
) -> Option<Prose> {
    let mut text = empty(file.view);
    let known = KnownFile::of_analysis(file, analysis);
    glance::of_block(&text, known, index, typing)?.write(&mut text);
    Some(text)
}

fn of_line(place: &DocumentPosition<'_>) -> Option<(Prose, Range<usize>)> {
    let view = place.file.view;
    if view.snapshot.settings.hover != HoverPlaces::Everywhere {
        return None;
    }
    let (analysis, byte) = analysis_of_line(place);
    let line = analysis.file.document.position_of(byte, Encoding::Utf8).line + 1;
    let line = answers::line_answer(view.workspace, &analysis.file, line)?;
    let mut text = empty(view);
    text.line(&text.escaped(&glance::short_glance(&line)?));
    Some((text, place.byte..place.byte))
}

/// Returns an analysis that knows the line of a position, and the byte of the position in it. While
/// somebody types elsewhere, this is the last one.
fn analysis_of_line(place: &DocumentPosition<'_>) -> (Arc<Analysis>, usize) {
    if let Some(recent) = place.file.recent() {
        let line = place.file.range(place.byte..place.byte).start.line + 1;
        let bytes = place.file.bytes_of_line(line);
        let earlier = recent.since.earlier(bytes.start)..recent.since.earlier(bytes.end);
        if !recent.since.any_touches(&earlier) {
            let byte = recent.since.earlier(place.byte);
            return (recent.analysis, byte);
        }
    }
    (place.file.analyse(), place.byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixture::{Editor, REGISTRY, git};
    use judgement::accept::{AcceptExtent, accept};

    fn shown_hover(editor: &Editor) -> String {
        let Some(hover) = hover(&editor.snapshot(), &editor.at_cursor()) else {
            return "nothing".into();
        };
        let lsp::HoverContents::Markup(text) = hover.contents else { panic!("no markup") };
        let range =
            hover.range.map(|range| editor.show(&editor.at_cursor().text_document.uri, range));
        let range = range.unwrap_or_else(|| "elsewhere".to_owned());
        format!("[{range}]\n{}", editor.steady(&text.value))
    }

    #[test]
    fn while_typing_the_hover_shows_the_last_analysis() {
        let mut editor = Editor::new(
            "//- /src/a.rs intent=INT-001 agent=codex\nfn first() -> u8 {\n    let one = 1;\n    one\n}\n\nfn sec$0ond() -> u8 {\n    let two = 2;\n    two\n}\n",
        );
        let before = shown_hover(&editor);
        assert!(
            before.starts_with("[src/a.rs:6: second]") && before.contains("3 of 3 lines"),
            "{before}"
        );
        editor.replace("/src/a.rs", "= 1", "= 11");
        let snapshot = editor.snapshot();
        let open = snapshot.document(&editor.uri("/src/a.rs")).unwrap();
        let recent = workspace_view::governed(&snapshot, &open.uri).unwrap().recent().unwrap();
        assert!(!recent.since.is_empty(), "the text was not analysed after the edit");
        assert_eq!(shown_hover(&editor), before, "only another block was edited");
        editor.replace("/src/a.rs", "= 2", "= 22");
        let edited = shown_hover(&editor);
        assert!(edited.contains("  \n**being edited**  \n"), "{edited}");
        assert!(edited.contains("codex"), "{edited}");
        editor.replace("/src/a.rs", "fn first", "fn zeroth() {}\n\n\n\n\nfn first");
        assert!(
            !shown_hover(&editor).contains("being edited"),
            "a position in new lines is analysed anew"
        );
        workspace_view::governed(&editor.snapshot(), &editor.uri("/src/a.rs")).unwrap().analyse();
        let since = "since then 1 line (no record)";
        assert!(shown_hover(&editor).contains(since), "{}", shown_hover(&editor));
    }

    #[test]
    fn a_renamed_intent_is_told_by_any_id_that_it_had() {
        let registry = REGISTRY.replace("id: INT-001\n", "id: AUTH-1\n    formerly: [INT-001]\n");
        let of = |fixture: &str| {
            let mut editor = Editor::new(fixture);
            editor.write("/.orchestration/active_intents.yaml", &registry);
            shown_hover(&editor)
        };
        let code = CODE.replace("//- /src/auth.rs", "//- /a.md\nINT-001\n//- /src/auth.rs");
        let block = of(&code);
        assert!(block.contains("**AUTH-1 Sign in**"), "{block}");
        let word = of(&code.replace("$0", "").replace("a.md\nINT", "a.md\nI$0NT"));
        assert!(word.starts_with("[a.md:1: INT-001]\n") && word.contains("AUTH-1"), "{word}");
        let key = registry.replace("formerly", "form$0erly");
        let field =
            shown_hover(&Editor::new(&format!("//- /.orchestration/active_intents.yaml\n{key}")));
        assert!(field.contains("the ids this intent had before"), "{field}");
    }

    const CODE: &str = "
//- /src/auth.rs intent=INT-001 agent=claude-code
struct Visitor;

fn ver$0ify(token: &str) -> bool {
    let checked = token.starts_with(\"a\");
    let trimmed = token.trim();
    checked && !trimmed.is_empty()
}
";

    #[test]
    fn a_block_says_who_asked_for_it() {
        insta::assert_snapshot!(shown_hover(&Editor::new(CODE)));
    }

    #[test]
    fn a_block_changed_since_is_never_silently_the_intents() {
        let mut editor = Editor::new(CODE);
        editor.replace("/src/auth.rs", "starts_with(\"a\")", "ends_with(\"b\")");
        let text = shown_hover(&editor);
        assert!(text.contains("3 of 4 lines") && text.contains("since then 1 line"), "{text}");
        let mut editor = Editor::in_git(CODE);
        editor.replace("/src/auth.rs", "starts_with(\"a\")", "ends_with(\"b\")");
        let text = shown_hover(&editor);
        assert!(text.contains("since then 1 line, not committed yet (no record)"), "{text}");
    }

    #[test]
    fn an_accepted_block_names_the_person() {
        let mut editor = Editor::in_git(CODE);
        editor.replace("/src/auth.rs", "starts_with(\"a\")", "ends_with(\"b\")");
        editor.save("/src/auth.rs");
        let path = ground::RelativePath::new("src/auth.rs").unwrap();
        let by = ledger::Contributor::person(Some("Ada".to_owned()));
        let extent = AcceptExtent::Line(4);
        accept(editor.workspace(), &path, extent, &by).unwrap();
        editor.reload();
        let text = shown_hover(&editor);
        assert!(text.contains("  \naccepted as it stands by Ada  \n"), "{text}");
    }

    #[test]
    fn a_block_with_two_records_is_of_the_last() {
        let mut editor = Editor::new(CODE);
        editor.replace("/src/auth.rs", "trim()", "trim_start()");
        editor.record("/src/auth.rs", "INT-001", "cursor");
        editor.replace("/src/auth.rs", "fn verify(", "fn verify_token(");
        insta::assert_snapshot!(shown_hover(&editor));
    }

    #[test]
    fn a_block_that_moved_names_where_it_was_recorded() {
        let mut editor = Editor::new(CODE);
        editor.replace("/src/auth.rs", "struct Visitor;", "mod inner {");
        let code = editor.text("/src/auth.rs");
        editor.replace("/src/auth.rs", &code, &format!("{code}}}\n"));
        let text = shown_hover(&editor);
        assert!(text.contains("  \nmoved; recorded as `verify`  \n"), "{text}");
    }

    #[test]
    fn a_block_that_belongs_to_no_intent_says_who_brought_its_lines() {
        let mut editor = Editor::new(CODE);
        let lines =
            "    let a = 1;\n    let b = 2;\n    let c = 3;\n    let d = 4;\n    let e = 5;\n";
        editor.replace("/src/auth.rs", "    checked", &format!("{lines}    checked"));
        let text = shown_hover(&editor);
        assert!(text.ends_with("]\nno record  \n5 of 9 lines  \n4 lines INT-001"), "{text}");
    }

    #[test]
    fn a_client_without_markdown_gets_plain_text() {
        let mut editor = Editor::new(CODE);
        editor.client.hover_markdown = false;
        insta::assert_snapshot!(shown_hover(&editor));
    }

    #[test]
    fn an_id_in_a_comment_is_the_intent() {
        insta::assert_snapshot!(shown_hover(&Editor::new(
            "
//- /src/auth.rs intent=INT-001
// See INT-$0001.
fn verify() {}
"
        )));
    }

    #[test]
    fn an_unrecorded_block_says_so() {
        let of = |fixture: &str| shown_hover(&Editor::new(fixture));
        assert_eq!(of("//- /src/a.rs\nfn a$0() {}\n"), "[src/a.rs:1: a]\nno record");
        assert_eq!(of("//- /src/a.rs\n// INT-$0999 is no intent.\n"), "nothing");
        let mut editor = Editor::in_git("//- /src/a.rs\nfn old() {}\n\nfn mi$0ne() {}\n");
        assert_eq!(of_git(&editor), "git says: `COMMIT` start  \nAda, just now, 1 of 1 line");
        editor.replace("/src/a.rs", "fn mine() {}", "fn mine(new: u8) {}");
        editor.save("/src/a.rs");
        assert_eq!(of_git(&editor), "no record; not committed yet");
        let body = "fn mine() {\n    one();\n    two();\n    three();\n";
        editor.replace("/src/a.rs", "fn mine(new: u8) {", body);
        editor.save("/src/a.rs");
        editor.commit();
        editor.replace("/src/a.rs", "    two();\n", "    two(2);\n");
        editor.save("/src/a.rs");
        let said = "git says: `COMMIT` more  \nAda, just now, 3 of 4 lines  \n1 line not committed";
        assert_eq!(of_git(&editor), said);
    }

    /// Returns the hover without its place, and without the id of the commit.
    fn of_git(editor: &Editor) -> String {
        let text = shown_hover(editor);
        let (_, text) = text.split_once('\n').unwrap();
        let head = editor.workspace().head().map(|head| head.0[..10].to_owned());
        text.replace(&head.unwrap_or_default(), "COMMIT")
    }

    #[test]
    fn a_shallow_clone_that_nobody_set_up_says_what_is_missing() {
        let mut editor = Editor::in_git("//- /src/a.rs\nfn ol$0d() {}\n");
        let head = editor.workspace().head().unwrap().0.clone();
        std::fs::write(editor.path("/.git/shallow"), format!("{head}\n")).unwrap();
        // Without this folder, nobody has set up the repository.
        std::fs::remove_dir_all(editor.path("/.orchestration")).unwrap();
        editor.reload();
        assert_eq!(of_git(&editor), "no record; history is missing here");
    }

    #[test]
    fn a_cell_in_the_json_of_a_notebook_has_a_hover_everywhere() {
        let cell = |source: &str| {
            format!(
                "//- /src/a.ipynb intent=INT-001 agent=codex\n{{\n \"cells\": [\n  {{\n   \"cell_type\": \"code\",\n   \"metadata\": {{}},\n   \"source\": [\n    {source}\n   ]\n  }}\n ],\n \"nbformat\": 4\n}}\n"
            )
        };
        let shown = shown_hover(&Editor::new(&cell("\"a = 1\\n\",\n    \"b =$0 2\"")));
        assert!(shown.contains("INT-001"), "{shown}");
    }

    #[test]
    fn only_the_name_and_the_lead_of_a_block_have_a_hover_unless_every_line_shall() {
        let file = "//- /src/a.rs intent=INT-001 agent=codex\n/// Do$0c.\n#[inline]\npub fn first(\n    a: u8,\n) -> u8 {\n    a + 1\n}\n";
        let mut editor = Editor::in_git(file);
        let (uri, mut at) = (editor.uri("/src/a.rs"), editor.at_cursor());
        let mut lines = |editor: &Editor| {
            let on = |line: u32| {
                at.position = lsp::Position { line, character: 4 };
                let hover = hover(&editor.snapshot(), &at)?;
                let lsp::HoverContents::Markup(text) = hover.contents else { panic!("no markup") };
                Some(text.value.lines().count())
            };
            (0..7).map(on).collect::<Vec<_>>()
        };
        let (head, none) = (Some(3), None);
        assert_eq!(lines(&editor), [head, head, head, none, none, none, none], "{uri}");
        editor.settings.hover = HoverPlaces::Everywhere;
        let line = Some(1);
        assert_eq!(lines(&editor), [head, head, head, line, line, line, line]);
        editor.replace("/src/a.rs", "a + 1", "a + 2");
        let mut at = editor.at_cursor();
        at.position = lsp::Position { line: 5, character: 6 };
        let said = format!("{:?}", hover(&editor.snapshot(), &at).unwrap().contents);
        assert!(said.contains("not committed yet"), "{said}");
    }

    #[test]
    fn a_hover_leads_to_history_commit_pull_request_and_specification() {
        let registry = REGISTRY
            .replace("id: INT-001\n", "id: INT-001\n    related_specs: [docs/spec.md, REQ-1]\n");
        let mut editor =
            Editor::in_git(&format!("{}//- /docs/spec.md closed\nSpec.\n", CODE.trim_start()));
        editor.write("/.orchestration/active_intents.yaml", &registry);
        editor.settings.history_command = Some("client.history".to_owned());
        let links = |editor: &Editor| shown_hover(editor).lines().last().unwrap().to_owned();
        assert_eq!(
            links(&editor),
            "[Intent](<file:///ws/.orchestration/active_intents.yaml#L2>) · \
             [History](<command:client.history?[{%22uri%22:%22file:///ws/src/auth.rs%22,%22line%22:3}]>) · \
             [Spec](<file:///ws/docs/spec.md>)"
        );
        let mut editor = Editor::in_git("//- /src/a.rs\nfn fir$0st() {}\n");
        let root = editor.workspace().root.path().to_owned();
        git(&root, &["remote", "add", "origin", "git@github.com:ada/shop.git"]);
        git(&root, &["commit", "-q", "--amend", "-m", "auth: sign in (#214)"]);
        editor.reload();
        let head = editor.workspace().head().unwrap().0.clone();
        assert_eq!(
            links(&editor).replace(&head, "HEAD"),
            "[Commit](<https://github.com/ada/shop/commit/HEAD>) · \
             [\\#214](<https://github.com/ada/shop/pull/214>)"
        );
        let ours = "links: { \"#{number}\": \"https://tracker.example.org/{number}\" }\n";
        std::fs::create_dir_all(editor.path("/.orchestration")).unwrap();
        editor.write("/.orchestration/policy.yaml", ours);
        assert!(links(&editor).ends_with("[\\#214](<https://tracker.example.org/214>)"));
    }

    #[test]
    fn an_ungoverned_file_has_no_hover() {
        let mut editor = Editor::new(CODE);
        let mut at = editor.at_cursor();
        for uri in ["untitled:Untitled-1", "file:///nowhere/a.rs", "git:/a.rs?%7B%7D"] {
            at.text_document.uri = uri.parse().unwrap();
            editor.open_at(&at.text_document.uri, &editor.text("/src/auth.rs"));
            assert!(hover(&editor.snapshot(), &at).is_none(), "{uri}");
        }
    }

    #[test]
    fn a_file_that_is_left_alone_says_why() {
        let large = format!("//- /src/a.rs\n$0// {}\n", "x".repeat(code::document::MAX_BYTES));
        let text = shown_hover(&Editor::new(&large));
        assert!(text.contains("files over 2 MiB are not read"), "{text}");
        let text = shown_hover(&Editor::new("//- /src/a.rs\nfn a() {}\0$0\n"));
        assert!(text.contains("binary files are not read"), "{text}");
    }

    #[test]
    fn a_field_of_the_registry_is_explained() {
        insta::assert_snapshot!(shown_hover(&Editor::new(
            "
//- /.orchestration/active_intents.yaml
active_intents:
  - id: INT-001
    name: \"Sign in [x](command:evil)\"
    status: IN_PROGRESS
    owned_scope: [\"src/$0**\"]
//- /src/a.rs intent=INT-001
fn a() {}
fn b() {}
"
        )));
    }
}
