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
    let (cli, _) =
        parse(&["intent", "why", "a.rs:3", "--json", "-C", "x", "-q"], None).expect("arguments");
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
        assert!(parse(arguments, None).is_err(), "{arguments:?}");
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
        let error = parse(arguments, None).err().expect("a usage error");
        assert_eq!(message_of(&error), expected);
    }
}

#[test]
fn every_command_of_a_group_has_a_hidden_short_spelling() {
    let command = command();
    let mut expected: Vec<&str> = Vec::new();
    for (group, members) in shell::GROUPS {
        let group = command.find_subcommand(group).expect("the group");
        let names: Vec<&str> = group.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(names, members, "crates/shell/src/own_commands.rs");
        expected.extend(members.iter().filter(|name| **name != "team"));
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
        ("--color never setup init --team --owner @a", "--color never init --team --owner @a"),
    ] {
        let read = |line: &str| {
            let words = std::iter::once("intent").chain(line.split(' '));
            let parsed = command().try_get_matches_from(words).expect(line);
            let mut command = &parsed;
            let mut name = "";
            while let Some((sub, below)) = command.subcommand() {
                (name, command) = (sub, below);
            }
            let values = command.ids().map(|id| (id, command.get_raw(id.as_str())));
            let mut values: Vec<_> =
                values.filter_map(|(id, raw)| Some((id, raw?.collect::<Vec<_>>()))).collect();
            values.sort();
            format!("{:?} {name} {values:?}", Cli::from_arg_matches(&parsed))
        };
        let words: Vec<String> = grouped.split(' ').map(str::to_owned).collect();
        assert_eq!(read(&shell::short(&words).join(" ")), read(short));
        assert_eq!(read(grouped), read(short));
    }
}

#[test]
fn a_command_reads_the_same_arguments_where_only_it_is_defined() {
    let all = command();
    for command in all.get_subcommands() {
        let mut alone = with_commands(Cli::command(), Some(command.get_name()));
        assert_eq!(alone.get_subcommands().count(), 1);
        let alone = alone.find_subcommand_mut(command.get_name()).expect("the command");
        assert_eq!(
            alone.render_long_help().to_string(),
            command.clone().render_long_help().to_string()
        );
    }
}

#[test]
fn a_usage_error_suggests_commands_but_none_that_switches_the_gate_off() {
    let said = |line: &str| {
        let words: Vec<&str> = std::iter::once("intent").chain(line.split(' ')).collect();
        let error = parse(&words, None).err().expect("a usage error");
        let error = suggestion::with_our_word(suggestion::without_switches(error));
        suggestion::with_groups(error, &words.iter().map(Into::into).collect::<Vec<_>>())
            .render()
            .to_string()
    };
    for (line, expected) in [
        ("sael", "'evidence seal'"),
        ("evidence sael", "'seal'"),
        ("commit", "'evidence seal'"),
        ("hooks", "'setup git-hooks'"),
        ("validate", "'evidence verify'"),
        ("setup hooks", "'git-hooks'"),
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
