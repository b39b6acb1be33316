//! Predicts the output of a program, as the input of the next one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::options::{has_any, operands};
use super::{
    Arg, ProgramCall, Shell, StreamData, WordOrigin, WordPiece, is_downloaded_here, rules, table,
};
use crate::argument::joined_by_spaces;
use crate::parse::{PrintProgram, printed};
use crate::paths;

pub(super) fn output_of_call(shell: &Shell, call: &ProgramCall) -> StreamData {
    let stdin = call.stdin;
    let through = || StreamData { pieces: None, present: true, ..stdin.clone() };
    match call.name {
        "echo" => StreamData::with_known_pieces(echo(call.args)),
        "printf" => known_or_not(printf(call.args)),
        "cat" if call.args.iter().all(|arg| arg.is_word("-") || arg.looks_like_option()) => {
            stdin.clone()
        }
        "cat" | "head" | "tail" | "tac" | "zcat" | "bat" => files(shell, call, HEAD_OPTIONS),
        "tee" => stdin.clone(),
        "sort" | "uniq" if operands(call.args, SORT_OPTIONS).is_empty() => stdin.clone(),
        "sort" | "uniq" => files(shell, call, SORT_OPTIONS),
        // What a list prints is known in spite of these: `$(cd src && pwd)`.
        ":" | "[" | "exit" | "false" | "return" | "test" | "true" => {
            StreamData::with_known_pieces(vec![])
        }
        "cd" | "export" | "mkdir" | "touch" if !call.args.iter().any(Arg::looks_like_option) => {
            StreamData::with_known_pieces(vec![])
        }
        "find" | "gfind" => known_or_not(super::remove::printed_by_find(call.args)),
        "pwd" => StreamData::with_known_pieces(vec![shell.current_folder()]),
        "mktemp" => temporary(call),
        "which" | "command" | "type" | "realpath" | "readlink" | "basename" => shown_argument(call),
        "git" if call.args.iter().any(|arg| arg.is_word("--show-toplevel")) => {
            let root = shell.at.root.as_deref().map(paths::slashed);
            known_or_not(root.map(|root| vec![WordPiece::Text(root)]))
        }
        "base64" | "base32" | "gbase64" if rules::has_row_of_mark("decodes", call) => {
            let text = stdin.text().map(|text| text.split_whitespace().collect::<String>());
            let bytes = text.and_then(|text| BASE64.decode(text).ok());
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            let pieces = text.map(|text| vec![WordPiece::Text(text)]);
            StreamData { decoded: true, pieces, ..through() }
        }
        name if table::holds("changers", name) => {
            // The output of `rev` or `tr` is not computed. If its input was known, it counts as
            // decoded, so that running it is not taken for harmless.
            let changed = stdin.pieces.is_some() || rules::has_row_of_mark("decodes", call);
            StreamData { decoded: stdin.decoded || changed, ..through() }
        }
        name if table::holds("downloaders", name) => {
            StreamData { download: true, ..StreamData::with_unknown_content() }
        }
        _ => StreamData { pieces: None, present: true, file: false, ..stdin.clone() },
    }
}

fn known_or_not(pieces: Option<Vec<WordPiece>>) -> StreamData {
    StreamData { present: true, pieces, ..StreamData::default() }
}

/// Returns what a program prints of the files that it names, or of its input. `options` take a value.
fn files(shell: &Shell, call: &ProgramCall, options: &[&str]) -> StreamData {
    let named = operands(call.args, options);
    let content = |arg: &&Arg| {
        let download = is_downloaded_here(shell, arg);
        let unknown = StreamData { file: true, download, ..StreamData::with_unknown_content() };
        shell.output_of_substitution(arg).unwrap_or(unknown)
    };
    let all = named.iter().map(content).reduce(|first, next| first.followed_by(next, true));
    all.unwrap_or(StreamData { pieces: None, present: true, ..call.stdin.clone() })
}

/// The options of `head` and `tail` that take a value.
const HEAD_OPTIONS: &[&str] = &["-n", "-c", "--lines", "--bytes"];
/// The options of `sort` that take a value.
const SORT_OPTIONS: &[&str] = &["-k", "-t", "-o", "-S", "-T", "--key", "--output"];

fn echo(args: &[Arg]) -> Vec<WordPiece> {
    let flag = |arg: &&Arg| arg.is_any_of(&["-n", "-e", "-E", "-ne", "-en"]);
    let escapes = args.iter().take_while(flag).any(|arg| arg.text.contains('e'));
    let rest: Vec<&Arg> = args.iter().skip_while(flag).collect();
    let mut pieces = joined_by_spaces(&rest);
    if escapes {
        for piece in &mut pieces {
            if let WordPiece::Text(text) = piece {
                match printed(text, PrintProgram::Echo) {
                    Some(printed) => *text = printed,
                    None => return Arg::unknown("$(…)", WordOrigin::Output).pieces,
                }
            }
        }
    }
    pieces.push(WordPiece::Text("\n".to_owned()));
    pieces
}

/// Returns the output of `printf FORMAT WORD…`, if the format contains only escapes, `%s`, `%b`,
/// `%q` and `%d`.
fn printf(args: &[Arg]) -> Option<Vec<WordPiece>> {
    let rest = if args.first().is_some_and(|arg| arg.is_word("--")) { &args[1..] } else { args };
    let format = rest.first()?.literal()?;
    let mut words = rest[1..].iter();
    let mut pieces = Vec::new();
    loop {
        let mut used = false;
        let mut parts = format.split('%');
        pieces.push(WordPiece::Text(printed(parts.next()?, PrintProgram::Printf)?));
        while let Some(part) = parts.next() {
            if part.is_empty() {
                pieces.push(WordPiece::Text("%".to_owned()));
                pieces.push(WordPiece::Text(printed(
                    parts.next().unwrap_or_default(),
                    PrintProgram::Printf,
                )?));
                continue;
            }
            let kind = part.chars().next()?;
            if !"sbqd".contains(kind) {
                return None;
            }
            if let Some(word) = words.next() {
                used = true;
                match word.literal() {
                    Some(text) if kind == 'b' => {
                        pieces.push(WordPiece::Text(printed(text, PrintProgram::Printf)?))
                    }
                    _ => pieces.extend(word.pieces.iter().cloned()),
                }
            }
            pieces.push(WordPiece::Text(printed(&part[1..], PrintProgram::Printf)?));
        }
        if !used || words.len() == 0 {
            return Some(pieces);
        }
    }
}

/// Returns the output of `mktemp`: a path below the temporary folder, unless another folder is
/// named.
fn temporary(call: &ProgramCall) -> StreamData {
    let named = operands(call.args, &["-p", "--tmpdir", "--suffix"]);
    let elsewhere = |arg: &&Arg| !arg.text.starts_with("/tmp/") && !arg.temp;
    match named.first().is_some_and(elsewhere) && !has_any(call.args, &["-t", "--tmpdir"]) {
        true => StreamData::with_unknown_content(),
        false => StreamData::with_known_pieces(vec![WordPiece::Temp("$(mktemp)".to_owned())]),
    }
}

/// Returns the argument itself: `which rm` prints a path that ends in `rm`, and `realpath x` prints
/// a path of `x`.
fn shown_argument(call: &ProgramCall) -> StreamData {
    let asks = call.name != "command" || looks_up(call);
    match operands(call.args, &[]).last() {
        Some(arg) if asks => StreamData::with_known_pieces(arg.pieces.clone()),
        _ => StreamData::with_known_pieces(Arg::unknown("$(…)", WordOrigin::Output).pieces),
    }
}

/// Returns true for `command -v NAME`, which only prints what the name stands for. In `command rm
/// -v FILE`, `-v` is an option of `rm`.
pub(super) fn looks_up(call: &ProgramCall) -> bool {
    let own = call.args.iter().take_while(|arg| arg.looks_like_option()).count();
    call.name == "command" && has_any(&call.args[..own], &["-v", "-V"])
}
