//! The MCP server. It translates between the protocol and the verbs, and knows no policy and no
//! file format.
//!
//! ```text
//! stdin ─▶ transport ─▶ server ─▶ tools/…, resources, prompts ─▶ verbs
//! stdout ◀─ transport ◀─ answer ◀──────────┘
//! ```
//!
//! The library (`rmcp`) provides the types of the protocol in both of its generations: the one that
//! begins with `initialize`, and the one in which every request is independent. Tool calls that
//! write run one at a time in the order in which they arrived, so that a call after a selection
//! sees it. Calls that only read run in parallel.
//!
//! - `answer`: the answers of tools.
//! - `prompts`: the prompt that a person can send to their agent.
//! - `resources`: what a client can read without calling a tool.
//! - `schema`: JSON Schemas of arguments and answers, in a form that every client can read.
//! - `server`: answering the requests of the protocol.
//! - `session`: the client at the other end, and the folder in which its relative paths start.
//! - `tools`: the table of tools, and what each calls.
//! - `transport`: messages on standard input and output, one per line.

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
use std::sync::mpsc::RecvTimeoutError;

use ground::Environment;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

use server::Server;
use session::{Connection, Start};
use transport::{ClientStreams, LAST_WORDS};

/// Serves one client over standard input and output until the client closes the stream.
///
/// Relative paths start in the folder `named`, which a person configured; else in the client's
/// root; else in `folder`. Logs go to standard error, and `INTENT_LOG` sets their level.
#[must_use]
pub fn run(environment: Environment, folder: PathBuf, named: Option<PathBuf>) -> ExitCode {
    log();
    let session = match named {
        Some(named) => Connection::new(environment, named, Start::Folder),
        None => Connection::new(environment, folder, Start::FolderOrRoot),
    };
    let server = Server::new(session, tools::tool_table());
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
    // One thread handles the protocol, so that requests are started in the order in which they
    // arrive. The verbs run on threads of their own.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let (lines, written) = ClientStreams::start(input, output)?;
    let ended = runtime.block_on(async {
        // The library's own handshake is not used: it ends the process if the first message of a
        // client is unexpected.
        rmcp::service::serve_directly(server, lines, None).waiting().await
    });
    if let Err(error) = ended {
        tracing::error!(%error, "the server ended early");
    }
    if written.recv_timeout(LAST_WORDS) == Err(RecvTimeoutError::Timeout) {
        tracing::debug!("the client stopped reading before the last messages");
    }
    runtime.shutdown_background();
    Ok(())
}

fn log() {
    let filter = std::env::var("INTENT_LOG").ok().and_then(|wanted| wanted.parse().ok());
    let filter: Targets = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::ERROR));
    let lines = tracing_subscriber::fmt::layer().with_ansi(false);
    let lines = lines.with_writer(io::stderr).with_filter(filter);
    if tracing_subscriber::registry().with(lines).try_init().is_ok() {
        std::panic::set_hook(Box::new(|panic| {
            tracing::error!(%panic, "a fault of the server");
        }));
    }
}
