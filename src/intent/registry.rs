//! The registry: read losslessly from any dialect, never written over when broken.

use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::dialect::{self, Home, Reading, Written};
use super::{Intent, Scope, yaml};
use crate::code::LineRange;
use crate::workspace::{Code, Finding, Related, RelativePath, Root};

/// The largest registry that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Where a registry is written, and looked for first.
pub const CANONICAL_PATH: &str = ".orchestration/active_intents.yaml";

/// Where registries have been found, in the order in which they are looked for.
const PLACES: [&str; 16] = [
    CANONICAL_PATH,
    ".orchestration/active_intents.yml",
    ".orchestration/active_intents.json",
    ".orchestration/intents.yaml",
    ".orchestration/intents.yml",
    ".orchestration/intents.json",
    ".orchestration/Artifacts/active_intents.yaml",
    ".orchestration/Artifacts/active_intents.yml",
    ".orchestration/Artifacts/active_intents.json",
    ".orchestration/Artifacts/intents.yaml",
    ".orchestration/Artifacts/intents.json",
    "active_intents.yaml",
    "active_intents.yml",
    "active_intents.json",
    ".orchestration/intent_specs.json",
    "intent_specs.json",
];

/// `.orchestration/active_intents.yaml` as it stands, in whatever dialect.
#[derive(Debug)]
pub struct Registry {
    path: RelativePath,
    text: Arc<str>,
    exists: bool,
    reading: Reading,
    scopes: Vec<Scope>,
    syntax_error: Option<Finding>,
    lines: Vec<usize>,
}

impl Registry {
    /// Finds and reads a workspace's registry: `.orchestration/active_intents.yaml`, else `.yml`, `.json`, and the other places of the wild; a missing file is an empty registry at the canonical path.
    ///
    /// A file that is there but cannot be read is a registry with a [`Registry::syntax_error`]: nothing else takes its place.
    pub fn load(root: &Root) -> Self {
        let candidates = PLACES.iter().filter_map(|place| RelativePath::new(place).ok());
        for path in candidates {
            match read(root, &path) {
                Found::Missing => {}
                Found::Text(text) => return Self { exists: true, ..Self::parse(path, &text) },
                Found::Unreadable(code, message) => {
                    let mut registry = Self::unread(path, "");
                    registry.exists = true;
                    registry.syntax_error = Some(registry.finding(code, 0..0, message, UNREADABLE));
                    return registry;
                }
            }
        }
        let canonical =
            RelativePath::new(CANONICAL_PATH).expect("a constant path inside the workspace");
        Self::unread(canonical, "")
    }

    /// Reads a text. Never fails: a text that does not parse has no intents and a [`Registry::syntax_error`].
    pub fn parse(path: RelativePath, text: &str) -> Self {
        let mut registry = Self::unread(path, text);
        registry.exists = true;
        if text.len() > MAX_BYTES {
            let message =
                format!("The registry has {} bytes; at most {MAX_BYTES} are read.", text.len());
            let help = "Move intents that are done into an archive of their own.";
            registry.syntax_error =
                Some(registry.finding(Code::RegistryTooLarge, 0..0, message, help));
            return registry;
        }
        match registry.tree() {
            Ok(tree) => {
                registry.reading = dialect::read(text, &tree);
                registry.scopes = registry
                    .reading
                    .intents
                    .iter()
                    .map(|intent| Scope::new(&intent.scope_entries()))
                    .collect();
            }
            Err(broken) => registry.syntax_error = Some(registry.broken(&broken)),
        }
        registry
    }

    fn unread(path: RelativePath, text: &str) -> Self {
        let reading = Reading {
            intents: Vec::new(),
            written: Vec::new(),
            deviations: Vec::new(),
            selected: None,
            home: Home::Empty,
        };
        Self {
            path,
            text: Arc::from(text),
            exists: false,
            reading,
            scopes: Vec::new(),
            syntax_error: None,
            lines: line_starts(text),
        }
    }

    /// The tree of the text; of a `.json` file only where it is JSON indeed.
    pub(crate) fn tree(&self) -> Result<yaml::Node, yaml::Broken> {
        if self.path.as_str().ends_with(".json") && !self.text.trim().is_empty() {
            let text = self.text.trim_start_matches('\u{feff}');
            if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
                let line = self.lines.get(error.line().saturating_sub(1)).copied().unwrap_or(0);
                let at = floor(&self.text, line + error.column().saturating_sub(1));
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
                return Err(yaml::Broken { message, span: at..at, earlier: None, limit: false });
            }
        }
        match self.path.as_str().ends_with(".json") {
            true => yaml::parse_json(&self.text),
            false => yaml::parse(&self.text),
        }
    }

    fn broken(&self, broken: &yaml::Broken) -> Finding {
        let (code, help) = match broken.limit {
            true => (Code::RegistryTooLarge, HELP_LIMIT),
            false => (Code::RegistrySyntax, HELP_SYNTAX),
        };
        let message = format!("The registry does not parse: {}.", broken.message);
        let mut finding = self.finding(code, broken.span.clone(), message, help);
        finding
            .related
            .extend(broken.earlier.clone().map(|span| self.related(span, "It stands here first.")));
        finding
    }

    /// Where it stands.
    pub fn path(&self) -> &RelativePath {
        &self.path
    }
    /// Its text, byte order mark included; spans are bytes of this text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }
    /// Whether the file exists.
    pub fn exists(&self) -> bool {
        self.exists
    }
    /// In file order.
    pub fn intents(&self) -> &[Intent] {
        &self.reading.intents
    }
    /// The first intent with this id.
    pub fn get(&self, id: &str) -> Option<&Intent> {
        self.position(id).map(|at| &self.reading.intents[at])
    }
    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.reading.intents.iter().position(|intent| intent.id.value == id)
    }
    /// The compiled scope of the first intent with this id.
    pub fn scope(&self, id: &str) -> Option<&Scope> {
        self.position(id).map(|at| &self.scopes[at])
    }
    /// In the order of the intents.
    pub(crate) fn scopes(&self) -> &[Scope] {
        &self.scopes
    }
    /// How the intent at this index is written.
    pub(crate) fn written(&self, index: usize) -> &Written {
        &self.reading.written[index]
    }
    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }
    /// Why it does not parse.
    pub fn syntax_error(&self) -> Option<&Finding> {
        self.syntax_error.as_ref()
    }
    /// An `active_intent_id` that a dialect keeps in the registry itself.
    pub fn selected_in_file(&self) -> Option<&str> {
        self.reading.selected.as_deref()
    }
    /// Intents in progress whose scope owns the path.
    pub fn owners(&self, path: &RelativePath) -> Vec<&Intent> {
        let pairs = self.reading.intents.iter().zip(&self.scopes);
        pairs
            .filter(|(intent, scope)| intent.in_progress() && scope.owns(path))
            .map(|(intent, _)| intent)
            .collect()
    }
    /// The intent whose text holds the byte.
    pub fn intent_at(&self, byte: usize) -> Option<&Intent> {
        self.reading.intents.iter().find(|intent| intent.span.contains(&byte))
    }

    /// The lines that a range of bytes touches.
    pub(crate) fn line_range(&self, span: &Range<usize>) -> Option<LineRange> {
        let last = span.end.saturating_sub(1).max(span.start);
        LineRange::new(self.line(span.start), self.line(last))
    }
    fn line(&self, byte: usize) -> u32 {
        let line = self.lines.partition_point(|start| *start <= byte);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
    pub(crate) fn finding(
        &self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Finding {
        Finding {
            code,
            path: Some(self.path.clone()),
            lines: self.line_range(&span),
            span: Some(span),
            intent: None,
            message: message.into(),
            help: help.into(),
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }
    pub(crate) fn related(&self, span: Range<usize>, message: impl Into<String>) -> Related {
        let first = LineRange::new(1, 1).expect("the first line is a line");
        Related {
            path: self.path.clone(),
            lines: self.line_range(&span).unwrap_or(first),
            span,
            message: message.into(),
        }
    }
}

const HELP_LIMIT: &str = "Write it out plainly; until then no intent can be selected and nothing is written to this file.";
const HELP_SYNTAX: &str = "Mend it here; until then no intent can be selected and nothing is written to this file. Entries that begin with `*`, `!`, `&`, `@`, `[` or `{` need quotes.";
const UNREADABLE: &str = "Make it a regular file inside the workspace that you may read; nothing is written to it as it is.";

enum Found {
    Missing,
    Text(String),
    Unreadable(Code, String),
}

fn read(root: &Root, path: &RelativePath) -> Found {
    let absolute = root.absolute(path);
    if fs::symlink_metadata(&absolute).is_err() {
        return Found::Missing;
    }
    if let Err(error) = root.resolve(path) {
        return Found::Unreadable(
            Code::RegistrySyntax,
            format!("The registry cannot be read: {error}."),
        );
    }
    read_file(&absolute)
}

fn read_file(path: &Path) -> Found {
    let unreadable = |reason: String| {
        Found::Unreadable(Code::RegistrySyntax, format!("The registry cannot be read: {reason}."))
    };
    match fs::metadata(path) {
        Err(error) => return unreadable(error.to_string()),
        Ok(meta) if !meta.is_file() => return unreadable("it is not a regular file".into()),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    let outcome = fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    if let Err(error) = outcome {
        return unreadable(error.to_string());
    }
    if bytes.len() > MAX_BYTES {
        let message = format!("The registry has more than {MAX_BYTES} bytes, and is not read.");
        return Found::Unreadable(Code::RegistryTooLarge, message);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Found::Text(text),
        Err(error) => unreadable(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())),
    }
}

/// Lines end at `\n`, `\r\n` or `\r`, as in every editor.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

fn floor(text: &str, byte: usize) -> usize {
    let byte = byte.min(text.len());
    (0..=byte).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
