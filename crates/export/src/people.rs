//! What the rows say of people.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use code::hex;

#[derive(Clone, Debug, Default)]
pub enum People {
    #[default]
    LeftOut,
    /// As a hash with a secret, so that only its owner can tell who it is: `p:` and 32 hexadecimal
    /// digits of HMAC-SHA-256.
    Hashed(Vec<u8>),
    /// As it is in the evidence. E-mail addresses are never stored there.
    Named,
}

impl People {
    pub fn written(&self, name: &str) -> Option<String> {
        match self {
            Self::LeftOut => None,
            Self::Named => Some(name.to_owned()),
            Self::Hashed(secret) => {
                let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
                mac.update(name.as_bytes());
                let hash = mac.finalize().into_bytes();
                Some(format!("p:{}", hex(&hash[..16])))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_left_out_unless_somebody_asks_for_it() {
        assert_eq!(People::LeftOut.written("Ada"), None);
        assert_eq!(People::Named.written("Ada"), Some("Ada".to_owned()));
        let hashed = |secret: &[u8], name| People::Hashed(secret.to_vec()).written(name);
        // The first half of test case 2 of RFC 4231.
        assert_eq!(
            hashed(b"Jefe", "what do ya want for nothing?").as_deref(),
            Some("p:5bdcc146bf60754e6a042426089575c7")
        );
        assert_ne!(hashed(b"one", "Ada"), hashed(b"other", "Ada"));
    }
}
