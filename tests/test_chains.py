"""Depth costs neither stack nor more than linear time: every public function that takes a value.

A chain has a sixth of its levels of each shape: objects leaning left, objects leaning right, lists,
dicts, arrays, maps. A recursive function overflows its stack on any of them, and a quadratic
function does not end.
"""

import ast
import copy
import importlib
import inspect
import itertools
import pickle
import re
import types
from pathlib import Path
from typing import Any

import numpy
import pytest
from scale import scaled

import isoform
import isoform.interop.ast
from isoform import (
    Array,
    Dict,
    List,
    Map,
    Object,
    dataclasses,
    onnx,
    pattern,
    serialization,
    testing,
    tir,
    uses,
)
from isoform.dataclasses import py_class
from isoform.ir import load_json, make_node, save_json
from isoform.pto import DataType, ir
from isoform.text import from_text, to_text

LEVELS = scaled(3_000_000)
# Statements and expressions of the statement dialect.
PROGRAM_LEVELS = scaled(1_000_000)
# For functions that make Python objects of all levels.
PYTHON_LEVELS = scaled(100_000, 30_000)

MODULES = {
    "isoform": "isoform",
    "isoform.serialization": "serialization",
    "isoform.text": "text",
    "isoform.pattern": "pattern",
    "isoform.testing": "testing",
    "isoform.dataclasses": "dataclasses",
    "isoform.registry": "registry",
    "isoform.ir": "ir",
    "isoform.tir": "tir",
    "isoform.pto.ir": "pto.ir",
    "isoform.type_attrs": "type_attrs",
    "isoform.onnx": "onnx",
    "isoform.interop": "interop",
    "isoform.interop.ast": "interop.ast",
    "isoform.jax": "jax",
    "isoform.mlir": "mlir",
    "isoform.fx": "fx",
}

# They report or change registrations, or take values of Python.
WITHOUT_VALUE = {
    *("mlir.from_jax", "mlir.from_module", "mlir.load", "mlir.passes"),
    *("mlir.read", "mlir.read_attribute", "mlir.read_split"),
    *(
        "BigInt",
        "convert_func",
        "device",
        "from_dlpack",
        "get_global_func",
        "get_global_func_metadata",
    ),
    *("init_ffi_api", "last_visit_count", "method", "py_class", "register_error"),
    *("register_global_func", "register_object", "remove_global_func"),
    *("testing.random_module", "testing.random_program", "testing.rust_family"),
    *("testing.check_declarations", "testing.strategy"),
    *("dataclasses.auto", "dataclasses.c_class", "dataclasses.entry", "dataclasses.field"),
    *("dataclasses.fields", "dataclasses.is_dataclass"),
    *("registry.get_registered_type_keys", "registry.list_global_func_names"),
    *("ir.deprecated", "ir.get_renderer", "ir.override_renderer"),
    *("ir.register_intrin_lowering", "ir.register_op_attr"),
    *("pto.ir.field_kinds", "onnx.load", "onnx.rules", "tir.max_value", "tir.min_value"),
    *(f"type_attrs.{name}" for name in isoform.type_attrs.__all__ if name != "set"),
}
# The oracle is slow and recursive by intention.
LIMITED = {"testing.oracle_canonical", "testing.oracle_equal"}


@py_class("chains.Pair", structural_eq="tree")
class Pair(Object):
    lhs: Any
    rhs: Any


SHAPES = [
    lambda value: Pair(value, 1),
    lambda value: Pair(1, value),
    lambda value: List([value]),
    lambda value: Dict({"k": value}),
    lambda value: Array([value]),
    lambda value: Map({"k": value}),
]
ORDERED = [SHAPES[0], SHAPES[1], SHAPES[2], SHAPES[4]]


def chain(end, levels=LEVELS, shapes=SHAPES):
    value = end
    for shape in shapes:
        for _ in range(levels // len(shapes)):
            value = shape(value)
    return value


class Deep:
    """Chains built on demand."""

    def __init__(self):
        self.value = chain(0.5)
        self.twin = isoform.deep_copy(self.value)
        self.other = isoform.structural_map(self.value, (float, lambda _: 1.5))
        self.x = tir.Var("x", "int32")
        self.span = ir.Span.unknown()
        self.format = DataType.INT64
        self.a = ir.Var("a", ir.ScalarType(self.format), self.span)
        self.flag = ir.Var("flag", ir.ScalarType(DataType.BOOL), self.span)

        self._program = None

    @property
    def expr(self):
        return self.program[0]

    @property
    def stmt(self):
        return self.program[1]

    @property
    def function(self):
        return ir.Function("f", [self.a, self.flag], [], self.stmt, self.span)

    @property
    def program(self):
        if self._program is None:
            expr = self.a
            for _ in range(PROGRAM_LEVELS):
                expr = ir.Add(expr, self.a, self.format, self.span)
            stmt = ir.EvalStmt(self.a, self.span)
            for _ in range(PROGRAM_LEVELS):
                stmt = ir.IfStmt(self.flag, stmt, None, [], self.span)
            self._program = (expr, stmt)
        return self._program


@pytest.fixture(scope="module")
def deep():
    return Deep()


def fails(error, call, *arguments):
    with pytest.raises(error):
        call(*arguments)
    return True


def is_read_back(write, read, value):
    return isoform.structural_equal(read(write(value)), value)


def in_file(deep, tmp_path):
    ir.serialize_to_file(deep.expr, tmp_path / "deep")
    return ir.structural_equal(
        ir.deserialize_from_file(tmp_path / "deep"), deep.expr, enable_auto_mapping=True
    )


def tir_operators():
    x = tir.Var("x", "int32")
    value = x
    for _ in range(PROGRAM_LEVELS):
        value = tir.Add(value, x)
    for name in TIR_BINARY:
        getattr(tir, name)(value, value)
    small = tir.LT(value, x)
    tir.all(small, small)
    tir.any(small, small)
    tir.cast("int64", value)
    tir.const(1, "int32")
    return True


TIR_BINARY = [
    *("add", "div", "floordiv", "floormod", "indexdiv", "indexmod", "max", "min", "multiply"),
    *("subtract", "truncdiv", "truncmod"),
]
PTO_BINARY = [
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "max_", "min_", "eq", "ne", "lt"),
    *("le", "gt", "ge", "bit_and", "bit_or", "bit_xor", "bit_shift_left", "bit_shift_right"),
]
PTO_LOGICAL = ["and_", "or_", "xor_"]
PTO_UNARY = ["abs_", "neg", "bit_not"]


def pto_operators(deep):
    for name in PTO_BINARY:
        getattr(ir, name)(deep.expr, deep.expr)
    for name in PTO_UNARY:
        getattr(ir, name)(deep.expr)
    flag = ir.lt(deep.expr, deep.a)
    for name in PTO_LOGICAL:
        getattr(ir, name)(flag, flag)
    ir.not_(flag)
    ir.cast(deep.expr, DataType.FP32)
    return True


def found(deep):
    x = deep.x
    matches = pattern.Pattern(Pair(x, 1), x).find_all(deep.value)
    last = matches[-1]
    return len(matches) + 1 >= LEVELS // 6 and last.path.depth + 2 >= LEVELS


def rewritten(deep):
    rule = pattern.Rule(pattern.Pattern(Pair(deep.x, 1), deep.x), deep.x)
    done = pattern.rewrite(deep.value, [rule], max_steps=LEVELS)
    return done.applied[0] + 1 >= LEVELS // 6


def rewritten_greedily(deep):
    rule = pattern.Rule(pattern.Pattern(Pair(deep.x, 1), deep.x), deep.x)
    done = pattern.rewrite_greedily(deep.value, [rule], max_steps=LEVELS)
    return done.applied[0] + 1 >= LEVELS // 6


def ordered():
    """Orders two values without dicts and maps, which have no order."""
    left = chain(0.5, shapes=ORDERED)
    right = isoform.structural_map(left, (float, lambda _: 1.5))
    lt, le = isoform.recursive_lt(left, right), isoform.recursive_le(left, right)
    gt, ge = isoform.recursive_gt(left, right), isoform.recursive_ge(left, right)
    return (lt, le, gt, ge) == (True, True, False, False)


def nested(make):
    """A plain container of Python with nested containers."""
    value = make(0.5)
    for _ in range(LEVELS // 3):
        value = make(value)
    return value


# By name: the calls of functions on deep values; every call gives True.
CALLS = {
    "structural_equal": lambda d: (
        isoform.structural_equal(d.value, d.twin) and not isoform.structural_equal(d.value, d.other)
    ),
    "assert_structural_equal": lambda d: isoform.assert_structural_equal(d.value, d.twin) is None,
    "get_first_structural_mismatch": lambda d: isoform.get_first_structural_mismatch(
        d.value, d.other
    ),
    "explain_structural_mismatch": lambda d: (
        len(str(isoform.explain_structural_mismatch(d.value, d.other))) < 10_000
    ),
    "structural_hash": lambda d: (
        isoform.structural_hash(d.value) == isoform.structural_hash(d.twin)
    ),
    "structural_digest": lambda d: (
        isoform.structural_digest(d.value) == isoform.structural_digest(d.twin)
    ),
    "declaration_digest": lambda d: isoform.declaration_digest(type(Holder(d.value))) is not None,
    "IncrementalHasher": lambda d: (
        isoform.IncrementalHasher().hash(d.value) == isoform.structural_hash(d.twin)
    ),
    "subterm_classes": lambda d: (
        lambda classes: classes.class_of(d.value) == classes.class_of(d.twin)
    )(isoform.subterm_classes([d.value, d.twin])),
    "duplicates": lambda d: len(isoform.duplicates([d.value, d.twin])[0].members) == 2,
    "repeated_blocks": lambda d: isoform.repeated_blocks([d.value, d.twin]) == [],
    "intern": lambda d: isoform.structural_equal(isoform.intern(d.value), d.value),
    "StructuralKey": lambda d: isoform.StructuralKey(d.value) == isoform.StructuralKey(d.twin),
    "structural_walk": lambda d: isoform.structural_walk(d.value, (float, lambda _: None)) is None,
    "structural_visit": lambda d: (
        isoform.structural_visit(d.value, (float, lambda v, visitor: None)) is None
    ),
    "structural_map": lambda d: isoform.structural_map(d.value, (bytes, lambda _: None)) is d.value,
    "structural_mutate": lambda d: (
        isoform.structural_mutate(d.value, (bytes, lambda v, m: None)) is d.value
    ),
    "substitute": lambda d: isoform.substitute(d.value, {d.x: 1}) is d.value,
    "free_variables": lambda d: isoform.free_variables([d.value, d.x]) == [d.x],
    "fresh_binders": lambda d: isoform.fresh_binders(d.value) is d.value,
    "check_well_formed": lambda d: isoform.check_well_formed(d.value) == [],
    "verify": lambda d: isoform.verify(d.value) == [],
    "deep_copy": lambda d: isoform.structural_equal(isoform.deep_copy(d.value), d.value),
    "recursive_eq": lambda d: isoform.recursive_eq(d.value, d.twin),
    "recursive_lt recursive_le recursive_gt recursive_ge": lambda d: ordered(),
    "recursive_hash": lambda d: isoform.recursive_hash(d.value) == isoform.recursive_hash(d.twin),
    "repr_print": lambda d: len(isoform.repr_print(d.value)) > LEVELS,
    "repr": lambda d: len(repr(d.value)) > LEVELS,
    "copy.copy": lambda d: isoform.structural_equal(copy.copy(d.value), d.value),
    "copy.deepcopy": lambda d: isoform.structural_equal(copy.deepcopy(d.value), d.value),
    "pickle": lambda d: is_read_back(pickle.dumps, pickle.loads, d.value),
    "del": lambda d: isoform.deep_copy(d.value) is not None,
    "convert": lambda d: isoform.convert(nested(lambda v: [v])) is not None,
    "List": lambda d: len(List(nested(lambda v: (v,)))) == 1,
    "Map": lambda d: len(Map(nested(lambda v: {"k": v}))) == 1,
    "call_method": lambda d: isoform.call_method(Holder(d.value), "itself") is not None,
    "serialization.to_bytes serialization.from_bytes": lambda d: is_read_back(
        serialization.to_bytes, serialization.from_bytes, d.value
    ),
    "serialization.to_json_graph_str serialization.from_json_graph_str": lambda d: is_read_back(
        serialization.to_json_graph_str, serialization.from_json_graph_str, d.value
    ),
    "serialization.loads": lambda d: is_read_back(pickle.dumps, serialization.loads, d.value),
    "serialization.json_graph_metadata": lambda d: (
        serialization.json_graph_metadata(serialization.to_json_graph_str(d.value)) is None
        # Metadata is plain JSON, read by other programs by recursion.
        and fails(ValueError, lambda: serialization.to_json_graph_str(1, metadata=d.value))
    ),
    "ir.save_json ir.load_json": lambda d: is_read_back(save_json, load_json, d.value),
    "ir.make_node": lambda d: make_node("chains.Pair", lhs=d.value, rhs=1).lhs is not None,
    "text.to_text text.from_text": lambda d: is_read_back(to_text, from_text, d.value),
    "pattern.Pattern.match": lambda d: pattern.Pattern([d.x, d.x], d.x).match(
        [Pair(d.value, 1), Pair(d.twin, 1)]
    ),
    "pattern.Pattern.find_all": found,
    "pattern.rewrite": rewritten,
    "pattern.rewrite_greedily": rewritten_greedily,
    "uses.replace_all_uses": lambda d: uses.replace_all_uses(d.value, d.x, 7) is d.value,
    "testing.check_types": lambda d: testing.check_types([d.value]) is None,
    "testing.check_laws": lambda d: testing.check_laws([d.value]) is None,
    "dataclasses.asdict": lambda d: (
        dataclasses.asdict(Pair(chain(0.5, PYTHON_LEVELS), 1))["rhs"] == 1
    ),
    "dataclasses.astuple": lambda d: (
        dataclasses.astuple(Pair(chain(0.5, PYTHON_LEVELS), 1))[1] == 1
    ),
    "dataclasses.replace": lambda d: dataclasses.replace(Pair(1, 1), lhs=d.value).rhs == 1,
    "type_attrs.set": lambda d: isoform.type_attrs.set(Holder, "chains.deep", d.value) is None,
    " ".join(f"tir.{name}" for name in [*TIR_BINARY, "all", "any", "cast", "const"]): (
        lambda d: tir_operators()
    ),
    " ".join(
        f"pto.ir.{name}" for name in [*PTO_BINARY, *PTO_LOGICAL, *PTO_UNARY, "not_", "cast"]
    ): pto_operators,
    "pto.ir.structural_equal pto.ir.assert_structural_equal": lambda d: (
        ir.assert_structural_equal(d.expr, d.expr) is None
        and ir.structural_equal(d.stmt, isoform.deep_copy(d.stmt), enable_auto_mapping=True)
    ),
    "pto.ir.structural_hash": lambda d: ir.structural_hash(d.stmt) == ir.structural_hash(d.stmt),
    "pto.ir.serialize pto.ir.deserialize": lambda d: ir.structural_equal(
        ir.deserialize(ir.serialize(d.stmt)), d.stmt, enable_auto_mapping=True
    ),
    "pto.ir.collect_def_vars": lambda d: ir.collect_def_vars(d.stmt) == [],
    "pto.ir.collect_free_vars": lambda d: len(ir.collect_free_vars(d.stmt)) == 2,
    "pto.ir.deep_clone": lambda d: ir.structural_equal(ir.deep_clone(d.stmt), d.stmt),
    "pto.ir.flatten_to_stmts": lambda d: len(ir.flatten_to_stmts(d.stmt)) == 1,
    "pto.ir.find_yield_stmt pto.ir.get_last_yield_stmt": lambda d: (
        ir.find_yield_stmt(d.stmt) is ir.get_last_yield_stmt(d.stmt) is None
    ),
    "pto.ir.attach_leading_comments": lambda d: ir.attach_leading_comments(d.stmt, ["x"]),
    "pto.ir.substitute_expr": lambda d: ir.substitute_expr(
        d.expr, {d.a: ir.ConstInt(1, d.format, d.span)}
    ),
    "pto.ir.substitute_stmt": lambda d: ir.substitute_stmt(d.stmt, {d.flag: ir.ConstBool(True)}),
    "pto.ir.cse": lambda d: ir.cse(d.function) is not None,
    "pto.ir.simplify": lambda d: ir.simplify(d.expr) is not None,
    "pto.ir.python_print": lambda d: len(ir.python_print(d.stmt)) > PROGRAM_LEVELS,
    "pto.ir.verify": lambda d: ir.verify(d.function) == [],
}
IN_FILES = "pto.ir.serialize_to_file pto.ir.deserialize_from_file"


def onnx_chain():
    """A program of nodes in a row."""
    ty = onnx.TensorType(isoform.dtype("float32"), [2])
    x = onnx.Input(ty=ty, default=None, name="x")
    value = x
    for _ in range(PYTHON_LEVELS):
        value = onnx.Output(onnx.Call("", "Neg", 13, None, {}, [value], 1), 0)
    return onnx.Program(onnx.Graph([x], [ty], [value], result_names=["y"]), [])


ONNX_CALLS = {
    # The output is the input then, for which a file has an Identity.
    "onnx.optimize": lambda p: onnx.optimize(p).report.nodes_after == 1,
    "onnx.extract": lambda p: onnx.extract(p, outputs=["y"]) is not None,
    "onnx.infer_shapes": lambda p: onnx.infer_shapes(p)[p.graph.results[0]].shape == (2,),
    "onnx.fix_dims": lambda p: onnx.fix_dims(p, input_shapes={"x": [2]}) is not None,
    "onnx.evaluate": lambda p: len(onnx.evaluate(p, {"x": numpy.float32([1, 2])})) == 1,
    "onnx.verify": lambda p: onnx.verify(p, p, runtime=False).is_same,
    "onnx.diff_run": lambda p: onnx.diff_run(p, p, runtime=False, sets=1).is_same,
    "onnx.to_bytes": lambda p: len(onnx.to_bytes(p)) > PYTHON_LEVELS,
    "onnx.summary": lambda p: onnx.summary(p, p).left.depth == PYTHON_LEVELS,
    "onnx.diff": lambda p: onnx.diff(p, p).equal,
}
# It needs the package onnx, and equals `onnx.to_bytes` otherwise.
ONNX_IN_FILES = "onnx.save onnx.to_model_proto"


def tree_in_a_row():
    """A syntax tree of Python, made by hand: its parser does not nest as deep."""
    node = ast.Name("x", ast.Load())
    for _ in range(PYTHON_LEVELS):
        node = ast.UnaryOp(ast.Not(), node)
    made = isoform.interop.ast.program(node)
    while isinstance(node, ast.UnaryOp):
        # Python frees nested objects by recursion.
        node = node.operand
    return made


def jaxpr_in_a_row():
    """A jaxpr of equations in a row, in the form that the reader expects."""
    aval = "float32[]"
    # Variables are keys.
    variables = [type("Var", (), {"aval": aval})() for _ in range(PYTHON_LEVELS + 1)]
    negate = types.SimpleNamespace(name="neg")
    equations = [
        types.SimpleNamespace(invars=[x], outvars=[y], params={}, effects=(), primitive=negate)
        for x, y in itertools.pairwise(variables)
    ]
    return types.SimpleNamespace(
        eqns=equations, invars=variables[:1], outvars=variables[-1:], constvars=[]
    )


def fx_graph_in_a_row():
    """A graph of nodes in a row, in the form that torch.fx documents."""
    nodes = [
        types.SimpleNamespace(op="placeholder", target="x", name="x", args=(), kwargs={}),
    ]
    for position in range(PYTHON_LEVELS):
        args = (nodes[-1],)
        nodes.append(
            types.SimpleNamespace(
                op="call_method", target="neg", name=str(position), args=args, kwargs={}
            )
        )
    end = types.SimpleNamespace(op="output", target="", name="out", args=(nodes[-1],), kwargs={})
    return types.SimpleNamespace(nodes=[*nodes, end])


def regions_in_a_row(name="x.y"):
    """A program of MLIR of regions in each other."""
    opened, closed = f'"{name}"() ({{\n' * PYTHON_LEVELS, "}) : () -> ()\n" * PYTHON_LEVELS
    return isoform.mlir.read(f"func.func @f() {{ {opened}{closed} return }}")


def normalised(program):
    """The normal form at the level that ignores most."""
    return isoform.mlir.normal_form(
        program, io_names=False, contents=False, symbol_order=False, semantics=True
    )


def is_its_own_form(program):
    form = normalised(program)
    return normalised(form).same_as(form)


def mlir_in_file(program, folder):
    isoform.mlir.save(program, folder / "row.mlir")
    return isoform.structural_equal(isoform.mlir.load(folder / "row.mlir"), program)


MLIR_CALLS = {
    "mlir.write": lambda p: isoform.mlir.write(p).count("x.y") == PYTHON_LEVELS,
    "mlir.normal_form": is_its_own_form,
    "mlir.diff mlir.changes": lambda p: len(isoform.mlir.diff(p, isoform.mlir.read(""))) == 1,
    "mlir.extract": lambda p: isoform.mlir.extract(p, "f").same_as(p),
    "mlir.with_bindings": lambda p: isoform.structural_equal(isoform.mlir.with_bindings(p), p),
    "mlir.region": lambda p: len(isoform.mlir.region(p.module.regions[0].blocks).blocks) == 1,
    "jax.cache_key": lambda p: len(isoform.jax.cache_key(p)) == 64,
}


# Programs of other libraries, which are objects of Python.
INTEROP_CALLS = {
    "interop.from_fields": lambda: len(isoform.interop.from_fields(nested(lambda v: [v]))) == 1,
    "interop.ast.program": lambda: tree_in_a_row().kind == "ast.UnaryOp",
    "jax.program": lambda: isoform.jax.program(jaxpr_in_a_row()).outputs[0].call.op == "neg",
    "fx.program": lambda: isoform.fx.program(fx_graph_in_a_row()).outputs.op == ".neg",
}


@pytest.mark.parametrize("call", INTEROP_CALLS.values(), ids=INTEROP_CALLS)
def test_objects_of_other_libraries(call):
    assert call()


@pytest.fixture(scope="module")
def regions():
    return regions_in_a_row()


@pytest.mark.parametrize("call", MLIR_CALLS.values(), ids=MLIR_CALLS)
def test_regions_in_a_row(regions, call):
    assert call(regions)


def test_regions_in_a_row_in_a_file(regions, tmp_path):
    assert mlir_in_file(regions, tmp_path)


@py_class("chains.Holder")
class Holder(Object):
    v: Any

    @isoform.method
    def itself(self):
        return self


@pytest.mark.parametrize("call", CALLS.values(), ids=[name.split()[0] for name in CALLS])
def test_three_million_levels(deep, call):
    assert call(deep)


@pytest.fixture(scope="module")
def nodes_in_a_row():
    return onnx_chain()


@pytest.mark.parametrize("call", ONNX_CALLS.values(), ids=ONNX_CALLS)
def test_nodes_in_a_row(nodes_in_a_row, call):
    assert call(nodes_in_a_row)


def test_nodes_in_a_row_in_a_file(nodes_in_a_row, tmp_path):
    onnx.save(nodes_in_a_row, tmp_path / "row.onnx")
    loaded = onnx.load(tmp_path / "row.onnx", mmap=False)
    assert isoform.structural_equal(loaded.program, nodes_in_a_row)


def test_a_million_levels_in_a_file(deep, tmp_path):
    assert in_file(deep, tmp_path)


def public_functions():
    """The functions in the `__all__` of the modules, by the shortest name."""
    found = {}
    for path, prefix in MODULES.items():
        module = importlib.import_module(path)
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and not inspect.isclass(function):
                short = name if path == "isoform" else f"{prefix}.{name}"
                found.setdefault(id(function), short)
    return set(found.values()) - WITHOUT_VALUE


def test_every_function_of_a_value_has_a_chain():
    groups = [*CALLS, *ONNX_CALLS, *INTEROP_CALLS, *MLIR_CALLS, IN_FILES, ONNX_IN_FILES]
    groups.append("mlir.save")
    named = {name for names in groups for name in names.split()}
    assert public_functions() - named - LIMITED == set()


PAGE = Path(__file__).parent.parent / "docs" / "complexity.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the page is not installed with the package")
def test_every_function_of_a_value_has_a_row():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    code = {name for row in rows for name in re.findall(r"`isoform\.([\w.]+)`", row)}
    assert public_functions() - code == set()
