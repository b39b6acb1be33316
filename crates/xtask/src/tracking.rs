//! Is a block of one text found again in the next text? Runs cases of real histories through the matcher of two texts.
//!
//! `cargo run --release -p xtask -- tracking CASES.jsonl` reads lines of two types: `{"type":"file","blob","text"}`,
//! then `{"type":"case","id","block":{"path","start_line","end_line"},"before":[{"path","blob"}],"after":[…]}`. For
//! each case it matches the file of the block with the after file of the same path, or else with those that have at
//! least half of its lines, as git finds renamed files. It prints where the block is: `{"id","path","start_line",
//! "end_line"}`, or `{"id"}` if it was not found.
//!
//! `--score` prints a table instead, which compares the answers with the expected results; the answers never use those.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};

use code::Document;
use ground::parallel::in_parallel;
use provenance::Difference;
use provenance::matching::has_same_lines;
use serde::{Deserialize, Serialize};

mod score;

/// The question of a case. Only the scorer reads the expected result.
#[derive(Deserialize)]
struct TrackedCase {
    id: String,
    block: BlockPlace,
    before: Vec<FileVersion>,
    after: Vec<FileVersion>,
}

#[derive(Debug, Deserialize, Serialize)]
struct BlockPlace {
    path: String,
    start_line: u32,
    end_line: u32,
}

#[derive(Deserialize)]
struct FileVersion {
    path: String,
    blob: String,
}

#[derive(Debug, Serialize)]
struct CaseAnswer {
    id: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    found: Option<BlockPlace>,
}

/// The texts of a file of cases, by blob.
type TextsByBlob = HashMap<String, String>;

/// Runs the cases of the named file, and prints the answers, or a table of them with `--score`.
pub(crate) fn measure(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let path = arguments.iter().find(|one| !one.starts_with("--")).ok_or("which file?")?;
    let (texts, lines) = read_cases(path)?;
    let cases: Vec<TrackedCase> =
        lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
    let answers = in_parallel(&cases, |case| CaseAnswer {
        id: case.id.clone(),
        found: find_block(case, &texts),
    });
    let mut out = std::io::stdout().lock();
    if arguments.iter().any(|one| one == "--score") {
        write!(out, "{}", score::table(&lines, &answers))?;
        return Ok(());
    }
    for answer in &answers {
        writeln!(out, "{}", serde_json::to_string(answer)?)?;
    }
    Ok(())
}

/// Reads the texts by blob, and the lines of the cases.
fn read_cases(path: &str) -> Result<(TextsByBlob, Vec<String>), Box<dyn std::error::Error>> {
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "lowercase")]
    enum Line {
        File { blob: String, text: String },
        Case,
    }
    let (mut texts, mut cases) = (TextsByBlob::new(), Vec::new());
    for line in BufReader::new(fs::File::open(path)?).lines() {
        let line = line?;
        match serde_json::from_str(&line)? {
            Line::File { blob, text } => drop(texts.insert(blob, text)),
            Line::Case => cases.push(line),
        }
    }
    Ok((texts, cases))
}

/// Returns where the block of a case is in the after files.
fn find_block(case: &TrackedCase, texts: &TextsByBlob) -> Option<BlockPlace> {
    let asked = &case.block;
    let before = case.before.iter().find(|file| file.path == asked.path)?;
    let then = Document::from_text(&before.path, &texts[&before.blob]);
    let blocks = then.blocks();
    let is_asked = |block: &code::Block| {
        block.lines.start() == asked.start_line && block.lines.end() == asked.end_line
    };
    let origin = Some(blocks.blocks.iter().position(is_asked)?);
    let is_same = |file: &&FileVersion| file.path == asked.path;
    let has_same = case.after.iter().any(|file| is_same(&file));
    let is_next = |file: &&FileVersion| match has_same {
        true => is_same(file),
        false => has_same_lines(&texts[&before.blob], &texts[&file.blob]),
    };
    case.after.iter().filter(is_next).find_map(|file| {
        let now = Document::from_text(&file.path, &texts[&file.blob]);
        let at =
            Difference::new(&then, &now).origins.into_iter().position(|found| found == origin)?;
        let lines = now.blocks().blocks[at].lines;
        let path = file.path.clone();
        Some(BlockPlace { path, start_line: lines.start(), end_line: lines.end() })
    })
}
