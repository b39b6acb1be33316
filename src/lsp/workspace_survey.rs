//! Facts about a workspace as a whole: the findings in its registry, policy, ignore files and open
//! records, and the list of its files.
//!
//! A survey is made on a worker when it is first needed, once for each load of the workspace. The
//! list of files is reused for a while, because agents write records all the time and each would
//! otherwise cost a walk of the whole tree.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use evidence::verify;
use ground::{Finding, RelativePath, ignores};
use intents::Registry;
use judgement::check;
use overview::own_setup::check_request;
use why::Workspace;
use why::findings::{self, FindingAnswer};
use why::rules::Rules;

/// How long the list of files is reused while the text of the registry does not change.
const FILES_KEEP: Duration = Duration::from_secs(10);

pub(crate) struct Survey {
    pub findings: Vec<Finding>,
    /// Every file that git does not ignore, sorted.
    pub files: Arc<Vec<RelativePath>>,
    /// The findings of `intent check` in the work tree. Computed on first use.
    checked: OnceLock<Vec<FindingAnswer>>,
    rules: OnceLock<Rules>,
    gone: OnceLock<Vec<Finding>>,
    /// The registry of the load that this survey describes. Each load makes a new one, so comparing
    /// the pointers tells whether the survey is current.
    registry: Arc<Registry>,
    walked: Instant,
}

impl Survey {
    /// Describes a state of the workspace. Reuses the list of files of an earlier survey for a while.
    pub(super) fn from_workspace(workspace: &Workspace, earlier: Option<&Self>) -> Self {
        let (files, walked) = match earlier.filter(|earlier| earlier.has_current_files(workspace)) {
            Some(earlier) => (Arc::clone(&earlier.files), earlier.walked),
            None => (Arc::new(ignores::walk(&workspace.root)), Instant::now()),
        };
        Self {
            findings: verify::findings_among(workspace, &files),
            files,
            checked: OnceLock::new(),
            rules: OnceLock::new(),
            gone: OnceLock::new(),
            registry: Arc::clone(&workspace.registry),
            walked,
        }
    }

    pub(super) fn is_of(&self, workspace: &Workspace) -> bool {
        Arc::ptr_eq(&self.registry, &workspace.registry)
    }

    pub(crate) fn rules(&self, workspace: &Workspace) -> &Rules {
        self.rules.get_or_init(|| check::rules(workspace))
    }

    pub(crate) fn deleted_file_findings(&self, workspace: &Workspace) -> &[Finding] {
        self.gone.get_or_init(|| check::findings_about_missing_files(workspace).unwrap_or_default())
    }

    /// Returns the findings of `intent check` in the work tree. If the check fails, returns
    /// [`Survey::findings`] instead.
    pub(crate) fn checked(&self, workspace: &Workspace) -> &[FindingAnswer] {
        self.checked.get_or_init(|| match check::change(workspace, &check_request()) {
            Ok(checked) => checked.findings,
            Err(_) => findings::answers(workspace, self.findings.clone()),
        })
    }

    fn has_current_files(&self, workspace: &Workspace) -> bool {
        self.walked.elapsed() < FILES_KEEP && self.registry.same_text(&workspace.registry)
    }
}
