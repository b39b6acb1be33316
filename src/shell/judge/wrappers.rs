//! Sees through programs that start another one.

use super::options::{self, Known};
use super::options::{any, operands, takes_next, values};
use super::{ProgramCall, family, opaque, output, reads, redirected};
use crate::shell::Class;
use crate::shell::expand::{Arg, WordOrigin, WordPiece};
use crate::shell::mentions;
use crate::shell::table::{self, TableRow};
use crate::shell::walk::{Feed, Shell, ShellFinding};

pub(super) fn known(name: &str) -> bool {
    table::rows(family(name)).iter().any(|row| row.kind() == "runs")
}

/// Whether it is `command -v NAME`, which only says what the name stands for. In `command rm -v FILE` the option is one of
/// `rm`.
pub(super) fn looks_up(call: &ProgramCall<'_>) -> bool {
    let own = call.args.iter().take_while(|arg| arg.option()).count();
    call.name == "command" && any(&call.args[..own], &["-v", "-V"])
}

/// What the program that is started would do; nothing where none is.
pub(super) fn unwrap(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> Option<ShellFinding> {
    if call.name == "xargs" {
        return xargs(shell, call);
    }
    if call.name == "parallel" {
        return Some(opaque("wrapper", "parallel").or(parallel(shell, call)));
    }
    if looks_up(call) {
        return None;
    }
    let rows = table::rows(family(call.name)).iter().filter(|row| row.kind() == "runs");
    let (row, at) = rows.into_iter().find_map(|row| Some((row, matched(row, call)?)))?;
    let wrap = Wrap::of(call.name, row);
    let mut found = inner(shell, call, &wrap, at)?;
    for file in values(call.args, &row.list("outputs")) {
        found = found.or(redirected(shell, &file, false).unwrap_or_else(|| reads(call.name)));
    }
    if wrap.elsewhere {
        return Some(opaque("elsewhere", call.name).or(found));
    }
    let own = &call.args[..call.args.len().saturating_sub(rest(&call.args[at..], &wrap).len())];
    for arg in own.iter().filter(|arg| !arg.option()) {
        if mentions::is_path(&arg.text) {
            shell.may_change(arg);
        }
        if let Some((name, value)) = arg.lead.split_once('=') {
            let (name, value) = (name.to_owned(), value.to_owned());
            shell.exported(&name, Some(&value).filter(|_| arg.sure).map(String::as_str));
        }
    }
    let clear = row.flag("clear")
        && own.iter().all(|arg| arg.sure)
        && options::known(row, own) == Known::All;
    Some(if clear { found } else { opaque("wrapper", call.name).or(found) })
}

/// A line about a program that starts another one.
struct Wrap {
    name: String,
    takes: Vec<&'static str>,
    code: Vec<&'static str>,
    operands: usize,
    dashes: bool,
    how: &'static str,
    elsewhere: bool,
}

impl Wrap {
    fn of(name: &str, row: &'static TableRow) -> Self {
        Self {
            name: name.to_owned(),
            takes: [row.list("takes"), row.list("outputs")].concat(),
            code: row.list("code"),
            operands: row.text("after").parse().unwrap_or(0),
            dashes: row.flag("dashes"),
            how: row.word(1),
            elsewhere: row.flag("elsewhere"),
        }
    }
}

/// Where the words after the subcommand begin, when it is the one of this row.
fn matched(row: &TableRow, call: &ProgramCall<'_>) -> Option<usize> {
    let mut at = 0;
    for wanted in row.words.split_whitespace() {
        while call.args.get(at).is_some_and(Arg::option) {
            at += 1 + usize::from(takes_next(&call.args[at].lead, &row.list("takes")));
        }
        let word = call.args.get(at)?.literal()?;
        if !wanted.split('|').any(|name| name == word) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

fn inner(
    shell: &mut Shell<'_>,
    call: &ProgramCall<'_>,
    row: &Wrap,
    from: usize,
) -> Option<ShellFinding> {
    let args = &call.args[from..];
    let mut codes = coded(args, row);
    let packaged = packaged(call.name, rest(args, row));
    let rest = packaged.as_slice();
    let elsewhere = shell.elsewhere;
    let shown: String = call.name.to_owned();
    let stdin = call.stdin.clone();
    let mut run: Option<Vec<Arg>> = None;
    if call.name == "ssh" {
        codes.extend(super::network::started(args));
        if rest.is_empty() && stdin.present {
            codes.extend(stdin.pieces.as_deref().map(Arg::from_pieces));
        }
    }
    match row.how {
        _ if rest.is_empty() => {}
        "words" if call.name == "screen" => codes.extend(stuffed(args)),
        "words" if !codes.is_empty() => {}
        "words" => run = Some(rest.to_vec()),
        "joined" => {
            let keys = ["Enter", "C-m", "ENTER", "C-j", "KPEnter"];
            let words: Vec<&Arg> =
                rest.iter().filter(|arg| !keys.iter().any(|key| arg.is(key))).collect();
            codes.push(Arg::from_pieces(&output::joined(&words)));
        }
        "each" => codes.extend(rest.iter().cloned()),
        _ => {}
    }
    if call.name == "screen" && codes.is_empty() && !rest.is_empty() {
        run = Some(rest.to_vec());
    }
    // `uv run -` hands its input to Python; `--entrypoint` stands before the words.
    if call.name == "uv" && rest.is_empty() && args.iter().any(|arg| arg.is("-")) {
        run = Some(vec![Arg::known("python")]);
    }
    if let Some(entry) = values(args, &["--entrypoint"]).into_iter().next() {
        let image = operands(args, &row.takes).first().map(|arg| arg.text.clone());
        let at = args.iter().rposition(|arg| Some(&arg.text) == image.as_ref());
        let words = at.map_or(&[][..], |at| &args[at + 1..]);
        run = Some(std::iter::once(entry).chain(words.iter().cloned()).collect());
    }
    if codes.is_empty() && run.is_none() {
        return None;
    }
    let found = shell.within(|shell| {
        shell.process(&shown, |shell| {
            shell.elsewhere |= row.elsewhere;
            shell.with_input(Vec::new(), stdin.clone(), |shell| {
                for code in &codes {
                    shell.code(code, &shown);
                }
            });
            if let Some(args) = run {
                shell.run(args, stdin);
            }
        });
        shell.elsewhere = elsewhere;
    });
    if ["setsid", "nohup", "tmux", "screen", "systemd-run", "dtach"].contains(&call.name) {
        shell.background();
    }
    Some(found.unwrap_or_else(|| opaque("wrapper", call.name)))
}

/// The words of a command that a package brings along: `rimraf@5` and `nixpkgs#git` name their programs.
fn packaged(by: &str, words: &[Arg]) -> Vec<Arg> {
    let mut words = words.to_vec();
    let package = ["npx", "bunx", "pnpx", "uvx", "pipx", "npm", "pnpm", "yarn", "bun", "nix"];
    let Some(first) = words.first_mut().filter(|_| package.contains(&by)) else { return words };
    let Some(name) = first.literal() else { return words };
    let name = name.rsplit('#').next().unwrap_or(name);
    let version = name.rfind('@').filter(|at| *at > 0);
    *first = Arg::known(&name[..version.unwrap_or(name.len())]);
    words
}

/// `screen -X stuff 'code'`
fn stuffed(args: &[Arg]) -> Vec<Arg> {
    let at = args.iter().position(|arg| arg.is("stuff") || arg.is("exec"));
    at.map(|at| args[at + 1..].to_vec()).unwrap_or_default()
}

/// The values of the options that hold code, before the command itself begins.
fn coded(args: &[Arg], row: &Wrap) -> Vec<Arg> {
    if row.code.is_empty() {
        return Vec::new();
    }
    let end = args.iter().position(|arg| arg.is("--")).unwrap_or(args.len());
    values(&args[..end], &row.code)
}

/// The words from the command on.
fn rest<'a>(args: &'a [Arg], row: &Wrap) -> &'a [Arg] {
    if row.dashes {
        let at = args.iter().position(|arg| arg.is("--"));
        return at.map_or(&[], |at| &args[at + 1..]);
    }
    let mut at = 0;
    let mut left = row.operands;
    while let Some(arg) = args.get(at) {
        if arg.is("--") {
            at += 1;
            if left == 0 {
                break;
            }
            continue;
        }
        // `nice -10`, `-u root`, `--user=root`.
        if arg.option() {
            at += 1 + usize::from(
                takes_next(&arg.lead, &row.takes) || row.code.contains(&arg.lead.as_str()),
            );
            continue;
        }
        let assigns = ["sudo", "env", "doas", "cross-env"].contains(&row.name.as_str())
            && arg.lead.split_once('=').is_some_and(|(name, _)| variable(name));
        if assigns {
            at += 1;
            continue;
        }
        if left == 0 {
            break;
        }
        left -= 1;
        at += 1;
    }
    // `su - root`, `sudo -` and a lone `-` of `env`.
    while args.get(at).is_some_and(|arg| arg.is("-")) {
        at += 1;
    }
    args.get(at..).unwrap_or_default()
}

fn variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `xargs`: the command with what comes in as its last words, or in the place of `{}`.
fn xargs(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> Option<ShellFinding> {
    let takes = table::list("xargstakes");
    let mut at = 0;
    while call.args.get(at).is_some_and(Arg::option) {
        let one = call.args[at].is("-i") || call.args[at].is("-e");
        at += 1 + usize::from(!one && takes_next(&call.args[at].lead, &takes));
    }
    let command = call.args.get(at..).filter(|rest| !rest.is_empty())?;
    let marks = values(&call.args[..at], &["-I", "-J", "--replace"]);
    let old = any(&call.args[..at], &["-i"]).then(|| "{}".to_owned());
    let mark = marks.first().map(|mark| mark.text.clone()).or(old);
    let found = given(shell, call, command, mark.as_deref());
    // A pattern or a value among its own words may hold the command.
    let sure = call.args[..at].iter().all(|arg| arg.sure);
    Some(if sure { found } else { opaque("wrapper", "xargs").or(found) })
}

/// `parallel COMMAND ::: WORD…`
fn parallel(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let mut at = 0;
    while call.args.get(at).is_some_and(Arg::option) {
        at += 1 + usize::from(takes_next(
            &call.args[at].lead,
            &["-j", "-P", "-N", "-n", "--jobs", "-S", "--joblog"],
        ));
    }
    let rest = &call.args[at..];
    let end = rest.iter().position(|arg| arg.text.starts_with(":::")).unwrap_or(rest.len());
    let words: Vec<WordPiece> = output::joined(&rest.iter().skip(end + 1).collect::<Vec<_>>());
    let stdin = if end < rest.len() { Feed::known(words) } else { call.stdin.clone() };
    let call = ProgramCall { name: call.name, args: call.args, stdin: &stdin };
    match &rest[..end] {
        [] => super::builtins::fed(shell, "parallel", &stdin),
        [code] if code.text.contains(' ') => {
            let text =
                code.text.replace("{}", &stdin.text().unwrap_or_else(|| "\"$X\"".to_owned()));
            let code = Arg { text, ..code.clone() };
            let found = shell.within(|shell| {
                shell.process("parallel", |shell| {
                    shell.code(&code, "parallel");
                });
            });
            found.unwrap_or_else(|| opaque("wrapper", "parallel"))
        }
        command => given(
            shell,
            &call,
            command,
            Some("{}").filter(|_| command.iter().any(|arg| arg.text.contains("{}"))),
        ),
    }
}

/// A command that gets words from its input.
fn given(
    shell: &mut Shell<'_>,
    call: &ProgramCall<'_>,
    command: &[Arg],
    mark: Option<&str>,
) -> ShellFinding {
    let origin = call.stdin.origin().unwrap_or(WordOrigin::Output);
    let words: Vec<Arg> = match &call.stdin.pieces {
        Some(pieces) => match call.stdin.text() {
            // What is quoted in it, or too much, is not taken apart.
            Some(text)
                if text.contains(['"', '\'', '\\'])
                    || text.split_whitespace().nth(32).is_some() =>
            {
                vec![Arg::unknown("$input", origin)]
            }
            Some(text) => text.split_whitespace().map(Arg::known).collect(),
            None => taken_apart(pieces),
        },
        None => vec![Arg::unknown("$input", origin)],
    };
    let mut args: Vec<Arg> = Vec::new();
    for arg in command {
        match mark.filter(|mark| arg.sure && arg.text.contains(mark)) {
            Some(mark) => args.extend(words.iter().map(|word| filled(arg, mark, word))),
            None => args.push(arg.clone()),
        }
    }
    if mark.is_none() {
        args.extend(words);
    }
    let shell_itself = args[0].literal().is_some_and(|name| ["sh", "bash", "zsh"].contains(&name));
    let found = shell.within(|shell| {
        shell.process(call.name, |shell| {
            shell.run(args, Feed::default());
        });
    });
    let found = found.unwrap_or_else(|| opaque("wrapper", call.name));
    if shell_itself && found.class == Class::Read { opaque("wrapper", call.name) } else { found }
}

/// Splits a text at blanks, as `xargs` does. Some of its pieces are not known.
fn taken_apart(pieces: &[WordPiece]) -> Vec<Arg> {
    let mut words: Vec<Vec<WordPiece>> = vec![Vec::new()];
    for piece in pieces {
        let WordPiece::Text(text) = piece else {
            words.last_mut().into_iter().for_each(|word| word.push(piece.clone()));
            continue;
        };
        for (at, part) in text.split(char::is_whitespace).enumerate() {
            if at > 0 {
                words.push(Vec::new());
            }
            if let Some(word) = words.last_mut().filter(|_| !part.is_empty()) {
                word.push(WordPiece::Text(part.to_owned()));
            }
        }
    }
    for word in &mut words {
        // A glob is replaced by the names of all files that fit, so one word may become several.
        if word.iter().any(|piece| matches!(piece, WordPiece::Glob(_))) {
            word.push(WordPiece::Splits);
        }
    }
    words.iter().filter(|word| !word.is_empty()).map(|word| Arg::from_pieces(word)).collect()
}

fn filled(arg: &Arg, mark: &str, word: &Arg) -> Arg {
    let mut pieces = Vec::new();
    for (at, part) in arg.text.split(mark).enumerate() {
        if at > 0 {
            pieces.extend(word.pieces.iter().cloned());
        }
        if !part.is_empty() {
            pieces.push(WordPiece::Text(part.to_owned()));
        }
    }
    Arg::from_pieces(&pieces)
}

#[cfg(test)]
pub(in crate::shell) fn examples() -> impl Iterator<Item = &'static str> {
    let rows = table::all().flat_map(|(_, rows)| rows).filter(|row| row.kind() == "runs");
    rows.map(|row| row.example)
}
