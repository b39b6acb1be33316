//! Paths that no agent may change (`.intentignore`, `.rooignore`), and paths that git ignores.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Match, WalkBuilder};

use super::git::GitError;
use super::nested_roots::NestedRoots;
use super::path::is_orchestration_name;
use super::policy::SourceFormat;
use super::work_tree::WorkTree;
use super::{Code, Finding, Git, Hint, RelativePath, Root, folder, store};
use crate::parallel::locked_value;

/// An ignore file larger than this, in bytes, is not read, because compiling it would noticeably
/// slow down every start.
const MAX_IGNORE_FILE: u64 = 256 * 1024;
/// The files at the root of a workspace that say which paths agents may not change, in the order in
/// which they are tried. For example, a line `vendor/**` denies everything below that folder.
pub const IGNORE_FILES: [&str; 2] = [".intentignore", ".rooignore"];
const MARKER: &str = "# intent: deny-write";
/// The name of a file that no pattern names literally. It stands for any file of a folder.
const ANY_NAME: &str = "intent-any-file";

#[derive(Debug)]
pub struct Ignores {
    root: Root,
    denying: Vec<DenyFile>,
    findings: Vec<Finding>,
    /// The top of the work tree: the folder from which git's ignore files count. `None` without
    /// git.
    top: Option<PathBuf>,
    by_folder: FolderRules,
    everywhere: OnceLock<[Gitignore; 2]>,
    /// The files that git tracks. `None` if they are not known; then no path counts as ignored.
    tracked: OnceLock<Option<BTreeSet<RelativePath>>>,
}

#[derive(Debug)]
struct DenyFile {
    file: RelativePath,
    text: String,
    /// The rules for all agents. `None` if the file exists but could not be read; then every path
    /// is denied.
    rules: Option<Gitignore>,
    of_intents: BTreeMap<String, Gitignore>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreRule {
    pub file: RelativePath,
    /// The number of its line, counted from 1.
    pub line: u32,
    pub pattern: String,
    /// The intent that the rule applies to. `None` if it applies to every agent.
    pub intent: Option<String>,
}

impl IgnoreRule {
    pub fn forbidden_for(&self) -> &str {
        self.intent.as_deref().unwrap_or("agents")
    }
}

impl Ignores {
    /// Reads `.intentignore` and `.rooignore` at the root. Git's ignore rules are read when they
    /// are first needed.
    ///
    /// A file that exists but cannot be read denies every path, and is a finding.
    pub fn load(root: &Root) -> Self {
        let mut ignores = Self::empty(root, root.work_tree());
        for name in IGNORE_FILES {
            let file = RelativePath::new(name).expect("a plain file name");
            match root.read_rules(&file, MAX_IGNORE_FILE) {
                Ok(None) => {}
                Ok(Some(bytes)) => ignores.add_rules(file, String::from_utf8_lossy(&bytes).into()),
                Err(error) => ignores.add_unreadable(file, &error),
            }
        }
        ignores
    }
    /// Makes the rules from the texts of ignore files, for example those of a base commit.
    pub fn from_texts(root: &Root, texts: &[(RelativePath, String)]) -> Self {
        let mut ignores = Self::empty(root, root.work_tree());
        for (file, text) in texts {
            ignores.add_rules(file.clone(), text.clone());
        }
        ignores
    }
    /// Returns the rule that forbids agents to change the path. The last rule that matches decides,
    /// and `!` allows a path again.
    ///
    /// As in git, nothing below a denied folder can be allowed again. Each file is evaluated by
    /// itself, so `!` in one file does not affect the other.
    pub fn denied(&self, path: &RelativePath) -> Option<IgnoreRule> {
        self.denying.iter().find_map(|file| file.denied(path))
    }
    /// Returns the rule that forbids changing the path under the intent with one of these ids. It
    /// is a rule for all agents, or one for this intent only, such as `INT-002: src/generated/**`.
    pub fn denied_to(&self, path: &RelativePath, ids: &[&str]) -> Option<IgnoreRule> {
        self.denied(path).or_else(|| {
            ids.iter().find_map(|id| self.denying.iter().find_map(|file| file.denied_to(path, id)))
        })
    }
    /// Returns the lines that apply to single intents, in the order of the files.
    pub fn intent_lines(&self) -> Vec<IgnoreRule> {
        let mut found = Vec::new();
        for DenyFile { file, text, .. } in &self.denying {
            for (line, text) in (1..).zip(text.lines()) {
                let Some((intent, pattern)) = for_intent(file, text) else { continue };
                let (intent, pattern) = (Some(intent.to_owned()), pattern.to_owned());
                found.push(IgnoreRule { file: file.clone(), line, intent, pattern });
            }
        }
        found
    }
    /// Returns true if git ignores the path (build outputs, for example). Such a path is not
    /// subject to scopes, the gate and checks. A file that git tracks is never ignored.
    pub fn git_ignored(&self, path: &RelativePath) -> bool {
        let Some(full) = self.below_top(path) else { return false };
        let is_untracked = |tracked: &BTreeSet<RelativePath>| !tracked.contains(path);
        levels(&full).any(|(level, is_dir)| self.matched_at_level(level, is_dir))
            && self.tracked().is_some_and(is_untracked)
    }
    /// Returns true if git ignores a folder with everything in it. A folder with a file that git
    /// tracks is never ignored.
    pub fn git_ignored_folder(&self, path: &RelativePath) -> bool {
        let Some(full) = self.below_top(path) else { return false };
        let inside = format!("{full}/{ANY_NAME}");
        let mut folders = levels(&inside).filter(|(_, is_dir)| *is_dir);
        let is_ignored = folders.any(|(folder, _)| self.matched_at_level(folder, true))
            || self.ignores_all_directly_in(&inside);
        let folder = format!("{path}/");
        let is_untracked = |tracked: &BTreeSet<RelativePath>| {
            let files = tracked.range(path.clone()..).map(RelativePath::as_str);
            let mut below = files.take_while(|file| file.starts_with(path.as_str()));
            !below.any(|file| file.starts_with(&folder))
        };
        is_ignored && self.tracked().is_some_and(is_untracked)
    }
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn empty(root: &Root, top: Option<&Path>) -> Self {
        let of_folder = top.unwrap_or(root.path()).to_path_buf();
        let read = move |folder: &str| {
            let file = Path::new(folder).join(".gitignore");
            of_folder.join(&file).symlink_metadata().ok()?;
            Some(compiled(folder::read_below(&of_folder, &file, MAX_IGNORE_FILE)))
        };
        Self {
            root: root.clone(),
            denying: Vec::new(),
            findings: Vec::new(),
            top: top.map(Path::to_path_buf),
            by_folder: FolderRules::from_reader(read),
            everywhere: OnceLock::new(),
            tracked: OnceLock::new(),
        }
    }

    fn add_rules(&mut self, file: RelativePath, text: String) {
        let (rules, of_intents, mut findings) = compile(&file, &text);
        self.findings.append(&mut findings);
        let end = text.find('\n').unwrap_or(text.len());
        let has_marker = text[..end].trim_start_matches('\u{feff}').trim_end() == MARKER;
        if file.file_name() == ".intentignore" && !has_marker {
            let message = format!("{file} does not begin with `{MARKER}`");
            let help = format!(
                "Other tools have used this file name for the opposite. Its paths are kept from agents all the same; write `{MARKER}` as the first line to say so."
            );
            let finding = Finding::new(Code::IgnoreMarker, message, help);
            self.findings.push(finding.at_span(&file, &text, 0..end));
        }
        self.denying.push(DenyFile { file, text, rules: Some(rules), of_intents });
    }

    fn add_unreadable(&mut self, file: RelativePath, error: &store::StoreError) {
        let help =
            format!("Make {file} readable, or remove it; until then no path may be changed.");
        let finding = Finding::new(Code::PolicyInvalid, error.with_hint(), help);
        self.findings.push(finding.in_file(&file));
        let (text, of_intents) = (String::new(), BTreeMap::new());
        self.denying.push(DenyFile { file, text, rules: None, of_intents });
    }

    /// Returns true if the rules name this entry of a walk. The folders above it are not checked,
    /// because the walk does not enter ignored folders.
    fn ignores_entry(&self, entry: &DirEntry) -> bool {
        let below = self.top.as_ref().and_then(|top| entry.path().strip_prefix(top).ok());
        // The rules can also match a path that is not UTF-8, such as a file `*.log`.
        let Some(path) = below.map(Path::to_string_lossy) else { return false };
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        self.matched_at_level(&path.replace(std::path::MAIN_SEPARATOR, "/"), is_dir)
    }

    fn below_top(&self, path: &RelativePath) -> Option<String> {
        let below = self.root.path().strip_prefix(self.top.as_ref()?).ok()?.to_str()?;
        let below = below.replace(std::path::MAIN_SEPARATOR, "/");
        Some(if below.is_empty() { path.to_string() } else { format!("{below}/{path}") })
    }

    /// Applies the rules to one path, without the folders above it. The nearest ignore file
    /// decides, then `.git/info/exclude`, then the person's own ignore file.
    fn matched_at_level(&self, path: &str, is_dir: bool) -> bool {
        let everywhere = || self.everywhere().iter().find_map(|all| decided(all, path, is_dir));
        self.by_folder.decided(path, is_dir).or_else(everywhere).unwrap_or(false)
    }

    /// Returns true if the rules ignore every file in the folder of this path, which ends in
    /// [`ANY_NAME`]. That is not certain if the file with the rule also contains a rule with `!`.
    fn ignores_all_directly_in(&self, path: &str) -> bool {
        let said = |rules: &Gitignore, inside: &str| {
            decided(rules, inside, false).map(|ignored| ignored && rules.num_whitelists() == 0)
        };
        let everywhere = || self.everywhere().iter().find_map(|all| said(all, path));
        self.by_folder.nearest(path, said).or_else(everywhere).unwrap_or(false)
    }

    fn everywhere(&self) -> &[Gitignore; 2] {
        self.everywhere.get_or_init(|| {
            let exclude = self.root.common_dir().map(|dir| dir.join("info/exclude"));
            let own = ignore::gitignore::gitconfig_excludes_path();
            let read = |path: PathBuf| store::read_capped(&path, MAX_IGNORE_FILE);
            [exclude, own]
                .map(|path| compiled(path.map_or(Ok(None), read).map(Option::unwrap_or_default)))
        })
    }

    fn tracked(&self) -> Option<&BTreeSet<RelativePath>> {
        self.tracked.get_or_init(|| Some(tracked(&self.root)?.into_iter().collect())).as_ref()
    }
}

impl DenyFile {
    fn denied(&self, path: &RelativePath) -> Option<IgnoreRule> {
        let Some(rules) = &self.rules else {
            let (file, pattern) = (self.file.clone(), "(unreadable: everything)".to_owned());
            return Some(IgnoreRule { file, line: 1, pattern, intent: None });
        };
        let pattern = denying(rules, path)?;
        Some(self.rule(&pattern, None))
    }

    fn denied_to(&self, path: &RelativePath, id: &str) -> Option<IgnoreRule> {
        let pattern = denying(self.of_intents.get(id)?, path)?;
        Some(self.rule(&pattern, Some(id)))
    }

    /// Returns the rule with the last line that has this pattern. If several lines are equal, the
    /// last one decides.
    fn rule(&self, pattern: &str, intent: Option<&str>) -> IgnoreRule {
        let is_it = |text: &str| match for_intent(&self.file, text) {
            Some((id, of_intent)) => Some(id) == intent && of_intent == pattern,
            None => intent.is_none() && text.trim_end() == pattern.trim_end(),
        };
        let last = (1..).zip(self.text.lines()).filter(|(_, text)| is_it(text)).last();
        let (line, written) = last.unwrap_or((1, pattern));
        IgnoreRule {
            file: self.file.clone(),
            line,
            pattern: written.trim_end().to_owned(),
            intent: intent.map(str::to_owned),
        }
    }
}

/// Returns the pattern that denies a path: that of the first denied folder above it, otherwise one
/// for the path itself.
fn denying(rules: &Gitignore, path: &RelativePath) -> Option<String> {
    levels(path.as_str()).find_map(|(level, is_dir)| match rules.matched(level, is_dir) {
        Match::Ignore(rule) => Some(rule.original().to_owned()),
        _ => None,
    })
}

fn levels(path: &str) -> impl Iterator<Item = (&str, bool)> {
    let folders = path.match_indices('/').map(|(at, _)| (&path[..at], true));
    folders.chain([(path, false)])
}

/// Returns the intent and the pattern of a line that applies to a single intent. Only
/// `.intentignore` may have such lines.
///
/// `INT-002: src/generated/**` is such a line, and so is `openspec:add-login: src/generated/**`.
/// `a/b: c` and `notes:` are ordinary patterns.
fn for_intent<'a>(file: &RelativePath, line: &'a str) -> Option<(&'a str, &'a str)> {
    let line = line.trim_start_matches('\u{feff}');
    let mut colons = line.match_indices(':').map(|(at, _)| (&line[..at], &line[at + 1..]));
    let (id, pattern) = colons.find(|(_, rest)| rest.starts_with([' ', '\t']))?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let bare = SourceFormat::of_id(id).map_or(id, |(_, name)| name);
    let is_id = id.starts_with(char::is_alphabetic) && bare.chars().all(plain);
    let has_pattern = !pattern.trim().is_empty();
    (file.file_name() == ".intentignore" && is_id && has_pattern).then(|| (id, pattern.trim()))
}

/// Returns the rules of the folder with this path below the top ("" is the top). `None` if it has no
/// rules.
type ReadRules = Box<dyn Fn(&str) -> Option<Gitignore> + Send + Sync>;

/// The rules in files such as `.gitignore` or `.gitattributes`, of which each folder may have one.
/// The rules of a folder are read when a path in it is first requested.
pub(super) struct FolderRules {
    read: ReadRules,
    known: Mutex<HashMap<String, Option<Arc<Gitignore>>>>,
}

impl std::fmt::Debug for FolderRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FolderRules").finish_non_exhaustive()
    }
}

impl FolderRules {
    pub(super) fn from_reader(
        read: impl Fn(&str) -> Option<Gitignore> + Send + Sync + 'static,
    ) -> Self {
        Self { read: Box::new(read), known: Mutex::default() }
    }

    /// Returns whether the rules ignore a path, without regard to the folders above it. The nearest
    /// folder with a rule that matches decides. `None` if no rule matches.
    pub(super) fn decided(&self, path: &str, is_dir: bool) -> Option<bool> {
        self.nearest(path, |rules, inside| decided(rules, inside, is_dir))
    }

    /// Asks the rules of each folder above a path, the nearest first, and returns the first answer.
    /// `ask` is called with the rules of a folder and the path relative to that folder.
    fn nearest<T>(&self, path: &str, ask: impl Fn(&Gitignore, &str) -> Option<T>) -> Option<T> {
        let mut folders = path.rmatch_indices('/').map(|(at, _)| &path[..at]).chain([""]);
        folders.find_map(|folder| {
            let inside = path[folder.len()..].trim_start_matches('/');
            ask(&*self.of_folder(folder)?, inside)
        })
    }

    fn of_folder(&self, folder: &str) -> Option<Arc<Gitignore>> {
        let mut known = locked_value(&self.known);
        if let Some(rules) = known.get(folder) {
            return rules.clone();
        }
        let rules = (self.read)(folder).map(Arc::new);
        known.insert(folder.to_owned(), rules.clone());
        rules
    }
}

/// Returns whether the rules ignore a path. `None` if no rule matches.
fn decided(rules: &Gitignore, path: &str, is_dir: bool) -> Option<bool> {
    match rules.matched(path, is_dir) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

/// Compiles the rules for all agents and those for single intents. Paths are matched relative to
/// the file's folder. Patterns that do not parse become findings.
fn compile(
    file: &RelativePath,
    text: &str,
) -> (Gitignore, BTreeMap<String, Gitignore>, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut all = builder();
    let mut single: BTreeMap<&str, GitignoreBuilder> = BTreeMap::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = start..start + line.trim_end().len();
        start += line.len();
        let written = line.trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}');
        let (rules, rule) = match for_intent(file, written) {
            Some((id, pattern)) => (single.entry(id).or_insert_with(builder), pattern),
            None => (&mut all, written),
        };
        if let Err(error) = rules.add_line(None, rule) {
            let message =
                format!("{rule:?} is not a pattern, and keeps no path from agents: {error}");
            let help = "Write it in the syntax of .gitignore.".to_owned();
            findings.push(Finding::new(Code::GlobInvalid, message, help).at_span(file, text, span));
        }
    }
    let mut build = |rules: GitignoreBuilder| {
        rules.build().unwrap_or_else(|error| {
            let message = format!("The patterns of {file} are too large together: {error}");
            let help = "Write fewer, or simpler, patterns.".to_owned();
            let whole = 0..text.len();
            findings
                .push(Finding::new(Code::GlobInvalid, message, help).at_span(file, text, whole));
            Gitignore::empty()
        })
    };
    let all = build(all);
    let single = single.into_iter().map(|(id, rules)| (id.to_owned(), build(rules))).collect();
    (all, single, findings)
}

fn compiled(bytes: Result<Vec<u8>, impl std::fmt::Display>) -> Gitignore {
    match bytes {
        Ok(bytes) => rules_in(&bytes),
        Err(error) => {
            tracing::debug!(%error, "no ignore rules read");
            Gitignore::empty()
        }
    }
}

fn rules_in(bytes: &[u8]) -> Gitignore {
    let mut builder = builder();
    for line in String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').lines() {
        if let Err(error) = builder.add_line(None, line) {
            tracing::debug!(%error, "ignore pattern skipped, as git does");
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The `.gitignore` files that a sparse checkout leaves out of the work tree. Git applies them
/// nevertheless.
pub(super) struct LeftOutRules(Option<FolderRules>);

impl LeftOutRules {
    pub(super) fn from_git(git: &Git) -> Result<Self, GitError> {
        let files = git.left_out(&|path| path.file_name() == ".gitignore")?.into_iter();
        let files = files
            .map(|(path, bytes)| (path.folders().last().unwrap_or_default().to_owned(), bytes));
        let files: HashMap<String, Vec<u8>> = files.collect();
        let rules = (!files.is_empty())
            .then(|| FolderRules::from_reader(move |folder| Some(rules_in(files.get(folder)?))));
        Ok(Self(rules))
    }

    pub(super) fn ignore(&self, path: &RelativePath) -> bool {
        let Some(rules) = &self.0 else { return false };
        levels(path.as_str()).any(|(level, is_dir)| rules.decided(level, is_dir) == Some(true))
    }
}

fn builder() -> GitignoreBuilder {
    let mut builder = GitignoreBuilder::new("");
    if cfg!(any(windows, target_os = "macos")) {
        builder.case_insensitive(true).expect("the switch never fails");
    }
    builder
}

/// Returns every file of a workspace that git does not ignore, outside `.git` and `.orchestration`,
/// sorted.
///
/// Files that git tracks are included, whatever the ignore files say. Symbolic links are not
/// followed and not included. Nested repositories are left out, unless git tracks files in them.
/// Nested workspaces are always left out.
pub fn walk(root: &Root) -> Vec<RelativePath> {
    let visible = visible(root).files.into_iter().filter(|(_, kind)| kind.is_file());
    let mut files: BTreeSet<RelativePath> = visible.map(|(path, _)| path).collect();
    let is_file = |path: &RelativePath| {
        std::fs::symlink_metadata(root.absolute(path)).is_ok_and(|found| found.is_file())
    };
    let tracked = tracked(root).unwrap_or_default().into_iter();
    let unseen = tracked.filter(|path| !files.contains(path) && is_file(path));
    let unseen: Vec<RelativePath> = unseen.collect();
    files.extend(unseen);
    let mut nested = NestedRoots::from_policy_of(root);
    files.retain(|path| !path.is_orchestration() && !nested.hold(path));
    files.into_iter().collect()
}

/// Returns the files that git tracks. `None` if they cannot be read.
fn tracked(root: &Root) -> Option<Vec<RelativePath>> {
    let tracked = Git::open(root).and_then(|git| git.map_or(Ok(Vec::new()), |git| git.tracked()));
    tracked.inspect_err(|error| tracing::warn!(%error, "tracked files unknown")).ok()
}

#[derive(Default)]
pub(super) struct VisibleFiles {
    pub files: Vec<(RelativePath, FileType)>,
    pub nameless: Vec<PathBuf>,
}

/// Returns the files and symbolic links that the ignore files do not exclude, including those in
/// `.orchestration`.
pub(super) fn visible(root: &Root) -> VisibleFiles {
    let mut visible = VisibleFiles::default();
    for entry in walker(root, root.work_tree(), is_entered).build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                tracing::debug!(%error, "not walked");
                continue;
            }
        };
        let kind = entry.file_type().filter(|kind| kind.is_file() || kind.is_symlink());
        let path = entry.path().strip_prefix(root.path()).ok();
        let Some((path, kind)) = path.zip(kind) else { continue };
        match path.to_str() {
            Some(path) => visible.files.extend(RelativePath::new(path).ok().map(|it| (it, kind))),
            None => visible.nameless.push(path.to_path_buf()),
        }
    }
    visible
}

/// Makes a walk over the workspace. It leaves out what git ignores by the ignore files from `top`
/// down, and entries for which `is_entered` is false. Symbolic links are not followed. The ignore
/// files are read by this program and not by the library, because one could be a pipe or an endless
/// device.
pub fn walker(
    root: &Root,
    top: Option<&Path>,
    is_entered: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
) -> WalkBuilder {
    let rules = Ignores::empty(root, top);
    let mut walk = WalkBuilder::new(root.path());
    walk.standard_filters(false).follow_links(false).filter_entry(move |entry| {
        entry.depth() == 0 || (is_entered(entry) && !rules.ignores_entry(entry))
    });
    walk
}

/// Returns false for git's own folder, for another repository, and for the `.orchestration` folder
/// of a nested workspace.
fn is_entered(entry: &DirEntry) -> bool {
    if entry.file_name() == ".git" {
        return false;
    }
    if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    let nested = entry.depth() > 1 && entry.file_name().to_str().is_some_and(is_orchestration_name);
    // Like git, enter a folder whose `.git` is no complete repository.
    let is_repository =
        WorkTree::at_top(entry.path()).is_some_and(|tree| tree.common_dir.join("objects").is_dir());
    !nested && !is_repository
}

#[cfg(test)]
mod tests;
