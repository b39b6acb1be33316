//! Finds mentions of intents in a text: whole words that are ids of the registry, of a format in
//! which intents are kept elsewhere, or of a record that is in no commit yet.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tower_lsp::lsp_types as lsp;

use crate::workspace_view::{DocumentPosition, WorkspaceView};
use code::Document;
use ground::RelativePath;
use ground::policy::SourceFormat;
use intents::{Intent, IntentFile, Registry};
use why::Workspace;

/// The most bytes of an id.
pub(super) const MAX_ID: usize = 64;
/// The most bytes of the id of an intent that is kept elsewhere, which is the name of a folder.
pub(super) const MAX_ID_OF_SOURCE: usize = 200;

/// The registry as the editor shows it. Open files have their unsaved text; the others are as on
/// disk.
pub(crate) struct ShownRegistry<'a> {
    pub registry: Arc<Registry>,
    /// In the order of the registry's files. Each is filled on first use.
    files: Vec<OnceLock<Option<ShownFile>>>,
    view: WorkspaceView<'a>,
}

pub(crate) struct ShownFile {
    pub document: Document,
    pub uri: lsp::Url,
}

/// Returns a sentence that says that an older registry is used because the present one does not
/// parse. `None` if the present one parses.
pub(crate) fn older_registry(view: WorkspaceView<'_>) -> Option<String> {
    view.workspace.judged_by_older().or_else(|| {
        let shown = ShownRegistry::in_view(view);
        let path = shown.registry.broken_file()?;
        view.workspace.registry.syntax_error().is_none().then(|| {
            format!("The unsaved {path} does not parse, so edits are judged by the saved file.")
        })
    })
}

impl<'a> ShownRegistry<'a> {
    /// Returns the registry of a workspace. `None` if it has no file.
    pub(crate) fn existing(view: WorkspaceView<'a>) -> Option<Self> {
        Some(Self::in_view(view)).filter(|shown| shown.registry.exists())
    }

    /// Returns the registry of a workspace, which has no file if all intents are kept in other
    /// formats.
    pub(crate) fn in_view(view: WorkspaceView<'a>) -> Self {
        let mut registry = Arc::clone(view.workspace.registry_on_disk());
        for (path, open) in view.opened_of_registry() {
            let text = open.document.text();
            let known = registry.file(&path).filter(|file| file.exists());
            if known.is_none_or(|file| **file.text() != *text) {
                registry = Arc::new(registry.with_file(&path, &text));
            }
        }
        let files = registry.files().iter().map(|_| OnceLock::new()).collect();
        Self { registry, files, view }
    }

    /// Returns a file of the registry. `None` if no file of the registry has this path.
    pub(crate) fn file(&self, path: &RelativePath) -> Option<&ShownFile> {
        let at = self.registry.files().iter().position(|file| file.path() == path)?;
        let shown = || {
            if let Some(open) = self.view.opened(path) {
                return Some(ShownFile { uri: open.uri.clone(), document: open.document.clone() });
            }
            let file = self.registry.files()[at].as_ref();
            let uri = self.view.address(path)?;
            let document = Document::from_text(path.as_str(), file.text());
            file.exists().then_some(ShownFile { document, uri })
        };
        self.files[at].get_or_init(shown).as_ref()
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &ShownFile> {
        self.registry.files().iter().filter_map(|file| self.file(file.path()))
    }

    /// Returns the place of an intent's id and the range of the whole intent. `None` if no intent
    /// has this id, or several have it.
    pub(crate) fn location(&self, id: &str) -> Option<(lsp::Location, lsp::Range)> {
        let (file, intent) = self.registry.intent_with_file(id)?;
        if self.registry.file(file.path()).is_none() {
            let location = self.location_elsewhere(file, intent)?;
            let whole = location.range;
            return Some((location, whole));
        }
        let shown = self.file(file.path())?;
        let range = |span: &Range<usize>| self.view.range(&shown.document, span.clone());
        let location = lsp::Location { uri: shown.uri.clone(), range: range(&intent.id.span) };
        Some((location, range(&intent.span)))
    }

    /// Returns the place of the name of an intent that is kept in another format. If the file was
    /// edited there since it was read, that is its beginning.
    fn location_elsewhere(&self, file: &IntentFile, intent: &Intent) -> Option<lsp::Location> {
        let opened = self.view.opened(file.path()).map(|open| open.document.clone());
        let read = || Document::from_text(file.path().as_str(), file.text());
        let document = opened.unwrap_or_else(read);
        let name = intent.name.span.clone();
        let is_there = document.slice(name.clone()).as_deref() == file.text().get(name.clone());
        let range = self.view.range(&document, if is_there { name } else { 0..0 });
        Some(lsp::Location { uri: self.view.address(file.path())?, range })
    }
}

/// Returns true if the registry, a format in which intents are kept elsewhere, or a record that is
/// in no commit yet contains this id.
pub(crate) fn is_known(workspace: &Workspace, id: &str) -> bool {
    workspace.registry.get(id).is_some() || workspace.journal.of_intent(id).next().is_some()
}

pub(crate) fn id_at(place: &DocumentPosition<'_>) -> Option<(String, Range<usize>)> {
    word_at(place).filter(|(id, _)| is_known(place.file.view.workspace, id))
}

pub(crate) fn word_at(place: &DocumentPosition<'_>) -> Option<(String, Range<usize>)> {
    let document = &place.file.open.document;
    let near = bytes_around(document, place.byte);
    let text = document.slice(near.clone())?;
    let (range, id) = words_in(&text).find(|(range, _)| {
        (near.start + range.start..=near.start + range.end).contains(&place.byte)
    })?;
    Some((id.to_owned(), near.start + range.start..near.start + range.end))
}

pub(crate) fn of_any(text: &str, ids: &[&str]) -> impl Iterator<Item = Range<usize>> {
    words_in(text).filter(|(_, word)| ids.contains(word)).map(|(range, _)| range)
}

/// Returns the words of a text that may be meant as ids: runs of the characters of ids that contain
/// a digit or a hyphen, or follow the prefix of a format.
///
/// An id such as `auth` is an ordinary word in many files, so it is recognised only in the
/// registry.
pub(crate) fn words_in(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        let start = rest + bytes[rest..].iter().position(|byte| is_id_byte(*byte))?;
        let end_of_run = |start: usize| {
            let len = bytes[start..].iter().position(|byte| !is_id_byte(*byte));
            len.map_or(text.len(), |len| start + len)
        };
        let mut end = end_of_run(start);
        if bytes.get(end) == Some(&b':') && has_prefix(&text[start..=end]) {
            end = end_of_run(end + 1);
        }
        rest = end;
        Some(start..end)
    })
    .filter(|run| !touches_letter(text, run))
    .filter_map(|run| {
        let end = |c: char| !c.is_ascii_alphanumeric();
        let word = text[run.clone()].trim_end_matches(end);
        let tail = run.start + word.len();
        let word = word.trim_start_matches(end);
        let of_source = has_prefix(word);
        let distinct = of_source || word.bytes().any(|byte| byte.is_ascii_digit() || byte == b'-');
        let longest = if of_source { MAX_ID_OF_SOURCE } else { MAX_ID };
        (word.len() > 2 && word.len() <= longest && distinct)
            .then(|| (tail - word.len()..tail, word))
    })
}

/// Returns true if a word begins with the prefix of a format in which intents are kept elsewhere:
/// `openspec:add-login`.
fn has_prefix(word: &str) -> bool {
    let word = word.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    SourceFormat::of_id(word).is_some()
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Returns true if a letter of another script touches the word on either side.
fn touches_letter(text: &str, run: &Range<usize>) -> bool {
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    letter(text[..run.start].chars().next_back()) || letter(text[run.end..].chars().next())
}

fn bytes_around(document: &Document, byte: usize) -> Range<usize> {
    const REACH: usize = MAX_ID_OF_SOURCE + 16;
    let floor = |mut at: usize| {
        while document.slice(at..at).is_none() {
            at -= 1;
        }
        at
    };
    let end = floor((byte + REACH).min(document.len_bytes()));
    floor(byte.saturating_sub(REACH))..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        words_in(text)
            .map(|(range, word)| {
                assert_eq!(&text[range], word);
                word
            })
            .collect()
    }

    #[test]
    fn whole_words_are_ids() {
        for (text, expected) in [
            ("feat(INT-001): x", vec!["INT-001"]),
            ("see INT-001. And [INT-002], _INT-003_!", vec!["INT-001", "INT-002", "INT-003"]),
            ("INT-001-fix", vec!["INT-001-fix"]),
            ("auth is no id, auth-1 is", vec!["auth-1"]),
            ("ÄINT-001 INT-001ß", vec![]),
            ("--- ... ___ 1", vec![]),
            ("(openspec:add-login): x, kiro:auth.", vec!["openspec:add-login", "kiro:auth"]),
            ("openspec: INT-001, see:INT-002", vec!["INT-001", "INT-002"]),
            ("", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
