//! Glob patterns, and the patterns for commands in rules that people write.

use super::Invocation;
use super::own_commands::{self, OUR_NAMES};

/// Returns true if the pattern of a rule matches an invocation.
///
/// A pattern is a program, optionally followed by leading words: `git push` matches every `git
/// push`, whatever follows. `*` matches any one word, and `**` any number of words, including none.
/// Within a word, `*` and `?` match characters (`npm run test:*`). The program is compared without
/// its folder. A command of this program that has two spellings is matched in both.
pub fn matches_rule(pattern: &str, invocation: &Invocation) -> bool {
    let Some(program) = &invocation.program else { return false };
    let given = invocation.words.get(1..).unwrap_or_default();
    let mut wanted = pattern.split_whitespace().map(str::to_owned);
    match wanted.next().as_deref() {
        None => return false,
        Some("**") => return true,
        Some(first) if first != "*" && !wild(first, program) => return false,
        Some(_) => {}
    }
    let wanted: Vec<String> = wanted.collect();
    if !OUR_NAMES.contains(&program.as_str()) {
        return begins_with(&wanted, given);
    }
    let short = own_commands::short(given);
    let grouped = own_commands::grouped(&short);
    let fits = |wanted: &[String]| begins_with(wanted, &short) || begins_with(wanted, &grouped);
    fits(&wanted) || fits(&own_commands::short(&wanted))
}

/// Returns true if the arguments begin with words that match those of a pattern.
fn begins_with(wanted: &[String], given: &[String]) -> bool {
    let mut given = given.iter();
    for word in wanted {
        if word == "**" {
            return true;
        }
        match given.next() {
            Some(given) if word == "*" || wild(word, given) => {}
            _ => return false,
        }
    }
    true
}

/// Returns true if a text matches a glob pattern of `*`, `?` and `[…]`.
pub fn wild(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some('[') => {
                if let Some((fits, next)) = set(&pattern, p, text[t]) {
                    if fits {
                        p = next;
                        t += 1;
                        continue;
                    }
                } else if text[t] == '[' {
                    p += 1;
                    t += 1;
                    continue;
                }
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
                continue;
            }
            _ => {}
        }
        let Some((at, from)) = star else { return false };
        star = Some((at, from + 1));
        p = at + 1;
        t = from + 1;
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Matches a character against the set `[…]` at `start`. Returns whether it matches and the index
/// after the set, or `None` if the `[` is not closed.
fn set(pattern: &[char], start: usize, c: char) -> Option<(bool, usize)> {
    let close = (start + 2..pattern.len()).find(|at| pattern[*at] == ']')?;
    let mut inside = &pattern[start + 1..close];
    let negated = matches!(inside.first(), Some('!' | '^'));
    if negated {
        inside = &inside[1..];
    }
    let mut fits = false;
    let mut at = 0;
    while at < inside.len() {
        if inside.get(at + 1) == Some(&'-') && at + 2 < inside.len() {
            fits |= (inside[at]..=inside[at + 2]).contains(&c);
            at += 3;
        } else {
            fits |= inside[at] == c;
            at += 1;
        }
    }
    Some((fits != negated, close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;

    fn invocation(words: &str) -> Invocation {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        Invocation {
            program: Some(words[0].rsplit('/').next().expect("a name").to_owned()),
            words,
            via: Vec::new(),
            class: Class::Opaque,
            rule: String::new(),
            hidden: false,
        }
    }

    #[test]
    fn a_rule_names_a_program_and_its_first_words() {
        let cases = [
            ("git push", "git push origin main", true),
            ("git push", "/usr/bin/git push", true),
            ("git push", "git pull", false),
            ("git push", "git", false),
            ("npm run *", "npm run build", true),
            ("npm run *", "npm run", false),
            ("npm run test:*", "npm run test:unit --watch", true),
            ("npm run test:*", "npm run build", false),
            ("cargo **", "cargo", true),
            ("cargo ** nonsense", "cargo test", true),
            ("** ", "anything at all", true),
            ("*", "anything", true),
            ("", "anything", false),
            ("docker * rm", "docker volume rm x", true),
            ("gi", "git", false),
        ];
        for (pattern, words, expected) in cases {
            assert_eq!(matches_rule(pattern, &invocation(words)), expected, "{pattern}: {words}");
        }
        let hidden = Invocation { program: None, ..invocation("rm x") };
        assert!(!matches_rule("rm", &hidden), "a program that is not known fits no rule");
    }

    #[test]
    fn globs_match_as_in_a_shell() {
        for (pattern, text, expected) in [
            ("r?", "rm", true),
            ("r[a-z]", "rm", true),
            ("r[!a-l]", "rm", true),
            ("[rR]m", "rm", true),
            ("r[^m]", "rm", false),
            ("*", "", true),
            ("*m*", "rm", true),
            ("r", "rm", false),
            ("a*b*c", "aXbXbc", true),
            ("[", "[", true),
        ] {
            assert_eq!(wild(pattern, text), expected, "{pattern} {text}");
        }
    }
}
