//! Wrong attributions that were once found by mutating code, and by the model in `git_model.rs`. Each is the smallest
//! story that still showed the error.

use crate::support::Repo;

/// A function that is large enough to be recognised by its statements.
fn busy(name: &str, number: u32) -> String {
    format!(
        "fn {name}(store: &mut Store) -> u64 {{\n    let sum = store.open({number}, \"join\", 7);\n    store.send(sum, \"mark\", {number} + 12);\n    store.sort(sum + {number}, \"pack\");\n    store.count()\n}}\n\n"
    )
}

/// A large function with other statements than `busy`.
fn idle(name: &str) -> String {
    format!(
        "fn {name}(clock: &Clock, limit: Duration) -> bool {{\n    let begun = clock.now();\n    while clock.now() - begun < limit {{\n        if clock.stopped() {{\n            return false;\n        }}\n        std::thread::yield_now();\n    }}\n    true\n}}\n\n"
    )
}

const FILE: &str = "src/a.rs";

/// A repository in which a text was committed without a record.
fn committed(text: &str) -> Repo {
    let repo = Repo::new();
    repo.write(FILE, text);
    repo.commit("before");
    repo
}

fn recorded(repo: &Repo, intent: &str, text: &str) {
    repo.write(FILE, text);
    repo.record(intent, &[FILE]);
}

/// A class with the methods in `same`, which have the same text in each class, and a method `get` with the given body.
fn store(class: &str, same: &[&str], get: &str) -> String {
    let method = |name: &&str| {
        format!(
            "    def {name}(self, key):\n        self.store.open(\"{name}\", key, 7)\n        return self.store.{name}(key)\n\n"
        )
    };
    let same: String = same.iter().map(method).collect();
    format!("class {class}:\n{same}    def get(self, key):\n{get}\n")
}

#[test]
fn another_class_with_the_same_interface_inherits_nothing() {
    let repo = Repo::new();
    let body =
        |number| format!("        return self.rows.find(key, {number}) or self.rows.add(key)\n");
    let other = |name: &str| {
        format!(
            "    def {name}(self, key):\n        with urlopen(self.base + quote(key)) as answer:\n            return json.load(answer)[\"{name}\"]\n\n"
        )
    };
    let names = ["put", "drop", "list_all"];
    repo.write("src/db.py", &store("DbStore", &names, &body(1)));
    repo.record("INT-001", &["src/db.py"]);
    repo.remove("src/db.py");
    let others: String = names.iter().map(|name| other(name)).collect();
    repo.write("src/http.py", &format!("class HttpStore:\n{others}{}", other("get")));
    let picture = repo.picture("src/http.py");
    assert!(!picture.contains("INT-001"), "{picture}");
}

#[test]
fn an_unrecorded_block_does_not_inherit_from_a_deleted_twin() {
    let repo = committed(&busy("one", 1));
    recorded(&repo, "INT-002", &(busy("one", 1) + &busy("two", 1)));
    repo.write(FILE, &busy("one", 1));
    assert_eq!(repo.picture(FILE), "unrecorded - function one\n");
    repo.write(FILE, &busy("one", 5));
    assert_eq!(repo.picture(FILE), "unrecorded - function one\n");
}

#[test]
fn an_unrecorded_block_does_not_inherit_from_a_deleted_namesake() {
    let module = |name: &str| format!("mod {name} {{\n{}}}\n\n", busy("run", 1));
    let repo = committed(&module("bench"));
    recorded(&repo, "INT-002", &(module("bench") + &module("probe")));
    repo.write(FILE, &module("bench"));
    assert_eq!(repo.picture(FILE), "unrecorded - module bench\nunrecorded - function bench.run\n");
}

#[test]
fn a_documented_function_does_not_inherit_from_a_deleted_twin() {
    let documented = |name: &str, words: &str| format!("/// {words}\n{}", busy(name, 1));
    let first = documented("add", "Adds a thing to the store, and says how many there are.");
    let second = documented("sub", "Takes everything out again, whatever it may be.");
    let repo = committed(&first);
    recorded(&repo, "INT-001", &(first.clone() + &second));
    repo.write(FILE, &first);
    assert_eq!(repo.picture(FILE), "unrecorded - function add\n");
}

#[test]
fn a_record_with_the_blocks_name_wins_over_a_deleted_twins() {
    let repo = committed(&idle("wait"));
    let both = busy("one", 1) + &idle("wait");
    recorded(&repo, "INT-001", &both);
    recorded(&repo, "INT-002", &(both + &busy("two", 1)));
    let renamed = busy("two", 1).replace("sum", "total");
    repo.write(FILE, &(idle("wait") + &renamed));
    assert_eq!(repo.picture(FILE), "unrecorded - function wait\nunrecorded - function two\n");
}

#[test]
fn swapped_names_leave_the_records_with_the_texts() {
    let repo = committed(&idle("wait"));
    recorded(&repo, "INT-002", &(idle("wait") + &busy("send", 1)));
    repo.write(FILE, &(idle("send") + &busy("wait", 1)));
    assert_eq!(repo.picture(FILE), "unrecorded - function send\nmodified INT-002 function wait\n");
}

#[test]
fn a_block_restored_to_before_its_first_record_is_unrecorded() {
    let repo = committed(&busy("one", 1));
    recorded(&repo, "INT-001", &busy("one", 2));
    assert_eq!(repo.picture(FILE), "exact INT-001 function one\n");
    repo.git(&["stash", "-q"]);
    assert_eq!(repo.picture(FILE), "unrecorded - function one\n");
    repo.git(&["stash", "pop", "-q"]);
    assert_eq!(repo.picture(FILE), "exact INT-001 function one\n");
    recorded(&repo, "INT-002", &busy("one", 3));
    repo.git(&["checkout", "-q", "--", FILE]);
    assert_eq!(repo.picture(FILE), "unrecorded - function one\n");
}

#[test]
fn a_renamed_copy_does_not_inherit_when_its_origin_moves() {
    let repo = committed(&idle("wait"));
    repo.write("src/b.rs", &idle("rest"));
    repo.commit("another file");
    recorded(&repo, "INT-001", &(idle("wait") + &busy("scan", 1)));
    repo.commit("recorded");
    repo.write(FILE, &(idle("wait") + &busy("copied", 1)));
    repo.write("src/b.rs", &(idle("rest") + &busy("scan", 1)));
    assert_eq!(
        repo.picture("src/b.rs"),
        "unrecorded - function rest\nunrecorded - function scan\n"
    );
}

/// A repository in which a file with `idle` and another function was committed.
fn with_busy(text: &str) -> Repo {
    committed(&(idle("wait") + text))
}

#[test]
fn text_from_before_all_records_is_unrecorded_in_a_renamed_file() {
    let repo = with_busy(&busy("one", 1));
    recorded(&repo, "INT-001", &(idle("wait") + &busy("one", 2)));
    recorded(&repo, "INT-002", &(idle("wait") + &busy("one", 3)));
    repo.remove(FILE);
    repo.write("src/b.rs", &(idle("wait") + &busy("one", 1)));
    let nobodys = "unrecorded - function wait\nunrecorded - function one\n";
    assert_eq!(repo.picture("src/b.rs"), nobodys);
    repo.write("src/b.rs", &(idle("wait") + &busy("one", 2)));
    assert!(!repo.picture("src/b.rs").contains("INT-002"));
}

#[test]
fn text_from_before_all_records_is_unrecorded_when_formatted() {
    let repo = with_busy(&busy("one", 1));
    recorded(&repo, "INT-001", &(idle("wait") + &busy("one", 2)));
    repo.git(&["checkout", "-q", "--", FILE]);
    repo.write(FILE, &(idle("wait") + &busy("one", 1).replace("    ", "  ")));
    assert_eq!(repo.picture(FILE), "unrecorded - function wait\nunrecorded - function one\n");
}

#[test]
fn a_record_of_formatting_does_not_own_the_earlier_layout() {
    let repo = with_busy(&busy("one", 1));
    let formatted = busy("one", 1).replace("    ", "  ");
    recorded(&repo, "INT-001", &(idle("wait") + &formatted));
    assert_eq!(repo.picture(FILE), "unrecorded - function wait\nunrecorded - function one\n");
    repo.git(&["checkout", "-q", "--", FILE]);
    assert_eq!(repo.picture(FILE), "unrecorded - function wait\nunrecorded - function one\n");
}

#[test]
fn text_from_before_all_records_is_unrecorded_when_edited() {
    let repo = with_busy(&busy("one", 1));
    let more = |line: &str| {
        busy("one", 1).replace("    store.count()", &format!("    {line}\n    store.count()"))
    };
    let of_the_record = more("store.fold(sum, \"trim\", 55, Order::Last);");
    recorded(&repo, "INT-001", &(idle("wait") + &of_the_record));
    let changed = of_the_record.replace("\"pack\"", "\"unpack\"");
    repo.write(FILE, &(idle("wait") + &changed));
    let changed = "unrecorded - function wait\nunrecorded - function one\n";
    assert_eq!(repo.picture(FILE), changed, "one line of the record is there, and five are not");
    repo.git(&["checkout", "-q", "--", FILE]);
    repo.write(FILE, &(idle("wait") + &busy("one", 1).replace("\"pack\"", "\"unpack\"")));
    assert_eq!(repo.picture(FILE), "unrecorded - function wait\nunrecorded - function one\n");
}

#[test]
fn a_record_of_a_rename_does_not_own_the_earlier_name() {
    let repo = with_busy(&busy("old", 1));
    recorded(&repo, "INT-002", &(idle("wait") + &busy("new", 1)));
    assert_eq!(repo.picture(FILE), "unrecorded - function wait\nunrecorded - function new\n");
    repo.git(&["checkout", "-q", "--", FILE]);
    assert_eq!(repo.picture(FILE), "unrecorded - function wait\nunrecorded - function old\n");
    repo.write(FILE, &(idle("wait") + &busy("old", 4)));
    assert_eq!(repo.picture(FILE), "unrecorded - function wait\nunrecorded - function old\n");
}

#[test]
fn a_new_block_does_not_get_an_undone_record() {
    let repo = with_busy(&busy("one", 1));
    recorded(&repo, "INT-001", &(idle("wait") + &busy("one", 2)));
    repo.git(&["checkout", "-q", "--", FILE]);
    repo.write(FILE, &(busy("two", 3) + &idle("wait") + &busy("one", 1)));
    assert_eq!(
        repo.picture(FILE),
        "unrecorded - function two\nunrecorded - function wait\nunrecorded - function one\n"
    );
}

#[test]
fn a_moved_block_does_not_get_the_record_of_an_undone_copy() {
    let repo = committed(&idle("wait"));
    repo.write("src/b.rs", &busy("trim", 1));
    repo.write("src/c.rs", &idle("rest"));
    repo.commit("all there is");
    recorded(&repo, "INT-002", &(idle("wait") + &busy("copied", 1)));
    repo.git(&["checkout", "-q", "--", FILE]);
    repo.remove("src/b.rs");
    repo.write("src/c.rs", &(idle("rest") + &busy("trim", 1)));
    let nobodys = "unrecorded - function rest\nunrecorded - function trim\n";
    assert_eq!(repo.picture("src/c.rs"), nobodys);
}

#[test]
fn a_new_block_does_not_get_the_record_of_a_block_gone_earlier() {
    let repo = with_busy(&busy("one", 1));
    recorded(&repo, "INT-001", &(idle("wait") + &busy("one", 2)));
    // Somebody rewrites the function under another name, and the next record of the file does not contain it any more.
    let anew = idle("wait") + &idle("rest").replace("clock", "watch");
    repo.write(FILE, &anew);
    repo.commit("anew");
    recorded(&repo, "INT-002", &(anew.clone() + &idle("last").replace("limit", "most")));
    repo.write(FILE, &(anew + &idle("last").replace("limit", "most") + &busy("two", 3)));
    let last = repo.picture(FILE);
    assert!(last.ends_with("unrecorded - function two\n"), "{last}");
}

/// Returns `busy` after an edit of ordinary size.
fn busier(name: &str) -> String {
    busy(name, 8).replace("\"pack\"", "\"fold\"").replace("12", "31")
}

#[test]
fn a_copy_of_a_living_block_does_not_inherit_from_a_deleted_one() {
    let repo = committed(&(idle("wait") + &busier("open")));
    recorded(&repo, "INT-001", &(idle("wait") + &busy("sort", 1) + &busier("open")));
    repo.commit("sort");
    repo.write(FILE, &(idle("wait") + &busier("open")));
    repo.commit("no sort");
    repo.write(FILE, &(idle("wait") + &busier("open") + &busier("copied")));
    let picture = repo.picture(FILE);
    assert!(picture.ends_with("unrecorded - function copied\n"), "{picture}");
}

#[test]
fn a_block_from_another_file_does_not_get_a_deleted_ones_record() {
    let repo = committed(&idle("wait"));
    repo.write("src/b.rs", &busier("join"));
    repo.record("INT-002", &["src/b.rs"]);
    recorded(&repo, "INT-001", &(idle("wait") + &busy("joined", 1)));
    repo.commit("both");
    repo.write(FILE, &idle("wait"));
    repo.commit("not joined");
    repo.remove("src/b.rs");
    repo.write(FILE, &(idle("wait") + &busier("join")));
    let picture = repo.picture(FILE);
    assert!(!picture.contains("INT-001"), "{picture}");
    repo.commit("moved");
    let picture = repo.picture(FILE);
    assert!(picture.ends_with("moved INT-002 function join\n"), "{picture}");
}
