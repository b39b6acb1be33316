//! Judges what each program does: by the rows of the table, or by a function of its own if the
//! options decide.
//!
//! - `rules` reads the rows of the table, and `options` the options of a call.
//! - `wrappers` handles programs that start other programs, `code` those that are given code, and
//!   `scan` looks at code of other languages.
//! - `cmdlets` judges the commands of PowerShell and `cmd.exe`.
//! - `files`, `remove`, `git`, `network`, `sql` and `builtins` judge programs of one kind.
//! - `by_words` judges calls that the rows leave open, by their words.
//! - `output` predicts what a program prints, and `secrets` whether a secret leaves the machine.

mod builtins;
mod by_words;
mod cmdlets;
mod code;
mod files;
mod git;
mod network;
mod options;
mod output;
mod remove;
mod rules;
mod scan;
mod secrets;
mod sql;
mod wrappers;

pub(super) use builtins::assigned;
pub(super) use cmdlets::WindowsCall;
pub(super) use options::operands;
pub(super) use secrets::{is_secret, sent};

use std::rc::Rc;

use super::argument::{Arg, WordOrigin, WordPiece};
use super::finding::{
    ShellFinding, StreamData, decoded, destructive, destructive_rule, downloaded, inspects, opaque,
    reads, unreadable_rule, unseen, writes,
};
use super::mentions;
use super::own_commands::{self, OUR_NAMES};
use super::pattern::wild;
use super::places::{Location, located_path};
use super::simulation::Shell;
use super::table;
use super::{Class, PathEffect};

pub(super) struct ProgramCall<'c> {
    pub(super) name: &'c str,
    pub(super) args: &'c [Arg],
    pub(super) stdin: &'c StreamData,
}

impl ProgramCall<'_> {
    fn shown_words(&self, words: usize) -> String {
        let mut shown = self.name.to_owned();
        for arg in self.args.iter().take(words) {
            shown.push(' ');
            shown.push_str(&arg.text);
        }
        shown.chars().take(120).collect()
    }
}

pub(super) struct JudgedProgram {
    pub(super) program: Option<String>,
    pub(super) finding: ShellFinding,
    pub(super) out: StreamData,
    /// True if the program only started another one, which was judged separately.
    pub(super) wrapper: bool,
}

impl JudgedProgram {
    fn with_unknown_output(program: Option<String>, finding: ShellFinding) -> Self {
        Self { program, finding, out: StreamData::with_unknown_content(), wrapper: false }
    }
}

pub(super) fn is_downloaded_here(shell: &Shell, file: &Arg) -> bool {
    let place = located_path(shell, file);
    let kept = place.location != Location::Nothing;
    file.sure && kept && shell.lasting.fetched.contains(&place.path)
}

pub(super) fn program(shell: &mut Shell, args: &[Arg], stdin: StreamData) -> JudgedProgram {
    let first = &args[0];
    let Some(written) = first.literal() else { return unnamed_program(shell, args, &stdin) };
    let name = base(written);
    // The rows of the table have the short spelling of our commands.
    let short = OUR_NAMES.contains(&family(&name)).then(|| own_commands::short(&args[1..]));
    let args = short.as_deref().unwrap_or(&args[1..]);
    let call = ProgramCall { name: &name, args, stdin: &stdin };
    if written.contains('/') && is_downloaded_here(shell, first) {
        return JudgedProgram::with_unknown_output(Some(name), downloaded(written));
    }
    if written.contains('/')
        && let Some(feed) = shell.content_of(first)
    {
        let finding = code::written_script(shell, written, &feed);
        return JudgedProgram::with_unknown_output(Some(name), finding);
    }
    let leaks = ShellFinding::worst(secrets::leaks(shell, &call), network::hidden_program(&call));
    let tainted = secrets::prints(shell, &call);
    if !only_asks_for_help(&call)
        && let Some(finding) = wrappers::unwrap(shell, &call)
    {
        let finding = by_common_words(shell, &call, finding);
        let out = StreamData { tainted, ..output::output_of_call(shell, &call) };
        let finding = finding.most_severe(leaks);
        return JudgedProgram { program: None, finding, out, wrapper: true };
    }
    let mut finding = judged_program(shell, &call);
    if finding.class == Class::Read && !is_in_trusted_folder(written) {
        finding = opaque("program.path", written);
    }
    let is_open = ["program.unknown", "program.subcommand"].contains(&finding.rule);
    if is_open
        && finding.class == Class::Opaque
        && is_in_trusted_folder(written)
        && by_words::only_looks(&call, has_row(call.name))
    {
        finding = inspects(call.name);
    }
    if finding.class == Class::Read && !only_asks_for_help(&call) {
        rules::touch_shown_files(shell, &call);
    }
    if finding.class >= Class::Opaque && !finding.inspects {
        named_in_texts(shell, &call);
        named_in_words(shell, &call, &finding);
        let mounts = finding.rule == "disk.mount";
        finding.raise(whole_disk(shell, &call).filter(|_| !mounts));
    }
    finding = by_common_words(shell, &call, finding);
    if copies_us(&call) {
        finding = destructive_rule("intent.copy", &call.shown_words(2));
    }
    finding.raise(leaks);
    files::carry_content(shell, &call);
    let out = StreamData { tainted, ..output::output_of_call(shell, &call) };
    JudgedProgram { program: Some(name), finding, out, wrapper: false }
}

/// Judges what a program with unknown effects is asked to do, by words that mean the same for most
/// programs. Returns the more severe of this and `finding`.
fn by_common_words(shell: &Shell, call: &ProgramCall, finding: ShellFinding) -> ShellFinding {
    let device = |arg: &Arg| arg.is_any_of(&["/dev/zero", "/dev/urandom"]);
    let endless = call.name == "yes" || call.name == "cat" && call.args.iter().any(device);
    let file = shell.redirected_to.as_ref().filter(|path| !path.starts_with("/dev/"));
    if let Some(file) = file.filter(|_| endless) {
        return destructive_rule("disk.fill", file);
    }
    let rules = ["program.unknown", "program.subcommand", "program.looks", "network", "elsewhere"];
    if finding.class != Class::Opaque || !rules.contains(&finding.rule) {
        return finding;
    }
    let found =
        by_words::loses_data(call).or_else(|| by_words::widens(call).filter(|_| !finding.inspects));
    finding.most_severe(found)
}

fn whole_disk(shell: &Shell, call: &ProgramCall) -> Option<ShellFinding> {
    let words = operands(call.args, &[]);
    let disk =
        words.into_iter().find(|arg| located_path(shell, arg).location == Location::Device)?;
    Some(destructive_rule("disk", &disk.text))
}

/// Keeps the paths among the arguments of an unknown program, and touches those that its options
/// say it writes.
fn named_in_words(shell: &mut Shell, call: &ProgramCall, finding: &ShellFinding) {
    if finding.class != Class::Opaque || !finding.rule.starts_with("program.") {
        return;
    }
    for arg in call.args {
        let value = arg.lead.split_once('=').filter(|_| arg.looks_like_option());
        let value = value.map(|(name, _)| options::without_beginning(arg, name.len() + 1));
        let path = value.as_ref().unwrap_or(arg);
        if mentions::is_path(&path.text) {
            shell.handed_to(path);
        }
    }
    let outputs = options::values(call.args, &table::list("outputs"));
    let in_place = options::has_any(call.args, &table::list("inplace"));
    let changed = operands(call.args, &[]).into_iter().filter(|_| in_place);
    for arg in outputs.iter().chain(changed).filter(|arg| mentions::is_path(&arg.text)) {
        shell.touch(arg, PathEffect::Write);
    }
}

/// Touches the files of each patch in the input or the arguments, and keeps the paths in any other
/// text there.
fn named_in_texts(shell: &mut Shell, call: &ProgramCall) {
    let lines = call.args.iter().filter(|arg| arg.text.contains('\n')).map(|arg| arg.text.clone());
    for text in call.stdin.text().into_iter().chain(lines) {
        if !mentions::is_patch(&text) {
            shell.mention(&text);
            continue;
        }
        for path in mentions::files_of_patch_in(&text) {
            shell.touch(&Arg::with_known_text(path), PathEffect::Write);
        }
    }
}

/// Returns true if this program is copied, moved or linked. Under another name it would not be
/// recognised.
fn copies_us(call: &ProgramCall) -> bool {
    let ours = |arg: &Arg| {
        let name = arg.text.rsplit('/').next().unwrap_or_default();
        let name = name.strip_suffix(".exe").unwrap_or(name);
        OUR_NAMES.contains(&name) && (arg.text == name || arg.text.contains("bin/"))
    };
    ["cp", "mv", "ln", "install", "link", "rsync"].contains(&call.name)
        && call.args.len() > 1
        && call.args[..call.args.len() - 1].iter().any(ours)
}

/// Returns true if the shell looks the name up, or if the folder is one for installed programs.
fn is_in_trusted_folder(written: &str) -> bool {
    match written.rsplit_once('/') {
        Some((folder, _)) => table::holds("programfolders", folder),
        None => !written.contains('\\'),
    }
}

/// Returns the name that the table uses: without folder and `.exe`, and in lower case if all of it
/// is in capitals.
fn base(written: &str) -> String {
    let name = written.rsplit(['/', '\\']).next().unwrap_or(written);
    let plain = name.strip_suffix(".exe").or_else(|| name.strip_suffix(".EXE")).unwrap_or(name);
    let shouted = plain.len() > 1 && plain.chars().all(|c| !c.is_ascii_lowercase());
    if shouted { plain.to_ascii_lowercase() } else { plain.to_owned() }
}

/// Returns true if the program is only asked for its help or its version. After other words than
/// one subcommand, `--help` proves nothing: `sh -c CODE --help` runs the code.
fn only_asks_for_help(call: &ProgramCall) -> bool {
    let asks = |arg: &Arg| arg.is_word("--help") || arg.is_word("-help");
    match call.args {
        [only] if only.is_word("-V") => rules::destroyers().any(|name| name == family(call.name)),
        [only] => asks(only) || only.is_word("--version"),
        [verb, last] => {
            asks(last) && rules::is_subcommand(call.name, verb) && !wrappers::is_wrapper(call.name)
        }
        _ => false,
    }
}

fn judged_program(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if only_asks_for_help(call) && has_row(call.name) {
        return reads(call.name);
    }
    let mut rows = table::rows(family(call.name)).iter();
    let row = rows.find(|row| row.kind() == "judge");
    if let Some(judge) = row.and_then(|row| judge_called(row.word(1))) {
        return judge(shell, call);
    }
    if table::holds("requesters", call.name)
        && let Some(word) = by_words::requests_deletion(call.args)
    {
        return destructive_rule("http.delete", &word);
    }
    if let Some(finding) = rules::judge(call) {
        // For these programs, a word that is no subcommand names a program from a package.
        let runner = ["yarn", "pnpm", "bun"].contains(&call.name);
        if runner && finding.rule == "program.subcommand" {
            return finding.most_severe(unknown_program(shell, call));
        }
        let unfit = finding.rule == "program.subcommand";
        if let Some(found) = by_words::destroys(call, true).filter(|_| unfit) {
            return found;
        }
        return finding;
    }
    if let Some(finding) = files::judged_writer(shell, call) {
        return finding;
    }
    // On Windows, a host may send a PowerShell command as if it were one for a POSIX shell.
    if let Some(finding) = cmdlets::cmdlet_finding(shell, call) {
        return finding;
    }
    unknown_program(shell, call)
}

/// Returns the name without its version: `python3.12`, `lua5.4`, `mkfs.ext4`.
fn family(name: &str) -> &str {
    if name.starts_with("mkfs.") || name.starts_with("newfs_") {
        return "mkfs";
    }
    if name.starts_with("ld-linux") || name.starts_with("ld-musl") {
        return "ld-linux-x86-64.so.2";
    }
    if !table::rows(name).is_empty() {
        return name;
    }
    if let Some(script) = name.strip_suffix(".sh").filter(|name| has_row(name)) {
        return script;
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let versioned = ["python", "lua", "php", "ruby", "perl", "pypy"].contains(&plain);
    if versioned { plain } else { name }
}

type ProgramJudge = fn(&mut Shell, &ProgramCall) -> ShellFinding;

pub(super) fn judge_called(name: &str) -> Option<ProgramJudge> {
    Some(match name {
        "builtins::alias" => builtins::alias,
        "builtins::change_folder" => builtins::change_folder,
        "builtins::declare" => builtins::declare,
        "builtins::eval" => builtins::eval,
        "builtins::kill" => builtins::kill,
        "builtins::read_in" => builtins::read_in,
        "builtins::shift" => builtins::shift,
        "builtins::source" => builtins::source,
        "builtins::trap" => builtins::trap,
        "builtins::unset" => builtins::unset,
        "code::awk" => code::awk,
        "code::cmd" => code::cmd,
        "code::editor" => code::editor,
        "code::intent" => code::intent,
        "code::interpreter" => code::interpreter,
        "code::later" => code::later,
        "code::make" => code::make,
        "code::pager" => code::pager,
        "code::powershell" => code::powershell,
        "code::shell_program" => code::shell_program,
        "files::copy" => files::copy,
        "files::dd" => files::dd,
        "files::link" => files::link,
        "files::mkdir" => files::mkdir,
        "files::patch" => files::patch,
        "files::permit" => files::permit,
        "files::rename" => files::rename,
        "files::rsync" => files::rsync,
        "files::second" => files::second,
        "files::sed" => files::sed,
        "files::tar" => files::tar,
        "files::truncate" => files::truncate,
        "files::unzip" => files::unzip,
        "files::yq" => files::yq,
        "git::git" => git::git,
        "network::copy" => network::copy,
        "network::fetch" => network::fetch,
        "network::pipe_to_others" => network::pipe_to_others,
        "remove::empty_folder" => remove::empty_folder,
        "remove::fd" => remove::fd,
        "remove::find" => remove::find,
        "remove::remove" => remove::remove,
        "remove::shred" => remove::shred,
        "remove::trash" => remove::trash,
        "sql::judge" => sql::judge,
        _ => return None,
    })
}

pub(super) fn has_row(name: &str) -> bool {
    !table::rows(family(name)).is_empty()
}

/// Judges a program that has no row. If its arguments contain a destructive command, word by word
/// or as code, it is taken to run this command.
fn unknown_program(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let script = call.name;
    // A trial does not start further trials: nested unknown programs would take too long.
    let most = if shell.tentative { 0 } else { 12 };
    for (at, arg) in call.args.iter().enumerate().take(most) {
        let Some(word) = arg.literal() else { continue };
        let as_code = at > 0 && table::holds("codeoptions", &call.args[at - 1].text);
        let found = if as_code && word.contains(' ') {
            tried_text(shell, word)
        } else if table::holds("handed", family(&base(word))) && at + 1 < call.args.len() {
            tried_program(shell, call.args[at..].to_vec(), StreamData::default())
        } else {
            None
        };
        if let Some(found) = found.filter(|found| found.class == Class::Destructive) {
            return found;
        }
    }
    if let Some(found) = by_words::destroys(call, false) {
        return found;
    }
    let reason = format!("`{script}` is unknown, so its effects cannot be determined.");
    ShellFinding::new(Class::Opaque, "program.unknown", script, &reason)
}

fn tried_text(shell: &Shell, code: &str) -> Option<ShellFinding> {
    trial(shell, |shell| shell.text(code))
}

fn tried_program(shell: &Shell, words: Vec<Arg>, stdin: StreamData) -> Option<ShellFinding> {
    trial(shell, |shell| shell.run(words, stdin))
}

/// Runs `inside` on a new shell at the same place, and returns the most severe finding.
fn trial<T>(shell: &Shell, inside: impl FnOnce(&mut Shell) -> T) -> Option<ShellFinding> {
    let mut other = Shell::new(Rc::clone(&shell.at));
    other.state.cwd = shell.state.cwd.clone();
    other.elsewhere = shell.elsewhere;
    (other.depth, other.steps, other.tentative) = (shell.depth + 1, shell.steps, true);
    other.worst_inside(inside)
}

/// Judges these arguments with another program's name. Returns the finding if it is destructive.
fn judged_as(shell: &Shell, name: &str, args: &[Arg], stdin: StreamData) -> Option<ShellFinding> {
    let words = [&[Arg::with_known_text(name)], &args[1..]].concat();
    let found = tried_program(shell, words, stdin);
    found.filter(|found| found.class == Class::Destructive)
}

/// Judges a program whose name is not literal: a glob, or the value of a variable or a
/// substitution.
fn unnamed_program(shell: &mut Shell, args: &[Arg], stdin: &StreamData) -> JudgedProgram {
    let name = &args[0];
    let finding = match unseen(name.origin, &name.text) {
        Some(found) => found,
        None if name.glob && name.origin.is_none() => judged_globs(shell, args, stdin),
        None => by_arguments(shell, args),
    };
    JudgedProgram::with_unknown_output(None, finding)
}

/// Judges a glob such as `/bin/r?` as the most dangerous program that it may match.
fn judged_globs(shell: &mut Shell, args: &[Arg], stdin: &StreamData) -> ShellFinding {
    let pattern = base(&args[0].text);
    for name in rules::destroyers().filter(|name| wild(&pattern, name)) {
        if let Some(found) = judged_as(shell, name, args, stdin.clone()) {
            let word = args[0].text.clone();
            let reason = format!("The name `{word}` may mean `{name}`: {}", found.reason);
            return ShellFinding { word, reason, ..found };
        }
    }
    unreadable_rule("program.glob", &args[0].text)
}

/// Judges a program whose name is not known by its arguments: `$cmd -rf /` looks like `rm`.
fn by_arguments(shell: &mut Shell, args: &[Arg]) -> ShellFinding {
    if let Some(WordPiece::Text(end)) = args[0].pieces.last()
        && let Some((_, program)) = end.rsplit_once('/')
        && !program.is_empty()
        && let Some(found) = judged_as(shell, program, args, StreamData::with_unknown_content())
    {
        return found;
    }
    let forces = |arg: &Arg| {
        let letters = arg.lead.strip_prefix('-').unwrap_or_default();
        letters.contains(['r', 'R']) && letters.chars().all(|c| "rRfvidI".contains(c))
    };
    if args[1..].iter().any(forces) && args.len() > 2 {
        let call = ProgramCall {
            name: "rm",
            args: &args[1..],
            stdin: &StreamData::with_unknown_content(),
        };
        if remove::remove(shell, &call).class == Class::Destructive {
            return destructive_rule("program.hidden", &args[0].text);
        }
    }
    let reason = "Which program is started depends on a value that is not known here.";
    ShellFinding::new(Class::Opaque, "program.variable", &args[0].text, reason)
}

pub(super) fn judged_redirection(
    shell: &mut Shell,
    arg: &Arg,
    append: bool,
) -> Option<ShellFinding> {
    let place = located_path(shell, arg);
    if !arg.text.starts_with("/dev/") || place.location == Location::Device {
        shell.touch(arg, PathEffect::Write);
    }
    let device = arg.text.starts_with("/dev/");
    match place.location {
        Location::Nothing => return None,
        Location::Device => return Some(destructive_rule("redirect.device", &arg.text)),
        Location::System | Location::Root if !device => {
            return Some(destructive_rule("redirect.system", &arg.text));
        }
        Location::Outside if device => return Some(opaque("redirect.network", &arg.text)),
        Location::Outside
            if is_in_folder_of_keys(&place.path) || !append && is_startup_file(&place.path) =>
        {
            return Some(destructive_rule("redirect.account", &arg.text));
        }
        _ => {}
    }
    shell.touch(arg, PathEffect::Write);
    let reason = "A redirection writes the file.";
    Some(ShellFinding::new(Class::Write, "redirect", &arg.text, reason))
}

pub(super) fn is_startup_file(path: &str) -> bool {
    is_in_folder_of_keys(path)
        || table::holds("startupfiles", path.rsplit('/').next().unwrap_or_default())
}

/// Returns true for files in folders of keys, such as `.ssh`, which also decide who may log in.
fn is_in_folder_of_keys(path: &str) -> bool {
    path.split('/').any(|part| table::holds("keyfolders", part))
}

#[cfg(test)]
pub(super) use wrappers::examples;
