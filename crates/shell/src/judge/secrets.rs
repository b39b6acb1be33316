//! Recognises keys, passwords and tokens, and commands that send them away. Reading a secret is
//! allowed; sending it to another machine is destructive.

use super::options::values;
use super::{
    Arg, Location, ProgramCall, Shell, ShellFinding, WordOrigin, WordPiece, destructive_rule,
    located_path, rules, table,
};
use crate::table::{first_word_in, holds, list};

pub(crate) fn is_secret(path: &str) -> bool {
    let path = path.trim_end_matches(['*', '/']);
    let name = path.rsplit('/').next().unwrap_or_default();
    let shown = list("publicendings").iter().any(|end| path.ends_with(end));
    let own_settings = path.ends_with(".ssh/config") || path.ends_with(".aws/config");
    let ending = |end: &&str| name.len() > end.len() && name.ends_with(end);
    !shown
        && !own_settings
        && (holds("secretnames", name)
            || path.split('/').any(|part| holds("secretfolders", part))
            || path == "/etc/passwd"
            || list("secretendings").iter().any(ending))
}

/// Returns true if a word names a file of secrets or a copy of one, contains a value read from one,
/// or is a variable with the name of a secret.
fn holds_secret(shell: &Shell, arg: &Arg) -> bool {
    if arg.origin == Some(WordOrigin::Secret) {
        return true;
    }
    let text = arg.text.as_str();
    let header = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let expected = ["auth", "token", "key", "bearer"].iter().any(|word| header.contains(word))
        && text.contains(':')
        && !text.contains("://");
    let variable = !expected
        && arg.pieces.iter().any(|piece| match piece {
            WordPiece::Unknown { shown, .. } => first_word_in("secretwords", shown).is_some(),
            _ => false,
        });
    // The word may have the form `@FILE`, `name=@FILE` or `name=@FILE;type=TYPE`.
    let file = text.rsplit('@').next().unwrap_or_default();
    let file = file.split(';').next().unwrap_or_default();
    let copied = |file: &str| {
        let place = located_path(shell, &Arg::with_known_text(file));
        place.location != Location::Nothing && shell.lasting.secrets.contains(&place.path)
    };
    let named = !text.contains("://") && !text.contains(char::is_whitespace);
    variable || named && !arg.lead.starts_with("--") && (is_secret(file) || copied(file))
}

/// Returns the first argument that contains a secret. Files that only prove the caller's identity,
/// such as that of `--cert`, do not count.
fn given_secret(shell: &Shell, call: &ProgramCall) -> Option<String> {
    let keys = values(call.args, &list("keyoptions"));
    call.args
        .iter()
        .filter(|arg| !keys.contains(arg))
        .find(|arg| {
            let value = arg.lead.strip_prefix("--").and_then(|option| option.split_once('='));
            holds_secret(shell, arg) || value.is_some_and(|(_, value)| is_secret(value))
        })
        .map(|arg| arg.text.clone())
}

pub(super) fn prints(shell: &Shell, call: &ProgramCall) -> bool {
    let dumps = rules::has_row_of_mark("secret", call);
    dumps
        || call.stdin.may_hold_secret()
        || given_secret(shell, call).is_some_and(|_| !holds("senders", call.name))
}

pub(super) fn leaks(shell: &Shell, call: &ProgramCall) -> Option<ShellFinding> {
    if !holds("senders", call.name) {
        return None;
    }
    if call.name == "git" {
        return new_remote(shell, call);
    }
    let sends = table::rows(&format!("sends:{}", call.name)).is_empty()
        || rules::has_row_of_mark("sends", call);
    let fed = call.stdin.may_hold_secret().then(|| "input".to_owned());
    let word = given_secret(shell, call).or(fed).filter(|_| sends)?;
    Some(sent(&format!("{} {word}", call.name)))
}

pub(crate) fn sent(word: &str) -> ShellFinding {
    destructive_rule("secrets.sent", word)
}

/// Judges `git push` to a URL, or to a remote that the same text has added.
fn new_remote(shell: &Shell, call: &ProgramCall) -> Option<ShellFinding> {
    let words: Vec<&Arg> = call.args.iter().filter(|arg| !arg.looks_like_option()).collect();
    let [push, to, ..] = words.as_slice() else { return None };
    let text = to.text.as_str();
    let address = text.contains("://") || text.contains('@') && text.contains(':');
    let added = text != "origin" && shell.lasting.remotes.contains(text);
    (push.is_word("push") && (address || added))
        .then(|| destructive_rule("git.push-elsewhere", text))
}

pub(super) fn in_code(code: &str) -> Option<ShellFinding> {
    first_word_in("codesends", code)?;
    let file = crate::mentions::paths(code).into_iter().find(|path| is_secret(path));
    let bare = code.split(['"', '\'', '`']).find(|text| is_secret(text) && text.len() < 80);
    let whole = || first_word_in("codeenvironment", code).map(|_| "environment");
    Some(sent(file.or(bare).or_else(whole)?))
}
