//! Anchors and tombstones: what people sign, and the findings about missing or wrong signatures.

use std::process::Command;

use evidence::erase::{draft, write};
use ledger::evidence::ERASURE;
use serde_json::Value;
use why::Workspace;

use super::lab::{Lab, masked, transcript};

/// A repository with evidence of two commits that trusts Ada's key, with the keys of Ada and Eve beside it.
fn trusting() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
        for name in ["ada", "eve"] {
            lab.make_key(name);
        }
        let key = lab.read("../ada.pub");
        lab.write(".orchestration/allowed_signers", format!("ada@example.invalid {key}"));
        lab.commit();
        for (file, session) in [("src/a.rs", "codex:1"), ("src/b.rs", "codex:2")] {
            lab.write(file, "fn one() {\n    call();\n}\n");
            lab.fine(&[
                "record",
                file,
                "--intent",
                "INT-001",
                "--agent",
                "codex",
                "--session",
                session,
            ]);
            lab.commit();
        }
        lab
    })
}

/// Returns the codes of the findings about the ledger.
fn codes(lab: &Lab, arguments: &[&str]) -> Vec<String> {
    let told = lab.json(arguments);
    let all = told["findings"].as_array().expect("findings").iter();
    let codes = all.filter_map(|finding| finding["code"].as_str());
    codes.filter(|code| !code.starts_with("scope")).map(str::to_owned).collect()
}

fn record(lab: &Lab, file: &str) -> String {
    lab.json(&["why", file])["blocks"][0]["record"].as_str().expect("a record").to_owned()
}

/// Does what `intent evidence erase` does after a person has typed `yes`.
fn erase(lab: &Lab, record: &str, key: Option<&str>) {
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let drafted = draft(&ws, record, "names a customer", Some("Ada".into())).expect("a line");
    let signature = key.map(|key| {
        lab.write("../line", &drafted.tombstone);
        let (key, line) = (lab.root.join("..").join(key), lab.root.join("../line"));
        let mut program = Command::new("ssh-keygen");
        program.args(["-q", "-Y", "sign", "-n", ERASURE, "-f"]).arg(key).arg(&line);
        assert!(program.status().expect("ssh-keygen runs").success());
        let armoured = lab.read("../line.sig");
        std::fs::remove_file(lab.root.join("../line.sig")).expect("removed");
        armoured.lines().filter(|line| !line.starts_with('-')).collect::<String>()
    });
    write(&ws, record, &drafted, signature.as_deref()).expect("erased");
    lab.commit();
}

fn first_evidence(lab: &Lab) -> String {
    let listed = lab.git_says(&["ls-files", ".orchestration/agent_trace/2*"]);
    listed.lines().next().expect("evidence").to_owned()
}

#[test]
#[ignore = "slow"]
fn an_anchor_shows_which_evidence_is_missing() {
    let lab = trusting();
    assert_eq!(lab.json(&["verify"])["anchors"], Value::Null);
    let anchor = lab.json(&["anchor", "--key", "../ada"]);
    assert_eq!((&anchor["sections"], &anchor["trusted"]), (&3.into(), &true.into()));
    lab.commit();
    // An anchor names only new evidence, and without any there is no anchor.
    assert_eq!(lab.intent(&["anchor", "--key", "../ada"]).status.code(), Some(2));
    lab.write("src/c.rs", "fn three() {\n    call();\n}\n");
    lab.fine(&["record", "src/c.rs", "--intent", "INT-001", "--agent", "codex"]);
    lab.commit();
    assert_eq!(lab.json(&["verify"])["anchors"]["anchored"], 3);
    assert_eq!(lab.json(&["anchor", "--key", "../ada"])["sections"], 1);
    lab.commit();
    let anchors = &lab.json(&["verify"])["anchors"];
    assert_eq!((&anchors["anchored"], &anchors["sections"]), (&4.into(), &4.into()));
    assert_eq!(anchors["by"][0]["signer"], "ada@example.invalid");
    assert!(codes(&lab, &["verify"]).is_empty());
    // A fresh clone knows only from the anchor that evidence is missing.
    lab.run_git(&["rm", "-q", &first_evidence(&lab)]);
    lab.run_git(&["commit", "-q", "-n", "-m", "drop"]);
    lab.run_git(&["clone", "-q", ".", "../clone"]);
    assert_eq!(codes(&lab, &["-C", "../clone", "verify"]), ["anchor-broken"]);
    assert_eq!(lab.intent(&["anchor", "--key", "../ada"]).status.code(), Some(2));
    lab.fine(&["anchor", "--key", "../ada", "--accept-gone"]);
    lab.commit();
    assert!(codes(&lab, &["verify"]).is_empty());
}

#[test]
#[ignore = "slow"]
fn an_anchor_needs_its_name_its_signature_and_a_trusted_key() {
    let lab = trusting();
    let said = lab.fine(&["anchor", "--key", "../eve"]);
    assert!(said.contains("no trusted signer has this key"), "{said}");
    lab.commit();
    let told = lab.json(&["verify"]);
    assert_eq!(told["anchors"]["anchored"], 0);
    assert_eq!(told["anchors"]["untrusted"].as_array().map(Vec::len), Some(1));
    assert!(codes(&lab, &["verify"]).is_empty());
    // The git configuration of the machine may trust Eve's key; the work tree alone may not.
    lab.write("../eve_signers", format!("eve {}", lab.read("../eve.pub")));
    lab.write(".orchestration/allowed_signers", format!("eve {}", lab.read("../eve.pub")));
    assert_eq!(lab.json(&["verify"])["anchors"]["anchored"], 0);
    lab.run_git(&["config", "gpg.ssh.allowedSignersFile", "../eve_signers"]);
    assert_eq!(lab.json(&["verify"])["anchors"]["anchored"], 3);
    // Changed bytes under the same name, and then under the name of their own digest.
    let path = lab.git_says(&["ls-files", ".orchestration/anchors"]).trim().to_owned();
    let forged = lab.read(&path).replace("\"time\":\"2", "\"time\":\"3");
    lab.write(&path, &forged);
    assert_eq!(codes(&lab, &["verify"]), ["anchor-broken"]);
    assert_eq!(codes(&lab, &["check"]), ["ledger-rewritten"]);
    std::fs::remove_file(lab.root.join(&path)).expect("removed");
    lab.write(ledger::anchor::path_of(forged.as_bytes()).as_str(), &forged);
    assert_eq!(codes(&lab, &["verify"]), ["anchor-broken"]);
}

#[test]
#[ignore = "slow"]
fn a_tombstone_needs_a_signature_that_the_base_trusts() {
    let lab = trusting();
    lab.fine(&["anchor", "--key", "../ada"]);
    lab.commit();
    let (gone, other) = (record(&lab, "src/a.rs"), lab.json(&["why", "src/b.rs"]));
    lab.run_git(&["switch", "-q", "-c", "signed"]);
    erase(&lab, &gone, Some("ada"));
    assert_eq!(lab.json(&["why", "src/a.rs"])["blocks"][0]["verdict"], "unrecorded");
    assert_eq!(lab.json(&["why", "src/b.rs"]), other);
    assert!(codes(&lab, &["verify"]).is_empty(), "an anchor still names the section");
    assert!(codes(&lab, &["check", "--base", "main"]).is_empty());
    let note = lab.json(&["check", "--base", "main"])["summary"]["notes"].to_string();
    assert!(note.contains("ada@example.invalid erased a line"), "{note}");
    for (branch, key) in [("unsigned", None), ("by-eve", Some("eve"))] {
        lab.run_git(&["switch", "-q", "-c", branch, "main"]);
        erase(&lab, &gone, key);
        assert_eq!(codes(&lab, &["verify"]), ["ledger-rewritten"], "{branch}");
        assert_eq!(codes(&lab, &["check", "--base", "main"]), ["ledger-rewritten"], "{branch}");
    }
    // The command of the finding undoes the change.
    let told = lab.json(&["verify"]);
    let all = told["findings"].as_array().expect("findings").iter();
    let mut helps = all.filter(|one| one["code"] == "ledger-rewritten");
    let help = helps.next().and_then(|one| one["help"].as_str()).expect("help");
    let words: Vec<&str> = help.split('`').nth(1).expect("a command").split(' ').collect();
    for command in words.split(|word| *word == "&&") {
        lab.run_git(&command[1..]);
    }
    assert!(codes(&lab, &["verify"]).is_empty());
}

#[test]
#[ignore = "slow"]
fn a_tombstone_hides_no_other_change() {
    let lab = trusting();
    let gone = record(&lab, "src/a.rs");
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    erase(&lab, &gone, Some("ada"));
    let listed = lab.git_says(&["diff", "--name-only", "--diff-filter=AR", "main"]);
    let path = listed.lines().next().expect("the new file").to_owned();
    let changed = lab.read(&path).replace("codex:1", "codex:9");
    std::fs::remove_file(lab.root.join(&path)).expect("removed");
    let digest = ledger::Digest::compute(changed.as_bytes());
    let month = path.rsplit('/').nth(1).expect("a month");
    lab.write(&format!(".orchestration/agent_trace/{month}/{digest}.jsonl"), &changed);
    lab.commit();
    assert_eq!(codes(&lab, &["check", "--base", "main"]), ["ledger-rewritten"]);
}

#[test]
#[ignore = "slow"]
fn impossible_erasures_and_anchors_are_explained() {
    let lab = trusting();
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let refused =
        |record: &str, why: &str| draft(&ws, record, why, None).expect_err("no").to_string();
    let told = [refused("nothing", "x"), refused(&record(&lab, "src/a.rs"), " ")].join("\n");
    let line = ["erase", "x", "--why", "y"];
    let told = told
        + "\n"
        + &String::from_utf8_lossy(&lab.intent(&line).stderr)
        + &transcript(&lab, &["anchor", "anchor --key ../nobody"]);
    insta::assert_snapshot!(masked(&lab, &told));
    for verb in ["erase", "anchor"] {
        let read = lab.fine(&["explain", "--json", &format!("intent {verb}")]);
        assert!(read.contains(&format!("intent.{verb}")) && read.contains("destructive"), "{read}");
    }
}
