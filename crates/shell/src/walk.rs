//! Walks a parsed text as a shell would, and has every program judged.
//!
//! Nothing is executed. All branches are taken, loops run over the words that are known, and
//! functions are walked where they are called. Values that only exist at run time are unknown.

use std::rc::Rc;

use super::argument::{Arg, WordOrigin, WordPiece};
use super::bombs::{feeds_flood, multiplies, starts};
use super::finding::{self, ShellFinding, StreamData};
use super::invisible::invisible;
use super::judge;
use super::mentions::keep;
use super::parse::{
    self, Assign, Direction, Join, Kind, Pipeline, Redirect, Script, ShellCommand, Word,
};
use super::paths::is_socket;
use super::redirect::Redirected;
use super::simulation::{MAX_COMMANDS, Shell};
use super::state::{Alias, Function, NAMED_DESCRIPTOR, ShellState};
use super::table;
use super::{Class, CommandContext, PathEffect, Prediction};

/// A text that takes more steps than this is unreadable. Commands that start no program count as
/// well.
const MAX_STEPS: usize = 6_000;
/// The content of a file, or the output of a list of commands, in more pieces than this is not kept.
const MAX_PIECES: usize = 1_000;
const MAX_RECURSION: usize = 12;

pub(super) fn read(text: &str, at: &CommandContext) -> Prediction {
    let script = match parse::parse(text, 0) {
        Ok(script) => script,
        Err(error) => return Prediction::unreadable("syntax", sentence(&error)),
    };
    let mut shell = Shell::new(Rc::new(at.clone()));
    shell.script(&script);
    shell.run_traps();
    shell.judge_uncalled();
    if let Some(hidden) = invisible(text) {
        shell.note_disguise(text, hidden);
    }
    let mut reading = shell.finish();
    reading.lone = is_one_plain_command(&script);
    reading
}

fn sentence(error: &parse::SyntaxError) -> String {
    format!("It cannot be read as shell: {error}.")
}

fn is_one_plain_command(script: &Script) -> bool {
    let [item] = script.as_slice() else { return false };
    let still = |word: &Word| {
        word.parts.iter().all(|part| match part {
            parse::Part::Bare(text) => !text.contains(['*', '?', '[', '{', '~']),
            parse::Part::Quoted(_) => true,
            _ => false,
        })
    };
    let simple = item.simple().filter(|_| !item.background);
    matches!(simple, Some(([], words, [])) if words.iter().all(still))
}

impl Shell {
    /// Returns the input from the preceding program, or else that of the enclosing compound
    /// command.
    fn input_or_enclosing(&self, feed: StreamData) -> StreamData {
        if feed.present { feed } else { self.stdin.clone() }
    }

    /// Counts a step. Returns true if the text is nested too deeply or is too long; it is then
    /// unreadable and not walked further.
    fn is_exhausted_by_step(&mut self) -> bool {
        self.steps += 1;
        let spent = self.depth > parse::MAX_DEPTH
            || self.out.commands.len() > MAX_COMMANDS
            || self.steps > MAX_STEPS;
        if spent {
            self.note(finding::unreadable_rule("size", ""));
        }
        spent
    }

    pub(super) fn script(&mut self, script: &Script) -> StreamData {
        let mut all = StreamData::default();
        // Nobody knows what comes first of `echo a & echo b`.
        let is_in_order = script.len() < 2 || !script.iter().any(|item| item.background);
        // The state before the first command that may be skipped. In `make || cd x; ls`, `ls` may
        // run in either folder.
        let mut short: Option<ShellState> = None;
        // Whether this command certainly runs, and whether it runs if `cd` and the like succeed.
        let (mut sure, mut likely) = (true, true);
        for item in script {
            match item.after {
                Some(join) => {
                    likely &= join == Join::And;
                    sure &= likely;
                    if !sure && short.is_none() {
                        short = Some(self.state.clone());
                    }
                }
                None => {
                    self.merge_with(short.take());
                    (sure, likely) = (true, true);
                }
            }
            // In `cd a && pwd`, `pwd` is taken to run.
            all = all.followed_by(self.item(item), likely && is_in_order);
            if all.pieces.as_ref().is_some_and(|pieces| pieces.len() > MAX_PIECES) {
                all.pieces = None;
            }
            // In `cd a && cd b; ls`, `ls` is taken to run in `a/b`.
            if let Some(short) = short.as_mut().filter(|_| likely) {
                short.cwd.clone_from(&self.state.cwd);
            }
            sure &= succeeds(item, &["succeeds"]);
            likely &= succeeds(item, &["succeeds", "continues"]);
        }
        self.merge_with(short);
        all
    }

    fn item(&mut self, item: &Pipeline) -> StreamData {
        if feeds_flood(item) {
            self.note(finding::destructive_rule("fork-bomb", "while"));
        }
        self.out.background |= item.background;
        let apart = item.commands.len() > 1 || item.background;
        let before = apart.then(|| self.state.clone());
        let mut feed = StreamData::default();
        let into = self.redirected_to.take();
        for (at, command) in item.commands.iter().enumerate() {
            // Only the last command of a pipeline writes to where the output goes. Each other one
            // writes to the next command.
            let is_last = at + 1 == item.commands.len();
            self.redirected_to = into.clone().filter(|_| is_last);
            feed = self.command(command, feed);
        }
        self.redirected_to = into;
        if let Some(before) = before {
            self.leave(before);
        }
        feed
    }

    /// Walks a subshell: its changes of the state are dropped, its findings are kept. In
    /// `(cd a; rm b); rm c`, the files `a/b` and `c` are deleted.
    fn in_subshell<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.state.clone();
        let done = inside(self);
        self.leave(before);
        done
    }

    /// Ends a subshell: runs its traps and restores the state from before. Functions are kept,
    /// because it matters later whether they were called.
    pub(super) fn leave(&mut self, before: ShellState) {
        let inherited = before.traps.len();
        self.state.traps.drain(..inherited.min(self.state.traps.len()));
        self.run_traps();
        let mut functions = std::mem::take(&mut self.state.functions);
        for function in &mut functions {
            function.sure &=
                before.functions.iter().any(|known| known.is_same_definition(function));
        }
        // A function that the subshell redefined still exists outside it.
        for known in &before.functions {
            if !functions.iter().any(|here| here.is_same_definition(known)) {
                functions.push(known.clone());
            }
        }
        self.state = ShellState { functions, ..before };
    }

    /// Walks the code that `trap` registered, in the state at the end of the shell. A signal may
    /// run it earlier, when variables and functions have other values. For example,
    /// `trap 'rm a' EXIT; ls` deletes `a` after `ls`.
    pub(super) fn run_traps(&mut self) {
        for code in std::mem::take(&mut self.state.traps) {
            if code.text.contains(['$', '`']) || !self.bodies.is_empty() {
                self.note(finding::opaque("expansion", &code.text));
            }
            self.via.push("trap".to_owned());
            self.code(&code, "trap");
            self.via.pop();
        }
    }

    pub(super) fn substituted(&mut self, script: &Script) -> StreamData {
        if self.is_exhausted_by_step() {
            return StreamData::with_unknown_content();
        }
        self.depth += 1;
        let into = self.redirected_to.take();
        let feed = self.in_subshell(|shell| match shell.file_alone(script) {
            Some(feed) => feed,
            None => shell.script(script),
        });
        self.redirected_to = into;
        self.depth -= 1;
        feed
    }

    fn file_alone(&mut self, script: &Script) -> Option<StreamData> {
        let [item] = script.as_slice() else { return None };
        let ([], [], [Redirect { direction: Direction::Read, target, .. }]) = item.simple()? else {
            return None;
        };
        let file = self.single(target);
        self.touch(&file, PathEffect::Read);
        Some(StreamData { file: true, ..StreamData::with_unknown_content() })
    }

    /// Returns the value of `$(…)`. For `$(echo src)` this is the text `src`. For `$(cat list)` it
    /// is unknown, with the origin `Output`, and for `$(curl -s URL)` with the origin `Download`.
    pub(super) fn output(&mut self, script: &Script) -> Vec<WordPiece> {
        let feed = self.substituted(script);
        let origin = feed.origin();
        match feed.pieces {
            Some(mut pieces) if origin.is_none() => {
                if let Some(WordPiece::Text(text)) = pieces.last_mut() {
                    text.truncate(text.trim_end_matches('\n').len());
                }
                pieces
            }
            _ => Arg::unknown("$(…)", origin.unwrap_or(WordOrigin::Output)).pieces,
        }
    }

    fn command(&mut self, command: &ShellCommand, feed: StreamData) -> StreamData {
        if self.is_exhausted_by_step() {
            return StreamData::with_unknown_content();
        }
        self.depth += 1;
        let mut stdin = feed;
        let (mut away, mut into, mut sends) = (false, None, false);
        let first = self.out.commands.len();
        // Without the file that it reads, the command does not run.
        let reads = |redirect: &Redirect| redirect.direction == Direction::Read;
        let skipped = command.redirects.iter().any(reads).then(|| self.state.clone());
        // The output goes where that of the enclosing command goes.
        let outer = self.redirected_to.take();
        for redirect in &command.redirects {
            match self.redirect(redirect) {
                Redirected::In(feed) if redirect.named => {
                    self.lasting.descriptors.insert(NAMED_DESCRIPTOR, feed);
                }
                Redirected::In(feed) => match redirect.number {
                    Some(number) if number > 2 => {
                        drop(self.lasting.descriptors.insert(number, feed))
                    }
                    _ => stdin = feed,
                },
                Redirected::Away => {
                    let target = self.redirected_to.take();
                    if target.as_deref().is_some_and(is_socket) {
                        sends = true;
                        self.lasting.sockets.extend(redirect.number);
                    }
                    if redirect.output {
                        away = true;
                        into = target;
                    }
                }
                Redirected::Nothing => {}
            }
        }
        self.redirected_to.clone_from(if away { &into } else { &outer });
        let mut out = match &command.kind {
            Kind::Simple { assigns, words } => self.simple(assigns, words, stdin),
            other => {
                let stdin = self.input_or_enclosing(stdin);
                let before = std::mem::replace(&mut self.stdin, stdin);
                let out = self.run_compound(other);
                self.stdin = before;
                out
            }
        };
        self.redirected_to = outer;
        self.depth -= 1;
        self.merge_with(skipped);
        if away {
            self.hide(first);
        }
        let shells = self.out.commands.iter().skip(first).any(|call| {
            call.program.as_deref().is_some_and(|name| table::holds("posixshells", name))
        });
        if sends && shells {
            self.note(finding::destructive_rule("network.shell", "/dev/tcp"));
        }
        if sends && out.may_hold_secret() {
            self.note(judge::sent("/dev/tcp"));
        }
        if away {
            if out.may_hold_secret() {
                self.lasting.secrets.extend(into.clone());
            }
            if out.download {
                self.lasting.fetched.extend(into.clone());
            }
            let appends =
                |redirect: &Redirect| redirect.output && redirect.direction == Direction::Append;
            if let Some(file) = into {
                self.wrote(file, &out, command.redirects.iter().any(appends));
            }
            out = StreamData::default();
        }
        out
    }

    /// Keeps what a file contains now, if it is known. To run the file is to run that.
    pub(super) fn wrote(&mut self, file: String, data: &StreamData, appends: bool) {
        let written = &mut self.lasting.written;
        let before = written.remove(&file).filter(|_| appends);
        let mut pieces = before.and_then(|before| before.pieces).unwrap_or_default();
        let added = data.pieces.clone().unwrap_or_default();
        // Every round of a loop may append the same text. One of them shows what it does.
        if !pieces.ends_with(&added) {
            pieces.extend(added);
        }
        if !pieces.is_empty() && pieces.len() <= MAX_PIECES {
            let data = StreamData { pieces: Some(pieces), present: true, ..data.clone() };
            written.insert(file, data);
        }
    }

    fn run_compound(&mut self, kind: &Kind) -> StreamData {
        match kind {
            Kind::Group(script) => return self.script(script),
            Kind::Subshell(script) => return self.in_subshell(|shell| shell.script(script)),
            Kind::Coproc(command) => {
                self.out.background = true;
                return self.in_subshell(|shell| shell.command(command, StreamData::default()));
            }
            Kind::Simple { assigns, words } => {
                return self.simple(assigns, words, StreamData::default());
            }
            Kind::Function { name, body } => self.define(name, body),
            Kind::Test(words) => self.check_test_words(words),
            Kind::Arithmetic(word) => self.check_arithmetic(word),
            Kind::Branches(parts) => self.branches(parts),
            Kind::Loop(parts) => self.walk_loop(parts),
            Kind::For { variable, over, body } => self.walk_rounds(variable, over, body),
            Kind::Case { subject, arms } => self.arms(subject, arms),
        }
        let silent = matches!(kind, Kind::Function { .. } | Kind::Test(_) | Kind::Arithmetic(_));
        StreamData { present: !silent, ..StreamData::default() }
    }

    fn define(&mut self, name: &str, body: &ShellCommand) {
        self.bodies.push((name.to_owned(), starts(body)));
        if multiplies(name, &self.bodies) {
            self.note(finding::destructive_rule("fork-bomb", name));
        }
        self.state.functions.retain(|known| known.name != name);
        self.state.functions.push(Function {
            name: name.to_owned(),
            body: Rc::new(body.clone()),
            called: false,
            sure: true,
        });
    }

    pub(super) fn alias(&mut self, name: &str, text: Arg) {
        self.state.aliases.push(Alias { name: name.to_owned(), text, used: false, busy: false });
    }

    pub(super) fn busy(&mut self, name: &str, busy: bool) {
        for alias in self.state.aliases.iter_mut().filter(|alias| alias.name == name) {
            alias.busy = busy;
        }
    }

    /// Judges functions and aliases that were never called, because the shell in which they are
    /// defined may go on running.
    fn judge_uncalled(&mut self) {
        for function in self.state.functions.clone() {
            if !function.called {
                self.command(&function.body, StreamData::default());
            }
        }
        for alias in self.state.aliases.clone() {
            if !alias.used {
                self.code(&alias.text, "alias");
            }
        }
    }

    fn simple(&mut self, assigns: &[Assign], words: &[Word], stdin: StreamData) -> StreamData {
        let alone = words.is_empty();
        let builtin =
            words.first().and_then(Word::as_plain_text).is_some_and(|name| parse::declares(&name));
        let before = (!alone && !assigns.is_empty()).then(|| self.state.variables.clone());
        // The words of a declaring builtin, such as `export`, are all expanded before any variable
        // is set.
        let mut args: Vec<Arg> = Vec::new();
        if builtin {
            args.extend(words.iter().flat_map(|word| self.fields(word)));
        }
        let declares = |name: &Arg| name.is_any_of(&["local", "declare", "typeset"]);
        let local = args.first().is_some_and(declares)
            && !args.iter().any(|arg| arg.looks_like_option() && arg.lead.contains('g'));
        for assign in assigns {
            if local && assign.operand {
                self.make_local(&assign.name);
            }
            if !assign.operand || assign.elements.is_some() {
                self.assign(assign, alone);
            }
        }
        if !builtin {
            args.extend(words.iter().flat_map(|word| self.fields(word)));
        }
        let declared = args.first().and_then(Arg::literal).is_some_and(parse::declares);
        let stdin = self.input_or_enclosing(stdin);
        let out = match args.is_empty() {
            true => StreamData::default(),
            false => self.run_by_name(args, words, stdin),
        };
        if let Some(before) = before.filter(|_| !declared) {
            self.state.variables = before;
        }
        out
    }

    fn assign(&mut self, assign: &Assign, alone: bool) {
        let index = assign.index.trim_matches(['[', ']']);
        if !self.is_index(index) {
            self.note_unfollowed(&format!("{}{}", assign.name, assign.index));
        }
        if let Some(elements) = &assign.elements {
            let values: Vec<Vec<WordPiece>> =
                elements.iter().flat_map(|word| self.fields(word)).map(|arg| arg.pieces).collect();
            for word in elements.iter().filter(|word| word.raw.starts_with('[')) {
                let index = word.raw[1..].split(']').next().unwrap_or_default().to_owned();
                if !self.is_index(&index) {
                    self.note_unfollowed(&word.raw);
                }
            }
            self.check_assigned(&assign.name);
            let before = self.known_elements(&assign.name).filter(|_| assign.append);
            let elements = [before.cloned().unwrap_or_default(), values].concat();
            return self.set_elements(&assign.name, elements);
        }
        let mut value = self.value(&assign.value);
        if assign.append {
            let name = format!("{}{}", assign.name, assign.index);
            let mut before = self.variable(&name).unwrap_or_default();
            before.append(&mut value);
            value = before;
        }
        judge::assigned(self, &assign.name, &value, alone);
        let literal = Arg::from_pieces(&value);
        match alone {
            true => self.check_assigned(&assign.name),
            false => self.check_exported(&assign.name, literal.literal()),
        }
        match index {
            "" => self.set(&assign.name, value),
            index => self.set_element(&assign.name, index, value),
        }
    }

    fn run_by_name(&mut self, args: Vec<Arg>, words: &[Word], stdin: StreamData) -> StreamData {
        let name = args[0].literal().unwrap_or_default().to_owned();
        let found = self.state.functions.iter_mut().filter(|known| known.name == name);
        // Branches may have defined several functions of the same name.
        let called: Vec<(Function, bool)> = found
            .map(|function| {
                let again = std::mem::replace(&mut function.called, true);
                (function.clone(), again)
            })
            .collect();
        let mut out = None;
        // If no definition is certain, the name may also mean the program.
        let sure = called.iter().any(|(function, _)| function.sure);
        for (function, again) in called {
            if again && self.depth > MAX_RECURSION {
                return StreamData::with_unknown_content();
            }
            let given = args[1..].iter().map(|arg| arg.pieces.clone()).collect();
            let before = self.state.arguments.take();
            self.set_arguments(given);
            self.state.locals.push(Vec::new());
            out = Some(
                self.with_returns_merged(|shell| shell.command(&function.body, stdin.clone())),
            );
            self.state.arguments = before;
            for (name, value) in self.state.locals.pop().unwrap_or_default().into_iter().rev() {
                self.state.variables.remove(&name);
                self.state.variables.extend(value.map(|value| (name, value)));
            }
        }
        if let Some(out) = out {
            if !sure {
                self.run(args, stdin);
            }
            return out;
        }
        let bare = words.first().is_some_and(|word| word.raw == name);
        let aliases = self.state.aliases.iter_mut();
        let meant = aliases.filter(|known| bare && known.name == name && !known.busy);
        // The last definition counts. In a function, it is the last one before that function.
        let texts: Vec<Arg> = meant
            .map(|alias| {
                alias.used = true;
                alias.text.clone()
            })
            .collect();
        for text in texts {
            let rest: Vec<&str> = words[1..].iter().map(|word| word.raw.as_str()).collect();
            let own = text.text.split_whitespace().next() == Some(name.as_str());
            let whole = match text.sure && !own {
                true => Arg::with_known_text(format!("{} {}", text.text, rest.join(" "))),
                false => text,
            };
            self.busy(&name, true);
            self.code(&whole, &name);
            self.busy(&name, false);
        }
        // A shell that runs a script expands no aliases by default, so the program is judged as
        // well.
        self.run(args, stdin)
    }

    pub(super) fn run(&mut self, args: Vec<Arg>, stdin: StreamData) -> StreamData {
        if args.is_empty() || self.is_exhausted_by_step() {
            return StreamData::with_unknown_content();
        }
        self.check_builtin(&args);
        if args[0].is_word("return") {
            self.returned.push(self.state.clone());
        }
        self.depth += 1;
        let (at, folders) = (self.out.commands.len(), self.acting_in(&args));
        let judged = judge::program(self, &args, stdin);
        self.depth -= 1;
        let judge::JudgedProgram { program, finding, out, wrapper } = judged;
        if finding.class != Class::Read {
            keep(&mut self.out.folders, folders);
        }
        if !wrapper {
            self.add_started_program(at, program, &args, &finding);
        }
        self.note(finding);
        out
    }

    /// Walks shell code that the program `by` runs. If the code is not known, its origin decides
    /// the finding:
    ///
    /// - `sh -c "$x"`, with a variable that the text does not set, is unreadable.
    /// - `sh -c "$(cat a.sh)"` is opaque.
    /// - `sh -c "$(curl -s URL)"` is destructive.
    pub(super) fn code(&mut self, code: &Arg, by: &str) -> StreamData {
        if let Some(found) = finding::unseen(code.origin, &code.text) {
            self.note(found);
            return StreamData::with_unknown_content();
        }
        let Some(origin) = code.origin.filter(|_| code.lead.trim().is_empty()) else {
            return self.text(&code.text);
        };
        self.note(match origin {
            WordOrigin::Variable => finding::unreadable_rule("code.unknown", &code.text),
            _ => {
                let reason = format!("`{by}` runs what another program prints.");
                ShellFinding::new(Class::Opaque, "code.output", &code.text, &reason)
            }
        });
        StreamData::with_unknown_content()
    }

    pub(super) fn text(&mut self, text: &str) -> StreamData {
        if self.is_exhausted_by_step() {
            return StreamData::with_unknown_content();
        }
        match parse::parse(text, self.depth) {
            Ok(script) => {
                self.depth += 1;
                let out = self.script(&script);
                self.depth -= 1;
                out
            }
            Err(error) => {
                self.note(ShellFinding::new(Class::Unreadable, "syntax", "", &sentence(&error)));
                StreamData::with_unknown_content()
            }
        }
    }

    /// Runs `inside` and returns its most severe finding, without adding it to the findings so far.
    pub(super) fn worst_inside<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> T,
    ) -> Option<ShellFinding> {
        let before = self.worst.take();
        inside(self);
        std::mem::replace(&mut self.worst, before)
    }

    pub(super) fn judge_inner_code(&mut self, by: &str, code: &str) -> Option<ShellFinding> {
        self.in_process(by, |shell| shell.text(code))
    }

    pub(super) fn started_by(&mut self, by: &str, args: Vec<Arg>) -> Option<ShellFinding> {
        self.in_process(by, |shell| shell.run(args, StreamData::default()))
    }

    /// Like [`Self::within`], but `inside` runs as another process, which `by` starts. Its
    /// variables and its folder are dropped afterwards, unless `by` is a builtin that starts no
    /// process.
    pub(super) fn in_process<T>(
        &mut self,
        by: &str,
        inside: impl FnOnce(&mut Self) -> T,
    ) -> Option<ShellFinding> {
        self.via.push(by.to_owned());
        let found = self.worst_inside(|shell| match by {
            "command" | "builtin" => inside(shell),
            "source" | "." => shell.with_returns_merged(inside),
            _ => shell.in_subshell(|shell| {
                shell.state.inherit();
                inside(shell)
            }),
        });
        self.via.pop();
        found
    }

    /// Runs `inside`, and merges the states of each `return` in it with the state at its end.
    fn with_returns_merged<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::take(&mut self.returned);
        let done = inside(self);
        for end in std::mem::replace(&mut self.returned, before) {
            self.merge_with(Some(end));
        }
        done
    }

    pub(super) fn with_input<T>(
        &mut self,
        arguments: Vec<Vec<WordPiece>>,
        stdin: StreamData,
        inside: impl FnOnce(&mut Self) -> T,
    ) {
        let arguments = self.state.arguments.replace(arguments);
        let stdin = std::mem::replace(&mut self.stdin, stdin);
        inside(self);
        self.state.arguments = arguments;
        self.stdin = stdin;
    }
}

/// Returns true if a command is in one of these lists of programs that succeed, or only assigns
/// values. What follows it after `&&` is taken to run: in `cd a && cd b; rm c`, the file `a/b/c` is
/// deleted. In `make && cd b; rm c`, the folder is not known, because `make` may fail.
fn succeeds(item: &Pipeline, lists: &[&str]) -> bool {
    let Some((assigns, words, redirects)) = item.simple().filter(|_| !item.negated) else {
        return false;
    };
    if redirects.iter().any(|redirect| redirect.direction == Direction::Read) {
        return false;
    }
    match words.first() {
        Some(name) => {
            let name = name.as_plain_text().unwrap_or_default();
            lists.iter().any(|list| table::holds(list, &name))
        }
        // The result of an assignment is that of its last substitution.
        None => assigns.iter().flat_map(|assign| &assign.value.parts).all(|part| match part {
            parse::Part::Command { script, .. } => {
                script.last().is_none_or(|item| succeeds(item, lists))
            }
            _ => true,
        }),
    }
}
