//! The answers of the gate, one rule a test.

use crate::support::Repo;
use judgement::gate::{Decision, DenialCode, GateRequest, judge};
use overview::select;

fn ask(repo: &Repo, intent: Option<&str>, path: &str) -> Result<(), (DenialCode, String)> {
    let request = GateRequest {
        paths: vec![path.to_owned()],
        session: None,
        intent: intent.map(str::to_owned),
    };
    match judge(&repo.open(), &request) {
        Decision::NoOpinion => Ok(()),
        Decision::Ask(denial) | Decision::Deny(denial) => Err((denial.code, denial.message)),
    }
}

fn code(repo: &Repo, intent: Option<&str>, path: &str) -> Option<DenialCode> {
    ask(repo, intent, path).err().map(|(code, _)| code)
}

#[test]
fn each_rule_has_its_code() {
    let repo = Repo::new();
    repo.write(".orchestration/policy.yaml", "protected_paths: [\"src/vault/**\"]\n");
    repo.write(".intentignore", "# intent: deny-write\nsrc/keys/\n");
    repo.write(".gitignore", "/target/\n");
    let one = Some("INT-001");
    assert_eq!(code(&repo, one, "src/a.rs"), None);
    assert_eq!(code(&repo, one, "target/out.bin"), None, "what git ignores is outside the gate");
    assert_eq!(code(&repo, None, "src/a.rs"), Some(DenialCode::IntentRequired));
    assert_eq!(code(&repo, Some("INT-404"), "src/a.rs"), Some(DenialCode::UnknownIntent));
    assert_eq!(code(&repo, Some("INT-003"), "old/a.rs"), Some(DenialCode::IntentNotActive));
    assert_eq!(code(&repo, one, "billing/a.rs"), Some(DenialCode::ScopeViolation));
    assert_eq!(code(&repo, one, "src/vault/a.rs"), Some(DenialCode::ProtectedPath));
    assert_eq!(code(&repo, one, "src/keys/a.rs"), Some(DenialCode::IgnoredPath));
    assert_eq!(code(&repo, one, "src/../billing/a.rs"), Some(DenialCode::ScopeViolation));
    assert_eq!(code(&repo, one, "../elsewhere.rs"), Some(DenialCode::ScopeViolation));
}

#[test]
fn a_rule_can_close_a_path_to_one_intent() {
    let repo = Repo::new();
    let registry = crate::support::REGISTRY
        .replace("billing/**", "src/**")
        .replace("  - id: INT-002\n", "  - id: INT-002\n    formerly: [INT-020]\n");
    repo.write(".orchestration/active_intents.yaml", &registry);
    repo.write(
        ".intentignore",
        "# intent: deny-write\nINT-002: src/generated/**\nINT-020: src/old.rs\nINT-099: src/**\n",
    );
    assert_eq!(code(&repo, Some("INT-001"), "src/generated/a.rs"), None);
    let (denied, message) = ask(&repo, Some("INT-002"), "src/generated/a.rs").expect_err("denied");
    assert_eq!(denied, DenialCode::IgnoredPath);
    assert!(
        message.contains("kept from INT-002 by `INT-002: src/generated/**` (.intentignore:2)"),
        "{message}"
    );
    assert_eq!(code(&repo, Some("INT-002"), "src/old.rs"), Some(DenialCode::IgnoredPath));
    assert_eq!(code(&repo, Some("INT-002"), "src/a.rs"), None);
    let found = crate::support::binary::intent(&repo, &["--json", "verify"]).json();
    let found = found["findings"].as_array().expect("findings");
    let strangers: Vec<_> =
        found.iter().filter(|finding| finding["code"] == "unknown-intent").collect();
    assert_eq!(strangers.len(), 1, "{found:?}");
    assert_eq!(
        (&strangers[0]["path"], &strangers[0]["start_line"]),
        (&".intentignore".into(), &4.into())
    );
}

#[test]
fn no_scope_includes_the_protected_files() {
    let repo = Repo::new();
    repo.write(
        ".orchestration/active_intents.yaml",
        &crate::support::REGISTRY.replace("src/**", "**"),
    );
    for path in [
        ".orchestration/active_intents.yaml",
        "sub/.orchestration/policy.yaml",
        ".intentignore",
        ".rooignore",
        ".gitattributes",
        "sub/.gitattributes",
        ".git-blame-ignore-revs",
        ".git/config",
        ".mcp.json",
    ] {
        assert_eq!(code(&repo, Some("INT-001"), path), Some(DenialCode::ProtectedPath), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_path_through_a_link_is_judged_by_its_target() {
    let repo = Repo::new();
    repo.write("billing/b.rs", "");
    std::fs::create_dir_all(repo.root().join("src")).expect("a folder");
    std::os::unix::fs::symlink("/etc", repo.root().join("src/etc")).expect("a link");
    std::os::unix::fs::symlink("../billing", repo.root().join("src/money")).expect("a link");
    std::os::unix::fs::symlink("../.orchestration", repo.root().join("src/rules")).expect("a link");
    assert_eq!(code(&repo, Some("INT-001"), "src/etc/passwd"), Some(DenialCode::ScopeViolation));
    assert_eq!(code(&repo, Some("INT-001"), "src/money/b.rs"), Some(DenialCode::ScopeViolation));
    assert_eq!(
        code(&repo, Some("INT-001"), "src/rules/policy.yaml"),
        Some(DenialCode::ProtectedPath)
    );
}

#[test]
fn a_denial_says_what_to_do() {
    let repo = Repo::new();
    let (_, message) = ask(&repo, Some("INT-001"), "billing/b.rs").expect_err("denied");
    assert_eq!(
        message,
        "Scope Violation: INT-001 is not authorized to edit billing/b.rs. Request scope expansion with \
         `intent request-scope --intent INT-001 --add billing/b.rs --reason 'why it is needed'`. billing/b.rs belongs to INT-002 (Billing). INT-001 owns src/**."
    );
    let (_, message) = ask(&repo, None, "billing/b.rs").expect_err("denied");
    assert_eq!(
        message,
        "You must cite a valid active Intent ID. INT-002 (Billing) owns billing/b.rs: select it."
    );
    let (_, message) = ask(&repo, None, "docs/b.md").expect_err("denied");
    assert_eq!(
        message,
        "You must cite a valid active Intent ID. No intent in progress owns docs/b.md. `intent request-scope \
         --intent ID --add docs/b.md --reason 'why it is needed'` asks a person to widen one, and `intent \
         propose NAME --scope docs/b.md --reason 'why it is needed'` to make one."
    );
}

#[test]
fn a_denial_about_several_files_says_who_owns_which() {
    let repo = Repo::new();
    let told = |paths: &[&str]| {
        let paths = paths.iter().map(|path| (*path).into()).collect();
        let request = GateRequest { paths, session: None, intent: None };
        let Decision::Deny(denial) = judge(&repo.open(), &request) else { panic!("no denial") };
        denial.message
    };
    let message = told(&["billing/b.rs", "src/a.rs"]);
    for part in ["INT-002 (Billing) owns billing/b.rs", "INT-001 (Sign in) owns src/a.rs"] {
        assert!(message.contains(part), "{message}");
    }
    // A file without an owner is the one about which something can be done.
    let message = told(&["src/a.rs", "docs/b.md"]);
    assert!(message.contains("No intent in progress owns docs/b.md."), "{message}");
    let message = told(&["src/a.rs", "src/b.rs"]);
    assert!(message.contains("INT-001 (Sign in) owns src/a.rs and the rest"), "{message}");
}

#[test]
fn rules_that_cannot_be_read_deny() {
    let repo = Repo::new();
    repo.write(".orchestration/policy.yaml", "mode: [nonsense\n");
    assert_eq!(code(&repo, Some("INT-001"), "src/a.rs"), Some(DenialCode::HookError));
    repo.remove(".orchestration/policy.yaml");
    repo.write(".orchestration/active_intents.yaml", "active_intents:\n  - id: [\n");
    assert_eq!(code(&repo, Some("INT-001"), "src/a.rs"), Some(DenialCode::HookError));
}

#[test]
fn each_session_has_a_selection_of_its_own() {
    let repo = Repo::new();
    select::select(&repo.open(), "INT-001", None).expect("selected");
    select::select(&repo.open(), "INT-002", Some("test:1")).expect("selected");
    assert_eq!(code(&repo, None, "src/a.rs"), None);
    let of_session = GateRequest {
        paths: vec!["src/a.rs".into()],
        session: Some("test:1".into()),
        intent: None,
    };
    assert!(
        matches!(judge(&repo.open(), &of_session), Decision::Deny(denial) if denial.code == DenialCode::ScopeViolation)
    );
    let unknown = GateRequest { session: Some("test:2".into()), ..of_session };
    assert!(
        matches!(judge(&repo.open(), &unknown), Decision::Deny(denial) if denial.code == DenialCode::IntentRequired)
    );
    select::clear(&repo.open()).expect("cleared");
    assert_eq!(code(&repo, None, "src/a.rs"), Some(DenialCode::IntentRequired));
}

#[test]
fn observe_mode_denies_nothing_and_ask_mode_asks() {
    let repo = Repo::new();
    let request = GateRequest {
        paths: vec!["billing/b.rs".into()],
        session: None,
        intent: Some("INT-001".into()),
    };
    repo.write(".orchestration/policy.yaml", "mode: observe\n");
    assert_eq!(judge(&repo.open(), &request), Decision::NoOpinion);
    repo.write(".orchestration/policy.yaml", "mode: ask\n");
    assert!(matches!(judge(&repo.open(), &request), Decision::Ask(_)));
}

#[test]
fn rules_for_paths_hold_for_every_intent() {
    let repo = Repo::new();
    repo.write(
        ".orchestration/policy.yaml",
        "rules:\n  - {paths: [src/asked/**], decision: ask}\n  - {paths: [src/closed/**], decision: deny}\n",
    );
    let one = Some("INT-001");
    assert_eq!(code(&repo, one, "src/asked/a.rs"), Some(DenialCode::ApprovalRequired));
    assert_eq!(code(&repo, one, "src/closed/a.rs"), Some(DenialCode::DestructiveBlocked));
    assert_eq!(code(&repo, one, "billing/a.rs"), Some(DenialCode::ScopeViolation));
    repo.write(
        ".orchestration/policy.yaml",
        "mode: observe\nrules:\n  - {paths: [src/**], decision: deny}\n",
    );
    assert_eq!(code(&repo, one, "src/a.rs"), None);
}

#[test]
fn an_id_that_is_defined_twice_permits_no_write() {
    let repo = Repo::new();
    let beside = ".orchestration/intents/INT-001.yaml";
    repo.write(
        beside,
        "id: INT-001\nname: Another\nstatus: IN_PROGRESS\nowned_scope: [\"src/**\"]\n",
    );
    let (code, message) = ask(&repo, Some("INT-001"), "src/a.rs").unwrap_err();
    assert_eq!(code, DenialCode::UnknownIntent);
    assert!(
        message.contains("active_intents.yaml:2 and at .orchestration/intents/INT-001.yaml:1"),
        "{message}"
    );
    assert!(message.ends_with("Select one of: INT-002 (Billing)."), "{message}");
    let refused = select::select(&repo.open(), "INT-001", None).unwrap_err().to_string();
    assert!(refused.contains("defines INT-001 more than once"), "{refused}");
    // A file with a single intent counts like an entry of the list.
    let text = repo.read(beside).replace("INT-001", "INT-004");
    repo.write(".orchestration/intents/INT-004.yaml", &text);
    repo.write(beside, "");
    assert_eq!(ask(&repo, Some("INT-004"), "src/a.rs"), Ok(()));
    assert_eq!(ask(&repo, Some("INT-001"), "src/a.rs"), Ok(()));
    // A file that does not parse could define anything, so nothing is allowed.
    repo.write(beside, "id: [");
    let (code, message) = ask(&repo, Some("INT-004"), "src/a.rs").unwrap_err();
    assert_eq!(code, DenialCode::HookError, "{message}");
}
