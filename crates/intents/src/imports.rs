//! The intents that a team keeps in other formats, as a part of the registry. They are read when
//! somebody first asks for one of them.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use super::sources::{ImportedIntent, Workplace};
use super::{Intent, IntentFile};
use ground::policy::SourceFormat;

#[derive(Debug)]
pub(super) struct Imports {
    place: Workplace,
    read: OnceLock<Vec<ImportedIntent>>,
    files: OnceLock<Vec<OnceLock<Arc<IntentFile>>>>,
}

impl Imports {
    pub fn new(place: Workplace) -> Self {
        let (read, files) = Default::default();
        Self { place, read, files }
    }

    pub fn intents(&self) -> &[ImportedIntent] {
        self.read.get_or_init(|| self.place.read_all())
    }

    fn position(&self, id: &str) -> Option<usize> {
        SourceFormat::of_id(id)?;
        let is_it = |one: &ImportedIntent| !one.ambiguous && one.intent.id.value == id;
        self.intents().iter().position(is_it)
    }

    pub fn get(&self, id: &str) -> Option<&ImportedIntent> {
        self.intents().get(self.position(id)?)
    }

    /// Returns the intents that are being worked on now, those that are said most plainly first.
    pub(super) fn current_work(&self) -> Vec<&ImportedIntent> {
        let ids = self.place.current_work(self.intents());
        ids.iter().filter_map(|id| self.get(id)).collect()
    }

    pub fn file(&self, id: &str) -> Option<&Arc<IntentFile>> {
        let (at, all) = (self.position(id)?, self.intents());
        let files = self.files.get_or_init(|| all.iter().map(|_| OnceLock::new()).collect());
        let read = || {
            let text = self.place.main_text(&all[at]);
            Arc::new(IntentFile::of_source(all[at].main.clone(), &text, all[at].intent.clone()))
        };
        Some(files[at].get_or_init(read))
    }

    pub(super) fn not_adopted<'i>(
        &'i self,
        own: &'i [Intent],
    ) -> impl Iterator<Item = &'i ImportedIntent> {
        let own: HashSet<&str> = own.iter().map(|intent| intent.id.value.as_str()).collect();
        self.intents().iter().filter(move |one| !own.contains(one.intent.id.value.as_str()))
    }

    /// Fills in what a file that only points to a source does not say itself. Only the one intent
    /// is read.
    pub fn complete(&self, file: &mut IntentFile) {
        file.complete_from(|id| self.place.read_one(id));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ground::Root;

    use super::super::edit::{self, RegistryEdit};
    use super::super::{Registry, Status, lint};
    use super::*;

    const FILES: &[(&str, &str)] = &[
        ("openspec/changes/add-login/proposal.md", "# Change: Add a login\n## Why\nPeople.\n"),
        ("openspec/changes/add-login/tasks.md", "- [x] 1.1 a\n- [ ] 1.2 b in `src/login/x.ts`\n"),
        (
            "openspec/changes/add-login/specs/auth/spec.md",
            "### Requirement: Login\nIt MUST.\n#### Scenario: In\n- **WHEN** a\n- **THEN** b\n",
        ),
        ("specs/001-search/spec.md", "# Feature: Search\n"),
        (
            ".orchestration/intents/INT-1.yaml",
            "id: INT-1\nname: Own\nstatus: IN_PROGRESS\nowned_scope: [\"a/**\"]\n",
        ),
    ];

    fn workspace(more: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in FILES.iter().chain(more) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::find(folder.path(), &ground::Environment::of_process()).unwrap();
        (folder, root)
    }

    fn ids<'i>(intents: impl IntoIterator<Item = &'i Intent>) -> String {
        let ids = intents.into_iter().map(|intent| intent.id.value.as_str());
        ids.collect::<Vec<_>>().join(" ")
    }

    fn errors(registry: &Registry) -> Vec<String> {
        lint::registry(registry).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_registry_knows_them_beside_its_own() {
        let (_folder, root) = workspace(&[]);
        let registry = Registry::load(&root);
        assert_eq!(ids(registry.intents()), "INT-1");
        assert_eq!(ids(registry.all_intents()), "INT-1 openspec:add-login speckit:001-search");
        let (file, intent) = registry.intent_with_file("openspec:add-login").unwrap();
        assert_eq!(registry.get("openspec:add-login"), Some(intent));
        assert_eq!(file.path().as_str(), "openspec/changes/add-login/proposal.md");
        assert_eq!(&file.text()[intent.name.span.clone()], "Add a login");
        assert!(!file.scope_at(0).owns(&ground::RelativePath::new("src/login/x.ts").unwrap()));
        assert!(registry.get("openspec:add").is_none() && registry.get("other:x").is_none());
        assert!(registry.version("speckit:001-search").is_some());
        assert!(errors(&registry).is_empty(), "{:?}", errors(&registry));
        let change =
            RegistryEdit::SetStatus { id: "openspec:add-login".into(), status: Status::Completed };
        assert!(edit::plan(&registry, &change).is_err(), "nothing is written into a source");
    }

    #[test]
    fn the_policy_switches_formats_off() {
        let policy = ".orchestration/policy.yaml";
        let (_folder, root) = workspace(&[(policy, "sources: {openspec: false}\n")]);
        let registry = Registry::load(&root);
        assert_eq!(ids(registry.all_intents()), "INT-1 speckit:001-search");
        assert!(registry.get("openspec:add-login").is_none());
    }

    #[test]
    fn an_own_file_adopts_one_and_gives_it_a_scope() {
        let (folder, root) = workspace(&[]);
        let adopt = |id: &str| RegistryEdit::Adopt {
            id: id.into(),
            status: None,
            scope: vec!["src/login/**".into()],
        };
        let registry = Registry::load(&root);
        let planned = edit::plan(&registry, &adopt("openspec:add-login")).unwrap();
        assert_eq!(planned.path.as_str(), ".orchestration/intents/openspec-add-login.yaml");
        assert_eq!(planned.text, "source: openspec:add-login\nowned_scope: [\"src/login/**\"]\n");
        let then = registry.with_file(&planned.path, &planned.text);
        fs::write(folder.path().join(planned.path.as_str()), &planned.text).unwrap();
        for registry in [then, Registry::load(&root)] {
            assert_eq!(ids(registry.intents()), "INT-1 openspec:add-login");
            assert_eq!(ids(registry.all_intents()), "INT-1 openspec:add-login speckit:001-search");
            let intent = registry.get("openspec:add-login").unwrap();
            assert_eq!(intent.name.value, "Add a login");
            assert!(intent.in_progress());
            assert_eq!(intent.acceptance_criteria[0].value, "In: WHEN a THEN b");
            let path = ground::RelativePath::new("src/login/x.ts").unwrap();
            assert_eq!(ids(registry.owners(&path)), "openspec:add-login");
            assert!(errors(&registry).is_empty(), "{:?}", errors(&registry));
            let again = edit::plan(&registry, &adopt("openspec:add-login"));
            assert!(matches!(again, Err(edit::EditError::Taken { .. })), "{again:?}");
            // Its own values win, and edits go into its own file.
            let id = "openspec:add-login".to_owned();
            let edit = RegistryEdit::SetStatus { id, status: Status::Blocked };
            let planned = edit::plan(&registry, &edit).unwrap();
            assert!(planned.text.starts_with("source: openspec:add-login\n"));
            let registry = registry.with_file(&planned.path, &planned.text);
            let intent = registry.get("openspec:add-login").unwrap();
            assert_eq!(intent.status.as_ref().unwrap().value, Status::Blocked);
            assert_eq!(intent.name.value, "Add a login");
        }
        for id in ["INT-2", "other:x", "openspec:a b", "openspec:", "openspec:../x"] {
            assert!(edit::plan(&registry, &adopt(id)).is_err(), "{id}");
        }
    }

    #[test]
    fn a_source_that_is_gone_or_of_another_kind_fills_nothing_in() {
        let (_folder, root) = workspace(&[
            (
                ".orchestration/intents/openspec-gone.yaml",
                "source: openspec:gone\nowned_scope: [b]\n",
            ),
            (".orchestration/intents/INT-2.yaml", "id: INT-2\nsource: openspec:add-login\n"),
            (".orchestration/intents/INT-3.yaml", "id: INT-3\nsource: a meeting\n"),
            (
                ".orchestration/intents/speckit-001-search.yaml",
                "source: speckit:001-search\nstatus: odd\n",
            ),
        ]);
        let registry = Registry::load(&root);
        assert_eq!(ids(registry.intents()), "INT-1 INT-2 INT-3 openspec:gone speckit:001-search");
        let status = |id: &str| registry.get(id).unwrap().status.clone();
        assert!(
            ["openspec:gone", "INT-2", "speckit:001-search"]
                .map(status)
                .iter()
                .all(Option::is_none)
        );
        assert!(registry.get("INT-2").unwrap().name.value.is_empty());
    }

    #[test]
    fn the_feature_that_spec_kit_notes_is_worked_on() {
        let noted = (".specify/feature.json", "{\"feature_directory\": \"specs/001-search\"}");
        let (_folder, root) = workspace(&[noted]);
        let registry = Registry::load(&root);
        assert_eq!(
            ids(registry.current_work().iter().map(|one| &one.intent)),
            "speckit:001-search"
        );
        assert_eq!(registry.imported().len(), 2);
        assert!(registry.imported_intent("speckit:001-search").is_some());
    }
}
