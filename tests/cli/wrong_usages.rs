//! Wrong usages, each with the answer that helps.

use super::lab::Lab;

/// A repository with two intents and a committed file of which nothing is recorded.
fn begun() -> Lab {
    let lab = Lab::governed();
    lab.fine(&["new", "JWT migration", "--scope", "src/**", "--start"]);
    lab.fine(&["new", "Billing", "--scope", "billing/**", "--start"]);
    lab.fine(&["clear"]);
    lab.write("src/a.rs", "fn a() {\n    b();\n}\n");
    lab.commit();
    lab
}

/// Returns what a command prints on both streams.
fn said(lab: &Lab, arguments: &[&str]) -> String {
    let output = lab.intent(arguments);
    String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8")
}

#[test]
#[ignore = "slow"]
fn every_wrong_usage_gets_an_answer_that_helps() {
    let lab = begun();
    let proposal = "# Change: Add a login\n\n## Why\nPeople come back.\n";
    lab.write("openspec/changes/add-login/proposal.md", proposal);
    let mut cases = include_str!("wrong_usages.txt").lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let (mut tried, mut bad) = (0, Vec::new());
    while let Some(typed) = cases.next() {
        let typed = typed.strip_prefix("$ ").expect("a command");
        let wanted = cases.next().expect("an answer");
        let told = said(&lab, &typed.split(' ').collect::<Vec<_>>());
        let offers_a_switch = ["'off'", "'uninstall'"].iter().any(|it| told.contains(it));
        if !told.contains(wanted) || offers_a_switch {
            bad.push(format!("intent {typed}\n  wanted {wanted}\n{told}"));
        }
        tried += 1;
    }
    assert!(tried >= 110, "{tried}");
    assert!(bad.is_empty(), "{} of {tried}\n{}", bad.len(), bad.join("\n"));
}

#[test]
fn a_registry_in_which_nothing_is_read_is_said_to_be_so() {
    let lab = begun();
    let path = ".orchestration/active_intents.yaml";
    for (text, wanted) in [
        ("", "is empty, so there are no intents"),
        ("# later\n", "is empty, so there are no intents"),
        ("todo: later\n", "has another shape"),
        ("active_intents: []\n", "No intents. Create one"),
    ] {
        for file in std::fs::read_dir(lab.root.join(".orchestration/intents")).into_iter().flatten()
        {
            std::fs::remove_file(file.expect("a file").path()).expect("removed");
        }
        lab.write(path, text);
        let told = said(&lab, &["list"]);
        assert!(told.contains(wanted), "{text:?}: {told}");
    }
}
