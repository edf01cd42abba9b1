"""Collections of models: an index as a Parquet file, and questions to the index.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from isoform import corpus, ir
    >>> from isoform.text import to_text
    >>> folder = tempfile.TemporaryDirectory()
    >>> root = Path(folder.name, "programs")
    >>> root.mkdir()
    >>> for name, dtype in [("a", "int8"), ("b", "int8"), ("c", "int16")]:
    ...     _ = root.joinpath(f"{name}.iso").write_text(to_text(ir.PrimType(dtype)))

The index has a row for each model, IR file and file of tensors:

    >>> report = corpus.index([root], Path(folder.name, "programs.parquet"))
    >>> report
    <CorpusReport: 3 rows, 3 read, 0 kept, 0 failed>
    >>> programs = corpus.CorpusIndex(Path(folder.name, "programs.parquet"))
    >>> [(Path(row.path).name, row.kind) for row in programs]
    [('a.iso', 'text'), ('b.iso', 'text'), ('c.iso', 'text')]

Questions are answered without reading a file again:

    >>> [[Path(row.path).name for row in group.rows] for group in programs.duplicates()]
    [['a.iso', 'b.iso']]
    >>> programs.statistics().programs
    2
    >>> folder.cleanup()

DuckDB, Polars and pandas read the file as it is; `sql` asks DuckDB.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from isoform._core import (
    CorpusBlock,
    CorpusGroup,
    CorpusIndex,
    CorpusReport,
    CorpusRow,
    CorpusStatistics,
    SharedBlock,
    update_corpus,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

__all__ = [
    "CorpusBlock",
    "CorpusGroup",
    "CorpusIndex",
    "CorpusReport",
    "CorpusRow",
    "CorpusStatistics",
    "SharedBlock",
    "index",
    "sql",
]


def index(
    roots: Iterable[str | PathLike[str]] | str | PathLike[str],
    output: str | PathLike[str],
    *,
    engine: Literal["local", "ray"] = "local",
    jobs: int | None = None,
    follow_links: bool = False,
    progress: Callable[[CorpusReport], object] | None = None,
    address: str | None = None,
) -> CorpusReport:
    """Make the index of a collection, or bring the index up to date.

    Files that did not change, by size and time, are not read. A file that cannot be read
    has a row with the reason. An update that was interrupted continues where it was.

    Args:
        roots: folders, files, archives (`.zip`, `.whl`), `store:URL` for the values of a
            store, and folders on servers, such as `s3:bucket/prefix`. Without roots, those
            of an index that exists.
        output: the Parquet file.
        engine: `"local"` reads the files with the threads of this process, `"ray"` with the
            processes of a Ray cluster, which needs `isoform[ray]`. The rows are the same.
        jobs: the number of files read at the same time; by default one per core.
        follow_links: whether external data may be a link that leads out of the folder of
            its model.
        progress: called with the numbers so far, several times a second. An exception ends
            the update.
        address: the address of a Ray cluster: `auto`, `HOST:PORT` from one of its nodes, or
            `ray://HOST:PORT` from elsewhere. By default the cluster that the program is
            connected with, that of `RAY_ADDRESS`, or a new one on this machine for the time
            of the update. All nodes reach the roots under the same names, and have the
            same version of Isoform.

    Returns:
        How many rows were written, read, kept and failed.

    Raises:
        OSError: if the index cannot be written.
        ValueError: if the index has other roots, the file is not an index, another process
            updates the index, or an argument is wrong.
        ImportError: if the engine is not installed.
    """
    if isinstance(roots, (str, os.PathLike)):
        roots = [roots]
    if not isinstance(roots, Iterable):
        raise TypeError(f"roots: expected paths, got {type(roots).__name__}")
    paths = [os.fspath(root) for root in roots]
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: expected a positive number, got {jobs}")
    if engine == "ray":
        from isoform._corpus_ray import index_with_ray

        return index_with_ray(
            paths,
            os.fspath(output),
            jobs=jobs,
            follow_links=follow_links,
            progress=progress,
            address=address,
        )
    if engine != "local":
        raise ValueError(f"engine: expected 'local' or 'ray', got {engine!r}")
    if address is not None:
        raise ValueError("address: expected the engine 'ray', got the engine 'local'")
    return update_corpus(
        paths,
        os.fspath(output),
        jobs=jobs or os.cpu_count() or 1,
        follow_links=follow_links,
        progress=progress,
    )


def sql(index: CorpusIndex | str | PathLike[str], query: str) -> Any:
    """Ask DuckDB; the rows are the table `files`.

    The columns are those of `CorpusRow`; operators, operator sets and elements are maps:
    `SELECT path, operators['Conv'] FROM files WHERE kind = 'onnx'`.

    Args:
        index: an index, or its path.
        query: a query of SQL.

    Returns:
        A relation of DuckDB, with `fetchall()`, `df()`, `pl()`, `arrow()`.

    Raises:
        ImportError: if DuckDB is not installed: `pip install isoform[corpus]`.
        OSError, ValueError: as `CorpusIndex`.
    """
    try:
        duckdb = import_module("duckdb")
    except ImportError as error:
        raise ImportError("sql needs DuckDB: pip install isoform[corpus]") from error
    if not isinstance(index, CorpusIndex):
        index = CorpusIndex(index)
    # DuckDB takes the name of a file for a pattern.
    pattern = glob.escape(index.path)
    if Path(index.path).is_dir():
        pattern += "/*.parquet"
    connection = duckdb.connect()
    connection.read_parquet(pattern).create_view("files")
    return connection.sql(query)
