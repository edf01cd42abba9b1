"""Programs as JSON, as bytes and as pickles: sharing is kept, and nothing is lost.

The JSON is the graph format of tvm-ffi, so files go both ways. The bytes are for
caches: compact, versioned and checksummed.
"""

import copy
import pickle
from typing import Any

from isoform import structural_digest, structural_equal
from isoform.dataclasses import Object, field, py_class
from isoform.serialization import from_bytes, from_json_graph_str, to_bytes, to_json_graph_str


@py_class("serialization_example.Int")
class Int(Object):
    """A number."""

    value: int


@py_class("serialization_example.Add")
class Add(Object):
    """A sum."""

    lhs: Any
    rhs: Any
    comment: str = field(default="", structural_eq="ignore")


def doubled(levels: int) -> Any:
    """Make `x + x` of `x = y + y` of ...: as many nodes as levels, but 2^levels paths."""
    node: Any = Int(1)
    for _ in range(levels):
        node = Add(node, node)
    return node


def main() -> None:
    """Write and read a program in every form."""
    program = doubled(60)
    text, data = to_json_graph_str(program), to_bytes(program)
    print(f"60 levels: {len(text)} characters of JSON, {len(data)} bytes")

    for read in (
        from_json_graph_str(text),
        from_bytes(data),
        pickle.loads(pickle.dumps(program)),
        copy.deepcopy(program),
    ):
        assert read is not program
        assert read.lhs is read.rhs
        assert structural_equal(program, read)
        # The digest is the same in every process and on every machine.
        assert structural_digest(program) == structural_digest(read)
    print("all forms give the same program back, with its sharing")

    try:
        from_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    except ValueError as error:
        print("a damaged file is refused:", error)
    else:
        raise AssertionError("a damaged file was read")


if __name__ == "__main__":
    main()
