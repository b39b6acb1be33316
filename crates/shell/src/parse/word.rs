//! Parses words: quotes, escapes, parameters and substitutions.

use std::str::Chars;

use super::script::ends_word;
use super::{Op, Parser, Part, Script, SyntaxError, Word};

impl Parser<'_> {
    /// Parses the word at this position. Returns `None` if no word begins here, for example if a
    /// sign such as `|` is next.
    pub(super) fn word(&mut self) -> Result<Option<Word>, SyntaxError> {
        let start = self.at;
        let mut parts = Vec::new();
        while let Some(next) = self.peek() {
            if self.at == start && self.begins_process() {
                self.process(&mut parts)?;
            } else if next == '(' && begins_extended_glob(&parts) {
                self.extended_glob(&mut parts)?;
            } else if ends_word(next) {
                break;
            } else {
                self.part(next, &mut parts)?;
            }
        }
        let raw = self.text[start..self.at].to_owned();
        Ok((self.at > start).then_some(Word { parts, raw }))
    }

    pub(super) fn begins_process(&self) -> bool {
        self.sees("<(") || self.sees(">(")
    }

    fn process(&mut self, parts: &mut Vec<Part>) -> Result<(), SyntaxError> {
        self.at += 2;
        parts.push(Part::Process(self.script_until(")")?));
        Ok(())
    }

    fn part(&mut self, next: char, parts: &mut Vec<Part>) -> Result<(), SyntaxError> {
        match next {
            '\'' => {
                self.at += 1;
                let end = self.rest_of_text().find('\'').ok_or(self.error("a ' is not closed"))?;
                parts.push(Part::Quoted(self.rest_of_text()[..end].to_owned()));
                self.at += end + 1;
            }
            '"' | '$' if self.eat("\"") || self.eat("$\"") => {
                parts.push(Part::Quoted(String::new()));
                self.quoted_until(Some('"'), parts)?;
            }
            '\\' => {
                self.at += 1;
                match self.bump() {
                    Some('\n') => {}
                    Some(escaped) => parts.push(Part::Quoted(escaped.to_string())),
                    None => return Err(self.error("a \\ at the end")),
                }
            }
            '$' if self.eat("$'") => {
                let text = self.ansi()?;
                parts.push(Part::Quoted(text));
            }
            '$' | '`' => self.dollar(Quotes::Outside, parts)?,
            _ => {
                let rest = self.rest_of_text();
                let end = rest
                    .find(|c: char| ends_word(c) || "'\"\\$`".contains(c))
                    .unwrap_or(rest.len());
                parts.push(Part::Bare(rest[..end].to_owned()));
                self.at += end;
            }
        }
        Ok(())
    }

    /// Parses text in which only `$`, backticks and some escapes are special, up to a quote or to
    /// the end.
    pub(super) fn quoted_until(
        &mut self,
        end: Option<char>,
        parts: &mut Vec<Part>,
    ) -> Result<(), SyntaxError> {
        let mut text = String::new();
        while self.peek() != end {
            let next = self.peek().ok_or(self.error("a \" is not closed"))?;
            match next {
                '\\' => {
                    self.at += 1;
                    match self.bump() {
                        Some('\n') => {}
                        Some(c) if "$`\\".contains(c) || Some(c) == end => text.push(c),
                        Some(c) => text.extend(['\\', c]),
                        None => text.push('\\'),
                    }
                }
                '$' | '`' => {
                    parts.push(Part::Quoted(std::mem::take(&mut text)));
                    self.dollar(Quotes::Inside, parts)?;
                }
                _ => {
                    text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
        self.at += end.map_or(0, char::len_utf8);
        parts.push(Part::Quoted(text));
        Ok(())
    }

    fn dollar(&mut self, quotes: Quotes, parts: &mut Vec<Part>) -> Result<(), SyntaxError> {
        let quoted = quotes == Quotes::Inside;
        if self.eat("`") {
            let script = self.backticks(quotes)?;
            parts.push(Part::Command { script, quoted });
        } else if self.sees("$((")
            && let Some(word) = self.arithmetic_expansion()?
        {
            parts.push(Part::Arithmetic(word));
        } else if self.eat("$(") {
            let script = self.script_until(")")?;
            parts.push(Part::Command { script, quoted });
        } else if self.eat("${") {
            let part = self.deeper(|parser| parser.rest_of_braces(quotes))?;
            parts.push(part);
        } else if self.sees("$[") {
            return Err(self.error("the old form $[ is not read"));
        } else {
            self.at += 1;
            parts.push(self.parse_named_variable(quoted));
        }
        Ok(())
    }

    fn parse_named_variable(&mut self, quoted: bool) -> Part {
        let mut name = self.name();
        if name.is_empty()
            && let Some(special) = self.peek().filter(|c| "0123456789@*#?-$!".contains(*c))
        {
            self.at += 1;
            name.push(special);
        }
        match (name.is_empty(), quoted) {
            (true, true) => Part::Quoted("$".to_owned()),
            (true, false) => Part::Bare("$".to_owned()),
            (false, _) => Part::Param { name, op: None, quoted },
        }
    }

    /// Parses the rest of `${…}` after the `${`.
    fn rest_of_braces(&mut self, quotes: Quotes) -> Result<Part, SyntaxError> {
        let quoted = quotes == Quotes::Inside;
        let indirect = self.sees("!") && !self.sees("!}");
        let counted = self.sees("#") && !self.sees("#}");
        if indirect || counted {
            self.at += 1;
        }
        let mut name = self.name();
        if name.is_empty() {
            name = self.bump().map(String::from).unwrap_or_default();
            while self.peek().is_some_and(|c| c.is_ascii_digit()) {
                name.extend(self.bump());
            }
        }
        if self.sees("[") {
            let close =
                self.rest_of_text().find(']').ok_or(self.error("a [ in ${ is not closed"))?;
            name.push_str(&self.rest_of_text()[..=close]);
            self.at += close + 1;
        }
        if self.eat("}") {
            let raw = if indirect { "!" } else { "#" }.to_owned();
            let op = (indirect || counted).then(|| (Op::Other, Word { parts: Vec::new(), raw }));
            return Ok(Part::Param { name, op, quoted });
        }
        let op = self.operation();
        let op = if indirect || counted { Op::Other } else { op };
        let mut word = self.until_brace(quotes)?;
        if indirect {
            word.raw.insert(0, '!');
        }
        Ok(Part::Param { name, op: Some((op, word)), quoted })
    }

    /// Parses the operator of `${NAME…}`, such as `:-`. An operator that is not known here is left
    /// in the word after it.
    fn operation(&mut self) -> Op {
        let colon = self.sees(":");
        let op = match self.rest_of_text()[usize::from(colon)..].chars().next() {
            Some('-') => Op::Default { colon, assigns: false },
            Some('=') => Op::Default { colon, assigns: true },
            Some('+') => Op::Alternative { colon },
            _ => return Op::Other,
        };
        self.at += 1 + usize::from(colon);
        op
    }

    /// Parses the word after the operator of `${NAME…}`, and the `}` after it. Inside double
    /// quotes, a `'` is an ordinary character.
    fn until_brace(&mut self, quotes: Quotes) -> Result<Word, SyntaxError> {
        let start = self.at;
        let mut parts = Vec::new();
        while self.peek() != Some('}') {
            let next = self.peek().ok_or(self.error("a ${ is not closed"))?;
            match next {
                '<' | '>' if quotes == Quotes::Outside && self.begins_process() => {
                    self.process(&mut parts)?;
                }
                '\'' if quotes == Quotes::Inside => {
                    self.at += 1;
                    parts.push(Part::Quoted("'".to_owned()));
                }
                '\'' | '"' | '\\' | '$' | '`' => self.part(next, &mut parts)?,
                _ => {
                    self.at += next.len_utf8();
                    match parts.last_mut() {
                        Some(Part::Bare(text)) => text.push(next),
                        _ => parts.push(Part::Bare(next.to_string())),
                    }
                }
            }
        }
        let raw = self.text[start..self.at].to_owned();
        self.at += 1;
        Ok(Word { parts, raw })
    }

    /// Parses a script and the closing sign after it. The bodies of its heredocs have to be inside
    /// it.
    fn script_until(&mut self, end: &'static str) -> Result<Script, SyntaxError> {
        self.deeper(|parser| {
            let pending = std::mem::take(&mut parser.pending);
            let script = parser.substitution(end);
            parser.pending = pending;
            script
        })
    }

    fn substitution(&mut self, end: &'static str) -> Result<Script, SyntaxError> {
        let script = self.script(&[end])?;
        self.expect_sign(end, "a $( or <( is not closed")?;
        self.require(!self.owes_bodies(), "a heredoc inside $( or <( is not closed")?;
        Ok(script)
    }

    /// Parses the rest of a backtick substitution after the first backtick. Its escapes are removed
    /// before the text is parsed.
    fn backticks(&mut self, quotes: Quotes) -> Result<Script, SyntaxError> {
        let mut text = String::new();
        loop {
            match self.bump() {
                Some('`') => break,
                Some('\\') => match self.bump() {
                    Some(c) if "$`\\".contains(c) => text.push(c),
                    Some('"') if quotes == Quotes::Inside => text.push('"'),
                    Some(c) => text.extend(['\\', c]),
                    None => return Err(self.error("a backtick is not closed")),
                },
                Some(c) => text.push(c),
                None => return Err(self.error("a backtick is not closed")),
            }
        }
        self.deeper(|parser| {
            super::parse(&text, parser.depth).map_err(|error| parser.error(error.what))
        })
    }

    /// Parses `$(( … ))`. Returns `None`, and does not move on, if the text is a command
    /// substitution that begins with a subshell: `$((cd src; ls) | wc -l)`.
    fn arithmetic_expansion(&mut self) -> Result<Option<Word>, SyntaxError> {
        let start = self.at;
        self.at += 3;
        let word = self.arithmetic()?;
        if word.is_none() {
            self.at = start;
        }
        Ok(word)
    }

    /// Parses arithmetic after `((`, and the `))` after it. Only expansions are kept as parts.
    /// Returns `None` if no `))` ends it.
    pub(super) fn arithmetic(&mut self) -> Result<Option<Word>, SyntaxError> {
        let start = self.at;
        let mut parts = Vec::new();
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None => return Ok(None),
                Some(')') if open == 0 => {
                    if !self.sees("))") {
                        return Ok(None);
                    }
                    let raw = self.text[start..self.at].to_owned();
                    self.at += 2;
                    return Ok(Some(Word { parts, raw }));
                }
                Some('(') => {
                    open += 1;
                    self.at += 1;
                }
                Some(')') => {
                    open -= 1;
                    self.at += 1;
                }
                Some('$' | '`') => {
                    self.deeper(|parser| parser.dollar(Quotes::Inside, &mut parts))?
                }
                Some(c) => self.at += c.len_utf8(),
            }
        }
    }

    fn ansi(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        loop {
            match self.bump() {
                None => return Err(self.error("a $' is not closed")),
                Some('\'') => return Ok(unescape(&self.text[start..self.at - 1])),
                Some('\\') => drop(self.bump()),
                Some(_) => {}
            }
        }
    }

    /// Skips the parentheses of an extended glob, `(a|b)` in `?(a|b)`, and adds [`Part::Pattern`].
    fn extended_glob(&mut self, parts: &mut Vec<Part>) -> Result<(), SyntaxError> {
        let mut open = 0_usize;
        while let Some(c) = self.bump() {
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                parts.push(Part::Pattern);
                return Ok(());
            }
        }
        Err(self.error("a ( in a pattern is not closed"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrintProgram {
    /// `echo -e`, for which `\162` is no escape.
    Echo,
    Printf,
}

/// Returns what a program prints for a text with escapes. `None` if its forms differ: `printf %b '\0162'`
/// prints an `r`, and `printf '\0162'` the character 14 and a 2.
pub(crate) fn printed(text: &str, by: PrintProgram) -> Option<String> {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            continue;
        }
        let escape = rest.next();
        let next = rest.as_str().as_bytes();
        let is_octal = |byte: &u8| matches!(byte, b'0'..=b'7');
        match escape {
            Some('c' | '\'' | '"' | '?') => return None,
            Some('1'..='7') if by == PrintProgram::Echo => return None,
            Some('0') if next.iter().take(3).filter(|byte| is_octal(byte)).count() == 3 => {
                return None;
            }
            Some('x') if next.starts_with(b"{") => return None,
            _ => {}
        }
    }
    Some(unescape(text))
}

/// Replaces escapes such as `\n`, `\x72` and `\162` by their characters, as `$'…'` does.
pub(crate) fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(&mut rest, &mut bytes),
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn escape(rest: &mut Chars<'_>, bytes: &mut Vec<u8>) {
    let before = rest.clone();
    let next = rest.next().unwrap_or('\\');
    let simple = "ntrabeEfv".find(next).map(|at| b"\n\t\r\x07\x08\x1b\x1b\x0c\x0b"[at]);
    match next {
        _ if simple.is_some() => bytes.extend(simple),
        'x' => {
            let mut braced = rest.clone();
            let is_braced = braced.next() == Some('{');
            let value = match is_braced {
                true => digits(&mut braced, 16, usize::MAX).filter(|_| braced.next() == Some('}')),
                false => digits(rest, 16, 2),
            };
            if is_braced && value.is_some() {
                *rest = braced;
            }
            match value {
                Some(value) => bytes.push((value & 0xff) as u8),
                None => bytes.extend(b"\\x"),
            }
        }
        'u' | 'U' => match digits(rest, 16, if next == 'u' { 4 } else { 8 }) {
            Some(value) => {
                let c = char::from_u32(value).unwrap_or('\u{fffd}');
                bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            }
            None => bytes.extend([b'\\', next as u8]),
        },
        '0'..='7' => {
            *rest = before;
            bytes.push((digits(rest, 8, 3).unwrap_or(0) & 0xff) as u8);
        }
        'c' => bytes.extend(rest.next().map(|c| c as u8 & 0x1f)),
        '\\' | '\'' | '"' | '?' => bytes.push(next as u8),
        other => {
            bytes.push(b'\\');
            bytes.extend(other.encode_utf8(&mut [0; 4]).bytes());
        }
    }
}

/// Reads a number of at most `most` digits. Returns `None` if no digit is next.
fn digits(rest: &mut Chars<'_>, base: u32, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(base)) else { break };
        value = Some(value.unwrap_or(0_u32).wrapping_mul(base).wrapping_add(digit));
        rest.next();
    }
    value
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Inside,
    Outside,
}

fn begins_extended_glob(parts: &[Part]) -> bool {
    matches!(parts.last(), Some(Part::Bare(text)) if text.ends_with(['?', '*', '+', '@', '!']))
}
