//! The tests that call the crates, or start the real binary.
//!
//! They are one program, because each program links every grammar. Run a part of them by its module: `cargo test --test
//! it gate::`. Tests that take a fifth of a second or more are marked `#[ignore = "slow"]`, so `cargo test` leaves them out;
//! `cargo test -- --ignored` runs them, as `.ci/run` does for every change. Generated tests and long lists of cases run
//! a sample with every kind of case; `INTENT_TEST_ALL=1` runs all of them, and `INTENT_FUZZ_SEED=2` another sample.

#[cfg(unix)]
mod append_fault;
mod approvals;
#[cfg(unix)]
mod attacked;
mod attribution;
mod attribution_regressions;
mod bad_input;
mod blocks;
mod calls;
mod ceiling;
#[cfg(unix)]
mod ci;
mod claims;
mod classify;
mod classify_generated;
mod cli;
#[cfg(unix)]
mod day;
mod docs;
mod edits;
mod everyday_git;
#[cfg(target_os = "linux")]
mod fence;
mod fingerprints;
mod gate;
mod git_model;
mod hook;
mod hook_faults;
mod hostile;
mod imported_ledgers;
mod incremental;
mod intent_dialects;
mod intent_edit;
mod ledgers;
mod lessons;
mod lines;
mod lsp_outside;
mod lsp_process;
mod mcp;
mod model;
mod moved_before_commit;
mod mutate;
#[cfg(unix)]
mod patch_real;
mod provenance;
mod registry_load;
mod renamed;
mod replay;
mod scope_table;
mod selections;
mod shell;
mod stale;
mod stories;
mod support;
mod tidy;
mod typing;
mod unforeseen;
mod verify;
mod whose_line;
mod wiring;
