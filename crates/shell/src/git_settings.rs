//! What the settings of git decide, such as `core.pager` or `url.*.insteadOf`. The list is
//! `git_settings.txt`.

use std::sync::OnceLock;

use super::pattern::wild;
use super::table;

const TEXT: &str = include_str!("git_settings.txt");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GitSetting {
    Harmless,
    Program,
    /// A file, a folder or an address that git reads from or writes to.
    Place,
    /// Which checks run, which other settings are in force, and what git keeps. A setting that is
    /// not in the list counts as one, because a newer git or another program may run what it names.
    Guard,
}

/// Settings of places whose usual values are names and addresses. Only an address such as
/// `ext::PROGRAM` runs something.
const ADDRESSES: [&str; 5] = [
    "remote.*.url",
    "remote.pushdefault",
    "submodule.*.url",
    "branch.*.remote",
    "branch.*.pushremote",
];

/// Returns what a setting decides. `key` is its full name in any case, such as `core.pager`.
pub(crate) fn git_setting(key: &str) -> GitSetting {
    static LIST: OnceLock<Vec<(&'static str, GitSetting)>> = OnceLock::new();
    let key = key.to_ascii_lowercase();
    let list = LIST.get_or_init(|| {
        let mut all: Vec<_> = listed().collect();
        // The longest name that fits decides: `diff.*.command` before `diff.*`.
        all.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        all
    });
    let found = list.iter().find(|(name, _)| wild(name, &key));
    found.map_or(GitSetting::Guard, |(_, class)| *class)
}

/// Returns true if a value of a setting decides which programs git runs, which files and servers it
/// uses, or which checks and commits are left. Without a value: if removing the setting does so.
///
/// | setting                       |       |
/// | ----------------------------- | ----- |
/// | `core.pager`, `less -FRX`     | false |
/// | `core.pager`, `./page`        | true  |
/// | `alias.st`, `status -sb`      | false |
/// | `alias.st`, `!./st`           | true  |
/// | `core.hooksPath`, removed     | true  |
/// | `http.proxy`, removed         | false |
pub fn decides_what_git_does(key: &str, value: Option<&str>) -> bool {
    let class = git_setting(key);
    let Some(value) = value else { return class == GitSetting::Guard };
    let key = key.to_ascii_lowercase();
    match class {
        GitSetting::Harmless => false,
        GitSetting::Program if wild("alias.*", &key) || wild("submodule.*.update", &key) => {
            value.trim_start().starts_with('!')
        }
        GitSetting::Program => !is_well_known(value),
        GitSetting::Place if ADDRESSES.iter().any(|name| wild(name, &key)) => value.contains("::"),
        GitSetting::Place | GitSetting::Guard => true,
    }
}

/// Returns true if removing or renaming a section of settings may decide what git does. A section has
/// a part that a person chooses, as in `filter.lfs`, or not.
pub(crate) fn section_decides_what_git_does(section: &str) -> bool {
    let named = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let section = named(section);
    listed().any(|(name, class)| class == GitSetting::Guard && named(name) == section)
}

/// Returns true if a value names a program that people usually choose, with at most some options:
/// `code --wait`, `cache --timeout=3600`. An empty value and a switch name no program.
fn is_well_known(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let Some(program) = words.next() else { return true };
    let is_option = |word: &str| {
        word.starts_with('-') && word.chars().all(|c| c.is_ascii_alphanumeric() || "-=".contains(c))
    };
    (table::holds("harmlesscode", program) || table::holds("gitprograms", program))
        && words.all(is_option)
}

fn listed() -> impl Iterator<Item = (&'static str, GitSetting)> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| {
        let mut words = line.split(' ');
        let class = match words.next() {
            Some("harmless") => GitSetting::Harmless,
            Some("program") => GitSetting::Program,
            Some("place") => GitSetting::Place,
            _ => GitSetting::Guard,
        };
        words.map(move |name| (name, class))
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Words at the end of a setting's name that say that it names a program, a file or a server.
    const NAMES_SOMETHING: &str = "
        cmd command program path hook hookspath helper editor pager driver proxy file url uri insteadof
        pushinsteadof clean smudge textconv external askpass tunnel vcs uploadpack receivepack
        worktree .allow httpd browser viewer smtpserver target
    ";
    /// Settings that end in such a word and are harmless nevertheless: files that git only reads as
    /// text, and switches.
    const ONLY_READ: &str = "
        blame.ignorerevsfile core.quotepath credential.*.usehttppath credential.usehttppath diff.*.cachetextconv
        diff.orderfile format.signaturefile guitool.*.needsfile mailmap.file sendemail.mailmap.file submodule.*.shallow
        transfer.credentialsinurl uploadpackfilter.*.allow
        uploadpackfilter.allow
    ";

    fn git(arguments: &[&str]) -> Option<String> {
        let output = Command::new("git").args(arguments).output().ok()?;
        String::from_utf8(output.stdout).ok()
    }

    /// Returns the names that git documents, with `x` for a part that a person chooses.
    fn documented() -> Vec<String> {
        let text = git(&["help", "--config"]).unwrap_or_default();
        let is_name = |line: &&str| line.contains('.') && !line.contains([' ', '\''].as_slice());
        let names = text.lines().map(|line| line.replace("<vimdiff variant>", "<tool>"));
        let names: Vec<String> = names.collect();
        let names = names.iter().map(String::as_str).filter(is_name);
        names
            .map(|name| {
                let parts = name.split('.').map(|part| match part.starts_with('<') {
                    true => "x",
                    false => part,
                });
                parts.collect::<Vec<_>>().join(".").replace('*', "x").to_ascii_lowercase()
            })
            .collect()
    }

    /// Returns the version of git of which the list knows every setting.
    fn version_of_list() -> (u32, u32) {
        let line = TEXT.lines().find_map(|line| line.strip_prefix("# From git "));
        let version = line.expect("the list says it").trim_end_matches('.');
        let (major, minor) = version.split_once('.').expect("two numbers");
        (major.parse().expect("a number"), minor.parse().expect("a number"))
    }

    #[test]
    fn every_setting_that_git_documents_is_listed() {
        let version = git(&["--version"]).unwrap_or_default();
        let mut numbers = version.split([' ', '.']).filter_map(|word| word.parse::<u32>().ok());
        let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else { return };
        let names = documented();
        assert!(names.len() > 500, "{version}: {} names", names.len());
        // What a newer git has in addition counts as a guard.
        let known = (major, minor) <= version_of_list();
        let is_unlisted = |name: &&String| !listed().any(|(listed, _)| wild(listed, name));
        // These stand for any setting of their group.
        let groups = ["credential.x.x", "http.x.x", "sendemail.x.x", "bundle.x", "bundle.x.x"];
        let unlisted: Vec<&String> = names
            .iter()
            .filter(is_unlisted)
            .filter(|name| known && !groups.contains(&name.as_str()))
            .collect();
        assert!(unlisted.is_empty(), "neither harmless nor not: {unlisted:?}");
    }

    #[test]
    fn no_setting_that_names_a_program_or_a_place_is_harmless() {
        let harmless: Vec<&str> = listed()
            .filter(|(_, class)| *class == GitSetting::Harmless)
            .map(|(name, _)| name)
            .filter(|name| {
                NAMES_SOMETHING.split_whitespace().any(|word| name.ends_with(word))
                    && !ONLY_READ.split_whitespace().any(|read| read == *name)
            })
            .collect();
        assert!(harmless.is_empty(), "{harmless:?}");
    }

    #[test]
    fn no_setting_is_listed_twice() {
        let mut names: Vec<&str> = listed().map(|(name, _)| name).collect();
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn the_value_decides_too() {
        for (key, value, expected) in [
            ("core.pager", Some("less -FRX"), false),
            ("core.pager", Some("./page"), true),
            ("core.pager", Some("less; ./page"), true),
            ("core.editor", Some("code --wait"), false),
            ("core.fsmonitor", Some("true"), false),
            ("core.fsmonitor", Some(".git/watch"), true),
            ("credential.helper", Some("cache --timeout=3600"), false),
            ("credential.helper", Some("!./steal"), true),
            ("credential.https://x.test.helper", Some("./steal"), true),
            ("alias.st", Some("status -sb"), false),
            ("alias.st", Some("!./st"), true),
            ("merge.ours.driver", Some("true"), false),
            ("merge.ours.driver", Some("./merge %A"), true),
            ("remote.o.url", Some("git@x.test:a/b"), false),
            ("remote.o.url", Some("ext::sh -c ./x"), true),
            ("url.https://a/.insteadOf", Some("https://b/"), true),
            ("protocol.ext.allow", Some("always"), true),
            ("gc.pruneExpire", Some("now"), true),
            ("intent.hooks", Some("false"), true),
            ("core.hooksPath", None, true),
            ("http.proxy", None, false),
            ("alias.st", None, false),
            ("user.name", Some("!x"), false),
            ("branch.main.merge", Some("refs/heads/main"), false),
            ("branch.a.b.vscode-merge-base", Some("origin/main"), false),
            ("new.setting", Some("x"), true),
        ] {
            assert_eq!(decides_what_git_does(key, value), expected, "{key} {value:?}");
        }
    }
}
