//! The functional languages with large grammars.

use super::{Promise, assert_kept};

#[test]
fn formatting_keeps_the_tokens() {
    let cases = [
        ("a.hs", "f a b = g (a+b) c", "f a b =\n  -- calls\n  g\n    (a + b)\n    c"),
        ("a.hs", "f = do { a; b }", "f = do {\n  a;\n  b\n}"),
        (
            "a.hs",
            "data A = A { b :: Int, c :: Int }",
            "data A = A\n  { b :: Int\n  , c :: Int\n  }",
        ),
        ("a.hs", "f x | x > 1 = a | otherwise = b", "f x\n  | x > 1 = a\n  | otherwise = b"),
        ("a.ml", "let f a b = g a (b + 1)", "let f a b =\n  (* calls *)\n  g a\n    (b + 1)"),
        ("a.ml", "type t = A | B", "type t =\n  | A\n  | B"),
        ("a.ml", "let f a = if (a) then (b) else c", "let f a =\n  if a\n  then (b)\n  else c"),
        ("a.ml", "let f a = (a + 1)", "let f a = a + 1"),
    ];
    assert_kept(Promise::SameTokens, &cases);
}

#[test]
fn a_change_of_the_program_changes_the_tokens() {
    let cases = [
        ("a.hs", "f = a b c", "f = a (b c)"),
        ("a.hs", "f = g -1", "f = g - 1"),
        ("a.hs", "f = a.b", "f = a . b"),
        ("a.hs", "f = A.b", "f = A . b"),
        ("a.hs", "f = \"a  b\"", "f = \"a b\""),
        ("a.hs", "f = ' '", "f = 'a'"),
        ("a.hs", "f = do\n  a\n  b", "f = do\n  a b"),
        ("a.hs", "f = do\n  a\n  b", "f = do\n  a\n    b"),
        ("a.hs", "f x = case x of\n  1 -> a\n  2 -> b", "f x = case x of\n  2 -> b\n  1 -> a"),
        ("a.hs", "f = if a then b else c", "f = if a then c else b"),
        ("a.hs", "f = (a + b) * c", "f = a + b * c"),
        ("a.hs", "f !x = x", "f x = x"),
        ("a.hs", "f ~x = x", "f x = x"),
        ("a.hs", "f = [a | b <- c]", "f = [a | b <- c, d]"),
        ("a.ml", "let f = a b c", "let f = a (b c)"),
        ("a.ml", "let f = a -1", "let f = a (-1)"),
        ("a.ml", "let f = \"a  b\"", "let f = \"a b\""),
        ("a.ml", "let f = {|a  b|}", "let f = {|a b|}"),
        ("a.ml", "let f = {|a|}", "let f = {b|a|b}"),
        ("a.ml", "let f = ' '", "let f = 'a'"),
        ("a.ml", "let f a = a; b", "let f a = (a, b)"),
        ("a.ml", "let f = [1; 2]", "let f = [1, 2]"),
        ("a.ml", "let f = (a + b) * c", "let f = a + b * c"),
        ("a.ml", "let f ~a = a", "let f a = a"),
        ("a.ml", "let f ?a () = a", "let f ~a () = a"),
        ("a.ml", "let f a = a.b <- c", "let f a = a.b = c"),
        ("a.ml", "let f a = if a then b; c", "let f a = if a then (b; c)"),
        ("a.ml", "let f = !a", "let f = a"),
        ("a.ml", "let rec f a = f a", "let f a = f a"),
    ];
    assert_kept(Promise::OtherTokens, &cases);
}

#[test]
fn consistent_renames_keep_the_shape() {
    let cases = [
        ("a.hs", "f a (b, c) = g a b (\\d -> d + c)", "h x (y, z) = g x y (\\w -> w + z)"),
        ("a.hs", "f a = f a + 1", "g b = g b + 1"),
        ("a.hs", "f a = case a of\n  b : c -> g b c", "f x = case x of\n  y : z -> g y z"),
        ("a.hs", "data A = C A", "data B = C B"),
        (
            "a.ml",
            "let f a (b, c) = g a b (fun d -> d + c)",
            "let h x (y, z) = g x y (fun w -> w + z)",
        ),
        ("a.ml", "let f a = let b = a in b", "let f x = let y = x in y"),
        (
            "a.ml",
            "let f a = match a with Some b -> b | None -> a",
            "let f x = match x with Some y -> y | None -> x",
        ),
        ("a.ml", "let rec f a = f a", "let rec g a = g a"),
    ];
    assert_kept(Promise::SameShape, &cases);
}

#[test]
fn inconsistent_renames_change_the_shape() {
    let cases = [
        ("a.hs", "f a = g a", "f a = h a"),
        ("a.hs", "f a b = a", "f a b = b"),
        ("a.hs", "f a = b { c = a }", "f a = b { d = a }"),
        ("a.hs", "f a = a.b", "f a = a.c"),
        ("a.hs", "data A = B { c :: Int }", "data A = B { d :: Int }"),
        ("a.hs", "f = A.b", "f = C.b"),
        ("a.ml", "let f a = g a", "let f a = h a"),
        ("a.ml", "let f a b = a", "let f a b = b"),
        ("a.ml", "let f ~a = a", "let f ~b = b"),
        ("a.ml", "let f a = a.b", "let f a = a.c"),
        ("a.ml", "let f a = A.a + a", "let f b = A.b + b"),
        ("a.ml", "let f a = { a }", "let f b = { b }"),
        ("a.ml", "let f a = g ~a", "let f b = g ~b"),
        // A member may be used outside of the text.
        ("a.ml", "module M = struct let a = 1 end", "module M = struct let b = 1 end"),
        ("a.hs", "instance A B where\n  c = d", "instance A B where\n  e = d"),
    ];
    assert_kept(Promise::OtherShape, &cases);
}
