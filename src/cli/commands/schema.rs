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
        let hint = "`intent schema` lists the names";
        return Err(CliError::usage(format!("there is no schema called {name:?}"), hint));
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
        ("accept", schema_of::<judgement::accept::AcceptAnswer>()),
        ("anchor", schema_of::<evidence::anchor::AnchorAnswer>()),
        ("attest", schema_of::<crate::cli::envelope::SignedEnvelope>()),
        ("attestation", schema_of::<export::attestation::Statement>()),
        ("import", schema_of::<claims::ImportedFile>()),
        ("sessions", schema_of::<claims::ImportedSessions>()),
        ("approvals", schema_of::<Vec<Approval>>()),
        ("approve", schema_of::<super::approve::ApprovedAnswer>()),
        ("check", schema_of::<judgement::check::CheckAnswer>()),
        ("check-baseline", schema_of::<super::check::BaselineAnswer>()),
        ("clear", schema_of::<overview::select::ClearAnswer>()),
        ("compact", schema_of::<evidence::compact::CompactAnswer>()),
        ("split-registry", schema_of::<judgement::registry::SplitAnswer>()),
        ("merge-registry", schema_of::<super::merge_registry::MergeRegistryAnswer>()),
        ("adopt", schema_of::<overview::adopt::AdoptAnswer>()),
        ("edit", schema_of::<judgement::registry::RegistryAnswer>()),
        ("renumber", schema_of::<judgement::registry::RegistryAnswer>()),
        ("complete", schema_of::<overview::criteria::CompletionAnswer>()),
        ("context", schema_of::<overview::context::ContextAnswer>()),
        ("demo", schema_of::<super::demo::DemoAnswer>()),
        ("doctor", schema_of::<overview::doctor::DoctorAnswer>()),
        ("erase", schema_of::<evidence::erase::EraseAnswer>()),
        ("explain", schema_of::<shell::Prediction>()),
        ("explain-batch", schema_of::<super::explain::ExplainAnswer>()),
        ("export", schema_of::<super::export::ExportAnswer>()),
        ("export-claim", schema_of::<export::claims::ClaimRow>()),
        ("export-finding", schema_of::<export::findings::FindingRow>()),
        ("export-intent", schema_of::<export::intents::IntentRow>()),
        ("for", schema_of::<Vec<why::owners::FileOwners>>()),
        ("gate", schema_of::<judgement::gate::Decision>()),
        ("git-hooks", schema_of::<evidence::git_hooks::GitHooksAnswer>()),
        ("init", schema_of::<super::init::FirstUseAnswer>()),
        ("init-agents", schema_of::<super::init::WiringAnswer>()),
        ("lesson", schema_of::<judgement::lesson::LessonAnswer>()),
        ("list", schema_of::<Vec<overview::select::IntentSummary>>()),
        ("map", schema_of::<judgement::map::MapAnswer>()),
        ("map-check", schema_of::<super::map::MapCheckAnswer>()),
        ("new", schema_of::<judgement::registry::RegistryAnswer>()),
        ("off", schema_of::<judgement::approval::SwitchAnswer>()),
        ("on", schema_of::<judgement::approval::SwitchAnswer>()),
        ("policy-values", schema_of::<super::policy::PolicyAnswer>()),
        ("propose", schema_of::<judgement::proposal::ProposalAnswer>()),
        ("protocol", schema_of::<super::protocol::ProtocolAnswer>()),
        ("reassign", schema_of::<evidence::reassign::ReassignAnswer>()),
        ("record", schema_of::<super::record::RecordedAnswer>()),
        ("reject", schema_of::<judgement::approval::ApprovalAnswer>()),
        ("report", schema_of::<overview::report::ReportAnswer>()),
        ("report-badge", schema_of::<overview::report::BadgeAnswer>()),
        ("report-html", schema_of::<super::report::PageAnswer>()),
        ("request-scope", schema_of::<judgement::proposal::ProposalAnswer>()),
        ("seal", schema_of::<evidence::seal::SealAnswer>()),
        ("select", schema_of::<overview::select::SelectAnswer>()),
        ("start", schema_of::<judgement::registry::RegistryAnswer>()),
        ("status", schema_of::<overview::status::StatusAnswer>()),
        ("test", schema_of::<Vec<super::test::TestAnswer>>()),
        ("trace", schema_of::<export::traced::TracedRecord>()),
        ("uninstall", schema_of::<overview::uninstall::UninstallAnswer>()),
        ("verify", schema_of::<evidence::verify::VerifyAnswer>()),
        ("verify-attestation", schema_of::<super::attest::AttestationAnswer>()),
        ("why", schema_of::<why::answers::WhyAnswer>()),
        ("why-removed", schema_of::<why::removed::RemovedAnswer>()),
        ("worktree", schema_of::<super::worktree::WorktreeAnswer>()),
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

fn read<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
