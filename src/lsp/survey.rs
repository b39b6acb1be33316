//! What is known of a workspace as a whole: what is wrong in its registry, policy, ignore files and ledger, and which files it has.
//!
//! Found once for each loading, at first need, on a worker. The list of files is kept a while longer: agents write
//! records all the time, and a walk of a large tree for each of them would cost more than it tells.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::analysis::hold;
use crate::intent::Registry;
use crate::verbs::check::{self, CheckRequest, FindingAnswer};
use crate::verbs::judgement::Rules;
use crate::verbs::{Workspace, verify};
use crate::workspace::{Finding, RelativePath, ignores};

/// How long the list of files is good while the registry's text stays as it is.
const FILES_KEEP: Duration = Duration::from_secs(10);

/// What was found of one state of a workspace.
pub(crate) struct Survey {
    /// Everything wrong in policy, registry, ignore files and ledger.
    pub(crate) findings: Vec<Finding>,
    /// Every file that git does not ignore, sorted.
    pub(crate) files: Arc<Vec<RelativePath>>,
    /// What `intent check` finds in the work tree; found when first asked for.
    checked: OnceLock<Vec<FindingAnswer>>,
    /// The rules, with what a person approved; found when first asked for.
    rules: OnceLock<Rules>,
    /// What stands against files that are gone; found when first asked for.
    gone: OnceLock<Vec<Finding>>,
    /// Made anew at each loading, so it stands for one state of the disk.
    registry: Arc<Registry>,
    walked: Instant,
}

/// The surveys of all workspaces, each filled under its own lock.
#[derive(Default)]
pub(crate) struct Surveys(Mutex<HashMap<PathBuf, Slot>>);

type Slot = Arc<Mutex<Option<Arc<Survey>>>>;

impl Surveys {
    /// The survey of this state of the workspace.
    pub(crate) fn of(&self, workspace: &Workspace) -> Arc<Survey> {
        let root = workspace.root.path().to_owned();
        let slot = Arc::clone(hold(&self.0).entry(root).or_default());
        let mut slot = hold(&slot);
        if let Some(known) = slot.as_ref()
            && Arc::ptr_eq(&known.registry, &workspace.registry)
        {
            return Arc::clone(known);
        }
        let (files, walked) = match slot.as_ref().filter(|known| known.keeps(workspace)) {
            Some(known) => (Arc::clone(&known.files), known.walked),
            None => (Arc::new(ignores::walk(&workspace.root)), Instant::now()),
        };
        let findings = verify::findings_among(workspace, &files);
        let registry = Arc::clone(&workspace.registry);
        let survey = Arc::new(Survey {
            findings,
            files,
            checked: OnceLock::new(),
            rules: OnceLock::new(),
            gone: OnceLock::new(),
            registry,
            walked,
        });
        *slot = Some(Arc::clone(&survey));
        survey
    }
}

impl Survey {
    /// The rules, with what a person approved.
    pub(crate) fn rules(&self, workspace: &Workspace) -> &Rules {
        self.rules.get_or_init(|| check::rules(workspace))
    }

    /// What stands against files that are gone from the work tree.
    pub(crate) fn gone(&self, workspace: &Workspace) -> &[Finding] {
        self.gone.get_or_init(|| check::gone(workspace).unwrap_or_default())
    }

    /// What `intent check` finds in the work tree. Where it cannot be checked: what is wrong in what governs it.
    pub(crate) fn checked(&self, workspace: &Workspace) -> &[FindingAnswer] {
        self.checked.get_or_init(|| {
            let checked = check::change(workspace, &CheckRequest::default());
            checked
                .map_or_else(|_| check::answers(workspace, self.findings.clone()), |it| it.findings)
        })
    }

    fn keeps(&self, workspace: &Workspace) -> bool {
        self.walked.elapsed() < FILES_KEEP && self.registry.same_text(&workspace.registry)
    }
}
