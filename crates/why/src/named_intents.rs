//! Which intent of a workspace is meant, and what to say if it is not there.

use ground::policy::SourceFormat;
use ground::text::shell_word;
use ground::{RelativePath, session};
use intents::{Intent, lint};

use super::error::VerbError;
use super::workspace::{Workspace, may_know};

impl Workspace {
    pub fn intent(&self, id: &str) -> Result<&Intent, VerbError> {
        self.sound_registry()?;
        self.registry.get(id).ok_or_else(|| self.unknown_intent(id))
    }

    fn unknown_intent(&self, id: &str) -> VerbError {
        let meant = self.intent_meant_by(id);
        if meant.is_none() && RelativePath::new(id).is_ok_and(|path| self.exists(&path)) {
            let hint = format!("`intent for {}` names the intents that own it", shell_word(id));
            return VerbError::mendable(format!("{id} is a path, not an intent"), hint);
        }
        VerbError::UnknownIntent {
            id: id.to_owned(),
            known: self.registry.all_intents().map(|it| it.id.value.clone()).collect(),
            meant,
        }
    }

    /// Returns the id of the intent that somebody probably means: the only one with this number, with
    /// this id in other letters or without its prefix, with this text in its name, or in another
    /// format with an id that differs in few letters. `None` if there is not exactly one. Those of
    /// the registry are meant first.
    pub fn intent_meant_by(&self, text: &str) -> Option<String> {
        let text = text.trim().to_lowercase();
        let number = |id: &str| {
            let start = id.rfind(|it: char| !it.is_ascii_digit()).map_or(0, |at| at + 1);
            id[start..].trim_start_matches('0').to_owned()
        };
        let is_number = |id: &str| {
            let asked = text.trim_start_matches("int").trim_start_matches(['-', '_', ' ', '#']);
            !asked.is_empty()
                && asked.bytes().all(|byte| byte.is_ascii_digit())
                && number(id) == asked.trim_start_matches('0')
        };
        let has_name = |intent: &Intent| {
            text.chars().count() > 2 && intent.name.value.to_lowercase().contains(&text)
        };
        let has_id = |intent: &Intent| {
            let id = intent.id.value.to_lowercase();
            id == text || SourceFormat::of_id(&id).is_some_and(|(_, name)| name == text)
        };
        // The text may be `openspec`, or a misspelled id such as `openspec:add-logn`. An id with
        // another number in it is never a misspelling.
        let digits =
            |text: &str| -> Vec<char> { text.chars().filter(char::is_ascii_digit).collect() };
        let is_near = |intent: &Intent| {
            let id = intent.id.value.to_lowercase();
            SourceFormat::of_id(&id).is_some_and(|(_, name)| {
                let is_misspelled = |right: &str| {
                    text.len() > 4
                        && lint::distance(&text, right) < 3
                        && digits(&text) == digits(right)
                };
                id.split(':').next() == Some(&text) || is_misspelled(&id) || is_misspelled(name)
            })
        };
        let ways: [&dyn Fn(&Intent) -> bool; 4] =
            [&has_id, &|intent| is_number(&intent.id.value), &has_name, &is_near];
        let own: Vec<&Intent> = self.registry.intents().iter().collect();
        let others = self.registry.not_adopted().map(|imported| &imported.intent).collect();
        let found = [own, others].into_iter().find_map(|intents| {
            let found = |is_it: &&dyn Fn(&Intent) -> bool| -> Vec<&Intent> {
                intents.iter().copied().filter(|intent| is_it(intent)).collect()
            };
            ways.iter().map(found).find(|found| !found.is_empty())
        });
        match found?[..] {
            [only] => Some(only.id.value.clone()),
            _ => None,
        }
    }

    pub fn intent_in_progress(&self, id: &str) -> Result<&Intent, VerbError> {
        let intent = self.intent(id)?;
        if self.registry.allows_work(intent) {
            return Ok(intent);
        }
        let status =
            intent.status.as_ref().map_or("without a known status", |status| status.value.as_str());
        if let Some(imported) = self.registry.unadopted(id) {
            return Err(match imported.format.is_work() {
                true => VerbError::mendable(
                    format!("intent {id} is {status}, as {} says", imported.unit),
                    format!("`intent adopt {id}` puts it in progress here"),
                ),
                false => VerbError::refused(format!("{id} is a decision, and no work")),
            });
        }
        Err(VerbError::NotInProgress { id: id.to_owned(), status: status.to_owned() })
    }

    /// Returns an error if the registry is lost or does not parse. One that nobody has begun is sound.
    pub fn sound_registry(&self) -> Result<(), VerbError> {
        if let Some(reason) = self.lost_registry() {
            return Err(VerbError::refused(reason));
        }
        let Some(finding) = self.registry.syntax_error() else { return Ok(()) };
        let place = finding.place_in_compiler_form(self.registry.path());
        let hint = "fix it first; nothing was changed";
        Err(VerbError::mendable(format!("{place}: {}", finding.message), hint))
    }

    /// Returns the intent that the session has selected, or the person if no session is named; see
    /// [`Self::intent_of_selection`].
    pub fn selected(&self, session: Option<&str>) -> Option<String> {
        let may_know = |id: &str| may_know(&self.registry, id);
        let selected = match session {
            Some(session) => session::selected_by(&self.root, session, may_know),
            None => self.selection.clone(),
        };
        selected.map(|selection| self.intent_of_selection(&selection))
    }
}
