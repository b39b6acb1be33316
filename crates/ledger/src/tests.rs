//! Tests of the whole room: a ledger is written, damaged, merged and read again.

use super::chain::{hash, split_tail};
use super::*;
use code::ContentHash;
use ground::policy::{Layout, LedgerPolicy};
use ground::{Policy, RelativePath, Root};

const SINGLE: &str = ".orchestration/agent_trace.jsonl";

fn path(text: &str) -> RelativePath {
    RelativePath::new(text).expect("a test's path is a path")
}

struct TestWorkspace {
    dir: tempfile::TempDir,
    policy: Policy,
}

impl TestWorkspace {
    fn new(layout: Layout) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".orchestration")).unwrap();
        let policy = Policy { ledger: LedgerPolicy { layout: Some(layout) }, ..Policy::default() };
        Self { dir, policy }
    }
    fn root(&self) -> Root {
        Root::find(self.dir.path(), &ground::Environment::of_process()).unwrap()
    }
    fn append(&self, record: Record) -> String {
        let id = record.id.clone();
        append_records(&self.root(), &self.policy, vec![record]).unwrap();
        id
    }
    fn file(&self) -> std::path::PathBuf {
        self.root().absolute(&path(SINGLE))
    }
    fn read(&self) -> Vec<u8> {
        std::fs::read(self.file()).unwrap()
    }
}

fn block(n: u32) -> BlockRecord {
    BlockRecord {
        block: Some(BlockName {
            kind: "function".into(),
            path: format!("Auth.f{n}"),
            language: Some("rust".into()),
        }),
        ..BlockRecord::with_lines_only(
            n + 1,
            n + 3,
            ContentHash::from_ledger(format!("sha256:{0:032x}{0:032x}", n + 1)),
        )
    }
}

fn mutation(session: &str, file: &str, blocks: impl IntoIterator<Item = u32>) -> Record {
    Record {
        id: uuid::Uuid::now_v7().to_string(),
        timestamp: ground::clock::now(),
        intent_id: Some("INT-001".into()),
        session: Some(session.into()),
        strength: Some(Strength::Observed),
        files: vec![FileRecord {
            conversations: vec![Conversation {
                url: Some(session.into()),
                contributor: Contributor {
                    entity_type: EntityType::Ai,
                    model_identifier: Some("anthropic/claude".into()),
                    name: None,
                },
                ranges: blocks.into_iter().map(block).collect(),
                lines: LineRuns::default(),
                related: vec![Related { kind: "intent".into(), value: "INT-001".into() }],
                extra: Extra::new(),
            }],
            ..FileRecord::with_path_only(path(file))
        }],
        ..Record::default()
    }
}

fn codes(findings: &[ground::Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.code.as_str()).collect()
}

fn chain_of(n: u32) -> Vec<u8> {
    let workspace = TestWorkspace::new(Layout::Single);
    (0..n).for_each(|i| drop(workspace.append(mutation("s", "a.rs", [i]))));
    workspace.read()
}

fn wrong(bytes: &[u8]) -> Vec<ground::Finding> {
    Ledger::from_files(&[(path("x.jsonl"), bytes.to_vec())]).findings().to_vec()
}

mod writing {
    use super::*;

    #[test]
    fn each_session_continues_its_own_chain() {
        let w = TestWorkspace::new(Layout::Single);
        w.append(mutation("s:1", "a.rs", [1]));
        w.append(mutation("s:2", "a.rs", [3]));
        w.append(mutation("s:1", "a.rs", [2]));
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        assert!(ledger.entries().iter().all(|entry| entry.trust == Trust::Own));
        let placed = |entry: &std::sync::Arc<Entry>| {
            (entry.record.session.clone().unwrap(), entry.record.seq)
        };
        let mut placed: Vec<_> = ledger.entries().iter().map(placed).collect();
        placed.sort();
        assert_eq!(placed, [("s:1".into(), 0), ("s:1".into(), 1), ("s:2".into(), 0)]);
        // In another clone, the records in the same file were written by somebody else.
        let other = TestWorkspace::new(Layout::Single);
        std::fs::write(other.file(), w.read()).unwrap();
        let theirs = Ledger::load(&other.root());
        assert!(theirs.entries().iter().all(|entry| entry.trust == Trust::Claimed));
    }

    #[test]
    #[ignore = "slow"]
    fn an_incomplete_last_line_is_removed() {
        let w = TestWorkspace::new(Layout::Single);
        w.append(mutation("s", "a.rs", [1]));
        let whole = w.read();
        for length in 1..whole.len() - 1 {
            std::fs::write(w.file(), [&whole[..], &whole[..length]].concat()).unwrap();
            w.append(mutation("s", "a.rs", [2]));
            let ledger = Ledger::load(&w.root());
            assert_eq!(codes(ledger.findings()), Vec::<&str>::new(), "{length}");
            assert_eq!(ledger.entries().len(), 2, "{length}");
        }
    }

    #[test]
    fn a_last_line_of_another_tool_is_kept_without_a_line_break() {
        for end in [
            "{\"id\":\"1\",\"timestamp\":\"t\",\"file\":\"a.rs\"}",
            "{\n \"id\":\"1\",\n \"intent_id\":\"I\"\n}",
            "# note",
        ] {
            let w = TestWorkspace::new(Layout::Single);
            let file = w.dir.path().join(".orchestration/agent_trace.jsonl");
            std::fs::write(&file, end).unwrap();
            w.append(mutation("s", "a.rs", [2]));
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.starts_with(&format!("{end}\n{{")), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_ledger_is_not_written_through_a_link() {
        let w = TestWorkspace::new(Layout::Single);
        let outside = tempfile::NamedTempFile::new().unwrap();
        let link = w.dir.path().join(".orchestration/agent_trace.jsonl");
        std::os::unix::fs::symlink(outside.path(), link).unwrap();
        let error = append_records(&w.root(), &w.policy, vec![mutation("s", "a.rs", [1])]);
        assert!(error.unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(std::fs::read(outside.path()).unwrap(), b"");
    }

    #[test]
    fn concurrent_writers_lose_nothing() {
        let w = TestWorkspace::new(Layout::Single);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let w = &w;
                scope.spawn(move || {
                    for n in 0..50 {
                        w.append(mutation(&format!("s:{thread}"), "a.rs", [n]));
                    }
                });
            }
        });
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        assert_eq!(ledger.entries().len(), 200);
    }

    #[test]
    fn records_of_one_call_are_appended_as_one_chain_or_not_at_all() {
        let w = TestWorkspace::new(Layout::Single);
        w.append(mutation("s", "a.rs", [0]));
        let few = (1..4).map(|n| mutation("s", "a.rs", [n])).collect();
        append_records(&w.root(), &w.policy, few).unwrap();
        let before = w.read();
        let large = Record {
            note: Some("x".repeat(super::super::ledger_file::MAX_OBJECT)),
            ..mutation("s", "a.rs", [5])
        };
        let error = append_records(&w.root(), &w.policy, vec![mutation("s", "a.rs", [4]), large]);
        assert!(matches!(error, Err(AppendError::TooLarge { .. })));
        assert_eq!(w.read(), before);
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        let numbers: Vec<u64> = ledger.entries().iter().map(|entry| entry.record.seq).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
    }

    #[test]
    fn extra_fields_cannot_use_the_names_of_our_keys() {
        let w = TestWorkspace::new(Layout::Single);
        let mut record = mutation("s", "a.rs", [1]);
        record.extra.insert("writer".into(), "somebody else".into());
        record.extra.insert("h".into(), "0".into());
        record.extra.insert("note2".into(), "kept".into());
        w.append(record);
        let ledger = Ledger::load(&w.root());
        assert_eq!(codes(ledger.findings()), Vec::<&str>::new());
        let extra = &ledger.entries()[0].record.extra;
        assert_eq!(extra.keys().collect::<Vec<_>>(), ["note2"]);
    }
}

mod lines {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_unknown_fields_are_kept() {
        let line = r#"{"id":"1","timestamp":"2026-02-18T12:00:00.000Z","kind":"mutation","intent_id":null,"files":[{"relative_path":"a.rs","conversations":[{"contributor":{"entity_type":"AI"},"ranges":[{"start_line":1,"end_line":2,"content_hash":"sha256:0","u1":[1,{"x":null}]}],"u2":true}],"u3":"x"}],"u4":{"b":1,"a":2},"writer":"w","seq":17,"prev":"p"}"#;
        let record: Record = serde_json::from_str(line).unwrap();
        assert_eq!(record.extra.len(), 1);
        assert_eq!(serde_json::to_string(&record).unwrap(), line);
    }

    #[test]
    fn the_hash_of_a_known_line_is_fixed() {
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
        // Other programs and later versions read this format, so the digest of a known line must
        // never change.
        assert_eq!(h, "7e053ab427db3664871b33307feef2dc92e9ade1a4fa4a79cf21e377211b7081");
    }

    #[test]
    fn the_schema_of_a_record_can_be_generated() {
        let schema = serde_json::to_value(schemars::schema_for!(Record)).unwrap();
        assert_eq!(schema["title"], "Record");
    }

    /// A foreign value under a name of ours would be read as our own value.
    #[test]
    fn the_names_of_our_fields_are_listed_for_foreign_records() {
        let schema = serde_json::to_value(schemars::schema_for!(Record)).unwrap();
        let lists = [
            (&schema, dialect::OURS),
            (&schema["$defs"]["FileRecord"], dialect_files::FILE_OURS),
            (&schema["$defs"]["Conversation"], dialect_files::CONVERSATION_OURS),
            (&schema["$defs"]["BlockRecord"], dialect_files::RANGE_OURS),
        ];
        for (of, listed) in lists {
            let fields = of["properties"].as_object().unwrap();
            for field in fields.keys() {
                assert!(listed.contains(&field.as_str()), "{field}");
            }
        }
    }
}

mod verification {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
        bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect()
    }

    #[test]
    #[ignore = "slow"]
    fn every_flipped_bit_is_found() {
        let bytes = chain_of(2);
        assert_eq!(wrong(&bytes), []);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert_ne!(wrong(&changed), [], "byte {at} bit {bit}");
            }
        }
    }

    #[test]
    fn a_change_of_any_record_in_a_long_chain_is_found() {
        const LENGTH: usize = 12;
        let bytes = chain_of(LENGTH as u32);
        let all = lines(&bytes);
        assert_eq!(all.len(), LENGTH);
        assert_eq!(wrong(&bytes), []);
        let mut start = 0;
        for at in 0..LENGTH {
            let length = all[at].len();
            for within in [1, 7, length / 2, length - 2, length - 1] {
                assert_ne!(wrong(&bytes[..start + within]), [], "cut {at} at {within}");
            }
            for byte in [0, length / 3, length - 3, length - 1] {
                let mut changed = bytes.clone();
                changed[start + byte] ^= 1;
                assert_ne!(wrong(&changed), [], "record {at} byte {byte}");
            }
            let mut without = all.clone();
            without.remove(at);
            if at < LENGTH - 1 {
                assert_ne!(wrong(&without.concat()), [], "record {at} deleted");
            }
            let mut twice = all.clone();
            twice.insert(LENGTH - 1 - at, all[at].clone());
            let found = wrong(&twice.concat());
            assert!(codes(&found).contains(&"ledger-duplicate"), "record {at} doubled");
            for other in at + 1..LENGTH {
                let mut swapped = all.clone();
                swapped.swap(at, other);
                assert_ne!(wrong(&swapped.concat()), [], "{at} and {other} swapped");
            }
            start += length;
        }
    }

    #[test]
    fn a_chain_may_go_on_in_several_places_and_each_record_names_the_one_before() {
        let base = TestWorkspace::new(Layout::Single);
        base.append(mutation("s", "a.rs", [1]));
        let first = base.read();
        let mut branches: Vec<Vec<Vec<u8>>> = Vec::new();
        for _ in 0..2 {
            std::fs::write(base.file(), &first).unwrap();
            (2..4).for_each(|line| drop(base.append(mutation("s", "a.rs", [line]))));
            branches.push(lines(&base.read()[first.len()..]));
        }
        let merged = |rows: &[&[u8]]| [&first[..], &rows.concat()].concat();
        let [a, b] = &branches[..] else { panic!("two branches") };
        for rows in [[&*a[0], &a[1], &b[0], &b[1]], [&*b[0], &a[0], &b[1], &a[1]]] {
            assert_eq!(codes(&wrong(&merged(&rows))), ["ledger-fork", "ledger-fork"]);
        }
        for rows in [[&*a[0], &a[1], &b[1], &b[0]], [&*a[1], &b[0], &a[0], &b[1]]] {
            assert!(codes(&wrong(&merged(&rows))).contains(&"ledger-broken"));
        }
        assert!(codes(&wrong(&merged(&[&a[0], &a[1], &b[1]]))).contains(&"ledger-broken"));
    }

    #[test]
    fn both_records_of_a_fork_count_and_a_forgery_does_not() {
        let w = TestWorkspace::new(Layout::Single);
        w.append(mutation("s", "a.rs", [1]));
        let before = w.read();
        w.append(mutation("s", "a.rs", [2]));
        let bytes = w.read();
        let second = &bytes[before.len()..];
        let body = split_tail(second.trim_ascii_end()).unwrap().0;
        let other = String::from_utf8(body.to_vec()).unwrap().replace("INT-001", "INT-666");
        let sealed = format!("{other},\"h\":\"{}\"}}\n", hash(other.as_bytes()));
        let forked = [bytes.as_slice(), sealed.as_bytes()].concat();
        let ledger = Ledger::from_files(&[(path(SINGLE), forked)]);
        assert_eq!(codes(ledger.findings()), ["ledger-fork"]);
        assert!(ledger.entries().iter().all(|entry| entry.trust == Trust::Claimed));

        let forged = sealed.replace("INT-666", "INT-777");
        let bytes = [bytes.as_slice(), forged.as_bytes()].concat();
        let ledger = Ledger::from_files(&[(path(SINGLE), bytes)]);
        assert_eq!(codes(ledger.findings()), ["ledger-forged"]);
        let trusted: Vec<Trust> = ledger.entries().iter().map(|entry| entry.trust).collect();
        assert_eq!(trusted.iter().filter(|&&t| t == Trust::Claimed).count(), 2);
    }

    #[test]
    fn records_of_one_writer_in_two_files_are_sorted_by_time() {
        let w = TestWorkspace::new(Layout::Single);
        let at = |time: &str| Record { timestamp: time.into(), ..mutation("s", "a.rs", [1]) };
        let older = w.append(at("2026-02-18T10:00:00.000Z"));
        let moved = (path(".orchestration/agent_trace/old.jsonl"), w.read());
        std::fs::remove_file(w.file()).unwrap();
        let newer = w.append(at("2026-02-18T11:00:00.000Z"));
        let ledger = Ledger::from_files(&[(path(SINGLE), w.read()), moved]);
        let ids: Vec<&str> = ledger.entries().iter().map(|entry| &*entry.record.id).collect();
        assert_eq!(ids, [older, newer]);
    }

    #[test]
    fn the_advice_for_converted_line_ends_keeps_git_from_converting_them() {
        let text = "{\"evidence\":2}\n";
        let path = crate::evidence::path_of(Digest::compute(text.as_bytes()), "2026-02");
        let help = |bytes: &str| read::bytes(&path, bytes.as_bytes()).findings[0].help.clone();
        assert!(help("{\"evidence\":2}\r\n").contains("`*.jsonl -text`"));
        assert!(help("{\"evidence\":1}\n").contains("git checkout"));
    }

    #[test]
    fn a_command_in_the_advice_names_the_file_as_one_word() {
        let path = path(".orchestration/agent_trace/a$(b).jsonl");
        let found = read::bytes(&path, b"{\"writer\":\"x\",\"seq\":0}\n").findings;
        assert!(found[0].help.contains("-- '.orchestration/agent_trace/a$(b).jsonl'`"));
    }

    #[test]
    fn the_lines_about_one_file_are_the_same_as_among_all_lines() {
        let line = |path: &str| format!("{{\"path\":\"{path}\",\"lines\":\"1:AAAAAA\"}}\n");
        let header = concat!(
            r#"{"evidence":3,"intents":[{"id":"INT-001"}],"#,
            r#""sessions":[{"type":"AI","time":"2026-02-18T12:00:00Z"}]}"#,
            "\n"
        );
        // The second line cannot be read, and the path of the last one is written with an escape.
        let unreadable = "{\"path\":\"b.rs\",\"lines\":7}\n".to_owned();
        let lines = [line("a.rs"), unreadable, line("b.rs"), line("\\u0061.rs")];
        let text =
            [header.to_owned(), lines.concat()].concat().repeat(2).replacen("INT-001", "I-2", 1);
        let file = crate::evidence::path_of(Digest::compute(text.as_bytes()), "2026-02");
        let ids = |entries: &[std::sync::Arc<Entry>], about: &RelativePath| -> Vec<String> {
            let is_about = |entry: &&std::sync::Arc<Entry>| {
                entry.record.files.iter().any(|one| one.relative_path == *about)
            };
            entries.iter().filter(is_about).map(|entry| entry.record.id.clone()).collect()
        };
        let all = read::bytes(&file, text.as_bytes()).entries;
        for (about, count) in [("a.rs", 4), ("b.rs", 2), ("c.rs", 0)] {
            let about = path(about);
            let some = read::evidence_about(&file, text.as_bytes(), &about).entries;
            assert_eq!(ids(&some, &about), ids(&all, &about));
            assert_eq!(ids(&some, &about).len(), count, "{about}");
        }
    }

    #[test]
    fn a_section_that_a_file_repeats_counts_once() {
        let section =
            "{\"evidence\":2}\n{\"id\":\"r\",\"timestamp\":\"t\",\"kind\":\"approval\"}\n";
        let bytes = section.repeat(2).into_bytes();
        let path = crate::evidence::path_of(Digest::compute(&bytes), "2026-02");
        let ledger = Ledger::from_files(&[(path, bytes)]);
        assert_eq!((ledger.entries().len(), ledger.findings().len()), (1, 0));
    }

    #[test]
    fn a_journal_among_the_files_of_a_commit_does_not_count() {
        let journal = path(".orchestration/agent_trace/open/1.jsonl");
        assert!(Ledger::from_files(&[(journal, chain_of(1))]).entries().is_empty());
    }

    #[test]
    fn a_merge_in_any_order_stays_valid() {
        let one = chain_of(3);
        let two = chain_of(3);
        let (one, two) = (lines(&one), lines(&two));
        for order in 0..64_u32 {
            let (mut a, mut b) = (one.iter(), two.iter());
            let mut merged = Vec::new();
            for step in 0..6 {
                let pick = if order >> step & 1 == 0 { a.next() } else { b.next() };
                merged.extend(pick.into_iter().flatten().copied());
            }
            merged.extend(a.chain(b).flatten().copied());
            assert_eq!(wrong(&merged), [], "{order:b}");
        }
        let twice = [one.concat(), two.concat(), one.concat()].concat();
        let ledger = Ledger::from_files(&[(path("x.jsonl"), twice)]);
        assert_eq!(codes(ledger.findings()), ["ledger-duplicate"; 3]);
        assert_eq!(ledger.entries().len(), 6);
        assert_eq!(ledger.of_path(&path("a.rs")).count(), 6);
    }

    #[test]
    fn a_forbidden_field_in_our_record_is_reported_and_kept() {
        let bytes = chain_of(2);
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
            assert!(
                reading.entries.iter().all(|e| e.dialect == RecordDialect::Canonical),
                "{name}"
            );
        }
    }

    #[test]
    fn a_huge_sequence_number_does_no_harm() {
        let seal = |seq: u64| {
            let body = format!(
                "{{\"id\":\"{seq}\",\"timestamp\":\"t\",\"kind\":\"ack\",\"intent_id\":null,\"writer\":\"w\",\"seq\":{seq},\"prev\":null"
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

    #[test]
    fn records_are_found_by_path_and_by_intent() {
        let record = |id: &str, time: &str, file: &str, n: u32| Record {
            id: id.into(),
            timestamp: time.into(),
            ..mutation("s", file, [n])
        };
        let w = TestWorkspace::new(Layout::Single);
        w.append(record("late", "2026-02-18T14:00:00.000Z", "a.rs", 1));
        w.append(record("set back", "2026-02-18T10:00:00.000Z", "b.rs", 1));
        w.append(Record {
            session: Some("t".into()),
            ..record("early", "2026-02-18T14:30:00+02:00", "a.rs", 2)
        });
        let ledger = Ledger::load(&w.root());
        let ids: Vec<&str> = ledger.entries().iter().map(|e| e.record.id.as_str()).collect();
        assert_eq!(ids, ["early", "late", "set back"]);
        let id = |entry: &std::sync::Arc<Entry>| entry.record.id.clone();
        assert_eq!(ledger.of_path(&path("a.rs")).map(id).collect::<Vec<_>>(), ["early", "late"]);
        let of_intent = |intent: &str| ledger.of_intent(intent).map(id).collect::<Vec<_>>();
        assert_eq!(of_intent("INT-001"), ["early", "late", "set back"]);
        assert_eq!(of_intent("INT-002"), [""; 0]);
        assert_eq!(ledger.paths(), [path("a.rs"), path("b.rs")]);
        assert_eq!(ledger.by_id("early").unwrap().record.session.as_deref(), Some("t"));
    }

    #[test]
    #[ignore = "slow"]
    fn an_endless_line_is_skipped_with_little_memory() {
        let w = TestWorkspace::new(Layout::Single);
        let mut open = std::fs::File::create(w.file()).unwrap();
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

mod evidence {
    use serde_json::json;

    use super::super::evidence::{
        EvidenceBlock, EvidenceLine, Header, MAX_LINES, Section, SectionLine, path_of, read,
        time_of, write, write_files,
    };
    use super::super::read::evidence_about;
    use super::super::{Digest, Record, RecordKind};
    use super::path;

    #[test]
    fn a_longer_file_than_any_that_is_written_says_nothing() {
        let (header, line) = ("{\"evidence\":3}\n", "{\"path\":\"a.rs\",\"lines\":\"1:AAAAAA\"}\n");
        for (count, codes) in [(0, &[][..]), (1, &[ground::Code::LedgerUnreadable][..])] {
            let text = header.to_owned() + &line.repeat(MAX_LINES - 1 + count);
            let file = path_of(Digest::compute(text.as_bytes()), "2026-02");
            let parsed = evidence_about(&file, text.as_bytes(), &path("b.rs"));
            let found: Vec<_> = parsed.findings.iter().map(|finding| finding.code).collect();
            assert_eq!((found, parsed.entries.len()), (codes.to_vec(), 0), "{count}");
        }
    }

    #[test]
    fn a_section_is_written_into_as_many_files_as_it_needs() {
        let line = |at: usize| EvidenceLine {
            path: path(&format!("{at}.rs")),
            time: Some("2026-02-18T12:00:00Z".to_owned()),
            lines: "1:AAAAAA".parse().unwrap(),
            ..serde_json::from_str(r#"{"path":"a"}"#).unwrap()
        };
        let record = |at: usize| Record {
            id: format!("r{at}"),
            timestamp: "2026-02-18T12:00:00Z".to_owned(),
            kind: RecordKind::Approval,
            ..Record::default()
        };
        let header: Header = serde_json::from_str(
            r#"{"evidence":3,"intents":[{"id":"INT-001"}],"sessions":[{"type":"AI"}]}"#,
        )
        .unwrap();
        for (lines, carried, files) in [(0, 0, 1), (3, 0, 1), (2, 1, 1), (4, 0, 2), (2, 7, 3)] {
            let written = write_files(
                &header,
                (0..lines).map(line).collect(),
                &(0..carried).map(record).collect::<Vec<_>>(),
                4,
            );
            let sections = written.iter().flat_map(|bytes| read(bytes).unwrap());
            let count: usize = sections.map(|section| section.lines.len()).sum();
            assert_eq!((written.len(), count), (files, lines + carried), "{lines}, {carried}");
            let longest =
                written.iter().map(|bytes| bytes.split(|byte| *byte == b'\n').count() - 1);
            assert!(longest.max().unwrap() <= 4);
        }
    }

    #[test]
    fn the_times_of_records_are_written_in_the_form_of_evidence() {
        let cases = [
            ("2026-11-24T08:02:11.102Z", Some("2026-11-24T08:02:11.102Z")),
            ("2026-11-24T08:02:11Z", Some("2026-11-24T08:02:11Z")),
            ("2026-11-24T08:02:11.102345Z", Some("2026-11-24T08:02:11Z")),
            ("", None),
        ];
        for (record, wanted) in cases {
            assert_eq!(time_of(record).as_deref(), wanted, "{record}");
        }
    }

    #[test]
    fn fields_that_the_lines_of_a_session_share_are_written_once() {
        let header: Header = serde_json::from_value(json!({
            "evidence": 2, "intents": [{"id": "INT-001"}], "sessions": [{"type": "AI"}, {"type": "HUMAN"}]
        }))
        .unwrap();
        let line = |by: u32, path: &str, time: &str, strength: Option<&str>| -> EvidenceLine {
            let blocks = [["function", "one", "1-4", "s:UklkzfIL3rx1yyW1Om-TRA"]];
            serde_json::from_value(json!({
                "by": by, "path": path, "time": time, "strength": strength, "blocks": blocks
            }))
            .unwrap()
        };
        let written = vec![
            line(0, "a.rs", "2026-11-24T08:02:11.102Z", Some("observed")),
            line(0, "b.rs", "2026-11-24T08:02:11.950Z", Some("observed")),
            line(0, "c.rs", "2026-11-24T08:02:14.001Z", Some("declared")),
            line(1, "d.rs", "2026-11-24T08:02:11.500Z", None),
            line(1, "e.rs", "2026-11-24T08:02:15Z", Some("declared")),
        ];
        let bytes = write(header, written.clone(), &[]);
        let text = String::from_utf8(bytes.clone()).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert!(lines[0].starts_with("{\"path\":\"a.rs\",\"blocks\":"), "{text}");
        assert!(lines[3].starts_with("{\"by\":1,\"path\":\"d.rs\",\"blocks\":"), "{text}");
        let [Section { lines, unreadable, .. }] = &read(&bytes).unwrap()[..] else {
            panic!("{text}")
        };
        assert!(unreadable.is_empty(), "{text}");
        for (written, (_, read)) in written.iter().zip(lines) {
            let SectionLine::Changed(read) = read else { panic!("{text}") };
            assert_eq!((&read.path, read.by), (&written.path, written.by), "{text}");
            assert_eq!(read.strength, written.strength, "{text}");
            let close = |time: &Option<String>| time.as_ref().unwrap()[..19].to_owned();
            assert_eq!(close(&read.time), close(&written.time), "{text}");
        }
    }

    #[test]
    fn a_block_has_one_spelling() {
        let read = |hash: &str, deleted: bool| -> Option<EvidenceBlock> {
            let mut list = vec!["function", "one", "1-4", hash];
            list.extend(deleted.then_some("deleted"));
            serde_json::from_value(json!(list)).ok()
        };
        const HASH: &str = "s:UklkzfIL3rx1yyW1Om-TRA";
        for lead in ["", "+", "+kX3p9A"] {
            let hash = format!("{HASH}{lead}");
            let block = read(&hash, false).unwrap();
            assert_eq!(serde_json::to_value(&block).unwrap()[3], hash);
        }
        assert!(read(HASH, true).unwrap().deleted);
        for wrong in ["+kX3p", "+kX3p9B", "+kX3p9A+", ":kX3p9A"] {
            assert_eq!(read(&format!("{HASH}{wrong}"), false), None, "{wrong}");
        }
    }
}
