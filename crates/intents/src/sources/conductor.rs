//! Conductor: a folder for each track in `conductor/tracks/`, and a list of them in
//! `conductor/tracks.md`. The status in a track's `metadata.json` is never kept up to date.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::super::Status;
use super::files::{SourceFiles, shared_text};
use super::hints::{add_paths, words_of};
use super::markdown::{
    BoxCount, Markdown, MarkdownBlock, first_paragraph, plain_text, section_named, text_after_box,
};
use super::source::{ImportedIntent, ReadText, Source, SourceUnit, folder_below, status_of_boxes};
use ground::policy::SourceFormat;

pub(super) struct Conductor;

const PLACES: [&str; 2] = ["conductor/tracks/", "conductor/archive/"];
const STACK: &str = "conductor/tech-stack.md";

impl Source for Conductor {
    fn units(&self, files: &dyn SourceFiles) -> Vec<SourceUnit> {
        let wanted = ["spec.md", "plan.md", "metadata.json"];
        let mut units = SourceUnit::of_folders(files, &PLACES, &wanted);
        if units.is_empty() {
            return units;
        }
        let listed = listed_tracks(&shared_text(files, "conductor/tracks.md"));
        let stack = !shared_text(files, STACK).is_empty();
        for unit in &mut units {
            let (mark, words) = listed.get(&unit.name).cloned().unwrap_or_default();
            unit.context = vec![mark, words];
            unit.context.extend(stack.then(|| STACK.to_owned()));
        }
        units
    }

    fn name_of_path<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        PLACES.iter().find_map(|place| folder_below(path, place)).map(Cow::Borrowed)
    }

    fn read(&self, unit: &SourceUnit, text: ReadText<'_>) -> Vec<ImportedIntent> {
        let mut imported = unit.intent(SourceFormat::Conductor, &[]);
        let metadata = unit.file("metadata.json").and_then(text);
        let metadata = metadata.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let described = metadata.as_ref().and_then(|one| one.get("description")?.as_str());
        let listed = unit.context.get(1).filter(|words| !words.is_empty());
        let name = described.map(plain_text).or_else(|| listed.cloned());
        let words = unit.name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        imported.set_name(name.unwrap_or_else(|| words_of(words)), 0..0);
        unit.with_blocks("spec.md", text, |blocks| read_spec(blocks, &mut imported));
        let boxes = unit.with_blocks("plan.md", text, |tasks| {
            tasks.iter().for_each(|task| add_paths(task.text, &mut imported.scope_hints));
            BoxCount::of_blocks(tasks)
        });
        let boxes = boxes.unwrap_or_default();
        imported.scope_hints.retain(|path| !path.starts_with("conductor/"));
        unit.context.iter().skip(2).for_each(|stack| imported.add_constraint(stack));
        imported.count_tasks(boxes);
        let is_done = unit.place.as_str().starts_with(PLACES[1])
            || unit.context.first().is_some_and(|mark| mark.eq_ignore_ascii_case("x"));
        let status = status_of_boxes(boxes, Status::Pending);
        imported.set_status(if is_done { Status::Completed } else { status }, 0..0);
        vec![imported]
    }
}

/// Returns the mark and the name of each track in the list: a heading or an item with a box, whose
/// link leads to the track's folder.
fn listed_tracks(list: &str) -> HashMap<String, (String, String)> {
    let markdown = Markdown::parse(list);
    let mut tracks = HashMap::new();
    let mut track = None;
    for block in markdown.blocks() {
        let boxed = block.mark().map(|mark| (mark, block.text));
        let boxed =
            boxed.or_else(|| text_after_box(block.text).filter(|_| block.level().is_some()));
        if let Some((mark, text)) = boxed {
            let name = plain_text(text.lines().next().unwrap_or_default());
            let name = name.strip_prefix("Track:").unwrap_or(&name).trim();
            track = Some((mark.to_string(), name.to_owned()));
        }
        let linked = PLACES.iter().find_map(|place| {
            let (_, rest) = block.text.split_once(place.strip_prefix("conductor/")?)?;
            rest.split(['/', ')', ']', ' ', '\n']).next().filter(|name| !name.is_empty())
        });
        if let Some((linked, track)) = linked.zip(track.clone()) {
            tracks.entry(linked.to_owned()).or_insert(track);
        }
    }
    tracks
}

fn read_spec(blocks: &[MarkdownBlock<'_>], imported: &mut ImportedIntent) {
    // Sections may be numbered: `## 4. Acceptance Criteria`.
    let ending = |end: &'static str| move |level, text: &str| level == 2 && text.ends_with(end);
    imported.reason = section_named(blocks, ending("Overview")).and_then(first_paragraph);
    let criteria = section_named(blocks, ending("Acceptance Criteria")).unwrap_or_default();
    for (item, nth) in criteria.iter().filter(|block| block.is_item()).zip(1..) {
        imported.add_criterion(format!("AC #{nth}"), item);
    }
    let outside = section_named(blocks, ending("Out of Scope")).unwrap_or_default();
    for item in outside.iter().filter(|block| block.is_item()) {
        imported.add_constraint(format!("Out of scope: {}", plain_text(item.text)));
    }
}
