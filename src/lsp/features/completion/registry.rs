//! Completes texts in the registry.
//!
//! While somebody types, the file rarely parses, so `intents::yaml` cannot read it. The position is
//! therefore understood from its line and from the indentation of the lines above.

use std::collections::{BTreeMap, BTreeSet};

use tower_lsp::lsp_types::CompletionItemKind as Kind;

use super::{Choice, Choices};
use crate::workspace_view::{DocumentPosition, WorkspaceView};
use ground::{RelativePath, text};
use intents::dialect::Field;
use intents::{Spanned, Status, canonical, edit, id_in_name, reserved_ids};

/// The fields of an intent, in the order in which they are usually written.
const FIELDS: [Field; 9] = [
    Field::Id,
    Field::Name,
    Field::Status,
    Field::Scope,
    Field::Constraints,
    Field::Acceptance,
    Field::Specs,
    Field::Owner,
    Field::Formerly,
];

const ROOTS: [&str; 3] = ["active_intents", "intents", "activeIntents"];

#[derive(Debug, PartialEq, Eq)]
struct RegistryPosition<'t> {
    expects: RegistryItem<'t>,
    /// The first byte of the word under the cursor, without its quote.
    start: usize,
    quoted: bool,
    /// True inside a list in brackets, like `[a, b]`.
    flow: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum RegistryItem<'t> {
    /// A key of an intent: `own` in `  - id: INT-001\n    own`.
    Key,
    /// A key of the whole file: `na` at the start of a line.
    Root,
    /// A value of this key: `IN` in `    status: IN`.
    Value(&'t str),
}

/// Returns the items that fit at the cursor. `None` if the position is not recognised.
pub(super) fn choices(place: &DocumentPosition<'_>, text: &str) -> Option<Choices> {
    let (path, cursor) = (&place.file.path, place.byte);
    let position = position_at(text, cursor)?;
    if path.as_str().ends_with(".json")
        && !(position.quoted && matches!(position.expects, RegistryItem::Value(_)))
    {
        return None;
    }
    let typed = text.get(position.start..cursor)?;
    let items = match position.expects {
        RegistryItem::Key => keys(&keys_around(text, cursor)),
        RegistryItem::Root => {
            id_in_name(path)?;
            keys(&text.lines().filter(|line| depth(line) == 0).filter_map(key_of).collect())
        }
        RegistryItem::Value(key) => {
            let field = FIELDS.into_iter().find(|field| field.keys().contains(&key))?;
            match (field, id_in_name(path)) {
                (Field::Id, Some(id)) => vec![Choice::new(id, Kind::VALUE)],
                _ => values(place.file.view, field, typed, &position)?,
            }
        }
    };
    Some(Choices {
        start: position.start,
        cursor,
        end: end_of_word(text, cursor, &position),
        items,
    })
}

fn values(
    view: WorkspaceView<'_>,
    field: Field,
    typed: &str,
    position: &RegistryPosition<'_>,
) -> Option<Vec<Choice>> {
    let registry = &view.workspace.registry;
    let intents = || registry.intents().iter();
    let used = |values: BTreeSet<&str>| {
        values.into_iter().map(|it| quoted_choice(Choice::new(it, Kind::VALUE), position)).collect()
    };
    Some(match field {
        Field::Status => statuses(),
        Field::Id => {
            let (_, taken) = reserved_ids::used_or_reserved(
                &view.workspace.root,
                view.workspace.git(),
                registry,
            );
            vec![Choice::new(edit::next_id(registry, &taken), Kind::VALUE)]
        }
        Field::Scope => {
            let choices = paths(&view.survey().files, typed).into_iter();
            choices.map(|it| quoted_choice(it, position)).collect()
        }
        Field::Specs => used(intents().flat_map(|it| texts(&it.related_specs)).collect()),
        Field::Owner => used(intents().flat_map(|it| texts(it.owner.as_slice())).collect()),
        Field::Formerly => {
            // An id that only a record contains may be a former id of an intent. All evidence is
            // too much to read for a completion.
            let recorded = view.workspace.journal.intents();
            let lost = recorded.iter().filter(|id| registry.get(id).is_none());
            used(lost.map(String::as_str).collect())
        }
        Field::Name | Field::Constraints | Field::Acceptance => return None,
    })
}

fn texts(values: &[Spanned<String>]) -> impl Iterator<Item = &str> {
    values.iter().map(|value| value.value.as_str())
}

fn statuses() -> Vec<Choice> {
    let choice = |(rank, status): (u8, &Status)| Choice {
        rank,
        ..Choice::new(status.as_str(), Kind::ENUM_MEMBER)
    };
    (0..).zip(&Status::ALL).map(choice).collect()
}

fn paths(files: &[RelativePath], typed: &str) -> Vec<Choice> {
    let (not, typed) = typed.strip_prefix('!').map_or(("", typed), |rest| ("!", rest));
    let folder = typed.rfind('/').map_or("", |at| &typed[..=at]);
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    let mut choices = Vec::new();
    let first = files.partition_point(|path| path.as_str() < folder);
    for path in files[first..].iter().map(RelativePath::as_str) {
        let Some(below) = path.strip_prefix(folder) else { break };
        match below.find('/') {
            Some(at) => *folders.entry(&path[..folder.len() + at]).or_default() += 1,
            None => {
                choices.push(Choice { rank: 2, ..Choice::new(format!("{not}{path}"), Kind::FILE) })
            }
        }
    }
    for (folder, count) in folders {
        let all = Choice::new(format!("{not}{folder}/**"), Kind::FOLDER);
        choices.push(Choice { detail: Some(text::counted(count, "file")), ..all });
        choices.push(Choice { rank: 1, ..Choice::new(format!("{not}{folder}/"), Kind::FOLDER) });
    }
    choices
}

/// Puts an item in quotes if YAML would otherwise misread it.
fn quoted_choice(choice: Choice, position: &RegistryPosition<'_>) -> Choice {
    let label = text::visible(&choice.label, false);
    let special =
        choice.label.starts_with(['*', '!', '&', '@', '[', '{', '#', '%', '`', '"', '\''])
            || choice.label.contains(": ")
            || choice.label.contains(" #")
            || (position.flow && choice.label.contains(['[', ']', '{', '}', ',']));
    let insert = match (position.quoted, special) {
        (false, true) => Some(canonical::double_quoted(&choice.label)),
        _ if label != choice.label => Some(choice.label.clone()),
        _ => None,
    };
    Choice { label, insert, ..choice }
}

fn keys(present: &BTreeSet<&str>) -> Vec<Choice> {
    let missing =
        FIELDS.into_iter().filter(|field| !field.keys().iter().any(|key| present.contains(key)));
    let choice = |(rank, field): (u8, Field)| {
        let key = field.key();
        let (insert, snippet) = match field {
            Field::Scope | Field::Constraints | Field::Acceptance => {
                (format!("{key}: [\"$0\"]"), true)
            }
            Field::Specs | Field::Formerly => (format!("{key}: [$0]"), true),
            Field::Id | Field::Name | Field::Status | Field::Owner => (format!("{key}: "), false),
        };
        Choice { insert: Some(insert), snippet, rank, ..Choice::new(key, Kind::PROPERTY) }
    };
    (0..).zip(missing).map(choice).collect()
}

fn keys_around(text: &str, cursor: usize) -> BTreeSet<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let cursor_line = text[..cursor].matches('\n').count().min(lines.len().saturating_sub(1));
    let begins = |line: &str| line.trim_start().starts_with("- ") && key_of(line).is_some();
    let first = (0..=cursor_line).rev().find(|at| lines.get(*at).is_some_and(|it| begins(it)));
    let Some(first) = first else { return BTreeSet::new() };
    let own_depth = depth(lines[first]);
    let is_inside = |line: &&&str| {
        let begins_next = begins(line) && line.len() - line.trim_start().len() < own_depth;
        line.trim().is_empty() || depth(line) >= own_depth && !begins_next
    };
    std::iter::once(&lines[first])
        .chain(lines[first + 1..].iter().take_while(is_inside))
        .filter(|line| depth(line) == own_depth)
        .filter_map(|line| key_of(line))
        .collect()
}

/// Returns the column at which the content of a line begins, after a dash.
fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '-']).len()
}

fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.trim_start_matches([' ', '-']).split_once(':')?;
    let ends = rest.is_empty() || rest.starts_with([' ', '\r']);
    ends.then(|| key.trim().trim_matches(['"', '\'']))
}

fn position_at(text: &str, cursor: usize) -> Option<RegistryPosition<'_>> {
    let before = text.get(..cursor)?;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = &before[line_start..];
    if line.trim_start().starts_with('#') || line.contains(" #") {
        return None;
    }
    let content = line.trim_start_matches(' ');
    let item = content.strip_prefix("- ").or_else(|| (content == "-").then_some(""));
    let content = item.unwrap_or(content).trim_start();
    if let Some((key, value)) = content.split_once(':') {
        if !value.is_empty() && !value.starts_with(' ') {
            return None;
        }
        let key = key.trim().trim_matches(['"', '\'']);
        let flow = value.trim_start().starts_with('[');
        let typed = if flow { last_entry(value) } else { value.trim_start() };
        return Some(word(RegistryItem::Value(key), cursor, typed, flow));
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    match (item, parent(&text[..line_start], indent, item.is_some())) {
        (Some(_), Some(key)) if !ROOTS.contains(&key) => {
            Some(word(RegistryItem::Value(key), cursor, content, false))
        }
        (None, Some(key)) if list_goes_on(&text[..line_start], key) => {
            Some(word(RegistryItem::Value(key), cursor, last_entry(content), true))
        }
        (_, Some(_)) if content.bytes().all(|it| it.is_ascii_lowercase() || it == b'_') => {
            Some(word(RegistryItem::Key, cursor, content, false))
        }
        (None, None) if content.bytes().all(|it| it.is_ascii_lowercase() || it == b'_') => {
            Some(word(RegistryItem::Root, cursor, content, false))
        }
        _ => None,
    }
}

/// Returns the position of the word that `typed` ends with. Its opening quote does not belong to
/// it.
fn word<'t>(
    expects: RegistryItem<'t>,
    cursor: usize,
    typed: &str,
    flow: bool,
) -> RegistryPosition<'t> {
    let bare = typed.strip_prefix(['"', '\'']).unwrap_or(typed);
    RegistryPosition { expects, start: cursor - bare.len(), quoted: bare.len() < typed.len(), flow }
}

fn last_entry(value: &str) -> &str {
    let mut start = 0;
    let mut quote = None;
    for (at, c) in value.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | ',') => start = at + 1,
            _ => {}
        }
    }
    value[start..].trim_start()
}

/// Returns the key that contains lines of this indentation.
fn parent(above: &str, indent: usize, item: bool) -> Option<&str> {
    for line in above.lines().rev().filter(|line| !line.trim().is_empty()) {
        if line.trim_start().starts_with('#') {
            continue;
        }
        let at = line.len() - line.trim_start_matches(' ').len();
        let dash = line.trim_start().starts_with('-');
        // A list may have the same indentation as its key.
        if at < indent || (item && at == indent && !dash) || (dash && depth(line) < indent) {
            return key_of(line).filter(|_| line.trim_end().ends_with([':', '[']) || !item);
        }
    }
    None
}

fn list_goes_on(above: &str, key: &str) -> bool {
    let Some(at) = above.rfind(&format!("{key}:")) else { return false };
    let value = &above[at + key.len() + 1..];
    value.trim_start().starts_with('[') && !value.contains(']')
}

fn end_of_word(text: &str, cursor: usize, position: &RegistryPosition<'_>) -> usize {
    let rest = text[cursor..].lines().next().unwrap_or_default();
    let end = rest.find(|c| match c {
        '"' | '\'' => true,
        ',' | ']' => position.flow && !position.quoted,
        ':' | '#' => !position.quoted,
        _ => false,
    });
    cursor + rest[..end.unwrap_or(rest.len())].trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected_at(text: &str) -> Option<(String, String)> {
        let cursor = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let position = position_at(&text, cursor)?;
        let expects = match position.expects {
            RegistryItem::Key => "key".to_owned(),
            RegistryItem::Root => "root".to_owned(),
            RegistryItem::Value(key) => key.to_owned(),
        };
        Some((expects, text[position.start..end_of_word(&text, cursor, &position)].to_owned()))
    }

    #[test]
    fn a_place_is_known_while_the_file_is_broken() {
        const HEAD: &str = "active_intents:\n  - id: INT-001\n";
        for (tail, expected) in [
            ("    status: |", Some(("status", ""))),
            ("    status: IN|_PROG", Some(("status", "IN_PROG"))),
            ("    status: \"IN|\"", Some(("status", "IN"))),
            ("    owned_scope: [\"src/**\", \"src/a|", Some(("owned_scope", "src/a"))),
            ("    owned_scope: [src/**, src/a|b, x]", Some(("owned_scope", "src/ab"))),
            ("    owned_scope:\n      - \"src/|\"\n", Some(("owned_scope", "src/"))),
            ("    owned_scope:\n    - a\n    - |", Some(("owned_scope", ""))),
            ("    owned_scope: [\n      \"a\",\n      \"b|", Some(("owned_scope", "b"))),
            ("    related_specs: [REQ-|]", Some(("related_specs", "REQ-"))),
            ("    |", Some(("key", ""))),
            ("    own|", Some(("key", "own"))),
            ("  - |", Some(("key", ""))),
            ("    # see INT-|", None),
            ("    name: x # INT-|", None),
            ("|", Some(("root", ""))),
            ("# |", None),
        ] {
            let found = expected_at(&format!("{HEAD}{tail}"));
            let expected = expected.map(|(expects, word)| (expects.to_owned(), word.to_owned()));
            assert_eq!(found, expected, "{tail}");
        }
    }

    #[test]
    fn folders_come_with_everything_below_them() {
        let files: Vec<RelativePath> =
            ["README.md", "src/a.rs", "src/auth/jwt.rs", "src/auth/x/y.rs"]
                .map(|path| RelativePath::new(path).unwrap())
                .into();
        let labels =
            |typed| paths(&files, typed).into_iter().map(|it| it.label).collect::<Vec<_>>();
        assert_eq!(labels(""), ["README.md", "src/**", "src/"]);
        assert_eq!(labels("src/au"), ["src/a.rs", "src/auth/**", "src/auth/"]);
        assert_eq!(labels("!src/auth/"), ["!src/auth/jwt.rs", "!src/auth/x/**", "!src/auth/x/"]);
        assert_eq!(labels("nowhere/"), [""; 0]);
    }

    #[test]
    fn only_keys_that_are_missing_are_offered() {
        let text = "active_intents:\n  - id: INT-001\n    name: A\n    \n    owned_scope: []\n  - id: INT-002\n    status: DRAFT\n";
        let cursor = text.find("    \n").unwrap() + 4;
        let labels: Vec<_> =
            keys(&keys_around(text, cursor)).into_iter().map(|it| it.label).collect();
        let expected =
            ["status", "constraints", "acceptance_criteria", "related_specs", "owner", "formerly"];
        assert_eq!(labels, expected);
    }
}
