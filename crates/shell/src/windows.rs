//! Judges texts for PowerShell and `cmd.exe` in a simplified way. A text is split into commands,
//! each command is looked up by its name, and a command that is not known is opaque. Methods, types
//! and blocks of PowerShell are not followed, so a text that uses them is never only reading.

use std::rc::Rc;

use base64::Engine as _;

use super::expand::{Arg, Fields, WordOrigin, WordPiece};
use super::judge::{self, ProgramCall};
use super::table::{self, TableRow, holds, list};
use super::walk::{MAX_COMMANDS, Shell, ShellFinding, StreamData};
use super::{Class, CommandContext, Dialect, PathDeed, Prediction, paths};

/// Returns what a text in PowerShell or `cmd` would do.
pub(super) fn read(text: &str, dialect: Dialect, at: &CommandContext) -> Prediction {
    if text.chars().nth(super::parse::MAX_CHARS).is_some() {
        return Prediction::unreadable("size", "The text is longer than can be judged.".to_owned());
    }
    let mut shell = Shell::new(Rc::new(at.clone()));
    walk(&mut shell, text, dialect);
    shell.finish()
}

/// Decodes the argument of `-EncodedCommand`: base64 of UTF-16 text.
pub(super) fn decode(encoded: &str) -> Option<String> {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(encoded.trim())
        .or_else(|_| base64::engine::general_purpose::STANDARD_NO_PAD.decode(encoded.trim()))
        .ok()?;
    let units: Vec<u16> =
        bytes.chunks_exact(2).map(|two| u16::from(two[0]) | u16::from(two[1]) << 8).collect();
    String::from_utf16(&units).ok()
}

/// Walks a text and notes what it would do.
pub(super) fn walk(shell: &mut Shell, text: &str, dialect: Dialect) {
    let Some(commands) = Tokens::of(shell, text, dialect) else {
        let reason = "It cannot be read: a quote is not closed.";
        shell.note(ShellFinding::new(Class::Unreadable, "syntax", "", reason));
        return;
    };
    if dialect == Dialect::PowerShell {
        judge_methods(shell, text);
    }
    let mut fed = StreamData::default();
    for command in commands {
        let before = if command.piped { fed } else { StreamData::default() };
        for file in command.into.iter().filter(|file| !file.text.eq_ignore_ascii_case("$null")) {
            let found = judge::redirected(shell, file, true);
            found.into_iter().for_each(|found| shell.note(found));
        }
        let first = shell.out.commands.len();
        fed = judge_command(shell, &command.words, command.called, dialect, before);
        if !command.into.is_empty() {
            shell.hide(first);
        }
    }
}

/// Judges methods and types of PowerShell: those that delete, those that download or decode code
/// and run it, and those that are not known.
fn judge_methods(shell: &mut Shell, text: &str) {
    let lower = text.to_ascii_lowercase();
    let has = |name: &str| table::contained(name, &lower).is_some();
    let quoted =
        |at: usize| ['\'', '"'].iter().any(|quote| text[..at].matches(*quote).count() % 2 == 1);
    let deletes = ["]::delete(", ".delete("].iter().find_map(|call| lower.find(call));
    if let Some(at) = deletes.filter(|at| !quoted(*at)) {
        shell.note(judge::destructive_rule("code.delete", &text[at..at + 8]));
    }
    if has("psfetches") && has("psruns") && !lower.trim_start().starts_with("write-") {
        shell.note(judge::downloaded("Invoke-Expression"));
    }
    if has("psruns") && lower.contains("frombase64string") {
        shell.note(judge::decoded("FromBase64String"));
    }
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let method = lower.match_indices('(').any(|(at, _)| {
        let owner = lower[..at].trim_end_matches(named);
        owner.len() < at && owner.ends_with(['.', ':'])
    });
    if method || lower.contains("::") || lower.contains("$(") && lower.contains('"') {
        shell.mention(text);
        shell.note(judge::opaque("code.powershell", "("));
    }
}

/// A command together with the files that its output is redirected to.
#[derive(Default)]
struct WindowsCommand {
    words: Vec<Arg>,
    into: Vec<Arg>,
    /// True if the output of the preceding command is its input.
    piped: bool,
    /// True if `&` or `.` precedes the name.
    called: bool,
}

/// Judges one command. The value of an assignment, and the words after a keyword, are judged as
/// commands of their own.
fn judge_command(
    shell: &mut Shell,
    words: &[Arg],
    called: bool,
    dialect: Dialect,
    before: StreamData,
) -> StreamData {
    let Some((first, args)) = words.split_first() else { return StreamData::some() };
    let lower = first.text.to_ascii_lowercase();
    let name = lower.trim_start_matches('@');
    let behind = match dialect {
        Dialect::Cmd => behind_keyword(shell, name, args),
        _ => behind_sign(shell, words, called),
    };
    if let Some(words) = behind {
        return judge_command(shell, words, called, dialect, before);
    }
    let call = WindowsCall::new(dialect, name, args);
    let Some(finding) = call.judged(shell, &before) else {
        let mut words = words.to_vec();
        if first.sure && dialect == Dialect::Cmd {
            words[0] = Arg::known(name);
        }
        return shell.run(words, before);
    };
    let download = ["invoke-webrequest", "invoke-restmethod"].contains(&call.name);
    let at = shell.out.commands.len();
    if at <= MAX_COMMANDS {
        shell.invoked(at, Some(first.text.clone()), words, &finding);
    }
    shell.note(finding);
    StreamData { download, ..StreamData::some() }
}

/// Returns the command after `if exist x`, `for %i in (…) do`, `call` or `start ""`.
fn behind_keyword<'a>(shell: &mut Shell, name: &str, args: &'a [Arg]) -> Option<&'a [Arg]> {
    let lower = |arg: &Arg| arg.text.to_ascii_lowercase();
    let skipped = match name {
        "if" => {
            let flag = |arg: &&Arg| ["not", "/i"].contains(&lower(arg).as_str());
            let flags = args.iter().take_while(flag).count();
            flags
                + args.get(flags).map_or(0, |arg| match lower(arg).as_str() {
                    "exist" | "defined" | "errorlevel" => 2,
                    text if text.contains("==") => 1,
                    _ => 3,
                })
        }
        "for" => {
            // A loop may run over the output of a command, so it is opaque.
            shell.note(judge::opaque("code.cmd", name));
            args.iter().position(|arg| lower(arg) == "do").map_or(args.len(), |at| at + 1)
        }
        "start" => {
            shell.out.background = true;
            let title = |arg: &&Arg| arg.text.is_empty() || arg.text.starts_with('/');
            args.iter().take_while(title).count()
        }
        "call" | "else" | "do" => 0,
        _ => return None,
    };
    args.get(skipped..).or(Some(&[]))
}

/// Returns the command after `$x =` or a keyword of PowerShell. It is empty for an expression, and
/// `None` if `words` is a command itself.
fn behind_sign<'a>(shell: &mut Shell, words: &'a [Arg], called: bool) -> Option<&'a [Arg]> {
    let (first, args) = words.split_first()?;
    let lower = first.text.to_ascii_lowercase();
    match args {
        [sign, value @ ..] if lower.starts_with('$') && sign.text.ends_with('=') => {
            if lower.starts_with("$env:") {
                shell.note(judge::opaque("variable.steers", &first.text));
            }
            let plain = matches!(value, [value] if !value.text.contains('-'));
            Some(if plain { &[] } else { value })
        }
        _ if !first.sure => {
            shell.note(match called {
                true => judge::unreadable_rule("program.called", &first.text),
                false => judge::opaque("code.powershell", &first.text),
            });
            Some(&[])
        }
        _ => holds("pskeywords", &lower).then_some(args),
    }
}

/// Returns the row of a command that is specific to PowerShell or `cmd.exe`: `ps:remove-item`,
/// `cmd:rd`.
fn windows_row(dialect: Dialect, name: &str) -> Option<&'static TableRow> {
    let language = if dialect == Dialect::Cmd { "cmd" } else { "ps" };
    table::rows(&format!("{language}:{name}")).first()
}

/// Judges a command in a text for a POSIX shell if its name looks like that of a cmdlet:
/// `Remove-Item`.
pub(super) fn cmdlet_finding(shell: &mut Shell, call: &ProgramCall) -> Option<ShellFinding> {
    let capital = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase());
    let (verb, noun) = call.name.split_once('-')?;
    let lower = call.name.to_ascii_lowercase();
    let cmdlet = WindowsCall::new(Dialect::PowerShell, &lower, call.args);
    if capital(verb) && capital(noun) { cmdlet.judged(shell, call.stdin) } else { None }
}

/// A call of a PowerShell cmdlet or a `cmd` builtin, with its words sorted into switches,
/// parameters with values, and operands.
struct WindowsCall<'c> {
    name: &'c str,
    dialect: Dialect,
    row: Option<&'static TableRow>,
    flags: Vec<String>,
    values: Vec<(String, Arg)>,
    operands: Vec<Arg>,
}

impl<'c> WindowsCall<'c> {
    fn new(dialect: Dialect, name: &'c str, words: &[Arg]) -> Self {
        let powershell = dialect == Dialect::PowerShell;
        let name = name.rsplit('/').next().filter(|_| powershell).unwrap_or(name);
        let mut aliases = list("psaliases").into_iter().filter_map(|alias| alias.split_once('='));
        let full = aliases.find(|(alias, _)| powershell && *alias == name);
        let name = full.map_or(name, |(_, full)| full);
        let row = windows_row(dialect, name);
        let (flags, values, operands) = (Vec::new(), Vec::new(), Vec::new());
        let mut call = Self { name, dialect, row, flags, values, operands };
        let mut last: Option<String> = None;
        for word in words {
            // Switches of `cmd` may be joined: `/s/q`. A longer word that begins with `/` is a
            // path.
            let switch = match dialect {
                Dialect::Cmd => word.text.strip_prefix('/').filter(|flag| flag.len() < 6),
                _ => word.text.strip_prefix('-').filter(|_| word.sure),
            };
            let letter = |flag: &&str| flag.starts_with(|c: char| c.is_ascii_alphabetic());
            match (switch.filter(letter), last.take()) {
                (Some(flag), _) => last = call.switched(&flag.to_ascii_lowercase()),
                (None, Some(name)) => call.values.push((name, word.clone())),
                (None, None) => call.operands.push(word.clone()),
            }
        }
        call
    }

    /// Adds a switch. Returns its name if the next word is its value.
    fn switched(&mut self, flag: &str) -> Option<String> {
        let (flag, value) = flag.split_once(':').unwrap_or((flag, ""));
        if value != "$false" {
            self.flags.extend(flag.split('/').map(str::to_owned));
        }
        let switch = |known: &&str| known.starts_with(flag) && flag.len() > 2 || *known == flag;
        let alone = self.dialect == Dialect::Cmd || list("psswitches").iter().any(switch);
        (!alone && value.is_empty()).then(|| flag.to_owned())
    }

    /// Returns true if a parameter is present, in full or abbreviated.
    fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| !flag.is_empty() && name.starts_with(flag.as_str()))
    }

    fn value(&self, names: &[&str]) -> Vec<Arg> {
        let fits = |given: &str| names.iter().any(|name| name.starts_with(given));
        self.values.iter().filter(|(name, _)| fits(name)).map(|(_, arg)| arg.clone()).collect()
    }

    /// Returns the paths that the command works on: the values of `-Path` and `-LiteralPath`, and
    /// the operands.
    fn paths(&self) -> Vec<Arg> {
        let named = self.value(&["path", "literalpath", "filepath", "pspath", "lp"]);
        [named, self.operands.clone()].concat()
    }

    /// Judges the call. Returns `None` if neither a row nor the form of its name determines what it
    /// does.
    fn judged(&self, shell: &mut Shell, before: &StreamData) -> Option<ShellFinding> {
        let name = self.name;
        if self.flag("whatif") && name.contains('-') {
            return Some(judge::reads(name));
        }
        let Some(row) = self.row else { return self.by_name(shell, before) };
        Some(match (row.kind(), row.word(1)) {
            ("destroys", "processes") if !self.flag("name") && !before.present => {
                judge::opaque("kill", name)
            }
            ("destroys", rule) => judge::destructive(rule, name, row.reason()),
            ("reads", _) => {
                self.read(shell, row);
                judge::reads(name)
            }
            ("writes", manner) => self.written(shell, manner),
            (_, rule @ ("rm.file" | "rmdir")) => self.removed(shell, rule, before),
            (_, rule) => judge::opaque(rule, name),
        })
    }

    /// Notes the files that the command shows, or changes the folder.
    fn read(&self, shell: &mut Shell, row: &TableRow) {
        let paths = self.paths();
        if row.text("shows") == "all" {
            paths.iter().for_each(|file| shell.touch(file, PathDeed::Read));
        }
        if let Some(folder) = paths.first().filter(|_| holds("windowsfolders", self.name)) {
            let there = folder.literal().and_then(|to| paths::from(shell.cwd(), to));
            shell.state.cwd = there;
        }
    }

    /// Judges cmdlets that start a program or have no row. The latter are judged by their verb.
    fn by_name(&self, shell: &mut Shell, before: &StreamData) -> Option<ShellFinding> {
        let name = self.name;
        match name {
            "invoke-expression" | "start-process" | "invoke-command" => {
                return Some(self.code(shell, before));
            }
            "invoke-webrequest" | "invoke-restmethod" => {
                let methods = self.value(&["method"]);
                if methods.iter().any(|method| method.text.eq_ignore_ascii_case("delete")) {
                    return Some(judge::destructive_rule("http.delete", name));
                }
                self.value(&["outfile"]).iter().for_each(|file| shell.touch(file, PathDeed::Write));
                return Some(judge::opaque("network", name));
            }
            _ => {}
        }
        let (verb, noun) = name.split_once('-').filter(|_| self.dialect == Dialect::PowerShell)?;
        if verb.is_empty() || noun.is_empty() || name.contains('.') || judge::known(name) {
            return None;
        }
        Some(match (holds("psremoves", verb), holds("pslooks", verb)) {
            (true, _) => judge::destructive_rule("powershell.remove", name),
            (_, true) => judge::inspects(name),
            _ => judge::opaque("program.unknown", name),
        })
    }

    fn removed(&self, shell: &mut Shell, rule: &str, before: &StreamData) -> ShellFinding {
        let whole = |flag: &String| {
            "recurse".starts_with(flag.as_str()) || ["s", "rf", "fr"].contains(&flag.as_str())
        };
        let deep = self.flags.iter().any(whole);
        let mut named = self.paths();
        if named.is_empty() && before.present {
            named.push(Arg::unknown("(input)", WordOrigin::Output));
        }
        let mut worst = judge::writes("rm.file", self.name);
        for path in &named {
            let lower = path.text.to_ascii_lowercase();
            worst = worst.or(match lower.split_once(':').map_or("", |(drive, _)| drive) {
                "env" | "variable" | "function" | "alias" => {
                    judge::opaque("variable.steers", &path.text)
                }
                "hklm" | "hkcu" | "hkcr" | "registry" | "cert" => {
                    judge::destructive_rule("windows.registry", &path.text)
                }
                // `rd` without `/s` fails for a folder that is not empty.
                _ if rule == "rmdir" && !deep => {
                    shell.touch(path, PathDeed::Delete);
                    judge::writes("rm.file", self.name)
                }
                _ => judge::remove_one(shell, path, deep),
            });
        }
        worst
    }

    /// Judges code, or a program with its arguments: `iex 'CODE'`, `Start-Process NAME
    /// -ArgumentList …`.
    fn code(&self, shell: &mut Shell, before: &StreamData) -> ShellFinding {
        let evaluates = self.name == "invoke-expression";
        if evaluates && before.download {
            return judge::downloaded("Invoke-Expression");
        }
        let named = self.value(&["command", "filepath"]);
        let lists = self.value(&["argumentlist", "args"]);
        let words = [named, self.operands.clone(), lists].concat();
        if evaluates && !words.first().is_some_and(|code| code.sure) {
            return judge::unreadable_rule("code.unknown", "Invoke-Expression");
        }
        if !evaluates {
            shell.out.background = true;
        }
        let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let found = shell.in_process(self.name, |shell| walk(shell, &text, Dialect::PowerShell));
        let own = judge::opaque("code.powershell", self.name);
        if evaluates { found.unwrap_or(own) } else { own.or(found) }
    }

    /// Judges the files that are written: the first operand, all of them, or the last one for
    /// commands that copy or move.
    fn written(&self, shell: &mut Shell, manner: &str) -> ShellFinding {
        let mut from = self.paths();
        let mut to = self.value(&["destination", "destinationpath", "newname"]);
        match manner {
            "last" if to.is_empty() => to.extend(from.pop()),
            "last" => {}
            "first" => to.extend(from.drain(..).take(1)),
            _ => to.append(&mut from),
        }
        let moves = holds("windowsmoves", self.name);
        let deed = if moves { PathDeed::MoveFrom } else { PathDeed::Read };
        from.iter().for_each(|path| shell.touch(path, deed));
        let mut worst = judge::writes("program.writes", self.name);
        for file in &to {
            worst = worst.or(judge::redirected(shell, file, true));
        }
        worst
    }
}

/// Splits a text into commands and their words.
struct Tokens<'t> {
    shell: &'t Shell,
    powershell: bool,
    chars: std::iter::Peekable<std::str::Chars<'t>>,
    /// The current word.
    word: Fields,
    /// True if the current word is the target of a redirection.
    into: bool,
    command: WindowsCommand,
    done: Vec<WindowsCommand>,
}

impl<'t> Tokens<'t> {
    /// Returns the commands of a text, or `None` if a quote is not closed.
    fn of(shell: &'t Shell, text: &'t str, dialect: Dialect) -> Option<Vec<WindowsCommand>> {
        let mut tokens = Self {
            shell,
            powershell: dialect == Dialect::PowerShell,
            chars: text.chars().peekable(),
            word: Fields::default(),
            into: false,
            command: WindowsCommand::default(),
            done: Vec::new(),
        };
        while let Some(c) = tokens.chars.next() {
            tokens.take(c)?;
        }
        tokens.end(false);
        Some(tokens.done)
    }

    fn peeks(&mut self, wanted: impl FnOnce(char) -> bool) -> bool {
        self.chars.peek().is_some_and(|c| wanted(*c))
    }

    fn eat(&mut self, c: char) -> bool {
        self.chars.next_if_eq(&c).is_some()
    }

    fn take(&mut self, c: char) -> Option<()> {
        let powershell = self.powershell;
        let begins = powershell && !self.word.is_open();
        match c {
            ' ' | '\t' | '\r' | '\u{a0}' | ',' | '<' => self.close(),
            '(' | ';' if !powershell => self.close(),
            '\n' | ';' | '{' | '}' | '(' | ')' => self.end(false),
            '#' if begins => while self.chars.next_if(|c| *c != '\n').is_some() {},
            '|' => {
                let or = self.eat('|');
                self.end(!or);
            }
            '&' if self.eat('&') || !powershell => self.end(false),
            '&' if begins => self.command.called = true,
            '.' if begins && self.peeks(|c| " \t'\"".contains(c)) => self.command.called = true,
            '>' => self.redirected(),
            '`' | '^' if (c == '`') == powershell => {
                if let Some(escaped) = self.chars.next().filter(|c| *c != '\n') {
                    self.text(escaped);
                }
            }
            '@' if powershell && self.peeks(|c| "({".contains(c)) => {}
            '@' if powershell && self.peeks(|c| "'\"".contains(c)) => self.document()?,
            '"' => self.quoted(c)?,
            '\'' if powershell => self.quoted(c)?,
            '$' if powershell => self.variable(),
            '%' if !powershell => self.variable(),
            '*' => self.piece(WordPiece::Glob(c.to_string())),
            '?' | '[' if self.word.is_open() || self.peeks(|c| !c.is_whitespace()) => {
                self.piece(WordPiece::Glob(c.to_string()));
            }
            '\\' => self.text('/'),
            other => self.text(other),
        }
        Some(())
    }

    fn piece(&mut self, piece: WordPiece) {
        self.word.piece(piece);
    }

    fn text(&mut self, c: char) {
        self.word.text(c.encode_utf8(&mut [0; 4]));
    }

    /// Ends the current word, if there is one.
    fn close(&mut self) {
        if let Some(word) = self.word.take() {
            match std::mem::take(&mut self.into) {
                true => self.command.into.push(word),
                false => self.command.words.push(word),
            }
        }
    }

    /// Reads a redirection. The number of the stream in `2>` or `*>&1` is not a word.
    fn redirected(&mut self) {
        let stream = |text: &str| text == "*" || text.len() == 1 && text.parse::<u8>().is_ok();
        if self.word.only_text().is_some_and(stream) {
            self.word = Fields::default();
        }
        self.close();
        self.eat('>');
        self.into = !self.eat('&');
        if !self.into {
            self.chars.next();
        }
    }

    /// Ends the current command. `piped` means that its output goes to the next one.
    fn end(&mut self, piped: bool) {
        self.close();
        let next = WindowsCommand { piped, ..WindowsCommand::default() };
        self.done.push(std::mem::replace(&mut self.command, next));
    }

    fn quoted(&mut self, quote: char) -> Option<()> {
        self.piece(WordPiece::Text(String::new()));
        let alive = quote == '"';
        loop {
            match self.chars.next()? {
                c if c == quote && !(self.powershell && self.eat(quote)) => return Some(()),
                '`' if self.powershell && alive => {
                    let escaped = self.chars.next()?;
                    self.text(escaped);
                }
                '$' if self.powershell && alive => {
                    self.variable();
                    if self.eat('(') {
                        while self.chars.next()? != ')' {}
                    }
                }
                '%' if !self.powershell => self.variable(),
                '\\' => self.text('/'),
                c => self.text(c),
            }
        }
    }

    /// Reads a here-string: `@'`, lines, `'@`.
    fn document(&mut self) -> Option<()> {
        let end = format!("\n{}@", self.chars.next()?);
        let mut text = String::new();
        while !text.ends_with(&end) {
            text.push(self.chars.next()?);
        }
        let lines = text[..text.len() - end.len()].trim_start().to_owned();
        self.piece(WordPiece::Text(lines));
        Some(())
    }

    /// Reads the name after `$` or `%`, and adds the value of the variable if it is known.
    fn variable(&mut self) {
        self.eat('{');
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_alphanumeric() || "_:".contains(*c)) {
            name.push(c);
        }
        self.eat(if self.powershell { '}' } else { '%' });
        if self.powershell && self.peeks(|c| c == '(') {
            let (shown, origin) = ("$(…)".to_owned(), WordOrigin::Output);
            return self.piece(WordPiece::Unknown { shown, origin });
        }
        let shown = if self.powershell { format!("${name}") } else { format!("%{name}%") };
        let lower = name.to_ascii_lowercase();
        self.piece(match lower.strip_prefix("env:").unwrap_or(&lower) {
            "temp" | "tmp" | "tmpdir" => WordPiece::Temp(shown),
            "home" | "userprofile" => self.shell.home(),
            "pwd" | "cd" => self.shell.here(),
            "systemroot" | "windir" => WordPiece::Text("C:/Windows".to_owned()),
            "systemdrive" | "homedrive" => WordPiece::Text("C:".to_owned()),
            "true" | "false" | "null" if self.powershell => WordPiece::Text(shown),
            _ => WordPiece::Unknown { shown, origin: WordOrigin::Variable },
        });
    }
}
