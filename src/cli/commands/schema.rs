//! `intent schema`: prints the JSON Schemas of files and answers, which are generated from the
//! types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::cli::{CliError, Context, Exit};

use ground::approvals::Approval;

/// Print the JSON Schema of a file or of an answer
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Files are registry, records (one line of the ledger) and policy. Every other name is
the --json answer of a command; `record` is what `intent record` answers.")]
pub struct SchemaArgs {
    /// The name of the schema; without one, all names are listed
    name: Option<String>,
}

pub fn run(context: &Context, args: SchemaArgs) -> Result<Exit, CliError> {
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
        ("registry", read::<intents::model::RegistryFile>()),
        ("records", records()),
        ("policy", read::<ground::Policy>()),
        ("accept", written::<judgement::accept::AcceptAnswer>()),
        ("anchor", written::<evidence::anchor::AnchorAnswer>()),
        ("attest", written::<crate::cli::envelope::SignedEnvelope>()),
        ("attestation", written::<export::attestation::Statement>()),
        ("import", written::<claims::ImportedFile>()),
        ("sessions", written::<claims::ImportedSessions>()),
        ("approvals", written::<Vec<Approval>>()),
        ("approve", written::<super::approve::ApprovedAnswer>()),
        ("check", written::<judgement::check::CheckAnswer>()),
        ("check-baseline", written::<super::check::BaselineAnswer>()),
        ("clear", written::<overview::select::ClearAnswer>()),
        ("compact", written::<evidence::compact::CompactAnswer>()),
        ("split-registry", written::<judgement::registry::SplitAnswer>()),
        ("merge-registry", written::<super::merge_registry::MergeRegistryAnswer>()),
        ("adopt", written::<overview::adopt::AdoptAnswer>()),
        ("edit", written::<judgement::registry::RegistryAnswer>()),
        ("renumber", written::<judgement::registry::RegistryAnswer>()),
        ("complete", written::<overview::criteria::CompletionAnswer>()),
        ("context", written::<overview::context::ContextAnswer>()),
        ("demo", written::<super::demo::DemoAnswer>()),
        ("doctor", written::<overview::doctor::DoctorAnswer>()),
        ("erase", written::<evidence::erase::EraseAnswer>()),
        ("explain", written::<shell::Prediction>()),
        ("explain-batch", written::<overview::explain::ExplainAnswer>()),
        ("export", written::<super::export::ExportAnswer>()),
        ("export-claim", written::<export::claims::ClaimRow>()),
        ("export-finding", written::<export::findings::FindingRow>()),
        ("export-intent", written::<export::intents::IntentRow>()),
        ("for", written::<Vec<why::owners::FileOwners>>()),
        ("gate", written::<judgement::gate::Decision>()),
        ("git-hooks", written::<evidence::git_hooks::GitHooksAnswer>()),
        ("init", written::<super::init::FirstUseAnswer>()),
        ("init-agents", written::<super::init::WiringAnswer>()),
        ("lesson", written::<judgement::lesson::LessonAnswer>()),
        ("list", written::<Vec<overview::select::IntentSummary>>()),
        ("map", written::<judgement::map::MapAnswer>()),
        ("map-check", written::<super::map::MapCheckAnswer>()),
        ("new", written::<judgement::registry::RegistryAnswer>()),
        ("off", written::<judgement::approval::SwitchAnswer>()),
        ("on", written::<judgement::approval::SwitchAnswer>()),
        ("policy-values", written::<super::policy::PolicyAnswer>()),
        ("propose", written::<judgement::proposal::ProposalAnswer>()),
        ("protocol", written::<super::protocol::ProtocolAnswer>()),
        ("reassign", written::<evidence::reassign::ReassignAnswer>()),
        ("record", written::<super::record::RecordedAnswer>()),
        ("reject", written::<judgement::approval::ApprovalAnswer>()),
        ("report", written::<overview::report::ReportAnswer>()),
        ("report-badge", written::<overview::report::BadgeAnswer>()),
        ("report-html", written::<super::report::PageAnswer>()),
        ("request-scope", written::<judgement::proposal::ProposalAnswer>()),
        ("seal", written::<evidence::seal::SealAnswer>()),
        ("select", written::<overview::select::SelectAnswer>()),
        ("start", written::<judgement::registry::RegistryAnswer>()),
        ("status", written::<overview::status::StatusAnswer>()),
        ("test", written::<Vec<super::test::TestAnswer>>()),
        ("trace", written::<export::traced::TracedRecord>()),
        ("uninstall", written::<overview::uninstall::UninstallAnswer>()),
        ("verify", written::<evidence::verify::VerifyAnswer>()),
        ("verify-attestation", written::<super::attest::AttestationAnswer>()),
        ("why", written::<why::answers::WhyAnswer>()),
        ("why-removed", written::<why::removed::RemovedAnswer>()),
        ("worktree", written::<super::worktree::WorktreeAnswer>()),
    ]
}

/// Returns the schema of a ledger line. The key `h` is added here: a reader cuts it off before it
/// parses a line, so serde skips the field.
fn records() -> Value {
    let mut schema = read::<ledger::Record>();
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
