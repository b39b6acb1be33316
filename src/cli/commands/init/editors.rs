//! Finds the editors that a person has, each with the one command that sets it up.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ground::{Environment, Root, text};
use hook::binary;

use super::InitOffer;

struct KnownEditor {
    name: &'static str,
    folders: &'static [&'static str],
    programs: &'static [&'static str],
    /// A path below the home folder that exists once the editor is set up. Empty if there is no
    /// such path.
    done: &'static str,
    /// The command to show. `{}` stands for the path `needs`.
    command: &'static str,
    /// What the command needs, below the folder `editors` of a clone of this project.
    needs: &'static str,
}

/// What is shown if there is no clone, or if what the editor needs is not built there.
const WITHOUT_CLONE: &str = "intent lsp --help";

const EDITORS: &[KnownEditor] = &[
    KnownEditor {
        name: "VS Code",
        folders: &[".vscode"],
        programs: &["code"],
        done: "",
        command: "code --install-extension {}",
        needs: "vscode/intent-lsp.vsix",
    },
    KnownEditor {
        name: "Neovim",
        folders: &[".nvim", ".nvim.lua"],
        programs: &["nvim"],
        done: ".local/share/nvim/site/pack/intent/start/intent",
        command: "mkdir -p ~/.local/share/nvim/site/pack/intent/start && ln -s {} ~/.local/share/nvim/site/pack/intent/start/intent",
        needs: "nvim",
    },
    KnownEditor {
        name: "Helix",
        folders: &[".helix"],
        programs: &["hx", "helix"],
        done: "",
        command: "mkdir -p ~/.config/helix && cat {} >> ~/.config/helix/languages.toml",
        needs: "helix/languages.toml",
    },
    KnownEditor {
        name: "Emacs",
        folders: &[],
        programs: &["emacs"],
        done: "",
        command: "emacs --eval '(package-vc-install-from-checkout \"{}\" \"intent\")' -f global-intent-mode",
        needs: "emacs",
    },
    KnownEditor {
        name: "Zed",
        folders: &[".zed"],
        programs: &["zed", "zeditor"],
        done: "",
        command: "cat {}",
        needs: "zed/README.md",
    },
];

impl KnownEditor {
    /// Returns a command that works when it is pasted: it names only what exists.
    fn command_with(&self, clone: Option<&Path>) -> String {
        match clone.map(|clone| clone.join(self.needs)).filter(|needed| needed.exists()) {
            Some(needed) => {
                self.command.replace("{}", &text::shell_word(&needed.display().to_string()))
            }
            None => WITHOUT_CLONE.to_owned(),
        }
    }
}

pub(super) fn found(root: &Root, home: &Path, search: Option<&OsStr>) -> Vec<InitOffer> {
    let clone = clone(root.environment());
    let offer = |editor: &KnownEditor| {
        let shown = editor.folders.iter().find(|name| root.path().join(name).exists());
        let by = shown.or_else(|| {
            editor.programs.iter().find(|program| binary::is_installed(search, program))
        })?;
        let is_done = !editor.done.is_empty() && home.join(editor.done).exists();
        (!is_done).then(|| InitOffer {
            name: editor.name.to_owned(),
            by: (*by).to_owned(),
            command: editor.command_with(clone.as_deref()),
        })
    };
    EDITORS.iter().filter_map(offer).collect()
}

fn clone(environment: &Environment) -> Option<PathBuf> {
    let program = environment.program()?;
    let folders = program.ancestors().skip(1).take(4).map(|above| above.join("editors"));
    folders.into_iter().find(|it| it.join("nvim").is_dir() && it.join("vscode").is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_is_offered_until_it_is_set_up() {
        let place = tempfile::tempdir().expect("a folder");
        let (project, home, bin) =
            (place.path().join("p"), place.path().join("home"), place.path().join("bin"));
        for folder in [&project.join(".vscode"), &home, &bin] {
            std::fs::create_dir_all(folder).expect("folders");
        }
        std::fs::write(bin.join("nvim"), "").expect("written");
        let names = || -> Vec<(String, String)> {
            let root = Root::find(&project, &Environment::of_process()).expect("a root");
            let found = found(&root, &home, Some(bin.as_os_str()));
            found.into_iter().map(|offer| (offer.name, offer.by)).collect()
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(names(), [pair("VS Code", ".vscode"), pair("Neovim", "nvim")]);
        std::fs::create_dir_all(home.join(EDITORS[1].done)).expect("folders");
        assert_eq!(names(), [pair("VS Code", ".vscode")]);
    }

    #[test]
    fn only_what_exists_is_named() {
        let place = tempfile::tempdir().expect("a folder");
        let editors = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors");
        for editor in EDITORS {
            for clone in [None, Some(place.path())] {
                assert_eq!(editor.command_with(clone), WITHOUT_CLONE, "{}", editor.name);
            }
            let needed = editors.join(editor.needs);
            // This file exists only after the extension was built.
            if !editor.needs.ends_with(".vsix") {
                let shown = editor.command_with(Some(&editors));
                assert!(shown.contains(&*needed.to_string_lossy()), "{}: {shown}", editor.name);
            }
        }
    }
}
