//! Judges programs that delete files: `rm` and similar programs, and `find`.

use super::files::write;
use super::options::{has_any, has_option, operands};
use super::{
    Arg, Class, Location, PathEffect, ProgramCall, Shell, ShellFinding, StreamData, WordPiece,
    destructive, destructive_rule, located_path, opaque, reads, rules, tried_program, writes,
};
use crate::TouchedPath;
use crate::argument::with_placeholder_filled;
use crate::places::is_made_again;
use crate::table::list;

pub(super) fn remove(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let deep = rules::line(call.name).is_some_and(|row| row.has_flag("deep"));
    let recursive = deep || has_option(call.args, &["-r", "-R", "--recursive"]);
    let victims = operands(call.args, &[]);
    if has_option(call.args, &["--no-preserve-root"]) {
        for victim in victims {
            shell.touch_all(victim, PathEffect::Delete, recursive);
        }
        let reason = "It asks for the root of the file system to be deleted.";
        return destructive("rm.root", "--no-preserve-root", reason);
    }
    if victims.is_empty() {
        return opaque("rm.nothing", call.name);
    }
    let mut worst = writes("rm.file", call.name);
    let deletions = victims.into_iter().map(|victim| judge_deletion(shell, victim, recursive));
    worst.raise_all(deletions);
    worst
}

pub(super) fn judge_deletion(shell: &mut Shell, victim: &Arg, recursive: bool) -> ShellFinding {
    let word = victim.text.as_str();
    let (rule, reason) = match shell.touch_all(victim, PathEffect::Delete, recursive).location {
        Location::Nothing | Location::Temp | Location::Made => {
            ("rm.made", "It deletes generated or temporary files.")
        }
        Location::Inside if recursive && !(victim.sure && file_name(word)) => {
            return destructive_rule("rm.recursive", word);
        }
        Location::Inside if !victim.sure => return destructive_rule("rm.glob", word),
        Location::Inside => ("rm.file", "It deletes one named file."),
        Location::Root => return destructive_rule("rm.root", word),
        Location::Home => return destructive_rule("rm.home", word),
        Location::TempRoot => return destructive_rule("rm.temp", word),
        Location::Device | Location::System => return destructive_rule("rm.system", word),
        Location::Outside => return destructive_rule("rm.outside", word),
        Location::Whole => return destructive_rule("rm.workspace", word),
        Location::Control => return destructive_rule("rm.control", word),
        Location::Unknown => return destructive_rule("rm.unknown", word),
    };
    ShellFinding::new(Class::Write, rule, word, reason)
}

/// Returns true if a name is certainly that of a file, because it has an ending that folders do not
/// have.
pub(super) fn file_name(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| list("fileendings").contains(&end))
}

pub(super) fn empty_folder(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    for arg in operands(call.args, &[]) {
        shell.touch_all(arg, PathEffect::Delete, false);
    }
    ShellFinding::new(Class::Write, "rmdir", call.name, "It deletes folders that are empty.")
}

/// Judges `shred`, `srm` and `wipe`, after which nothing can be recovered.
pub(super) fn shred(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let victims = operands(call.args, &["-n", "-s", "--iterations", "--size"]);
    let deep = has_option(call.args, &["-r"]);
    let mut delete = |victim| shell.touch_all(victim, PathEffect::Delete, deep).location;
    let spots: Vec<Location> = victims.into_iter().map(&mut delete).collect();
    if !spots.is_empty() && spots.iter().all(|location| *location == Location::Temp) {
        return writes("shred", call.name);
    }
    destructive_rule("shred", &call.shown_words(2))
}

/// Judges `find`. Its tests only read; `-delete`, `-exec` and `-fprint` do more.
pub(super) fn find(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let starts: Vec<&Arg> = past_early(call.args)
        .iter()
        .take_while(|arg| !arg.lead.starts_with('-') && !arg.is_word("(") && !arg.is_word("!"))
        .collect();
    let here = Arg::with_known_text(".");
    let starts = if starts.is_empty() { vec![&here] } else { starts };
    // A value that is not known may be an action such as `-delete` or `-exec`.
    let free = call.args.iter().enumerate().any(|(at, arg)| {
        let valued = at > 0 && call.args[at - 1].lead.starts_with('-');
        arg.may_split || !arg.sure && arg.lead.is_empty() && (arg.glob || !valued)
    });
    let mut worst = if free { opaque("program.value", "find").inspects() } else { reads("find") };
    let mut at = 0;
    while at < call.args.len() {
        let option = call.args[at].lead.as_str();
        if option == "-delete" {
            worst.raise(deletes(shell, &call.args[..at], &starts));
        } else if ["-fprint", "-fls", "-fprintf", "-fprint0"].contains(&option) {
            worst.raise(call.args.get(at + 1).map(|file| write(shell, file)));
        } else if ["-exec", "-execdir", "-ok", "-okdir"].contains(&option) {
            let rest = &call.args[at + 1..];
            let ends = rest.iter().position(|arg| arg.is_any_of(&[";", "+"]));
            let end = ends.unwrap_or(rest.len());
            worst.raise(judge_command_of_find(shell, &call.args[..at], &rest[..end], &starts));
            at += end;
        }
        at += 1;
    }
    worst
}

/// Returns the arguments after options such as `-L`, which come before the folders to start in.
fn past_early(args: &[Arg]) -> &[Arg] {
    let early = |arg: &&Arg| arg.is_any_of(&["-H", "-L", "-P"]);
    &args[args.iter().take_while(early).count()..]
}

/// Judges the command that `find` runs for every file that passes the tests before it. `{}` stands
/// for the path of the file.
fn judge_command_of_find(
    shell: &mut Shell,
    tests: &[Arg],
    command: &[Arg],
    starts: &[&Arg],
) -> ShellFinding {
    if command.is_empty() {
        return opaque("find.exec", "find");
    }
    let names = names(tests);
    let mut worst = reads("find");
    for start in starts {
        let args: Vec<Arg> =
            command.iter().map(|arg| with_found_name(arg, start, &names)).collect();
        worst.raise(shell.started_by("find", args));
    }
    worst
}

fn has_any_word(args: &[Arg], words: &[&str]) -> bool {
    args.iter().any(|arg| arg.is_any_of(words))
}

const OR: [&str; 3] = ["-o", "-or", ","];

/// Returns the patterns of `-name`, if every file that passes the tests matches one of them. Each
/// alternative needs a pattern, except those that end in `-prune`: what they cut off is not found.
fn names(tests: &[Arg]) -> Vec<String> {
    let named = |part: &[Arg]| has_any_word(part, &["-name", "-iname"]);
    let mut parts = tests.split(|arg| OR.iter().any(|or| arg.is_word(or)));
    let certain = parts.next_back().is_some_and(named)
        && parts.all(|part| named(part) || has_any_word(part, &["-prune"]));
    if !certain || has_any_word(tests, &["-not", "!"]) {
        return Vec::new();
    }
    super::options::values(tests, &["-name", "-iname"])
        .into_iter()
        .filter_map(|arg| arg.literal().map(str::to_owned))
        .collect()
}

/// Returns what `find` prints: some path below its first start, with the name that it searches for.
pub(super) fn printed_by_find(args: &[Arg]) -> Option<Vec<WordPiece>> {
    if has_any(args, &["-exec", "-execdir", "-printf", "-ls", "-delete", "-fprint"]) {
        return None;
    }
    let start = past_early(args).first().filter(|arg| !arg.lead.starts_with('-')).cloned();
    let start = start.unwrap_or_else(|| Arg::with_known_text("."));
    Some(with_found_name(&Arg::with_known_text("{}"), &start, &names(args)).pieces)
}

/// Replaces `{}` by a path below the start. Its name is the pattern of `-name`, or `*` if there are
/// several.
fn with_found_name(arg: &Arg, start: &Arg, names: &[String]) -> Arg {
    let name = match names {
        [first, ..] if names.iter().all(|name| is_made_again(name)) => first.clone(),
        [only] => only.clone(),
        _ => "*".to_owned(),
    };
    let mut path = start.pieces.clone();
    path.push(WordPiece::Glob(format!("/{name}")));
    with_placeholder_filled(arg, "{}", &Arg::from_pieces(&path))
}

fn deletes(shell: &mut Shell, tests: &[Arg], starts: &[&Arg]) -> ShellFinding {
    let names = names(tests);
    let empty_only = has_any_word(tests, &["-empty"])
        && !has_any_word(tests, &OR)
        && !has_any_word(tests, &["-not", "!"]);
    let made_only = !names.is_empty() && names.iter().all(|name| is_made_again(name));
    let mut worst = writes("find.delete", "find");
    for start in starts {
        let place = located_path(shell, start);
        let (path, effect) = (place.path, PathEffect::Delete);
        shell.target(TouchedPath { path, effect, known: false, recursive: true });
        let fine = match place.location {
            Location::Temp | Location::Made => true,
            Location::TempRoot => {
                made_only || !names.is_empty() || has_any(tests, &["-mtime", "-user"])
            }
            Location::Inside | Location::Whole => made_only || empty_only,
            _ => false,
        };
        if !fine {
            worst.raise(destructive_rule("find.delete", "-delete"));
        }
    }
    worst
}

/// Judges `fd`, `fd -x` and `fdfind -X`. Without a command to run, they only read.
pub(super) fn fd(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let runs = ["-x", "-X", "--exec", "--exec-batch"];
    let Some(at) = call.args.iter().position(|arg| runs.iter().any(|run| arg.is_word(run))) else {
        return rules::by_options(call);
    };
    let words = [&call.args[at + 1..], &[Arg::with_known_text("./*")]].concat();
    opaque("find.exec", call.name).most_severe(tried_program(shell, words, StreamData::default()))
}

pub(super) fn trash(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    for arg in operands(call.args, &[]) {
        shell.touch_all(arg, PathEffect::Delete, true);
    }
    if call.name == "trash-empty" {
        return destructive_rule("rm.trash", call.name);
    }
    writes("rm.trash", call.name)
}
