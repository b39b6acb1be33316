//! Judges texts for PowerShell and `cmd.exe` in a simplified way. A text is split into commands,
//! each command is looked up by its name, and a command that is not known is opaque. Methods, types
//! and blocks of PowerShell are not followed, so a text that uses them is never only reading.

use std::rc::Rc;

use super::argument::{Arg, WordOrigin, WordPiece};
use super::expand::Fields;
use super::finding::{self, ShellFinding, StreamData};
use super::judge::{self, WindowsCall};
use super::simulation::{MAX_COMMANDS, Shell};
use super::table::{self, holds};
use super::{Class, CommandContext, Dialect, Prediction};

pub(super) fn read(text: &str, dialect: Dialect, at: &CommandContext) -> Prediction {
    if text.chars().nth(super::parse::MAX_CHARS).is_some() {
        return Prediction::unreadable("size", "The text is longer than can be judged.".to_owned());
    }
    let mut shell = Shell::new(Rc::new(at.clone()));
    shell.windows_text(text, dialect);
    shell.finish()
}

impl Shell {
    pub(super) fn windows_text(&mut self, text: &str, dialect: Dialect) {
        let Some(commands) = Tokens::commands_of_text(self, text, dialect) else {
            let reason = "It cannot be read: a quote is not closed.";
            self.note(ShellFinding::new(Class::Unreadable, "syntax", "", reason));
            return;
        };
        if dialect == Dialect::PowerShell {
            judge_methods(self, text);
        }
        let mut fed = StreamData::default();
        for command in commands {
            let before = if command.piped { fed } else { StreamData::default() };
            for file in command.into.iter().filter(|file| !file.text.eq_ignore_ascii_case("$null"))
            {
                let found = judge::judged_redirection(self, file, true);
                found.into_iter().for_each(|found| self.note(found));
            }
            let first = self.out.commands.len();
            fed = judge_command(self, &command.words, command.called, dialect, before);
            if !command.into.is_empty() {
                self.hide(first);
            }
        }
    }
}

/// Judges methods and types of PowerShell: those that delete, those that download or decode code
/// and run it, and those that are not known.
fn judge_methods(shell: &mut Shell, text: &str) {
    let lower = text.to_ascii_lowercase();
    let has = |name: &str| table::first_word_in(name, &lower).is_some();
    let quoted =
        |at: usize| ['\'', '"'].iter().any(|quote| text[..at].matches(*quote).count() % 2 == 1);
    let deletes = ["]::delete(", ".delete("].iter().find_map(|call| lower.find(call));
    if let Some(at) = deletes.filter(|at| !quoted(*at)) {
        shell.note(finding::destructive_rule("code.delete", &text[at..at + 8]));
    }
    if has("psfetches") && has("psruns") && !lower.trim_start().starts_with("write-") {
        shell.note(finding::downloaded("Invoke-Expression"));
    }
    if has("psruns") && lower.contains("frombase64string") {
        shell.note(finding::decoded("FromBase64String"));
    }
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let method = lower.match_indices('(').any(|(at, _)| {
        let owner = lower[..at].trim_end_matches(named);
        owner.len() < at && owner.ends_with(['.', ':'])
    });
    if method || lower.contains("::") || lower.contains("$(") && lower.contains('"') {
        shell.mention(text);
        shell.note(finding::opaque("code.powershell", "("));
    }
}

#[derive(Default)]
struct WindowsCommand {
    words: Vec<Arg>,
    into: Vec<Arg>,
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
    let Some((first, args)) = words.split_first() else {
        return StreamData::with_unknown_content();
    };
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
    let Some(finding) = call.judged_cmdlet(shell, &before) else {
        let mut words = words.to_vec();
        if first.sure && dialect == Dialect::Cmd {
            words[0] = Arg::with_known_text(name);
        }
        return shell.run(words, before);
    };
    let download = ["invoke-webrequest", "invoke-restmethod"].contains(&call.name);
    let at = shell.out.commands.len();
    if at <= MAX_COMMANDS {
        shell.add_started_program(at, Some(first.text.clone()), words, &finding);
    }
    shell.note(finding);
    StreamData { download, ..StreamData::with_unknown_content() }
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
            shell.note(finding::opaque("code.cmd", name));
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
                shell.note(finding::opaque("variable.steers", &first.text));
            }
            let plain = matches!(value, [value] if !value.text.contains('-'));
            Some(if plain { &[] } else { value })
        }
        _ if !first.sure => {
            shell.note(match called {
                true => finding::unreadable_rule("program.called", &first.text),
                false => finding::opaque("code.powershell", &first.text),
            });
            Some(&[])
        }
        _ => holds("pskeywords", &lower).then_some(args),
    }
}

struct Tokens<'t> {
    shell: &'t Shell,
    powershell: bool,
    chars: std::iter::Peekable<std::str::Chars<'t>>,
    word: Fields,
    into: bool,
    command: WindowsCommand,
    done: Vec<WindowsCommand>,
}

impl<'t> Tokens<'t> {
    /// Returns the commands of a text, or `None` if a quote is not closed.
    fn commands_of_text(
        shell: &'t Shell,
        text: &'t str,
        dialect: Dialect,
    ) -> Option<Vec<WindowsCommand>> {
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

    fn is_next(&mut self, wanted: impl FnOnce(char) -> bool) -> bool {
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
            '.' if begins && self.is_next(|c| " \t'\"".contains(c)) => self.command.called = true,
            '>' => self.read_redirection(),
            '`' | '^' if (c == '`') == powershell => {
                if let Some(escaped) = self.chars.next().filter(|c| *c != '\n') {
                    self.text(escaped);
                }
            }
            '@' if powershell && self.is_next(|c| "({".contains(c)) => {}
            '@' if powershell && self.is_next(|c| "'\"".contains(c)) => self.document()?,
            '"' => self.read_quoted(c)?,
            '\'' if powershell => self.read_quoted(c)?,
            '$' if powershell => self.variable(),
            '%' if !powershell => self.variable(),
            '*' => self.piece(WordPiece::Glob(c.to_string())),
            '?' | '[' if self.word.is_open() || self.is_next(|c| !c.is_whitespace()) => {
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

    fn close(&mut self) {
        if let Some(word) = self.word.take() {
            match std::mem::take(&mut self.into) {
                true => self.command.into.push(word),
                false => self.command.words.push(word),
            }
        }
    }

    /// Reads a redirection. The number of the stream in `2>` or `*>&1` is not a word.
    fn read_redirection(&mut self) {
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

    fn read_quoted(&mut self, quote: char) -> Option<()> {
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
        if self.powershell && self.is_next(|c| c == '(') {
            let (shown, origin) = ("$(…)".to_owned(), WordOrigin::Output);
            return self.piece(WordPiece::Unknown { shown, origin });
        }
        let shown = if self.powershell { format!("${name}") } else { format!("%{name}%") };
        let lower = name.to_ascii_lowercase();
        self.piece(match lower.strip_prefix("env:").unwrap_or(&lower) {
            "temp" | "tmp" | "tmpdir" => WordPiece::Temp(shown),
            "home" | "userprofile" => self.shell.home(),
            "pwd" | "cd" => self.shell.current_folder(),
            "systemroot" | "windir" => WordPiece::Text("C:/Windows".to_owned()),
            "systemdrive" | "homedrive" => WordPiece::Text("C:".to_owned()),
            "true" | "false" | "null" if self.powershell => WordPiece::Text(shown),
            _ => WordPiece::Unknown { shown, origin: WordOrigin::Variable },
        });
    }
}
