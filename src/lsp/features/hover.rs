//! `textDocument/hover`: says which intent asked for the block under the cursor, and explains an id
//! or a field of the registry.

use std::ops::Range;
use std::time::Duration;

use tower_lsp::lsp_types as lsp;

use super::prose::Prose;
use super::{block_line, fields, intent_text, mention};
use crate::analysis::{Analysis, RecentBlock};
use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view::{self, DocumentPosition, GovernedFile, WorkspaceView};
use ground::Hint;
use ground::clock::{ago, date};
use ground::text::counted;
use ledger::Trust;
use provenance::Verdict;
use why::Provenance;
use why::answers::{self, AskedFor, BlockAnswer, OriginAnswer, RecordBrief, ShareAnswer};

/// How long after the last edit a person counts as typing. After that, a hover waits for an
/// analysis of the present text.
const TYPING: Duration = Duration::from_secs(2);

/// The number of claims of other tools that a hover shows.
const MAX_CLAIMS: usize = 2;

/// The number of records of a block that a hover shows.
const MAX_RECORDS: usize = 8;

/// Returns the hover of a position. `None` if nothing is known about it.
pub fn handle(snapshot: &Snapshot, params: lsp::HoverParams) -> RequestResult<Option<lsp::Hover>> {
    Ok(hover(snapshot, &params.text_document_position_params))
}

/// Returns the hover that is shown while the workspace is still being read.
pub(crate) fn still_reading() -> lsp::Hover {
    let value = "The intents are still being read; ask again in a moment.".to_owned();
    let contents = lsp::MarkupContent { kind: lsp::MarkupKind::PlainText, value };
    lsp::Hover { contents: lsp::HoverContents::Markup(contents), range: None }
}

fn hover(snapshot: &Snapshot, at: &lsp::TextDocumentPositionParams) -> Option<lsp::Hover> {
    let place = workspace_view::position_in_document(snapshot, at)?;
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
        of_block(&place)?
    };
    let range = place.file.range(bytes);
    // Some editors drop a hover whose range does not contain the cursor.
    let holds = range.start <= at.position && at.position <= range.end;
    Some(lsp::Hover {
        contents: lsp::HoverContents::Markup(text.finish()),
        range: holds.then_some(range),
    })
}

/// Returns an empty text in the markup that the client supports in hovers.
fn empty(view: WorkspaceView<'_>) -> Prose {
    Prose::new(view.snapshot.client.hover_markdown)
}

/// Returns the text about the block at a position, and the bytes of the block's name.
///
/// While somebody types, the text comes from the last analysis. A block with an edit in it is
/// described as being edited.
fn of_block(place: &DocumentPosition<'_>) -> Option<(Prose, Range<usize>)> {
    let open = place.file.open;
    if let Some(recent) = place.file.recent()
        && let Ok(found) = recent.block_at(&open.document, place.byte)
    {
        let RecentBlock { index, edited, name } = found?;
        if !edited {
            return Some((block_text(&place.file, &recent.analysis, index)?, name));
        }
        if open.changed.elapsed() < TYPING {
            return Some((edited_text(&place.file, &recent.analysis, index)?, name));
        }
    }
    let analysis = place.file.analyse();
    let (index, block) = analysis.block_at(place.byte)?;
    Some((block_text(&place.file, &analysis, index)?, block.name_bytes.clone()))
}

/// Returns the text about a block in which somebody is typing, with the facts from before the edit.
/// `None` if nothing is known about the block.
fn edited_text(file: &GovernedFile<'_>, analysis: &Analysis, index: usize) -> Option<Prose> {
    let answer = block_line::answer(file.view.workspace, analysis, index)?;
    let found = &analysis.file.provenance[index];
    if !is_known(found) {
        return None;
    }
    let mut text = empty(file.view);
    if let Some(intent) = &answer.intent {
        text.paragraph(&intent_text::heading(&text, intent));
    }
    text.joined(who_and_when(&text, file, &answer, found).as_slice());
    let name = text.code(&answer.qualified_name);
    let being_edited = text.strong("being edited");
    text.paragraph(&format!("{} {name}: {being_edited} – before that:", answer.kind));
    text.paragraph(&verdict(&text, file, &answer));
    text.joined(&links(&text, file, &answer, found));
    Some(text)
}

/// Returns true if a record brought lines of the block, a person accepted it, or history is missing
/// that may name one.
fn is_known(found: &Provenance) -> bool {
    let has_record = found.shares.iter().any(|share| share.claim.is_some());
    has_record || found.accepted.is_some() || found.is_missing
}

/// Returns the text about a block. `None` if nothing is known about it.
fn block_text(file: &GovernedFile<'_>, analysis: &Analysis, index: usize) -> Option<Prose> {
    let answer = block_line::answer_in_full(file.view.workspace, analysis, index)?;
    let found = &analysis.file.provenance[index];
    if !is_known(found) {
        return Some(origin_text(file, &answer, answer.origin.as_ref()?));
    }
    let mut text = empty(file.view);
    if let Some(intent) = &answer.intent {
        text.paragraph(&intent_text::heading(&text, intent));
    }
    if let Some(asked) = answer.asked.as_ref() {
        asked_for(&mut text, asked);
    }
    // Several facts share a paragraph, because a terminal shows few lines.
    let commit = answer.commit.as_ref().map(|commit| {
        let commit_text = format!("{}: {}", commit.author, commit.subject);
        format!("{} {}", text.code(commit.short()), text.escaped(&commit_text))
    });
    let wrote = who_and_when(&text, file, &answer, found).into_iter().chain(commit);
    text.joined(&Vec::from_iter(wrote));
    let lines = answer.lines_text().map(|lines| text.escaped(&lines));
    let state: Vec<String> = [verdict(&text, file, &answer)].into_iter().chain(lines).collect();
    text.paragraph(&state.join("; "));
    if let Some(suspect) = &answer.suspect {
        text.paragraph(&format!("{}: {}", text.strong("suspect"), text.escaped(&suspect.message)));
    }
    let candidates: Vec<String> = answer.candidates.iter().map(|it| record(&text, it)).collect();
    text.list("Half of the lines each", &candidates);
    if answer.intent.is_none() && candidates.is_empty() {
        let shares: Vec<String> =
            answer.shares.iter().map(|it| share(&text, it, answer.history_missing)).collect();
        text.list("Who brought its lines", &shares);
    }
    let newest = answer.lineage.first();
    let is_reassigned = newest.is_some_and(|record| !record.reassigned.is_empty());
    if answer.lineage.len() > 1 || is_reassigned {
        let records = answer.lineage.iter().map(|it| record(&text, it)).collect();
        text.list("History", &intent_text::shortened(records, MAX_RECORDS));
    }
    if let Some(older) = mention::older_registry(file.view) {
        text.paragraph(&text.escaped(&older));
    }
    text.joined(&links(&text, file, &answer, found));
    Some(text)
}

/// Returns the text about a block that no record is about: what the commit that brought most of it
/// tells, each thing with the word of its strength.
fn origin_text(file: &GovernedFile<'_>, answer: &BlockAnswer, origin: &OriginAnswer) -> Prose {
    let mut text = empty(file.view);
    let intents = origin.intent.iter().chain(&origin.candidates);
    let mut headings: Vec<String> =
        intents.map(|intent| intent_text::heading(&text, intent)).collect();
    if !headings.is_empty() {
        headings.push(origin.how_it_is_known().to_owned());
        headings.extend(origin.conditions.iter().map(|count| format!("must hold: {count}")));
        text.joined(&headings);
    }
    let claims = answer.claims.iter().take(MAX_CLAIMS).map(|share| {
        let who = text.escaped(&share.claimed.in_words());
        let lines = counted(share.lines, "line");
        format!("{} by {}: {who}, {lines}", share.claimed.strength(), share.claimed.tool.as_str())
    });
    text.joined(&Vec::from_iter(claims));
    let commit = &origin.commit;
    let when = commit.timestamp.as_deref().and_then(ago);
    let who = [Some(text.escaped(&commit.author)), when];
    let who: Vec<String> = who.into_iter().flatten().collect();
    let references = commit.other_references().map(|reference| text.escaped(reference));
    let subject = format!("{}: {}", text.code(commit.short()), text.escaped(&commit.subject));
    let git = [format!("git says: {}", who.join(", ")), subject];
    text.joined(&Vec::from_iter(git.into_iter().chain(references)));
    let says =
        commit.agents_in_words().map(|said| format!("the commit says: {}", text.escaped(&said)));
    let shares = answer.shares.iter().filter(|share| share.commit.is_some()).count();
    let others = (shares > 1).then(|| format!("and {}", counted(shares - 1, "other commit")));
    text.joined(&Vec::from_iter(says.into_iter().chain(others)));
    text
}

/// Adds who asked for the intent, and its constraints.
fn asked_for(text: &mut Prose, asked: &AskedFor) {
    let mut parts = Vec::new();
    parts.extend(
        asked.label_and_text().map(|(label, said)| format!("{label} {}", text.escaped(&said))),
    );
    let constraints: Vec<String> = asked.constraints.iter().map(|one| text.escaped(one)).collect();
    if let [only] = &constraints[..] {
        parts.push(format!("must hold: {only}"));
    }
    text.joined(&parts);
    if constraints.len() > 1 {
        text.list("Must hold", &intent_text::shortened(constraints, intent_text::MAX_ENTRIES));
    }
}

fn who_and_when(
    text: &Prose,
    file: &GovernedFile<'_>,
    answer: &BlockAnswer,
    found: &Provenance,
) -> Option<String> {
    let contributor = answer.contributor.as_ref()?;
    let mut parts =
        vec![text.escaped(&block_line::author_name(contributor, answer.tool.as_deref()))];
    parts.extend(contributor.model_identifier.as_deref().map(|model| text.code(model)));
    if let Some(timestamp) = &answer.timestamp {
        parts.extend(ago(timestamp));
        parts.push(date(timestamp).unwrap_or_else(|| text.escaped(timestamp)));
    }
    parts.extend(answer.brought_text());
    if let Some(session) = &answer.session {
        parts.push(format!("session {}", text.code(session)));
    }
    if answer.uncommitted && file.view.workspace.git().is_some() {
        parts.push("in no commit yet".to_owned());
    }
    parts.extend(answer.strength.and_then(|strength| {
        Some(text.escaped(&format!("strength: {}", serde_json::to_value(strength).ok()?.as_str()?)))
    }));
    match found.claim.as_ref().map(|claim| file.view.workspace.trust(&claim.entry)) {
        Some(Trust::Claimed) => parts.push("claimed: not written by this clone".to_owned()),
        Some(Trust::Contradicted) => {
            parts.push(text.strong("the record's own hash or chain contradicts it"))
        }
        Some(Trust::Own) | None => {}
    }
    Some(parts.join(" · "))
}

/// Returns the verdict on a block, with its meaning.
fn verdict(text: &Prose, file: &GovernedFile<'_>, answer: &BlockAnswer) -> String {
    let meaning = match (&answer.accepted, answer.verdict) {
        (Some(accepted), _) => {
            format!("accepted as it stands by {}", answers::accepted_by(&accepted.contributor))
        }
        (None, verdict) => meaning_of(verdict, answer),
    };
    let moved = moved_from(text, file, answer).unwrap_or_default();
    format!(
        "{} {}: {} – {}{moved}",
        answer.kind,
        text.code(&answer.qualified_name),
        text.strong(answer.verdict.as_str()),
        text.escaped(&meaning),
    )
}

fn meaning_of(verdict: Verdict, answer: &BlockAnswer) -> String {
    match verdict {
        Verdict::Exact => "as recorded".to_owned(),
        Verdict::Reformatted => "as recorded, but for layout and comments".to_owned(),
        Verdict::Renamed => "as recorded, but for names that changed throughout".to_owned(),
        Verdict::Moved => "as recorded, in another place".to_owned(),
        Verdict::Modified if answer.only_inside => {
            "its own text is as recorded; blocks inside it differ".to_owned()
        }
        Verdict::Modified if answer.newer > 0 => {
            format!("since then {} by nobody that is recorded", counted(answer.newer, "line"))
        }
        Verdict::Modified => "lines were removed since".to_owned(),
        Verdict::Ambiguous => answer.ambiguity(),
        Verdict::Unrecorded if answer.history_missing => "history is missing here".to_owned(),
        Verdict::Unrecorded if answer.lineage.is_empty() => "no record names it".to_owned(),
        Verdict::Unrecorded => "no intent brought half of its lines".to_owned(),
    }
}

/// Returns where a moved block was recorded: in another file, or in another container of the same
/// file.
fn moved_from(text: &Prose, file: &GovernedFile<'_>, answer: &BlockAnswer) -> Option<String> {
    let is_moved = answer.verdict == Verdict::Moved;
    let recorded = answer.recorded.as_ref().filter(|_| is_moved)?;
    if recorded.path != file.path {
        return Some(format!(", recorded in {}", text.code(recorded.path.as_str())));
    }
    Some(format!(", recorded as {}", text.code(&recorded.name)))
}

/// Says how many lines one intent, or one commit without a record, brought.
fn share(text: &Prose, share: &ShareAnswer, history_missing: bool) -> String {
    let who = match (share.unnamed(history_missing), &share.intent, &share.commit) {
        (Some(said), ..) => said.to_owned(),
        (None, Some(intent), _) => text.strong(intent),
        (None, None, commit) => commit.as_ref().map_or_else(String::new, |commit| {
            format!("git: {} {}", text.code(commit.short()), text.escaped(&commit.author))
        }),
    };
    format!("{} {who}", counted(share.lines, "line"))
}

fn record(text: &Prose, record: &RecordBrief) -> String {
    let author = block_line::author_name(&record.contributor, record.tool.as_deref());
    let mut parts = vec![match &record.intent {
        Some(intent) => text.strong(intent),
        None => "no intent".to_owned(),
    }];
    parts.push(text.escaped(&author));
    parts.push(text.escaped(&ago(&record.timestamp).unwrap_or_else(|| record.timestamp.clone())));
    parts.extend(record.reassigned.iter().map(|one| {
        let when = ago(&one.timestamp).unwrap_or_else(|| one.timestamp.clone());
        text.escaped(&format!("{} {when}", one.as_words()))
    }));
    parts.join(" · ")
}

fn links(
    text: &Prose,
    file: &GovernedFile<'_>,
    answer: &BlockAnswer,
    found: &Provenance,
) -> Vec<String> {
    let WorkspaceView { workspace, .. } = file.view;
    let mut links = Vec::new();
    if let Some(intent) = &answer.intent {
        links.extend(intent_text::registry_link(file.view, &intent.id, text));
    }
    if let Some(claim) = &found.claim {
        let origin = &claim.entry.origin;
        links.push(text.link(
            "Record",
            file.view.address(&origin.path).as_ref(),
            Some(origin.line),
        ));
    }
    if let Some(intent) = answer.intent.as_ref().and_then(|it| workspace.registry.get(&it.id)) {
        links.extend(intent_text::specs(file.view, intent, text));
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixture::{Editor, REGISTRY};
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
            before.starts_with("[src/a.rs:6: second]") && before.contains("**exact**"),
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
        assert!(edited.contains("function `second`: **being edited** – before that:"), "{edited}");
        assert!(edited.contains("codex"), "{edited}");
        editor.replace("/src/a.rs", "fn first", "fn zeroth() {}\n\n\n\n\nfn first");
        assert!(
            !shown_hover(&editor).contains("being edited"),
            "a position in new lines is analysed anew"
        );
        workspace_view::governed(&editor.snapshot(), &editor.uri("/src/a.rs")).unwrap().analyse();
        assert!(shown_hover(&editor).contains("**modified**"), "{}", shown_hover(&editor));
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

fn verify(token: &str) -> bool {
    let checked = token.starts_with(\"a\")$0;
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
        let since = "since then 1 line by nobody that is recorded";
        assert!(text.contains("**modified**") && text.contains(since), "{text}");
        let lines = "lines 3 and 5–7 INT-001, 4 no record";
        assert!(text.contains(lines), "{text}");
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
        assert!(text.contains("**exact** – accepted as it stands by Ada; lines"), "{text}");
    }

    #[test]
    fn a_record_that_this_clone_did_not_write_is_only_claimed() {
        let mut editor = Editor::new(CODE);
        assert!(!shown_hover(&editor).contains("claimed"), "{}", shown_hover(&editor));
        std::fs::remove_file(editor.path("/.orchestration/local/clone")).unwrap();
        let ledger = editor.path("/.orchestration/agent_trace.jsonl");
        let text = std::fs::read_to_string(&ledger).unwrap();
        std::fs::write(&ledger, text + "\n").unwrap();
        editor.reload();
        assert!(
            shown_hover(&editor).contains("claimed: not written by this clone"),
            "{}",
            shown_hover(&editor)
        );
    }

    #[test]
    fn history_is_told_newest_first() {
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
        assert!(text.contains("**moved**") && text.contains("recorded as `verify`"), "{text}");
    }

    #[test]
    fn a_block_that_belongs_to_no_intent_says_who_brought_its_lines() {
        let mut editor = Editor::new(CODE);
        let lines =
            "    let a = 1;\n    let b = 2;\n    let c = 3;\n    let d = 4;\n    let e = 5;\n";
        editor.replace("/src/auth.rs", "    checked", &format!("{lines}    checked"));
        let text = shown_hover(&editor);
        assert!(text.contains("**unrecorded** – no intent brought half of its lines"), "{text}");
        let shares = "- 5 lines no intent\n- 4 lines **INT-001**";
        assert!(text.contains(shares), "{text}");
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
    fn an_unrecorded_block_has_no_hover() {
        assert_eq!(shown_hover(&Editor::new("//- /src/a.rs\nfn a() { $0 }\n")), "nothing");
        assert_eq!(
            shown_hover(&Editor::new("//- /src/a.rs\n// INT-$0999 is no intent.\n")),
            "nothing"
        );
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
