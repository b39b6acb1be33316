//! `intent setup demo`: makes a small repository with a story to look at. All of it is made with the
//! verbs and with git; no line of its ledger is written by hand.

mod story;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::git::{self, stage};
use crate::cli::print::{GOOD, Page, STRONG};
use crate::cli::{CliError, Context, Exit, programs};
use evidence::record::RecordRequest;
use evidence::seal::{SealCaller, after_commit, seal};
use ground::{Environment, RelativePath, Root, text};
use intents::{IntentEntry, Status};
use judgement::judged_record::record;
use judgement::{map, registry};
use overview::init::init;
use overview::select;
use why::Workspace;

/// The person in the story: name and e-mail address.
const PERSON: (&str, &str) = ("Ada Lovelace", "ada@example.org");

/// Make a small repository with a story to look at
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A person's first commit, two intents, two agents that worked under them, their records in
the commits, and one edit since that is out of scope. It needs git, and touches nothing but
the folder; remove that when you have seen enough.

Examples:
  intent setup demo
  intent setup demo ~/intent-demo")]
pub struct DemoArgs {
    /// An empty or a new folder to make it in; without one, a temporary folder
    folder: Option<PathBuf>,
}

/// A repository that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoAnswer {
    /// The folder of the repository.
    folder: String,
    /// Commands to try in it, one after the other.
    commands: Vec<String>,
}

pub fn run(context: &Context, args: DemoArgs) -> Result<Exit, CliError> {
    let folder = match &args.folder {
        Some(folder) => {
            let folder = context.cwd.join(folder);
            require_ungoverned(&folder, context.environment())?;
            empty(&folder)?
        }
        None => temporary(context.environment())?,
    };
    let stage = Stage { folder, environment: context.environment().clone() };
    stage.play()?;
    let answer = DemoAnswer {
        folder: stage.folder.display().to_string(),
        commands: COMMANDS.iter().map(|(command, _)| (*command).to_owned()).collect(),
    };
    context.answer(&answer, |page| show(page, &answer))
}

const COMMANDS: [(&str, &str); 5] = [
    (
        "intent why src/auth/tokens.py:19",
        "who asked for this line, who wrote it, and is it still so?",
    ),
    ("intent list", "what was asked for, and what came of it"),
    ("intent map --stdout", "which definitions belong to which intent"),
    ("intent report --html", "all of it on one page for the browser"),
    ("intent check", "does what is not committed agree? (no: it ends with 1)"),
];

fn show(page: &mut Page, answer: &DemoAnswer) {
    page.label(GOOD, "●").styled(STRONG, &answer.folder).end();
    page.line("Two agents have worked here under two intents, and somebody has edited since.");
    page.gap().literal("  cd ").text(text::shell_word(&answer.folder)).end();
    for (command, what) in COMMANDS {
        page.literal("  ").text(command).pad_to(38).literal("# ").line(what);
    }
    page.gap().line("Or open the folder in your editor. Remove it when you have seen enough.");
}

/// Refuses a folder inside another workspace, because the rules of that workspace would apply to
/// the demo.
fn require_ungoverned(folder: &Path, environment: &Environment) -> Result<(), CliError> {
    let root = Root::find(folder, environment)?;
    if !root.governed() {
        return Ok(());
    }
    Err(CliError::usage(
        format!("{} lies in the workspace {}", folder.display(), root.path().display()),
        "name a folder outside of it, or none: `intent setup demo`",
    ))
}

fn empty(folder: &Path) -> Result<PathBuf, CliError> {
    let io = |source| CliError::io(folder, "made", source);
    std::fs::create_dir_all(folder).map_err(io)?;
    if std::fs::read_dir(folder).map_err(io)?.next().is_some() {
        return Err(CliError::usage(
            format!("{} is not empty; nothing was changed", folder.display()),
            "name a folder that is not there yet, or none: `intent setup demo`",
        ));
    }
    folder.canonicalize().map_err(io)
}

fn temporary(environment: &Environment) -> Result<PathBuf, CliError> {
    let folder = environment.temporary_folder();
    let io = |source| CliError::io(folder, "written to", source);
    let made = tempfile::Builder::new().prefix("intent-demo-").tempdir_in(folder).map_err(io)?;
    made.keep().canonicalize().map_err(io)
}

struct Stage {
    folder: PathBuf,
    environment: Environment,
}

struct SessionWork<'a> {
    session: &'a str,
    agent: &'a str,
    model: &'a str,
    intent: &'a str,
    path: &'a str,
    edits: &'a [(&'a str, &'a str)],
    subject: &'a str,
}

impl Stage {
    fn play(&self) -> Result<(), CliError> {
        self.git(&["init", "--quiet"])?;
        self.git(&["symbolic-ref", "HEAD", "refs/heads/main"])?;
        // Later commits in this repository are made in the name of the story's person, not of the
        // user who made the demo.
        self.git(&["config", "user.name", PERSON.0])?;
        self.git(&["config", "user.email", PERSON.1])?;
        self.write("README.md", story::README)?;
        self.write(story::TOKENS, story::TOKENS_BEFORE)?;
        self.write(story::INVOICE, story::INVOICE_BEFORE)?;
        self.commit("A shop: tokens and invoices")?;

        init(&self.folder, &self.environment)?;
        self.intent("Tokens that expire", "src/auth/**", "No external auth providers")?;
        self.intent("Taxes on invoices", "src/billing/**", "Amounts are whole cents")?;
        self.commit("Say what is asked for")?;

        self.act(&SessionWork {
            session: "claude-code:demo-1",
            agent: "claude-code",
            model: "anthropic/claude-sonnet",
            intent: "INT-001",
            path: story::TOKENS,
            edits: &story::TOKENS_EDITS,
            subject: "auth: refuse tokens that have expired",
        })?;
        self.act(&SessionWork {
            session: "codex:demo-2",
            agent: "codex",
            model: "openai/gpt",
            intent: "INT-002",
            path: story::INVOICE,
            edits: &story::INVOICE_EDITS,
            subject: "billing: add taxes, and show amounts",
        })?;

        // A change out of scope: the intent on tokens is selected, and an invoice is changed.
        select::select(&self.workspace()?, "INT-001", None)?;
        self.edit(story::INVOICE, &[story::OUT_OF_SCOPE])?;
        map::refresh(&self.workspace()?);
        Ok(())
    }

    fn workspace(&self) -> Result<Workspace, CliError> {
        Ok(Workspace::open(&self.folder, &self.environment)?)
    }

    fn intent(&self, name: &str, scope: &str, constraint: &str) -> Result<(), CliError> {
        let intent = IntentEntry {
            name: name.to_owned(),
            status: Status::InProgress,
            owned_scope: vec![scope.to_owned()],
            constraints: vec![constraint.to_owned()],
            owner: Some("@ada".to_owned()),
            ..IntentEntry::default()
        };
        registry::new(&self.workspace()?, intent)?;
        Ok(())
    }

    /// Selects an intent, edits a file, records it, and commits, as an agent would. The commit
    /// carries the records.
    fn act(&self, act: &SessionWork<'_>) -> Result<(), CliError> {
        select::select(&self.workspace()?, act.intent, Some(act.session))?;
        self.edit(act.path, act.edits)?;
        let request = RecordRequest {
            paths: vec![RelativePath::new(act.path)?],
            intent: Some(act.intent.to_owned()),
            session: Some(act.session.to_owned()),
            agent: Some(act.agent.to_owned()),
            model: Some(act.model.to_owned()),
            ..RecordRequest::default()
        };
        record(&self.workspace()?, &request)?;
        self.commit(act.subject)
    }

    fn write(&self, path: &str, text: &str) -> Result<(), CliError> {
        let path = self.folder.join(path);
        let io = |source| CliError::io(&path, "written", source);
        std::fs::create_dir_all(path.parent().unwrap_or(&self.folder)).map_err(io)?;
        std::fs::write(&path, text).map_err(io)
    }

    fn edit(&self, path: &str, edits: &[(&str, &str)]) -> Result<(), CliError> {
        let file = self.folder.join(path);
        let text = std::fs::read_to_string(&file);
        let text = text.map_err(|source| CliError::io(&file, "read", source))?;
        let edited = edits.iter().fold(text, |text, (old, new)| text.replacen(old, new, 1));
        self.write(path, &edited)
    }

    /// Commits all files together with the evidence of their records, as our git hooks would do.
    fn commit(&self, subject: &str) -> Result<(), CliError> {
        self.git(&["add", "--all"])?;
        let workspace = self.workspace()?;
        if workspace.root.governed() {
            let sealed = seal(&workspace, SealCaller::Person)?;
            stage(&workspace, sealed.written.iter().chain(&sealed.removed))
                .map_err(|source| CliError::io(&self.folder, "staged", source))?;
        }
        self.git(&["commit", "--quiet", "--message", subject])?;
        after_commit(&self.workspace()?)?;
        Ok(())
    }

    /// Runs git without the settings of the user and the machine, so that no hook, template or
    /// signature of theirs takes part.
    fn git(&self, arguments: &[&str]) -> Result<(), CliError> {
        let mut git = programs::command("git", &self.environment);
        for handed in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_TEMPLATE_DIR"] {
            git.env_remove(handed);
        }
        git.args(["-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false"]).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", if cfg!(windows) { "NUL" } else { "/dev/null" });
        git.env("GIT_CONFIG_NOSYSTEM", "1").current_dir(&self.folder);
        let output = git::run(&mut git).map_err(|source| CliError::io("git", "started", source))?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(CliError::usage(
            format!("git did not do its part in {}: {stderr}", self.folder.display()),
            "remove that folder, and run this again with a newer git",
        ))
    }
}
