//! The parts of the documents that are generated: the tables of commands from the definition of the command line, and
//! the tables of fields from the schemas.
//!
//! A generated part stands between `<!-- generated: NAME -->` and `<!-- /generated -->`. The text around it is written
//! by hand. After a change: `UPDATE_DOCS=1 cargo test --test it docs::`.

use serde_json::Value;

use super::{read, root};

const PAGES: [&str; 2] = ["docs/commands.md", "docs/formats.md"];
const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- /generated -->";

#[test]
fn the_generated_parts_of_the_documents_match_the_code() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    for page in PAGES {
        let text = read(page);
        let (now, parts) = with_parts(&text);
        assert!(parts > 0, "{page} has no generated part");
        if update {
            std::fs::write(root().join(page), now).expect("a writable page");
        } else {
            assert!(now == text, "{page} is old: UPDATE_DOCS=1 cargo test --test it docs::");
        }
    }
}

/// Returns the text of a page with its generated parts made anew, and their number.
fn with_parts(text: &str) -> (String, usize) {
    let mut pieces = text.split(BEGIN);
    let mut page = pieces.next().expect("a first piece").to_owned();
    let mut parts = 0;
    for piece in pieces {
        let (name, rest) = piece.split_once(" -->").expect("a closed marker");
        let (_, after) = rest.split_once(END).expect("the end of a generated part");
        page.push_str(&format!("{BEGIN}{name} -->\n{}{END}{after}", part(name)));
        parts += 1;
    }
    (page, parts)
}

/// Returns the generated part of this name: `commands`, or `fields of SCHEMA` with the name of a definition behind a dot
/// if the fields are not those of the whole.
fn part(name: &str) -> String {
    match name.strip_prefix("fields of ") {
        Some(which) => {
            let (schema, definition) = which.split_once('.').unwrap_or((which, ""));
            let found = intent_lsp::cli::schemas();
            let (_, found) = found.iter().find(|(known, _)| *known == schema).expect(schema);
            match definition {
                "" => fields(found),
                name => fields(&found["$defs"][name]),
            }
        }
        None if name == "commands" => commands(),
        None => panic!("there is no generated part {name}"),
    }
}

/// Returns one table for the commands at the top, and one for each group.
fn commands() -> String {
    let command = intent_lsp::cli::command();
    let seen = || command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let mut text = table("", seen().filter(|sub| !sub.has_subcommands()));
    for group in seen().filter(|sub| sub.has_subcommands()) {
        let name = group.get_name();
        let about = about(group);
        text.push_str(&format!("\n`intent {name}`: {about}.\n\n"));
        text.push_str(&table(&format!("{name} "), group.get_subcommands()));
    }
    text
}

fn about(command: &clap::Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn table<'a>(group: &str, commands: impl Iterator<Item = &'a clap::Command>) -> String {
    let mut text = "|command|what it does|options|\n|---|---|---|\n".to_owned();
    for command in commands {
        let mut line = format!("{group}{}", command.get_name());
        for one in command.get_positionals().filter(|one| !one.is_hide_set()) {
            let names = one.get_value_names().unwrap_or_default();
            let name = names.first().map_or("VALUE", |name| name.as_str());
            let many = one.get_num_args().is_some_and(|range| range.max_values() > 1);
            let dots = if many || is_repeated(one) { "…" } else { "" };
            line.push_str(&match one.is_required_set() {
                _ if one.is_last_set() => format!(" [-- {name}{dots}]"),
                true => format!(" {name}{dots}"),
                false => format!(" [{name}{dots}]"),
            });
        }
        let options = command.get_arguments().filter(|one| !one.is_positional());
        let options: Vec<String> = options
            .filter(|one| !one.is_hide_set() && !one.is_global_set())
            .filter_map(|one| Some(format!("--{}", one.get_long()?)))
            .collect();
        // A long list says nothing at a glance.
        let options = match options.join(" ") {
            none if none.is_empty() => none,
            long if long.len() > 40 => "many".to_owned(),
            short => format!("`{short}`"),
        };
        text.push_str(&format!("|`{}`|{}|{options}|\n", cell(&line), cell(&about(command))));
    }
    text
}

fn is_repeated(argument: &clap::Arg) -> bool {
    matches!(argument.get_action(), clap::ArgAction::Append)
}

/// Returns a table of the fields of an object, with their defaults if any field has one.
fn fields(schema: &Value) -> String {
    let fields = schema["properties"].as_object().expect("the fields of an object");
    let default = |field: &Value| match &field["default"] {
        Value::String(text) if !text.is_empty() => Some(format!("`{text}`")),
        _ => None,
    };
    let has_defaults = fields.values().any(|field| default(field).is_some());
    let mut text = match has_defaults {
        true => "|key|default|what it is|\n|---|---|---|\n".to_owned(),
        false => "|key|what it is|\n|---|---|\n".to_owned(),
    };
    for (name, field) in fields {
        let default = match has_defaults {
            true => format!("{}|", default(field).unwrap_or_default()),
            false => String::new(),
        };
        let told = told(field["description"].as_str().unwrap_or_default());
        text.push_str(&format!("|`{name}`|{default}{told}|\n"));
    }
    text
}

/// Returns a description in the words of a document: without references to the source.
fn told(description: &str) -> String {
    let mut told = String::new();
    let mut rest = description;
    while let Some((before, after)) = rest.split_once("[`") {
        let (name, after) = after.split_once("`]").expect("a closed reference");
        match before.strip_suffix(", see ") {
            Some(before) => told.push_str(before),
            None => {
                told.push_str(before);
                told.push_str(&format!("`{}`", name.rsplit("::").next().unwrap_or(name)));
            }
        }
        rest = after;
    }
    told.push_str(rest);
    cell(&told.replace("`None`", "No value"))
}

/// Returns a text that may stand in a cell of a table: one line, in which no character ends the cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[test]
fn a_description_is_told_without_references_to_the_source() {
    for (description, expected) in [
        (
            "The hash of the tokens, see [`crate::code::Fingerprint::tokens`].",
            "The hash of the tokens.",
        ),
        ("A finer [`Sketch`].\nAbsent | none.", "A finer `Sketch`. Absent \\| none."),
        ("`None` without git.", "No value without git."),
    ] {
        assert_eq!(told(description), expected);
    }
}
