"""One measurement in a process of its own; prints the time, the peak memory and the result.

python -m bench.corpus.child NAME ARGUMENTS
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter


def index(root: str, output: str, jobs: str, engine: str) -> Callable[[], object]:
    """Make or update an index."""
    from isoform import corpus

    def run() -> object:
        report = corpus.index([root], output, jobs=int(jobs), engine=engine)  # type: ignore[arg-type]
        return [report.rows, report.read, report.bytes]

    return run


def append(root: str, output: str) -> Callable[[], object]:
    """Append the rows of nodes to an index, and finish the index, as the driver does."""
    from isoform import _core

    update = _core.CorpusUpdate([root], output)
    rows = []
    while (files := update.next_files(512, 256 << 20)) is not None:
        if files:
            rows.append(_core.read_corpus_files(files, follow_links=False))

    def run() -> object:
        for batch in rows:
            update.push(batch)
        return update.finish().rows

    return run


def ray_start() -> Callable[[], object]:
    """Start a local cluster, run one batch without files, and end the cluster."""
    from isoform import _corpus_ray

    def run() -> object:
        ray = _corpus_ray._import_ray()
        with _corpus_ray._connected(ray, "local", 2):
            return len(list(_corpus_ray._rows(ray, ["[]"], 2, False)))

    return run


def ray_batches(count: str) -> Callable[[], object]:
    """Run batches without files on a cluster; the result is the time without the start."""
    from isoform import _corpus_ray

    def run() -> object:
        ray = _corpus_ray._import_ray()
        with _corpus_ray._connected(ray, "local", 2):
            list(_corpus_ray._rows(ray, ["[]"] * 8, 2, False))
            begin = perf_counter()
            list(_corpus_ray._rows(ray, ["[]"] * int(count), 2, False))
            return perf_counter() - begin

    return run


def duplicates(path: str) -> Callable[[], object]:
    """Group an index with its own scan."""
    from isoform import corpus

    return lambda: len(corpus.CorpusIndex(path).duplicates())


def statistics(path: str) -> Callable[[], object]:
    """Count the programs of an index with its own scan."""
    from isoform import corpus

    return lambda: corpus.CorpusIndex(path).statistics().programs


def duckdb_groups(path: str, threads: str, memory: str) -> Callable[[], object]:
    """Group an index with DuckDB."""
    import duckdb

    def run() -> object:
        config = {
            "threads": int(threads),
            "memory_limit": memory,
            "preserve_insertion_order": False,
            "temp_directory": f"{path}.spilled",
        }
        connection = duckdb.connect(config=config)
        query = (
            "SELECT count(*) FROM (SELECT digest FROM read_parquet(?) "
            "WHERE digest IS NOT NULL GROUP BY digest HAVING count(*) > 1)"
        )
        return connection.execute(query, [path]).fetchall()[0][0]

    return run


def peak() -> int:
    """Return the peak memory of this process alone, in bytes.

    The resource module also counts the process that started this one.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) << 10


def main() -> None:
    """Run the measurement that the command line names."""
    name, *arguments = sys.argv[1:]
    run = globals()[name](*arguments)
    begin = perf_counter()
    result = run()
    seconds = perf_counter() - begin
    print(json.dumps({"seconds": seconds, "peak": peak(), "result": result}))


if __name__ == "__main__":
    main()
