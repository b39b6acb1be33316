//! Statements of the documents about the code.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use ground::Code;

use super::{assert_no_complaints, files_below, read, root};

/// Returns the code that a reader would type: the lines of fenced shell blocks, and inline code that begins like a
/// command.
fn code_in(markdown: &str) -> Vec<String> {
    let mut code = Vec::new();
    let mut fence = None;
    for line in markdown.lines() {
        match (line.trim_start().strip_prefix("```"), fence) {
            (Some(kind), None) => fence = Some(["console", "sh", "bash"].contains(&kind.trim())),
            (Some(_), Some(_)) => fence = None,
            (None, Some(true)) => code.push(line.to_owned()),
            (None, Some(false)) => {}
            (None, None) => {
                let spans = line.split('`').skip(1).step_by(2);
                let commands = spans
                    .filter(|span| span.starts_with("intent ") || span.starts_with("cargo run"));
                code.extend(commands.map(str::to_owned));
            }
        }
    }
    code
}

/// Returns the subcommands in a line of code: `intent why`, `$ intent -C x why`, `cargo run -- why`.
fn commands_in(line: &str) -> Vec<String> {
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || "|;&()\"'".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    };
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let called = match *word {
            "intent" => at + 1,
            "--" if words[..at].contains(&"run") && !words[..at].contains(&"-p") => at + 1,
            _ => continue,
        };
        if words.get(called).is_some_and(|name| is_name(name)) {
            found.push(words[called].to_owned());
        }
    }
    found
}

#[test]
fn commands_are_found_in_code_only() {
    let text = "An intent is declared: `intent why src/x.rs`, `intent` alone, `no intent here`.\n\
                ```json\n\"no intent in progress\"\n```\n```console\n$ intent check --json | jq .\n# comment\ncargo run --release -- map\n```\n";
    let found: Vec<String> = code_in(text).iter().flat_map(|line| commands_in(line)).collect();
    assert_eq!(found, ["why", "check", "map"]);
}

fn exists(command: &str) -> bool {
    let output = Command::new(env!("CARGO_BIN_EXE_intent"))
        .args([command, "--help"])
        .output()
        .expect("the binary under test starts");
    output.status.success()
}

#[test]
fn the_readme_names_only_commands_that_exist() {
    assert!(!exists("no-such-command"), "`intent no-such-command --help` should fail");
    let mut complaints = Vec::new();
    for name in
        ["README.md", "docs/commands.md", "docs/git-hooks.md", "docs/editors.md", "CONTRIBUTING.md"]
    {
        let named: BTreeSet<String> =
            code_in(&read(&root().join(name))).iter().flat_map(|line| commands_in(line)).collect();
        assert!(name != "README.md" || named.len() > 5, "README.md names hardly a command");
        let missing = named.iter().filter(|command| !exists(command));
        complaints.extend(missing.map(|command| format!("{name}: there is no `intent {command}`")));
    }
    assert_no_complaints(&complaints);
}

/// Returns the manifests of the workspace, each with the folders of its sources.
fn manifests() -> Vec<(String, Vec<String>)> {
    let mut found = vec![
        (
            "Cargo.toml".to_owned(),
            vec!["src/cli".to_owned(), "src/lib.rs".to_owned(), "tests".to_owned()],
        ),
        ("benches/Cargo.toml".to_owned(), vec!["benches".to_owned()]),
    ];
    for manifest in
        ["crates", "src"].iter().flat_map(|folder| files_below(&root().join(folder), "Cargo.toml"))
    {
        let folder = manifest.parent().and_then(|folder| folder.strip_prefix(root()).ok());
        let folder = folder.expect("below the root").to_string_lossy().replace('\\', "/");
        found.push((format!("{folder}/Cargo.toml"), vec![folder]));
    }
    found
}

/// Returns the names in the dependency tables of a manifest. Those of the workspace are only a list to choose from.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in read(&root().join(manifest)).lines() {
        if line.starts_with('[') {
            inside = line.trim_end().ends_with("dependencies]") && !line.starts_with("[workspace");
        } else if let (true, false, Some((name, _))) =
            (inside, line.starts_with('#'), line.split_once('='))
        {
            names.insert(name.trim().trim_end_matches(".workspace").to_owned());
        }
    }
    names
}

/// The version is set in `Cargo.toml` and in these files. Packages for registries take it from `Cargo.toml`.
#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    let json = format!("\n  \"version\": \"{version}\",\n");
    let toml = format!("\nversion = \"{version}\"\n");
    let places = [
        ("editors/vscode/package.json", json.clone()),
        ("editors/vscode/package-lock.json", json),
        ("editors/vscode/CHANGELOG.md", format!("\n## {version}\n")),
        ("editors/zed/Cargo.toml", toml.clone()),
        ("editors/zed/extension.toml", toml),
        ("editors/emacs/intent.el", format!("\n;; Version: {version}\n")),
        ("editors/registries/mason/package.yaml", format!("@v{version}\n")),
    ];
    let mut complaints: Vec<String> = places
        .iter()
        .filter(|(name, line)| !read(&root().join(name)).contains(line.as_str()))
        .map(|(name, _)| format!("{name} is not of version {version}, which Cargo.toml has"))
        .collect();
    let told = read(&root().join("CHANGELOG.md"));
    if !["## [Unreleased]\n".to_owned(), format!("## [{version}] - ")]
        .iter()
        .any(|title| told.contains(title))
    {
        complaints.push(format!("CHANGELOG.md tells neither of {version} nor of what is to come"));
    }
    assert_no_complaints(&complaints);
}

/// Named by the person who asked for this program. `serde_yaml` is the name under which the manifests use its
/// successor.
const PROMISED: [&str; 9] = [
    "tower-lsp",
    "serde_yaml",
    "tokio",
    "serde",
    "serde_json",
    "globset",
    "sha2",
    "ropey",
    "tree-sitter",
];

#[test]
fn the_promised_packages_are_dependencies_under_their_names() {
    let used: BTreeSet<String> =
        manifests().iter().flat_map(|(manifest, _)| dependencies(manifest)).collect();
    let missing: Vec<_> = PROMISED.iter().filter(|name| !used.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let manifest = read(&root().join("Cargo.toml"));
    let pinned = manifest.lines().find(|line| line.starts_with("tower-lsp = ")).expect("tower-lsp");
    assert!(
        !pinned.contains("-rc") && !pinned.contains("-alpha"),
        "not a released version: {pinned}"
    );
}

#[test]
fn every_dependency_is_used() {
    let mut complaints = Vec::new();
    let mut used_anywhere = BTreeSet::new();
    for (manifest, folders) in manifests() {
        let sources = folders.iter().flat_map(|folder| match root().join(folder) {
            file if file.is_file() => vec![file],
            folder => files_below(&folder, ".rs"),
        });
        let texts: Vec<String> = sources.map(|path| super::code_only(&read(&path))).collect();
        for name in dependencies(&manifest) {
            let path = name.replace('-', "_");
            let is_used = |text: &String| {
                [format!("{path}::"), format!("use {path};"), format!("{path} as ")]
                    .iter()
                    .any(|form| text.contains(form))
            };
            if !texts.iter().any(is_used) {
                complaints.push(format!("{manifest}: nothing uses `{name}`"));
            }
            used_anywhere.insert(name);
        }
    }
    let manifest = read(&root().join("Cargo.toml"));
    let listed = manifest.split("[workspace.dependencies]").nth(1).expect("a list of dependencies");
    let listed = listed.split("\n[").next().unwrap_or_default().lines();
    let names =
        listed.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    let unused = names.filter(|(name, _)| !used_anywhere.contains(*name));
    complaints.extend(unused.map(|(name, _)| format!("Cargo.toml: no crate uses `{name}`")));
    assert_no_complaints(&complaints);
}

/// Returns the dependencies of a manifest without a comment on their line or on the line above. A grammar needs no comment.
fn dependencies_without_reason(manifest: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let mut inside = false;
    let mut above = "";
    for line in manifest.lines() {
        let is_comment = line.starts_with('#');
        if line.starts_with('[') {
            inside = line.trim_end().ends_with("dependencies]");
        } else if let (true, false, Some((name, value))) =
            (inside, is_comment, line.split_once('='))
        {
            let name = name.trim();
            let comment = value.split_once("# ").map(|(_, comment)| comment);
            let reason = comment.or_else(|| above.strip_prefix('#')).unwrap_or_default();
            let is_told_elsewhere = name.ends_with(".workspace")
                || value.contains("path = ")
                || value.contains("workspace = true");
            if !name.starts_with("tree-sitter-")
                && !is_told_elsewhere
                && reason.split_whitespace().count() < 3
            {
                missing.push(name.to_owned());
            }
        }
        above = line;
    }
    missing
}

#[test]
fn every_dependency_has_a_reason_beside_it() {
    let mut complaints = Vec::new();
    for (manifest, _) in manifests() {
        for name in dependencies_without_reason(&read(&root().join(&manifest))) {
            complaints.push(format!("{manifest}: no comment says why `{name}` is a dependency"));
        }
    }
    assert_no_complaints(&complaints);
}

#[test]
fn a_dependency_without_a_reason_is_noticed() {
    let manifest = "[dependencies]\n# Reads and writes data.\na = \"1\"\nb = \"1\"\n\
                    c = \"1\"  # the maintained one\ntree-sitter-d = \"1\"\n# Why\ne = \"1\"\n\
                    [features]\nf = []\n[dev-dependencies]\ng = \"1\"\n";
    assert_eq!(dependencies_without_reason(manifest), ["b", "e", "g"]);
}

#[test]
fn every_code_has_a_page_and_every_page_has_a_code() {
    let folder = root().join("docs/diagnostics");
    let pages: BTreeSet<String> = files_below(&folder, ".md")
        .iter()
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .filter(|name| name != "README")
        .collect();
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    assert_eq!(pages, codes, "pages of docs/diagnostics (left) and codes (right) differ");
}

#[test]
fn every_page_of_a_finding_matches_the_code() {
    let level = |level: ground::Level| format!("{level:?}").to_lowercase();
    let index = read(&root().join("docs/diagnostics/README.md"));
    let mut complaints = Vec::new();
    for code in Code::ALL {
        let name = code.as_str();
        let page = code.page();
        let expected = [
            format!("# `{name}`\n"),
            code.summary().to_owned(),
            format!("| editor | `{}` |", level(code.editor_default())),
            format!("| `intent check` | `{}` |", level(code.check_default())),
            "## Example\n".to_owned(),
            "## How to settle it\n".to_owned(),
        ];
        let missing = expected.iter().filter(|text| !page.contains(text.as_str()));
        complaints.extend(missing.map(|text| format!("docs/diagnostics/{name}.md lacks {text:?}")));
        if !index.contains(&format!("({name}.md)")) {
            complaints.push(format!("docs/diagnostics/README.md does not name {name}"));
        }
    }
    assert_no_complaints(&complaints);
}

/// Returns the paths of the files that git tracks.
fn tracked_files() -> Vec<String> {
    let told = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let told = String::from_utf8(told.expect("git starts").stdout).expect("paths in UTF-8");
    let paths: Vec<String> =
        told.split('\0').filter(|path| root().join(path).is_file()).map(str::to_owned).collect();
    assert!(paths.len() > 1000, "the files were not found");
    paths
}

/// Returns the paths and modules of this repository that a document names between backticks, and that do not exist.
fn missing_places(document: &str, text: &str) -> Vec<String> {
    // Documents for users name files below `src/` that could be anybody's.
    let is_for_users = ["docs/", "editors/"].iter().any(|folder| document.starts_with(folder));
    const FOLDERS: &[&str] = &[
        "src/cli/",
        "src/hook/",
        "src/lsp/",
        "src/mcp/",
        "crates/",
        "tests/",
        "queries/",
        "benches/",
        "integrations/",
        "packaging/",
        "fuzz/",
        "docs/",
        "editors/",
    ];
    let is_ours = |span: &str| {
        FOLDERS.iter().any(|folder| span.starts_with(folder))
            || (!is_for_users && span.starts_with("src/"))
    };
    let exists = |place: &str| root().join(place).exists();
    let spans = text.split('`').skip(1).step_by(2);
    let mut missing = Vec::new();
    for span in spans.filter(|span| !span.contains(char::is_whitespace)) {
        // A word in capitals stands for any name.
        if span.contains(['*', '<', '{', '$'])
            || span.split('/').any(|word| word == word.to_uppercase())
        {
            continue;
        }
        let is_missing = match span.split_once("::") {
            Some((name, rest)) => {
                let place =
                    rest.split("::").take_while(|word| word.starts_with(char::is_lowercase));
                let first = place.into_iter().next();
                let folder = ["crates", "src"].iter().find_map(|base| {
                    let folder = root().join(base).join(name);
                    folder.join("Cargo.toml").is_file().then_some(folder)
                });
                folder.zip(first).is_some_and(|(folder, module)| {
                    let below = [folder.join("src"), folder];
                    let is_there = |at: &PathBuf| {
                        let library =
                            std::fs::read_to_string(at.join("lib.rs")).unwrap_or_default();
                        at.join(format!("{module}.rs")).exists()
                            || at.join(module).exists()
                            || library.contains(module)
                    };
                    !below.iter().any(is_there)
                })
            }
            None => is_ours(span) && !exists(span),
        };
        if is_missing {
            missing.push(span.to_owned());
        }
    }
    missing
}

#[test]
fn documents_name_only_files_and_modules_that_exist() {
    // The samples of languages are read by the tests, and not by people.
    let is_document = |path: &String| {
        (path.ends_with(".md") && !path.starts_with("tests/languages/"))
            || path.ends_with("Cargo.toml")
            || path == ".ci/run"
    };
    let mut complaints = Vec::new();
    for name in tracked_files().into_iter().filter(is_document) {
        let missing = missing_places(&name, &read(&root().join(&name)));
        complaints.extend(missing.iter().map(|place| format!("{name}: there is no `{place}`")));
    }
    assert_no_complaints(&complaints);
}

/// Without `all-languages`, the grammars of many files are missing from the program.
#[test]
fn every_line_that_installs_from_a_clone_asks_for_all_languages() {
    let mut complaints = Vec::new();
    // The framework pre-commit builds what it installs without asking for a feature.
    if read(&root().join(".pre-commit-hooks.yaml")).contains("language: rust") {
        complaints
            .push(".pre-commit-hooks.yaml: pre-commit builds without all-languages".to_owned());
    }
    // Tests and evidence are full of commands that nobody is asked to run.
    let is_other =
        |name: &String| name.starts_with("tests/") || name.starts_with(".orchestration/");
    for name in tracked_files().into_iter().filter(|name| !is_other(name)) {
        let bytes = std::fs::read(root().join(&name)).expect("a readable file");
        let text = String::from_utf8_lossy(&bytes);
        let installs = |line: &&str| line.contains("cargo install --path .");
        for line in text.lines().filter(installs).filter(|line| !line.contains("all-languages")) {
            complaints.push(format!("{name}: {}", line.trim()));
        }
    }
    assert_no_complaints(&complaints);
}

/// The largest number of words in the documents below `docs/`, without the pages of single findings.
const MAX_WORDS: usize = 35_000;

#[test]
fn the_documents_stay_short() {
    let pages = files_below(&root().join("docs"), ".md");
    let pages = pages.iter().filter(|page| !page.starts_with(root().join("docs/diagnostics")));
    let words: usize = pages.map(|page| read(page).split_whitespace().count()).sum();
    assert!(words > 10_000, "the documents were not found");
    assert!(words <= MAX_WORDS, "{words} words; cut what is said twice, or what nobody needs");
}

/// Files and texts that may use the names of commands that `--help` hides: what is in files that are installed already,
/// what was told of earlier versions, and statements about the hidden names.
const MAY_USE_HIDDEN_NAMES: &[(&str, &str)] = &[
    ("CHANGELOG.md", ""),
    ("editors/vscode/CHANGELOG.md", ""),
    ("crates/evidence/src/git_hooks/", ""),
    ("crates/shell/src/own_commands.rs", ""),
    ("crates/ground/src/policy.rs", "earlier versions"),
    ("crates/overview/src/team.rs", "# intent:begin"),
    ("src/hook/install/mod.rs", "const MARK"),
    ("src/hook/install/snapshots/", "Written by"),
    ("src/cli/commands/completions.rs", "Former names"),
    ("docs/commands.md", "has a short form too"),
];

/// Returns the commands in a line of code or prose that are named without their group: `intent seal` for
/// `intent evidence seal`. A git hook that is installed calls `intent seal --hook`.
fn hidden_names_in(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let programs = ["intent ", "intent-lsp ", "cargo run -- "];
    for (at, program) in programs.iter().flat_map(|program| line.match_indices(program)) {
        let before = &line[..at];
        let is_alone = !before.is_empty() && before.trim().is_empty();
        let is_typed = is_alone || ["`", "&& ", "$ "].iter().any(|end| before.ends_with(end));
        let words: Vec<&str> = line[at + program.len()..]
            .split(['`', ';'])
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let Some(verb) = shell::verb(&words).filter(|_| is_typed) else { continue };
        let is_grouped = shell::GROUPS.iter().any(|(_, names)| names.contains(&words[verb]));
        if is_grouped && words[verb] != "team" && words.get(verb + 1) != Some(&"--hook") {
            found.push(format!("intent {}", words[verb]));
        }
    }
    found
}

#[test]
fn documents_and_messages_name_commands_as_help_does() {
    let mut complaints = Vec::new();
    for name in tracked_files() {
        let is_read = [".md", ".rs", ".ts", ".lua", ".el", ".yml", ".yaml", ".snap", ".json"]
            .iter()
            .any(|end| name.ends_with(end));
        let is_other = ["tests/", ".orchestration/", "crates/shell/src/tests.rs"]
            .iter()
            .any(|start| name.starts_with(start));
        if !is_read || is_other {
            continue;
        }
        for line in read(&root().join(&name)).lines() {
            let may = |(file, text): &(&str, &str)| name.starts_with(file) && line.contains(text);
            if MAY_USE_HIDDEN_NAMES.iter().any(may) {
                continue;
            }
            let hidden = hidden_names_in(line);
            complaints
                .extend(hidden.iter().map(|hidden| format!("{name}: {hidden}: {}", line.trim())));
        }
    }
    assert_no_complaints(&complaints);
}

#[test]
fn a_hidden_name_is_noticed_where_a_command_is_typed() {
    let lines = "`intent seal`, or `git add a && intent -C 'x' init`\n$ intent off\n  intent man --dir x\n\
                 `intent evidence seal`, `intent why`, an intent on a file\nintent seal --hook pre-commit\n`intent setup team`\n\
                 \x20 intent-lsp -C . export --range a..b\n  $ cargo run -- git-hooks --install";
    let found: Vec<String> = lines.lines().flat_map(hidden_names_in).collect();
    assert_eq!(
        found,
        [
            "intent seal",
            "intent init",
            "intent off",
            "intent man",
            "intent export",
            "intent git-hooks"
        ]
    );
}

#[test]
fn a_file_or_module_that_does_not_exist_is_noticed() {
    let text = "`src/cli/mod.rs`, `src/cli/none.rs`, `ground::git`, `ground::none`, `queries/RUBY/x`, `std::none`";
    assert_eq!(missing_places("docs/x.md", text), ["src/cli/none.rs", "ground::none"]);
    assert_eq!(missing_places("fuzz/x.md", "`src/none.rs`"), ["src/none.rs"]);
    assert_eq!(missing_places("docs/x.md", "`src/none.rs`"), [""; 0]);
}
