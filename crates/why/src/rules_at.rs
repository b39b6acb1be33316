//! The rules of a workspace in the index or at a commit: its policy, and which paths
//! agents may not change.

use ground::git::{GitError, Target};
use ground::{
    Finding, Git, IGNORE_FILES, Ignores, LayeredPolicy, POLICY, Policy, RelativePath, Root,
};

/// Returns true if the index or a commit has a workspace, even if nobody has written an intent or a
/// policy yet.
pub fn is_governed_at(git: &Git, target: &Target) -> Result<bool, GitError> {
    Ok(!git.blobs(target, &[ORCHESTRATION])?.is_empty())
}

const ORCHESTRATION: &str = ".orchestration";

pub fn policy_at(git: &Git, target: &Target) -> Result<Option<(Policy, Vec<Finding>)>, GitError> {
    let path = RelativePath::new(POLICY).expect("a fixed name is a path");
    let read = |path: &RelativePath| {
        let text = git.text(target, path).map_err(|_| "cannot be read".to_owned())?;
        Ok(text.map(String::into_bytes))
    };
    let layered =
        git.text(target, &path)?.map(|text| LayeredPolicy::from_text(&path, &text, &read));
    Ok(layered.map(|layered| (layered.policy, layered.findings)))
}

/// The default path of the file with the findings that `intent check --baseline` leaves out.
pub const KNOWN_FINDINGS: &str = ".orchestration/baseline.json";

pub fn ignores_at(root: &Root, git: &Git, target: &Target) -> Result<Ignores, GitError> {
    let mut texts = Vec::new();
    for name in IGNORE_FILES {
        let path = RelativePath::new(name).expect("a fixed name is a path");
        if let Some(text) = git.text(target, &path)? {
            texts.push((path, text));
        }
    }
    Ok(Ignores::from_texts(root, &texts))
}
