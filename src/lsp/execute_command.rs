//! `workspace/executeCommand`: runs one of [`crate::features::commands`] outside of the loop. It asks a
//! person first if the command requires that, and afterwards reports the written files to the loop.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tower_lsp::lsp_types as lsp;

use crate::client::ANSWER_LIMIT;
use crate::features::commands::{self, Asks, Effects, ServerCommand, ThenWiden};
use crate::outlets::ClientConversation;
use crate::pool::{Lane, start_task};
use crate::progress;
use crate::refusal::{RequestRefusal, RequestResult};
use ground::text;

/// How long a person may take to answer before a dialog counts as dismissed.
const PATIENCE: Duration = Duration::from_secs(300);

const MAX_CHOICES: usize = 8;

const ACCEPT: &str = "Accept it";

/// Asks the client to save a document. Sent only to clients with the setting `saves`.
const SAVE: &str = "intent/save";

/// The request, with the parameters as some clients send them: Emacs writes `null` if a command has
/// no arguments, which the type of the protocol crate refuses.
pub(crate) enum ExecuteCommandRequest {}

impl lsp::request::Request for ExecuteCommandRequest {
    type Params = ExecuteCommandParams;
    type Result = Option<Value>;
    const METHOD: &'static str = "workspace/executeCommand";
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ExecuteCommandParams {
    command: String,
    arguments: Option<Vec<Value>>,
}

pub(crate) async fn handle(
    conversation: ClientConversation,
    params: ExecuteCommandParams,
) -> RequestResult<Option<Value>> {
    let command = commands::find(&params.command)?;
    let mut argument = commands::argument(command.name, params.arguments)?;
    match command.asks {
        Asks::WhichIntent if !argument.contains_key("id") && can_ask(&conversation) => {
            let Some(id) = choose_intent(&conversation, &argument).await? else {
                return Ok(None);
            };
            argument.insert("id".into(), id.into());
        }
        Asks::Consent => confirm_acceptance(&conversation, &argument).await?,
        Asks::Questions => require_dialogs(&conversation, "deciding", "intent approve")?,
        Asks::Person => require_person(&conversation)?,
        Asks::Nothing | Asks::WhichIntent => {}
    }
    let (done, finished) = oneshot::channel::<()>();
    if let Some(title) = command.progress(&argument)
        && conversation.snapshot.client.progress
    {
        let client = conversation.outside.client.clone();
        start_task(progress::show_if_slow(client, title.to_owned(), finished));
    }
    let answer = run(&conversation, command, argument).await;
    drop(done);
    answer.map(Some)
}

async fn run(
    conversation: &ClientConversation,
    command: &'static ServerCommand,
    argument: Map<String, Value>,
) -> RequestResult<Value> {
    let snapshot = conversation.snapshot.clone();
    let job = move || {
        let mut effects = Effects::default();
        let answer = (command.run)(&snapshot, &argument, &mut effects);
        (answer, effects)
    };
    let (answer, effects) =
        conversation.outside.pool.compute(Lane::Worker, command.name, job).await?;
    let changed = match effects.change {
        Some((edit, then)) => change_registry(conversation, edit, then).await,
        None => Ok(()),
    };
    conversation.outside.handle.run(move |it| {
        it.files_changed(effects.wrote);
        if let Some(root) = effects.review {
            it.questions.put_again(&root);
        }
    });
    if let Some(place) = effects.show {
        show(conversation, place).await?;
    }
    changed.and(answer)
}

/// Lets the client change a registry file that it has open, and makes sure that the change reaches
/// the disk.
async fn change_registry(
    conversation: &ClientConversation,
    edit: lsp::WorkspaceEdit,
    then: ThenWiden,
) -> RequestResult<()> {
    let label = Some("Add to the scope".to_owned());
    let params = lsp::ApplyWorkspaceEditParams { label, edit };
    let applied =
        conversation.outside.client.request::<lsp::request::ApplyWorkspaceEdit>(params).await;
    let applied = applied.map_err(RequestRefusal::failed)?;
    if !applied.applied {
        let reason = applied.failure_reason.unwrap_or_else(|| "it gave no reason".to_owned());
        return Err(RequestRefusal::Failed(format!(
            "the client did not change the registry: {reason}"
        )));
    }
    let uri = match then {
        ThenWiden::Save(uri) => uri,
        ThenWiden::OnDisk { uri, id } => {
            let snapshot = conversation.snapshot.clone();
            let widen = move || commands::widen_on_disk(&snapshot, &uri, &id);
            return conversation.outside.pool.compute(Lane::Worker, SAVE, widen).await?;
        }
    };
    let saved = conversation.outside.client.ask(SAVE, json!({ "uri": uri }), ANSWER_LIMIT).await;
    saved.map(drop).map_err(|error| {
        RequestRefusal::Failed(format!("the scope is wider in the editor, but not saved: {error}"))
    })
}

async fn show(conversation: &ClientConversation, place: lsp::Location) -> RequestResult<()> {
    let params = lsp::ShowDocumentParams {
        uri: place.uri,
        external: None,
        take_focus: Some(true),
        selection: Some(place.range),
    };
    let shown = conversation.outside.client.request::<lsp::request::ShowDocument>(params).await;
    match shown.map_err(RequestRefusal::failed)?.success {
        true => Ok(()),
        false => Err(RequestRefusal::failed("the client could not show the document")),
    }
}

/// Returns true if a person can be asked. This depends on the setting, because many clients that
/// show dialogs do not announce them.
fn can_ask(conversation: &ClientConversation) -> bool {
    conversation.snapshot.settings.interactive
}

/// Lets a person choose among the intents in progress. `None` if the dialog was dismissed.
async fn choose_intent(
    conversation: &ClientConversation,
    argument: &Map<String, Value>,
) -> RequestResult<Option<String>> {
    let list = commands::find("intent.list")?;
    let mut wanted = argument.clone();
    wanted.remove("session");
    let intents = run(conversation, list, wanted).await?;
    let intents = intents.as_array().into_iter().flatten();
    let open: Vec<(String, String)> = intents
        .filter(|it| it["status"] == "IN_PROGRESS")
        .filter_map(|it| Some((it["id"].as_str()?.to_owned(), it["name"].as_str()?.to_owned())))
        .take(MAX_CHOICES)
        .collect();
    if open.is_empty() {
        return Err(RequestRefusal::failed("no intent is in progress; start or create one first"));
    }
    let title = |(id, name): &(String, String)| text::visible(&format!("{id} {name}"), false);
    let titles: Vec<String> = open.iter().map(title).collect();
    let question = "Which intent do you work under?".to_owned();
    let shown: Vec<&str> = titles.iter().map(String::as_str).collect();
    let client = &conversation.outside.client;
    let chosen = client.choose(lsp::MessageType::INFO, question, &shown, PATIENCE).await;
    let chosen = chosen.map_err(RequestRefusal::failed)?;
    let at = chosen.and_then(|chosen| titles.iter().position(|title| *title == chosen));
    Ok(at.map(|at| open[at].0.clone()))
}

fn require_dialogs(
    conversation: &ClientConversation,
    what: &str,
    instead: &str,
) -> RequestResult<()> {
    if can_ask(conversation) {
        return Ok(());
    }
    Err(RequestRefusal::Failed(format!(
        "{what} is for a person, and this client is not set up for a person (setting `interactive`); \
         a person does it with `{instead}` in a terminal"
    )))
}

fn require_person(conversation: &ClientConversation) -> RequestResult<()> {
    if conversation.snapshot.settings.has_person() {
        return Ok(());
    }
    Err(RequestRefusal::Failed(
        "widening a scope is for a person, and this client is not set up for a person (setting `interactive` or `person`); \
             a person edits the owned_scope of the intent in .orchestration/active_intents.yaml, an agent asks with `intent request-scope`"
            .to_owned(),
    ))
}

/// Asks a person to confirm an acceptance. Returns an error if no person can be asked, because only
/// people may accept, and if the file changes before the answer: the person agreed to what the
/// editor showed.
async fn confirm_acceptance(
    conversation: &ClientConversation,
    argument: &Map<String, Value>,
) -> RequestResult<()> {
    require_dialogs(conversation, "accepting a block", "intent accept PATH:LINE")?;
    let named = |key: &str| argument.get(key).and_then(Value::as_str);
    // The command prefers the address, so the person must see that one.
    let file = named("uri").or_else(|| named("path")).unwrap_or_default();
    let path = lsp::Url::parse(file).ok().and_then(|uri| uri.to_file_path().ok());
    let file = path.map_or(file.into(), |path| path.to_string_lossy().into_owned());
    let line = argument.get("line").map(Value::to_string).unwrap_or_default();
    let question = format!(
        "Accept the block at line {line} of {} as it stands? This is recorded for good.",
        text::visible(&file, false)
    );
    let text = || {
        let (snapshot, argument) = (conversation.snapshot.clone(), argument.clone());
        let read = move || commands::text_on_disk(&snapshot, &argument);
        conversation.outside.pool.compute(Lane::Worker, "intent.accept", read)
    };
    let asked_about = text().await??;
    let client = &conversation.outside.client;
    let chosen = client.choose(lsp::MessageType::WARNING, question, &[ACCEPT], PATIENCE).await;
    if chosen.map_err(RequestRefusal::failed)?.as_deref() != Some(ACCEPT) {
        let why = "the dialog was not confirmed; nothing was recorded";
        return Err(RequestRefusal::failed(why));
    }
    if text().await?? != asked_about {
        let why = "the file was changed before the answer; nothing was recorded. Accept it again";
        return Err(RequestRefusal::failed(why));
    }
    Ok(())
}
