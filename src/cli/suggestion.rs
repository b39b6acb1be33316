//! The suggestions in usage errors.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// The commands that no usage error suggests. Whoever mistypes a command, above all an agent that
/// follows every hint, must not be led to one that switches the gate off.
const SWITCHES: [&str; 2] = ["off", "uninstall"];

/// Our commands, each with the words of other programs that people try first.
const WORDS_OF_OTHERS: [(&str, &str); 19] = [
    ("check", "diff"),
    ("clear", "cancel deselect stop"),
    ("complete", "close done finish"),
    ("context", "show"),
    ("edit ID --name NAME", "rename"),
    ("edit ID --remove", "delete remove rm"),
    ("for", "owner"),
    ("git-hooks", "hooks"),
    ("list", "ls"),
    ("merge-registry", "merge"),
    ("new", "create"),
    ("record", "add"),
    ("record --undo", "revert undo"),
    ("report", "stats"),
    ("seal", "commit"),
    ("select", "switch use"),
    ("trace", "history log"),
    ("verify", "validate"),
    ("why", "annotate blame who whose"),
];

pub fn with_our_word(mut error: Error) -> Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some((ours, _)) =
            WORDS_OF_OTHERS.iter().find(|(_, theirs)| theirs.split(' ').any(|it| it == word))
    {
        let suggested = ContextValue::Strings(vec![(*ours).to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, suggested);
    }
    error
}

/// Names suggested commands as `--help` does: `evidence seal` for `seal`, unless the group was typed.
pub fn with_groups(mut error: Error, arguments: &[OsString]) -> Error {
    let group_of = |name: &str| shell::GROUPS.iter().find(|(_, names)| names.contains(&name));
    let is_group = |word: &OsString| shell::GROUPS.iter().any(|(group, _)| word == group);
    if !arguments.iter().any(is_group)
        && let Some(ContextValue::Strings(said)) = error.remove(ContextKind::SuggestedSubcommand)
    {
        let shown = said.into_iter().map(|name| match group_of(&name) {
            Some((group, _)) => format!("{group} {name}"),
            None => name,
        });
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(shown.collect()));
    }
    error
}

pub fn without_switches(mut error: Error) -> Error {
    for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedCommand] {
        let is_switch = |said: &String| said.split(' ').any(|word| SWITCHES.contains(&word));
        let left = match error.remove(kind) {
            Some(ContextValue::Strings(said)) => {
                let left: Vec<String> = said.into_iter().filter(|one| !is_switch(one)).collect();
                (!left.is_empty()).then_some(ContextValue::Strings(left))
            }
            Some(ContextValue::String(said)) => {
                (!is_switch(&said)).then_some(ContextValue::String(said))
            }
            other => other,
        };
        if let Some(left) = left {
            error.insert(kind, left);
        }
    }
    error
}
