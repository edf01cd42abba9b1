"""The rows of the table: the measurements and their peers."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.measure import Timed, loop
from bench.workload import (
    ORDERS,
    PlainAdd,
    PlainInt,
    PlainNoted,
    Side,
    noted,
    path_copied,
    plain_body,
    positions,
)


@dataclass(frozen=True)
class Row:
    """One figure: the setup for a side, and the number of units of a call."""

    name: str
    units: int
    make: Callable[[Side], Timed]
    # The same for a dataclass with slots, where comparable.
    plain: Callable[[], Timed] | None = None
    # False for features missing in the peer.
    has_peer: bool = True
    # Another figure of Isoform to compare with in place of the peer.
    beside: tuple[str, Callable[[Side], Timed]] | None = None
    # The order of construction, if the row compares orders.
    order: str | None = None

    @property
    def title(self) -> str:
        """The name with the order of construction."""
        return self.name if self.order is None else f"{self.name}, {self.order}"


# The order that most builders have.
FIRST = "children first"
# Building for the peer takes seconds at this depth, so the other orders are omitted.
LARGE = 20


def rows(depths: tuple[int, ...]) -> Iterator[Row]:
    """Yield all rows."""
    for depth in depths:
        yield from graph_rows(depth)
    for order in ORDERS:
        yield from order_rows(depths[-1], order)
    if len(depths) > 1:
        yield from large_rows(LARGE, FIRST)
    yield from small_rows()
    for depth in depths:
        yield from beside_rows(depth)


def graph_rows(depth: int) -> Iterator[Row]:
    """Yield the figures of workload W of one depth, per node."""
    units = positions(depth)

    def row(
        name: str,
        make: Callable[[Side], Callable[[], object]],
        plain: Callable[[], Callable[[], object]] | None = None,
        *,
        has_peer: bool = True,
    ) -> Row:
        other = None if plain is None else lambda: loop(plain())
        return Row(f"{name}, d={depth}", units, lambda side: loop(make(side)), other, has_peer)

    def of_plain(function: Callable[[Any], object]) -> Callable[[], Callable[[], object]]:
        return lambda: of_body(function, depth)

    yield row(
        "build and drop", lambda side: lambda: side.build(depth), lambda: lambda: plain_body(depth)
    )
    yield row("structural_equal", lambda side: equal(side, depth), lambda: plain_equal(depth))
    yield row("structural_equal after an edit", lambda side: equal_edited(side, depth))
    yield row(
        "structural_hash",
        lambda side: of_one(side, depth, side.module.structural_hash),
        of_plain(hash),
    )
    for name, cls, note in NOTES:
        yield row(
            f"structural_equal, {name} in each node",
            lambda side, cls=cls, note=note: equal_noted(side, cls, note, depth),
            lambda note=note: plain_equal_noted(note, depth),
        )
        yield row(
            f"structural_hash, {name} in each node",
            lambda side, cls=cls, note=note: hash_noted(side, cls, note, depth),
        )
    yield row("StructuralKey", lambda side: of_one(side, depth, side.module.StructuralKey))
    yield row("structural_digest", lambda side: digest(side, depth), has_peer=False)
    yield row("get_first_structural_mismatch", lambda side: mismatch(side, depth))
    yield row("structural_walk, no callback matches", lambda side: walk(side, depth, side.Lambda))
    yield row("structural_walk, callback on integers", lambda side: walk(side, depth, side.Int))
    yield row("structural_map, integers replaced", lambda side: mapped(side, depth))
    yield row(
        "copy.deepcopy", lambda side: of_one(side, depth, copy.deepcopy), of_plain(copy.deepcopy)
    )
    yield row("to_text", lambda side: to_text(side, depth), of_plain(repr), has_peer=False)
    yield row("to_json_graph_str", lambda side: json_written(side, depth))
    yield row("from_json_graph_str", lambda side: json_read(side, depth))
    yield row(
        "pickle.dumps", lambda side: of_one(side, depth, pickle.dumps), of_plain(pickle.dumps)
    )
    yield row(
        "pickle.loads",
        lambda side: unpickled(side.build(depth)),
        lambda: unpickled(plain_body(depth)),
    )


def order_rows(depth: int, order: str) -> Iterator[Row]:
    """Yield what depends on where the nodes of a program lie in memory."""
    yield from large_rows(depth, order)
    units = positions(depth)

    def row(
        name: str, make: Callable[[Side], Callable[[], object]], *, has_peer: bool = True
    ) -> Row:
        title, timed = f"{name}, d={depth}", lambda side: loop(make(side))
        return Row(title, units, timed, has_peer=has_peer, order=order)

    yield row("structural_equal after an edit", lambda side: equal_edited(side, depth, order))
    yield row("StructuralKey", lambda side: of_one(side, depth, side.module.StructuralKey, order))
    yield row("structural_digest", lambda side: digest(side, depth, order), has_peer=False)
    yield row("get_first_structural_mismatch", lambda side: mismatch(side, depth, order))
    yield row(
        "structural_walk, callback on integers", lambda side: walk(side, depth, side.Int, order)
    )
    yield row("structural_map, integers replaced", lambda side: mapped(side, depth, order))
    yield row("to_text", lambda side: to_text(side, depth, order), has_peer=False)
    yield row("to_json_graph_str", lambda side: json_written(side, depth, order))
    yield row("pickle.dumps", lambda side: of_one(side, depth, pickle.dumps, order))


def large_rows(depth: int, order: str) -> Iterator[Row]:
    """Yield the figures that are also measured where little fits the cache."""
    units = positions(depth)

    def row(name: str, make: Callable[[Side], Callable[[], object]]) -> Row:
        return Row(f"{name}, d={depth}", units, lambda side: loop(make(side)), order=order)

    yield row("structural_equal", lambda side: equal(side, depth, order))
    yield row(
        "structural_hash", lambda side: of_one(side, depth, side.module.structural_hash, order)
    )
    yield row(
        "structural_walk, no callback matches", lambda side: walk(side, depth, side.Lambda, order)
    )
    yield row("copy.deepcopy", lambda side: of_one(side, depth, copy.deepcopy, order))
    yield row("structural_equal of two deep copies", lambda side: equal_copies(side, depth, order))


def beside_rows(depth: int) -> Iterator[Row]:
    """Yield figures of Isoform beside other figures of Isoform, on workload W, per node."""
    units = positions(depth)

    def row(
        name: str,
        make: Callable[[Side], Callable[[], object]],
        other: str,
        make_other: Callable[[Side], Callable[[], object]],
    ) -> Row:
        beside = (other, lambda side: loop(make_other(side)))
        return Row(f"{name}, d={depth}", units, lambda side: loop(make(side)), beside=beside)

    def hashed(side: Side) -> Callable[[], object]:
        return of_one(side, depth, side.module.structural_hash)

    yield row(
        "StructuralKey",
        lambda side: of_one(side, depth, side.module.StructuralKey),
        "structural_hash",
        hashed,
    )
    yield row("structural_digest", lambda side: digest(side, depth), "structural_hash", hashed)
    yield row(
        "get_first_structural_mismatch",
        lambda side: mismatch(side, depth),
        "structural_equal",
        lambda side: equal(side, depth),
    )
    yield row(
        "to_text",
        lambda side: to_text(side, depth),
        "to_json_graph_str",
        lambda side: json_written(side, depth),
    )
    (plain, plain_cls, plain_note), *others = NOTES
    for name, cls, note in others:
        yield row(
            f"structural_equal, {name} in each node",
            lambda side, cls=cls, note=note: equal_noted(side, cls, note, depth),
            f"{plain} in each node",
            lambda side: equal_noted(side, plain_cls, plain_note, depth),
        )
        yield row(
            f"structural_hash, {name} in each node",
            lambda side, cls=cls, note=note: hash_noted(side, cls, note, depth),
            f"{plain} in each node",
            lambda side: hash_noted(side, plain_cls, plain_note, depth),
        )


# The notes that the nodes of a tree can have besides their children: a plain number
# first.
NOTES: tuple[tuple[str, str, Callable[[], Any]], ...] = (
    ("an int", "WithInt", int),
    ("an empty list", "WithList", list),
    ("a list of 2", "WithList", lambda: [1, 2]),
    ("an empty dict", "WithDict", dict),
    ("a dict of 2", "WithDict", lambda: {"line": 1, "column": 2}),
)


def equal_copies(side: Side, depth: int, order: str) -> Callable[[], object]:
    """Compare two deep copies of one program."""
    program = side.build(depth, order=order)
    left, right = copy.deepcopy(program), copy.deepcopy(program)
    compare = side.module.structural_equal
    assert compare(left, right)
    return lambda: compare(left, right)


def equal(side: Side, depth: int, order: str = FIRST) -> Callable[[], object]:
    """Compare two equal programs that share nothing."""
    left, right = side.build(depth, order=order), side.build(depth, order=order)
    compare = side.module.structural_equal
    assert compare(left, right)
    return lambda: compare(left, right)


def equal_edited(side: Side, depth: int, order: str = FIRST) -> Callable[[], object]:
    """Compare a program with a copy that shares all except the path to its last leaf."""
    program = side.build(depth, order=order)
    edited = path_copied(side, program)
    compare = side.module.structural_equal
    assert compare(program, edited)
    return lambda: compare(program, edited)


def plain_equal(depth: int) -> Callable[[], object]:
    """Compare two equal bodies of dataclasses."""
    left, right = plain_body(depth), plain_body(depth)
    assert left == right
    return lambda: left == right


def plain_equal_noted(note: Callable[[], Any], depth: int) -> Callable[[], object]:
    """Compare two equal trees of dataclasses with a note each."""
    left, right = (noted(PlainNoted, note, depth) for _ in range(2))
    assert left == right
    return lambda: left == right


def of_body(function: Callable[[Any], object], depth: int) -> Callable[[], object]:
    """Call a function of a single body of dataclasses."""
    body = plain_body(depth)
    function(body)
    return lambda: function(body)


def equal_noted(side: Side, cls: str, note: Callable[[], Any], depth: int) -> Callable[[], object]:
    """Compare two equal trees with a note in each node."""
    left, right = (noted(getattr(side, cls), note, depth) for _ in range(2))
    compare = side.module.structural_equal
    assert compare(left, right)
    return lambda: compare(left, right)


def hash_noted(side: Side, cls: str, note: Callable[[], Any], depth: int) -> Callable[[], object]:
    """Hash a tree with a note in each node."""
    root, function = noted(getattr(side, cls), note, depth), side.module.structural_hash
    return lambda: function(root)


def mismatch(side: Side, depth: int, order: str = FIRST) -> Callable[[], object]:
    """Find the difference in the last integer."""
    left, right = side.build(depth, order=order), side.build(depth, last=1, order=order)
    find = side.module.get_first_structural_mismatch
    assert find(left, right) is not None
    return lambda: find(left, right)


def of_one(
    side: Side, depth: int, function: Callable[[Any], object], order: str = FIRST
) -> Callable[[], object]:
    """Call a function of one program."""
    program = side.build(depth, order=order)
    function(program)
    return lambda: function(program)


def walk(side: Side, depth: int, on: Any, order: str = FIRST) -> Callable[[], object]:
    """Walk a program, with a Python callback for the nodes of one class."""
    program = side.build(depth, order=order)
    structural_walk = side.module.structural_walk

    def callback(node: Any) -> None:
        pass

    return lambda: structural_walk(program, (on, callback))


def mapped(side: Side, depth: int, order: str = FIRST) -> Callable[[], object]:
    """Replace every integer, and consequently all nodes above."""
    program = side.build(depth, order=order)
    structural_map, integer = side.module.structural_map, side.Int
    new = integer(7)
    return lambda: structural_map(program, (integer, lambda _: new))


def digest(side: Side, depth: int, order: str = FIRST) -> Callable[[], object]:
    """Compute the portable name of a program."""
    return of_one(side, depth, side.module.structural_digest, order)


def to_text(side: Side, depth: int, order: str = FIRST) -> Callable[[], object]:
    """Write a program for people."""
    from isoform.text import to_text

    return of_one(side, depth, to_text, order)


def json_written(side: Side, depth: int, order: str = FIRST) -> Callable[[], object]:
    """Write a program as JSON."""
    return of_one(side, depth, side.module.serialization.to_json_graph_str, order)


def json_read(side: Side, depth: int) -> Callable[[], object]:
    """Read a program from its JSON, in the common form of both sides."""
    serialization = side.module.serialization
    text = serialization.to_json_graph_str(side.build(depth))
    return lambda: serialization.from_json_graph_str(text)


def unpickled(program: Any) -> Callable[[], object]:
    """Read a program from its pickle."""
    data = pickle.dumps(program)
    return lambda: pickle.loads(data)  # noqa: S301


def small_rows() -> Iterator[Row]:
    """Yield the figures of single operations, per call."""
    yield Row(
        "Add(a, b), create and drop",
        1,
        lambda side: create(side.Add, side.Int),
        lambda: create(PlainAdd, PlainInt),
    )
    yield Row(
        "read a.lhs",
        1,
        lambda side: read_object(side.Add(side.Int(1), side.Int(2))),
        lambda: read_object(PlainAdd(PlainInt(1), PlainInt(2))),
    )
    yield Row("read a.value", 1, lambda side: read_int(side.Int(1)), lambda: read_int(PlainInt(1)))
    yield Row("structural_equal of two leaves", 1, small_call)
    yield Row("type attribute by name", 1, lambda side: attribute(side, through_column=False))
    yield Row(
        "type attribute through a column", 1, lambda side: attribute(side, through_column=True)
    )


# These have their own loops, because calling a function would take longer than its
# work. The loop itself costs a few nanoseconds, on both sides.


def create(add: Any, integer: Any) -> Timed:
    """Make a node of two nodes, and drop the node."""
    a, b = integer(1), integer(2)

    def run(calls: int) -> None:
        for _ in range(calls):
            add(a, b)

    return run


def read_object(a: Any) -> Timed:
    """Read a field that holds a node."""

    def run(calls: int) -> None:
        for _ in range(calls):
            a.lhs  # noqa: B018

    return run


def read_int(a: Any) -> Timed:
    """Read a field that holds an integer."""

    def run(calls: int) -> None:
        for _ in range(calls):
            a.value  # noqa: B018

    return run


def small_call(side: Side) -> Timed:
    """Compare two leaves."""
    structural_equal, a, b = side.module.structural_equal, side.Int(1), side.Int(1)

    def run(calls: int) -> None:
        for _ in range(calls):
            structural_equal(a, b)

    return run


def attribute(side: Side, *, through_column: bool) -> Timed:
    """Look up an attribute of a known type."""
    name = "bench.cost"
    if side.module.__name__ == "isoform":
        attrs, of = side.module.type_attrs, side.Add
        attrs.set(of, name, 4, override=True)
        column = attrs.column(name)

        def run_column(calls: int) -> None:
            for _ in range(calls):
                column[of]

        def run_name(calls: int) -> None:
            for _ in range(calls):
                attrs.get(of, name)

        return run_column if through_column else run_name

    # The peer has no handle and no public lookup.
    core, index = side.module.core, side.Add.__tvm_ffi_type_info__.type_index
    look_up = core._lookup_type_attr
    if look_up(index, name) is None:
        core._register_type_attr(index, name, 4)

    def run_peer(calls: int) -> None:
        for _ in range(calls):
            look_up(index, name)

    return run_peer
