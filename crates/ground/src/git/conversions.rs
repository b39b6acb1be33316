//! What git would store for a file on disk, and whether it has that already.
//!
//! Git itself converts line ends (`core.autocrlf`, the attributes `text` and `eol`), the keyword
//! `$Id$` (`ident`) and encodings (`working-tree-encoding`). The attribute `filter` names a program
//! that converts a file. No program is run here: of Git LFS the pointer is made, and of any other
//! filter nobody can tell what it would make of the file.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix_filter::attributes::Search;
use gix_filter::attributes::StateRef;
use gix_filter::attributes::glob::pattern::Case;
use gix_filter::attributes::search::{MetadataCollection, Outcome};
use gix_filter::encoding::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use gix_filter::{eol, ident};

use super::{Git, GitError, GitResult, commit_id};
use crate::{RelativePath, folder, store};

/// The maximum size of a file of attributes, in bytes. Git has the same limit.
const MAX_ATTRIBUTES: u64 = 100 * 1024 * 1024;
/// The maximum size of a pointer of Git LFS, in bytes.
const MAX_POINTER: usize = 1024;
const ATTRIBUTES: [&str; 6] = ["crlf", "text", "eol", "ident", "working-tree-encoding", "filter"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredContent {
    /// This text. Its lines are those of the file, one for one.
    Text(Vec<u8>),
    /// This pointer of Git LFS, in place of the content.
    Pointer(Vec<u8>),
    /// Nobody can tell, because of this attribute.
    CannotTell(String),
}

pub struct Conversions<'a> {
    git: &'a Git,
    line_ends: eol::Configuration,
    case: Case,
    /// The attributes of the machine, of the person and of the folders, in the order in which later
    /// ones decide.
    files: Search,
    info: Search,
    names: MetadataCollection,
    read: HashSet<String>,
    filters: HashMap<String, bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileConversion {
    line_ends: eol::AttributesDigest,
    ident: bool,
    /// The encoding of the file on disk, if it is not UTF-8.
    encoding: Option<String>,
    filter: Option<String>,
}

impl Git {
    /// Returns the text of a file on disk as people read it: in UTF-8, if an attribute says that it is
    /// encoded otherwise, and with `$Id$` as git stores it. Line ends stay.
    pub fn readable_text(&self, path: &RelativePath, bytes: Vec<u8>) -> Vec<u8> {
        let is_plain = std::str::from_utf8(&bytes).is_ok()
            && !bytes.contains(&0)
            && !bytes.contains_str("$Id:");
        if is_plain { bytes } else { self.conversions().readable_text(path, bytes) }
    }

    /// Returns what git has of a file on disk that is stored with Git LFS. `None` if it is not, or if
    /// it is on disk as git has it.
    pub fn lfs_pointer(&self, path: &RelativePath) -> Option<Vec<u8>> {
        let is_set = |key: &str| self.configured(key).is_some();
        if !is_set("filter.lfs.clean") && !is_set("filter.lfs.process") {
            return None;
        }
        let mut conversions = self.conversions();
        let how = conversions.conversion_of(path);
        if how.filter.as_deref() != Some("lfs") {
            return None;
        }
        let bytes = self.root.read(path, store::MAX_CONTENT).ok()??;
        match conversions.stored_as(path, bytes, &how) {
            StoredContent::Pointer(pointer) => Some(pointer),
            StoredContent::Text(_) | StoredContent::CannotTell(_) => None,
        }
    }

    pub fn conversions(&self) -> Conversions<'_> {
        let mut names = MetadataCollection::default();
        let mut buffer = Vec::new();
        let built_in = Search::new_globals(None::<PathBuf>, &mut buffer, &mut names);
        let mut conversions = Conversions {
            git: self,
            line_ends: self.line_ends(),
            case: if self.boolean("core.ignoreCase") == Some(true) {
                Case::Fold
            } else {
                Case::Sensitive
            },
            files: built_in.unwrap_or_default(),
            info: Search::default(),
            names,
            read: HashSet::new(),
            filters: HashMap::new(),
        };
        for path in self.attributes_of_person() {
            let text = store::read_capped(&path, MAX_ATTRIBUTES).ok().flatten();
            conversions.add_attributes(text, path, None);
        }
        let path = self.common().join("info/attributes");
        if let Ok(Some(text)) = store::read_capped(&path, MAX_ATTRIBUTES) {
            let Conversions { info, names, .. } = &mut conversions;
            let added = info.add_patterns_buffer(&text, path, None, names, true);
            added.unwrap_or_else(|error| tracing::debug!(%error, "attributes skipped"));
        }
        conversions
    }
}

impl Conversions<'_> {
    pub fn stored(&mut self, path: &RelativePath, bytes: Vec<u8>) -> StoredContent {
        let how = self.conversion_of(path);
        let Some(encoding) = how.encoding.clone().filter(|_| how.filter.is_none()) else {
            return self.stored_as(path, bytes, &how);
        };
        match decoded_as_git_does(&encoding, &bytes) {
            Decoded::Text(text) => self.stored_as(path, text.into(), &how),
            // Git refuses to store such a file, so it has none like it.
            Decoded::Malformed => StoredContent::Text(bytes),
            Decoded::Unknown => {
                StoredContent::CannotTell(format!("working-tree-encoding={encoding}"))
            }
        }
    }

    fn readable_text(&mut self, path: &RelativePath, bytes: Vec<u8>) -> Vec<u8> {
        let how = self.conversion_of(path);
        let text = match how.encoding.map(|encoding| decoded_as_git_does(&encoding, &bytes)) {
            Some(Decoded::Text(text)) => text.into(),
            _ => bytes,
        };
        let mut undone = Vec::new();
        let has_undone = how.ident && ident::undo(&text, &mut undone).unwrap_or(false);
        if has_undone { undone } else { text }
    }

    /// Returns true if git may store other bytes for a file than it has on disk.
    pub(super) fn convert(&mut self, path: &RelativePath) -> bool {
        let how = self.conversion_of(path);
        how.line_ends != eol::AttributesDigest::Binary
            || how.ident
            || how.encoding.is_some()
            || how.filter.is_some()
    }

    /// Returns whether git has a file on disk already as the content with this id. `None` if nobody
    /// can tell.
    pub(crate) fn is_stored_as(
        &mut self,
        path: &RelativePath,
        bytes: Vec<u8>,
        blob: ObjectId,
    ) -> GitResult<Option<bool>> {
        let repo = self.git.handle();
        let is_it = |bytes: &[u8]| {
            let kind = gix::object::Kind::Blob;
            let id = gix::objs::compute_hash(repo.object_hash(), kind, bytes);
            Ok::<_, GitError>(self.git.read(id)? == blob)
        };
        // The bytes are those that git stores, so nothing changed, whatever a conversion would make
        // of them.
        if is_it(&bytes)? {
            return Ok(Some(true));
        }
        match self.stored(path, bytes) {
            StoredContent::Text(text) => Ok(Some(is_it(&text)?)),
            StoredContent::CannotTell(_) => Ok(None),
            StoredContent::Pointer(pointer) => {
                let repo = self.git.handle();
                let held = match self.git.checked(&repo, blob)?.find_header(blob) {
                    Ok(header) if header.size() <= MAX_POINTER as u64 => {
                        self.git.blob(&repo, blob)?
                    }
                    _ => return Ok(Some(false)),
                };
                Ok(Some(
                    LfsPointer::read(&held)
                        .is_some_and(|held| Some(held) == LfsPointer::read(&pointer)),
                ))
            }
        }
    }

    /// Returns the text that git would store for a text on disk or in an editor, line for line. It is an
    /// error if nobody can tell, unless the file is as one of these commits has it.
    pub fn stored_lines(
        &mut self,
        path: &RelativePath,
        text: Vec<u8>,
        commits: &[ObjectId],
    ) -> GitResult<Vec<u8>> {
        // The text was decoded already.
        let how = self.conversion_of(path);
        let attribute = match self.stored_as(path, text.clone(), &how) {
            StoredContent::Text(stored) => return Ok(stored),
            StoredContent::Pointer(_) => "filter=lfs".to_owned(),
            StoredContent::CannotTell(attribute) => attribute,
        };
        for commit in commits {
            if self.git.file_at(&commit_id(*commit), path)?.is_some_and(|held| held == text) {
                return Ok(text);
            }
        }
        Err(GitError::Converted { attribute })
    }

    fn stored_as(&self, path: &RelativePath, text: Vec<u8>, how: &FileConversion) -> StoredContent {
        match how.filter.as_deref() {
            Some("lfs") if text.is_empty() || LfsPointer::read(&text).is_some() => {
                return StoredContent::Text(text);
            }
            Some("lfs") => {
                return StoredContent::Pointer(LfsPointer::of_content(&text).text_of_pointer());
            }
            Some(filter) => return StoredContent::CannotTell(format!("filter={filter}")),
            None => {}
        }
        let (mut text, mut other) = (text, Vec::new());
        let options =
            eol::convert_to_git::Options { round_trip_check: None, config: self.line_ends };
        let mut in_index = |buffer: &mut Vec<u8>| {
            let held = self.git.file_in_index(path).ok().flatten();
            Ok(held.map(|held| *buffer = held))
        };
        let converted =
            eol::convert_to_git(&text, how.line_ends, &mut other, &mut in_index, options);
        if converted.unwrap_or(false) {
            std::mem::swap(&mut text, &mut other);
        }
        if how.ident && ident::undo(&text, &mut other).unwrap_or(false) {
            std::mem::swap(&mut text, &mut other);
        }
        StoredContent::Text(text)
    }

    /// Finds the attributes of a file. They are read from the work tree, and where it lacks a file of
    /// attributes from the index, as git does.
    fn conversion_of(&mut self, path: &RelativePath) -> FileConversion {
        let full = self.git.path_in_repository(path.as_str());
        self.read_folder("");
        let text = full.to_string();
        text.match_indices('/').for_each(|(at, _)| self.read_folder(&text[..at]));
        let mut found = Outcome::default();
        found.initialize_with_selection(&self.names, ATTRIBUTES);
        for search in [&self.info, &self.files] {
            search.pattern_matching_relative_path(
                full.as_ref(),
                self.case,
                Some(false),
                &mut found,
            );
        }
        let mut states = found.iter_selected().map(|found| found.assignment.state);
        let mut next = || states.next().unwrap_or(StateRef::Unspecified);
        let (crlf, text, eol, ident) = (next(), next(), next(), next());
        let value = |state: StateRef<'_>| state.as_bstr().map(BStr::to_string);
        let (encoding, filter) = (value(next()), value(next()));
        FileConversion {
            line_ends: digest([crlf, text], eol, self.line_ends),
            ident: ident.is_set(),
            encoding: encoding.filter(|name| Encoding::for_label(name.as_bytes()) != Some(UTF_8)),
            filter: filter.filter(|name| self.has_program(name)),
        }
    }

    /// Returns true if a filter converts files. Without a program it does nothing. Git LFS is done
    /// here, with its program or without.
    fn has_program(&mut self, filter: &str) -> bool {
        if filter == "lfs" {
            return true;
        }
        if let Some(known) = self.filters.get(filter) {
            return *known;
        }
        let is_set = |key: &str| {
            let program = self.git.configured(&format!("filter.{filter}.{key}"));
            program.is_some_and(|program| !program.is_empty())
        };
        let has_program = is_set("clean") || is_set("process");
        self.filters.insert(filter.to_owned(), has_program);
        has_program
    }

    fn read_folder(&mut self, folder: &str) {
        if !self.read.insert(folder.to_owned()) {
            return;
        }
        let top = self.git.root.work_tree().unwrap_or(self.git.root.path()).to_owned();
        let file = Path::new(folder).join(".gitattributes");
        let is_missing = |found: std::io::Result<std::fs::Metadata>| {
            found.is_err_and(|error| folder::is_missing(&error))
        };
        let text = match is_missing(top.join(&file).symlink_metadata()) {
            true => {
                let place = format!("{folder}/.gitattributes");
                self.git.file_in_index_at(place.trim_start_matches('/')).ok().flatten()
            }
            false => folder::read_below(&top, &file, MAX_ATTRIBUTES).ok(),
        };
        self.add_attributes(text, top.join(file), Some(&top));
    }

    fn add_attributes(&mut self, text: Option<Vec<u8>>, path: PathBuf, top: Option<&Path>) {
        let Some(text) = text else { return };
        // Only the top folder may define macros.
        let may_define = path.parent() == top || top.is_none();
        let added = self.files.add_patterns_buffer(&text, path, top, &mut self.names, may_define);
        added.unwrap_or_else(|error| tracing::debug!(%error, "attributes skipped"));
    }
}

/// Returns how git converts the line ends of a file. `crlf` is the old name of `text`.
fn digest(
    [crlf, text]: [StateRef<'_>; 2],
    eol: StateRef<'_>,
    settings: eol::Configuration,
) -> eol::AttributesDigest {
    use eol::AttributesDigest::{
        Binary, Text, TextAuto, TextAutoCrlf, TextAutoInput, TextCrlf, TextInput,
    };
    let said = |state: StateRef<'_>| match state {
        StateRef::Set => Some(Text),
        StateRef::Unset => Some(Binary),
        StateRef::Value(value) if value.as_bstr() == "input" => Some(TextInput),
        StateRef::Value(value) if value.as_bstr() == "auto" => Some(TextAuto),
        _ => None,
    };
    let eol = eol.as_bstr().map(|value| value.as_bytes());
    match (said(crlf).or_else(|| said(text)), eol) {
        (Some(Binary), _) => Binary,
        (Some(TextAuto), Some(b"lf")) => TextAutoInput,
        (Some(TextAuto), Some(b"crlf")) => TextAutoCrlf,
        (_, Some(b"lf")) => TextInput,
        (_, Some(b"crlf")) => TextCrlf,
        (Some(Text), _) => settings.to_eol().into(),
        (Some(said), _) => said,
        (None, _) => settings.auto_crlf.into(),
    }
}

enum Decoded {
    Text(String),
    Malformed,
    Unknown,
}

fn decoded_as_git_does(name: &str, bytes: &[u8]) -> Decoded {
    let name = name.to_ascii_uppercase().replace("UTF16", "UTF-16");
    let has_mark = Encoding::for_bom(bytes).filter(|(found, _)| *found != UTF_8);
    let (encoding, bytes) = match (name.as_str(), has_mark) {
        _ if bytes.is_empty() => return Decoded::Text(String::new()),
        // Another decoder would take this name for Windows-1252.
        ("ISO-8859-1" | "ISO8859-1" | "LATIN-1" | "LATIN1", _) => {
            return Decoded::Text(bytes.iter().map(|byte| char::from(*byte)).collect());
        }
        // These need a byte order mark, and the next ones must not have one.
        ("UTF-16", Some((found, mark))) => (found, &bytes[mark..]),
        ("UTF-16LE-BOM", Some((found, mark))) if found == UTF_16LE => (found, &bytes[mark..]),
        ("UTF-16BE-BOM", Some((found, mark))) if found == UTF_16BE => (found, &bytes[mark..]),
        ("UTF-16LE", None) => (UTF_16LE, bytes),
        ("UTF-16BE", None) => (UTF_16BE, bytes),
        (utf_16, _) if utf_16.starts_with("UTF-16") => return Decoded::Malformed,
        (other, _) => match Encoding::for_label(other.as_bytes()) {
            Some(encoding) => (encoding, bytes),
            None => return Decoded::Unknown,
        },
    };
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    text.map(Cow::into_owned).map_or(Decoded::Malformed, Decoded::Text)
}

pub fn is_lfs_pointer(text: &[u8]) -> bool {
    LfsPointer::read(text).is_some()
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LfsPointer {
    sha256: String,
    size: u64,
}

impl LfsPointer {
    fn of_content(bytes: &[u8]) -> Self {
        Self { sha256: store::sha256(bytes), size: bytes.len() as u64 }
    }

    /// Reads a pointer. `None` if the text is none.
    fn read(text: &[u8]) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= MAX_POINTER)?;
        let text = std::str::from_utf8(text).ok()?;
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let (sha256, size) = (value("oid sha256:")?, value("size ")?.parse().ok()?);
        text.starts_with("version ").then(|| Self { sha256: sha256.to_owned(), size })
    }

    fn text_of_pointer(&self) -> Vec<u8> {
        let Self { sha256, size } = self;
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n")
            .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TestFolder, path};
    use crate::git::Target;

    /// Makes a repository whose file `a.py` is as git writes it with these attributes and settings,
    /// with a new time stamp.
    fn checked_out(attributes: &str, settings: &[(&str, &str)], text: &str) -> TestFolder {
        let place = TestFolder::committed(&[("a.py", text)]);
        for (key, value) in settings {
            place.git(&["config", key, value]);
        }
        place.write(".gitattributes", attributes);
        place.git(&["add", ".gitattributes"]);
        place.git(&["commit", "-q", "-m", "attributes"]);
        place.remove("a.py");
        place.git(&["checkout", "--", "a.py"]);
        let text = std::fs::read(place.join("a.py")).unwrap();
        std::fs::write(place.join("a.py"), text).unwrap();
        let status = place.git(&["status", "--porcelain"]);
        assert_eq!(status, "", "{attributes}");
        place
    }

    fn compared(place: &TestFolder) -> (Vec<String>, Vec<String>) {
        let git = place.open("");
        let found = git.compared(git.head().unwrap().as_ref(), &Target::WorkTree).unwrap();
        let changed = found.changes.into_iter().map(|change| change.path.to_string());
        (changed.collect(), found.unknown.iter().map(ToString::to_string).collect())
    }

    #[test]
    #[ignore = "slow"]
    fn a_file_that_git_converts_is_no_change_until_it_is_edited() {
        let text = "# $Id$\ndef total(x):\n    return x\n";
        for (attributes, settings) in [
            ("", &[][..]),
            ("", &[("core.autocrlf", "true")][..]),
            ("", &[("core.autocrlf", "input")][..]),
            ("* text=auto", &[("core.eol", "crlf")][..]),
            ("*.py text eol=crlf", &[][..]),
            ("*.py crlf=input", &[][..]),
            ("[attr]windows text eol=crlf\n*.py windows", &[][..]),
            ("*.py ident", &[][..]),
            ("*.py text eol=crlf ident", &[][..]),
            ("*.py working-tree-encoding=UTF-16", &[][..]),
            ("*.py text working-tree-encoding=UTF-16LE-BOM eol=crlf", &[][..]),
            ("*.py text working-tree-encoding=UTF-16BE", &[][..]),
            ("*.py text working-tree-encoding=ISO-8859-1", &[][..]),
            ("*.py filter=nothing", &[][..]),
        ] {
            let place = checked_out(attributes, settings, text);
            assert_eq!(compared(&place), (vec![], vec![]), "{attributes} {settings:?}");
            let before = std::fs::read(place.join("a.py")).unwrap();
            let mut after = before.clone();
            // The letter `t` of `total`, in whatever encoding.
            let at = after.iter().position(|byte| *byte == b't').unwrap();
            after[at] = b'T';
            std::fs::write(place.join("a.py"), after).unwrap();
            assert_eq!(compared(&place), (vec!["a.py".into()], vec![]), "{attributes}");
        }
    }

    #[test]
    fn the_stored_text_has_the_lines_of_the_file() {
        let place = checked_out("*.py text eol=crlf ident", &[], "# $Id$\na\n");
        let bytes = std::fs::read(place.join("a.py")).unwrap();
        assert!(bytes.ends_with(b" $\r\na\r\n") && bytes.starts_with(b"# $Id: "));
        let git = place.open("");
        let stored = git.conversions().stored(&path("a.py"), bytes);
        assert_eq!(stored, StoredContent::Text(b"# $Id$\na\n".to_vec()));
    }

    #[test]
    fn a_nearer_file_of_attributes_decides_and_that_of_the_git_directory_over_all() {
        let place = TestFolder::committed(&[
            (".gitattributes", "*.py text eol=crlf\n"),
            ("b/.gitattributes", "*.py -text\nkept.py text\n"),
            ("c/.gitattributes", "[attr]mine text\n*.py mine=1 binary\n"),
            ("a.py", ""),
        ]);
        place.write(".git/info/attributes", "b/last.py text\n");
        let git = place.open("");
        let mut conversions = git.conversions();
        let mut converts = |file: &str| {
            let stored = conversions.stored(&path(file), b"x\r\n".to_vec());
            stored == StoredContent::Text(b"x\n".to_vec())
        };
        assert!(converts("a.py") && converts("b/kept.py") && converts("b/last.py"));
        assert!(!converts("b/a.py") && !converts("c/a.py") && !converts("a.rs"));
    }

    #[test]
    fn a_text_with_cr_in_the_index_keeps_it() {
        let place = TestFolder::committed(&[("a.txt", "x\r\ny\r\n")]);
        place.write(".gitattributes", "* text=auto\n");
        place.commit("attributes");
        let git = place.open("");
        let stored = git.conversions().stored(&path("a.txt"), b"z\r\n".to_vec());
        assert_eq!(stored, StoredContent::Text(b"z\r\n".to_vec()));
        let stored = git.conversions().stored(&path("b.txt"), b"z\r\n".to_vec());
        assert_eq!(stored, StoredContent::Text(b"z\n".to_vec()));
    }

    #[test]
    fn a_pointer_of_lfs_stands_for_its_file() {
        let content = "def large():\n    pass\n";
        let pointer = LfsPointer::of_content(content.as_bytes()).text_of_pointer();
        let pointer = String::from_utf8(pointer).unwrap();
        let extended = pointer.replace("oid ", "ext-0-foo sha256:00\noid ");
        for committed in [&pointer, &extended] {
            let place = TestFolder::committed(&[("a.py", committed)]);
            place.write(".gitattributes", "*.py filter=lfs -text\n");
            place.commit("attributes");
            place.write("a.py", content);
            assert_eq!(compared(&place), (vec![], vec![]));
            place.write("a.py", "def lArge():\n    pass\n");
            assert_eq!(compared(&place), (vec!["a.py".into()], vec![]));
        }
    }

    #[test]
    fn what_a_program_makes_of_a_file_nobody_can_tell() {
        let place = TestFolder::committed(&[("a.py", "1\n")]);
        place.git(&["config", "filter.secret.clean", "cat"]);
        place.write(".gitattributes", "*.py filter=secret\n");
        place.commit("attributes");
        place.write("a.py", "2\n");
        assert_eq!(compared(&place), (vec![], vec!["a.py".into()]));
        place.write("new.py", "2\n");
        assert_eq!(compared(&place), (vec!["new.py".into()], vec!["a.py".into()]));
        // What is staged differs, whatever the file on disk is.
        place.git(&["add", "a.py"]);
        place.write("a.py", "3\n");
        assert_eq!(compared(&place), (vec!["a.py".into(), "new.py".into()], vec![]));
    }

    #[test]
    fn a_file_that_is_not_in_its_encoding_is_a_change() {
        let place = checked_out("*.py working-tree-encoding=UTF-16", &[], "a\n");
        std::fs::write(place.join("a.py"), b"no mark").unwrap();
        assert_eq!(compared(&place), (vec!["a.py".into()], vec![]));
        let place = TestFolder::committed(&[("a.py", "a\n")]);
        place.write(".gitattributes", "*.py working-tree-encoding=UTF-32\n");
        place.write("a.py", "b\n");
        assert_eq!(compared(&place).1, ["a.py"]);
    }
}
