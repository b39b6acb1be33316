//! How shell commands are understood, compared with a corpus, a real shell and another parser.
//!
//! A line of the corpus has a class, a tab, and the command, in which `⏎` stands for the end of a line. `looks` means
//! opaque, but made for reading. Lines that begin with `##` are headings.

mod fuzz;

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use shell::{Class, CommandContext, Dialect, Prediction, TouchedPath, read};

fn at() -> CommandContext {
    CommandContext {
        cwd: PathBuf::from("/work/app"),
        root: Some(PathBuf::from("/work/app")),
        home: Some(PathBuf::from("/home/me")),
        temp: vec![PathBuf::from("/tmp")],
    }
}

fn posix(text: &str) -> Prediction {
    read(text, Dialect::Posix, &at())
}

const CORPUS: &[(&str, &str)] = &[
    ("destructive.txt", include_str!("destructive.txt")),
    ("harmless.txt", include_str!("harmless.txt")),
];

/// Returns the file and line, the class, and the command of every line of the corpus.
fn corpus() -> impl Iterator<Item = (String, &'static str, String)> {
    CORPUS.iter().flat_map(|(file, text)| {
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.is_empty() && !line.starts_with("##"));
        lines.map(move |(at, line)| {
            let (class, command) = line.split_once('\t').expect("a tab in every line");
            (format!("{file}:{}", at + 1), class, command.replace('⏎', "\n"))
        })
    })
}

#[test]
#[ignore = "slow"]
fn every_command_of_the_corpus_has_the_right_class() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (place, class, command) in corpus() {
        let reading = posix(&command);
        seen += 1;
        let found = if reading.inspects { "looks" } else { reading.class.as_str() };
        if found != class {
            wrong.push(format!("{place}: {found} [{}], not {class}: {command}", reading.rule));
        }
    }
    assert!(seen > 1_500, "the corpus was not found: {seen} lines");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Returns the number of lines in a list, and the lines whose command is judged differently: `held` must be refused or
/// asked about, `passes` must not, and `free` must need no intent.
fn judged_otherwise(text: &str) -> (usize, Vec<String>) {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
    let wrong = lines.clone().filter_map(|line| {
        let (wanted, command) = line.split_once('\t').expect("a tab in every line");
        let reading = posix(&command.replace('⏎', "\n"));
        let held = matches!(reading.class, Class::Destructive | Class::Unreadable);
        let free = reading.class == Class::Read || reading.inspects;
        let right = match wanted {
            "held" => held,
            "free" => free,
            _ => !held,
        };
        let class = reading.class.as_str();
        (!right).then(|| format!("{class} [{}], not {wanted}: {command}", reading.rule))
    });
    (lines.clone().count(), wrong.collect())
}

#[test]
#[ignore = "slow"]
fn lists_written_without_knowing_the_rules_are_judged_right() {
    for (text, least) in [(include_str!("blind.txt"), 1_600), (include_str!("fresh.txt"), 900)] {
        let (seen, wrong) = judged_otherwise(text);
        assert!(seen > least, "the corpus was not found: {seen} lines");
        assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    }
}

#[test]
#[ignore = "slow"]
fn nearly_all_of_an_unseen_list_is_judged_right() {
    let text = include_str!("unseen.txt");
    let (seen, wrong) = judged_otherwise(text);
    let missed = wrong.iter().filter(|line| line.contains(", not held: ")).count();
    let stopped = wrong.len() - missed;
    let destructive = text.lines().filter(|line| line.starts_with("held\t")).count();
    let harmless = seen - destructive;
    assert!(destructive > 750 && harmless > 650, "the corpus was not found: {seen} lines");
    let shown = wrong.join("\n");
    assert!(missed * 50 <= destructive, "more than 2 % are missed:\n{shown}\n");
    assert!(stopped * 100 <= harmless, "more than 1 % are held up:\n{shown}\n");
}

#[test]
fn a_text_that_a_shell_still_evaluates_is_not_read() {
    let text = include_str!("evaluated.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
    // A command of unknown origin may inspect, but does not count as reading.
    let found = |line: &&str| {
        let looks = line.strip_prefix("looks\t");
        let reading = posix(looks.unwrap_or(line));
        reading.class == Class::Read || reading.inspects && looks.is_none()
    };
    let wrong: Vec<&str> = lines.clone().filter(found).collect();
    assert!(lines.count() > 200, "the corpus was not found");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Returns the action, the path and the certainty of every target.
fn targets(text: &str) -> Vec<String> {
    let shown = |target: &TouchedPath| {
        let sure = if target.known { "" } else { "?" };
        format!("{:?} {}{sure}", target.effect, target.path)
    };
    posix(text).targets.iter().map(shown).collect()
}

#[test]
fn files_that_a_program_prints_are_targets_that_it_reads() {
    for text in [
        "cat src/a.rs",
        "head -n 20 src/a.rs",
        "tail -f src/a.rs",
        "sed -n '1,20p' src/a.rs",
        "sed -n -e 1p src/a.rs",
        "less +G src/a.rs",
        "bat --paging=never src/a.rs",
        "nl -ba src/a.rs",
        "wc -l src/a.rs",
        "rg -n -A 3 'x y' src/a.rs",
        "grep -n -e x src/a.rs",
        "cat < src/a.rs",
        "x=$(<src/a.rs)",
        "cd src && cat a.rs",
        "pwsh -c 'Get-Content -Tail 5 src/a.rs'",
        "bash -lc \"sed -n '1,200p' src/a.rs\"",
    ] {
        assert_eq!(targets(text), ["Read /work/app/src/a.rs"], "{text}");
    }
    assert!(targets("ssh host cat src/a.rs").is_empty());
    assert!(targets("rg --help").is_empty());
    assert_eq!(targets("cat src/*.rs"), ["Read /work/app/src/*.rs?"]);
}

#[test]
fn files_that_a_command_writes_are_always_targets() {
    assert_eq!(targets("cat > /etc/x <<E\na\nE"), ["Write /etc/x"]);
    assert_eq!(targets("echo x | sudo tee -a /etc/hosts")[0], "Write /etc/hosts");
    assert_eq!(
        targets("echo x >> ~/.ssh/authorized_keys"),
        ["Write /home/me/.ssh/authorized_keys"]
    );
    assert_eq!(targets("if x; then cd src; fi; touch a"), ["Write /?"]);
    assert_eq!(targets("cd src && touch a"), ["Write /work/app/src/a"]);
    assert_eq!(targets("pushd src; pushd; touch a"), ["Write /?"]);
    assert_eq!(
        targets("yq e -i .a=1 a.yml b.yml"),
        ["Write /work/app/a.yml", "Write /work/app/b.yml"]
    );
    assert_eq!(targets("git rm --pathspec-from-file=F"), ["Delete /?"]);
    assert_eq!(targets("git rm --cached a b"), ["Write /work/app/a", "Write /work/app/b"]);
    assert_eq!(targets("git sparse-checkout set src"), ["Delete /work/app/.orchestration"]);
    assert_eq!(targets("git sparse-checkout set src .orchestration"), [""; 0]);
    assert_eq!(
        targets("rsync -a --log-file src/x a b"),
        ["Write /work/app/src/x", "Write /work/app/b"]
    );
}

#[test]
fn a_path_below_an_unknown_folder_is_unknown() {
    for (dialect, text) in [
        (Dialect::Posix, "cd $X; cd src; touch a"),
        (Dialect::Posix, "cd $X && pushd src && touch a"),
        (Dialect::PowerShell, "Set-Location $x; Set-Location src; Set-Content a 1"),
        (Dialect::Cmd, "cd %X% & cd src & mkdir a"),
    ] {
        let targets = read(text, dialect, &at()).targets;
        assert!(!targets.is_empty(), "{text}");
        assert!(targets.iter().all(|target| !target.known), "{text}: {targets:?}");
    }
    for (dialect, text) in [
        (Dialect::PowerShell, "Set-Location /work/app/src; Set-Content a 1"),
        (Dialect::Cmd, "cd src & mkdir a"),
    ] {
        let targets = read(text, dialect, &at()).targets;
        assert_eq!(targets[0].path, "/work/app/src/a", "{text}");
    }
}

/// Returns true if `programs.tsv` explains this rule, or if a row of it or a judge names it.
fn is_known(rule: &str) -> bool {
    static TEXTS: LazyLock<String> = LazyLock::new(|| {
        let judges = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/shell/src/judge");
        let files = std::fs::read_dir(judges).expect("a folder").map(|file| file.expect("a file"));
        let read = |file: DirEntry| std::fs::read_to_string(file.path()).expect("a text");
        files.map(read).collect()
    });
    let of_row = |line: &'static str| match line.strip_prefix('!') {
        Some(explained) => explained.split('\t').next(),
        None => line.split('\t').nth(2)?.strip_prefix("destroys ")?.split(' ').next(),
    };
    let mut rows = include_str!("../../crates/shell/src/programs.tsv").lines();
    rows.any(|line| of_row(line) == Some(rule)) || TEXTS.contains(&format!("\"{rule}\""))
}

#[test]
#[ignore = "slow"]
fn a_destructive_command_has_a_word_a_reason_and_a_known_rule() {
    for (place, class, command) in corpus().filter(|(_, class, _)| *class == "destructive") {
        let reading = posix(&command);
        assert!(reading.word.is_some(), "{place}: no word: {command} [{class}]");
        assert!(reading.reason.ends_with('.'), "{place}: {}", reading.reason);
        assert!(is_known(&reading.rule), "{place}: no rule {:?}: {command}", reading.rule);
    }
}

/// Asks a real `bash` how it splits a word. The word must not start a program.
fn bash(word: &str) -> Option<Vec<String>> {
    let script = format!("printf '%s\\0' {word}");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-fc", &script]).env("LC_ALL", "C.UTF-8");
    let output = bash.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.split_terminator('\0').map(str::to_owned).collect())
}

#[test]
fn words_are_split_as_bash_splits_them() {
    if bash("x").is_none() {
        return;
    }
    for word in [
        "a b",
        "'a b'",
        "\"a b\"",
        "a\\ b",
        "$'a\\tb'",
        "$'\\x72\\x6d'",
        "a''b",
        "\"\"",
        "{a,b}",
        "{a,b}{c,d}",
        "x{1..4}y",
        "{a..c}",
        "{a}",
        "a{b,c",
        "'{a,b}'",
        "\"{a,b}\"",
        "{a,{b,c}}",
        "\"a\\\"b\"",
        "\"a\\nb\"",
        "'a\\nb'",
        "a\\\nb",
        "$'\\''",
        "$'\\u00e9'",
        "a#b",
        "\\#",
        "\\$x",
        "\"\\$x\"",
        "'$x'",
        "a=b",
        "=",
        "--x='y z'",
        "$'\\101'",
        "\"`echo a`\"",
        "$(echo a b)",
        "\"$(echo a b)\"",
        "$(printf 'a\\nb')",
        "${x:-a b}",
        "\"${x:-a b}\"",
        "\"${x-}\"",
        "a${x:-b}c",
        "{,a}b",
        "a\\{b,c}",
        "\"a\"'b'$'c'd",
        "$\"a b\"",
        "é",
        "a\\\\b",
        "{1..3}{a,b}",
        "{01..03}",
        "{8..011}",
        "{-01..1}",
        "{3..1}",
        "{1..5..2}",
        "{5..1..2}",
        "{1..5..-2}",
        "{a..e..2}",
        "{e..a}",
        "r{m..m..1}",
        "{1..2..3..4}",
        "$'\\x{72}\\x{6d}'",
        "$(echo -e '\\033')",
        "$(printf '\\033')",
        "$(cd . && echo a; echo b)",
        "$(cat <(echo a) <(echo b))",
    ] {
        let expected = bash(word).expect("bash reads it");
        let reading = posix(&format!("printf '%s\\0' {word}"));
        let own = reading.commands.last().expect("a command").words[2..].to_vec();
        assert_eq!(own, expected, "{word}");
    }
}

#[test]
#[ignore = "slow"]
fn bash_accepts_the_same_commands() {
    if bash("x").is_none() {
        return;
    }
    let accepts = |text: &str| {
        let shell = Command::new("bash").args(["--norc", "-O", "extglob", "-nc", text]).output();
        let output = shell.expect("bash starts");
        output.status.success()
    };
    // Every twentieth line, because starting a thousand shells would be slow.
    for (place, _, command) in corpus().step_by(20) {
        let refused = posix(&command).rule == "syntax";
        assert_eq!(accepts(&command), !refused, "{place}: {command}");
    }
    for text in
        ["if true; then ls; fi; fi", "ls )", "for x in; do", "case x in", "a && && b", "ls 'x"]
    {
        assert!(!accepts(text), "{text}");
        assert_eq!(posix(text).class, Class::Unreadable, "{text}");
    }
}

/// Returns the names of the commands that `tree-sitter-bash` finds, or `None` if it cannot parse the text.
fn second_opinion(text: &str) -> Option<Vec<String>> {
    let bash = code::language::by_id("bash")?;
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&bash.grammar.expect("it has one")()).expect("the grammar fits");
    let tree = parser.parse(text, None)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut names = Vec::new();
    let mut todo = vec![tree.root_node()];
    while let Some(node) = todo.pop() {
        if node.kind() == "function_definition" {
            continue;
        }
        if node.kind() == "command_name" {
            names.push(text[node.byte_range()].to_owned());
        }
        let mut cursor = node.walk();
        todo.extend(node.children(&mut cursor));
    }
    Some(names)
}

#[test]
#[ignore = "slow"]
fn another_parser_finds_no_further_program() {
    let (mut compared, mut refused) = (0, 0);
    let mut unseen = Vec::new();
    for (place, _, command) in corpus() {
        let Some(names) = second_opinion(&command) else {
            refused += 1;
            continue;
        };
        let reading = posix(&command);
        let seen: Vec<&str> = reading
            .commands
            .iter()
            .flat_map(|one| one.words.first().into_iter().chain(&one.via))
            .map(String::as_str)
            .collect();
        let plain =
            |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        for name in names.iter().filter(|name| plain(name)) {
            let base = name.rsplit('/').next().unwrap_or(name);
            let found = seen.iter().any(|seen| seen.rsplit('/').next() == Some(base));
            // Functions, aliases and keywords start no program of that name, and the other grammar ends a word at a
            // continued line.
            let own = [format!("{name}()"), format!("{name} ()"), format!("function {name} ")];
            let defined = own.iter().any(|form| command.contains(form))
                || ["alias ", "time ", "coproc ", "\\\n"].iter().any(|word| command.contains(word));
            if !found && !defined {
                unseen.push(format!("{place}: {name} was not seen in: {command}"));
            }
            compared += 1;
        }
    }
    assert!(unseen.is_empty(), "\n{}\n", unseen.join("\n"));
    assert!(compared > 1_500, "only {compared} names were compared");
    assert!(refused > 0, "the other grammar reads everything: use it instead of our own");
}
