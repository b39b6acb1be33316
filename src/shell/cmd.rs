//! `cmd.exe`, read well enough to find what deletes and what writes.

use super::expand::{Arg, WordOrigin, WordPiece};
use super::judge;
use super::table;
use super::walk::{Feed, Shell, ShellFinding};
use super::{Class, CommandContext, Invocation, PathDeed, Reading, paths};

/// What a text for `cmd.exe` would do.
pub(super) fn read(text: &str, at: &CommandContext) -> Reading {
    if text.chars().nth(super::parse::MAX_CHARS).is_some() {
        return Reading::unreadable("size", "The text is longer than can be judged.".to_owned());
    }
    let mut shell = Shell::new(at);
    walk(&mut shell, text);
    shell.finish()
}

/// One command, with the files its output goes to.
#[derive(Default)]
struct CmdLine {
    words: Vec<Arg>,
    into: Vec<Arg>,
}

/// Finds what a text would do, and notes it.
pub(super) fn walk(shell: &mut Shell<'_>, text: &str) {
    let Some(lines) = lines(shell, text) else {
        let reason = "It cannot be read for cmd: a quote is not closed.";
        shell.note(ShellFinding::new(Class::Unreadable, "syntax", "", reason));
        return;
    };
    for line in lines {
        for file in &line.into {
            if let Some(found) = judge::redirected(shell, file, true) {
                shell.note(found);
            }
        }
        command(shell, &line.words);
    }
}

fn command(shell: &mut Shell<'_>, words: &[Arg]) {
    let Some(first) = words.first() else { return };
    let name = first.text.to_ascii_lowercase();
    let name = name.trim_start_matches('@');
    let args = &words[1..];
    let lower = |arg: &Arg| arg.text.to_ascii_lowercase();
    // `if exist x COMMAND`, `for %i in (…) do COMMAND`, `call`, `start ""`.
    let skip = match name {
        "if" => {
            let flags =
                args.iter().take_while(|arg| matches!(lower(arg).as_str(), "not" | "/i")).count();
            flags
                + args.get(flags).map_or(0, |arg| match lower(arg).as_str() {
                    "exist" | "defined" | "errorlevel" => 2,
                    text if text.contains("==") => 1,
                    _ => 3,
                })
        }
        "for" => args.iter().position(|arg| lower(arg) == "do").map_or(args.len(), |at| at + 1),
        "start" => {
            shell.background();
            args.iter().take_while(|arg| arg.text.is_empty() || arg.text.starts_with('/')).count()
        }
        "call" | "else" => 0,
        _ => usize::MAX,
    };
    if skip != usize::MAX {
        return command(shell, args.get(skip..).unwrap_or_default());
    }
    let Some(finding) = judged(shell, name, args) else {
        let mut whole = words.to_vec();
        if first.sure {
            whole[0] = Arg::known(name);
        }
        shell.run(whole, Feed::default());
        return;
    };
    shell.invoked(Invocation {
        program: Some(name.to_owned()),
        words: words.iter().map(|word| word.text.clone()).collect(),
        via: shell.via.clone(),
        class: finding.class,
        rule: finding.rule.to_owned(),
        hidden: false,
    });
    shell.note(finding);
}

fn judged(shell: &mut Shell<'_>, name: &str, args: &[Arg]) -> Option<ShellFinding> {
    // Switches may be joined to others: `/s/q`.
    let deep = args.iter().any(|arg| {
        is_switch(arg) && arg.text.to_ascii_lowercase().split('/').any(|one| one == "s")
    });
    let named: Vec<&Arg> = args.iter().filter(|arg| !is_switch(arg)).collect();
    let row = table::rows(&format!("cmd:{name}")).first();
    let (kind, manner) = row.map_or(("", ""), |row| (row.kind(), row.word(1)));
    let mut worst = judge::writes("program.writes", name);
    match (kind, manner) {
        ("reads", _) => {
            if matches!(name, "cd" | "chdir" | "pushd") && !named.is_empty() {
                let to = named[0].literal().map(str::to_owned);
                let joined = to.map(|to| match paths::absolute(&to) {
                    true => to,
                    false => format!("{}/{to}", shell.cwd().unwrap_or("")),
                });
                shell.go(joined.map(|to| paths::normal(&to)));
            }
            return Some(judge::reads(name));
        }
        // Deletes: files, and with `/s` all that is below.
        ("unsure", "rm.file") => {
            for file in named {
                worst = worst.or(judge::remove_one(shell, file, deep));
            }
        }
        ("unsure", "rmdir") if !deep => {
            named.iter().for_each(|folder| shell.touch(folder, PathDeed::Delete))
        }
        ("unsure", "rmdir") => {
            for folder in named {
                worst = worst.or(judge::remove_one(shell, folder, true));
            }
        }
        ("writes", manner) => {
            let (last, from) = match named.split_last() {
                Some((last, from)) if manner == "last" && !from.is_empty() => (vec![*last], from),
                _ if manner == "last" => (Vec::new(), named.as_slice()),
                _ => (named.clone(), &[][..]),
            };
            let moves = ["move", "ren", "rename"].contains(&name);
            let deed = if moves { PathDeed::MoveFrom } else { PathDeed::Read };
            from.iter().for_each(|file| shell.touch(file, deed));
            for file in last {
                worst = judge::redirected(shell, file, true)
                    .map_or(worst.clone(), |found| worst.or(found));
            }
        }
        ("unsure", rule) => return Some(judge::opaque(rule, name)),
        _ => return None,
    }
    Some(worst)
}

/// `/s`, `/q`; a path that begins at the root has more to it.
fn is_switch(arg: &Arg) -> bool {
    arg.text.starts_with('/') && arg.text.len() <= 6 && !arg.text[1..].contains('.')
}

/// The commands of a text; nothing where a quote is not closed.
fn lines(shell: &Shell<'_>, text: &str) -> Option<Vec<CmdLine>> {
    let chars: Vec<char> = text.chars().collect();
    let mut done: Vec<CmdLine> = Vec::new();
    let mut line = CmdLine::default();
    let mut pieces: Vec<WordPiece> = Vec::new();
    let (mut open, mut quoted, mut into) = (false, false, false);
    let mut at = 0;
    while at <= chars.len() {
        let c = chars.get(at).copied();
        let next = chars.get(at + 1).copied();
        at += 1;
        let ends_line = matches!(c, None | Some('\n' | '&' | '|')) && !(quoted && c.is_some());
        let ends_word = ends_line
            || !quoted && matches!(c, Some(' ' | '\t' | '\r' | '>' | '<' | '(' | ')' | ',' | ';'));
        if ends_word && open {
            let arg = Arg::from_pieces(&pieces);
            let stream = matches!(c, Some('>' | '<'))
                && arg.text.len() == 1
                && arg.text.as_bytes()[0].is_ascii_digit();
            if !stream {
                if into {
                    line.into.push(arg)
                } else {
                    line.words.push(arg)
                }
                into = false;
            }
            pieces.clear();
            open = false;
        }
        match c {
            None if quoted => return None,
            _ if ends_line => {
                if c == next && matches!(c, Some('&' | '|')) {
                    at += 1;
                }
                done.push(std::mem::take(&mut line));
            }
            Some('"') => {
                quoted = !quoted;
                open = true;
                push(&mut pieces, "");
            }
            Some('^') if !quoted => {
                if let Some(escaped) = next {
                    at += 1;
                    if escaped != '\n' {
                        open = true;
                        push(&mut pieces, escaped.encode_utf8(&mut [0; 4]));
                    }
                }
            }
            Some('>') if !quoted => {
                at += usize::from(next == Some('>'));
                if chars.get(at) == Some(&'&') { at += 2 } else { into = true }
            }
            Some('<') if !quoted => {}
            Some('%') => {
                open = true;
                at = variable(shell, &chars, at, &mut pieces);
            }
            Some(c @ ('*' | '?')) => {
                open = true;
                pieces.push(WordPiece::Glob(c.to_string()));
            }
            Some('\\') => {
                open = true;
                push(&mut pieces, "/");
            }
            Some(c) if !ends_word => {
                open = true;
                push(&mut pieces, c.encode_utf8(&mut [0; 4]));
            }
            _ => {}
        }
    }
    Some(done)
}

fn push(pieces: &mut Vec<WordPiece>, text: &str) {
    match pieces.last_mut() {
        Some(WordPiece::Text(before)) => before.push_str(text),
        _ => pieces.push(WordPiece::Text(text.to_owned())),
    }
}

/// After `%`: `%NAME%`, `%i`, `%~dp0`.
fn variable(shell: &Shell<'_>, chars: &[char], from: usize, pieces: &mut Vec<WordPiece>) -> usize {
    let end = (from..chars.len()).find(|at| chars[*at] == '%' || chars[*at].is_whitespace());
    let Some(end) = end.filter(|end| chars[*end] == '%' && *end > from) else {
        pieces.push(WordPiece::Unknown { shown: "%".to_owned(), origin: WordOrigin::Variable });
        return from;
    };
    let name: String = chars[from..end].iter().collect();
    let shown = format!("%{name}%");
    pieces.push(match name.to_ascii_lowercase().as_str() {
        "temp" | "tmp" => WordPiece::Temp(shown),
        "userprofile" | "home" => shell.home(),
        "cd" => shell.here(),
        "systemroot" | "windir" => WordPiece::Text("C:/Windows".to_owned()),
        "systemdrive" | "homedrive" => WordPiece::Text("C:".to_owned()),
        _ => WordPiece::Unknown { shown, origin: WordOrigin::Variable },
    });
    end + 1
}
