//! The language server. It translates between the protocol and the verbs, and knows no policy and
//! no file format.
//!
//! ```text
//! stdin ─▶ transport ─▶ ordered ─▶ world (documents, knowledge, settings)      one owner, in order
//!                          │  └──▶ effects ─▶ pool, timers, watch, client      come back as events
//!                          └─ dispatch ─▶ features/… on a snapshot             answers come back as events
//! stdout ◀─ transport ◀─ requests (exactly one reply each), client (our own requests)
//! ```
//!
//! The protocol types and the JSON-RPC messages come from `tower_lsp`. Its router, its client and
//! its serving loop are not used, because they run notifications out of order as soon as one of
//! them waits, cancel only requests that have started, stop at a malformed frame, and stop reading
//! when a hundred handlers wait for the client. Our own loop has none of these faults.
//!
//! - `analysis`: results about the open documents, computed once and shared by all features.
//! - `cache`: results that several requests share, computed once for each state of a document or workspace.
//! - `capabilities`: what the client can do.
//! - `client`: sending notifications and requests to the client.
//! - `config`: the user's settings.
//! - `convert`: converting between the types of the protocol and ours.
//! - `diagnostics_schedule`: when diagnostics are computed and published.
//! - `dispatch`: the table of what the server can do.
//! - `effects`: the work that the loop starts outside of itself.
//! - `execute_command`: running a command, with the questions that it asks a person.
//! - `features`: the features of the server, one file each.
//! - `initialize`: the handshake with the client.
//! - `log`: the log on standard error, written by its own thread.
//! - `message`: parsing the body of a frame into a message.
//! - `method_table`: which method is handled by which function, and where that function runs.
//! - `notebook`: open notebooks, whose cells are documents.
//! - `open_document`: the documents that the client has open.
//! - `ordered`: the loop that owns the state and applies events in order.
//! - `outlets`: the loop's connections to the outside: the client, the threads, the watcher.
//! - `parent_process`: noticing that the process that started the server has ended.
//! - `pending_request`: requests that were not started yet.
//! - `pool`: a few threads for computations.
//! - `progress`: showing the progress of long work.
//! - `questions`: showing the questions of agents to the person at this client.
//! - `refusal`: why a request is answered with an error.
//! - `requests`: the requests that are not answered yet.
//! - `snapshot`: the state of the server when a request arrived.
//! - `transport`: reading and writing frames.
//! - `waiting_requests`: requests that wait until the workspace is read.
//! - `watch`: noticing changes of the files from which a workspace is loaded.
//! - `workspace_location`: where the workspace is that governs a folder.
//! - `workspace_pulls`: the pulls of the diagnostics of all workspaces.
//! - `workspace_survey`: findings about a workspace as a whole, and the list of its files.
//! - `workspace_view`: what a request sees of a loaded workspace.
//! - `world`: the mutable state of the server.

mod analysis;
mod cache;
mod capabilities;
mod client;
mod config;
mod convert;
mod diagnostics_schedule;
mod dispatch;
mod effects;
mod execute_command;
mod features;
mod initialize;
mod log;
pub mod message;
mod method_table;
mod notebook;
mod open_document;
mod ordered;
mod outlets;
mod parent_process;
mod pending_request;
mod pool;
mod progress;
mod questions;
mod refusal;
mod requests;
mod snapshot;
pub mod transport;
mod waiting_requests;
mod watch;
mod workspace_location;
mod workspace_pulls;
mod workspace_survey;
mod workspace_view;
mod world;

#[cfg(test)]
mod tests;

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use ground::{Environment, Hint};
use method_table::MethodTable;
use snapshot::{Diagnose, DiagnoseUnopened};
use why::Workspace;
use workspace_location::WorkspaceLocation;

/// How long the server waits at its end for the client to read the replies that are queued.
const LAST_REPLIES: Duration = Duration::from_secs(2);

/// The stack size of a thread. Some libraries walk deep syntax trees by recursion.
const STACK_BYTES: usize = 8 << 20;

/// Finds the workspace that governs a folder. Returns `None` if there is none.
type FindPlace = fn(&Path) -> Option<WorkspaceLocation>;

type OpenWorkspace = fn(&Path) -> Result<Workspace, String>;

/// The replaceable parts of a server. Tests pass their own.
struct ServerParts {
    table: MethodTable,
    find: FindPlace,
    open: OpenWorkspace,
    diagnose: Diagnose,
    unopened: DiagnoseUnopened,
    reading_limit: Duration,
    question_interval: Duration,
    /// Returns a sentence if an agent seems to have started this server. The server then asks no
    /// person, whatever the client claims.
    agent: fn() -> Option<String>,
}

impl Default for ServerParts {
    fn default() -> Self {
        Self {
            table: dispatch::table(),
            find: WorkspaceLocation::of_folder,
            open: |root| {
                Workspace::open(root, &Environment::of_process()).map_err(|error| error.with_hint())
            },
            diagnose: features::diagnostics::diagnose,
            unopened: features::diagnostics::unopened,
            reading_limit: waiting_requests::READING_LIMIT,
            question_interval: questions::CHECK_INTERVAL,
            agent: || ground::agents::agent_of_parent(&Environment::of_process()),
        }
    }
}

/// Serves one client over standard input and output until the client sends `exit`, closes the
/// stream or is gone.
///
/// Returns success only after an orderly shutdown. The log goes to standard error; `INTENT_LOG`
/// sets its level.
#[must_use]
pub fn run() -> ExitCode {
    let Ok(log) = log::Log::start() else { return ExitCode::FAILURE };
    let served = serve(io::stdin(), io::stdout(), ServerParts::default());
    if let Err(error) = &served {
        tracing::error!(%error, "the server's threads cannot be started");
    }
    log.flush();
    if served.is_ok_and(|orderly| orderly) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    parts: ServerParts,
) -> io::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("lsp-tasks")
        .thread_stack_size(STACK_BYTES)
        .enable_time()
        .build()?;
    let incoming = transport::spawn_reader(input)?;
    let (outbox, written) = transport::spawn_writer(output)?;
    let (handle, events) = ordered::LoopHandle::new();
    let last = outbox.clone();
    let orderly = runtime.block_on(async move {
        let pool = pool::Pool::new();
        ordered::Ordered::new(parts, pool, outbox, handle).run(incoming, events).await
    });
    // Tasks and jobs may still hold the outbox. Closing it sends the replies queued so far and
    // drops later ones.
    last.close();
    if written.recv_timeout(LAST_REPLIES) == Err(RecvTimeoutError::Timeout) {
        tracing::debug!("the client stopped reading before the last messages");
    }
    runtime.shutdown_background();
    Ok(orderly)
}
