//! Whatever happens to the files, and to what is kept of them: an indexed ledger answers what a plain one does.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::plain::Plain;
use super::*;
use crate::code::Sketch;
use crate::ledger::keep::Keeper;

/// Holds every answer against those of a ledger without index.
fn same(ledger: &Ledger, plain: &Plain, what: &str) {
    let shown = |entry: &Entry| {
        let text = std::str::from_utf8(&entry.stored).unwrap_or_default().to_owned();
        (entry.origin.clone(), entry.trust, entry.dialect, text, entry.record.clone())
    };
    let have: Vec<_> = ledger.entries().iter().map(shown).collect();
    assert_eq!(have, plain.entries.iter().map(shown).collect::<Vec<_>>(), "{what}");
    let told = |findings: &[crate::workspace::Finding]| {
        let mut told: Vec<String> = findings.iter().map(|f| format!("{f:?}")).collect();
        told.sort();
        told
    };
    assert_eq!(told(ledger.findings()), told(&plain.findings), "{what}");
    let paths: Vec<RelativePath> = ledger.paths().into_iter().cloned().collect();
    assert_eq!(paths, plain.paths(), "{what}");
    assert_eq!(ledger.heads(), plain.heads(), "{what}");
    same_claims(ledger, plain, what);
    for (id, at) in plain.by_id() {
        assert_eq!(
            ledger.by_id(&id).map(shown),
            Some(shown(&plain.entries[at as usize])),
            "{what}"
        );
    }
    assert!(ledger.by_id("").is_none() && ledger.by_id("no such id").is_none());
    for path in plain.paths() {
        let outlines: Vec<OutlineDelta> =
            ledger.outlines_of(&path).into_iter().map(|one| one.delta).collect();
        assert_eq!(outlines, plain.outlines_of(&path), "{what}: {path}");
    }
    same_entries(ledger, plain, what);
}

fn same_claims(ledger: &Ledger, plain: &Plain, what: &str) {
    type Found = BTreeMap<String, Vec<ClaimRef>>;
    let put = |found: &mut Found, key: &str, at| found.entry(key.to_owned()).or_default().push(at);
    let (mut paths, mut contents, mut tokens, mut shapes) =
        (Found::new(), Found::new(), Found::new(), Found::new());
    let mut called: BTreeMap<(String, String), Vec<ClaimRef>> = BTreeMap::new();
    let mut sketches: Vec<Sketch> = Vec::new();
    let mut intents = Found::new();
    for (at, entry, file, block) in plain.claims() {
        assert_eq!(ledger.claim(at).range, block, "{what}");
        put(&mut paths, file.relative_path.as_str(), at);
        put(&mut contents, block.content_hash.as_str(), at);
        block.token_hash.iter().for_each(|hash| put(&mut tokens, hash.as_str(), at));
        block.shape_hash.iter().for_each(|hash| put(&mut shapes, hash.as_str(), at));
        if let Some(name) = &block.block {
            let leaf = name.path.rsplit('.').next().unwrap().to_owned();
            called.entry((name.kind.clone(), leaf)).or_default().push(at);
        }
        sketches.extend(block.sketch.clone());
        if let Some(intent) = &entry.record.intent_id {
            put(&mut intents, intent, at);
        }
    }
    for (path, claims) in paths {
        assert_eq!(ledger.of_path(&RelativePath::new(&path).unwrap()), claims, "{what}: {path}");
    }
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_hash = |hash: &str| {
        hash.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.bytes().all(digit))
    };
    for (hash, claims) in contents.into_iter().filter(|(hash, _)| is_hash(hash)) {
        let nothing =
            hash.contains("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let claims = if nothing { Vec::new() } else { claims };
        assert_eq!(ledger.by_content(&ContentHash::from_ledger(hash)), claims, "{what}");
    }
    for (hash, claims) in tokens {
        assert_eq!(ledger.by_tokens(&TokenHash::from_ledger(hash)), claims, "{what}");
    }
    for (hash, claims) in shapes {
        assert_eq!(ledger.by_shape(&ShapeHash::from_ledger(hash)), claims, "{what}");
    }
    for ((kind, leaf), claims) in called {
        assert_eq!(ledger.by_called(&kind, &leaf), claims, "{what}: {kind} {leaf}");
    }
    for (intent, claims) in intents {
        let here: Vec<ClaimRef> = ledger
            .of_intent(&intent)
            .iter()
            .copied()
            .filter(|at| ledger.claim(*at).entry.record.intent_id.is_some())
            .collect();
        assert_eq!(here, claims, "{what}: {intent}");
    }
    sketches.dedup();
    for sketch in sketches {
        assert_eq!(ledger.similar(&sketch, 1000), plain.similar(&sketch), "{what}");
    }
    assert!(ledger.by_content(&block(4_000).content_hash).is_empty());
}

fn same_entries(ledger: &Ledger, plain: &Plain, what: &str) {
    let with = |wanted: &dyn Fn(&Record) -> bool| -> Vec<u32> {
        let all = (0..).zip(&plain.entries).filter(|(_, entry)| wanted(&entry.record));
        all.map(|(at, _)| at).collect()
    };
    let mut intents: Vec<String> =
        plain.entries.iter().filter_map(|entry| entry.record.intent_id.clone()).collect();
    intents.sort();
    intents.dedup();
    assert_eq!(ledger.intents(), intents, "{what}");
    for intent in intents {
        let named = with(&|record| record.intent_id.as_ref() == Some(&intent));
        assert_eq!(ledger.entries_of_intent(&intent), named, "{what}");
    }
    for path in plain.paths() {
        let named = with(&|record| record.files.iter().any(|file| file.relative_path == path));
        assert_eq!(ledger.entries_of_path(&path), named, "{what}: {path}");
    }
    let writers: HashSet<&str> = plain
        .entries
        .iter()
        .map(|entry| entry.record.writer.as_str())
        .filter(|writer| !writer.is_empty())
        .collect();
    assert_eq!(ledger.chains(), writers.len(), "{what}");
}

fn fixtures() -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ledgers");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files.iter().filter(|path| path.is_file()).map(|path| std::fs::read(path).unwrap()).collect()
}

/// One thing that happens: what, and two numbers to choose by.
type Step = (u8, u16, u16);

struct Story {
    workspace: Workspace,
    /// Earlier states of files, to be put back.
    earlier: Vec<(std::path::PathBuf, Vec<u8>)>,
}

impl Story {
    fn files(&self) -> Vec<std::path::PathBuf> {
        let root = self.workspace.root();
        read::files(&root).iter().map(|path| root.absolute(path)).collect()
    }

    fn pick(&self, n: u16) -> Option<std::path::PathBuf> {
        let files = self.files();
        (!files.is_empty()).then(|| files[usize::from(n) % files.len()].clone())
    }

    fn record(n: u16, m: u16) -> Record {
        let n = u32::from(n);
        let mut record =
            mutation(&format!("s{}", n % 3), &format!("f{}.rs", n % 4), [n % 5, n % 7]);
        record.timestamp = format!("2026-02-18T{:02}:00:00.000Z", m % 24);
        record.intent_id = Some(format!("INT-00{}", m % 3));
        let sketch = |n: u16| {
            let text = format!("fn f{n}() {{ let a = {n}; call(a, {}); other(a); }}", n % 2);
            let document = crate::code::Document::from_bytes("a.rs", text.as_bytes()).unwrap();
            document.blocks().blocks[0].fingerprint.sketch.clone()
        };
        for (at, range) in (0..).zip(&mut record.files[0].conversations[0].ranges) {
            range.sketch = (!m.is_multiple_of(4)).then(|| sketch(m % 6 + at));
            range.deleted = m.is_multiple_of(5);
        }
        record.files[0].outline = Some(OutlineDelta {
            base: None,
            hash: format!("o1:{n:032x}"),
            edits: vec![format!("put{m}")],
        });
        if m.is_multiple_of(11) {
            // Too large for a line, so that it is written in parts.
            record.files[0].reasons =
                (0..8).map(|at| format!("{at}{}", "x".repeat(20_000))).collect();
        }
        record
    }

    fn append(path: &std::path::Path, bytes: &[u8]) {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(bytes).unwrap();
    }

    fn step(&mut self, (what, n, m): Step) {
        let fixtures = fixtures();
        let fixture = &fixtures[usize::from(n) % fixtures.len()];
        let Some(path) = self.pick(n).filter(|_| what % 16 > 5) else {
            let head = format!("c{}", m % 2);
            self.workspace.append(Self::record(n, m), Some(&head));
            return;
        };
        let bytes = std::fs::read(&path).unwrap();
        let at = usize::from(m) * bytes.len() / usize::from(u16::MAX).max(1);
        let line = |at: usize| {
            let from = bytes[..at].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
            let to = bytes[from..]
                .iter()
                .position(|&b| b == b'\n')
                .map_or(bytes.len(), |n| from + n + 1);
            from..to
        };
        match what % 16 {
            6 => std::fs::write(&path, &bytes[..at]).unwrap(),
            7 => std::fs::remove_file(&path).unwrap(),
            8 if !bytes.is_empty() => {
                let mut bent = bytes.clone();
                bent[at.min(bytes.len() - 1)] ^= 1 << (n % 8);
                std::fs::write(&path, bent).unwrap();
            }
            9 => Self::append(&path, &bytes[line(at)]),
            10 => Self::append(&path, fixture),
            11 => {
                let other = self.workspace.root().orchestration().join("agent_trace/0");
                std::fs::create_dir_all(&other).unwrap();
                std::fs::write(other.join(format!("{}.jsonl", n % 3)), &bytes).unwrap();
            }
            12 => {
                let other =
                    self.workspace.root().orchestration().join(format!("trace{}.jsonl", n % 2));
                Self::append(&other, fixture);
            }
            13 => {
                // A rival of a record, sealed like one of ours.
                let stored = bytes[line(at)].trim_ascii_end();
                let Some((body, _)) = split_tail(stored) else { return };
                let Ok(body) = std::str::from_utf8(body) else { return };
                let other = body.replace("INT-00", "INT-66");
                let sealed = format!("{other},\"h\":\"{}\"}}\n", hash(other.as_bytes()));
                Self::append(&path, sealed.as_bytes());
            }
            14 => match self.earlier.pop() {
                Some((path, bytes)) => std::fs::write(path, bytes).unwrap(),
                None => {
                    let heads = Ledger::load(&self.workspace.root()).heads();
                    append::remember_heads(&self.workspace.root(), &heads).unwrap();
                }
            },
            _ => {
                // Insert in the middle, so that the end stays what it was.
                let at = line(at).start;
                let more = [&bytes[..at], fixture.as_slice(), &bytes[at..]].concat();
                std::fs::write(&path, more).unwrap();
            }
        }
        if what & 16 != 0 {
            self.earlier.push((path, bytes));
        }
    }

    /// Something happens to what is kept.
    fn bend(&self, (what, n, m): Step) {
        let folder = self.workspace.root().private().join("index");
        let mut runs: Vec<_> =
            std::fs::read_dir(folder).into_iter().flatten().map(|e| e.unwrap().path()).collect();
        runs.sort();
        if runs.is_empty() {
            return;
        }
        let run = &runs[usize::from(n) % runs.len()];
        let mut bytes = std::fs::read(run).unwrap();
        let at = usize::from(m) * (bytes.len() - 1) / usize::from(u16::MAX);
        match what % 8 {
            0 => bytes[at] ^= 1 << (n % 8),
            1 => bytes.truncate(at),
            2 => bytes = bytes[at..].to_vec(),
            3 => std::fs::rename(run, run.with_file_name(format!("zz-{m}.run"))).unwrap(),
            _ => return,
        }
        if run.exists() {
            std::fs::write(run, bytes).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn an_index_changes_no_answer(
        segments in any::<bool>(),
        steps in prop::collection::vec((any::<Step>(), any::<Step>()), 1..12),
    ) {
        let layout = if segments { Layout::Segments } else { Layout::Single };
        let mut story = Story { workspace: Workspace::new(layout), earlier: Vec::new() };
        let root = story.workspace.root();
        let mut ledger = Ledger::load(&root);
        for (step, bend) in steps {
            story.step(step);
            if bend.0 >= 128 {
                // What is kept must have been at rest.
                std::thread::sleep(Duration::from_millis(24));
            }
            let plain = Plain::load(&root);
            let keeper = Keeper::of_any_size(&root);
            same(&Ledger::with(&root, keeper.as_ref()), &plain, "a first reading");
            story.bend(bend);
            same(&Ledger::with(&root, keeper.as_ref()), &plain, "with what was kept");
            same(&Ledger::load(&root), &plain, "with little kept");
            ledger = ledger.reload(&root);
            same(&ledger, &plain, "a reload");
            same(&ledger.forgetful(), &plain, "without what was asked for");
        }
    }
}

#[test]
fn a_copy_of_a_contradicted_record_is_no_head() {
    let mut story = Story { workspace: Workspace::new(Layout::Single), earlier: Vec::new() };
    let root = story.workspace.root();
    // Three records, of which one is left; a copy of that in another file; and a rival of it.
    for step in [(0, 2108, 32436), (243, 23289, 25103), (147, 45584, 21500)] {
        story.step(step);
    }
    let one_line = |story: &Story| {
        let path = story.pick(0).expect("a file");
        let bytes = std::fs::read(&path).unwrap();
        let end = bytes.iter().position(|&b| b == b'\n').expect("a line") + 1;
        std::fs::write(&path, &bytes[..end]).unwrap();
    };
    one_line(&story);
    for step in [(11, 0, 0), (13, 0, 0)] {
        story.step(step);
    }
    let plain = Plain::load(&root);
    assert_eq!((plain.entries.len(), plain.heads()), (2, Vec::new()), "one contradicts the other");
    same(&Ledger::load(&root), &plain, "a fork beside a copy");
}
