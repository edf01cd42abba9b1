"""Indexes of collections that are made by the processes of a Ray cluster.

The driver lists the files, and hands them out as rounds of batches. In a round, Ray Data
maps each batch to its rows, in order, and the driver appends the rows to the index. While
one round is read, a thread lists the files of the next. So the driver needs memory for two
rounds, however large the collection is, and Ray repeats the batches of a node that dies.

All nodes have to reach the roots under the same names, and need the same version of
Isoform.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from importlib import import_module
from typing import TYPE_CHECKING, Any

import isoform
from isoform import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    Progress = Callable[[_core.CorpusReport], object]

#: Limits of a batch, the work of one task: large enough that the cost of a task itself,
#: tens of milliseconds, does not count, and small enough that a dead node costs little work.
_FILES = 512
_BYTES = 256 << 20
#: The limit of a round, whose last batch all nodes wait for.
_BATCHES = 1024
#: The limits of the first round, which the nodes get soon. Both double with each round.
_FIRST_FILES = 16
_FIRST_BATCHES = 64
#: Seconds between two calls of `progress` while no rows come.
_PAUSE = 0.1


def index_with_ray(
    roots: list[str],
    output: str,
    *,
    jobs: int | None,
    follow_links: bool,
    progress: Progress | None,
    address: str | None,
) -> _core.CorpusReport:
    """Make an index, or bring the index up to date; see `isoform.corpus.index`."""
    ray = _import_ray()
    update = _core.CorpusUpdate(roots, output)
    try:
        rounds = contextlib.closing(_rounds(update, progress or (lambda _: None)))
        with rounds as batches_of_rounds, contextlib.ExitStack() as connection:
            reading = None
            for batches in batches_of_rounds:
                # An update without new files needs no cluster.
                if reading is None:
                    connection.enter_context(_connected(ray, address, jobs))
                    is_client = ray.util.client.ray.is_connected()
                    reading = _rows_for_client if is_client else _rows
                for rows in reading(ray, batches, jobs, follow_links):
                    report = update.push(rows)
                    if progress is not None:
                        progress(report)
        return update.finish()
    finally:
        # After an error or Ctrl-C, the next update goes on with the rows so far.
        update.close()


def index_for_command(roots: list[str], output: str, **options: Any) -> _core.CorpusReport:
    """Make an index for the command `isoform`, which Ctrl-C ends at once otherwise."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return index_with_ray(roots, output, **options)
    except KeyboardInterrupt:
        # The cluster has ended, and the shell learns the reason from the signal.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        raise


def _import_ray() -> Any:
    # Ray reports its use to its makers unless the variable is set before the import.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray = import_module("ray")
        import_module("ray.data")
    except ImportError as error:
        raise ImportError(
            f"the engine needs Ray Data: pip install isoform[ray] ({error})"
        ) from error
    return ray


@contextlib.contextmanager
def _connected(ray: Any, address: str | None, jobs: int | None) -> Iterator[None]:
    """Connect with a cluster, unless the program has, and leave it as it was."""
    if ray.is_initialized():
        if address is not None:
            raise ValueError(f"address: expected None, as Ray is connected, got {address!r}")
        with _quiet():
            yield
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    options: dict[str, Any] = {"logging_level": logging.WARNING, "log_to_driver": False}
    if address == "local":
        options |= {"include_dashboard": False, "num_cpus": jobs}
    ray.init(address, **options)
    try:
        with _quiet():
            yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Ray Data from a line on the terminal for every round; its log file has them."""
    handlers = logging.getLogger("ray.data").handlers
    levels = [(handler, handler.level) for handler in handlers]
    for handler, level in levels:
        if isinstance(handler, logging.StreamHandler):
            handler.setLevel(max(level, logging.ERROR))
    try:
        yield
    finally:
        for handler, level in levels:
            handler.setLevel(level)


def _rounds(update: _core.CorpusUpdate, progress: Progress) -> Generator[list[str], None, None]:
    """Iterate over the rounds of batches; one is listed ahead."""
    is_closed = threading.Event()

    def batches(most: int, files: int) -> list[str]:
        batches: list[str] = []
        while len(batches) < most and not is_closed.is_set():
            batch = update.next_files(files, _BYTES)
            if batch is None:
                break
            if batch:
                batches.append(json.dumps(batch))
        return batches

    most, files = _FIRST_BATCHES, _FIRST_FILES
    with ThreadPoolExecutor(1, "isoform-walk") as thread:
        try:
            ahead = thread.submit(batches, most, files)
            while True:
                if not wait([ahead], _PAUSE).done:
                    progress(update.report())
                    continue
                following = ahead.result()
                if not following:
                    return
                most, files = min(2 * most, _BATCHES), min(2 * files, _FILES)
                ahead = thread.submit(batches, most, files)
                yield following
        finally:
            is_closed.set()


def _rows(ray: Any, batches: list[str], jobs: int | None, follow_links: bool) -> Iterator[bytes]:
    """Read the batches of a round with the nodes; return their rows in order."""
    items = [{"files": batch} for batch in batches]
    files = ray.data.from_items(items, override_num_blocks=len(items))
    # The settings of this dataset alone; those of the program stay as they are.
    context = files.context
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    options = {"follow_links": follow_links, "version": isoform.__version__}
    compute = ray.data.TaskPoolStrategy(size=jobs)
    rows = files.map(_read_batch, fn_kwargs=options, compute=compute, num_cpus=1)
    for item in rows.iter_rows():
        yield item["rows"]


def _rows_for_client(
    ray: Any, batches: list[str], jobs: int | None, follow_links: bool
) -> Iterator[bytes]:
    """As `_rows`, for a driver outside of the cluster, where Ray Data does not run."""
    reader = ray.remote(num_cpus=0)(_Reader).remote(batches, jobs, follow_links)
    while True:
        rows = ray.get(reader.next.remote())
        if rows is None:
            return
        yield rows


class _Reader:
    """The driver of a round inside of the cluster."""

    def __init__(self, batches: list[str], jobs: int | None, follow_links: bool):
        self.rows = _rows(_import_ray(), batches, jobs, follow_links)

    def next(self) -> bytes | None:
        """Return the rows of the next batch; None at the end."""
        return next(self.rows, None)


def _read_batch(item: dict[str, Any], *, follow_links: bool, version: str) -> dict[str, bytes]:
    """Read a batch of files; runs on the nodes."""
    if isoform.__version__ != version:
        raise RuntimeError(
            f"isoform on a node of the cluster: expected version {version}, as in the "
            f"program that makes the index, got {isoform.__version__}"
        )
    files = [tuple(file) for file in json.loads(item["files"])]
    return {"rows": _core.read_corpus_files(files, follow_links=follow_links)}
