//! What the fingerprints hold equal and, more important, what they do not.

use intent_lsp::code::fingerprint::{content_hash, kept};
use intent_lsp::code::{Document, Fingerprint};

/// The fingerprint of the first block of a text.
fn of(path: &str, text: &str) -> Fingerprint {
    let file = Document::from_text(path, text).blocks();
    assert!(!file.blocks.is_empty(), "{path}: no block in {text:?}");
    assert!(!file.has_error, "{path}: a syntax error in {text:?}");
    file.blocks[0].fingerprint.clone()
}

#[test]
fn what_formatters_change_keeps_the_tokens() {
    let cases = [
        (
            "a.rs",
            "fn f(a: u8, b: u8) { g(a, b) }",
            "fn f(\n    a: u8,\n    b: u8,\n) {\n    // calls\n    g(\n        a,\n        b,\n    )\n}",
        ),
        ("a.rs", "fn f() { match x { A => 1, B => 2 } }", "fn f() { match x { A => 1, B => 2, } }"),
        (
            "a.rs",
            "fn f() { match x { A => {}, B => {} } }",
            "fn f() { match x { A => {} B => {} } }",
        ),
        (
            "a.rs",
            "fn f() { let a = (b + c); if (a) { return (a); } }",
            "fn f() { let a = b + c; if a { return a; } }",
        ),
        ("a.rs", "fn f() -> (u8, u8) { (1, 2) }", "fn f() -> (\n u8,\n u8,\n) { (1, 2,) }"),
        ("a.rs", "struct S { a: u8 }", "struct S {\r\n    a: u8,\r\n}"),
        (
            "a.py",
            "def f(a, b):\n  return g(a, b)",
            "def f(\n    a,\n    b,\n):\n    # calls\n    return g(\n        a,\n        b,\n    )\n",
        ),
        ("a.py", "def f():\n    return 'a'", "def f():\n    return \"a\""),
        ("a.py", "def f():\n    return f'{a} b'", "def f():\n    return f\"{a} b\""),
        (
            "a.py",
            "def f():\n    x = (a + b)\n    return (x)",
            "def f():\n    x = a + b\n    return x",
        ),
        ("a.py", "def f():\n    if (a): pass", "def f():\n    if a:\n        pass"),
        ("a.py", "def f():\n    x = a + \\\n        b", "def f():\n    x = a + b"),
        ("a.py", "from a import b, c\n", "from a import (\n    b,\n    c,\n)\n"),
        ("a.js", "function f() { return 'a' }", "function f() {\n  return \"a\";\n}"),
        ("a.js", "const f = (a) => a + 1", "const f = a => a + 1;"),
        (
            "a.js",
            "function f() { g(a, b); return [a, b] }",
            "function f() { g(a, b,); return [a, b,]; }",
        ),
        ("a.js", "const f = () => (a + b)", "const f = () => a + b;"),
        (
            "a.jsx",
            "function f() { return <p>a b</p> }",
            "function f() {\n  return (\n    <p>\n      a\n      b\n    </p>\n  );\n}",
        ),
        (
            "a.ts",
            "interface A { a: string, b: number }",
            "interface A {\n  a: string;\n  b: number;\n}",
        ),
        ("a.ts", "type A = 'a' | 'b'", "type A =\n  | \"a\"\n  | \"b\";"),
        ("a.ts", "const f = (a) => a", "const f = a => a;"),
        ("a.go", "func f() { g(a, b) }", "func f() {\n\tg(\n\t\ta,\n\t\tb,\n\t)\n}"),
        (
            "a.java",
            "class A { int[] a = {1, 2}; }",
            "class A {\n  // numbers\n  int[] a = {1, 2,};\n}",
        ),
        (
            "a.c",
            "int f(int a) { int b[] = {1, 2}; return a; }",
            "int f(int a)\n{\n    int b[] = { 1, 2, };\n    return a; /* done */\n}",
        ),
        ("a.cpp", "int A::f() { return 1; }", "int A::f()\n{\n  return 1; // one\n}"),
        ("a.sh", "f() {\n  a b\n  c\n}", "f() {\n    a b # first\n\n    c\n}"),
        ("a.json", "{\"a\": [1, 2]}", "{\n  \"a\": [\n    1,\n    2\n  ]\n}"),
        ("a.yaml", "a:\n  b: 1\n  c: [1, 2]", "a:\n    b:   1 # one\n    c: [1,2]"),
        ("a.toml", "[a]\nb = [1, 2]", "[a]\nb   = [\n  1, # one\n  2,\n]"),
        ("a.md", "# A\n\none two\nthree", "# A\n\none\ntwo three"),
        (
            "a.html",
            "<div id='a' class=\"b\"> <p>one two</p> </div>",
            "<div id=\"a\"\n     class=\"b\">\n  <!-- first -->\n  <p>one\n     two</p>\n</div>",
        ),
        (
            "a.html",
            "<script>function f(a) { return 'b' }</script>",
            "<script>\n  function f(a) {\n    return \"b\";\n  }\n</script>",
        ),
        (
            "a.css",
            "a>b,.c{margin:0 auto;color:red}",
            "a > b,\n.c {\n  margin: 0  auto; /* centred */\n  color : red;\n}",
        ),
        ("a.css", "@media (a:b) { c { d: 'e' } }", "@media (a: b) {\n  c {\n    d: \"e\";\n  }\n}"),
        (
            "a.vue",
            "<script setup lang=\"ts\">const a = (b) => b</script>",
            "<script setup lang=\"ts\">\nconst a = b => b;\n</script>",
        ),
        (
            "a.vue",
            "<template> <p>one <b>{{ a }}</b></p> </template>",
            "<template>\n  <p>one\n    <b>{{ a }}</b></p>\n</template>",
        ),
        (
            "a.svelte",
            "<div id=\"a\"> {#if b} <p>c</p> {/if} </div>",
            "<div id=\"a\">\n  {#if b}\n    <p>c</p>\n  {/if}\n</div>",
        ),
        (
            "a.sql",
            "select a, b from c where d = 'e';",
            "SELECT\n    a,\n    b\nFROM c -- all\nWHERE d = 'e';",
        ),
        (
            "a.ex",
            "def f(a, b), do: g(a, b, c: 1)",
            "def f(a, b),\n  # calls\n  do:\n    g(\n      a,\n      b,\n      c: 1\n    )",
        ),
        ("a.txt", "one two\nthree", "one  two three"),
    ];
    let mut wrong = Vec::new();
    for (path, a, b) in cases {
        let (one, two) = (of(path, a), of(path, b));
        assert_ne!(one.content, two.content, "{path}: the pair is no pair: {a}");
        if one.tokens != two.tokens || one.shape != two.shape {
            wrong.push((path, a, b, one, two));
        }
    }
    assert!(wrong.is_empty(), "not equal: {wrong:#?}");
}

#[test]
fn what_changes_the_program_changes_the_tokens() {
    let cases = [
        ("a.rs", "fn f() { (1,) }", "fn f() { (1) }"),
        ("a.rs", "fn f() -> (u8,) { x }", "fn f() -> (u8) { x }"),
        ("a.rs", "fn f() { a; }", "fn f() { a }"),
        ("a.rs", "fn f() { (a + b) * c }", "fn f() { a + b * c }"),
        ("a.rs", "fn f() { (s.f)(1) }", "fn f() { s.f(1) }"),
        ("a.rs", "fn f() { \"a  b\" }", "fn f() { \"a b\" }"),
        ("a.rs", "fn f() { \"a \\n\" }", "fn f() { \"a\\n\" }"),
        ("a.rs", "fn f() { 1 }", "fn f() { 1u8 }"),
        ("a.rs", "fn f() { m!(a,) }", "fn f() { m!(a) }"),
        ("a.rs", "fn f() { a < b }", "fn f() { a <= b }"),
        ("a.rs", "fn f() { return; a }", "fn f() { return a; }"),
        ("a.rs", "fn f() { m!(- > a) }", "fn f() { m!(-> a) }"),
        (
            "a.py",
            "def f():\n    if a:\n        b\n        c",
            "def f():\n    if a:\n        b\n    c",
        ),
        ("a.py", "def f():\n    a\n    (b)", "def f():\n    a(b)"),
        ("a.py", "def f():\n    return\n    x", "def f():\n    return x"),
        ("a.py", "def f():\n    return (a,)", "def f():\n    return (a)"),
        ("a.py", "def f():\n    return a,", "def f():\n    return a"),
        ("a.py", "def f():\n    return x[a,]", "def f():\n    return x[a]"),
        ("a.py", "def f():\n    return '\"'", "def f():\n    return \"'\""),
        ("a.py", "def f():\n    return r'a'", "def f():\n    return 'a'"),
        ("a.py", "def f():\n    return 'a' 'b'", "def f():\n    return 'a', 'b'"),
        ("a.py", "def f():\n    return (a or b) and c", "def f():\n    return a or b and c"),
        ("a.py", "def f():\n    return (a < b) < c", "def f():\n    return a < b < c"),
        ("a.py", "def f():\n    return 'a\\n'", "def f():\n    return 'a n'"),
        ("a.py", "def f():\n    return ' a'", "def f():\n    return 'a '"),
        ("a.py", "from a import b\nimport c\n", "from a import b, c\n"),
        ("a.py", "def f():\n    x = (yield)\n    y", "def f():\n    x = (yield\n    y)"),
        ("a.js", "function f() { return\n a }", "function f() { return a }"),
        ("a.js", "const f = () => ({})", "const f = () => {}"),
        ("a.js", "const f = () => ({ a })", "const f = () => { a }"),
        ("a.js", "function f() { return [a,,] }", "function f() { return [a,] }"),
        ("a.js", "function f() { return [,] }", "function f() { return [] }"),
        ("a.js", "function f() { (a, b); }", "function f() { a; b; }"),
        ("a.js", "function f() { let a = (b, c); }", "function f() { let a = b, c; }"),
        ("a.js", "function f() { for (a; ; b) c }", "function f() { for (a; b; ) c }"),
        ("a.js", "function f() { for (; a; b) c }", "function f() { for (a; ; b) c }"),
        ("a.js", "function f() { return (a?.b).c }", "function f() { return a?.b.c }"),
        ("a.js", "function f() { (function g() {}) }", "function f() { function g() {} }"),
        ("a.js", "function f() { `a b` }", "function f() { `a  b` }"),
        ("a.js", "function f() { `${a} ${b}` }", "function f() { `${a}${b}` }"),
        ("a.js", "function f() { return 'a\\'' }", "function f() { return \"a'\" }"),
        ("a.js", "function f() { return /a b/ }", "function f() { return /a  b/ }"),
        ("a.js", "function f() { if (a); b }", "function f() { if (a) b }"),
        ("a.js", "function f() { a\n++b }", "function f() { a++\nb }"),
        ("a.js", "function f() { return new (a())() }", "function f() { return new a()() }"),
        ("a.js", "class A { get; a() {} }", "class A { get a() {} }"),
        ("a.js", "class A { static; a = 1 }", "class A { static a = 1 }"),
        (
            "a.jsx",
            "function f() { return <p>{a} {b}</p> }",
            "function f() { return <p>{a}{b}</p> }",
        ),
        ("a.jsx", "function f() { return <p>a </p> }", "function f() { return <p>a</p> }"),
        ("a.jsx", "function f() { return <p> a</p> }", "function f() { return <p>a</p> }"),
        ("a.jsx", "function f() { return <p><b/> c</p> }", "function f() { return <p><b/>c</p> }"),
        (
            "a.tsx",
            "function f() { return <p>{a} {b}</p> }",
            "function f() { return <p>{a}{b}</p> }",
        ),
        ("a.ts", "interface A { a: string; b: number }", "interface A { a: string; b?: number }"),
        ("a.ts", "function f() { return a as B }", "function f() { return a as C }"),
        ("a.ts", "let a: (A | B)[]", "let a: A | B[]"),
        ("a.go", "func f() {\n\treturn\n\ta()\n}", "func f() {\n\treturn a()\n}"),
        ("a.go", "func f() { a(`b  c`) }", "func f() { a(`b c`) }"),
        ("a.go", "func f() { a(\"b \\n\") }", "func f() { a(\"b\\n\") }"),
        ("a.java", "class A { int a = (b + c) * d; }", "class A { int a = b + c * d; }"),
        ("a.java", "class A { String a = \"a b\"; }", "class A { String a = \"a  b\"; }"),
        ("a.c", "#define A\nint b;\n", "#define A int b;\n"),
        ("a.c", "int f() { return a++ + b; }", "int f() { return a + ++b; }"),
        ("a.c", "char *a = \"b  \\n\";", "char *a = \"b \\n\";"),
        ("a.c", "char a = ' ';", "char a = '  ';"),
        ("a.cpp", "int f() { a<b>c; }", "int f() { a<b>=c; }"),
        ("a.cpp", "auto a = R\"(b  c)\";", "auto a = R\"(b c)\";"),
        ("a.sh", "f() {\n  a\n  b\n}", "f() {\n  a b\n}"),
        ("a.sh", "f() {\n  a \"b  c\"\n}", "f() {\n  a \"b c\"\n}"),
        ("a.sh", "f() {\n  a \"$b  $c\"\n}", "f() {\n  a \"$b $c\"\n}"),
        ("a.sh", "f() {\n  a $b $c\n}", "f() {\n  a $b$c\n}"),
        ("a.sh", "f() {\n  a & b\n}", "f() {\n  a; b\n}"),
        ("a.sh", "f() {\n  a 'b'\n}", "f() {\n  a b\n}"),
        ("a.sh", "f() {\n  a=b c\n}", "f() {\n  a=b; c\n}"),
        ("a.sh", "f() {\n  cat <<E\na  b\nE\n}", "f() {\n  cat <<E\na b\nE\n}"),
        ("a.sh", "f() {\n  cat <<E\n a\nE\n}", "f() {\n  cat <<E\na\nE\n}"),
        ("a.sh", "f() {\n  [[ a -eq b ]]\n}", "f() {\n  [ a -eq b ]\n}"),
        ("a.sh", "f() {\n  a ${b:- c}\n}", "f() {\n  a ${b:-c}\n}"),
        ("a.json", "{\"a\": \"b  c\"}", "{\"a\": \"b c\"}"),
        ("a.json", "{\"a\": [1, 2]}", "{\"a\": [12]}"),
        ("a.json", "{\"a\": \"  \\n\"}", "{\"a\": \" \\n\"}"),
        ("a.yaml", "a:\n  - b\n  - c", "a:\n  - b\n  -\n    - c"),
        ("a.yaml", "a:\n  b:\n    c: 1", "a:\n  b:\n  c: 1"),
        ("a.yaml", "a:\n  b:\n    c: 1\n    d: 2", "a:\n  b:\n    c: 1\n  d: 2"),
        ("a.yaml", "a: |\n  b\n   c", "a: |\n  b\n  c"),
        ("a.yaml", "a: \"b  c\"", "a: \"b c\""),
        ("a.yaml", "a: \"b\"", "a: b"),
        ("a.yaml", "a: [[b], c]", "a: [[b, c]]"),
        ("a.toml", "a = \"b  c\"", "a = \"b c\""),
        ("a.toml", "a = '  '", "a = ' '"),
        ("a.toml", "a = \"\"\"\n b\"\"\"", "a = \"\"\"\nb\"\"\""),
        ("a.md", "# A\n\none two", "# A\n\none, two"),
        ("a.html", "<p id=a><b>c</b> <i>d</i></p>", "<p id=a><b>c</b><i>d</i></p>"),
        ("a.html", "<p id=a>b <i>d</i></p>", "<p id=a>b<i>d</i></p>"),
        ("a.html", "<p id=a>b c</p>", "<p id=a>b\u{a0}c</p>"),
        ("a.html", "<p id=a><b>c</b>\u{a0}<i>d</i></p>", "<p id=a><b>c</b> <i>d</i></p>"),
        ("a.html", "<div id=a><pre>b\n c</pre></div>", "<div id=a><pre>b\nc</pre></div>"),
        ("a.html", "<pre id=a><b>c</b>  d</pre>", "<pre id=a><b>c</b> d</pre>"),
        ("a.html", "<p id=a title='b  c'>d</p>", "<p id=a title='b c'>d</p>"),
        ("a.html", "<p id=a>b<!-- c -->d</p>", "<p id=a>b d</p>"),
        ("a.html", "<script>let a = 1</script>", "<script>let a = 2</script>"),
        ("a.html", "<script>a\n++b</script>", "<script>a++\nb</script>"),
        ("a.html", "<script type=a>b  c</script>", "<script type=a>b c</script>"),
        ("a.html", "<script>a</script>", "<script async>a</script>"),
        ("a.html", "<style>a .b { c: d }</style>", "<style>a.b { c: d }</style>"),
        ("a.css", "a .b { c: d }", "a.b { c: d }"),
        ("a.css", "a :hover { c: d }", "a:hover { c: d }"),
        ("a.css", "a [b] { c: d }", "a[b] { c: d }"),
        ("a.css", "a > b { c: d }", "a b { c: d }"),
        ("a.css", "a { b: 12px/1 c }", "a { b: 12 px/1 c }"),
        ("a.css", "a { b: 1px }", "a { b: 1 px }"),
        ("a.css", "a { b: c d }", "a { b: cd }"),
        ("a.css", "a { b: calc(1px + 2px) }", "a { b: calc(1px +2px) }"),
        ("a.css", "a { b: 1 - 2 }", "a { b: 1 -2 }"),
        ("a.css", "a { b: 'c  d' }", "a { b: 'c d' }"),
        ("a.css", "a { b: c; d: e }", "a { d: e; b: c }"),
        ("a.css", "a { b: c }", "a { b: c !important }"),
        ("a.css", "a { b: c }\n", "A { b: c }\n"),
        ("a.css", "@media a and (b: c) { d { e: f } }", "@media a, (b: c) { d { e: f } }"),
        ("a.css", "a { b: c; /* d: e */ }", "a { b: c; d: e }"),
        ("a.css", "a { // b: c;\n  d: e }", "a { d: e }"),
        (
            "a.vue",
            "<template><p>{{ a }} {{ b }}</p></template>",
            "<template><p>{{ a }}{{ b }}</p></template>",
        ),
        ("a.vue", "<template><p :a=\"b\"/></template>", "<template><p a=\"b\"/></template>"),
        (
            "a.vue",
            "<template><p>a <b>c</b></p></template>",
            "<template><p>a<b>c</b></p></template>",
        ),
        ("a.vue", "<script>let a = 'b  c'</script>", "<script>let a = 'b c'</script>"),
        (
            "a.vue",
            "<style lang=\"scss\">a { b: c }</style>",
            "<style lang=\"less\">a { b: c }</style>",
        ),
        ("a.svelte", "<p id=a>{b} {c}</p>", "<p id=a>{b}{c}</p>"),
        ("a.svelte", "<p id=a>{'b  c'}</p>", "<p id=a>{'b c'}</p>"),
        ("a.svelte", "<p id=a>{#if b}c{/if}</p>", "<p id=a>{#if !b}c{/if}</p>"),
        ("a.svelte", "<p id=a>{#if b}c {d}{/if}</p>", "<p id=a>{#if b}c{d}{/if}</p>"),
        ("a.svelte", "<script>$: a = b</script>", "<script>let a = b</script>"),
        ("a.sql", "select 'a  b'", "select 'a b'"),
        ("a.sql", "select 'A'", "select 'a'"),
        ("a.sql", "select \"A\" from b", "select \"a\" from b"),
        ("a.sql", "select (a + b) * c", "select a + b * c"),
        ("a.sql", "select a or b and c", "select (a or b) and c"),
        ("a.sql", "select a from b", "select a from b, c"),
        ("a.sql", "select a, b", "select a b"),
        ("a.sql", "select $$a  b$$", "select $$a b$$"),
        ("a.sql", "delete from a where b", "delete from a"),
        ("a.sql", "create table a (b int)", "create table a (b int not null)"),
        ("a.ex", "def f do\n  a\n  -b\nend", "def f do\n  a - b\nend"),
        ("a.ex", "def f do\n  a -b\nend", "def f do\n  a - b\nend"),
        ("a.ex", "def f do\n  a\n  (b)\nend", "def f do\n  a(b)\nend"),
        ("a.ex", "def f, do: a [b]", "def f, do: a[b]"),
        ("a.ex", "def f, do: \"a  b\"", "def f, do: \"a b\""),
        ("a.ex", "def f, do: \"#{a}  b\"", "def f, do: \"#{a} b\""),
        ("a.ex", "def f, do: ~w(a  b)", "def f, do: ~w(a b)"),
        ("a.ex", "def f, do: ~w(a b)", "def f, do: ~w(a b)a"),
        ("a.ex", "def f, do: 'a'", "def f, do: \"a\""),
        ("a.ex", "def f, do: :a", "def f, do: :\"a b\""),
        ("a.ex", "def f(a), do: a", "def f(a) when a, do: a"),
        ("a.ex", "def f, do: [a | b]", "def f, do: [a, b]"),
        ("a.ex", "def f, do: (a + b) * c", "def f, do: a + b * c"),
        ("a.ex", "def f, do: &a/1", "def f, do: &a/2"),
        ("a.ex", "def f, do: a", "defp f, do: a"),
        (
            "a.ex",
            "def f do\n  \"\"\"\n  a\n   b\n  \"\"\"\nend",
            "def f do\n  \"\"\"\n  a\n  b\n  \"\"\"\nend",
        ),
        ("a.txt", "one", "two"),
    ];
    let wrong: Vec<_> =
        cases.iter().filter(|(path, a, b)| of(path, a).tokens == of(path, b).tokens).collect();
    assert!(wrong.is_empty(), "equal: {wrong:#?}");
}

#[test]
fn consistent_renames_keep_the_shape() {
    let cases = [
        ("a.rs", "fn f(a: u8) -> u8 { let b = a; f(b) }", "fn g(x: u8) -> u8 { let y = x; g(y) }"),
        ("a.rs", "struct A { next: Option<Box<A>> }", "struct B { next: Option<Box<B>> }"),
        (
            "a.py",
            "def f(a):\n    for b in a:\n        f(b)",
            "def g(c):\n    for d in c:\n        g(d)",
        ),
        (
            "a.js",
            "function f(a) { const b = a; return b.c }",
            "function g(x) { const y = x; return y.c }",
        ),
        ("a.ts", "function f(a: A) { return a }", "function f(b: A) { return b }"),
        (
            "a.go",
            "func f(a int) int { b := a; return b }",
            "func f(x int) int { y := x; return y }",
        ),
        ("a.java", "class A { A(int b) { c(b); } }", "class D { D(int e) { c(e); } }"),
        (
            "a.c",
            "int f(int *a) { int b = *a; return b; }",
            "int g(int *x) { int y = *x; return y; }",
        ),
        (
            "a.cpp",
            "int f(int& a) { auto b = a; return b; }",
            "int g(int& x) { auto y = x; return y; }",
        ),
        ("a.sh", "f() {\n  a\n}", "g() {\n  a\n}"),
        ("a.md", "# A\n\nb", "# C\n\nb"),
        ("a.html", "<p id=\"a\">b</p>", "<p id=\"c\">b</p>"),
        (
            "a.vue",
            "<script>function f(a) { return a.b }</script>",
            "<script>function f(c) { return c.b }</script>",
        ),
        ("a.svelte", "{#snippet a(b)}c{/snippet}", "{#snippet d(b)}c{/snippet}"),
        ("a.sql", "create view a as select b from c", "create view d as select b from c"),
        (
            "a.ex",
            "def f(a, {b, c}), do: g(a, fn d -> d + b.c + c end)",
            "def h(x, {y, z}), do: g(x, fn w -> w + y.c + z end)",
        ),
        (
            "a.ex",
            "def f(a) do\n  {:ok, b} = a\n  c = \"#{b}\"\n  f(c)\nend",
            "def g(x) do\n  {:ok, y} = x\n  z = \"#{y}\"\n  g(z)\nend",
        ),
    ];
    for (path, a, b) in cases {
        let (one, two) = (of(path, a), of(path, b));
        assert_eq!(one.shape, two.shape, "{path}:\n{a}\n---\n{b}");
        assert_ne!(one.tokens, two.tokens, "{path}: the pair is no pair");
    }
}

#[test]
fn other_changes_of_names_change_the_shape() {
    let cases = [
        ("a.rs", "fn f(a: u8, b: u8) -> u8 { a }", "fn f(a: u8, b: u8) -> u8 { b }"),
        ("a.rs", "fn f(a: u8) { a + LOW }", "fn f(a: u8) { a + HIGH }"),
        ("a.rs", "fn f(a: u8) { a + b }", "fn f(b: u8) { b + b }"),
        ("a.rs", "fn f(a: A) { a.b }", "fn f(a: A) { a.c }"),
        ("a.rs", "fn f(a: A) { b(a) }", "fn f(a: A) { c(a) }"),
        ("a.rs", "fn f(a: A) {}", "fn f(a: B) {}"),
        ("a.rs", "fn f(a: A) { match a { X => 1 } }", "fn f(a: A) { match a { Y => 1 } }"),
        ("a.rs", "fn f() { a::b }", "fn f() { c::b }"),
        ("a.rs", "fn f(a: u8) { S { a } }", "fn f(b: u8) { S { b } }"),
        ("a.py", "def f(a):\n    g(b=a)", "def f(a):\n    g(c=a)"),
        ("a.py", "def f():\n    return a", "def f():\n    return b"),
        ("a.js", "function f(a) { return { a } }", "function f(b) { return { b } }"),
        ("a.js", "function f(a) { return a.b }", "function f(a) { return a.c }"),
        ("a.go", "func f() { x := a; g(x) }", "func f() { x := b; g(x) }"),
        ("a.java", "class A { void b(int c) { d(c); } }", "class A { void b(int c) { e(c); } }"),
        ("a.c", "int f(int a) { return a + b; }", "int f(int a) { return a + c; }"),
        ("a.cpp", "int f() { return a::b; }", "int f() { return a::c; }"),
        ("a.html", "<p id=a class=b>c</p>", "<p id=a class=d>c</p>"),
        ("a.css", "a { b: c }", "a { d: c }"),
        ("a.css", "a { b: c }", "d { b: c }"),
        (
            "a.vue",
            "<script>function f(a) { return a.b }</script>",
            "<script>function f(a) { return a.c }</script>",
        ),
        (
            "a.svelte",
            "<script>function f(a) { return b(a) }</script>",
            "<script>function f(a) { return c(a) }</script>",
        ),
        ("a.sql", "select a from b", "select c from b"),
        ("a.sql", "select a from b", "select a from c"),
        ("a.sql", "delete from a where b", "delete from c where b"),
        ("a.sql", "select b(a) from c", "select d(a) from c"),
        ("a.sql", "create view a as select b from c", "create view a as select b from d"),
        ("a.ex", "def f(a), do: g(a)", "def f(a), do: h(a)"),
        ("a.ex", "def f(a), do: a.b", "def f(a), do: a.c"),
        ("a.ex", "def f(a), do: a + b", "def f(a), do: a + c"),
        ("a.ex", "def f, do: %{a: 1}", "def f, do: %{b: 1}"),
        ("a.ex", "def f(a), do: ^a = b", "def f(a), do: ^a = c"),
        ("a.ex", "def f(a, b), do: a", "def f(a, b), do: b"),
    ];
    for (path, a, b) in cases {
        assert_ne!(of(path, a).shape, of(path, b).shape, "{path}:\n{a}\n---\n{b}");
    }
}

#[test]
fn a_container_has_a_hash_of_its_own_that_its_members_do_not_touch() {
    let one = of("a.rs", "impl A { const X: u8 = 1; fn b() { 1 } }");
    let two = of("a.rs", "impl A { const X: u8 = 1; fn b() { 2 } }");
    let other = of("a.rs", "impl B { const X: u8 = 1; fn b() { 1 } }");
    assert!(one.own.is_some());
    assert_eq!(one.own, two.own);
    assert_ne!(one.tokens, two.tokens);
    assert_ne!(one.own, other.own);
    assert_eq!(of("a.rs", "fn f() {}").own, None);
}

#[test]
fn sketches_estimate_what_is_kept() {
    let body = |words: std::ops::Range<u32>| {
        let lines: Vec<String> = words.map(|n| format!("    call_{n}({n});")).collect();
        of("a.rs", &format!("fn f() {{\n{}\n}}", lines.join("\n")))
    };
    let (all, most, half, none) = (body(0..200), body(20..200), body(100..200), body(500..700));
    let kept_of = |now: &Fingerprint| {
        kept(&all.sketch, all.token_count, &now.sketch, now.token_count).expect("m1 sketches")
    };
    assert!((kept_of(&all) - 1.0).abs() < 0.001);
    assert!((kept_of(&most) - 0.9).abs() < 0.12, "{}", kept_of(&most));
    assert!((kept_of(&half) - 0.5).abs() < 0.15, "{}", kept_of(&half));
    assert!(kept_of(&none) < 0.1, "{}", kept_of(&none));
    assert_eq!(all.sketch.as_str().len(), "m1:".len() + 171);
}

#[test]
fn crlf_is_folded_in_the_content_hash() {
    assert_eq!(content_hash("a\r\nb"), content_hash("a\nb"));
    assert_ne!(content_hash("a\rb"), content_hash("a\nb"));
    assert_eq!(
        content_hash("").as_str(),
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}

/// These texts stand in ledgers: a change here is a new prefix, never a new value.
#[test]
fn the_algorithms_never_change_silently() {
    let text = "fn add(a: u32, b: u32) -> u32 {\n    let sum = a + b; // both\n    sum\n}";
    let found = of("a.rs", text);
    insta::assert_snapshot!(format!(
        "{}\n{}\n{}\n{}\n{}",
        found.content,
        found.tokens,
        found.shape,
        found.sketch.as_str(),
        found.token_count
    ));
}
