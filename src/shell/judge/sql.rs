//! Statements that lose data, in the languages of databases.

use super::{ProgramCall, destructive, opaque};
use crate::shell::Class;
use crate::shell::expand::Arg;
use crate::shell::walk::{Shell, ShellFinding};

use super::options::{operands, values};

/// A client: the options that hold code, and which operand does (0 for none).
struct SqlClient {
    name: &'static str,
    options: &'static [&'static str],
    operand: usize,
}

const fn client(name: &'static str, options: &'static [&'static str], operand: usize) -> SqlClient {
    SqlClient { name, options, operand }
}

/// Sorted by name.
const CLIENTS: &[SqlClient] = &[
    client("bq", &[], 2),
    client("clickhouse-client", &["-q", "--query"], 0),
    client("cockroach", &["-e", "--execute"], 0),
    client("cqlsh", &["-e", "--execute"], 0),
    client("duckdb", &["-c", "-cmd", "-s"], 2),
    client("influx", &["-execute"], 0),
    client("isql", &["-Q"], 0),
    client("mariadb", &["-e", "--execute"], 0),
    client("mongo", &["--eval"], 0),
    client("mongosh", &["--eval"], 0),
    client("mycli", &["-e", "--execute"], 0),
    client("mysql", &["-e", "--execute"], 0),
    client("pgcli", &["-c", "--command"], 0),
    client("psql", &["-c", "--command"], 0),
    client("snowsql", &["-q", "--query"], 0),
    client("sqlcmd", &["-Q", "-q"], 0),
    client("sqlite3", &["-cmd", "-c"], 2),
    client("usql", &["-c", "--command"], 0),
];

/// A database's client with statements on its command line or on its input.
pub(super) fn judge(shell: &mut Shell<'_>, call: &ProgramCall<'_>) -> ShellFinding {
    let found = CLIENTS.binary_search_by(|client| client.name.cmp(call.name));
    let Some(client) = found.ok().map(|at| &CLIENTS[at]) else {
        return opaque("program.database", call.name);
    };
    let mut codes: Vec<Arg> = values(call.args, client.options);
    if client.operand > 0 {
        let from = client.operand - 1;
        codes.extend(operands(call.args, client.options).into_iter().skip(from).cloned());
    }
    if let Some(pieces) = &call.stdin.pieces {
        codes.push(Arg::from_pieces(pieces));
    }
    let ruled = super::rules::judge(call).filter(|found| found.class == Class::Destructive);
    let mut worst = ruled.unwrap_or_else(|| opaque("program.database", call.name));
    for code in &codes {
        if let Some(found) = statements(&code.text) {
            worst = worst.or(found);
        }
        for line in code.text.lines() {
            if let Some(command) = escape(line.trim()) {
                let found = shell.within(|shell| {
                    shell.process(call.name, |shell| {
                        shell.text(command);
                    });
                });
                worst = found.map_or(worst.clone(), |found| worst.or(found));
            }
        }
    }
    let asks = !codes.is_empty() && codes.iter().all(|code| code.sure && only_asks(&code.text));
    if asks && worst.class == Class::Opaque && !call.stdin.present {
        return super::looks(call.name);
    }
    worst
}

/// Whether every statement only asks: by its first word, and by what it leaves out.
fn only_asks(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let writes = [
        "into outfile",
        "into dumpfile",
        "insert ",
        "update ",
        "delete ",
        "drop ",
        "alter ",
        "create ",
        "truncate ",
        "remove(",
        "insert",
        "update",
        "delete",
        "drop",
        "save(",
        "copy ",
        "\\copy",
        "\\o",
        "\\!",
        "\\i",
        "\\g",
        "\\w",
        ".output",
        ".once",
        ".import",
        ".read",
        ".save",
        ".shell",
        ".system",
        "attach ",
        "nextval",
        "setval",
        "lo_",
        "pg_",
    ];
    if writes.iter().any(|word| lower.contains(word)) {
        return false;
    }
    let asks = [
        "select",
        "show",
        "explain",
        "describe",
        "desc",
        "with",
        "values",
        "table",
        "pragma",
        "\\d",
        "\\l",
        "\\conninfo",
        "\\timing",
        "\\x",
        ".tables",
        ".schema",
        ".databases",
        ".headers",
        ".mode",
        ".indexes",
        "db.",
        "rs.",
        "keys",
        "get",
    ];
    let mut statements = lower.split([';', '\n']).map(str::trim).filter(|text| !text.is_empty());
    statements.all(|text| asks.iter().any(|word| text.starts_with(word)))
}

/// What a client hands to a shell: `.shell rm`, `\! rm`, `system rm`.
fn escape(line: &str) -> Option<&str> {
    [".shell ", ".system ", "\\! ", "\\!", "system ", "!"]
        .iter()
        .find_map(|begin| line.strip_prefix(begin))
}

/// The first statement that loses data without saying which.
pub(super) fn statements(text: &str) -> Option<ShellFinding> {
    for words in split(text) {
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        let has = |wanted: &str| words.iter().any(|word| word == wanted);
        let shown = words.iter().take(3).cloned().collect::<Vec<_>>().join(" ");
        let lost = match word(0) {
            "DROP" if !["FUNCTION", "TRIGGER", "INDEX", "VIEW"].contains(&word(1)) => {
                Some(("sql.drop", "It drops something together with its data."))
            }
            "TRUNCATE" => Some(("sql.truncate", "It empties a table.")),
            "DELETE" if !has("WHERE") || always(&words) => {
                Some(("sql.delete-all", "It deletes every row: there is no condition."))
            }
            "UPDATE" if has("SET") && (!has("WHERE") || always(&words)) => {
                Some(("sql.update-all", "It changes every row: there is no condition."))
            }
            "ALTER" if has("DROP") && !has("CONSTRAINT") => {
                Some(("sql.drop", "It drops a column together with its data."))
            }
            "FLUSHALL" | "FLUSHDB" => Some(("sql.flush", "It empties the database.")),
            "WITH" if has("DELETE") && !has("WHERE") => {
                Some(("sql.delete-all", "It deletes every row: there is no condition."))
            }
            _ => None,
        };
        if let Some((rule, reason)) = lost {
            return Some(
                destructive(rule, &shown, reason)
                    .safer("Look first with SELECT, take a dump, and name a condition."),
            );
        }
    }
    let squeezed: String = text.split_whitespace().collect();
    let calls = [
        "dropDatabase(",
        ".drop()",
        ".drop({",
        ".deleteMany({})",
        ".remove({})",
        ".dropIndexes(",
        ".dropCollection(",
    ];
    let found = calls.iter().find(|call| squeezed.contains(**call))?;
    Some(destructive("sql.drop", found, "It drops a collection or a whole database."))
}

/// `WHERE 1=1`, `WHERE true`: a condition that holds for everything.
fn always(words: &[String]) -> bool {
    let after = words.iter().position(|word| word == "WHERE").map(|at| &words[at + 1..]);
    let after: String = after.unwrap_or_default().concat();
    ["1=1", "TRUE", "1", "''=''"].contains(&after.as_str())
}

/// Statements as words in capitals, without comments; texts in quotes become `''`.
fn split(text: &str) -> Vec<Vec<String>> {
    let mut done = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let close = |word: &mut String, words: &mut Vec<String>| {
            if !word.is_empty() {
                words.push(std::mem::take(word));
            }
        };
        let skip = if rest.starts_with("--") {
            close(&mut word, &mut words);
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            close(&mut word, &mut words);
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if c == '\'' {
            word.push_str("''");
            rest[1..].find('\'').map_or(rest.len(), |at| at + 2)
        } else if c == ';' || c == '\n' && words.is_empty() && word.is_empty() {
            close(&mut word, &mut words);
            done.push(std::mem::take(&mut words));
            1
        } else if c.is_whitespace() || "(),".contains(c) {
            close(&mut word, &mut words);
            c.len_utf8()
        } else {
            word.extend(c.to_uppercase().filter(|c| *c != '`' && *c != '"'));
            c.len_utf8()
        };
        rest = &rest[skip..];
    }
    if !word.is_empty() {
        words.push(word);
    }
    done.push(words);
    done
}
