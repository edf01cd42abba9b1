"""structural_walk, structural_visit, structural_map, structural_mutate, substitute."""

import contextlib

import pytest

import isoform
from isoform import (
    Array,
    DefRegionKind,
    Dict,
    InplaceMode,
    List,
    Map,
    VisitInterrupt,
    WalkOrder,
    WalkResult,
    structural_equal,
    structural_map,
    structural_mutate,
    structural_visit,
    structural_walk,
)
from nodes import Add, Box, Fun, Lam, Let, Spanned, Var

# ---- walk --------------------------------------------------------------------


def walked(root, **options):
    seen = []

    def see(value):
        seen.append(value)

    assert structural_walk(root, see, **options) is None
    return seen


def test_post_order_is_the_default():
    inner = Add(2, "s")
    root = Add(1, inner)
    assert walked(root) == [1, 2, "s", inner, root]
    assert walked(root, order=WalkOrder.POSTORDER) == [1, 2, "s", inner, root]
    assert walked(root, order="post") == [1, 2, "s", inner, root]


def test_pre_order():
    inner = Add(2, "s")
    root = Add(1, inner)
    assert walked(root, order="pre") == [root, 1, inner, 2, "s"]
    assert walked(root, order=WalkOrder.PREORDER) == [root, 1, inner, 2, "s"]
    with pytest.raises(ValueError, match="sideways"):
        walked(root, order="sideways")


def test_containers_are_visited():
    seen = walked([1, List([2]), {"k": [3]}, Dict({"d": 4})])
    assert [v for v in seen if type(v) is int] == [1, 2, 3, 4]
    kinds = [type(v) for v in seen if isinstance(v, isoform.Object)]
    assert kinds == [List, Array, Map, Dict, Array]


def test_ignored_fields_are_not_visited():
    assert walked(Spanned(1, "secret"))[:1] == [1]
    assert "secret" not in walked(Spanned(1, "secret"))


def test_objects_arrive_as_themselves():
    box = Box(1)
    root = Box([box])
    seen = walked(root)
    assert any(v is box for v in seen)
    assert seen[-1] is root


def test_typed_callbacks():
    calls = []
    root = Add(True, [1.5, "s", Box(3), 4])
    structural_walk(
        root,
        [
            ((int, float), lambda v: calls.append(("number", v))),
            (str, lambda v: calls.append(("text", v))),
            (Box, lambda v: calls.append(("box", v.v))),
            (object, lambda v: calls.append(("other", type(v).__name__))),
        ],
    )
    # A bool is not an int here, like everywhere in comparison.
    assert calls == [
        ("other", "bool"),
        ("number", 1.5),
        ("text", "s"),
        ("number", 3),
        ("box", 3),
        ("number", 4),
        ("other", "Array"),
        ("other", "Add"),
    ]


def test_one_callback_per_value():
    calls = []
    structural_walk(
        Box(1), [(int, lambda v: calls.append("first")), (int, lambda v: calls.append("second"))]
    )
    assert calls == ["first"]


def test_a_subclass_matches_its_base(key):
    @isoform.dataclasses.py_class(key())
    class Sub(Box):
        pass

    seen = []
    structural_walk([Sub(1), Box(2), Add(3, 4)], (Box, lambda v: seen.append(v.v)))
    assert seen == [1, 2]


def test_skip():
    inner = Add(1, 2)
    root = Add(inner, 3)
    seen = []

    def see(node):
        seen.append(node)
        return WalkResult.SKIP

    structural_walk(root, (Add, see), order="pre")
    assert seen == [root]


def test_interrupt():
    found = structural_walk(Add(1, 2), (int, lambda v: VisitInterrupt(v)))
    assert isinstance(found, VisitInterrupt)
    assert found.value == 1
    box = Box(5)
    assert structural_walk([box], (Box, VisitInterrupt)).value is box


def test_bad_results_of_callbacks():
    with pytest.raises(TypeError):
        structural_walk(Add(1, 2), (int, lambda v: "nonsense"))


def test_errors_of_callbacks_propagate():
    class OwnError(Exception):
        pass

    raised = OwnError()

    def fails(value):
        raise raised

    for call in (structural_walk, structural_map):
        with pytest.raises(OwnError) as caught:
            call(Box([1]), (int, fails))
        assert caught.value is raised


def test_regions():
    x, y = Var("x"), Var("y")
    seen = []

    def see(var, kind):
        seen.append((var.name, kind))

    structural_walk(Lam([x], Add(x, y)), with_def_region_kind=(Var, see))
    assert seen[0] == ("x", DefRegionKind.DEF_PATTERN)
    assert ("y", DefRegionKind.NONE) in seen
    assert all(isinstance(kind, DefRegionKind) for _, kind in seen)
    seen.clear()
    structural_walk(Let(1, x), with_def_region_kind=[(Var, see)])
    assert seen == [("x", DefRegionKind.DEF_SIMPLE)]


def test_all_objects_are_walked_in_each_kind_of_region_if_a_callback_asks_for_it():
    x = Var("x")
    pattern = Add(x, 1)
    root = Lam(pattern, [pattern, pattern])
    seen = []
    structural_walk(
        root,
        callbacks=(Add, lambda v: seen.append("pattern")),
        with_def_region_kind=(Var, lambda v, kind: seen.append(kind)),
    )
    assert seen == [DefRegionKind.DEF_PATTERN, "pattern", DefRegionKind.NONE, "pattern"]
    seen.clear()
    structural_walk(root, callbacks=((Add, Var), seen.append), with_def_region_kind=None)
    assert [type(v) for v in seen] == [Var, Add]


def test_change_what_is_being_walked():
    root = Box([Box(n) for n in range(100)])

    def change(box):
        box.v = None

    for _ in range(100):
        structural_walk(root, (Box, change))
        structural_walk(Box([root, List([root])]), change_lists, order="pre")
    assert root.v is None


def change_lists(value):
    if isinstance(value, List):
        value.clear()


def test_enum_values():
    assert [(e.name, int(e)) for e in WalkOrder] == [("PREORDER", 0), ("POSTORDER", 1)]
    assert [(e.name, int(e)) for e in WalkResult] == [("ADVANCE", 0), ("SKIP", 1)]
    assert [(e.name, int(e)) for e in InplaceMode] == [("DISALLOW", 0), ("ALLOW", 1)]
    expected = [("NONE", 0), ("DEF_PATTERN", 1), ("DEF_SIMPLE", 2)]
    assert [(e.name, int(e)) for e in DefRegionKind] == expected


# ---- visit -------------------------------------------------------------------


def test_visit_owns_descent():
    seen = []

    def add(node, visitor):
        seen.append("add")
        return visitor.visit(node.lhs)

    root = Add(Add(1, 2), Add(3, 4))
    structural_visit(root, [(Add, add), (int, lambda v, visitor: seen.append(v))])
    assert seen == ["add", "add", 1]


def test_visit_default_descends():
    seen = []

    def see(value, visitor):
        seen.append(value)
        return visitor.default_visit(value)

    assert structural_visit(Add(1, [2]), see) is None
    assert [v for v in seen if type(v) is int] == [1, 2]


def test_visit_prunes_without_a_call():
    seen = []
    structural_visit(Box([Box(1)]), [(Box, lambda v, visitor: seen.append(v))])
    assert len(seen) == 1


def test_visit_interrupts():
    found = structural_visit(Add([1], 2), (int, lambda v, visitor: VisitInterrupt(v)))
    assert found.value == 1


def test_visit_regions():
    x = Var("x")
    seen = []

    def var(node, visitor):
        seen.append(visitor.def_region_kind())

    structural_visit(Lam([x], Add(x, 1)), (Var, var))
    assert seen == [DefRegionKind.DEF_PATTERN, DefRegionKind.NONE]

    def box(node, visitor):
        visitor.with_def_region_kind(DefRegionKind.DEF_SIMPLE, lambda: visitor.visit(node.v))

    seen.clear()
    structural_visit(Box(x), [(Box, box), (Var, var)])
    assert seen == [DefRegionKind.DEF_SIMPLE]


def test_visit_results_are_checked():
    with pytest.raises(TypeError):
        structural_visit(Box(1), (int, lambda v, visitor: 5))


# ---- map ---------------------------------------------------------------------


def test_map_leaves_the_source_alone():
    root = Add(1, Add(2, 3))
    mapped = structural_map(root, (int, lambda v: v + 1))
    assert structural_equal(mapped, Add(2, Add(3, 4)))
    assert structural_equal(root, Add(1, Add(2, 3)))


def test_unchanged_parts_are_the_same_objects():
    root = Add(1, Add(2, 3))
    assert structural_map(root, (int, lambda v: v)) is root
    assert structural_map(root, ()) is root
    mapped = structural_map(root, (int, lambda v: 10 if v == 1 else v))
    assert mapped.lhs == 10
    assert mapped.rhs is root.rhs
    for same in (Array([1]), List([1]), Map({1: 1}), Dict({1: 1})):
        assert structural_map(same, (str, lambda v: v + "!")) is same


def test_post_order_maps_rebuilt_nodes():
    root = Add(1, Add(2, 3))
    assert structural_map(root, (Add, lambda v: v.lhs)) == 1
    swapped = structural_map(root, (Add, lambda v: Add(v.rhs, v.lhs)))
    assert structural_equal(swapped, Add(Add(3, 2), 1))


def test_pre_order_descends_into_the_replacement():
    root = Add(1, Add(2, 3))
    swapped = structural_map(root, (Add, lambda v: Add(v.rhs, v.lhs)), order="pre")
    assert structural_equal(swapped, Add(Add(3, 2), 1))
    replaced = structural_map(root, (Add, lambda v: 7 if v.lhs == 2 else v), order="pre")
    assert structural_equal(replaced, Add(1, 7))


def test_map_containers():
    plus = (int, lambda v: v + 1)
    assert structural_map([1, (2,)], plus) == [2, [3]]
    source = List([1])
    made = structural_map(source, plus)
    assert type(made) is List
    assert (list(source), list(made)) == ([1], [2])
    assert structural_map({"a": 1}, plus) == {"a": 2}
    table = Dict({1: 1})
    made = structural_map(table, plus)
    assert type(made) is Dict
    assert (dict(table), dict(made)) == ({1: 1}, {1: 2})


def test_a_callback_that_returns_none_is_refused():
    for value, cls, key in ((Box(1), Box, "Box"), (Box(1), int, "int"), ([1], Array, "Array")):
        for call in (
            lambda: structural_map(value, (cls, lambda v: None)),
            lambda: structural_map(value, (cls, lambda v: None), order="pre"),
            lambda: structural_mutate(value, (cls, lambda v, m: None)),
        ):
            with pytest.raises(TypeError, match=rf"callback for .*{key} returned None; it keeps"):
                call()
    # The callback for the holder of a value can replace the value by None, and None may
    # stay.
    assert structural_map(Box(1), (Box, lambda v: Box(None))).v is None
    assert structural_map(Box(None), (object, lambda v: v)).v is None
    assert structural_mutate(Box(None), (object, lambda v, m: m.default_mutate(v))).v is None


def test_variables_map_to_one_object():
    x, y = Var("x"), Var("y")
    made = structural_map(Lam([x], Add(x, Add(y, y))), (Var, lambda v: Var(v.name + "'")))
    assert made.params[0] is made.body.lhs
    assert made.body.rhs.lhs is made.body.rhs.rhs
    assert made.params[0].name == "x'"


def test_map_regions():
    x, y = Var("x"), Var("y")
    seen = []

    def see(var, kind):
        seen.append((var.name, kind))
        return var

    root = Lam([x], Add(x, y))
    assert structural_map(root, with_def_region_kind=(Var, see)) is root
    assert ("x", DefRegionKind.DEF_PATTERN) in seen
    assert ("y", DefRegionKind.NONE) in seen


def test_a_value_that_does_not_fit(key):
    name = key()

    @isoform.dataclasses.py_class(name)
    class Typed(isoform.Object):
        x: int

    with pytest.raises(TypeError, match="expected int, got str") as caught:
        structural_map(Box(Typed(1)), (int, lambda v: "s"))
    assert name in str(caught.value)


# ---- mutate ------------------------------------------------------------------


def test_mutate_owns_descent():
    root = Add(1, Add(2, 3))
    made = structural_mutate(root, (Add, lambda v, m: Add(m.mutate(v.rhs), m.mutate(v.lhs))))
    assert structural_equal(made, Add(Add(3, 2), 1))
    assert structural_equal(root, Add(1, Add(2, 3)))


def test_mutate_default():
    root = Add(1, Add(2, 3))
    double = [(Add, lambda v, m: m.default_mutate(v)), (int, lambda v, m: v * 2)]
    assert structural_equal(structural_mutate(root, double), Add(2, Add(4, 6)))
    same = [(Add, lambda v, m: m.default_mutate(v))]
    assert structural_mutate(root, same) is root


def test_mutate_tells_the_inplace_mode():
    modes = []

    def plus(value, mutator, mode):
        modes.append(mode)
        return value + 1

    assert structural_mutate(Box(1), (int, plus)).v == 2
    assert [int(mode) for mode in modes] == [0]


def test_mutate_remembers_variables():
    x = Var("x")

    def rename(var, mutator):
        made = mutator.var_remap_get(var)
        if made is None:
            made = Var(var.name + "2")
            mutator.var_remap_set(var, made)
        return made

    made = structural_mutate(Lam([x], Add(x, x)), (Var, rename))
    assert made.params[0].name == "x2"
    assert made.params[0] is made.body.lhs is made.body.rhs


def test_remapped_variables_are_replaced_by_default_descent():
    x, y = Var("x"), Var("y")

    def lam(node, mutator):
        mutator.var_remap_set(x, y)
        return mutator.default_mutate(node)

    made = structural_mutate(Lam([x], Add(x, 1)), (Lam, lam))
    assert made.params[0] is y
    assert made.body.lhs is y


def test_mutate_regions():
    x = Var("x")
    seen = []

    def see(var, mutator):
        seen.append(mutator.def_region_kind())
        return var

    root = Lam([x], Add(x, 1))
    assert structural_mutate(root, (Var, see)) is root
    assert seen[0] == DefRegionKind.DEF_PATTERN
    assert seen[-1] == DefRegionKind.NONE

    def box(node, mutator):
        kind = DefRegionKind.DEF_SIMPLE
        return mutator.with_def_region_kind(kind, lambda: int(mutator.def_region_kind()))

    assert structural_mutate(Box(1), (Box, box)) == 2


def test_engines_that_are_kept_do_no_harm():
    kept = []
    structural_visit(Box(1), (Box, lambda v, visitor: kept.append(visitor)))
    structural_mutate(Box(1), (Box, lambda v, mutator: (kept.append(mutator), v)[1]))
    assert isinstance(kept[0], isoform.StructuralVisitor)
    assert isinstance(kept[1], isoform.StructuralMutator)
    for use in (lambda: kept[0].visit(Box(1)), lambda: kept[1].mutate(Box(1))):
        with contextlib.suppress(RuntimeError):
            use()


# ---- substitute --------------------------------------------------------------


def test_substitute_free_variables():
    x, y = Var("x"), Var("y")
    made = isoform.substitute(Add(x, [x, y]), {x: 1})
    assert structural_equal(made, Add(1, [1, y]))


def test_substitute_returns_the_same_object_when_nothing_changes():
    x, y = Var("x"), Var("y")
    root = Fun([x], Add(x, 1))
    assert isoform.substitute(root, {y: 1}) is root
    assert isoform.substitute(root, {x: 1}) is root
    assert isoform.substitute(root, {}) is root


def test_exceptions_of_callbacks_have_a_note_of_the_place():
    def fail(value):
        raise KeyError(value)

    for function in (structural_map, structural_walk):
        with pytest.raises(KeyError) as caught:
            function([1, {"a": ["x"]}], (str, fail))
        assert caught.value.__notes__ == [f'in {fail.__qualname__} at <root>[1]["a"][0]']
