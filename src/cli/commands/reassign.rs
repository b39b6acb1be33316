//! `intent evidence reassign`: a person puts recorded blocks under another intent, or under none.

use std::ffi::OsString;

use super::shared;
use crate::cli::person::Terminal;
use crate::cli::print::{GOOD, INTENT, Page, STRONG, WARN};
use crate::cli::target::FileTarget;
use crate::cli::{CliError, Context, Exit};
use evidence::reassign::{ReassignAnswer, ReassignTarget, reassign};
use why::Workspace;

const NOBODY: &str = "nobody";

/// Put recorded code under another intent, or under none
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a person at a terminal of their own: refused without one, and where an agent runs it.
The lines have to be committed. No record is changed: new ones, one for each commit that
brought the lines, say which are meant and who says so; `intent evidence seal` stages them.

Examples:
  intent evidence reassign src/auth/jwt.rs --from INT-001 --to INT-002
  intent evidence reassign src/auth/jwt.rs:42 --from INT-001 --to INT-002
  intent evidence reassign 'src/auth/jwt.rs#Token.verify' --from INT-001 --to INT-002
  intent evidence reassign src/auth/jwt.rs:42 --from INT-001 --to nobody
                                       takes a record back: git's author answers again
  intent evidence reassign 01a20072-1c54-71ce-83dd-ab64dab6b493 --from INT-001 --to INT-002
                                       a record, by the id that `intent trace` shows")]
pub struct ReassignArgs {
    /// The blocks of a file, the one at a line, those of a name, or those of a record
    #[arg(value_name = "PATH[:LINE|#BLOCK] or RECORD")]
    target: OsString,

    /// The intent that the blocks are under now
    #[arg(long, value_name = "ID")]
    from: String,

    /// The intent to put the blocks under, or `nobody`
    #[arg(long, value_name = "ID")]
    to: String,
}

pub fn run(context: &Context, args: ReassignArgs) -> Result<Exit, CliError> {
    Terminal::of_a_person(context)?;
    let (workspace, what) = meant(context, &args.target)?;
    let by = workspace.person();
    let to = Some(args.to.as_str()).filter(|to| !to.eq_ignore_ascii_case(NOBODY));
    let answer = reassign(&workspace, &what, (&args.from, to), by)?;
    context.answer(&answer, |page| show(page, &answer))
}

/// Resolves the argument to blocks. If it is both the name of a file and the id of a record, the
/// file is meant.
fn meant(context: &Context, text: &OsString) -> Result<(Workspace, ReassignTarget), CliError> {
    // The id of a record in evidence ends as a line of a file does: `9f7b8fbe:0`.
    let target = FileTarget::parse(&context.cwd, text);
    let is_file = target.as_ref().is_ok_and(|it| it.path.symlink_metadata().is_ok());
    if let Some(text) = text.to_str().filter(|_| !is_file) {
        let here = context.open_workspace()?;
        if here.ledger.by_id(text).is_some() {
            return Ok((here, ReassignTarget::Record(text.to_owned())));
        }
        // A path may contain a `#`, and so may a name: `a.js#C.#m`.
        let splits = || text.match_indices('#').map(move |(at, _)| (&text[..at], &text[at + 1..]));
        let is_file = |(path, _): &(&str, &str)| context.cwd.join(path).is_file();
        if let Some((path, name)) = splits().find(is_file).or_else(|| splits().next()) {
            let target = FileTarget::without_lines(&context.cwd, path.as_ref());
            let (workspace, path) = context.existing_file(&target)?;
            return Ok((workspace, ReassignTarget::Named(path, name.to_owned())));
        }
    }
    let target = target?;
    let (workspace, path) = context.existing_file(&target)?;
    Ok(match target.line()? {
        Some(line) => (workspace, ReassignTarget::Line(path, line)),
        None => (workspace, ReassignTarget::File(path)),
    })
}

fn show(page: &mut Page, answer: &ReassignAnswer) {
    for block in &answer.blocks {
        page.label(GOOD, "✓");
        match &block.name {
            Some(name) => page.styled(STRONG, name).literal(" in ").text(&block.path),
            None => page.text(&block.path),
        };
        match &answer.to {
            Some(to) => page.literal(" is under ").styled(INTENT, to),
            None => page.literal(" belongs to no intent"),
        };
        page.literal(", and was under ").styled(INTENT, &block.from).end();
    }
    for path in &answer.not_owned {
        let to = answer.to.as_deref().unwrap_or_default();
        page.label(WARN, "!").styled(INTENT, to).literal(" does not own ");
        page.text(path.as_str()).line(", so `intent check --base` will report it");
    }
    shared::print_seal_command(page, "Reassign code");
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn the_id_of_a_record_may_end_like_a_line() {
        let place = tempfile::tempdir().expect("a folder");
        let id = "9f7b8fbeea6c407b4bdc6e8838fa438f:0";
        let record =
            format!("{{\"id\":\"{id}\",\"timestamp\":\"2026-11-30T12:00:00Z\",\"files\":[]}}\n");
        std::fs::create_dir(place.path().join(".orchestration")).expect("a folder");
        std::fs::write(place.path().join(".orchestration/agent_trace.jsonl"), record)
            .expect("written");
        let context = Context::silent(place.path());
        let (_, what) = meant(&context, &OsString::from(id)).expect("a record");
        assert!(matches!(what, ReassignTarget::Record(found) if found == id));
    }

    #[test]
    fn a_path_and_a_name_may_contain_the_mark_between_them() {
        let place = tempfile::tempdir().expect("a folder");
        for file in ["a.js", "b#.md"] {
            std::fs::write(place.path().join(file), "").expect("written");
        }
        let context = Context::silent(place.path());
        for (text, expected) in
            [("a.js#m", "m"), ("a.js#C.#m", "C.#m"), ("b#.md#C# and F#", "C# and F#")]
        {
            let (_, what) = meant(&context, &OsString::from(text)).expect("a block");
            assert!(matches!(what, ReassignTarget::Named(_, name) if name == expected), "{text}");
        }
    }
}
