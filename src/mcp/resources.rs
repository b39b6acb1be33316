//! Resources, which a client can read without calling a tool: the registry, the map, and the
//! context of each intent.

use std::sync::Arc;

use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use ground::{Hint, text};

use super::tools::CallContext;
use intents::{ImportedIntent, IntentFile, Registry};
use judgement::map;
use overview::context;
use why::{VerbError, Workspace};

const REGISTRY: &str = "intent://registry";
const MAP: &str = "intent://map";
const INTENT: &str = "intent://intents/";

/// Returns the resources, which are the same for every client, always in the same order.
pub(super) fn list() -> Vec<Resource> {
    vec![
        Resource::new(REGISTRY, "registry")
            .with_title("Intents")
            .with_description("The registry of intents as its people wrote it")
            .with_mime_type("application/yaml"),
        Resource::new(MAP, "map")
            .with_title("Intent map")
            .with_description("Which intent has produced which blocks of which files")
            .with_mime_type("text/markdown"),
    ]
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{INTENT}{{id}}"), "intent")
            .with_title("Intent")
            .with_description("What to know before working under an intent: constraints, scope, what was recorded since the last commit")
            .with_mime_type("application/xml"),
    ]
}

pub(super) fn read(call: &CallContext, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let none = || {
        let said = format!(
            "there is no resource {uri}; `resources/list` and the tool `list_intents` name them"
        );
        ErrorData::resource_not_found(said, None)
    };
    let refused = |error: VerbError| ErrorData::internal_error(error.with_hint(), None);
    let ws = Workspace::open(&call.folder, call.session.environment());
    let ws = ws.map_err(|error| refused(error.into()))?;
    let (kind, text) = match uri {
        // The other two resources are escaped when they are made. Here only invisible characters
        // are made visible.
        REGISTRY => ("application/yaml", text::visible(&registry(&ws.registry), true)),
        MAP => {
            ws.governed().map_err(refused)?;
            ("text/markdown", map::markdown(&map::map(&ws).map_err(refused)?))
        }
        _ => {
            let id = uri.strip_prefix(INTENT).ok_or_else(none)?;
            let intent = match ws.intent(id) {
                Ok(intent) => intent,
                Err(VerbError::UnknownIntent { .. }) => return Err(none()),
                Err(error) => return Err(refused(error)),
            };
            let answer = context::answer(&ws, intent, context::ContextExtent::Curated);
            ("application/xml", answer.context)
        }
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
}

/// Returns the text of the registry: the list, then each file of one intent as a separate YAML
/// document, then a comment for each open intent that is kept in another format.
fn registry(registry: &Registry) -> String {
    let document = |file: &Arc<IntentFile>| format!("---\n# {}\n{}\n", file.path(), file.text());
    let own: String = match registry.files() {
        [list] => list.text().to_string(),
        files => files.iter().filter(|file| file.exists()).map(document).collect(),
    };
    let open = registry.not_adopted().filter(|imported| !imported.is_closed());
    let comment = |imported: &ImportedIntent| {
        let ImportedIntent { intent, unit, .. } = imported;
        let status = intent.status.as_ref().map_or("no status", |status| status.value.as_str());
        let said = format!("{} ({status}, in {unit}): {}", intent.id.value, intent.name.value);
        format!("# {}\n", text::visible(&said, false))
    };
    let others: String = open.map(comment).collect();
    if others.is_empty() { own } else { format!("{own}\n{others}") }
}
