//! Judges programs that start another program by what the other program does.

use super::options::{self, KnownOptions};
use super::options::{count_of_leading_words, takes_next, values};
use super::{
    Arg, Class, ProgramCall, Shell, ShellFinding, StreamData, WordOrigin, WordPiece, family,
    judged_redirection, mentions, opaque, output, table,
};
use crate::argument::{is_name, joined_by_spaces, with_placeholder_filled};
use crate::table::TableRow;

pub(super) fn is_wrapper(name: &str) -> bool {
    table::rows(family(name)).iter().any(|row| row.kind() == "runs")
}

/// Judges the program that a wrapper starts. Returns `None` if the call starts none. For example,
/// `sudo nice rm -rf src` starts `rm -rf src` via `sudo` and `nice`.
pub(super) fn unwrap(shell: &mut Shell, call: &ProgramCall) -> Option<ShellFinding> {
    if call.name == "xargs" {
        return xargs(shell, call);
    }
    if call.name == "parallel" {
        return Some(opaque("wrapper", "parallel").most_severe(parallel(shell, call)));
    }
    if output::looks_up(call) {
        return None;
    }
    let mut rows = table::rows(family(call.name)).iter().filter(|row| row.kind() == "runs");
    let (row, at) = rows.find_map(|row| Some((row, index_after_subcommand(row, call)?)))?;
    let mut found = judge_wrapped(shell, call, row, at)?;
    for file in values(call.args, &row.list("outputs")) {
        found.raise(judged_redirection(shell, &file, false));
    }
    if row.has_flag("elsewhere") {
        return Some(opaque("elsewhere", call.name).most_severe(found));
    }
    let command_len = wrapped_words(call.name, &call.args[at..], row).len();
    let own = &call.args[..call.args.len().saturating_sub(command_len)];
    // Among the wrapper's own words, a path may be a file that it changes, and `A=1` sets a
    // variable for the command.
    for arg in own.iter().filter(|arg| !arg.looks_like_option()) {
        if mentions::is_path(&arg.text) {
            shell.may_change(arg);
        }
        if let Some((name, value)) = arg.lead.split_once('=') {
            shell.check_exported(name, Some(value).filter(|_| arg.sure));
        }
    }
    let clear = row.has_flag("clear")
        && own.iter().all(|arg| arg.sure)
        && options::known_options(row, own) == KnownOptions::Listed;
    Some(if clear { found } else { opaque("wrapper", call.name).most_severe(found) })
}

fn taking(row: &TableRow) -> Vec<&'static str> {
    [row.list("takes"), row.list("outputs")].concat()
}

/// Returns the index of the first word after the subcommand, if the call has the subcommand of this
/// row.
fn index_after_subcommand(row: &TableRow, call: &ProgramCall) -> Option<usize> {
    let (mut at, takes) = (0, row.list("takes"));
    for wanted in row.words.split_whitespace() {
        at += count_of_leading_words(&call.args[at..], &takes);
        let word = call.args.get(at)?.literal()?;
        if !wanted.split('|').any(|name| name == word) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Judges the command and the code that a wrapper starts. Returns `None` if there is neither.
fn judge_wrapped(
    shell: &mut Shell,
    call: &ProgramCall,
    row: &TableRow,
    from: usize,
) -> Option<ShellFinding> {
    let args = &call.args[from..];
    let mut codes = values(options::before_dashes(args), &row.list("code"));
    let rest = without_package_version(call.name, wrapped_words(call.name, args, row));
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
            let code = args.iter().skip_while(|arg| !arg.is_any_of(&["stuff", "exec"])).skip(1);
            codes.extend(code.cloned());
            run = codes.is_empty().then_some(rest);
        }
        // The codes may be options of the command and not of the wrapper, so both are judged.
        "words" => run = Some(rest),
        "joined" => {
            let words: Vec<&Arg> =
                rest.iter().filter(|arg| !table::holds("sentkeys", &arg.text)).collect();
            codes.push(Arg::from_pieces(&joined_by_spaces(&words)));
        }
        "each" => codes.extend(rest),
        _ => {}
    }
    // `uv run -` passes its input to Python.
    if call.name == "uv" && run.is_none() && args.iter().any(|arg| arg.is_word("-")) {
        run = Some(vec![Arg::with_known_text("python")]);
    }
    // `--entrypoint` names the program, and the words after the image are its arguments.
    let image = count_of_leading_words(args, &taking(row));
    if let Some(entry) = values(&args[..image], &["--entrypoint"]).into_iter().next() {
        let words = args.get(image + 1..).unwrap_or_default();
        run = Some(std::iter::once(entry).chain(words.iter().cloned()).collect());
    }
    if codes.is_empty() && run.is_none() {
        return None;
    }
    let elsewhere = shell.elsewhere;
    shell.elsewhere |= row.has_flag("elsewhere");
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
fn without_package_version(by: &str, words: &[Arg]) -> Vec<Arg> {
    let mut words = words.to_vec();
    let first = words.first_mut().filter(|_| table::holds("packagers", by));
    let Some(first) = first else { return words };
    let Some(name) = first.literal() else { return words };
    let name = name.rsplit('#').next().unwrap_or(name);
    let version = name.rfind('@').filter(|at| *at > 0);
    *first = Arg::with_known_text(&name[..version.unwrap_or(name.len())]);
    words
}

fn wrapped_words<'a>(name: &str, args: &'a [Arg], row: &TableRow) -> &'a [Arg] {
    if row.has_flag("dashes") {
        let at = args.iter().position(|arg| arg.is_word("--"));
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
        if arg.is_word("--") {
            at += 1;
            if operands_left == 0 {
                break;
            }
        } else if arg.looks_like_option() {
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
    while args.get(at).is_some_and(|arg| arg.is_word("-")) {
        at += 1;
    }
    args.get(at..).unwrap_or_default()
}

/// Judges `xargs`: the words of the input are added to the command, or replace the placeholder that
/// an option such as `-I` names. For `-i` and `--replace` alone, the placeholder is `{}`.
///
/// - `echo a b | xargs rm` calls `rm a b`.
/// - `echo a b | xargs -I{} rm {}.rs` calls `rm a.rs` and `rm b.rs`.
/// - `xargs rm < list` calls `rm` with words that are not known.
fn xargs(shell: &mut Shell, call: &ProgramCall) -> Option<ShellFinding> {
    let (own, command) =
        call.args.split_at(count_of_leading_words(call.args, &table::list("xargstakes")));
    if command.is_empty() {
        return None;
    }
    let named = values(own, &["-I", "-J"]).first().map(|arg| arg.text.clone());
    let optional = own.iter().find_map(|arg| {
        let value = arg.lead.strip_prefix("--replace").or(arg.lead.strip_prefix("-i"))?;
        let value = value.trim_start_matches('=');
        let value = if value.is_empty() { "{}" } else { value };
        Some(value.to_owned())
    });
    let placeholder = named.or(optional);
    // The words of a file, and those between other delimiters, are not known.
    let delimiters = values(own, &["-d", "--delimiter"]);
    let unknown = !values(own, &["-a", "--arg-file"]).is_empty()
        || delimiters.iter().any(|delimiter| !delimiter.is_word("\\n") && !delimiter.is_word("\n"));
    let pieces = call.stdin.pieces.clone().filter(|_| !unknown);
    let stdin = StreamData { pieces, ..call.stdin.clone() };
    let given = ProgramCall { name: call.name, args: call.args, stdin: &stdin };
    let found = run_given_words(shell, &given, command, placeholder.as_deref());
    // The command may be in a glob or in an unknown value among the words before it.
    let sure = own.iter().all(|arg| arg.sure);
    Some(if sure { found } else { opaque("wrapper", "xargs").most_severe(found) })
}

/// Judges `parallel COMMAND ::: WORD…`. Without `:::`, the words are the lines of the input.
fn parallel(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let (own, rest) =
        call.args.split_at(count_of_leading_words(call.args, &table::list("paralleltakes")));
    let end = rest.iter().position(|arg| arg.text.starts_with(":::")).unwrap_or(rest.len());
    let given = rest.get(end + 1..).filter(|_| !rest[end].text.starts_with("::::"));
    // After `::::` and `-a` comes a file that contains the words.
    let from_file = end < rest.len() || !values(own, &["-a", "--arg-file"]).is_empty();
    let stdin = match given {
        Some(words) => {
            StreamData::with_known_pieces(joined_by_spaces(&words.iter().collect::<Vec<_>>()))
        }
        None if from_file => StreamData::with_unknown_content(),
        None => call.stdin.clone(),
    };
    let call = ProgramCall { name: call.name, args: call.args, stdin: &stdin };
    match &rest[..end] {
        [] => super::builtins::code_from_input(shell, "parallel", &stdin),
        [code] if code.text.contains(' ') => {
            let inputs: Vec<String> = match (given, stdin.text()) {
                (Some(words), _) => words.iter().map(|word| escaped(word.literal())).collect(),
                (None, Some(text)) if text.lines().nth(MAX_WORDS).is_none() => {
                    text.lines().map(|line| escaped(Some(line))).collect()
                }
                _ => vec![escaped(None)],
            };
            // Without a placeholder, the word comes at the end.
            let end = if code.text.contains('{') { "" } else { " {}" };
            let template = format!("{}{end}", code.text.replace("'{}'", "{}"));
            let found = shell.in_process("parallel", |shell| {
                for input in inputs {
                    let mut text = template.replace("{}", &input);
                    // Parts of the word, such as its folder, are not computed.
                    for part in ["{.}", "{/}", "{//}", "{/.}"] {
                        text = text.replace(part, &escaped(None));
                    }
                    shell.code(&Arg { text, ..code.clone() }, "parallel");
                }
            });
            found.unwrap_or_else(|| opaque("wrapper", "parallel"))
        }
        command => {
            let has_placeholder = command.iter().any(|arg| arg.text.contains("{}"));
            run_given_words(shell, &call, command, Some("{}").filter(|_| has_placeholder))
        }
    }
}

const MAX_WORDS: usize = 32;

/// Returns a word as `parallel` puts it into shell code. For a word that is not known, this is a
/// parameter that no code can set.
fn escaped(word: Option<&str>) -> String {
    let Some(word) = word else { return "\"$-\"".to_owned() };
    if word.is_empty() {
        return "''".to_owned();
    }
    let plain = |c: char| c.is_alphanumeric() || "._-/+,:@%=".contains(c);
    let escaped = |c: char| (!plain(c)).then_some('\\').into_iter().chain([c]);
    word.chars().flat_map(escaped).collect()
}

/// Judges a command that gets the words of the input: one call for each word, which replaces the
/// placeholder, or else one call with all words at its end.
fn run_given_words(
    shell: &mut Shell,
    call: &ProgramCall,
    command: &[Arg],
    placeholder: Option<&str>,
) -> ShellFinding {
    let origin = call.stdin.origin().unwrap_or(WordOrigin::Output);
    // Input that contains quotes or backslashes is not split.
    let is_unsplit = call.stdin.text().is_some_and(|text| {
        text.contains(['"', '\'', '\\']) || text.split_whitespace().nth(MAX_WORDS).is_some()
    });
    let words = match &call.stdin.pieces {
        Some(pieces) if !is_unsplit => split_at_blanks(pieces),
        _ => {
            // A parameter that no code can set.
            let shown = "$-".to_owned();
            let input = WordPiece::Unknown { shown, origin };
            vec![Arg::from_pieces(&[input, WordPiece::Splits])]
        }
    };
    let calls: Vec<Vec<Arg>> = match placeholder {
        Some(placeholder) => words
            .iter()
            .map(|word| {
                command.iter().map(|arg| with_placeholder_filled(arg, placeholder, word)).collect()
            })
            .collect(),
        None => vec![[command, &words[..]].concat()],
    };
    // The words may be code for a shell, so a shell never counts as only reading.
    let is_shell = command[0].literal().is_some_and(|name| ["sh", "bash", "zsh"].contains(&name));
    let found = calls
        .into_iter()
        .fold(None, |found, args| ShellFinding::worst(found, shell.started_by(call.name, args)));
    let found = found.unwrap_or_else(|| opaque("wrapper", call.name));
    if is_shell && found.class == Class::Read { opaque("wrapper", call.name) } else { found }
}

/// Splits the input at blanks, as `xargs` does, and at the character NUL, as `xargs -0` does.
fn split_at_blanks(pieces: &[WordPiece]) -> Vec<Arg> {
    let mut words: Vec<Vec<WordPiece>> = vec![Vec::new()];
    for piece in pieces {
        let parts = match piece {
            WordPiece::Text(text) => {
                let parts = text.split(|c: char| c.is_whitespace() || c == '\0');
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
        // A glob stands for the names of all matching files, and an unknown value may contain
        // blanks. So one word may become several.
        if word.iter().any(|piece| !matches!(piece, WordPiece::Text(_))) {
            word.push(WordPiece::Splits);
        }
    }
    let words = words.iter().map(|word| Arg::from_pieces(word));
    words.filter(|word| !word.text.is_empty()).collect()
}

#[cfg(test)]
pub(crate) fn examples() -> impl Iterator<Item = &'static str> {
    let rows = table::all_programs().flat_map(|(_, rows)| rows).filter(|row| row.kind() == "runs");
    rows.map(|row| row.example)
}
