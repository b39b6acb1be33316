//! DSSE envelopes: a payload with signatures of it, as tools for in-toto read them. The signatures
//! are those of `ssh-keygen`.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::CliError;
use super::ssh::{SshKeygen, sign};
use evidence::signing::{SignatureCheck, Signatures as _, Signed};
use why::{VerbError, Workspace};

pub const IN_TOTO: &str = "application/vnd.in-toto+json";
/// The namespace of the signatures. It says what they are for, so that none counts for another thing.
pub const NAMESPACE: &str = "intent-attestation";

/// A payload with its signatures.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SignedEnvelope {
    #[serde(rename = "payloadType")]
    pub payload_type: String,
    /// The bytes of the payload in base64.
    payload: String,
    signatures: Vec<EnvelopeSignature>,
}

/// A signature of the type and the bytes of the payload.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct EnvelopeSignature {
    /// The fingerprint of the key, as `ssh-keygen -l` prints it. It is only a hint.
    #[serde(default)]
    keyid: String,
    /// The SSH signature in base64, without its armour.
    sig: String,
}

impl SignedEnvelope {
    pub fn new(payload_type: &str, payload: &[u8]) -> Self {
        Self {
            payload_type: payload_type.to_owned(),
            payload: STANDARD.encode(payload),
            signatures: Vec::new(),
        }
    }

    /// Returns the payload, or `None` if it is not base64.
    pub fn opened(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.payload).ok()
    }

    pub fn sign(
        &mut self,
        workspace: &Workspace,
        folder: &Path,
        key: &Path,
    ) -> Result<(), CliError> {
        let bytes = pre_authentication(&self.payload_type, &self.opened().unwrap_or_default());
        let sig = sign(workspace, folder, Some(key.to_owned()), NAMESPACE, &bytes)?;
        let keyid = fingerprint(&sig).unwrap_or_default();
        self.signatures.push(EnvelopeSignature { keyid, sig });
        Ok(())
    }

    pub fn judge(&self, keys: &SshKeygen, signers: &str) -> Result<Vec<SignatureCheck>, VerbError> {
        let bytes = pre_authentication(&self.payload_type, &self.opened().unwrap_or_default());
        let judged = self.signatures.iter().map(|one| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
            if !one.sig.bytes().all(is_letter) {
                return Ok(SignatureCheck::Bad);
            }
            keys.judge(Signed { namespace: NAMESPACE, bytes: &bytes, signature: &one.sig }, signers)
        });
        judged.collect()
    }
}

fn pre_authentication(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// Returns the fingerprint of the key of an SSH signature, which holds the public key.
fn fingerprint(signature: &str) -> Option<String> {
    let bytes = STANDARD.decode(signature).ok()?;
    let rest = bytes.strip_prefix(b"SSHSIG")?.get(4..)?;
    let (length, rest) = rest.split_first_chunk()?;
    let key = rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    Some(format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(key))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signed_bytes_are_those_of_the_specification() {
        // This example is in the specification of DSSE.
        let bytes = pre_authentication("http://example.com/HelloWorld", b"hello world");
        assert_eq!(bytes, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn what_is_no_signature_has_no_fingerprint() {
        for text in ["", "AAAA", "U1NIU0lHAAAAAf////8=", "?"] {
            assert_eq!(fingerprint(text), None, "{text}");
        }
    }
}
