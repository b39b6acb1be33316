//! Writes the report as one self-contained page of HTML, which needs no network and no other file.
//!
//! Text that others wrote is on the page only as data. It is in a block of JSON in which no markup
//! can begin or end, and in which invisible characters are replaced by visible ones. The script
//! adds it to the page only as text. A content security policy in the page allows only our style
//! and our script, by their hashes, and forbids every request.
//!
//! - `badge`: a badge, as a picture.

pub mod badge;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use ground::text;
use overview::report::ReportAnswer;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Longer texts are cut to this many characters. No honest name is so long, and the page must stay
/// usable with any input.
const MAX_TEXT: usize = 1_000;

pub fn html(answer: &ReportAnswer) -> Result<String, serde_json::Error> {
    // An HTML parser turns CRLF into LF before it hashes a style or a script, so we hash the same
    // text.
    let unix = |text: &str| text.replace("\r\n", "\n");
    let (style, script) = (unix(STYLE), unix(SCRIPT));
    let parts = [
        ("policy}}", policy(&style, &script)),
        ("title}}", text::xml(&disarmed(&answer.workspace))),
        ("style}}", style),
        ("script}}", script),
        ("data}}", data(answer)?),
    ];
    // Placeholders are looked for only in our own template, never in the text that was filled in.
    let mut pieces = PAGE.split("{{");
    let mut page = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let filled = |(place, part)| Some((part, piece.strip_prefix(place)?));
        let mut named = parts.iter().map(|(place, part)| (*place, part.as_str()));
        let (part, rest) = named.find_map(filled).unwrap_or(("{{", piece));
        page.push_str(part);
        page.push_str(rest);
    }
    Ok(page)
}

/// Returns the content security policy: nothing may be loaded, sent, framed or run, except our one
/// style and our one script.
fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(style),
        hash(script)
    )
}

fn data(answer: &ReportAnswer) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(answer)?;
    disarm(&mut value);
    Ok(without_markup(&serde_json::to_string(&value)?))
}

/// Escapes `<`, `>`, `&` and the line separators. In JSON these can occur only inside strings.
fn without_markup(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

fn disarm(value: &mut Value) {
    match value {
        Value::String(text) => *text = disarmed(text),
        Value::Array(items) => items.iter_mut().for_each(disarm),
        Value::Object(fields) => fields.values_mut().for_each(disarm),
        _ => {}
    }
}

fn disarmed(text: &str) -> String {
    text::visible(&text::shorten(text, MAX_TEXT), false)
}

#[cfg(test)]
mod tests;
