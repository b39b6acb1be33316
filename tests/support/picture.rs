//! A folder that takes long to make: it is made once, and then written as often as needed.

use std::fs::Permissions;
use std::path::{Path, PathBuf};

/// The bytes and the permissions of a file.
type Contents = (Vec<u8>, Permissions);

/// The folders and files below a folder, in the order in which they must be made. A folder has no contents, and links
/// are not supported.
pub struct Picture(Vec<(PathBuf, Option<Contents>)>);

impl Picture {
    pub fn of(root: &Path) -> Self {
        let mut found = Vec::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
                assert!(!kind.is_symlink(), "{} is a link", path.display());
                let below = path.strip_prefix(root).expect("below the root").to_path_buf();
                if kind.is_dir() {
                    found.push((below, None));
                    folders.push(path);
                } else {
                    let bytes = std::fs::read(&path).expect("a file");
                    let mode = entry.metadata().expect("there").permissions();
                    found.push((below, Some((bytes, mode))));
                }
            }
        }
        Self(found)
    }

    pub fn put_down(&self, root: &Path) {
        for (path, file) in &self.0 {
            let path = root.join(path);
            match file {
                None => std::fs::create_dir_all(path).expect("a folder"),
                Some((bytes, mode)) => {
                    std::fs::write(&path, bytes).expect("a file");
                    std::fs::set_permissions(path, mode.clone()).expect("a mode");
                }
            }
        }
    }
}
