//! Where a forge shows the commits and pull requests of this repository, by the address of a remote.

use super::Git;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress {
    /// For example `https://github.com/owner/name`.
    page: String,
    forge: WebForge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WebForge {
    GitHub,
    GitLab,
}

impl Git {
    /// Returns the page of the first remote whose forge is known by its host.
    pub fn web_address(&self) -> Option<WebAddress> {
        self.remotes().iter().find_map(|remote| WebAddress::of_remote(remote))
    }
}

impl WebAddress {
    /// Reads `https://host/path`, `ssh://git@host/path` or `git@host:path`. Names and passwords are
    /// left out.
    fn of_remote(remote: &str) -> Option<Self> {
        let (host, path, port) = match remote.split_once("://") {
            Some((scheme @ ("https" | "ssh"), rest)) => {
                let (authority, path) = rest.split_once('/')?;
                let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
                let (host, port) = host.split_once(':').unwrap_or((host, ""));
                (host, path, if scheme == "https" { port } else { "" })
            }
            Some(_) => return None,
            None => {
                let (authority, path) = remote.split_once(':')?;
                (authority.rsplit_once('@').map_or(authority, |(_, host)| host), path, "")
            }
        };
        let host = host.strip_prefix("ssh.").unwrap_or(host);
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_plain = |text: &str, more: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        if !is_plain(host, ".-") || !is_plain(path, "._~-/") || !path.contains('/') || !is_port {
            return None;
        }
        let forge = match host {
            _ if host.contains("github") => WebForge::GitHub,
            _ if host.contains("gitlab") => WebForge::GitLab,
            _ => return None,
        };
        let port = if port.is_empty() { String::new() } else { format!(":{port}") };
        Some(Self { page: format!("https://{host}{port}/{path}"), forge })
    }

    pub fn commit(&self, id: &str) -> String {
        match self.forge {
            WebForge::GitHub => format!("{}/commit/{id}", self.page),
            WebForge::GitLab => format!("{}/-/commit/{id}", self.page),
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
            WebForge::GitHub => format!("{}/pull/{number}", self.page),
            WebForge::GitLab => format!("{}/-/issues/{number}", self.page),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
