//! `intent agent explain --batch`: says how shell commands are understood, without running them.

use schemars::JsonSchema;
use serde::Serialize;

use shell::{Class, CommandContext, Dialect, Prediction, TouchedPath, read};

/// The answer to one line of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExplainAnswer {
    /// How the gate classifies the command.
    pub class: Class,
    /// All paths that the command would touch.
    pub targets: Vec<TouchedPath>,
    /// The rule that decided; `input` if the line is not a JSON string.
    pub rule: String,
}

pub fn verdict(line: &str, dialect: Dialect, at: &CommandContext) -> ExplainAnswer {
    let Ok(command) = serde_json::from_str::<String>(line) else {
        let rule = "input".to_owned();
        return ExplainAnswer { class: Class::Unreadable, targets: Vec::new(), rule };
    };
    let Prediction { class, targets, rule, .. } = read(&command, dialect, at);
    ExplainAnswer { class, targets, rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_takes_json_strings_and_nothing_else() {
        let at = CommandContext { cwd: "/work/app".into(), ..CommandContext::default() };
        let class = |line: &str| {
            let verdict = verdict(line, Dialect::Posix, &at);
            (verdict.class, verdict.rule)
        };
        assert_eq!(class(r#""ls -la""#), (Class::Read, "program.reads".to_owned()));
        assert_eq!(class(r#""git reset --hard""#).0, Class::Destructive);
        for line in ["ls -la", "", "[\"ls\"]", "null", "\"ls", "12"] {
            assert_eq!(class(line), (Class::Unreadable, "input".to_owned()), "{line}");
        }
    }
}
