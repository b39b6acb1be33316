//! Shows the questions of agents to the person at this client. Each question is a dialog, and only
//! a few are open at a time.
//!
//! Only a client that set `interactive` at its start gets dialogs. No command and no code action
//! answers a question, because an agent can also be a client. The command `intent.review` only
//! opens closed dialogs again.
//!
//! The folder of questions is checked twice a second. That costs one `stat` and needs no watcher.
//! Many systems and file shares have no watchers, and a watcher would report every other scratch
//! file as well.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tokio::sync::oneshot;
use tower_lsp::lsp_types as lsp;

use super::client::{Client, ClientError};
use super::pool::{Lane, Pool};
use ground::approvals::{self, Approval};
use ground::text;
use ground::{Hint, Root};
use judgement::approval::{self, ApprovalVerdict, DecisionPlace, Question};
use why::Workspace;

pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The largest step in which file systems store times. A folder that changed more recently may
/// change again and keep the same time, so it is read again.
const TIME_STEP: Duration = Duration::from_secs(2);
/// How many dialogs may be open at once. A person could not read more of them.
const MAX_OPEN: usize = 3;
/// The longest text, in characters, that a person can read in a dialog.
const MAX_READABLE: usize = 300;
/// The longest detail in a dialog, in characters.
const MAX_DETAIL: usize = 200;

const APPROVE: &str = "Approve";
const REJECT: &str = "Reject";

#[derive(Clone, Debug)]
pub(crate) struct RootQuestions {
    root: Arc<Root>,
    changed: Option<SystemTime>,
    pending: Vec<Approval>,
}

#[derive(Default)]
pub(crate) struct Questions {
    pub(super) by_root: HashMap<PathBuf, RootQuestions>,
    shown: HashMap<(PathBuf, String), oneshot::Sender<()>>,
}

impl Questions {
    pub(super) fn replace(&mut self, found: Vec<RootQuestions>) -> Vec<PathBuf> {
        let with_root = |one: RootQuestions| (one.root.path().to_owned(), one);
        let found: HashMap<PathBuf, RootQuestions> = found.into_iter().map(with_root).collect();
        let before = std::mem::replace(&mut self.by_root, found);
        let codes = |one: Option<&RootQuestions>| -> Vec<String> {
            one.into_iter().flat_map(|one| &one.pending).map(|asked| asked.code.clone()).collect()
        };
        let changed = |root: &&PathBuf| codes(before.get(*root)) != codes(self.by_root.get(*root));
        self.by_root.keys().filter(changed).cloned().collect()
    }

    pub(super) fn close_settled_dialogs(&mut self) {
        let by_root = &self.by_root;
        // A dialog that ended by itself stays listed, so that its question is not shown again.
        self.shown.retain(|(root, code), close| {
            let waits = |one: &RootQuestions| one.pending.iter().any(|asked| asked.code == *code);
            by_root.get(root).is_some_and(waits) || close.is_closed()
        });
    }

    /// Forgets the dialogs that the person closed without an answer. The next check shows their
    /// questions again.
    pub(super) fn put_again(&mut self, root: &Path) {
        self.shown.retain(|(asked_root, _), close| asked_root != root || !close.is_closed());
    }

    /// Marks the questions to show next as shown, and returns each with a receiver that fires when
    /// its dialog has to be closed.
    pub(super) fn take_unshown(&mut self) -> Vec<(Arc<Root>, Approval, oneshot::Receiver<()>)> {
        let mut next = Vec::new();
        for (root, asked) in self.not_shown_yet() {
            let (close, closed) = oneshot::channel();
            self.shown.insert((root.path().to_owned(), asked.code.clone()), close);
            next.push((root, asked, closed));
        }
        next
    }

    fn not_shown_yet(&self) -> Vec<(Arc<Root>, Approval)> {
        let open = self.shown.values().filter(|close| !close.is_closed()).count();
        let waiting = self
            .by_root
            .values()
            .flat_map(|one| one.pending.iter().map(|asked| (Arc::clone(&one.root), asked.clone())));
        waiting
            .filter(|(root, asked)| {
                !self.shown.contains_key(&(root.path().to_owned(), asked.code.clone()))
            })
            .take(MAX_OPEN.saturating_sub(open))
            .collect()
    }
}

/// Reads the questions of these roots. The known questions of a root are used again if its folder
/// has certainly not changed since.
pub(super) fn read(
    roots: Vec<Arc<Root>>,
    known: &HashMap<PathBuf, RootQuestions>,
) -> Vec<RootQuestions> {
    let read = |root: Arc<Root>| {
        let folder = std::fs::metadata(approvals::folder(&root));
        let changed = folder.and_then(|folder| folder.modified()).ok();
        let settled = changed.is_none_or(|at| at.elapsed().is_ok_and(|age| age > TIME_STEP));
        match known.get(root.path()) {
            Some(known) if settled && known.changed == changed => {
                let mut known = known.clone();
                known.pending.retain(|asked| !time_left(asked).is_zero());
                known
            }
            _ => RootQuestions { pending: approvals::pending(&root), changed, root },
        }
    };
    roots.into_iter().map(read).collect()
}

pub(super) async fn ask_person(
    client: Client,
    pool: Pool,
    root: Arc<Root>,
    asked: Approval,
    closed: oneshot::Receiver<()>,
) {
    let question = approval::question(&asked);
    let titles: &[&str] = if fits_in_dialog(&question) { &[APPROVE, REJECT] } else { &[REJECT] };
    let (kind, message) = (lsp::MessageType::WARNING, message(&asked, &question));
    let answer = tokio::select! {
        answer = client.choose(kind, message, titles, time_left(&asked)) => answer,
        // The question no longer waits for an answer.
        _ = closed => return,
    };
    let verdict = match answer {
        Ok(Some(chosen)) if chosen == APPROVE && fits_in_dialog(&question) => {
            ApprovalVerdict::Approve
        }
        Ok(Some(chosen)) if chosen == REJECT => ApprovalVerdict::Reject,
        // The dialog was dismissed, or nobody answered in time. A dismissed question can still be
        // answered in the terminal.
        Ok(_) | Err(ClientError::Late { .. }) => return,
        Err(error) => return tracing::warn!(%error, "a question could not be shown to the person"),
    };
    let code = asked.code.clone();
    let decide = move || {
        let workspace = Workspace::at_root((*root).clone());
        approval::decide(&workspace, &asked.code, verdict, DecisionPlace::Dialog)
    };
    let (kind, message) = match pool.compute(Lane::Worker, "an approval", decide).await {
        Ok(Ok(answer)) => (lsp::MessageType::INFO, answer.done),
        Ok(Err(error)) => {
            let error = error.with_hint();
            (lsp::MessageType::ERROR, format!("{code} was not decided: {error}"))
        }
        Err(_) => (lsp::MessageType::ERROR, format!("{code} was not decided: the server failed")),
    };
    client.show_message(kind, text::visible(&message, false));
}

fn fits_in_dialog(question: &Question) -> bool {
    let fits = |text: &str, most: usize| on_one_line(text).chars().count() <= most;
    question.exactly.lines().count() <= 1
        && fits(&question.exactly, MAX_READABLE)
        && fits(&question.title, MAX_DETAIL)
        && question.details.len() <= 8
        && question.details.iter().all(|(_, detail)| fits(detail, MAX_DETAIL))
}

/// Returns a text with visible signs for its line breaks and for characters that hide.
fn on_one_line(text: &str) -> String {
    text::visible(&text.trim_end().replace('\n', " ⏎ "), false)
}

/// Returns the text of the dialog on one line, with visible signs for line breaks, because some
/// clients join lines.
fn message(asked: &Approval, question: &Question) -> String {
    let seen = |text: &str, max| text::shorten(&on_one_line(text), max);
    let mut shown_text =
        format!("{}: {}", seen(&question.title, MAX_DETAIL), seen(&question.exactly, MAX_READABLE));
    for (label, detail) in &question.details {
        shown_text.push_str(&format!(" · {label}: {}", seen(detail, MAX_DETAIL)));
    }
    let code = &asked.code;
    if fits_in_dialog(question) {
        return format!("{shown_text} · code {code}");
    }
    format!(
        "{shown_text} · This is more than fits here: read it with `intent approve {code}` in a terminal."
    )
}

fn time_left(asked: &Approval) -> Duration {
    let until = asked.expires_at.parse::<Timestamp>();
    let left = until.map(|until| until.duration_since(Timestamp::now()));
    left.ok().and_then(|left| Duration::try_from(left).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ground::approvals::{ApprovalState, Subject};

    fn command(text: &str) -> Approval {
        Approval {
            code: "ABC234".into(),
            subject: Subject::command(text),
            binding: String::new(),
            actor: "codex:1".into(),
            cwd: "/w".into(),
            head: None,
            asked_at: String::new(),
            expires_at: String::new(),
            state: ApprovalState::Pending,
            result: None,
        }
    }

    #[test]
    fn a_dialog_says_who_what_and_where() {
        let asked = command("git reset --hard");
        let question = approval::question(&asked);
        assert!(fits_in_dialog(&question));
        assert_eq!(
            message(&asked, &question),
            "codex:1 wants to run this command: git reset --hard · in: /w · code ABC234"
        );
    }

    #[test]
    fn a_question_that_is_not_readable_cannot_be_approved() {
        // The dialog shows U+200B as six characters, so the end of the command would be cut off.
        let hiding = format!("ls {}; rm -rf /", "\u{200b}".repeat(60));
        for text in ["ls\nrm -rf /", &"x".repeat(MAX_READABLE + 1), &hiding] {
            let asked = command(text);
            let question = approval::question(&asked);
            assert!(!fits_in_dialog(&question), "{text:.20}");
            let shown_text = message(&asked, &question);
            assert!(
                shown_text.contains("intent approve ABC234") && !shown_text.contains('\n'),
                "{shown_text}"
            );
        }
        let hidden = command("ls \u{202e}\u{1b}[2J");
        let shown_text = message(&hidden, &approval::question(&hidden));
        assert!(shown_text.contains("U+202EU+001B"), "{shown_text}");
    }

    #[test]
    fn an_expired_question_has_no_time_left() {
        assert_eq!(time_left(&command("ls")), Duration::ZERO);
    }

    proptest::proptest! {
        #[test]
        fn a_dialog_is_one_line_with_nothing_hidden(text in "(.|\\n){0,24}", actor in ".{0,12}") {
            let asked = Approval { actor, ..command(&text) };
            let shown_text = message(&asked, &approval::question(&asked));
            proptest::prop_assert!(!shown_text.chars().any(char::is_control), "{shown_text:?}");
            proptest::prop_assert!(text::invisible_characters(&shown_text).is_empty(), "{shown_text:?}");
        }
    }
}
