//! PowerShell and `cmd.exe`, by a short rule: a text is taken apart into commands, each is looked up by its name, and what
//! is not known is opaque. Methods, types and blocks are not followed, so nothing with one of them only reads.

use base64::Engine as _;

use super::expand::{Arg, WordOrigin, WordPiece};
use super::judge;
use super::table::{self, list};
use super::walk::{Feed, Shell, ShellFinding};
use super::{Class, CommandContext, Dialect, Invocation, PathDeed, Reading, paths};

/// What a text in one of these languages would do.
pub(super) fn read(text: &str, dialect: Dialect, at: &CommandContext) -> Reading {
    if text.chars().nth(super::parse::MAX_CHARS).is_some() {
        return Reading::unreadable("size", "The text is longer than can be judged.".to_owned());
    }
    let mut shell = Shell::new(at);
    walk(&mut shell, text, dialect);
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

/// Finds what a text would do, and notes it.
pub(super) fn walk(shell: &mut Shell<'_>, text: &str, dialect: Dialect) {
    let Some(commands) = Tokens::of(shell, text, dialect) else {
        let reason = "It cannot be read: a quote is not closed.";
        shell.note(ShellFinding::new(Class::Unreadable, "syntax", "", reason));
        return;
    };
    if dialect == Dialect::PowerShell {
        not_followed(shell, text);
    }
    let mut fed = None;
    for command in commands {
        let before = if command.piped { fed.take() } else { None };
        for file in &command.into {
            let nothing = file.text.eq_ignore_ascii_case("$null");
            if let Some(found) = judge::redirected(shell, file, true).filter(|_| !nothing) {
                shell.note(found);
            }
        }
        let first = shell.started();
        fed = Some(match dialect {
            Dialect::PowerShell => assigned(shell, &command, before),
            _ => batch(shell, &command.words),
        });
        if !command.into.is_empty() {
            shell.hide(first);
        }
    }
}

/// Methods and types of PowerShell: what deletes, what fetches or decodes and runs, and what is merely not known.
fn not_followed(shell: &mut Shell<'_>, text: &str) {
    let lower = text.to_ascii_lowercase();
    let has = |name: &str| list(name).iter().any(|word| lower.contains(word));
    let quoted =
        |at: usize| ['\'', '"'].iter().any(|quote| text[..at].matches(*quote).count() % 2 == 1);
    let deletes = ["]::delete(", ".delete("].iter().find_map(|call| lower.find(call));
    if let Some(at) = deletes.filter(|at| !quoted(*at)) {
        let reason = "It deletes what stands before it.";
        shell.note(judge::destructive("code.delete", &text[at..at + 8], reason));
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

/// A command with the files that its output goes to.
#[derive(Default)]
struct WindowsCommand {
    words: Vec<Arg>,
    into: Vec<Arg>,
    /// The output of the one before is its input.
    piped: bool,
    /// `&` or `.` stands before its name.
    called: bool,
}

/// Notes what has been found about a command.
fn invoked(shell: &mut Shell<'_>, words: &[Arg], finding: ShellFinding) {
    shell.invoked(Invocation {
        program: words.first().map(|first| first.text.clone()),
        words: words.iter().map(|word| word.text.clone()).collect(),
        via: shell.via.clone(),
        class: finding.class,
        rule: finding.rule.to_owned(),
        hidden: false,
    });
    shell.note(finding);
}

/// Goes to the folder that is named, if one is.
fn go_to(shell: &mut Shell<'_>, folder: Option<&Arg>) {
    let Some(folder) = folder else { return };
    let there = folder.literal().and_then(|to| paths::from(shell.cwd(), to));
    shell.go(there);
}

// -- cmd.exe ---------------------------------------------------------------------------------------------------------

fn batch(shell: &mut Shell<'_>, words: &[Arg]) -> Feed {
    let Some(first) = words.first() else { return Feed::some() };
    let name = first.text.to_ascii_lowercase();
    let name = name.trim_start_matches('@');
    let args = &words[1..];
    let lower = |arg: &Arg| arg.text.to_ascii_lowercase();
    // `if exist x COMMAND`, `for %i in (…) do COMMAND`, `call`, `start ""`.
    let skip = match name {
        "if" => {
            let flags =
                args.iter().take_while(|arg| matches!(lower(arg).as_str(), "not" | "/i")).count();
            let asked = args.get(flags).map_or(0, |arg| match lower(arg).as_str() {
                "exist" | "defined" | "errorlevel" => 2,
                text if text.contains("==") => 1,
                _ => 3,
            });
            Some(flags + asked)
        }
        "for" => {
            Some(args.iter().position(|arg| lower(arg) == "do").map_or(args.len(), |at| at + 1))
        }
        "start" => {
            shell.background();
            let is_title = |arg: &&Arg| arg.text.is_empty() || arg.text.starts_with('/');
            Some(args.iter().take_while(is_title).count())
        }
        "call" | "else" => Some(0),
        _ => None,
    };
    if let Some(skip) = skip {
        return batch(shell, args.get(skip..).unwrap_or_default());
    }
    match batch_finding(shell, name, args) {
        Some(finding) => invoked(shell, words, finding),
        None => {
            let mut whole = words.to_vec();
            if first.sure {
                whole[0] = Arg::known(name);
            }
            shell.run(whole, Feed::default());
        }
    }
    Feed::some()
}

fn batch_finding(shell: &mut Shell<'_>, name: &str, args: &[Arg]) -> Option<ShellFinding> {
    // Switches may be joined to others: `/s/q`. A path that begins at the root has more to it.
    let switch = |arg: &&Arg| {
        arg.text.starts_with('/') && arg.text.len() <= 6 && !arg.text[1..].contains('.')
    };
    let deep = args.iter().filter(switch).any(|arg| arg.text.to_ascii_lowercase().contains("/s"));
    let named: Vec<&Arg> = args.iter().filter(|arg| !switch(arg)).collect();
    let row = table::rows(&format!("cmd:{name}")).first()?;
    let mut worst = judge::writes("program.writes", name);
    match (row.kind(), row.word(1)) {
        ("reads", _) => {
            if matches!(name, "cd" | "chdir" | "pushd") {
                go_to(shell, named.first().copied());
            }
            return Some(judge::reads(name));
        }
        ("unsure", "rmdir") if !deep => {
            named.iter().for_each(|folder| shell.touch(folder, PathDeed::Delete));
        }
        ("unsure", rule @ ("rm.file" | "rmdir")) => {
            for file in named {
                worst = worst.or(judge::remove_one(shell, file, deep || rule == "rmdir"));
            }
        }
        ("writes", manner) => {
            let kept = if manner == "last" { named.len().saturating_sub(1) } else { 0 };
            let moves = ["move", "ren", "rename"].contains(&name);
            let deed = if moves { PathDeed::MoveFrom } else { PathDeed::Read };
            named[..kept].iter().for_each(|file| shell.touch(file, deed));
            for file in &named[kept..] {
                let found = judge::redirected(shell, file, true);
                worst = worst.worse(found);
            }
        }
        ("unsure", rule) => return Some(judge::opaque(rule, name)),
        _ => return None,
    }
    Some(worst)
}

// -- PowerShell ------------------------------------------------------------------------------------------------------

/// `$x = COMMAND`: what is assigned is a command of its own.
fn assigned(shell: &mut Shell<'_>, command: &WindowsCommand, before: Option<Feed>) -> Feed {
    match command.words.as_slice() {
        [name, sign, value @ ..] if name.text.starts_with('$') && sign.text.ends_with('=') => {
            if name.text.to_ascii_lowercase().starts_with("$env:") {
                shell.note(judge::opaque("variable.steers", &name.text));
            }
            match value {
                [value] if !value.text.contains('-') => Feed::some(),
                value => cmdlet(shell, value, command.called, before),
            }
        }
        words => cmdlet(shell, words, command.called, before),
    }
}

fn cmdlet(shell: &mut Shell<'_>, words: &[Arg], called: bool, before: Option<Feed>) -> Feed {
    let Some(first) = words.first() else { return Feed::some() };
    let lower = first.text.to_ascii_lowercase();
    if !first.sure {
        let reason = "Which program is called depends on a value that is not known here.";
        let unread = ShellFinding::new(Class::Unreadable, "program.variable", &first.text, reason);
        shell.note(if called { unread } else { judge::opaque("code.powershell", &first.text) });
        return Feed::some();
    }
    if table::holds("pskeywords", &lower) {
        return cmdlet(shell, &words[1..], called, before);
    }
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let aliases = list("psaliases");
    let mut known = aliases.iter().filter_map(|alias| alias.split_once('='));
    let name = known.find(|(alias, _)| *alias == name).map_or(name, |(_, full)| full);
    let Some(finding) = Cmdlet::new(name, &words[1..]).judged(shell, before.as_ref()) else {
        return shell.run(words.to_vec(), before.unwrap_or_default());
    };
    invoked(shell, words, finding);
    let download = name == "invoke-webrequest" || name == "invoke-restmethod";
    Feed { download, present: true, ..Feed::default() }
}

/// What a command in a text for a POSIX shell does whose name has the form of a cmdlet's: `Remove-Item`.
pub(super) fn cmdlet_finding(
    shell: &mut Shell<'_>,
    name: &str,
    args: &[Arg],
    stdin: &Feed,
) -> Option<ShellFinding> {
    let capital = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase());
    let (verb, noun) = name.split_once('-')?;
    let lower = name.to_ascii_lowercase();
    let cmdlet = Cmdlet::new(&lower, args);
    let before = Some(stdin).filter(|feed| feed.present);
    if capital(verb) && capital(noun) { cmdlet.judged(shell, before) } else { None }
}

/// A call of a PowerShell cmdlet, its words sorted into switches, parameters with a value, and operands.
struct Cmdlet<'c> {
    name: &'c str,
    flags: Vec<String>,
    values: Vec<(String, Arg)>,
    operands: Vec<Arg>,
}

impl<'c> Cmdlet<'c> {
    fn new(name: &'c str, words: &[Arg]) -> Self {
        let switches = list("psswitches");
        let mut cmdlet = Self { name, flags: Vec::new(), values: Vec::new(), operands: Vec::new() };
        let mut last: Option<String> = None;
        for word in words {
            let flag = word
                .text
                .strip_prefix('-')
                .filter(|flag| word.sure && flag.starts_with(|c: char| c.is_ascii_alphabetic()));
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
            match last.take() {
                Some(name) => cmdlet.values.push((name, word.clone())),
                None => cmdlet.operands.push(word.clone()),
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
        self.values.iter().filter(|(name, _)| fits(name)).map(|(_, arg)| arg.clone()).collect()
    }

    /// What it works on: `-Path`, `-LiteralPath`, and the operands, which may be more of a list.
    fn paths(&self) -> Vec<Arg> {
        let named = self.value(&["path", "literalpath", "filepath", "pspath", "lp"]);
        [named, self.operands.clone()].concat()
    }

    /// What it does; nothing where its name is no cmdlet's.
    fn judged(&self, shell: &mut Shell<'_>, before: Option<&Feed>) -> Option<ShellFinding> {
        let name = self.name;
        if self.flag("whatif") && name.contains('-') {
            return Some(judge::reads(name));
        }
        let row = table::rows(&format!("ps:{name}")).first();
        match row.map_or("", |row| row.kind()) {
            "destroys" => {
                let all = name != "stop-process" || self.flag("name") || before.is_some();
                let lost = row.map(|row| judge::destructive(row.word(1), name, row.reason()));
                return if all { lost } else { Some(judge::opaque("kill", name)) };
            }
            "reads" => {
                match name {
                    "get-content" => {
                        self.paths().iter().for_each(|file| shell.touch(file, PathDeed::Read));
                    }
                    "set-location" => go_to(shell, self.paths().first()),
                    _ => {}
                }
                return Some(judge::reads(name));
            }
            "writes" => return Some(self.written(shell)),
            _ => {}
        }
        match name {
            "remove-item" | "remove-itemproperty" => Some(self.removed(shell, before)),
            "invoke-expression" => Some(self.expression(shell, before)),
            "invoke-webrequest" | "invoke-restmethod" => {
                let method = self.value(&["method"]);
                if method.iter().any(|method| method.text.eq_ignore_ascii_case("delete")) {
                    let reason = "It asks a server to delete something.";
                    return Some(judge::destructive("http.delete", name, reason));
                }
                self.value(&["outfile"]).iter().for_each(|file| shell.touch(file, PathDeed::Write));
                Some(judge::opaque("network", name))
            }
            "start-process" | "invoke-command" => Some(self.started(shell)),
            _ => {
                let (verb, noun) = name.split_once('-')?;
                if verb.is_empty() || noun.is_empty() || name.contains('.') || judge::known(name) {
                    return None;
                }
                let reason = format!("`{name}` removes or disables something.");
                Some(match (table::holds("psremoves", verb), table::holds("pslooks", verb)) {
                    (true, _) => judge::destructive("powershell.remove", name, &reason),
                    (_, true) => judge::looks(name),
                    _ => judge::opaque("program.unknown", name),
                })
            }
        }
    }

    fn removed(&self, shell: &mut Shell<'_>, before: Option<&Feed>) -> ShellFinding {
        let recursive = self.flags.iter().any(|flag| {
            "recurse".starts_with(flag.as_str()) || matches!(flag.as_str(), "rf" | "fr")
        });
        let mut named = self.paths();
        if named.is_empty() && before.is_some() {
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
                    let reason = "It deletes from the registry.";
                    judge::destructive("windows.registry", &path.text, reason)
                }
                _ => judge::remove_one(shell, path, recursive),
            });
        }
        worst
    }

    /// `iex`: a text is read on; anything else is not known.
    fn expression(&self, shell: &mut Shell<'_>, before: Option<&Feed>) -> ShellFinding {
        const NAME: &str = "Invoke-Expression";
        if before.is_some_and(|feed| feed.download) {
            return judge::downloaded(NAME);
        }
        let codes = [self.value(&["command"]), self.operands.clone()].concat();
        let Some(code) = codes.first().and_then(Arg::literal).map(str::to_owned) else {
            let reason = "It runs a value that is not known here.";
            return ShellFinding::new(Class::Unreadable, "code.unknown", NAME, reason);
        };
        let found = shell.within(|shell| {
            shell.process(NAME, |shell| walk(shell, &code, Dialect::PowerShell));
        });
        found.unwrap_or_else(|| judge::opaque("code.powershell", NAME))
    }

    /// What is written: the first operand, or of what copies and moves the last one.
    fn written(&self, shell: &mut Shell<'_>) -> ShellFinding {
        let mut from = self.paths();
        let mut to = self.value(&["destination", "destinationpath", "newname"]);
        if matches!(self.name, "copy-item" | "move-item" | "rename-item") {
            if to.is_empty() {
                to.extend(from.pop());
            }
            let copies = self.name == "copy-item";
            let deed = if copies { PathDeed::Read } else { PathDeed::MoveFrom };
            from.iter().for_each(|path| shell.touch(path, deed));
        } else {
            from.truncate(1);
            to.extend(from);
        }
        let mut worst = judge::writes("program.writes", self.name);
        for file in &to {
            let found = judge::redirected(shell, file, true);
            worst = worst.worse(found);
        }
        worst
    }

    /// `Start-Process NAME -ArgumentList …`
    fn started(&self, shell: &mut Shell<'_>) -> ShellFinding {
        let mut words = [self.value(&["filepath"]), self.operands.clone()].concat();
        let lists = self.value(&["argumentlist", "args"]);
        words.extend(lists.iter().flat_map(|arg| arg.text.split_whitespace().map(Arg::known)));
        shell.background();
        let found = shell.within(|shell| {
            shell.process("Start-Process", |shell| {
                cmdlet(shell, &words, true, None);
            });
        });
        judge::opaque("code.powershell", self.name)
            .or(found.unwrap_or_else(|| judge::reads(self.name)))
    }
}

// -- Words -----------------------------------------------------------------------------------------------------------

/// Splits a text into commands and their words.
struct Tokens<'t, 's> {
    shell: &'t Shell<'s>,
    chars: Vec<char>,
    at: usize,
    /// The word that is being read.
    pieces: Vec<WordPiece>,
    open: bool,
    /// The word is a file that output goes to.
    into: bool,
    command: WindowsCommand,
    done: Vec<WindowsCommand>,
}

impl<'t, 's> Tokens<'t, 's> {
    /// The commands of a text; nothing where a quote is not closed.
    fn of(shell: &'t Shell<'s>, text: &str, dialect: Dialect) -> Option<Vec<WindowsCommand>> {
        let (chars, pieces) = (text.chars().collect(), Vec::new());
        let command = WindowsCommand::default();
        let (open, into, done) = (false, false, Vec::new());
        let mut tokens = Self { shell, chars, at: 0, pieces, open, into, command, done };
        while let Some(c) = tokens.next() {
            tokens.take(c, dialect == Dialect::PowerShell)?;
        }
        tokens.end(false);
        Some(tokens.done)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied();
        self.at += 1;
        c
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    fn take(&mut self, c: char, powershell: bool) -> Option<()> {
        match c {
            ' ' | '\t' | '\r' | '\u{a0}' | ',' => self.close(),
            '(' | ')' | ';' if !powershell => self.close(),
            '\n' | ';' | '{' | '}' | '(' | ')' => self.end(false),
            '#' if powershell && !self.open => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            }
            '|' => {
                let or = self.eat('|');
                self.end(!or);
            }
            '&' if self.eat('&') || !powershell => self.end(false),
            '&' if !self.open => self.command.called = true,
            '.' if powershell
                && !self.open
                && self.peek().is_some_and(|c| " \t'\"".contains(c)) =>
            {
                self.command.called = true;
            }
            '>' => {
                self.no_stream();
                self.eat('>');
                if self.eat('&') { self.at += 1 } else { self.into = true }
            }
            '<' => self.close(),
            '`' | '^' if (c == '`') == powershell => {
                if let Some(escaped) = self.next().filter(|c| *c != '\n') {
                    self.text(escaped);
                }
            }
            '@' if powershell && self.peek().is_some_and(|c| "'\"({".contains(c)) => {
                if let Some(quote) = self.peek().filter(|c| "'\"".contains(*c)) {
                    self.at += 1;
                    return self.document(quote);
                }
            }
            '"' => return self.quoted(c, powershell),
            '\'' if powershell => return self.quoted(c, powershell),
            '$' if powershell && self.peek() == Some('(') => {
                self.unknown("$(…)", WordOrigin::Output);
                self.close();
            }
            '$' if powershell => self.variable(powershell),
            '%' if !powershell => self.variable(powershell),
            '*' | '?' | '['
                if self.open || self.peek().is_some_and(|c| !c.is_whitespace()) || c == '*' =>
            {
                self.open = true;
                self.pieces.push(WordPiece::Glob(c.to_string()));
            }
            '\\' => self.text('/'),
            other => self.text(other),
        }
        Some(())
    }

    fn text(&mut self, c: char) {
        self.open = true;
        match self.pieces.last_mut() {
            Some(WordPiece::Text(before)) => before.push(c),
            _ => self.pieces.push(WordPiece::Text(c.to_string())),
        }
    }

    fn unknown(&mut self, shown: &str, origin: WordOrigin) {
        self.open = true;
        self.pieces.push(WordPiece::Unknown { shown: shown.to_owned(), origin });
    }

    /// Ends the word that is being read, if there is one.
    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            let word = Arg::from_pieces(&std::mem::take(&mut self.pieces));
            match std::mem::take(&mut self.into) {
                true => self.command.into.push(word),
                false => self.command.words.push(word),
            }
        }
    }

    /// `2>`: the number of a stream is no word.
    fn no_stream(&mut self) {
        let number =
            |text: &str| text == "*" || text.len() == 1 && text.as_bytes()[0].is_ascii_digit();
        let stream = match self.pieces.as_slice() {
            [WordPiece::Text(text) | WordPiece::Glob(text)] => number(text),
            _ => false,
        };
        if stream {
            self.pieces.clear();
            self.open = false;
        }
        self.close();
    }

    /// Ends the command that is being read. `piped`: its output goes to the next one.
    fn end(&mut self, piped: bool) {
        self.close();
        let next = WindowsCommand { piped, ..WindowsCommand::default() };
        self.done.push(std::mem::replace(&mut self.command, next));
    }

    fn quoted(&mut self, quote: char, powershell: bool) -> Option<()> {
        self.open = true;
        self.pieces.push(WordPiece::Text(String::new()));
        loop {
            match self.next()? {
                c if c == quote && powershell && self.eat(quote) => self.text(quote),
                c if c == quote => return Some(()),
                '`' if powershell && quote == '"' => {
                    let escaped = self.next()?;
                    self.text(escaped);
                }
                '$' if powershell && quote == '"' && self.peek() == Some('(') => {
                    self.unknown("$(…)", WordOrigin::Output);
                    while self.next()? != ')' {}
                }
                '$' if powershell && quote == '"' => self.variable(powershell),
                '%' if !powershell => self.variable(powershell),
                '\\' => self.text('/'),
                c => self.text(c),
            }
        }
    }

    /// `@'`, lines, `'@`.
    fn document(&mut self, quote: char) -> Option<()> {
        let end = ['\n', quote, '@'];
        let found = (self.at..self.chars.len()).find(|at| self.chars[*at..].starts_with(&end))?;
        let text: String = self.chars[self.at..found].iter().collect();
        self.open = true;
        self.pieces.push(WordPiece::Text(text.trim_start().to_owned()));
        self.at = found + end.len();
        Some(())
    }

    /// After `$` or `%`: what the variable stands for, where that is known.
    fn variable(&mut self, powershell: bool) {
        let is_name = |c: char| c.is_alphanumeric() || "_:".contains(c);
        let name: String = if powershell {
            self.eat('{');
            let name =
                self.chars[self.at.min(self.chars.len())..].iter().take_while(|c| is_name(**c));
            let name: String = name.collect();
            self.at += name.chars().count();
            self.eat('}');
            name
        } else {
            let rest = &self.chars[self.at.min(self.chars.len())..];
            let end = rest.iter().position(|c| *c == '%' || c.is_whitespace());
            let name: String = match end.filter(|end| rest[*end] == '%' && *end > 0) {
                Some(end) => rest[..end].iter().collect(),
                None => String::new(),
            };
            self.at += if name.is_empty() { 0 } else { name.chars().count() + 1 };
            name
        };
        let shown = if powershell { format!("${name}") } else { format!("%{name}%") };
        let lower = name.to_ascii_lowercase();
        let piece = match lower.strip_prefix("env:").unwrap_or(&lower) {
            "temp" | "tmp" | "tmpdir" => WordPiece::Temp(shown),
            "home" | "userprofile" => self.shell.home(),
            "pwd" | "cd" => self.shell.here(),
            "systemroot" | "windir" => WordPiece::Text("C:/Windows".to_owned()),
            "systemdrive" | "homedrive" => WordPiece::Text("C:".to_owned()),
            "true" | "false" | "null" if powershell => WordPiece::Text(shown),
            _ => WordPiece::Unknown { shown, origin: WordOrigin::Variable },
        };
        self.open = true;
        self.pieces.push(piece);
    }
}
