//! What the tests, examples, benchmarks and fuzz targets use of the rooms.
//!
//! The rooms themselves are private to the crate, so the compiler reports what nothing uses. This list is no promise to
//! other projects: an item is here because code outside `src/` names it, and leaves when that code does.
#![allow(missing_docs)]

pub mod cli {
    pub use crate::cli::{command, schemas};
}
pub mod code {
    pub use crate::code::{
        Block, BlockKind, ContentHash, Document, Encoding, FileBlocks, Fingerprint, Identity,
        LineHash, LineRange, Position, Program, Unread, content_hash,
    };
    pub mod difference {
        pub use crate::code::difference::{ChangedRange, changed_lines, lines};
    }
    pub mod document {
        pub use crate::code::document::MAX_BYTES;
    }
    pub mod fingerprint {
        pub use crate::code::fingerprint::{content_hash, kept};
    }
    pub mod language {
        pub use crate::code::language::{Language, all, of_file};
    }
    pub mod lines {
        pub use crate::code::lines::{LineHash, OwnLine, matched_lines, own_lines};
    }
    pub mod program {
        pub use crate::code::program::Tree;
    }
}
pub mod edits {
    pub use crate::edits::{After, Change, Replacement, apply, same_text};
    pub mod blocks {
        pub use crate::edits::blocks::read;
    }
    pub mod notebook {
        pub use crate::edits::notebook::{CellEdit, CellMode};
    }
    pub mod patch {
        pub use crate::edits::patch::{FilePatch, Hunk, heredoc, read};
    }
}
/// What reads bytes inside a face, without the face around it: for `fuzz/`.
pub mod fuzz {
    use std::io::{BufRead, Cursor};

    use crate::hook::answer::HookAnswer;
    use crate::hook::incoming::Moment;
    use crate::hook::run::{Verbs, answered};
    use crate::lsp::message::{self, Rejected};
    use crate::lsp::transport::Frames;
    use crate::verbs::after::Feedback;
    use crate::verbs::gate::{Decision, Denial, DenialCode, Judged};

    /// The bodies of the frames of a stream, as the language server reads them; `None` for what was skipped. Each body
    /// is read as a message, and what is none is answered.
    pub fn frames(input: impl BufRead) -> Vec<Option<Vec<u8>>> {
        let mut frames = Frames::new(input);
        let mut bodies = Vec::new();
        while let Ok(Some(frame)) = frames.next_frame() {
            if let Ok(body) = &frame {
                drop(message::parse(body).map_err(Rejected::reply));
            }
            bodies.push(frame.ok());
        }
        bodies
    }

    /// What a hook did with a payload.
    pub struct HookReply {
        /// Whether a tool waits for the answer and could change something.
        pub deniable: bool,
        pub denied: bool,
        pub stdout: String,
        pub stderr: String,
        pub exit: u8,
    }

    /// What a host hears of `intent hook NAME` for a payload, where every call that can be denied is denied.
    pub fn hook(name: &str, payload: &[u8]) -> HookReply {
        let verbs = Verbs {
            before: |_| Judged {
                decision: Decision::Deny(Denial::new(DenialCode::ScopeViolation, "no")),
                notice: None,
                fence: None,
            },
            after: |_| Feedback::default(),
            prompt: |_| (),
            idle: |_| (),
            rest: |_| (),
            clear: |_| (),
            session_start: |_| None,
        };
        let (heard, said, output) = answered(name, Cursor::new(payload.to_vec()), verbs);
        HookReply {
            deniable: heard.deniable() && heard.moment == Moment::Before,
            denied: matches!(said, HookAnswer::Deny(_)),
            stdout: output.stdout,
            stderr: output.stderr,
            exit: output.exit,
        }
    }
}
pub mod hook {
    pub mod host {
        pub use crate::hook::host::{Family, HOSTS, Host, named};
    }
}
pub mod intent {
    pub use crate::intent::{
        EditError, Intent, IntentEntry, Registry, RegistryEdit, Scope, ScopeVerdict, Spanned,
        Status,
    };
    pub mod edit {
        pub use crate::intent::edit::{next_id, plan};
    }
    pub mod lint {
        pub use crate::intent::lint::{against_files, registry};
    }
    pub mod model {
        pub use crate::intent::model::RegistryFile;
    }
}
pub mod ledger {
    pub use crate::ledger::{
        Approved, Basis, ClaimRef, Contributor, Digest, EntityType, Ledger, MutationClass, Record,
        RecordDialect, RecordKind, Strength, Writer,
    };
    pub mod anchor {
        pub use crate::ledger::anchor::path_of;
    }
    pub mod chain {
        pub use crate::ledger::chain::{hash, split_tail};
    }
    pub mod evidence {
        pub use crate::ledger::evidence::{ERASURE, path_of, read};
    }
    pub mod read {
        pub use crate::ledger::read::{ParsedLedgerFile, bytes};
    }
}
pub mod provenance {
    pub use crate::provenance::{Classification, Provenance};
    pub mod classify {
        pub use crate::provenance::classify::{BlockChange, Classification, change};
    }
}
pub mod shell {
    pub use crate::shell::{
        Class, CommandContext, Dialect, PathDeed, Prediction, TouchedPath, read,
    };
}
pub mod verbs {
    pub use crate::verbs::{VerbError, Workspace};
    pub mod accept {
        pub use crate::verbs::accept::{AcceptExtent, accept};
    }
    pub mod after {
        pub use crate::verbs::after::{Feedback, after, idle, kept};
    }
    pub mod approval {
        pub use crate::verbs::approval::{
            ApprovalVerdict, DecisionPlace, Question, decide, draft, draft_of_write, instructions,
            question, sign, status, switch_off, switch_on,
        };
    }
    pub mod check {
        pub use crate::verbs::check::{CheckAnswer, CheckRequest, ComparedSides, change, document};
    }
    pub mod compact {
        pub use crate::verbs::compact::{CompactAnswer, compact};
    }
    pub mod baseline {
        pub use crate::verbs::baseline::{Baseline, FormerFile};
    }
    pub mod erase {
        pub use crate::verbs::erase::{draft, write};
    }
    pub mod event {
        pub use crate::verbs::event::{Asking, Effect, Event};
    }
    pub mod gate {
        pub use crate::verbs::gate::{
            Decision, DenialCode, GateRequest, Judged, before, judge, key, prompt,
        };
    }
    pub mod rules {
        pub use crate::verbs::rules::Rules;
    }
    pub mod lesson {
        pub use crate::verbs::lesson::{Asker, LessonAnswer, LessonOutcome, LessonRequest, record};
    }
    pub mod lesson_error {
        pub use crate::verbs::lesson_error::LessonError;
    }
    pub mod map {
        pub use crate::verbs::map::{MappedFile, map, text};
    }
    pub mod proposal {
        pub use crate::verbs::proposal::{
            IntentProposal, ProposalAnswer, ScopeProposal, propose_intent, request_scope,
        };
    }
    pub mod protocol {
        pub use crate::verbs::protocol::PROTOCOL;
    }
    pub mod reassign {
        pub use crate::verbs::reassign::{ReassignAnswer, ReassignTarget, reassign};
    }
    pub mod record {
        pub use crate::verbs::record::{RecordAnswer, RecordExtent, RecordRequest};
    }
    pub mod judged_record {
        pub use crate::verbs::judged_record::record;
    }
    pub mod registry {
        pub use crate::verbs::registry::{set_status, widen};
    }
    pub mod report {
        pub use crate::verbs::report::ReportAnswer;
    }
    pub mod seal {
        pub use crate::verbs::seal::{SealScope, seal};
    }
    pub mod select {
        pub use crate::verbs::select::{clear, list, select};
    }
    pub mod status {
        pub use crate::verbs::status::status;
    }
    pub mod signing {
        pub use crate::verbs::signing::NoSignatureChecks;
    }
    pub mod trace {
        pub use crate::verbs::trace::{TraceRequest, trace};
    }
    pub mod verify {
        pub use crate::verbs::verify::{BlocksAnswer, accept_rewrite, verify, verify_blocks};
    }
    pub mod why {
        pub use crate::verbs::why::{
            BlockAnswer, BlockLines, LineState, LineageStep, RecordBrief, Which, WhyAnswer, file,
            on_disk, on_disk_in_full,
        };
    }
}
pub mod workspace {
    pub use crate::workspace::{
        Code, Finding, Git, Ignores, Level, Policy, RelativePath, Root, Selection,
    };
    pub mod approvals {
        pub use crate::workspace::approvals::{
            Approval, ApprovalState, AskedAct, Request, Subject, ask, pending, take,
        };
    }
    pub mod session {
        pub use crate::workspace::session::{
            Selection, off_until, select, select_for, selected, selected_by,
        };
        pub mod calls {
            pub use crate::workspace::session::calls::finish;
        }
        pub mod seen {
            pub use crate::workspace::session::seen::state;
        }
        pub mod ungated {
            pub use crate::workspace::session::ungated::{Ungated, keep, still_valid};
        }
    }
    pub mod store {
        pub use crate::workspace::store::sha256;
    }
}
