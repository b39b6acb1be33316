//! Classifies the cases of a benchmark: `classify CASES.jsonl [--score]`.
//!
//! The file holds texts (`{"type":"file","blob":…,"text":…}`), then cases. For
//! each case one JSON line is printed: `{"id","label","reasons"}`. The answer is
//! made of the files and the blocks that the case names; what the case says is
//! right is read by the scorer alone.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use intent_lsp::facade::ledger::MutationClass;
use intent_lsp::facade::provenance::classify::{self, Classification, SourceFile};
use serde::Deserialize;
use serde_json::{Value, json};

#[path = "classify/score.rs"]
mod score;

/// What an answer may see of a case.
#[derive(Deserialize)]
struct Question {
    id: String,
    before: Vec<FileRef>,
    after: Vec<FileRef>,
    after_path: Option<String>,
    block_before: Option<(String, u32, u32)>,
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
    let before: Vec<SourceFile<'_>> =
        before.iter().map(|(path, text)| SourceFile { path, text: text.as_deref() }).collect();
    let after: Vec<SourceFile<'_>> =
        after.iter().map(|(path, text)| SourceFile { path, text: text.as_deref() }).collect();
    let found = classify::change(&before, &after);
    match (&question.block_before, &question.block_after[..]) {
        (Some(_), [block, ..]) => {
            let path = question.after_path.as_deref();
            let file = after.iter().find(|file| path.is_none_or(|path| file.path == path));
            of_block(&found, file, block)
        }
        (Some(_), []) => (Some(label(MutationClass::IntentEvolution)), vec!["removed".into()]),
        (None, _) => (found.class.map(label), found.reasons),
    }
}

fn label(class: MutationClass) -> String {
    json!(class).as_str().unwrap_or_default().to_owned()
}

/// What a classification says of one block: the findings for the smallest changed definition of
/// its name at its lines. A block that has no findings did not change.
fn of_block(
    found: &Classification,
    file: Option<&SourceFile<'_>>,
    (name, first, last): &(String, u32, u32),
) -> (Option<String>, Vec<String>) {
    let text = file.and_then(|file| file.text).unwrap_or_default();
    let start_of =
        |line: u32| -> usize { text.split_inclusive('\n').take(line as usize).map(str::len).sum() };
    let lines = start_of(first.saturating_sub(1))..start_of(*last);
    let changes = found.blocks.iter().filter_map(|change| {
        let (path, bytes) = change.after.as_ref()?;
        let is_there = file.is_some_and(|file| file.path == path)
            && bytes.start < lines.end
            && lines.start < bytes.end
            && change.reason.contains(name);
        is_there.then_some((bytes.len(), change))
    });
    match changes.min_by_key(|(size, _)| *size) {
        Some((_, change)) => (change.class.map(label), vec![change.reason.clone()]),
        None => (Some(label(MutationClass::AstRefactor)), vec!["unchanged".into()]),
    }
}
