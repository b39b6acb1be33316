//! The agents' hook: one process a call, the host's JSON on standard input, the host's answer on standard output,
//! standard error and in the exit code.
//!
//! An adapter holds no policy. [`host`] says as data who can call us; `dialects` turn a payload into an
//! [`Event`](crate::verbs::event::Event) (`tools`, `effects` and `foreign` read what a tool would do) and what the
//! verbs say into the host's words; `run` keeps the promise that something is always said in time.

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
