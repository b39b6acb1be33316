//! Somebody types: while the text does not parse, every block outside the edited one stays what it was.
//!
//! Every prefix of ordinary edits, typed character by character. `TYPING_EDITS=200 cargo test --test typing` types so
//! many in each language instead of five.

use std::ops::Range;
use std::path::Path;

use intent_lsp::code::{Block, BlockKind, Document, language};

/// What is typed in a language: into a function's body, after an opening bracket, above a definition, and after one.
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

/// Text that is typed at a byte.
#[derive(Debug)]
struct Edit {
    at: usize,
    text: String,
    /// It is about the definition below.
    is_lead: bool,
}

fn indentation(text: &str, byte: usize) -> &str {
    let line = &text[text[..byte].rfind('\n').map_or(0, |at| at + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// All edits of a text that could be made, in an order that is mixed but always the same.
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
    // A fixed permutation, so that the first few are of all kinds.
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

/// The blocks of the first text that an edit must leave alone.
fn outside<'a>(blocks: &'a [Block], edit: &Edit) -> Vec<&'a Block> {
    let below = blocks.iter().filter(is_definition).find(|block| block.lead.start > edit.at);
    let below = below.filter(|_| edit.is_lead).map(|block| block.lead.start);
    let apart = |block: &&Block| {
        (edit.at < block.lead.start && Some(block.lead.start) != below) || block.bytes.end < edit.at
    };
    blocks.iter().filter(is_definition).filter(apart).collect()
}

/// What is wrong after so many bytes of an edit were typed.
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

/// Types an edit; `None` when it is no ordinary one: what it ends in does not parse, or is about other blocks too.
fn type_it(path: &str, document: &Document, edit: &Edit) -> Option<Vec<String>> {
    let first = document.blocks();
    let whole = document.edited(edit.at..edit.at, &edit.text).expect("on a boundary");
    let fresh = Document::from_text(path, &whole.text());
    if fresh.blocks().has_error || complaint(&first.blocks, &fresh, edit, edit.text.len()).is_some()
    {
        return None;
    }
    let mut now = document.clone();
    let mut complaints = Vec::new();
    for (at, c) in edit.text.char_indices() {
        let end = edit.at + at;
        now = now.edited(end..end, &edit.text[at..at + c.len_utf8()]).expect("on a boundary");
        // Where the text parses, the blocks are what the language says; only damage must not change them.
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

#[test]
fn blocks_outside_the_edited_one_stay_while_somebody_types() {
    let wanted = std::env::var("TYPING_EDITS").ok().and_then(|count| count.parse().ok());
    let wanted = wanted.unwrap_or(5);
    let mut complaints = Vec::new();
    for language in language::all() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages").join(language.id);
        let sample = std::fs::read_dir(&folder).expect("samples").filter_map(Result::ok);
        let path = sample.map(|entry| entry.path()).next().expect("a sample");
        let text = std::fs::read_to_string(&path).expect("a readable sample");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let document = Document::from_text(&name, &text);
        let edits = edits(&document, &typed(language.id));
        let made = edits.iter().filter_map(|edit| type_it(&name, &document, edit)).take(wanted);
        let made: Vec<Vec<String>> = made.collect();
        assert!(made.len() >= wanted.min(5), "{name}: {} ordinary edits", made.len());
        complaints.extend(made.into_iter().flatten());
    }
    assert!(complaints.is_empty(), "{}\n{}", complaints.len(), complaints.join("\n"));
}
