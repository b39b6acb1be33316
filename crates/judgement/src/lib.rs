//! Judges what people and agents do: whether a call may go ahead (the gate), what it did
//! afterwards, and whether a whole change agrees with intents, scopes and ledger (`check`).
//!
//! Everything asks the same rules about one path (`why::rules`), so the editor, the gate and CI
//! never disagree. There is no function that allows what a host would not: the gate answers no
//! opinion, ask or deny.
//!
//! - [`accept`]: a person confirms that a block is right as it is now.
//! - [`after`]: recording what a call of a tool did, after the call.
//! - [`approval`]: the questions that wait for a person, and the person's decisions.
//! - [`check`]: whether a change agrees with the intents, the scopes and the ledger.
//! - `control`: the files that control the gate or the agents.
//! - `earlier`: what files contained before a call, and whether they contain it again.
//! - [`fence_plan`]: what a fenced command may write.
//! - `file`: reading and writing files for an agent that has no file tools.
//! - [`gate`]: whether a call of an agent's tool may go ahead.
//! - `git_settings`: the settings of git that decide which programs it runs.
//! - [`judged_record`]: recording a change together with what the gate says about it.
//! - [`lesson`]: writing down what an agent or a person learned.
//! - [`map`]: which intent has produced which blocks.
//! - [`proposal`]: proposals of an agent that only a person can approve.
//! - [`registry`]: changes to the registry.
//! - `scope_notes`: whether the globs of a scope match the intended files.
//! - `seen_blocks`: what each session knows of a file.
//! - [`selection`]: binding a person or a session to an intent.

pub mod accept;
pub mod after;
pub mod approval;
pub mod check;
mod control;
pub(crate) mod earlier;
pub mod fence_plan;
pub mod file;
pub mod gate;
pub(crate) mod git_settings;
pub mod judged_record;
pub mod lesson;
pub mod map;
pub mod proposal;
pub mod registry;
pub(crate) mod scope_notes;
pub(crate) mod seen_blocks;
pub mod selection;
