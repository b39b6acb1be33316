//! What is known of programs, as data. Every table is sorted by name, and a test holds it to that.

use super::{Judge, ProgramCall, builtins, code, destructive, files, git, network, remove, sql};
use crate::shell::walk::ShellFinding;

/// Programs that only read, whatever their options.
const READERS: &[&str] = &[
    ":",
    "[",
    "ag",
    "apropos",
    "arch",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "bat",
    "batcat",
    "bc",
    "bind",
    "break",
    "cal",
    "cat",
    "caller",
    "cksum",
    "cloc",
    "cmp",
    "colordiff",
    "column",
    "comm",
    "compgen",
    "complete",
    "continue",
    "cut",
    "delta",
    "df",
    "diff",
    "difft",
    "dig",
    "dirname",
    "dirs",
    "disown",
    "dos2unix-check",
    "dpkg-query",
    "du",
    "echo",
    "egrep",
    "eza",
    "exa",
    "exit",
    "expand",
    "expr",
    "factor",
    "false",
    "fgrep",
    "file",
    "findmnt",
    "fmt",
    "fold",
    "free",
    "getconf",
    "getent",
    "getopt",
    "getopts",
    "glances",
    "grep",
    "groups",
    "hash",
    "hd",
    "head",
    "hexdump",
    "host",
    "hostid",
    "htop",
    "id",
    "ifstat",
    "info",
    "iostat",
    "jobs",
    "join",
    "jq",
    "last",
    "ldd",
    "let",
    "locale",
    "locate",
    "logname",
    "look",
    "ls",
    "lsattr",
    "lsblk",
    "lscpu",
    "lsmem",
    "lsmod",
    "lsof",
    "lspci",
    "lsusb",
    "man",
    "md5",
    "md5sum",
    "mpstat",
    "nl",
    "nm",
    "nproc",
    "nslookup",
    "numfmt",
    "objdump",
    "od",
    "otool",
    "paste",
    "pathchk",
    "pgrep",
    "pidof",
    "ping",
    "popd",
    "pr",
    "printenv",
    "printf",
    "ps",
    "pstree",
    "pwd",
    "pwdx",
    "readelf",
    "readlink",
    "realpath",
    "return",
    "rev",
    "rg",
    "sar",
    "scc",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "shift",
    "shopt",
    "size",
    "sleep",
    "ss",
    "stat",
    "strings",
    "stty",
    "sum",
    "suspend",
    "sw_vers",
    "tac",
    "tail",
    "test",
    "times",
    "tldr",
    "tokei",
    "top",
    "tr",
    "traceroute",
    "true",
    "tsort",
    "tty",
    "type",
    "ulimit",
    "umask",
    "uname",
    "unexpand",
    "uptime",
    "users",
    "vmstat",
    "w",
    "wait",
    "wc",
    "whatis",
    "whereis",
    "which",
    "who",
    "whoami",
    "zcat",
    "zgrep",
    "zless",
];

pub(super) fn reader(name: &str) -> bool {
    READERS.contains(&name)
}

/// Which operands a program writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WrittenOperands {
    All,
    Last,
    None,
}

/// A program that writes what it names.
pub(super) struct Writes {
    name: &'static str,
    pub(super) which: WrittenOperands,
    /// Options that take the next word.
    pub(super) takes: &'static [&'static str],
    /// Options whose value is written.
    pub(super) outputs: &'static [&'static str],
    /// It only reads where nothing that it writes is named.
    pub(super) reads_otherwise: bool,
    /// It may change more than it names.
    pub(super) opaque: bool,
}

const fn all(name: &'static str, takes: &'static [&'static str]) -> Writes {
    Writes {
        name,
        which: WrittenOperands::All,
        takes,
        outputs: &[],
        reads_otherwise: false,
        opaque: false,
    }
}

/// Reads, and writes only the value of these options.
const fn output(name: &'static str, outputs: &'static [&'static str]) -> Writes {
    Writes {
        name,
        which: WrittenOperands::None,
        takes: &[],
        outputs,
        reads_otherwise: true,
        opaque: false,
    }
}

const fn last(name: &'static str, takes: &'static [&'static str]) -> Writes {
    Writes {
        name,
        which: WrittenOperands::Last,
        takes,
        outputs: &[],
        reads_otherwise: false,
        opaque: false,
    }
}

/// May change more than it names, and surely writes the values of these options.
const fn unsure(name: &'static str, outputs: &'static [&'static str]) -> Writes {
    Writes {
        name,
        which: WrittenOperands::None,
        takes: &[],
        outputs,
        reads_otherwise: false,
        opaque: true,
    }
}

const WRITERS: &[Writes] = &[
    unsure("7z", &["-o"]),
    unsure("as", &["-o"]),
    all("bunzip2", &[]),
    all("bzip2", &[]),
    unsure("cc", &["-o"]),
    unsure("clang", &["-o"]),
    unsure("clang++", &["-o"]),
    all("compress", &[]),
    unsure("convert", &[]),
    last("csplit", &["-f", "-b", "-n"]),
    all("dos2unix", &[]),
    unsure("ffmpeg", &[]),
    unsure("g++", &["-o"]),
    unsure("gcc", &["-o"]),
    all("gunzip", &["-S"]),
    all("gzip", &["-S"]),
    output("iconv", &["-o", "--output"]),
    unsure("ld", &["-o"]),
    all("mkfifo", &["-m"]),
    all("mknod", &["-m"]),
    unsure("nasm", &["-o"]),
    unsure("objcopy", &[]),
    unsure("pandoc", &["-o", "--output"]),
    unsure("rustc", &["-o", "--out-dir"]),
    output("shuf", &["-o", "--output"]),
    output("sort", &["-o", "--output"]),
    last("split", &["-l", "-b", "-n", "-C", "-a"]),
    all("sponge", &[]),
    unsure("strip", &["-o"]),
    all("tee", &[]),
    all("touch", &["-d", "-t", "-r", "--date", "--reference"]),
    output("tree", &["-o"]),
    all("unix2dos", &[]),
    all("unxz", &[]),
    output("xmllint", &["-o", "--output"]),
    all("xz", &[]),
    all("zstd", &["-o"]),
];

pub(super) fn writer(name: &str) -> Option<&'static Writes> {
    let at = WRITERS.binary_search_by(|row| row.name.cmp(name)).ok()?;
    Some(&WRITERS[at])
}

/// Programs whose options decide, each with a function of its own.
const SPECIALS: &[(&str, Judge)] = &[
    (".", builtins::source),
    ("alias", builtins::alias),
    ("ash", code::shell_program),
    ("bash", code::shell_program),
    ("dash", code::shell_program),
    ("fish", code::shell_program),
    ("ksh", code::shell_program),
    ("mksh", code::shell_program),
    ("rbash", code::shell_program),
    ("sh", code::shell_program),
    ("zsh", code::shell_program),
    ("yash", code::shell_program),
    ("oksh", code::shell_program),
    ("at", code::later),
    ("batch", code::later),
    ("awk", code::awk),
    ("bun", code::interpreter),
    ("cd", builtins::change_folder),
    ("chattr", files::permit),
    ("chdir", builtins::change_folder),
    ("chgrp", files::permit),
    ("chmod", files::permit),
    ("chown", files::permit),
    ("clickhouse-client", sql::judge),
    ("cockroach", sql::judge),
    ("cp", files::copy),
    ("cqlsh", sql::judge),
    ("crontab", builtins::crontab),
    ("curl", network::curl),
    ("dd", files::dd),
    ("declare", builtins::declare),
    ("del-cli", remove::whole),
    ("deno", code::interpreter),
    ("duckdb", sql::judge),
    ("ed", code::editor),
    ("emacs", code::interpreter),
    ("eval", builtins::eval),
    ("ex", code::editor),
    ("expect", code::interpreter),
    ("export", builtins::declare),
    ("fd", remove::fd),
    ("fdfind", remove::fd),
    ("find", remove::find),
    ("gawk", code::awk),
    ("gdb", code::editor),
    ("gfind", remove::find),
    ("gio", remove::trash),
    ("git", git::git),
    ("go", code::interpreter),
    ("gpg", network::keys),
    ("grm", remove::remove),
    ("groovy", code::interpreter),
    ("gsed", files::sed),
    ("history", builtins::history),
    ("install", files::copy),
    ("intent", code::intent),
    ("ipython", code::interpreter),
    ("irb", code::interpreter),
    ("isql", sql::judge),
    ("jshell", code::interpreter),
    ("julia", code::interpreter),
    ("kill", builtins::kill),
    ("link", files::link),
    ("ln", files::link),
    ("local", builtins::declare),
    ("lua", code::interpreter),
    ("luajit", code::interpreter),
    ("make", code::make),
    ("gmake", code::make),
    ("mapfile", builtins::read_in),
    ("mariadb", sql::judge),
    ("mawk", code::awk),
    ("mkdir", files::mkdir),
    ("mongo", sql::judge),
    ("mongosh", sql::judge),
    ("mv", files::rename),
    ("mycli", sql::judge),
    ("mysql", sql::judge),
    ("nawk", code::awk),
    ("nc", network::pipe_to_others),
    ("ncat", network::pipe_to_others),
    ("netcat", network::pipe_to_others),
    ("node", code::interpreter),
    ("nodejs", code::interpreter),
    ("nvim", code::editor),
    ("osascript", code::interpreter),
    ("patch", files::patch),
    ("perl", code::interpreter),
    ("pgcli", sql::judge),
    ("php", code::interpreter),
    ("psql", sql::judge),
    ("pushd", builtins::change_folder),
    ("pwsh", code::powershell),
    ("powershell", code::powershell),
    ("cmd", code::cmd),
    ("python", code::interpreter),
    ("python2", code::interpreter),
    ("python3", code::interpreter),
    ("pypy", code::interpreter),
    ("pypy3", code::interpreter),
    ("read", builtins::read_in),
    ("readarray", builtins::read_in),
    ("readonly", builtins::declare),
    ("rimraf", remove::whole),
    ("rm", remove::remove),
    ("rmdir", remove::empty_folder),
    ("rsync", files::rsync),
    ("ruby", code::interpreter),
    ("sed", files::sed),
    ("setfacl", files::permit),
    ("less", code::pager),
    ("more", code::pager),
    ("set", builtins::unset),
    ("shred", remove::shred),
    ("snowsql", sql::judge),
    ("socat", network::pipe_to_others),
    ("source", builtins::source),
    ("sqlcmd", sql::judge),
    ("sqlite3", sql::judge),
    ("srm", remove::shred),
    ("bsdtar", files::tar),
    ("gtar", files::tar),
    ("tar", files::tar),
    ("trap", builtins::trap),
    ("trash", remove::trash),
    ("trash-cli", remove::trash),
    ("trash-empty", remove::trash),
    ("trash-put", remove::trash),
    ("truncate", files::truncate),
    ("ts-node", code::interpreter),
    ("tsx", code::interpreter),
    ("typeset", builtins::declare),
    ("uniq", files::second),
    ("xxd", files::second),
    ("yq", files::yq),
    ("unlink", remove::remove),
    ("unset", builtins::unset),
    ("unzip", files::unzip),
    ("vi", code::editor),
    ("vim", code::editor),
    ("wget", network::wget),
    ("wipe", remove::shred),
    ("R", code::interpreter),
    ("Rscript", code::interpreter),
    ("elixir", code::interpreter),
    ("swift", code::interpreter),
    ("scala", code::interpreter),
    ("tclsh", code::interpreter),
    ("bq", sql::judge),
    ("influx", sql::judge),
    ("usql", sql::judge),
];

pub(super) fn special(name: &str) -> Option<Judge> {
    if let Some(row) = SPECIALS.iter().find(|row| row.0 == name) {
        return Some(row.1);
    }
    // `python3.12`, `lua5.4`, `php8.2`.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let versioned =
        plain != name && ["python", "lua", "php", "ruby", "perl", "pypy"].contains(&plain);
    versioned.then_some(code::interpreter as Judge)
}

/// A program that is destructive by itself, unless one of these words stands there.
struct Danger {
    name: &'static str,
    rule: &'static str,
    reason: &'static str,
    unless: &'static [&'static str],
}

const fn danger_row(
    name: &'static str,
    rule: &'static str,
    reason: &'static str,
    unless: &'static [&'static str],
) -> Danger {
    Danger { name, rule, reason, unless }
}

const DISK: &str = "It writes over a disk or its table of partitions.";
const STOP: &str = "It stops the machine.";
const ACCOUNTS: &str = "It changes the accounts of the machine.";
const PROCESSES: &str = "It ends every process that fits, not only one of its own.";

const DANGERS: &[Danger] = &[
    danger_row("badblocks", "disk", DISK, &["-n", "-sv", "-v"]),
    danger_row("blkdiscard", "disk", DISK, &[]),
    danger_row("cfdisk", "disk", DISK, &[]),
    danger_row("chpasswd", "accounts", ACCOUNTS, &[]),
    danger_row("deluser", "accounts", ACCOUNTS, &[]),
    danger_row("delgroup", "accounts", ACCOUNTS, &[]),
    danger_row("dropdb", "sql.drop", "It drops a whole database.", &[]),
    danger_row("dropuser", "sql.drop", "It drops an account of the database.", &[]),
    danger_row("fdisk", "disk", DISK, &["-l", "--list"]),
    danger_row("gdisk", "disk", DISK, &["-l"]),
    danger_row("groupdel", "accounts", ACCOUNTS, &[]),
    danger_row("halt", "machine.stop", STOP, &[]),
    danger_row("killall", "processes", PROCESSES, &["-l", "-0"]),
    danger_row("killall5", "processes", PROCESSES, &[]),
    danger_row("lvremove", "disk", DISK, &["-t", "--test"]),
    danger_row("mke2fs", "disk", DISK, &["-n"]),
    danger_row("mkfs", "disk", DISK, &[]),
    danger_row("mkswap", "disk", DISK, &[]),
    danger_row("newfs", "disk", DISK, &["-N"]),
    danger_row("parted", "disk", DISK, &["-l", "--list", "print"]),
    danger_row("pkill", "processes", PROCESSES, &["-0", "-l"]),
    danger_row("poweroff", "machine.stop", STOP, &[]),
    danger_row("pvremove", "disk", DISK, &["-t", "--test"]),
    danger_row("reboot", "machine.stop", STOP, &[]),
    danger_row("sfdisk", "disk", DISK, &["-l", "--list", "-d", "--dump"]),
    danger_row("sgdisk", "disk", DISK, &["-p", "--print"]),
    danger_row("shutdown", "machine.stop", STOP, &["-c"]),
    danger_row("skill", "processes", PROCESSES, &["-l"]),
    danger_row("userdel", "accounts", ACCOUNTS, &[]),
    danger_row("vgremove", "disk", DISK, &["-t", "--test"]),
    danger_row("wipefs", "disk", DISK, &["-n", "--no-act"]),
];

fn danger_of(name: &str) -> Option<&'static Danger> {
    let name = if name.starts_with("mkfs.") || name.starts_with("newfs_") { "mkfs" } else { name };
    DANGERS.iter().find(|row| row.name == name)
}

pub(super) fn dangerous(name: &str) -> bool {
    danger_of(name).is_some()
}

pub(super) fn danger(call: &ProgramCall<'_>) -> Option<ShellFinding> {
    let row = danger_of(call.name)?;
    if row.unless.iter().any(|word| super::options::any(call.args, &[word])) {
        return Some(super::opaque("program.listing", call.name));
    }
    Some(destructive(row.rule, &call.shown(2), row.reason))
}

/// Names of programs that destroy: what a glob in the place of a name may mean.
pub(super) fn destroyers() -> impl Iterator<Item = &'static str> {
    ["rm", "dd", "shred", "git", "find", "chmod", "chown", "truncate", "bash", "sh", "mv", "unlink"]
        .into_iter()
        .chain(DANGERS.iter().map(|row| row.name))
}

/// Names that, handed to a stranger word by word, are taken for the command it runs.
pub(super) fn handed(name: &str) -> bool {
    ["rm", "rimraf", "dd", "shred", "git", "find", "bash", "sh", "zsh", "truncate", "sudo", "mkfs"]
        .contains(&name)
        || name.starts_with("mkfs.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let mut names: Vec<&str> = READERS.to_vec();
        names.extend(WRITERS.iter().map(|row| row.name));
        names.extend(SPECIALS.iter().map(|row| row.0));
        names.extend(DANGERS.iter().map(|row| row.name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn what_is_searched_by_halves_is_sorted() {
        assert!(WRITERS.is_sorted_by(|a, b| a.name < b.name));
    }
}
