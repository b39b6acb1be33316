//! Judges programs that download data or send it away.

use super::options::{self, KnownOptions, has_any, operands, values};
use super::{
    Arg, ProgramCall, Shell, ShellFinding, by_words, destructive, destructive_rule, inspects,
    judged_redirection, located_path, opaque, rules, table,
};

/// Judges `curl` and `wget`: a download is shown or written to a file, and `-X DELETE` asks a
/// server to delete something.
pub(super) fn fetch(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    if let Some(found) = deletes(call) {
        return found;
    }
    let row = rules::line(call.name);
    let listed = |key| row.map_or_else(Vec::new, |row| values(call.args, &row.list(key)));
    let documents = listed("documents");
    let nowhere = |file: &Arg| file.is_word("/dev/null") || file.is_word("-");
    // The option and its value in one word: `-qO-`.
    let joined = |arg: &Arg| arg.sure && arg.text.starts_with('-') && arg.text.ends_with("O-");
    let by_its_name = match call.name {
        "curl" => has_any(call.args, &["-O", "--remote-name"]),
        _ => documents.is_empty(),
    };
    let shown = call.name == "curl"
        || !documents.is_empty()
        || call.args.iter().any(joined)
        || has_any(call.args, &["--spider"]);
    let shows = shown && documents.iter().all(nowhere);
    let gets = values(call.args, &["-X", "--request"])
        .iter()
        .all(|method| ["GET", "HEAD", "OPTIONS"].contains(&method.text.as_str()));
    // A value that is not known may be an option. Such a call still counts as a request that only
    // reads.
    if gets
        && shows
        && row.is_some_and(|row| options::known_options(row, call.args) != KnownOptions::Unlisted)
    {
        return inspects(call.name);
    }
    documents.iter().for_each(|file| fetched_into(shell, file));
    if by_its_name {
        by_name(shell, call);
    }
    let mut worst = opaque("network", call.name);
    for file in documents.iter().chain(&listed("outputs")) {
        worst.raise(judged_redirection(shell, file, false));
    }
    worst
}

/// Returns a finding for a request to delete. Servers on this machine are exempt, because they are
/// usually being developed; databases and other stores, known by their ports, are not exempt.
fn deletes(call: &ProgramCall) -> Option<ShellFinding> {
    let hosts = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];
    let keeps = table::list("storeports");
    let own = call.args.iter().any(|arg| {
        let address = arg.text.split_once("://").map_or(arg.text.as_str(), |(_, rest)| rest);
        let ends = |rest: &str| rest.is_empty() || rest.starts_with([':', '/', '?']);
        hosts.iter().any(|host| address.strip_prefix(host).is_some_and(ends))
            && !arg.text.contains("/_")
            && !keeps.iter().any(|port| arg.text.contains(port))
    });
    let word = by_words::requests_deletion(call.args).filter(|_| !own)?;
    Some(destructive_rule("http.delete", &word))
}

/// Judges clients of other machines (`scp`, `sftp`): the programs that they start, and the file
/// that they write here.
pub(super) fn copy(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let takes = ["-o", "-S", "-i", "-F", "-J", "-P", "-l", "-c", "-D", "-b", "-B", "-R", "-s"];
    let mut worst = opaque("network", call.name);
    for code in started(call.args) {
        worst.raise(shell.in_process(call.name, |shell| shell.code(&code, call.name)));
    }
    let named = operands(call.args, &takes);
    if let Some(to) = named.last().filter(|to| named.len() > 1 && !to.text.contains(':')) {
        worst.raise(
            judged_redirection(shell, to, false).unwrap_or_else(|| opaque("network", call.name)),
        );
    }
    worst
}

pub(super) fn started(args: &[Arg]) -> Vec<Arg> {
    let mut codes = values(args, &["-S", "-D"]);
    codes.retain(|code| code.text.contains([' ', '/']));
    codes.extend(values(args, &["-o"]).iter().filter_map(|option| {
        let (name, code) = option.text.split_once(['=', ' '])?;
        let name = name.to_ascii_lowercase();
        name.ends_with("command").then(|| Arg::with_known_text(code.trim()))
    }));
    codes
}

/// Returns a finding if an option of a client of `ssh` names a program or a library that runs on this
/// machine, or settings that may name some. What people usually choose there is exempt.
pub(super) fn hidden_program(call: &ProgramCall) -> Option<ShellFinding> {
    let options: &[&str] = match call.name {
        "ssh" | "slogin" | "autossh" => &["-F", "-I"],
        "scp" => &["-F", "-S"],
        "sftp" => &["-F", "-S", "-D"],
        "ssh-add" => &["-s"],
        "ssh-keygen" => &["-D"],
        _ => return None,
    };
    let mut named = values(call.args, options);
    if !call.name.starts_with("ssh-") {
        named.extend(values(call.args, &["-o"]).iter().filter_map(|option| {
            let (name, value) = option.text.split_once(['=', ' '])?;
            table::holds("sshruns", &name.to_ascii_lowercase())
                .then(|| Arg::with_known_text(value.trim()))
        }));
    }
    let is_usual = |value: &Arg| {
        let program = value.text.split_whitespace().next().unwrap_or("none");
        let name = program.rsplit('/').next().unwrap_or_default();
        let is_own = value.text.ends_with("/.ssh/config");
        (is_own || table::holds("sshusual", name))
            && !value.text.contains([';', '|', '&', '`', '$'])
    };
    let found = named.iter().find(|value| !is_usual(value))?;
    Some(destructive_rule("network.program", &found.text))
}

fn fetched_into(shell: &mut Shell, file: &Arg) {
    if file.sure {
        let path = located_path(shell, file).path;
        shell.lasting.fetched.insert(path);
    }
}

fn by_name(shell: &mut Shell, call: &ProgramCall) {
    let folders = values(call.args, &["-P", "--directory-prefix", "--output-dir"]);
    let folder = folders.first().map_or(".", |folder| folder.text.as_str());
    for address in call.args.iter().filter(|arg| arg.sure && arg.text.contains("://")) {
        let end = address.text.rsplit('/').next().unwrap_or_default();
        let name = end.split(['?', '#']).next().unwrap_or_default();
        if !name.is_empty() {
            fetched_into(shell, &Arg::with_known_text(format!("{folder}/{name}")));
        }
    }
}

/// Judges `nc` and `socat`. With `-e` or `EXEC:` they give somebody else a shell.
pub(super) fn pipe_to_others(_: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let gives = has_any(call.args, &["-e", "-c", "--exec", "--sh-exec"])
        && call.name != "socat"
        && operands(call.args, &[]).iter().any(|arg| arg.text.contains("sh"));
    let opens = call.args.iter().any(|arg| {
        let text = arg.text.to_ascii_lowercase();
        call.name == "socat" && (text.contains("exec:") || text.contains("system:"))
    });
    if gives || opens {
        let reason = "It gives a shell to somebody else.";
        return destructive("network.shell", &call.shown_words(3), reason);
    }
    // With `-z`, it only tries whether a port is open, and sends nothing.
    let tries = ["-z", "-zv", "-vz"].iter().any(|flags| has_any(call.args, &[flags]));
    let takes = ["-w", "-i", "-G"];
    let plain = |arg: &Arg| {
        !arg.looks_like_option()
            || ["-z", "-zv", "-vz", "-v", "-n", "-4", "-6", "-u"]
                .iter()
                .chain(&takes)
                .any(|flag| arg.is_word(flag))
    };
    if call.name != "socat" && tries && call.args.iter().all(plain) {
        return inspects(call.name);
    }
    opaque("network", call.name)
}
