//! The command lines of this program itself.
//!
//! Some commands have two spellings: `intent seal` and, in a group, `intent evidence seal`. Both
//! must be judged alike, so whatever recognises our commands first asks for the short spelling.

pub const OUR_NAMES: [&str; 2] = ["intent", "intent-lsp"];

/// The groups of commands, and the commands in each of them. The tests of the command line compare
/// this list with the definition of the command line.
pub const GROUPS: [(&str, &[&str]); 3] = [
    (
        "evidence",
        &[
            "seal", "verify", "anchor", "attest", "erase", "compact", "reassign", "import",
            "export", "sessions",
        ],
    ),
    ("agent", &["hook", "mcp", "gate", "off", "on", "worktree", "protocol", "explain"]),
    (
        "setup",
        &[
            "init",
            "uninstall",
            "git-hooks",
            "team",
            "split-registry",
            "merge-registry",
            "renumber",
            "demo",
            "completions",
            "man",
        ],
    ),
];

/// The words that stand for `setup team`. No short command has that name.
const TEAM: [&str; 2] = ["init", "--team"];

/// Returns the arguments of `intent` in the short spelling: `-C x agent off` as `-C x off`, and
/// `setup team` as `init --team`. Other arguments are returned as they are.
pub fn short<T: Clone + AsRef<str> + From<&'static str>>(arguments: &[T]) -> Vec<T> {
    let mut short = arguments.to_vec();
    let Some(group) = operand(arguments, 0) else { return short };
    let Some(verb) = operand(arguments, group + 1) else { return short };
    let of_group = |(name, _): &&(&str, &[&str])| *name == arguments[group].as_ref();
    let members = GROUPS.iter().find(of_group).map_or(&[][..], |(_, members)| members);
    if !members.contains(&arguments[verb].as_ref()) {
        return short;
    }
    if arguments[verb].as_ref() == "team" {
        short.splice(verb..=verb, TEAM.map(T::from));
    }
    short.remove(group);
    short
}

/// Returns the arguments of `intent` in the spelling with groups: `-C x off` as `-C x agent off`.
/// The arguments are in the short spelling.
pub(super) fn grouped(arguments: &[String]) -> Vec<String> {
    let mut grouped = arguments.to_vec();
    if let Some(verb) = operand(arguments, 0)
        && let Some((group, _)) =
            GROUPS.iter().find(|(_, members)| members.contains(&arguments[verb].as_str()))
    {
        grouped.insert(verb, (*group).to_owned());
    }
    grouped
}

/// Returns the index of the command, which is the first word of our command line that is neither a
/// global option nor the value of one.
pub fn verb(arguments: &[impl AsRef<str>]) -> Option<usize> {
    operand(arguments, 0)
}

fn operand(arguments: &[impl AsRef<str>], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match arguments.get(at)?.as_ref() {
            "--" => return None,
            option if option.len() > 1 && option.starts_with('-') => {
                at += 1 + usize::from(takes_next(option));
            }
            _ => return Some(at),
        }
    }
}

/// Returns true if the value of this global option is the next word. In a cluster such as `-qC`,
/// the letters before `C` are flags, and what follows it is its value.
fn takes_next(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => long == "color",
        None => option.find('C') == Some(option.len() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn both_spellings_have_one_short_form() {
        for (given, expected) in [
            ("agent off", "off"),
            ("off", "off"),
            ("-C x agent off --for 1h", "-C x off --for 1h"),
            ("agent -C x off", "-C x off"),
            ("-Cx --json agent -q off", "-Cx --json -q off"),
            ("-qC agent agent --color never off", "-qC agent --color never off"),
            ("--color=always evidence seal", "--color=always seal"),
            ("--color agent agent off", "--color agent off"),
            ("setup team --owner @ada", "init --team --owner @ada"),
            ("-C x setup -q team", "-C x -q init --team"),
            ("setup git-hooks --install", "git-hooks --install"),
            ("evidence off", "evidence off"),
            ("agent", "agent"),
            ("agent --help", "agent --help"),
            ("-- agent off", "-- agent off"),
            ("new agent off", "new agent off"),
            ("select evidence seal", "select evidence seal"),
            ("", ""),
        ] {
            assert_eq!(short(&words_of(given)), words_of(expected), "{given}");
            assert_eq!(short(&short(&words_of(given))), words_of(expected), "{given}");
        }
    }

    #[test]
    fn a_short_form_has_one_spelling_with_a_group() {
        for (given, expected) in [
            ("off", "agent off"),
            ("-C x seal --dry-run", "-C x evidence seal --dry-run"),
            ("init --team", "setup init --team"),
            ("why a.rs", "why a.rs"),
            ("", ""),
        ] {
            assert_eq!(grouped(&words_of(given)), words_of(expected), "{given}");
        }
    }

    #[test]
    fn the_command_is_found_behind_global_options() {
        for (line, expected) in [
            ("select A", Some(0)),
            ("-C x --color never -q select A", Some(5)),
            ("--json", None),
            ("-C select", None),
        ] {
            assert_eq!(verb(&words_of(line)), expected, "{line}");
        }
    }
}
