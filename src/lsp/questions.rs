//! What agents ask of a person, put to the person at this client in dialogs: one for each question, at most a few at a
//! time. No command and no code action leads here; only a client that said at its start that a person sits there is
//! ever asked.
//!
//! The folder of questions is looked at twice a second. That costs one `stat` and needs no watcher, which many systems
//! and file shares do not give, and which would see every other scratch file as well.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tokio::sync::oneshot;
use tower_lsp::gen_lsp_types as lsp;

use super::client::{Client, ClientError};
use super::ordered::{LoopEvent, Ordered};
use super::pool::{Lane, Pool};
use super::world::SideEffect;
use crate::verbs::Workspace;
use crate::verbs::approval::{self, ApprovalVerdict, DecisionPlace, Question};
use crate::workspace::Root;
use crate::workspace::approvals::{self, Approval};
use crate::workspace::text;

/// How often questions are looked for.
const LOOK: Duration = Duration::from_millis(500);
/// Times of files are as coarse as this: a folder that changed within it may change again unseen.
const COARSE: Duration = Duration::from_secs(2);
/// More dialogs at once are not read.
const MAX_OPEN: usize = 3;
/// What is longer cannot be read in a dialog, in characters.
const MAX_READABLE: usize = 300;
/// The longest other text in a dialog, in characters.
const MAX_DETAIL: usize = 200;

const APPROVE: &str = "Approve";
const REJECT: &str = "Reject";

/// The questions of a root, as they stood when its folder had this time.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    root: Arc<Root>,
    changed: Option<SystemTime>,
    pending: Vec<Approval>,
}

/// What waits for the person at this client, and what was put to them.
#[derive(Default)]
pub(crate) struct Questions {
    looks: HashMap<PathBuf, Look>,
    /// By root and code: every question that was put, with what closes its dialog.
    put: HashMap<(PathBuf, String), oneshot::Sender<()>>,
}

impl Ordered {
    /// Looks for questions in every workspace that is loaded.
    pub(super) fn look_for_questions(&self) {
        let known = self.questions.looks.clone();
        let roots = self.world.roots();
        self.outside.work(move || LoopEvent::QuestionsFound(look(roots, &known)));
    }

    /// Tells how many wait where that changed, puts what is new to the person, closes dialogs that somebody answered
    /// elsewhere, and looks again later.
    pub(super) fn questions_found(&mut self, looks: Vec<Look>) {
        self.outside.later(LOOK, LoopEvent::LookForQuestions);
        for root in self.questions.replace(looks) {
            self.perform(vec![SideEffect::TellStatus(root)]);
        }
        let questions = &mut self.questions;
        questions.close_what_is_gone();
        if !self.world.settings().interactive {
            return;
        }
        for (root, asked) in questions.to_put() {
            let (close, closed) = oneshot::channel();
            questions.put.insert((root.path().to_owned(), asked.code.clone()), close);
            let (client, pool) = (self.outside.client.clone(), self.outside.pool.clone());
            tokio::spawn(put(client, pool, root, asked, closed));
        }
    }
}

impl Questions {
    /// Takes in how it stands now; the roots where other questions wait than before.
    fn replace(&mut self, looks: Vec<Look>) -> Vec<PathBuf> {
        let by_root = |look: Look| (look.root.path().to_owned(), look);
        let looks: HashMap<PathBuf, Look> = looks.into_iter().map(by_root).collect();
        let before = std::mem::replace(&mut self.looks, looks);
        let codes = |look: Option<&Look>| -> Vec<String> {
            look.into_iter().flat_map(|look| &look.pending).map(|it| it.code.clone()).collect()
        };
        let changed = |root: &&PathBuf| codes(before.get(*root)) != codes(self.looks.get(*root));
        self.looks.keys().filter(changed).cloned().collect()
    }

    fn close_what_is_gone(&mut self) {
        let looks = &self.looks;
        // What closed by itself stays: it is not put again.
        self.put.retain(|(root, code), close| {
            let waits = |look: &Look| look.pending.iter().any(|asked| asked.code == *code);
            looks.get(root).is_some_and(waits) || close.is_closed()
        });
    }

    /// What the person closed without an answer counts as never put; the next look finds it.
    pub(super) fn put_again(&mut self, root: &Path) {
        self.put.retain(|(of, _), close| of != root || !close.is_closed());
    }

    fn to_put(&self) -> Vec<(Arc<Root>, Approval)> {
        let open = self.put.values().filter(|close| !close.is_closed()).count();
        let waiting = self.looks.values().flat_map(|look| {
            look.pending.iter().map(|asked| (Arc::clone(&look.root), asked.clone()))
        });
        waiting
            .filter(|(root, asked)| {
                !self.put.contains_key(&(root.path().to_owned(), asked.code.clone()))
            })
            .take(MAX_OPEN.saturating_sub(open))
            .collect()
    }
}

fn look(roots: Vec<Arc<Root>>, known: &HashMap<PathBuf, Look>) -> Vec<Look> {
    let look = |root: Arc<Root>| {
        let folder = std::fs::metadata(approvals::folder(&root));
        let changed = folder.and_then(|folder| folder.modified()).ok();
        let settled = changed.is_none_or(|at| at.elapsed().is_ok_and(|age| age > COARSE));
        match known.get(root.path()) {
            Some(known) if settled && known.changed == changed => {
                let mut known = known.clone();
                known.pending.retain(|asked| !left(asked).is_zero());
                known
            }
            _ => Look { pending: approvals::pending(&root), changed, root },
        }
    };
    roots.into_iter().map(look).collect()
}

/// Puts one question to the person, and does what they say.
async fn put(
    client: Client,
    pool: Pool,
    root: Arc<Root>,
    asked: Approval,
    closed: oneshot::Receiver<()>,
) {
    let question = approval::question(&asked);
    let item = |title: &str| lsp::MessageActionItem { title: title.into(), ..Default::default() };
    let titles: &[&str] = if readable(&question) { &[APPROVE, REJECT] } else { &[REJECT] };
    let params = lsp::ShowMessageRequestParams {
        kind: lsp::MessageType::Warning,
        message: message(&asked, &question),
        actions: Some(titles.iter().map(|title| item(title)).collect()),
    };
    let answer = tokio::select! {
        answer = client.request_within::<lsp::ShowMessageRequest>(params, left(&asked)) => answer,
        // Answered elsewhere.
        _ = closed => return,
    };
    let verdict = match answer {
        Ok(Some(chosen)) if chosen.title == APPROVE && readable(&question) => {
            ApprovalVerdict::Approve
        }
        Ok(Some(chosen)) if chosen.title == REJECT => ApprovalVerdict::Reject,
        // Dismissed, or too late: it waits for the terminal, or is over.
        Ok(_) | Err(ClientError::Late { .. }) => return,
        Err(error) => return tracing::warn!(%error, "a question was not put to the person"),
    };
    let code = asked.code.clone();
    let (done, decided) = oneshot::channel();
    pool.run(Lane::Worker, move || {
        let workspace = Workspace::at((*root).clone());
        let answer = approval::decide(&workspace, &asked.code, verdict, DecisionPlace::Dialog);
        // The server may end before anybody is told.
        done.send(answer.map(|answer| answer.done).map_err(|error| error.to_string())).ok();
    });
    let (kind, message) = match decided.await {
        Ok(Ok(done)) => (lsp::MessageType::Info, done),
        Ok(Err(error)) => (lsp::MessageType::Error, format!("{code} was not decided: {error}")),
        Err(_) => (lsp::MessageType::Error, format!("{code} was not decided: a fault of ours")),
    };
    let message = text::visible(&message, false);
    client.notify::<lsp::ShowMessageNotification>(&lsp::ShowMessageParams { kind, message });
}

/// Whether a person can see in a dialog all that they would approve.
fn readable(question: &Question) -> bool {
    let lines = question.exactly.lines().count();
    let long = |(_, text): &(&str, String)| text.chars().count() > MAX_DETAIL;
    lines <= 1
        && question.exactly.chars().count() <= MAX_READABLE
        && question.details.len() <= 8
        && !question.details.iter().any(long)
}

/// On one line, as some clients fold lines: with line breaks to be seen.
fn message(asked: &Approval, question: &Question) -> String {
    let seen = |text: &str, max| {
        let shown = text::visible(&text.trim_end().replace('\n', " ⏎ "), false);
        text::shorten(&shown, max)
    };
    let mut said =
        format!("{}: {}", seen(&question.title, MAX_DETAIL), seen(&question.exactly, MAX_READABLE));
    for (label, detail) in &question.details {
        said.push_str(&format!(" · {label}: {}", seen(detail, MAX_DETAIL)));
    }
    let code = &asked.code;
    if readable(question) {
        return format!("{said} · code {code}");
    }
    format!(
        "{said} · This is more than fits here: read it with `intent approve {code}` in a terminal."
    )
}

/// How long it can still be answered.
fn left(asked: &Approval) -> Duration {
    let until = asked.expires_at.parse::<Timestamp>();
    let left = until.map(|until| until.duration_since(Timestamp::now()));
    left.ok().and_then(|left| Duration::try_from(left).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::approvals::{ApprovalState, Subject};

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
        assert!(readable(&question));
        assert_eq!(
            message(&asked, &question),
            "codex:1 wants to run this command: git reset --hard · in: /w · code ABC234"
        );
    }

    #[test]
    fn what_cannot_be_read_cannot_be_approved_in_a_dialog() {
        for text in ["ls\nrm -rf /", &"x".repeat(MAX_READABLE + 1)] {
            let asked = command(text);
            let question = approval::question(&asked);
            assert!(!readable(&question), "{text:.20}");
            let said = message(&asked, &question);
            assert!(said.contains("intent approve ABC234") && !said.contains('\n'), "{said}");
        }
        let hidden = command("ls \u{202e}\u{1b}[2J");
        let said = message(&hidden, &approval::question(&hidden));
        assert!(said.contains("U+202EU+001B"), "{said}");
    }

    #[test]
    fn what_is_over_has_no_time_left() {
        assert_eq!(left(&command("ls")), Duration::ZERO);
    }

    proptest::proptest! {
        #[test]
        fn a_dialog_is_one_line_with_nothing_hidden(text in "(.|\\n){0,24}", actor in ".{0,12}") {
            let asked = Approval { actor, ..command(&text) };
            let said = message(&asked, &approval::question(&asked));
            proptest::prop_assert!(!said.chars().any(char::is_control), "{said:?}");
            proptest::prop_assert!(text::invisible_characters(&said).is_empty(), "{said:?}");
        }
    }
}
