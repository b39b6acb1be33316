//! Gives an intent another id, wherever its file refers to it.

use super::{
    PlannedTextEdits, add_key, extend, insert, is_json, refusal_because, replace, style_in,
};
use crate::IntentFile;
use crate::canonical::{flow_list, quoted_like};
use crate::dialect::Field;
use crate::model::texts;
use crate::yaml::{Node, NodeKind, Style};
use code::lists::words;

/// Keys whose values are ids of intents.
const REFERENCES: &[&str] = words!(
    "id intent_id intentId active_intent_id active_intent parent_intent parent_id depends_on
    related_intents blocked_by agents"
);

pub(super) fn rename(file: &IntentFile, index: usize, from: &str, to: &str) -> PlannedTextEdits {
    if from == to {
        return Ok(Vec::new());
    }
    let intent = &file.intents()[index];
    if intent.id.value != from {
        let now = &intent.id.value;
        return Err(refusal_because(format!("{from} was renamed to {now}; rename {now} instead")));
    }
    let tree = file.tree().map_err(|broken| refusal_because(broken.to_string()))?;
    let mut found = Vec::new();
    references(&tree, false, from, &mut found);
    let outside_of_fields = file.form().written.iter().filter_map(|written| {
        let bare = (!written.node.is_mapping()).then_some(&written.node);
        written.keyed.as_ref().or(bare).filter(|key| key.text() == Some(from))
    });
    found.extend(outside_of_fields.cloned());
    found.sort_by_key(|node| node.span.start);
    found.dedup_by_key(|node| node.span.start);
    if found.iter().any(|node| node.aliased) || file.written(index).node.aliased {
        return Err(refusal_because(
            "this id comes from elsewhere by a YAML alias; rename it by hand",
        ));
    }
    let written = file.written(index);
    let alone = written.keyed.is_none() && !written.node.is_mapping();
    let mut edits = Vec::with_capacity(found.len() + 1);
    for node in &found {
        let style = style_in(file, node).unwrap_or(Style::DoubleQuoted);
        let id = |id| quoted_like(id, style, true);
        let text = match alone && node.span == written.node.span {
            // Only the id is listed, so there is no mapping yet to which a key could be added.
            true if is_json(file) => {
                format!("{{\"id\": {}, \"formerly\": [{}]}}", id(to), id(from))
            }
            true => format!("{{id: {}, formerly: [{}]}}", id(to), id(from)),
            false => id(to),
        };
        edits.push(replace(&node.span, text));
    }
    if !alone {
        edits.extend(add_former_id(file, index, from, to)?);
    }
    Ok(edits)
}

/// Adds the old id to `formerly`. If the intent gets back an id that it had before, the two ids swap
/// places: after `id: B, formerly: [A]` is renamed to A, it is `id: A, formerly: [B]`.
fn add_former_id(file: &IntentFile, index: usize, from: &str, to: &str) -> PlannedTextEdits {
    let (intent, written) = (&file.intents()[index], file.written(index));
    let Some(place) = written.field_place(Field::Formerly) else {
        let list = flow_list([from]);
        if written.node.is_null() && written.node.span.is_empty() {
            return Ok(vec![insert(written.node.span.start, format!(" {{formerly: {list}}}"))]);
        }
        return add_key(file, written, Field::Formerly.key(), &list, &list);
    };
    let held = texts(&intent.formerly);
    if held.contains(&to) {
        let value = [&place.value];
        let nodes = place.value.items().iter().chain(value).filter(|node| node.text() == Some(to));
        let swapped = nodes.map(|node| {
            let style = style_in(file, node)?;
            (!node.aliased).then(|| replace(&node.span, quoted_like(from, style, true)))
        });
        let by_hand = || {
            refusal_because(
                "this `formerly` is written in a form that cannot be edited; change it by hand",
            )
        };
        return swapped.collect::<Option<Vec<_>>>().ok_or_else(by_hand);
    }
    if held.contains(&from) {
        return Ok(Vec::new());
    }
    extend(file, place, &held, from)
}

fn references(node: &Node, refers: bool, id: &str, found: &mut Vec<Node>) {
    match &node.kind {
        NodeKind::Scalar { .. } if refers && node.text() == Some(id) => found.push(node.clone()),
        NodeKind::Scalar { .. } => {}
        NodeKind::Sequence { items, .. } => {
            items.iter().for_each(|item| references(item, refers && !item.is_mapping(), id, found));
        }
        NodeKind::Mapping { entries, .. } => entries.iter().for_each(|entry| {
            let key = entry.key.text().unwrap_or_default();
            let inherited = refers && !REFERENCES.contains(&key);
            references(&entry.value, inherited || REFERENCES.contains(&key), id, found);
        }),
    }
}
