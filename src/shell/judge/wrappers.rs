//! Judges programs that start another program by what the other program does.

use super::options::{self, KnownOptions};
use super::options::{any, leading, operands, takes_next, values};
use super::{
    Arg, Class, ProgramCall, Shell, ShellFinding, StreamData, WordOrigin, WordPiece, family,
    mentions, opaque, output, redirected, table,
};
use crate::shell::evaluation::is_name;
use crate::shell::table::TableRow;

/// Returns true if the table says that a program may start other programs.
pub(super) fn known(name: &str) -> bool {
    table::rows(family(name)).iter().any(|row| row.kind() == "runs")
}

/// Returns true for `command -v NAME`, which only prints what the name stands for. In `command rm
/// -v FILE`, `-v` is an option of `rm`.
pub(super) fn looks_up(call: &ProgramCall) -> bool {
    let own = call.args.iter().take_while(|arg| arg.option()).count();
    call.name == "command" && any(&call.args[..own], &["-v", "-V"])
}

/// Judges the program that a wrapper starts. Returns `None` if the call starts none.
pub(super) fn unwrap(shell: &mut Shell, call: &ProgramCall) -> Option<ShellFinding> {
    if call.name == "xargs" {
        return xargs(shell, call);
    }
    if call.name == "parallel" {
        return Some(opaque("wrapper", "parallel").or(parallel(shell, call)));
    }
    if looks_up(call) {
        return None;
    }
    let mut rows = table::rows(family(call.name)).iter().filter(|row| row.kind() == "runs");
    let (row, at) = rows.find_map(|row| Some((row, matched(row, call)?)))?;
    let mut found = inner(shell, call, row, at)?;
    for file in values(call.args, &row.list("outputs")) {
        found = found.or(redirected(shell, &file, false));
    }
    if row.flag("elsewhere") {
        return Some(opaque("elsewhere", call.name).or(found));
    }
    let command_len = rest(call.name, &call.args[at..], row).len();
    let own = &call.args[..call.args.len().saturating_sub(command_len)];
    // Among the wrapper's own words, a path may be a file that it changes, and `A=1` sets a
    // variable for the command.
    for arg in own.iter().filter(|arg| !arg.option()) {
        if mentions::is_path(&arg.text) {
            shell.may_change(arg);
        }
        if let Some((name, value)) = arg.lead.split_once('=') {
            shell.check_exported(name, Some(value).filter(|_| arg.sure));
        }
    }
    let clear = row.flag("clear")
        && own.iter().all(|arg| arg.sure)
        && options::known(row, own) == KnownOptions::Listed;
    Some(if clear { found } else { opaque("wrapper", call.name).or(found) })
}

/// Returns the options of a wrapper that take the next word as their value.
fn taking(row: &TableRow) -> Vec<&'static str> {
    [row.list("takes"), row.list("outputs")].concat()
}

/// Returns the index of the first word after the subcommand, if the call has the subcommand of this
/// row.
fn matched(row: &TableRow, call: &ProgramCall) -> Option<usize> {
    let (mut at, takes) = (0, row.list("takes"));
    for wanted in row.words.split_whitespace() {
        at += leading(&call.args[at..], &takes);
        let word = call.args.get(at)?.literal()?;
        if !wanted.split('|').any(|name| name == word) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Judges the command and the code that a wrapper starts. Returns `None` if there is neither.
fn inner(
    shell: &mut Shell,
    call: &ProgramCall,
    row: &TableRow,
    from: usize,
) -> Option<ShellFinding> {
    let args = &call.args[from..];
    let mut codes = coded(args, row);
    let rest = packaged(call.name, rest(call.name, args, row));
    let stdin = call.stdin.clone();
    let mut run: Option<Vec<Arg>> = None;
    if call.name == "ssh" {
        codes.extend(super::network::started(args));
        if rest.is_empty() && stdin.present {
            codes.extend(stdin.pieces.as_deref().map(Arg::from_pieces));
        }
    }
    match row.word(1) {
        _ if rest.is_empty() => {}
        "words" if call.name == "screen" => {
            codes.extend(screen_code(args));
            run = codes.is_empty().then_some(rest);
        }
        "words" if codes.is_empty() => run = Some(rest),
        "joined" => {
            let words: Vec<&Arg> =
                rest.iter().filter(|arg| !table::holds("sentkeys", &arg.text)).collect();
            codes.push(Arg::from_pieces(&output::joined(&words)));
        }
        "each" => codes.extend(rest),
        _ => {}
    }
    // `uv run -` passes its input to Python.
    if call.name == "uv" && run.is_none() && args.iter().any(|arg| arg.is("-")) {
        run = Some(vec![Arg::known("python")]);
    }
    // `--entrypoint` names the program, and the words after the image are its arguments.
    if let Some(entry) = values(args, &["--entrypoint"]).into_iter().next() {
        let image = operands(args, &taking(row)).first().map(|arg| arg.text.clone());
        let at = args.iter().rposition(|arg| Some(&arg.text) == image.as_ref());
        let words = at.map_or(&[][..], |at| &args[at + 1..]);
        run = Some(std::iter::once(entry).chain(words.iter().cloned()).collect());
    }
    if codes.is_empty() && run.is_none() {
        return None;
    }
    let elsewhere = shell.elsewhere;
    shell.elsewhere |= row.flag("elsewhere");
    let found = shell.in_process(call.name, |shell| {
        shell.with_input(Vec::new(), stdin.clone(), |shell| {
            codes.iter().for_each(|code| drop(shell.code(code, call.name)));
        });
        shell.run(run.unwrap_or_default(), stdin);
    });
    shell.elsewhere = elsewhere;
    if table::holds("backgrounders", call.name) {
        shell.out.background = true;
    }
    Some(found.unwrap_or_else(|| opaque("wrapper", call.name)))
}

/// Returns the words of a command that comes from a package: `rimraf@5` and `nixpkgs#git` start
/// `rimraf` and `git`.
fn packaged(by: &str, words: &[Arg]) -> Vec<Arg> {
    let mut words = words.to_vec();
    let first = words.first_mut().filter(|_| table::holds("packagers", by));
    let Some(first) = first else { return words };
    let Some(name) = first.literal() else { return words };
    let name = name.rsplit('#').next().unwrap_or(name);
    let version = name.rfind('@').filter(|at| *at > 0);
    *first = Arg::known(&name[..version.unwrap_or(name.len())]);
    words
}

/// Returns the words after `stuff` or `exec`, each of which is code: `screen -X stuff 'code'`.
fn screen_code(args: &[Arg]) -> Vec<Arg> {
    let at = args.iter().position(|arg| arg.is("stuff") || arg.is("exec"));
    at.map(|at| args[at + 1..].to_vec()).unwrap_or_default()
}

/// Returns the values of the options that contain code, up to `--`.
fn coded(args: &[Arg], row: &TableRow) -> Vec<Arg> {
    let end = args.iter().position(|arg| arg.is("--")).unwrap_or(args.len());
    values(&args[..end], &row.list("code"))
}

/// Returns the words of the command that a wrapper starts.
fn rest<'a>(name: &str, args: &'a [Arg], row: &TableRow) -> &'a [Arg] {
    if row.flag("dashes") {
        let at = args.iter().position(|arg| arg.is("--"));
        return at.map_or(&[], |at| &args[at + 1..]);
    }
    let (takes, code) = (taking(row), row.list("code"));
    let assigns = |arg: &Arg| {
        ["sudo", "env", "doas", "cross-env"].contains(&name)
            && arg.lead.split_once('=').is_some_and(|(name, _)| is_name(name))
    };
    let mut operands_left: usize = row.text("after").parse().unwrap_or(0);
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if arg.is("--") {
            at += 1;
            if operands_left == 0 {
                break;
            }
        } else if arg.option() {
            // For example `nice -10`, `-u root` or `--user=root`.
            let lead = arg.lead.as_str();
            at += 1 + usize::from(takes_next(lead, &takes) || code.contains(&lead));
        } else if assigns(arg) {
            at += 1;
        } else if operands_left > 0 {
            (operands_left, at) = (operands_left - 1, at + 1);
        } else {
            break;
        }
    }
    // A `-` is not the command: `su - root`, `sudo -` or `env -`.
    while args.get(at).is_some_and(|arg| arg.is("-")) {
        at += 1;
    }
    args.get(at..).unwrap_or_default()
}

/// Judges `xargs`: the words of the input are added to the command, or replace the placeholder that
/// an option such as `-I` names. For `-i`, the placeholder is `{}`.
fn xargs(shell: &mut Shell, call: &ProgramCall) -> Option<ShellFinding> {
    let at = leading(call.args, &table::list("xargstakes"));
    let command = call.args.get(at..).filter(|rest| !rest.is_empty())?;
    let named = values(&call.args[..at], &["-I", "-J", "--replace"]);
    let by_default = any(&call.args[..at], &["-i"]).then(|| "{}".to_owned());
    let placeholder = named.first().map(|arg| arg.text.clone()).or(by_default);
    let found = run_given_words(shell, call, command, placeholder.as_deref());
    // The command may be in a glob or in an unknown value among the words before it.
    let sure = call.args[..at].iter().all(|arg| arg.sure);
    Some(if sure { found } else { opaque("wrapper", "xargs").or(found) })
}

/// Judges `parallel COMMAND ::: WORD…`. Without `:::`, the words are those of the input.
fn parallel(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let rest = &call.args[leading(call.args, &table::list("paralleltakes"))..];
    let end = rest.iter().position(|arg| arg.text.starts_with(":::")).unwrap_or(rest.len());
    let words: Vec<WordPiece> = output::joined(&rest.iter().skip(end + 1).collect::<Vec<_>>());
    let stdin = if end < rest.len() { StreamData::known(words) } else { call.stdin.clone() };
    let call = ProgramCall { name: call.name, args: call.args, stdin: &stdin };
    match &rest[..end] {
        [] => super::builtins::code_from_input(shell, "parallel", &stdin),
        [code] if code.text.contains(' ') => {
            // A variable stands for a word that is not known.
            let text =
                code.text.replace("{}", &stdin.text().unwrap_or_else(|| "\"$X\"".to_owned()));
            let code = Arg { text, ..code.clone() };
            let found = shell.in_process("parallel", |shell| shell.code(&code, "parallel"));
            found.unwrap_or_else(|| opaque("wrapper", "parallel"))
        }
        command => {
            let has_placeholder = command.iter().any(|arg| arg.text.contains("{}"));
            run_given_words(shell, &call, command, Some("{}").filter(|_| has_placeholder))
        }
    }
}

/// Judges a command that gets the words of the input: in place of the placeholder, or else at its
/// end.
fn run_given_words(
    shell: &mut Shell,
    call: &ProgramCall,
    command: &[Arg],
    placeholder: Option<&str>,
) -> ShellFinding {
    let origin = call.stdin.origin().unwrap_or(WordOrigin::Output);
    // Input that contains quotes or backslashes, or more than 32 words, is not split.
    let is_unsplit = call.stdin.text().is_some_and(|text| {
        text.contains(['"', '\'', '\\']) || text.split_whitespace().nth(32).is_some()
    });
    let words = match &call.stdin.pieces {
        Some(pieces) if !is_unsplit => split_at_blanks(pieces),
        _ => vec![Arg::unknown("$input", origin)],
    };
    let mut args: Vec<Arg> = Vec::new();
    for arg in command {
        match placeholder.filter(|placeholder| arg.sure && arg.text.contains(placeholder)) {
            Some(placeholder) => {
                args.extend(words.iter().map(|word| filled(arg, placeholder, word)));
            }
            None => args.push(arg.clone()),
        }
    }
    if placeholder.is_none() {
        args.extend(words);
    }
    // The words may be code for a shell, so a shell never counts as only reading.
    let is_shell = args[0].literal().is_some_and(|name| ["sh", "bash", "zsh"].contains(&name));
    let found = shell.started_by(call.name, args);
    let found = found.unwrap_or_else(|| opaque("wrapper", call.name));
    if is_shell && found.class == Class::Read { opaque("wrapper", call.name) } else { found }
}

/// Splits the input at blanks, as `xargs` does.
fn split_at_blanks(pieces: &[WordPiece]) -> Vec<Arg> {
    let mut words: Vec<Vec<WordPiece>> = vec![Vec::new()];
    for piece in pieces {
        let parts = match piece {
            WordPiece::Text(text) => {
                let parts = text.split(char::is_whitespace);
                parts.map(|part| WordPiece::Text(part.to_owned())).collect()
            }
            other => vec![other.clone()],
        };
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                words.push(Vec::new());
            }
            words.last_mut().into_iter().for_each(|word| word.push(part.clone()));
        }
    }
    for word in &mut words {
        // A glob is replaced by the names of all matching files, so one word may become several.
        if word.iter().any(|piece| matches!(piece, WordPiece::Glob(_))) {
            word.push(WordPiece::Splits);
        }
    }
    let words = words.iter().map(|word| Arg::from_pieces(word));
    words.filter(|word| !word.text.is_empty()).collect()
}

/// Returns an argument with a word in place of each placeholder: `src/{}` becomes `src/a.rs`.
fn filled(arg: &Arg, placeholder: &str, word: &Arg) -> Arg {
    let mut pieces = Vec::new();
    for (at, part) in arg.text.split(placeholder).enumerate() {
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
