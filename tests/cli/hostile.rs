//! A registry, a ledger and file names that contain control characters for the terminal.

use super::lab::{Lab, clean};

/// Colours that the program never uses, a title, a bell, a line feed, and characters that reverse the text or cannot be
/// seen.
const EVIL: &str = "\u{1b}[5;41mA\u{1b}]0;owned\u{7}\r\u{8}B\u{202e}C\u{200b}\u{7f}\u{9b}31mD";

/// Returns the text as a JSON string of plain ASCII, which is also a YAML scalar.
fn json(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| {
            if matches!(c, ' '..='~') { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) }
        })
        .collect();
    format!("\"{escaped}\"")
}

fn hostile() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        lab.write("src/a.rs", "fn one() {\n    first(1);\n}\n");
        lab.commit();
        let evil = json(EVIL);
        lab.write(
            ".orchestration/active_intents.yaml",
            format!("active_intents:\n  - id: INT-001\n    name: {evil}\n    status: IN_PROGRESS\n    owned_scope: [\"src/**\", {evil}]\n    constraints: [{evil}]\n    owner: {evil}\n  - id: {evil}\n    name: {evil}\n    status: {evil}\n"),
        );
        lab.fine(&[
            "record", "--all", "--yes", "src/a.rs", "--intent", "INT-001", "--model", EVIL,
            "--agent", EVIL, "--class", EVIL,
        ]);
        let foreign = format!(
            "{{\"id\":{evil},\"timestamp\":{evil},\"kind\":\"mutation\",\"intent_id\":{evil},\"note\":{evil},\"files\":[{{\"relative_path\":\"src/a.rs\",\"conversations\":[{{\"url\":{evil},\"contributor\":{{\"entity_type\":\"AI\",\"model_identifier\":{evil}}},\"ranges\":[{{\"start_line\":1,\"end_line\":3,\"content_hash\":\"sha256:0000000000000000000000000000000000000000000000000000000000000000\",\"block\":{{\"kind\":{evil},\"path\":{evil},\"language\":\"rust\"}}}}]}}]}}]}}\n{{\"torn\":\"{EVIL}\n{EVIL}\n"
        );
        lab.write(".orchestration/agent_trace/2026/01/evil.jsonl", foreign);
        lab
    })
}

fn commands() -> Vec<Vec<&'static str>> {
    [
        "status",
        "list",
        "context INT-001",
        "select INT-001",
        "why src/a.rs",
        "why src/a.rs:1 --history",
        "check",
        "verify --blocks",
        "map",
        "map --stdout",
        "report",
        "report --html -o -",
        "trace",
        "doctor",
        "gate README.md",
        "gate README.md --intent INT-001",
        "record src",
        "accept src/a.rs:1",
    ]
    .into_iter()
    .map(|line| line.split(' ').collect())
    .collect()
}

/// Returns the text without the styles that the program itself prints.
fn without_our_styles(text: &str) -> String {
    let ours = ["0", "1", "2", "31", "32", "33", "34", "35", "36"];
    ours.iter().fold(text.to_owned(), |text, style| text.replace(&format!("\u{1b}[{style}m"), ""))
}

fn assert_harmless(what: &str, text: &str) {
    let bad = text
        .chars()
        .find(|c| (c.is_control() && *c != '\n') || ['\u{202e}', '\u{200b}'].contains(c));
    assert_eq!(bad, None, "{what}: {text:?}");
}

#[test]
fn nothing_but_our_own_styles_reaches_a_terminal() {
    let lab = hostile();
    let mut shown = 0;
    for command in commands() {
        let words: Vec<&str> =
            ["--color", "always"].into_iter().chain(command.iter().copied()).collect();
        let output = lab.intent(&words);
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8(stream.clone()).expect("UTF-8");
            shown += usize::from(text.contains("U+202E"));
            assert_harmless(&words.join(" "), &without_our_styles(&text));
        }
    }
    assert!(shown >= 6, "the hostile text was hardly shown at all: {shown} times");
}

#[test]
#[ignore = "slow"]
fn errors_and_json_are_harmless_too() {
    let lab = hostile();
    for command in [
        &["select", EVIL][..],
        &["why", EVIL],
        &["check", "--base", EVIL],
        &["-C", EVIL, "status"],
        &["schema", EVIL],
        &["gate", EVIL],
    ] {
        for extra in [&["--color", "always"][..], &["--json"]] {
            let output = lab.intent(&[extra, command].concat());
            for stream in [&output.stdout, &output.stderr] {
                let text = String::from_utf8(stream.clone()).expect("UTF-8");
                assert_harmless(command[0], &without_our_styles(&text));
            }
        }
    }
    for command in commands().iter().filter(|command| command[0] != "trace") {
        let output = lab.intent(&[&["--json"], command.as_slice()].concat());
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_harmless(&command.join(" "), &text);
        serde_json::from_str::<serde_json::Value>(&text).expect("one JSON document");
    }
}

#[test]
fn json_escapes_change_no_value() {
    let lab = hostile();
    assert_eq!(lab.json(&["list"])[0]["name"], EVIL);
}

#[cfg(unix)]
#[test]
fn names_of_files_are_escaped_as_well() {
    let lab = hostile();
    let name = "src/\u{1b}[5;41m\u{202e}x.rs";
    lab.write(name, "fn two() {\n    second(2);\n}\n");
    for command in [
        &["record", "--all", "--yes", "src", "--intent", "INT-001"][..],
        &["why", name],
        &["check"],
        &["verify", "--blocks"],
        &["trace"],
        &["map"],
    ] {
        let output = lab.intent(&[&["--color", "always"], command].concat());
        for stream in [output.stdout, output.stderr] {
            let text = String::from_utf8(stream).expect("UTF-8");
            assert_harmless(command[0], &without_our_styles(&text));
        }
    }
}

/// The program `script` runs a command in a terminal.
#[cfg(target_os = "linux")]
#[test]
fn records_are_escaped_only_on_a_terminal() {
    let lab = Lab::with_list();
    lab.write("src/a.rs", "fn one() {\n    first(1);\n}\n");
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    let evil = "A\u{202e}B\u{200b}C\u{9b}31mD\u{7f}";
    lab.fine(&["record", "--all", "--yes", "src", "--intent", "INT-001", "--model", evil]);
    let piped = lab.fine(&["--json", "trace"]);
    assert!(piped.contains(evil), "as it is stored: {piped:?}");
    let command = format!("{} --json trace", env!("CARGO_BIN_EXE_intent"));
    let shown = clean(std::process::Command::new("script"), &lab.root)
        .args(["-qec", &command, "/dev/null"])
        .output();
    let Ok(shown) = shown else { return };
    let shown = String::from_utf8(shown.stdout).expect("UTF-8").replace("\r\n", "\n");
    assert_harmless("trace", &shown);
    let value = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    assert!(shown.lines().map(value).eq(piped.lines().map(value)));
}
