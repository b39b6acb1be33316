//! Answers the requests of the protocol by calling tools, resources and prompts.

#![expect(deprecated, reason = "older clients name their workspace by `roots`")]

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use tokio::sync::RwLock;

use super::answer::{self, Refusal};
use super::session::Connection;
use super::tools::{CallContext, ToolEffect, ToolTable};
use super::{prompts, resources};

const INSTRUCTIONS: &str = "\
This project records which intent asked for each block of code. Before you change a file: `list_intents`, then \
`select_active_intent` with the id that your task belongs to, and read the context it answers. `gate_check` says whether \
a path or a command is within its scope; where it is not, `request_scope` or `propose_intent` asks a person, and \
`approval_status` tells what they decided. Prefer `file_read` and `file_write` where you have no file tools of your own; \
after a write by other tools that nobody recorded, call `record_mutation`. `why` says who asked for existing code. \
Never edit anything below `.orchestration/` yourself.";

const ROOTS: Duration = Duration::from_secs(2);

type ClientContext = RequestContext<RoleServer>;
type PageRequest = Option<PaginatedRequestParams>;
type ServerResult<T> = Result<T, ErrorData>;

pub(super) struct Server {
    session: Arc<Connection>,
    tools: ToolTable,
    turns: Arc<RwLock<()>>,
}

impl Server {
    pub(super) fn new(session: Connection, tools: ToolTable) -> Self {
        Self { session: Arc::new(session), tools, turns: Arc::new(RwLock::new(())) }
    }

    /// Waits for the permission to run a call: many calls may read at the same time, and one may
    /// write.
    async fn turn(&self, effect: ToolEffect) -> Box<dyn Send> {
        let turns = Arc::clone(&self.turns);
        match effect {
            ToolEffect::Reads => Box::new(turns.read_owned().await),
            ToolEffect::Adds | ToolEffect::Overwrites => Box::new(turns.write_owned().await),
        }
    }

    async fn ask_for_roots(&self, context: &ClientContext) {
        let peer = &context.peer;
        let has_roots =
            || peer.peer_info().is_some_and(|client| client.capabilities.roots.is_some());
        if !self.session.wants_roots() || !has_roots() {
            return;
        }
        let listed = tokio::time::timeout(ROOTS, peer.list_roots()).await;
        if let Ok(Err(error)) = &listed {
            tracing::warn!(%error, "the client's roots could not be read");
        }
        let roots = listed.into_iter().flatten().flat_map(|listed| listed.roots);
        self.session.take_roots(roots.map(|root| root.uri));
    }

    async fn call(&self, context: &ClientContext) -> CallContext {
        self.ask_for_roots(context).await;
        if let Some(client) = context.client_info() {
            self.session.introduce(&client.name);
        }
        CallContext { session: Arc::clone(&self.session), folder: self.session.folder() }
    }

    /// Runs a job on another thread. A panic in it fails only this call, and gives `None`.
    async fn run<T: Send + 'static>(
        &self,
        effect: ToolEffect,
        context: &ClientContext,
        job: impl FnOnce(&CallContext) -> T + Send + 'static,
    ) -> Option<T> {
        let turn = self.turn(effect).await;
        let call = self.call(context).await;
        let run = move || {
            // Kept until the job has finished, even if the call was cancelled.
            let _turn = turn;
            job(&call)
        };
        tokio::task::spawn_blocking(run).await.ok()
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("intent", env!("CARGO_PKG_VERSION")).with_title("Intent"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: ClientContext,
    ) -> ServerResult<InitializeResult> {
        let answer = self.negotiate_initialize(&request)?;
        // From now on, the negotiated version of the protocol applies, not the requested one.
        request.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn list_tools(&self, _: PageRequest, _: ClientContext) -> ServerResult<ListToolsResult> {
        Ok(ListToolsResult { tools: self.tools.list(), ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: ClientContext,
    ) -> ServerResult<CallToolResponse> {
        let Some(tool) = self.tools.get(&request.name) else {
            let said = format!("there is no tool {:?}; `tools/list` names them", request.name);
            return Err(ErrorData::invalid_params(said, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let run = Arc::clone(&tool.run);
        let fault = "A fault of the server; whether anything was done is not known. Read the files concerned again.";
        let outcome = tokio::select! {
            // A call that is cancelled before it starts does nothing.
            biased;
            () = context.ct.cancelled() => Err(Refusal::failed("The call was cancelled.")),
            outcome = self.run(tool.effect, &context, move |call| run(call, arguments)) => {
                outcome.unwrap_or_else(|| Err(Refusal::failed(fault)))
            }
        };
        Ok(answer::result(outcome).into())
    }

    async fn list_resources(
        &self,
        _: PageRequest,
        _: ClientContext,
    ) -> ServerResult<ListResourcesResult> {
        Ok(ListResourcesResult { resources: resources::list(), ..ListResourcesResult::default() })
    }

    async fn list_resource_templates(
        &self,
        _: PageRequest,
        _: ClientContext,
    ) -> ServerResult<ListResourceTemplatesResult> {
        Ok(ListResourceTemplatesResult {
            resource_templates: resources::templates(),
            ..ListResourceTemplatesResult::default()
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: ClientContext,
    ) -> ServerResult<ReadResourceResponse> {
        let job = move |call: &CallContext| resources::read(call, &request.uri);
        let read = self.run(ToolEffect::Reads, &context, job).await;
        let fault = || ErrorData::internal_error("a fault of the server", None);
        Ok(read.ok_or_else(fault)??.into())
    }

    async fn list_prompts(
        &self,
        _: PageRequest,
        _: ClientContext,
    ) -> ServerResult<ListPromptsResult> {
        Ok(ListPromptsResult { prompts: prompts::list(), ..ListPromptsResult::default() })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: ClientContext,
    ) -> ServerResult<GetPromptResponse> {
        Ok(prompts::get(&request.name)?.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: ClientContext,
    ) -> ServerResult<CustomResult> {
        // The library treats a request whose parameters cannot be read as one with an unknown
        // method.
        let method = request.method.as_str();
        Err(match method {
            "tools/call" | "resources/read" | "initialize" | "prompts/get" | "server/discover" => {
                let said = format!("the parameters of {method} cannot be read");
                ErrorData::invalid_params(said, None)
            }
            _ => {
                let said = format!("there is no method {method}");
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, said, None)
            }
        })
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.session.forget_roots();
    }
}
