//! Signed JSON objects, one per line. The signature is the last key of the object, and it covers
//! the object without that key. So the signed bytes can be cut out of the stored line, and
//! verification never has to write JSON again.

const TAIL: &[u8] = b",\"signature\":\"";
const END: &[u8] = b"\"}";

/// Splits a line into the bytes that are signed and the signature in base64. The signature is
/// `None` if the line is not signed.
pub fn split(line: &[u8]) -> (Vec<u8>, Option<&str>) {
    let unsigned = || (line.to_vec(), None);
    let Some(at) = line.windows(TAIL.len()).rposition(|bytes| bytes == TAIL) else {
        return unsigned();
    };
    let text =
        line[at + TAIL.len()..].strip_suffix(END).and_then(|it| std::str::from_utf8(it).ok());
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
    match text.filter(|text| !text.is_empty() && text.bytes().all(is_letter)) {
        Some(signature) => ([&line[..at], b"}"].concat(), Some(signature)),
        None => unsigned(),
    }
}

pub fn join(unsigned: &[u8], signature: &str) -> Vec<u8> {
    let object = unsigned.strip_suffix(b"}").unwrap_or(unsigned);
    [object, TAIL, signature.as_bytes(), END].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signed_bytes_are_cut_out_of_the_stored_line() {
        let unsigned = br#"{"a":",\"signature\":\"x"}"#;
        let line = join(unsigned, "AbC+/=");
        assert_eq!(line, br#"{"a":",\"signature\":\"x","signature":"AbC+/="}"#);
        assert_eq!(split(&line), (unsigned.to_vec(), Some("AbC+/=")));
        assert_eq!(split(unsigned), (unsigned.to_vec(), None));
        let empty = br#"{"a":1,"signature":""}"#;
        assert_eq!(split(empty), (empty.to_vec(), None));
    }
}
