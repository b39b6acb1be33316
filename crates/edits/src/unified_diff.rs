//! Shows a change of a text to a person.

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

/// Returns the difference as hunks of a unified diff, with three lines of context. Returns the
/// empty string if the texts are equal.
pub fn unified(before: &str, after: &str) -> String {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let printer = BasicLineDiffPrinter(&input.interner);
    diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_line_is_shown() {
        assert_eq!(unified("a\nb\nc\n", "a\nB\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(unified("", "one\ntwo"), "@@ -1,0 +1,2 @@\n+one\n+two\n");
        assert_eq!(unified("same\n", "same\n"), "");
    }
}
