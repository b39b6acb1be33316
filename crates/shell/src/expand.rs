//! Expands words as far as the text itself determines the result.
//!
//! Quotes are removed, braces and `~` are expanded, and variables that the same text has set are
//! replaced by their values. The output of a few programs (`echo`, `pwd`, `mktemp`) is predicted.
//! What cannot be known becomes [`WordPiece::Unknown`].

use super::argument::{Arg, WordOrigin, WordPiece, unknown};
use super::parse::{Op, Part, Word};
use super::simulation::Shell;
use super::variables::position;

impl AsRef<str> for Arg {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl From<&'static str> for Arg {
    fn from(text: &'static str) -> Self {
        Self::with_known_text(text)
    }
}

/// A character of a word, or an expansion inside it. Only unquoted characters can be globs, braces
/// or `~`.
#[derive(Clone, Debug)]
enum Atom {
    Unquoted(char),
    Quoted(char),
    /// An empty quoted string, which makes a word even if nothing else does.
    Empty,
    Part(Part),
}

/// The fields that a word expands to: none, one or several. The last one is still being built.
#[derive(Default)]
pub(super) struct Fields {
    done: Vec<Vec<WordPiece>>,
    open: Vec<WordPiece>,
    /// True if the open field counts even if it is empty, as for `''`.
    real: bool,
}

impl Fields {
    pub(super) fn is_open(&self) -> bool {
        self.real
    }

    pub(super) fn only_text(&self) -> Option<&str> {
        match self.open.as_slice() {
            [WordPiece::Text(text) | WordPiece::Glob(text)] => Some(text),
            _ => None,
        }
    }

    pub(super) fn take(&mut self) -> Option<Arg> {
        let pieces = std::mem::take(&mut self.open);
        std::mem::take(&mut self.real).then(|| Arg::from_pieces(&pieces))
    }

    pub(super) fn text(&mut self, text: &str) {
        self.real = true;
        match self.open.last_mut() {
            Some(WordPiece::Text(before)) => before.push_str(text),
            _ => self.open.push(WordPiece::Text(text.to_owned())),
        }
    }

    pub(super) fn piece(&mut self, piece: WordPiece) {
        match piece {
            WordPiece::Text(text) => self.text(&text),
            other => {
                self.real = true;
                self.open.push(other);
            }
        }
    }

    fn close(&mut self) {
        if self.real {
            self.done.push(std::mem::take(&mut self.open));
        }
        self.real = false;
    }

    /// Adds the value of an unquoted expansion. The value is split into words at the separators, and
    /// each `*`, `?` and `[` in it begins a glob. An unknown value may become several words.
    fn split(&mut self, value: &[WordPiece], separators: &str) {
        for piece in value {
            let WordPiece::Text(text) = piece else {
                self.piece(piece.clone());
                continue;
            };
            for (at, field) in text.split(|c| separators.contains(c)).enumerate() {
                if at > 0 {
                    self.close();
                }
                for c in field.chars() {
                    if "*?".contains(c) || c == '[' && field.contains(']') {
                        self.piece(WordPiece::Glob(c.to_string()));
                    } else {
                        self.text(c.encode_utf8(&mut [0; 4]));
                    }
                }
            }
        }
        if value.iter().any(|piece| matches!(piece, WordPiece::Unknown { .. })) {
            self.piece(WordPiece::Splits);
        }
    }
}

/// A brace expansion produces at most this many words.
const MAX_BRACE_WORDS: usize = 64;

impl Shell {
    /// Expands a word that may become several words, such as an argument or a word of a `for` loop.
    pub(super) fn fields(&mut self, word: &Word) -> Vec<Arg> {
        let mut args = Vec::new();
        let (words, whole) = braces(atoms(word));
        if !whole {
            self.note_unfollowed("{");
        }
        for atoms in words {
            let mut fields = Fields::default();
            self.expand(&atoms, Splitting::On, &mut fields);
            fields.close();
            args.extend(fields.done.iter().map(|pieces| Arg::from_pieces(pieces)));
        }
        args
    }

    /// Expands a word that stays one word: the value of an assignment, the target of a redirection,
    /// a heredoc.
    pub(super) fn value(&mut self, word: &Word) -> Vec<WordPiece> {
        let mut fields = Fields::default();
        self.expand(&atoms(word), Splitting::Off, &mut fields);
        fields.done.push(fields.open);
        self.joined_values(&fields.done)
    }

    pub(super) fn single(&mut self, word: &Word) -> Arg {
        Arg::from_pieces(&self.value(word))
    }

    fn expand(&mut self, atoms: &[Atom], splitting: Splitting, fields: &mut Fields) {
        let rest = self.tilde(atoms, fields);
        // A `[` without a `]` is plain text, as in the name of the program `[`.
        let last = rest.iter().rposition(|atom| matches!(atom, Atom::Unquoted(']')));
        for (at, atom) in rest.iter().enumerate() {
            match atom {
                Atom::Unquoted('[') if last.is_none_or(|last| last < at) => fields.text("["),
                Atom::Quoted(c) => fields.text(c.encode_utf8(&mut [0; 4])),
                Atom::Unquoted(c) if "*?[".contains(*c) && splitting == Splitting::On => {
                    fields.piece(WordPiece::Glob(c.to_string()));
                }
                Atom::Unquoted(c) => fields.text(c.encode_utf8(&mut [0; 4])),
                Atom::Empty => fields.text(""),
                Atom::Part(part) => self.part(part, splitting, fields),
            }
        }
    }

    /// Expands a leading `~` or `~NAME`, and returns the remaining atoms.
    fn tilde<'a>(&self, atoms: &'a [Atom], fields: &mut Fields) -> &'a [Atom] {
        let [Atom::Unquoted('~'), rest @ ..] = atoms else { return atoms };
        let end = rest.iter().position(|atom| matches!(atom, Atom::Unquoted('/' | ':')));
        let name: Option<String> = rest[..end.unwrap_or(rest.len())]
            .iter()
            .map(|atom| if let Atom::Unquoted(c) = atom { Some(*c) } else { None })
            .collect();
        match name.as_deref() {
            Some("") => fields.piece(self.home()),
            Some("+") => {
                fields.piece(self.current_folder());
                return &rest[1..];
            }
            Some(name) => {
                // The home folder of another account. Its path is not known, but it is outside the
                // workspace.
                fields.text(&format!("/home/{}", name.trim_start_matches('-')));
                return &rest[name.chars().count()..];
            }
            None => return atoms,
        }
        rest
    }

    fn part(&mut self, part: &Part, splitting: Splitting, fields: &mut Fields) {
        let (value, quoted) = match part {
            Part::Bare(text) | Part::Quoted(text) => (vec![WordPiece::Text(text.clone())], true),
            Part::Pattern => {
                self.note_unfollowed("(");
                (vec![WordPiece::Glob("*".to_owned())], true)
            }
            Part::Param { name, op, quoted } => {
                let operation =
                    op.as_ref().filter(|(op, _)| *op == Op::Other).map(|(_, word)| word);
                self.check_parameter(name, operation);
                let splits = !quoted && splitting == Splitting::On;
                if op.is_none() && self.positional(name, *quoted, splits, fields) {
                    return;
                }
                (self.parameter(name, op.as_ref()), *quoted)
            }
            Part::Command { script, quoted } => (self.output(script), *quoted),
            Part::Process(script) => {
                let feed = self.substituted(script);
                let origin = feed.origin().unwrap_or(WordOrigin::Output);
                let shown = format!("/dev/fd/{}", self.remember(feed));
                (vec![WordPiece::Unknown { shown, origin }], true)
            }
            Part::Arithmetic(word) => {
                self.check_arithmetic(word);
                let shown = format!("$(({}))", word.raw);
                (vec![WordPiece::Unknown { shown, origin: WordOrigin::Variable }], true)
            }
        };
        let number =
            matches!(part, Part::Param { name, op: None, .. } if "?$!#".contains(name.as_str()));
        if quoted || number || splitting == Splitting::Off {
            if quoted && splitting == Splitting::On {
                fields.text("");
            }
            for piece in value {
                fields.piece(piece);
            }
            return;
        }
        let separators = self.separators();
        fields.split(&value, &separators);
    }

    /// Adds the elements of `$@`, `$*`, `${a[@]}` or `${a[*]}`, and returns true, if they are
    /// known.
    fn positional(&self, name: &str, quoted: bool, splits: bool, fields: &mut Fields) -> bool {
        let array = name.strip_suffix("[@]").or_else(|| name.strip_suffix("[*]"));
        let given = match (name, array) {
            ("@" | "*", _) => self.state.arguments.clone(),
            (_, Some(array)) => self.known_elements(array).cloned(),
            _ => None,
        };
        let Some(mut given) = given else { return false };
        if quoted && (name == "*" || name.ends_with("[*]")) {
            given = vec![self.joined_values(&given)];
        }
        let separators = self.separators();
        for (at, value) in given.iter().enumerate() {
            if at > 0 {
                fields.close();
            }
            if quoted {
                fields.text("");
            }
            match splits {
                true => fields.split(value, &separators),
                false => value.iter().cloned().for_each(|piece| fields.piece(piece)),
            }
        }
        true
    }

    fn parameter(&mut self, name: &str, op: Option<&(Op, Word)>) -> Vec<WordPiece> {
        let set = self.variable(name);
        let Some((op, word)) = op else {
            return set.unwrap_or_else(|| vec![unknown(format!("${name}"))]);
        };
        let empty = set.as_ref().is_some_and(|value| {
            value.iter().all(|piece| matches!(piece, WordPiece::Text(text) if text.is_empty()))
        });
        let sure = set
            .as_ref()
            .is_some_and(|value| value.iter().all(|piece| matches!(piece, WordPiece::Text(_))));
        // An argument that is not given has no pieces.
        let absent = |value: &Vec<_>| value.is_empty() && name.parse::<usize>().is_ok();
        let unset = set.as_ref().is_none_or(absent);
        match *op {
            // A variable that the text does not set is treated as unset, because a default is
            // written for that case.
            Op::Default { colon, assigns } if unset || colon && empty => {
                let value = self.value(word);
                match name.split_once('[') {
                    _ if !assigns || set.is_none() => {}
                    Some((array, _)) => self.forget(array),
                    None => self.set(name, value.clone()),
                }
                value
            }
            Op::Default { .. } => {
                let set = set.unwrap_or_default();
                // An unknown value may be empty, and then the default is expanded. So it is if the
                // branch that sets the variable did not run.
                let differs = self.may_differ(name);
                let default = (!sure || differs).then(|| self.value(word));
                if differs && default.is_some_and(|default| default != set) {
                    return vec![unknown(format!("${name}"))];
                }
                set
            }
            Op::Alternative { colon } if empty && (colon || unset) => Vec::new(),
            Op::Alternative { .. } => {
                // If the variable is unset, the alternative disappears.
                if !sure {
                    self.note_unfollowed(name);
                }
                self.value(word)
            }
            Op::Other if word.raw.starts_with('!') => {
                let named = set.as_deref().map(Arg::from_pieces);
                let value = named.as_ref().and_then(Arg::literal).and_then(|to| self.variable(to));
                value.unwrap_or_else(|| vec![unknown(format!("${{!{name}}}"))])
            }
            Op::Other => {
                self.value(word);
                // `${v:?message}` expands to the value of `v`.
                match set {
                    Some(value) if word.raw.starts_with('?') || word.raw.starts_with(":?") => value,
                    Some(value) => value_after_operation(&value, word),
                    None if ["TMPDIR", "TEMP", "TMP"].contains(&name) => {
                        vec![WordPiece::Temp(format!("${{{name}}}"))]
                    }
                    None => vec![unknown(format!("${{{name}{}}}", word.raw))],
                }
            }
        }
    }
}

/// Returns a known value after an operation such as `${v%b}`; an unknown piece if the operation is
/// not supported.
fn value_after_operation(value: &[WordPiece], word: &Word) -> Vec<WordPiece> {
    let changed = match value {
        [WordPiece::Text(text)] => text_after_operation(text, &word.raw),
        _ => None,
    };
    vec![changed.map_or_else(|| unknown(format!("${{…{}}}", word.raw)), WordPiece::Text)]
}

/// Applies `${v,,}`, `${v:1:2}`, `${v/a/b}`, `${v%b}` or `${v#a}` to a text. Patterns must be plain
/// text.
fn text_after_operation(text: &str, raw: &str) -> Option<String> {
    if raw == "@L" || raw == ",," {
        return Some(text.to_lowercase());
    }
    if let Some(place) = raw.strip_prefix(':') {
        let (from, length) = place.split_once(':').map_or((place, None), |(a, b)| (a, Some(b)));
        let from = position(from.trim())?;
        let length = length.map_or(Some(usize::MAX), |length| position(length.trim()))?;
        return Some(text.chars().skip(from).take(length).collect());
    }
    if raw.contains(['*', '?', '[', '(', '$', '\\', '"', '\'', '`', '~', '&']) {
        return None;
    }
    let (sign, pattern) = raw.split_at_checked(1)?;
    match sign {
        "/" => {
            let all = pattern.strip_prefix('/');
            let pattern = all.unwrap_or(pattern);
            let (old, new) = pattern.split_once('/').unwrap_or((pattern, ""));
            let count = if all.is_some() { usize::MAX } else { 1 };
            let anywhere = !old.is_empty() && !old.starts_with(['#', '%']);
            anywhere.then(|| text.replacen(old, new, count))
        }
        // A plain text matches in one way only, so `%%` does the same as `%`.
        "%" => {
            let pattern = pattern.strip_prefix('%').unwrap_or(pattern);
            Some(text.strip_suffix(pattern).unwrap_or(text).to_owned())
        }
        // `${#v}` is the length of the value.
        "#" if pattern.is_empty() => None,
        "#" => {
            let pattern = pattern.strip_prefix('#').unwrap_or(pattern);
            Some(text.strip_prefix(pattern).unwrap_or(text).to_owned())
        }
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Splitting {
    On,
    Off,
}

fn atoms(word: &Word) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let is_list = |part: &Part| match part {
        Part::Param { name, op: None, quoted: true } => name == "@" || name.ends_with("[@]"),
        _ => false,
    };
    // `"$@"` without arguments is no word, though the parser puts empty texts around it.
    let may_vanish = word.parts.iter().any(is_list);
    for part in &word.parts {
        match part {
            Part::Bare(text) => atoms.extend(text.chars().map(Atom::Unquoted)),
            Part::Quoted(text) if text.is_empty() && may_vanish => {}
            Part::Quoted(text) if text.is_empty() => atoms.push(Atom::Empty),
            Part::Quoted(text) => atoms.extend(text.chars().map(Atom::Quoted)),
            other => atoms.push(Atom::Part(other.clone())),
        }
    }
    atoms
}

/// Returns the words of a brace expansion (`{a,b}`, `{1..3}`, also nested), and whether these are
/// all of them: there may be more than [`MAX_BRACE_WORDS`].
fn braces(atoms: Vec<Atom>) -> (Vec<Vec<Atom>>, bool) {
    let (mut done, mut whole) = (Vec::new(), true);
    let mut todo = vec![atoms];
    while let Some(next) = todo.pop() {
        match first_brace(&next) {
            Some((start, end, choices)) if done.len() + todo.len() < MAX_BRACE_WORDS => {
                // The last choice is pushed first, so that the words are produced in order.
                for choice in choices.into_iter().rev() {
                    let mut word = next[..start].to_vec();
                    word.extend(choice);
                    word.extend_from_slice(&next[end..]);
                    todo.push(word);
                }
            }
            Some(_) => {
                whole = false;
                done.push(next);
            }
            None => done.push(next),
        }
    }
    let whole = whole && done.len() < MAX_BRACE_WORDS;
    (done, whole)
}

type Brace = (usize, usize, Vec<Vec<Atom>>);

fn first_brace(atoms: &[Atom]) -> Option<Brace> {
    let opens = (0..atoms.len()).filter(|at| matches!(atoms[*at], Atom::Unquoted('{')));
    for start in opens {
        let (mut depth, mut commas, mut end) = (0_usize, Vec::new(), None);
        for (at, atom) in atoms.iter().enumerate().skip(start) {
            match atom {
                Atom::Unquoted('{') => depth += 1,
                Atom::Unquoted('}') => {
                    depth -= 1;
                    if depth == 0 {
                        end = Some(at);
                        break;
                    }
                }
                Atom::Unquoted(',') if depth == 1 => commas.push(at),
                _ => {}
            }
        }
        let Some(end) = end else { continue };
        if commas.is_empty() {
            if let Some(choices) = range(&atoms[start + 1..end]) {
                return Some((start, end + 1, choices));
            }
            continue;
        }
        let starts = std::iter::once(start).chain(commas.iter().copied());
        let ends = commas.iter().copied().chain([end]);
        let choices = starts.zip(ends).map(|(from, to)| atoms[from + 1..to].to_vec()).collect();
        return Some((start, end + 1, choices));
    }
    None
}

/// Returns the words of a range as bash makes them: `1..3`, `01..10..2` or `a..e`. The last number is
/// the step.
fn range(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let text: String =
        atoms.iter().map(|a| if let Atom::Unquoted(c) = a { *c } else { '\0' }).collect();
    let parts: Vec<&str> = text.split("..").collect();
    let (from, to, step) = match parts.as_slice() {
        [from, to] => (*from, *to, 1),
        [from, to, step] => (*from, *to, step.parse::<i64>().ok()?.unsigned_abs().max(1)),
        _ => return None,
    };
    let members = |from: i64, to: i64| {
        let (from, step) = (i128::from(from), i128::from(step));
        let count = (i128::from(to) - from).abs() / step;
        let by = if i128::from(to) < from { -step } else { step };
        (0..=count).take(MAX_BRACE_WORDS).map(move |at| from + at * by)
    };
    let spelled = |text: String| text.chars().map(Atom::Unquoted).collect::<Vec<_>>();
    if let (Ok(first), Ok(last)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let digits = |text: &str| text.trim_start_matches(['-', '+']).len();
        let is_padded =
            |text: &str| digits(text) > 1 && text.trim_start_matches(['-', '+']).starts_with('0');
        let width = if is_padded(from) || is_padded(to) { from.len().max(to.len()) } else { 0 };
        return Some(members(first, last).map(|n| spelled(format!("{n:0width$}"))).collect());
    }
    let letter = |text: &str| match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(i64::from(*letter)),
        _ => None,
    };
    let letters = members(letter(from)?, letter(to)?);
    let letters = letters.filter_map(|letter| Some(char::from(u8::try_from(letter).ok()?)));
    Some(letters.map(|letter| spelled(letter.to_string())).collect())
}
