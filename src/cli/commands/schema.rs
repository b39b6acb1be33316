//! `intent schema`: prints the JSON Schemas of files and answers, which are generated from the
//! types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{
    init as init_command, map as map_command, protocol, record as record_command,
    report as report_command, test as test_command,
};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::verbs::{
    accept, anchor, approval, check, compact, context, criteria, doctor, erase, explain, gate,
    git_hooks, lesson, map, owners, proposal, reassign, registry, report, seal, select, verify,
    why,
};
use crate::workspace::approvals::Approval;

/// Print the JSON Schema of a file or of an answer
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Files are registry, records (one line of the ledger) and policy. Every other name is
the --json answer of a command; `record` is what `intent record` answers.")]
pub(crate) struct SchemaArgs {
    /// The name of the schema; without one, all names are listed
    name: Option<String>,
}

pub(crate) fn run(context: &Context, args: SchemaArgs) -> Result<Exit, CliError> {
    let schemas = schemas();
    let Some(name) = args.name else {
        let names: Vec<&str> = schemas.iter().map(|(name, _)| *name).collect();
        context.answer(&names, |page| {
            for name in &names {
                page.text(name).end();
            }
        })?;
        return Ok(Exit::Fine);
    };
    let Some((_, schema)) = schemas.iter().find(|(known, _)| *known == name) else {
        return Err(CliError::usage(
            format!("there is no schema called {name:?}"),
            "`intent schema` lists the names",
        ));
    };
    context.answer(schema, |page| {
        // A JSON value always serialises.
        page.lines(&serde_json::to_string_pretty(schema).unwrap_or_default());
    })?;
    Ok(Exit::Fine)
}

/// Returns every schema with its name: first those of three files, as they are read, then those of
/// the answers of commands, as they are written.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("registry", read::<crate::intent::model::RegistryFile>()),
        ("records", records()),
        ("policy", read::<crate::workspace::Policy>()),
        ("accept", written::<accept::AcceptAnswer>()),
        ("anchor", written::<anchor::AnchorAnswer>()),
        ("approvals", written::<Vec<Approval>>()),
        ("approve", written::<super::approve::ApprovedAnswer>()),
        ("check", written::<check::CheckAnswer>()),
        ("check-baseline", written::<super::check::BaselineAnswer>()),
        ("clear", written::<select::ClearAnswer>()),
        ("compact", written::<compact::CompactAnswer>()),
        ("complete", written::<criteria::CompletionAnswer>()),
        ("context", written::<context::ContextAnswer>()),
        ("demo", written::<super::demo::DemoAnswer>()),
        ("doctor", written::<doctor::DoctorAnswer>()),
        ("erase", written::<erase::EraseAnswer>()),
        ("explain", written::<crate::shell::Prediction>()),
        ("explain-batch", written::<explain::ExplainAnswer>()),
        ("for", written::<Vec<owners::FileOwners>>()),
        ("gate", written::<gate::Decision>()),
        ("git-hooks", written::<git_hooks::GitHooksAnswer>()),
        ("init", written::<init_command::FirstUseAnswer>()),
        ("init-agents", written::<init_command::WiringAnswer>()),
        ("lesson", written::<lesson::LessonAnswer>()),
        ("list", written::<Vec<select::IntentSummary>>()),
        ("map", written::<map::MapAnswer>()),
        ("map-check", written::<map_command::MapCheckAnswer>()),
        ("new", written::<registry::RegistryAnswer>()),
        ("off", written::<approval::SwitchAnswer>()),
        ("on", written::<approval::SwitchAnswer>()),
        ("policy-values", written::<super::policy::PolicyAnswer>()),
        ("propose", written::<proposal::ProposalAnswer>()),
        ("protocol", written::<protocol::ProtocolAnswer>()),
        ("reassign", written::<reassign::ReassignAnswer>()),
        ("record", written::<record_command::RecordedAnswer>()),
        ("reject", written::<approval::ApprovalAnswer>()),
        ("report", written::<report::ReportAnswer>()),
        ("report-html", written::<report_command::PageAnswer>()),
        ("request-scope", written::<proposal::ProposalAnswer>()),
        ("seal", written::<seal::SealAnswer>()),
        ("select", written::<select::SelectAnswer>()),
        ("start", written::<registry::RegistryAnswer>()),
        ("status", written::<select::StatusAnswer>()),
        ("test", written::<Vec<test_command::TestAnswer>>()),
        ("uninstall", written::<crate::verbs::uninstall::UninstallAnswer>()),
        ("verify", written::<verify::VerifyAnswer>()),
        ("why", written::<why::WhyAnswer>()),
        ("worktree", written::<super::worktree::WorktreeAnswer>()),
    ]
}

/// Returns the schema of a ledger line. It adds the key `h`, which is cut off before a line is
/// parsed and so is not part of the type.
fn records() -> Value {
    let mut schema = read::<crate::ledger::Record>();
    schema["properties"]["h"] = serde_json::json!({
        "description": "SHA-256 over `intent-ledger/1\\n` and the stored bytes of the line before `,\"h\":\"…\"}`: 64 lower-case hex digits. Always the last key.",
        "type": "string",
        "pattern": "^[0-9a-f]{64}$"
    });
    schema
}

fn read<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

fn written<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
