//! `intent agent explain`: shows how a shell command is read, or what a finding means.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anstyle::Style;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use schemars::JsonSchema;
use serde::Serialize;

use super::shared;
use crate::cli::print::{
    BAD, Cell, DIM, GOOD, NOTE, PLAIN, Page, PrintedPiece, STRONG, UNSURE, WARN,
};
use crate::cli::{CliError, Context, Exit};
use ground::{Code, Root};
use judgement::gate;
use shell::{Class, CommandContext, Dialect, Invocation, PathEffect, Prediction, TouchedPath};

/// Show how the gate reads a shell command, or explain the code of a finding or denial
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is run. The class is read, write, opaque (it may change anything),
destructive or unreadable. Exit code 0 whatever the class. The code of a finding or of a
denial, such as scope-violation or STALE_FILE, is explained instead.

A batch holds one command per line, as a JSON string. For each command, one line of
JSON with its class, targets and rule is printed.

Examples:
  intent agent explain 'git checkout -- src/'
  intent agent explain scope-violation
  intent agent explain --json 'sudo rm -rf /'
  intent agent explain --batch commands.jsonl")]
pub struct ExplainArgs {
    /// The command, as one word; or the code of a finding or denial
    #[arg(required_unless_present = "batch", conflicts_with = "batch", allow_hyphen_values = true)]
    command: Option<String>,

    /// Read commands from FILE, or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,

    /// The language the command is written in
    #[arg(long, value_parser = dialect(), default_value = "posix", value_name = "LANGUAGE")]
    dialect: Dialect,
}

#[derive(Debug, Serialize)]
struct CodeAnswer<'a> {
    code: &'a str,
    summary: &'a str,
    page: &'a str,
}

pub fn run(context: &Context, args: ExplainArgs) -> Result<Exit, CliError> {
    let named = args.command.as_deref().unwrap_or_default().trim();
    // Denials write the codes that findings have, too, in capitals: `SCOPE_VIOLATION`.
    if let Some(code) = Code::parse(&named.to_ascii_lowercase().replace('_', "-")) {
        return show_code(context, code.as_str(), code.summary(), code.page());
    }
    if let Some(meaning) = gate::DenialCode::meaning_of(named) {
        let page = format!("{meaning}\n\nThe gate denies a call with this code; see docs/gate.md.");
        return show_code(context, named, &meaning, &page);
    }
    let root = Root::find(&context.cwd, context.environment()).ok();
    let at = gate::surroundings(context.cwd.clone(), root.as_ref(), context.environment());
    if let Some(file) = &args.batch {
        return batch(context, file, args.dialect, &at);
    }
    let reading = shell::read(args.command.as_deref().unwrap_or_default(), args.dialect, &at);
    context.answer(&reading, |page| show(page, &reading))
}

fn show_code(context: &Context, code: &str, summary: &str, page: &str) -> Result<Exit, CliError> {
    context.answer(&CodeAnswer { code, summary, page }, |out| {
        for line in page.lines() {
            out.text(line).end();
        }
    })
}

fn dialect() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(["posix", "powershell", "cmd"])
        .map(|word| shared::of_json_word(word).unwrap_or_default())
}

fn batch(
    context: &Context,
    file: &Path,
    dialect: Dialect,
    at: &CommandContext,
) -> Result<Exit, CliError> {
    let failed = |source| CliError::io(file, "read", source);
    let mut stdin = context.printer.streams.input();
    let input: Box<dyn Read + '_> = if file.as_os_str() == "-" {
        Box::new(&mut *stdin)
    } else {
        Box::new(std::fs::File::open(context.cwd.join(file)).map_err(failed)?)
    };
    // Lines are read as bytes, so that a line that is not UTF-8 is one bad line and does not end
    // the batch.
    let lines: Result<Vec<Vec<u8>>, _> = BufReader::new(input).split(b'\n').collect();
    let lines = lines.map_err(failed)?;
    context.printer.stream(lines.iter().map(|line| {
        let text = String::from_utf8_lossy(line);
        let answer = answer_to_line(text.trim_end_matches('\r'), dialect, at);
        // Plain data always serialises.
        let mut bytes = serde_json::to_vec(&answer).unwrap_or_default();
        bytes.push(b'\n');
        PrintedPiece::Json(bytes)
    }))
}

/// The answer to one line of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExplainAnswer {
    /// How the gate classifies the command.
    pub class: Class,
    /// All paths that the command would touch.
    pub targets: Vec<TouchedPath>,
    /// The rule that decided; `input` if the line is not a JSON string.
    pub rule: String,
}

fn answer_to_line(line: &str, dialect: Dialect, at: &CommandContext) -> ExplainAnswer {
    let Ok(command) = serde_json::from_str::<String>(line) else {
        let rule = "input".to_owned();
        return ExplainAnswer { class: Class::Unreadable, targets: Vec::new(), rule };
    };
    let Prediction { class, targets, rule, .. } = shell::read(&command, dialect, at);
    ExplainAnswer { class, targets, rule }
}

fn show(page: &mut Page, reading: &Prediction) {
    page.styled(style(reading.class), reading.class.as_str());
    page.literal(" [").text(&reading.rule).literal("] ").text(&reading.reason).end();
    if let Some(word) = &reading.word {
        page.literal("  ").label(NOTE, "because of").styled(STRONG, word).end();
    }
    if let Some(safer) = &reading.safer {
        page.literal("  ").label(NOTE, "safer:").text(safer).end();
    }
    if reading.background {
        page.literal("  ").styled(NOTE, "note:").line(" a process keeps running in the background");
    }
    if !reading.commands.is_empty() {
        page.gap().styled(STRONG, "Commands").end();
        page.table(2, reading.commands.iter().map(invocation));
    }
    if !reading.targets.is_empty() {
        page.gap().styled(STRONG, "Targets").end();
        page.table(2, reading.targets.iter().map(target));
    }
}

fn style(class: Class) -> Style {
    match class {
        Class::Read => GOOD,
        Class::Write => PLAIN,
        Class::Opaque => WARN,
        Class::Unreadable => UNSURE,
        Class::Destructive => BAD,
    }
}

fn invocation(invocation: &Invocation) -> Vec<Cell> {
    let mut words = invocation.words.join(" ");
    if !invocation.via.is_empty() {
        words = format!("{words}  (by {})", invocation.via.join(", "));
    }
    vec![
        Cell::new(style(invocation.class), invocation.class.as_str()),
        Cell::new(PLAIN, words),
        Cell::new(DIM, &invocation.rule),
    ]
}

fn target(target: &TouchedPath) -> Vec<Cell> {
    let effect = match target.effect {
        PathEffect::Write => "write",
        PathEffect::MakeFolder => "make folder",
        PathEffect::Delete => "delete",
        PathEffect::MoveFrom => "move from",
        PathEffect::Read => "read",
    };
    let extent = match (target.known, target.recursive) {
        (true, false) => "",
        (true, true) => "and all below",
        (false, false) => "or a path below it",
        (false, true) => "or a path below it, and all below that",
    };
    vec![Cell::new(PLAIN, effect), Cell::new(PLAIN, &target.path), Cell::new(DIM, extent)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_takes_json_strings_and_nothing_else() {
        let at = CommandContext { cwd: "/work/app".into(), ..CommandContext::default() };
        let class = |line: &str| {
            let answer = answer_to_line(line, Dialect::Posix, &at);
            (answer.class, answer.rule)
        };
        assert_eq!(class(r#""ls -la""#), (Class::Read, "program.reads".to_owned()));
        assert_eq!(class(r#""git reset --hard""#).0, Class::Destructive);
        for line in ["ls -la", "", "[\"ls\"]", "null", "\"ls", "12"] {
            assert_eq!(class(line), (Class::Unreadable, "input".to_owned()), "{line}");
        }
    }
}
