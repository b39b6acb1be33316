//! `workspace/executeCommand`: runs a [`super::commands`] off the loop, asks a person first where that is needed,
//! and lets what it wrote be read again at once.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tower_lsp::gen_lsp_types as lsp;

use super::commands::{self, Asks, Effects, RegistryChange, ServerCommand, ThenWiden};
use crate::lsp::dispatch::{ClientConversation, RequestRefusal};
use crate::lsp::pool::Lane;
use crate::workspace::text;

/// How long a person may think before a dialog counts as dismissed.
const PATIENCE: Duration = Duration::from_secs(300);

/// More choices than this are not readable in a dialog.
const MAX_CHOICES: usize = 8;

const ACCEPT: &str = "Accept it";

/// Runs a command.
pub(crate) async fn handle(
    conversation: ClientConversation,
    params: lsp::ExecuteCommandParams,
) -> Result<Option<Value>, RequestRefusal> {
    let command = commands::find(&params.command)?;
    let mut argument = commands::argument(command.name, params.arguments)?;
    match command.asks {
        Asks::WhichIntent if !argument.contains_key("id") && asks(&conversation) => {
            let Some(id) = choose_intent(&conversation, &argument).await? else {
                return Ok(None);
            };
            argument.insert("id".into(), id.into());
        }
        Asks::Consent => consent(&conversation, &argument).await?,
        Asks::Questions => seated(&conversation, "deciding", "intent approve")?,
        Asks::Person => person(&conversation)?,
        Asks::Nothing | Asks::WhichIntent => {}
    }
    run(&conversation, command, argument).await.map(Some)
}

/// The commands that are announced.
pub(crate) fn options() -> lsp::ExecuteCommandOptions {
    let commands = commands::ALL.iter().map(|command| command.name.to_owned()).collect();
    lsp::ExecuteCommandOptions { commands, ..Default::default() }
}

async fn run(
    conversation: &ClientConversation,
    command: &'static ServerCommand,
    argument: Map<String, Value>,
) -> Result<Value, RequestRefusal> {
    let snapshot = conversation.snapshot.clone();
    let (answer, effects) = conversation
        .compute_on(Lane::Worker, move || {
            let mut effects = Effects::default();
            let answer = command.run(&snapshot, &argument, &mut effects);
            (answer, effects)
        })
        .await?;
    let changed = match effects.change {
        Some(change) => change_registry(conversation, change).await,
        None => Ok(()),
    };
    if !effects.wrote.is_empty() {
        conversation.wrote(effects.wrote);
    }
    if let Some(root) = effects.review {
        conversation.review(root);
    }
    if let Some(place) = effects.show {
        show(conversation, place).await?;
    }
    changed.and(answer)
}

/// Lets the client change a file of the registry that it has open, and sees to it that the change is on disk.
async fn change_registry(
    conversation: &ClientConversation,
    change: RegistryChange,
) -> Result<(), RequestRefusal> {
    let params = lsp::ApplyWorkspaceEditParams {
        label: Some("Add to the scope".to_owned()),
        edit: change.edit,
        metadata: None,
    };
    let applied = conversation.client.request::<lsp::ApplyWorkspaceEditRequest>(params).await;
    let applied = applied.map_err(|error| RequestRefusal::Failed(error.to_string()))?;
    if !applied.applied {
        let reason = applied.failure_reason.unwrap_or_else(|| "it gave no reason".to_owned());
        return Err(RequestRefusal::Failed(format!(
            "the client did not change the registry: {reason}"
        )));
    }
    let uri = match change.then {
        ThenWiden::Save(uri) => uri,
        ThenWiden::OnDisk { uri, id } => {
            let snapshot = conversation.snapshot.clone();
            let widen = move || commands::widen_on_disk(&snapshot, &uri, &id);
            return conversation.compute_on(Lane::Worker, widen).await?;
        }
    };
    let saved = conversation.client.request_done::<SaveRequest>(SaveParams { uri }).await;
    saved.map_err(|error| {
        RequestRefusal::Failed(format!("the scope is wider in the editor, but not saved: {error}"))
    })
}

/// `intent/save`: a request to clients that said that they save what they are asked to (`saves`).
enum SaveRequest {}

/// The document to save.
#[derive(Serialize, Deserialize)]
struct SaveParams {
    uri: lsp::Uri,
}

impl lsp::Request for SaveRequest {
    type Params = SaveParams;
    type Result = ();
    const METHOD: lsp::LspRequestMethod<'static> = lsp::LspRequestMethod::new("intent/save");
    const MESSAGE_DIRECTION: lsp::MessageDirection = lsp::MessageDirection::ServerToClient;
}

/// Lets the client show a place to whoever sits there.
async fn show(
    conversation: &ClientConversation,
    place: lsp::Location,
) -> Result<(), RequestRefusal> {
    let params = lsp::ShowDocumentParams {
        uri: place.uri,
        external: None,
        take_focus: Some(true),
        selection: Some(place.range),
    };
    let shown = conversation.client.request::<lsp::ShowDocumentRequest>(params).await;
    match shown.map_err(|error| RequestRefusal::Failed(error.to_string()))?.success {
        true => Ok(()),
        false => Err(RequestRefusal::Failed("the client could not show the document".into())),
    }
}

/// Whether a person can be asked. The client said so by its setting; many that show dialogs do not announce them.
fn asks(conversation: &ClientConversation) -> bool {
    conversation.snapshot.settings.interactive
}

/// Lets a person choose among the intents in progress; `None`: dismissed.
async fn choose_intent(
    conversation: &ClientConversation,
    argument: &Map<String, Value>,
) -> Result<Option<String>, RequestRefusal> {
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
        return Err(RequestRefusal::Failed(
            "no intent is in progress; start or create one first".into(),
        ));
    }
    let title = |(id, name): &(String, String)| text::visible(&format!("{id} {name}"), false);
    let titles: Vec<String> = open.iter().map(title).collect();
    let question = "Which intent do you work under?".to_owned();
    let chosen = dialog(conversation, lsp::MessageType::Info, question, titles.clone()).await?;
    let at = chosen.and_then(|chosen| titles.iter().position(|title| *title == chosen));
    Ok(at.map(|at| open[at].0.clone()))
}

/// Refuses where nobody can be asked.
fn seated(
    conversation: &ClientConversation,
    what: &str,
    instead: &str,
) -> Result<(), RequestRefusal> {
    if asks(conversation) {
        return Ok(());
    }
    Err(RequestRefusal::Failed(format!(
        "{what} is for a person, and this client did not say that one sits there; a person does \
         it with `{instead}` in a terminal"
    )))
}

/// Refuses where no person sits.
fn person(conversation: &ClientConversation) -> Result<(), RequestRefusal> {
    if conversation.snapshot.settings.seats_a_person() {
        return Ok(());
    }
    Err(RequestRefusal::Failed(
        "widening a scope is for a person, and this client did not say that one sits there; a person edits the \
         owned_scope of the intent in .orchestration/active_intents.yaml, an agent asks with `intent request-scope`"
            .to_owned(),
    ))
}

/// Lets a person confirm an acceptance. Refused where nobody can be asked: accepting is for people.
async fn consent(
    conversation: &ClientConversation,
    argument: &Map<String, Value>,
) -> Result<(), RequestRefusal> {
    seated(conversation, "accepting a block", "intent accept PATH:LINE")?;
    let named = |key: &str| argument.get(key).and_then(Value::as_str);
    let file = named("path").or_else(|| named("uri")).unwrap_or_default();
    let line = argument.get("line").map(Value::to_string).unwrap_or_default();
    let question = format!(
        "Accept the block at line {line} of {} as it stands? This is recorded for good.",
        text::visible(file, false)
    );
    let kind = lsp::MessageType::Warning;
    match dialog(conversation, kind, question, vec![ACCEPT.to_owned()]).await? {
        Some(chosen) if chosen == ACCEPT => Ok(()),
        _ => Err(RequestRefusal::Failed("it was not confirmed, so nothing was recorded".into())),
    }
}

async fn dialog(
    conversation: &ClientConversation,
    kind: lsp::MessageType,
    message: String,
    titles: Vec<String>,
) -> Result<Option<String>, RequestRefusal> {
    let item = |title| lsp::MessageActionItem { title, ..Default::default() };
    let actions = Some(titles.into_iter().map(item).collect());
    let params = lsp::ShowMessageRequestParams { kind, message, actions };
    let chosen = conversation.client.request_within::<lsp::ShowMessageRequest>(params, PATIENCE);
    let chosen = chosen.await.map_err(|error| RequestRefusal::Failed(error.to_string()))?;
    Ok(chosen.map(|item| item.title))
}
