"""Graphs of torch.fx as values, with digests that mean the same in every process.

    key = isoform.structural_digest(isoform.fx.program(graph_module.graph))

The names of nodes do not matter, nor does the order of independent nodes or a node that
nothing uses; whether a result is shared or computed twice does. After a node with effects,
the order counts.

torch is not imported here: a graph is an object with `nodes`, and a node an object with
`op`, `target`, `args`, `kwargs` and `name`, as torch.fx documents them.

>>> import operator
>>> from types import SimpleNamespace as Node
>>> from isoform import structural_equal
>>> import isoform.fx
>>> def graph(name):
...     x = Node(op="placeholder", target=name, args=(), kwargs={}, name=name)
...     y = Node(op="call_function", target=operator.add, args=(x, 1), kwargs={}, name="add")
...     out = Node(op="output", target="output", args=(y,), kwargs={}, name="output")
...     return Node(nodes=[x, y, out])
>>> structural_equal(isoform.fx.program(graph("x")), isoform.fx.program(graph("renamed")))
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isoform.interop import Call, Constant, Input, Program, Record
from isoform.interop._record import Converter, importable_name

__all__ = ["program"]

_PARTS = ("op", "target", "args", "kwargs", "name")
_CALLS = ("call_function", "call_method", "call_module")


def program(
    graph: Any,
    *,
    attributes: Callable[[str], Any] | None = None,
    impure: Callable[[Any], bool] | None = None,
    on_unknown: Callable[[Any], Any] | None = None,
) -> Program:
    """The program of a graph, as a graph of calls.

    Functions count by the name under which they can be imported, and operators by their
    own name, so the versions of libraries belong into a key beside the program. A node has
    effects if its method `is_impure` says so, if it calls a method whose name ends with `_`
    (PyTorch's sign for changes in place) or `operator.setitem` and the like, or if its
    operator is declared to change an operand; it counts although nothing may use it, and
    later nodes come after it. Takes linear time in the size of the graph, of any depth.

    Args:
        graph: the graph, or an object that has it as `graph`, such as a `GraphModule`.
        attributes: returns the value of a parameter, a buffer or a module by its name in
            the graph. Without it, names count and contents do not: weights are then
            inputs, as they are for a compiler.
        impure: says whether a node has effects, instead of the rule above.
        on_unknown: returns what to convert instead of an object whose fields are unknown.

    Raises:
        TypeError: the object is not a graph, or an argument has no value; the message
            names the node, the argument and the class.
        ValueError: a node uses a node that does not come before it, or there is no output.
    """
    graph = graph if hasattr(graph, "nodes") else getattr(graph, "graph", graph)
    if not hasattr(graph, "nodes"):
        raise TypeError(
            f"isoform.fx.program: expected a graph with nodes, got {type(graph).__name__}"
        )
    return _Reader(attributes, impure or _is_impure, on_unknown).read(graph)


def _is_node(obj: Any) -> bool:
    return all(hasattr(obj, part) for part in _PARTS)


class _Reader:
    def __init__(
        self,
        attributes: Callable[[str], Any] | None,
        impure: Callable[[Any], bool],
        on_unknown: Callable[[Any], Any] | None,
    ) -> None:
        self._attributes = attributes
        self._impure = impure
        self._values: dict[int, Any] = {}
        self._converter = Converter(
            "isoform.fx.program", on_unknown=on_unknown, special=self._special
        )

    def read(self, graph: Any) -> Program:
        """The program; nodes are in an order in which operands come first."""
        inputs: list[Input] = []
        effects: list[Call] = []
        outputs: Any = None
        has_output = False
        nodes = list(graph.nodes)
        for node in nodes:
            if not _is_node(node):
                raise TypeError(
                    f"isoform.fx.program: expected a node with {', '.join(_PARTS)}, got "
                    f"{type(node).__name__}"
                )
            place = f"%{node.name}"
            if node.op == "output":
                # Nodes after the output are never run.
                outputs, has_output = self._convert(node.args[0], f"{place}.args[0]"), True
                break
            if node.op == "placeholder":
                # A default value is an argument of a placeholder.
                made: Any = Input(self._convert(tuple(node.args), f"{place}.args"))
                inputs.append(made)
            elif node.op == "get_attr":
                made = Constant(self._attribute(node, place), None)
            elif node.op in _CALLS:
                made = self._call(node, place, effects[-1] if effects else None)
                if self._impure(node):
                    effects.append(made)
            else:
                raise TypeError(f"isoform.fx.program: {place}: unknown operation '{node.op}'")
            self._values[id(node)] = made
        if not has_output:
            raise ValueError("isoform.fx.program: the graph has no output")
        return Program(inputs, outputs, effects)

    def _convert(self, value: Any, place: str) -> Any:
        return self._converter.convert(value, place)

    def _attribute(self, node: Any, place: str) -> Any:
        if self._attributes is None:
            return Record("attribute", {"name": node.target})
        return self._convert(self._attributes(node.target), f"{place}.target")

    def _call(self, node: Any, place: str, after: Any) -> Call:
        options = self._convert(dict(node.kwargs), f"{place}.kwargs")
        args = self._convert(tuple(node.args), f"{place}.args")
        if node.op == "call_module":
            module = self._attribute(node, place)
            return Call("call_module", [module, *args], options, None, after)
        if node.op == "call_method":
            return Call(f".{node.target}", args, options, None, after)
        name = _target_name(node.target)
        if name is None:
            # Raises, unless the user has a value for it.
            target = self._convert(node.target, f"{place}.target")
            return Call("call_function", [target, *args], options, None, after)
        return Call(name, args, options, None, after)

    def _special(self, obj: Any) -> tuple[Any] | None:
        if _is_node(obj):
            value = self._values.get(id(obj))
            if value is None:
                raise ValueError(
                    f"isoform.fx.program: %{obj.name} is used before it is computed; "
                    "graph.lint() says where"
                )
            return (value,)
        kind = type(obj)
        if kind.__module__ == "torch" and kind.__name__ in _BY_TEXT:
            return (Record(f"torch.{kind.__name__}", {"name": str(obj)}),)
        if kind.__module__ == "torch" and kind.__name__ == "Size":
            return (self._converter.convert(tuple(obj)),)
        if callable(obj):
            name = _target_name(obj)
            return None if name is None else (Record("function", {"name": name}),)
        return None


# Classes of torch whose text is their value: `torch.float32`, `cuda:0`, `torch.strided`.
_BY_TEXT = ("dtype", "device", "layout", "memory_format", "qscheme")


def _target_name(target: Any) -> str | None:
    """The name of a function or an operator; None for functions without one."""
    if hasattr(target, "_schema") and callable(getattr(target, "name", None)):
        # An operator such as `torch.ops.aten.add.Tensor`.
        return str(target.name())
    name = importable_name(target)
    if name is None:
        return None
    # `operator` has its functions from a module in C.
    return name.replace("_operator.", "operator.", 1) if name.startswith("_operator.") else name


def _is_impure(node: Any) -> bool:
    """True if a node has an effect besides its result."""
    said = getattr(node, "is_impure", None)
    if callable(said) and said():
        return True
    if node.op == "call_method":
        return node.target.endswith("_") and not node.target.endswith("__")
    if node.op != "call_function":
        return False
    schema = getattr(node.target, "_schema", None)
    if schema is not None:
        return bool(getattr(schema, "is_mutable", False))
    name = _target_name(node.target) or ""
    module, _, last = name.rpartition(".")
    if module == "operator":
        return last in ("setitem", "delitem") or (last.startswith("i") and last[1:] in _IN_PLACE)
    return last.endswith("_") and not last.endswith("__")


_IN_PLACE = frozenset(
    [
        "add",
        "and",
        "concat",
        "floordiv",
        "lshift",
        "matmul",
        "mod",
        "mul",
        "or",
        "pow",
        "rshift",
        "sub",
        "truediv",
        "xor",
    ]
)
