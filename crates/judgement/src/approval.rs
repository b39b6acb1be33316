//! The questions that only a person can decide: which of them wait, how they are shown, and what is
//! done after the decision.
//!
//! No function here can know whether it is a person who decides. The faces make sure of that: no
//! tool and no command for agents calls [`decide`], [`sign`] or [`switch_off`].

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{proposal, registry};
use evidence::record;
use evidence::signing::{self, SignatureCheck, Signatures, Signed};
use ground::RelativePath;
use ground::approvals::{self, Approval, ApprovalError, ApprovalState, AskedAct, Subject};
use ground::git::Target;
use ground::session::{self, Off};
use ground::text::shorten;
use intents::{Intent, IntentEntry, Status};
use ledger::{Approved, Record, RecordKind, RecordedDecision, Strength};
use why::{VerbError, Workspace};

/// The number of characters of a person's reason that are recorded at most.
const MAX_REASON: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalVerdict {
    Approve,
    Reject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionPlace {
    Terminal,
    Dialog,
}

impl DecisionPlace {
    fn as_words(self) -> &'static str {
        match self {
            Self::Terminal => "at a terminal",
            Self::Dialog => "in the editor's dialog",
        }
    }
}

/// A question after a person decided it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ApprovalAnswer {
    /// The question in its new state.
    pub approval: Approval,
    /// What the decision caused, in one sentence.
    pub done: String,
}

/// Returns the questions that wait for a person, oldest first.
pub fn list(ws: &Workspace) -> Result<Vec<Approval>, VerbError> {
    ws.governed()?;
    Ok(approvals::pending(&ws.root))
}

pub fn status(ws: &Workspace, code: &str) -> Result<Approval, VerbError> {
    ws.governed()?;
    let code = code.trim();
    let unknown = || ApprovalError::Unknown { code: shorten(code, 40) };
    Ok(approvals::get(&ws.root, code).ok_or_else(unknown)?)
}

/// Returns what to tell an agent when a person has to decide: how the person does it, and what the
/// agent does afterwards.
pub fn instructions(approval: &Approval) -> String {
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

/// A question as it is shown to a person. All texts except the labels come from agents or
/// repositories, so they must be escaped where they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub title: String,
    /// What exactly is to be done: the whole command, the path, or the short name of a proposal.
    pub exactly: String,
    pub details: Vec<(&'static str, String)>,
}

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
            (wants, described_acts(acts), because.into_iter().collect())
        }
        Subject::Switch { from, to } => {
            let from = from.clone().unwrap_or_else(|| "no intent".to_owned());
            ("work under another intent", to.clone(), vec![("instead of", from)])
        }
        Subject::Scope { intent, entries, reason } => {
            let mut details = with_label("adds", entries);
            details.push(("its reason", reason.clone()));
            ("widen the scope of an intent", intent.clone(), details)
        }
        Subject::Intent { name, scope, constraints, acceptance, reason } => {
            let mut details = with_label("owns", scope);
            details.extend(with_label("constraint", constraints));
            details.extend(with_label("done when", acceptance));
            details.push(("its reason", reason.clone()));
            ("start a new intent", name.clone(), details)
        }
        Subject::Lesson { text } => ("write down this lesson", text.clone(), Vec::new()),
    };
    details.push(("in", approval.cwd.clone()));
    Question { title: format!("{} wants to {wants}", approval.actor), exactly, details }
}

/// Describes everything that a call does. If it does only one thing, the verb is left out, because
/// the title names it.
fn described_acts(acts: &[AskedAct]) -> String {
    let is_alone = acts.len() == 1;
    let describe = |act: &AskedAct| {
        let (verb, what) = match act {
            AskedAct::Run { command, folder: None } => ("run", command.clone()),
            AskedAct::Run { command, folder: Some(folder) } => {
                ("run", format!("{command}\n  in the folder {folder}"))
            }
            AskedAct::Write { path, change: Some(change), .. } => {
                ("write", format!("{path}\n{}", change.trim_end_matches('\n')))
            }
            AskedAct::Write { path, .. } => {
                ("write", format!("{path}\n  the new content is not known"))
            }
            AskedAct::Delete { path } => ("delete", path.clone()),
            AskedAct::Move { from, to } => ("move", format!("{from} to {to}")),
        };
        if is_alone { what } else { format!("{verb} {what}") }
    };
    acts.iter().map(describe).collect::<Vec<_>>().join("\n")
}

fn with_label(label: &'static str, texts: &[String]) -> Vec<(&'static str, String)> {
    texts.iter().map(|text| (label, text.clone())).collect()
}

/// Carries out a person's decision about a question. The decision is recorded before anything is
/// done.
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
        append(ws, &asked, note(&asked, "rejected", place), None)?;
        let approval = turn.settle(asked, ApprovalState::Denied)?;
        let done = format!("{} is rejected; nothing was changed.", approval.code);
        return Ok(ApprovalAnswer { approval, done });
    }
    // The registry may have changed since the question was asked.
    let ws = &ws.reload();
    check_again(ws, &asked.subject)?;
    append(ws, &asked, note(&asked, "approved", place), of_work(&asked))?;
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

/// Makes the change that a person approved, if this program is the one to make it. Returns the id
/// of the intent concerned, if any, and a sentence that says what was done.
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
                0 => format!("{intent} owned it already; the registry was not changed."),
                _ => format!("{intent} owns {} from now on.", entries.join(", ")),
            };
            Ok((Some(intent.clone()), done))
        }
        Subject::Intent { name, scope, constraints, acceptance, .. } => {
            let wanted = IntentEntry {
                name: name.clone(),
                status: Status::InProgress,
                owned_scope: scope.clone(),
                constraints: constraints.clone(),
                acceptance_criteria: acceptance.clone(),
                ..IntentEntry::default()
            };
            let made = registry::new(ws, wanted)?;
            let done = format!("{} is in the registry, in progress.", made.id);
            Ok((Some(made.id), done))
        }
        Subject::Switch { .. } | Subject::Call { .. } | Subject::Lesson { .. } => {
            let Approval { code, actor, expires_at, .. } = asked;
            let done = format!(
                "{code} is approved: {actor} may do exactly this once, until {expires_at}."
            );
            Ok((None, done))
        }
    }
}

/// Returns a sentence for the record. It never contains the text of a command or a lesson, because
/// the ledger is published.
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
    format!("a person {verb} {} {}: {what} (bound to {short})", asked.code, place.as_words())
}

/// Returns the files that a call changes by name. The list is empty if the call runs a command,
/// because a command may change any file.
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

/// Returns what the approval of a call allows. `intent check` compares the recorded work with it.
fn of_work(asked: &Approval) -> Option<Approved> {
    let Subject::Call { acts, .. } = &asked.subject else { return None };
    let hash = format!("sha256:{}", asked.binding);
    let what = match written_paths(acts).as_slice() {
        [only] => (*only).to_owned(),
        _ => String::new(),
    };
    Some(Approved { what, hash, ..Approved::default() })
}

/// Returns the record of something that a person approved. That it was a person is known only from
/// the terminal or the dialog.
fn skeleton(
    ws: &Workspace,
    intent: Option<&Intent>,
    session: Option<String>,
    note: String,
) -> Record {
    let (note, strength) = (Some(note), Some(Strength::Declared));
    Record { note, strength, ..record::skeleton(ws, RecordKind::Approval, intent, session, None) }
}

fn asked_by(rule: Option<&str>, code: &str) -> RecordedDecision {
    RecordedDecision::new(RecordedDecision::ASK, rule.map(str::to_owned), Some(code.to_owned()))
}

fn append(
    ws: &Workspace,
    asked: &Approval,
    note: String,
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
    let skeleton = skeleton(ws, known, Some(asked.actor.clone()), note);
    let decision = Some(asked_by(Some(asked.subject.kind()), &asked.code));
    let intent_id = intent.or(skeleton.intent_id);
    record::append(ws, Record { intent_id, approves, decision, ..skeleton }).map(drop)
}

/// An approval of an intent or a file of rules as it is now, signed by a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SignedAnswer {
    /// The id of the intent, or the path of the file.
    pub what: String,
    /// The hash of the approved text.
    pub hash: String,
    /// The id of the record.
    pub record: String,
    /// True if the branch that the work is merged into trusts the key. The approval does not count
    /// there until it does.
    pub trusted: bool,
}

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
        _ => Err(VerbError::mendable(
            format!(
                "{what} is not the code of a pending question, not an intent and not a file of rules"
            ),
            "`intent approve` lists the pending questions",
        )),
    }
}

/// Makes the approval of a write, without a signature. Returns `None` if the question is about
/// something else, or if the resulting content of the file is not known.
pub fn draft_of_write(ws: &Workspace, asked: &Approval) -> Result<Option<Approved>, VerbError> {
    let Subject::Call { acts, .. } = &asked.subject else { return Ok(None) };
    match acts.as_slice() {
        [AskedAct::Write { path, content: Some(hash), .. }] => {
            step(ws, path, hash.clone()).map(Some)
        }
        _ => Ok(None),
    }
}

/// Makes the approval of one step: from what is accepted now to the text with this hash.
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

/// Records a signed approval. `code` is the code of the question if a write was approved.
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
    let (what, hash) = (approved.what.clone(), approved.hash.clone());
    let note = format!("a person approved {what} as it reads, and signed that");
    let record = Record {
        decision: code.map(|code| asked_by(None, code)),
        approves: Some(approved),
        ..skeleton(ws, intent, None, note)
    };
    Ok(SignedAnswer { what, hash, record: record::append(ws, record)?, trusted })
}

/// The state of the gate after a person switched it off or on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SwitchAnswer {
    /// Until when the gate is off, and why; null if it is on.
    pub off: Option<Off>,
    /// True if the call changed the state.
    pub changed: bool,
}

/// Switches the gate off for a while on behalf of a person. This is recorded first.
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
    switched(ws, note)?;
    let off = session::switch_off(&ws.root, lasts, reason)?;
    Ok(SwitchAnswer { off: Some(off), changed: true })
}

pub fn switch_on(ws: &Workspace) -> Result<SwitchAnswer, VerbError> {
    ws.governed()?;
    let changed = session::switch_on(&ws.root)?;
    if changed {
        switched(ws, "a person switched the gate on again at a terminal".to_owned())?;
    }
    Ok(SwitchAnswer { off: None, changed })
}

fn switched(ws: &Workspace, note: String) -> Result<(), VerbError> {
    record::append(ws, skeleton(ws, None, None, note)).map(drop)
}
