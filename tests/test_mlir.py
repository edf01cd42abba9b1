"""Programs of MLIR from Python: text, levels, differences, passes of a pipeline, rewriting."""

import subprocess
import sys

import pytest

import isoform
from isoform import mlir, types
from isoform.dataclasses import replace

SUM = """
func.func @main(%x: f32, %y: f32) -> f32 {
  %z = "NAME"(OPERANDS) : (f32, f32) -> f32
  return %z : f32
}
"""


def sums(name="arith.addf", operands="%x, %y"):
    return mlir.read(SUM.replace("NAME", name).replace("OPERANDS", operands))


def test_text_round_trip(tmp_path):
    program = sums()
    again = mlir.read(mlir.write(program))
    assert isoform.structural_equal(program, again)
    mlir.save(program, tmp_path / "a.mlir")
    assert [file.name for file in tmp_path.iterdir()] == ["a.mlir"]
    assert isoform.structural_digest(mlir.load(tmp_path / "a.mlir")) == (
        isoform.structural_digest(program)
    )


def test_errors_name_the_place():
    with pytest.raises(ValueError, match=r"a\.mlir: line 1, column 7: expected a value"):
        mlir.read('"x.y"(', name="a.mlir")
    with pytest.raises(TypeError, match=r"expected an mlir\.Program, got str; isoform\.mlir\.read"):
        mlir.write("module {}")
    with pytest.raises(TypeError, match=r"from_module: expected a module .* got int"):
        mlir.from_module(3)


def test_bytes_and_parts():
    first, second = mlir.read_split(b"module {}\n// -----\nmodule @m {}")
    assert not isoform.structural_equal(first, second)


def test_levels():
    left, right = sums(), sums(operands="%y, %x")
    assert not isoform.structural_equal(left, right)
    forms = [mlir.normal_form(program, semantics=True) for program in (left, right)]
    assert isoform.structural_equal(*forms)
    assert mlir.normal_form(left).same_as(left)


def test_own_dialects(tmp_path):
    table = tmp_path / "mine.toml"
    table.write_text('commutative = ["mine.mix"]\n')
    left, right = sums("mine.mix"), sums("mine.mix", "%y, %x")
    forms = [
        mlir.normal_form(program, semantics=True, dialects=[table]) for program in (left, right)
    ]
    assert isoform.structural_equal(*forms)
    table.write_text("commutativ = []\n")
    with pytest.raises(ValueError, match=r"mine\.toml.*commutativ"):
        mlir.normal_form(left, semantics=True, dialects=[table])


def test_differences_in_words():
    found = mlir.diff(sums(), sums("arith.mulf", "%y, %x"))
    assert found
    assert len(found) == 1
    (change,) = found.changes
    assert change.kind == "changed"
    assert change.text == (
        "arith.addf became arith.mulf: operands (%arg0, %arg1) -> (%arg1, %arg0), in @main"
    )
    assert str(found) == f"different: 1 operation changed\n{change.text}"
    assert mlir.changes(found.difference) == found.changes
    assert str(mlir.diff(sums(), sums())) == "equal"
    assert not mlir.diff(sums(), sums())


def test_extract():
    program = mlir.read("""
        func.func @main() { call @helper() : () -> () return }
        func.func @other() { return }
        func.func private @helper() { return }""")
    text = mlir.write(mlir.extract(program, "main"))
    assert "@helper" in text
    assert "other" not in text
    with pytest.raises(KeyError, match=r"no symbol @none; its symbols are @helper, @main, @other"):
        mlir.extract(program, ["none"])


def test_a_pass_in_python():
    """Replaces additions by multiplications; the rest of the program stays shared."""

    class Swap(isoform.NodeMutator, dialect="mlir"):
        def visit_operation(self, operation):
            made = self.generic_visit(operation)
            if made.name != "arith.addf":
                return made
            return replace(made, name="arith.mulf")

    swapped = Swap().visit(sums())
    assert isoform.structural_equal(mlir.with_bindings(swapped), sums("arith.mulf"))


def test_regions_bind_what_blocks_define():
    ty = mlir.read_attribute("i32")
    value = types.mlir.Value(ty)
    user = types.mlir.Operation("x.use", [value])
    maker = types.mlir.Operation("x.make", [], results=[value])
    region = mlir.region([types.mlir.Block(types.mlir.Label(), [], [user, maker])])
    assert len(region.forward) == 1


def test_dumps_of_passes():
    dumps = """// -----// IR Dump After CSE (cse) //----- //
module {
  func.func @f(%x: i32) { "x.use"(%x) : (i32) -> () "x.dead"() : () -> () return }
}
// -----// IR Dump After Canonicalizer (canonicalize) ('func.func' operation: @f) //----- //
func.func @f(%y: i32) { "x.use"(%y) : (i32) -> () return }
// -----// IR Dump After SymbolDCE Failed (symbol-dce) //----- //
module {
  func.func @f(%y: i32) { "x.use"(%y) : (i32) -> () return }
  func.func @g() { return }
}"""
    first, second, third = mlir.passes(dumps)
    assert first.is_first
    assert (second.name, second.argument, second.line) == ("Canonicalizer", "canonicalize", 5)
    assert second.summary == "@f: 1 operation removed"
    assert third.summary == "added @g"
    with pytest.raises(ValueError, match="mlir-print-ir-after-all"):
        mlir.passes("module {}")


def test_keys_of_lowered_functions():
    key = isoform.jax.cache_key(sums())
    assert key == isoform.jax.cache_key(sums(operands="%x, %y"))
    assert key != isoform.jax.cache_key(sums("arith.mulf"))
    assert key != isoform.jax.cache_key(sums(), compiler_options={"xla_dump_to": "x"})
    assert key != isoform.jax.cache_key(sums(), extra="--xla_flag")
    options = {"a": 1, "b": [True, None]}
    keys = {
        isoform.jax.cache_key(sums(), compiler_options=given)
        for given in (options, dict(reversed(options.items())))
    }
    assert len(keys) == 1
    with pytest.raises(TypeError, match="object"):
        isoform.jax.cache_key(sums(), extra=object())
    named = mlir.read("module @jit_f { func.func @main() { return } }")
    other = mlir.read("module @jit_g { func.func @main() { return } }")
    assert isoform.jax.cache_key(named) == isoform.jax.cache_key(other)
    with pytest.raises(TypeError, match=r"expected a lowered function, got function"):
        isoform.jax.cache_key(sums)


def test_nothing_is_imported():
    """Neither JAX nor xDSL is imported for programs from text."""
    code = "import sys, isoform; isoform.mlir.read('module {}'); print({'jax', 'xdsl'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
