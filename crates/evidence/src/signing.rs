//! Decides whose signatures count: those made with a key that the target branch lists, or that the
//! machine's own list has.
//!
//! Making or checking a signature starts `ssh-keygen`. Verbs start no programs, so the caller
//! passes an implementation of [`Signatures`] that does; only a person's command or CI passes one.

use ground::git::Target;
use ground::{CommitId, IGNORE_FILES, POLICY, Policy, RelativePath};
use intents::Registry;
use ledger::Approved;
use why::rules_at::{KNOWN_FINDINGS, policy_at};
use why::{VerbError, Workspace, shared_branches};

/// The file with the keys of people, unless the policy names another one.
const SIGNERS: &str = ".orchestration/allowed_signers";

#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// The namespace of the signature, for example `intent-anchor`.
    pub namespace: &'a str,
    pub bytes: &'a [u8],
    pub signature: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureCheck {
    /// The signature is valid and made with a trusted key. Holds the name of the key's owner in the
    /// list of trusted keys.
    By(String),
    Untrusted,
    Bad,
    Unchecked,
}

pub trait Signatures {
    /// Checks a signature against trusted keys, in the format of OpenSSH's `allowed_signers`. The
    /// machine's own keys are added to them. It is an error if `ssh-keygen` cannot be started.
    fn judge(&self, signed: Signed<'_>, signers: &str) -> Result<SignatureCheck, VerbError>;
}

pub struct NoSignatureChecks;

impl Signatures for NoSignatureChecks {
    fn judge(&self, _: Signed<'_>, _: &str) -> Result<SignatureCheck, VerbError> {
        Ok(SignatureCheck::Unchecked)
    }
}

/// Returns true if a file contains rules: the policy, the ignore files for agents, the trusted
/// keys, or the list of known findings.
pub fn is_rule(policy: &Policy, path: &RelativePath) -> bool {
    let signers = policy.allowed_signers.as_deref().unwrap_or(SIGNERS);
    let is_below = policy.extended_file().as_ref() == Some(path);
    let path = path.as_str();
    let fixed = [POLICY, KNOWN_FINDINGS];
    fixed.contains(&path) || path == signers || is_below || IGNORE_FILES.contains(&path)
}

/// Returns the hash of an intent or a file in the index or at a commit, in the form that approvals
/// use.
pub fn hash_at(ws: &Workspace, target: &Target, what: &str) -> Result<String, VerbError> {
    let nothing = || Approved::NOTHING.to_owned();
    let Some(git) = ws.git() else { return Ok(nothing()) };
    if let Some(intent) = Registry::at_target(git, target)?.get(what) {
        return Ok(intent.hash());
    }
    let Ok(path) = RelativePath::new(what) else { return Ok(nothing()) };
    let bytes = git.file(target, &path)?;
    Ok(bytes.map_or_else(nothing, |bytes| Approved::hash_of(&bytes)))
}

/// Returns the tip of the branch into which this work will be merged. This is a protected branch of a
/// remote. If no remote has one, it is the protected branch of this repository, such as `main`, and
/// `HEAD` if that is missing as well.
pub fn accepting(ws: &Workspace) -> Option<CommitId> {
    let target = ws.git().and_then(|git| {
        let of_remote = shared_branches::target(&ws.policy, git);
        of_remote.or_else(|| shared_branches::local_target(&ws.policy, git))
    });
    target.or_else(|| ws.head().cloned())
}

pub fn signers_at(ws: &Workspace, commit: Option<&CommitId>) -> Result<String, VerbError> {
    let (Some(git), Some(commit)) = (ws.git(), commit) else { return Ok(String::new()) };
    let target = Target::Commit(commit.clone());
    let policy = policy_at(git, &target)?.map(|(policy, _)| policy).unwrap_or_default();
    let named = policy.allowed_signers.as_deref().unwrap_or(SIGNERS);
    Ok(git.text(&target, &RelativePath::new(named)?)?.unwrap_or_default())
}

/// Returns the keys that are trusted by the branch into which this work will be merged. Keys in the
/// work tree are never used, since the author who is checked may have changed them.
pub fn signers(ws: &Workspace) -> Result<String, VerbError> {
    signers_at(ws, accepting(ws).as_ref())
}
