//! Edits a registry in place. Comments and layout are kept, and a file that does not parse is never
//! changed.
//!
//! An edit is planned as the smallest possible change of bytes and applied to the text in memory.
//! The result is parsed again, and the edit is returned only if the parsed registry has exactly the
//! wanted change.

mod removal;
mod renaming;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::canonical::{as_json, as_yaml, double_quoted, flow_list, quoted_like};
use super::dialect::{Field, FieldPlace, Home, Written};
use super::file::{path_of_single, path_of_source};
use super::model::valid_id;
use super::model::{SOURCE, is_source_id, texts};
use super::yaml::{Node, NodeKind, Style, YamlLayout, dash_before};
use super::{Intent, IntentEntry, IntentFile, Registry, Scope, Spanned, Status};
use edits::{TextEdit, apply};
use ground::{Finding, Hint, RelativePath};

#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "few edits exist at a time")]
pub enum RegistryEdit {
    SetStatus {
        id: String,
        status: Status,
    },
    /// Adds an entry at the end of a list of an intent. Changes nothing if the list already has it.
    AddEntry {
        id: String,
        field: Field,
        entry: String,
    },
    RemoveEntry {
        id: String,
        field: Field,
        entry: String,
    },
    SetText {
        id: String,
        field: Field,
        text: String,
    },
    /// Renames an id where it is defined and where the registry refers to it. The old id is added
    /// to the intent's `formerly`, because existing records still use it.
    Rename {
        from: String,
        to: String,
    },
    Add(IntentEntry),
    /// Adds a file that points to an intent which is kept elsewhere, and gives it a scope.
    Adopt {
        id: String,
        /// The status, if that of the source does not hold.
        status: Option<Status>,
        scope: Vec<String>,
    },
    Remove {
        id: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The registry does not parse, so it is not changed.
    #[error("{path}: {reason}")]
    Broken { path: String, reason: String },
    #[error("no intent {id} in {path}")]
    Unknown { id: String, path: String },
    #[error("{path} already has an intent {id}")]
    Taken { id: String, path: String },
    #[error("{id} is defined at {places}")]
    Ambiguous { id: String, places: String },
    #[error("{0}")]
    Refused(String),
}

impl Hint for EditError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Broken { .. } => "fix it first; nothing was changed",
            Self::Ambiguous { .. } => {
                "give all but one of them an id of their own, or remove them, then try again"
            }
            Self::Unknown { .. } | Self::Taken { .. } | Self::Refused(_) => return None,
        };
        Some(hint.to_owned())
    }
}

type PlannedTextEdits = Result<Vec<TextEdit>, EditError>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedEdit {
    /// The path of the file. A file that does not exist yet has an empty text.
    pub path: RelativePath,
    /// The edits, as byte ranges of the present text.
    pub edits: Vec<TextEdit>,
    pub text: String,
}

/// Returns the edits that make a change, in the file that holds the intent. The edited text is
/// parsed before the edits are returned, so they never break a file.
pub fn plan(registry: &Registry, edit: &RegistryEdit) -> Result<PlannedEdit, EditError> {
    if let Some(error) = registry.syntax_error() {
        return Err(broken(error, registry.path()));
    }
    let (file, target) = match edit {
        RegistryEdit::SetStatus { id, .. }
        | RegistryEdit::AddEntry { id, .. }
        | RegistryEdit::RemoveEntry { id, .. }
        | RegistryEdit::SetText { id, .. }
        | RegistryEdit::Remove { id } => find(registry, id)?,
        RegistryEdit::Rename { from, to } => {
            free_for(registry, to, registry.position(from))?;
            find(registry, from)?
        }
        RegistryEdit::Add(new) => {
            free_for(registry, &new.id, None)?;
            let file = file_for_new(registry, new);
            let target = file.len();
            (file, target)
        }
        RegistryEdit::Adopt { id, .. } => (file_for_source(registry, id)?, 0),
    };
    let edits = match edit {
        RegistryEdit::SetStatus { status, .. } => set_status(&file, target, *status),
        RegistryEdit::AddEntry { field, entry, .. } => add_to_field(&file, target, *field, entry),
        RegistryEdit::RemoveEntry { field, entry, .. } => {
            removal::entry(&file, target, *field, entry)
        }
        RegistryEdit::SetText { field, text, .. } => set_text(&file, target, *field, text),
        RegistryEdit::Remove { .. } => removal::intent(&file, target),
        RegistryEdit::Rename { from, to } => renaming::rename(&file, target, from, to),
        RegistryEdit::Add(new) => add_entry(&file, new),
        RegistryEdit::Adopt { id, status, scope } => point_to(&file, id, *status, scope),
    }?;
    let text = verify(&file, edit, target, &edits)?;
    Ok(PlannedEdit { path: file.path().clone(), edits, text })
}

/// Returns the text of the one file that these edits change, after all of them.
pub fn plan_all(
    registry: &Registry,
    edits: &[RegistryEdit],
) -> Result<(RelativePath, String), EditError> {
    let mut registry = registry.copy();
    let mut planned = None;
    for edit in edits {
        let PlannedEdit { path, text, .. } = plan(&registry, edit)?;
        registry = registry.with_file(&path, &text);
        planned = Some((path, text));
    }
    planned.ok_or_else(|| refusal_because("there is nothing to change"))
}

/// Returns the edit that gives another id to the last of several intents in a file that have the
/// same one. The old id is added to its `formerly`. Whatever else refers to the old id means the
/// other intent.
pub fn plan_renumbering(
    registry: &Registry,
    path: &RelativePath,
    (from, to): (&str, &str),
) -> Result<PlannedEdit, EditError> {
    free_for(registry, to, None)?;
    let unknown = || EditError::Unknown { id: from.to_owned(), path: path.to_string() };
    let file = registry.file(path).ok_or_else(unknown)?;
    let target = file.positions(from).pop().ok_or_else(unknown)?;
    let written = &file.written(target).node.span;
    let end = line_end(file.text(), written.end);
    let mut edits = renaming::rename(file, target, from, to)?;
    edits.retain(|edit| written.start <= edit.range.start && edit.range.end <= end);
    let wanted = RegistryEdit::Rename { from: from.to_owned(), to: to.to_owned() };
    let text = verify(file, &wanted, target, &edits)?;
    Ok(PlannedEdit { path: path.clone(), edits, text })
}

/// Returns the next free id in the style of the registry, such as `INT-007`. `used` holds ids that
/// are used elsewhere.
pub fn next_id(registry: &Registry, used: &BTreeSet<String>) -> String {
    let present = || registry.intents().iter().map(|intent| intent.id.value.as_str());
    let ids = || used.iter().map(String::as_str).chain(present());
    let numbered = |id: &str| -> Option<(String, usize, u64)> {
        let stem = id.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &id[stem.len()..];
        let number = digits.parse::<u64>().ok().filter(|number| *number < u64::MAX / 2)?;
        (!stem.is_empty() && valid_id(id)).then(|| (stem.to_owned(), digits.len(), number))
    };
    let elsewhere = || used.iter().rev().find_map(|id| numbered(id));
    let last = present().rev().find_map(numbered).or_else(elsewhere);
    let Some((stem, width, _)) = last else { return "INT-001".into() };
    let taken = ids().filter_map(numbered).filter(|(other, _, _)| *other == stem);
    let mut number = taken.map(|(_, _, number)| number).max().unwrap_or(0) + 1;
    loop {
        let id = format!("{stem}{number:0width$}");
        let free = registry.positions(&id).is_empty() && registry.formerly(&id).is_empty();
        if free && !used.contains(&id) {
            return id;
        }
        number += 1;
    }
}

fn find(registry: &Registry, id: &str) -> Result<(Arc<IntentFile>, usize), EditError> {
    let places = registry.definitions_of(id);
    if !places.is_empty() {
        return Err(EditError::Ambiguous { id: id.to_owned(), places: places.join(" and at ") });
    }
    if let Some(imported) = registry.unadopted(id) {
        return Err(refusal_because(format!(
            "{id} is kept in {}, and is changed there; `intent adopt {id}` gives it a scope here",
            imported.main
        )));
    }
    let path = registry.path().to_string();
    let unknown = || EditError::Unknown { id: id.to_owned(), path };
    let (file, at) = registry.source(registry.position(id).ok_or_else(unknown)?);
    Ok((Arc::clone(file), at))
}

/// Returns the file for a new intent: a file of its own, or the list where intents are kept in one.
fn file_for_new(registry: &Registry, new: &IntentEntry) -> Arc<IntentFile> {
    let own = || path_of_single(&new.id, &new.name);
    let Some(path) = registry.folder.then(own).flatten() else {
        return Arc::clone(registry.list());
    };
    let known = registry.file(&path).cloned();
    known.unwrap_or_else(|| Arc::new(IntentFile::unread(path, "")))
}

/// Returns an error if an id cannot be given to an intent because another intent has it or had it
/// before. In the second case, existing records under that id belong to the other intent.
fn free_for(registry: &Registry, id: &str, except: Option<usize>) -> Result<(), EditError> {
    if !valid_id(id) {
        return Err(refusal_because(format!(
            "{id:?} cannot be an id: use ASCII letters, digits, `-`, `_` and `.`, at most 64"
        )));
    }
    let other = |indices: Vec<usize>| indices.into_iter().find(|other| Some(*other) != except);
    if let Some(other) = other(registry.positions(id)) {
        let path = registry.source(other).0.path().to_string();
        return Err(EditError::Taken { id: id.to_owned(), path });
    }
    let Some(other) = other(registry.formerly(id)) else { return Ok(()) };
    Err(refusal_because(format!(
        "{id} is a former id of {}, which owns its records; choose another id",
        registry.intents()[other].id.value
    )))
}

pub(super) fn broken(error: &Finding, path: &RelativePath) -> EditError {
    EditError::Broken { path: error.place_in_compiler_form(path), reason: error.message.clone() }
}

pub(super) fn refusal_because(message: impl Into<String>) -> EditError {
    EditError::Refused(message.into())
}

fn by_alias(what: &str) -> EditError {
    refusal_because(format!("this {what} comes from elsewhere by a YAML alias; change it by hand"))
}

fn insert(at: usize, text: impl Into<String>) -> TextEdit {
    TextEdit { range: at..at, text: text.into() }
}

fn replace(range: &Range<usize>, text: impl Into<String>) -> TextEdit {
    TextEdit { range: range.clone(), text: text.into() }
}

fn verify(
    file: &IntentFile,
    edit: &RegistryEdit,
    target: usize,
    edits: &[TextEdit],
) -> Result<String, EditError> {
    let unsafe_edit = || {
        refusal_because(format!(
            "{} is written in a form that cannot be edited safely; change it by hand",
            file.path()
        ))
    };
    let text = apply(file.text(), edits).ok_or_else(unsafe_edit)?;
    let after = IntentFile::parse(file.path().clone(), &text);
    let wanted = expected(file, edit, target);
    // Where an intent was removed, those below it are one place further up.
    let target = if matches!(edit, RegistryEdit::Remove { .. }) { usize::MAX } else { target };
    // Only a rename may change what other intents contain, because they may refer to the renamed
    // id.
    let renames = matches!(edit, RegistryEdit::Rename { .. });
    let as_wanted = |(at, (got, want)): (usize, (&Intent, &Intent))| {
        says_the_same(got, want) && (renames || target == at || got.extra == want.extra)
    };
    let same = after.syntax_error().is_none()
        && after.intents().len() == wanted.len()
        && after.intents().iter().zip(&wanted).enumerate().all(as_wanted);
    if same { Ok(text) } else { Err(unsafe_edit()) }
}

/// Returns true if two intents differ at most in unknown keys and in where their values are.
pub(super) fn says_the_same(one: &Intent, other: &Intent) -> bool {
    one.hash() == other.hash()
        && one.known_status() == other.known_status()
        && texts(&one.formerly) == texts(&other.formerly)
}

fn expected(file: &IntentFile, edit: &RegistryEdit, target: usize) -> Vec<Intent> {
    let mut intents = file.written_intents();
    let spanned = |value: &String| Spanned::placeless(value.clone());
    match edit {
        RegistryEdit::Add(new) => intents.push(new.intent()),
        RegistryEdit::Adopt { id, status, scope } => intents.push(Intent {
            id: spanned(id),
            status: status.map(Spanned::placeless),
            owned_scope: scope.iter().map(spanned).collect(),
            ..Intent::default()
        }),
        _ => {}
    }
    let intent = &mut intents[target];
    match edit {
        RegistryEdit::SetStatus { status, .. } => {
            intent.status = Some(Spanned::placeless(*status));
        }
        RegistryEdit::AddEntry { field, entry, .. } => {
            if let Some(list) = list_of(intent, *field)
                && !texts(list).contains(&entry.as_str())
            {
                list.push(spanned(entry));
            }
        }
        RegistryEdit::RemoveEntry { field, entry, .. } => {
            if let Some(list) = list_of(intent, *field) {
                list.retain(|held| held.value != *entry);
            }
        }
        RegistryEdit::SetText { field: Field::Owner, text, .. } => {
            intent.owner = Some(spanned(text));
        }
        RegistryEdit::SetText { text, .. } => intent.name = spanned(text),
        RegistryEdit::Remove { .. } => drop(intents.remove(target)),
        RegistryEdit::Rename { from, to } if from != to => {
            let is_known = intent.formerly.iter().any(|id| [from, to].contains(&&id.value));
            for id in intent.formerly.iter_mut().filter(|id| id.value == *to) {
                id.value.clone_from(from);
            }
            intent.formerly.extend((!is_known).then(|| spanned(from)));
            intent.id = spanned(to);
        }
        RegistryEdit::Rename { .. } | RegistryEdit::Add(_) | RegistryEdit::Adopt { .. } => {}
    }
    intents
}

/// Returns the entries of a field that is a list, and nothing for any other field.
pub(super) fn texts_of(intent: &Intent, field: Field) -> Vec<&str> {
    match field {
        Field::Scope => texts(&intent.owned_scope),
        Field::Constraints => texts(&intent.constraints),
        Field::Acceptance => texts(&intent.acceptance_criteria),
        Field::Specs => texts(&intent.related_specs),
        _ => Vec::new(),
    }
}

fn list_of(intent: &mut Intent, field: Field) -> Option<&mut Vec<Spanned<String>>> {
    match field {
        Field::Scope => Some(&mut intent.owned_scope),
        Field::Constraints => Some(&mut intent.constraints),
        Field::Acceptance => Some(&mut intent.acceptance_criteria),
        Field::Specs => Some(&mut intent.related_specs),
        _ => None,
    }
}

fn set_text(file: &IntentFile, index: usize, field: Field, text: &str) -> PlannedTextEdits {
    let key = field.key();
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err(refusal_because(format!("{text:?} cannot be the {key} of an intent")));
    }
    let [what, form] = [&format!("`{key}`"), "written over several lines"];
    set_scalar(file, index, field, (text, &double_quoted(text)), (what, form))
}

fn set_status(file: &IntentFile, index: usize, status: Status) -> PlannedTextEdits {
    let text = status.as_str();
    set_scalar(file, index, Field::Status, (text, text), ("status", "not a single word"))
}

/// Sets a field that is a single text. `yaml` is how the text is written where no value is yet.
/// `what` names the field in messages, and `form` says how a value is written that cannot be edited.
fn set_scalar(
    file: &IntentFile,
    index: usize,
    field: Field,
    (text, yaml): (&str, &str),
    (what, form): (&str, &str),
) -> PlannedTextEdits {
    let written = file.written(index);
    let Some(place) = written.field_place(field) else {
        return add_key(file, written, field.key(), yaml, &double_quoted(text));
    };
    let value = &place.value;
    if value.aliased {
        return Err(by_alias(what));
    }
    if value.span.is_empty() {
        return Ok(vec![insert(value.span.start, format!(" {yaml}"))]);
    }
    if value.text() == Some(text) {
        return Ok(Vec::new());
    }
    match style_in(file, value) {
        Some(style @ (Style::Plain | Style::SingleQuoted | Style::DoubleQuoted)) => {
            Ok(vec![replace(&value.span, quoted_like(text, style, true))])
        }
        _ => Err(refusal_because(format!("this {what} is {form}; change it by hand"))),
    }
}

fn add_to_field(file: &IntentFile, index: usize, field: Field, entry: &str) -> PlannedTextEdits {
    let is_scope = field == Field::Scope;
    if is_scope {
        refuse_invalid_scope(&[entry])?;
    }
    let mut intent = file.intents()[index].clone();
    let id = intent.id.value.clone();
    let Some(held) = list_of(&mut intent, field) else {
        return Err(refusal_because(format!("`{}` is no list", field.key())));
    };
    let held = texts(held);
    if held.contains(&entry) {
        return Ok(Vec::new());
    }
    if is_scope && held.len() >= super::scope::MAX_ENTRIES {
        return Err(refusal_because(format!(
            "{id} already has {} scope entries, the most that count",
            super::scope::MAX_ENTRIES
        )));
    }
    let written = file.written(index);
    match written.field_place(field) {
        None => {
            let list = flow_list([entry]);
            add_key(file, written, field.key(), &list, &list)
        }
        Some(place) => extend(file, place, &held, entry),
    }
}

/// Appends an entry to a list in the text. `held` are the entries that were read from it.
fn extend(file: &IntentFile, place: &FieldPlace, held: &[&str], entry: &str) -> PlannedTextEdits {
    let (value, key) = (&place.value, place.field.key());
    if value.aliased {
        return Err(by_alias(&format!("`{key}`")));
    }
    match &value.kind {
        NodeKind::Sequence { items, layout: YamlLayout::Flow } => {
            flow_append(file.text(), value, items, entry)
        }
        NodeKind::Sequence { items, layout: YamlLayout::Block } => {
            let style = items.last().and_then(Node::style).unwrap_or(Style::DoubleQuoted);
            block_append(file.text(), items, &[format!("- {}", quoted_like(entry, style, false))])
        }
        NodeKind::Scalar { .. } if value.is_null() => {
            let blank = if value.span.is_empty() { " " } else { "" };
            Ok(vec![replace(&value.span, format!("{blank}{}", flow_list([entry])))])
        }
        NodeKind::Scalar {
            style: Style::Plain | Style::SingleQuoted | Style::DoubleQuoted,
            ..
        } if !held.is_empty() => {
            Ok(vec![replace(&value.span, flow_list(held.iter().copied().chain([entry])))])
        }
        _ => Err(refusal_because(format!(
            "this `{key}` is prose, not a list; write `{key}: {}` in its place by hand",
            flow_list([entry])
        ))),
    }
}

/// Appends to a list in brackets, in the list's own layout and in the style of the last item.
fn flow_append(text: &str, list: &Node, items: &[Node], entry: &str) -> PlannedTextEdits {
    let style = items.last().and_then(Node::style).unwrap_or(Style::DoubleQuoted);
    let item = quoted_like(entry, style, true);
    let Some(last) = items.last() else {
        return Ok(vec![insert(list.span.start + 1, item)]);
    };
    let tail = &text[last.span.end..list.span.end - 1];
    let own_line = text[..last.span.start].rfind('\n').filter(|at| *at >= list.span.start);
    let (Some(line_break), true) = (own_line, tail.contains('\n')) else {
        return Ok(vec![insert(last.span.end, format!(", {item}"))]);
    };
    let comma = tail.split('#').next().unwrap_or(tail).find(',').map(|at| last.span.end + at + 1);
    let line_start = line_break + 1;
    let indent = blank_prefix(&text[line_start..]);
    let end = line_end(text, comma.unwrap_or(last.span.end));
    let new_line = format!("{}{indent}{item}", newline(text));
    match comma {
        Some(_) => Ok(vec![insert(end, format!("{new_line},"))]),
        None if end == last.span.end => Ok(vec![insert(end, format!(",{new_line}"))]),
        None => Ok(vec![insert(last.span.end, ","), insert(end, new_line)]),
    }
}

fn block_append(text: &str, items: &[Node], lines: &[String]) -> PlannedTextEdits {
    let last =
        items.last().ok_or_else(|| refusal_because("this list is empty; add the entry by hand"))?;
    let dash = match last.span.is_empty() {
        true => last.span.start.saturating_sub(1),
        false => dash_before(text, last.span.start),
    };
    if !text[dash..].starts_with('-') {
        let message = "the dash of the last item was not found; add the entry by hand";
        return Err(refusal_because(message));
    }
    let indent = blanks_before(text, dash);
    let end = line_end(text, last.span.end);
    let newline = newline(text);
    let written: String = lines.iter().map(|line| format!("{newline}{indent}{line}")).collect();
    Ok(vec![insert(end, written)])
}

/// Adds a key to an intent, below the keys that precede it in the canonical order.
fn add_key(
    file: &IntentFile,
    written: &Written,
    key: &str,
    yaml: &str,
    json: &str,
) -> PlannedTextEdits {
    let text = file.text();
    let node = &written.node;
    let by_hand =
        || refusal_because(format!("this intent has no place for `{key}:`; add it by hand"));
    if node.aliased || !node.is_mapping() {
        return Err(by_hand());
    }
    if node.layout() == Some(YamlLayout::Flow) {
        let Some(last) = node.entries().last() else { return Err(by_hand()) };
        let quoted = last.key.style() == Some(Style::DoubleQuoted);
        let entry = if quoted { format!("\"{key}\": {json}") } else { format!("{key}: {yaml}") };
        let end = last.value.span.end.max(last.key.span.end);
        let line = text[..last.key.span.start].rfind('\n').filter(|at| *at >= node.span.start);
        let glue = match line {
            Some(at) if text[at + 1..last.key.span.start].trim().is_empty() => {
                format!(",{}{}", newline(text), &text[at + 1..last.key.span.start])
            }
            _ => ", ".to_owned(),
        };
        return Ok(vec![insert(end, format!("{glue}{entry}"))]);
    }
    // `formerly` is written directly below the id.
    let before: &[Field] = match key == Field::Formerly.key() {
        true => &[Field::Id],
        false => &[Field::Status, Field::Name, Field::Id],
    };
    let place = before.iter().find_map(|field| {
        written.field_place(*field).filter(|place| field.key() != key && !place.path.contains('.'))
    });
    let first = node.entries().first().ok_or_else(by_hand)?;
    let (anchor, value) = match place {
        Some(place) => (&place.key, &place.value),
        None => (&first.key, &first.value),
    };
    let indent = blanks_before(text, first.key.span.start);
    let end = line_end(text, value.span.end.max(anchor.span.end));
    Ok(vec![insert(end, format!("{}{indent}{key}: {yaml}", newline(text)))])
}

fn refuse_invalid_scope<S: AsRef<str>>(scope: &[S]) -> Result<(), EditError> {
    let Some((at, problem)) = Scope::new(scope).problems().first().cloned() else { return Ok(()) };
    let entry = scope[at].as_ref();
    Err(refusal_because(format!("{entry:?} cannot be a scope entry: {problem}")))
}

fn file_for_source(registry: &Registry, id: &str) -> Result<Arc<IntentFile>, EditError> {
    let path = path_of_source(id).filter(|_| is_source_id(id));
    let path =
        path.ok_or_else(|| refusal_because(format!("{id:?} is no intent of a known source")))?;
    let taken = registry.positions(id).first().map(|at| registry.source(*at).0);
    if let Some(file) = taken.or_else(|| registry.file(&path)) {
        return Err(EditError::Taken { id: id.to_owned(), path: file.path().to_string() });
    }
    Ok(Arc::new(IntentFile::unread(path, "")))
}

fn point_to(
    file: &IntentFile,
    id: &str,
    status: Option<Status>,
    scope: &[String],
) -> PlannedTextEdits {
    refuse_invalid_scope(scope)?;
    let status = status.map(|status| format!("status: {}\n", status.as_str())).unwrap_or_default();
    let scope = flow_list(scope.iter().map(String::as_str));
    let id = quoted_like(id, Style::Plain, false);
    Ok(vec![insert(file.text().len(), format!("{SOURCE}: {id}\n{status}owned_scope: {scope}\n"))])
}

fn add_entry(file: &IntentFile, new: &IntentEntry) -> PlannedTextEdits {
    refuse_invalid_scope(&new.owned_scope)?;
    let text = file.text();
    match &file.form().home {
        Home::Other(why) => Err(refusal_because(format!(
            "no intent can be added to {}: {why}. {}",
            file.path(),
            match file.is_single() {
                true => "Rename the file after the intent that it holds",
                false => "Bring it into the canonical form first: a list under `active_intents:`",
            }
        ))),
        Home::Empty if is_json(file) => {
            let json = serde_json::json!({ "active_intents": [as_json(new)] });
            Ok(vec![replace(&(0..text.len()), format!("{json:#}\n"))])
        }
        Home::Empty => Ok(vec![first_intent(file, new)]),
        Home::List(list) => add_to_list(text, list, new),
    }
}

/// Writes the first intent of a text that has no values, below its comments.
fn first_intent(file: &IntentFile, new: &IntentEntry) -> TextEdit {
    let text = file.text();
    let newline = newline(text);
    let begun = text.is_empty() || &**text == "\u{feff}" || text.ends_with('\n');
    let lines: Vec<String> = match file.is_single() {
        true => as_yaml(new),
        false => {
            let listed = as_item(new).into_iter().map(|line| format!("  {line}"));
            std::iter::once("active_intents:".to_owned()).chain(listed).collect()
        }
    };
    let lines: String = lines.iter().map(|line| format!("{line}{newline}")).collect();
    insert(text.len(), if begun { lines } else { format!("{newline}{lines}") })
}

fn as_item(new: &IntentEntry) -> Vec<String> {
    let dashed =
        |(at, line): (usize, String)| format!("{} {line}", if at == 0 { '-' } else { ' ' });
    as_yaml(new).into_iter().enumerate().map(dashed).collect()
}

fn add_to_list(text: &str, list: &Node, new: &IntentEntry) -> PlannedTextEdits {
    let in_place_of_list = || {
        let lines = as_item(new).into_iter().map(|line| format!("{}  {line}", newline(text)));
        Ok(vec![replace(&with_blanks_before(text, &list.span), lines.collect::<String>())])
    };
    match &list.kind {
        NodeKind::Sequence { items, layout: YamlLayout::Block } => {
            block_append(text, items, &as_item(new))
        }
        NodeKind::Sequence { items, .. } if items.is_empty() && !json_key_before(text, list) => {
            in_place_of_list()
        }
        NodeKind::Sequence { items, .. } => append_json(text, list, items, new),
        _ if json_key_before(text, list) => {
            Ok(vec![replace(&list.span, format!("[{}]", as_json(new)))])
        }
        _ => in_place_of_list(),
    }
}

fn with_blanks_before(text: &str, span: &Range<usize>) -> Range<usize> {
    text[..span.start].trim_end_matches([' ', '\t']).len()..span.end
}

/// Returns true if the list is part of JSON, or of a mapping that is written like JSON.
fn json_key_before(text: &str, list: &Node) -> bool {
    let before = text[..list.span.start].trim_end();
    let key = before.strip_suffix(':').map(str::trim_end);
    match key {
        Some(key) => {
            key.ends_with('"') || text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
        }
        None => true,
    }
}

fn append_json(text: &str, list: &Node, items: &[Node], new: &IntentEntry) -> PlannedTextEdits {
    let Some(last) = items.last() else {
        return Ok(vec![insert(list.span.start + 1, as_json(new).to_string())]);
    };
    let line = text[..last.span.start].rfind('\n').filter(|at| *at >= list.span.start);
    let Some(indent) = line.map(|at| blank_prefix(&text[at + 1..])) else {
        return Ok(vec![insert(last.span.end, format!(", {}", as_json(new)))]);
    };
    let pretty = format!("{:#}", as_json(new));
    let glue = format!("{}{indent}", newline(text));
    let written = pretty.lines().collect::<Vec<_>>().join(&glue);
    Ok(vec![insert(last.span.end, format!(",{glue}{written}"))])
}

fn is_json(file: &IntentFile) -> bool {
    file.path().as_str().ends_with(".json")
}

/// Returns the style in which to replace a value. JSON has only one.
fn style_in(file: &IntentFile, value: &Node) -> Option<Style> {
    if is_json(file) { Some(Style::DoubleQuoted) } else { value.style() }
}

/// Returns as many blanks as there are characters before a byte in its line.
fn blanks_before(text: &str, at: usize) -> String {
    text[line_start(text, at)..at].trim_start_matches('\u{feff}').chars().map(|_| ' ').collect()
}

fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

pub(super) fn line_of(text: &str, at: usize) -> Range<usize> {
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
    line_start(text, at)..end
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// Returns the end of the line that contains a byte, before the line ending.
fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    if end > at && text[..end].ends_with('\r') { end - 1 } else { end }
}

fn blank_prefix(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
