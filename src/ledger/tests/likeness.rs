//! Looking up by a part of the name, and by what is alike.

use super::*;
use crate::code::{Document, Sketch};

/// Kind, name, sketch.
type Recorded<'a> = (&'a str, &'a str, Option<Sketch>);

/// A ledger of one record for each file, with one block for each name and sketch.
fn ledger(files: &[(&str, &[Recorded<'_>])]) -> (Workspace, Ledger) {
    let workspace = Workspace::new(Layout::Single);
    for (at, (file, blocks)) in files.iter().enumerate() {
        let mut record = mutation("s", file, []);
        record.id = (*file).to_owned();
        record.timestamp = format!("2026-02-18T10:00:{at:02}.000Z");
        record.files[0].conversations[0].ranges = (0..)
            .zip(*blocks)
            .map(|(n, (kind, name, sketch))| BlockRecord {
                block: Some(BlockName {
                    kind: (*kind).to_owned(),
                    path: (*name).to_owned(),
                    parameters: None,
                    ordinal: 0,
                    language: Some("rust".into()),
                }),
                sketch: sketch.clone(),
                ..block(n)
            })
            .collect();
        workspace.append(record, None);
    }
    let ledger = Ledger::load(&workspace.root());
    (workspace, ledger)
}

fn places(ledger: &Ledger, claims: &[ClaimRef]) -> Vec<(String, u32)> {
    claims.iter().map(|at| (ledger.claim(*at).entry.record.id.clone(), at.range)).collect()
}

fn named(places: &[(&str, u32)]) -> Vec<(String, u32)> {
    places.iter().map(|(file, range)| ((*file).to_owned(), *range)).collect()
}

#[test]
fn blocks_are_found_by_kind_and_last_name() {
    let (_kept, ledger) = ledger(&[
        (
            "a.rs",
            &[
                ("method", "Auth.verify", None),
                ("function", "verify", None),
                ("method", "verify.x", None),
            ],
        ),
        ("b.rs", &[("method", "auth.Token.verify", None), ("paragraph", "1.2 Verify", None)]),
    ]);
    let called = |kind: &str, leaf: &str| places(&ledger, &ledger.by_called(kind, leaf));
    assert_eq!(called("method", "verify"), named(&[("a.rs", 0), ("b.rs", 0)]));
    assert_eq!(called("function", "verify"), named(&[("a.rs", 1)]));
    assert_eq!(called("method", "Auth.verify"), called("method", "verify"));
    assert_eq!(called("paragraph", "1.2 Verify"), named(&[("b.rs", 1)]));
    assert_eq!(called("function", "Auth"), []);
    assert_eq!(called("class", "verify"), []);
}

/// A function of so many statements, all of them its own but for the first so many.
fn sketch(name: &str, shared: usize, statements: usize) -> Option<Sketch> {
    let statement = |n: usize| match n < shared {
        true => format!("    let v{n} = common_{n}(v{n}) + {n};\n"),
        false => format!("    let {name}{n} = {name}.of_{n}({name}{n}, {n});\n"),
    };
    let body: String = (0..statements).map(statement).collect();
    let text = format!("fn {name}() {{\n{body}}}\n");
    let document = Document::from_bytes("a.rs", text.as_bytes()).expect("a small text");
    Some(document.blocks().blocks[0].fingerprint.sketch.clone())
}

#[test]
fn what_is_alike_is_found_and_most_alike_first() {
    let (_kept, ledger) = ledger(&[
        ("a.rs", &[("function", "f", sketch("f", 20, 20)), ("function", "g", sketch("g", 15, 20))]),
        ("b.rs", &[("function", "h", sketch("h", 0, 20)), ("function", "none", None)]),
        ("c.rs", &[("function", "f", sketch("f", 20, 20))]),
    ]);
    let like = |asked: Option<Sketch>, limit| {
        places(&ledger, &ledger.similar(&asked.expect("a sketch"), limit))
    };
    let all = like(sketch("f", 20, 20), 10);
    assert_eq!(all, named(&[("c.rs", 0), ("a.rs", 0), ("a.rs", 1)]));
    assert_eq!(like(sketch("f", 20, 20), 1), named(&[("c.rs", 0)]));
    assert_eq!(like(sketch("other", 0, 20), 10), []);
    assert_eq!(like(Some(Sketch::from_ledger("m0:who knows")), 10), []);
}

#[test]
fn what_everybody_has_in_common_fills_no_answer() {
    let same = sketch("f", 8, 8);
    let many: Vec<Recorded<'_>> = (0..400).map(|_| ("function", "f", same.clone())).collect();
    let files: Vec<(String, &[_])> =
        many.chunks(37).enumerate().map(|(at, chunk)| (format!("f{at:02}.rs"), chunk)).collect();
    let files: Vec<(&str, &[_])> = files.iter().map(|(name, all)| (name.as_str(), *all)).collect();
    let (_kept, ledger) = ledger(&files);
    let found = ledger.similar(&same.expect("a sketch"), usize::MAX);
    assert_eq!(found.len(), crate::ledger::index::MAX_SIMILAR);
    assert!(found.is_sorted_by(|a, b| a > b), "the newest of what is equal");
}
