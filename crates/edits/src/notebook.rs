//! Changes one cell of a Jupyter notebook.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use super::After;
use super::line_ends::with_ends_of;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellMode {
    /// Replace the source of the cell and remove its outputs.
    #[default]
    Replace,
    /// Insert a new cell after the cell with the id, or at the position with the number. If no cell
    /// is named, insert it as the first.
    Insert,
    Delete,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellEdit {
    /// The id of the cell, or `cell-3` for the fourth cell.
    pub cell_id: Option<String>,
    /// The position of the cell, counted from 0, for tools that do not use ids.
    pub cell_number: Option<usize>,
    pub source: String,
    /// `code` or `markdown`. If it is missing, an existing cell keeps its kind.
    pub kind: Option<String>,
    pub mode: CellMode,
}

/// Returns the notebook after the edit. It is written as the tools write it: as JSON with an
/// indentation of one space.
pub(super) fn notebook_after(before: Option<&str>, edit: &CellEdit) -> After {
    match text_after_edit(before, edit) {
        Ok(text) => After::Text(with_ends_of(before.unwrap_or_default(), &text)),
        Err(stop) => stop,
    }
}

fn fails<T>(why: &str) -> Result<T, After> {
    Err(After::Fails(why.to_owned()))
}

fn text_after_edit(before: Option<&str>, edit: &CellEdit) -> Result<String, After> {
    let Some(before) = before else {
        return fails("there is no such notebook");
    };
    let Ok(mut book) = serde_json::from_str::<Value>(before.trim_start_matches('\u{FEFF}')) else {
        // JSON readers differ in the depth that they accept, and in how they treat half of a
        // surrogate pair.
        return Err(After::Unknown("the notebook cannot be read as JSON".to_owned()));
    };
    let named = has_cell_ids(&book);
    let Some(cells) = book.get_mut("cells").and_then(Value::as_array_mut) else {
        return fails("the notebook has no cells");
    };
    let at = position(cells, edit)?;
    match (edit.mode, at) {
        (CellMode::Insert, _) if named => {
            return Err(After::Unknown("the tool gives the new cell an id of its own".to_owned()));
        }
        (CellMode::Insert, at) => {
            let below = usize::from(edit.cell_id.is_some());
            let at = at.map_or(0, |at| at.saturating_add(below));
            if at > cells.len() {
                return Err(After::Unknown("the notebook has no such cell".to_owned()));
            }
            cells.insert(at, cell(edit));
        }
        (_, None) => return fails("the edit does not say which cell"),
        (CellMode::Delete, Some(at)) if at < cells.len() => drop(cells.remove(at)),
        (CellMode::Replace, Some(at)) if cells.get(at).is_some_and(Value::is_object) => {
            replace(&mut cells[at], edit);
        }
        _ => return Err(After::Unknown("the notebook has no such cell".to_owned())),
    }
    Ok(text_to_write(&mut book))
}

fn has_cell_ids(book: &Value) -> bool {
    let number = |name| book.get(name).and_then(Value::as_u64).unwrap_or_default();
    (number("nbformat"), number("nbformat_minor")) >= (4, 5)
}

/// Returns the position of the cell that the edit names, or `None` if it names none.
fn position(cells: &[Value], edit: &CellEdit) -> Result<Option<usize>, After> {
    let Some(id) = &edit.cell_id else {
        return Ok(edit.cell_number);
    };
    let own = cells.iter().position(|cell| cell.get("id").and_then(Value::as_str) == Some(id));
    let numbered = || id.strip_prefix("cell-")?.parse().ok();
    match own.or_else(numbered) {
        Some(at) => Ok(Some(at)),
        None => fails("the notebook has no cell with that id"),
    }
}

fn cell(edit: &CellEdit) -> Value {
    let kind = edit.kind.as_deref().unwrap_or("code");
    let mut cell = json!({ "cell_type": kind, "source": edit.source, "metadata": {} });
    drop_outputs(&mut cell);
    cell
}

fn drop_outputs(cell: &mut Value) {
    if cell["cell_type"] == "code" {
        cell["execution_count"] = Value::Null;
        cell["outputs"] = json!([]);
    }
}

fn replace(cell: &mut Value, edit: &CellEdit) {
    cell["source"] = Value::from(edit.source.as_str());
    drop_outputs(cell);
    if let Some(kind) = &edit.kind {
        cell["cell_type"] = Value::from(kind.as_str());
    }
}

/// Writes the notebook as JavaScript does, because most of the tools are written in it.
fn text_to_write(book: &mut Value) -> String {
    whole_numbers(book);
    let mut out = Vec::new();
    let format = PrettyFormatter::with_indent(b" ");
    book.serialize(&mut Serializer::with_formatter(&mut out, format))
        .expect("memory takes every write");
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Writes `1.0` as `1`, because JavaScript has only one kind of number.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(whole_numbers),
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            // Below this limit, every whole number has an exact float.
            if float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 {
                *value = Value::from(float as i64);
            }
        }
        _ => {}
    }
}
