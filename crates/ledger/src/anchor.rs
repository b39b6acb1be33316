//! Anchors. An anchor is a signed list of the evidence that a commit held, so that its later
//! removal can be detected.
//!
//! An anchor is a file `.orchestration/anchors/<digest>.json` that holds one signed line. The
//! digest in its name is the first 128 bits of the SHA-256 of its bytes, so two branches that both
//! add an anchor never change the same file. An anchor lists the sections of evidence that no
//! earlier anchor lists, and the anchors that it builds on. Together the anchors list all evidence.

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::signed;
use ground::{RelativePath, Root, store};

/// The namespace of the SSH signature. A signature that was made in another namespace does not
/// count for an anchor.
pub const NAMESPACE: &str = "intent-anchor";

pub const FOLDER: &str = ".orchestration/anchors";

pub const FORMAT: u32 = 1;

/// A larger file, in bytes, was not written by us.
const MAX: u64 = 64 * 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    pub anchor: u32,
    /// The commit that was signed, as hex.
    pub commit: String,
    /// When it was signed: RFC 3339 in UTC, in whole seconds. The signer says so; nothing proves
    /// it.
    pub time: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The digests of the sections of evidence that the commit held and that no anchor of `after`
    /// lists, sorted.
    pub evidence: Vec<String>,
    /// Digests that earlier anchors list and that the signer accepts as removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Stored {
    pub path: RelativePath,
    pub digest: Option<Digest>,
    pub signed: Vec<u8>,
    pub signature: Option<String>,
    /// The content. `None` if the digest of the bytes differs from the one in the file name, or if
    /// they cannot be parsed.
    pub anchor: Option<Anchor>,
}

pub fn path_of(bytes: &[u8]) -> RelativePath {
    RelativePath::new(&format!("{FOLDER}/{}.json", Digest::compute(bytes)))
        .expect("a fixed folder and a digest are a path")
}

pub fn is_anchor(path: &RelativePath) -> bool {
    let below = path.as_str().strip_prefix(FOLDER).and_then(|below| below.strip_prefix('/'));
    below.is_some_and(|name| name.ends_with(".json") && !name.contains('/'))
}

pub fn read(path: RelativePath, bytes: &[u8]) -> Stored {
    let name = path.as_str().rsplit('/').next().and_then(|name| name.strip_suffix(".json"));
    let digest = name.and_then(Digest::parse);
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let (signed, signature) = signed::split(line);
    let is_sound = digest == Some(Digest::compute(bytes)) && super::strict::has_unique_keys(line);
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

/// Reads the anchors of a work tree, sorted by name.
pub fn in_work_tree(root: &Root) -> Vec<Stored> {
    let Ok(folder) = RelativePath::new(FOLDER) else { return Vec::new() };
    let entries = store::entries(&root.absolute(&folder));
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let paths = names.filter_map(|name| RelativePath::new(&format!("{FOLDER}/{name}")).ok());
    let mut paths: Vec<RelativePath> = paths.filter(is_anchor).collect();
    paths.sort();
    let file = |path: RelativePath| {
        let bytes = store::read_capped(&root.absolute(&path), MAX).ok().flatten();
        read(path, &bytes.unwrap_or_default())
    };
    paths.into_iter().map(file).collect()
}
