//! One file of the registry. It is read in any dialect without loss, and never overwritten if it
//! does not parse.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::dialect::{self, Field, Form, Written};
use super::registry_cache::KeptRegistry;
use super::sources::ImportedIntent;
use super::{Intent, Scope, Spanned, conflict, yaml};
use code::LineRange;
use ground::cache::CacheSlot;
use ground::store::StoreError;
use ground::text::char_start;
use ground::{Code, Finding, Hint, RelatedPlace, RelativePath, Root};

/// The size limit of a registry, in bytes. A larger one is not read.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

pub const FOLDER: &str = ".orchestration/intents";

/// A file with intents: the list in any dialect, or a file in [`FOLDER`].
#[derive(Debug)]
pub struct IntentFile {
    path: RelativePath,
    exists: bool,
    syntax_error: Option<Finding>,
    text: Arc<str>,
    intents: Vec<Intent>,
    /// The scopes, compiled on demand, because one question usually needs few of them.
    scopes: Vec<OnceLock<Scope>>,
    form: OnceLock<Form>,
    lines: OnceLock<Vec<usize>>,
}

impl IntentFile {
    /// Reads an existing file. A list that parses is cached, so that it is not parsed again while
    /// it is unchanged.
    pub(super) fn load(root: &Root, path: RelativePath) -> Self {
        if let Err(error) = root.resolve(&path) {
            return Self::unreadable(path, unreadable(error));
        }
        // A file with a single intent is parsed as fast as it could be found in the cache.
        let slot = single_name(&path).is_none().then(|| CacheSlot::for_file(root, &path)).flatten();
        let kept = slot.as_ref().and_then(CacheSlot::recall);
        if let Some(file) = kept.and_then(|bytes| Self::recalled(&path, &bytes)) {
            return file;
        }
        let text = match read_file(root, &path) {
            Ok(text) => text,
            Err(why) => return Self::unreadable(path, why),
        };
        let file = Self::parse(path, &text);
        if let Some(slot) = slot.filter(|_| file.syntax_error.is_none()) {
            file.kept_registry().encoded().iter().for_each(|bytes| slot.keep(bytes));
        }
        file
    }

    pub(super) fn unreadable(path: RelativePath, (code, message): Unreadable) -> Self {
        Self::unread(path, "").failing(code, message, HELP_UNREADABLE)
    }

    /// Returns the file as one that exists but cannot be used, with a finding that says why.
    fn failing(mut self, code: Code, message: String, help: &str) -> Self {
        self.exists = true;
        self.syntax_error = Some(self.finding(code, 0..0, message, help));
        self
    }

    /// Returns the result for a file that has a merge conflict in git's index. The index holds no
    /// merged text of such a file.
    pub(super) fn conflicting(path: RelativePath) -> Self {
        let message = format!("Git's index holds a merge conflict of {path}.");
        let help = format!(
            "`intent setup merge-registry` keeps the intents of both sides; then `git add {path}`."
        );
        Self::unread(path, "").failing(Code::RegistrySyntax, message, &help)
    }

    /// Returns the result for the first file in [`FOLDER`] that is not read, because together with
    /// the files before it, it exceeds the size limit.
    pub(super) fn beyond_limit(path: RelativePath) -> Self {
        let message = format!(
            "The files of {FOLDER}/ hold more than {MAX_BYTES} bytes; this one and the files after it are not read."
        );
        Self::unreadable(path, (Code::RegistryTooLarge, message))
    }

    /// Parses a text. Never fails: if the text does not parse, the file has no intents and a
    /// [`IntentFile::syntax_error`].
    pub fn parse(path: RelativePath, text: &str) -> Self {
        let mut file = Self::unread(path, text);
        file.exists = true;
        if text.len() > MAX_BYTES {
            let message =
                format!("The registry has {} bytes; at most {MAX_BYTES} are read.", text.len());
            let help = "Move intents that are done into an archive of their own.";
            return file.failing(Code::RegistryTooLarge, message, help);
        }
        if let Some(conflict) = conflict::finding(&file) {
            file.syntax_error = Some(conflict);
            return file;
        }
        match file.tree() {
            Ok(tree) => {
                let reading = file.reading(&tree);
                file.set_intents(reading.intents);
                file.form = OnceLock::from(reading.form);
            }
            Err(broken) => file.syntax_error = Some(file.syntax_finding(&broken)),
        }
        file
    }

    /// Returns a file with this text that counts as not existing and has no intents. The text is
    /// not parsed.
    pub(super) fn unread(path: RelativePath, text: &str) -> Self {
        Self {
            path,
            exists: false,
            syntax_error: None,
            text: Arc::from(text),
            intents: Vec::new(),
            scopes: Vec::new(),
            form: OnceLock::new(),
            lines: OnceLock::new(),
        }
    }

    /// Returns a file of a source of intents, which holds one intent. The text may be newer than
    /// the intent; then its places are not known.
    pub(super) fn of_source(path: RelativePath, text: &str, mut intent: Intent) -> Self {
        let mut file = Self::unread(path, text);
        file.exists = true;
        let spans = [&mut intent.id.span, &mut intent.name.span];
        let spans = spans.into_iter().chain(intent.status.as_mut().map(|status| &mut status.span));
        for span in spans.filter(|span| text.get((**span).clone()).is_none()) {
            *span = 0..0;
        }
        file.set_intents(vec![intent]);
        file
    }

    /// If the file only points to a source, fills in what it does not say itself. Its scope is
    /// always its own.
    pub(super) fn complete_from(&mut self, find: impl Fn(&str) -> Option<ImportedIntent>) {
        let is_single = self.is_single();
        let own = self.intents.first_mut();
        let Some(own) = own.filter(|own| is_single && own.source().is_some()) else { return };
        let Some(imported) = find(&own.id.value) else { return };
        let mut source = imported.intent;
        source.spans().for_each(|span| *span = 0..0);
        if own.name.value.is_empty() {
            own.name = source.name;
        }
        // A status that is not known is no missing one.
        if own.status.is_none() && !own.extra.contains_key(Field::Status.key()) {
            own.status = source.status;
        }
        own.owner = own.owner.take().or(source.owner);
        for (list, other) in [
            (&mut own.constraints, source.constraints),
            (&mut own.acceptance_criteria, source.acceptance_criteria),
            (&mut own.related_specs, source.related_specs),
        ] {
            if list.is_empty() {
                *list = other;
            }
        }
    }

    pub(super) fn written_intents(&self) -> Vec<Intent> {
        let written = self.is_single().then(|| self.intents_of(self.text())).flatten();
        written.unwrap_or_else(|| self.intents().to_vec())
    }

    fn set_intents(&mut self, intents: Vec<Intent>) {
        self.scopes = intents.iter().map(|_| OnceLock::new()).collect();
        self.intents = intents;
    }

    /// Returns the file from its cached bytes, or `None` if these are not a cached registry.
    pub(super) fn recalled(path: &RelativePath, bytes: &[u8]) -> Option<Self> {
        let kept = KeptRegistry::read(bytes)?;
        let mut file = Self { exists: true, ..Self::unread(path.clone(), &kept.text) };
        file.set_intents(kept.intents);
        Some(file)
    }

    pub(super) fn kept_registry(&self) -> KeptRegistry {
        KeptRegistry { text: self.text.to_string(), intents: self.intents.clone() }
    }

    /// Parses the text into a tree. A `.json` file must be valid JSON.
    pub fn tree(&self) -> Result<yaml::Node, yaml::Broken> {
        let is_json = self.path.as_str().ends_with(".json");
        if is_json && !self.text().trim().is_empty() {
            let whole = self.text();
            let text = whole.trim_start_matches('\u{feff}');
            if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
                // For this parser, only a line feed ends a line.
                let lines_above = text.split_inclusive('\n').take(error.line().saturating_sub(1));
                let line = whole.len() - text.len() + lines_above.map(str::len).sum::<usize>();
                let at = char_start(whole, line + error.column().saturating_sub(1));
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
                return Err(yaml::Broken { message, span: at..at, earlier: None, limit: false });
            }
        }
        match is_json {
            true => yaml::parse_json(self.text()),
            // JSON is also YAML, except for surrogate pairs (two escapes for one character outside
            // the Basic Multilingual Plane). So a text that is not YAML may still be JSON.
            false => yaml::parse(self.text()).or_else(|broken| {
                let is_json = serde_json::from_str::<serde::de::IgnoredAny>(self.text()).is_ok();
                if is_json { yaml::parse_json(self.text()) } else { Err(broken) }
            }),
        }
    }

    fn reading(&self, tree: &yaml::Node) -> dialect::ParsedRegistry {
        let read = if self.is_single() { dialect::read_one } else { dialect::read };
        read(self.text(), tree)
    }

    /// Returns the intents of another text of this file. Returns `None` if that text does not
    /// parse.
    pub(super) fn intents_of(&self, text: &str) -> Option<Vec<Intent>> {
        let other = Self::unread(self.path.clone(), text);
        Some(other.reading(&other.tree().ok()?).intents)
    }

    fn syntax_finding(&self, broken: &yaml::Broken) -> Finding {
        let (code, help) = match broken.limit {
            true => (Code::RegistryTooLarge, HELP_LIMIT),
            false => (Code::RegistrySyntax, HELP_SYNTAX),
        };
        let message = format!("The registry does not parse: {}.", broken.message);
        let earlier = broken.earlier.clone().map(|span| self.related(span, "First used here."));
        let related = earlier.into_iter().collect();
        Finding { related, ..self.finding(code, broken.span.clone(), message, help) }
    }

    pub fn path(&self) -> &RelativePath {
        &self.path
    }
    /// Returns true if the file holds a single intent, that is, if it is in [`FOLDER`].
    pub fn is_single(&self) -> bool {
        single_name(&self.path).is_some()
    }
    /// Returns the text, including a byte order mark. Spans are byte ranges of this text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }
    pub fn exists(&self) -> bool {
        self.exists
    }
    pub fn intents(&self) -> &[Intent] {
        &self.intents
    }
    pub(super) fn len(&self) -> usize {
        self.scopes.len()
    }
    pub(super) fn positions(&self, id: &str) -> Vec<usize> {
        self.indices(|intent| intent.id.value == id)
    }
    pub(super) fn formerly(&self, id: &str) -> Vec<usize> {
        let is_former = |former: &Spanned<String>| !id.is_empty() && former.value == id;
        self.indices(|intent| intent.formerly.iter().any(is_former))
    }
    fn indices(&self, wanted: impl Fn(&Intent) -> bool) -> Vec<usize> {
        let all = self.intents().iter().enumerate();
        all.filter(|(_, intent)| wanted(intent)).map(|(index, _)| index).collect()
    }
    pub(crate) fn scope_at(&self, index: usize) -> &Scope {
        self.scopes[index].get_or_init(|| Scope::new(&self.intents[index].scope_entries()))
    }
    pub fn written(&self, index: usize) -> &Written {
        &self.form().written[index]
    }
    pub(crate) fn form(&self) -> &Form {
        self.form.get_or_init(|| {
            let mut form = self.tree().map(|tree| self.reading(&tree).form).unwrap_or_default();
            // The text of a source is no registry.
            form.written.resize_with(self.intents().len(), Written::nowhere);
            form
        })
    }
    pub fn syntax_error(&self) -> Option<&Finding> {
        self.syntax_error.as_ref()
    }
    pub fn intent_at(&self, byte: usize) -> Option<&Intent> {
        self.intents().iter().find(|intent| intent.span.contains(&byte))
    }

    pub fn line_range(&self, span: &Range<usize>) -> Option<LineRange> {
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
    pub fn finding(
        &self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Finding {
        Finding {
            path: Some(self.path.clone()),
            lines: self.line_range(&span),
            span: Some(span),
            ..Finding::new(code, message, help)
        }
    }
    pub fn related(&self, span: Range<usize>, message: impl Into<String>) -> RelatedPlace {
        let first = LineRange::new(1, 1).expect("line 1 to line 1 is a valid range");
        RelatedPlace {
            path: self.path.clone(),
            lines: self.line_range(&span).unwrap_or(first),
            span,
            message: message.into(),
        }
    }
}

/// Returns the name of a file in [`FOLDER`] without its extension: `INT-005-jwt-migration`. Returns
/// `None` for any other file.
pub fn single_name(path: &RelativePath) -> Option<&str> {
    let name = path.as_str().strip_prefix(FOLDER)?.strip_prefix('/')?;
    let name = [".yaml", ".yml"].iter().find_map(|end| name.strip_suffix(end))?;
    // Ignore the temporary files that editors keep next to an edited file. Their names begin with a
    // dot.
    (!name.is_empty() && !name.contains('/') && !name.starts_with('.')).then_some(name)
}

/// Returns what follows the id in the name of a file with a single intent: `-jwt-migration` of
/// `INT-005-jwt-migration.yaml`, or an empty text. Returns `None` if the file is not named after
/// the id.
pub fn name_after_id<'p>(path: &'p RelativePath, id: &str) -> Option<&'p str> {
    let rest = single_name(path)?.strip_prefix(id)?;
    (rest.is_empty() || rest.starts_with('-')).then_some(rest)
}

/// Returns the id that the name of a file with a single intent begins with: `INT-005` of
/// `INT-005-jwt-migration.yaml`. A name without a number is an id as a whole.
pub fn id_in_name(path: &RelativePath) -> Option<&str> {
    let name = single_name(path)?;
    let ends_id = |(at, _): &(usize, &str)| name[..*at].ends_with(|c: char| c.is_ascii_digit());
    let end = name.match_indices('-').find(ends_id).map_or(name.len(), |(at, _)| at);
    Some(&name[..end])
}

/// Returns the path of a new file for an intent: its id and its name in plain letters. Two branches
/// that give one id to two intents then still write two files, which a merge keeps.
pub(super) fn path_of_single(id: &str, name: &str) -> Option<RelativePath> {
    // A file whose name begins with a dot would not be read.
    if id.starts_with('.') {
        return None;
    }
    let folded = name.to_lowercase();
    let words = folded.split(|c: char| !c.is_alphanumeric());
    let mut slug = String::new();
    for word in words.clone().filter(|word| !word.is_empty() && word.is_ascii()) {
        if slug.len() + word.len() >= MAX_SLUG {
            break;
        }
        slug.extend(["-", word]);
    }
    // Names in other scripts have no plain letters, and are told apart all the same.
    if words.clone().any(|word| !word.is_ascii()) {
        let hash = code::content_hash(name).to_string();
        slug.extend(["-", &hash["sha256:".len()..][..6]]);
    }
    RelativePath::new(&format!("{FOLDER}/{id}{slug}.yaml")).ok()
}

pub(super) fn path_of_source(id: &str) -> Option<RelativePath> {
    RelativePath::new(&format!("{FOLDER}/{}.yaml", id.replace(':', "-"))).ok()
}

/// The most bytes of an intent's name in the name of its file.
const MAX_SLUG: usize = 48;

const HELP_LIMIT: &str = "Write it without aliases or deep nesting; until then no intent can be selected and nothing is written to this file.";
const HELP_SYNTAX: &str = "Fix the syntax error here; until then no intent can be selected and nothing is written to this file. Entries that begin with `*`, `!`, `&`, `@`, `[` or `{` need quotes.";
const HELP_UNREADABLE: &str = "Make it a regular file inside the workspace that you may read, in UTF-8 and within the size limit; until then nothing is written to it.";

pub(super) type Unreadable = (Code, String);

pub(super) fn unreadable(reason: impl std::fmt::Display) -> Unreadable {
    (Code::RegistrySyntax, format!("The registry cannot be read: {reason}."))
}

fn read_file(root: &Root, path: &RelativePath) -> Result<String, Unreadable> {
    let bytes = root.read(path, MAX_BYTES as u64).map_err(|error| match error {
        StoreError::TooLarge { .. } => {
            let message = format!("The registry has more than {MAX_BYTES} bytes, and is not read.");
            (Code::RegistryTooLarge, message)
        }
        StoreError::Io { source, .. } => unreadable(source),
        error => unreadable(error.with_hint()),
    })?;
    let bytes = bytes.ok_or_else(|| unreadable("it is gone"))?;
    String::from_utf8(bytes).map_err(|error| {
        unreadable(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()))
    })
}

/// Returns the byte offsets of all line starts. Lines end at `\n`, `\r\n` or `\r`, as in the
/// Language Server Protocol.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}
