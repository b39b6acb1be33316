//! Prints the intents that clones keep in other formats, for a person to compare with the files:
//!
//! `INTENT_REPOS=DIR cargo run --release -p xtask -- sources`, or with the folders of clones

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ground::{Environment, Root};
use intents::{ImportedIntent, Registry};

/// Prints each intent of each clone in a few lines, and how long it took to read them, first without the cache and then
/// with it.
pub(crate) fn print(folders: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let mut folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    if let Some(all) = std::env::var_os("INTENT_REPOS") {
        let entries = std::fs::read_dir(all)?.filter_map(Result::ok);
        folders.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    folders.sort();
    if folders.is_empty() {
        return Err("name folders of clones, or one with clones in INTENT_REPOS".into());
    }
    for folder in folders {
        let mut out = String::new();
        write_clone(&mut out, &folder)?;
        print!("{out}");
    }
    Ok(())
}

fn write_clone(out: &mut String, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let root = Root::find(folder, &Environment::of_process())?;
    let timed = || {
        let started = Instant::now();
        let registry = Registry::load(&root);
        let many = registry.imported().len();
        (registry, many, started.elapsed())
    };
    let ((_, _, first), (registry, many, again)) = (timed(), timed());
    let name = folder.file_name().unwrap_or_default().display();
    writeln!(out, "{name}: {many} intents, read in {first:.1?}, then in {again:.1?}")?;
    let current = registry.current_work();
    let ids: Vec<&str> = current.iter().map(|one| one.intent.id.value.as_str()).collect();
    writeln!(out, "  worked on: {}", ids.join(" "))?;
    registry.imported().iter().try_for_each(|imported| write_intent(out, imported))?;
    Ok(())
}

fn write_intent(out: &mut String, imported: &ImportedIntent) -> std::fmt::Result {
    let ImportedIntent { intent, tasks, tasks_done, .. } = imported;
    let status = intent.status.as_ref().map_or("no status", |status| status.value.as_str());
    let again = if imported.ambiguous { ", ambiguous" } else { "" };
    let id = &intent.id.value;
    writeln!(out, "  {id}  {:?}  {status} {tasks_done}/{tasks}{again}", intent.name.value)?;
    writeln!(out, "    {}, {}", imported.unit, imported.format.prefix())?;
    let owner = intent.owner.as_ref().map(|owner| &owner.value);
    for (what, text) in
        [("owner", owner), ("why", imported.reason.as_ref()), ("note", imported.note.as_ref())]
    {
        text.map_or(Ok(()), |text| writeln!(out, "    {what}: {text}"))?;
    }
    let (criteria, constraints) = (intent.acceptance_criteria.len(), intent.constraints.len());
    writeln!(out, "    {criteria} criteria, {constraints} constraints")?;
    writeln!(out, "    hints: {}", imported.scope_hints.join(" "))?;
    for one in imported.requirements.iter().take(3) {
        writeln!(out, "    {}:{} {}: {}", one.path, one.line, one.id, one.text)?;
    }
    Ok(())
}
