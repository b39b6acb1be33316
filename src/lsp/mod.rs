//! The language server: protocol in, protocol out. No policy and no file format is known here.
//!
//! ```text
//! stdin ─▶ transport ─▶ ordered ─▶ world (documents, knowledge, settings)      one owner, in order
//!                          │  └──▶ effects ─▶ pool, timers, watch, client      come back as events
//!                          └─ dispatch ─▶ features/… on a snapshot             answers come back as events
//! stdout ◀─ transport ◀─ requests (exactly one reply each), client (our own requests)
//! ```
//!
//! From `tower_lsp` come the protocol's types and the JSON-RPC messages. Its router, its client and its serving loop
//! are not used: they run notifications out of order as soon as one of them waits, cancel only what has begun, end on a
//! malformed frame, and stop reading when a hundred handlers wait for the client. One loop of our own has none of that.

mod analysis;
mod capabilities;
mod client;
mod config;
mod convert;
mod diagnostics;
mod dispatch;
mod effects;
mod features;
mod held;
mod initialize;
mod log;
mod message;
mod names;
mod ordered;
mod parent;
mod pool;
mod progress;
mod questions;
mod requests;
mod snapshot;
mod survey;
mod transport;
mod watch;
mod world;

#[cfg(test)]
mod tests;

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::verbs::Workspace;
use crate::workspace::Root;
use dispatch::MethodTable;
use snapshot::{Diagnose, DiagnoseUnopened};
use world::WorkspaceLocation;

/// How long the last messages may take to reach a client that has stopped reading.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Finds what governs a folder; `None`: nothing does.
type FindPlace = fn(&Path) -> Option<WorkspaceLocation>;

/// Loads what is known under a root; the error is for a person.
type OpenWorkspace = fn(&Path) -> Result<Workspace, String>;

/// What a server is made of; tests put in their own.
struct ServerParts {
    table: MethodTable,
    find: FindPlace,
    open: OpenWorkspace,
    diagnose: Diagnose,
    unopened: DiagnoseUnopened,
    /// How long a question waits for the first reading of its workspace.
    reading_limit: Duration,
    /// What says that an agent started this server; then no person is asked, whatever the client claims.
    agent: fn() -> Option<String>,
}

impl Default for ServerParts {
    fn default() -> Self {
        Self {
            table: dispatch::table(),
            find: find_place,
            open: |root| {
                Workspace::open(root).map(Workspace::warmed).map_err(|error| error.to_string())
            },
            diagnose: features::diagnostics::diagnose,
            unopened: features::diagnostics::unopened,
            reading_limit: held::READING_LIMIT,
            agent: crate::workspace::agents::beside,
        }
    }
}

fn find_place(folder: &Path) -> Option<WorkspaceLocation> {
    match Root::find(folder) {
        Ok(root) => Some(WorkspaceLocation {
            root: root.path().to_owned(),
            governed: root.governed(),
            git_dir: root.git_dir().map(ToOwned::to_owned),
        }),
        Err(error) => {
            tracing::debug!(folder = %folder.display(), %error, "no workspace governs this folder");
            None
        }
    }
}

/// Serves one client over standard input and output until it says `exit`, closes the stream or is gone.
/// Succeeds only after an orderly shutdown. Logs go to standard error; `INTENT_LOG` says how much.
#[must_use]
pub(crate) fn run() -> ExitCode {
    let Ok(log) = log::Log::start() else { return ExitCode::FAILURE };
    let served = serve(io::stdin(), io::stdout(), ServerParts::default());
    if let Err(error) = &served {
        tracing::error!(%error, "the server's threads cannot be started");
    }
    log.flush();
    if served.is_ok_and(|orderly| orderly) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Serves one client. True after an orderly shutdown.
fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    parts: ServerParts,
) -> io::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("lsp-tasks")
        .enable_time()
        .build()?;
    let pool = pool::Pool::start()?;
    let incoming = transport::spawn_reader(input)?;
    let (outbox, written) = transport::spawn_writer(output)?;
    let (sender, events) = mpsc::unbounded_channel();
    let last = outbox.clone();
    let orderly = runtime.block_on(async move {
        ordered::Ordered::new(parts, pool, outbox, sender).run(incoming, events).await
    });
    // Tasks and jobs may still hold the outbox; what was answered before the end is sent, what comes later is not.
    last.close();
    if written.recv_timeout(LAST_WORDS) == Err(RecvTimeoutError::Timeout) {
        tracing::debug!("the client stopped reading before the last messages");
    }
    runtime.shutdown_background();
    Ok(orderly)
}
