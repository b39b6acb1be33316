//! The same plan by Landlock, which can only grant: where something below a folder is kept, the folder's other entries
//! are granted one by one, and nothing new can be made in it.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};

use super::{FenceAccess, FencePlan};

/// Truncating is under control from here on. What a kernel does not have, it does not enforce, so less is refused.
const LEAST: ABI = ABI::V3;
/// A folder with more entries than this is not granted entry by entry.
const MAX_ENTRIES: usize = 20_000;

/// Whether this kernel has it.
pub(super) fn is_here() -> bool {
    ruleset().is_ok()
}

fn ruleset() -> Result<landlock::RulesetCreated, landlock::RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(LEAST))?
        .create()
}

/// Restricts this process and what it starts, or says why not.
pub(super) fn enter(plan: &FencePlan) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("Landlock cannot be used: {error}.");
    let mut rules = ruleset().map_err(|error| told(&error))?;
    for path in granted(plan, Path::new("/")) {
        // What cannot be opened cannot be written either.
        let Ok(open) = PathFd::new(&path) else { continue };
        let all = AccessFs::from_write(LEAST);
        let access = if path.is_dir() { all } else { all & AccessFs::from_file(LEAST) };
        rules = rules.add_rule(PathBeneath::new(open, access)).map_err(|error| told(&error))?;
    }
    let status = rules.restrict_self().map_err(|error| told(&error))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        _ => Err("Landlock is enforced by this kernel in part only.".to_owned()),
    }
}

/// What may be written, so that nothing that is kept lies below.
fn granted(plan: &FencePlan, folder: &Path) -> Vec<PathBuf> {
    let keeps = |place: &&super::FencedPlace| {
        matches!(place.access, FenceAccess::ReadOnly | FenceAccess::Masked)
            && place.path.starts_with(folder)
    };
    let writable = plan.lets_write(folder);
    if !plan.places.iter().any(|place| keeps(&place)) {
        return if writable { vec![folder.to_owned()] } else { holes(plan, folder) };
    }
    if !writable {
        return holes(plan, folder);
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.flatten().take(MAX_ENTRIES);
    // A link grants what it leads to, which is granted where it stands, or is not to be.
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    entries.flat_map(|entry| granted(plan, &entry.path())).collect()
}

/// The outermost places below a kept folder that may be written.
fn holes(plan: &FencePlan, folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for place in &plan.places {
        let inside = place.path.starts_with(folder) && place.path != folder;
        if inside
            && place.access == FenceAccess::Writable
            && !found.iter().any(|outer| place.path.starts_with(outer))
        {
            found.push(place.path.clone());
        }
    }
    found.iter().flat_map(|hole| granted(plan, hole)).collect()
}
