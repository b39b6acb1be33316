//! `intent setup merge-registry`: merges two versions of a registry intent by intent, after a
//! conflict or as a merge driver of git.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::shared;
use crate::cli::print::{DIM, GOOD, Page};
use crate::cli::{CliError, Context, Exit, person, programs};
use ground::text::shell_word;
use ground::{RelativePath, store};
use intents::entries;
use intents::reserved_ids;
use judgement::{map, registry};
use overview::init::LIST_DRIVER;
use why::Workspace;

/// Settle a merge conflict in the registry: the intents of both sides are kept
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Of two intents with one id, the second gets another one, and its records go with it. What
both sides changed in one intent is merged entry by entry, and it is said what was chosen.
With --install, git merges the list this way by itself, in this clone. It then calls this
command with the three versions of the file.")]
pub struct MergeRegistryArgs {
    /// Let git merge the list in this way in this clone
    #[arg(long, exclusive = true)]
    install: bool,

    /// What git gives to a merge driver: the common version, ours (which is written) and theirs
    #[arg(value_name = "FILE", num_args = 3, hide = true)]
    versions: Vec<PathBuf>,

    /// The path of the file in the repository, for a merge driver
    #[arg(long, value_name = "PATH", hide = true)]
    path: Option<String>,
}

/// What was merged.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MergeRegistryAnswer {
    /// The files that had a conflict, and have none now.
    pub merged: Vec<String>,
    /// Sentences about what was chosen.
    pub notes: Vec<String>,
}

pub fn run(context: &Context, args: MergeRegistryArgs) -> Result<Exit, CliError> {
    if let [base, ours, theirs] = &args.versions[..] {
        return drive(context, [base, ours, theirs], args.path.as_deref());
    }
    person::no_agent(context)?;
    let workspace = context.governed_workspace()?;
    if args.install {
        return install(context, &workspace);
    }
    let git = |stage: u8, path: &RelativePath| {
        let mut command = programs::command("git", context.environment());
        command.current_dir(workspace.root.path()).args(["show", &format!(":{stage}:./{path}")]);
        let output = command.output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    let (_, taken) =
        reserved_ids::used_or_reserved(&workspace.root, workspace.git(), &workspace.registry);
    let mut answer = MergeRegistryAnswer::default();
    for file in workspace.registry.files() {
        let path = file.path();
        // What stands between the markers, or all of what git keeps of the two sides.
        let marked = code::sides(file.text()).filter(|_| !code::conflicts(file.text()).is_empty());
        let Some([ours, theirs]) = marked else { continue };
        let base = git(1, path);
        let of_git = git(2, path).zip(git(3, path));
        let (ours, theirs) = of_git.unwrap_or((ours, theirs));
        let versions = [base.as_deref().unwrap_or_default(), &ours, &theirs];
        let merged = entries::merge(path, versions, &taken)?;
        registry::settle(&workspace, path, &merged.text)?;
        answer.merged.push(path.to_string());
        answer.notes.extend(merged.notes);
    }
    map::refresh(&context.open_workspace()?);
    context.answer(&answer, |page| show(page, &answer))
}

fn show(page: &mut Page, answer: &MergeRegistryAnswer) {
    for path in &answer.merged {
        page.label(GOOD, "✓").text(path.as_str()).line(" holds the intents of both sides");
    }
    shared::notes(page, &answer.notes);
    match answer.merged.is_empty() {
        true => page.styled(DIM, "no file of the registry has a conflict").end(),
        false => {
            let paths: Vec<String> = answer.merged.iter().map(|path| shell_word(path)).collect();
            page.next_command(&format!("git add {}", paths.join(" ")))
        }
    };
}

/// Merges as git asks a driver to: the result is written over our version. If the versions cannot be
/// merged intent by intent, nothing is written, and the driver lets git merge the lines.
fn drive(
    context: &Context,
    [base, ours, theirs]: [&Path; 3],
    path: Option<&str>,
) -> Result<Exit, CliError> {
    let read = |path: &Path| {
        let file = context.cwd.join(path);
        std::fs::read_to_string(&file).map_err(|source| CliError::io(path, "read", source))
    };
    let texts = [read(base)?, read(ours)?, read(theirs)?];
    let used = |ws: Workspace| reserved_ids::used_or_reserved(&ws.root, ws.git(), &ws.registry).1;
    let taken = context.open_workspace().map(used).unwrap_or_default();
    let list = RelativePath::new(path.unwrap_or(LIST)).or_else(|_| RelativePath::new(LIST));
    let merged = list.ok().and_then(|list| {
        let texts = texts.each_ref().map(String::as_str);
        entries::merge(&list, texts, &taken).ok()
    });
    let Some(merged) = merged else { return Ok(Exit::Findings) };
    std::fs::write(context.cwd.join(ours), merged.text)
        .map_err(|source| CliError::io(ours, "written", source))?;
    let mut page = Page::default();
    shared::notes(&mut page, &merged.notes);
    context.printer.aside(&page)
}

const LIST: &str = ".orchestration/active_intents.yaml";
const FOLDER: &str = ".orchestration";

fn install(context: &Context, workspace: &Workspace) -> Result<Exit, CliError> {
    for (key, value) in LIST_DRIVER {
        let mut command = programs::command("git", context.environment());
        command.current_dir(workspace.root.path()).args(["config", key, value]);
        let status = command.status().map_err(|source| CliError::io("git", "started", source))?;
        if !status.success() {
            return Err(CliError::usage("git config failed", "a repository of git is needed"));
        }
    }
    let list = workspace.registry.path().as_str();
    // Attributes apply to files below the folder in which they are written.
    let (attributes, name) = match list.strip_prefix(FOLDER) {
        Some(name) => (format!("{FOLDER}/.gitattributes"), name.to_owned()),
        None => (".gitattributes".to_owned(), format!("/{list}")),
    };
    let file = workspace.root.path().join(&attributes);
    let mut text = std::fs::read_to_string(&file).unwrap_or_default();
    let line = format!("{name} merge=intent-registry\n");
    if !text.contains(&line) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
        store::write_atomic(&file, text.as_bytes())?;
    }
    let answer = MergeRegistryAnswer::default();
    context.answer(&answer, |page| {
        page.label(GOOD, "✓").literal("git merges ").text(list);
        page.line(" intent by intent in this clone");
        page.next_command(&format!("git add {attributes}"));
    })
}
