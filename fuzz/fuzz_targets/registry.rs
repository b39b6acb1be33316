//! A registry in any of its forms is read, linted and edited. After an edit it contains what was asked for.
#![no_main]

use ground::RelativePath;
use intents::{IntentEntry, Registry, RegistryEdit, Status, edit, lint};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for name in [".orchestration/active_intents.yaml", ".orchestration/active_intents.json"] {
        let path = RelativePath::new(name).expect("a path");
        let registry = Registry::parse(path.clone(), text);
        lint::registry(&registry);
        let id = registry.intents().first().map(|intent| intent.id.value.clone());
        let new =
            IntentEntry { id: "FUZZ-1".into(), name: "A: 'b'".into(), ..IntentEntry::default() };
        let status = |id: String| RegistryEdit::SetStatus { id, status: Status::Completed };
        for edit in id.map(status).into_iter().chain([RegistryEdit::Add(new)]) {
            let Ok(planned) = edit::plan(&registry, &edit) else { continue };
            assert!(registry.syntax_error().is_none(), "a broken registry was edited");
            let after = Registry::parse(path.clone(), &planned.text);
            assert!(after.syntax_error().is_none(), "an edit broke the registry");
            match edit {
                RegistryEdit::SetStatus { id, status } => {
                    assert_eq!(after.version(&id).and_then(|version| version.1), Some(status));
                    assert_eq!(after.intents().len(), registry.intents().len());
                }
                _ => assert_eq!(after.intents().len(), registry.intents().len() + 1),
            }
        }
    }
});
