//! Detects values that the shell would evaluate as code, and variables that control what programs
//! do.
//!
//! [`super::Class::Read`] claims that nothing is changed, so it needs a proof. A shell runs code
//! inside some values: the index of an array, arithmetic, `${x@P}`. Some variables decide what a
//! program loads. If such a value or variable is not understood, the text is opaque.

use super::argument::{Arg, WordPiece, is_name, unknown};
use super::finding;
use super::judge;
use super::mentions;
use super::parse::{Part, Word};
use super::simulation::Shell;
use super::table::{self, TableRow};

enum Evaluated {
    /// The variable is unset, or its value has only digits, signs and spaces, or is the result of
    /// arithmetic.
    Number,
    /// The value is not known: an argument, the environment, the output of a program.
    Unknown,
    /// The value is other text, which the shell would evaluate as code, or the variable controls
    /// what programs do.
    Code,
}

impl Shell {
    /// Notes that the shell would evaluate a word in a way that is not followed here. So the text
    /// is opaque.
    pub(super) fn note_unfollowed(&mut self, word: &str) {
        self.note(finding::opaque("expansion", word));
        self.mention(word);
        // The shell evaluates the word again, and so runs the `$(…)` in it.
        for code in codes_in_substitutions(word) {
            self.text(code);
        }
    }

    pub(super) fn check_exported(&mut self, name: &str, value: Option<&str>) {
        let quiet = name.ends_with("PAGER")
            && value.is_some_and(|value| value.is_empty() || table::holds("quietpagers", value));
        if quiet || table::holds("env", name) {
            return;
        }
        if table::holds("steers", name) || !is_name(name) {
            if let Some(path) = value.filter(|value| mentions::is_path(value)) {
                self.may_change(&Arg::with_known_text(path));
            }
            self.note(finding::opaque("variable.steers", name));
        } else {
            self.note(finding::opaque("variable.unknown", name).inspects());
        }
    }

    pub(super) fn check_assigned(&mut self, name: &str) {
        if table::holds("steers", name) {
            self.note(finding::opaque("variable.steers", name));
        }
    }

    pub(super) fn check_builtin(&mut self, args: &[Arg]) {
        let Some((name, args)) = args.split_first() else { return };
        let valued = |option: &str| {
            args.windows(2).find(|two| two[0].is_word(option)).map(|two| two[1].clone())
        };
        match name.literal().unwrap_or_default() {
            "command" | "builtin" => {
                let from = args.iter().position(|arg| !arg.looks_like_option());
                self.check_builtin(&args[from.unwrap_or(args.len())..]);
            }
            "test" | "[" => {
                for name in ["-v", "-R"].iter().filter_map(|option| valued(option)) {
                    self.check_variable_name(&name);
                }
            }
            "printf" => {
                let named = valued("-v").or_else(|| {
                    let joined = args.first()?.text.strip_prefix("-v")?;
                    Some(Arg::with_known_text(joined)).filter(|name| !name.text.is_empty())
                });
                if let Some(name) = named {
                    self.check_variable_name(&name);
                    self.forget(name.text.split('[').next().unwrap_or_default());
                }
                // An unknown first argument may be `-v` or a format with `%n`. Both set a variable.
                if args.len() > 1
                    && args.first().is_some_and(|arg| !arg.sure && arg.lead.is_empty())
                {
                    self.note(finding::opaque("expansion", "printf").inspects());
                }
                // `%n` sets the variable that its argument names.
                if args.iter().any(|arg| arg.text.replace("%%", "").contains("%n")) {
                    self.note_unfollowed("%n");
                }
            }
            "let" => args.iter().for_each(|arg| match arg.literal() {
                Some(text) => self.check_arithmetic_text(text),
                None => self.note_unfollowed(&arg.text),
            }),
            "export" => {
                for arg in args.iter().filter(|arg| !arg.looks_like_option()) {
                    let (name, value) = arg.lead.split_once('=').unwrap_or((&arg.lead, ""));
                    self.check_exported(name, Some(value).filter(|_| arg.sure));
                }
            }
            "set" => self.check_set_options(args),
            "trap" => {
                // These traps run in between, and what they set is not followed.
                let early = |arg: &&Arg| {
                    let signal = arg.text.to_ascii_uppercase();
                    let signal = signal.strip_prefix("SIG").unwrap_or(&signal);
                    !arg.sure || ["DEBUG", "ERR", "RETURN", "CHLD"].contains(&signal)
                };
                if let Some(arg) = args.iter().skip(1).find(early) {
                    self.note(finding::opaque("expansion", &arg.text));
                }
            }
            "shopt" => {
                let fine =
                    |arg: &Arg| arg.literal().is_some_and(|word| table::holds("shoptions", word));
                if !args.iter().all(fine) {
                    self.note_unfollowed("shopt");
                }
            }
            builtin => {
                let row = table::rows(&format!("proof:{builtin}")).first();
                row.into_iter().for_each(|row| self.check_variable_operands(builtin, args, row));
            }
        }
    }

    /// Checks the options of `set`. Only options that do not change what the shell evaluates are
    /// allowed, and arguments only after `--`.
    fn check_set_options(&mut self, args: &[Arg]) {
        let end = args.iter().position(|arg| arg.is_word("--")).unwrap_or(args.len());
        let args = &args[..end];
        let letters = |arg: &Arg| {
            let letters = arg.literal().and_then(|text| text.strip_prefix(['-', '+']));
            letters.is_some_and(|letters| {
                !letters.is_empty() && letters.chars().all(|c| "euxvfnoEBCh".contains(c))
            })
        };
        let named = |at: usize| {
            at > 0
                && args[at - 1].text.starts_with(['-', '+'])
                && args[at - 1].text.ends_with('o')
                && args[at].literal().is_some_and(|name| table::holds("setoptions", name))
        };
        if !(0..args.len()).all(|at| letters(&args[at]) || named(at)) {
            self.note_unfollowed("set");
        }
    }

    /// Checks a builtin whose operands are names of variables. The row of the builtin lists the
    /// option letters with which it evaluates values, such as `-i` of `declare`.
    fn check_variable_operands(&mut self, builtin: &str, args: &[Arg], row: &TableRow) {
        let names = judge::operands(args, &row.list("takes"));
        for name in names.iter().skip(usize::from(builtin == "getopts")) {
            self.check_variable_name(name);
        }
        let associative = |arg: &Arg| arg.looks_like_option() && arg.lead.contains('A');
        if builtin == "getopts" {
            self.forget("OPTARG");
            names.get(1).into_iter().for_each(|name| self.forget(&name.text));
        } else if builtin != "read" && args.iter().any(associative) {
            // The order of the elements is not known.
            for name in &names {
                self.forget(name.lead.split(['=', '+']).next().unwrap_or_default());
            }
        }
        // What later seems to change a constant does not.
        if builtin == "readonly" && !names.is_empty() {
            self.note_unfollowed("readonly");
        }
        let evaluates = |arg: &&Arg| {
            arg.lead.starts_with(['-', '+']) && arg.lead.contains(|c| row.word(1).contains(c))
        };
        if let Some(arg) = args.iter().find(evaluates) {
            self.note_unfollowed(&format!("{builtin} {}", arg.text));
        }
    }

    /// Checks an operand that is the name of a variable. In `NAME[INDEX]`, the shell evaluates the
    /// index.
    pub(super) fn check_variable_name(&mut self, arg: &Arg) {
        let name = arg.lead.split(['=', '+']).next().unwrap_or_default();
        let index = name.split_once('[').map(|(name, index)| (name, index.trim_end_matches(']')));
        let plain = match index {
            Some((name, index)) => is_name(name) && self.is_index(index),
            None => is_name(name) || name.starts_with('-') || name.parse::<u32>().is_ok(),
        };
        if !plain && !arg.text.is_empty() {
            self.note_unfollowed(&arg.text);
        } else if table::holds("steers", index.map_or(name, |(name, _)| name)) {
            self.note(finding::opaque("variable.steers", name));
        }
    }

    /// Returns true if the index of an array is safe to evaluate: a number, `@`, `*`, or a variable
    /// that holds a number.
    pub(super) fn is_index(&self, text: &str) -> bool {
        let text = text.trim_matches(['"', ' ']);
        let text = text.strip_prefix('-').unwrap_or(text);
        matches!(text, "@" | "*" | "")
            || text.chars().all(|c| c.is_ascii_digit())
            || is_name(text.trim_start_matches('$'))
                && matches!(self.number(text.trim_start_matches('$')), Evaluated::Number)
    }

    fn number(&self, name: &str) -> Evaluated {
        if table::holds("steers", name) {
            return Evaluated::Code;
        }
        let Some(value) = self.variable(name) else { return Evaluated::Number };
        let arg = Arg::from_pieces(&value);
        match arg.literal() {
            Some(text) if text.chars().all(|c| c.is_ascii_digit() || "+- ".contains(c)) => {
                Evaluated::Number
            }
            Some(_) => Evaluated::Code,
            None if value.iter().all(is_arithmetic) => Evaluated::Number,
            None => Evaluated::Unknown,
        }
    }

    pub(super) fn check_arithmetic(&mut self, word: &Word) {
        let pieces = self.value(word);
        let parameters: String = word
            .parts
            .iter()
            .map(|part| match part {
                Part::Param { name, op: None, .. } => format!(" {name} "),
                _ => String::new(),
            })
            .collect();
        // The parts of `$((…))` contain only the expansions. The text between them is in `raw`.
        let plain = word.raw.replace("$((", "(");
        let expansions = word.parts.iter().any(|part| {
            !matches!(
                part,
                Part::Bare(_)
                    | Part::Quoted(_)
                    | Part::Param { op: None, .. }
                    | Part::Arithmetic(_)
            )
        });
        let unknown = pieces.iter().any(|piece| !matches!(piece, WordPiece::Text(_)));
        if expansions || plain.contains(['`', '"', '\'', '\\', '{', '@']) {
            let finding = finding::opaque("expansion", &word.raw);
            let only_unknown = unknown && !plain.contains('[');
            self.note(if only_unknown { finding.inspects() } else { finding });
            return;
        }
        self.check_arithmetic_text(&format!("{plain} {parameters}"));
    }

    pub(super) fn check_arithmetic_text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find('[') {
            let index = rest[at + 1..].split(']').next().unwrap_or_default();
            if !self.is_index(index) {
                return self.note_unfollowed(text);
            }
            rest = &rest[at + 1..];
        }
        let names = text
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|name| is_name(name));
        let compared = text.replace("==", "").replace("!=", "");
        let assigns = ["=", "++", "--"].iter().any(|sign| compared.contains(sign));
        for name in names {
            match self.number(name) {
                Evaluated::Number => {}
                Evaluated::Unknown => self.note(finding::opaque("expansion", name).inspects()),
                Evaluated::Code => return self.note_unfollowed(name),
            }
            if assigns && self.known_elements(name).is_some() {
                self.set(name, vec![unknown(format!("$(({name}))"))]);
            }
        }
    }

    /// Checks the words of `[[ … ]]`: the operands of numeric comparisons, and the names of
    /// variables.
    pub(super) fn check_test_words(&mut self, words: &[Word]) {
        let args: Vec<Arg> = words.iter().map(|word| self.single(word)).collect();
        for (at, arg) in args.iter().enumerate() {
            let Some(operator) = arg.literal() else { continue };
            let next = args.get(at + 1);
            match operator {
                "-v" | "-R" => next.into_iter().for_each(|name| self.check_variable_name(name)),
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                    let before = at.checked_sub(1).and_then(|at| args.get(at));
                    for side in before.into_iter().chain(next) {
                        match side.literal() {
                            Some(text) => self.check_arithmetic_text(text),
                            None => self.note(finding::opaque("expansion", &side.text).inspects()),
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Checks what `${NAME…}` evaluates in addition to the value: an index, an indirection, an
    /// operation. Notes a variable that only some branches set, because it may have another value.
    pub(super) fn check_parameter(&mut self, name: &str, operation: Option<&Word>) {
        let (plain, index) = match name.split_once('[') {
            Some((plain, index)) => (plain, Some(index.trim_end_matches(']'))),
            None => (name, None),
        };
        let special = plain.len() == 1 && "@*#?-$!_".contains(plain);
        let known = is_name(plain) || special || plain.chars().all(|c| c.is_ascii_digit());
        if !known || index.is_some_and(|index| !self.is_index(index)) {
            return self.note_unfollowed(name);
        }
        if self.may_differ(plain) {
            self.note(finding::opaque("expansion", name));
        }
        let Some(word) = operation else { return };
        let raw = word.raw.as_str();
        if let Some(rest) = raw.strip_prefix('!') {
            if matches!(rest, "*" | "@") {
                return;
            }
            let value = self.variable(plain).map(|value| Arg::from_pieces(&value));
            let named = value.as_ref().and_then(Arg::literal);
            let fine = named.is_some_and(|to| is_name(to) && !self.may_differ(to));
            if !fine || !rest.is_empty() {
                self.note_unfollowed(&format!("${{!{plain}}}"));
            }
        } else if raw.starts_with('@') {
            if !["@L", "@U", "@u", "@Q", "@A", "@a", "@K", "@k"].contains(&raw) {
                self.note_unfollowed(&format!("${{{plain}{raw}}}"));
            }
        } else if raw.starts_with(':') && !raw.starts_with(":?") {
            let inner = Word { parts: word.parts.clone(), raw: raw.replace(':', " ") };
            self.check_arithmetic(&inner);
        }
    }
}

fn is_arithmetic(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::Unknown { shown, .. } if shown.starts_with("$(("))
}

/// Returns the commands of each outermost `$(…)` in a text that was not parsed as a word.
fn codes_in_substitutions(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("$(") {
        let inner = &rest[at + 2..];
        let mut depth = 1;
        let end = inner.char_indices().find(|(_, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some((end, _)) = end else { break };
        found.push(&inner[..end]);
        rest = &inner[end + 1..];
    }
    found
}
