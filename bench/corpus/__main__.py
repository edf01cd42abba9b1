"""Measure indexes of collections, and write a table.

python -m bench.corpus [--rows N] [--models FOLDER] [--markdown FILE]

Data and indexes are kept in `.cache/bench-corpus`, and take some gigabytes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import isoform
from bench.corpus.data import invented_rows, large_file, small_models

CACHE = Path(".cache/bench-corpus")
SMALL = 10_000
LARGE = 1 << 30
RAY_BATCHES = 200

HEAD = """# What indexes of collections cost

Written by `make bench-corpus`.
Each figure is one run in a process of its own, with the files in the cache of the system.
Absolute times do not carry over to another machine; the ratios between the rows of a table mostly do.
The pages of [scale](../../docs/scale.md) say what follows for large collections.

Measured on {machine}, {cores} cores, {system}, Python {python}, isoform {version}.
"""


class Table:
    """The lines of the report, which are printed as they come."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, *lines: str) -> None:
        """Add lines."""
        self.lines += lines
        print(*lines, sep="\n", flush=True)

    def section(self, title: str, *columns: str) -> None:
        """Begin a table; the first column has names, the others have numbers."""
        self.add("", f"## {title}", "")
        self.row(*columns)
        self.row("---", *["---:"] * (len(columns) - 1))

    def row(self, *cells: str) -> None:
        """Add a row."""
        self.add(f"| {' | '.join(cells)} |")


def child(*words: object) -> dict:
    """Run one measurement in a process of its own."""
    command = [sys.executable, "-m", "bench.corpus.child", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def rate(count: float, seconds: float) -> str:
    """Return a number per second."""
    return f"{count / seconds:,.0f}"


def megabytes(count: float) -> str:
    """Return a number of bytes in megabytes."""
    return f"{count / 1e6:,.0f}"


def remove(output: Path) -> None:
    """Remove an index, and the rows of an update that was interrupted."""
    output.unlink(missing_ok=True)
    shutil.rmtree(f"{output}.partial", ignore_errors=True)


def reading(table: Table, models: Path) -> None:
    """Measure how fast files are read."""
    title = ("files", "rows per s", "MB per s", "peak MB")
    table.section("Reading files", *title)
    small = small_models(models, CACHE / "small", SMALL)
    large = large_file(CACHE / "large", LARGE)
    output = CACHE / "reading.parquet"
    # The first run only warms the cache of the system.
    for jobs in [2, 1, 2]:
        remove(output)
        run = child("index", small, output, jobs, "local")
    for name, root, jobs in [
        (f"{SMALL:,} small models, 1 thread", small, 1),
        (f"{SMALL:,} small models, 2 threads", small, 2),
        (f"1 safetensors file of {LARGE >> 20} MiB, 1 thread", large, 1),
    ]:
        remove(output)
        run = child("index", root, output, jobs, "local")
        rows, _, size = run["result"]
        seconds = run["seconds"]
        per_second = rate(rows, seconds) if rows > 1 else ""
        table.row(name, per_second, megabytes(size / seconds), megabytes(run["peak"]))
    remove(output)
    child("index", small, output, 2, "local")
    run = child("index", small, output, 2, "local")
    row = rate(SMALL, run["seconds"]), "", megabytes(run["peak"])
    table.row(f"{SMALL:,} small models that have not changed", *row)


def sizes(table: Table, models: Path, invented: Path, rows: int) -> None:
    """Measure the size of a row in an index."""
    table.section("Sizes of indexes", "rows", "number", "bytes per row")
    for name, root in [("real models", models), ("small models", CACHE / "small")]:
        output = CACHE / "sizes.parquet"
        remove(output)
        count = child("index", root, output, 2, "local")["result"][0]
        table.row(name, f"{count:,}", f"{output.stat().st_size / count:,.0f}")
    table.row("invented rows", f"{rows:,}", f"{invented.stat().st_size / rows:,.0f}")


def grouping(table: Table, invented: Path, rows: int) -> None:
    """Measure how fast rows are grouped."""
    table.section(f"Grouping {rows:,} rows by digest", "with", "s", "million rows per s", "peak MB")
    groups = set()
    for name, *words in [
        ("`CorpusIndex.duplicates`, which also returns the rows", "duplicates", invented),
        ("`CorpusIndex.statistics`", "statistics", invented),
        ("DuckDB, 1 thread, 4 GB", "duckdb_groups", invented, 1, "4GB"),
        ("DuckDB, 2 threads, 4 GB", "duckdb_groups", invented, 2, "4GB"),
        ("DuckDB, 2 threads, 2 GB", "duckdb_groups", invented, 2, "2GB"),
    ]:
        run = child(*words)
        seconds = run["seconds"]
        millions = f"{rows / seconds / 1e6:,.1f}"
        table.row(name, f"{seconds:,.1f}", millions, megabytes(run["peak"]))
        if words[0] != "statistics":
            groups.add(run["result"])
    if len(groups) != 1:
        sys.exit(f"the numbers of groups differ: {groups}")


def ray(table: Table) -> None:
    """Measure what Ray adds."""
    table.section("Ray on this machine, with 2 processes", "work", "s")
    table.row("start and end of a cluster, one batch", f"{child('ray_start')['seconds']:,.1f}")
    seconds = child("ray_batches", RAY_BATCHES)["result"]
    table.row("a batch without files, in a round of many", f"{seconds / RAY_BATCHES:,.3f}")
    output = CACHE / "ray.parquet"
    remove(output)
    run = child("append", CACHE / "small", output)
    rows = run["result"]
    table.row(f"appending {rows:,} rows to an index, by the driver", f"{run['seconds']:,.2f}")
    for engine in ["ray", "local"]:
        remove(output)
        run = child("index", CACHE / "small", output, 2, engine)
        table.row(f"{SMALL:,} small models, engine `{engine}`", f"{run['seconds']:,.1f}")


def machine() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--models", type=Path, default=Path(".cache/models"))
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    table = Table()
    head = HEAD.format(
        machine=machine(),
        cores=os.cpu_count(),
        system=platform.system(),
        python=platform.python_version(),
        version=isoform.__version__,
    )
    table.add(*head.splitlines())
    reading(table, options.models)
    source, invented = CACHE / "reading.parquet", CACHE / f"rows-{options.rows}.parquet"
    invented_rows(source, invented, options.rows)
    sizes(table, options.models, invented, options.rows)
    grouping(table, invented, options.rows)
    ray(table)
    if options.markdown:
        options.markdown.write_text("\n".join(table.lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
