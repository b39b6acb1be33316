//! Handles one call: reads the payload, has it judged, answers, and ends. Whatever fails on the
//! way, the host receives an answer in time and in its own format.
//!
//! Governance fails closed: a call that changes something, or that cannot be read, is denied if
//! there is no answer. Observation fails safe: after a tool nothing is denied, and an error is not
//! reported to the host.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::answer::{HookAnswer, HookOutput, safe_text};
use super::binary;
use super::dialects::{self, At};
use super::heartbeat;
use super::host;
use super::incoming::{Incoming, Moment};
use super::json::{self, JsonReading};
use super::{detect, rewrite, settings_change};
use evidence::event::Event;
use ground::{Environment, Root, session};
use judgement::after::{self, Feedback, Tell};
use judgement::gate::{self, Decision, DenialCode, Judged};

/// The largest payload, in bytes, that is judged.
const MAX_PAYLOAD: u64 = 16 * 1024 * 1024;
/// How long a call that can be denied may wait for its answer. Hosts wait for ten seconds and more.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How long any other call may take. No tool waits for it, and it is better to wait than to lose a
/// record.
const PATIENCE_AFTER: Duration = Duration::from_secs(8);
/// The stack of the working thread, in bytes. Payloads and the commands in them are nested, and the
/// thread must not run out of stack.
const STACK: usize = 16 * 1024 * 1024;

/// The verbs that the hook calls. Tests replace them.
#[derive(Clone, Copy)]
pub struct Verbs {
    pub before: fn(&Event) -> Judged,
    /// The function gets what the agent should know, as soon as something is known.
    pub after: fn(&Event, Tell<'_>) -> Feedback,
    pub prompt: fn(&Event),
    pub idle: fn(&Event),
    pub rest: fn(&Event),
    pub clear: fn(&Event),
    pub end: fn(&Event),
    pub session_start: fn(&Event) -> Option<String>,
}

const VERBS: Verbs = Verbs {
    before: gate::judge_before_call,
    after: after::tell_and_record,
    prompt: gate::prompt,
    idle: after::idle,
    rest: after::refresh_map,
    clear: gate::clear,
    end: gate::end,
    session_start: gate::session_start,
};

/// Answers one call of the host `name` (or of any host, with `auto`), and returns the exit code.
pub fn run(name: &str, environment: &Environment) -> ExitCode {
    if name != "auto" && host::host_named(name).is_none() {
        let names = detect::names();
        drain(std::io::stdin());
        // Most hosts understand exit code 2 with a reason as a denial. A hook with a wrong name in
        // the settings must not let calls run.
        return write(&HookOutput::refused(&format!(
            "there is no host {name:?}; `intent agent hook` knows {names}"
        )));
    }
    // Suppress the message of a panic: some hosts treat any text on standard error as a reason.
    std::panic::set_hook(Box::new(|_| {}));
    let (call, answer, output) = answered(name, std::io::stdin(), VERBS, environment);
    let exit = write(&output);
    heartbeat::leave(&call, &answer);
    exit
}

/// Answers the payload in `input`: what is known of the call, the answer, and the answer as its
/// host reads it.
pub fn answered(
    name: &str,
    input: impl Read + Send + 'static,
    verbs: Verbs,
    environment: &Environment,
) -> (Incoming, HookAnswer, HookOutput) {
    let (call, answer) = converse(name, input, verbs, environment);
    let output = dialects::answer(call.family, call.point_in_time(), &answer);
    (call, answer, output)
}

/// Reads the input to its end, for as long as an answer may take. A host that cannot write its
/// whole payload may fail.
fn drain(mut input: impl Read + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut input, &mut std::io::sink());
        let _ = sender.send(());
    });
    let _ = receiver.recv_timeout(PATIENCE);
}

impl Incoming {
    /// Returns what is assumed about a payload that cannot be read: that a tool is about to change
    /// something. `name` is the word after `intent agent hook`.
    fn for_unread_payload(name: &str) -> Self {
        let host = host::host_named(name).unwrap_or(host::UNKNOWN);
        Self {
            host,
            family: host.family,
            moment: At::UNREAD.moment,
            name: At::UNREAD.name.to_owned(),
            only_reads: false,
            clears: false,
            event: None,
            rewritable: None,
        }
    }

    fn point_in_time(&self) -> At<'_> {
        At { moment: self.moment, name: &self.name }
    }

    /// Returns true if the host waits for the answer before something changes.
    pub fn can_be_denied(&self) -> bool {
        match self.moment {
            Moment::Before => {
                !self.only_reads && !self.event.as_ref().is_some_and(Event::only_reads)
            }
            Moment::Settings => true,
            _ => false,
        }
    }

    fn patience(&self) -> Duration {
        if self.can_be_denied() { PATIENCE } else { PATIENCE_AFTER }
    }

    /// Returns the answer for a call that could not be judged: a denial with this reason if the
    /// call can be denied, else nothing.
    fn answer_without_judgement(&self, code: DenialCode, why: &str) -> HookAnswer {
        if !self.can_be_denied() {
            return HookAnswer::Nothing;
        }
        HookAnswer::Deny(reason(code, why))
    }
}

enum Progress {
    Read(Box<Incoming>),
    /// The answer as far as it is known. It counts if the rest takes too long.
    Begun(HookAnswer),
    Answered(HookAnswer),
}

/// Reads the payload and finds the answer in another thread, so that there is an answer even if
/// that thread panics or takes too long.
fn converse(
    name: &str,
    input: impl Read + Send + 'static,
    verbs: Verbs,
    environment: &Environment,
) -> (Incoming, HookAnswer) {
    let started = Instant::now();
    let mut heard = Incoming::for_unread_payload(name);
    let (sender, receiver) = mpsc::channel();
    let (host_name, environment) = (name.to_owned(), environment.clone());
    let worker = std::thread::Builder::new().stack_size(STACK);
    if worker.spawn(move || work(&host_name, input, verbs, &environment, &sender)).is_err() {
        let said = heard.answer_without_judgement(
            DenialCode::HookError,
            "The gate could not start. Try again.",
        );
        return (heard, said);
    }
    let mut begun = HookAnswer::Nothing;
    loop {
        let left = heard.patience().saturating_sub(started.elapsed());
        match receiver.recv_timeout(left) {
            Ok(Progress::Read(now)) => heard = *now,
            Ok(Progress::Begun(said)) => begun = said,
            Ok(Progress::Answered(said)) => return (heard, said),
            Err(reason) => {
                let why = match reason {
                    RecvTimeoutError::Timeout => {
                        "The gate did not come to an answer in time, so nothing goes ahead. Try again; if it stays so, a person runs `intent doctor`."
                    }
                    RecvTimeoutError::Disconnected => {
                        "The gate failed, so nothing goes ahead. This is an error of `intent` itself; a person runs `intent doctor` and reports it."
                    }
                };
                let said = match begun {
                    HookAnswer::Nothing => {
                        heard.answer_without_judgement(DenialCode::HookError, why)
                    }
                    begun => begun,
                };
                return (heard, said);
            }
        }
    }
}

/// Does the whole work. Errors of `send` are ignored: the waiting thread may have given up, and
/// then the result is not needed.
fn work(
    name: &str,
    input: impl Read,
    verbs: Verbs,
    environment: &Environment,
    sender: &Sender<Progress>,
) {
    let (mut heard, objection) = listen(name, input, environment);
    if let Some(event) = heard.event.as_ref().filter(|_| heard.clears) {
        (verbs.clear)(event);
    }
    let _ = sender.send(Progress::Read(Box::new(heard.clone())));
    if let Some(event) = &mut heard.event {
        event.from_host = is_from_host(event);
    }
    let said = match (objection, &heard.event) {
        (Some(why), _) => heard.answer_without_judgement(DenialCode::UnreadablePayload, &why),
        (None, Some(event)) => decide(&heard, event, verbs, sender),
        (None, None) => HookAnswer::Nothing,
    };
    let _ = sender.send(Progress::Answered(said));
}

/// Returns true if a host seems to have made the call. A call that somebody made up is judged like
/// any other, but its records say that it was made up.
fn is_from_host(event: &Event) -> bool {
    let root = Root::find(&event.cwd, &event.environment).ok().filter(Root::governed);
    root.is_none_or(|root| session::hosts::is_hook_of_host(&root))
}

/// Reads the payload. Returns what is known of the call and, if it cannot be judged, the reason.
fn listen(name: &str, input: impl Read, environment: &Environment) -> (Incoming, Option<String>) {
    let (bytes, complete) = match swallow(input) {
        Ok(found) => found,
        Err(error) => {
            let why = format!("The host's message could not be read: {error}. {AGAIN}");
            return (Incoming::for_unread_payload(name), Some(why));
        }
    };
    let reading = json::read(&bytes);
    let twice = matches!(reading, JsonReading::Twice(..));
    let (payload, cut) = match reading {
        JsonReading::Whole(payload) if complete => (payload, None),
        JsonReading::Whole(payload) => (payload, Some(too_large())),
        JsonReading::Partial(members) if complete => {
            let why = format!("The host's message breaks off, or is no valid JSON. {AGAIN}");
            (Value::Object(members), Some(why))
        }
        JsonReading::Partial(members) => (Value::Object(members), Some(too_large())),
        JsonReading::Twice(members, name) => {
            let why = format!(
                "The host's message names the field `{name}` twice, so nobody can say which one counts. {AGAIN}"
            );
            (Value::Object(members), Some(why))
        }
        JsonReading::Nothing => {
            let what = if bytes.is_empty() { "is empty" } else { "is no JSON object" };
            let why =
                format!("The host's message {what}, so nobody can say what it would do. {AGAIN}");
            return (Incoming::for_unread_payload(name), Some(why));
        }
    };
    let in_devin = environment.variable("DEVIN_PROJECT_DIR").is_some();
    let host = detect::host(name, &payload, in_devin);
    let mut heard = dialects::read(host, &payload, environment);
    if cut.is_some() && heard.moment == Moment::Other {
        // The payload is incomplete, and the missing part may be the one that names the event. So
        // assume the worst.
        heard = Incoming { host, family: host.family, ..Incoming::for_unread_payload(name) };
    }
    // A message that names a field twice might mean another tool than the one that was read here.
    heard.only_reads &= !twice;
    // After a tool, or for a tool that only reads, an incomplete payload is good enough.
    let cut = cut.filter(|_| heard.moment == Moment::Before && !heard.only_reads);
    if cut.is_some() {
        heard.event = None;
    }
    (heard, cut)
}

const AGAIN: &str = "Try again; if it stays so, a person runs `intent doctor`.";

fn too_large() -> String {
    let most = MAX_PAYLOAD / (1024 * 1024);
    format!(
        "The host's message is larger than {most} MiB, so it is not judged. Make the change in smaller parts."
    )
}

/// Reads the part of the input that is judged, and returns whether that is all of it. The rest is
/// read and dropped, because a host that cannot write its whole payload may treat that as a failure
/// of its hook.
fn swallow(mut input: impl Read) -> std::io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    input.by_ref().take(MAX_PAYLOAD).read_to_end(&mut bytes)?;
    let dropped = std::io::copy(&mut input, &mut std::io::sink())?;
    Ok((bytes, dropped == 0))
}

fn decide(heard: &Incoming, event: &Event, verbs: Verbs, sender: &Sender<Progress>) -> HookAnswer {
    match heard.moment {
        Moment::Before if !heard.can_be_denied() => HookAnswer::Nothing,
        Moment::Before => {
            answer_of_judgement(event, (verbs.before)(event), heard.rewritable.as_ref())
        }
        Moment::After => {
            let tell = |known: &Feedback| {
                let _ = sender.send(Progress::Begun(after_answer(known.clone())));
            };
            after_answer((verbs.after)(event, &tell))
        }
        Moment::Prompt => {
            (verbs.idle)(event);
            (verbs.prompt)(event);
            HookAnswer::Nothing
        }
        Moment::Idle | Moment::SessionEnd => {
            (verbs.idle)(event);
            if heard.moment == Moment::SessionEnd {
                (verbs.end)(event);
            }
            (verbs.rest)(event);
            HookAnswer::Nothing
        }
        Moment::SessionStart => (verbs.session_start)(event).map_or(HookAnswer::Nothing, |text| {
            let root = Root::find(&event.cwd, &event.environment).ok();
            let objection = root.and_then(|root| binary::objection(&root));
            let more = objection.map(|objection| format!("\n{objection}")).unwrap_or_default();
            HookAnswer::Context(safe_text(&format!("{text}{more}")))
        }),
        Moment::Settings => match settings_change::objection(&event.cwd, &event.environment) {
            Some(why) => HookAnswer::Deny(reason(DenialCode::ProtectedPath, &why)),
            None => HookAnswer::Nothing,
        },
        Moment::Other => HookAnswer::Nothing,
    }
}

fn answer_of_judgement(event: &Event, judged: Judged, rewritable: Option<&Value>) -> HookAnswer {
    let asked = match judged.decision {
        Decision::Deny(denial) => return HookAnswer::Deny(reason(denial.code, &denial.message)),
        Decision::Ask(denial) => Some(reason(denial.code, &denial.message)),
        Decision::NoOpinion => None,
    };
    match (judged.fence, asked, judged.notice) {
        (Some(intent), asked, _) => behind_fence(event, &intent, rewritable, asked),
        (None, Some(asked), _) => HookAnswer::Ask(asked),
        (None, None, Some(text)) => HookAnswer::Context(safe_text(&text)),
        (None, None, None) => HookAnswer::Nothing,
    }
}

/// Returns the call with its command behind the fence, or a denial if that is not possible. `asked`
/// is the reason why a person is asked about the command, if one is.
fn behind_fence(
    event: &Event,
    intent: &str,
    rewritable: Option<&Value>,
    asked: Option<String>,
) -> HookAnswer {
    match rewritable.and_then(|input| rewrite::fenced(input, intent, &event.environment)) {
        Some(input) => {
            let fenced = safe_text(&format!(
                "The policy lets this command run behind the fence only: it can write what {intent} owns."
            ));
            let reason = match asked {
                Some(asked) => format!("{asked} {fenced}"),
                None => fenced,
            };
            HookAnswer::Rewrite { input, reason }
        }
        None => {
            let why = format!("The command could not be put behind the fence. {AGAIN}");
            HookAnswer::Deny(reason(DenialCode::FenceRequired, &why))
        }
    }
}

fn reason(code: DenialCode, why: &str) -> String {
    safe_text(&format!("[{code}] {why}"))
}

fn after_answer(feedback: Feedback) -> HookAnswer {
    match (feedback.violation, feedback.context) {
        (Some(violation), None) => HookAnswer::Violation(safe_text(&violation)),
        (Some(violation), Some(context)) => {
            HookAnswer::Violation(safe_text(&format!("{violation}\n{context}")))
        }
        (None, Some(context)) => HookAnswer::Context(safe_text(&context)),
        (None, None) => HookAnswer::Nothing,
    }
}

/// Writes the answer. If standard output cannot be written, the answer goes to standard error, and
/// the exit code denies.
fn write(output: &HookOutput) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(output.stdout.as_bytes()).and_then(|()| stdout.flush());
    let mut stderr = std::io::stderr().lock();
    // If standard error is closed, too, only the exit code is left.
    let _ = stderr.write_all(output.stderr.as_bytes());
    if written.is_err() {
        let _ = stderr.write_all(output.stdout.as_bytes());
        return ExitCode::from(2);
    }
    ExitCode::from(output.exit)
}

#[cfg(test)]
mod tests;
