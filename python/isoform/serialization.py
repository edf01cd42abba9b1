"""Values in files: JSON graphs for other programs, and a compact binary form.

Both keep sharing, and both are read back into equal values:

    >>> from isoform import serialization, structural_equal
    >>> text = serialization.to_json_graph_str([1, {"k": 2.5}])
    >>> structural_equal(serialization.from_json_graph_str(text), [1, {"k": 2.5}])
    True
    >>> data = serialization.to_bytes([1, "a"])
    >>> list(serialization.from_bytes(data))
    [1, 'a']

Objects are pickled in the binary form, with the names of the modules that
declare their classes, which are imported when the pickle is read. A class of a
script (`__main__`), or inside a function, cannot be found in that way.

`docs/evolution.md` says which files the later versions of a class can read.
"""

from __future__ import annotations

import functools
import io
import pickle
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform._core import (
    from_bytes,
    from_json_graph_str,
    json_graph_metadata,
    to_bytes,
    to_json_graph_str,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer

__all__ = [
    "from_bytes",
    "from_json_graph_str",
    "json_graph_metadata",
    "loads",
    "to_bytes",
    "to_json_graph_str",
]

_READERS = ("_from_pickle", "_from_pickle_apart")


def loads(
    data: Buffer, *, ignore_unknown_fields: bool = False, buffers: Iterable[Any] | None = None
) -> Any:
    """The value of a pickle: `pickle.loads`, which can skip fields that a class no longer has.

    As `pickle.loads`, only for data from trusted sources.

    Args:
        data: a pickle, which may contain objects of Isoform anywhere.
        ignore_unknown_fields: skip fields that the type of an object does not have.
        buffers: those kept beside a pickle of protocol 5, if any.

    Raises:
        ValueError: an unknown field without `ignore_unknown_fields`, or damaged data.
        TypeError: an unknown type, a missing field without default, or a value that does
            not fit.
        ImportError: a type that its module no longer declares.

    O(length).

    >>> import pickle
    >>> from isoform import serialization
    >>> list(serialization.loads(pickle.dumps([1, 2]), ignore_unknown_fields=True))
    [1, 2]
    """
    with io.BytesIO(data) as file:
        return _Unpickler(file, ignore_unknown_fields, buffers).load()


class _Unpickler(pickle.Unpickler):
    def __init__(
        self, file: io.BytesIO, ignore_unknown: bool, buffers: Iterable[Any] | None
    ) -> None:
        super().__init__(file, buffers=buffers)
        self._ignore_unknown = ignore_unknown

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name == _core.__name__ and global_name in _READERS:
            read = getattr(_core, global_name)
            return functools.partial(read, ignore_unknown_fields=self._ignore_unknown)
        return super().find_class(module_name, global_name)
