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
"""

from isoform._core import (
    from_bytes,
    from_json_graph_str,
    json_graph_metadata,
    to_bytes,
    to_json_graph_str,
)

__all__ = [
    "from_bytes",
    "from_json_graph_str",
    "json_graph_metadata",
    "to_bytes",
    "to_json_graph_str",
]
