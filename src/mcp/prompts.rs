//! The prompt that a person can send to their agent: how to work in this project.

use rmcp::model::{ErrorData, GetPromptResult, Prompt, PromptMessage, Role};

use judgement::gate::PROTOCOL;

const NAME: &str = "intent_protocol";
const WHAT: &str = "How an agent works in a project that records its intents";

pub(super) fn list() -> Vec<Prompt> {
    vec![Prompt::new(NAME, Some(WHAT), None).with_title("Work under an intent")]
}

pub(super) fn get(name: &str) -> Result<GetPromptResult, ErrorData> {
    if name != NAME {
        let said = format!("there is no prompt {name:?}; `prompts/list` names them");
        return Err(ErrorData::invalid_params(said, None));
    }
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, PROTOCOL)])
        .with_description(WHAT))
}
