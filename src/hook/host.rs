//! The hosts that can call the hook, as data: the format of each, what it can do, and how we know
//! that. `docs/hosts.md` also says from which source, and when it was read.

/// A program that runs an agent and calls `intent agent hook`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// The name of the host, as in `intent agent hook NAME`.
    pub name: &'static str,
    pub family: Family,
    /// True if the host can ask a person. The mode of a call may still turn that off.
    pub asks: bool,
    pub evidence_level: EvidenceLevel,
    /// What this host cannot enforce, in words for people, separated by `; `. Empty if nothing is
    /// known.
    pub cannot: &'static str,
}

/// The format of a host's payloads and answers. Hosts that differ only in the names of their tools
/// share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Claude Code's JSON. A denial also has exit code 2, with the reason on standard error.
    Claude,
    /// Claude Code's JSON only, always with exit code 0.
    Codex,
    /// JSON that always has `permission`.
    Cursor,
    /// Copilot's own JSON, in camel case.
    Copilot,
    /// JSON that has `decision` only for a denial.
    Gemini,
    /// JSON that always has `decision`.
    Antigravity,
    /// JSON that always has `cancel`.
    Cline,
    /// Windsurf's own payload. A denial is exit code 2 with a reason on standard error.
    Windsurf,
    /// Claude Code's payload. A denial is exit code 2 with a reason on standard error. Also for
    /// unknown hosts.
    Plain,
}

/// How we know that a host does what its adapter expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceLevel {
    /// Our tests drive the real program.
    Proven,
    ByProtocol,
}

impl EvidenceLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::ByProtocol => "by protocol only",
        }
    }

    /// Says what [`Self::as_str`] means, to a reader who does not know the word.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Proven => "proven: our tests drive the real program",
            Self::ByProtocol => {
                "by protocol only: written from its documentation, not tested with the program"
            }
        }
    }
}

/// Every host, in the order in which the documents list them.
pub const HOSTS: &[Host] = &[
    Host {
        name: "claude-code",
        family: Family::Claude,
        asks: true,
        cannot: "files attached with @ are read without a hook; before 2.1.295, or without \"onFailure\": \"block\", a hook that cannot start lets the call run; in bypassPermissions and dontAsk a question becomes a denial with a code",
        ..UNKNOWN
    },
    Host {
        name: "codex",
        family: Family::Codex,
        evidence_level: EvidenceLevel::Proven,
        cannot: "a hook that is not trusted is skipped silently; one that cannot start, crashes or times out lets the call run; text typed into a shell that runs already (write_stdin) is not shown to hooks",
        ..UNKNOWN
    },
    Host {
        name: "cursor",
        family: Family::Cursor,
        cannot: "it knows no answer without an opinion, so nothing to say is sent as \"allow\"; a question is not put to anybody, so it is a denial with a code; without \"failClosed\": true a hook that cannot start lets the call run; tab completions are not gated; a partial edit is held to its path only",
        ..UNKNOWN
    },
    Host {
        name: "copilot",
        family: Family::Copilot,
        asks: true,
        cannot: "a hook that times out lets the call run; in the cloud a question is a denial",
        ..UNKNOWN
    },
    Host {
        name: "vscode",
        family: Family::Claude,
        asks: true,
        cannot: "a hook that cannot start or times out lets the call run; insert_edit_into_file does not say what it will write, so it is held to its path only",
        ..UNKNOWN
    },
    Host {
        name: "gemini",
        family: Family::Gemini,
        evidence_level: EvidenceLevel::Proven,
        cannot: "a question waits for ever if no person is there (-p), and nothing tells us so: it is a denial with a code; in a folder that is not trusted no hook runs; a hook that cannot start, is killed or times out lets the call run",
        ..UNKNOWN
    },
    Host {
        name: "antigravity",
        family: Family::Antigravity,
        asks: true,
        cannot: "what it does when a hook fails is not documented; a denial of invoke_subagent is ignored",
        ..UNKNOWN
    },
    Host {
        name: "windsurf",
        family: Family::Windsurf,
        cannot: "a question is not put to anybody, so it is a denial with a code; a hook that cannot start or times out lets the call run; the model is told nothing but denials",
        ..UNKNOWN
    },
    Host {
        name: "cline",
        family: Family::Cline,
        cannot: "a question is not put to anybody, so it is a denial with a code; a hook that cannot start or times out lets the call run",
        ..UNKNOWN
    },
    Host {
        name: "kiro",
        family: Family::Plain,
        cannot: "a question is not put to anybody, so it is a denial with a code; a hook that cannot start or times out lets the call run; several edits of one file in a batch are held to its path only",
        ..UNKNOWN
    },
    Host {
        name: "droid",
        family: Family::Claude,
        cannot: "a question is not known to be put to anybody, so it is a denial with a code; a hook that cannot start or times out lets the call run",
        ..UNKNOWN
    },
    Host {
        name: "devin",
        family: Family::Claude,
        cannot: "a question is not put to anybody, so it is a denial with a code; a hook that cannot start or times out lets the call run",
        ..UNKNOWN
    },
    Host {
        name: "opencode",
        family: Family::Claude,
        evidence_level: EvidenceLevel::Proven,
        cannot: "started with --pure, or with OPENCODE_PURE set, it loads no plugin; a question is a denial with a code",
        ..UNKNOWN
    },
    Host {
        name: "amp",
        family: Family::Claude,
        cannot: "with PLUGINS=off it loads no plugin; a question is a denial with a code",
        ..UNKNOWN
    },
    Host {
        name: "pi",
        family: Family::Claude,
        cannot: "an extension that does not load gates nothing; a question is a denial with a code",
        ..UNKNOWN
    },
    Host {
        name: "roo",
        cannot: "Roo Code calls no hook, so its own tools write without asking: only our MCP server is wired, and `intent check` finds such writes; a version of it that calls `intent agent hook roo` with Claude Code's payload is gated; a question is a denial with a code",
        ..UNKNOWN
    },
];

/// A host that was not recognised. Most hosts understand exit code 2 with a reason on standard
/// error as a denial. The rows of [`HOSTS`] take over from it what they do not say themselves.
pub(crate) const UNKNOWN: Host = Host {
    name: "unknown",
    family: Family::Plain,
    asks: false,
    evidence_level: EvidenceLevel::ByProtocol,
    cannot: "nothing is known of this host",
};

pub fn host_named(name: &str) -> Option<Host> {
    HOSTS.iter().find(|host| host.name == name).copied()
}
