//! A seal marks the files that this clone wrote for its own use, so that a file of the same form
//! from elsewhere is not accepted.
//!
//! The key is in the git directory. Whoever can read the key can make seals as well. So a seal only
//! tells our files from those that a stray program, or an agent's file tool, created; it is not a
//! protection against an attacker with access to the git directory.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Root;
use super::store::{self, StoreError};
use code::hex;

#[derive(Serialize, Deserialize)]
pub(super) struct SealedContent<T> {
    #[serde(flatten)]
    pub value: T,
    pub seal: String,
}

/// The length of the key, in hexadecimal digits.
const KEY: usize = 64;

/// Returns the seal of these parts, in hexadecimal. Creates the key if there is none.
pub fn seal(root: &Root, parts: &[&str]) -> Result<String, StoreError> {
    if let Some(key) = key(root) {
        return Ok(seal_with_key(&key, parts));
    }
    let file = root.private().join("seal.key");
    let random = || uuid::Uuid::new_v4().simple().to_string();
    if root.git_dir().is_none() {
        // Without git, the key is in `.orchestration/local/`, which must never be committed.
        super::local_files::local(root)?;
    }
    let made = format!("{}{}", random(), random());
    if !store::create_new(&file, made.as_bytes())? && key(root).is_none() {
        store::write_atomic(&file, made.as_bytes())?;
    }
    // If several processes create a key at once, the key on disk counts.
    Ok(seal_with_key(&key(root).unwrap_or(made), parts))
}

pub(crate) fn is_valid(root: &Root, parts: &[&str], seal: &str) -> bool {
    key(root).is_some_and(|key| seal_with_key(&key, parts) == seal)
}

/// Returns the SHA-256 of the parts in hexadecimal. The length of each part is hashed too, so that
/// two different lists of parts never give the same input.
pub(crate) fn digest_of(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize())
}

fn seal_with_key(key: &str, parts: &[&str]) -> String {
    digest_of(&["intent-seal/1", key, &digest_of(parts)])
}

fn key(root: &Root) -> Option<String> {
    let bytes = store::read_capped(&root.private().join("seal.key"), KEY as u64).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    (text.len() == KEY && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(text)
}
