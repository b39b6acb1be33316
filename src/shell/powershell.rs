//! PowerShell, by a short rule: its words are taken apart, every command in them is looked up, and what is not known is
//! opaque. Methods, types and what stands in a text in quotes are not followed, so nothing with one of them only reads.

use base64::Engine as _;

use super::expand::{Arg, WordOrigin, WordPiece};
use super::judge;
use super::table::{self, list};
use super::walk::{Feed, Shell, ShellFinding};
use super::{Class, CommandContext, Invocation, PathDeed, Reading, paths};

/// What a text in PowerShell would do.
pub(super) fn read(text: &str, at: &CommandContext) -> Reading {
    if text.chars().nth(super::parse::MAX_CHARS).is_some() {
        return Reading::unreadable("size", "The text is longer than can be judged.".to_owned());
    }
    let mut shell = Shell::new(at);
    walk(&mut shell, text);
    shell.finish()
}

/// The text of `-EncodedCommand`: base64 over UTF-16.
pub(super) fn decode(encoded: &str) -> Option<String> {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(encoded.trim())
        .or_else(|_| base64::engine::general_purpose::STANDARD_NO_PAD.decode(encoded.trim()))
        .ok()?;
    let units: Vec<u16> =
        bytes.chunks_exact(2).map(|two| u16::from(two[0]) | u16::from(two[1]) << 8).collect();
    String::from_utf16(&units).ok()
}

/// A word, or a sign between commands.
#[derive(Clone, Debug)]
enum PsToken {
    Word(Arg),
    /// `|`
    Pipe,
    /// `;`, a line's end, `{`, `}`, `(`, `)`, `&&`, `||`
    End,
    /// `>`, `>>`
    Into,
    /// `,`
    Comma,
    /// `&` or `.` before a name: it is called.
    Call,
}

/// Finds what a text would do, and notes it.
pub(super) fn walk(shell: &mut Shell<'_>, text: &str) {
    let Some(tokens) = tokens(shell, text) else {
        let reason = "It cannot be read as PowerShell: a quote is not closed.";
        shell.note(ShellFinding::new(Class::Unreadable, "syntax", "", reason));
        return;
    };
    not_followed(shell, text);
    for statement in tokens.split(|token| matches!(token, PsToken::End)) {
        let mut fed: Option<Feed> = None;
        for command in statement.split(|token| matches!(token, PsToken::Pipe)) {
            fed = Some(one(shell, command, fed));
        }
    }
}

/// Methods and types: what deletes, what fetches or decodes and runs, and what is merely not known.
fn not_followed(shell: &mut Shell<'_>, text: &str) {
    let lower = text.to_ascii_lowercase();
    let has = |name: &str| list(name).iter().any(|word| lower.contains(word));
    let quoted =
        |at: usize| ['\'', '"'].iter().any(|quote| text[..at].matches(*quote).count() % 2 == 1);
    let deletes = ["]::delete(", ".delete("].iter().find_map(|call| lower.find(call));
    if let Some(at) = deletes.filter(|at| !quoted(*at)) {
        shell.note(judge::destructive(
            "code.delete",
            &text[at..at + 8],
            "It deletes what stands before it.",
        ));
    }
    if has("psfetches") && has("psruns") && !lower.trim_start().starts_with("write-") {
        shell.note(judge::downloaded("Invoke-Expression"));
    }
    if has("psruns") && lower.contains("frombase64string") {
        shell.note(judge::decoded("FromBase64String"));
    }
    let method = lower.match_indices('(').any(|(at, _)| {
        lower[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && lower[..at]
                .rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .next()
                .is_some_and(|name| lower[..at - name.len()].ends_with(['.', ':']))
    });
    if method || lower.contains("::") || lower.contains("$(") && lower.contains('"') {
        shell.mention(text);
        shell.note(judge::opaque("code.powershell", "("));
    }
}

fn one(shell: &mut Shell<'_>, tokens: &[PsToken], before: Option<Feed>) -> Feed {
    let mut words: Vec<Arg> = Vec::new();
    let mut lists: Vec<usize> = Vec::new();
    let mut into = false;
    for token in tokens {
        match token {
            PsToken::Word(file) if std::mem::take(&mut into) => {
                let nothing = file.text.eq_ignore_ascii_case("$null") || file.text.starts_with('&');
                if let Some(found) = judge::redirected(shell, file, true).filter(|_| !nothing) {
                    shell.note(found);
                }
            }
            PsToken::Word(arg) => words.push(arg.clone()),
            PsToken::Comma => lists.push(words.len()),
            PsToken::Into => into = true,
            PsToken::Call | PsToken::Pipe | PsToken::End => {}
        }
    }
    let called = tokens.iter().any(|token| matches!(token, PsToken::Call));
    // `$x = command`: what is assigned is a command of its own.
    if let [first, sign, ..] = words.as_slice()
        && first.text.starts_with('$')
        && ["=", "+="].iter().any(|assign| sign.is(assign))
    {
        let name = first.text.trim_start_matches('$').to_ascii_lowercase();
        if words.len() == 3 && !words[2].text.contains('-') {
            if name.starts_with("env:") {
                shell.note(judge::opaque("variable.steers", &name));
            }
            shell.set(&format!("ps:{name}"), words[2].pieces.clone());
            return Feed::some();
        }
        words.drain(..2);
        lists.iter_mut().for_each(|at| *at = at.saturating_sub(2));
    }
    let first = shell.started();
    let out = command(shell, &words, &lists, called, before);
    if tokens.iter().any(|token| matches!(token, PsToken::Into)) {
        shell.hide(first);
    }
    out
}

/// The name that another one means, on Windows.
fn meant(name: &str) -> String {
    let aliases = list("psaliases");
    let known = aliases.iter().filter_map(|alias| alias.split_once('='));
    known.into_iter().find(|(alias, _)| *alias == name).map_or(name, |(_, full)| full).to_owned()
}

fn command(
    shell: &mut Shell<'_>,
    words: &[Arg],
    lists: &[usize],
    called: bool,
    before: Option<Feed>,
) -> Feed {
    let Some(first) = words.first() else { return Feed::some() };
    let lower = first.text.to_ascii_lowercase();
    if !first.sure {
        let reason = "Which program is called depends on a value that is not known here.";
        let unread = ShellFinding::new(Class::Unreadable, "program.variable", &first.text, reason);
        shell.note(if called { unread } else { judge::opaque("code.powershell", &first.text) });
        return Feed::some();
    }
    if table::holds("pskeywords", &lower) {
        let over = words.get(2).is_some_and(|word| word.text.eq_ignore_ascii_case("in"));
        let lists: Vec<usize> = lists.iter().map(|at| at.saturating_sub(1)).collect();
        return if lower == "foreach" && over {
            Feed::some()
        } else {
            command(shell, &words[1..], &lists, called, before)
        };
    }
    let name = meant(lower.rsplit(['\\', '/']).next().unwrap_or(&lower));
    let cmdlet = Cmdlet::new(&name, &words[1..], lists);
    let Some(finding) = judged(shell, &cmdlet, &before) else {
        return shell.run(words.to_vec(), before.unwrap_or_default());
    };
    let download = name == "invoke-webrequest" || name == "invoke-restmethod";
    shell.invoked(Invocation {
        program: Some(first.text.clone()),
        words: words.iter().map(|word| word.text.clone()).collect(),
        via: shell.via.clone(),
        class: finding.class,
        rule: finding.rule.to_owned(),
        hidden: false,
    });
    shell.note(finding);
    Feed { download, present: true, ..Feed::default() }
}

/// A cmdlet with its words: switches, the values of parameters, and operands.
struct Cmdlet<'c> {
    name: &'c str,
    flags: Vec<String>,
    named: Vec<(String, Arg)>,
    operands: Vec<Arg>,
}

impl<'c> Cmdlet<'c> {
    fn new(name: &'c str, words: &[Arg], lists: &[usize]) -> Self {
        let switches = list("psswitches");
        let mut cmdlet = Self { name, flags: Vec::new(), named: Vec::new(), operands: Vec::new() };
        let mut last: Option<String> = None;
        for (at, word) in words.iter().enumerate() {
            // Commas count words of the whole command, with its name.
            let listed = lists.contains(&(at + 1));
            let flag = word.text.strip_prefix('-').filter(|flag| {
                word.sure && !listed && flag.starts_with(|c: char| c.is_ascii_alphabetic())
            });
            if let Some(flag) = flag.map(str::to_ascii_lowercase) {
                let (flag, value) = flag.split_once(':').unwrap_or((&flag, ""));
                if value != "$false" {
                    cmdlet.flags.push(flag.to_owned());
                }
                let switch =
                    |known: &&str| known.starts_with(flag) && flag.len() > 2 || *known == flag;
                last = (!switches.iter().any(switch) && value.is_empty()).then(|| flag.to_owned());
                continue;
            }
            let goes_on = cmdlet.named.last().map(|(name, _)| name.clone());
            match (last.take(), goes_on.filter(|_| listed && cmdlet.operands.is_empty())) {
                (Some(name), _) | (None, Some(name)) => cmdlet.named.push((name, word.clone())),
                (None, None) => cmdlet.operands.push(word.clone()),
            }
        }
        cmdlet
    }

    /// Whether a parameter is given, in full or shortened.
    fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| !flag.is_empty() && name.starts_with(flag.as_str()))
    }

    fn value(&self, names: &[&str]) -> Vec<Arg> {
        let fits = |given: &str| names.iter().any(|name| name.starts_with(given));
        self.named.iter().filter(|(name, _)| fits(name)).map(|(_, arg)| arg.clone()).collect()
    }

    /// What it works on: `-Path`, `-LiteralPath`, or the operands.
    fn paths(&self) -> Vec<Arg> {
        let named = self.value(&["path", "literalpath", "filepath", "pspath", "lp"]);
        if named.is_empty() { self.operands.clone() } else { named }
    }
}

fn judged(
    shell: &mut Shell<'_>,
    cmdlet: &Cmdlet<'_>,
    before: &Option<Feed>,
) -> Option<ShellFinding> {
    let name = cmdlet.name;
    if cmdlet.flag("whatif") && name.contains('-') {
        return Some(judge::reads(name));
    }
    let row = table::rows(&format!("ps:{name}")).first();
    match row.map_or("", |row| row.kind()) {
        "destroys" => {
            let all = name != "stop-process" || cmdlet.flag("name") || before.is_some();
            let lost = row.map(|row| judge::destructive(row.word(1), name, row.reason()));
            return if all { lost } else { Some(judge::opaque("kill", name)) };
        }
        "reads" => {
            if name == "get-content" {
                cmdlet.paths().iter().for_each(|file| shell.touch(file, PathDeed::Read));
            }
            if name == "set-location" {
                let to = cmdlet.paths().first().and_then(|arg| arg.literal().map(str::to_owned));
                let joined = to.map(|to| match paths::absolute(&to) {
                    true => to,
                    false => format!("{}/{to}", shell.cwd().unwrap_or("")),
                });
                shell.go(joined.map(|path| paths::normal(&path)));
            }
            return Some(judge::reads(name));
        }
        "writes" => return Some(written(shell, cmdlet)),
        _ => {}
    }
    match name {
        "remove-item" | "remove-itemproperty" => Some(removed(shell, cmdlet, before)),
        "invoke-expression" => Some(expression(shell, cmdlet, before)),
        "invoke-webrequest" | "invoke-restmethod" => {
            let method = cmdlet.value(&["method"]);
            if method.iter().any(|method| method.text.eq_ignore_ascii_case("delete")) {
                let reason = "It asks a server to delete something.";
                return Some(judge::destructive("http.delete", name, reason));
            }
            cmdlet.value(&["outfile"]).iter().for_each(|file| shell.touch(file, PathDeed::Write));
            Some(judge::opaque("network", name))
        }
        "start-process" | "invoke-command" => Some(started(shell, cmdlet)),
        _ => {
            let (verb, _) = name.split_once('-').filter(|(verb, noun)| {
                !verb.is_empty() && !noun.is_empty() && !name.contains('.') && !judge::known(name)
            })?;
            let reason = format!("`{name}` removes or disables something.");
            Some(match (table::holds("psremoves", verb), table::holds("pslooks", verb)) {
                (true, _) => judge::destructive("powershell.remove", name, &reason),
                (_, true) => judge::looks(name),
                _ => judge::opaque("program.unknown", name),
            })
        }
    }
}

fn removed(shell: &mut Shell<'_>, cmdlet: &Cmdlet<'_>, before: &Option<Feed>) -> ShellFinding {
    let recursive = cmdlet
        .flags
        .iter()
        .any(|flag| "recurse".starts_with(flag.as_str()) || matches!(flag.as_str(), "rf" | "fr"));
    let mut named = cmdlet.paths();
    if named.is_empty() && before.is_some() {
        named.push(Arg::unknown("(input)", WordOrigin::Output));
    }
    let mut worst = judge::writes("rm.file", cmdlet.name);
    for path in &named {
        let lower = path.text.to_ascii_lowercase();
        let drive = lower.split(':').next().filter(|drive| drive.len() > 1 && lower.contains(':'));
        worst = worst.or(match drive {
            Some("env" | "variable" | "function" | "alias") => {
                judge::opaque("variable.steers", &path.text)
            }
            Some("hklm" | "hkcu" | "hkcr" | "registry" | "cert") => {
                judge::destructive("windows.registry", &path.text, "It deletes from the registry.")
            }
            _ => judge::remove_one(shell, path, recursive),
        });
    }
    worst
}

/// `iex`: a text is read on; anything else is not known.
fn expression(shell: &mut Shell<'_>, cmdlet: &Cmdlet<'_>, before: &Option<Feed>) -> ShellFinding {
    if before.as_ref().is_some_and(|feed| feed.download) {
        return judge::downloaded("Invoke-Expression");
    }
    let codes = [cmdlet.value(&["command"]), cmdlet.operands.clone()].concat();
    let Some(code) = codes.first().and_then(Arg::literal).map(str::to_owned) else {
        let reason = "It runs a value that is not known here.";
        return ShellFinding::new(Class::Unreadable, "code.unknown", "Invoke-Expression", reason);
    };
    let found =
        shell.within(|shell| shell.process("Invoke-Expression", |shell| walk(shell, &code)));
    found.unwrap_or_else(|| judge::opaque("code.powershell", "Invoke-Expression"))
}

/// What is written: the first operand, or of what copies and moves the last one.
fn written(shell: &mut Shell<'_>, cmdlet: &Cmdlet<'_>) -> ShellFinding {
    let mut from = cmdlet.paths();
    let mut to = cmdlet.value(&["destination", "destinationpath", "newname"]);
    let carries = matches!(cmdlet.name, "copy-item" | "move-item" | "rename-item");
    if carries {
        if to.is_empty() {
            to.extend(if cmdlet.named.is_empty() {
                from.pop()
            } else {
                cmdlet.operands.last().cloned()
            });
        }
        let deed = if cmdlet.name == "copy-item" { PathDeed::Read } else { PathDeed::MoveFrom };
        from.iter().for_each(|path| shell.touch(path, deed));
    } else {
        if cmdlet.value(&["path", "filepath"]).is_empty() {
            from.truncate(1);
        }
        to.extend(from);
    }
    let mut worst = judge::writes("program.writes", cmdlet.name);
    for file in &to {
        let found = judge::redirected(shell, file, true);
        worst = worst.worse(found);
    }
    worst
}

/// `Start-Process NAME -ArgumentList …`
fn started(shell: &mut Shell<'_>, cmdlet: &Cmdlet<'_>) -> ShellFinding {
    let mut words = [cmdlet.value(&["filepath"]), cmdlet.operands.clone()].concat();
    let lists = cmdlet.value(&["argumentlist", "args"]);
    words.extend(lists.iter().flat_map(|arg| arg.text.split_whitespace().map(Arg::known)));
    shell.background();
    let found = shell.within(|shell| {
        shell.process("Start-Process", |shell| {
            command(shell, &words, &[], true, None);
        });
    });
    judge::opaque("code.powershell", cmdlet.name)
        .or(found.unwrap_or_else(|| judge::reads(cmdlet.name)))
}

/// Words and signs; nothing where a quote is not closed.
fn tokens(shell: &Shell<'_>, text: &str) -> Option<Vec<PsToken>> {
    let mut tokens: Vec<PsToken> = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    let mut pieces: Vec<WordPiece> = Vec::new();
    let mut open = false;
    macro_rules! close {
        () => {
            if open {
                tokens.push(PsToken::Word(Arg::from_pieces(&pieces)));
                pieces.clear();
                open = false;
            }
        };
    }
    while let Some(c) = chars.get(at).copied() {
        let next = chars.get(at + 1).copied();
        at += 1;
        match c {
            ' ' | '\t' | '\r' | '\u{a0}' => close!(),
            '\n' | ';' | '{' | '}' | ')' => {
                close!();
                tokens.push(PsToken::End);
            }
            '(' => {
                close!();
                tokens.push(PsToken::End);
            }
            '<' if next == Some('#') => {
                close!();
                while at < chars.len() && !(chars[at] == '#' && chars.get(at + 1) == Some(&'>')) {
                    at += 1;
                }
                at += 2;
            }
            '#' if !open => {
                while chars.get(at).is_some_and(|c| *c != '\n') {
                    at += 1
                }
            }
            '|' => {
                close!();
                let or = next == Some('|');
                at += usize::from(or);
                tokens.push(if or { PsToken::End } else { PsToken::Pipe });
            }
            '&' if next == Some('&') => {
                close!();
                at += 1;
                tokens.push(PsToken::End);
            }
            '&' if !open => tokens.push(PsToken::Call),
            '.' if !open && next.is_some_and(|c| " \t'\"".contains(c)) => {
                tokens.push(PsToken::Call)
            }
            ',' => {
                close!();
                tokens.push(PsToken::Comma);
            }
            '>' => {
                let stream = pieces.len() == 1
                    && matches!(&pieces[0], WordPiece::Text(text) if text == "*" || text.len() == 1 && text.as_bytes()[0].is_ascii_digit());
                if stream {
                    pieces.clear();
                    open = false;
                }
                close!();
                let append = next == Some('>');
                at += usize::from(append);
                if chars.get(at) == Some(&'&') {
                    at += 2;
                } else {
                    tokens.push(PsToken::Into);
                }
            }
            '`' => {
                open = true;
                if let Some(escaped) = next {
                    at += 1;
                    if escaped != '\n' {
                        push(&mut pieces, WordPiece::Text(escaped.to_string()));
                    }
                }
            }
            '\'' | '"' => {
                open = true;
                push(&mut pieces, WordPiece::Text(String::new()));
                at = quoted(shell, &chars, at, c, &mut pieces)?;
            }
            '@' if matches!(next, Some('\'' | '"')) => {
                let quote = next?;
                let end: Vec<char> = ['\n', quote, '@'].to_vec();
                let body = at + 1;
                let found = (body..chars.len()).find(|at| chars[*at..].starts_with(&end))?;
                open = true;
                let text: String = chars[body..found].iter().collect();
                push(&mut pieces, WordPiece::Text(text.trim_start().to_owned()));
                at = found + end.len();
            }
            '@' if matches!(next, Some('(' | '{')) => {}
            '$' if next == Some('(') => {
                open = true;
                pieces.push(WordPiece::Unknown {
                    shown: "$(…)".to_owned(),
                    origin: WordOrigin::Output,
                });
                close!();
            }
            '$' => {
                open = true;
                at = variable(shell, &chars, at, &mut pieces);
            }
            '*' | '?' | '[' if open || next.is_some_and(|c| !c.is_whitespace()) || c == '*' => {
                open = true;
                pieces.push(WordPiece::Glob(c.to_string()));
            }
            '\\' => {
                open = true;
                push(&mut pieces, WordPiece::Text("/".to_owned()));
            }
            other => {
                open = true;
                push(&mut pieces, WordPiece::Text(other.to_string()));
            }
        }
    }
    close!();
    let _ = open;
    Some(tokens)
}

fn push(pieces: &mut Vec<WordPiece>, piece: WordPiece) {
    match (pieces.last_mut(), piece) {
        (Some(WordPiece::Text(before)), WordPiece::Text(text)) => before.push_str(&text),
        (_, piece) => pieces.push(piece),
    }
}

fn quoted(
    shell: &Shell<'_>,
    chars: &[char],
    from: usize,
    quote: char,
    pieces: &mut Vec<WordPiece>,
) -> Option<usize> {
    let mut at = from;
    loop {
        let c = *chars.get(at)?;
        at += 1;
        match c {
            c if c == quote && chars.get(at) == Some(&quote) => {
                at += 1;
                push(pieces, WordPiece::Text(quote.to_string()));
            }
            c if c == quote => return Some(at),
            '`' if quote == '"' => {
                let escaped = *chars.get(at)?;
                at += 1;
                push(pieces, WordPiece::Text(escaped.to_string()));
            }
            '$' if quote == '"' && chars.get(at) == Some(&'(') => {
                pieces.push(WordPiece::Unknown {
                    shown: "$(…)".to_owned(),
                    origin: WordOrigin::Output,
                });
                while chars.get(at).is_some_and(|c| *c != ')') {
                    at += 1;
                }
                at += 1;
            }
            '$' if quote == '"' => at = variable(shell, chars, at, pieces),
            '\\' => push(pieces, WordPiece::Text("/".to_owned())),
            c => push(pieces, WordPiece::Text(c.to_string())),
        }
    }
}

/// After `$`: what the variable stands for, where that is known.
fn variable(shell: &Shell<'_>, chars: &[char], from: usize, pieces: &mut Vec<WordPiece>) -> usize {
    let mut at = from;
    let braced = chars.get(at) == Some(&'{');
    at += usize::from(braced);
    let start = at;
    while chars.get(at).is_some_and(|c| {
        c.is_alphanumeric() || *c == '_' || *c == ':' || (*c == '?' && at == start)
    }) {
        at += 1;
    }
    let name: String = chars[start..at].iter().collect();
    at += usize::from(braced);
    let shown = format!("${name}");
    let lower = name.to_ascii_lowercase();
    let piece = match lower.as_str() {
        "env:temp" | "env:tmp" | "env:tmpdir" => WordPiece::Temp(shown),
        "home" | "env:userprofile" | "env:home" => shell.home(),
        "pwd" => shell.here(),
        "env:systemroot" | "env:windir" => WordPiece::Text("C:/Windows".to_owned()),
        "env:systemdrive" => WordPiece::Text("C:".to_owned()),
        "true" | "false" => WordPiece::Text(shown),
        _ => match shell.variable(&format!("ps:{lower}")) {
            Some(value) => {
                value.into_iter().for_each(|piece| push(pieces, piece));
                return at;
            }
            None => WordPiece::Unknown { shown, origin: WordOrigin::Variable },
        },
    };
    push(pieces, piece);
    at
}
