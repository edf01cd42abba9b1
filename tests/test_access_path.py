"""Access paths: building, printing, comparing, resolving, parsing."""

import pytest

import isoform
import nodes
from isoform.access_path import AccessKind, AccessPath, AccessStep
from nodes import Add, Box

ROOT = AccessPath.root()

TEXTS = [
    (ROOT, "<root>"),
    (ROOT.attr("a").array_item(1).map_item("k"), '<root>.a[1]["k"]'),
    (ROOT.attr_missing("a"), "<root>.<missing:a>"),
    (ROOT.array_item_missing(1), "<root>[<missing:1>]"),
    (ROOT.map_item_missing("b"), '<root>[<missing:"b">]'),
    (ROOT.map_item(True), "<root>[True]"),
    (ROOT.map_item(1.5), "<root>[1.5]"),
    (ROOT.map_item(b"x"), '<root>[b"x"]'),
    (ROOT.map_item(None), "<root>[None]"),
    (ROOT.map_item('a"b\\n'), '<root>["a\\"b\\\\n"]'),
]


@pytest.mark.parametrize(("path", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_text(path, text):
    assert str(path) == text
    assert repr(path) == text


def test_structure():
    path = ROOT.attr("a").array_item(2)
    assert isinstance(path, AccessPath)
    assert (ROOT.depth, path.depth) == (0, 2)
    assert ROOT.parent is None
    assert ROOT.step is None
    assert path.parent == ROOT.attr("a")
    assert isinstance(path.step, AccessStep)
    assert (path.step.kind, path.step.key) == (AccessKind.ARRAY_ITEM, 2)
    steps = path.to_steps()
    assert [(s.kind, s.key) for s in steps] == [(AccessKind.ATTR, "a"), (AccessKind.ARRAY_ITEM, 2)]


def test_kinds():
    names = [kind.name for kind in AccessKind]
    assert names == [
        "ATTR",
        "ARRAY_ITEM",
        "MAP_ITEM",
        "ATTR_MISSING",
        "ARRAY_ITEM_MISSING",
        "MAP_ITEM_MISSING",
    ]
    assert [int(kind) for kind in AccessKind] == list(range(6))
    made = [
        ROOT.attr("a"),
        ROOT.array_item(1),
        ROOT.map_item("k"),
        ROOT.attr_missing("a"),
        ROOT.array_item_missing(1),
        ROOT.map_item_missing("k"),
    ]
    assert [path.step.kind for path in made] == list(AccessKind)


def test_prefixes():
    path = ROOT.attr("a")
    longer = path.attr("b")
    assert path.is_prefix_of(longer)
    assert path.is_prefix_of(path)
    assert ROOT.is_prefix_of(longer)
    assert not longer.is_prefix_of(path)
    assert not ROOT.attr("b").is_prefix_of(longer)


def test_equality_and_hash_agree():
    one, two = ROOT.attr("a").array_item(1), ROOT.attr("a").array_item(1)
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1
    different = [
        ROOT,
        ROOT.attr("a"),
        ROOT.attr("b"),
        ROOT.attr_missing("a"),
        ROOT.map_item("a"),
        ROOT.array_item(1),
        ROOT.array_item_missing(1),
        ROOT.map_item(1),
        ROOT.map_item(1.0),
        ROOT.map_item(True),
        ROOT.attr("a").attr("a"),
    ]
    assert len(set(different)) == len(different)
    assert ROOT != "<root>"
    left, right = isoform.get_first_structural_mismatch([1, [2]], [1, [3]])
    assert left == right
    assert len({left, right}) == 1


def test_get():
    inner = Box({"k": [1, 2]})
    root = Add(inner, isoform.Dict({1: "one"}))
    assert ROOT.get(root) is root
    assert ROOT.attr("lhs").get(root) is inner
    assert ROOT.attr("lhs").attr("v").map_item("k").array_item(1).get(root) == 2
    assert ROOT.attr("rhs").map_item(1).get(root) == "one"


@pytest.mark.parametrize(
    ("path", "error", "match"),
    [
        (ROOT.attr("nope"), (AttributeError, ValueError, KeyError), "nope"),
        (ROOT.attr("lhs").array_item(9), (IndexError, ValueError), "9"),
        (ROOT.attr("rhs").map_item("zz"), (KeyError, ValueError), "zz"),
        (ROOT.attr("lhs").map_item("k"), (TypeError, ValueError, KeyError), "lhs"),
        (ROOT.array_item(0), (TypeError, ValueError, IndexError), "0"),
        (ROOT.attr_missing("lhs"), (AttributeError, ValueError, KeyError), "lhs"),
    ],
    ids=str,
)
def test_get_fails_with_the_step(path, error, match):
    with pytest.raises(error, match=match):
        path.get(Add([1], {"k": 1}))


@pytest.mark.parametrize(
    "text",
    [
        "<root",
        "<root>[",
        '<root>["a]',
        "<root>[]",
        "<root>[1] ",
    ],
)
def test_parse_refuses(text):
    with pytest.raises(ValueError):
        AccessPath.parse(text)


def test_object_keys_print_but_do_not_parse():
    box = Box(1)
    path = ROOT.map_item(box)
    assert str(path).startswith("<root>[")
    assert path.get(isoform.Map({box: "v"})) == "v"
    with pytest.raises(ValueError):
        AccessPath.parse(str(path))


def test_mismatch_paths_resolve():
    left = Box({"k": [1, Add(1, [2, 3])]})
    right = Box({"k": [1, Add(1, [2, 4])]})
    one, two = isoform.get_first_structural_mismatch(left, right)
    assert (one.get(left), two.get(right)) == (3, 4)
    assert AccessPath.parse(str(one)).get(left) == 3


def test_long_paths():
    left, right = nodes.chain(10_000, 1), nodes.chain(10_000, 2)
    path, _ = isoform.get_first_structural_mismatch(left, right)
    assert path.depth == 10_000
    assert path.get(left) == 1
    assert str(path) == "<root>" + ".v" * 10_000
    assert AccessPath.parse(str(path)) == path
    assert hash(AccessPath.parse(str(path))) == hash(path)
