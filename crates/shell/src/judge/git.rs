//! Judges `git` by its subcommand. Committed work can be recovered; work that was never committed
//! cannot.

use super::options::{self, has_option, is_set, operands, takes_next, values};
use super::{
    Arg, Class, PathEffect, ProgramCall, Shell, ShellFinding, WordOrigin, destructive_rule, opaque,
    reads, remove, rules, table,
};
use crate::git_settings::{
    GitSetting, decides_what_git_does, git_setting, section_decides_what_git_does,
};
use crate::paths::is_in_folder;

/// Like [`options::any`], but long options may be abbreviated, as git allows, and words after `--`
/// do not count.
fn has_any_option(args: &[Arg], words: &[&str]) -> bool {
    words.iter().any(|word| match word.starts_with("--") {
        true => has_option(args, &[word]),
        false => options::has_any(options::before_dashes(args), &[word]),
    })
}

pub(super) fn git(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let mut at = 0;
    let mut worst = reads("git");
    let before = shell.cwd().map(str::to_owned);
    while let Some(arg) = call.args.get(at).filter(|arg| arg.looks_like_option()) {
        if arg.is_any_of(&["--help", "-h", "--version", "-v"]) {
            return reads("git");
        }
        let value = call.args.get(at + 1);
        match (arg.lead.as_str(), value) {
            ("-c", Some(setting)) => worst.raise(judged_configuration(shell, &setting.text)),
            ("-C", Some(folder)) => {
                let args = std::slice::from_ref(folder);
                let to = ProgramCall { name: "cd", args, stdin: call.stdin };
                super::builtins::change_folder(shell, &to);
            }
            ("--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs", _) => {}
            _ => worst.raise(opaque("git.options", &format!("git {}", arg.text))),
        }
        at += 1 + usize::from(takes_next(&arg.lead, &table::list("gitglobals")));
    }
    let found = match call.args.get(at).map(|name| (name, name.literal())) {
        None => reads("git"),
        Some((_, None)) => opaque("git.variable", "git"),
        Some((_, Some(name))) => subcommand(shell, name, &call.args[at + 1..], call),
    };
    // The configuration of a repository outside the workspace may run programs, and nobody has
    // reviewed it. So a read there counts as an inspection.
    let root = shell.at.root.as_deref().unwrap_or(&shell.at.cwd);
    let inside = shell.cwd().is_some_and(|cwd| is_in_folder(cwd, &crate::paths::slashed(root)));
    let found = if found.class == Class::Read && !inside { super::inspects("git") } else { found };
    shell.state.cwd = before;
    worst.most_severe(found)
}

/// Judges `-c KEY=VALUE`. For some keys, git runs the value.
fn judged_configuration(shell: &mut Shell, setting: &str) -> ShellFinding {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let key = key.to_ascii_lowercase();
    match git_setting(&key) {
        GitSetting::Harmless => return reads("git"),
        GitSetting::Place => return opaque("git.config", &key),
        GitSetting::Guard if key.starts_with("gc.") && !keeps_for_long(value) => {
            return destructive_rule("git.gc-prune", setting);
        }
        GitSetting::Program | GitSetting::Guard => {}
    }
    let code = value.strip_prefix('!').unwrap_or(value);
    if key.starts_with("alias.") && !value.starts_with('!') {
        let code = format!("git {value}");
        let found = shell.worst_inside(|shell| shell.text(&code));
        return found.unwrap_or_else(|| reads("git"));
    }
    if code.trim().is_empty() || table::holds("harmlesscode", code.trim()) {
        return reads("git");
    }
    let found = shell.judge_inner_code("git", code);
    found.unwrap_or_else(|| opaque("git.config", "git")).most_severe(opaque("git.config", &key))
}

/// Returns true if a time after which git forgets commits is long: `2.weeks.ago`, `never`.
fn keeps_for_long(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    ["week", "month", "year", "day", "never", "false"].iter().any(|word| value.contains(word))
}

fn subcommand(shell: &mut Shell, name: &str, args: &[Arg], call: &ProgramCall) -> ShellFinding {
    // `--help` cannot be abbreviated: `git reset --h` means `--hard`. After other words than one
    // verb, it may be a value, or belong to a command that git runs.
    let helps = match args {
        [only] => only.is_word("--help") || only.is_word("-h"),
        [verb, last] => !verb.looks_like_option() && last.is_word("--help"),
        _ => false,
    };
    if helps {
        return reads("git");
    }
    let from = call.args.len() - args.len() - 1;
    let named = ProgramCall { name: "git", args: &call.args[from..], stdin: call.stdin };
    let decides = |found: &ShellFinding| {
        found.class == Class::Read || found.inspects || found.rule.starts_with("git.")
    };
    let ruled = rules::judge(&named).filter(decides);
    let transport = chooses_transport(args);
    if let Some(found) = ruled.filter(|found| !(found.inspects && transport)) {
        return found;
    }
    let shown = call.shown_words(4);
    let takes = if name == "config" { "configtakes" } else { "gittakes" };
    let words = operands(args, &table::list(takes));
    let verb = words.first().map_or("", |word| word.text.as_str());
    let transfers = ["clone", "fetch", "pull", "push", "ls-remote", "archive"].contains(&name);
    let ends = values(args, &["--upload-pack", "--receive-pack", "--exec"]);
    let code = ends
        .iter()
        .filter(|_| transfers)
        .fold(reads("git"), |found, code| found.most_severe(judge_code(shell, &code.text)));
    let found = match (name, verb) {
        ("grep", _) => {
            judged_option_code(shell, values(args, &["-O", "--open-files-in-pager"]), &shown)
        }
        ("difftool", _) => judged_option_code(shell, values(args, &["-x", "--extcmd"]), &shown),
        ("log" | "diff" | "show" | "archive" | "format-patch" | "bundle", _) => {
            let files = values(args, &["-o", "--output", "--output-directory"]);
            let bundle = words.get(1).filter(|_| verb == "create").copied();
            files.iter().chain(bundle).for_each(|file| shell.touch(file, PathEffect::Write));
            opaque("git.writes", &format!("git {name}"))
        }
        ("branch", _) if has_any_option(args, &["-M", "-C"]) && operands(args, &[]).len() > 1 => {
            destructive_rule("git.branch-force", &shown)
        }
        ("branch", _) => opaque("git.branch", &shown),
        ("clone", _) => clone(shell, args),
        ("config", _) => setting(shell, args, &words),
        ("remote", "add" | "set-url") if runs_as_remote(&words) => {
            destructive_rule("git.config-steers", &shown)
        }
        ("remote", "add" | "set-url") => {
            shell.lasting.remotes.extend(words.get(1).map(|name| name.text.clone()));
            opaque("git.changes", &shown)
        }
        ("worktree", "add") => worktree(shell, args, &shown),
        ("submodule", "add") => {
            let words = operands(args, &["-b", "--branch", "--name", "--reference", "--depth"]);
            let modules = Arg::with_known_text(".gitmodules");
            let written = words.get(2).copied().into_iter().chain([&modules]);
            written.for_each(|file| shell.touch(file, PathEffect::Write));
            opaque("git.changes", &shown)
        }
        ("submodule", "foreach") | ("bisect", "run") => {
            let command = args.iter().skip_while(|arg| !arg.is_word(verb)).skip(1);
            let command: Vec<Arg> =
                command.skip_while(|arg| arg.looks_like_option()).cloned().collect();
            // One word is code, and several are a program with its arguments.
            if let [code] = command.as_slice() {
                judge_code(shell, &code.text)
            } else {
                opaque("git.runs", "git").most_severe(shell.started_by("git", command))
            }
        }
        ("checkout", _) => checkout(shell, args),
        ("switch", _) => {
            let forced = ["-C", "--force-create"];
            match has_any_option(args, &forced) && operands(args, &forced).len() == 1 {
                true => destructive_rule("git.branch-force", &shown),
                false => opaque("git.switch", "git switch"),
            }
        }
        ("fetch" | "pull", _) if forced_onto(args) => destructive_rule("git.branch-force", &shown),
        ("restore", _) => restore(shell, args),
        ("reset", _) => reset(args),
        ("clean", _) => {
            let settings = values(call.args, &["-c"]);
            let unforced =
                ["false", "no", "off", "0", ""].map(|no| format!("clean.requireforce={no}"));
            let set = |one: &Arg| unforced.contains(&one.text.to_ascii_lowercase());
            clean(args, settings.iter().any(set))
        }
        ("push", _) => push(args),
        ("rm", _) => delete(shell, args),
        ("mv", _) => judged_move(shell, args),
        ("apply" | "am", _) => {
            let takes = ["-p", "-C", "--exclude", "--include", "--directory"];
            let fed = call.stdin.path.clone().map(Arg::with_known_text);
            let files = operands(args, &takes).into_iter().cloned().chain(fed);
            files.for_each(|file| shell.keep_applied_patch(&file));
            opaque("git.changes", &format!("git {name}"))
        }
        ("sparse-checkout", "set" | "init" | "reapply") => {
            // Everything that is not named leaves the disk, also the rules by which calls are judged.
            let rules = Arg::with_known_text(".orchestration");
            if !words.iter().any(|word| word.is_word(&rules.text)) {
                shell.touch(&rules, PathEffect::Delete);
            }
            opaque("git.changes", &shown)
        }
        ("update-index", _) => {
            for arg in operands(args, &[]) {
                let path = arg.text.rsplit(',').next().unwrap_or_default();
                shell.touch(&Arg::with_known_text(path), PathEffect::Write);
            }
            opaque("git.plumbing", "git update-index")
        }
        ("symbolic-ref", _) if operands(args, &["-m"]).len() > 1 => {
            destructive_rule("git.plumbing", &shown)
        }
        _ => opaque("git.changes", &format!("git {name}")),
    };
    found.most_severe(code)
}

/// Judges `git clone`. It may run code: a setting may contain a command, and an option may name the
/// program that git starts at the other end.
fn clone(shell: &mut Shell, args: &[Arg]) -> ShellFinding {
    let mut found = opaque("git.changes", "git clone");
    for setting in &values(args, &["-c", "--config"]) {
        found.raise(judged_configuration(shell, &setting.text));
    }
    found.raise_all(values(args, &["-u"]).iter().map(|code| judge_code(shell, &code.text)));
    found
}

/// Judges `git worktree add FOLDER COMMIT`. An old commit may have another policy than the present
/// one, or none, so its work tree could evade the gate. A commit counts as old if it is given as a
/// hash, by an expression such as `HEAD~9`, or by a value that is not known.
fn worktree(shell: &mut Shell, args: &[Arg], shown: &str) -> ShellFinding {
    let words = operands(args, &["-b", "-B", "--reason", "--orphan"]);
    words.get(1).into_iter().for_each(|folder| shell.touch(folder, PathEffect::Write));
    let old = words.get(2).filter(|commit| {
        let hash = commit.text.len() >= 7 && commit.text.chars().all(|c| c.is_ascii_hexdigit());
        hash || !commit.sure || commit.text.contains(['~', '^', '{', ':'])
    });
    old.map_or_else(
        || opaque("git.changes", shown),
        |commit| destructive_rule("git.worktree-old", &commit.text),
    )
}

/// Returns true if an argument decides which program transfers the data (`--upload-pack`, `ext::…`)
/// or which branch the transfer changes (`--force`, `from:to`).
fn chooses_transport(args: &[Arg]) -> bool {
    has_any_option(args, &table::list("gittransport"))
        || has_option(args, &["-f"])
        || args.iter().any(|arg| {
            let address = arg.text.contains("://") || arg.text.contains('@');
            arg.text.contains("::")
                || !arg.looks_like_option() && arg.text.contains(':') && !address
        })
}

fn judge_code(shell: &mut Shell, code: &str) -> ShellFinding {
    opaque("git.runs", "git").most_severe(shell.judge_inner_code("git", code))
}

fn judged_option_code(shell: &mut Shell, codes: Vec<Arg>, shown: &str) -> ShellFinding {
    let code = codes.first();
    code.map_or_else(|| opaque("git.options", shown), |code| judge_code(shell, &code.text))
}

fn runs_as_remote(words: &[&Arg]) -> bool {
    let address = words.get(2).map(|word| word.text.as_str());
    decides_what_git_does("remote.x.url", address)
}

fn changed_section<'a>(args: &[Arg], words: &[&'a Arg]) -> Option<&'a Arg> {
    let verbs = ["remove-section", "rename-section"];
    let is_verb = |word: &Arg| verbs.iter().any(|verb| word.is_word(verb));
    let changes = words.first().is_some_and(|first| is_verb(first))
        || has_any_option(args, &["--remove-section", "--rename-section"]);
    let decides = |word: &&&Arg| !word.sure || section_decides_what_git_does(&word.text);
    words.iter().find(decides).filter(|_| changes).copied()
}

/// Judges `git config KEY VALUE` and `git config --unset KEY`. A value that git runs is judged as
/// code. A key alone is only read.
fn setting(shell: &mut Shell, args: &[Arg], words: &[&Arg]) -> ShellFinding {
    let places = table::list("configplaces");
    let asks =
        |arg: &Arg| !arg.looks_like_option() || places.iter().any(|place| arg.is_word(place));
    // `--unset` is an abbreviation of `--unset-all` too.
    let removes =
        has_any_option(args, &["--unset-all"]) || args.iter().any(|arg| arg.is_word("unset"));
    let changes = removes || args.iter().any(|arg| arg.is_word("set"));
    let words = words.iter().copied().filter(|word| !word.is_any_of(&["set", "unset"]));
    let words: Vec<&Arg> = words.collect();
    if let Some(section) = changed_section(args, words.as_slice()) {
        return destructive_rule("git.config-steers", &section.text);
    }
    match words.as_slice() {
        [_] if args.iter().all(asks) && !changes => reads("git"),
        [key, ..] if removes && decides_what_git_does(&key.text, None) => {
            destructive_rule("git.config-steers", &key.text)
        }
        [_, ..] if removes => opaque("git.config", "git config"),
        [key, value, ..] => {
            let may_run = !value.sure && git_setting(&key.text) == GitSetting::Program;
            if !key.sure || may_run || decides_what_git_does(&key.text, Some(&value.text)) {
                return destructive_rule("git.config-steers", &key.text);
            }
            let found = judged_configuration(shell, &format!("{}={}", key.text, value.text));
            opaque("git.config", &key.text).most_severe(found)
        }
        _ => opaque("git.config", "git config"),
    }
}

/// Returns true if a fetch overwrites a branch of this repository: `git fetch -f REMOTE from:to`,
/// or `+from:to`.
fn forced_onto(args: &[Arg]) -> bool {
    let forces = has_any_option(args, &["-f", "--force"]);
    operands(args, &["--depth", "-j", "--shallow-since"]).iter().skip(1).any(|spec| {
        let to = spec.text.split_once(':').map_or("", |(_, to)| to);
        !to.is_empty() && !to.starts_with("refs/remotes/") && (forces || spec.text.starts_with('+'))
    })
}

/// Returns true if an operand of `checkout` is a path and not a branch. Git looks at the disk to
/// decide this; here, the form of the word decides.
fn names_path(arg: &Arg) -> bool {
    let word = arg.text.as_str();
    let last = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    ["./", "../", "/", ":"].iter().any(|begin| word.starts_with(begin))
        || word.ends_with('/')
        || arg.glob
        || remove::file_name(last)
        || table::holds("checkoutpaths", word)
        || table::holds("wellknown", last)
}

const PATHS_FILE: &str = "--pathspec-from-file";

/// Returns the operands, and an unknown path if the option [`PATHS_FILE`] adds the paths in a file.
fn paths(args: &[Arg], takes: &[&str]) -> Vec<Arg> {
    let takes = [takes, &[PATHS_FILE][..]].concat();
    let mut found: Vec<Arg> = operands(args, &takes).into_iter().cloned().collect();
    if has_option(args, &[PATHS_FILE]) {
        found.push(Arg::unknown(PATHS_FILE, WordOrigin::Output));
    }
    found
}

fn checkout(shell: &mut Shell, args: &[Arg]) -> ShellFinding {
    let words = operands(args, &["-b", "-B", "--orphan", "--conflict"]);
    let dashes = args.iter().position(|arg| arg.is_word("--")).filter(|at| at + 1 < args.len());
    if let Some(at) = dashes {
        let paths: Vec<&Arg> = args[at + 1..].iter().collect();
        return judged_replacement(shell, "git.checkout-path", &paths);
    }
    if has_option(args, &[PATHS_FILE]) {
        let unknown = Arg::unknown(PATHS_FILE, WordOrigin::Output);
        return judged_replacement(shell, "git.checkout-path", &[&unknown]);
    }
    if has_any_option(args, &["-B"]) && words.len() == 1 {
        return destructive_rule("git.branch-force", "git checkout -B");
    }
    if has_any_option(args, &["-f", "--force"]) {
        return destructive_rule("git.checkout-force", "-f");
    }
    if has_any_option(args, &["-b", "-B", "--orphan"]) {
        return opaque("git.branch", "git checkout -b");
    }
    if has_any_option(args, &["-p", "--patch"]) {
        return destructive_rule("git.checkout-path", "-p");
    }
    let sides = has_any_option(args, &["--ours", "--theirs"]);
    let tracks = has_any_option(args, &["-t", "--track", "--detach", "-d"]);
    let paths = match words.as_slice() {
        [only] if names_path(only) || sides => &words[..],
        [first, _, ..] if !tracks && names_path(first) => &words[..],
        [_, rest @ ..] if !tracks => rest,
        _ => &[],
    };
    match paths {
        [] => opaque("git.checkout", "git checkout"),
        paths => judged_replacement(shell, "git.checkout-path", paths),
    }
}

fn judged_replacement(shell: &mut Shell, rule: &'static str, paths: &[&Arg]) -> ShellFinding {
    paths.iter().for_each(|path| shell.touch(path, PathEffect::Write));
    destructive_rule(rule, paths.first().map_or("git restore", |path| &path.text))
}

fn restore(shell: &mut Shell, args: &[Arg]) -> ShellFinding {
    let staged = has_any_option(args, &["--staged", "-S"]);
    let tree = has_any_option(args, &["--worktree", "-W"]);
    if staged && !tree {
        return opaque("git.unstage", "git restore --staged");
    }
    let paths = paths(args, &["-s", "--source"]);
    judged_replacement(shell, "git.restore", &paths.iter().collect::<Vec<_>>())
}

fn reset(args: &[Arg]) -> ShellFinding {
    let rules = [
        ("--hard", "git.reset-hard"),
        ("--merge", "git.reset-merge"),
        ("--keep", "git.reset-keep"),
    ];
    match rules.into_iter().find(|(option, _)| has_option(args, &[option])) {
        Some((option, rule)) => destructive_rule(rule, option),
        None => opaque("git.reset", "git reset"),
    }
}

/// Judges `git clean`. `unforced` is true if a setting lets git delete without `-f`.
fn clean(args: &[Arg], unforced: bool) -> ShellFinding {
    if is_set(args, 'n', "--dry-run", &["-e", "--exclude"]) {
        return reads("git");
    }
    match has_option(args, &["-f", "--force"])
        || has_any_option(args, &["-i", "--interactive"])
        || unforced
    {
        true => destructive_rule("git.clean", "clean -f"),
        false => opaque("git.clean", "git clean"),
    }
}

/// With this option, git overwrites a branch on a server only if it is as it was last seen here.
const LEASE: &str = "--force-with-lease";

fn push(args: &[Arg]) -> ShellFinding {
    let takes = ["-o", "--push-option", "--repo", "--receive-pack", "--exec"];
    if is_set(args, 'n', "--dry-run", &takes) {
        return reads("git");
    }
    let words = operands(args, &takes);
    let forces = |word: &&&Arg| {
        word.lead.starts_with('+') || word.lead.starts_with(':') && word.text.len() > 1
    };
    let reference = words.iter().skip(1).find(forces).map(|word| word.text.as_str());
    let flags = ["--force", "--mirror", "--delete", "--prune", "-f", "-d"];
    let flag = flags.into_iter().find(|flag| has_option(args, &[flag]));
    match reference.or(flag) {
        Some(word) => destructive_rule("git.push-force", word),
        None if has_option(args, &[LEASE]) => destructive_rule("git.push-lease", LEASE),
        None => opaque("git.push", "git push"),
    }
}

fn delete(shell: &mut Shell, args: &[Arg]) -> ShellFinding {
    if is_set(args, 'n', "--dry-run", &[PATHS_FILE]) {
        return reads("git");
    }
    if has_any_option(args, &["--cached"]) {
        // The file stays on disk, and the next commit deletes it for everybody else.
        paths(args, &[]).iter().for_each(|path| shell.touch(path, PathEffect::Write));
        return opaque("git.untrack", "git rm --cached");
    }
    let force = has_option(args, &["-f", "--force"]);
    let reason = "It deletes files that git can give back.";
    let mut worst = ShellFinding::new(Class::Write, "git.rm", "git rm", reason);
    for path in &paths(args, &[]) {
        let found = remove::judge_deletion(shell, path, has_option(args, &["-r"]));
        if force && found.class == Class::Destructive {
            worst.raise(found);
        }
    }
    worst
}

fn judged_move(shell: &mut Shell, args: &[Arg]) -> ShellFinding {
    let paths = operands(args, &[]);
    let Some((to, from)) = paths.split_last() else { return opaque("git.mv", "git mv") };
    for path in from {
        shell.touch(path, PathEffect::MoveFrom);
    }
    shell.touch(to, PathEffect::Write);
    super::writes("git.mv", "git mv")
}
