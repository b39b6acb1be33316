//! Prints the commit that brought each line of a file, to compare it with `git blame -w` and to measure the walk:
//!
//! `cargo run --release -p xtask -- origins FOLDER PATH…`

use std::fmt::Write as _;
use std::path::Path;

use ground::{Environment, Git, Root};
use history::{Origin, Walk};

/// Prints `path:line commit path there:line there` for each line of the files.
pub(crate) fn print(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let (folder, paths) = arguments.split_first().ok_or("name a folder of a repository")?;
    let root = Root::find(Path::new(folder), &Environment::of_process())?;
    let git = Git::open(&root)?.ok_or("there is no repository")?;
    let head = git.head()?.ok_or("there is no commit")?;
    let head = git.object_id(&head)?;
    let mut reader = git.object_reader()?;
    for path in paths {
        let walk = Walk::new(&mut reader);
        let found =
            walk.of_file(head, &git.path_in_repository(path))?.ok_or("there is no such file")?;
        let mut told = String::new();
        for run in &found.runs {
            let (word, version) = match run.origin {
                Origin::Brought(version) => ("", version),
                Origin::Missing(version) => ("missing ", version),
            };
            let version = &found.versions[version];
            for (nth, line) in run.lines.clone().enumerate() {
                let there = run.line_there + nth + 1;
                writeln!(
                    told,
                    "{path}:{} {word}{} {}:{there}",
                    line + 1,
                    version.commit,
                    version.path
                )?;
            }
        }
        print!("{told}");
    }
    Ok(())
}
