//! Judges the builtins of the shell: those that change the folder, variables or arguments, those
//! that run code, and `kill`.

use super::options::{has_any, operands, values};
use super::{
    Arg, Class, ProgramCall, Shell, ShellFinding, StreamData, WordOrigin, WordPiece, decoded,
    destructive_rule, downloaded, is_downloaded_here, opaque, reads, table, unreadable_rule,
    unseen,
};
use crate::argument::{joined_by_spaces, unknown};
use crate::paths;

/// Judges an assignment. Programs run the values of some variables, such as `PAGER`, as code.
/// `alone` is false for an assignment that holds for one command only, as in `X=1 make`.
pub(crate) fn assigned(shell: &mut Shell, name: &str, value: &[WordPiece], alone: bool) {
    let value = Arg::from_pieces(value);
    if table::holds("runvalues", name) && value.sure && value.text.contains([' ', ';', '|', '`']) {
        let found = shell.judge_inner_code(name, &value.text);
        if let Some(found) = found.filter(|found| found.class == Class::Destructive) {
            shell.note(found);
        }
    }
    let preload = ["LD_PRELOAD", "DYLD_INSERT_LIBRARIES"].contains(&name);
    if preload && !alone {
        shell.note(opaque("variable.preload", name));
    }
    if name == "HISTFILE" && alone && matches!(value.text.as_str(), "" | "/dev/null") {
        shell.note(destructive_rule("history.off", "HISTFILE"));
    }
}

/// Returns the arguments without a leading `--`, which only ends the options.
fn past_dashes(args: &[Arg]) -> &[Arg] {
    match args {
        [dashes, rest @ ..] if dashes.is_word("--") => rest,
        args => args,
    }
}

pub(super) fn change_folder(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let to = operands(call.args, &[]);
    if call.name == "popd" {
        let there = shell.state.stack.pop().flatten();
        shell.state.cwd = there.filter(|_| call.args.is_empty());
        return reads(call.name);
    }
    // `pushd`, `pushd +1` and `pushd -1` reorder the folders, which is not followed.
    let turns = |arg: &Arg| arg.lead.starts_with(['+', '-']);
    let reorders = call.name == "pushd" && (to.is_empty() || call.args.iter().any(turns));
    if reorders {
        shell.state.stack.fill(None);
    } else if call.name == "pushd" {
        let here = shell.cwd().map(str::to_owned);
        shell.state.stack.push(here);
    }
    let there = match to.first() {
        _ if reorders => None,
        None => shell.at.home.as_deref().map(paths::slashed),
        Some(arg) if arg.is_word("-") => None,
        Some(arg) if arg.sure => paths::resolved_in(shell.cwd(), &arg.text),
        Some(arg) if arg.temp => Some("/tmp/\u{2026}".to_owned()),
        // The output of some programs is predicted, so `cd "$(git rev-parse --show-toplevel)"` is
        // handled above. Any other value is not known.
        Some(_) => None,
    };
    shell.state.cwd = there;
    reads(call.name)
}

pub(super) fn eval(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let words: Vec<&Arg> = past_dashes(call.args).iter().collect();
    let code = Arg::from_pieces(&joined_by_spaces(&words));
    shell.via.push("eval".to_owned());
    let found = shell.worst_inside(|shell| shell.code(&code, "eval"));
    shell.via.pop();
    found.unwrap_or_else(|| reads("eval"))
}

/// Judges `.` and `source`, which run the code of a file, of a process substitution such as
/// `. <(cmd)`, or of the standard input.
pub(super) fn source(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let Some(file) = past_dashes(call.args).first() else {
        return opaque("source", call.name);
    };
    if is_downloaded_here(shell, file) {
        return downloaded(&file.text);
    }
    let feed = match shell.content_of(file) {
        Some(feed) => feed,
        None if file.is_any_of(&["/dev/stdin", "-", "/dev/fd/0"]) => call.stdin.clone(),
        None => {
            let reason = "It runs the commands of a file, which is not read.";
            return ShellFinding::new(Class::Opaque, "source", &file.text, reason);
        }
    };
    code_from_input(shell, call.name, &feed)
}

pub(super) fn code_from_input(shell: &mut Shell, by: &str, feed: &StreamData) -> ShellFinding {
    if let Some(pieces) = &feed.pieces {
        let code = Arg::from_pieces(pieces);
        let found = shell.in_process(by, |shell| shell.code(&code, by));
        let found = found.unwrap_or_else(|| opaque("code.stdin", by));
        return if feed.decoded { found.most_severe(decoded(by)) } else { found };
    }
    if let Some(found) = unseen(feed.origin(), by) {
        return found;
    }
    if feed.file || !feed.present || by == "source" || by == "." {
        return opaque(if feed.file { "code.file" } else { "code.stdin" }, by);
    }
    unreadable_rule("code.piped", by)
}

pub(super) fn trap(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let [code, _, ..] = past_dashes(call.args) else { return reads("trap") };
    if code.is_word("-") || code.is_word("") || code.looks_like_option() {
        return reads("trap");
    }
    // The code is walked at the end, because it sees the values that its variables have then.
    shell.state.traps.push(code.clone());
    reads("trap")
}

/// Handles `export`, `declare`, `local` and similar builtins, which assign variables. With `-n`, a
/// name becomes a reference to another variable, which is not followed; only for `export`, `-n` ends
/// an export.
pub(super) fn declare(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let is_reference = has_any(call.args, &["-n"]) && call.name != "export";
    if is_reference {
        shell.note_unfollowed("declare -n");
    }
    let is_local =
        matches!(call.name, "local" | "declare" | "typeset") && !has_any(call.args, &["-g"]);
    for arg in call.args.iter().filter(|arg| is_local && !arg.looks_like_option()) {
        let name = arg.lead.split(['=', '+']).next().unwrap_or_default().to_owned();
        shell.make_local(&name);
    }
    for arg in call.args.iter().filter(|arg| !arg.looks_like_option()) {
        let Some((name, _)) = arg.lead.split_once('=') else { continue };
        let mut value = super::options::without_beginning(arg, name.len() + 1).pieces;
        let appends = name.ends_with('+');
        let name = name.trim_end_matches('+').to_owned();
        if appends {
            let mut before = shell.variable(&name).unwrap_or_default();
            before.append(&mut value);
            value = before;
        }
        if is_reference {
            shell.forget(&name);
            continue;
        }
        assigned(shell, &name, &value, true);
        shell.set(&name, value);
    }
    reads(call.name)
}

/// Handles `alias NAME=CODE`. The code is judged where the alias is used, or at the end of the text
/// if it is never used.
pub(super) fn alias(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    for arg in call.args.iter().filter(|arg| !arg.looks_like_option()) {
        let Some((name, _)) = arg.lead.split_once('=') else { continue };
        let name = name.to_owned();
        let text = super::options::without_beginning(arg, name.len() + 1);
        shell.alias(&name, text);
    }
    reads("alias")
}

/// Handles `read`, which sets variables to words of the input. With `-a`, it sets an array to all
/// words, and without a name it sets `REPLY`.
pub(super) fn read_in(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if call.name != "read" {
        return lines_in(shell, call);
    }
    // `-a` may be joined with other options or with the name, as in `read -raNAME`. Then the array
    // becomes unknown; the form `-a NAME` is followed below.
    for (at, arg) in call.args.iter().enumerate().filter(|(_, arg)| arg.looks_like_option()) {
        let array = match arg.lead.split_once('a') {
            Some((_, "")) => call.args.get(at + 1).map(|name| name.text.as_str()),
            Some((_, name)) => Some(name),
            None => None,
        };
        array.into_iter().for_each(|name| shell.forget(name));
    }
    // Other options may choose another input, or only a part of it.
    let simple_options = ["-r", "-a", "-ra"];
    let simple = |arg: &Arg| !arg.looks_like_option() || arg.is_any_of(&simple_options);
    let splits = shell.separators() == " \t\n" && call.args.iter().all(simple);
    let one_line = |text: &String| text.trim_end().lines().count() == 1 && !text.contains('\\');
    let text = call.stdin.text().filter(|text| splits && one_line(text)).unwrap_or_default();
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let plain = |text: &str| vec![WordPiece::Text(text.to_owned())];
    let origin = call.stdin.origin().unwrap_or(WordOrigin::Variable);
    if let Some(array) = values(call.args, &["-a"]).first() {
        let elements = match words.is_empty() {
            true => vec![unknown_value(&array.text, origin)],
            false => words.into_iter().map(plain).collect(),
        };
        shell.set_elements(&array.text, elements);
        return reads(call.name);
    }
    let default = Arg::with_known_text("REPLY");
    let mut names = operands(call.args, &["-p", "-t", "-n", "-d", "-u", "-N", "-i"]);
    if names.is_empty() {
        names.push(&default);
    }
    for (at, name) in names.iter().enumerate() {
        let last = at + 1 == names.len();
        let value = match words.len() {
            0 => unknown_value(&name.text, origin),
            _ if last => plain(&words.join(" ")),
            _ => plain(words.remove(0)),
        };
        shell.set(&name.text, value);
    }
    reads(call.name)
}

/// Handles `mapfile` and `readarray`, which set an array to the lines of the input.
fn lines_in(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let default = Arg::with_known_text("MAPFILE");
    let named = operands(call.args, &["-d", "-n", "-O", "-s", "-u", "-C", "-c"]);
    let name = named.first().copied().unwrap_or(&default);
    // Other options may choose another input, or only a part of it.
    let all = call.args.iter().all(|arg| !arg.looks_like_option() || arg.is_word("-t"));
    let plain = |line: &str| vec![WordPiece::Text(line.to_owned())];
    let lines = call.stdin.text().filter(|_| all);
    let elements = match lines {
        Some(text) => text.lines().map(plain).collect(),
        None => {
            let origin = call.stdin.origin().unwrap_or(WordOrigin::Output);
            vec![unknown_value(&name.text, origin)]
        }
    };
    shell.set_elements(&name.text, elements);
    reads(call.name)
}

fn unknown_value(name: &str, origin: WordOrigin) -> Vec<WordPiece> {
    Arg::unknown(format!("${name}"), origin).pieces
}

/// Returns the words by which `set` replaces the arguments, if it does: those after its options.
fn new_arguments(args: &[Arg]) -> Option<&[Arg]> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        // `set -` alone keeps the arguments.
        if arg.is_word("--") || arg.is_word("-") && at < args.len() {
            return Some(&args[at..]);
        }
        if !arg.lead.starts_with(['-', '+']) {
            return Some(&args[at - 1..]);
        }
        // The name of an option follows, as in `set -eo pipefail`.
        at += usize::from(arg.text.ends_with('o'));
    }
    None
}

/// Handles `set -- a b` and `set a b`, which replace the arguments, and `unset`, which removes
/// variables and functions.
pub(super) fn unset(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if call.name == "set"
        && let Some(given) = new_arguments(call.args)
    {
        shell.set_arguments(given.iter().map(|arg| arg.pieces.clone()).collect());
    }
    if call.name == "unset" {
        // With these options, variables are not removed.
        let kept = has_any(call.args, &["-f", "-n"]);
        for name in operands(call.args, &[]) {
            if !kept && name.text.contains('[') {
                shell.forget(name.text.split('[').next().unwrap_or_default());
            } else if !kept {
                shell.state.variables.remove(&name.text);
            }
            let gone = shell.state.functions.iter_mut().filter(|known| known.name == name.text);
            gone.for_each(|known| known.sure = false);
        }
    }
    if has_any(call.args, &["HISTFILE"]) {
        return destructive_rule("history.off", "HISTFILE");
    }
    reads(call.name)
}

/// Handles `shift`, which removes the first arguments. If it is not known how many, or if one of
/// the arguments may stand for several, all arguments become unknown.
pub(super) fn shift(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let many = call.args.first().map_or(Some(1), |arg| arg.literal()?.parse().ok());
    let given = shell.state.arguments.take().unwrap_or_default();
    let splits = given.iter().any(|value| value.contains(&WordPiece::Splits));
    shell.state.arguments = Some(match many.filter(|_| !splits) {
        Some(many) => given.into_iter().skip(many).collect(),
        None => (1..=given.len()).map(|at| vec![unknown(format!("${at}"))]).collect(),
    });
    reads(call.name)
}

/// Judges `kill`. Ending all processes (`-1`), the own process group (`0`) or the first process
/// (`1`) is destructive. Ending any other process is opaque.
pub(super) fn kill(_: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if call.args.first().is_some_and(|arg| arg.is_any_of(&["-l", "-L", "-0"])) {
        return reads("kill");
    }
    let mut targets = call.args;
    if targets.first().is_some_and(|arg| arg.lead.starts_with('-') && !arg.is_word("--")) {
        let takes_value = ["-s", "-n", "--signal"].iter().any(|option| targets[0].is_word(option));
        targets = &targets[(1 + usize::from(takes_value)).min(targets.len())..];
    }
    let only = call.args.first().filter(|arg| arg.is_word("-1") && call.args.len() == 1);
    let many = targets.iter().find(|arg| arg.is_any_of(&["-1", "1", "0"])).or(only);
    many.map_or_else(|| opaque("kill", "kill"), |arg| destructive_rule("kill.all", &arg.text))
}
