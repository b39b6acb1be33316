//! The last change of a block that is not as it was recorded although none of its lines is newer.

use std::ops::Range;

use code::{Block, ContentHash, Document};
use ground::RelativePath;
use ground::git::{ByteSlice, ObjectId};
use history::{FileChanges, FormerText, LineText, VersionChange, respaced_lines};

use crate::Workspace;

const MAX_CHANGES: usize = 64;
/// How many merges in a row are looked at.
const MAX_MERGES: usize = 8;

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
    /// If a merge made this text as well, the block before that merge, for each of its parents.
    pub united: Vec<Option<FormerBlock>>,
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
        let tip = ws.git()?.object_id(ws.tip()?).ok()?;
        let text = text_of(document, block);
        let count = text.lines().count();
        let last = self.change(ws, path, 0)?;
        if !last.now.as_deref().is_some_and(|content| contains(content, &text)) {
            let content = last.now.as_deref()?;
            let before = ws.document(path, content).ok()?;
            let before = ParentFile { document: before, is_gone: Vec::new() };
            let before = before.block(block, &text).map(|old| before.former(&old));
            let start = block.whole_lines.start() as usize - 1;
            let now = document.text();
            return Some(LastChange {
                commit: ObjectId::null(tip.kind()),
                time: i64::MAX,
                has_left_block: true,
                respaced: respaced_within(start..start + count, &[content], now.as_bytes()),
                before: vec![before],
            });
        }
        let at = self.change_that_made(ws, path, 0, &text)?;
        let before = self.blocks_before(ws, path, at, (block, &text), MAX_MERGES);
        let change = &self.seen[at];
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
        Some(LastChange { commit, time, respaced, before, has_left_block })
    }

    /// Returns a change of the file, counted from the newest one. `None` after the oldest one.
    fn change(
        &mut self,
        ws: &'git Workspace,
        path: &RelativePath,
        at: usize,
    ) -> Option<&VersionChange> {
        while self.seen.len() <= at {
            if self.walk.is_none() {
                let git = ws.git()?;
                let tip = git.object_id(ws.tip()?).ok()?;
                let path = git.path_in_repository(path.as_str());
                self.walk = Some(FileChanges::new(git.object_reader().ok()?, tip, path).ok()?);
            }
            self.seen.push(self.walk.as_mut()?.next_change().ok()??);
        }
        self.seen.get(at)
    }

    /// Returns the newest change, from one on, after which the file contains a text, and before which
    /// it did not.
    fn change_that_made(
        &mut self,
        ws: &'git Workspace,
        path: &RelativePath,
        from: usize,
        text: &str,
    ) -> Option<usize> {
        for at in from..MAX_CHANGES {
            let change = self.change(ws, path, at)?;
            let is_there = change.now.as_deref().is_some_and(|now| contains(now, text));
            if is_there && !change.before.iter().flatten().any(|old| contains(&old.content, text)) {
                return Some(at);
            }
        }
        None
    }

    /// Returns a block before a change, for each of its parents. `merges` says how many merges before
    /// it are looked at.
    fn blocks_before(
        &mut self,
        ws: &'git Workspace,
        path: &RelativePath,
        at: usize,
        (block, text): (&Block, &str),
        merges: usize,
    ) -> Vec<Option<FormerBlock>> {
        let change = &self.seen[at];
        let files = change.before.iter().zip(change.removed_lines());
        let files = files.map(|(before, is_gone): (&Option<FormerText>, Vec<bool>)| {
            let document = ws.document(path, &before.as_ref()?.content).ok()?;
            Some(ParentFile { document, is_gone })
        });
        let files: Vec<Option<ParentFile>> = files.collect();
        let is_merge = files.len() > 1;
        let mut before = Vec::with_capacity(files.len());
        for file in files {
            let found = file.and_then(|file| Some((file.block(block, text)?, file)));
            before.push(found.map(|(old, file)| {
                let mut former = file.former(&old);
                if is_merge && merges > 0 {
                    let then = text_of(&file.document, &old);
                    let made_by = self.change_that_made(ws, path, at + 1, &then);
                    if let Some(earlier) = made_by.filter(|at| self.seen[*at].before.len() > 1) {
                        former.united =
                            self.blocks_before(ws, path, earlier, (&old, &then), merges - 1);
                    }
                }
                former
            }));
        }
        before
    }
}

impl ParentFile {
    /// Returns the block with the same name, or else one with the same text apart from
    /// white space. For example, a function that was put into a class has another name.
    fn block(&self, block: &Block, text: &str) -> Option<Block> {
        let has_its_letters = |old: &&Block| has_same_letters(&text_of(&self.document, old), text);
        let blocks = self.document.blocks();
        let alike = blocks.blocks.iter().filter(|old| old.identity.kind == block.identity.kind);
        let named = alike.clone().find(|old| old.identity.path == block.identity.path);
        named.or_else(|| alike.clone().find(has_its_letters)).cloned()
    }

    fn former(&self, old: &Block) -> FormerBlock {
        let mut gone = (1..).zip(&self.is_gone).filter(|(_, is_gone)| **is_gone);
        FormerBlock {
            content: old.fingerprint.content.clone(),
            has_lost_lines: gone.any(|(line, _)| old.whole_lines.contains(line)),
            united: Vec::new(),
        }
    }
}

fn contains(content: &[u8], text: &str) -> bool {
    with_line_feeds(content).contains_str(text.trim_end())
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
