//! BMAD: a file for each story, in `docs/stories/` (version 4) or
//! `_bmad-output/implementation-artifacts/` (version 6).

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::Status;
use super::files::{SourceFiles, markdown_in, shared_text};
use super::hints::{add_paths, split_at_colon, words_of};
use super::markdown::{
    BoxCount, Markdown, MarkdownBlock, first_paragraph, section, section_named, written_status,
};
use super::source::{ImportedIntent, ReadText, Source, SourceUnit};
use ground::policy::SourceFormat;

pub(super) struct Bmad;

const PLACES: [&str; 2] = ["docs/stories", "_bmad-output/implementation-artifacts"];
const STATUSES: &str = "_bmad-output/implementation-artifacts/sprint-status.yaml";

impl Source for Bmad {
    fn units(&self, files: &dyn SourceFiles) -> Vec<SourceUnit> {
        let stories = PLACES.iter().flat_map(|place| markdown_in(files, place));
        let units = stories.filter_map(|path| {
            let name = number_of_file(path.file_name())?;
            Some(SourceUnit::of_file(path, name))
        });
        let mut units: Vec<SourceUnit> = units.collect();
        let sprint = if units.is_empty() { String::new() } else { shared_text(files, STATUSES) };
        // A list of plain `key: value` lines, which is read faster line by line.
        let statuses: HashMap<&str, &str> = sprint
            .lines()
            .filter_map(|line| line.split('#').next()?.trim().split_once(':'))
            .map(|(key, value)| {
                (key.trim_matches(['"', '\'']), value.trim().trim_matches(['"', '\'']))
            })
            .collect();
        for unit in &mut units {
            let stem = unit.place.file_name().trim_end_matches(".md");
            unit.context.extend(statuses.get(stem).map(|status| (*status).to_owned()));
        }
        units
    }

    fn name_of_path<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        let (folder, name) = path.rsplit_once('/')?;
        PLACES.contains(&folder).then(|| number_of_file(name))?.map(Cow::Owned)
    }

    fn read(&self, unit: &SourceUnit, text: ReadText<'_>) -> Vec<ImportedIntent> {
        let mut imported = ImportedIntent::new(SourceFormat::Bmad, &unit.name, &unit.place);
        let stem = unit.place.file_name().trim_end_matches(".md");
        let words = stem.trim_start_matches(|c: char| c.is_ascii_digit() || "-.".contains(c));
        imported.set_name(words_of(&words.replace('.', " ")), 0..0);
        if let Some(text) = text(&unit.place) {
            let markdown = Markdown::parse(&text);
            read_story(&markdown.blocks(), &mut imported);
        }
        // The list of a sprint is newer than what the story says.
        if let Some(status) = unit.context.first().and_then(|word| status_in(word)) {
            imported.set_status(status, 0..0);
        }
        vec![imported]
    }
}

/// Returns `1.17` of `1.17.title.md` and of `1-17-title.md`.
fn number_of_file(name: &str) -> Option<String> {
    let name = name.strip_suffix(".md")?;
    let mut parts = name.splitn(3, ['.', '-']);
    let (epic, story, title) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(epic) && is_number(story) && !title.is_empty()).then(|| format!("{epic}.{story}"))
}

/// Returns the status that a text such as `✅ APPROVED` begins with.
fn status_in(text: &str) -> Option<Status> {
    let lower = text.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    if starts(&["done", "approved", "complete"]) {
        Some(Status::Completed)
    } else if starts(&[
        "review",
        "ready for review",
        "ready-for-review",
        "in progress",
        "in-progress",
    ]) {
        Some(Status::InProgress)
    } else if starts(&["ready", "backlog"]) {
        Some(Status::Pending)
    } else {
        starts(&["draft"]).then_some(Status::Draft)
    }
}

fn read_story(blocks: &[MarkdownBlock<'_>], imported: &mut ImportedIntent) {
    imported.set_name_behind_colon(blocks);
    if let Some((block, text)) = written_status(blocks) {
        imported.set_status(status_in(text), block.span_of(text));
    }
    let named = |name: &'static str| move |_, text: &str| text.eq_ignore_ascii_case(name);
    imported.reason = section_named(blocks, named("Story")).and_then(first_paragraph);
    let is_criteria = |level, text: &str| level == 2 && text.starts_with("Acceptance Criteria");
    let criteria = section_named(blocks, is_criteria).or_else(|| {
        let sections = (0..blocks.len()).filter(|at| blocks[*at].level() == Some(2));
        let mut sections = sections.map(|at| section(blocks, at));
        sections.find(|inside| inside.iter().any(|block| block.number().is_some()))
    });
    let criteria = criteria.unwrap_or_default();
    let is_criterion = |block: &&MarkdownBlock<'_>| match block.level() {
        Some(_) => block.text.starts_with("AC"),
        None => block.number().is_some() && !block.is_nested(),
    };
    for (block, nth) in criteria.iter().filter(is_criterion).zip(1..) {
        let said = split_at_colon(block.text).filter(|_| block.level().is_some());
        let text = said.map_or(block.text, |(_, said)| said);
        imported.add_criterion(format!("AC #{nth}"), &MarkdownBlock { text, ..*block });
    }
    imported.count_tasks(BoxCount::of_blocks(blocks));
    // The story's own list of what it changed is written when it is done.
    for block in section_named(blocks, named("File List")).unwrap_or_default() {
        add_paths(block.text, &mut imported.scope_hints);
    }
    for task in blocks.iter().filter(|task| task.mark().is_some()) {
        add_paths(task.text, &mut imported.scope_hints);
    }
}
