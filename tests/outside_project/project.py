"""A project of its own."""

import isoform
from isoform import Object, ir, onnx, relay, structural_map, tir
from isoform.dataclasses import StrEnum, py_class


class Kind(StrEnum, type_key="project.Kind"):
    """Kinds."""

    SMALL = "small"


@py_class("project.Node")
class Node(Object):
    """A node."""

    kind: Kind


def renamed(node: Node) -> Node:
    """A node of another kind."""
    return structural_map(node, (Kind, lambda kind: Kind.SMALL))


def both(node: Node) -> tuple[bool, relay.Var, isoform.relay.Var]:
    """Dialects are there, in both ways to write them."""
    x = relay.var("x")
    return isoform.structural_equal(node, renamed(node)), x, isoform.relay.var("y")


def function_of(module: ir.IRModule, name: str) -> ir.BaseFunc:
    """Dialects export the types that Rust declares."""
    found: ir.BaseFunc = module[name]
    return found


def operators(graph: onnx.Graph, bound: tir.Var) -> tuple[onnx.Graph, tir.Var]:
    """The types of other dialects."""
    return graph, bound
