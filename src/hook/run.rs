//! One call: read, judge, answer, end. Whatever goes wrong on the way, the host is told in time and in its own words.
//!
//! Governance fails closed: a call that changes something, or that cannot be read, is denied when there is no answer.
//! Observation fails safe: after a tool nothing is ever denied, and nothing fails.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::answer::{HookAnswer, Output, sayable};
use super::binary;
use super::dialects::{self, At};
use super::heartbeat;
use super::host::{self, Family, Host};
use super::incoming::{Incoming, Moment};
use super::json::{self, JsonReading};
use super::{detect, rewrite, settings};
use crate::verbs::after::{self, Feedback};
use crate::verbs::event::Event;
use crate::verbs::gate::{self, Decision, Denial, DenialCode, Judged};
use crate::workspace::Root;

/// A payload larger than this, in bytes, is not judged.
const MAX_PAYLOAD: u64 = 16 * 1024 * 1024;
/// How long a call that can be denied may wait for its answer. Hosts wait for ten seconds and more.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How long anything else may take: nothing waits to run, and a record is worth some waiting.
const PATIENCE_AFTER: Duration = Duration::from_secs(8);
/// Payloads are nested, and so are the commands within; what waits for an answer must not run out of stack, in bytes.
const STACK: usize = 16 * 1024 * 1024;

/// What the hook asks of the verbs.
#[derive(Clone, Copy)]
pub(crate) struct Verbs {
    pub(crate) before: fn(&Event) -> Judged,
    pub(crate) after: fn(&Event) -> Feedback,
    pub(crate) prompt: fn(&Event),
    pub(crate) idle: fn(&Event),
    pub(crate) rest: fn(&Event),
    pub(crate) clear: fn(&Event),
    pub(crate) session_start: fn(&Event) -> Option<String>,
}

const VERBS: Verbs = Verbs {
    before: gate::before,
    after: after::after,
    prompt: gate::prompt,
    idle: after::idle,
    rest: after::rest,
    clear: gate::clear,
    session_start: gate::session_start,
};

/// Answers one call of the host `name` (or of any, with `auto`) and says how the process ends.
pub(crate) fn run(name: &str) -> ExitCode {
    if name != "auto" && host::named(name).is_none() {
        let names = detect::names();
        drain(std::io::stdin());
        // Exit code 2 with a reason is a denial to most hosts; a hook that is set up wrongly should not let calls run.
        return say(&Output::refused(&format!(
            "there is no host {name:?}; `intent hook` knows {names}"
        )));
    }
    // What a panic has to say goes nowhere: to some hosts any word on standard error is a reason.
    std::panic::set_hook(Box::new(|_| {}));
    let (heard, said) = converse(name, std::io::stdin(), VERBS);
    let exit = say(&dialects::answer(heard.family, heard.at(), &said));
    heartbeat::leave(&heard, &said);
    exit
}

/// Hears the host out, for as long as an answer may take: one that cannot write all it has may fail over that.
fn drain(mut input: impl Read + Send + 'static) {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut input, &mut std::io::sink());
        let _ = tell.send(());
    });
    let _ = told.recv_timeout(PATIENCE);
}

/// What is known of a call before there is an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heard {
    pub(crate) host: Host,
    pub(crate) family: Family,
    pub(crate) moment: Moment,
    pub(crate) name: String,
    /// No input at all can make it change anything.
    pub(crate) only_reads: bool,
    /// The host has emptied the session.
    pub(crate) clears: bool,
    /// The call, if it could be read.
    pub(crate) event: Option<Event>,
    /// The call's input, where its host lets us change the command in it.
    pub(crate) rewritable: Option<Value>,
}

impl Heard {
    /// Nothing but the name after `intent hook`: taken for something that is about to be changed.
    fn nothing(name: &str) -> Self {
        let host = detect::without_payload(name);
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

    fn of(incoming: &Incoming) -> Self {
        let Incoming { host, family, moment, name, event, only_reads, clears, rewritable } =
            incoming.clone();
        Self { host, family, moment, name, only_reads, clears, event: Some(event), rewritable }
    }

    fn at(&self) -> At<'_> {
        At { moment: self.moment, name: &self.name }
    }

    /// Whether the host waits for us before something changes.
    fn deniable(&self) -> bool {
        match self.moment {
            Moment::Before => {
                !self.only_reads && !self.event.as_ref().is_some_and(Event::only_reads)
            }
            Moment::Settings => true,
            _ => false,
        }
    }

    fn patience(&self) -> Duration {
        if self.deniable() { PATIENCE } else { PATIENCE_AFTER }
    }

    /// There is no answer, for this reason.
    fn failed(&self, code: DenialCode, why: &str) -> HookAnswer {
        if !self.deniable() {
            return HookAnswer::Nothing;
        }
        HookAnswer::Deny(sayable(&format!("[{}] {why}", code.as_str())))
    }
}

/// What the thread that works tells the one that waits.
enum Progress {
    /// The payload is read.
    Heard(Box<Heard>),
    /// This is the answer.
    Said(HookAnswer),
}

/// Reads the payload and finds the answer, in another thread: whatever happens there, there is one.
fn converse(name: &str, input: impl Read + Send + 'static, verbs: Verbs) -> (Heard, HookAnswer) {
    let started = Instant::now();
    let mut heard = Heard::nothing(name);
    let (tell, told) = mpsc::channel();
    let told_name = name.to_owned();
    let worker = std::thread::Builder::new().stack_size(STACK);
    if worker.spawn(move || work(&told_name, input, verbs, &tell)).is_err() {
        let said = heard.failed(DenialCode::HookError, "The gate could not start. Try again.");
        return (heard, said);
    }
    loop {
        let left = heard.patience().saturating_sub(started.elapsed());
        match told.recv_timeout(left) {
            Ok(Progress::Heard(now)) => heard = *now,
            Ok(Progress::Said(said)) => return (heard, said),
            Err(reason) => {
                let why = match reason {
                    RecvTimeoutError::Timeout => {
                        "The gate did not come to an answer in time, so nothing goes ahead. Try again; if it stays so, a person runs `intent doctor`."
                    }
                    RecvTimeoutError::Disconnected => {
                        "The gate failed, so nothing goes ahead. This is an error of `intent` itself; a person runs `intent doctor` and reports it."
                    }
                };
                let said = heard.failed(DenialCode::HookError, why);
                return (heard, said);
            }
        }
    }
}

/// The whole work. Nobody may be left to tell when it is done: then it does not matter.
fn work(name: &str, input: impl Read, verbs: Verbs, tell: &Sender<Progress>) {
    let (heard, objection) = listen(name, input);
    let moment = heard.moment;
    let event = heard.event.clone();
    let rewritable = heard.rewritable.clone();
    let early = objection.map(|why| heard.failed(DenialCode::UnreadablePayload, &why));
    let deniable = heard.deniable();
    if let Some(event) = event.as_ref().filter(|_| heard.clears) {
        (verbs.clear)(event);
    }
    let _ = tell.send(Progress::Heard(Box::new(heard)));
    let said = match (early, event) {
        (Some(said), _) => said,
        (None, Some(event)) => decide(moment, &event, deniable, rewritable.as_ref(), verbs),
        (None, None) => HookAnswer::Nothing,
    };
    let _ = tell.send(Progress::Said(said));
}

/// Reads the payload: what was heard, and why it cannot be judged if it cannot.
fn listen(name: &str, input: impl Read) -> (Heard, Option<String>) {
    let (bytes, complete) = match swallow(input) {
        Ok(found) => found,
        Err(error) => {
            let why = format!("The host's message could not be read: {error}. {AGAIN}");
            return (Heard::nothing(name), Some(why));
        }
    };
    let (payload, cut) = match json::read(&bytes) {
        JsonReading::Whole(payload) if complete => (payload, None),
        JsonReading::Whole(payload) => (payload, Some(too_large())),
        JsonReading::Partial(members) => {
            let why = if complete {
                format!("The host's message breaks off, or is no valid JSON. {AGAIN}")
            } else {
                too_large()
            };
            (Value::Object(members), Some(why))
        }
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
            return (Heard::nothing(name), Some(why));
        }
    };
    let in_devin = std::env::var_os("DEVIN_PROJECT_DIR").is_some();
    let host = detect::host(name, &payload, in_devin);
    let mut heard = Heard::of(&dialects::read(host, &payload));
    if cut.is_some() && heard.moment == Moment::Other {
        // The part that says what this is may be the part that is missing.
        heard = Heard { host, family: host.family, ..Heard::nothing(name) };
    }
    // After a tool, and of a tool that only reads, what is there is enough.
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

/// All that is judged of the input, and whether it is all there is. The rest is read and dropped: a host that cannot
/// write all it has may take that for a failure of its hook.
fn swallow(mut input: impl Read) -> std::io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    input.by_ref().take(MAX_PAYLOAD).read_to_end(&mut bytes)?;
    let dropped = std::io::copy(&mut input, &mut std::io::sink())?;
    Ok((bytes, dropped == 0))
}

fn decide(
    moment: Moment,
    event: &Event,
    deniable: bool,
    rewritable: Option<&Value>,
    verbs: Verbs,
) -> HookAnswer {
    match moment {
        Moment::Before if !deniable => HookAnswer::Nothing,
        Moment::Before => judged((verbs.before)(event), rewritable),
        Moment::After => told((verbs.after)(event)),
        Moment::Prompt => {
            (verbs.idle)(event);
            (verbs.prompt)(event);
            HookAnswer::Nothing
        }
        Moment::Idle => {
            (verbs.idle)(event);
            (verbs.rest)(event);
            HookAnswer::Nothing
        }
        Moment::SessionStart => (verbs.session_start)(event).map_or(HookAnswer::Nothing, |text| {
            let root = Root::find(&event.cwd).ok();
            let objection = root.and_then(|root| binary::objection(&root));
            let more = objection.map(|objection| format!("\n{objection}")).unwrap_or_default();
            HookAnswer::Context(sayable(&format!("{text}{more}")))
        }),
        Moment::Settings => match settings::objection(&event.cwd) {
            Some(why) => HookAnswer::Deny(sayable(&format!(
                "[{}] {why}",
                DenialCode::ProtectedPath.as_str()
            ))),
            None => HookAnswer::Nothing,
        },
        Moment::Other => HookAnswer::Nothing,
    }
}

fn judged(judged: Judged, rewritable: Option<&Value>) -> HookAnswer {
    match judged.decision {
        Decision::Deny(denial) => HookAnswer::Deny(reason(&denial)),
        Decision::Ask(denial) => HookAnswer::Ask(reason(&denial)),
        Decision::NoOpinion if judged.fence.is_some() => behind_fence(judged.fence, rewritable),
        Decision::NoOpinion => {
            judged.notice.map_or(HookAnswer::Nothing, |text| HookAnswer::Context(sayable(&text)))
        }
    }
}

/// The call with its command behind the fence.
fn behind_fence(intent: Option<String>, rewritable: Option<&Value>) -> HookAnswer {
    let intent = intent.unwrap_or_default();
    match rewritable.and_then(|input| rewrite::fenced(input, &intent)) {
        Some(input) => HookAnswer::Rewrite {
            input,
            reason: sayable(&format!(
                "The policy lets this command run behind the fence only: it can write what {intent} owns."
            )),
        },
        None => HookAnswer::Deny(sayable(&format!(
            "[{}] The command could not be put behind the fence. {AGAIN}",
            DenialCode::FenceRequired.as_str()
        ))),
    }
}

fn reason(denial: &Denial) -> String {
    sayable(&format!("[{}] {}", denial.code.as_str(), denial.message))
}

fn told(feedback: Feedback) -> HookAnswer {
    match (feedback.violation, feedback.context) {
        (Some(violation), None) => HookAnswer::Violation(sayable(&violation)),
        (Some(violation), Some(context)) => {
            HookAnswer::Violation(sayable(&format!("{violation}\n{context}")))
        }
        (None, Some(context)) => HookAnswer::Context(sayable(&context)),
        (None, None) => HookAnswer::Nothing,
    }
}

/// Writes what there is to write, once. A host that cannot be told in its words is told by the exit code.
fn say(output: &Output) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(output.stdout.as_bytes()).and_then(|()| stdout.flush());
    let mut stderr = std::io::stderr().lock();
    // With both gone there is only the exit code left.
    let _ = stderr.write_all(output.stderr.as_bytes());
    if written.is_err() {
        let _ = stderr.write_all(output.stdout.as_bytes());
        return ExitCode::from(2);
    }
    ExitCode::from(output.exit)
}

#[cfg(test)]
mod tests;
