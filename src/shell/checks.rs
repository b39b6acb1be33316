//! Which commands test or lint code.

use super::table::list;
use super::{Invocation, Reading};

/// Programs that do much, and the words by which they test or lint.
const WORDS: &[(&[&str], &[&str])] = &[
    (&["cargo"], &["test", "t", "nextest", "clippy", "check", "c"]),
    (&["go"], &["test", "vet"]),
    (&["npm", "pnpm", "yarn", "bun"], &["test", "t", "lint", "typecheck"]),
    (&["make", "gmake", "just", "task"], &["test", "tests", "check", "lint"]),
    (&["mvn", "mvnw", "gradle", "gradlew"], &["test", "check", "verify"]),
    (&["bazel", "buck2", "cabal", "dotnet", "mix", "stack", "swift", "zig"], &["test"]),
    (&["dart", "deno", "flutter"], &["test", "lint", "analyze", "check"]),
    (&["composer", "rake", "rails", "bundle"], &["test", "spec", "lint"]),
    (&["biome", "playwright", "cypress"], &["test", "lint", "check", "ci", "run"]),
];

/// The first test or lint that a text runs, in a word or two: `cargo test`, `pytest`.
pub fn check_of(reading: &Reading) -> Option<String> {
    reading.commands.iter().find_map(of_invocation)
}

fn of_invocation(run: &Invocation) -> Option<String> {
    let program = run.program.as_deref()?;
    let program = program.strip_suffix(".exe").unwrap_or(program);
    if list("checks").contains(&program) {
        return Some(program.to_owned());
    }
    let mut words = run.words.iter().skip(1).map(String::as_str);
    if program.starts_with("python") {
        let module = words.skip_while(|word| *word != "-m").nth(1)?;
        return list("checks").contains(&module).then(|| module.to_owned());
    }
    let (_, names) = WORDS.iter().find(|(programs, _)| programs.contains(&program))?;
    // `npm run lint`: the script says it.
    let word = words.find(|word| !word.starts_with(['-', '+']) && *word != "run")?;
    names.contains(&word).then(|| format!("{program} {word}"))
}
