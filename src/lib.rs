//! `intent-lsp`: why is this code here? One core under four faces: language
//! server, MCP server, agent hook and command line.
//!
//! The rooms and the direction of their arrows are in `ARCHITECTURE.md`; each
//! room knows only the rooms named above it here.

#![warn(unreachable_pub)]
// The documentation is for the people who work on this crate.
#![allow(rustdoc::private_intra_doc_links)]

// ground
mod code;
mod edits;
mod workspace;

// knowledge
mod fence;
mod intent;
mod ledger;
mod provenance;
mod shell;

// verbs
mod verbs;

// faces
mod cli;
mod hook;
mod lsp;
mod mcp;

#[doc(hidden)]
pub mod facade;

pub use cli::main;
