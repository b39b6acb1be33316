//! Determines the rules in force: registry, policy and ignore files.
//!
//! These are the files on disk, with one exception. A program that an agent starts can rewrite
//! them, and its command line does not show that (`python3 build.py`, `git checkout BRANCH`). So
//! rules that change while such a command runs are not in force. Calls are judged by the rules from
//! before the command until one of these happens: a person accepts the change with `intent accept
//! FILE`; the files are the same as before again; or the files are the same as on the branch that
//! the work is merged into.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use ground::git::Target;
use ground::{
    Code, Finding, IGNORE_FILES, Ignores, LayeredPolicy, POLICY, Policy, RelativePath, session,
    store,
};
use intents::Registry;
use why::{VerbError, Workspace, shared_branches};

/// The size in bytes of JSON above which kept rules are not read, because this program would not
/// have written them.
const MAX_KEPT: u64 = 16 * 1024 * 1024;
/// The size in bytes above which a file of rules is not read.
const MAX_FILE: u64 = 1024 * 1024;

/// The age at which kept rules are removed. The command that they were kept for has ended by then.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The files of rules with their texts; `None` for a file that does not exist.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RuleTexts(Vec<(RelativePath, Option<String>)>);

#[derive(Debug, Serialize, Deserialize)]
struct RejectedChange {
    /// The digest of the rules that are in force.
    in_force: String,
}

impl RuleTexts {
    fn on_disk(ws: &Workspace) -> Self {
        let read = |path: RelativePath| {
            let bytes = store::read_capped(&ws.root.absolute(&path), MAX_FILE).ok().flatten();
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (path, text)
        };
        Self(paths(ws).into_iter().map(read).collect())
    }

    fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("paths and texts always become JSON")
    }

    fn digest(&self) -> String {
        store::sha256(&self.json())
    }

    fn text(&self, path: &RelativePath) -> Option<&str> {
        let (_, text) = self.0.iter().find(|(known, _)| known == path)?;
        text.as_deref()
    }

    /// Returns the paths of the files whose texts differ, sorted. A file that only one side has
    /// differs, too.
    fn differing(&self, other: &Self) -> BTreeSet<RelativePath> {
        let all = self.0.iter().chain(&other.0).map(|(path, _)| path);
        all.filter(|path| self.text(path) != other.text(path)).cloned().collect()
    }
}

fn paths(ws: &Workspace) -> Vec<RelativePath> {
    let registry = ws.registry.files().iter().map(|file| file.path().clone());
    let fixed = [POLICY].iter().chain(&IGNORE_FILES);
    let fixed = fixed.filter_map(|path| RelativePath::new(path).ok());
    registry.chain(fixed).chain(ws.policy.extended_file()).collect()
}

fn is_rule(ws: &Workspace, path: &RelativePath) -> bool {
    ws.registry.holds(path) || paths(ws).contains(path)
}

/// Keeps the rules before a command and returns their digest. Rules that are kept already are not
/// written again.
pub(super) fn keep(ws: &Workspace) -> Option<String> {
    if change(ws).is_some() {
        // The rules in force are kept already.
        return None;
    }
    let rules = RuleTexts::on_disk(ws);
    let digest = rules.digest();
    let file = path_of_kept_rules(ws, &digest);
    if !file.exists() {
        let written = store::write_atomic(&file, &rules.json());
        session::or_log(&ws.root, "the rules could not be kept before a command", written)?;
    }
    Some(digest)
}

/// Returns the files of rules that have changed since they were kept before a command. Returns all
/// of them if the kept rules are gone.
pub(crate) fn changed_rules(ws: &Workspace, kept: Option<&str>) -> Vec<RelativePath> {
    let Some(kept) = kept else { return Vec::new() };
    let Some(before) = read(ws, kept) else { return paths(ws) };
    RuleTexts::on_disk(ws).differing(&before).into_iter().collect()
}

/// Keeps the rules from before a command in force, although the command has changed the files.
pub(crate) fn reject_change(ws: &Workspace, kept: Option<&str>) {
    let Some(kept) = kept.filter(|_| change(ws).is_none()) else { return };
    let note = RejectedChange { in_force: kept.to_owned() };
    let bytes = serde_json::to_vec(&note).expect("a text always becomes JSON");
    let noted = store::write_atomic(&path_of_rejected(ws), &bytes);
    session::or_log(&ws.root, "a change of the rules could not be noted", noted);
}

/// Returns true if a file contains rules, and the rules have changed during an agent's command
/// without the consent of a person.
pub fn is_rejected(ws: &Workspace, path: &RelativePath) -> bool {
    is_rule(ws, path) && change(ws).is_some()
}

/// Puts the rules on disk in force. Returns true if other rules were in force before.
pub(crate) fn accept_rules(ws: &Workspace) -> Result<bool, VerbError> {
    Ok(store::remove(&path_of_rejected(ws))?)
}

/// Returns the workspace under the rules in force, and whether these differ from the rules on disk.
pub fn governed(ws: Workspace) -> (Workspace, bool) {
    let Some(change) = change(&ws) else { return (ws, false) };
    let Some(rules) = read(&ws, &change.in_force) else { return (without_rules(ws), true) };
    let now = RuleTexts::on_disk(&ws);
    if now == rules || is_shared(&ws, &now, &rules) {
        // The rules are the same again, so there is nothing to accept.
        let removed = store::remove(&path_of_rejected(&ws));
        session::or_log(&ws.root, "a change of the rules stays noted", removed);
        return (ws, false);
    }
    (governed_by(ws, &rules), true)
}

/// Returns true if every changed file is the same as on the branch that the work is merged into.
fn is_shared(ws: &Workspace, now: &RuleTexts, rules: &RuleTexts) -> bool {
    let Some(git) = ws.git() else { return false };
    let Some(tip) = shared_branches::target(&ws.policy, git) else { return false };
    let target = Target::Commit(tip);
    let is_same = |path: &RelativePath| {
        git.text(&target, path).is_ok_and(|there| there.as_deref() == now.text(path))
    };
    now.differing(rules).iter().all(is_same)
}

pub(super) fn prune(ws: &Workspace) {
    let in_force = change(ws).map(|change| path_of_kept_rules(ws, &change.in_force));
    for file in store::entries(&folder(ws)).map(|entry| entry.path()) {
        let modified = std::fs::metadata(&file).and_then(|found| found.modified()).ok();
        let is_old = modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > MAX_AGE);
        if is_old && file != path_of_rejected(ws) && Some(&file) != in_force.as_ref() {
            // Another process may have removed the file already.
            let _ = std::fs::remove_file(&file);
        }
    }
}

/// Returns the workspace for the case that the rules in force are lost. The gate then allows
/// nothing.
fn without_rules(ws: Workspace) -> Workspace {
    let message =
        "The rules were changed while a command of an agent ran, and those from before are gone.";
    let help = format!("A person looks at the rules, and runs `intent accept {POLICY}`.");
    let finding = Finding::new(Code::PolicyInvalid, message.to_owned(), help);
    let (registry, ignores) = (ws.registry.copy(), Ignores::load(&ws.root));
    ws.under_rules((Policy::default(), vec![finding]), registry, ignores)
}

fn governed_by(ws: Workspace, rules: &RuleTexts) -> Workspace {
    let texts = || rules.0.iter().filter_map(|(path, text)| Some((path, text.as_ref()?)));
    let policy = texts().find(|(path, _)| path.as_str() == POLICY);
    let read = |path: &RelativePath| Ok(rules.text(path).map(|text| text.as_bytes().to_vec()));
    let policy = policy.map(|(path, text)| LayeredPolicy::from_text(path, text, &read));
    let policy = policy.map(|layered| (layered.policy, layered.findings)).unwrap_or_default();
    let ignores = texts().filter(|(path, _)| IGNORE_FILES.contains(&path.as_str()));
    let ignores: Vec<_> = ignores.map(|(path, text)| (path.clone(), text.clone())).collect();
    let registry = texts().filter(|(path, _)| ws.registry.holds(path));
    let registry = Registry::of_texts(registry.map(|(path, text)| (path.clone(), text.as_str())));
    let registry = registry.importing_as(&ws.registry);
    let ignores = Ignores::from_texts(&ws.root, &ignores);
    ws.under_rules(policy, registry, ignores)
}

fn change(ws: &Workspace) -> Option<RejectedChange> {
    store::read_json(&path_of_rejected(ws), MAX_KEPT)
}

/// Reads kept rules. Returns `None` if the file is missing or has been changed.
fn read(ws: &Workspace, digest: &str) -> Option<RuleTexts> {
    let bytes = store::read_capped(&path_of_kept_rules(ws, digest), MAX_KEPT).ok()??;
    (store::sha256(&bytes) == digest).then(|| serde_json::from_slice(&bytes).ok())?
}

fn folder(ws: &Workspace) -> PathBuf {
    ws.root.private().join("rules")
}

fn path_of_kept_rules(ws: &Workspace, digest: &str) -> PathBuf {
    folder(ws).join(format!("{digest}.json"))
}

fn path_of_rejected(ws: &Workspace) -> PathBuf {
    folder(ws).join("rejected.json")
}
