//! Classifies the cases of a benchmark: `classify CASES.jsonl [--score]`.
//!
//! The file contains texts (`{"type":"file","blob":…,"text":…}`), and then cases. For each case one JSON line is
//! printed: `{"id","label","reasons"}`. The answer is computed only from the files and the blocks that the case names;
//! only the scorer reads the expected result.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use intent_lsp::facade::ledger::MutationClass;
use intent_lsp::facade::provenance::classify::{self, BlockChange, Classification};
use serde::Deserialize;
use serde_json::{Value, json};

#[path = "classify/score.rs"]
mod score;

/// The part of a case that may be used for the answer.
#[derive(Deserialize)]
struct Question {
    id: String,
    before: Vec<FileRef>,
    after: Vec<FileRef>,
    after_path: Option<String>,
    block_before: Option<Value>,
    #[serde(default)]
    block_after: Vec<(String, u32, u32)>,
}

#[derive(Deserialize)]
struct FileRef {
    path: String,
    blob: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.iter().find(|one| !one.starts_with("--")).ok_or("which file?")?;
    let input = std::io::BufReader::new(std::fs::File::open(path)?);
    let mut texts: HashMap<String, String> = HashMap::new();
    let mut score = arguments.iter().any(|one| one == "--score").then(score::Score::default);
    let mut out = std::io::stdout().lock();
    for line in input.lines() {
        let value: Value = serde_json::from_str(&line?)?;
        if value["type"] == "file" {
            let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
            texts.insert(text("blob"), text("text"));
            continue;
        }
        let question: Question = serde_json::from_value(value.clone())?;
        let (label, reasons) = answer(&question, &texts);
        match &mut score {
            Some(score) => score.add(&value, label.as_deref(), &reasons),
            None => {
                writeln!(out, "{}", json!({"id": question.id, "label": label, "reasons": reasons}))?
            }
        }
    }
    if let Some(score) = score {
        write!(out, "{score}")?;
    }
    Ok(())
}

fn answer(question: &Question, texts: &HashMap<String, String>) -> (Option<String>, Vec<String>) {
    let files = |list: &'_ [FileRef]| -> Vec<(String, Option<String>)> {
        list.iter().map(|file| (file.path.clone(), texts.get(&file.blob).cloned())).collect()
    };
    let (before, after) = (files(&question.before), files(&question.after));
    let found = classify::change(&borrowed(&before), &borrowed(&after));
    let (class, reasons) = match (&question.block_before, &question.block_after[..]) {
        (Some(_), []) => (Some(MutationClass::IntentEvolution), vec!["removed".into()]),
        (Some(_), [block, ..]) => {
            let path = question.after_path.clone().or_else(|| Some(after.first()?.0.clone()));
            let path = path.unwrap_or_default();
            let text = after.iter().find(|file| file.0 == path).and_then(|file| file.1.as_deref());
            of_block(&found, &path, text.unwrap_or_default(), block)
        }
        _ => (found.class, found.reasons),
    };
    let label = class.map(|class| match class {
        MutationClass::AstRefactor => "AST_REFACTOR".to_owned(),
        MutationClass::IntentEvolution => "INTENT_EVOLUTION".to_owned(),
    });
    (label, reasons)
}

fn borrowed(files: &[(String, Option<String>)]) -> Vec<(&str, &str)> {
    files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?))).collect()
}

/// Returns what the classification says about one block of a file, given by its name and its lines.
fn of_block(
    found: &Classification,
    path: &str,
    text: &str,
    (name, first, last): &(String, u32, u32),
) -> (Option<MutationClass>, Vec<String>) {
    let line_of = |byte: usize| text[..byte].matches('\n').count() as u32 + 1;
    let holds = |block: &&BlockChange| {
        let is_here = block.after.as_ref().is_some_and(|(file, bytes)| {
            file == path && line_of(bytes.start) <= *last && *first <= line_of(bytes.end)
        });
        let is_named = |path: &str| path.rsplit('.').next() == Some(name);
        is_here && block.identity.as_ref().is_some_and(|identity| is_named(&identity.path))
    };
    match found.blocks.iter().find(holds) {
        Some(block) => (block.class, vec![block.reason.clone()]),
        None => (Some(MutationClass::AstRefactor), vec![format!("{name}: the same")]),
    }
}
