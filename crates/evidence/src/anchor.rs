//! *Anchor*: a person or CI signs a list of the evidence in a commit. If any of the listed evidence
//! is removed later, `intent evidence verify` reports it, even if the history of the repository was
//! rewritten.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::signing::{self, SignatureCheck, Signatures, Signed};
use ground::clock;
use ground::git::Target;
use ground::git::short_id;
use ground::text::counted;
use ground::{Code, Finding, RelativePath, store};
use ledger::anchor::{self, Anchor, FORMAT, NAMESPACE, Stored};
use ledger::{Digest, signed};
use why::{VerbError, Workspace};

/// How much of the evidence anchors vouch for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnchorsAnswer {
    /// How many sections of evidence there are.
    pub sections: usize,
    /// How many of them are in an anchor with a trusted signature.
    pub anchored: usize,
    /// For each signer, how many sections they vouch for.
    pub by: Vec<AnchoredBy>,
    /// Anchors signed with a key that is not trusted. They do not count.
    pub untrusted: Vec<RelativePath>,
}

/// The evidence that one signer vouches for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnchoredBy {
    /// The signer's name in the list of trusted keys.
    pub signer: String,
    /// How many sections of evidence the signer vouches for.
    pub sections: usize,
    /// When the signer last signed, according to the anchor: RFC 3339 in UTC.
    pub time: String,
    /// The commit that the newest anchor of the signer names.
    pub commit: String,
}

/// A new anchor, as it was written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnchorAnswer {
    /// The file of the anchor.
    pub path: RelativePath,
    /// The commit whose evidence the anchor lists.
    pub commit: String,
    /// How many sections of evidence the anchor lists. Sections that an earlier anchor lists are
    /// left out.
    pub sections: usize,
    /// How many sections of evidence the commit holds in all.
    pub of: usize,
    /// How many sections and anchors, listed by earlier anchors and missing now, the anchor accepts
    /// as removed.
    pub gone: usize,
    /// Whether the key that signed it is trusted. Until it is, the anchor does not count.
    pub trusted: bool,
}

/// The anchors of a workspace, sorted by whether their signatures are valid and trusted.
#[derive(Default)]
struct Anchors {
    trusted: Vec<(Stored, Anchor, String)>,
    untrusted: Vec<RelativePath>,
    findings: Vec<Finding>,
    unchecked: bool,
}

impl Anchors {
    fn from_workspace(ws: &Workspace, signatures: &dyn Signatures) -> Result<Self, VerbError> {
        let mut all = Self::default();
        let stored = anchor::in_work_tree(&ws.root);
        let signers = if stored.is_empty() { String::new() } else { signing::signers(ws)? };
        for one in stored {
            let (Some(said), Some(signature)) = (one.anchor.clone(), one.signature.as_deref())
            else {
                all.findings
                    .push(broken_anchor(&one, "is not what its name says, or cannot be read"));
                continue;
            };
            let what = Signed { namespace: NAMESPACE, bytes: &one.signed, signature };
            match signatures.judge(what, &signers)? {
                SignatureCheck::By(signer) => all.trusted.push((one, said, signer)),
                SignatureCheck::Untrusted => all.untrusted.push(one.path),
                SignatureCheck::Bad => {
                    all.findings.push(broken_anchor(&one, "does not fit its signature"));
                }
                SignatureCheck::Unchecked => all.unchecked = true,
            }
        }
        Ok(all)
    }

    fn digests_with_anchor(&self) -> BTreeMap<&str, &(Stored, Anchor, String)> {
        let mut named: BTreeMap<&str, &(Stored, Anchor, String)> = BTreeMap::new();
        for one in &self.trusted {
            for digest in one.1.evidence.iter().chain(&one.1.after) {
                let known = named.entry(digest).or_insert(one);
                if known.1.time < one.1.time {
                    *known = one;
                }
            }
        }
        named
    }

    fn missing_digests(
        &self,
        stands: &HashSet<String>,
    ) -> BTreeMap<&str, &(Stored, Anchor, String)> {
        let given_up: HashSet<&str> =
            self.trusted.iter().flat_map(|(_, said, _)| &said.gone).map(String::as_str).collect();
        let mut missing = self.digests_with_anchor();
        missing.retain(|digest, _| !stands.contains(*digest) && !given_up.contains(digest));
        missing
    }
}

fn broken_anchor(stored: &Stored, what: &str) -> Finding {
    let path = &stored.path;
    let typed = path.for_shell();
    let message = format!("The anchor {path} {what}, so it vouches for nothing.");
    let help = format!(
        "Restore it: `git checkout HEAD -- {typed}`. If it was committed like this, remove it with `git rm {typed}`, and let a person make a new one: `intent evidence anchor`."
    );
    Finding { path: Some(path.clone()), ..Finding::new(Code::AnchorBroken, message, help) }
}

/// Returns the digests that anchors may list and that exist now: those of sections of evidence, and
/// those of anchors.
fn digests_that_stand(
    sections: impl IntoIterator<Item = Digest>,
    anchors: &[Stored],
) -> HashSet<String> {
    let anchors = anchors.iter().filter_map(|one| one.digest);
    sections.into_iter().chain(anchors).map(|digest| digest.to_string()).collect()
}

/// Says which sections anchors vouch for, and what is wrong with anchors. The answer is `None` if
/// no program checks signatures or if there is no anchor.
pub fn verify(
    ws: &Workspace,
    sections: &HashSet<Digest>,
    signatures: &dyn Signatures,
) -> Result<(Option<AnchorsAnswer>, Vec<Finding>), VerbError> {
    let all = Anchors::from_workspace(ws, signatures)?;
    let is_none = all.trusted.is_empty() && all.untrusted.is_empty();
    if all.unchecked || is_none {
        return Ok((None, all.findings));
    }
    let stands = digests_that_stand(sections.iter().copied(), &anchor::in_work_tree(&ws.root));
    let mut by: BTreeMap<&str, AnchoredBy> = BTreeMap::new();
    for (_, said, signer) in &all.trusted {
        let one = by.entry(signer).or_default();
        one.signer.clone_from(signer);
        if one.time < said.time {
            (one.time, one.commit) = (said.time.clone(), said.commit.clone());
        }
    }
    let mut anchored = 0;
    let named = all.digests_with_anchor();
    for digest in sections.iter().map(ToString::to_string) {
        let Some((_, _, signer)) = named.get(digest.as_str()) else { continue };
        anchored += 1;
        by.entry(signer).and_modify(|one| one.sections += 1);
    }
    let mut lost: BTreeMap<&RelativePath, (Vec<&str>, &Anchor, &str)> = BTreeMap::new();
    for (digest, (stored, said, signer)) in all.missing_digests(&stands) {
        lost.entry(&stored.path).or_insert((Vec::new(), said, signer)).0.push(digest);
    }
    let mut findings = all.findings.clone();
    findings.extend(lost.into_iter().map(|(path, (digests, said, signer))| {
        let commit = short_id(&said.commit);
        let is_anchor = |digest: &&str| said.after.iter().any(|after| after == digest);
        let folder = match digests.iter().all(is_anchor) {
            true => ".orchestration/anchors",
            false => ".orchestration/agent_trace",
        };
        let message = format!(
            "{signer} vouched on {} for evidence that is gone: {}, {} among them.",
            said.time,
            counted(digests.len(), "section or anchor"),
            digests[0]
        );
        let help = format!(
            "Restore it: `git checkout {commit} -- {folder}`, and commit what that brings back. If its code was removed too, let a person accept that: `intent evidence anchor --accept-gone`."
        );
        Finding { path: Some(path.clone()), ..Finding::new(Code::AnchorBroken, message, help) }
    }));
    let answer = AnchorsAnswer {
        sections: sections.len(),
        anchored,
        by: by.into_values().collect(),
        untrusted: all.untrusted.clone(),
    };
    Ok((Some(answer), findings))
}

/// Makes the line to be signed. Returns an error if there is nothing new to sign, or if something
/// that anchors list is gone and `accept_gone` is false.
pub fn draft(
    ws: &Workspace,
    signatures: &dyn Signatures,
    accept_gone: bool,
) -> Result<(Anchor, Vec<u8>), VerbError> {
    ws.governed()?;
    let refuse = |reason: &str| VerbError::refused(format!("nothing was anchored: {reason}"));
    let head = ws.head().cloned().ok_or_else(|| refuse("there is no commit yet"))?;
    let sections: BTreeSet<Digest> =
        ws.ledger_at(&Target::Commit(head.clone()))?.sections().into_iter().collect();
    let all = Anchors::from_workspace(ws, signatures)?;
    if let Some(finding) = all.findings.first() {
        return Err(refuse(&format!("{} {}", finding.message, finding.help)));
    }
    let stands = digests_that_stand(sections.iter().copied(), &anchor::in_work_tree(&ws.root));
    let missing: Vec<String> =
        all.missing_digests(&stands).into_keys().map(str::to_owned).collect();
    if !missing.is_empty() && !accept_gone {
        return Err(VerbError::mendable(
            "nothing was anchored: earlier anchors name evidence that is gone",
            "`intent evidence verify` says which and how to restore it. If its code was removed too: `intent evidence anchor --accept-gone`",
        ));
    }
    if sections.is_empty() && missing.is_empty() {
        return Err(VerbError::mendable(
            "nothing was anchored: this commit holds no evidence",
            "record something first",
        ));
    }
    let named = all.digests_with_anchor();
    let unnamed = |digest: &String| !named.contains_key(digest.as_str());
    let evidence: Vec<String> = sections.iter().map(ToString::to_string).filter(unnamed).collect();
    if evidence.is_empty() && missing.is_empty() {
        return Err(refuse("anchors vouch for all evidence of this commit already"));
    }
    let after = all.trusted.iter().filter_map(|(stored, ..)| Some(stored.digest?.to_string()));
    let anchor = Anchor {
        anchor: FORMAT,
        commit: head.0,
        time: clock::now_in_seconds(),
        after: after.filter(unnamed).collect(),
        evidence,
        gone: missing,
    };
    let line = serde_json::to_vec(&anchor).expect("plain data always serialises");
    Ok((anchor, line))
}

pub fn write(
    ws: &Workspace,
    (anchor, line): &(Anchor, Vec<u8>),
    signature: &str,
    signatures: &dyn Signatures,
) -> Result<AnchorAnswer, VerbError> {
    let mut bytes = signed::join(line, signature);
    bytes.push(b'\n');
    let path = anchor::path_of(&bytes);
    store::write_atomic(&ws.root.absolute(&path), &bytes)?;
    let trusted = !Anchors::from_workspace(ws, signatures)?.untrusted.contains(&path);
    let head = ws.head().cloned();
    let of = head.map(|head| ws.ledger_at(&Target::Commit(head))).transpose()?;
    Ok(AnchorAnswer {
        path,
        commit: anchor.commit.clone(),
        sections: anchor.evidence.len(),
        of: of.map_or(0, |ledger| ledger.sections().len()),
        gone: anchor.gone.len(),
        trusted,
    })
}
