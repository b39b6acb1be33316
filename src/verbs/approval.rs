//! *A person decides.* What waits for a decision, how it is put to them, and what follows from it.
//!
//! No verb here knows whether a person sits there: the faces see to that, and no tool or command for agents leads here.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::signing::{self, SignatureCheck, Signatures, Signed};
use super::{VerbError, Workspace, proposal, record, registry};
use crate::intent::{NewIntent, Status};
use crate::ledger::{Approved, Record, RecordKind, RecordedDecision, Strength};
use crate::workspace::RelativePath;
use crate::workspace::approvals::{
    self, Approval, ApprovalError, ApprovalState, AskedAct, Subject,
};
use crate::workspace::git::Target;
use crate::workspace::session::{self, Off};
use crate::workspace::text::shorten;

/// So much of a person's reason is recorded, in characters.
const MAX_REASON: usize = 200;

/// What a person said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalVerdict {
    /// Yes.
    Approve,
    /// No.
    Reject,
}

/// Where they said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionPlace {
    /// In a terminal of their own.
    Terminal,
    /// In a dialog of their editor.
    Dialog,
}

impl DecisionPlace {
    fn words(self) -> &'static str {
        match self {
            Self::Terminal => "at a terminal",
            Self::Dialog => "in the editor's dialog",
        }
    }
}

/// What was decided.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ApprovalAnswer {
    /// As it stands now.
    pub approval: Approval,
    /// What follows from it, in one sentence.
    pub done: String,
}

/// What waits for a person, oldest first.
pub(crate) fn list(ws: &Workspace) -> Result<Vec<Approval>, VerbError> {
    ws.governed()?;
    Ok(approvals::pending(&ws.root))
}

/// What became of a question.
pub fn status(ws: &Workspace, code: &str) -> Result<Approval, VerbError> {
    ws.governed()?;
    let code = code.trim();
    let unknown = || ApprovalError::Unknown { code: shorten(code, 40) };
    Ok(approvals::get(&ws.root, code).ok_or_else(unknown)?)
}

/// What an agent is told when a person has to decide: how they do it, and what the agent does then.
pub fn told(approval: &Approval) -> String {
    let code = &approval.code;
    let then = match approval.subject {
        Subject::Call { .. } if approval.subject.kind() == "command" => {
            "then run the identical command again"
        }
        Subject::Call { .. } => "then make the same edit again",
        Subject::Switch { .. } => "then select the intent again",
        Subject::Scope { .. } => "then go on: the scope is wider at once",
        Subject::Intent { .. } => "then ask for the status of the code: it names the new intent",
        Subject::Lesson { .. } => "then record the same lesson again",
    };
    match approval.state {
        ApprovalState::Pending => format!(
            "A person has to decide this: code {code}. Ask the user to run `intent approve {code}` in a terminal of their own, or to click Approve in their editor, within 10 minutes; {then}. You cannot approve it yourself."
        ),
        ApprovalState::Denied => format!(
            "A person has said no to this (code {code}). Do not try it another way; ask the user what they want instead."
        ),
        ApprovalState::Approved => format!("A person has approved this (code {code}); {then}."),
        ApprovalState::Used => format!("A person approved this (code {code}), and it was used."),
        ApprovalState::Expired => {
            format!("Nobody decided {code} within 10 minutes; ask again if needed.")
        }
    }
}

/// A question as a person is shown it. All texts but the labels are others': escape them where they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Who wants what, up to the text itself: `codex:1 wants to run this command`.
    pub title: String,
    /// What exactly, whole: a command or a path; for a proposal a short name.
    pub exactly: String,
    /// What else there is to know: a label, and a text.
    pub details: Vec<(&'static str, String)>,
}

/// A question in a person's words.
pub fn question(approval: &Approval) -> Question {
    let (wants, exactly, mut details) = match &approval.subject {
        Subject::Call { acts, why, .. } => {
            let wants = match acts.as_slice() {
                [AskedAct::Run { .. }] => "run this command",
                [AskedAct::Write { .. }] => "write this file",
                [AskedAct::Delete { .. }] => "delete this file",
                [AskedAct::Move { .. }] => "move this file",
                _ => "do all of this in one call",
            };
            let because = (!why.is_empty()).then(|| ("asked because", why.clone()));
            (wants, told_acts(acts), because.into_iter().collect())
        }
        Subject::Switch { from, to } => {
            let from = from.clone().unwrap_or_else(|| "no intent".to_owned());
            ("work under another intent", to.clone(), vec![("instead of", from)])
        }
        Subject::Scope { intent, entries, reason } => {
            let mut details = labelled("adds", entries);
            details.push(("its reason", reason.clone()));
            ("widen the scope of an intent", intent.clone(), details)
        }
        Subject::Intent { name, scope, constraints, acceptance, reason } => {
            let mut details = labelled("owns", scope);
            details.extend(labelled("constraint", constraints));
            details.extend(labelled("done when", acceptance));
            details.push(("its reason", reason.clone()));
            ("start a new intent", name.clone(), details)
        }
        Subject::Lesson { text } => ("write down this lesson", text.clone(), Vec::new()),
    };
    details.push(("in", approval.cwd.clone()));
    Question { title: format!("{} wants to {wants}", approval.actor), exactly, details }
}

/// All that a call does, as a person reads it. What stands alone needs no word before it.
fn told_acts(acts: &[AskedAct]) -> String {
    let is_alone = acts.len() == 1;
    let told = |act: &AskedAct| {
        let before = |word: &str| if is_alone { String::new() } else { format!("{word} ") };
        match act {
            AskedAct::Run { command, folder: None } => format!("{}{command}", before("run")),
            AskedAct::Run { command, folder: Some(folder) } => {
                format!("{}{command}\n  in the folder {folder}", before("run"))
            }
            AskedAct::Write { path, change: Some(change), .. } => {
                format!("{}{path}\n{}", before("write"), change.trim_end_matches('\n'))
            }
            AskedAct::Write { path, .. } => {
                format!("{}{path}\n  with what nobody can foresee", before("write"))
            }
            AskedAct::Delete { path } => format!("{}{path}", before("delete")),
            AskedAct::Move { from, to } => format!("{}{from} to {to}", before("move")),
        }
    };
    acts.iter().map(told).collect::<Vec<_>>().join("\n")
}

fn labelled(label: &'static str, texts: &[String]) -> Vec<(&'static str, String)> {
    texts.iter().map(|text| (label, text.clone())).collect()
}

/// Decides a question, for a person: recorded first, then done.
pub fn decide(
    ws: &Workspace,
    code: &str,
    verdict: ApprovalVerdict,
    place: DecisionPlace,
) -> Result<ApprovalAnswer, VerbError> {
    ws.governed()?;
    let turn = approvals::turn(&ws.root)?;
    let asked = turn.pending(code)?;
    if verdict == ApprovalVerdict::Reject {
        append(ws, &asked, &note(&asked, "rejected", place), None)?;
        let approval = turn.settle(asked, ApprovalState::Denied)?;
        let done = format!("{} is rejected; nothing was changed.", approval.code);
        return Ok(ApprovalAnswer { approval, done });
    }
    // The registry may have changed since it was asked.
    let ws = &ws.reload();
    check_again(ws, &asked.subject)?;
    append(ws, &asked, &note(&asked, "approved", place), of_work(&asked))?;
    let (result, done) = carry_out(ws, &asked)?;
    let approval = turn.settle(Approval { result, ..asked }, ApprovalState::Approved)?;
    Ok(ApprovalAnswer { approval, done })
}

fn check_again(ws: &Workspace, subject: &Subject) -> Result<(), VerbError> {
    match subject {
        Subject::Scope { intent, entries, .. } => {
            ws.intent(intent)?;
            proposal::check_entries(entries)
        }
        Subject::Intent { scope, .. } => {
            ws.sound_registry()?;
            proposal::check_entries(scope)
        }
        Subject::Switch { to, .. } => ws.intent_in_progress(to).map(drop),
        Subject::Call { .. } | Subject::Lesson { .. } => Ok(()),
    }
}

/// Does what an approval is for, where that is for us to do: the intent it concerns, and a sentence.
fn carry_out(ws: &Workspace, asked: &Approval) -> Result<(Option<String>, String), VerbError> {
    match &asked.subject {
        Subject::Scope { intent, entries, .. } => {
            let held = ws.intent(intent)?.scope_entries();
            let missing: Vec<&String> =
                entries.iter().filter(|entry| !held.contains(&entry.as_str())).collect();
            for entry in &missing {
                registry::widen(ws, intent, entry)?;
            }
            let done = match missing.len() {
                0 => format!("{intent} owned it already; the registry is as it was."),
                _ => format!("{intent} owns {} from now on.", entries.join(", ")),
            };
            Ok((Some(intent.clone()), done))
        }
        Subject::Intent { name, scope, constraints, acceptance, .. } => {
            let wanted = NewIntent {
                name: name.clone(),
                status: Some(Status::InProgress),
                owned_scope: scope.clone(),
                constraints: constraints.clone(),
                acceptance_criteria: acceptance.clone(),
                ..NewIntent::default()
            };
            let made = registry::new(ws, wanted)?;
            let done = format!("{} is in the registry, in progress.", made.id);
            Ok((Some(made.id), done))
        }
        Subject::Switch { .. } | Subject::Call { .. } | Subject::Lesson { .. } => {
            Ok((None, once(asked)))
        }
    }
}

fn once(asked: &Approval) -> String {
    format!(
        "{} is approved: {} may do exactly this once, until {}.",
        asked.code, asked.actor, asked.expires_at
    )
}

/// One sentence without any text of a command or a lesson: the ledger is published.
fn note(asked: &Approval, verb: &str, place: DecisionPlace) -> String {
    let what = match &asked.subject {
        Subject::Call { acts, .. } => match written_paths(acts).as_slice() {
            [] => "a command".to_owned(),
            paths => format!("a write to {}", paths.join(" and ")),
        },
        Subject::Lesson { .. } => "a lesson".to_owned(),
        Subject::Switch { from, to } => {
            format!("a switch from {} to {to}", from.as_deref().unwrap_or("no intent"))
        }
        Subject::Scope { intent, entries, .. } => {
            format!("a wider scope of {intent}: {}", entries.join(", "))
        }
        Subject::Intent { name, scope, .. } => {
            format!("a new intent, {name}, owning {}", scope.join(", "))
        }
    };
    let short = asked.binding.get(..16).unwrap_or_default();
    format!("a person {verb} {} {}: {what} (bound to {short})", asked.code, place.words())
}

/// The files that a call changes by name; none of a call that runs a command, which may change any.
fn written_paths(acts: &[AskedAct]) -> Vec<&str> {
    if acts.iter().any(|act| matches!(act, AskedAct::Run { .. })) {
        return Vec::new();
    }
    let paths = acts.iter().flat_map(|act| match act {
        AskedAct::Write { path, .. } | AskedAct::Delete { path } => vec![path.as_str()],
        AskedAct::Move { from, to } => vec![from.as_str(), to.as_str()],
        AskedAct::Run { .. } => Vec::new(),
    });
    paths.collect()
}

/// What the approval of a call allows. `intent check` holds the work against it.
fn of_work(asked: &Approval) -> Option<Approved> {
    let Subject::Call { acts, .. } = &asked.subject else { return None };
    let hash = format!("sha256:{}", asked.binding);
    let what = match written_paths(acts).as_slice() {
        [only] => (*only).to_owned(),
        _ => String::new(),
    };
    Some(Approved { what, hash, ..Approved::default() })
}

/// A person's decision in the ledger. That it was a person is what a terminal or a dialog told us.
fn append(
    ws: &Workspace,
    asked: &Approval,
    note: &str,
    approves: Option<Approved>,
) -> Result<(), VerbError> {
    let intent = match &asked.subject {
        Subject::Scope { intent, .. } => Some(intent.clone()),
        Subject::Switch { to, .. } => Some(to.clone()),
        Subject::Intent { .. } => None,
        Subject::Call { .. } | Subject::Lesson { .. } => ws.selected(Some(&asked.actor)),
    };
    let intent = intent.map(|id| ws.registry.present_id(&id).to_owned());
    let known = intent.as_deref().and_then(|id| ws.registry.get(id));
    let skeleton =
        record::skeleton(ws, RecordKind::Approval, known, Some(asked.actor.clone()), None);
    let decision = RecordedDecision {
        outcome: "ask".to_owned(),
        rule: Some(asked.subject.kind().to_owned()),
        approval: Some(asked.code.clone()),
    };
    record::append(
        ws,
        Record {
            intent_id: intent.or(skeleton.intent_id),
            note: Some(note.to_owned()),
            approves,
            decision: Some(decision),
            strength: Some(Strength::Declared),
            ..skeleton
        },
    )?;
    Ok(())
}

/// A rule as it reads, with the signature of a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SignedAnswer {
    /// The intent, or the file.
    pub what: String,
    /// The hash of what it says.
    pub hash: String,
    /// The record.
    pub record: String,
    /// Whether the branch that work is merged into trusts the key. Until it does, the approval does not count there.
    pub trusted: bool,
}

/// The approval of an intent, or of a file of rules, as it reads now; not signed yet.
pub fn draft(ws: &Workspace, what: &str) -> Result<Approved, VerbError> {
    ws.governed()?;
    if ws.registry.get(what).is_some() {
        let intent = ws.intent(what)?;
        return step(ws, &intent.id.value, intent.hash());
    }
    let path = RelativePath::new(what).ok();
    let text = path.as_ref().map(|path| ws.text(path)).transpose()?.flatten();
    match (path, text) {
        (Some(path), Some(text)) if signing::is_rule(&ws.policy, &path) => {
            step(ws, path.as_str(), Approved::hash_of(text.as_bytes()))
        }
        _ => Err(VerbError::NothingToApprove { what: what.to_owned() }),
    }
}

/// The approval of a write, not signed yet. `None` if the question is about something else, or if nobody knows what the
/// write leaves in the file.
pub fn draft_of_write(ws: &Workspace, asked: &Approval) -> Result<Option<Approved>, VerbError> {
    let Subject::Call { acts, .. } = &asked.subject else { return Ok(None) };
    match acts.as_slice() {
        [AskedAct::Write { path, content: Some(hash), .. }] => {
            step(ws, path, hash.clone()).map(Some)
        }
        _ => Ok(None),
    }
}

/// The approval of what an intent or a file says from now on, instead of what is accepted now.
fn step(ws: &Workspace, what: &str, hash: String) -> Result<Approved, VerbError> {
    let accepted = signing::accepting(ws).map_or(Target::Index, Target::Commit);
    let replaces = signing::hash_at(ws, &accepted, what)?;
    Ok(Approved {
        what: what.to_owned(),
        hash,
        replaces: Some(replaces),
        time: Some(Timestamp::now().to_string()),
        signature: None,
    })
}

/// Records a signed approval. `code`: the code of the question, if a write was approved.
pub fn sign(
    ws: &Workspace,
    unsigned: &Approved,
    code: Option<&str>,
    signature: String,
    signatures: &dyn Signatures,
) -> Result<SignedAnswer, VerbError> {
    let (bytes, signers) = (unsigned.signed_bytes(), signing::signers(ws)?);
    let what = Signed { namespace: Approved::NAMESPACE, bytes: &bytes, signature: &signature };
    let trusted = matches!(signatures.judge(what, &signers)?, SignatureCheck::By(_));
    let approved = Approved { signature: Some(signature), ..unsigned.clone() };
    let intent = ws.registry.get(&approved.what);
    let skeleton = record::skeleton(ws, RecordKind::Approval, intent, None, None);
    let (what, hash) = (approved.what.clone(), approved.hash.clone());
    let record = record::append(
        ws,
        Record {
            note: Some(format!("a person approved {what} as it reads, and signed that")),
            decision: code.map(|code| RecordedDecision {
                outcome: "ask".to_owned(),
                rule: None,
                approval: Some(code.to_owned()),
            }),
            approves: Some(approved),
            strength: Some(Strength::Declared),
            ..skeleton
        },
    )?;
    Ok(SignedAnswer { what, hash, record, trusted })
}

/// The gate, switched.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SwitchAnswer {
    /// How long it is off; null: it is on.
    pub off: Option<Off>,
    /// Something changed by this.
    pub changed: bool,
}

/// Switches the gate off for a while, for a person: recorded first.
pub fn switch_off(
    ws: &Workspace,
    lasts: Duration,
    reason: Option<&str>,
) -> Result<SwitchAnswer, VerbError> {
    ws.governed()?;
    let minutes = lasts.as_secs().div_ceil(60);
    let why = reason.map(|reason| format!(": {}", shorten(reason.trim(), MAX_REASON)));
    let why = why.unwrap_or_default();
    let note = format!("a person switched the gate off at a terminal, for {minutes} min{why}");
    switched(ws, &note)?;
    let off = session::switch_off(&ws.root, lasts, reason)?;
    Ok(SwitchAnswer { off: Some(off), changed: true })
}

/// Switches the gate on again.
pub fn switch_on(ws: &Workspace) -> Result<SwitchAnswer, VerbError> {
    ws.governed()?;
    let changed = session::switch_on(&ws.root)?;
    if changed {
        switched(ws, "a person switched the gate on again at a terminal")?;
    }
    Ok(SwitchAnswer { off: None, changed })
}

fn switched(ws: &Workspace, note: &str) -> Result<(), VerbError> {
    let skeleton = record::skeleton(ws, RecordKind::Approval, None, None, None);
    let strength = Some(Strength::Declared);
    record::append(ws, Record { note: Some(note.to_owned()), strength, ..skeleton })?;
    Ok(())
}
