//! Decides whether white space that differs between two versions has a meaning.

use code::BlockKind;
use code::language_tables::framework_names::FILE_WIDE_DIRECTIVES;

use super::units::{File, Unit};

/// In these languages, white space within a line separates words of a text or of a command, also
/// where the grammar has no token for it: `{{ f("a  b") }}` in HTML.
const SPACED: [&str; 5] = ["html", "vue", "svelte", "make", "bash"];

/// Returns true if two versions of a unit with equal tokens may still do different things.
pub(super) fn has_meaning(before: (&File<'_>, &Unit), after: (&File<'_>, &Unit)) -> bool {
    fn text<'f>((file, unit): (&'f File<'_>, &Unit)) -> &'f str {
        file.text.get(unit.bytes.clone()).unwrap_or_default()
    }
    let language = before.0.language();
    let (old, new) = (text(before), text(after));
    let has_heredoc = language == "dockerfile" && before.0.text.contains("<<");
    // A macro ends at the first line without a backslash at its end.
    let is_macro = before.1.block_kind() == Some(BlockKind::Macro);
    let is_c_macro = is_macro && matches!(language, "c" | "cpp");
    has_heredoc
        || is_c_macro && old.lines().count() != new.lines().count()
        || SPACED.contains(&language) && without_line_breaks(old) != without_line_breaks(new)
}

/// Returns the text with each run of white space that breaks a line as one line break. Other white
/// space stays as it is.
fn without_line_breaks(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_ascii()).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns true if white space between the units of a file, which differs between two versions, may have
/// a meaning.
pub(super) fn has_meaning_between(before: &File<'_>, after: &File<'_>) -> bool {
    let any = |test: &dyn Fn(&str) -> bool| test(&before.text) || test(&after.text);
    match before.language() {
        // A comment for the compiler must be next to what it is about, or before a blank line.
        "go" => any(&|text| {
            ["import \"C\"", "+build"].iter().any(|word| text.contains(word))
                || FILE_WIDE_DIRECTIVES.iter().any(|word| text.contains(word))
        }),
        // At the start of a line, `-->` begins a comment.
        "javascript" => any(&|text| text.lines().any(|line| line.trim_start().starts_with("-->"))),
        // White space counts in a text behind `|` or `>`, and may do so if a file has several documents.
        "yaml" => any(&|text| {
            let begins_text = |line: &str| line.trim_end().ends_with(['|', '>', '+', '-']);
            text.lines().any(|line| begins_text(line) || line.starts_with("---"))
        }),
        language if SPACED.contains(&language) => {
            without_line_breaks(&before.text) != without_line_breaks(&after.text)
        }
        // In other files, a comma or a quotation mark that came or went may be more than layout.
        _ => {
            let signs = |file: &File<'_>| -> String { file.text.split_whitespace().collect() };
            let has_scopes = before.program.as_ref().is_some_and(|it| it.language.has_scopes());
            !has_scopes && signs(before) != signs(after)
        }
    }
}
