//! Recognises commands that test or lint code.

use super::table::{list, rows};
use super::{Invocation, Prediction};

/// Returns the first test or lint that a text runs, in one or two words: `cargo test`, `pytest`.
pub fn check_of(reading: &Prediction) -> Option<String> {
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
    let names = rows(&format!("checks:{program}")).first()?.words;
    // For `npm run lint` the script `lint` counts, so `run` is skipped.
    let word = words.find(|word| !word.starts_with(['-', '+']) && *word != "run")?;
    names.split('|').any(|name| name == word).then(|| format!("{program} {word}"))
}
