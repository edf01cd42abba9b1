"""From the text of a schema, as written by the native side, to a `TypeSchema`."""

from __future__ import annotations

import ast

from ._schema import TypeSchema


def parse(text: str) -> TypeSchema:
    """The schema that `TypeSchema.repr` wrote.

    Takes linear time in the length of the text.

    Args:
        text: the text of a schema, for example `"Array[demo.Var | None]"`.

    Raises:
        ValueError: the text describes no schema.

    Example:
        >>> parse("Map[str, demo.Var | None]").args[1].args
        (demo.Var,)
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        # A type key need not be made of identifiers.
        return TypeSchema(text)
    return _read(tree, text)


def _read(node: ast.expr, text: str) -> TypeSchema:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_read(part, text) for part in _alternatives(node)])
    if isinstance(node, ast.Constant) and node.value is None:
        return TypeSchema("None")
    if isinstance(node, ast.Subscript):
        origin = ast.unparse(node.value)
        inner = node.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if origin == "Literal":
            return TypeSchema(origin, values=tuple(ast.literal_eval(part) for part in parts))
        if origin == "Callable":
            return TypeSchema(origin)
        return TypeSchema(origin, tuple(_read(part, text) for part in parts))
    if isinstance(node, (ast.Name, ast.Attribute)):
        return TypeSchema(ast.unparse(node))
    raise ValueError(f"no schema: {text!r}")


def _alternatives(node: ast.expr) -> list[ast.expr]:
    found: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        found.append(node.right)
        node = node.left
    return [node, *reversed(found)]


def _union(parts: list[TypeSchema]) -> TypeSchema:
    some = [part for part in parts if part.origin != "None"]
    if not some:
        return TypeSchema("None")
    whole = some[0] if len(some) == 1 else TypeSchema("Union", tuple(some))
    return whole if len(some) == len(parts) else TypeSchema("Optional", (whole,))
