//! The last change of a block that is not as it was recorded although none of its lines is newer.

use code::{Block, ContentHash, Document};
use ground::RelativePath;
use ground::git::{ByteSlice, ObjectId};
use history::{FileChanges, FormerText, VersionChange};

use crate::Workspace;

const MAX_CHANGES: usize = 64;

pub struct LastChange {
    /// The id with only zeros if the change is not committed yet.
    pub commit: ObjectId,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// One item for each parent. `None` if a parent lacks the block.
    pub before: Vec<Option<FormerBlock>>,
    text: String,
}

pub struct FormerBlock {
    pub content: ContentHash,
    pub text: String,
    pub has_lost_lines: bool,
}

impl LastChange {
    /// Returns the lines of the block in which the change altered white space, counted from
    /// 0. `None` if it changed more than white space.
    pub(crate) fn respaced_lines(&self) -> Option<Vec<usize>> {
        let old =
            self.before.iter().flatten().find(|old| has_same_letters(&old.text, &self.text))?;
        let before: Vec<&str> = old.text.lines().collect();
        let lines = self.text.lines().enumerate();
        Some(lines.filter(|(at, line)| before.get(*at) != Some(line)).map(|(at, _)| at).collect())
    }
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
        // The file on disk may have other line ends than git's.
        let contains = |content: &[u8]| content.replace("\r\n", "\n").contains_str(text.trim_end());
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
                return Some(LastChange {
                    commit: ObjectId::null(tip.kind()),
                    time: i64::MAX,
                    text,
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
            return Some(LastChange { commit: change.commit, time: change.time, before, text });
        }
        None
    }
}

impl ParentFile {
    /// Returns the block with the same name, or else one with the same text apart from
    /// white space. For example, a function that was put into a class has another name.
    fn block(&self, block: &Block, text: &str) -> Option<FormerBlock> {
        let former = |old: &Block| {
            let lines = self.is_gone.iter().enumerate();
            let mut gone = lines.filter(|(_, is_gone)| **is_gone);
            FormerBlock {
                content: old.fingerprint.content.clone(),
                text: text_of(&self.document, old),
                has_lost_lines: gone.any(|(line, _)| {
                    u32::try_from(line + 1).is_ok_and(|line| old.whole_lines.contains(line))
                }),
            }
        };
        let blocks = self.document.blocks();
        let alike = blocks.blocks.iter().filter(|old| old.identity.kind == block.identity.kind);
        let named = alike.clone().find(|old| old.identity.path == block.identity.path);
        named
            .map(former)
            .or_else(|| alike.map(former).find(|old| has_same_letters(&old.text, text)))
    }
}

fn has_same_letters(one: &str, other: &str) -> bool {
    one.split_whitespace().flat_map(str::bytes).eq(other.split_whitespace().flat_map(str::bytes))
}

fn text_of(document: &Document, block: &Block) -> String {
    let (start, end) = (block.whole_lines.start() as usize, block.whole_lines.end() as usize);
    let text = document.text().replace("\r\n", "\n");
    text.split_inclusive('\n').take(end).skip(start - 1).collect()
}
