//! A mark on what this clone wrote for itself, so that a file which merely looks like one of ours is none.
//!
//! The key lies in the git directory. Whoever can read that can make seals as well: this tells our files from those
//! that a stray program, or an agent's file tool, put there. It is no lock.

use sha2::{Digest, Sha256};

use super::Root;
use super::store::{self, StoreError};

/// The key's length in hexadecimal digits.
const KEY: usize = 64;

/// The seal of these parts, in hexadecimal; makes the key at first need.
pub(crate) fn seal(root: &Root, parts: &[&str]) -> Result<String, StoreError> {
    if let Some(key) = key(root) {
        return Ok(sealed(&key, parts));
    }
    let file = root.private().join("seal.key");
    let random = || uuid::Uuid::new_v4().simple().to_string();
    if root.git_dir().is_none() {
        // Then what is private is `local/`, which must never be committed.
        super::session::local(root)?;
    }
    let made = format!("{}{}", random(), random());
    if !store::create_new(&file, made.as_bytes())? && key(root).is_none() {
        store::write_atomic(&file, made.as_bytes())?;
    }
    // Of several that made one at once, the one on disk holds.
    Ok(sealed(&key(root).unwrap_or(made), parts))
}

/// Whether this clone sealed these parts.
pub(crate) fn holds(root: &Root, parts: &[&str], seal: &str) -> bool {
    key(root).is_some_and(|key| sealed(&key, parts) == seal)
}

/// SHA-256 of parts, each with its length, in hexadecimal: no two lists of parts are read alike.
pub(crate) fn digest_of(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    store::hex(&hasher.finalize())
}

fn sealed(key: &str, parts: &[&str]) -> String {
    digest_of(&["intent-seal/1", key, &digest_of(parts)])
}

fn key(root: &Root) -> Option<String> {
    let bytes = store::read_capped(&root.private().join("seal.key"), KEY as u64).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    (text.len() == KEY && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(text)
}
