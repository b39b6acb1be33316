//! OpenSpec: a folder for each change in `openspec/changes/`. When a change is done, its folder moves to
//! `openspec/changes/archive/DATE-NAME/`.

use std::borrow::Cow;

use super::super::{Status, yaml};
use super::files::{SourceFiles, folders_in, shared_text};
use super::hints::{add_paths, split_at_colon};
use super::markdown::{
    BoxCount, Markdown, MarkdownBlock, first_paragraph, plain_text, section, section_named,
};
use super::source::{
    ImportedIntent, ReadText, Requirement, Source, SourceUnit, spanned, status_of_boxes,
};
use code::lists::words;
use ground::RelativePath;
use ground::policy::SourceFormat;

pub(super) struct OpenSpec;

/// Folders of packages, each of which may have its own `openspec/`.
const PACKAGES: &[&str] = words!("apps crates libs modules packages projects services");

impl Source for OpenSpec {
    fn units(&self, files: &dyn SourceFiles) -> Vec<SourceUnit> {
        places(files).iter().flat_map(|place| changes(files, place)).collect()
    }

    fn name_of_path<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        const CHANGES: &str = "openspec/changes/";
        let at = path.match_indices(CHANGES).map(|(at, _)| at);
        let at = { at }.find(|at| *at == 0 || path.as_bytes()[at - 1] == b'/')?;
        let below = &path[at + CHANGES.len()..];
        let (name, rest) = below.split_once('/')?;
        let name = if name == "archive" { without_date(rest.split_once('/')?.0) } else { name };
        (!name.is_empty()).then_some(Cow::Borrowed(name))
    }

    fn read(&self, unit: &SourceUnit, text: ReadText<'_>) -> Vec<ImportedIntent> {
        let mut imported = unit.intent(SourceFormat::Openspec, &["proposal.md"]);
        unit.with_blocks("proposal.md", text, |blocks| read_proposal(blocks, &mut imported));
        let boxes = unit.with_blocks("tasks.md", text, |blocks| {
            let tasks = blocks.iter().filter(|task| task.mark().is_some());
            tasks.for_each(|task| add_paths(task.text, &mut imported.scope_hints));
            BoxCount::of_blocks(blocks)
        });
        let boxes = boxes.unwrap_or_default();
        imported.scope_hints.retain(|path| !format!("/{path}").contains("/openspec/"));
        for path in unit.files.iter().filter(|path| path.file_name() == "spec.md") {
            let Some(text) = text(path) else { continue };
            let markdown = Markdown::parse(&text);
            match path.as_str().starts_with(unit.place.as_str()) {
                true => read_delta(&markdown.blocks(), path, &mut imported),
                false => read_base(&markdown.blocks(), &mut imported),
            }
        }
        unit.context.iter().for_each(|rule| imported.add_constraint(rule));
        imported.count_tasks(boxes);
        let status = match status_of_boxes(boxes, Status::Pending) {
            _ if is_archived(unit) => Status::Completed,
            Status::Completed => {
                imported.add_note("all tasks done");
                Status::InProgress
            }
            status => status,
        };
        imported.set_status(status, 0..0);
        vec![imported]
    }
}

fn places(files: &dyn SourceFiles) -> Vec<String> {
    let top = folders_in(files, "").into_iter().filter(|top| !top.as_str().starts_with('.'));
    let inside = top.flat_map(|top| {
        let is_packages = PACKAGES.contains(&top.as_str());
        let inner = if is_packages { folders_in(files, top.as_str()) } else { Vec::new() };
        inner.into_iter().chain([top])
    });
    let inside = inside.map(|folder| format!("{folder}/openspec"));
    let all = std::iter::once("openspec".to_owned()).chain(inside);
    all.filter(|place| files.has_folder(&format!("{place}/changes"))).collect()
}

fn changes(files: &dyn SourceFiles, place: &str) -> Vec<SourceUnit> {
    let rules = rules(&shared_text(files, &format!("{place}/config.yaml")));
    let open = folders_in(files, &format!("{place}/changes"));
    let open = open.into_iter().filter(|folder| folder.file_name() != "archive");
    let archived = folders_in(files, &format!("{place}/changes/archive"));
    let unit = |folder: RelativePath| {
        let name = without_date(folder.file_name()).to_owned();
        let mut unit = SourceUnit::of_folder(files, folder, &["proposal.md", "tasks.md"]);
        unit.name = name;
        for capability in folders_in(files, &format!("{}/specs", unit.place)) {
            let base = format!("{place}/specs/{}/spec.md", capability.file_name());
            let base = Some(base).filter(|_| !is_archived(&unit));
            let both = [Some(format!("{capability}/spec.md")), base].into_iter().flatten();
            unit.files.extend(both.filter_map(|path| RelativePath::new(&path).ok()));
        }
        unit.context = rules.clone();
        unit
    };
    open.map(unit).chain(archived.into_iter().map(unit)).collect()
}

fn is_archived(unit: &SourceUnit) -> bool {
    unit.place.as_str().contains("openspec/changes/archive/")
}

/// Returns `add-login` of `2025-01-02-add-login`.
fn without_date(name: &str) -> &str {
    let is_date = |date: &[u8]| {
        let digit = |at: &usize| date[*at].is_ascii_digit();
        date[4] == b'-'
            && date[7] == b'-'
            && date[10] == b'-'
            && [0, 1, 2, 3, 5, 6, 8, 9].iter().all(digit)
    };
    let dated = name.as_bytes().first_chunk::<11>().is_some_and(|date| is_date(date));
    name.get(11..).filter(|rest| dated && !rest.is_empty()).unwrap_or(name)
}

/// Returns the `rules` of `config.yaml`, which are lists by the kind of file they are about.
fn rules(config: &str) -> Vec<String> {
    let tree = yaml::parse(config).ok();
    let rules = tree.as_ref().and_then(|tree| tree.get("rules"));
    let Some(rules) = rules else { return Vec::new() };
    let lists = std::iter::once(rules).chain(rules.entries().iter().map(|entry| &entry.value));
    lists.flat_map(yaml::Node::items).filter_map(|rule| rule.text().map(str::to_owned)).collect()
}

/// The sections of a proposal are `Why`, `What Changes` and `Impact`, also in other languages.
fn read_proposal(blocks: &[MarkdownBlock<'_>], imported: &mut ImportedIntent) {
    imported.set_name_behind_colon(blocks);
    imported.reason = section_named(blocks, |level, _| level == 2).and_then(first_paragraph);
    let is_impact = |level, text: &str| level == 2 && text.contains("Impact");
    let impact = section_named(blocks, is_impact).or_else(|| {
        let last = blocks.iter().rposition(|block| block.level() == Some(2))?;
        Some(section(blocks, last))
    });
    for block in impact.into_iter().flatten() {
        add_paths(block.text, &mut imported.scope_hints);
    }
}

/// Returns the requirements of a specification that it does not remove, each with its name and its
/// section.
fn requirements<'b, 'm>(
    blocks: &'b [MarkdownBlock<'m>],
) -> impl Iterator<Item = (usize, &'m str, &'b [MarkdownBlock<'m>])> {
    let mut is_removed = false;
    blocks.iter().enumerate().filter_map(move |(at, block)| {
        if block.level() == Some(2) {
            is_removed = block.text.starts_with("REMOVED");
        }
        let (word, name) = split_at_colon(block.text).filter(|_| block.level() == Some(3))?;
        (word == "Requirement" && !is_removed).then(|| (at, name, section(blocks, at)))
    })
}

fn read_delta(blocks: &[MarkdownBlock<'_>], path: &RelativePath, imported: &mut ImportedIntent) {
    let capability = path.as_str().rsplit('/').nth(1).unwrap_or_default();
    imported.add_related(capability);
    for (at, name, inside) in requirements(blocks) {
        let mut add = |id: &str, text: String, line| {
            let (id, path) = (id.to_owned(), path.clone());
            imported.requirements.push(Requirement { id, text, path, line, done: None });
        };
        add(name, first_paragraph(inside).unwrap_or_default(), blocks[at].line);
        let mut criteria = Vec::new();
        for (at, block) in inside.iter().enumerate().filter(|(_, one)| one.level() == Some(4)) {
            let Some(("Scenario", name)) = split_at_colon(block.text) else { continue };
            let steps = section(inside, at).iter().filter(|step| step.is_item());
            let steps: Vec<String> = steps.map(|step| plain_text(step.text)).collect();
            let steps = steps.join(" ");
            criteria.push(format!("{name}: {steps}"));
            add(name, steps, block.line);
        }
        let criteria = criteria.into_iter().map(|text| spanned(text, 0..0));
        imported.intent.acceptance_criteria.extend(criteria);
    }
}

/// What a capability demands today must hold while it is changed.
fn read_base(blocks: &[MarkdownBlock<'_>], imported: &mut ImportedIntent) {
    for (_, _, inside) in requirements(blocks) {
        let text = first_paragraph(inside).unwrap_or_default();
        if ["MUST", "SHALL"].iter().any(|word| text.contains(word)) {
            imported.add_constraint(text);
        }
    }
}
