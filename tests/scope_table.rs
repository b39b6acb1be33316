//! Which files a scope owns: cases that other implementations got wrong, and rules that hold for any scope.

use std::time::{Duration, Instant};

use crate::support::temporary_folder;
use ground::RelativePath;
use intents::{Registry, Scope, ScopeVerdict, lint};
use proptest::prelude::*;

/// Asks as the gate does: a path outside of the workspace is owned by no intent.
fn owns(path: &str, entries: &[&str]) -> bool {
    RelativePath::new(path).is_ok_and(|path| Scope::new(entries).owns(&path))
}

#[test]
fn every_case_of_the_table_has_the_right_owner() {
    let secret: &[&str] = &["src/auth/**", "!src/auth/secret.ts"];
    let table: &[(&str, &[&str], bool)] = &[
        ("src/auth/../../etc/passwd", &["src/auth/**"], false),
        ("../evil/src/auth/x.ts", &["**"], false),
        ("src/auth/secret.ts", secret, false),
        ("src/auth/login.ts", secret, true),
        ("src/billing/x.ts", secret, false),
        ("index.ts", &["**/*.ts"], true),
        ("src/a.ts", &["src/**/*.ts"], true),
        ("src/auth/x.ts", &["src/auth/"], true),
        ("src/a.tsx", &["src/*.{ts,tsx}"], true),
        ("docs/jwt.ts", &["jwt.ts"], false),
        ("src/auth/[id].ts", &["src/auth/[id].ts"], true),
        ("src/auth/i.ts", &["src/auth/[id].ts"], true),
        // Cases of our own.
        ("src/auth/x.ts", &[], false),
        ("src/auth/x.ts", &["src/auth"], false),
        ("src/auth", &["src/auth/"], false),
        ("src/auth", &["src/auth/**"], false),
        ("jwt.ts", &["jwt.ts"], true),
        ("a.ts", &["*.ts"], true),
        ("src/a.ts", &["*.ts"], false),
        ("src/a/b.ts", &["src/*"], false),
        ("src/.env", &["src/**"], true),
        (".github/workflows/ci.yml", &["**"], true),
        ("src/x", &["src/?"], true),
        ("src//x", &["src/?"], true),
        ("src/a/b/c.ts", &["src/**/c.ts"], true),
        ("src/c.ts", &["src/**/c.ts"], true),
        ("tests/a.rs", &["/tests/"], true),
        ("src/tests/a.rs", &["/tests/"], false),
        ("src/a.ts", &["./src/a.ts"], true),
        ("app/[slug]/page.tsx", &["app/[slug]/"], true),
        // The last entry that matches decides, whether it includes or excludes.
        ("a/b.ts", &["!a/b.ts", "a/**"], true),
        ("a/b.ts", &["a/**", "!a/**", "a/b.ts"], true),
        ("a/[x].ts", &["a/[x].ts", "!a/**"], false),
        ("a/b.ts", &["!a/b.ts"], false),
        // No scope owns the registry.
        (".orchestration/active_intents.yaml", &["**", ".orchestration/**"], false),
        ("sub/.orchestration/x", &["**", "sub/**", "sub/.orchestration/x"], false),
        (".Orchestration/x", &["**"], false),
        // An entry that is not valid widens nothing.
        ("src/a.ts", &["src/[a", "src/a.ts"], true),
        ("src/a.ts", &["src/**", "!src/[a"], false),
        ("src/a.ts", &["../src/**"], false),
        ("src/a.ts", &["", "src/**"], true),
        ("src/!a.ts", &["src/!a.ts"], true),
        ("!a.ts", &["\\!a.ts"], true),
        ("srcauthx.ts", &["src\\auth\\x.ts"], false),
        // A class stands for one character of a name.
        ("src/x.rs", &["src[!a]x.rs"], false),
        ("src/x.rs", &["src[^a]x.rs"], false),
        ("src-x.rs", &["src[!a]x.rs"], true),
        ("srcax.rs", &["src[!a]x.rs"], false),
        ("lib/x", &["lib[+-9]**"], false),
        ("lib/x", &["lib[/]x"], false),
        ("lib5x", &["lib[0-9]x"], true),
        ("lib]x", &["lib[]a]x"], true),
        ("lib-x", &["lib[a-]x"], true),
    ];
    for (path, entries, wanted) in table {
        assert_eq!(owns(path, entries), *wanted, "{path} in {entries:?}");
    }
}

#[test]
fn the_deciding_entry_is_named() {
    let scope = Scope::new(&["src/**", "!src/x/", "src/x/y.ts"]);
    let verdict = |path: &str| scope.verdict(&RelativePath::new(path).unwrap());
    assert_eq!(verdict("src/a.ts"), ScopeVerdict::Owned(0));
    assert_eq!(verdict("src/x/z.ts"), ScopeVerdict::Excluded(1));
    assert_eq!(verdict("src/x/y.ts"), ScopeVerdict::Owned(2));
    assert_eq!(verdict("docs/a.md"), ScopeVerdict::Unmentioned);
}

#[test]
fn entries_have_limits() {
    let long = "a".repeat(513);
    let wide = format!("{{{}}}", vec!["a"; 1001].join(","));
    let product = "{a,b}".repeat(10);
    for bad in [
        long.as_str(),
        &wide,
        &product,
        "{a,{b,{c,d}}}",
        "a\u{0}b",
        "C:\\x",
        "~/x",
        "a/../b",
        "/",
        "a[+-9]b",
        "a[/]b",
        "a[!-a]b",
    ] {
        assert_eq!(Scope::new(&[bad]).errors().len(), 1, "{bad:?}");
    }
    for good in ["{a,{b,c}}/*.ts", &"a".repeat(512), "a/**/b", "größe/*.md"] {
        assert!(Scope::new(&[good]).errors().is_empty(), "{good:?}");
    }
    let many: Vec<String> = (0..257).map(|at| format!("f{at}")).collect();
    let scope = Scope::new(&many);
    assert_eq!(scope.errors().len(), 1);
    assert!(scope.owns(&RelativePath::new("f255").unwrap()));
    assert!(!scope.owns(&RelativePath::new("f256").unwrap()));
    // An exclusion after the limit still counts.
    let mut many = vec!["**".to_owned(); 256];
    many.push("!secret".into());
    assert!(!Scope::new(&many).owns(&RelativePath::new("secret").unwrap()));
}

/// `src/auth/link` leads to `/etc`. A scope compares paths as text, so the path is resolved first.
#[cfg(unix)]
#[test]
fn a_symlink_that_leads_outside_is_not_owned() {
    let folder = temporary_folder();
    std::fs::create_dir_all(folder.path().join(".orchestration")).unwrap();
    std::fs::create_dir_all(folder.path().join("src/auth")).unwrap();
    std::os::unix::fs::symlink("/etc", folder.path().join("src/auth/link")).unwrap();
    let root = ground::Root::find(folder.path(), &ground::Environment::of_process()).unwrap();
    let path = RelativePath::new("src/auth/link/passwd").unwrap();
    let scope = Scope::new(&["src/auth/**"]);
    assert!(scope.owns(&path), "lexically it looks owned");
    assert!(!root.resolve(&path).is_ok_and(|real| scope.owns(&real)));
    let plain = RelativePath::new("src/auth/new.ts").unwrap();
    assert!(root.resolve(&plain).is_ok_and(|real| scope.owns(&real)));
}

#[test]
fn a_scope_widens_another_if_it_may_own_more() {
    let widens = |base: &[&str], now: &[&str]| Scope::new(now).widens(&Scope::new(base));
    assert!(!widens(&["src/**"], &["src/**"]));
    assert!(!widens(&["./src/**"], &["src/**"]));
    assert!(!widens(&["src/**", "docs/"], &["docs/"]));
    assert!(!widens(&["src/**"], &["src/**", "!src/a.ts"]));
    assert!(!widens(&["src/**"], &["src/**", "src/a.ts"]));
    assert!(!widens(&["src/**"], &["src/a/**"]));
    assert!(widens(&["src/**"], &["src/**", "docs/a.md"]));
    assert!(widens(&["src/**"], &["**"]));
    assert!(widens(&["src/**", "!src/a.ts"], &["src/**"]));
    assert!(widens(&["src/**", "!src/a.ts"], &["!src/a.ts", "src/**"]));
    assert!(widens(&["src/**", "!src/a.ts"], &["src/**", "!src/a.ts", "src/a.ts"]));
    assert!(widens(&[], &["a"]));
    assert!(widens(&["src/**", "!src/[a"], &["src/**"]));
    assert!(!widens(&["src/**"], &["src/**", "!src/[a"]));
    assert!(!widens(&["src/**"], &["src/**", "../x", ".orchestration/**"]));
}

fn segment() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "src", "x.ts", "y.md", ".env", "]b"])
        .prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(segment(), 1..4).prop_map(|parts| parts.join("/"))
}

fn entry() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "b",
        "src",
        "x.ts",
        "*",
        "**",
        "*.ts",
        "?",
        "{a,b}",
        "[ab]",
        "x.*",
        "x.{ts,md}",
        "s[!q]c",
        "[]a]b*",
    ]);
    (any::<bool>(), prop::collection::vec(part, 1..4), any::<bool>()).prop_map(
        |(not, parts, slash)| {
            let (not, slash) = (if not { "!" } else { "" }, if slash { "/" } else { "" });
            format!("{not}{}{slash}", parts.join("/"))
        },
    )
}

/// A simple second implementation of the rules: each entry is one glob, and the last match decides.
fn naive(path: &str, entries: &[String]) -> bool {
    let last = entries.iter().rev().find(|entry| {
        let pattern = entry.trim_start_matches('!');
        let whole =
            if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() };
        let glob = globset::GlobBuilder::new(&whole.replace("[!q]", "[!/q]"))
            .literal_separator(true)
            .build()
            .expect("the strategy makes globs");
        pattern == path || glob.compile_matcher().is_match(path)
    });
    last.is_some_and(|entry| !entry.starts_with('!'))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn the_fast_path_matches_like_the_globs(entries in prop::collection::vec(entry(), 0..5), path in path()) {
        let fast = Scope::new(&entries);
        prop_assert_eq!(fast.owns(&RelativePath::new(&path).unwrap()), naive(&path, &entries), "{:?}", entries);
    }

    #[test]
    fn a_scope_that_does_not_widen_owns_no_more(
        base in prop::collection::vec(entry(), 0..4),
        extra in prop::collection::vec(entry(), 0..2),
        dropped in 0usize..4,
        paths in prop::collection::vec(path(), 20),
    ) {
        let mut now = base.clone();
        if dropped < now.len() { now.remove(dropped); }
        now.extend(extra);
        let (base, now) = (Scope::new(&base), Scope::new(&now));
        if !now.widens(&base) {
            for path in paths {
                let path = RelativePath::new(&path).unwrap();
                prop_assert!(!now.owns(&path) || base.owns(&path), "{}", path);
            }
        }
    }

    #[test]
    fn no_entry_panics(entries in prop::collection::vec("\\PC{0,20}", 0..4), path in "[a-z./\\[\\]]{1,12}") {
        let scope = Scope::new(&entries);
        if let Ok(path) = RelativePath::new(&path) { scope.owns(&path); }
        scope.errors();
    }
}

fn files(names: &[&str]) -> Vec<RelativePath> {
    names.iter().map(|name| RelativePath::new(name).expect("a path inside")).collect()
}

#[test]
fn findings_name_entries_that_match_no_file() {
    let text = "active_intents:
  - id: A
    name: a
    status: IN_PROGRESS
    owned_scope: [src, 'lib', nothing/**, \"src/x.ts\", '!lib', src/]
  - id: B
    name: b
    status: IN_PROGRESS
    owned_scope: [src/x.ts]
  - id: C
    name: c
    status: COMPLETED
    owned_scope: [gone.ts, src/x.ts]
";
    let path = RelativePath::new(".orchestration/active_intents.yaml").unwrap();
    let registry = Registry::parse(path, text);
    let found = lint::against_files(&registry, &files(&["src/x.ts", "src/y.ts", "lib/z.ts"]));
    let said: Vec<String> = found
        .iter()
        .map(|one| {
            format!("{} {} {}", one.code.as_str(), &text[one.span.clone().unwrap()], one.message)
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
    let fixes: Vec<&str> =
        found.iter().flat_map(|one| &one.fixes).map(|fix| fix.edits[0].text.as_str()).collect();
    assert_eq!(fixes, ["src/", "'lib/'", "'!lib/'"]);
}

/// The check runs whenever a file appears, so it must be quick: here with 10,000 files and 50 intents in progress.
#[test]
#[ignore = "slow"]
fn findings_about_many_files_are_quick() {
    let mut text = String::from("active_intents:\n");
    for at in 0..50 {
        text.push_str(&format!(
            "  - id: INT-{at}\n    name: n\n    status: IN_PROGRESS\n    owned_scope: [\"pkg{at}/src/**\", \"pkg{at}/tests/\", \"docs/{at}.md\", \"pkg{at}/**/*.rs\", \"!pkg{at}/src/{{a,b}}/**\", \"**/f{at}.{{ts,tsx}}\"]\n"
        ));
    }
    let names: Vec<String> =
        (0..10_000).map(|at| format!("pkg{}/src/d{}/f{at}.ts", at % 100, at % 7)).collect();
    let files: Vec<RelativePath> =
        names.iter().map(|name| RelativePath::new(name).unwrap()).collect();
    let path = RelativePath::new(".orchestration/active_intents.yaml").unwrap();
    let registry = Registry::parse(path, &text);
    let begun = Instant::now();
    let found = lint::against_files(&registry, &files);
    let took = begun.elapsed();
    assert!(!found.is_empty());
    // A debug build is slow and shares its machine, so the limit only finds a cost that grows with the square.
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn an_invalid_entry_is_reported_once_and_escaped() {
    let text = "active_intents:\n  - id: A\n    name: n\n    status: DRAFT\n    owned_scope: [\"a/[\", \"b\\u202Ec\"]\n";
    let registry = Registry::parse(RelativePath::new("r.yaml").unwrap(), text);
    let told = |found: Vec<ground::Finding>| -> Vec<String> {
        found.iter().map(|it| format!("{}: {}", it.code.as_str(), it.message)).collect()
    };
    let own = told(lint::registry(&registry));
    assert!(
        own.iter().any(|it| it.starts_with("glob-invalid: \"a/[\" is no scope entry")),
        "{own:?}"
    );
    let against = told(lint::against_files(&registry, &files(&["x.rs"])));
    assert_eq!(against, ["glob-matches-nothing: \"bU+202Ec\" matches no file."]);
}
