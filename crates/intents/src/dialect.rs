//! Reads the different forms in which registries have been found, and converts each to the
//! canonical one.

use std::collections::HashSet;
use std::ops::Range;

use super::model::{SOURCE, is_source_id};
use super::yaml::{MappingEntry, Node, NodeKind, Style, dash_before, null_node, rest_of};
use super::{Intent, Spanned, Status};
use code::lists::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Id,
    Name,
    Status,
    Scope,
    Constraints,
    Acceptance,
    Specs,
    Owner,
    Formerly,
}

/// The fields in order, each with the keys under which it has been found, the canonical one first.
/// A dot leads into a nested mapping.
const FIELDS: [(Field, &[&str]); 9] = [
    (Field::Id, words!("id intent_id intentId active_intent_id")),
    (Field::Name, words!("name title summary goal description task current_context.task")),
    (Field::Status, words!("status")),
    (
        Field::Scope,
        words!(
            "owned_scope owned_scopes ownedScope scope scope.paths files_in_scope
            metadata.target_files current_context.files_in_scope"
        ),
    ),
    (Field::Constraints, words!("constraints boundaries current_context.constraints")),
    (Field::Acceptance, words!("acceptance_criteria acceptanceCriteria success what")),
    (Field::Specs, words!("related_specs related_requirements")),
    (Field::Owner, words!("owner")),
    (Field::Formerly, words!("formerly")),
];

impl Field {
    pub fn keys(self) -> &'static [&'static str] {
        FIELDS[self as usize].1
    }
    pub fn key(self) -> &'static str {
        self.keys()[0]
    }
}

#[derive(Clone, Debug)]
pub struct FieldPlace {
    pub field: Field,
    /// The key that was found, one of [`Field::keys`].
    pub path: &'static str,
    pub key: Node,
    pub value: Node,
}

#[derive(Clone, Debug)]
pub struct Written {
    /// The mapping of the intent, or a scalar if only an id is listed.
    pub node: Node,
    pub places: Vec<FieldPlace>,
    /// The key of the mapping, if intents are keyed by their ids.
    pub keyed: Option<Node>,
}

impl Written {
    pub(crate) fn nowhere() -> Self {
        Self { node: null_node(0), places: Vec::new(), keyed: None }
    }
    pub(crate) fn field_place(&self, field: Field) -> Option<&FieldPlace> {
        self.places.iter().find(|place| place.field == field)
    }
}

#[derive(Clone, Debug)]
pub struct Deviation {
    pub intent: Option<usize>,
    pub span: Range<usize>,
    pub message: String,
    pub help: String,
    /// A text that corrects the deviation if it replaces the span.
    pub canonical: Option<String>,
}

/// The place where further intents can be written.
#[derive(Clone, Debug, Default)]
pub enum Home {
    /// The file has no content yet.
    #[default]
    Empty,
    List(Node),
    /// There is no list to which an intent could be added. Holds what there is instead.
    Other(&'static str),
}

#[derive(Clone, Debug, Default)]
pub struct ParsedRegistry {
    pub intents: Vec<Intent>,
    pub form: Form,
}

#[derive(Clone, Debug, Default)]
pub struct Form {
    /// One entry for each intent, in the same order.
    pub written: Vec<Written>,
    pub deviations: Vec<Deviation>,
    pub home: Home,
}

pub fn read(text: &str, root: &Node) -> ParsedRegistry {
    let mut reader = RegistryReader::new(text, "it holds no list of intents");
    reader.root(root);
    reader.reading
}

pub(crate) fn read_one(text: &str, root: &Node) -> ParsedRegistry {
    let mut reader = RegistryReader::new(text, "it holds an intent already");
    if root.is_null() {
        reader.reading.form.home = Home::Empty;
    } else if root.is_mapping() {
        reader.intent(root, root.span.start, None);
        reader.point_to_source(root);
    } else {
        let help = "Write `id:`, `name:`, `status:` and `owned_scope:`, each on a line of its own.";
        reader.deviate(&root.span, "This file holds no intent.", help);
    }
    reader.reading
}

/// Why no intent can be added to a mapping of ids.
const KEYED: &str = "its intents are keyed by their ids";

struct RegistryReader<'t> {
    text: &'t str,
    reading: ParsedRegistry,
}

impl<'t> RegistryReader<'t> {
    fn new(text: &'t str, homeless: &'static str) -> Self {
        let form = Form { home: Home::Other(homeless), ..Form::default() };
        Self { text, reading: ParsedRegistry { form, ..ParsedRegistry::default() } }
    }

    fn root(&mut self, root: &Node) {
        if root.is_null() {
            self.reading.form.home = Home::Empty;
            return;
        }
        if root.is_sequence() {
            let help = "Put the list under the key `active_intents:`.";
            let bracket = root.span.start..root.span.start + 1;
            self.deviate(&bracket, "The registry is a bare list.", help);
            return self.list(root);
        }
        if !root.is_mapping() {
            let help = "A registry is a mapping with the key `active_intents:`.";
            return self.deviate(&root.span, "This is no registry.", help);
        }
        self.selection(root);
        let is_list =
            |entry: &&MappingEntry| matches!(entry.key.text(), Some("active_intents" | "intents"));
        let lists: Vec<&MappingEntry> = root.entries().iter().filter(is_list).collect();
        if !lists.is_empty() {
            let alone = lists.len() == 1;
            return lists.iter().for_each(|entry| self.read_rooted(entry, alone));
        }
        self.read_unlisted(root);
    }

    fn read_rooted(&mut self, entry: &MappingEntry, alone: bool) {
        if entry.key.text() == Some("intents") {
            let help = if alone {
                "The canonical key is `active_intents`."
            } else {
                "Move these into `active_intents`."
            };
            let fix = alone.then(|| requoted(&entry.key, "active_intents")).flatten();
            let message = "The list of intents is called `intents`.";
            self.note(None, &entry.key.span, message, help, fix);
        }
        match &entry.value.kind {
            NodeKind::Sequence { .. } => self.list(&entry.value),
            NodeKind::Mapping { entries, .. } if entries.is_empty() => {
                self.reading.form.home = Home::Other(KEYED);
            }
            NodeKind::Mapping { entries, .. } => {
                let help = "The canonical form is a list, each intent with an `id:`.";
                self.read_keyed(entries, &entry.key, help);
            }
            NodeKind::Scalar { .. } if entry.value.is_null() => {
                self.reading.form.home = Home::List(entry.value.clone());
            }
            NodeKind::Scalar { .. } => self.deviate(
                &entry.value.span,
                "The list of intents is a text, so it holds none.",
                "Write a list: each intent begins with `- id:`.",
            ),
        }
    }

    fn read_unlisted(&mut self, root: &Node) {
        let mapping = |key: &str| root.entry(key).filter(|entry| entry.value.is_mapping());
        let lone = [
            ("intent_ledger", "it is written as one `intent_ledger`"),
            ("active_intent", "it is written as one `active_intent`"),
        ];
        for (key, home) in lone {
            let Some(entry) = mapping(key) else { continue };
            self.reading.form.home = Home::Other(home);
            let message = format!("One intent is written as `{key}`.");
            let help = "The canonical form is a list under `active_intents:`.";
            self.deviate(&entry.key.span, message, help);
            self.selection(&entry.value);
            return self.intent(&entry.value, entry.key.span.start, None);
        }
        if looks_like_intent(root) {
            self.reading.form.home = Home::Other("the whole file is one intent");
            let help = "Put it into a list under `active_intents:`.";
            self.deviate(&root.entries()[0].key.span, "The whole file is one intent.", help);
            return self.intent(root, root.span.start, None);
        }
        let keyed: Vec<&MappingEntry> =
            root.entries().iter().filter(|entry| looks_like_intent_body(&entry.value)).collect();
        if !keyed.is_empty() {
            let help = "The canonical form is a list under `active_intents:`, each with an `id:`.";
            return self.read_keyed(keyed.iter().copied(), &keyed[0].key, help);
        }
        let Some(first) = root.entries().first() else {
            let help = "Write `active_intents: []`.";
            return self.deviate(&root.span, "No list of intents is here.", help);
        };
        let (message, help) = match root.get("agents") {
            Some(_) => (
                "This maps agents to intents, and holds no intents itself.",
                "List the intents under `active_intents:`.",
            ),
            None => ("No list of intents is here.", "List them under the key `active_intents:`."),
        };
        self.deviate(&first.key.span, message, help);
    }

    /// A file without an id that points to a source is about the intent there.
    fn point_to_source(&mut self, root: &Node) {
        let source = root.get(SOURCE).and_then(scalar).filter(|id| is_source_id(&id.value));
        for intent in self.reading.intents.iter_mut().filter(|one| one.id.value.is_empty()) {
            intent.id = source.clone().unwrap_or_default();
        }
    }

    fn selection(&mut self, node: &Node) {
        for key in ["active_intent_id", "active_intent"] {
            let entry = node.entry(key).filter(|entry| entry.value.text().is_some());
            let Some(entry) = entry else { continue };
            let message = format!("The selection is kept in the registry as `{key}`.");
            let help = "A selection belongs to one person or session: `intent select` keeps it outside the registry.";
            self.deviate(&entry.key.span, message, help);
        }
    }

    fn list(&mut self, list: &Node) {
        self.reading.form.home = Home::List(list.clone());
        for item in list.items() {
            let start = dash_before(self.text, item.span.start);
            self.intent(item, start, None);
        }
    }

    fn read_keyed<'e>(
        &mut self,
        entries: impl IntoIterator<Item = &'e MappingEntry>,
        marked: &Node,
        help: &str,
    ) {
        self.reading.form.home = Home::Other(KEYED);
        self.deviate(&marked.span, "Intents are keyed by their ids.", help);
        for entry in entries {
            self.intent(&entry.value, entry.key.span.start, Some(&entry.key));
        }
    }

    fn intent(&mut self, node: &Node, start: usize, keyed: Option<&Node>) {
        let index = self.reading.intents.len();
        let places: Vec<FieldPlace> =
            FIELDS.iter().filter_map(|(field, _)| place_of_field(node, *field)).collect();
        let written = Written { node: node.clone(), places, keyed: keyed.cloned() };
        let end = node.span.end.max(keyed.map_or(0, |key| key.span.end));
        let mut intent = empty_intent(start.min(end)..end);
        if let Some(key) = keyed {
            let value = key.text().unwrap_or_default().to_owned();
            intent.id = Spanned { value, span: key.span.clone() };
        } else if let Some(id) = scalar(node) {
            intent.id = id;
        }
        let mut taken: HashSet<&str> = HashSet::new();
        for place in &written.places {
            self.note_key(index, &written, place);
            let whole = self.fill(index, &mut intent, place);
            let top = place.path.split('.').next().unwrap_or(place.path);
            let alone =
                top == place.path || node.get(top).is_some_and(|value| value.entries().len() == 1);
            if whole && alone {
                taken.insert(top);
            }
        }
        intent.extra = rest_of(node, &taken);
        self.reading.intents.push(intent);
        self.reading.form.written.push(written);
    }

    /// Copies a field into the intent. Returns true if the intent now holds everything that was
    /// written there.
    fn fill(&mut self, index: usize, intent: &mut Intent, place: &FieldPlace) -> bool {
        let value = &place.value;
        match place.field {
            Field::Id => scalar(value).map(|id| intent.id = id).is_some(),
            Field::Name => scalar(value).map(|name| intent.name = name).is_some(),
            Field::Owner => scalar(value).map(|owner| intent.owner = Some(owner)).is_some(),
            Field::Status => self.status(index, intent, value),
            Field::Scope => self.scope(index, intent, value),
            Field::Constraints => self.texts(index, value, &mut intent.constraints, place),
            Field::Acceptance => self.texts(index, value, &mut intent.acceptance_criteria, place),
            Field::Specs => specs(value, &mut intent.related_specs),
            Field::Formerly => self.texts(index, value, &mut intent.formerly, place),
        }
    }

    fn status(&mut self, index: usize, intent: &mut Intent, value: &Node) -> bool {
        let Some(text) = value.text() else { return value.is_null() };
        let Some(status) = Status::parse(text) else { return false };
        intent.status = Some(Spanned { value: status, span: value.span.clone() });
        let canonical = status.as_str();
        if text != canonical {
            let fix = requoted(value, canonical);
            let message = format!("The status {text:?} is read as {canonical}.");
            let help = format!("The canonical spelling is `{canonical}`.");
            self.note(Some(index), &value.span, message, help, fix);
        }
        true
    }

    fn scope(&mut self, index: usize, intent: &mut Intent, value: &Node) -> bool {
        match &value.kind {
            NodeKind::Sequence { items, .. } => {
                let before = intent.owned_scope.len();
                intent.owned_scope.extend(items.iter().filter_map(|item| self.scope_item(item)));
                intent.owned_scope.len() - before == items.len()
            }
            NodeKind::Mapping { .. } => false,
            NodeKind::Scalar { .. } if value.is_null() && value.tag.is_none() => true,
            NodeKind::Scalar { .. } => {
                let entries = self.scope_text(value);
                let (message, whole) = if entries.is_empty() {
                    ("The scope is prose, which names no file: nothing is owned.", false)
                } else {
                    ("The scope is a text; it is read as a list of globs.", true)
                };
                let help = "Write a list of globs: `owned_scope: [\"src/auth/**\"]`.";
                self.note(Some(index), &value.span, message, help, None);
                intent.owned_scope.extend(entries);
                whole
            }
        }
    }

    fn scope_item(&self, item: &Node) -> Option<Spanned<String>> {
        if let Some(tag) = item.tag.clone().filter(|_| item.is_null()) {
            return Some(Spanned { value: self.text[tag.clone()].to_owned(), span: tag });
        }
        if item.is_mapping() && item.entries().len() == 1 {
            let named = ["path", "glob", "pattern", "file"].iter().find_map(|key| item.get(key));
            return named.and_then(scalar);
        }
        scalar(item)
    }

    /// Splits a scope that is a text into globs, by lines and commas. Returns nothing if any part
    /// contains white space, because then the text is prose.
    fn scope_text(&self, value: &Node) -> Vec<Spanned<String>> {
        let pieces = pieces(self.text, value);
        let prose = pieces.iter().any(|piece| {
            piece.value.contains(char::is_whitespace) || !piece.value.contains(['/', '.', '*'])
        });
        if prose { Vec::new() } else { pieces }
    }

    fn texts(
        &mut self,
        index: usize,
        value: &Node,
        into: &mut Vec<Spanned<String>>,
        place: &FieldPlace,
    ) -> bool {
        let what = match &value.kind {
            NodeKind::Sequence { items, .. } => {
                let before = into.len();
                into.extend(items.iter().filter_map(|item| scalar(item).or_else(|| command(item))));
                return into.len() - before == items.len();
            }
            NodeKind::Mapping { entries, .. } => {
                into.extend(entries.iter().filter_map(pair));
                "mapping"
            }
            NodeKind::Scalar { .. } if value.is_null() => return true,
            NodeKind::Scalar { .. } => {
                into.extend(lines_of(self.text, value));
                "text"
            }
        };
        let key = place.field.key();
        let message = format!("`{key}` is a {what}; it is read as a list.");
        let help = format!("Write a list of texts under `{key}:`.");
        self.note(Some(index), &place.key.span, message, help, None);
        !value.is_mapping() || into.len() >= value.entries().len()
    }

    fn note_key(&mut self, index: usize, written: &Written, place: &FieldPlace) {
        let canonical = place.field.key();
        // An `intent_ledger` uses the selection key as the id of its intent. `selection` has
        // already reported that key.
        if place.path == canonical || place.path == "active_intent_id" {
            return;
        }
        let free = written.node.entry(canonical).is_none();
        let may_rename = !place.path.contains('.') && free;
        let fix = may_rename.then(|| requoted(&place.key, canonical)).flatten();
        let message = format!("`{}` is read as `{canonical}`.", place.path);
        let help = format!("The canonical key is `{canonical}`.");
        self.note(Some(index), &place.key.span, message, help, fix);
    }

    fn deviate(&mut self, span: &Range<usize>, message: impl Into<String>, help: &str) {
        self.note(None, span, message, help, None);
    }

    fn note(
        &mut self,
        intent: Option<usize>,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
        canonical: Option<String>,
    ) {
        let (span, message, help) = (span.clone(), message.into(), help.into());
        let deviation = Deviation { intent, span, message, help, canonical };
        self.reading.form.deviations.push(deviation);
    }
}

pub(super) fn empty_intent(span: Range<usize>) -> Intent {
    let nothing = Spanned { value: String::new(), span: span.start..span.start };
    Intent { id: nothing.clone(), name: nothing, span, ..Intent::default() }
}

/// Returns a word in the quotes of the scalar that it replaces. Returns `None` for block scalars, and
/// for what is written elsewhere.
pub(crate) fn requoted(node: &Node, word: &str) -> Option<String> {
    match node.style()? {
        _ if node.aliased => None,
        Style::Plain => Some(word.to_owned()),
        Style::SingleQuoted => Some(format!("'{word}'")),
        Style::DoubleQuoted => Some(format!("\"{word}\"")),
        Style::Literal | Style::Folded => None,
    }
}

fn place_of_field(node: &Node, field: Field) -> Option<FieldPlace> {
    let found = field.keys().iter().find_map(|path| {
        let (holder, key) = match path.split_once('.') {
            Some((outer, key)) => (node.get(outer)?, key),
            None => (node, *path),
        };
        let entry = holder.entry(key)?;
        // `scope: {paths: …}` is found under the key `scope.paths`.
        let holder_only = field == Field::Scope && entry.value.is_mapping();
        (!holder_only).then_some((*path, entry))
    });
    let (path, entry) = found?;
    Some(FieldPlace { field, path, key: entry.key.clone(), value: entry.value.clone() })
}

fn looks_like_intent(node: &Node) -> bool {
    let named = ["id", "intent_id", "intentId"].iter().any(|key| node.get(key).is_some());
    named && looks_like_intent_body(node)
}

fn looks_like_intent_body(node: &Node) -> bool {
    [Field::Name, Field::Status, Field::Scope]
        .iter()
        .any(|field| place_of_field(node, *field).is_some())
}

fn scalar(node: &Node) -> Option<Spanned<String>> {
    node.text().map(|text| Spanned { value: text.to_owned(), span: node.span.clone() })
}

/// A criterion that names a command without quotes is a mapping in YAML: `- run: cargo test`.
fn command(item: &Node) -> Option<Spanned<String>> {
    match item.entries() {
        [only] if only.key.text() == Some("run") && only.value.text().is_some() => pair(only),
        _ => None,
    }
}

fn pair(entry: &MappingEntry) -> Option<Spanned<String>> {
    let key = entry.key.text()?;
    let span = entry.key.span.start..entry.value.span.end.max(entry.key.span.end);
    let written = entry.value.text().map(str::to_owned);
    let value = written.unwrap_or_else(|| entry.value.to_json().to_string());
    Some(Spanned { value: format!("{key}: {value}"), span })
}

/// Reads specs, which are texts or mappings such as `{type, ref}`.
fn specs(value: &Node, into: &mut Vec<Spanned<String>>) -> bool {
    if let Some(spec) = scalar(value) {
        into.push(spec);
        return true;
    }
    let mut whole = value.is_null() || value.is_sequence();
    for item in value.items() {
        let named = ["ref", "value", "id"].iter().find_map(|key| item.get(key));
        whole &= !item.is_mapping();
        match scalar(item).or_else(|| named.and_then(scalar)) {
            Some(spec) => into.push(spec),
            None => whole = false,
        }
    }
    whole
}

/// Returns the lines of a text without bullets and surrounding white space. Each has its own span
/// if the scalar is written literally (`|`).
fn lines_of(text: &str, node: &Node) -> Vec<Spanned<String>> {
    let Some(value) = node.text() else { return Vec::new() };
    let own_places = node.style() == Some(Style::Literal) && !node.aliased;
    let mut from = node.span.start;
    let lines = value.lines().map(bare_line).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let found = own_places.then(|| text[from..node.span.end].find(line)).flatten();
            let span = found.map_or(node.span.clone(), |at| from + at..from + at + line.len());
            if found.is_some() {
                from = span.end;
            }
            Spanned { value: line.to_owned(), span }
        })
        .collect()
}

fn bare_line(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim()
}

/// Splits a text at line ends and at commas outside braces.
fn pieces(text: &str, node: &Node) -> Vec<Spanned<String>> {
    let mut parts = Vec::new();
    for line in lines_of(text, node) {
        let exact = text.get(line.span.clone()) == Some(line.value.as_str());
        for range in split_commas(&line.value) {
            let value = line.value[range.clone()].to_owned();
            let span = if exact {
                line.span.start + range.start..line.span.start + range.end
            } else {
                line.span.clone()
            };
            parts.push(Spanned { value, span });
        }
    }
    parts
}

fn split_commas(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut depth = 0usize;
    let pieces = line.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    pieces.map(str::trim).filter(|piece| !piece.is_empty()).map(move |piece| {
        let start = piece.as_ptr() as usize - line.as_ptr() as usize;
        start..start + piece.len()
    })
}
