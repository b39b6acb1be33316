//! The address of a remote, and where its forge shows commits and pull requests.

use gix::bstr::ByteSlice;
use gix::url::Scheme;

use super::Git;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forge {
    GitHub,
    GitLab,
}

/// The address of a remote on another machine: `https://host/path`, `ssh://git@host:22/path` or
/// `git@host:path`. Names and passwords are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    scheme: Scheme,
    host: String,
    port: Option<u16>,
    path: String,
}

impl RemoteAddress {
    /// Reads an address. `None` for a folder of this machine.
    pub fn parse(remote: &str) -> Option<Self> {
        let url = gix::url::parse(remote).ok()?;
        // A path of Windows begins with a letter and a colon.
        let host = url.host().filter(|host| host.len() > 1)?.to_owned();
        let path = url.path.to_str().ok()?.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).to_owned();
        Some(Self { scheme: url.scheme, host, port: url.port, path })
    }

    /// Returns the forge, if the host names it.
    pub fn forge(&self) -> Option<Forge> {
        let named = [(Forge::GitHub, "github"), (Forge::GitLab, "gitlab")];
        named.into_iter().find_map(|(forge, word)| self.host.contains(word).then_some(forge))
    }

    /// Returns what all clones have in common: `host/path`.
    pub fn name(&self) -> String {
        format!("{}/{}", authority(&self.host, self.port), self.path)
    }
}

fn authority(host: &str, port: Option<u16>) -> String {
    port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress {
    /// For example `https://github.com/owner/name`.
    page: String,
    forge: Forge,
}

impl Git {
    /// Returns the page of the first remote whose forge is known by its host.
    pub fn web_address(&self) -> Option<WebAddress> {
        self.remotes().iter().find_map(|remote| WebAddress::of_remote(remote))
    }
}

impl WebAddress {
    fn of_remote(remote: &str) -> Option<Self> {
        let address = RemoteAddress::parse(remote)?;
        let port = match address.scheme {
            Scheme::Https => address.port,
            Scheme::Ssh => None,
            _ => return None,
        };
        let host = address.host.strip_prefix("ssh.").unwrap_or(&address.host);
        let path = address.path.as_str();
        let is_plain = |text: &str, more: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        if !is_plain(host, ".-") || !is_plain(path, "._~-/") || !path.contains('/') {
            return None;
        }
        let forge = address.forge()?;
        Some(Self { page: format!("https://{}/{path}", authority(host, port)), forge })
    }

    pub fn commit(&self, id: &str) -> String {
        match self.forge {
            Forge::GitHub => format!("{}/commit/{id}", self.page),
            Forge::GitLab => format!("{}/-/commit/{id}", self.page),
        }
    }

    /// Returns the page of a pull request or an issue such as `#214`. `None` for the key of another
    /// tracker.
    pub fn reference(&self, reference: &str) -> Option<String> {
        let number = reference.strip_prefix('#')?;
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(match self.forge {
            // The page of a pull request leads on to the issue with that number.
            Forge::GitHub => format!("{}/pull/{number}", self.page),
            Forge::GitLab => format!("{}/-/issues/{number}", self.page),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_is_found_in_every_form() {
        for (address, expected) in [
            ("https://git.example.org/a/b", Some("git.example.org")),
            ("https://me:se:cret@git.example.org:8443/a", Some("git.example.org")),
            ("https://me:se@cret@[::1]:8443/a", Some("[::1]")),
            ("ssh://git@git.example.org:22/a", Some("git.example.org")),
            ("git@git.example.org:a/b.git", Some("git.example.org")),
            ("git.example.org:a/b", Some("git.example.org")),
            ("/srv/git/github-mirror", None),
            ("../beside", None),
            ("../github:1", None),
            ("file:///srv/git/github", None),
            (r"C:\git\shop", None),
        ] {
            assert_eq!(
                RemoteAddress::parse(address).map(|found| found.host).as_deref(),
                expected,
                "{address}"
            );
        }
    }

    #[test]
    fn a_remote_of_a_known_forge_has_pages() {
        let commit = |remote: &str| WebAddress::of_remote(remote).map(|page| page.commit("abc"));
        #[rustfmt::skip]
        let table = [
            ("git@github.com:ada/shop.git", Some("https://github.com/ada/shop/commit/abc")),
            ("https://ada:se@cret@github.com/ada/shop", Some("https://github.com/ada/shop/commit/abc")),
            ("ssh://git@ssh.github.com:443/ada/shop.git", Some("https://github.com/ada/shop/commit/abc")),
            ("https://gitlab.example.org:8443/a/b/c/", Some("https://gitlab.example.org:8443/a/b/c/-/commit/abc")),
            ("https://git.example.org/a/b", None),
            ("http://github.com/a/b", None),
            ("https://github.com/a b/c", None),
            ("https://github.com/a/b)](x", None),
            ("/srv/github/a/b", None),
            ("../github.git", None),
        ];
        for (remote, expected) in table {
            assert_eq!(commit(remote).as_deref(), expected, "{remote}");
        }
    }

    #[test]
    fn only_numbers_are_references_of_the_forge() {
        let page = WebAddress::of_remote("git@github.com:ada/shop.git").unwrap();
        assert_eq!(page.reference("#7").as_deref(), Some("https://github.com/ada/shop/pull/7"));
        assert_eq!(page.reference("SHOP-7"), None);
        assert_eq!(page.reference("#7)"), None);
    }
}
