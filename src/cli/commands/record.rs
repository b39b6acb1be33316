//! `intent record`: records that files were changed.

mod files;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use schemars::JsonSchema;
use serde::Serialize;

use super::seal::stage_sealed;
use super::shared;
use crate::cli::person::Terminal;
use crate::cli::print::{DIM, GOOD, INTENT, PLAIN, Page, STRONG, WARN};
use crate::cli::target::line_range;
use crate::cli::{CliError, Context, Exit, person};
use code::LineRange;
use evidence::record::undo::{LastRecords, UndoneRecord};
use evidence::record::{
    ALL_RECORDED, RecordExtent, RecordRequest, RecordedFile, SkippedFile,
    committed_lines_without_record,
};
use evidence::seal::SealCaller;
use evidence::{git_hooks, seal};
use ground::agents;
use ground::text::counted;
use judgement::judged_record::record;
use judgement::map;
use ledger::EntityType;
use why::Workspace;

/// How many files that were skipped for the same reason are named; the others are only counted.
const NAMED: usize = 3;

const UNKNOWN_AUTHOR: &str = "the record does not say who wrote this; name yourself with --me, or an agent with --agent NAME";

/// Record what changed, under the selected intent
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compares each file with what was recorded or committed before, and appends the lines
and blocks that changed to the ledger. A folder stands for the files below it that git does not
ignore, and for those that are gone; of those only what changed is told. Exit code 1
when nothing was recorded, or when the gate is against a write that was recorded.

Examples:
  intent record src/auth/jwt.rs
  intent record src --intent INT-001 --agent claude-code --model anthropic/claude
  intent record --me src/auth/jwt.rs
  intent record --all --lines 12-40 src/legacy.rs
  intent record --undo")]
pub struct RecordArgs {
    /// Files or folders
    #[arg(required_unless_present = "undo", value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Record all lines that have no record yet, changed or not; asks before it claims committed
    /// lines
    #[arg(long)]
    all: bool,

    /// With --all: claim committed lines without being asked
    #[arg(long, requires = "all")]
    yes: bool,

    /// Take back the last record of this work tree that is in no commit
    #[arg(long, conflicts_with_all = ["paths", "all", "intent", "session", "agent", "model", "contributor", "me", "class"])]
    undo: bool,

    /// You wrote it: record git's name for you, also without a terminal
    #[arg(long, conflicts_with_all = ["contributor", "agent", "model", "session"])]
    me: bool,

    /// With --all: only these lines of one file
    #[arg(long, value_name = "A-B", requires = "all", value_parser = lines)]
    lines: Option<LineRange>,

    /// The intent; without one, the selected intent
    #[arg(long, value_name = "ID")]
    intent: Option<String>,

    /// The session, as host:id
    #[arg(long, value_name = "S")]
    session: Option<String>,

    /// The name of the agent that wrote the code
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// The model that wrote, as provider/model
    #[arg(long, value_name = "M")]
    model: Option<String>,

    /// Who wrote; AI where an agent or a model is named, else you at a terminal, else unknown
    #[arg(long, value_parser = contributor(), value_name = "WHO")]
    contributor: Option<EntityType>,

    /// The class of change that the agent claims; stored beside the class that is computed
    #[arg(long, value_name = "C")]
    class: Option<String>,

    /// Name each block, and each file of which nothing was recorded
    #[arg(short, long)]
    verbose: bool,
}

fn lines(text: &str) -> Result<LineRange, String> {
    line_range(text).ok_or_else(|| {
        format!("`{text}` is no range of lines; write them as 12-40, counted from 1")
    })
}

fn contributor() -> impl TypedValueParser<Value = EntityType> {
    PossibleValuesParser::new(["human", "ai", "mixed", "unknown"])
        .map(|word| shared::of_json_word(word.to_uppercase()).unwrap_or_default())
}

/// What was recorded and what was not, in every workspace that the arguments lie in.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct RecordedAnswer {
    /// One entry for each file.
    recorded: Vec<Rooted<RecordedFile>>,
    /// Files of which nothing was recorded, each with its reason.
    skipped: Vec<Rooted<SkippedFile>>,
    /// Advice to install git's hooks, if something was recorded and the hooks are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Whether the record does not say who wrote, because nobody is named and no person is at a
    /// terminal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unknown_author: bool,
    /// With `--undo`: the records that were taken back, with one entry for each file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undone: Vec<UndoneRecord>,
}

/// An entry, together with the workspace that its path is relative to.
#[derive(Debug, Serialize, JsonSchema)]
struct Rooted<T> {
    /// The root folder of the workspace.
    root: String,
    #[serde(flatten)]
    file: T,
}

impl<T> Rooted<T> {
    fn of_files(root: &str, files: Vec<T>) -> impl Iterator<Item = Self> {
        files.into_iter().map(|file| Self { root: root.to_owned(), file })
    }
}

pub fn run(context: &Context, args: RecordArgs) -> Result<Exit, CliError> {
    if args.undo {
        return take_back(context);
    }
    if args.me {
        person::no_agent(context)?;
    }
    let mut answer = RecordedAnswer::default();
    let (mut looked_at, mut needs_code, mut has_git) = (0, false, false);
    for files::WorkspaceFiles { workspace, files, named } in
        files::by_workspace(context, &args.paths)?
    {
        context.turns_to(&workspace.root);
        looked_at += files.len();
        let paths = files.into_iter().collect();
        let request = RecordRequest { paths, ..request(context, &args, &workspace) };
        if request.extent == RecordExtent::WholeFile && !args.yes {
            ask_for_committed_lines(context, &workspace.clone().with_records_of_now(), &request)?;
        }
        let root = workspace.root.path().display().to_string();
        has_git |= workspace.git().is_some();
        let mut here = record(&workspace, &request)?;
        // In a named folder, files with nothing to record are not worth a line.
        here.skipped.retain(|file| !file.unchanged || named.contains(&file.path));
        if !here.recorded.is_empty() {
            let paths: Vec<_> = here.recorded.iter().map(|file| file.path.clone()).collect();
            map::follow(&workspace, &paths);
            answer.hint = answer.hint.or_else(|| git_hooks::hint(&workspace));
            let is_named = request.agent.is_some() || request.model.is_some();
            answer.unknown_author = !is_named && request.contributor.is_none();
        }
        let needs = |file: &RecordedFile| !seal::is_code_committed(&workspace, &file.path);
        needs_code |= args.all && here.recorded.iter().any(needs);
        answer.recorded.extend(Rooted::of_files(&root, here.recorded));
        answer.skipped.extend(Rooted::of_files(&root, here.skipped));
    }
    context.answer(&answer, |page| {
        show(page, &answer, &args, (looked_at, has_git));
        if args.all && !needs_code && !answer.recorded.is_empty() {
            shared::print_seal_command(page, "Record code");
        }
    })?;
    let against = answer.recorded.iter().any(|entry| entry.file.against.is_some());
    Ok(Exit::found(answer.recorded.is_empty() || against))
}

/// Asks a person before committed lines are claimed that somebody may have written for no intent at
/// all. Refuses if nobody can be asked.
fn ask_for_committed_lines(
    context: &Context,
    workspace: &Workspace,
    request: &RecordRequest,
) -> Result<(), CliError> {
    let by_author = committed_lines_without_record(workspace, &request.paths)?;
    if by_author.is_empty() {
        return Ok(());
    }
    let whose: Vec<String> = by_author
        .iter()
        .map(|(who, lines)| format!("{} of {who}", counted(*lines, "line")))
        .collect();
    let selected = || workspace.selected(request.session.as_deref());
    let intent = request.intent.clone().or_else(selected).unwrap_or_else(|| "an intent".to_owned());
    let what = format!("--all claims committed code for {intent}: {}", whose.join(", "));
    let hint = "without `--all` only what changed is recorded, `--all --lines A-B` claims only these lines, and `--yes` claims all of them";
    let Ok(terminal) = Terminal::of_a_person(context) else {
        return Err(CliError::usage(what, hint));
    };
    let mut page = Page::default();
    page.text(&what).literal(". ").literal(hint).end();
    let refused = CliError::usage("nothing was recorded", hint);
    terminal.confirms(&context.printer, &mut page, " to claim them: ", refused)
}

/// Takes back the last record that is in no commit. What somebody declared may be taken back without
/// a terminal, but only a person at one takes back what a hook saw.
fn take_back(context: &Context) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let workspace = context.open_workspace()?;
    // Without hooks, nobody has noticed yet which records a commit has.
    seal::after_commit(&workspace)?;
    let workspace = workspace.with_records_of_now();
    let last = LastRecords::find(&workspace)?;
    if last.are_observed() {
        Terminal::of_a_person(context)?;
    }
    let was_sealed = last.are_sealed();
    let undone = last.take_back()?;
    if was_sealed {
        let answer = seal::seal(&workspace, SealCaller::Hook)?;
        stage_sealed(context, &workspace, &answer)?;
    }
    let answer = RecordedAnswer { undone, ..RecordedAnswer::default() };
    map::refresh(&workspace);
    context.answer(&answer, |page| {
        for one in &answer.undone {
            page.label(GOOD, "✓").styled(STRONG, one.path.as_str());
            page.literal("  ").count(one.lines, "line").literal(" under ");
            let intent = one.intent.as_deref().unwrap_or("no intent");
            page.styled(INTENT, intent).line(" taken back");
        }
    })
}

fn request(context: &Context, args: &RecordArgs, workspace: &Workspace) -> RecordRequest {
    let (session, agent) = context.acting(args.session.as_deref(), args.agent.as_deref());
    // If a person records and names no agent, the work is theirs.
    let is_named = agent.is_some() || args.model.is_some() || session.is_some();
    let is_person = args.me || !is_named && person::is_here(context);
    let by_default = is_person.then_some(EntityType::Human);
    let contributor = args.contributor.or(by_default);
    let has_person = matches!(contributor, Some(EntityType::Human | EntityType::Mixed));
    RecordRequest {
        extent: match args.lines {
            Some(lines) => RecordExtent::Lines(lines),
            None if args.all => RecordExtent::WholeFile,
            None => RecordExtent::Changes,
        },
        intent: args.intent.clone(),
        session,
        agent,
        model: args.model.clone(),
        contributor,
        person: person::name(workspace).filter(|_| has_person),
        claimed_class: args.class.clone(),
        accepts_ungated: !is_named && agents::agent_above(context.environment()).is_none(),
        ..RecordRequest::default()
    }
}

fn show(
    page: &mut Page,
    answer: &RecordedAnswer,
    args: &RecordArgs,
    (looked_at, has_git): (usize, bool),
) {
    for entry in &answer.recorded {
        show_recorded(page, &entry.file, args.verbose);
    }
    left_out(page, &answer.skipped, args.verbose);
    if answer.unknown_author {
        page.label(WARN, "!").literal(UNKNOWN_AUTHOR);
        page.line(if has_git { ". `intent record --undo` takes it back" } else { "" });
    }
    shared::hint(page, answer.hint.as_deref());
    if !answer.recorded.is_empty() || !answer.skipped.is_empty() {
        return;
    }
    match (looked_at, args.all) {
        (0, _) => page.line("There is no file to record below what was named"),
        (_, true) => page.literal("Nothing was recorded: ").literal(ALL_RECORDED).end(),
        (_, false) => page.line(
            "Nothing changed there since it was recorded or committed; --all --lines A-B claims lines that have no record",
        ),
    };
}

fn show_recorded(page: &mut Page, file: &RecordedFile, verbose: bool) {
    page.label(GOOD, "✓").styled(STRONG, file.path.as_str()).literal("  ");
    page.count(file.lines, "line").literal(" in ").count(file.blocks, "block").literal(" under ");
    page.styled(INTENT, &file.intent).literal("  ");
    let class = file.mutation_class.map_or("class undetermined", shared::class_word);
    page.styled(DIM, class).end();
    for reason in file.reasons.iter().filter(|_| verbose) {
        page.literal("  ").styled(DIM, reason).end();
    }
    if let Some(against) = &file.against {
        page.literal("  ").label(WARN, "warning:").advice(PLAIN, against).end();
    }
}

fn left_out(page: &mut Page, files: &[Rooted<SkippedFile>], verbose: bool) {
    let mut by_reason: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for Rooted { file, .. } in files {
        let named = file.block.as_deref().and_then(|block| file.reason.strip_prefix(block));
        let reason = named.map_or(file.reason.as_str(), str::trim_start);
        let blocks = by_reason.entry(reason).or_default().entry(file.path.as_str()).or_default();
        blocks.extend(file.block.as_deref());
    }
    for (reason, paths) in by_reason {
        let blocks: usize = paths.values().map(Vec::len).sum();
        page.styled(DIM, "-").literal(" not recorded: ");
        if blocks > 0 {
            page.count(blocks, "block").literal(" of ");
        }
        let shown = if verbose { paths.len() } else { NAMED };
        let names: Vec<&str> = paths.keys().take(shown).copied().collect();
        page.text(names.join(", "));
        if paths.len() > names.len() {
            page.literal(" and ").text((paths.len() - names.len()).to_string()).literal(" more");
        }
        page.end().literal("  ").advice(DIM, reason).end();
        for block in paths.values().flatten().filter(|_| verbose) {
            page.literal("    ").styled(DIM, block).end();
        }
    }
}
