//! Tests that request every feature at every position of unusual texts. No feature may panic, and
//! every range in an answer must lie in its text.

use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

use super::fixture::Editor;
use super::{
    code_lens, definition, document_link, document_symbols, hover, inlay_hints, references, rename,
};
use crate::convert;
use crate::snapshot::Snapshot;
use code::{Document, Encoding};

const PATH: &str = "/.orchestration/active_intents.yaml";

/// Registries with unusual content, and registries that are half typed.
const REGISTRIES: [&str; 13] = [
    "",
    "active_intents:\n  - id: INT-001\n    name: ünï 🦀\n    status: IN_PROGRESS\n    owned_scope: [\"src/**\", \"日本/**\"]\n    related_specs: [a.rs, REQ-1]\n",
    "active_intents:\r\n  - id: INT-001\r\n    name: 'a ''b'''\r\n    status:\r\n    owned_scope:\r\n      - src/**\r\n",
    "intents:\n- intent_id: INT-001\n  title: x\n  status: in-progress\n  scope: {paths: [a, b]}\n",
    "- id: INT-001\n- INT-002\n-\n- id:\n- [x]\n- id: INT-001\n",
    "INT-001:\n  name: keyed\n  status: DONE\nINT-002: {}\n",
    "{\"active_intents\": [{\"id\": \"INT-001\", \"name\": \"a\\u00e9\", \"status\": \"IN_PROGRESS\"}]}",
    "base: &b\n  status: IN_PROGRESS\nactive_intents:\n  - <<: *b\n    id: &i INT-001\n    name: *i\n",
    "active_intents:\n  - id: INT-001\n    name: |\n      long\n      text\n    constraints: >\n      one\n      two\n",
    "active_intents:\n  - id: INT-001\n    name: [broken\n  - id: INT",
    "\u{feff}active_intents:\n  - {id: INT-001, name: \"\", owned_scope: []}\n",
    "active_intents:\n  - id: INT-001\n    name: \"![x](https://evil.example) <img src=x> [y](command:z)\"\n    owner: \"[z]: https://evil.example\"\n    constraints: [\"<b>https://evil.example</b>\", \"`` ` [a](b)\"]\n    owned_scope: [\"`[a](command:b)`\"]\n    related_specs: [\"[a](command:b)\"]\n",
    "active_intents:\n  - id: \"INT-001 [x](command:evil)\"\n    name: \"\u{202e}a\"\n    owner: \"<b>\"\n",
];

/// Other unusual files, each with its path.
const TEXTS: [(&str, &str); 4] = [
    ("/src/a.rs", "// INT-001 日本\nfn a() { é }\r\nfn b( {\rmod m { fn c() {} }\n"),
    ("/a.md", "# INT-001\n\n🦀INT-001 INT-001. `INT-002`\n\n## \n"),
    (
        "/.orchestration/agent_trace.jsonl",
        "{\"intent_id\":\"INT-001\",\"relative_path\": \"src/é.rs\"\n}{\"relative_path\":\n\"relative_path\":\"\\u\"\n",
    ),
    ("/x", "\u{feff}INT-001\0"),
];

/// Requests every feature that needs no position. Returns the ranges in this document that the
/// answers contain.
fn every_range(snapshot: &Snapshot, uri: &lsp::Url) -> Vec<lsp::Range> {
    let document = json!({ "textDocument": { "uri": uri } });
    let params = || document.clone();
    fn read<P: serde::de::DeserializeOwned>(params: Value) -> P {
        serde_json::from_value(params).unwrap()
    }
    let lenses = code_lens::handle(snapshot, read(params())).unwrap().unwrap_or_default();
    for lens in &lenses {
        code_lens::resolve(snapshot, lens.clone()).unwrap();
    }
    let mut hints = params();
    let all = lsp::Position { line: u32::MAX, character: 0 };
    hints["range"] = json!({ "start": { "line": 0, "character": 0 }, "end": all });
    let hints = inlay_hints::handle(snapshot, read(hints)).unwrap().unwrap_or_default();
    let links = document_link::handle(snapshot, read(params())).unwrap().unwrap_or_default();
    let mut ranges: Vec<lsp::Range> = lenses.iter().map(|lens| lens.range).collect();
    ranges.extend(hints.iter().map(|it| lsp::Range { start: it.position, end: it.position }));
    ranges.extend(links.iter().map(|link| link.range));
    match document_symbols::handle(snapshot, read(params())).unwrap() {
        Some(lsp::DocumentSymbolResponse::Nested(tree)) => nested(&tree, None, &mut ranges),
        Some(other) => panic!("{other:?}"),
        None => {}
    }
    ranges
}

fn nested(symbols: &[lsp::DocumentSymbol], outer: Option<lsp::Range>, to: &mut Vec<lsp::Range>) {
    for symbol in symbols {
        let inside = |outer: lsp::Range, inner: lsp::Range| {
            outer.start <= inner.start && inner.end <= outer.end
        };
        assert!(inside(symbol.range, symbol.selection_range), "{symbol:?}");
        assert!(outer.is_none_or(|outer| inside(outer, symbol.range)), "{symbol:?} in {outer:?}");
        assert!(!symbol.name.is_empty());
        to.push(symbol.range);
        nested(symbol.children.as_deref().unwrap_or_default(), Some(symbol.range), to);
    }
}

/// Requests every feature at a position. Returns the ranges in this document that the answers
/// contain.
fn ranges_at(snapshot: &Snapshot, uri: &lsp::Url, position: lsp::Position) -> Vec<lsp::Range> {
    let place = json!({ "textDocument": { "uri": uri }, "position": position,
        "context": { "includeDeclaration": true }, "newName": "NEW-1" });
    fn read<P: serde::de::DeserializeOwned>(params: &Value) -> P {
        serde_json::from_value(params.clone()).unwrap()
    }
    let hover = hover::handle(snapshot, read(&place)).unwrap();
    if let Some(lsp::HoverContents::Markup(text)) = hover.as_ref().map(|it| &it.contents) {
        assert_links_lead_only_to_files(&text.value);
    }
    definition::handle(snapshot, read(&place)).unwrap();
    let found = references::handle(snapshot, read(&place)).unwrap().unwrap_or_default();
    let prepared = rename::prepare(snapshot, read(&place));
    // A rename reads the whole workspace, so it is tried only at some ids. It may be refused.
    if prepared.as_ref().is_ok_and(Option::is_some) && position.character.is_multiple_of(20) {
        drop(rename::handle(snapshot, read(&place)));
    }
    let mut ranges: Vec<lsp::Range> = hover.and_then(|hover| hover.range).into_iter().collect();
    ranges.extend(found.into_iter().filter(|it| it.uri == *uri).map(|it| it.range));
    if let Ok(Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, .. })) = prepared {
        ranges.push(range);
    }
    ranges
}

/// Checks that text of the registry and the ledger became neither a foreign link nor a picture nor
/// HTML.
fn assert_links_lead_only_to_files(markdown: &str) {
    for event in Parser::new_ext(markdown, Options::all()) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(dest_url.starts_with("file:///"), "{dest_url} in {markdown}");
            }
            Event::Start(Tag::Image { .. }) | Event::Html(_) | Event::InlineHtml(_) => {
                panic!("{event:?} in {markdown}")
            }
            _ => {}
        }
    }
}

fn check(editor: &Editor, path: &str) {
    let (snapshot, uri) = (editor.snapshot(), editor.uri(path));
    let document: Document = snapshot.document(&uri).unwrap().document.clone();
    let valid = |ranges: Vec<lsp::Range>| {
        for range in ranges {
            let bytes = convert::bytes_strict(&document, range, snapshot.encoding);
            assert!(bytes.is_some(), "{range:?} in {:?}", document.text());
        }
    };
    valid(every_range(&snapshot, &uri));
    for line in 0..=document.line_count() {
        for character in (0..90).step_by(5).chain([u32::MAX]) {
            valid(ranges_at(&snapshot, &uri, lsp::Position { line, character }));
        }
    }
}

#[test]
#[ignore = "slow"]
fn no_feature_panics_on_unusual_registries() {
    for (nth, text) in REGISTRIES.iter().enumerate() {
        let mut editor = Editor::new("//- /src/a.rs intent=INT-001\nfn a() {} // INT-001\n");
        editor.client.code_lens = nth % 2 == 0;
        editor.encoding = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32][nth % 3];
        // The text is also on disk, so that the loaded registry is as unusual as the shown one.
        editor.write(PATH, text);
        editor.open(PATH, text);
        check(&editor, PATH);
        check(&editor, "/src/a.rs");
    }
}

#[test]
fn no_feature_panics_on_unusual_texts() {
    for (path, text) in TEXTS {
        let mut editor = Editor::new("//- /src/b.rs intent=INT-001\nfn b() {}\n");
        editor.open(path, text);
        check(&editor, path);
    }
}
