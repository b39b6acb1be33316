//! Kiro, and cc-sdd with the same files: a folder for each feature in `.kiro/specs/`.

use std::borrow::Cow;

use super::super::{Status, yaml};
use super::files::{SourceFiles, markdown_in, shared_text};
use super::hints::{add_paths, split_at_colon};
use super::markdown::{
    BoxCount, Markdown, MarkdownBlock, first_paragraph, section, section_named, title,
};
use super::source::{ImportedIntent, ReadText, Source, SourceUnit, folder_below, status_of_boxes};
use code::lists::words;
use ground::policy::SourceFormat;

pub(super) struct Kiro;

const PLACE: &str = ".kiro/specs/";
const STEERING: &str = ".kiro/steering";
const FILES: &[&str] = words!("requirements.md bugfix.md tasks.md design.md");

impl Source for Kiro {
    fn units(&self, files: &dyn SourceFiles) -> Vec<SourceUnit> {
        let mut units = SourceUnit::of_folders(files, &[PLACE], FILES);
        if !units.is_empty() {
            let steering = markdown_in(files, STEERING).into_iter();
            let always = steering
                .map(String::from)
                .filter(|path| is_always_included(&shared_text(files, path)));
            let always: Vec<String> = always.collect();
            units.iter_mut().for_each(|unit| unit.context.clone_from(&always));
        }
        units
    }

    fn name_of_path<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        folder_below(path, PLACE).map(Cow::Borrowed)
    }

    fn read(&self, unit: &SourceUnit, text: ReadText<'_>) -> Vec<ImportedIntent> {
        let mains = ["requirements.md", "bugfix.md"];
        let mut imported = unit.intent(SourceFormat::Kiro, &mains);
        if let Some(main) = mains.into_iter().find(|name| unit.file(name).is_some()) {
            unit.with_blocks(main, text, |blocks| read_requirements(blocks, &mut imported));
        }
        let boxes = unit.with_blocks("tasks.md", text, |blocks| {
            blocks.iter().for_each(|block| add_paths(block.text, &mut imported.scope_hints));
            // `- [ ]* 1.3` is a task that may be left out.
            let needed = blocks.iter().filter(|task| !task.text.starts_with("* "));
            BoxCount::of_marks(needed.filter_map(MarkdownBlock::mark))
        });
        let boxes = boxes.unwrap_or_default();
        imported.scope_hints.retain(|path| !path.starts_with(".kiro/"));
        imported.count_tasks(boxes);
        imported.set_status(status_of_boxes(boxes, Status::Pending), 0..0);
        unit.context.iter().for_each(|path| imported.add_constraint(path));
        if let Some(design) = unit.file("design.md") {
            imported.add_related(design.as_str());
        }
        vec![imported]
    }
}

/// A steering file is always included unless its front matter says otherwise.
fn is_always_included(text: &str) -> bool {
    let markdown = Markdown::parse(text);
    let tree = markdown.front_matter().and_then(|(text, _)| yaml::parse(text).ok());
    let inclusion = tree.as_ref().and_then(|tree| tree.get("inclusion")?.text());
    inclusion.is_none_or(|inclusion| inclusion == "always")
}

fn read_requirements(blocks: &[MarkdownBlock<'_>], imported: &mut ImportedIntent) {
    if let Some(title) = title(blocks) {
        let named = split_at_colon(title.text).map(|(_, name)| name);
        let name = named.or_else(|| Some(title.text.split_once(" - ")?.0.trim()));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            imported.set_name_in(title, name);
        }
    }
    imported.reason = section_named(blocks, |level, _| level == 2).and_then(first_paragraph);
    for (at, block) in blocks.iter().enumerate().filter(|(_, one)| one.level() == Some(3)) {
        let Some(number) = requirement_number(block.text) else { continue };
        let inside = section(blocks, at);
        let criteria = section_named(inside, |level, _| level == 4).unwrap_or(inside);
        let is_outer = |item: &&MarkdownBlock<'_>| item.number().is_some() && !item.is_nested();
        for (item, nth) in criteria.iter().filter(is_outer).zip(1..) {
            imported.add_criterion(format!("{number}.{nth}"), item);
        }
    }
}

/// Returns the whole number directly behind the first word, in any language: 2 of `Requirement 2:
/// Login`.
fn requirement_number(heading: &str) -> Option<u32> {
    let at = heading.find(|c: char| c.is_ascii_digit()).filter(|at| *at > 0)?;
    let (word, rest) = heading.split_at(at);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let after = &rest[end..];
    let is_decimal =
        after.strip_prefix('.').is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
    let is_word = word.split_whitespace().count() == 1 && !after.starts_with(char::is_alphanumeric);
    rest[..end].parse().ok().filter(|_| is_word && !is_decimal)
}
