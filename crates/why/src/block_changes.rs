//! The last change of a block that is not as it was recorded although none of its lines is newer.

use std::ops::Range;

use code::{Block, ContentHash, Document};
use ground::RelativePath;
use ground::git::{ByteSlice, ObjectId};
use history::{FileChanges, FormerText, LineText, VersionChange, respaced_lines};

use crate::Workspace;

const MAX_CHANGES: usize = 64;

pub struct LastChange {
    /// The id with only zeros if the change is not committed yet.
    pub commit: ObjectId,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// One item for each parent. `None` if a parent lacks the block.
    pub before: Vec<Option<FormerBlock>>,
    /// Whether the change left the block as it is. Otherwise a later change has removed lines at its
    /// start or its end, so that the text of the longer block contains it, too.
    pub has_left_block: bool,
    /// The lines of the block of which the change altered only white space, counted from 0.
    pub respaced: Vec<usize>,
}

pub struct FormerBlock {
    pub content: ContentHash,
    pub has_lost_lines: bool,
}

/// The changes of one file, newest first, as far as they were looked at.
#[derive(Default)]
pub struct BlockChanges<'git> {
    walk: Option<FileChanges<'git>>,
    seen: Vec<VersionChange>,
}

struct ParentFile {
    document: Document,
    is_gone: Vec<bool>,
}

impl<'git> BlockChanges<'git> {
    /// Returns the last change of a block of a document: the newest one after which the file contains
    /// the text of the block, and before which it did not. `None` if there is none.
    pub fn last_change(
        &mut self,
        ws: &'git Workspace,
        path: &RelativePath,
        document: &Document,
        block: &Block,
    ) -> Option<LastChange> {
        let (git, tip) = (ws.git()?, ws.tip()?);
        let (tip, full) = (git.object_id(tip).ok()?, git.path_in_repository(path.as_str()));
        let text = text_of(document, block);
        let contains = |content: &[u8]| with_line_feeds(content).contains_str(text.trim_end());
        let count = text.lines().count();
        for at in 0..MAX_CHANGES {
            if at == self.seen.len() {
                if self.walk.is_none() {
                    let reader = git.object_reader().ok()?;
                    self.walk = Some(FileChanges::new(reader, tip, full.clone()).ok()?);
                }
                self.seen.push(self.walk.as_mut()?.next_change().ok()??);
            }
            let change = &self.seen[at];
            let is_there = change.now.as_deref().is_some_and(contains);
            if at == 0 && !is_there {
                let content = change.now.as_deref()?;
                let before =
                    ParentFile { document: ws.document(path, content).ok()?, is_gone: Vec::new() };
                let before = vec![before.block(block, &text)];
                let start = block.whole_lines.start() as usize - 1;
                let now = document.text();
                return Some(LastChange {
                    commit: ObjectId::null(tip.kind()),
                    time: i64::MAX,
                    has_left_block: true,
                    respaced: respaced_within(start..start + count, &[content], now.as_bytes()),
                    before,
                });
            }
            if !is_there || change.before.iter().flatten().any(|old| contains(&old.content)) {
                continue;
            }
            let files = change.before.iter().zip(change.removed_lines());
            let former = |(before, is_gone): (&Option<FormerText>, Vec<bool>)| {
                let document = ws.document(path, &before.as_ref()?.content).ok()?;
                ParentFile { document, is_gone }.block(block, &text)
            };
            let before = files.map(former).collect();
            let now = with_line_feeds(change.now.as_deref()?);
            let start = now[..now.find(text.trim_end())?].find_iter("\n").count();
            let parents = change.before.iter().flatten();
            let parents: Vec<&[u8]> = parents.map(|old| &*old.content).collect();
            let respaced = respaced_within(start..start + count, &parents, &now);
            let print = &block.fingerprint;
            let is_it = |it: &Block| {
                (&it.fingerprint.content, &it.fingerprint.lead) == (&print.content, &print.lead)
            };
            let has_left_block = ws.document(path, &now).ok()?.blocks().blocks.iter().any(is_it);
            let (commit, time) = (change.commit, change.time);
            return Some(LastChange { commit, time, respaced, before, has_left_block });
        }
        None
    }
}

impl ParentFile {
    /// Returns the block with the same name, or else one with the same text apart from
    /// white space. For example, a function that was put into a class has another name.
    fn block(&self, block: &Block, text: &str) -> Option<FormerBlock> {
        let has_its_letters = |old: &&Block| has_same_letters(&text_of(&self.document, old), text);
        let former = |old: &Block| {
            let lines = self.is_gone.iter().enumerate();
            let mut gone = lines.filter(|(_, is_gone)| **is_gone);
            FormerBlock {
                content: old.fingerprint.content.clone(),
                has_lost_lines: gone.any(|(line, _)| {
                    u32::try_from(line + 1).is_ok_and(|line| old.whole_lines.contains(line))
                }),
            }
        };
        let blocks = self.document.blocks();
        let alike = blocks.blocks.iter().filter(|old| old.identity.kind == block.identity.kind);
        let named = alike.clone().find(|old| old.identity.path == block.identity.path);
        named.or_else(|| alike.clone().find(has_its_letters)).map(former)
    }
}

/// Returns the text with the line ends that git has. A file on disk may have others.
fn with_line_feeds(content: &[u8]) -> Vec<u8> {
    content.replace("\r\n", "\n")
}

/// Returns which of some lines of a text have other white space than before, counted from the first
/// of them.
fn respaced_within(lines: Range<usize>, before: &[&[u8]], now: &[u8]) -> Vec<usize> {
    let text = |content: &[u8]| LineText::new(with_line_feeds(content));
    let before: Vec<LineText> = before.iter().map(|content| text(content)).collect();
    let is_respaced = respaced_lines(&before.iter().collect::<Vec<_>>(), &text(now));
    let within = is_respaced.get(lines).unwrap_or_default();
    within.iter().enumerate().filter(|(_, is_it)| **is_it).map(|(at, _)| at).collect()
}

fn has_same_letters(one: &str, other: &str) -> bool {
    one.split_whitespace().flat_map(str::bytes).eq(other.split_whitespace().flat_map(str::bytes))
}

fn text_of(document: &Document, block: &Block) -> String {
    let (start, end) = (block.whole_lines.start() as usize, block.whole_lines.end() as usize);
    let text = document.text().replace("\r\n", "\n");
    text.split_inclusive('\n').take(end).skip(start - 1).collect()
}
