//! `intent evidence attest`: states what a range of commits holds, in a form that other tools verify; and
//! `intent evidence verify --attestation`.

use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::envelope::{IN_TOTO, SignedEnvelope};
use crate::cli::print::{BAD, DIM, Page, STRONG};
use crate::cli::ssh::SshKeygen;
use crate::cli::{CliError, Context, Exit, person};
use evidence::signing::{self, SignatureCheck};
use export::attestation::{
    PREDICATE, STATEMENT, Statement, StatementSubject, SubjectDigest, predicate,
};
use export::range::{CommitRange, ExportError};
use ground::git::{Git, short_id};
use ground::store;
use why::{VerbError, Workspace};

use super::export::repository_name;
use super::shared;

/// The largest size, in bytes, of an attestation that is read.
const MAX_ATTESTATION: u64 = 64 * 1024 * 1024;

/// State what a range of commits holds, as an in-toto statement in a DSSE envelope
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The statement says who brought the lines of the range, under which intents, what `intent
check` finds in it, and which evidence it carries. It is computed from the rows of `intent
export`, so a range always gives the same statement.

With --key it is signed, which is for a person, or CI: refused where an agent runs it.
Whose keys count is told by `intent evidence anchor --help`; the namespace is intent-attestation.
Without --key it has no signature, and the attest step of a forge can sign it.

Examples:
  intent evidence attest main~20..main --key ~/.ssh/id_ed25519 > attestation.json
  intent evidence attest v1.0..v1.1 --file rows/claims.v1.jsonl > attestation.json
  intent evidence verify --attestation attestation.json")]
pub struct AttestArgs {
    /// The commits: `A..B`, or one revision for its whole history
    #[arg(value_name = "A..B")]
    range: String,

    /// A file that `intent evidence export` wrote, below the current folder; its hash is part of the statement
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<String>,

    /// The SSH key to sign with
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// The name of the repository; without it, the address of `origin`: forge.example/team/shop
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
}

pub fn run(context: &Context, args: AttestArgs) -> Result<Exit, CliError> {
    if args.key.is_some() {
        person::no_agent(context)?;
    }
    let workspace = context.governed_workspace()?;
    let git = git(&workspace)?;
    let range = CommitRange::parse(git, &args.range)?;
    let repository = args.repo.unwrap_or_else(|| repository_name(&workspace));
    let mut subject = vec![StatementSubject {
        name: repository,
        digest: SubjectDigest::Commit(range.to.0.clone()),
    }];
    for file in args.files {
        let hash = hash_below(&context.cwd, &file).ok_or_else(|| {
            let hint = "name files below the current folder: rows/claims.v1.jsonl";
            CliError::usage(format!("{file} cannot be read as a file here"), hint)
        })?;
        subject.push(StatementSubject { name: file, digest: SubjectDigest::File(hash) });
    }
    let statement = Statement {
        kind: STATEMENT.to_owned(),
        subject,
        predicate_type: PREDICATE.to_owned(),
        predicate: predicate(&workspace, &range).map_err(as_cli_error)?,
    };
    // Plain data always serialises.
    let mut envelope =
        SignedEnvelope::new(IN_TOTO, &serde_json::to_vec(&statement).unwrap_or_default());
    if let Some(key) = &args.key {
        envelope.sign(&workspace, &context.cwd, key)?;
    }
    let line = serde_json::to_string(&envelope).unwrap_or_default();
    context.answer(&envelope, |page| {
        page.lines(&line);
    })
}

fn git(workspace: &Workspace) -> Result<&Arc<Git>, VerbError> {
    workspace.git().ok_or_else(|| workspace.no_git("an attestation"))
}

fn as_cli_error(error: ExportError) -> CliError {
    match error {
        ExportError::Read(error) => error.into(),
        ExportError::Write(error) => CliError::io("the statement", "written", error),
    }
}

/// Returns the SHA-256 of a regular file below a folder. An attestation comes from somebody else, so
/// it must not name other files.
fn hash_below(folder: &Path, file: &str) -> Option<String> {
    let is_below = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    let path = folder.join(file);
    if !is_below || !path.metadata().ok()?.is_file() {
        return None;
    }
    store::sha256_of_file(File::open(path).ok()?)
}

/// Whether an attestation is true, and who vouches for it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttestationAnswer {
    /// The names of the trusted signers, from the list of trusted keys.
    pub signers: Vec<String>,
    /// What is wrong. Empty if the attestation is true and somebody trusted signed it.
    pub problems: Vec<String>,
    pub statement: Statement,
}

pub(super) fn verify(context: &Context, file: &Path) -> Result<Exit, CliError> {
    let workspace = context.governed_workspace()?;
    let path = context.cwd.join(file);
    let bytes = store::read_capped(&path, MAX_ATTESTATION)?;
    let bytes =
        bytes.ok_or_else(|| CliError::io(file, "read", std::io::ErrorKind::NotFound.into()))?;
    let (envelope, statement) = read(&bytes).map_err(|what| {
        let hint = "`intent evidence attest A..B` writes what is read here";
        CliError::usage(format!("{} is no attestation: {what}", file.display()), hint)
    })?;
    let mut problems = Vec::new();
    let signers = signers(&workspace, &envelope, &mut problems)?;
    let said = &statement.predicate;
    let mut subjects = statement.subject.iter();
    let commit = SubjectDigest::Commit(said.to.clone());
    if subjects.next().map(|subject| &subject.digest) != Some(&commit) {
        problems.push("its subject is not the last commit of its range".to_owned());
    }
    for subject in subjects {
        let found = hash_below(&context.cwd, &subject.name).map(SubjectDigest::File);
        match found {
            None => problems.push(format!("{} cannot be read as a file here", subject.name)),
            Some(found) if found != subject.digest => {
                problems.push(format!("{} has other content", subject.name));
            }
            Some(_) => {}
        }
    }
    let range =
        said.from.as_ref().map_or_else(|| said.to.clone(), |from| format!("{from}..{}", said.to));
    let range = CommitRange::parse(git(&workspace)?, &range)?;
    if predicate(&workspace, &range).map_err(as_cli_error)? != *said {
        problems.push(format!("{} says something else in this repository", range.in_words()));
    }
    let answer = AttestationAnswer { signers, problems, statement };
    context.answer(&answer, |page| show(page, &answer, &range))?;
    Ok(Exit::found(!answer.problems.is_empty()))
}

fn read(bytes: &[u8]) -> Result<(SignedEnvelope, Statement), String> {
    let envelope: SignedEnvelope =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if envelope.payload_type != IN_TOTO {
        return Err(format!("its payload is not of the type {IN_TOTO}"));
    }
    let payload = envelope.opened().ok_or("its payload is not base64")?;
    let statement: Statement =
        serde_json::from_slice(&payload).map_err(|error| error.to_string())?;
    if statement.kind != STATEMENT || statement.predicate_type != PREDICATE {
        return Err(format!("it is of another type than {PREDICATE}"));
    }
    Ok((envelope, statement))
}

fn signers(
    workspace: &Workspace,
    envelope: &SignedEnvelope,
    problems: &mut Vec<String>,
) -> Result<Vec<String>, CliError> {
    let mut signers = Vec::new();
    let keys = SshKeygen::of_machine(workspace);
    for check in envelope.judge(&keys, &signing::signers(workspace)?)? {
        match check {
            SignatureCheck::By(signer) => signers.push(signer),
            SignatureCheck::Bad => problems.push("it does not fit its signature".to_owned()),
            SignatureCheck::Untrusted | SignatureCheck::Unchecked => {}
        }
    }
    if signers.is_empty() {
        problems.push("nobody who is trusted has signed it".to_owned());
    }
    Ok(signers)
}

fn show(page: &mut Page, answer: &AttestationAnswer, range: &CommitRange) {
    let said = &answer.statement.predicate;
    shared::mark(page, Some(answer.problems.is_empty())).text(range.in_words()).literal("  ");
    page.count(said.commits, "commit").literal(", ").text(said.lines.total);
    page.literal(" recorded lines");
    for (contributor, lines) in &said.lines.contributors {
        page.literal(", ").text(lines).literal(" ").text(contributor.as_str());
    }
    page.end();
    for signer in &answer.signers {
        page.literal("  signed by ").styled(STRONG, signer).end();
    }
    for problem in &answer.problems {
        page.literal("  ").label(BAD, "problem:").text(problem).end();
    }
    if answer.problems.is_empty() {
        let name = answer.statement.subject.first().map_or("", |subject| &subject.name);
        page.literal("  ").styled(DIM, format!("commit {} of {name}", short_id(&said.to))).end();
    }
}
