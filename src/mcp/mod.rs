//! The MCP server: protocol in, protocol out. No policy and no file format is known here.
//!
//! ```text
//! stdin ─▶ transport ─▶ server ─▶ tools/…, resources, prompts ─▶ verbs
//! stdout ◀─ transport ◀─ answer ◀──────────┘
//! ```
//!
//! The library (`rmcp`) knows the protocol's types and both of its eras: the one that begins with `initialize`, and the
//! one in which every request speaks for itself. Tool calls take turns in the order in which they arrived, so that what
//! follows a selection sees it; those that only read go side by side.

mod answer;
mod prompts;
mod resources;
mod schema;
mod server;
mod session;
mod tools;
mod transport;

#[cfg(test)]
mod tests;

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use tracing_subscriber::EnvFilter;

use server::Server;
use session::{Connection, Start};
use tools::ToolTable;
use transport::ClientStreams;

/// Serves one client over standard input and output until it closes the stream. Relative paths start in the folder that
/// a person `named` when they configured the server; else in the client's own root; else in `folder`. Logs go to standard
/// error; `INTENT_LOG` says how much.
#[must_use]
pub(crate) fn run(folder: PathBuf, named: Option<PathBuf>) -> ExitCode {
    log();
    let session = match named {
        Some(named) => Connection::new(named, Start::Folder),
        None => Connection::new(folder, Start::FolderOrRoot),
    };
    let server = Server::new(session, ToolTable::new());
    match serve(server, io::stdin(), io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the server cannot be started");
            ExitCode::FAILURE
        }
    }
}

fn serve(
    server: Server,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    // One thread for the protocol: what arrives first is begun first. The verbs run on threads of their own.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let (lines, written) = ClientStreams::start(input, output)?;
    let ended = runtime.block_on(async {
        // Without the library's handshake, which ends the process when a client begins with anything unexpected.
        rmcp::service::serve_directly(server, lines, None).waiting().await
    });
    if let Err(error) = ended {
        tracing::error!(%error, "the server ended early");
    }
    written.wait();
    runtime.shutdown_background();
    Ok(())
}

fn log() {
    let filter = EnvFilter::try_from_env("INTENT_LOG").unwrap_or_else(|_| EnvFilter::new("error"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    if subscriber.with_writer(io::stderr).try_init().is_ok() {
        std::panic::set_hook(Box::new(|panic| {
            tracing::error!(%panic, "a fault of the server");
        }));
    }
}
