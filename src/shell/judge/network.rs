//! Programs that fetch and send.

use super::options::{self, Known, any, operands, values};
use super::{ProgramCall, destructive, looks, opaque, redirected, rules, verbs};
use crate::shell::expand::Arg;
use crate::shell::paths::place;
use crate::shell::table;
use crate::shell::walk::{Shell, ShellFinding};

/// `curl`: reads from elsewhere, writes with `-o`, and asks a server to delete with `-X DELETE`.
pub(super) fn curl(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    if let Some(found) = deletes(call) {
        return found;
    }
    let gets = values(call.args, &["-X", "--request"])
        .iter()
        .all(|method| ["GET", "HEAD", "OPTIONS"].contains(&method.text.as_str()));
    let nowhere = |file: &Arg| file.is("/dev/null") || file.is("-");
    let shows = values(call.args, &["-o", "--output"]).iter().all(nowhere);
    if gets && shows && listed(call) {
        return looks(call.name);
    }
    let mut worst = opaque("network", call.name);
    for file in values(call.args, &["-o", "--output"]) {
        fetch(shell, &file);
    }
    if any(call.args, &["-O", "--remote-name"]) {
        by_name(shell, call);
    }
    for file in values(
        call.args,
        &["-o", "--output", "--output-dir", "-D", "--dump-header", "-c", "--cookie-jar"],
    ) {
        if let Some(found) = redirected(shell, &file, false) {
            worst = worst.or(found);
        }
    }
    worst
}

/// `wget`: always writes, unless to standard output.
pub(super) fn wget(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    if let Some(found) = deletes(call) {
        return found;
    }
    let mut worst = opaque("network", call.name);
    let to = values(call.args, &["-O", "--output-document"]);
    let shows = to.iter().any(|file| file.is("-"))
        || call
            .args
            .iter()
            .any(|arg| arg.sure && arg.text.starts_with('-') && arg.text.ends_with("O-"))
        || any(call.args, &["--spider"]);
    if shows && listed(call) {
        return looks(call.name);
    }
    for file in &to {
        fetch(shell, file);
    }
    if to.is_empty() {
        by_name(shell, call);
    }
    let names = ["-O", "--output-document", "-o", "--output-file", "-P", "--directory-prefix"];
    for file in values(call.args, &names) {
        if let Some(found) = redirected(shell, &file, false) {
            worst = worst.or(found);
        }
    }
    worst
}

/// Whether all options are known; a value that is not known may be one, and still only asks.
fn listed(call: &ProgramCall<'_>) -> bool {
    rules::line(call.name).is_some_and(|row| options::known(row, call.args) != Known::No)
}

/// A request that deletes, unless the server is one on this machine that is being worked on. What keeps data is none.
fn deletes(call: &ProgramCall<'_>) -> Option<ShellFinding> {
    let hosts = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];
    let keeps = table::list("storeports");
    let own = call.args.iter().any(|arg| {
        hosts.iter().any(|host| arg.text.contains(host))
            && !arg.text.contains("/_")
            && !keeps.iter().any(|port| arg.text.contains(port))
    });
    let word = verbs::requests_deletion(call.args).filter(|_| !own)?;
    Some(destructive("http.delete", &word, "It asks a server to delete something."))
}

/// Clients of other machines: what they start, and what they write here.
pub(super) fn copy(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let takes = ["-o", "-S", "-i", "-F", "-J", "-P", "-l", "-c", "-D", "-b", "-B", "-R", "-s"];
    let mut worst = opaque("network", call.name);
    for code in started(call.args) {
        let found = shell.within(|shell| {
            shell.process(call.name, |shell| {
                shell.code(&code, call.name);
            });
        });
        worst = worst.worse(found);
    }
    let named = operands(call.args, &takes);
    if let Some(to) = named.last().filter(|to| named.len() > 1 && !to.text.contains(':')) {
        worst =
            worst.or(redirected(shell, to, false).unwrap_or_else(|| opaque("network", call.name)));
    }
    worst
}

/// The programs that options of `ssh` and its kin start.
pub(super) fn started(args: &[Arg]) -> Vec<Arg> {
    let mut codes = values(args, &["-S", "-D"]);
    codes.retain(|code| code.text.contains([' ', '/']));
    codes.extend(values(args, &["-o"]).iter().filter_map(|option| {
        let (name, code) = option.text.split_once(['=', ' '])?;
        let name = name.to_ascii_lowercase();
        name.ends_with("command").then(|| Arg::known(code.trim()))
    }));
    codes
}

/// Notes that a file holds what was fetched: to run it unread is to run the download.
fn fetch(shell: &mut Shell<'_>, file: &Arg) {
    if file.sure {
        let path = place(shell, file).path;
        shell.fetched.push(path);
    }
}

/// The file that is named as the end of each address is.
fn by_name(shell: &mut Shell<'_>, call: &ProgramCall<'_>) {
    for address in call.args.iter().filter(|arg| arg.sure && arg.text.contains("://")) {
        let end = address.text.rsplit('/').next().unwrap_or_default();
        let name = end.split(['?', '#']).next().unwrap_or_default().to_owned();
        if !name.is_empty() {
            fetch(shell, &Arg::known(name));
        }
    }
}

/// `nc`, `socat`: with `-e` or `EXEC:` a shell for somebody else.
pub(super) fn pipe_to_others(_: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let gives = any(call.args, &["-e", "-c", "--exec", "--sh-exec"])
        && call.name != "socat"
        && operands(call.args, &[]).iter().any(|arg| arg.text.contains("sh"));
    let opens = call.args.iter().any(|arg| {
        let text = arg.text.to_ascii_lowercase();
        call.name == "socat" && (text.contains("exec:") || text.contains("system:"))
    });
    if gives || opens {
        return destructive("network.shell", &call.shown(3), "It gives a shell to somebody else.");
    }
    opaque("network", call.name)
}
