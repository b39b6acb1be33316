//! Somebody types: while the text does not parse, every block outside the edited one stays as it was.
//!
//! Every prefix of ordinary edits is tried, as if typed character by character. `INTENT_TEST_ALL=1` types more edits,
//! and `INTENT_FUZZ_RUNS=200 cargo test --test it typing::` types that many in each language.

use std::ops::Range;
use std::path::Path;

use crate::mutate::chance::from_environment;
use crate::support::editor::{Editor, address};
use crate::support::{Repo, relative, sample_or_all};
use code::{Block, BlockKind, Document, LineRange, language};
use evidence::record::{self, RecordExtent};
use judgement::judged_record;
use serde_json::{Value, json};
use why::answers;

/// The texts that are typed in a language: into the body of a function, after an opening bracket, above a definition,
/// and after one.
struct Typed {
    statement: &'static str,
    argument: &'static str,
    lead: &'static str,
    definition: &'static str,
}

const BRACES: Typed = Typed {
    statement: "added(\"a [b\", first[0], (1));",
    argument: "first, \"a (b\", ",
    lead: "/* A note (with one bracket. */",
    definition: "function added(a) { return [a, \"}\"]; }",
};

fn typed(id: &str) -> Typed {
    match id {
        "rust" => Typed {
            statement: "added(\"a [b\", &[first, (1)]);",
            lead: "#[added(a = \"b\")]",
            definition: "fn added(a: &str) -> u32 { call(a, \"}\") }",
            ..BRACES
        },
        "python" => Typed {
            statement: "x = dict(a=\"b\", c=[1, 2])",
            lead: "@added(\"(\", [1])",
            definition: "def added(a):\n    return \"\"\"a\"\"\"",
            ..BRACES
        },
        "javascript" | "typescript" | "tsx" => Typed { lead: "// (added", ..BRACES },
        "go" => Typed {
            statement: "added(\"a [b\", []int{1, 2})",
            lead: "// (added",
            definition: "func added(a string) []string { return []string{a, \"}\"} }",
            ..BRACES
        },
        "java" | "csharp" | "dart" => Typed {
            lead: "/** (added */",
            definition: "class Added { int added(int a) { return call(\"}\"); } }",
            ..BRACES
        },
        "c" | "cpp" => {
            Typed { definition: "int added(int a) { return call(a, \"}\"); }", ..BRACES }
        }
        "bash" => Typed {
            statement: "added \"$(one \"two\")\" 'three'",
            argument: " one ",
            lead: "# (added",
            definition: "added() { echo \"}\"; }",
        },
        "json" => Typed {
            statement: "",
            argument: "",
            lead: "\"added\": {\"a\": [1, \"}\"]},",
            definition: "",
        },
        "yaml" => Typed {
            statement: "",
            argument: "",
            lead: "# \"added",
            definition: "added: {a: [1, \"}\"]}",
        },
        "toml" => Typed {
            statement: "",
            argument: "",
            lead: "# \"added",
            definition: "[added]\na = [1, \"]\"]",
        },
        "ruby" => Typed {
            statement: "added(\"a [b\", first[0], { a: 1 })",
            lead: "# (added",
            definition: "def added(a)\n  [a, \"}\"]\nend",
            ..BRACES
        },
        "lua" => Typed {
            statement: "added(\"a [b\", first[0], { a = 1 })",
            lead: "-- (added",
            definition: "function added(a) return { a, \"}\" } end",
            ..BRACES
        },
        "swift" => {
            Typed { definition: "func added(a: Int) -> Int { return call(\"}\") }", ..BRACES }
        }
        "kotlin" => Typed { definition: "fun added(a: Int): Int { return call(\"}\") }", ..BRACES },
        "scala" => Typed { definition: "def added(a: Int): Int = { call(\"}\") }", ..BRACES },
        "zig" => Typed {
            lead: "/// (added",
            definition: "fn added(a: u32) u32 { return call(a, \"}\"); }",
            ..BRACES
        },
        "elixir" => Typed {
            statement: "added(\"a [b\", [1], %{a: 1})",
            lead: "@doc \"(added\"",
            definition: "def added(a) do\n  [a, \"}\"]\nend",
            ..BRACES
        },
        "html" | "vue" | "svelte" => Typed {
            statement: "<b title=\"a>b\">added</b>",
            argument: "",
            lead: "<!-- (added -->",
            definition: "<p id=\"added\">a <b>c</b></p>",
        },
        "css" => Typed {
            statement: "color: rgb(1, 2, 3);",
            argument: "1, ",
            lead: "/* (added */",
            definition: ".added[a=\"}\"] { color: red; }",
        },
        "sql" => Typed {
            statement: "",
            argument: "",
            lead: "-- (added",
            definition: "create table added (a int, b text default ')');",
        },
        "haskell" => Typed {
            statement: "",
            argument: "",
            lead: "-- (added",
            definition: "added a = call [a, \")\"] (1)",
        },
        "ocaml" => Typed {
            statement: "",
            argument: "",
            lead: "(* added *)",
            definition: "let added a = call [a; \")\"] (1)",
        },
        "markdown" => Typed {
            statement: "Added [a](b) and `c` \"d",
            argument: "a](b), ",
            lead: "More *words*",
            definition: "## Added",
        },
        _ => BRACES,
    }
}

/// Text that is typed at a byte position.
#[derive(Debug)]
struct Edit {
    at: usize,
    text: String,
    /// True if the text is a lead of the definition below.
    is_lead: bool,
}

fn indentation(text: &str, byte: usize) -> &str {
    let line = &text[text[..byte].rfind('\n').map_or(0, |at| at + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns all possible edits of a text, in a mixed order that is always the same.
fn edits(document: &Document, typed: &Typed) -> Vec<Edit> {
    let text = document.text();
    let mut found = Vec::new();
    let on_new_line = |at: usize, indent: &str, said: &str| Edit {
        at,
        text: format!("\n{indent}{}", said.replace('\n', &format!("\n{indent}"))),
        is_lead: false,
    };
    let line_end =
        |byte: usize| byte + text[byte..].find(['\n', '\r']).unwrap_or(text.len() - byte);
    for block in &document.blocks().blocks {
        let indent = indentation(&text, block.bytes.start);
        found.push(on_new_line(line_end(block.bytes.end), indent, typed.definition));
        if let Some(above) =
            text[..block.lead.start].trim_end_matches([' ', '\t']).strip_suffix('\n')
        {
            let at = above.strip_suffix('\r').unwrap_or(above).len();
            found.push(Edit { is_lead: true, ..on_new_line(at, indent, typed.lead) });
        }
        for (at, _) in text[block.bytes.clone()].match_indices('(') {
            let (at, said) = (block.bytes.start + at + 1, typed.argument.to_owned());
            found.push(Edit { at, text: said, is_lead: false });
        }
        for (at, _) in text[block.bytes.clone()].match_indices('\n') {
            let at = block.bytes.start + at;
            let below = indentation(&text, (at + 1).min(text.len()));
            let at = text[..at].strip_suffix('\r').map_or(at, str::len);
            found.push(on_new_line(at, below, typed.statement));
        }
    }
    found.retain(|edit| !edit.text.trim().is_empty());
    // A fixed permutation, so that the first few edits are of all kinds.
    let mut seed = 7_u64;
    for at in (1..found.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        found.swap(at, (seed >> 33) as usize % (at + 1));
    }
    found
}

fn is_definition(block: &&Block) -> bool {
    block.identity.kind != BlockKind::Region
}

/// Returns the blocks that an edit must not change.
fn outside<'a>(blocks: &'a [Block], edit: &Edit) -> Vec<&'a Block> {
    let below = blocks.iter().filter(is_definition).find(|block| block.lead.start > edit.at);
    let below = below.filter(|_| edit.is_lead).map(|block| block.lead.start);
    let apart = |block: &&Block| {
        (edit.at < block.lead.start && Some(block.lead.start) != below) || block.bytes.end < edit.at
    };
    blocks.iter().filter(is_definition).filter(apart).collect()
}

/// Describes what is wrong after `length` bytes of an edit were typed, if anything is.
fn complaint(first: &[Block], now: &Document, edit: &Edit, length: usize) -> Option<String> {
    let shift = |byte: usize| if byte > edit.at { byte + length } else { byte };
    let moved = |bytes: &Range<usize>| shift(bytes.start)..shift(bytes.end);
    let blocks = now.blocks();
    let is = |block: &Block, old: &Block| {
        block.identity == old.identity
            && block.fingerprint == old.fingerprint
            && block.bytes == moved(&old.bytes)
            && block.lead == moved(&old.lead)
            && !block.broken
    };
    let outside = outside(first, edit);
    let lost = outside.iter().find(|old| !blocks.blocks.iter().any(|block| is(block, old)));
    if let Some(lost) = lost {
        return Some(format!("lost or changed: {:?}", lost.identity));
    }
    let here = edit.at..edit.at + length;
    let mut others = blocks.blocks.iter().filter(is_definition).filter(|block| {
        let whole = block.whole_bytes();
        let touched = whole.start <= here.end && here.start <= whole.end;
        !touched && !outside.iter().any(|old| is(block, old))
    });
    let below =
        blocks.blocks.iter().filter(is_definition).find(|block| block.bytes.start > here.end);
    let invented = others.find(|block| !edit.is_lead || Some(*block) != below)?;
    Some(format!("invented: {:?} {:?}", invented.identity, invented.bytes))
}

/// Returns the text after an edit, or `None` if the edit is not ordinary: its result does not parse, or changes other
/// blocks too.
fn ordinary(path: &str, document: &Document, edit: &Edit) -> Option<Document> {
    let whole = document.edited(edit.at..edit.at, &edit.text).expect("on a boundary");
    let fresh = Document::from_text(path, &whole.text());
    let first = &document.blocks().blocks;
    let is_ordinary =
        !fresh.blocks().has_error && complaint(first, &fresh, edit, edit.text.len()).is_none();
    is_ordinary.then_some(fresh)
}

/// Types an ordinary edit and returns the complaints.
fn type_it(path: &str, document: &Document, edit: &Edit) -> Option<Vec<String>> {
    let first = document.blocks();
    let fresh = ordinary(path, document, edit)?;
    let mut now = document.clone();
    let mut complaints = Vec::new();
    for (at, c) in edit.text.char_indices() {
        let end = edit.at + at;
        now = now.edited(end..end, &edit.text[at..at + c.len_utf8()]).expect("on a boundary");
        // If the text parses, its blocks may differ; only a text that does not parse must keep them.
        if now.parsed_blocks().has_error {
            let length = at + c.len_utf8();
            let found = complaint(&first.blocks, &now, edit, length);
            complaints.extend(
                found.map(|said| {
                    format!("{path} at {}, {:?}: {said}", edit.at, &edit.text[..length])
                }),
            );
        }
    }
    assert_eq!(now.blocks(), fresh.blocks(), "{path}: {edit:?}");
    Some(complaints)
}

/// The number of edits that are typed in each language.
fn wanted() -> usize {
    let wanted = from_environment("INTENT_FUZZ_RUNS", sample_or_all(2, 20));
    usize::try_from(wanted).expect("not so many")
}

#[test]
#[ignore = "slow"]
fn blocks_outside_the_edited_one_stay_while_somebody_types() {
    let wanted = wanted();
    let mut complaints = Vec::new();
    for language in language::with_grammar() {
        let (name, text) = sample(language.id);
        let document = Document::from_text(&name, &text);
        let edits = edits(&document, &typed(language.id));
        let made = edits.iter().filter_map(|edit| type_it(&name, &document, edit)).take(wanted);
        let made: Vec<Vec<String>> = made.collect();
        assert!(made.len() >= wanted.min(2), "{name}: {} ordinary edits", made.len());
        complaints.extend(made.into_iter().flatten());
    }
    assert!(complaints.is_empty(), "{}\n{}", complaints.len(), complaints.join("\n"));
}

/// Returns the file name and the text of a language's sample.
fn sample(id: &str) -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages").join(id);
    let mut files = std::fs::read_dir(&folder).expect("samples").filter_map(Result::ok);
    let path = files.next().expect("a sample").path();
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    (name, std::fs::read_to_string(&path).expect("a readable sample"))
}

/// The number of prefixes that are recorded for each edit.
fn prefixes() -> usize {
    sample_or_all(3, 10)
}

#[test]
#[ignore = "slow"]
fn recording_while_somebody_types_claims_only_the_edited_block() {
    let edits_wanted = wanted().div_ceil(5);
    let mut wrong = Vec::new();
    for language in language::with_grammar() {
        let (name, text) = sample(language.id);
        let path = format!("src/{name}");
        let document = Document::from_text(&path, &text);
        let all = edits(&document, &typed(language.id));
        let ordinary = all.iter().filter(|edit| ordinary(&path, &document, edit).is_some());
        for edit in ordinary.take(edits_wanted) {
            let repo = Repo::new();
            repo.write(&path, &text);
            repo.record("INT-001", &[&path]);
            repo.commit("before");
            let steps = edit.text.chars().count();
            let ends: Vec<usize> = edit.text.char_indices().map(|(at, _)| at).skip(1).collect();
            let mut chosen: Vec<usize> =
                (0..prefixes()).map(|nth| (nth * 7 + edit.at) % steps.max(2)).collect();
            chosen.sort_unstable();
            chosen.dedup();
            let prefixes = chosen.iter().filter_map(|nth| ends.get(*nth).copied());
            for length in prefixes.chain([edit.text.len()]) {
                let (head, tail) = text.split_at(edit.at);
                let now = format!("{head}{}{tail}", &edit.text[..length]);
                let is_broken = Document::from_text(&path, &now).blocks().has_error;
                repo.write(&path, &now);
                let answer = repo.record("INT-002", &[&path]);
                let said =
                    answer.recorded.first().map(|file| file.reasons.as_slice()).unwrap_or_default();
                let is_old = |reason: &String| {
                    document.blocks().blocks.iter().any(|old| {
                        let name = format!("{} {}:", old.identity.kind.as_str(), old.identity.path);
                        reason.starts_with(&name)
                    })
                };
                // A whole definition before the syntax error may be recorded already.
                if is_broken && said.iter().any(is_old) {
                    wrong.push(format!("{path} {:?}: {said:?}", &edit.text[..length]));
                }
            }
            let answer = answers::on_disk(&repo.open(), &relative(&path), answers::Which::All);
            let answer = answer.expect("readable");
            for old in outside(&document.blocks().blocks, edit) {
                let here = answer.blocks.iter().filter(|block| {
                    block.qualified_name == old.identity.path
                        && block.kind == old.identity.kind.as_str()
                });
                let intents: Vec<Option<&str>> =
                    here.map(|block| block.intent.as_ref().map(|it| it.id.as_str())).collect();
                // A prefix may parse to other blocks for a while, and then no intent is named for the old block.
                if intents.contains(&Some("INT-002")) && !intents.contains(&Some("INT-001")) {
                    wrong.push(format!("{path} {edit:?}: {:?} is of {intents:?}", old.identity));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// A class of ten methods and a function after it.
fn till() -> String {
    let method = |n: usize| {
        format!(
            "    def sale_{n}(self, price):\n        self.sum += price * {n}\n        return self.sum\n\n"
        )
    };
    let methods: String = (0..10).map(method).collect();
    format!("class Till:\n    sum = 0\n\n{methods}\ndef closed(till):\n    return till.sum == 0\n")
}

/// Writes `till`, and records its definitions for two agents in turn, so that each has a lens of its own.
fn till_recorded(repo: &Repo) {
    repo.write("src/till.py", &till());
    let text = till();
    let is_definition = |line: &str| line.contains("def ") || line.contains("class ");
    let lines = (1..).zip(text.lines()).filter(|(_, line)| is_definition(line));
    for ((at, _), agent) in lines.zip(["one-agent", "another-agent"].into_iter().cycle()) {
        let request = record::RecordRequest {
            paths: vec![relative("src/till.py")],
            extent: RecordExtent::Lines(LineRange::new(at, at + 2).expect("lines")),
            intent: Some("INT-001".to_owned()),
            agent: Some(agent.to_owned()),
            ..record::RecordRequest::default()
        };
        judged_record::record(&repo.open(), &request).expect("recorded");
    }
    repo.commit("till");
}

/// The texts that are typed into `till`, each with the text after which it is typed.
const TYPED: [(&str, &str); 4] = [
    ("self.sum += price * 3", "\n        x = dict(a=\"b\", c=[1, 2])"),
    ("self.sum += price * 7", "\n        note = \"\"\"a\"\"\""),
    ("return self.sum", "\n\n    @cached(\"a\")"),
    ("return till.sum", "(price, "),
];

/// The definitions that the typing changes.
const EDITED: [&str; 6] =
    ["def sale_0", "def sale_1", "def sale_3", "def sale_7", "@cached", "def closed"];

/// An editor with an open file, which types into it character by character.
struct Typist {
    editor: Editor,
    uri: String,
    text: String,
    version: i64,
}

impl Typist {
    fn open(repo: &Repo, path: &str) -> Self {
        Self::open_with(repo, path, till())
    }

    fn open_with(repo: &Repo, path: &str, text: String) -> Self {
        let capabilities = json!({ "textDocument": { "diagnostic": {} } });
        let mut editor = Editor::open(repo, &capabilities);
        let uri = address(repo, path);
        let item = json!({ "uri": uri, "languageId": "python", "version": 1, "text": text });
        editor.tell("textDocument/didOpen", &json!({ "textDocument": item }));
        Self { editor, uri, text, version: 1 }
    }

    fn insert(&mut self, at: usize, c: char) {
        let (line, start) = match self.text[..at].rfind('\n') {
            Some(end) => (self.text[..at].matches('\n').count(), end + 1),
            None => (0, 0),
        };
        let place = json!({ "line": line, "character": at - start });
        self.text.insert(at, c);
        self.version += 1;
        let document = json!({ "uri": self.uri, "version": self.version });
        let change = json!({ "range": { "start": place, "end": place }, "text": c.to_string() });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        self.editor.tell("textDocument/didChange", &params);
    }

    fn ask(&mut self, method: &str) -> Value {
        let params = json!({ "textDocument": { "uri": self.uri } });
        self.editor.ask(self.version * 2, method, &params)
    }

    /// Returns the paths of the blocks that have a lens.
    fn lenses(&mut self) -> Vec<String> {
        let found = self.ask("textDocument/codeLens");
        let lenses = found.as_array().expect("lenses").iter();
        lenses.map(|lens| lens["data"]["path"].as_str().unwrap_or_default().to_owned()).collect()
    }

    fn findings(&mut self) -> Vec<Value> {
        let found = self.ask("textDocument/diagnostic");
        found["items"].as_array().expect("diagnostics").clone()
    }

    /// Types each of the texts, and calls `look` after every character.
    fn type_all(&mut self, mut look: impl FnMut(&mut Self, &str)) {
        for (behind, text) in TYPED {
            let mut at = self.text.find(behind).expect(behind) + behind.len();
            for c in text.chars() {
                self.insert(at, c);
                at += c.len_utf8();
                look(self, text);
            }
        }
    }
}

#[test]
#[ignore = "slow"]
fn no_lens_disappears_while_somebody_types() {
    let repo = Repo::new();
    till_recorded(&repo);
    let mut typist = Typist::open(&repo, "src/till.py");
    typist
        .editor
        .hear(|it| it["method"] == "workspace/codeLens/refresh" || !it["params"].is_null());
    let first = typist.lenses();
    assert_eq!(first.len(), 12, "{first:?}");
    typist.type_all(|typist, text| {
        let now = typist.lenses();
        assert_eq!(now, first, "{text}: {}", typist.text);
    });
}

#[test]
#[ignore = "slow"]
fn a_file_opened_with_a_syntax_error_has_all_its_lenses() {
    let repo = Repo::new();
    till_recorded(&repo);
    let broken = till().replacen("price * 5", "price * foo(", 1);
    let mut typist = Typist::open_with(&repo, "src/till.py", broken);
    typist
        .editor
        .hear(|it| it["method"] == "workspace/codeLens/refresh" || !it["params"].is_null());
    assert_eq!(typist.lenses().len(), 12);
}

#[test]
#[ignore = "slow"]
fn no_false_finding_appears_while_somebody_types() {
    let repo = Repo::new();
    repo.write("lib/till.py", &till());
    repo.commit("till");
    overview::select::select(&repo.open(), "INT-001", None).expect("selected");
    let mut typist = Typist::open(&repo, "lib/till.py");
    let mut most = 0;
    typist.type_all(|typist, text| {
        let found = typist.findings();
        let lines: Vec<&str> = typist.text.lines().collect();
        let about = |finding: &Value| {
            // A finding is on a changed line; its definition begins on that line or above it.
            let line = finding["range"]["start"]["line"].as_u64().unwrap_or_default() as usize;
            let begins = |line: &&&str| line.contains("def ") || line.contains("@cached");
            let definition = lines[..=line].iter().rev().find(begins)?;
            EDITED.iter().position(|edited| definition.contains(edited))
        };
        let mut about: Vec<Option<usize>> = found.iter().map(about).collect();
        assert!(about.iter().all(Option::is_some), "{text:?}: {found:#?}");
        about.sort();
        about.dedup();
        assert_eq!(about.len(), found.len(), "{text:?}: one each; {found:#?}");
        most = most.max(found.len());
    });
    assert!(most > 0, "edits outside of the scope are told");
}
