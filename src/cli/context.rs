//! The context that every command receives: the folder it runs in, and the printer for its output.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Serialize;

use super::error::CliError;
use super::exit::Exit;
use super::print::{NOTE, Page, Printer};
use super::progress::with_progress;
use super::target::FileTarget;
use ground::session::announced::{Caller, Runner, take_announced};
use ground::{Environment, RelativePath, Root, agents, text};
use why::Workspace;

pub struct Context {
    /// Absolute. Relative path arguments are resolved against this folder.
    pub cwd: PathBuf,
    /// True if `cwd` was given with `-C`.
    pub named: bool,
    pub printer: Printer,
    environment: Environment,
    /// The arguments of the process, without its name.
    arguments: Vec<OsString>,
    agent: OnceLock<Option<String>>,
    /// The root of the workspace that the command is about, once it has opened one.
    asked: RefCell<Option<PathBuf>>,
    /// Why the repository of the workspace that was opened last cannot be read. `None` if it can be, or
    /// if there is none.
    git_error: RefCell<Option<String>>,
}

impl Context {
    pub fn new(
        directory: Option<&Path>,
        printer: Printer,
        environment: Environment,
        arguments: Vec<OsString>,
    ) -> Result<Self, CliError> {
        let here = environment
            .folder()
            .map_err(|source| CliError::io("the current folder", "read", source))?;
        let cwd = directory.map_or_else(|| here.to_owned(), |directory| here.join(directory));
        if !cwd.is_dir() {
            let hint = "name an existing folder with -C";
            return Err(CliError::usage(format!("{} is not a folder", cwd.display()), hint));
        }
        let arguments = arguments.into_iter().skip(1).collect();
        let (named, agent, asked) = (directory.is_some(), OnceLock::new(), RefCell::new(None));
        let git_error = RefCell::new(None);
        Ok(Self { cwd, named, printer, environment, arguments, agent, asked, git_error })
    }

    #[cfg(test)]
    pub fn silent(folder: &Path) -> Self {
        let environment = Environment::of_process();
        let streams = super::Streams::new(std::io::empty(), std::io::sink(), std::io::sink());
        let printer = Printer {
            json_asked: false,
            color: clap::ColorChoice::Never,
            quiet: false,
            streams: std::sync::Arc::new(streams),
            environment: environment.clone(),
        };
        Self::new(Some(folder), printer, environment, Vec::new()).expect("a context")
    }

    pub fn with_progress<T>(&self, workspace: &Workspace, ask: impl FnOnce() -> T) -> T {
        with_progress(&self.printer, workspace, ask)
    }

    /// Returns the error for a file that does not exist. `named` is the path as the user wrote it in
    /// the folder of the command. Messages name files from the root of the workspace, so a path that was
    /// copied from one may only exist there.
    pub fn missing_file(&self, named: &Path) -> CliError {
        let root = Root::find(&self.cwd, &self.environment)
            .ok()
            .filter(|root| root.path().join(named).exists());
        let hint = match root {
            Some(root) => format!(
                "paths are taken from the current folder; with `-C {}`, this one is taken from \
                 the root of the workspace",
                text::shell_word(&root.path().to_string_lossy())
            ),
            None => self.hint_about_intent(named).unwrap_or_else(|| {
                "paths are taken from the current folder, or from the one named with -C".into()
            }),
        };
        CliError::usage(format!("{} does not exist", named.display()), hint)
    }

    /// Returns a hint if a name that was meant as a file is the id of an intent, in any letters.
    pub fn hint_about_intent(&self, named: &Path) -> Option<String> {
        let workspace = self.open_workspace().ok()?;
        let mut ids = workspace.registry.all_intents().map(|intent| &intent.id.value);
        let is_it = |id: &&String| named.to_str().is_some_and(|text| id.eq_ignore_ascii_case(text));
        let id = ids.find(is_it)?;
        Some(format!(
            "{id} is an intent: `intent trace {id}` shows its records, `intent context {id}` what it asks for"
        ))
    }

    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    pub fn open_workspace(&self) -> Result<Workspace, CliError> {
        self.open_at(&self.cwd)
    }

    pub fn open_at(&self, path: &Path) -> Result<Workspace, CliError> {
        let workspace = Workspace::open(path, &self.environment)?;
        self.turns_to(&workspace.root);
        self.git_error.replace(workspace.git_error().map(str::to_owned));
        Ok(workspace)
    }

    /// Says that what follows is about this workspace, so that advised commands act there.
    pub fn turns_to(&self, root: &Root) {
        self.asked.replace(Some(root.path().to_owned()));
    }

    /// Prints why the command failed. The advice of a usage error names paths as the person typed
    /// them, and other advice names them from the root of the workspace.
    pub fn error(&self, error: &CliError) -> Exit {
        let asked = self.asked.borrow();
        let root = asked.as_ref().filter(|_| matches!(error, CliError::Verb(_)));
        self.printer.error(error, self.named_folder(root.unwrap_or(&self.cwd)))
    }

    /// Returns a folder as the person has to name it in a command. `None` if they stand there.
    fn named_folder(&self, folder: &Path) -> Option<String> {
        let word = path_for_shell(self.environment.folder().ok()?, folder);
        (word != ".").then_some(word)
    }

    /// Like [`Context::open_workspace`], but fails if the folder is in no workspace.
    pub fn governed_workspace(&self) -> Result<Workspace, CliError> {
        let workspace = self.open_workspace()?;
        workspace.governed()?;
        Ok(workspace)
    }

    /// Returns the agent that runs this command, as `host:session`, if the agent's hook announced
    /// this command a moment ago. Returns `None` for a person.
    pub fn agent(&self) -> Option<&str> {
        self.agent.get_or_init(|| self.announced()).as_deref()
    }

    /// Returns true if a person reads the answer: standard output is a terminal, and no agent started
    /// this process.
    pub fn is_read_by_person(&self) -> bool {
        let is_seen = self.printer.streams.terminals.output;
        is_seen && agents::agent_above(&self.environment).is_none()
    }

    /// Returns the session and the agent to name in a record. If neither is given, both are those
    /// of the agent that runs this command.
    pub fn acting(
        &self,
        session: Option<&str>,
        agent: Option<&str>,
    ) -> (Option<String>, Option<String>) {
        let caller = if session.is_none() && agent.is_none() { self.agent() } else { None };
        let host = caller.and_then(|caller| caller.split_once(':')).map(|(host, _)| host);
        (session.or(caller).map(str::to_owned), agent.or(host).map(str::to_owned))
    }

    pub fn file(&self, target: &FileTarget) -> Result<(Workspace, RelativePath), CliError> {
        if target.path.is_dir() {
            let hint = "name a file, as PATH or PATH:LINE";
            return Err(CliError::usage(format!("{} is a folder", target.named), hint));
        }
        let workspace = self.workspace_of(target)?;
        let path = workspace.path(&self.cwd, &target.path)?;
        Ok((workspace, path))
    }

    /// Opens the workspace that contains a file or folder. Fails if it is in no repository, unless it
    /// is in the current folder, which may become a workspace.
    pub fn workspace_of(&self, target: &FileTarget) -> Result<Workspace, CliError> {
        let workspace = self.open_at(&target.path)?;
        self.refuse_outside(&workspace.root, &target.named)?;
        Ok(workspace)
    }

    pub fn refuse_outside(&self, root: &Root, named: impl Display) -> Result<(), CliError> {
        let cwd = self.cwd.canonicalize().unwrap_or_else(|_| self.cwd.clone());
        let may_become_one = cwd.parent().is_some() && root.path().starts_with(&cwd);
        if root.governed() || root.work_tree().is_some() || may_become_one {
            return Ok(());
        }
        let hint = "name a file of the repository that you work in";
        Err(CliError::usage(format!("{named} is outside of any repository"), hint))
    }

    pub fn existing_file(
        &self,
        target: &FileTarget,
    ) -> Result<(Workspace, RelativePath), CliError> {
        if target.path.symlink_metadata().is_err() {
            return Err(self.missing_file(Path::new(&target.named)));
        }
        self.file(target)
    }

    /// Returns a path of the workspace as a person would type it in the current folder; see
    /// [`path_for_shell`].
    pub fn path_for_shell(&self, root: &Root, path: &str) -> String {
        path_for_shell(&self.cwd, &root.path().join(path))
    }

    /// Prints an answer: as JSON with `--json`, otherwise as the page that `human` fills in. Returns
    /// [`Exit::Fine`].
    pub fn answer<T: Serialize>(
        &self,
        answer: &T,
        human: impl FnOnce(&mut Page),
    ) -> Result<Exit, CliError> {
        if let Some(reason) = self.git_error.take() {
            let mut page = Page::default();
            page.label(NOTE, "note:");
            page.text(format_args!("the answer lacks what git knows, because {reason}")).end();
            self.printer.aside(&page)?;
        }
        if self.printer.json_asked {
            return self.printer.json(answer);
        }
        let mut page = Page::with_commands_in(
            self.asked.borrow().as_ref().and_then(|root| self.named_folder(root)),
        );
        human(&mut page);
        self.printer.page(&page)
    }

    /// Takes the note that an agent's hook left for this process. A person's own commands take none,
    /// whatever an agent was about to run.
    fn announced(&self) -> Option<String> {
        agents::agent_above(&self.environment)?;
        let governed = |folder| Root::find(folder, &self.environment).ok().filter(Root::governed);
        let started_in = self.environment.folder().ok().and_then(governed);
        let root = started_in.or_else(|| governed(&self.cwd))?;
        let arguments: Option<Vec<String>> =
            self.arguments.iter().map(|argument| argument.clone().into_string().ok()).collect();
        let caller =
            Caller { runner: Runner::CommandLine, actor: None, environment: &self.environment };
        take_announced(&root, &arguments?, &caller)
    }
}

/// Returns a path as a person would type it in a folder. It is quoted for the shell, so it can be
/// pasted into a command.
fn path_for_shell(folder: &Path, target: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let common = folder.ancestors().find(|above| target.starts_with(above));
    let from_here = common.and_then(|common| {
        let up = folder.strip_prefix(common).ok()?.components().map(|_| "..");
        Some(up.map(Path::new).chain([target.strip_prefix(common).ok()?]).collect::<PathBuf>())
    });
    // With more than three `..`, the absolute path is easier to read.
    let near = from_here.filter(|path| !path.starts_with("../../../.."));
    let shown = near.as_deref().unwrap_or(target).to_string_lossy().into_owned();
    match shown.trim_end_matches('/') {
        "" => ".".to_owned(),
        shown => text::shell_path(shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_relative_to_the_current_folder() {
        let place = tempfile::tempdir().expect("a folder");
        let top = place.path().canonicalize().expect("its real path");
        let below = top.join("a/b");
        std::fs::create_dir_all(&below).expect("folders");
        let root = Root::find(&top, &Environment::of_process()).expect("a root");
        let typed = |cwd: &Path, path: &str| Context::silent(cwd).path_for_shell(&root, path);
        assert_eq!(typed(&top, "src/a.rs"), "src/a.rs");
        assert_eq!(typed(&top, ""), ".");
        assert_eq!(typed(&below, "src/a.rs"), "../../src/a.rs");
        assert_eq!(typed(&below, "a/c.rs"), "../c.rs");
        assert_eq!(typed(&below, ""), "../..");
        assert_eq!(typed(&top, "it's here.rs"), "'it'\\''s here.rs'");
        assert_eq!(typed(&top, "-a.rs"), "./-a.rs");
        assert_eq!(typed(&below, "a/-b.rs"), "../-b.rs");
        assert_eq!(typed(&top, "a   b.rs"), "'a '' '' b.rs'");
        assert_eq!(
            typed(Path::new("/"), "a").trim_start_matches('/'),
            format!("{}/a", top.display()).trim_start_matches('/')
        );
    }
}
