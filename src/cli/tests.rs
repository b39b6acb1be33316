use super::*;

#[test]
fn the_definition_of_the_command_line_is_valid() {
    command().debug_assert();
}

#[test]
fn every_command_has_a_short_description() {
    for sub in command().get_subcommands() {
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
