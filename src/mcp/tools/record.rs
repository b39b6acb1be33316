//! `record_mutation`: records changes that were made by tools without a hook.

use judgement::judged_record;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{Refusal, ToolAnswer, ToolOutcome};
use super::CallContext;
use super::files::class_text;
use evidence::record::{RecordAnswer, RecordRequest};
use ground::RelativePath;
use ground::text::{self, counted};
use judgement::map;
use ledger::EntityType;
use why::Workspace;

pub(super) const RECORD: &str = "\
Record what you changed in files under the selected intent, when it was done by tools without a hook. The disk is \
compared with what was there before; what did not change is not recorded, so repeating a call is harmless. Writes by \
`file_write` are recorded already.";

/// The changes that you want to record.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordToolArguments {
    /// The changed files, including deleted ones; relative to the workspace, or absolute.
    paths: Vec<String>,
    /// Your own classification: AST_REFACTOR if the behaviour stays the same, else
    /// INTENT_EVOLUTION. It is compared with the class that is detected.
    claimed_class: Option<String>,
    /// The model that wrote the change, such as anthropic/claude-opus-4.
    model: Option<String>,
}

pub(super) fn record(
    call: &CallContext,
    arguments: RecordToolArguments,
) -> ToolOutcome<RecordAnswer> {
    if arguments.paths.is_empty() {
        return Err(Refusal::unreadable("Name at least one path. Nothing was recorded."));
    }
    let mut answer = RecordAnswer::default();
    // The files may belong to different workspaces. Those of one workspace are recorded together,
    // because a block may have moved from one file to another.
    let mut by_root: Vec<(Workspace, Vec<RelativePath>)> = Vec::new();
    for named in &arguments.paths {
        let (ws, path) = call.file(named)?;
        match by_root.iter_mut().find(|(known, _)| known.root.path() == ws.root.path()) {
            Some((_, paths)) => paths.push(path),
            None => by_root.push((ws, vec![path])),
        }
    }
    for (ws, paths) in by_root {
        let request = RecordRequest {
            paths,
            session: Some(call.actor()),
            agent: Some(call.session.actor_parts().host),
            model: arguments.model.clone(),
            claimed_class: arguments.claimed_class.clone(),
            contributor: Some(EntityType::Ai),
            ..RecordRequest::default()
        };
        let one = judged_record::record(&ws, &request)?;
        let paths: Vec<_> = one.recorded.iter().map(|file| file.path.clone()).collect();
        map::follow(&ws, &paths);
        answer.recorded.extend(one.recorded);
        answer.skipped.extend(one.skipped);
    }
    let words = line_of_record(&answer);
    Ok(ToolAnswer::new(answer, words))
}

fn line_of_record(answer: &RecordAnswer) -> String {
    let recorded = answer.recorded.iter().map(|file| {
        let (lines, blocks) = (counted(file.lines, "line"), counted(file.blocks, "block"));
        let class = class_text(file.mutation_class, file.contradicted_claim.as_deref());
        format!("{}: {lines} in {blocks} recorded under {}{class}", file.path, file.intent)
    });
    let skipped = answer.skipped.iter().map(|file| format!("{}: {}", file.path, file.reason));
    let lines: Vec<String> =
        recorded.chain(skipped).map(|line| text::visible(&line, false)).collect();
    lines.join("\n")
}
