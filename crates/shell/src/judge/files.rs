//! Judges programs that write, copy, move or change files.

use super::options::{
    abbreviations, has_any, has_option, is_set, operands, values, without_beginning,
};
use super::{
    Arg, Class, Location, PathEffect, ProgramCall, Shell, ShellFinding, StreamData, destructive,
    destructive_rule, is_startup_file, judged_redirection, located_path, opaque, reads, rules,
    table, writes,
};

/// Judges a program that writes the files among its arguments. Returns `None` if the table has no
/// row that says so.
pub(super) fn judged_writer(shell: &mut Shell, call: &ProgramCall) -> Option<ShellFinding> {
    let mut rows = table::rows(super::family(call.name)).iter();
    let row = rows.find(|row| row.kind() == "writes" && row.words.is_empty())?;
    let asked = row.list("if");
    if !asked.is_empty() && !has_any(call.args, &asked) {
        return None;
    }
    let mut named = operands(call.args, &row.list("takes"));
    match row.word(1) {
        // An opaque program that gets a whole folder (`.`) names no file. Which files it writes is
        // seen on the disk after the call.
        "all" => named.retain(|arg| !(row.has_flag("opaque") && arg.is_word("."))),
        "first" => named.truncate(1),
        "last" => drop(named.drain(..named.len().saturating_sub(1))),
        _ => named.clear(),
    }
    let outputs = values(call.args, &row.list("outputs"));
    let nowhere = |arg: &&Arg| located_path(shell, arg).location == Location::Nothing;
    let shown = has_any(call.args, &row.list("unless"));
    let into_nothing = !named.is_empty() && named.iter().all(nowhere) && outputs.is_empty();
    let (rule, name) = ("program.writes", call.name);
    let own = if row.has_flag("opaque") { opaque(rule, name) } else { writes(rule, name) };
    if shown || into_nothing {
        return Some(if row.has_flag("opaque") { own } else { reads(call.name) });
    }
    if row.has_flag("reads") && named.is_empty() && outputs.is_empty() {
        return Some(rules::by_options(call));
    }
    let files = named.into_iter().chain(&outputs);
    Some(files.fold(own, |own, arg| {
        receives(shell, arg, call.stdin);
        own.most_severe(write(shell, arg))
    }))
}

pub(super) fn write(shell: &mut Shell, arg: &Arg) -> ShellFinding {
    judged_redirection(shell, arg, true).unwrap_or_else(|| reads("nothing"))
}

/// Keeps the known content of a file under the name that `cp`, `mv` or `ln` gives it, and what `tee`
/// writes.
pub(super) fn carry_content(shell: &mut Shell, call: &ProgramCall) {
    let path =
        |shell: &Shell, file: &Arg| file.literal().map(|_| super::located_path(shell, file).path);
    match call.name {
        "tee" => {
            let appends = has_option(call.args, &["-a", "--append"]);
            for file in operands(call.args, &[]) {
                if let Some(file) = path(shell, file) {
                    shell.wrote(file, call.stdin, appends);
                }
            }
        }
        "cp" | "mv" | "ln" | "install" => {
            let (from, to) = from_and_to(call);
            let ([from], [to]) = (from.as_slice(), to.as_slice()) else { return };
            let Some((content, to)) = shell.content_of(from).zip(path(shell, to)) else { return };
            shell.wrote(to, &content, false);
        }
        _ => {}
    }
}

/// Returns the sources and the target of a copy, move or link. The target is the last operand, or
/// the folder of `-t`.
fn from_and_to<'c>(call: &ProgramCall<'c>) -> (Vec<&'c Arg>, Vec<Arg>) {
    let folder: Vec<&str> =
        std::iter::once("-t").chain(abbreviations("--target-directory")).collect();
    let mut named = operands(call.args, &[table::list("copytakes"), folder.clone()].concat());
    let mut to = values(call.args, &folder);
    if to.is_empty() {
        to.extend(named.pop().cloned());
    }
    (named, to)
}

pub(super) fn copy(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let (named, to) = from_and_to(call);
    let from_nothing = named.iter().any(|arg| arg.is_word("/dev/null"));
    let copies = call.name == "cp";
    if copies || !has_any(call.args, &["-d"]) {
        named.iter().for_each(|arg| shell.touch(arg, PathEffect::Read));
    }
    let mut worst = writes("copy", call.name);
    if copies && has_option(call.args, &["-l", "--link"]) {
        named.iter().for_each(|arg| shell.may_change(arg));
    }
    let deep = ["-r", "-R", "-a", "--recursive", "--archive"];
    let tree_too = copies && has_option(call.args, &deep);
    for arg in &to {
        if from_nothing {
            worst.raise(destructive_rule("copy.empty", &arg.text));
        }
        if tree_too {
            worst.raise(tree(shell, arg));
        }
        for into in paths_received(arg, &named) {
            worst.raise(judged_redirection(shell, &into, false));
            carry(shell, &named, &into);
        }
    }
    worst
}

fn receives(shell: &mut Shell, file: &Arg, input: &StreamData) {
    let path = located_path(shell, file).path;
    if input.may_hold_secret() {
        shell.lasting.secrets.insert(path.clone());
    }
    if input.download {
        shell.lasting.fetched.insert(path);
    }
}

fn carry(shell: &mut Shell, from: &[&Arg], into: &Arg) {
    let to = located_path(shell, into).path;
    for path in from.iter().map(|arg| located_path(shell, arg).path).collect::<Vec<_>>() {
        if super::is_secret(&path) || shell.lasting.secrets.contains(&path) {
            shell.lasting.secrets.insert(to.clone());
        }
        if shell.lasting.fetched.contains(&path) {
            shell.lasting.fetched.insert(to.clone());
        }
    }
}

/// Returns the paths that are written if the files in `what` are put to `to`: `to` itself, or one
/// file in it for each of them.
fn paths_received(to: &Arg, what: &[&Arg]) -> Vec<Arg> {
    let many = what.len() > 1;
    let sure = to.sure && what.iter().all(|arg| arg.sure);
    if !many || !sure {
        return what.first().map_or_else(|| vec![to.clone()], |what| vec![placed_in(to, what)]);
    }
    let folder = Arg::with_known_text(format!("{}/", to.text.trim_end_matches('/')));
    what.iter().map(|what| placed_in(&folder, what)).collect()
}

/// Returns `FOLDER/NAME`, where the name is that of the file that is put there.
fn placed_in(folder: &Arg, what: &Arg) -> Arg {
    let dots = folder.is_any_of(&[".", "..", "./", "../"]);
    if !(folder.text.ends_with('/') || dots) || !folder.sure || !what.sure {
        return folder.clone();
    }
    let name = what.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    Arg::with_known_text(format!("{}/{name}", folder.text.trim_end_matches('/')))
}

pub(super) fn rename(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let (named, to) = from_and_to(call);
    let mut worst = writes("move", call.name);
    for arg in &named {
        let from = shell.touch_all(arg, PathEffect::MoveFrom, true);
        let reason = match from.location {
            Location::Root | Location::System | Location::Device => {
                "It moves away what the system needs."
            }
            Location::Outside if is_startup_file(&from.path) => {
                "It moves away keys or settings that the account depends on."
            }
            Location::Home | Location::Whole | Location::Control => {
                "It moves away the workspace, its history or the home folder."
            }
            _ => continue,
        };
        worst.raise(destructive("move.system", &arg.text, reason));
    }
    for arg in &to {
        if arg.is_word("/dev/null") {
            worst.raise(destructive_rule("move.nothing", "/dev/null"));
            continue;
        }
        for into in paths_received(arg, &named) {
            worst.raise(write(shell, &into));
            carry(shell, &named, &into);
        }
    }
    worst
}

/// Judges `ln`. With `-f` it replaces an existing file.
///
/// Who writes to the new name changes the file that the link points to, so this file counts as
/// possibly changed.
pub(super) fn link(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let (mut named, mut to) = from_and_to(call);
    if named.is_empty() {
        // `ln FILE` makes a link of the same name in the current folder.
        named.extend(operands(call.args, &table::list("copytakes")).last());
        to.clear();
    }
    let to = to.first().cloned();
    let is_symbolic = has_option(call.args, &["-s"]) || has_any(call.args, &["--symbolic"]);
    for what in &named {
        let Some(to) = to.as_ref().filter(|_| is_symbolic && !what.text.starts_with(['/', '~']))
        else {
            shell.may_change(what);
            continue;
        };
        // The target of a symbolic link is relative to the folder of the link. This is the folder
        // above the new name, or the new name itself if it is a folder.
        let above = to.text.rsplit_once('/').map_or(".", |(folder, _)| folder);
        for folder in [above, to.text.as_str()] {
            shell.may_change(&Arg::with_known_text(format!("{folder}/{}", what.text)));
        }
    }
    let Some(what) = named.first() else { return opaque("link", call.name) };
    let to = match to {
        Some(to) => placed_in(&to, what),
        None => Arg::with_known_text(what.text.rsplit('/').next().unwrap_or_default()),
    };
    let place = located_path(shell, &to);
    if place.location == Location::Outside
        && has_option(call.args, &["-f"])
        && is_startup_file(&place.path)
    {
        return destructive_rule("link.account", &to.text);
    }
    writes("link", call.name).most_severe(write(shell, &to))
}

pub(super) fn dd(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let output = call.args.iter().find(|arg| arg.lead.starts_with("of="));
    let Some(output) = output else { return reads("dd") };
    let file = without_beginning(output, "of=".len());
    receives(shell, &file, call.stdin);
    let place = located_path(shell, &file);
    match place.location {
        Location::Unknown => destructive_rule("dd.unknown", &output.text),
        Location::Nothing => reads("dd"),
        _ => {
            let mut found = writes("dd", "dd").most_severe(write(shell, &file));
            if found.class == Class::Destructive {
                found.word.clone_from(&output.text);
                found.rule = "dd.device";
            }
            found
        }
    }
}

pub(super) fn truncate(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let sizes = values(call.args, &["-s", "--size"]);
    let empties = sizes.iter().any(|size| {
        ["0", "0K", "0M", "0G"].contains(&size.text.as_str()) || size.lead.starts_with('-')
    });
    let mut worst = writes("truncate", call.name);
    for file in operands(call.args, &["-s", "--size", "-r", "--reference"]) {
        let location = located_path(shell, file).location;
        worst.raise(write(shell, file));
        if empties && !matches!(location, Location::Temp | Location::Made) {
            worst.raise(destructive_rule("truncate.empty", &file.text));
        }
    }
    worst
}

pub(super) fn permit(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let recursive = has_option(call.args, &["-R", "--recursive"]);
    // In `chmod -x file` the mode looks like an option.
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
            if !moded && call.name != "setfacl" && !has_any(call.args, &["--reference"]) =>
        {
            (mode.text.as_str(), files.to_vec())
        }
        _ => ("", named),
    };
    let mut worst = writes("permissions", call.name);
    let open = call.name != "chmod" || table::holds("openmodes", mode);
    for file in files {
        let reason = match shell.touch_all(file, PathEffect::Write, recursive).location {
            Location::Root | Location::Home | Location::System | Location::Device => {
                "It changes who may use what the system or the account needs."
            }
            Location::Outside | Location::Unknown | Location::TempRoot if recursive => {
                "It changes who may use files outside of the workspace, with everything below."
            }
            Location::Whole | Location::Inside | Location::Control if recursive && open => {
                "It changes the owner or opens the files to everybody, with everything below."
            }
            _ => continue,
        };
        worst.raise(
            destructive("permissions.recursive", &call.shown_words(4), reason)
                .safer("Name the single files, and the least that is needed."),
        );
    }
    worst
}

/// Judges `tar`. Extracting writes below the folder of `-C`, creating writes the archive, and some
/// options run programs.
pub(super) fn tar(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let mut worst = writes("archive", call.name);
    for code in values(call.args, &table::list("tarruns")) {
        let code = code.text.strip_prefix("exec=").unwrap_or(&code.text);
        worst.raise(shell.judge_inner_code("tar", code));
    }
    if has_any(call.args, &["--remove-files"]) {
        worst.raise(destructive_rule("archive.remove", "--remove-files"));
    }
    let first = call.args.first().map_or("", |arg| arg.lead.as_str());
    let old = if first.starts_with('-') { "" } else { first };
    let does = |letter: char, name: &str| {
        old.contains(letter) || has_option(call.args, &[&format!("-{letter}"), name])
    };
    let folders = values(call.args, &["-C", "--directory"]);
    if does('t', "--list") {
        // In the old form, the letters have no dash: `tar tf x`.
        let mut args = call.args.to_vec();
        if let Some(first) =
            args.first_mut().filter(|first| first.sure && !first.looks_like_option())
        {
            *first = Arg::with_known_text(format!("-{}", first.text));
        }
        let listed = rules::by_options(&ProgramCall { args: &args, ..*call });
        // A value that is not known may be an option that runs a program.
        let listed = if listed.inspects { opaque("archive", call.name) } else { listed };
        return if worst.class == Class::Write { listed } else { worst };
    }
    if does('x', "--extract") || has_any(call.args, &["--get"]) {
        let here = [Arg::with_known_text(".")];
        let folders = if folders.is_empty() { &here[..] } else { &folders };
        worst.raise_all(folders.iter().map(|folder| tree(shell, folder)));
        return worst.most_severe(opaque("archive.extract", call.name));
    }
    let mut files = values(call.args, &["-f", "--file"]);
    if files.is_empty() && old.contains('f') {
        files.extend(call.args.get(1).cloned());
    }
    worst.raise_all(files.iter().map(|file| write(shell, file)));
    worst
}

fn tree(shell: &mut Shell, folder: &Arg) -> ShellFinding {
    match shell.touch_all(folder, PathEffect::Write, true).location {
        Location::Root | Location::System => destructive_rule("archive.system", &folder.text),
        _ => writes("archive", "archive"),
    }
}

pub(super) fn unzip(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if has_any(call.args, &["-l", "-t", "-Z", "-v", "-p"]) {
        let sure = call.args.iter().all(|arg| arg.sure || !arg.lead.is_empty());
        return if sure { reads(call.name) } else { opaque("program.value", call.name).inspects() };
    }
    let folder =
        values(call.args, &["-d"]).first().cloned().unwrap_or_else(|| Arg::with_known_text("."));
    opaque("archive.extract", call.name).most_severe(tree(shell, &folder))
}

/// Judges `rsync`. It writes to the last operand, and `--delete` deletes what the source does not
/// contain.
pub(super) fn rsync(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let takes = table::list("rsynctakes");
    let only_shows =
        is_set(call.args, 'n', "--dry-run", &takes) || has_any(call.args, &["--list-only"]);
    let named = operands(call.args, &takes);
    let mut worst = writes("copy", call.name);
    worst.raise_all(values(call.args, &["-e", "--rsh"]).iter().map(|code| {
        shell
            .judge_inner_code("rsync", &code.text)
            .filter(|found| found.class == Class::Destructive)
    }));
    for file in &values(call.args, &table::list("rsyncwrites")) {
        worst.raise(write(shell, file));
    }
    let Some((to, _)) = named.split_last() else { return opaque("network", call.name) };
    if only_shows {
        let runs = has_any(call.args, &["-e", "--rsh", "--log-file", "--rsync-path"]);
        return if runs {
            opaque("network", call.name).most_severe(worst)
        } else {
            super::inspects(call.name)
        };
    }
    let remote = to.text.split('/').next().is_some_and(|host| host.contains(':'));
    let deletes =
        |arg: &&Arg| arg.lead.starts_with("--del") || arg.is_word("--remove-source-files");
    worst.raise(if remote { opaque("network", call.name) } else { tree(shell, to) });
    let kept =
        !remote && matches!(located_path(shell, to).location, Location::Temp | Location::Made);
    let deletes = call.args.iter().find(deletes).filter(|_| !kept);
    worst.most_severe(deletes.map(|option| destructive_rule("copy.delete", &option.text)))
}

/// Judges `sed`. It prints, or with `-i` changes every file among its operands. The commands `w`
/// and `e` in a script write files and run programs.
pub(super) fn sed(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
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
    let from_file = has_any(call.args, &["-f", "--file"]);
    let mut named =
        operands(call.args, &["-e", "--expression", "-f", "--file", "-l", "--line-length"]);
    let mut script_unknown = false;
    let mut code: Vec<String> = scripts.iter().map(|script| script.text.clone()).collect();
    if scripts.is_empty() && !from_file && !named.is_empty() {
        let mut script = named.remove(0);
        // The BSD form is `sed -i '' SCRIPT FILE`.
        if script.text.is_empty() && !named.is_empty() {
            script = named.remove(0);
        }
        script_unknown = !script.sure;
        code.push(script.text.clone());
    }
    let mut worst = if from_file { opaque("program.script", call.name) } else { reads(call.name) };
    worst.raise_all(code.iter().map(|script| sed_script(shell, script)));
    if !scripts.iter().all(|script| script.sure) || script_unknown {
        worst.raise(opaque("code.sed", call.name).inspects());
    }
    if !in_place {
        return worst.most_severe(rules::by_options(call));
    }
    worst.raise_all(named.into_iter().map(|file| write(shell, file)));
    worst.most_severe(writes("edit.in-place", call.name))
}

/// Judges a script of `sed`: `w` writes and `e` runs. It only reads if every other command is known
/// to read.
fn sed_script(shell: &mut Shell, script: &str) -> ShellFinding {
    let mut worst = reads("sed");
    let mut rest = script;
    while let Some(found) = sed_command(shell, &mut rest) {
        worst.raise(found);
    }
    worst
}

/// Judges a script with a command that is not understood. What follows it is not judged.
fn sed_unknown(rest: &mut &str) -> ShellFinding {
    *rest = "";
    opaque("code.sed", "sed")
}

fn sed_runs(shell: &mut Shell, code: &str) -> ShellFinding {
    opaque("code.sed", "sed").most_severe(shell.judge_inner_code("sed", code))
}

/// Consumes a text up to a delimiter that is not escaped, together with the delimiter. Returns the
/// text.
fn take_delimited<'t>(rest: &mut &'t str, delimiter: char) -> Option<&'t str> {
    let mut escaped = false;
    let at = rest.char_indices().find(|(_, c)| {
        let ends = *c == delimiter && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    let (at, _) = at?;
    let (inside, behind) = rest.split_at(at);
    // Some versions of `sed` treat a delimiter inside brackets as an ordinary character.
    let open = inside.rfind('[').is_some_and(|open| !inside[open..].contains(']'));
    if open {
        return None;
    }
    *rest = behind.get(delimiter.len_utf8()..)?;
    Some(inside)
}

fn line_of(rest: &mut &str) -> String {
    let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
    *rest = behind;
    line.trim().to_owned()
}

/// Consumes the next command of a script and judges it. Returns `None` at the end.
fn sed_command(shell: &mut Shell, rest: &mut &str) -> Option<ShellFinding> {
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
        if take_delimited(rest, delimiter).is_none() {
            return Some(sed_unknown(rest));
        }
        *rest = rest.trim_start_matches(['I', 'M']);
    }
    let command = rest.chars().next()?;
    *rest = &rest[command.len_utf8()..];
    Some(match command {
        'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'l' | 'z' | 'q'
        | 'Q' => reads("sed"),
        '#' | 'a' | 'i' | 'c' | 'b' | 't' | 'T' | ':' | 'r' => {
            let text = line_of(rest);
            // Inserted text continues after a backslash at the end of a line, and a label may be
            // followed by another command.
            let simple = match command {
                '#' | 'r' => true,
                'a' | 'i' | 'c' => !text.ends_with('\\') || text == "\\",
                _ => !text.contains([';', '}']) || text.ends_with('}') && text.len() < 12,
            };
            if simple { reads("sed") } else { sed_unknown(rest) }
        }
        'w' => write(shell, &Arg::with_known_text(line_of(rest))),
        'e' => sed_runs(shell, &line_of(rest)),
        's' | 'y' => {
            let delimiter = rest.chars().next()?;
            *rest = &rest[delimiter.len_utf8()..];
            let (old, new) = (take_delimited(rest, delimiter), take_delimited(rest, delimiter));
            let (Some(_), Some(new)) = (old, new) else { return Some(sed_unknown(rest)) };
            let end = rest.find(|c: char| !"gpiIm0123456789".contains(c)).unwrap_or(rest.len());
            *rest = &rest[end..];
            match rest.chars().next() {
                None | Some(' ' | ';' | '\n' | '}') => reads("sed"),
                Some('w') => write(shell, &Arg::with_known_text(line_of(rest)[1..].trim())),
                Some('e') => sed_runs(shell, new),
                Some(_) => sed_unknown(rest),
            }
        }
        _ => sed_unknown(rest),
    })
}

/// Judges `patch` and `ed`. The input decides which files are changed.
pub(super) fn patch(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if has_option(call.args, &["--dry-run"]) {
        return opaque("program.patch", call.name);
    }
    let takes = ["-p", "-i", "--input", "-d", "--directory", "-o", "-D", "-r", "-V", "-F"];
    let named = operands(call.args, &takes);
    let mut worst = opaque("program.patch", call.name);
    let fed = call.stdin.path.clone().map(Arg::with_known_text);
    let given = values(call.args, &["-i", "--input"]).into_iter().chain(fed);
    given
        .chain(named.get(1).map(|arg| (*arg).clone()))
        .for_each(|file| shell.keep_applied_patch(&file));
    for file in named.first().copied().into_iter().chain(values(call.args, &["-o"]).iter()) {
        worst.raise(write(shell, file));
    }
    worst
}

/// Judges `yq`, which reads, or with `-i` writes its files.
pub(super) fn yq(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if !has_any(call.args, &["-i", "--inplace"]) {
        return rules::by_options(call);
    }
    let named = operands(call.args, &["-o", "-p", "--output-format", "--input-format"]);
    let verbs = ["e", "eval", "ea", "eval-all"];
    let verb = named.first().is_some_and(|word| verbs.iter().any(|verb| word.is_word(verb)));
    // The first operand after the verb is the expression.
    let files = named.into_iter().skip(1 + usize::from(verb));
    let found = files.map(|file| write(shell, file)).reduce(|one, other| one.most_severe(other));
    found.unwrap_or_else(|| opaque("program.writes", call.name))
}

/// Judges `uniq IN OUT` and `xxd IN OUT`: the second operand is written. For `xxd` this is any word
/// after the first operand, even if it looks like an option.
pub(super) fn second(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
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
        return writes("program.writes", call.name).most_severe(write(shell, file));
    }
    if call.args.iter().any(|arg| !arg.sure && arg.lead.is_empty()) {
        return opaque("program.value", call.name).inspects();
    }
    rules::by_options(call)
}

pub(super) fn mkdir(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let mut worst = writes("program.writes", call.name);
    for folder in operands(call.args, &["-m", "--mode"]) {
        let location = located_path(shell, folder).location;
        shell.touch(folder, PathEffect::MakeFolder);
        // A new folder among the folders of the system destroys nothing, but it is not part of the
        // workspace.
        if location == Location::System {
            worst.raise(opaque("program.writes", call.name));
        }
    }
    worst
}
