//! Puts up the fence with Landlock. Landlock can only grant access, so if something below a folder
//! is read-only, the other entries of the folder are granted one by one, and nothing new can be
//! created in it.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};

use super::{FenceAccess, FencePlan};

/// The first version of Landlock that controls the truncation of files. Landlock is not used on
/// kernels with an older version.
const LEAST: ABI = ABI::V3;
/// At most this many entries of a folder are granted; the others stay read-only.
const MAX_ENTRIES: usize = 20_000;

pub(super) fn is_here() -> bool {
    ruleset().is_ok()
}

fn ruleset() -> Result<landlock::RulesetCreated, landlock::RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(LEAST))?
        .create()
}

pub(super) fn enter(plan: &FencePlan) -> Result<(), String> {
    let failure = |error: &dyn std::fmt::Display| format!("Landlock cannot be used: {error}.");
    let mut rules = ruleset().map_err(|error| failure(&error))?;
    for path in paths_to_grant(plan, Path::new("/")) {
        // A path that cannot be opened cannot be written either.
        let Ok(open) = PathFd::new(&path) else { continue };
        let all = AccessFs::from_write(LEAST);
        let access = if path.is_dir() { all } else { all & AccessFs::from_file(LEAST) };
        rules = rules.add_rule(PathBeneath::new(open, access)).map_err(|error| failure(&error))?;
    }
    let status = rules.restrict_self().map_err(|error| failure(&error))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        _ => Err("Landlock is enforced by this kernel in part only.".to_owned()),
    }
}

/// Returns the paths to grant, such that nothing below them is read-only.
fn paths_to_grant(plan: &FencePlan, folder: &Path) -> Vec<PathBuf> {
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
    // A rule for a symbolic link would grant its target. The target is granted at its own path if
    // it is writable.
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    entries.flat_map(|entry| paths_to_grant(plan, &entry.path())).collect()
}

/// Returns the paths to grant below a read-only folder: the outermost writable places in it.
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
    found.iter().flat_map(|hole| paths_to_grant(plan, hole)).collect()
}
