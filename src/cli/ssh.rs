//! Makes and checks SSH signatures with `ssh-keygen -Y`. Used only by commands that a person or CI
//! starts.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::error::CliError;
use super::programs;
use evidence::signing::{SignatureCheck, Signatures, Signed};
use ground::{Environment, store};
use why::{VerbError, Workspace};

const PROGRAM: &str = "ssh-keygen";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
/// The largest size, in bytes, of a file of trusted keys.
const MAX_KEYS: u64 = 16 * 1024 * 1024;
/// The line length of an armoured signature, as ssh-keygen writes it.
const WIDTH: usize = 70;

pub struct SshKeygen {
    /// The content of the file that git's setting `gpg.ssh.allowedSignersFile` names.
    machine: String,
    environment: Environment,
}

impl SshKeygen {
    pub fn of_machine(workspace: &Workspace) -> Self {
        let file = workspace.path_setting("gpg.ssh.allowedSignersFile");
        let file = file.map(|file| workspace.root.path().join(file));
        let machine = file.and_then(|file| store::read_capped(&file, MAX_KEYS).ok()?);
        let machine = machine.and_then(|keys| String::from_utf8(keys).ok());
        let environment = workspace.root.environment().clone();
        Self { machine: machine.unwrap_or_default(), environment }
    }

    pub fn trusts_anybody(&self, signers: &str) -> bool {
        let is_key = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        signers.lines().chain(self.machine.lines()).any(is_key)
    }

    fn check_signature(&self, what: Signed<'_>, signers: &str) -> std::io::Result<SignatureCheck> {
        let folder = tempfile::tempdir()?;
        let (keys, signature) = (folder.path().join("keys"), folder.path().join("signature"));
        std::fs::write(&keys, format!("{signers}\n{}\n", self.machine))?;
        std::fs::write(&signature, armoured_text(what.signature))?;
        let asked = |operation: &str, more: &[&str]| {
            let mut program = programs::command(PROGRAM, &self.environment);
            program.args(["-Y", operation, "-s"]).arg(&signature).args(more);
            program
        };
        let mut owner = asked("find-principals", &["-f"]);
        let owner = run(owner.arg(&keys), b"")?;
        let names = String::from_utf8_lossy(&owner.stdout).into_owned();
        let name = names.lines().next().and_then(|line| line.split(',').next()).unwrap_or_default();
        if owner.status.success() && !name.is_empty() {
            let mut verify = asked("verify", &["-n", what.namespace, "-I", name, "-f"]);
            if run(verify.arg(&keys), what.bytes)?.status.success() {
                return Ok(SignatureCheck::By(name.to_owned()));
            }
        }
        let fits = run(&mut asked("check-novalidate", &["-n", what.namespace]), what.bytes)?;
        Ok(if fits.status.success() { SignatureCheck::Untrusted } else { SignatureCheck::Bad })
    }
}

impl Signatures for SshKeygen {
    fn judge(&self, signed: Signed<'_>, signers: &str) -> Result<SignatureCheck, VerbError> {
        let unchecked = |error| not_run("signatures cannot be checked", &error);
        self.check_signature(signed, signers).map_err(unchecked)
    }
}

fn not_run(what: &str, error: &std::io::Error) -> VerbError {
    let message = format!("{PROGRAM} cannot be run, so {what}: {error}");
    VerbError::mendable(message, "install it (it is part of OpenSSH)")
}

fn run(program: &mut Command, input: &[u8]) -> std::io::Result<Output> {
    let piped = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = piped.spawn()?;
    if let Some(mut stdin) = running.stdin.take() {
        match stdin.write_all(input) {
            // The program has closed its input because it decided without reading all of it.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            other => other?,
        }
    }
    running.wait_with_output()
}

/// Signs `bytes` and returns the signature in base64, on one line. Uses `key` if it is given,
/// otherwise the key that git signs with.
pub fn sign(
    workspace: &Workspace,
    folder: &Path,
    key: Option<PathBuf>,
    namespace: &str,
    bytes: &[u8],
) -> Result<String, CliError> {
    let scratch =
        tempfile::tempdir().map_err(|source| CliError::io("a temporary folder", "made", source))?;
    let key = key_file(workspace, folder, key, scratch.path())?;
    let file = scratch.path().join("signed");
    std::fs::write(&file, bytes).map_err(|source| CliError::io(&file, "written", source))?;
    // ssh-keygen asks for a passphrase at the terminal itself.
    let mut program = programs::command(PROGRAM, workspace.root.environment());
    program.args(["-q", "-Y", "sign", "-n", namespace, "-f"]).arg(&key).arg(&file);
    let output = program.output().map_err(|error| not_run("nothing can be signed", &error))?;
    let signature = std::fs::read_to_string(scratch.path().join("signed.sig")).unwrap_or_default();
    let signature: String = signature.lines().filter(|line| !line.starts_with("-----")).collect();
    if output.status.success() && !signature.is_empty() {
        return Ok(signature);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it gave no signature").to_owned();
    Err(CliError::usage(format!("{} could not be signed with: {said}", key.display()), NAME_A_KEY))
}

/// Returns true if git is set up to sign with an SSH key here. Then signing needs no `--key`.
pub fn signs(workspace: &Workspace) -> bool {
    workspace.setting("gpg.format").as_deref() == Some("ssh")
        && workspace.setting("user.signingKey").is_some()
}

const NAME_A_KEY: &str = "name an SSH key: `--key ~/.ssh/id_ed25519`, or once for all `git config --global user.signingKey ~/.ssh/id_ed25519.pub`";

fn key_file(
    workspace: &Workspace,
    folder: &Path,
    key: Option<PathBuf>,
    scratch: &Path,
) -> Result<PathBuf, CliError> {
    if let Some(key) = key {
        return Ok(folder.join(key));
    }
    let named = workspace.setting("user.signingKey");
    let named = named.ok_or_else(|| CliError::usage("no key is named to sign with", NAME_A_KEY))?;
    // `user.signingKey` may also hold the public key itself, for a key that an SSH agent holds.
    let literal = named.strip_prefix("key::").or(named.starts_with("ssh-").then_some(&*named));
    if let Some(literal) = literal {
        let file = scratch.join("key.pub");
        std::fs::write(&file, format!("{literal}\n"))
            .map_err(|source| CliError::io(&file, "written", source))?;
        return Ok(file);
    }
    Ok(folder.join(workspace.path_setting("user.signingKey").unwrap_or(named.into())))
}

fn armoured_text(signature: &str) -> String {
    let letters: Vec<char> = signature.chars().collect();
    let lines: Vec<String> = letters.chunks(WIDTH).map(|line| line.iter().collect()).collect();
    format!("{BEGIN}\n{}\n{END}\n", lines.join("\n"))
}
