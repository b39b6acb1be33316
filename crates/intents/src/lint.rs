//! Checks a registry for errors and for deviations from the canonical form.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

pub use strsim::levenshtein as distance;

use super::dialect::{Deviation, Field, requoted};
use super::model::{MAX_ID, is_source_id, valid_id};
use super::scope::{self, Problem, ScopeVerdict};
use super::yaml::{Style, YamlLayout};
use super::{
    FOLDER, Intent, IntentFile, Registry, Spanned, Status, id_in_name, name_after_id, single_name,
};
use code::LineRange;
use edits::TextEdit;
use ground::ignores::{IgnoreRule, Ignores};
use ground::text::{self, invisible_characters};
use ground::{Code, Finding, Fix, RelatedPlace, RelativePath};

/// At most this many runs of invisible characters are reported for a file, so that a hostile text
/// cannot flood an editor.
const MAX_INVISIBLE: usize = 100;
/// If a file has more owners than this, each is compared only with the first one.
const MAX_PAIRED: usize = 16;

/// Returns the findings that need only the registry itself (syntax, dialect, status, ids, globs,
/// characters), with positions and fixes.
pub fn registry(registry: &Registry) -> Vec<Finding> {
    let free = super::edit::next_id(registry, &BTreeSet::new());
    let mut findings: Vec<Finding> =
        registry.files().iter().flat_map(|file| one_file(file, &free)).collect();
    findings.extend(duplicates(registry, &free));
    findings.extend(former_ids(registry));
    in_order(registry, findings)
}

fn in_order(registry: &Registry, mut findings: Vec<Finding>) -> Vec<Finding> {
    let place = |finding: &Finding| {
        let is_of_finding = |file: &Arc<IntentFile>| Some(file.path()) == finding.path.as_ref();
        let start = finding.span.as_ref().map_or(0, |span| span.start);
        (registry.files().iter().position(is_of_finding), start)
    };
    findings.sort_by_key(place);
    findings
}

fn one_file(file: &IntentFile, free: &str) -> Vec<Finding> {
    let mut findings = Vec::from_iter(file.syntax_error().cloned());
    findings.extend(invisible(file));
    findings.extend(file.form().deviations.iter().map(|one| deviation(file, one)));
    findings.extend((0..file.len()).flat_map(|index| one_intent(file, index, free)));
    findings
}

fn replace(file: &IntentFile, title: String, span: Range<usize>, text: String) -> Fix {
    let edits = vec![TextEdit { range: span, text }];
    Fix { title, path: file.path().clone(), edits }
}

fn with_intent(finding: Finding, intent: Option<&Intent>) -> Finding {
    let intent = intent.map(|intent| intent.id.value.clone()).filter(|id| !id.is_empty());
    Finding { intent, ..finding }
}

fn with_fix(finding: Finding, fix: Option<Fix>) -> Finding {
    Finding { fixes: fix.into_iter().collect(), ..finding }
}

fn with_related(finding: Finding, place: RelatedPlace) -> Finding {
    Finding { related: vec![place], ..finding }
}

fn invisible(file: &IntentFile) -> Vec<Finding> {
    let text = file.text();
    let hidden = invisible_characters(text)
        .into_iter()
        .filter(|(_, c)| !matches!(c, '\n' | '\r' | '\t'))
        .filter(|place| *place != (0, '\u{feff}'));
    let mut runs: Vec<(Range<usize>, Vec<char>)> = Vec::new();
    for (at, c) in hidden {
        match runs.last_mut().filter(|(range, _)| range.end == at) {
            Some((range, chars)) => {
                range.end += c.len_utf8();
                chars.push(c);
            }
            None => runs.push((at..at + c.len_utf8(), vec![c])),
        }
    }
    let reported = runs.into_iter().take(MAX_INVISIBLE);
    reported.map(|(span, chars)| invisible_run(file, span, &chars)).collect()
}

fn invisible_run(file: &IntentFile, span: Range<usize>, chars: &[char]) -> Finding {
    let names: Vec<String> = chars.iter().take(8).map(|c| format!("U+{:04X}", *c as u32)).collect();
    let more = if chars.len() > 8 { " …" } else { "" };
    let message = format!(
        "Invisible here: {}{more}. People and programs read this differently.",
        names.join(" ")
    );
    let help = "Remove it, or write it as an escape in double quotes.";
    let finding = file.finding(Code::InvisibleCharacter, span.clone(), message, help);
    let title = "Remove the invisible characters".to_owned();
    let fix = replace(file, title, span.clone(), String::new());
    with_intent(with_fix(finding, Some(fix)), file.intent_at(span.start))
}

fn deviation(file: &IntentFile, one: &Deviation) -> Finding {
    let finding = file.finding(Code::RegistryDialect, one.span.clone(), &one.message, &one.help);
    let fix = one.canonical.as_ref().map(|text| {
        replace(file, format!("Write the canonical {text}"), one.span.clone(), text.clone())
    });
    let intent = one.intent.and_then(|index| file.intents().get(index));
    with_intent(with_fix(finding, fix), intent)
}

/// Reports each intent that has the same id as an earlier one. None of the intents with this id can
/// be used.
fn duplicates(registry: &Registry, free: &str) -> Vec<Finding> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut findings = Vec::new();
    for (index, intent) in registry.intents().iter().enumerate() {
        let id = intent.id.value.as_str();
        let earlier = *first.entry(id).or_insert(index);
        if id.is_empty() || earlier == index {
            continue;
        }
        let (file, _) = registry.source(index);
        let message = format!("Another intent also has the id {id}, so neither can be selected.");
        let path = file.path().for_shell();
        let help = format!(
            "If they are one intent, remove one of the two. Otherwise `intent setup renumber {id} --file {path}` gives this one an id of its own, such as {free}, and its records with it."
        );
        let finding = file.finding(Code::DuplicateId, intent.id.span.clone(), message, help);
        let (other, _) = registry.source(earlier);
        let span = registry.intents()[earlier].id.span.clone();
        let finding = with_related(finding, other.related(span, "First used here."));
        findings.push(with_intent(finding, Some(intent)));
    }
    findings
}

/// Reports former ids that two intents had, and none has now. Records under such an id could belong
/// to either. An id that another intent has now is none of these: two clones gave it to two intents,
/// and one of them was renumbered.
fn former_ids(registry: &Registry) -> Vec<Finding> {
    let intents = registry.intents();
    let present: HashSet<&str> = intents.iter().map(|intent| intent.id.value.as_str()).collect();
    let mut first: HashMap<&str, (usize, &Spanned<String>)> = HashMap::new();
    let mut findings = Vec::new();
    for (index, intent) in intents.iter().enumerate() {
        let is_free = |id: &&Spanned<String>| !present.contains(id.value.as_str());
        for id in intent.formerly.iter().filter(|id| !id.value.is_empty()).filter(is_free) {
            let (earlier, place) = *first.entry(&id.value).or_insert((index, id));
            if earlier == index {
                continue;
            }
            let message = format!(
                "Two intents list the former id {}, so its records belong to neither.",
                id.value
            );
            let help = "Keep it only in the intent that had this id.";
            let (file, _) = registry.source(index);
            let finding = file.finding(Code::DuplicateId, id.span.clone(), message, help);
            let because = format!("Here it belongs to {}.", intents[earlier].id.value);
            let (beside, _) = registry.source(earlier);
            let finding = with_related(finding, beside.related(place.span.clone(), because));
            findings.push(with_intent(finding, Some(intent)));
        }
    }
    findings
}

fn one_intent(file: &IntentFile, index: usize, free: &str) -> Vec<Finding> {
    let intent = &file.intents()[index];
    let single = [id(file, intent), status(file, index, intent), misnamed_file(file, intent)];
    let findings = single
        .into_iter()
        .flatten()
        .chain(missing_fields(file, index, intent, free))
        .chain(entries(file, index, intent));
    findings.map(|finding| with_intent(finding, Some(intent))).collect()
}

fn anchor(intent: &Intent) -> Range<usize> {
    match intent.id.span.is_empty() {
        false => intent.id.span.clone(),
        true => intent.span.start..(intent.span.start + 1).min(intent.span.end),
    }
}

/// The id of an intent that is kept elsewhere has a prefix.
fn is_citable(intent: &Intent) -> bool {
    valid_id(&intent.id.value) || intent.source().is_some_and(is_source_id)
}

fn id(file: &IntentFile, intent: &Intent) -> Option<Finding> {
    if intent.id.value.is_empty() || is_citable(intent) {
        return None;
    }
    let message = format!("{} cannot be cited safely.", quoted_for_message(&intent.id.value));
    let help = format!(
        "Use ASCII letters, digits, `-`, `_` and `.`, at most {MAX_ID} of them, e.g. INT-001."
    );
    Some(file.finding(Code::InvalidId, intent.id.span.clone(), message, help))
}

/// Reports a file with a single intent that is not named after the intent's id. A search for the id
/// would find another file or none.
fn misnamed_file(file: &IntentFile, intent: &Intent) -> Option<Finding> {
    let (name, id) = (single_name(file.path())?, intent.id.value.as_str());
    let stem = id.replace(':', "-");
    if name_after_id(file.path(), &stem).is_some() || !is_citable(intent) {
        return None;
    }
    let message = format!("This file is named after {}, and holds {id}.", quoted_for_message(name));
    let help = format!(
        "Rename the file to {FOLDER}/{stem}.yaml or {FOLDER}/{stem}-WORDS.yaml, or write the id that it is named after."
    );
    Some(file.finding(Code::InvalidId, intent.id.span.clone(), message, help))
}

fn status(file: &IntentFile, index: usize, intent: &Intent) -> Option<Finding> {
    if intent.status.is_some() {
        return None;
    }
    let place = file.written(index).field_place(Field::Status)?;
    let value = &place.value;
    if value.is_null() {
        return None;
    }
    let known = Status::ALL.map(Status::as_str).join(", ");
    let Some(text) = value.text() else {
        let (span, help) = (value.span.clone(), format!("One of {known}."));
        return Some(file.finding(Code::UnknownStatus, span, "The status is not a text.", help));
    };
    let near = nearest_status(text);
    let help = match near {
        Some(status) => format!("Did you mean {}?", status.as_str()),
        None => format!("One of {known}. Until then no work may be done under this intent."),
    };
    let message = format!("{text:?} is no status.");
    let finding = file.finding(Code::UnknownStatus, value.span.clone(), message, help);
    let text = near.and_then(|near| requoted(value, near.as_str()));
    let fix = text.map(|text| replace(file, format!("Write {text}"), value.span.clone(), text));
    Some(with_fix(finding, fix))
}

fn nearest_status(text: &str) -> Option<Status> {
    let folded = text.trim().to_ascii_uppercase().replace(['-', ' '], "_");
    if folded.chars().count() > 24 {
        return None;
    }
    let distance = |status: &Status| distance(&folded, status.as_str());
    let best = Status::ALL.into_iter().min_by_key(distance)?;
    (distance(&best) <= 1 + best.as_str().len() / 4).then_some(best)
}

fn missing_fields(file: &IntentFile, index: usize, intent: &Intent, free: &str) -> Vec<Finding> {
    let written = file.written(index);
    let mut findings = Vec::new();
    let mut lacks = |what: &str, help: String| {
        let message = format!("This intent has no {what}.");
        findings.push(file.finding(Code::MissingField, anchor(intent), message, help));
    };
    if intent.id.value.is_empty() {
        let id = id_in_name(file.path()).filter(|id| valid_id(id)).unwrap_or(free);
        lacks("id", format!("Add `id: {id}`; without it nobody can cite or select it."));
    }
    let status = written.field_place(Field::Status);
    if intent.status.is_none() && status.is_none_or(|place| place.value.is_null()) {
        lacks(
            "status",
            "Add `status: IN_PROGRESS` where work may begin, else `DRAFT` or `PENDING`.".into(),
        );
    }
    if !intent.in_progress() {
        return findings;
    }
    if intent.name.value.is_empty() {
        lacks("name", "Add `name:`: a few words that say what is asked for.".into());
    }
    match written.field_place(Field::Scope) {
        None => lacks(
            "scope",
            "Add `owned_scope: [\"src/…/**\"]`; without it the intent owns nothing.".into(),
        ),
        Some(place) if intent.owned_scope.is_empty() => {
            let span =
                if place.value.span.is_empty() { &place.key.span } else { &place.value.span };
            findings.push(file.finding(
                Code::EmptyScope,
                span.clone(),
                "This intent is in progress and owns no file: every edit under it is denied.",
                "List the globs it may change, e.g. `owned_scope: [\"src/auth/**\"]`.",
            ));
        }
        Some(_) => {}
    }
    findings
}

fn entries(file: &IntentFile, index: usize, intent: &Intent) -> Vec<Finding> {
    let compiled = file.scope_at(index);
    let mut findings = Vec::new();
    let mut too_many = 0usize;
    for (at, problem) in compiled.problems() {
        match intent.owned_scope.get(*at) {
            Some(_) if *problem == Problem::TooMany => too_many += 1,
            Some(entry) => findings.push(bad_entry(file, entry, problem)),
            None => {}
        }
    }
    if let Some(entry) = intent.owned_scope.get(scope::MAX_ENTRIES).filter(|_| too_many > 0) {
        let message = format!(
            "A scope holds at most {} entries; {too_many} do not count.",
            scope::MAX_ENTRIES
        );
        let help = "Use fewer, wider globs, or split the intent.";
        findings.push(file.finding(Code::RegistryTooLarge, entry.span.clone(), message, help));
    }
    for entry in intent.owned_scope.iter().take(scope::MAX_ENTRIES) {
        findings.extend(unquoted_exclusion(file, index, entry));
        findings.extend(canonical_entry(file, index, entry));
    }
    findings
}

fn quoted_for_message(text: &str) -> String {
    format!("\"{}\"", text::visible(text, false))
}

fn bad_entry(file: &IntentFile, entry: &Spanned<String>, problem: &Problem) -> Finding {
    let (code, help) = match problem {
        Problem::Outside => {
            (Code::GlobOutside, "Scopes are relative to the workspace's root and stay inside it.")
        }
        Problem::Orchestration => {
            (Code::GlobOutside, "Remove it: that folder is kept by people and by this tool.")
        }
        Problem::Invalid(_) | Problem::TooMany => (
            Code::GlobInvalid,
            "Write a path or a glob: `**`, `*`, `?`, `[..]`, `{a,b}`, a trailing `/` for everything below.",
        ),
    };
    let effect = if entry.value.starts_with('!') && code == Code::GlobInvalid {
        "Until it is fixed, the scope owns nothing, because what it excludes is unknown"
    } else {
        "It owns nothing"
    };
    let message =
        format!("{} is no scope entry: {problem}. {effect}.", quoted_for_message(&entry.value));
    file.finding(code, entry.span.clone(), message, help)
}

/// Reports an exclusion without quotes. YAML reads `- !src/**` as a tag, so other readers lose the
/// exclusion without notice.
fn unquoted_exclusion(file: &IntentFile, index: usize, entry: &Spanned<String>) -> Option<Finding> {
    let place = file.written(index).field_place(Field::Scope)?;
    let item = place.value.items().iter().find(|item| item.tag.as_ref() == Some(&entry.span))?;
    let message = format!(
        "{} has no quotes, so YAML takes it for a tag and other programs lose the exclusion.",
        quoted_for_message(&entry.value)
    );
    let finding = file.finding(Code::GlobInvalid, entry.span.clone(), message, "Put it in quotes.");
    let quoted = || super::canonical::double_quoted(&entry.value);
    let fix = || replace(file, "Put it in quotes".into(), entry.span.clone(), quoted());
    Some(with_fix(finding, item.is_null().then(fix)))
}

/// Reports an entry that is not in the canonical form: `./src/a.ts` and `/src/a.ts` mean
/// `src/a.ts`.
fn canonical_entry(file: &IntentFile, index: usize, entry: &Spanned<String>) -> Option<Finding> {
    let pattern = scope::check(&entry.value).ok()?;
    let negation = if entry.value.starts_with('!') { "!" } else { "" };
    let canonical = format!("{negation}{pattern}");
    if canonical == entry.value {
        return None;
    }
    let message = format!(
        "{} is read as {}.",
        quoted_for_message(&entry.value),
        quoted_for_message(&canonical)
    );
    let help = "Scopes are anchored at the workspace's root as they are.";
    let finding = file.finding(Code::RegistryDialect, entry.span.clone(), message, help);
    Some(with_fix(finding, entry_fix(file, index, entry, &canonical)))
}

fn entry_fix(file: &IntentFile, index: usize, entry: &Spanned<String>, text: &str) -> Option<Fix> {
    let place = file.written(index).field_place(Field::Scope)?;
    let item = place.value.items().iter().find(|item| item.span == entry.span && !item.aliased)?;
    let style = item.style()?;
    let in_flow = place.value.layout() == Some(YamlLayout::Flow);
    let is_line = matches!(style, Style::Plain | Style::SingleQuoted | Style::DoubleQuoted);
    let quoted = is_line.then(|| super::canonical::quoted_like(text, style, in_flow))?;
    Some(replace(file, format!("Write {text}"), entry.span.clone(), quoted))
}

/// Returns the findings that need the files of the workspace: globs that match nothing, directories
/// without a trailing slash, and overlapping scopes of intents in progress.
pub fn against_files(registry: &Registry, files: &[RelativePath]) -> Vec<Finding> {
    let mut sorted: Vec<&str> = files.iter().map(RelativePath::as_str).collect();
    sorted.sort_unstable();
    let mut findings = Vec::new();
    for (index, intent) in registry.intents().iter().enumerate() {
        if !intent.is_closed() {
            findings.extend(unmatched_globs(registry, index, &sorted));
        }
    }
    findings.extend(overlaps(registry, &sorted));
    in_order(registry, findings)
}

/// Returns findings for rules in ignore files about an intent that the registry does not contain.
/// Such a rule has no effect.
pub fn ignored_intents(registry: &Registry, ignores: &Ignores) -> Vec<Finding> {
    if registry.syntax_error().is_some() {
        return Vec::new();
    }
    let finding = |IgnoreRule { file, line, intent, .. }: IgnoreRule| {
        let intent = intent
            .filter(|id| registry.get(id).is_none() && registry.definitions_of(id).is_empty())?;
        let message =
            format!("The rule names {intent}, which is not in the registry, so it has no effect.");
        let help = format!(
            "Write the id of an intent, or remove `{intent}:` so that the rule applies to every agent."
        );
        let finding = Finding::new(Code::UnknownIntent, message, help).in_file(&file);
        Some(Finding { lines: LineRange::new(line, line), intent: Some(intent), ..finding })
    };
    ignores.intent_lines().into_iter().filter_map(finding).collect()
}

/// Returns the files that begin with a prefix. They are adjacent in the sorted list.
fn files_below<'f>(sorted: &'f [&'f str], prefix: &str) -> &'f [&'f str] {
    let start = sorted.partition_point(|file| *file < prefix);
    let length = sorted[start..].partition_point(|file| file.starts_with(prefix));
    &sorted[start..start + length]
}

fn unmatched_globs(registry: &Registry, index: usize, sorted: &[&str]) -> Vec<Finding> {
    let (file, index) = registry.source(index);
    let (intent, compiled) = (&file.intents()[index], file.scope_at(index));
    let mut findings = Vec::new();
    for (at, entry) in intent.owned_scope.iter().enumerate() {
        let Ok(pattern) = scope::check(&entry.value) else { continue };
        let matches = |file: &&str| compiled.entry_matches(at, file);
        let found = files_below(sorted, compiled.entry_prefix(at)).iter().any(matches)
            || sorted.binary_search(&pattern.as_str()).is_ok();
        // An entry that is no valid glob was already reported.
        let broken = compiled.problems().iter().any(|(index, _)| *index == at);
        if at >= scope::MAX_ENTRIES || found || broken {
            continue;
        }
        let folder = format!("{pattern}/");
        let finding = if !pattern.ends_with('/') && !files_below(sorted, &folder).is_empty() {
            directory(file, index, entry)
        } else if entry.value.starts_with('!') {
            continue;
        } else {
            let message = format!("{} matches no file.", quoted_for_message(&entry.value));
            let help = "Correct it if it is a slip; leave it if the file is still to be written.";
            file.finding(Code::GlobMatchesNothing, entry.span.clone(), message, help)
        };
        findings.push(with_intent(finding, Some(intent)));
    }
    findings
}

fn directory(file: &IntentFile, index: usize, entry: &Spanned<String>) -> Finding {
    let effect = if entry.value.starts_with('!') { "excludes" } else { "owns" };
    let message = format!(
        "{} is a directory: without a trailing slash it {effect} nothing.",
        quoted_for_message(&entry.value)
    );
    let slashed = format!("{}/", entry.value);
    let help = format!("Write {} for everything below it.", quoted_for_message(&slashed));
    let finding = file.finding(Code::GlobDirectory, entry.span.clone(), message, help);
    with_fix(finding, entry_fix(file, index, entry, &slashed))
}

/// The files that two intents both own, and the entries that own the first of them.
struct SharedFile {
    first_entry: usize,
    second_entry: usize,
    pub example: String,
    pub files: usize,
}

fn overlaps(registry: &Registry, sorted: &[&str]) -> Vec<Finding> {
    let shared = owned_by_two(registry, sorted);
    shared.iter().map(|(pair, shared)| overlap(registry, *pair, shared)).collect()
}

fn owned_by_two(registry: &Registry, sorted: &[&str]) -> HashMap<(usize, usize), SharedFile> {
    let is_active = |index: &usize| {
        let intent = &registry.intents()[*index];
        intent.in_progress() && !intent.owned_scope.is_empty()
    };
    let active: Vec<usize> = (0..registry.intents().len()).filter(is_active).collect();
    let mut shared: HashMap<(usize, usize), SharedFile> = HashMap::new();
    for file in sorted {
        let owners: Vec<(usize, usize)> = active
            .iter()
            .filter_map(|index| match registry.scope_at(*index).verdict_of(file) {
                ScopeVerdict::Owned(entry) => Some((*index, entry)),
                _ => None,
            })
            .collect();
        // With many owners, each is compared only with the first one, because the number of pairs
        // grows with the square.
        let firsts = if owners.len() > MAX_PAIRED { 1 } else { owners.len() };
        for (at, (first, first_entry)) in owners.iter().enumerate().take(firsts) {
            for (second, second_entry) in &owners[at + 1..] {
                let pair = shared.entry((*first, *second)).or_insert_with(|| SharedFile {
                    first_entry: *first_entry,
                    second_entry: *second_entry,
                    example: (*file).to_owned(),
                    files: 0,
                });
                pair.files += 1;
            }
        }
    }
    shared
}

fn overlap(registry: &Registry, (first, second): (usize, usize), shared: &SharedFile) -> Finding {
    let (one, two) = (&registry.intents()[first], &registry.intents()[second]);
    let more = match shared.files {
        1 => String::new(),
        files => format!(" and {} more", files - 1),
    };
    let message = format!(
        "{} and {} are both in progress and both own {}{more}.",
        one.id.value, two.id.value, shared.example
    );
    let help = "Exclude it from one of them with `!`, or finish one first; else two agents may write over each other.";
    let span = two.owned_scope[shared.second_entry].span.clone();
    let (file, _) = registry.source(second);
    let finding = file.finding(Code::ScopeOverlap, span, message, help);
    let because = format!("{} owns it by this entry.", one.id.value);
    let (beside, _) = registry.source(first);
    let place = beside.related(one.owned_scope[shared.first_entry].span.clone(), because);
    with_intent(with_related(finding, place), Some(two))
}
