"""Makes up N claims, and prints how long the questions of docs/scale.md take, with the time of the
processors in brackets, and how large the files are.

    python tests/formats/scale.py 1000000 [--repositories 200] [--united] [--folder DIR]

Needs `duckdb`. With `chdb` installed, ClickHouse's engine is asked too, and must give the same answers.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import duckdb
import lake

try:
    from chdb import session as clickhouse
except ImportError:
    clickhouse = None

THREADS = 2
RUNS = 3


def taken(ask):
    """Returns the median time of several runs and that of the processors, in seconds, and the answer."""
    times, of_processors = [], []
    for _ in range(RUNS):
        begun, used = time.perf_counter(), time.process_time()
        answer = ask()
        times.append(time.perf_counter() - begun)
        of_processors.append(time.process_time() - used)
    return statistics.median(times), statistics.median(of_processors), answer


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("rows", type=int)
    arguments.add_argument("--repositories", type=int, default=200)
    arguments.add_argument("--united", action="store_true", help="unite the files of each month, and ask the copies")
    arguments.add_argument("--folder", type=Path)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        os.chdir(folder)
        duck = duckdb.connect(config={"threads": THREADS, "preserve_insertion_order": False})
        begun = time.perf_counter()
        lake.write(duck, "lake", asked.rows, asked.repositories)
        written = time.perf_counter() - begun
        duck_views, click_views, _, questions = lake.statements()
        if asked.united:
            begun = time.perf_counter()
            duck_views, click_views = lake.unite(duck, Path(folder))
            print(f"united in {time.perf_counter() - begun:.0f} s")
        files = list(Path("united" if asked.united else "lake").rglob("*.claims.v1.parquet"))
        size = sum(file.stat().st_size for file in files)
        print(f"{asked.rows:,} claims of {asked.repositories} repositories: {len(files):,} files, {size / 1e6:,.0f} MB, "
              f"{size / asked.rows:.1f} bytes a claim, made in {written:.0f} s\n")
        duck.execute(duck_views)
        engines = {f"DuckDB {duckdb.__version__}": lambda question: duck.execute(question).fetchall()}
        if clickhouse is not None:
            click = clickhouse.Session(f"{folder}/clickhouse")
            for view in filter(str.strip, click_views.split(";\n")):
                click.query(view.rstrip(";"))
            settings = f" SETTINGS max_threads = {THREADS}"
            engines["ClickHouse (chdb)"] = lambda question: click.query(question.rstrip(";\n") + settings, "TSV").data().splitlines()
        print("| question | rows |", " | ".join(engines), "|")
        print("| --- | ---: |" + " ---: |" * len(engines))
        for title, question in questions.items():
            cells, counts = [], set()
            for ask in engines.values():
                seconds, of_processors, answer = taken(lambda: ask(question))
                counts.add(len(answer))
                cells.append(f"{seconds:.2f} s ({of_processors:.2f} s)")
            assert len(counts) == 1, f"{title}: the engines differ: {counts}"
            print(f"| {title} | {counts.pop():,} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
