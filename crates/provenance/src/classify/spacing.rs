//! Decides whether white space that differs between two versions has a meaning.

use code::BlockKind;
use code::language_tables::framework_names::FILE_WIDE_DIRECTIVES;

use super::units::{File, Unit};

/// In these languages, white space within a line separates words of a text or of a command, also
/// where the grammar has no token for it: `{{ f("a  b") }}` in HTML.
const SPACED: [&str; 5] = ["html", "vue", "svelte", "make", "bash"];

/// Returns true if two versions of a unit with equal tokens may still do different things.
pub(super) fn has_meaning(before: (&File<'_>, &Unit), after: (&File<'_>, &Unit)) -> bool {
    let (language, text) = (before.0.language(), |(file, unit): (&File<'_>, &Unit)| {
        let text = file.text.get(unit.bytes.clone()).unwrap_or_default();
        without_line_breaks(text)
    });
    let has_heredoc = language == "dockerfile" && before.0.text.contains("<<");
    // A macro ends at the first line without a backslash at its end.
    let is_macro = before.1.block_kind() == Some(BlockKind::Macro);
    let count = |(file, unit): (&File<'_>, &Unit)| file.text[unit.bytes.clone()].lines().count();
    let is_c_macro = is_macro && matches!(language, "c" | "cpp") && count(before) != count(after);
    has_heredoc || is_c_macro || SPACED.contains(&language) && text(before) != text(after)
}

/// Returns the text with each run of white space that breaks a line as one line break. Other white
/// space stays as it is.
fn without_line_breaks(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_ascii()).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns true if two versions of a file differ only in blank lines and at the ends of lines, in a
/// language where these mean nothing. In Go they separate a comment for the compiler from what
/// follows.
pub(super) fn is_blank_lines(before: &File<'_>, after: &File<'_>) -> bool {
    let lines = |file: &File<'_>| -> Vec<String> {
        let lines = file.text.lines().map(|line| line.trim_ascii_end().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let has_scopes = before.program.as_ref().is_some_and(|it| it.language.has_scopes());
    let is_read_with_lines = before.language() == "go"
        && (before.text.contains("import \"C\"")
            || FILE_WIDE_DIRECTIVES.iter().any(|word| before.text.contains(word))
            || before.text.contains("+build"));
    has_scopes && !is_read_with_lines && lines(before) == lines(after)
}
