//! `workspace/symbol`: finds intents by id and name, and recorded blocks of open documents and of
//! uncommitted work by name. A query that begins with an id finds the blocks of that intent.

use std::collections::BTreeSet;
use std::iter;

use tower_lsp::lsp_types as lsp;

use super::{document_symbols, mention, places};
use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view::WorkspaceView;
use code::BlockKind;
use ground::RelativePath;
use ledger::FileRecord;
use why::Workspace;

const MAX_SYMBOLS: usize = 500;

/// The largest number of closed files that are searched for blocks by name. Each is read.
const MAX_FILES: usize = 64;

pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::WorkspaceSymbolParams,
) -> RequestResult<Option<lsp::WorkspaceSymbolResponse>> {
    let words: Vec<String> = params.query.split_whitespace().map(str::to_lowercase).collect();
    let mut found = Vec::new();
    for workspace in snapshot.workspaces() {
        let view = snapshot.view(workspace);
        found.extend(intents(view, &words));
        found.extend(blocks(view, &words)?);
    }
    leave_out_the_rest(&mut found, &params.query);
    Ok(Some(lsp::WorkspaceSymbolResponse::Flat(found)))
}

/// Leaves out what is too much for an answer, and says how much that is. Its name begins with the
/// query, because editors compare the two.
fn leave_out_the_rest(found: &mut Vec<lsp::SymbolInformation>, query: &str) {
    let left_out = found.len().saturating_sub(MAX_SYMBOLS);
    found.truncate(MAX_SYMBOLS);
    if let Some(last) = found.last().filter(|_| left_out > 0) {
        let name = format!("{} … and {left_out} more; add a word of the name", query.trim());
        let location = last.location.clone();
        found.push(information(name.trim_start(), lsp::SymbolKind::NULL, None, location));
    }
}

fn intents(view: WorkspaceView<'_>, words: &[String]) -> Vec<lsp::SymbolInformation> {
    let shown = mention::ShownRegistry::in_view(view);
    let symbol = |intent: &intents::Intent| {
        let name =
            Some(document_symbols::name(intent)).filter(|name| has_every_word(name, words))?;
        let (location, _) = shown.location(&intent.id.value)?;
        let status = intent.status.as_ref().map(|status| status.value.as_str().to_owned());
        Some(information(&name, lsp::SymbolKind::OBJECT, status, location))
    };
    shown.registry.all_intents().filter_map(symbol).collect()
}

fn blocks(view: WorkspaceView<'_>, words: &[String]) -> RequestResult<Vec<lsp::SymbolInformation>> {
    let workspace = view.workspace;
    let Some(word) = words.first() else { return Ok(Vec::new()) };
    let intents = workspace.registry.all_intents();
    let mut listed = intents.flat_map(|intent| iter::once(&intent.id).chain(&intent.formerly));
    let named = listed.find(|id| id.value.to_lowercase() == *word).map(|id| id.value.clone());
    // An id that only records contain is searched in capitals, as ids are usually written.
    let upper = word.to_uppercase();
    let Some(id) = named.or_else(|| mention::is_known(workspace, &upper).then_some(upper)) else {
        let files = files_with_open_records(workspace, words);
        let blocks = places::find_blocks(view, files, |it| has_every_word(&it.name, words))?;
        return Ok(blocks.into_iter().map(symbol).collect());
    };
    let blocks = places::blocks_of_intent(view, &id)?;
    let fitting = blocks.into_iter().filter(|block| has_every_word(&block.name, &words[1..]));
    Ok(fitting
        .map(|block| symbol(places::ProducedBlock { intent: Some(id.clone()), ..block }))
        .collect())
}

/// Returns the files in which a block with a name that fits was recorded, according to the records
/// that are in no commit yet. All evidence is too much to read while somebody types a query.
fn files_with_open_records(workspace: &Workspace, words: &[String]) -> BTreeSet<RelativePath> {
    let files = workspace.journal.entries().iter().flat_map(|entry| &entry.record.files);
    let is_named = |file: &&FileRecord| {
        let mut names = file.ranges().filter_map(|range| range.block.as_ref());
        names.any(|name| has_every_word(&name.path, words))
    };
    let paths: BTreeSet<RelativePath> =
        files.filter(is_named).map(|file| file.relative_path.clone()).collect();
    paths.into_iter().take(MAX_FILES).collect()
}

/// Returns the symbol of a block, named `INT-001 verify`. Editors compare the name with the query
/// again, so a search for an id finds the block only if the id is part of its name.
fn symbol(block: places::ProducedBlock) -> lsp::SymbolInformation {
    let id = block.intent.map(|id| format!("{id} ")).unwrap_or_default();
    let name = ground::text::terminal(&format!("{id}{}", block.name));
    information(&name, kind(block.kind), Some(block.path.to_string()), block.location)
}

fn has_every_word(name: &str, words: &[String]) -> bool {
    let name = name.to_lowercase();
    words.iter().all(|word| name.contains(word))
}

pub(super) fn information(
    name: &str,
    kind: lsp::SymbolKind,
    container_name: Option<String>,
    location: lsp::Location,
) -> lsp::SymbolInformation {
    // The protocol deprecates this field, but the type still has it.
    #[expect(deprecated)]
    lsp::SymbolInformation {
        name: name.to_owned(),
        kind,
        tags: None,
        deprecated: None,
        location,
        container_name,
    }
}

fn kind(block: BlockKind) -> lsp::SymbolKind {
    use lsp::SymbolKind as Symbol;
    match block {
        BlockKind::Function | BlockKind::Macro => Symbol::FUNCTION,
        BlockKind::Method | BlockKind::Test => Symbol::METHOD,
        BlockKind::Class | BlockKind::Impl => Symbol::CLASS,
        BlockKind::Struct | BlockKind::Union | BlockKind::Type => Symbol::STRUCT,
        BlockKind::Enum => Symbol::ENUM,
        BlockKind::Trait | BlockKind::Interface => Symbol::INTERFACE,
        BlockKind::Module => Symbol::MODULE,
        BlockKind::Namespace => Symbol::NAMESPACE,
        BlockKind::Constant => Symbol::CONSTANT,
        BlockKind::Variable => Symbol::VARIABLE,
        BlockKind::Key => Symbol::KEY,
        BlockKind::File => Symbol::FILE,
        BlockKind::Statement | BlockKind::Rule | BlockKind::Cell => Symbol::OBJECT,
        BlockKind::Section | BlockKind::Region | BlockKind::Paragraph => Symbol::STRING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixture::Editor;

    fn shown_symbols(editor: &Editor, query: &str) -> Vec<String> {
        let params = lsp::WorkspaceSymbolParams { query: query.into(), ..Default::default() };
        let answer = handle(&editor.snapshot(), params).unwrap();
        let Some(lsp::WorkspaceSymbolResponse::Flat(found)) = answer else { panic!("{answer:?}") };
        let show = |it: &lsp::SymbolInformation| {
            let place = editor.show(&it.location.uri, it.location.range);
            format!("{} @ {place}", it.name)
        };
        found.iter().map(show).collect()
    }

    #[test]
    fn intents_by_words_and_blocks_by_id() {
        let editor = Editor::new(
            "
//- /src/a.rs intent=INT-001
struct Account;
impl Account {
    fn verify(&self) -> bool { true }
}
//- /src/b.rs closed intent=INT-001
fn verify_all(sessions: &[u8]) -> usize { sessions.len() }
",
        );
        insta::assert_debug_snapshot!([
            shown_symbols(&editor, "bill"),
            shown_symbols(&editor, "int-001"),
            shown_symbols(&editor, "INT-001 verify"),
            shown_symbols(&editor, "verify"),
        ]);
        assert_eq!(shown_symbols(&editor, "").len(), 2);
    }

    #[test]
    fn an_answer_says_how_much_it_leaves_out() {
        let code: String = (0..502).map(|n| format!("fn verify_{n}() {{}}\n")).collect();
        let editor = Editor::new(&format!("\n//- /src/a.rs intent=INT-001\n{code}"));
        let shown = shown_symbols(&editor, "INT-001");
        assert_eq!(shown.len(), MAX_SYMBOLS + 1);
        let last = shown.last().unwrap();
        assert!(last.starts_with("INT-001 … and 3 more; add a word of the name @ "), "{last}");
        assert_eq!(shown_symbols(&editor, "INT-001 verify_7").len(), 11);
    }

    #[test]
    fn recorded_blocks_are_found_by_name() {
        let mut editor = Editor::new(
            "
//- /src/a.rs intent=INT-001
fn verify_one() -> bool {
    let one = 1;
    one > 0
}
fn other() {}
//- /src/b.rs closed intent=INT-001
fn verify_all(sessions: &[u8]) -> usize { sessions.len() }
//- /src/c.rs
fn verify_nothing() {}
",
        );
        let both = [
            "INT-001 verify_one @ src/a.rs:1: verify_one",
            "INT-001 verify_all @ src/b.rs:1: verify_all",
        ];
        assert_eq!(shown_symbols(&editor, "Verify"), both);
        assert_eq!(shown_symbols(&editor, "verify all"), both[1..]);
        editor.replace("/src/a.rs", "verify_one", "verify_two");
        let renamed = shown_symbols(&editor, "verify_two");
        assert_eq!(renamed, ["INT-001 verify_two @ src/a.rs:1: verify_two"], "as it is called now");
    }
}
