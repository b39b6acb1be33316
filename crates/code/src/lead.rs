//! Finds the lead of a definition: what is written directly before its syntax node and belongs to
//! it.
//!
//! Decorators, attributes, `export` and the doc comment directly above are a block's lead. The lead
//! is not part of the hashed node, but a question about one of its lines is answered by the block.
//! For example, the lead of `total` is its first two lines here. The comment above, which is
//! followed by a blank line, belongs to no block:
//!
//! ```python
//! # Prices.
//!
//! # What the customer pays.
//! @property
//! def total(self): ...
//! ```
//!
//! The walk over a tree carries a [`LeadRun`] from sibling to sibling. It holds the comments and
//! attributes since the last node that was neither.

use std::ops::Range;

use tree_sitter::Node;

use super::fingerprint::{self, ContentHash};

/// Consecutive comments and attributes that may turn out to be the lead of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeadRun {
    pub start: usize,
    /// How many events the walk had written when the run began.
    pub event: usize,
    /// The end of the last comment or attribute, without white space.
    end: usize,
    /// True if the run holds an attribute or the first tokens of a wrapping node. These belong to
    /// what follows, even after blank lines. Comments belong to what follows only if there is no
    /// blank line between.
    firm: bool,
}

impl LeadRun {
    /// Makes a run that begins with a node and is part of a lead regardless of blank lines.
    pub(super) fn firm(start: usize, event: usize) -> Self {
        Self { start, event, end: start, firm: true }
    }

    pub(super) fn extended_to(self, end: usize) -> Self {
        Self { end, ..self }
    }

    /// Returns true if there is no blank line between the run and `byte`, and the run is not
    /// indented more. A comment that is indented more is the last line of a body.
    fn is_directly_above(self, text: &str, byte: usize) -> bool {
        let between = text.get(self.end..byte).unwrap_or_default();
        match line_breaks(between) {
            0 => true,
            1 => column(text, self.start) <= column(text, byte),
            _ => false,
        }
    }

    pub(super) fn if_attached_to(self, text: &str, byte: usize) -> Option<Self> {
        (self.firm || self.is_directly_above(text, byte)).then_some(self)
    }
}

/// Returns the run after a comment. A comment behind other code on its line describes that code, so
/// it starts no run. Neither does a comment that begins with one of `container_comment_starts`,
/// because it describes the file or the block around it (`#!`, `//!`).
pub(super) fn after_comment(
    text: &str,
    before: Option<LeadRun>,
    comment: Range<usize>,
    event: usize,
    container_comment_starts: &[&str],
) -> Option<LeadRun> {
    let comment_text = &text[comment.clone()];
    if container_comment_starts.iter().any(|start| comment_text.starts_with(start)) {
        return None;
    }
    let start = comment.start;
    let end = start + comment_text.trim_end().len();
    let before = before.and_then(|run| run.if_attached_to(text, start));
    let begun = || begins_line(text, start).then_some(LeadRun { start, event, end, firm: false });
    before.map(|run| run.extended_to(end)).or_else(begun)
}

/// Returns the end of a node without the comments at its end that have their own lines and are not
/// indented more than the node. Those comments are between this node and what follows.
pub(super) fn end_before_comments(
    text: &str,
    node: Node,
    is_comment: impl Fn(Node) -> bool,
) -> usize {
    let own_column = column(text, node.start_byte());
    let is_between = |child: Node| {
        let start = child.start_byte();
        is_comment(child) && begins_line(text, start) && column(text, start) <= own_column
    };
    let (mut last, mut end) = (node, node.end_byte());
    loop {
        let count = last.child_count();
        let children = (0..count).rev().filter_map(|at| last.child(at));
        let Some(child) = children.into_iter().find(|child| !is_between(*child)) else {
            return end;
        };
        if last.child(count.saturating_sub(1)) != Some(child) {
            end = child.end_byte();
        }
        last = child;
    }
}

fn line_breaks(text: &str) -> usize {
    text.matches('\n').count().max(text.matches('\r').count())
}

fn column(text: &str, byte: usize) -> usize {
    byte - text[..byte].rfind(['\n', '\r']).map_or(0, |at| at + 1)
}

fn begins_line(text: &str, byte: usize) -> bool {
    let before = text[..byte].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', '\r'])
}

/// Hashes a lead. White space at both ends of a line and blank lines do not count.
pub(super) fn hash(lead: &str) -> Option<ContentHash> {
    let lines = lead.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| fingerprint::content_hash(&text))
}

#[cfg(test)]
mod tests {
    use crate::{Block, Document, FileBlocks};

    fn block<'a>(blocks: &'a FileBlocks, name: &str) -> &'a Block {
        let found = blocks.blocks.iter().find(|block| block.name == name);
        found.unwrap_or_else(|| panic!("{name} in {blocks:#?}"))
    }

    /// Returns the lead of the block `a`, without the white space after it.
    fn lead(path: &str, text: &str) -> String {
        let document = Document::from_text(path, text);
        let lead = block(&document.blocks(), "a").lead.clone();
        document.slice(lead).expect("in the text").trim_end().to_owned()
    }

    #[test]
    fn the_lead_is_directly_above_its_definition() {
        let cases = [
            ("a.rs", "// far\n\n// near\n#[x]\n\n/// doc\nfn a() {}", "// near\n#[x]\n\n/// doc"),
            ("a.rs", "fn b() {} // of b\nfn a() {}", ""),
            ("a.rs", "fn b() {} // of b\n// of a\nfn a() {}", "// of a"),
            ("a.rs", "//! Of the file.\nfn a() {}", ""),
            ("a.rs", "use x;\n/* one */ fn a() {}", "/* one */"),
            ("a.rs", "mod m {\n    //! Of m.\n    #[x] fn a() {}\n}", "#[x]"),
            ("a.rs", "impl A for B {\n    // of a\n    fn a() {}\n}", "// of a"),
            (
                "a.py",
                "# far\n\n# near\n@x\n# between\n@y(1)\ndef a(): pass",
                "# near\n@x\n# between\n@y(1)",
            ),
            ("a.py", "class B:\n    # of a\n    def a(self): pass", "# of a"),
            ("a.py", "class B:  # of B\n    def a(self): pass", ""),
            ("a.js", "/** d */\nexport default function a() {}", "/** d */\nexport default"),
            ("a.js", "export class B {\n  // of a\n  a() {}\n}", "// of a"),
            ("a.ts", "class B {\n  @x()\n\n  a() {}\n}", "@x()"),
            ("a.ts", "export declare function a(): void;", "export declare"),
            (
                "a.cpp",
                "// t\ntemplate <class T>\nT a(T t) { return t; }",
                "// t\ntemplate <class T>",
            ),
            ("a.c", "int b; /* of b */\n/* of a */\nint a(void) { return 1; }", "/* of a */"),
            ("a.go", "package p\n\n// A.\nfunc a() {}", "// A."),
            ("a.go", "package p\n\nconst (\n\t// A.\n\ta = 1\n\tb = 2\n)", "// A."),
            (
                "A.java",
                "class B {\n  /** D. */\n  @Override\n  int a() { return 1; }\n}",
                "/** D. */",
            ),
            ("a.sh", "#!/bin/sh\na() { :; }", ""),
            ("a.sh", "#!/bin/sh\n# Does it.\na() { :; }", "# Does it."),
            ("a.yaml", "b:\n  c: 1\n# of a\na: 2\n", "# of a"),
            ("a.yaml", "b:\n  c: 1\n  # of b\na: 2\n", ""),
            ("a.yaml", "b: |\n  c\n  # no comment\na: 2\n", ""),
            ("a.toml", "b = 1\n# of a\na = 2\n", "# of a"),
            ("a.toml", "[b]\nc = 1\n\n# far\n\n# of a\n[a]\nd = 2\n", "# of a"),
            ("a.py", "def b():\n    c()\n    # of b\ndef a(): pass", ""),
            (
                "a.ex",
                "defmodule M do\n  @x 1\n  @doc \"d\"\n  @spec a() :: 1\n  def a(), do: 1\nend",
                "@doc \"d\"\n  @spec a() :: 1",
            ),
        ];
        for (path, text, expected) in cases {
            if path != "a.ex" || cfg!(feature = "all-languages") {
                assert_eq!(lead(path, text), expected, "{text}");
            }
        }
    }

    #[test]
    fn a_changed_lead_changes_only_its_own_hash() {
        let of = |text: &str| {
            let blocks = Document::from_text("a.py", text).blocks();
            let found = block(&blocks, "a").fingerprint.clone();
            (found, block(&blocks, "B").fingerprint.own_tokens().clone())
        };
        let plain = of("class B:\n    x = 1\n    @p\n    def a(self): pass\n");
        let spaced = of("class B:\n    x = 1\n    @p \n\n    def a(self): pass\n");
        let cached = of("class B:\n    x = 1\n    @cached\n    def a(self): pass\n");
        assert_eq!(plain, spaced);
        assert_ne!(plain.0.lead, cached.0.lead);
        assert_eq!(plain.0.content, cached.0.content);
        assert_eq!(plain.1, cached.1);
    }

    #[test]
    fn changes_of_members_do_not_change_the_container() {
        let cases = [
            (
                "a.py",
                "class A:\n    x = 1\nM\n",
                ["    @p\n    def f(): pass\n", "    def g(): pass\n"],
            ),
            (
                "a.rs",
                "impl A {M}\n",
                ["\n    /// D.\n    #[x]\n    fn f() {}\n", "\n    fn g() { 1 }\n"],
            ),
            ("a.ts", "export class A { x = 1; M }\n", [" @p() f() {};", " g() {}"]),
            (
                "a.java",
                "class A { M int x; }\n",
                [" @B int f() { return 1; }", " int g() { return 2; }"],
            ),
            (
                "a.js",
                "describe('A', () => { x(); M })\n",
                [" it('f', () => {});", " it('g', () => { y(); });"],
            ),
            ("a.go", "package p\n\ntype A struct{ x int }\n", ["", ""]),
        ];
        for (path, text, [f, g]) in cases {
            let own = |members: String| {
                let blocks = Document::from_text(path, &text.replace('M', &members)).blocks();
                block(&blocks, "A").fingerprint.own_tokens().clone()
            };
            let both = own(format!("{f}{g}"));
            for members in [String::new(), f.to_owned(), format!("{g}{f}")] {
                assert_eq!(own(members.clone()), both, "{path}: {members}");
            }
        }
    }

    #[test]
    fn a_line_of_the_lead_belongs_to_its_block() {
        let text = "// Licence.\n\nuse x;\n\n// A.\n#[y]\nfn a() {}\n\n// The end.\n";
        let blocks = Document::from_text("a.rs", text).blocks();
        let at = |line| blocks.at_line(line).map(|at| blocks.blocks[at].name.as_str());
        assert_eq!(
            [at(3), at(5), at(6), at(7)],
            [Some("before a"), Some("a"), Some("a"), Some("a")]
        );
        assert_eq!([at(8), at(9)], [None, None]);
        assert!(Document::from_text("a.rs", "// Only.\n").blocks().blocks.is_empty());
    }
}
