//! A text in the language of `bash` becomes a plain tree of commands and words.
//!
//! A grammar of our own, strict where a shell is strict: what `bash` refuses is
//! an error here, and nothing is recovered from or skipped. The grammar for
//! editors (`tree-sitter-bash`) guesses on past what it cannot read, and cannot
//! read some everyday forms (`docs/shell.md` lists them); it is the second
//! opinion in the tests.

mod script;
mod word;

pub(super) use word::unescape;

/// Longer texts are not read: nobody judges a screenful of shell at a glance.
pub(super) const MAX_CHARS: usize = 10_000;
/// Deeper nesting is not read.
pub(super) const MAX_DEPTH: usize = 32;

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {what}")]
pub(super) struct SyntaxError {
    /// Byte offset in the text.
    pub(super) at: usize,
    /// What was wrong, as a phrase.
    pub(super) what: &'static str,
}

/// A whole text: its commands, and the bodies of its heredocs.
#[derive(Clone, Debug, Default)]
pub(super) struct ParsedScript {
    pub(super) script: Script,
    /// In the order of their `<<`; redirections point here.
    pub(super) heredocs: Vec<Word>,
}

/// Commands one after the other.
pub(super) type Script = Vec<Pipeline>;

/// One pipeline of a list.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<ShellCommand>,
    /// It ends in `&`.
    pub(super) background: bool,
    /// What joins it to the one before.
    pub(super) after: Option<Join>,
}

/// What decides whether a pipeline is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// `&&`: when the one before succeeds.
    And,
    /// `||`: when it fails.
    Or,
}

/// One command with its redirections.
#[derive(Clone, Debug)]
pub(super) struct ShellCommand {
    pub(super) kind: Kind,
    pub(super) redirects: Vec<Redirect>,
}

/// What a command is made of.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// `A=1 program word…`
    Simple { assigns: Vec<Assign>, words: Vec<Word> },
    /// `{ …; }`
    Group(Script),
    /// `( … )`
    Subshell(Script),
    /// `if`: conditions and branches in order.
    Branches(Vec<Script>),
    /// `while`, `until` and `for ((…))`: what is repeated.
    Loop(Vec<Script>),
    /// `for` and `select` over words.
    For { variable: String, over: Vec<Word>, body: Script },
    /// `case WORD in …`
    Case { subject: Word, arms: Vec<(Vec<Word>, Script)> },
    /// `name() …`
    Function { name: String, body: Box<ShellCommand> },
    /// `[[ … ]]`
    Test(Vec<Word>),
    /// `(( … ))`
    Arithmetic(Word),
    /// `coproc …`
    Coproc(Box<ShellCommand>),
}

/// `NAME=value`, `NAME+=value`, `NAME=(a b)`.
#[derive(Clone, Debug)]
pub(super) struct Assign {
    pub(super) name: String,
    /// What stands in brackets behind the name.
    pub(super) index: String,
    pub(super) append: bool,
    pub(super) value: Word,
    pub(super) elements: Option<Vec<Word>>,
}

/// What a redirection does to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`, `>&`: a descriptor, or a file when it is none.
    Duplicate,
    /// `<<<`
    Here,
    /// `<<`; index into [`ParsedScript::heredocs`].
    Document(usize),
}

/// One redirection.
#[derive(Clone, Debug)]
pub(super) struct Redirect {
    pub(super) direction: Direction,
    /// What it sends elsewhere is the standard output.
    pub(super) output: bool,
    /// It is an input.
    pub(super) reads: bool,
    /// The number before it.
    pub(super) number: Option<u32>,
    /// Its number goes into a variable: `{NAME}>`.
    pub(super) named: bool,
    pub(super) target: Word,
}

/// A word as written, in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
    /// The bytes in the text.
    pub(super) raw: String,
}

/// A part of a word.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Outside quotes: braces, globs and `~` are alive.
    Bare(String),
    /// Quoted or escaped: just text.
    Quoted(String),
    /// `?(a|b)` and its like: some name.
    Pattern,
    /// `$NAME`, `${…}`
    Param { name: String, op: Option<(Op, Word)>, quoted: bool },
    /// `$(…)` and backticks.
    Command { tree: ParsedScript, quoted: bool },
    /// `<(…)`, `>(…)`
    Process(ParsedScript),
    /// `$((…))`: a number; the words inside for their substitutions.
    Arithmetic(Word),
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bare(a), Self::Bare(b)) | (Self::Quoted(a), Self::Quoted(b)) => a == b,
            _ => false,
        }
    }
}

/// What `${NAME…}` does beside looking up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// `:-`, `-`, `:=`, `=`
    Default,
    /// `:+`, `+`
    Alternative,
    /// Anything else: what comes out is not known.
    Other,
}

impl Word {
    /// Its text, when nothing of it has to be looked up.
    pub(super) fn plain(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Bare(text) | Part::Quoted(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// Reads a text. An error means that a shell would refuse it, or that it is too big to judge.
pub(super) fn parse(text: &str, depth: usize) -> Result<ParsedScript, SyntaxError> {
    if text.chars().nth(MAX_CHARS).is_some() {
        return Err(SyntaxError { at: MAX_CHARS, what: "the text is longer than can be judged" });
    }
    let mut parser = Parser::new(text, depth);
    let script = parser.script(&[])?;
    parser.skip_space();
    if !parser.done() {
        return Err(parser.error("a word or sign that begins no command"));
    }
    if parser.owes_bodies() {
        return Err(parser.error("a heredoc without its text"));
    }
    Ok(ParsedScript { script, heredocs: parser.heredocs })
}

/// Reads a text as the inside of a heredoc: only `$` and backticks are alive.
pub(super) fn document(text: &str, depth: usize) -> Result<Word, SyntaxError> {
    let mut parser = Parser::new(text, depth);
    let mut parts = Vec::new();
    parser.quoted_until(None, &mut parts)?;
    Ok(Word { parts, raw: text.to_owned() })
}

/// A heredoc whose body has not been reached.
struct Pending {
    index: usize,
    end: String,
    literal: bool,
    strip_tabs: bool,
}

/// Where the reading is.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    heredocs: Vec<Word>,
    pending: Vec<Pending>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self { text, at: 0, depth, heredocs: Vec::new(), pending: Vec::new() }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn done(&self) -> bool {
        self.at >= self.text.len()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn error(&self, what: &'static str) -> SyntaxError {
        SyntaxError { at: self.at, what }
    }

    /// One level deeper, for as long as `inside` runs.
    fn deeper<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error("nested deeper than can be judged"));
        }
        self.depth += 1;
        let done = inside(self);
        self.depth -= 1;
        done
    }

    /// Blanks, continued lines and comments, up to the end of the line.
    fn skip_space(&mut self) {
        loop {
            if self.eat(" ") || self.eat("\t") || self.eat("\\\n") || self.eat("\\\r\n") {
                continue;
            }
            if self.rest().starts_with('#') && self.begins_word() {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                continue;
            }
            return;
        }
    }

    /// Whether a word could begin here: a `#` in the middle of one is no comment.
    fn begins_word(&self) -> bool {
        self.text[..self.at]
            .chars()
            .next_back()
            .is_none_or(|before| before.is_ascii_whitespace() || ";&|()".contains(before))
    }
}

#[cfg(test)]
mod tests;
