//! `git`, by subcommand. A commit can be found again; what was never committed cannot.

use super::options::{self, long, operands, short, takes_next, values};
use super::{ProgramCall, destructive, opaque, reads, remove, rules};
use crate::shell::expand::Arg;
use crate::shell::paths::below;
use crate::shell::table;
use crate::shell::walk::{Shell, ShellFinding};
use crate::shell::{Class, PathDeed};

const STASH: &str = "Keep the work first: `git stash -u`, or a commit on a branch.";

/// As git takes them: a long option may be shortened.
fn any(args: &[Arg], words: &[&str]) -> bool {
    words.iter().any(|word| match word.starts_with("--") {
        true => long(args, word),
        false => options::any(args, &[word]),
    })
}

pub(super) fn git(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let mut at = 0;
    let mut worst = reads("git");
    let before = shell.cwd().map(str::to_owned);
    while let Some(arg) = call.args.get(at) {
        if !arg.option() {
            break;
        }
        if arg.is("--help") || arg.is("-h") || arg.is("--version") || arg.is("-v") {
            return reads("git");
        }
        let value = call.args.get(at + 1);
        match (arg.lead.as_str(), value) {
            ("-c", Some(setting)) => worst = worst.or(configured(shell, &setting.text)),
            ("-C", Some(folder)) => {
                let args = std::slice::from_ref(folder);
                let to = ProgramCall { name: "cd", args, stdin: call.stdin };
                super::builtins::change_folder(shell, &to);
            }
            ("--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs", _) => {}
            _ => worst = worst.or(opaque("git.options", &format!("git {}", arg.text))),
        }
        at += 1 + usize::from(takes_next(&arg.lead, &table::list("gitglobals")));
    }
    let found = match call.args.get(at) {
        None => reads("git"),
        Some(name) => match name.literal() {
            Some(text) => {
                let aliased = aliased(shell, call.args, text);
                let rest = &call.args[at + 1..];
                aliased.unwrap_or_else(|| subcommand(shell, text, rest, call))
            }
            None => opaque("git.variable", "git"),
        },
    };
    // What a repository elsewhere is set up to run was not looked at by anybody.
    let root = shell.at.root.as_deref().unwrap_or(&shell.at.cwd);
    let own = shell.cwd().is_some_and(|cwd| below(cwd, &crate::shell::paths::slashed(root)));
    let found = if found.class == Class::Read && !own { super::looks("git") } else { found };
    shell.go(before);
    worst.or(found)
}

/// `-c KEY=VALUE`, where git runs the value.
fn configured(shell: &mut Shell<'_>, setting: &str) -> ShellFinding {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let key = key.to_ascii_lowercase();
    if table::holds("gitsafe", &key) {
        return reads("git");
    }
    if !table::holds("gitruns", &key) {
        return opaque("git.config", &key);
    }
    let code = value.strip_prefix('!').unwrap_or(value);
    if key.starts_with("alias.") && !value.starts_with('!') {
        let found = shell.within(|shell| {
            shell.text(&format!("git {value}"));
        });
        return found.unwrap_or_else(|| reads("git"));
    }
    let harmless = ["", "cat", "less", "true", "vim", "vi", "nano", ":", "false", "/dev/null"];
    if harmless.contains(&code.trim()) {
        return reads("git");
    }
    let found = shell.inner("git", code);
    found.unwrap_or_else(|| opaque("git.config", "git")).or(opaque("git.config", &key))
}

/// An alias that the same command line defines is judged by its definition.
fn aliased(shell: &mut Shell<'_>, args: &[Arg], name: &str) -> Option<ShellFinding> {
    let settings = values(args, &["-c"]);
    let begin = format!("alias.{name}=");
    let setting = settings.iter().find(|setting| setting.text.starts_with(&begin))?;
    Some(configured(shell, &setting.text))
}

fn lost(rule: &'static str, word: &str, reason: &str, safer: &'static str) -> ShellFinding {
    destructive(rule, word, reason).safer(safer)
}

fn subcommand(
    shell: &mut Shell<'_>,
    name: &str,
    args: &[Arg],
    call: &ProgramCall<'_>,
) -> ShellFinding {
    if any(args, &["--help"]) || args.len() == 1 && args[0].is("-h") {
        return reads("git");
    }
    let from = call.args.len() - args.len() - 1;
    let named = ProgramCall { name: "git", args: &call.args[from..], stdin: call.stdin };
    let says = |found: &ShellFinding| {
        found.class == Class::Read || found.looks || found.rule.starts_with("git.")
    };
    let ruled = rules::judge(&named).filter(says);
    let transport = found_elsewhere(args);
    if let Some(found) = ruled.filter(|found| !(found.looks && transport)) {
        return found;
    }
    let shown = call.shown(4);
    match name {
        "grep" => match values(args, &["-O", "--open-files-in-pager"]).first() {
            Some(pager) => inner(shell, &pager.text),
            None => opaque("git.options", &shown),
        },
        "log" | "diff" | "show" | "reflog" | "stash" | "branch" | "tag" | "remote" | "config"
        | "worktree" | "notes" | "submodule" | "bisect" => listing(shell, name, args, &shown),
        "checkout" => checkout(shell, args),
        "switch"
            if any(args, &["-C", "--force-create"])
                && operands(args, &["-C", "--force-create"]).len() == 1 =>
        {
            moved_branch(&shown)
        }
        "fetch" if forced_onto(args) => moved_branch(&shown),
        "restore" => restore(shell, args),
        "reset" => reset(args),
        "clean" => {
            let settings = values(call.args, &["-c"]);
            let unforced = settings
                .iter()
                .any(|setting| setting.text.eq_ignore_ascii_case("clean.requireForce=false"));
            clean(args, unforced.then_some("clean.requireForce=false"))
        }
        "push" => push(args),
        "rm" => delete(shell, args),
        "mv" => moved(shell, args),
        "rebase" => rebase(shell, args),
        "apply" | "am" => {
            let takes = ["-p", "-C", "--exclude", "--include", "--directory"];
            let fed = call.stdin.path.clone().map(Arg::known);
            let files = operands(args, &takes).into_iter().cloned().chain(fed);
            files.for_each(|file| shell.applied(&file));
            opaque("git.changes", &format!("git {name}"))
        }
        "update-index" => {
            for arg in operands(args, &[]) {
                let path = arg.text.rsplit(',').next().unwrap_or_default();
                shell.touch(&Arg::known(path), PathDeed::Write);
            }
            opaque("git.plumbing", "git update-index")
        }
        "symbolic-ref" if operands(args, &["-m"]).len() > 1 => lost(
            "git.plumbing",
            &shown,
            "It changes which branch is checked out, and leaves the files as they are.",
            "Use `git switch`.",
        ),
        "difftool" => match values(args, &["-x", "--extcmd"]).first() {
            Some(code) => inner(shell, &code.text),
            None => opaque("git.other", "git difftool"),
        },
        "add" | "commit" | "fetch" | "pull" | "merge" | "cherry-pick" | "revert" | "init"
        | "clone" => opaque("git.changes", &format!("git {name}")),
        "switch" => opaque("git.switch", "git switch"),
        "archive" | "format-patch" | "bundle" => {
            let mut files = values(args, &["-o", "--output", "--output-directory"]);
            if let ("bundle", [create, file, ..]) = (name, operands(args, &[]).as_slice())
                && create.is("create")
            {
                files.push((*file).clone());
            }
            files.iter().for_each(|file| shell.touch(file, PathDeed::Write));
            opaque("git.writes", &format!("git {name}"))
        }
        _ => opaque("git.other", &format!("git {name}")),
    }
}

/// Whether what is fetched comes by a program of the caller's, or goes into a branch.
fn found_elsewhere(args: &[Arg]) -> bool {
    any(args, &table::list("gittransport"))
        || short(args, 'f')
        || args.iter().any(|arg| {
            let address = arg.text.contains("://") || arg.text.contains('@');
            arg.text.contains("::") || !arg.option() && arg.text.contains(':') && !address
        })
}

/// Subcommands that list by default and change with some options or words.
fn listing(shell: &mut Shell<'_>, name: &str, args: &[Arg], shown: &str) -> ShellFinding {
    let takes: &[&str] = match name {
        "config" => &["-f", "--file", "--blob", "--type", "--default", "--value", "--comment"],
        _ => &["-m", "-n", "--format", "--sort", "-u"],
    };
    let words = operands(args, takes);
    let verb = words.first().map_or("", |word| word.text.as_str());
    let asks = |arg: &Arg| {
        let places =
            ["--global", "--local", "--system", "--worktree", "--show-origin", "--show-scope"];
        places.iter().any(|place| arg.is(place))
    };
    match (name, verb) {
        ("log" | "diff" | "show", _) => {
            let files = values(args, &["--output"]);
            for file in &files {
                shell.touch(file, PathDeed::Write);
            }
            match files.is_empty() {
                true => opaque("git.options", shown),
                false => opaque("git.output", "git"),
            }
        }
        ("branch", _) => opaque("git.branch", shown),
        ("config", _) if words.len() == 1 && args.iter().all(|arg| !arg.option() || asks(arg)) => {
            reads("git")
        }
        ("config", _) => setting(shell, &words),
        ("remote", "add" | "set-url") => {
            shell.remotes.extend(words.get(1).map(|name| name.text.clone()));
            opaque("git.changes", shown)
        }
        ("worktree", "add") => {
            let takes = ["-b", "-B", "--reason", "--orphan"];
            let words = operands(args, &takes);
            if let Some(folder) = words.get(1) {
                shell.touch(folder, PathDeed::Write);
            }
            let old = words.get(2).filter(|commit| {
                let hash =
                    commit.text.len() >= 7 && commit.text.chars().all(|c| c.is_ascii_hexdigit());
                hash || !commit.sure || commit.text.contains(['~', '^', '{', ':'])
            });
            match old {
                Some(commit) => lost(
                    "git.worktree-old",
                    &commit.text,
                    "In a work tree of an old commit other rules hold than here, or none.",
                    "Name a branch, or look at the commit with `git show`.",
                ),
                None => opaque("git.changes", shown),
            }
        }
        ("submodule", "add") => {
            let folder = operands(args, &["-b", "--branch", "--name", "--reference", "--depth"]);
            let added = folder.get(2).map(|folder| (*folder).clone());
            for file in added.into_iter().chain([Arg::known(".gitmodules")]) {
                shell.touch(&file, PathDeed::Write);
            }
            opaque("git.changes", shown)
        }
        ("submodule", "foreach") | ("bisect", "run") => {
            let code = args.iter().skip_while(|arg| !arg.is(verb)).skip(1);
            let code: Vec<&str> =
                code.skip_while(|arg| arg.option()).map(|arg| arg.text.as_str()).collect();
            inner(shell, &code.join(" "))
        }
        _ => opaque("git.changes", shown),
    }
}

/// Code that git runs.
fn inner(shell: &mut Shell<'_>, code: &str) -> ShellFinding {
    let found = shell.inner("git", code);
    opaque("git.runs", "git").or(found.unwrap_or_else(|| opaque("git.runs", "git")))
}

/// `git config KEY VALUE`: a value that git runs is judged as code.
fn setting(shell: &mut Shell<'_>, words: &[&Arg]) -> ShellFinding {
    let words: Vec<&&Arg> = words.iter().filter(|word| !word.is("set")).collect();
    match words.as_slice() {
        [key, _, ..] if table::holds("gitsteers", &key.text.to_ascii_lowercase()) => lost(
            "git.config-steers",
            &key.text,
            "From now on it decides which programs git runs, and whether it runs ours.",
            "Give the setting to one command: `git -c KEY=VALUE …`.",
        ),
        [key, value, ..] => {
            let found = configured(shell, &format!("{}={}", key.text, value.text));
            opaque("git.config", &key.text).or(found)
        }
        _ => opaque("git.config", "git config"),
    }
}

/// A branch that is set to another commit: what only it finds is hard to find again.
fn moved_branch(shown: &str) -> ShellFinding {
    lost(
        "git.branch-force",
        shown,
        "It moves a branch away from its commits.",
        "Make a new branch.",
    )
}

/// `git fetch -f REMOTE from:to`, `+from:to`: a branch of this repository is overwritten.
fn forced_onto(args: &[Arg]) -> bool {
    let forces = any(args, &["-f", "--force"]);
    operands(args, &["--depth", "-j", "--shallow-since"]).iter().skip(1).any(|spec| {
        let to = spec.text.split_once(':').map_or("", |(_, to)| to);
        !to.is_empty() && !to.starts_with("refs/remotes/") && (forces || spec.text.starts_with('+'))
    })
}

/// Whether an operand of `checkout` is a path and no branch; git itself looks at the disk, which is not done here.
fn names_path(arg: &Arg) -> bool {
    let word = arg.text.as_str();
    let last = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let extension = remove::file_name(last);
    let well_known = ["Makefile", "Dockerfile", "README", "LICENSE", "Gemfile", "Rakefile"];
    word == "."
        || word.starts_with("./")
        || word.starts_with("../")
        || word.starts_with('/')
        || word.starts_with(':')
        || word.ends_with('/')
        || arg.glob
        || extension
        || well_known.contains(&last)
        || ["src", "lib", "tests"].contains(&word)
}

fn checkout(shell: &mut Shell<'_>, args: &[Arg]) -> ShellFinding {
    let takes = ["-b", "-B", "--orphan", "--conflict", "--pathspec-from-file"];
    let reason = "It replaces files by what was committed; changes to them are gone.";
    let dashes = args.iter().position(|arg| arg.is("--"));
    if let Some(at) = dashes.filter(|at| *at + 1 < args.len()) {
        for path in &args[at + 1..] {
            shell.touch(path, PathDeed::Write);
        }
        return lost("git.checkout-path", &format!("-- {}", args[at + 1].text), reason, STASH);
    }
    if any(args, &["-B"]) && operands(args, &takes).len() == 1 {
        return moved_branch("git checkout -B");
    }
    if any(args, &["-b", "-B", "--orphan"]) {
        return opaque("git.branch", "git checkout -b");
    }
    if any(args, &["-f", "--force"]) {
        return lost(
            "git.checkout-force",
            "-f",
            "It throws away changes that are not committed.",
            STASH,
        );
    }
    let words = operands(args, &takes);
    if any(args, &["-p", "--patch"]) {
        return lost("git.checkout-path", "-p", reason, STASH);
    }
    let sides = any(args, &["--ours", "--theirs", "--pathspec-from-file"]);
    let tracks = any(args, &["-t", "--track", "--detach", "-d"]);
    let paths: Vec<&&Arg> = match words.as_slice() {
        [] => Vec::new(),
        [only] if names_path(only) || sides => vec![only],
        [_] => Vec::new(),
        _ if tracks => Vec::new(),
        [first, rest @ ..] => {
            if names_path(first) {
                words.iter().collect()
            } else {
                rest.iter().collect()
            }
        }
    };
    let Some(first) = paths.first() else { return opaque("git.checkout", "git checkout") };
    for path in &paths {
        shell.touch(path, PathDeed::Write);
    }
    lost("git.checkout-path", &first.text, reason, STASH)
}

fn restore(shell: &mut Shell<'_>, args: &[Arg]) -> ShellFinding {
    let staged = any(args, &["--staged", "-S"]);
    let tree = any(args, &["--worktree", "-W"]);
    if staged && !tree {
        return opaque("git.unstage", "git restore --staged");
    }
    let paths = operands(args, &["-s", "--source"]);
    for path in &paths {
        shell.touch(path, PathDeed::Write);
    }
    let word = paths.first().map_or("restore", |path| path.text.as_str());
    lost(
        "git.restore",
        word,
        "It replaces files by what was committed; changes to them are gone.",
        STASH,
    )
}

fn reset(args: &[Arg]) -> ShellFinding {
    for (option, rule) in
        [("--hard", "git.reset-hard"), ("--merge", "git.reset-merge"), ("--keep", "git.reset-keep")]
    {
        if long(args, option) {
            return lost(rule, option, "It throws away changes that are not committed.", STASH);
        }
    }
    opaque("git.reset", "git reset")
}

/// `git clean`; `unforced` is the setting that lets it delete without `-f`.
fn clean(args: &[Arg], unforced: Option<&str>) -> ShellFinding {
    if short(args, 'n') || long(args, "--dry-run") {
        return reads("git");
    }
    if short(args, 'f') || long(args, "--force") || any(args, &["-i"]) || unforced.is_some() {
        return lost(
            "git.clean",
            unforced.unwrap_or("clean -f"),
            "It deletes files that git does not hold and cannot give back.",
            "Look first with `git clean -n`, or keep them with `git stash -u`.",
        );
    }
    opaque("git.clean", "git clean")
}

fn push(args: &[Arg]) -> ShellFinding {
    if short(args, 'n') && !any(args, &["--no-verify"]) || long(args, "--dry-run") {
        return reads("git");
    }
    let operands = operands(args, &["-o", "--push-option", "--repo", "--receive-pack", "--exec"]);
    let reference = operands.iter().skip(1).find(|word| {
        word.lead.starts_with('+') || word.lead.starts_with(':') && word.text.len() > 1
    });
    if let Some(reference) = reference {
        return lost(
            "git.push-force",
            &reference.text,
            "It overwrites or deletes a branch for everybody.",
            "Push to a new branch.",
        );
    }
    let flags = ["--force", "--force-with-lease", "--mirror", "--delete", "--prune"];
    let flag = flags
        .iter()
        .find(|flag| any(args, &[flag]) || long(args, flag) && !long(args, "--force-if-includes"));
    let flag = flag.copied().or_else(|| short(args, 'f').then_some("-f"));
    match flag.or_else(|| short(args, 'd').then_some("-d")) {
        Some(flag) => lost(
            "git.push-force",
            flag,
            "It overwrites or deletes a branch for everybody.",
            "Push to a new branch.",
        ),
        None => opaque("git.push", "git push"),
    }
}

fn delete(shell: &mut Shell<'_>, args: &[Arg]) -> ShellFinding {
    if any(args, &["-n", "--dry-run"]) {
        return reads("git");
    }
    if any(args, &["--cached"]) {
        return opaque("git.untrack", "git rm --cached");
    }
    let force = short(args, 'f') || long(args, "--force");
    let mut worst = ShellFinding::new(
        Class::Write,
        "git.rm",
        "git rm",
        "It deletes files that git can give back.",
    );
    for path in operands(args, &[]) {
        let found = remove::one(shell, path, short(args, 'r'));
        if force && found.class == Class::Destructive {
            worst = worst.or(found);
        }
    }
    worst
}

fn moved(shell: &mut Shell<'_>, args: &[Arg]) -> ShellFinding {
    let paths = operands(args, &[]);
    let (to, from) = match paths.split_last() {
        Some(split) => split,
        None => return opaque("git.mv", "git mv"),
    };
    for path in from {
        shell.touch(path, PathDeed::MoveFrom);
    }
    shell.touch(to, PathDeed::Write);
    super::writes("git.mv", "git mv")
}

fn rebase(shell: &mut Shell<'_>, args: &[Arg]) -> ShellFinding {
    let goes_on =
        ["--continue", "--abort", "--quit", "--skip", "--edit-todo", "--show-current-patch"];
    let code = values(args, &["-x", "--exec"]);
    for code in &code {
        let found = inner(shell, &code.text);
        if found.class == Class::Destructive {
            return found;
        }
    }
    if goes_on.iter().any(|option| any(args, &[option])) {
        return opaque("git.rebase", "git rebase");
    }
    lost(
        "git.rebase",
        "rebase",
        "It rewrites commits.",
        "Keep the old ones on a branch first, or merge.",
    )
}
