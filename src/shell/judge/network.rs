//! Programs that fetch and send.

use super::options::{any, operands, values};
use super::{ProgramCall, destructive, opaque, redirected};
use crate::shell::expand::Arg;
use crate::shell::paths::place;
use crate::shell::walk::{Shell, ShellFinding};

/// `curl`: reads from elsewhere, writes with `-o`, and asks a server to delete with `-X DELETE`.
pub(super) fn curl(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let method = values(call.args, &["-X", "--request"]);
    if method.iter().any(|method| method.text.eq_ignore_ascii_case("delete")) {
        let own = call.args.iter().any(|arg| {
            ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"]
                .iter()
                .any(|host| arg.text.contains(host))
        });
        if !own {
            return destructive("http.delete", "DELETE", "It asks a server to delete something.");
        }
    }
    let mut worst = opaque("network", call.name);
    for file in values(call.args, &["-o", "--output"]) {
        fetch(shell, &file);
    }
    if any(call.args, &["-O", "--remote-name"]) {
        by_name(shell, call);
    }
    for file in values(call.args, &["-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar"])
    {
        if let Some(found) = redirected(shell, &file, false) {
            worst = worst.or(found);
        }
    }
    worst
}

/// `wget`: always writes, unless to standard output.
pub(super) fn wget(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let mut worst = opaque("network", call.name);
    let to = values(call.args, &["-O", "--output-document"]);
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

/// `ssh-keygen`, `gpg`: keys are not made twice.
pub(super) fn keys(_: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let lost = ["--delete-key", "--delete-keys", "--delete-secret-key", "--delete-secret-keys"];
    if any(call.args, &lost) || any(call.args, &["--delete-secret-and-public-key"]) {
        return destructive(
            "keys.delete",
            &call.shown(2),
            "It deletes keys that cannot be made again.",
        );
    }
    opaque("keys", call.name)
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
