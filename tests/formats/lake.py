"""Rows as `intent export` writes them, made up by DuckDB, and the questions of docs/scale.md."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Hashes of blocks are random, which is the worst case for their compression.
CLAIMS = """
SELECT
    'forge.example/team' || (i % {repositories}) % 20 || '/service' || i % {repositories} AS repo,
    md5('commit' || i // 12)[:20] || md5('of' || i // 12)[:20] AS commit,
    (pushed + to_seconds((hash(i) % 86400)::INTEGER))::TIMESTAMPTZ AS commit_time,
    NULL::VARCHAR AS carried_by,
    commit_time - INTERVAL 5 MINUTE AS recorded_at,
    md5('section' || i // 40) || ':' || i % 40 AS record_id,
    CASE WHEN i % 50 = 0 THEN 'reassign' ELSE 'mutation' END AS kind,
    'src/part' || hash(i + 1) % 40 || '/file' || hash(i + 2) % 25 || '.rs' AS path,
    NULL::VARCHAR AS from_path,
    CASE hash(i + 3) % 8 WHEN 0 THEN NULL WHEN 1 THEN 'class' ELSE 'function' END AS block_kind,
    CASE WHEN block_kind IS NULL THEN NULL ELSE 'name' || hash(i + 4) % 30 END AS block_name,
    NULL::INTEGER AS block_ordinal,
    (1 + hash(i + 5) % 900)::INTEGER AS start_line,
    start_line + (7 + hash(i + 7) % 40)::INTEGER AS end_line,
    (CASE kind WHEN 'reassign' THEN 0 ELSE 1 + hash(i + 6) % 8 END)::INTEGER AS lines_brought,
    end_line - start_line + 1 AS lines_total,
    'sha256:' || md5(uuid()::VARCHAR) AS content_hash,
    false AS deleted,
    CASE hash(i + 8) % 500 WHEN 0 THEN 'PAY-042'
        WHEN 1 THEN NULL ELSE 'INT-' || lpad((hash(i + 8) % 120)::VARCHAR, 3, '0') END AS intent_id,
    'sha256:' || md5(intent_id) AS intent_hash,
    ['AI', 'AI', 'AI', 'HUMAN', 'MIXED'][(1 + hash(i + 9) % 5)::INTEGER] AS contributor_type,
    CASE contributor_type WHEN 'HUMAN' THEN NULL
        ELSE ['claude-code', 'codex', 'cursor'][(1 + hash(i + 10) % 3)::INTEGER] END AS tool,
    CASE WHEN tool IS NULL THEN NULL ELSE 'maker/model-' || hash(i + 11) % 4 END AS model,
    CASE WHEN tool IS NULL THEN NULL ELSE tool || ':' || md5('session' || i // 60) END AS session,
    NULL::VARCHAR AS person,
    'observed' AS strength,
    'evidence' AS source,
    NULL::VARCHAR AS outcome,
    NULL::VARCHAR AS approval,
    pushed::DATE AS dt
FROM (SELECT i, TIMESTAMP '2026-01-28' + to_months((i * {months} // {rows})::INTEGER) AS pushed
    FROM range({rows}) AS numbers(i))
ORDER BY dt, repo, path, start_line
"""

INTENTS = """
SELECT repo, intent_id, 'sha256:' || md5(intent_id) AS intent_hash, 'Intent ' || intent_id AS name,
    'IN_PROGRESS' AS status, '@team' || hash(repo) % 20 AS owner, 'registry' AS source,
    NULL::VARCHAR AS source_path, ['spec'] AS specs, ['src/**'] AS scope, min(commit) AS valid_from, dt
FROM claims_made WHERE intent_id IS NOT NULL GROUP BY repo, intent_id, dt ORDER BY dt, repo
"""

FINDINGS = """
SELECT repo, commit,
    ['scope-violation', 'unrecorded-change', 'intent-not-active'][(1 + hash(record_id) % 3)::INTEGER] AS code,
    ['error', 'warning', 'info'][(1 + hash(record_id) % 3)::INTEGER] AS level, path, start_line AS line,
    intent_id, md5(record_id) AS fingerprint, dt
FROM claims_made WHERE hash(record_id) % 100 = 0 ORDER BY dt, repo
"""


def write(connection, folder, rows, repositories, months=12):
    """Writes the three tables, with one file for each repository and month."""
    made = CLAIMS.format(rows=rows, repositories=repositories, months=months)
    connection.execute(f"CREATE TEMP TABLE claims_made AS {made}")
    for table, query in [("claims", "FROM claims_made"), ("intents", INTENTS), ("findings", FINDINGS)]:
        connection.execute(
            f"COPY ({query}) TO '{folder}' (FORMAT parquet, PARTITION_BY (dt, repo), WRITE_PARTITION_COLUMNS true, "
            f"COMPRESSION zstd, OVERWRITE_OR_IGNORE true, FILENAME_PATTERN '{{i}}.{table}.v1')"
        )
    connection.execute("DROP TABLE claims_made")


def unite(connection, folder):
    """Unites the files of each month with the statements of docs/scale.md. Returns the views of the copies."""
    (folder / "united").mkdir()
    duck_views, click_views, copies, _ = statements()
    for month in sorted({day.name[3:10] for day in (folder / "lake").iterdir()}):
        connection.execute(copies.replace("2026-02", month))
    united = [views.replace("lake/**/", "united/") for views in (duck_views, click_views)]
    return [re.sub(r"SELECT \*, .* AS block FROM", "SELECT * FROM", views) for views in united]


def statements():
    """Returns the statements of docs/scale.md: the views for DuckDB, those for ClickHouse, the copies that unite a
    month, and the questions by title."""
    views, copies, questions, heading = {}, [], {}, ""
    pieces = re.split(r"^(#+ .*|```sql\n(?:.*\n)*?```)$", (ROOT / "docs/scale.md").read_text(), flags=re.M)
    for piece in pieces:
        if piece.startswith("#"):
            heading = piece.lstrip("# ")
        elif piece.startswith("```sql\n"):
            block = piece.removeprefix("```sql\n").removesuffix("```")
            if block.startswith("COPY"):
                copies.append(block)
            else:
                (views if block.startswith("CREATE") else questions)[heading] = block
    assert len(views) == 2 and len(copies) == 1 and len(questions) == 4, (list(views), copies, list(questions))
    return views["DuckDB"], views["ClickHouse"], copies[0], questions
