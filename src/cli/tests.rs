use super::*;

#[test]
fn the_definition_of_the_command_line_is_valid() {
    command().debug_assert();
}

#[test]
fn every_command_has_a_short_description() {
    let command = command();
    let groups = command.get_subcommands().filter(|sub| sub.has_subcommands());
    for sub in command.get_subcommands().chain(groups.flat_map(|sub| sub.get_subcommands())) {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && about.len() <= 100, "{}: {about:?}", sub.get_name());
        assert!(!about.ends_with('.'), "{}: {about:?}", sub.get_name());
    }
}

#[test]
fn global_options_may_stand_after_the_command() {
    let cli = Cli::try_parse_from(["intent", "why", "a.rs:3", "--json", "-C", "x", "-q"])
        .expect("arguments");
    assert!(cli.json && cli.quiet);
    assert_eq!(cli.directory, Some(PathBuf::from("x")));
}

#[test]
fn contradicting_options_are_refused() {
    for arguments in [
        &["intent", "check", "--base", "main", "--staged"][..],
        &["intent", "map", "--check", "--stdout"],
        &["intent", "record"],
        &["intent", "why"],
        &["intent", "record", "a", "--contributor", "robot"],
        &["intent"],
    ] {
        assert!(Cli::try_parse_from(arguments).is_err(), "{arguments:?}");
    }
}

#[test]
fn a_usage_error_in_json_names_what_is_missing() {
    for (arguments, expected) in [
        (
            &["intent", "why"][..],
            "the following required arguments were not provided: <[REV:]PATH[:LINE[-LINE]]>",
        ),
        (&["intent", "list", "--bogus"][..], "unexpected argument '--bogus' found"),
    ] {
        let error = Cli::try_parse_from(arguments).expect_err("a usage error");
        assert_eq!(message_of(&error), expected);
    }
}

#[test]
fn every_command_of_a_group_has_a_hidden_short_spelling() {
    let command = command();
    let mut expected = Vec::new();
    for (group, members) in shell::GROUPS {
        let group = command.find_subcommand(group).expect("the group");
        let names: Vec<&str> = group.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(names, members, "crates/shell/src/ours.rs");
        for member in group.get_subcommands().filter(|member| member.get_name() != "team") {
            let name = member.get_name();
            let short = command.find_subcommand(name).expect("the short spelling");
            let arguments = |command: &clap::Command| {
                let ids = command.get_arguments().map(|one| one.get_id().to_string());
                ids.collect::<Vec<_>>()
            };
            assert_eq!(arguments(short), arguments(member), "{name}");
            expected.push(name);
        }
    }
    let hidden = command.get_subcommands().filter(|sub| sub.is_hide_set());
    let hidden: Vec<&str> = hidden.map(clap::Command::get_name).collect();
    assert_eq!(hidden, expected);
    let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    assert!(visible.count() <= 32);
}

#[test]
fn both_spellings_are_read_as_the_same_command() {
    for (grouped, short) in [
        ("-C x agent off --for 1h --reason y", "-C x off --for 1h --reason y"),
        ("agent -C x off --for 1h", "off -C x --for 1h"),
        ("-q evidence --json seal --hook pre-commit a", "--json -q seal --hook pre-commit a"),
        ("agent hook claude-code", "hook claude-code"),
        ("--color never setup team --owner @a", "--color never init --team --owner @a"),
    ] {
        let read = |line: &str| {
            let words: Vec<&str> = std::iter::once("intent").chain(line.split(' ')).collect();
            let cli = Cli::try_parse_from(&words).expect(line);
            format!("{:?}", Cli { command: cli.command.short_spelling(), ..cli })
        };
        assert_eq!(read(grouped), read(short));
        let words: Vec<String> = grouped.split(' ').map(str::to_owned).collect();
        let canonical = shell::short(&words).join(" ");
        assert_eq!(read(&canonical), read(short));
    }
}

#[test]
fn a_usage_error_suggests_commands_but_none_that_switches_the_gate_off() {
    let said = |line: &str| {
        let words: Vec<&str> = std::iter::once("intent").chain(line.split(' ')).collect();
        let error = Cli::try_parse_from(words).expect_err("a usage error");
        suggestion::without_switches(error).render().to_string()
    };
    for (line, expected) in [
        ("sael", "'seal'"),
        ("evidence sael", "'seal'"),
        ("chekc", "'check'"),
        ("agnet off", "'agent'"),
        ("agent gat", "'gate'"),
        ("list --jsno", "'--json'"),
    ] {
        let text = said(line);
        assert!(text.contains("similar") && text.contains(expected), "{line}: {text}");
    }
    for line in
        ["of", "offf", "agent of", "agent offf", "uninstal", "setup uninstal", "agent --fro 1h"]
    {
        let text = said(line);
        let tips: Vec<&str> = text.lines().filter(|line| line.contains("tip")).collect();
        let tempts = |tip: &&str| ["'off", "off'", "uninstall"].iter().any(|it| tip.contains(it));
        assert!(!tips.iter().any(tempts), "{line}: {text}");
    }
}
