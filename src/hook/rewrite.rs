//! Replaces a command by the same command behind the fence, for hosts that let a hook change a
//! tool's input without also permitting the call.

use serde_json::Value;

use super::effects::Call;
use super::host::{Family, Host};
use evidence::event::{Asking, Effect};
use ground::Environment;
use ground::text::shell_word;
use shell::Dialect;

const COMMAND: &str = "command";

/// Returns the input of a call that is a single shell command, if its host lets a hook change it.
///
/// Claude Code and VS Code accept a change only together with a decision. The decision is then to
/// ask, and only if somebody can be asked, because the hook never permits a call itself. Codex
/// accepts a change only together with a permission, so its calls are never changed.
pub(super) fn rewritable(
    host: &Host,
    asking: Asking,
    call: &Call,
    effects: &[Effect],
) -> Option<Value> {
    let by_host = match host.family {
        Family::Gemini => true,
        Family::Claude => matches!(host.name, "claude-code" | "vscode") && asking == Asking::Native,
        _ => false,
    };
    let [Effect::Shell { text, dialect: Dialect::Posix, .. }] = effects else { return None };
    let named = call.input.get(COMMAND).and_then(Value::as_str) == Some(text);
    (cfg!(unix) && by_host && named).then(|| call.input.clone())
}

pub(super) fn fenced(input: &Value, intent: &str, environment: &Environment) -> Option<Value> {
    let mut input = input.clone();
    let command = input.get_mut(COMMAND)?;
    *command =
        Value::String(format!("{}{}", prefix(intent, environment)?, shell_word(command.as_str()?)));
    Some(input)
}

/// Returns the call as the agent made it, if the hook has changed it before. So both count as the
/// same call.
pub(super) fn unfenced(call: Call, environment: &Environment) -> Call {
    let command = call.input.get(COMMAND).and_then(Value::as_str);
    let inner = command.and_then(|command| original_command(command, environment));
    let Some(inner) = inner else { return call };
    let mut call = call;
    if let Some(command) = call.input.get_mut(COMMAND) {
        *command = Value::String(inner);
    }
    call
}

fn prefix(intent: &str, environment: &Environment) -> Option<String> {
    let program = environment.program()?;
    let shell =
        ["/bin/bash", "/usr/bin/bash"].iter().find(|shell| std::path::Path::new(shell).exists());
    Some(format!(
        "{} fence --intent {} -- {} -c ",
        shell_word(program.to_str()?),
        shell_word(intent),
        shell.copied().unwrap_or("sh")
    ))
}

/// Returns the original command from a command that this program has put behind the fence. It is
/// the last word, quoted if necessary.
fn original_command(text: &str, environment: &Environment) -> Option<String> {
    let program = shell_word(environment.program()?.to_str()?);
    let rest = text.strip_prefix(&program)?.strip_prefix(" fence --intent ")?;
    let (intent, _) = rest.split_once(" -- ")?;
    let word = rest.split_once(" -c ")?.1;
    let unquoted = match word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
        Some(quoted) => quoted.replace("'\\''", "'"),
        None => word.to_owned(),
    };
    // Accept only the exact text that this program would have written.
    (format!("{}{}", prefix(intent, environment)?, shell_word(&unquoted)) == text)
        .then_some(unquoted)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_command_goes_behind_the_fence_and_comes_back() {
        let environment = &Environment::of_process();
        for text in ["make test", "echo 'a b' \"$x\" | tee x", "true", "it's -- -c fence", "a\nb"] {
            let input = json!({ "command": text, "timeout": 5 });
            let behind = fenced(&input, "INT-001", environment).expect("rewritten");
            let command = behind["command"].as_str().expect("a text").to_owned();
            assert!(command.contains(" fence --intent INT-001 -- "), "{command}");
            assert_eq!(behind["timeout"], 5);
            let call = Call { tool: "Bash".to_owned(), input: behind };
            assert_eq!(unfenced(call, environment).input, input, "{command}");
            // A command with an addition at its end is another command.
            let more = json!({ "command": format!("{command}; true") });
            let call = Call { tool: "Bash".to_owned(), input: more.clone() };
            assert_eq!(unfenced(call, environment).input, more);
        }
    }
}
