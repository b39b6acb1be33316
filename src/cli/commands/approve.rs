//! `intent approve` and `intent reject`: a person decides what an agent may not decide for itself.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::shared;
use crate::cli::person::Terminal;
use crate::cli::print::{BAD, Cell, DIM, GOOD, INTENT, PLAIN, Page, STRONG, WARN};
use crate::cli::ssh::{SshKeygen, sign, signs};
use crate::cli::{CliError, Context, Exit, when};
use evidence::seal;
use ground::approvals::{Approval, ApprovalState};
use ground::{Hint, RelativePath};
use judgement::approval::{self, ApprovalAnswer, ApprovalVerdict, DecisionPlace, SignedAnswer};
use ledger::Approved;
use why::{VerbError, Workspace};

/// Approve what an agent asks for, or sign a rule as it reads; without an argument, list what waits
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a person at a terminal of their own: refused without one, and where an agent runs it.
Shows who asks, for what exactly and where, and approves once `yes` is typed. What is
approved holds for exactly this, once, until ten minutes after it was asked.

Given an intent, or a file of rules such as .orchestration/policy.yaml, it signs what that
says now with an SSH key. `intent check` then lets a branch widen the intent, or change the
file, if the branch that it is merged into trusts the key (.orchestration/allowed_signers).
A wider scope or a new intent that is approved here is signed as well where git has a key.")]
pub struct ApproveArgs {
    /// The code that the agent names, an intent, or a file of rules
    #[arg(value_name = "CODE|INTENT|FILE")]
    what: Option<String>,

    /// The SSH key to sign with; else git's user.signingKey
    #[arg(long, value_name = "FILE", requires = "what")]
    key: Option<PathBuf>,
}

/// Reject what an agent asks for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a person at a terminal of their own, as `intent approve`. An agent that asks the same
again within ten minutes is told of the rejection.")]
pub struct RejectArgs {
    /// The code that the agent names
    code: String,
}

pub fn run(context: &Context, args: ApproveArgs) -> Result<Exit, CliError> {
    let Some(code) = args.what else { return list(context) };
    let terminal = Terminal::of_a_person(context)?;
    let workspace = context.open_workspace()?;
    match approval::status(&workspace, &code) {
        Ok(_) => approve_question(context, &terminal, &workspace, &code, args.key),
        Err(_) => sign_rule(context, &workspace, &code, args.key),
    }
}

fn sign_rule(
    context: &Context,
    workspace: &Workspace,
    what: &str,
    key: Option<PathBuf>,
) -> Result<Exit, CliError> {
    let draft = approval::draft(workspace, what);
    let signed = Some(sign_answer(context, workspace, draft, None, key)?);
    show_answer(context, workspace, &ApprovedAnswer { signed, ..ApprovedAnswer::default() })
}

fn approve_question(
    context: &Context,
    terminal: &Terminal,
    workspace: &Workspace,
    code: &str,
    key: Option<PathBuf>,
) -> Result<Exit, CliError> {
    let asked = pending_question(workspace, code)?;
    let mut page = Page::default();
    show_question(&mut page, &asked);
    if !is_current(workspace, &asked) {
        page.styled(WARN, "!").literal(" the commit has changed since it was asked, ");
        page.line("so the agent has to ask again");
    }
    let refused = CliError::usage(
        format!("{} was not approved, and still waits", asked.code),
        format!("`intent reject {}` says no for good", asked.code),
    );
    terminal.confirms(&context.printer, page.gap(), " to approve: ", refused)?;
    let (verdict, place) = (ApprovalVerdict::Approve, DecisionPlace::Terminal);
    let answer = approval::decide(workspace, &asked.code, verdict, place)?;
    // The approval has changed the registry, so the workspace is read again.
    let widened = answer.approval.result.clone();
    let has_key = key.is_some() || signs(workspace);
    let here = context.open_workspace()?;
    let of_write = approval::draft_of_write(&here, &asked)?;
    let sign = |unsigned, code| sign_answer(context, &here, unsigned, code, key);
    let signing = match (has_key, &widened, of_write) {
        (true, Some(intent), _) => Some(sign(approval::draft(&here, intent), None)),
        (true, None, Some(write)) => Some(sign(Ok(write), Some(&*asked.code))),
        _ => None,
    };
    let (signed, unsigned) = match signing.transpose() {
        Ok(signed) => (signed, None),
        Err(error) => (None, Some(not_signed(&error, widened.as_deref()))),
    };
    show_answer(context, &here, &ApprovedAnswer { decided: Some(answer), signed, unsigned })
}

/// Returns true if the last commit already has the signed intent or file. If so, no later commit
/// with that file will carry the signature.
fn is_committed(workspace: &Workspace, what: &str) -> bool {
    let of_intent = workspace.registry.intent_with_file(what).map(|(file, _)| file.path().clone());
    let path = of_intent.or_else(|| RelativePath::new(what).ok());
    path.is_some_and(|path| seal::is_code_committed(workspace, &path))
}

fn show_answer(
    context: &Context,
    workspace: &Workspace,
    answer: &ApprovedAnswer,
) -> Result<Exit, CliError> {
    context.answer(answer, |page| {
        answer.decided.iter().for_each(|decided| print_approval(page, decided));
        if let Some(signed) = &answer.signed {
            show_signed(page, workspace, signed);
        }
        if let Some(reason) = &answer.unsigned {
            page.label(WARN, "!").text(reason).end();
        }
    })?;
    Ok(Exit::found(answer.unsigned.is_some()))
}

fn not_signed(error: &CliError, intent: Option<&str>) -> String {
    let next = match intent {
        Some(id) => format!("`intent approve {id}` signs it when that is mended"),
        None => "it holds here; where it is merged, it does not count".to_owned(),
    };
    format!("approved, but not signed: {}; {next}", error.with_hint())
}

/// Signs an intent or a file of rules as it is now, or a write. `code` names the question about it.
fn sign_answer(
    context: &Context,
    workspace: &Workspace,
    unsigned: Result<Approved, VerbError>,
    code: Option<&str>,
    key: Option<PathBuf>,
) -> Result<SignedAnswer, CliError> {
    let unsigned = unsigned?;
    let signature =
        sign(workspace, &context.cwd, key, Approved::NAMESPACE, &unsigned.signed_bytes())?;
    let keys = SshKeygen::of_machine(workspace);
    Ok(approval::sign(workspace, &unsigned, code, signature, &keys)?)
}

fn show_signed(page: &mut Page, workspace: &Workspace, answer: &SignedAnswer) {
    let is_committed = is_committed(workspace, &answer.what);
    page.label(GOOD, "✓").literal("signed ").styled(INTENT, &answer.what);
    page.literal(" as it reads now")
        .literal(if is_committed { "" } else { "; the commit with it carries that" })
        .end();
    if is_committed {
        shared::print_seal_command(page, &format!("Approve {}", answer.what));
    }
    if !answer.trusted {
        shared::warn_of_untrusted_key(page);
    }
}

pub fn reject(context: &Context, args: RejectArgs) -> Result<Exit, CliError> {
    Terminal::of_a_person(context)?;
    let workspace = context.open_workspace()?;
    let asked = pending_question(&workspace, &args.code)?;
    let (verdict, place) = (ApprovalVerdict::Reject, DecisionPlace::Terminal);
    let answer = approval::decide(&workspace, &asked.code, verdict, place)?;
    context.answer(&answer, |page| print_approval(page, &answer))
}

/// What was approved, and what was signed with it.
#[derive(Default, Serialize, JsonSchema)]
pub struct ApprovedAnswer {
    /// The question that was decided.
    #[serde(flatten)]
    decided: Option<ApprovalAnswer>,
    /// The intent or the file that was signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<SignedAnswer>,
    /// Why the approved change could not be signed, and what to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsigned: Option<String>,
}

fn print_approval(page: &mut Page, answer: &ApprovalAnswer) {
    let (style, mark) = match answer.approval.state {
        ApprovalState::Denied => (BAD, "✗"),
        _ => (GOOD, "✓"),
    };
    page.label(style, mark).text(&answer.done).end();
}

/// Returns the pending question with this code, in upper or lower case. If the question is no
/// longer pending, the error says what became of it.
fn pending_question(workspace: &Workspace, code: &str) -> Result<Approval, CliError> {
    let found = approval::status(workspace, code)?;
    match found.state {
        ApprovalState::Pending => Ok(found),
        state => Err(CliError::usage(
            format!("{} {}", found.code, state.phrase()),
            "`intent approve` lists what waits",
        )),
    }
}

/// Returns true if the approval can still take effect. A command, a write or a lesson can be
/// approved only while `HEAD` is the commit at which it was asked.
fn is_current(workspace: &Workspace, asked: &Approval) -> bool {
    asked.result.is_some()
        || asked.head.as_deref() == workspace.head().map(|head| head.0.as_str())
        || matches!(asked.subject.kind(), "scope" | "intent")
}

fn list(context: &Context) -> Result<Exit, CliError> {
    let waiting = approval::list(&context.open_workspace()?)?;
    let now = Timestamp::now();
    context.answer(&waiting, |page| {
        if waiting.is_empty() {
            page.line("Nothing waits for a person");
            return;
        }
        let row = |asked: &Approval| {
            let question = approval::question(asked);
            vec![
                Cell::new(INTENT, asked.code.as_str()),
                Cell::new(DIM, when::ago(now, &asked.asked_at)),
                Cell::new(PLAIN, question.title),
                Cell::new(STRONG, with_visible_breaks(&question.exactly)),
            ]
        };
        page.table(0, waiting.iter().map(row));
        page.gap().line("`intent approve CODE` shows one and asks; `intent reject CODE` says no");
    })
}

fn show_question(page: &mut Page, asked: &Approval) {
    let question = approval::question(asked);
    page.styled(INTENT, &asked.code).literal("  ").styled(STRONG, &question.title).end().gap();
    // Spaces are significant in a command, so the text keeps them all.
    page.lines(&format!("    {}", question.exactly.replace('\n', "\n    ")));
    page.gap();
    let row = |label: &str, text: String| vec![Cell::new(DIM, label), Cell::new(PLAIN, text)];
    let details =
        question.details.iter().map(|(label, text)| row(label, with_visible_breaks(text)));
    let ago = when::ago(Timestamp::now(), &asked.asked_at);
    let until = row("asked", format!("{ago}, until {}", when::date(&asked.expires_at)));
    page.table(2, details.chain([until]));
}

/// Returns the text on one line. Line breaks become visible, because each of them ends a command.
fn with_visible_breaks(text: &str) -> String {
    text.trim_end().replace('\n', " ⏎ ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ground::approvals::Subject;

    #[test]
    fn a_question_is_shown_in_full_and_escaped() {
        let asked = Approval {
            code: "ABC234".into(),
            subject: Subject::command("ls  -l\nrm -rf / \u{202e}\u{1b}[2J"),
            binding: String::new(),
            actor: "codex:1\n".into(),
            cwd: "/w".into(),
            head: None,
            asked_at: "soon".into(),
            expires_at: "later".into(),
            state: ApprovalState::Pending,
            result: None,
        };
        let mut page = Page::default();
        show_question(&mut page, &asked);
        let text = anstream::adapter::strip_str(page.as_str()).to_string();
        insta::assert_snapshot!(text);
    }
}
