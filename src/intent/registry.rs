//! The registry: read losslessly from any dialect, never written over when broken.

use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::dialect::{self, Form, Written};
use super::kept::Kept;
use super::{Intent, Scope, yaml};
use crate::code::LineRange;
use crate::workspace::cache::Slot;
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
    exists: bool,
    syntax_error: Option<Finding>,
    /// What was parsed before, of which the rest is read as it is asked for.
    kept: Option<Kept>,
    text: OnceLock<Arc<str>>,
    intents: OnceLock<Vec<Intent>>,
    selected: Option<String>,
    /// Intents that were asked for before all of them were; of a kept registry only.
    single: Vec<OnceLock<Intent>>,
    /// Compiled as they are asked for: one question is about few of many intents.
    scopes: Vec<OnceLock<Scope>>,
    form: OnceLock<Form>,
    lines: OnceLock<Vec<usize>>,
}

impl Registry {
    /// Finds and reads a workspace's registry: `.orchestration/active_intents.yaml`, else `.yml`, `.json`, and the other places of the wild; a missing file is an empty registry at the canonical path.
    ///
    /// A file that is there but cannot be read is a registry with a [`Registry::syntax_error`]: nothing else takes its place.
    /// What parses is kept, so that the unchanged file is neither read nor parsed again.
    pub fn load(root: &Root) -> Self {
        let candidates = PLACES.iter().filter_map(|place| RelativePath::new(place).ok());
        for path in candidates {
            if fs::symlink_metadata(root.absolute(&path)).is_ok() {
                return Self::standing(root, path);
            }
        }
        let canonical =
            RelativePath::new(CANONICAL_PATH).expect("a constant path inside the workspace");
        Self::unread(canonical, "")
    }

    /// The registry at a place where something stands.
    fn standing(root: &Root, path: RelativePath) -> Self {
        if let Err(error) = root.resolve(&path) {
            return Self::unreadable(path, unreadable(error));
        }
        let slot = Slot::of(root, &path);
        let kept = slot.as_ref().and_then(Slot::recall);
        if let Some(registry) = kept.and_then(|bytes| Self::recalled(&path, bytes)) {
            return registry;
        }
        match read_file(&root.absolute(&path)) {
            Err(why) => Self::unreadable(path, why),
            Ok(text) => {
                let registry = Self::parse(path, &text);
                if let Some(slot) = slot {
                    registry.keep(&slot);
                }
                registry
            }
        }
    }

    fn unreadable(path: RelativePath, (code, message): Unreadable) -> Self {
        let mut registry = Self::unread(path, "");
        registry.exists = true;
        registry.syntax_error = Some(registry.finding(code, 0..0, message, UNREADABLE));
        registry
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
                let reading = dialect::read(text, &tree);
                registry.holds(reading.intents, reading.selected);
                registry.form = OnceLock::from(reading.form);
            }
            Err(broken) => registry.syntax_error = Some(registry.broken(&broken)),
        }
        registry
    }

    fn unread(path: RelativePath, text: &str) -> Self {
        Self {
            path,
            exists: false,
            syntax_error: None,
            kept: None,
            text: OnceLock::from(Arc::from(text)),
            intents: OnceLock::from(Vec::new()),
            selected: None,
            single: Vec::new(),
            scopes: Vec::new(),
            form: OnceLock::new(),
            lines: OnceLock::new(),
        }
    }

    fn holds(&mut self, intents: Vec<Intent>, selected: Option<String>) {
        self.scopes = intents.iter().map(|_| OnceLock::new()).collect();
        self.intents = OnceLock::from(intents);
        self.selected = selected;
    }

    /// The registry that was kept, if these bytes are one.
    pub(super) fn recalled(path: &RelativePath, bytes: Vec<u8>) -> Option<Self> {
        let kept = Kept::read(bytes)?;
        Some(Self {
            path: path.clone(),
            exists: true,
            syntax_error: None,
            text: OnceLock::new(),
            intents: OnceLock::new(),
            selected: kept.selected().map(str::to_owned),
            single: (0..kept.len()).map(|_| OnceLock::new()).collect(),
            scopes: (0..kept.len()).map(|_| OnceLock::new()).collect(),
            form: OnceLock::new(),
            lines: OnceLock::new(),
            kept: Some(kept),
        })
    }

    fn keep(&self, slot: &Slot) {
        if self.syntax_error.is_some() {
            return;
        }
        let kept = Kept::of(self.text(), self.selected_in_file(), self.intents());
        if let Some(kept) = kept {
            slot.keep(kept.bytes());
        }
    }

    /// The tree of the text; of a `.json` file only where it is JSON indeed.
    pub(crate) fn tree(&self) -> Result<yaml::Node, yaml::Broken> {
        if self.path.as_str().ends_with(".json") && !self.text().trim().is_empty() {
            let text = self.text().trim_start_matches('\u{feff}');
            if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
                let line = self.lines().get(error.line().saturating_sub(1)).copied().unwrap_or(0);
                let at = floor(self.text(), line + error.column().saturating_sub(1));
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
                return Err(yaml::Broken { message, span: at..at, earlier: None, limit: false });
            }
        }
        match self.path.as_str().ends_with(".json") {
            true => yaml::parse_json(self.text()),
            false => yaml::parse(self.text()),
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
        self.text.get_or_init(|| Arc::from(self.kept.as_ref().map_or("", Kept::text)))
    }
    /// Whether the file exists.
    pub fn exists(&self) -> bool {
        self.exists
    }
    /// In file order.
    pub fn intents(&self) -> &[Intent] {
        self.intents.get_or_init(|| {
            let kept = self.kept.iter();
            kept.flat_map(|kept| (0..kept.len()).map(|at| kept.intent(at))).collect()
        })
    }
    /// The first intent with this id; else the one that had it before it was renamed.
    pub fn get(&self, id: &str) -> Option<&Intent> {
        self.position(id).map(|at| self.one(at))
    }
    /// The id that an intent goes by now, for any that it had; an id that nobody has or had is itself.
    pub fn present_id<'a>(&'a self, id: &'a str) -> &'a str {
        self.get(id).map_or(id, |intent| &intent.id.value)
    }
    /// Every id under which an intent may have been recorded, for any of them, the present one first; an id that
    /// nobody has or had is alone.
    pub fn ids<'a>(&'a self, id: &'a str) -> Vec<&'a str> {
        let Some(at) = self.position(id) else { return vec![id] };
        let intent = self.one(at);
        let mut ids = vec![intent.id.value.as_str()];
        for former in intent.formerly.iter().map(|former| former.value.as_str()) {
            if !ids.contains(&former) && self.position(former) == Some(at) {
                ids.push(former);
            }
        }
        ids
    }
    /// Where an id that two intents had is nobody's: which of them a record means cannot be known.
    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        let present = match &self.kept {
            Some(kept) => kept.position(id),
            None => self.intents().iter().position(|intent| intent.id.value == id),
        };
        present.or_else(|| match self.formerly(id)[..] {
            [only] => Some(only),
            _ => None,
        })
    }
    /// The indices of the intents that had this id before.
    pub(crate) fn formerly(&self, id: &str) -> Vec<usize> {
        if id.is_empty() {
            return Vec::new();
        }
        if let Some(kept) = &self.kept {
            return kept.formerly(id);
        }
        let had = |intent: &Intent| intent.formerly.iter().any(|former| former.value == id);
        let all = self.intents().iter().enumerate();
        all.filter(|(_, intent)| had(intent)).map(|(index, _)| index).collect()
    }
    /// The intent at this index, without reading the others.
    fn one(&self, index: usize) -> &Intent {
        match (self.intents.get(), &self.kept) {
            (None, Some(kept)) => self.single[index].get_or_init(|| kept.intent(index)),
            _ => &self.intents()[index],
        }
    }
    /// The compiled scope of the intent that [`Registry::get`] finds.
    pub fn scope(&self, id: &str) -> Option<&Scope> {
        self.position(id).map(|at| self.scope_at(at))
    }
    /// The compiled scope of the intent at this index.
    pub(crate) fn scope_at(&self, index: usize) -> &Scope {
        self.scopes[index].get_or_init(|| Scope::new(&self.one(index).scope_entries()))
    }
    /// How the intent at this index is written.
    pub(crate) fn written(&self, index: usize) -> &Written {
        &self.form().written[index]
    }
    /// How it is written; read from the text where the intents came without it.
    pub(crate) fn form(&self) -> &Form {
        self.form.get_or_init(|| {
            let tree = self.tree().ok();
            let read = tree.map(|tree| dialect::read(self.text(), &tree).form);
            let mut form = read.unwrap_or_else(Form::empty);
            // A recalled text may hold less than the intents that came with it: see `cache`.
            form.written.resize_with(self.intents().len(), Written::nowhere);
            form
        })
    }
    /// Why it does not parse.
    pub fn syntax_error(&self) -> Option<&Finding> {
        self.syntax_error.as_ref()
    }
    /// An `active_intent_id` that a dialect keeps in the registry itself.
    pub fn selected_in_file(&self) -> Option<&str> {
        self.selected.as_deref()
    }
    /// Intents in progress whose scope owns the path.
    pub fn owners(&self, path: &RelativePath) -> Vec<&Intent> {
        let owns = |index: usize| self.scope_at(index).owns(path);
        let all = self.intents().iter().enumerate();
        all.filter(|(index, intent)| intent.in_progress() && owns(*index))
            .map(|(_, intent)| intent)
            .collect()
    }
    /// The intent whose text holds the byte.
    pub fn intent_at(&self, byte: usize) -> Option<&Intent> {
        self.intents().iter().find(|intent| intent.span.contains(&byte))
    }

    /// The lines that a range of bytes touches.
    pub(crate) fn line_range(&self, span: &Range<usize>) -> Option<LineRange> {
        let last = span.end.saturating_sub(1).max(span.start);
        LineRange::new(self.line(span.start), self.line(last))
    }
    fn lines(&self) -> &[usize] {
        self.lines.get_or_init(|| line_starts(self.text()))
    }
    fn line(&self, byte: usize) -> u32 {
        let line = self.lines().partition_point(|start| *start <= byte);
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

/// Why a file that stands there is not read.
type Unreadable = (Code, String);

fn unreadable(reason: impl std::fmt::Display) -> Unreadable {
    (Code::RegistrySyntax, format!("The registry cannot be read: {reason}."))
}

fn read_file(path: &Path) -> Result<String, Unreadable> {
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(unreadable("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    fs::File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() > MAX_BYTES {
        let message = format!("The registry has more than {MAX_BYTES} bytes, and is not read.");
        return Err((Code::RegistryTooLarge, message));
    }
    String::from_utf8(bytes).map_err(|error| {
        unreadable(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()))
    })
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
