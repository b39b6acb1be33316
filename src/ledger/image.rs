//! How an index lies in a file: its bytes, a checksum for each page of them, what is known of it as a whole, and a tail
//! that says where each begins and that all of it is ours.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::pages::{Bytes, Damaged};
use crate::code::LineRange;
use crate::workspace::store::write_scratch;
use crate::workspace::{Code, Finding, Related, RelativePath};

/// Raised whenever what is kept, or how a ledger is read, changes within one version.
const FORMAT: &str = concat!("intent-index 2 ", env!("CARGO_PKG_VERSION"));
const MAGIC: &[u8; 8] = b"intidx\r\n";
/// Length of the image, length of what is known of it, checksum of that and of the checksums, magic.
const TAIL: usize = 8 + 8 + 4 + 8;

/// A value somewhere in an image.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Section {
    at: u64,
    length: u64,
}

impl Section {
    /// Puts a value behind what is there.
    pub fn put(image: &mut Vec<u8>, value: &impl Serialize) -> Self {
        let bytes = postcard::to_stdvec(value).expect("plain data always serialises");
        let section = Self { at: image.len() as u64, length: bytes.len() as u64 };
        image.extend_from_slice(&bytes);
        section
    }

    /// Reads it back.
    pub fn read<T: DeserializeOwned>(self, bytes: &Bytes) -> Result<T, Damaged> {
        let length = usize::try_from(self.length).map_err(|_| Damaged)?;
        postcard::from_bytes(&bytes.read(self.at, length)?).map_err(|_| Damaged)
    }
}

/// A number of up to eight bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Opens an image and what is known of it.
pub(super) fn open<T: DeserializeOwned>(path: &Path) -> Option<(Bytes, T)> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let all = file.metadata().ok()?.len();
    let tail_at = all.checked_sub(TAIL as u64)?;
    let tail = part(&mut file, tail_at, TAIL as u64)?;
    let (length, known) = (number(&tail[..8]), number(&tail[8..16]));
    let sums = Bytes::pages(length) as u64 * 4;
    if tail[20..] != MAGIC[..] || length.checked_add(sums)?.checked_add(known)? != tail_at {
        return None;
    }
    let guarded = part(&mut file, length, sums + known)?;
    if u64::from(crc32fast::hash(&guarded)) != number(&tail[16..20]) {
        return None;
    }
    let (sums, known) = guarded.split_at(usize::try_from(sums).ok()?);
    let (format, known): (String, T) = postcard::from_bytes(known).ok()?;
    let sums = sums.chunks_exact(4).map(|sum| number(sum) as u32).collect();
    let bytes = Bytes::Disk { path: path.to_owned(), file, length, sums };
    (format == FORMAT).then_some((bytes, known))
}

fn part(file: &mut File, from: u64, length: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == length).then_some(bytes)
}

/// Writes an image and what is known of it, as a whole or not at all. The bytes as they can be read from now on: in hand
/// as before where they cannot be written.
pub(super) fn keep<T: Serialize>(mut image: Vec<u8>, known: &T, path: &Path) -> Bytes {
    let length = image.len();
    let sums = Bytes::sums(&image);
    for sum in &sums {
        image.extend_from_slice(&sum.to_be_bytes());
    }
    let known = postcard::to_stdvec(&(FORMAT, known)).expect("plain data always serialises");
    image.extend_from_slice(&known);
    let guard = crc32fast::hash(&image[length..]);
    image.extend_from_slice(&(length as u64).to_be_bytes());
    image.extend_from_slice(&(known.len() as u64).to_be_bytes());
    image.extend_from_slice(&guard.to_be_bytes());
    image.extend_from_slice(MAGIC);
    if let Err(error) = write_scratch(path, &image) {
        tracing::debug!(%error, "no index kept");
    } else if let Ok(file) = File::open(path) {
        return Bytes::Disk { path: path.to_owned(), file, length: length as u64, sums };
    }
    image.truncate(length);
    Bytes::Hand(image)
}

/// A finding without what findings of a ledger never have.
#[derive(Serialize, Deserialize)]
struct Plain {
    code: String,
    path: Option<RelativePath>,
    span: Option<(u64, u64)>,
    lines: Option<(u32, u32)>,
    message: String,
    help: String,
    related: Vec<PlainRelated>,
}

/// Path, span, lines, message.
type PlainRelated = (RelativePath, (u64, u64), (u32, u32), String);

fn span(span: &Range<usize>) -> (u64, u64) {
    (span.start as u64, span.end as u64)
}

fn range((start, end): (u64, u64)) -> Option<Range<usize>> {
    Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// Puts findings behind what is there.
pub(super) fn put_findings(image: &mut Vec<u8>, findings: &[Finding]) -> Section {
    let plain = |finding: &Finding| Plain {
        code: finding.code.as_str().to_owned(),
        path: finding.path.clone(),
        span: finding.span.as_ref().map(span),
        lines: finding.lines.map(|lines| (lines.start(), lines.end())),
        message: finding.message.clone(),
        help: finding.help.clone(),
        related: finding
            .related
            .iter()
            .map(|related| {
                let lines = (related.lines.start(), related.lines.end());
                (related.path.clone(), span(&related.span), lines, related.message.clone())
            })
            .collect(),
    };
    Section::put(image, &findings.iter().map(plain).collect::<Vec<_>>())
}

/// Reads findings back.
pub(super) fn findings(bytes: &Bytes, at: Section) -> Result<Vec<Finding>, Damaged> {
    let all: Vec<Plain> = at.read(bytes)?;
    all.into_iter().map(|plain| finding(plain).ok_or(Damaged)).collect()
}

fn finding(plain: Plain) -> Option<Finding> {
    let related = |(path, span, lines, message): (RelativePath, _, (u32, u32), String)| {
        Some(Related {
            path,
            span: range(span)?,
            lines: LineRange::new(lines.0, lines.1)?,
            message,
        })
    };
    Some(Finding {
        path: plain.path,
        span: plain.span.and_then(range),
        lines: plain.lines.and_then(|(start, end)| LineRange::new(start, end)),
        related: plain.related.into_iter().map(related).collect::<Option<_>>()?,
        ..Finding::new(Code::parse(&plain.code)?, plain.message, plain.help)
    })
}
