//! Records a change of files, with what the gate says about each file.

use super::gate::{Decision, GateRequest, judge};
use evidence::record::{self, RecordAnswer, RecordRequest};
use ground::RelativePath;
use ledger::RecordedDecision;
use why::{VerbError, Workspace};

pub fn record(ws: &Workspace, request: &RecordRequest) -> Result<RecordAnswer, VerbError> {
    record::record(ws, request, decide)
}

fn decide(
    ws: &Workspace,
    request: &RecordRequest,
    intent: &str,
    path: &RelativePath,
) -> RecordedDecision {
    let gate = GateRequest {
        paths: vec![path.to_string()],
        session: request.session.clone(),
        intent: Some(intent.to_owned()),
    };
    let (outcome, denial) = match judge(ws, &gate) {
        Decision::NoOpinion => (RecordedDecision::NO_OPINION, None),
        Decision::Ask(denial) => (RecordedDecision::ASK, Some(denial)),
        Decision::Deny(denial) => (RecordedDecision::DENY, Some(denial)),
    };
    RecordedDecision::new(outcome, denial.map(|denial| denial.code.to_string()), None)
}
