//! Is a block of one text found again in the next text? Runs cases of real histories through the matcher of two texts.
//!
//! A case is `{"type":"case","id","block":{"path","start_line","end_line"},"before":[{"path","blob"}],"after":[…]}`. The
//! file of the block is matched with the after file of the same path, or else with those that have at least half of its
//! lines, as git finds renamed files.

use std::error::Error;

use code::Document;
use ground::parallel::in_parallel;
use provenance::Difference;
use provenance::matching::has_same_lines;
use serde::Deserialize;
use serde_json::Value;

use crate::TextsByBlob;

mod score;

/// The question of a case. Only the scorer reads the expected result.
#[derive(Deserialize)]
struct TrackedCase {
    block: BlockPlace,
    before: Vec<FileVersion>,
    after: Vec<FileVersion>,
}

#[derive(Deserialize, PartialEq, Eq)]
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

/// Looks for the blocks of the cases, and returns a table of the answers.
pub(crate) fn measure(texts: &TextsByBlob, cases: &[Value]) -> Result<String, Box<dyn Error>> {
    let asked: Vec<TrackedCase> =
        cases.iter().map(TrackedCase::deserialize).collect::<Result<_, _>>()?;
    score::table(cases, &in_parallel(&asked, |case| find_block(case, texts)))
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
