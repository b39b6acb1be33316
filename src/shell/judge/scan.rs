//! Looks at code in other languages: which calls it makes, and with which texts.
//!
//! The code is not followed. A call that deletes, or a call that starts a
//! program with a destructive command in a text nearby, is what it looks like.

use super::{decoded, destructive, downloaded, remove, sql, trial};
use crate::shell::Class;
use crate::shell::expand::Arg;
use crate::shell::walk::{Shell, ShellFinding};

/// Calls that delete, and whether everything below goes as well.
const DELETES: &[(&str, bool)] = &[
    ("rmtree(", true),
    ("os.remove(", false),
    ("os.unlink(", false),
    ("os.removedirs(", true),
    ("os.rmdir(", false),
    ("send2trash(", false),
    (".unlink(", false),
    ("rmSync(", true),
    ("rmdirSync(", true),
    ("unlinkSync(", false),
    ("fs.rm(", true),
    ("fs.rmdir(", true),
    ("fs.unlink(", false),
    ("promises.rm(", true),
    ("rimraf(", true),
    ("rimraf.sync(", true),
    ("removeSync(", true),
    ("emptyDirSync(", true),
    ("fse.remove(", true),
    ("Deno.remove", true),
    ("FileUtils.rm_rf", true),
    ("FileUtils.rm_r", true),
    ("FileUtils.remove_dir", true),
    ("FileUtils.remove_entry", true),
    ("FileUtils.rm", false),
    ("rm_rf", true),
    ("File.delete", false),
    ("File.unlink", false),
    ("Dir.delete", true),
    ("Dir.rmdir", true),
    ("remove_tree", true),
    ("rmtree ", true),
    ("unlink(", false),
    ("unlink ", false),
    ("rmdir(", true),
    ("rmdir ", true),
    ("os.RemoveAll(", true),
    ("os.Remove(", false),
    ("os.remove ", false),
    ("file.remove(", false),
    ("unlink(\"", false),
    ("fs::remove_dir_all", true),
    ("Files.delete", false),
    ("deleteDir(", true),
    ("delete-directory", true),
    ("delete-file", false),
    ("file delete", true),
    ("rm(\"", true),
    ("os.truncate(", false),
    ("drop_database(", true),
    ("drop_all(", true),
];

/// Calls that start a program.
const STARTS: &[&str] = &[
    "system",
    "popen",
    "Popen",
    "subprocess",
    "exec",
    "spawn",
    "check_call",
    "check_output",
    "passthru",
    "proc_open",
    "Command",
    "child_process",
    "do shell script",
    "Open3",
    "%x",
    "qx",
    "getoutput",
    "posix_spawn",
    "ProcessBuilder",
    "Runtime",
    "send ",
    "run(",
    "pty",
    "$`",
    "Bun.$",
    "sh.",
    "zx",
    "shelljs",
    "fork",
    "shell",
];

/// What undoes an encoding.
const DECODERS: &[&str] = &[
    "b64decode",
    "base64.decode",
    "atob(",
    "fromhex",
    "'base64'",
    "\"base64\"",
    "decompress",
    "unhexlify",
    "base64_decode",
    "decode64",
    "unpack(",
    "pack(",
    "codecs.decode",
    "marshal.loads",
    "pickle.loads",
    "str_rot13",
    "gzinflate",
    "chr(",
];

/// What fetches from elsewhere.
const FETCHES: &[&str] = &[
    "urlopen",
    "requests.get",
    "fetch(",
    "http.get",
    "https.get",
    "urlretrieve",
    "open-uri",
    "LWP",
    "file_get_contents('http",
    "file_get_contents(\"http",
    "URI.open",
    "Net::HTTP",
];

/// A text in code of another language, and where it stands.
pub(super) struct Text {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
    /// It stood in backticks.
    ticks: bool,
}

/// The first thing in the code that destroys; nothing where it only may.
pub(super) fn scan(shell: &mut Shell<'_>, code: &str, language: &str) -> Option<ShellFinding> {
    let runs_text =
        ["eval", "exec", "Function(", "compile("].iter().any(|call| code.contains(call));
    if runs_text && DECODERS.iter().any(|call| code.contains(call)) {
        return Some(decoded(language));
    }
    if runs_text && FETCHES.iter().any(|call| code.contains(call)) && !code.contains("regex.exec") {
        return Some(downloaded(language));
    }
    let bare = without_comments(code, language);
    let code = bare.as_str();
    let texts = texts(code, language);
    if let Some(found) = decoded_or_device(code, &texts) {
        return Some(found);
    }
    let mut worst = deletes(shell, code, &texts);
    let ticks = texts.iter().any(|text| text.ticks) && ["perl", "ruby", "php"].contains(&language);
    if ticks || STARTS.iter().any(|call| code.contains(call)) {
        for command in commands(code, &texts) {
            let found = trial(shell, |shell| {
                shell.text(&command);
            });
            worst = worse(worst, found);
        }
    }
    if code.contains("execute") || code.contains("query") || code.contains("exec(") {
        worst = worse(worst, texts.iter().find_map(|text| sql::statements(&text.text)));
    }
    if language == "expect" || language == "tclsh" {
        for line in code.split(['\n', ';']) {
            if let Some(command) =
                line.trim().strip_prefix("spawn ").or(line.trim().strip_prefix("exec "))
            {
                let found = trial(shell, |shell| {
                    shell.text(command);
                });
                worst = worse(worst, found);
            }
        }
    }
    worst
}

/// A program that is started with what was just decoded, or a device that is opened to write.
fn decoded_or_device(code: &str, texts: &[Text]) -> Option<ShellFinding> {
    let starts = ["system(", "popen(", "Popen(", "execSync(", "run(", "call("];
    let hidden = starts.iter().any(|start| {
        code.match_indices(start).any(|(at, _)| {
            let after: String = code[at..].chars().take(70).collect();
            DECODERS.iter().any(|decoder| decoder != &"chr(" && after.contains(decoder))
        })
    });
    if hidden {
        return Some(decoded("system"));
    }
    let disks = ["/dev/sd", "/dev/nvme", "/dev/hd", "/dev/vd", "/dev/disk", "/dev/mmcblk"];
    let disk = texts.iter().find(|text| disks.iter().any(|disk| text.text.starts_with(disk)))?;
    let writes = code.contains("open(") && texts.iter().any(|text| text.text.contains('w'));
    writes.then(|| destructive("redirect.device", &disk.text, "It writes over a device."))
}

/// The code with blanks for its comments, so that places stay what they are.
fn without_comments(code: &str, language: &str) -> String {
    let texts = texts(code, language);
    let mut out = String::with_capacity(code.len());
    let mut comment = false;
    let (slashes, hashes) = comments(language);
    for (at, c) in code.char_indices() {
        let inside = texts.iter().any(|text| text.start <= at && at < text.end);
        let begins =
            hashes && c == '#' && code[..at].chars().next_back().is_none_or(char::is_whitespace)
                || slashes && code[at..].starts_with("//");
        comment = c != '\n' && (comment || begins && !inside);
        if comment {
            out.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether `//` and `#` begin a comment in a language.
fn comments(language: &str) -> (bool, bool) {
    let braces = ["node", "bun", "deno", "ts-node", "tsx", "go", "swift", "groovy", "nodejs"];
    let slashes = braces.contains(&language) || language == "php";
    (slashes, !braces.contains(&language) && language != "lua")
}

/// Only what destroys is taken over; that other code is opaque is known already.
fn worse(worst: Option<ShellFinding>, found: Option<ShellFinding>) -> Option<ShellFinding> {
    let found = found.filter(|found| found.class == Class::Destructive);
    match (worst, found) {
        (Some(worst), Some(found)) => Some(worst.or(found)),
        (worst, found) => worst.or(found),
    }
}

fn deletes(shell: &mut Shell<'_>, code: &str, texts: &[Text]) -> Option<ShellFinding> {
    let mut worst: Option<ShellFinding> = None;
    for (call, recursive) in DELETES {
        for (at, _) in code.match_indices(call) {
            let inside_text =
                texts.iter().any(|text| text.start < at && at < text.end && !text.ticks);
            let before = code[..at].chars().next_back();
            let word = call.starts_with(|c: char| c.is_ascii_alphabetic());
            if inside_text || word && before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
            {
                continue;
            }
            let after = at + call.len();
            // The path is the text that follows at once, or that what follows at once was made of.
            let path = texts.iter().find(|text| {
                text.end > at
                    && text.start >= at.saturating_sub(1)
                    && code.get(after..text.start).is_none_or(|between| {
                        between.len() < 16 && !between.contains([')', ';', '\n', ','])
                    })
            });
            let before_it = texts.iter().rev().find(|text| {
                call.starts_with('.') && text.end <= at && code[text.end..at].trim() == ")"
            });
            let found = match path.or(before_it) {
                Some(path) => {
                    let arg = literal_path(&path.text);
                    let tail: String = code[path.end.min(code.len())..].chars().take(40).collect();
                    let deep = *recursive || tail.contains("recursive") || tail.contains("force");
                    let mut found = remove::one(shell, &arg, deep);
                    call.trim_end_matches(['(', ' ', '"']).clone_into(&mut found.word);
                    found
                }
                None => destructive(
                    "code.delete",
                    call.trim_end_matches(['(', ' ', '"']),
                    "The code deletes something that is not named plainly.",
                ),
            };
            let found = if found.class == Class::Destructive {
                ShellFinding { rule: "code.delete", ..found }
            } else {
                found
            };
            worst = match worst {
                Some(worst) => Some(worst.or(found)),
                None => Some(found),
            };
        }
    }
    // The name of such a call, handed to another one: `array_map("unlink", …)`.
    let handed = ["unlink", "rmdir", "rmtree", "rm_rf", "rmSync", "unlinkSync"];
    if worst.is_none() || worst.as_ref().is_some_and(|found| found.class != Class::Destructive) {
        let named = texts.iter().find(|text| handed.contains(&text.text.as_str()));
        worst = named
            .map(|text| {
                destructive(
                    "code.delete",
                    &text.text,
                    "The code deletes something that is not named plainly.",
                )
            })
            .or(worst);
    }
    worst.filter(|found| found.class == Class::Destructive)
}

/// A path in a text of another language; with blanks in it a glob may be alive.
fn literal_path(text: &str) -> Arg {
    use crate::shell::expand::WordPiece;
    match text.split_once(['*', '{', '$', '#']) {
        Some((before, _)) if text.contains('*') => Arg::from_pieces(&[
            WordPiece::Text(before.to_owned()),
            WordPiece::Glob(text[before.len()..].to_owned()),
        ]),
        _ => Arg::known(text),
    }
}

/// Every text as a command, texts that are added up as one, and lists of texts as its words.
pub(super) fn commands(code: &str, texts: &[Text]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < texts.len() {
        let mut sum = texts[at].text.clone();
        let mut list = vec![texts[at].text.clone()];
        let mut next = at + 1;
        while next < texts.len() {
            let between =
                code.get(texts[next - 1].end..texts[next].start).unwrap_or_default().trim();
            if between.is_empty() || between == "+" || between == "." {
                sum.push_str(&texts[next].text);
                if let Some(last) = list.last_mut() {
                    last.push_str(&texts[next].text);
                }
            } else if between == "," || [",[", ", [", "', '"].contains(&between) {
                list.push(texts[next].text.clone());
            } else {
                break;
            }
            next += 1;
        }
        found.push(texts[at].text.clone());
        found.push(sum);
        if list.len() > 1 {
            let quoted: Vec<String> =
                list.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
            found.push(quoted.join(" "));
        }
        at += 1;
    }
    found.retain(|command| command.len() > 2);
    found.truncate(64);
    found
}

/// The quoted texts of code in most languages.
pub(super) fn texts(code: &str, language: &str) -> Vec<Text> {
    let mut found = Vec::new();
    let bytes = code.as_bytes();
    let (slashes, hashes) = comments(language);
    let mut at = 0;
    while at < bytes.len() {
        let rest = &code[at..];
        let comment =
            hashes && rest.starts_with('#') && (at == 0 || bytes[at - 1].is_ascii_whitespace())
                || slashes && rest.starts_with("//");
        if comment {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let quote =
            ["\"\"\"", "'''", "\"", "'", "`"].into_iter().find(|quote| rest.starts_with(quote));
        let Some(quote) = quote else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let (text, length) = quoted(&rest[quote.len()..], quote);
        let end = at + quote.len() + length;
        found.push(Text { start: at, end, text, ticks: quote == "`" });
        at = end;
    }
    for (open, close) in [("%x(", ")"), ("%x{", "}"), ("qx(", ")"), ("qx{", "}"), ("qx/", "/")] {
        for (start, _) in code.match_indices(open) {
            let inside = &code[start + open.len()..];
            let length = inside.find(close).unwrap_or(inside.len());
            let text = inside[..length].to_owned();
            found.push(Text { start, end: start + open.len() + length, text, ticks: true });
        }
    }
    found
}

/// The inside of a quoted text, and how many bytes it takes with its closing quote.
fn quoted(rest: &str, quote: &str) -> (String, usize) {
    let mut text = String::new();
    let mut at = 0;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with(quote) {
            return (text, at + quote.len());
        }
        let mut chars = here.chars();
        let c = chars.next().unwrap_or(' ');
        at += c.len_utf8();
        if c != '\\' {
            text.push(c);
            continue;
        }
        let Some(escaped) = chars.next() else { break };
        at += escaped.len_utf8();
        match escaped {
            'n' | 'r' => text.push('\n'),
            't' => text.push('\t'),
            'x' => {
                let value = rest.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
                if let Some(value) = value {
                    text.push(char::from(value));
                    at += 2;
                }
            }
            '\n' => {}
            other => text.push(other),
        }
    }
    (text, rest.len())
}
