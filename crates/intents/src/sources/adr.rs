//! Architecture decision records. A record is a constraint that intents can cite, and no work: a
//! commit never belongs to one.

use std::ops::Range;

use super::super::{Status, yaml};
use super::files::{SourceFiles, markdown_in};
use super::hints::{add_paths, is_numbered, split_at_colon};
use super::markdown::{
    Markdown, MarkdownBlock, first_paragraph, plain_text, section_named, title, written_status,
};
use super::source::{ImportedIntent, ReadText, Source, SourceUnit};
use ground::policy::SourceFormat;

pub(super) struct Adr;

const PLACES: [&str; 5] =
    ["docs/adr", "doc/adr", "docs/decisions", "docs/internal/adr", "docs/architecture/decisions"];

impl Source for Adr {
    fn units(&self, files: &dyn SourceFiles) -> Vec<SourceUnit> {
        let records = PLACES.iter().flat_map(|place| markdown_in(files, place));
        let units = records.filter_map(|path| {
            let stem = path.file_name().strip_suffix(".md")?.to_owned();
            is_numbered(&stem).then(|| SourceUnit::of_file(path, stem))
        });
        units.collect()
    }

    fn read(&self, unit: &SourceUnit, text: ReadText<'_>) -> Vec<ImportedIntent> {
        let mut imported = unit.intent(SourceFormat::Adr, &[]);
        if let Some(text) = text(&unit.place) {
            let markdown = Markdown::parse(&text);
            // Records in the form of MADR say their status in front of the text.
            let front = markdown.front_matter();
            let front = front.and_then(|(text, at)| Some((yaml::parse(text).ok()?, at)));
            if let Some((tree, at)) = front
                && let Some(status) = tree.get("status")
            {
                let span = status.span.start + at..status.span.end + at;
                set_status(status.text().unwrap_or_default(), span, &mut imported);
            }
            read_record(&markdown.blocks(), &mut imported);
        }
        vec![imported]
    }
}

fn read_record(blocks: &[MarkdownBlock<'_>], imported: &mut ImportedIntent) {
    if let Some(title) = title(blocks) {
        imported.set_name_in(title, without_number(title.text));
    }
    if let Some((block, text)) = written_status(blocks).filter(|_| imported.intent.status.is_none())
    {
        set_status(text, block.span_of(text), imported);
    }
    let starting =
        |word: &'static str| move |level, text: &str| level == 2 && text.starts_with(word);
    imported.reason = section_named(blocks, starting("Context")).and_then(first_paragraph);
    let is_decision =
        |level, text: &str| level == 2 && matches!(text, "Decision" | "Decision Outcome");
    let decision = section_named(blocks, is_decision).and_then(first_paragraph);
    decision.into_iter().for_each(|decision| imported.add_constraint(decision));
    blocks.iter().for_each(|block| add_paths(block.text, &mut imported.scope_hints));
}

/// A record that is accepted is in force, and one that is superseded is not.
fn set_status(text: &str, span: Range<usize>, imported: &mut ImportedIntent) {
    let word = text.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
    let status = match word.unwrap_or_default().to_ascii_lowercase().as_str() {
        "accepted" | "approved" | "adopted" | "active" => Status::Completed,
        "proposed" | "draft" => Status::Draft,
        "superseded" | "deprecated" | "rejected" | "withdrawn" => {
            imported.add_note(plain_text(text));
            Status::Archived
        }
        _ => return,
    };
    imported.set_status(status, span);
}

/// Returns `Title` of `1. Title` and of `ADR-0001: Title`.
fn without_number(title: &str) -> &str {
    if let Some((number, name)) = split_at_colon(title)
        && number.to_ascii_uppercase().starts_with("ADR")
    {
        return name;
    }
    let name = title.trim_start_matches(|c: char| c.is_ascii_digit());
    name.strip_prefix('.').filter(|_| name.len() < title.len()).map_or(title, str::trim)
}
