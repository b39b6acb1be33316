//! Everyday commands of git that lose nothing which somebody else made: a push with lease to an own
//! branch, the restoration of a file that the session knows, and the rebase of an own branch that is
//! on no server. Unless the policy says `everyday_git: ask`, a person is not asked about them.
//!
//! What cannot be told from the text of the command and the state of the repository is not everyday.

use std::path::Path;

use crate::earlier;
use crate::seen_blocks::{self, KnownBlocks};
use ground::git::Git;
use ground::policy::EverydayGit;
use ground::session::calls::{EarlierContent, FileBefore};
use ground::session::seen::{self, SeenExtent};
use shell::{Class, Invocation, Prediction};
use why::{Workspace, shared_branches};

/// The maximum number of commits of a branch on a server that are looked at.
const MAX_COMMITS: usize = 500;

pub(super) struct JudgedCommand<'a> {
    pub(super) ws: &'a Workspace,
    pub(super) actor: &'a str,
    pub(super) text: &'a str,
    pub(super) reading: &'a Prediction,
    /// The files of the workspace that the command names.
    pub(super) files: Vec<&'a FileBefore>,
}

impl JudgedCommand<'_> {
    pub(super) fn is_everyday(&self, command: &Invocation) -> bool {
        if self.ws.policy.everyday_git == EverydayGit::Ask
            || !command.via.is_empty()
            || !self.is_of_this_repository()
        {
            return false;
        }
        let Some(git) = self.ws.git() else { return false };
        let words: Vec<&str> = command.words.iter().skip(2).map(String::as_str).collect();
        match command.rule.as_str() {
            "git.restore" | "git.checkout-path" => self.restores_what_is_known(command),
            "git.push-lease" => {
                self.stays_on_branch_until(command) && pushes_own_branch(self.ws, git, &words)
            }
            "git.rebase" => {
                self.stays_on_branch_until(command) && rebases_own_branch(self.ws, git, &words)
            }
            _ => false,
        }
    }

    fn is_of_this_repository(&self) -> bool {
        let is_editor = |at: usize| {
            let name = &self.text[at..];
            name.starts_with("GIT_EDITOR") || name.starts_with("GIT_SEQUENCE_EDITOR")
        };
        let is_inside = |folder: &String| Path::new(folder).starts_with(self.ws.root.path());
        self.text.match_indices("GIT_").all(|(at, _)| is_editor(at))
            && !self.reading.folders.is_empty()
            && self.reading.folders.iter().all(is_inside)
    }

    /// Returns true if nothing that runs before a command of the text changes which branch is checked
    /// out.
    fn stays_on_branch_until(&self, command: &Invocation) -> bool {
        let stays = |command: &Invocation| {
            let verb = command.words.get(1).map_or("", String::as_str);
            command.class == Class::Read
                || command.program.as_deref() == Some("git")
                    && command.via.is_empty()
                    && ["add", "commit", "fetch", "push", "rebase", "stash"].contains(&verb)
        };
        let repeats = ["for ", "while ", "until "].iter().any(|word| self.text.contains(word));
        let commands = self.reading.commands.iter();
        commands.take_while(|one| repeats || *one != command).all(stays)
    }

    fn restores_what_is_known(&self, command: &Invocation) -> bool {
        let [folder] = self.reading.folders.as_slice() else { return false };
        let Some(paths) = shell::restored_by(command) else { return false };
        let file = |path: &&str| {
            let path = self.ws.path(self.ws.root.path(), &Path::new(folder).join(path)).ok()?;
            let path = self.ws.root.resolve(&path).ok()?;
            self.files.iter().find(|file| file.path == path)
        };
        let is_known =
            |path| file(path).is_some_and(|file| is_loss_known(self.ws, self.actor, file));
        !paths.is_empty() && paths.iter().all(is_known)
    }
}

/// Returns true if the session knows every block in which a file differs from the commit, so that it
/// knows what is lost when git restores the file.
pub(super) fn is_loss_known(ws: &Workspace, actor: &str, before: &FileBefore) -> bool {
    // Git reads a path as a pattern: `git restore 'src/*'` restores all of them.
    let path = before.path.as_str();
    if path.starts_with(':') || path.contains(['*', '?', '[', '\\']) {
        return false;
    }
    let head = ws.head().cloned().map(EarlierContent::Commit);
    let paths = std::slice::from_ref(&before.path);
    let is_committed = |head| earlier::are_as_before(ws, paths, &[head]) == [Some(true)];
    if before.hash.is_none() || head.is_some_and(is_committed) {
        return true;
    }
    let Some(seen) = seen::last_seen_state(&ws.root, actor, &before.path) else { return false };
    if seen.extent == SeenExtent::File && seen.hash == before.hash {
        return true;
    }
    let committed =
        ws.git().zip(ws.head()).and_then(|(git, head)| git.file_at(head, &before.path).ok()?);
    let committed = committed.and_then(|bytes| String::from_utf8(bytes).ok());
    let pieces = |text: &str| seen_blocks::pieces_of(&before.path, text);
    let committed = committed.as_deref().and_then(pieces);
    let now = before.text.as_deref().and_then(pieces);
    let known = KnownBlocks::from_seen(&seen);
    let (Some(committed), Some(now), Some(known)) = (committed, now, known) else { return false };
    committed.touched(&now).is_disjoint(&known.changed(&now, true))
}

/// Returns true if `git push --force-with-lease` with these arguments changes only the branch that is
/// checked out, which belongs to nobody else, and loses only commits of the same author.
fn pushes_own_branch(ws: &Workspace, git: &Git, words: &[&str]) -> bool {
    let Some(branch) = own_branch(ws, git) else { return false };
    let is_plain = |word: &str| {
        ["-q", "--quiet", "-v", "--verbose", "-u", "--set-upstream", "--force-if-includes"]
            .contains(&word)
            || word.starts_with("--force-with-lease")
    };
    let (options, operands): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.starts_with('-'));
    if !options.into_iter().all(is_plain) {
        return false;
    }
    let configured = |key: &str| git.configured(key);
    let remote = match operands.first() {
        Some(remote) => (*remote).to_owned(),
        None => configured(&format!("branch.{branch}.pushRemote"))
            .or_else(|| configured("remote.pushDefault"))
            .or_else(|| configured(&format!("branch.{branch}.remote")))
            .unwrap_or_else(|| "origin".to_owned()),
    };
    let is_own_end =
        |name: &str| name == "HEAD" || name.strip_prefix("refs/heads/").unwrap_or(name) == branch;
    let names_only_own = match operands.get(1..).filter(|specs| !specs.is_empty()) {
        Some(specs) => specs.iter().all(|spec| spec.split(':').all(is_own_end)),
        None => {
            let merges = configured(&format!("branch.{branch}.merge"));
            let default = configured("push.default");
            merges.is_none_or(|name| is_own_end(&name))
                && default.is_none_or(|how| how != "matching")
                && configured(&format!("remote.{remote}.push")).is_none()
        }
    };
    let is_remote = configured(&format!("remote.{remote}.url")).is_some()
        && configured(&format!("remote.{remote}.mirror")).is_none();
    names_only_own && is_remote && loses_only_own_commits(ws, git, &format!("{remote}/{branch}"))
}

fn loses_only_own_commits(ws: &Workspace, git: &Git, tracking: &str) -> bool {
    let Some(head) = ws.head() else { return false };
    let tips = git.remote_branches().unwrap_or_default();
    let Some((_, tip)) = tips.iter().find(|(name, _)| name == tracking) else { return true };
    let Ok(own) = git.author(head) else { return false };
    let Ok(lost) = git.commits_between(&[head], tip, MAX_COMMITS) else { return false };
    let is_own = |commit| git.author(commit).is_ok_and(|author| author == own);
    lost.len() < MAX_COMMITS && lost.iter().all(is_own)
}

/// Returns true if `git rebase` with these arguments rewrites only the branch that is checked out,
/// which no server has.
fn rebases_own_branch(ws: &Workspace, git: &Git, words: &[&str]) -> bool {
    const PLAIN: &str = "
        -q --quiet -v --verbose --stat --no-stat -i --interactive --autosquash --no-autosquash --autostash
        --no-autostash --keep-base -r --rebase-merges --fork-point --no-fork-point --root
    ";
    let Some(branch) = own_branch(ws, git) else { return false };
    let mut words = words.iter();
    let mut operands = 0;
    while let Some(word) = words.next() {
        match *word {
            "--onto" => {
                words.next();
            }
            word if word.starts_with("--onto=") => {}
            word if word.starts_with('-') => {
                if !PLAIN.split_whitespace().any(|plain| plain == word) {
                    return false;
                }
            }
            _ => operands += 1,
        }
    }
    // A second operand names another branch.
    let is_on_server = |(name, _): &(String, _)| {
        name.split_once('/').is_some_and(|(_, of_remote)| of_remote == branch)
    };
    operands < 2 && git.remote_branches().is_ok_and(|tips| !tips.iter().any(is_on_server))
}

fn own_branch(ws: &Workspace, git: &Git) -> Option<String> {
    git.branch().filter(|branch| !shared_branches::is_shared(&ws.policy, git, branch))
}
