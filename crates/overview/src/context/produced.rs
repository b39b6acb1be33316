//! Formats what an intent has produced: the names of definitions by file, or their number by folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::layout::escaped;
use ground::RelativePath;
use ledger::Entry;

type Names = BTreeMap<RelativePath, BTreeSet<String>>;

/// The maximum number of folders that are told apart. If there are more, their parents are counted.
const MAX_FOLDERS: usize = 8;

/// Returns the definitions that these records name, oldest first, without those that were deleted
/// since.
pub(super) fn names_in_records(records: &[&Arc<Entry>]) -> Names {
    let mut by_file = Names::new();
    for file in records.iter().flat_map(|entry| &entry.record.files) {
        let names = by_file.entry(file.relative_path.clone()).or_default();
        for range in file.ranges() {
            let Some(block) = &range.block else { continue };
            match range.deleted {
                true => names.remove(&block.path),
                false => names.insert(block.path.clone()),
            };
        }
    }
    by_file.retain(|_, names| !names.is_empty());
    by_file
}

pub(super) fn by_file(produced: &Names) -> Vec<String> {
    let file = |(path, names): (&RelativePath, &BTreeSet<String>)| {
        let names = Vec::from_iter(names.iter().map(String::as_str)).join(", ");
        let [path, names] = [path.as_str(), &names].map(|text| escaped(text, usize::MAX));
        format!("<file path=\"{path}\">{names}</file>")
    };
    produced.iter().map(file).collect()
}

pub(super) fn by_folder(produced: &Names) -> Vec<String> {
    let deepest = produced.keys().map(|path| path.as_str().matches('/').count()).max();
    let mut folders = BTreeMap::new();
    for depth in (0..=deepest.unwrap_or_default()).rev() {
        folders = counts_by_folder(produced, depth);
        if folders.len() <= MAX_FOLDERS {
            break;
        }
    }
    let mut folders = Vec::from_iter(folders);
    folders.sort_by_key(|(_, (_, definitions))| std::cmp::Reverse(*definitions));
    let element = |(folder, (files, definitions)): (String, (usize, usize))| {
        let folder = escaped(&folder, super::MAX_NAME);
        format!("<folder path=\"{folder}\" files=\"{files}\" definitions=\"{definitions}\"/>")
    };
    folders.into_iter().map(element).collect()
}

/// Counts the files and the definitions in each folder. Folders below `depth` count as their parent
/// at that depth: at depth 1, `src/a/b.rs` is in `src`.
fn counts_by_folder(produced: &Names, depth: usize) -> BTreeMap<String, (usize, usize)> {
    let mut folders: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (path, names) in produced {
        let parts: Vec<&str> = path.as_str().split('/').collect();
        let folder = parts[..parts.len() - 1].iter().take(depth).copied().collect::<Vec<_>>();
        let folder = if folder.is_empty() { ".".to_owned() } else { folder.join("/") };
        let (files, definitions) = folders.entry(folder).or_default();
        *files += 1;
        *definitions += names.len();
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn produced(files: &[(&str, usize)]) -> Names {
        let names = |count: usize| (0..count).map(|at| format!("f{at}")).collect();
        let file =
            |(path, count): &(&str, usize)| (RelativePath::new(path).unwrap(), names(*count));
        files.iter().map(file).collect()
    }

    #[test]
    fn many_folders_are_counted_as_their_parents() {
        let few = produced(&[("a/b/x.rs", 2), ("a/c.rs", 3), ("d.rs", 1)]);
        assert_eq!(
            by_folder(&few),
            [
                r#"<folder path="a" files="1" definitions="3"/>"#,
                r#"<folder path="a/b" files="1" definitions="2"/>"#,
                r#"<folder path="." files="1" definitions="1"/>"#,
            ]
        );
        let paths: Vec<String> = (0..20).map(|at| format!("a/b{at}/x.rs")).collect();
        let many: Vec<(&str, usize)> = paths.iter().map(|path| (path.as_str(), 1)).collect();
        let folders = by_folder(&produced(&many));
        assert_eq!(folders, [r#"<folder path="a" files="20" definitions="20"/>"#]);
    }
}
