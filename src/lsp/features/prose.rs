//! Builds texts for people, in the markup that the client shows. All text written by other people
//! is escaped here.

use tower_lsp::lsp_types as lsp;

use ground::text;

/// The longest piece of other people's text, in characters. Longer pieces are cut.
const LONGEST: usize = 300;

pub(crate) struct Prose {
    markdown: bool,
    out: String,
}

impl Prose {
    pub(crate) fn new(markdown: bool) -> Self {
        Self { markdown, out: String::new() }
    }

    /// Returns other people's words, escaped and shortened.
    pub(crate) fn escaped(&self, words: &str) -> String {
        let words = text::shorten(words, LONGEST);
        if self.markdown { text::markdown(&words) } else { text::terminal(&words) }
    }

    pub(crate) fn strong(&self, words: &str) -> String {
        let words = self.escaped(words);
        if self.markdown { format!("**{words}**") } else { words }
    }

    pub(crate) fn code(&self, words: &str) -> String {
        let words = text::shorten(words, LONGEST);
        if self.markdown { text::markdown_code(&words) } else { text::terminal(&words) }
    }

    /// Returns a link from words to a line of a file. The line counts from 1. In plain text, the
    /// name of the file and the line follow the words.
    pub(crate) fn link(&self, words: &str, uri: Option<&lsp::Url>, line: Option<u32>) -> String {
        let words = self.escaped(words);
        let Some(uri) = uri else { return words };
        if self.markdown {
            let line = line.map(|line| format!("#L{line}")).unwrap_or_default();
            // Parentheses would end the address early.
            let uri = uri.as_str().replace('(', "%28").replace(')', "%29");
            return format!("[{words}](<{uri}{line}>)");
        }
        match (uri.path().rsplit_once('/'), line) {
            (Some((_, name)), Some(line)) => format!("{words} ({name}:{line})"),
            _ => words,
        }
    }

    /// Adds a paragraph. Its content must be escaped already.
    pub(crate) fn paragraph(&mut self, content: &str) {
        if !self.out.is_empty() {
            self.out.push_str("\n\n");
        }
        self.out.push_str(content);
    }

    /// Adds a line that is shown directly below the line before. Its content must be escaped
    /// already.
    pub(crate) fn line(&mut self, content: &str) {
        if !self.out.is_empty() {
            // Two spaces break a line in Markdown, and show nothing in a client that prints them.
            self.out.push_str(if self.markdown { "  \n" } else { "\n" });
        }
        self.out.push_str(content);
    }

    /// Adds a paragraph of these pieces, separated by ` · `, unless there are none. The pieces must
    /// be escaped already.
    pub(crate) fn joined(&mut self, pieces: &[String]) {
        if !pieces.is_empty() {
            self.paragraph(&pieces.join(" · "));
        }
    }

    /// Adds a list under a heading, unless the list is empty. The heading and the items must be
    /// escaped already.
    pub(crate) fn list(&mut self, heading: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.paragraph(heading);
        self.out.push('\n');
        for item in items {
            self.out.push_str("\n- ");
            self.out.push_str(item);
        }
    }

    pub(crate) fn finish(self) -> lsp::MarkupContent {
        let kind = match self.markdown {
            true => lsp::MarkupKind::Markdown,
            false => lsp::MarkupKind::PlainText,
        };
        lsp::MarkupContent { kind, value: self.out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_stay_words() {
        let hostile = "[x](command:evil) <img>\n# h";
        let prose = Prose::new(true);
        assert_eq!(prose.escaped(hostile), "\\[x\\](command\\:evil) \\<img\\> \\# h");
        let uri = "file:///a(b).rs".parse().unwrap();
        assert_eq!(prose.link("a", Some(&uri), Some(3)), "[a](<file:///a%28b%29.rs#L3>)");
        assert_eq!(Prose::new(false).link("a", Some(&uri), Some(3)), "a (a(b).rs:3)");
    }
}
