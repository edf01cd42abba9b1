"""Random trees and random edits of them, for judging differences by their size.

A tree has labels and children; the test decides the node types. The `name` of a node is
type and label, compared by the package `apted`. The root stays the root.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

# The maximal size of a tree: the largest drawn tree, and two more nodes for each of ten
# edits.
LARGEST = 60


@dataclass(eq=False)
class Tree:
    """A node with a label, and its parts in order."""

    label: int
    children: list[Tree] = field(default_factory=list)

    def __iter__(self) -> Iterator[Tree]:
        """Go over all nodes, parents first."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))

    def copy(self) -> Tree:
        """Copy all nodes."""
        copies: dict[int, Tree] = {}
        for node in reversed(list(self)):
            below = [copies[id(child)] for child in node.children]
            copies[id(node)] = type(self)(node.label, below)
        return copies[id(self)]


class Listed(Tree):
    """All children are in one list; any number of children has the same type."""

    @property
    def name(self) -> tuple[int, int]:
        """Two nodes with the same label are the same."""
        return 3, self.label


class Fielded(Tree):
    """Each child is a field; the number of children, at most two, decides the type."""

    @property
    def name(self) -> tuple[int, int]:
        """The type and the label."""
        return len(self.children), self.label


Edit = Callable[[random.Random, Tree, int], bool]


@dataclass(frozen=True)
class Family:
    """How the trees of a kind are drawn."""

    name: str
    node: type[Tree]
    # The number of different labels: with few of them, parts are alike by chance.
    labels: int
    # Chooses the parent of the next node among the nodes with room for a child.
    choose: Callable[[random.Random, list[Tree]], Tree]
    most_children: int
    is_edited: bool = True

    def draw(self, rng: random.Random) -> tuple[Tree, Tree]:
        """Return a tree and its edited copy, or two unrelated trees."""
        left = self.tree(rng)
        if not self.is_edited:
            return left, self.tree(rng)
        right = left.copy()
        edits = list_edits if self.node is Listed else field_edits
        for _ in range(rng.randint(1, 10)):
            while not rng.choice(edits)(rng, right, self.labels):
                pass
        return left, right

    def tree(self, rng: random.Random) -> Tree:
        """Draw a tree."""
        root = self.node(rng.randrange(self.labels))
        open_nodes = [root]
        for _ in range(rng.randint(9, LARGEST - 22)):
            parent = self.choose(rng, open_nodes)
            child = self.node(rng.randrange(self.labels))
            parent.children.insert(rng.randint(0, len(parent.children)), child)
            open_nodes.append(child)
            if len(parent.children) == self.most_children:
                open_nodes.remove(parent)
        return root


def any_of(rng: random.Random, nodes: list[Tree]) -> Tree:
    """Give bushy trees."""
    return rng.choice(nodes)


def recent(rng: random.Random, nodes: list[Tree]) -> Tree:
    """Give deep trees."""
    return rng.choice(nodes[-3:])


def early(rng: random.Random, nodes: list[Tree]) -> Tree:
    """Give flat trees with long lists."""
    return rng.choice(nodes[:3])


def families(labels: int) -> list[Family]:
    """Return the shapes with so many labels."""
    shapes = [
        ("bushy lists", Listed, any_of, 99),
        ("long lists", Listed, early, 99),
        ("deep lists", Listed, recent, 99),
        ("fields", Fielded, any_of, 2),
        ("deep fields", Fielded, recent, 2),
    ]
    return [
        Family(f"{name}, {labels} labels", node, labels, choose, most)
        for name, node, choose, most in shapes
    ]


def unrelated(labels: int) -> list[Family]:
    """Return families of unrelated pairs, whose trees share parts by chance only."""
    return [
        Family("unrelated lists", Listed, labels, any_of, 99, is_edited=False),
        Family("unrelated fields", Fielded, labels, any_of, 2, is_edited=False),
    ]


def places(root: Tree) -> list[tuple[Tree, int]]:
    """Return the parent and position of each node except the root."""
    return [(node, at) for node in root for at in range(len(node.children))]


def relabel(rng: random.Random, root: Tree, labels: int) -> bool:
    """Give a node another label."""
    node = rng.choice(list(root))
    node.label = (node.label + rng.randrange(1, labels)) % labels
    return True


def delete_leaf(rng: random.Random, root: Tree, labels: int) -> bool:
    """Take a leaf away."""
    found = [(node, at) for node, at in places(root) if not node.children[at].children]
    if len(found) < 4:
        return False
    node, at = rng.choice(found)
    del node.children[at]
    return True


def swap(rng: random.Random, root: Tree, labels: int) -> bool:
    """Exchange two children of a node."""
    found = [node for node in root if len(node.children) > 1]
    if not found:
        return False
    children = rng.choice(found).children
    one, other = rng.sample(range(len(children)), 2)
    children[one], children[other] = children[other], children[one]
    return True


def list_insert_leaf(rng: random.Random, root: Tree, labels: int) -> bool:
    """Add a leaf anywhere."""
    node = rng.choice(list(root))
    node.children.insert(rng.randint(0, len(node.children)), type(root)(rng.randrange(labels)))
    return True


def list_insert_inner(rng: random.Random, root: Tree, labels: int) -> bool:
    """Put a new node around some neighbours."""
    found = [node for node in root if node.children]
    if not found:
        return False
    children = rng.choice(found).children
    first = rng.randrange(len(children))
    end = rng.randint(first + 1, min(len(children), first + 4))
    children[first:end] = [type(root)(rng.randrange(labels), children[first:end])]
    return True


def list_delete_inner(rng: random.Random, root: Tree, labels: int) -> bool:
    """Put the children of a node in its place."""
    found = [(node, at) for node, at in places(root) if node.children[at].children]
    if not found:
        return False
    node, at = rng.choice(found)
    node.children[at : at + 1] = node.children[at].children
    return True


def list_move(rng: random.Random, root: Tree, labels: int) -> bool:
    """Take a part away and insert it elsewhere."""
    found = places(root)
    if not found:
        return False
    node, at = rng.choice(found)
    part = node.children.pop(at)
    target = rng.choice(list(root))
    target.children.insert(rng.randint(0, len(target.children)), part)
    return True


def field_insert_leaf(rng: random.Random, root: Tree, labels: int) -> bool:
    """Give a node one field more."""
    node = rng.choice([node for node in root if len(node.children) < 2])
    node.children.insert(rng.randint(0, len(node.children)), type(root)(rng.randrange(labels)))
    return True


def field_insert_inner(rng: random.Random, root: Tree, labels: int) -> bool:
    """Put a new node around a part, sometimes with another operand."""
    found = places(root)
    if not found:
        return False
    node, at = rng.choice(found)
    operands = [node.children[at]]
    if rng.random() < 0.5:
        operands.insert(rng.randint(0, 1), type(root)(rng.randrange(labels)))
    node.children[at] = type(root)(rng.randrange(labels), operands)
    return True


def field_delete_inner(rng: random.Random, root: Tree, labels: int) -> bool:
    """Put an operand in the place of a node with no other operand, or a small one."""
    found = [
        (node, at)
        for node, at in places(root)
        if node.children[at].children
        and all(len(list(child)) < 3 for child in node.children[at].children[1:])
    ]
    if not found:
        return False
    node, at = rng.choice(found)
    node.children[at] = node.children[at].children[0]
    return True


def field_move(rng: random.Random, root: Tree, labels: int) -> bool:
    """Exchange a part with a leaf outside of the part."""
    found = places(root)
    if not found:
        return False
    node, at = rng.choice(found)
    inside = {id(each) for each in node.children[at]}
    leaves = [
        (parent, where)
        for parent, where in found
        if not parent.children[where].children and id(parent.children[where]) not in inside
    ]
    if not leaves:
        return False
    parent, where = rng.choice(leaves)
    part, leaf = node.children[at], parent.children[where]
    node.children[at], parent.children[where] = leaf, part
    return True


list_edits: list[Edit] = [
    relabel,
    list_insert_leaf,
    list_insert_inner,
    list_delete_inner,
    delete_leaf,
    swap,
    list_move,
]
field_edits: list[Edit] = [
    relabel,
    field_insert_leaf,
    field_insert_inner,
    field_delete_inner,
    delete_leaf,
    swap,
    field_move,
]
