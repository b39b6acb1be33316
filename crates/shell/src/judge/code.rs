//! Judges programs that are given code: shells, interpreters, editors, `make`.
//!
//! Shell code is walked. Code in another language is searched for dangerous calls (`scan`).

use super::files::write;
use super::options::{abbreviations, has_any, operands, takes_next, values, without_beginning};
use super::scan::{scan, texts};
use super::{
    Arg, Class, ProgramCall, Shell, ShellFinding, StreamData, builtins, destructive_rule,
    downloaded, is_downloaded_here, judged_redirection, opaque, reads, rules, table, tried_text,
    unreadable_rule, unseen, writes,
};
use crate::Dialect;
use crate::argument::joined_by_spaces;

pub(super) fn shell_program(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let takes = ["-o", "-O", "+o", "+O", "--rcfile", "--init-file", "-C", "--init-command"];
    let sign = |arg: &&Arg| arg.lead.starts_with(['-', '+']);
    let mut at = 0;
    while let Some(arg) = call.args.get(at).filter(sign) {
        at += 1 + usize::from(takes_next(&arg.lead, &takes));
        if arg.is_word("--") || arg.is_word("-") {
            break;
        }
    }
    let (own, rest) = call.args.split_at(at.min(call.args.len()));
    let options: Vec<&Arg> = own.iter().filter(sign).collect();
    let has = |letter: char| {
        let letters = |arg: &&&Arg| arg.lead.starts_with('-') && !arg.lead.starts_with("--");
        options.iter().filter(letters).any(|arg| arg.lead.contains(letter))
    };
    if options.iter().any(|arg| arg.is_word("-i"))
        && call.stdin.present
        && call.stdin.text().is_none()
    {
        return unreadable_rule("code.piped", call.name);
    }
    let coded = has('c') || options.iter().any(|arg| arg.is_word("--command"));
    let mut found = match rest {
        [] if coded => opaque("code.shell", call.name),
        [_, ..] if has('n') => reads(call.name),
        [code, arguments @ ..] if coded => given_code(shell, call, code, arguments),
        [file, ..] if !has('s') => judged_script_file(shell, call, file),
        _ => builtins::code_from_input(shell, call.name, call.stdin),
    };
    for file in &values(own, &["--rcfile", "--init-file"]) {
        found.raise(judged_script_file(shell, call, file));
    }
    if call.name == "fish" {
        let names: Vec<&str> = std::iter::once("-C")
            .chain(abbreviations("--command"))
            .chain(abbreviations("--init-command"))
            .collect();
        for code in values(own, &names) {
            found.raise(given_code(shell, call, &code, &[]));
        }
    }
    // Other shells have other rules for expansion, so a word may run code there that is plain text
    // here.
    let letters = |text: &str| text.chars().all(|c| "celxuivno".contains(c));
    let proven = ["sh", "bash", "dash", "ash", "rbash"].contains(&call.name)
        && options.iter().all(|arg| {
            arg.is_any_of(&["--norc", "--noprofile", "--login", "--"])
                || arg.sure && letters(&arg.text[1..])
        });
    if proven || found.class != Class::Read { found } else { opaque("code.shell", call.name) }
}

fn given_code(
    shell: &mut Shell,
    call: &ProgramCall,
    code: &Arg,
    arguments: &[Arg],
) -> ShellFinding {
    // The first word is `$0`, unless the arguments begin with what may be several words.
    let named = arguments.first().is_some_and(|arg| !arg.may_split && !arg.glob);
    let given = arguments.iter().skip(usize::from(named)).map(|arg| arg.pieces.clone()).collect();
    let found = shell.in_process(call.name, |shell| {
        let run = |shell: &mut Shell| drop(shell.code(code, call.name));
        shell.with_input(given, call.stdin.clone(), run);
    });
    found.unwrap_or_else(|| reads(call.name))
}

fn judged_script_file(shell: &mut Shell, call: &ProgramCall, file: &Arg) -> ShellFinding {
    if is_downloaded_here(shell, file) {
        return downloaded(&file.text);
    }
    if let Some(feed) = shell.output_of_substitution(file) {
        return builtins::code_from_input(shell, call.name, &feed);
    }
    if let Some(feed) = shell.content_of(file) {
        return opaque("code.script", call.name)
            .most_severe(builtins::code_from_input(shell, call.name, &feed));
    }
    if file.is_any_of(&["/dev/stdin", "/dev/fd/0"]) {
        return builtins::code_from_input(shell, call.name, call.stdin);
    }
    let reason = format!("`{}` runs a script, which is not read.", call.name);
    ShellFinding::new(Class::Opaque, "code.script", &file.text, &reason)
}

/// Judges a script that is run by its path and that the same text has written. Its first line may name
/// the program that reads it.
pub(super) fn written_script(shell: &mut Shell, written: &str, feed: &StreamData) -> ShellFinding {
    let own = opaque("code.script", written);
    let text = feed.text().unwrap_or_default();
    let first = text.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or_default();
    let names = first.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
    let reader = names.into_iter().find(|name| *name != "env" && !name.starts_with('-'));
    match reader.filter(|name| !table::holds("posixshells", name)) {
        Some(reader) => own.most_severe(scan(shell, &text, reader)),
        None => own.most_severe(builtins::code_from_input(shell, "sh", feed)),
    }
}

pub(super) fn later(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if has_any(call.args, &["-l", "-c"]) {
        return reads(call.name);
    }
    if has_any(call.args, &["-r", "-d"]) {
        return destructive_rule("crontab.remove", &call.shown_words(2));
    }
    shell.out.background = true;
    opaque("code.later", call.name)
        .most_severe(builtins::code_from_input(shell, call.name, call.stdin))
}

pub(super) fn interpreter(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if call.args.len() == 1 && has_any(call.args, &["--version", "-V", "-v", "-version"]) {
        return reads(call.name);
    }
    if let Some(found) = rules::judge(call)
        && found.class == Class::Destructive
    {
        return found;
    }
    if let [name, args @ ..] = words_after(call.args, "-m")
        && let Some(name) = name.literal()
    {
        if table::holds("pythonshows", name) || name == "json.tool" && args.len() < 2 {
            return super::inspects(call.name);
        }
        let module = ProgramCall { name, args, stdin: call.stdin };
        if let Some(found) = rules::judge(&module)
            .filter(|found| found.class == Class::Destructive || found.inspects)
        {
            return found;
        }
    }
    let options = rules::line(call.name).map_or_else(Vec::new, |row| row.list("code"));
    let mut codes = values(call.args, &options);
    let all = [options.clone(), table::list("interpretertakes")].concat();
    let named = operands(call.args, &all);
    let module = call.args.iter().any(|arg| arg.is_word("-m") || arg.lead.starts_with("-m"));
    if call.name == "deno" && named.first().is_some_and(|word| word.is_word("eval")) {
        codes.extend(named.get(1).map(|code| (*code).clone()));
    }
    let from_input =
        codes.is_empty() && !module && named.first().is_none_or(|word| word.is_word("-"));
    let fed = match from_input {
        true => Some(call.stdin.clone()),
        false => named.first().and_then(|file| shell.content_of(file)),
    };
    if let Some(feed) = fed {
        if let Some(found) = unseen(feed.origin(), call.name) {
            return found;
        }
        codes.extend(feed.pieces.map(|pieces| Arg::from_pieces(&pieces)));
    }
    if codes.is_empty() && named.first().is_some_and(|file| is_downloaded_here(shell, file)) {
        return downloaded(&named[0].text);
    }
    let mut worst = opaque("program.interpreter", call.name);
    for code in &codes {
        if let Some(found) = unseen(code.origin, call.name) {
            return found;
        }
        worst.raise(scan(shell, &code.text, call.name));
    }
    in_place(shell, call, &codes, &named, worst)
}

/// Judges `perl -pi -e 's/a/b/' FILE…` and `ruby -i`, which write every operand.
fn in_place(
    shell: &mut Shell,
    call: &ProgramCall,
    codes: &[Arg],
    named: &[&Arg],
    worst: ShellFinding,
) -> ShellFinding {
    let edits = |arg: &Arg| {
        let word = arg.lead.as_str();
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| letters.contains('i') && letters.len() < 8)
    };
    let edits = ["perl", "ruby"].contains(&call.name) && call.args.iter().any(edits);
    if !edits || codes.is_empty() {
        return worst;
    }
    let own = writes("edit.in-place", call.name);
    let mut found = own;
    found.raise_all(named.iter().map(|file| write(shell, file)));
    let plain = codes.iter().all(|code| {
        let starts = ["s/", "s|", "s#", "s{", "s,", "s!", "tr/", "y/"];
        starts.iter().any(|start| code.text.trim_start().starts_with(start))
            && !code.text.contains(['`', '('])
            || code.text.matches('/').count() == 3 && !code.text.contains(['`', ';'])
    });
    if plain && worst.class == Class::Opaque { found } else { worst.most_severe(found) }
}

/// Judges `awk`. It only reads if its program can do nothing else.
pub(super) fn awk(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let takes = ["-F", "-v", "-f", "-i", "--field-separator", "--assign", "-l", "-e"];
    let named = operands(call.args, &takes);
    let mut worst = rules::by_options(call);
    let Some((program, files)) = named.split_first() else { return worst };
    if !has_any(call.args, &["-f", "--file"]) {
        worst.raise(awk_program(shell, program));
    }
    if values(call.args, &["-i"]).iter().any(|value| value.is_word("inplace")) {
        worst = files.iter().fold(worst, |worst, file| worst.most_severe(write(shell, file)));
    }
    worst
}

/// Judges a program of `awk`. It only reads if it neither runs anything nor prints to a file or
/// another program.
fn awk_program(shell: &mut Shell, program: &Arg) -> ShellFinding {
    let code = program.text.as_str();
    let texts = texts(code);
    // Without regular expressions, it is certain where a string begins.
    let mut bare = code.to_owned();
    if !code.contains('/') {
        texts.iter().rev().for_each(|text| bare.replace_range(text.start..text.end, "_"));
    }
    let bare = bare.replace("||", " ");
    let printed = bare.find("print").is_some_and(|at| bare[at..].contains(['>', '|']));
    let runs = ["system", "getline", "@", "|&"].iter().any(|word| bare.contains(word));
    if program.sure && !printed && !runs {
        return reads("awk");
    }
    shell.mention(code);
    for text in texts.iter().filter(|text| code[..text.start].trim_end().ends_with('>')) {
        let file = Arg::with_known_text(text.text.clone());
        let found = judged_redirection(shell, &file, true);
        if let Some(found) = found.filter(|found| found.class == Class::Destructive) {
            return found;
        }
    }
    let piped = texts.iter().any(|text| {
        let name = text.text.rsplit('/').next().unwrap_or_default();
        ["sh", "bash", "zsh"].contains(&name) && code[..text.start].trim_end().ends_with('|')
    });
    if piped || code.contains("system($") || code.contains("system()") {
        return unreadable_rule("code.unknown", "system");
    }
    opaque("code.awk", "awk").most_severe(scan(shell, code, "awk"))
}

/// Judges `less` and `more`. They read, but may begin with a command: `less '+!rm x'`.
pub(super) fn pager(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let mut worst = rules::by_options(call);
    for code in call.args.iter().filter_map(|arg| arg.text.strip_prefix('+')) {
        let goes = code.chars().all(|c| c.is_ascii_digit()) || matches!(code, "G" | "F");
        if let Some(code) = code.strip_prefix('!') {
            worst.raise(shell.judge_inner_code(call.name, code));
        } else if !goes && !code.starts_with('/') {
            worst.raise(opaque("program.options", call.name));
        }
    }
    worst
}

/// Judges the commands of editors: `vim -c '!…'`, `ed`, `ex`, `gdb -ex 'shell …'`.
pub(super) fn editor(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let options = ["-c", "--cmd", "-ex", "-iex", "--eval-command", "-S"];
    let named = operands(call.args, &options);
    let given = values(call.args, &options).into_iter().map(|code| code.text);
    let begun = call.args.iter().filter_map(|arg| arg.text.strip_prefix('+').map(str::to_owned));
    let fed = call.stdin.text().unwrap_or_default();
    let codes: Vec<String> = given.chain(begun).chain(fed.lines().map(str::to_owned)).collect();
    let mut worst = opaque("program.editor", call.name);
    for code in &codes {
        let command = code.trim_start_matches([':', ' ', '%', '1', '$', ',']);
        let command =
            command.strip_prefix("silent ").or(command.strip_prefix("silent! ")).unwrap_or(command);
        let run = table::list("editorruns").iter().find_map(|begin| command.strip_prefix(*begin));
        if let Some(run) = run {
            worst.raise(shell.judge_inner_code(call.name, run.trim_start_matches('!')));
        }
        worst.raise(scan(shell, command, "vim"));
    }
    if call.name != "gdb" {
        for file in named.iter().filter(|file| !file.text.starts_with('+')) {
            worst.raise(write(shell, file));
        }
    }
    worst
}

/// Judges `make`. The makefile is not read, but code on the command line is judged.
pub(super) fn make(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let mut codes: Vec<String> =
        values(call.args, &["--eval", "-E"]).iter().map(|code| code.text.clone()).collect();
    codes.extend(call.args.iter().filter(|arg| !arg.looks_like_option()).filter_map(|arg| {
        arg.text.split_once('=').map(|(_, value)| value.trim_start_matches(':').to_owned())
    }));
    for file in &values(call.args, &["-f", "--file", "--makefile"]) {
        let input = file.is_word("-") || file.is_word("/dev/stdin");
        let feed = if input { Some(call.stdin.clone()) } else { shell.content_of(file) };
        codes.extend(feed.and_then(|feed| feed.text()));
    }
    let prints =
        has_any(call.args, &["-n", "--dry-run", "--just-print", "--recon", "-q", "--question"]);
    let is_plain = codes.is_empty() && prints;
    let mut worst = opaque("program.make", call.name);
    if is_plain {
        worst = worst.inspects();
    }
    for code in codes {
        let inner = code.match_indices("$(shell ").map(|(at, _)| {
            let inside = &code[at + "$(shell ".len()..];
            inside[..inside.find(')').unwrap_or(inside.len())].to_owned()
        });
        let lines = code.lines().flat_map(|line| line.split(';')).map(|line| {
            let recipe = line.split_once(":\t").map_or(line, |(_, recipe)| recipe);
            recipe.trim().trim_start_matches(['@', '-', '+']).replace("$$", "$")
        });
        worst.raise_all(inner.chain(lines).filter(|command| command.len() > 2).map(|command| {
            tried_text(shell, &command).filter(|found| found.class == Class::Destructive)
        }));
    }
    worst
}

pub(super) fn powershell(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let takes = table::list("pstakes");
    let mut at = 0;
    while let Some(arg) = call.args.get(at).filter(|arg| arg.text.starts_with(['-', '/'])) {
        let name = arg.text.to_ascii_lowercase();
        let name = name.trim_start_matches(['-', '/']);
        at += 1;
        let is = |full: &str, least: &str| full.starts_with(name) && name.starts_with(least);
        if is("encodedcommand", "e") && name != "ex" || name == "ec" {
            return unreadable_rule("code.encoded", &arg.text);
        }
        if is("file", "f") {
            return opaque("code.script", call.name);
        }
        if is("command", "c") && name != "co" {
            break;
        }
        at += usize::from(takes.contains(&name));
    }
    let rest: Vec<&str> =
        call.args[at.min(call.args.len())..].iter().map(|arg| &*arg.text).collect();
    match (rest.as_slice(), call.stdin.text()) {
        ([], Some(text)) => other_shell(shell, call, &text),
        ([], None) => builtins::code_from_input(shell, call.name, call.stdin),
        ([script, ..], _) if script.to_ascii_lowercase().ends_with(".ps1") => {
            opaque("code.script", call.name)
        }
        (words, _) => other_shell(shell, call, &words.join(" ")),
    }
}

/// Judges `cmd /c …` and its other forms, such as `/k`.
pub(super) fn cmd(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let starts = ["/c", "/k", "/r", "//c", "//k"];
    let lower = |arg: &Arg| arg.text.to_ascii_lowercase();
    let at = call.args.iter().position(|arg| starts.contains(&lower(arg).as_str()));
    let Some(at) = at else { return opaque("code.cmd", "cmd") };
    let words: Vec<&str> = call.args[at + 1..].iter().map(|arg| &*arg.text).collect();
    other_shell(shell, call, &words.join(" "))
}

fn other_shell(shell: &mut Shell, call: &ProgramCall, text: &str) -> ShellFinding {
    let (dialect, rule) = match call.name {
        "cmd" => (Dialect::Cmd, "code.cmd"),
        _ => (Dialect::PowerShell, "code.powershell"),
    };
    let found = shell.in_process(call.name, |shell| shell.windows_text(text, dialect));
    found.unwrap_or_else(|| opaque(rule, call.name))
}

/// Judges a call of this program. Some of its commands are reserved for a person.
pub(super) fn intent(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let words = operands(call.args, &["-C", "--color", "--session", "--for"]);
    let verb = words.first().map_or("", |word| word.text.as_str());
    let mut found = match rules::judge(call) {
        Some(found) if found.class == Class::Destructive => {
            let found = found.safer("Ask the person to run it in a terminal of their own.");
            return ShellFinding { word: format!("intent {verb}"), ..found };
        }
        _ if verb == "test" => tests(shell, call),
        _ if verb == "fence" => fences(shell, call),
        _ if verb == "select" => opaque("intent.select", "intent select"),
        Some(found) if found.class == Class::Read => found,
        _ => opaque("intent.other", "intent"),
    };
    // `--also sarif=FILE`
    let copies = values(call.args, &["--also"]).into_iter();
    let copies =
        copies.map(|copy| without_beginning(&copy, copy.lead.find('=').map_or(0, |at| at + 1)));
    for file in values(call.args, &["--out", "--output", "-o", "--dir"]).into_iter().chain(copies) {
        found.raise(judged_redirection(shell, &file, false));
    }
    found
}

fn words_after<'a>(args: &'a [Arg], word: &str) -> &'a [Arg] {
    let at = args.iter().position(|arg| arg.is_word(word));
    at.map_or(&[], |at| &args[at + 1..])
}

fn fences(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let words = words_after(call.args, "--").to_vec();
    let found = shell.started_by("intent fence", words);
    found.unwrap_or_else(|| reads("intent"))
}

/// Judges `intent test ID -- COMMAND` as the command. Without one, it runs a command from the
/// registry, which is not known here.
fn tests(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let own = opaque("intent.test", "intent test");
    let words = words_after(call.args, "--").to_vec();
    let code = Arg::from_pieces(&joined_by_spaces(&words.iter().collect::<Vec<_>>()));
    own.most_severe(shell.in_process("intent", |shell| {
        // One word is a line for a shell, and several are a program with its arguments. But the
        // words may also have been taken from a criterion that is one line, so several words are
        // judged in both ways.
        shell.code(&code, "intent");
        if words.len() > 1 {
            shell.run(words, StreamData::default());
        }
    }))
}
