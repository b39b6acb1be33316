//! Reads git's settings, such as `user.name` and `core.hooksPath`, from `.git/config`,
//! `~/.gitconfig` and `/etc/gitconfig`. A setting of the repository takes precedence over one of
//! the person or of the machine.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;
use gix::config::File;
use gix::config::file::Metadata;
use gix::config::file::includes::{self, conditional};
use gix::config::file::init;
use gix::config::path::interpolate::Context;
use gix::config::source::Kind;
use gix::sec::Trust;
use gix_filter::attributes::Source;
use gix_filter::eol;

use super::Git;
use crate::{Environment, store};

/// The maximum length of a person's name, in characters. A longer name is cut, because the ledger
/// is not meant for long texts.
const MAX_NAME: usize = 100;
/// The maximum size of an included file of settings, in bytes.
const MAX_INCLUDED: u64 = 4 * 1024 * 1024;
const MAX_DEPTH: usize = 10;

impl Git {
    /// Returns the folder in which git looks for hooks, and whether the folder may belong to
    /// others: it may be shared with other repositories or be tracked in the work tree. That is so
    /// if `core.hooksPath` names the folder (`true` for `~/hooks`), or if it is a symbolic link.
    pub fn hooks_folder(&self) -> (PathBuf, bool) {
        let top = self.root.work_tree().unwrap_or(self.root.path());
        // If an included file of settings cannot be read, the value without includes is still
        // better than none.
        let without_includes =
            || self.setting(|file| path(file, "core.hooksPath", self.environment()));
        match self.configured_path("core.hooksPath").or_else(without_includes) {
            Some(folder) => (top.join(folder), true),
            None => {
                let common_dir = || self.handle().common_dir().to_owned();
                let folder = self.root.common_dir().unwrap_or_else(common_dir).join("hooks");
                let is_link = folder.is_symlink();
                (folder, is_link)
            }
        }
    }

    /// Returns true if a person has run `git config intent.hooks false`, because they want none of
    /// our hooks in this repository (or, with `--global`, in any repository).
    pub fn declines_hooks(&self) -> bool {
        self.boolean("intent.hooks") == Some(false)
    }

    pub fn keeps_settings_of_work_trees(&self) -> bool {
        self.boolean("extensions.worktreeConfig") == Some(true)
    }

    pub(super) fn line_ends(&self) -> eol::Configuration {
        let auto_crlf = self.setting_with_includes(|file| {
            let is_input = file.string("core.autocrlf")?.eq_ignore_ascii_case(b"input");
            match file.boolean("core.autocrlf") {
                _ if is_input => Some(eol::AutoCrlf::Input),
                Ok(Some(true)) => Some(eol::AutoCrlf::Enabled),
                _ => Some(eol::AutoCrlf::Disabled),
            }
        });
        let eol = self.configured("core.eol").and_then(|eol| match eol.as_str() {
            "lf" => Some(eol::Mode::Lf),
            "crlf" => Some(eol::Mode::CrLf),
            _ => None,
        });
        eol::Configuration { auto_crlf: auto_crlf.unwrap_or_default(), eol }
    }

    /// Returns the files with attributes for all repositories of the machine and of the person, the
    /// stronger ones last.
    pub(super) fn attributes_of_person(&self) -> Vec<PathBuf> {
        let skips_machine = self.environment().variable("GIT_ATTR_NOSYSTEM").is_some();
        let of_machine = (cfg!(unix) && !skips_machine).then(|| "/etc/gitattributes".into());
        let mut variable = |name: &str| self.environment().variable(name).map(OsStr::to_owned);
        let of_person = self
            .configured_path("core.attributesFile")
            .or_else(|| Source::Git.storage_location(&mut variable));
        of_machine.into_iter().chain(of_person).collect()
    }

    /// Returns the name of the person who works here, from git's `user.name`. `None` if it is not
    /// set.
    pub fn person(&self) -> Option<String> {
        name_in(&self.configured("user.name")?)
    }

    pub fn remotes(&self) -> Vec<String> {
        let repo = self.handle();
        let config = repo.config_snapshot();
        let sections = config.plumbing().sections_by_name("remote").into_iter().flatten();
        sections.filter_map(|section| Some(section.value("url")?.to_string())).collect()
    }

    pub(super) fn is_partial(&self) -> bool {
        let repo = self.handle();
        let config = repo.config_snapshot();
        let mut remotes = config.plumbing().sections_by_name("remote").into_iter().flatten();
        config.string("extensions.partialClone").is_some()
            || remotes.any(|section| section.value("promisor").is_some())
    }

    /// Returns a setting from the repository's own or the person's settings, including the files
    /// that these include. `None` if it is not set.
    pub fn configured(&self, key: &str) -> Option<String> {
        self.setting_with_includes(|file| Some(file.string(key)?.to_string()))
    }

    /// Like [`Self::configured`], for a setting that is a path: `~/key` is in the home folder.
    pub fn configured_path(&self, key: &str) -> Option<PathBuf> {
        self.setting_with_includes(|file| path(file, key, self.environment()))
    }

    fn setting_with_includes<T>(&self, read: impl Fn(&File) -> Option<T>) -> Option<T> {
        let repo = self.handle();
        // The setting may be in a file that is not read. That file would decide, so a value from
        // another file would be wrong.
        if !includes_are_readable(
            repo.config_snapshot().plumbing(),
            None,
            MAX_DEPTH,
            self.environment(),
        ) {
            return None;
        }
        self.setting(|file| {
            let mut whole = file.clone();
            let conditional = conditional::Context { git_dir: Some(&self.dir), branch_name: None };
            resolve_includes(&mut whole, conditional, self.environment());
            read(&whole)
        })
    }

    pub(super) fn boolean(&self, key: &str) -> Option<bool> {
        self.setting(|file| file.boolean(key).ok().flatten())
    }

    fn setting<T>(&self, read: impl Fn(&File) -> Option<T>) -> Option<T> {
        let repo = self.handle();
        let own = read(repo.config_snapshot().plumbing());
        let of_machine = || machine_settings(self.environment());
        own.or_else(|| read(self.machine_settings.get_or_init(of_machine).as_ref()?))
    }

    fn environment(&self) -> &Environment {
        self.root.environment()
    }
}

/// Returns the settings in one file, without those of included files. Keys are in lower case but for
/// the part that a person chooses: `remote.Origin.url`. `None` if the file cannot
/// be read as one.
pub fn settings_in_file(file: &Path) -> Option<Vec<(String, String)>> {
    let Some(bytes) = store::read_capped(file, MAX_INCLUDED).ok()? else { return Some(Vec::new()) };
    let file = File::try_from(bytes.as_bstr()).ok()?;
    let in_section = file.sections().flat_map(|section| {
        let header = section.header();
        let name = header.name().to_string().to_ascii_lowercase();
        let prefix = match header.subsection_name() {
            Some(chosen) => format!("{name}.{chosen}"),
            None => name,
        };
        let keys: BTreeSet<String> =
            section.value_names().map(|key| key.to_string().to_ascii_lowercase()).collect();
        let settings = keys.into_iter().flat_map(|key| {
            let values: Vec<String> =
                section.values(&key).iter().map(ToString::to_string).collect();
            // A key without a value is a switch.
            let values = if values.is_empty() { vec![String::new()] } else { values };
            let key = format!("{prefix}.{key}");
            values.into_iter().map(move |value| (key.clone(), value))
        });
        settings.collect::<Vec<_>>()
    });
    Some(in_section.collect())
}

pub fn person_of_machine(environment: &Environment) -> Option<String> {
    name_in(&configured_on_machine("user.name", environment)?)
}

pub fn configured_on_machine(key: &str, environment: &Environment) -> Option<String> {
    machine_setting_with_includes(environment, |file| Some(file.string(key)?.to_string()))
}

pub fn path_on_machine(key: &str, environment: &Environment) -> Option<PathBuf> {
    machine_setting_with_includes(environment, |file| path(file, key, environment))
}

fn machine_setting_with_includes<T>(
    environment: &Environment,
    read: impl Fn(&File) -> Option<T>,
) -> Option<T> {
    let mut file = machine_settings(environment)?;
    resolve_includes(&mut file, conditional::Context::default(), environment);
    read(&file)
}

/// Returns the settings of the machine and of the person. Settings that belong to an installation
/// of git are left out, because only git itself knows where they are.
fn machine_settings(environment: &Environment) -> Option<File> {
    let sources = [Kind::System, Kind::Global].into_iter().flat_map(Kind::sources);
    let files = sources.filter_map(|source| {
        let path =
            source.storage_location(&mut |name| environment.variable(name).map(OsStr::to_owned))?;
        let path = path.is_file().then_some(path)?;
        Some(Metadata { path: Some(path), source: *source, level: 0, trust: Trust::Full })
    });
    File::from_paths_metadata(files, init::Options::default()).ok()?
}

/// Returns true if all included files of settings are missing or small regular files, and include
/// each other at most `depth` deep. A repository could name a device instead, such as `/dev/zero`.
/// `folder` is the folder of `file`, if it was read from an include.
fn includes_are_readable(
    file: &File,
    folder: Option<&Path>,
    depth: usize,
    environment: &Environment,
) -> bool {
    let includes = file.sections().filter(|section| {
        let name = section.header().name().to_string();
        ["include", "includeif"].contains(&name.to_ascii_lowercase().as_str())
    });
    let mut named = includes.flat_map(|section| {
        let folder = folder.or(section.meta().path.as_deref().and_then(Path::parent));
        section.values("path").into_iter().map(move |path| (folder, path))
    });
    named.all(|(folder, path)| {
        let context = Context { home_dir: environment.home(), ..Context::default() };
        let Ok(path) = gix::config::Path::from(path).interpolate(context) else { return true };
        let path = folder.unwrap_or(Path::new("")).join(path);
        match store::read_capped(&path, MAX_INCLUDED) {
            Ok(None) => true,
            Ok(Some(bytes)) if depth > 0 => File::try_from(bytes.as_bstr()).is_ok_and(|inner| {
                includes_are_readable(&inner, path.parent(), depth - 1, environment)
            }),
            _ => false,
        }
    })
}

/// Adds the settings of the included files to `file`. People use includes to have, for example, one
/// name for work and another one for other folders. An error is only logged.
fn resolve_includes(
    file: &mut File,
    conditional: conditional::Context<'_>,
    environment: &Environment,
) {
    let interpolate = Context { home_dir: environment.home(), ..Context::default() };
    let includes = includes::Options::follow(interpolate, conditional);
    let includes = includes::Options { err_on_missing_config_path: false, ..includes };
    if let Err(error) = file.resolve_includes(init::Options { includes, ..Default::default() }) {
        tracing::debug!(%error, "what git's settings include cannot be read");
    }
}

/// Returns the name in a text, without an e-mail address. `None` if there is no name.
pub fn name_in(text: &str) -> Option<String> {
    let name = text.split('<').next().unwrap_or_default().trim();
    let name: String = name.chars().take(MAX_NAME).collect();
    (!name.is_empty() && !name.contains('@')).then_some(name)
}

fn path(file: &File, key: &str, environment: &Environment) -> Option<PathBuf> {
    let context = Context { home_dir: environment.home(), ..Context::default() };
    file.path(key)?.interpolate(context).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_file_of_settings_is_found() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let text = "[core]\n\tbare\n\tPager = less\n[remote \"Up.x\"]\n\turl = a\n\tfetch = b\n\turl = c\n[core]\n\tpager = more\n";
        std::fs::write(file.path(), text).expect("written");
        let found = settings_in_file(file.path()).expect("readable");
        let found: Vec<_> = found.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let expected = [
            "core.bare=",
            "core.pager=less",
            "remote.Up.x.fetch=b",
            "remote.Up.x.url=a",
            "remote.Up.x.url=c",
            "core.pager=more",
        ];
        assert_eq!(found, expected);
        assert_eq!(settings_in_file(Path::new("/nowhere/config")), Some(Vec::new()));
        std::fs::write(file.path(), "[core").expect("written");
        assert_eq!(settings_in_file(file.path()), None);
    }

    #[test]
    fn a_name_is_no_address() {
        for (text, name) in [
            ("Ada Lovelace", Some("Ada Lovelace")),
            (" Ada <ada@example.invalid>", Some("Ada")),
            ("ada@example.invalid", None),
            ("<ada@example.invalid>", None),
            ("", None),
        ] {
            assert_eq!(name_in(text).as_deref(), name, "{text}");
        }
    }
}
