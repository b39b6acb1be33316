//! `intent schema`: the shapes of files and answers, generated from the types.

use schemars::schema_for;
use serde_json::Value;

use super::{clear, context, map as map_command, record as record_command};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::verbs::{accept, check, doctor, gate, init, map, registry, select, verify, why};

/// Print the JSON Schema of a file or of an answer
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Files are registry, records (one line of the ledger) and policy. Every other name is
the --json answer of a command; `record` is what `intent record` answers.")]
pub(crate) struct Args {
    /// Which; all names are listed where none is given
    name: Option<String>,
}

pub(crate) fn run(context: &Context, args: Args) -> Result<Exit, CliError> {
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

/// Every schema by name: three files, then the answers of the commands.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let schemas = vec![
        ("registry", schema_for!(crate::intent::model::RegistryFile)),
        ("records", schema_for!(crate::ledger::Record)),
        ("policy", schema_for!(crate::workspace::Policy)),
        ("accept", schema_for!(accept::AcceptAnswer)),
        ("check", schema_for!(check::CheckAnswer)),
        ("clear", schema_for!(clear::ClearAnswer)),
        ("complete", schema_for!(registry::RegistryAnswer)),
        ("context", schema_for!(context::ContextAnswer)),
        ("doctor", schema_for!(doctor::DoctorAnswer)),
        ("gate", schema_for!(gate::Decision)),
        ("init", schema_for!(init::InitAnswer)),
        ("list", schema_for!(Vec<select::IntentSummary>)),
        ("map", schema_for!(map::MapAnswer)),
        ("map-check", schema_for!(map_command::MapCheckAnswer)),
        ("new", schema_for!(registry::RegistryAnswer)),
        ("record", schema_for!(record_command::RecordedAnswer)),
        ("select", schema_for!(select::SelectAnswer)),
        ("start", schema_for!(registry::RegistryAnswer)),
        ("status", schema_for!(select::StatusAnswer)),
        ("verify", schema_for!(verify::VerifyAnswer)),
        ("why", schema_for!(why::WhyAnswer)),
    ];
    schemas.into_iter().map(|(name, schema)| (name, schema.to_value())).collect()
}
