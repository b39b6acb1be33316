//! Whose signatures count. The keys are those that the target branch lists, and those of the machine; making and checking
//! a signature starts a program, so a face does that, and only on a person's command or in CI.

use super::{VerbError, Workspace, tips};
use crate::workspace::{CommitId, Policy, RelativePath};

/// Where people's keys are listed, unless the policy names another file.
const SIGNERS: &str = ".orchestration/allowed_signers";

/// What was signed.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// For what: `intent-anchor`.
    pub namespace: &'a str,
    /// The bytes.
    pub bytes: &'a [u8],
    /// The signature, in base64.
    pub signature: &'a str,
}

/// What a signature is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It is that of a trusted key, whose list calls its owner so.
    By(String),
    /// It fits, and the key is nobody's whom we trust.
    Untrusted,
    /// It does not fit what was signed.
    Bad,
    /// Nobody looked.
    Unchecked,
}

/// Checks signatures.
pub trait Signatures {
    /// Given the trusted keys in the format of OpenSSH's `allowed_signers`, to which those of the machine are added. An
    /// error where the program for it is not there.
    fn judge(&self, signed: Signed<'_>, signers: &str) -> Result<Judged, VerbError>;
}

/// For faces that start no program.
pub struct Nobody;

impl Signatures for Nobody {
    fn judge(&self, _: Signed<'_>, _: &str) -> Result<Judged, VerbError> {
        Ok(Judged::Unchecked)
    }
}

/// The keys that a commit trusts: the file that its policy names.
pub fn signers_at(ws: &Workspace, commit: Option<&CommitId>) -> Result<String, VerbError> {
    let (Some(git), Some(commit)) = (ws.git(), commit) else { return Ok(String::new()) };
    let text = |path: &RelativePath| -> Result<Option<String>, VerbError> {
        let bytes = git.file_at(commit, path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let policy = RelativePath::new(".orchestration/policy.yaml")?;
    let rules = text(&policy)?.map(|text| Policy::parse(&policy, &text).0).unwrap_or_default();
    let named = rules.allowed_signers.as_deref().unwrap_or(SIGNERS);
    Ok(text(&RelativePath::new(named)?)?.unwrap_or_default())
}

/// The keys that the branch trusts into which work here is merged: the protected branch of a remote, or what is checked
/// out where there is none. Never those of the work tree.
pub fn signers(ws: &Workspace) -> Result<String, VerbError> {
    signers_at(ws, tips::target(ws).as_ref().or(ws.head()))
}
