"""The tools that keep bytes and results in a folder, with one interface."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import diskcache
import joblib

from isoform.store import Store, cached

Function = Callable[..., Any]


class Bytes(Protocol):
    """Bytes under names."""

    name: str

    def put(self, name: str, data: bytes) -> str:
        """Store bytes, and return the name for `get`."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return the bytes with a name."""
        ...


class OurBytes:
    """A store of Isoform, which names bytes by their digest and verifies them on reading."""

    name = "isoform"

    def __init__(self, folder: Path) -> None:
        self._store = Store.open(folder)

    def put(self, name: str, data: bytes) -> str:  # noqa: ARG002
        """Store bytes under their digest."""
        return self._store.put(data)

    def get(self, name: str) -> bytes | None:
        """Return verified bytes."""
        return self._store.get(name)


class DiskCacheBytes:
    """A cache of diskcache."""

    name = "diskcache"

    def __init__(self, folder: Path) -> None:
        self._cache = diskcache.Cache(str(folder))

    def put(self, name: str, data: bytes) -> str:
        """Store bytes under the given name."""
        self._cache.set(name, data)
        return name

    def get(self, name: str) -> bytes | None:
        """Return the bytes with a name."""
        return self._cache.get(name)


class BareFiles:
    """Files in the layout of the local storage of sccache, `a/b/abc…`.

    A temporary file is written and renamed, by the functions of Python. Compression and the
    work that sccache does besides are left out.
    """

    name = "bare files"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, name: str, data: bytes) -> str:
        """Write a temporary file, and rename it."""
        path = self._path(name)
        try:
            handle, partial = tempfile.mkstemp(dir=path.parent)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, partial = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(partial).replace(path)
        return name

    def get(self, name: str) -> bytes | None:
        """Read a file."""
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            return None

    def _path(self, name: str) -> Path:
        return self._folder / name[0] / name[1] / name


# Makes a function keep its results in a folder.
Keeping = Callable[[Path, Function], Function]


def by_isoform(folder: Path, function: Function) -> Function:
    """Keep results by `isoform.store.cached`."""
    return cached(folder, name="bench")(function)


def by_diskcache(folder: Path, function: Function) -> Function:
    """Keep results by `diskcache.Cache.memoize`."""
    return diskcache.Cache(str(folder)).memoize(name="bench")(function)


def by_joblib(folder: Path, function: Function) -> Function:
    """Keep results by `joblib.Memory`."""
    return joblib.Memory(str(folder), verbose=0).cache(function)


STORES: tuple[Callable[[Path], Bytes], ...] = (OurBytes, DiskCacheBytes, BareFiles)
KEEPINGS: dict[str, Keeping] = {
    "isoform": by_isoform,
    "diskcache": by_diskcache,
    "joblib.Memory": by_joblib,
}
