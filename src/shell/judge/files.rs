//! Programs that write, copy, move and change files.

use super::options::{any, cut, long, operands, short, values};
use super::{ProgramCall, destructive, opaque, reads, redirected, rules, startup, writes};
use crate::shell::expand::Arg;
use crate::shell::paths::{Spot, place};
use crate::shell::table;
use crate::shell::walk::{Shell, ShellFinding};
use crate::shell::{Class, PathDeed, TouchedPath};

/// A program that writes what it names.
pub(super) fn written(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> Option<ShellFinding> {
    let mut rows = table::rows(super::family(call.name)).iter();
    let row = rows.find(|row| row.kind() == "writes" && row.words.is_empty())?;
    let named = operands(call.args, &row.list("takes"));
    let written: Vec<&Arg> = match row.word(1) {
        // What is said of the whole folder is only seen afterwards.
        "all" if row.flag("opaque") => named.into_iter().filter(|arg| !arg.is(".")).collect(),
        "all" => named,
        "first" => named.first().copied().into_iter().collect(),
        "last" => named.last().copied().into_iter().collect(),
        _ => Vec::new(),
    };
    let asked = row.list("if");
    if !asked.is_empty() && !any(call.args, &asked) {
        return None;
    }
    let outputs = values(call.args, &row.list("outputs"));
    let nowhere = |arg: &&Arg| place(shell, arg).spot == Spot::Nothing;
    let shown = any(call.args, &row.list("unless"));
    let into_nothing = !written.is_empty() && written.iter().all(nowhere) && outputs.is_empty();
    if shown || into_nothing {
        return Some(match row.flag("opaque") {
            true => opaque("program.writes", call.name),
            false => reads(call.name),
        });
    }
    if row.flag("reads") && written.is_empty() && outputs.is_empty() {
        return Some(rules::by_options(call));
    }
    let mut worst = match row.flag("opaque") {
        true => opaque("program.writes", call.name),
        false => writes("program.writes", call.name),
    };
    for arg in written.into_iter().chain(outputs.iter()) {
        worst = worst.or(write(shell, arg));
    }
    Some(worst)
}

/// A path that a program writes: over the system's files and devices it is destructive.
fn write(shell: &mut Shell<'_>, arg: &Arg) -> ShellFinding {
    redirected(shell, arg, true).unwrap_or_else(|| reads("nothing"))
}

const TARGET: &[&str] = &["-t", "--target-directory"];
const COPY_TAKES: &[&str] =
    &["-t", "--target-directory", "-S", "--suffix", "-m", "-o", "-g", "--mode"];

/// `cp`, `install`: the last operand, or the folder of `-t`, is written.
pub(super) fn copy(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let mut named = operands(call.args, COPY_TAKES);
    let mut to: Vec<Arg> = values(call.args, TARGET);
    if to.is_empty() {
        to.extend(named.pop().cloned());
    }
    let secret = named.iter().any(|arg| super::is_secret(&place(shell, arg).path));
    let from_nothing = named.iter().any(|arg| arg.is("/dev/null"));
    if call.name != "install" || !any(call.args, &["-d"]) {
        for arg in &named {
            shell.touch(arg, PathDeed::Read);
        }
    }
    let mut worst = writes("copy", call.name);
    if call.name == "cp" && (short(call.args, 'l') || long(call.args, "--link")) {
        named.iter().for_each(|arg| shell.may_change(arg));
    }
    let tree_too = call.name == "cp"
        && (['r', 'R', 'a'].into_iter().any(|letter| short(call.args, letter))
            || long(call.args, "--recursive")
            || long(call.args, "--archive"));
    for arg in &to {
        if from_nothing {
            let reason = "It empties the file.";
            worst = worst.or(destructive("copy.empty", &arg.text, reason));
        }
        if tree_too {
            worst = worst.or(tree(shell, arg));
        }
        for into in received(arg, &named) {
            worst = worst.or(redirected(shell, &into, false).unwrap_or_else(|| reads("nothing")));
            if secret {
                let path = place(shell, &into).path;
                shell.secrets.push(path);
            }
        }
    }
    worst
}

/// What is written where these are put to that place: the place itself, or one file in it for each.
fn received(to: &Arg, what: &[&Arg]) -> Vec<Arg> {
    let many = what.len() > 1;
    let sure = to.sure && what.iter().all(|arg| arg.sure);
    if !many || !sure {
        return what.first().map_or_else(|| vec![to.clone()], |what| vec![inside(to, what)]);
    }
    let folder = Arg::known(format!("{}/", to.text.trim_end_matches('/')));
    what.iter().map(|what| inside(&folder, what)).collect()
}

/// `FOLDER/` and the name of what is put there.
fn inside(folder: &Arg, what: &Arg) -> Arg {
    let dots = [".", "..", "./", "../"].iter().any(|dots| folder.is(dots));
    if !(folder.text.ends_with('/') || dots) || !folder.sure || !what.sure {
        return folder.clone();
    }
    let name = what.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    Arg::known(format!("{}/{name}", folder.text.trim_end_matches('/')))
}

/// `mv`: what is moved, and where to.
pub(super) fn rename(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let mut named = operands(call.args, &["-t", "--target-directory", "-S", "--suffix"]);
    let mut to: Vec<Arg> = values(call.args, TARGET);
    if to.is_empty() {
        to.extend(named.pop().cloned());
    }
    let mut worst = writes("move", call.name);
    for arg in &named {
        let from = place(shell, arg);
        shell.target(TouchedPath {
            path: from.path.clone(),
            deed: PathDeed::MoveFrom,
            known: from.known,
            recursive: true,
        });
        let lost = match from.spot {
            Spot::Root | Spot::System | Spot::Device => "It moves away what the system needs.",
            Spot::Outside if startup(&from.path) => {
                "It moves away keys or settings that the account depends on."
            }
            Spot::Home | Spot::Whole | Spot::Control => {
                "It moves away the workspace, its history or the home folder."
            }
            _ => continue,
        };
        worst = worst.or(destructive("move.system", &arg.text, lost));
    }
    for arg in &to {
        if arg.is("/dev/null") {
            let reason = "What is moved to /dev/null is gone.";
            worst = worst.or(destructive("move.nothing", "/dev/null", reason)
                .safer("Move it to a folder for temporary files."));
            continue;
        }
        for into in received(arg, &named) {
            worst = worst.or(write(shell, &into));
        }
    }
    worst
}

/// `ln`: a new name; `-f` replaces what had it.
///
/// What is written under the new name is written to what it leads to, by this text or a later one.
pub(super) fn link(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let mut named = operands(call.args, &["-t", "--target-directory", "-S", "--suffix"]);
    let to = values(call.args, TARGET).first().cloned();
    let to = to.or_else(|| if named.len() > 1 { named.pop().cloned() } else { None });
    let is_symbolic = short(call.args, 's') || any(call.args, &["--symbolic"]);
    for what in &named {
        let Some(to) = to.as_ref().filter(|_| is_symbolic && !what.text.starts_with(['/', '~']))
        else {
            shell.may_change(what);
            continue;
        };
        // A symbolic link is read from the folder that it stands in: that of the new name, or the one that is named.
        let above = to.text.rsplit_once('/').map_or(".", |(folder, _)| folder);
        for folder in [above, to.text.as_str()] {
            shell.may_change(&Arg::known(format!("{folder}/{}", what.text)));
        }
    }
    match (to, named.first()) {
        (Some(to), Some(what)) => {
            let to = inside(&to, what);
            let place = place(shell, &to);
            if place.spot == Spot::Outside && short(call.args, 'f') && startup(&place.path) {
                return destructive(
                    "link.account",
                    &to.text,
                    "It replaces a file that the account depends on.",
                );
            }
            writes("link", call.name).or(write(shell, &to))
        }
        (None, Some(what)) => {
            let name = what.text.rsplit('/').next().unwrap_or_default().to_owned();
            writes("link", call.name).or(write(shell, &Arg::known(name)))
        }
        _ => opaque("link", call.name),
    }
}

/// `dd`: `of=` is written.
pub(super) fn dd(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let output = call.args.iter().find(|arg| arg.lead.starts_with("of="));
    let Some(output) = output else { return reads("dd") };
    let file = cut(output, "of=".len());
    let place = place(shell, &file);
    match place.spot {
        Spot::Unknown => {
            destructive("dd.unknown", &output.text, "What it overwrites is not known here.")
        }
        Spot::Nothing => reads("dd"),
        _ => {
            let mut found = writes("dd", "dd").or(write(shell, &file));
            if found.class == Class::Destructive {
                found.word.clone_from(&output.text);
                found.rule = "dd.device";
            }
            found
        }
    }
}

/// `truncate`: to nothing is the content lost.
pub(super) fn truncate(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let sizes = values(call.args, &["-s", "--size"]);
    let empties = sizes.iter().any(|size| {
        ["0", "0K", "0M", "0G"].contains(&size.text.as_str()) || size.lead.starts_with('-')
    });
    let mut worst = writes("truncate", call.name);
    for file in operands(call.args, &["-s", "--size", "-r", "--reference"]) {
        let spot = place(shell, file).spot;
        worst = worst.or(write(shell, file));
        if empties && !matches!(spot, Spot::Temp | Spot::Made) {
            worst = worst.or(destructive("truncate.empty", &file.text, "It empties the file.")
                .safer("Keep a copy first."));
        }
    }
    worst
}

/// `chmod`, `chown`, `chgrp`, `setfacl`, `chattr`.
pub(super) fn permit(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let recursive = short(call.args, 'R') || long(call.args, "--recursive");
    // `chmod -x file`: the mode looks like an option.
    let moded = call.args.iter().any(|arg| {
        call.name == "chmod"
            && arg.lead.starts_with('-')
            && arg.lead.len() > 1
            && arg.lead[1..].chars().all(|c| "rwxXst,=+-".contains(c))
    });
    let rules: &[&str] =
        if call.name == "setfacl" { &["-m", "-x", "-M", "-X"] } else { &["--reference"] };
    let named = operands(call.args, rules);
    let (mode, files) = match named.split_first() {
        Some((mode, files))
            if !moded && call.name != "setfacl" && !any(call.args, &["--reference"]) =>
        {
            (mode.text.as_str(), files.to_vec())
        }
        _ => ("", named),
    };
    let mut worst = writes("permissions", call.name);
    for file in files {
        let place = place(shell, file);
        if place.spot != Spot::Nothing {
            let (path, known) = (place.path.clone(), place.known);
            shell.target(TouchedPath { path, deed: PathDeed::Write, known, recursive });
        }
        let open = call.name == "chmod"
            && (mode.ends_with("777")
                || mode.ends_with("666")
                || mode.ends_with("000")
                || mode == "0"
                || ["a+w", "o+w", "a+rwx", "a=rwx", "ugo+rwx", "+rwx", "o+rwx", "u+s"]
                    .contains(&mode)
                || mode.starts_with("a-")
                || mode.starts_with("u-"));
        let found = match place.spot {
            Spot::Root | Spot::Home | Spot::System | Spot::Device => {
                Some("It changes who may use what the system or the account needs.")
            }
            Spot::Outside | Spot::Unknown | Spot::TempRoot if recursive => Some(
                "It changes who may use files outside of the workspace, with everything below.",
            ),
            Spot::Whole | Spot::Inside | Spot::Control
                if recursive && (open || call.name != "chmod") =>
            {
                Some("It changes the owner or opens the files to everybody, with everything below.")
            }
            _ => None,
        };
        if let Some(reason) = found {
            worst = worst.or(destructive("permissions.recursive", &call.shown(4), reason)
                .safer("Name the single files, and the least that is needed."));
        }
    }
    worst
}

/// `tar`: extracting writes below `-C`, creating writes the archive, and some options run programs.
pub(super) fn tar(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let mut worst = writes("archive", call.name);
    for option in
        ["--checkpoint-action", "--to-command", "--use-compress-program", "-I", "--rsh-command"]
    {
        for code in values(call.args, &[option]) {
            let code = code.text.strip_prefix("exec=").unwrap_or(&code.text).to_owned();
            let found = shell.inner("tar", &code);
            worst = worst.worse(found);
        }
    }
    if any(call.args, &["--remove-files"]) {
        worst = worst.or(destructive(
            "archive.remove",
            "--remove-files",
            "It deletes what it has packed.",
        ));
    }
    let first = call.args.first().map_or("", |arg| arg.lead.as_str());
    let old = if first.starts_with('-') { "" } else { first };
    let does = |letter: char, name: &str| {
        old.contains(letter) || short(call.args, letter) || long(call.args, name)
    };
    let folders = values(call.args, &["-C", "--directory"]);
    if does('t', "--list") {
        let plain =
            |arg: &Arg| arg.lead.trim_start_matches('-').chars().all(|c| "tzjJvf".contains(c));
        let long = ["--list", "--verbose", "--gzip", "--file"];
        let listed = call.args.iter().enumerate().all(|(at, arg)| {
            !arg.option() && (at > 0 || arg.sure) && (at > 0 || plain(arg))
                || arg.sure && !arg.lead.starts_with("--") && arg.option() && plain(arg)
                || long.iter().any(|option| arg.lead.split('=').next() == Some(option))
        });
        return match (worst.class == Class::Write, listed) {
            (true, true) => reads("tar"),
            (true, false) => opaque("program.options", "tar"),
            _ => worst,
        };
    }
    if does('x', "--extract") || any(call.args, &["--get"]) {
        let here = [Arg::known(".")];
        let folders = if folders.is_empty() { &here[..] } else { &folders };
        for folder in folders {
            worst = worst.or(tree(shell, folder));
        }
        return worst.or(opaque("archive.extract", call.name));
    }
    let mut files = values(call.args, &["-f", "--file"]);
    if files.is_empty() && old.contains('f') {
        files.extend(call.args.get(1).cloned());
    }
    for file in &files {
        worst = worst.or(write(shell, file));
    }
    worst
}

/// A folder below which anything may be written.
fn tree(shell: &mut Shell<'_>, folder: &Arg) -> ShellFinding {
    let place = place(shell, folder);
    shell.target(TouchedPath {
        path: place.path,
        deed: PathDeed::Write,
        known: place.known,
        recursive: true,
    });
    match place.spot {
        Spot::Root | Spot::System => {
            destructive("archive.system", &folder.text, "It writes over what the system needs.")
        }
        _ => writes("archive", "archive"),
    }
}

/// `unzip`: into the folder of `-d`.
pub(super) fn unzip(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    if any(call.args, &["-l", "-t", "-Z", "-v", "-p"]) {
        let sure = call.args.iter().all(|arg| arg.sure || !arg.lead.is_empty());
        return if sure { reads(call.name) } else { opaque("program.value", call.name).looks() };
    }
    let folder = values(call.args, &["-d"]).first().cloned().unwrap_or_else(|| Arg::known("."));
    opaque("archive.extract", call.name).or(tree(shell, &folder))
}

/// `rsync`: the last operand is written; `--delete` empties what the source lacks.
pub(super) fn rsync(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let only_shows =
        short(call.args, 'n') || long(call.args, "--dry-run") || any(call.args, &["--list-only"]);
    let takes =
        ["-e", "--rsh", "--exclude", "--include", "-f", "--filter", "--exclude-from", "-T", "-B"];
    let named = operands(call.args, &takes);
    let mut worst = writes("copy", call.name);
    for code in values(call.args, &["-e", "--rsh"]) {
        let words = code.text.clone();
        let found = shell.inner("rsync", &words);
        worst =
            found.filter(|f| f.class == Class::Destructive).map_or(worst.clone(), |f| worst.or(f));
    }
    let Some((to, _)) = named.split_last() else { return opaque("network", call.name) };
    if only_shows {
        let runs = any(call.args, &["-e", "--rsh", "--log-file", "--rsync-path"]);
        return if runs { opaque("network", call.name).or(worst) } else { super::looks(call.name) };
    }
    let remote = to.text.split('/').next().is_some_and(|host| host.contains(':'));
    let deletes = call
        .args
        .iter()
        .find(|arg| arg.lead.starts_with("--del") || arg.is("--remove-source-files"));
    if !remote {
        worst = worst.or(tree(shell, to));
    } else {
        worst = worst.or(opaque("network", call.name));
    }
    let kept = !remote && matches!(place(shell, to).spot, Spot::Temp | Spot::Made);
    if let Some(option) = deletes.filter(|_| !kept) {
        worst = worst.or(destructive(
            "copy.delete",
            &option.text,
            "It deletes what the source does not have.",
        )
        .safer("Look first with --dry-run."));
    }
    worst
}

/// `sed`: prints, or with `-i` changes every file it names; `w` writes and `e` runs.
pub(super) fn sed(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let in_place = call.args.iter().any(|arg| {
        arg.lead.starts_with("-i")
            || arg.lead.starts_with("--in-place")
            || arg.lead.starts_with('-')
                && !arg.lead.starts_with("--")
                && arg.lead.len() <= 5
                && arg.lead.ends_with('i')
                && !arg.lead.starts_with("-e")
                && !arg.lead.starts_with("-f")
    });
    let scripts = values(call.args, &["-e", "--expression"]);
    let from_file = any(call.args, &["-f", "--file"]);
    let mut named =
        operands(call.args, &["-e", "--expression", "-f", "--file", "-l", "--line-length"]);
    let mut script_unknown = false;
    let mut code: Vec<String> = scripts.iter().map(|script| script.text.clone()).collect();
    if scripts.is_empty() && !from_file && !named.is_empty() {
        let mut script = named.remove(0);
        // The BSD form: `sed -i '' SCRIPT FILE`.
        if script.text.is_empty() && !named.is_empty() {
            script = named.remove(0);
        }
        script_unknown = !script.sure;
        code.push(script.text.clone());
    }
    let mut worst = if from_file { opaque("program.script", call.name) } else { reads(call.name) };
    for script in &code {
        worst = worst.or(sed_script(shell, script));
    }
    if !scripts.iter().all(|script| script.sure) || script_unknown {
        worst = worst.or(opaque("code.sed", call.name).looks());
    }
    if !in_place {
        return worst.or(rules::by_options(call));
    }
    for file in named {
        worst = worst.or(write(shell, file));
    }
    worst.or(writes("edit.in-place", call.name))
}

/// A script of `sed`: `w` writes, `e` runs, and of everything else only what is surely known reads.
fn sed_script(shell: &mut Shell<'_>, script: &str) -> ShellFinding {
    let mut worst = reads("sed");
    let mut rest = script;
    while let Some(command) = sed_command(&mut rest) {
        let found = match command {
            SedCommand::Reads => continue,
            SedCommand::Writes(file) => write(shell, &Arg::known(file)),
            SedCommand::Runs(code) => {
                let found = shell.inner("sed", &code);
                opaque("code.sed", "sed").or(found.unwrap_or_else(|| reads("sed")))
            }
            SedCommand::Unknown => return worst.or(opaque("code.sed", "sed")),
        };
        worst = worst.or(found);
    }
    worst
}

enum SedCommand {
    Reads,
    Writes(String),
    Runs(String),
    Unknown,
}

/// Up to a delimiter that no backslash stands before, which is taken.
fn delimited<'t>(rest: &mut &'t str, delimiter: char) -> Option<&'t str> {
    let mut escaped = false;
    let at = rest.char_indices().find(|(_, c)| {
        let ends = *c == delimiter && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    let (at, _) = at?;
    let (inside, behind) = rest.split_at(at);
    // Some take a delimiter in brackets for one of the characters there.
    let open = inside.rfind('[').is_some_and(|open| !inside[open..].contains(']'));
    if open {
        return None;
    }
    *rest = behind.get(delimiter.len_utf8()..)?;
    Some(inside)
}

/// What is left of a line, which is taken.
fn line_of(rest: &mut &str) -> String {
    let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
    *rest = behind;
    line.trim().to_owned()
}

/// The next command of a script; nothing at its end.
fn sed_command(rest: &mut &str) -> Option<SedCommand> {
    let blank = |c: char| c.is_whitespace() || ";{}!,~+$0123456789".contains(c);
    loop {
        *rest = rest.trim_start_matches(blank);
        let first = rest.chars().next()?;
        let delimiter = match first {
            '/' => '/',
            '\\' => rest[1..].chars().next()?,
            _ => break,
        };
        *rest = rest[1..].strip_prefix(delimiter).filter(|_| first == '\\').unwrap_or(&rest[1..]);
        if delimited(rest, delimiter).is_none() {
            return Some(SedCommand::Unknown);
        }
        *rest = rest.trim_start_matches(['I', 'M']);
    }
    let command = rest.chars().next()?;
    *rest = &rest[command.len_utf8()..];
    Some(match command {
        'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'l' | 'z' | 'q'
        | 'Q' => SedCommand::Reads,
        '#' | 'a' | 'i' | 'c' | 'b' | 't' | 'T' | ':' | 'r' => {
            let text = line_of(rest);
            // A text goes on behind a backslash, and what follows a label may be a command.
            let simple = match command {
                '#' | 'r' => true,
                'a' | 'i' | 'c' => !text.ends_with('\\') || text == "\\",
                _ => !text.contains([';', '}']) || text.ends_with('}') && text.len() < 12,
            };
            if simple { SedCommand::Reads } else { SedCommand::Unknown }
        }
        'w' => SedCommand::Writes(line_of(rest)),
        'e' => SedCommand::Runs(line_of(rest)),
        's' | 'y' => {
            let delimiter = rest.chars().next()?;
            *rest = &rest[delimiter.len_utf8()..];
            let (old, new) = (delimited(rest, delimiter), delimited(rest, delimiter));
            let (Some(_), Some(new)) = (old, new) else { return Some(SedCommand::Unknown) };
            let end = rest.find(|c: char| !"gpiIm0123456789".contains(c)).unwrap_or(rest.len());
            *rest = &rest[end..];
            match rest.chars().next() {
                None | Some(' ' | ';' | '\n' | '}') => SedCommand::Reads,
                Some('w') => SedCommand::Writes(line_of(rest)[1..].trim().to_owned()),
                Some('e') => SedCommand::Runs(new.to_owned()),
                Some(_) => SedCommand::Unknown,
            }
        }
        _ => SedCommand::Unknown,
    })
}

/// `patch`, `ed`: which files are changed stands in the input.
pub(super) fn patch(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    if long(call.args, "--dry-run") {
        return opaque("program.patch", call.name);
    }
    let takes = ["-p", "-i", "--input", "-d", "--directory", "-o", "-D", "-r", "-V", "-F"];
    let named = operands(call.args, &takes);
    let mut worst = opaque("program.patch", call.name);
    let fed = call.stdin.path.clone().map(Arg::known);
    let given = values(call.args, &["-i", "--input"]).into_iter().chain(fed);
    given.chain(named.get(1).map(|arg| (*arg).clone())).for_each(|file| shell.applied(&file));
    for file in named.first().copied().into_iter().chain(values(call.args, &["-o"]).iter()) {
        worst = worst.or(write(shell, file));
    }
    worst
}

/// `yq`: reads, or with `-i` writes its file.
pub(super) fn yq(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    if !any(call.args, &["-i", "--inplace"]) {
        return rules::by_options(call);
    }
    let named = operands(call.args, &["-o", "-p", "--output-format", "--input-format"]);
    named.last().map_or_else(|| opaque("program.writes", call.name), |file| write(shell, file))
}

/// `uniq IN OUT`, `xxd IN OUT`: the second operand is written; to `xxd`, so is an option behind the first.
pub(super) fn second(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let takes = rules::line(call.name).map_or_else(Vec::new, |row| row.list("takes"));
    let named = operands(call.args, &takes);
    let behind = |first: &&Arg| {
        let at = call.args.iter().position(|arg| std::ptr::eq(arg, *first));
        at.and_then(|at| call.args.get(at + 1))
    };
    let out = match call.name {
        "xxd" => named.first().and_then(behind),
        _ => named.get(1).copied(),
    };
    if let Some(file) = out {
        return writes("program.writes", call.name).or(write(shell, file));
    }
    if call.args.iter().any(|arg| !arg.sure && arg.lead.is_empty()) {
        return opaque("program.value", call.name).looks();
    }
    rules::by_options(call)
}

/// `mkdir`: folders are made.
pub(super) fn mkdir(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let mut worst = writes("program.writes", call.name);
    for folder in operands(call.args, &["-m", "--mode"]) {
        let spot = place(shell, folder).spot;
        shell.touch(folder, PathDeed::Write);
        // A new folder in the system's place is no loss, but not the workspace's either.
        if spot == Spot::System {
            worst = worst.or(opaque("program.writes", call.name));
        }
    }
    worst
}
