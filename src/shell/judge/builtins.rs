//! Judges the builtins of the shell: those that change the folder, variables or arguments, and
//! those that run code.

use super::options::{any, operands};
use super::output::joined;
use super::{
    Arg, Class, ProgramCall, Shell, ShellFinding, StreamData, WordOrigin, WordPiece, decoded,
    destructive_rule, downloaded, fetched, opaque, reads, table, unreadable_rule, unseen,
};
use crate::shell::expand::unknown;
use crate::shell::paths;

/// Judges an assignment. The values of some variables are later run as code.
pub(in crate::shell) fn assigned(shell: &mut Shell, name: &str, value: &[WordPiece], alone: bool) {
    let value = Arg::from_pieces(value);
    if table::holds("runvalues", name) && value.sure && value.text.contains([' ', ';', '|', '`']) {
        let found = shell.inner(name, &value.text);
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

/// Judges `cd`, `pushd` and `popd`.
pub(super) fn change_folder(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let to = operands(call.args, &[]);
    if call.name == "popd" {
        let there = shell.state.stack.pop().flatten();
        shell.state.cwd = there.filter(|_| call.args.is_empty());
        return reads(call.name);
    }
    if call.name == "pushd" {
        let here = shell.cwd().map(str::to_owned);
        shell.state.stack.push(here);
    }
    let there = match to.first() {
        None => shell.at.home.as_deref().map(paths::slashed),
        Some(arg) if arg.is("-") => None,
        Some(arg) if arg.sure => paths::from(shell.cwd(), &arg.text),
        Some(arg) if arg.temp => Some("/tmp/\u{2026}".to_owned()),
        // The output of some programs is predicted, so `cd "$(git rev-parse --show-toplevel)"` is
        // handled above. Any other value is not known.
        Some(_) => None,
    };
    shell.state.cwd = there;
    reads(call.name)
}

/// Judges `eval`, whose words together are code.
pub(super) fn eval(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let words: Vec<&Arg> = call.args.iter().filter(|arg| !arg.is("--")).collect();
    let code = Arg::from_pieces(&joined(&words));
    shell.via.push("eval".to_owned());
    let found = shell.within(|shell| shell.code(&code, "eval"));
    shell.via.pop();
    found.unwrap_or_else(|| reads("eval"))
}

/// Judges `.` and `source`: the code of a file, or the output of a substitution.
pub(super) fn source(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let Some(file) = call.args.first() else { return opaque("source", call.name) };
    if fetched(shell, file) {
        return downloaded(&file.text);
    }
    let feed = match shell.remembered(file) {
        Some(feed) => feed,
        None if ["/dev/stdin", "-", "/dev/fd/0"].iter().any(|stdin| file.is(stdin)) => {
            call.stdin.clone()
        }
        None => {
            let reason = "It runs the commands of a file, which is not read.";
            return ShellFinding::new(Class::Opaque, "source", &file.text, reason);
        }
    };
    fed(shell, call.name, &feed)
}

/// Judges a shell that reads code from this input.
pub(super) fn fed(shell: &mut Shell, by: &str, feed: &StreamData) -> ShellFinding {
    if let Some(pieces) = &feed.pieces {
        let code = Arg::from_pieces(pieces);
        let found = shell.in_process(by, |shell| shell.code(&code, by));
        let found = found.unwrap_or_else(|| opaque("code.stdin", by));
        return if feed.decoded { found.or(decoded(by)) } else { found };
    }
    if let Some(found) = unseen(feed.origin(), by) {
        return found;
    }
    if feed.file || !feed.present || by == "source" || by == "." {
        return opaque(if feed.file { "code.file" } else { "code.stdin" }, by);
    }
    unreadable_rule("code.piped", by)
}

/// Handles `trap CODE SIGNAL…`, which keeps code to run later.
pub(super) fn trap(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let [code, _, ..] = call.args else { return reads("trap") };
    if code.is("-") || code.is("") || code.option() {
        return reads("trap");
    }
    // The code is walked at the end, because only then its variables have their values.
    shell.state.traps.push(code.clone());
    reads("trap")
}

/// Handles `export`, `declare` and `local`: assignments that remain in effect. With `-n`, the name
/// refers to another variable.
pub(super) fn declare(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let second = any(call.args, &["-n"]) && call.name != "export";
    let hides = matches!(call.name, "local" | "declare" | "typeset") && !any(call.args, &["-g"]);
    for arg in call.args.iter().filter(|arg| hides && !arg.option()) {
        let name = arg.lead.split(['=', '+']).next().unwrap_or_default().to_owned();
        shell.make_local(&name);
    }
    for arg in call.args.iter().filter(|arg| !arg.option()) {
        let Some((name, _)) = arg.lead.split_once('=') else { continue };
        let value = super::options::cut(arg, name.len() + 1).pieces;
        let name = name.to_owned();
        if second {
            let of = Arg::from_pieces(&value);
            shell.variable_name(&of);
            shell.second_name(&name, &of.text);
            continue;
        }
        assigned(shell, &name, &value, true);
        shell.set(&name, value);
    }
    reads(call.name)
}

/// Handles `alias NAME=CODE`. The code is judged where the alias is used, or at the end.
pub(super) fn alias(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    for arg in call.args.iter().filter(|arg| !arg.option()) {
        let Some((name, _)) = arg.lead.split_once('=') else { continue };
        let name = name.to_owned();
        let text = super::options::cut(arg, name.len() + 1);
        shell.alias(&name, text);
    }
    reads("alias")
}

/// Handles `read` and `mapfile`, which set variables to the input.
pub(super) fn read_in(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let takes: &[&str] = match call.name {
        "read" => &["-p", "-t", "-n", "-d", "-u", "-N", "-i", "-a"],
        _ => &["-d", "-n", "-O", "-s", "-u", "-C", "-c"],
    };
    let names = operands(call.args, takes);
    let origin = call.stdin.origin();
    let unknown = |name: &str, origin: WordOrigin| {
        vec![WordPiece::Unknown { shown: format!("${name}"), origin }]
    };
    let plain = |text: &str| vec![WordPiece::Text(text.to_owned())];
    if call.name != "read" {
        let lines = call.stdin.text().map(|text| text.lines().map(plain).collect::<Vec<_>>());
        for name in names {
            let any = || vec![unknown(&name.text, origin.unwrap_or(WordOrigin::Output))];
            shell.set_elements(&name.text, lines.clone().unwrap_or_else(any));
        }
        return reads(call.name);
    }
    let splits = shell.separators() == " \t\n";
    let simple = |text: &String| text.trim_end().lines().count() == 1 && !text.contains('\\');
    let text = call.stdin.text().filter(|text| splits && simple(text)).unwrap_or_default();
    let mut words: Vec<&str> = text.split_whitespace().collect();
    for (at, name) in names.iter().enumerate() {
        let last = at + 1 == names.len();
        let value = match words.len() {
            0 => unknown(&name.text, origin.unwrap_or(WordOrigin::Variable)),
            _ if last => plain(&words.join(" ")),
            _ => plain(words.remove(0)),
        };
        shell.set(&name.text, value);
    }
    reads(call.name)
}

/// Handles `set -- a b` and `unset`.
pub(super) fn unset(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if call.name == "set"
        && let Some(at) = call.args.iter().position(|arg| arg.is("--"))
    {
        let given = call.args[at + 1..].iter().map(|arg| arg.pieces.clone());
        shell.arguments = Some(given.collect());
    }
    if call.name == "unset" {
        let functions = any(call.args, &["-f"]);
        for name in operands(call.args, &[]) {
            if !functions {
                shell.state.variables.remove(&name.text);
                shell.state.names.retain(|(known, _)| *known != name.text);
            }
            let gone = shell.state.functions.iter_mut().filter(|known| known.name == name.text);
            gone.for_each(|known| known.sure = false);
        }
    }
    if any(call.args, &["HISTFILE"]) {
        return destructive_rule("history.off", "HISTFILE");
    }
    reads(call.name)
}

/// Handles `shift`, which removes the first arguments.
pub(super) fn shift(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let many = call.args.first().map_or(Some(1), |arg| arg.literal()?.parse().ok());
    let given = shell.arguments.take().unwrap_or_default();
    shell.arguments = Some(match many {
        Some(many) => given.into_iter().skip(many).collect(),
        None => (1..=given.len()).map(|at| vec![unknown(format!("${at}"))]).collect(),
    });
    reads(call.name)
}

/// Judges `kill`. Ending one process is opaque, ending all processes is destructive.
pub(super) fn kill(_: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if call.args.iter().any(|arg| arg.is("-l") || arg.is("-L") || arg.is("-0")) {
        return reads("kill");
    }
    let mut targets = call.args;
    if targets.first().is_some_and(|arg| arg.lead.starts_with('-') && !arg.is("--")) {
        let named = ["-s", "-n", "--signal"].iter().any(|option| targets[0].is(option));
        targets = &targets[(1 + usize::from(named)).min(targets.len())..];
    }
    let first = call.args.first().filter(|arg| arg.is("-1") && call.args.len() == 1);
    let all = targets.iter().find(|arg| arg.is("-1") || arg.is("1") || arg.is("0")).or(first);
    all.map_or_else(|| opaque("kill", "kill"), |arg| destructive_rule("kill.all", &arg.text))
}
