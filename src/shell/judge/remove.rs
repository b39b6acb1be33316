//! Deleting: `rm` and its kin, and `find`.

use super::options::{any, long, operands, short};
use super::{ProgramCall, destructive, opaque, reads, rules, trial, writes};
use crate::shell::expand::{Arg, WordPiece};
use crate::shell::paths::{self, OwnedPath, Spot, made, place};
use crate::shell::table::list;
use crate::shell::walk::{Feed, Shell, ShellFinding};
use crate::shell::{Class, PathDeed, TouchedPath};

const SAFER: &str = "Name the files one by one, or move them to a folder for temporary files.";

/// `rm`, `unlink`, and `rimraf`, which is recursive without saying so.
pub(super) fn remove(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let deep = rules::line(call.name).is_some_and(|row| row.flag("deep"));
    let recursive =
        deep || short(call.args, 'r') || short(call.args, 'R') || long(call.args, "--recursive");
    let victims = operands(call.args, &[]);
    if long(call.args, "--no-preserve-root") {
        delete_all(shell, &victims, recursive);
        let reason = "It asks for the root of the file system to be deleted.";
        return destructive("rm.root", "--no-preserve-root", reason);
    }
    let mut worst = writes("rm.file", call.name);
    if victims.is_empty() {
        return opaque("rm.nothing", call.name);
    }
    for victim in victims {
        let found = one(shell, victim, recursive);
        worst = worst.or(found);
    }
    worst
}

fn delete_all(shell: &mut Shell<'_>, victims: &[&Arg], recursive: bool) {
    for victim in victims {
        let place = place(shell, victim);
        delete(shell, &place, recursive);
    }
}

fn delete(shell: &mut Shell<'_>, place: &OwnedPath, recursive: bool) {
    if place.spot != Spot::Nothing {
        let OwnedPath { path, known, .. } = place.clone();
        shell.target(TouchedPath { path, deed: PathDeed::Delete, known, recursive });
    }
}

/// One path that would be deleted.
pub(in crate::shell) fn one(shell: &mut Shell<'_>, victim: &Arg, recursive: bool) -> ShellFinding {
    let place = place(shell, victim);
    delete(shell, &place, recursive);
    let word = victim.text.as_str();
    let lost = |rule, reason: &str| destructive(rule, word, reason).safer(SAFER);
    match place.spot {
        Spot::Nothing | Spot::Temp | Spot::Made => ShellFinding::new(
            Class::Write,
            "rm.made",
            word,
            "It deletes what is made again, or temporary.",
        ),
        Spot::Root => lost("rm.root", "It deletes from the root of the file system."),
        Spot::Home => lost("rm.home", "It deletes the home folder."),
        Spot::TempRoot => lost("rm.temp", "It deletes the temporary files of every program."),
        Spot::Device | Spot::System => lost("rm.system", "It deletes what the system needs."),
        Spot::Outside => lost("rm.outside", "It deletes outside of the workspace."),
        Spot::Whole => lost("rm.workspace", "It deletes the workspace itself."),
        Spot::Control => lost("rm.control", "It deletes the state of git or of this gate."),
        Spot::Unknown => {
            lost("rm.unknown", "What it deletes depends on a value that is not known here.")
        }
        Spot::Inside if recursive && !(victim.sure && file_name(word)) => lost(
            "rm.recursive",
            "It deletes a folder with everything below it, also what git does not hold.",
        ),
        Spot::Inside if !victim.sure => lost(
            "rm.glob",
            "It deletes every file that fits a pattern, also what git does not hold.",
        ),
        Spot::Inside => {
            ShellFinding::new(Class::Write, "rm.file", word, "It deletes one named file.")
        }
    }
}

/// Whether a name is surely a file's: with an ending that folders do not have.
pub(super) fn file_name(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| list("fileendings").contains(&end))
}

/// `rmdir`: only what is empty.
pub(super) fn empty_folder(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    for arg in operands(call.args, &[]) {
        let place = place(shell, arg);
        delete(shell, &place, false);
    }
    ShellFinding::new(Class::Write, "rmdir", call.name, "It deletes folders that are empty.")
}

/// `shred`, `srm`, `wipe`: nothing comes back.
pub(super) fn shred(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let victims = operands(call.args, &["-n", "-s", "--iterations", "--size"]);
    delete_all(shell, &victims, short(call.args, 'r'));
    let all_temp =
        !victims.is_empty() && victims.iter().all(|arg| place(shell, arg).spot == Spot::Temp);
    if all_temp {
        return writes("shred", call.name);
    }
    destructive("shred", &call.shown(2), "It overwrites files so that nothing comes back.")
        .safer(SAFER)
}

/// `find`: its tests only read; `-delete`, `-exec` and `-fprint` do not.
pub(super) fn find(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let starts: Vec<&Arg> = call
        .args
        .iter()
        .take_while(|arg| !arg.lead.starts_with('-') && !arg.is("(") && !arg.is("!"))
        .collect();
    let here = Arg::known(".");
    let starts = if starts.is_empty() { vec![&here] } else { starts };
    // A value that is not known may be a word that deletes or runs.
    let free = call.args.iter().enumerate().any(|(at, arg)| {
        let valued = at > 0 && call.args[at - 1].lead.starts_with('-');
        arg.many || !arg.sure && arg.lead.is_empty() && (arg.glob || !valued)
    });
    let mut worst = if free { opaque("program.value", "find").looks() } else { reads("find") };
    if any(call.args, &["-delete"]) {
        worst = worst.or(deletes(shell, call.args, &starts));
    }
    let mut at = 0;
    while at < call.args.len() {
        let option = call.args[at].lead.as_str();
        if ["-fprint", "-fls", "-fprintf", "-fprint0"].contains(&option) {
            if let Some(file) = call.args.get(at + 1) {
                worst = worst
                    .or(super::redirected(shell, file, false).unwrap_or_else(|| reads("find")));
            }
        } else if ["-exec", "-execdir", "-ok", "-okdir"].contains(&option) {
            let rest = &call.args[at + 1..];
            let end = rest.iter().position(|arg| arg.is(";") || arg.is("+")).unwrap_or(rest.len());
            let found = each(shell, call, &rest[..end], &starts);
            worst = worst.or(found);
            at += end;
        }
        at += 1;
    }
    worst
}

/// What is run for every file found: `{}` is one of them.
fn each(
    shell: &mut Shell<'_>,
    call: &ProgramCall<'_>,
    command: &[Arg],
    starts: &[&Arg],
) -> ShellFinding {
    if command.is_empty() {
        return opaque("find.exec", "find");
    }
    let names = names(call.args);
    let mut worst = reads("find");
    for start in starts {
        let args: Vec<Arg> = command.iter().map(|arg| filled(arg, start, &names)).collect();
        let found = shell.within(|shell| {
            shell.process("find", |shell| {
                shell.run(args, Feed::default());
            });
        });
        worst = worst.worse(found);
    }
    worst
}

/// The patterns of `-name`, when every file that is found fits one.
fn names(args: &[Arg]) -> Vec<String> {
    if any(args, &["-not", "!"]) || args.iter().any(|arg| arg.is("!")) {
        return Vec::new();
    }
    super::options::values(args, &["-name", "-iname"])
        .into_iter()
        .filter_map(|arg| arg.literal().map(str::to_owned))
        .collect()
}

/// What `find` prints: some path below its first start, with the name that it looks for.
pub(super) fn printed(args: &[Arg]) -> Option<Vec<WordPiece>> {
    if any(args, &["-exec", "-execdir", "-printf", "-ls", "-delete", "-fprint"]) {
        return None;
    }
    let start = args.first().filter(|arg| !arg.lead.starts_with('-')).cloned();
    let start = start.unwrap_or_else(|| Arg::known("."));
    Some(filled(&Arg::known("{}"), &start, &names(args)).pieces)
}

/// `{}` replaced by what it may be: a path below the start whose name is made again, or any.
fn filled(arg: &Arg, start: &Arg, names: &[String]) -> Arg {
    if !arg.text.contains("{}") || !arg.sure {
        return arg.clone();
    }
    let name = match names {
        [first, ..] if names.iter().all(|name| made(name)) => first.clone(),
        [only] => only.clone(),
        _ => "*".to_owned(),
    };
    let mut pieces = start.pieces.clone();
    pieces.push(WordPiece::Glob(format!("/{name}")));
    if arg.text != "{}" {
        let (before, after) = arg.text.split_once("{}").unwrap_or((&arg.text, ""));
        pieces.insert(0, WordPiece::Text(before.to_owned()));
        pieces.push(WordPiece::Text(after.to_owned()));
    }
    Arg::from_pieces(&pieces)
}

fn deletes(shell: &mut Shell<'_>, args: &[Arg], starts: &[&Arg]) -> ShellFinding {
    let names = names(args);
    let empty_only = any(args, &["-empty"]);
    let made_only = !names.is_empty() && names.iter().all(|name| made(name));
    let mut worst = writes("find.delete", "find");
    for start in starts {
        let place = place(shell, start);
        delete(shell, &OwnedPath { known: false, ..place.clone() }, true);
        let fine = match place.spot {
            Spot::Temp | Spot::Made => true,
            Spot::TempRoot => made_only || !names.is_empty() || any(args, &["-mtime", "-user"]),
            Spot::Inside | Spot::Whole => made_only || empty_only,
            _ => false,
        };
        if !fine {
            let reason = "It deletes every file that is found, also what git does not hold.";
            worst = worst.or(destructive("find.delete", "-delete", reason)
                .safer("Run it without -delete first, and narrow it with -name."));
        }
    }
    worst
}

/// `fd -x`, `fdfind -X`: a reader unless it runs something.
pub(super) fn fd(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let runs = ["-x", "-X", "--exec", "--exec-batch"];
    let Some(at) = call.args.iter().position(|arg| runs.iter().any(|run| arg.is(run))) else {
        return rules::by_options(call);
    };
    let found = trial(shell, |shell| {
        let mut args: Vec<Arg> = call.args[at + 1..].to_vec();
        args.push(Arg::known("./*"));
        shell.run(args, Feed::default());
    });
    opaque("find.exec", call.name).or(found.unwrap_or_else(|| opaque("find.exec", call.name)))
}

/// `trash`, `gio trash`: can be taken back.
pub(super) fn trash(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    for arg in operands(call.args, &[]) {
        let place = paths::place(shell, arg);
        delete(shell, &place, true);
    }
    if call.name == "trash-empty" {
        return destructive("rm.trash", call.name, "It empties the trash.");
    }
    writes("rm.trash", call.name)
}
