//! `intent evidence export`: what was committed, as data for other programs.

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::cli::print::{DIM, GOOD, Page};
use crate::cli::{CliError, Context, Exit, when};
use export::agent_trace::TraceRecords;
use export::claims::VERSION;
use export::jsonl::{JsonRows, TABLES};
use export::otlp::LogRecords;
use export::people::People;
use export::range::{CommitRange, ExportError, RowCounts, RowSink, export};
use ground::git::RemoteAddress;
use ground::key_links::percent_encoded;
use ground::store;
use why::Workspace;

/// The shortest secret that is taken, in bytes.
const MIN_SECRET: usize = 16;

/// Keeps an export in the work tree from being a change of it.
const IN_NO_COMMIT: &[u8] = b"# An export is made of commits, so it belongs in none.\n*\n";

/// Write what was committed as data for other programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only commits are read, so a range always gives the same bytes, on every machine. Without
--out the rows are printed. With --out each range has files of its own, in folders by day
and repository that query engines know, and a file that was written never changes.

People are left out. --secret-file writes a hash in place of each name, --names the name.

Examples:
  intent evidence export --range main~20..main
  intent evidence export --since 30d --out lake
  intent evidence export --range v1.0..v1.1 --format agent-trace > traces.jsonl
  intent evidence export --range origin/main@{1}..origin/main --format otlp --out lake")]
pub struct ExportArgs {
    /// The commits: `A..B`, or one revision for its whole history; without it, that of HEAD
    #[arg(long, value_name = "A..B")]
    range: Option<String>,

    /// Instead of a range: the commits that are newer than this date, or than so many days (`30d`)
    #[arg(long, value_name = "TIME", conflicts_with = "range")]
    since: Option<String>,

    /// The format
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,

    /// Write files below this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The name of the repository; without it, the address of `origin`: forge.example/team/shop
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,

    /// Write the names of people
    #[arg(long, conflicts_with = "secret_file")]
    names: bool,

    /// Write a hash in place of each name, made with the content of this file
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// Three tables as lines of JSON: claims, intents and findings
    #[default]
    Jsonl,
    /// The three tables as Parquet files; needs --out
    Parquet,
    /// Agent Trace 0.1.0
    AgentTrace,
    /// Log records of OpenTelemetry, as OTLP/JSON
    Otlp,
}

/// What was written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExportAnswer {
    /// The name of the repository in the rows.
    repo: String,
    /// The commit before the first of the range. `None` for the whole history.
    from: Option<String>,
    /// The last commit of the range.
    to: String,
    #[serde(flatten)]
    counts: RowCounts,
    /// The files, whether they were written now or before.
    files: Vec<String>,
}

pub fn run(context: &Context, args: ExportArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?;
    let git = workspace.git().ok_or_else(|| workspace.no_git("an export"))?;
    let range = match &args.since {
        Some(since) => {
            let time = when::parse_start(Timestamp::now(), since).ok_or_else(|| {
                let hint = "write a date such as 2026-02-18, or a number of days such as 30d";
                CliError::usage(format!("{since:?} is no time"), hint)
            })?;
            CommitRange::newer_than(git, time)?
        }
        None => CommitRange::parse(git, args.range.as_deref().unwrap_or("HEAD"))?,
    };
    let repo = args.repo.clone().unwrap_or_else(|| repository_name(&workspace));
    let people = people(context, &args)?;
    let job = ExportJob { workspace: &workspace, range: &range, repo: &repo, people: &people };
    if args.format == ExportFormat::Parquet {
        parquet_can_be_written(args.out.is_some())?;
    }
    let Some(out) = &args.out else { return print(context, &job, args.format) };
    let folder = context.cwd.join(out);
    let is_new = !folder.exists();
    let (counts, files) = job.write(&folder, args.format)?;
    if is_new {
        store::write_atomic(&folder.join(".gitignore"), IN_NO_COMMIT)?;
    }
    let answer = ExportAnswer {
        from: range.from.as_ref().map(|from| from.0.clone()),
        to: range.to.0.clone(),
        files: files.iter().map(|path| shown_path(&context.cwd, path)).collect(),
        repo,
        counts,
    };
    context.answer(&answer, |page| show(page, &answer, &range))
}

fn show(page: &mut Page, answer: &ExportAnswer, range: &CommitRange) {
    page.label(GOOD, "✓").text(range.in_words()).literal("  ");
    let RowCounts { commits, claims, intents, findings } = answer.counts;
    page.count(commits, "commit").literal(", ").count(claims, "claim").literal(", ");
    page.count(intents, "intent version").literal(", ").count(findings, "finding").end();
    for file in &answer.files {
        page.literal("  ").styled(DIM, file).end();
    }
}

fn shown_path(cwd: &Path, path: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

fn parquet_can_be_written(to_files: bool) -> Result<(), CliError> {
    if !cfg!(feature = "parquet") {
        return Err(CliError::usage(
            "this program was built without Parquet",
            "the published packages have it, and `cargo install` with `--features all-languages,parquet`; or leave out --format for lines of JSON",
        ));
    }
    if !to_files {
        let hint = "name a folder with --out; three tables are three files";
        return Err(CliError::usage("Parquet is not printed", hint));
    }
    Ok(())
}

fn print(context: &Context, job: &ExportJob<'_>, format: ExportFormat) -> Result<Exit, CliError> {
    let mut failed = None;
    let exit = context.printer.raw(|out| {
        let done = match format {
            ExportFormat::Jsonl | ExportFormat::Parquet => job.run(&mut JsonRows(vec![out])),
            ExportFormat::AgentTrace => job.run(&mut TraceRecords(out)),
            ExportFormat::Otlp => job.run(&mut LogRecords(out)),
        };
        match done {
            Ok(_) => Ok(()),
            Err(ExportError::Write(error)) => Err(error),
            Err(ExportError::Read(error)) => {
                failed = Some(error);
                Ok(())
            }
        }
    })?;
    failed.map_or(Ok(exit), |error| Err(error.into()))
}

fn people(context: &Context, args: &ExportArgs) -> Result<People, CliError> {
    if args.names {
        return Ok(People::Named);
    }
    let Some(file) = &args.secret_file else { return Ok(People::LeftOut) };
    let secret =
        std::fs::read(context.cwd.join(file)).map_err(|error| CliError::io(file, "read", error))?;
    if secret.len() < MIN_SECRET {
        let hint = format!(
            "a secret has at least {MIN_SECRET} random bytes, as `openssl rand -base64 32` prints"
        );
        return Err(CliError::usage(format!("{} is too short", file.display()), hint));
    }
    Ok(People::Hashed(secret))
}

/// Returns the address of `origin` without what differs between clones (`forge.example/team/shop`), or
/// the name of the folder.
pub(super) fn repository_name(workspace: &Workspace) -> String {
    let folder = || {
        let root = workspace.root.path().file_name();
        root.map_or_else(|| "repository".to_owned(), |name| name.to_string_lossy().into_owned())
    };
    workspace.setting("remote.origin.url").map_or_else(folder, |url| name_in_url(&url))
}

fn name_in_url(url: &str) -> String {
    let folder = || {
        let path = url.trim_end_matches('/');
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        name.strip_suffix(".git").unwrap_or(name).to_owned()
    };
    RemoteAddress::parse(url).map_or_else(folder, |address| address.name())
}

fn folder_name(text: &str) -> String {
    let name = percent_encoded(text, b"");
    // A name that begins with a dot is hidden, or leads out of the folder.
    name.strip_prefix('.').map(|rest| format!("%2E{rest}")).unwrap_or(name)
}

struct ExportJob<'a> {
    workspace: &'a Workspace,
    range: &'a CommitRange,
    repo: &'a str,
    people: &'a People,
}

impl ExportJob<'_> {
    fn run(&self, sink: &mut dyn RowSink) -> Result<RowCounts, ExportError> {
        export(self.workspace, self.range, (self.repo, self.people), sink)
    }

    /// Writes the files of the range. A file that is there already stays as it is.
    fn write(
        &self,
        out: &Path,
        format: ExportFormat,
    ) -> Result<(RowCounts, Vec<PathBuf>), CliError> {
        let folder = out.join(format!("dt={}", self.range.day()));
        let folder = folder.join(format!("repo={}", folder_name(self.repo)));
        std::fs::create_dir_all(&folder)
            .map_err(|error| CliError::io(&folder, "created", error))?;
        let tables = |ending| TABLES.map(|table| format!("{table}.v{VERSION}.{ending}")).to_vec();
        let names = match format {
            ExportFormat::Jsonl => tables("jsonl"),
            ExportFormat::Parquet => tables("parquet"),
            ExportFormat::AgentTrace => vec![format!("agent-trace.v{VERSION}.jsonl")],
            ExportFormat::Otlp => vec![format!("otlp.v{VERSION}.jsonl")],
        };
        let failed = |error| CliError::io(&folder, "written", error);
        let new_file = || Ok(BufWriter::new(new_file_in(&folder)?));
        let mut writers: Vec<BufWriter<NamedTempFile>> =
            names.iter().map(|_| new_file()).collect::<io::Result<_>>().map_err(failed)?;
        let counts = match (format, &mut writers[..]) {
            (ExportFormat::AgentTrace, [writer]) => self.run(&mut TraceRecords(writer)),
            (ExportFormat::Otlp, [writer]) => self.run(&mut LogRecords(writer)),
            #[cfg(feature = "parquet")]
            (ExportFormat::Parquet, [claims, intents, findings]) => {
                let tables = export::parquet::ParquetTables::new([claims, intents, findings]);
                tables.map_err(ExportError::from).and_then(|mut tables| {
                    let counts = self.run(&mut tables)?;
                    tables.finish()?;
                    Ok(counts)
                })
            }
            (_, tables) => self.run(&mut JsonRows(tables.iter_mut().collect())),
        };
        let counts = counts.map_err(|error| match error {
            ExportError::Read(error) => error.into(),
            ExportError::Write(error) => failed(error),
        })?;
        let mut files = Vec::new();
        for (name, writer) in names.iter().zip(writers) {
            let path = folder.join(format!("{}.{name}", self.range.file_stem()));
            let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
            keep(file, &path)?;
            files.push(path);
        }
        Ok((counts, files))
    }
}

/// Makes a file that removes itself unless it gets a name. Others may read it, as any file that a
/// program writes.
fn new_file_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".export-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Gives a complete file its name. A file of that name with other content is not replaced.
fn keep(mut file: NamedTempFile, path: &Path) -> Result<(), CliError> {
    let failed = |error| CliError::io(path, "written", error);
    file.flush().map_err(failed)?;
    if path.symlink_metadata().is_ok() {
        let is_same =
            std::fs::read(file.path()).map_err(failed)? == std::fs::read(path).map_err(failed)?;
        let hint =
            "the file was changed, or written with other options; remove it, or name another --out";
        return match is_same {
            true => Ok(()),
            false => Err(CliError::usage(format!("{} has other content", path.display()), hint)),
        };
    }
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_one_name_however_it_was_cloned() {
        for url in [
            "https://forge.example/team/shop.git",
            "https://token@forge.example/team/shop/",
            "https://ada:se@cret@forge.example/team/shop",
            "ssh://git@forge.example/team/shop.git",
            "git@forge.example:team/shop.git",
            "forge.example:/team/shop",
        ] {
            assert_eq!(name_in_url(url), "forge.example/team/shop", "{url}");
        }
        for url in ["/srv/git/shop.git", "../shop", "file:///srv/git/shop", r"C:\git\shop"] {
            assert_eq!(name_in_url(url), "shop", "{url}");
        }
        assert_eq!(folder_name("forge.example/team/shop"), "forge.example%2Fteam%2Fshop");
        assert_eq!(folder_name("../x"), "%2E.%2Fx");
    }
}
