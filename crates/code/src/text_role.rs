//! What a piece of a text is in its language: a comment, a string, code.

use std::ops::Range;

use super::Document;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    /// Text for people, in a language such as Markdown or in none.
    Prose,
    Comment,
    /// A part of a string, or a value or key of a data file.
    String,
    Code,
}

impl Document {
    /// Returns what the bytes are. They must lie within the text.
    pub fn role_of(&self, bytes: &Range<usize>) -> TextRole {
        let Some(language) = self.language().filter(|one| one.grammar.is_some()) else {
            return TextRole::Prose;
        };
        if self.is_prose() {
            return TextRole::Prose;
        }
        let root = self.tree().map(tree_sitter::Tree::root_node);
        let mut node = root.and_then(|root| root.descendant_for_byte_range(bytes.start, bytes.end));
        while let Some(around) = node {
            let syntax = &language.syntax;
            if syntax.comments.contains(&around.kind()) {
                return TextRole::Comment;
            }
            if syntax.verbatim.contains(&around.kind()) || syntax.quotes.contains(&around.kind()) {
                return TextRole::String;
            }
            node = around.parent();
        }
        if language.is_data() { TextRole::String } else { TextRole::Code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_code_are_told_apart() {
        for (path, text, expected) in [
            ("a.rs", "// KEY\nfn a() {}\n", TextRole::Comment),
            ("a.rs", "/// About KEY.\nfn a() {}\n", TextRole::Comment),
            ("a.rs", "fn a() { b(\"KEY\") }\n", TextRole::String),
            ("a.rs", "fn KEY() {}\n", TextRole::Code),
            ("a.py", "def a():\n    \"\"\"KEY\"\"\"\n", TextRole::String),
            ("a.py", "a = 1  # KEY\n", TextRole::Comment),
            ("a.ts", "const a = `x KEY`;\n", TextRole::String),
            ("a.go", "package a\n// KEY\n", TextRole::Comment),
            ("a.yaml", "a: KEY\n", TextRole::String),
            ("a.yaml", "a: b # KEY\n", TextRole::Comment),
            ("a.md", "# About KEY\n", TextRole::Prose),
            ("a.txt", "KEY\n", TextRole::Prose),
        ] {
            let at = text.find("KEY").expect("the key is there");
            let role = Document::from_text(path, text).role_of(&(at..at + 3));
            assert_eq!(role, expected, "{path}: {text}");
        }
    }
}
