//! GitHub's Spec Kit: a folder for each feature in `specs/`, named `NNN-words` like its branch.

use std::borrow::Cow;

use super::super::Status;
use super::files::{SourceFiles, shared_text};
use super::hints::{add_paths, is_numbered, split_at_colon};
use super::markdown::{BlockShape, BoxCount, Markdown, MarkdownBlock, plain_text, title};
use super::source::{
    ImportedIntent, ReadText, Source, SourceUnit, folder_below, spanned, status_of_boxes,
};
use code::lists::words;
use ground::policy::SourceFormat;

pub(super) struct SpecKit;

const PLACES: [&str; 2] = ["specs/", ".specify/specs/"];
const CONSTITUTION: &str = ".specify/memory/constitution.md";
/// What a feature's folder holds. Other tools keep tests and other things in `specs/`.
const FILES: &[&str] = words!("spec.md tasks.md plan.md research.md quickstart.md data-model.md");
const DONE: &[&str] = words!("implemented complete completed done shipped");
const GONE: &[&str] = words!("superseded abandoned deprecated");

impl Source for SpecKit {
    fn units(&self, files: &dyn SourceFiles) -> Vec<SourceUnit> {
        let mut units = SourceUnit::of_folders(files, &PLACES, FILES);
        for unit in &mut units {
            unit.files
                .retain(|path| ["spec.md", "tasks.md", "plan.md"].contains(&path.file_name()));
        }
        if !units.is_empty() {
            let principles = principles(&shared_text(files, CONSTITUTION));
            units.iter_mut().for_each(|unit| unit.context.clone_from(&principles));
        }
        units
    }

    fn name_of_path<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        let name = PLACES.iter().find_map(|place| folder_below(path, place))?;
        let file = path.rsplit('/').next()?;
        let is_feature = is_numbered(name) || FILES.contains(&file);
        is_feature.then_some(Cow::Borrowed(name))
    }

    fn read(&self, unit: &SourceUnit, text: ReadText<'_>) -> Vec<ImportedIntent> {
        let mut imported = unit.intent(SourceFormat::Speckit, &["spec.md"]);
        unit.with_blocks("spec.md", text, |blocks| read_spec(blocks, &mut imported));
        unit.context.iter().for_each(|principle| imported.add_constraint(principle));
        let boxes = unit.with_blocks("tasks.md", text, |blocks| {
            for task in blocks.iter().filter(|task| task.mark().is_some()) {
                add_paths(task.text, &mut imported.scope_hints);
            }
            BoxCount::of_blocks(blocks)
        });
        let boxes = boxes.unwrap_or_default();
        imported.count_tasks(boxes);
        if imported.intent.status.is_none() {
            imported.set_status(status_of_boxes(boxes, Status::Draft), 0..0);
        }
        imported.add_related(unit.name.clone());
        if let Some(plan) = unit.file("plan.md") {
            imported.add_related(plan.as_str());
        }
        vec![imported]
    }
}

fn read_spec(blocks: &[MarkdownBlock<'_>], imported: &mut ImportedIntent) {
    if let Some(title) = title(blocks) {
        let name = split_at_colon(title.text).map_or(title.text, |(_, name)| name);
        imported.set_name_in(title, name);
    }
    let end = blocks.iter().position(|block| block.level() == Some(2)).unwrap_or(blocks.len());
    for block in &blocks[..end] {
        block.text.lines().for_each(|line| read_header(block, line, imported));
    }
    let (mut stories, mut story, mut nth) = (0, None, 0);
    for block in blocks {
        match block.shape {
            BlockShape::Heading(level) if level <= 3 => {
                (story, nth) = (story_number(block.text), 0)
            }
            BlockShape::Item { .. } if read_requirement(block, imported) => {}
            BlockShape::Item { number: Some(_), .. } if is_scenario(block.text) => {
                if nth == 0 {
                    stories += 1;
                }
                nth += 1;
                imported.add_criterion(format!("US{}.{nth}", story.unwrap_or(stories)), block);
            }
            _ => {}
        }
    }
}

/// Returns 2 of `User Story 2 - Share (Priority: P1)`, in any language.
fn story_number(heading: &str) -> Option<u32> {
    let words = heading.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(3).find_map(|word| word.parse().ok())
}

/// A scenario has at least two of the bold words `Given`, `When` and `Then`, in any language.
fn is_scenario(text: &str) -> bool {
    text.starts_with("**") && text.matches("**").count() >= 4
}

/// Reads a line such as `**Status**: Draft` above the first section. The word may be localised; then
/// only a value that begins with a status counts.
fn read_header(block: &MarkdownBlock<'_>, line: &str, imported: &mut ImportedIntent) {
    let Some((label, value)) = split_at_colon(line).filter(|(label, _)| label.starts_with("**"))
    else {
        return;
    };
    let value = value.trim_start_matches('*').trim();
    let label = label.trim_matches('*').trim();
    if label == "Input" {
        imported.reason = Some(plain_text(value)).filter(|reason| !reason.contains("$ARGUMENTS"));
    }
    let many = if label == "Status" { usize::MAX } else { 1 };
    if let Some(status) = status_in(value, many).filter(|_| imported.intent.status.is_none()) {
        imported.set_status(status, block.span_of(value));
    }
}

/// Returns the status that one of the first words says. `Draft` says nothing, because nobody keeps
/// it up to date, and neither does what is done or superseded only partly.
fn status_in(value: &str, many: usize) -> Option<Status> {
    let words = value.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut before = String::new();
    for word in words.take(many) {
        let word = word.to_ascii_lowercase();
        let is_whole = !matches!(before.as_str(), "not" | "partially" | "partly");
        if is_whole && DONE.contains(&word.as_str()) {
            return Some(Status::Completed);
        }
        if is_whole && GONE.contains(&word.as_str()) {
            return Some(Status::Archived);
        }
        before = word;
    }
    None
}

/// Reads an item such as `- **FR-003**: Users must …`. Returns false if it is another one.
fn read_requirement(block: &MarkdownBlock<'_>, imported: &mut ImportedIntent) -> bool {
    let text = block.text.trim_start_matches("**");
    let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let Some(digits) = text[letters..].strip_prefix('-').filter(|_| (2..=4).contains(&letters))
    else {
        return false;
    };
    let many = digits.bytes().take_while(u8::is_ascii_digit).count();
    let letter = digits[many..].starts_with(|c: char| c.is_ascii_lowercase());
    let (id, rest) = text.split_at(letters + 1 + many + usize::from(letter));
    if !(2..=4).contains(&many) || rest.starts_with(char::is_alphanumeric) {
        return false;
    }
    let said = rest.trim_start_matches(['*', ':', '：', ' ']);
    imported.add_requirement(id.to_owned(), said, block);
    let said = format!("{id}: {}", plain_text(said));
    match &text[..letters] {
        "SC" => {
            let said = spanned(said, 0..0);
            imported.intent.acceptance_criteria.push(said);
        }
        "NFR" => imported.add_constraint(said),
        _ => {}
    }
    true
}

/// Returns the headings of the principles. Those of an unfilled template begin with a bracket.
fn principles(constitution: &str) -> Vec<String> {
    let markdown = Markdown::parse(constitution);
    let blocks = markdown.blocks();
    let level =
        [3, 2].into_iter().find(|level| blocks.iter().any(|one| one.level() == Some(*level)));
    let headings = blocks.iter().filter(|block| level.is_some() && block.level() == level);
    let filled = headings.filter(|block| !block.text.contains('[')).take(100);
    filled.map(|block| plain_text(block.text)).collect()
}
