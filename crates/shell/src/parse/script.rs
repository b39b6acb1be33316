//! Parses lists, pipelines, compound commands and redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use super::{
    Assign, CaseArm, Direction, Join, Kind, Parser, Part, PendingHeredoc, Pipeline, Redirect,
    Script, ShellCommand, SyntaxError, Word,
};

const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "while", "until", "select", "do", "done", "case",
    "esac", "function", "{", "}", "!", "time", "coproc", "[[", "]]", "in",
];

impl<'a> Parser<'a> {
    /// Parses commands up to the end of the text or to one of the words or signs in `until`, which
    /// is not consumed.
    pub(super) fn script(&mut self, until: &[&str]) -> Result<Script, SyntaxError> {
        let mut items = Script::new();
        let mut after = None;
        loop {
            self.skip_lines()?;
            if self.is_at_end() || self.stands_at(until) {
                return Ok(items);
            }
            let (commands, negated) = self.pipeline()?;
            self.skip_space();
            let before = after;
            let join = |(sign, join)| self.eat(sign).then_some(join);
            after = [("&&", Join::And), ("||", Join::Or)].into_iter().find_map(join);
            let background = after.is_none() && self.eat("&");
            items.push(Pipeline { commands, negated, background, after: before });
            if after.is_some() {
                self.skip_lines()?;
                let more = !self.is_at_end() && !self.stands_at(until);
                self.require(more, "nothing follows && or ||")?;
                continue;
            }
            let ends_arm = self.sees(";;") || self.sees(";&");
            let ends_line = self.rest_of_text().starts_with(['\n', '\r']);
            let more = background || ends_line || !ends_arm && self.eat(";");
            self.skip_space();
            if !more {
                let ends = self.is_at_end() || self.stands_at(until);
                self.require(ends, "a word or sign that begins no command")?;
                return Ok(items);
            }
        }
    }

    fn skip_lines(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.skip_space();
            if self.eat("\n") || self.eat("\r\n") {
                self.bodies()?;
            } else {
                return Ok(());
            }
        }
    }

    fn stands_at(&self, what: &[&str]) -> bool {
        what.iter().any(|sign| {
            let is_word = sign.chars().all(|c| c.is_ascii_alphabetic() || c == '}');
            self.rest_of_text()
                .strip_prefix(sign)
                .is_some_and(|after| !is_word || after.chars().next().is_none_or(ends_word))
        })
    }

    fn keyword(&mut self, word: &str) -> bool {
        self.stands_at(&[word]) && self.eat(word)
    }

    /// Consumes `time` if it is the reserved word. With options other than `-p` it is the program
    /// `time`, at least in shells that do not know the word.
    fn times(&mut self) -> bool {
        let before = self.at;
        if !self.keyword("time") {
            return false;
        }
        self.skip_space();
        if self.keyword("-p") {
            self.skip_space();
        }
        let program = self.sees("-");
        if program {
            self.at = before;
        }
        !program
    }

    fn expect_word(&mut self, word: &str, what: &'static str) -> Result<(), SyntaxError> {
        self.skip_lines()?;
        let found = self.keyword(word);
        self.require(found, what)
    }

    /// Parses the commands of a pipeline. Returns them, and whether a `!` stands before them.
    fn pipeline(&mut self) -> Result<(Vec<ShellCommand>, bool), SyntaxError> {
        let (mut commands, mut negated) = (Vec::new(), false);
        loop {
            self.skip_space();
            let negation = self.rest_of_text().strip_prefix('!');
            if negation.is_some_and(|after| after.starts_with(is_blank)) {
                self.at += 1;
                negated = true;
                continue;
            }
            if self.times() {
                if self.is_at_end() || self.peek().is_some_and(|c| "\n;&|)".contains(c)) {
                    return Ok((commands, negated));
                }
                continue;
            }
            commands.push(self.command()?);
            self.skip_space();
            if self.sees("||") || !self.eat("|&") && !self.eat("|") {
                return Ok((commands, negated));
            }
            self.skip_lines()?;
            self.require(!self.is_at_end(), "nothing follows the pipe")?;
        }
    }

    fn command(&mut self) -> Result<ShellCommand, SyntaxError> {
        self.deeper(|parser| {
            let kind = parser.kind()?;
            if matches!(kind, Kind::Simple { .. }) {
                return parser.simple();
            }
            let mut redirects = Vec::new();
            if !matches!(kind, Kind::Function { .. } | Kind::Coproc(_)) {
                parser.skip_space();
                while let Some(redirect) = parser.redirect()? {
                    redirects.push(redirect);
                    parser.skip_space();
                }
            }
            Ok(ShellCommand { kind, redirects })
        })
    }

    /// Parses a compound command. If there is none, returns an empty simple command, and the caller
    /// parses its words.
    fn kind(&mut self) -> Result<Kind, SyntaxError> {
        if self.sees("((")
            && let Some(kind) = self.arithmetic_command()
        {
            return Ok(kind);
        }
        if self.eat("(") {
            let body = self.script_up_to(&[")"], "a ( is not closed")?;
            return Ok(Kind::Subshell(body));
        }
        if self.keyword("[[") {
            return self.test();
        }
        let word = self.next_bare();
        if let Some(function) = self.function(word)? {
            return Ok(function);
        }
        if !RESERVED.contains(&word) || ["in", "!", "time", "]]"].contains(&word) {
            return Ok(Kind::Simple { assigns: Vec::new(), words: Vec::new() });
        }
        let start = self.at;
        self.at += word.len();
        match word {
            "{" => Ok(Kind::Group(self.script_up_to(&["}"], "a { is not closed")?)),
            "if" => self.conditional(),
            "while" | "until" => {
                let condition = self.script_up_to(&["do"], "a loop without do")?;
                let body = self.script_up_to(&["done"], "a loop without done")?;
                Ok(Kind::Loop(vec![condition, body]))
            }
            "for" | "select" => self.parse_for(),
            "case" => self.case(),
            "coproc" => {
                self.skip_space();
                Ok(Kind::Coproc(Box::new(self.command()?)))
            }
            _ => {
                self.at = start;
                Err(self.error("a reserved word where none belongs"))
            }
        }
    }

    /// Returns the unquoted characters up to the end of the word, without consuming them.
    fn next_bare(&self) -> &'a str {
        let rest = self.rest_of_text();
        let end = rest.find(|c: char| ends_word(c) || "'\"\\$`".contains(c)).unwrap_or(rest.len());
        if rest[end..].starts_with(['\'', '"', '\\', '$', '`']) { "" } else { &rest[..end] }
    }

    /// Parses a script up to a closing word or sign, which is consumed.
    fn script_up_to(&mut self, end: &[&str], what: &'static str) -> Result<Script, SyntaxError> {
        let body = self.script(end)?;
        let found = end.iter().find(|sign| self.stands_at(&[sign])).ok_or(self.error(what))?;
        self.require_body(&body)?;
        self.at += found.len();
        Ok(body)
    }

    fn require_body(&self, body: &Script) -> Result<(), SyntaxError> {
        self.require(!body.is_empty(), "a compound command without a command")
    }

    fn conditional(&mut self) -> Result<Kind, SyntaxError> {
        let mut parts = vec![self.script_up_to(&["then"], "an if without then")?];
        loop {
            let branch = self.script(&["elif", "else", "fi"])?;
            if !self.is_at_end() {
                self.require_body(&branch)?;
            }
            parts.push(branch);
            if self.keyword("elif") {
                parts.push(self.script_up_to(&["then"], "an elif without then")?);
            } else if self.keyword("else") {
                parts.push(self.script_up_to(&["fi"], "an if without fi")?);
                return Ok(Kind::Branches(parts));
            } else if self.keyword("fi") {
                return Ok(Kind::Branches(parts));
            } else {
                return Err(self.error("an if without fi"));
            }
        }
    }

    fn parse_for(&mut self) -> Result<Kind, SyntaxError> {
        self.skip_space();
        if self.sees("((") {
            let head = self.arithmetic_command().ok_or(self.error("a for without ))"))?;
            self.skip_space();
            self.eat(";");
            let body = self.loop_body()?;
            let commands = vec![ShellCommand { kind: head, redirects: Vec::new() }];
            let head = Pipeline { commands, negated: false, background: false, after: None };
            return Ok(Kind::Loop(vec![vec![head], body]));
        }
        let variable = self.name();
        self.require(!variable.is_empty(), "a for without a variable")?;
        self.skip_lines()?;
        let mut over = Vec::new();
        if self.keyword("in") {
            self.skip_space();
            while self.peek().is_some_and(|c| !"\n;\r".contains(c)) {
                over.push(self.word()?.ok_or(self.error("a sign in the words of a for"))?);
                self.skip_space();
            }
        }
        self.skip_space();
        self.eat(";");
        let body = self.loop_body()?;
        Ok(Kind::For { variable, over, body })
    }

    fn loop_body(&mut self) -> Result<Script, SyntaxError> {
        self.skip_lines()?;
        if self.stands_at(&["{"]) {
            self.at += 1;
            return self.script_up_to(&["}"], "a { is not closed");
        }
        self.expect_word("do", "a loop without do")?;
        self.script_up_to(&["done"], "a loop without done")
    }

    fn case(&mut self) -> Result<Kind, SyntaxError> {
        self.skip_space();
        let subject = self.word()?.ok_or(self.error("a case without a word"))?;
        self.expect_word("in", "a case without in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.keyword("esac") {
                return Ok(Kind::Case { subject, arms });
            }
            self.eat("(");
            let mut patterns = Vec::new();
            loop {
                self.skip_space();
                patterns.push(self.word()?.ok_or(self.error("a case without a pattern"))?);
                self.skip_space();
                if self.eat(")") {
                    break;
                }
                self.expect_sign("|", "a pattern of a case is not closed")?;
            }
            let body = self.script(&[";;", ";&", "esac"])?;
            let falls_through = self.sees(";;&") || self.sees(";&");
            arms.push(CaseArm { patterns, body, falls_through });
            let ends = self.eat(";;&") || self.eat(";;") || self.eat(";&");
            self.require(ends || self.stands_at(&["esac"]), "a case without esac")?;
        }
    }

    fn function(&mut self, word: &str) -> Result<Option<Kind>, SyntaxError> {
        let start = self.at;
        let declared = word == "function";
        if declared {
            self.at += word.len();
            self.skip_space();
        } else if RESERVED.contains(&word) || word.is_empty() {
            return Ok(None);
        }
        let name = self.next_bare().to_owned();
        self.at += name.len();
        self.skip_space();
        let parens = self.eat("(") && {
            self.skip_space();
            self.eat(")")
        };
        if name.is_empty() || name.contains('=') || (!parens && !declared) {
            self.at = start;
            return Ok(None);
        }
        self.skip_lines()?;
        let body = Box::new(self.command()?);
        Ok(Some(Kind::Function { name, body }))
    }

    fn test(&mut self) -> Result<Kind, SyntaxError> {
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.keyword("]]") {
                return Ok(Kind::Test(words));
            }
            self.require(!self.is_at_end(), "a [[ is not closed")?;
            if self.begins_process() {
                words.extend(self.word()?);
            } else if self.peek().is_some_and(|c| "()<>&|;".contains(c)) {
                self.bump();
            } else {
                words.push(self.word()?.ok_or(self.error("a sign in a [["))?);
            }
        }
    }

    /// Parses `(( … ))`. Returns `None` if these are two subshells.
    fn arithmetic_command(&mut self) -> Option<Kind> {
        let start = self.at;
        self.at += 2;
        let word = self.arithmetic().ok().flatten();
        if word.is_none() {
            self.at = start;
        }
        word.map(Kind::Arithmetic)
    }

    fn simple(&mut self) -> Result<ShellCommand, SyntaxError> {
        let (mut assigns, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.skip_space();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if (words.is_empty()
                || words.first().and_then(Word::as_plain_text).is_some_and(|name| declares(&name)))
                && let Some(assign) = self.assign()?
            {
                if !words.is_empty() {
                    words.push(word_of_assignment(&assign));
                }
                assigns.push(Assign { operand: !words.is_empty(), ..assign });
                continue;
            }
            match self.word()? {
                Some(word) => words.push(word),
                None if self.sees("(") => return Err(self.error("a ( where none belongs")),
                None => break,
            }
        }
        let empty = words.is_empty() && assigns.is_empty() && redirects.is_empty();
        self.require(!empty, "a sign where a command belongs")?;
        Ok(ShellCommand { kind: Kind::Simple { assigns, words }, redirects })
    }

    fn assign(&mut self) -> Result<Option<Assign>, SyntaxError> {
        let start = self.at;
        let name = self.name();
        if name.is_empty() {
            return Ok(None);
        }
        let mut raw_index = String::new();
        if self.sees("[")
            && let Some(close) = self.rest_of_text().find(']')
            && !self.rest_of_text()[..close].contains(['\n', ' ', ';'])
        {
            raw_index = self.rest_of_text()[..=close].to_owned();
            self.at += close + 1;
        }
        let append = self.eat("+=");
        if !append && !self.eat("=") {
            self.at = start;
            return Ok(None);
        }
        let (value, elements) = if self.sees("(") && raw_index.is_empty() {
            (Word::default(), Some(self.elements()?))
        } else {
            (self.word()?.unwrap_or_default(), None)
        };
        Ok(Some(Assign { name, index: raw_index, append, value, elements, operand: false }))
    }

    fn elements(&mut self) -> Result<Vec<Word>, SyntaxError> {
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat(")") {
                return Ok(words);
            }
            words.push(self.word()?.ok_or(self.error("an array is not closed"))?);
        }
    }

    /// Consumes the name of a variable, and returns it. It is empty if there is none.
    pub(super) fn name(&mut self) -> String {
        let rest = self.rest_of_text();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let name = &rest[..end.unwrap_or(rest.len())];
        let name = if name.starts_with(|c: char| c.is_ascii_digit()) { "" } else { name };
        self.at += name.len();
        name.to_owned()
    }

    fn redirect(&mut self) -> Result<Option<Redirect>, SyntaxError> {
        let start = self.at;
        let (mut number, mut named) = ("", false);
        if self.eat("{") {
            named = !self.name().is_empty() && self.eat("}");
            if !named || !self.rest_of_text().starts_with(['<', '>']) {
                self.at = start;
                return Ok(None);
            }
        } else {
            let digits = self.rest_of_text().find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            number = &self.rest_of_text()[..digits];
            self.at += digits;
        }
        let signs: [(&str, Direction); 12] = [
            ("<<<", Direction::Here),
            ("<<-", Direction::Document),
            ("<<", Direction::Document),
            ("<>", Direction::ReadWrite),
            ("<&", Direction::Duplicate),
            (">>", Direction::Append),
            (">|", Direction::Write),
            (">&", Direction::Duplicate),
            ("&>>", Direction::Append),
            ("&>", Direction::Write),
            ("<", Direction::Read),
            (">", Direction::Write),
        ];
        let process = self.begins_process();
        let found =
            signs.iter().find(|(sign, _)| !process && self.rest_of_text().starts_with(sign));
        let Some((sign, direction)) = found.copied() else {
            self.at = start;
            return Ok(None);
        };
        self.at += sign.len();
        self.skip_space();
        let target = self.word()?.ok_or(self.error("a redirection without a target"))?;
        let body = Rc::default();
        if direction == Direction::Document {
            self.announce(&target, &body, sign == "<<-")?;
        }
        let (reads, number) = (sign.starts_with('<'), number.parse::<u32>().ok());
        let output = !named && number.map_or(!reads, |number| number == 1);
        Ok(Some(Redirect { direction, output, reads, number, named, target, body }))
    }

    /// Registers a heredoc, whose body begins after the end of the line.
    fn announce(
        &mut self,
        word: &Word,
        body: &Rc<OnceCell<Word>>,
        strip_tabs: bool,
    ) -> Result<(), SyntaxError> {
        let literal = word.parts.iter().any(|part| matches!(part, Part::Quoted(_)));
        let mut end = match word.as_plain_text() {
            Some(end) => end,
            None => {
                let quoted = word.raw.contains(['\'', '"', '\\']);
                self.require(!quoted, "an expansion and quotes at the end of a heredoc")?;
                word.raw.clone()
            }
        };
        // For the shell, the `\r` of a line end is a part of the word.
        if self.sees("\r") {
            end.push('\r');
        }
        self.pending.push(PendingHeredoc { body: Rc::clone(body), end, literal, strip_tabs });
        Ok(())
    }

    fn bodies(&mut self) -> Result<(), SyntaxError> {
        for pending in std::mem::take(&mut self.pending) {
            let (body, ended) = self.body(&pending);
            self.require(ended, "a heredoc is not closed")?;
            let body = match pending.literal {
                true => Word { parts: vec![Part::Quoted(body.clone())], raw: body },
                false => super::heredoc_body(&body, self.depth)
                    .map_err(|error| self.error(error.what))?,
            };
            pending.body.get_or_init(|| body);
        }
        Ok(())
    }

    fn body(&mut self, pending: &PendingHeredoc) -> (String, bool) {
        let mut body = String::new();
        while !self.is_at_end() {
            let mut line = self.line();
            while !pending.literal && is_continued(&line) {
                line.truncate(line.len() - "\\\n".len());
                line.push_str(&self.line());
            }
            let tabs = if pending.strip_tabs { &line[..] } else { "" };
            let text = &line[tabs.len() - tabs.trim_start_matches('\t').len()..];
            if text.strip_suffix('\n').unwrap_or(text) == pending.end {
                return (body, true);
            }
            body.push_str(text);
        }
        (body, false)
    }

    fn line(&mut self) -> String {
        let rest = self.rest_of_text();
        let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
        self.at += length;
        rest[..length].to_owned()
    }

    pub(super) fn owes_bodies(&self) -> bool {
        !self.pending.is_empty()
    }
}

/// Returns true if a line ends in a backslash that is not escaped, so that the next line continues
/// it.
fn is_continued(line: &str) -> bool {
    let Some(line) = line.strip_suffix('\n') else { return false };
    (line.len() - line.trim_end_matches('\\').len()) % 2 == 1
}

pub(super) fn ends_word(c: char) -> bool {
    is_blank(c) || ";&|()<>".contains(c)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Returns true for a builtin whose operands are assignments that remain in effect.
pub(crate) fn declares(name: &str) -> bool {
    matches!(name, "export" | "declare" | "typeset" | "local" | "readonly" | "alias")
}

/// Returns an assignment as the word that `export` and similar builtins receive. For an array this
/// is only the name. `NAME+=value` becomes `NAME=$NAMEvalue`.
fn word_of_assignment(assign: &Assign) -> Word {
    let sign = if assign.elements.is_some() { "" } else { "=" };
    let mut parts = vec![Part::Quoted(format!("{}{sign}", assign.name))];
    if assign.append && assign.elements.is_none() {
        parts.push(Part::Param { name: assign.name.clone(), op: None, quoted: true });
    }
    parts.extend(assign.value.parts.iter().cloned());
    Word { parts, raw: format!("{}{sign}{}", assign.name, assign.value.raw) }
}
