//! Web pages of issue keys and pull requests: `links` of the policy, and the forge of a remote.
//!
//! ```text
//! links: { "SHOP-{number}": "https://tracker.example.org/browse/{key}" }
//! "Fixes SHOP-12."  ->  SHOP-12  https://tracker.example.org/browse/SHOP-12
//! ```
//!
//! Nothing here opens a page. An editor does, if a person follows the link.

use std::ops::Range;

use super::git::WebAddress;
use super::policy::{KEY, NUMBER, is_page, prefix_of};
use super::{Git, Policy};

const MAX_DIGITS: usize = 12;
/// The most digits of the number of a pull request. Six digits are a colour.
const MAX_DIGITS_OF_FORGE: usize = 5;

pub struct KeyLinks<'p> {
    policy: &'p Policy,
    forge: Option<WebAddress>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedKey {
    pub bytes: Range<usize>,
    /// The address of the page: `http` or `https`.
    pub page: String,
    /// Whether the policy names the page. Else it follows from a remote.
    pub of_policy: bool,
}

impl<'p> KeyLinks<'p> {
    pub fn new(policy: &'p Policy, git: Option<&Git>) -> Self {
        Self { policy, forge: git.and_then(Git::web_address) }
    }

    /// Returns the page of a key such as `SHOP-12` or `#214`. `None` if it is not known.
    pub fn page(&self, key: &str) -> Option<String> {
        let found = self.in_text(key).into_iter();
        found.filter(|one| one.bytes == (0..key.len())).map(|one| one.page).next()
    }

    /// Finds the keys in a text whose pages are known, in the order of the text.
    pub fn in_text(&self, text: &str) -> Vec<LinkedKey> {
        let mut found = Vec::new();
        for (pattern, page) in &self.policy.links {
            let Some(prefix) = prefix_of(pattern).filter(|_| is_page(page)) else { continue };
            found.extend(keys(text, prefix, MAX_DIGITS).map(|bytes| {
                let key = &text[bytes.clone()];
                let page = page.replace(NUMBER, &key[prefix.len()..]);
                LinkedKey {
                    page: page.replace(KEY, &percent_encoded(key, b"")),
                    bytes,
                    of_policy: true,
                }
            }));
        }
        if let Some(forge) = &self.forge {
            let known = found.len();
            for bytes in keys(text, "#", MAX_DIGITS_OF_FORGE) {
                let is_known = found[..known].iter().any(|one| one.bytes == bytes);
                let page = forge.reference(&text[bytes.clone()]).filter(|_| !is_known);
                found.extend(page.map(|page| LinkedKey { bytes, page, of_policy: false }));
            }
        }
        found.sort_by_key(|one| one.bytes.start);
        found
    }
}

/// Finds the keys with a prefix: `SHOP-12`, but neither `XSHOP-12` nor `SHOP-12a` nor `SHOP-1-2`.
fn keys<'t>(
    text: &'t str,
    prefix: &'t str,
    max_digits: usize,
) -> impl Iterator<Item = Range<usize>> + 't {
    let touches = |c: char| c.is_alphanumeric() || "_-#&/".contains(c);
    text.match_indices(prefix).filter_map(move |(start, _)| {
        let rest = &text[start + prefix.len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = rest[digits..].chars().next();
        let is_whole = !text[..start].ends_with(touches)
            && after.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-');
        let end = start + prefix.len() + digits;
        (is_whole && (1..=max_digits).contains(&digits)).then_some(start..end)
    })
}

/// Returns a text as it may stand in an address (RFC 3986). The bytes in `also` stay as they are, too.
pub fn percent_encoded(text: &str, also: &[u8]) -> String {
    let encode = |byte: u8| match byte {
        _ if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || also.contains(&byte) => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(links: &[(&str, &str)]) -> Policy {
        let links = links.iter().map(|(key, page)| ((*key).to_owned(), (*page).to_owned()));
        Policy { links: links.collect(), ..Policy::default() }
    }

    #[test]
    fn whole_keys_are_linked() {
        let policy = policy(&[
            ("SHOP-{number}", "https://tracker.example.org/browse/{key}"),
            ("#{number}", "https://example.org/issues?q={key}&n={number}"),
        ]);
        let links = KeyLinks::new(&policy, None);
        let found = |text: &str| -> Vec<String> {
            links.in_text(text).into_iter().map(|one| text[one.bytes].to_owned()).collect()
        };
        for (text, expected) in [
            ("Fixes SHOP-12, and (SHOP-7).", vec!["SHOP-12", "SHOP-7"]),
            ("XSHOP-1 SHOP-1a SHOP-1-2 SHOP- ÄSHOP-3", vec![]),
            ("see #214; a&#214; ada/shop#214 ##7", vec!["#214"]),
            ("SHOP-1234567890123", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
        let page = |key: &str| links.page(key);
        assert_eq!(page("SHOP-12").as_deref(), Some("https://tracker.example.org/browse/SHOP-12"));
        assert_eq!(page("#7").as_deref(), Some("https://example.org/issues?q=%237&n=7"));
        assert_eq!((page("SHOP-12 "), page("REQ-1")), (None, None));
    }

    #[test]
    fn only_pages_with_a_fixed_host_are_linked() {
        for (template, is_safe) in [
            ("https://example.org/{key}", true),
            ("http://localhost:8080/?id={number}", true),
            ("https://example.org/browse", false),
            ("https://{key}.example.org/{key}", false),
            ("https://example.org@evil.example/{key}", false),
            ("https://example.org{key}/", false),
            ("https:///{key}", false),
            ("https://example.org/{key}/{other}", false),
            ("https://example.org/a b/{key}", false),
            ("command:run?{key}", false),
            ("javascript:alert({number})", false),
            ("file:///etc/{key}", false),
        ] {
            assert_eq!(is_page(template), is_safe, "{template}");
            let policy = policy(&[("SHOP-{number}", template)]);
            let links = KeyLinks::new(&policy, None);
            assert_eq!(links.page("SHOP-1").is_some(), is_safe, "{template}");
        }
    }

    #[test]
    fn a_pattern_is_a_prefix_and_a_number() {
        assert_eq!(prefix_of("SHOP-{number}"), Some("SHOP-"));
        for pattern in ["{number}", "SHOP-1", "{number}-SHOP", "A {number}", "a/{number}", ""] {
            assert_eq!(prefix_of(pattern), None, "{pattern}");
        }
    }
}
