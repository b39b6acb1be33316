//! One story for each way in which an unchanged definition was once attributed to the wrong record.
//!
//! A story has two versions of a few files: the first is recorded under INT-001, the second under INT-002. INT-002 must
//! be named for the blocks that the change touched and for no others, and only for lines that the change added.

use std::collections::BTreeSet;

use crate::support::editor::{Editor, address};
use crate::support::{Repo, relative};
use evidence::record::SkippedFile;
use ledger::MutationClass;
use provenance::Verdict;
use serde_json::json;
use why::answers::{self, BlockAnswer, LineState, Which};

type Files = Vec<(&'static str, String)>;

struct Story {
    name: &'static str,
    before: Files,
    after: Files,
    /// The blocks for which INT-002 must be named.
    touched: &'static [&'static str],
}

fn one(path: &'static str, text: impl Into<String>) -> Files {
    vec![(path, text.into())]
}

/// Returns the text with `to` in place of `from`.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from:?} is in {text}");
    text.replacen(from, to, 1)
}

fn states(names: &[&str]) -> String {
    let state = |name: &&str| {
        format!(
            "    {name} {{\n        @Override\n        void read(Token t, Builder b) {{\n            if (t.isDoctype()) {{\n                b.insert(t);\n            }}\n        }}\n    }},\n"
        )
    };
    let all: String = names.iter().map(state).collect();
    format!("enum State {{\n{all}    ;\n\n    abstract void read(Token t, Builder b);\n}}\n")
}

fn crates(names: &[&str]) -> String {
    let package = |name: &&str| {
        format!(
            "[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\nsource = \"registry\"\n\n[package.metadata]\nof = \"{name}\"\n\n"
        )
    };
    "version = 4\n\n".to_owned() + &names.iter().map(package).collect::<String>()
}

fn modules(names: &[&str]) -> String {
    let module = |name: &&str| {
        format!(
            "    \"node_modules/{name}\": {{\n      \"version\": \"1.0.0\",\n      \"dev\": true\n    }}"
        )
    };
    let all: Vec<String> = names.iter().map(module).collect();
    format!("{{\n  \"name\": \"app\",\n  \"packages\": {{\n{}\n  }}\n}}\n", all.join(",\n"))
}

fn sums(names: &[&str]) -> String {
    let sum = |name: &&str| {
        format!(
            "example.test/{name} v1.0.0 h1:{name}A=\nexample.test/{name} v1.0.0/go.mod h1:{name}B=\n"
        )
    };
    names.iter().map(sum).collect()
}

fn yarn(names: &[&str]) -> String {
    let entry =
        |name: &&str| format!("{name}@^1.0.0:\n  version \"1.0.0\"\n  resolved \"of {name}\"\n\n");
    "# yarn lockfile v1\n\n\n".to_owned() + &names.iter().map(entry).collect::<String>()
}

fn overloads(kinds: &[&str]) -> String {
    let twin =
        |kind: &&str| format!("@overload\ndef opened(path: {kind}) -> Reader[{kind}]: ...\n\n\n");
    let all: String = kinds.iter().map(twin).collect();
    format!("{all}def opened(path):\n    return Reader(path)\n")
}

fn configured(systems: &[&str]) -> String {
    let twin = |system: &&str| {
        format!(
            "#[cfg(target_os = \"{system}\")]\npub fn home() -> PathBuf {{\n    env(\"HOME\")\n}}\n\n"
        )
    };
    systems.iter().map(twin).collect()
}

fn asserted(types: &[&str]) -> String {
    let lines: String = types.iter().map(|it| format!("var _ Model = (*{it})(nil)\n\n")).collect();
    format!("package tea\n\n{lines}func Run(m Model) error {{\n\treturn m.Init()\n}}\n")
}

const CLASS: &str = "class Url:\n    def __init__(self, text):\n        self.text = text\n\n    @property\n    def host(self):\n        return self.text.split(\"/\")[2]\n\n    def join(self, other):\n        return Url(self.text + other.text)\n";
const BOOK: &str = "# Book\n\nAbout it.\n\n## Begin\n\nFirst install it.\n\n### Linux\n\nUse the package.\n\n## End\n\nThen go.\n";
const TEMPLATE: &str = "package main\n\nvar tpl = `usage:\n  {{.Name}} [flags]\n  {{.Name}} [command]\n`\n\nfunc main() {\n\trun(tpl)\n}\n";
const IMPORTS: &str = "from app.models import Model\nfrom app.views import View\n\n\ndef run():\n    return View(Model())\n";

fn stories() -> Vec<Story> {
    let both = ["Doctype", "Comment", "Text", "Other"];
    vec![
        Story {
            name: "a constant of an enum goes, and its neighbours have methods that read alike",
            before: one("src/State.java", states(&both)),
            after: one("src/State.java", states(&["Doctype", "Text", "Other"])),
            touched: &["State"],
        },
        Story {
            name: "a constant comes before those that read alike",
            before: one("src/State.java", states(&both[1..])),
            after: one("src/State.java", states(&both)),
            touched: &["State", "State.read"],
        },
        Story {
            name: "a package is put at the top of Cargo.lock",
            before: one("Cargo.lock", crates(&["bytes", "cfg", "digest"])),
            after: one("Cargo.lock", crates(&["ahash", "bytes", "cfg", "digest"])),
            touched: &["package.ahash 1.0.0", "package.metadata"],
        },
        Story {
            name: "a package is put at the top of package-lock.json",
            before: one("package-lock.json", modules(&["bytes", "cfg", "digest"])),
            after: one("package-lock.json", modules(&["ahash", "bytes", "cfg", "digest"])),
            touched: &["packages.node_modules/ahash"],
        },
        Story {
            name: "a module is put at the top of go.sum",
            before: one("go.sum", sums(&["bytes", "cfg", "digest"])),
            after: one("go.sum", sums(&["ahash", "bytes", "cfg", "digest"])),
            touched: &["example.test/ahash v1.0.0", "example.test/ahash v1.0.0/go.mod"],
        },
        Story {
            name: "a package is put at the top of yarn.lock",
            before: one("yarn.lock", yarn(&["bytes", "cfg", "digest"])),
            after: one("yarn.lock", yarn(&["ahash", "bytes", "cfg", "digest"])),
            touched: &["ahash@^1.0.0"],
        },
        Story {
            name: "an overload comes first",
            before: one("src/reader.py", overloads(&["str", "bytes"])),
            after: one("src/reader.py", overloads(&["Path", "str", "bytes"])),
            touched: &["opened"],
        },
        Story {
            name: "an overload goes",
            before: one("src/reader.py", overloads(&["Path", "str", "bytes"])),
            after: one("src/reader.py", overloads(&["Path", "bytes"])),
            touched: &[],
        },
        Story {
            name: "a configured twin comes first",
            before: one("src/home.rs", configured(&["linux", "macos"])),
            after: one("src/home.rs", configured(&["windows", "linux", "macos"])),
            touched: &["home"],
        },
        Story {
            name: "a type is asserted to be what others are",
            before: one("src/tea.go", asserted(&["List", "Table"])),
            after: one("src/tea.go", asserted(&["Form", "List", "Table"])),
            touched: &["_"],
        },
        Story {
            name: "a variable becomes a constant",
            before: one("src/main.go", TEMPLATE),
            after: one("src/main.go", changed(TEMPLATE, "var tpl", "const tpl")),
            touched: &["tpl"],
        },
        Story {
            name: "a module says what it exports",
            before: one("src/app.py", IMPORTS),
            after: one(
                "src/app.py",
                changed(IMPORTS, "View\n\n", "View\n\n__all__ = [\"run\"]\n\n"),
            ),
            touched: &["__all__"],
        },
        Story {
            name: "a class is renamed",
            before: one("src/url.py", CLASS),
            after: one("src/url.py", changed(CLASS, "class Url:", "class Address:")),
            touched: &["Address"],
        },
        Story {
            name: "a heading is renamed",
            before: one("BOOK.md", BOOK),
            after: one("BOOK.md", changed(BOOK, "## Begin", "## Install")),
            touched: &["Book.Install"],
        },
        Story {
            name: "a class gains a method",
            before: one("src/url.py", CLASS),
            after: one(
                "src/url.py",
                changed(
                    CLASS,
                    "    def join",
                    "    def port(self):\n        return 80\n\n    def join",
                ),
            ),
            touched: &["Url.port"],
        },
        Story {
            name: "a decorator is replaced",
            before: one("src/url.py", CLASS),
            after: one("src/url.py", changed(CLASS, "@property", "@functools.cached_property")),
            touched: &["Url.host"],
        },
        Story {
            name: "a bracket is not closed yet",
            before: one("src/url.py", CLASS),
            after: one(
                "src/url.py",
                changed(
                    CLASS,
                    "return Url(self.text + other.text)",
                    "return Url(foo(self.text + other.text)",
                ),
            ),
            touched: &[],
        },
        Story {
            name: "files are only moved",
            before: vec![
                ("src/url.py", CLASS.to_owned()),
                ("src/State.java", states(&both)),
                ("src/tea.go", asserted(&["List", "Table"])),
            ],
            after: vec![
                ("src/net/url.py", CLASS.to_owned()),
                ("src/html/State.java", states(&both)),
                ("src/ui/tea.go", asserted(&["List", "Table"])),
            ],
            touched: &[],
        },
        Story {
            name: "a file is moved and one of its classes is edited",
            before: one(
                "src/url.py",
                CLASS.to_owned()
                    + "\n\nclass Query:\n    def get(self, key):\n        return self.all[key]\n",
            ),
            after: one(
                "src/net/url.py",
                CLASS.to_owned()
                    + "\n\nclass Query:\n    def get(self, key):\n        return self.all.get(key)\n",
            ),
            touched: &["Query.get"],
        },
        Story {
            name: "a bold line becomes a heading, and the section before it ends there",
            before: one("docs/a.md", "# A\n\n## One\n\nIt reads.\n\n**Two**\n\nIt writes.\n"),
            after: one("docs/a.md", "# A\n\n## One\n\nIt reads.\n\n## Two\n\nIt writes.\n"),
            touched: &["A.Two"],
        },
        Story {
            name: "a comment behind a method is another one, which is no change of the class",
            before: one("src/a.cpp", proxy("// one")),
            after: one("src/a.cpp", proxy("// two")),
            touched: &[],
        },
        Story {
            name: "a comment behind a constant is another one, which is no change of what follows",
            before: one("src/a.rs", "const A: u8 = 1; // one\nstart!(A);\n\nfn f() {}\n"),
            after: one("src/a.rs", "const A: u8 = 1; // two\nstart!(A);\n\nfn f() {}\n"),
            touched: &[],
        },
        Story {
            name: "a file of one function is renamed and a line of it edited",
            before: one("src/handler.py", steps(7)),
            after: one("src/lambda_handler.py", steps(77)),
            touched: &["handler"],
        },
        Story {
            name: "a style sheet of two rules is renamed and a line of it edited",
            before: one("src/f.css", RULES),
            after: one("src/g.css", changed(RULES, "route108", "route109")),
            touched: &[".split"],
        },
        Story {
            name: "a makefile is renamed and a rule added",
            before: one("a.mk", "build: src\n\tgo build ./...\n\ntest: build\n\tgo test ./...\n"),
            after: one(
                "b.mk",
                "build: src\n\tgo build ./...\n\ntest: build\n\tgo test ./...\n\nlint: src\n\tgo vet ./...\n",
            ),
            touched: &["lint"],
        },
        Story {
            name: "the constants after the imports go",
            before: one("src/level.go", level("const (\n\tlow = 1\n\thigh = 2\n)\n\n")),
            after: one("src/level.go", level("")),
            touched: &[],
        },
        Story {
            name: "the middle of a function becomes one of its own, and its lines stay where they are",
            before: one("src/flag.py", flag(&["        self.ready = False"])),
            after: one(
                "src/flag.py",
                flag(&[
                    "        self.ready = self.needs(flag)",
                    "",
                    "    def needs(self, flag):",
                    "        \"\"\"Whether it needs a value.\"\"\"",
                ]),
            ),
            touched: &["Flag.read", "Flag.needs"],
        },
    ]
}

const RULES: &str = ".open {\n  page-save: queue1;\n}\n\n.split {\n  price-parse: price3;\n  file-send: route108;\n}\n";

fn steps(seventh: usize) -> String {
    let number = |at: usize| if at == 7 { seventh } else { at };
    let step = |at: usize| format!("    v{at} = step_{at}(event, {})\n", number(at));
    format!("def handler(event):\n{}    return v20\n", (1..=20).map(step).collect::<String>())
}

fn proxy(comment: &str) -> String {
    format!(
        "class Proxy {{\n public:\n    Proxy() {{ start(); }} {comment}\n    int size() const {{ return 1; }}\n}};\n"
    )
}

fn level(constants: &str) -> String {
    format!(
        "package level\n\nimport (\n\t\"context\"\n\t\"maps\"\n)\n\n{constants}type key struct{{}}\n\nfunc of(c context.Context) any {{\n\treturn maps.Keys(c.Value(key{{}}))\n}}\n"
    )
}

fn flag(middle: &[&str]) -> String {
    let middle = middle.join("\n");
    format!(
        "class Flag:\n    def read(self, flag):\n        self.flag = flag\n{middle}\n        if flag is None:\n            return self.default\n        if flag.hidden:\n            return self.hidden\n        return flag.value\n"
    )
}

/// Returns the lines, counted from 1, that the last commit added to a file according to git.
fn added(repo: &Repo, path: &str) -> BTreeSet<u32> {
    let patch = repo.git(&["diff", "-U0", "-M", "--histogram", "HEAD~1", "HEAD"]);
    let of_file =
        patch.split("\ndiff --git ").find(|part| part.contains(&format!("+++ b/{path}\n")));
    let mut lines = BTreeSet::new();
    for header in of_file.unwrap_or_default().lines().filter(|line| line.starts_with("@@ ")) {
        let now = header.split(' ').find_map(|word| word.strip_prefix('+')).expect("a hunk");
        let (start, count) = now.split_once(',').unwrap_or((now, "1"));
        let (start, count): (u32, u32) =
            (start.parse().expect("a line"), count.parse().expect("a number"));
        lines.extend(start..start + count);
    }
    lines
}

fn record(repo: &Repo, intent: &str, files: &Files, gone: &Files) {
    for (path, text) in files {
        repo.write(path, text);
    }
    let left = gone.iter().filter(|(path, _)| files.iter().all(|(other, _)| other != path));
    let left: Vec<&str> = left.map(|(path, _)| *path).collect();
    left.iter().for_each(|path| repo.remove(path));
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).chain(left).collect();
    for file in repo.record(intent, &paths).recorded {
        assert!(file.reasons.len() <= file.blocks, "only of what is recorded: {file:?}");
    }
    repo.commit(intent);
}

/// Returns true if a record under INT-002 names the block among those that it touched.
fn is_touched(repo: &Repo, path: &str, block: &BlockAnswer) -> bool {
    let ledger = repo.open().ledger;
    let path = relative(path);
    let records = ledger.of_path(&path).filter(|entry| entry.record.names_intent("INT-002"));
    let files = records.flat_map(|entry| &entry.record.files);
    let mut ranges = files.filter(|file| file.relative_path == path).flat_map(|file| file.ranges());
    ranges.any(|range| {
        let name = range.block.as_ref().map(|name| name.path.as_str());
        let is_there = [block.start_line, block.node_start_line].contains(&range.start_line);
        !range.deleted && name == Some(&block.qualified_name) && is_there
    })
}

#[test]
#[ignore = "slow"]
fn a_record_owns_exactly_what_its_change_touched() {
    let mut wrong = Vec::new();
    for Story { name, before, after, touched } in stories() {
        let repo = Repo::new();
        record(&repo, "INT-001", &before, &Vec::new());
        record(&repo, "INT-002", &after, &before);
        let mut given = Vec::new();
        for (path, text) in &after {
            let added = added(&repo, path);
            let answer = answers::on_disk(&repo.open(), &relative(path), Which::AllInFull)
                .expect("readable");
            for block in &answer.blocks {
                if block.verdict == Verdict::Unrecorded {
                    wrong.push(format!("{name}: {} of {path} is unrecorded", block.qualified_name));
                }
                if is_touched(&repo, path, block) {
                    given.push(block.qualified_name.clone());
                }
                for run in block.lines.iter().flat_map(|lines| &lines.runs) {
                    let from = run.from.as_ref().and_then(|from| from.intent.as_deref());
                    let is_second = from == Some("INT-002");
                    if run.state == LineState::AsRecorded && is_second {
                        let over = (run.start..=run.end).filter(|line| !added.contains(line));
                        wrong.extend(over.map(|line| {
                            format!(
                                "{name}: line {line} `{}`",
                                text.lines().nth(line as usize - 1).unwrap_or_default()
                            )
                        }));
                    }
                }
            }
            let all: Vec<&str> = text.lines().collect();
            for block in answer.blocks.iter().filter(|block| block.kind == "region") {
                let lines = &all[block.start_line as usize - 1..block.end_line as usize];
                let says = |line: &&&str| {
                    !line.trim().is_empty() && !line.starts_with("//") && !line.starts_with('#')
                };
                if !lines.iter().any(|line| says(&line)) {
                    wrong.push(format!("{name}: {} is only comments", block.qualified_name));
                }
            }
        }
        if given != touched {
            wrong.push(format!("{name}: INT-002 has {given:?}, not {touched:?}"));
        }
        let paths: Vec<_> = after.iter().map(|(path, _)| *path).collect();
        let again = repo.record("INT-002", &paths);
        if !again.recorded.is_empty() {
            wrong.push(format!("{name}: recorded once more: {:?}", again.recorded));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_git_calls_generated_is_one_block() {
    let repo = Repo::new();
    let text = |number: u8| {
        format!(
            "pub fn one{number}() -> u8 {{\n    {number}\n}}\n\npub fn two() -> u8 {{\n    2{number}\n}}\n"
        )
    };
    repo.write(".gitattributes", "src/gen/** linguist-generated\n");
    repo.write("src/gen/api.rs", &text(1));
    repo.record("INT-001", &["src/gen/api.rs"]);
    repo.commit("before");
    assert_eq!(repo.picture("src/gen/api.rs"), "exact INT-001 file api.rs\n");
    repo.write("src/gen/api.rs", &text(3));
    repo.record("INT-002", &["src/gen/api.rs"]);
    assert_eq!(repo.picture("src/gen/api.rs"), "exact INT-002 file api.rs\n");
    let mut editor = Editor::open(&repo, &json!({}));
    let uri = address(&repo, "src/gen/api.rs");
    let item = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text(3) });
    editor.tell("textDocument/didOpen", &json!({ "textDocument": item }));
    let lenses = editor.ask(1, "textDocument/codeLens", &json!({ "textDocument": { "uri": uri } }));
    assert_eq!(lenses.as_array().map(Vec::len), Some(1), "{lenses}");
}

#[test]
fn a_syntax_error_loses_no_other_block() {
    let repo = Repo::new();
    let function =
        |at: usize| format!("fn step_{at}(x: &str) -> String {{\n    say(x, \"{at}\")\n}}\n\n");
    let text: String = (0..12).map(function).collect();
    repo.write("src/steps.rs", &text);
    repo.record("INT-001", &["src/steps.rs"]);
    repo.commit("steps");
    let picture = repo.picture("src/steps.rs");
    for broken in ["    say(x, \"5)\n", "    say(x, \"5\"\n    if x {\n", "    /* say(x, \"5\")\n"]
    {
        repo.write("src/steps.rs", &changed(&text, "    say(x, \"5\")\n", broken));
        let now = repo.picture("src/steps.rs");
        let is_of_five = |line: &&str| line.contains("step_5");
        let others = |picture: &str| -> Vec<String> {
            picture.lines().filter(|line| !is_of_five(line)).map(str::to_owned).collect()
        };
        assert_eq!(others(&now), others(&picture), "with {broken:?}");
        let answer = repo.record("INT-002", &["src/steps.rs"]);
        assert!(answer.recorded.is_empty(), "with {broken:?}: {answer:?}");
        let is_broken = |file: &SkippedFile| file.reason.starts_with("it does not parse");
        assert!(answer.skipped.iter().any(is_broken), "{answer:?}");
    }
}

#[test]
fn another_decorator_is_more_than_formatting() {
    let repo = Repo::new();
    let text = "class Url:\n    @property\n    def host(self):\n        return self.parts[1]\n";
    repo.write("src/url.py", text);
    repo.record("INT-001", &["src/url.py"]);
    repo.commit("before");
    repo.write("src/url.py", &changed(text, "@property", "@cached_property"));
    let answer = repo.record("INT-002", &["src/url.py"]);
    assert_eq!(
        answer.recorded[0].mutation_class,
        Some(MutationClass::IntentEvolution),
        "{answer:?}"
    );
}

#[test]
fn a_file_that_is_renamed_twice_keeps_all_its_records() {
    let repo = Repo::new();
    let text = "def two(x):\n    y = go(x, 2)\n    return y * 3\n\ndef three(z):\n    for q in z:\n        emit(q, 9)\n";
    repo.write("m.py", text);
    repo.record("INT-001", &["m.py"]);
    repo.commit("one");
    repo.git(&["mv", "m.py", "b.py"]);
    repo.commit("renamed");
    repo.write(
        "b.py",
        &changed(text, "for q in z:\n        emit(q, 9)", "for q in z:\n        emit(q, 10)")
            .replace("in z:", "in z(1):"),
    );
    repo.record("INT-002", &["b.py"]);
    repo.commit("two");
    repo.git(&["mv", "b.py", "c.py"]);
    repo.commit("renamed again");
    assert_eq!(repo.picture("c.py"), "moved INT-001 function two\nmoved INT-002 function three\n");
}

#[test]
fn a_moved_block_keeps_its_record_when_the_file_is_recorded() {
    let repo = Repo::new();
    let load = |at: u8| {
        format!("def load_user(token):\n    price = open_user(token, {at})\n    return price\n")
    };
    let parse = "def parse_state(raw):\n    return int(raw)\n";
    let fetch =
        |at: u8| format!("def fetch(state):\n    item = save(state, {at})\n    return item\n");
    repo.write("a.py", &(load(6) + parse));
    repo.write("b.py", &fetch(44));
    repo.record("INT-001", &["a.py", "b.py"]);
    repo.commit("one");
    repo.write("a.py", &(load(7) + parse));
    repo.record("INT-001", &["a.py"]);
    repo.commit("two");
    repo.write("a.py", parse);
    repo.write("b.py", &(fetch(44) + &load(7)));
    repo.commit("moved");
    let moved = "moved INT-001 function load_user\n";
    assert_eq!(repo.picture("b.py"), format!("exact INT-001 function fetch\n{moved}"));
    repo.write("b.py", &(fetch(45) + &load(7)));
    repo.record("INT-002", &["b.py"]);
    assert_eq!(repo.picture("b.py"), format!("exact INT-001 function fetch\n{moved}"));
}
