//! `intent evidence attest` and `intent evidence verify --attestation`.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::lab::Lab;

const FILE: &str = "attestation.json";

/// A repository that trusts Ada's key, with two commits of recorded lines, and the keys of Ada and Eve
/// beside it.
fn trusting() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
        lab.make_key("ada");
        lab.make_key("eve");
        let key = lab.read("../ada.pub");
        lab.write(
            ".orchestration/allowed_signers",
            format!("ada@example.invalid namespaces=\"intent-attestation\" {key}"),
        );
        lab.commit();
        for (file, who) in [("src/a.rs", &["--agent", "codex"][..]), ("src/b.rs", &["--me"])] {
            lab.write(file, "fn one() {\n    call();\n}\n");
            lab.fine(&[&["record", "--intent", "INT-001", file], who].concat());
            lab.commit();
        }
        lab
    })
}

/// Attests the last two commits and a file of their rows, signed by Ada.
fn attested() -> Lab {
    let lab = trusting();
    lab.write("rows/claims.jsonl", lab.fine(&["export", "--range", "HEAD~2..HEAD"]));
    let line = ["attest", "HEAD~2..HEAD", "--repo", "forge/shop", "--key", "../ada"];
    lab.write(FILE, lab.fine(&[&line[..], &["--file", "rows/claims.jsonl"]].concat()));
    lab
}

fn statement(envelope: &Value) -> Value {
    let payload = STANDARD.decode(envelope["payload"].as_str().expect("a text")).expect("base64");
    serde_json::from_slice(&payload).expect("JSON")
}

fn envelope(lab: &Lab) -> Value {
    serde_json::from_str(&lab.read(FILE)).expect("JSON")
}

/// Writes an attestation with another statement, with Ada's signature of it.
fn resign(lab: &Lab, statement: &Value) {
    let payload = statement.to_string();
    let kind = "application/vnd.in-toto+json";
    lab.write("../signed", format!("DSSEv1 28 {kind} {} {payload}", payload.len()));
    let mut program = Command::new("ssh-keygen");
    program.args(["-q", "-Y", "sign", "-n", "intent-attestation", "-f"]);
    program.arg(lab.root.join("../ada")).arg(lab.root.join("../signed"));
    assert!(program.status().expect("ssh-keygen runs").success());
    let signature = lab.read("../signed.sig");
    std::fs::remove_file(lab.root.join("../signed.sig")).expect("removed");
    let signature: String = signature.lines().filter(|line| !line.starts_with('-')).collect();
    let envelope = json!({
        "payloadType": kind,
        "payload": STANDARD.encode(payload),
        "signatures": [{ "keyid": "", "sig": signature }],
    });
    lab.write(FILE, envelope.to_string());
}

/// Returns what is wrong with the attestation.
fn problems(lab: &Lab) -> Vec<String> {
    let told = lab.json(&["verify", "--attestation", FILE]);
    let all = told["problems"].as_array().unwrap_or_else(|| panic!("{told}")).iter();
    all.map(|problem| problem.as_str().expect("a text").to_owned()).collect()
}

#[test]
#[ignore = "slow"]
fn an_attestation_says_who_brought_the_lines_of_a_range() {
    let lab = attested();
    let envelope = envelope(&lab);
    let head = lab.read_git(&["rev-parse", "HEAD", "HEAD~2"]);
    let [head, base] = head.lines().collect::<Vec<_>>()[..] else { panic!("{head}") };
    let said = statement(&envelope);
    assert_eq!(said["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(said["predicateType"], "urn:intent-lsp:attestation:v1");
    assert_eq!(
        said["subject"][0],
        json!({ "name": "forge/shop", "digest": { "gitCommit": head } })
    );
    let hash = ground::store::sha256(lab.read("rows/claims.jsonl").as_bytes());
    assert_eq!(
        said["subject"][1],
        json!({ "name": "rows/claims.jsonl", "digest": { "sha256": hash } })
    );
    let predicate = &said["predicate"];
    assert_eq!((&predicate["from"], &predicate["to"]), (&base.into(), &head.into()));
    assert_eq!(predicate["commits"], 2);
    assert_eq!(predicate["lines"], json!({ "total": 6, "contributors": { "AI": 3, "HUMAN": 3 } }));
    assert_eq!(predicate["intents"][0]["id"], "INT-001");
    assert_eq!(predicate["intents"][0]["lines"], 6);
    assert_eq!(predicate["findings"]["error"], 0);
    assert_eq!(predicate["evidence"].as_array().map(Vec::len), Some(2));
    let told = lab.json(&["verify", "--attestation", FILE]);
    assert_eq!(told["signers"], json!(["ada@example.invalid"]), "{told}");
    assert_eq!(told["problems"], json!([]));
    let keyid = envelope["signatures"][0]["keyid"].as_str().expect("a text");
    let known = Command::new("ssh-keygen").arg("-lf").arg(lab.root.join("../ada.pub")).output();
    let known = String::from_utf8(known.expect("ssh-keygen runs").stdout).expect("UTF-8");
    assert_eq!(Some(keyid), known.split(' ').nth(1));
    // It is true in every clone, where the file lies at the same place.
    lab.run_git(&["clone", "-q", ".", "../clone"]);
    for file in [FILE, "rows/claims.jsonl"] {
        lab.write(&format!("../clone/{file}"), lab.read(file));
    }
    lab.fine(&["-C", "../clone", "verify", "--attestation", FILE]);
}

#[test]
#[ignore = "slow"]
fn an_attestation_without_a_trusted_signature_is_refused() {
    let lab = attested();
    let unsigned = lab.fine(&["attest", "HEAD~2..HEAD", "--repo", "forge/shop"]);
    assert!(unsigned.contains("\"signatures\":[]"), "{unsigned}");
    lab.write(FILE, unsigned);
    assert_eq!(problems(&lab), ["nobody who is trusted has signed it"]);
    let line = ["attest", "HEAD~2..HEAD", "--key", "../eve"];
    lab.write(FILE, lab.fine(&line));
    assert_eq!(problems(&lab), ["nobody who is trusted has signed it"]);
    let told = lab.intent(&["verify", "--attestation", FILE]);
    assert_eq!(told.status.code(), Some(1));
}

#[test]
#[ignore = "slow"]
fn what_was_changed_after_the_signature_is_noticed() {
    let lab = attested();
    let good = envelope(&lab);
    let mut said = statement(&good);
    said["predicate"]["lines"]["contributors"] = json!({ "AI": 1, "HUMAN": 5 });
    let mut forged = good.clone();
    forged["payload"] = STANDARD.encode(said.to_string()).into();
    lab.write(FILE, forged.to_string());
    let found = problems(&lab);
    assert!(found.contains(&"it does not fit its signature".to_owned()), "{found:?}");
    assert!(found.iter().any(|one| one.contains("says something else")), "{found:?}");
    lab.write(FILE, good.to_string());
    lab.write("rows/claims.jsonl", "{}\n");
    assert_eq!(problems(&lab), ["rows/claims.jsonl has other content"]);
    std::fs::remove_file(lab.root.join("rows/claims.jsonl")).expect("removed");
    assert_eq!(problems(&lab), ["rows/claims.jsonl cannot be read as a file here"]);
}

#[test]
#[ignore = "slow"]
fn a_signature_does_not_make_a_statement_true() {
    let lab = attested();
    let good = statement(&envelope(&lab));
    resign(&lab, &good);
    assert!(problems(&lab).is_empty());
    let mut other_range = good.clone();
    other_range["predicate"]["from"] = lab.read_git(&["rev-parse", "HEAD~1"]).trim().into();
    resign(&lab, &other_range);
    let found = problems(&lab);
    assert!(matches!(&found[..], [one] if one.contains("says something else")), "{found:?}");
    let mut other_commit = good.clone();
    other_commit["subject"][0]["digest"]["gitCommit"] = good["predicate"]["from"].clone();
    resign(&lab, &other_commit);
    assert_eq!(problems(&lab), ["its subject is not the last commit of its range"]);
    let mut outside = good;
    outside["subject"][1]["name"] = "../ada.pub".into();
    resign(&lab, &outside);
    assert_eq!(problems(&lab), ["../ada.pub cannot be read as a file here"]);
}

#[test]
#[ignore = "slow"]
fn what_is_no_attestation_is_said() {
    let lab = attested();
    let good = envelope(&lab);
    let with = |key: &str, value: Value| {
        let mut changed = good.clone();
        changed[key] = value;
        changed.to_string()
    };
    for text in [
        "{}".to_owned(),
        with("payloadType", "text/plain".into()),
        with("payload", "?".into()),
        with("payload", STANDARD.encode("{}").into()),
    ] {
        lab.write(FILE, &text);
        let output = lab.intent(&["verify", "--attestation", FILE]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains("is no attestation"), "{told}");
    }
    for (arguments, said) in [
        (&["verify", "--attestation", "missing"][..], "missing"),
        (&["attest", "nowhere..HEAD"], "nowhere"),
        (&["attest", "HEAD", "--file", "../ada.pub"], "cannot be read as a file"),
        (&["attest", "HEAD", "--key", "../nobody"], "could not be signed"),
    ] {
        let output = lab.intent(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains(said), "{arguments:?}: {told}");
    }
}
