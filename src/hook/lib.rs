//! The hook of agents: one process for each call. It reads the host's JSON on standard input, and
//! answers on standard output, on standard error and by its exit code.
//!
//! An adapter holds no policy: it only translates between the host's format and the verbs.
//!
//! - `answer`: the answer to a host, before a dialect writes it.
//! - `binary`: noticing that another program answers the hooks.
//! - `contradiction`: calls that contradict themselves.
//! - `detect`: recognising which host wrote a payload.
//! - `dialects`: the formats of the hosts, in both directions.
//! - `doctor`: examining whether the agents of this project really call the gate.
//! - `effects`: what a call would do, from the tool's name and input.
//! - `fields`: reading fields of a payload.
//! - `foreign_code`: what a tool that is in no table would run.
//! - `heartbeat`: a note about the last call of each host.
//! - `host`: the hosts that can call the hook, as data.
//! - `incoming`: a payload of a host, translated into the words of this project.
//! - `install`: adding our hook and our MCP server to the settings of a host, and removing them.
//! - `json`: reading JSON as hosts write it.
//! - `rewrite`: replacing a command by the same command behind the fence.
//! - `run`: handling one call, with an answer in time in every case.
//! - `settings_change`: the answer when the settings of Claude Code change during a session.
//! - `tools`: the tools of all hosts, by name, with what each does.
//! - `unknown_tools`: what tools that are in no table would do.

pub mod answer;
pub mod binary;
mod contradiction;
mod detect;
mod dialects;
pub mod doctor;
mod effects;
mod fields;
mod foreign_code;
mod heartbeat;
pub mod host;
pub mod incoming;
pub mod install;
mod json;
mod rewrite;
pub mod run;
mod settings_change;
mod tools;
mod unknown_tools;

pub use run::run;
