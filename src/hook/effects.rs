//! Works out what a call would do, from the tool's name and input.
//!
//! If a tool changes something and its input cannot be read, the result is [`Effect::Unreadable`],
//! never an empty list.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::contradiction;
use super::fields::{
    self, BACKGROUND, COMMAND, CONTENT, EDITS, EVERY, FILES, FOLDER, FROM, LISTS, NEW, OLD, PATCH,
    PATH, TO, TYPED,
};
use super::host::Host;
use super::tools::{self, PLATFORM, ToolKind};
use super::unknown_tools;
use edits::notebook::{CellEdit, CellMode};
use edits::patch::{self, FilePatch};
use edits::{Change, Replacement};
use evidence::event::Effect;
use ground::text;
use shell::Dialect;

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub tool: String,
    pub input: Value,
}

impl Call {
    /// Reads a call from the fields with the tool's name and with its input. `None` if the tool has
    /// no name.
    pub(crate) fn from_fields(object: &Value, tool: &str, input: &str) -> Option<Self> {
        let tool = fields::word(object, tool)?.to_owned();
        Some(Self { tool, input: fields::input(object, input) })
    }
}

pub(crate) fn only_reads(host: &Host, tool: &str) -> bool {
    tools::kind(host, tool).is_some_and(ToolKind::only_reads)
}

pub(crate) fn effects_of_call(host: &Host, call: &Call, cwd: &Path) -> Vec<Effect> {
    let reading = CallInput { tool: &call.tool, input: &call.input, cwd };
    let kind = tools::kind(host, &call.tool);
    if !kind.is_some_and(ToolKind::only_reads) {
        if fields::is_broken(&call.input) {
            return reading.effects_of_unreadable("comes with an input that cannot be read");
        }
        if let Some((one, other)) = contradiction::found(kind, &call.input, cwd) {
            return reading.effects_of_unreadable(&format!(
                "says different things in `{one}` and in `{other}`"
            ));
        }
    }
    // What such a tool searches for and puts there is text, even if it looks like a path.
    let texts = if kind == Some(ToolKind::Touch) { "search replace" } else { "" };
    let read = [PATH, FROM, TO, FOLDER, LISTS, texts].join(" ");
    if kind.is_some_and(ToolKind::names_its_files)
        && let Some((name, _)) = unknown_tools::other_paths(&reading, &read).first()
    {
        return reading
            .effects_of_unreadable(&format!("names a file in `{name}`, which is not known"));
    }
    match kind {
        Some(ToolKind::Batch) => batch(host, &reading),
        // The inner tool is in no table, so the recursion ends.
        Some(ToolKind::Foreign) => match unknown_tools::call_in_wrapper(&call.input) {
            Some(inner) => effects_of_call(host, &inner, cwd),
            None => reading.effects_of_unreadable("does not say which tool it calls"),
        },
        Some(kind) => reading.known_effects(kind),
        None => {
            let mut effects = unknown_tools::effects(&reading);
            effects.extend(unknown_tools::may_write(&call.tool).then_some(Effect::Unforeseen));
            effects
        }
    }
}

/// Reads the calls inside a call. A batch inside a batch is refused, so the recursion ends.
fn batch(host: &Host, reading: &CallInput) -> Vec<Effect> {
    let Some(calls) = fields::list(reading.input, "tool_calls calls") else {
        return reading.effects_of_unreadable("does not say what it calls");
    };
    let single = |inner: &Value| {
        let tool = fields::word(inner, "tool name tool_name").unwrap_or_default();
        if tools::kind(host, tool) == Some(ToolKind::Batch) {
            return reading.effects_of_unreadable("calls itself");
        }
        let input = fields::input(inner, "parameters input args arguments");
        effects_of_call(host, &Call { tool: tool.to_owned(), input }, reading.cwd)
    };
    without_chains(calls.iter().flat_map(single).collect(), reading.cwd)
}

#[derive(Clone, Copy)]
pub(crate) struct CallInput<'a> {
    pub tool: &'a str,
    pub input: &'a Value,
    pub cwd: &'a Path,
}

impl CallInput<'_> {
    fn known_effects(&self, kind: ToolKind) -> Vec<Effect> {
        match kind {
            ToolKind::Nothing => Vec::new(),
            ToolKind::Read => self.effects_of_reads(),
            ToolKind::Write => self.write(whole_file(self.input)),
            ToolKind::Append => self.write(change_of_append(self.input)),
            ToolKind::EditStrictly => self.write(change_of_edits(self.input, Change::Replace)),
            ToolKind::Edit => self.edit(),
            ToolKind::Edits => self.each_edit(),
            ToolKind::Cell => self.write(cell(self.input)),
            ToolKind::Patch => self.patch(),
            ToolKind::Blocks => self.write(blocks(self.input)),
            ToolKind::Touch => self.each_path(unknown_tools::unknown_write),
            ToolKind::Delete => self.each_path(|path| Effect::Delete { path }),
            ToolKind::Move => self.effects_of_move(),
            ToolKind::Shell(dialect) => {
                self.shell(dialect, COMMAND, fields::is_true(self.input, BACKGROUND))
            }
            ToolKind::Watch => self.shell(Dialect::Posix, COMMAND, true),
            ToolKind::Type(dialect) => self.shell(dialect, TYPED, true),
            ToolKind::Task => self.task(),
            ToolKind::Batch | ToolKind::Foreign => {
                self.effects_of_unreadable("calls what cannot be read")
            }
        }
    }

    /// Returns the effect of a call that changes something but whose input is incomplete or
    /// contradictory. `what` completes the sentence that begins with the tool's name.
    pub(crate) fn effects_of_unreadable(&self, what: &str) -> Vec<Effect> {
        vec![Effect::Unreadable { what: format!("`{}` {what}", self.tool) }]
    }

    fn path_of(&self, object: &Value) -> Option<PathBuf> {
        fields::path(fields::word(object, PATH)?)
    }

    pub(crate) fn write(&self, change: Change) -> Vec<Effect> {
        match self.path_of(self.input) {
            Some(path) => vec![Effect::Write { path, change }],
            None => self.effects_of_unreadable("does not say which file it writes"),
        }
    }

    /// Returns all paths that the input names, in one field or in a list of strings or objects.
    /// `None` if one of them cannot be read.
    fn paths(&self) -> Option<Vec<PathBuf>> {
        if let Some(items) = fields::list(self.input, FILES) {
            return items.iter().map(|item| self.path_in(item)).collect();
        }
        let operations = fields::list(self.input, "operations").unwrap_or_default();
        let of_operations = operations.iter().map(|item| self.path_in(item));
        // Either each operation names a file, or none does, and all change the file of the call.
        match self.path_of(self.input) {
            Some(path) => {
                let others = of_operations.flatten();
                Some(std::iter::once(path).chain(others).collect())
            }
            None if operations.is_empty() => None,
            None => of_operations.collect(),
        }
    }

    fn path_in(&self, item: &Value) -> Option<PathBuf> {
        match item {
            Value::String(text) => fields::path(text),
            other => self.path_of(other),
        }
    }

    /// Returns the reads. A read is never denied, so a path that cannot be read is left out.
    fn effects_of_reads(&self) -> Vec<Effect> {
        let paths = self.paths().unwrap_or_default();
        let lines = match paths.len() {
            1 => fields::lines(self.input),
            _ => None,
        };
        paths.into_iter().map(|path| Effect::Read { path, lines }).collect()
    }

    pub(crate) fn each_path(&self, effect: impl Fn(PathBuf) -> Effect) -> Vec<Effect> {
        match self.paths() {
            Some(paths) if !paths.is_empty() => paths.into_iter().map(effect).collect(),
            _ => self.effects_of_unreadable("does not say which file it changes"),
        }
    }

    pub(crate) fn edit(&self) -> Vec<Effect> {
        // Only these tools obey the word. Any other tool ignores it, and writes.
        const VIEWERS: &str = "editor str_replace_editor str_replace_based_edit_tool";
        let is_viewer = text::is_listed(VIEWERS, self.tool);
        match word_of(self.input) {
            Some("view") if is_viewer && writes_file(self.input) => {
                self.effects_of_unreadable("says that it only views, and what it writes")
            }
            Some("view") if is_viewer => self.effects_of_reads(),
            Some("delete") => self.each_path(|path| Effect::Delete { path }),
            Some("move" | "rename") => self.effects_of_move(),
            _ => self.write(operation(self.input)),
        }
    }

    /// Reads a list of edits, each with its own path, or a single edit. If several edits name one
    /// file, only its path is judged, because each edit starts from the result of the one before
    /// it.
    fn each_edit(&self) -> Vec<Effect> {
        let Some(items) = fields::list(self.input, "operations replacements") else {
            return self.edit();
        };
        let single = |input| CallInput { input, ..*self }.edit();
        let effects: Vec<Effect> = items.iter().flat_map(single).collect();
        if effects.is_empty() {
            return self.effects_of_unreadable("does not say what it changes");
        }
        without_chains(effects, self.cwd)
    }

    pub(crate) fn effects_of_move(&self) -> Vec<Effect> {
        let path = |names: &str| fields::path(fields::word(self.input, names)?);
        let (from, file) = (path(FROM), path(PATH));
        if let (Some(from), Some(file)) = (&from, &file)
            && self.cwd.join(from) != self.cwd.join(file)
        {
            return self.effects_of_unreadable("names two files that it moves");
        }
        match (from.or(file), path(TO)) {
            (Some(from), Some(to)) => vec![Effect::Move { from, to, change: None }],
            _ => self.effects_of_unreadable("does not say from where to where it moves"),
        }
    }

    fn patch(&self) -> Vec<Effect> {
        let text = self.input.as_str().or_else(|| fields::text(self.input, PATCH));
        let Some(text) = text else { return self.effects_of_unreadable("comes without a patch") };
        self.patch_text(text, None)
    }

    /// Reads the files of a patch. Their paths are relative to `folder`, if it is given.
    fn patch_text(&self, text: &str, folder: Option<&str>) -> Vec<Effect> {
        let files = match patch::read(text) {
            Ok(files) if !files.is_empty() => files,
            Ok(_) => return self.effects_of_unreadable("comes with a patch of no file"),
            Err(error) => {
                return self.effects_of_unreadable(&format!("comes with a broken patch: {error}"));
            }
        };
        let place = |path: String| {
            let path = fields::path(&path)?;
            Some(folder.map_or_else(|| path.clone(), |folder| Path::new(folder).join(&path)))
        };
        let effects: Option<Vec<Effect>> =
            files.into_iter().map(|file| file_patch(file, place)).collect();
        match effects {
            Some(effects) => without_chains(effects, self.cwd),
            None => self.effects_of_unreadable("comes with a patch whose file has no name"),
        }
    }

    pub(crate) fn shell(&self, dialect: Dialect, names: &str, background: bool) -> Vec<Effect> {
        let Some(commands) = commands(self.input, names) else {
            return self.effects_of_unreadable("comes without a command");
        };
        let single =
            |(text, item): (String, Option<&Value>)| self.command(&text, item, dialect, background);
        commands.into_iter().flat_map(single).collect()
    }

    /// Reads a task of the editor. The host stores the task in `.vscode/tasks.json` and runs its
    /// command with its arguments.
    fn task(&self) -> Vec<Effect> {
        let task = fields::first_field(self.input, "task").unwrap_or(self.input);
        let Some(command) = fields::text(task, COMMAND) else {
            return self.effects_of_unreadable("comes without a command");
        };
        let arguments = match fields::first_field(task, "args") {
            Some(_) => fields::list(task, "args"),
            None => Some(Vec::new()),
        };
        let word = |argument: &Value| Some(text::shell_word(argument.as_str()?));
        let words = arguments.and_then(|all| all.iter().map(word).collect::<Option<Vec<_>>>());
        let Some(words) = words else {
            return self.effects_of_unreadable("comes with arguments that cannot be read");
        };
        let text = std::iter::once(command.to_owned()).chain(words).collect::<Vec<_>>().join(" ");
        let folder = fields::word(self.input, "workspaceFolder").and_then(fields::path);
        let folder = self.cwd.join(folder.unwrap_or_default());
        let path = folder.join(".vscode").join("tasks.json");
        let mut effects = vec![Effect::Write { path, change: Change::Unknown }];
        effects.extend(self.command(&text, None, PLATFORM, true));
        effects
    }

    /// Returns the folder that the call names for its commands, and in it the folder that the item
    /// of one command names. `None` if neither names one.
    fn folder(&self, item: Option<&Value>) -> Option<PathBuf> {
        let named = |object: &Value| fields::word(object, FOLDER).and_then(fields::path);
        let folders = [Some(self.input), item].into_iter().flatten().filter_map(named);
        folders.fold(None::<PathBuf>, |at, next| Some(at.as_deref().unwrap_or(self.cwd).join(next)))
    }

    /// Returns the effects of one command. `item` is its object in a list of commands, if it has
    /// one.
    pub(crate) fn command(
        &self,
        text: &str,
        item: Option<&Value>,
        dialect: Dialect,
        background: bool,
    ) -> Vec<Effect> {
        let cwd = self.folder(item);
        // Some hosts treat such a command as an edit and do not run it in a shell, so it counts as
        // both.
        let mut effects = match patch::heredoc(text) {
            Some(found) => {
                let folder = cwd.as_deref().unwrap_or(self.cwd);
                let folder = found.dir.map_or_else(|| folder.to_owned(), |dir| folder.join(dir));
                self.patch_text(&found.patch, folder.to_str())
            }
            None => Vec::new(),
        };
        effects.push(Effect::Shell { text: text.to_owned(), dialect, cwd, background });
        effects
    }
}

fn writes_file(input: &Value) -> bool {
    let written = [CONTENT, NEW, OLD, EDITS, "insert_text insertText"].join(" ");
    fields::first_field(input, &written).is_some()
}

/// Returns the operation that an editor's call names, such as `view` or `create`.
fn word_of(input: &Value) -> Option<&str> {
    fields::word(input, "command mode operation")
}

fn operation(input: &Value) -> Change {
    match word_of(input) {
        Some("create" | "write") => whole_file(input),
        Some("append") => change_of_append(input),
        Some("insert") => change_of_insert(input),
        _ if fields::first_field(input, "insert_line insertLine").is_some() => {
            change_of_insert(input)
        }
        _ => change_of_edits(input, Change::ReplaceLoosely),
    }
}

fn whole_file(input: &Value) -> Change {
    fields::text(input, CONTENT).map_or(Change::Unknown, |text| Change::Whole(text.to_owned()))
}

fn change_of_append(input: &Value) -> Change {
    let text = fields::text(input, NEW).or_else(|| fields::text(input, CONTENT));
    text.map_or(Change::Unknown, |text| Change::Append(text.to_owned()))
}

fn change_of_insert(input: &Value) -> Change {
    const TEXT: &str = "insert_text insertText";
    let line = fields::first_field(input, "insert_line insertLine").and_then(Value::as_u64);
    let text = fields::text(input, TEXT)
        .or_else(|| fields::text(input, NEW))
        .or_else(|| fields::text(input, CONTENT));
    match (line.and_then(|line| usize::try_from(line).ok()), text) {
        (Some(after_line), Some(text)) => Change::Insert { after_line, text: text.to_owned() },
        _ => Change::Unknown,
    }
}

/// Reads replacements, one or a list. If they cannot be read, the change is [`Change::Unknown`],
/// and the file is compared after the call.
fn change_of_edits(input: &Value, change: fn(Vec<Replacement>) -> Change) -> Change {
    let items = match fields::list(input, EDITS) {
        Some(items) => items,
        None if fields::first_field(input, EDITS).is_some() => return Change::Unknown,
        // Without an old text, some of these tools take the whole new content.
        None if fields::first_field(input, OLD).is_none() => return whole_file(input),
        None => vec![input.clone()],
    };
    let replacements: Option<Vec<Replacement>> = items.iter().map(replacement).collect();
    match replacements {
        Some(replacements) if !replacements.is_empty() => change(replacements),
        _ => Change::Unknown,
    }
}

fn replacement(item: &Value) -> Option<Replacement> {
    // An older field gives the expected number of replacements. Only the value 1 means a plain
    // replacement.
    let several = fields::first_field(item, "expected_replacements").and_then(Value::as_u64);
    if several.is_some_and(|number| number != 1) {
        return None;
    }
    let old = fields::text(item, OLD)?.to_owned();
    let new = fields::text(item, NEW)?.to_owned();
    Some(Replacement { old, new, every: fields::is_true(item, EVERY) })
}

fn blocks(input: &Value) -> Change {
    let diff = fields::text(input, "diff blocks");
    diff.map_or(Change::Unknown, |diff| Change::Blocks(diff.to_owned()))
}

fn cell(input: &Value) -> Change {
    let mode = match fields::text(input, "edit_mode") {
        None | Some("replace") => CellMode::Replace,
        Some("insert") => CellMode::Insert,
        Some("delete") => CellMode::Delete,
        Some(_) => return Change::Unknown,
    };
    let source = match fields::text(input, "new_source") {
        Some(source) => source.to_owned(),
        None if mode == CellMode::Delete => String::new(),
        None => return Change::Unknown,
    };
    let number = fields::first_field(input, "cell_number").and_then(Value::as_u64);
    Change::Cell(CellEdit {
        cell_id: fields::word(input, "cell_id").map(str::to_owned),
        cell_number: number.and_then(|number| usize::try_from(number).ok()),
        source,
        kind: fields::word(input, "cell_type").map(str::to_owned),
        mode,
    })
}

fn file_patch(file: FilePatch, place: impl Fn(String) -> Option<PathBuf>) -> Option<Effect> {
    Some(match file {
        FilePatch::Add { path, text } => {
            Effect::Write { path: place(path)?, change: Change::Whole(text) }
        }
        FilePatch::Delete { path } => Effect::Delete { path: place(path)? },
        FilePatch::Update { path, to: None, hunks } => {
            Effect::Write { path: place(path)?, change: Change::Hunks(hunks) }
        }
        FilePatch::Update { path, to: Some(to), hunks } => {
            Effect::Move { from: place(path)?, to: place(to)?, change: Some(Change::Hunks(hunks)) }
        }
    })
}

/// Marks the changes of a file that several effects touch as unknown. The second effect starts from
/// the result of the first one, and that result may not be predictable.
fn without_chains(mut effects: Vec<Effect>, cwd: &Path) -> Vec<Effect> {
    let mut seen = HashSet::new();
    let mut twice = HashSet::new();
    for path in effects.iter().flat_map(Effect::written) {
        let place = cwd.join(path);
        if !seen.insert(place.clone()) {
            twice.insert(place);
        }
    }
    for effect in &mut effects {
        let chained = effect.written().iter().any(|path| twice.contains(&cwd.join(path)));
        match effect {
            Effect::Write { change, .. } if chained => *change = Change::Unknown,
            Effect::Move { change, .. } if chained => *change = Some(Change::Unknown),
            _ => {}
        }
    }
    effects
}

/// Returns the commands of a call: the field may hold a string, a list of words, or a list of
/// commands. A command that is an object in such a list comes with this object.
fn commands<'a>(input: &'a Value, names: &str) -> Option<Vec<(String, Option<&'a Value>)>> {
    if let Some(Value::Array(items)) = input.get("commands") {
        let single = |item: &'a Value| match item {
            Value::String(text) => Some((text.clone(), None)),
            other => Some((fields::text(other, names)?.to_owned(), Some(other))),
        };
        let all: Option<Vec<_>> = items.iter().map(single).collect();
        return all.filter(|all| !all.is_empty());
    }
    match fields::first_field(input, names)? {
        Value::String(text) => Some(vec![(text.clone(), None)]),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            let words: Vec<String> = words?.into_iter().map(text::shell_word).collect();
            Some(vec![(words.join(" "), None)])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
