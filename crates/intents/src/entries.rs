//! The texts of single intents in a list: to move each into a file of its own, and to merge two
//! versions of a list, intent by intent, so that comments and unknown keys stay with their intent.

use std::collections::BTreeSet;
use std::ops::Range;

use super::canonical::as_yaml;
use super::dialect::{Field, Home};
use super::edit::{self, line_of, refusal_because};
use super::file::path_of_single;
use super::model::valid_id;
use super::yaml::{NodeKind, YamlLayout, dash_before};
use super::{EditError, Intent, IntentEntry, IntentFile, Registry, RegistryEdit};
use ground::RelativePath;

#[derive(Debug, PartialEq, Eq)]
pub struct SplitList {
    pub files: Vec<(RelativePath, String)>,
    /// What the list holds beside intents. `None` if nothing is left.
    pub rest: Option<String>,
}

/// Splits a list into one file for each intent. Lines in `known` say nothing of this registry, so
/// they alone are no reason to keep the list.
pub fn split(file: &IntentFile, known: &str) -> Result<SplitList, EditError> {
    let mut files = Vec::new();
    for (index, intent) in file.intents().iter().enumerate() {
        let id = &intent.id.value;
        let path = path_of_single(id, &intent.name.value).filter(|_| valid_id(id));
        let path =
            path.ok_or_else(|| refusal_because(format!("{id:?} cannot name a file; rename it")))?;
        if files.iter().any(|(other, _)| *other == path) || file.positions(id).len() > 1 {
            return Err(refusal_because(format!(
                "two intents are {id}; give one of them another id first"
            )));
        }
        let text = text_of(file, index)?;
        let alone = IntentFile::parse(path.clone(), &text);
        if !alone.intents().first().is_some_and(|moved| is_same(moved, intent)) {
            return Err(refusal_because(format!(
                "{id} depends on other parts of the list; write it in full"
            )));
        }
        files.push((path, text));
    }
    let rest = without_entries(file);
    let says_something = |line: &str| {
        let line = line.trim();
        !line.is_empty()
            && !known.lines().any(|known| known.trim() == line)
            && line != "active_intents: []"
            && !line.trim_matches(['[', ']', '{', '}', ',']).is_empty()
            && line != "\"active_intents\": []"
    };
    let rest = rest.filter(|rest| rest.lines().any(says_something));
    Ok(SplitList { files, rest })
}

/// A list that was merged, and what somebody should know about it.
#[derive(Debug, PartialEq, Eq)]
pub struct MergedList {
    pub text: String,
    pub notes: Vec<String>,
}

/// Merges two versions of a file, intent by intent. No intent is lost: one that a side removed and
/// the other changed is kept, and of two intents with one id the second gets another one. `taken`
/// holds ids that are used elsewhere.
pub fn merge(
    path: &RelativePath,
    [base, ours, theirs]: [&str; 3],
    taken: &BTreeSet<String>,
) -> Result<MergedList, EditError> {
    let [base, ours, theirs] = [base, ours, theirs].map(|text| match text.trim().is_empty() {
        true => Ok(IntentFile::unread(path.clone(), text)),
        false => read(path, text),
    });
    let (base, ours, theirs) = (base?, ours?, theirs?);
    let changed_beside = without_entries(&theirs) != without_entries(&base);
    if !ours.is_single() && changed_beside && without_entries(&theirs) != without_entries(&ours) {
        let both = !base.text().is_empty() && without_entries(&ours) != without_entries(&base);
        if both || base.text().is_empty() && !theirs.text().is_empty() {
            return Err(refusal_because("both sides changed what is beside the intents"));
        }
    }
    let mut merge = Merge { path, text: ours.text().to_string(), notes: Vec::new(), taken };
    for (index, then) in theirs.intents().iter().enumerate() {
        let [before, now] = [&base, &ours].map(|file| with_id(file, &then.id.value));
        match (now, before) {
            (Some(now), _) if is_same(now, then) => {}
            (Some(_), Some(before)) if is_same(before, then) => {}
            (Some(now), Some(before)) if is_same(now, before) => merge.replace(&theirs, index)?,
            (Some(now), Some(before)) => merge.fields(before, now, then)?,
            (Some(now), None) if now.name.value == then.name.value => {
                merge.fields(now, now, then)?;
            }
            (Some(_), None) => merge.renumber(&theirs, index)?,
            (None, Some(before)) if is_same(before, then) => {}
            (None, Some(_)) => {
                merge.append(&text_of(&theirs, index)?)?;
                merge.notes.push(format!(
                    "{} was removed on one side and changed on the other; it is kept",
                    then.id.value
                ));
            }
            (None, None) => merge.append(&text_of(&theirs, index)?)?,
        }
    }
    for now in ours.intents() {
        let id = &now.id.value;
        let (before, then) = (with_id(&base, id), with_id(&theirs, id));
        match (before, then) {
            (Some(before), None) if is_same(before, now) => {
                merge.plan(&RegistryEdit::Remove { id: id.clone() })?;
            }
            (Some(_), None) => merge
                .notes
                .push(format!("{id} was removed on one side and changed on the other; it is kept")),
            _ => {}
        }
    }
    read(path, &merge.text)?;
    Ok(MergedList { text: merge.text, notes: merge.notes })
}

/// A merge in progress: our text, with what of theirs was taken over.
struct Merge<'m> {
    path: &'m RelativePath,
    text: String,
    notes: Vec<String>,
    taken: &'m BTreeSet<String>,
}

impl Merge<'_> {
    fn registry(&self) -> Registry {
        Registry::from_files(vec![IntentFile::parse(self.path.clone(), &self.text)])
    }

    fn plan(&mut self, edit: &RegistryEdit) -> Result<(), EditError> {
        self.text = edit::plan(&self.registry(), edit)?.text;
        Ok(())
    }

    fn append(&mut self, entry: &str) -> Result<(), EditError> {
        let file = IntentFile::parse(self.path.clone(), &self.text);
        let Home::List(list) = &file.form().home else {
            let single = IntentFile::parse(self.path.clone(), entry);
            let intent = single.intents().first().filter(|_| !file.is_single());
            let new = intent.map(entry_of).ok_or_else(|| refusal_because("there is no list"))?;
            return self.plan(&RegistryEdit::Add(new));
        };
        let text = file.text();
        let last = list.items().last().filter(|_| list.layout() == Some(YamlLayout::Block));
        let Some(last) = last else {
            let colon = text[..list.span.start].trim_end().len();
            let is_empty_list = list.items().is_empty() && text[..colon].ends_with(':');
            if !is_empty_list || self.path.as_str().ends_with(".json") {
                let single = read_single(entry)?;
                return self.plan(&RegistryEdit::Add(entry_of(&single)));
            }
            let item = as_item(entry, "  ");
            let end = line_of(text, list.span.end.saturating_sub(1).max(colon)).end;
            self.text = format!("{}\n{item}{}", &text[..colon], &text[end..]);
            return Ok(());
        };
        let dash = dash_before(text, last.span.start);
        let indent = &text[line_of(text, dash).start..dash];
        let end = end_of_item(text, last.span.clone());
        let glue = if text[..end].ends_with('\n') { "" } else { "\n" };
        self.text = format!("{}{glue}{}{}", &text[..end], as_item(entry, indent), &text[end..]);
        Ok(())
    }

    /// Puts their text of an intent in the place of ours, which nobody changed.
    fn replace(&mut self, theirs: &IntentFile, index: usize) -> Result<(), EditError> {
        let entry = text_of(theirs, index)?;
        if theirs.is_single() {
            self.text = entry;
            return Ok(());
        }
        let id = &theirs.intents()[index].id.value;
        let file = IntentFile::parse(self.path.clone(), &self.text);
        let at = file.positions(id).first().copied();
        let Some((range, indent)) = at.and_then(|at| place_of(&file, at)) else {
            let entry = entry_of(&theirs.intents()[index]);
            self.plan(&RegistryEdit::Remove { id: id.clone() })?;
            return self.plan(&RegistryEdit::Add(entry));
        };
        self.text.replace_range(range, &as_item(&entry, &indent));
        Ok(())
    }

    /// Adds their intent under another id, because ours has its id and is another intent.
    fn renumber(&mut self, theirs: &IntentFile, index: usize) -> Result<(), EditError> {
        let intent = &theirs.intents()[index];
        let id = &intent.id.value;
        let mut taken = self.taken.clone();
        taken.extend(theirs.intents().iter().map(|intent| intent.id.value.clone()));
        let free = edit::next_id(&self.registry(), &taken);
        let path = path_of_single("entry", "").ok_or_else(|| refusal_because("no path"))?;
        let alone = IntentFile::parse(path.clone(), &text_of(theirs, index)?);
        let alone = Registry::from_files(vec![alone]);
        let entry = edit::plan_renumbering(&alone, &path, (id, &free))?.text;
        self.append(&entry)?;
        self.notes.push(format!(
            "{id} was two intents; {:?} is {free} now, and its records go with it",
            intent.name.value
        ));
        Ok(())
    }

    fn fields(&mut self, before: &Intent, now: &Intent, then: &Intent) -> Result<(), EditError> {
        let id = &now.id.value;
        let mut kept = Vec::new();
        let changes = |of: &dyn Fn(&Intent) -> Option<String>| {
            (of(then) != of(before) && of(then) != of(now)).then(|| of(now) == of(before))
        };
        let name = |intent: &Intent| Some(intent.name.value.clone());
        let owner = |intent: &Intent| intent.owner.as_ref().map(|owner| owner.value.clone());
        let status = |intent: &Intent| intent.known_status().map(|it| it.as_str().to_owned());
        let extra =
            |intent: &Intent| Some(serde_json::Value::Object(intent.extra.clone()).to_string());
        let id_of = || id.clone();
        let name = name as fn(&Intent) -> Option<String>;
        for (field, of) in [(Field::Name, name), (Field::Owner, owner)] {
            match (changes(&of), of(then)) {
                (Some(true), Some(text)) => {
                    self.plan(&RegistryEdit::SetText { id: id_of(), field, text })?;
                }
                (Some(_), _) => kept.push(field.key()),
                (None, _) => {}
            }
        }
        match (changes(&status), then.known_status()) {
            (Some(true), Some(status)) => {
                self.plan(&RegistryEdit::SetStatus { id: id_of(), status })?;
            }
            (Some(_), _) => kept.push("status"),
            (None, _) => {}
        }
        if changes(&extra).is_some() {
            kept.push("other keys");
        }
        for field in [Field::Scope, Field::Constraints, Field::Acceptance, Field::Specs] {
            let [before, now, then] =
                [before, now, then].map(|intent| edit::texts_of(intent, field));
            for gone in before.iter().filter(|it| !then.contains(it) && now.contains(it)) {
                let entry = (*gone).to_owned();
                self.plan(&RegistryEdit::RemoveEntry { id: id_of(), field, entry })?;
            }
            for new in then.iter().filter(|it| !before.contains(it)) {
                let entry = (*new).to_owned();
                self.plan(&RegistryEdit::AddEntry { id: id_of(), field, entry })?;
            }
        }
        if !kept.is_empty() {
            self.notes.push(format!(
                "both sides changed {id}; this side's {} kept",
                match &kept[..] {
                    [one] => format!("{one} is"),
                    several => format!("{} are", several.join(" and ")),
                }
            ));
        }
        Ok(())
    }
}

fn read(path: &RelativePath, text: &str) -> Result<IntentFile, EditError> {
    let file = IntentFile::parse(path.clone(), text);
    match file.syntax_error() {
        None => Ok(file),
        Some(error) => Err(edit::broken(error, path)),
    }
}

fn read_single(entry: &str) -> Result<Intent, EditError> {
    let path = path_of_single("entry", "").ok_or_else(|| refusal_because("no path"))?;
    let file = read(&path, entry)?;
    file.intents().first().cloned().ok_or_else(|| refusal_because("there is no intent"))
}

fn with_id<'f>(file: &'f IntentFile, id: &str) -> Option<&'f Intent> {
    file.intents().iter().find(|intent| intent.id.value == id)
}

fn is_same(one: &Intent, other: &Intent) -> bool {
    edit::says_the_same(one, other) && one.extra == other.extra
}

fn entry_of(intent: &Intent) -> IntentEntry {
    let list = |list: &[super::Spanned<String>]| list.iter().map(|it| it.value.clone()).collect();
    IntentEntry {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.known_status().unwrap_or_default(),
        owned_scope: list(&intent.owned_scope),
        constraints: list(&intent.constraints),
        acceptance_criteria: list(&intent.acceptance_criteria),
        related_specs: list(&intent.related_specs),
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        formerly: list(&intent.formerly),
        extra: intent.extra.clone(),
    }
}

fn text_of(file: &IntentFile, index: usize) -> Result<String, EditError> {
    let text = file.text();
    if file.is_single() {
        return Ok(text.to_string());
    }
    let Some((range, indent)) = place_of(file, index) else {
        let has_comments = !file.path().as_str().ends_with(".json") && text.contains('#');
        if has_comments {
            return Err(refusal_because(format!(
                "{} is no list with dashes, and its comments would be lost; bring it into the canonical form first",
                file.path()
            )));
        }
        let intent = &file.intents()[index];
        let mut lines = as_yaml(&entry_of(intent));
        lines.retain(|line| intent.status.is_some() || !line.starts_with("status: "));
        if intent.status.is_none() && file.written(index).field_place(Field::Status).is_some() {
            return Err(refusal_because(format!(
                "{} has a status that is not known",
                intent.id.value
            )));
        }
        return Ok(lines.join("\n") + "\n");
    };
    let entry = &file.written(index).node.span;
    let dash = dash_before(text, entry.start);
    let lead = indent.len() + entry.start - dash;
    let mut lines = String::new();
    let mut at = range.start;
    for line in text[range].split_inclusive('\n') {
        let is_first = (at..at + line.len()).contains(&dash);
        let blank = line.len() - line.trim_start_matches(' ').len();
        let cut = if is_first { lead } else { blank.min(lead) };
        lines.push_str(&line[cut..]);
        at += line.len();
    }
    if !lines.ends_with('\n') {
        lines.push('\n');
    }
    Ok(lines)
}

/// Returns the lines of an intent in a list with dashes, with the comments above them, and what
/// stands before its dash.
fn place_of(file: &IntentFile, index: usize) -> Option<(Range<usize>, String)> {
    let Home::List(list) = &file.form().home else { return None };
    let NodeKind::Sequence { items, layout: YamlLayout::Block } = &list.kind else { return None };
    let node = &file.written(index).node;
    let at = items.iter().position(|item| item.span == node.span && item.is_mapping())?;
    let text = file.text();
    let dash = dash_before(text, node.span.start);
    let line = line_of(text, dash);
    let indent = text[line.start..dash].to_owned();
    if node.aliased || !indent.trim().is_empty() || line_of(text, node.span.start) != line {
        return None;
    }
    let begin = match at.checked_sub(1) {
        Some(before) => end_of_item(text, items[before].span.clone()),
        None => {
            let above = text[..line.start].split_inclusive('\n').rev().take_while(|line| {
                line.trim().is_empty() || line.starts_with(' ') && line.trim().starts_with('#')
            });
            line.start - above.map(str::len).sum::<usize>()
        }
    };
    Some((begin..end_of_item(text, node.span.clone()), indent))
}

fn end_of_item(text: &str, span: Range<usize>) -> usize {
    let last = text[span.start..span.end].trim_end().len().max(1) - 1;
    line_of(text, span.start + last).end
}

/// Returns the text of an intent as an item of a list: its first line that is no comment begins
/// with the dash.
fn as_item(entry: &str, indent: &str) -> String {
    let mut item = String::new();
    let mut is_dashed = false;
    for line in entry.lines() {
        let is_comment = line.trim().is_empty() || line.starts_with('#');
        let lead = match (is_dashed, is_comment) {
            (false, false) => "- ",
            (false, true) => "",
            (true, _) => "  ",
        };
        is_dashed |= !is_comment;
        let line = format!("{indent}{lead}{line}");
        item.push_str(line.trim_end());
        item.push('\n');
    }
    item
}

/// Returns what a list holds beside its intents. `None` if it holds nothing.
fn without_entries(file: &IntentFile) -> Option<String> {
    let text = file.text();
    let Home::List(list) = &file.form().home else { return Some(text.to_string()) };
    let rest = match list.items() {
        [] => text.to_string(),
        items if list.layout() == Some(YamlLayout::Block) => {
            let begin = place_of(file, 0).map_or(list.span.start, |(range, _)| range.start);
            let end =
                items.last().map_or(list.span.end, |last| end_of_item(text, last.span.clone()));
            let head = text[..begin].trim_end();
            let empty = if head.ends_with(':') { " []\n" } else { "\n" };
            format!("{head}{empty}{}", &text[end..])
        }
        _ => format!("{}[]{}", &text[..list.span.start], &text[list.span.end..]),
    };
    Some(rest).filter(|rest| !rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# head\nversion: 1\nactive_intents:\n  # about A\n  - id: A-1\n    name: one # name\n    status: DRAFT\n    owned_scope:\n      - a/** # why\n    prose: |\n      two\n        lines\n\n  # about B\n  # more\n  - id: A-2\n    name: two\n    status: IN_PROGRESS\n    owned_scope: [b/**]\n    ticket: {k: [1, x]}\n# tail\n";

    fn path() -> RelativePath {
        RelativePath::new(".orchestration/active_intents.yaml").expect("a path")
    }

    #[test]
    fn a_list_is_split_with_its_comments() {
        let split = split(&IntentFile::parse(path(), LIST), "# head\n").expect("split");
        let files: Vec<_> =
            split.files.iter().map(|(path, text)| (path.as_str(), &**text)).collect();
        let one = "# about A\nid: A-1\nname: one # name\nstatus: DRAFT\nowned_scope:\n  - a/** # why\nprose: |\n  two\n    lines\n";
        let two = "\n# about B\n# more\nid: A-2\nname: two\nstatus: IN_PROGRESS\nowned_scope: [b/**]\nticket: {k: [1, x]}\n";
        let folder = ".orchestration/intents";
        let paths = [format!("{folder}/A-1-one.yaml"), format!("{folder}/A-2-two.yaml")];
        assert_eq!(files, [(&*paths[0], one), (&*paths[1], two)]);
        assert_eq!(split.rest.as_deref(), Some("# head\nversion: 1\nactive_intents: []\n# tail\n"));
    }

    #[test]
    fn a_list_without_anything_else_is_gone_after_the_split() {
        let text = "# known\nactive_intents:\n  - id: A\n    name: a\n    status: DRAFT\n";
        let split = |text: &str| split(&IntentFile::parse(path(), text), "# known\n");
        assert_eq!(split(text).expect("split").rest, None);
        assert_eq!(split("- id: A\n  name: a\n").expect("split").rest, None);
        let json = "{\"active_intents\": [{\"id\": \"A\", \"name\": \"a\", \"x\": {\"y\": 1}}]}";
        let one = split(json).expect("split");
        assert!(one.files[0].1.contains("x: {\"y\":1}"), "{one:?}");
        let aliased = "- &a {id: A, name: a}\n- {<<: *a, id: B}\n";
        assert!(split(aliased).is_err() || split(aliased).expect("split").files.len() == 2);
    }

    fn entry(id: &str, name: &str, scope: &str) -> String {
        format!(
            "  - id: {id} # {name}\n    name: {name}\n    status: DRAFT\n    owned_scope: [{scope}]\n"
        )
    }

    #[test]
    fn two_lists_are_merged_intent_by_intent() {
        let list = |entries: &[String]| format!("# head\nactive_intents:\n{}", entries.concat());
        let (a, b) = (entry("A-1", "one", "a/**"), entry("A-2", "two", "b/**"));
        let (c, d) = (entry("A-3", "three", "c/**"), entry("A-3", "four", "d/**"));
        let merged = |base: &[String], ours: &[String], theirs: &[String]| {
            let texts = [list(base), list(ours), list(theirs)];
            let [base, ours, theirs] = texts.each_ref().map(String::as_str);
            merge(&path(), [base, ours, theirs], &BTreeSet::new()).expect("merged")
        };
        let (one, two) = (std::slice::from_ref(&a), [a.clone(), b.clone()]);
        // Both add.
        let both = merged(one, &two, &[a.clone(), c.clone()]);
        assert_eq!((both.text, both.notes.len()), (list(&[a.clone(), b.clone(), c.clone()]), 0));
        // Both add one under the same number.
        let both = merged(one, &[a.clone(), c.clone()], &[a.clone(), d.clone()]);
        let renumbered = d.replace("id: A-3 # four\n", "id: A-4 # four\n    formerly: [\"A-3\"]\n");
        assert_eq!(both.text, list(&[a.clone(), c.clone(), renumbered]));
        assert_eq!(both.notes.len(), 1);
        // Both edit one.
        let ours = a.replace("DRAFT", "BLOCKED").replace("a/**", "a/**, x/**");
        let theirs = a.replace("name: one", "name: uno").replace("[a/**]", "[y/**]");
        let both = merged(one, std::slice::from_ref(&ours), &[theirs, b.clone()]);
        let wanted = ours.replace("name: one", "name: uno").replace("a/**, x/**", "x/**, y/**");
        assert_eq!(both.text, list(&[wanted, b.clone()]));
        // One edits, and one removes.
        let edited = a.replace("DRAFT", "BLOCKED");
        let kept = merged(&two, &[edited.clone(), b.clone()], std::slice::from_ref(&b));
        assert_eq!((kept.text, kept.notes.len()), (list(&[edited.clone(), b.clone()]), 1));
        let kept = merged(&two, std::slice::from_ref(&b), &[edited.clone(), b.clone()]);
        assert_eq!((kept.text, kept.notes.len()), (list(&[b.clone(), edited.clone()]), 1));
        // Only one side changes anything.
        assert_eq!(
            merged(&two, &two, &[edited.clone(), b.clone()]).text,
            list(&[edited, b.clone()])
        );
        assert_eq!(
            merged(&two, &two, std::slice::from_ref(&b)).text,
            list(std::slice::from_ref(&b))
        );
        assert_eq!(merged(&[], &[], one).text, list(one));
    }
}
