//! Real code for the mutations: the sources of this repository, and of those dependencies in its lock file that cargo
//! has on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use code::{Document, language};

use super::Chance;

/// Smaller files show little, and larger ones take too long.
const BYTES: std::ops::Range<u64> = 400..14_000;

/// A file of the corpus.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    pub path: PathBuf,
    pub language: &'static str,
}

/// Returns every useful file, ordered by language and path.
pub fn samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for folder in ["src", "tests", "docs", "editors", "queries"] {
        walk(&root.join(folder), &mut found);
    }
    let dependencies = dependencies(root);
    assert!(dependencies.len() > 50, "cargo has put the locked dependencies on disk");
    for folder in dependencies {
        walk(&folder, &mut found);
    }
    found.into_iter().collect()
}

/// Returns the folders with the sources of the locked dependencies.
fn dependencies(root: &Path) -> Vec<PathBuf> {
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).expect("a lock file");
    let lock: toml_edit::DocumentMut = lock.parse().expect("a sound lock file");
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let registries = home.expect("a home folder").join("registry/src");
    let registries: Vec<PathBuf> = std::fs::read_dir(registries)
        .expect("cargo keeps sources")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    let packages = lock["package"].as_array_of_tables().expect("packages").iter();
    let mut folders: Vec<PathBuf> = packages
        .filter_map(|package| {
            let name = format!("{}-{}", package["name"].as_str()?, package["version"].as_str()?);
            registries.iter().map(|registry| registry.join(&name)).find(|folder| folder.is_dir())
        })
        .collect();
    folders.sort();
    folders
}

fn walk(folder: &Path, found: &mut BTreeSet<Sample>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let Ok(about) = entry.metadata() else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        if about.is_dir() {
            if name != "target" && name != "node_modules" && !name.starts_with('.') {
                walk(&path, found);
            }
        } else if BYTES.contains(&about.len())
            && let Some(language) = language::of_file(&name, "")
        {
            found.insert(Sample { path, language: language.id });
        }
    }
}

impl Sample {
    /// Returns the text if it parses and has enough blocks.
    pub fn text(&self) -> Option<String> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let name = self.path.file_name()?.to_str()?;
        if text.contains('\r') || text.contains('\u{feff}') {
            return None;
        }
        let file = Document::from_text(name, &text).blocks();
        let enough = file.blocks.len() >= 4 && file.blocks.len() <= 400;
        (!file.has_error && enough).then_some(text)
    }

    /// Returns the rank of the file in a draw; the file with the first rank is drawn. So adding or removing a file
    /// hardly ever changes which files are drawn.
    fn rank(&self, drawn: u64) -> u64 {
        let path = self.path.to_string_lossy();
        // The path must be the same on every machine, so it is relative to the project or to the folder of a registry.
        let below = path.split_once("/registry/src/").and_then(|(_, rest)| rest.split_once('/'));
        let own = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&path);
        let name = below.map_or(own, |(_, rest)| rest);
        let hash = name
            .bytes()
            .fold(drawn, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        Chance::new(hash).draw()
    }

    pub fn extension(&self) -> &str {
        self.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
    }
}

/// Returns files of few languages, so that code can move from one file to another.
pub fn chosen(samples: &[Sample], many: usize, chance: &mut Chance) -> Vec<Sample> {
    let mut by_language: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        by_language.entry(sample.language).or_default().push(sample);
    }
    let languages: Vec<&str> = by_language.keys().copied().collect();
    let mut chosen = Vec::new();
    let mut tries = 0;
    while chosen.len() < many && tries < 200 {
        // Half of the files are Rust, because most of the corpus is.
        let language =
            if chance.once_in(2) { "rust" } else { chance.pick(&languages).expect("some") };
        for _ in 0..2 {
            tries += 1;
            let drawn = chance.draw();
            let of_language = by_language[language].iter();
            let sample =
                of_language.min_by_key(|sample| sample.rank(drawn)).expect("none is empty");
            if !chosen.contains(*sample) && sample.text().is_some() {
                chosen.push((*sample).clone());
            }
        }
    }
    chosen
}
