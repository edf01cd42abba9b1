"""Programs of the statement dialect in files: loops, shared parts, references to memory."""

import copy
import itertools
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import isoform
from isoform import serialization, text
from isoform.pto import DataType, ir

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "ir" / "tiled_sum.iso"
INDEX = ir.ScalarType(DataType.INDEX)

FORMS = {
    "json": lambda it: serialization.from_json_graph_str(serialization.to_json_graph_str(it)),
    "bytes": lambda it: serialization.from_bytes(serialization.to_bytes(it)),
    "serialize": lambda it: ir.deserialize(ir.serialize(it)),
    "text": lambda it: text.from_text(text.to_text(it)),
    "narrow text": lambda it: text.from_text(text.to_text(it, width=1)),
    "pickle": lambda it: pickle.loads(pickle.dumps(it)),
    "deepcopy": copy.deepcopy,
}


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def through(request):
    def through(node):
        read = request.param(node)
        assert read is not node
        ir.assert_structural_equal(node, read)
        assert ir.structural_hash(node) == ir.structural_hash(read)
        assert isoform.structural_digest(node) == isoform.structural_digest(read)
        return read

    return through


def loops():
    """A function with each kind of loop, carrying values, and branches."""
    ib = ir.IRBuilder()
    with ib.function("loops", attrs={"note": "x", "split": ir.SplitMode.UP_DOWN}) as f:
        n = f.param("n", INDEX)
        f.return_type(INDEX)
        zero = ib.let("zero", n - n)
        with ib.for_loop("i", 0, n, 1, kind=ir.ForKind.Unroll, attrs={"factor": 4}) as outer:
            total = outer.iter_arg("total", zero)
            result = outer.return_var("result")
            with ib.while_loop() as inner:
                count = inner.iter_arg("count", total)
                inner.set_condition(count < n)
                counted = inner.return_var("counted")
                with ib.if_stmt(count > 7) as branch:
                    branch.return_var("step", INDEX)
                    ib.yield_(count + 1)
                    branch.else_()
                    ib.yield_(count + 2)
                ib.yield_(branch.output())
            ib.yield_(counted)
        ib.return_(result)
    return f.get_result()


def test_loops(through):
    function = loops()
    read = through(function)
    assert ir.verify(read) == []
    _, loop, _ = ir.flatten_to_stmts(read.body)
    assert (loop.kind, dict(loop.attrs)) == (ir.ForKind.Unroll, {"factor": 4})
    assert [arg.name_hint for arg in loop.iter_args] == ["total"]
    assert read.attrs["split"] is ir.SplitMode.UP_DOWN
    assert ir.python_print(read) == ir.python_print(function)


def test_shared_parts(through):
    x = ir.Var("x", INDEX)
    node = x + 1
    for _ in range(60):
        node = node * node
    store = ir.EvalStmt(ir.Call(ir.Op("store"), [node, node]))
    function = ir.Function("f", [x], [], ir.SeqStmts([store, store]))
    read = through(function)
    first, second = read.body.stmts
    assert first is second
    left, right = first.expr.args
    assert left is right
    for _ in range(60):
        assert left.left is left.right
        left = left.left
    assert left.left is read.params[0]


def test_memory(through):
    pointer = ir.Var("buffer", ir.PtrType())
    first = ir.MemRef(pointer, 0, 1024)
    second = ir.MemRef(pointer, 512, 1024, slots=2)
    types = [
        ir.TileType([16, 16], DataType.FP32, first, None, ir.MemorySpace.Vec),
        ir.TileType([16, 16], DataType.FP32, first, ir.TileView(pad=ir.PadValue.zero)),
        ir.TensorType([16, 16], DataType.FP32, second),
    ]
    params = [ir.Var(name, type_) for name, type_ in zip("abc", types, strict=True)]
    read = through(ir.Function("f", params, [], ir.SeqStmts([])))
    a, b, c = (param.type for param in read.params)
    assert a.memref is b.memref
    assert a.shares_memref_with(b)
    assert not a.shares_memref_with(c)
    assert a.memref.base is c.memref.base
    assert a.memref.may_alias(c.memref)
    assert a.memref.same_allocation(c.memref)
    assert b.tile_view.pad is ir.PadValue.zero


def test_memory_that_differs_is_seen(through):
    def function(*offsets):
        pointer = ir.Var("buffer", ir.PtrType())
        memories = [ir.MemRef(pointer, offset, 1024) for offset in offsets]
        types = [ir.TileType([16], DataType.FP32, memory) for memory in memories]
        return ir.Function("f", [ir.Var("t", it) for it in types], [], ir.SeqStmts([]))

    same, other = through(function(0, 256)), function(0, 512)
    assert not ir.structural_equal(same, other, enable_auto_mapping=True)
    path, _ = isoform.get_first_structural_mismatch(same, other)
    assert str(path) == "<root>.params[1].type.memref.byte_offset.value"


def run(*arguments, cwd):
    command = [sys.executable, "-m", "isoform", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)


class TestCommand:
    def test_the_example_is_well_formed(self):
        program = text.from_text(EXAMPLE.read_text())
        assert isinstance(program, ir.Program)
        assert ir.verify(program) == []

    def test_show(self, tmp_path):
        done = run("show", EXAMPLE, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "pto.Program" in done.stdout
        assert "pto.ForStmt" in done.stdout

    def test_convert_and_hash(self, tmp_path):
        program = text.from_text(EXAMPLE.read_text())
        wanted = isoform.structural_digest(program).hex()
        names = [EXAMPLE, "sum.json", "sum.isob", "again.iso"]
        for before, after in itertools.pairwise(names):
            done = run("convert", before, after, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
        done = run("hash", *names, cwd=tmp_path)
        assert [line.split()[0] for line in done.stdout.splitlines()] == [wanted] * 4, done.stderr
        for pair in (names[:2], names[2:]):
            assert run("diff", *pair, cwd=tmp_path).stdout == "equal\n"

    def test_diff_says_where(self, tmp_path):
        changed = EXAMPLE.read_text().replace('pto.ForKind!"Sequential"', 'pto.ForKind!"Parallel"')
        (tmp_path / "changed.iso").write_text(changed)
        done = run("diff", EXAMPLE, "changed.iso", cwd=tmp_path)
        assert done.returncode == 1
        assert ".kind" in done.stdout
        assert "Parallel" in done.stdout
