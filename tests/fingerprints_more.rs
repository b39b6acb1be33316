//! The same as `fingerprints`, for the languages of `rows/more.rs`.
//!
//! A case whose language this build leaves out (a grammar behind a feature) is passed over; that each
//! language is there when it should be is tested beside the table of languages.

use intent_lsp::code::{Document, Fingerprint, language};

type Case = (&'static str, &'static str, &'static str);

/// The fingerprint of the first block of a text that is no region.
fn of(path: &str, text: &str) -> Fingerprint {
    let file = Document::from_text(path, text).blocks();
    assert!(!file.has_error, "{path}: a syntax error in {text:?}");
    let first = file.blocks.iter().find(|block| block.identity.kind.as_str() != "region");
    first.unwrap_or_else(|| panic!("{path}: no block in {text:?}")).fingerprint.clone()
}

/// Those pairs of which the fingerprints do not keep their promise.
fn broken(cases: &[Case], keeps: fn(&Fingerprint, &Fingerprint) -> bool) -> Vec<Case> {
    let known = cases.iter().filter(|(path, ..)| language::of_file(path, "").is_some());
    known.filter(|(path, a, b)| !keeps(&of(path, a), &of(path, b))).copied().collect()
}

#[test]
fn what_formatters_change_keeps_the_tokens() {
    let cases = [
        (
            "a.cs",
            "class A { int F(int a, int b) { return G(a, b); } }",
            "class A\n{\n    int F(\n        int a,\n        int b)\n    {\n        // calls\n        return G(a,\n            b);\n    }\n}",
        ),
        ("a.cs", "enum A { B, C }", "enum A\n{\n    B,\n    C, // last\n}"),
        (
            "a.cs",
            "class A { int[] b = { 1, 2 }; }",
            "class A {\r\n    int[] b =\r\n    {\r\n        1,\r\n        2,\r\n    };\r\n}",
        ),
        (
            "a.cs",
            "class A { int F(int b) => b switch { 1 => 2, _ => 3 }; }",
            "class A { int F(int b) => b switch\n{\n    1 => 2,\n    _ => 3,\n}; }",
        ),
        (
            "a.rb",
            "def f(a)\n  g(a, 1)\nend",
            "def f(a)\n    # calls\n    g(\n      a,\n      1,\n    )\nend",
        ),
        ("a.rb", "def f\n  a = 'b'\nend", "def f\n  a = \"b\"\nend"),
        ("a.rb", "def f\n  a; b\nend", "def f\n  a\n  b\nend"),
        ("a.rb", "A = [1, 2]", "A = [\n  1,\n  2,\n]"),
        ("a.rb", "A = { b: 1, 'c' => 2 }", "A = {\n  b: 1,\n  \"c\" => 2,\n}"),
        (
            "a.php",
            "<?php function f($a) { return g($a, [1, 2]); }",
            "<?php\nfunction f($a)\n{\n    // calls\n    return g(\n        $a,\n        [\n            1,\n            2,\n        ],\n    );\n}",
        ),
        (
            "a.php",
            "<?php function f(int $a, int $b) {}",
            "<?php\nfunction f(\n    int $a,\n    int $b,\n) {\n}",
        ),
        (
            "a.kt",
            "fun f(a: Int, b: Int) { g(a, b) }",
            "fun f(\n    a: Int,\n    b: Int,\n) {\n    // calls\n    g(\n        a,\n        b,\n    )\n}",
        ),
        ("a.kt", "enum class A { B, C }", "enum class A {\n    B,\n    C,\n}"),
        (
            "a.lua",
            "function f(a)\n  g('a', \"b\")\nend",
            "function f(a)\n    -- calls\n    g(\"a\", 'b')\nend",
        ),
        (
            "a.lua",
            "function f(a)\n  if (a) then return a; end;\nend",
            "function f(a)\n  if a then\n    return a\n  end\nend",
        ),
        (
            "a.lua",
            "function f() g \"a\" h { 1, 2 } end",
            "function f()\n  g(\"a\")\n  h({\n    1,\n    2,\n  })\nend",
        ),
        (
            "a.swift",
            "func f(a: Int) -> [Int] {\n  g(a)\n  return [1, 2] }",
            "func f(\n    a: Int\n) -> [Int] {\n    // calls\n    g(a)\n    return [\n        1,\n        2,\n    ]\n}",
        ),
        (
            "a.scala",
            "def f(a: Int, b: Int): Int = { val c = a; g(c, b) }",
            "def f(\n    a: Int,\n    b: Int,\n): Int = {\n  // calls\n  val c = a\n  g(\n    c,\n    b,\n  )\n}",
        ),
        (
            "a.dart",
            "int f(int a, {int b = 1}) { return g(a, [b, 2], c: 'd'); }",
            "int f(\n  int a, {\n  int b = 1,\n}) {\n  // calls\n  return g(\n    a,\n    [b, 2,],\n    c: \"d\",\n  );\n}",
        ),
        ("a.dart", "enum A { b, c }", "enum A {\n  b,\n  c,\n}"),
        (
            "a.zig",
            "fn f(a: u8, b: u8) u8 { return g(a, b); }",
            "fn f(\n    a: u8,\n    b: u8,\n) u8 {\n    // calls\n    return g(\n        a,\n        b,\n    );\n}",
        ),
        (
            "a.zig",
            "const A = struct { b: u8, c: u8 };",
            "const A = struct {\n    b: u8,\n    c: u8,\n};",
        ),
        (
            "a.zig",
            "fn f(a: A) u8 { return switch (a) { .b => 1, .c => 2 }; }",
            "fn f(a: A) u8 {\n    return switch (a) {\n        .b => 1,\n        .c => 2,\n    };\n}",
        ),
    ];
    let wrong = broken(&cases, |a, b| a.tokens == b.tokens && a.content != b.content);
    assert!(wrong.is_empty(), "not equal: {wrong:#?}");
}

#[test]
fn what_changes_the_program_changes_the_tokens() {
    let cases = [
        ("a.cs", "class A { int b = (c + d) * e; }", "class A { int b = c + d * e; }"),
        ("a.cs", "class A { string b = \"a b\"; }", "class A { string b = \"a  b\"; }"),
        ("a.cs", "class A { string b = $\"{c} {d}\"; }", "class A { string b = $\"{c}{d}\"; }"),
        ("a.cs", "class A { string b = $\"{c:x y}\"; }", "class A { string b = $\"{c:xy}\"; }"),
        ("a.cs", "class A { string b = @\"\\n\"; }", "class A { string b = \"\\n\"; }"),
        (
            "a.cs",
            "class A { string b = \"\"\"c  d\"\"\"; }",
            "class A { string b = \"\"\"c d\"\"\"; }",
        ),
        ("a.cs", "class A { char b = ' '; }", "class A { char b = '\\t'; }"),
        ("a.cs", "class A { int[,] b; }", "class A { int[] b; }"),
        ("a.cs", "class A { void F() { if (b); c(); } }", "class A { void F() { if (b) c(); } }"),
        ("a.cs", "class A { void F() { b?.c(); } }", "class A { void F() { b.c(); } }"),
        ("a.rb", "def f\n  a\n  -b\nend", "def f\n  a - b\nend"),
        ("a.rb", "def f\n  a -b\nend", "def f\n  a - b\nend"),
        ("a.rb", "def f\n  return\n  a\nend", "def f\n  return a\nend"),
        ("a.rb", "def f\n  g [1]\nend", "def f\n  g[1]\nend"),
        ("a.rb", "def f\n  g (1), 2\nend", "def f\n  g 1, 2\nend"),
        ("a.rb", "def f\n  g (1).h\nend", "def f\n  g(1).h\nend"),
        ("a.rb", "def f\n  a *b\nend", "def f\n  a * b\nend"),
        ("a.rb", "def f\n  a = b, 1\nend", "def f\n  a = b\n  1\nend"),
        ("a.rb", "def f\n  a { |b, | c }\nend", "def f\n  a { |b| c }\nend"),
        ("a.rb", "def f\n  a, = b\nend", "def f\n  a = b\nend"),
        ("a.rb", "def f\n  g { |a; b| a }\nend", "def f\n  g { |a, b| a }\nend"),
        ("a.rb", "def f\n  'a #{b}'\nend", "def f\n  \"a #{b}\"\nend"),
        ("a.rb", "def f\n  '#@b'\nend", "def f\n  \"#@b\"\nend"),
        ("a.rb", "def f\n  'a\\n'\nend", "def f\n  \"a\\n\"\nend"),
        ("a.rb", "def f\n  'a  b'\nend", "def f\n  'a b'\nend"),
        ("a.rb", "def f\n  %w[a b]\nend", "def f\n  %w[ab]\nend"),
        ("a.rb", "def f\n  'a' 'b'\nend", "def f\n  'ab'\nend"),
        ("a.rb", "def f\n  /a b/\nend", "def f\n  /a  b/\nend"),
        ("a.rb", "def f\n  <<~T\n    a\n     b\n  T\nend", "def f\n  <<~T\n    a\n    b\n  T\nend"),
        ("a.rb", "def f\n  a do |b| c end\nend", "def f\n  a do |c| b end\nend"),
        ("a.rb", "def f\n  puts a do b end\nend", "def f\n  puts a { b }\nend"),
        ("a.rb", "def f\n  :\"a b\"\nend", "def f\n  :\"a  b\"\nend"),
        ("a.php", "<?php function f() { return 'a  b'; }", "<?php function f() { return 'a b'; }"),
        ("a.php", "<?php function f() { return '$a'; }", "<?php function f() { return \"$a\"; }"),
        (
            "a.php",
            "<?php function f() { return \"$a $b\"; }",
            "<?php function f() { return \"$a$b\"; }",
        ),
        ("a.php", "<?php function f() { return '\\n'; }", "<?php function f() { return \"\\n\"; }"),
        (
            "a.php",
            "<?php function f() { return [[1], 2]; }",
            "<?php function f() { return [[1, 2]]; }",
        ),
        ("a.php", "<?php function f() { ?> a  <?php }", "<?php function f() { ?> a <?php }"),
        ("a.php", "<?php function f() { ?> <?php }", "<?php function f() { ?><?php }"),
        ("a.php", "<?php function f() { [, $a] = $b; }", "<?php function f() { [$a] = $b; }"),
        (
            "a.php",
            "<?php function f() { return <<<T\n  a\n T; }",
            "<?php function f() { return <<<T\n  a\n  T; }",
        ),
        (
            "a.php",
            "<?php function f() { return ($a + $b) * $c; }",
            "<?php function f() { return $a + $b * $c; }",
        ),
        ("a.php", "<?php function f() { return $a; }", "<?php function f() { return a; }"),
        ("a.kt", "fun f() {\n  return\n  a\n}", "fun f() {\n  return a\n}"),
        ("a.kt", "fun f() {\n  a\n  -b\n}", "fun f() {\n  a - b\n}"),
        ("a.kt", "fun f() {\n  return\n  -b\n}", "fun f() {\n  return -b\n}"),
        ("a.kt", "fun f() {\n  a // c\n  ::b\n}", "fun f() {\n  a::b // c\n}"),
        ("a.kt", "fun f() {\n  while (a);\n  b()\n}", "fun f() {\n  while (a)\n  b()\n}"),
        ("a.kt", "fun f() = \"a  b\"", "fun f() = \"a b\""),
        ("a.kt", "fun f() = \"$a $b\"", "fun f() = \"$a$b\""),
        ("a.kt", "fun f() = \"$a\"", "fun f() = \"\\$a\""),
        ("a.kt", "fun f() = \"\"\"a\n  b\"\"\"", "fun f() = \"\"\"a\n b\"\"\""),
        ("a.kt", "fun f() = (a + b) * c", "fun f() = a + b * c"),
        ("a.kt", "fun f() = g(a) { b }", "fun f() = g(a, b)"),
        ("a.kt", "fun f() { a?.b }", "fun f() { a!!.b }"),
        ("a.lua", "function f() return 'a  b' end", "function f() return 'a b' end"),
        ("a.lua", "function f() return [[a\n b]] end", "function f() return [[a\nb]] end"),
        ("a.lua", "function f() return (g()) end", "function f() return g() end"),
        ("a.lua", "function f() return 'a\\n' end", "function f() return 'a n' end"),
        ("a.lua", "function f() a = b; (c)() end", "function f() a = b (c)() end"),
        ("a.lua", "function f() return g end", "function f() return g() end"),
        ("a.lua", "function f() return g(a)(b) end", "function f() return g(a, b) end"),
        ("a.lua", "function f() return g((a)) end", "function f() return g(a) end"),
        ("a.lua", "function f() return { a, b } end", "function f() return { a = b } end"),
        ("a.lua", "function f() return { g() } end", "function f() return { (g()) } end"),
        ("a.lua", "function f() return g(a).b end", "function f() return g(a.b) end"),
        ("a.lua", "function f() return -g(a) end", "function f() return g(-a) end"),
        ("a.swift", "func f() {\n  return\n  a()\n}", "func f() {\n  return a()\n}"),
        ("a.swift", "func f() {\n  a\n  -b\n}", "func f() {\n  a - b\n}"),
        ("a.swift", "func f() { g(\"a  b\") }", "func f() { g(\"a b\") }"),
        ("a.swift", "func f() { g(\"\\(a) \\(b)\") }", "func f() { g(\"\\(a)\\(b)\") }"),
        ("a.swift", "func f() { g(#\"\\(a)\"#) }", "func f() { g(\"\\(a)\") }"),
        ("a.swift", "func f() { g((a + b) * c) }", "func f() { g(a + b * c) }"),
        ("a.swift", "func f() { g(a: b) }", "func f() { g(a, b) }"),
        ("a.swift", "func f() { a?.b() }", "func f() { a!.b() }"),
        ("a.swift", "func f() { g(/a  b/) }", "func f() { g(/a b/) }"),
        ("a.scala", "def f = {\n  return\n  a\n}", "def f = {\n  return a\n}"),
        ("a.scala", "def f = {\n  a\n  - b\n}", "def f = {\n  a - b\n}"),
        ("a.scala", "def f = \"a  b\"", "def f = \"a b\""),
        ("a.scala", "def f = \"a\\n  b\"", "def f = \"a\\n b\""),
        ("a.scala", "def f = s\"$a $b\"", "def f = s\"$a$b\""),
        ("a.scala", "def f = s\"$a\"", "def f = \"$a\""),
        ("a.scala", "def f = (a + b) * c", "def f = a + b * c"),
        ("a.scala", "def f = g((a, b))", "def f = g(a, b)"),
        ("a.scala", "def f =\n  if a then\n    b\n  c", "def f =\n  if a then\n    b\n    c"),
        ("a.scala", "def f =\n  while a do\n    b\n  c", "def f =\n  while a do\n    b\n    c"),
        ("a.scala", "def f = ' '", "def f = '\\t'"),
        ("a.dart", "f() { return 'a  b'; }", "f() { return 'a b'; }"),
        ("a.dart", "f() { return '$a $b'; }", "f() { return '$a$b'; }"),
        ("a.dart", "f() { return r'$a'; }", "f() { return '$a'; }"),
        ("a.dart", "f() { return 'a\"'; }", "f() { return \"a\"; }"),
        ("a.dart", "f() { return 'a\\''; }", "f() { return \"a'\"; }"),
        ("a.dart", "f() { return (a,); }", "f() { return (a); }"),
        ("a.dart", "f() { return (a + b) * c; }", "f() { return a + b * c; }"),
        ("a.dart", "f() { if (a); b(); }", "f() { if (a) b(); }"),
        ("a.dart", "f() { a?.b(); }", "f() { a.b(); }"),
        ("a.dart", "f({int a = 1}) {}", "f([int a = 1]) {}"),
        ("a.dart", "f() { return {a}; }", "f() { return [a]; }"),
        ("a.dart", "f() { a..b()..c(); }", "f() { a.b().c(); }"),
        ("a.zig", "fn f() u8 { return (a + b) * c; }", "fn f() u8 { return a + b * c; }"),
        ("a.zig", "const a = \"b  c\";", "const a = \"b c\";"),
        ("a.zig", "const a = ' ';", "const a = '\\t';"),
        ("a.zig", "const a =\n    \\\\b\n    \\\\c\n;", "const a =\n    \\\\b\n    \\\\ c\n;"),
        ("a.zig", "fn f() void { a +% b; }", "fn f() void { a + b; }"),
        ("a.zig", "fn f() void { const a = b; }", "fn f() void { var a = b; }"),
        ("a.zig", "const A = struct { b: u8, c: u8 };", "const A = struct { b: u8, c: u16 };"),
        ("a.zig", "fn f() void { a.?; }", "fn f() void { a.*; }"),
    ];
    let wrong = broken(&cases, |a, b| a.tokens != b.tokens);
    assert!(wrong.is_empty(), "equal: {wrong:#?}");
}

#[test]
fn consistent_renames_keep_the_shape() {
    let cases = [
        (
            "a.cs",
            "class A { int F(int b) { var c = b; foreach (var d in c) { F(e => e + d); } return c; } }",
            "class A { int F(int x) { var y = x; foreach (var z in y) { F(w => w + z); } return y; } }",
        ),
        ("a.cs", "class A { A Next; }", "class B { B Next; }"),
        (
            "a.cs",
            "class A { string F(int b) { return $\"{b}\"; } }",
            "class A { string F(int c) { return $\"{c}\"; } }",
        ),
        (
            "a.rb",
            "def f(a)\n  b, c = a\n  b.each { |d| g(\"#{d}\") }\n  f(c)\nend",
            "def h(x)\n  y, z = x\n  y.each { |w| g(\"#{w}\") }\n  h(z)\nend",
        ),
        ("a.rb", "class A\n  def b = A.new\nend", "class C\n  def b = C.new\nend"),
        (
            "a.php",
            "<?php function f($a) { foreach ($a as $b => $c) { $d = \"$c\"; } return f($d); }",
            "<?php function g($x) { foreach ($x as $y => $z) { $w = \"$z\"; } return g($w); }",
        ),
        (
            "a.kt",
            "fun f(a: Int): Int { val b = a; for (c in b) { g { d -> d } }\n return f(b) }",
            "fun h(x: Int): Int { val y = x; for (z in y) { g { w -> w } }\n return h(y) }",
        ),
        ("a.kt", "fun f(a: Int) = \"${a}\"", "fun f(b: Int) = \"${b}\""),
        (
            "a.lua",
            "local function f(a)\n  local b = a\n  for c, d in pairs(b) do g(c, d) end\n  return f(b)\nend",
            "local function h(x)\n  local y = x\n  for z, w in pairs(y) do g(z, w) end\n  return h(y)\nend",
        ),
        (
            "a.swift",
            "func f(_ a: Int) -> Int { let b = a\n for c in b { g { d in d } }\n return f(b) }",
            "func h(_ x: Int) -> Int { let y = x\n for z in y { g { w in w } }\n return h(y) }",
        ),
        (
            "a.swift",
            "func f() { if let a = b { g(\"\\(a)\") } }",
            "func f() { if let c = b { g(\"\\(c)\") } }",
        ),
        (
            "a.scala",
            "def f(a: Int): Int = { val b = a; b.map(c => c); g { case (d, e) => d }; f(b) }",
            "def h(x: Int): Int = { val y = x; y.map(z => z); g { case (w, v) => w }; h(y) }",
        ),
        ("a.scala", "def f(a: Int) = s\"$a ${a}\"", "def f(b: Int) = s\"$b ${b}\""),
        (
            "a.dart",
            "int f(int a) { var b = a; for (final c in b) { g('$c', (d) => d); } return f(b); }",
            "int h(int x) { var y = x; for (final z in y) { g('$z', (w) => w); } return h(y); }",
        ),
        (
            "a.zig",
            "fn f(a: u8) u8 { const b = a; var c = b; c = b; for (b) |d| { g(d); } return f(c); }",
            "fn h(x: u8) u8 { const y = x; var z = y; z = y; for (y) |w| { g(w); } return h(z); }",
        ),
    ];
    let wrong = broken(&cases, |a, b| a.shape == b.shape && a.tokens != b.tokens);
    assert!(wrong.is_empty(), "not equal: {wrong:#?}");
}

#[test]
fn other_changes_of_names_change_the_shape() {
    let cases = [
        (
            "a.cs",
            "class A { int F(int b, int c) { return b; } }",
            "class A { int F(int b, int c) { return c; } }",
        ),
        (
            "a.cs",
            "class A { int F(A b) { return b.c; } }",
            "class A { int F(A b) { return b.d; } }",
        ),
        (
            "a.cs",
            "class A { int F(A b) { return b.b; } }",
            "class A { int F(A c) { return c.c; } }",
        ),
        (
            "a.cs",
            "class A { int F(int b) { return G(b); } }",
            "class A { int F(int b) { return H(b); } }",
        ),
        (
            "a.cs",
            "class A { int F(int b) { return G(b: b); } }",
            "class A { int F(int c) { return G(c: c); } }",
        ),
        (
            "a.cs",
            "class A { A F(int b) { return new A { b = b }; } }",
            "class A { A F(int c) { return new A { c = c }; } }",
        ),
        (
            "a.cs",
            "class A { A F(int b) { return new { b }; } }",
            "class A { A F(int c) { return new { c }; } }",
        ),
        ("a.cs", "class A { void F(int b) { } }", "class A { void F(long b) { } }"),
        ("a.rb", "def f(a)\n  a.b\nend", "def f(a)\n  a.c\nend"),
        ("a.rb", "def f(a)\n  b(a)\nend", "def f(a)\n  c(a)\nend"),
        ("a.rb", "def f(a)\n  a + b\nend", "def f(a)\n  a + c\nend"),
        ("a.rb", "def f(a:)\n  a\nend", "def f(b:)\n  b\nend"),
        ("a.rb", "def f(a)\n  @b = a\nend", "def f(a)\n  @c = a\nend"),
        ("a.rb", "def f(a)\n  g(a:)\n  a\nend", "def f(b)\n  g(a:)\n  b\nend"),
        ("a.rb", "def f(a)\n  B.new(a)\nend", "def f(a)\n  C.new(a)\nend"),
        ("a.rb", "def f(a)\n  a[:b]\nend", "def f(a)\n  a[:c]\nend"),
        (
            "a.php",
            "<?php function f($a) { return $a->b; }",
            "<?php function f($a) { return $a->c; }",
        ),
        (
            "a.php",
            "<?php function f($a) { return $a->a; }",
            "<?php function f($b) { return $b->b; }",
        ),
        (
            "a.php",
            "<?php function f($a) { return g($a); }",
            "<?php function f($a) { return h($a); }",
        ),
        (
            "a.php",
            "<?php function f($a) { return g(a: $a); }",
            "<?php function f($b) { return g(b: $b); }",
        ),
        (
            "a.php",
            "<?php function f() { global $a; $a = 1; }",
            "<?php function f() { global $b; $b = 1; }",
        ),
        (
            "a.php",
            "<?php function f($a) { return new B($a); }",
            "<?php function f($a) { return new C($a); }",
        ),
        ("a.kt", "fun f(a: A) = a.b", "fun f(a: A) = a.c"),
        ("a.kt", "fun f(a: A) = a.a", "fun f(b: A) = b.b"),
        ("a.kt", "fun f(a: A) = g(a)", "fun f(a: A) = h(a)"),
        ("a.kt", "fun f(a: A) = g(a = a)", "fun f(b: A) = g(b = b)"),
        ("a.kt", "fun f(a: A) = g(\"$a\", a)", "fun f(b: A) = g(\"$a\", b)"),
        ("a.kt", "fun f(a: A) = a", "fun f(a: B) = a"),
        ("a.lua", "function f(a) return a.b end", "function f(a) return a.c end"),
        ("a.lua", "function f(a) return a.a end", "function f(b) return b.b end"),
        ("a.lua", "function f(a) return a:b() end", "function f(a) return a:c() end"),
        ("a.lua", "function f(a) return { a = a } end", "function f(b) return { b = b } end"),
        ("a.lua", "function f() a = 1 end", "function f() b = 1 end"),
        ("a.lua", "function f(a) return g(a) end", "function f(a) return h(a) end"),
        ("a.swift", "func f(_ a: A) { a.b }", "func f(_ a: A) { a.c }"),
        ("a.swift", "func f(_ a: A) { a.a }", "func f(_ b: A) { b.b }"),
        ("a.swift", "func f(_ a: A) { g(a: a) }", "func f(_ b: A) { g(b: b) }"),
        ("a.swift", "func f(_ a: A) { g(a) }", "func f(_ a: A) { h(a) }"),
        ("a.swift", "func f(_ a: A) { g(.a, a) }", "func f(_ b: A) { g(.b, b) }"),
        ("a.swift", "func f(a: A) { g(a) }", "func f(b: A) { g(b) }"),
        ("a.swift", "func f(a b: A) {}", "func f(c b: A) {}"),
        ("a.scala", "def f(a: A) = a.b", "def f(a: A) = a.c"),
        ("a.scala", "def f(a: A) = a.a", "def f(b: A) = b.b"),
        ("a.scala", "def f(a: A) = g(a)", "def f(a: A) = h(a)"),
        ("a.scala", "def f(a: A) = g(a = a)", "def f(b: A) = g(b = b)"),
        (
            "a.scala",
            "def f(a: A) = a match { case `b` => 1 }",
            "def f(a: A) = a match { case `c` => 1 }",
        ),
        (
            "a.scala",
            "def f(a: A) = a match { case B => 1 }",
            "def f(a: A) = a match { case C => 1 }",
        ),
        ("a.dart", "f(A a) => a.b;", "f(A a) => a.c;"),
        ("a.dart", "f(A a) => a.a;", "f(A b) => b.b;"),
        ("a.dart", "f(A a) => g(a);", "f(A a) => h(a);"),
        ("a.dart", "f(A a) => g(a: a);", "f(A b) => g(b: b);"),
        ("a.dart", "f(A a) { c..a = a; }", "f(A b) { c..b = b; }"),
        ("a.zig", "fn f(a: A) u8 { return a.b; }", "fn f(a: A) u8 { return a.c; }"),
        ("a.zig", "fn f(a: A) u8 { return a.a; }", "fn f(b: A) u8 { return b.b; }"),
        ("a.zig", "fn f(a: A) u8 { return g(a); }", "fn f(a: A) u8 { return h(a); }"),
        ("a.zig", "fn f(a: A) A { return .{ .a = a }; }", "fn f(b: A) A { return .{ .b = b }; }"),
        ("a.zig", "fn f() void { a = 1; }", "fn f() void { b = 1; }"),
        ("a.zig", "fn f() void { a += 1; }", "fn f() void { b += 1; }"),
        ("a.zig", "fn f(a: A) A { return .a; }", "fn f(b: A) A { return .b; }"),
    ];
    let wrong = broken(&cases, |a, b| a.shape != b.shape);
    assert!(wrong.is_empty(), "equal: {wrong:#?}");
}
