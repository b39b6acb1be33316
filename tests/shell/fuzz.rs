//! Commands that the reader calls `read` are run in a sandbox folder, and must change nothing there.
//!
//! Commands are built at random from programs that read, their options, and constructs with which a shell or a program
//! can be made to write. With `INTENT_TEST_ALL=1` they run for a minute, and with `INTENT_FUZZ_SECONDS=600 cargo test
//! --test it shell::fuzz` for longer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use shell::{Class, CommandContext, Dialect, read};

use crate::support::{runs_all, temporary_folder};

/// Commands that write, in the sandbox alone.
const PAYLOADS: &[&str] = &[
    "touch new",
    "touch${IFS}new",
    "touch src/new",
    "echo x>>src/a.txt",
    "./evil",
    "evil",
    "cp src/a.txt b",
    "tee src/a.txt<x.tsv",
    "sed -i s/a/b/ src/a.txt",
    "printf x>new",
];

/// Programs that read, with every option that is worth a try; `@` stands for a word.
const READERS: &[&str] = &[
    "ls @",
    "ls -l @ @",
    "cat @",
    "head -n 1 @",
    "tail -n @ src/a.txt",
    "wc -l @",
    "grep @ @",
    "grep -r @ src",
    "echo @ @",
    "printf @ @",
    "printf '%s' @",
    "printf -v @ @",
    "printf '%n' @",
    "test -v @",
    "test -f @",
    "[ -v @ ]",
    "[ @ = @ ]",
    "[[ -v @ ]]",
    "[[ @ -eq @ ]]",
    "[[ @ == @ ]]",
    "((@))",
    "((x=@))",
    "let @",
    "let x=@",
    "declare @",
    "declare -i @",
    "declare x=@",
    "declare -n x=@",
    "declare -l x=@",
    "typeset -i x=@",
    "local x=@",
    "export @",
    "export x=@",
    "readonly x=@",
    "unset @",
    "read @ <<< @",
    "read -r x <<< @",
    "mapfile @ < x.tsv",
    "mapfile -C @ -c 1 y < x.tsv",
    "getopts a @",
    "wait -n -p @",
    "set -- @ @",
    "set -a",
    "set -k",
    "shopt -s @",
    "hash -p @ ls",
    "hash -r",
    "alias ls=@",
    "alias x=@",
    "complete -C @ ls",
    "compgen -W @",
    "compgen -C @",
    "enable -f @ ls",
    "trap @ EXIT",
    "trap @ DEBUG",
    "exec 3<> @",
    "exec @",
    "eval @",
    "command @",
    "builtin @",
    "type @",
    "pwd",
    "cd @",
    "pushd @",
    "popd",
    "dirs",
    "umask",
    "sort @",
    "sort -o @ x.tsv",
    "sort -o@ x.tsv",
    "sort --outp=@ x.tsv",
    "sort --compress-program=@ -S 1 x.tsv",
    "sort -k1 x.tsv",
    "uniq @",
    "uniq x.tsv @",
    "uniq -c x.tsv",
    "cut -f 1 @",
    "tr a b < @",
    "rev @",
    "tac @",
    "nl @",
    "od @",
    "xxd @",
    "xxd x.tsv @",
    "xxd -r @ @",
    "diff @ @",
    "cmp @ @",
    "comm @ @",
    "join @ @",
    "paste @ @",
    "column -t @",
    "fold @",
    "fmt @",
    "expand @",
    "seq @",
    "expr @",
    "basename @",
    "dirname @",
    "realpath @",
    "readlink -f @",
    "stat @",
    "file @",
    "file -C -m @",
    "md5sum @",
    "sha256sum @",
    "md5sum -c @",
    "base64 @",
    "base64 -d @",
    "date @",
    "date +@",
    "date -d @",
    "id",
    "whoami",
    "uname -a",
    "env",
    "env @",
    "env x=@ ls",
    "env @ ls",
    "env -S @",
    "printenv @",
    "find @",
    "find . -name @",
    "find . -fprint @",
    "find . -fls @",
    "find . -exec @ ;",
    "find . -exec @ {} +",
    "find . -ok @ ;",
    "find . @",
    "find src -newer @",
    "find . -delete -name @",
    "sed -n @ x.tsv",
    "sed -n 1p @",
    "sed -n 'w @' x.tsv",
    "sed 's/a/b/w @' x.tsv",
    "sed '1e @' x.tsv",
    "sed 's/.*/@/e' x.tsv",
    "sed -i s/a/b/ @",
    "sed --in-place=@ s/a/b/ x.tsv",
    "sed -e p -e 'w @' x.tsv",
    "sed '/a/w @' x.tsv",
    "sed 'y/a/b/;w @' x.tsv",
    "sed -f @ x.tsv",
    "sed 'a\\' -e 'w @' x.tsv",
    "sed -n '/x/{p;w @' -e '}' x.tsv",
    "sed 's/a/b/;s/c/d/w @' x.tsv",
    "awk '{print}' @",
    "awk '{print > \"@\"}' x.tsv",
    "awk '{print | \"@\"}' x.tsv",
    "awk 'BEGIN{system(\"@\")}'",
    "awk 'BEGIN{\"@\" | getline}'",
    "awk -v x=@ '{print x}' x.tsv",
    "awk '/\"/{print > \"@\"}' x.tsv",
    "awk '{printf \"a\" >> \"@\"}' x.tsv",
    "awk -f @ x.tsv",
    "awk '$1>2' @",
    "jq . @",
    "jq -n @",
    "tree -o @",
    "tree @",
    "tar -tf @",
    "tar -tf x.tar --to-command=@",
    "tar -tf x.tar -I @",
    "tar -tf x.tar --index-file=@",
    "dd if=x.tsv of=@",
    "dd if=@",
    "xargs @ < x.tsv",
    "xargs -a @ ls",
    "xargs -I{} @ < x.tsv",
    "timeout 1 @",
    "nice @",
    "nohup @",
    "stdbuf -o0 @",
    "time @",
    "/usr/bin/time -o @ ls",
    "strace -o @ ls",
    "script -qc @ out",
    "setsid -w @",
    "ionice @",
    "bash -c @",
    "sh -c @",
    "bash -n @",
    "bash --rcfile @ -ic ls",
    "bash @",
    "source @",
    ". @",
    "less -o @ x.tsv",
    "more @",
    "less @",
    "man -P @ ls",
    "iconv -o @ x.tsv",
    "shuf -o @ x.tsv",
    "split @",
    "csplit @ 1",
    "tee @ < x.tsv",
    "git status",
    "git status @",
    "git log @",
    "git log --output=@",
    "git log --outp=@",
    "git diff @",
    "git diff --output @",
    "git diff --ext-diff",
    "git show @",
    "git -c core.fsmonitor=@ status",
    "git -c core.pager=@ -p log",
    "git -c alias.x=!@ x",
    "git -c diff.external=@ diff HEAD~1",
    "git --exec-path=@ status",
    "git grep -O@ a",
    "git grep @",
    "git branch @",
    "git branch -a @",
    "git branch --list @",
    "git tag @",
    "git tag -l @",
    "git config @ @",
    "git config --get @",
    "git config --list",
    "git ls-remote --upload-pack=@ .",
    "git ls-remote @",
    "git ls-files @",
    "git rev-parse @",
    "git blame @",
    "git cat-file -p @",
    "git stash list",
    "git stash show @",
    "git remote @",
    "git remote -v",
    "git worktree list",
    "git worktree add @",
    "git notes @",
    "git reflog @",
    "git bisect run @",
    "git rev-list @",
    "git describe @",
    "git shortlog @",
    "git archive -o @ HEAD",
    "git bundle create @ HEAD",
    "git hash-object -w @",
    "git diff --no-index @ @",
    "git -C @ status",
    "git --git-dir=@ log",
    "git for-each-ref @",
    "git symbolic-ref HEAD @",
    "git update-index @",
    "git check-ignore @",
    "git show-ref @",
    "git merge-base @ @",
    "git submodule foreach @",
    "git submodule status",
    "git fsck",
];

/// Constructs around a command; `%` stands for the command.
const AROUND: &[&str] = &[
    "x=echo; bash -c '$x %'",
    "x=echo; y=(echo); sh -c '$x %; ${y[0]} %'",
    "touch() { :; }; bash -c '%'",
    "echo @ $x | xargs %",
    "set -- ls touch; shift; $1 new; %",
    "x=ls; unset x; ${x:-touch} new; %",
    "(touch() { :; }); touch new; %",
    "alias touch=ls; touch new; %",
    "if false; then touch() { :; }; fi; touch new; %",
    "x=$(true); echo ${x:-@}; %",
    "touch() { :; }; unset -f touch; touch new; %",
    "touch() { :; }; %",
    "x=$(cat x.tsv); %",
    "echo @ @ | xargs %",
    "set -- @ @; shift; %",
    "shift; %",
    "unset @; %",
    "%",
    "%",
    "%",
    "%",
    "%; %",
    "% && %",
    "% || %",
    "% | %",
    "(%)",
    "{ %; }",
    "if %; then %; fi",
    "for x in @ @; do %; done",
    "for PATH in src .; do %; done",
    "f() { %; }; f",
    "ls() { %; }; ls",
    "case @ in *) %;; esac",
    "x=@; %",
    "x=@; y=x; %",
    "x=$(%); echo $x",
    "PATH=src:$PATH; %",
    "PATH=src %",
    "BASH_ENV=./evil %",
    "GIT_EXTERNAL_DIFF=./evil %",
    "LD_PRELOAD=./evil %",
    "PS4='$(touch new)' %",
    "n=1; while [ $n -lt 3 ]; do %; n=$((n+1)); done",
    "c=ls; for i in 1 2; do $c src; c=@; done",
    "c=ls; n=0; while [ $n -lt 3 ]; do $c new; c=touch; n=$((n+1)); done",
    "time %",
    "! %",
    "% > /dev/null",
    "% > @",
    "% 2> @",
    "% &> @",
    "% < @",
    "% <<< @",
    "% <<E\n@\nE\n",
    "% 3<> @",
    "% >| @",
    "command %",
    "declare A=echo B=$A; $B @; %",
    "c=touch; f() { local c=echo; }; f; $c new; %",
    "a[@]=1; %",
    "a=([@]=1); %",
    "x=@; echo ${x@P}; %",
    "x=@; declare -i x; x=@; %",
    "IFS=:; %",
    "export x=@; %",
    "set -a; %",
    "set -- @; $1; %",
    "set -- @; \"$@\"",
    "alias ls=@; %",
    "trap @ EXIT; %",
    "exec {PATH}>/dev/null; %",
    "coproc %",
    "% & wait",
    "printf -v PATH src; %",
    "read PATH <<< src; %",
    "cd src; %",
    "cd src && ls; cd ..; %",
    "hash -p ./evil ls; %",
    "set -o @; %",
    "shopt -s @; %",
];

/// Words; `%` stands for a command that writes.
const WORDS: &[&str] = &[
    "src/a.txt",
    "x.tsv",
    "README.md",
    "src",
    ".",
    "new",
    "b",
    "a",
    "x",
    "1",
    "HEAD",
    "*",
    "src/*",
    "-n",
    "-l",
    "--",
    "-o",
    "-onew",
    "--output=new",
    "-i",
    "ls",
    "touch",
    "./evil",
    "evil",
    "src/ls",
    "./src/ls",
    "PATH",
    "PATH=src",
    "x=1",
    "nullglob",
    "expand_aliases",
    "$x",
    "\"$x\"",
    "${x}",
    "${x:-%}",
    "${x:=a}",
    "${x:+a}",
    "$(%)",
    "\"$(%)\"",
    "`%`",
    "<(%)",
    ">(%)",
    "$((1+1))",
    "$((x))",
    "$(( $(%) ))",
    "${x@P}",
    "\"${x@P}\"",
    "${!x}",
    "\"${!y@P}\"",
    "${x[$(%)]}",
    "${x[a[$(%)]]}",
    "'a[$(%)]'",
    "'a[$(%)]=1'",
    "a[$(%)]",
    "\"a[\\$(%)]\"",
    "${x:a[$(%)]}",
    "${x:$((1)):1}",
    "${x/a/$(%)}",
    "${#x}",
    "${x%a}",
    "${x^^}",
    "'$(%)'",
    "'%'",
    "\"%\"",
    "$'%'",
    "$'\\x74ouch new'",
    "{touch,new}",
    "{a,b}",
    "~/x",
    "'; % #'",
    "\"'; % #\"",
    "'|%'",
    "'p;w new'",
    "'1,2p'",
    "w new",
    "'s/a/b/w new'",
    "'{print}'",
    "'BEGIN{system(\"%\")}'",
    "@(a|b)",
    "*(e:'%':)",
    "!(a)",
    "src/a.txt:1",
    "HEAD:README.md",
    "--exec=%",
    "-exec",
    "-delete",
    "-fprint",
    "'$x'",
    "\\$x",
    "$HOME",
    "$PWD/src/ls",
    "/bin/ls",
    "/usr/bin/touch",
    "a$(%)b",
    "\"a b\"",
    "''",
    "2",
    "0",
    "$1",
    "$@",
    "$?",
    "-v",
    "-C",
    "-x",
    "a.b",
    "=",
    "x[0]",
    "-p",
];

struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % below
    }

    fn of(&mut self, list: &[&'static str]) -> &'static str {
        list[self.next(list.len())]
    }

    fn fill(
        &mut self,
        text: &str,
        mark: char,
        with: &mut impl FnMut(&mut Self) -> String,
    ) -> String {
        let mut out = String::new();
        for c in text.chars() {
            if c == mark { out.push_str(&with(self)) } else { out.push(c) }
        }
        out
    }

    fn word(&mut self) -> String {
        let word = self.of(WORDS);
        self.fill(word, '%', &mut |chance| chance.of(PAYLOADS).to_owned())
    }

    fn command(&mut self, depth: usize) -> String {
        let around = if depth > 2 { "%" } else { self.of(AROUND) };
        let filled = self.fill(around, '%', &mut |chance| {
            if depth < 2 && chance.next(4) == 0 {
                return chance.command(depth + 1);
            }
            let reader = chance.of(READERS);
            chance.fill(reader, '@', &mut Chance::word)
        });
        // The remaining marks belong to the construct, because those of the programs are filled already.
        let words = around.contains('@');
        if words { self.fill(&filled, '@', &mut Chance::word) } else { filled }
    }
}

/// Returns every file below a folder with its content and permissions, without git's index, which also stores times.
fn state(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, String)> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").filter_map(Result::ok) {
            let path = entry.path();
            let about = entry.metadata().expect("it is there");
            if about.is_dir() {
                todo.push(path.clone());
            }
            if path.ends_with(".git/index") {
                continue;
            }
            let content =
                if about.is_file() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
            found.insert(path, (content, format!("{:?}", about.permissions())));
        }
    }
    found
}

fn run(root: &Path, text: &str) {
    let mut command = Command::new("timeout");
    command.args(["-k", "1", "2", "bash", "--norc", "--noprofile", "-c", text]);
    command.current_dir(root.join("app")).env_clear();
    command
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", root.join("home"))
        .env("LANG", "C");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().expect("bash starts");
}

fn sandbox() -> tempfile::TempDir {
    let root = temporary_folder();
    let app = root.path().join("app");
    std::fs::create_dir_all(app.join("src")).expect("made");
    std::fs::create_dir_all(root.path().join("home")).expect("made");
    let setup = "printf 'a\\tb\\n' > x.tsv; echo a > src/a.txt; echo a > README.md; tar cf x.tar README.md; \
        printf '#!/bin/sh\\ntouch new\\n' > evil; cp evil src/ls; cp evil src/git; cp evil src/cat; chmod +x evil src/ls src/git src/cat; \
        git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm a; echo b >> README.md; touch -- -onew -delete -fprint --output=new; git status";
    run(root.path(), setup);
    root
}

#[test]
#[ignore = "slow"]
fn a_command_that_is_called_read_changes_nothing() {
    if Command::new("timeout").arg("--version").output().is_err() || cfg!(windows) {
        return;
    }
    let seconds = std::env::var("INTENT_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let seed = std::env::var("INTENT_FUZZ_SEED").ok().and_then(|text| text.parse().ok());
    let now =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |now| now.as_nanos());
    let seed = seed.unwrap_or(u64::try_from(now & u128::from(u64::MAX)).unwrap_or(1)) | 1;
    // A usual run has a fixed number of commands, and a long one a fixed time.
    let time = Duration::from_secs(seconds.unwrap_or(60));
    let enough = if runs_all() || seconds.is_some() { u64::MAX } else { 120 };
    let until = Instant::now() + time;
    let root = sandbox();
    let app = root.path().join("app");
    let at = CommandContext {
        cwd: app.clone(),
        root: Some(app),
        home: Some(root.path().join("home")),
        temp: vec![PathBuf::from("/tmp")],
    };
    let mut before = state(root.path());
    run(root.path(), "touch new");
    assert_ne!(state(root.path()), before, "a change is not noticed");
    run(root.path(), "rm new");
    assert_eq!(state(root.path()), before);
    let mut chance = Chance(seed);
    let (mut made, mut ran) = (0_u64, 0_u64);
    let mut wrong = Vec::new();
    while ran < enough && Instant::now() < until && wrong.len() < 20 {
        let text = chance.command(0);
        made += 1;
        let slow = ["coproc", "sleep"].iter().any(|word| text.contains(word));
        if slow || read(&text, Dialect::Posix, &at).class != Class::Read {
            continue;
        }
        ran += 1;
        run(root.path(), &text);
        let after = state(root.path());
        if after != before {
            let changed: Vec<_> = after
                .iter()
                .filter(|(path, found)| before.get(*path) != Some(found))
                .map(|(path, _)| path.display().to_string())
                .collect();
            wrong.push(format!("{text}\n    changed {}", changed.join(", ")));
            // New files are removed, so that the next command that makes them is noticed, too.
            for path in after.keys().filter(|path| !before.contains_key(*path)) {
                let _ = std::fs::remove_file(path);
            }
            before = state(root.path());
        }
    }
    println!("{made} commands, {ran} of them read and run, seed {seed}");
    assert!(wrong.is_empty(), "seed {seed}\n{}\n", wrong.join("\n"));
    assert!(ran > 50, "only {ran} of {made} commands were called read");
}
