use super::super::fixture::{TestFolder, path};
use super::*;

fn from_text(place: &TestFolder, text: &str) -> Ignores {
    Ignores::from_texts(&place.root(""), &[(path(".intentignore"), text.to_owned())])
}

#[test]
fn rules_deny_with_their_line() {
    let place = TestFolder::governed();
    let ignores = from_text(
        &place,
        "# intent: deny-write\n\nsecrets/*\n!secrets/README.md\n/top.ts\n*.key\nvendor/\n!vendor/ours.ts\nsecrets/*\n!secrets/ok\n",
    );
    let cases = [
        ("secrets/a", Some((9, "secrets/*"))),
        ("secrets/ok", None),
        ("secrets/README.md", Some((9, "secrets/*"))),
        ("a/b/x.key", Some((6, "*.key"))),
        ("top.ts", Some((5, "/top.ts"))),
        ("a/top.ts", None),
        ("a/vendor/x/y.ts", Some((7, "vendor/"))),
        ("vendor/ours.ts", Some((7, "vendor/"))),
        ("vendor", None),
        ("src/a.ts", None),
    ];
    for (target, wanted) in cases {
        let rule = ignores.denied(&path(target));
        let got = rule.as_ref().map(|rule| (rule.line, rule.pattern.as_str()));
        assert_eq!(got, wanted, "{target}");
        assert!(rule.is_none_or(|rule| rule.file == path(".intentignore")));
    }
    assert_eq!(ignores.findings(), []);
}

#[test]
fn a_rule_can_be_about_a_single_intent() {
    let place = TestFolder::governed();
    let text = "# intent: deny-write\nvendor/\nINT-002: src/generated/**\nINT-002:  !src/generated/ours/x.rs\nold-id:\tdocs/*.md\na: b\nnotes:\nx/y: z\n";
    let ignores = from_text(&place, text);
    let rule = |target: &str, ids: &[&str]| {
        ignores
            .denied_to(&path(target), ids)
            .map(|rule| (rule.line, rule.forbidden_for().to_owned()))
    };
    let two = |line| Some((line, "INT-002".to_owned()));
    assert_eq!(rule("src/generated/a.rs", &["INT-002"]), two(3));
    assert_eq!(rule("src/generated/a.rs", &["INT-001"]), None, "others may");
    assert_eq!(rule("src/generated/a.rs", &["INT-020", "INT-002"]), two(3), "a former id");
    assert_eq!(rule("src/generated/a.rs", &[]), None);
    assert_eq!(rule("docs/a.md", &["old-id"]), Some((5, "old-id".to_owned())));
    assert_eq!(rule("vendor/x.c", &["INT-001"]), Some((2, "agents".to_owned())));
    assert_eq!(ignores.denied(&path("src/generated/a.rs")), None, "no rule for everybody");
    assert_eq!(ignores.denied(&path("b")), None, "`a: b` is about the intent a");
    assert!(ignores.denied(&path("notes:")).is_some(), "a pattern like any other");
    assert!(ignores.denied(&path("x/y: z")).is_some());
    let named: Vec<_> =
        ignores.intent_lines().into_iter().map(|line| (line.line, line.intent.unwrap())).collect();
    let id = str::to_owned;
    assert_eq!(named, [(3, id("INT-002")), (4, id("INT-002")), (5, id("old-id")), (6, id("a"))]);
    let written = ignores.denied_to(&path("src/generated/a.rs"), &["INT-002"]);
    assert_eq!(written.expect("denied").pattern, "INT-002: src/generated/**");
}

#[test]
fn only_our_own_file_has_rules_for_single_intents() {
    let place = TestFolder::governed();
    place.write(".rooignore", "INT-002: src/**\n");
    let ignores = Ignores::load(&place.root(""));
    assert_eq!(ignores.denied_to(&path("src/a.rs"), &["INT-002"]), None);
    assert!(ignores.denied(&path("INT-002: src/a")).is_some());
}

#[test]
fn both_files_are_read_and_either_denies() {
    let place = TestFolder::governed();
    place.write(".intentignore", "# intent: deny-write\r\na/**\r\n!b/**\r\n");
    place.write(".rooignore", "b/**\n!a/**\n");
    let ignores = Ignores::load(&place.root("src/x"));
    let file = |target: &str| ignores.denied(&path(target)).map(|rule| rule.file.to_string());
    assert_eq!(file("a/x").as_deref(), Some(".intentignore"));
    assert_eq!(file("b/x").as_deref(), Some(".rooignore"));
    assert_eq!(file("c/x"), None);
    assert_eq!(ignores.findings(), [], "the marker is asked of .intentignore alone");
}

#[test]
fn a_missing_marker_and_bad_patterns_are_found() {
    let place = TestFolder::governed();
    let ignores = from_text(&place, "INT-001\n[a\na[z-a]b\n");
    let found: Vec<_> =
        ignores.findings().iter().map(|f| (f.code, f.lines.unwrap().start())).collect();
    assert!(found.contains(&(Code::IgnoreMarker, 1)), "{found:?}");
    assert!(found.iter().any(|(code, _)| *code == Code::GlobInvalid), "{found:?}");
    assert!(ignores.denied(&path("INT-001")).is_some(), "denied all the same");
}

#[test]
fn a_file_that_cannot_be_read_denies_everything() {
    let place = TestFolder::governed();
    place.write(".intentignore", &"x\n".repeat(600_000));
    let ignores = Ignores::load(&place.root(""));
    assert!(ignores.denied(&path("any/thing")).is_some());
    assert_eq!(ignores.findings().len(), 1);
}

/// Runs git with the ignore file of the person who runs the test, because this program reads that
/// file too.
fn ask_git(place: &TestFolder, arguments: &[&str]) -> (bool, String) {
    let own = ignore::gitignore::gitconfig_excludes_path().unwrap_or_default();
    let own = format!("core.excludesFile={}", own.display());
    place.try_git("", &[&["-c", &own], arguments].concat())
}

/// Paths for which the answer is compared with that of git itself.
const ASKED: &[&str] = &[
    "a.log",
    "keep.log",
    "build/x",
    "build/deep/y",
    "src/a.ts",
    "src/gen/x",
    "src/gen/keep",
    "src/only.tmp",
    "docs/a.tmp",
    "docs/build",
    "excluded/x",
    "src/.env",
    "tracked.log",
    "new/build/z",
    "src/deep/a.log",
    "spaced name",
    "tail ",
    "Build/x",
    "a/foo/bar",
    "foo/bar",
];

fn ignoring() -> TestFolder {
    let place = TestFolder::committed(&[("tracked.log", ""), ("src/a.ts", "")]);
    place.write(
        ".gitignore",
        "*.log\n!keep.log\nbuild/\n/docs/*.tmp\nspaced name\ntail\\ \nfoo/bar\n",
    );
    place.write("src/.gitignore", "gen/*\n!gen/keep\n/only.tmp\n!a.log\n");
    place.write("build/.gitignore", "!x\n");
    place.write(".git/info/exclude", "excluded\n.env\n");
    place
}

#[test]
fn ignored_paths_are_those_that_git_ignores() {
    let place = ignoring();
    let ignores = Ignores::load(&place.root(""));
    for asked in ASKED {
        let wanted = ask_git(&place, &["check-ignore", "-q", "--", asked]).0;
        assert_eq!(ignores.git_ignored(&path(asked)), wanted, "{asked:?}");
    }
    assert!(ignores.git_ignored(&path("build/x")) && !ignores.git_ignored(&path("tracked.log")));
}

#[test]
fn a_folder_is_ignored_only_with_everything_in_it() {
    // The rules, and whether they ignore `lib` and `lib/deep`.
    let cases = [
        ("/lib/\n", [true, true]),
        ("li*\n", [true, true]),
        ("lib/*\n", [true, true]),
        ("lib/**\n", [true, true]),
        ("x\n", [false, false]),
        ("lib/x\n", [false, false]),
        ("*\n!*/\n!*.rs\n", [false, false]),
        ("lib/*\n!lib/*.rs\n", [false, true]),
    ];
    for (rules, wanted) in cases {
        let place = TestFolder::committed(&[(".gitignore", rules)]);
        let ignores = Ignores::load(&place.root(""));
        let found = ["lib", "lib/deep"].map(|folder| ignores.git_ignored_folder(&path(folder)));
        assert_eq!(found, wanted, "{rules:?}");
    }
    let place = TestFolder::committed(&[(".gitignore", "!x\n")]);
    place.write("cache/.gitignore", "*\n");
    assert!(Ignores::load(&place.root("")).git_ignored_folder(&path("cache")));
}

/// Otherwise a tracked file that a rule matches would be subject to no scope.
#[test]
fn nothing_is_ignored_if_the_tracked_files_are_unknown() {
    let place = ignoring();
    place.write(".git/index", "damaged");
    let ignores = Ignores::load(&place.root(""));
    for asked in ["tracked.log", "a.log"] {
        assert!(!ignores.git_ignored(&path(asked)), "{asked}");
    }
    assert!(!ignores.git_ignored_folder(&path("new/build")));
}

#[test]
fn ignore_files_above_the_workspace_count() {
    let place = ignoring();
    place.folder("src/.orchestration");
    let ignores = Ignores::load(&place.root("src/a.ts"));
    for asked in ["a.ts", "gen/x", "gen/keep", "only.tmp", "deep/a.log", "deep/b.log", "build/q"] {
        let full = format!("src/{asked}");
        let wanted = ask_git(&place, &["check-ignore", "-q", "--", &full]).0;
        assert_eq!(ignores.git_ignored(&path(asked)), wanted, "{asked:?}");
    }
}

#[test]
fn without_git_nothing_is_ignored() {
    let place = TestFolder::governed();
    place.write(".gitignore", "*\n");
    place.write("a.ts", "");
    let root = place.root("");
    assert!(!Ignores::load(&root).git_ignored(&path("a.ts")));
    assert_eq!(walk(&root), [path(".gitignore"), path("a.ts")]);
}

#[cfg(unix)]
#[test]
fn a_walk_sees_what_git_lists() {
    let place = ignoring();
    for asked in ASKED.iter().filter(|asked| **asked != "docs/build") {
        place.write(asked, "");
    }
    place.write("src/.hidden/x", "");
    place.write(".ignore", "*\n");
    place.write(".orchestration/active_intents.yaml", "");
    place.write("src/.orchestration/x", "");
    place.link("src/link.ts", "a.ts");
    place.link("linked", "src");
    place.folder("vendor/repo");
    place.git_in("vendor/repo", &["init", "-q"]);
    place.write("vendor/repo/x", "");
    place.write("vendor/fake/.git/HEAD", "");
    place.write("vendor/fake/x", "");
    let listed = ask_git(&place, &["ls-files", "-z", "-co", "--exclude-standard"]).1;
    let mut wanted: Vec<RelativePath> = listed
        .split('\0')
        .filter(|line| !line.is_empty() && !line.ends_with('/') && !line.contains("link"))
        .map(path)
        .filter(|path| !path.is_orchestration())
        .collect();
    wanted.sort();
    let walked = walk(&place.root(""));
    assert_eq!(walked, wanted);
    assert!(walked.contains(&path("tracked.log")), "tracked, though a rule matches it");
    assert!(walked.contains(&path("src/.hidden/x")));
    assert!(walked.contains(&path("vendor/fake/x")), "`.git` alone makes no repository");
}
