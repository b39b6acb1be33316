//! The languages in `rows/formats.rs`.

use super::{Promise, assert_kept};

#[test]
fn formatting_keeps_the_tokens() {
    let cases = [
        (
            "a.tf",
            "module \"a\" {\n b = 1\n long = [1, 2]\n}",
            "module \"a\" {\n  # numbers\n  b    = 1\n  long = [\n    1, 2\n  ]\n}",
        ),
        ("Dockerfile", "ENV A=1 B=2\n", "ENV  A=1   B=2\n"),
        ("Makefile", "a: b c\n\td\n", "a:  b  c # why\n\td\n"),
        ("a.proto", "message A { string b = 1; }", "message A {\n  // what\n  string b = 1;\n}"),
        ("a.xml", "<a c='1' d=\"2\"><b>e</b></a>", "<a c=\"1\"\n   d=\"2\" ><b>e</b ></a>"),
        ("a.ps1", "function A { B -C 1 }", "function A\n{\n    # calls\n    B -C 1\n}"),
        ("a.groovy", "def f(a) { g(a, 1) }", "def f(a) {\n    // calls\n    g(a,\n      1)\n}"),
        (
            "a.R",
            "f <- function(a, b) { a+b }",
            "f <- function(a,\n              b) {\n  # adds\n  a + b\n}",
        ),
        (
            "a.jl",
            "function f(a) g(a, 1) end",
            "function f(a)\n    # calls\n    g(a,\n      1)\nend",
        ),
        ("a.graphql", "type A { b(c: Int): D }", "type A {\n  # what\n  b(c: Int): D\n}"),
    ];
    assert_kept(Promise::SameTokens, &cases);
}

#[test]
fn a_change_of_the_program_changes_the_tokens() {
    let cases = [
        ("a.tf", "module \"a\" { b = \"c d\" }", "module \"a\" { b = \"c  d\" }"),
        ("a.tf", "module \"a\" {\n b = <<E\n c\nE\n}", "module \"a\" {\n b = <<E\n  c\nE\n}"),
        ("a.tf", "resource \"a\" \"b\" {}", "resource \"a\" \"c\" {}"),
        ("Dockerfile", "RUN a 'b c'\n", "RUN a 'b  c'\n"),
        ("Dockerfile", "RUN a\n", "RUN b\n"),
        ("Dockerfile", "CMD [\"a\", \"b\"]\n", "CMD a b\n"),
        ("Makefile", "a: b\n\tc 'd e'\n", "a: b\n\tc 'd  e'\n"),
        ("Makefile", "a: b c\n", "a: b | c\n"),
        ("Makefile", "A = b\n", "A := b\n"),
        ("Makefile", "a: b\n\tc\n", "a: b\n\t@c\n"),
        ("a.proto", "message A { string b = 1; }", "message A { string b = 2; }"),
        ("a.proto", "message A { string b = 1; }", "message A { repeated string b = 1; }"),
        ("a.xml", "<a><b>c</b></a>", "<a><b> c</b></a>"),
        ("a.xml", "<a><b><c/><d/></b></a>", "<a><b><c/> <d/></b></a>"),
        ("a.xml", "<a><b c=\"1  2\"/></a>", "<a><b c=\"1 2\"/></a>"),
        ("a.xml", "<a><b><![CDATA[a b]]></b></a>", "<a><b><![CDATA[a  b]]></b></a>"),
        ("a.ps1", "function A { B -C }", "function A { B - C }"),
        ("a.ps1", "function A { \"a  $b\" }", "function A { \"a $b\" }"),
        ("a.ps1", "function A { B\nC }", "function A { B C }"),
        ("a.groovy", "def f(a) { 'b  c' }", "def f(a) { 'b c' }"),
        ("a.groovy", "def f(a) { g a }", "def f(a) { g b }"),
        ("a.R", "f <- function(a) { a\n-b }", "f <- function(a) { a - b }"),
        ("a.R", "f <- function(a) 'b  c'", "f <- function(a) 'b c'"),
        ("a.R", "f <- function(a) a[b]", "f <- function(a) a[[b]]"),
        ("a.R", "f <- function(a) a <- 1", "f <- function(a) a <<- 1"),
        ("a.jl", "function f(a) [a -1] end", "function f(a) [a - 1] end"),
        ("a.jl", "function f(a) \"b  c\" end", "function f(a) \"b c\" end"),
        ("a.jl", "function f(a) a.+b end", "function f(a) a+b end"),
        ("a.jl", "function f(a) @b c d end", "function f(a) @b (c, d) end"),
        ("a.graphql", "type A { b: C }", "type A { b: C! }"),
        ("a.graphql", "type A { b: [C] }", "type A { b: C }"),
        ("a.graphql", "query A { b(c: \"d  e\") }", "query A { b(c: \"d e\") }"),
    ];
    assert_kept(Promise::OtherTokens, &cases);
}

/// A reader of these formats can look up anything by its name, so no name is local.
#[test]
fn no_name_is_a_local() {
    let cases = [
        ("a.tf", "locals {\n a = 1\n b = local.a\n}", "locals {\n c = 1\n b = local.c\n}"),
        ("Dockerfile", "RUN make a\n", "RUN make b\n"),
        ("Makefile", "a:\n\tb=1; echo $$b\n", "a:\n\tc=1; echo $$c\n"),
        ("a.ps1", "function A { $b = 1; $b }", "function A { $c = 1; $c }"),
        ("a.groovy", "def f() { def a = 1; a }", "def f() { def b = 1; b }"),
        ("a.R", "f <- function(a) a", "f <- function(b) b"),
        ("a.jl", "f(a) = a", "f(b) = b"),
    ];
    assert_kept(Promise::OtherShape, &cases);
}
