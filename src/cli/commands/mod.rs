//! The commands, one file each: arguments, one verb, and how its answer reads.

pub(crate) mod accept;
pub(crate) mod check;
pub(crate) mod clear;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod context;
pub(crate) mod doctor;
pub(crate) mod gate;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod lsp;
pub(crate) mod man;
pub(crate) mod map;
pub(crate) mod new;
pub(crate) mod record;
pub(crate) mod schema;
pub(crate) mod select;
mod shared;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod trace;
pub(crate) mod verify;
pub(crate) mod why;
