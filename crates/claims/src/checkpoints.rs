//! The checkpoints of Entire, a tool that keeps the sessions of agents beside the code: which sessions a
//! commit ended, as its trailer `Entire-Checkpoint` names them. They are read from the local clone when
//! somebody asks, and nothing of them is kept.

use ground::Git;
use ground::git::{GitError, ObjectId, ObjectReader};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::claimed_line::{shown_line, shown_word};
use crate::notes_tree::{readable, tree_of_reference};

/// The largest number of bytes of a file of a checkpoint that is read.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// The largest number of sessions of a checkpoint, and of files that a session touched.
const MAX_SESSIONS: usize = 32;
const MAX_TOUCHED: usize = 1_000;

/// A checkpoint of Entire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Checkpoint {
    pub id: String,
    /// The sessions that the commit ended, in their order.
    pub sessions: Vec<CheckpointSession>,
}

/// A session in a checkpoint. All texts are from other people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckpointSession {
    /// The id of the session, as its agent names it.
    pub session: Option<String>,
    pub agent: Option<String>,
    pub model: Option<String>,
    /// When the checkpoint was made, as RFC 3339 in UTC.
    pub created: Option<String>,
    /// The files that the session touched, from the top of the repository.
    pub files_touched: Vec<String>,
    /// The first line of what the person asked.
    pub prompt: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionMetadata {
    session_id: Option<String>,
    agent: Option<String>,
    model: Option<String>,
    created_at: Option<String>,
    files_touched: Vec<String>,
}

/// Returns the checkpoint with this id, as a trailer names it. `None` if the clone does not have it.
pub fn checkpoint(git: &Git, id: &str) -> Option<Checkpoint> {
    let is_id = (8..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_id {
        return None;
    }
    readable(found_checkpoint(git, id))?
}

fn found_checkpoint(git: &Git, id: &str) -> Result<Option<Checkpoint>, GitError> {
    let mut reader = git.object_reader()?;
    let Some(folder) = folder_of_checkpoint(git, &mut reader, id)? else { return Ok(None) };
    let folders = reader.folders_in(folder)?.into_iter();
    let numbers = folders.filter_map(|name| name.to_string().parse::<u32>().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    let mut sessions = Vec::new();
    for number in numbers.into_iter().take(MAX_SESSIONS) {
        let name = number.to_string();
        if let Some(folder) = reader.folder(folder, name.as_str().into())? {
            sessions.extend(session_in(&mut reader, folder)?);
        }
    }
    Ok((!sessions.is_empty()).then(|| Checkpoint { id: id.to_owned(), sessions }))
}

/// Returns the tree with the files of a checkpoint. It has a reference of its own, or is in the tree
/// of a branch.
fn folder_of_checkpoint(
    git: &Git,
    reader: &mut ObjectReader<'_>,
    id: &str,
) -> Result<Option<ObjectId>, GitError> {
    for shard in [&id[..2], &id[id.len() - 2..]] {
        let reference = format!("refs/entire/checkpoints/{shard}/{id}");
        if let Some(tree) = tree_of_reference(git, reader, &reference)? {
            return Ok(Some(tree));
        }
    }
    let (first, rest) = id.split_at(2);
    let place = format!("{first}/{rest}");
    let of_remotes = git.remote_names().into_iter().map(|name| format!("refs/remotes/{name}"));
    for branches in ["refs/heads".to_owned()].into_iter().chain(of_remotes) {
        let branch = format!("{branches}/entire/checkpoints/v1");
        let Some(tree) = tree_of_reference(git, reader, &branch)? else { continue };
        if let Some(folder) = reader.folder(tree, place.as_str().into())? {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

fn session_in(
    reader: &mut ObjectReader<'_>,
    folder: ObjectId,
) -> Result<Option<CheckpointSession>, GitError> {
    let mut file = |name: &str| {
        let blob = reader.locate(folder, name.into(), None)?.blob;
        blob.map(|blob| reader.blob_up_to(blob, MAX_FILE)).transpose()
    };
    let Some(metadata) = file("metadata.json")? else { return Ok(None) };
    // A prompt that cannot be read does not hide the session.
    let prompt = readable(file("prompt.txt")).flatten();
    Ok(session_from(&metadata, prompt.as_deref()))
}

fn session_from(metadata: &[u8], prompt: Option<&[u8]>) -> Option<CheckpointSession> {
    let said: SessionMetadata = serde_json::from_slice(metadata).ok()?;
    let created = said.created_at.and_then(|time| time.parse::<jiff::Timestamp>().ok());
    let prompt = prompt.map(String::from_utf8_lossy);
    let mut lines = prompt.iter().flat_map(|prompt| prompt.lines());
    Some(CheckpointSession {
        session: said.session_id.as_deref().and_then(shown_word),
        agent: said.agent.as_deref().and_then(shown_word),
        model: said.model.as_deref().and_then(shown_word),
        created: created.map(|time| time.to_string()),
        files_touched: said.files_touched.into_iter().take(MAX_TOUCHED).collect(),
        prompt: lines.find_map(shown_line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_shown_without_addresses() {
        let metadata = br#"{"session_id":"s1","agent":"Claude Code","created_at":"2026-07-13T23:25:17.89354Z","files_touched":["a.rs"],"token_usage":{},"model":"unknown"}"#;
        let prompt = b"\n  Send it to ada@example.com now\nand then\n";
        let session = session_from(metadata, Some(prompt)).unwrap();
        let expected = CheckpointSession {
            session: Some("s1".into()),
            agent: Some("Claude Code".into()),
            model: None,
            created: Some("2026-07-13T23:25:17.89354Z".into()),
            files_touched: vec!["a.rs".into()],
            prompt: Some("Send it to … now".into()),
        };
        assert_eq!(session, expected);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(
            metadata in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..99), prompt: Vec<u8>
        ) {
            session_from(&metadata, Some(&prompt));
            session_from(b"{}", Some(&prompt));
        }
    }
}
