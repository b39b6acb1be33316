//! `intent schema`: prints the JSON Schemas of files and answers, which are generated from the
//! types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::cli::{CliError, Context, Exit};
use crate::verbs;
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
        return context.answer(&names, |page| {
            for name in &names {
                page.text(name).end();
            }
        });
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
    })
}

/// Returns every schema with its name. The first three describe what is accepted when a file is
/// read; the others describe what a command writes with `--json`.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("registry", read::<crate::intent::model::RegistryFile>()),
        ("records", records()),
        ("policy", read::<crate::workspace::Policy>()),
        ("accept", written::<verbs::accept::AcceptAnswer>()),
        ("anchor", written::<verbs::anchor::AnchorAnswer>()),
        ("approvals", written::<Vec<Approval>>()),
        ("approve", written::<super::approve::ApprovedAnswer>()),
        ("check", written::<verbs::check::CheckAnswer>()),
        ("check-baseline", written::<super::check::BaselineAnswer>()),
        ("clear", written::<verbs::select::ClearAnswer>()),
        ("compact", written::<verbs::compact::CompactAnswer>()),
        ("complete", written::<verbs::criteria::CompletionAnswer>()),
        ("context", written::<verbs::context::ContextAnswer>()),
        ("demo", written::<super::demo::DemoAnswer>()),
        ("doctor", written::<verbs::doctor::DoctorAnswer>()),
        ("erase", written::<verbs::erase::EraseAnswer>()),
        ("explain", written::<crate::shell::Prediction>()),
        ("explain-batch", written::<verbs::explain::ExplainAnswer>()),
        ("for", written::<Vec<verbs::owners::FileOwners>>()),
        ("gate", written::<verbs::gate::Decision>()),
        ("git-hooks", written::<verbs::git_hooks::GitHooksAnswer>()),
        ("init", written::<super::init::FirstUseAnswer>()),
        ("init-agents", written::<super::init::WiringAnswer>()),
        ("lesson", written::<verbs::lesson::LessonAnswer>()),
        ("list", written::<Vec<verbs::select::IntentSummary>>()),
        ("map", written::<verbs::map::MapAnswer>()),
        ("map-check", written::<super::map::MapCheckAnswer>()),
        ("new", written::<verbs::registry::RegistryAnswer>()),
        ("off", written::<verbs::approval::SwitchAnswer>()),
        ("on", written::<verbs::approval::SwitchAnswer>()),
        ("policy-values", written::<super::policy::PolicyAnswer>()),
        ("propose", written::<verbs::proposal::ProposalAnswer>()),
        ("protocol", written::<super::protocol::ProtocolAnswer>()),
        ("reassign", written::<verbs::reassign::ReassignAnswer>()),
        ("record", written::<super::record::RecordedAnswer>()),
        ("reject", written::<verbs::approval::ApprovalAnswer>()),
        ("report", written::<verbs::report::ReportAnswer>()),
        ("report-html", written::<super::report::PageAnswer>()),
        ("request-scope", written::<verbs::proposal::ProposalAnswer>()),
        ("seal", written::<verbs::seal::SealAnswer>()),
        ("select", written::<verbs::select::SelectAnswer>()),
        ("start", written::<verbs::registry::RegistryAnswer>()),
        ("status", written::<verbs::status::StatusAnswer>()),
        ("test", written::<Vec<super::test::TestAnswer>>()),
        ("uninstall", written::<verbs::uninstall::UninstallAnswer>()),
        ("verify", written::<verbs::verify::VerifyAnswer>()),
        ("why", written::<verbs::why::WhyAnswer>()),
        ("worktree", written::<super::worktree::WorktreeAnswer>()),
    ]
}

/// Returns the schema of a ledger line. The key `h` is added here: a reader cuts it off before it
/// parses a line, so serde skips the field.
fn records() -> Value {
    let mut schema = read::<crate::ledger::Record>();
    schema["properties"]["h"] = serde_json::json!({
        "description": "SHA-256 over `intent-ledger/1\\n` and the stored bytes of the line before `,\"h\":\"…\"}`: 64 lower-case hex digits. Always the last key.",
        "type": "string",
        "pattern": "^[0-9a-f]{64}$"
    });
    schema
}

/// Returns the schema of the JSON that is accepted for a type.
fn read<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

/// Returns the schema of the JSON that is written for a type.
fn written<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
