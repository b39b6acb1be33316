//! Finds objections against a command because of what it is, applies the policy's rules for commands
//! and paths, and decides whether a command must run behind the fence.

use super::{Denial, DenialCode};
use ground::policy::{Policy, Rule, RuleDecision};
use ground::text::shell_word;
use ground::{Environment, RelativePath, session};
use intents::Scope;
use shell::{Class, Invocation, Prediction, matches_rule};

/// Returns the objection to commands of this program in a text, when this actor runs them.
/// `selected` returns the intent that is selected where a command with these arguments acts.
pub(super) fn of_ours(
    reading: &Prediction,
    actor: &str,
    selected: impl Fn(&[String]) -> Option<String>,
) -> Option<Denial> {
    for_people(reading).or_else(|| {
        let is_ours = |one: &&Invocation| {
            one.program.as_deref().is_some_and(|program| shell::OUR_NAMES.contains(&program))
        };
        let mut ours = reading.commands.iter().filter(is_ours);
        ours.find_map(|command| misused(reading, &command.words, actor, &selected))
    })
}

/// The options of `intent record` that are for people.
const PERSONAL_OPTIONS: [&str; 3] = ["--me", "--yes", "--undo"];

fn misused(
    reading: &Prediction,
    words: &[String],
    actor: &str,
    selected: impl Fn(&[String]) -> Option<String>,
) -> Option<Denial> {
    let arguments = words.get(1..)?;
    let value = |name: &str| {
        let at = words.iter().position(|word| word == name);
        let next = at.and_then(|at| words.get(at + 1)).map(String::as_str);
        next.or_else(|| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('=')))
    };
    let verb = arguments.get(shell::verb(arguments)?)?.as_str();
    let (session, _) = session::actor_parts(actor);
    let is_selected = |id: &str| selected(arguments).as_deref() == Some(id);
    let is_other = |option: &str, own: &[&str]| value(option).is_some_and(|it| !own.contains(&it));
    let is_plain = || shell::selects(arguments).and(shell::own_command(reading)).is_some();
    if verb == "select" && !is_plain() {
        let message = format!(
            "An intent is selected by a command of its own, without a pipe, a redirection or other options, so that it is known who selects. Run exactly `{}`.",
            plain_selection(reading, words)
        );
        return Some(Denial::new(DenialCode::PlainCommandRequired, message));
    }
    let why = match verb {
        "record" if value("--intent").is_some_and(|id| !is_selected(id)) => {
            "an agent records under the intent that it has selected. Leave out `--intent`; a person settles what was written for another one"
        }
        "record" if is_other("--session", &[actor, session]) => {
            "an agent records its own session. Leave out `--session`"
        }
        "record" if is_other("--contributor", &["ai"]) => {
            "an agent records its own work. Leave out `--contributor`"
        }
        "record" if words.iter().any(|word| PERSONAL_OPTIONS.contains(&word.as_str())) => {
            "an agent records its own work, claims no code of others and takes no record back. Leave out `--me`, `--yes` and `--undo`"
        }
        _ => return None,
    };
    let message = format!("`{}` is not run: {why}.", words.join(" "));
    Some(Denial::new(DenialCode::ProtectedPath, message))
}

/// Returns the plain form of a command that selects an intent: `intent -C src select INT-001` for
/// `cd src && intent select INT-001 2>&1`.
fn plain_selection(reading: &Prediction, words: &[String]) -> String {
    let before = reading.commands.iter().take_while(|command| command.words != words);
    let entered = before.filter(|command| command.program.as_deref() == Some("cd"));
    let entered = entered.filter_map(|command| command.words.get(1)).map(String::as_str);
    let (arguments, named) = words.get(1..).map_or((words, None), shell::past_folder);
    let mut folder = std::path::PathBuf::new();
    folder.extend(entered.chain(named));
    let is_id = |word: &&String| !word.starts_with('-') && *word != "select";
    let id = arguments.iter().find(is_id).map_or("ID", String::as_str);
    match folder.to_string_lossy() {
        here if here.is_empty() => format!("intent select {}", shell_word(id)),
        there => format!("intent -C {} select {}", shell_word(&there), shell_word(id)),
    }
}

fn for_people(reading: &Prediction) -> Option<Denial> {
    let command = reading.commands.iter().find(|command| {
        command.rule.starts_with("intent.") && command.class == Class::Destructive
    })?;
    let message = format!(
        "`{}` is for people, in a terminal of their own: an agent neither approves itself nor changes the registry, its session or its hooks. Ask the user to run it; a wider scope or a new intent is proposed with `intent request-scope` or `intent propose`.",
        command.words.join(" ")
    );
    Some(Denial::new(DenialCode::ProtectedPath, message).decided_by(&command.rule))
}

/// Returns the objection to a command line. The rules of the policy come first, then the class of
/// the command line. The first rule that applies to a command decides about it. `is_everyday` says
/// about which grave commands nobody needs to be asked.
pub(super) fn objection(
    policy: &Policy,
    reading: &Prediction,
    targets: &[RelativePath],
    is_everyday: impl Fn(&Invocation) -> bool,
) -> Option<Denial> {
    let rules = policy.rules.iter().filter_map(|rule| Some((rule, rule.command.as_deref()?)));
    let rules: Vec<(&Rule, &str)> = rules.filter(|(rule, _)| paths_fit(rule, targets)).collect();
    let deciding = |command: &Invocation| {
        rules.iter().copied().find(|(_, pattern)| matches_rule(pattern, command))
    };
    let against = reading.commands.iter().filter_map(deciding);
    let against = against.filter(|(rule, _)| rule.decision != RuleDecision::Allow);
    // If one rule denies and another one asks, the denial is reported.
    if let Some((rule, pattern)) =
        against.min_by_key(|(rule, _)| rule.decision != RuleDecision::Deny)
    {
        return Some(by_rule(rule, pattern));
    }
    // Rules that allow must match every dangerous command: one that allows `rm -r build` does not
    // let `rm -r build; sudo reboot` pass.
    let is_grave =
        |command: &&Invocation| matches!(command.class, Class::Destructive | Class::Unreadable);
    let mut graves = reading.commands.iter().filter(is_grave).peekable();
    let is_allowed = graves.peek().is_some()
        && graves.all(|command| deciding(command).is_some() || is_everyday(command));
    if is_allowed { None } else { by_class(reading) }
}

/// Returns the objection of the policy's rules for paths to a write. The first rule that names a
/// path decides about it.
pub(super) fn by_path(policy: &Policy, paths: &[RelativePath]) -> Option<Denial> {
    let rules = policy.rules.iter().filter(|rule| rule.command.is_none());
    let rules: Vec<(&Rule, Scope)> = rules.map(|rule| (rule, Scope::new(&rule.paths))).collect();
    let against = paths.iter().filter_map(|path| {
        let (rule, _) = rules.iter().find(|(_, scope)| scope.owns(path))?;
        (rule.decision != RuleDecision::Allow).then_some((rule, path))
    });
    // If one rule denies and another one asks, the denial is reported.
    let (rule, path) = against.min_by_key(|(rule, _)| rule.decision != RuleDecision::Deny)?;
    Some(by_rule(rule, path.as_str()).about_path(path))
}

/// Returns true if the paths of a rule for commands fit the targets of a command line. If the rule
/// names paths and allows, it must name every target; if it asks or denies, it must name any.
fn paths_fit(rule: &Rule, targets: &[RelativePath]) -> bool {
    if rule.paths.is_empty() {
        return true;
    }
    let scope = Scope::new(&rule.paths);
    let inside = |path: &RelativePath| scope.owns(path);
    match rule.decision {
        RuleDecision::Allow => !targets.is_empty() && targets.iter().all(inside),
        RuleDecision::Ask | RuleDecision::Deny => targets.iter().any(inside),
    }
}

pub(super) fn mentioned(path: &RelativePath, denial: Denial) -> Denial {
    let message = format!(
        "The command's own text names {path}, and what it does there cannot be read. {} If it is only looked at, use a command that reads.",
        denial.message
    );
    Denial { code: DenialCode::ApprovalRequired, message, ..denial }
}

fn by_rule(rule: &Rule, what: &str) -> Denial {
    let (code, does) = match rule.decision {
        RuleDecision::Deny => (DenialCode::DestructiveBlocked, "forbids"),
        _ => (DenialCode::ApprovalRequired, "lets a person decide on"),
    };
    let reason = rule.reason.as_deref().map(|reason| format!(" {reason}")).unwrap_or_default();
    let message = format!("A rule in .orchestration/policy.yaml {does} {what}.{reason}");
    Denial::new(code, message).decided_by("policy")
}

fn by_class(reading: &Prediction) -> Option<Denial> {
    if !matches!(reading.class, Class::Destructive | Class::Unreadable) {
        return None;
    }
    let word = reading.word.as_ref().map(|word| format!("`{word}`: ")).unwrap_or_default();
    let safer = reading.safer.as_ref().map(|safer| format!(" {safer}")).unwrap_or_default();
    let message = format!("{word}{}{safer}", reading.reason);
    Some(Denial::new(DenialCode::ApprovalRequired, message).decided_by(&reading.rule))
}

pub(super) fn needs_fence(
    readings: &[Prediction],
    intent: &str,
    environment: &Environment,
) -> bool {
    let is_opaque =
        |reading: &Prediction| reading.class == Class::Opaque || opaque(reading).is_some();
    let is_open = |reading| !is_behind(reading, intent, environment);
    readings.iter().any(|reading| is_opaque(reading) && is_open(reading))
}

fn opaque(reading: &Prediction) -> Option<&Invocation> {
    reading.commands.iter().find(|command| command.class == Class::Opaque)
}

/// Returns true if the command is `intent fence --intent ID -- …` and nothing else. With another
/// intent, or with none, the fence would permit other folders.
fn is_behind(reading: &Prediction, intent: &str, environment: &Environment) -> bool {
    let outer = reading.commands.iter().find(|command| command.via.is_empty());
    let program = outer.and_then(|command| command.words.first());
    // A program with this name in another folder may be any program.
    let is_ours = program.is_some_and(|program| {
        shell::OUR_NAMES.contains(&program.as_str())
            || environment.program().is_some_and(|ours| ours == std::path::Path::new(program))
    });
    if !is_ours {
        return false;
    }
    matches!(shell::own_command(reading), Some([fence, option, id, end, ..])
        if fence == "fence" && option == "--intent" && id == intent && end == "--")
}

pub(super) fn unfenced(readings: &[Prediction], intent: &str) -> Denial {
    let program = readings.iter().find_map(|reading| opaque(reading)?.program.as_deref());
    let word = || readings.iter().find_map(|reading| reading.word.as_deref());
    let word = program.or_else(word).unwrap_or("this");
    let message = format!(
        "`{word}` may change any file, and the policy of this workspace (`fence: require`) lets such commands run behind the fence only. Run the whole command as `intent fence --intent {} -- sh -c 'COMMAND'`, as a command of its own: then it can write what {intent} owns, ignored outputs and what git needs, and nothing else.",
        shell_word(intent)
    );
    Denial::new(DenialCode::FenceRequired, message).about_intent(intent)
}
