//! The hook of agents: one process for each call. It reads the host's JSON on standard input, and
//! answers on standard output, on standard error and by its exit code.
//!
//! An adapter holds no policy:
//!
//! - [`host`] lists the hosts that can call the hook.
//! - `detect` recognises which host wrote a payload.
//! - `dialects` turn a payload into an [`Event`](crate::verbs::event::Event), and the result of the
//!   verbs into the format of the host.
//! - `tools`, `effects` and `foreign` work out what a tool would do.
//! - `run` guarantees that the host always has an answer in time.
//! - `install` writes the settings of hosts, and `doctor` examines them.

mod answer;
pub(crate) mod binary;
mod contradiction;
mod detect;
mod dialects;
pub(crate) mod doctor;
mod effects;
mod fields;
mod foreign;
mod heartbeat;
pub(crate) mod host;
mod incoming;
pub(crate) mod install;
mod json;
mod rewrite;
mod run;
mod settings;
mod tools;

pub(crate) use run::run;
