//! Ledgers of earlier systems that a person imported. They lie in the folder of the ledger, so that
//! commits carry them, and keep their bytes. Whatever is in such a file is a record of another tool,
//! also a line that looks like one of ours.

use ground::RelativePath;

pub const FOLDER: &str = ".orchestration/agent_trace/imported";

pub fn is_imported(path: &RelativePath) -> bool {
    path.as_str().strip_prefix(FOLDER).is_some_and(|rest| rest.starts_with('/'))
}
