//! Adds our MCP server to codex's `config.toml` and removes it. Comments and the order of
//! everything else stay as they are.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::Conflict;
use super::recipes::HostProgram;
use super::recognise::is_us;

const SERVERS: &str = "mcp_servers";
const NAME: &str = "intent";

pub(super) fn with_server(text: &str, program: &HostProgram) -> Result<String, Conflict> {
    let mut file = parse(text)?;
    let servers = file.entry(SERVERS).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| Conflict::Shape(SERVERS.to_owned()))?;
    match servers.get(NAME) {
        Some(there) if is_current(there, program.path()) => return Ok(text.to_owned()),
        Some(there) if !is_ours(there) => return Err(Conflict::Taken(NAME.to_owned())),
        _ => {}
    }
    let mut server = Table::new();
    server.insert("command", value(program.path()));
    server.insert("args", value(Array::from_iter(["mcp"])));
    servers.insert(NAME, Item::Table(server));
    Ok(file.to_string())
}

/// Returns the file without our server, or `None` if nothing else is in it.
pub(super) fn take(text: &str) -> Result<Option<String>, Conflict> {
    let mut file = parse(text)?;
    let Some(servers) = file.get_mut(SERVERS).and_then(Item::as_table_like_mut) else {
        return Ok(Some(text.to_owned()));
    };
    if !servers.get(NAME).is_some_and(is_ours) {
        return Ok(Some(text.to_owned()));
    }
    servers.remove(NAME);
    if servers.is_empty() {
        file.remove(SERVERS);
    }
    let rest = file.to_string();
    Ok((!rest.trim().is_empty()).then_some(rest))
}

/// Returns the key of each hook in codex's `hooks.state`, with the hash that a person has trusted.
/// The hash is `None` if the hook is switched off or nobody has trusted it.
pub(crate) fn trusted(text: &str) -> Vec<(String, Option<String>)> {
    let Ok(file) = parse(text) else { return Vec::new() };
    let state = file.get("hooks").and_then(|hooks| hooks.get("state"));
    let Some(state) = state.and_then(Item::as_table_like) else { return Vec::new() };
    let hash = |item: &Item| {
        let off = item.get("enabled").and_then(Item::as_bool) == Some(false);
        let hash = item.get("trusted_hash").filter(|_| !off)?;
        Some(hash.as_str()?.to_owned())
    };
    state.iter().map(|(key, item)| (key.to_owned(), hash(item))).collect()
}

fn parse(text: &str) -> Result<DocumentMut, Conflict> {
    text.parse().map_err(|error: toml_edit::TomlError| Conflict::Syntax(error.message().to_owned()))
}

fn command(server: &Item) -> Option<&str> {
    server.get("command")?.as_str()
}

fn is_started_as_mcp(server: &Item) -> bool {
    let args = server.get("args").and_then(Item::as_array);
    let args =
        args.and_then(|args| args.iter().map(|arg| arg.as_str().map(str::to_owned)).collect());
    args.is_some_and(|args: Vec<String>| shell::short(&args) == ["mcp"])
}

fn is_current(server: &Item, path: &str) -> bool {
    command(server) == Some(path) && is_started_as_mcp(server)
}

fn is_ours(server: &Item) -> bool {
    command(server).is_some_and(is_us) && is_started_as_mcp(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOREIGN: &str =
        "# mine\nmodel = \"m\" # here\n\n[mcp_servers.docs]\ncommand = \"docs\"\n";

    #[test]
    fn adding_and_removing_our_server_keeps_the_rest() {
        let bare = HostProgram::Found;
        for before in ["", FOREIGN, "[mcp_servers]\nx = { command = \"y\" }\n"] {
            let once = with_server(before, &bare).unwrap();
            assert!(once.contains("[mcp_servers.intent]"), "{once}");
            assert_eq!(with_server(&once, &bare).unwrap(), once);
            let back = take(&once).unwrap().unwrap_or_default();
            assert_eq!(back, before);
        }
        insta::assert_snapshot!(with_server(FOREIGN, &bare).unwrap());
    }

    #[test]
    fn a_server_of_somebody_else_keeps_its_name() {
        let theirs = "[mcp_servers.intent]\ncommand = \"python\"\nargs = [\"mcp\"]\n";
        assert!(matches!(with_server(theirs, &HostProgram::Found), Err(Conflict::Taken(_))));
        assert_eq!(take(theirs).unwrap().as_deref(), Some(theirs));
        assert!(matches!(with_server("a = [", &HostProgram::Found), Err(Conflict::Syntax(_))));
        assert!(matches!(
            with_server("mcp_servers = 3", &HostProgram::Found),
            Err(Conflict::Shape(_))
        ));
    }

    #[test]
    fn an_older_form_of_our_entry_is_replaced() {
        let older = "[mcp_servers.intent]\ncommand = \"/old/bin/intent\"\nargs = [\"mcp\"]\n";
        let now = with_server(older, &HostProgram::Found).unwrap();
        assert!(now.contains("command = \"intent-lsp\""), "{now}");
    }

    #[test]
    fn our_entry_is_recognised_in_both_spellings() {
        let grouped = "[mcp_servers.intent]\ncommand = \"intent\"\nargs = [\"agent\", \"mcp\"]\n";
        let now = with_server(grouped, &HostProgram::Found).unwrap();
        assert!(now.contains("command = \"intent-lsp\""), "{now}");
        assert_eq!(take(grouped).unwrap().unwrap_or_default(), "");
    }

    #[test]
    fn the_trusted_hooks_of_codex_are_read() {
        let text = "[hooks.state.\"/p/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:ab\"\n";
        let found = trusted(text);
        assert_eq!(
            found,
            [("/p/.codex/hooks.json:pre_tool_use:0:0".to_owned(), Some("sha256:ab".to_owned()))]
        );
        assert_eq!(trusted("hooks = 3"), []);
    }
}
