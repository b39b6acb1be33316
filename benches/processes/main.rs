//! Measures what whole processes cost, each compared with another program that runs in turn with it: the rows of
//! `docs/performance.md`. Run it on an idle machine.
//!
//! `cargo bench -p intent-lsp-benches --bench processes` measures everything, with the program that
//! `cargo build --release` made. Options behind `--`:
//!
//! - `hooks` measures what an agent waits for, `commits` what a person waits for, `history` the questions in a ledger
//!   of many commits.
//! - `--calls N` is the number of starts of each process, `--commits N` the number of commits of the large history.
//! - `--steps` also shows the steps of one call of the hook. `--binary PATH` measures another build.
//! - `--within R` fails if the hook before an edit takes more than `R` times as long as a start of `/bin/true`, or a
//!   commit of 50 times as many files more than 100 times as long.

mod commits;
mod history;
mod hooks;
mod measured;

use std::path::PathBuf;

use measured::Page;

fn main() {
    let options = Options::read();
    let binary = options.binary.display();
    assert!(options.binary.is_file(), "{binary} does not exist; run `cargo build --release` first");
    if let Some(folder) = options.one_call {
        return support::print(&hooks::steps(&folder));
    }
    let wanted =
        |part: &str| options.parts.is_empty() || options.parts.iter().any(|one| one == part);
    let mut page = Page;
    let hook = wanted("hooks")
        .then(|| hooks::measure(&mut page, &options.binary, options.calls, options.steps));
    let growth =
        wanted("commits").then(|| commits::measure(&mut page, &options.binary, options.calls));
    if wanted("history") {
        history::measure(&mut page, &options.binary, options.calls, options.commits);
    }
    let Some(limit) = options.within else { return };
    if let Some(ratio) = hook {
        assert!(ratio <= limit, "{ratio:.2} starts of /bin/true are more than {limit}");
    }
    if let Some(growth) = growth {
        assert!(
            growth <= 100.0,
            "a commit of 50 times as many files takes {growth:.0} times as long"
        );
    }
}

struct Options {
    binary: PathBuf,
    calls: usize,
    commits: usize,
    within: Option<f64>,
    steps: bool,
    one_call: Option<PathBuf>,
    parts: Vec<String>,
}

/// Returns the path of the release build, which is two folders above this program.
fn built() -> PathBuf {
    let own = std::env::current_exe().expect("this program has a path");
    let folder = own.ancestors().nth(2).expect("target/release/deps/processes");
    folder.join("intent").with_extension(std::env::consts::EXE_EXTENSION)
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            binary: built(),
            calls: 100,
            commits: 10_000,
            within: None,
            steps: false,
            one_call: None,
            parts: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("the option takes a value");
            match word.as_str() {
                // An argument that `cargo bench` adds.
                "--bench" => {}
                "--binary" => options.binary = value().into(),
                "--calls" => options.calls = value().parse().expect("a number of calls"),
                "--commits" => options.commits = value().parse().expect("a number of commits"),
                "--within" => options.within = Some(value().parse().expect("a ratio")),
                "--one-call" => options.one_call = Some(value().into()),
                "--steps" => options.steps = true,
                "hooks" | "commits" | "history" => options.parts.push(word),
                other => panic!("unknown option {other}"),
            }
        }
        options
    }
}
