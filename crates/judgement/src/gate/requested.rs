//! Finds out which intents a person asks a session to work on, from their prompt.
//!
//! A prompt may also forbid an intent, or show a log that names it. So only a sentence counts that
//! begins as a request does, denies nothing, and is the person's own.

use ground::text::is_listed;

/// Words that may be before the verb of a request, as in `OK, now could you please switch to …`.
const BEFORE_VERB: &str = "
    a about again also and can could do go going good great have i i'd im i'm i'd if let lets let's
    like me much need next no-one now of ok okay on please right so some start starting that thanks
    the then time to us want we well will with would yes you you're your
";
/// Verbs with which a person asks for work under an intent.
const VERBS: &str = "
    address begin change complete continue do finish fix focus go handle implement join move pick
    proceed resume select start switch tackle take turn use work
";
/// Words with which a sentence says that something must not be done, or was done.
const DENIES: &str = "
    after although avoid away before but can't cannot done don't dont except excluding finished
    forbid forbidden from ignore ignoring instead leave leaving neither never no nor not off only
    out skip stop than unless unlike until untouched when while won't without
";
/// Marks at the beginning of a line that was not typed as part of the prompt: of a quote, a shell, a
/// list of changes, a table or a log.
const PASTED: [char; 12] = ['>', '$', '%', '|', '+', '<', '[', '{', '\t', '#', '=', '@'];
/// In a longer prompt, only the first and the last line are certainly the person's own.
const MAX_LINES: usize = 8;

pub(super) fn asks_for(prompt: &str, id: &str) -> bool {
    let lines = own_lines(prompt);
    let sentences = lines.iter().flat_map(|line| line.split_inclusive(['!', '?', ';']));
    sentences.flat_map(|part| part.split(". ")).any(|sentence| requests_id(sentence, id))
}

/// Returns the lines of a prompt that a person typed. What follows a line such as `The log says:` is
/// pasted, and so is what is marked as a quote or as code.
fn own_lines(prompt: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in prompt.lines().filter(|line| !line.trim().is_empty()) {
        let is_pasted = line.starts_with("    ") || line.trim_start().starts_with(PASTED);
        if !is_pasted {
            lines.push(line);
        }
        if line.trim_end().ends_with(':') || line.contains("```") || line.contains("~~~") {
            break;
        }
    }
    match lines.as_slice() {
        [first, .., last] if lines.len() > MAX_LINES => vec![first, last],
        _ => lines,
    }
}

fn requests_id(sentence: &str, id: &str) -> bool {
    // People leave out the prefix of `openspec:add-login`. A name like `1.17` may be anything.
    let (prefix, id) = id.split_once(':').unwrap_or(("", id));
    if !prefix.is_empty() && !id.contains('-') {
        return false;
    }
    let words: Vec<String> = sentence
        .split(|c: char| !(c.is_alphanumeric() || "-_.'’".contains(c)))
        .map(|word| word.trim_end_matches(['.', '-', '\'']).replace('’', "'").to_lowercase())
        .filter(|word| !word.is_empty() && word != prefix)
        .collect();
    let Some(at) = words.iter().position(|word| *word == id.to_lowercase()) else { return false };
    let is_quoted = sentence.contains(['"', '`', '“', '«']);
    if is_quoted || words.iter().any(|word| is_listed(DENIES, word)) {
        return false;
    }
    let first = words.iter().position(|word| !is_listed(BEFORE_VERB, word)).unwrap_or_default();
    // The id alone, with at most words of courtesy, is a request too.
    first == at && words.iter().skip(at + 1).all(|word| is_listed(BEFORE_VERB, word))
        || words[..at].iter().take(first + 1).any(|word| is_listed(VERBS, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_the_intent_to_work_on() {
        for prompt in [
            "Go on with int-002.",
            "please do INT-002",
            "INT-002",
            "int-002, please!",
            "OK, now switch to INT-002 and write the tests.",
            "Thanks. Could you start INT-002 next?",
            "Let's work on INT-002",
            "I want you to implement INT-002: the invoice page.",
            "That is fine.\nContinue with INT-002.",
            "I'd like you to take INT-002",
            "intent select INT-002",
            "Implement INT-002 and INT-003.",
        ] {
            let asks = asks_for(prompt, "INT-002");
            // A program's name before the verb is no sentence of a person.
            assert_eq!(asks, prompt != "intent select INT-002", "{prompt}");
        }
    }

    #[test]
    fn the_prefix_of_an_id_may_be_left_out() {
        for prompt in ["openspec:add-login", "please do add-login", "Work on openspec:add-login."] {
            assert!(asks_for(prompt, "openspec:add-login"), "{prompt}");
        }
        for (prompt, id) in [
            ("do not touch add-login", "openspec:add-login"),
            ("add-login-page", "openspec:add-login"),
            ("Fix 1.17", "bmad:1.17"),
        ] {
            assert!(!asks_for(prompt, id), "{prompt}");
        }
    }

    #[test]
    fn a_mention_is_no_request() {
        for prompt in [
            "do NOT touch INT-002",
            "Do everything except INT-002.",
            "Don't switch to INT-002 yet",
            "Please never work on INT-002",
            "Work on INT-001 instead of INT-002.",
            "Finish INT-001 before INT-002",
            "Leave INT-002 alone, fix the test",
            "What is INT-002 about?",
            "Is INT-002 done?",
            "Is INT-0021 done? And INT-003?",
            "PRINT-002",
            "INT-002 is somebody else's",
            "Fix this:\nintent select INT-002\nerror: refused",
            "Here is the log:\n\nswitch to INT-002\nstart INT-002",
            "Why?\n> start INT-002",
            "Why?\n```\nstart INT-002\n```",
            "Why?\n    start INT-002",
            "Why?\n$ intent select INT-002",
            "[12:01] start INT-002",
            "The page says \"switch to INT-002\"",
            "one\ntwo\nthree\nfour\nstart INT-002\nfive\nsix\nseven\neight\nnine",
            "The agent wanted to switch to INT-002",
            "",
        ] {
            assert!(!asks_for(prompt, "INT-002"), "{prompt}");
        }
    }
}
