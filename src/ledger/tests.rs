//! The room as a whole: a ledger that is written, damaged, merged and read again.

use std::collections::HashSet;

use super::append::{MAX_LINE, own_writers, remembered_heads};
use super::chain::{Head, hash, split_tail, verify};
use super::*;
use crate::code::{ContentHash, ShapeHash, TokenHash};
use crate::workspace::policy::{Layout, LedgerPolicy};
use crate::workspace::{Policy, RelativePath, Root};

mod indexed;
mod likeness;
mod plain;

fn path(text: &str) -> RelativePath {
    RelativePath::new(text).expect("a test's path is a path")
}

struct Workspace {
    dir: tempfile::TempDir,
    policy: Policy,
}

impl Workspace {
    fn new(layout: Layout) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".orchestration")).unwrap();
        let policy = Policy { ledger: LedgerPolicy { layout: Some(layout) }, ..Policy::default() };
        Self { dir, policy }
    }
    fn root(&self) -> Root {
        Root::find(self.dir.path()).unwrap()
    }
    fn append(&self, record: Record, head: Option<&str>) -> append::Appended {
        Writer::new(&self.root(), &self.policy).append(record, head).unwrap()
    }
    fn file(&self, path: &RelativePath) -> std::path::PathBuf {
        self.root().absolute(path)
    }
    fn read(&self, path: &RelativePath) -> Vec<u8> {
        std::fs::read(self.file(path)).unwrap()
    }
}

fn block(n: u32) -> BlockRecord {
    BlockRecord {
        block: Some(BlockName {
            kind: "function".into(),
            path: format!("Auth.f{n}"),
            parameters: None,
            ordinal: 0,
            language: Some("rust".into()),
        }),
        token_hash: Some(TokenHash::from_ledger(format!("t1:{n:032x}"))),
        shape_hash: Some(ShapeHash::from_ledger(format!("s1:{n:032x}"))),
        tokens: Some(7),
        ..BlockRecord::bare(
            n + 1,
            n + 3,
            ContentHash::from_ledger(format!("sha256:{:064x}", n + 1)),
        )
    }
}

fn mutation(session: &str, file: &str, blocks: impl IntoIterator<Item = u32>) -> Record {
    Record {
        intent_id: Some("INT-001".into()),
        session: Some(session.into()),
        evidence: Some(Evidence::Observed),
        files: vec![FileRecord {
            relative_path: path(file),
            conversations: vec![Conversation {
                url: Some(session.into()),
                contributor: Contributor {
                    entity_type: EntityType::Ai,
                    model_identifier: Some("anthropic/claude".into()),
                },
                ranges: blocks.into_iter().map(block).collect(),
                extra: Extra::new(),
            }],
            related: vec![Related { kind: "intent".into(), value: "INT-001".into() }],
            outline: None,
            reasons: Vec::new(),
            extra: Extra::new(),
        }],
        ..Record::default()
    }
}

fn codes(findings: &[crate::workspace::Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.code.as_str()).collect()
}

/// A chain of `n` records in one file, and the head that the writer remembers.
fn chain_of(n: u32) -> (Vec<u8>, Head) {
    let workspace = Workspace::new(Layout::Segments);
    let all: Vec<_> =
        (0..n).map(|i| workspace.append(mutation("s", "a.rs", [i]), Some("c"))).collect();
    let last = all.last().unwrap();
    (workspace.read(&last.path), last.head.clone())
}

/// Everything that a reader and the one who remembers `head` would find wrong.
fn wrong(bytes: &[u8], head: Option<&Head>) -> Vec<crate::workspace::Finding> {
    let reading = read::bytes(&path("x.jsonl"), bytes);
    let mut findings = reading.findings;
    findings.extend(verify(&reading.entries, head.map(std::slice::from_ref).unwrap_or_default()));
    findings
}

mod writing {
    use super::*;

    #[test]
    fn a_session_continues_its_chain_and_another_has_its_own() {
        let w = Workspace::new(Layout::Segments);
        let one = w.append(mutation("s:1", "a.rs", [1]), Some("c1"));
        let two = w.append(mutation("s:1", "a.rs", [2]), Some("c1"));
        let other = w.append(mutation("s:2", "a.rs", [3]), Some("c1"));
        assert_eq!((one.head.seq, two.head.seq, other.head.seq), (0, 1, 0));
        assert_eq!(one.path, two.path);
        assert_ne!(one.path, other.path);
        assert_eq!(own_writers(&w.root()).len(), 2);
        assert_eq!(remembered_heads(&w.root()).len(), 2);
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        assert_eq!(ledger.entries().len(), 3);
        assert!(ledger.entries().iter().all(|entry| entry.trust == Trust::Own));
        let first = ledger.by_id(&other.records[0]).unwrap();
        assert_eq!(first.record.parents, [format!("{}:1:{}", two.head.writer, two.head.h)]);
    }

    #[test]
    fn a_new_commit_or_a_changed_tail_begins_a_new_chain() {
        for layout in [Layout::Segments, Layout::Single] {
            let w = Workspace::new(layout);
            let first = w.append(mutation("s", "a.rs", [1]), Some("c1"));
            let moved = w.append(mutation("s", "a.rs", [2]), Some("c2"));
            assert_ne!(first.head.writer, moved.head.writer);
            let mut bytes = w.read(&moved.path);
            let at = bytes.len() - 5;
            bytes[at] ^= 1;
            std::fs::write(w.file(&moved.path), &bytes).unwrap();
            let after = w.append(mutation("s", "a.rs", [3]), Some("c2"));
            assert_ne!(after.head.writer, moved.head.writer, "{layout:?}");
            assert_eq!(after.head.seq, 0);
        }
    }

    #[test]
    fn a_record_written_before_the_state_could_be_is_not_forked_off() {
        let w = Workspace::new(Layout::Single);
        w.append(mutation("s", "a.rs", [1]), None);
        let states = w.root().private().join("writers");
        let state = std::fs::read_dir(&states).unwrap().next().unwrap().unwrap().path();
        let before = std::fs::read(&state).unwrap();
        w.append(mutation("s", "a.rs", [2]), None);
        std::fs::write(&state, before).unwrap();
        w.append(mutation("s", "a.rs", [3]), None);
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        assert_eq!(ledger.entries().len(), 3);
    }

    #[test]
    fn a_chain_ends_after_a_thousand_records() {
        let w = Workspace::new(Layout::Single);
        let first = w.append(mutation("s", "a.rs", [1]), None);
        let state =
            std::fs::read_dir(w.root().private().join("writers")).unwrap().next().unwrap().unwrap();
        let text = std::fs::read_to_string(state.path()).unwrap();
        std::fs::write(state.path(), text.replace("\"next\":1,", "\"next\":999,")).unwrap();
        let last = w.append(mutation("s", "a.rs", [2]), None);
        let next = w.append(mutation("s", "a.rs", [3]), None);
        assert_eq!((last.head.seq, &last.head.writer), (999, &first.head.writer));
        assert_eq!(next.head.seq, 0);
        assert_ne!(next.head.writer, first.head.writer);
    }

    #[test]
    fn the_layout_follows_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".orchestration")).unwrap();
        let append = || {
            let root = Root::find(dir.path()).unwrap();
            let policy = Policy::default();
            Writer::new(&root, &policy).append(mutation("s", "a.rs", [1]), None).unwrap().path
        };
        assert_eq!(append().as_str(), ".orchestration/agent_trace.jsonl");
        std::fs::remove_file(dir.path().join(".orchestration/agent_trace.jsonl")).unwrap();
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        std::fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::create_dir_all(dir.path().join(".git/objects")).unwrap();
        std::fs::create_dir_all(dir.path().join(".git/refs")).unwrap();
        assert!(append().as_str().starts_with(".orchestration/agent_trace/2"));
        std::fs::write(dir.path().join(".orchestration/agent_trace.jsonl"), "").unwrap();
        assert_eq!(append().as_str(), ".orchestration/agent_trace.jsonl");
    }

    #[test]
    fn a_torn_end_is_set_aside_and_named() {
        let w = Workspace::new(Layout::Single);
        let first = w.append(mutation("s", "a.rs", [1]), None);
        let mut bytes = w.read(&first.path);
        bytes.extend_from_slice(b"{\"id\":\"torn\",\"times");
        std::fs::write(w.file(&first.path), &bytes).unwrap();
        w.append(mutation("s", "a.rs", [2]), None);
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        assert_eq!(ledger.entries().len(), 2);
        let torn = ledger.entry(1).record.extra["torn"].as_str().unwrap();
        assert!(torn.starts_with("sha256:"));
        let kept = w.root().private().join("torn/agent_trace.jsonl-0");
        assert_eq!(std::fs::read(kept).unwrap(), b"{\"id\":\"torn\",\"times");
    }

    #[test]
    fn a_foreign_end_without_a_line_break_stays_where_it_is() {
        for end in [
            "{\"id\":\"1\",\"timestamp\":\"t\",\"file\":\"a.rs\"}",
            "{\n \"id\":\"1\",\n \"intent_id\":\"I\"\n}",
            "# note",
        ] {
            let w = Workspace::new(Layout::Single);
            let file = w.dir.path().join(".orchestration/agent_trace.jsonl");
            std::fs::write(&file, end).unwrap();
            w.append(mutation("s", "a.rs", [2]), None);
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.starts_with(&format!("{end}\n{{")), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let w = Workspace::new(Layout::Single);
        let outside = tempfile::NamedTempFile::new().unwrap();
        let link = w.dir.path().join(".orchestration/agent_trace.jsonl");
        std::os::unix::fs::symlink(outside.path(), link).unwrap();
        let error = Writer::new(&w.root(), &w.policy).append(mutation("s", "a.rs", [1]), None);
        assert!(error.unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(std::fs::read(outside.path()).unwrap(), b"");

        let w = Workspace::new(Layout::Segments);
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), w.dir.path().join(".orchestration/agent_trace"))
            .unwrap();
        let error = Writer::new(&w.root(), &w.policy).append(mutation("s", "a.rs", [1]), None);
        assert!(error.unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
        assert!(read::files(&w.root()).is_empty());
    }

    #[test]
    fn a_large_mutation_is_written_in_parts_that_say_the_whole() {
        let w = Workspace::new(Layout::Segments);
        let mut record = mutation("s", "a.rs", 0..400);
        record.files[0].outline = Some(OutlineDelta {
            base: Some("o3:base".into()),
            hash: "o3:hash".into(),
            edits: (0..3000).map(|n| format!("{n:032}")).collect(),
        });
        record.files[0].reasons = vec!["a: renamed".into()];
        record.files.push(mutation("s", "b.rs", [900]).files.remove(0));
        let done = w.append(record.clone(), None);
        assert!(done.records.len() > 2);
        assert_eq!(done.records.iter().collect::<HashSet<_>>().len(), done.records.len());
        let bytes = w.read(&done.path);
        assert!(bytes.split(|&b| b == b'\n').all(|line| line.len() <= MAX_LINE));
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        let blocks: Vec<u32> = ledger
            .of_path(&path("a.rs"))
            .iter()
            .map(|&at| ledger.claim(at).range.start_line - 1)
            .collect();
        assert_eq!(blocks, (0..400).collect::<Vec<_>>());
        assert_eq!(ledger.of_path(&path("b.rs")).len(), 1);
        let outlines = ledger.outlines_of(&path("a.rs"));
        let deltas: Vec<_> = outlines.iter().map(|outlined| &outlined.delta).collect();
        assert_eq!(deltas, [record.files[0].outline.as_ref().unwrap()]);
        assert_eq!(ledger.of_intent("INT-001").len(), 401);

        let cut = bytes[..bytes.len() - 1].iter().rposition(|&b| b == b'\n').unwrap() + 1;
        let partial = Ledger::from_files(&[(done.path, bytes[..cut].to_vec())]);
        assert_eq!(codes(partial.findings()), ["ledger-broken"]);
        assert_eq!(partial.of_path(&path("a.rs")).len(), 0);
        assert!(partial.by_id(&done.records[0]).is_none());
        assert_eq!(partial.entries().len(), done.records.len() - 1);
    }

    #[test]
    fn a_block_beyond_the_limit_is_refused_and_nothing_written() {
        let w = Workspace::new(Layout::Single);
        let mut record = mutation("s", "a.rs", [1]);
        let name = record.files[0].conversations[0].ranges[0].block.as_mut().unwrap();
        name.path = "x".repeat(MAX_LINE);
        let error = Writer::new(&w.root(), &w.policy).append(record, None).unwrap_err();
        assert!(matches!(error, AppendError::TooLarge { bytes } if bytes > MAX_LINE));
        assert!(Ledger::load(&w.root()).entries().is_empty());
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let w = Workspace::new(Layout::Single);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let w = &w;
                scope.spawn(move || {
                    for n in 0..50 {
                        w.append(mutation(&format!("s:{thread}"), "a.rs", [n]), Some("c"));
                    }
                });
            }
        });
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        assert_eq!(ledger.entries().len(), 200);
        assert_eq!(own_writers(&w.root()).len(), 4);
    }

    #[test]
    fn names_that_are_ours_cannot_be_brought_in_as_extra() {
        let w = Workspace::new(Layout::Single);
        let mut record = mutation("s", "a.rs", [1]);
        record.extra.insert("writer".into(), "somebody else".into());
        record.extra.insert("h".into(), "0".into());
        record.extra.insert("note2".into(), "kept".into());
        w.append(record, None);
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        let extra = &ledger.entries()[0].record.extra;
        assert_eq!(extra.keys().collect::<Vec<_>>(), ["note2"]);
    }
}

mod lines {
    use super::*;

    #[test]
    fn the_keys_stand_in_their_order_and_everything_unknown_survives() {
        let line = r#"{"id":"1","timestamp":"2026-02-18T12:00:00.000Z","kind":"mutation","intent_id":null,"files":[{"relative_path":"a.rs","conversations":[{"contributor":{"entity_type":"AI"},"ranges":[{"start_line":1,"end_line":2,"content_hash":"sha256:0","u1":[1,{"x":null}]}],"u2":true}],"u3":"x"}],"part":[1,2],"mutation":"m","u4":{"b":1,"a":2},"parents":["w:1:h"],"writer":"w","seq":17,"prev":"p"}"#;
        let record: Record = serde_json::from_str(line).unwrap();
        assert_eq!(record.part, Some((1, 2)));
        assert_eq!(record.extra.len(), 1);
        assert_eq!(serde_json::to_string(&record).unwrap(), line);
    }

    #[test]
    fn the_tail_is_fixed() {
        let h = hash(b"{\"a\":1");
        let line = format!("{{\"a\":1,\"h\":\"{h}\"}}");
        assert_eq!(split_tail(line.as_bytes()), Some((&b"{\"a\":1"[..], h.as_str())));
        for bad in [
            line.to_uppercase(),
            format!("{line} "),
            line.replace(",\"h\"", ", \"h\""),
            String::new(),
            line[1..].replace(&h, &h[1..]),
        ] {
            assert_eq!(split_tail(bad.as_bytes()), None, "{bad}");
        }
        // The format outlives this program: the digest of a known line is fixed.
        assert_eq!(h, "7e053ab427db3664871b33307feef2dc92e9ade1a4fa4a79cf21e377211b7081");
    }

    #[test]
    fn the_schema_of_a_record_can_be_had() {
        let schema = serde_json::to_value(schemars::schema_for!(Record)).unwrap();
        assert_eq!(schema["title"], "Record");
        assert!(schema["properties"]["part"].is_object());
    }
}

mod verification {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
        bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn every_bit_that_flips_is_found() {
        let (bytes, _) = chain_of(2);
        assert_eq!(wrong(&bytes, None), []);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert_ne!(wrong(&changed, None), [], "byte {at} bit {bit}");
            }
        }
    }

    #[test]
    fn every_record_of_a_long_chain_is_guarded() {
        let (bytes, head) = chain_of(30);
        let all = lines(&bytes);
        assert_eq!(all.len(), 30);
        assert_eq!(wrong(&bytes, Some(&head)), []);
        let mut start = 0;
        for at in 0..30 {
            let length = all[at].len();
            for within in [1, 7, length / 2, length - 2, length - 1] {
                assert_ne!(wrong(&bytes[..start + within], None), [], "cut {at} at {within}");
            }
            for byte in [0, length / 3, length - 3, length - 1] {
                let mut changed = bytes.clone();
                changed[start + byte] ^= 1;
                assert_ne!(wrong(&changed, None), [], "record {at} byte {byte}");
            }
            let mut without = all.clone();
            without.remove(at);
            assert_ne!(wrong(&without.concat(), Some(&head)), [], "record {at} deleted");
            let mut twice = all.clone();
            twice.insert(29 - at, all[at].clone());
            let found = wrong(&twice.concat(), None);
            assert!(codes(&found).contains(&"ledger-duplicate"), "record {at} doubled");
            for other in at + 1..30 {
                let mut swapped = all.clone();
                swapped.swap(at, other);
                assert_ne!(wrong(&swapped.concat(), None), [], "{at} and {other} swapped");
            }
            if at > 0 {
                let cut = wrong(&bytes[..start], Some(&head));
                assert_eq!(codes(&cut), ["ledger-truncated"], "cut before {at}");
                // What a chain cannot tell without memory, we do not claim to find.
                assert_eq!(wrong(&bytes[..start], None), []);
            }
            start += length;
        }
    }

    #[test]
    fn a_chain_that_is_not_here_is_no_finding() {
        let (_, head) = chain_of(2);
        assert_eq!(wrong(b"", Some(&head)), []);
    }

    #[test]
    fn a_chain_written_anew_is_found_by_its_head() {
        let (one, _) = chain_of(3);
        let (_, head) = chain_of(3);
        let writer = String::from_utf8(one.clone()).unwrap();
        let own = writer.split("\"writer\":\"").nth(1).unwrap()[..32].to_owned();
        let stranger = Head { writer: own, ..head };
        assert_eq!(codes(&wrong(&one, Some(&stranger))), ["ledger-truncated"]);
    }

    #[test]
    fn a_fork_condemns_both_and_a_forgery_only_itself() {
        let w = Workspace::new(Layout::Single);
        let first = w.append(mutation("s", "a.rs", [1]), None);
        let before = w.read(&first.path);
        w.append(mutation("s", "a.rs", [2]), None);
        let bytes = w.read(&first.path);
        let second = &bytes[before.len()..];
        let body = split_tail(second.trim_ascii_end()).unwrap().0;
        let other = String::from_utf8(body.to_vec()).unwrap().replace("INT-001", "INT-666");
        let sealed = format!("{other},\"h\":\"{}\"}}\n", hash(other.as_bytes()));
        let forked = [bytes.as_slice(), sealed.as_bytes()].concat();
        let ledger = Ledger::from_files(&[(first.path.clone(), forked)]);
        assert_eq!(codes(ledger.findings()), ["ledger-fork"]);
        let trust: Vec<Trust> = ledger.entries().iter().map(|entry| entry.trust).collect();
        assert_eq!(trust, [Trust::Claimed, Trust::Contradicted, Trust::Contradicted]);

        let forged = sealed.replace("INT-666", "INT-777");
        let bytes = [bytes.as_slice(), forged.as_bytes()].concat();
        let ledger = Ledger::from_files(&[(first.path, bytes)]);
        assert_eq!(codes(ledger.findings()), ["ledger-forged"]);
        let trusted: Vec<Trust> = ledger.entries().iter().map(|entry| entry.trust).collect();
        assert_eq!(trusted.iter().filter(|&&t| t == Trust::Claimed).count(), 2);
    }

    #[test]
    fn nobody_else_writes_in_our_name() {
        let w = Workspace::new(Layout::Single);
        let first = w.append(mutation("s", "a.rs", [1]), None);
        let last = w.append(mutation("s", "a.rs", [2]), None);
        let ours = String::from_utf8(w.read(&first.path)).unwrap();
        let body = split_tail(ours.lines().last().unwrap().as_bytes()).unwrap().0;
        let body = String::from_utf8(body.to_vec()).unwrap();
        let seal = |body: &str| format!("{body},\"h\":\"{}\"}}\n", hash(body.as_bytes()));
        let rival = seal(&body.replace("INT-001", "INT-666"));
        let next = body.replace("\"seq\":1,", "\"seq\":2,").replace(&first.head.h, &last.head.h);
        let next = seal(&next.replace(&last.records[0], "theirs"));
        std::fs::write(w.file(&first.path), format!("{ours}{rival}{next}")).unwrap();
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), ["ledger-fork"]);
        let trust: Vec<(bool, Trust)> = ledger
            .entries()
            .iter()
            .map(|entry| {
                (
                    ours.as_bytes().windows(entry.stored.len()).any(|w| w == &*entry.stored),
                    entry.trust,
                )
            })
            .collect();
        assert_eq!(
            trust,
            [
                (true, Trust::Own),
                (true, Trust::Own),
                (false, Trust::Contradicted),
                (false, Trust::Claimed)
            ]
        );
    }

    #[test]
    fn a_merge_in_any_order_stays_valid() {
        let (one, _) = chain_of(3);
        let (two, _) = chain_of(3);
        let (one, two) = (lines(&one), lines(&two));
        for order in 0..64_u32 {
            let (mut a, mut b) = (one.iter(), two.iter());
            let mut merged = Vec::new();
            for step in 0..6 {
                let pick = if order >> step & 1 == 0 { a.next() } else { b.next() };
                merged.extend(pick.into_iter().flatten().copied());
            }
            merged.extend(a.chain(b).flatten().copied());
            assert_eq!(wrong(&merged, None), [], "{order:b}");
        }
        let twice = [one.concat(), two.concat(), one.concat()].concat();
        let ledger = Ledger::from_files(&[(path("x.jsonl"), twice)]);
        assert_eq!(codes(ledger.findings()), ["ledger-duplicate"; 3]);
        assert_eq!(ledger.entries().len(), 6);
        assert_eq!(ledger.of_path(&path("a.rs")).len(), 6);
    }

    #[test]
    fn what_ours_must_not_hold_is_reported_and_kept() {
        let (bytes, _) = chain_of(2);
        let text = String::from_utf8(bytes).unwrap();
        let seal = |body: &str| format!("{body},\"h\":\"{}\"}}\n", hash(body.as_bytes()));
        let body = split_tail(text.lines().next().unwrap().as_bytes()).unwrap().0;
        let body = std::str::from_utf8(body).unwrap();
        let twice = seal(&body.replacen("{", "{\"x\":1,\"x\":2,", 1));
        let upper = text.replacen(
            &text.lines().next().unwrap()[body.len() + 6..body.len() + 70],
            &"A".repeat(64),
            1,
        );
        let table = [
            ("crlf", text.replace('\n', "\r\n"), "ledger-unreadable", 2),
            ("mark", format!("\u{feff}{text}"), "ledger-unreadable", 2),
            ("twice", twice, "ledger-forged", 0),
            ("upper", upper, "ledger-forged", 2),
            ("no end", text.trim_end().to_owned(), "ledger-torn", 2),
            ("kind", seal(&body.replace("\"mutation\"", "\"later\"")), "", 1),
        ];
        for (name, text, code, entries) in table {
            let reading = read::bytes(&path("x.jsonl"), text.as_bytes());
            let found = codes(&reading.findings);
            assert_eq!(found.first().copied().unwrap_or_default(), code, "{name}: {found:?}");
            assert_eq!(reading.entries.len(), entries, "{name}");
            assert!(reading.entries.iter().all(|e| e.dialect == Dialect::Canonical), "{name}");
        }
    }

    #[test]
    fn a_hostile_sequence_number_breaks_nothing() {
        let seal = |seq: u64| {
            let body = format!(
                "{{\"id\":\"{seq}\",\"timestamp\":\"t\",\"kind\":\"ack\",\"intent_id\":null,\"part\":[4294967295,4294967295],\"writer\":\"w\",\"seq\":{seq},\"prev\":null"
            );
            format!("{body},\"h\":\"{}\"}}\n", hash(body.as_bytes()))
        };
        let text = format!("{}{}{}", seal(u64::MAX), seal(u64::MAX - 1), seal(0));
        let ledger = Ledger::from_files(&[(path("x.jsonl"), text.into_bytes())]);
        assert!(codes(ledger.findings()).contains(&"ledger-broken"));
        assert_eq!(ledger.entries().len(), 3);
    }
}

mod looking_up {
    use std::io::Write;

    use super::*;

    fn shown(ledger: &Ledger) -> Vec<String> {
        let show = |entry: &Entry| {
            format!(
                "{} {}..{} {:?}",
                entry.record.id, entry.origin.start, entry.origin.end, entry.trust
            )
        };
        let findings =
            ledger.findings().iter().map(|f| format!("{} {:?}", f.code.as_str(), f.lines));
        ledger.entries().iter().map(show).chain(findings).collect()
    }

    #[test]
    fn a_reload_sees_what_a_load_would() {
        let w = Workspace::new(Layout::Single);
        let file = path(".orchestration/agent_trace.jsonl");
        let mut ledger = Ledger::load(&w.root());
        assert!(ledger.entries().is_empty());
        let mut step = |what: &str| {
            assert!(!ledger.is_current(&w.root()), "{what}");
            ledger = ledger.reload(&w.root());
            assert!(ledger.is_current(&w.root()), "{what}");
            assert_eq!(shown(&ledger), shown(&Ledger::load(&w.root())), "{what}");
            (ledger.entries().len(), ledger.findings().len())
        };
        w.append(mutation("s", "a.rs", [1]), None);
        assert_eq!(step("created"), (1, 0));
        w.append(mutation("s", "a.rs", [2]), None);
        w.append(mutation("t", "b.rs", [3]), None);
        assert_eq!(step("grown"), (3, 0));
        let good = w.read(&file);
        let add = |bytes: &[u8]| {
            let mut open = std::fs::OpenOptions::new().append(true).open(w.file(&file)).unwrap();
            open.write_all(bytes).unwrap();
        };
        add(b"{\n\"id\":\"open\",");
        assert_eq!(step("an open object"), (3, 2));
        add(b"\n\"intent_id\":\"I\"}\n");
        assert_eq!(step("closed"), (4, 0));
        add(&good[..good.iter().position(|&b| b == b'\n').unwrap() + 1]);
        assert_eq!(step("a copy"), (4, 1));
        w.append(mutation("u", "b.rs", [4]), None);
        assert_eq!(step("behind the copy"), (5, 1));
        std::fs::write(w.file(&file), &good).unwrap();
        let (entries, findings) = step("cut back");
        assert_eq!((entries, findings), (3, 0));
        let write_later = |bytes: &[u8], seconds: u64| {
            std::fs::write(w.file(&file), bytes).unwrap();
            let later = std::time::SystemTime::now() + std::time::Duration::from_secs(seconds);
            std::fs::File::options()
                .append(true)
                .open(w.file(&file))
                .unwrap()
                .set_modified(later)
                .unwrap();
        };
        let mut forged = good.clone();
        let at = forged.windows(7).position(|w| w == b"INT-001").unwrap();
        forged[at + 6] = b'7';
        write_later(&forged, 1);
        assert_eq!(step("one word of the first line changed"), (3, 1));
        write_later(&good, 2);
        assert_eq!(step("and put back"), (3, 0));
        std::fs::write(w.file(&file), good.to_ascii_uppercase()).unwrap();
        step("written anew with the same length");
        std::fs::remove_file(w.file(&file)).unwrap();
        assert_eq!(step("gone"), (0, 0));
    }

    #[test]
    fn a_reload_takes_nothing_for_granted_that_was_changed_meanwhile() {
        let w = Workspace::new(Layout::Single);
        let file = path(".orchestration/agent_trace.jsonl");
        let first = w.append(mutation("s", "a.rs", [1]), None);
        w.append(mutation("s", "a.rs", [2]), None);
        let ledger = Ledger::load(&w.root());
        let mut bytes = w.read(&file);
        let at = bytes.windows(7).position(|w| w == b"INT-001").unwrap();
        bytes[at] = b'X';
        std::fs::write(w.file(&file), bytes).unwrap();
        // What was read before says nothing of a line that is not there any more.
        let gone = ledger.claim(ledger.of_path(&path("a.rs"))[0]);
        assert_eq!((gone.entry.trust, gone.range.block.as_ref()), (Trust::Contradicted, None));
        assert_eq!(ledger.claim(ledger.of_path(&path("a.rs"))[1]).entry.trust, Trust::Own);
        w.append(mutation("s", "a.rs", [3]), None);
        let again = ledger.reload(&w.root());
        assert_eq!(again.entries().len(), 3);
        assert_eq!(codes(again.findings()), ["ledger-forged"]);
        assert_eq!(again.by_id(&first.records[0]).unwrap().trust, Trust::Contradicted);
    }

    #[test]
    fn claims_are_found_by_what_they_are() {
        let record = |id: &str, time: &str, file: &str, n: u32| Record {
            id: id.into(),
            timestamp: time.into(),
            ..mutation("s", file, [n])
        };
        let w = Workspace::new(Layout::Single);
        w.append(record("late", "2026-02-18T14:00:00.000Z", "a.rs", 1), None);
        w.append(record("set back", "2026-02-18T10:00:00.000Z", "b.rs", 1), None);
        w.append(
            Record {
                session: Some("t".into()),
                ..record("early", "2026-02-18T14:30:00+02:00", "a.rs", 2)
            },
            None,
        );
        let ledger = Ledger::load(&w.root());
        let ids: Vec<&str> = ledger.entries().iter().map(|e| e.record.id.as_str()).collect();
        assert_eq!(ids, ["early", "late", "set back"]);
        let of = |claims: &[ClaimRef]| -> Vec<String> {
            claims.iter().map(|&at| ledger.claim(at).entry.record.id.clone()).collect()
        };
        assert_eq!(of(ledger.of_path(&path("a.rs"))), ["early", "late"]);
        assert_eq!(of(ledger.by_content(&block(1).content_hash)), ["late", "set back"]);
        assert_eq!(of(ledger.by_tokens(block(2).token_hash.as_ref().unwrap())), ["early"]);
        assert_eq!(of(ledger.by_shape(block(2).shape_hash.as_ref().unwrap())), ["early"]);
        assert_eq!(of(ledger.of_intent("INT-001")), ["early", "late", "set back"]);
        assert_eq!(of(ledger.of_intent("INT-002")), [""; 0]);
        assert_eq!(ledger.paths(), [&path("a.rs"), &path("b.rs")]);
        assert_eq!(ledger.by_id("early").unwrap().record.session.as_deref(), Some("t"));
    }

    #[test]
    fn what_others_wrote_is_claimed_and_its_loss_is_found() {
        let theirs = Workspace::new(Layout::Segments);
        for n in 0..3 {
            theirs.append(mutation("s", "a.rs", [n]), None);
        }
        let file = read::files(&theirs.root()).remove(0);
        let bytes = theirs.read(&file);
        let mine = Workspace::new(Layout::Segments);
        let copy = mine.file(&file);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(&copy, &bytes).unwrap();
        let ledger = Ledger::load(&mine.root());
        assert!(ledger.entries().iter().all(|entry| entry.trust == Trust::Claimed));
        append::remember_heads(&mine.root(), &ledger.heads()).unwrap();
        assert_eq!(remembered_heads(&mine.root()), ledger.heads());
        assert!(own_writers(&mine.root()).is_empty());
        let one = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
        std::fs::write(&copy, &bytes[..one]).unwrap();
        let shorter = Ledger::load(&mine.root());
        assert_eq!(codes(shorter.findings()), ["ledger-truncated"]);
        append::remember_heads(&mine.root(), &shorter.heads()).unwrap();
        assert_eq!(remembered_heads(&mine.root()), ledger.heads());
        std::fs::remove_file(&copy).unwrap();
        assert_eq!(codes(Ledger::load(&mine.root()).findings()), [""; 0]);
    }

    #[test]
    fn a_line_without_end_is_passed_over_in_bounded_memory() {
        let w = Workspace::new(Layout::Single);
        let file = path(".orchestration/agent_trace.jsonl");
        let mut open = std::fs::File::create(w.file(&file)).unwrap();
        open.write_all(b"{\"id\":\"1\",\"timestamp\":\"t\",\"intent_id\":\"I\"}\n{\"id\":\"")
            .unwrap();
        let filler = vec![b'x'; 1024 * 1024];
        for _ in 0..33 {
            open.write_all(&filler).unwrap();
        }
        open.write_all(b"\"}\n{\"id\":\"2\",\"timestamp\":\"t\",\"intent_id\":\"I\"}\n").unwrap();
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), ["ledger-unreadable"]);
        let lines: Vec<u32> = ledger.entries().iter().map(|entry| entry.origin.line).collect();
        assert_eq!(lines, [1, 3]);
    }
}
