//! Which texts have the same fingerprints and, more important, which do not.
//!
//! Each file contains the cases of some languages, grouped by what the two texts of a case must have in common. A case
//! is skipped if this build leaves out the grammar of its language; the tests of the table of languages check which
//! grammars must be there.

mod common;
mod formats;
mod functional;
mod more;

use code::fingerprint::{content_hash, share_kept};
use code::{Document, Fingerprint, language};

/// A file name and two texts.
type Case = (&'static str, &'static str, &'static str);

/// What must hold for the fingerprints of the two texts.
#[derive(Clone, Copy, Debug)]
enum Promise {
    /// The texts differ only in formatting.
    SameTokens,
    /// The texts are different programs.
    OtherTokens,
    /// The texts differ only in names, in the same way everywhere.
    SameShape,
    /// The texts differ in names in a way that may change behaviour.
    OtherShape,
}

impl Promise {
    fn is_kept(self, one: &Fingerprint, two: &Fingerprint) -> bool {
        let (tokens, shape) = (one.tokens == two.tokens, one.shape == two.shape);
        match self {
            Self::SameTokens => tokens && shape && one.content != two.content,
            Self::OtherTokens => !tokens,
            Self::SameShape => shape && !tokens,
            Self::OtherShape => !shape,
        }
    }
}

fn assert_kept(promise: Promise, cases: &[Case]) {
    let known = cases.iter().filter(|(path, ..)| language_is_known(path));
    let broken: Vec<&Case> =
        known.filter(|(path, a, b)| !promise.is_kept(&of(path, a), &of(path, b))).collect();
    assert!(broken.is_empty(), "not {promise:?}: {broken:#?}");
}

fn language_is_known(path: &str) -> bool {
    path.ends_with(".txt")
        || language::of_file(path, "").is_some_and(|language| language.grammar.is_some())
}

/// Returns the fingerprint of the first block that is no region, or of the first region if there is no other block.
fn of(path: &str, text: &str) -> Fingerprint {
    let file = Document::from_text(path, text).blocks();
    assert!(!file.has_error, "{path}: a syntax error in {text:?}");
    let first = file.blocks.iter().find(|block| block.identity.kind.as_str() != "region");
    let first = first.or(file.blocks.first());
    first.unwrap_or_else(|| panic!("{path}: no block in {text:?}")).fingerprint.clone()
}

#[test]
fn the_own_hash_of_a_container_ignores_its_members() {
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
fn sketches_estimate_how_much_is_unchanged() {
    let body = |words: std::ops::Range<u32>| {
        let lines: Vec<String> = words.map(|n| format!("    call_{n}({n});")).collect();
        of("a.rs", &format!("fn f() {{\n{}\n}}", lines.join("\n")))
    };
    let (all, most, half, none) = (body(0..200), body(20..200), body(100..200), body(500..700));
    let kept_of = |now: &Fingerprint| share_kept(&all, now);
    assert!((kept_of(&all) - 1.0).abs() < 0.001);
    assert!((kept_of(&most) - 0.9).abs() < 0.12, "{}", kept_of(&most));
    assert!((kept_of(&half) - 0.5).abs() < 0.15, "{}", kept_of(&half));
    assert!(kept_of(&none) < 0.1, "{}", kept_of(&none));
}

#[test]
fn the_content_hash_treats_crlf_as_lf() {
    assert_eq!(content_hash("a\r\nb"), content_hash("a\nb"));
    assert_ne!(content_hash("a\rb"), content_hash("a\nb"));
    assert_eq!(
        content_hash("").as_str(),
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}

/// Ledgers contain the content hash. A changed algorithm needs a new prefix, so that an old value never gets a new
/// meaning.
#[test]
fn the_algorithms_never_change_silently() {
    let text = "fn add(a: u32, b: u32) -> u32 {\n    let sum = a + b; // both\n    sum\n}";
    let found = of("a.rs", text);
    insta::assert_snapshot!(format!(
        "{}\n{}\n{}\n{}",
        found.content,
        found.tokens.as_str(),
        found.shape.as_str(),
        found.token_count
    ));
}
