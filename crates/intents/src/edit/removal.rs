//! Takes entries out of lists, and intents out of a registry.

use super::{PlannedTextEdits, blank_prefix, insert, line_of, refusal_because, replace, texts_of};
use crate::IntentFile;
use crate::canonical::flow_list;
use crate::dialect::{Field, Home};
use crate::yaml::{Node, NodeKind, YamlLayout, dash_before};
use edits::TextEdit;

pub(super) fn entry(
    file: &IntentFile,
    index: usize,
    field: Field,
    entry: &str,
) -> PlannedTextEdits {
    let intent = &file.intents()[index];
    let key = field.key();
    let held = texts_of(intent, field);
    if !held.contains(&entry) {
        let all = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
        return Err(refusal_because(format!(
            "{entry:?} is no `{key}` of {}: it has {all}",
            intent.id.value
        )));
    }
    let by_hand =
        || refusal_because(format!("this `{key}` cannot be edited safely; change it by hand"));
    let place = file.written(index).field_place(field).ok_or_else(by_hand)?;
    let value = &place.value;
    if value.aliased {
        return Err(by_hand());
    }
    let is_it = |item: &Node| item.text() == Some(entry);
    match &value.kind {
        NodeKind::Sequence { items, layout } => {
            let at = items.iter().position(is_it).ok_or_else(by_hand)?;
            from_list(file.text(), value, items, at, *layout)
        }
        _ => {
            let rest = held.into_iter().filter(|held| *held != entry);
            Ok(vec![replace(&value.span, flow_list(rest))])
        }
    }
}

/// Takes an intent out of its list, or empties the file that holds only this intent.
pub(super) fn intent(file: &IntentFile, index: usize) -> PlannedTextEdits {
    let text = file.text();
    if file.is_single() {
        return Ok(vec![replace(&(0..text.len()), "")]);
    }
    let node = &file.written(index).node;
    match &file.form().home {
        Home::List(list) if !list.aliased => {
            let at = list.items().iter().position(|item| item.span.start == node.span.start);
            let layout = list.layout().unwrap_or(YamlLayout::Block);
            let at =
                at.ok_or_else(|| refusal_because("the intent was not found; remove it by hand"))?;
            from_list(text, list, list.items(), at, layout)
        }
        _ => Err(refusal_because("the intent is in no list; remove it by hand")),
    }
}

fn from_list(
    text: &str,
    list: &Node,
    items: &[Node],
    at: usize,
    layout: YamlLayout,
) -> PlannedTextEdits {
    let block = || {
        let first = items.first().map_or(list.span.start, |item| item.span.start);
        line_of(text, dash_before(text, first)).start
    };
    match (layout, items) {
        (YamlLayout::Flow, [_]) => Ok(vec![replace(&list.span, "[]")]),
        (YamlLayout::Flow, _) => Ok(from_brackets(text, items, at)),
        // The list begins on a line of its own, below its key.
        (YamlLayout::Block, [only]) => {
            let colon = text[..block()].trim_end().len();
            let end = line_of(text, only.span.end.max(only.span.start + 1) - 1).end;
            match text[..colon].ends_with(':') {
                true => Ok(vec![insert(colon, " []"), replace(&(block()..end), "")]),
                false => Err(refusal_because("the last item of this list is removed by hand only")),
            }
        }
        (YamlLayout::Block, _) => {
            let dash = dash_before(text, items[at].span.start);
            let line = line_of(text, dash);
            if text[line.start..dash].trim().is_empty() {
                let last = items[at].span.end.max(items[at].span.start + 1) - 1;
                let end = line_of(text, text[..=last].trim_end().len().max(dash + 1) - 1).end;
                return Ok(vec![replace(&(line.start..end), "")]);
            }
            Err(refusal_because("this item begins in the middle of a line; remove it by hand"))
        }
    }
}

/// Takes an item out of a list in brackets, with its line if it has one of its own.
fn from_brackets(text: &str, items: &[Node], at: usize) -> Vec<TextEdit> {
    let span = &items[at].span;
    let line = line_of(text, span.start);
    let before = &text[line.start..span.start];
    let after = text[span.end..].split(['\n', '#']).next().unwrap_or_default();
    let is_alone = blank_prefix(before) == before
        && matches!(after.trim(), "" | ",")
        && span.end <= line.end
        && line.start > 0;
    match (is_alone, at.checked_sub(1).map(|at| &items[at].span)) {
        (true, Some(previous)) if at + 1 == items.len() => {
            let gap = &text[previous.end..span.start];
            let comma = gap.split('#').next().and_then(|gap| gap.find(','));
            let comma = comma.map(|gap| previous.end + gap..previous.end + gap + 1);
            let line = replace(&line, "");
            comma.map(|comma| replace(&comma, "")).into_iter().chain([line]).collect()
        }
        (true, _) => vec![replace(&line, "")],
        (false, Some(previous)) => vec![replace(&(previous.end..span.end), "")],
        (false, None) => vec![replace(&(span.start..items[at + 1].span.start), "")],
    }
}
