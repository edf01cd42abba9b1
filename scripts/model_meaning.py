"""The computation of an ONNX model, read off its messages without any compiler.

The fingerprint describes every output by the operators, attributes and constants it
depends on, and by the positions of the inputs. Names, order, documentation and nodes
nobody uses do not enter into it, and neither does whether two equal computations are
written once or twice. The script is independent of Isoform, to judge Isoform.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    numpy_helper,
)

TRAINING = "ai.onnx.preview.training"
# Before this version of the file format, every initializer had to be listed as an input too,
# and was a constant nevertheless; since then, a listed initializer is a default.
FIRST_IR_VERSION_WITH_DEFAULTS = 4
FunctionKey = tuple[str, str, str]


# --------------------------------------------------------------------------------------
# What the messages mean
# --------------------------------------------------------------------------------------


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """Yield the graphs in the attributes of a node, with a label for each."""
    for attr in node.attribute:
        if attr.type == AttributeProto.GRAPH:
            yield attr.name, attr.g
        elif attr.type == AttributeProto.GRAPHS:
            for index, graph in enumerate(attr.graphs):
                yield f"{attr.name}[{index}]", graph


def names_values(node: NodeProto, attr: AttributeProto) -> bool:
    """Tell whether an attribute holds names of values, as the attributes of Gradient do."""
    return node.op_type == "Gradient" and node.domain == TRAINING and attr.name in ("xs", "zs", "y")


def names_in(attr: AttributeProto) -> list[str]:
    """Return the strings of an attribute that names values."""
    texts = [attr.s] if attr.type == AttributeProto.STRING else attr.strings
    return [text.decode() for text in texts]


def constants_of(graph: GraphProto) -> Iterator[str]:
    """Yield the names of all initializers of a graph."""
    for tensor in graph.initializer:
        yield tensor.name
    for sparse in graph.sparse_initializer:
        yield sparse.values.name


def references(node: NodeProto) -> set[str]:
    """Collect every name read by a node, including captures of its subgraphs."""
    found = {name for name in node.input if name}
    for attr in node.attribute:
        if names_values(node, attr):
            found.update(names_in(attr))
    for _, graph in subgraphs(node):
        found |= captures(graph)
    return found


def captures(graph: GraphProto) -> set[str]:
    """Collect the names that a subgraph reads from the enclosing graphs."""
    defined = {value.name for value in graph.input} | set(constants_of(graph))
    found: set[str] = set()
    for node in graph.node:
        found |= references(node) - defined
        defined.update(node.output)
    found |= {value.name for value in graph.output} - defined
    return found


def function_key(item: FunctionProto) -> FunctionKey:
    """Return the name by which a node calls a function."""
    return (item.domain, item.name, item.overload)


def node_key(node: NodeProto) -> FunctionKey:
    """Return the function a node would call."""
    return (node.domain, node.op_type, node.overload)


# --------------------------------------------------------------------------------------
# Fingerprint: an independent, sharing-blind description of what a model computes
# --------------------------------------------------------------------------------------


def digest(*parts: Any) -> bytes:
    """Hash a tuple of bytes, strings, numbers and nested tuples unambiguously."""
    state = blake2b(digest_size=16)

    def feed(part: Any) -> None:
        if isinstance(part, (tuple, list)):
            state.update(b"(%d" % len(part))
            for item in part:
                feed(item)
        else:
            data = part if isinstance(part, bytes) else repr(part).encode()
            state.update(b"%s%d:" % (type(part).__name__.encode(), len(data)))
            state.update(data)

    feed(parts)
    return state.digest()


def tensor_digest(tensor: TensorProto) -> bytes:
    """Hash the type, shape and elements of a tensor, however they are stored."""
    if tensor.data_type == TensorProto.STRING:
        return digest("strings", tuple(tensor.dims), tuple(tensor.string_data))
    array = np.ascontiguousarray(numpy_helper.to_array(tensor))
    return digest("tensor", tensor.data_type, tuple(tensor.dims), array.tobytes())


@dataclass
class Site:
    """A node with the place, and the values visible to the node."""

    path: str
    index: int
    node: NodeProto
    available: dict[str, bytes]
    opsets: dict[str, int]

    def describe(self) -> dict[str, Any]:
        """Say where the node is, for the report."""
        return {
            "graph": self.path,
            "index": self.index,
            "node": self.node.name,
            "output": next(iter(self.node.output), ""),
            "op_type": self.node.op_type,
        }


@dataclass
class Fingerprint:
    """Walks a model once, hashing values and collecting nodes."""

    model: ModelProto
    sites: list[Site] = field(default_factory=list)
    outputs: list[bytes] = field(default_factory=list)
    _functions: dict[FunctionKey, FunctionProto] = field(default_factory=dict)
    _done: dict[FunctionKey, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Hash the whole model."""
        self._functions = {function_key(item): item for item in self.model.functions}
        opsets = {item.domain: item.version for item in self.model.opset_import}
        graph = self.model.graph
        types = tuple(
            value.type.SerializeToString(deterministic=True)
            for values in (self._inputs(graph), graph.output)
            for value in values
        )
        self.outputs = self._graph(graph, "main", {}, opsets)
        self.value = digest(tuple(sorted(opsets.items())), types, tuple(self.outputs))

    def _inputs(self, graph: GraphProto) -> list[ValueInfoProto]:
        if self.model.ir_version >= FIRST_IR_VERSION_WITH_DEFAULTS:
            return list(graph.input)
        constants = set(constants_of(graph))
        return [value for value in graph.input if value.name not in constants]

    def _graph(
        self, graph: GraphProto, path: str, outer: dict[str, bytes], opsets: dict[str, int]
    ) -> list[bytes]:
        env = dict(outer)
        constants = {tensor.name: tensor_digest(tensor) for tensor in graph.initializer}
        for sparse in graph.sparse_initializer:
            parts = (tensor_digest(sparse.values), tensor_digest(sparse.indices))
            constants[sparse.values.name] = digest("sparse", parts, tuple(sparse.dims))
        env.update(constants)
        depth = path.count("/")
        for index, value in enumerate(self._inputs(graph)):
            # An initializer that is also an input is only a default the caller may replace.
            env[value.name] = digest("input", depth, index, constants.get(value.name, b""))
        self._nodes(graph.node, path, env, opsets)
        return [env.get(value.name, b"missing") for value in graph.output]

    def _nodes(
        self, nodes: Iterable[NodeProto], path: str, env: dict[str, bytes], opsets: dict[str, int]
    ) -> None:
        for index, node in enumerate(nodes):
            self.sites.append(Site(path, index, node, dict(env), opsets))
            attributes = sorted(
                (attr.name, self._attribute(node, attr, f"{path}/{index}", env, opsets))
                for attr in node.attribute
            )
            inputs = tuple(env.get(name, b"missing") if name else b"" for name in node.input)
            while inputs and not inputs[-1]:
                inputs = inputs[:-1]
            value = digest(self._operator(node), attributes, inputs)
            for position, name in enumerate(node.output):
                if name:
                    env[name] = digest(value, position)

    def _operator(self, node: NodeProto) -> Any:
        key = node_key(node)
        item = self._functions.get(key)
        if item is None:
            return ("op", *key)
        if key not in self._done:
            self._done[key] = b"recursive"
            env = {name: digest("parameter", i) for i, name in enumerate(item.input)}
            opsets = {entry.domain: entry.version for entry in item.opset_import}
            self._nodes(item.node, f"function {item.domain}.{item.name}", env, opsets)
            defaults = sorted(
                (attr.name, self._attribute(NodeProto(), attr, "", {}, opsets))
                for attr in item.attribute_proto
            )
            self._done[key] = digest(
                "function",
                item.domain,
                tuple(sorted(opsets.items())),
                tuple(sorted(item.attribute)),
                defaults,
                tuple(env.get(name, b"missing") for name in item.output),
            )
        return ("function", self._done[key])

    def _attribute(
        self,
        node: NodeProto,
        attr: AttributeProto,
        path: str,
        env: dict[str, bytes],
        opsets: dict[str, int],
    ) -> bytes:
        if names_values(node, attr):
            return digest("names", tuple(env.get(n, b"missing") for n in names_in(attr)))
        if attr.ref_attr_name:
            return digest("reference", attr.type, attr.ref_attr_name)
        kind = AttributeProto
        match attr.type:
            case kind.GRAPH | kind.GRAPHS:
                graphs = [attr.g] if attr.type == kind.GRAPH else list(attr.graphs)
                bodies = [
                    digest(
                        len(graph.input),
                        tuple(self._graph(graph, f"{path}.{attr.name}{i or ''}", env, opsets)),
                    )
                    for i, graph in enumerate(graphs)
                ]
                return digest("graphs", tuple(bodies))
            case kind.TENSOR:
                return tensor_digest(attr.t)
            case kind.TENSORS:
                return digest("tensors", tuple(tensor_digest(t) for t in attr.tensors))
            case _:
                plain = AttributeProto()
                plain.CopyFrom(attr)
                plain.ClearField("doc_string")
                return digest("plain", plain.SerializeToString(deterministic=True))
