//! Is the class of a change what people say it is? The answer is computed only from the files and the blocks that the
//! case names.

use std::error::Error;

use code::{BlockKind, Identity};
use ledger::MutationClass;
use provenance::classify::{self, BlockChange, Classification};
use serde::Deserialize;
use serde_json::Value;

use crate::TextsByBlob;
use score::Score;

mod score;

/// The part of a case that may be used for the answer.
#[derive(Deserialize)]
struct Question {
    before: Vec<FileRef>,
    after: Vec<FileRef>,
    after_path: Option<String>,
    before_path: Option<String>,
    block_before: Option<NamedLines>,
    #[serde(default)]
    block_after: Vec<NamedLines>,
}

/// A block: its name, and its first and last line, counted from 1.
type NamedLines = (String, u32, u32);

#[derive(Deserialize)]
struct FileRef {
    path: String,
    blob: String,
}

/// Classifies the cases, and returns a table of the answers.
pub(crate) fn measure(texts: &TextsByBlob, cases: &[Value]) -> Result<String, Box<dyn Error>> {
    let mut score = Score::default();
    for case in cases {
        let question = Question::deserialize(case)?;
        let (label, reasons) = answer(&question, texts);
        score.add(case, label.as_deref(), &reasons);
    }
    Ok(score.to_string())
}

fn answer(question: &Question, texts: &TextsByBlob) -> (Option<String>, Vec<String>) {
    let files = |list: &'_ [FileRef]| -> Vec<(String, Option<String>)> {
        list.iter().map(|file| (file.path.clone(), texts.get(&file.blob).cloned())).collect()
    };
    let (before, after) = (files(&question.before), files(&question.after));
    let found = classify::change(&borrowed(&before), &borrowed(&after));
    let (class, reasons) = match (&question.block_before, &question.block_after[..]) {
        (Some(_), []) => (Some(MutationClass::IntentEvolution), vec!["removed".into()]),
        (Some(_), [is, ..]) => {
            let old = file_of(&before, question.before_path.as_deref());
            let new = file_of(&after, question.after_path.as_deref());
            of_block(&found, old.1, (new, is))
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

/// Returns the path and the text of the file with this path, or of the first file.
fn file_of<'a>(files: &'a [(String, Option<String>)], path: Option<&'a str>) -> (&'a str, &'a str) {
    let path = path.or_else(|| Some(files.first()?.0.as_str())).unwrap_or_default();
    let text = files.iter().find(|file| file.0 == path).and_then(|file| file.1.as_deref());
    (path, text.unwrap_or_default())
}

/// Returns what the classification says about one block: the entry for it, or the entries for what
/// is inside it, or the entry for the function around it. A block without any entry has changed in
/// its formatting at most.
fn of_block(
    found: &Classification,
    old: &str,
    (new, is): ((&str, &str), &NamedLines),
) -> (Option<MutationClass>, Vec<String>) {
    let (path, text) = new;
    let line_of = |byte: usize| text[..byte].matches('\n').count() as u32 + 1;
    let lines = |block: &BlockChange| {
        let (file, bytes) = block.after.as_ref()?;
        (file == path).then(|| (line_of(bytes.start), line_of(bytes.end)))
    };
    let is_named = |identity: &Identity| identity.path.rsplit('.').next() == Some(&is.0);
    let is_function = |identity: &Identity| {
        matches!(identity.kind, BlockKind::Function | BlockKind::Method | BlockKind::Variable)
    };
    let (mut itself, mut inside, mut around) = (Vec::new(), Vec::new(), Vec::new());
    for block in &found.blocks {
        let (Some(identity), Some((first, last))) = (&block.identity, lines(block)) else {
            continue;
        };
        match first <= is.2 && is.1 <= last {
            true if is_named(identity) => itself.push(block),
            true if is.1 <= first && last <= is.2 => inside.push(block),
            true if is_function(identity) => around.push(block),
            _ => (),
        }
    }
    let entries =
        [itself, inside, around].into_iter().find(|list| !list.is_empty()).unwrap_or_default();
    let is_in_both = !old.is_empty() && !text.is_empty();
    let class = match entries.iter().map(|block| block.class).collect::<Option<Vec<_>>>() {
        Some(classes) if classes.contains(&MutationClass::IntentEvolution) => {
            Some(MutationClass::IntentEvolution)
        }
        Some(_) if is_in_both => Some(MutationClass::AstRefactor),
        _ => None,
    };
    (class, entries.iter().map(|block| block.reason.clone()).collect())
}
