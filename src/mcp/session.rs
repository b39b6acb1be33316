//! The client at the other end of a connection, and the folder in which its relative paths start.

use std::path::PathBuf;
use std::sync::Mutex;

use ground::Environment;
use ground::parallel::locked_value;
use ground::path::named_path;
use ground::session::actor_parts;

/// What decides where relative paths start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    FolderOrRoot,
    Folder,
}

pub(super) struct Connection {
    environment: Environment,
    folder: PathBuf,
    start: Start,
    root: Mutex<ClientRoot>,
    who: Mutex<Who>,
}

/// The parts of an actor, which is written `host:session/subagent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) host: String,
    pub(super) session: String,
    pub(super) subagent: Option<String>,
}

impl Who {
    fn from_actor(actor: &str) -> Self {
        let (session, subagent) = actor_parts(actor);
        let (host, session) = session.split_once(':').unwrap_or((NAMELESS, session));
        let subagent = subagent.map(str::to_owned);
        Self { host: host.to_owned(), session: session.to_owned(), subagent }
    }
}

const NAMELESS: &str = "mcp";
/// Longer names of clients are cut to this many characters.
const MAX_NAME: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
enum ClientRoot {
    NotAsked,
    Named(PathBuf),
    None,
}

impl Connection {
    pub(super) fn new(environment: Environment, folder: PathBuf, start: Start) -> Self {
        Self {
            environment,
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

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(super) fn actor_parts(&self) -> Who {
        locked_value(&self.who).clone()
    }

    /// Takes the name that the client gives. Only the first name counts, so that the session stays
    /// the same.
    pub(super) fn introduce(&self, client: &str) {
        let plain = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '-' };
        let name: String = client.trim().chars().map(plain).take(MAX_NAME).collect();
        let mut who = locked_value(&self.who);
        if who.host == NAMELESS && !name.is_empty() {
            who.host = name;
        }
    }

    /// Takes over the agent's own session, which its hook has announced. From then on, the agent's
    /// tools and these tools share one session.
    pub(super) fn adopt(&self, actor: &str) {
        *locked_value(&self.who) = Who::from_actor(actor);
    }

    pub(super) fn folder(&self) -> PathBuf {
        match &*locked_value(&self.root) {
            ClientRoot::Named(root) => root.clone(),
            ClientRoot::NotAsked | ClientRoot::None => self.folder.clone(),
        }
    }

    pub(super) fn wants_roots(&self) -> bool {
        self.start == Start::FolderOrRoot && *locked_value(&self.root) == ClientRoot::NotAsked
    }

    /// Forgets the client's roots, because they have changed.
    pub(super) fn forget_roots(&self) {
        *locked_value(&self.root) = ClientRoot::NotAsked;
    }

    /// Takes the first root that is a folder on this machine. A client lists the workspace that it
    /// has open first.
    pub(super) fn take_roots(&self, uris: impl IntoIterator<Item = impl AsRef<str>>) {
        let named = uris.into_iter().find_map(|uri| folder_of(uri.as_ref()));
        *locked_value(&self.root) = named.map_or(ClientRoot::None, ClientRoot::Named);
    }
}

/// Returns the folder that the URI of a root names, if it exists on this machine.
fn folder_of(uri: &str) -> Option<PathBuf> {
    let (host, path) = named_path(uri)?;
    (["", "localhost"].contains(&host) && path.is_absolute() && path.is_dir()).then_some(path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_first_root_that_is_a_folder_here_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a b%ü");
        std::fs::create_dir(&folder).unwrap();
        let session =
            Connection::new(Environment::of_process(), PathBuf::from("/"), Start::FolderOrRoot);
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
    fn an_actor_can_be_split_and_joined_again() {
        for actor in ["claude-code:abc", "claude-code:a:b/sub", "codex:1/2/3"] {
            let who = Who::from_actor(actor);
            let subagent = who.subagent.map(|sub| format!("/{sub}")).unwrap_or_default();
            assert_eq!(format!("{}:{}{subagent}", who.host, who.session), actor);
        }
    }

    #[test]
    fn the_first_client_name_is_kept_and_escaped() {
        let session = Connection::new(Environment::of_process(), PathBuf::from("/"), Start::Folder);
        let before = session.actor_parts();
        session.introduce("  ");
        assert_eq!(session.actor_parts(), before);
        session.introduce("claude-code:1/x\u{202e}");
        session.introduce("other");
        assert_eq!(session.actor_parts().host, "claude-code-1-x-");
        assert_eq!(session.actor_parts().session, before.session);
    }

    #[test]
    fn a_folder_that_a_person_named_stays() {
        assert!(
            !Connection::new(Environment::of_process(), PathBuf::from("/"), Start::Folder)
                .wants_roots()
        );
    }
}
