//! `intent-lsp`: why is this code here? The command line, which starts the other faces: language
//! server, MCP server and agent hook.
//!
//! The crates and the direction of their arrows are in `ARCHITECTURE.md`.

pub mod cli;

pub use cli::main;
