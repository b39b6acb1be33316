"""Reads what `intent export` and `intent attest` write with programs that are not ours.

    INTENT_BIN=target/debug/intent python tests/formats/check.py

The program needs the feature `parquet`; requirements.txt has what else is needed.
"""

import base64
import hashlib
import json
import os
import struct
import subprocess
import tempfile
from pathlib import Path

import duckdb
import lake
from chdb import session as clickhouse
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from google.protobuf import json_format
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage
from jsonschema import Draft202012Validator
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import UnverifiedSignatureError, VerificationError
from securesystemslib.signer import Key

PROGRAM = str(Path(os.environ["INTENT_BIN"]).resolve())
TABLES = ["claims", "intents", "findings"]


class Repository:
    """A repository in which an agent and a person worked, apart from the settings of this machine."""

    def __init__(self, folder):
        self.folder = folder / "work"
        self.folder.mkdir()
        self.environment = {
            "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}",
            "HOME": str(folder / "home"),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for name in ["AUTHOR", "COMMITTER"]:
            self.environment |= {f"GIT_{name}_NAME": "t", f"GIT_{name}_EMAIL": "t@example.invalid"}

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def intent(self, *arguments):
        return self.run(PROGRAM, *arguments)

    def write(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self):
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "-m", "a commit")

    def work(self):
        self.run("git", "init", "-q", "-b", "main")
        self.intent("init", "--no-agents")
        self.commit()
        self.base = self.run("git", "rev-parse", "HEAD").strip()
        self.intent("new", "One of two", "--scope", "src/**", "--owner", "@team1", "--start")
        self.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "../key")
        key = (self.folder / "../key.pub").read_text()
        self.write(".orchestration/allowed_signers", f"ada@example.invalid {key}")
        self.commit()
        model = ["--agent", "codex", "--model", "openai/gpt-5", "--session", "codex:1"]
        for number in range(6):
            path = f"src/part {number}.py"
            body = "".join(f"def f{at}():\n    return {at * number}\n\n\n" for at in range(number + 2))
            self.write(path, body)
            self.intent("record", path, "--intent", "INT-001", *(model if number % 2 else ["--me"]))
            self.commit()
        self.run("git", "mv", "src/part 1.py", "src/other.py")
        self.write("src/other.py", "def f0():\n    return 'ü'\n")
        self.intent("record", "src/other.py", "--intent", "INT-001", *model)
        self.commit()
        # A finding: a file that no intent owns, and no record of it.
        self.write("src/late.py", "def late():\n    return 1\n")
        self.commit()
        self.intent("record", "--all", "--yes", "--me", "--intent", "INT-001", "src/late.py")
        self.intent("seal")
        self.commit()


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def agent_trace(export):
    schema = json.loads((Path(__file__).parent / "agent-trace.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    formats = Draft202012Validator.FORMAT_CHECKER
    assert {"date-time", "uuid", "uri"} <= set(formats.checkers), "a format is not checked"
    validator = Draft202012Validator(schema, format_checker=formats)
    records = lines(export("--format", "agent-trace"))
    for record in records:
        validator.validate(record)
    assert records
    bad = json.loads(json.dumps(records[0]))
    bad["timestamp"] = "yesterday"
    assert not validator.is_valid(bad), "the schema accepts everything"
    return f"{len(records)} records"


def otlp(export):
    requests = export("--format", "otlp").splitlines()
    count = 0
    for line in requests:
        request = json_format.Parse(line, ExportLogsServiceRequest(), ignore_unknown_fields=False)
        for logs in request.resource_logs:
            assert logs.schema_url.startswith("https://opentelemetry.io/schemas/")
            for scope in logs.scope_logs:
                count += len(scope.log_records)
                for record in scope.log_records:
                    names = [one.key for one in record.attributes]
                    assert record.event_name in ("intent.claim", "intent.finding"), record
                    assert len(set(names)) == len(names), names
    rows = lines(export())
    assert count == sum(row["table"] in ("claims", "findings") for row in rows) > 0
    return f"{count} log records"


def tables(export, folder):
    """Compares the rows of Parquet with those of JSONL, as DuckDB reads them."""
    found = []
    for name in ["jsonl", "parquet"]:
        export("--format", name, "--out", str(folder / name))
    connection = duckdb.connect()
    for table in TABLES:
        parquet = f"read_parquet('{folder}/parquet/*/*/*.{table}.v1.parquet', hive_partitioning=false)"
        schema = connection.execute(f"DESCRIBE FROM {parquet}").fetchall()
        columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind, *_ in schema) + "}"
        jsonl = f"read_json('{folder}/jsonl/*/*/*.{table}.v1.jsonl', columns={columns}, format='newline_delimited')"
        # A flag and a list without a value are left out in JSON.
        defaults = {"BOOLEAN": "false", "VARCHAR[]": "[]"}
        cells = ", ".join(
            f"coalesce({name}, {defaults[kind]}) AS {name}" if kind in defaults else name for name, kind, *_ in schema
        )
        counts = [connection.execute(f"SELECT count(*) FROM {one}").fetchone()[0] for one in (jsonl, parquet)]
        for one, other in [(jsonl, parquet), (parquet, jsonl)]:
            differ = connection.execute(f"(SELECT {cells} FROM {one}) EXCEPT ALL (SELECT {cells} FROM {other})").fetchall()
            assert not differ, f"{table}: {differ[:3]}"
        assert counts[0] == counts[1]
        keys = {key for path in folder.glob(f"jsonl/*/*/*.{table}.v1.jsonl") for row in lines(path.read_text()) for key in row}
        assert keys <= {name for name, *_ in schema}, f"{table}: Parquet lacks columns"
        found.append(f"{counts[0]} {table}")
    return ", ".join(found)


class SshKey(Key):
    """A key whose signatures are those of `ssh-keygen -Y sign`."""

    @classmethod
    def of_line(cls, line):
        blob = base64.b64decode(line.split()[1])
        digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
        return cls(f"SHA256:{digest}", "ssh", "sshsig", {"public": line})

    @classmethod
    def from_dict(cls, keyid, key_dict):
        return cls(keyid, *cls._from_dict(key_dict))

    def to_dict(self):
        return self._to_dict()

    def verify_signature(self, signature, data):
        blob = bytes.fromhex(signature.signature)
        assert blob[:10] == b"SSHSIG" + struct.pack(">I", 1), "no SSH signature"
        _, namespace, reserved, algorithm, signed = strings(blob[10:])
        digest = hashlib.new(algorithm.decode(), data).digest()
        message = b"SSHSIG" + b"".join(struct.pack(">I", len(one)) + one for one in (namespace, reserved, algorithm, digest))
        assert namespace == b"intent-attestation", namespace
        try:
            load_ssh_public_key(self.keyval["public"].encode()).verify(strings(signed)[1], message)
        except InvalidSignature as error:
            raise UnverifiedSignatureError("the signature does not fit") from error


def strings(blob):
    found = []
    while blob:
        (length,) = struct.unpack(">I", blob[:4])
        found.append(blob[4 : 4 + length])
        blob = blob[4 + length :]
    return found


def attestation(repository, key):
    (repository.folder / "rows.jsonl").write_text(repository.intent("export", "--range", "HEAD~3..HEAD"))
    text = repository.intent("attest", "HEAD~3..HEAD", "--key", "../key", "--file", "rows.jsonl")
    envelope = Envelope.from_dict(json.loads(text))
    assert envelope.payload_type == "application/vnd.in-toto+json"
    assert len(envelope.verify([key], 1)) == 1
    message = json_format.Parse(envelope.payload, StatementMessage(), ignore_unknown_fields=False)
    Statement.copy_from_pb(message).validate()
    file = hashlib.sha256((repository.folder / "rows.jsonl").read_bytes()).hexdigest()
    assert message.subject[1].digest["sha256"] == file
    head = repository.run("git", "rev-parse", "HEAD").strip()
    assert message.subject[0].digest["gitCommit"] == head
    envelope.payload += b" "
    try:
        envelope.verify([key], 1)
    except VerificationError:
        return "signed, and a change is noticed"
    raise AssertionError("a changed payload has a valid signature")


def questions(folder):
    """Asks two engines the questions of docs/scale.md about rows that were made up, and again when the files of each
    month are united."""
    connection = duckdb.connect()
    os.chdir(folder)
    lake.write(connection, "lake", rows=20_000, repositories=20)
    views, click_views, _, asked = lake.statements()
    connection.execute(views)
    answers = {title: connection.execute(question).fetchall() for title, question in asked.items()}
    assert all(answers.values()), answers
    (shares,) = [question for title, question in asked.items() if "share" in title.lower()]
    repo, month, brought, share = connection.execute(shares).fetchone()
    recomputed = connection.execute(
        "SELECT sum(lines_brought), sum(CASE WHEN contributor_type = 'AI' THEN lines_brought ELSE 0 END) FROM claims "
        "WHERE kind = 'mutation' AND repo = ? AND year(commit_time) = year(?) AND month(commit_time) = month(?)",
        [repo, month, month],
    ).fetchone()
    assert brought == recomputed[0] and abs(share - 100 * recomputed[1] / brought) < 0.1
    united, click_united = lake.unite(connection, folder)
    connection.execute(united.replace("CREATE VIEW", "CREATE OR REPLACE VIEW"))
    with clickhouse.Session(str(folder / "clickhouse")) as click:
        for number, click_of in enumerate([click_views, click_united]):
            click.query(f"CREATE DATABASE of{number}")
            click.query(f"USE of{number}")
            for view in filter(str.strip, click_of.split(";\n")):
                click.query(view)
            for title, question in asked.items():
                lines = click.query(question.rstrip(";\n"), "TSV").data().splitlines()
                assert len(lines) == len(answers[title]), f"{title}: the engines differ"
    for title, question in asked.items():
        assert connection.execute(question).fetchall() == answers[title], f"{title}: the united files answer otherwise"
    return f"{len(asked)} questions, with two engines"


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        repository = Repository(folder)
        repository.work()
        key = SshKey.of_line((folder / "key.pub").read_text())

        def export(*more):
            return repository.intent("export", "--range", f"{repository.base}..HEAD", "--repo", "forge.example/team/shop", *more)

        def export_this(*more):
            return repository.intent("-C", str(lake.ROOT), "export", "--repo", "this", *more)

        print("-- agent-trace:", agent_trace(export))
        print("-- otlp:", otlp(export))
        print("-- tables:", tables(export, folder / "one"))
        print("-- attestation:", attestation(repository, key))
        print("-- agent-trace of this repository:", agent_trace(export_this))
        print("-- tables of this repository:", tables(export_this, folder / "other"))
        print("-- lake:", questions(folder))


if __name__ == "__main__":
    main()
