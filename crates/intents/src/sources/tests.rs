//! Golden files of every format, one for each trap that real repositories have, and random bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::prelude::*;

use super::files::ListedEntry;
use super::*;

/// Files as one text: `=== path`, then the lines of the file.
struct TextFiles(BTreeMap<String, String>);

impl TextFiles {
    fn parse(text: &str) -> Self {
        let files = text.split("=== ").skip(1).filter_map(|file| file.split_once('\n'));
        Self(files.map(|(path, text)| (path.to_owned(), text.to_owned())).collect())
    }
}

impl SourceFiles for TextFiles {
    fn list(&self, folder: &str) -> Vec<ListedEntry> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let inside = self.0.keys().filter_map(|path| path.strip_prefix(&prefix));
        let names: BTreeSet<(&str, bool)> = inside
            .map(|rest| rest.split_once('/').map_or((rest, false), |(name, _)| (name, true)))
            .collect();
        let entry = |(name, is_folder)| {
            let path = RelativePath::new(&format!("{prefix}{name}")).ok()?;
            Some(ListedEntry { path, is_folder })
        };
        names.into_iter().filter_map(entry).collect()
    }
    fn has_folder(&self, folder: &str) -> bool {
        !self.list(folder).is_empty()
    }
    fn read(&self, path: &RelativePath, max: u64) -> Result<Option<String>, String> {
        let text = self.0.get(path.as_str()).cloned();
        match text.filter(|text| text.len() as u64 > max) {
            Some(_) => Err("too large".to_owned()),
            None => Ok(self.0.get(path.as_str()).cloned()),
        }
    }
}

fn read_texts(files: &TextFiles) -> Vec<ImportedIntent> {
    let read = |source: &dyn Source| {
        let units = source.units(files).into_iter();
        let read = |unit| read_unit(source, &unit, files, &AtomicU64::new(MAX_BYTES));
        units.flat_map(read).collect::<Vec<_>>()
    };
    let mut intents: Vec<_> = SOURCES.into_iter().flat_map(|(_, source)| read(source)).collect();
    mark_ambiguous(&mut intents);
    intents
}

/// Shows everything that was read. A span is shown by the text that it marks.
fn shown(files: &TextFiles) -> String {
    let mut out = String::new();
    for imported in read_texts(files) {
        let intent = &imported.intent;
        let main = files.0.get(imported.main.as_str()).map_or("", String::as_str);
        let mut line = |what: &str, text: &str| {
            if !text.is_empty() {
                writeln!(out, "{what} {text}").unwrap();
            }
        };
        let again = if imported.ambiguous { " (ambiguous)" } else { "" };
        line(&intent.id.value, &format!("{:?}{again}", intent.name.value));
        line("  unit", imported.unit.as_str());
        line("  main", imported.main.as_str());
        let status = intent.status.as_ref().map_or("none", |status| status.value.as_str());
        line("  status", &format!("{status} {}/{}", imported.tasks_done, imported.tasks));
        let spans = [&intent.id.span, &intent.name.span];
        let spans = spans.into_iter().chain(intent.status.iter().map(|status| &status.span));
        for span in spans.filter(|span| !span.is_empty()) {
            line("  written", &format!("{:?}", &main[span.clone()]));
        }
        line("  owner", intent.owner.as_ref().map_or("", |owner| &owner.value));
        line("  reason", imported.reason.as_deref().unwrap_or_default());
        line("  note", imported.note.as_deref().unwrap_or_default());
        line("  hints", &imported.scope_hints.join(" "));
        for (what, list) in [
            ("  constraint", &intent.constraints),
            ("  criterion", &intent.acceptance_criteria),
            ("  related", &intent.related_specs),
        ] {
            list.iter().for_each(|entry| line(what, &entry.value));
        }
        for one in &imported.requirements {
            let done = one.done.map_or(String::new(), |done| format!(" done: {done}"));
            line(
                "  requirement",
                &format!("{} | {} | {}:{}{done}", one.id, one.text, one.path, one.line),
            );
        }
        assert!(intent.owned_scope.is_empty(), "an imported scope never denies");
    }
    out
}

fn golden(name: &str) -> TextFiles {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sources/golden");
    TextFiles::parse(&std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap())
}

const FORMATS: [&str; 8] =
    ["openspec", "speckit", "kiro", "backlog", "bmad", "taskmaster", "conductor", "adr"];

#[test]
fn every_format_is_read() {
    for name in FORMATS {
        insta::assert_snapshot!(name, shown(&golden(name)));
    }
}

#[test]
fn a_path_says_the_same_id_as_the_file() {
    for name in FORMATS {
        let files = golden(name);
        for imported in read_texts(&files) {
            let path = imported.main.as_str();
            let id = imported.intent.id.value;
            assert!(unit_of_path(path).is_none_or(|found| found == id), "{path}");
            let known = read_one_of(&files, &id).map(|one| one.unit);
            assert_eq!(
                known,
                Some(imported.unit).filter(|_| !imported.ambiguous).or(known.clone())
            );
        }
    }
}

#[test]
fn a_path_alone_says_of_which_intent_it_is() {
    let cases = [
        ("openspec/changes/add-login/tasks.md", "openspec:add-login"),
        ("openspec/changes/add-login/specs/auth/spec.md", "openspec:add-login"),
        ("openspec/changes/archive/2025-01-02-add-login/tasks.md", "openspec:add-login"),
        ("openspec/changes/archive/add-login/tasks.md", "openspec:add-login"),
        ("packages/x/openspec/changes/add-login/tasks.md", "openspec:add-login"),
        ("myopenspec/changes/add-login/tasks.md", ""),
        ("openspec/changes/archive", ""),
        ("openspec/changes/archive/2025-01-02-add-login", ""),
        ("openspec/changes/README.md", ""),
        ("openspec/specs/auth/spec.md", ""),
        ("specs/003-user-login/contracts/api.json", "speckit:003-user-login"),
        ("specs/20260102-101500-user-login/notes.md", "speckit:20260102-101500-user-login"),
        ("specs/by-hand/tasks.md", "speckit:by-hand"),
        ("specs/by-hand/user_spec.rb", ""),
        ("specs/README.md", ""),
        (".kiro/specs/user-login/design.md", "kiro:user-login"),
        (".kiro/steering/tech.md", ""),
        ("backlog/tasks/task-12 - Short-title.md", "backlog:TASK-12"),
        ("backlog/tasks/epics/epic-7/TASK-12.3 - Sub.md", "backlog:TASK-12.3"),
        ("backlog/archive/tasks/back-7.md", "backlog:BACK-7"),
        ("backlog/tasks/readme.md", ""),
        ("backlog/docs/doc-1 - Notes.md", ""),
        ("docs/stories/1.17.title.md", "bmad:1.17"),
        ("_bmad-output/implementation-artifacts/1-17-title.md", "bmad:1.17"),
        ("_bmad-output/implementation-artifacts/sprint-status.yaml", ""),
        (".taskmaster/tasks/tasks.json", ""),
        ("conductor/tracks/login_20260102/plan.md", "conductor:login_20260102"),
        ("conductor/archive/login_20260102/plan.md", "conductor:login_20260102"),
        ("conductor/tracks.md", ""),
        ("docs/adr/0001-record-decisions.md", ""),
        ("src/main.rs", ""),
        ("", ""),
    ];
    for (path, wanted) in cases {
        assert_eq!(unit_of_path(path).unwrap_or_default(), wanted, "{path}");
        let is_below = |folder: &str| format!("/{path}").contains(&format!("/{folder}/"));
        assert!(wanted.is_empty() || FOLDERS.iter().any(|(folder, _)| is_below(folder)), "{path}");
    }
}

#[test]
fn a_file_that_is_too_large_hides_no_other() {
    let mut files = golden("openspec");
    let place = "openspec/changes/add-saved-list/proposal.md";
    files.0.insert(place.to_owned(), "x".repeat(usize::try_from(files::MAX_FILE).unwrap() + 1));
    let intents = read_texts(&files);
    let broken =
        intents.iter().find(|one| one.intent.id.value == "openspec:add-saved-list").unwrap();
    let note = broken.note.as_deref().unwrap_or_default();
    assert!(note.contains("proposal.md cannot be read: too large"), "{note}");
    assert_eq!((broken.tasks_done, intents.len()), (2, read_texts(&golden("openspec")).len()));
}

#[test]
fn what_is_worked_on_is_known() {
    let mut all = String::new();
    for name in ["speckit", "backlog", "taskmaster", "conductor"] {
        all += &golden(name)
            .0
            .iter()
            .map(|(path, text)| format!("=== {path}\n{text}"))
            .collect::<String>();
    }
    all += "=== .specify/feature.json\n{\"feature_directory\": \"./specs/003-other/\"}";
    let files = TextFiles::parse(&all);
    let intents = read_texts(&files);
    let cases = [
        (None, "speckit:003-other"),
        (Some("main"), "speckit:003-other taskmaster:master.5"),
        (Some("tasks/task-12-search"), "speckit:003-other backlog:TASK-12"),
        (Some("task-7.2"), "speckit:003-other backlog:TASK-7.2"),
        (Some("task-7.22"), "speckit:003-other"),
        // Two tasks have the id `TASK-20`, so the name of the branch means neither of them.
        (Some("task-20"), "speckit:003-other"),
        (Some("ada/003-reading-list"), "speckit:003-other speckit:003-reading-list"),
        (Some("share_20260103"), "speckit:003-other conductor:share_20260103"),
    ];
    for (branch, wanted) in cases {
        assert_eq!(
            current_work::ids_of_work(&files, branch, &intents).join(" "),
            wanted,
            "{branch:?}"
        );
    }
}

fn read_work_tree(root: &Root) -> Vec<ImportedIntent> {
    Workplace::WorkTree(root.clone()).read_all()
}

/// A work tree with these files, and with a git directory.
fn work_tree(files: &TextFiles) -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(".git/HEAD", "ref: refs/heads/003-reading-list\n");
    write(".git/objects/x", "");
    write(".git/refs/x", "");
    files.0.iter().for_each(|(path, text)| write(path, text));
    let root = Root::find(folder.path(), &ground::Environment::of_process()).unwrap();
    (folder, root)
}

fn files_below(folder: &std::path::Path) -> BTreeSet<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { [path].into() })
        .collect()
}

#[test]
fn the_disk_says_the_same_as_the_texts_and_nothing_is_written() {
    for name in FORMATS {
        let files = golden(name);
        let (folder, root) = work_tree(&files);
        let before = files_below(folder.path());
        let texts = read_texts(&files);
        assert_eq!(read_work_tree(&root), texts, "{name}");
        assert_eq!(files_below(folder.path()), before);
    }
}

#[test]
fn a_commit_and_the_index_say_the_same_as_the_disk() {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    FORMATS.iter().for_each(|name| files.extend(golden(name).0));
    // Only a work tree is searched for packages with their own files.
    files.retain(|path, _| !path.starts_with("packages/"));
    let files = TextFiles(files);
    let (folder, _) = work_tree(&files);
    std::fs::remove_dir_all(folder.path().join(".git")).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "core.autocrlf=false",
        ]);
        assert!(git.args(arguments).current_dir(folder.path()).status().unwrap().success());
    };
    git(&["init", "-q", "--template="]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "all"]);
    let root = Root::find(folder.path(), &ground::Environment::of_process()).unwrap();
    let git = Arc::new(Git::open(&root).unwrap().unwrap());
    let head = git.head().unwrap().unwrap();
    let texts = read_texts(&files);
    for target in [Target::Commit(head), Target::Index] {
        let version = Workplace::Version(Arc::clone(&git), target.clone(), Box::default());
        assert_eq!(version.read_all(), texts, "{target:?}");
        let id = "openspec:add-saved-list";
        let one = version.read_one(id).unwrap();
        assert!(texts.contains(&one) && version.main_text(&one).contains("# Change: Add"));
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let (folder, root) = work_tree(&golden("openspec"));
    let (other, _) = work_tree(&golden("kiro"));
    let at = |path: &str| folder.path().join(path);
    std::os::unix::fs::symlink(other.path().join(".kiro"), at(".kiro")).unwrap();
    std::os::unix::fs::symlink(at("openspec/changes/half"), at("openspec/changes/linked")).unwrap();
    std::fs::remove_file(at("openspec/changes/half/tasks.md")).unwrap();
    let secret = other.path().join(".kiro/specs/user-login/tasks.md");
    std::os::unix::fs::symlink(secret, at("openspec/changes/half/tasks.md")).unwrap();
    let intents = read_work_tree(&root);
    let ids: Vec<&str> = intents.iter().map(|one| one.intent.id.value.as_str()).collect();
    assert!(!ids.iter().any(|id| id.starts_with("kiro:") || id.ends_with("linked")), "{ids:?}");
    let half = intents.iter().find(|one| one.intent.id.value == "openspec:half").unwrap();
    assert_eq!(half.tasks, 0);
}

#[test]
fn there_is_a_limit_to_what_is_read() {
    let task = |id: usize| format!("{{\"id\": {id}, \"title\": \"t\"}}");
    let tasks: Vec<String> = (0..MAX_INTENTS + 5).map(task).collect();
    let text = format!("{{\"tasks\": [{}]}}", tasks.join(","));
    let files = TextFiles([(".taskmaster/tasks/tasks.json".to_owned(), text)].into());
    assert_eq!(read_all(&files, &Policy::default()).len(), MAX_INTENTS);
}

#[test]
#[ignore = "slow"]
fn hostile_files_take_no_long_time() {
    let many = 1_000_000;
    let texts = [
        "x <!-- y\n".repeat(many / 9),
        format!("`{}", "<!--".repeat(many / 4)),
        "### Requirement: a\n".repeat(many / 19),
        (0..many / 12).map(|at| format!("a/b{at}.rs ")).collect::<String>(),
        "- [ ] a\n".repeat(many / 8),
        "[".repeat(many),
        format!("{{\"tasks\": [{}1]}}", "{\"id\":1,\"title\":\"\\u00e9\"},".repeat(30_000)),
    ];
    for text in texts {
        let started = std::time::Instant::now();
        for name in ["openspec", "speckit", "kiro", "backlog", "taskmaster"] {
            let mut files = golden(name);
            let place = files.0.keys().find(|path| !path.ends_with("config.yaml")).unwrap().clone();
            files.0.values_mut().for_each(String::clear);
            files.0.insert(place, text.clone());
            read_texts(&files);
        }
        let took = started.elapsed();
        assert!(took.as_secs() < 20, "{took:?} for {:?}", text.get(..30));
    }
}

/// Returns pieces of the golden files, mixed with noise.
fn noise() -> impl Strategy<Value = String> {
    let pieces = FORMATS.map(|name| golden(name).0.into_values().collect::<String>()).concat();
    let lines: Vec<String> = pieces.lines().map(str::to_owned).collect();
    let line = prop_oneof![
        3 => prop::sample::select(lines),
        1 => "\\PC{0,12}",
        1 => prop::sample::select(vec!["<!--", "-->", "```", "---", "- [x", "#", "{\"a\": [", "：", "1."])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    #[ignore = "slow"]
    fn texts_of_any_kind_are_read(text in noise(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = String::from_utf8_lossy(&bytes).into_owned();
        for name in FORMATS {
            let mut files = golden(name);
            files.0.values_mut().for_each(|file| file.clone_from(&text));
            shown(&files);
            files.0.values_mut().for_each(|file| file.clone_from(&bytes));
            shown(&files);
        }
    }

    #[test]
    fn paths_of_any_kind_have_an_id_or_none(path in "(openspec/changes/|specs/|backlog/tasks/|conductor/tracks/|docs/stories/)?\\PC{0,30}") {
        unit_of_path(&path);
    }
}
