//! `intent-lsp`: why is this code here? One core under four faces: language
//! server, MCP server, agent hook and command line.
//!
//! The rooms and the direction of their arrows are in `ARCHITECTURE.md`; each
//! room knows only the rooms named above it here.

// ground
pub mod code;
pub mod edits;
pub mod workspace;

// knowledge
pub mod fence;
pub mod intent;
pub mod ledger;
pub mod provenance;
pub mod shell;

// verbs
pub mod verbs;

// faces
pub mod cli;
pub mod hook;
pub mod lsp;
pub mod mcp;
