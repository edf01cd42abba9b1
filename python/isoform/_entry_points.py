"""Packages that declare node types for the command: entry points of the group `isoform.types`.

    [project.entry-points."isoform.types"]
    mypkg = "mypkg.ir"

The name of an entry point is the beginning of the keys of its types, up to a dot. A file with
a type `mypkg.Add` thus imports this module and no other; only if a type is unknown after
that, the others are imported, too.
"""

from __future__ import annotations

import sys
from importlib.metadata import DistributionFinder, EntryPoint, MetadataPathFinder
from pathlib import Path

__all__ = ["find_types"]

GROUP = "isoform.types"


def find_types(keys: list[str]) -> list[str]:
    """Import what may declare types with these keys, and return notes about failures."""
    from isoform import _core

    def unknown() -> list[str]:
        known = set(_core.registered_type_keys())
        return [key for key in keys if key not in known]

    found = sorted(_entry_points(), key=lambda entry: (-len(entry.name), entry.name, entry.value))
    named = [entry for entry in found if any(_serves(entry, key) for key in keys)]
    others = [entry for entry in found if entry not in named]
    notes: list[str] = []
    for entry in named:
        if any(_serves(entry, key) for key in unknown()):
            notes += _load(entry)
    for entry in others:
        if not unknown():
            break
        notes += _load(entry)
    return notes


def _serves(entry: EntryPoint, key: str) -> bool:
    return key == entry.name or key.startswith(f"{entry.name}.")


def _entry_points() -> list[EntryPoint]:
    """The entry points of installed packages.

    The current folder, which `python -m` adds to the path, is left out: what lies there is
    not installed, and may come from somebody else.
    """
    current = Path.cwd()
    path = [entry for entry in sys.path if entry and Path(entry).resolve() != current]
    found: dict[tuple[str, str], EntryPoint] = {}
    names: set[str] = set()
    context = DistributionFinder.Context(path=path)
    for distribution in MetadataPathFinder.find_distributions(context):
        entries = [entry for entry in distribution.entry_points if entry.group == GROUP]
        # The name is read late: it takes longer than the entry points of most packages.
        name = distribution.metadata["Name"] if entries else None
        # The first package of a name is the one that is imported.
        if name is None or name in names:
            continue
        names.add(name)
        for entry in entries:
            found.setdefault((entry.name, entry.value), entry)
    return list(found.values())


def _load(entry: EntryPoint) -> list[str]:
    from isoform._importing import import_module

    failure = import_module(entry.module, None)
    if failure is None:
        return []
    package = f" of the package {entry.dist.name}" if entry.dist is not None else ""
    first = failure.partition("\n")[0]
    return [f"the entry point '{entry.name} = {entry.value}'{package} failed: {first}"]
