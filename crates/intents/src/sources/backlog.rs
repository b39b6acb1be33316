//! Backlog.md: a file for each task below `backlog/`, with YAML at its beginning.

use std::borrow::Cow;

use super::super::{Status, yaml};
use super::files::{SourceFiles, shared_text};
use super::hints::{add_paths, words_of};
use super::markdown::{BoxCount, Markdown, MarkdownBlock, first_paragraph, section_named};
use super::source::{ImportedIntent, MAX_INTENTS, ReadText, Source, SourceUnit, spanned};
use ground::RelativePath;
use ground::policy::SourceFormat;

pub(super) struct Backlog;

const PLACES: [&str; 4] =
    ["backlog/tasks", "backlog/completed", "backlog/drafts", "backlog/archive"];
const CONFIGS: [&str; 2] = ["backlog/config.yml", "backlog/config.yaml"];
/// The deepest folder below `backlog/tasks` that is searched.
const MAX_DEPTH: usize = 4;

impl Source for Backlog {
    fn units(&self, files: &dyn SourceFiles) -> Vec<SourceUnit> {
        let mut found = Vec::new();
        if files.has_folder("backlog") {
            PLACES.iter().for_each(|place| collect_tasks(files, place, MAX_DEPTH, &mut found));
        }
        let config = || CONFIGS.map(|path| shared_text(files, path)).concat();
        let statuses = if found.is_empty() { Vec::new() } else { statuses(&config()) };
        found.iter_mut().for_each(|unit| unit.context.clone_from(&statuses));
        found
    }

    fn name_of_path<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        // Earlier versions kept the folder hidden.
        let path = path.strip_prefix('.').unwrap_or(path);
        let is_below =
            |place: &str| path.strip_prefix(place).is_some_and(|rest| rest.starts_with('/'));
        let id = id_of_file(path.rsplit('/').next()?)?;
        PLACES.into_iter().any(is_below).then(|| Cow::Owned(id.to_ascii_uppercase()))
    }

    fn read(&self, unit: &SourceUnit, text: ReadText<'_>) -> Vec<ImportedIntent> {
        let Some(text) = text(&unit.place) else { return vec![intent_by_file_name(unit)] };
        let markdown = Markdown::parse(&text);
        let Some((front, offset)) = markdown.front_matter() else { return Vec::new() };
        let tree = match yaml::parse(front) {
            Ok(tree) => tree,
            Err(broken) => {
                let mut imported = intent_by_file_name(unit);
                imported.add_note(format!("its front matter does not parse: {}", broken.message));
                return vec![imported];
            }
        };
        let Some(id) = tree.get("id").filter(|id| id.text().is_some()) else { return Vec::new() };
        let name = id.text().unwrap_or_default().trim().to_ascii_uppercase();
        let mut imported = ImportedIntent::new(SourceFormat::Backlog, &name, &unit.place);
        let place = |node: &yaml::Node| node.span.start + offset..node.span.end + offset;
        imported.intent.id.span = place(id);
        if let Some(title) = tree.get("title")
            && let Some(text) = title.text()
        {
            imported.set_name(text.trim().to_owned(), place(title));
        }
        let status = tree.get("status");
        let written = status.and_then(yaml::Node::text).unwrap_or_default();
        let span = status.map_or(0..0, place);
        imported.set_status(status_of(unit, written), span);
        if let Some(node) = tree.get("assignee")
            && let Some(owner) = texts(node).next()
        {
            let owner = owner.split('<').next().unwrap_or_default().trim();
            imported.intent.owner = Some(spanned(owner.to_owned(), place(node)))
                .filter(|owner| !owner.value.is_empty());
        }
        for path in tree.get("modified_files").into_iter().flat_map(texts) {
            if !imported.scope_hints.iter().any(|hint| hint == path) {
                imported.scope_hints.push(path.to_owned());
            }
        }
        for key in ["parent_task_id", "milestone", "dependencies", "references", "documentation"] {
            let related = tree.get(key).into_iter().flat_map(texts);
            related.for_each(|related| imported.add_related(related));
        }
        read_body(&text, &markdown.blocks(), &mut imported);
        vec![imported]
    }
}

fn collect_tasks(files: &dyn SourceFiles, folder: &str, depth: usize, found: &mut Vec<SourceUnit>) {
    for entry in files.list(folder) {
        if entry.is_folder {
            if depth > 0 && found.len() < MAX_INTENTS {
                collect_tasks(files, entry.path.as_str(), depth - 1, found);
            }
        } else if let Some(id) = id_of_file(entry.path.file_name()) {
            let name = id.to_ascii_uppercase();
            found.push(SourceUnit::of_file(entry.path, name));
        }
    }
}

fn intent_by_file_name(unit: &SourceUnit) -> ImportedIntent {
    let mut imported = ImportedIntent::new(SourceFormat::Backlog, &unit.name, &unit.place);
    let name = unit.place.file_name().trim_end_matches(".md").split_once(" - ");
    imported.set_name(words_of(name.map_or("", |(_, words)| words)), 0..0);
    imported
}

/// Returns `task-12.3` of `task-12.3 - Short title.md`. A file of another name is no task.
fn id_of_file(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".md")?;
    let id = name.split_once(" - ").map_or(name, |(id, _)| id).trim_end();
    let (prefix, number) = id.rsplit_once('-')?;
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_prefix = prefix.starts_with(|c: char| c.is_ascii_alphabetic())
        && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    (is_number && is_prefix).then_some(id)
}

fn statuses(config: &str) -> Vec<String> {
    let tree = yaml::parse(config).ok();
    let listed = tree.as_ref().and_then(|tree| tree.get("statuses"));
    let listed: Vec<String> = listed.into_iter().flat_map(texts).map(str::to_owned).collect();
    match listed.is_empty() {
        true => ["To Do", "In Progress", "Done"].map(str::to_owned).to_vec(),
        false => listed,
    }
}

fn texts(node: &yaml::Node) -> impl Iterator<Item = &str> {
    let one = std::iter::once(node).chain(node.items());
    one.filter_map(|node| node.text()).map(str::trim).filter(|text| !text.is_empty())
}

/// The folder says more than the status: tasks are archived as they are.
fn status_of(unit: &SourceUnit, written: &str) -> Option<Status> {
    let path: &RelativePath = &unit.place;
    match path.as_str().split('/').nth(1) {
        Some("completed") => return Some(Status::Completed),
        Some("archive") => return Some(Status::Archived),
        Some("drafts") => return Some(Status::Draft),
        _ => {}
    }
    let position = unit.context.iter().position(|status| status.eq_ignore_ascii_case(written));
    match position {
        Some(0) => Some(Status::Pending),
        Some(last) if last + 1 == unit.context.len() => Some(Status::Completed),
        Some(_) => Some(Status::InProgress),
        None => Status::parse(written).or_else(|| {
            let lower = written.to_ascii_lowercase();
            let is_dropped =
                matches!(lower.as_str(), "won't do" | "wont do" | "skipped" | "obsolete");
            is_dropped.then_some(Status::Archived)
        }),
    }
}

fn read_body(text: &str, blocks: &[MarkdownBlock<'_>], imported: &mut ImportedIntent) {
    let named = |name: &'static str| move |_, text: &str| text.eq_ignore_ascii_case(name);
    let reason = section_named(blocks, named("Description"));
    imported.reason = reason.and_then(first_paragraph);
    let mut boxes = BoxCount::default();
    for (heading, mark, word) in
        [("Acceptance Criteria", "AC", "AC"), ("Definition of Done", "DOD", "DoD")]
    {
        let place = |end| text.find(&format!("<!-- {mark}:{end} -->"));
        let marked = place("BEGIN").zip(place("END"));
        let inside = marked.map(|(from, to)| {
            blocks.iter().filter(|block| (from..to).contains(&block.start)).copied().collect()
        });
        let inside: Vec<_> = inside
            .unwrap_or_else(|| section_named(blocks, named(heading)).unwrap_or_default().to_vec());
        let criteria = inside.iter().filter(|block| block.mark().is_some());
        for (block, nth) in criteria.zip(1..) {
            let numbered = block.text.strip_prefix('#').and_then(|rest| rest.split_once(' '));
            let numbered = numbered.filter(|(number, _)| number.parse::<u32>().is_ok());
            let (id, text) = match numbered {
                Some((number, text)) => (format!("{word} #{number}"), text),
                None => (format!("{word} #{nth}"), block.text),
            };
            imported.add_criterion(id, &MarkdownBlock { text, ..*block });
        }
        let count = BoxCount::of_blocks(&inside);
        boxes = BoxCount { done: boxes.done + count.done, all: boxes.all + count.all, ..boxes };
    }
    imported.count_tasks(boxes);
    blocks.iter().for_each(|block| add_paths(block.text, &mut imported.scope_hints));
    imported.scope_hints.retain(|path| !path.starts_with("backlog/"));
}
