//! Who is at the other end, and where their paths start.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Where relative paths start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// In the folder of the process, or in the root that the client names.
    FolderOrRoot,
    /// In the folder that a person named when they configured the server.
    Folder,
}

/// One client's connection.
pub(super) struct Connection {
    folder: PathBuf,
    start: Start,
    root: Mutex<ClientRoot>,
    who: Mutex<Who>,
}

/// The one that acts: `host:session/subagent`, in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Who {
    /// The agent's name.
    pub(super) host: String,
    /// Its session: one of the host's, or this connection.
    pub(super) session: String,
    /// The subagent within the session.
    pub(super) subagent: Option<String>,
}

impl Who {
    /// The parts of an actor as the gate announces it.
    fn of(actor: &str) -> Self {
        let (host, rest) = actor.split_once(':').unwrap_or((NAMELESS, actor));
        let (session, subagent) = match rest.rsplit_once('/') {
            Some((session, subagent)) => (session, Some(subagent.to_owned())),
            None => (rest, None),
        };
        Self { host: host.to_owned(), session: session.to_owned(), subagent }
    }
}

/// A client that does not say who it is.
const NAMELESS: &str = "mcp";
/// The longest name of a client that is kept, in characters.
const MAX_NAME: usize = 64;

/// What the client says of its workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ClientRoot {
    NotAsked,
    Named(PathBuf),
    None,
}

impl Connection {
    /// A session that nobody has met before.
    pub(super) fn new(folder: PathBuf, start: Start) -> Self {
        Self {
            folder,
            start,
            root: Mutex::new(ClientRoot::NotAsked),
            who: Mutex::new(Who {
                host: NAMELESS.to_owned(),
                session: format!("mcp-{}", uuid::Uuid::now_v7()),
                subagent: None,
            }),
        }
    }

    /// The one that acts, as selections, records and baselines know it.
    pub(super) fn who(&self) -> Who {
        lock(&self.who).clone()
    }

    /// The client has said its name; the first one stays, so that the session stays the same.
    pub(super) fn introduce(&self, client: &str) {
        let plain = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '-' };
        let name: String = client.trim().chars().map(plain).take(MAX_NAME).collect();
        let mut who = lock(&self.who);
        if who.host == NAMELESS && !name.is_empty() {
            who.host = name;
        }
    }

    /// The agent's own session, once its hook has told us which it is: from now on its tools and ours are one.
    pub(super) fn adopt(&self, actor: &str) {
        *lock(&self.who) = Who::of(actor);
    }

    /// Where relative paths start.
    pub(super) fn folder(&self) -> PathBuf {
        match &*lock(&self.root) {
            ClientRoot::Named(root) => root.clone(),
            ClientRoot::NotAsked | ClientRoot::None => self.folder.clone(),
        }
    }

    /// Whether the client is still to be asked for its roots.
    pub(super) fn wants_roots(&self) -> bool {
        self.start == Start::FolderOrRoot && *lock(&self.root) == ClientRoot::NotAsked
    }

    /// The client's roots have changed.
    pub(super) fn forget_roots(&self) {
        *lock(&self.root) = ClientRoot::NotAsked;
    }

    /// Takes the first root that is a folder here: a client names the workspace that it has open first.
    pub(super) fn take_roots<'a>(&self, uris: impl IntoIterator<Item = &'a str>) {
        let named = uris.into_iter().find_map(folder_of);
        *lock(&self.root) = named.map_or(ClientRoot::None, ClientRoot::Named);
    }
}

/// A panic elsewhere leaves a text or a path behind, never half of one.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folder that a `file:` URI names, if it is there.
fn folder_of(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    // An empty host, or this one; a path on another machine is none of ours.
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = decoded(path)?;
    let path = if cfg!(windows) { path.trim_start_matches('/') } else { &path };
    let path = Path::new(path);
    (path.is_absolute() && path.is_dir()).then(|| path.to_owned())
}

/// The text with `%20` and the like replaced; `None` where that is no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_root_that_is_a_folder_here_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a b%ü");
        std::fs::create_dir(&folder).unwrap();
        let session = Connection::new(PathBuf::from("/"), Start::FolderOrRoot);
        assert!(session.wants_roots());
        let uri = format!("file://{}/a%20b%25%C3%BC", dir.path().display());
        session.take_roots(["https://example.com", "file:///no/such", "file://%ff%", &uri]);
        assert_eq!(session.folder(), folder);
        assert!(!session.wants_roots());
        session.forget_roots();
        session.take_roots(["file:///no/such"]);
        assert_eq!(session.folder(), Path::new("/"));
        assert!(!session.wants_roots(), "asked once is enough");
    }

    #[test]
    fn an_actor_is_the_same_in_parts() {
        for actor in ["claude-code:abc", "claude-code:a:b/sub", "codex:1/2/3"] {
            let who = Who::of(actor);
            let subagent = who.subagent.map(|sub| format!("/{sub}")).unwrap_or_default();
            assert_eq!(format!("{}:{}{subagent}", who.host, who.session), actor);
        }
    }

    #[test]
    fn the_first_name_stays_and_cannot_look_like_another_part() {
        let session = Connection::new(PathBuf::from("/"), Start::Folder);
        let before = session.who();
        session.introduce("  ");
        assert_eq!(session.who(), before);
        session.introduce("claude-code:1/x\u{202e}");
        session.introduce("other");
        assert_eq!(session.who().host, "claude-code-1-x-");
        assert_eq!(session.who().session, before.session);
    }

    #[test]
    fn a_folder_that_a_person_named_stays() {
        assert!(!Connection::new(PathBuf::from("/"), Start::Folder).wants_roots());
    }
}
