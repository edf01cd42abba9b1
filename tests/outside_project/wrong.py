"""A wrong call, which checkers report: the types of the package are not `Any`."""

from project import Kind, Node

Node(kind=3)
Node(kind=Kind.SMALL)
