//! What `intent why` and `intent trace` are asked about: lines, revisions, ids, and what does not exist.

use crate::lab::{Lab, masked, transcript};

const SHOP: &str = "fn open() {\n    unlock(1);\n}\n\nfn close() {\n    lock(2);\n}\n";

/// A repository whose first commit was recorded for one intent, and changed for another in the second.
fn twice() -> Lab {
    let lab = Lab::governed();
    for (name, owner) in [("Doors", "@ada"), ("Alarms", "@bob")] {
        let constraint = ["--constraint", "No network"];
        lab.fine(
            &[&["new", name, "--scope", "src/**", "--owner", owner, "--start"], &constraint[..]]
                .concat(),
        );
    }
    lab.write("src/shop.rs", SHOP);
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex", "--all"]);
    lab.commit();
    lab.write("src/shop.rs", SHOP.replace("lock(2);", "lock(2);\n    arm(3);"));
    let session = ["--session", "claude-code:abc", "--model", "example/model-1"];
    let work = ["record", "src", "--intent", "INT-002", "--agent", "claude-code"];
    lab.fine(&[&work[..], &session].concat());
    lab.commit();
    lab
}

#[test]
fn lines_and_revisions() {
    let lab = twice();
    lab.write("src/HEAD:shop.rs", "fn odd() {}\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "why src/shop.rs:2-6",
            "why src/shop.rs:4-4",
            "why HEAD~1:src/shop.rs",
            "why HEAD~1:src/shop.rs:6",
            "-C src why HEAD~1:./shop.rs:6-7",
            "-C src why HEAD:shop.rs",
            "why HEAD~1:src/none.rs",
            "why nowhere:src/shop.rs",
            "why HEAD~1:src/shop.rs:8",
            "why HEAD~1:src/shop.rs:9",
        ]
    ));
}

#[test]
fn what_does_not_exist_is_an_error() {
    let lab = twice();
    std::fs::remove_file(lab.root.join("src/shop.rs")).expect("removed");
    lab.write("src/other.rs", "fn one() {}\nfn two() {}");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "why src/shop.rs",
            "why src/other.rs:2",
            "why src/other.rs:3",
            "why src/other.rs:1-9",
            "why src/other.rs:2-1",
            "accept src/other.rs:3",
            "accept src/other.rs:1-2",
            "trace src/nope.rs",
            "trace src/shop.rs",
            "trace --intent INT-009",
            "context INT-009",
            "--json trace --intent INT-009",
        ]
    ));
}

#[test]
fn the_answer_as_data_says_the_same() {
    let lab = twice();
    let said = lab.fine(&["--json", "why", "src/shop.rs:6"]);
    let answer: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let block = &answer["blocks"][0];
    assert_eq!(block["asked"]["owner"], "@bob");
    assert_eq!(block["asked"]["constraints"][0], "No network");
    assert_eq!(block["session"], "claude-code:abc");
    assert_eq!(block["brought"]["lines"], 1);
    assert_eq!(block["brought"]["of"], 4);
    assert_eq!(block["commit"]["author"], "t");
    assert_eq!(block["commit"]["subject"], "a commit");
    assert_eq!(block["commit"]["id"], lab.read_git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(masked(&lab, &said).matches("@example").count(), 0, "no e-mail address");
}

#[test]
fn each_record_is_traced_under_the_intent_that_it_is_about() {
    let lab = twice();
    let list = ".orchestration/active_intents.yaml";
    // INT-001 is renamed, and a new intent takes the id of INT-002.
    let renamed = lab.read(list).replace(
        "id: INT-001\n    name: Doors",
        "id: SHOP-1\n    formerly: [INT-001]\n    name: Gates",
    );
    lab.write(
        list,
        renamed.replace("name: Alarms", "name: Bells").replace("No network", "No noise"),
    );
    let without_second =
        |text: &str| text.split("  - id: INT-002").next().unwrap_or_default().to_owned();
    let reused = lab.read(list);
    lab.write(list, without_second(&reused));
    lab.commit();
    lab.write(list, reused);
    lab.commit();
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "trace",
            "trace --intent SHOP-1",
            "trace --intent INT-001",
            "trace --intent INT-002",
            "why src/shop.rs:6"
        ]
    ));
}
