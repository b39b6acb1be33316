//! Parses a text in the language of `bash` into a tree of commands and words.
//!
//! A text that cannot be parsed completely is an error as a whole; the parser never guesses. The
//! tests compare its verdicts with those of `bash -n`. The grammar for editors (`tree-sitter-bash`)
//! guesses when it meets text that it cannot parse, and it cannot parse some common forms
//! (`docs/shell.md` lists them). The tests use that grammar as a second opinion.

mod script;
mod word;

use std::cell::OnceCell;
use std::rc::Rc;

pub(super) use script::declares;
pub(super) use word::{PrintProgram, printed, unescape};

/// A text with more characters is not parsed, because a person could not judge it at a glance
/// either.
pub(super) const MAX_CHARS: usize = 10_000;
pub(super) const MAX_DEPTH: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {what}")]
pub(super) struct SyntaxError {
    pub(super) at: usize,
    pub(super) what: &'static str,
}

pub(super) type Script = Vec<Pipeline>;

#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<ShellCommand>,
    pub(super) negated: bool,
    pub(super) background: bool,
    /// The operator between the preceding pipeline and this one, if it is `&&` or `||`.
    pub(super) after: Option<Join>,
}

impl Pipeline {
    /// Returns the assignments, words and redirections, if the pipeline is one simple command.
    pub(super) fn simple(&self) -> Option<(&[Assign], &[Word], &[Redirect])> {
        match self.commands.as_slice() {
            [ShellCommand { kind: Kind::Simple { assigns, words }, redirects }] => {
                Some((assigns, words, redirects))
            }
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
}

#[derive(Clone, Debug)]
pub(super) struct ShellCommand {
    pub(super) kind: Kind,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A simple command: `A=1 program word…`
    Simple { assigns: Vec<Assign>, words: Vec<Word> },
    /// A group: `{ …; }`
    Group(Script),
    /// A subshell: `( … )`
    Subshell(Script),
    /// `if`: the conditions and branches in order, with the `else` branch last.
    Branches(Vec<Script>),
    /// `while`, `until` and `for ((…))`: the condition and the body.
    Loop(Vec<Script>),
    /// `for` and `select` over a list of words.
    For { variable: String, over: Vec<Word>, body: Script },
    /// `case WORD in …`: each arm has its patterns and its commands.
    Case { subject: Word, arms: Vec<CaseArm> },
    /// The definition of a function: `name() …`
    Function { name: String, body: Box<ShellCommand> },
    /// A test: `[[ … ]]`
    Test(Vec<Word>),
    /// An arithmetic command: `(( … ))`
    Arithmetic(Word),
    /// A background process with connected input and output: `coproc …`
    Coproc(Box<ShellCommand>),
}

#[derive(Clone, Debug)]
pub(super) struct CaseArm {
    pub(super) patterns: Vec<Word>,
    pub(super) body: Script,
    /// True if the arm ends in `;&` or `;;&`, so that another arm may run after it.
    pub(super) falls_through: bool,
}

/// An assignment: `NAME=value`, `NAME+=value` or `NAME=(a b)`.
#[derive(Clone, Debug)]
pub(super) struct Assign {
    pub(super) name: String,
    /// The index after the name, with its brackets: `[0]`.
    pub(super) index: String,
    pub(super) append: bool,
    pub(super) value: Word,
    pub(super) elements: Option<Vec<Word>>,
    /// True if it is an operand of a declaring builtin, such as `export`.
    pub(super) operand: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
    Append,
    ReadWrite,
    /// `<&` or `>&`: the target is a descriptor, or a file if it is not a number.
    Duplicate,
    Here,
    Document,
}

#[derive(Clone, Debug)]
pub(super) struct Redirect {
    pub(super) direction: Direction,
    /// True if the standard output is redirected: `>x`, `1>x`, `&>x`, but not `<>x`.
    pub(super) output: bool,
    /// True if the sign begins with `<`. This tells `<&` from `>&`, which are both `Duplicate`.
    pub(super) reads: bool,
    /// The number before the sign: 2 in `2>x`.
    pub(super) number: Option<u32>,
    /// True if a variable receives the number of the descriptor: `{NAME}>x`.
    pub(super) named: bool,
    pub(super) target: Word,
    /// The body of a heredoc. It is set when the parser has reached the end of the line.
    pub(super) body: Rc<OnceCell<Word>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
    pub(super) raw: String,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Text outside quotes, in which braces, globs and `~` are special.
    Bare(String),
    /// Text that is quoted or escaped.
    Quoted(String),
    /// An extended glob such as `?(a|b)`, which may match any name.
    Pattern,
    /// A parameter: `$NAME` or `${…}`. The name includes the index, as in `a[0]` and `a[@]`.
    Param { name: String, op: Option<(Op, Word)>, quoted: bool },
    /// A command substitution: `$(…)` or backticks.
    Command { script: Script, quoted: bool },
    /// A process substitution: `<(…)` or `>(…)`.
    Process(Script),
    /// An arithmetic expansion, `$((…))`, with the substitutions inside it.
    Arithmetic(Word),
}

/// The operation that `${NAME…}` applies to the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// A default value: `-`, or `=`, which assigns it. With a colon (`:-`, `:=`), an empty value
    /// counts as unset.
    Default {
        colon: bool,
        assigns: bool,
    },
    /// An alternative value: `+`. With a colon (`:+`), an empty value counts as unset.
    Alternative {
        colon: bool,
    },
    Other,
}

impl Word {
    pub(super) fn as_plain_text(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Bare(text) | Part::Quoted(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// Parses a text. An error means that a shell would refuse the text, that the text has a form that
/// is not supported (`$[…]`), or that it is too big to judge.
pub(super) fn parse(text: &str, depth: usize) -> Result<Script, SyntaxError> {
    if text.chars().nth(MAX_CHARS).is_some() {
        return Err(SyntaxError { at: MAX_CHARS, what: "the text is longer than can be judged" });
    }
    script_of_text(text, depth).map_err(|error| {
        let at = text.char_indices().take_while(|(at, _)| *at < error.at).count();
        SyntaxError { at, ..error }
    })
}

/// Parses a text of any length. The position of an error is counted in bytes.
fn script_of_text(text: &str, depth: usize) -> Result<Script, SyntaxError> {
    let mut parser = Parser::new(text, depth);
    let script = parser.script(&[])?;
    parser.skip_space();
    parser.require(parser.is_at_end(), "a word or sign that begins no command")?;
    parser.require(!parser.owes_bodies(), "a heredoc without its text")?;
    Ok(script)
}

/// Parses a text as the body of a heredoc, in which only `$`, backticks and some escapes are
/// special.
pub(super) fn heredoc_body(text: &str, depth: usize) -> Result<Word, SyntaxError> {
    let mut parser = Parser::new(text, depth);
    let mut parts = Vec::new();
    parser.quoted_until(None, &mut parts)?;
    Ok(Word { parts, raw: text.to_owned() })
}

/// A heredoc whose body has not been reached yet.
struct PendingHeredoc {
    body: Rc<OnceCell<Word>>,
    end: String,
    /// True if the line that ends the body is quoted after the `<<`. The body then contains no
    /// expansions.
    literal: bool,
    /// True for `<<-`: the tabs at the start of each line are removed.
    strip_tabs: bool,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    pending: Vec<PendingHeredoc>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self { text, at: 0, depth, pending: Vec::new() }
    }

    fn rest_of_text(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn sees(&self, what: &str) -> bool {
        self.rest_of_text().starts_with(what)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn peek(&self) -> Option<char> {
        self.rest_of_text().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, what: &str) -> bool {
        let found = self.sees(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn require(&self, holds: bool, what: &'static str) -> Result<(), SyntaxError> {
        if holds { Ok(()) } else { Err(self.error(what)) }
    }

    fn expect_sign(&mut self, sign: &str, what: &'static str) -> Result<(), SyntaxError> {
        let found = self.eat(sign);
        self.require(found, what)
    }

    fn error(&self, what: &'static str) -> SyntaxError {
        SyntaxError { at: self.at, what }
    }

    /// Runs `inside` one level deeper. Returns an error at the maximum depth.
    fn deeper<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        self.require(self.depth < MAX_DEPTH, "nested deeper than can be judged")?;
        self.depth += 1;
        let done = inside(self);
        self.depth -= 1;
        done
    }

    /// Skips blanks, continued lines and comments, up to the end of the line.
    fn skip_space(&mut self) {
        loop {
            if self.eat(" ") || self.eat("\t") || self.eat("\\\n") {
                continue;
            }
            if self.sees("#") && self.begins_word() {
                self.at += self.rest_of_text().find('\n').unwrap_or(self.rest_of_text().len());
                continue;
            }
            return;
        }
    }

    /// Returns true if a word can begin here. A `#` in the middle of a word does not start a
    /// comment.
    fn begins_word(&self) -> bool {
        self.text[..self.at]
            .chars()
            .next_back()
            .is_none_or(|before| before.is_ascii_whitespace() || ";&|()".contains(before))
    }
}

#[cfg(test)]
mod tests;
