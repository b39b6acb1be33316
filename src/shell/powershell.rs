//! PowerShell, read well enough to find what deletes and what writes.
//!
//! Not a grammar of the whole language: words, quotes, pipelines and blocks.
//! What is not surely understood is opaque, never reading.

use base64::Engine as _;

use super::expand::{Arg, WordOrigin, WordPiece};
use super::judge;
use super::walk::{Feed, Shell, ShellFinding};
use super::{Class, CommandContext, Invocation, PathDeed, Reading};

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
    methods(shell, text);
    let mut fed: Option<Feed> = None;
    for statement in tokens.split(|token| matches!(token, PsToken::End)) {
        let commands: Vec<&[PsToken]> =
            statement.split(|token| matches!(token, PsToken::Pipe)).collect();
        for (at, command) in commands.iter().enumerate() {
            let before = if at > 0 { fed.take() } else { None };
            fed = Some(one(shell, command, before));
        }
        fed = None;
    }
}

/// Calls of the framework that delete or run: `[IO.File]::Delete(…)`.
fn methods(shell: &mut Shell<'_>, text: &str) {
    let lower = text.to_ascii_lowercase();
    for (call, reason) in [
        ("]::delete(", "It deletes a file or folder."),
        (".delete(", "It deletes what the object stands for."),
        ("]::writealltext(", ""),
        ("]::writealllines(", ""),
        ("]::writeallbytes(", ""),
    ] {
        let Some(at) = lower.find(call) else { continue };
        let word = &text[at..at + call.len()];
        if quoted_before(&text[..at]) {
            continue;
        }
        if reason.is_empty() {
            shell.note(judge::opaque("code.powershell", word));
        } else {
            shell.note(judge::destructive("code.delete", word, reason));
        }
    }
    let fetches = [
        "downloadstring",
        "downloadfile",
        "invoke-webrequest",
        "invoke-restmethod",
        "iwr ",
        "irm ",
        "net.webclient",
    ];
    let runs = ["iex", "invoke-expression", "[scriptblock]::create"];
    let words = |list: &[&str]| list.iter().any(|word| lower.contains(word));
    if words(&fetches) && words(&runs) && !lower.trim_start().starts_with("write-") {
        shell.note(judge::downloaded("Invoke-Expression"));
    }
    if words(&runs) && lower.contains("frombase64string") {
        shell.note(judge::decoded("FromBase64String"));
    }
}

fn quoted_before(text: &str) -> bool {
    text.matches('\'').count() % 2 == 1 || text.matches('"').count() % 2 == 1
}

fn one(shell: &mut Shell<'_>, tokens: &[PsToken], before: Option<Feed>) -> Feed {
    let mut words: Vec<Arg> = Vec::new();
    let mut lists: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            PsToken::Word(arg) => words.push(arg.clone()),
            PsToken::Into => {
                if let Some(PsToken::Word(file)) = tokens.get(at + 1) {
                    let nothing = file.text.eq_ignore_ascii_case("$null");
                    let file = file.clone();
                    let number = file.text.starts_with('&');
                    if !nothing
                        && !number
                        && let Some(found) = judge::redirected(shell, &file, true)
                    {
                        shell.note(found);
                    }
                    at += 1;
                }
            }
            PsToken::Comma => lists.push(words.len()),
            PsToken::Call | PsToken::Pipe | PsToken::End => {}
        }
        at += 1;
    }
    let called = tokens.iter().any(|token| matches!(token, PsToken::Call));
    // `$x = command`: what is assigned is a command of its own.
    if let [first, sign, ..] = words.as_slice()
        && first.text.starts_with('$')
        && ["=", "+="].iter().any(|assign| sign.is(assign))
    {
        let simple = words.len() == 3 && !words[2].text.contains('-');
        let name = first.text.trim_start_matches('$').to_ascii_lowercase();
        if simple {
            shell.set(&format!("ps:{name}"), words[2].pieces.clone());
            return Feed::some();
        }
        words.drain(..2);
    }
    let first = shell.started();
    let out = command(shell, &words, &lists, called, before);
    if tokens.iter().any(|token| matches!(token, PsToken::Into)) {
        shell.hide(first);
    }
    out
}

/// Names that mean another one; of those that exist everywhere, what they mean on Windows.
fn meant(name: &str) -> &str {
    match name {
        "ri" | "rm" | "del" | "rd" | "erase" | "rmdir" | "rp" => "remove-item",
        "sc" | "set-content" => "set-content",
        "ac" => "add-content",
        "ni" | "mkdir" | "md" => "new-item",
        "cp" | "copy" | "cpi" => "copy-item",
        "mv" | "move" | "mi" => "move-item",
        "ren" | "rni" => "rename-item",
        "iex" => "invoke-expression",
        "iwr" | "curl" | "wget" => "invoke-webrequest",
        "irm" => "invoke-restmethod",
        "saps" | "start" => "start-process",
        "spps" | "kill" => "stop-process",
        "clc" => "clear-content",
        "tee" => "tee-object",
        "cd" | "sl" | "chdir" => "set-location",
        "icm" => "invoke-command",
        "ls" | "dir" | "gci" => "get-childitem",
        "cat" | "gc" | "type" => "get-content",
        "echo" | "write" => "write-output",
        "pwd" | "gl" => "get-location",
        "sleep" => "start-sleep",
        other => other,
    }
}

/// Verbs of cmdlets that change nothing.
const READING: &[&str] = &[
    "get",
    "test",
    "select",
    "where",
    "sort",
    "measure",
    "format",
    "write",
    "convertto",
    "convertfrom",
    "compare",
    "resolve",
    "join",
    "split",
    "show",
    "find",
    "group",
    "foreach",
    "read",
    "search",
    "trace",
    "wait",
    "convert",
    "limit",
];

/// `Get-Content`: its files have been seen.
fn content(shell: &mut Shell<'_>, words: &[Arg]) {
    let takes = |word: &str| {
        let name = word.to_ascii_lowercase();
        [
            "-totalcount",
            "-head",
            "-first",
            "-tail",
            "-last",
            "-encoding",
            "-readcount",
            "-delimiter",
        ]
        .contains(&name.as_str())
    };
    let mut value = false;
    for word in words {
        let option = word.option();
        if !option && !value {
            shell.touch(word, PathDeed::Read);
        }
        value = option && takes(&word.lead);
    }
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
        if called {
            let reason = "Which program is called depends on a value that is not known here.";
            shell.note(ShellFinding::new(
                Class::Unreadable,
                "program.variable",
                &first.text,
                reason,
            ));
        } else {
            shell.note(judge::opaque("code.powershell", &first.text));
        }
        return Feed::some();
    }
    let keywords = [
        "if", "else", "elseif", "foreach", "while", "do", "for", "switch", "try", "catch",
        "finally", "return", "in", "param", "function", "begin", "process", "end", "until", "trap",
        "not", "-not", "throw", "exit",
    ];
    if keywords.contains(&lower.as_str()) {
        if lower == "foreach"
            && words.get(2).is_some_and(|word| word.text.eq_ignore_ascii_case("in"))
        {
            return Feed::some();
        }
        return command(shell, &words[1..], lists, called, before);
    }
    let name = meant(lower.rsplit(['\\', '/']).next().unwrap_or(&lower)).to_owned();
    let cmdlet = Cmdlet::new(&name, &words[1..], lists);
    if name == "get-content" {
        content(shell, &words[1..]);
    }
    let found = cmdlet_finding(shell, &cmdlet, &before);
    let Some(finding) = found else {
        let whole: Vec<Arg> = words.to_vec();
        return shell.run(whole, before.unwrap_or_default());
    };
    let out = Feed {
        download: name.starts_with("invoke-web") || name.starts_with("invoke-rest"),
        present: true,
        ..Feed::default()
    };
    shell.invoked(Invocation {
        program: Some(first.text.clone()),
        words: words.iter().map(|word| word.text.clone()).collect(),
        via: shell.via.clone(),
        class: finding.class,
        rule: finding.rule.to_owned(),
        hidden: false,
    });
    shell.note(finding);
    out
}

/// A cmdlet's parameters and operands.
struct Cmdlet<'c> {
    name: &'c str,
    flags: Vec<String>,
    /// Values of parameters, lists taken apart.
    named: Vec<(String, Arg)>,
    operands: Vec<Arg>,
}

impl<'c> Cmdlet<'c> {
    fn new(name: &'c str, words: &[Arg], lists: &[usize]) -> Self {
        const SWITCHES: &[&str] = &[
            "recurse",
            "force",
            "whatif",
            "confirm",
            "verbose",
            "append",
            "nonewline",
            "passthru",
            "noclobber",
            "directory",
            "file",
            "hidden",
            "raw",
            "asjob",
            "wait",
            "nonewwindow",
            "r",
            "fo",
        ];
        let mut cmdlet = Self { name, flags: Vec::new(), named: Vec::new(), operands: Vec::new() };
        let mut last: Option<String> = None;
        for (at, word) in words.iter().enumerate() {
            // Commas count words of the whole command, with its name.
            let listed = lists.contains(&(at + 1));
            if let Some(flag) = word.text.strip_prefix('-').filter(|_| word.sure && !listed)
                && flag.starts_with(|c: char| c.is_ascii_alphabetic())
            {
                let flag = flag.to_ascii_lowercase();
                let (flag, value) = flag.split_once(':').unwrap_or((&flag, ""));
                if value != "$false" {
                    cmdlet.flags.push(flag.to_owned());
                }
                let switch = SWITCHES
                    .iter()
                    .any(|switch| switch.starts_with(flag) && flag.len() > 2 || *switch == flag);
                last = (!switch && value.is_empty()).then(|| flag.to_owned());
                continue;
            }
            if listed
                && let Some((name, _)) = cmdlet.named.last().cloned()
                && last.is_none()
                && !cmdlet.named.is_empty()
                && cmdlet.operands.is_empty()
            {
                cmdlet.named.push((name, word.clone()));
                continue;
            }
            match last.take() {
                Some(name) => cmdlet.named.push((name, word.clone())),
                None => cmdlet.operands.push(word.clone()),
            }
        }
        cmdlet
    }

    /// Whether a parameter is given, in full or shortened.
    fn flag(&self, name: &str) -> bool {
        self.flags
            .iter()
            .any(|flag| flag == name || !flag.is_empty() && name.starts_with(flag.as_str()))
    }

    fn value(&self, names: &[&str]) -> Vec<Arg> {
        let fits =
            |given: &str| names.iter().any(|name| name.starts_with(given) && !given.is_empty());
        self.named.iter().filter(|(name, _)| fits(name)).map(|(_, arg)| arg.clone()).collect()
    }

    /// What it works on: `-Path`, `-LiteralPath`, or the operands.
    fn paths(&self) -> Vec<Arg> {
        let named = self.value(&["path", "literalpath", "filepath", "pspath", "lp"]);
        if named.is_empty() { self.operands.clone() } else { named }
    }
}

fn cmdlet_finding(
    shell: &mut Shell<'_>,
    cmdlet: &Cmdlet<'_>,
    before: &Option<Feed>,
) -> Option<ShellFinding> {
    let name = cmdlet.name;
    if cmdlet.flag("whatif") && name.contains('-') {
        return Some(judge::reads(name));
    }
    let lost = |rule: &'static str, reason: &str| Some(judge::destructive(rule, name, reason));
    match name {
        "remove-item" | "remove-itemproperty" => Some(removed(shell, cmdlet, before)),
        "clear-content" | "clear-item" | "clear-itemproperty" => {
            lost("clear", "It empties a file or a key.")
        }
        "format-volume" | "clear-disk" | "initialize-disk" | "remove-partition"
        | "new-partition" | "set-disk" | "reset-physicaldisk" => {
            lost("disk", "It writes over a disk or its table of partitions.")
        }
        "stop-computer" | "restart-computer" => lost("machine.stop", "It stops the machine."),
        "stop-process" if cmdlet.flag("name") || !before.is_none() => {
            lost("processes", "It ends every process that fits.")
        }
        "stop-process" => Some(judge::opaque("kill", name)),
        "stop-service" | "suspend-service" | "remove-service" => {
            lost("service.stop", "It stops or disables a service of the machine.")
        }
        "clear-recyclebin" | "clear-eventlog" | "clear-history" => {
            lost("clear", "It deletes what can be looked up until then.")
        }
        "remove-variable" | "remove-module" | "remove-job" | "remove-alias"
        | "remove-pssession" | "remove-event" | "remove-psdrive" => Some(judge::reads(name)),
        "invoke-expression" => Some(expression(shell, cmdlet, before)),
        "invoke-webrequest" | "invoke-restmethod" => {
            let delete = cmdlet
                .value(&["method"])
                .iter()
                .any(|method| method.text.eq_ignore_ascii_case("delete"));
            if delete {
                return lost("http.delete", "It asks a server to delete something.");
            }
            for file in cmdlet.value(&["outfile"]) {
                shell.touch(&file, PathDeed::Write);
            }
            Some(judge::opaque("network", name))
        }
        "set-content" | "add-content" | "out-file" | "new-item" | "tee-object" | "export-csv"
        | "export-clixml" | "set-item" | "expand-archive" | "compress-archive" => {
            let mut files = cmdlet.paths();
            if !files.is_empty() && cmdlet.value(&["path", "filepath"]).is_empty() {
                files.truncate(1);
            }
            files.extend(cmdlet.value(&["destinationpath"]));
            Some(written(shell, name, &files))
        }
        "copy-item" | "move-item" | "rename-item" => Some(moved(shell, cmdlet)),
        "set-location" | "push-location" => {
            let to = cmdlet.paths().first().and_then(|arg| arg.literal().map(str::to_owned));
            let there = to.map(|to| {
                if super::paths::absolute(&to) {
                    to
                } else {
                    format!("{}/{to}", shell.cwd().unwrap_or(""))
                }
            });
            shell.go(there.map(|path| super::paths::normal(&path)));
            Some(judge::reads(name))
        }
        "pop-location" => Some(judge::reads(name)),
        "start-process" | "invoke-command" => Some(started(shell, cmdlet)),
        "out-null" | "out-string" | "out-host" | "out-default" | "start-sleep" | "clear-host"
        | "set-strictmode" | "set-variable" | "new-object" | "%" | "?" => Some(judge::reads(name)),
        _ => {
            let (verb, noun) = name.split_once('-').filter(|(verb, noun)| {
                !verb.is_empty() && !noun.is_empty() && !name.contains('.')
            })?;
            if judge::known(name) {
                return None;
            }
            match verb {
                "remove" | "clear" | "uninstall" | "disable" | "reset" | "dismount" => {
                    lost("powershell.remove", &format!("`{name}` removes or disables something."))
                }
                _ if READING.contains(&verb) && !noun.contains('\\') => Some(judge::reads(name)),
                _ => Some(judge::opaque("program.unknown", name)),
            }
        }
    }
}

fn removed(shell: &mut Shell<'_>, cmdlet: &Cmdlet<'_>, before: &Option<Feed>) -> ShellFinding {
    let recursive = cmdlet.flag("recurse")
        || cmdlet.flags.iter().any(|flag| flag == "rf" || flag == "fr" || flag == "r");
    let mut paths = cmdlet.paths();
    if paths.is_empty() && before.is_some() {
        paths.push(Arg::unknown("(input)", WordOrigin::Output));
    }
    let mut worst = judge::writes("rm.file", cmdlet.name);
    for path in &paths {
        let lower = path.text.to_ascii_lowercase();
        if ["env:", "variable:", "function:", "alias:"].iter().any(|drive| lower.starts_with(drive))
        {
            continue;
        }
        if ["hklm:", "hkcu:", "hkcr:", "registry::", "cert:"]
            .iter()
            .any(|drive| lower.starts_with(drive))
        {
            return judge::destructive(
                "windows.registry",
                &path.text,
                "It deletes from the registry.",
            );
        }
        worst = worst.or(judge::remove_one(shell, path, recursive));
    }
    worst
}

/// `iex`: a text is read on; anything else is not known.
fn expression(shell: &mut Shell<'_>, cmdlet: &Cmdlet<'_>, before: &Option<Feed>) -> ShellFinding {
    if before.as_ref().is_some_and(|feed| feed.download) {
        return judge::downloaded("Invoke-Expression");
    }
    let mut codes = cmdlet.value(&["command"]);
    codes.extend(cmdlet.operands.iter().cloned());
    match codes.first().and_then(Arg::literal) {
        Some(code) => {
            let code = code.to_owned();
            let found = shell
                .within(|shell| shell.process("Invoke-Expression", |shell| walk(shell, &code)));
            found.unwrap_or_else(|| judge::opaque("code.powershell", "Invoke-Expression"))
        }
        None => ShellFinding::new(
            Class::Unreadable,
            "code.unknown",
            "Invoke-Expression",
            "It runs a value that is not known here.",
        ),
    }
}

fn written(shell: &mut Shell<'_>, name: &str, files: &[Arg]) -> ShellFinding {
    let mut worst = judge::writes("program.writes", name);
    for file in files {
        let found = judge::redirected(shell, file, true);
        worst = found.map_or(worst.clone(), |found| worst.or(found));
    }
    worst
}

fn moved(shell: &mut Shell<'_>, cmdlet: &Cmdlet<'_>) -> ShellFinding {
    let mut from = cmdlet.paths();
    let mut to = cmdlet.value(&["destination", "newname"]);
    if to.is_empty() && from.len() > 1 {
        to.extend(from.pop());
    } else if to.is_empty() {
        to.extend(cmdlet.operands.last().filter(|_| !cmdlet.named.is_empty()).cloned());
    }
    let deed = if cmdlet.name == "copy-item" { PathDeed::Read } else { PathDeed::MoveFrom };
    for path in &from {
        shell.touch(path, deed);
    }
    written(shell, cmdlet.name, &to)
}

/// `Start-Process NAME -ArgumentList …`
fn started(shell: &mut Shell<'_>, cmdlet: &Cmdlet<'_>) -> ShellFinding {
    let mut words = cmdlet.value(&["filepath"]);
    words.extend(cmdlet.operands.iter().cloned());
    let lists = cmdlet.value(&["argumentlist", "args"]);
    words.extend(lists.iter().flat_map(|arg| arg.text.split_whitespace().map(Arg::known)));
    if words.is_empty() {
        return judge::opaque("code.powershell", cmdlet.name);
    }
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
