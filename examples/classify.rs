//! Classifies the cases of a benchmark: `classify CASES.jsonl [--score]`.
//!
//! The file contains texts (`{"type":"file","blob":…,"text":…}`), and then cases. For each case one JSON line is
//! printed: `{"id","label","reasons"}`. The answer is computed only from the files and the blocks that the case names;
//! only the scorer reads the expected result.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use intent_lsp::facade::ledger::MutationClass;
use intent_lsp::facade::provenance::classify::{self, NamedBlock, SourceFile};
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
    before_path: Option<String>,
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
    let path = |path: &Option<String>, files: &[FileRef]| -> String {
        path.clone().or_else(|| Some(files.first()?.path.clone())).unwrap_or_default()
    };
    let found = match (&question.block_before, &question.block_after[..]) {
        (Some(was), is @ [_, ..]) => {
            let old_path = path(&question.before_path, &question.before);
            let new_path = path(&question.after_path, &question.after);
            let is: Vec<NamedBlock<'_>> = is.iter().map(|one| named(&new_path, one)).collect();
            classify::block(&before, &after, named(&old_path, was), &is)
        }
        (Some(_), []) => return (Some("INTENT_EVOLUTION".into()), vec!["removed".into()]),
        _ => classify::change(&before, &after),
    };
    let label = found.class.map(|class| match class {
        MutationClass::AstRefactor => "AST_REFACTOR".to_owned(),
        MutationClass::IntentEvolution => "INTENT_EVOLUTION".to_owned(),
    });
    (label, found.reasons)
}

fn named<'a>(path: &'a str, block: &'a (String, u32, u32)) -> NamedBlock<'a> {
    NamedBlock { path, name: &block.0, lines: (block.1, block.2) }
}
