//! Anchors: who vouched, and when, that evidence stood there.
//!
//! `.orchestration/anchors/<digest>.json` is one signed line, named by the first 128 bits of the SHA-256 of its bytes, so
//! that branches which both anchor never change the same file. It names the sections of evidence that no anchor before
//! it vouched for, and those anchors: together they name all.

use serde::{Deserialize, Serialize};

use super::evidence::Digest;
use super::signed;
use crate::workspace::{RelativePath, Root, store};

/// What anchors are signed for, so that no signature made for anything else passes as one.
pub const NAMESPACE: &str = "intent-anchor";

/// Where they stand.
pub const FOLDER: &str = ".orchestration/anchors";

/// The version of the format.
pub const FORMAT: u32 = 1;

/// A larger file, in bytes, was not written by us.
const MAX: u64 = 64 * 1024 * 1024;

/// What an anchor says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// [`FORMAT`].
    pub anchor: u32,
    /// The commit that was signed, as hex.
    pub commit: String,
    /// When, RFC 3339 in UTC, in whole seconds; a claim of whoever signed.
    pub time: String,
    /// The anchors that it builds on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The digests of the sections of evidence that stood in the commit and that no anchor of `after` vouches for, sorted.
    pub evidence: Vec<String>,
    /// What earlier anchors name and the signer knows to be gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
}

/// A file below [`FOLDER`].
#[derive(Clone, Debug)]
pub struct Stored {
    /// Relative to the workspace.
    pub path: RelativePath,
    /// What its name says.
    pub digest: Option<Digest>,
    /// What is signed.
    pub signed: Vec<u8>,
    /// The signature, in base64.
    pub signature: Option<String>,
    /// What it says; `None` where it is not what its name says, or cannot be read.
    pub anchor: Option<Anchor>,
}

/// Where an anchor of these bytes belongs.
pub fn path_of(bytes: &[u8]) -> RelativePath {
    RelativePath::new(&format!("{FOLDER}/{}.json", Digest::of(bytes)))
        .expect("a fixed folder and a digest are a path")
}

/// Whether a path is one of an anchor.
pub fn is_anchor(path: &RelativePath) -> bool {
    let below = path.as_str().strip_prefix(FOLDER).and_then(|below| below.strip_prefix('/'));
    below.is_some_and(|name| name.ends_with(".json") && !name.contains('/'))
}

/// Reads one.
pub fn read(path: RelativePath, bytes: &[u8]) -> Stored {
    let name = path.as_str().rsplit('/').next().and_then(|name| name.strip_suffix(".json"));
    let digest = name.and_then(Digest::parse);
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let (signed, signature) = signed::split(line);
    let is_sound = digest == Some(Digest::of(bytes)) && super::strict::has_unique_keys(line);
    let anchor = serde_json::from_slice::<Anchor>(&signed).ok();
    let is_known = |anchor: &Anchor| anchor.anchor == FORMAT;
    Stored {
        anchor: anchor.filter(|anchor| is_sound && is_known(anchor)),
        signature: signature.map(str::to_owned),
        path,
        digest,
        signed,
    }
}

/// Those of a work tree, by name.
pub fn in_work_tree(root: &Root) -> Vec<Stored> {
    let Ok(folder) = RelativePath::new(FOLDER) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(root.absolute(&folder)) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let paths = names.filter_map(|name| RelativePath::new(&format!("{FOLDER}/{name}")).ok());
    let mut paths: Vec<RelativePath> = paths.filter(is_anchor).collect();
    paths.sort();
    let file = |path: RelativePath| {
        let bytes = store::read_capped(&root.absolute(&path), MAX).ok().flatten();
        read(path, &bytes.unwrap_or_default())
    };
    paths.into_iter().map(file).collect()
}
