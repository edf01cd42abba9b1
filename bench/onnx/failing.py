"""Tell whether a model has a failure, by status 1; for commands that reduce models.

    python failing.py FAILURE LOG MODEL

Reads the file format itself, because a check runs hundreds of times. LOG gets a line for
each run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

Node = tuple[str, list[str], list[str], list[bytes]]


def fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the fields of a message that have a length, with their numbers."""

    def varint(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value, at

    at = 0
    while at < len(data):
        key, at = varint(at)
        kind = key & 7
        if kind == 0:
            _, at = varint(at)
        elif kind == 2:
            length, at = varint(at)
            yield key >> 3, data[at : at + length]
            at += length
        else:
            at += {1: 8, 5: 4}[kind]


def parse(data: bytes) -> Node:
    """Return the operator, the inputs, the outputs and the graphs of a node."""
    op, inputs, outputs, graphs = "", [], [], []
    for number, part in fields(data):
        if number == 1:
            inputs.append(part.decode())
        elif number == 2:
            outputs.append(part.decode())
        elif number == 4:
            op = part.decode()
        elif number == 5:
            graphs += [graph for kind, graph in fields(part) if kind == 6]
    return op, inputs, outputs, graphs


def read(path: Path) -> tuple[list[str], list[list[int]]]:
    """Return the operators of all nodes, and the nodes that each one uses."""
    graphs = [part for number, part in fields(path.read_bytes()) if number == 7]
    nodes: list[Node] = []
    makers: dict[str, int] = {}
    results: dict[int, list[str]] = {}
    pending = [(graph, -1) for graph in graphs]
    for graph, owner in pending:
        for number, part in fields(graph):
            if number == 1:
                node = parse(part)
                makers |= dict.fromkeys(node[2], len(nodes))
                pending += [(inner, len(nodes)) for inner in node[3]]
                nodes.append(node)
            elif number == 12 and owner >= 0:
                names = [name.decode() for kind, name in fields(part) if kind == 1]
                results.setdefault(owner, []).extend(names)
    used = [
        [makers[name] for name in node[1] + results.get(at, []) if name in makers]
        for at, node in enumerate(nodes)
    ]
    return [node[0] for node in nodes], used


def has_row(ops: list[str], used: list[list[int]], row: list[str]) -> bool:
    """Tell whether nodes with these operators use each other, the last one first."""
    here = [at for at, op in enumerate(ops) if op == row[-1]]
    for wanted in reversed(row[:-1]):
        here = [source for at in here for source in used[at] if ops[source] == wanted]
    return bool(here)


def has_path(ops: list[str], used: list[list[int]], first: str, last: str) -> bool:
    """Tell whether a node with one operator needs one with another."""
    stack = [at for at, op in enumerate(ops) if op == last]
    seen = set(stack)
    while stack:
        at = stack.pop()
        if ops[at] == first:
            return True
        new = [source for source in used[at] if source not in seen]
        seen.update(new)
        stack += new
    return False


def fails(failure: str, ops: list[str], used: list[list[int]]) -> bool:
    """Tell whether a model has a failure."""
    if failure == "single":
        return "Erf" in ops
    if failure == "edge":
        return has_row(ops, used, ["Softsign", "Erf"])
    if failure == "row":
        return has_row(ops, used, ["Softsign", "Exp", "Erf"])
    if failure == "path":
        return has_path(ops, used, "Softsign", "Erf")
    assert failure == "apart", failure
    return {"Softsign", "Exp", "Erf"} <= set(ops)


if __name__ == "__main__":
    name, log, model = sys.argv[1:]
    with Path(log).open("a", encoding="utf-8") as file:
        file.write("run\n")
    sys.exit(fails(name, *read(Path(model))))
